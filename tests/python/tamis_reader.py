#!/usr/bin/env python3
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

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF


def rotate(x, by):
    return (x << by | x >> (64 - by)) & M64


# ---- XXH64 (the xxHash specification) ------------------------------------------------------------

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3, P64_4, P64_5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                     0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def xxh64_round(lane, word):
    return rotate((lane + word * P64_2) & M64, 31) * P64_1 & M64


def xxh64_avalanche(x):
    x = (x ^ x >> 33) * P64_2 & M64
    x = (x ^ x >> 29) * P64_3 & M64
    return x ^ x >> 32


def xxh64(data, seed=0):
    size, at = len(data), 0
    if size >= 32:
        lanes = [(seed + P64_1 + P64_2) & M64, (seed + P64_2) & M64, seed, (seed - P64_1) & M64]
        while size - at >= 32:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [xxh64_round(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        x = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & M64
        for lane in lanes:
            x = ((x ^ xxh64_round(0, lane)) * P64_1 + P64_4) & M64
    else:
        x = (seed + P64_5) & M64
    x = (x + size) & M64
    while size - at >= 8:
        x ^= xxh64_round(0, struct.unpack_from("<Q", data, at)[0])
        x = (rotate(x, 27) * P64_1 + P64_4) & M64
        at += 8
    if size - at >= 4:
        x ^= struct.unpack_from("<I", data, at)[0] * P64_1 & M64
        x = (rotate(x, 23) * P64_2 + P64_3) & M64
        at += 4
    for byte in data[at:]:
        x = rotate(x ^ byte * P64_5 & M64, 11) * P64_1 & M64
    return xxh64_avalanche(x)


# ---- XXH3-64 (the xxHash specification) ----------------------------------------------------------

MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

XXH3_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def read32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def read64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def fold128(a, b):
    product = a * b
    return (product ^ product >> 64) & M64


def xxh3_avalanche(x):
    x = (x ^ x >> 37) * MX1 & M64
    return x ^ x >> 32


def xxh3_mix16(data, at, secret_at, seed):
    low, high = struct.unpack_from("<2Q", data, at)
    s_low, s_high = struct.unpack_from("<2Q", XXH3_SECRET, secret_at)
    return fold128(low ^ (s_low + seed & M64), high ^ (s_high - seed & M64))


def xxh3(data, seed=0):
    size, secret = len(data), XXH3_SECRET
    if size == 0:
        return xxh64_avalanche(seed ^ read64(secret, 56) ^ read64(secret, 64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return xxh64_avalanche(combined ^ ((read32(secret, 0) ^ read32(secret, 4)) + seed & M64))
    if size <= 8:
        seed ^= int.from_bytes((seed & M32).to_bytes(4, "little"), "big") << 32
        x = read32(data, size - 4) + (read32(data, 0) << 32)
        x ^= (read64(secret, 8) ^ read64(secret, 16)) - seed & M64
        x ^= rotate(x, 49) ^ rotate(x, 24)
        x = x * MX2 & M64
        x = (x ^ (x >> 35) + size) * MX2 & M64
        return x ^ x >> 28
    if size <= 16:
        low = read64(data, 0) ^ ((read64(secret, 24) ^ read64(secret, 32)) + seed & M64)
        high = read64(data, size - 8) ^ ((read64(secret, 40) ^ read64(secret, 48)) - seed & M64)
        return xxh3_avalanche(size + swap64(low) + high + fold128(low, high) & M64)
    if size <= 128:
        x = size * P64_1
        for i in range((size - 1) // 32 + 1):
            x += xxh3_mix16(data, 16 * i, 32 * i, seed)
            x += xxh3_mix16(data, size - 16 * (i + 1), 32 * i + 16, seed)
        return xxh3_avalanche(x & M64)
    if size <= 240:
        x = size * P64_1
        for i in range(8):
            x += xxh3_mix16(data, 16 * i, 16 * i, seed)
        x = xxh3_avalanche(x & M64)
        for i in range(8, size // 16):
            x += xxh3_mix16(data, 16 * i, 16 * (i - 8) + 3, seed)
        x += xxh3_mix16(data, size - 16, 136 - 17, seed)
        return xxh3_avalanche(x & M64)
    return xxh3_long(data, seed)


def xxh3_long(data, seed):
    size, secret = len(data), XXH3_SECRET
    if seed:
        words = struct.unpack("<24Q", secret)
        secret = struct.pack("<24Q", *((w - seed if i % 2 else w + seed) & M64
                                       for i, w in enumerate(words)))
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    keys = [struct.unpack_from("<8Q", secret, 8 * stripe) for stripe in range(16)]

    def accumulate(at, key):
        words = struct.unpack_from("<8Q", data, at)
        for lane in range(8):
            mixed = words[lane] ^ key[lane]
            acc[lane] += words[lane ^ 1] + (mixed & M32) * (mixed >> 32)

    blocks = (size - 1) // 1024
    scramble = struct.unpack_from("<8Q", secret, 128)
    for block in range(blocks):
        for stripe in range(16):
            accumulate(1024 * block + 64 * stripe, keys[stripe])
        for lane in range(8):  # sums are cut to 64 bits only here: Python's integers do not mind
            x = acc[lane] & M64
            acc[lane] = (x ^ x >> 47 ^ scramble[lane]) * P32_1 & M64
    for stripe in range((size - 1 - 1024 * blocks) // 64):
        accumulate(1024 * blocks + 64 * stripe, keys[stripe])
    accumulate(size - 64, struct.unpack_from("<8Q", secret, 121))

    x = size * P64_1
    for i in range(4):
        x += fold128(acc[2 * i] & M64 ^ read64(secret, 11 + 16 * i),
                     acc[2 * i + 1] & M64 ^ read64(secret, 19 + 16 * i))
    return xxh3_avalanche(x & M64)


# ---- SipHash-1-3 (Aumasson and Bernstein 2012) ---------------------------------------------------

def sip13(secret, data):
    k0, k1 = struct.unpack("<2Q", secret)
    v0, v1, v2, v3 = (k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
                      k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573)

    def sip_round():
        nonlocal v0, v1, v2, v3
        v0, v2 = (v0 + v1) & M64, (v2 + v3) & M64
        v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
        v0 = rotate(v0, 32)
        v2, v0 = (v2 + v1) & M64, (v0 + v3) & M64
        v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
        v2 = rotate(v2, 32)

    whole = len(data) // 8 * 8
    last = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", data[:whole] + last):
        v3 ^= word
        sip_round()
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(3):
        sip_round()
    return v0 ^ v1 ^ v2 ^ v3


# ---- From hash to positions ----------------------------------------------------------------------

def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & M64
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return x ^ x >> 33


def scale(h, n):
    return h * n >> 64


SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
        0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
PRIME = 2**61 - 1
MOST_BITS = 2**59


def classic_positions(word, h):
    bits, hashes, scheme = word[:3]
    if scheme == 0:  # mcg
        x = h | 1
        for _ in range(hashes):
            yield scale(x, bits)
            x = x * 0xF1357AEA2E62A9C5 & M64
        return
    step = mix(h) | 1
    if scheme == 1:  # double64
        x = h
        for _ in range(hashes):
            yield scale(x, bits)
            x = (x + step) & M64
        return
    x, y, z = h % bits, step % bits, mix(step) % bits
    for i in range(hashes):
        yield x
        x = (x + y) % bits
        if scheme == 3:  # enhanced
            y = (y + i + 1) % bits
        elif scheme == 4:  # triple
            y = (y + z) % bits


def blocked_positions(word, h):
    blocks, hashes = word[:2]
    base, x = 512 * scale(h, blocks), h & M32
    if hashes < 8:
        for _ in range(hashes):
            yield base + (x >> 23)
            x = x * 0x9E3779B9 & M32
        return
    for lane, salt in enumerate(SALT):
        t = x * salt & M32
        yield base + 64 * lane + (t >> 26)
        if hashes == 16:
            yield base + 64 * lane + (t >> 20 & 63)


def split_positions(word, h):
    blocks, index = word[:2]
    block = (h >> 32) * blocks >> 32 if index == 0 else scale(h, blocks)
    x = h & M32
    for lane, salt in enumerate(SALT):
        yield 256 * block + 32 * lane + ((x * salt & M32) >> 27)


def universal_positions(word, h):
    bits, multiplier, offset = word[:3]
    v = (multiplier * (h % PRIME) + offset) % PRIME
    yield v * bits >> 61


def classic_bits(word):
    bits, hashes, scheme = word[:3]
    need(1 <= bits <= MOST_BITS, "bits out of range")
    need(1 <= hashes <= 64, "hashes out of range")
    need(scheme <= 4, "unknown scheme")
    need(scheme < 2 or bits % 64 == 0, "bits not a multiple of 64")
    return bits


def blocked_bits(word):
    need(1 <= word[0] <= 2**50, "blocks out of range")
    need(1 <= word[1] <= 8 or word[1] == 16, "hashes out of range")
    return 512 * word[0]


def split_bits(word):
    need(word[1] <= 1, "unknown index rule")
    need(1 <= word[0] <= (2**31 - 1 if word[1] == 0 else 2**51), "blocks out of range")
    return 256 * word[0]


def universal_bits(word):
    need(1 <= word[0] <= MOST_BITS, "bits out of range")
    need(1 <= word[1] <= PRIME - 1, "multiplier out of range")
    need(word[2] <= PRIME - 1, "offset out of range")
    return word[0]


# Kind id: name, names of the shape words, bits of a legal shape, positions of a hash.
KINDS = {
    1: ("classic", ("bits", "hashes", "scheme"), classic_bits, classic_positions),
    2: ("blocked", ("blocks", "hashes"), blocked_bits, blocked_positions),
    3: ("split", ("blocks", "index"), split_bits, split_positions),
    4: ("universal", ("bits", "multiplier", "offset"), universal_bits, universal_positions),
}


# ---- The image -----------------------------------------------------------------------------------

MAGIC = b"\xd6tamis\x1a\n"
HEADER = struct.Struct("<8sHBBIIIQQ16sQQQ8Q6Q")
HASH_NAMES = ("own", "xxh3", "xxh64", "sip13")
OWN, XXH3, XXH64, SIP13 = range(4)
PLACE_NAMES = ("none", "inside", "outside")
NONE, INSIDE, OUTSIDE = range(3)
MOST_NOTES = 2**20
NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")


class Refused(Exception):
    """An image that must not be answered from. `why` is damaged, newer or secret."""

    def __init__(self, why, what):
        super().__init__(f"{why}: {what}")
        self.why = why


def need(condition, what):
    if not condition:
        raise Refused("damaged", what)


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

        self.kind, self.word_names, bits_of, self._positions = KINDS[self.kind_id]
        need(not any(self.word[len(self.word_names):]), "an unused shape word is not zero")
        bits = bits_of(self.word)
        need(payload_size == (bits + 63) // 64 * 8, "payload size does not fit the shape")
        need(notes_size <= MOST_NOTES, "too many notes")
        need(len(data) == HEADER.size + payload_size + notes_size, "wrong total size")

        need_known(self.hash_mode < len(HASH_NAMES), f"hash mode {self.hash_mode}")
        need(self.key_place < len(PLACE_NAMES), "unknown place of the key")
        need(self.hash_mode != OWN, "hash mode does not fit the kind")
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
        if bits % 64:
            need(read64(self.payload, payload_size - 8) >> bits % 64 == 0, "stray bits")

    @property
    def fpr_asked(self):
        return 10**6 / self.one_in if self.one_in else 0.0

    def hash(self, key):
        if self.hash_mode == XXH3:
            return xxh3(key, self.seed)
        if self.hash_mode == XXH64:
            return xxh64(key, self.seed)
        return sip13(self._secret, key)

    def positions(self, h):
        return self._positions(self.word, h)

    def has_hash(self, h):
        return all(self.payload[at >> 3] >> (at & 7) & 1 for at in self.positions(h))

    def has(self, key):
        return self.has_hash(self.hash(key))

    def has_u64(self, number):
        return self.has(struct.pack("<Q", number))


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
