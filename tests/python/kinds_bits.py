# SPDX-License-Identifier: MIT
"""Kinds whose payload is bits: classic, blocked, split, shard, universal; and those made of several arrays
of bits: window, scalable, layered, attenuated, hierarchical, retouched, composite."""

from kinds_tables import Compaction
from payload import (G, M32, M64, MAX_BITS, MAX_BYTES, Fields, Kind, chain, mix, need, need_clear,
                     need_range, number_at, ones, scale, whole_words)

SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
        0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
PRIME = 2**61 - 1


class Bits(Kind):
    """One array; the key's bits are at `positions`."""

    def open(self, payload):
        self.array = Fields(payload, 1, self.bits)
        need_clear(payload, self.bits)

    def has(self, h):
        return all(self.array[at] for at in self.positions(h))


class Classic(Bits):
    name, words = "classic", ("bits", "hashes", "scheme")

    def shape(self):
        need_range(1, self.bits, MAX_BITS, "bits")
        need_range(1, self.hashes, 64, "hashes")
        need_range(0, self.scheme, 6, "scheme")
        grain = 64 if 2 <= self.scheme <= 4 else self.hashes if self.scheme == 5 else 1
        need(self.bits % grain == 0, "bits not a multiple of the scheme's")
        return whole_words(self.bits)

    def positions(self, h):
        bits = self.bits
        if self.scheme == 0:  # mcg
            yield from chain(h, bits, self.hashes)
            return
        if self.scheme == 5:  # slices
            part = bits // self.hashes
            yield from (i * part + at for i, at in enumerate(chain(h, part, self.hashes)))
            return
        if self.scheme == 6:  # seeds
            yield from (scale(mix(h + (i + 1) * G & M64), bits) for i in range(self.hashes))
            return
        step = mix(h) | 1
        if self.scheme == 1:  # double64
            for i in range(self.hashes):
                yield scale((h + i * step) & M64, bits)
            return
        x, y, z = h % bits, step % bits, mix(step) % bits
        for i in range(self.hashes):
            yield x
            x = (x + y) % bits
            if self.scheme == 3:  # enhanced
                y = (y + i + 1) % bits
            elif self.scheme == 4:  # triple
                y = (y + z) % bits


class Blocked(Bits):
    name, words = "blocked", ("blocks", "hashes")

    def shape(self):
        need_range(1, self.blocks, 2**50, "blocks")
        need(1 <= self.hashes <= 8 or self.hashes == 16, "hashes out of range")
        self.bits = 512 * self.blocks
        return 64 * self.blocks

    def positions(self, h):
        base, x = 512 * scale(h, self.blocks), h & M32
        if self.hashes < 8:
            for _ in range(self.hashes):
                yield base + (x >> 23)
                x = x * 0x9E3779B9 & M32
            return
        for lane, salt in enumerate(SALT):
            t = x * salt & M32
            yield base + 64 * lane + (t >> 26)
            if self.hashes == 16:
                yield base + 64 * lane + (t >> 20 & 63)


class Split(Bits):
    name, words = "split", ("blocks", "index")

    def shape(self):
        need_range(0, self.index, 1, "index")
        need_range(1, self.blocks, 2**31 - 1 if self.index == 0 else 2**51, "blocks")
        self.bits = 256 * self.blocks
        return 32 * self.blocks

    def positions(self, h):
        block = (h >> 32) * self.blocks >> 32 if self.index == 0 else scale(h, self.blocks)
        for lane, salt in enumerate(SALT):
            yield 256 * block + 32 * lane + (((h & M32) * salt & M32) >> 27)


class Shard(Kind):
    """Some of the blocks of a filter that is cut into shards."""
    name, words = "shard", ("layout", "detail", "total", "shard", "shards")

    def shape(self):
        need_range(0, self.layout, 1, "layout")
        self.whole = (Blocked, Split)[self.layout]((self.total, self.detail))
        need_range(1, self.shards, min(2**32 - 1, self.total), "shards")
        need_range(0, self.shard, self.shards - 1, "shard")
        need(self.total <= self.shards * 2**29, "blocks of a shard")
        self.first = self.shard * self.total // self.shards
        self.end = (self.shard + 1) * self.total // self.shards
        return (self.end - self.first) * self.whole.size // self.total

    def open(self, payload):
        self.bits = Fields(payload, 1, 8 * len(payload))

    def has(self, h):
        block_bits = 8 * self.whole.size // self.total
        positions = list(self.whole.positions(h))
        if not self.first <= positions[0] // block_bits < self.end:
            return True
        return all(self.bits[p - self.first * block_bits] for p in positions)


