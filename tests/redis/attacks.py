#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attacks that filter software fell to, by name: by RESTORE, LOADCHUNK, TAMIS.LOAD, arguments.

Each shape is sent to a server that is never restarted. What must be refused is refused with a
message; shapes that may be right (a chunk that happens to fit) may be answered either way. After
each, the server answers PING and a query with a known answer; at the end its memory is in bounds.
"""
import glob
import math
import os
import struct
import sys

import forge
from resp import Error
from server import PRELOAD, ROOT, Server, Tap

tap = Tap()
NAN, INF = math.nan, math.inf
EDGES = (0, 1, 2, 3, 255, 256, 65535, 65536, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 40, 2 ** 48,
         2 ** 56, 2 ** 60, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1)
REALS = (NAN, INF, -INF, 0.0, -0.0, -1.0, 1.0, 2.0, 1e-320, 1 - 2.0 ** -53, 1e300)
MAX_MEMORY = 128 << 20
CAP = 16 << 20


class Target:
    """A server under attack, and whether it is healthy."""

    def __init__(self, server):
        self.server, self.client = server, server.client()
        self.pid, self.count, self.wrong = server.process.pid, 0, []
        self.client.must("TAMIS.CREATE", "good", "blocked:capacity=1000")
        self.client.must("TAMIS.ADD", "good", "here")

    def is_well(self):
        c = self.client
        return c.pipeline([["PING"], ["TAMIS.HAS", "good", "here", "not there"]]) == ["PONG", [1, 0]]

    def send(self, words, is_refusal=None):
        """`is_refusal`: must be refused; None: either. Then queries and changes what is at `k`."""
        self.count += 1
        try:
            reply = self.client.do(*words)
            if is_refusal and not (isinstance(reply, Error) and len(reply) > 8 and " " in reply):
                self.wrong.append(f"{str(words)[:200]} was answered {str(reply)[:100]!r}")
            self.client.pipeline([["TAMIS.HAS", "k", "a"], ["TAMIS.ADD", "k", "a"], ["BF.EXISTS", "k", "a"],
                                  ["BF.INSERT", "k", "NOCREATE", "ITEMS", "b"], ["CF.INSERT", "k", "NOCREATE", "ITEMS", "b"],
                                  ["CF.DEL", "k", "b"], ["BF.INFO", "k"], ["CF.INFO", "k"], ["DUMP", "k"],
                                  ["CMS.INCRBY", "k", "a", "1"], ["CMS.INFO", "k"], ["TAMIS.INFO", "k"]])
            if not self.is_well():
                self.wrong.append(f"after {str(words)[:200]} the server was not well")
        except (ConnectionError, OSError):
            self.wrong.append(f"{str(words)[:300]} took the server down: {self.server.log()[-3000:]}")
            raise
        return reply

    def refuses(self, *words):
        return self.send(words, True)

    def survives(self, *words):
        return self.send(words)

    def restore(self, payload, is_refusal=True):
        return self.send(["RESTORE", "k", "0", payload, "REPLACE"], is_refusal)

    def clear(self):
        self.client.do("DEL", "k")

    def end(self, name):
        self.clear()
        tap.check(not self.wrong, f"{name}: {self.count} shapes")
        for line in self.wrong[:10]:
            print(f"#   {line}")
        self.count, self.wrong = 0, []


# ---- Valid values to forge from --------------------------------------------------------------------------


class Seeds:
    """Valid dumps, taken apart. Where the fields of RedisBloom's types are:"""
    BF = dict(items=0, links=1, options=2, growth=3, capacity=4, error=5, hashes=6, bpe=7, bits=8, n2=9, bytes=10, link_items=11)
    CF = dict(filters=0, buckets=1, items=2, deletes=3, bucket_size=4, iterations=5, expansion=6, size=7, bytes=8)
    CMS = dict(width=0, depth=1, counter=2, bytes=3)

    def __init__(self, target):
        c = self.client = target.client
        c.must("CONFIG", "SET", "tamis.bf-kind", "redisbloom", "tamis.cf-kind", "rediscuckoo", "tamis.cms-kind", "rediscms")
        self.bf = self.made(["BF.RESERVE", "k", "0.01", "10"], ["BF.MADD", "k", *"abcdefghijklmnopqrs"])
        self.bf_chunks = self.chunks("BF")
        self.cf = self.made(["CF.RESERVE", "k", "16"], ["CF.INSERT", "k", "ITEMS", *"abcdefghijklmnopqrst"])
        self.cf_chunks = self.chunks("CF")
        self.cms = self.made(["CMS.INITBYDIM", "k", "8", "2"], ["CMS.INCRBY", "k", "a", "3"])
        c.must("CONFIG", "SET", "tamis.bf-kind", "tamis", "tamis.cf-kind", "tamis", "tamis.cms-kind", "tamis")
        self.own_bf = self.made(["BF.RESERVE", "k", "0.01", "10"], ["BF.MADD", "k", *"abcdefghijklmnopqrs"])
        self.own_bf_chunks = self.chunks("BF")
        self.own_cf = self.made(["CF.RESERVE", "k", "16"], ["CF.INSERT", "k", "ITEMS", *"abcdefghijklmnopqrst"])
        self.own_cf_chunks = self.chunks("CF")
        self.own = self.made(["TAMIS.CREATE", "k", "scalable:capacity=10"], ["TAMIS.ADD", "k", *"abcdefghijklmnopqrs"])
        self.image = self.client.must("TAMIS.DUMP", "k", 0)[2]
        half = len(self.image) // 2
        c.must("TAMIS.LOAD", "k", 0, len(self.image), self.image[:half])
        self.half = forge.parse(c.must("DUMP", "k"))
        c.must("DEL", "k")
        self.all = dict(MBbloom=self.bf, MBbloomCF=self.cf, CMSk=self.cms, own=self.own, own_bf=self.own_bf, own_cf=self.own_cf,
                        half=self.half)

    def made(self, *commands):
        self.client.must("DEL", "k")
        for words in commands:
            self.client.must(*words)
        return forge.parse(self.client.must("DUMP", "k"))

    def chunks(self, family):
        parts, at = [], 0
        while True:
            at, data = self.client.must(family + ".SCANDUMP", "k", at)
            if not data:
                return parts
            parts.append((at, data))


