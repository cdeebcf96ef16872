#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The second reader against the document, the golden images, the library and the command.

Prints TAP. TAMIS_SO names the library (build/libtamis.so), TAMIS the command (build/tamis); what
is not there is skipped. Everything is fixed: a red test is a change, never luck.
"""

import ctypes
import hashlib
import itertools
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import hashes
import payload
import tamis_patch
import tamis_reader as reader
import writers
from kinds_bits import PRIME, Split, hash_number
from kinds_differences import payload_of
from kinds_rows import SECOND_SALT, Layer, Peeled, strips_of
from tamis_reader import Image, Refused

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SO = os.environ.get("TAMIS_SO") or os.path.join(ROOT, "build", "libtamis.so")
COMMAND = os.environ.get("TAMIS") or os.path.join(ROOT, "build", "tamis")
SECRET = bytes(range(16))
SEED = 0x0123456789ABCDEF


# ---- TAP -----------------------------------------------------------------------------------------

done = failed = 0


def report(name, problem=None, skip=None):
    global done, failed
    done += 1
    failed += problem is not None
    print(f"{'not ok' if problem else 'ok'} {done} - {name}{f' # SKIP {skip}' if skip else ''}")
    if problem:
        print("# " + str(problem).replace("\n", "\n# "))
    sys.stdout.flush()


class Different(Exception):
    pass


def same(got, wanted, what):
    if got != wanted:
        raise Different(f"{what}: {got!r}, not {wanted!r}")


def run(name, test, *arguments):
    try:
        test(*arguments)
    except Exception as problem:  # whatever it is, it is one failed test and the others go on
        report(name, f"{type(problem).__name__}: {problem}")
    else:
        report(name)


def refused_as(data, secret=None):
    """damaged, newer or secret; None when the reader accepts the image."""
    try:
        Image(data, secret)
    except Refused as problem:
        return problem.why
    return None


# ---- The document --------------------------------------------------------------------------------

with open(os.path.join(ROOT, "docs", "format.md"), encoding="utf-8") as file:
    DOCUMENT = file.read()


def rows(heading):
    """Cells of the first table below a line of the document, without the head of the table."""
    table = re.search(r"(?:^\|.*\n)+", DOCUMENT.split(heading + "\n", 1)[1], re.M).group()
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.splitlines()[2:]]


def key_of(text):
    if text.startswith('"'):
        return text.strip('"').encode()
    if text.startswith("integer"):
        return struct.pack("<Q", int(text.split()[1]))
    return bytes(i % 251 for i in range(int(text[2:-1])))


def hash_vectors():
    table = rows("### 11.1 Hashes")
    same(len(table), 13, "rows")
    for text, *wanted in table:
        key = key_of(text)
        got = (hashes.xxh3(key), hashes.xxh3(key, SEED), hashes.xxh64(key),
               hashes.xxh64(key, SEED), hashes.sip13(SECRET, key))
        same(f"{hashes.mix8(key, SEED):016x}" in DOCUMENT, True, f"mix8 of {text}")
        same([f"{h:016x}" for h in got], wanted, text)
    same(f"{hashes.sip13(SECRET, b'tamis key id'):016x}" in DOCUMENT, True, "key id")
    for x, wanted in re.findall(r"`mix\((\w+)\)` = (\w+)", DOCUMENT):
        same(payload.mix(int(x, 0)), int(wanted, 0), f"mix({x})")


def position_rows(heading="### 11.2 Positions"):
    ids = {kind.name: number for number, kind in reader.KINDS.items()}
    for kind, shape, h, positions in rows(heading):
        words = [int(pair.split()[1]) for pair in shape.split(",")]
        names = tuple(pair.split()[0] for pair in shape.split(","))
        yield ids[kind], names, words, int(h, 16), [int(p) for p in positions.split()]


def position_vectors():
    table = list(position_rows())
    same(len(table), 27, "rows")
    for kind, names, words, h, wanted in table:
        same(names, reader.KINDS[kind].words, "names of shape words")
        same(list(reader.KINDS[kind](words).positions(h)), wanted, f"kind {kind} {words} {h:016x}")


def step_numbers(steps, most):
    return [number for step in itertools.islice(steps, most) for number in step]


def fingerprint(v, places):
    return [v, *places]


# What the document's table of places and fingerprints lists, by kind.
PLACES = {
    "increment": lambda kind, h: step_numbers(kind.steps(h), 64),
    "dleft": lambda kind, h: fingerprint(*kind.places(h)),
    "cuckoo": lambda kind, h: fingerprint(*kind.places(h)),
    "quotient": lambda kind, h: list(kind.split(h)),
    "compaction": lambda kind, h: step_numbers(kind.walk(h), 4),
    "window": lambda kind, h: [kind.bit(place, h) for place in range(kind.slices)],
    "layered": lambda kind, h: list(
        payload.chain(hash_number(1, h), 64 * kind.sizes[1], kind.hashes)),
}


def cells_places(kind, h):
    cell = kind.cell(h)
    return [cell, cell >> kind.shift, kind.first_number(cell)]


def peeled_places(kind, h):
    """In a segment of 1000 keys with seed 9, whose cells are 0."""
    strips, log = strips_of(1000, kind.arity, 9)
    cells = bytes(payload.whole_words((strips + kind.arity - 1 << log) * kind.width))
    segment = Peeled(struct.pack("<3Q", 1000, 9, 256 * strips + log) + cells, kind.segments,
                   kind.arity, kind.width)
    return [strips, log, *segment.places(h), segment.fingerprint(h, kind.width)]


def band_places(h):
    """In a layer of 16 blocks with seed 3 and without buckets."""
    layer = Layer(struct.pack("<2I4H", 16, 3, 0, 0, 0, 0), 1, 0)
    x = layer.enter(h)
    return [x, layer.start(x), layer.coefficients(x)]


PLACES |= {
    "gcs": cells_places, "labels": cells_places, "fuse": peeled_places,
    "ribbon": lambda kind, h: band_places(h),
    "cascade": lambda kind, h: band_places(h ^ SECOND_SALT),
    "approximator": lambda kind, h: list(
        payload.chain(h, kind.bits // kind.value, kind.hashes)),
}


def place_vectors():
    table = list(position_rows("### 11.3 Places and fingerprints"))
    same({reader.KINDS[row[0]].name for row in table}, set(PLACES), "kinds")
    for number, names, words, h, wanted in table:
        kind = reader.KINDS[number]
        same(names, kind.words, "names of shape words")
        same(PLACES[kind.name](kind(words), h), wanted, f"{kind.name} {words} {h:016x}")


def document_example():
    section = DOCUMENT.split("## 10. A worked example", 1)[1]
    return bytes.fromhex("".join(re.findall(r"^    [0-9a-f]{8}  ([0-9a-f ]+)$", section, re.M)))


def worked_example():
    data = document_example()
    same(len(data), 213, "size")
    image = Image(data)
    same((image.kind, image.word[:3], image.capacity, image.items, image.one_in),
         ("classic", (64, 6, 0), 3, 3, 10**8), "header")
    same(image.notes, {"comment": "pets"}, "notes")
    for key, h, positions in rows("The keys, their hashes and positions:"):
        same(f"{image.hash(key.encode()):016x}", h, key)
        same(list(image.body.positions(int(h, 16))), [int(p) for p in positions.split()], key)
        same(image.has(key.encode()), True, key)
    same(image.has(b"fox"), False, "fox")
    # Every row of the explanation: its bytes are those at its offset.
    for offset, text, _ in rows("    000000d0  70 65 74 73 00"):
        bytes_there = re.fullmatch(r"((?:[0-9a-f]{2} ?)+)(?: …)?", text)
        if bytes_there:
            wanted = bytes.fromhex(bytes_there.group(1))
            same(data[int(offset, 16):][:len(wanted)], wanted, offset)


def bit_flips_of_example():
    data = document_example()
    for at in range(len(data) * 8):
        bad = bytearray(data)
        bad[at >> 3] ^= 1 << (at & 7)
        if refused_as(bad) is None:
            raise Different(f"accepted with bit {at} flipped")


def sizes_of_example():
    data = document_example()
    for size in range(len(data)):
        same(refused_as(data[:size]), "damaged", f"first {size} bytes")
    same(refused_as(data + b"\0"), "damaged", "one byte more")


def own_siphash():
    """CPython's hash of bytes is SipHash-1-3 with a zero key when hashing is not randomised."""
    keys = [bytes(range(n)) for n in range(1, 70)]
    code = f"for n in range(1, 70): print(hash(bytes(range(n))) & {hashes.M64})"
    out = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "0"},
                         stdout=subprocess.PIPE, check=True).stdout
    same([hashes.sip13(bytes(16), key) for key in keys], [int(x) for x in out.split()], "sip13")


