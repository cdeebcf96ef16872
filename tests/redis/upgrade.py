#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Upgrades: files of earlier versions stay readable, and a step to the next version loses nothing.

    tests/redis/upgrade.py                        the files in tests/redis/golden
    TAMIS_REDIS_OLD=/path/tamis-redis.so ...      both modules, in every order; skipped without
    TAMIS_REDIS_OLD=... WRITE=NAME ...            that module writes golden NAME.rdb, .aof, .json
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from resp import Error
from server import MODULE, PROGRAM, SECRET, Server, Tap, free_port, in_step, replicate, until

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
OLD = os.environ.get("TAMIS_REDIS_OLD")
AOF = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0", "--aof-use-rdb-preamble")
NONMEMBERS = [f"stranger-{i}" for i in range(500)]
tap = Tap()


def old(*options, **more):
    return Server(*options, "--tamis.secret", SECRET, module=OLD, **more)


def items(name, n=60):
    return [f"{name}-{i}" for i in range(n)]


SPECS = ("classic:capacity=100", "blocked:capacity=100", "split:capacity=100", "universal:capacity=60,fpr=2%", "counting:capacity=60",
         "cuckoo:capacity=100", "quotient:capacity=100", "multiset:capacity=100", "window:capacity=100", "grow:capacity=10",
         "scalable:capacity=10", "countmin:columns=101,rows=3", "redisbloom:capacity=20,fpr=1%", "rediscuckoo:capacity=100",
         "rediscms:width=90,depth=3", "blocked:capacity=100,hash=xxh3", "shard:layout=split,capacity=100")


def fill(c, of=""):
    """Filters of all families; {key: items}. `of` is a prefix for their names."""
    known = {}
    for i, spec in enumerate(SPECS):
        key = f"{of}own{i}"
        c.must("TAMIS.CREATE", key, spec, "NOTE", "who", "me")
        c.must("TAMIS.ADD", key, *items(key))
        known[key] = items(key)
    new = c.must("BF.MADD", of + "bf", *items("b", 300))  # older AOFs lack false positives
    c.must("BF.RESERVE", of + "bf2", 0.001, 100, "NONSCALING")
    c.must("BF.INSERT", of + "bf2", "ITEMS", *items("f"))
    c.must("CF.INSERT", of + "cf", "CAPACITY", 30, "ITEMS", *items("c", 300))
    c.must("CF.DEL", of + "cf", "c-0")
    c.must("CMS.INITBYDIM", of + "cms", 50, 4)
    c.must("CMS.INCRBY", of + "cms", *(w for i in items("m") for w in (i, 3)))
    c.must("BF.ADD", of + "half", "x")
    _, total, image = c.must("TAMIS.DUMP", of + "half", 0)
    c.must("TAMIS.LOAD", of + "half", 0, total, image[:50])
    known.update({of + "bf": [i for i, is_new in zip(items("b", 300), new) if is_new], of + "bf2": items("f"), of + "cf": items("c", 300)[1:], of + "cms": items("m"), of + "half": ["x"]})
    return known


def digests(c, known):
    return dict(zip(sorted(known), c.must("DEBUG", "DIGEST-VALUE", *sorted(known))))


def answers(c, known):
    """How many of its items each filter finds, and how many non-members."""
    return {key: [sum(map(bool, c.must("TAMIS.HAS", key, *found))), sum(map(bool, c.must("TAMIS.HAS", key, *NONMEMBERS)))]
            for key, found in known.items()}


# ---- Files of earlier versions ---------------------------------------------------------------------------


def write(name):
    with old(*AOF, "no") as server:
        c = server.client()
        known = fill(c)
        c.must("SAVE")
        folder = os.path.join(server.folder, "appendonlydir")
        parts = sorted(f for f in os.listdir(folder) if f.endswith(".aof"))  # base before incr
        with open(os.path.join(GOLDEN, name + ".aof"), "wb") as file:
            for part in parts:
                with open(os.path.join(folder, part), "rb") as source:
                    shutil.copyfileobj(source, file)
        shutil.copy(os.path.join(server.folder, "dump.rdb"), os.path.join(GOLDEN, name + ".rdb"))
        with open(os.path.join(GOLDEN, name + ".json"), "w") as file:
            json.dump({"items": known, "answers": answers(c, known)}, file, indent=0)


