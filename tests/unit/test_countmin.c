/* SPDX-License-Identifier: MIT */
/* countmin: every counter against a slow model, count errors against the papers' bounds, and
 * conservative updates, which never leave more than plain ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/zipf.h"
#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- Shapes --------------------------------------------------------------------------------- */

static void params_become_rows_and_columns(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t columns, rows, bytes;
    } known[] = {
        {"countmin:error=0.1%,error-prob=1%", 2719, 5, 2719 * 5 * 4 + 4},
        {"countmin:error=0.1%", 2719, 5, 2719 * 5 * 4 + 4},
        {"countmin:error=1/1000,error-prob=1/1000,width=64", 2719, 7, 2719 * 7 * 8},
        {"countmin:error=0.9,error-prob=0.9", 4, 1, 16},
        {"countmin:columns=100,rows=3", 100, 3, 1200},
        {"countmin:columns=101,error-prob=5%", 101, 3, 101 * 3 * 4 + 4},
        {"countmin:capacity=1,fpr=50%", 2, 1, 8},
        {"countmin:capacity=0,size=1000", 50, 5, 1000},
        {"countmin:capacity=100,size=4000,rows=2", 500, 2, 4000},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        const struct tamis_plan plan = test_plan(known[i].spec);
        assert_int_equal(plan.word[0], known[i].columns);
        assert_int_equal(plan.word[1], known[i].rows);
        assert_int_equal(plan.payload_bytes, known[i].bytes);
    }
}

static void bad_params_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "countmin:error=0",
        "countmin:error=1",
        "countmin:error=some",
        "countmin:error=0.1%,columns=8",
        "countmin:error=1%,error-prob=1%,rows=3",
        "countmin:columns=0",
        "countmin:columns=8,rows=65",
        "countmin:columns=8,width=16",
        "countmin:columns=8,update=lazy",
        "countmin:columns=2^54,rows=2",
        "countmin:capacity=10,size=64,columns=100",
        "countmin:capacity=2^56,fpr=1e-3",
        "countmin",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        tamis *f;
        if (tamis_create(&f, bad[i]) == TAMIS_OK) fail_msg("%s was made", bad[i]);
        assert_null(f);
        assert_true(strlen(tamis_why()) > 10);
    }
}

static void a_spec_leads_back(void **state) {
    (void)state;
    static const char *const specs[] = {
        "countmin:error=0.1%,error-prob=1%",
        "countmin:columns=77,rows=3,update=conservative",
        "countmin:capacity=1000,fpr=1%",
        "countmin:capacity=1000,size=10000,width=64",
        "countmin:error=1%,error-prob=1e-6,seed=5",
    };
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        char text[256];
        tamis *f = test_make("%s", specs[i]);
        assert_true(tamis_spec(f, text, sizeof text) < sizeof text);
        tamis *g = test_make("%s", text);
        assert_null(tamis_mismatch(f, g));
        tamis_free(f);
        tamis_free(g);
    }
}

static void conservative_neither_merges_nor_shares(void **state) {
    (void)state;
    const unsigned both = TAMIS_CAN_MERGE | TAMIS_CAN_SHARE;
    assert_int_equal(test_plan("countmin:error=1%").abilities & both, both);
    assert_int_equal(test_plan("countmin:error=1%,update=conservative").abilities & both, 0);
    tamis *f = test_make("countmin:error=1%%,update=conservative"), *g = test_copy(f);
    assert_int_equal(tamis_merge(f, g), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_add_shared(f, "a", 1), TAMIS_UNSUPPORTED);
    tamis_free(f);
    tamis_free(g);
}

/* ---- Counters, one by one ------------------------------------------------------------------- */

enum { COLUMNS = 7, ROWS = 3 };

static uint64_t scale(uint64_t h, uint64_t n) {
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)h * n >> 64);
}

static void model_add(uint64_t model[ROWS][COLUMNS], uint64_t hash, uint64_t times, uint64_t top,
                      bool is_conservative) {
    uint64_t *own[ROWS], x = hash | 1, min = UINT64_MAX;
    for (int i = 0; i < ROWS; i++, x *= 0xf1357aea2e62a9c5) {
        own[i] = &model[i][scale(x, COLUMNS)];
        if (*own[i] < min) min = *own[i];
    }
    const uint64_t wanted = times > top - min ? top : min + times;
    for (int i = 0; i < ROWS; i++) {
        const uint64_t more = times > top - *own[i] ? top : *own[i] + times;
        *own[i] = !is_conservative ? more : *own[i] < wanted ? wanted : *own[i];
    }
}

