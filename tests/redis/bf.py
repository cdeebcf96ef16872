#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""BF.*: every command in both protocols, with the texts of RedisBloom; our own kinds and its kind;
chunks, files, growth and replicas."""
import os
import random
import struct
import sys

from forge import crc64
from resp import Error, Map, Status
from server import ROOT, Server, Tap, in_step, replicate, until

tap = Tap()
OK, WRONG = Status("OK"), Error("WRONGTYPE Operation against a key holding the wrong kind of value")
FULL, ABSENT = Error("ERR non scaling filter is full"), Error("ERR not found")
VECTORS = os.path.join(os.environ.get("TAMIS_VECTORS", os.path.join(ROOT, "..", "shared", "vectors")), "redisbloom")
# A primary whose replicas need not wait and receive nothing but writes.
PRIMARY = "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600"


def arity(name):
    return Error(f"ERR wrong number of arguments for '{name.lower()}' command")


class Asker:
    """A client with its protocol's yes, no and maps; reports replies that differ."""

    def __init__(self, server, protocol, about=""):
        self.client, self.protocol = server.client(protocol), protocol
        self.yes, self.no = (True, False) if protocol == 3 else (1, 0)
        self.about, self.is_valkey = about, b"valkey_version" in self.client.must("INFO", "server")

    def all(self, name, *pairs):
        """(words, wanted reply) for each pair; `wanted` may be a string of answers: "101"."""
        bad = []
        for words, wanted in pairs:
            got = self.client.do(*(words.split(" ") if isinstance(words, str) else words))
            if type(wanted) is str:
                wanted = [self.yes if c == "1" else self.no if c == "0" else FULL for c in wanted]
            if type(wanted) is bool:
                wanted = self.yes if wanted else self.no
            if got != wanted or type(got) is not type(wanted):
                bad.append(f"#   {words}\n#   wanted {wanted!r}\n#   got    {got!r}")
        tap.check(not bad, f"RESP{self.protocol} {self.about}{name}")
        print("\n".join(bad), end="\n" if bad else "", flush=True)

    def info(self, *values):
        names = ("Capacity", "Size", "Number of filters", "Number of items inserted", "Expansion rate")
        if self.protocol == 3:
            return Map(zip(names, values))
        return [x for pair in zip(map(Status, names), values) for x in pair]

    def one(self, name, value):
        return value if self.is_valkey else Map({name: value}) if self.protocol == 3 else [value]

    def bare(self, reply):
        """The value of a field, whatever the form of the reply."""
        return reply if self.is_valkey else next(iter(reply.values())) if self.protocol == 3 else reply[0]


# ---- Grammar and texts ---------------------------------------------------------------------------

NUMBERS = [("0", False), ("-1", False), ("1", True), ("255", True), ("256", True), ("65535", True),
           ("65536", True), ("2147483648", False), ("4294967296", False), ("9223372036854775807", False)]
NO_NUMBERS = ["9223372036854775808", "-9223372036854775809", "abc", "", "1.5", " 7", "+7", "07", "1e3", "nan", "0x10"]
RATES = [("0", 0), ("1", 0), ("2", 0), ("-1", 0), ("inf", 0), ("-inf", 0), ("1.", 0), ("0.99", 1), ("0.5", 1),
         ("0.9999999999999999", 1), ("1e-10", 1), ("1e-320", 1), ("0x1p-3", 1), ("+0.1", 1), ("nan", None),
         ("-nan", None), ("abc", None), ("", None), ("1e-400", None), ("0.1 ", None), ("1,5", None)]


