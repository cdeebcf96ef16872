#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CF.*: every command in both protocols, with our filters and RedisBloom's; dumps of RedisBloom;
forged chunks; growth; replicas and files."""
import glob
import os
import random
import struct
import sys

from resp import Error, Map, Status
from server import ROOT, Server, Tap, in_step, info_field, replicate, until

tap = Tap()
WRONG_TYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
NAMES = ["Size", "Number of buckets", "Number of filters", "Number of items inserted",
         "Number of items deleted", "Bucket size", "Expansion rate", "Max iterations"]
VECTORS = os.path.join(ROOT, "..", "shared", "vectors", "redisbloom")
ORIGIN = ("cf-kind", "rediscuckoo")


def words(text):
    return [b"" if word == "''" else word.encode() for word in text.split()]


def arity(name):
    return Error(f"ERR wrong number of arguments for '{name}' command")


class Session:
    """A client whose replies are compared one by one."""

    def __init__(self, server, protocol, label):
        self.client, self.protocol = server.client(protocol), protocol
        self.label = f"{label} RESP{protocol}"
        self.yes, self.no = (True, False) if protocol == 3 else (1, 0)
        self.do = self.client.do
        self.client.must("FLUSHALL")

    def equal(self, command, wanted):
        tap.equal(self.do(*words(command)), wanted, f"{self.label} {command[:70]}")

    def info(self, key, **wanted):
        """CF.INFO as a dictionary, after a check of its shape."""
        reply = self.client.must("CF.INFO", key)
        is_shaped = isinstance(reply, Map) and list(reply) == NAMES if self.protocol == 3 else \
            reply[::2] == NAMES and all(isinstance(name, Status) for name in reply[::2])
        got = reply if self.protocol == 3 else dict(zip(reply[::2], reply[1::2]))
        wanted = {NAMES[int(i[1:])]: value for i, value in wanted.items()}
        tap.check(is_shaped and all(got[name] == value for name, value in wanted.items()),
                  f"{self.label} CF.INFO {key} tells {wanted} in its shape")
        return got


# ---- Replies ---------------------------------------------------------------------------------------

def reserve(s):
    out_of = Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")
    s.equal("CF.RESERVE k", arity("cf.reserve"))
    s.equal("CF.RESERVE k 1000", Status("OK"))
    s.equal("CF.RESERVE k 1000", Error("ERR item exists"))
    s.info("k", _1=512, _2=1, _3=0, _4=0, _5=2, _6=1, _7=20)
    s.equal("CF.RESERVE k2 1000 BUCKETSIZE 4 MAXITERATIONS 30 EXPANSION 2", Status("OK"))
    s.info("k2", _1=256, _5=4, _6=2, _7=30)
    s.equal("CF.RESERVE k3 1000 bucketsize 3 EXPANSION 3 SURPRISE 3", Status("OK"))
    s.info("k3", _1=512, _5=3, _6=4)
    for name, most in ("BUCKETSIZE", 255), ("MAXITERATIONS", 65535), ("EXPANSION", 32768):
        least = 0 if name == "EXPANSION" else 1
        s.equal(f"CF.RESERVE n 1000 {name}", arity("cf.reserve"))
        for text in "x", "''", "1.5", "+7", "9223372036854775808", "nan", name:
            s.equal(f"CF.RESERVE n 1000 {name} {text}", Error(f"Couldn't parse {name}"))
        for number in (-2**63, -1, 0, 1, 255, 256, 65535, 65536, 2**31, 2**32, 2**63 - 1):
            is_good = least <= number <= most
            s.equal(f"CF.RESERVE n 600 {name} {number}", Status("OK") if is_good else Error(
                f"{name}: value must be in the range [{least}, {most}]"))
            s.equal("DEL n", int(is_good))
    for number in (-2**63, -1, 0, 1, 3, 2**31, 2**32, 2**63 - 1, 2**30 + 1):
        s.equal(f"CF.RESERVE n {number}", out_of)
    s.equal("CF.RESERVE n 7 BUCKETSIZE 4", out_of)
    for text in "x", "''", "1.5", "+7", "07", "9223372036854775808", "1e3", "nan", "inf", "0x10":
        s.equal(f"CF.RESERVE n {text}", Error("Bad capacity"))
    s.equal("CF.RESERVE string 1000", WRONG_TYPE)
    s.equal("CF.RESERVE other 1000", WRONG_TYPE)


def adding(s):
    yes, no = s.yes, s.no
    s.equal("CF.ADD a", arity("cf.add"))
    s.equal("CF.ADD a x y", arity("cf.add"))
    s.equal("CF.ADD a x", yes)
    s.equal("CF.ADD a x", yes)
    s.equal("CF.COUNT a x", 2)
    s.equal("CF.ADDNX a x", no)
    s.equal("CF.ADDNX a y", yes)
    s.equal("CF.ADDNX new x", yes)
    s.equal("CF.ADD a ''", yes)
    s.equal("CF.COUNT a ''", 1)
    s.info("a", _1=512, _2=1, _3=4, _4=0, _5=2, _6=1, _7=20)
    for command in "CF.ADD", "CF.ADDNX":
        s.equal(f"{command} string x", WRONG_TYPE)
        s.equal(f"{command} other x", WRONG_TYPE)
    s.equal("CF.INSERT i ITEMS", arity("cf.insert"))
    s.equal("CF.INSERT i CAPACITY 10 ITEMS", arity("cf.insert"))
    s.equal("CF.INSERT i NOCREATE NOCREATE CAPACITY", arity("cf.insert"))
    s.equal("CF.INSERT i ITEMS a b a", [yes, yes, yes])
    s.equal("CF.INSERTNX i ITEMS a b c c", [0, 0, 1, 0])
    s.equal("CF.INSERT i2 CAPACITY 100 ITEMS a", [yes])
    s.info("i2", _1=64, _3=1)
    s.equal("CF.INSERTNX i3 C 100 I a b", [1, 1])
    s.equal("CF.INSERT i2 nocreate items a c", [yes, yes])
    for command in "CF.INSERT", "CF.INSERTNX":
        s.equal(f"{command} i4 NOCREATE ITEMS a", Error("ERR not found"))
        s.equal(f"{command} i4 CAPACITY 100 NOCREATE ITEMS a", Error("ERR not found"))
        s.equal(f"{command} i4 CAPACITY x ITEMS a", Error("Bad capacity"))
        s.equal(f"{command} i4 CAPACITY ITEMS a", Error("Bad capacity"))
        for number in (-1, 0, 1, 3, 2**31, 2**63 - 1):
            s.equal(f"{command} i4 CAPACITY {number} ITEMS a",
                    Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]"))
        s.equal(f"{command} i4 SURPRISE ITEMS a", Error("Unknown argument received"))
        s.equal(f"{command} i4 NOCREATE a", Error("Unknown argument received"))
        s.equal(f"{command} string ITEMS a", WRONG_TYPE)
        s.equal(f"{command} other NOCREATE ITEMS a", WRONG_TYPE)
    s.equal("EXISTS i4", 0)


def asking(s):
    yes, no = s.yes, s.no
    s.equal("CF.EXISTS q x y", arity("cf.exists"))
    s.equal("CF.MEXISTS q", arity("cf.mexists"))
    s.equal("CF.COUNT q", arity("cf.count"))
    for key in "none", "string", "other":
        s.equal(f"CF.EXISTS {key} x", no)
        s.equal(f"CF.MEXISTS {key} x y", [no, no])
        s.equal(f"CF.COUNT {key} x", 0)
        s.equal(f"CF.DEL {key} x", Error("Not found"))
        s.equal(f"CF.COMPACT {key}", Error("Cuckoo filter was not found"))
        for command in "CF.INFO", "CF.DEBUG":
            s.equal(f"{command} {key}", Error("ERR not found") if key == "none" else WRONG_TYPE)
    s.equal("CF.INSERT q ITEMS a a b c", [yes] * 4)
    s.equal("CF.EXISTS q a", yes)
    s.equal("CF.EXISTS q zz", no)
    s.equal("CF.MEXISTS q a b zz", [yes, yes, no])
    s.equal("CF.COUNT q a", 2)
    s.equal("CF.COUNT q zz", 0)
    s.equal("CF.DEL q x y", arity("cf.del"))
    s.equal("CF.DEL q zz", no)
    s.equal("CF.DEL q a", yes)
    s.equal("CF.DEL q a", yes)
    s.equal("CF.DEL q a", no)
    s.equal("CF.INFO q x", arity("cf.info"))
    s.info("q", _1=512, _2=1, _3=2, _4=2)
    s.equal("CF.COMPACT q", Status("OK"))
    s.equal("CF.DEBUG q", b"bktsize:2 buckets:512 items:2 deletes:0 filters:1 max_iterations:20 expansion:1")


def replies(server, protocol, label):
    s = Session(server, protocol, label)
    s.client.must("SET", "string", 1)
    s.client.must("TAMIS.CREATE", "other", "blocked:capacity=100")
    for part in reserve, adding, asking, positions:
        part(s)


# ---- Chunks ----------------------------------------------------------------------------------------

def chunks_of(client, key):
    chunks, at = [], 0
    while True:
        at, piece = client.must("CF.SCANDUMP", key, at)
        if at == 0:
            return chunks
        chunks.append((at, piece))


def load(client, key, chunks):
    return [client.do("CF.LOADCHUNK", key, at, piece) for at, piece in chunks]


def positions(s):
    """Where chunks may not begin, including attacks on RedisBloom."""
    c = s.client
    s.equal("CF.SCANDUMP p", arity("cf.scandump"))
    s.equal("CF.SCANDUMP p 0", Error("ERR not found"))
    s.equal("CF.SCANDUMP p x", Error("Invalid position"))
    s.equal("CF.SCANDUMP string 0", WRONG_TYPE)
    s.equal("CF.LOADCHUNK p 1", arity("cf.loadchunk"))
    s.equal("CF.LOADCHUNK string 1 data", WRONG_TYPE)
    s.equal("CF.LOADCHUNK other 2 data", WRONG_TYPE)
    s.equal("CF.LOADCHUNK p 0 data", Error("Invalid position"))
    s.equal("CF.LOADCHUNK p x data", Error("Invalid position"))
    s.equal("CF.LOADCHUNK p 1 data", Error("Invalid header"))
    s.equal("CF.LOADCHUNK p 1 ''", Error("Invalid header"))
    s.equal("CF.LOADCHUNK p 2 data", Error("ERR not found"))
    s.equal("CF.LOADCHUNK p -1 data", Error("ERR not found"))
    s.equal("CF.RESERVE p 100", Status("OK"))
    s.equal("CF.SCANDUMP p 0", [0, None])
    s.equal("CF.INSERT p ITEMS a b c", [s.yes] * 3)
    for at in -1, -2**63, "x":
        s.equal(f"CF.SCANDUMP p {at}", Error("Invalid position"))
    for at in 2**63 - 1, 100000:
        s.equal(f"CF.SCANDUMP p {at}", [0, None])
    s.equal("CF.LOADCHUNK p 1 data", Error("ERR item exists"))
    for at in -2**63, -1, 2, 4, 129, 922337203685477588, 2**63 - 1:
        s.equal(f"CF.LOADCHUNK p {at} data", Error("Couldn't load chunk!"))
    chunks = chunks_of(c, "p")
    for at in range(1, chunks[-1][0] + 300):
        reply = c.do("CF.SCANDUMP", "p", at)
        if isinstance(reply, Error) or (reply[1] is None) != (at >= chunks[-1][0]):
            tap.check(False, f"{s.label} CF.SCANDUMP at {at}")
    header, rest = chunks[0][1], b"".join(piece for _, piece in chunks[1:])
    tap.equal(c.do("CF.LOADCHUNK", "half", 1, header), Status("OK"), f"{s.label} a header")
    for data, at in (b"", 1 + len(rest)), (rest + b"x", 2 + len(rest)), (rest + b"x", 1 + len(rest)), \
            (rest[1:], 1 + len(rest)), (rest[:4], 4), (b"x" * 37, 4):
        tap.equal(c.do("CF.LOADCHUNK", "half", at, data), Error("Couldn't load chunk!"),
                  f"{s.label} {len(data)} bytes at {at}")
    s.equal("CF.LOADCHUNK half -9223372036854775808 data", Error("Couldn't load chunk!"))
    for command in "EXISTS half a", "MEXISTS half a", "COUNT half a", "DEL half a", "INFO half", \
            "SCANDUMP half 0", "ADD half a", "INSERTNX half ITEMS a", "COMPACT half", "DEBUG half":
        reply = s.do(*words("CF." + command))
        tap.check(isinstance(reply, Error) and "on its way" in reply, f"{s.label} half a filter: {command}")
    before = int(info_field(c, "tamis", "tamis_filters_cf"))
    c.must("COPY", "half", "twin")
    tap.equal(int(info_field(c, "tamis", "tamis_filters_cf")), before + 1, f"{s.label} a copy of half a filter counts as what it will be")
    for at in range(0, len(rest), 50):
        for key in "half", "twin":
            reply = c.do("CF.LOADCHUNK", key, 1 + min(at + 50, len(rest)), rest[at:at + 50])
    tap.equal(reply, Status("OK"), f"{s.label} the last chunk, also of a copy of half of it")
    tap.equal(chunks_of(c, "twin"), chunks, f"{s.label} which dumps as it came")
    s.equal("CF.MEXISTS half a b c zz", [s.yes, s.yes, s.yes, s.no])
    tap.equal(chunks_of(c, "half"), chunks, f"{s.label} dumps as it came")
    tap.equal(c.must("DEBUG", "DIGEST-VALUE", "half"), c.must("DEBUG", "DIGEST-VALUE", "p"),
              f"{s.label} is the same value")


def forged_headers(server):
    """Shapes that RedisBloom once accepted."""
    c = server.client()
    c.must("FLUSHALL")
    good = dict(items=1, buckets=64, deletes=0, filters=1, size=2, iterations=20, expansion=1)

    def header(**changes):
        return struct.pack("<4Q3H", *{**good, **changes}.values())
    for changes in (dict(filters=0), dict(filters=65536), dict(filters=2**63), dict(size=0), dict(size=256),
                    dict(buckets=0), dict(buckets=63), dict(buckets=2**32 + 1), dict(buckets=2**56),
                    dict(buckets=2**63), dict(iterations=0), dict(expansion=3), dict(expansion=65535),
                    dict(filters=2, expansion=0), dict(filters=65535, expansion=2),
                    dict(buckets=2**31, filters=65535), dict(buckets=2**31)):
        tap.equal(c.do("CF.LOADCHUNK", "f", 1, header(**changes)), Error("Couldn't create filter!"),
                  f"a header with {changes} is refused")
        tap.equal(c.do("EXISTS", "f"), 0, "and leaves nothing")
    for size in 0, 37, 39, 208:
        tap.equal(c.do("CF.LOADCHUNK", "f", 1, b"\1" * size), Error("Invalid header"), f"{size} bytes are no header")
    for total in 0, 1, 192, 2**31 + 1, 2**63, 2**64 - 1:
        tap.equal(c.do("CF.LOADCHUNK", "f", 1, b"tamis-cf" + struct.pack("<Q", total) + bytes(192)),
                  Error("Couldn't create filter!"), f"an image of {total} bytes is refused")
    for items, cells in (0, b"\7"), (2, b"\7"), (2**64 - 1, b"\7"):
        c.must("CF.LOADCHUNK", "f", 1, header(items=items))
        reply = c.do("CF.LOADCHUNK", "f", 129, cells + bytes(127))
        tap.check(isinstance(reply, Error) and c.do("EXISTS", "f") == 0, f"1 cell as {items} items is refused")
    tap.equal(c.do("PING"), Status("PONG"), "the server is there")


def forged_dumps(server):
    """Every prefix of a dump, and each byte of it changed, with checksums switched off."""
    c = server.client()
    c.must("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    c.must("CF.RESERVE", "d", 8, "BUCKETSIZE", 1, "EXPANSION", 2)
    c.must("CF.INSERT", "d", "ITEMS", *range(20))
    c.must("CF.DEL", "d", 3)
    dump, answers = c.must("DUMP", "d"), c.must("CF.MEXISTS", "d", *range(20))
    body, footer = dump[:-10], dump[-10:]
    cut = sum(not isinstance(c.do("RESTORE", "x", 0, body[:n] + footer, "REPLACE"), Error)
              for n in range(len(body)))
    tap.equal(cut, 0, f"{len(body)} beginnings of a dump are refused")
    taken = refused = believed = 0
    for at in range(10, len(body)):
        for flip in 1, 2, 4, 8, 16, 32, 64, 128, 255:
            changed = body[:at] + bytes([body[at] ^ flip]) + body[at + 1:]
            if isinstance(c.do("RESTORE", "x", 0, changed + footer, "REPLACE"), Error):
                refused += 1
            else:
                taken += 1
                believed += c.must("DUMP", "x")[:-10] != changed
                c.must("CF.INFO", "x")
                c.must("CF.COMPACT", "x")
                c.do("CF.ADD", "x", "y")
    tap.check(believed <= 4, f"what is accepted is dumped unchanged, except {believed} that were only encoded differently")
    tap.check(refused > taken > 0, f"of its changed bytes {refused} are refused, {taken} are other fingerprints")
    tap.equal(c.must("CF.MEXISTS", "d", *range(20)), answers, "the server still answers")


def forged_notes(server):
    """Notes are not trusted either."""
    c = server.client()
    names = "expansion", "bucketsize", "iterations", "filters", "deleted", "buckets"
    for number in 0, 1, 2**63, 2**64 - 1:
        for spec in "multiset:capacity=10", "blocked:capacity=10", "cuckoo:capacity=10", "rediscuckoo:capacity=10":
            c.do("DEL", "n", "n2")
            c.must("TAMIS.CREATE", "n", spec, "NOTE", "redis", "cf " + " ".join(f"{name}={number}" for name in names))
            for i in range(200):
                c.do("CF.ADD", "n", i)
            is_theirs = spec.startswith(("multiset", "rediscuckoo"))  # what CF makes
            for command in "INFO", "DEBUG", "COMPACT":
                refused = isinstance(c.do("CF." + command, "n"), Error)
                tap.check(refused != is_theirs, f"{spec} with a note of CF: CF.{command} is {'taken' if is_theirs else 'refused'}")
            c.do("CF.DEL", "n", 1)
            c.must("RESTORE", "n2", 0, c.must("DUMP", "n"))
            same = digests(c, ["n"]) == digests(c, ["n2"])
            tap.check(same, f"{spec} of a cuckoo filter with numbers {number}: restored as it was")


# ---- Dumps of RedisBloom -----------------------------------------------------------------------------

HITS = [103, 104, 127, 129, 131, 134, 143, 152, 154, 158, 197, 244, 272, 278, 299, 304, 349, 365, 398, 435,
        438, 451, 498, 523, 529, 541, 571]


def vector(server, name, check):
    c = server.client()
    paths = glob.glob(os.path.join(VECTORS, name + ".*"))
    if not paths:
        tap.skip(f"dump {name}", "the dumps of RedisBloom are not here")
        return
    read = {path: open(path, "rb").read() for path in paths}
    dump = next(data for path, data in read.items() if path.endswith("rdbdump.bin"))
    chunks = sorted((int(path.split(".iter")[1][:-4]), data) for path, data in read.items() if ".iter" in path)
    tap.equal(c.do("RESTORE", name, 0, dump), Status("OK"), f"{name} is restored")
    tap.equal(set(load(c, name + "2", chunks)), {Status("OK")}, f"{name} is loaded in chunks")
    for key in name, name + "2":
        tap.equal(c.must("TYPE", key), Status("MBbloomCF"), f"{key} has its type")
        tap.equal(c.must("DUMP", key)[:-10], dump[:-10], f"{key} is dumped as it was")
        tap.equal(chunks_of(c, key), chunks, f"{key} comes in the same chunks")
        check(c, key)


def check_small(c, key):
    six = ["alpha", "beta", "gamma", "delta", "", "café"]
    tap.equal(c.must("CF.MEXISTS", key, *six), [1, 0, 1, 1, 1, 1], f"{key} has the words")
    tap.equal(c.must("CF.COUNT", key, "alpha"), 2, f"{key} counts")


def check_grown(c, key):
    tap.equal(c.must("CF.MEXISTS", key, *(f"key-{i}" for i in range(100))), [1] * 100, f"{key} has the keys")
    asked = c.must("CF.MEXISTS", key, *(f"key-{i}" for i in range(100, 600)))
    tap.equal([i + 100 for i, hit in enumerate(asked) if hit], HITS, f"{key} has its false positives")


# ---- Full and larger ---------------------------------------------------------------------------------

def is_full(server, protocol, label):
    s = Session(server, protocol, label)
    c = s.client
    none = -1 if protocol == 2 else False
    s.equal("CF.RESERVE f 4 BUCKETSIZE 1 EXPANSION 0", Status("OK"))
    reply = c.do("CF.INSERT", "f", "ITEMS", *range(8))
    tap.equal(sorted(map(int, reply)), sorted([int(s.yes)] * 4 + [int(none)] * 4),
              f"{s.label} four of eight fit")
    tap.equal(sorted(c.do("CF.INSERTNX", "f", "ITEMS", *range(8))), [-1] * 4 + [0] * 4,
              f"{s.label} and four are there")
    s.equal("CF.ADD f zz", Error("Filter is full"))
    s.equal("CF.ADDNX f zz", Error("Filter is full"))
    s.info("f", _3=4, _2=1)
    s.equal("CF.RESERVE m 4 BUCKETSIZE 1", Status("OK"))
    c.must("CONFIG", "SET", "tamis.cf-max-expansions", 2)
    added = []
    for i in range(1000):
        reply = c.do("CF.ADD", "m", i)
        if isinstance(reply, Error):
            break
        added.append(i)
    tap.equal(reply, Error("Maximum expansions reached"), f"{s.label} after {len(added)} adds")
    s.equal("CF.INSERT m ITEMS y1 y2", Error("Maximum expansions reached"))
    tap.equal(c.must("CF.MEXISTS", "m", *added), [s.yes] * len(added), f"{s.label} all that went in is there")
    s.info("m", _2=2, _3=len(added))
    c.must("CONFIG", "SET", "tamis.cf-max-expansions", 32)
    s.equal("CF.ADD m 1", s.yes)


def grows(server, label):
    """Grown again and again, it keeps its keys and counts; emptied, it shrinks again."""
    c = server.client()
    for expansion in 1, 2, 8:
        key = f"g{expansion}"
        c.must("CF.RESERVE", key, 100, "EXPANSION", expansion)
        size = c.must("CF.INFO", key)[1]
        items = [f"item {i}" for i in range(2500)]
        for at in range(0, len(items), 250):
            c.must("CF.INSERT", key, "ITEMS", *items[at:at + 250])
        c.must("CF.INSERT", key, "ITEMS", *items[:100])
        info = c.must("CF.INFO", key)
        tap.check(info[5] > 1 and info[7] == 2600, f"{label} EXPANSION {expansion}: {info[5]} filters")
        tap.equal(c.must("CF.MEXISTS", key, *items), [1] * 2500, f"{label} EXPANSION {expansion}: all there")
        counts = c.pipeline([("CF.COUNT", key, item) for item in items])
        tap.check(all(n >= 2 for n in counts[:100]) and all(n >= 1 for n in counts), f"{label} no count too low")
        hits = sum(c.must("CF.MEXISTS", key, *(f"stranger {i}" for i in range(5000))))
        tap.check(hits < 5000 * (0.4 if expansion == 1 else 0.15), f"{label} {hits} of 5000 non-members")
        c.pipeline([("CF.DEL", key, item) for item in items[:100] + items[30:]])
        c.must("CF.COMPACT", key)
        info = c.must("CF.INFO", key)
        tap.check(info[7] == 30 and info[9] == 0 and info[1] <= size + 200,
                  f"{label} EXPANSION {expansion}: {info[1]} bytes when nearly empty, {size} at first")
        tap.equal(c.must("CF.MEXISTS", key, *items[:30]), [1] * 30, f"{label} what stayed is there")


def enlarged_by_worker(server):
    """A large filter, while others write to it."""
    a, b, c = server.client(), server.client(), server.client()
    a.must("CF.RESERVE", "large", 1200000, "EXPANSION", 2)
    info = a.must("TAMIS.INFO", "large")
    left = dict(zip(info[::2], info[1::2]))[b"shape"][1] * 19 // 20
    numbers = random.Random(9)
    while left:
        n = min(left, 1 << 20)
        left -= n
        a.must("TAMIS.HADD", "large", numbers.randbytes(8 * n))
    a.send(["CF.INSERT", "large", "ITEMS", "one", "two", "two"])
    b.send(["CF.ADD", "large", "three"])
    tap.check(c.must("CF.EXISTS", "large", "four") in (0, 1), "queries go on")
    tap.equal([a.read(), b.read()], [[1, 1, 1], 1], "adds wait for the larger filter")
    tap.equal(a.must("CF.MEXISTS", "large", "one", "two", "three"), [1, 1, 1], "and are in it")
    tap.equal([a.must("CF.COUNT", "large", "two"), a.must("CF.INFO", "large")[5]], [2, 2], "once each")


def large_chunks(server, label):
    """No chunk makes others wait; incoming ones may be as large as RedisBloom's, or larger."""
    c = server.client()
    c.must("CF.RESERVE", "dumped", 1 << 24)
    c.must("CF.INSERT", "dumped", "ITEMS", *range(1000))
    parts = chunks_of(c, "dumped")
    tap.check(len(parts) > 4 and max(len(part) for _, part in parts) == 4 << 20, f"{label}: {len(parts)} chunks of a large filter")
    whole = [parts[0], (parts[-1][0], b"".join(part for _, part in parts[1:]))]
    tap.equal([set(load(c, key, those)) for key, those in (("again", parts), ("once", whole))], [{Status("OK")}] * 2,
              f"{label}: a filter comes in chunks of any size")
    tap.equal(digests(c, ["again", "once"]), digests(c, ["dumped"]) * 2, f"{label}: and is the same")


