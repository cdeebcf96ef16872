# SPDX-License-Identifier: MIT
"""Kinds that store a set of numbers as coded gaps: gcs and labels."""

from payload import (M64, Fields, Segmented, bits_at, need, need_clear, need_range, number_at, scale,
                     whole_words)


class CodedSet:
    """Distinct numbers below `range`, in buckets of 2^k of them."""

    def __init__(self, data, range_):
        need(len(data) >= 24, "a segment is too short")
        self.range, self.rice, self.k, self.width = range_, data[8], data[9], data[10]
        need_range(0, self.k, 63, "k")
        need_range(0, self.rice, min(56, self.k), "rice")
        need_range(1, self.width, 64, "width of a field")
        need(not any(data[11:16]), "reserved bytes of a coded set")
        self.bias = number_at(data, 16)
        self.buckets = (range_ - 1 >> self.k) + 1
        anchors_end = 24 + 8 * (self.buckets // 64 + 2)
        code_at = anchors_end + whole_words((self.buckets + 1) * self.width)
        need(code_at <= len(data), "a coded set is too short")
        self.anchors = Fields(data, 64, self.buckets // 64 + 2, 24 * 8)
        self.fields = Fields(data, self.width, self.buckets + 1, anchors_end * 8)
        need_clear(data[:code_at], anchors_end * 8 + (self.buckets + 1) * self.width)
        self.code = data[code_at:]
        self.check(number_at(data, 0))

    def check(self, count):
        end = self.start(self.buckets)
        need(len(self.code) == whole_words(end), "size of the code")
        need_clear(self.code, end)
        need(self.start(0) == 0, "the first bucket does not start at 0")
        need(count == sum(self.check_bucket(b) for b in range(self.buckets)), "count")

    def check_bucket(self, b):
        end, count = self.start(b + 1), 0
        need(self.start(b) <= end <= 8 * len(self.code), "buckets out of order")
        for number, is_shortest, behind in self.decode(b):
            need(behind <= end, "a bucket ends in a code")
            need(number >> self.k == b and number < self.range, "a number is not in its bucket")
            need(is_shortest, "a small gap in the form of a large one")
            count += 1
        return count

    def start(self, b):
        j = b // 64
        here, behind = self.anchors[j], self.anchors[j + 1]
        on_line = here + (((behind - here & M64) * (b % 64) & M64) >> 6)
        return on_line + self.fields[b] - self.bias & M64

    def decode(self, b):
        """Each number of a bucket, whether its gap has the right form, and where its code ends."""
        at, end, least = self.start(b), self.start(b + 1), b << self.k
        while at < end:
            q = 0
            while q < 16 and bits_at(self.code, at + q, 1):
                q += 1
            if q < 16:
                gap = q << self.rice | bits_at(self.code, at + q + 1, self.rice)
                at += q + 1 + self.rice
            else:
                gap = bits_at(self.code, at + 16, self.k)
                at += 16 + self.k
            yield least + gap, q < 16 or gap >> self.rice >= 16, at
            least += gap + 1

    def between(self, first, last):
        """Its numbers from first to last, both included, in ascending order."""
        for b in range(first >> self.k, (last >> self.k) + 1):
            for number, _, _ in self.decode(b):
                if first <= number <= last:
                    yield number

    def __iter__(self):
        return self.between(0, self.range - 1)


class Cells(Segmented):
    """Hashes are scaled to `range` cells, each of which is `each` numbers; a segment is a set of
    numbers."""

    each = 1

    def frame_of_cells(self):
        need(1 <= self.range and self.range * self.each < 2**63, "range")
        need_range(0, self.shift, 63, "shift")
        need(self.segments == (self.range - 1 >> self.shift) + 1, "segments")
        return self.frame()

    def open_segment(self, i, data):
        cells = min(1 << self.shift, self.range - (i << self.shift))
        return CodedSet(data, cells * self.each)

    def cell(self, h):
        return scale(h, self.range)

    def first_number(self, cell):
        """Of the numbers of a cell, in its segment."""
        return (cell & (1 << self.shift) - 1) * self.each

    def numbers_of(self, h):
        """The stored numbers of the hash's cell, less the first one that it could have."""
        cell = self.cell(h)
        first = self.first_number(cell)
        for number in self.opened[cell >> self.shift].between(first, first + self.each - 1):
            yield number - first

    def has(self, h):
        return any(True for _ in self.numbers_of(h))

    def stored(self):
        """All cells that keys have, ascending, each with its number in the cell."""
        for i, segment in enumerate(self.opened):
            for number in segment:
                yield (i << self.shift) + number // self.each, number % self.each


class Gcs(Cells):
    name, words = "gcs", ("segments", "bytes", "segment", "range", "rice", "shift")

    def shape(self):
        need_range(0, self.rice, 56, "rice")
        return self.frame_of_cells()

    def open_segment(self, i, data):
        coded = super().open_segment(i, data)
        need(coded.rice == self.rice, "rice of a segment")
        return coded


class Labels(Cells):
    name, words = "labels", ("segments", "bytes", "segment", "range", "shift", "labels", "names",
                             "largest")

    def shape(self):
        need_range(0, self.labels, 2**24, "labels")
        need_range(2 * self.labels, self.names, 256 * self.labels, "names")
        self.each = max(1, self.labels)
        need_range(0, self.largest, self.each - 1, "largest")
        self.names_size, self.starts_size = self.names + 7 & ~7, 4 * self.labels + 7 & ~7
        self.tail = self.names_size + self.starts_size
        return self.frame_of_cells()

    def open_tail(self, data):
        texts, starts = data[:self.names], data[self.names_size:]
        need(not any(data[self.names:self.names_size]), "bytes behind the names")
        need(not any(starts[4 * self.labels:]), "bytes behind the starts of names")
        *names, after = texts.split(b"\0")
        need(len(names) == self.labels and after == b"", "names")
        at = 0
        for label, name in enumerate(names):
            need_range(1, len(name), 255, "size of a name")
            need(all(byte >= 0x20 and byte != 0x7F for byte in name), "a name")
            need(number_at(starts, 4 * label, 4) == at, "start of a name")
            at += len(name) + 1
        self.label_names = [name.decode("utf-8", "replace") for name in names]

    def open_segment(self, i, data):
        coded = super().open_segment(i, data)
        need(self.labels or not any(True for _ in coded), "numbers without labels")
        return coded

    def labels_of(self, h):
        return list(self.numbers_of(h))
