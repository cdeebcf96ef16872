/* SPDX-License-Identifier: MIT */
/* Formulas for classic filters, checked against independently known values.
 *
 * tests/reference/rate-tables.csv holds tables 3, 4 and 5 as published by the authors of Summary
 * Cache (Fan, Cao, Almeida, Broder); programs run from the root of the repository. */
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

#include "tamis.h"
#include "tamis_math.h"

#define LN2 0.69314718055994530942

static double distance(double a, double b) {
    return fabs(a - b) / fmax(fabs(a), fabs(b));
}

static void assert_near(double is, double should_be, double max) {
    if (is == should_be || distance(is, should_be) <= max) return;
    fail_msg("is %.12g, should be %.12g within %g", is, should_be, max);
}

static void assert_order(double low, double high, const char *what, double n, double m, double k) {
    const double rounding = 1e-12;
    if (low <= high * (1 + rounding)) return;
    fail_msg("%s: %.17g > %.17g at n=%g m=%g k=%g", what, low, high, n, m, k);
}

/* ---- Known values --------------------------------------------------------------------------- */

static void exact_and_finite_have_their_known_values(void **state) {
    (void)state;
    static const struct {
        uint64_t n, m;
        unsigned k;
        double exact, finite;
    } known[] = {
        {1, 2, 2, 5.0 / 8, 9.0 / 16}, /* by hand: 2 balls, 2 bins */
        {3, 18, 3, 4409344158601.0 / 64268410079232.0, 0.0650406},
        {10, 100, 7, 0.00893631, 0.00839481},
        {100, 1000, 7, 0.00826625, 0.00821355},
        {50, 512, 6, 0.00770805, 0.00763382},
    };
    const double printed = 5e-6; /* the decimals are rounded to six digits */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double n = (double)known[i].n, m = (double)known[i].m, k = known[i].k;
        assert_near(tamis_rate_exact(known[i].n, known[i].m, known[i].k), known[i].exact, printed);
        assert_near(tamis_rate_finite(n, m, k), known[i].finite, printed);
    }
    assert_near(tamis_rate_exact(1, 2, 2), 5.0 / 8, 1e-15);
    assert_near(tamis_rate_exact(3, 18, 3), known[1].exact, 1e-13);
}

static void an_empty_filter_hits_nothing(void **state) {
    (void)state;
    for (unsigned k = 1; k <= 64; k++)
        for (uint64_t m = 1; m <= 1 << 20; m *= 2) {
            const double bits = (double)m;
            assert_true(tamis_rate_approx(0, bits, k) == 0);
            assert_true(tamis_rate_finite(0, bits, k) == 0);
            assert_true(tamis_rate_second_order(0, bits, k) == 0);
            assert_true(tamis_rate_upper(0, bits, k) == 0);
            assert_true(tamis_rate_exact(0, m, k) == 0);
        }
}

static void one_bit_hits_everything_once_a_key_is_in(void **state) {
    (void)state;
    for (unsigned k = 1; k <= 8; k++) {
        assert_near(tamis_rate_finite(1, 1, k), 1, 1e-15);
        assert_near(tamis_rate_exact(1, 1, k), 1, 1e-15);
        assert_near(tamis_rate_upper(1, 1, k), 1, 1e-15);
    }
}

/* The exact rate takes keys*hashes*bits steps, so it must refuse rather than run for hours. */
static void exact_refuses_what_would_take_too_long(void **state) {
    (void)state;
    assert_true(isnan(tamis_rate_exact(1000000, 10000000, 7)));
    assert_true(isnan(tamis_rate_exact(UINT64_MAX, UINT64_MAX, 64)));
    assert_true(isnan(tamis_rate_exact(1, 0, 1)));
    assert_true(isnan(tamis_rate_exact(1, 100, 0)));
    assert_false(isnan(tamis_rate_exact(1000, 10000, 7)));
}

/* ---- Order ---------------------------------------------------------------------------------- */

static void the_formulas_are_in_their_proven_order(void **state) {
    (void)state;
    static const uint64_t bits[] = {1, 2, 3, 4, 7, 8, 16, 31, 64, 100, 257, 512};
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (uint64_t keys = 0; keys <= 40; keys++)
            for (unsigned hashes = 1; hashes <= 12; hashes++) {
                const double n = (double)keys, m = (double)bits[b], k = hashes;
                const double usual = tamis_rate_approx(n, m, k),
                             finite = tamis_rate_finite(n, m, k);
                const double exact = tamis_rate_exact(keys, bits[b], hashes);
                const double upper = tamis_rate_upper(n, m, k);
                assert_order(0, usual, "usual is not negative", n, m, k);
                assert_order(usual, finite, "usual <= finite", n, m, k);
                assert_order(finite, exact, "finite <= exact", n, m, k);
                assert_order(exact, upper, "exact <= upper", n, m, k);
                assert_order(upper, 1, "upper is a chance", n, m, k);
            }
}

