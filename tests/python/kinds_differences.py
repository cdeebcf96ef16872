# SPDX-License-Identifier: MIT
"""The kind whose cells are subtracted: iblt, with its estimators."""

from struct import iter_unpack

from payload import G, M64, Kind, chain, mix, need, need_range, scale

CELL_BYTES = 24
MAX_CELLS = 2**40
STRATA, STRATUM_CELLS, STRATUM_HASHES = 32, 80, 4
NONE, SIGNED, IN_STRATA = 0, 1, 2


def check_of(h):
    return mix((h + G) & M64)


def second_hash(h):
    return mix(h ^ 0xD6E8FEB86659FD93)


def place(h, cells, hashes):
    """The cells of a hash, one in each subtable."""
    side = cells // hashes
    return [i * side + at for i, at in enumerate(chain(h, side, hashes))]


class Cells:
    """Cells of count, xor of hashes and xor of checks, in subtables that hold the same."""

    def __init__(self, payload, hashes):
        self.cell, self.hashes = list(iter_unpack("<QQQ", payload)), hashes
        side = len(self.cell) // hashes
        sums = [total(self.cell[i:i + side]) for i in range(0, len(self.cell), side)]
        self.total = sums[0]
        for count, keys, checks in self.cell:
            need(count <= self.total[0], "a cell counts more than there is")
            need(count or not (keys or checks), "a cell without hashes is not empty")
        need(len(set(sums)) == 1, "subtables differ")

    def excludes(self, h, at):
        count, keys, checks = self.cell[at]
        is_one = count in (1, M64) and checks == check_of(keys)
        return not (count or keys or checks) or (is_one and keys != h)


def total(cells):
    count = keys = checks = 0
    for cell in cells:
        count, keys, checks = count + cell[0] & M64, keys ^ cell[1], checks ^ cell[2]
    return count, keys, checks


class Iblt(Kind):
    name, words = "iblt", ("cells", "hashes", "estimator", "counters")

    def shape(self):
        need_range(3, self.hashes, 8, "hashes")
        need_range(1, self.cells, MAX_CELLS, "cells")
        need(self.cells % self.hashes == 0, "subtables are not of one size")
        need_range(0, self.estimator, 2, "estimator")
        if self.estimator == SIGNED:
            need_range(64, self.counters, 2**20, "counters")
            need(self.counters % 2 == 0, "an odd number of counters")
        else:
            need(self.counters == 0, "counters that no estimator has")
        strata = STRATA * STRATUM_CELLS * CELL_BYTES if self.estimator == IN_STRATA else 0
        return self.cells * CELL_BYTES + 4 * self.counters + strata

    def open(self, payload):
        cells, behind = payload[:self.cells * CELL_BYTES], payload[self.cells * CELL_BYTES:]
        self.table = Cells(cells, self.hashes)
        if self.estimator == SIGNED:
            self.counter = [c for c, in iter_unpack("<i", behind)]
            need(sum(self.counter) % 2 == self.table.total[0] % 2, "counters of other hashes")
        if self.estimator == IN_STRATA:
            size = STRATUM_CELLS * CELL_BYTES
            self.strata = [Cells(behind[i * size:(i + 1) * size], STRATUM_HASHES)
                           for i in range(STRATA)]
            need(total(s.total for s in self.strata) == self.table.total, "strata of other hashes")

    def has(self, h):
        return not any(self.table.excludes(h, at) for at in place(h, self.cells, self.hashes))


def payload_of(hashes, word):
    """The payload that adding these hashes makes, for a writer of its own."""
    cells, k, estimator, counters = word
    table = [(0, 0, 0)] * cells
    signs = [0] * counters
    strata = [[(0, 0, 0)] * STRATUM_CELLS for _ in range(STRATA if estimator == IN_STRATA else 0)]
    for h in hashes:
        put(table, place(h, cells, k), h)
        x = second_hash(h)
        if estimator == SIGNED:
            signs[scale(x, counters)] += 1 if x & 1 else -1
        if estimator == IN_STRATA:
            stratum = min((x & -x).bit_length() - 1 if x else STRATA, STRATA - 1)
            put(strata[stratum], place(h, STRATUM_CELLS, STRATUM_HASHES), h)
    words = [w for cell in table for w in cell]
    tail = [w for s in strata for cell in s for w in cell]
    return (b"".join(w.to_bytes(8, "little") for w in words)
            + b"".join((s & 0xFFFFFFFF).to_bytes(4, "little") for s in signs)
            + b"".join(w.to_bytes(8, "little") for w in tail))


def put(cells, places, h):
    for at in places:
        count, keys, checks = cells[at]
        cells[at] = (count + 1, keys ^ h, checks ^ check_of(h))
