/* SPDX-License-Identifier: MIT */
/* How counters are spread: n keys throw N = kn balls into m bins, so that the balls in a given bin
 * are binomial, of N trials at 1/m. */
#include <float.h>
#include <math.h>

#include "tamis_math.h"

/* The logarithm of the share of counters with `value`, step by step from 0: differences of
 * logarithms of factorials would cancel for large N. */
typedef struct spread {
    double balls, counters, value, log_share;
} spread;

static spread spread_start(double keys, double counters, double hashes) {
    const double balls = hashes * keys;
    return (spread){
        .balls = balls, .counters = counters, .log_share = balls * log1p(-1 / counters)};
}

static void spread_step(spread *s) {
    s->log_share += log((s->balls - s->value) / ((s->value + 1) * (s->counters - 1)));
    s->value++;
}

/* All balls are in the only counter. */
static bool is_single(double counters) {
    return counters <= 1;
}

double tamis_counter_share(double keys, double counters, double hashes, unsigned value) {
    if (is_single(counters)) return value == hashes * keys;
    if (value > hashes * keys) return 0;
    spread s = spread_start(keys, counters, hashes);
    while (s.value < value) spread_step(&s);
    return exp(s.log_share);
}

/* From its value on, to where a term no longer counts. */
static double tail_from(spread s) {
    double tail = 0, term = exp(s.log_share);
    while (term > tail * DBL_EPSILON / 2) {
        tail += term;
        if (s.value >= s.balls) break;
        spread_step(&s);
        term = exp(s.log_share);
    }
    return tail;
}

/* Left of the mean what is missing is small, right of it the tail itself. */
static double tail_at(const spread *s, double below) {
    return s->value <= s->balls / s->counters ? fmax(0, 1 - below) : tail_from(*s);
}

double tamis_counter_tail(double keys, double counters, double hashes, unsigned value) {
    if (value == 0) return 1;
    if (value > hashes * keys) return 0;
    if (is_single(counters)) return 1;
    spread s = spread_start(keys, counters, hashes);
    double below = 0;
    for (; s.value < value; spread_step(&s)) below += exp(s.log_share);
    return tail_at(&s, below);
}

/* The mean is the sum over all values of the probability that some counter has reached them. */
double tamis_counter_largest(double keys, double counters, double hashes) {
    const double max_mean = 65536, mean = hashes * keys / counters, negligible = 1e-9;
    if (is_single(counters)) return hashes * keys;
    if (!(mean <= max_mean)) return NAN;
    spread s = spread_start(keys, counters, hashes);
    double below = 0, sum = 0, any = 1;
    while (s.value + 1 <= s.balls && (s.value <= mean || any > negligible)) {
        below += exp(s.log_share);
        spread_step(&s);
        const double tail = tail_at(&s, below);
        any = tail < 1 ? -expm1(counters * log1p(-tail)) : 1;
        sum += any;
    }
    return sum;
}
