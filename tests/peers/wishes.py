#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random filters for both sides to make, as the lines that peer.c describes, without answers.

    wishes.py FORMAT SPEC HOW COUNT SEED [least=N] [lines]

In FORMAT, SPEC and HOW, {n} stands for the capacity, {p} for the rate and {seed} for 64 bits. With
least=N no capacity is below N; with `lines` no key has a byte that ends a line.
"""
import random
import sys


def capacity(r, least):
    n = r.choice([0, 1, 2, r.randrange(20), r.randrange(200), r.randrange(200), r.randrange(4000)])
    return max(n, least) if r.randrange(3) else n + least


def rate(r):
    some = ["0.5", "0.1", "0.05", "0.01", "0.001", "0.0001", "0.000001", "0.000000001"]
    return r.choice(some + ["%.6f" % r.uniform(0.001, 0.6), "%.9f" % r.uniform(0.000001, 0.01)])


def key(r, lines):
    n = r.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, r.randrange(100)])
    k = r.randbytes(n)
    if r.randrange(4) == 0:
        k = ("key-%d" % r.randrange(100000)).encode()
    elif r.randrange(4) == 0:
        k = "".join(chr(r.randrange(0x21, 0x3000)) for _ in range(n // 3)).encode()
    return k.replace(b"\n", b"n").replace(b"\r", b"r") if lines else k


def main():
    template, spec, how, count, seed = sys.argv[1:6]
    more = sys.argv[6:]
    least = max([int(m[6:]) for m in more if m.startswith("least=")] + [0])
    lines = "lines" in more
    r = random.Random(int(seed))
    for _ in range(int(count)):
        n = capacity(r, least)
        words = {"n": n, "p": rate(r), "seed": r.choice([0, 1, 9001, r.getrandbits(64)])}
        added = [key(r, lines) for _ in range(r.choice([0, 1, n, n // 2, min(2 * n, 50)]) % 4001)]
        asked = r.sample(added, min(len(added), 40)) + [key(r, lines) for _ in range(80)]
        print("case", template.format(**words))
        print("how", how.format(**words))
        print("spec", spec.format(**words))
        for k in added:
            print("add", k.hex())
        for k in asked:
            print("ask 0", k.hex())
        print("end")


main()
