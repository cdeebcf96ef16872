# SPDX-License-Identifier: MIT
"""Kinds in which a key's bits are the sum of a few places of a table: fuse and bloomier with peeled
arrays; ribbon, bloomier and cascade with bands."""

from functools import reduce
from operator import xor

from payload import (G, M64, Fields, Segmented, mix, need, need_clear, need_range, number_at, rest,
                     scale, whole_words)

# ---- The peeled array ----------------------------------------------------------------------------

LOGS = {
    3: (3, 9, 28, 92, 304, 1010, 3362, 11193, 37273, 124118, 413310, 4583150, 15261887),
    4: (15, 43, 123, 356, 1036, 3015, 25527, 74281, 216158, 629017, 5326579, 15500344, 45106001),
}
FACTORS = {
    3: (23994, 23994, 13789, 10388, 8687, 7666, 6986, 6500, 6136, 5852, 5625, 5440,
        5285, 5154, 5042, 4945, 4860, 4785, 4718, 4659, 4608, 4608, 4588),
    4: (27134, 27134, 15144, 11148, 9149, 7950, 7151, 6580, 6152, 5819, 5552, 5334,
        5153, 4999, 4867, 4753, 4653, 4565, 4487, 4416, 4404, 4380, 4363),
}


def strips_of(n, arity, seed):
    """How many strips a peeled array of n keys has, and the logarithm of their size."""
    if n == 0:
        return 0, 0
    log = sum(least <= n for least in LOGS[arity]) + 2
    k, factors = n.bit_length() - 1, FACTORS[arity]
    f = factors[22] if k >= 22 else factors[k] - (factors[k] - factors[k + 1]) * (n - 2**k) // 2**k
    cells = n * f // 4096 + 1
    cells += cells * (seed // 8) // 50
    return max(1, (cells - 1) // 2**log + 1 - (arity - 1)), log


class Peeled:
    """Cells of `width` bits; behind them, when slot is not 0, as many slots of so many bits."""

    def __init__(self, data, segments, arity, width, slot=0):
        self.segments, self.arity = segments, arity
        need(len(data) >= 24, "a segment is too short")
        self.keys, self.seed = number_at(data, 0), number_at(data, 8)
        need(self.keys < 2**30, "keys of a segment")
        need(self.seed < (64 if self.keys else 1), "seed of a segment")
        self.strips, self.log = strips_of(self.keys, arity, self.seed)
        need(number_at(data, 16) == 256 * self.strips + self.log, "strips")
        count = (self.strips + arity - 1) << self.log if self.keys else 0
        slots_at = 24 + whole_words(count * width)
        need(len(data) == slots_at + whole_words(count * slot), "size of a segment")
        self.cells = Fields(data, width, count, 24 * 8)
        self.slots = Fields(data, slot, count, slots_at * 8)
        need_clear(data[:slots_at], 24 * 8 + count * width)
        need_clear(data, slots_at * 8 + count * slot)

    def mixed(self, h):
        x = rest(h, self.segments) + self.seed * G & M64
        return x, mix(x)

    def places(self, h):
        x, m = self.mixed(h)
        s = scale(x, self.strips)
        return [(s + j << self.log) + (m >> 16 * j & (1 << self.log) - 1)
                for j in range(self.arity)]

    def fingerprint(self, h, width):
        _, m = self.mixed(h)
        return (m * 0xF1357AEA2E62A9C5 & M64) >> 64 - width

    def row(self, h):
        return reduce(xor, (self.cells[at] for at in self.places(h)))


# ---- The band ------------------------------------------------------------------------------------

class Layer:
    """One layer of a band: its header, and how many bytes of the band it has."""

    def __init__(self, header, columns, narrow):
        self.blocks, self.seed = number_at(header, 0, 4), number_at(header, 4, 4)
        self.bucket = number_at(header, 8, 2)
        self.thresholds = tuple(number_at(header, at, 2) for at in (8, 10, 12, 14))
        need_range(1, self.blocks, 2**26, "blocks of a layer")
        need_range(0, self.bucket, 11, "bucket of a layer")
        _, t1, t2, t3 = self.thresholds
        if self.bucket:
            need(0 < t1 < t2 < t3 == 1 << self.bucket, "thresholds of a layer")
        else:
            need(t1 == t2 == t3 == 0, "thresholds without buckets")
        self.starts = 64 * self.blocks - 63
        self.buckets = (self.starts - 1 >> self.bucket) + 1 if self.bucket else 0
        self.columns = columns
        self.narrow_blocks = scale(narrow << 48, self.starts) // 64
        self.size = whole_words(2 * self.buckets) + self.block_at(self.blocks)

    def block_at(self, j):
        """Where block j starts, in bytes from block 0 on."""
        return 8 * (j * self.columns - min(j, self.narrow_blocks))

    def open(self, data, is_last):
        blocks_at = whole_words(2 * self.buckets)
        self.classes = Fields(data, 2, self.buckets)
        need_clear(data[:blocks_at], 2 * self.buckets)
        need(is_last or self.bucket, "a layer without buckets above another")
        need(not is_last or not any(self.classes), "the last layer bumps")
        self.data = data[blocks_at:]

    def enter(self, x):
        return mix(x ^ (self.seed + 1) * G & M64)

    def start(self, x):
        return scale(x, self.starts)

    def coefficients(self, x):
        return mix(x + G & M64) | 1

    def bumps(self, x):
        start = self.start(x)
        class_ = self.classes[start >> self.bucket] if self.bucket else 0
        return class_ and start % 2**self.bucket < self.thresholds[class_]

    def column(self, k, row):
        """Column k of 64 rows from this row on, of which it may lack those of narrow blocks."""
        j, by = divmod(row, 64)
        both = self.word(j, k) | self.word(j + 1, k) << 64
        return both >> by & M64

    def word(self, j, k):
        if j >= self.blocks or k >= self.columns - (j < self.narrow_blocks):
            return 0
        return number_at(self.data, self.block_at(j) + 8 * k)

    def bit(self, k, x):
        return (self.column(k, self.start(x)) & self.coefficients(x)).bit_count() & 1


class Band:
    """Rows of `value` and `guard` bits, in layers that take what the one before has bumped."""

    def __init__(self, data, value, guard, narrow=0, salt=0):
        self.value, self.guard, self.narrow, self.salt = value, guard, narrow, salt
        need(len(data) >= 8, "a band is too short")
        self.keys, count = number_at(data, 0, 4), number_at(data, 4, 4)
        need(self.keys < 2**31, "keys of a band")
        need_range(0, count, 16, "layers")
        need((self.keys == 0) == (count == 0), "keys and layers")
        need(len(data) >= 8 + 16 * count, "a band is too short")
        self.layers = [Layer(data[at:at + 16], value + guard, narrow)
                       for at in range(8, 8 + 16 * count, 16)]
        need(len(data) == 8 + sum(16 + layer.size for layer in self.layers), "size of a band")
        at = 8 + 16 * count
        for layer in self.layers:
            layer.open(data[at:at + layer.size], layer is self.layers[-1])
            at += layer.size

    def find(self, h):
        """The layer of a hash and its x there; None when it has none."""
        x = h ^ self.salt
        for layer in self.layers:
            x = layer.enter(x)
            if not layer.bumps(x):
                return layer, x
        return None

    def has(self, h):
        found = self.find(h)
        if not found:
            return False
        layer, x = found
        guard = self.guard - (x < self.narrow << 48)
        return all(layer.bit(self.value + i, x) == x >> i & 1 for i in range(guard))

    def get(self, h):
        """The value of a hash that it has; None for others."""
        if not self.has(h):
            return None
        layer, x = self.find(h)
        bits = sum(layer.bit(k, x) << k for k in range(self.value))
        return bits ^ (x * G & M64) >> 64 - self.value


# ---- Kinds ---------------------------------------------------------------------------------------

class Rows(Segmented):
    def segment_of(self, h):
        return self.opened[scale(h, self.segments)]


class Fuse(Rows):
    name, words = "fuse", ("segments", "bytes", "segment", "width", "arity")

    def shape(self):
        need_range(1, self.width, 32, "width")
        need_range(3, self.arity, 4, "arity")
        return self.frame()

    def open(self, payload):
        super().open(payload)
        self.keys = sum(segment.keys for segment in self.opened)

    def open_segment(self, i, data):
        return Peeled(data, self.segments, self.arity, self.width)

    def has(self, h):
        segment = self.segment_of(h)
        return segment.keys > 0 and segment.row(h) == segment.fingerprint(h, self.width)


class Ribbon(Rows):
    name, words = "ribbon", ("segments", "bytes", "segment", "width", "narrow")

    def shape(self):
        need_range(1, self.width, 32, "width")
        need_range(0, self.narrow, 65535, "narrow")
        return self.frame()

    def open_segment(self, i, data):
        return Band(data, 0, self.width, self.narrow)

    def has(self, h):
        return self.segment_of(h).has(h)


class Bloomier(Rows):
    name, words = "bloomier", ("segments", "bytes", "segment", "engine", "value", "guard", "update")

    def shape(self):
        need_range(0, self.engine, 1, "engine")
        need_range(1, self.value, 64, "value")
        need_range(0, self.guard, 32, "guard")
        need_range(0, self.update, self.engine, "update")
        return self.frame()

    def open(self, payload):
        super().open(payload)
        self.keys = sum(segment.keys for segment in self.opened)

    def open_segment(self, i, data):
        if self.engine == 0:
            return Band(data, self.value, self.guard)
        if self.update:
            return Peeled(data, self.segments, 4, 2 + self.guard, self.value)
        return Peeled(data, self.segments, 3, self.value + self.guard)

    def get(self, h):
        segment = self.segment_of(h)
        if segment.keys == 0:
            return None
        if self.engine == 0:
            return segment.get(h)
        low = 2 if self.update else self.value
        row = segment.row(h)
        if row >> low != segment.fingerprint(h, self.guard):
            return None
        number = row & (1 << low) - 1
        return segment.slots[segment.places(h)[number]] if self.update else number

    def has(self, h):
        return self.get(h) is not None


class Cascade(Rows):
    name, words = "cascade", ("segments", "bytes", "segment", "width", "narrow")

    def shape(self):
        need_range(0, self.width, 32, "width")
        need_range(0, self.narrow, 65535 if self.width else 0, "narrow")
        return self.frame()

    def open_segment(self, i, data):
        return Levels(data, self.width, self.narrow)

    def has(self, h):
        return self.segment_of(h).has(h)


SECOND_SALT = 0xD1B54A32D192ED03


class Levels:
    """A segment of a cascade: the members, then the members and whom the first level mistakes."""

    def __init__(self, data, width, narrow):
        need(len(data) >= 16, "a segment is too short")
        members, second_at = number_at(data, 0, 4), 8 + 8 * number_at(data, 4, 4)
        need(second_at <= len(data), "a segment is too short")
        need(width or second_at == 8, "a first level without width")
        self.first = Band(data[8:second_at], 0, width, narrow) if width else None
        self.second = Band(data[second_at:], 1, 0, 0, SECOND_SALT)
        need(not self.first or self.first.keys == members, "keys of the first level")
        need(self.second.keys >= members, "keys of the second level")
        need(members or not self.second.keys, "known-good keys without members")

    def has(self, h):
        return (not self.first or self.first.has(h)) and self.second.get(h) == 1
