/* SPDX-License-Identifier: MIT */
/* iblt: what differs between two sets, in a table whose size depends on the difference alone
 * (Goodrich and Mitzenmacher 2011; of two sets: Eppstein, Goodrich, Uyeda and Varghese 2011).
 *
 * Each of k subtables has a cell for every hash. A cell counts its hashes, and keeps the xor of all
 * of them and the xor of their checks:
 *
 *     key ─▶ hash ─▶ one cell of each subtable
 *
 *     count     0    2     1    0    3     1    ...
 *     keys      0   a^b    c    0  a^c^d   d    ...         the second and the last hold one hash,
 *     checks    0   a^b    c    0  a^c^d   d    ...         and their checks prove it
 *
 * Two hosts with a million keys each, of which a few differ, make such tables, and one sends its
 * own: subtracting cell by cell cancels what both have, and the rest can be taken out one by one.
 * With some more cells than differences this nearly always succeeds (iblt_table.c). An estimator
 * after the cells estimates how many differ when they are too many (iblt_size.c).
 *
 * It also answers queries, as a by-product: a hash is absent when one of its cells is empty or
 * holds one other hash. That costs seventy times the bits of blocked.
 *
 * It is for sets. A key that was added twice is still found, and removed by two removes, but its
 * xors cancel: differences cannot be listed. The same is true of the union of tables that share
 * keys. Use it to find what differs; where the number of differences is unknown, use the stream of
 * tamis_jobs.h, which has no fixed size. */
#include <math.h>
#include <stdio.h>

#include "kinds/iblt_size.h"
#include "kinds/iblt_table.h"
#include "kinds/kind.h"

enum { CELLS, HASHES, ESTIMATOR, COUNTERS };                                  /* shape words */
enum { OPT_CELLS, OPT_COUNTERS, OPT_DIFFERENCES, OPT_ESTIMATOR, OPT_HASHES }; /* options */
enum { MIN_HASHES = 3, USUAL_HASHES = 4, FAST_HASHES = 6, MAX_HASHES = 8 };
enum { MIN_COUNTERS = 64, MAX_COUNTERS = 1 << 20, USUAL_COUNTERS = 1024 };
enum { MAX_DIFFERENCES = 1000000000 };
#define MAX_CELLS ((uint64_t)1 << 40)

