/* SPDX-License-Identifier: MIT */
/* minhash against a slow, obvious version of itself: bins, borrowing, few bits; and the bytes that
 * the gate must refuse. tests/proof/minhash.c measures its errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bits/packed.h"
#include "bits/probe.h"
#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/seal.h"
#include "tests/support/spread.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static void add_range(tamis *f, uint64_t family, uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++) REQUIRE_OK(tamis_add_hash(f, test_number(family, i)));
}

static tamis *sketch_of(uint64_t bins, uint64_t family, uint64_t from, uint64_t to) {
    tamis *f = test_make("minhash:bins=%llu", (unsigned long long)bins);
    add_range(f, family, from, to);
    return f;
}

static tamis *shrunk(const tamis *f, unsigned keep) {
    tamis *g = test_copy(f);
    REQUIRE_OK(tamis_shrink(g, keep));
    return g;
}

static struct tamis_estimate similarity(const tamis *a, const tamis *b) {
    struct tamis_estimate j;
    REQUIRE_OK(tamis_similarity(a, b, &j));
    return j;
}

/* ---- Bins ----------------------------------------------------------------------------------- */

/* The largest mixed hash of each bin, with bins computed in long double. */
static void bins_keep_the_largest(void **state) {
    enum { BINS = 100, KEYS = 300 };
    uint64_t largest[BINS] = {0};
    tamis *f = sketch_of(BINS, 3, 0, KEYS);
    (void)state;
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t hash = test_number(3, i), number = tamis__mix(hash);
        const uint64_t bin = (uint64_t)floorl((long double)hash * BINS / 18446744073709551616.0L);
        if (number > largest[bin]) largest[bin] = number;
    }
    for (uint64_t i = 0; i < BINS; i++)
        assert_int_equal(tamis__get64(test_payload(f) + 8 * i), largest[i]);
    tamis_free(f);
}

static void folding_is_adding_to_fewer_bins(void **state) {
    (void)state;
    for (uint64_t keys = 0; keys < 3000; keys = keys * 5 + 1) {
        tamis *wide = sketch_of(960, 4, 0, keys), *narrow = sketch_of(64, 4, 0, keys);
        REQUIRE_OK(tamis_fold(wide, 15));
        assert_true(test_is_same_payload(wide, narrow));
        assert_int_equal(tamis_fold(wide, 5), TAMIS_INVALID); /* 64 / 5 */
        assert_int_equal(tamis_fold(wide, 8), TAMIS_INVALID); /* too few */
        assert_true(test_is_same_payload(wide, narrow));
        tamis_free(wide);
        tamis_free(narrow);
    }
}

/* ---- Few bits ------------------------------------------------------------------------------- */

static uint64_t place_of(uint64_t i, uint64_t j) {
    return tamis__mix(tamis__mix(i + 1) + j);
}

/* The bin that an empty bin borrows from: the first full one of 64 draws, else the full one with
 * the smallest place_of. */
static uint64_t slow_lender(const uint64_t *number, uint64_t bins, uint64_t i) {
    for (uint64_t draw = 0; draw < 64; draw++) {
        const uint64_t j = tamis__range(place_of(i, 65536 + draw), bins);
        if (number[j]) return j;
    }
    uint64_t best = bins;
    for (uint64_t j = 0; j < bins; j++)
        if (number[j] && (best == bins || place_of(i, j) < place_of(i, best))) best = j;
    return best;
}

static void shrinking_borrows_as_described(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 7, 100, 1000, 20000};
    static const unsigned keeps[] = {1, 2, 3, 8, 13, 16};
    enum { BINS = 1000 };
    static uint64_t number[BINS];
    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        tamis *f = sketch_of(BINS, 5, 0, sizes[s]);
        for (uint64_t i = 0; i < BINS; i++) number[i] = tamis__get64(test_payload(f) + 8 * i);
        for (size_t k = 0; k < COUNT_OF(keeps); k++) {
            tamis *g = shrunk(f, keeps[k]);
            const uint8_t *bytes = test_payload(g);
            assert_int_equal(test_info(g).payload_bytes, 16 + (BINS * keeps[k] + 63) / 64 * 8);
            for (uint64_t i = 0; i < BINS && sizes[s]; i++) {
                const uint64_t lender = number[i] ? i : slow_lender(number, BINS, i);
                const uint64_t few = tamis__field_get(bytes + 16, i, keeps[k]);
                assert_int_equal(few, number[lender] & ((1u << keeps[k]) - 1));
            }
            assert_true(fabs(test_info(g).items_now.value - test_info(f).items_now.value) <= 0.5);
            tamis_free(g);
        }
        tamis_free(f);
    }
}

