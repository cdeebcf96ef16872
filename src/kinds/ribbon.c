/* SPDX-License-Identifier: MIT */
/* ribbon: the smallest filter, for keys that are all known in advance.
 *
 * Each key gets an equation over 64 neighbouring rows of a bit matrix, which is solved once, when
 * the filter is built; a query sums those rows and compares the result with a fingerprint of the
 * key. A key costs a row, so that with w columns a filter of rate 2^-w has hardly more than w bits
 * per key, the minimum for any filter.
 *
 *     hash ──range──▶ segment ──mix──▶ x = [ start s ... | guard g ]         c = 64 coefficients
 *
 *         blocks of 64 rows   | w words | w words | w words | ...          a word is a column
 *         c shifted to s                 └──c low──┘└─c high┘
 *         for each column     parity(low & word) ^ parity(high & next word) = its bit of g
 *
 * Rates between two powers of two come from blocks of w - 1 columns before those of w: the share of
 * the hash that leads there is chosen to the 65536th. kinds/band.h describes the band of rows and
 * how it is solved.
 * Dillinger, Huebschle-Schneider, Sanders and Walzer, "Fast Succinct Retrieval and Approximate
 * Membership Using Ribbon" (2022). */
#include <math.h>

#include "kinds/band.h"
#include "kinds/bitmap.h"
#include "kinds/ribbon.h"
#include "kinds/segments.h"

enum { WIDTH = TAMIS_BAND_WIDTH, NARROW = TAMIS_BAND_NARROW };
enum { OPT_SEGMENT, OPT_WIDTH, OPT_NARROW };

static const struct tamis_option options[] = {
    TAMIS_SEGMENT_OPTION,
    {"width", NULL, 1, TAMIS_BAND_MAX_GUARD, "by fpr or size", "columns: bits of a fingerprint"},
    {"narrow", NULL, 0, 65535, "by fpr or size, 0 with width",
     "keys with one column less, in 65536ths of all"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Expected bytes for so many keys in the segments that they need. */
static uint64_t expect(const uint64_t word[], uint64_t keys) {
    const uint64_t segments = tamis__segments_for(word, keys);
    return tamis__band_expect(tamis__band_form_of(word), keys, segments) +
           tamis__segment_offsets_size(segments);
}

/* The most columns with which `keys` keys fit into a size. */
static tamis_status widest(uint64_t word[], uint64_t keys, uint64_t max) {
    uint64_t low = 0, high = (uint64_t)TAMIS_BAND_MAX_GUARD << 16;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        tamis__band_set_columns(word, middle);
        if (expect(word, keys) <= max)
            low = middle;
        else
            high = middle - 1;
    }
    tamis__band_set_columns(word, low ? low : 1);
    if (low) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "size must be at least %llu bytes for this many keys",
                       (unsigned long long)expect(word, keys));
}

/* The width when only the narrow part is given: the least for a rate, the most for a size. */
static tamis_status width_beside_narrow(const tamis_params *params, uint64_t word[]) {
    const double share = 1 + (double)params->option[OPT_NARROW] / 65536;
    word[NARROW] = params->option[OPT_NARROW];
    if (params->bits) {
        for (word[WIDTH] = TAMIS_BAND_MAX_GUARD; word[WIDTH] > 0; word[WIDTH]--)
            if (expect(word, params->capacity) <= params->bits / 8) return TAMIS_OK;
    } else {
        for (word[WIDTH] = 1; word[WIDTH] <= TAMIS_BAND_MAX_GUARD; word[WIDTH]++)
            if (ldexp(share, -(int)word[WIDTH]) <= params->fpr) return TAMIS_OK;
    }
    return tamis__fail(TAMIS_INVALID, "no width from 1 to %d is enough with narrow=%llu",
                       TAMIS_BAND_MAX_GUARD, (unsigned long long)word[NARROW]);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[TAMIS_SEGMENT_KEYS] = tamis__segment_keys(params);
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, params->capacity);
    if (params->has_option[OPT_WIDTH]) {
        word[WIDTH] = params->option[OPT_WIDTH];
        word[NARROW] = params->option[OPT_NARROW];
    } else if (params->has_option[OPT_NARROW]) {
        const tamis_status rc = width_beside_narrow(params, word);
        if (rc) return rc;
    } else if (params->bits) {
        const tamis_status rc = widest(word, params->capacity, params->bits / 8);
        if (rc) return rc;
    } else {
        const uint64_t columns = tamis__band_columns_for(params->fpr);
        if (!columns)
            return tamis__fail(TAMIS_INVALID,
                               "fpr=%.3g is too low for ribbon; the minimum is 2^-%d", params->fpr,
                               TAMIS_BAND_MAX_GUARD);
        tamis__band_set_columns(word, columns);
    }
    word[TAMIS_SEGMENT_BYTES] = expect(word, params->capacity);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[WIDTH] == 0 || word[WIDTH] > TAMIS_BAND_MAX_GUARD || word[NARROW] >= 65536)
        return tamis__fail(TAMIS_CORRUPT, "damaged: a ribbon of %llu columns, %llu narrow",
                           (unsigned long long)word[WIDTH], (unsigned long long)word[NARROW]);
    return tamis__segments_check(word, 0, size);
}