def forged(seed, **changes):
    """A dump with fields changed, by the names in the table of its type."""
    kind, values = seed
    values = list(values)
    table = changes.pop("table")
    for name, value in changes.items():
        values[table[name]] = value
    return forge.dump(kind, values)


# ---- The attacks -----------------------------------------------------------------------------------------


def nothing_inside(t, s):
    """A1: empty filters, and then % 0."""
    t.refuses("BF.RESERVE", "k", "0.01", "0")
    t.refuses("CF.RESERVE", "k", "0")
    t.refuses("CMS.INITBYDIM", "k", "0", "5")
    t.refuses("CMS.INITBYDIM", "k", "5", "0")
    t.survives("TAMIS.CREATE", "k", "blocked:capacity=0")
    t.clear()
    for spec in ("classic:bits=0", "blocked:capacity=1,size=0", "countmin:columns=0,rows=3", "iblt:cells=0"):
        t.refuses("TAMIS.CREATE", "k", spec)
    t.restore(forged(s.bf, table=s.BF, bits=0))
    t.restore(forged(s.bf, table=s.BF, bits=0, bytes=b""))
    t.restore(forged(s.bf, table=s.BF, bits=0, bytes=b"", capacity=0, hashes=0))
    t.restore(forged(s.cf, table=s.CF, buckets=0))
    t.restore(forged(s.cf, table=s.CF, size=0, bytes=b""))
    t.restore(forged(s.cf, table=s.CF, bucket_size=0))
    t.restore(forged(s.cms, table=s.CMS, width=0, bytes=b""))
    t.restore(forged(s.cms, table=s.CMS, depth=0, bytes=b""))
    t.refuses("TAMIS.LOAD", "k", "0", "0", "")
    t.refuses("TAMIS.LOAD", "k", "0", "10", "")
    t.refuses("BF.LOADCHUNK", "k", "1", "")
    t.refuses("CF.LOADCHUNK", "k", "1", "")
    header = bytearray(s.bf_chunks[0][1])
    header[20:36] = bytes(16)  # bytes and bits of the first link
    t.refuses("BF.LOADCHUNK", "k", "1", bytes(header))


