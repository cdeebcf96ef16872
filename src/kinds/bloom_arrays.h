/* SPDX-License-Identifier: MIT */
/* For kinds that keep several of Bloom's arrays in one payload: layered, attenuated, retouched,
 * composite.
 *
 *     | array 0              | array 1             | array 2            | ... | extra |
 *       bits                   percent of array 0    percent of array 1
 *
 * Each array is whole 64-bit words, so that every bit of the payload has a meaning. Where all
 * arrays are equal, percent is 100. */
#ifndef TAMIS_KINDS_BLOOM_ARRAYS_H
#define TAMIS_KINDS_BLOOM_ARRAYS_H

#include "bits/bits.h"
#include "kinds/bloom.h"
#include "kinds/kind.h"

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Every kind keeps `bits` and `hashes` as its first words, and derives the rest from options. */
typedef struct tamis_strata {
    uint64_t bits;    /* of the first array; a multiple of 64 */
    uint64_t hashes;  /* of a key, in any array */
    uint64_t count;   /* number of arrays, at most TAMIS_STRATA_MAX */
    uint64_t percent; /* size relative to the array before, rounded up to a word: 1 to 100 */
    uint64_t extra;   /* bytes after the arrays */
} tamis_strata;

enum { TAMIS_STRATA_MAX = 64 };

/* The gate for bits and hashes; the kind checks its own words first. */
tamis_status tamis__strata_check(const char *kind, tamis_strata, uint64_t *size);

/* Finds bits and hashes for a spec, and stores them in the first two words; count, percent and
 * extra are given, and the number of hashes where the option is. A rate is that of the first array
 * with `capacity` keys. */
tamis_status tamis__strata_plan(const char *kind, const tamis_params *, unsigned hashes_option,
                                tamis_strata, uint64_t word[]);

/* The same for a first array that was enlarged afterwards: does it fit a payload? */
tamis_status tamis__strata_fits(const char *kind, tamis_strata);

/* ---- One array ------------------------------------------------------------------------------ */

typedef struct tamis_stratum {
    uint8_t *bytes;
    uint64_t size; /* in bytes */
} tamis_stratum;

TAMIS_HOT uint64_t tamis__stratum_part(uint64_t size, uint64_t percent) {
    return (size / 8 * percent + 99) / 100 * 8;
}

TAMIS_HOT tamis_stratum tamis__stratum_first(const tamis_body *f, tamis_strata s) {
    return (tamis_stratum){f->bytes, s.bits / 8};
}

/* After the last array: the start of the extra bytes. */
TAMIS_HOT tamis_stratum tamis__stratum_next(tamis_stratum a, tamis_strata s) {
    return (tamis_stratum){a.bytes + a.size, tamis__stratum_part(a.size, s.percent)};
}

tamis_stratum tamis__stratum_at(const tamis_body *, tamis_strata, uint64_t i);

/* A hash of its own for each array: with the same one, a false positive of one array would be one
 * of the others too, and rates could not be multiplied. The first array keeps the hash as it is,
 * so that its bits are those of classic. */
TAMIS_HOT uint64_t tamis__stratum_hash(uint64_t hash, uint64_t i) {
    return i ? tamis__mix(hash + i * 0x9e3779b97f4a7c15) : hash;
}

TAMIS_HOT bool tamis__stratum_has(tamis_stratum a, uint64_t hash, uint64_t hashes) {
    uint64_t x = tamis__chain_start(hash), i = 0;
    while (i < hashes && tamis__bit_get(a.bytes, tamis__chain_next(&x, a.size * 8))) i++;
    return i == hashes;
}

/* Returns the number of newly set bits. */
TAMIS_HOT uint64_t tamis__stratum_add(tamis_stratum a, uint64_t hash, uint64_t hashes) {
    uint64_t x = tamis__chain_start(hash), fresh = 0;
    for (uint64_t i = 0; i < hashes; i++) {
        const uint64_t at = tamis__chain_next(&x, a.size * 8);
        fresh += !tamis__bit_get(a.bytes, at);
        tamis__bit_set(a.bytes, at);
    }
    return fresh;
}

/* The OR of two arrays of one size. */
void tamis__stratum_merge(tamis_stratum into, tamis_stratum from);

uint64_t tamis__stratum_bits_set(tamis_stratum);

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Measures array i as a filter of its own; with `other`, the OR of both. */
void tamis__stratum_measure(const tamis_body *, const tamis_body *other, tamis_strata, uint64_t i,
                            tamis_measurement *);

/* Where all arrays are equal and use the same hash, their OR is the filter of all keys in any. */
struct tamis_estimate tamis__strata_items(const tamis_body *, const tamis_body *other,
                                          tamis_strata);

#endif
