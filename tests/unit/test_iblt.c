/* SPDX-License-Identifier: MIT */
/* iblt: how often it lists everything, its estimators, and tables that represent no set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "kinds/iblt_table.h"
#include "tamis_engine.h"
#include "tamis_jobs.h"
#include "tests/support/bounds.h"
#include "tests/support/differences.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

enum { CELLS, HASHES, ESTIMATOR, COUNTERS }; /* shape words */

static bool count_one(void *ctx, uint64_t hash, bool is_first) {
    (void)hash, (void)is_first;
    ++*(uint64_t *)ctx;
    return true;
}

static bool take_none(void *ctx, uint64_t hash, bool is_first) {
    (void)ctx, (void)hash, (void)is_first;
    return false;
}

/* ---- How often everything is listed --------------------------------------------------------- */

static uint64_t failures(const char *spec, uint64_t d, uint64_t pairs) {
    return test_count_unlisted(spec, 1000 + d, d, pairs);
}

/* Two hashes cannot be told apart when they share all cells: one in side^k pairs. */
static void two_fail_as_computed(void **state) {
    (void)state;
    enum { TRIALS = 30000 };
    static const struct {
        int cells, hashes;
    } shapes[] = {{6, 3}, {9, 3}, {12, 3}, {8, 4}, {12, 4}, {10, 5}, {12, 6}, {14, 7}, {16, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char spec[96];
        sprintf(spec, "iblt:cells=%d,hashes=%d,estimator=none", shapes[i].cells, shapes[i].hashes);
        const double chance = pow(shapes[i].cells / shapes[i].hashes, -shapes[i].hashes);
        assert_true(test_is_possible(failures(spec, 2, TRIALS), TRIALS, chance, TEST_ALPHA));
    }
}

/* The planned number of differences is listed 999 times in 1000; 10 % fewer cells are too few for
 * large differences, and twice as many differences are too many. */
static void planned_sizes_list_all(void **state) {
    (void)state;
    static const struct {
        uint64_t differences, trials;
    } sizes[] = {{1, 2000}, {2, 20000}, {10, 10000}, {50, 4000}, {100, 3000}, {1000, 400}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k <= 5; k = k ? k + 1 : 3) {
            char spec[96], hashes[32] = "";
            const uint64_t d = sizes[i].differences, trials = sizes[i].trials / (k ? 4 : 1);
            if (k) sprintf(hashes, ",hashes=%d", k);
            sprintf(spec, "iblt:differences=%d%s,estimator=none", (int)d, hashes);
            const uint64_t failed = failures(spec, d, trials);
            assert_true(failed <= trials / 1000 ||
                        test_is_possible(failed, trials, 0.001, TEST_ALPHA));
        }
    assert_int_equal(failures("iblt:differences=1000,estimator=none", 2000, 20), 20);
    assert_int_equal(failures("iblt:cells=1260,hashes=4,estimator=none", 1000, 20), 20);
}

/* ---- Estimators ----------------------------------------------------------------------------- */

static test_sizes estimates(const char *spec, uint64_t d, uint64_t pairs) {
    return test_estimate_sizes(spec, 77, d, pairs);
}

/* Mean d, variance 2 d (d - 1) / m: within six standard errors of mean and variance, two-sided. The
 * squares of a sum of many are nearly normal: their variance is known to sqrt(2 / trials). */
static void signs_are_as_computed(void **state) {
    (void)state;
    enum { TRIALS = 600, COUNTERS_USED = 256 };
    for (uint64_t d = 10; d <= 1000; d *= 10) {
        const test_sizes m = estimates("iblt:cells=8,counters=256", d, TRIALS);
        const double variance = 2.0 * (double)d * (double)(d - 1) / COUNTERS_USED;
        assert_true(fabs(test_spread_mean(&m.found) - (double)d) < 6 * sqrt(variance / TRIALS));
        assert_true(fabs(test_spread_variance(&m.found) / variance - 1) < 6 * sqrt(4.0 / TRIALS));
        assert_true(fabs(m.told / variance - 1) < 0.15);
    }
}

/* Two keys share a counter in one of m pairs; the estimate is then 0 or 4. */
static void two_signs_are_exact(void **state) {
    (void)state;
    enum { TRIALS = 20000, M = 64 };
    uint64_t none = 0, four = 0;
    tamis *empty = test_make("iblt:cells=8,counters=%d", M);
    for (uint64_t t = 0; t < TRIALS; t++) {
        struct tamis_estimate size;
        tamis *f = test_copy(empty);
        test_add_hashes(f, 78, 2 * t, 2 * t + 2);
        test_demand(tamis_difference_size(f, empty, &size), "size");
        none += size.value == 0;
        four += size.value == 4;
        assert_true(size.value == 0 || size.value == 2 || size.value == 4);
        tamis_free(f);
    }
    tamis_free(empty);
    assert_true(test_is_possible(none, TRIALS, 0.5 / M, TEST_ALPHA));
    assert_true(test_is_possible(four, TRIALS, 0.5 / M, TEST_ALPHA));
}

/* Few are counted, many are sampled; the reported error matches the actual one. */
static void strata_are_as_computed(void **state) {
    (void)state;
    enum { TRIALS = 150 };
    const test_sizes few = estimates("iblt:cells=8,estimator=strata", 20, 50);
    assert_true(test_spread_mean(&few.found) == 20 && test_spread_variance(&few.found) < 1e-9 &&
                few.told == 0);
    for (uint64_t d = 1000; d <= 10000; d *= 10) {
        const test_sizes m = estimates("iblt:cells=8,estimator=strata", d, TRIALS);
        assert_true(fabs(test_spread_mean(&m.found) / (double)d - 1) <
                    0.03 + 6 * sqrt(m.told / TRIALS) / (double)d);
        assert_true(test_spread_variance(&m.found) / m.told > 0.4 &&
                    test_spread_variance(&m.found) / m.told < 1.8);
    }
}

static void sizes_need_an_estimator(void **state) {
    (void)state;
    struct tamis_estimate size;
    tamis *f = test_make("iblt:differences=10,estimator=none");
    assert_int_equal(tamis_difference_size(f, f, &size), TAMIS_UNSUPPORTED);
    tamis_free(f);
}

/* ---- Sizes by a filter ---------------------------------------------------------------------- */

/* d keys are only theirs, d only ours. */
static void filters_estimate_sizes(void **state) {
    (void)state;
    enum { KEYS = 5000, TRIALS = 60 };
    uint64_t *ours = malloc(KEYS * sizeof *ours);
    for (uint64_t d = 10; d <= 1000; d *= 10) {
        double sum = 0, squares = 0, variance = 0;
        for (uint64_t t = 0; t < TRIALS; t++) {
            struct tamis_estimate here, there;
            tamis *f = test_make("counting:capacity=%d,fpr=5%%,width=16", KEYS);
            test_add_hashes(f, 79 + t, 0, KEYS);
            for (uint64_t i = 0; i < KEYS; i++) ours[i] = test_number(79 + t, i + d);
            test_demand(tamis_difference_by_filter(f, ours, KEYS, &there, &here), "by filter");
            assert_true(fabs(there.value - here.value) < 1e-6);
            sum += here.value;
            squares += (here.value - (double)d) * (here.value - (double)d);
            variance += (double)d * tamis_fpr_now(f) / (1 - tamis_fpr_now(f));
            tamis_free(f);
        }
        assert_true(fabs(sum - TRIALS * (double)d) < 6 * sqrt(variance));
        assert_true(fabs(squares / variance - 1) < 6 * sqrt(3.0 / TRIALS));
    }
    free(ours);
}

static void some_filters_cannot_estimate(void **state) {
    (void)state;
    struct tamis_estimate here, there;
    uint64_t hash = 5;
    tamis *sketch = test_make("minhash"), *window = test_make("window:capacity=100");
    tamis *full = test_make("classic:capacity=1,bits=64");
    test_add_hashes(full, 80, 0, 2000);
    assert_int_equal(tamis_difference_by_filter(sketch, &hash, 1, &there, &here),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_difference_by_filter(window, &hash, 1, &there, &here),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_difference_by_filter(full, &hash, 1, &there, &here), TAMIS_SATURATED);
    tamis_free(full);
    full = test_make("classic:capacity=1");
    test_demand(tamis_difference_by_filter(full, NULL, 0, &there, &here), "two empty sets");
    assert_true(there.value == 0 && here.value == 0);
    tamis_free(full);
    tamis_free(window);
    tamis_free(sketch);
}

/* ---- What is not a set ---------------------------------------------------------------------- */

/* A key added twice is found, is reported, and prevents listing until one copy is removed. */
static void repeated_keys_are_reported(void **state) {
    (void)state;
    uint64_t listed = 0;
    tamis *f = test_make("iblt:differences=10"), *empty = test_copy(f);
    test_add_hashes(f, 81, 0, 3);
    test_add_hashes(f, 81, 2, 3);
    assert_true(tamis_has_hash(f, test_number(81, 2)));
    assert_true(test_info(f).affected > 0);
    assert_non_null(strstr(test_info(f).caveat, "more than once"));
    assert_int_equal(tamis_difference(f, empty, count_one, &listed), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "more than once"));
    assert_int_equal(listed, 0);
    test_demand(tamis_remove_hash(f, test_number(81, 2)), "remove");
    assert_int_equal(test_info(f).affected, 0);
    test_demand(tamis_difference(f, empty, count_one, &listed), "list");
    assert_int_equal(listed, 3);
    assert_int_equal(tamis_difference(f, empty, take_none, NULL), TAMIS_CANCELLED);
    tamis_free(f);
    tamis_free(empty);
}

