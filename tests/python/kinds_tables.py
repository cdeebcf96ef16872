# SPDX-License-Identifier: MIT
"""Kinds that store fingerprints: dleft, cuckoo and compaction in buckets and slots; quotient,
multiset and grow in runs."""

from math import comb

from payload import (Fields, Kind, chain_numbers, mix, need, need_clear, need_range, number_at,
                     rest, scale, whole_words)


def split_hash(h, n, most):
    """One of n places, and a fingerprint from 1 to most."""
    return scale(h, n), 1 + scale(rest(h, n), most)


def need_table(n, least, width, min_width):
    need_range(min_width, width, 44, "width")
    need(least <= n <= 2**60 >> width, "too few or too many places")


class Dleft(Kind):
    name, words = "dleft", ("buckets", "remainder")

    def shape(self):
        need_table(self.buckets, 1, self.remainder, 4)
        self.width, self.cells = self.remainder + 2, 32 * self.buckets
        return 8 + whole_words(self.cells * self.width)

    def open(self, payload):
        self.table = Fields(payload, self.width, self.cells, 64)
        need_clear(payload, 64 + self.cells * self.width)
        used = number_at(payload, 0)
        need(used == self.table.in_use() and used <= 24 * self.buckets, "used")
        for cell in self.table:
            r, count = self.parts(cell)
            need(cell == 0 or r and count, "half a cell")

    def parts(self, cell):
        return cell & 2**self.remainder - 1, cell >> self.remainder

    def places(self, h):
        q, r = split_hash(h, self.buckets, 2**self.remainder - 1)
        return r, [t * self.buckets + (q + scale(mix(4 * r + t), self.buckets)) % self.buckets
                   for t in range(4)]

    def count(self, h):
        wanted, buckets = self.places(h)
        for bucket in buckets:
            for s in range(8):
                r, count = self.parts(self.table[8 * bucket + s])
                if r == wanted:
                    return count
        return 0

    def has(self, h):
        return self.count(h) > 0


# ---- Cuckoo --------------------------------------------------------------------------------------

def nibbles_of(rank):
    """The four ascending nibbles of a sorted bucket."""
    nibbles = []
    for k in (4, 3, 2, 1):
        n = max(n for n in range(16) if comb(n + k - 1, k) <= rank)
        rank -= comb(n + k - 1, k)
        nibbles.insert(0, n)
    return nibbles


