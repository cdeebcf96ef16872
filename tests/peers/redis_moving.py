#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Moving from RedisBloom to our module and back, in every way that an operator has.

    TAMIS_REDISBLOOM=redisbloom.so tests/peers/redis_moving.py

TAMIS_REDISBLOOM_SERVER names the server for that module where Debian's is too old for it, REDIS_SERVER ours.
What was moved must answer as it did, false positives included, and go on working.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "redis"))
from resp import Error  # noqa: E402
from server import PROGRAM, Server, Tap, in_step, replicate, until  # noqa: E402

tap = Tap()
THEIRS = os.environ.get("TAMIS_REDISBLOOM")
THEIR_SERVER = os.environ.get("TAMIS_REDISBLOOM_SERVER", PROGRAM)
ORIGIN = ["bf-kind", "redisbloom", "cf-kind", "rediscuckoo", "cms-kind", "rediscms"]


def their_server(*options, **more):
    return Server(*options, module=os.path.abspath(THEIRS), program=THEIR_SERVER, **more)


def items(name, n, first=0):
    return ["%s-%d" % (name, i) for i in range(first, first + n)]


# ==== What there is to move

BLOOMS = {"bf:one": ("0.01", 1000, 900, []), "bf:grown": ("0.02", 100, 5000, []), "bf:fixed": ("0.001", 2000, 1500, ["NONSCALING"]),
          "bf:slow": ("0.01", 50, 2000, ["EXPANSION", 1]), "bf:fast": ("0.01", 64, 3000, ["EXPANSION", 8]),
          "bf:empty": ("0.01", 100, 0, [])}
CUCKOOS = {"cf:one": (2000, 1500, []), "cf:grown": (64, 3000, ["EXPANSION", 2]), "cf:wide": (1000, 600, ["BUCKETSIZE", 4]),
           "cf:other": (500, 900, ["MAXITERATIONS", 50, "EXPANSION", 4])}
SKETCHES = {"cms:small": (50, 3, 400), "cms:large": (2000, 7, 3000)}


def fill(c):
    for key, (rate, capacity, n, more) in BLOOMS.items():
        c.must("BF.RESERVE", key, rate, capacity, *more)
        for at in range(0, n, 500):
            c.must("BF.MADD", key, *items(key, min(500, n - at), at))
    for key, (capacity, n, more) in CUCKOOS.items():
        c.must("CF.RESERVE", key, capacity, *more)
        for at in range(0, n, 500):
            c.must("CF.INSERT", key, "ITEMS", *items(key, min(500, n - at), at))
        c.must("CF.ADD", key, key + "-7")
        for item in items(key, 20, 100):
            c.must("CF.DEL", key, item)
    for key, (width, depth, n) in SKETCHES.items():
        c.must("CMS.INITBYDIM", key, width, depth)
        for i in range(n):
            c.must("CMS.INCRBY", key, "%s-%d" % (key, i), i % 9 + 1)


def keys():
    return [*BLOOMS, *CUCKOOS, *SKETCHES]


def answers(c, key):
    """All that a filter says: about what was added, about as many strangers, and about itself."""
    asked = items(key, 6000)
    if key in BLOOMS:
        return c.must("BF.MEXISTS", key, *asked), c.must("BF.CARD", key), c.must("BF.INFO", key)
    if key in CUCKOOS:
        return c.must("CF.MEXISTS", key, *asked), [c.must("CF.COUNT", key, item) for item in asked[:300]], c.must("CF.INFO", key)
    return c.must("CMS.QUERY", key, *asked), c.must("CMS.INFO", key)


def without_size(reply):
    """Of INFO all but the bytes, which each implementation counts in its own way."""
    if not isinstance(reply[-1], list) or b"Size" not in [bytes(x, "ascii") if isinstance(x, str) else x for x in reply[-1]]:
        return reply
    facts = list(reply[-1])
    at = [bytes(x, "ascii") if isinstance(x, str) else x for x in facts].index(b"Size")
    del facts[at:at + 2]
    return (*reply[:-1], facts)


