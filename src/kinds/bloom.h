/* SPDX-License-Identifier: MIT */
/* For kinds that probe k of m cells anywhere: classic, and those built on its array.
 *
 * Shape: how many cells and probes the parameters need, and the rate they give. Positions: the
 * default chain, one multiplication per probe. */
#ifndef TAMIS_KINDS_BLOOM_H
#define TAMIS_KINDS_BLOOM_H

#include "bits/probe.h"
#include "kinds/kind.h"

enum { TAMIS_BLOOM_MAX_HASHES = 64 };
#define TAMIS_BLOOM_MAX_BITS (TAMIS_MAX_PAYLOAD_BYTES * 8)

/* The expected rate: exact for small arrays, second order for the rest. */
double tamis__bloom_rate(uint64_t keys, uint64_t bits, uint64_t hashes);

/* The fewest bits, in multiples of 64, that keep the rate; `hashes` is given, or 0 for the best.
 * False when over TAMIS_BLOOM_MAX_BITS. */
bool tamis__bloom_plan(uint64_t keys, double fpr, uint64_t hashes, uint64_t *bits,
                       uint64_t *hashes_planned);

/* The best number of probes for a given number of bits, 1 to 64. */
uint64_t tamis__bloom_hashes(uint64_t keys, uint64_t bits);

/* The default chain: x starts as the hash, made odd, and every call returns the next position in
 * [0, cells). Accurate also for few cells and small rates, where double hashing is not. */
TAMIS_HOT uint64_t tamis__chain_start(uint64_t hash) {
    return hash | 1;
}

#define TAMIS_CHAIN 0xf1357aea2e62a9c5 /* odd: a multiplicative generator of odd numbers */

/* The next number of the chain itself, for callers that need more than a position. */
TAMIS_HOT uint64_t tamis__chain_turn(uint64_t *x) {
    const uint64_t now = *x;
    *x *= TAMIS_CHAIN;
    return now;
}

TAMIS_HOT uint64_t tamis__chain_next(uint64_t *x, uint64_t cells) {
    return tamis__range(tamis__chain_turn(x), cells);
}

/* Entries of kinds whose first words are these, and whose payload begins with that array of bits,
 * in whole 64-bit words. */
enum { TAMIS_BLOOM_BITS, TAMIS_BLOOM_HASHES };

double tamis__bloom_array_rate(const uint64_t word[], uint64_t items);
bool tamis__bloom_has(const tamis_body *, uint64_t hash);
void tamis__bloom_query(const tamis_body *, tamis_batch, uint8_t *hit);
tamis_status tamis__bloom_add(tamis_body *, tamis_batch);
void tamis__bloom_add_shared(tamis_body *, tamis_batch);
tamis_one tamis__bloom_one(const uint64_t word[]);

/* Kernels of the query; the second is only for arrays in cache. */
typedef void tamis_bloom_kernel(const tamis_body *, tamis_batch, uint8_t *hit);
tamis_bloom_kernel tamis__bloom_query_avx2, tamis__bloom_query_avx512;

#endif
