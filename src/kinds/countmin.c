/* SPDX-License-Identifier: MIT */
/* countmin: how often each key of a stream came, in space independent of the number of distinct
 * keys (Cormode and Muthukrishnan 2005; conservative update: Estan and Varghese 2002).
 *
 * Rows of counters, and in each row one counter for every key. An add raises all of them; the
 * smallest is the count. Other keys on the same counters can only raise it, so it is never too low,
 * and too high by more than e/columns of all adds in at most one of e^rows cases:
 *
 *              0   1   2   3   4   5   6   7   ...  columns
 *     row 0    0   4   0   0   9   1   0   2
 *     row 1    1   0   0   5   0   8   2   0            count: 4, the smallest
 *     row 2    0   0   6   0   2   0   0   8
 *                  ▲   ▲   ▲
 *
 * Two ways to raise them (`update`):
 *
 *     plain          every counter of the key by one. Sketches of two streams add up to that of
 *                    both, and many threads may add at once.
 *     conservative   only up to the new count: counters that are already higher were raised by
 *                    others. Never above plain, and far below it for rare keys; but what an
 *                    add does depends on the adds before it, so sketches do not add up to that
 *                    of both streams.
 *
 * Spectral has the same cells in one array for all probes and is planned for keys: all but a few
 * counts are right. Here the plan is for a stream: every count may be a little too high, by a share
 * of the stream, and frequent keys stand out. Use it for the heaviest keys of a stream that is too
 * large to store; planned for a capacity it is also a filter, with wide counters. */
#include <math.h>
#include <stdio.h>

#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/kind.h"
#include "kinds/rows.h"
#include "tamis_math.h"

enum { COLUMNS, ROWS, WIDTH, UPDATE };                                       /* shape words */
enum { OPT_COLUMNS, OPT_DOUBT, OPT_ERROR, OPT_ROWS, OPT_UPDATE, OPT_WIDTH }; /* options */
enum { WIDTH_32, WIDTH_64, WIDTHS };
enum { PLAIN, CONSERVATIVE, UPDATES };
enum { MAX_ROWS = 64, USUAL_ROWS = 5 };
#define MAX_COLUMNS (TAMIS_MAX_PAYLOAD_BYTES / 8 / MAX_ROWS) /* of any width and rows */

static const double e = 2.718281828459045;

