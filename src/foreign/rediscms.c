/* SPDX-License-Identifier: MIT */
/* rediscms: the count-min sketch of RedisBloom, as its files have it.
 *
 *     width        8 bytes        u64, all little-endian
 *     depth        8 bytes        rows
 *     counter      8 bytes        all that was ever added
 *     cells        4 bytes each, row after row
 *
 * In row i a key has the cell of its MurmurHash2 with seed i, modulo width. An add raises one cell
 * of every row; they stop at 2^32-1. The smallest is the count: never too low up to there, and too
 * high by more than 2/width of all adds in one of 2^depth cases.
 *
 * As long as no cell has stopped, every row adds up to the counter. The gate does not require that:
 * it is not true of valid sketches with cells that stopped, nor of sums with negative weights.
 *
 * It is easy to find keys that share all their cells. For keys from untrusted sources use countmin
 * with hash=sip13. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bits/bits.h"
#include "foreign/format.h"
#include "foreign/murmur.h"
#include "foreign/redis.h"
#include "kinds/bitmap.h"
#include "kinds/rows.h"
#include "tamis_math.h"

enum { WIDTH, DEPTH };         /* shape words */
enum { OPT_DEPTH, OPT_WIDTH }; /* options */
enum { CELL = 4, USUAL_DEPTH = 5, MAX_DEPTH = 65536, MAX_PLANNED_DEPTH = 64 };
#define MAX_WIDTH (TAMIS_MAX_PAYLOAD_BYTES / CELL / MAX_DEPTH / 2)
#define TOP       ((uint64_t)UINT32_MAX)

