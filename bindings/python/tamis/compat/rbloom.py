# SPDX-License-Identifier: MIT
"""Bloom, shaped like the class of rbloom.

>>> from tamis.compat.rbloom import Bloom
>>> b = Bloom(1000, 0.01)
>>> b.update(["cat", "dog"])
>>> "cat" in b, "cow" in b
(True, False)

Without hash_func a key is what it is for tamis.Filter: str, bytes or int, all of a filter alike. Such a filter means the same in
every process, and can be saved; rbloom's cannot. With a hash_func, `hash` included, any object is a key that it takes.

load and load_bytes read files of tamis, and those of rbloom: the latter answer through the same positions, at the speed of
Python, and are saved as rbloom would.
"""
import math
import os

from .. import _errors
from .._filter import Filter

_ROUNDS = 2**128


def _bits(expected_items, false_positive_rate):
    """The bits of an rbloom filter of this size, in whole bytes."""
    if expected_items <= 0:
        raise ValueError("expected_items: it must be positive")
    if not 0 < false_positive_rate < 1:
        raise ValueError("false_positive_rate: it must be between 0 and 1")
    bits = -expected_items * math.log(false_positive_rate) / math.log(2)**2
    return max(8, -(-math.ceil(bits) // 8) * 8)


class Bloom:
    """Bloom(expected_items, false_positive_rate, hash_func=None): see the module."""

    __slots__ = ("_filter", "_hash_func", "__weakref__")
    __hash__ = None

    def __init__(self, expected_items, false_positive_rate, hash_func=None):
        if hash_func is not None and not callable(hash_func):
            raise TypeError("hash_func must be callable")
        bits = _bits(expected_items, false_positive_rate)
        self._filter = Filter("classic", bits=bits, capacity=expected_items)
        self._hash_func = hash_func

    @classmethod
    def _of(cls, filter_, hash_func):
        made = cls.__new__(cls)
        made._filter, made._hash_func = filter_, hash_func
        return made

    def _key(self, key):
        """128 bits are kept, as in rbloom."""
        return (self._hash_func(key) % _ROUNDS).to_bytes(16, "little")

    @property
    def size_in_bits(self):
        """The number of bits."""
        return 8 * len(self._filter.payload())

    @property
    def hash_func(self):
        """The function that was given; hash when none was."""
        return hash if self._hash_func is None else self._hash_func

    @property
    def approx_items(self):
        """The number of distinct keys, estimated."""
        if not self:
            return 0.0
        try:
            return self._filter.approx_items().value
        except _errors.SaturatedError:
            return math.inf

    def add(self, key, /):
        """Add a key."""
        self._filter.add(key if self._hash_func is None else self._key(key))

    def __contains__(self, key):
        return (key if self._hash_func is None else self._key(key)) in self._filter

    def __bool__(self):
        return any(self._filter.payload())

    def __repr__(self):
        return f"<Bloom size_in_bits={self.size_in_bits} approx_items={self.approx_items:.1f}>"

    def copy(self):
        """A copy."""
        return self._of(self._filter.copy(), self._hash_func)

    __copy__ = copy

    def clear(self):
        """Remove all keys."""
        self._filter.clear()
        self._filter.set_note("encoding", None)

    # ---- Sets

    def _check(self, other):
        if not isinstance(other, Bloom):
            raise TypeError(f"{other!r} is not a Bloom")
        if type(other._filter) is not type(self._filter) or len(other._filter.payload()) != len(self._filter.payload()):
            raise ValueError("Bloom filters must have the same size")
        if other.hash_func is not self.hash_func:
            raise ValueError("Bloom filters must have the same hash function")
        return other

    def _other(self, other):
        """Another filter as it is, or one of keys."""
        if isinstance(other, Bloom):
            return self._check(other)
        made = self.copy()
        made.clear()
        made.update(other)
        return made

    def __or__(self, other):
        if not isinstance(other, Bloom):
            return NotImplemented
        return self.union(other)

    def __ior__(self, other):
        if not isinstance(other, Bloom):
            return NotImplemented
        self.update(other)
        return self

    def __and__(self, other):
        if not isinstance(other, Bloom):
            return NotImplemented
        return self.intersection(other)

    def __iand__(self, other):
        if not isinstance(other, Bloom):
            return NotImplemented
        self.intersection_update(other)
        return self

    def union(self, *others):
        """A filter of the keys of all."""
        made = self.copy()
        made.update(*others)
        return made

    def update(self, *others):
        """Add the keys of all: other filters, or keys."""
        for other in others:
            if isinstance(other, Bloom):
                self._filter.merge(self._check(other)._filter)
            elif self._hash_func is None:
                self._filter.update(other)
            else:
                self._filter.update(map(self._key, other))

    def intersection(self, *others):
        """A filter of the keys that all have."""
        made = self.copy()
        made.intersection_update(*others)
        return made

    def intersection_update(self, *others):
        """Keep the keys that all have."""
        for other in others:
            self._filter.intersect(self._other(other)._filter)

    def __eq__(self, other):
        if not isinstance(other, Bloom):
            return NotImplemented
        return self._filter.payload() == self._check(other)._filter.payload()

    def __le__(self, other):
        mine, theirs = (int.from_bytes(b._filter.payload(), "little") for b in (self, self._check(other)))
        return mine | theirs == theirs

    def __lt__(self, other):
        return self <= other and self != other

    def __ge__(self, other):
        return self._check(other) <= self

    def __gt__(self, other):
        return self._check(other) < self

    def issubset(self, other, /):
        """Are all bits of this in the other?"""
        return self <= other

    def issuperset(self, other, /):
        """Are all bits of the other in this?"""
        return self >= other

    # ---- Bytes

    def save_bytes(self):
        """The filter as bytes: an image of tamis."""
        if self._hash_func is hash:
            raise ValueError("hash() differs from process to process: leave hash_func out, or give another one")
        return bytes(self._filter)

    def save(self, filepath):
        """Save the filter to a file."""
        data = self.save_bytes()
        with open(filepath, "wb") as file:
            file.write(data)

    @classmethod
    def load_bytes(cls, data, hash_func=None):
        """A filter from bytes of save_bytes, or of rbloom; with the hash_func that it was made with."""
        if hash_func is hash:
            raise ValueError("hash() differs from process to process: a filter that was made with it cannot be loaded")
        if hash_func is not None and not callable(hash_func):
            raise TypeError("hash_func must be callable")
        if data[:6] == b"\xd6tamis":
            return cls._of(Filter.from_bytes(data), hash_func)
        if hash_func is None:
            raise ValueError("a file of rbloom needs the hash_func that it was made with")
        return cls._of(_Rbloom(data), hash_func)

    @classmethod
    def load(cls, filepath, hash_func=None):
        """A filter from a file: see load_bytes."""
        with open(os.fspath(filepath), "rb") as file:
            return cls.load_bytes(file.read(), hash_func)


class _Rbloom:
    """The bytes of rbloom: the number of hashes in 8 bytes, then the bits. Bit i is bit i % 8 of byte i / 8."""

    def __init__(self, data):
        self.hashes, self.bits = int.from_bytes(data[:8], "little"), bytearray(data[8:])
        if not 0 < self.hashes <= 4096 or not self.bits:
            raise ValueError("neither an image of tamis nor a file of rbloom")

    def places(self, key):
        """A linear congruential generator that the hash starts."""
        state = int.from_bytes(key, "little")
        for _ in range(self.hashes):
            state = (state * 47026247687942121848144207491837418733 + 1) % _ROUNDS
            yield ((state >> 32) & 0xFFFFFFFFFFFFFFFF) % (8 * len(self.bits))

    def __contains__(self, key):
        return all(self.bits[i >> 3] >> (i & 7) & 1 for i in self.places(key))

    def add(self, key):
        for i in self.places(key):
            self.bits[i >> 3] |= 1 << (i & 7)

    def update(self, keys):
        for key in keys:
            self.add(key)

    def approx_items(self):
        from .. import Estimate
        n, ones = 8 * len(self.bits), int.from_bytes(self.bits, "little").bit_count()
        return Estimate((-n / self.hashes * math.log(1 - ones / n) if ones < n else math.inf, 0.0))

    def copy(self):
        return _Rbloom(bytes(self))

    def clear(self):
        self.bits = bytearray(len(self.bits))

    def set_note(self, name, value):
        """It has none."""

    def payload(self):
        return bytes(self.bits)

    def merge(self, other):
        self.bits = bytearray(a | b for a, b in zip(self.bits, other.bits))

    def intersect(self, other):
        self.bits = bytearray(a & b for a, b in zip(self.bits, other.bits))

    def __bytes__(self):
        return self.hashes.to_bytes(8, "little") + bytes(self.bits)