def chunk_positions(t, s):
    """A2: chunks and offsets out of place."""
    positions = (-2 ** 63, -2 ** 63 + 1, -1, 0, 1, 2, 3, 4, 16, 17, 18, 37, 38, 922337203685477588, 2 ** 62, 2 ** 63 - 1)
    for family, chunks in (("BF", s.bf_chunks), ("CF", s.cf_chunks), ("BF", s.own_bf_chunks), ("CF", s.own_cf_chunks)):
        size = len(chunks[1][1])
        for position in positions:
            for length in (0, 1, 37, size - 1, size, size + 1, 1 << 16):
                t.clear()
                t.survives(family + ".LOADCHUNK", "k", *chunks[0])
                t.survives(family + ".LOADCHUNK", "k", position, b"\xff" * length)
        t.clear()
        t.survives(family + ".LOADCHUNK", "k", *chunks[0])
        for position in (-2 ** 63, -1, 2 ** 63 - 1, 922337203685477588):
            t.refuses(family + ".LOADCHUNK", "k", position, b"\xff" * 37)
        t.refuses(family + ".LOADCHUNK", "k", 2 ** 63, b"x")
        t.refuses(family + ".LOADCHUNK", "k", "x", b"x")
        t.clear()
        for at, data in chunks:
            t.survives(family + ".LOADCHUNK", "k", at, data)
        c, total = t.client, sum(len(data) for _, data in chunks)
        c.pipeline([[family + ".SCANDUMP", "k", i] for i in range(-2, total + 1024)])
        for position in (-1, -2 ** 63, 2 ** 63 - 1):
            t.survives(family + ".SCANDUMP", "k", position)
        t.clear()
    size = len(s.image)
    for offset, total, piece in ((-1, size, s.image), (2 ** 63 - 1, size, b"x"), (1, size, s.image), (0, size - 1, s.image),
                                 (0, size + 1, s.image + b"xx"), (size, size, b"x"), (2 ** 63 - 1, 2 ** 63 - 1, b"x"),
                                 (0, -1, b"x"), (0, 2 ** 63, b"x"), (0, 0, b"x"), (0, 2 ** 62, b"x"), (5, size, b"gap")):
        t.clear()
        t.refuses("TAMIS.LOAD", "k", offset, total, piece)
    t.clear()
    t.survives("TAMIS.LOAD", "k", 0, size, s.image[:10])
    t.refuses("TAMIS.LOAD", "k", 11, size, s.image[11:20])
    t.refuses("TAMIS.LOAD", "k", 20, size, s.image[20:])
    for offset in (-1, size + 1, 2 ** 63 - 1, -2 ** 63, "x"):
        t.client.must("TAMIS.LOAD", "k", 0, size, s.image)
        t.refuses("TAMIS.DUMP", "k", offset)
    for count in (0, -1, 2 ** 31, 2 ** 63 - 1, "x"):
        t.refuses("TAMIS.DUMP", "k", 0, "COUNT", count)


def narrow_numbers(t, s):
    """A3: numbers that do not fit their fields."""
    t.client.must("TAMIS.CREATE", "other", "classic:capacity=100")
    for number in (0, -1, 1, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 63 - 1, -2 ** 63, 2 ** 63, 2 ** 64):
        for words, most in ((["CF.RESERVE", "k", "64", "BUCKETSIZE", number], 255), (["CF.RESERVE", "k", "1024", "MAXITERATIONS", number], 65535),
                            (["CF.RESERVE", "k", "64", "EXPANSION", number], 32768), (["BF.RESERVE", "k", "0.01", "10", "EXPANSION", number], 32768),
                            (["BF.RESERVE", "k", "0.01", number], 2 ** 30), (["CF.RESERVE", "k", number], 2 ** 30),
                            (["BF.INSERT", "k", "CAPACITY", number, "ITEMS", "a"], 2 ** 30), (["CF.INSERT", "k", "CAPACITY", number, "ITEMS", "a"], 2 ** 30),
                            (["BF.INSERT", "k", "EXPANSION", number, "ITEMS", "a"], 32768), (["TAMIS.FOLD", "other", number], 2 ** 32),
                            (["TAMIS.TICK", "other", number], 2 ** 32), (["CMS.INITBYDIM", "k", number, "3"], CAP), (["CMS.INITBYDIM", "k", "3", number], CAP)):
            t.clear()
            is_refusal = number < 0 or number > most
            t.send(words, True if is_refusal else None)
        for name in ("expansion", "bucket_size", "iterations", "filters"):
            t.clear()
            t.restore(forged(s.cf, table=s.CF, **{name: number % 2 ** 64}), None)


