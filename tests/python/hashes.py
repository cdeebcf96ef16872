# SPDX-License-Identifier: MIT
"""The hash functions of docs/format.md section 4, written out: XXH64, XXH3-64 and SipHash-1-3."""

import struct

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


# ---- mix8: docs/format.md, 4.4 ------------------------------------------------------------------

def mix8(data, seed=0):
    if len(data) != 8:
        return xxh3(data, seed)
    return fold128(fold128(read64(data, 0) ^ seed ^ 0x082EFA98EC4E6C89, 0x85A308D313199), 0xA4093822299F3)


# ---- SipHash-1-3 and 2-4 (Aumasson and Bernstein 2012) -------------------------------------------

def sip(secret, data, rounds, last_rounds):
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
        for _ in range(rounds):
            sip_round()
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(last_rounds):
        sip_round()
    return v0 ^ v1 ^ v2 ^ v3


def sip13(secret, data):
    return sip(secret, data, 1, 3)


def sip24(secret, data):
    return sip(secret, data, 2, 4)