class Universal(Bits):
    name, words = "universal", ("bits", "multiplier", "offset")

    def shape(self):
        need_range(1, self.bits, MAX_BITS, "bits")
        need_range(1, self.multiplier, PRIME - 1, "multiplier")
        need_range(0, self.offset, PRIME - 1, "offset")
        return whole_words(self.bits)

    def positions(self, h):
        yield (self.multiplier * (h % PRIME) + self.offset) % PRIME * self.bits >> 61


# ---- Several arrays ------------------------------------------------------------------------------

def need_array(bits, hashes, most=MAX_BITS):
    need_range(64, bits, most, "bits")
    need(bits % 64 == 0, "bits not a multiple of 64")
    need_range(1, hashes, 64, "hashes")


def hash_number(j, h):
    return mix((h + j * G) & M64) if j else h


class Array:
    """One of several arrays of a payload, with a chain of positions of its own."""

    def __init__(self, payload, at, bits, hashes):
        self.bytes, self.hashes = payload[at:at + bits // 8], hashes
        self.array = Fields(self.bytes, 1, bits)

    def has(self, s):
        return all(self.array[at] for at in chain(s, len(self.array), self.hashes))


class Layered(Kind):
    name, words = "layered", ("layer_bits", "hashes", "layers", "shrink")

    def shape(self):
        need_array(self.layer_bits, self.hashes)
        need_range(1, self.layers, 64, "layers")
        need_range(0, self.shrink, 90, "shrink")
        self.sizes = [self.layer_bits // 64]
        while len(self.sizes) < self.layers:
            self.sizes.append((self.sizes[-1] * (100 - self.shrink) + 99) // 100)
        return 8 * sum(self.sizes)

    def open(self, payload):
        self.arrays, at = [], 0
        for size in self.sizes:
            self.arrays.append(Array(payload, at, 64 * size, self.hashes))
            at += 8 * size

    def has(self, h):
        return self.arrays[0].has(h)

    def count(self, h):
        for j, array in enumerate(self.arrays):
            if not array.has(hash_number(j, h)):
                return j
        return self.layers


class Attenuated(Kind):
    name, words = "attenuated", ("level_bits", "hashes", "levels")

    def shape(self):
        need_array(self.level_bits, self.hashes)
        need_range(1, self.levels, 16, "levels")
        return self.levels * (self.level_bits // 8 + 8)

    def open(self, payload):
        size = self.level_bits // 8
        self.arrays = [Array(payload, i * size, self.level_bits, self.hashes)
                       for i in range(self.levels)]
        for i, array in enumerate(self.arrays):
            stored = number_at(payload, self.levels * size + 8 * i)
            need(stored == ones(array.bytes), "set bits of a level")

    def has(self, h):
        return any(array.has(h) for array in self.arrays)


class Hierarchical(Kind):
    name, words = "hierarchical", ("array_bits", "hashes", "block", "levels")

    def shape(self):
        need_array(self.array_bits, self.hashes)
        need_range(8, self.block, 4096, "block")
        need_range(1, self.levels, 16, "levels")
        return self.array_bits // 8 + 8

    def open(self, payload):
        self.array = Array(payload, 0, self.array_bits, self.hashes)
        self.longest = number_at(payload, self.array_bits // 8)
        need(self.longest <= 2**48, "a payload of over 2^48 bytes")

    def has(self, h):
        return self.array.has(h)


class Retouched(Kind):
    name, words = "retouched", ("array_bits", "hashes")

    def shape(self):
        need_array(self.array_bits, self.hashes, MAX_BITS // 2)
        return self.array_bits // 4

    def open(self, payload):
        half = self.array_bits // 8
        self.kept = Array(payload, 0, self.array_bits, self.hashes)
        need(not any(a & b for a, b in zip(payload, payload[half:])), "a bit kept and cleared")

    def has(self, h):
        return self.kept.has(h)


class Composite(Kind):
    name, words = "composite", ("added_bits", "hashes", "removed")

    def shape(self):
        need_array(self.added_bits, self.hashes)
        need_range(1, self.removed, 100, "removed")
        self.second = (self.added_bits // 64 * self.removed + 99) // 100
        return self.added_bits // 8 + 8 * self.second

    def open(self, payload):
        self.plus = Array(payload, 0, self.added_bits, self.hashes)
        self.minus = Array(payload, self.added_bits // 8, 64 * self.second, self.hashes)

    def has(self, h):
        return self.plus.has(h) and not self.minus.has(hash_number(1, h))


# ---- Window --------------------------------------------------------------------------------------

class Window(Kind):
    name, words = "window", ("hashes", "generations", "each", "slice", "by")

    def shape(self):
        need_range(1, self.hashes, 64, "hashes")
        need_range(1, self.generations, 64, "generations")
        need_range(1, self.each, 2**56, "each")
        self.slices = self.hashes + self.generations
        need_range(1, self.slice, (MAX_BITS - 128) // self.slices, "slice")
        need_range(0, self.by, 1, "by")
        return whole_words(128 + self.slices * self.slice)

    def open(self, payload):
        self.turns, self.adds = number_at(payload, 0), number_at(payload, 8)
        need(self.turns < 2**63, "turns")
        need(self.by == 1 or self.adds <= self.each, "adds")
        self.array = Fields(payload, self.slice, self.slices, 128)
        need_clear(payload, 128 + self.slices * self.slice)
        for age in range(self.slices):
            most, bits = self.max_adds(age), self.array[self.place(age)].bit_count()
            need(bits <= most or self.by == 1 and most, "more bits in a slice than adds")

    def place(self, age):
        return (self.slices - self.turns % self.slices + age) % self.slices

    def max_adds(self, age):
        """How many adds can have reached the slice of this age, with `each` to a generation."""
        if age >= self.turns + self.hashes:
            return 0
        first = max(0, self.turns - age)
        last = min(self.turns, self.turns - age + self.hashes - 1)
        earlier = last - first + (last < self.turns)
        return earlier * self.each + (self.adds if last == self.turns else 0)

    def bit(self, place, h):
        return scale(mix(h ^ (place * G & M64)), self.slice)

    def has(self, h):
        in_a_row = 0
        for age in range(self.slices):
            place = self.place(age)
            in_a_row = in_a_row + 1 if self.array[place] >> self.bit(place, h) & 1 else 0
            if in_a_row == self.hashes:
                return True
        return False


# ---- Scalable ------------------------------------------------------------------------------------

class Scalable(Kind):
    name, words = "scalable", ("kind", "first", "rate", "stages", "bytes",
                               "shape_0", "shape_1", "shape_2")

    def shape(self):
        need_range(0, self.kind, 3, "kind")
        need_range(1, self.stages, 57, "stages")
        need_range(1, self.first, 2**56 >> self.stages - 1, "first")
        need_range(1, self.rate, 10**18 - 1, "rate")
        need_range(64, self.bytes, MAX_BYTES, "bytes")
        need(self.bytes % 64 == 0, "bytes not a multiple of 64")
        self.stage_of((self.shape_0, self.shape_1, self.shape_2))
        return self.bytes

    def stage_of(self, word):
        kind = (Blocked, Split, Classic, Compaction)[self.kind]
        need(not any(word[len(kind.words):]), "an unused shape word is not zero")
        return kind(word[:len(kind.words)])

    def open(self, payload):
        self.opened, at, before_is_full = [], 0, True
        for i in range(self.stages):
            need(at + 64 <= self.bytes, "stages are longer than the payload")
            taken, *word = (number_at(payload, at + 8 * j) for j in range(4))
            spread, doubt = (number_at(payload, at + 32 + 8 * j) for j in range(2))
            need_range(0, spread, 1, "spread")
            need_range(0, doubt, 0 if i else 2**60, "doubt")
            need(not any(payload[at + 48:at + 64]), "reserved bytes of a stage")
            if i == 0:
                need(not any(word), "the first stage has its words in the header")
                word = self.shape_0, self.shape_1, self.shape_2
            stage = self.stage_of(tuple(word))
            end = at + 64 + stage.size
            need(end <= self.bytes, "stages are longer than the payload")
            stage.open(payload[at + 64:end])
            at = (end + 63) // 64 * 64
            need(not any(payload[end:at]), "bytes behind a stage")
            need(taken <= 2**60, "taken out of range")
            need(taken or not any(payload[end - stage.size:end]), "bits in an empty stage")
            need(before_is_full or not taken, "a stage in use over one with room")
            before_is_full = taken >= self.first << i
            self.opened.append((stage, spread))
        need(at == self.bytes, "stages are shorter than the payload")

    def has(self, h):
        return any(stage.has(mix(h) if spread else h) for stage, spread in self.opened)
