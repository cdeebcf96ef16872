/* SPDX-License-Identifier: MIT */
/* Lies of iblt: lists that lack something, have too much or name the wrong side, and estimates that
 * are too sure of themselves. */
#define tamis__iblt tamis__iblt_inside
#include "src/kinds/iblt.c"
#undef tamis__iblt

#include "tests/broken/liar.h"

#define SOUND                                                                               \
    .word = {"cells", "hashes", "estimator", "counters"}, .options = options,               \
    .traits = TAMIS_ANY_ORDER, .plan = plan, .check = check, .probes = tamis__hash_probes,  \
    .rate = rate, .audit = audit, .measure = measure, .query = query, .add = add,           \
    .sizing = &(const tamis_sizing){.is_sized = is_sized},                                  \
    .speed = &(const tamis_speed){.has = has}, .sets = &(const tamis_sets){.merge = merge}, \
    .special = &(const tamis_special){.differ = &differ}, .remove = remove_one

/* Changes what `take` receives. */
typedef struct between {
    tamis_difference_fn *take;
    void *ctx;
    uint64_t seen;
} between;

/* ---- Lists ---------------------------------------------------------------------------------- */

static bool take_other_side(void *ctx, uint64_t hash, bool is_first) {
    between *b = ctx;
    return b->take(b->ctx, hash, !is_first);
}
static tamis_status list_other_side(const tamis_body *first, const tamis_body *second,
                                    uint8_t *scratch, tamis_difference_fn *take, void *ctx) {
    between b = {take, ctx, 0};
    return list(first, second, scratch, take_other_side, &b);
}
static const tamis_differ_facet differ_other_side = {scratch_bytes, list_other_side, size_of};
const tamis_kind tamis__broken_other_side = {
    SOUND, .name = "broken_other_side", .contract = "differences_are_exact",
    .special = &(const tamis_special){.differ = &differ_other_side}};

/* Forgets the first hash that it found. */
static bool take_later(void *ctx, uint64_t hash, bool is_first) {
    between *b = ctx;
    return b->seen++ == 0 || b->take(b->ctx, hash, is_first);
}
static tamis_status list_later(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                               tamis_difference_fn *take, void *ctx) {
    between b = {take, ctx, 0};
    return list(first, second, scratch, take_later, &b);
}
static const tamis_differ_facet differ_later = {scratch_bytes, list_later, size_of};
const tamis_kind tamis__broken_not_all = {
    SOUND, .name = "broken_not_all", .contract = "differences_are_exact",
    .special = &(const tamis_special){.differ = &differ_later}};

/* Lists the cells of one hash of a table, as if the other were empty. */
static tamis_status list_first(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                               tamis_difference_fn *take, void *ctx) {
    (void)second, (void)scratch;
    for (uint64_t i = 0; i < first->word[CELLS]; i++) {
        const tamis_iblt_cell cell = tamis__iblt_get(table_of(first), i);
        if (tamis__iblt_is_one(cell) && !take(ctx, cell.keys, true)) return TAMIS_CANCELLED;
    }
    return TAMIS_OK;
}
static const tamis_differ_facet differ_first = {scratch_bytes, list_first, size_of};
const tamis_kind tamis__broken_alone = {SOUND, .name = "broken_alone",
                                        .contract = "same_sets_differ_in_nothing",
                                        .special = &(const tamis_special){.differ = &differ_first}};

/* Reports a partial list as complete. */
static tamis_status list_proudly(const tamis_body *first, const tamis_body *second,
                                 uint8_t *scratch, tamis_difference_fn *take, void *ctx) {
    const tamis_status rc = list(first, second, scratch, take, ctx);
    return rc == TAMIS_PARTIAL ? TAMIS_OK : rc;
}
static const tamis_differ_facet differ_proudly = {scratch_bytes, list_proudly, size_of};
const tamis_kind tamis__broken_proud = {
    SOUND, .name = "broken_proud", .contract = "too_many_are_a_part",
    .special = &(const tamis_special){.differ = &differ_proudly}};

