/* SPDX-License-Identifier: MIT */
/* Several of Bloom's arrays in one payload: their sizes, and measuring one of them. */
#include "kinds/bloom_arrays.h"

#include "kinds/bitmap.h"

enum { WORD_BITS = 64 };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS

/* ---- Shape ---------------------------------------------------------------------------------- */

/* At most 64 arrays of 2^56 bytes: the sum stays below 2^63. */
static uint64_t size_with(tamis_strata s, uint64_t bits) {
    uint64_t size = s.extra, part = bits / 8;
    for (uint64_t i = 0; i < s.count; i++) {
        size += part;
        part = tamis__stratum_part(part, s.percent);
    }
    return size;
}

tamis_status tamis__strata_check(const char *kind, tamis_strata s, uint64_t *size) {
    if (s.bits == 0 || s.bits > MAX_BITS || s.bits % WORD_BITS)
        return tamis__fail(TAMIS_CORRUPT, "%s cannot have an array of %llu bits", kind,
                           (unsigned long long)s.bits);
    if (!tamis__may_have(kind, s.hashes, "hashes", 1, TAMIS_BLOOM_MAX_HASHES)) return TAMIS_CORRUPT;
    *size = size_with(s, s.bits);
    if (*size > TAMIS_MAX_PAYLOAD_BYTES)
        return tamis__fail(TAMIS_CORRUPT, "%s cannot have arrays of over 2^56 bytes", kind);
    return TAMIS_OK;
}

tamis_status tamis__strata_fits(const char *kind, tamis_strata s) {
    if (s.bits > MAX_BITS || size_with(s, s.bits) > TAMIS_MAX_PAYLOAD_BYTES)
        return tamis__fail(TAMIS_TOO_LARGE, "%s would need over 2^56 bytes", kind);
    return TAMIS_OK;
}

/* The largest first array with which all arrays fit in `size` bytes; 0 for none. */
static uint64_t max_bits(tamis_strata s, uint64_t size) {
    uint64_t low = 0, high = size / 8 + 1; /* in words */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(size_with(s, middle * WORD_BITS) <= size ? &low : &high) = middle;
    }
    return low * WORD_BITS;
}

tamis_status tamis__strata_plan(const char *kind, const tamis_params *params,
                                unsigned hashes_option, tamis_strata s, uint64_t word[]) {
    s.hashes = tamis__chosen(params, hashes_option, 0);
    if (params->bits) {
        s.bits = max_bits(s, params->bits / WORD_BITS * 8);
        if (!s.hashes) s.hashes = tamis__bloom_hashes(params->capacity, s.bits);
    } else if (!tamis__bloom_plan(params->capacity, params->fpr, s.hashes, &s.bits, &s.hashes)) {
        s.bits = MAX_BITS + WORD_BITS;
    }
    word[TAMIS_BLOOM_BITS] = s.bits;
    word[TAMIS_BLOOM_HASHES] = s.hashes;
    if (!params->bits) return tamis__strata_fits(kind, s);
    if (s.bits) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "%s needs at least %llu bits for this, not %llu", kind,
                       (unsigned long long)size_with(s, WORD_BITS) * 8,
                       (unsigned long long)params->bits);
}

/* ---- One array ------------------------------------------------------------------------------ */

tamis_stratum tamis__stratum_at(const tamis_body *f, tamis_strata s, uint64_t i) {
    tamis_stratum a = tamis__stratum_first(f, s);
    while (i--) a = tamis__stratum_next(a, s);
    return a;
}

/* One array alone is a body like any other flat array of bits. */
static tamis_body body_of(tamis_stratum a) {
    return (tamis_body){.bytes = a.bytes, .size = a.size};
}

void tamis__stratum_merge(tamis_stratum into, tamis_stratum from) {
    tamis_body a = body_of(into);
    const tamis_body b = body_of(from);
    tamis__bitmap_merge(&a, &b);
}

uint64_t tamis__stratum_bits_set(tamis_stratum a) {
    const tamis_body f = body_of(a);
    return tamis__bits_set(&f, NULL);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

void tamis__stratum_measure(const tamis_body *f, const tamis_body *other, tamis_strata s,
                            uint64_t i, tamis_measurement *out) {
    const tamis_stratum a = tamis__stratum_at(f, s, i);
    const tamis_body mine = body_of(a),
                     theirs = body_of(tamis__stratum_at(other ? other : f, s, i));
    tamis__bitmap_measure(&mine, other ? &theirs : NULL, a.size * 8, s.hashes, out);
}

/* Word `at` of all arrays together. */
static uint64_t or_of_arrays(const tamis_body *f, tamis_strata s, uint64_t at) {
    uint64_t word = 0;
    for (uint64_t i = 0; i < s.count; i++) word |= tamis__load64(f->bytes + i * (s.bits / 8) + at);
    return word;
}

struct tamis_estimate tamis__strata_items(const tamis_body *f, const tamis_body *other,
                                          tamis_strata s) {
    uint64_t set = 0;
    for (uint64_t at = 0; at < s.bits / 8; at += 8)
        set += tamis__popcount64(or_of_arrays(f, s, at) | (other ? or_of_arrays(other, s, at) : 0));
    return tamis__bitmap_items(set, s.bits, s.hashes);
}
