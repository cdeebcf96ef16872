/* SPDX-License-Identifier: MIT */
/* Sets of numbers, sorted and coded. */
#include "kinds/coded.h"

#include <math.h>

#include "bits/probe.h"
#include "kinds/bitmap.h"

/* A bucket has from this many to twice as many numbers on average. Fewer would be faster to read
 * but need more index, which takes 0.13 to 0.18 bits per key with these. */
enum { MIN_BUCKET = 45 };

/* The number of bits of x. */
static unsigned length_of(uint64_t x) {
    return x ? tamis__log2_floor(x) + 1 : 0;
}

/* ---- Parameters ----------------------------------------------------------------------------- */

/* One bit more of `rice` is one bit more for each number and about half as many ones. With random
 * gaps that pays once the mean gap is over 2^rice / ln(golden ratio), which is 133/64 times
 * 2^rice. */
unsigned tamis__coded_rice(uint64_t n, uint64_t range) {
    const uint64_t mean = n ? range / n : range, rest = n ? range % n : 0;
    if (mean >> 57) return TAMIS_CODED_MAX_RICE;
    const uint64_t in_64ths = mean * 64 + (n ? rest * 64 / n : 0);
    unsigned rice = 0;
    while (rice < TAMIS_CODED_MAX_RICE && (uint64_t)133 << rice < in_64ths) rice++;
    return rice;
}

static unsigned bucket_shift(uint64_t n, uint64_t range, unsigned rice) {
    const unsigned all = length_of(range - 1);
    const uint64_t mean = n ? range / n : range;
    unsigned shift = mean >> 56 ? all : length_of(MIN_BUCKET * mean);
    if (shift > all) shift = all;
    return shift > rice ? shift : rice;
}

/* The mean is rounded down, to no less than half of itself. */
static uint64_t max_buckets(uint64_t n) {
    return n / (MIN_BUCKET / 2) + 2;
}

uint64_t tamis__coded_work(const uint64_t word[], uint64_t n) {
    (void)word;
    return n * 8 + (max_buckets(n) + 1) * 8;
}

/* The ones are limited by the range, and so are the far gaps. With the best parameter there are at
 * most 2.1 ones and 0.13 far gaps per number, plus rounding. */
uint64_t tamis__coded_max_bytes(uint64_t n, uint64_t range, unsigned rice) {
    uint64_t bits;
    if (rice == TAMIS_CODED_BEST) {
        bits = n * (length_of(n ? range / n : 0) + 14);
    } else {
        const uint64_t ones = range >> rice, far = ones / TAMIS_CODED_FAR;
        const uint64_t max_near = n * (TAMIS_CODED_FAR - 1);
        bits = n * (rice + 1) + (ones < max_near ? ones : max_near) +
               (far < n ? far : n) * (TAMIS_CODED_FAR + 62 - rice);
    }
    const uint64_t anchors = tamis__coded_anchors(max_buckets(n));
    return TAMIS_CODED_HEAD + (anchors + max_buckets(n) + 1) * 8 + bits / 8 + 8;
}

/* ---- Encoding ------------------------------------------------------------------------------- */

typedef struct source {
    const uint64_t *number;
    uint64_t n;
    unsigned rice, shift;
} source;

static uint64_t gap_before(const source *s, uint64_t i) {
    const uint64_t start = s->number[i] >> s->shift << s->shift;
    const uint64_t min = i ? s->number[i - 1] + 1 : 0;
    return s->number[i] - (min > start ? min : start);
}

static unsigned code_length(const source *s, uint64_t gap) {
    const uint64_t ones = gap >> s->rice;
    return ones < TAMIS_CODED_FAR ? (unsigned)ones + 1 + s->rice : TAMIS_CODED_FAR + s->shift;
}

static uint64_t whole_length(source s, unsigned rice) {
    uint64_t bits = 0;
    s.rice = rice;
    for (uint64_t i = 0; i < s.n; i++) bits += code_length(&s, gap_before(&s, i));
    return bits;
}

