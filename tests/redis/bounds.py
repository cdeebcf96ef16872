#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits bind clients alone. What comes from a primary, an AOF or an RDB file is accepted whatever
the settings; what a client asks for is checked against max-filter-bytes and maxmemory before it is
made; and the secret of new filters comes from the server, whatever clients send."""
import sys

from resp import Error, Status
from server import MODULE, SECRET, Server, Tap, in_step, info_field, replicate, until

OK = Status("OK")
OOM = "OOM command not allowed when used memory > 'maxmemory'."
MIN = 1024  # the minimum of max-filter-bytes
MIB = 1 << 20
tap = Tap()

OTHER_SETTINGS = {"max-filter-bytes": MIN, "bf-kind": "redisbloom", "cf-kind": "rediscuckoo", "cms-kind": "rediscms", "hash": "xxh3",
                  "bf-initial-size": 7, "bf-error-rate": 0.2, "bf-expansion-factor": 0, "cf-bucket-size": 200, "cf-initial-size": 9,
                  "cf-max-iterations": 3, "cf-expansion-factor": 0, "cf-max-expansions": 1}
USUAL_SETTINGS = {"max-filter-bytes": 2 << 30, "bf-kind": "tamis", "cf-kind": "tamis", "cms-kind": "tamis", "hash": "sip13",
                  "bf-initial-size": 100, "bf-error-rate": 0.01, "bf-expansion-factor": 2, "cf-bucket-size": 2, "cf-initial-size": 1024,
                  "cf-max-iterations": 20, "cf-expansion-factor": 1, "cf-max-expansions": 32}


def configure(c, settings):
    c.must("CONFIG", "SET", *(word for name, value in settings.items() for word in ("tamis." + name, value)))


def items(n, of="item"):
    return [f"{of}-{i}" for i in range(n)]


def fill(c):
    """Filters of all families, made in all ways, each above MIN; {key: (query command, items)}."""
    asked = {}
    c.must("TAMIS.CREATE", "grown", "grow:capacity=100")
    for at in range(0, 20000, 1000):
        c.must("TAMIS.ADD", "grown", *items(20000)[at:at + 1000])
    asked["grown"] = ("TAMIS.HAS", items(20000))
    for at in range(0, 20000, 1000):
        c.must("BF.MADD", "bf", *items(20000, "b")[at:at + 1000])
    asked["bf"] = ("BF.MEXISTS", items(20000, "b"))
    c.must("BF.RESERVE", "bf2", 0.001, 5000)
    c.must("BF.INSERT", "bf2", "VALIDATESCALETO", 10000, "ITEMS", *items(3000, "v"))
    asked["bf2"] = ("BF.MEXISTS", items(3000, "v"))
    for at in range(0, 9000, 1000):
        c.must("CF.INSERT", "cf", "CAPACITY", 500, "ITEMS", *items(9000, "c")[at:at + 1000])
    asked["cf"] = ("CF.MEXISTS", items(9000, "c"))
    c.must("CF.RESERVE", "cf2", 4, "EXPANSION", 2)
    c.must("CF.INSERT", "cf2", "CAPACITY", 4, "ITEMS", *items(3000, "d"))
    asked["cf2"] = ("CF.MEXISTS", items(3000, "d"))
    c.must("CMS.INITBYDIM", "cms", 2000, 5)
    c.must("CMS.INCRBY", "cms", *(w for i in items(300, "m") for w in (i, 1)))
    asked["cms"] = ("CMS.QUERY", items(300, "m"))
    c.must("TAMIS.MERGE", "merged", "grown")
    asked["merged"] = ("TAMIS.HAS", items(20000))
    _, total, image = c.must("TAMIS.DUMP", "grown", 0)
    c.must("TAMIS.LOAD", "loaded", 0, total, image[:5000])
    c.must("TAMIS.LOAD", "loaded", 5000, total, image[5000:])
    asked["loaded"] = ("TAMIS.HAS", items(20000))
    c.must("RESTORE", "restored", 0, c.must("DUMP", "bf"))
    asked["restored"] = ("BF.MEXISTS", items(20000, "b"))
    c.must("COPY", "cf", "copied")
    asked["copied"] = ("CF.MEXISTS", items(9000, "c"))
    c.must("MULTI")
    c.must("BF.INSERT", "multi", "CAPACITY", 3000, "ITEMS", *items(3000, "u"))
    c.must("EXEC")
    asked["multi"] = ("BF.MEXISTS", items(3000, "u"))
    script = "for i = 0, 2999 do redis.call('CF.ADD', KEYS[1], 's-' .. i) end return 1"
    c.must("EVAL", script, 1, "script")
    asked["script"] = ("CF.MEXISTS", items(3000, "s"))
    c.must("TAMIS.CREATE", "sized", "multiset:capacity=1000,fpr=1e-6")
    c.must("TAMIS.RESIZE", "sized", 20000)
    c.must("TAMIS.ADD", "sized", *items(5000))
    asked["sized"] = ("TAMIS.HAS", items(5000))
    c.must("TAMIS.CREATE", "large", "blocked:capacity=10M")  # a job makes it
    c.must("TAMIS.ADD", "large", *items(1000))
    asked["large"] = ("TAMIS.HAS", items(1000))
    for name, spec in (("rb", "redisbloom:capacity=1000,fpr=1%"), ("rc", "rediscuckoo:capacity=1000"), ("rm", "rediscms:width=900,depth=4")):
        c.must("TAMIS.CREATE", name, spec)
        c.must("TAMIS.ADD", name, *items(2500 if name != "rc" else 900))
        asked[name] = ("TAMIS.HAS", items(900))
    return asked


def digests(c, asked):
    return dict(zip(sorted(asked), c.must("DEBUG", "DIGEST-VALUE", *sorted(asked))))


def same(c, asked, wanted, how):
    got = digests(c, asked)
    tap.equal([k for k in sorted(asked) if got[k] != wanted[k]], [], f"every filter is the same {how}")
    lost = {key: len(keys) - sum(1 for answer in c.must(command, key, *keys) if answer)
            for key, (command, keys) in asked.items() if not isinstance(c.do("TAMIS.INFO", key), Error)}
    tap.equal({k: n for k, n in lost.items() if n}, {}, f"and none of what was acknowledged is lost {how}")


def replicated_to_others():
    """A replica, files and full syncs, each with the smallest limits and other settings."""
    aof = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")
    with Server(*aof) as primary, Server("--maxmemory", "3mb", secret="11" * 16) as replica:
        configure(replica.client(), OTHER_SETTINGS)
        replicate(primary, replica)
        c = primary.client()
        asked = fill(c)
        wanted = digests(c, asked)
        in_step(primary, replica)
        same(replica.client(), asked, wanted, "on a replica with smaller limits")
        replica.client().must("REPLICAOF", "NO", "ONE")
        replica.client().must("FLUSHALL")
        replicate(primary, replica)
        same(replica.client(), asked, wanted, "after a full sync with it")
        configure(c, OTHER_SETTINGS)
        c.must("CONFIG", "SET", "maxmemory", "3mb")
        c.must("DEBUG", "LOADAOF")
        same(c, asked, wanted, "from the AOF, with smaller limits than when it was written")
        c.must("DEBUG", "RELOAD")
        same(c, asked, wanted, "from an RDB file")
        for preamble in ("yes", "no"):
            c.must("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
            c.must("BGREWRITEAOF")
            until(lambda: b"aof_rewrite_in_progress:0" in c.must("INFO", "persistence") and
                  b"aof_rewrite_scheduled:0" in c.must("INFO", "persistence"), 60, "the AOF is rewritten")
            c.must("DEBUG", "LOADAOF")
            same(c, asked, wanted, f"from a rewritten AOF, preamble {preamble}")
        tap.check("CRITICAL" not in replica.log(), "the replica refused nothing of its primary")


def refused_here():
    """What the primary refused because of its limits is nowhere, even where a replica has room."""
    with Server() as primary, Server() as replica:
        replicate(primary, replica)
        c, r = primary.client(), replica.client()
        c.must("TAMIS.CREATE", "src", "blocked:size=8KiB,capacity=1000")
        _, total, image = c.must("TAMIS.DUMP", "src", 0)
        payload = c.must("DUMP", "src")
        c.must("TAMIS.CREATE", "g", "grow:capacity=10")
        c.must("TAMIS.CREATE", "old", "blocked:capacity=10")
        c.must("CONFIG", "SET", "tamis.max-filter-bytes", 2 * MIN)
        tap.check(isinstance(c.do("TAMIS.LOAD", "whole", 0, total, image), Error), "an image above the limit is refused")
        tap.equal(c.do("EXISTS", "whole"), 0, "and stores nothing")
        for key in ("chunks", "old"):  # the announced total fits, the filter does not
            c.must("CONFIG", "SET", "tamis.max-filter-bytes", 2 << 30)
            c.must("TAMIS.LOAD", key, 0, total, image[:4000])
            c.must("CONFIG", "SET", "tamis.max-filter-bytes", 2 * MIN)
            tap.check(isinstance(c.do("TAMIS.LOAD", key, 4000, total, image[4000:]), Error), f"so is its last chunk ({key})")
        tap.check(isinstance(c.do("RESTORE", "r", 0, payload), Error), "and RESTORE by a client")
        tap.check(isinstance(c.do("TAMIS.CREATE", "t", "blocked:size=8KiB,capacity=1000"), Error), "and a new one")
        tap.equal(c.do("CMS.INITBYDIM", "s", 2000, 5), Error("CMS: Insufficient memory to create the key"), "and a sketch")
        tap.equal(c.do("BF.INSERT", "b", "VALIDATESCALETO", 10 ** 6, "ITEMS", "x"),
                  Error("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit"), "and VALIDATESCALETO")
        failed = 0
        for i in range(4000):
            failed += isinstance(c.do("TAMIS.ADDNEW", "g", i), Error)
        tap.check(0 < failed < 4000, f"and growth: {failed} of 4000 adds")
        tap.check(isinstance(c.do("TAMIS.ADDNEW", "g", *(f"n{i}" for i in range(50))), Error), "many at once too")
        in_step(primary, replica)
        tap.equal(sorted(r.must("KEYS", "*")), sorted(c.must("KEYS", "*")), "the replica has the same keys")
        keys = sorted(c.must("KEYS", "*"))
        tap.equal(r.must("DEBUG", "DIGEST-VALUE", *keys), c.must("DEBUG", "DIGEST-VALUE", *keys), "and the same filters")
        tap.check("CRITICAL" not in replica.log(), "it refused nothing of its primary")


# ---- The secret -------------------------------------------------------------------------------------------


def secret_of(c, key):
    """The server's secret: that of a new filter."""
    c.must("DEL", key)
    c.must("BF.ADD", key, "x")
    return c.must("TAMIS.SECRET", key)