def made_by_worker(server):
    """Two clients make the same large filter at the same time."""
    a, b = server.client(), server.client()
    for client in a, b:
        client.send(["CF.INSERT", "wide", "CAPACITY", 5000000, "ITEMS", "x", client.socket.getsockname()[1]])
    tap.equal([a.read(), b.read()], [[1, 1], [1, 1]], "both find room")
    tap.equal([a.must("CF.COUNT", "wide", "x"), a.must("CF.INFO", "wide")[7]], [2, 4], "in one filter")


def old_encodings(server):
    """What RedisBloom wrote before it had options."""
    c = server.client()
    c.must("CF.RESERVE", "now", 8, "BUCKETSIZE", 2)
    c.must("CF.INSERT", "now", "ITEMS", "a", "b", "c")
    (_, header), (_, cells) = chunks_of(c, "now")
    dump = c.must("DUMP", "now")
    name, footer = int.from_bytes(dump[2:10], "big") >> 10, dump[-10:]
    for encoding in 0, 1, 2, 3, 4, 5:
        old = b"\7\x81" + (name << 10 | encoding).to_bytes(8, "big")
        old += b"".join(bytes([2, number]) for number in (1, 4, 3)) + bytes([5, len(cells)]) + cells + b"\0"
        reply = c.do("RESTORE", "old", 0, old + footer, "REPLACE")
        if encoding < 4:
            tap.equal([reply, chunks_of(c, "old")], [Status("OK"), [(1, header), (9, cells)]], f"encoding {encoding}")
        else:
            tap.check(isinstance(reply, Error), f"encoding {encoding} has other fields")


