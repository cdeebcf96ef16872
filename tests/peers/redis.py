# SPDX-License-Identifier: MIT
"""The comparison that redis.sh starts: a server on the loopback, our driver, and the same filters
made by both. TAP on stdout."""
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MODULE = os.environ.get("TAMIS_REDISBLOOM", "")
CASES = int(os.environ.get("TAMIS_CASES", "1000"))


class Server:
    """Speaks RESP2; replies are int, bytes, None, list, or an Error."""

    def __init__(self, module):
        self.folder = tempfile.mkdtemp()
        path = os.path.join(self.folder, "socket")
        arguments = ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                     "--dir", self.folder, "--proto-max-bulk-len", "512mb"]
        if module:
            arguments += ["--loadmodule", module]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(path)
                break
            except OSError:
                self.socket.close()
                time.sleep(0.1)
        self.file = self.socket.makefile("rb")

    def many(self, commands):
        out = bytearray()
        for command in commands:
            out += b"*%d\r\n" % len(command)
            for part in command:
                part = part if isinstance(part, bytes) else str(part).encode()
                out += b"$%d\r\n%s\r\n" % (len(part), part)
        self.socket.sendall(out)
        return [self.reply() for _ in commands]

    def __call__(self, *command):
        return self.many([command])[0]

    def reply(self):
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        if kind == b"-":
            return Exception(rest.decode())
        if kind == b"$":
            if int(rest) < 0:
                return None
            data = self.file.read(int(rest) + 2)
            return data[:-2]
        return [self.reply() for _ in range(int(rest))]

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


class Ours:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, *words):
        line = " ".join(w if isinstance(w, str) else (w.hex() or ".") for w in words)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def bytes(self, *words):
        answer = self(*words)
        if answer.startswith("!"):
            raise AssertionError(answer)
        return b"" if answer == "." else bytes.fromhex(answer)


def same(a, b, what):
    if a != b:
        text = (a.hex(), b.hex()) if isinstance(a, bytes) and isinstance(b, bytes) else (a, b)
        raise AssertionError("%s: theirs %.2000s, ours %.2000s" % (what, text[0], text[1]))


# ---- Strings ----------------------------------------------------------------------------------

def length(data, at):
    first = data[at]
    if first >> 6 == 0:
        return first, at + 1
    if first >> 6 == 1:
        return (first & 63) << 8 | data[at + 1], at + 2
    if first == 0x80:
        return int.from_bytes(data[at + 1:at + 5], "big"), at + 5
    return int.from_bytes(data[at + 1:at + 9], "big"), at + 9


def packed_in(dump):
    """The LZF bytes in the dump of a string, or None."""
    if dump[1] != 0xc3:
        return None
    size, at = length(dump, 2)
    _, at = length(dump, at)
    return dump[at:at + size]


