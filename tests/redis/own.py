#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TAMIS.*: every command, in both protocols, on every sort of kind, on Debian's server."""
import os
import struct
import subprocess
import sys
import time

from resp import Error, Status
from server import ROOT, Server, Tap, in_step, replicate

TAMIS = os.environ.get("TAMIS", os.path.join(ROOT, "build", "tamis"))
tap = Tap()


def is_error(reply, part):
    return isinstance(reply, Error) and part in reply


class Talk:
    """One connection, with the reply shapes of its protocol."""

    def __init__(self, server, protocol):
        self.client = server.client(protocol)
        self.protocol = protocol
        self.yes, self.no = (True, False) if protocol == 3 else (1, 0)

    def equal(self, words, wanted):
        tap.equal(self.client.do(*words), wanted,
                  f"RESP{self.protocol} {' '.join(str(w)[:40] for w in words)}")

    def refused(self, words, part):
        reply = self.client.do(*words)
        tap.check(is_error(reply, part), f"RESP{self.protocol} {' '.join(str(w)[:40] for w in words)}: {reply}")

    def bools(self, *answers):
        return [self.yes if a else self.no for a in answers]


def dump(client, key, count=1 << 20):
    image, at = b"", 0
    while True:
        at, total, piece = client.must("TAMIS.DUMP", key, at, "COUNT", count)
        image += piece
        if at == 0:
            return image, total


def load(client, key, image, step=1 << 20):
    for at in range(0, len(image), step):
        reply = client.must("TAMIS.LOAD", key, at, len(image), image[at:at + step])
    return reply


def shapes(t):
    c = t.client
    t.equal(["TAMIS.CREATE", "f", "blocked:capacity=1000"], Status("OK"))
    t.equal(["TAMIS.CREATE", "f", "blocked:capacity=1000"], Error("ERR item exists"))
    t.equal(["TAMIS.ADD", "f", "a", "b", "c"], 3)
    t.equal(["TAMIS.HAS", "f", "a", "x"], t.bools(1, 0))
    t.equal(["TAMIS.ADDNEW", "f", "a", "d", "d"], t.bools(0, 1, 0))
    t.equal(["TAMIS.HADD", "f", struct.pack("<3Q", 1, 2 << 60, 3 << 61)], 3)
    t.equal(["TAMIS.HHAS", "f", struct.pack("<4Q", 1, 2 << 60, 3 << 61, 77 << 50)], b"\x07")
    tap.check(len(c.do("TAMIS.SECRET", "f")) == 16, "a keyed filter reports its secret")
    t.equal(["TAMIS.CREATE", "plain", "blocked:capacity=1000,hash=xxh3"], Status("OK"))
    t.equal(["TAMIS.SECRET", "plain"], None)
    info = c.do("TAMIS.INFO", "f")
    tap.check(isinstance(info, dict if t.protocol == 3 else list), "info is a map")
    image, total = dump(c, "f", 100)
    tap.equal(len(image), total, "a dump is as long as it says")
    for at in range(0, total, 333):
        reply = c.must("TAMIS.LOAD", "g", at, total, image[at:at + 333])
        if at + 333 < total:
            t.refused(["TAMIS.HAS", "g", "a"], "still on its way")
    tap.equal(reply, total, "a loaded filter is in place")
    t.equal(["TAMIS.HAS", "g", "a", "x"], t.bools(1, 0))


