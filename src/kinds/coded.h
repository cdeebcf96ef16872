/* SPDX-License-Identifier: MIT */
/* For gcs, labels and tests: sets of numbers, sorted and coded, with an index.
 *
 * A set is distinct numbers below a range. The range is cut into buckets of 2^shift numbers, about
 * 60 of the set in each; a number is coded as its distance from the one before it in the
 * bucket, or from the bucket's start:
 *
 *     gap = number - (previous + 1)        the first one: number - start of the bucket
 *
 *     1 1 ... 1 0 | low bits of gap        gap >> rice ones, then 0, then `rice` bits
 *     1 1 ... 1   | gap                    sixteen ones: too far for that, `shift` bits
 *
 * This is the code of Golomb (1966) in Rice's form with an escape: where keys are clustered, the
 * few wide gaps between clusters would otherwise cost more than all the others. Starting again in
 * each bucket costs nothing: a distance from anywhere is as long as one from the last number.
 *
 * The index holds the start of each bucket in the code: exactly for each 64th, by an anchor, and
 * for the others as the distance from the straight line between two anchors, in fields as wide as
 * the largest needs.
 *
 *     start(b) = a + ((a' - a) * (b mod 64) >> 6) + field b - bias    a, a': anchors b/64, b/64 + 1
 *
 *     count | rice, shift, width | bias | anchors | fields of buckets 0, 1, ... and the end | code
 *
 * A query reads the index once and some thirty numbers. */
#ifndef TAMIS_KINDS_CODED_H
#define TAMIS_KINDS_CODED_H

#include "bits/packed.h"
#include "kinds/kind.h"
#include "kinds/segments.h"

enum {
    TAMIS_CODED_HEAD = 24,     /* bytes in front of the index */
    TAMIS_CODED_SLACK = 16,    /* bytes after the code that may be read, but not used */
    TAMIS_CODED_MAX_RICE = 56, /* fits one read of 8 bytes at any bit */
    TAMIS_CODED_FAR = 16,      /* ones that mark a far gap */
    TAMIS_CODED_GROUP = 6      /* buckets from anchor to anchor, as a power of two */
};

#define TAMIS_CODED_MAX_RANGE ((uint64_t)1 << 63) /* ranges are below */

typedef struct tamis_coded {
    const uint8_t *anchors, *fields, *code;
    uint64_t count, bias, buckets;
    unsigned rice, shift, width;
} tamis_coded;

/* ---- Encoding ------------------------------------------------------------------------------- */

/* The best parameter for n numbers spread evenly over a range. */
unsigned tamis__coded_rice(uint64_t n, uint64_t range);

/* tamis_build.work: n numbers, and what it takes to code them; and the bytes that they then take at
 * most. */
uint64_t tamis__coded_work(const uint64_t word[], uint64_t n);
uint64_t tamis__coded_max_bytes(uint64_t n, uint64_t range, unsigned rice);

/* Codes n ascending, distinct numbers below the range and returns the bytes of it. The parameter is
 * the given one or, with TAMIS_CODED_BEST, the one with the shortest result. */
enum { TAMIS_CODED_BEST = TAMIS_CODED_MAX_RICE + 1 };
uint64_t tamis__coded_make(const uint64_t *number, uint64_t n, uint64_t range, unsigned rice,
                           uint8_t *work, uint8_t *out);

/* ---- Reading -------------------------------------------------------------------------------- */

/* Checks untrusted bytes. The slack follows `size`. */
tamis_status tamis__coded_audit(const uint8_t *bytes, uint64_t size, uint64_t range);

static inline uint64_t tamis__coded_buckets(uint64_t range, unsigned shift) {
    return ((range - 1) >> shift) + 1;
}

/* One for each group, counting the end as a bucket, and one more. */
static inline uint64_t tamis__coded_anchors(uint64_t buckets) {
    return (buckets >> TAMIS_CODED_GROUP) + 2;
}

static inline tamis_coded tamis__coded_at(const uint8_t *bytes, uint64_t range) {
    tamis_coded c = {
        .anchors = bytes + TAMIS_CODED_HEAD,
        .count = tamis__get64(bytes),
        .rice = bytes[8],
        .shift = bytes[9],
        .width = bytes[10],
        .bias = tamis__get64(bytes + 16),
    };
    c.buckets = tamis__coded_buckets(range, c.shift);
    c.fields = c.anchors + tamis__coded_anchors(c.buckets) * 8;
    c.code = c.fields + tamis__fields_size(c.buckets + 1, c.width);
    return c;
}

