/* SPDX-License-Identifier: MIT */
#include "tests/support/bounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double log_choose(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Probability of at most (at least) `hits`: the largest term in logarithms, then terms by their
 * ratio until they no longer count. Summing from `hits` away from the mean, terms only fall. */
static double tail(double hits, double n, double p, bool is_upper) {
    double term = exp(log_choose(n, hits) + hits * log(p) + (n - hits) * log1p(-p)), sum = 0;
    for (double i = hits; i >= 0 && i <= n && term > 0;) {
        sum += term;
        if (term < sum * 1e-17) break;
        if (is_upper)
            term *= (n - i) / (i + 1) * p / (1 - p), i++;
        else
            term *= i / (n - i + 1) * (1 - p) / p, i--;
    }
    return sum;
}

bool test_is_possible(uint64_t hits, uint64_t probes, double rate, double alpha) {
    if (rate <= 0) return hits == 0;
    if (rate >= 1) return hits == probes;
    const double n = (double)probes, x = (double)hits;
    /* On the near side of the mean the tail is large anyway, and its sum would be long. */
    if (x == n * rate) return true;
    return tail(x, n, rate, x > n * rate) > alpha / 2;
}

void test_demand_possible(uint64_t hits, uint64_t probes, double rate, const char *what) {
    if (test_is_possible(hits, probes, rate, TEST_ALPHA)) return;
    fprintf(stderr, "%s: %llu of %llu, expected %.6g\n", what, (unsigned long long)hits,
            (unsigned long long)probes, rate * (double)probes);
    abort();
}