# ---- Parquet -------------------------------------------------------------------------------------

# Bitsets of filters that DuckDB 1.5 wrote into Parquet files, and the values of their columns.
PARQUET = (
    ("480100310101a011002100272a0000542440080300804033002009b028100440",
     [b"alpha", b"beta", b"gamma", b"delta", b"", "café".encode()]),
    ("2e25ce3355752ada4a80f4f3e70e91a7382189cdb46393e809fd5c51da28e387"
     "3f407c325c08a82fe2f8a3802e4ee84a861625ceadea68402036e6a21099806d",
     [struct.pack("<i", i) for i in range(40)]),
    ("952e4c6f86ca0d9608e2de472d2c4a6359107fc5db1b805c89d7591258e1d979",
     [struct.pack("<d", i / 2) for i in range(20)]),
    ("c4944001d0000f848800e24208a882230a6200702485280403821018a8308044",
     [b"b%d" % i for i in range(10)]),
)


def parquet_bitsets():
    for bitset, values in PARQUET:
        bits = bytearray(len(bitset) // 2)
        for value in values:
            for at in Split((len(bits) // 32, 0)).positions(hashes.xxh64(value)):
                bits[at >> 3] |= 1 << (at & 7)
        same(bits.hex(), bitset, f"{len(values)} values")


def parquet_payloads(library):
    for bitset, values in PARQUET:
        filter_ = library.create(f"split:capacity=40,size={len(bitset) // 2},hash=xxh64")
        for value in values:
            library.so.tamis_add(filter_, value, len(value))
        payload = Image(library.image_of(filter_)).payload
        library.so.tamis_free(filter_)
        same(payload.hex(), bitset, f"{len(values)} values")


# ---- Golden images -------------------------------------------------------------------------------

def pinned_hits():
    """By file name, how many of 201..10200 and how many of 1..200 each golden image answers."""
    with open(os.path.join(ROOT, "tests", "golden", "hits.txt"), encoding="ascii") as file:
        return {name: (int(strangers), int(members))
                for name, strangers, members in map(str.split, file)}


hashed = {}


def hashed_numbers(image):
    way = image.hash_mode, image.seed, image.key_id
    if way not in hashed:
        hashed[way] = [image.hash(b"%d" % number) for number in range(1, 10201)]
    return hashed[way]


def golden(path):
    with open(path, "rb") as file:
        data = file.read()
    image, name = Image(data, SECRET), os.path.basename(path)
    many = 3000 if "-shards-" in name else 5000 if "-layers-" in name else 200
    many = 120 if image.kind == "fingerprint" else many
    many += 246 if "-recorded-" in name else 0  # blocks of two payloads
    same(image.items, 400 if image.kind == "cascade" else many, "items")
    answers = [image.has_hash(h) for h in hashed_numbers(image)]
    members, strangers = sum(answers[:200]), sum(answers[200:])
    same((strangers, members), pinned_hits()[name], "hits")
    if image.kind == "minhash":
        same(list(image.body.numbers), image.body.made_of(hashed_numbers(image)[:200]), "numbers")
    for i in range(1, 201):
        golden_value(image, i)


def segments_again(image, hashes):
    """The segments of an image as the document says that the library writes them."""
    body, segments = image.body, image.body.segments
    if image.kind == "gcs":
        cells = sorted({body.cell(h) for h in hashes})
        for i, segment in enumerate(body.opened):
            yield writers.coded_set([body.first_number(cell) for cell in cells
                                     if cell >> body.shift == i], segment.range, body.rice)
        return
    for i in range(segments):
        part = [h for h in hashes if payload.scale(h, segments) == i]
        if image.kind == "fuse":
            yield writers.peeled_array(part, segments, body.arity, body.width)
        else:
            yield writers.band(part, body.width, body.narrow)


def written_again(path):
    with open(path, "rb") as file:
        image = Image(file.read())
    hashes = hashed_numbers(image)[:image.items]
    if image.kind == "iblt":
        same(payload_of(hashes, image.word[:4]) == image.payload, True, "same payload")
        return
    same(writers.frame(list(segments_again(image, hashes))) == image.payload, True, "same payload")


def golden_value(image, i):
    """What tests/golden/make gave a key beside the key itself."""
    key = b"%d" % i
    if image.kind == "bloomier":
        same(image.get(key), i % 16, f"value of {i}")
    elif image.kind == "approximator":
        same((image.get(key) or 0) >= i % 16, True, f"value of {i}")
    elif image.kind == "labels":
        same(("even", "odd")[i % 2] in image.labels(key), True, f"label of {i}")
    elif image.kind == "cascade":
        same(image.has(b"%d" % (200 + i)), False, f"known-good key {200 + i}")


def golden_bad(path):
    with open(path, "rb") as file:
        data = file.read()
    if refused_as(data) is None:
        raise Different("accepted")


def files_in(folder):
    folder = os.path.join(ROOT, "tests", folder)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [(name, os.path.join(folder, name)) for name in names if name.endswith(".tamis")]


# ---- The library ---------------------------------------------------------------------------------

class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("allocator", ctypes.c_void_p),
                ("secret", ctypes.c_char_p), ("max_bytes", ctypes.c_uint64)]


class Estimate(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("error", ctypes.c_double)]


class Info(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kind", ctypes.c_char_p), ("contract", ctypes.c_char_p),
                ("kind_id", ctypes.c_uint32), ("is_view", ctypes.c_bool),
                ("is_saturated", ctypes.c_bool), ("is_degraded", ctypes.c_bool),
                ("capacity", ctypes.c_uint64), ("items", ctypes.c_uint64),
                ("payload_bytes", ctypes.c_uint64), ("stored_bytes", ctypes.c_uint64),
                ("probes", ctypes.c_uint64), ("fpr_asked", ctypes.c_double),
                ("fpr_expected", ctypes.c_double), ("fpr_now", ctypes.c_double),
                ("fill", ctypes.c_double), ("items_now", Estimate), ("hash", ctypes.c_char_p),
                ("key_place", ctypes.c_char_p), ("seed", ctypes.c_uint64),
                ("key_id", ctypes.c_uint64), ("word", ctypes.c_uint64 * 8),
                ("word_name", ctypes.c_char_p * 8)]


STATUS = {0: None, -5: "damaged", -6: "newer", -8: "secret"}


class Library:
    def __init__(self, path):
        self.so = so = ctypes.CDLL(path)
        pointer, size, u64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
        for name, result, arguments in (
                ("tamis_create_with", ctypes.c_int, [pointer, ctypes.c_char_p, pointer]),
                ("tamis_free", None, [pointer]),
                ("tamis_add", ctypes.c_int, [pointer, ctypes.c_char_p, size]),
                ("tamis_add_hash", ctypes.c_int, [pointer, u64]),
                ("tamis_has", ctypes.c_bool, [pointer, ctypes.c_char_p, size]),
                ("tamis_has_u64", ctypes.c_bool, [pointer, u64]),
                ("tamis_hash", u64, [pointer, ctypes.c_char_p, size]),
                ("tamis_has_hash", ctypes.c_bool, [pointer, u64]),
                ("tamis_remove_hash", ctypes.c_int, [pointer, u64]),
                ("tamis_count_hash", u64, [pointer, u64]),
                ("tamis_tick", ctypes.c_int, [pointer]),
                ("tamis_get_hash", ctypes.c_bool, [pointer, u64, pointer]),
                ("tamis_put_hash", ctypes.c_int, [pointer, u64, u64]),
                ("tamis_labels_hash", size, [pointer, u64, pointer, size]),
                ("tamis_label_count", u64, [pointer]),
                ("tamis_label_name", ctypes.c_char_p, [pointer, u64]),
                ("tamis_next", ctypes.c_bool, [pointer, pointer, pointer, pointer]),
                ("tamis_builder_create", ctypes.c_int, [pointer, ctypes.c_char_p, u64, pointer]),
                ("tamis_builder_free", None, [pointer]),
                ("tamis_builder_add_hash", ctypes.c_int, [pointer, u64]),
                ("tamis_builder_put_hash", ctypes.c_int, [pointer, u64, u64]),
                ("tamis_builder_exclude_hash", ctypes.c_int, [pointer, u64]),
                ("tamis_builder_label", ctypes.c_int, [pointer, ctypes.c_char_p]),
                ("tamis_builder_finish", ctypes.c_int, [pointer, pointer]),
                ("tamis_set_note", ctypes.c_int, [pointer, ctypes.c_char_p, ctypes.c_char_p]),
                ("tamis_image_size", u64, [pointer]),
                ("tamis_serialize", ctypes.c_int, [pointer, pointer, size]),
                ("tamis_load_with", ctypes.c_int, [pointer, ctypes.c_char_p, size, pointer]),
                ("tamis_measure", None, [pointer, pointer]),
                ("tamis_why", ctypes.c_char_p, [])):
            function = getattr(so, name)
            function.restype, function.argtypes = result, arguments

    def knows(self, spec):
        filter_ = ctypes.c_void_p()
        status = self.so.tamis_create_with(ctypes.byref(filter_), spec.encode(), None)
        self.so.tamis_free(filter_)
        return status == 0

    def create(self, spec):
        filter_ = ctypes.c_void_p()
        options = Options(struct_size=ctypes.sizeof(Options))
        if "sip13" in spec:
            options.secret = SECRET
        if self.so.tamis_create_with(ctypes.byref(filter_), spec.encode(), ctypes.byref(options)):
            raise Different(f"{spec}: {self.so.tamis_why().decode()}")
        return filter_

    def image_of(self, filter_):
        size = self.so.tamis_image_size(filter_)
        data = ctypes.create_string_buffer(size)
        same(self.so.tamis_serialize(filter_, data, size), 0, "tamis_serialize")
        return data.raw

    def info_of(self, filter_):
        info = Info(struct_size=ctypes.sizeof(Info))
        self.so.tamis_measure(filter_, ctypes.byref(info))
        return info

    def load(self, data):
        filter_ = ctypes.c_void_p()
        same(self.so.tamis_load_with(ctypes.byref(filter_), data, len(data), None), 0, "load")
        return filter_

    def get(self, filter_, h):
        value = ctypes.c_uint64()
        return value.value if self.so.tamis_get_hash(filter_, h, ctypes.byref(value)) else None

    def labels(self, filter_, h):
        labels = (ctypes.c_uint64 * 64)()
        return labels[:self.so.tamis_labels_hash(filter_, h, labels, 64)]

    def label_names(self, filter_):
        return [self.so.tamis_label_name(filter_, label).decode("utf-8", "replace")
                for label in range(self.so.tamis_label_count(filter_))]

    def stored(self, filter_, body):
        """What it lists, with the cell of each hash instead of the hash."""
        has_labels = hasattr(body, "labels_of")
        cursor, h, count = (ctypes.c_uint64() for _ in range(3))
        while self.so.tamis_next(filter_, *map(ctypes.byref, (cursor, h, count))):
            yield body.cell(h.value), count.value if has_labels else 0

    def build(self, spec, fill):
        """A filter made by a builder, to which `fill` gives the keys."""
        builder, filter_ = ctypes.c_void_p(), ctypes.c_void_p()
        status = self.so.tamis_builder_create(ctypes.byref(builder), spec.encode(), 0, None)
        if not status:
            fill(builder)
            status = self.so.tamis_builder_finish(builder, ctypes.byref(filter_))
        why = self.so.tamis_why()
        self.so.tamis_builder_free(builder)
        if status:
            raise Different(f"{spec}: {why.decode()}")
        return filter_

    def refuses_as(self, data, secret):
        filter_ = ctypes.c_void_p()
        options = Options(struct_size=ctypes.sizeof(Options), secret=secret)
        data = bytes(data)
        status = self.so.tamis_load_with(ctypes.byref(filter_), data, len(data),
                                         ctypes.byref(options))
        self.so.tamis_free(filter_)
        return STATUS[status]


def make_keys():
    """1000 members and 2000 strangers: integers, words, lines and a few long keys."""
    dice = random.Random(2026)
    keys = {b""}
    while len(keys) < 3000:
        way = dice.randrange(4)
        if way == 0:
            keys.add(struct.pack("<Q", dice.getrandbits(dice.choice((8, 20, 64)))))
        elif way == 1:
            keys.add(b"key-%d" % dice.randrange(10**6))
        elif way == 2:
            keys.add(dice.randbytes(dice.randrange(1, 40)))
        else:
            keys.add(dice.randbytes(dice.choice((16, 17, 33, 64, 128, 129, 200, 240, 241, 300))))
    keys = sorted(keys)
    dice.shuffle(keys)
    return keys[:1000], keys[1000:]


SPECS = (
    "classic:capacity=1000,fpr=5%",
    "classic:capacity=1000,bits=6999,hashes=3",
    "classic:capacity=1000,bits=8129,hashes=2,scheme=double64",
    "classic:capacity=1000,fpr=5%,scheme=double",
    "classic:capacity=1000,fpr=10%,scheme=enhanced",
    "classic:capacity=1000,fpr=10%,scheme=triple",
    "classic:capacity=1000,fpr=10%,scheme=slices",
    "classic:capacity=1000,bits=6999,hashes=9,scheme=slices",
    "classic:capacity=1000,fpr=10%,scheme=seeds",
    "classic:capacity=1000,bits=100000,hashes=64",
    "blocked:capacity=1000,fpr=10%",
    "blocked:capacity=1000,bits=6000,hashes=1",
    "blocked:capacity=1000,bits=6000,hashes=5",
    "blocked:capacity=1000,bits=7200,hashes=7",
    "blocked:capacity=1000,fpr=5%,hashes=8",
    "blocked:capacity=1000,bits=9000,hashes=16",
    "blocked:capacity=100000,fpr=1%",
    "split:capacity=1000,fpr=10%",
    "split:capacity=1000,fpr=5%,index=wide",
    "universal:capacity=1000,fpr=10%",
    "universal:capacity=1000,bits=3001",
)
HASHES = ("", ",hash=xxh3,seed=81985529216486895", ",hash=xxh64", ",hash=xxh64,seed=1", ",hash=mix8", ",hash=mix8,seed=7",
          ",hash=sip13", ",hash=sip13,key=outside")
MEMBERS, STRANGERS = make_keys()


def agree(library, spec):
    so = library.so
    filter_ = library.create(spec)
    try:
        for key in MEMBERS:
            same(so.tamis_add(filter_, key, len(key)), 0, "tamis_add")
        so.tamis_set_note(filter_, b"comment", spec.encode())
        so.tamis_set_note(filter_, b"a", "Käse 🧀".encode())
        data = library.image_of(filter_)
        image = Image(data, SECRET)
        info = library.info_of(filter_)

        same(image.kind, info.kind.decode(), "kind")
        same(image.kind_id, info.kind_id, "kind id")
        same(image.word, tuple(info.word), "shape")
        same(image.word_names, tuple(n.decode() for n in info.word_name if n), "shape names")
        same(image.capacity, info.capacity, "capacity")
        same((image.items, info.items), (1000, 1000), "items")
        same(len(image.payload), info.payload_bytes, "payload bytes")
        same(len(data), info.stored_bytes, "stored bytes")
        same(image.fpr_asked, info.fpr_asked, "asked rate")
        same(reader.HASH_NAMES[image.hash_mode], info.hash.decode(), "hash")
        same(reader.PLACE_NAMES[image.key_place], info.key_place.decode(), "place of the key")
        same(image.seed, info.seed, "seed")
        same(image.key_id, info.key_id, "key id")
        same(image.notes, {"a": "Käse 🧀", "comment": spec}, "notes")
        ones = sum(byte.bit_count() for byte in image.payload)
        same(info.fill > 0 and ones > 0, True, "fill")

        for i, key in enumerate(MEMBERS + STRANGERS):
            h = so.tamis_hash(filter_, key, len(key))
            if image.hash(key) != h:
                raise Different(f"hash of {key!r}")
            answer = image.has_hash(h)
            if answer != so.tamis_has(filter_, key, len(key)):
                raise Different(f"answer for {key!r}")
            if i < len(MEMBERS) and not answer:
                raise Different(f"member {key!r} is missing")
        same(image.has_u64(SEED), so.tamis_has_u64(filter_, SEED), "integer")
        for h in (0, 1, 2**32 - 1, 2**32, 2**61 - 2, 2**61 - 1, 2**63, 2**64 - 1):
            same(image.has_hash(h), so.tamis_has_hash(filter_, h), f"hash {h:#x}")
    finally:
        so.tamis_free(filter_)


def seeded_words(library):
    """A universal filter's words follow from the seed as the document says."""
    for seed in (0, 1, SEED, 2**64 - 1):
        filter_ = library.create(f"universal:capacity=10,seed={seed}")
        word = library.info_of(filter_).word
        library.so.tamis_free(filter_)
        same(word[1], 1 + payload.mix((seed + payload.G) & hashes.M64) % (PRIME - 1), "multiplier")
        same(word[2], payload.mix((seed + 2 * payload.G) & hashes.M64) % PRIME, "offset")


def library_positions(library):
    """One added hash sets exactly the bits of the document's table."""
    specs = {1: "classic:capacity=1,bits={0},hashes={1},scheme={2}",
             2: "blocked:capacity=1,bits={0},hashes={1}", 3: "split:capacity=1,bits={0},index={1}",
             4: "universal:capacity=1,bits={0}"}
    unit = {1: 1, 2: 512, 3: 256, 4: 1}
    schemes = ("mcg", "double64", "double", "enhanced", "triple", "slices", "seeds")
    for kind, _, words, h, wanted in position_rows():
        arguments = [words[0] * unit[kind], *words[1:]]
        if kind == 1:
            arguments[2] = schemes[words[2]]
        if kind == 3:
            arguments[1] = ("parquet", "wide")[words[1]]
        spec = specs[kind].format(*arguments)
        if kind == 4 and not library.knows(spec):
            continue
        filter_ = library.create(spec)
        same(library.so.tamis_add_hash(filter_, h), 0, "tamis_add_hash")
        image = Image(library.image_of(filter_))
        library.so.tamis_free(filter_)
        same(list(image.word[:len(words)]), words, spec)
        bits = [i for i in range(8 * len(image.payload)) if image.payload[i >> 3] >> (i & 7) & 1]
        same(bits, sorted(set(wanted)), spec)


# ---- Every kind after a random program -----------------------------------------------------------

# Small and crowded: positions coincide, counters stick, tables fill up, stages and voids appear.
CROWDED = (
    "classic:capacity=20,fpr=20%", "blocked:capacity=20,fpr=20%", "split:capacity=20,fpr=20%",
    "universal:capacity=20,fpr=20%", "shard:capacity=20,fpr=20%",
    "shard:capacity=200,fpr=20%,shard=1,shards=2", "shard:capacity=99,hashes=8,shard=0,shards=2",
    "shard:layout=split,capacity=200,fpr=20%,shard=2,shards=3",
    "shard:layout=split,capacity=200,index=wide,shard=1,shards=3",
    "counting:capacity=30,fpr=10%", "counting:capacity=9,bits=101,hashes=13",
    "counting:capacity=9,bits=200,hashes=13,width=3,log=yes", "counting:capacity=9,bits=200,bare=yes",
    "spectral:capacity=30,fpr=10%", "spectral:capacity=9,bits=200,hashes=13,width=4",
    "spectral:capacity=9,bits=200,hashes=13,width=4,mode=increase",
    "spectral:capacity=9,bits=200,hashes=13,width=4,mode=recurring",
    "spectral:capacity=9,bits=600,hashes=5,width=5,mode=recurring",
    "countmin:capacity=30,fpr=10%", "countmin:columns=3,rows=3",
    "countmin:columns=3,rows=2,width=64,update=conservative",
    "increment:capacity=30,fpr=10%", "increment:capacity=9,fpr=20%,step=16",
    "dleft:capacity=40,fpr=10%", "dleft:capacity=300,fpr=1%",
    "cuckoo:capacity=30,fpr=10%", "cuckoo:capacity=500,fpr=30%",
    "cuckoo:capacity=30,fpr=10%,sort=yes", "cuckoo:capacity=500,fpr=30%,sort=yes",
    "quotient:capacity=50,fpr=10%", "quotient:capacity=400,fpr=30%",
    "multiset:capacity=60,fpr=30%,remainder=2", "multiset:capacity=400,fpr=1%",
    "compaction:capacity=50,fpr=10%", "compaction:capacity=50,fpr=10%,probing=linear",
    "stable:capacity=30,fpr=10%", "stable:capacity=30,fpr=10%,width=4",
    "window:capacity=30,fpr=10%", "window:capacity=30,fpr=10%,by=clock",
    "grow:capacity=1,fpr=30%", "grow:capacity=10,fpr=1%",
    "scalable:capacity=5,fpr=10%", "scalable:capacity=5,fpr=1%,kind=split",
    "scalable:capacity=5,fpr=1%,kind=classic",
    "layered:capacity=30,fpr=10%", "layered:capacity=30,fpr=10%,shrink=50,layers=9",
    "attenuated:capacity=30,fpr=10%", "retouched:capacity=30,fpr=10%",
    "hierarchical:capacity=30,fpr=10%", "hierarchical:capacity=30,fpr=10%,block=8,levels=16",
    "composite:capacity=30,fpr=10%", "composite:capacity=30,fpr=10%,removed=20",
    "iblt:capacity=30,fpr=10%", "iblt:cells=9,hashes=3,counters=64", "iblt:cells=24,estimator=none",
    "iblt:cells=24,hashes=8,estimator=strata",
    "minhash:bins=16", "minhash:bins=50", "minhash:bins=40,keep=3",
)
FORGERIES = 100


def random_program(library, spec, dice):
    """A filter after adds, removes and ticks, and the hashes that took part. What a kind cannot do,
    or has no room for, it refuses, and that is no matter here."""
    filter_ = library.create(spec)
    keys = [dice.getrandbits(64) for _ in range(40)]
    for _ in range(400):
        h, way = keys[int(40 * dice.random()**2)], dice.random()
        if way < 0.75:
            library.so.tamis_add_hash(filter_, h)
        elif way < 0.97:
            library.so.tamis_remove_hash(filter_, h)
        else:
            library.so.tamis_tick(filter_)
    return filter_, keys


def forgery(data, dice):
    """Another payload or another shape word under right checksums."""
    data = bytearray(data)
    size = struct.unpack_from("<Q", data, 144)[0]
    if dice.random() < 0.7:
        for _ in range(dice.choice((1, 1, 2))):
            at = 192 + dice.choice((0, 0, 0, max(0, size - 24))) % size
            at += dice.randrange(dice.choice((192 + size - at, min(192 + size - at, 24))))
            data[at] = dice.choice((data[at] ^ 1 << dice.randrange(8), dice.randrange(256)))
    else:
        at = 80 + 8 * dice.randrange(8)
        word = struct.unpack_from("<Q", data, at)[0]
        word = dice.choice((0, 1, word + 1, word * 2, word // 2, 1 << dice.randrange(64),
                            dice.randrange(128)))
        struct.pack_into("<Q", data, at, word & hashes.M64)
        data = with_size_of_shape(data, dice)
    return seal(data)


def with_size_of_shape(data, dice):
    kind = reader.KINDS[struct.unpack_from("<I", data, 12)[0]]
    try:
        size = kind(struct.unpack_from("<8Q", data, 80)[:len(kind.words)]).size
    except Refused:
        return data
    if size > 2**16:
        return data
    old = dice.choice((0, struct.unpack_from("<Q", data, 144)[0]))
    data = data[:192] + data[192:192 + min(size, old)] + bytes(max(0, size - old))
    struct.pack_into("<Q", data, 144, size)
    return data


def same_answers(library, filter_, image, asked):
    for h in asked:
        same(image.has_hash(h), library.so.tamis_has_hash(filter_, h), f"answer for {h:#x}")
        if hasattr(image.body, "count"):
            same(image.body.count(h), library.so.tamis_count_hash(filter_, h), f"count of {h:#x}")
        if hasattr(image.body, "get"):
            same(image.body.get(h), library.get(filter_, h), f"value of {h:#x}")
        if hasattr(image.body, "labels_of"):
            same(image.body.labels_of(h), library.labels(filter_, h), f"labels of {h:#x}")
    if hasattr(image.body, "stored"):
        same(list(image.body.stored()), list(library.stored(filter_, image.body)), "list")
    if hasattr(image.body, "label_names"):
        same(image.body.label_names, library.label_names(filter_), "names of labels")


def crowded(library, spec):
    dice = random.Random(spec)
    answers_and_refusals(library, spec, *random_program(library, spec, dice), dice)


def answers_and_refusals(library, spec, filter_, keys, dice, forgeries=FORGERIES):
    """Answers are the same, and so they are for forged images, or both refuse them."""
    data = library.image_of(filter_)
    same_answers(library, filter_, Image(data), keys + [dice.getrandbits(64) for _ in range(200)])
    library.so.tamis_free(filter_)
    for i in range(forgeries):
        forged = forgery(data, dice)
        why = refused_as(forged)
        same(why, library.refuses_as(forged, None), f"{spec}, forgery {i}")
        if why is None:
            filter_ = library.load(forged)
            same_answers(library, filter_, Image(forged), keys[:10])
            library.so.tamis_free(filter_)


# ---- Kinds that are made from all their keys at once ---------------------------------------------

# How many keys, and of what. Several segments, several layers of a band, an empty segment, no keys.
BUILT = tuple((keys, spec) for keys, specs in {
    0: ("gcs", "fuse", "ribbon", "bloomier", "bloomier:update=yes", "labels", "cascade",
        "approximator"),
    1: ("gcs", "fuse", "fuse:arity=4", "ribbon", "bloomier", "bloomier:update=yes", "labels",
        "cascade"),
    40: ("gcs", "gcs:rice=0,range=100", "gcs:rice=56", "gcs:fpr=1e-12", "gcs:capacity=40,range=40",
         "fuse", "fuse:fpr=1e-9,arity=4", "ribbon", "ribbon:fpr=50%", "ribbon:fpr=60%",
         "ribbon:fpr=1e-9", "bloomier", "bloomier:value=64,guard=32", "bloomier:value=1,guard=0",
         "bloomier:engine=fuse", "bloomier:engine=fuse,value=64,guard=32",
         "bloomier:engine=fuse,guard=0", "bloomier:update=yes", "bloomier:update=yes,guard=0",
         "bloomier:update=yes,value=64,guard=32", "labels", "labels:range=10", "labels:fpr=1e-12",
         "cascade", "cascade:fpr=50%", "approximator", "approximator:lattice=or",
         "approximator:value=64", "approximator:bits=77,value=7,hashes=3,lattice=or"),
    3000: tuple(kind + ":segment=1024" for kind in ("gcs", "fuse", "ribbon", "bloomier", "labels",
                                                  "cascade")) + (
        "fuse:segment=1024,arity=4", "bloomier:segment=1024,engine=fuse",
        "bloomier:segment=1024,update=yes"),
    6000: ("ribbon:segment=8192", "ribbon:segment=8192,fpr=30%", "bloomier:segment=8192", "cascade",
           "fuse:segment=8192", "gcs:segment=8192"),
}.items() for spec in specs)
LABELS = ("spam", "Käse", "a" * 255, "empty", "with space, comma")


def random_fill(library, spec, keys, dice):
    """What gives a builder the keys of a kind, with what else the kind wants to know of them."""
    so, kind = library.so, spec.split(":")[0]
    bits = int((re.search(r"value=(\d+)", spec) or [0, 8])[1])

    def fill(builder):
        if kind in ("bloomier", "approximator"):
            for h in keys:
                so.tamis_builder_put_hash(builder, h, dice.getrandbits(bits))
        elif kind == "labels":
            for name in LABELS:
                so.tamis_builder_label(builder, name.encode())
                for h in dice.sample(keys, len(keys) // 2 if name != "empty" else 0):
                    so.tamis_builder_add_hash(builder, h)
        else:
            for h in keys:
                so.tamis_builder_add_hash(builder, h)
        for _ in range(2 * len(keys) if kind == "cascade" else 0):
            so.tamis_builder_exclude_hash(builder, dice.getrandbits(64))
    return fill


def built(library, count, spec):
    dice = random.Random(spec)
    keys = [dice.getrandbits(64) for _ in range(count)]
    filter_ = library.build(spec, random_fill(library, spec, keys, dice))
    if "update=yes" in spec:
        for h in keys[::2]:
            same(library.so.tamis_put_hash(filter_, h, dice.getrandbits(1)), 0, "tamis_put_hash")
    asked = dice.sample(keys, min(count, 300)) + [0, 1, 2**63, 2**64 - 1]
    answers_and_refusals(library, spec, filter_, asked, dice, FORGERIES if count < 1000 else 20)


# One byte of what a segment, a layer or the frame says of itself, or one shape word, is another one.
# They are small so that this is most of them.
EDGES = (
    (9, "gcs:fpr=10%"), (9, "fuse:fpr=50%"), (9, "fuse:fpr=50%,arity=4"), (9, "ribbon:fpr=50%"),
    (9, "bloomier:value=1,guard=1"), (9, "bloomier:value=1,guard=1,engine=fuse"),
    (9, "bloomier:value=1,guard=1,update=yes"), (9, "cascade:fpr=10%"), (9, "cascade:fpr=90%"),
    (9, "labels:fpr=10%"), (9, "approximator:value=3"), (1500, "ribbon:fpr=50%,segment=1024"),
    (1500, "cascade:fpr=50%,segment=1024"), (5000, "ribbon:fpr=50%"), (5000, "cascade:fpr=30%"),
)


def edge_forgeries(data):
    size = struct.unpack_from("<Q", data, 144)[0]
    for at in sorted({*range(min(size, 96)), *range(max(0, size - 40), size)}):
        byte = data[192 + at]
        for value in sorted({byte ^ 1, byte ^ 0x80, 0, 0xFF} - {byte}):
            yield f"byte {at} {value:#x}", patched(data, 192 + at, "B", value)
    for word in range(8):
        before = struct.unpack_from("<Q", data, 80 + 8 * word)[0]
        for value in (0, 1, before + 1, 2 * before, 33, 57, 64, 1023, 1024, 2**24, 2**24 + 1, 65535,
                      65536, 2**56, 2**56 + 8, 2**63 - 1, 2**63, 2**64 - 1):
            forged = bytearray(data)
            struct.pack_into("<Q", forged, 80 + 8 * word, value)
            yield f"word {word} {value}", seal(forged)
            yield f"word {word} {value}, sized", seal(with_size_of_shape(forged, random.Random(1)))
    items = struct.unpack_from("<Q", data, 64)[0]
    yield "items", patched(data, 64, "Q", items + 1)


def edges(library, count, spec):
    dice = random.Random(spec)
    keys = [dice.getrandbits(64) for _ in range(count)]
    filter_ = library.build(spec, random_fill(library, spec, keys, dice))
    data = library.image_of(filter_)
    library.so.tamis_free(filter_)
    for name, forged in edge_forgeries(data):
        same(refused_as(forged), library.refuses_as(forged, None), f"{spec}, {name}")


def image_of(kind, words, items, payload):
    """An image made by hand, on the header of the document's example."""
    data = bytearray(document_example()[:192] + payload)
    struct.pack_into("<I", data, 12, kind)
    struct.pack_into("<3Q", data, 56, 200, items, 10**8)
    struct.pack_into("<8Q", data, 80, *words, *[0] * (8 - len(words)))
    struct.pack_into("<2Q", data, 144, len(payload), 0)
    return seal(data)


def sets_by_hand():
    """Images of gcs and labels with one bucket of 2^10 numbers, and whether they are legal."""
    def coded(count, code, bits, k=10, rice=2, bias=0, more=0):
        fields = bias | bits + bias + more << 16
        return struct.pack("<Q3B5x6Q", count, rice, k, 16, bias, 0, 0, fields, code, 0)[:-8]

    def gcs(segment, range_=1024):
        size = len(segment) + 16
        words = 1, size, 1024, range_, 2, 10
        return image_of(13, words, 1, segment + struct.pack("<2Q", 0, len(segment)))

    def labels(segment, names=b"", count=0):
        padded = names + bytes(-len(names) % 8)
        starts = [0, *itertools.accumulate(len(n) + 1 for n in names.split(b"\0"))][:count]
        tail = padded + struct.pack(f"<{count}I", *starts) + bytes(4 * count % 8)
        size = len(segment) + len(tail) + 16
        words = 1, size, 1024, 1024 // max(1, count), 10, count, len(names), 0
        return image_of(31, words, 1, segment + tail + struct.pack("<2Q", 0, len(segment)))

    five = 0b01 | 1 << 2, 4        # 5: q 1, then the two low bits
    wide = 0xFFFF | 500 << 16, 26  # 500: sixteen ones, then ten bits
    yield "a gap", gcs(coded(1, *five)), True
    yield "any bias", gcs(coded(1, *five, bias=77)), True
    yield "a wide gap", gcs(coded(1, *wide)), True
    yield "the least wide gap", gcs(coded(1, 0xFFFF | 64 << 16, 26)), True
    yield "a wide gap that is none", gcs(coded(1, 0xFFFF | 63 << 16, 26)), False
    yield "a number at the end of the range", gcs(coded(1, *wide), 501), True
    yield "a number above the range", gcs(coded(1, *wide), 500), False
    yield "another number in the same gap", gcs(coded(2, five[0] | five[0] << 4, 8)), True
    yield "a number too many", gcs(coded(2, *five)), False
    yield "half a code", gcs(coded(1, *five, more=1)), False
    yield "a bit behind the code", gcs(coded(1, five[0] | 1 << 5, 4)), False
    yield "another rice", gcs(coded(1, 0b1011, 4, rice=1)), False
    yield "rice above k", labels(coded(1, *five, k=1, rice=2), b"a\0", 1), False
    yield "a label", labels(coded(1, *five), b"a\0", 1), True
    yield "another rice of labels", labels(coded(1, 0b1010, 4, rice=3), b"a\0", 1), True
    yield "two labels", labels(coded(1, *five), b"a\0b\0", 2), True
    yield "no labels and no numbers", labels(coded(0, 0, 0)[:-8]), True
    yield "numbers without labels", labels(coded(1, *five)), False
    yield "an empty name", labels(coded(1, *five), b"abc\0\0", 2), False
    yield "a control character", labels(coded(1, *five), b"a\x1f\0", 1), False
    yield "DEL in a name", labels(coded(1, *five), b"a\x7f\0", 1), False
    yield "a name of 255 bytes", labels(coded(1, *five), b"a" * 255 + b"\0", 1), True
    yield "a name of 256 bytes", labels(coded(1, *five), b"a" * 256 + b"\0b\0", 2), False
    yield "a name that is not UTF-8", labels(coded(1, *five), b"\xff\0", 1), True
    yield "a name too many", labels(coded(1, *five), b"a\0b\0c\0", 2), False
    yield "no end of a name", labels(coded(1, *five), b"a\0bc", 2), False


def bands_by_hand():
    """Images of ribbon with width 1 whose segment has two layers of one block, and whether they are
    legal."""
    def ribbon(first, second, classes=(0, 0), keys=1, narrow=0):
        layers = b"".join(struct.pack("<2I4H", blocks, 7, bucket, *thresholds)
                          for blocks, bucket, *thresholds in (first, second))
        body = b"".join((b"" if not layer[1] else struct.pack("<Q", bits)) + bytes(8 * layer[0])
                        for layer, bits in zip((first, second), classes))
        segment = struct.pack("<2I", keys, 2) + layers + body
        words = 1, len(segment) + 16, 1024, 1, narrow
        return image_of(15, words, 1, segment + struct.pack("<2Q", 0, len(segment)))

    plain, buckets = (1, 0, 0, 0, 0), (1, 1, 0, 1, 2)
    wide = (1, 2, 1, 2, 4)
    yield "buckets above none", ribbon(wide, plain), True
    yield "buckets above buckets", ribbon(wide, wide), True
    yield "none above none", ribbon(plain, plain), False
    yield "T_1 0", ribbon(buckets, plain), False
    yield "T_2 as T_1", ribbon((1, 2, 2, 2, 4), plain), False
    yield "T_3 too large", ribbon((1, 2, 1, 2, 5), plain), False
    yield "T_3 too small", ribbon((1, 3, 1, 2, 4), plain), False
    yield "thresholds without buckets", ribbon(wide, (1, 0, 0, 0, 1)), False
    yield "a class above", ribbon(wide, wide, (3, 0)), True
    yield "a class in the last layer", ribbon(wide, wide, (0, 3)), False
    yield "a class behind the buckets", ribbon(wide, plain, (4, 0)), False
    yield "the largest bucket", ribbon((1, 11, 1, 2, 2048), plain), True
    yield "a bucket that is too large", ribbon((1, 12, 1, 2, 4096), plain), False
    yield "no keys", ribbon(wide, plain, keys=0), False
    yield "most keys", ribbon(wide, plain, keys=2**31 - 1), True
    yield "too many keys", ribbon(wide, plain, keys=2**31), False
    yield "no blocks", ribbon(wide, (0, 0, 0, 0, 0)), False
    yield "narrow", ribbon(wide, plain, narrow=65535), True


def by_hand(library, images):
    for name, data, is_legal in images:
        why = None if is_legal else "damaged"
        same((refused_as(data), library.refuses_as(data, None)), (why, why), name)
        if is_legal:
            filter_ = library.load(data)
            same_answers(library, filter_, Image(data), range(0, 2**64, 2**54))
            library.so.tamis_free(filter_)


# ---- Images that must be refused although their checksums are right ------------------------------

def seal(data):
    data = bytearray(data)
    struct.pack_into("<Q", data, 176, hashes.xxh3(bytes(data[192:])))
    struct.pack_into("<Q", data, 184, hashes.xxh3(bytes(data[:184])))
    return bytes(data)


def patched(data, at, form, *values):
    data = bytearray(data)
    struct.pack_into("<" + form, data, at, *values)
    return seal(data)


def with_notes(data, notes):
    payload_end = 192 + struct.unpack_from("<Q", data, 144)[0]
    data = bytearray(data[:payload_end] + notes)
    struct.pack_into("<Q", data, 152, len(notes))
    return seal(data)


def bad_images(good):
    """Pairs of a name and an image made from good ones, by kind and hash."""
    plain = good["classic:capacity=1000,bits=6999,hashes=3"]
    yield "version 0", patched(plain, 8, "H", 0)
    yield "version 2", patched(plain, 8, "H", 2)
    yield "version 256", patched(plain, 8, "H", 256)
    yield "hash mode 0", patched(plain, 10, "B", 0)
    yield "hash mode 3 without a secret", patched(plain, 10, "B", 3)
    yield "hash mode 5", patched(plain, 10, "B", 5)
    yield "another hash mode", patched(plain, 10, "B", 2)
    yield "key place 1", patched(plain, 11, "B", 1)
    yield "key place 3", patched(plain, 11, "B", 3)
    for kind in (0, 59999, 2**32 - 1):
        yield f"kind {kind}", patched(plain, 12, "I", kind)
    for bit in (0, 31):
        yield f"must_refuse bit {bit}", patched(plain, 20, "I", 1 << bit)
    yield "another seed", patched(plain, 24, "Q", 1)
    yield "key id without a key", patched(plain, 32, "Q", 1)
    for at in (40, 55):
        yield f"secret byte {at} without a key", patched(plain, at, "B", 1)
    for one_in in (1, 10**6):
        yield f"one_in {one_in}", patched(plain, 72, "Q", one_in)
    for bits in (0, 1, 6976, 7041, 2**59, 2**59 + 1, 2**64 - 1):
        yield f"classic bits {bits}", patched(plain, 80, "Q", bits)
    for hashes in (0, 65, 2**32 + 1):
        yield f"classic hashes {hashes}", patched(plain, 88, "Q", hashes)
    for scheme in (2, 3, 4, 7, 2**32):
        yield f"classic scheme {scheme}", patched(plain, 96, "Q", scheme)
    for word in range(3, 8):
        yield f"classic word {word}", patched(plain, 80 + 8 * word, "Q", 1)
    for size in (0, 872, 888, 2**56, 2**64 - 192):
        yield f"payload size {size}", patched(plain, 144, "Q", size)
    for size in (1, 2**20 + 1, 2**64 - 1):
        yield f"notes size {size}", patched(plain, 152, "Q", size)
    yield "self-test", patched(plain, 160, "Q", 0)
    yield "zero", patched(plain, 168, "Q", 1 << 63)
    yield "stray bit after the last", patched(plain, 192 + 6999 // 8, "B", 0x80)
    yield "stray bit at the end", patched(plain, 192 + 879, "B", 0x80)
    for name, notes in (("no end", b"a\0b"), ("odd", b"a\0b\0c\0"), ("order", b"b\0x\0a\0x\0"),
                        ("twice", b"a\0x\0a\0y\0"), ("no name", b"\0x\0"), ("capital", b"A\0x\0"),
                        ("long name", b"a" * 65 + b"\0x\0"), ("space", b"a b\0x\0"),
                        ("continuation", b"a\0\x80\0"), ("overlong", b"a\0\xc0\xaf\0"),
                        ("overlong 3", b"a\0\xe0\x80\xaf\0"), ("surrogate", b"a\0\xed\xa0\x80\0"),
                        ("beyond", b"a\0\xf4\x90\x80\x80\0"), ("cut", b"a\0\xe2\x82\0"),
                        ("five bytes", b"a\0\xf8\x88\x80\x80\x80\0"),
                        ("too many", b"a\0" + b"x" * 2**20 + b"\0")):
        yield f"notes: {name}", with_notes(plain, notes)
    blocked = good["blocked:capacity=1000,fpr=5%,hashes=8"]
    for blocks in (0, 1, 2**50, 2**50 + 1, 2**58):
        yield f"blocked blocks {blocks}", patched(blocked, 80, "Q", blocks)
    for hashes in (0, 9, 15, 17, 2**32 + 8):
        yield f"blocked hashes {hashes}", patched(blocked, 88, "Q", hashes)
    yield "blocked word 2", patched(blocked, 96, "Q", 1)
    split = good["split:capacity=1000,fpr=10%"]
    for blocks in (0, 1, 2**31 - 1, 2**31, 2**59):
        yield f"split blocks {blocks}", patched(split, 80, "Q", blocks)
    yield "split index 2", patched(split, 88, "Q", 2)
    yield "split word 2", patched(split, 96, "Q", 1)
    if "universal:capacity=1000,bits=3001" in good:
        universal = good["universal:capacity=1000,bits=3001"]
        for bits in (0, 3009, 2**59 + 1):
            yield f"universal bits {bits}", patched(universal, 80, "Q", bits)
        for multiplier in (0, 2**61 - 1, 2**64 - 1):
            yield f"universal multiplier {multiplier}", patched(universal, 88, "Q", multiplier)
        for offset in (2**61 - 1, 2**64 - 1):
            yield f"universal offset {offset}", patched(universal, 96, "Q", offset)
        yield "universal stray bit", patched(universal, 192 + 375, "B", 0x02)
    inside = good["blocked:capacity=1000,fpr=5%,hashes=8,hash=sip13"]
    yield "inside: seed", patched(inside, 24, "Q", 1)
    yield "inside: key id", patched(inside, 32, "Q", 1)
    yield "inside: another secret", patched(inside, 40, "Q", 1)
    yield "inside: key place 0", patched(inside, 11, "B", 0)
    yield "inside: called outside", patched(inside, 11, "B", 2)
    outside = good["blocked:capacity=1000,fpr=5%,hashes=8,hash=sip13,key=outside"]
    yield "outside: another key id", patched(outside, 32, "Q", 1)
    yield "outside: called inside", patched(outside, 11, "B", 1)
    yield "outside: a secret byte", patched(outside, 47, "B", 1)


def legal_oddities(good):
    plain = good["classic:capacity=1000,bits=6999,hashes=3"]
    yield "may_ignore", patched(plain, 16, "I", 2**32 - 1)
    yield "capacity", patched(plain, 56, "Q", 2**56)
    yield "items", patched(plain, 64, "Q", 2**64 - 1)
    yield "one_in", patched(plain, 72, "Q", 10**6 + 1)
    yield "no notes", with_notes(plain, b"")
    yield "an empty value", with_notes(plain, b"a\0\0")
    yield "every form of name and text", with_notes(
        plain, b"-._09az\0\x01\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80"
        b"\x80\xf4\x8f\xbf\xbf\0" + b"z" * 64 + b"\0x\0")
    yield "split word 1", patched(good["split:capacity=1000,fpr=10%"], 88, "Q", 1)


def good_images(library):
    good = {}
    for spec in SPECS:
        if library.knows(spec):
            for more in ("", ",hash=sip13", ",hash=sip13,key=outside"):
                filter_ = library.create(spec + more)
                for key in MEMBERS[:300]:
                    library.so.tamis_add(filter_, key, len(key))
                good[spec + more] = library.image_of(filter_)
                library.so.tamis_free(filter_)
    return good


def both_refuse(library, name, data):
    mine, theirs = refused_as(data, SECRET), library.refuses_as(data, SECRET)
    same(mine, theirs, f"{name}: this reader and the library")
    if mine is None:
        raise Different(f"{name}: accepted")


def all_refused(library, good):
    for name, data in bad_images(good):
        both_refuse(library, name, data)


def all_accepted(library, good):
    for name, data in legal_oddities(good):
        same((refused_as(data, SECRET), library.refuses_as(data, SECRET)), (None, None), name)


def damage_refused(library, good):
    dice = random.Random(7)
    for spec, data in good.items():
        places = {0, 7, 8, 10, 12, 16, 20, 24, 80, 184, 191, 192, len(data) - 1}
        places |= {dice.randrange(len(data)) for _ in range(20)}
        for at in sorted(places):
            bad = bytearray(data)
            bad[at] ^= 1 << dice.randrange(8)
            both_refuse(library, f"{spec}, byte {at}", bytes(bad))
        for size in (0, 1, 8, 191, 192, len(data) - 8, len(data) - 1):
            both_refuse(library, f"{spec}, {size} bytes", data[:size])
        both_refuse(library, f"{spec}, longer", data + b"\0")


def wrong_secrets(library, good):
    data = good["blocked:capacity=1000,fpr=5%,hashes=8,hash=sip13,key=outside"]
    for secret in (None, bytes(16), SECRET[::-1]):
        same((refused_as(data, secret), library.refuses_as(data, secret)), ("secret", "secret"),
             f"secret {secret!r}")


# ---- The command ---------------------------------------------------------------------------------

def write_lines(folder, name, lines):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))
    return os.path.join(folder, name)


def build_image(folder, spec, *keys):
    image = os.path.join(folder, "image.tamis")
    if os.path.exists(image):
        os.remove(image)
    subprocess.run([COMMAND, "build", image, "--spec", spec, "-q", *keys], check=True)
    return image


def output_of(*arguments):
    return subprocess.run([COMMAND, *arguments], stdout=subprocess.PIPE, check=True).stdout


def same_lines(folder):
    """`tamis check` and this reader print the same lines."""
    members = write_lines(folder, "members", [b"member %d" % i for i in range(500)])
    stream = write_lines(folder, "stream", [b"member %d" % i for i in range(0, 3000, 2)])
    image = build_image(folder, "blocked:capacity=500,fpr=10%", members)
    theirs = subprocess.run([COMMAND, "check", image, stream], stdout=subprocess.PIPE, check=True)
    mine = subprocess.run([sys.executable, "-B", reader.__file__, image, stream],
                          stdout=subprocess.PIPE, check=True)
    same(mine.stdout, theirs.stdout, "lines")
    same(len(mine.stdout.splitlines()) > 250, True, "some false positives")


COUNTS = ("counting", "spectral", "spectral:mode=increase", "spectral:mode=recurring", "dleft",
          "countmin", "countmin:update=conservative", "countmin:width=64",
          "multiset", "layered:layers=9")


def same_counts(folder, spec):
    """`tamis count` and this reader count alike: key i was added i times."""
    added = write_lines(folder, "added", [b"%d" % i for i in range(1, 24) for _ in range(i)])
    asked = write_lines(folder, "asked", [b"%d" % i for i in range(1, 300)])
    path = build_image(folder, spec + (":", ",")[":" in spec] + "capacity=300", added)
    with open(path, "rb") as file:
        image = Image(file.read())
    lines = subprocess.run([COMMAND, "count", path, asked], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=True).stdout.splitlines()
    same(len(lines) >= 23, True, "lines")
    told = {key: int(count) for count, key in (line.split(b"\t") for line in lines)}
    for i in range(1, 300):
        same(image.count(b"%d" % i), told.get(b"%d" % i, 0), f"count of {i}")


def same_values(folder):
    """`tamis get` and this reader give a key the same value."""
    pairs = write_lines(folder, "pairs", [b"%d\t%d" % (i, i * i) for i in range(300)])
    asked = write_lines(folder, "asked", [b"%d" % i for i in range(3000)])
    path = build_image(folder, "bloomier:fpr=10%", pairs, "--values")
    with open(path, "rb") as file:
        image = Image(file.read())
    values = ((b"%d" % i, image.get(b"%d" % i)) for i in range(3000))
    same(b"".join(b"%s\t%d\n" % pair for pair in values if pair[1] is not None),
         output_of("get", path, asked), "lines")


def same_labels(folder):
    """`tamis check --labels` and this reader name the same labels."""
    sets = {name: range(0, 300, step) for name, step in (("all", 1), ("even", 2), ("third", 3))}
    files = [part for name, keys in sets.items() for part in (
        "--label", name, write_lines(folder, name, [b"%d" % i for i in keys]))]
    asked = write_lines(folder, "asked", [b"%d" % i for i in range(3000)])
    path = build_image(folder, "labels:fpr=10%", *files)
    with open(path, "rb") as file:
        image = Image(file.read())
    named = ((b"%d" % i, ",".join(image.labels(b"%d" % i)).encode()) for i in range(3000))
    same(b"".join(b"%s\t%s\n" % pair for pair in named if pair[1]),
         output_of("check", "--labels", path, asked), "lines")


def same_searches(_):
    """`tamis search` finds what comparing every row finds, in the order that is promised."""
    for name in ("maccs", "fp2"):
        path = os.path.join(ROOT, "tests", "golden", f"fingerprint-{'1' if name == 'maccs' else 'folds-1'}.tamis")
        text = os.path.join(ROOT, "tests", "vectors", "fps", name + ".fps")
        with open(path, "rb") as file:
            body = Image(file.read()).body
        with open(text, "rb") as file:
            lines = [line.rstrip(b"\n").split(b"\t") for line in file if not line.startswith(b"#")]
        same([print_ for print_, _ in lines],
             [value.to_bytes(body.width + 7 >> 3, "little").hex().encode() for value in body.prints], "prints")
        same([id_ for _, id_ in lines], body.ids, "ids")

        def told(found):
            return b"".join(b"%s\t%s\t%s\n" % (body.ids[i], body.ids[row], b"%.6g" % similarity)
                            for i, rows in enumerate(found) for similarity, row in rows)

        for least in ("0.2", "0.35", "0.5", "0.7", "1"):
            found = [body.similar(query, float(least)) for query in body.prints]
            same(told(found), output_of("search", "-q", path, text, "--min-similarity", least), f"at least {least}")
        for top in (1, 7):
            found = [body.similar(query, 0)[:top] for query in body.prints]
            same(told(found), output_of("search", "-q", path, text, "--top", str(top)), f"top {top}")
        found = [[(bin(query).count("1") / bin(body.prints[row]).count("1"), row)
                  for row in body.containing(query)] for query in body.prints]
        same(told(found), output_of("search", "-q", path, text, "--screen"), "screen")


def forged_prints(library):
    """The library and this reader refuse the same forgeries of prints."""
    dice = random.Random("prints")
    for name in ("1", "folds-1"):
        with open(os.path.join(ROOT, "tests", "golden", f"fingerprint-{name}.tamis"), "rb") as file:
            data = file.read()
        for i in range(FORGERIES):
            forged = forgery(data, dice)
            same(refused_as(forged), library.refuses_as(forged, None), f"{name}, forgery {i}")


# ---- Patches -------------------------------------------------------------------------------------


def bytes_of(*names):
    with open(os.path.join(*names), "rb") as file:
        return file.read()


def golden_patch():
    base = bytes_of(ROOT, "tests/golden/blocked-1.tamis")
    image = Image(tamis_patch.apply(base, bytes_of(ROOT, "tests/golden/blocked-1.patch")))
    for i in range(1, 211):
        same(bool(image.has(str(i).encode())), True, f"key {i}")


def same_patches(folder, spec, other):
    """There and back between two images of the command."""
    at = lambda name: os.path.join(folder, name)
    subprocess.run([COMMAND, "build", "-qf", at("a"), "-s", spec], input=b"1\n2\n3\n", check=True)
    keys = "".join(f"{i}\n" for i in range(300)).encode()
    subprocess.run([COMMAND, "build", "-qf", at("b"), "-s", other, "--note", "comment=b"], input=keys, check=True)
    for old, new in itertools.product("ab", repeat=2):
        subprocess.run([COMMAND, "diff", "-qf", at(old), at(new), "-o", at("patch")], check=True)
        same(tamis_patch.apply(bytes_of(at(old)), bytes_of(at("patch"))), bytes_of(at(new)), old + new)


def same_seals(folder):
    at = lambda name: os.path.join(folder, name)
    key = subprocess.run([COMMAND, "keygen", "-qf", at("key")], capture_output=True, check=False)
    if key.returncode and b"without libsodium" in key.stderr:
        return
    subprocess.run([COMMAND, "diff", "-qf", at("a"), at("b"), "-o", at("patch"), "--sign", at("key")], check=True)
    patch = bytes_of(at("patch"))
    same(tamis_patch.apply(bytes_of(at("a")), patch), bytes_of(at("b")), "result")
    wanted = bytes.fromhex(bytes_of(at("key.pub")).decode().split("\n")[1])
    for signed in patch[:-tamis_patch.SEAL], bytes_of(at("a")), bytes_of(at("b")):
        wanted += hashlib.blake2b(signed, digest_size=32).digest()
    same(tamis_patch.seal_of(patch)[8:136], wanted, "seal")


PATCHED = [("blocked:capacity=300", "blocked:capacity=300"), ("classic:capacity=3000", "classic:capacity=3000"),
           ("cuckoo:capacity=300", "blocked:capacity=1000"), ("scalable:capacity=10", "scalable:capacity=10")]


def test_patches():
    run("the golden patch", golden_patch)
    if not os.path.exists(COMMAND):
        report("patches of the command", skip="no command")
        return
    with tempfile.TemporaryDirectory() as folder:
        for pair in PATCHED:
            run("patches of the command: {} to {}".format(*pair), same_patches, folder, *pair)
        run("a signed patch of the command", same_seals, folder)


# ---- All of it -----------------------------------------------------------------------------------

def test_document():
    run("hashes of the document", hash_vectors)
    run("positions of the document", position_vectors)
    run("places and fingerprints of the document", place_vectors)
    run("worked example of the document", worked_example)
    run("worked example: every bit flipped is refused", bit_flips_of_example)
    run("worked example: every other size is refused", sizes_of_example)
    run("split makes the bitsets of DuckDB's Parquet files", parquet_bitsets)
    name = "SipHash-1-3 equals CPython's"
    if sys.hash_info.algorithm == "siphash13":
        run(name, own_siphash)
    else:
        report(name, skip="this Python hashes with " + sys.hash_info.algorithm)


def test_golden():
    for name, path in files_in("golden"):
        run("golden " + name, golden, path)
        if name.split("-")[0] in ("gcs", "fuse", "ribbon", "iblt"):
            run("written as the document says: " + name, written_again, path)
    for name, path in files_in("golden-bad"):
        run("golden-bad " + name, golden_bad, path)


def test_library():
    if not os.path.exists(SO):
        report("the library's answers", skip="no library")
        return
    library = Library(SO)
    run("the library sets the positions of the document", library_positions, library)
    run("the library makes the bitsets of DuckDB's Parquet files", parquet_payloads, library)
    if library.knows("universal:capacity=1"):
        run("universal words follow from the seed", seeded_words, library)
    for spec in SPECS:
        if not library.knows(spec):
            report(spec, skip="the library does not know it")
            continue
        for more in HASHES:
            run("answers equal: " + spec + more, agree, library, spec + more)
    for spec in CROWDED:
        run("answers, counts and refusals equal: " + spec, crowded, library, spec)
    for count, spec in BUILT:
        run(f"answers and refusals equal: {count} keys, {spec}", built, library, count, spec)
    for count, spec in EDGES:
        run(f"refusals equal at the edges: {count} keys, {spec}", edges, library, count, spec)
    run("refusals equal: prints", forged_prints, library)
    run("coded sets made by hand", by_hand, library, sets_by_hand())
    run("bands made by hand", by_hand, library, bands_by_hand())
    good = good_images(library)
    run("illegal fields under right checksums are refused", all_refused, library, good)
    run("legal oddities are accepted", all_accepted, library, good)
    run("damaged images are refused", damage_refused, library, good)
    run("a missing or wrong secret is refused", wrong_secrets, library, good)


def test_command():
    name = "the command prints the same lines"
    if not os.path.exists(COMMAND):
        report(name, skip="no command")
        return
    with tempfile.TemporaryDirectory() as folder:
        run(name, same_lines, folder)
        for spec in COUNTS:
            run("the command counts alike: " + spec, same_counts, folder, spec)
        run("the command tells the same values", same_values, folder)
        run("the command tells the same labels", same_labels, folder)
        run("the command finds the same prints", same_searches, folder)


if __name__ == "__main__":
    test_document()
    test_golden()
    test_library()
    test_command()
    test_patches()
    print(f"1..{done}")
    sys.exit(1 if failed else 0)
