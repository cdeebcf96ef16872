/* SPDX-License-Identifier: MIT */
/* Sorted, coded sets, and the kind gcs on them.
 *
 * A reader that knows only the format reads the code back bit by bit; the kind is checked against
 * the list of its cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/coded.h"
#include "kinds/segments.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { RANGE = TAMIS_SEGMENT_WORDS, RICE, SHIFT };

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts, and removes duplicates. */
static size_t make_distinct(uint64_t *list, size_t n) {
    size_t kept = 0;
    qsort(list, n, sizeof *list, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    return kept;
}

/* ---- Coded sets ----------------------------------------------------------------------------- */

typedef struct coded {
    uint64_t *number, range, size;
    size_t n;
    uint8_t *bytes; /* exactly `size`, plus the slack */
} coded;

/* Ways: 0 even, 1 in clumps, 2 consecutive, 3 at both ends. */
static size_t spread(uint64_t way, uint64_t seed, size_t n, uint64_t range, uint64_t *list) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t any = tamis__range(test_number(seed, i), range);
        const uint64_t clump = tamis__range(test_number(seed, i / 50), range);
        list[i] = any;
        if (way == 1) list[i] = clump + i % 50 < range ? clump + i % 50 : clump;
        if (way == 2) list[i] = i % range;
        if (way == 3) list[i] = i % 2 ? range - 1 - i / 2 % range : i / 2 % range;
    }
    return make_distinct(list, n);
}

static coded make_coded(uint64_t way, size_t n, uint64_t range, unsigned rice) {
    coded c = {.number = malloc((n + 1) * sizeof *c.number), .range = range};
    assert_non_null(c.number);
    c.n = spread(way, 7 * range + n, n, range, c.number);
    const uint64_t max = tamis__coded_max_bytes(c.n, range, rice);
    uint8_t *work = malloc((size_t)tamis__coded_work(NULL, c.n)), *out = malloc((size_t)max);
    assert_true(work && out);
    memset(out, 0xa5, (size_t)max);
    c.size = tamis__coded_make(c.number, c.n, range, rice, work, out);
    assert_true(c.size <= max && c.size % 8 == 0);
    c.bytes = malloc((size_t)c.size + TAMIS_CODED_SLACK);
    assert_non_null(c.bytes);
    memcpy(c.bytes, out, (size_t)c.size);
    memset(c.bytes + c.size, 0xff, TAMIS_CODED_SLACK);
    free(work);
    free(out);
    return c;
}

static void free_coded(coded *c) {
    free(c->number);
    free(c->bytes);
}

static uint64_t plain_bits(const uint8_t *bytes, uint64_t *at, unsigned n) {
    uint64_t x = 0;
    for (unsigned i = 0; i < n; i++, ++*at) x |= (uint64_t)(bytes[*at / 8] >> *at % 8 & 1) << i;
    return x;
}

/* Reads by the format, word for word. */
static void read_plainly(const coded *c) {
    const unsigned rice = c->bytes[8], shift = c->bytes[9], width = c->bytes[10];
    const uint64_t buckets = ((c->range - 1) >> shift) + 1, bias = tamis__get64(c->bytes + 16);
    const uint8_t *anchors = c->bytes + 24, *fields = anchors + (buckets / 64 + 2) * 8;
    const uint8_t *code = fields + ((buckets + 1) * width + 63) / 64 * 8;
    uint64_t at = 0, field = 0;
    size_t n = 0;
    assert_int_equal(tamis__get64(c->bytes), c->n);
    for (uint64_t b = 0; b <= buckets; b++) {
        const uint64_t a0 = tamis__get64(anchors + b / 64 * 8);
        const uint64_t a1 = tamis__get64(anchors + b / 64 * 8 + 8);
        const uint64_t start =
            a0 + (a1 - a0) * (b % 64) / 64 + plain_bits(fields, &field, width) - bias;
        assert_int_equal(start, at);
        for (uint64_t min = b << shift; n < c->n && c->number[n] >> shift == b; n++) {
            uint64_t ones = 0;
            while (ones < 16 && plain_bits(code, &at, 1)) ones++;
            const uint64_t gap = ones == 16 ? plain_bits(code, &at, shift)
                                            : ones << rice | plain_bits(code, &at, rice);
            assert_int_equal(min + gap, c->number[n]);
            min = c->number[n] + 1;
        }
    }
    assert_int_equal(n, c->n);
    assert_int_equal((uint64_t)(code - c->bytes) + (at + 63) / 64 * 8, c->size);
}