def wrapped_products(t, s):
    """A4: width times depth times four, beyond 2^32 and 2^64."""
    for width, depth in ((2 ** 32, 2 ** 30), (2 ** 62, 2), (2 ** 63 - 1, 2), (3, 2 ** 62), (2 ** 31, 2 ** 33), (2 ** 16, 2 ** 16), (2 ** 32, 2 ** 32),
                         (2 ** 33 + 1, 2 ** 29), (2 ** 30, 2 ** 2)):
        t.refuses("CMS.INITBYDIM", "k", width, depth)
        t.refuses("TAMIS.CREATE", "k", f"countmin:columns={width},rows={depth}")
        t.refuses("TAMIS.CREATE", "k", f"rediscms:width={width},depth={depth}")
    for width, depth in ((2 ** 32, 2 ** 30), (2 ** 63, 2), (2 ** 62, 4), (2 ** 62 + 16, 4), (2 ** 60, 16), (2 ** 32, 2 ** 32), (16, 2 ** 60 + 1), (2 ** 64 - 1, 2 ** 64 - 1)):
        t.restore(forged(s.cms, table=s.CMS, width=width, depth=depth))
    for buckets in (2 ** 56, 2 ** 60 + 8, 2 ** 62, 2 ** 63, 2 ** 64 - 8):
        t.restore(forged(s.cf, table=s.CF, buckets=buckets))
        t.restore(forged(s.cf, table=s.CF, size=buckets))
        t.restore(forged(s.cf, table=s.CF, buckets=buckets, size=buckets))
    for spec in ("classic:bits=18446744073709551615", "blocked:size=1e19", "quotient:capacity=1e18", "cuckoo:capacity=1e17", "counting:bits=1e19,width=16",
                 "iblt:cells=1e18", "countmin:error=1e-15", "window:capacity=1e18,generations=1000", "attenuated:capacity=1e15,levels=64"):
        t.refuses("TAMIS.CREATE", "k", spec)


def negative_counts(t, s):
    """A5: a negative number of keys."""
    t.client.must("CMS.INITBYDIM", "k", "8", "2")
    for number in (-1, -2 ** 63, 0, 2 ** 63 - 1, 2 ** 32, 2 ** 31, 1000, "x", ""):
        t.refuses("CMS.MERGE", "k", number, "k")
        t.refuses("CMS.MERGE", "k", number, "k", "WEIGHTS", "1")
    t.refuses("CMS.MERGE", "k", "2", "k")
    t.refuses("CMS.MERGE", "k", "1", "k", "WEIGHTS")
    t.refuses("CMS.MERGE", "k", "1", "k", "WEIGHTS", "1", "2")
    t.refuses("CMS.INCRBY", "k", "a", "-1")
    t.survives("CMS.MERGE", "k", "1", "k", "WEIGHTS", 2 ** 63 - 1)
    t.survives("CMS.INCRBY", "k", "a", 2 ** 63 - 1)


def odd_rates(t, s):
    """A6: rates and capacities that make no sense."""
    for rate in ("2", "1", "0", "-1", "nan", "inf", "-inf", "1e400", "1e-400", "", "x"):
        t.clear()
        t.refuses("BF.RESERVE", "k", rate, "3")
        t.refuses("BF.INSERT", "k", "ERROR", rate, "ITEMS", "a")
    for rate in ("0.99", "1e-320", "0.9999999999999999", "0.25", "0.2500001", "5e-324"):
        for capacity in ("1", "3", "100"):
            t.clear()
            t.survives("BF.RESERVE", "k", rate, capacity)
            t.survives("BF.MADD", "k", *map(str, range(200)))
    for rate in ("2", "1", "0", "-1", "nan", "inf", "", "x"):
        t.clear()
        t.refuses("TAMIS.CREATE", "k", f"blocked:capacity=100,fpr={rate}")
        t.refuses("CMS.INITBYPROB", "k", rate, "0.01")
        t.refuses("CMS.INITBYPROB", "k", "0.01", rate)
        t.refuses("CONFIG", "SET", "tamis.bf-error-rate", rate)
    for capacity in ("-1", "-9223372036854775808", "1.5", "nan", "", "x"):
        t.refuses("BF.RESERVE", "k", "0.01", capacity)
        t.refuses("TAMIS.CREATE", "k", f"blocked:capacity={capacity}")
    t.survives("BF.RESERVE", "k", "0.01", "3", "EXPANSION", "0")


