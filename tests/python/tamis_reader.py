#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of Tamis images, written from docs/format.md alone.

    python3 tests/python/tamis_reader.py IMAGE               checks the image, prints what it is
    python3 tests/python/tamis_reader.py IMAGE KEYS-FILE     prints the lines that may be in it
    ... --secret HEX                                         for images with key=outside

Python 3 and its standard library, nothing else: the hashes are written out here too. It is slow
and obvious on purpose. If it and the library ever disagree, one of them or the document is wrong.

Exit status as the command has it: 0 something matched (or the image is good), 1 nothing matched,
2 the image was refused or a file could not be read.
"""

import struct
import sys

from hashes import mix8, sip13, xxh3, xxh64
from kinds_bits import (Attenuated, Blocked, Classic, Composite, Hierarchical, Layered, Retouched, Scalable,
                        Shard, Split, Universal, Window)
from kinds_coded import Gcs, Labels
from kinds_counters import Approximator, Counting, Countmin, Increment, Spectral, Stable
from kinds_differences import Iblt
from kinds_minhash import Minhash
from kinds_prints import Fingerprint
from kinds_rows import Bloomier, Cascade, Fuse, Ribbon
from kinds_tables import Compaction, Cuckoo, Dleft, Grow, Multiset, Quotient
from payload import Refused, need

KINDS = {
    1: Classic, 2: Blocked, 3: Split, 4: Universal, 5: Counting, 6: Spectral, 7: Increment,
    8: Dleft, 9: Cuckoo, 10: Quotient, 11: Multiset, 12: Compaction, 13: Gcs, 14: Fuse,
    15: Ribbon, 16: Bloomier, 17: Approximator, 18: Stable, 19: Window, 20: Grow, 21: Scalable,
    22: Layered, 23: Attenuated, 24: Retouched, 25: Composite, 26: Iblt, 27: Countmin,
    28: Hierarchical, 29: Minhash, 30: Fingerprint, 31: Labels, 32: Cascade, 33: Shard,
}


# ---- The image -----------------------------------------------------------------------------------

MAGIC = b"\xd6tamis\x1a\n"
HEADER = struct.Struct("<8sHBBIIIQQ16sQQQ8Q6Q")
HASH_NAMES = ("own", "xxh3", "xxh64", "sip13", "mix8")
OWN, XXH3, XXH64, SIP13, MIX8 = range(5)
PLACE_NAMES = ("none", "inside", "outside")
NONE, INSIDE, OUTSIDE = range(3)
MAX_NOTES = 2**20
NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")


def need_known(condition, what):
    if not condition:
        raise Refused("newer", what)


class Image:
    """A checked image. Raises Refused where docs/format.md says that a reader must refuse."""

    def __init__(self, data, secret=None):
        data = bytes(data)
        need(len(data) >= HEADER.size, "shorter than a header")
        need(data[:8] == MAGIC, "not a Tamis image")
        f = HEADER.unpack_from(data)
        (_, self.version, self.hash_mode, self.key_place, self.kind_id, self.may_ignore,
         must_refuse, self.seed, self.key_id, stored_secret, self.capacity, self.items,
         self.one_in) = f[:13]
        self.word = f[13:21]
        payload_size, notes_size, self_test, zero, content_sum, header_sum = f[21:]

        need(self.version != 0, "format version 0")
        need_known(self.version == 1, f"format version {self.version}")
        need(header_sum == xxh3(data[:184]), "header checksum")
        need_known(must_refuse == 0, f"features {must_refuse:#x}")
        need(zero == 0, "bytes 168 to 175 are not zero")
        need(self.kind_id != 0, "kind 0")
        need_known(self.kind_id in KINDS, f"kind {self.kind_id}")
        need(self.capacity <= 2**56, "capacity over 2^56")
        need(self.one_in == 0 or self.one_in > 10**6, "asked rate not below 1")

        kind = KINDS[self.kind_id]
        self.kind, self.word_names = kind.name, kind.words
        need(not any(self.word[len(kind.words):]), "an unused shape word is not zero")
        self.body = kind(self.word[:len(kind.words)])
        need(payload_size == self.body.size, "payload size does not fit the shape")
        need(notes_size <= MAX_NOTES, "too many notes")
        need(len(data) == HEADER.size + payload_size + notes_size, "wrong total size")

        need_known(self.hash_mode < len(HASH_NAMES), f"hash mode {self.hash_mode}")
        need(self.key_place < len(PLACE_NAMES), "unknown place of the key")
        need(self.hash_mode != OWN, "hash mode does not match the kind")
        need((self.hash_mode == SIP13) == (self.key_place != NONE), "place of the key")
        need(self.hash_mode != SIP13 or self.seed == 0, "a seed where there is none")
        need(self.key_place == INSIDE or not any(stored_secret), "a secret where there is none")
        self._secret = stored_secret
        if self.key_place == OUTSIDE:
            if secret is None:
                raise Refused("secret", f"the secret with key id {self.key_id:016x} is needed")
            if len(secret) != 16:
                raise Refused("secret", "a secret has 16 bytes")
            self._secret = bytes(secret)
        own_id = 0 if self.key_place == NONE else sip13(self._secret, b"tamis key id")
        if self.key_place == OUTSIDE and own_id != self.key_id:
            raise Refused("secret", f"key id {own_id:016x}, {self.key_id:016x} is needed")
        need(own_id == self.key_id, "key id")
        need(self_test == self.hash(b"tamis: one sieve for every set"), "hash self-test")

        need(content_sum == xxh3(data[HEADER.size:]), "checksum of payload and notes")
        self.payload = data[HEADER.size:HEADER.size + payload_size]
        self.notes = read_notes(data[HEADER.size + payload_size:])
        self.body.open(self.payload)
        need(self.body.keys in (None, self.items), "items")

    @property
    def fpr_asked(self):
        return 10**6 / self.one_in if self.one_in else 0.0

    def hash(self, key):
        if self.hash_mode == XXH3:
            return xxh3(key, self.seed)
        if self.hash_mode == XXH64:
            return xxh64(key, self.seed)
        if self.hash_mode == MIX8:
            return mix8(key, self.seed)
        return sip13(self._secret, key)

    def has_hash(self, h):
        return self.body.has(h)

    def has(self, key):
        return self.has_hash(self.hash(key))

    def has_u64(self, number):
        return self.has(struct.pack("<Q", number))

    def count(self, key):
        """Only of kinds that count."""
        return self.body.count(self.hash(key))

    def get(self, key):
        """Only of kinds with values: the value, or None."""
        return self.body.get(self.hash(key))

    def labels(self, key):
        """Only of labels: the names of those that have the key."""
        return [self.body.label_names[label] for label in self.body.labels_of(self.hash(key))]


def read_notes(data):
    if not data:
        return {}
    need(data[-1] == 0, "notes do not end with NUL")
    texts = data[:-1].split(b"\0")
    need(len(texts) % 2 == 0, "notes are not pairs")
    notes, before = {}, b""
    for name, value in zip(texts[::2], texts[1::2]):
        need(1 <= len(name) <= 64 and NAME_BYTES.issuperset(name), "name of a note")
        need(name > before, "notes out of order")
        try:
            notes[name.decode("ascii")] = value.decode("utf-8")
        except UnicodeDecodeError:
            need(False, "a note is not UTF-8")
        before = name
    return notes


# ---- The command ---------------------------------------------------------------------------------

def describe(image):
    yield "version", image.version
    yield "kind", f"{image.kind} ({image.kind_id})"
    for name, value in zip(image.word_names, image.word):
        yield name, value
    yield "payload_bytes", len(image.payload)
    yield "capacity", image.capacity
    yield "items", image.items
    yield "fpr_asked", f"{image.fpr_asked:.6g}" if image.one_in else "none, a size was given"
    yield "hash", HASH_NAMES[image.hash_mode]
    yield "seed", image.seed
    yield "key", PLACE_NAMES[image.key_place]
    if image.key_place != NONE:
        yield "key_id", f"{image.key_id:016x}"
    for name, value in image.notes.items():
        yield "note." + name, value


def main(arguments):
    secret = None
    if len(arguments) >= 2 and arguments[-2] == "--secret":
        try:
            secret = bytes.fromhex(arguments[-1])
        except ValueError:
            secret = b""
        if len(secret) != 16:
            print("the secret must be 32 hexadecimal digits", file=sys.stderr)
            return 2
        arguments = arguments[:-2]
    if not 1 <= len(arguments) <= 2:
        print("usage: tamis_reader.py IMAGE [KEYS-FILE] [--secret HEX]", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            image = Image(file.read(), secret)
        if len(arguments) == 1:
            for name, value in describe(image):
                print(f"{name:14} {value}")
            return 0
        found = False
        with open(arguments[1], "rb") as file:
            for line in file:
                if image.has(line.removesuffix(b"\n")):
                    found = True
                    sys.stdout.buffer.write(line.removesuffix(b"\n") + b"\n")
        return 0 if found else 1
    except (OSError, Refused) as problem:
        print(f"{arguments[0]}: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