static void more_keys_never_lower_a_rate(void **state) {
    (void)state;
    for (unsigned k = 1; k <= 20; k++)
        for (double n = 1; n < 1e12; n *= 3) {
            const double m = 1e6;
            assert_order(tamis_rate_approx(n, m, k), tamis_rate_approx(n * 3, m, k), "usual", n, m,
                         k);
            assert_order(tamis_rate_finite(n, m, k), tamis_rate_finite(n * 3, m, k), "finite", n, m,
                         k);
            assert_order(tamis_rate_second_order(n, m, k), tamis_rate_second_order(n * 3, m, k),
                         "second order", n, m, k);
            assert_order(tamis_rate_upper(n, m, k), tamis_rate_upper(n * 3, m, k), "upper", n, m,
                         k);
        }
}

/* ---- Second order --------------------------------------------------------------------------- */

/* The probability that k probes hit, tracking which probed bits are still uncovered as the balls
 * fall. All terms are positive and it takes keys*hashes^2 steps: a second exact method, for sizes
 * that the distribution over all bits cannot reach. */
static double exact_by_cover(double keys, double bits, unsigned hashes) {
    double covered[65] = {1}, distinct[65] = {1}, rate = 0;
    const unsigned max = hashes < bits ? hashes : (unsigned)bits;
    for (double ball = 0; ball < keys * hashes; ball++)
        for (unsigned u = max; u > 0; u--) covered[u] += u / bits * (covered[u - 1] - covered[u]);
    for (unsigned probe = 0; probe < hashes; probe++, distinct[0] = 0)
        for (unsigned j = max; j > 0; j--)
            distinct[j] = distinct[j] * (j / bits) + distinct[j - 1] * ((bits - j + 1) / bits);
    for (unsigned j = 1; j <= max; j++) rate += distinct[j] * covered[j];
    return rate;
}

static void two_exact_ways_agree(void **state) {
    (void)state;
    for (uint64_t m = 1; m <= 300; m += 13)
        for (uint64_t n = 1; n <= 60; n += 7)
            for (unsigned k = 1; k <= 24; k += 3)
                assert_near(tamis_rate_exact(n, m, k), exact_by_cover((double)n, (double)m, k),
                            1e-9);
}

/* At the loads that filters are planned for, down to rates of about 1 %. */
static void second_order_is_within_a_thousandth_at_the_best_hashes(void **state) {
    (void)state;
    for (unsigned per_key = 2; per_key <= 10; per_key++)
        for (double bits = 100; bits <= 12800; bits *= 2) {
            const double keys = floor(bits / per_key);
            const unsigned k = tamis_best_hashes(keys, bits);
            assert_near(tamis_rate_second_order(keys, bits, k), exact_by_cover(keys, bits, k),
                        1e-3);
        }
}

/* At any load the error falls as k^4/m^2, so more probes need a larger filter. */
static void second_order_is_within_a_thousandth_at_any_load(void **state) {
    (void)state;
    for (unsigned k = 1; k <= 40; k += 3) {
        const double bits = fmax(100, 16.0 * k * k);
        for (double per_key = 2; per_key <= 80; per_key *= 1.5) {
            const double keys = floor(bits / per_key);
            if (keys < 1) continue;
            assert_near(tamis_rate_second_order(keys, bits, k), exact_by_cover(keys, bits, k),
                        1e-3);
        }
    }
}

/* ---- The best number of hashes -------------------------------------------------------------- */

static void derivative_and_symmetry_agree_as_filters_grow(void **state) {
    (void)state;
    double before = 1;
    for (double m = 100; m <= 1e12; m *= 100) {
        const double n = m / 10;
        const double apart =
            distance(tamis_best_hashes_derivative(n, m), tamis_best_hashes_symmetry(n, m));
        assert_true(apart < before / 50); /* 1/(2m) in theory */
        before = fmax(apart, 1e-13);      /* below double precision */
    }
    assert_near(tamis_best_hashes_derivative(1e6, 1e7), 10 * LN2, 1e-15);
}

static void symmetry_sets_half_of_the_bits(void **state) {
    (void)state;
    for (double m = 2; m <= 1e9; m *= 7)
        for (double n = 1; n <= m; n *= 5) {
            const double balls = n * tamis_best_hashes_symmetry(n, m);
            assert_near(exp(balls * log1p(-1 / m)), 0.5, 1e-12);
        }
}