static uint64_t counter_at(const tamis *f, unsigned bytes, size_t i) {
    uint64_t size, value = 0;
    const uint8_t *payload = tamis_payload(f, &size);
    for (unsigned b = bytes; b-- > 0;) value = value << 8 | payload[i * bytes + b];
    return value;
}

/* Single and multiple adds, until counters reach their top and stay there. */
static void counters_are_those_of_the_model(void **state) {
    (void)state;
    for (int choice = 0; choice < 4; choice++) {
        const unsigned bytes = choice & 1 ? 8 : 4;
        const uint64_t top = choice & 1 ? UINT64_MAX : UINT32_MAX;
        uint64_t model[ROWS][COLUMNS] = {{0}}, items = 0;
        tamis *f = test_make("countmin:columns=%d,rows=%d,width=%u,update=%s", COLUMNS, ROWS,
                             bytes * 8, choice & 2 ? "conservative" : "plain");
        for (uint64_t i = 0; i < 400; i++) {
            const uint64_t hash = test_number(5, i % 50), max = top / 8;
            uint64_t times = i % 3 ? 1 : i < 300 ? i : max;
            if (times > UINT64_MAX - items) times = 1;
            assert_int_equal(tamis_add_times_hash(f, hash, times), TAMIS_OK);
            model_add(model, hash, times, top, choice & 2);
            items += times;
            for (size_t j = 0; j < ROWS * COLUMNS; j++)
                assert_int_equal(counter_at(f, bytes, j), model[j / COLUMNS][j % COLUMNS]);
        }
        assert_int_equal(test_info(f).items, items);
        if (choice == 0) assert_true(test_info(f).affected > 0);
        tamis_free(f);
    }
}

static void counters_end_at_their_top(void **state) {
    (void)state;
    tamis *f = test_make("countmin:columns=%d,rows=%d,width=64", COLUMNS, ROWS);
    assert_int_equal(tamis_add_times(f, "a", 1, UINT64_MAX), TAMIS_OK);
    assert_true(tamis_count(f, "a", 1) == UINT64_MAX);
    assert_int_equal(test_info(f).affected, ROWS);
    assert_non_null(strstr(test_info(f).caveat, "stuck"));
    assert_int_equal(tamis_add_times(f, "b", 1, 2), TAMIS_FULL);
    tamis_free(f);
    f = test_make("countmin:columns=%d,rows=%d", COLUMNS, ROWS);
    assert_int_equal(tamis_add_times(f, "a", 1, UINT32_MAX - 1), TAMIS_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(tamis_add_shared(f, "a", 1), TAMIS_OK);
    assert_true(tamis_count(f, "a", 1) == UINT32_MAX);
    tamis_free(f);
}

/* Other kinds take multiple adds up to a limit, kinds of other systems by key. */
static void every_kind_adds_many_times(void **state) {
    (void)state;
    tamis *f = test_make("spectral:capacity=10,width=16");
    assert_int_equal(tamis_add_times(f, "a", 1, 0), TAMIS_OK);
    assert_int_equal(tamis_count(f, "a", 1), 0);
    assert_int_equal(tamis_add_times(f, "a", 1, 65530), TAMIS_OK);
    assert_int_equal(tamis_count(f, "a", 1), 65530);
    assert_int_equal(tamis_add_times(f, "a", 1, 65537), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "65537"));
    assert_int_equal(test_info(f).items, 65530);
    tamis_free(f);
    f = test_make("guava:capacity=10");
    assert_int_equal(tamis_add_times(f, "a", 1, 3), TAMIS_OK);
    assert_true(tamis_has(f, "a", 1));
    assert_int_equal(test_info(f).items, 3);
    tamis_free(f);
}

/* ---- Errors --------------------------------------------------------------------------------- */

enum { KEYS = 20000, ADDS = 200000 };

static uint64_t hash_of(uint64_t rank) {
    return test_number(9, rank);
}

/* A Zipf stream into two filters at once, with exact counts by rank. Exponent 0: uniform. */
static void draw_stream(double exponent, tamis *plain, tamis *conservative, uint32_t *truth) {
    zipf z = zipf_start(KEYS, exponent, 11);
    memset(truth, 0, (KEYS + 1) * sizeof *truth);
    for (int i = 0; i < ADDS; i++) {
        const uint64_t rank = exponent > 0 ? zipf_next(&z) : 1 + zipf_bits(&z) % KEYS;
        truth[rank]++;
        test_demand(tamis_add_hash(plain, hash_of(rank)), "add");
        test_demand(tamis_add_hash(conservative, hash_of(rank)), "add");
    }
}

