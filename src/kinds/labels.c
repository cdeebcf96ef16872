/* SPDX-License-Identifier: MIT */
/* labels: many named sets in one image; which of them have a key?
 *
 * A pair of a key and a label is one number: the key's cell, as in gcs, times the number of labels,
 * plus the label. All pairs of all sets, sorted and coded, are one list, in which the labels of a
 * key are adjacent:
 *
 *     hash ──scale──▶ cell, 0 to U-1                U = keys of the largest label / fpr
 *
 *     number = cell * labels + label
 *
 *     ... │ cell 7:  . . x . x . . │ cell 8:  . . . . . . . │ cell 9:  x . . . . . . │ ...
 *                        2   4                                         0
 *
 * A non-member gets each label with probability n/U, n being the label's keys: at most fpr, for
 * every label by itself. The index is that of kinds/coded.h, so that one query reads one place for
 * all labels, ten or ten thousand; with a filter for each label it would take one query per label.
 * The pairs can be listed: labels and keys are added later without the old keys. */
#include <math.h>

#include "bits/probe.h"
#include "kinds/bitmap.h"
#include "kinds/coded.h"
#include "kinds/fp_table.h"

enum { RANGE = TAMIS_CODED_RANGE, SHIFT, LABELS, NAMES, LARGEST };
enum { OPT_SEGMENT, OPT_RANGE, OPT_COUNT };
enum { MAX_LABELS = 1 << 24, MAX_NAME = 255 };