static void best_hashes_has_the_lowest_rate_of_all(void **state) {
    (void)state;
    for (double per_key = 0.1; per_key <= 80; per_key += 0.05) {
        const double n = 1e6, m = per_key * n;
        const unsigned best = tamis_best_hashes(n, m);
        assert_true(best >= 1);
        const double rate = tamis_rate_approx(n, m, best);
        for (unsigned k = 1; k <= 64; k++)
            assert_order(rate, tamis_rate_approx(n, m, k), "best", n, m, k);
    }
}

static void best_hashes_is_at_least_one(void **state) {
    (void)state;
    assert_int_equal(tamis_best_hashes(0, 0), 1);
    assert_int_equal(tamis_best_hashes(0, 100), 1);
    assert_int_equal(tamis_best_hashes(100, 0), 1);
    assert_int_equal(tamis_best_hashes(1e18, 1), 1);
    assert_int_equal(tamis_best_hashes(NAN, 100), 1);
    assert_true(tamis_best_hashes(1, 1e18) >= 1); /* more than fits an unsigned */
    assert_int_equal(tamis_best_hashes(1, 10), 7);
}

/* ---- Size ----------------------------------------------------------------------------------- */

static void bits_for_inverts_the_usual_rate(void **state) {
    (void)state;
    for (double n = 1; n <= 1e12; n *= 1000)
        for (double p = 0.5; p >= 1e-12; p /= 3)
            for (unsigned k = 1; k <= 64; k += 3) {
                const double m = tamis_bits_for(n, p, k);
                assert_true(m > 0);
                assert_near(tamis_rate_approx(n, m, k), p, 1e-9);
            }
}

/* 1.44 log2(1/p) bits per key: the textbook size, for any real k. */
static void bits_for_at_the_best_hashes_is_the_textbook_size(void **state) {
    (void)state;
    for (double p = 0.5; p >= 1e-12; p /= 2)
        assert_near(tamis_bits_for(1e6, p, -log2(p)), 1e6 * -log2(p) / LN2, 1e-12);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static void a_counter_of_four_bits_hardly_overflows(void **state) {
    (void)state;
    for (double m = 1; m <= 1e9; m *= 10) {
        const double n = m * LN2 / 7; /* half the counters are in use */
        assert_near(tamis_counter_overflow(n, m, 7, 16), 1.37e-15 * m, 5e-3);
    }
    assert_true(tamis_counter_overflow(1, 100, 1, 0) == 1);    /* every counter reaches 0 */
    assert_true(tamis_counter_overflow(1e6, 100, 7, 16) == 1); /* a bound, capped at 1 */
    assert_true(tamis_counter_overflow(0, 100, 7, 16) == 0);
}

/* The bound must exceed the true value: the load of one counter is Poisson, and the probability
 * that a given counter reaches a value is at most the probability that any does. */
static void the_overflow_bound_is_above_the_poisson_tail(void **state) {
    (void)state;
    const double m = 1000, load = LN2;
    for (unsigned value = 1; value <= 20; value++) {
        double tail = 0, term = exp(-load + value * log(load) - lgamma(value + 1.0));
        for (unsigned i = value; i < value + 60; i++, term *= load / i) tail += term;
        assert_true(tail > 0);
        assert_order(tail, tamis_counter_overflow(m * load / 7, m, 7, value), "tail", load, m,
                     value);
    }
}

/* The table of docs/kinds/counting.md, and the tail of 16 as in print: with half of the counters in
 * use a counter is Poisson with mean ln 2. */
static void the_tail_of_a_counter_has_its_known_values(void **state) {
    (void)state;
    const double m = 1e9, n = m * LN2 / 7;
    assert_near(tamis_counter_tail(n, m, 7, 3), 0.033, 0.02);
    assert_near(tamis_counter_tail(n, m, 7, 7), 8.3e-6, 0.01);
    assert_near(tamis_counter_tail(n, m, 7, 8), 7.2e-7, 0.01);
    assert_near(tamis_counter_tail(n, m, 7, 15), 1.637e-15, 1e-3);
    assert_near(tamis_counter_tail(n, m, 7, 16), 7.1e-17, 0.01);
    assert_true(tamis_counter_tail(n, m, 7, 0) == 1);
    assert_near(tamis_counter_tail(2, 2, 2, 2), 11.0 / 16, 1e-12); /* four balls, two bins */
    assert_near(tamis_counter_tail(2, 2, 2, 3), 5.0 / 16, 1e-12);
    assert_near(tamis_counter_tail(2, 2, 2, 4), 1.0 / 16, 1e-12);
    assert_true(tamis_counter_tail(2, 2, 2, 5) == 0 && tamis_counter_tail(3, 1, 2, 6) == 1);
    assert_true(tamis_counter_tail(3, 1, 2, 7) == 0 && tamis_counter_tail(0, 8, 4, 1) == 0);
}

/* Every counter has some value, and the tail is what is not below. */
static void shares_of_counters_add_up_to_one(void **state) {
    (void)state;
    static const double loads[] = {0.1, LN2, 3, 40, 900};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        const double m = 5000, n = m * loads[i] / 4;
        double below = 0;
        for (unsigned value = 0; value < 2 * loads[i] + 60; value++) {
            assert_true(fabs(1 - below - tamis_counter_tail(n, m, 4, value)) < 1e-10);
            below += tamis_counter_share(n, m, 4, value);
        }
        assert_near(below, 1, 1e-9);
    }
    assert_near(tamis_counter_share(2, 2, 2, 2), 6.0 / 16, 1e-12);
    assert_true(tamis_counter_share(2, 2, 2, 5) == 0 && tamis_counter_share(3, 1, 2, 6) == 1);
}