static const struct tamis_option options[] = {
    {"cells", NULL, MIN_HASHES, MAX_CELLS, "as many as the spec needs", "cells of 24 bytes"},
    {"counters", NULL, 0, MAX_COUNTERS, "1024",
     "of estimator=signed, 4 bytes each; the error falls with their root"},
    {"differences", NULL, 1, MAX_DIFFERENCES, "none: sized by capacity and fpr",
     "keys that may differ, and be listed 999 times of 1000"},
    {"estimator", "none|signed|strata", 0, 0, "signed",
     "how to estimate the number of differences"},
    {"hashes", NULL, MIN_HASHES, MAX_HASHES, "the fewest cells", "cells of a key, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static bool is_sized(const tamis_params *params) {
    return params->has_option[OPT_CELLS] || params->has_option[OPT_DIFFERENCES];
}

/* A non-member passes a cell of two hashes or more. All its cells must be such, and those of
 * different subtables are independent. */
static double rate_with(uint64_t keys, uint64_t side, uint64_t hashes) {
    if (keys < 2) return 0;
    if (side == 1) return 1;
    const double n = (double)keys, cells = (double)side;
    const double none = exp(n * log1p(-1 / cells)), one = none * n / (cells - 1);
    return pow(fmax(0, 1 - none - one), (double)hashes);
}

/* The fewest cells of a subtable that keep the rate. */
static uint64_t side_for_rate(const tamis_params *params, uint64_t hashes) {
    uint64_t low = 1, high = MAX_CELLS;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (rate_with(params->capacity, middle, hashes) <= params->fpr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Decoding ends early when two hashes have all their cells in common, which happens in small
 * tables, or when too many hashes fill a large one: the threshold is a known share of the cells for
 * every k, with a margin that falls with the root. Margin and probability are measured, for 1 to
 * 10^5 differences: docs/kinds/iblt.md. */
static uint64_t side_for_differences(uint64_t differences, uint64_t hashes) {
    static const double threshold[MAX_HASHES + 1] = {[3] = 1.2218, 1.2949, 1.4250,
                                                     1.5697,       1.7208, 1.8731};
    const double chance = 0.0005, margin = 4, d = (double)differences, k = (double)hashes;
    const double pairs = pow(d * (d - 1) / 2 / chance, 1 / k);
    const double load = (threshold[hashes] * d + margin * sqrt(d)) / k;
    return (uint64_t)ceil(fmax(pairs, load));
}

static uint64_t side_for(const tamis_params *params, uint64_t hashes, uint64_t bytes) {
    if (params->has_option[OPT_CELLS]) return (params->option[OPT_CELLS] + hashes - 1) / hashes;
    if (params->has_option[OPT_DIFFERENCES])
        return side_for_differences(params->option[OPT_DIFFERENCES], hashes);
    return params->bits ? bytes / TAMIS_IBLT_CELL / hashes : side_for_rate(params, hashes);
}

/* Is this number of hashes the better one? With a size, by the rate; else by the size. */
static bool is_better(const tamis_params *params, const uint64_t word[], uint64_t side,
                      uint64_t hashes) {
    if (word[CELLS] == 0 || !params->bits || is_sized(params)) return side * hashes < word[CELLS];
    return rate_with(params->capacity, side, hashes) <
           rate_with(params->capacity, word[CELLS] / word[HASHES], word[HASHES]);
}

/* `bytes`: what a size leaves for cells. */
static void choose_cells(const tamis_params *params, uint64_t bytes, uint64_t word[]) {
    const bool is_told = params->has_option[OPT_HASHES], has_cells = params->has_option[OPT_CELLS];
    const uint64_t told = is_told ? params->option[OPT_HASHES] : USUAL_HASHES;
    const uint64_t min = is_told || has_cells ? told : MIN_HASHES;
    const uint64_t max = is_told || has_cells ? told : FAST_HASHES;
    word[CELLS] = 0;
    for (uint64_t k = min; k <= max; k++) {
        const uint64_t side = side_for(params, k, bytes);
        if (k > min && !is_better(params, word, side, k)) continue;
        word[CELLS] = side * k;
        word[HASHES] = k;
    }
}

/* No counters mean no estimator. Others come in pairs, so that the payload is whole words. */
static tamis_status choose_estimator(const tamis_params *params, uint64_t word[]) {
    const bool has_counters = params->has_option[OPT_COUNTERS];
    const uint64_t counters = has_counters ? params->option[OPT_COUNTERS] : USUAL_COUNTERS;
    word[ESTIMATOR] =
        tamis__chosen(params, OPT_ESTIMATOR, counters ? TAMIS_SIZED_BY_SIGNS : TAMIS_SIZED_BY_NONE);
    const bool is_signed = word[ESTIMATOR] == TAMIS_SIZED_BY_SIGNS;
    word[COUNTERS] = is_signed ? counters + counters % 2 : 0;
    if (!has_counters || (is_signed ? counters >= MIN_COUNTERS : counters == 0)) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID,
                       "counters=%llu: estimator=signed has at least %d, others have none",
                       (unsigned long long)counters, MIN_COUNTERS);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = choose_estimator(params, word);
    if (rc) return rc;
    const uint64_t estimator = tamis__sizer_bytes(word[ESTIMATOR], word[COUNTERS]);
    const uint64_t min = estimator + MAX_HASHES * TAMIS_IBLT_CELL;
    if (params->bits && !is_sized(params) && params->bits / 8 < min)
        return tamis__fail(TAMIS_INVALID,
                           "%llu bits are too few for iblt; the minimum is %llu, %llu of "
                           "them for the estimator",
                           (unsigned long long)params->bits, (unsigned long long)min * 8,
                           (unsigned long long)estimator * 8);
    choose_cells(params, params->bits / 8 - (params->bits ? estimator : 0), word);
    if (word[CELLS] <= MAX_CELLS) return TAMIS_OK;
    return tamis__fail(TAMIS_TOO_LARGE,
                       "iblt has at most %llu cells, and %llu keys would need more",
                       (unsigned long long)MAX_CELLS, (unsigned long long)params->capacity);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const bool is_signed = word[ESTIMATOR] == TAMIS_SIZED_BY_SIGNS;
    if (!tamis__may_have("iblt", word[HASHES], "hashes", MIN_HASHES, MAX_HASHES))
        return TAMIS_CORRUPT;
    if (word[CELLS] == 0 || word[CELLS] > MAX_CELLS || word[CELLS] % word[HASHES])
        return tamis__fail(TAMIS_CORRUPT, "iblt cannot have %llu cells for %llu hashes",
                           (unsigned long long)word[CELLS], (unsigned long long)word[HASHES]);
    if (word[ESTIMATOR] >= TAMIS_SIZED_WAYS)
        return tamis__fail(TAMIS_CORRUPT, "iblt has no estimator %llu",
                           (unsigned long long)word[ESTIMATOR]);
    if (is_signed
            ? word[COUNTERS] < MIN_COUNTERS || word[COUNTERS] > MAX_COUNTERS || word[COUNTERS] % 2
            : word[COUNTERS] != 0)
        return tamis__fail(TAMIS_CORRUPT, "iblt cannot have %llu counters with estimator %llu",
                           (unsigned long long)word[COUNTERS], (unsigned long long)word[ESTIMATOR]);
    *size = word[CELLS] * TAMIS_IBLT_CELL + tamis__sizer_bytes(word[ESTIMATOR], word[COUNTERS]);
    return TAMIS_OK;
}

static double rate(const uint64_t word[], uint64_t items) {
    return rate_with(items, word[CELLS] / word[HASHES], word[HASHES]);
}

/* ---- The payload ---------------------------------------------------------------------------- */

static tamis_iblt table_of(const tamis_body *f) {
    return (tamis_iblt){f->bytes, f->word[CELLS], (unsigned)f->word[HASHES]};
}

static tamis_sizer sizer_of(const tamis_body *f) {
    return (tamis_sizer){f->word[ESTIMATOR], f->word[COUNTERS],
                         f->bytes + f->word[CELLS] * TAMIS_IBLT_CELL};
}

static tamis_status audit(const tamis_body *f) {
    const tamis_status rc = tamis__iblt_audit(table_of(f));
    return rc ? rc : tamis__sizer_audit(sizer_of(f), tamis__iblt_total(table_of(f), 0));
}

/* ---- Querying, adding, removing ------------------------------------------------------------- */

/* A cell that counts one hash, but whose check does not match, is from a table from which a key
 * that was not in it was removed: it proves nothing. */
static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_iblt table = table_of(f);
    uint64_t chain = tamis__chain_start(hash);
    for (unsigned s = 0; s < table.hashes; s++) {
        const tamis_iblt_cell cell = tamis__iblt_get(table, tamis__iblt_next(table, &chain, s));
        if (tamis__iblt_is_empty(cell)) return false;
        if (tamis__iblt_is_one(cell) && cell.keys != hash) return false;
    }
    return true;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) hit[j] = has(f, b.hash[j]);
}