def counts_of_filters(t, s):
    """A7: empty chains, and counts of sub-filters that wrap."""
    kind, values = s.bf
    t.restore(forge.dump(kind, [0, 0, 5, 2]))
    for links in (0, 1, 65535, 65536, 65537, 2 ** 32, 2 ** 32 + 2, 2 ** 64 - 1):
        t.restore(forged(s.bf, table=s.BF, links=links))
    head, link = values[:4], values[4:12]
    t.restore(forge.dump(kind, [0, 65536, *head[2:4], *(link * 2000)]))
    kind, values = s.cf
    t.restore(forge.dump(kind, [0, *values[1:7]]))
    for filters in (0, 1, 65535, 65536, 2 ** 32, 2 ** 32 + 2, 2 ** 64 - 1):
        t.restore(forged(s.cf, table=s.CF, filters=filters))
    for buckets in (2 ** 32 + 1, 2 ** 32 + 8, 2 ** 56, 1, 7, 9):
        t.restore(forged(s.cf, table=s.CF, buckets=buckets))
        t.restore(forged(s.cf, table=s.CF, size=buckets))
    t.restore(forged(s.cf, table=s.CF, size=0))


def honest_but_many(t, s):
    """A8: what honest use makes can be loaded again."""
    c = t.client
    for kind in ("tamis", "redisbloom"):
        c.must("CONFIG", "SET", "tamis.bf-kind", kind, "tamis.cf-kind", kind.replace("bloom", "cuckoo"))
        t.clear()
        c.must("BF.RESERVE", "k", "0.0001", "1", "EXPANSION", "1")
        added = []
        for at in range(0, 5000, 100):
            items = [f"many-{i}" for i in range(at, at + 100)]
            reply = c.do("BF.MADD", "k", *items)
            added += [i for i, r in zip(items, reply) if not isinstance(r, Error)]
        c.must("CF.RESERVE", "k2", "2", "BUCKETSIZE", "1", "EXPANSION", "1")
        for i in range(3000):
            c.send(["CF.ADD", "k2", str(i)])
        for i in range(3000):
            c.read()
        before = c.must("DEBUG", "DIGEST-VALUE", "k", "k2")
        if c.do("DEBUG", "RELOAD") != "OK" or c.must("DEBUG", "DIGEST-VALUE", "k", "k2") != before:
            t.wrong.append(f"{kind}: what was made is not the same after a reload")
        if len(added) < 500 or 0 in c.must("BF.MEXISTS", "k", *added):
            t.wrong.append(f"{kind}: {len(added)} of 5000 were added, or one of them is gone")
        t.count += 2
        c.must("DEL", "k2")
    c.must("CONFIG", "SET", "tamis.bf-kind", "tamis", "tamis.cf-kind", "tamis")


def more_than_is_there(t, s):
    """A9: bits, lengths and shifts beyond the buffer."""
    size = 8 * len(s.bf[1][s.BF["bytes"]])
    for bits in (size + 1, size - 1, size + 64, size - 64, 2 ** 40, 2 ** 63, 2 ** 64 - 1, 2 ** 64 - 64, 1):
        t.restore(forged(s.bf, table=s.BF, bits=bits), None if bits == size - 1 else True)  # the last may be partial
    for n2 in (1, 6, 7, 63, 64, 65, 255, 256, 2 ** 32, 2 ** 64 - 1):
        t.restore(forged(s.bf, table=s.BF, n2=n2), n2 >= 63 or None)
    bytes_of = {"bf": s.bf[1][s.BF["bytes"]], "cf": s.cf[1][s.CF["bytes"]], "cms": s.cms[1][s.CMS["bytes"]]}
    for change in (lambda b: b[:-1], lambda b: b + b"\0", lambda b: b"", lambda b: b * 2, lambda b: b[:1]):
        t.restore(forged(s.bf, table=s.BF, bytes=change(bytes_of["bf"])))
        t.restore(forged(s.cf, table=s.CF, bytes=change(bytes_of["cf"])))
        t.restore(forged(s.cms, table=s.CMS, bytes=change(bytes_of["cms"])))
    for error in REALS:
        t.restore(forged(s.bf, table=s.BF, error=error), not 0 < error < 1 or None)