def same_answers(theirs, ours, how, which=None):
    for key in which or keys():
        a, b = without_size(answers(theirs, key)), without_size(answers(ours, key))
        if not tap.check(a == b, "%s: %s answers as it did" % (how, key)):
            for x, y in zip(a, b):
                if x != y:
                    print("#   theirs %.300r\n#   ours   %.300r" % (x, y))


# ==== Ways


def change(c, round_number):
    """What a client does later on, with filters that were moved and with new ones."""
    new = "%d" % round_number
    for key in ("bf:one", "bf:grown", "bf:slow", "bf:empty"):
        c.must("BF.MADD", key, *items(key, 300, 10_000 + 300 * round_number))
        c.must("BF.ADD", key, "single-" + new)
        c.must("BF.INSERT", key, "NOCREATE", "ITEMS", *items("inserted", 10, 10 * round_number))
    for key in CUCKOOS:
        c.must("CF.INSERT", key, "ITEMS", *items(key, 50, 20_000 + 50 * round_number))
        c.must("CF.DEL", key, "%s-%d" % (key, 20_000 + 50 * round_number))
        c.must("CF.ADDNX", key, "nx-" + new)
    for key in SKETCHES:
        c.must("CMS.INCRBY", key, "later-" + new, 5, key + "-1", 2)


def create(c):
    """New filters: they are made by whoever gets the command."""
    c.must("BF.RESERVE", "new:bf", "0.01", 300)
    c.must("BF.MADD", "new:bf", *items("n", 900))
    c.must("BF.ADD", "new:bf2", "x")
    c.must("CF.ADD", "new:cf", "a")
    c.must("CF.ADD", "new:cf", "a")
    c.must("CMS.INITBYDIM", "new:cms", 500, 5)
    c.must("CMS.INCRBY", "new:cms", "a", 3)
    c.must("CMS.INITBYDIM", "new:sum", 500, 5)
    c.must("CMS.MERGE", "new:sum", 2, "new:cms", "new:cms", "WEIGHTS", 1, 2)


def has_new(c, how):
    tap.equal(c.do("BF.MEXISTS", "new:bf", *items("n", 900)), [1] * 900, how + ": a new filter has its items")
    tap.equal(c.do("BF.EXISTS", "new:bf2", "x"), 1, how + ": and one that ADD made")
    tap.equal(c.do("CF.COUNT", "new:cf", "a"), 2, how + ": a new cuckoo filter counts")
    tap.equal(c.do("CMS.QUERY", "new:sum", "a"), [9], how + ": a new sketch was merged")


def by_file(theirs):
    c = theirs.client()
    c.must("SAVE")
    with Server("--dbfilename", "dump.rdb", folder=theirs.folder) as ours:
        same_answers(c, ours.client(), "RDB file")
        one = ours.client()
        change(one, 1)
        one.must("DEBUG", "RELOAD")
        tap.equal(one.must("BF.EXISTS", "bf:one", "single-1"), 1, "RDB file: changed, saved and loaded again")
        one.must("SAVE")
        before = {key: answers(one, key) for key in keys()}
    # The file that we wrote, in RedisBloom again.
    with their_server(folder=theirs.folder) as back:
        b = back.client()
        for key in keys():
            got = answers(b, key)
            tap.check(without_size(got)[:-1] == without_size(before[key])[:-1], "RDB file of ours in RedisBloom: %s" % key)


def by_replication(theirs):
    c = theirs.client()
    with Server() as ours:
        replicate(theirs, ours)
        o = ours.client()
        same_answers(c, o, "full sync")
        for number in (1, 2, 3):
            change(c, number)
        create(c)
        in_step(theirs, ours)
        same_answers(c, o, "live stream")
        has_new(o, "live stream")
        o.must("REPLICAOF", "NO", "ONE")
        change(o, 4)
        tap.equal(o.do("BF.EXISTS", "bf:grown", "single-4"), 1, "promoted: it goes on")
        c.must("DEL", "new:bf", "new:bf2", "new:cf", "new:cms", "new:sum")


