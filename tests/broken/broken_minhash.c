/* SPDX-License-Identifier: MIT */
/* Lies of minhash: mistakes of other sketches about empty bins and merging. */
#define tamis__minhash tamis__minhash_inside
#include "src/kinds/minhash.c"
#undef tamis__minhash

#include "tests/broken/liar.h"

#define SOUND                                                                                  \
    .word = {"bins", "keep"}, .options = options, .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, \
    .lacks = lacks, .plan = plan, .check = check, .probes = tamis__one_probe,                  \
    .rate = tamis__always_maybe, .audit = audit, .measure = measure,                           \
    .sizing = &(const tamis_sizing){.is_sized = tamis__always_sized},                          \
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},                             \
    .sets = &(const tamis_sets){.merge = merge, .similarity = similarity}, .add = add

/* Bins that are empty on both sides agree. */
static tamis_status similarity_of_nothing(const tamis_body *a, const tamis_body *b,
                                          struct tamis_estimate *out) {
    uint64_t same = 0;
    for (uint64_t i = 0; i < a->word[BINS]; i++) same += bin_get(a, i) == bin_get(b, i);
    const double bins = (double)a->word[BINS], share = (double)same / bins;
    *out = (struct tamis_estimate){share, sqrt(share * (1 - share) / bins)};
    return TAMIS_OK;
}
const tamis_kind tamis__broken_empty_bins = {
    SOUND, .name = "broken_empty_bins", .contract = "similarity_is_sound",
    .sets = &(const tamis_sets){.merge = merge, .similarity = similarity_of_nothing}};

/* Counts only bins that are full in the first: how much of it the second contains. */
static tamis_status share_of_first(const tamis_body *a, const tamis_body *b,
                                   struct tamis_estimate *out) {
    const tally own = count_bins(a, NULL);
    struct tamis_estimate j;
    if (similarity(a, b, &j) || own.full == 0) return similarity(a, b, out);
    const double both = (double)count_bins(a, b).full;
    *out = (struct tamis_estimate){fmin(1, j.value * both / (double)own.full), j.error};
    return TAMIS_OK;
}
const tamis_kind tamis__broken_one_sided = {
    SOUND, .name = "broken_one_sided", .contract = "similarity_is_sound",
    .sets = &(const tamis_sets){.merge = merge, .similarity = share_of_first}};

/* Only empty bins take from the other. */
static tamis_status merge_into_empty(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->word[BINS]; i++)
        if (bin_get(into, i) == 0) bin_offer(into, i, bin_get(from, i));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_gaps_only = {
    SOUND, .name = "broken_gaps_only", .contract = "merge_is_union",
    .sets = &(const tamis_sets){.merge = merge_into_empty, .similarity = similarity}};

/* Now and then an add does nothing: no answer shows it, since all are maybe. */
static tamis_status add_most(tamis_body *f, tamis_batch b) {
    if (f->items % 64 == 63) return TAMIS_OK;
    return add(f, b);
}
const tamis_kind tamis__broken_misses_some = {SOUND, .name = "broken_misses_some",
                                              .contract = "programs_agree_with_a_model",
                                              .add = add_most};