static void move_one(tamis_body *f, uint64_t hash, uint64_t by) {
    tamis__iblt_add(table_of(f), hash, by);
    tamis__sizer_add(sizer_of(f), hash, by);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) move_one(f, b.hash[j], 1);
    return TAMIS_OK;
}

static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    if (!tamis__iblt_can_leave(table_of(f), *b.hash) ||
        !tamis__sizer_can_leave(sizer_of(f), *b.hash))
        return tamis__fail(TAMIS_NOT_FOUND,
                           "the key is not in the filter: a cell does not hold it");
    move_one(f, *b.hash, UINT64_MAX);
    return TAMIS_OK;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    tamis__iblt_merge(table_of(into), table_of(from));
    tamis__sizer_merge(sizer_of(into), sizer_of(from));
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Keys from the non-empty cells: a key misses one of `side` cells with probability 1 - 1/side.
 * Infinite when none is empty. */
static struct tamis_estimate count_by_cells(const tamis_body *f, uint64_t full) {
    const double cells = (double)f->word[CELLS], k = (double)f->word[HASHES], side = cells / k;
    const double load = -log1p(-(double)full / cells);
    return (struct tamis_estimate){side * load, sqrt(side * (expm1(load) - load) / k)};
}

static uint64_t full_cells(const tamis_body *f) {
    uint64_t full = 0;
    for (uint64_t i = 0; i < f->word[CELLS]; i++)
        full += tamis__iblt_get(table_of(f), i).count != 0;
    return full;
}

/* Keys of two sets together. Their difference gives their union, as both sizes are known: by the
 * estimator, or by the cells of both and of each. `full` are those of both. */
