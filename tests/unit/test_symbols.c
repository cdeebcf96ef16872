/* SPDX-License-Identifier: MIT */
/* Difference streams: every machine makes the same symbols, each hash is in its random places, the
 * result is exactly the difference, and it takes as many symbols as the literature says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "jobs/streams.h"
#include "tests/support/bounds.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/sessions.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const uint8_t key[TAMIS_STREAM_KEY_BYTES] = {7, 1, 8};

static bool are_equal(struct tamis_digest x, struct tamis_digest y) {
    return x.n == y.n && x.sum[0] == y.sum[0] && x.sum[1] == y.sum[1];
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Computed by tests/python/tamis_stream.py, which shares no code with this: on any machine, in any
 * language, the doubles must give these. */
static void every_machine_makes_the_same_symbols(void **state) {
    (void)state;
    uint64_t hashes[1000];
    struct tamis_symbol list[4096];
    uint64_t all = 0;
    tamis_symbols *s;
    for (uint64_t i = 0; i < COUNT_OF(hashes); i++)
        hashes[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    REQUIRE_OK(tamis_symbols_create(&s, hashes, COUNT_OF(hashes), key, NULL));
    REQUIRE_OK(tamis_symbols_next(s, list, COUNT_OF(list)));
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        const uint64_t words[] = {list[i].sum, list[i].check, (uint64_t)list[i].count};
        for (int w = 0; w < 3; w++) all = all * UINT64_C(0x9e3779b97f4a7c15) + words[w] + 1;
    }
    assert_true(list[0].sum == UINT64_C(0x790f98a928d40218) &&
                list[0].check == UINT64_C(0xa5472bcd46) && list[0].count == 1000);
    assert_true(list[1].sum == UINT64_C(0xb919164b068ed282) &&
                list[1].check == UINT64_C(0x3a45436ea) && list[1].count == 632);
    assert_true(all == UINT64_C(0x7380b822250a2fe));
    tamis_symbols_free(s);
}

/* ---- Distribution ---------------------------------------------------------------------------- */

/* From symbol i, the next one is beyond k with probability ((i + 1.5) / (k + 1.5))^2. The
 * probability of reaching k follows, and is 1 / (1 + k/2) except for a few percent at the first
 * symbols. */
enum { LOOKED_AT = 300 };
static void work_out_chances(double chance[LOOKED_AT]) {
    chance[0] = 1;
    for (int k = 1; k < LOOKED_AT; k++) {
        chance[k] = 0;
        for (int i = 0; i < k; i++)
            chance[k] +=
                chance[i] * (pow((i + 1.5) / (k + 0.5), 2) - pow((i + 1.5) / (k + 1.5), 2));
        assert_true(fabs(chance[k] * (1 + k / 2.0) - 1) < (k < 8 ? 0.05 : 0.01));
    }
}

static void each_hash_is_where_chance_puts_it(void **state) {
    (void)state;
    enum { N = 100000 };
    double chance[LOOKED_AT];
    struct tamis_symbol list[LOOKED_AT];
    uint64_t *hashes = malloc(N * sizeof *hashes);
    tamis_symbols *s;
    work_out_chances(chance);
    for (uint64_t i = 0; i < N; i++) hashes[i] = i; /* not mixed at all: the key does that */
    REQUIRE_OK(tamis_symbols_create(&s, hashes, N, key, NULL));
    REQUIRE_OK(tamis_symbols_next(s, list, LOOKED_AT));
    for (int k = 0; k < LOOKED_AT; k++)
        if (!test_is_possible((uint64_t)list[k].count, N, chance[k], TEST_ALPHA))
            fail_msg("symbol %d has %lld of %d hashes, and %.1f are expected", k,
                     (long long)list[k].count, N, N * chance[k]);
    tamis_symbols_free(s);
    free(hashes);
}

/* ---- Results --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Only in the first of two sorted lists? */
static bool is_only_in(const test_side *has, const test_side *lacks, uint64_t hash) {
    return bsearch(&hash, has->hashes, has->n, 8, by_number) &&
           !bsearch(&hash, lacks->hashes, lacks->n, 8, by_number);
}

