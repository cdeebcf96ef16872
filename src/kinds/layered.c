/* SPDX-License-Identifier: MIT */
/* layered: how often a key was added, by layers of Bloom filters.
 *
 * One filter knows whether a key was seen; a second one after it can know whether it was seen
 * twice, and so on (the multi-layer filter of Cen, Xu and Sun, 2010). An add puts the key into the
 * first layer that does not have it yet; the count is the number of layers, from the first, that
 * have it. Bits are never cleared, so every add of a key climbs at least one layer, and the count
 * is never too low until the layers end.
 *
 *     layer 1   0 1 0 1 1 0 0 1 0 1 ...    every key             cat, dog, owl
 *     layer 2   0 0 1 0 0 0 1 0 0 0 ...    seen at least twice   cat, owl
 *     layer 3   0 0 0 0 0 1 0 0 1 0 ...    three times           cat
 *               └ probes of its own hash in each layer
 *
 * Most streams have few keys that come often, so that later layers hold less: with shrink=50 each
 * has half the bits of the one before, which is right when half of the keys of a layer reach the
 * next.
 *
 * For small counts of many keys it is a simple structure, and it merges. For large counts, or where
 * keys are removed, a filter of counters is better. */
#include <stdio.h>

#include "kinds/bitmap.h"
#include "kinds/bloom_arrays.h"

enum { BITS, HASHES, LAYERS, SHRINK };         /* shape words */
enum { OPT_LAYERS, OPT_SHRINK, OPT_HASHES };   /* options */
enum { MAX_LAYERS = 64, MAX_SHRINK = 90 };     /* of which the default is */
enum { PRESET_LAYERS = 4, PRESET_SHRINK = 0 }; /* four equal layers */

static const char name[] = "layered";
static const struct tamis_option options[] = {
    {"layers", NULL, 1, MAX_LAYERS, "4", "the highest count"},
    {"shrink", NULL, 0, MAX_SHRINK, "0", "percent by which each layer is smaller than the last"},
    {"hashes", NULL, 1, TAMIS_BLOOM_MAX_HASHES, "the best for the rate", "probes per layer, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_strata strata_of(const uint64_t word[]) {
    return (tamis_strata){
        .bits = word[BITS],
        .hashes = word[HASHES],
        .count = word[LAYERS],
        .percent = 100 - word[SHRINK],
    };
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[LAYERS] = tamis__chosen(params, OPT_LAYERS, PRESET_LAYERS);
    word[SHRINK] = tamis__chosen(params, OPT_SHRINK, PRESET_SHRINK);
    return tamis__strata_plan(name, params, OPT_HASHES, strata_of(word), word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have(name, word[LAYERS], "layers", 1, MAX_LAYERS)) return TAMIS_CORRUPT;
    if (word[SHRINK] > MAX_SHRINK)
        return tamis__fail(TAMIS_CORRUPT, "layered shrinks by 0 to %d percent, not %llu",
                           MAX_SHRINK, (unsigned long long)word[SHRINK]);
    return tamis__strata_check(name, strata_of(word), size);
}

static uint64_t reliable_count(const uint64_t word[]) {
    return word[LAYERS];
}

/* ---- Climbing ------------------------------------------------------------------------------- */

/* How many layers, from the first, have the key; `stop` is the next one, if there is one. */
static uint64_t climb(const tamis_body *f, uint64_t hash, tamis_stratum *stop) {
    const tamis_strata s = strata_of(f->word);
    uint64_t i = 0;
    *stop = tamis__stratum_first(f, s);
    for (; i < s.count; i++, *stop = tamis__stratum_next(*stop, s))
        if (!tamis__stratum_has(*stop, tamis__stratum_hash(hash, i), s.hashes)) break;
    return i;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_strata s = strata_of(f->word);
    const tamis_stratum first = tamis__stratum_first(f, s);
    for (size_t j = 0; j < b.n; j++) hit[j] = tamis__stratum_has(first, b.hash[j], s.hashes);
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *counts) {
    tamis_stratum stop;
    for (size_t j = 0; j < b.n; j++) counts[j] = climb(f, b.hash[j], &stop);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        tamis_stratum free_layer;
        const uint64_t i = climb(f, b.hash[j], &free_layer);
        if (i < f->word[LAYERS])
            tamis__stratum_add(free_layer, tamis__stratum_hash(b.hash[j], i), f->word[HASHES]);
    }
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* The first layer gives rate and keys. A later one that is overfull, say by too much shrinking,
 * does not show there; counts then run through it. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const double too_full = 0.5;
    const tamis_strata s = strata_of(f->word);
    tamis__stratum_measure(f, other, s, 0, out);
    for (uint64_t i = 0; i < s.count; i++) {
        tamis_measurement layer;
        tamis__stratum_measure(f, other, s, i, &layer);
        out->affected += layer.fpr > too_full;
    }
    if (out->affected)
        snprintf(out->caveat, sizeof out->caveat,
                 "%llu of %llu layers are so full that counts run through them",
                 (unsigned long long)out->affected, (unsigned long long)s.count);
}

const tamis_kind tamis__layered = {
    .name = name,
    .contract = "counts up to its layers, never too low; merged, the larger count, not the sum",
    .word = {"layer_bits", "hashes", "layers", "shrink"},
    .options = options,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = tamis__bloom_array_rate, /* a membership query reads only the first layer */
    .measure = measure,
    .query = query,
    .add = add,
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge},
};