/* From the parameter for even spreads to better neighbours, as long as there are any. */
static unsigned best_rice(const source *s, uint64_t range) {
    unsigned rice = tamis__coded_rice(s->n, range);
    if (rice > s->shift) rice = s->shift;
    uint64_t bits = whole_length(*s, rice), other;
    while (rice > 0 && (other = whole_length(*s, rice - 1)) < bits) bits = other, rice--;
    const unsigned max =
        s->shift < TAMIS_CODED_MAX_RICE ? s->shift : (unsigned)TAMIS_CODED_MAX_RICE;
    while (rice < max && (other = whole_length(*s, rice + 1)) < bits) bits = other, rice++;
    return rice;
}

/* Where the code of each bucket starts, and where the last ends. */
static void find_starts(const source *s, uint64_t buckets, uint64_t *start) {
    uint64_t at = 0, b = 0;
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t bucket = s->number[i] >> s->shift;
        while (b <= bucket) start[b++] = at;
        at += code_length(s, gap_before(s, i));
    }
    while (b <= buckets) start[b++] = at;
}

/* The last group may be short: its line is extended, so that it is as steep as the others. */
static void put_anchors(uint64_t buckets, const uint64_t *start, uint8_t *anchors) {
    const uint64_t last = buckets >> TAMIS_CODED_GROUP,
                   short_of = buckets - (last << TAMIS_CODED_GROUP);
    for (uint64_t i = 0; i <= last; i++)
        tamis__put64(anchors + i * 8, start[i << TAMIS_CODED_GROUP]);
    const uint64_t from = start[last << TAMIS_CODED_GROUP], rise = start[buckets] - from;
    const uint64_t whole = short_of ? (rise << TAMIS_CODED_GROUP) / short_of : 0;
    tamis__put64(anchors + (last + 1) * 8, from + whole);
}

/* Writes head and index; returns where the code begins. */
static uint8_t *put_index(const source *s, uint64_t buckets, const uint64_t *start, uint8_t *out) {
    uint8_t *anchors = out + TAMIS_CODED_HEAD,
            *fields = anchors + tamis__coded_anchors(buckets) * 8;
    uint64_t below = 0, above = 0;
    put_anchors(buckets, start, anchors);
    for (uint64_t b = 0; b <= buckets; b++) {
        const uint64_t line = tamis__coded_line(anchors, b);
        if (line > start[b] && line - start[b] > below) below = line - start[b];
        if (line < start[b] && start[b] - line > above) above = start[b] - line;
    }
    const unsigned width = below + above ? length_of(below + above) : 1;
    const uint64_t size = tamis__fields_size(buckets + 1, width);
    memset(out, 0, TAMIS_CODED_HEAD);
    tamis__put64(out, s->n);
    out[8] = (uint8_t)s->rice;
    out[9] = (uint8_t)s->shift;
    out[10] = (uint8_t)width;
    tamis__put64(out + 16, below);
    memset(fields, 0, (size_t)size);
    for (uint64_t b = 0; b <= buckets; b++)
        tamis__field_put(fields, b, width, start[b] + below - tamis__coded_line(anchors, b));
    return fields + size;
}

/* Into zeroed bits. */
static void put_bits(uint8_t *code, uint64_t at, unsigned width, uint64_t value) {
    if (width) tamis__bits_put(code, at, width, value);
}

static unsigned put_gap(const source *s, uint8_t *code, uint64_t at, uint64_t gap) {
    const unsigned length = code_length(s, gap);
    const uint64_t ones = gap >> s->rice;
    if (ones < TAMIS_CODED_FAR) {
        put_bits(code, at, (unsigned)ones + 1, tamis__coded_mask((unsigned)ones));
        put_bits(code, at + ones + 1, s->rice, gap & tamis__coded_mask(s->rice));
    } else {
        put_bits(code, at, TAMIS_CODED_FAR, tamis__coded_mask(TAMIS_CODED_FAR));
        put_bits(code, at + TAMIS_CODED_FAR, s->shift, gap);
    }
    return length;
}