static void ask_coded(const coded *c) {
    const tamis_coded set = tamis__coded_at(c->bytes, c->range);
    tamis_coded_walk walk = tamis__coded_walk(&set, 0);
    uint64_t number;
    size_t n = 0;
    for (; tamis__coded_next(&set, &walk, &number); n++) assert_int_equal(number, c->number[n]);
    assert_int_equal(n, c->n);
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t x = c->number[i];
        assert_true(tamis__coded_find(&set, x, &walk, &number) && number == x);
        if (x > 0 && (i == 0 || c->number[i - 1] != x - 1))
            assert_true(tamis__coded_find(&set, x - 1, &walk, &number) && number == x);
        if (i + 1 < c->n) assert_true(tamis__coded_next(&set, &walk, &number));
    }
    if (c->n && c->number[c->n - 1] + 1 < c->range)
        assert_false(tamis__coded_find(&set, c->number[c->n - 1] + 1, &walk, &number));
}

static void sets_come_back(void **state) {
    static const uint64_t ranges[] = {
        1, 2, 3, 64, 65, 1000, 1 << 16, 1000003, (uint64_t)1 << 40, ((uint64_t)1 << 63) - 1};
    static const size_t counts[] = {0, 1, 2, 3, 44, 45, 46, 100, 1000, 3000};
    static const unsigned rices[] = {0, 5, 19, TAMIS_CODED_MAX_RICE, TAMIS_CODED_BEST};
    (void)state;
    for (size_t r = 0; r < COUNT_OF(ranges); r++)
        for (size_t k = 0; k < COUNT_OF(counts); k++)
            for (uint64_t way = 0; way < 4; way++)
                for (size_t p = 0; p < COUNT_OF(rices); p++) {
                    coded c = make_coded(way, counts[k], ranges[r], rices[p]);
                    assert_int_equal(tamis__coded_audit(c.bytes, c.size, c.range), TAMIS_OK);
                    read_plainly(&c);
                    ask_coded(&c);
                    free_coded(&c);
                }
}

