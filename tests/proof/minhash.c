/* SPDX-License-Identifier: MIT */
/* minhash measured against its formulas: is the similarity right on average, and is its error what
 * the sketch says?
 *
 * Sets that share a known part are sketched and compared many times, with other keys each time. The
 * mean must be the truth and the variance that of the formula, both two-sided; so an estimator that
 * is better than its formula fails as well. The table is printed as comments, and stands in
 * docs/kinds/minhash.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/spread.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

#ifdef TAMIS_SHORT
enum { TRIALS = 500 };
#else
enum { TRIALS = 2000 };
#endif
enum { DENSE = 64, SPARSE = 4 }; /* times as many keys as bins, times fewer */

static const unsigned keeps[] = {64, 8, 2, 1};
enum { KEEPS = COUNT_OF(keeps) };

/* A case: two sets with `keys` different keys together, `shared` of which are in both. */
typedef struct task {
    uint64_t bins, keys, shared;
    bool is_dense;
} task;

static void add_range(tamis *f, uint64_t family, uint64_t from, uint64_t to) {
    uint64_t hashes[1024];
    while (from < to) {
        size_t n = 0;
        while (n < COUNT_OF(hashes) && from < to) hashes[n++] = test_number(family, from++);
        REQUIRE_OK(tamis_add_hashes(f, hashes, n));
    }
}

static void sketch_pair(const task *t, uint64_t family, tamis *pair[2]) {
    const uint64_t first_end = t->shared + (t->keys - t->shared) / 2;
    for (int i = 0; i < 2; i++)
        pair[i] = test_make("minhash:bins=%llu", (unsigned long long)t->bins);
    add_range(pair[0], family, 0, first_end);
    add_range(pair[1], family, 0, t->shared);
    add_range(pair[1], family, first_end, t->keys);
}

/* ---- Formulas ------------------------------------------------------------------------------- */

typedef struct expected {
    double mean, min, max; /* the variance is between the last two */
} expected;

/* Of a number of bins that agree by chance p, scaled to a similarity and cut off at 0. */
static expected by_coins(double bins, double p, double c) {
    double mean = 0, squares = 0;
    for (double x = 0; x <= bins; x++) {
        const double log_chance = lgamma(bins + 1) - lgamma(x + 1) - lgamma(bins - x + 1) +
                                  x * log(p) + (bins - x) * log1p(-p);
        const double j = fmax(0, (x / bins - c) / (1 - c)), chance = exp(log_chance);
        mean += chance * j;
        squares += chance * j * j;
    }
    const double variance = squares - mean * mean;
    return (expected){mean, variance, variance};
}

static expected expect(const task *t, unsigned keep) {
    const double k = (double)t->bins, n = (double)t->keys, j = (double)t->shared / n;
    const double m = -k * expm1(n * log1p(-1 / k)); /* bins that are not empty */
    const double draw = (n - m) / (m * (n - 1)), again = (k - m) / (k * k);
    const double c = ldexp(1, -(int)keep), coins = (1 - j) * c / (1 - c);
    if (keep == 64) return (expected){j, j * (1 - j) * draw, j * (1 - j) * draw};
    if (t->is_dense && j < 1) return by_coins(k, j + (1 - j) * c, c);
    /* Bins that both sets reach, but with other keys, are where borrowers share a coin. */
    const double own = -k * expm1(n * (1 + j) / 2 * log1p(-1 / k));
    const double shared = (2 * own - m * (1 + j)) / (m * (1 - j));
    const double alone = (1 + (k / m - m / k) / own) / k;
    const double coin = j < 1 ? shared * (1 / m + again) + (1 - shared) * alone : 0;
    const double variance = j * (1 - j) * (draw + again * (1 - draw)) + coins * coin;
    return (expected){j, 0.95 * variance, 1.15 * variance}; /* of higher order: 5 % of the error */
}

/* ---- Measuring ------------------------------------------------------------------------------ */

typedef struct seen {
    test_spread value;
    double told; /* sum of the squares of errors */
} seen;

static void compare_shrunk(const task *t, uint64_t family, seen out[KEEPS]) {
    tamis *pair[2];
    struct tamis_estimate j;
    for (size_t i = 0; i < KEEPS; i++) {
        if (i == 0) sketch_pair(t, family, pair);
        tamis *a = test_copy(pair[0]), *b = test_copy(pair[1]);
        if (keeps[i] < 64) {
            REQUIRE_OK(tamis_shrink(a, keeps[i]));
            REQUIRE_OK(tamis_shrink(b, keeps[i]));
        }
        REQUIRE_OK(tamis_similarity(a, b, &j));
        test_spread_add(&out[i].value, j.value);
        out[i].told += j.error * j.error;
        tamis_free(a);
        tamis_free(b);
    }
    tamis_free(pair[0]);
    tamis_free(pair[1]);
}