def secrets():
    aof = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")
    with Server(secret="ee" * 16) as enemy:
        e = enemy.client()
        e.must("BF.ADD", "theirs", "x")
        e.must("CMS.INITBYDIM", "sketch", 100, 3)
        payload, sketch = e.must("DUMP", "theirs"), e.must("DUMP", "sketch")
        _, total, image = e.must("TAMIS.DUMP", "theirs", 0)
    chosen = b"\xee" * 16
    for how, preamble in (("a new server", "yes"), ("one with a plain AOF", "no")):
        with Server(*aof, "--aof-use-rdb-preamble", preamble, secret=None) as server, Server(secret=None) as replica:
            replicate(server, replica)
            c, r = server.client(), replica.client()
            c.must("RESTORE", "theirs", 0, payload)
            c.must("RESTORE", "sketch", 0, sketch)
            c.must("TAMIS.LOAD", "loaded", 0, total, image)
            c.must("TAMIS.CREATE", "told", "blocked:capacity=10,hash=sip13", "SECRET", chosen)
            drawn = secret_of(c, "a")
            tap.check(drawn != chosen, f"{how}: no client chooses the secret of later filters")
            tap.equal(c.do("TAMIS.SECRET", "theirs"), chosen, "a restored filter keeps its own")
            tap.equal(c.do("BF.EXISTS", "theirs", "x"), 1, "and answers with it")
            c.must("CMS.INITBYDIM", "ours", 100, 3)
            tap.check(isinstance(c.do("CMS.MERGE", "ours", 2, "sketch", "ours"), Error), "it is not merged with ours, and the error says so")
            told = {k: dict(zip(v[::2], v[1::2]))[b"secret"] for k in ("theirs", "a") for v in [c.must("TAMIS.INFO", k)]}
            tap.equal(told, {"theirs": b"own", "a": b"server"}, "TAMIS.INFO reports whose secret it is")
            tap.check(isinstance(c.do("TAMIS.ADOPT", chosen), Error), "TAMIS.ADOPT is not for clients")
            tap.equal(c.do("EVAL", "return redis.pcall('TAMIS.ADOPT', ARGV[1]).err ~= nil and 1", 0, chosen), 1, "nor for their scripts")
            c.must("DEBUG", "LOADAOF")
            tap.equal(secret_of(c, "b"), drawn, "the same secret after the AOF was read")
            in_step(server, replica)
            server.restart()
            c = server.client()
            tap.equal(secret_of(c, "c"), drawn, "and after a restart")
            c.must("DEBUG", "RELOAD")
            tap.equal(secret_of(c, "d"), drawn, "and from an RDB file")
            r.must("REPLICAOF", "NO", "ONE")
            tap.equal(secret_of(r, "e"), drawn, "a replica goes on with its primary's")
    with Server(secret=None) as server, Server(secret=None) as late:
        c = server.client()
        drawn = secret_of(c, "a")
        c.must("SAVE")
        server.restart()
        tap.equal(secret_of(server.client(), "b"), drawn, "the same secret after a start from an RDB file")
        replicate(server, late)
        in_step(server, late)
        r = late.client()
        r.must("REPLICAOF", "NO", "ONE")
        tap.equal(secret_of(r, "c"), drawn, "and on a replica that came later")
    with Server(*aof) as server:
        c = server.client()
        c.must("RESTORE", "theirs", 0, payload)
        c.must("DEBUG", "RELOAD")
        c.must("DEBUG", "LOADAOF")
        tap.equal(secret_of(c, "a"), bytes.fromhex(SECRET), "a secret that was set stays, whatever is loaded")
        server.secret = "aa" * 16
        server.restart()
        tap.equal(secret_of(server.client(), "b"), b"\xaa" * 16, "and another one that is set is taken, whatever the file has")