def by_replication_back(theirs_options=()):
    """From ours, with RedisBloom's kinds, to a replica that has RedisBloom."""
    with Server(arguments=ORIGIN) as ours, their_server(*theirs_options) as theirs:
        o = ours.client()
        fill(o)
        replicate(ours, theirs)
        same_answers(theirs.client(), o, "full sync back")


def by_chunks(theirs):
    c = theirs.client()
    for arguments, how in (((), "SCANDUMP"), (ORIGIN, "SCANDUMP, origin's kinds")):
        with Server(arguments=arguments) as ours:
            o = ours.client()
            moved = [key for key in keys() if key not in SKETCHES and key != "bf:empty"]
            for key in moved:
                chunks(c, o, key)
            same_answers(c, o, how, moved)
            for key in moved:
                c.must("DEL", "back:" + key)
                chunks(o, c, key, "back:" + key)
                tap.check(both(c, key) == both(o, key) == both(c, "back:" + key, key), "%s and back: %s" % (how, key))
                c.must("DEL", "back:" + key)


def both(c, key, items_of=None):
    return c.must(key.replace("back:", "")[:2].upper() + ".MEXISTS", key, *items(items_of or key, 6000))


def chunks(source, target, key, as_key=None):
    family, at = key[:2].upper(), 0
    while True:
        at, data = source.must(family + ".SCANDUMP", key, at)
        if at == 0:
            return
        reply = target.do(family + ".LOADCHUNK", as_key or key, at, data)
        if isinstance(reply, Error):
            tap.check(False, "%s: chunk %d of %s: %s" % (family, at, key, reply))
            return


def by_restore(theirs):
    c = theirs.client()
    with Server() as ours:
        o = ours.client()
        for key in keys():
            reply = o.do("RESTORE", key, 0, c.must("DUMP", key))
            if isinstance(reply, Error):
                tap.check(False, "RESTORE %s: %s" % (key, reply))
                return
        same_answers(c, o, "DUMP, RESTORE")
        for key in keys():
            c.must("RESTORE", "back:" + key, 0, o.must("DUMP", key))
            tap.equal(c.must("DUMP", "back:" + key), c.must("DUMP", key), "DUMP, RESTORE and back: %s is the same bytes" % key)
            c.must("DEL", "back:" + key)
        o.must("FLUSHALL")
        c.must("MIGRATE", "127.0.0.1", ours.port, "", 0, 5000, "COPY", "KEYS", *keys())
        same_answers(c, o, "MIGRATE")


def by_aof(theirs):
    """RedisBloom's own append-only file is made of commands: ours reads it."""
    c = theirs.client()
    c.must("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    c.must("CONFIG", "SET", "appendonly", "yes")
    until(lambda: b"aof_rewrite_in_progress:0" in c.must("INFO", "persistence") and
          b"aof_rewrite_scheduled:0" in c.must("INFO", "persistence"), 60, "the file is written")
    change(c, 9)
    before = {key: answers(c, key) for key in keys()}
    c.must("CONFIG", "SET", "appendonly", "no")
    with Server("--appendonly", "yes", folder=theirs.folder) as ours:
        o = ours.client()
        for key in keys():
            if key in BLOOMS or key in CUCKOOS:
                tap.check(without_size(answers(o, key))[0] == before[key][0], "append-only file: %s" % key)


def main():
    if not THEIRS:
        tap.skip("redis_moving", "TAMIS_REDISBLOOM does not name a redisbloom.so")
        return tap.end()
    for way in (by_file, by_replication, by_chunks, by_restore, by_aof):
        with their_server() as theirs:
            fill(theirs.client())
            way(theirs)
    by_replication_back()
    return tap.end()


sys.exit(main())