def compressible(rng):
    way, n = rng.randrange(5), rng.choice([21, 22, 25, 30, 60, 300, 1000, 9000, 20000])
    n = rng.randint(21, n + 1)
    if way == 0:
        return bytes(rng.choices(b"ab", k=n))
    if way == 1:
        return bytes(rng.choices(b"\0\0\0\0\0\0\0\x01\x10\xff", k=n))
    if way == 2:
        words = [bytes(rng.randbytes(rng.randint(1, 40))) for _ in range(rng.randint(1, 30))]
        out = b""
        while len(out) < n:
            out += rng.choice(words)
        return out[:n]
    if way == 3:
        return bytes(n - n // 9) + rng.randbytes(n // 9)
    return bytes(rng.choices(range(rng.randint(2, 255)), k=n))


def strings(server, ours, rng):
    packed = 0
    for i in range(5 * CASES):
        value = compressible(rng)
        server("SET", "s", value)
        theirs = packed_in(server("DUMP", "s"))
        answer = ours("lzf", value)
        same(theirs, None if answer == "-" else bytes.fromhex(answer), "string %d" % i)
        packed += theirs is not None
    return "%d strings, %d of them packed" % (5 * CASES, packed)


# ---- Filters ----------------------------------------------------------------------------------

def some_keys(rng, n):
    return [rng.randbytes(rng.choice([0, 1, 2, 3, 7, 8, 9, 15, 16, 20, 33])) if rng.random() < .5
            else b"key-%d" % rng.randrange(1 << 40) for _ in range(n)]


def how_many(rng):
    return rng.choice([0, 1, 2, 5, 20, 20, 100, 100, 300, 3000 if rng.random() < .1 else 40])


def dumped(server, family, key):
    chunks, iterator = [], 0
    while True:
        iterator, data = server(family + ".SCANDUMP", key, iterator)
        if not iterator:
            return chunks
        chunks.append((iterator, data))


def our_chunks(ours):
    return [(int(i), bytes.fromhex(b)) for i, b in
            (c.split(":") for c in ours("chunks").split())]


def compare(server, ours, family, format, key, what):
    """Bytes by both ways out; an empty CF tells no chunks."""
    theirs = dumped(server, family, key)
    mine = our_chunks(ours)
    if theirs or family == "BF":
        same(theirs, mine, what + " chunks")
        same(b"".join(data for _, data in theirs), ours.bytes("export", format), what + " bytes")
    same(server("DUMP", key), ours.bytes("export", "redis-dump"), what + " dump")
    return mine


def go_over(server, ours, family, format, chunks, probes, what):
    """What we wrote, by both ways in; and what they wrote, read by us."""
    server("DEL", "copy", "restored")
    for iterator, data in chunks:
        same(server(family + ".LOADCHUNK", "copy", iterator, data), b"OK", what + " LOADCHUNK")
    mine = ours.bytes("export", "redis-dump")
    same(server("RESTORE", "restored", 0, mine), b"OK", what + " RESTORE")
    same(server("DUMP", "restored"), mine, what + " restored")
    same(server("DUMP", "copy"), mine, what + " loaded")
    for key in ("copy", "restored"):
        theirs = "".join(map(str, server(family + ".MEXISTS", key, *probes)))
        same(theirs, ours("has", *probes), what + " answers")


def bloom(server, ours, rng, i):
    rate = round(rng.choice([.3, .05, .01, .001]) * rng.random(), 6) or .01
    capacity = rng.choice([1, 2, 7, 50, 400])
    growth, fixed = rng.choice([1, 2, 2, 3, 4]), rng.random() < .25
    keys, what = some_keys(rng, how_many(rng)), "BF %d" % i
    server("DEL", "f")
    reserve = ["BF.RESERVE", "f", repr(rate), capacity] + (
        ["NONSCALING"] if fixed else ["EXPANSION", growth])
    same(server(*reserve), b"OK", what)
    spec = "redisbloom:capacity=%d,fpr=%r," % (capacity, rate) + (
        "scaling=no" if fixed else "expansion=%d" % growth)
    same("ok", ours("new", spec), spec)
    if keys:
        replies = server.many([("BF.ADD", "f", k) for k in keys])
        theirs = "".join("f" if isinstance(r, Exception) else str(r) for r in replies)
        if rng.random() < .5 and "f" not in theirs:
            same("ok", ours("many", *keys), what + " many")
        else:
            same(theirs, ours("add", *keys), what + " replies")
    chunks = compare(server, ours, "BF", "redisbloom", "f", what)
    probes = keys[:200] + some_keys(rng, 200)
    go_over(server, ours, "BF", "redisbloom", chunks, probes, what)
    # on with what came from them
    taken = ("import redis-dump", server("DUMP", "f")) if rng.random() < .5 else (
        "import redisbloom", b"".join(data for _, data in dumped(server, "BF", "f")))
    same("ok", ours(*taken), what)
    more = some_keys(rng, rng.choice([1, 10, 100]))
    replies = server.many([("BF.ADD", "f", k) for k in more])
    same("".join("f" if isinstance(r, Exception) else str(r) for r in replies),
         ours("add", *more), what + " then")
    compare(server, ours, "BF", "redisbloom", "f", what + " then")


def cuckoo(server, ours, rng, i):
    size, iterations = rng.choice([1, 2, 2, 4, 4, 8, 255]), rng.choice([1, 5, 20, 100])
    capacity = max(rng.choice([2, 4, 16, 100, 1000]), 2 * size)
    growth = rng.choice([0, 1, 1, 2, 3, 4] if capacity >= 16 and size > 1 else [0, 1, 1])
    keys, what = some_keys(rng, how_many(rng)), "CF %d" % i
    keys += rng.choices(keys, k=len(keys) // 5) if keys else []
    server("DEL", "f")
    same(server("CF.RESERVE", "f", capacity, "BUCKETSIZE", size, "MAXITERATIONS", iterations,
                "EXPANSION", growth), b"OK", what)
    spec = "rediscuckoo:capacity=%d,bucket_size=%d,iterations=%d,expansion=%d" % (
        capacity, size, iterations, growth)
    same("ok", ours("new", spec), what)
    what += " " + spec
    cuckoo_steps(server, ours, rng, keys, what)
    chunks = compare(server, ours, "CF", "rediscuckoo", "f", what)
    probes = keys[:200] + some_keys(rng, 200)
    go_over(server, ours, "CF", "rediscuckoo", chunks, probes, what)
    same([server("CF.COUNT", "f", k) for k in probes[:50]],
         [int(n) for n in ours("count", *probes[:50]).split()], what + " counts")
    dump = server("DUMP", "f")
    whole = b"".join(data for _, data in dumped(server, "CF", "f"))
    same("ok", ours("import redis-dump", dump) if not whole or rng.random() < .5
         else ours("import rediscuckoo", whole), what)
    cuckoo_steps(server, ours, rng, some_keys(rng, rng.choice([1, 10, 100])), what + " then")
    compare(server, ours, "CF", "rediscuckoo", "f", what + " then")


def cuckoo_steps(server, ours, rng, keys, what):
    """Adds and removes, in runs."""
    there = []
    while keys:
        some, keys = keys[:rng.randint(1, 60)], keys[60:]
        theirs = "".join("f" if isinstance(r, Exception) else str(r)
                         for r in server.many([("CF.ADD", "f", k) for k in some]))
        if rng.random() < .5 and "f" not in theirs:
            same("ok", ours("many", *some), what + " many")
        else:
            same(theirs, ours("put", *some), what + " adds")
        there += some
        gone = rng.sample(there, rng.randint(0, len(there) // 2)) + some_keys(rng, 3)
        if rng.random() < .6:
            theirs = "".join(map(str, server.many([("CF.DEL", "f", k) for k in gone])))
            same(theirs, ours("del", *gone), what + " removes")


def sketch(server, ours, rng, i):
    width, depth = rng.choice([1, 2, 7, 50, 400, 3000]), rng.choice([1, 2, 3, 5, 7, 20])
    keys, what = some_keys(rng, 1 + how_many(rng) % 60), "CMS %d, %d by %d" % (i, width, depth)
    server("DEL", "f", "restored")
    same(server("CMS.INITBYDIM", "f", width, depth), b"OK", what)
    same("ok", ours("new", "rediscms:width=%d,depth=%d" % (width, depth)), what)
    for again in range(2):
        for key in keys:
            times = rng.choice([0, 1, 2, 10, 70000, rng.randrange(1 << 31), rng.randrange(1 << 33)])
            server("CMS.INCRBY", "f", key, times)
            same("ok", ours("times %d" % times, key), what)
        probes = keys + some_keys(rng, 50)
        same(server("CMS.QUERY", "f", *probes), [int(n) for n in ours("count", *probes).split()],
             what + " counts")
        dump = server("DUMP", "f")
        same(dump, ours.bytes("export", "redis-dump"), what + " dump")
        same(server("RESTORE", "restored", 0, dump, "REPLACE"), b"OK", what + " RESTORE")
        same(server("CMS.INFO", "restored")[5], server("CMS.INFO", "f")[5], what + " restored")
        if again == 0:
            taken = (("import redis-dump", dump) if rng.random() < .5 else
                     ("import rediscms", ours.bytes("export", "rediscms")))
            same("ok", ours(*taken), what)


def filters(one):
    def run(server, ours, rng):
        for i in range(CASES):
            one(server, ours, rng, i)
        return "%d each way, then changed and compared again" % CASES
    return run


def main():
    ours, failed = Ours(sys.argv[1]), 0
    tests = [("redis strings and their LZF", strings, False),
             ("redis BF", filters(bloom), True), ("redis CF", filters(cuckoo), True),
             ("redis CMS", filters(sketch), True)]
    server = Server(MODULE)
    for n, (name, test, needs_module) in enumerate(tests, 1):
        if needs_module and not MODULE:
            print("ok %d - %s # SKIP TAMIS_REDISBLOOM names no redisbloom.so" % (n, name))
            continue
        try:
            print("ok %d - %s: %s" % (n, name, test(server, ours, random.Random(n))))
        except AssertionError as why:
            print("not ok %d - %s\n# %s" % (n, name, why))
            failed = 1
        sys.stdout.flush()
    print("1..%d" % len(tests))
    server.close()
    return failed


sys.exit(main())