# ---- Replicas and files ------------------------------------------------------------------------------

def digests(client, keys):
    return [client.must("DEBUG", "DIGEST-VALUE", key) for key in keys]


def offset(client):
    info = client.must("INFO", "replication").decode()
    return int(info.split("master_repl_offset:")[1].split("\r")[0])


def no_ops(client):
    """Commands that change nothing are not replicated."""
    for command in "CF.DEL r absent", "CF.DEL none x", \
            "CF.ADD full x", "CF.INSERT full ITEMS x y", "CF.COMPACT r", "CF.RESERVE r 10", "CF.LOADCHUNK r 2 x":
        before = offset(client)
        client.do(*words(command))
        tap.equal(offset(client), before, f"nothing changed, nothing replicated: {command}")


def random_command(numbers, key):
    item = f"i{numbers.randrange(300)}"
    many = [f"i{numbers.randrange(300)}" for _ in range(numbers.randrange(1, 30))]
    return numbers.choice([("CF.ADD", key, item), ("CF.ADDNX", key, item), ("CF.DEL", key, item),
                           ("CF.INSERT", key, "CAPACITY", 30, "ITEMS", *many), ("CF.COMPACT", key),
                           ("CF.INSERTNX", key, "ITEMS", *many), ("CF.DEL", key, many[0])])


