/* SPDX-License-Identifier: MIT */
/* XXPH3: the preview of XXH3 in xxHash 0.7.2, 64 bits, without a seed. RocksDB changed one value,
 * that of the empty key, which was 0.
 *
 * Up to 16 bytes are read as one or two words that overlap. Up to 240 are taken in pieces of 16,
 * the last of which overlaps the one before. Longer keys go in stripes of 64 bytes through eight
 * lanes, and after 16 stripes the lanes are scrambled. */
#include "foreign/foreign_hashes.h"

#include "bits/probe.h"

enum { PIECE = 16, STRIPE = 64, LANES = 8, STRIPES = 16, BLOCK = STRIPE * STRIPES };
enum { SHORT = 16, MEDIUM = 128, LONG = 240 };

#define P1 0x9e3779b185ebca87
#define P2 0xc2b2ae3d27d4eb4f
#define P3 0x165667b19e3779f9
#define P4 0x85ebca77c2b2ae63
#define P5 0x27d4eb2f165667c5
#define Q1 0x9e3779b1
#define Q2 0x85ebca77
#define Q3 0xc2b2ae3d

static const uint8_t secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

/* The XOR of both halves of the product of two words. */
static uint64_t fold(uint64_t a, uint64_t b) {
    uint64_t low;
    const uint64_t high = tamis__multiply(a, b, &low);
    return low ^ high;
}

static uint64_t avalanche(uint64_t h) {
    h = (h ^ h >> 37) * P3;
    return h ^ h >> 32;
}

/* ---- Up to 16 bytes ------------------------------------------------------------------------- */

static uint64_t tiny(const uint8_t *p, size_t n) {
    const uint32_t word =
        (uint32_t)p[0] | (uint32_t)p[n >> 1] << 8 | (uint32_t)p[n - 1] << 16 | (uint32_t)n << 24;
    return avalanche((uint64_t)(word ^ tamis__get32(secret)) * P1);
}

static uint64_t two_halves(const uint8_t *p, size_t n) {
    const uint64_t both = tamis__get32(p) | (uint64_t)tamis__get32(p + n - 4) << 32;
    const uint64_t keyed = both ^ tamis__get64(secret);
    const uint64_t mixed = n + (keyed ^ keyed >> 51) * Q1;
    return avalanche((mixed ^ mixed >> 47) * P2);
}

static uint64_t two_words(const uint8_t *p, size_t n) {
    const uint64_t a = tamis__get64(p) ^ tamis__get64(secret);
    const uint64_t b = tamis__get64(p + n - 8) ^ tamis__get64(secret + 8);
    return avalanche(n + a + b + fold(a, b));
}

static uint64_t short_key(const uint8_t *p, size_t n) {
    if (n == 0) return fold(tamis__get64(secret), P2);
    if (n <= 3) return tiny(p, n);
    return n <= 8 ? two_halves(p, n) : two_words(p, n);
}

/* ---- Up to 240 bytes ------------------------------------------------------------------------ */

static uint64_t mix(const uint8_t *p, size_t at) {
    return fold(tamis__get64(p) ^ tamis__get64(secret + at),
                tamis__get64(p + 8) ^ tamis__get64(secret + at + 8));
}

/* Pieces from both ends, towards the middle. */
static uint64_t medium_key(const uint8_t *p, size_t n) {
    uint64_t sum = n * P1;
    for (size_t i = 0; i < (n + 2 * PIECE - 1) / (2 * PIECE); i++)
        sum +=
            mix(p + PIECE * i, 2 * PIECE * i) + mix(p + n - PIECE * (i + 1), 2 * PIECE * i + PIECE);
    return avalanche(sum);
}

static uint64_t long_key(const uint8_t *p, size_t n) {
    uint64_t sum = n * P1;
    for (size_t i = 0; i < 8; i++) sum += mix(p + PIECE * i, PIECE * i);
    sum = avalanche(sum);
    for (size_t i = 8; i < n / PIECE; i++) sum += mix(p + PIECE * i, PIECE * (i - 8) + 3);
    return avalanche(sum + mix(p + n - PIECE, 119));
}

/* ---- Longer --------------------------------------------------------------------------------- */

static void take(uint64_t lane[LANES], const uint8_t *stripe, size_t at) {
    for (size_t i = 0; i < LANES; i++) {
        const uint64_t word = tamis__get64(stripe + 8 * i);
        const uint64_t keyed = word ^ tamis__get64(secret + at + 8 * i);
        lane[i] += word + (keyed & UINT32_MAX) * (keyed >> 32);
    }
}

static void take_stripes(uint64_t lane[LANES], const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) take(lane, p + STRIPE * i, 8 * i);
}

static void scramble(uint64_t lane[LANES]) {
    for (size_t i = 0; i < LANES; i++)
        lane[i] = (lane[i] ^ lane[i] >> 47 ^ tamis__get64(secret + 128 + 8 * i)) * Q1;
}

static uint64_t very_long_key(const uint8_t *p, size_t n) {
    uint64_t lane[LANES] = {Q3, P1, P2, P3, P4, Q2, P5, Q1};
    uint64_t sum = n * P1;
    size_t done = 0;
    for (; n - done >= BLOCK; done += BLOCK) {
        take_stripes(lane, p + done, STRIPES);
        scramble(lane);
    }
    take_stripes(lane, p + done, (n - done) / STRIPE);
    if (n % STRIPE) take(lane, p + n - STRIPE, 121);
    for (size_t i = 0; i < LANES / 2; i++)
        sum += fold(lane[2 * i] ^ tamis__get64(secret + 11 + 16 * i),
                    lane[2 * i + 1] ^ tamis__get64(secret + 19 + 16 * i));
    return avalanche(sum);
}

uint64_t tamis__xxph3(const struct tamis_key *key) {
    const uint8_t *p = key->bytes;
    if (key->len <= SHORT) return short_key(p, key->len);
    if (key->len <= MEDIUM) return medium_key(p, key->len);
    return key->len <= LONG ? long_key(p, key->len) : very_long_key(p, key->len);
}
