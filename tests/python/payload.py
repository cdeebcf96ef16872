# SPDX-License-Identifier: MIT
"""What the kinds of docs/format.md section 5 share: refusing, arithmetic, and packed fields."""

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF
G = 0x9E3779B97F4A7C15
MAX_BITS = 2**59
MAX_BYTES = 2**56


class Refused(Exception):
    """An image that must not be answered from. `why` is damaged, newer or secret."""

    def __init__(self, why, what):
        super().__init__(f"{why}: {what}")
        self.why = why


def need(condition, what):
    if not condition:
        raise Refused("damaged", what)


def need_range(least, value, most, what):
    need(least <= value <= most, what + " out of range")


# ---- Arithmetic ----------------------------------------------------------------------------------

def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & M64
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return x ^ x >> 33


def scale(h, n):
    return h * n >> 64


def rest(h, n):
    return h * n & M64


def chain_numbers(s):
    x = s | 1
    while True:
        yield x
        x = x * 0xF1357AEA2E62A9C5 & M64


def chain(s, n, hashes):
    for _, x in zip(range(hashes), chain_numbers(s)):
        yield scale(x, n)


def whole_words(bits):
    """Bytes of so many bits, rounded up to whole 8-byte words."""
    return (bits + 63) // 64 * 8


# ---- Packed fields -------------------------------------------------------------------------------

class Fields:
    """Fields of `width` bits from bit `start` of the data on; bits are fields of width 1."""

    def __init__(self, data, width, count, start=0):
        self.data, self.width, self.count, self.start = data, width, count, start

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError(i)
        first = self.start + i * self.width
        last = first + self.width
        number = int.from_bytes(self.data[first >> 3:(last + 7) >> 3], "little")
        return number >> (first & 7) & (1 << self.width) - 1

    def in_use(self):
        return sum(1 for field in self if field)


def number_at(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def bits_at(data, at, count):
    """So many bits from this bit of the data on; 0 behind its end."""
    return number_at(data, at >> 3, (at & 7) + count + 7 >> 3) >> (at & 7) & (1 << count) - 1


def ones(data):
    return int.from_bytes(data, "little").bit_count()


def need_clear(data, bit):
    """Nothing is set from this bit of the data on."""
    need(number_at(data, bit >> 3, len(data)) >> (bit & 7) == 0, "stray bits")


# ---- A kind --------------------------------------------------------------------------------------

class Kind:
    """Made from legal shape words, which give `size`; then `open` checks and keeps the payload."""

    name = ""
    words = ()
    keys = None  # of kinds whose payload tells how many there are, which must be the items

    def __init__(self, word):
        for name, value in zip(self.words, word):
            setattr(self, name, value)
        self.size = self.shape()
        need(self.size <= MAX_BYTES, "payload too large")

    def shape(self):
        """Checks the words and returns how many bytes the payload has."""
        raise NotImplementedError

    def open(self, payload):
        raise NotImplementedError

    def has(self, h):
        raise NotImplementedError


class Segmented(Kind):
    """The frame of segments, section 5.22. A kind of this sort gives the size of its tail, if it has
    one, and makes an object of each segment and of the tail."""

    tail = 0

    def frame(self):
        """What `shape` returns, after it has looked at the other words."""
        need_range(2**10, self.segment, 2**24, "segment")
        need(self.segments >= 1, "no segments")
        need(self.bytes % 8 == 0 and self.bytes <= MAX_BYTES, "bytes")
        need(self.tail + 8 * (self.segments + 1) <= self.bytes, "tail and offsets do not fit")
        return self.bytes

    def open(self, payload):
        table = self.bytes - 8 * (self.segments + 1)
        offsets = [number_at(payload, table + 8 * i) for i in range(self.segments + 1)]
        need(offsets[0] == 0 and offsets[-1] == table - self.tail, "first or last offset")
        need(all(at % 8 == 0 for at in offsets), "an offset is no multiple of 8")
        need(all(a <= b for a, b in zip(offsets, offsets[1:])), "offsets fall")
        self.open_tail(payload[offsets[-1]:table])
        self.opened = [self.open_segment(i, payload[offsets[i]:offsets[i + 1]])
                       for i in range(self.segments)]

    def open_tail(self, data):
        pass

    def open_segment(self, i, data):
        raise NotImplementedError
