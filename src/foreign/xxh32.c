/* SPDX-License-Identifier: MIT */
/* XXH32: four sums take a word each, sixteen bytes at a time; then the rest, by words and bytes. */
#include "foreign/foreign_hashes.h"

#include "foreign/bytes.h"

enum { SUMS = 4, ROUND = 16 };

#define P1 0x9e3779b1u
#define P2 0x85ebca77u
#define P3 0xc2b2ae3du
#define P4 0x27d4eb2fu
#define P5 0x165667b1u

/* The whole rounds; returns where the rest starts. */
static uint64_t whole_rounds(const uint8_t *p, uint64_t size, uint32_t *h) {
    uint32_t sum[SUMS] = {P1 + P2, P2, 0, 0 - P1};
    uint64_t at = 0;
    for (; size - at >= ROUND; at += ROUND)
        for (int i = 0; i < SUMS; i++)
            sum[i] = tamis__rotl32(sum[i] + tamis__get32(p + at + 4 * i) * P2, 13) * P1;
    *h = tamis__rotl32(sum[0], 1) + tamis__rotl32(sum[1], 7) + tamis__rotl32(sum[2], 12) +
         tamis__rotl32(sum[3], 18);
    return at;
}

uint32_t tamis__xxh32(const void *bytes, uint64_t size) {
    const uint8_t *p = bytes;
    uint32_t h = P5;
    uint64_t at = size >= ROUND ? whole_rounds(p, size, &h) : 0;
    h += (uint32_t)size;
    for (; size - at >= 4; at += 4) h = tamis__rotl32(h + tamis__get32(p + at) * P3, 17) * P4;
    for (; at < size; at++) h = tamis__rotl32(h + p[at] * P5, 11) * P1;
    h = (h ^ h >> 15) * P2;
    h = (h ^ h >> 13) * P3;
    return h ^ h >> 16;
}