/* Two numbers of a family that share only their cell in the first subtable of `table`. */
static void find_neighbours(tamis_iblt table, uint64_t hash[2], uint64_t at[2][8]) {
    for (uint64_t i = 1;; i++) {
        unsigned shared = 0;
        hash[0] = test_number(82, 0);
        hash[1] = test_number(82, i);
        for (int h = 0; h < 2; h++) {
            uint64_t chain = tamis__chain_start(hash[h]);
            for (unsigned s = 0; s < table.hashes; s++)
                at[h][s] = tamis__iblt_next(table, &chain, s);
        }
        for (unsigned s = 0; s < table.hashes; s++) shared += at[0][s] == at[1][s];
        if (shared == 1 && at[0][0] == at[1][0]) return;
    }
}

/* Both hashes are stored, but the second in a wrong cell of the first subtable. Both are found, and
 * leave the cell that they should share. The sums of all subtables agree. */
static void contradictions_are_refused(void **state) {
    (void)state;
    enum { PLACES = 8 };
    uint64_t hash[2], at[2][PLACES], listed = 0;
    size_t size;
    tamis *f = test_make("iblt:cells=32,hashes=4,estimator=none"), *empty = test_copy(f), *g;
    uint8_t *image = test_image(f, &size);
    tamis_iblt table = {image + TEST_HEADER_BYTES, 32, 4};
    find_neighbours(table, hash, at);
    for (int h = 0; h < 2; h++) tamis__iblt_add(table, hash[h], 1);
    const tamis_iblt_cell both = tamis__iblt_get(table, at[0][0]);
    const tamis_iblt_cell one = {1, hash[0], tamis__iblt_check(hash[0])};
    const tamis_iblt_cell other = {1, both.keys ^ one.keys, both.checks ^ one.checks};
    tamis__iblt_put(table, at[0][0], one);
    tamis__iblt_put(table, (at[0][0] + 1) % 8, other);
    test_reseal(image, size);
    test_demand(tamis_load(&g, image, size), "the gate cannot see it");
    assert_int_equal(tamis_difference(g, empty, count_one, &listed), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "contradict"));
    assert_int_equal(tamis_difference(empty, g, count_one, &listed), TAMIS_CORRUPT);
    assert_int_equal(listed, 0);
    free(image);
    tamis_free(f);
    tamis_free(g);
    tamis_free(empty);
}

