#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a server shows of the module and allows on its keys: INFO, events, COMMAND, ACL, memory,
TTL, settings by CONFIG and by load arguments."""
import os
import subprocess
import sys
import tempfile

from resp import Error, Status
from server import MODULE, PROGRAM, Server, Tap, environment_for, free_port, until

OK = Status("OK")
tap = Tap()


def info(c, section="tamis"):
    lines = c.must("INFO", section).decode().split("\r\n")
    return dict(line.split(":", 1) for line in lines if ":" in line)


def number(c, name):
    return int(info(c)["tamis_" + name])


def image_of(c, key):
    image, at = b"", 0
    while True:
        at, _, piece = c.must("TAMIS.DUMP", key, at)
        image += piece
        if at == 0:
            return image


def section(c):
    c.must("FLUSHALL", "SYNC")
    tap.equal((number(c, "filters_tamis"), number(c, "filter_bytes")), (0, 0), "no filters, no bytes")
    adds, asked, refused = (number(c, n) for n in ("items_changed", "items_asked", "images_refused"))
    c.must("TAMIS.CREATE", "a", "blocked:size=8MiB,capacity=1M")
    c.must("TAMIS.CREATE", "b", "blocked:capacity=1000")
    c.must("COPY", "b", "c")
    tap.equal(number(c, "filters_tamis"), 3, "INFO counts filters")
    tap.check(8 << 20 < number(c, "filter_bytes") < 9 << 20, "and their bytes")
    c.must("TAMIS.ADD", "a", "x", "y")
    c.must("TAMIS.ADDNEW", "a", "x", "z")
    c.must("TAMIS.HAS", "a", "x", "y", "z")
    tap.equal(number(c, "items_changed") - adds, 4, "INFO counts adds")
    tap.equal(number(c, "items_asked") - asked, 3, "and queries")
    c.do("TAMIS.LOAD", "bad", 0, 3, "abc")
    tap.equal(number(c, "images_refused") - refused, 1, "and images that were refused")
    tap.check(number(c, "jobs_done") >= 1, "and jobs")
    c.must("TAMIS.CREATE", "cf", "multiset:capacity=100", "NOTE", "redis", "cf bucketsize=2")
    tap.equal(number(c, "filters_cf"), 1, "by family")
    freed = int(info(c, "memory")["lazyfreed_objects"])
    tap.equal(c.do("UNLINK", "a"), 1, "a large filter is unlinked")
    until(lambda: int(info(c, "memory")["lazyfreed_objects"]) == freed + 1, 10, "it is freed in the background")
    c.must("DEL", "b", "c", "cf")
    tap.equal((number(c, "filters_tamis"), number(c, "filters_cf"), number(c, "filter_bytes")), (0, 0, 0), "and nothing is left")


def events(server, c):
    listener = server.client()
    c.must("CONFIG", "SET", "notify-keyspace-events", "EA")
    listener.must("PSUBSCRIBE", "__keyevent@0__:tamis.*")
    c.must("TAMIS.CREATE", "e", "multiset:capacity=1000")
    image = image_of(c, "e")
    for words in (["ADD", "e", "a"], ["ADDNEW", "e", "b"], ["REMOVE", "e", "a"], ["HAS", "e", "a"], ["MERGE", "f", "e"],
                  ["RESIZE", "e", 2000], ["CREATE", "m", "approximator:capacity=10"], ["PUT", "m", "k", 1],
                  ["FOLD", "m", 1], ["CREATE", "w", "window:capacity=10"], ["TICK", "w"],
                  ["LOAD", "l", 0, len(image), image], ["HADD", "e", b"12345678"]):
        c.must("TAMIS." + words[0], *words[1:])
    wanted = [("create", "e"), ("add", "e"), ("add", "e"), ("remove", "e"), ("merge", "f"), ("resize", "e"), ("create", "m"),
              ("put", "m"), ("fold", "m"), ("create", "w"), ("tick", "w"), ("load", "l"), ("add", "e")]
    got = [listener.read() for _ in wanted]
    tap.equal([(m[2].decode().split("tamis.")[1], m[3].decode()) for m in got], wanted, "every change is an event")
    listener.close()


def fields(argument):
    return dict(zip([str(k.decode()) for k in argument[::2]], argument[1::2]))


def text(x):
    return x.decode() if isinstance(x, bytes) else str(x)


def types(arguments):
    for a in map(fields, arguments):
        yield text(a["type"])
        yield from types(a.get("arguments", []))


def hint(arguments):
    """The usage line that these arguments came from."""
    words = []
    for a in map(fields, arguments):
        kind, flags = text(a["type"]), [text(f) for f in a.get("flags", [])]
        inner = a.get("arguments", [])
        word = (" | ".join(hint([part]) for part in inner) if kind == "oneof" else hint(inner) if kind == "block" else
                "" if kind == "pure-token" else text(a["name"]))
        if "token" in a:
            word = f"{text(a['token'])} {word}".strip()
        repeats = "..." if "multiple" in flags else ""
        is_inside = "optional" in flags and "multiple_token" not in flags
        word += repeats if is_inside else ""
        word = f"[{word}]" if "optional" in flags else f"({word})" if kind == "block" and "token" not in a else word
        words.append(word + ("" if is_inside else repeats))
    return " ".join(words)


def commands(c):
    names = sorted(name.decode() for name in c.must("COMMAND", "LIST", "FILTERBY", "MODULE", "tamis"))
    tap.check("TAMIS.ADDNEW" in [n.upper() for n in names], f"{len(names)} commands are known")
    docs = c.must("COMMAND", "DOCS", *names)
    docs = {docs[i].decode(): dict(zip([k.decode() for k in docs[i + 1][::2]], docs[i + 1][1::2])) for i in range(0, len(docs), 2)}
    tap.equal([n for n in names if not all(f in docs.get(n, {}) for f in ("summary", "since", "complexity"))], [],
              "all have a summary, a version and a complexity")
    tap.equal([n for n in names if not docs[n].get("arguments")], [], "all have arguments, for clients that show hints")
    tap.equal(hint(docs["bf.insert"]["arguments"]), "key [CAPACITY capacity] [ERROR error_rate] [EXPANSION expansion] [NOCREATE] "
              "[NONSCALING] [SEED seed] [TIGHTENING ratio] [VALIDATESCALETO capacity] ITEMS item...", "BF.INSERT's are reported as written")
    tap.equal(hint(docs["tamis.create"]["arguments"]), "key spec [EVERY milliseconds | LAST milliseconds] [SECRET secret] [NOTE name value]...",
              "and so are TAMIS.CREATE's")
    tap.equal(hint(docs["cms.merge"]["arguments"]), "destination numkeys source... [WEIGHTS weight...]", "and CMS.MERGE's")
    tap.equal(hint(docs["tamis.put"]["arguments"]), "key (item value)...", "and TAMIS.PUT's")
    tap.equal({str(t) for n in names for t in types(docs[n]["arguments"])},
              {"key", "string", "integer", "double", "pure-token", "oneof", "block"}, "they have types")
    facts = {row[0].decode(): row for row in c.must("COMMAND", "INFO", *names)}
    tap.equal([n for n in names if len(facts[n][8]) == 0], ["tamis.adopt"], "all that have keys say which arguments they are")
    del facts["tamis.adopt"]
    for name, row in facts.items():
        flags = [str(f) for f in row[2]]
        spec = dict(zip([k.decode() for k in row[8][0][::2]], row[8][0][1::2]))
        reads = "RO" in [str(f) for f in spec["flags"]]
        if reads == ("write" in flags):
            tap.check(False, f"{name} is {flags}, and its key {spec['flags']}")
    tap.equal(facts["tamis.has"][1], -3, "TAMIS.HAS has at least three arguments")
    tap.equal(facts["tamis.fold"][1], 3, "TAMIS.FOLD exactly three")
    tap.equal(c.do("COMMAND", "GETKEYS", "TAMIS.MERGE", "a", "b", "c"), [b"a", b"b", b"c"], "all keys of a merge are found")
    tap.check(isinstance(c.do("TAMIS.HAS", "x"), Error), "too few arguments are refused")


def rights(server, c):
    c.must("TAMIS.CREATE", "acl", "blocked:capacity=100")
    c.must("ACL", "SETUSER", "reader", "on", "nopass", "+@all", "%R~acl")
    user = server.client()
    user.must("AUTH", "reader", "x")
    tap.equal(user.do("TAMIS.HAS", "acl", "x"), [0], "who may read a key may ask it")
    tap.check(user.do("TAMIS.ADD", "acl", "x").startswith("NOPERM"), "but not change it")
    c.must("BF.ADD", "abf", "x")
    c.must("CF.ADD", "acf", "x")
    if b"tamis" not in c.must("ACL", "CAT"):
        tap.skip("who gets secrets", "this server has no categories of modules: commands are given by name")
        user.close()
        return
    revealing = (["TAMIS.SECRET", "acl"], ["TAMIS.DUMP", "acl", 0], ["BF.SCANDUMP", "abf", 0], ["CF.SCANDUMP", "acf", 0])
    c.must("ACL", "SETUSER", "mere", "reset", "on", "nopass", "~*", "+@read", "+@write", "+@fast", "-@dangerous")
    user.must("AUTH", "mere", "x")
    tap.equal([words[0] for words in revealing if not user.do(*words).startswith("NOPERM")], [], "readers get no secrets, nor images with one")
    tap.equal(user.do("TAMIS.HAS", "acl", "x"), [0], "though they may ask")
    c.must("ACL", "SETUSER", "mere", "+@admin")
    tap.equal([words[0] for words in revealing if isinstance(user.do(*words), Error)], [], "administrators are")
    user.must("AUTH", "reader", "x")
    for words, may, what in ((["+@tamis"], (1, 1), "a category has them all"),
                             (["+@tamis", "-@write"], (1, 0), "and knows which of them write"),
                             (["+@read"], (1, 0), "those that read are among the server's"),
                             (["+@bloom"], (0, 0), "another category has them not")):
        c.must("ACL", "SETUSER", "member", "reset", "on", "nopass", "~*", *words)
        user.must("AUTH", "member", "x")
        got = tuple(int(not str(user.do(f"TAMIS.{v}", "acl", "x")).startswith("NOPERM")) for v in ("HAS", "ADD"))
        tap.equal(got, may, what)
    user.close()


def hidden(server, c):
    """Secrets, and images that contain one, are in no log."""
    secret, seed = "SECRET-OF-16-BYT", "a seed of thirty-two bytes, here"
    listener = server.client()
    listener.must("MONITOR")
    c.must("CONFIG", "SET", "slowlog-log-slower-than", 0)
    c.must("SLOWLOG", "RESET")
    c.must("TAMIS.CREATE", "hide", "blocked:capacity=10,hash=sip13", "SECRET", secret)
    c.must("EVAL", "return redis.call('TAMIS.CREATE', KEYS[1], 'blocked:capacity=10,hash=sip13', 'secret', ARGV[1])", 1, "hide2", "0123456789abcdef")
    c.must("BF.INSERT", "hide3", "CAPACITY", 10, "SEED", seed, "ITEMS", "an item")
    image = image_of(c, "hide")
    c.must("TAMIS.LOAD", "hide4", 0, len(image), image)
    for family, add in (("BF", "BF.ADD"), ("CF", "CF.ADD")):
        c.must(add, family, "x")
        chunks, at = [], 0
        while True:
            at, chunk = c.must(family + ".SCANDUMP", family, at)
            if at == 0:
                break
            chunks.append((at, chunk))
        for at, chunk in chunks:
            c.must(family + ".LOADCHUNK", family + "2", at, chunk)
    c.do("TAMIS.ADOPT", secret)
    path = os.path.join(server.folder, "secret")
    with open(path, "w") as file:
        file.write("0f" * 16 + "\n")
    c.must("CONFIG", "SET", "tamis.secret-file", path)
    tap.equal(c.must("CONFIG", "GET", "tamis.secret-file")[1].decode(), path, "the secret can come from a file")
    tap.check(isinstance(c.do("CONFIG", "SET", "tamis.secret-file", "/dev/null"), Error), "one without 32 digits cannot")
    c.must("CONFIG", "SET", "slowlog-log-slower-than", 10 ** 6)
    c.must("ECHO", "the end")
    seen = []
    while not seen or "the end" not in seen[-1]:
        seen.append(str(listener.read()))
    log = seen + [str(entry[3]) for entry in c.must("SLOWLOG", "GET", -1)]
    words = (secret, seed, "0f0f", "\\xd6tamis", "d6tamis")
    tap.equal([line[:200] for line in log for word in words if word in line], [], "neither MONITOR nor SLOWLOG shows a secret")
    shown = [line for line in log if "(redacted)" in line]
    tap.check(len(shown) >= 12, f"they say so instead ({len(shown)} lines)")
    tap.check(any("an item" in line for line in log), "and show everything else")
    modules = str(c.must("MODULE", "LIST"))
    tap.check("secret" not in modules, "MODULE LIST shows none")
    tap.check(b"tamis.secret" not in c.must("CONFIG", "GET", "*"), "nor does CONFIG GET *")
    tap.equal(c.must("CONFIG", "GET", "tamis.secret")[1], b"0f" * 16, "a client that may ask for it by name gets it")
    listener.close()


def keys(c):
    c.must("TAMIS.CREATE", "k", "blocked:size=2^20,capacity=1M")
    c.must("TAMIS.ADD", "k", "a")
    usage = c.must("MEMORY", "USAGE", "k")
    tap.check(1 << 20 < usage < (1 << 20) + 4096, f"MEMORY USAGE reports {usage} bytes")
    tap.equal(c.do("TYPE", "k"), Status("tamis-set"), "the type has a name")
    tap.equal(c.do("COPY", "k", "k2"), 1, "COPY")
    tap.equal(c.do("RENAME", "k2", "k3"), OK, "RENAME")
    c.must("TAMIS.ADD", "k", "b")
    tap.equal(c.do("TAMIS.HAS", "k3", "a", "b"), [1, 0], "a copy is another filter")
    tap.equal(c.do("RESTORE", "k4", 0, c.must("DUMP", "k")), OK, "DUMP and RESTORE")
    tap.equal(c.must("DEBUG", "DIGEST-VALUE", "k4"), c.must("DEBUG", "DIGEST-VALUE", "k"), "are the same")
    c.must("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
    tap.check(isinstance(c.do("OBJECT", "FREQ", "k"), int), "OBJECT FREQ")
    c.must("CONFIG", "SET", "maxmemory-policy", "noeviction")
    c.must("PEXPIRE", "k", 10 ** 9)
    for words in (["ADD", "k", "c"], ["MERGE", "k", "k3"], ["FOLD", "k", 2]):
        c.must("TAMIS." + words[0], *words[1:])
    tap.check(c.must("PTTL", "k") > 10 ** 8, "changes keep the time at which a key leaves")
    image = image_of(c, "k3")
    c.must("TAMIS.LOAD", "k", 0, len(image), image[:1000])
    tap.check(c.must("PTTL", "k") > 10 ** 8, "so does a load that has only begun")
    c.must("TAMIS.LOAD", "k", 1000, len(image), image[1000:])
    tap.equal(c.must("PTTL", "k"), -1, "a filter that was put in place is new, as with SET")
    tap.check(isinstance(c.do("MODULE", "UNLOAD", "tamis"), Error), "the module stays while it may have values")


def defragmentation(c):
    """Where the server supports it: filters that move answer as before."""
    c.must("FLUSHALL", "SYNC")
    if c.do("CONFIG", "SET", "activedefrag", "yes") != OK:
        tap.skip("filters move together", "this server was built without")
        return
    for name, value in (("active-defrag-threshold-lower", 1), ("active-defrag-ignore-bytes", 1), ("active-defrag-cycle-min", 60),
                        ("active-defrag-cycle-max", 90)):
        c.must("CONFIG", "SET", name, value)
    for i in range(3000):
        c.must("TAMIS.CREATE", f"d{i}", f"blocked:capacity={500 + i}")
        c.must("TAMIS.ADD", f"d{i}", "x", i)
    for i in range(0, 3000):
        if i % 4:
            c.must("DEL", f"d{i}")
    c.must("TAMIS.CREATE", "large", "blocked:size=16MiB,capacity=1M")
    try:
        until(lambda: int(info(c, "stats")["active_defrag_hits"]) > 1000, 15, "something moved")
    except AssertionError:
        tap.skip("filters move together", "nothing moved in 15 s")
        return
    hits = int(info(c, "stats")["active_defrag_hits"])
    wrong = [i for i in range(0, 3000, 4) if c.must("TAMIS.HAS", f"d{i}", "x", i) != [1, 1]]
    tap.equal(wrong, [], f"filters move together ({hits} pieces) and answer as before")
    c.must("CONFIG", "SET", "activedefrag", "no")
    c.must("FLUSHALL", "SYNC")
    until(lambda: number(c, "frees_waiting") == 0, 30, "the large one is freed, by another thread")
    tap.equal(number(c, "filter_bytes"), 0, "and their bytes are still counted")


GOOD = {"bf-error-rate": ("0.001", "0.25"), "bf-initial-size": ("1", "1000000"), "bf-expansion-factor": ("0", "32768"),
        "cf-bucket-size": ("1", "255"), "cf-initial-size": ("2", "4096"), "cf-max-iterations": ("1", "65535"),
        "cf-expansion-factor": ("0", "32768"), "cf-max-expansions": ("1", "65535"), "max-filter-bytes": ("1024", "4294967296"),
        "bf-kind": ("redisbloom", "tamis"), "cf-kind": ("rediscuckoo", "tamis"), "cms-kind": ("rediscms", "tamis"),
        "hash": ("xxh3", "sip13"), "secret": ("00" * 16, "0123456789abcdef" * 2)}
BAD = {"bf-error-rate": ("0", "1", "x", ""), "bf-initial-size": ("0", "-1", "1e30"), "bf-expansion-factor": ("-1", "32769"),
       "cf-bucket-size": ("0", "256"), "cf-initial-size": ("1",), "cf-max-iterations": ("0", "65536"),
       "cf-expansion-factor": ("32769",), "cf-max-expansions": ("0", "65536"), "max-filter-bytes": ("1023", "x"),
       "bf-kind": ("other",), "cf-kind": ("",), "cms-kind": ("cms",), "hash": ("md5",), "secret": ("00", "zz" * 16)}


def settings(c):
    for name, values in GOOD.items():
        for value in values:
            tap.equal(c.do("CONFIG", "SET", "tamis." + name, value), OK, f"CONFIG SET tamis.{name} {value}")
            tap.equal(c.must("CONFIG", "GET", "tamis." + name)[1].decode(), value, "is what CONFIG GET returns")
        for value in BAD[name]:
            tap.check(isinstance(c.do("CONFIG", "SET", "tamis." + name, value), Error), f"CONFIG SET tamis.{name} '{value}' is refused")
        tap.equal(c.must("CONFIG", "GET", "tamis." + name)[1].decode(), values[-1], "and changes nothing")
    c.must("CONFIG", "SET", "tamis.max-filter-bytes", 4096)
    tap.check(isinstance(c.do("TAMIS.CREATE", "toolarge", "blocked:size=8KiB,capacity=100"), Error), "max-filter-bytes is obeyed")
    c.must("CONFIG", "SET", "tamis.max-filter-bytes", 2 << 30)


def rewritten():
    folder = tempfile.mkdtemp(prefix="tamis-redis-")
    path, port = os.path.join(folder, "conf"), free_port()
    with open(path, "w") as file:
        file.write(f"port {port}\nbind 127.0.0.1\ndir {folder}\nsave \"\"\nloadmodule {MODULE}\ntamis.cf-bucket-size 7\n")
    for turn, wanted in enumerate((b"7", b"9")):
        process = subprocess.Popen([PROGRAM, path], stdout=subprocess.DEVNULL, env=environment_for(os.environ))
        try:
            import resp
            clients = []

            def answers():
                try:
                    clients.append(resp.Client(port))
                    return clients[-1].do("PING") == "PONG"
                except OSError:
                    return False
            until(answers, 20, "the server answers")
            c = clients[-1]
            tap.equal(c.must("CONFIG", "GET", "tamis.cf-bucket-size")[1], wanted, f"a file sets it, start {turn + 1}")
            c.must("CONFIG", "SET", "tamis.cf-bucket-size", 9)
            tap.equal(c.do("CONFIG", "REWRITE"), OK, "CONFIG REWRITE")
        finally:
            process.kill()
            process.wait()
    subprocess.run(["rm", "-r", folder], check=False)


def arguments():
    """By load arguments: the same names, and a line in the log about what is wrong."""
    with tempfile.NamedTemporaryFile("w") as secret:
        secret.write(GOOD["secret"][0] + "\n")
        secret.flush()
        words = [w for name, values in GOOD.items() for w in (name, values[0]) if name != "secret"]
        server = Server(arguments=[*words, "secret-file", secret.name], secret=None)
    with server:
        c = server.client()
        got = {name: c.must("CONFIG", "GET", "tamis." + name)[1].decode() for name in GOOD}
        tap.equal(got, {name: values[0] for name, values in GOOD.items()}, "all settings as load arguments")
        c.close()
    with Server(arguments=["ERROR_RATE", "0.02", "INITIAL_SIZE", "200", "CF_MAX_EXPANSIONS", "16"]) as server:
        c = server.client()
        got = [c.must("CONFIG", "GET", "tamis." + n)[1] for n in ("bf-error-rate", "bf-initial-size", "cf-max-expansions")]
        tap.equal(got, [b"0.02", b"200", b"16"], "and under their older names")
        c.close()
    with Server(arguments=["name", "bf"], secret=None) as server:
        c = server.client()
        tap.equal(c.must("MODULE", "LIST")[0][1], b"bf", "a module for clients that look for RedisBloom by its name")
        c.must("CONFIG", "SET", "bf.bf-initial-size", 7)
        c.must("BF.ADD", "k", "x")
        tap.equal(c.must("BF.INFO", "k")[1], 7, "has its settings under that name")
        c.close()
    for words, part in ((["cf-bucket-size", "256"], "argument cf-bucket-size 256: it is out of range"),
                        (["bf-error-rate", "2"], "must be in (0, 1)"), (["secret", "00" * 16], "argument secret (hidden): it would be shown by MODULE LIST"),
                        (["secret-file", "/dev/null"], "must be a file of 32 hexadecimal digits"),
                        (["secret-file", "/nowhere/secret"], "cannot be opened"),
                        (["hash", "md5"], "none of its choices"), (["nothing", "1"], "is not a setting"), (["hash"], "has no value")):
        folder = tempfile.mkdtemp(prefix="tamis-redis-")
        ended = subprocess.run([PROGRAM, "--port", str(free_port()), "--dir", folder, "--save", "", "--loadmodule", MODULE, *words],
                               capture_output=True, text=True, timeout=30, env=environment_for(os.environ))
        tap.check(ended.returncode != 0 and part in ended.stdout, f"{' '.join(words)}: the server does not start, and says why")
        subprocess.run(["rm", "-r", folder], check=False)


def main():
    with Server("--enable-module-command", "local") as server:
        c = server.client()
        section(c)
        events(server, c)
        commands(c)
        rights(server, c)
        hidden(server, c)
        keys(c)
        settings(c)
        defragmentation(c)
        c.close()
    rewritten()
    arguments()
    return tap.end()


sys.exit(main())
