/* SPDX-License-Identifier: MIT */
/* Rates of a classic filter, from the textbook formula to the exact one.
 *
 * n keys set k of m bits each. X of the m bits are set afterwards, and a fresh key hits with
 * probability E[(X/m)^k]. The formulas differ in how they compute that expectation:
 *
 *     approx         X is its mean, the mean by e^-x                      a lower bound
 *     finite         X is its mean, the mean exactly                      a lower bound
 *     second order   adds half the curvature times the variance of X      0.1 % from m = 16 k^2 on
 *     exact          the distribution of X, ball by ball (Bose et al. 2008)
 *     upper          no assumption at all (Goel and Gupta 2010)            an upper bound
 */
#include <math.h>
#include <stdlib.h>

#include "tamis.h"
#include "tamis_math.h"

#define LN2 0.69314718055994530942

static double clamp_rate(double rate) {
    return rate < 0 ? 0 : rate > 1 ? 1 : rate;
}

/* (1 - x/m)^balls without losing the small difference from 1. */
static double missed(double x, double m, double balls) {
    return exp(balls * log1p(-x / m));
}

double tamis_rate_approx(double keys, double bits, double hashes) {
    return pow(-expm1(-hashes * keys / bits), hashes);
}

double tamis_rate_finite(double keys, double bits, double hashes) {
    if (!(keys > 0)) return 0;
    if (bits <= 1) return 1;
    return pow(1 - missed(1, bits, hashes * keys), hashes);
}

double tamis_rate_second_order(double keys, double bits, double hashes) {
    if (!(keys > 0)) return 0;
    if (bits <= 2) return tamis_rate_finite(keys, bits, hashes);
    const double balls = hashes * keys, zero = missed(1, bits, balls), mean = 1 - zero;
    double variance = (zero + (bits - 1) * missed(2, bits, balls) - bits * zero * zero) / bits;
    if (variance < 0) variance = 0; /* cancellation, when the variance is far below 1/bits */
    return clamp_rate(pow(mean, hashes) +
                      hashes * (hashes - 1) / 2 * pow(mean, hashes - 2) * variance);
}

double tamis_rate_upper(double keys, double bits, double hashes) {
    if (!(keys > 0)) return 0;
    if (bits <= 1) return 1;
    return pow(-expm1(-hashes * (keys + 0.5) / (bits - 1)), hashes);
}

double tamis_rate_exact(uint64_t keys, uint64_t bits, unsigned hashes) {
    const double max_steps = 1e9;
    if (keys == 0) return 0;
    if (bits == 0 || hashes == 0 || (double)keys * hashes * (double)bits > max_steps) return NAN;

    /* p[i]: probability that exactly i bits are set after the balls thrown so far. It is
     * concentrated, so only the part from `low` to `high` is updated; the rest is below 10^-60.
     * share[i] is i/m. The sizes that plans need fit on the stack: a plan allocates nothing. */
    enum { SMALL = 2048 + 1 };
    double small[2 * SMALL];
    double *p = bits < SMALL ? small : malloc(2 * (bits + 1) * sizeof *p);
    if (!p) return NAN;
    double *share = p + bits + 1;
    const double too_small = 1e-60;
    const uint64_t balls = keys * hashes;
    uint64_t low = 0, high = 0;
    for (uint64_t i = 0; i <= bits; i++) p[i] = 0, share[i] = (double)i / (double)bits;
    p[0] = 1;
    for (uint64_t t = 0; t < balls; t++) {
        if (high < bits) high++;
        for (uint64_t i = high; i > low; i--)
            p[i] = p[i] * share[i] + p[i - 1] * share[bits - i + 1];
        p[low] *= share[low];
        while (low < high && p[low] < too_small) p[low++] = 0;
        while (high > low && p[high] < too_small) p[high--] = 0;
    }
    double rate = 0;
    for (uint64_t i = low; i <= high; i++) rate += p[i] * pow(share[i], hashes);
    if (p != small) free(p);
    return clamp_rate(rate);
}

double tamis_best_hashes_derivative(double keys, double bits) {
    return LN2 * bits / keys;
}

double tamis_best_hashes_symmetry(double keys, double bits) {
    return -LN2 / (keys * log1p(-1 / bits));
}

unsigned tamis_best_hashes(double keys, double bits) {
    if (!(keys > 0) || !(bits > 0)) return 1;
    const double best = floor(tamis_best_hashes_derivative(keys, bits));
    if (best < 1) return 1;
    if (best >= 1e6) return 1000000; /* more probes than any kind uses: keeps the cast defined */
    const double below = tamis_rate_approx(keys, bits, best);
    return (unsigned)(tamis_rate_approx(keys, bits, best + 1) < below ? best + 1 : best);
}

double tamis_bits_for(double keys, double fpr, double hashes) {
    return -hashes * keys / log1p(-pow(fpr, 1 / hashes));
}

double tamis_counter_overflow(double keys, double counters, double hashes, unsigned value) {
    const double e = 2.71828182845904523536;
    if (value == 0) return 1;
    return clamp_rate(counters * pow(e * keys * hashes / (value * counters), value));
}
