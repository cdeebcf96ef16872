#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CMS.*: every command with its replies and errors, in both protocols and for both kinds; merges;
dumps of RedisBloom; replicas, files, and sketches that are too large or claim a false size."""
import struct
import sys

from resp import Error, Status
from server import Server, Tap, in_step, replicate, until

tap = Tap()

OK = Status("OK")
NO_KEY = Error("CMS: key does not exist")
WRONG = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
OVERFLOW = Error("CMS: INCRBY overflow")
MAX = 2 ** 32 - 1

# Made by RedisBloom v2.8.20 in Redis 7.0.15: CMS.INITBYDIM a 8 3, and INCRBY alpha 1, beta 2, gamma 3,
# delta 4, "" 5, café 6.
SIX_WORDS = bytes.fromhex(
    "078108c4a4f9360f100002080203021505c33640600105008000000120060009200300022003400000044004a0"
    "004017e00300401b0008a010400b4000c037402b00054010200020530000000a0042cf045c2d3802af")
WORDS = ["alpha", "beta", "gamma", "delta", "", "café"]
COUNTS = [1, 2, 9, 4, 5, 9, 0]
# CMS.INITBYDIM b 7 1, INCRBY x 4294967290 y 70000, INCRBY x 9: a saturated cell.
STUCK = bytes.fromhex("078108c4a4f9360f1000020702010281000000010001117305c30e1c010000e009"
                      "0000ff200020150000000a00c95949d0cae1de19")


def arity(name):
    return Error(f"ERR wrong number of arguments for '{name}' command")


def info_of(protocol, width, depth, count):
    pairs = {"width": width, "depth": depth, "count": count}
    if protocol == 3:
        return pairs
    return [x for name in pairs for x in (name, pairs[name])]


class Talk:
    """Commands and their expected replies."""

    def __init__(self, server, protocol, kind):
        self.client, self.protocol, self.kind = server.client(protocol), protocol, kind
        self.client.must("FLUSHALL")

    def __call__(self, words, wanted):
        words = words.split() if isinstance(words, str) else words
        got = self.client.do(*words)
        tap.check(got == wanted and isinstance(got, Error) == isinstance(wanted, Error),
                  f"{self.kind} RESP{self.protocol} {' '.join(str(w)[:40] for w in words)}")
        if got != wanted:
            print(f"#   wanted {wanted!r}\n#   got    {got!r}")

    def info(self, key, width, depth, count):
        self(["CMS.INFO", key], info_of(self.protocol, width, depth, count))


# ---- Replies ------------------------------------------------------------------------------------

def making(talk):
    talk("CMS.INITBYDIM k 10", arity("cms.initbydim"))
    talk("CMS.INITBYDIM k 10 5 7", arity("cms.initbydim"))
    talk("CMS.INITBYDIM k 2000 5", OK)
    talk("CMS.INITBYDIM k x 5", Error("CMS: key already exists"))
    talk.info("k", 2000, 5, 0)
    for width in ("x", "0", "-1", "07", "1.5", "18446744073709551615"):
        talk(["CMS.INITBYDIM", "n", width, 5], Error("CMS: invalid width"))
    for depth in ("x", "0", "-1", "", "+7"):
        talk(["CMS.INITBYDIM", "n", 10, depth], Error("CMS: invalid depth"))
    # products that wrap, and impossible sizes: refused before anything is allocated
    for width, depth in ((2 ** 63 - 1, 2), (3, 2 ** 62), (2 ** 32 - 1, 2 ** 32 - 1)):
        talk(["CMS.INITBYDIM", "n", width, depth], Error("CMS: invalid init arguments"))
    for width, depth in ((2 ** 32, 2 ** 30), (2 ** 63 - 1, 1), (3, 2 ** 31), (2 ** 29 + 1, 1)):
        talk(["CMS.INITBYDIM", "n", width, depth], Error("CMS: Insufficient memory to create the key"))
    talk("EXISTS n", 0)
    talk("CMS.INITBYDIM deep 3 65536", OK)
    talk.info("deep", 3, 65536, 0)
    talk("SET s 1", OK)
    talk("CMS.INITBYDIM s 10 5", Error("CMS: key already exists"))
    talk("CMS.INITBYPROB s 0.01 0.1", Error("CMS: key already exists"))
    talk("CMS.INITBYPROB p 0.001", arity("cms.initbyprob"))
    for error, doubt, width, depth in (("0.001", "0.01", 2000, 7), ("0.01", "0.1", 200, 4), ("0.3", "0.5", 7, 1),
                                       ("0.5", "0.99", 4, 1), ("0.5", "1e-10", 4, 34), ("0x1p-3", "+.1", 16, 4)):
        talk(["CMS.INITBYPROB", "p", error, doubt], OK)
        talk.info("p", width, depth, 0)
        talk("DEL p", 1)
    for error in ("0", "1", "-0.1", "nan", "inf", "", "abc", "0.01x"):
        talk(["CMS.INITBYPROB", "p", error, "0.5"], Error("CMS: invalid overestimation value"))
        talk(["CMS.INITBYPROB", "p", "0.5", error], Error("CMS: invalid prob value"))
    for error, doubt in (("1e-320", "0.5"), ("0.5", "0.999999999"), ("0.5", "1e-320")):
        talk(["CMS.INITBYPROB", "p", error, doubt], Error("CMS: invalid init arguments"))
    talk("CMS.INITBYPROB p 1e-10 0.5", Error("CMS: Insufficient memory to create the key"))


def counting(talk):
    talk("CMS.INCRBY k a", arity("cms.incrby"))
    talk("CMS.INCRBY k a 1", NO_KEY)
    talk("CMS.QUERY k", arity("cms.query"))
    talk("CMS.QUERY k a", NO_KEY)
    talk("CMS.INFO k", NO_KEY)
    talk("CMS.INFO k x", arity("cms.info"))
    talk("CMS.INITBYDIM k 2000 5", OK)
    talk("CMS.QUERY k a", [0])
    talk("CMS.INCRBY k a 1", [1])
    talk("CMS.INCRBY k a 5 b 7", [6, 7])
    talk("CMS.INCRBY k a 1 b", arity("cms.incrby"))
    for bad in ("x", "", "1.5", "9223372036854775808"):
        talk(["CMS.INCRBY", "k", "a", 1, "b", bad], Error("CMS: Cannot parse number"))
    talk("CMS.INCRBY k a 1 b -1", Error("CMS: Number cannot be negative"))
    talk("CMS.QUERY k a b nobody", [6, 7, 0])
    talk("CMS.INCRBY k a 0", [6])
    talk(["CMS.INCRBY", "k", "", 3], [3])
    talk(["CMS.INCRBY", "k", b"\xff\x00", 2, b"\xff\x00", 3], [2, 5])
    talk.info("k", 2000, 5, 21)
    talk("CMS.INCRBY k big 4294967290", [4294967290])
    talk("CMS.INCRBY k big 10 a 1", [OVERFLOW, 7])
    talk("CMS.INCRBY k huge 9223372036854775807", [OVERFLOW])
    talk("CMS.QUERY k big huge", [MAX, MAX])
    total = 21 + 4294967290 + 11 + 9223372036854775807
    talk.info("k", 2000, 5, total - 2 ** 64)
    for key, words in (("s", ["SET", "s", 1]), ("t", ["TAMIS.CREATE", "t", "countmin:columns=9"])):
        talk(words, OK)
        talk(["CMS.INCRBY", key, "a", 1], WRONG)
        talk(["CMS.QUERY", key, "a"], WRONG)
        talk(["CMS.INFO", key], WRONG)
    many = [f"item-{i}" for i in range(600)]
    talk(["CMS.INITBYDIM", "m", 100000, 4], OK)
    talk(["CMS.INCRBY", "m"] + [x for i, item in enumerate(many) for x in (item, i)], list(range(600)))
    talk(["CMS.QUERY", "m"] + many, list(range(600)))


def merging(talk):
    for key, width, depth in (("a", 1000, 5), ("b", 1000, 5), ("d", 1000, 5), ("w", 999, 5), ("v", 1000, 4)):
        talk(["CMS.INITBYDIM", key, width, depth], OK)
    talk("CMS.INCRBY a x 1 y 2", [1, 2])
    talk("CMS.INCRBY b x 10 z 3", [10, 3])
    talk("CMS.MERGE d 1", arity("cms.merge"))
    for words, counts, count in (("1 a", [1, 2, 0], 3), ("2 a b", [11, 2, 3], 16),
                                 ("2 a b WEIGHTS 1 2", [21, 2, 6], 29), ("2 a b weights 0 0", [0, 0, 0], 0),
                                 ("2 a a", [2, 4, 0], 6), ("2 d a", [3, 6, 0], 9),
                                 ("3 d b a weights 1 1 -3", [10, 0, 3], 13),
                                 ("1 b WEIGHTS 429496729", [4294967290, 0, 1288490187], 13 * 429496729)):
        talk(f"CMS.MERGE d {words}", OK)
        talk("CMS.QUERY d x y z", counts)
        talk.info("d", 1000, 5, count)
    for words, why in (
            ("2 a b WEIGHTS -1 2", "MERGE overflow"), ("1 b WEIGHTS 429496730", "MERGE overflow"),
            ("1 a WEIGHTS 9223372036854775807", "MERGE overflow"), ("1 a WEIGHTS -9223372036854775808", "MERGE overflow"),
            ("2 a b WEIGHTS 1", "wrong number of keys/weights"), ("2 a b WEIGHTS 1 2 3", "wrong number of keys/weights"),
            ("2 a b WEIGHTS", "wrong number of keys/weights"), ("2 a b WEIGHTS 1 x", "invalid weight value"),
            ("2 a b SURPRISE 1 2", "wrong number of keys"), ("2 a", "wrong number of keys"),
            ("1 a b", "wrong number of keys"), ("0 a", "Number of keys must be positive"),
            ("-1 a", "Number of keys must be positive"),
            ("-9223372036854775808 a", "Number of keys must be positive"),
            ("9223372036854775807 a", "wrong number of keys"), ("4611686018427387904 a", "wrong number of keys"),
            ("2147483648 a", "wrong number of keys"), ("x a", "invalid numkeys"),
            ("1 w", "width/depth is not equal"), ("1 v", "width/depth is not equal"),
            ("1 absent", "key does not exist")):
        talk(f"CMS.MERGE d {words}", Error("CMS: " + why))
    talk("CMS.MERGE absent 1 a", NO_KEY)
    talk("SET s 1", OK)
    for words in ("CMS.MERGE d 1 s", "CMS.MERGE s 1 a", "CMS.MERGE d 2 s absent"):
        talk(words, WRONG)
    talk("CMS.QUERY d x y z", [4294967290, 0, 1288490187])
    talk.info("d", 1000, 5, 13 * 429496729)
    talk("CMS.MERGE d 200 " + "a " * 200, OK)
    talk("CMS.QUERY d x y", [200, 400])
    talk("COMMAND GETKEYS CMS.MERGE d 2 a b WEIGHTS 1 2", [b"d", b"a", b"b"])


# ---- Sketches of RedisBloom -----------------------------------------------------------------------

def crc64(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95ac9329ac4bc9b5 if crc & 1 else 0)
    return crc


def sealed(body, rdb=10):
    body += struct.pack("<H", rdb)
    return body + struct.pack("<Q", crc64(body))


def number(n):
    return b"\x02\x81" + struct.pack(">Q", n)


def forged(width, depth, counter, cells, length=None, encoding=0):
    name = 0x08c4a4f9360f1000 | encoding
    length = len(cells) if length is None else length
    return sealed(b"\x07\x81" + struct.pack(">Q", name) + number(width) + number(depth) + number(counter) +
                  b"\x05\x81" + struct.pack(">Q", length) + cells + b"\0")


def restoring(server):
    c = server.client()
    c.must("FLUSHALL")
    tap.equal(c.do("RESTORE", "a", 0, SIX_WORDS), OK, "a dump of RedisBloom is restored")
    tap.equal(c.do("TYPE", "a"), Status("CMSk-TYPE"), "and keeps its type")
    tap.equal(c.do("CMS.QUERY", "a", *WORDS, "nobody"), COUNTS, "and answers as there")
    tap.equal(c.do("CMS.INFO", "a"), ["width", 8, "depth", 3, "count", 21], "with its count")
    tap.equal(c.must("DUMP", "a")[:-10], SIX_WORDS[:-10], "and is dumped as it came, except the RDB version")
    tap.equal(c.do("RESTORE", "b", 0, STUCK), OK, "also one with a cell that stopped")
    tap.equal(c.do("CMS.INCRBY", "b", "x", 1), [OVERFLOW], "which stays where it is")
    tap.equal(c.do("CMS.INFO", "b"), ["width", 7, "depth", 1, "count", 4295037300], "while the count goes on")
    tap.equal(c.do("COPY", "a", "copy"), 1, "it is copied")
    c.must("CMS.INCRBY", "copy", "alpha", 5)
    tap.equal(c.do("CMS.MERGE", "a", 2, "copy", "a", "WEIGHTS", 2, -1), OK, "weighed")
    tap.equal(c.do("CMS.QUERY", "a", "alpha"), [COUNTS[0] + 10], "and adds up")
    c.must("CMS.INITBYDIM", "ours", 8, 3)
    tap.equal(c.do("CMS.MERGE", "ours", 1, "a"),
              Error("CMS: these sketches cannot be merged: kinds differ: countmin and rediscms"),
              "it cannot be merged with ours")
    tap.check(len(c.must("TAMIS.INFO", "a")) > 10, "TAMIS.INFO reports it")
    c.close()


def refusing(server):
    c = server.client()
    c.must("FLUSHALL")
    refused = Error("ERR Bad data format")
    tap.equal(c.do("RESTORE", "good", 0, forged(3, 2, 9, bytes(24))), OK, "a correct forgery is a dump")
    cases = {
        "a cell too few": forged(3, 2, 9, bytes(20)), "a cell too many": forged(3, 2, 9, bytes(28)),
        "a byte too few": forged(3, 2, 9, bytes(23)), "a byte too many": forged(3, 2, 9, bytes(25)),
        "no width": forged(0, 2, 0, b""), "no depth": forged(2, 0, 0, b""),
        "a product that wraps": forged(2 ** 32, 2 ** 30, 0, b""), "another": forged(2 ** 63, 2, 0, b""),
        "one that wraps to a cell": forged(2 ** 62 + 1, 1, 0, bytes(4)), "a third": forged(3, 2 ** 62, 0, b""),
        "an encoding of tomorrow": forged(3, 2, 9, bytes(24), encoding=1),
    }
    for power in (24, 32, 48, 60, 64):
        count = 2 ** power - (power in (32, 64))
        cases[f"2^{power} cells in a row"] = forged(count, 1, 0, bytes(40))
        cases[f"2^{power} rows"] = forged(1, count, 0, bytes(40))
        cases[f"a string of 2^{power} bytes"] = forged(10, 1, 0, bytes(40), length=count)
    for name, dump in cases.items():
        tap.equal(c.do("RESTORE", "bad", 0, dump), refused, f"refused: {name}")
    # (where two bytes are missing, the server itself takes the RDB version for them)
    body = forged(3, 2, 9, bytes(24))[:-10]
    prefixes = [c.do("RESTORE", "bad", 0, sealed(body[:n])) for n in range(1, len(body) - 2)]
    tap.check(all(reply == refused for reply in prefixes), "every beginning of a dump is refused")
    tap.equal(c.do("EXISTS", "bad"), 0, "and nothing is left of them")
    tap.equal(c.do("CMS.INCRBY", "good", "x", 4), [4], "the server goes on")
    c.close()


# ---- Elsewhere ----------------------------------------------------------------------------------

def other_secrets(server):
    """A sketch of another server can be queried and counts on, but does not merge with ours."""
    with Server(secret="00" * 16) as other, Server(secret="00" * 16) as third:
        a, b, t = server.client(), other.client(), third.client()
        for c in (a, b, t):
            c.must("FLUSHALL")
            c.must("CMS.INITBYDIM", "s", 100, 4)
            c.must("CMS.INCRBY", "s", "x", 3)
        dump = b.must("DUMP", "s")
        a.must("RESTORE", "theirs", 0, dump)
        t.must("RESTORE", "theirs", 0, dump)
        tap.equal(a.do("CMS.INCRBY", "theirs", "x", 1), [4], "a sketch of another server counts on")
        tap.equal(a.do("CMS.MERGE", "s", 1, "theirs"),
                  Error("CMS: sketches with different secrets cannot be merged: give servers that share "
                        "sketches the same setting tamis.secret"), "and is not merged with those of this one")
        tap.equal(t.do("CMS.MERGE", "s", 2, "theirs", "s"), OK, "servers with one secret merge each other's")
        tap.equal(t.do("CMS.QUERY", "s", "x"), [6], "and count together")


def digests(c):
    return {key: c.must("DEBUG", "DIGEST-VALUE", key) for key in sorted(c.must("KEYS", "*"))}


def some_writes(c, prefix):
    c.must("CMS.INITBYDIM", prefix + "a", 500, 4)
    c.must("CMS.INITBYPROB", prefix + "b", "0.004", "0.07")
    c.must("CMS.INCRBY", prefix + "a", "x", 4, "y", 2 ** 40, "x", 1)
    c.must("CMS.MERGE", prefix + "b", 2, prefix + "a", prefix + "b", "WEIGHTS", 0, 3)
    c.must("CMS.INCRBY", prefix + "b", "z", 9)
    c.must("CMS.MERGE", prefix + "a", 2, prefix + "b", prefix + "b", "WEIGHTS", 3, -2)


def staying(kind):
    """Replica, AOF and RDB have what the primary has, with a different kind set on each side."""
    other = "tamis" if kind == "rediscms" else "rediscms"
    with Server("--appendonly", "yes", "--repl-diskless-sync-delay", 0, arguments=("cms-kind", kind)) as server, \
            Server(arguments=("cms-kind", other)) as replica:
        c = server.client()
        some_writes(c, "before-")
        replicate(server, replica)
        some_writes(c, "after-")
        c.must("RESTORE", "theirs", 0, SIX_WORDS)
        in_step(server, replica)
        wanted = digests(c)
        tap.check(len(wanted) == 5, f"{kind}: five sketches")
        tap.equal(digests(replica.client()), wanted, f"{kind}: a replica is equal")
        c.must("DEBUG", "LOADAOF")
        tap.equal(digests(c), wanted, f"{kind}: the log of commands makes the same")
        c.must("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        c.must("BGREWRITEAOF")
        until(lambda: b"aof_rewrite_in_progress:0" in c.must("INFO", "persistence") and
              b"aof_rewrite_scheduled:0" in c.must("INFO", "persistence"), 30, "the log is rewritten")
        c.must("DEBUG", "LOADAOF")
        tap.equal(digests(c), wanted, f"{kind}: a rewritten log makes the same")
        images = {key: c.must("TAMIS.DUMP", key, 0) for key in wanted}
        c.must("DEBUG", "RELOAD")
        tap.equal(digests(c), wanted, f"{kind}: an RDB file makes the same")
        tap.equal({key: c.must("TAMIS.DUMP", key, 0) for key in wanted}, images, f"{kind}: and the same images")


def large(server):
    """Sketches of 8 MB: made, merged, queried while others go on; a writer waits for the merge."""
    c, others = server.client(), [server.client() for _ in range(4)]
    c.must("FLUSHALL")
    for key in ("a", "b", "d", "e"):
        tap.equal(c.do("CMS.INITBYDIM", key, 500000, 4), OK, f"8 MB at {key}")
    c.must("CMS.INCRBY", "a", "x", 5)
    c.must("CMS.INCRBY", "b", "x", 7)
    c.send(["CMS.MERGE", "d", 2, "a", "b", "WEIGHTS", 1, 2])
    others[0].send(["CMS.INCRBY", "a", "x", 1])
    others[1].send(["CMS.MERGE", "b", 2, "a", "b"])
    others[3].send(["CMS.MERGE", "e", 1, "d"])
    others[2].send(["CMS.QUERY", "a", "nobody"])
    tap.equal(others[2].read(), [0], "a query is answered during the merge")
    tap.equal(c.read(), OK, "a large merge")
    tap.equal(others[0].read(), [6], "a writer of a source came after it")
    tap.equal(others[1].read(), OK, "and so did another merge")
    tap.equal(others[3].read(), OK, "and one that needs what it made")
    tap.equal(c.do("CMS.QUERY", "e", "x"), [19], "which has it")
    tap.equal(c.do("CMS.QUERY", "d", "x"), [19], "the merge has what was there when it began")
    tap.check(c.do("CMS.QUERY", "b", "x") in ([12], [13]), "the second merge has its sources")
    c.must("EXPIRE", "d", 1000)
    tap.equal(c.do("CMS.MERGE", "d", 1, "d"), OK, "with itself")
    tap.equal(c.do("TTL", "d") > 900, True, "a key keeps its time to live")
    tap.equal(c.pipeline([["MULTI"], ["CMS.MERGE", "d", 1, "d", "WEIGHTS", 2], ["CMS.QUERY", "d", "x"], ["EXEC"]])[-1],
              [OK, [38]], "in a transaction it is done at once")
    tap.equal(c.do("CMS.MERGE", "d", 1, "d", "WEIGHTS", 2 ** 40), Error("CMS: MERGE overflow"), "or refused")
    tap.equal(c.do("CMS.QUERY", "d", "x"), [38], "and nothing is changed then")


def sources_that_go(server):
    """A source is deleted during the merge: a replica could not do the same, so nothing is done."""
    with Server() as replica:
        c, other = server.client(), server.client()
        c.must("FLUSHALL")
        for key in ("a", "b", "d"):
            c.must("CMS.INITBYDIM", key, 2000000, 4)
        c.must("CMS.INCRBY", "a", "x", 5)
        replicate(server, replica)
        replies = set()
        for gone in ("a", "b"):
            c.send(["CMS.MERGE", "d", 2, "a", "b"])
            other.must("RENAME", gone, gone + "-old")
            replies.add(c.read())
            other.must("RENAME", gone + "-old", gone)
        tap.check(replies <= {OK, NO_KEY, Error("ERR a source changed during the operation")}, "a merge whose source goes says so")
        in_step(server, replica)
        tap.equal(replica.client().must("CMS.QUERY", "d", "x"), c.must("CMS.QUERY", "d", "x"),
                  "and the replica has what the primary has")
        replica.client().must("REPLICAOF", "NO", "ONE")


def main():
    with Server("--repl-diskless-sync-delay", 0) as server:
        for protocol in (2, 3):
            for kind in ("tamis", "rediscms"):
                server.client().must("CONFIG", "SET", "tamis.cms-kind", kind)
                for part in (making, counting, merging):
                    part(Talk(server, protocol, kind))
        server.client().must("CONFIG", "SET", "tamis.cms-kind", "tamis")
        restoring(server)
        refusing(server)
        other_secrets(server)
        large(server)
        sources_that_go(server)
    for kind in ("tamis", "rediscms"):
        staying(kind)
    return tap.end()


sys.exit(main())