def golden():
    for name in sorted(f[:-5] for f in os.listdir(GOLDEN) if f.endswith(".json")):
        with open(os.path.join(GOLDEN, name + ".json")) as file:
            wanted = json.load(file)
        for ending, target, options in ((".rdb", "dump.rdb", ()), (".aof", "appendonly.aof", (*AOF, "yes"))):
            folder = tempfile.mkdtemp(prefix="tamis-redis-")
            shutil.copy(os.path.join(GOLDEN, name + ending), os.path.join(folder, target))
            with Server(*options, folder=folder) as server:
                c = server.client()
                # Commands make filters as this version plans them: only the items are the same.
                got, of = answers(c, wanted["items"]), slice(2 if ending == ".rdb" else 1)
                tap.equal({k: a[of] for k, a in got.items()}, {k: a[of] for k, a in wanted["answers"].items()},
                          f"{name}{ending} answers as it did when it was written")
                digest = digests(c, wanted["items"])
                c.must("DEBUG", "RELOAD")
                tap.equal(digests(c, wanted["items"]), digest, "and is the same when it is rewritten")
            shutil.rmtree(folder)


# ---- Two versions side by side -----------------------------------------------------------------------------


def complete(c, known, name):
    """Each version runs commands in its own way: the items are the same, the bytes need not be."""
    lost = {key: n for key, (n, _) in answers(c, known).items() if n < len(known[key])}
    tap.equal(lost, {}, name)


def same(one, other, known, name):
    wanted, got = digests(one, known), digests(other, known)
    tap.equal([key for key in wanted if got[key] != wanted[key]], [], name)
    complete(other, known, "and nothing is lost")


def by_replication():
    """Replicas first; then the primary hands over, and comes back with the new module."""
    with old() as first, Server("--tamis.max-filter-bytes", "1024") as second:
        c = first.client()
        known = fill(c, "a:")
        replicate(first, second)
        known.update(fill(c, "b:"))
        new = c.must("BF.MADD", "a:bf", *items("more", 500))
        known["a:bf"] += [i for i, is_new in zip(items("more", 500), new) if is_new]
        in_step(first, second)
        complete(second.client(), known, "a new replica of an old primary has every item")
        c.must("FAILOVER", "TO", "127.0.0.1", second.port, "TIMEOUT", 10000)
        until(lambda: second.client().must("ROLE")[0] == b"master" and c.must("ROLE")[0] == b"slave", 20, "the replica takes over")
        s = second.client()
        s.must("CONFIG", "SET", "tamis.max-filter-bytes", 2 << 30)
        known.update(fill(s, "c:"))
        in_step(second, first)
        complete(c, known, "an old replica of a new primary follows it while it needs no full sync")
        folder, port = first.folder, first.port
        first.kill()
        with Server(folder=folder, port=port) as third:
            replicate(second, third)
            same(s, third.client(), known, "it comes back with the new module, by a full sync")


def starts(server_options, folder):
    """Exit status and output of an old server that is given the files in a directory."""
    ended = subprocess.run([PROGRAM, "--port", str(free_port()), "--dir", folder, "--save", "", *server_options, "--loadmodule", OLD],
                           capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout


def by_files():
    for name, options in (("RDB", ()), ("AOF, preamble no", (*AOF, "no")), ("AOF, preamble yes", (*AOF, "yes"))):
        with old(*options) as server:
            c = server.client()
            known = fill(c)
            wanted = digests(c, known)
            c.must("SAVE")
            server.client().send(["SHUTDOWN", "NOSAVE"])
            server.process.wait()
            server.module = MODULE
            server.start()
            complete(server.client(), known, f"{name} of the old version is read by the new one")
            if name == "RDB":
                tap.equal(digests(server.client(), known), wanted, "as it is")
    with Server() as server:
        c = server.client()
        fill(c)
        c.must("SAVE")
        code, log = starts((), server.folder)
        tap.check(code != 0 and "AUX" in log, "an RDB file of the new version is refused by the old one, with a line in its log")
    with Server(*AOF, "no") as server:
        c = server.client()
        fill(c)
        code, log = starts(AOF + ("no",), server.folder)
        tap.check(code != 0 and "nknown command" in log, "so is an append-only file")


def by_dumps():
    """Key by key, a downgrade is possible."""
    with old() as before, Server() as after:
        b, a = before.client(), after.client()
        known = fill(a, "n:")
        known.pop("n:half")
        for key in list(known):
            if isinstance(b.do("RESTORE", key, 0, a.must("DUMP", key)), Error):
                known.pop(key)
        tap.check(len(known) > 15, f"RESTORE by the old version: {len(known)} of {len(SPECS) + 4} filters; the others are laid out as it does not know")
        same(a, b, known, "those are the same there")
        for key in known:
            a.must("DEL", key)
            b.must("MIGRATE", "127.0.0.1", after.port, key, 0, 10000, "COPY")
        same(b, a, known, "and MIGRATE back")
        tap.equal(b.must("DBSIZE"), len(known), "which leaves what it copied")


def main():
    if os.environ.get("WRITE"):
        write(os.environ["WRITE"])
        return 0
    golden()
    if OLD:
        by_replication()
        by_files()
        by_dumps()
    else:
        tap.skip("two versions side by side", "TAMIS_REDIS_OLD names no older module")
    return tap.end()


sys.exit(main())
