/* SPDX-License-Identifier: MIT */
/* Arrays in which every key probes k of m cells: sizes, rates, and the operations where cells are
 * bits. */
#include "kinds/bloom.h"

#include <math.h>

#include "kinds/bitmap.h"
#include "kinds/rounds.h"
#include "tamis_math.h"

enum { WORD_BITS = 64 };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS

/* Every search and every large filter uses second order. It is off where few bits meet many probes
 * (2.5 % at 512 bits and a rate of 10^-9), so for small filters, unless overfull, the distribution
 * of set bits is summed exactly; that takes up to a millisecond. */
enum { EXACT_BELOW_BITS = 2048, EXACT_BELOW_LOAD = 4 };

static double near_rate(uint64_t keys, uint64_t bits, uint64_t hashes) {
    return tamis_rate_second_order((double)keys, (double)bits, (double)hashes);
}

double tamis__bloom_rate(uint64_t keys, uint64_t bits, uint64_t hashes) {
    if (bits < EXACT_BELOW_BITS && keys < EXACT_BELOW_LOAD * bits / hashes)
        return tamis_rate_exact(keys, bits, (unsigned)hashes);
    return near_rate(keys, bits, hashes);
}

double tamis__bloom_array_rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, word[TAMIS_BLOOM_BITS], word[TAMIS_BLOOM_HASHES]);
}

/* The smallest m that keeps the rate with k probes. The search starts from the formula by e^-x,
 * which is a little too low. */
static uint64_t bits_for(uint64_t keys, double fpr, uint64_t hashes) {
    const double formula = tamis_bits_for((double)keys, fpr, (double)hashes);
    if (!(formula < (double)(MAX_BITS / 2))) return MAX_BITS;
    uint64_t low = formula < 1 ? 1 : (uint64_t)formula, high = low;
    for (uint64_t step = 1; near_rate(keys, high, hashes) > fpr && high < MAX_BITS; step *= 2) {
        low = high;
        high += step;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (near_rate(keys, middle, hashes) > fpr)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static uint64_t clamp_hashes(double k) {
    return k < 1 ? 1 : k > TAMIS_BLOOM_MAX_HASHES ? TAMIS_BLOOM_MAX_HASHES : (uint64_t)k;
}

bool tamis__bloom_plan(uint64_t keys, double fpr, uint64_t hashes, uint64_t *bits,
                       uint64_t *hashes_planned) {
    const double best = -log2(fpr);
    if (keys == 0) keys = 1;
    const uint64_t first = hashes ? hashes : clamp_hashes(floor(best));
    const uint64_t last = hashes ? hashes : clamp_hashes(ceil(best));
    uint64_t min = MAX_BITS;
    for (uint64_t k = first; k <= last; k++) {
        const uint64_t needed = bits_for(keys, fpr, k);
        if (needed >= min) continue;
        min = needed;
        *hashes_planned = k;
    }
    min = (min + WORD_BITS - 1) / WORD_BITS * WORD_BITS;
    while (min < EXACT_BELOW_BITS && tamis__bloom_rate(keys, min, *hashes_planned) > fpr)
        min += WORD_BITS;
    *bits = tamis__round_to_fold(min, WORD_BITS, MAX_BITS);
    return *bits != 0;
}

uint64_t tamis__bloom_hashes(uint64_t keys, uint64_t bits) {
    return clamp_hashes(tamis_best_hashes(keys ? (double)keys : 1, (double)bits));
}

/* ---- Querying and adding -------------------------------------------------------------------- */

TAMIS_HOT void set(const tamis_probed *p, uint64_t x, uint64_t cell) {
    (void)x;
    tamis__bit_set(p->bytes, cell);
}

TAMIS_HOT void set_shared(const tamis_probed *p, uint64_t x, uint64_t cell) {
    (void)x;
    tamis__or64_shared(p->bytes + cell / 64 * 8, (uint64_t)1 << cell % 64);
}

bool tamis__bloom_has(const tamis_body *f, uint64_t hash) {
    const tamis_probed p = tamis__bits_probed(f);
    return tamis__probed_has(tamis__bit_passes, &p, hash);
}

static bool has_near(const tamis_body *f, uint64_t hash) {
    const tamis_probed p = tamis__bits_probed(f);
    return tamis__probed_has_near(tamis__bit_passes, &p, hash);
}

static bool has_far(const tamis_body *f, uint64_t hash) {
    const tamis_probed p = tamis__bits_probed(f);
    return tamis__probed_has_far(tamis__bit_passes, &p, hash);
}

/* One key is not worth a prefetch: its stores wait for nothing, and its loads for no other. */
static bool add_one(tamis_body *f, uint64_t hash) {
    const tamis_probed p = tamis__bits_probed(f);
    tamis__add_near(set, &p, &hash, 1);
    return true;
}

/* Where the third-level cache may no longer hold the array. Up to there one key needs no early
 * exit; a batch, which prefetches, begins to gain from that much sooner. */
enum { FAR_FOR_ONE = 8 << 20 };

tamis_one tamis__bloom_one(const uint64_t word[]) {
    const bool is_far = word[TAMIS_BLOOM_BITS] / 8 > FAR_FOR_ONE;
    return (tamis_one){.has = is_far ? has_far : has_near, .add = add_one};
}

static void query_plain(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_probed p = tamis__bits_probed(f);
    tamis__probed_query(tamis__bit_passes, &p, b.hash, b.n, hit);
}

/* A few keys are not worth eight lanes. */
enum { MIN_FOR_LANES = 8 };

void tamis__bloom_query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    tamis_bloom_kernel *query = query_plain;
#if TAMIS_HAS_X86
    const bool is_near = f->word[TAMIS_BLOOM_BITS] / 8 <= tamis__near_bytes();
    if (tamis__cpu() & TAMIS_CPU_AVX512 && is_near && b.n >= MIN_FOR_LANES)
        query = tamis__bloom_query_avx512;
    else if (tamis__cpu() & TAMIS_CPU_AVX2)
        query = tamis__bloom_query_avx2;
#endif
    query(f, b, hit);
}

tamis_status tamis__bloom_add(tamis_body *f, tamis_batch b) {
    const tamis_probed p = tamis__bits_probed(f);
    tamis__probed_add(set, &p, b.hash, b.n);
    return TAMIS_OK;
}

void tamis__bloom_add_shared(tamis_body *f, tamis_batch b) {
    const tamis_probed p = tamis__bits_probed(f);
    tamis__probed_add(set_shared, &p, b.hash, b.n);
}
