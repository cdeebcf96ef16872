/* SPDX-License-Identifier: MIT */
/* universal: one bit per key, and a rate that is proven for every set.
 *
 * All other kinds keep their rate when the hash behaves randomly. This one needs no such
 * assumption: its position is drawn from a universal family (Carter and Wegman 1979), in which any
 * two different hashes collide with probability at most 1/m over the choice of the function. With n
 * keys in m = n/fpr bits, a non-member is therefore a false positive with probability at most n/m =
 * fpr, whatever the keys are, as long as the function was drawn after they were fixed: use a random
 * seed. That is a mean over functions; a single one can do worse on hashes in a pattern, which is
 * why keys are hashed first. Only equal hashes are beyond it, which adds n/2^61.
 *
 *     hash ─▶ x = hash mod P ─▶ v = (multiplier * x + offset) mod P ─▶ v * m / 2^61    P = 2^61-1
 *
 *     0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 1 0 0 ...                  one probe, few bits set
 *
 * The price is space: 100 bits per key at 1 %, where blocked has 10. */
#include <math.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/kind.h"
#include "tamis_math.h"

enum { BITS, MULTIPLIER, OFFSET };
#define MAX_BITS (TAMIS_MAX_PAYLOAD_BYTES * 8)
#define P        (((uint64_t)1 << 61) - 1)

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Hashes that are equal modulo P collide under any function. */
static double met_before(double keys) {
    return keys / (double)P;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t step = 0x9e3779b97f4a7c15; /* separates functions of neighbouring seeds */
    word[MULTIPLIER] = 1 + tamis__mix(params->seed + step) % (P - 1);
    word[OFFSET] = tamis__mix(params->seed + 2 * step) % P;
    if (params->bits) {
        word[BITS] = params->bits;
        return TAMIS_OK;
    }
    const double keys = params->capacity ? (double)params->capacity : 1;
    const double fpr = params->fpr - met_before(keys), bits = fpr > 0 ? ceil(keys / fpr) : INFINITY;
    word[BITS] = bits < (double)MAX_BITS ? tamis__round_to_fold((uint64_t)bits, 64, MAX_BITS) : 0;
    return word[BITS] ? TAMIS_OK
                      : tamis__fail(TAMIS_TOO_LARGE, "universal would need over 2^56 bytes");
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BITS] == 0 || word[BITS] > MAX_BITS)
        return tamis__fail(TAMIS_CORRUPT, "universal cannot have %llu bits",
                           (unsigned long long)word[BITS]);
    if (word[MULTIPLIER] == 0 || word[MULTIPLIER] >= P || word[OFFSET] >= P)
        return tamis__fail(TAMIS_CORRUPT, "the function of universal is not one of its family");
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

/* The average; the proven bound items/bits is a little above. */
static double rate(const uint64_t word[], uint64_t items) {
    const double rate_of_bits = tamis_rate_finite((double)items, (double)word[BITS], 1);
    return rate_of_bits + (1 - rate_of_bits) * met_before((double)items);
}

/* ---- Positions ------------------------------------------------------------------------------ */

/* x mod P for x below 2^63: 2^61 is 1 modulo P, so the upper bits are added to the lower ones. */
TAMIS_HOT uint64_t reduce(uint64_t x) {
    x = (x & P) + (x >> 61);
    return x >= P ? x - P : x;
}

/* The product of two numbers below 2^61, from bit 61 on. */
TAMIS_HOT uint64_t upper_61(uint64_t a, uint64_t b, uint64_t *low_61) {
    uint64_t low;
    const uint64_t high = tamis__multiply(a, b, &low);
    *low_61 = low & P;
    return high << 3 | low >> 61;
}

TAMIS_HOT uint64_t position(const tamis_body *f, uint64_t hash) {
    uint64_t low;
    const uint64_t x = reduce((hash & P) + (hash >> 61));
    const uint64_t high = upper_61(f->word[MULTIPLIER], x, &low);
    const uint64_t v = reduce(low + high + f->word[OFFSET]);
    return upper_61(v, f->word[BITS], &low);
}

/* ---- Querying and adding -------------------------------------------------------------------- */

/* Beyond the cache, the bits of a group are prefetched before the first is read. */
enum { GROUP = 128 };

TAMIS_HOT void locate(const tamis_body *f, const uint64_t *hash, size_t n, bool is_change,
                      uint64_t at[GROUP]) {
    const bool is_near = f->size <= tamis__near_bytes();
    for (size_t j = 0; j < n; j++) {
        at[j] = position(f, hash[j]);
        if (is_near) continue;
        if (is_change)
            __builtin_prefetch(f->bytes + at[j] / 8, 1);
        else
            __builtin_prefetch(f->bytes + at[j] / 8, 0, 2);
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    uint64_t at[GROUP];
    while (b.n) {
        const size_t group = b.n < GROUP ? b.n : GROUP;
        locate(f, b.hash, group, false, at);
        for (size_t j = 0; j < group; j++) hit[j] = tamis__bit_get(f->bytes, at[j]);
        b.hash += group, hit += group, b.n -= group;
    }
}

static bool has(const tamis_body *f, uint64_t hash) {
    return tamis__bit_get(f->bytes, position(f, hash));
}

TAMIS_HOT void add_any(bool is_shared, tamis_body *f, const uint64_t *hash, size_t n) {
    uint64_t at[GROUP];
    while (n) {
        const size_t group = n < GROUP ? n : GROUP;
        locate(f, hash, group, true, at);
        for (size_t j = 0; j < group; j++)
            if (is_shared)
                tamis__or64_shared(f->bytes + at[j] / 64 * 8, (uint64_t)1 << at[j] % 64);
            else
                tamis__bit_set(f->bytes, at[j]);
        hash += group, n -= group;
    }
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    add_any(false, f, b.hash, b.n);
    return TAMIS_OK;
}

static void add_shared(tamis_body *f, tamis_batch b) {
    add_any(true, f, b.hash, b.n);
}

/* ---- Folding and measuring ------------------------------------------------------------------ */

static tamis_status move(tamis_body *to, const tamis_body *from) {
    const uint64_t bits = from->word[BITS];
    if (to->word[BITS] > bits)
        tamis__bitmap_stretch(to->bytes, to->word[BITS], from->bytes, bits);
    else
        tamis__bitmap_fold_neighbours(to->bytes, from->bytes, bits, bits / to->word[BITS]);
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__bitmap_measure(f, other, f->word[BITS], 1, out);
}

const tamis_kind tamis__universal = {
    .name = "universal",
    .contract = "a rate proven for any set of keys: one probe, capacity/fpr bits",
    .word = {"bits", "multiplier", "offset"},
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__one_probe,
    .rate = rate,
    .audit = tamis__bits_audit,
    .measure = measure,
    .query = query,
    .add = add,
    .speed = &(const tamis_speed){.has = has, .add_shared = add_shared},
    .reshape =
        &(const tamis_reshape){.fold = tamis__fold_first, .move = move, .stretch = tamis__is_wider},
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = tamis__bitmap_intersect},
};
