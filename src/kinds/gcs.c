/* SPDX-License-Identifier: MIT */
/* gcs: a sorted list of short hashes, coded: the smallest simple kind.
 *
 * Putze, Sanders and Singler (2007) store a set like this, and Bitcoin's compact block filters (BIP
 * 158, 2017) send it: scale every hash to a number below U = capacity / fpr, sort, and code the
 * distances. They are random, which is what the code of Golomb (1966) is best for.
 *
 *     hash ──scale──▶ cell, 0 to U-1              a non-member hits a taken cell: rate n/U
 *
 *     cells   . . x . . . . x x . . . . . . . x . .        x: taken
 *     gaps        2         4 0               7            coded, see kinds/coded.h
 *
 * That takes log2(1/fpr) + 1.5 bits per key. An index of less than 0.2 bits more, which Bitcoin's
 * filters lack, lets a query read some thirty gaps instead of all of them. The cells can be listed:
 * two filters merge, and keys are added later, without the old keys. */
#include <math.h>

#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/coded.h"
#include "kinds/fp_table.h"
#include "kinds/gcs.h"

enum { RANGE = TAMIS_CODED_RANGE, RICE, SHIFT };
enum { OPT_SEGMENT, OPT_RANGE, OPT_RICE, OPT_M, OPT_COUNT };

static const struct tamis_option options[] = {
    TAMIS_SEGMENT_OPTION,
    {"range", NULL, 1, TAMIS_CODED_MAX_RANGE - 1, "capacity/fpr",
     "cells that hashes are scaled to"},
    {"rice", NULL, 0, TAMIS_CODED_MAX_RICE, "the best", "low bits of a gap, Golomb's parameter"},
    {"m", NULL, 1, (uint64_t)1 << 50, "1/fpr", "cells for each key of the capacity"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_coded_shape shape_of(const uint64_t word[]) {
    return (tamis_coded_shape){word[RANGE], 1, (unsigned)word[SHIFT]};
}

static uint64_t keys_of(const tamis_params *params) {
    return params->capacity ? params->capacity : 1;
}

static tamis_status out_of_reach(const tamis_params *params) {
    const uint64_t keys = keys_of(params);
    if (params->has_option[OPT_M])
        return tamis__fail(TAMIS_INVALID, "m=%llu is too large: %llu keys can have up to %llu",
                           (unsigned long long)params->option[OPT_M], (unsigned long long)keys,
                           (unsigned long long)((TAMIS_CODED_MAX_RANGE - 1) / keys));
    return tamis__fail(TAMIS_INVALID,
                       "fpr=%.3g is too low for gcs; with %llu keys the minimum is %.3g",
                       params->fpr, (unsigned long long)keys, ldexp((double)keys, -63));
}

static uint64_t range_for(const tamis_params *params, const tamis_coded_params *coded) {
    const uint64_t keys = keys_of(params), m = params->option[OPT_M];
    if (params->has_option[OPT_RANGE]) return params->option[OPT_RANGE];
    if (params->has_option[OPT_M]) return m <= (TAMIS_CODED_MAX_RANGE - 1) / keys ? m * keys : 0;
    if (params->fpr > 0) return tamis__coded_range(keys, params->fpr);
    return tamis__coded_range_within(coded, 1, params->bits / 8);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_coded_params coded = {
        .n = params->capacity,
        .segment_keys = tamis__segment_keys(params),
        .rice = (unsigned)tamis__chosen(params, OPT_RICE, TAMIS_CODED_BEST),
    };
    word[TAMIS_SEGMENT_KEYS] = coded.segment_keys;
    word[RANGE] = range_for(params, &coded);
    if (!word[RANGE] && params->bits)
        return tamis__fail(TAMIS_INVALID, "size=%llu is too small for %llu keys in gcs",
                           (unsigned long long)(params->bits / 8), (unsigned long long)coded.n);
    if (!word[RANGE]) return out_of_reach(params);
    word[RICE] = coded.rice == TAMIS_CODED_BEST ? tamis__coded_rice(keys_of(params), word[RANGE])
                                                : coded.rice;
    word[SHIFT] = tamis__coded_shift(coded.n, word[RANGE], coded.segment_keys);
    word[TAMIS_SEGMENTS] = tamis__coded_segments(word[RANGE], (unsigned)word[SHIFT]);
    const tamis_coded_shape shape = shape_of(word);
    word[TAMIS_SEGMENT_BYTES] = tamis__coded_size(&coded, &shape, 0);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[RANGE] == 0 || word[RANGE] >= TAMIS_CODED_MAX_RANGE || word[SHIFT] > 63 ||
        word[RICE] > TAMIS_CODED_MAX_RICE ||
        word[TAMIS_SEGMENTS] != tamis__coded_segments(word[RANGE], (unsigned)word[SHIFT]))
        return tamis__fail(TAMIS_CORRUPT, "damaged: gcs cannot have %llu cells in %llu segments",
                           (unsigned long long)word[RANGE],
                           (unsigned long long)word[TAMIS_SEGMENTS]);
    return tamis__segments_check(word, 0, size);
}

static tamis_status audit(const tamis_body *f) {
    const tamis_coded_shape shape = shape_of(f->word);
    uint64_t count;
    tamis_status rc = tamis__coded_audit_all(f, &shape, 0, &count);
    for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS] && !rc; i++)
        if (tamis__coded_segment(f, &shape, i).rice != f->word[RICE])
            rc = tamis__fail(TAMIS_CORRUPT, "damaged: segment %llu has another coding",
                             (unsigned long long)i);
    return rc;
}