static void errors_stay_within_the_bound(void **state) {
    (void)state;
    static uint32_t truth[KEYS + 1];
    static const double exponents[] = {0, 0.8, 1, 1.2};
    for (size_t e = 0; e < COUNT_OF(exponents); e++)
        for (unsigned rows = 1; rows <= 3; rows++) {
            tamis *f = test_make("countmin:error=0.5%%,rows=%u", rows);
            tamis *g = test_make("countmin:error=0.5%%,rows=%u,update=conservative", rows);
            draw_stream(exponents[e], f, g, truth);
            const struct tamis_info info = test_info(f);
            uint64_t over = 0, over_g = 0, sum = 0, sum_g = 0;
            assert_true(fabs(info.count_error - 0.005 * ADDS) < 0.003 * ADDS * 0.005);
            assert_true(fabs(info.count_error_prob - exp(-(double)rows)) < 1e-12);
            for (uint64_t rank = 1; rank <= KEYS; rank++) {
                const uint64_t count = tamis_count_hash(f, hash_of(rank));
                const uint64_t careful = tamis_count_hash(g, hash_of(rank));
                assert_true(careful >= truth[rank]);
                assert_true(careful <= count);
                over += (double)(count - truth[rank]) > info.count_error;
                over_g += (double)(careful - truth[rank]) > info.count_error;
                sum += count - truth[rank];
                sum_g += careful - truth[rank];
            }
            const double max = info.count_error_prob;
            assert_true((double)over <= max * KEYS ||
                        test_is_possible(over, KEYS, max, TEST_ALPHA));
            assert_true(over_g <= over);
            assert_true(sum_g < sum || rows == 1); /* with one row both are the same */
            tamis_free(f);
            tamis_free(g);
        }
}

/* As a filter its rate is exact: by formula, by the counters and by non-members, two-sided. */
static void nonmembers_count_nothing_as_often_as_planned(void **state) {
    (void)state;
    enum { N = 5000, PROBES = 400000 };
    static const double asked[] = {0.3, 0.05, 0.002};
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        tamis *f = test_make("countmin:capacity=%d,fpr=%g", N, asked[i]);
        for (uint64_t k = 0; k < N; k++)
            for (uint64_t times = 1 + k % 3; times; times--)
                test_demand(tamis_add_hash(f, test_number(i, k)), "add");
        uint64_t hits = 0;
        for (uint64_t k = 0; k < PROBES; k++)
            hits += tamis_count_hash(f, test_number(i, TEST_STRANGERS + k)) > 0;
        const struct tamis_info info = test_info(f);
        assert_true(test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA));
        assert_true(fabs(info.fpr_now / info.fpr_expected - 1) < 0.15);
        assert_true(info.fpr_expected <= asked[i] && info.fpr_expected > 0.95 * asked[i]);
        assert_true(fabs(info.items_now.value - N) < 6 * info.items_now.error + 1);
        tamis_free(f);
    }
}

/* The sketch of two streams is the sum of their sketches, and items are the adds of both. */
static void merging_equals_one_stream(void **state) {
    (void)state;
    tamis *f = test_make("countmin:error=1%%"), *g = test_copy(f), *both = test_copy(f);
    for (uint64_t i = 0; i < 5000; i++) {
        test_demand(tamis_add_hash(i % 3 ? f : g, test_number(1, i % 700)), "add");
        test_demand(tamis_add_hash(both, test_number(1, i % 700)), "add");
    }
    assert_int_equal(tamis_merge(f, g), TAMIS_OK);
    uint64_t m, n;
    const void *p = tamis_payload(f, &m), *q = tamis_payload(both, &n);
    assert_int_equal(m, n);
    assert_memory_equal(p, q, m);
    assert_int_equal(test_info(f).items, 5000);
    tamis_free(f);
    tamis_free(g);
    tamis_free(both);
}

/* ---- Weighted sums -------------------------------------------------------------------------- */

static void add_run(tamis *f, uint64_t from, uint64_t to, uint64_t times) {
    for (uint64_t i = from; i < to; i++) {
        const uint64_t key = test_number(5, i);
        test_demand(tamis_add_times(f, &key, sizeof key, times), "add");
    }
}