enum { MAX_BALLS = 400 };

/* The probability that no counter is above `max`: N!/m^N times the coefficient of x^N in the m-th
 * power of the sum of x^i / i!, i up to max; one factor after the other. */
static double chance_of_none_above(unsigned max, unsigned balls, unsigned counters) {
    double sum[MAX_BALLS + 1] = {1}, term[MAX_BALLS + 1] = {1};
    for (unsigned i = 1; i <= max && i <= balls; i++) term[i] = term[i - 1] / i;
    for (unsigned c = 0; c < counters; c++)
        for (unsigned n = balls + 1; n-- > 0;) {
            double next = 0;
            for (unsigned i = 0; i <= max && i <= n; i++) next += sum[n - i] * term[i];
            sum[n] = next;
        }
    return exp(log(sum[balls]) + lgamma(balls + 1.0) - balls * log(counters));
}

static void the_largest_counter_is_as_large_as_counted(void **state) {
    (void)state;
    static const unsigned counters[] = {100, 200, 400};
    for (size_t i = 0; i < 3; i++)
        for (unsigned per = 1; per <= 4; per++) {
            const unsigned m = counters[i],
                           balls = m * per / 4 > MAX_BALLS ? MAX_BALLS : m * per / 4;
            double mean = 0;
            for (unsigned v = 0; v < 20; v++) mean += 1 - chance_of_none_above(v, balls, m);
            assert_near(tamis_counter_largest(balls, m, 1), mean, 0.02);
            assert_order(tamis_counter_largest(balls, m, 1), mean, "largest", balls, m, 1);
        }
    assert_true(tamis_counter_largest(3, 1, 2) == 6 && tamis_counter_largest(0, 100, 7) == 0);
    assert_true(isnan(tamis_counter_largest(1e9, 100, 7)));
}

/* The exact distribution of the set bits, ball by ball: what is outside is less than promised, and
 * the mean is the mean. */
static void the_fill_stays_within_its_deviation(void **state) {
    (void)state;
    enum { BITS = 120 };
    for (unsigned balls = 10; balls <= 300; balls += 29) {
        double p[BITS + 1] = {1}, mean = 0;
        for (unsigned t = 0; t < balls; t++)
            for (unsigned i = BITS + 1; i-- > 0;)
                p[i] = p[i] * i / BITS + (i ? p[i - 1] * (BITS - i + 1) / BITS : 0);
        for (unsigned i = 0; i <= BITS; i++) mean += p[i] * i / BITS;
        assert_near(tamis_fill_expected(balls, BITS, 1), mean, 1e-10);
        for (double prob = 0.5; prob > 1e-9; prob /= 3) {
            const double far = tamis_fill_deviation(balls, BITS, 1, prob);
            double outside = 0;
            for (unsigned i = 0; i <= BITS; i++)
                if (fabs((double)i / BITS - mean) >= far) outside += p[i];
            assert_order(outside, prob, "outside", balls, BITS, 1);
        }
    }
    assert_near(tamis_fill_deviation(1e6, 1e7, 7, 2 * exp(-2)), sqrt(7e6) / 1e7, 1e-12);
    assert_true(tamis_fill_deviation(1e6, 10, 7, 0.01) == 1);
    assert_true(tamis_fill_expected(1, 1, 1) == 1 && tamis_fill_expected(0, 1, 1) == 0);
}

/* ---- The published tables ------------------------------------------------------------------- */

enum { LINE = 128 };