def geometry(t, s):
    """A10: sizes that must be exact, and impossible shapes; images with one fault each."""
    for buckets in (1, 3, 5, 6, 7, 9, 12, 15, 17):
        t.restore(forged(s.cf, table=s.CF, size=buckets, bytes=bytes(2 * buckets)))
        t.restore(forged(s.cf, table=s.CF, buckets=buckets))
    for size in (0, 1, 15, 17, 31, 32, 1 << 20):
        t.restore(forged(s.cf, table=s.CF, bytes=bytes(size)))
        t.restore(forged(s.bf, table=s.BF, bytes=bytes(size)), None if size == 16 else True)
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "golden-bad", "*.tamis"))):
        with open(path, "rb") as file:
            image = file.read()
        t.clear()
        t.refuses("TAMIS.LOAD", "k", 0, len(image), image)
        t.clear()
        t.restore(forge.dump(s.own[0], [len(image), image, 0]))
        if len(image) > 192:
            t.clear()
            t.survives("BF.LOADCHUNK", "k", 1, image[:192])
            t.survives("BF.LOADCHUNK", "k", 1 + len(image) - 192, image[192:])


def counts_in_small_payloads(t, s):
    """A11: counts of gigabytes in payloads of a hundred bytes."""
    for count in (2 ** 24, 2 ** 32 - 1, 2 ** 48, 2 ** 60, 2 ** 64 - 1):
        t.restore(forged(s.bf, table=s.BF, links=count))
        t.restore(forged(s.bf, table=s.BF, bits=count))
        t.restore(forged(s.cf, table=s.CF, filters=count))
        t.restore(forged(s.cf, table=s.CF, size=count))
        t.restore(forged(s.cms, table=s.CMS, width=count))
        t.restore(forged(s.cms, table=s.CMS, depth=count))
        t.restore(forge.dump(s.own[0], [count, b"x" * 100, 0]))
        t.restore(forge.dump(s.own[0], [0, 50, count, 0, b"x" * 50]), None)  # a filter of that size may be incomplete
        t.restore(forge.dump(s.own[0], [0, count, count, 0, b"x" * 50]))
        t.clear()
        header = bytearray(s.bf_chunks[0][1])
        header[8:12] = struct.pack("<I", count % 2 ** 32)
        t.refuses("BF.LOADCHUNK", "k", "1", bytes(header))
        for at in range(0, len(s.cf_chunks[0][1]) - 7, 2):
            header = bytearray(s.cf_chunks[0][1])
            header[at:at + 8] = struct.pack("<Q", count)
            t.clear()
            t.survives("CF.LOADCHUNK", "k", "1", bytes(header))
    # A string that claims to be longer than the dump.
    for size in (101, 2 ** 16, 2 ** 24, 2 ** 31, 2 ** 40):
        body = bytes([forge.MODULE_2]) + forge.length(s.own[0]) + forge.fields(100)
        t.restore(forge.sealed(body + forge.length(forge.STRING) + forge.length(size) + b"x" * 100))


def cut_behind_fields(t, s):
    """A12: dumps that end after every field, with and without the end marker."""
    for name, (kind, values) in s.all.items():
        for n in range(len(values)):
            t.restore(forge.dump(kind, values[:n]))
            t.restore(forge.sealed(bytes([forge.MODULE_2]) + forge.length(kind) + forge.fields(*values[:n])))
            t.restore(forge.dump(kind, values[:n] + values[n:n + 1] * 2 + values[n + 1:]), None)
            t.restore(forge.dump(kind, values[:n] + values[n + 1:]))
        t.restore(forge.dump(kind, values + [0]), True)
        if isinstance(t.restore(forge.dump(kind, values), None), Error):
            t.wrong.append(f"a sound {name} is refused")


