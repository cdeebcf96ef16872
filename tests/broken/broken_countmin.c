/* SPDX-License-Identifier: MIT */
/* Lies of countmin: counts with an error that is not theirs, and adds that are lost. */
#define tamis__countmin tamis__countmin_inside
#include "src/kinds/countmin.c"
#undef tamis__countmin

#include "tests/broken/liar.h"

#define SOUND                                                                                      \
    .word = {"columns", "rows", "width", "update"}, .traits = TAMIS_ANY_ORDER, .lacks = lacks,     \
    .plan = plan, .check = check, .probes = probes, .rate = rate, .audit = audit,                  \
    .measure = measure, .query = query,                                                            \
    .speed = &(const tamis_speed){.has = has, .add_shared = add_shared, .add_times = add_times},   \
    .counts = &(                                                                                   \
        const tamis_counts){.count = count, .reliable_count = top_of, .count_error = count_error}, \
    .sets = &(const tamis_sets){.merge = merge}, .add = add

/* The mean of what others add to a counter: right on average, and so wrong every other time. */
static double mean_error(const uint64_t word[], uint64_t items, double *doubt) {
    *doubt = exp(-(double)word[ROWS]);
    return (double)items / (double)word[COLUMNS] / 4;
}
const tamis_kind tamis__broken_tight = {
    SOUND, .name = "broken_tight", .contract = "counts_keep_their_error",
    .counts =
        &(const tamis_counts){.count = count, .reliable_count = top_of, .count_error = mean_error}};

/* Loses one of many. */
static void add_once_less(tamis_body *f, tamis_batch b, uint64_t times) {
    add_times(f, tamis__hashes(b.hash, 1), times > 4 ? times - 1 : times);
}
const tamis_kind tamis__broken_times = {
    SOUND, .name = "broken_times", .contract = "add_times_is_many_adds",
    .speed =
        &(const tamis_speed){.has = has, .add_shared = add_shared, .add_times = add_once_less}};

/* Conservative with a mistake: raises only the first of the lowest counters. */
static tamis_status add_to_first(tamis_body *f, tamis_batch b) {
    uint64_t spot[MAX_ROWS];
    for (size_t j = 0; j < b.n; j++) {
        const uint64_t rows = spots_of(f, b.hash[j], spot), min = min_of(f, spot, rows);
        for (uint64_t i = 0; i < rows; i++)
            if (counter_get(f, spot[i]) == min && (min == 0 || i == b.hash[j] % rows))
                counter_put(f, spot[i], min + 1);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_spendthrift = {SOUND, .name = "broken_spendthrift",
                                              .contract = "count_never_under", .add = add_to_first};
