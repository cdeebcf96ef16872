#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutated payloads by RESTORE, TAMIS.LOAD, BF.LOADCHUNK and CF.LOADCHUNK.

    MUTANTS=10000000 tests/redis/mutate.py      how many (default: 200,000); SEED= for other ones

The seeds are small filters of every kind that can be created here, the golden images, and filters
of all families. tests/redis/mutate.c changes and sends them. At the end the server must be the same
process, have written no crash report, have always answered, and have its memory back to normal.
"""
import glob
import os
import struct
import subprocess
import sys

from programs import SPECS
from resp import Error
from server import ROOT, Server, Tap, until

MUTANTS = int(os.environ.get("MUTANTS", "200000"))
SEED = int(os.environ.get("SEED", "1"))
MUTATE = os.environ.get("TAMIS_MUTATE", os.path.join(ROOT, "build", "tests", "redis", "mutate"))
RESTORE, LOAD, BF_CHUNKS, CF_CHUNKS = range(4)
MAX_SEED, TOLERANCE = 3000, 256 << 10

tap = Tap()


def memory(client, name="used_memory"):
    info = client.must("INFO", "memory").decode()
    return int(next(line.split(":")[1] for line in info.split("\r\n") if line.startswith(name + ":")))


def items(n):
    return [f"item-{i}" for i in range(n)] + [str(i) for i in range(n)]


def make_filters(client):
    """Small filters of every kind; the names of those that could be made."""
    commands = [["TAMIS.CREATE", f"s{i}", spec] for i, spec in enumerate(SPECS)]
    commands += [["BF.RESERVE", "bf", "0.01", "20"], ["BF.RESERVE", "bn", "0.01", "90", "NONSCALING"],
                 ["CF.RESERVE", "cf", "64"], ["CMS.INITBYDIM", "cms", "20", "3"]]
    commands += [["TAMIS.ADD", f"s{i}", *items(12)] for i in range(len(SPECS))]
    commands += [["TAMIS.PUT", f"s{i}", "a", "1", "b", "7"] for i in range(len(SPECS))]
    commands += [["BF.MADD", "bf", *items(30)], ["BF.MADD", "bn", *items(20)], ["CF.INSERT", "cf", "ITEMS", *items(15)],
                 ["CMS.INCRBY", "cms", "a", "3", "b", "1"]]
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "**", "*.tamis"), recursive=True)):
        with open(path, "rb") as file:
            image = file.read()
        if len(image) <= MAX_SEED:
            commands.append(["TAMIS.LOAD", "g-" + os.path.basename(path), "0", len(image), image])
    client.pipeline(commands)
    return sorted(client.must("KEYS", "*"))


def chunks(client, family, key):
    parts, at = [], 0
    while len(parts) < 9:
        reply = client.do(family + ".SCANDUMP", key, at)
        if isinstance(reply, Error) or not reply[1]:
            break
        at = reply[0]
        parts.append((at, reply[1]))
        if at == 0:
            break
    return parts


def record(way, parts):
    return struct.pack("<II", way, len(parts)) + b"".join(struct.pack("<QI", i, len(b)) + b for i, b in parts)


def foreign_chunks():
    """What RedisBloom itself wrote, as chunks."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "vectors", "redisbloom", "*.chunk*.iter*.bin"))):
        name, _, rest = os.path.basename(path).partition(".chunk")
        with open(path, "rb") as file:
            found.setdefault(name, []).append((int(rest.split("iter")[1].split(".")[0]), file.read()))
    return [(CF_CHUNKS if name.startswith("cf") else BF_CHUNKS, parts) for name, parts in sorted(found.items())]


def make_seeds(client, path):
    counts = [0] * 4
    with open(path, "wb") as file:
        def write(way, parts):
            if parts and len(parts) <= 8 and sum(len(b) for _, b in parts) <= 2 * MAX_SEED:
                file.write(record(way, parts))
                counts[way] += 1
        for way, parts in foreign_chunks():
            write(way, parts)
        for path_of_dump in sorted(glob.glob(os.path.join(ROOT, "tests", "vectors", "redisbloom", "*.rdbdump.bin"))):
            with open(path_of_dump, "rb") as dump:
                write(RESTORE, [(0, dump.read())])
        for key in make_filters(client):
            write(RESTORE, [(0, client.must("DUMP", key))])
            image = client.do("TAMIS.DUMP", key, 0)
            if not isinstance(image, Error):
                write(LOAD, [(0, image[2])])
            write(BF_CHUNKS, chunks(client, "BF", key))
            write(CF_CHUNKS, chunks(client, "CF", key))
    client.must("FLUSHALL")
    return counts


def run(server, seeds):
    client = server.client()
    client.must("TAMIS.CREATE", "good", "blocked:capacity=1000")
    client.must("TAMIS.HADD", "good", b"AAAAAAAA")
    warm = subprocess.run([MUTATE, str(server.port), seeds, "640", str(SEED + 1000)], capture_output=True, text=True)
    client.must("DEL", "n")
    until(lambda: client.must("INFO", "clients").decode().count("connected_clients:1\r"), 10, "the other is gone")
    before = memory(client)
    ran = subprocess.run([MUTATE, str(server.port), seeds, str(MUTANTS), str(SEED)], capture_output=True, text=True)
    tap.check(warm.returncode == ran.returncode == 0, f"{MUTANTS} mutants, and the server answered after every 64 {ran.stderr}")
    if server.process.poll() is not None:
        return before, 0, ran.stdout
    client.must("DEL", "n")
    until(lambda: client.must("INFO", "clients").decode().count("connected_clients:1\r"), 10, "the other is gone")
    until(lambda: memory(client) < before + TOLERANCE or not memory(client, "lazyfree_pending_objects"), 10, "all is freed")
    return before, memory(client), ran.stdout


def main():
    with Server("--rdbcompression", "no", "--maxmemory", "1gb", arguments=("max-filter-bytes", "67108864")) as server:
        pid = server.process.pid
        seeds = os.path.join(server.folder, "seeds")
        client = server.client()
        counts = make_seeds(client, seeds)
        client.close()
        before, after, told = run(server, seeds)
        tap.check(server.process.poll() is None and server.process.pid == pid, "no restart")
        tap.check("crashed by signal" not in server.log() and "ASSERTION" not in server.log(), "no crash report")
        tap.check(after < before + TOLERANCE, f"memory is back: {before} bytes before, {after} afterwards")
        total = 0
        for name, n, row in zip(("RESTORE", "TAMIS.LOAD", "BF.LOADCHUNK", "CF.LOADCHUNK"), counts, told.splitlines()):
            _, refused, taken = row.split()
            total += int(refused) + int(taken)
            print(f"# {name}: {n} seeds, {refused} mutants refused, {taken} let in")
        print(f"# {told.splitlines()[-1].split()[1] if told else 0} commands on those that were let in")
        tap.equal(total, MUTANTS, f"{MUTANTS} verdicts; seed {SEED}")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