/* A flipped bit is refused, or gives another valid set. */
static void flipped_sets_are_refused_or_sound(void **state) {
    (void)state;
    unsigned accepted = 0, tried = 0;
    for (uint64_t way = 0; way < 2; way++) {
        coded c = make_coded(way, 200, 50000, TAMIS_CODED_BEST);
        for (uint64_t bit = 0; bit < c.size * 8; bit++, tried++) {
            c.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (!tamis__coded_audit(c.bytes, c.size, c.range)) {
                const tamis_coded set = tamis__coded_at(c.bytes, c.range);
                tamis_coded_walk walk = tamis__coded_walk(&set, 0);
                uint64_t number, count = 0, min = 0;
                for (; tamis__coded_next(&set, &walk, &number); count++, min = number + 1)
                    assert_true(number >= min && number < c.range);
                assert_int_equal(count, set.count);
                accepted++;
            }
            c.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(tamis__coded_audit(c.bytes, c.size, c.range), TAMIS_OK);
        for (uint64_t size = TAMIS_CODED_HEAD; size < c.size; size += 8)
            assert_int_equal(tamis__coded_audit(c.bytes, size, c.range), TAMIS_CORRUPT);
        free_coded(&c);
    }
    assert_true(accepted > 0 && accepted < tried * 3 / 4); /* low bits of a gap may be anything */
}

/* An encoding of a gap that the writer does not use is refused. */
static void only_far_gaps_are_written_far(void **state) {
    (void)state;
    const uint64_t number = 1000;
    coded c = {.range = 1 << 20, .n = 1};
    uint8_t work[64], bytes[128] = {0};
    c.size = tamis__coded_make(&number, 1, c.range, 4, work, bytes);
    const tamis_coded set = tamis__coded_at(bytes, c.range);
    assert_int_equal(tamis__get64(set.code), 0xffff | 1000 << 16);
    assert_int_equal(tamis__coded_audit(bytes, c.size, c.range), TAMIS_OK);
    tamis__put64((uint8_t *)set.code, 0xffff | 255 << 16); /* 255 >> 4 is 15: near */
    assert_int_equal(tamis__coded_audit(bytes, c.size, c.range), TAMIS_CORRUPT);
    tamis__put64((uint8_t *)set.code, 0xffff | 256 << 16);
    assert_int_equal(tamis__coded_audit(bytes, c.size, c.range), TAMIS_OK);
}

/* The rule is the best for even spreads: no other parameter shortens the expected code by more than
 * rounding to 133/64 costs. */
static void the_rule_is_the_best(void **state) {
    (void)state;
    for (double mean = 1.5; mean < 1e9; mean *= 1.37) {
        const uint64_t n = 1000000, range = (uint64_t)(mean * (double)n);
        const unsigned rule = tamis__coded_rice(n, range);
        double bits[2] = {INFINITY, 0};
        for (unsigned rice = 0; rice < 40; rice++) {
            const double x = rice + 1 + 1 / expm1(-ldexp(log1p(-1 / mean), (int)rice));
            if (x < bits[0]) bits[0] = x;
            if (rice == rule) bits[1] = x;
        }
        assert_true(mean < 20 ? bits[1] < bits[0] + 0.1 : bits[1] < bits[0] + 0.01);
    }
    assert_int_equal(tamis__coded_rice(1, (uint64_t)784931), 19);
    assert_int_equal(tamis__coded_rice(0, UINT64_MAX >> 1), TAMIS_CODED_MAX_RICE);
}

static void the_smallest_hash_of_a_cell(void **state) {
    static const uint64_t ranges[] = {1, 2, 3, 1000, 1000003, ((uint64_t)1 << 63) - 1};
    (void)state;
    for (size_t r = 0; r < COUNT_OF(ranges); r++)
        for (uint64_t i = 0; i < 200; i++) {
            const uint64_t cell = i == 0   ? 0
                                  : i == 1 ? ranges[r] - 1
                                           : tamis__range(test_number(1, i), ranges[r]);
            const uint64_t hash = tamis__unscale(ranges[r], cell, 0);
            assert_int_equal(tamis__range(hash, ranges[r]), cell);
            if (cell) assert_int_equal(tamis__range(hash - 1, ranges[r]), cell - 1);
        }
}

/* ---- The kind ------------------------------------------------------------------------------- */

static tamis *build(const char *spec, uint64_t from, uint64_t to) {
    tamis_builder *b = test_builder(spec);
    test_add_numbers(b, 0, from, to);
    return test_finish(b);
}

/* The distinct cells of keys `from` to `to`, ascending; the caller frees them. */
static uint64_t *cells_of(uint64_t range, uint64_t from, uint64_t to, size_t *n) {
    uint64_t *cell = malloc((size_t)(to - from + 1) * sizeof *cell);
    assert_non_null(cell);
    for (uint64_t i = from; i < to; i++) cell[i - from] = tamis__range(test_number(0, i), range);
    *n = make_distinct(cell, (size_t)(to - from));
    return cell;
}

/* Checks every answer, the list and the measurements against the cells. */
static void check_against_cells(const tamis *f, uint64_t from, uint64_t to) {
    const struct tamis_info info = test_info(f);
    size_t n, listed = 0;
    uint64_t *cell = cells_of(info.word[RANGE], from, to, &n), cursor = 0, hash, count;
    for (uint64_t i = from; i < to; i++) assert_true(tamis_has_hash(f, test_number(0, i)));
    for (uint64_t i = 0; i < 500; i++) {
        const uint64_t nonmember = test_number(0, TEST_STRANGERS + i);
        const uint64_t at = tamis__range(nonmember, info.word[RANGE]);
        const bool is_taken = bsearch(&at, cell, n, sizeof *cell, by_number) != NULL;
        assert_int_equal(tamis_has_hash(f, nonmember), is_taken);
    }
    for (; tamis_next(f, &cursor, &hash, &count); listed++) {
        assert_true(listed < n && count == 1);
        assert_int_equal(hash, tamis__unscale(info.word[RANGE], cell[listed], 0));
    }
    assert_int_equal(listed, n);
    assert_true(fabs(info.fpr_now * (double)info.word[RANGE] - (double)n) <
                1e-6 * (double)n + 1e-9);
    assert_int_equal(info.items, to - from);
    free(cell);
}

/* A view at any alignment gives the same answers. */
static void check_views(const tamis *f, uint64_t n) {
    for (size_t shift = 0; shift < 8; shift++) {
        test_view view = test_view_at(f, shift);
        assert_int_equal(test_count_hits(view.filter, 0, 0, n), n);
        for (uint64_t i = 0; i < 100; i++) {
            const uint64_t nonmember = test_number(0, TEST_STRANGERS + i);
            assert_int_equal(tamis_has_hash(view.filter, nonmember), tamis_has_hash(f, nonmember));
        }
        test_end_view(&view);
    }
}

/* Batches are read by windows, on every CPU in its own way. The cells are those of spread(); their
 * neighbours and midpoints are queried too: far gaps, ends of buckets, gaps of any length. */
enum { SPREAD = 4000 };

static tamis *build_cells(const char *spec, uint64_t range, const uint64_t *cell, size_t n) {
    tamis_builder *b = test_builder(spec);
    for (size_t i = 0; i < n; i++)
        test_demand(tamis_builder_add_hash(b, tamis__unscale(range, cell[i], 0)), "adding");
    return test_finish(b);
}

static size_t neighbours_of(const uint64_t *cell, size_t n, uint64_t range, uint64_t *asked) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint64_t near = cell[i] ? cell[i] - 1 : 0; near <= cell[i] + 1 && near < range; near++)
            asked[count++] = near;
        if (i) asked[count++] = cell[i - 1] + (cell[i] - cell[i - 1]) / 2;
    }
    for (size_t i = count; i > 1; i--) { /* shuffled */
        const size_t j = (size_t)tamis__range(test_number(9, i), i);
        const uint64_t moved = asked[i - 1];
        asked[i - 1] = asked[j];
        asked[j] = moved;
    }
    return count;
}