/* ---- Building ------------------------------------------------------------------------------- */

/* The shape does not depend on the records: equal words make filters that merge. */
static tamis_status fit(const tamis_params *params, const tamis_census *census, uint64_t word[]) {
    (void)params, (void)census, (void)word;
    return TAMIS_OK;
}

static uint64_t segment(const uint64_t word[], uint64_t hash) {
    return tamis__range(hash, word[RANGE]) >> word[SHIFT];
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    const tamis_coded_shape shape = shape_of(word);
    return tamis__coded_max_bytes(n, tamis__coded_segment_range(&shape, 0), (unsigned)word[RICE]);
}

static tamis_status make(const uint64_t word[], const tamis_segment *s, uint8_t *work, uint8_t *out,
                         uint64_t *size) {
    const tamis_coded_shape shape = shape_of(word);
    const uint64_t first = tamis__coded_first(&shape, s->index);
    uint64_t *number = (uint64_t *)(void *)work, n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t x = tamis__range(s->hash[i], shape.range) - first;
        if (n == 0 || number[n - 1] != x) number[n++] = x;
    }
    *size = tamis__coded_make(number, n, tamis__coded_segment_range(&shape, s->index),
                              (unsigned)word[RICE], work + s->n * 8, out);
    return TAMIS_OK;
}

/* ---- Querying and listing ------------------------------------------------------------------- */

/* The sets of a few segments, decoded once for many queries. */
enum { KNOWN = 32 };

typedef struct reader {
    const tamis_body *f;
    tamis_coded_shape shape;
    uint64_t segment[KNOWN]; /* plus 1 */
    tamis_coded set[KNOWN];
} reader;

TAMIS_HOT const tamis_coded *set_of(reader *r, uint64_t segment) {
    const uint64_t slot = segment % KNOWN;
    if (r->segment[slot] != segment + 1) {
        r->set[slot] = tamis__coded_segment(r->f, &r->shape, segment);
        r->segment[slot] = segment + 1;
    }
    return &r->set[slot];
}

/* The offsets of the index entries for each query's bucket. */
static void ask_for_index(reader *r, const uint64_t *hash, size_t n, uint64_t *cell) {
    for (size_t j = 0; j < n; j++) {
        cell[j] = tamis__range(hash[j], r->shape.range);
        const tamis_coded *set = set_of(r, cell[j] >> r->shape.shift);
        const uint64_t bucket = (cell[j] & tamis__coded_mask(r->shape.shift)) >> set->shift;
        __builtin_prefetch(set->anchors + (bucket >> TAMIS_CODED_GROUP) * 8, 0, 2);
        __builtin_prefetch(set->fields + (bucket * set->width >> 3), 0, 2);
    }
}