def refusals(t):
    for words in (["HAS", "none", "a"], ["ADD", "none", "a"], ["ADDNEW", "none", "a"], ["REMOVE", "none", "a"],
                  ["COUNT", "none", "a"], ["GET", "none", "a"], ["PUT", "none", "a", "1"], ["FOLD", "none", "2"],
                  ["TICK", "none"], ["RESIZE", "none", "10"], ["INFO", "none"], ["DUMP", "none", "0"],
                  ["HADD", "none", b"12345678"], ["HHAS", "none", b"12345678"], ["SECRET", "none"]):
        t.equal(["TAMIS." + words[0], *words[1:]], Error("NOFILTER there is no filter at key 'none'"))
    t.equal(["TAMIS.MERGE", "new", "none"], Error("NOFILTER there is no filter at key 'none'"))
    t.equal(["SET", "text", "1"], Status("OK"))
    for words in (["HAS", "text", "a"], ["ADD", "text", "a"], ["PUT", "text", "a", "1"], ["TICK", "text"],
                  ["MERGE", "text", "f"], ["MERGE", "f", "text"], ["LOAD", "text", "0", "1", "a"], ["INFO", "text"]):
        t.refused(["TAMIS." + words[0], *words[1:]], "WRONGTYPE")
    t.refused(["TAMIS.CREATE", "n", "blocked:capacity=1000,fpr=2"], "fpr")
    t.refused(["TAMIS.CREATE", "n", "nokind:capacity=1000"], "nokind")
    t.refused(["TAMIS.CREATE", "n", "fuse:capacity=10"], "ERR")
    t.refused(["TAMIS.CREATE", "n", "capacity=1000", "NOTE", "a"], "syntax error")
    t.refused(["TAMIS.CREATE", "n", "capacity=1000", "SECRET", "short"], "16 bytes")
    t.refused(["TAMIS.CREATE", "n", "window:capacity=1000", "LAST", "100"], "by=clock")
    t.refused(["TAMIS.CREATE", "n", "window:capacity=1000,by=clock", "EVERY", "0"], "from 1 to")
    notes = [word for i in range(16) for word in ("NOTE", f"n{i}", "v")]
    t.refused(["TAMIS.CREATE", "n", "capacity=1000", *notes, "NOTE", "more", "v"], "at most 16 notes")
    t.refused(["TAMIS.CREATE", "n", "window:capacity=1000,by=clock", "EVERY", "9", *notes], "at most 16 notes")
    t.refused(["TAMIS.CREATE", "n", "capacity=1e15"], "ERR")
    t.refused(["TAMIS.HADD", "f", b"1234567"], "8 bytes each")
    t.refused(["TAMIS.HHAS", "f", b""], "8 bytes each")
    t.refused(["TAMIS.REMOVE", "f", "a"], "blocked cannot remove keys")
    t.refused(["TAMIS.GET", "f", "a"], "blocked cannot map keys to values")
    t.refused(["TAMIS.PUT", "f", "a", 1], "blocked cannot set values")
    t.refused(["TAMIS.TICK", "f"], "blocked")
    t.refused(["TAMIS.RESIZE", "f", 10], "blocked")
    t.refused(["TAMIS.FOLD", "f", "x"], "ERR")
    t.refused(["TAMIS.FOLD", "f", 0], "ERR")
    t.refused(["TAMIS.MERGE", "f", *["f"] * 65], "1 to 64 sources")
    t.refused(["TAMIS.PUT", "f", "a"], "wrong number of arguments")
    t.equal(["EXISTS", "n", "new"], 0)