static void is_same(const tamis *f, const tamis *g) {
    uint64_t m, n;
    const void *p = tamis_payload(f, &m), *q = tamis_payload(g, &n);
    assert_int_equal(m, n);
    assert_memory_equal(p, q, m);
    assert_int_equal(test_info(f).items, test_info(g).items);
}

/* Counters equal those of multiple adds, also when undone, into a source, and to nothing. */
static void sums_are_as_added(const char *spec) {
    tamis *a = test_make("%s", spec), *b = test_copy(a), *sum = test_copy(a), *added = test_copy(a);
    add_run(a, 0, 300, 2);
    add_run(b, 200, 400, 7);
    add_run(added, 0, 300, 2 * 5);
    add_run(added, 200, 400, 7 * 3);
    const tamis *const both[] = {a, b}, *const back[] = {sum, b, a}, *const self[] = {a, a};
    test_demand(tamis_merge_weighted(sum, both, (const int64_t[]){5, 3}, 2), "weigh");
    is_same(sum, added);
    test_demand(tamis_merge_weighted(sum, back, (const int64_t[]){1, -3, -4}, 3), "weigh back");
    is_same(sum, a);
    test_demand(tamis_merge_weighted(a, self, (const int64_t[]){-1, 2}, 2), "weigh itself");
    is_same(a, sum);
    test_demand(tamis_merge_weighted(a, self, (const int64_t[]){-1, 1}, 2), "weigh to nothing");
    test_demand(tamis_merge_weighted(sum, both, NULL, 0), "weigh none");
    is_same(a, sum);
    tamis_free(a);
    tamis_free(b);
    tamis_free(sum);
    tamis_free(added);
}

/* Below 0, above the top, or past 64 bits on the way: refused, and nothing changes. */
static void sums_that_do_not_fit_are_refused(const char *spec) {
    tamis *a = test_make("%s", spec), *b = test_copy(a), *old;
    add_run(a, 0, 10, 3);
    add_run(b, 0, 5, 1);
    old = test_copy(a);
    const tamis *const both[] = {a, b};
    static const int64_t bad[][2] = {{1, -4},        {-1, 2},        {0, -1},
                                     {1LL << 61, 0}, {1, INT64_MIN}, {INT64_MAX, INT64_MAX},
                                     {INT64_MIN, 0}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(tamis_merge_weighted(a, both, bad[i], 2), TAMIS_FULL);
        is_same(a, old);
    }
    tamis_free(a);
    tamis_free(b);
    tamis_free(old);
}

static void weighted_sums(void **state) {
    (void)state;
    static const char *const specs[] = {"countmin:columns=50,rows=3",
                                        "countmin:columns=333,rows=5,width=64",
                                        "rediscms:width=77,depth=4"};
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        sums_are_as_added(specs[i]);
        sums_that_do_not_fit_are_refused(specs[i]);
    }
}

static void what_cannot_be_weighed(void **state) {
    (void)state;
    static const char *const specs[] = {"countmin:columns=50,update=conservative",
                                        "counting:capacity=100", "blocked:capacity=100"};
    const int64_t one = 1;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        tamis *f = test_make("%s", specs[i]);
        const tamis *const from[] = {f};
        assert_int_equal(tamis_merge_weighted(f, from, &one, 1), TAMIS_UNSUPPORTED);
        tamis_free(f);
    }
    tamis *f = test_make("countmin:columns=50"), *g = test_make("countmin:columns=51");
    const tamis *const other[] = {g};
    assert_int_equal(tamis_merge_weighted(f, other, &one, 1), TAMIS_MISMATCH);
    tamis_free(f);
    tamis_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_become_rows_and_columns),
        cmocka_unit_test(bad_params_are_refused),
        cmocka_unit_test(a_spec_leads_back),
        cmocka_unit_test(conservative_neither_merges_nor_shares),
        cmocka_unit_test(counters_are_those_of_the_model),
        cmocka_unit_test(counters_end_at_their_top),
        cmocka_unit_test(every_kind_adds_many_times),
        cmocka_unit_test(errors_stay_within_the_bound),
        cmocka_unit_test(nonmembers_count_nothing_as_often_as_planned),
        cmocka_unit_test(merging_equals_one_stream),
        cmocka_unit_test(weighted_sums),
        cmocka_unit_test(what_cannot_be_weighed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
