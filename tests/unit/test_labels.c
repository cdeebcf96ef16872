/* SPDX-License-Identifier: MIT */
/* labels: many named sets, against the list of all pairs of cell and label. */
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
#include "kinds/segments.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { RANGE = TAMIS_SEGMENT_WORDS, SHIFT, LABELS, NAMES, LARGEST };
enum { MAX_FOUND = 1 << 14 };

/* ---- Sets and their keys -------------------------------------------------------------------- */

/* A family of sets; `has` says which keys a label has. */
typedef struct family {
    uint64_t labels, keys;
    bool (*has)(const struct family *, uint64_t label, uint64_t key);
} family;

static bool has_some(const family *y, uint64_t label, uint64_t key) {
    return test_number(40 + label, key) % 7 == 0 || key % y->labels == label;
}

static bool has_own(const family *y, uint64_t label, uint64_t key) {
    return key % y->labels == label;
}

/* Label 0 has all keys, each next one fewer, the last three none. */
static bool is_skewed(const family *y, uint64_t label, uint64_t key) {
    (void)y;
    return key % (label * label + 1) == 0 && label + 3 < y->labels;
}

static bool has_all(const family *y, uint64_t label, uint64_t key) {
    (void)y, (void)label, (void)key;
    return true;
}

static const char *name_of(uint64_t label, char text[32]) {
    snprintf(text, 32, label % 3 ? "set %llu" : "s%llu", (unsigned long long)label);
    return text;
}

static void add_labels(tamis_builder *b, const family *y, uint64_t from, uint64_t to) {
    char text[32];
    for (uint64_t l = from; l < to; l++) {
        assert_int_equal(tamis_builder_label(b, name_of(l, text)), TAMIS_OK);
        for (uint64_t k = 0; k < y->keys; k++)
            if (y->has(y, l, k))
                assert_int_equal(tamis_builder_add_hash(b, test_number(0, k)), TAMIS_OK);
    }
}

static tamis *build(const char *spec, const family *y) {
    tamis_builder *b = test_builder(spec);
    add_labels(b, y, 0, y->labels);
    return test_finish(b);
}

/* ---- The exact model ------------------------------------------------------------------------ */

typedef struct pairs {
    uint64_t *number, range, labels, largest, keys_of_largest;
    size_t n, records;
} pairs;

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static pairs pairs_of(const family *y, uint64_t range) {
    pairs p = {.range = range, .labels = y->labels ? y->labels : 1};
    p.number = malloc((size_t)(y->labels * y->keys + 1) * sizeof *p.number);
    assert_non_null(p.number);
    for (uint64_t l = 0; l < y->labels; l++) {
        const size_t before = p.records;
        for (uint64_t k = 0; k < y->keys; k++)
            if (y->has(y, l, k))
                p.number[p.records++] = tamis__range(test_number(0, k), range) * p.labels + l;
        if (p.records - before > p.keys_of_largest)
            p.keys_of_largest = p.records - before, p.largest = l;
    }
    qsort(p.number, p.records, sizeof *p.number, by_number);
    for (size_t i = 0; i < p.records; i++)
        if (i == 0 || p.number[i] != p.number[p.n - 1]) p.number[p.n++] = p.number[i];
    return p;
}