def kinds(t):
    c = t.client
    ok = Status("OK")
    for kind in ("counting", "cuckoo", "quotient", "multiset", "dleft", "spectral", "composite", "grow"):
        t.equal(["TAMIS.CREATE", kind, f"{kind}:capacity=1000"], ok)
        t.equal(["TAMIS.ADD", kind, "a", "b", "c"], 3)
        t.equal(["TAMIS.REMOVE", kind, "a", "never"], t.bools(1, 0))
        t.equal(["TAMIS.HAS", kind, "a", "b"], t.bools(0, 1))
    for kind in ("counting", "multiset", "countmin"):
        if kind == "countmin":
            t.equal(["TAMIS.CREATE", kind, "countmin:capacity=1000"], ok)
        t.equal(["TAMIS.ADD", kind, "x", "x", "x", "y"], 4)
        t.equal(["TAMIS.COUNT", kind, "x", "y", "never"], [3, 1, 0])
    t.equal(["TAMIS.COUNT", "cuckoo", "b", "never"], [1, 0])
    t.equal(["TAMIS.RESIZE", "multiset", 5000], ok)
    t.equal(["TAMIS.COUNT", "multiset", "x", "y", "never"], [3, 1, 0])
    t.equal(["TAMIS.CREATE", "map", "approximator:capacity=1000"], ok)
    t.equal(["TAMIS.PUT", "map", "k", 7, "l", 200], 2)
    t.equal(["TAMIS.GET", "map", "k", "l", "never"], [7, 200, None])
    t.refused(["TAMIS.PUT", "map", "m", 1, "n", 256], "too large")
    t.equal(["TAMIS.GET", "map", "m"], [None])
    t.equal(["TAMIS.CREATE", "sketch", "minhash"], ok)
    t.equal(["TAMIS.ADD", "sketch", "a"], 1)
    for verb in ("HAS", "COUNT", "ADDNEW"):
        t.refused(["TAMIS." + verb, "sketch", "a"], "knows sets")
    t.equal(["TAMIS.CREATE", "recent", "window:capacity=100"], ok)
    t.equal(["TAMIS.ADDNEW", "recent", "a", "a"], t.bools(1, 0))
    for at in range(0, 1000, 100):
        c.must("TAMIS.ADD", "recent", *range(at, at + 100))
    t.equal(["TAMIS.HAS", "recent", "a", 999, 901], t.bools(0, 1, 1))
    for kind in ("stable:capacity=1000", "scalable:capacity=10", "iblt:capacity=100", "retouched:capacity=100",
                 "hierarchical:capacity=1000", "attenuated:capacity=100", "universal:capacity=100"):
        name = kind.split(":")[0]
        t.equal(["TAMIS.CREATE", name, kind], ok)
        t.equal(["TAMIS.ADD", name, *range(100)], 100)
        t.equal(["TAMIS.HAS", name, 5], t.bools(1))
    full = c.do("TAMIS.ADD", "cuckoo", *range(100000))
    tap.check(is_error(full, "full"), f"what is too much is refused: {full}")
    t.equal(["TAMIS.HAS", "cuckoo", 5, 77], t.bools(0, 0))
    before = c.must("DEBUG", "DIGEST-VALUE", "quotient")
    t.refused(["TAMIS.ADDNEW", "quotient", *range(100000)], "full")
    tap.equal(c.must("DEBUG", "DIGEST-VALUE", "quotient"), before, "and leaves nothing")


def merging(t):
    ok = Status("OK")
    for name, items in (("m1", "ab"), ("m2", "cd"), ("m3", "e")):
        t.equal(["TAMIS.CREATE", name, "blocked:capacity=100000,size=2^18"], ok)
        t.equal(["TAMIS.ADD", name, *items], len(items))
    t.equal(["TAMIS.MERGE", "m1", "m2", "m3"], ok)
    t.equal(["TAMIS.HAS", "m1", *"abcdef"], t.bools(1, 1, 1, 1, 1, 0))
    t.equal(["TAMIS.MERGE", "m4", "m3", "m2"], ok)
    t.equal(["TAMIS.HAS", "m4", *"abcdef"], t.bools(0, 0, 1, 1, 1, 0))
    t.equal(["TAMIS.HAS", "m3", *"cde"], t.bools(0, 0, 1))
    t.refused(["TAMIS.MERGE", "m3", "m2", "cuckoo"], "kinds differ")
    t.equal(["TAMIS.HAS", "m3", *"cde"], t.bools(0, 0, 1))
    t.equal(["TAMIS.FOLD", "m4", 8], ok)
    t.equal(["TAMIS.HAS", "m4", *"cde"], t.bools(1, 1, 1))
    tap.check(t.client.must("MEMORY", "USAGE", "m4") < (1 << 16), "a folded filter is smaller")
    t.refused(["TAMIS.FOLD", "m4", 7], "does not divide")
    t.equal(["TAMIS.MERGE", "m4", "m1"], ok)
    t.equal(["TAMIS.HAS", "m4", *"abcde"], t.bools(1, 1, 1, 1, 1))
    tap.check(t.client.must("MEMORY", "USAGE", "m4") > (1 << 17), "the union has the larger size")
    t.equal(["TAMIS.CREATE", "m5", "cuckoo:capacity=50000"], ok)
    t.refused(["TAMIS.MERGE", "m5", "cuckoo"], "differ")