# ---- maxmemory --------------------------------------------------------------------------------------------


def used(c):
    return int(dict(line.split(":", 1) for line in c.must("INFO", "memory").decode().split("\r\n") if ":" in line)["used_memory"])


def memory():
    big = "blocked:size=32MiB,capacity=10M"
    with Server() as source:
        s = source.client()
        s.must("TAMIS.CREATE", "big", big)
        payload = s.must("DUMP", "big")
        image, at = [], 0
        while True:
            at, total, piece = s.must("TAMIS.DUMP", "big", at)
            image.append(piece)
            if at == 0:
                break
    with Server("--maxmemory", "60mb") as server:
        c = server.client()
        refused = (["TAMIS.CREATE", "x", "blocked:size=512MiB,capacity=10M"], ["BF.RESERVE", "x", 1e-6, 1 << 27],
                   ["BF.INSERT", "x", "CAPACITY", 1 << 28, "ITEMS", "a"], ["CF.RESERVE", "x", 1 << 28], ["CF.INSERT", "x", "CAPACITY", 1 << 28, "ITEMS", "a"],
                   ["CMS.INITBYDIM", "x", 1 << 24, 2])
        before = used(c)
        for words in refused:
            tap.equal(c.do(*words), Error(OOM), f"{words[0]} above maxmemory is refused with the server's error")
        tap.check(c.do("EXISTS", "x") == 0 and used(c) - before < MIB, "and takes nothing")
        c.must("TAMIS.CREATE", "a", big)
        tap.equal(c.do("TAMIS.CREATE", "b", big), Error(OOM), "a second one that has no room beside the first")
        tap.equal(c.do("TAMIS.LOAD", "b", 0, total, image[0]), Error(OOM), "TAMIS.LOAD asks when it begins")
        tap.equal(c.do("TAMIS.MERGE", "b", "a"), Error(OOM), "TAMIS.MERGE into a new key")
        tap.equal(c.do("TAMIS.FOLD", "a", 1), Error(OOM), "a change that is made on a copy")
        tap.check(isinstance(c.do("COPY", "a", "b"), Error), "COPY")
        tap.check(used(c) < 60 * MIB, f"{used(c) // MIB} MiB are used of 60")
        tap.check(isinstance(c.do("RESTORE", "b", 0, payload), Error) and used(c) < 70 * MIB, "RESTORE")
        c.must("DEL", "a")
        c.must("TAMIS.CREATE", "m", "multiset:capacity=1000,remainder=40")
        tap.equal(c.do("TAMIS.RESIZE", "m", 1 << 26), Error(OOM), "TAMIS.RESIZE")
        grow(server, c)
        evict(c, big)


