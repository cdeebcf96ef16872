/* SPDX-License-Identifier: MIT */
/* For kinds and tests: turns hashes into positions.
 *
 *     hash ──────────────┬── top bits ──▶ which block   (tamis__range: any number of blocks)
 *                        └── low 32 bits ─▶ which bits   (odd salts, one lane each)
 *
 * Top and low bits of one good 64-bit hash are independent while there are fewer than 2^32 blocks.
 * Taking both from the same bits is a classic mistake: it passes every small test and doubles the
 * rate at 10^7 keys. */
#ifndef TAMIS_BITS_PROBE_H
#define TAMIS_BITS_PROBE_H

#include "bits/bits.h"

/* The 128-bit product of two 64-bit numbers. */
TAMIS_FN uint64_t tamis__multiply(uint64_t a, uint64_t b, uint64_t *low) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 u128;
    const u128 product = (u128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t ll = al * bl, lh = al * bh, hl = ah * bl;
    const uint64_t middle = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
    *low = middle << 32 | (uint32_t)ll;
    return ah * bh + (lh >> 32) + (hl >> 32) + (middle >> 32);
#endif
}

/* Scales a hash to [0, n): multiply-shift instead of %, so any n works without a division. It is
 * monotone in the hash, and range(h, n)/g = range(h, n/g) exactly when g divides n; folding, radix
 * partitioning and sharding by range all rely on both. */
TAMIS_FN uint64_t tamis__range(uint64_t hash, uint64_t n) {
    uint64_t low;
    return tamis__multiply(hash, n, &low);
}

/* A second, independent 64 bits from a hash (the finaliser of MurmurHash3, a bijection). */
TAMIS_FN uint64_t tamis__mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccd;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53;
    x ^= x >> 33;
    return x;
}

/* The inverse of tamis__mix. */
TAMIS_FN uint64_t tamis__unmix(uint64_t x) {
    x ^= x >> 33;
    x *= 0x9cb4b2f8129337db; /* times 0xc4ceb9fe1a85ec53 is 1 */
    x ^= x >> 33;
    x *= 0x4f74430c22a54005;
    x ^= x >> 33;
    return x;
}

/* Odd multipliers of the eight lanes of a block; those of Parquet's specification, so that split is
 * bit for bit the same there. */
static const uint32_t tamis__salt[8] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
};

#endif
