# SPDX-License-Identifier: MIT
"""Kinds whose payload is counters: counting, spectral, increment, countmin; stable, whose cells age; and
approximator, whose cells are values."""

from collections import Counter
from functools import reduce
from operator import and_

from payload import (MAX_BITS, Fields, Kind, chain, chain_numbers, mix, need, need_clear,
                     need_range, number_at, scale, whole_words)


class Counters:
    """Counters that stick at their top, and the chain of a key's positions among them."""

    def __init__(self, payload, width, count, hashes, start=0):
        self.fields = Fields(payload, width, count, start * width)
        self.top, self.hashes = 2**width - 1, hashes

    def seen(self, s):
        """For each of a key's positions the counter there and its multiplicity."""
        places = Counter(chain(s, len(self.fields), self.hashes))
        return [(self.fields[at], times) for at, times in places.items()]

    def values(self, s, plain=False):
        for counter, times in self.seen(s):
            if counter == self.top or plain:
                yield counter
            else:
                yield 1 if 0 < counter < times else counter // times

    def holds(self, s):
        return all(counter == self.top or counter >= times for counter, times in self.seen(s))


class Counting(Kind):
    name, words = "counting", ("bits", "hashes", "width", "log", "bare")

    def shape(self):
        need_range(1, self.bits, MAX_BITS, "bits")
        need_range(1, self.hashes, 64, "hashes")
        need_range(2, self.width, 16, "width")
        need_range(0, self.log, 1, "log")
        need_range(0, self.bare, 1 - self.log, "bare")
        self.cells, left = divmod(self.bits, self.width + (0 if self.bare else 1 + self.log))
        need(left == 0, "bits are not a whole number of counters")
        return whole_words(self.bits)

    def open(self, payload):
        self.counters = Counters(payload, self.width, self.cells, self.hashes)
        need_clear(payload, self.bits)
        self.summary = [min(counter, 1) for counter in self.counters.fields]
        if self.bare:
            return
        self.summary = Fields(payload, 1, self.cells, self.cells * self.width)
        for counter, bit in zip(self.counters.fields, self.summary):
            need(bit == (counter != 0), "the summary is not that of the counters")

    def has(self, h):
        return all(self.summary[at] for at in chain(h, self.cells, self.hashes))

    def count(self, h):
        return min(self.counters.values(h))


class Spectral(Kind):
    name, words = "spectral", ("bits", "hashes", "mode", "width")

    def shape(self):
        need_range(1, self.bits, MAX_BITS, "bits")
        need_range(1, self.hashes, 64, "hashes")
        need_range(0, self.mode, 2, "mode")
        need_range(4, self.width, 16, "width")
        third, left = divmod(self.bits, self.width * (3 if self.mode == 2 else 1))
        need(left == 0, "bits are not a whole number of counters")
        self.cells = (2 * third, third) if self.mode == 2 else (third, 0)
        return whole_words(self.bits)

    def open(self, payload):
        primary, secondary = self.cells
        self.primary = Counters(payload, self.width, primary, self.hashes)
        self.secondary = Counters(payload, self.width, secondary, self.hashes, primary)
        need_clear(payload, self.bits)

    def has(self, h):
        return all(counter for counter, _ in self.primary.seen(h))

    def count(self, h):
        values = list(self.primary.values(h, plain=self.mode == 1))
        v = min(values)
        if self.mode != 2 or v == 0 or values.count(v) > 1 or not self.secondary.holds(mix(h)):
            return v
        return min(v, *self.secondary.values(mix(h)))


class Increment(Kind):
    name, words = "increment", ("bits", "hashes", "step")

    def shape(self):
        need_range(1, self.bits, MAX_BITS, "bits")
        need_range(1, self.hashes, 64, "hashes")
        need_range(0, self.step, 2, "step")
        self.least, self.width = 4 << self.step, 6 + self.step
        self.cells, left = divmod(self.bits, self.width)
        need(left == 0, "bits are not a whole number of counters")
        return whole_words(self.bits)

    def open(self, payload):
        self.counters = Fields(payload, self.width, self.cells)
        need_clear(payload, self.bits)
        need(not any(0 < counter < self.least for counter in self.counters), "too small a sum")

    def has(self, h):
        return all(self.may_hold(self.counters[at], by) for at, by in self.steps(h))

    def steps(self, h):
        for _, x in zip(range(self.hashes), chain_numbers(h)):
            yield scale(x, self.cells), self.least + mix(x) % self.least

    def may_hold(self, counter, by):
        return counter == by or counter >= by + self.least or counter == 2**self.width - 1


class Countmin(Kind):
    name, words = "countmin", ("columns", "rows", "width", "update")

    def shape(self):
        need_range(1, self.rows, 64, "rows")
        need_range(0, self.width, 1, "width")
        need_range(0, self.update, 1, "update")
        self.bits = 64 if self.width else 32
        need_range(1, self.columns, 2**47, "columns")
        return whole_words(self.columns * self.rows * self.bits)

    def open(self, payload):
        cells = self.columns * self.rows
        self.counters = Fields(payload, self.bits, cells)
        need_clear(payload, cells * self.bits)

    def count(self, h):
        return min(self.counters[row * self.columns + at]
                   for row, at in enumerate(chain(h, self.columns, self.rows)))

    def has(self, h):
        return self.count(h) > 0


class Stable(Kind):
    name, words = "stable", ("cells", "width", "hashes", "decrements", "dice")

    def shape(self):
        need(self.width in (1, 2, 4), "width out of range")
        need_range(1, self.cells, (MAX_BITS - 64) // self.width, "cells")
        need(self.cells * self.width % 64 == 0, "cells do not fill whole words")
        need_range(1, self.hashes, 64, "hashes")
        need_range(1, self.decrements, self.cells, "decrements")
        return 8 + self.cells * self.width // 8

    def open(self, payload):
        self.draws = number_at(payload, 0)
        self.fields = Fields(payload, self.width, self.cells, 64)

    def has(self, h):
        return all(self.fields[at] for at in chain(h, self.cells, self.hashes))


class Approximator(Kind):
    name, words = "approximator", ("bits", "hashes", "value", "lattice")

    def shape(self):
        need_range(1, self.bits, MAX_BITS, "bits")
        need_range(1, self.hashes, 64, "hashes")
        need_range(1, self.value, 64, "value")
        need_range(0, self.lattice, 1, "lattice")
        need(self.bits % self.value == 0, "bits are not a whole number of cells")
        return whole_words(self.bits)

    def open(self, payload):
        self.cells = Fields(payload, self.value, self.bits // self.value)
        need_clear(payload, self.bits)

    def positions(self, h):
        return chain(h, len(self.cells), self.hashes)

    def get(self, h):
        """The meet of the key's cells, or None when that is 0."""
        meet = (min, and_)[self.lattice]
        return reduce(meet, (self.cells[at] for at in self.positions(h))) or None

    def has(self, h):
        return self.get(h) is not None