static void ask_in_batches(const tamis *f, const uint64_t *hash, const uint8_t *expected,
                           size_t n) {
    static const uint32_t cpus[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_ALL};
    uint8_t hit[4 * SPREAD];
    for (size_t c = 0; c < COUNT_OF(cpus); c++) {
        tamis__cpu_set(cpus[c]);
        for (size_t i = 0, m = 0; i < n; i += m, m = m < 20 ? m + 1 : m * 3) {
            if (m > n - i) m = n - i;
            tamis_has_hashes(f, hash + i, m, hit + i);
        }
        assert_memory_equal(hit, expected, n);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
}

static void check_batches(const char *spec, uint64_t way) {
    static uint64_t cell[SPREAD], asked[4 * SPREAD];
    static uint8_t expected[4 * SPREAD];
    const uint64_t range = test_plan(spec).word[RANGE];
    const size_t n = spread(way, 31, SPREAD, range, cell);
    tamis *f = build_cells(spec, range, cell, n);
    const size_t count = neighbours_of(cell, n, range, asked);
    for (size_t i = 0; i < count; i++) {
        expected[i] = bsearch(&asked[i], cell, n, sizeof *cell, by_number) != NULL;
        asked[i] = tamis__unscale(range, asked[i], 0);
        assert_int_equal(tamis_has_hash(f, asked[i]), expected[i]);
    }
    ask_in_batches(f, asked, expected, count);
    tamis_free(f);
}

static void batches_of_any_spread(void **state) {
    static const char *const specs[] = {
        "gcs:capacity=4000,fpr=50%",
        "gcs:capacity=4000,fpr=1%,segment=1024",
        "gcs:capacity=4000,fpr=1/256",
        "gcs:capacity=4000,fpr=1e-9",
        "gcs:capacity=4000,range=400000,rice=0",
        "gcs:capacity=4000,range=400000,rice=3",
        "gcs:capacity=4000,range=400000,rice=12",
        "gcs:capacity=4000,range=2^62,rice=50",
        "gcs:capacity=4000,range=2^62,rice=51",
        "gcs:capacity=4000,range=2^62,rice=56",
    };
    (void)state;
    for (size_t s = 0; s < COUNT_OF(specs); s++)
        for (uint64_t way = 0; way < 4; way++) check_batches(specs[s], way);
}

/* More segments than are decoded at once. */
static void batches_over_many_segments(void **state) {
    (void)state;
    tamis *f = build("gcs:capacity=60000,fpr=1%,segment=1024", 0, 60000);
    uint64_t *hash = malloc(60000 * sizeof *hash);
    uint8_t *hit = malloc(60000);
    for (uint64_t i = 0; i < 60000; i++)
        hash[i] = test_number(0, i % 2 ? TEST_STRANGERS + i : 60000 - i);
    tamis_has_hashes(f, hash, 60000, hit);
    for (size_t i = 0; i < 60000; i++) assert_int_equal(hit[i], tamis_has_hash(f, hash[i]));
    free(hash);
    free(hit);
    tamis_free(f);
}

static void every_small_number_of_keys(void **state) {
    static const char *const specs[] = {"gcs:fpr=1%,segment=1024", "gcs:fpr=50%", "gcs:fpr=1e-12",
                                        "gcs:range=1,segment=1024", "gcs:range=7"};
    (void)state;
    for (size_t s = 0; s < COUNT_OF(specs); s++)
        for (uint64_t n = 0; n <= 300; n += n < 20 || s == 0 ? 1 : 35) {
            tamis *f = build(specs[s], 0, n);
            check_against_cells(f, 0, n);
            if (n % 60 < 3) check_views(f, n);
            tamis_free(f);
        }
}

static void several_segments(void **state) {
    (void)state;
    tamis *f = build("gcs:fpr=0.1%,segment=1024", 0, 20000);
    const struct tamis_info info = test_info(f);
    assert_true(info.word[TAMIS_SEGMENTS] >= 20 && info.word[TAMIS_SEGMENTS] <= 40);
    assert_int_equal(info.word[TAMIS_SEGMENTS], ((info.word[RANGE] - 1) >> info.word[SHIFT]) + 1);
    check_against_cells(f, 0, 20000);
    check_views(f, 20000);
    tamis_free(f);
}

/* A cursor without room for the position in the code works all the same. */
static void lists_of_wide_ranges(void **state) {
    (void)state;
    tamis *f = build("gcs:range=9223372036854775807,segment=1024", 0, 5000);
    check_against_cells(f, 0, 5000);
    tamis_free(f);
    f = build("gcs:range=9007199254740992,rice=20", 0, 3000); /* nearly all gaps are far */
    check_against_cells(f, 0, 3000);
    tamis_free(f);
}

static void merging_is_building_together(void **state) {
    static const char spec[] = "gcs:capacity=9000,fpr=1%,segment=1024";
    (void)state;
    tamis *a = build(spec, 0, 5000), *b = build(spec, 3000, 9000), *all = build(spec, 0, 9000);
    struct tamis_estimate common, jaccard;
    size_t n_a, n_b, n_all;
    const uint64_t range = test_info(a).word[RANGE];
    free(cells_of(range, 0, 5000, &n_a));
    free(cells_of(range, 3000, 9000, &n_b));
    free(cells_of(range, 0, 9000, &n_all));
    assert_int_equal(tamis_overlap(a, b, &common), TAMIS_OK);
    assert_true(fabs(common.value - 2000) < 5 * common.error + 1 && common.error < 50);
    assert_true(common.value + 100 > (double)(n_a + n_b - n_all));
    assert_int_equal(tamis_similarity(a, b, &jaccard), TAMIS_OK);
    assert_true(fabs(jaccard.value - 2000.0 / 9000) < 0.01);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    assert_true(test_is_same_payload(a, all));
    assert_int_equal(tamis_merge(a, a), TAMIS_OK);
    assert_true(test_is_same_payload(a, all));
    tamis *other = build("gcs:capacity=9000,fpr=2%,segment=1024", 0, 10);
    assert_int_equal(tamis_merge(a, other), TAMIS_MISMATCH);
    assert_non_null(strstr(tamis_why(), "range"));
    assert_true(test_is_same_payload(a, all));
    tamis_free(other);
    tamis_free(a);
    tamis_free(b);
    tamis_free(all);
}

static void going_on_is_building_at_once(void **state) {
    static const char spec[] = "gcs:capacity=4000,fpr=1%,segment=1024";
    (void)state;
    tamis *first = build(spec, 0, 1500), *all = build(spec, 0, 4000);
    tamis_builder *b;
    assert_int_equal(tamis_builder_continue(&b, first, NULL), TAMIS_OK);
    test_add_numbers(b, 0, 1000, 4000);
    tamis *f = test_finish(b);
    assert_true(test_is_same_payload(f, all));
    tamis_free(f);
    tamis_free(first);
    tamis_free(all);
}

/* ---- Rates and sizes ------------------------------------------------------------------------ */

static void rates_are_as_promised(void **state) {
    static const struct {
        const char *spec;
        double rate;
    } list[] = {{"gcs:fpr=1%", 0.01},
                {"gcs:fpr=1/256", 1 / 256.0},
                {"gcs:fpr=10%", 0.1},
                {"gcs:fpr=1%,segment=1024", 0.01},
                {"gcs:m=1000,rice=9", 0.001}};
    enum { KEYS = 50000, PROBES = 400000 };
    (void)state;
    for (size_t s = 0; s < COUNT_OF(list); s++) {
        tamis *f = build(list[s].spec, 0, KEYS);
        const struct tamis_info info = test_info(f);
        const uint64_t range = info.word[RANGE];
        const double expected = -expm1(KEYS * log1p(-1 / (double)range));
        const uint64_t hits = test_count_hits(f, 0, TEST_STRANGERS, PROBES);
        assert_true(info.fpr_expected <= list[s].rate);
        assert_true((double)KEYS / (double)range > list[s].rate * 0.999);
        assert_true(fabs(info.fpr_expected / expected - 1) < 1e-9);
        assert_true(test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA));
        assert_true(test_is_possible(hits, PROBES, expected, TEST_ALPHA));
        assert_false(test_is_possible(hits, PROBES, 1.5 * expected, TEST_ALPHA));
        tamis_free(f);
    }
}

