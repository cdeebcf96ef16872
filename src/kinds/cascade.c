/* SPDX-License-Identifier: MIT */
/* cascade: exact on two lists, members and known-good keys, both known when it is built.
 *
 * Revoked certificates among all that were issued, blocked names among all that are registered:
 * queries for keys of the two lists are exact, others have a chosen rate. Two levels, both ribbons
 * of kinds/band.h over the keys of a segment:
 *
 *     key ──▶ level 1: filter of the members ──no──▶ no            rate p1
 *                       │ maybe
 *                       ▼
 *             level 2: one bit for each member, and for each       1: in, 0: not
 *                      known-good key that passes level 1
 *
 *     segment:  [ members u32 | words of level 1 u32 | level 1 | level 2 ]
 *
 * A non-member that passes level 1 gets either bit with the same probability: its rate is p1/2.
 * With r known-good keys per member the two levels have log2(1/p1) + 1 + r p1 bits per member.
 * Since rates between powers of two are on straight lines, the best p1 is a power of two itself,
 * that of the largest width with 2^width <= r. A chain of Bloom filters, as in Larisch et al.,
 * "CRLite" (2017), needs a bit or more beyond, and many probes for a member. */
#include <math.h>

#include "bits/probe.h"
#include "kinds/band.h"
#include "kinds/bitmap.h"
#include "kinds/segments.h"

enum { WIDTH = TAMIS_BAND_WIDTH, NARROW = TAMIS_BAND_NARROW };
enum {
    HEAD_BYTES = 8,
    GROUP = 32,
    PLANNED_GOOD = 2 /* known-good keys per member, before the lists are known */
};

static const struct tamis_option options[] = {TAMIS_SEGMENT_OPTION, {0}};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* The first level has the form that the words describe; the second must not start where it does. */
static const tamis_band_form level_2 = {.value_bits = 1, .salt = 0xd1b54a32d192ed03};

static bool has_level_1(const uint64_t word[]) {
    return word[WIDTH] != 0;
}

static uint64_t columns_for_lists(uint64_t members, uint64_t good) {
    uint64_t width = 0;
    while (members && width < TAMIS_BAND_MAX_GUARD && good >> (width + 1) >= members) width++;
    return width << 16;
}

static bool columns_for_nonmembers(double fpr, uint64_t *total) {
    *total = fpr < 0.5 ? tamis__band_columns_for(2 * fpr) : 0;
    return fpr >= 0.5 || *total;
}

/* Expected bytes. */
static uint64_t expect(const uint64_t word[], uint64_t members, uint64_t good) {
    const uint64_t segments = tamis__segments_for(word, members + good);
    const uint64_t passing = members ? (uint64_t)((double)good * tamis__band_word_rate(word)) : 0;
    const uint64_t first =
        has_level_1(word) ? tamis__band_expect(tamis__band_form_of(word), members, segments) : 0;
    return segments * HEAD_BYTES + first +
           tamis__band_expect(level_2, members + passing, segments) +
           tamis__segment_offsets_size(segments);
}

/* The most columns, at least `min`, that fit in the size. */
static tamis_status widest(uint64_t word[], uint64_t members, uint64_t good, uint64_t min,
                           uint64_t max) {
    uint64_t low = min, high = (uint64_t)TAMIS_BAND_MAX_GUARD << 16;
    tamis__band_set_columns(word, min);
    if (expect(word, members, good) > max)
        return tamis__fail(TAMIS_INVALID, "size must be at least %llu bytes for these lists",
                           (unsigned long long)expect(word, members, good));
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        tamis__band_set_columns(word, middle);
        if (expect(word, members, good) <= max)
            low = middle;
        else
            high = middle - 1;
    }
    tamis__band_set_columns(word, low);
    return TAMIS_OK;
}