def grow(server, c):
    """Growth is checked too: adds end with the server's error, and memory stays in bounds."""
    c.must("FLUSHALL")
    until(lambda: info_field(c, "tamis", "tamis_frees_waiting") == "0", 30, "what was flushed is free")
    # The server frees the buffer of the large RESTORE when it looks at its clients again.
    until(lambda: used(c) < 4 * MIB, 30, "and the arguments of earlier commands are")
    c.must("CONFIG", "SET", "maxmemory", "8mb")
    c.must("TAMIS.CREATE", "g", "scalable:capacity=50k,fpr=1e-9")
    c.must("BF.RESERVE", "b", 1e-9, 50000)
    c.must("CF.RESERVE", "c", 300000, "EXPANSION", 2)
    ended, most = {}, 0
    commands = {"g": ["TAMIS.ADD", "g"], "b": ["BF.MADD", "b"], "c": ["CF.INSERT", "c", "ITEMS"]}
    for at in range(0, 4 * MIB, 20000):
        batch = [str(i) for i in range(at, at + 20000)]
        for key, words in commands.items():
            if key in ended:
                continue
            reply = c.do(*words, *batch)
            last = reply[-1] if isinstance(reply, list) else reply
            if isinstance(last, Error):
                ended[key] = last
            most = max(most, used(c))
        if len(ended) == 3:
            break
    tap.equal(ended, {"g": Error(OOM), "b": Error(OOM), "c": Error(OOM)}, "growth is refused where there is no room for it")
    tap.check(most < 10 * MIB, f"at most {most // MIB} MiB were used of 8, arguments included")
    tap.equal(c.must("TAMIS.HAS", "g", 0, 1, 2), [1, 1, 1], "what was added before is there")


