# SPDX-License-Identifier: MIT
"""BloomFilter and ScalableBloomFilter, shaped like the classes of pybloom_live.

>>> from tamis.compat.pybloom_live import BloomFilter, ScalableBloomFilter
>>> b = BloomFilter(capacity=1000, error_rate=0.001)
>>> b.add("cat"), b.add("cat"), "cat" in b, len(b)
(False, True, True, 1)

As there, a key is its text: 1 and "1" are one key. tofile writes images of tamis; fromfile reads those, and files of pybloom_live:
the latter answer through the same positions, at the speed of Python, and are written as they came. Filters of fewer than 129
hash bits there need the package xxhash.
"""
import hashlib
import io
import struct

from .._filter import Filter

_HEADER, _SCALABLE = struct.Struct("<dQQQQ"), struct.Struct("<idQd")
_MAGIC = b"\xd6tamis\x1a\n"
_TRAILER = struct.Struct("<dQQ")  # error rate, capacity, count: after an image of ours


def _text(key):
    return key if isinstance(key, str) else str(key)


class BloomFilter:
    """BloomFilter(capacity, error_rate=0.001): see the module."""

    def __init__(self, capacity, error_rate=0.001):
        if not 0 < error_rate < 1:
            raise ValueError("Error_Rate must be between 0 and 1.")
        if not capacity > 0:
            raise ValueError("Capacity must be > 0")
        self.capacity, self.error_rate, self.count = capacity, error_rate, 0
        self._filter = Filter("classic", capacity=capacity, fpr=error_rate)

    def __contains__(self, key):
        """Tests a key's membership in this bloom filter."""
        return _text(key) in self._filter

    def __len__(self):
        """The number of keys that were new when they came."""
        return self.count

    @property
    def num_bits(self):
        """The number of bits."""
        return 8 * len(self._filter.payload())

    def add(self, key, skip_check=False):
        """Add a key; True when it was there. IndexError beyond the capacity."""
        if self.count > self.capacity:
            raise IndexError("BloomFilter is at capacity")
        if skip_check:
            self._filter.add(_text(key))
            self.count += 1
            return False
        is_new = self._filter.add_new(_text(key))
        self.count += is_new
        return not is_new

    def copy(self):
        """A copy."""
        made = BloomFilter.__new__(type(self))
        made.capacity, made.error_rate, made.count, made._filter = self.capacity, self.error_rate, self.count, self._filter.copy()
        return made

    def _joined(self, other, what):
        if self.capacity != other.capacity or self.error_rate != other.error_rate:
            raise ValueError("both filters must have the same capacity and error rate")
        made = self.copy()
        getattr(made._filter, what)(other._filter)
        return made

    def union(self, other):
        """A filter of the keys of both."""
        return self._joined(other, "merge")

    def intersection(self, other):
        """A filter of the keys that both have."""
        return self._joined(other, "intersect")

    __or__, __and__ = union, intersection

    def tofile(self, f):
        """Write the filter to a file object."""
        if isinstance(self._filter, _Pybloom):
            f.write(_HEADER.pack(self.error_rate, self._filter.slices, self._filter.slice_bits, self.capacity, self.count))
            f.write(bytes(self._filter.bits))
        else:
            image = bytes(self._filter)
            f.write(_MAGIC + struct.pack("<Q", len(image)) + image + _TRAILER.pack(self.error_rate, self.capacity, self.count))

    @classmethod
    def fromfile(cls, f, n=-1):
        """Read a filter from a file object; of at most n bytes where n is positive."""
        if 0 < n < _HEADER.size:
            raise ValueError("n too small!")
        start = _exactly(f, len(_MAGIC))
        made = cls.__new__(cls)
        if start == _MAGIC:
            size, = struct.unpack("<Q", _exactly(f, 8))
            made._filter = Filter.from_bytes(f.read(size))
            made.error_rate, made.capacity, made.count = _TRAILER.unpack(_exactly(f, _TRAILER.size))
            return made
        header = start + _exactly(f, _HEADER.size - len(start))
        made.error_rate, slices, slice_bits, made.capacity, made.count = _HEADER.unpack(header)
        made._filter = _Pybloom(slices, slice_bits, f.read(n - len(header)) if n > 0 else f.read())
        return made


def _exactly(f, n):
    data = f.read(n)
    if len(data) != n:
        raise ValueError("the file is too short for a bloom filter")
    return data