static tamis_status shape(const tamis_params *params, uint64_t members, uint64_t good,
                          uint64_t word[]) {
    const uint64_t for_lists = columns_for_lists(members, good);
    uint64_t for_nonmembers;
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, members + good);
    if (params->bits) return widest(word, members, good, for_lists, params->bits / 8);
    if (!columns_for_nonmembers(params->fpr, &for_nonmembers))
        return tamis__fail(TAMIS_INVALID, "fpr=%.3g is too low for cascade; the minimum is 2^-%d",
                           params->fpr, TAMIS_BAND_MAX_GUARD + 1);
    tamis__band_set_columns(word, for_lists > for_nonmembers ? for_lists : for_nonmembers);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t members = params->capacity, good = members * PLANNED_GOOD;
    word[TAMIS_SEGMENT_KEYS] = tamis__segment_keys(params);
    const tamis_status rc = shape(params, members, good, word);
    if (rc) return rc;
    word[TAMIS_SEGMENT_BYTES] = expect(word, members, good);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[WIDTH] > TAMIS_BAND_MAX_GUARD || word[NARROW] >= 65536 ||
        (!has_level_1(word) && word[NARROW]))
        return tamis__fail(TAMIS_CORRUPT, "damaged: a cascade of %llu columns, %llu narrow",
                           (unsigned long long)word[WIDTH], (unsigned long long)word[NARROW]);
    return tamis__segments_check(word, 0, size);
}

/* Two words for each column. */
static uint64_t probes(const uint64_t word[]) {
    return 2 * word[WIDTH] + 2;
}

static double rate(const uint64_t word[], uint64_t items) {
    return items ? tamis__band_word_rate(word) / 2 : 0;
}

/* ---- Segments -------------------------------------------------------------------------------- */

static uint64_t members_of(const uint8_t *segment) {
    return tamis__get32(segment);
}

static const uint8_t *first_of(const uint8_t *segment) {
    return segment + HEAD_BYTES;
}

static const uint8_t *second_of(const uint8_t *segment) {
    return segment + HEAD_BYTES + (uint64_t)tamis__get32(segment + 4) * 8;
}

static bool is_sound(const uint64_t word[], const uint8_t *segment, uint64_t size) {
    const uint64_t members = members_of(segment), first = (uint64_t)tamis__get32(segment + 4) * 8;
    if (first > size - HEAD_BYTES) return false;
    if (has_level_1(word)) {
        if (tamis__band_audit(tamis__band_form_of(word), first_of(segment), first)) return false;
        if (tamis__band_keys(first_of(segment)) != members) return false;
    } else if (first) {
        return false;
    }
    if (tamis__band_audit(level_2, second_of(segment), size - HEAD_BYTES - first)) return false;
    const uint64_t bits = tamis__band_keys(second_of(segment));
    return members ? bits >= members : bits == 0;
}

static tamis_status audit(const tamis_body *f) {
    const tamis_status rc = tamis__segments_audit(f, 0, HEAD_BYTES + TAMIS_BAND_MIN);
    if (rc) return rc;
    for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS]; i++) {
        uint64_t size;
        const uint8_t *segment = tamis__segment(f, i, &size);
        if (!is_sound(f->word, segment, size))
            return tamis__fail(TAMIS_CORRUPT, "damaged: the levels of segment %llu",
                               (unsigned long long)i);
    }
    return TAMIS_OK;
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* The open queries of a group, and the locations of their rows. */
typedef struct group {
    tamis_band_aim aim[GROUP];
    uint8_t at[GROUP];
    size_t n;
} group;

static void aim_at_level_2(group *g, const tamis_body *f, const uint64_t *hash) {
    for (size_t j = 0; j < g->n; j++) {
        const uint64_t h = hash[g->at[j]];
        const uint8_t *segment = f->bytes + tamis__segment_start(f, tamis__segment_of(f->word, h));
        tamis__band_aim(&level_2, second_of(segment), h, &g->aim[j]);
    }
}

/* Only those that pass level 1 stay open. */
static void pass_level_1(group *g, const tamis_body *f, const uint64_t *hash) {
    const tamis_band_form form = tamis__band_form_of(f->word);
    const tamis_band_set first = tamis__band_set(f, HEAD_BYTES);
    uint8_t passes[GROUP];
    tamis__band_ask_all(&form, &first, hash, g->n, NULL, passes);
    size_t open = 0;
    for (size_t j = 0; j < g->n; j++) {
        g->at[open] = (uint8_t)j;
        open += passes[j];
    }
    g->n = open;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    group g;
    for (size_t some; b.n; b.hash += some, hit += some, b.n -= some) {
        some = b.n < GROUP ? b.n : GROUP;
        for (size_t j = 0; j < some; j++) g.at[j] = (uint8_t)j, hit[j] = 0;
        g.n = some;
        if (has_level_1(f->word)) pass_level_1(&g, f, b.hash);
        aim_at_level_2(&g, f, b.hash);
        for (size_t j = 0; j < g.n; j++) {
            uint64_t bit;
            hit[g.at[j]] = tamis__band_test(&level_2, &g.aim[j], &bit) && bit;
        }
    }
}