static void sizes_are_as_promised(void **state) {
    static const double rates[] = {1 / 256.0, 0.01, 0.001, 1 / 65536.0};
    enum { KEYS = 300000 };
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        char spec[64];
        snprintf(spec, sizeof spec, "gcs:capacity=%d,fpr=%.17g", KEYS, rates[r]);
        tamis *f = build(spec, 0, KEYS);
        const double bits = (double)test_info(f).payload_bytes * 8 / KEYS;
        const double planned = test_plan(spec).bits_per_key;
        assert_true(bits <= log2(1 / rates[r]) + 1.75);
        assert_true(planned > bits * 0.998 && planned < bits * 1.01);
        tamis_free(f);
    }
}

/* The payload stays within the size, and nearly fills it. */
static void a_size_is_filled(void **state) {
    static const unsigned bits_per_key[] = {3, 5, 8, 10, 16, 30};
    (void)state;
    for (uint64_t n = 100; n <= 40000; n *= 20)
        for (size_t s = 0; s < COUNT_OF(bits_per_key); s++) {
            const uint64_t bytes = (n * bits_per_key[s] / 8 + 120) / 8 * 8;
            char spec[64];
            snprintf(spec, sizeof spec, "gcs:size=%llu", (unsigned long long)bytes);
            tamis *f = build(spec, 0, n);
            const struct tamis_info info = test_info(f);
            assert_true(info.payload_bytes <= bytes);
            if (n > 1000) assert_true(info.payload_bytes > bytes - bytes / 40 - 200);
            check_against_cells(f, 0, n);
            tamis_free(f);
        }
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("gcs:capacity=1000,size=8", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "too small"));
}