class _Pybloom:
    """The bits of pybloom_live: a bit in each of the slices, chosen by salted digests of the key. Bit i is bit i % 8 of byte i / 8."""

    def __init__(self, slices, slice_bits, data):
        if not (0 < slices <= 4096 and slice_bits and -(-slices * slice_bits // 8) <= len(data) <= slices * slice_bits // 8 + 1):
            raise ValueError("Bit length mismatch!")
        self.slices, self.slice_bits, self.bits = slices, slice_bits, bytearray(data)
        code, width = ("Q", 8) if slice_bits >= 1 << 31 else ("I", 4) if slice_bits >= 1 << 15 else ("H", 2)
        digest = _digest(8 * slices * width)
        self._numbers = struct.Struct("=" + code * (digest().digest_size // width))
        salts = -(-slices // (digest().digest_size // width))
        self._salts = [digest(digest(struct.pack("I", i)).digest()) for i in range(salts)]

    def places(self, key):
        at = 0
        for salt in self._salts:
            one = salt.copy()
            one.update(key.encode())
            for number in self._numbers.unpack(one.digest())[:self.slices - at]:
                yield at * self.slice_bits + number % self.slice_bits
                at += 1

    def __contains__(self, key):
        return all(self.bits[i >> 3] >> (i & 7) & 1 for i in self.places(key))

    def add(self, key):
        for i in self.places(key):
            self.bits[i >> 3] |= 1 << (i & 7)

    def add_new(self, key):
        is_new = key not in self
        self.add(key)
        return is_new

    def copy(self):
        return _Pybloom(self.slices, self.slice_bits, self.bits)

    def payload(self):
        return bytes(self.bits)

    def merge(self, other):
        self.bits = bytearray(a | b for a, b in zip(self.bits, other.bits))

    def intersect(self, other):
        self.bits = bytearray(a & b for a, b in zip(self.bits, other.bits))


def _digest(bits):
    """The digest that has so many bits."""
    for least, digest in ((384, hashlib.sha512), (256, hashlib.sha384), (160, hashlib.sha256), (128, hashlib.sha1)):
        if bits > least:
            return digest
    import xxhash
    return xxhash.xxh128


class ScalableBloomFilter:
    """ScalableBloomFilter(initial_capacity=100, error_rate=0.001, mode=LARGE_SET_GROWTH): see the module."""

    SMALL_SET_GROWTH, LARGE_SET_GROWTH = 2, 4

    def __init__(self, initial_capacity=100, error_rate=0.001, mode=LARGE_SET_GROWTH):
        if not error_rate or error_rate < 0:
            raise ValueError("Error_Rate must be a decimal less than 0.")
        self.scale, self.ratio, self.initial_capacity, self.error_rate = mode, 0.9, initial_capacity, error_rate
        self.filters = []

    def __contains__(self, key):
        """Tests a key's membership in this bloom filter."""
        return any(key in f for f in reversed(self.filters))

    def add(self, key):
        """Add a key; True when it was there."""
        if key in self:
            return True
        if not self.filters:
            self.filters.append(BloomFilter(self.initial_capacity, self.error_rate * self.ratio))
        last = self.filters[-1]
        if last.count >= last.capacity:
            last = BloomFilter(last.capacity * self.scale, last.error_rate * self.ratio)
            self.filters.append(last)
        last.add(key, skip_check=True)
        return False

    def union(self, other):
        """A filter of the keys of both."""
        if (self.scale, self.initial_capacity, self.error_rate) != (other.scale, other.initial_capacity, other.error_rate):
            raise ValueError("both filters must have the same mode, initial capacity and error rate")
        made = type(self)(self.initial_capacity, self.error_rate, self.scale)
        longer, shorter = sorted((self, other), key=lambda one: len(one.filters), reverse=True)
        made.filters = [f | g for f, g in zip(longer.filters, shorter.filters)]
        made.filters += [f.copy() for f in longer.filters[len(shorter.filters):]]
        return made

    __or__ = union

    @property
    def capacity(self):
        """The capacity of all parts."""
        return sum(f.capacity for f in self.filters)

    @property
    def count(self):
        """The number of keys."""
        return len(self)

    def __len__(self):
        return sum(f.count for f in self.filters)

    def tofile(self, f):
        """Write the filter to a file object."""
        parts = []
        for one in self.filters:
            part = io.BytesIO()
            one.tofile(part)
            parts.append(part.getvalue())
        f.write(_SCALABLE.pack(self.scale, self.ratio, self.initial_capacity, self.error_rate) + struct.pack("<l", len(parts)))
        f.write(struct.pack(f"<{len(parts)}Q", *map(len, parts)) + b"".join(parts))

    @classmethod
    def fromfile(cls, f):
        """Read a filter from a file object."""
        scale, ratio, capacity, error_rate = _SCALABLE.unpack(_exactly(f, _SCALABLE.size))
        made = cls(capacity, error_rate, scale)
        made.ratio = ratio
        n, = struct.unpack("<l", _exactly(f, 4))
        if not 0 <= n <= 64:
            raise ValueError("the file is not that of a scalable bloom filter")
        for size in struct.unpack(f"<{n}Q", _exactly(f, 8 * n)):
            if size > 1 << 40:
                raise ValueError("the file is not that of a scalable bloom filter")
            made.filters.append(BloomFilter.fromfile(io.BytesIO(f.read(size)), size))
        return made
