/* SPDX-License-Identifier: MIT */
/* MD5 (RFC 1321): four words of state, mixed with one block of 64 bytes after the other in 64
 * steps, of which each sixteen read the block in another order. */
#include "foreign/foreign_hashes.h"

#include <string.h>

#include "foreign/bytes.h"

enum { BLOCK = 64, LENGTH_AT = 56, STEPS = 64 };

typedef struct md5 {
    uint32_t state[4];
    uint64_t bytes; /* so far; those of the last block are in `block` */
    uint8_t block[BLOCK];
} md5;

/* The i-th is the integer part of 2^32 |sin(i + 1)|. */
static const uint32_t sines[STEPS] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint8_t turns[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/* What a step computes from three of the words, and which word of the block it adds. */
static uint32_t chosen(unsigned step, uint32_t b, uint32_t c, uint32_t d, unsigned *from) {
    switch (step / 16) {
    case 0: *from = step; return (b & c) | (~b & d);
    case 1: *from = (5 * step + 1) % 16; return (b & d) | (c & ~d);
    case 2: *from = (3 * step + 5) % 16; return b ^ c ^ d;
    default: *from = 7 * step % 16; return c ^ (b | ~d);
    }
}

static void mix(md5 *m) {
    uint32_t a = m->state[0], b = m->state[1], c = m->state[2], d = m->state[3];
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned from;
        const uint32_t sum = a + chosen(i, b, c, d, &from) + sines[i];
        const uint32_t x = sum + tamis__get32(m->block + 4 * from);
        a = d, d = c, c = b;
        b += tamis__rotl32(x, turns[i / 16][i % 4]);
    }
    m->state[0] += a, m->state[1] += b, m->state[2] += c, m->state[3] += d;
}

static void add(md5 *m, const uint8_t *bytes, size_t len) {
    while (len) {
        const size_t at = m->bytes % BLOCK, now = len < BLOCK - at ? len : BLOCK - at;
        memcpy(m->block + at, bytes, now);
        m->bytes += now, bytes += now, len -= now;
        if (m->bytes % BLOCK == 0) mix(m);
    }
}

/* A one bit, zeros, and the number of bits in the last eight bytes of a block. */
static void end(md5 *m) {
    static const uint8_t padding[BLOCK] = {0x80};
    uint8_t bits[8];
    const size_t at = m->bytes % BLOCK;
    tamis__put64(bits, m->bytes * 8);
    add(m, padding, (at < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - at);
    add(m, bits, sizeof bits);
}

void tamis__md5(const struct tamis_key *parts, size_t n, uint8_t digest[TAMIS_MD5_BYTES]) {
    md5 m = {.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
    for (size_t i = 0; i < n; i++) add(&m, parts[i].bytes, parts[i].len);
    end(&m);
    for (int i = 0; i < 4; i++) tamis__put32(digest + 4 * i, m.state[i]);
}