# For very many items at once: how to create it, to add, to query, and its family's setting.
MANY = 20_000
GROWING = {
    "scalable": (["TAMIS.CREATE", "scalable:capacity=100k,fpr=1e-9"], ["TAMIS.ADD"], "TAMIS.HAS", None),
    "grow": (["TAMIS.CREATE", "grow:capacity=100k,fpr=1e-9"], ["TAMIS.ADD"], "TAMIS.HAS", None),
    "grow, new": (["TAMIS.CREATE", "grow:capacity=100k,fpr=1e-9"], ["TAMIS.ADDNEW"], "TAMIS.HAS", None),
    "BF": (["BF.RESERVE", 1e-9, 100000], ["BF.MADD"], "BF.MEXISTS", ("bf-kind", "tamis")),
    "BF of RedisBloom": (["BF.RESERVE", 1e-9, 100000], ["BF.MADD"], "BF.MEXISTS", ("bf-kind", "redisbloom")),
    "BF by BF.INSERT": (["BF.RESERVE", 1e-9, 100000], ["BF.INSERT", "NOCREATE", "ITEMS"], "BF.MEXISTS", ("bf-kind", "redisbloom")),
    "CF": (["CF.RESERVE", 300000, "EXPANSION", 4], ["CF.INSERT", "ITEMS"], "CF.MEXISTS", ("cf-kind", "tamis")),
    "CF, new": (["CF.RESERVE", 300000, "EXPANSION", 4], ["CF.INSERTNX", "ITEMS"], "CF.MEXISTS", ("cf-kind", "tamis")),
    "CF of RedisBloom": (["CF.RESERVE", 300000, "EXPANSION", 4], ["CF.INSERT", "ITEMS"], "CF.MEXISTS", ("cf-kind", "rediscuckoo")),
}


