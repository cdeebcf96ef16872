/* SPDX-License-Identifier: MIT */
/* attenuated: what can be reached over a link of a network, and how far away it is.
 *
 * A node keeps one of these for each link (Rhea and Kubiatowicz 2002, for OceanStore). Level 1 is
 * the filter of the neighbour's own keys, level 2 of those one hop beyond it, and so on: the
 * farther, the more keys share the same bits, so that knowledge fades with distance.
 *
 *                level 1   0 1 0 0 1 0 0 0 ...    what the neighbour has
 *     link ──▶   level 2   0 1 1 0 1 0 1 0 ...    what its neighbours have
 *                level 3   1 1 1 0 1 1 1 0 ...    and theirs
 *                counts    2, 4, 6                set bits of each level
 *
 * All levels use the same positions. A neighbour's level i becomes our level i+1 by OR of bits,
 * without the keys: that is how the network learns. A query returns the nearest level that may have
 * the key, and tamis_route follows the link on which that is smallest.
 *
 * A level that is over nine tenths full would attract everything; it counts as unknown, and
 * tamis_level skips it. So that queries need not count bits, the number of set bits of every level
 * is stored after the arrays. */
#include <stdio.h>

#include "kinds/bloom_arrays.h"

enum { BITS, HASHES, LEVELS };   /* shape words */
enum { OPT_LEVELS, OPT_HASHES }; /* options */
enum { MAX_LEVELS = 16, PRESET_LEVELS = 4 };

static const char name[] = "attenuated";
static const struct tamis_option options[] = {
    {"levels", NULL, 1, MAX_LEVELS, "4", "how many hops away a key may be"},
    {"hashes", NULL, 1, TAMIS_BLOOM_MAX_HASHES, "the best for the rate", "probes per level, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_strata strata_of(const uint64_t word[]) {
    return (tamis_strata){
        .bits = word[BITS],
        .hashes = word[HASHES],
        .count = word[LEVELS],
        .percent = 100,
        .extra = word[LEVELS] * 8,
    };
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[LEVELS] = tamis__chosen(params, OPT_LEVELS, PRESET_LEVELS);
    return tamis__strata_plan(name, params, OPT_HASHES, strata_of(word), word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have(name, word[LEVELS], "levels", 1, MAX_LEVELS)) return TAMIS_CORRUPT;
    return tamis__strata_check(name, strata_of(word), size);
}

static uint64_t probes(const uint64_t word[]) {
    return word[HASHES] * word[LEVELS];
}

/* ---- Levels and their counts ---------------------------------------------------------------- */

/* Level 0 here is level 1 to users. */
static tamis_stratum level_at(const tamis_body *f, uint64_t i) {
    const uint64_t size = f->word[BITS] / 8;
    return (tamis_stratum){f->bytes + i * size, size};
}

static uint8_t *count_at(const tamis_body *f, uint64_t i) {
    return level_at(f, f->word[LEVELS]).bytes + i * 8;
}

/* Over nine tenths of the bits; bits are below 2^60, so nothing wraps. */
static bool is_unknown(const tamis_body *f, uint64_t i) {
    return tamis__get64(count_at(f, i)) * 10 > f->word[BITS] * 9;
}

static void level_merge(tamis_body *into, uint64_t i, const tamis_body *from, uint64_t j) {
    const tamis_stratum level = level_at(into, i);
    tamis__stratum_merge(level, level_at(from, j));
    tamis__put64(count_at(into, i), tamis__stratum_bits_set(level));
}

/* A wrong count would hide a level, or send everything to it. */
static tamis_status audit(const tamis_body *f) {
    for (uint64_t i = 0; i < f->word[LEVELS]; i++)
        if (tamis__get64(count_at(f, i)) != tamis__stratum_bits_set(level_at(f, i)))
            return tamis__fail(TAMIS_CORRUPT, "the count of level %llu does not match its bits",
                               (unsigned long long)i + 1);
    return TAMIS_OK;
}

/* ---- Querying and adding -------------------------------------------------------------------- */

static bool has(const tamis_body *f, uint64_t hash) {
    for (uint64_t i = 0; i < f->word[LEVELS]; i++)
        if (tamis__stratum_has(level_at(f, i), hash, f->word[HASHES])) return true;
    return false;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) hit[j] = has(f, b.hash[j]);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    uint64_t fresh = 0;
    for (size_t j = 0; j < b.n; j++)
        fresh += tamis__stratum_add(level_at(f, 0), b.hash[j], f->word[HASHES]);
    tamis__put64(count_at(f, 0), tamis__get64(count_at(f, 0)) + fresh);
    return TAMIS_OK;
}

static unsigned nearest_level(const tamis_body *f, uint64_t hash) {
    for (uint64_t i = 0; i < f->word[LEVELS]; i++)
        if (!is_unknown(f, i) && tamis__stratum_has(level_at(f, i), hash, f->word[HASHES]))
            return (unsigned)i + 1;
    return 0;
}

/* ---- Merging -------------------------------------------------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->word[LEVELS]; i++) level_merge(into, i, from, i);
    return TAMIS_OK;
}

/* From the last level down, so that a filter may merge itself. */
static void merge_farther(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = into->word[LEVELS] - 1; i > 0; i--) level_merge(into, i, from, i - 1);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* A non-member is answered yes when any level accepts it: exact when levels hold different keys, a
 * little too high when they share some. Keys are those of all levels together, each once. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_strata s = strata_of(f->word);
    for (uint64_t i = 0; i < s.count; i++) {
        tamis_measurement level;
        tamis__stratum_measure(f, other, s, i, &level);
        out->bits += level.bits;
        out->bits_set += level.bits_set;
        out->fpr += (1 - out->fpr) * level.fpr;
        out->affected += level.bits_set * 10 > level.bits * 9;
    }
    out->items = tamis__strata_items(f, other, s);
    if (out->affected)
        snprintf(out->caveat, sizeof out->caveat,
                 "%llu of %llu levels are over 90 %% full and count as unknown",
                 (unsigned long long)out->affected, (unsigned long long)s.count);
}

static const tamis_level_facet level_facet = {nearest_level, merge_farther};

const tamis_kind tamis__attenuated = {
    .name = name,
    .contract = "for a link of a network: how many hops away a key may be",
    .word = {"level_bits", "hashes", "levels"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = tamis__bloom_array_rate, /* of the first level: the others are empty until a merge */
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = merge},
    .special = &(const tamis_special){.levels = &level_facet},
};
