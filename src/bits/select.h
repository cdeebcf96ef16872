/* Whoever looks for the k-th of something in a bitmap may include this. */
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

/* Where the k-th set bit of x is, counting from 0; x must have more than k. The set bits of all
 * bytes up to each byte come from one multiplication; comparing all eight sums with k at once tells
 * the byte, and within it at most seven bits are stepped over. */
TAMIS_FN unsigned tamis__select64(uint64_t x, unsigned k) {
    const uint64_t ones = 0x0101010101010101, tops = 0x80 * ones;
    uint64_t sums = x - (x >> 1 & 0x5555555555555555);
    sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333);
    sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0f) * ones;
    const uint64_t not_above = ((k * ones | tops) - sums) & tops;
    const unsigned shift = 8 * tamis__popcount64(not_above);
    unsigned left = k - (unsigned)(sums << 8 >> shift & 0xff);
    for (x >>= shift; left; left--) x &= x - 1;
    return shift + (unsigned)__builtin_ctzll(x);
}

#endif