static inline uint64_t tamis__coded_line(const uint8_t *anchors, uint64_t b) {
    const uint8_t *anchor = anchors + (b >> TAMIS_CODED_GROUP) * 8;
    const uint64_t from = tamis__get64(anchor), to = tamis__get64(anchor + 8);
    return from + ((to - from) * (b & ((1 << TAMIS_CODED_GROUP) - 1)) >> TAMIS_CODED_GROUP);
}

/* The first bit of a bucket; with b = buckets, the end of the code. */
static inline uint64_t tamis__coded_start(const tamis_coded *c, uint64_t b) {
    return tamis__coded_line(c->anchors, b) + tamis__field_get(c->fields, b, c->width) - c->bias;
}

/* The same for b and, in *end, for the next bucket: mostly one line and two fields at once. */
TAMIS_HOT uint64_t tamis__coded_bounds(const tamis_coded *c, uint64_t b, uint64_t *end) {
    const uint64_t group = (1 << TAMIS_CODED_GROUP) - 1, i = b & group;
    if (i == group || c->width > 28) {
        *end = tamis__coded_start(c, b + 1);
        return tamis__coded_start(c, b);
    }
    const uint8_t *anchor = c->anchors + (b >> TAMIS_CODED_GROUP) * 8;
    const uint64_t from = tamis__get64(anchor), rise = tamis__get64(anchor + 8) - from;
    const uint64_t bit = b * c->width, mask = tamis__field_mask(c->width);
    const uint64_t fields = tamis__get64(c->fields + (bit >> 3)) >> (bit & 7);
    const uint64_t base = from - c->bias;
    *end = base + (rise * (i + 1) >> TAMIS_CODED_GROUP) + (fields >> c->width & mask);
    return base + (rise * i >> TAMIS_CODED_GROUP) + (fields & mask);
}

/* Bits from `at` on: at least 57. */
TAMIS_HOT uint64_t tamis__coded_bits(const tamis_coded *c, uint64_t at) {
    return tamis__get64(c->code + (at >> 3)) >> (at & 7);
}

TAMIS_HOT uint64_t tamis__coded_mask(unsigned bits) {
    return ((uint64_t)1 << bits) - 1;
}

/* The gap that is coded at *at, which advances. */
TAMIS_HOT uint64_t tamis__coded_gap(const tamis_coded *c, uint64_t *at) {
    const uint64_t bits = tamis__coded_bits(c, *at), enough = (uint64_t)1 << TAMIS_CODED_FAR;
    const unsigned ones = (unsigned)__builtin_ctzll(~bits | enough);
    if (ones < TAMIS_CODED_FAR) {
        const bool is_here = ones + 1 + c->rice <= 57;
        const uint64_t low = is_here ? bits >> (ones + 1) : tamis__coded_bits(c, *at + ones + 1);
        *at += ones + 1 + c->rice;
        return (uint64_t)ones << c->rice | (low & tamis__coded_mask(c->rice));
    }
    const unsigned half = c->shift < 32 ? c->shift : 32;
    const uint64_t low = bits >> TAMIS_CODED_FAR & tamis__coded_mask(half);
    const uint64_t high = tamis__coded_bits(c, *at + TAMIS_CODED_FAR + half);
    *at += TAMIS_CODED_FAR + c->shift;
    return low | (high & tamis__coded_mask(c->shift - half)) << half;
}

/* A position between numbers: all numbers below `min` are before it. */
typedef struct tamis_coded_walk {
    uint64_t bucket, at, end, min;
} tamis_coded_walk;

static inline tamis_coded_walk tamis__coded_walk(const tamis_coded *c, uint64_t bucket) {
    return (tamis_coded_walk){bucket, tamis__coded_start(c, bucket),
                              tamis__coded_start(c, bucket + 1), bucket << c->shift};
}

/* The next number, through all buckets; false when there is none. */
TAMIS_HOT bool tamis__coded_next(const tamis_coded *c, tamis_coded_walk *w, uint64_t *number) {
    while (w->at >= w->end) {
        if (w->bucket + 1 >= c->buckets) return false;
        *w = tamis__coded_walk(c, w->bucket + 1);
    }
    *number = w->min + tamis__coded_gap(c, &w->at);
    w->min = *number + 1;
    return true;
}

/* Skips the numbers of a bucket that are below `min`: as many as surely fit one read of 8 bytes, or
 * one that may not fit. Reading once per number took up to a quarter longer. */