static void shrunk_ones_only_compare(void **state) {
    tamis *f = sketch_of(256, 6, 0, 1000), *g = shrunk(f, 8), *old = test_copy(g), *other;
    struct tamis_estimate j;
    (void)state;
    assert_int_equal(test_info(f).abilities & TAMIS_CAN_SHRINK, TAMIS_CAN_SHRINK);
    assert_int_equal(tamis_add(g, "x", 1), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_merge(g, old), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_fold(g, 2), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_shrink(g, 4), TAMIS_UNSUPPORTED);
    assert_true(test_is_same_payload(g, old));
    assert_int_equal(tamis_similarity(f, g, &j), TAMIS_MISMATCH);
    assert_int_equal(tamis_overlap(f, g, &j), TAMIS_MISMATCH);
    other = test_copy(f);
    for (unsigned keep = 0; keep <= 80; keep = keep ? keep + 21 : 17)
        assert_int_equal(tamis_shrink(other, keep), TAMIS_INVALID);
    assert_true(test_is_same_payload(f, other));
    tamis *plain = test_make("blocked:capacity=100");
    assert_int_equal(tamis_shrink(plain, 8), TAMIS_UNSUPPORTED);
    tamis_free(plain);
    tamis_free(other);
    tamis_free(old);
    tamis_free(g);
    tamis_free(f);
}

/* ---- Edges ---------------------------------------------------------------------------------- */

static void nothing_and_one(void **state) {
    static const unsigned keeps[] = {64, 8, 1};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(keeps); k++) {
        tamis *set[3]; /* none, one key, another one */
        for (uint64_t i = 0; i < 3; i++) {
            set[i] = sketch_of(64, 8, i ? 10 * i : 0, i ? 10 * i + 1 : 0);
            if (keeps[k] < 64) REQUIRE_OK(tamis_shrink(set[i], keeps[k]));
        }
        for (int i = 0; i < 3; i++) assert_true(similarity(set[i], set[i]).value == 1);
        assert_true(similarity(set[0], set[0]).error == 0);
        assert_true(similarity(set[0], set[1]).value == 0 && similarity(set[1], set[0]).error == 0);
        const struct tamis_estimate j = similarity(set[1], set[2]);
        assert_true(j.value <= 6 * j.error);
        assert_true(keeps[k] < 64 || (j.value == 0 && j.error < 0.2));
        for (int i = 0; i < 3; i++) tamis_free(set[i]);
    }
}

static void a_million_keys(void **state) {
    tamis *a = sketch_of(1024, 9, 0, 1000000), *b = sketch_of(1024, 9, 200000, 1200000);
    struct tamis_estimate common;
    (void)state;
    const struct tamis_estimate j = similarity(a, b);
    REQUIRE_OK(tamis_overlap(a, b, &common));
    assert_true(fabs(j.value - 8.0 / 12) < 6 * j.error && j.error < 0.015);
    assert_true(fabs(common.value - 8e5) < 6 * common.error && common.error < 5e4);
    tamis *both = test_copy(a), *all = sketch_of(1024, 9, 0, 1200000);
    REQUIRE_OK(tamis_merge(both, b));
    assert_true(test_is_same_payload(both, all));
    tamis_free(a);
    tamis_free(b);
    tamis_free(both);
    tamis_free(all);
}