/* Is the list right, with these numbers of ours and theirs? */
static void check_list(const tamis_peeler *p, test_side sides[2], size_t ours, size_t theirs) {
    uint64_t cursor = 0, hash, n[2] = {0, 0};
    bool is_ours;
    for (int s = 0; s < 2; s++)
        if (sides[s].n) qsort(sides[s].hashes, sides[s].n, 8, by_number);
    while (tamis_peeler_next(p, &cursor, &hash, &is_ours)) {
        assert_true(is_only_in(&sides[is_ours], &sides[!is_ours], hash));
        n[is_ours]++;
    }
    assert_int_equal(n[1], ours);
    assert_int_equal(n[0], theirs);
}

/* Takes symbols one by one until it is whole; returns how many. */
static uint64_t peel(tamis_symbols *s, tamis_peeler *p, uint64_t max) {
    struct tamis_symbol symbol;
    while (!tamis_peeler_is_whole(p) && tamis_peeler_symbols(p) < max) {
        REQUIRE_OK(tamis_symbols_next(s, &symbol, 1));
        REQUIRE_OK(tamis_peeler_take(p, &symbol, 1));
    }
    return tamis_peeler_symbols(p);
}

static void the_difference_comes_out(void **state) {
    (void)state;
    static const size_t tries[][3] = {{0, 0, 0},   {0, 1, 0},     {0, 0, 1},      {1, 0, 0},
                                      {1, 1, 1},   {500, 0, 0},   {500, 1, 0},    {500, 0, 1},
                                      {0, 300, 0}, {0, 0, 300},   {0, 300, 300},  {500, 3, 40},
                                      {0, 1, 999}, {20000, 5, 5}, {300, 700, 20}, {100, 0, 2000}};
    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        const size_t d = tries[i][1] + tries[i][2];
        test_side sides[2];
        tamis_symbols *s;
        tamis_peeler *p;
        test_sets(40 + i, tries[i][0], tries[i][1], tries[i][2], sides);
        REQUIRE_OK(tamis_symbols_create(&s, sides[0].hashes, sides[0].n, key, NULL));
        REQUIRE_OK(tamis_peeler_create(&p, sides[1].hashes, sides[1].n, key, NULL));
        assert_in_range(peel(s, p, 2 * d + 1024), d > 1 ? d : 1, 2 * d + 1023);
        assert_true(tamis_peeler_is_whole(p));
        assert_true(are_equal(tamis_symbols_digest(s), tamis_peeler_digest(p)));
        assert_true(tamis_symbols_digest(s).n == sides[0].n);
        check_list(p, sides, tries[i][2], tries[i][1]);
        tamis_symbols_free(s);
        tamis_peeler_free(p);
        test_sets_free(sides);
    }
}

/* ---- How many symbols it takes --------------------------------------------------------------- */

/* `mean` and `sd` of the symbols for d differences are from 200,000 trials (20,000,000 / d from 256
 * on) with other keys and hashes than here; `paper` is the published number per difference, to two
 * decimals. */
typedef struct measured {
    size_t d, trials;
    double mean, sd, reference_trials, paper;
} measured;

static const measured table[] = {
    {1, 100, 1, 0, 2e5, 1},
    {2, 2000, 1.5877 * 2, 1.853, 200000, 1.6},
    {4, 2000, 1.7495 * 4, 3.091, 200000, 1.74},
    {8, 2000, 1.7409 * 8, 4.465, 200000, 1.74},
    {16, 2000, 1.6630 * 16, 6.001, 200000, 1.67},
    {64, 1000, 1.4905 * 64, 9.315, 200000, 1.49},
    {256, 500, 1.4083 * 256, 16.028, 78125, 1.41},
    {1024, 200, 1.3757 * 1024, 31.648, 19531, 1.38},
};

