/* SPDX-License-Identifier: MIT */
/* Lies of spectral: counts that are wrong by more than a promise allows. */
#define tamis__spectral tamis__spectral_inside
#include "src/kinds/spectral.c"
#undef tamis__spectral

#include "tests/broken/liar.h"

#define SOUND                                                                               \
    .word = {"bits", "hashes", "mode", "width"}, .traits = TAMIS_ANY_ORDER, .lacks = lacks, \
    .plan = plan, .check = check, .probes = tamis__hash_probes, .rate = rate,               \
    .audit = tamis__bits_audit, .measure = measure, .query = query, .add = add,             \
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},      \
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},                          \
    .sets = &(const tamis_sets){.merge = merge}, .remove = remove_one

/* The largest cell for the smallest. */
static void count_largest(const tamis_body *f, tamis_batch b, uint64_t *out) {
    for (size_t j = 0; j < b.n; j++) {
        const tamis_spots spots = primary_spots(f, b.hash[j]);
        uint8_t hit;
        query(f, tamis__hashes(b.hash + j, 1), &hit);
        out[j] = 0;
        for (unsigned i = 0; i < spots.n && hit; i++) {
            const uint64_t value = tamis__cell_get(primary(f), spots.spot[i].at);
            if (value > out[j]) out[j] = value;
        }
    }
}
const tamis_kind tamis__broken_largest = {
    SOUND, .name = "broken_largest", .contract = "count_never_under",
    .counts = &(const tamis_counts){.count = count_largest, .reliable_count = reliable_count}};

/* Subtracts what other keys will have added on average, as unbiased estimators do. */
static void count_unbiased(const tamis_body *f, tamis_batch b, uint64_t *out) {
    const uint64_t cells = primary_of(f->word), noise = f->items * f->word[HASHES] / cells + 1;
    count(f, b, out);
    for (size_t j = 0; j < b.n; j++)
        if (out[j] > 1) out[j] -= out[j] > noise ? noise : out[j] - 1;
}
const tamis_kind tamis__broken_unbiased = {
    SOUND, .name = "broken_unbiased", .contract = "count_never_under",
    .counts = &(const tamis_counts){.count = count_unbiased, .reliable_count = reliable_count}};

/* Counts by two of the cells: rarely too high for a key, often above zero for a non-member. */
static void count_by_two(const tamis_body *f, tamis_batch b, uint64_t *out) {
    for (size_t j = 0; j < b.n; j++) {
        tamis_spots spots = primary_spots(f, b.hash[j]);
        if (spots.n > 2) spots.n = 2;
        out[j] = tamis__spots_count(primary(f), &spots, NULL);
    }
}
const tamis_kind tamis__broken_two_cells = {
    SOUND, .name = "broken_two_cells", .contract = "count_never_under",
    .counts = &(const tamis_counts){.count = count_by_two, .reliable_count = reliable_count}};

/* Is full when it has had as many adds as a tenth of its cells, whatever they were. */
static uint64_t room_by_adds(const tamis_body *f) {
    const uint64_t max = primary_of(f->word) / 10;
    return f->items < max ? max - f->items : 0;
}
const tamis_kind tamis__broken_full = {SOUND, .name = "broken_full",
                                       .contract = "count_never_under", .room = room_by_adds};

/* Counts one too many. */
static void count_one_more(const tamis_body *f, tamis_batch b, uint64_t *out) {
    count(f, b, out);
    for (size_t j = 0; j < b.n; j++) out[j] += out[j] > 0;
}
const tamis_kind tamis__broken_one_more = {
    SOUND, .name = "broken_one_more", .contract = "count_follows_removes",
    .counts = &(const tamis_counts){.count = count_one_more, .reliable_count = reliable_count}};

/* Adds raise only the smallest cells, and removes lower all of them. */
static tamis_status add_least(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) add_by_increase(f, b.hash[j]);
    return TAMIS_OK;
}
static tamis_status remove_from_all(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = primary_spots(f, *b.hash);
    uint8_t hit;
    query(f, tamis__hashes(&*b.hash, 1), &hit);
    if (!hit) return tamis__fail(TAMIS_NOT_FOUND, "a cell is zero");
    for (unsigned i = 0; i < spots.n; i++) tamis__cell_subtract(primary(f), spots.spot[i].at, 1);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_thrifty = {SOUND, .name = "broken_thrifty",
                                          .contract = "programs_agree_with_a_model",
                                          .add = add_least, .remove = remove_from_all};

/* Counts only what has come twice, and promises nothing; but then a key that was added once is
 * missing. */
static void count_repeated(const tamis_body *f, tamis_batch b, uint64_t *out) {
    count(f, b, out);
    for (size_t j = 0; j < b.n; j++) out[j] = out[j] > 1 ? out[j] : 0;
}
static uint64_t sure_of_nothing(const uint64_t word[]) {
    (void)word;
    return 0;
}
const tamis_kind tamis__broken_repeated = {
    SOUND, .name = "broken_repeated", .contract = "programs_agree_with_a_model",
    .counts = &(const tamis_counts){.count = count_repeated, .reliable_count = sure_of_nothing}};
