#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our module in other servers than Debian's: newer Redis, and Valkey.

    TAMIS_REDIS_SERVERS=/path/valkey-server:/path/redis-server tests/peers/redis_servers.py

Without it, whatever valkey-server is found; Debian's own is what tests/redis is about. In each: the module
loads, every family works, values survive files and replication, and the server knows the commands, their
categories, the settings and the section of INFO.
"""
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "redis"))
from resp import Error  # noqa: E402
from server import PROGRAM, Server, Tap, replicate, until  # noqa: E402

tap = Tap()
KEYS = ("b", "fixed", "c", "m", "t", "w", "big")


def fill(c):
    c.must("BF.RESERVE", "b", "0.01", 100)
    c.must("BF.MADD", "b", *range(500))
    c.must("BF.INSERT", "fixed", "CAPACITY", 100, "NONSCALING", "ITEMS", *range(80))
    c.must("CF.RESERVE", "c", 200)
    c.must("CF.INSERT", "c", "ITEMS", *range(400))
    c.must("CF.DEL", "c", 7)
    c.must("CMS.INITBYDIM", "m", 500, 5)
    c.must("CMS.INCRBY", "m", "a", 3, "b", 4)
    c.must("TAMIS.CREATE", "t", "blocked:capacity=1000")
    c.must("TAMIS.ADD", "t", *range(300))
    c.must("TAMIS.HADD", "t", struct.pack("<4Q", *(i << 56 for i in range(4))))
    c.must("TAMIS.CREATE", "w", "split:capacity=1000")
    c.must("TAMIS.ADD", "w", "x")
    c.must("TAMIS.CREATE", "big", "blocked:capacity=8M")  # made by the worker
    c.must("TAMIS.ADD", "big", *range(100))


def facts(info):
    """Of INFO all but the bytes: a note of what was deleted is brought up to date when a filter is saved."""
    return info[2:] if info[0] == "Size" else info


def answers(c):
    return (c.do("BF.MEXISTS", "b", *range(1000)), c.do("BF.INFO", "b"), c.do("BF.CARD", "fixed"), c.do("CF.MEXISTS", "c", *range(800)),
            facts(c.do("CF.INFO", "c")), c.do("CMS.QUERY", "m", "a", "b", "z"), c.do("CMS.INFO", "m"), c.do("TAMIS.HAS", "t", *range(600)),
            c.do("TAMIS.HAS", "w", "x", "y"), c.do("TAMIS.HAS", "big", *range(200)))


def digests(c):
    return [c.do("DEBUG", "DIGEST-VALUE", key) for key in KEYS]


def families(c):
    got = answers(c)
    tap.equal(got[0][:500], [1] * 500, "BF.* has what was added")
    tap.equal(got[2], 80, "BF.INSERT NONSCALING")
    tap.equal(got[3][8:400], [1] * 392, "CF.* has what was added")
    tap.equal(got[5], [3, 4, 0], "CMS.* counts")
    tap.equal(got[7][:300], [1] * 300, "TAMIS.* has what was added")
    tap.equal(got[9][:100], [1] * 100, "what a worker made has what was added")
    for command in ("BF.ADD s x", "CF.ADD s x", "CMS.QUERY s x", "TAMIS.HAS s x"):
        c.must("SET", "s", "1")
        tap.check(str(c.do(*command.split())).startswith("WRONGTYPE"), command + " on a string")


def in_a_transaction(c):
    c.must("MULTI")
    c.must("TAMIS.CREATE", "big2", "blocked:capacity=8M")
    c.must("BF.ADD", "b", "multi")
    tap.equal(c.must("EXEC"), ["OK", 1], "MULTI: at once, and no wait")
    tap.equal(c.must("EVAL", "return redis.call('BF.EXISTS', KEYS[1], 'multi')", 1, "b"), 1, "a script")


def files(server):
    c = server.client()
    before, sums = answers(c), digests(c)
    c.must("DEBUG", "RELOAD")
    tap.check(answers(c) == before and digests(c) == sums, "RDB: saved and loaded")
    c.must("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    c.must("CONFIG", "SET", "appendonly", "yes")
    until(lambda: b"aof_rewrite_in_progress:0" in c.must("INFO", "persistence") and
          b"aof_rewrite_scheduled:0" in c.must("INFO", "persistence"), 60, "the file is written")
    c.must("BF.ADD", "b", "after the rewrite")
    before, sums = answers(c), digests(c)
    c.must("DEBUG", "LOADAOF")
    tap.check(answers(c) == before and digests(c) == sums, "AOF: rewritten and loaded")
    c.must("CONFIG", "SET", "appendonly", "no")
    for key in KEYS:
        c.must("RESTORE", "copy", 0, c.must("DUMP", key), "REPLACE")
        if not tap.check(c.do("DEBUG", "DIGEST-VALUE", "copy") == c.do("DEBUG", "DIGEST-VALUE", key), "DUMP, RESTORE: " + key):
            print("#  ", c.do("DEBUG", "DIGEST-VALUE", "copy"))
    c.must("DEL", "copy")


def replicas(server, program):
    for other, what in ((Server(program=program), "one of its own"), (Server(program=PROGRAM), "Debian's")):
        primary, replica = (server, other) if what == "one of its own" else (other, server)
        if primary is other:
            fill(other.client())
        replicate(primary, replica)
        a, b = primary.client(), replica.client()
        tap.check(answers(a) == answers(b) and digests(a) == digests(b), "replication, %s: full sync" % what)
        a.must("BF.MADD", "b", *range(500, 700))
        a.must("CF.ADD", "c", "later")
        a.must("CMS.INCRBY", "m", "later", 2)
        a.must("TAMIS.CREATE", "later", "blocked:capacity=100")
        a.must("TAMIS.ADD", "later", "x")
        a.must("BF.ADD", "later:bf", "x")
        a.must("WAIT", 1, 5000)
        until(lambda: digests(a) == digests(b), 10, "the stream has arrived")
        tap.check(answers(a) == answers(b) and b.do("TAMIS.HAS", "later", "x", "y") == [1, 0], "replication, %s: live" % what)
        tap.equal(b.do("DEBUG", "DIGEST-VALUE", "later:bf"), a.do("DEBUG", "DIGEST-VALUE", "later:bf"),
                  "replication, %s: a new filter has the same secret" % what)
        b.must("REPLICAOF", "NO", "ONE")
        other.stop()


def what_the_server_knows(c):
    docs = c.must("COMMAND", "DOCS", "bf.add", "tamis.create", "cf.add", "cms.query")
    tap.check(len(docs) == 8 and b"summary" in docs[1], "COMMAND DOCS tells the summary")
    tap.check(len(c.must("COMMAND", "INFO", "bf.madd")[0]) >= 7, "COMMAND INFO")
    tap.check(b"tamis" in c.must("INFO", "tamis"), "INFO tamis: " + c.must("INFO", "tamis").decode().replace("\r\n", " ")[:160])
    tap.check(len(c.must("CONFIG", "GET", "tamis.*")) >= 20, "CONFIG GET tamis.*")
    tap.check(not isinstance(c.do("CONFIG", "SET", "tamis.bf-initial-size", 200), Error), "CONFIG SET tamis.bf-initial-size")
    categories = [c.do("ACL", "CAT", name) for name in ("bloom", "cuckoo", "cms", "tamis")]
    if isinstance(categories[0], Error):
        tap.skip("ACL CAT", "this server lets no module add categories: " + categories[0])
    else:
        if not any(categories):
            tap.skip("ACL CAT", "this server lists no commands of modules; their categories work all the same:")
        else:
            tap.check(all(categories), "ACL CAT bloom, cuckoo, cms, tamis: %s" % [len(names) for names in categories])
        c.must("ACL", "SETUSER", "reader", "on", "nopass", "~*", "-@all", "+@bloom", "-@write")
        tap.check(not isinstance(c.do("ACL", "DRYRUN", "reader", "BF.EXISTS", "b", "x"), Error), "a user with +@bloom may ask")
        tap.check(c.do("ACL", "DRYRUN", "reader", "BF.ADD", "b", "x") != "OK", "and without @write may not add")
    module = c.must("MODULE", "LIST")
    tap.check(any(b"tamis" in one for one in module), "MODULE LIST")


def try_server(program):
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True).stdout
    print("# %s: %s" % (program, version.strip()))
    with Server(program=program) as server:
        c = server.client()
        fill(c)
        families(c)
        in_a_transaction(c)
        files(server)
        what_the_server_knows(c)
        replicas(server, program)


def main():
    programs = [one for one in os.environ.get("TAMIS_REDIS_SERVERS", shutil.which("valkey-server") or "").split(":") if one]
    if not programs:
        tap.skip("redis_servers", "TAMIS_REDIS_SERVERS names no other server")
    for program in programs:
        try_server(program)
    return tap.end()


sys.exit(main())