static uint64_t symbols_needed(uint64_t trial, size_t d) {
    static uint64_t hashes[1024];
    uint8_t own[TAMIS_STREAM_KEY_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};
    tamis_symbols *s;
    tamis_peeler *p;
    tamis__put64(own + 8, trial);
    for (size_t i = 0; i < d; i++) hashes[i] = test_number(91, trial * 1024 + i);
    REQUIRE_OK(tamis_symbols_create(&s, hashes, d / 2, own, NULL));
    REQUIRE_OK(tamis_peeler_create(&p, hashes + d / 2, d - d / 2, own, NULL));
    const uint64_t n = peel(s, p, 100 * d + 1000);
    assert_true(tamis_peeler_is_whole(p));
    tamis_symbols_free(s);
    tamis_peeler_free(p);
    return n;
}

/* The mean of independent trials is normal enough: the tail of a trial falls with the fourth power
 * (two hashes that stay together up to symbol k are that rare), so its variance is finite. 6.11
 * standard errors on either side leave 1e-9; the reference has an error too. */
static void it_takes_as_many_symbols_as_it_should(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const measured *m = &table[i];
        uint64_t sum = 0;
        for (size_t t = 0; t < m->trials; t++) sum += symbols_needed(t, m->d);
        const double mean = (double)sum / (double)m->trials;
        const double error = m->sd * sqrt(1 / (double)m->trials + 1 / m->reference_trials);
        if (fabs(mean - m->mean) > 6.11 * error + 1e-9)
            fail_msg("%zu differences took %.2f symbols, not %.2f +- %.2f", m->d, mean, m->mean,
                     6.11 * error);
        assert_true(fabs(m->mean / (double)m->d - m->paper) < 0.015);
    }
}

/* The peeler's estimate of the difference after 256 symbols, over the true one. */
static double estimate(uint64_t trial, size_t left, size_t right) {
    enum { SYMBOLS = 256 };
    struct tamis_symbol list[SYMBOLS];
    test_side sides[2];
    tamis_symbols *s;
    tamis_peeler *p;
    uint8_t own[TAMIS_STREAM_KEY_BYTES] = {9};
    tamis__put64(own + 8, trial);
    test_sets(trial, 100, left, right, sides);
    REQUIRE_OK(tamis_symbols_create(&s, sides[0].hashes, sides[0].n, own, NULL));
    REQUIRE_OK(tamis_peeler_create(&p, sides[1].hashes, sides[1].n, own, NULL));
    REQUIRE_OK(tamis_symbols_next(s, list, SYMBOLS));
    REQUIRE_OK(tamis_peeler_take(p, list, SYMBOLS));
    const double ratio = tamis__peeler_estimate(p) / (double)(left + right);
    tamis_symbols_free(s);
    tamis_peeler_free(p);
    test_sets_free(sides);
    return ratio;
}

/* The mean square of 128 nearly normal counts has a standard deviation of sqrt(2/128) of its mean;
 * the probability p that it is divided by is right to 1 %. Where one side has more, the estimate is
 * biased low, but never below the difference of the sizes. */
static void half_of_the_difference_is_known_early(void **state) {
    (void)state;
    enum { TRIALS = 200 };
    double sum = 0;
    for (uint64_t t = 0; t < TRIALS; t++) {
        const double ratio = estimate(t, 1500, 1500);
        assert_true(ratio > 0.4 && ratio < 2);
        sum += ratio;
    }
    assert_true(fabs(sum / TRIALS - 1) < 6.11 * sqrt(2.0 / 128 / TRIALS) + 0.01);
    for (uint64_t t = 0; t < 20; t++) {
        const double ratio = estimate(1000 + t, 3000, t * 10),
                     min = (3000.0 - 10.0 * (double)t) / (3000.0 + 10.0 * (double)t);
        assert_true(ratio >= min - 1e-9 && ratio < 2);
    }
}

