/* SPDX-License-Identifier: MIT */
/* For cuckoo.c and its kernels; it holds only inline functions.
 *
 * A query for one key where a bucket is a word: a function for each width of a cell, in which masks
 * and shifts are constants. */
#ifndef TAMIS_KINDS_CUCKOO_WORDS_H
#define TAMIS_KINDS_CUCKOO_WORDS_H

#include "kinds/cuckoo.h"

/* tamis__mix of numbers below 2^33. */
TAMIS_HOT uint64_t tamis__mix_small(uint64_t x) {
    x *= 0xff51afd7ed558ccd;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

/* The lowest bit of each cell of a bucket that is at the upper end of a word. */
TAMIS_HOT uint64_t tamis__upper_ones(unsigned width) {
    const uint64_t two = (uint64_t)1 << width | 1;
    return (two << 2 * width | two) << (64 - TAMIS_CUCKOO_SLOTS * width);
}

/* The eight bytes that end with a bucket, which has half as many bytes as a cell has bits. They
 * always exist, because the payload begins with other things; their lower bits are those of its
 * neighbours. */
TAMIS_HOT const uint8_t *tamis__end_of_bucket(const uint8_t *cells, uint64_t bucket,
                                              unsigned width) {
    if (width % 2 == 0) return cells + bucket * (width / 2) + width / 2 - 8;
    return cells + (bucket * width + width + 1) / 2 - 8;
}

/* Has one of two buckets the value in one of its cells? */
typedef bool tamis_either_has(unsigned width, const uint8_t *cells, uint64_t bucket, uint64_t other,
                              uint64_t value);

TAMIS_HOT uint64_t tamis__word_of_bucket(unsigned width, const uint8_t *cells, uint64_t bucket) {
    const uint64_t word = tamis__get64(tamis__end_of_bucket(cells, bucket, width));
    return width % 2 && bucket % 2 == 0 ? word << 4 : word; /* it ends in the middle of a byte */
}

/* As in tamis__equal_cells. Bits below a bucket borrow nothing from it, since nothing is subtracted
 * there. */
TAMIS_HOT bool tamis__either_word_has(unsigned width, const uint8_t *cells, uint64_t bucket,
                                      uint64_t other, uint64_t value) {
    const uint64_t ones = tamis__upper_ones(width);
    const uint64_t x = tamis__word_of_bucket(width, cells, bucket) ^ value * ones;
    const uint64_t y = tamis__word_of_bucket(width, cells, other) ^ value * ones;
    return (((x - ones) & ~x) | ((y - ones) & ~y)) & ones << (width - 1);
}

/* Both buckets are read without a branch on their contents, which would be unpredictable; a stash,
 * which is rare, is for the general way. */
TAMIS_HOT bool tamis__has_in_words(tamis_either_has *either_has, unsigned width,
                                   const tamis_body *f, uint64_t hash) {
    const uint64_t buckets = f->word[0];
    uint64_t value;
    if (tamis__get64(f->bytes + 8)) return f->kind->speed->has(f, hash);
    const uint64_t bucket = tamis__split(hash, buckets, width, &value);
    const uint64_t offset = tamis__range(tamis__mix_small(value), buckets);
    const uint64_t other = offset - bucket + (offset < bucket ? buckets : 0);
    return either_has(width, f->bytes + TAMIS_CUCKOO_HEAD, bucket, other, value);
}

/* All widths, of which every second one leaves its buckets at whole bytes. */
#define TAMIS_HAS_IN_WORDS(width, either_has)                     \
    static bool has_##width(const tamis_body *f, uint64_t hash) { \
        return tamis__has_in_words(either_has, width, f, hash);   \
    }
#define TAMIS_HAS_IN_FOUR(w0, w1, w2, w3, even, odd) \
    TAMIS_HAS_IN_WORDS(w0, even)                     \
    TAMIS_HAS_IN_WORDS(w1, odd)                      \
    TAMIS_HAS_IN_WORDS(w2, even)                     \
    TAMIS_HAS_IN_WORDS(w3, odd)
#define TAMIS_CUCKOO_HAS(even, odd)              \
    TAMIS_HAS_IN_FOUR(4, 5, 6, 7, even, odd)     \
    TAMIS_HAS_IN_FOUR(8, 9, 10, 11, even, odd)   \
    TAMIS_HAS_IN_FOUR(12, 13, 14, 15, even, odd) \
    TAMIS_HAS_IN_WORDS(16, even)
#define TAMIS_CUCKOO_HAS_LIST                                                                   \
    {                                                                                           \
        [4] = has_4, has_5, has_6, has_7, has_8, has_9, has_10, has_11, has_12, has_13, has_14, \
        has_15, has_16                                                                          \
    }

#endif