static void what_is_out_of_reach_is_refused(void **state) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    (void)state;
    assert_int_equal(tamis_plan_spec("gcs:capacity=5M,fpr=1e-12", &plan), TAMIS_OK);
    assert_int_equal(tamis_plan_spec("gcs:capacity=1e7,fpr=1e-12", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "is too low"));
    assert_int_equal(tamis_plan_spec("gcs:capacity=2^33,m=2^30", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "is too large"));
    assert_int_equal(tamis_plan_spec("gcs:capacity=1000,rice=57", &plan), TAMIS_INVALID);
    tamis *f;
    assert_int_equal(tamis_create(&f, "gcs:capacity=1000"), TAMIS_UNSUPPORTED);
}

static void bitcoins_parameters(void **state) {
    (void)state;
    tamis *f = build("gcs:m=784931,rice=19", 0, 1000);
    const struct tamis_info info = test_info(f);
    assert_int_equal(info.word[RANGE], (uint64_t)1000 * 784931);
    assert_int_equal(info.word[RICE], 19);
    check_against_cells(f, 0, 1000);
    tamis_free(f);
}

static void specs_lead_back(void **state) {
    static const char *const specs[] = {"gcs:fpr=1%", "gcs:m=784931,rice=19", "gcs:size=20000",
                                        "gcs:range=123456789,segment=2048", "gcs:fpr=3%,rice=2"};
    (void)state;
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        char spec[256];
        tamis *f = build(specs[s], 0, 5000), *g;
        tamis_spec(f, spec, sizeof spec);
        g = build(spec, 0, 5000);
        assert_true(test_is_same_payload(f, g));
        tamis_free(f);
        tamis_free(g);
    }
}

