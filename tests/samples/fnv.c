/* SPDX-License-Identifier: MIT */
/* fnv: a filter that hashes keys its own way; a sample of how other systems' filters come in.
 *
 * One bit per key at FNV-1a(key) mod bits. Core never hashes for it, and calls on hashes answer
 * "maybe". */
#include <math.h>

#include "bits/bits.h"
#include "kinds/bitmap.h"
#include "kinds/kind.h"
#include "tamis_math.h"

enum { BITS };
#define MAX_BITS ((uint64_t)1 << 40)

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    const double bits = params->bits ? (double)params->bits : ceil(keys / params->fpr);
    word[BITS] = bits < (double)MAX_BITS ? (uint64_t)bits | 1 : 0;
    return word[BITS] ? TAMIS_OK : tamis__fail(TAMIS_TOO_LARGE, "fnv is for small sets");
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BITS] == 0 || word[BITS] > MAX_BITS)
        return tamis__fail(TAMIS_CORRUPT, "fnv cannot have %llu bits",
                           (unsigned long long)word[BITS]);
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return 1;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis_rate_finite((double)items, (double)word[BITS], 1);
}

static tamis_status audit(const tamis_body *f) {
    return tamis__bitmap_audit(f, f->word[BITS]);
}

static uint64_t position(const tamis_body *f, const struct tamis_key *key) {
    const uint8_t *p = key->bytes;
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < key->len; i++) h = (h ^ p[i]) * 0x100000001b3;
    h ^= h >> 32; /* FNV mixes upwards only */
    return h * 0x9e3779b97f4a7c15 % f->word[BITS];
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) hit[i] = tamis__bit_get(f->bytes, position(f, &b.key[i]));
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) tamis__bit_set(f->bytes, position(f, &b.key[i]));
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__bitmap_measure(f, other, f->word[BITS], 1, out);
}

const tamis_kind tamis__fnv = {
    .name = "fnv",
    .contract = "a sample: hashes keys its own way",
    .word = {"bits"},
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge},
};