uint64_t tamis__coded_make(const uint64_t *number, uint64_t n, uint64_t range, unsigned rice,
                           uint8_t *work, uint8_t *out) {
    uint64_t *start = (uint64_t *)(void *)work, at = 0;
    source s = {.number = number, .n = n, .rice = rice};
    s.shift = bucket_shift(n, range, rice == TAMIS_CODED_BEST ? 0 : rice);
    if (rice == TAMIS_CODED_BEST) s.rice = best_rice(&s, range);
    const uint64_t buckets = tamis__coded_buckets(range, s.shift);
    find_starts(&s, buckets, start);
    uint8_t *code = put_index(&s, buckets, start, out);
    const uint64_t size = tamis__fields_size(start[buckets], 1);
    memset(code, 0, (size_t)size);
    for (uint64_t i = 0; i < n; i++) at += put_gap(&s, code, at, gap_before(&s, i));
    return (uint64_t)(code - out) + size;
}

/* ---- The gate ------------------------------------------------------------------------------- */

static tamis_status damaged(const char *what) {
    return tamis__fail(TAMIS_CORRUPT, "damaged: %s", what);
}

/* The parameters are valid, and index and code have exactly the bytes given. */
static tamis_status audit_head(const uint8_t *bytes, uint64_t size, uint64_t range) {
    const unsigned rice = bytes[8], shift = bytes[9], width = bytes[10];
    if (rice > TAMIS_CODED_MAX_RICE || rice > shift || shift > 63 || width < 1 || width > 64 ||
        tamis__get64(bytes + 8) >> 24)
        return damaged("a coded set has invalid parameters");
    const uint64_t buckets = tamis__coded_buckets(range, shift);
    if (buckets >= size * 8) return damaged("the index of a coded set does not fit");
    const uint64_t index =
        tamis__coded_anchors(buckets) * 8 + tamis__fields_size(buckets + 1, width);
    if (index > size - TAMIS_CODED_HEAD) return damaged("the index of a coded set does not fit");
    const tamis_coded c = tamis__coded_at(bytes, range);
    const uint64_t code_size = size - TAMIS_CODED_HEAD - index;
    const uint64_t end = tamis__coded_start(&c, buckets);
    if (end > code_size * 8 || tamis__fields_size(end, 1) != code_size)
        return damaged("a coded set has the wrong size");
    if (!tamis__fields_end_clean(c.fields, buckets + 1, width) ||
        !tamis__fields_end_clean(c.code, end, 1))
        return damaged("bits are set after the end of a coded set");
    return TAMIS_OK;
}

/* Checks one bucket from *at on: numbers within it, each in its only encoding. */
static bool bucket_is_legal(const tamis_coded *c, uint64_t b, uint64_t range, uint64_t *at,
                            uint64_t *count) {
    const uint64_t end = tamis__coded_start(c, b + 1);
    const uint64_t limit = b + 1 < c->buckets ? (b + 1) << c->shift : range;
    uint64_t min = b << c->shift;
    if (tamis__coded_start(c, b) != *at || end > tamis__coded_start(c, c->buckets)) return false;
    while (*at < end) {
        const uint64_t all_ones = tamis__coded_mask(TAMIS_CODED_FAR);
        const bool is_far = (tamis__coded_bits(c, *at) & all_ones) == all_ones;
        const uint64_t gap = tamis__coded_gap(c, at);
        if (gap >= limit - min || *at > end) return false;
        if (is_far && gap >> c->rice < TAMIS_CODED_FAR) return false;
        min += gap + 1;
        ++*count;
        if (min == limit) break;
    }
    return *at == end;
}