class Cuckoo(Kind):
    name, words = "cuckoo", ("buckets", "fingerprint", "sort")

    def shape(self):
        need_range(0, self.sort, 1, "sort")
        need_table(self.buckets, 2, self.fingerprint, 4 + self.sort)
        self.width = 4 * (self.fingerprint - self.sort)
        return 72 + whole_words(self.buckets * self.width)

    def open(self, payload):
        self.table = Fields(payload, self.width, self.buckets, 72 * 8)
        need_clear(payload, 72 * 8 + self.buckets * self.width)
        stash = [number_at(payload, 8 + 8 * i) for i in range(8)]
        self.stash = [entry for entry in stash if entry]
        need(self.stash == stash[:len(self.stash)], "a hole in the stash")
        for entry in self.stash:
            need(entry >> self.fingerprint < self.buckets, "bucket in the stash")
            need(entry & 2**self.fingerprint - 1, "fingerprint in the stash")
        cells = [self.cells(i) for i in range(self.buckets)]
        used = sum(cell != 0 for bucket in cells for cell in bucket) + len(self.stash)
        spare = min(4, self.buckets // 4)
        need(number_at(payload, 0) == used <= 19 * (self.buckets - spare) // 5, "used")

    def cells(self, i):
        bucket, f = self.table[i], self.fingerprint
        if not self.sort:
            return [bucket >> s * f & 2**f - 1 for s in range(4)]
        rank = bucket & 4095
        need(rank <= 3875, "rank of a bucket")
        nibbles = nibbles_of(rank)
        cells = [(bucket >> 12 + s * (f - 4) & 2**(f - 4) - 1) << 4 | nibbles[s] for s in range(4)]
        need(all(a & 15 < b & 15 or a <= b for a, b in zip(cells, cells[1:])), "cells out of order")
        return cells

    def places(self, h):
        i, v = split_hash(h, self.buckets, 2**self.fingerprint - 1)
        return v, (i, (scale(mix(v), self.buckets) - i) % self.buckets)

    def has(self, h):
        v, both = self.places(h)
        return any(v in self.cells(b) or b << self.fingerprint | v in self.stash for b in both)


# ---- Compaction ----------------------------------------------------------------------------------

class Compaction(Kind):
    name, words = "compaction", ("slots", "signature", "probing")

    def shape(self):
        need_table(self.slots, 2, self.signature, 2)
        need_range(0, self.probing, 2, "probing")
        return 8 + whole_words(self.slots * self.signature)

    def open(self, payload):
        self.table = Fields(payload, self.signature, self.slots, 64)
        need_clear(payload, 64 + self.slots * self.signature)
        used = number_at(payload, 0)
        need(used == self.table.in_use() and used <= 9 * self.slots // 10, "used")

    def walk(self, h):
        slot, signature = split_hash(h, self.slots, 2**self.signature - 1)
        first, step = slot, 1 + scale(mix(2**64 - 1 - h), self.slots - 1)
        jumps = 0 if self.probing == 1 else 256
        yield slot, signature
        for k, x in enumerate(chain_numbers(mix(h)), 1):
            far, signature = split_hash(x, self.slots, 2**self.signature - 1)
            if self.probing == 2:
                far = (slot + step) % self.slots
                jumps = k - 1 if far == first and k <= jumps else jumps
            slot = far if k <= jumps else (slot + 1) % self.slots
            yield slot, signature

    def has(self, h):
        for slot, signature in self.walk(h):
            if self.table[slot] in (0, signature):
                return self.table[slot] != 0


# ---- Runs ----------------------------------------------------------------------------------------

class Runs(Kind):
    """The slots of quotient, multiset and grow: read once into `runs`, the slots of each home."""

    def runs_size(self, width):
        self.width = width
        self.blocks = (self.slots + min(self.slots, 256)) // 64
        self.offsets_size = whole_words(16 * self.blocks)
        return 8 + self.offsets_size + self.blocks * (16 + 8 * width)

    def read_runs(self, payload):
        offsets = payload[8:8 + self.offsets_size]
        need_clear(offsets, 16 * self.blocks)
        homes, ends, slots = [], [], []
        for b in range(self.blocks):
            at = 8 + self.offsets_size + b * (16 + 8 * self.width)
            block = payload[at:at + 16 + 8 * self.width]
            homes += [64 * b + i for i, bit in enumerate(Fields(block, 1, 64)) if bit]
            ends += [64 * b + i for i, bit in enumerate(Fields(block, 1, 64, 64)) if bit]
            slots += Fields(block, self.width, 64, 128)
        need(len(homes) == len(ends), "homes and runs are not equally many")
        need(not homes or homes[-1] < self.slots, "a home in the tail")

        self.runs, behind, behind_block = {}, 0, {}
        for home, end in zip(homes, ends):
            start = max(home, behind)
            need(start <= end, "a run ends before it starts")
            need(not any(slots[behind:start]), "a slot in no run is not empty")
            self.runs[home] = slots[start:end + 1]
            behind = behind_block[home // 64] = end + 1
        need(not any(slots[behind:]), "a slot in no run is not empty")
        reached = 0
        for b in range(self.blocks):
            need(number_at(offsets, 2 * b, 2) == max(0, reached - 64 * b), "offset of a block")
            reached = behind_block.get(b, reached)
        used = sum(map(len, self.runs.values()))
        need(number_at(payload, 0) == used <= 19 * self.slots // 20, "used")

    def split(self, h):
        return scale(h, self.slots), rest(h, self.slots) >> 64 - self.width


class Quotient(Runs):
    name, words = "quotient", ("slots", "remainder")
    min_remainder = 1

    def shape(self):
        need(64 <= self.slots <= 2**52 and self.slots % 64 == 0, "slots out of range")
        need_range(self.min_remainder, self.remainder, 40, "remainder")
        need(self.slots << self.remainder <= 2**63, "too many fingerprints")
        return self.runs_size(self.remainder)

    def open(self, payload):
        self.read_runs(payload)
        for run in self.runs.values():
            need(run == sorted(run), "a run is not in order")

    def has(self, h):
        home, value = self.split(h)
        return value in self.runs.get(home, ())


class Multiset(Quotient):
    name = "multiset"
    min_remainder = 2

    def open(self, payload):
        self.read_runs(payload)
        for home, run in self.runs.items():
            entries = read_entries(run, 2**self.width)
            need(entries == sorted(entries), "entries are not in order")
            self.runs[home] = dict(entries)
            need(len(entries) == len(self.runs[home]), "a value has two entries")
            written = [slot for x, count in entries for slot in entry(x, count, 2**self.width)]
            need(run == written, "an entry is not written as it must be")

    def has(self, h):
        return self.count(h) > 0

    def count(self, h):
        home, value = self.split(h)
        return self.runs.get(home, {}).get(value, 0)


def digits_of(number, base):
    return (digits_of(number // base, base) if number >= base else []) + [number % base]


def number_of(digits, base):
    number = 0
    for digit in digits:
        number = number * base + digit
    return number


def entry(x, count, top):
    """The slots of a value that is there `count` times; top is 2^r."""
    if count <= 2:
        return [x] * count
    if count == 3:
        return [x, 0, x]
    if x == 0:
        return [0] + [d + 1 for d in digits_of(count - 4, top - 1)] + [0, 0]
    digits = [d + 1 if d + 1 < x else d + 2 for d in digits_of(count - 3, top - 2)]
    return [x] + [0] * (digits[0] > x) + digits + [x]


def read_entries(run, top):
    entries, at = [], 0
    while at < len(run):
        x, count, size = read_entry(run[at], run[at + 1:], top)
        need(count < 2**64, "a count above 2^64 - 1")
        entries.append((x, count))
        at += size
    return entries


def read_entry(x, behind, top):
    """A value, its count and how many slots both take."""
    if x == 0:
        if behind[:1] == [0]:
            count = 3 if behind[1:2] == [0] else 2
            return x, count, count
        for i in range(len(behind) - 1):
            if behind[i] == behind[i + 1] == 0:
                return x, 4 + number_of([d - 1 for d in behind[:i]], top - 1), i + 3
        return x, 1, 1
    if not behind or behind[0] > x:
        return x, 1, 1
    if behind[0] == x:
        return x, 2, 2
    first = 1 if behind[0] == 0 else 0
    need(x in behind[first:], "an entry without an end")
    last = behind.index(x, first)
    digits = [d - 1 if d < x else d - 2 for d in behind[first:last]]
    need(all(d >= 0 for d in digits), "a digit that is 0")
    return x, 3 + number_of(digits, top - 2), last + 2


def ended(slot):
    """Bits up to and with the 1 that ends the fingerprint of a slot of grow."""
    return (slot & -slot).bit_length()


class Grow(Runs):
    name, words = "grow", ("slots", "width", "doublings", "spread")

    def shape(self):
        need_range(0, self.doublings, 46, "doublings")
        need_range(0, self.spread, 1, "spread")
        need_range(64, self.slots, 2**52, "slots")
        need(self.slots % (64 << self.doublings) == 0, "slots were not doubled so often")
        longer = ((self.doublings + 1)**2 - 1).bit_length()
        need_range(2, self.width - longer, 51, "width")
        return 8 + self.runs_size(self.width)

    def open(self, payload):
        self.read_runs(payload[8:])
        for run in self.runs.values():
            need(all(run), "an empty slot in a run")
            need(run == sorted(run, key=lambda s: (s & s - 1, -(s & -s))), "a run is not in order")
        voids = sum(run.count(2**(self.width - 1)) for run in self.runs.values())
        keys = number_at(payload, 0)
        need(keys <= voids and (keys > 0) == (voids > 0), "void keys")

    def has(self, h):
        home, value = self.split(mix(h) if self.spread else h)
        return any(slot >> ended(slot) == value >> ended(slot) for slot in self.runs.get(home, ()))