/* Mean and variance of 300 pairs, full and shrunk; tests/proof has the whole table. */
static void the_error_is_as_computed(void **state) {
    enum { BINS = 128, KEYS = 4096, SHARED = 2048, TRIALS = 300 };
    static const unsigned keeps[] = {64, 2};
    const double p = (double)SHARED / KEYS;
    (void)state;
    for (size_t k = 0; k < COUNT_OF(keeps); k++) {
        test_spread s = {0};
        for (uint64_t t = 0; t < TRIALS; t++) {
            tamis *a = sketch_of(BINS, t + 20, 0, 3072), *b = sketch_of(BINS, t + 20, 0, SHARED);
            add_range(b, t + 20, 3072, KEYS);
            if (keeps[k] < 64) REQUIRE_OK(tamis_shrink(a, keeps[k]));
            if (keeps[k] < 64) REQUIRE_OK(tamis_shrink(b, keeps[k]));
            test_spread_add(&s, similarity(a, b).value);
            tamis_free(a);
            tamis_free(b);
        }
        const double c = ldexp(1, -(int)keeps[k]);
        const double draw = (double)(KEYS - BINS) / ((double)BINS * (KEYS - 1));
        const double variance = p * (1 - p) * draw + (1 - p) * c / (1 - c) / BINS;
        assert_true(test_mean_is_possible(&s, p, variance));
        assert_true(test_variance_is_possible(&s, variance, variance));
    }
}

/* ---- The gate ------------------------------------------------------------------------------- */

static void use(const tamis *f) {
    struct tamis_estimate j;
    tamis *g;
    test_info(f);
    assert_int_equal(tamis_similarity(f, f, &j), TAMIS_OK);
    assert_true(j.value == 1 && j.error >= 0 && j.error <= 1);
    assert_int_equal(tamis_overlap(f, f, &j), TAMIS_OK);
    assert_true(isfinite(j.value) && isfinite(j.error));
    if (tamis_copy(&g, f)) return;
    tamis_shrink(g, 1);
    tamis_free(g);
}

static void forged_images_are_refused_or_sound(void **state) {
    static const test_word words[] = {{0, 0},  {0, 15}, {0, 65537}, {0, UINT64_MAX}, {1, 0},
                                      {1, 17}, {1, 63}, {1, 65},    {1, UINT64_MAX}, {2, 1}};
    tamis *f = sketch_of(64, 11, 0, 40), *g = shrunk(f, 3);
    (void)state;
    assert_true(test_refuses_words(f, words, COUNT_OF(words), use));
    assert_true(test_refuses_words(g, words, COUNT_OF(words), use));
    test_flip_bits(f, 2000, use);
    test_flip_bits(g, 2000, use);
    size_t size;
    uint8_t *image = test_image(f, &size);
    /* A number in its own bin and in the next one. */
    const uint64_t number = tamis__mix((uint64_t)5 << 58);
    assert_int_equal(test_load_forged(image, size, TEST_HEADER_BYTES + 5 * 8, number, use),
                     TAMIS_OK);
    assert_int_equal(test_load_forged(image, size, TEST_HEADER_BYTES + 6 * 8, number, use),
                     TAMIS_CORRUPT);
    free(image);
    image = test_image(g, &size);
    const size_t at = TEST_HEADER_BYTES; /* keys, full bins, numbers */
    assert_int_equal(test_load_forged(image, size, at, 0, use), TAMIS_CORRUPT);
    assert_int_equal(test_load_forged(image, size, at, UINT64_MAX, use), TAMIS_OK);
    assert_int_equal(test_load_forged(image, size, at + 8, 65, use), TAMIS_CORRUPT);
    assert_int_equal(test_load_forged(image, size, at + 8, 0, use), TAMIS_CORRUPT);
    free(image);
    tamis_free(g);
    /* 100 numbers of 3 bits leave 20 bits of the last word, which must be zero. */
    tamis *odd = sketch_of(100, 12, 0, 500);
    REQUIRE_OK(tamis_shrink(odd, 3));
    image = test_image(odd, &size);
    image[size - 1] |= 0x80;
    assert_int_equal(test_load_resealed(image, size, use), TAMIS_CORRUPT);
    free(image);
    tamis_free(odd);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_keep_the_largest),
        cmocka_unit_test(folding_is_adding_to_fewer_bins),
        cmocka_unit_test(shrinking_borrows_as_described),
        cmocka_unit_test(shrunk_ones_only_compare),
        cmocka_unit_test(nothing_and_one),
        cmocka_unit_test(a_million_keys),
        cmocka_unit_test(the_error_is_as_computed),
        cmocka_unit_test(forged_images_are_refused_or_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
