# SPDX-License-Identifier: MIT
"""Writers of what built payloads are made of, by those paragraphs of docs/format.md that tell how
the library does it: coded sets, peeled arrays and bands, the same bytes from the same keys."""

import struct
from collections import deque

from kinds_rows import strips_of
from payload import G, M64, mix, rest, scale, whole_words


def packed(fields, width):
    number = sum(field << i * width for i, field in enumerate(fields))
    return number.to_bytes(whole_words(len(fields) * width), "little")


def frame(segments, tail=b""):
    """A whole payload."""
    offsets = [0]
    for segment in segments:
        offsets.append(offsets[-1] + len(segment))
    return b"".join(segments) + tail + packed(offsets, 64)


# ---- Coded set -----------------------------------------------------------------------------------

def gap_code(gap, rice, k):
    """The bits of a gap as a number, and how many there are."""
    q = gap >> rice
    if q < 16:
        return (1 << q) - 1 | (gap & (1 << rice) - 1) << q + 1, q + 1 + rice
    return 0xFFFF | gap << 16, 16 + k


def code_of(numbers, rice, k, buckets):
    """The code of ascending numbers, and where each bucket starts in it, and the end."""
    code, at, starts, least = 0, 0, [], 0
    for number in numbers:
        while len(starts) <= number >> k:
            least = len(starts) << k
            starts.append(at)
        bits, size = gap_code(number - least, rice, k)
        code, at, least = code | bits << at, at + size, number + 1
    return code, starts + [at] * (buckets + 1 - len(starts))