static const struct tamis_option options[] = {
    {"depth", NULL, 1, MAX_DEPTH, "by fpr, or 5", "rows: cells of a key"},
    {"width", NULL, 1, MAX_WIDTH, "by capacity and fpr", "cells in a row"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static bool is_sized(const tamis_params *params) {
    return params->has_option[OPT_WIDTH];
}

static double rate(const uint64_t word[], uint64_t items) {
    if (items == 0) return 0;
    return pow(-expm1((double)items * log1p(-1 / (double)word[WIDTH])), (double)word[DEPTH]);
}

/* Of a row that non-members pass with the root of the rate; MAX_WIDTH + 1 when that is too much. */
static uint64_t width_for(uint64_t keys, double fpr, uint64_t depth) {
    const double untouched = log1p(-pow(fpr, 1 / (double)depth)) / (double)(keys ? keys : 1);
    const double needed = ceil(-1 / expm1(untouched));
    if (!(needed <= (double)MAX_WIDTH)) return MAX_WIDTH + 1;
    uint64_t word[] = {needed < 1 ? 1 : (uint64_t)needed, depth};
    while (word[WIDTH] <= MAX_WIDTH && rate(word, keys) > fpr) word[WIDTH]++;
    return word[WIDTH];
}

static uint64_t depth_for(const tamis_params *params) {
    if (params->has_option[OPT_DEPTH]) return params->option[OPT_DEPTH];
    if (params->has_option[OPT_WIDTH] || params->capacity == 0) return USUAL_DEPTH;
    const double cells = (double)params->bits / (8 * CELL);
    const double best = params->bits ? (double)tamis_best_hashes((double)params->capacity, cells)
                                     : round(-log2(params->fpr));
    return best < 1 ? 1 : best > MAX_PLANNED_DEPTH ? MAX_PLANNED_DEPTH : (uint64_t)best;
}

static uint64_t stored_bytes(const uint64_t word[]) {
    return TAMIS_CMS_HEADER + word[WIDTH] * word[DEPTH] * CELL;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[WIDTH] == 0 || word[WIDTH] > MAX_WIDTH)
        return tamis__fail(TAMIS_CORRUPT, "rediscms has a width of 1 to %llu, not %llu",
                           (unsigned long long)MAX_WIDTH, (unsigned long long)word[WIDTH]);
    if (word[DEPTH] == 0 || word[DEPTH] > MAX_DEPTH)
        return tamis__fail(TAMIS_CORRUPT, "rediscms has a depth of 1 to %d, not %llu", MAX_DEPTH,
                           (unsigned long long)word[DEPTH]);
    *size = (stored_bytes(word) + 7) / 8 * 8;
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    uint64_t size;
    const uint64_t bytes = params->bits / 64 * 8;
    word[DEPTH] = depth_for(params);
    if (params->has_option[OPT_WIDTH])
        word[WIDTH] = params->option[OPT_WIDTH];
    else if (params->bits == 0)
        word[WIDTH] = width_for(params->capacity, params->fpr, word[DEPTH]);
    else
        word[WIDTH] =
            bytes > TAMIS_CMS_HEADER ? (bytes - TAMIS_CMS_HEADER) / CELL / word[DEPTH] : 0;
    if (params->bits && word[WIDTH] > MAX_WIDTH) word[WIDTH] = MAX_WIDTH;
    if (word[WIDTH] > MAX_WIDTH)
        return tamis__fail(TAMIS_TOO_LARGE, "rediscms would need a width over %llu",
                           (unsigned long long)MAX_WIDTH);
    if (params->bits && (word[WIDTH] == 0 || check(word, &size) || size > bytes))
        return tamis__fail(TAMIS_INVALID, "rediscms of %llu rows needs more than %llu bits",
                           (unsigned long long)word[DEPTH], (unsigned long long)params->bits);
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    return word[DEPTH];
}

static double count_error(const uint64_t word[], uint64_t items, double *doubt) {
    *doubt = pow(0.5, (double)word[DEPTH]);
    return 2 / (double)word[WIDTH] * (double)items;
}

static uint64_t reliable_count(const uint64_t word[]) {
    (void)word;
    return TOP;
}

/* ---- The header and the gate ---------------------------------------------------------------- */

tamis_cms_header tamis__cms_header(const uint8_t *p) {
    return (tamis_cms_header){tamis__get64(p), tamis__get64(p + 8), tamis__get64(p + 16)};
}

void tamis__cms_put_header(uint8_t *p, tamis_cms_header h) {
    tamis__put64(p, h.width);
    tamis__put64(p + 8, h.depth);
    tamis__put64(p + 16, h.counter);
}

tamis_status tamis__cms_words(tamis_cms_header h, uint64_t word[], uint64_t *bytes) {
    uint64_t size;
    word[WIDTH] = h.width;
    word[DEPTH] = h.depth;
    const tamis_status rc = check(word, &size);
    if (!rc) *bytes = stored_bytes(word);
    return rc;
}

static void start(tamis_body *f) {
    tamis__cms_put_header(f->bytes,
                          (tamis_cms_header){.width = f->word[WIDTH], .depth = f->word[DEPTH]});
}

static tamis_status audit(const tamis_body *f) {
    const tamis_cms_header h = tamis__cms_header(f->bytes);
    if (h.width != f->word[WIDTH] || h.depth != f->word[DEPTH])
        return tamis__fail(TAMIS_CORRUPT, "the header of rediscms does not match its shape");
    return tamis__bitmap_audit(f, stored_bytes(f->word) * 8);
}

/* ---- Cells ---------------------------------------------------------------------------------- */

static uint64_t cell_get(const tamis_body *f, uint64_t i) {
    return tamis__get32(f->bytes + TAMIS_CMS_HEADER + i * CELL);
}

static void cell_put(const tamis_body *f, uint64_t i, uint64_t value) {
    tamis__put32(f->bytes + TAMIS_CMS_HEADER + i * CELL, (uint32_t)value);
}

static uint64_t cells_of(const tamis_body *f) {
    return f->word[WIDTH] * f->word[DEPTH];
}

static uint64_t cell_of(const tamis_body *f, const struct tamis_key *key, uint64_t row) {
    return row * f->word[WIDTH] + tamis__murmur2_32(key, (uint32_t)row) % f->word[WIDTH];
}

static void raise_counter(const tamis_body *f, uint64_t more) {
    tamis_cms_header h = tamis__cms_header(f->bytes);
    h.counter = tamis__sum_within(h.counter, more, UINT64_MAX);
    tamis__cms_put_header(f->bytes, h);
}

/* ---- Adding and querying -------------------------------------------------------------------- */

static void add_times(tamis_body *f, tamis_batch b, uint64_t times) {
    for (uint64_t row = 0; row < f->word[DEPTH]; row++) {
        const uint64_t cell = cell_of(f, b.key, row);
        cell_put(f, cell, tamis__sum_within(cell_get(f, cell), times, TOP));
    }
    raise_counter(f, times);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) add_times(f, tamis__keys(&b.key[i], 1), 1);
    return TAMIS_OK;
}