/* Where the cut at 0 bites and bins share coins, there is no simple formula: left out. */
static bool has_formula(const task *t, unsigned keep) {
    return keep == 64 || t->is_dense || t->shared * 2 >= t->keys;
}

static void judge(const task *t, unsigned keep, const seen *s) {
    const expected e = expect(t, keep);
    const double j = (double)t->shared / (double)t->keys;
    const double measured = sqrt(test_spread_variance(&s->value));
    const double told = sqrt(s->told / TRIALS);
    printf("# %5llu %6s %5.2f %5u   %8.5f   %8.5f   %8.5f   %8.5f\n", (unsigned long long)t->bins,
           t->is_dense ? "K*64" : "K/4", j, keep, test_spread_mean(&s->value), measured,
           sqrt(e.max), told);
    if (!has_formula(t, keep)) return;
    if (!test_mean_is_possible(&s->value, e.mean, e.max))
        fail_msg("the mean is %g, not %g", test_spread_mean(&s->value), e.mean);
    if (!test_variance_is_possible(&s->value, e.min, e.max))
        fail_msg("the error is %g, not %g to %g", measured, sqrt(e.min), sqrt(e.max));
    /* What is told adds half a bin of doubt, which is all there is at 0 and 1. */
    const bool is_between = t->shared > 0 && t->shared < t->keys && e.mean < 1.05 * j;
    if (is_between && (told < 0.95 * sqrt(e.min) || told > 1.15 * sqrt(e.max)))
        fail_msg("the error is told as %g, and is %g", told, measured);
    const double max = told / (t->is_dense ? 0.95 : 0.9);
    if (!test_variance_is_possible(&s->value, 0, max * max))
        fail_msg("the error is told too small");
}

static void similarity_has_its_error(void **state) {
    static const unsigned tenths[] = {0, 1, 5, 9, 10};
    (void)state;
    printf("#  bins   keys     J  keep       mean      error    formula       told\n");
    for (uint64_t bins = 128; bins <= 1024; bins *= 8)
        for (int is_dense = 1; is_dense >= 0; is_dense--)
            for (size_t i = 0; i < COUNT_OF(tenths); i++) {
                const uint64_t keys = is_dense ? bins * DENSE : bins / SPARSE;
                const task t = {bins, keys, (keys * tenths[i] + 5) / 10, is_dense};
                seen out[KEEPS] = {0};
                for (uint64_t trial = 0; trial < TRIALS; trial++)
                    compare_shrunk(&t, 1000 * bins + trial * 10 + tenths[i], out);
                for (size_t k = 0; k < KEEPS; k++) judge(&t, keeps[k], &out[k]);
            }
}

/* Sizes are estimated too: from none to a thousand for each bin. */
static void sizes_have_their_error(void **state) {
    enum { BINS = 256 };
    (void)state;
    printf("#  keys   mean/keys   error/keys   told\n");
    for (uint64_t keys = 1; keys <= BINS * 1024; keys *= 8) {
        test_spread s = {0};
        double told = 0;
        for (uint64_t trial = 0; trial < TRIALS / 4; trial++) {
            struct tamis_estimate items;
            tamis *f = test_make("minhash:bins=%d", BINS);
            add_range(f, trial + 7, 0, keys);
            REQUIRE_OK(tamis_items_now(f, &items));
            test_spread_add(&s, items.value / (double)keys);
            told += items.error * items.error / ((double)keys * (double)keys);
            tamis_free(f);
        }
        const double variance = told / (double)s.n;
        printf("# %6llu  %8.5f  %8.5f  %8.5f\n", (unsigned long long)keys, test_spread_mean(&s),
               sqrt(test_spread_variance(&s)), sqrt(variance));
        /* A likeliest value is too large by its variance, as a share. */
        const double bias = variance;
        if (fabs(test_spread_mean(&s) - 1) > bias + 6.11 * sqrt(variance / (double)s.n) + 1e-3)
            fail_msg("%llu keys: the mean is off", (unsigned long long)keys);
        if (keys > 8 && !test_variance_is_possible(&s, 0.8 * variance, 1.25 * variance))
            fail_msg("%llu keys: the error is not what is told", (unsigned long long)keys);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(similarity_has_its_error),
        cmocka_unit_test(sizes_have_their_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
