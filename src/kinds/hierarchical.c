/* SPDX-License-Identifier: MIT */
/* hierarchical: which traffic had this excerpt, and where in it (Shanmugasundaram, Brönnimann and
 * Memon 2004, "Payload Attribution via Hierarchical Bloom Filters").
 *
 * The victim of an attack has a few hundred bytes of what was received, and wants to know who else
 * got them, and from whom. Keeping all traffic is impossible. So a payload is cut into blocks, and
 * each block goes into one Bloom array together with its position: once with its offset alone, once
 * with the name of the flow too. Above the blocks are blocks twice as long, and above those again,
 * so that neighbours are recorded as neighbours:
 *
 *     level 2   |            0 .. 255           |                              offset
 *     level 1   |     0 .. 127  |  128 .. 255   |  256 .. 383   |
 *     level 0   | 0..63 | ..127 | ..191 | ..255 | ..319 | ..383 |  tail
 *
 *     excerpt              ·····████████████████████████···        whole blocks, at one alignment
 *
 * An excerpt is tried at every possible position. There its whole blocks of all levels must be in
 * the array; a missing one is a certain no. False positives of all n have probability f^n: the
 * array itself may have a rate of one in a hundred.
 *
 *     payload   | array of bits | longest |        the end of the longest payload, 64 bits
 *
 * A kind knows hashes, not bytes: core cuts and hashes (core/attribution.c). Here is the array, how
 * payloads are cut, and the end of the longest: no excerpt was past it. */
#include "kinds/bitmap.h"
#include "kinds/bloom_arrays.h"

enum { BITS, HASHES, BLOCK, LEVELS };       /* shape words */
enum { OPT_BLOCK, OPT_LEVELS, OPT_HASHES }; /* options */
enum { MIN_BLOCK = 8, MAX_BLOCK = 4096, PRESET_BLOCK = 64 };
enum { MAX_LEVELS = 16, PRESET_LEVELS = 4 };

static const char name[] = "hierarchical";
static const struct tamis_option options[] = {
    {"block", NULL, MIN_BLOCK, MAX_BLOCK, "64",
     "bytes of a block; excerpts have at least twice that, less 1"},
    {"levels", NULL, 1, MAX_LEVELS, "4", "sizes of blocks, each twice the one before"},
    {"hashes", NULL, 1, TAMIS_BLOOM_MAX_HASHES, "the best for the rate", "probes per block, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_strata strata_of(const uint64_t word[]) {
    return (tamis_strata){
        .bits = word[BITS], .hashes = word[HASHES], .count = 1, .percent = 100, .extra = 8};
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[BLOCK] = tamis__chosen(params, OPT_BLOCK, PRESET_BLOCK);
    word[LEVELS] = tamis__chosen(params, OPT_LEVELS, PRESET_LEVELS);
    return tamis__strata_plan(name, params, OPT_HASHES, strata_of(word), word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BLOCK] < MIN_BLOCK || word[BLOCK] > MAX_BLOCK)
        return tamis__fail(TAMIS_CORRUPT, "hierarchical has blocks of %d to %d bytes, not %llu",
                           MIN_BLOCK, MAX_BLOCK, (unsigned long long)word[BLOCK]);
    if (!tamis__may_have(name, word[LEVELS], "levels", 1, MAX_LEVELS)) return TAMIS_CORRUPT;
    return tamis__strata_check(name, strata_of(word), size);
}

/* ---- How far payloads reach ----------------------------------------------------------------- */

static uint8_t *longest_at(const tamis_body *f) {
    return f->bytes + f->word[BITS] / 8;
}

static uint64_t longest(const tamis_body *f) {
    return tamis__get64(longest_at(f));
}

static void reach(tamis_body *f, uint64_t end) {
    if (end > longest(f)) tamis__put64(longest_at(f), end);
}

/* Every position up to there is tried: an arbitrary number would be endless work. */
static tamis_status audit(const tamis_body *f) {
    if (longest(f) <= TAMIS_LONGEST_PAYLOAD) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "the longest payload has %llu bytes; the maximum is 2^48",
                       (unsigned long long)longest(f));
}

/* ---- Merging and measuring ------------------------------------------------------------------ */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const tamis_strata s = strata_of(into->word);
    tamis__stratum_merge(tamis__stratum_first(into, s), tamis__stratum_first(from, s));
    reach(into, longest(from));
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__stratum_measure(f, other, strata_of(f->word), 0, out);
}

static uint64_t block(const uint64_t word[]) {
    return word[BLOCK];
}

static unsigned levels(const uint64_t word[]) {
    return (unsigned)word[LEVELS];
}

static const tamis_trace_facet trace_facet = {block, levels, longest, reach};

const tamis_kind tamis__hierarchical = {
    .name = name,
    .contract = "which recorded payload had an excerpt, and at which offset; never a false no",
    .word = {"array_bits", "hashes", "block", "levels"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = tamis__bloom_array_rate,
    .audit = audit,
    .measure = measure,
    .query = tamis__bloom_query,
    .add = tamis__bloom_add,
    .speed = &(const tamis_speed){.has = tamis__bloom_has,
                                  .one = tamis__bloom_one,
                                  .add_shared = tamis__bloom_add_shared},
    .sets = &(const tamis_sets){.merge = merge},
    .special = &(const tamis_special){.trace = &trace_facet},
};