static const struct tamis_option options[] = {
    TAMIS_SEGMENT_OPTION,
    {"range", NULL, 1, TAMIS_CODED_MAX_RANGE - 1, "capacity/fpr",
     "cells that hashes are scaled to"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Without any label there is no number, but the arithmetic works. */
static uint64_t labels_at_least(uint64_t labels) {
    return labels ? labels : 1;
}

static tamis_coded_shape shape_of(const uint64_t word[]) {
    return (tamis_coded_shape){word[RANGE], labels_at_least(word[LABELS]), (unsigned)word[SHIFT]};
}

/* Names, each with its NUL, and where each starts, both in whole words. */
static uint64_t padded(uint64_t bytes) {
    return (bytes + 7) / 8 * 8;
}

static uint64_t tail_size(const uint64_t word[]) {
    return padded(word[NAMES]) + padded(word[LABELS] * 4);
}

/* Everything that the number of pairs and labels decides. */
static tamis_status lay_out(const tamis_coded_params *coded, uint64_t word[]) {
    if (word[RANGE] > (TAMIS_CODED_MAX_RANGE - 1) / labels_at_least(word[LABELS]))
        return tamis__fail(TAMIS_INVALID, "%llu labels of %llu cells are too many: over 2^63",
                           (unsigned long long)word[LABELS], (unsigned long long)word[RANGE]);
    word[SHIFT] = tamis__coded_shift(coded->n, word[RANGE], coded->segment_keys);
    word[TAMIS_SEGMENTS] = tamis__coded_segments(word[RANGE], (unsigned)word[SHIFT]);
    return TAMIS_OK;
}

static tamis_status find_range(const tamis_params *params, const tamis_coded_params *coded,
                               uint64_t word[]) {
    const uint64_t keys = labels_at_least(params->capacity), tail = tail_size(word);
    const uint64_t size = params->bits / 8 > tail ? params->bits / 8 - tail : 0;
    if (params->has_option[OPT_RANGE])
        word[RANGE] = params->option[OPT_RANGE];
    else if (params->bits)
        word[RANGE] = tamis__coded_range_within(coded, labels_at_least(word[LABELS]), size);
    else
        word[RANGE] = tamis__coded_range(keys, params->fpr);
    if (word[RANGE]) return TAMIS_OK;
    if (params->bits)
        return tamis__fail(TAMIS_INVALID, "size=%llu is too small for %llu keys in %llu labels",
                           (unsigned long long)(params->bits / 8), (unsigned long long)coded->n,
                           (unsigned long long)word[LABELS]);
    return tamis__fail(TAMIS_INVALID,
                       "fpr=%.3g is too low for labels; with %llu keys the minimum is %.3g",
                       params->fpr, (unsigned long long)keys, ldexp((double)keys, -63));
}

static tamis_coded_params coded_params(uint64_t pairs, const uint64_t word[]) {
    return (tamis_coded_params){pairs, word[TAMIS_SEGMENT_KEYS], TAMIS_CODED_BEST};
}

/* For one label, because their number is not known yet. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[TAMIS_SEGMENT_KEYS] = tamis__segment_keys(params);
    word[LABELS] = 1;
    word[NAMES] = sizeof "default";
    const tamis_coded_params coded = coded_params(params->capacity, word);
    tamis_status rc = find_range(params, &coded, word);
    if (!rc) rc = lay_out(&coded, word);
    if (rc) return rc;
    const tamis_coded_shape shape = shape_of(word);
    word[TAMIS_SEGMENT_BYTES] = tamis__coded_size(&coded, &shape, 0) + tail_size(word);
    return TAMIS_OK;
}

static tamis_status fit(const tamis_params *params, const tamis_census *census, uint64_t word[]) {
    word[LABELS] = census->labels;
    word[NAMES] = census->names;
    word[LARGEST] = census->leader;
    const tamis_coded_params coded = coded_params(census->records, word);
    const tamis_status rc = params && params->bits ? find_range(params, &coded, word) : TAMIS_OK;
    return rc ? rc : lay_out(&coded, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const uint64_t labels = word[LABELS], names = word[NAMES];
    if (labels > MAX_LABELS || names < 2 * labels || names > labels * (MAX_NAME + 1) ||
        word[LARGEST] > (labels ? labels - 1 : 0))
        return tamis__fail(TAMIS_CORRUPT, "damaged: %llu labels with %llu bytes of names",
                           (unsigned long long)labels, (unsigned long long)names);
    if (word[RANGE] == 0 || word[SHIFT] > 63 ||
        word[RANGE] > (TAMIS_CODED_MAX_RANGE - 1) / labels_at_least(labels) ||
        word[TAMIS_SEGMENTS] != tamis__coded_segments(word[RANGE], (unsigned)word[SHIFT]))
        return tamis__fail(TAMIS_CORRUPT, "damaged: labels cannot have %llu cells in %llu segments",
                           (unsigned long long)word[RANGE],
                           (unsigned long long)word[TAMIS_SEGMENTS]);
    return tamis__segments_check(word, tail_size(word), size);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static const uint8_t *names_of(const tamis_body *f) {
    return f->bytes + tamis__segment_start(f, f->word[TAMIS_SEGMENTS]);
}

static const uint8_t *name_starts(const tamis_body *f) {
    return names_of(f) + padded(f->word[NAMES]);
}

static uint64_t count_labels(const tamis_body *f) {
    return f->word[LABELS];
}

static const char *name(const tamis_body *f, uint64_t label) {
    return (const char *)names_of(f) + tamis__get32(name_starts(f) + label * 4);
}

static bool is_zero(const uint8_t *from, const uint8_t *to) {
    while (from < to && *from == 0) from++;
    return from == to;
}

/* Checks each name in order, as the builder does. */
static tamis_status audit_names(const tamis_body *f) {
    const uint8_t *names = names_of(f), *starts = name_starts(f);
    const uint64_t size = f->word[NAMES], labels = f->word[LABELS];
    uint64_t at = 0;
    bool is_legal = true;
    for (uint64_t i = 0; i < labels && is_legal; i++) {
        const uint64_t from = at;
        is_legal = tamis__get32(starts + i * 4) == from;
        while (at < size && names[at] >= 0x20 && names[at] != 0x7f) at++;
        is_legal = is_legal && at < size && names[at] == 0 && at > from && at - from <= MAX_NAME;
        at++;
    }
    if (is_legal && at == size && is_zero(names + size, starts) &&
        is_zero(starts + labels * 4, starts + padded(labels * 4)))
        return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "damaged: the names of labels");
}

static tamis_status audit(const tamis_body *f) {
    const tamis_coded_shape shape = shape_of(f->word);
    uint64_t count;
    const tamis_status rc = tamis__coded_audit_all(f, &shape, tail_size(f->word), &count);
    if (rc) return rc;
    if (count && f->word[LABELS] == 0)
        return tamis__fail(TAMIS_CORRUPT, "damaged: keys without a label");
    return audit_names(f);
}

/* ---- Building ------------------------------------------------------------------------------- */

static uint64_t segment(const uint64_t word[], uint64_t hash) {
    return tamis__range(hash, word[RANGE]) >> word[SHIFT];
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    const tamis_coded_shape shape = shape_of(word);
    return tamis__coded_max_bytes(n, tamis__coded_segment_range(&shape, 0), TAMIS_CODED_BEST);
}

/* Shell's sort, for the pairs of a cell: those of one key are already in order. */
static void sort(uint64_t *number, uint64_t n) {
    uint64_t step = 1;
    while (step < n / 3) step = step * 3 + 1;
    for (; step; step /= 3)
        for (uint64_t i = step; i < n; i++) {
            const uint64_t x = number[i];
            uint64_t at = i;
            for (; at >= step && number[at - step] > x; at -= step) number[at] = number[at - step];
            number[at] = x;
        }
}

/* Sorts the last cell, which starts at `from`, and drops duplicates; returns the end. */
static uint64_t close_cell(uint64_t *number, uint64_t from, uint64_t end) {
    uint64_t kept = from;
    sort(number + from, end - from);
    for (uint64_t i = from; i < end; i++)
        if (i == from || number[i] != number[kept - 1]) number[kept++] = number[i];
    return kept;
}

static tamis_status make(const uint64_t word[], const tamis_segment *s, uint8_t *work, uint8_t *out,
                         uint64_t *size) {
    const tamis_coded_shape shape = shape_of(word);
    const uint64_t first = s->index << shape.shift;
    uint64_t *number = (uint64_t *)(void *)work, n = 0, from = 0, cell = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t next_cell = tamis__range(s->hash[i], shape.range) - first;
        if (next_cell != cell) from = n = close_cell(number, from, n);
        cell = next_cell;
        number[n++] = cell * shape.labels + s->value[i];
    }
    n = close_cell(number, from, n);
    *size = tamis__coded_make(number, n, tamis__coded_segment_range(&shape, s->index),
                              TAMIS_CODED_BEST, work + s->n * 8, out);
    return TAMIS_OK;
}