TAMIS_HOT void tamis__coded_skip(const tamis_coded *c, tamis_coded_walk *w, uint64_t min) {
    const uint64_t enough = (uint64_t)1 << TAMIS_CODED_FAR, mask = tamis__coded_mask(c->rice);
    const unsigned max = TAMIS_CODED_FAR + c->rice; /* bits of a gap that is not too far */
    while (w->at < w->end) {
        uint64_t bits = tamis__coded_bits(c, w->at), stop = w->at;
        if (max < 57) stop += 57 - max + 1;
        if (stop > w->end) stop = w->end;
        const uint64_t from = w->at;
        while (w->at < stop) {
            const unsigned ones = (unsigned)__builtin_ctzll(~bits | enough);
            const uint64_t number =
                w->min + ((uint64_t)ones << c->rice | (bits >> (ones + 1) & mask));
            if (ones == TAMIS_CODED_FAR) break;
            if (number >= min) return;
            w->min = number + 1;
            w->at += ones + 1 + c->rice;
            bits >>= ones + 1 + c->rice;
        }
        if (w->at != from) continue;
        tamis_coded_walk one = *w;
        uint64_t number;
        if (!tamis__coded_next(c, &one, &number) || number >= min) return;
        *w = one;
    }
}

/* The first number from `min` on, and the walk after it; false when there is none. */
TAMIS_HOT bool tamis__coded_find(const tamis_coded *c, uint64_t min, tamis_coded_walk *w,
                                 uint64_t *number) {
    *w = tamis__coded_walk(c, min >> c->shift);
    tamis__coded_skip(c, w, min);
    return tamis__coded_next(c, w, number);
}

/* ---- Sets in segments ------------------------------------------------------------------------ */

/* A hash becomes a cell, scale(hash, range), and a cell has as many numbers as there are labels (1
 * for a plain set): number = cell * labels + label. A segment is a run of 2^shift cells, so that
 * everything follows from the cell, and a listed hash can replace the original. The range times the
 * labels is below 2^63. */
typedef struct tamis_coded_shape {
    uint64_t range, labels;
    unsigned shift;
} tamis_coded_shape;

static inline uint64_t tamis__coded_segments(uint64_t range, unsigned shift) {
    return ((range - 1) >> shift) + 1;
}

/* Numbers that the i-th segment may have. */
static inline uint64_t tamis__coded_segment_range(const tamis_coded_shape *s, uint64_t i) {
    const uint64_t left = s->range - (i << s->shift), cells = (uint64_t)1 << s->shift;
    return (left < cells ? left : cells) * s->labels;
}

/* The i-th segment, and the number that it starts with. */
tamis_coded tamis__coded_segment(const tamis_body *, const tamis_coded_shape *, uint64_t i);

static inline uint64_t tamis__coded_first(const tamis_coded_shape *s, uint64_t i) {
    return (i << s->shift) * s->labels;
}

/* All segments of a payload with such a tail; *count becomes the number of numbers. */
tamis_status tamis__coded_audit_all(const tamis_body *, const tamis_coded_shape *, uint64_t tail,
                                    uint64_t *count);

/* The numbers of all segments, in order. */
typedef struct tamis_coded_tour {
    const tamis_body *f;
    tamis_coded_shape shape;
    uint64_t segment;
    tamis_coded set;
    tamis_coded_walk walk;
} tamis_coded_tour;

tamis_coded_tour tamis__coded_tour(const tamis_body *, const tamis_coded_shape *);
bool tamis__coded_tour_next(tamis_coded_tour *, uint64_t *number);

/* The same without a tour kept by the caller, for tamis_kind.next. */
bool tamis__coded_list(const tamis_body *, const tamis_coded_shape *, uint64_t *cursor,
                       uint64_t *number);

/* ---- Planning ------------------------------------------------------------------------------- */

/* Cells for n keys at this rate, 0 when there would be 2^63 or more. */
uint64_t tamis__coded_range(uint64_t keys, double fpr);

/* Entries of gcs and labels, whose first own word is the range: numbers read for an answer, or
 * before the first label, on average; and the rate of a set of so many keys. */
enum { TAMIS_CODED_RANGE = TAMIS_SEGMENT_WORDS };
uint64_t tamis__coded_probes(const uint64_t word[]);
double tamis__coded_rate(const uint64_t word[], uint64_t keys);

/* The largest segments, as a power of two of cells, that have at most about `each` of n numbers. */
unsigned tamis__coded_shift(uint64_t n, uint64_t range, uint64_t each);

/* Payload bytes of n evenly spread numbers, without a tail. With `sigmas` over 0, an upper bound by
 * that many standard deviations. */
typedef struct tamis_coded_params {
    uint64_t n, segment_keys;
    unsigned rice; /* or TAMIS_CODED_BEST */
} tamis_coded_params;

uint64_t tamis__coded_size(const tamis_coded_params *, const tamis_coded_shape *, double sigmas);

/* The most cells for which that fits the size, with `labels` given; 0 when nothing does. */
uint64_t tamis__coded_range_within(const tamis_coded_params *, uint64_t labels, uint64_t size);

#endif