/* A query in progress. */
typedef struct question {
    uint64_t at, left; /* as in tamis_gcs_list */
    int64_t rest;
} question;

/* Its bucket, as far as it will be read if numbers are spread evenly, and 64 bits more. Always
 * inlined: gcc 12 drops calls of functions that only prefetch. */
TAMIS_HOT void ask_for_code(const uint8_t *bytes, question q, unsigned shift) {
    const uint64_t rest = (uint64_t)q.rest,
                   part = shift > 16 ? rest >> (shift - 16) : rest << (16 - shift);
    const uint64_t bits = (q.left * part >> 16) + 64;
    const uint8_t *first = bytes + (q.at >> 3);
    const uint8_t *last = bytes + ((q.at + (bits < q.left ? bits : q.left)) >> 3);
    __builtin_prefetch(first, 0, 2);
    __builtin_prefetch(last - first < 64 ? last : first + 64, 0, 2);
    __builtin_prefetch(last, 0, 2);
}

TAMIS_HOT question question_of(const tamis_body *f, const tamis_coded *set, uint64_t within) {
    const uint64_t bucket = within >> set->shift;
    uint64_t end;
    const uint64_t start = tamis__coded_bounds(set, bucket, &end);
    return (question){.at = (uint64_t)(set->code - f->bytes) * 8 + start,
                      .left = end - start,
                      .rest = (int64_t)(within - (bucket << set->shift))};
}

/* Gap by gap to the answer; `shift` is that of the bucket. While a gap is as short as most are,
 * only its length delays the next one: some five cycles. */
static bool read_on(const tamis_body *f, question q, unsigned shift) {
    const unsigned rice = (unsigned)f->word[RICE], max = TAMIS_CODED_FAR + rice;
    const tamis_coded code = {.code = f->bytes, .rice = rice, .shift = shift};
    const uint64_t end = q.at + q.left, low_bits = tamis__coded_mask(rice);
    uint64_t rest = (uint64_t)q.rest;
    while (q.at < end) {
        uint64_t window = ~tamis__coded_bits(&code, q.at), stop = q.at + (max < 57 ? 58 - max : 0);
        if (stop > end) stop = end;
        const uint64_t from = q.at;
        while (q.at < stop) {
            const unsigned head = (unsigned)__builtin_ctzll(window | (uint64_t)1 << 63) + 1;
            if (head > TAMIS_CODED_FAR) break;
            const uint64_t gap = ((uint64_t)head << rice) - (window >> head & low_bits) - 1;
            if (gap >= rest) return gap == rest;
            rest -= gap + 1;
            q.at += head + rice;
            window >>= head + rice;
        }
        if (q.at != from) continue;
        const uint64_t gap = tamis__coded_gap(&code, &q.at);
        if (gap >= rest) return gap == rest;
        rest -= gap + 1;
    }
    return false;
}

/* A single key waits for each gap before the next: windows would not help it. */
static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_coded_shape shape = shape_of(f->word);
    const uint64_t cell = tamis__range(hash, shape.range);
    const tamis_coded set = tamis__coded_segment(f, &shape, cell >> shape.shift);
    const question q = question_of(f, &set, cell & tamis__coded_mask(shape.shift));
    __builtin_prefetch(f->bytes + ((q.at + q.left) >> 3));
    return read_on(f, q, set.shift);
}

static void open_all(reader *r, const uint64_t *cell, size_t n, tamis_gcs_list *open) {
    const uint64_t within = tamis__coded_mask(r->shape.shift);
    for (size_t j = 0; j < n; j++) {
        const tamis_coded *set = set_of(r, cell[j] >> r->shape.shift);
        const question q = question_of(r->f, set, cell[j] & within);
        ask_for_code(r->f->bytes, q, set->shift);
        tamis__gcs_put(open, j, q.at, q.left, q.rest, (uint16_t)j);
    }
    for (size_t j = n; j < n + TAMIS_GCS_LANES; j++) tamis__gcs_put(open, j, 0, 0, 0, 0);
    open->n = n;
}