static struct tamis_estimate count_union(const tamis_body *f, const tamis_body *other,
                                         uint64_t full) {
    const double a = (double)tamis__iblt_total(table_of(f), 0).count;
    const double b = (double)tamis__iblt_total(table_of(other), 0).count;
    struct tamis_estimate apart = {INFINITY, INFINITY};
    if (f->word[ESTIMATOR] == TAMIS_SIZED_BY_NONE && full < f->word[CELLS]) {
        const struct tamis_estimate both = count_by_cells(f, full);
        apart.value = 2 * both.value - (count_by_cells(f, full_cells(f)).value +
                                        count_by_cells(f, full_cells(other)).value);
        apart.error = 2 * both.error;
    } else if (f->word[ESTIMATOR] == TAMIS_SIZED_BY_NONE ||
               tamis__sizer_compare(sizer_of(f), sizer_of(other), &apart)) {
        return (struct tamis_estimate){INFINITY, INFINITY};
    }
    const double keys = fmin(fmax((a + b + apart.value) / 2, fmax(a, b)), a + b);
    return (struct tamis_estimate){keys, apart.error / 2};
}

/* What a non-member passes: a cell of two hashes or more, or of one that proves nothing. */
static bool is_passed(tamis_iblt_cell cell) {
    return cell.count >= 2 || (!tamis__iblt_is_empty(cell) && !tamis__iblt_is_one(cell));
}

/* Cells that hold a hash an even number of times and no other have lost it. */
static bool is_lost(tamis_iblt_cell cell) {
    return cell.count && (cell.keys | cell.checks) == 0;
}

static tamis_iblt_cell cell_of_both(const tamis_body *f, const tamis_body *other, uint64_t i) {
    const tamis_iblt_cell cell = tamis__iblt_get(table_of(f), i);
    return other ? tamis__iblt_sum(cell, tamis__iblt_get(table_of(other), i)) : cell;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const uint64_t side = f->word[CELLS] / f->word[HASHES];
    out->fpr = 1;
    for (uint64_t s = 0; s < f->word[HASHES]; s++) {
        uint64_t passed = 0;
        for (uint64_t i = s * side; i < (s + 1) * side; i++) {
            const tamis_iblt_cell cell = cell_of_both(f, other, i);
            passed += is_passed(cell);
            out->bits_set += cell.count != 0;
            out->affected += is_lost(cell);
        }
        out->fpr *= (double)passed / (double)side;
    }
    out->bits = f->word[CELLS];
    const double adds = (double)tamis__iblt_total(table_of(f), 0).count;
    out->items = other ? count_union(f, other, out->bits_set) : (struct tamis_estimate){adds, 0};
    if (out->affected)
        snprintf(out->caveat, sizeof out->caveat,
                 "keys were added more than once: differences cannot be listed");
}

/* ---- Differences ---------------------------------------------------------------------------- */

static uint64_t scratch_bytes(const uint64_t word[]) {
    return word[CELLS] * TAMIS_IBLT_PEEL;
}

static tamis_status list(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                         tamis_difference_fn *take, void *ctx) {
    tamis_peel peel;
    const tamis_status rc = tamis__peel(&peel, table_of(first), table_of(second), scratch);
    if (rc && rc != TAMIS_PARTIAL) return rc;
    for (uint64_t i = 0; i < first->word[CELLS]; i++) {
        uint64_t hash;
        bool is_first;
        if (tamis__peel_at(&peel, i, &hash, &is_first) && !take(ctx, hash, is_first))
            return TAMIS_CANCELLED;
    }
    return rc;
}

static tamis_status size_of(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                            struct tamis_estimate *keys) {
    (void)scratch;
    return tamis__sizer_compare(sizer_of(first), sizer_of(second), keys);
}

static const tamis_differ_facet differ = {scratch_bytes, list, size_of};

const tamis_kind tamis__iblt = {
    .name = "iblt",
    .contract = "lists what differs between two sets, if not more than it is made for",
    .word = {"cells", "hashes", "estimator", "counters"},
    .options = options,
    .traits = TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_one,
    .sizing = &(const tamis_sizing){.is_sized = is_sized},
    .speed = &(const tamis_speed){.has = has},
    .sets = &(const tamis_sets){.merge = merge},
    .special = &(const tamis_special){.differ = &differ},
};
