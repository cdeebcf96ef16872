/* SPDX-License-Identifier: MIT */
/* fuse: the fastest of the kinds that are built once, at an eighth above the least size.
 *
 * A key has three cells of w bits (or four), and their xor is a fingerprint of the key. Non-members
 * find random bits there, so they are answered yes with probability 2^-w, whatever the number of
 * keys. Which cells, and how values are found that make all xors right, is in kinds/peel.h: the
 * binary fuse filter of Graf and Lemire (2022).
 *
 *     hash * segments = [ segment | rest ]          keys of a segment are peeled together
 *                         │       └─ strip, and mixed again: three cells, fingerprint
 *                         ▼
 *     payload:    segment 0 │ segment 1 │ ... │ where each starts
 *
 *     bits per key: 1.12 to 1.13 w from a million keys on (1.065 to 1.08 with four cells)
 *
 * Nothing can be added or removed later. */
#include <math.h>

#include "kinds/fuse_one.h"

enum { WIDTH = TAMIS_FUSE_WIDTH, ARITY = TAMIS_FUSE_ARITY };
enum { OPT_SEGMENT, OPT_WIDTH, OPT_ARITY };
enum { MAX_WIDTH = TAMIS_PEEL_MAX_GUARD };

static const struct tamis_option options[] = {
    TAMIS_SEGMENT_OPTION,
    {"width", NULL, 1, MAX_WIDTH, "by fpr or size", "bits of a fingerprint: the rate is 2^-width"},
    {"arity", NULL, 3, 4, "3", "cells that a key has: 4 saves a twentieth and is slower"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_peel_form form_of(const uint64_t word[]) {
    return (tamis_peel_form){
        .segments = word[TAMIS_SEGMENTS],
        .arity = (unsigned)word[ARITY],
        .guard_bits = (unsigned)word[WIDTH],
    };
}

/* Expected bytes for n keys. */
static uint64_t expect(const uint64_t word[], uint64_t keys) {
    return tamis__peel_expect(form_of(word), keys) +
           tamis__segment_offsets_size(word[TAMIS_SEGMENTS]);
}

/* The widest fingerprint with which the payload fits the size. Segments differ by chance: each is
 * planned with four standard deviations more keys. */
static tamis_status widest(uint64_t bits, uint64_t capacity, uint64_t word[]) {
    const uint64_t segments = word[TAMIS_SEGMENTS];
    const uint64_t spare = segments > 1 ? 4 * (uint64_t)sqrt((double)(capacity / segments)) : 0;
    uint64_t min = 0;
    for (word[WIDTH] = MAX_WIDTH; word[WIDTH] > 0; word[WIDTH]--) {
        min = expect(word, capacity + spare * segments);
        if (min <= bits / 8) return TAMIS_OK;
    }
    return tamis__fail(
        TAMIS_INVALID, "size=%llu is too small for %llu keys: fuse needs at least %llu",
        (unsigned long long)(bits / 8), (unsigned long long)capacity, (unsigned long long)min);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[TAMIS_SEGMENT_KEYS] = tamis__segment_keys(params);
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, params->capacity);
    word[ARITY] = tamis__chosen(params, OPT_ARITY, 3);
    if (params->has_option[OPT_WIDTH]) {
        word[WIDTH] = params->option[OPT_WIDTH];
    } else if (params->bits) {
        const tamis_status rc = widest(params->bits, params->capacity, word);
        if (rc) return rc;
    } else {
        word[WIDTH] = tamis__peel_guard_for(params->fpr);
        if (word[WIDTH] > MAX_WIDTH)
            return tamis__fail(TAMIS_INVALID, "fpr=%.3g is too low; the minimum for fuse is 2^-%d",
                               params->fpr, MAX_WIDTH);
    }
    word[TAMIS_SEGMENT_BYTES] = expect(word, params->capacity);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[WIDTH] < 1 || word[WIDTH] > MAX_WIDTH || word[ARITY] < 3 || word[ARITY] > 4)
        return tamis__fail(TAMIS_CORRUPT, "fuse cannot have %llu cells of %llu bits for a key",
                           (unsigned long long)word[ARITY], (unsigned long long)word[WIDTH]);
    return tamis__segments_check(word, 0, size);
}

static uint64_t probes(const uint64_t word[]) {
    return word[ARITY];
}

static double rate(const uint64_t word[], uint64_t items) {
    return items ? ldexp(1, -(int)word[WIDTH]) : 0;
}

static tamis_status audit(const tamis_body *f) {
    const tamis_peel_form form = form_of(f->word);
    uint64_t keys = 0;
    tamis_status rc = tamis__segments_audit(f, 0, TAMIS_PEEL_HEADER);
    for (uint64_t i = 0; i < form.segments && !rc; i++) {
        uint64_t size;
        const uint8_t *segment = tamis__segment(f, i, &size);
        rc = tamis__peel_audit(form, segment, size);
        keys += tamis__peel_keys(segment);
    }
    if (!rc && keys != f->items)
        rc = tamis__fail(TAMIS_CORRUPT, "damaged: segments of %llu keys, not %llu",
                         (unsigned long long)keys, (unsigned long long)f->items);
    return rc;
}

/* ---- Building ------------------------------------------------------------------------------- */