def lives_on(arguments, label):
    numbers = random.Random(4)
    options = "--appendonly yes --aof-use-rdb-preamble no --repl-diskless-sync-delay 0".split()
    with Server(*options, arguments=arguments) as primary, Server(arguments=("cf-max-expansions", 1)) as replica:
        p, r = primary.client(), replica.client()
        replicate(primary, replica)
        keys = [f"k{i}" for i in range(6)]
        for i, key in enumerate(keys):
            p.must("CF.RESERVE", key, 8 + 10 * i, "BUCKETSIZE", 1 + i, "EXPANSION", i % 3)
        keys += ["born", "r", "full"]
        p.pipeline([random_command(numbers, numbers.choice(keys[:7])) for _ in range(1500)])
        p.must("CF.ADD", "r", "there")
        p.must("CF.RESERVE", "full", 4, "BUCKETSIZE", 1, "EXPANSION", 0)
        p.must("CF.INSERT", "full", "ITEMS", *range(20))
        no_ops(p)
        load(p, "copy", chunks_of(p, "k2"))
        p.must("CF.LOADCHUNK", "half", 1, chunks_of(p, "k2")[0][1])
        keys += ["copy"]
        in_step(primary, replica)
        wanted = digests(p, keys)
        tap.equal(digests(r, keys), wanted, f"{label}: the replica is equal")
        p.must("DEBUG", "LOADAOF")
        tap.equal(digests(p, keys), wanted, f"{label}: what the log gives is equal")
        p.must("BGREWRITEAOF")
        until(lambda: b"aof_rewrite_in_progress:0" in p.must("INFO", "persistence"), what="the log is written")
        p.must("DEBUG", "LOADAOF")
        tap.equal(digests(p, keys), wanted, f"{label}: and after it was rewritten")
        p.must("DEBUG", "RELOAD")
        tap.equal(digests(p, keys), wanted, f"{label}: after a reload of the file")
        for client in p, r:
            tap.check("on its way" in str(client.do("CF.EXISTS", "half", "x")), f"{label}: half a filter is still that")
        tap.equal(p.must("COPY", "k3", "twin"), 1, f"{label}: a copy")
        tap.equal(digests(p, ["twin"]), digests(p, ["k3"]), f"{label}: is equal")


def main():
    with Server() as own, Server(arguments=ORIGIN) as origin:
        for protocol in 2, 3:
            for server, label in (own, "own"), (origin, "origin"):
                replies(server, protocol, label)
                is_full(server, protocol, label)
        for server, label in (own, "own"), (origin, "origin"):
            grows(server, label)
            large_chunks(server, label)
            forged_headers(server)
        forged_notes(own)
        forged_dumps(origin)
        old_encodings(origin)
        vector(own, "cf_cap16", check_small)
        vector(own, "cf_cap32_b4_exp2_100keys", check_grown)
        enlarged_by_worker(own)
        made_by_worker(own)
    lives_on((), "own")
    lives_on(ORIGIN, "origin")
    return tap.end()


sys.exit(main())