static const struct tamis_option options[] = {
    {"columns", NULL, 1, MAX_COLUMNS, "by error, or by capacity and fpr", "counters in a row"},
    {"error-prob", NULL, 0, 0, "1%, which is 5 rows",
     "how rarely a count may be worse than `error`"},
    {"error", NULL, 0, 0, "by capacity and fpr",
     "how much too high a count may be, as a share of all adds"},
    {"rows", NULL, 1, MAX_ROWS, "by error-prob, or by capacity and fpr", "counters of a key"},
    {"update", "plain|conservative", 0, 0, "plain", "which counters an add raises"},
    {"width", "32|64", 0, 0, "32", "bits of a counter: counts to 2^width - 1"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* An error is a number of columns, and its probability one of rows; plan() gets them under their
 * own names, to distinguish them from columns and rows. */
static tamis_status read_text(tamis_params *params, size_t i, const char *value) {
    double rate;
    if (!tamis_parse_rate(value, &rate)) return TAMIS_INVALID;
    const double needed = ceil(i == OPT_ERROR ? e / rate : -log(rate));
    params->option[i] = needed < 1 ? 1 : (uint64_t)needed;
    return TAMIS_OK;
}

static bool is_sized(const tamis_params *params) {
    return params->has_option[OPT_ERROR] || params->has_option[OPT_COLUMNS];
}

/* 0 where neither option is given. */
static tamis_status either(const tamis_params *params, size_t first, size_t second, uint64_t *out) {
    if (params->has_option[first] && params->has_option[second])
        return tamis__fail(TAMIS_INVALID, "%s and %s conflict; give only one", options[first].name,
                           options[second].name);
    *out = params->has_option[first] ? params->option[first] : params->option[second];
    return TAMIS_OK;
}

static uint64_t counter_bytes(const uint64_t word[]) {
    return word[WIDTH] == WIDTH_64 ? 8 : 4;
}

/* In a row a non-member meets a counter that some key has raised with this probability; rows are
 * independent, so that the rate is exact. */
static double rate_of(uint64_t keys, uint64_t columns, uint64_t rows) {
    if (keys == 0) return 0;
    return pow(-expm1((double)keys * log1p(-1 / (double)columns)), (double)rows);
}

/* The fewest columns that keep the rate; MAX_COLUMNS + 1 when those are too few. */
static uint64_t columns_for(uint64_t keys, double fpr, uint64_t rows) {
    const double untouched = log1p(-pow(fpr, 1 / (double)rows)) / (double)keys;
    const double needed = ceil(-1 / expm1(untouched));
    if (!(needed <= (double)MAX_COLUMNS)) return MAX_COLUMNS + 1;
    uint64_t columns = needed < 1 ? 1 : (uint64_t)needed;
    while (columns <= MAX_COLUMNS && rate_of(keys, columns, rows) > fpr)
        columns += 1 + columns / ((uint64_t)1 << 48); /* lost by rounding */
    return columns;
}

static uint64_t clamp_rows(double rows) {
    return rows < 1 ? 1 : rows > MAX_ROWS ? MAX_ROWS : (uint64_t)rows;
}

/* As a filter: the best number of rows, unless it is given. */
static void plan_by_rate(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1, given = word[ROWS];
    const double best = -log2(params->fpr);
    const uint64_t first = given ? given : clamp_rows(floor(best));
    const uint64_t last = given ? given : clamp_rows(ceil(best));
    word[COLUMNS] = 0;
    for (uint64_t rows = first; rows <= last; rows++) {
        const uint64_t columns = columns_for(keys, params->fpr, rows);
        if (word[COLUMNS] &&
            (double)columns * (double)rows >= (double)word[COLUMNS] * (double)word[ROWS])
            continue;
        word[COLUMNS] = columns;
        word[ROWS] = rows;
    }
    const uint64_t rounded = tamis__round_up(word[COLUMNS], 1, MAX_COLUMNS);
    if (rounded) word[COLUMNS] = rounded; /* otherwise there are too many */
}

/* A size without a capacity is for a stream. */
static tamis_status plan_by_size(const tamis_params *params, uint64_t word[]) {
    const uint64_t counters = params->bits / 8 / counter_bytes(word);
    if (word[ROWS] == 0 && params->capacity == 0) word[ROWS] = USUAL_ROWS;
    if (word[ROWS] == 0)
        word[ROWS] = clamp_rows(tamis_best_hashes((double)params->capacity, (double)counters));
    if (word[COLUMNS] == 0) word[COLUMNS] = counters / word[ROWS];
    if (word[COLUMNS] > MAX_COLUMNS) word[COLUMNS] = MAX_COLUMNS;
    if (word[COLUMNS] == 0 || word[COLUMNS] > counters / word[ROWS])
        return tamis__fail(
            TAMIS_INVALID, "countmin of %llu rows and %llu columns needs more than %llu bits",
            (unsigned long long)word[ROWS], (unsigned long long)(word[COLUMNS] ? word[COLUMNS] : 1),
            (unsigned long long)params->bits);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[WIDTH] = params->option[OPT_WIDTH];
    word[UPDATE] = params->option[OPT_UPDATE];
    tamis_status rc = either(params, OPT_COLUMNS, OPT_ERROR, &word[COLUMNS]);
    if (!rc) rc = either(params, OPT_ROWS, OPT_DOUBT, &word[ROWS]);
    if (!rc && params->bits) rc = plan_by_size(params, word);
    if (rc) return rc;
    if (word[COLUMNS] == 0) plan_by_rate(params, word);
    if (word[ROWS] == 0) word[ROWS] = USUAL_ROWS;
    if (word[COLUMNS] <= MAX_COLUMNS) return TAMIS_OK;
    return tamis__fail(TAMIS_TOO_LARGE, "countmin would need over 2^47 columns");
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have("countmin", word[ROWS], "rows", 1, MAX_ROWS)) return TAMIS_CORRUPT;
    if (word[WIDTH] >= WIDTHS || word[UPDATE] >= UPDATES)
        return tamis__fail(TAMIS_CORRUPT, "countmin has no width %llu with update %llu",
                           (unsigned long long)word[WIDTH], (unsigned long long)word[UPDATE]);
    if (word[COLUMNS] == 0 || word[COLUMNS] > MAX_COLUMNS)
        return tamis__fail(TAMIS_CORRUPT, "countmin cannot have %llu columns",
                           (unsigned long long)word[COLUMNS]);
    *size = (word[COLUMNS] * word[ROWS] * counter_bytes(word) + 7) / 8 * 8;
    return TAMIS_OK;
}

/* Concurrent adds would have to read and raise all counters of a key as one. */
static unsigned lacks(const uint64_t word[]) {
    if (word[UPDATE] == PLAIN) return 0;
    return TAMIS_CAN_MERGE | TAMIS_CAN_SHARE | TAMIS_ANY_ORDER;
}

static uint64_t probes(const uint64_t word[]) {
    return word[ROWS];
}

/* With both updates the same counters are not zero. */
static double rate(const uint64_t word[], uint64_t items) {
    return rate_of(items, word[COLUMNS], word[ROWS]);
}

static uint64_t top_of(const uint64_t word[]) {
    return word[WIDTH] == WIDTH_64 ? UINT64_MAX : UINT32_MAX;
}

static double count_error(const uint64_t word[], uint64_t items, double *doubt) {
    *doubt = exp(-(double)word[ROWS]);
    return e / (double)word[COLUMNS] * (double)items;
}

/* An odd number of 32-bit counters leaves half a word, which is zero. */
static tamis_status audit(const tamis_body *f) {
    return tamis__bitmap_audit(f, f->word[COLUMNS] * f->word[ROWS] * counter_bytes(f->word) * 8);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static uint64_t counter_get(const tamis_body *f, uint64_t i) {
    return f->word[WIDTH] == WIDTH_64 ? tamis__load64(f->bytes + i * 8)
                                      : tamis__load32(f->bytes + i * 4);
}

static void counter_put(const tamis_body *f, uint64_t i, uint64_t value) {
    if (f->word[WIDTH] == WIDTH_64)
        tamis__put64(f->bytes + i * 8, value);
    else
        tamis__put32(f->bytes + i * 4, (uint32_t)value);
}

/* The counters of a key, one in each row, and their number. */
static uint64_t spots_of(const tamis_body *f, uint64_t hash, uint64_t spot[MAX_ROWS]) {
    const uint64_t columns = f->word[COLUMNS], rows = f->word[ROWS];
    uint64_t x = tamis__chain_start(hash);
    for (uint64_t i = 0; i < rows; i++) spot[i] = i * columns + tamis__chain_next(&x, columns);
    return rows;
}

static uint64_t min_of(const tamis_body *f, const uint64_t *spot, uint64_t rows) {
    uint64_t min = UINT64_MAX;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t value = counter_get(f, spot[i]);
        if (value < min) min = value;
    }
    return min;
}

/* Counters are far apart, one in each row: a group of keys prefetches all of them first. */
enum { GROUP = 16 };

static void fetch(const tamis_body *f, const uint64_t *hash, size_t n) {
    uint64_t spot[MAX_ROWS];
    for (size_t j = 0; j < n; j++) {
        const uint64_t rows = spots_of(f, hash[j], spot);
        for (uint64_t i = 0; i < rows; i++)
            __builtin_prefetch(f->bytes + spot[i] * counter_bytes(f->word));
    }
}

/* How many of the `n` hashes from `at` on make a group; their counters are prefetched. */
static size_t group_at(const tamis_body *f, const uint64_t *hash, size_t at, size_t n) {
    const size_t m = n - at < GROUP ? n - at : GROUP;
    if (f->size > tamis__near_bytes() && m > 1) fetch(f, hash + at, m);
    return m;
}

/* ---- Adding --------------------------------------------------------------------------------- */

static void raise_all(const tamis_body *f, uint64_t hash, uint64_t times) {
    uint64_t spot[MAX_ROWS];
    const uint64_t rows = spots_of(f, hash, spot), top = top_of(f->word);
    for (uint64_t i = 0; i < rows; i++)
        counter_put(f, spot[i], tamis__sum_within(counter_get(f, spot[i]), times, top));
}

/* Up to the new count. */
static void raise_low(const tamis_body *f, uint64_t hash, uint64_t times) {
    uint64_t spot[MAX_ROWS];
    const uint64_t rows = spots_of(f, hash, spot);
    const uint64_t count = tamis__sum_within(min_of(f, spot, rows), times, top_of(f->word));
    for (uint64_t i = 0; i < rows; i++)
        if (counter_get(f, spot[i]) < count) counter_put(f, spot[i], count);
}

static void add_times(tamis_body *f, tamis_batch b, uint64_t times) {
    if (f->word[UPDATE] == PLAIN)
        raise_all(f, *b.hash, times);
    else
        raise_low(f, *b.hash, times);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t at = 0, m; at < b.n; at += m) {
        m = group_at(f, b.hash, at, b.n);
        for (size_t j = 0; j < m; j++) add_times(f, tamis__hashes(&b.hash[at + j], 1), 1);
    }
    return TAMIS_OK;
}

