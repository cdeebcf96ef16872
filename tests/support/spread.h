/* SPDX-License-Identifier: MIT */
/* For every test: are a mean and a variance of many independent trials possible?
 *
 * Both two-sided at TEST_ALPHA (bounds.h), for trials that are nearly normal: sums of many small
 * terms. A variance is chi-square distributed; its tails are those of Wilson and Hilferty. */
#ifndef TAMIS_TESTS_SUPPORT_SPREAD_H
#define TAMIS_TESTS_SUPPORT_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct test_spread {
    uint64_t n;
    double sum, squares;
} test_spread;

static inline void test_spread_add(test_spread *s, double x) {
    s->n++;
    s->sum += x;
    s->squares += x * x;
}

double test_spread_mean(const test_spread *);
double test_spread_variance(const test_spread *);

/* `variance` is that of one trial. */
bool test_mean_is_possible(const test_spread *, double mean, double variance);

/* Somewhere between the two; pass one twice where it is known. */
bool test_variance_is_possible(const test_spread *, double min, double max);

#endif