/* Believes every count of one without its check. */
static tamis_status list_unchecked(const tamis_body *first, const tamis_body *second,
                                   uint8_t *scratch, tamis_difference_fn *take, void *ctx) {
    const tamis_status rc = list(first, second, scratch, take, ctx);
    const tamis_iblt rest = {scratch, first->word[CELLS], (unsigned)first->word[HASHES]};
    for (uint64_t i = 0; i < rest.cells && rc == TAMIS_PARTIAL; i++) {
        const tamis_iblt_cell cell = tamis__iblt_get(rest, i);
        if (cell.count == 1 && !tamis__iblt_is_one(cell)) take(ctx, cell.keys, true);
    }
    return rc;
}
static const tamis_differ_facet differ_unchecked = {scratch_bytes, list_unchecked, size_of};
const tamis_kind tamis__broken_unchecked = {
    SOUND, .name = "broken_unchecked", .contract = "too_many_are_a_part",
    .special = &(const tamis_special){.differ = &differ_unchecked}};

/* Accepts everything, and continues where cells contradict each other, with whatever they hold. */
static tamis_status list_trusting(const tamis_body *first, const tamis_body *second,
                                  uint8_t *scratch, tamis_difference_fn *take, void *ctx) {
    const tamis_status rc = list(first, second, scratch, take, ctx);
    const tamis_iblt rest = {scratch, first->word[CELLS], (unsigned)first->word[HASHES]};
    for (uint64_t i = 0; i < rest.cells && rc == TAMIS_CORRUPT; i++) {
        const tamis_iblt_cell cell = tamis__iblt_get(rest, i);
        if (tamis__iblt_is_one(cell)) take(ctx, cell.keys, true);
    }
    return rc == TAMIS_CORRUPT ? TAMIS_OK : rc;
}
static const tamis_differ_facet differ_trusting = {scratch_bytes, list_trusting, size_of};
const tamis_kind tamis__broken_trusting = {
    SOUND, .name = "broken_trusting", .contract = "hostile_tables_end",
    .special = &(const tamis_special){.differ = &differ_trusting}};

/* ---- Merging -------------------------------------------------------------------------------- */

/* Counts are merged only where there were none. */
static tamis_status merge_keys(tamis_body *into, const tamis_body *from) {
    const tamis_iblt a = table_of(into);
    for (uint64_t i = 0; i < a.cells; i++) {
        const uint64_t count = tamis__iblt_get(a, i).count;
        tamis_iblt_cell cell = cell_of_both(into, from, i);
        if (count) cell.count = count;
        tamis__iblt_put(a, i, cell);
    }
    tamis__sizer_merge(sizer_of(into), sizer_of(from));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_uncounted = {SOUND, .name = "broken_uncounted",
                                            .contract = "merged_parts_are_the_whole",
                                            .sets = &(const tamis_sets){.merge = merge_keys}};

/* ---- Estimates ------------------------------------------------------------------------------ */

static tamis_status size_is_sure(const tamis_body *first, const tamis_body *second,
                                 uint8_t *scratch, struct tamis_estimate *keys) {
    const tamis_status rc = size_of(first, second, scratch, keys);
    keys->error /= 20;
    return rc;
}
static const tamis_differ_facet differ_surely = {scratch_bytes, list, size_is_sure};
const tamis_kind tamis__broken_too_sure = {
    SOUND, .name = "broken_too_sure", .contract = "difference_sizes_hold",
    .special = &(const tamis_special){.differ = &differ_surely}};

/* A tenth too much, which single estimates do not show. */
static tamis_status size_is_large(const tamis_body *first, const tamis_body *second,
                                  uint8_t *scratch, struct tamis_estimate *keys) {
    const tamis_status rc = size_of(first, second, scratch, keys);
    if (keys->value > 1) keys->value *= 1.1;
    return rc;
}
static const tamis_differ_facet differ_largely = {scratch_bytes, list, size_is_large};
const tamis_kind tamis__broken_tenth = {
    SOUND, .name = "broken_tenth", .contract = "difference_sizes_hold",
    .special = &(const tamis_special){.differ = &differ_largely}};