static void raise_shared(const tamis_body *f, uint64_t hash) {
    uint64_t spot[MAX_ROWS];
    const uint64_t rows = spots_of(f, hash, spot);
    for (uint64_t i = 0; i < rows; i++)
        if (f->word[WIDTH] == WIDTH_64)
            tamis__raise64_shared(f->bytes + spot[i] * 8);
        else
            tamis__raise32_shared(f->bytes + spot[i] * 4);
}

static void add_shared(tamis_body *f, tamis_batch b) {
    for (size_t at = 0, m; at < b.n; at += m) {
        m = group_at(f, b.hash, at, b.n);
        for (size_t j = 0; j < m; j++) raise_shared(f, b.hash[at + j]);
    }
}

/* ---- Querying ------------------------------------------------------------------------------- */

static void count(const tamis_body *f, tamis_batch b, uint64_t *out) {
    uint64_t spot[MAX_ROWS];
    for (size_t at = 0, m; at < b.n; at += m) {
        m = group_at(f, b.hash, at, b.n);
        for (size_t j = at; j < at + m; j++) out[j] = min_of(f, spot, spots_of(f, b.hash[j], spot));
    }
}

static bool has(const tamis_body *f, uint64_t hash) {
    uint64_t x = tamis__chain_start(hash);
    for (uint64_t i = 0; i < f->word[ROWS]; i++)
        if (!counter_get(f, i * f->word[COLUMNS] + tamis__chain_next(&x, f->word[COLUMNS])))
            return false;
    return true;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t at = 0, m; at < b.n; at += m) {
        m = group_at(f, b.hash, at, b.n);
        for (size_t j = at; j < at + m; j++) hit[j] = has(f, b.hash[j]);
    }
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const uint64_t counters = into->word[COLUMNS] * into->word[ROWS], top = top_of(into->word);
    for (uint64_t i = 0; i < counters; i++)
        counter_put(into, i, tamis__sum_within(counter_get(into, i), counter_get(from, i), top));
    return TAMIS_OK;
}

static tamis_status weigh(tamis_body *into, const tamis_body *const *from, const int64_t *weight,
                          size_t n) {
    return tamis__weigh(into, from, weight, n, into->word[COLUMNS] * into->word[ROWS],
                        top_of(into->word), counter_get, counter_put);
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__rows_measure(f, other, f->word[COLUMNS], f->word[ROWS], top_of(f->word), counter_get,
                        out);
}

const tamis_kind tamis__countmin = {
    .name = "countmin",
    .contract =
        "how often each key was added: never too low, too high by a small share of all adds",
    .word = {"columns", "rows", "width", "update"},
    .options = options,
    .traits = TAMIS_ANY_ORDER,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sizing = &(const tamis_sizing){.is_sized = is_sized, .read_text = read_text},
    .speed = &(const tamis_speed){.has = has, .add_shared = add_shared, .add_times = add_times},
    .counts =
        &(const tamis_counts){.count = count, .reliable_count = top_of, .count_error = count_error},
    .sets = &(const tamis_sets){.merge = merge, .merge_weighted = weigh},
};
