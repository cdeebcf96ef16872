/* SPDX-License-Identifier: MIT */
/* increment: its false-positive rate against the distribution of sums and against many filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* The vectors of docs/format.md, added once and twice: a cell and its increment. */
static void known_hashes_have_known_increments(void **state) {
    (void)state;
    enum { HASHES = 3, WIDTH = 6 };
    static const struct {
        uint64_t hash;
        struct {
            unsigned cell, value;
        } at[HASHES];
    } known[] = {{0x42548a8a111c54ee, {{25, 6}, {41, 5}, {89, 7}}},
                 {0xe41f5c6dbce1fa41, {{89, 5}, {69, 4}, {98, 5}}}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        tamis *f = test_make("increment:capacity=9,bits=600,hashes=3,step=4");
        for (unsigned times = 1; times <= 2; times++) {
            uint64_t sum = 0;
            assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
            for (unsigned p = 0; p < HASHES; p++)
                assert_int_equal(test_bits_at(f, known[i].at[p].cell * WIDTH, WIDTH),
                                 times * known[i].at[p].value);
            for (unsigned cell = 0; cell < 100; cell++)
                sum += test_bits_at(f, cell * WIDTH, WIDTH) != 0;
            assert_int_equal(sum, HASHES);
        }
        tamis_free(f);
    }
    /* Cell 89 has 7 from cat and 5 from owl; without owl, 7 - 5 = 2 is not an increment. */
    tamis *f = test_make("increment:capacity=9,bits=600,hashes=3,step=4");
    for (unsigned i = 0; i < 2; i++) assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
    assert_int_equal(test_bits_at(f, 89 * WIDTH, WIDTH), 12);
    assert_int_equal(tamis_remove_hash(f, known[1].hash), TAMIS_OK);
    assert_int_equal(tamis_remove_hash(f, known[1].hash), TAMIS_NOT_FOUND);
    assert_true(tamis_has_hash(f, known[0].hash));
    tamis_free(f);
}

/* The probability that a random increment passes a random cell, by the distribution of sums:
 * sums[s] is the probability of the sum s after j throws on the cell. */
static double passing_by_sums(double balls, double cells, unsigned step) {
    enum { MAX_SUM = 300, MAX_THROWS = 60 };
    const unsigned top = 16 * step - 1;
    double sums[MAX_SUM] = {1}, passing = 0, weight = exp(balls * log1p(-1 / cells));
    for (unsigned j = 0; j < MAX_THROWS; j++) {
        for (unsigned s = 0; s <= top; s++)
            for (unsigned v = step; v < 2 * step; v++)
                if (s == top || s == v || (s > v && s - v >= step))
                    passing += weight * sums[s] / step;
        double more[MAX_SUM] = {0};
        for (unsigned s = 0; s <= top; s++)
            for (unsigned v = step; v < 2 * step; v++)
                more[s + v < top ? s + v : top] += sums[s] / step;
        memcpy(sums, more, sizeof sums);
        weight *= (balls - j) / ((j + 1) * (cells - 1));
    }
    return passing;
}

static double rate_of(const uint64_t word[], uint64_t items) {
    return tamis__kind_by_name("increment", strlen("increment"))->kind->rate(word, items);
}

static void increment_rate_is_that_of_the_sums(void **state) {
    (void)state;
    for (unsigned step = 0; step < 3; step++)
        for (unsigned hashes = 1; hashes <= 12; hashes++)
            for (uint64_t n = 1000; n <= 100000; n *= 10) {
                const uint64_t cells = 50000;
                const uint64_t word[TAMIS_WORDS] = {cells * (6 + step), hashes, step};
                const double passing =
                    passing_by_sums((double)(n * hashes), (double)cells, 4u << step);
                const double exact = pow(passing, hashes), is = rate_of(word, n);
                /* The variance of the fill adds about k^2/2mp of the rate, and never lowers it. */
                if (is < exact * (1 - 1e-9) ||
                    is > exact * (1 + hashes * hashes / ((double)cells * passing)))
                    fail_msg("step %u, k %u, n %llu: %.9g, by sums %.9g", 4u << step, hashes,
                             (unsigned long long)n, is, exact);
            }
    /* m/n = 10, k = 3, L = 4, as in the paper's comparison; and the formula at its limits. */
    const uint64_t paper[TAMIS_WORDS] = {6 * 1000000, 3, 0};
    assert_true(fabs(rate_of(paper, 100000) / 6.65e-4 - 1) < 0.01);
    assert_true(rate_of(paper, 0) == 0 && rate_of(paper, UINT64_MAX) == 1);
    const uint64_t tiny[TAMIS_WORDS] = {6, 3, 0};
    assert_true(rate_of(tiny, 0) == 0 && rate_of(tiny, 1) == 1);
}