tamis_status tamis__coded_audit(const uint8_t *bytes, uint64_t size, uint64_t range) {
    const tamis_status rc = audit_head(bytes, size, range);
    if (rc) return rc;
    const tamis_coded c = tamis__coded_at(bytes, range);
    uint64_t at = 0, count = 0;
    for (uint64_t b = 0; b < c.buckets; b++)
        if (!bucket_is_legal(&c, b, range, &at, &count))
            return tamis__fail(TAMIS_CORRUPT, "damaged: bucket %llu of a coded set",
                               (unsigned long long)b);
    return count == c.count ? TAMIS_OK : damaged("the count of a coded set is wrong");
}

/* ---- Sets in segments ------------------------------------------------------------------------ */

tamis_coded tamis__coded_segment(const tamis_body *f, const tamis_coded_shape *s, uint64_t i) {
    uint64_t size;
    return tamis__coded_at(tamis__segment(f, i, &size), tamis__coded_segment_range(s, i));
}

tamis_status tamis__coded_audit_all(const tamis_body *f, const tamis_coded_shape *s, uint64_t tail,
                                    uint64_t *count) {
    tamis_status rc = tamis__segments_audit(f, tail, TAMIS_CODED_HEAD);
    *count = 0;
    for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS] && !rc; i++) {
        uint64_t size;
        const uint8_t *bytes = tamis__segment(f, i, &size);
        rc = tamis__coded_audit(bytes, size, tamis__coded_segment_range(s, i));
        *count += tamis__get64(bytes);
    }
    return rc;
}

static void enter(tamis_coded_tour *t, uint64_t segment, uint64_t min) {
    t->segment = segment;
    t->set = tamis__coded_segment(t->f, &t->shape, segment);
    t->walk = tamis__coded_walk(&t->set, min >> t->set.shift);
}

tamis_coded_tour tamis__coded_tour(const tamis_body *f, const tamis_coded_shape *s) {
    tamis_coded_tour t = {.f = f, .shape = *s};
    enter(&t, 0, 0);
    return t;
}

bool tamis__coded_tour_next(tamis_coded_tour *t, uint64_t *number) {
    while (!tamis__coded_next(&t->set, &t->walk, number)) {
        if (t->segment + 1 == t->f->word[TAMIS_SEGMENTS]) return false;
        enter(t, t->segment + 1, 0);
    }
    *number += tamis__coded_first(&t->shape, t->segment);
    return true;
}

/* The cursor is the least number that may come next and, in the bits above it, its offset in the
 * code of its bucket. Where this does not fit, 0 means: read the bucket from its start. */
bool tamis__coded_list(const tamis_body *f, const tamis_coded_shape *s, uint64_t *cursor,
                       uint64_t *number) {
    const uint64_t numbers = s->range * s->labels;
    const unsigned bits = length_of(numbers);
    const uint64_t min = *cursor & tamis__coded_mask(bits), into = *cursor >> bits;
    if (min >= numbers) return false;
    tamis_coded_tour t = {.f = f, .shape = *s};
    enter(&t, min / s->labels >> s->shift, 0);
    const uint64_t first = tamis__coded_first(s, t.segment);
    t.walk = tamis__coded_walk(&t.set, (min - first) >> t.set.shift);
    if (into) t.walk.at += into, t.walk.min = min - first;
    do
        if (!tamis__coded_tour_next(&t, number)) return false;
    while (*number < min);
    const uint64_t gone = t.walk.at - tamis__coded_start(&t.set, t.walk.bucket);
    const bool is_inside = t.walk.at < t.walk.end && gone >> (64 - bits) == 0;
    *cursor = *number + 1 + (is_inside ? gone << bits : 0);
    return true;
}

/* ---- Planning ------------------------------------------------------------------------------- */

uint64_t tamis__coded_range(uint64_t keys, double fpr) {
    const double cells = ceil((double)(keys ? keys : 1) / fpr);
    return cells < (double)TAMIS_CODED_MAX_RANGE
               ? tamis__round_up((uint64_t)cells, 1, TAMIS_CODED_MAX_RANGE)
               : 0;
}

