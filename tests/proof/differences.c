/* SPDX-License-Identifier: MIT */
/* What differs between two sets, at full size.
 *
 * Two sets of a million keys that differ in 1, 10, 1,000 and 100,000 are reconciled exactly by
 * tables that were planned for that, and the bytes are printed beside what any method needs. Then
 * how often tables of the planned size list all: for every size of docs/kinds/iblt.md, as many
 * pairs of sets as make a wrong plan show, and tables a little smaller than the threshold, which
 * must fail. Last, the estimators, against their formulas from both sides.
 *
 *     build/tests/proof/differences --table      prints the tables of docs/kinds/iblt.md */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_jobs.h"
#include "tamis_special.h"
#include "tests/support/bounds.h"
#include "tests/support/differences.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

typedef unsigned long long ull;

#ifdef TAMIS_SHORT
enum { WORK = 1000000, PAIRS = 150 };
#else
enum { WORK = 4000000, PAIRS = 300 };
#endif

static bool is_table; /* print, do not only check */

/* ---- Sets ----------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t first, second, sum;
} tally;

static bool count_sides(void *ctx, uint64_t hash, bool is_first) {
    tally *t = ctx;
    t->first += is_first;
    t->second += !is_first;
    t->sum += hash;
    return true;
}

/* ---- A million keys ------------------------------------------------------------------------- */

/* The first has [0, KEYS), the second [only_first, KEYS + only_second). */
static void million_with(uint64_t d) {
    enum { KEYS = 1000000 };
    const uint64_t only_first = d / 3 + (d % 3 != 0), only_second = d - only_first;
    tamis *a = test_make("iblt:differences=%llu", (ull)d), *b = test_copy(a);
    struct tamis_estimate size;
    tally listed = {0, 0, 0};
    uint64_t sum = 0;
    test_add_hashes(a, 5, 0, KEYS);
    test_add_hashes(b, 5, only_first, KEYS + only_second);
    for (uint64_t i = 0; i < only_first; i++) sum += test_number(5, i);
    for (uint64_t i = 0; i < only_second; i++) sum += test_number(5, KEYS + i);
    test_demand(tamis_difference(a, b, count_sides, &listed), "list");
    assert_true(listed.first == only_first && listed.second == only_second && listed.sum == sum);
    test_demand(tamis_difference_size(a, b, &size), "size");
    assert_true(fabs(size.value - (double)d) <= 6 * size.error + 1e-6);
    /* Any method must tell d of 2^64 hashes: log2 of (2^64 over d) bits. */
    const double bound = ((double)d * 64 - lgamma((double)d + 1) / log(2)) / 8;
    const struct tamis_info info = test_info(a);
    printf("# 10^6 keys, %6llu differ: listed exactly, %9llu bytes sent, at least %9.0f for "
           "anybody; estimated %.0f +- %.0f\n",
           (ull)d, (ull)info.stored_bytes, bound, size.value, size.error);
    tamis_free(a);
    tamis_free(b);
}

static void a_million_keys_are_reconciled(void **state) {
    (void)state;
    million_with(1);
    million_with(10);
    million_with(1000);
    million_with(100000);
}

/* ---- How often all is listed ---------------------------------------------------------------- */

/* At least 999 of 1000, as the option promises; and where pairs of keys that share all cells are
 * what can go wrong, as often as they do: d (d - 1) / 2 / side^k. */
static void planned_with(uint64_t d, int hashes) {
    char spec[96];
    if (hashes)
        sprintf(spec, "iblt:differences=%llu,hashes=%d,estimator=none", (ull)d, hashes);
    else
        sprintf(spec, "iblt:differences=%llu,estimator=none", (ull)d);
    const struct tamis_plan plan = test_plan(spec);
    const double k = (double)plan.word[1], side = (double)plan.word[0] / k, n = (double)d;
    const uint64_t trials = WORK / (d + 30) + 20;
    const uint64_t failed = test_count_unlisted(spec, d, d, trials);
    const double pairs = n * (n - 1) / 2 * pow(side, -k);
    if (is_table)
        printf("| %llu | %.0f | %llu | %.2f | %llu of %llu | %.5f |\n", (ull)d, k,
               (ull)plan.word[0], (double)plan.word[0] / n, (ull)(trials - failed), (ull)trials,
               pairs);
    assert_true((double)failed <= 0.001 * (double)trials ||
                test_is_possible(failed, trials, 0.001, TEST_ALPHA));
    /* No more often than computed is what too many cells would do; less often than the pairs alone
     * is impossible. */
    assert_true((double)failed >= pairs * (double)trials ||
                test_is_possible(failed, trials, pairs, TEST_ALPHA));
}

static void planned_sizes_list_all(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 10, 50, 100, 200, 1000, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k <= 5; k = k ? k + 1 : 3) planned_with(sizes[i], k);
}

