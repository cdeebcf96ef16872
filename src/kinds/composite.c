/* SPDX-License-Identifier: MIT */
/* composite: keys that were added, and keys that were removed.
 *
 * The oldest way to remove from a Bloom filter: do not clear bits, which other keys may need, but
 * add the key to a second filter, of removed keys. A key is present when the first has it and the
 * second does not.
 *
 *     added     0 1 0 1 1 0 0 1 0 1 0 ...     cat, dog, owl
 *     removed   0 0 0 1 0 0 1 0 ...           dog              has = added and not removed
 *
 * It is simple and it merges, but it has limits. A false positive of the second filter loses a key.
 * A removed key is removed for good: it cannot leave the second filter, so adding it again is
 * refused. And both only fill up. Where that hurts, use a kind that stores counters or
 * fingerprints.
 *
 * The second filter has a hash of its own: with the same one, false positives of the first would be
 * likely ones of the second. Its size is a percentage of the first, `removed`: how many of a
 * hundred keys will be removed. Both are planned for the same rate. */
#include <math.h>
#include <stdio.h>

#include "kinds/bitmap.h"
#include "kinds/bloom_arrays.h"

enum { BITS, HASHES, REMOVED_PERCENT }; /* shape words */
enum { OPT_REMOVED, OPT_HASHES };       /* options */
enum { ADDED, REMOVED, ARRAYS };        /* the two filters */
enum { MAX_PERCENT = 100, PRESET_PERCENT = 100, WORD_BITS = 64 };

static const char name[] = "composite";
static const struct tamis_option options[] = {
    {"removed", NULL, 1, MAX_PERCENT, "100", "how many of 100 keys will be removed"},
    {"hashes", NULL, 1, TAMIS_BLOOM_MAX_HASHES, "the best for the rate", "probes per filter, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_strata strata_of(const uint64_t word[]) {
    return (tamis_strata){
        .bits = word[BITS],
        .hashes = word[HASHES],
        .count = ARRAYS,
        .percent = word[REMOVED_PERCENT],
    };
}

/* The second filter loses keys at its false-positive rate, which is promised too. A small filter
 * needs a little more per key than a large one, so it may need more than its percentage of the
 * first, which then grows until that is enough. */
static tamis_status widen_for_removed(const tamis_params *params, uint64_t word[]) {
    const uint64_t percent = word[REMOVED_PERCENT], keys = (params->capacity * percent + 99) / 100;
    uint64_t needed, hashes;
    if (!tamis__bloom_plan(keys, params->fpr, word[HASHES], &needed, &hashes))
        return tamis__fail(TAMIS_TOO_LARGE, "composite would need over 2^56 bytes");
    const uint64_t min = 100 * (needed / WORD_BITS - 1) / percent + 1; /* words of the first */
    if (word[BITS] / WORD_BITS < min) word[BITS] = min * WORD_BITS;
    return tamis__strata_fits(name, strata_of(word));
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[REMOVED_PERCENT] = tamis__chosen(params, OPT_REMOVED, PRESET_PERCENT);
    const tamis_status rc = tamis__strata_plan(name, params, OPT_HASHES, strata_of(word), word);
    return rc || params->bits ? rc : widen_for_removed(params, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[REMOVED_PERCENT] == 0 || word[REMOVED_PERCENT] > MAX_PERCENT)
        return tamis__fail(TAMIS_CORRUPT, "composite plans to remove 1 to %d percent, not %llu",
                           MAX_PERCENT, (unsigned long long)word[REMOVED_PERCENT]);
    return tamis__strata_check(name, strata_of(word), size);
}

static uint64_t probes(const uint64_t word[]) {
    return ARRAYS * word[HASHES];
}

/* ---- The two filters ------------------------------------------------------------------------ */

typedef struct pair {
    tamis_stratum added, removed;
    uint64_t hashes;
} pair;

static pair pair_of(const tamis_body *f) {
    const tamis_strata s = strata_of(f->word);
    const tamis_stratum added = tamis__stratum_first(f, s);
    return (pair){added, tamis__stratum_next(added, s), s.hashes};
}

static bool was_added(const pair *p, uint64_t hash) {
    return tamis__stratum_has(p->added, tamis__stratum_hash(hash, ADDED), p->hashes);
}

static bool was_removed(const pair *p, uint64_t hash) {
    return tamis__stratum_has(p->removed, tamis__stratum_hash(hash, REMOVED), p->hashes);
}

/* ---- Querying, adding, removing ------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const pair p = pair_of(f);
    for (size_t j = 0; j < b.n; j++)
        hit[j] = was_added(&p, b.hash[j]) && !was_removed(&p, b.hash[j]);
}

/* Adds do not touch the second filter, so checking all keys first makes them all or nothing. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    const pair p = pair_of(f);
    for (size_t j = 0; j < b.n; j++)
        if (was_removed(&p, b.hash[j]))
            return tamis__fail(TAMIS_TOMBSTONED,
                               "composite cannot add a key that was removed, or that looks so; "
                               "nothing was added");
    for (size_t j = 0; j < b.n; j++)
        tamis__stratum_add(p.added, tamis__stratum_hash(b.hash[j], ADDED), p.hashes);
    return TAMIS_OK;
}

static tamis_status remove_key(tamis_body *f, tamis_batch b) {
    const pair p = pair_of(f);
    if (!was_added(&p, *b.hash))
        return tamis__fail(TAMIS_NOT_FOUND, "the key was never added to this composite");
    if (was_removed(&p, *b.hash))
        return tamis__fail(TAMIS_NOT_FOUND, "the key was removed before, or looks so");
    tamis__stratum_add(p.removed, tamis__stratum_hash(*b.hash, REMOVED), p.hashes);
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static struct tamis_estimate difference(struct tamis_estimate a, struct tamis_estimate b) {
    if (isinf(a.value) || isinf(b.value)) return (struct tamis_estimate){INFINITY, INFINITY};
    return (struct tamis_estimate){fmax(0, a.value - b.value), hypot(a.error, b.error)};
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_strata s = strata_of(f->word);
    tamis_measurement removed;
    tamis__stratum_measure(f, other, s, ADDED, out);
    tamis__stratum_measure(f, other, s, REMOVED, &removed);
    out->fpr *= 1 - removed.fpr;
    out->items = difference(out->items, removed.items);
    if (removed.bits_set == 0) return;
    const bool is_full = isinf(removed.items.value); /* no estimate: as many as it has bits */
    const double keys = is_full ? (double)removed.bits : ceil(removed.items.value);
    out->affected = (uint64_t)keys;
    snprintf(out->caveat, sizeof out->caveat,
             "about %.0f keys are removed for good; of all others %.2g %% are lost with them", keys,
             100 * removed.fpr);
}

const tamis_kind tamis__composite = {
    .name = name,
    .contract = "added and removed: what is removed cannot come back, and takes a few others along",
    .word = {"added_bits", "hashes", "removed"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER | TAMIS_MAY_FORGET,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = tamis__bloom_array_rate, /* after adds alone; later removals only lower it */
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_key,
    .room = tamis__any_room,
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge},
};