/* Small arrays, where the variance of the fill shows: the formula against many filters. */
static void increment_rate_holds_for_small_filters(void **state) {
    (void)state;
    enum { FILTERS = 1500, PROBES = 300 };
    static const unsigned capacities[] = {5, 20, 100};
    for (size_t c = 0; c < COUNT_OF(capacities); c++)
        for (unsigned step = 4; step <= 16; step *= 2) {
            uint64_t hits = 0;
            double expected = 0, now = 0;
            for (uint64_t i = 0; i < FILTERS; i++) {
                tamis *f = test_make("increment:capacity=%u,fpr=3%%,step=%u,seed=%llu",
                                     capacities[c], step, (unsigned long long)i);
                for (uint64_t k = 0; k < capacities[c]; k++) tamis_add_u64(f, k);
                for (uint64_t k = 0; k < PROBES; k++) hits += tamis_has_u64(f, 1000 + k);
                now += tamis_fpr_now(f) / FILTERS;
                expected = test_info(f).fpr_expected;
                tamis_free(f);
            }
            if (!test_is_possible(hits, (uint64_t)FILTERS * PROBES, now, TEST_ALPHA))
                fail_msg("capacity %u, step %u: %llu hits, the cells say %g", capacities[c], step,
                         (unsigned long long)hits, now * FILTERS * PROBES);
            if (fabs(now / expected - 1) > 0.04) /* 1500 filters give their mean to 1 % */
                fail_msg("capacity %u, step %u: the cells say %g, the formula %g", capacities[c],
                         step, now, expected);
        }
}

/* A million keys, at half capacity, at capacity and at 1.5 times; no key is lost, and the hits
 * match cells and formula, two-sided. */
static void increment_at_a_million(void **state) {
    (void)state;
    enum { N = 1000000, PROBES = 1000000 };
    tamis *f = test_make("increment:capacity=%d,fpr=0.5%%", N);
    static const uint64_t loads[] = {N / 2, N, N + N / 2};
    uint64_t added = 0;
    for (size_t l = 0; l < COUNT_OF(loads); l++) {
        for (; added < loads[l]; added++) tamis_add_u64(f, test_number(11, added));
        for (uint64_t i = 0; i < added; i++)
            if (!tamis_has_u64(f, test_number(11, i))) fail_msg("a key is lost");
        uint64_t hits = 0;
        for (uint64_t i = 0; i < PROBES; i++)
            hits += tamis_has_u64(f, test_number(11, TEST_STRANGERS + l * PROBES + i));
        const double now = tamis_fpr_now(f), rate = rate_of(test_info(f).word, added);
        print_message("# increment, %llu keys: %.4g measured, %.4g by cells, %.4g by formula\n",
                      (unsigned long long)added, (double)hits / PROBES, now, rate);
        if (!test_is_possible(hits, PROBES, now, TEST_ALPHA))
            fail_msg("%llu keys: %llu hits, the cells say %g", (unsigned long long)added,
                     (unsigned long long)hits, now * PROBES);
        assert_true(fabs(now / rate - 1) < 0.01);
    }
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_increments),
        cmocka_unit_test(increment_rate_is_that_of_the_sums),
        cmocka_unit_test(increment_rate_holds_for_small_filters),
        cmocka_unit_test(increment_at_a_million),
    };
    return cmocka_run_group_tests_name("increment", tests, NULL, NULL);
}
