#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tamis_stream.py: docs/reconcile.md once more, in another language.

Makes the symbols of a set, reads a stream that was written one way, and finds what differs. Slow and
plain; shares nothing with the library.

    tests/python/tamis_stream.py FILE [HASH...]     what a stream has and these hashes (hexadecimal) lack

"""
import math
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from hashes import sip13, sip24, xxh3

M64 = (1 << 64) - 1
MAGIC = b"\x93TALK\r\n\x01"
HELLO, DIGEST, SYMBOLS, END = 1, 2, 3, 8


class Keys:
    """Four keyed hashes from one key of 16 bytes."""

    def __init__(self, key):
        self.uses = {use: b"".join(struct.pack("<Q", sip24(key, bytes([use, half]))) for half in (0, 1))
                     for use in (1, 2, 3, 4)}

    def of(self, use, hash64):
        return sip13(self.uses[use], struct.pack("<Q", hash64))

    def check(self, hash64):
        return self.of(1, hash64) & ((1 << 40) - 1)

    def way(self, hash64, end):
        """The symbols before `end` that cover a hash."""
        state, at = self.of(2, hash64) | 1, 0
        while at < end:
            yield at
            state = state * 0xDA942042E4DD58B5 & M64
            u = ((state >> 12) + 0.5) * 2.0 ** -52
            at += int((at + 1.5) * (1 / math.sqrt(u) - 1)) + 1

    def digest(self, hashes):
        return [sum(self.of(use, h) for h in hashes) & M64 for use in (3, 4)]


def symbols(key, hashes, n):
    """[sum, check, count] of the first n symbols of a set."""
    keys = Keys(key)
    made = [[0, 0, 0] for _ in range(n)]
    for h in hashes:
        for i in keys.way(h, n):
            made[i][0] ^= h
            made[i][1] ^= keys.check(h)
            made[i][2] += 1
    return made


def peel(key, theirs, own):
    """What only they have, what only we have, and whether that is all."""
    keys, n = Keys(key), len(theirs)
    cells = [[a ^ c, b ^ d, e - f] for (a, b, e), (c, d, f) in zip(theirs, symbols(key, own, n))]
    only = {1: set(), -1: set()}
    waiting = list(range(n))
    while waiting:
        total, check, count = cells[waiting.pop()]
        if abs(count) != 1 or keys.check(total) != check:
            continue
        only[count].add(total)
        for i in keys.way(total, n):
            cells[i] = [cells[i][0] ^ total, cells[i][1] ^ check, cells[i][2] - count]
            waiting.append(i)
    return only[1], only[-1], not any(any(cell) for cell in cells)


def frames(data):
    """Type and body of each, every sum checked."""
    if data[:8] != MAGIC:
        raise ValueError("not a stream")
    at, number = 8, 0
    while at < len(data):
        head = data[at:at + 6]
        length = int.from_bytes(head[1:4], "little")
        body = data[at + 6:at + 6 + length]
        if struct.unpack("<H", head[4:])[0] != xxh3(head[:4]) & 0xFFFF:
            raise ValueError(f"frame {number}: its header is damaged")
        total = struct.unpack("<I", data[at + 6 + length:at + 10 + length])[0]
        if total != xxh3(struct.pack("<Q", number) + head + body) & 0xFFFFFFFF:
            raise ValueError(f"frame {number} is damaged")
        yield head[0], body
        at, number = at + 10 + length, number + 1


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def read(data):
    """Key, size, digest and symbols of a stream that was written one way."""
    key = size = digest = None
    found = []
    for kind, body in frames(data):
        if kind == HELLO:
            key = b"".join(struct.pack("<Q", sip24(body[4:20], bytes(16) + bytes([half]))) for half in (0, 1))
            size = struct.unpack("<Q", body[20:28])[0]
        elif kind == DIGEST:
            digest = list(struct.unpack("<QQ", body))
        elif kind == SYMBOLS:
            at = 0
            while at < len(body):
                total, check = struct.unpack("<Q", body[at:at + 8])[0], int.from_bytes(body[at + 8:at + 13], "little")
                folded, at = varint(body, at + 13)
                i = len(found)
                expected = (2 * size + (i + 2) // 2) // (i + 2)
                found.append([total, check, expected + (folded >> 1 ^ -(folded & 1))])
        elif kind == END:
            break
    return key, size, digest, found


def main():
    with open(sys.argv[1], "rb") as file:
        key, size, _, found = read(file.read())
    own = [int(text, 16) for text in sys.argv[2:]]
    theirs, ours, whole = peel(key, found, own)
    print(f"{size} hashes there, {len(own)} here{'' if whole else '; only a part came out'}")
    for sign, only in (("+", theirs), ("-", ours)):
        for h in sorted(only):
            print(f"{sign}{h:016x}")


if __name__ == "__main__":
    main()