/* ---- The gate ------------------------------------------------------------------------------- */

static void impossible_tables_are_refused(void **state) {
    (void)state;
    static const test_word words[] = {
        {CELLS, 0},    {CELLS, 33},    {CELLS, UINT64_MAX}, {HASHES, 2},
        {HASHES, 9},   {ESTIMATOR, 3}, {ESTIMATOR, 0},      {COUNTERS, 0},
        {COUNTERS, 2}, {COUNTERS, 65}, {CELLS, 36},         {COUNTERS, 256},
    };
    tamis *f = test_make("iblt:cells=32,hashes=4,counters=128");
    test_add_hashes(f, 83, 0, 20);
    assert_true(test_refuses_words(f, words, sizeof words / sizeof *words, NULL));
    /* A flipped bit of a cell always shows; one of a signed counter if it is its lowest bit. */
    const uint64_t counters = 8 * test_info(f).payload_bytes - 32 * 128;
    for (uint64_t i = 0; i < 128; i++) {
        assert_false(test_takes_flip(f, counters + 32 * i));
        assert_true(test_takes_flip(f, counters + 32 * i + 1));
    }
    tamis_free(f);
    f = test_make("iblt:cells=32,hashes=4,estimator=none");
    test_add_hashes(f, 83, 0, 20);
    assert_int_equal(test_flip_bits(f, 1000, NULL), 0);
    tamis_free(f);
    f = test_make("iblt:cells=32,hashes=4,estimator=strata");
    test_add_hashes(f, 83, 0, 20);
    assert_int_equal(test_flip_bits(f, 1000, NULL), 0);
    tamis_free(f);
}

