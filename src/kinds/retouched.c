/* SPDX-License-Identifier: MIT */
/* retouched: a Bloom filter in which chosen false positives are answered no.
 *
 * When a few false positives are known to hurt, bits can be cleared on purpose: clear one bit of
 * each troublesome key, and it is always answered no. The price is that every key that needs the
 * bit is lost too (Donnet, Baynat and Friedman 2006). Clearing random bits trades all false
 * positives against lost keys; clearing chosen ones pays much better.
 *
 *     kept      0 1 0 0 1 0 0 1 0 1 ...    what queries read
 *     cleared   0 0 0 1 0 0 0 0 0 0 ...    cleared on purpose; never a bit that is kept too
 *                     ▲
 *                     was set, and a troublesome key has it
 *
 * Cleared bits are remembered, so that nothing is final: to undo is to OR the second array into the
 * first. Adding a key restores its own bits. The union of two filters keeps what either keeps, so
 * that no key that one of them finds is lost by it. */
#include <math.h>
#include <stdio.h>

#include "kinds/bloom_arrays.h"

enum { BITS, HASHES };          /* shape words */
enum { OPT_HASHES };            /* options */
enum { KEPT, CLEARED, ARRAYS }; /* the two arrays */
enum { MAX_HASHES = TAMIS_BLOOM_MAX_HASHES };

static const char name[] = "retouched";
static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the best for the rate", "probes per key, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_strata strata_of(const uint64_t word[]) {
    return (tamis_strata){
        .bits = word[BITS], .hashes = word[HASHES], .count = ARRAYS, .percent = 100};
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return tamis__strata_plan(name, params, OPT_HASHES, strata_of(word), word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    return tamis__strata_check(name, strata_of(word), size);
}

/* ---- The two arrays ------------------------------------------------------------------------- */

static tamis_stratum array_at(const tamis_body *f, unsigned i) {
    const uint64_t size = f->word[BITS] / 8;
    return (tamis_stratum){f->bytes + i * size, size};
}

static bool is_found(const tamis_body *f, uint64_t hash) {
    return tamis__stratum_has(array_at(f, KEPT), hash, f->word[HASHES]);
}

/* Moves bits, 64 at a time, to one array from the other. */
TAMIS_HOT void move_bits(tamis_body *f, unsigned to, uint64_t word, uint64_t bits) {
    uint8_t *gets = array_at(f, to).bytes + word * 8;
    uint8_t *loses = array_at(f, to == KEPT ? CLEARED : KEPT).bytes + word * 8;
    tamis__or64(gets, bits);
    tamis__put64(loses, tamis__get64(loses) & ~bits);
}

/* No bit is both kept and cleared. */
static tamis_status audit(const tamis_body *f) {
    const tamis_stratum kept = array_at(f, KEPT), cleared = array_at(f, CLEARED);
    for (uint64_t at = 0; at < kept.size; at += 8)
        if (tamis__get64(kept.bytes + at) & tamis__get64(cleared.bytes + at))
            return tamis__fail(TAMIS_CORRUPT, "a bit of retouched is both kept and cleared");
    return TAMIS_OK;
}

/* ---- Querying, adding, merging -------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) hit[j] = is_found(f, b.hash[j]);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        uint64_t x = tamis__chain_start(b.hash[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++) {
            const uint64_t at = tamis__chain_next(&x, f->word[BITS]);
            move_bits(f, KEPT, at / 64, (uint64_t)1 << at % 64);
        }
    }
    return TAMIS_OK;
}

/* A bit that is cleared in one and needed in the other is needed. */
static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const tamis_stratum kept = array_at(from, KEPT), cleared = array_at(from, CLEARED);
    const tamis_stratum mine = array_at(into, KEPT);
    for (uint64_t w = 0; w < kept.size / 8; w++) {
        move_bits(into, KEPT, w, tamis__get64(kept.bytes + w * 8));
        move_bits(into, CLEARED, w,
                  tamis__get64(cleared.bytes + w * 8) & ~tamis__get64(mine.bytes + w * 8));
    }
    return TAMIS_OK;
}

/* ---- Retouching ----------------------------------------------------------------------------- */

static uint64_t scratch(const uint64_t word[]) {
    return word[BITS];
}

/* Reproducible randomness: x starts as the mixed seed. */
static uint64_t chance_next(uint64_t *x) {
    *x += 0x9e3779b97f4a7c15;
    return tamis__mix(*x);
}

static void clear_share(tamis_body *f, double share, uint64_t seed,
                        struct tamis_retouch_stats *out) {
    const tamis_stratum kept = array_at(f, KEPT);
    uint64_t x = tamis__mix(seed);
    for (uint64_t w = 0; w < kept.size / 8; w++) {
        uint64_t unlucky = 0;
        for (uint64_t rest = tamis__get64(kept.bytes + w * 8); rest; rest &= rest - 1)
            if ((double)(chance_next(&x) >> 11) * 0x1p-53 < share) unlucky |= rest & -rest;
        move_bits(f, CLEARED, w, unlucky);
        out->bits_cleared += tamis__popcount64(unlucky);
    }
}