/* The labels of a hash, from the pairs. */
static size_t labels_in(const pairs *p, uint64_t hash, uint64_t *label) {
    const uint64_t first = tamis__range(hash, p->range) * p->labels;
    size_t low = 0, high = p->n, n = 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (p->number[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->n && p->number[low] - first < p->labels; low++)
        label[n++] = p->number[low] - first;
    return n;
}

static void check_answer(const tamis *f, const pairs *p, uint64_t hash) {
    static uint64_t found[MAX_FOUND], expected[MAX_FOUND];
    const size_t n = labels_in(p, hash, expected);
    assert_int_equal(tamis_labels_hash(f, hash, found, MAX_FOUND), n);
    assert_memory_equal(found, expected, n * sizeof *found);
    assert_int_equal(tamis_has_hash(f, hash), n > 0);
    if (n < 2) return;
    found[1] = 12345;
    assert_int_equal(tamis_labels_hash(f, hash, found, 1), n);
    assert_true(found[0] == expected[0] && found[1] == 12345);
}

static uint64_t taken_cells(const pairs *p, uint64_t *of_largest) {
    uint64_t taken = 0;
    *of_largest = 0;
    for (size_t i = 0; i < p->n; i++) {
        taken += i == 0 || p->number[i] / p->labels != p->number[i - 1] / p->labels;
        *of_largest += p->number[i] % p->labels == p->largest;
    }
    return taken;
}

static void check_list(const tamis *f, const pairs *p) {
    uint64_t cursor = 0, hash, label;
    size_t n = 0;
    for (; tamis_next(f, &cursor, &hash, &label); n++) {
        assert_true(n < p->n);
        assert_int_equal(tamis__range(hash, p->range) * p->labels + label, p->number[n]);
    }
    assert_int_equal(n, p->n);
}

static void check_against_pairs(const tamis *f, const family *y) {
    const struct tamis_info info = test_info(f);
    pairs p = pairs_of(y, info.word[RANGE]);
    uint64_t of_largest;
    const double cells = (double)p.range, taken = (double)taken_cells(&p, &of_largest);
    char text[32];
    assert_int_equal(tamis_label_count(f), y->labels);
    for (uint64_t l = 0; l < y->labels; l++)
        assert_string_equal(tamis_label_name(f, l), name_of(l, text));
    assert_null(tamis_label_name(f, y->labels));
    for (uint64_t k = 0; k < y->keys; k++) check_answer(f, &p, test_number(0, k));
    for (uint64_t i = 0; i < 300; i++) check_answer(f, &p, test_number(0, TEST_STRANGERS + i));
    check_list(f, &p);
    assert_int_equal(info.items, p.records);
    assert_true(fabs(info.fpr_now - (double)of_largest / cells) < 1e-12);
    assert_true(fabs(info.fill - (double)p.n / (cells * (double)p.labels)) < 1e-12);
    if (taken < cells)
        assert_true(fabs(info.items_now.value + cells * log1p(-taken / cells)) < 1e-6 * cells);
    free(p.number);
}

static void check_views(const tamis *f) {
    uint64_t x[64], y[64];
    for (size_t shift = 0; shift < 8; shift++) {
        test_view view = test_view_at(f, shift);
        for (uint64_t i = 0; i < 500; i++) {
            const uint64_t hash = test_number(0, i % 2 ? i : TEST_STRANGERS + i);
            const size_t n = tamis_labels_hash(f, hash, x, 64);
            assert_int_equal(tamis_labels_hash(view.filter, hash, y, 64), n);
            assert_memory_equal(x, y, (n < 64 ? n : 64) * sizeof *x);
        }
        for (uint64_t l = 0; l < tamis_label_count(f); l++)
            assert_string_equal(tamis_label_name(view.filter, l), tamis_label_name(f, l));
        test_end_view(&view);
    }
}

/* ---- Sets of all sizes ---------------------------------------------------------------------- */

static void families_of_all_shapes(void **state) {
    static const family list[] = {
        {0, 0, has_all},       {1, 0, has_all},      {1, 1, has_all},      {1, 3000, has_all},
        {2, 5000, has_own},    {2, 3000, has_some},  {3, 2000, is_skewed}, {50, 400, has_some},
        {40, 5000, is_skewed}, {300, 100, has_some}, {10000, 30, has_all}, {10000, 90, has_own},
        {65, 700, has_all},    {7, 64, has_own},     {10000, 2, has_some},
    };
    static const char *const specs[] = {"labels:fpr=1%,segment=1024", "labels:fpr=10%",
                                        "labels:fpr=1e-6"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(list); i++)
        for (size_t s = 0; s < (list[i].labels < 1000 ? COUNT_OF(specs) : 1); s++) {
            tamis *f = build(specs[s], &list[i]);
            check_against_pairs(f, &list[i]);
            if (s == 0 && i % 3 == 1) check_views(f);
            tamis_free(f);
        }
}

static void every_small_number_of_keys(void **state) {
    (void)state;
    for (uint64_t n = 0; n <= 300; n++) {
        const family y = {1 + n % 5, n, has_some};
        tamis *f = build(n % 2 ? "labels:fpr=1%" : "labels:fpr=2%,segment=1024", &y);
        check_against_pairs(f, &y);
        tamis_free(f);
    }
}

/* Fewer cells than keys: pairs of many keys share a cell and must be sorted. */
static void crowded_cells(void **state) {
    static const family y = {97, 3000, has_some};
    (void)state;
    tamis *f = build("labels:range=5,segment=1024", &y);
    check_against_pairs(f, &y);
    tamis_free(f);
    f = build("labels:range=1", &y);
    check_against_pairs(f, &y);
    tamis_free(f);
}

static void keys_in_all_labels_are_cheap(void **state) {
    static const family all = {300, 500, has_all}, own = {30, 20000, has_own};
    (void)state;
    tamis *f = build("labels:fpr=1%", &all), *g = build("labels:fpr=1%", &own);
    assert_true(test_info(f).payload_bytes * 8 < 2 * test_info(f).items);
    assert_true(test_info(g).payload_bytes * 8 < 10 * test_info(g).items);
    tamis_free(f);
    tamis_free(g);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* 30 labels of different sizes: a non-member gets each at its own rate, within exact bounds. */
static void every_label_keeps_its_rate(void **state) {
    static const family y = {30, 20000, is_skewed};
    enum { PROBES = 300000 };
    static uint64_t hits[30], found[30];
    (void)state;
    tamis *f = build("labels:fpr=1%", &y);
    const struct tamis_info info = test_info(f);
    for (uint64_t i = 0; i < PROBES; i++) {
        const size_t n = tamis_labels_hash(f, test_number(0, TEST_STRANGERS + i), found, 30);
        for (size_t j = 0; j < n; j++) hits[found[j]]++;
    }
    for (uint64_t l = 0; l < y.labels; l++) {
        uint64_t keys = 0;
        for (uint64_t k = 0; k < y.keys; k++) keys += y.has(&y, l, k);
        const double rate = -expm1((double)keys * log1p(-1 / (double)info.word[RANGE]));
        assert_true(rate <= 0.01);
        assert_true(test_is_possible(hits[l], PROBES, rate, TEST_ALPHA));
        if (l == 0) assert_false(test_is_possible(hits[l], PROBES, rate * 1.2, TEST_ALPHA));
        if (l == 0) assert_true(fabs(info.fpr_expected / rate - 1) < 1e-9);
    }
    assert_int_equal(info.word[LARGEST], 0);
    tamis_free(f);
}

/* ---- More labels, more keys ----------------------------------------------------------------- */

static void a_label_comes_later(void **state) {
    static const char spec[] = "labels:capacity=5000,fpr=1%,segment=1024";
    static const family y = {9, 5000, has_some};
    (void)state;
    tamis_builder *b = test_builder(spec);
    add_labels(b, &y, 0, 8);
    tamis *first = test_finish(b), *all = build(spec, &y);
    assert_int_equal(tamis_builder_continue(&b, first, NULL), TAMIS_OK);
    add_labels(b, &y, 8, 9);
    tamis *f = test_finish(b);
    assert_true(test_is_same_payload(f, all));
    check_against_pairs(all, &y);
    tamis_free(f);

    /* More keys for an existing label, found by its name. */
    assert_int_equal(tamis_builder_continue(&b, all, NULL), TAMIS_OK);
    assert_int_equal(tamis_builder_label(b, "set 4"), TAMIS_OK);
    assert_int_equal(tamis_builder_add_hash(b, test_number(77, 1)), TAMIS_OK);
    f = test_finish(b);
    uint64_t found[9];
    const size_t n = tamis_labels_hash(f, test_number(77, 1), found, 9);
    bool has_4 = false;
    for (size_t i = 0; i < n; i++) has_4 = has_4 || found[i] == 4;
    assert_true(has_4 && tamis_label_count(f) == 9);
    tamis_free(f);
    tamis_free(first);
    tamis_free(all);
}

/* What is left is, byte for byte, what was never there would have given. */
static void a_label_goes(void **state) {
    static const char spec[] = "labels:capacity=5000,fpr=1%,segment=1024";
    static const family y = {6, 5000, has_some};
    enum { GONE = 2, EMPTIED = 4 };
    struct tamis_relabel into[6];
    char text[6][32];
    (void)state;
    tamis *all = build(spec, &y);
    for (uint64_t l = 0; l < 6; l++)
        into[l] = (struct tamis_relabel){l == GONE ? NULL : name_of(l, text[l]), l == EMPTIED};
    tamis_builder *b, *expected = test_builder(spec);
    assert_int_equal(tamis_builder_continue_labels(&b, all, into, NULL), TAMIS_OK);
    add_labels(expected, &y, 0, GONE);
    add_labels(expected, &y, GONE + 1, EMPTIED);
    assert_int_equal(tamis_builder_label(expected, text[EMPTIED]), TAMIS_OK);
    add_labels(expected, &y, EMPTIED + 1, 6);
    tamis *f = test_finish(b), *without = test_finish(expected);
    assert_true(test_is_same_payload(f, without));
    assert_int_equal(tamis_label_count(f), 5);
    assert_string_equal(tamis_label_name(f, GONE), text[GONE + 1]);
    tamis_free(f);

    /* New keys for the emptied label, which keeps its place; and no label at all is left. */
    assert_int_equal(tamis_builder_continue_labels(&b, all, into, NULL), TAMIS_OK);
    add_labels(b, &y, EMPTIED, EMPTIED + 1);
    expected = test_builder(spec);
    add_labels(expected, &y, 0, GONE);
    add_labels(expected, &y, GONE + 1, 6);
    tamis *again = test_finish(b), *five = test_finish(expected);
    assert_true(test_is_same_payload(again, five));
    for (uint64_t l = 0; l < 6; l++) into[l].name = NULL;
    assert_int_equal(tamis_builder_continue_labels(&b, all, into, NULL), TAMIS_OK);
    f = test_finish(b);
    assert_int_equal(tamis_label_count(f), 0);
    assert_false(tamis_has_hash(f, test_number(0, 1)));
    tamis_free(f);
    tamis_free(five);
    tamis_free(again);
    tamis_free(without);
    tamis_free(all);
}

/* A name that another label has makes one of them; a name that is none is refused. */
static void a_label_is_renamed(void **state) {
    static const char spec[] = "labels:capacity=5000,fpr=1%,segment=1024";
    static const family y = {3, 3000, has_own};
    struct tamis_relabel into[3] = {{"one", false}, {"two", false}, {"one", false}};
    uint64_t found[3];
    tamis_builder *b;
    (void)state;
    tamis *all = build(spec, &y);
    assert_int_equal(tamis_builder_continue_labels(&b, all, into, NULL), TAMIS_OK);
    tamis *f = test_finish(b);
    assert_int_equal(tamis_label_count(f), 2);
    for (uint64_t k = 0; k < y.keys; k++) {
        const size_t n = tamis_labels_hash(f, test_number(0, k), found, 3);
        assert_true(n > 0 && n < 3 && (found[0] == (k % 3 == 1) || found[n - 1] == (k % 3 == 1)));
    }
    tamis_free(f);
    into[1].name = "";
    assert_int_equal(tamis_builder_continue_labels(&b, all, into, NULL), TAMIS_INVALID);
    assert_null(b);
    tamis_free(all);
}

/* The two filters may number labels differently: names decide. */
static void merging_goes_by_names(void **state) {
    static const char spec[] = "labels:capacity=3000,fpr=1%,segment=1024";
    static const family y = {6, 3000, has_some};
    (void)state;
    tamis_builder *b = test_builder(spec);
    add_labels(b, &y, 0, 4);
    tamis *a = test_finish(b), *all = build(spec, &y);
    b = test_builder(spec);
    add_labels(b, &y, 3, 6); /* "s3" is label 3 in `a` and label 0 here */
    add_labels(b, &y, 1, 2);
    tamis *c = test_finish(b);
    struct tamis_estimate common;
    assert_int_equal(tamis_overlap(a, c, &common), TAMIS_OK);
    uint64_t in_both = 0;
    for (uint64_t k = 0; k < y.keys; k++) {
        unsigned in = 0;
        for (uint64_t l = 0; l < 6; l++)
            if (y.has(&y, l, k)) in |= (l < 4 ? 1u : 0) | (l >= 3 || l == 1 ? 2u : 0);
        in_both += in == 3;
    }
    assert_true(fabs(common.value - (double)in_both) < 5 * common.error + 1 && common.error < 50);
    assert_int_equal(tamis_merge(a, c), TAMIS_OK);
    assert_true(test_is_same_payload(a, all));
    tamis_free(a);
    tamis_free(c);
    tamis_free(all);
}

static void sizes_and_limits(void **state) {
    static const family y = {20, 2000, has_some};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    tamis *f;
    char spec[256];
    (void)state;
    for (uint64_t size = 4000; size <= 32000; size *= 2) {
        snprintf(spec, sizeof spec, "labels:size=%llu", (unsigned long long)size);
        f = build(spec, &y);
        assert_true(test_info(f).payload_bytes <= size);
        assert_true(test_info(f).payload_bytes > size - size / 5 - 300);
        check_against_pairs(f, &y);
        tamis_spec(f, spec, sizeof spec);
        tamis *again = build(spec, &y);
        assert_true(test_is_same_payload(f, again));
        tamis_free(again);
        tamis_free(f);
    }
    assert_int_equal(tamis_plan_spec("labels:capacity=1e7,fpr=1e-12", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "is too low"));
    tamis_builder *b = test_builder("labels:range=9e18");
    add_labels(b, &y, 0, 2);
    assert_int_equal(tamis_builder_finish(b, &f), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "are too many"));
    tamis_builder_free(b);
    assert_int_equal(tamis_plan_spec("labels:capacity=1000,fpr=1%", &plan), TAMIS_OK);
    assert_true(plan.bits_per_key < 10 && plan.fpr_expected <= 0.01);
}

/* ---- Forgeries ------------------------------------------------------------------------------ */

static void use(const tamis *f) {
    uint64_t cursor = 0, hash, label, found[8];
    struct tamis_estimate common;
    test_info(f);
    tamis_overlap(f, f, &common);
    for (uint64_t i = 0; i < 50; i++) tamis_labels_hash(f, test_number(3, i), found, 8);
    while (tamis_next(f, &cursor, &hash, &label)) {
        assert_true(label < tamis_label_count(f));
        assert_true(tamis_labels_hash(f, hash, found, 8) > 0);
    }
    for (uint64_t l = 0; l < tamis_label_count(f); l++)
        assert_true(strlen(tamis_label_name(f, l)) <= 255);
}

static void forged_words_are_refused(void **state) {
    static const test_word list[] = {{TAMIS_SEGMENTS, 0},
                                     {TAMIS_SEGMENTS, 2},
                                     {RANGE, 0},
                                     {RANGE, UINT64_MAX},
                                     {RANGE, UINT64_MAX / 20},
                                     {SHIFT, 64},
                                     {SHIFT, 1},
                                     {LABELS, 0},
                                     {LABELS, 8},
                                     {LABELS, 10},
                                     {LABELS, 1 << 25},
                                     {LABELS, UINT64_MAX},
                                     {NAMES, 0},
                                     {NAMES, UINT64_MAX},
                                     {NAMES, 33},
                                     {LARGEST, 9}};
    static const family y = {9, 2000, has_some};
    (void)state;
    tamis *f = build("labels:fpr=1%,segment=1024", &y);
    assert_true(test_refuses_words(f, list, COUNT_OF(list), use));
    tamis_free(f);
}

/* Names and their offsets: every byte of the tail is checked. */
static void forged_names_are_refused(void **state) {
    static const family y = {9, 100, has_some};
    size_t size;
    (void)state;
    tamis *f = build("labels:fpr=1%", &y);
    uint8_t *image = test_image(f, &size);
    const uint64_t offsets = size - 16, start = TEST_HEADER_BYTES + tamis__get64(image + size - 8);
    const uint64_t names = test_info(f).word[NAMES];
    for (uint64_t at = start; at < offsets; at++) {
        const uint8_t right = image[at];
        const bool is_letter = at < start + names && right;
        image[at] = is_letter ? 0 : right + 1;
        assert_int_equal(test_load_resealed(image, size, use), TAMIS_CORRUPT);
        image[at] = 0x1f; /* no name has a control character */
        assert_int_equal(test_load_resealed(image, size, use), TAMIS_CORRUPT);
        image[at] = 'x';
        assert_int_equal(test_load_resealed(image, size, use),
                         is_letter ? TAMIS_OK : TAMIS_CORRUPT);
        image[at] = right;
    }
    free(image);
    tamis_free(f);
}

static void flipped_bits_are_refused_or_sound(void **state) {
    static const family y = {5, 600, has_some};
    (void)state;
    tamis *f = build("labels:fpr=20%,segment=1024", &y);
    const unsigned accepted = test_flip_bits(f, 3000, use);
    assert_true(accepted > 50 && accepted < 2500);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_of_all_shapes),
        cmocka_unit_test(every_small_number_of_keys),
        cmocka_unit_test(crowded_cells),
        cmocka_unit_test(keys_in_all_labels_are_cheap),
        cmocka_unit_test(every_label_keeps_its_rate),
        cmocka_unit_test(a_label_comes_later),
        cmocka_unit_test(a_label_goes),
        cmocka_unit_test(a_label_is_renamed),
        cmocka_unit_test(merging_goes_by_names),
        cmocka_unit_test(sizes_and_limits),
        cmocka_unit_test(forged_words_are_refused),
        cmocka_unit_test(forged_names_are_refused),
        cmocka_unit_test(flipped_bits_are_refused_or_sound),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