/* One in a thousand may need more than tamis_symbols_enough() says. */
static void enough_is_enough(void **state) {
    (void)state;
    static const size_t few[] = {1, 2, 3, 5, 8, 16, 40, 100};
    for (size_t i = 0; i < COUNT_OF(few); i++) {
        enum { TRIALS = 2000 };
        uint64_t over = 0;
        for (uint64_t t = 0; t < TRIALS; t++)
            over += symbols_needed(1000000 + t, few[i]) > tamis_symbols_enough(few[i]);
        if (over * 1000 > TRIALS && !test_is_possible(over, TRIALS, 0.001, TEST_ALPHA))
            fail_msg("%zu differences were too many %llu times of %d", few[i],
                     (unsigned long long)over, TRIALS);
        assert_true(tamis_symbols_enough(few[i]) <= 25 * few[i]);
    }
    assert_int_equal(tamis_symbols_enough(0), 1);
    assert_in_range(tamis_symbols_enough(1000000), 1360000, 1400000);
    assert_true(tamis_symbols_enough(UINT64_MAX) > (uint64_t)1 << 31);
}

/* ---- Invalid input --------------------------------------------------------------------------- */

static void a_hash_twice_is_refused(void **state) {
    (void)state;
    const uint64_t hashes[] = {5, 0, UINT64_MAX, 7, 0, 9};
    tamis_symbols *s;
    tamis_peeler *p;
    assert_int_equal(tamis_symbols_create(&s, hashes, COUNT_OF(hashes), NULL, NULL), TAMIS_INVALID);
    assert_null(s);
    assert_string_equal(tamis_why(),
                        "hash 0000000000000000 is a duplicate, at 1 and 4: a set is needed");
    assert_int_equal(tamis_peeler_create(&p, hashes, COUNT_OF(hashes), NULL, NULL), TAMIS_INVALID);
    assert_null(p);
    REQUIRE_OK(tamis_symbols_create(&s, hashes, 4, NULL, NULL));
    tamis_symbols_free(s);
    tamis_symbols_free(NULL);
    tamis_peeler_free(NULL);
}

/* Sides with different keys have nothing in common, and find out. */
static void another_key_makes_other_symbols(void **state) {
    (void)state;
    static const uint8_t other[TAMIS_STREAM_KEY_BYTES] = {7, 1, 9};
    test_side sides[2];
    tamis_symbols *s;
    tamis_peeler *p;
    struct tamis_symbol symbol;
    tamis_status rc = TAMIS_OK;
    test_sets(3, 200, 2, 2, sides);
    REQUIRE_OK(tamis_symbols_create(&s, sides[0].hashes, sides[0].n, key, NULL));
    REQUIRE_OK(tamis_peeler_create(&p, sides[1].hashes, sides[1].n, other, NULL));
    for (int i = 0; i < 2000 && !rc; i++) {
        REQUIRE_OK(tamis_symbols_next(s, &symbol, 1));
        rc = tamis_peeler_take(p, &symbol, 1);
        assert_false(tamis_peeler_is_whole(p));
    }
    tamis_symbols_free(s);
    tamis_peeler_free(p);
    test_sets_free(sides);
}

static void what_no_set_makes_is_refused(void **state) {
    (void)state;
    static const struct tamis_symbol bad[][2] = {
        {{1, 1, -1}, {0, 0, 0}},                /* negative */
        {{1, 1, INT64_MAX}, {0, 0, 0}},         /* more than a set can have */
        {{1, UINT64_C(1) << 40, 3}, {0, 0, 0}}, /* a check too wide */
        {{1, 1, 3}, {0, 0, 4}},                 /* more than symbol 0 */
        {{0, 0, 3}, {1, 2, -3}},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        tamis_peeler *p;
        REQUIRE_OK(tamis_peeler_create(&p, NULL, 0, key, NULL));
        assert_int_equal(tamis_peeler_take(p, bad[i], 2), TAMIS_CORRUPT);
        assert_true(strstr(tamis_why(), "symbol") != NULL);
        assert_int_equal(tamis_peeler_take(p, bad[i], 0), TAMIS_CORRUPT);
        assert_false(tamis_peeler_is_whole(p));
        tamis_peeler_free(p);
    }
}

