#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random filters of LevelDB and RocksDB to make, as the lines that peer.c describes.

    kv_wishes.py leveldb|fast|legacy|odd|table COUNT SEED

Their sizes follow from the keys themselves, so that capacity is how many there are. "how" says how many
thousandths of bits a key has, and the rule. `odd` gives bytes in place of keys: filters that nobody
writes, but that RocksDB reads. `table` is for files: its keys are sorted, all different, and at least
one.
"""
import random
import sys


def key(r):
    n = r.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 129, 200, 241, 300, 1100])
    if r.randrange(3) == 0:
        return ("key-%d" % r.randrange(100000)).encode()
    if r.randrange(3) == 0:
        return r.randbytes(r.randrange(20))
    return r.randbytes(n if r.randrange(8) == 0 else n % 40)


def odd(r):
    lines = r.randrange(1, 5)
    bits = bytes(r.getrandbits(8) | r.getrandbits(8) for _ in range(r.choice([64 * lines, 128, 256, 100, 192])))
    meta = r.choice([[255, 0, r.randrange(32), 0, 0], [255, 0, r.randrange(256), 0, 0],
                     [255, r.randrange(2), r.randrange(1, 31), r.randrange(2), r.randrange(2)],
                     [r.randrange(1, 128), r.choice([0, 1, 2, 3, 4, 5, 64]), 0, 0, 0],
                     [r.choice([0, 128, 200, 253]), 1, 2, 3, 4]])
    b = bits[: r.choice([len(bits)] * 6 + [0])] + bytes(meta[: r.choice([5] * 6 + [3])])
    return b if b[-5:-4] != b"\xfe" else odd(r)  # a Ribbon is of another kind


def main():
    what, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    r = random.Random(seed)
    for _ in range(count):
        n = r.choice([0, 1, 1, 2, r.randrange(20), r.randrange(200), r.randrange(4000)])
        added = [key(r) for _ in range(n)]
        if what != "leveldb":
            added = sorted(set(added)) or ([key(r)] if what == "table" else [])
        r.randrange(5) or what == "table" or r.shuffle(added)
        millibits = r.choice([1000 * r.randrange(1, 40), 10000, r.randrange(1000, 30000), r.randrange(1000, 100001)])
        if what == "leveldb":
            millibits = 1000 * r.choice([1, 10, 10, 16, 44, r.randrange(1, 100)])
        spec = {"leveldb": "leveldb:capacity=%d,bits_per_key=%d" % (len(added), millibits // 1000),
                "fast": "rocksdb:capacity=%d,millibits=%d" % (len(added), millibits),
                "legacy": "rocksdb:capacity=%d,millibits=%d,rule=legacy" % (len(added), millibits)}.get(what)
        print("case", {"leveldb": "leveldb", "table": "table"}.get(what, "rocksdb"))
        print("how", millibits, what, r.getrandbits(32))
        if what == "odd":
            print("bytes", odd(r).hex())
            added = []
        elif spec and (added or what == "leveldb"):
            print("spec", spec)
        for k in added:
            print("add", k.hex())
        for k in r.sample(added, min(len(added), 40)) + [key(r) for _ in range(80)]:
            print("ask 0", k.hex())
        print("end")


main()