def reserve(a):
    a.all("RESERVE",
          ("BF.RESERVE", arity("BF.RESERVE")), ("BF.RESERVE k 0.01", arity("BF.RESERVE")),
          ("BF.RESERVE k 0.01 100", OK), ("BF.RESERVE k 0.01 100", Error("ERR item exists")),
          ("BF.RESERVE k2 0.01 100 NONSCALING", OK), ("BF.RESERVE k3 0.01 100 EXPANSION 4", OK),
          ("BF.RESERVE k4 0.01 100 EXPANSION 4 NONSCALING", Error("Nonscaling filters cannot expand")),
          ("BF.RESERVE k4 0.01 100 NONSCALING EXPANSION 4", Error("Nonscaling filters cannot expand")),
          ("BF.RESERVE k4 0.01 100 EXPANSION", Error("ERR no expansion")),
          ("BF.RESERVE k4 0.01 100 EXPANSION x", Error("ERR bad expansion")),
          ("BF.RESERVE k5 0.01 100 EXPANSION 0", OK), ("BF.RESERVE k6 0.01 100 EXPANSION 0 NONSCALING", OK),
          ("BF.RESERVE k7 0.01 100 expansion 8", OK), ("BF.RESERVE k8 0.01 100 SURPRISE", OK),
          ("BF.RESERVE k4 0.01 100 EXPANSION 2 EXPANSION 3", arity("BF.RESERVE")),
          ("BF.RESERVE k4 abc abc", Error("ERR bad error rate")),
          ("BF.RESERVE k4 2 abc", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
          ("SET s 1", OK), ("BF.RESERVE s 0.01 100", WRONG), ("BF.RESERVE s abc 100", Error("ERR bad error rate")),
          ("EXISTS k k2 k3 k4 k5 k6 k7 k8", 7),
          ("BF.INFO k3 EXPANSION", a.one("Expansion rate", 4)), ("BF.INFO k5 EXPANSION", a.one("Expansion rate", None)))
    tries = []
    for text, is_good in NUMBERS:
        tries.append((["BF.RESERVE", "n", "0.25", text], OK if is_good else
                      Error("ERR capacity must be in the range [1, 1073741824]")))
        tries.append((["DEL", "n"], int(is_good)))
        is_good = is_good and int(text) <= 32768 or text == "0"
        tries.append((["BF.RESERVE", "n", "0.01", "9", "EXPANSION", text], OK if is_good else
                      Error("ERR expansion must be in the range [0, 32768]")))
        tries.append((["DEL", "n"], int(is_good)))
    for text in NO_NUMBERS:
        tries.append((["BF.RESERVE", "n", "0.25", text], Error("ERR bad capacity")))
        tries.append((["BF.RESERVE", "n", "0.25", "9", "EXPANSION", text], Error("ERR bad expansion")))
    for text, good in RATES:
        tries.append((["BF.RESERVE", "n", text, "3"], OK if good else Error("ERR bad error rate") if good is None else
                      Error("ERR error rate must be in the range (0.000000, 1.000000)")))
        tries.append((["DEL", "n"], int(bool(good))))
    a.all("RESERVE with every kind of number", *tries)


def adds(a):
    a.all("ADD and MADD",
          ("BF.ADD k", arity("BF.ADD")), ("BF.ADD k a b", arity("BF.ADD")), ("BF.ADD k a", True), ("BF.ADD k a", False),
          (["BF.ADD", "k", ""], True), (["BF.ADD", "k", ""], False), (["BF.ADD", "k", b"a\0b"], True),
          (["BF.EXISTS", "k", b"a\0b"], True), ("BF.CARD k", 3), ("BF.MADD k", arity("BF.MADD")),
          ("BF.MADD k a b c", "011"), ("BF.MADD k d d e d", "1010"), ("BF.CARD k", 7),
          ("SADD s x", 1), ("BF.ADD s a", WRONG), ("BF.MADD s a b", WRONG),
          ("TAMIS.CREATE t blocked:capacity=9", OK), ("BF.ADD t a", WRONG), ("BF.INFO t", WRONG))
    a.all("full filters",
          ("BF.RESERVE f 0.0001 4 NONSCALING", OK), ("BF.MADD f a b c", "111"), ("BF.ADD f d", True), ("BF.ADD f e", FULL),
          ("BF.ADD f a", False), ("BF.CARD f", 4), ("BF.MADD f x a y", "E"), ("BF.INSERT f ITEMS a x b", "0E"),
          ("BF.EXISTS f e", False), ("BF.INFO f CAPACITY", a.one("Capacity", 4)), ("BF.INFO f ITEMS", a.one("Number of items inserted", 4)),
          ("BF.INFO f FILTERS", a.one("Number of filters", 1)), ("BF.INFO f EXPANSION", a.one("Expansion rate", None)),
          ("BF.RESERVE g 0.01 4 EXPANSION 0", OK), ("BF.MADD g a b b c d e f", "11011E"), ("BF.CARD g", 4))


def insert(a):
    bad = "Unknown argument received", "Bad capacity", "Bad error rate", "Bad expansion"
    unknown, capacity, rate, expansion = map(Error, bad)
    a.all("INSERT",
          ("BF.INSERT", arity("BF.INSERT")), ("BF.INSERT k ITEMS", arity("BF.INSERT")), ("BF.INSERT k ITEMS a", "1"),
          ("BF.INSERT k ITEMS a b", "01"), ("BF.INSERT k a b", unknown), ("BF.INSERT k CAPACITY 10", arity("BF.INSERT")),
          ("BF.INSERT k CAPACITY 10 ITEMS", arity("BF.INSERT")), ("BF.INSERT k CAPACITY ITEMS a", capacity),
          ("BF.INSERT k NOCREATE CAPACITY", arity("BF.INSERT")),
          ("BF.INSERT n CAPACITY 10 ERROR 0.001 EXPANSION 4 ITEMS a b c", "111"), ("BF.INFO n CAPACITY", a.one("Capacity", 10)),
          ("BF.INSERT n CAPACITY 99 ERROR 0.5 EXPANSION 9 NONSCALING ITEMS d", "1"), ("BF.INFO n EXPANSION", a.one("Expansion rate", 4)),
          ("BF.INSERT o NONSCALING CAPACITY 2 ITEMS a b c d", "11E"), ("BF.INSERT p EXPANSION 4 NONSCALING ITEMS a", "1"),
          ("BF.INSERT r EXPANSION 0 ITEMS a", "1"), ("BF.INFO r EXPANSION", a.one("Expansion rate", None)),
          ("BF.INSERT t NOCREATE ITEMS a", ABSENT), ("BF.INSERT n NOCREATE CAPACITY 10 ITEMS a z", "01"),
          ("BF.INSERT u SURPRISE ITEMS a", unknown), ("BF.INSERT x ITEMS ITEMS a", "11"), ("BF.EXISTS x ITEMS", True),
          ("BF.INSERT y C 10 I a", "1"), ("BF.INSERT y E 0.1 ITEMS a", expansion), ("BF.INSERT y ERR 0.1 ITEMS a", "0"),
          ("BF.INSERT y NO ITEMS a", "0"), ("BF.INSERT y NON ITEMS a", "0"), ("EXISTS t u y", 1), ("SET s 1", OK),
          ("BF.INSERT s ITEMS a", WRONG), ("BF.INSERT s NOCREATE ITEMS a", WRONG), ("BF.INSERT s CAPACITY x ITEMS a", capacity))
    tries = [(["BF.INSERT", "u", "ERROR", text, "ITEMS", "a"], rate) for text, good in RATES if not good]
    tries += [(["BF.INSERT", "u", "CAPACITY", text, "ITEMS", "a"], capacity) for text in NO_NUMBERS + ["0", "-1", "1073741825"]]
    tries += [(["BF.INSERT", "u", "EXPANSION", text, "ITEMS", "a"], expansion) for text in NO_NUMBERS + ["-1", "32769", "65536"]]
    a.all("INSERT with every kind of number", *tries, ("EXISTS u", 0))


def valkey(a):
    """The arguments that only Valkey's module has."""
    seed, other = b"s" * 32, b"s" * 31 + b"t"
    memory = Error("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")
    a.all("Valkey's arguments",
          (["BF.INSERT", "v", "SEED", seed, "TIGHTENING", "0.85", "ERROR", "0.02", "ITEMS", "a"], "1"),
          (["BF.INSERT", "w", "SEED", seed, "ERROR", "0.02", "ITEMS", "b"], "1"), (["BF.INSERT", "z", "SEED", other, "ITEMS", "b"], "1"),
          ("BF.INSERT q SEED short ITEMS a", Error("ERR invalid seed: it has 32 bytes")),
          ("BF.INSERT q TIGHTENING 1 ITEMS a", Error("ERR (0 < tightening ratio range < 1)")),
          ("BF.INSERT q TIGHTENING nan ITEMS a", Error("ERR bad tightening ratio")),
          ("BF.INSERT q VALIDATESCALETO 0 ITEMS a", Error("ERR bad VALIDATESCALETO: it is a capacity")),
          ("BF.INSERT q VALIDATESCALETO 1000000000000 ITEMS a", memory),
          ("BF.INSERT q NONSCALING VALIDATESCALETO 200 ITEMS a", Error("ERR cannot use NONSCALING and VALIDATESCALETO options together")),
          ("EXISTS q", 0), ("BF.INSERT q VALIDATESCALETO 100000 ITEMS a", "1"),
          ("BF.INFO q EXPANSION", a.one("Expansion rate", 2)),
          ("BF.LOAD l x", Error("ERR filters of Valkey's own module cannot be read here: add the items to a new one, by BF.INSERT")))
    real = (lambda x: x) if a.protocol == 3 else (lambda x: x.encode())
    a.all("Valkey's selectors", ("BF.INFO q ERROR", a.one("Error rate", real(0.01 if a.protocol == 3 else "0.01"))),
          ("BF.INFO q TIGHTENING", a.one("Tightening ratio", real(0.5 if a.protocol == 3 else "0.5"))))


def questions(a):
    a.all("EXISTS, MEXISTS and CARD",
          ("BF.EXISTS k", arity("BF.EXISTS")), ("BF.EXISTS k a", False), ("BF.EXISTS k a b", arity("BF.EXISTS")),
          ("BF.MEXISTS k", arity("BF.MEXISTS")), ("BF.MEXISTS k a b", "00"), ("BF.CARD k", 0), ("BF.CARD k x", arity("BF.CARD")),
          ("BF.ADD k a", True), ("BF.EXISTS k a", True), ("BF.EXISTS k b", False), ("BF.MEXISTS k a b a", "101"), ("BF.CARD k", 1),
          ("SET s 1", OK), ("BF.EXISTS s a", False), ("BF.MEXISTS s a b", "00"), ("BF.CARD s", WRONG))
    a.all("INFO and DEBUG",
          ("BF.INFO", arity("BF.INFO")), ("BF.INFO none", ABSENT), ("BF.INFO none SURPRISE", ABSENT),
          ("BF.INFO k CAPACITY", a.one("Capacity", 100)), ("BF.INFO k capacity", a.one("Capacity", 100)),
          ("BF.INFO k FILTERS", a.one("Number of filters", 1)), ("BF.INFO k Items", a.one("Number of items inserted", 1)),
          ("BF.INFO k EXPANSION", a.one("Expansion rate", 2)), ("BF.INFO k SURPRISE", Error("Invalid information value")),
          (["BF.INFO", "k", ""], Error("Invalid information value")), ("BF.INFO k CAP", Error("Invalid information value")),
          ("BF.INFO k CAPACITY SIZE", arity("BF.INFO")), ("BF.INFO s", WRONG), ("BF.INFO s SURPRISE", WRONG),
          ("BF.DEBUG", arity("BF.DEBUG")), ("BF.DEBUG none", ABSENT), ("BF.DEBUG s", WRONG), ("BF.DEBUG k x", arity("BF.DEBUG")))


def of_our_own(a):
    c = a.client
    a.all("a filter is of our type", ("TYPE k", Status("tamis-set")))
    size = a.bare(c.must("BF.INFO", "k", "SIZE"))
    a.all("INFO as a whole", ("BF.INFO k", a.info(100, size, 1, 1, 2)),
          ("BF.DEBUG k", [b"size:1", b"bytes:256 bits:2048 hashes:8 hashwidth:64 capacity:100 size:1 ratio:0.01"]))
    tap.check(c.must("TAMIS.SECRET", "v") == c.must("TAMIS.SECRET", "w") != c.must("TAMIS.SECRET", "z"),
              f"RESP{a.protocol} equal seeds are equal secrets")
    tap.check(float(a.bare(c.must("BF.INFO", "v", "TIGHTENING"))) == 0.85, f"RESP{a.protocol} TIGHTENING is reported")
    most = a.bare(c.must("BF.INFO", "q", "MAXSCALEDCAPACITY"))
    a.all("the reported maximum is the maximum",
          (["BF.INSERT", "q2", "VALIDATESCALETO", str(most), "ITEMS", "a"], "1"),
          (["BF.INSERT", "q3", "VALIDATESCALETO", str(most + 1), "ITEMS", "a"],
           Error("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")))


def of_redisbloom(a):
    a.all("filters are RedisBloom's", ("TYPE k", Status("MBbloom--")), ("BF.INFO k", a.info(100, 240, 1, 1, 2)),
          ("BF.DEBUG k", [b"size:1", b"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:1 ratio:0.005"]),
          ("BF.RESERVE o 0.001 4 EXPANSION 1", OK), (["BF.MADD", "o", *(f"i{i}" for i in range(40))], "1" * 38 + "01"),
          ("BF.INFO o", a.info(40, 824, 10, 39, 1)))


def texts(kind, also):
    """`also` tests what the queries and Valkey's arguments left there."""
    with Server(arguments=("bf-kind", kind)) as server:
        for protocol in (2, 3):
            a = Asker(server, protocol, f"{kind}: ")
            for part in (reserve, adds, insert):
                a.client.must("FLUSHALL")
                part(a)
            a.client.must("FLUSHALL")
            valkey(a)
            questions(a)
            also(a)
            a.client.close()
        is_capped = "an error rate of 0.99 is made as 0.25" in server.log()
        tap.check(is_capped, f"{kind}: a rate that is capped is in the log")


# ---- Chunks --------------------------------------------------------------------------------------

def chunks_of(c, key):
    at, chunks = 0, []
    while True:
        at, chunk = c.must("BF.SCANDUMP", key, at)
        if at == 0:
            return chunks
        chunks.append((at, chunk))


def load(c, key, chunks):
    return [c.do("BF.LOADCHUNK", key, at, chunk) for at, chunk in chunks]


def positions(a):
    bad, no_link = Error("ERR received bad data"), Error("ERR invalid offset - no link found")
    numeric = Error("ERR Second argument must be numeric")
    a.all("positions on what is absent, and on what is there",
          ("BF.SCANDUMP k", arity("BF.SCANDUMP")), ("BF.SCANDUMP k x", ABSENT), ("BF.LOADCHUNK k 1", arity("BF.LOADCHUNK")),
          ("BF.LOADCHUNK k x data", numeric), ("BF.LOADCHUNK k 1 data", bad), (["BF.LOADCHUNK", "k", "1", ""], bad),
          *((f"BF.LOADCHUNK k {at} data", ABSENT) for at in (0, -1, 2, -2**63, 2**63 - 1)), ("EXISTS k", 0),
          ("BF.RESERVE k 0.01 100", OK), ("BF.MADD k a b c", "111"), ("BF.SCANDUMP k x", Error("Second argument must be numeric")),
          *((f"BF.SCANDUMP k {at}", [0, b""]) for at in (-1, -2**63, 2**63 - 1, 100000)),
          *((f"BF.LOADCHUNK k {at} data", bad) for at in (0, 1, -1, 3, -2**63)),
          ("BF.LOADCHUNK k 4 abcdefghijklmnopqrstuvwxyz0123456789A", bad), ("BF.LOADCHUNK k 4 data", no_link),
          *((f"BF.LOADCHUNK k {at} data", no_link) for at in (2**63 - 1, 922337203685477588)),
          (f"BF.LOADCHUNK k {2**63} data", numeric), (["BF.LOADCHUNK", "k", "1", ""], OK),
          ("BF.LOADCHUNK k 5 data", Error("ERR received bad data")),
          ("BF.MEXISTS k a b c d", "1110"), ("SET s 1", OK), ("BF.SCANDUMP s 0", WRONG), ("BF.LOADCHUNK s 1 data", WRONG))


def arrivals(a):
    """An incomplete filter never answers no; the one that was there still answers."""
    c = a.client
    (first, header), *rest = chunks_of(c, "k")
    way = Error(f"ERR the filter is still on its way: {len(header)} of {len(header) + sum(len(b) for _, b in rest)} bytes are here")
    half = len(rest[0][1]) // 2
    a.all("an incomplete filter",
          (["BF.LOADCHUNK", "n", "1", header], OK), ("BF.EXISTS n a", way), ("BF.MEXISTS n a b", way), ("BF.CARD n", way),
          ("BF.INFO n", way), ("BF.ADD n a", way), ("BF.SCANDUMP n 0", way), ("BF.RESERVE n 0.1 9", Error("ERR item exists")),
          (["BF.LOADCHUNK", "n", str(half + 1), rest[0][1][:half]], OK), (["BF.LOADCHUNK", "n", str(half + 1), rest[0][1][:half]], OK),
          (["BF.LOADCHUNK", "n", str(2**60), "data"], Error("ERR invalid offset - no link found")),
          (["BF.LOADCHUNK", "n", str(rest[0][0] + 9), rest[0][1][half:] + b"123456789"], Error("ERR invalid chunk - Too big for current filter")),
          (["BF.LOADCHUNK", "n", str(rest[0][0]), rest[0][1][half:]], OK), ("BF.MEXISTS n a b c d", "1110"), ("BF.CARD n", 3))
    a.all("a filter in place of another",
          ("BF.ADD old x", True), (["BF.LOADCHUNK", "old", "1", header], OK), ("BF.EXISTS old x", True), ("BF.ADD old y", True),
          (["BF.LOADCHUNK", "old", str(rest[0][0]), rest[0][1]], OK), ("BF.MEXISTS old a b c x", "1110"))
    spoiled = rest[0][1][:9] + bytes([rest[0][1][9] ^ 255]) + rest[0][1][10:]
    big = bytearray(header)
    struct.pack_into("<Q", big, 144 if len(header) == 192 else 20, 1 << 50)
    if len(header) != 192:
        struct.pack_into("<Q", big, 28, 1 << 53)
    tries = [(["BF.LOADCHUNK", "m", "1", header[:-1]], Error("ERR received bad data")),
             (["BF.LOADCHUNK", "m", "1", header + b"x"], Error("ERR received bad data")),
             (["BF.LOADCHUNK", "m", "1", bytes(big)], Error("ERR received bad data"))]
    if len(header) == 192:  # an image has a checksum, RedisBloom's chunks do not
        tries += [(["BF.LOADCHUNK", "m", "1", header], OK), (["BF.LOADCHUNK", "m", str(rest[0][0]), spoiled], Error("ERR received bad data"))]
    else:
        for at, form, value in ((8, "<I", 0), (8, "<I", 2**32 - 1), (12, "<I", 16), (20, "<Q", 2**64 - 1), (28, "<Q", 7), (36, "<Q", 99),
                                (44, "<d", float("nan")), (44, "<d", 1.0), (52, "<d", 1.0), (60, "<I", 65), (0, "<Q", 5)):
            forged = bytearray(header)
            struct.pack_into(form, forged, at, value)
            tries.append((["BF.LOADCHUNK", "m", "1", bytes(forged)], Error("ERR received bad data")))
    a.all("false headers and bytes", *tries, ("EXISTS m", 0), ("PING", Status("PONG")))


def chunks():
    for kind in ("tamis", "redisbloom"):
        with Server(arguments=("bf-kind", kind)) as server:
            for protocol in (2, 3):
                a = Asker(server, protocol, f"{kind}: ")
                a.client.must("FLUSHALL")
                positions(a)
                arrivals(a)
            c = server.client()
            c.must("BF.RESERVE", "large", "0.01", "2000000")
            c.must("BF.MADD", "large", *range(1000))
            parts = chunks_of(c, "large")
            tap.check(set(load(c, "twin", parts)) == {OK} and len(parts) == (2 if kind == "redisbloom" else 4),
                      f"{kind}: {len(parts)} chunks of a large filter load")
            tap.equal(c.must("DEBUG", "DIGEST-VALUE", "twin") == c.must("DEBUG", "DIGEST-VALUE", "large"), True,
                      f"{kind}: and are the filter")
            c.must("BF.RESERVE", "larger", "0.01", "9000000")
            c.must("BF.MADD", "larger", *range(1000))
            parts = chunks_of(c, "larger")
            tap.check(max(len(part) for _, part in parts) == (4 if kind == "redisbloom" else 1) << 20,
                      f"{kind}: no chunk is so large that others wait for it")
            whole = [parts[0], (parts[-1][0], b"".join(part for _, part in parts[1:]))]  # RedisBloom's have up to 16 MiB
            tap.check([set(load(c, key, those)) for key, those in (("again", parts), ("once", whole))] == [{OK}] * 2 and
                      len({c.must("DEBUG", "DIGEST-VALUE", key)[0] for key in ("larger", "again", "once")}) == 1,
                      f"{kind}: a filter comes in chunks of any size")


# ---- What RedisBloom wrote -----------------------------------------------------------------------

SIX = ["alpha", "beta", "gamma", "delta", "", "café"]
KEYS = [f"key-{i}" for i in range(1000)]


def vectors():
    if not os.path.isdir(VECTORS):
        tap.skip("dumps of RedisBloom", f"{VECTORS} is not here: TAMIS_VECTORS names another folder")
        return
    with Server() as server:
        c = server.client()
        names = sorted({f.split(".chunk")[0] for f in os.listdir(VECTORS) if f.startswith("bf") and ".chunk" in f})
        for name in names:
            parts = []
            for file in sorted(f for f in os.listdir(VECTORS) if f.startswith(name + ".chunk")):
                at = int(file.split(".iter")[1].split(".")[0])
                parts.append((at, open(os.path.join(VECTORS, file), "rb").read()))
            dump = open(os.path.join(VECTORS, name + ".rdbdump.bin"), "rb").read()
            tap.check(set(load(c, name, parts)) == {OK} and c.do("RESTORE", name + ":r", 0, dump) == OK, f"{name} loads both ways")
            tap.equal(chunks_of(c, name + ":r"), parts, f"{name} goes out as it came")
            tap.check(c.must("DUMP", name)[:-10] == dump[:-10], f"{name} is dumped as RedisBloom does")
            inside = SIX if "_n10" in name else KEYS if "1000keys" in name else KEYS[:100]
            tap.check(all(c.must("BF.MEXISTS", name, *inside)), f"{name} has its keys")
            others = [f"other-{i}" for i in range(2000)]
            found = c.must("BF.MEXISTS", name, *others)
            tap.check(found == c.must("BF.MEXISTS", name + ":r", *others) and sum(found) < 200, f"{name} has few others: {sum(found)} of 2000")
        tap.equal(c.must("BF.CARD", "bf_default_1000keys"), 996, "996 of 1000 were counted, as there")
        full = [c.do("BF.ADD", "bf_p0.01_n10_nonscaling", f"more-{i}") for i in range(9)]
        tap.check(full[-1] == FULL and full.count(1) == 4, "what does not scale ends where it ended there")


def signed(body):
    return body + struct.pack("<Q", crc64(body))


def murmur2(data, seed):
    """32-bit MurmurHash2, which RedisBloom used before its version 2."""
    m, low = 0x5BD1E995, 0xFFFFFFFF
    h = seed ^ len(data)
    whole = len(data) // 4 * 4
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = k * m & low
        h = (h * m ^ (k ^ k >> 24) * m) & low
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & low
    h = (h ^ h >> 13) * m & low
    return h ^ h >> 15


def old_encodings():
    """Files of RedisBloom since its first version; what its newest cannot hold is kept."""
    with Server() as server:
        c = server.client()
        for encoding in range(4):
            bits, hashes = (95, 7) if encoding == 0 else (96, 7)
            cells = bytearray(12)
            for word in SIX:
                a = murmur2(word.encode(), 0x9747B28C)
                b = murmur2(word.encode(), a)
                for i in range(hashes):
                    at = (a + i * b) % bits
                    cells[at // 8] |= 1 << at % 8
            body = bytes.fromhex("07813016e5a289bef8") + bytes([encoding, 2, 6, 2, 1])
            body += b"\2\0" if encoding >= 2 else b""
            body += b"\2\x0a\4" + struct.pack("<d", 0.01) + b"\2\7\4" + struct.pack("<d", 9.585)
            body += b"\2\x40\x60\2\0" if encoding else b""
            body += b"\5\x0c" + bytes(cells) + b"\2\6\0\x0a\0"
            tap.equal(c.do("RESTORE", f"old{encoding}", 0, signed(body)), OK, f"encoding {encoding} is read")
            tap.check(all(c.must("BF.MEXISTS", f"old{encoding}", *SIX)) and
                      sum(c.must("BF.MEXISTS", f"old{encoding}", *KEYS)) < 100, f"encoding {encoding} has its words")
        digest = c.must("DEBUG", "DIGEST")
        c.must("DEBUG", "RELOAD")
        tap.equal(c.must("DEBUG", "DIGEST"), digest, "and they are the same after a reload")


def broken_files():
    """Every prefix of a dump, and false numbers, with a valid checksum."""
    with Server(arguments=("bf-kind", "redisbloom")) as server:
        c = server.client()
        c.must("BF.RESERVE", "k", "0.01", "20")
        c.must("BF.MADD", "k", *range(50))
        body = c.must("DUMP", "k")[:-8]
        refused = 0
        for cut in range(1, len(body) - 2):
            refused += isinstance(c.do("RESTORE", "x", 0, signed(body[:cut] + body[-2:])), Error)
        tap.equal(refused, len(body) - 3, "every prefix of a dump is refused")
        rng, taken = random.Random(9), 0
        for _ in range(600):
            forged = bytearray(body)
            for _ in range(rng.choice((1, 1, 2, 5))):
                forged[rng.randrange(10, len(forged) - 2)] = rng.choice((0, 1, 63, 64, 127, 128, 129, 255, rng.randrange(256)))
            if c.do("RESTORE", "x", 0, signed(bytes(forged)), "REPLACE") == OK:
                taken += 1
                c.must("BF.MADD", "x", *range(3))
                c.must("BF.INFO", "x")
                c.must("DUMP", "x")
        tap.check(c.must("BF.CARD", "k") > 40 and c.do("PING") == "PONG", f"600 forged dumps later ({taken} were taken) it answers")


# ---- Growth, files and replicas --------------------------------------------------------------------

def bare_info(c, key, selector):
    """One number of BF.INFO: RedisBloom replies with an array, Valkey without."""
    reply = c.must("BF.INFO", key, selector)
    return reply[0] if isinstance(reply, list) else reply


def growth():
    """A large filter grows on the worker: only clients that write to it wait."""
    with Server(*PRIMARY) as server, Server() as replica:
        replicate(server, replica)
        c, other, reader = server.client(), server.client(), server.client()
        rng = random.Random(2)
        c.must("BF.RESERVE", "k", "1e-8", "800000")
        for _ in range(8):
            c.must("TAMIS.HADD", "k", rng.randbytes(8 * 99_900))
        step = 0
        while bare_info(c, "k", "FILTERS") == 1 and step < 20:
            step += 1
            items = [f"{step}-{i}" for i in range(1000)]
            c.send(["BF.MADD", "k", *items, items[0]])
            other.send(["BF.ADD", "k", items[1]])
            asked = reader.do("BF.MEXISTS", "k", "1-0")
            added, again = c.read(), other.read()
        tap.check(step < 20 and isinstance(asked, list) and sum(added) > 990 and added[-1] == 0 and again == 0,
                  f"it grew, step {step}, and the next writer saw what was added")
        tap.check(all(c.must("BF.MEXISTS", "k", *items)) and bare_info(c, "k", "CAPACITY") == 2400000, "all are in it")
        tap.equal(c.must("BF.INSERT", "n", "CAPACITY", "9000000", "ITEMS", "a", "b", "a"), [1, 1, 0], "a large new one is made and added to")
        c.must("MULTI")
        c.must("BF.INSERT", "m", "CAPACITY", "9000000", "ITEMS", "a")
        c.must("BF.ADD", "m", "b")
        tap.equal(c.must("EXEC"), [[1], 1], "and so it is in a transaction")
        in_step(server, replica)
        r = replica.client()
        keys = ("k", "n", "m")
        tap.equal(r.must("DEBUG", "DIGEST-VALUE", *keys), c.must("DEBUG", "DIGEST-VALUE", *keys), "the replica has the same")


def limits():
    with Server(arguments=("max-filter-bytes", 1 << 20)) as server:
        c = server.client()
        tap.check("max-filter-bytes" in c.do("BF.RESERVE", "k", "0.01", "100000000"), "a filter above the limit is refused")
        c.must("BF.RESERVE", "k", "0.01", "300000")
        c.must("TAMIS.HADD", "k", random.Random(4).randbytes(8 * 290_000))
        reply = None
        for at in range(0, 400_000, 20000):
            reply = c.do("BF.MADD", "k", *range(at, at + 20000))
            if len(reply) < 20000:
                break
        tap.check(isinstance(reply[-1], Error) and reply[-1].startswith("ERR problem inserting into filter: "),
                  "growth ends at the limit: " + str(reply[-1])[:80])
        tap.check(all(c.must("BF.MEXISTS", "k", *range(at + len(reply) - 1))) and c.must("BF.CARD", "k") < 400_000, "what was in it stays")


def honest_state():
    """A8: what honest use makes can be loaded again."""
    with Server("--dbfilename", "a8.rdb") as server:
        c = server.client()
        c.must("BF.RESERVE", "k", "0.0001", "1", "EXPANSION", "1")
        added = sum(sum(c.must("BF.MADD", "k", *range(at, at + 500))) for at in range(0, 5000, 500))
        c.must("SAVE")
        server.restart()
        c = server.client()
        tap.check(c.must("BF.CARD", "k") == added > 4990 and all(c.must("BF.MEXISTS", "k", *range(5000))),
                  "5,000 items from a capacity of 1 on are there after a restart")
        tap.equal(bare_info(c, "k", "EXPANSION"), 1, "and the expansion is reported as given")


def random_programs(server, replica, kind):
    rng, c = random.Random(7), server.client()
    c.must("CONFIG", "SET", "tamis.bf-kind", kind)
    for step in range(400):
        key = f"{kind}{rng.randrange(6)}"
        items = [str(rng.randrange(400)) for _ in range(rng.choice((1, 1, 3, 20)))]
        rate, capacity = rng.choice(("0.1", "0.01", "1e-5")), str(rng.randrange(1, 40))
        options = rng.choice(([], ["NONSCALING"], ["EXPANSION", str(rng.randrange(4))]))
        c.do(*rng.choice((["BF.ADD", key, items[0]], ["BF.MADD", key, *items],
                          ["BF.INSERT", key, "CAPACITY", capacity, "ERROR", rate, *options, "ITEMS", *items],
                          ["BF.RESERVE", key, rate, capacity, *options], ["DEL", key] if step % 7 == 0 else ["BF.CARD", key])))
    in_step(server, replica)
    return c


def persistence():
    with Server(*PRIMARY) as server, Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as replica:
        replicate(server, replica)
        for kind in ("tamis", "redisbloom"):
            c = random_programs(server, replica, kind)
        r = replica.client()
        digest = c.must("DEBUG", "DIGEST")
        tap.equal(r.must("DEBUG", "DIGEST"), digest, "800 random commands later the replica is equal")
        c.must("DEBUG", "RELOAD")
        tap.equal(c.must("DEBUG", "DIGEST"), digest, "after a reload of its RDB the server is")
        r.must("REPLICAOF", "NO", "ONE")
        until(lambda: r.do("BGREWRITEAOF") != "ERR Background append only file rewriting already in progress", 20, "another begins")
        until(lambda: b"aof_rewrite_in_progress:0" in r.must("INFO", "persistence"), 20, "the AOF is rewritten")
        r.must("DEBUG", "LOADAOF")
        tap.equal(r.must("DEBUG", "DIGEST"), digest, "after a reload of a rewritten AOF the replica is")


def offset(c):
    return [x for x in c.must("INFO", "replication").decode().split("\r\n") if x.startswith("master_repl_offset")]


def effects():
    """Queries are not replicated, adds are; what changes nothing causes no event."""
    with Server(*PRIMARY, "--notify-keyspace-events", "Ed") as server, Server() as replica:
        replicate(server, replica)
        c, listener = server.client(), server.client()
        listener.must("PSUBSCRIBE", "__keyevent@0__:*")
        c.must("BF.RESERVE", "k", "0.01", "3", "NONSCALING")
        c.must("BF.MADD", "k", "a", "b", "a")
        before = offset(c)
        c.do("BF.EXISTS", "k", "a")
        c.do("BF.RESERVE", "k", "0.01", "3")
        tap.equal(offset(c), before, "queries are not replicated")
        tap.equal(c.must("BF.MADD", "k", "a", "b"), [0, 0], "items that are there")
        in_step(server, replica)
        lacking = replica.client()  # as with another layout: it may lack what others have
        lacking.must("CONFIG", "SET", "replica-read-only", "no")
        lacking.must("DEL", "k")
        lacking.must("BF.RESERVE", "k", "0.01", "3", "NONSCALING")
        tap.equal((c.must("BF.ADD", "k", "a"), c.must("BF.INSERT", "k", "ITEMS", "b")), (0, [0]), "items that seem to be there")
        in_step(server, replica)
        tap.equal(lacking.must("BF.MEXISTS", "k", "a", "b"), [1, 1], "are replicated")
        tap.equal(c.must("BF.MADD", "k", "a", "c", "d", "e"), [0, 1, FULL], "of those that fill it")
        in_step(server, replica)
        tap.equal(replica.client().must("BF.CARD", "k"), 3, "those that were added are")
        replica.client().must("CONFIG", "SET", "tamis.bf-initial-size", "7")
        c.must("BF.ADD", "n", "x")
        in_step(server, replica)
        tap.equal(bare_info(replica.client(), "n", "CAPACITY"), 100, "a replica's own settings do not get in between")
        replica.client().must("CONFIG", "RESETSTAT")
        c.must("BF.INSERT", "made", "CAPACITY", "50", "ITEMS", "a", "b")
        in_step(server, replica)
        told = replica.client().must("INFO", "commandstats")
        tap.check(b"cmdstat_bf.madd" in told and b"cmdstat_bf.insert" not in told, "a command that makes a filter is replicated as what it did")
        events = [listener.read()[2:] for _ in range(5)]
        tap.equal([e[0].split(b":")[1] + b" " + e[1] for e in events],
                  [b"bloom.reserve k", b"bloom.add k", b"bloom.add k", b"bloom.reserve n", b"bloom.add n"], "events are sent")


def main():
    texts("tamis", of_our_own)
    texts("redisbloom", of_redisbloom)
    chunks()
    vectors()
    old_encodings()
    broken_files()
    growth()
    limits()
    honest_state()
    persistence()
    effects()
    return tap.end()


sys.exit(main())