static uint64_t work(const uint64_t word[], uint64_t n) {
    return tamis__peel_work(form_of(word), n);
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    return tamis__peel_max_bytes(form_of(word), n);
}

static tamis_status make(const uint64_t word[], const tamis_segment *s, uint8_t *room, uint8_t *out,
                         uint64_t *size) {
    const tamis_peel_task task = {.hash = s->hash, .n = s->n, .stop = s->stop};
    return tamis__peel_make(form_of(word), &task, room, out, size);
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* After one segment without keys there is too little to read. */
static bool is_void(const tamis_fuse_scene *s) {
    return s->segments == 1 && s->graph.strips == 0;
}

#if TAMIS_HAS_X86
static bool is_quick(void) {
    const uint32_t needed = TAMIS_CPU_AVX512 | TAMIS_CPU_PRODUCTS;
    return (tamis__cpu() & needed) == needed;
}

/* For cells in the second cache the kernel is best everywhere. AMD's cores read so far ahead that
 * it is beyond that too, and that fetches pay from memory alone: ns per key with eight bits, Zen 5
 * with 32 MiB of third cache, without and with it: 10^6 keys 4.7 and 1.4, 10^7 4.8 and 2.2, 3*10^7
 * 7.9 and 5.7, 10^8 8.8 and 8.4. On Ice Lake cells beyond the second cache cost the same by both
 * ways. */
static bool suits_avx512(tamis_fuse_scene *s, uint64_t size) {
    if (!(tamis__cpu() & TAMIS_CPU_AVX512) || s->segments > UINT32_MAX) return false;
    if (!is_quick()) return s->is_near;
    s->is_near = size <= tamis__cache(TAMIS_CACHE_3) / 2;
    return true;
}
#endif

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    tamis_fuse_scene s = tamis__fuse_scene(f);
    if (is_void(&s)) {
        memset(hit, 0, b.n);
        return;
    }
#if TAMIS_HAS_X86
    if (suits_avx512(&s, f->size)) {
        tamis__fuse_query_avx512(&s, b.hash, b.n, hit);
        return;
    }
#endif
    tamis__fuse_query(&s, b.hash, b.n, hit);
}

static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_fuse_scene s = tamis__fuse_scene(f);
    if (is_void(&s)) return false;
    return s.arity == 3 ? tamis__fuse_has(&s, hash, false, 3, s.width)
                        : tamis__fuse_has(&s, hash, false, 4, s.width);
}

TAMIS_FUSE_ONES(tamis__fuse_ask, tamis_inline_xxh3)

static const tamis_fuse_ones plain_ones = TAMIS_FUSE_TABLE;

/* Without keys there is too little to read: has() knows that. */
static tamis_one one(const uint64_t word[]) {
    const uint64_t empty = TAMIS_PEEL_HEADER + tamis__segment_offsets_size(1);
    if (word[TAMIS_SEGMENTS] == 1 && word[TAMIS_SEGMENT_BYTES] <= empty) return (tamis_one){0};
#if TAMIS_HAS_X86
    if (is_quick()) return tamis__fuse_one_of(tamis__fuse_ones_avx512, word);
#endif
    return tamis__fuse_one_of(plain_ones, word);
}

/* A segment without keys is for the rule that looks at each of several. */
static bool inline_view(const tamis_body *f, struct tamis_inline *view) {
    const tamis_fuse_scene s = tamis__fuse_scene(f);
    const bool is_one = s.segments == 1 && s.graph.strips;
    view->rule = is_one ? TAMIS_INLINE_FUSE : TAMIS_INLINE_FUSE_SEGMENTS;
    view->arity = (uint8_t)s.arity;
    view->width = (uint8_t)s.width;
    view->blocks = is_one ? s.graph.strips : s.segments;
    view->turn = is_one ? s.graph.turn : (uint64_t)(s.offsets - s.bytes);
    view->log = (uint8_t)s.graph.log;
    if (is_one) view->bytes += TAMIS_PEEL_HEADER;
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_peel_form form = form_of(f->word);
    uint64_t keys = 0, cells = 0;
    (void)other;
    for (uint64_t i = 0; i < form.segments; i++) {
        const uint8_t *bytes = f->bytes + tamis__segment_start(f, i);
        const tamis_peel_graph g = tamis__peel_graph_of(bytes);
        keys += tamis__peel_keys(bytes);
        cells += tamis__peel_cells(&g, form.arity);
    }
    out->bits_set = keys;
    out->bits = cells ? cells : 1;
    out->fpr = rate(f->word, keys);
    out->items = (struct tamis_estimate){(double)keys, 0};
}

static const tamis_build build = {
    .rule = TAMIS_RECORDS_KEYS,
    .made = TAMIS_SEGMENT_MADE,
    .cut = TAMIS_SEGMENT_CUT,
    .fit = tamis__segments_by_records,
    .segment = tamis__segment_of,
    .work = work,
    .max = max,
    .make = make,
};

const tamis_kind tamis__fuse = {
    .name = "fuse",
    .contract = "built once: three probes, small and fast to ask, any number of keys",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "width", "arity"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .speed = &(const tamis_speed){.has = has, .one = one, .inline_view = inline_view},
    .build = &build,
};