/* Two words for each column. */
static uint64_t probes(const uint64_t word[]) {
    return 2 * word[WIDTH];
}

static double rate(const uint64_t word[], uint64_t items) {
    return items ? tamis__band_word_rate(word) : 0;
}

static tamis_status audit(const tamis_body *f) {
    tamis_status rc = tamis__segments_audit(f, 0, TAMIS_BAND_MIN);
    for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS] && !rc; i++) {
        uint64_t size;
        const uint8_t *band = tamis__segment(f, i, &size);
        rc = tamis__band_audit(tamis__band_form_of(f->word), band, size);
    }
    return rc;
}

/* ---- Querying ------------------------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_band_form form = tamis__band_form_of(f->word);
    const tamis_band_set set = tamis__band_set(f, 0);
    tamis__band_ask_all(&form, &set, b.hash, b.n, NULL, hit);
}

static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_band_form form = tamis__band_form_of(f->word);
    const tamis_band_set set = tamis__band_set(f, 0);
    uint64_t none;
    return tamis__band_ask(&form, tamis__band_of(&set, hash), hash, &none);
}

static tamis_one one(const uint64_t word[]) {
    (void)word;
#if TAMIS_HAS_X86
    const uint32_t needed = TAMIS_CPU_AVX512 | TAMIS_CPU_PRODUCTS;
    if ((tamis__cpu() & needed) == needed) return tamis__ribbon_one_avx512(word);
#endif
    return (tamis_one){0};
}

/* Keys are known exactly, and so is the rate of a non-member: by the segment it falls into. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const uint64_t segments = f->word[TAMIS_SEGMENTS];
    double keys = 0, rates = 0;
    for (uint64_t i = 0; i < segments; i++) {
        const uint8_t *band = f->bytes + tamis__segment_start(f, i);
        keys += (double)tamis__band_keys(band);
        rates += tamis__band_rate(tamis__band_form_of(f->word), band);
    }
    out->bits = f->size * 8;
    out->bits_set = tamis__bits_set(f, other);
    out->fpr = rates / (double)segments;
    out->items = (struct tamis_estimate){keys, 0};
}

/* ---- Building ------------------------------------------------------------------------------- */

static uint64_t work(const uint64_t word[], uint64_t n) {
    return tamis__band_work(tamis__band_form_of(word), n);
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    return tamis__band_max_bytes(tamis__band_form_of(word), n);
}

static tamis_status make(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                         uint8_t *out, uint64_t *size) {
    const tamis_band_task task = {.hash = segment->hash, .n = segment->n, .stop = segment->stop};
    return tamis__band_make(tamis__band_form_of(word), &task, room, out, size);
}

static const tamis_build building = {
    .rule = TAMIS_RECORDS_KEYS,
    .made = TAMIS_SEGMENT_MADE,
    .cut = TAMIS_SEGMENT_CUT,
    .fit = tamis__segments_by_records,
    .segment = tamis__segment_of,
    .work = work,
    .max = max,
    .make = make,
};

const tamis_kind tamis__ribbon = {
    .name = "ribbon",
    .contract = "built once: the smallest, within half a percent of the least there can be",
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
    .speed = &(const tamis_speed){.has = has, .one = one},
    .build = &building,
};