/* ---- Forgeries ------------------------------------------------------------------------------ */

static void use(const tamis *f) {
    uint64_t cursor = 0, hash, count;
    struct tamis_estimate common;
    test_info(f);
    tamis_overlap(f, f, &common);
    for (uint64_t i = 0; i < 50; i++) tamis_has_hash(f, test_number(3, i));
    for (uint64_t last = 0; tamis_next(f, &cursor, &hash, &count); last = hash) {
        assert_true(hash >= last && tamis_has_hash(f, hash));
    }
}

static void forged_words_are_refused(void **state) {
    static const test_word list[] = {{TAMIS_SEGMENTS, 0},
                                     {TAMIS_SEGMENTS, 1},
                                     {TAMIS_SEGMENTS, UINT64_MAX},
                                     {TAMIS_SEGMENT_BYTES, 0},
                                     {TAMIS_SEGMENT_KEYS, 0},
                                     {RANGE, 0},
                                     {RANGE, UINT64_MAX},
                                     {RANGE, (uint64_t)1 << 63},
                                     {RICE, 3},
                                     {RICE, 57},
                                     {SHIFT, 64},
                                     {SHIFT, 0},
                                     {SHIFT, UINT64_MAX},
                                     {6, 1}};
    (void)state;
    tamis *f = build("gcs:fpr=1%,segment=1024", 0, 3000);
    assert_true(test_refuses_words(f, list, COUNT_OF(list), use));
    tamis_free(f);
}

static void forged_heads_are_refused(void **state) {
    static const struct {
        size_t at;
        uint8_t value;
    } list[] = {{0, 1},   {7, 1},  {8, 57}, {8, 7},    {9, 0},  {9, 64}, {10, 0},
                {10, 65}, {11, 1}, {15, 1}, {16, 255}, {23, 1}, {24, 1}};
    (void)state;
    size_t size;
    tamis *f = build("gcs:fpr=1%,segment=1024", 0, 3000);
    uint8_t *image = test_image(f, &size);
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        uint8_t *byte = image + TEST_HEADER_BYTES + list[i].at;
        const uint8_t right = *byte;
        *byte = list[i].value;
        assert_int_equal(test_load_resealed(image, size, use), TAMIS_CORRUPT);
        *byte = right;
    }
    const uint64_t segments = test_info(f).word[TAMIS_SEGMENTS];
    for (uint64_t i = 0; i <= segments; i++) { /* segment offsets */
        uint8_t *offset = image + size - 8 * (segments + 1 - i);
        tamis__put64(offset, tamis__get64(offset) + 8);
        assert_int_equal(test_load_resealed(image, size, use), TAMIS_CORRUPT);
        tamis__put64(offset, tamis__get64(offset) - 8);
    }
    free(image);
    tamis_free(f);
}

static void flipped_bits_are_refused_or_sound(void **state) {
    (void)state;
    tamis *f = build("gcs:fpr=20%,segment=1024", 0, 1500);
    const unsigned accepted = test_flip_bits(f, 4000, use);
    assert_true(accepted > 100 && accepted < 3000);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_come_back),
        cmocka_unit_test(flipped_sets_are_refused_or_sound),
        cmocka_unit_test(only_far_gaps_are_written_far),
        cmocka_unit_test(the_rule_is_the_best),
        cmocka_unit_test(the_smallest_hash_of_a_cell),
        cmocka_unit_test(batches_of_any_spread),
        cmocka_unit_test(batches_over_many_segments),
        cmocka_unit_test(every_small_number_of_keys),
        cmocka_unit_test(several_segments),
        cmocka_unit_test(lists_of_wide_ranges),
        cmocka_unit_test(merging_is_building_together),
        cmocka_unit_test(going_on_is_building_at_once),
        cmocka_unit_test(rates_are_as_promised),
        cmocka_unit_test(sizes_are_as_promised),
        cmocka_unit_test(a_size_is_filled),
        cmocka_unit_test(what_is_out_of_reach_is_refused),
        cmocka_unit_test(bitcoins_parameters),
        cmocka_unit_test(specs_lead_back),
        cmocka_unit_test(forged_words_are_refused),
        cmocka_unit_test(forged_heads_are_refused),
        cmocka_unit_test(flipped_bits_are_refused_or_sound),
    };
    return cmocka_run_group_tests_name("gcs", tests, NULL, NULL);
}
