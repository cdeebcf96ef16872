/* SPDX-License-Identifier: MIT */
/* Approximate reconciliation trees: what is listed is lacking, the share found is that of the
 * formula for every correction, and the walk is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_jobs.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/spread.h"

enum { N = 20000, LACKING = 300, MAX = 6 };

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Numbers [from, to) of a family, ascending. */
static uint64_t *sorted(uint64_t family, uint64_t from, uint64_t to) {
    uint64_t *list = malloc((size_t)(to - from + 1) * sizeof *list);
    assert_non_null(list);
    for (uint64_t i = from; i < to; i++) list[i - from] = test_number(family, i);
    qsort(list, (size_t)(to - from), sizeof *list, by_number);
    return list;
}

/* What a walk listed. */
typedef struct list {
    uint64_t hash[N];
    size_t n, max;
} list;

static bool take(void *ctx, uint64_t hash) {
    list *l = ctx;
    assert_true(l->n < N);
    l->hash[l->n++] = hash;
    return l->n < l->max;
}

/* Ours are [0, n), theirs [lacking, n + more): what they lack is [0, lacking). */
static void compare(uint64_t family, uint64_t n, uint64_t lacking, uint64_t more, double bits,
                    unsigned correction, list *out, struct tamis_tree_walk *walk, double *rate) {
    uint64_t *ours = sorted(family, 0, n), *theirs = sorted(family, lacking, n + more);
    tamis *f;
    *out = (list){.max = SIZE_MAX};
    REQUIRE_OK(tamis_tree_summary(&f, theirs, (size_t)(n + more - lacking), bits, family, NULL));
    REQUIRE_OK(tamis_tree_missing(f, ours, (size_t)n, correction, take, out, walk, NULL));
    if (rate) *rate = tamis_fpr_now(f);
    assert_int_equal(walk->lacking, out->n);
    for (size_t i = 0; i < out->n; i++) {
        assert_null(bsearch(&out->hash[i], theirs, (size_t)(n + more - lacking), 8, by_number));
        assert_non_null(bsearch(&out->hash[i], ours, (size_t)n, 8, by_number));
        assert_true(i == 0 || out->hash[i] > out->hash[i - 1]);
    }
    tamis_free(f);
    free(ours);
    free(theirs);
}

static void with_many_bits_all_is_found(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 3, 1000, N};
    struct tamis_tree_walk walk;
    static list l;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned correction = 0; correction < 3; correction++) {
            const uint64_t n = sizes[i];
            for (uint64_t lacking = 0; lacking <= n; lacking = lacking * 7 + 1) {
                compare(i + 1, n, lacking, 5, 128, correction, &l, &walk, NULL);
                assert_int_equal(l.n, lacking);
            }
            compare(i + 1, n, n, 0, 128, correction, &l, &walk, NULL); /* they have none */
            assert_int_equal(l.n, n);
            compare(i + 1, n, 0, 0, 128, correction, &l, &walk, NULL); /* the same sets */
            assert_int_equal(l.n, 0);
            assert_true(walk.asked <= (2u << correction) - 1);
        }
}

/* Nodes above a leaf: one for each bit at which some hash first differs from this one. */
static unsigned depth_of(const uint64_t *hashes, size_t n, uint64_t hash) {
    unsigned depth = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t wanted = hash >> bit ^ 1;
        size_t low = 0, high = n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (hashes[middle] >> bit < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        depth += low < n && hashes[low] >> bit == wanted;
    }
    return depth;
}

/* The probability that no correction + 1 of the coins in a row are wrong, and the leaf is right. */
static double found_chance(unsigned coins, unsigned correction, double f) {
    double run[MAX + 1] = {1}; /* by the length of the wrong run at the end */
    for (unsigned i = 0; i < coins; i++) {
        double next[MAX + 1] = {0};
        for (unsigned r = 0; r <= correction; r++) {
            next[0] += run[r] * (1 - f);
            if (r < correction) next[r + 1] += run[r] * f;
        }
        memcpy(run, next, sizeof run);
    }
    double sum = 0;
    for (unsigned r = 0; r <= correction; r++) sum += run[r];
    return sum * (1 - f);
}

static double expected_share(uint64_t family, unsigned correction, double rate) {
    uint64_t *ours = sorted(family, 0, N);
    double sum = 0;
    for (uint64_t i = 0; i < LACKING; i++)
        sum += found_chance(depth_of(ours, N, test_number(family, i)), correction, rate);
    free(ours);
    return sum / LACKING;
}

/* One line of the table: each trial has other keys. */
static void measure(double bits, unsigned correction) {
    enum { TRIALS = 16 };
    static list l;
    test_spread off = {0};
    double found = 0, formula = 0, asked = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct tamis_tree_walk walk;
        double rate;
        compare(100 + trial, N, LACKING, LACKING, bits, correction, &l, &walk, &rate);
        const double share = (double)l.n / LACKING;
        const double expected = expected_share(100 + trial, correction, rate);
        test_spread_add(&off, share - expected);
        found += share / TRIALS;
        formula += expected / TRIALS;
        asked += (double)walk.asked / TRIALS;
    }
    print_message("# %4.0f  %10u  %.4f  %.4f  %8.0f\n", bits, correction, found, formula, asked);
    assert_true(test_mean_is_possible(&off, 0, test_spread_variance(&off)));
    assert_true(test_spread_variance(&off) < 0.01);
    /* d log n: a path for each, and what corrections add. */
    assert_true(asked < LACKING * (log2((double)N / LACKING) + 4) * 2 * (1 + correction * 1.5));
}

static void the_share_found_is_that_of_the_formula(void **state) {
    (void)state;
    print_message("# bits  correction  found  formula  asked, of %d keys\n", N);
    for (double bits = 8; bits <= 16; bits += 8)
        for (unsigned correction = 0; correction < MAX; correction++) measure(bits, correction);
}

static void what_is_wrong_is_refused(void **state) {
    const uint64_t good[] = {1, 2, 3}, twice[] = {1, 2, 2}, back[] = {3, 2};
    static list l;
    tamis *f;
    (void)state;
    l = (list){.max = 1};
    assert_int_equal(tamis_tree_summary(&f, twice, 3, 8, 0, NULL), TAMIS_INVALID);
    assert_null(f);
    assert_int_equal(tamis_tree_summary(&f, back, 2, 8, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_tree_summary(&f, good, 3, 0.5, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_tree_summary(&f, good, 3, 257, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_tree_summary(&f, good, 3, (double)NAN, 0, NULL), TAMIS_INVALID);
    REQUIRE_OK(tamis_tree_summary(&f, NULL, 0, 8, 0, NULL));
    assert_int_equal(tamis_tree_missing(f, back, 2, 0, take, &l, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_tree_missing(f, good, 3, 17, take, &l, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(l.n, 0);
    assert_int_equal(tamis_tree_missing(f, good, 3, 0, take, &l, NULL, NULL), TAMIS_CANCELLED);
    assert_int_equal(l.n, 1);
    REQUIRE_OK(tamis_tree_missing(f, NULL, 0, 0, take, &l, NULL, NULL));
    tamis_free(f);
    const struct tamis_options small = {.struct_size = sizeof small, .max_bytes = 8};
    assert_int_equal(tamis_tree_summary(&f, good, 3, 256, 0, &small), TAMIS_TOO_LARGE);
    assert_null(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_many_bits_all_is_found),
        cmocka_unit_test(the_share_found_is_that_of_the_formula),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