def shards(t):
    ok = Status("OK")
    t.equal(["TAMIS.CREATE", "shard", "shard:layout=split,capacity=1M,fpr=1%,shard=1,shards=4"], ok)
    ours, theirs = 1 << 62, 3 << 62
    wrong = Error("WRONGSHARD hash c000000000000000 belongs to shard 3 of 4, and this is shard 1")
    t.equal(["TAMIS.HADD", "shard", struct.pack("<Q", ours)], 1)
    t.equal(["TAMIS.HADD", "shard", struct.pack("<2Q", ours + 5, theirs)], wrong)
    t.equal(["TAMIS.HHAS", "shard", struct.pack("<2Q", ours, ours + 5)], b"\x01")
    t.equal(["TAMIS.HHAS", "shard", struct.pack("<2000Q", *[ours] * 1999, theirs)], wrong)


def built(t, folder):
    """Kinds that are built once, by the command."""
    c = t.client
    keys, values, lists = (os.path.join(folder, n) for n in ("keys", "values", "lists"))
    with open(keys, "w") as file:
        file.write("".join(f"key{i}\n" for i in range(500)))
    with open(values, "w") as file:
        file.write("".join(f"key{i}\t{i % 200}\n" for i in range(500)))
    for kind in ("fuse", "ribbon", "gcs", "bloomier", "labels"):
        path = os.path.join(folder, kind)
        words = {"bloomier": ["--values", "--spec", "bloomier:value=8", path, values],
                 "labels": ["--kind", "labels", "--label", "one", keys, path]}.get(kind, ["--kind", kind, path, keys])
        made = subprocess.run([TAMIS, "build", "--force", *words], capture_output=True, text=True)
        if made.returncode:
            tap.check(False, f"tamis build {kind}: {made.stderr}")
            continue
        with open(path, "rb") as file:
            image = file.read()
        tap.equal(load(c, kind, image, 100), len(image), f"{kind} is loaded")
        t.equal(["TAMIS.HAS", kind, "key0", "key499"], t.bools(1, 1))
        hits = c.must("TAMIS.HAS", kind, *(f"other{i}" for i in range(1000)))
        tap.check(sum(hits) < 200, f"{kind} says no: {sum(hits)} of 1000 are yes")
        t.refused(["TAMIS.ADD", kind, "new"], kind)
        tap.equal(dump(c, kind)[0], image, f"{kind} is dumped as it was")
    t.equal(["TAMIS.GET", "bloomier", "key0", "key199", "key499"], [0, 199, 99])
    t.refused(["TAMIS.REMOVE", "fuse", "key0"], "fuse cannot remove keys")


