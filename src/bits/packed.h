/* SPDX-License-Identifier: MIT */
/* For packed small numbers: counters, fingerprints, remainders.
 *
 * Field i of `width` bits (1 to 64) is at bits [i*width, (i+1)*width) of a payload, in the order of
 * tamis__bit_get; a field may straddle two words. Arrays are padded to whole words, so that no
 * access leaves them. */
#ifndef TAMIS_BITS_PACKED_H
#define TAMIS_BITS_PACKED_H

#include "bits/bits.h"

/* Bytes of n fields; n * width must be below 2^63. */
TAMIS_FN uint64_t tamis__fields_size(uint64_t n, unsigned width) {
    return (n * width + 63) / 64 * 8;
}

TAMIS_FN uint64_t tamis__field_mask(unsigned width) {
    return UINT64_MAX >> (64 - width);
}

/* The `width` bits from `bit`, at any position in a word. */
TAMIS_FN uint64_t tamis__bits_get(const uint8_t *bytes, uint64_t bit, unsigned width) {
    const unsigned shift = bit & 63;
    const uint8_t *p = bytes + (bit >> 6) * 8;
    uint64_t x = tamis__get64(p) >> shift;
    if (shift + width > 64) x |= tamis__get64(p + 8) << (64 - shift);
    return x & tamis__field_mask(width);
}

/* The same while other threads set bits with tamis__or64_shared; a field that straddles two words
 * is read word by word. */
TAMIS_FN uint64_t tamis__bits_load(const uint8_t *bytes, uint64_t bit, unsigned width) {
    const unsigned shift = bit & 63;
    const uint8_t *p = bytes + (bit >> 6) * 8;
    uint64_t x = tamis__load64(p) >> shift;
    if (shift + width > 64) x |= tamis__load64(p + 8) << (64 - shift);
    return x & tamis__field_mask(width);
}

/* `value` must fit the width. */
TAMIS_FN void tamis__bits_put(uint8_t *bytes, uint64_t bit, unsigned width, uint64_t value) {
    const uint64_t mask = tamis__field_mask(width);
    const unsigned shift = bit & 63;
    uint8_t *p = bytes + (bit >> 6) * 8;
    tamis__put64(p, (tamis__get64(p) & ~(mask << shift)) | value << shift);
    if (shift + width > 64) {
        const unsigned done = 64 - shift;
        tamis__put64(p + 8, (tamis__get64(p + 8) & ~(mask >> done)) | value >> done);
    }
}

TAMIS_FN uint64_t tamis__field_get(const uint8_t *bytes, uint64_t i, unsigned width) {
    return tamis__bits_get(bytes, i * width, width);
}

TAMIS_FN void tamis__field_put(uint8_t *bytes, uint64_t i, unsigned width, uint64_t value) {
    tamis__bits_put(bytes, i * width, width, value);
}

/* Are the padding bits after the last field zero, as they must be? */
TAMIS_FN bool tamis__fields_end_clean(const uint8_t *bytes, uint64_t n, unsigned width) {
    const uint64_t bits = n * width;
    return bits % 64 == 0 || tamis__get64(bytes + bits / 64 * 8) >> (bits % 64) == 0;
}

#endif