static void next_round(const uint8_t *bytes, unsigned rice, tamis_gcs_asked *q) {
    tamis__gcs_plain_round(bytes, rice, q);
}

static tamis_gcs_round *rounds(void) {
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX512) return tamis__gcs_avx512;
    if (tamis__cpu() & TAMIS_CPU_AVX2) return tamis__gcs_avx2;
#endif
    return next_round;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    enum { GROUP = TAMIS_GCS_GROUP };
    tamis_gcs_round *const round = rounds();
    reader r = {.f = f, .shape = shape_of(f->word)};
    tamis_gcs_asked q;
    uint64_t cell[GROUP];
    if (!tamis__gcs_gaps((unsigned)f->word[RICE])) {
        for (size_t j = 0; j < b.n; j++) hit[j] = has(f, b.hash[j]);
        return;
    }
    for (size_t group; b.n > 1; b.hash += group, hit += group, b.n -= group) {
        group = b.n < GROUP ? b.n : GROUP;
        ask_for_index(&r, b.hash, group, cell);
        open_all(&r, cell, group, &q.open);
        q.late.n = q.found_count = 0;
        while (q.open.n) round(f->bytes, (unsigned)f->word[RICE], &q);
        memset(hit, 0, group);
        for (size_t i = 0; i < q.found_count; i++) hit[q.found[i]] = 1;
        for (size_t i = 0; i < q.late.n; i++) {
            const uint16_t who = q.late.who[i];
            const question late = {q.late.at[i], q.late.left[i], q.late.rest[i]};
            hit[who] = read_on(f, late, set_of(&r, cell[who] >> r.shape.shift)->shift);
        }
    }
    if (b.n) *hit = has(f, *b.hash);
}

static bool next(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    const tamis_coded_shape shape = shape_of(f->word);
    uint64_t cell;
    if (!tamis__coded_list(f, &shape, cursor, &cell)) return false;
    *hash = tamis__unscale(shape.range, cell, 0);
    *count = 1;
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Cells taken in one of the two. */
static uint64_t count_both(const tamis_body *f, const tamis_body *other,
                           const tamis_coded_shape *shape) {
    tamis_coded_tour a = tamis__coded_tour(f, shape), b = tamis__coded_tour(other, shape);
    uint64_t count = 0, x, y;
    bool has_x = tamis__coded_tour_next(&a, &x), has_y = tamis__coded_tour_next(&b, &y);
    for (; has_x || has_y; count++) {
        const bool takes_x = has_x && (!has_y || x <= y), takes_y = has_y && (!has_x || y <= x);
        if (takes_x) has_x = tamis__coded_tour_next(&a, &x);
        if (takes_y) has_y = tamis__coded_tour_next(&b, &y);
    }
    return count;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_coded_shape shape = shape_of(f->word);
    out->bits = shape.range;
    if (other)
        out->bits_set = count_both(f, other, &shape);
    else
        for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS]; i++)
            out->bits_set += tamis__coded_segment(f, &shape, i).count;
    out->fpr = (double)out->bits_set / (double)out->bits;
    out->items = tamis__table_items(out->bits_set, (double)shape.range);
}

static const tamis_build build = {
    .rule = TAMIS_RECORDS_KEYS,
    .made = 1 << TAMIS_SEGMENT_BYTES,
    .cut = TAMIS_SEGMENT_CUT | 1 << TAMIS_SEGMENTS | 1 << SHIFT,
    .fit = fit,
    .segment = segment,
    .work = tamis__coded_work,
    .max = max,
    .make = make,
};

const tamis_kind tamis__gcs = {
    .name = "gcs",
    .contract =
        "built once; log2(1/fpr) + 1.7 bits per key, lists and merges, reads 32 gaps to answer",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "range", "rice", "shift"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__coded_probes,
    .rate = tamis__coded_rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .next = next,
    .speed = &(const tamis_speed){.has = has},
    .build = &build,
};