typedef struct cell {
    int table, k;
    double per_key;
    char printed[LINE], correct[LINE];
} cell;

static bool read_cell(FILE *file, cell *c) {
    char line[LINE];
    if (!fgets(line, sizeof line, file)) return false;
    assert_int_equal(sscanf(line, "%d,%lf,%d,%[^,],%[^\n]", &c->table, &c->per_key, &c->k,
                            c->printed, c->correct),
                     5);
    return true;
}

/* Does the rate, rounded to the precision of the text, equal it? */
static bool rounds_to(double rate, const char *text) {
    const char *point = strchr(text, '.'), *e = strchr(text, 'e');
    const double decimals = point ? (double)strspn(point + 1, "0123456789") : 0;
    const double last_place = pow(10, (e ? atof(e + 1) : 0) - decimals);
    return fabs(rate - atof(text)) <= last_place / 2 * (1 + 1e-9);
}

/* The same at three significant digits, with trailing zeros omitted. */
static bool rounds_to_three(double rate, const char *text) {
    char x[LINE], y[LINE];
    snprintf(x, sizeof x, "%.2e", rate);
    snprintf(y, sizeof y, "%.2e", atof(text));
    return strcmp(x, y) == 0;
}

/* A cell is the rate for one m/n and one whole k. The tables also print the best real k for each
 * m/n; those are not rates and are not counted. Every cell has three significant digits (trailing
 * zeros may be missing) except m/n=5, k=3: 0.092 where the others would have 0.0918. Two have a
 * wrong exponent. */
static void the_published_tables_are_reproduced(void **state) {
    (void)state;
    FILE *file = fopen("tests/reference/rate-tables.csv", "r");
    if (!file) fail_msg("no tests/reference/rate-tables.csv: run from the root of the repository");
    char heading[LINE];
    assert_non_null(fgets(heading, sizeof heading, file));
    assert_string_equal(heading, "table,m_over_n,k,printed,correct\n");

    int cells = 0, misprints = 0, short_cells = 0, in_table[6] = {0};
    for (cell c; read_cell(file, &c);) {
        const double rate = tamis_rate_approx(1, c.per_key, c.k);
        const bool is_misprint = !rounds_to(rate, c.printed);
        const char *right = strcmp(c.correct, "yes") == 0 ? c.printed : c.correct;
        cells++;
        assert_in_range(c.table, 3, 5);
        in_table[c.table]++;
        misprints += is_misprint;
        short_cells += !rounds_to_three(rate, right);
        if (!rounds_to(rate, right) || is_misprint != (right == c.correct))
            fail_msg("table %d, m/n=%g k=%d: printed %s, right %s, computed %g", c.table, c.per_key,
                     c.k, c.printed, right, rate);
    }
    fclose(file);
    assert_int_equal(cells, 411);
    assert_int_equal(in_table[3], 225);
    assert_int_equal(in_table[4], 139);
    assert_int_equal(in_table[5], 47);
    assert_int_equal(misprints, 2);
    assert_int_equal(short_cells, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_and_finite_have_their_known_values),
        cmocka_unit_test(an_empty_filter_hits_nothing),
        cmocka_unit_test(one_bit_hits_everything_once_a_key_is_in),
        cmocka_unit_test(exact_refuses_what_would_take_too_long),
        cmocka_unit_test(the_formulas_are_in_their_proven_order),
        cmocka_unit_test(more_keys_never_lower_a_rate),
        cmocka_unit_test(two_exact_ways_agree),
        cmocka_unit_test(second_order_is_within_a_thousandth_at_the_best_hashes),
        cmocka_unit_test(second_order_is_within_a_thousandth_at_any_load),
        cmocka_unit_test(derivative_and_symmetry_agree_as_filters_grow),
        cmocka_unit_test(symmetry_sets_half_of_the_bits),
        cmocka_unit_test(best_hashes_has_the_lowest_rate_of_all),
        cmocka_unit_test(best_hashes_is_at_least_one),
        cmocka_unit_test(bits_for_inverts_the_usual_rate),
        cmocka_unit_test(bits_for_at_the_best_hashes_is_the_textbook_size),
        cmocka_unit_test(a_counter_of_four_bits_hardly_overflows),
        cmocka_unit_test(the_overflow_bound_is_above_the_poisson_tail),
        cmocka_unit_test(the_tail_of_a_counter_has_its_known_values),
        cmocka_unit_test(shares_of_counters_add_up_to_one),
        cmocka_unit_test(the_largest_counter_is_as_large_as_counted),
        cmocka_unit_test(the_fill_stays_within_its_deviation),
        cmocka_unit_test(the_published_tables_are_reproduced),
    };
    return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