def clock(t, replica):
    """Moves time by setting when the last tick was."""
    c, ok, hour = t.client, Status("OK"), 3600000
    t.equal(["TAMIS.CREATE", "seen", "window:capacity=1000,generations=4,by=clock", "LAST", 4 * hour], ok)

    def goes_back(ms):
        c.must("TAMIS.TICK", "seen", 0, "AT", int(time.time() * 1000) - ms)

    t.equal(["TAMIS.ADDNEW", "seen", "a"], t.bools(1))
    t.equal(["TAMIS.ADDNEW", "seen", "a"], t.bools(0))
    goes_back(4 * hour + 1000)
    t.equal(["TAMIS.HAS", "seen", "a"], t.bools(1))  # four ticks: found for the last time
    goes_back(hour + 1000)
    t.equal(["TAMIS.HAS", "seen", "a"], t.bools(0))
    t.equal(["TAMIS.ADDNEW", "seen", "a", "b"], t.bools(1, 1))
    goes_back(10 ** 5 * hour)
    t.equal(["TAMIS.ADDNEW", "seen", "a", "c"], t.bools(1, 1))
    goes_back(-hour)  # a clock set back: nothing expires, and time goes on
    t.equal(["TAMIS.HAS", "seen", "a"], t.bools(1))
    info = c.do("TAMIS.INFO", "seen")
    if t.protocol == 3:
        tap.equal(info["every"], hour, "info reports how often it ticks")
        tap.check(abs(info["ticked"] - time.time() * 1000) < 600000, "and when it last did")
    info = c.must("TAMIS.INFO", "seen")
    c.must("DEBUG", "RELOAD")
    t.equal(["TAMIS.INFO", "seen"], info)
    follower = replica.client(t.protocol)
    goes_back(5 * hour + 1000)
    in_step(t.server, replica)
    tap.equal(follower.do("TAMIS.HAS", "seen", "a"), t.bools(0), "a replica knows when all has left")
    goes_back(2 * hour + 1000)
    in_step(t.server, replica)
    digest = follower.must("DEBUG", "DIGEST-VALUE", "seen")
    tap.equal(follower.do("TAMIS.HAS", "seen", "a"), t.bools(1), "it does not tick by its own clock")
    tap.equal(follower.must("DEBUG", "DIGEST-VALUE", "seen"), digest, "nor changes when queried")
    t.equal(["TAMIS.HAS", "seen", "a"], t.bools(1))
    in_step(t.server, replica)
    tap.check(follower.must("DEBUG", "DIGEST-VALUE", "seen") != digest, "it ticks when the primary is queried")
    for words in (["seen", "1025"], ["seen", "-1"], ["seen", "0"], ["seen", "1", "AT"], ["seen", "1", "AT", "x"]):
        t.refused(["TAMIS.TICK", *words], "syntax error")
    t.equal(["TAMIS.TICK", "seen"], ok)
    t.equal(["TAMIS.TICK", "seen", 5], ok)
    t.equal(["TAMIS.HAS", "seen", "a"], t.bools(0))
    follower.close()


def digests(client):
    keys = sorted(client.must("KEYS", "*"))
    return dict(zip(keys, client.must("DEBUG", "DIGEST-VALUE", *keys)))


def everywhere(t, replica):
    """The same on the replica, after loading the file, and after loading a rewritten log."""
    in_step(t.server, replica)
    before = digests(t.client)
    follower = replica.client()
    there = digests(follower)
    follower.close()
    tap.equal({k: v for k, v in there.items() if before.get(k) != v}, {}, f"{len(before)} keys are on the replica")
    tap.equal(len(there), len(before), "and no others")
    t.client.must("DEBUG", "RELOAD")
    tap.equal(digests(t.client), before, "and in the file")
    t.client.must("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    t.client.must("CONFIG", "SET", "appendonly", "yes")
    t.wait_for_log()
    t.client.must("DEBUG", "LOADAOF")
    tap.equal(digests(t.client), before, "and in the log")
    t.client.must("CONFIG", "SET", "appendonly", "no")


def main():
    from server import until
    with Server() as server, Server() as replica:
        replicate(server, replica)
        for protocol in (2, 3):
            t = Talk(server, protocol)
            t.server = server
            t.wait_for_log = lambda: until(
                lambda: b"aof_rewrite_in_progress:0" in t.client.must("INFO", "persistence") and
                b"aof_rewrite_scheduled:0" in t.client.must("INFO", "persistence"), 30, "the log is written")
            t.client.must("FLUSHALL")
            shapes(t)
            refusals(t)
            kinds(t)
            merging(t)
            shards(t)
            built(t, server.folder)
            clock(t, replica)
            if protocol == 3:
                everywhere(t, replica)
            t.client.close()
    return tap.end()


sys.exit(main())
