/* SPDX-License-Identifier: MIT */
/* Lies of composite: the dead rise, and the lost are not spoken of. */
#define tamis__composite tamis__composite_inside
#include "src/kinds/composite.c"
#undef tamis__composite

#include "tests/broken/liar.h"

#define SOUND                                                                                     \
    .word = {"added_bits", "hashes", "removed"},                                                  \
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER | TAMIS_MAY_FORGET, .plan = plan, .check = check, \
    .probes = probes, .rate = tamis__bloom_array_rate, .measure = measure, .query = query,        \
    .add = add, .remove = remove_key, .sets = &(const tamis_sets){.merge = tamis__bitmap_merge},  \
    .room = tamis__any_room

/* Accepts a key that was removed, and cannot find it. */
static tamis_status add_dead(tamis_body *f, tamis_batch b) {
    const pair p = pair_of(f);
    for (size_t j = 0; j < b.n; j++)
        tamis__stratum_add(p.added, tamis__stratum_hash(b.hash[j], ADDED), p.hashes);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_undead = {
    SOUND, .name = "broken_undead", .contract = "programs_agree_with_a_model", .add = add_dead};

/* Plans for the removal of one key in a hundred, and does not report when there are more, which
 * removes others too. */
static tamis_status plan_few(const tamis_params *params, uint64_t word[]) {
    tamis_params few = *params;
    few.has_option[OPT_REMOVED] = true;
    few.option[OPT_REMOVED] = 1;
    return plan(&few, word);
}
static void measure_in_silence(const tamis_body *f, const tamis_body *other,
                               tamis_measurement *out) {
    measure(f, other, out);
    out->affected = 0;
    out->caveat[0] = 0;
}
const tamis_kind tamis__broken_silent = {SOUND, .name = "broken_silent",
                                         .contract = "programs_agree_with_a_model",
                                         .plan = plan_few, .measure = measure_in_silence};

/* Removes again what was already removed. */
static tamis_status remove_again(tamis_body *f, tamis_batch b) {
    const pair p = pair_of(f);
    if (!was_added(&p, *b.hash)) return tamis__fail(TAMIS_NOT_FOUND, "it was never added");
    tamis__stratum_add(p.removed, tamis__stratum_hash(*b.hash, REMOVED), p.hashes);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_again = {SOUND, .name = "broken_again",
                                        .contract = "programs_agree_with_a_model",
                                        .remove = remove_again};
