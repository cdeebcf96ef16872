#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Patches, read as section 12 of docs/format.md says and not as the library does it.

    tamis_patch.py BASE PATCH >RESULT
"""

import struct
import sys

from hashes import xxh3
from payload import Refused, need

MAGIC = b"\xd6patch\x1a\n"
SEAL_MAGIC = b"\xd6seal\x01\x1a\n"
HEADER, LINE, SEAL = 64, 64, 200


class Chance:
    def __init__(self):
        self.yes, self.seen = 1 << 23, 0

    def learn(self, yes):
        if yes:
            self.yes += ((1 << 24) - self.yes) // (self.seen + 2)
        else:
            self.yes -= self.yes // (self.seen + 2)
        self.seen = min(self.seen + 1, 254)


class Fixed(Chance):
    def learn(self, yes):
        pass


class Decisions:
    def __init__(self, body):
        self.body, self.at, self.range, self.code = body, 0, 2**32 - 1, 0
        self.left = [[Chance() for _ in range(3)] for _ in range(9)]
        self.right = [[Chance() for _ in range(3)] for _ in range(9)]
        self.length = [Chance() for _ in range(64)]
        self.upper = [[Chance() for _ in range(4)] for _ in range(64)]
        for _ in range(4):
            self.shift()

    def shift(self):
        need(self.at < len(self.body), "the body ends too early")
        self.code = (self.code << 8 | self.body[self.at]) & 0xFFFFFFFF
        self.at += 1

    def decide(self, chance):
        part = (self.range >> 16) * (chance.yes >> 8 | 1)
        yes = self.code < part
        if yes:
            self.range = part
        else:
            self.code -= part
            self.range -= part
        while self.range < 1 << 24:
            self.shift()
            self.range <<= 8
        chance.learn(yes)
        return int(yes)

    def tree(self, chances, bits):
        node = 1
        for _ in range(bits):
            node = 2 * node + self.decide(chances[node])
        return node

    def number(self):
        length = self.tree(self.length, 6) - 64
        upper = min(length, 2)
        value = self.tree(self.upper[length], upper)
        for _ in range(length - upper):
            value = 2 * value + self.decide(Fixed())
        return value - 1

    def part(self, first=0, level=0, origin=0):
        """The changed bits, as a number."""
        if level == 9:
            return 1 << first
        half = 256 >> level
        left = self.decide(self.left[level][origin])
        right = self.decide(self.right[level][origin]) if left else 1
        bits = self.part(first, level + 1, 1 if right else 0) if left else 0
        return bits | (self.part(first + half, level + 1, 2 if left else 0) if right else 0)


def changed(base, size, body):
    lines = -(-size // LINE)
    result = bytearray(base[:size].ljust(lines * LINE, b"\0"))
    decisions, line = Decisions(body), 0
    while line < lines:
        line += decisions.number()
        need(line <= lines, "a line behind the end")
        if line == lines:
            break
        at = line * LINE
        bits = int.from_bytes(result[at:at + LINE], "little") ^ decisions.part()
        result[at:at + LINE] = bits.to_bytes(LINE, "little")
        line += 1
    need(decisions.at == len(body) and decisions.code == 0, "the body does not end where it should")
    need(not any(result[size:]), "a bit behind the end")
    return bytes(result[:size])


def seal_of(patch):
    """The seal of a signed patch, or nothing."""
    seal = patch[-SEAL:]
    return seal if len(seal) == SEAL and seal.startswith(SEAL_MAGIC) else b""


def apply(base, patch):
    patch = patch[:len(patch) - len(seal_of(patch))]
    need(len(patch) >= HEADER and patch.startswith(MAGIC), "not a patch")
    version, coding, zero = struct.unpack_from("<HB5s", patch, 8)
    base_size, result_size, base_sum, result_sum, body_size, sum_ = struct.unpack_from("<6Q", patch, 16)
    body = patch[HEADER:]
    need(version == 1 and coding <= 1 and not any(zero), "the header")
    need(len(body) == body_size and xxh3(body + patch[:56]) == sum_, "the patch's checksum")
    need(len(base) == base_size and xxh3(base) == base_sum, "another base")
    need(body_size == result_size if coding == 0 else result_size // 4 <= base_size + len(patch), "the sizes")
    result = changed(base, result_size, body) if coding else body
    need(xxh3(result) == result_sum, "the result's checksum")
    return result


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as b, open(sys.argv[2], "rb") as p:
        try:
            sys.stdout.buffer.write(apply(b.read(), p.read()))
        except Refused as why:
            sys.exit(f"refused: {why}")