def coded_set(numbers, range_, rice):
    count, all_bits = len(numbers), (range_ - 1).bit_length()
    mean = range_ // count if count else range_
    k = max(rice, min(all_bits, (45 * mean).bit_length() if mean < 2**56 else all_bits))
    buckets = (range_ - 1 >> k) + 1
    code, starts = code_of(numbers, rice, k, buckets)
    anchors = starts[::64]
    left, rise = buckets % 64, starts[-1] - anchors[-1]
    anchors.append(anchors[-1] + (rise * 64 // left if left else 0))
    line = [anchors[b // 64] + ((anchors[b // 64 + 1] - anchors[b // 64]) * (b % 64) >> 6)
            for b in range(buckets + 1)]
    bias = max(0, *(a - b for a, b in zip(line, starts)))
    fields = [start + bias - at for start, at in zip(starts, line)]
    width = max(1, max(fields).bit_length())
    return (struct.pack("<Q3B5xQ", count, rice, k, width, bias) + packed(anchors, 64)
            + packed(fields, width) + code.to_bytes(whole_words(starts[-1]), "little"))


# ---- Peeled array --------------------------------------------------------------------------------

def peeling_order(keys, cells, stretch):
    """Keys, each with a cell that no later one has; fewer than all when it cannot be done."""
    left, who, order = [0] * cells, [0] * cells, []
    for i, places in enumerate(keys):
        for at in places:
            left[at] += 1
            who[at] ^= i
    for first in range(0, cells, stretch):
        alone = deque(at for at in range(first, min(first + stretch, cells)) if left[at] == 1)
        while alone:
            at = alone.popleft()
            if left[at] != 1:
                continue
            i = who[at]
            order.append((i, at))
            for other in keys[i]:
                left[other] -= 1
                who[other] ^= i
                if left[other] == 1:
                    alone.append(other)
    return order


def peeled_array(hashes, segments, arity, width):
    """A segment of fuse."""
    for seed in range(64):
        strips, log = strips_of(len(hashes), arity, seed)
        count = strips + arity - 1 << log if hashes else 0
        keys, rows = [], []
        for h in hashes:
            x = rest(h, segments) + seed * G & M64
            m, s = mix(x), scale(x, strips)
            keys.append([(s + j << log) + (m >> 16 * j & (1 << log) - 1) for j in range(arity)])
            rows.append((m * 0xF1357AEA2E62A9C5 & M64) >> 64 - width)
        order = peeling_order(keys, count, 4 << log)
        if len(order) == len(hashes):
            break
    cells = [0] * count
    for i, at in reversed(order):
        for other in keys[i]:
            rows[i] ^= cells[other] if other != at else 0
        cells[at] = rows[i]
    return struct.pack("<3Q", len(hashes), seed, 256 * strips + log) + packed(cells, width)


# ---- Band ----------------------------------------------------------------------------------------

class Equations:
    """An echelon form: by the row that it leads, coefficients and right side."""

    def __init__(self):
        self.led = {}

    def add(self, start, c, row):
        """The row that a new equation leads; None: it says nothing new; False: it cannot be."""
        while start in self.led:
            other, right = self.led[start]
            c, row = c ^ other, row ^ right
            if c == 0:
                return False if row else None
            zeros = (c & -c).bit_length() - 1
            start, c = start + zeros, c >> zeros
        self.led[start] = c, row
        return start

    def solved(self, rows):
        z = [0] * (rows + 64)
        for start in sorted(self.led, reverse=True):
            c, z[start] = self.led[start]
            for j in range(1, 64):
                z[start] ^= z[start + j] if c >> j & 1 else 0
        return z


def add_bucket(equations, keys, low, thresholds):
    """Adds the keys of a bucket, from the largest start down. Returns its class."""
    class_, added = 0, []
    for start, x, row in sorted(keys, reverse=True):
        here = start & low
        if class_ and here < thresholds[class_ - 1]:
            continue
        led = equations.add(start, mix(x + G & M64) | 1, row)
        if led is False:
            class_ = 1 + next(i for i in range(3) if thresholds[i] > here)
            for place, lead in added:
                if place < thresholds[class_ - 1]:
                    del equations.led[lead]
            added = [pair for pair in added if pair[0] >= thresholds[class_ - 1]]
        elif led is not None:
            added.append((here, led))
    return class_


def band_layer(xs, guard, narrow):
    """A layer of a band without values: its header, its bytes, and what it bumps."""
    is_last, seed = len(xs) <= 4000, 0
    share, bucket, *thresholds = (983, 8, 22, 51, 256) if guard < 4 else (978, 7, 16, 39, 128)
    while True:
        blocks = (-(-len(xs) // 64) + seed // 12 if is_last
                  else -(-(len(xs) * share // 1024) // 64))
        starts, shift = 64 * blocks - 63, 64 if is_last else bucket
        buckets = [[] for _ in range((starts - 1 >> shift) + 1)]
        for x in xs:
            x = mix(x ^ (seed + 1) * G & M64)
            start = scale(x, starts)
            buckets[start >> shift].append((start, x, x & (1 << guard) - 1))
        equations, low = Equations(), (1 << shift) - 1
        limits = [2**64] * 3 if is_last else thresholds
        classes = [add_bucket(equations, keys, low, limits) for keys in buckets]
        bumped = [x for keys, class_ in zip(buckets, classes) for start, x, _ in keys
                  if class_ and start & low < limits[class_ - 1]]
        if len(bumped) * 8 <= (0 if is_last else len(xs)):
            break
        seed += 1
    z, lacking = equations.solved(64 * blocks), scale(narrow << 48, starts) // 64
    columns = [sum((z[64 * j + i] >> k & 1) << i for i in range(64))
               for j in range(blocks) for k in range(guard - (j < lacking))]
    numbers = (0, 0, 0, 0) if is_last else (bucket, *thresholds)
    return (struct.pack("<2I4H", blocks, seed, *numbers),
            (b"" if is_last else packed(classes, 2)) + packed(columns, 64), bumped)


def band(hashes, guard, narrow):
    """A segment of ribbon."""
    headers, layers, xs = [], [], hashes
    while xs:
        header, layer, xs = band_layer(xs, guard, narrow)
        headers.append(header)
        layers.append(layer)
    return struct.pack("<2I", len(hashes), len(headers)) + b"".join(headers + layers)