static void params_are_checked(void **state) {
    (void)state;
    tamis *f;
    static const char *const bad[] = {
        "iblt",                                      /* neither a size nor a number of keys */
        "iblt:capacity=100,bits=1000",               /* too small for the estimator */
        "iblt:cells=30,counters=63",                 /* too few */
        "iblt:cells=30,counters=0,estimator=signed", /* signed needs some */
        "iblt:cells=30,counters=64,estimator=strata",
        "iblt:cells=30,hashes=2",
        "iblt:differences=0",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_create(&f, bad[i]), TAMIS_INVALID);
        assert_true(strlen(tamis_why()) > 10);
    }
    assert_int_equal(tamis_create(&f, "iblt:capacity=2^55"), TAMIS_TOO_LARGE);
    assert_true(test_plan("iblt:cells=31").word[CELLS] == 32);
    assert_true(test_plan("iblt:cells=31,counters=65").word[COUNTERS] == 66);
    assert_true(test_plan("iblt:capacity=1000,size=64k").payload_bytes <= 65536);
    assert_true(test_plan("iblt:capacity=1000,size=64k").payload_bytes > 65000);
    assert_true(test_plan("iblt:differences=1M,hashes=3").word[CELLS] < 1240000);
}

/* Filters that do not match, and kinds that cannot list. */
static void others_are_refused(void **state) {
    (void)state;
    uint64_t listed = 0;
    struct tamis_estimate size;
    tamis *f = test_make("iblt:differences=10"), *g = test_make("iblt:differences=20");
    tamis *seeded = test_make("iblt:differences=10,seed=1"),
          *plain = test_make("classic:capacity=10");
    assert_int_equal(tamis_difference(f, g, count_one, &listed), TAMIS_MISMATCH);
    assert_int_equal(tamis_difference(f, seeded, count_one, &listed), TAMIS_MISMATCH);
    assert_int_equal(tamis_difference_size(f, seeded, &size), TAMIS_MISMATCH);
    assert_int_equal(tamis_difference(plain, plain, count_one, &listed), TAMIS_UNSUPPORTED);
    tamis_free(f);
    tamis_free(g);
    tamis_free(seeded);
    tamis_free(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_fail_as_computed),
        cmocka_unit_test(planned_sizes_list_all),
        cmocka_unit_test(signs_are_as_computed),
        cmocka_unit_test(two_signs_are_exact),
        cmocka_unit_test(strata_are_as_computed),
        cmocka_unit_test(sizes_need_an_estimator),
        cmocka_unit_test(filters_estimate_sizes),
        cmocka_unit_test(some_filters_cannot_estimate),
        cmocka_unit_test(repeated_keys_are_reported),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(impossible_tables_are_refused),
        cmocka_unit_test(params_are_checked),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests_name("iblt", tests, NULL, NULL);
}
