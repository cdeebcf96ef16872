# SPDX-License-Identifier: MIT
"""fingerprint: rows of bits with ids, as whole numbers."""

import struct

from payload import need, need_range, whole_words

FOLD_BYTES, FOLDED_FROM = 32, 513


class Fingerprint:
    name, words = "fingerprint", ("width", "rows", "id_bytes")
    keys = None

    def __init__(self, word):
        self.width, self.rows, self.id_bytes = word
        need_range(1, self.width, 65536, "width")
        need_range(0, self.rows, 2**32 - 1, "rows")
        need_range(self.rows, self.id_bytes, 2**48 if self.rows else 0, "id_bytes")
        self.stride = whole_words(self.width)
        self.fold_bytes = FOLD_BYTES if self.width >= FOLDED_FROM else 0
        self.size = (self.width + 2) * 8 + self.rows * (self.stride + self.fold_bytes + 16) + self.id_bytes

    def open(self, payload):
        at = 0

        def take(size):
            nonlocal at
            at += size
            return payload[at - size:at]

        first = struct.unpack(f"<{self.width + 2}Q", take((self.width + 2) * 8))
        need(first[0] == 0 and first[-1] == self.rows and list(first) == sorted(first), "first ranks")
        prints = [int.from_bytes(take(self.stride), "little") for _ in range(self.rows)]
        folds = [int.from_bytes(take(self.fold_bytes), "little") for _ in range(self.rows)]
        row_of = struct.unpack(f"<{self.rows}I", take(self.rows * 4))
        rank_of = struct.unpack(f"<{self.rows}I", take(self.rows * 4))
        ends = struct.unpack(f"<{self.rows}Q", take(self.rows * 8))
        ids = take(self.id_bytes)
        order = sorted(range(self.rows), key=lambda rank: (bin(prints[rank]).count("1"), row_of[rank]))
        need(order == list(range(self.rows)), "prints are not in their order")
        for bits in range(self.width + 1):
            for rank in range(first[bits], first[bits + 1]):
                need(bin(prints[rank]).count("1") == bits, "bits of a print")
        need(sorted(row_of) == list(range(self.rows)), "rows")
        need(all(rank_of[row] == rank for rank, row in enumerate(row_of)), "ranks")
        for value, fold in zip(prints, folds):
            need(value >> self.width == 0, "stray bits")
            need(not self.fold_bytes or fold == self.fold(value), "fold")
        self.ids, start = [], 0
        for end in ends:
            need(start < end <= self.id_bytes and ids[end - 1] == 0, "end of an id")
            need(all(letter >= 32 for letter in ids[start:end - 1]), "letters of an id")
            self.ids.append(ids[start:end - 1])
            start = end
        need(start == self.id_bytes, "bytes behind the last id")
        self.prints = [prints[rank] for rank in rank_of]

    @staticmethod
    def fold(value):
        folded = 0
        while value:
            folded ^= value & (1 << 8 * FOLD_BYTES) - 1
            value >>= 8 * FOLD_BYTES
        return folded

    @staticmethod
    def has(_):
        """Rows are no keys: every key may be there."""
        return True

    def similar(self, query, least):
        """(similarity, row) of all that are at least so similar, the best first; every row is tried."""
        found = []
        for row, value in enumerate(self.prints):
            either = bin(value | query).count("1")
            similarity = bin(value & query).count("1") / either if either else 1.0
            if similarity >= least:
                found.append((-similarity, row))
        return [(-negative, row) for negative, row in sorted(found)]

    def containing(self, query):
        return [row for row, value in enumerate(self.prints) if query & ~value == 0]