/* The rate of non-members, by the segment that one falls into; keys are the members. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const uint64_t segments = f->word[TAMIS_SEGMENTS];
    double members = 0, rates = 0;
    for (uint64_t i = 0; i < segments; i++) {
        const uint8_t *segment = f->bytes + tamis__segment_start(f, i);
        if (members_of(segment) == 0) continue;
        members += (double)members_of(segment);
        rates += has_level_1(f->word)
                     ? tamis__band_rate(tamis__band_form_of(f->word), first_of(segment))
                     : 1;
    }
    out->bits = f->size * 8;
    out->bits_set = tamis__bits_set(f, other);
    out->fpr = rates / 2 / (double)segments;
    out->items = (struct tamis_estimate){members, 0};
}

/* ---- Building ------------------------------------------------------------------------------- */

/* As in the plan, non-members with the hash of a member have their part of the rate. */
static tamis_status fit(const tamis_params *params, const tamis_census *census, uint64_t word[]) {
    tamis_params w = *params;
    if (w.fpr > 0) w.fpr -= ldexp((double)w.capacity, -64);
    return shape(&w, census->records - census->zeros, census->zeros, word);
}

/* Indices of the records of a level come first, then what their band needs. */
static uint64_t pick_size(uint64_t n) {
    return (n * sizeof(uint32_t) + 63) / 64 * 64;
}

static uint64_t work(const uint64_t word[], uint64_t n) {
    const uint64_t first = has_level_1(word) ? tamis__band_work(tamis__band_form_of(word), n) : 0;
    const uint64_t second = tamis__band_work(level_2, n);
    return pick_size(n) + (first > second ? first : second);
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    const uint64_t first =
        has_level_1(word) ? tamis__band_max_bytes(tamis__band_form_of(word), n) : 0;
    return HEAD_BYTES + first + tamis__band_max_bytes(level_2, n);
}

static tamis_status make_level_1(const uint64_t word[], const tamis_segment *s, uint32_t *pick,
                                 uint8_t *room, uint8_t *out, uint64_t *size) {
    size_t members = 0;
    *size = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->value[i]) pick[members++] = (uint32_t)i;
    tamis__put32(out, (uint32_t)members);
    if (!has_level_1(word)) return TAMIS_OK;
    const tamis_band_task task = {.hash = s->hash, .n = members, .pick = pick, .stop = s->stop};
    return tamis__band_make(tamis__band_form_of(word), &task, room, out + HEAD_BYTES, size);
}

/* Without members every answer is no, which takes no bits. */
static tamis_status make_level_2(const uint64_t word[], const tamis_segment *s, uint32_t *pick,
                                 uint8_t *room, uint8_t *out, uint64_t *size) {
    const tamis_band_form form = tamis__band_form_of(word);
    size_t n = 0;
    for (size_t i = 0; i < s->n && members_of(out); i++) {
        uint64_t none;
        if (s->value[i] || !has_level_1(word) ||
            tamis__band_ask(&form, first_of(out), s->hash[i], &none))
            pick[n++] = (uint32_t)i;
    }
    const tamis_band_task task = {
        .hash = s->hash, .value = s->value, .n = n, .pick = pick, .stop = s->stop};
    return tamis__band_make(level_2, &task, room, out + (second_of(out) - out), size);
}

static tamis_status make(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                         uint8_t *out, uint64_t *size) {
    uint32_t *pick = (uint32_t *)(void *)room;
    uint64_t first, second;
    room += pick_size(segment->n);
    tamis_status rc = make_level_1(word, segment, pick, room, out, &first);
    if (rc) return rc;
    tamis__put32(out + 4, (uint32_t)(first / 8));
    rc = make_level_2(word, segment, pick, room, out, &second);
    *size = HEAD_BYTES + first + second;
    return rc;
}

static const tamis_build building = {
    .rule = TAMIS_RECORDS_VALUES,
    .made = TAMIS_SEGMENT_MADE | 1 << WIDTH | 1 << NARROW,
    .cut = TAMIS_SEGMENT_CUT,
    .member = 1,
    .fit = fit,
    .segment = tamis__segment_of,
    .work = work,
    .max = max,
    .make = make,
};

const tamis_kind tamis__cascade = {
    .name = "cascade",
    .contract = "built once: exact on its members and on known-good keys, others at the rate",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "width", "narrow"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .build = &building,
};
