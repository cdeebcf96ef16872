/* SPDX-License-Identifier: MIT */
/* For finding the k-th set bit in a bitmap. */
#ifndef TAMIS_BITS_SELECT_H
#define TAMIS_BITS_SELECT_H

#include "bits/bits.h"

/* Masks of the bits below bit i, and of those up to it. */
TAMIS_FN uint64_t tamis__below(uint64_t i) {
    return ((uint64_t)1 << (i & 63)) - 1;
}

TAMIS_FN uint64_t tamis__up_to(uint64_t i) {
    return ((uint64_t)2 << (i & 63)) - 1;
}

/* For each byte of x, the set bits in it and below it: sums of pairs, of fours, of bytes, and one
 * multiplication that adds them up. */
TAMIS_FN uint64_t tamis__bits_up_to_bytes(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101;
}

/* Counts the set bits of x; x86 without the instruction would call a function with a table by
 * byte. */
TAMIS_FN unsigned tamis__rank64(uint64_t x) {
#if defined(__x86_64__) && !defined(__POPCNT__)
    return (unsigned)(tamis__bits_up_to_bytes(x) >> 56);
#else
    return tamis__popcount64(x);
#endif
}

/* How many of eight ascending sums, one in each byte, are at most k < 128. */
TAMIS_FN unsigned tamis__sums_up_to(uint64_t sums, unsigned k) {
    const uint64_t ones = 0x0101010101010101, tops = 0x80 * ones;
    const uint64_t not_above = ((k * ones | tops) - sums) & tops;
    return (unsigned)((not_above >> 7) * ones >> 56);
}

/* The index of the k-th set bit of x, counting from 0; x must have more than k. Comparing all eight
 * byte sums with k at once finds the byte; its bits, spread over bytes and summed in the same way,
 * find the bit. */
TAMIS_FN unsigned tamis__select64(uint64_t x, unsigned k) {
#if defined(__x86_64__) && defined(__BMI2__)
    return (unsigned)__builtin_ctzll(__builtin_ia32_pdep_di((uint64_t)1 << k, x));
#else
    const uint64_t ones = 0x0101010101010101, sums = tamis__bits_up_to_bytes(x);
    const unsigned shift = 8 * tamis__sums_up_to(sums, k);
    const unsigned left = k - (unsigned)(sums << 8 >> shift & 0xff);
    const uint64_t spread = (x >> shift & 0xff) * ones & 0x8040201008040201;
    const uint64_t bits = (spread + 0x7f * ones) >> 7 & ones;
    return shift + tamis__sums_up_to(bits * ones, left);
#endif
}

#endif