static uint64_t count_one(const tamis_body *f, const struct tamis_key *key) {
    uint64_t min = TOP;
    for (uint64_t row = 0; row < f->word[DEPTH] && min; row++) {
        const uint64_t value = cell_get(f, cell_of(f, key, row));
        if (value < min) min = value;
    }
    return min;
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *count) {
    for (size_t i = 0; i < b.n; i++) count[i] = count_one(f, &b.key[i]);
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) hit[i] = count_one(f, &b.key[i]) > 0;
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const uint64_t more = tamis__cms_header(from->bytes).counter;
    for (uint64_t i = 0; i < cells_of(into); i++)
        cell_put(into, i, tamis__sum_within(cell_get(into, i), cell_get(from, i), TOP));
    raise_counter(into, more);
    return TAMIS_OK;
}

/* The counter is weighted like the cells, as in the origin. */
static tamis_status weigh(tamis_body *into, const tamis_body *const *from, const int64_t *weight,
                          size_t n) {
    tamis_cms_header h = tamis__cms_header(into->bytes);
    int64_t counter = 0;
    bool fits = true;
    for (size_t i = 0; i < n && fits; i++)
        fits = tamis__add_weighed(&counter, tamis__cms_header(from[i]->bytes).counter, weight[i]);
    if (!fits || counter < 0)
        return tamis__fail(TAMIS_FULL, "the counter of the sum would be below 0 or over 2^63-1");
    const tamis_status rc =
        tamis__weigh(into, from, weight, n, cells_of(into), TOP, cell_get, cell_put);
    if (rc) return rc;
    h.counter = (uint64_t)counter;
    tamis__cms_put_header(into->bytes, h);
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__rows_measure(f, other, f->word[WIDTH], f->word[DEPTH], TOP, cell_get, out);
}

/* ---- The kind ------------------------------------------------------------------------------- */

const tamis_kind tamis__rediscms = {
    .name = "rediscms",
    .contract = "how often each key was added, in cells that RedisBloom can read and write",
    .word = {"width", "depth"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sizing = &(const tamis_sizing){.is_sized = is_sized},
    .speed = &(const tamis_speed){.add_times = add_times},
    .counts = &(const tamis_counts){.count = count,
                                    .reliable_count = reliable_count,
                                    .count_error = count_error},
    .sets = &(const tamis_sets){.merge = merge, .merge_weighted = weigh},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    uint64_t bytes = 0;
    (void)args;
    if (in->size < TAMIS_CMS_HEADER) return tamis__too_short("rediscms", in, TAMIS_CMS_HEADER);
    const tamis_cms_header h = tamis__cms_header(in->bytes);
    *out = (tamis_import_result){.kind = "rediscms", .items = h.counter, .payload = *in};
    if (tamis__cms_words(h, out->word, &bytes))
        return tamis__fail_in(TAMIS_CORRUPT, "not rediscms bytes");
    if (bytes != in->size)
        return tamis__bad_format("rediscms", "%llu by %llu cells make %llu bytes, not %llu",
                                 (unsigned long long)h.width, (unsigned long long)h.depth,
                                 (unsigned long long)bytes, (unsigned long long)in->size);
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, stored_bytes(out->body->word));
}

const tamis_format tamis__format_rediscms = {
    .name = "rediscms",
    .system = "RedisBloom count-min sketch, the fields of its RDB type",
    .kinds = "rediscms",
    .keys = "bytes utf8",
    .read = read,
    .write = write,
};