/* A table below the threshold of its k never lists all; a tenth above it does. */
static void thresholds_are_where_they_are(void **state) {
    (void)state;
    static const double threshold[] = {[3] = 1.2218, 1.2949, 1.4250, 1.5697, 1.7208, 1.8731};
    enum { D = 20000, TRIALS = 5 };
    for (int k = 3; k <= 8; k++) {
        char spec[96];
        sprintf(spec, "iblt:cells=%d,hashes=%d,estimator=none", (int)(threshold[k] * D * 0.97), k);
        assert_int_equal(test_count_unlisted(spec, D, D, TRIALS), TRIALS);
        sprintf(spec, "iblt:cells=%d,hashes=%d,estimator=none", (int)(threshold[k] * D * 1.04), k);
        assert_int_equal(test_count_unlisted(spec, D, D, TRIALS), 0);
    }
}

/* ---- Estimators ----------------------------------------------------------------------------- */

/* The same by asking a filter of `keys` keys, of which d / 2 are others than ours. */
static test_sizes by_filter(uint64_t d, unsigned pairs) {
    enum { KEYS = 100000 };
    test_sizes sizes = {{0, 0, 0}, 0};
    uint64_t *ours = malloc(KEYS * sizeof *ours);
    if (!ours) abort();
    for (unsigned t = 0; t < pairs; t++) {
        struct tamis_estimate here, there;
        tamis *f = test_make("counting:capacity=%d,fpr=1%%,width=16", KEYS);
        test_add_hashes(f, 900 + t, 0, KEYS);
        for (uint64_t i = 0; i < KEYS; i++) ours[i] = test_number(900 + t, i + d / 2);
        test_demand(tamis_difference_by_filter(f, ours, KEYS, &there, &here), "by filter");
        test_spread_add(&sizes.found, here.value + there.value);
        tamis_free(f);
    }
    free(ours);
    return sizes;
}

static double deviation(const test_sizes *s) {
    return sqrt(test_spread_variance(&s->found));
}

static void print_spread(const char *what, uint64_t d, uint64_t bytes, test_sizes s,
                         double formula) {
    if (!is_table) return;
    printf("| %s | %llu | %llu | %.2f | %.3f | %.3f |\n", what, (ull)d, (ull)bytes,
           test_spread_mean(&s.found), deviation(&s), formula);
}

/* Bias and spread, two-sided. The spread of so many estimates is known to about 1 / sqrt(2 n); the
 * squares of counters have heavier tails than a normal, hence eight of these. */
static void check_spread(test_sizes s, uint64_t d, double formula, double bias, unsigned pairs) {
    const double d_ = (double)d;
    assert_true(fabs(test_spread_mean(&s.found) - d_) <=
                bias * d_ + 6 * formula / sqrt(pairs) + 1e-9);
    if (formula > 0.5) assert_true(fabs(deviation(&s) / formula - 1) < 8 / sqrt(2.0 * pairs));
}

static void estimators_are_as_computed(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 10, 100, 1000, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t d = sizes[i];
        const unsigned pairs = d > 10000 ? PAIRS / 5 : PAIRS;
        const double n = (double)d, formula = sqrt(2 * n * (n - 1) / 1024);
        const test_sizes s = test_estimate_sizes("iblt:cells=8", 6, d, pairs);
        print_spread("signed", d, 4096, s, formula);
        check_spread(s, d, formula, 0, pairs);
        const test_sizes t = test_estimate_sizes("iblt:cells=8,estimator=strata", 6, d, pairs);
        const double told = sqrt(t.told);
        print_spread("strata", d, 61440, t, told);
        assert_true(fabs(test_spread_mean(&t.found) / n - 1) < 0.03 + 6 * told / n / sqrt(pairs));
        assert_true(told == 0 ? deviation(&t) < 1e-6 * n
                              : test_variance_is_possible(&t.found, 0.25 * t.told, 2.25 * t.told));
    }
    for (uint64_t d = 10; d <= 100000; d *= 10) {
        const unsigned pairs = PAIRS / 10;
        const struct tamis_plan plan = test_plan("counting:capacity=100000,fpr=1%,width=16");
        const test_sizes s = by_filter(d, pairs);
        const double f = plan.fpr_expected, formula = 2 * sqrt((double)d / 2 * f / (1 - f));
        print_spread("filter", d, plan.payload_bytes, s, formula);
        check_spread(s, d, formula, 0.002, pairs);
    }
}

int main(int argc, char **argv) {
    is_table = argc > 1 && strcmp(argv[1], "--table") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_keys_are_reconciled),
        cmocka_unit_test(planned_sizes_list_all),
        cmocka_unit_test(thresholds_are_where_they_are),
        cmocka_unit_test(estimators_are_as_computed),
    };
    return cmocka_run_group_tests_name("differences", tests, NULL, NULL);
}