def every_prefix(t, s):
    """A13: every prefix of a dump, with a valid checksum."""
    for name, (kind, values) in s.all.items():
        whole = forge.dump(kind, values)[:-forge.FOOTER]
        for n in range(len(whole)):
            t.count += 1
            reply = t.client.do("RESTORE", "k", "0", forge.sealed(whole[:n]), "REPLACE")
            # The last bytes may be those of the footer, into which the server reads.
            if not isinstance(reply, Error) and n < len(whole) - forge.FOOTER:
                t.wrong.append(f"{name}: {n} bytes of {len(whole)} are let in")
        if not t.is_well():
            t.wrong.append(f"after the prefixes of {name} the server was not well")
    for version in (0, 1, 9, 11, 12, 65535):
        t.restore(forge.dump(s.own[0], s.own[1], version=version), None)
    for encoding in range(0, 1024, 7):
        for name in ("tamis-set", "MBbloom--", "MBbloomCF", "CMSk-TYPE"):
            t.restore(forge.dump(name, s.own[1], encoding), None if name == "tamis-set" and encoding == 1 else True)


def every_entry(t, s):
    """A14: the same bad value through every entrance; every number and real at its limits."""
    for kind, values in s.all.values():
        for at, value in enumerate(values):
            for bad in REALS if isinstance(value, float) else EDGES if isinstance(value, int) else (b"", b"x", bytes(1000)):
                t.restore(forge.dump(kind, values[:at] + [bad] + values[at + 1:]), None)
    # Growth, error and options of a chain: argument, RDB, chunk.
    for growth in (32769, 65536, 2 ** 32):
        t.clear()
        t.refuses("BF.RESERVE", "k", "0.01", "10", "EXPANSION", growth)
        t.restore(forged(s.bf, table=s.BF, growth=growth), None)
        header = bytearray(s.bf_chunks[0][1])
        header[16:20] = struct.pack("<I", growth % 2 ** 32)
        t.clear()
        t.survives("BF.LOADCHUNK", "k", "1", bytes(header))
        for at, data in s.bf_chunks[1:]:
            t.survives("BF.LOADCHUNK", "k", at, data)


def strings_that_users_edit(t, s):
    """A16: a filter is not a string that others may edit, and a string is not a filter."""
    c = t.client
    for key_type in (["TAMIS.CREATE", "k", "blocked:capacity=10"], ["BF.RESERVE", "k", "0.01", "10"], ["CF.RESERVE", "k", "10"], ["CMS.INITBYDIM", "k", "5", "2"]):
        t.clear()
        c.must(*key_type)
        for words in (["APPEND", "k", "x"], ["SETRANGE", "k", "0", "x"], ["GETRANGE", "k", "0", "-1"], ["SETBIT", "k", "7", "1"], ["GET", "k"],
                      ["BITFIELD", "k", "SET", "u8", "0", "255"], ["INCR", "k"], ["PFADD", "k", "x"], ["LPUSH", "k", "x"], ["STRLEN", "k"]):
            t.refuses(*words)
    c.must("SET", "k", s.image)
    for words in (["TAMIS.HAS", "k", "a"], ["TAMIS.ADD", "k", "a"], ["TAMIS.INFO", "k"], ["TAMIS.DUMP", "k", "0"], ["TAMIS.LOAD", "k", "0", "10", "x"],
                  ["BF.ADD", "k", "a"], ["BF.MADD", "k", "a"], ["BF.INFO", "k"], ["BF.LOADCHUNK", "k", "1", s.bf_chunks[0][1]], ["CF.ADD", "k", "a"],
                  ["CF.INSERT", "k", "ITEMS", "a"], ["CF.LOADCHUNK", "k", "1", s.cf_chunks[0][1]], ["CF.DEL", "k", "a"], ["CMS.INCRBY", "k", "a", "1"],
                  ["CMS.QUERY", "k", "a"], ["CMS.MERGE", "good", "1", "k"], ["TAMIS.CREATE", "k", "blocked:capacity=10"], ["TAMIS.HADD", "k", "12345678"]):
        t.refuses(*words)
    # A filter of one family does not belong to another.
    for make, others in ((["BF.RESERVE", "k", "0.01", "10"], ["CF.ADD", "CF.INFO", "CMS.INFO"]), (["CF.RESERVE", "k", "10"], ["BF.ADD", "BF.INFO", "CMS.INFO"]),
                         (["CMS.INITBYDIM", "k", "5", "2"], ["BF.ADD", "CF.ADD", "CF.INFO"])):
        t.clear()
        c.must(*make)
        for name in others:
            t.refuses(name, "k", *(["x"] if name.endswith("ADD") else []))
    # Notes are untrusted bytes too: no family accepts a kind that it cannot handle.
    for family, command in (("bf", ["BF.ADD", "k", "x"]), ("cf", ["CF.ADD", "k", "x"]), ("cms", ["CMS.INCRBY", "k", "x", "1"])):
        for spec in ("window:capacity=10", "minhash:bins=64", "iblt:cells=60,estimator=none"):
            t.clear()
            c.must("TAMIS.CREATE", "k", spec, "NOTE", "redis", family)
            t.refuses(*command)
    most = "18446744073709551615"
    for family in ("bf", "cf", "cms", "tamis", "x"):
        for spec in ("multiset:capacity=10", "scalable:capacity=10", "countmin:columns=9,rows=2", "window:capacity=10"):
            for number in (most, most + "0", "0", "-1", "x"):
                t.clear()
                note = family + "".join(f" {f}={number}" for f in ("expansion", "bucketsize", "iterations", "filters", "deleted", "buckets"))
                t.survives("TAMIS.CREATE", "k", spec, "NOTE", "redis", note)