uint64_t tamis__coded_probes(const uint64_t word[]) {
    (void)word;
    return 32;
}

/* A non-member is a false positive when one of the keys is in its cell. */
double tamis__coded_rate(const uint64_t word[], uint64_t keys) {
    return keys ? -expm1((double)keys * log1p(-1 / (double)word[TAMIS_CODED_RANGE])) : 0;
}

unsigned tamis__coded_shift(uint64_t n, uint64_t range, uint64_t each) {
    const unsigned all = length_of(range - 1);
    if (n <= each || range / n >> 39) return all;
    const uint64_t cells = range >> 39 ? range / n * each : range * each / n;
    const unsigned shift = cells ? tamis__log2_floor(cells) : 0;
    return shift < all ? shift : all;
}

/* Bits per number, when d of them are spread over a range. A random gap is over k * 2^rice with
 * probability x^k, x = (1 - d/range)^(2^rice): k ones, or from 16 on the gap itself. In clumps
 * there may be as many ones as the range has room for. */
static double bits_each(double d, double range, const source *s, bool is_by_chance) {
    if (d == 0) return 0;
    if (!is_by_chance) return s->rice + 1 + ldexp(range / d, -(int)s->rice);
    const double x = exp(ldexp(log1p(-d / range), (int)s->rice));
    double bits = 0, here = 1; /* the probability of at least this many ones */
    for (unsigned ones = 0; ones < TAMIS_CODED_FAR; ones++, here *= x)
        bits += here * (1 - x) * (s->rice + 1 + ones);
    return bits + here * (TAMIS_CODED_FAR + s->shift);
}

/* Of n keys in U cells d = U (1 - (1 - 1/U)^n) are different. The ones of a number deviate by at
 * most 2.2, and a field of the index must hold the deviation of 64 buckets from their line. */
uint64_t tamis__coded_size(const tamis_coded_params *w, const tamis_coded_shape *s, double sigmas) {
    const double range = (double)s->range * (double)s->labels;
    const uint64_t numbers = s->range * s->labels;
    const double segments = (double)tamis__coded_segments(s->range, s->shift);
    const double d = w->n ? -range * expm1((double)w->n * log1p(-1 / range)) : 0;
    const bool is_best = w->rice == TAMIS_CODED_BEST;
    const unsigned rice = is_best ? tamis__coded_rice((uint64_t)d, numbers) : w->rice;
    const source code = {.rice = rice, .shift = bucket_shift((uint64_t)d, numbers, rice)};
    const double each = bits_each(d, range, &code, s->labels == 1 || sigmas == 0);
    const double buckets = (double)(numbers >> code.shift) + segments;
    const double stray = 2 * each * sqrt(fmin(64 * d / buckets, d)) + 1;
    const double index = buckets * (1 + ceil(log2(2 * stray)));
    const double bits = d * each + sigmas * 2.2 * sqrt(d) + index;
    const double size = bits / 8 + segments * (TAMIS_CODED_HEAD + 8 + 20) + 8;
    return size < (double)TAMIS_MAX_PAYLOAD_BYTES ? ((uint64_t)size + 7) / 8 * 8 : UINT64_MAX / 2;
}

static bool fits(const tamis_coded_params *w, uint64_t range, uint64_t labels, uint64_t size) {
    const double luck = 6;
    const tamis_coded_shape s = {range, labels, tamis__coded_shift(w->n, range, w->segment_keys)};
    return tamis__coded_size(w, &s, luck) <= size;
}

uint64_t tamis__coded_range_within(const tamis_coded_params *w, uint64_t labels, uint64_t size) {
    uint64_t low = 0, high = (TAMIS_CODED_MAX_RANGE - 1) / labels + 1;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (fits(w, middle, labels, size))
            low = middle;
        else
            high = middle;
    }
    /* Twelve digits are enough, and two machines' logarithms agree on them. */
    const unsigned top = length_of(low), kept = 12;
    return top > kept ? low >> (top - kept) << (top - kept) : low;
}