/* ---- Querying and listing ------------------------------------------------------------------- */

static size_t find(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    const tamis_coded_shape shape = shape_of(f->word);
    const uint64_t cell = tamis__range(hash, shape.range);
    const tamis_coded set = tamis__coded_segment(f, &shape, cell >> shape.shift);
    const uint64_t first = (cell & tamis__coded_mask(shape.shift)) * shape.labels;
    tamis_coded_walk walk;
    uint64_t number;
    size_t n = 0;
    bool is_there = tamis__coded_find(&set, first, &walk, &number);
    for (; is_there && number - first < shape.labels; n++) {
        if (n < room) label[n] = number - first;
        is_there = tamis__coded_next(&set, &walk, &number);
    }
    return n;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_coded_shape shape = shape_of(f->word);
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t cell = tamis__range(b.hash[i], shape.range);
        const tamis_coded set = tamis__coded_segment(f, &shape, cell >> shape.shift);
        const uint64_t first = (cell & tamis__coded_mask(shape.shift)) * shape.labels;
        tamis_coded_walk walk;
        uint64_t number;
        hit[i] = tamis__coded_find(&set, first, &walk, &number) && number - first < shape.labels;
    }
}

static bool next(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *label) {
    const tamis_coded_shape shape = shape_of(f->word);
    uint64_t number;
    if (!tamis__coded_list(f, &shape, cursor, &number)) return false;
    *hash = tamis__unscale(shape.range, number / shape.labels, 0);
    *label = number % shape.labels;
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Cells of a filter one by one, with counts. */
typedef struct cells {
    tamis_coded_tour tour;
    uint64_t number, cell;
    bool is_there;
    uint64_t largest, pairs, of_largest;
} cells;

static void next_cell(cells *c) {
    const uint64_t labels = c->tour.shape.labels, end = (c->cell + 1) * labels;
    for (; c->is_there && c->number < end; c->pairs++) {
        c->of_largest += c->number - c->cell * labels == c->largest;
        c->is_there = tamis__coded_tour_next(&c->tour, &c->number);
    }
    c->cell = c->is_there ? c->number / labels : 0;
}

static cells first_cell(const tamis_body *f) {
    const tamis_coded_shape shape = shape_of(f->word);
    cells c = {.tour = tamis__coded_tour(f, &shape), .largest = f->word[LARGEST]};
    c.is_there = tamis__coded_tour_next(&c.tour, &c.number);
    c.cell = c.is_there ? c.number / shape.labels : 0;
    return c;
}

/* Keys are counted by their cells, whatever labels they have: filters with different labels can
 * still estimate how many keys they share. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    cells a = first_cell(f), b = other ? first_cell(other) : (cells){.is_there = false};
    uint64_t taken = 0;
    for (; a.is_there || b.is_there; taken++) {
        const bool takes_a = a.is_there && (!b.is_there || a.cell <= b.cell);
        const bool takes_b = b.is_there && (!a.is_there || b.cell <= a.cell);
        if (takes_a) next_cell(&a);
        if (takes_b) next_cell(&b);
    }
    out->bits = f->word[RANGE] * labels_at_least(f->word[LABELS]);
    out->bits_set = a.pairs;
    out->fpr = (double)a.of_largest / (double)f->word[RANGE];
    out->items = tamis__table_items(taken, (double)f->word[RANGE]);
}

static const tamis_build build = {
    .rule = TAMIS_RECORDS_LABELS,
    .made = TAMIS_SEGMENT_MADE | 1 << SHIFT | 1 << LABELS | 1 << NAMES | 1 << LARGEST,
    .cut = TAMIS_SEGMENT_CUT | 1 << SHIFT,
    .fit = fit,
    .segment = segment,
    .work = tamis__coded_work,
    .max = max,
    .make = make,
};

static const tamis_label_facet labels = {.find = find, .count = count_labels, .name = name};

const tamis_kind tamis__labels = {
    .name = "labels",
    .contract = "built once; many named sets in one, each with the rate; one question for all",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "range", "shift", "labels", "names", "largest"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE,
    .plan = plan,
    .check = check,
    .probes = tamis__coded_probes,
    .rate = tamis__coded_rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .next = next,
    .build = &build,
    .special = &(const tamis_special){.labels = &labels},
};