def acknowledged(sent, reply):
    """The items that the reply says were added."""
    if isinstance(reply, Error):
        return []
    if isinstance(reply, int):
        return sent
    return [item for item, answer in zip(sent, reply) if not isinstance(answer, Error) and answer != -1]


def is_refusal(sent, reply):
    """The server's error, for all items or after those added; or -1 for each without room, as in
    RedisBloom's cuckoo filters."""
    if isinstance(reply, list) and -1 in reply:
        return len(reply) == len(sent) and set(reply) <= {1, 0, -1} and 1 in reply
    if isinstance(reply, list):
        return 1 < len(reply) <= len(sent) and reply[-1] == Error(OOM)
    return reply == Error(OOM)


def until_refused(c, name, most):
    """Sends very many items at a time until one is refused; returns all that were acknowledged."""
    make, add, _, _ = GROWING[name]
    c.must(make[0], name, *make[1:])
    kept = [f"first {i}" for i in range(MANY // 3)]  # so that room ends within a command
    c.must(add[0], name, *add[1:], *kept)
    for at in range(0, 100 * MANY, MANY):
        sent = [f"{i}" for i in range(at, at + MANY)]
        reply = c.do(add[0], name, *add[1:], *sent)
        last = acknowledged(sent, reply)
        kept += last
        if len(last) < len(sent):
            break
    tap.check(is_refusal(sent, reply), f"{name}: growth is refused with an error")
    if name in ("CF", "CF, new"):
        reply = c.do(add[0], name, *add[1:], *(f"more {i}" for i in range(MANY)))
        tap.check(reply == Error(OOM) or set(reply) <= {0, -1}, f"{name}: when nothing goes in, with the server's error")
    until(lambda: used(c) <= most, 30, "arguments are freed")
    return kept


def very_many():
    """The same for commands that run in steps or on a copy while others are served; a replica and a
    file accept all that was acknowledged, whatever their own limits."""
    most = 10 * MIB
    aof = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")
    for name, (_, _, ask, setting) in GROWING.items():
        with Server(*aof, "--maxmemory", most) as primary, Server("--maxmemory", "3mb") as replica:
            replicate(primary, replica)
            c, r = primary.client(), replica.client()
            if setting:
                configure(c, dict([setting]))
            kept = until_refused(c, name, most)
            tap.equal(sum(map(bool, c.must(ask, name, *kept))), len(kept), f"{name}: what was acknowledged is there")
            wanted = c.must("DEBUG", "DIGEST-VALUE", name)
            in_step(primary, replica)
            tap.equal(r.must("DEBUG", "DIGEST-VALUE", name), wanted, f"{name}: and on a replica with less memory")
            tap.check("CRITICAL" not in replica.log(), "which refused nothing of its primary")
            c.must("CONFIG", "SET", "maxmemory", "3mb")
            c.must("DEBUG", "LOADAOF")
            tap.equal(c.must("DEBUG", "DIGEST-VALUE", name), wanted, f"{name}: and from the AOF, with less memory")


def evict(c, big):
    """With eviction the server makes room after the command: what it could free counts as room."""
    c.must("FLUSHALL")
    c.must("CONFIG", "SET", "maxmemory", "60mb", "maxmemory-policy", "allkeys-lru")
    tap.equal(c.do("TAMIS.CREATE", "x", "blocked:size=512MiB,capacity=10M"), Error(OOM), "what never fits is refused with eviction, too")
    c.must("TAMIS.CREATE", "a", big)
    tap.equal(c.do("TAMIS.CREATE", "b", big), OK, "what fits when others leave is made")
    until(lambda: c.must("PING") == "PONG" and used(c) < 61 * MIB, 20, "the server has made room")
    tap.check(c.must("DBSIZE") == 1, "the server has made room")
    c.must("FLUSHALL")
    c.must("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
    c.must("TAMIS.CREATE", "a", big)
    tap.equal(c.do("TAMIS.CREATE", "b", big), Error(OOM), "with a volatile policy keys that do not expire are no room")
    c.must("PEXPIRE", "a", 10 ** 8)
    tap.equal(c.do("TAMIS.CREATE", "b", big), OK, "those that do are")


def main():
    replicated_to_others()
    refused_here()
    secrets()
    memory()
    very_many()
    return tap.end()


sys.exit(main())