/* Symbol 0 of a single hash. */
static struct tamis_symbol alone(uint64_t hash) {
    struct tamis_symbol symbol;
    tamis_symbols *s;
    REQUIRE_OK(tamis_symbols_create(&s, &hash, 1, key, NULL));
    REQUIRE_OK(tamis_symbols_next(s, &symbol, 1));
    tamis_symbols_free(s);
    return symbol;
}

static void expect_refusal(const uint64_t *own, size_t n, const struct tamis_symbol *list,
                           size_t symbols, const char *why) {
    tamis_peeler *p;
    REQUIRE_OK(tamis_peeler_create(&p, own, n, key, NULL));
    assert_int_equal(tamis_peeler_take(p, list, symbols), TAMIS_CORRUPT);
    assert_string_equal(tamis_why(), why);
    tamis_peeler_free(p);
}

/* Forged symbols: their checks fit, their hashes do not. */
static void hashes_that_cannot_differ_are_refused(void **state) {
    (void)state;
    const uint64_t own[] = {4, 5, 6};
    const struct tamis_symbol four = alone(4), five = alone(5), six = alone(6), new = alone(7);
    /* One of ours, once more. */
    const struct tamis_symbol again = {four.sum ^ five.sum ^ six.sum ^ four.sum,
                                       four.check ^ five.check ^ six.check ^ four.check, 4};
    expect_refusal(own, 3, &again, 1, "symbol 0 of the stream adds a hash that is already present");
    /* One fewer, by a hash that we do not have. */
    const struct tamis_symbol fewer = {four.sum ^ five.sum ^ six.sum ^ new.sum,
                                       four.check ^ five.check ^ six.check ^ new.check, 2};
    expect_refusal(own, 3, &fewer, 1, "symbol 0 of the stream removes a hash that is not present");
    /* Symbol 2 resolves symbol 0, and symbol 1 is about something else. */
    const struct tamis_symbol other = alone(8);
    const struct tamis_symbol beside[] = {
        {new.sum ^ other.sum, new.check ^ other.check, 2}, {12345, 678, 2}, new};
    expect_refusal(own, 0, beside, 3, "symbol 1 of the stream covers what symbol 0 does not");
}

/* Every bit of every symbol of a stream, flipped: an error, no end, or the right list; where the
 * peeler reports whole, the digest decides. */
static void a_flipped_bit_never_makes_a_wrong_list(void **state) {
    (void)state;
    enum { SYMBOLS = 60 };
    test_side sides[2];
    tamis_symbols *s;
    struct tamis_symbol list[SYMBOLS];
    int refused = 0, endless = 0;
    test_sets(11, 50, 6, 6, sides);
    REQUIRE_OK(tamis_symbols_create(&s, sides[0].hashes, sides[0].n, key, NULL));
    REQUIRE_OK(tamis_symbols_next(s, list, SYMBOLS));
    for (int i = 0; i < SYMBOLS; i++) {
        for (int bit = 0; bit < 192; bit++) {
            tamis_peeler *p;
            struct tamis_symbol bad[SYMBOLS];
            memcpy(bad, list, sizeof bad);
            uint64_t words[3] = {bad[i].sum, bad[i].check, (uint64_t)bad[i].count};
            words[bit / 64] ^= UINT64_C(1) << bit % 64;
            bad[i] = (struct tamis_symbol){words[0], words[1], (int64_t)words[2]};
            REQUIRE_OK(tamis_peeler_create(&p, sides[1].hashes, sides[1].n, key, NULL));
            if (tamis_peeler_take(p, bad, SYMBOLS))
                refused++;
            else if (!tamis_peeler_is_whole(p))
                endless++;
            else if (are_equal(tamis_peeler_digest(p), tamis_symbols_digest(s)))
                check_list(p, sides, 6, 6);
            else
                fail_msg("bit %d of symbol %d makes another set", bit, i);
            tamis_peeler_free(p);
        }
    }
    assert_true(refused > 100 && endless > 100);
    tamis_symbols_free(s);
    test_sets_free(sides);
}