def not_a_number(t, s):
    """A21: NaN where a rate belongs, and excessive hashes."""
    for name in ("error", "bpe"):
        for bad in (NAN, -NAN, INF, -INF):
            t.restore(forged(s.bf, table=s.BF, **{name: bad}))
    for hashes in (0, 65, 66, 1000, 10 ** 9, 2 ** 31, 2 ** 32 - 1, 2 ** 32 + 8, 2 ** 64 - 1):
        t.restore(forged(s.bf, table=s.BF, hashes=hashes))
    # k and the real that it must agree with, forged together. The smallest rate needs 1,075 hashes.
    for hashes in (65, 700, 1100, 5000, 10 ** 9):
        t.restore(forged(s.bf, table=s.BF, hashes=hashes, bpe=hashes / math.log(2), error=2.0 ** -min(hashes, 1000)), hashes > 1075 or None)
    for at, real in ((44, NAN), (52, NAN), (44, INF), (52, INF), (44, 0.0), (52, -1.0)):
        header = bytearray(s.bf_chunks[0][1])
        header[at:at + 8] = struct.pack("<d", real)
        t.clear()
        t.refuses("BF.LOADCHUNK", "k", "1", bytes(header))
    for hashes in (65, 10 ** 9):
        header = bytearray(s.bf_chunks[0][1])
        header[60:64] = struct.pack("<I", hashes)
        t.clear()
        t.survives("BF.LOADCHUNK", "k", "1", bytes(header))
        for at, data in s.bf_chunks[1:-1]:
            t.survives("BF.LOADCHUNK", "k", at, data)
        t.refuses("BF.LOADCHUNK", "k", *s.bf_chunks[-1])
    for hashes in (0, 65, 10 ** 9):
        t.clear()
        t.refuses("TAMIS.CREATE", "k", f"classic:capacity=10,hashes={hashes}")


def high_water(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))


def main():
    attacks = (nothing_inside, chunk_positions, narrow_numbers, wrapped_products, negative_counts, odd_rates, counts_of_filters, honest_but_many,
               more_than_is_there, geometry, counts_in_small_payloads, cut_behind_fields, every_prefix, every_entry, strings_that_users_edit, not_a_number)
    with Server("--rdbcompression", "no", arguments=("max-filter-bytes", CAP)) as server:
        target = Target(server)
        seeds = Seeds(target)
        before = high_water(target.pid)
        for attack in attacks:
            try:
                attack(target, seeds)
            except (ConnectionError, OSError):
                target.end(attack.__doc__.rstrip("."))
                break
            target.end(attack.__doc__.rstrip("."))
        tap.check(server.process.poll() is None and server.process.pid == target.pid, "one server, never restarted")
        tap.check("crashed by signal" not in server.log() and "ASSERTION" not in server.log(), "no crash report")
        if server.process.poll() is None and not PRELOAD:  # sanitizers keep freed memory
            grown = high_water(target.pid) - before
            tap.check(grown < MAX_MEMORY, f"memory stayed in bounds: {grown >> 20} MiB above the start at most")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
