/* SPDX-License-Identifier: MIT */
/* Lies of hierarchical: how far payloads reach. */
#define tamis__hierarchical tamis__hierarchical_inside
#include "src/kinds/hierarchical.c"
#undef tamis__hierarchical

#include "tests/broken/liar.h"

#define SOUND                                                                                     \
    .word = {"array_bits", "hashes", "block", "levels"},                                          \
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .plan = plan, .check = check,                    \
    .probes = tamis__hash_probes, .rate = tamis__bloom_array_rate, .audit = audit,                \
    .measure = measure, .query = tamis__bloom_query, .sets = &(const tamis_sets){.merge = merge}, \
    .special = &(const tamis_special){.trace = &trace_facet}, .add = tamis__bloom_add

/* The last payload is taken for the longest. */
static void reach_back(tamis_body *f, uint64_t end) {
    tamis__put64(longest_at(f), end);
}
static const tamis_trace_facet back_facet = {block, levels, longest, reach_back};
const tamis_kind tamis__broken_reach_back = {
    SOUND, .name = "broken_reach_back", .contract = "excerpts_are_traced",
    .special = &(const tamis_special){.trace = &back_facet}};

/* A union looks no farther than its first part. */
static tamis_status merge_bits(tamis_body *into, const tamis_body *from) {
    const tamis_strata s = strata_of(into->word);
    tamis__stratum_merge(tamis__stratum_first(into, s), tamis__stratum_first(from, s));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_reach_own = {SOUND, .name = "broken_reach_own",
                                            .contract = "merged_excerpts_are_traced",
                                            .sets = &(const tamis_sets){.merge = merge_bits}};