/* A liar makes arbitrary symbols with valid checks: the work stays bounded by their number. */
static void liars_are_bounded(void **state) {
    (void)state;
    for (uint64_t trial = 0; trial < 300; trial++) {
        tamis_symbols *one;
        tamis_peeler *p;
        uint64_t own[20];
        tamis_status rc = TAMIS_OK;
        for (uint64_t i = 0; i < COUNT_OF(own); i++) own[i] = test_number(trial, i);
        REQUIRE_OK(tamis_peeler_create(&p, own, COUNT_OF(own), key, NULL));
        for (uint64_t i = 0; i < 400 && !rc; i++) {
            /* symbols of one hash, ours or not, in arbitrary places */
            const uint64_t luck = test_number(trial + 1000, i),
                           hash = test_number(trial, luck % 40);
            struct tamis_symbol symbol;
            REQUIRE_OK(tamis_symbols_create(&one, &hash, 1, key, NULL));
            REQUIRE_OK(tamis_symbols_next(one, &symbol, 1));
            if (luck >> 60 == 0) symbol.sum ^= luck;
            if (i == 0) symbol.count = 20;
            rc = tamis_peeler_take(p, &symbol, 1);
            tamis_symbols_free(one);
            uint64_t cursor = 0, found;
            bool is_ours;
            while (tamis_peeler_next(p, &cursor, &found, &is_ours)) {
            }
            assert_true(cursor <= i + 1);
        }
        assert_true(rc != TAMIS_OK || !tamis_peeler_is_whole(p));
        tamis_peeler_free(p);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static tamis_status live(test_failing_allocator *failing) {
    const struct tamis_allocator allocator = test_allocator(failing);
    const struct tamis_options o = {.struct_size = sizeof o, .allocator = &allocator};
    test_side sides[2];
    tamis_symbols *s = NULL;
    tamis_peeler *p = NULL;
    struct tamis_symbol list[64];
    test_sets(5, 10, 200, 30, sides);
    tamis_status rc = tamis_symbols_create(&s, sides[0].hashes, sides[0].n, key, &o);
    if (!rc) rc = tamis_peeler_create(&p, sides[1].hashes, sides[1].n, key, &o);
    while (!rc && !tamis_peeler_is_whole(p)) {
        rc = tamis_symbols_next(s, list, COUNT_OF(list));
        if (!rc) rc = tamis_peeler_take(p, list, COUNT_OF(list));
    }
    if (rc && p) { /* permanent: the side that failed cannot continue after the gap */
        const bool sent = tamis_symbols_next(s, list, 1) == TAMIS_OK;
        const bool taken = tamis_peeler_take(p, list, 1) == TAMIS_OK;
        assert_true(sent != taken);
    }
    tamis_symbols_free(s);
    tamis_peeler_free(p);
    test_sets_free(sides);
    return rc;
}

static void out_of_memory_is_safe(void **state) {
    (void)state;
    test_failing_allocator whole = {0};
    REQUIRE_OK(live(&whole));
    assert_int_equal(whole.blocks, 0);
    assert_true(whole.calls > 10);
    for (long at = 1; at <= whole.calls; at++) {
        test_failing_allocator failing = {.fail_at = at};
        assert_int_equal(live(&failing), TAMIS_NOMEM);
        assert_int_equal(failing.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_makes_the_same_symbols),
        cmocka_unit_test(each_hash_is_where_chance_puts_it),
        cmocka_unit_test(the_difference_comes_out),
        cmocka_unit_test(it_takes_as_many_symbols_as_it_should),
        cmocka_unit_test(half_of_the_difference_is_known_early),
        cmocka_unit_test(enough_is_enough),
        cmocka_unit_test(a_hash_twice_is_refused),
        cmocka_unit_test(another_key_makes_other_symbols),
        cmocka_unit_test(what_no_set_makes_is_refused),
        cmocka_unit_test(hashes_that_cannot_differ_are_refused),
        cmocka_unit_test(a_flipped_bit_never_makes_a_wrong_list),
        cmocka_unit_test(liars_are_bounded),
        cmocka_unit_test(out_of_memory_is_safe),
    };
    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
