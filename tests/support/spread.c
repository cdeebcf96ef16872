/* SPDX-License-Identifier: MIT */
#include "tests/support/spread.h"

#include <math.h>

/* A normal variable exceeds this with probability TEST_ALPHA / 2 on either side. */
static const double far_out = 6.11;

double test_spread_mean(const test_spread *s) {
    return s->sum / (double)s->n;
}

double test_spread_variance(const test_spread *s) {
    const double mean = test_spread_mean(s);
    return fmax(0, s->squares / (double)s->n - mean * mean) * (double)s->n / (double)(s->n - 1);
}

bool test_mean_is_possible(const test_spread *s, double mean, double variance) {
    const double off = fabs(test_spread_mean(s) - mean);
    return off <= far_out * sqrt(variance / (double)s->n) + 1e-12;
}

/* A quantile of chi-square by its degrees of freedom. */
static double share_at(double freedom, double normal) {
    const double a = 2 / (9 * freedom), root = 1 - a + normal * sqrt(a);
    return root > 0 ? root * root * root : 0;
}

bool test_variance_is_possible(const test_spread *s, double min, double max) {
    const double freedom = (double)(s->n - 1), variance = test_spread_variance(s);
    return variance >= min * share_at(freedom, -far_out) - 1e-12 &&
           variance <= max * share_at(freedom, far_out) + 1e-12;
}