/* The bits of a key, each once. */
static unsigned bits_of(const tamis_body *f, uint64_t hash, uint64_t at[MAX_HASHES]) {
    uint64_t x = tamis__chain_start(hash);
    unsigned n = 0;
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        unsigned j = 0;
        at[n] = tamis__chain_next(&x, f->word[BITS]);
        while (at[j] != at[n]) j++;
        n += j == n;
    }
    return n;
}

static uint64_t count_found(const tamis_body *f, const uint64_t *hash, size_t n) {
    uint64_t found = 0;
    for (size_t j = 0; j < n; j++) found += is_found(f, hash[j]);
    return found;
}

/* How many of the accepted hashes need each bit. The counts are not updated as bits are cleared:
 * that would take a second pass per bit, and uncounting the troublesome keys that are done saved 2
 * % of the lost keys in the best case measured. */
static void tally(const tamis_body *f, const uint64_t *hash, size_t n, uint32_t *needs) {
    uint64_t at[MAX_HASHES];
    for (size_t j = 0; j < n; j++)
        if (is_found(f, hash[j]))
            for (unsigned i = bits_of(f, hash[j], at); i--;)
                needs[at[i]] += needs[at[i]] < UINT32_MAX;
}

/* By the ratio, the bit that loses the fewest keys for each troublesome one; products of 32-bit
 * numbers compare the fractions exactly. Where no known key needs either, the one that stops more
 * troublesome keys is better. */
static bool is_better(const tamis_retouch_task *task, uint64_t a, uint64_t b) {
    const uint64_t keys_a = task->keys_at[a], keys_b = task->keys_at[b];
    const uint64_t trouble_a = task->trouble_at[a], trouble_b = task->trouble_at[b];
    switch (task->way) {
    case TAMIS_RETOUCH_KEYS: return keys_a < keys_b;
    case TAMIS_RETOUCH_TROUBLE: return trouble_a > trouble_b;
    default:
        if (keys_a + keys_b == 0) return trouble_a > trouble_b;
        return keys_a * trouble_b < keys_b * trouble_a;
    }
}

static uint64_t choose(const tamis_body *f, const tamis_retouch_task *task, uint64_t hash,
                       uint64_t *x) {
    uint64_t chain = tamis__chain_start(hash), best = tamis__chain_next(&chain, f->word[BITS]);
    const uint64_t lucky = tamis__range(chance_next(x), f->word[HASHES]);
    for (uint64_t i = 1; i < f->word[HASHES]; i++) {
        const uint64_t at = tamis__chain_next(&chain, f->word[BITS]);
        if (task->way == TAMIS_RETOUCH_RANDOM ? i == lucky : is_better(task, at, best)) best = at;
    }
    return best;
}

static void clear(tamis_body *f, const tamis_retouch_task *task, struct tamis_retouch_stats *out) {
    const uint64_t keys_before = count_found(f, task->keys, task->key_count);
    uint64_t x = tamis__mix(task->seed);
    tally(f, task->trouble, task->trouble_count, task->trouble_at);
    tally(f, task->keys, task->key_count, task->keys_at);
    out->trouble_cleared = count_found(f, task->trouble, task->trouble_count);
    for (size_t j = 0; j < task->trouble_count; j++) {
        if (!is_found(f, task->trouble[j])) continue;
        const uint64_t at = choose(f, task, task->trouble[j], &x);
        move_bits(f, CLEARED, at / 64, (uint64_t)1 << at % 64);
        out->bits_cleared++;
    }
    out->keys_lost = keys_before - count_found(f, task->keys, task->key_count);
}

static void undo(tamis_body *f) {
    const tamis_stratum cleared = array_at(f, CLEARED);
    for (uint64_t w = 0; w < cleared.size / 8; w++)
        move_bits(f, KEPT, w, tamis__get64(cleared.bytes + w * 8));
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* The rate is that of the kept bits; the keys are those that were added, found or not. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_strata s = strata_of(f->word);
    tamis__stratum_measure(f, other, s, KEPT, out);
    out->items = tamis__strata_items(f, other, s);
    out->affected = other ? 0 : tamis__stratum_bits_set(array_at(f, CLEARED));
    if (out->affected == 0) return;
    const double share = (double)out->affected / (double)(out->affected + out->bits_set);
    snprintf(out->caveat, sizeof out->caveat,
             "%llu bits were cleared: up to about %.2g %% of the keys are answered no",
             (unsigned long long)out->affected, -100 * expm1((double)s.hashes * log1p(-share)));
}

static const tamis_retouch_facet retouch_facet = {scratch, clear, clear_share, undo};

const tamis_kind tamis__retouched = {
    .name = name,
    .contract = "chosen false positives can be made a no, at the price of a few keys",
    .word = {"array_bits", "hashes"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER | TAMIS_MAY_FORGET,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = tamis__bloom_array_rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = merge},
    .special = &(const tamis_special){.retouch = &retouch_facet},
};
