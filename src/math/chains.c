/* SPDX-License-Identifier: MIT */
/* The cost of probes that are sums of two or three numbers.
 *
 * With k independent positions per key, a non-member is found with probability f^k, f the fill.
 * Chains of sums collide as often as those, at single places and at pairs of places. But where
 * three collide, many do, in two ways:
 *
 * - Two chains with the same step overlap. Of the t places that a non-member shares with a key,
 *   those that no other key set would have saved it; any probes may have one or two in common, and
 *   these are in f^k. With the fill g of the other keys,
 *
 *       n · sum over the ways to overlap: p · g^(k-t) · P(Bin(t, 1-g) >= 3)
 *
 *   where p is of the order of 1/m^2 for two numbers, 1/m^3 for three.
 *
 * - A chain returns to its own places, and has only d of them: f^d, with probabilities of the order
 *   of 1/m.
 *
 * Both matter when bits are few or rates are small. They are of first order, and agree with
 * measurements from 64 bits on (docs/kinds/classic.md, test_chains). */
#include "math/chains.h"

#include <math.h>

/* ---- Two overlapping chains ----------------------------------------------------------------- */

static double all_shared(uint64_t places, double fill) {
    const double t = (double)places, empty = 1 - fill;
    if (places < 3) return 0;
    return fmax(0, 1 - pow(fill, t) - t * pow(fill, t - 1) * empty -
                       t * (t - 1) / 2 * pow(fill, t - 2) * empty * empty);
}

/* One chain begins or ends at any place of the other: `of` is what the shared places contribute. */
static double shifted(double (*of)(uint64_t, double), uint64_t k, double fill) {
    const double negligible = 1e-4;
    double sum = of(k, fill), left = fill;
    for (uint64_t lag = 1; lag + 3 <= k && left > negligible; lag++, left *= fill)
        sum += 2 * left * of(k - lag, fill);
    return sum;
}

/* One takes steps three times as long, and hits every third place of the other. It cannot be twice
 * as long, since both steps are odd. */
static double thrice(uint64_t hashes, double fill) {
    const int64_t k = (int64_t)hashes;
    double sum = 0;
    for (int64_t begin = -3 * k; begin < k; begin++) {
        uint64_t shared = 0;
        for (int64_t at = begin; at < begin + 3 * k; at += 3) shared += at >= 0 && at < k;
        sum += pow(fill, (double)(hashes - shared)) * all_shared(shared, fill);
    }
    return 2 * sum;
}

/* On a circle steps are never equal, but nearly: places drift apart, and are in one cell with a
 * probability that falls with their distance. The integral over drifts and distances, by
 * midpoints. */
static double drifting(uint64_t places, double fill) {
    enum { GRID = 16 };
    const double t = (double)places, empty = 1 - fill, widest = 1.5, steepest = 4 / t;
    double sum = 0;
    for (int cell = 0; cell < GRID * GRID; cell++) {
        const double drift = steepest * ((cell / GRID + 0.5) / GRID * 2 - 1);
        const double middle = widest * ((cell % GRID + 0.5) / GRID * 2 - 1);
        double all = 1, one = 0, two = 0; /* sums of probabilities, and of their pair products */
        for (uint64_t i = 0; i < places; i++) {
            const double chance = fmax(0, 1 - fabs(middle + ((double)i - (t - 1) / 2) * drift));
            all *= fill + empty * chance;
            two += one * chance;
            one += chance;
        }
        sum += fmax(0, all - pow(fill, t) - one * pow(fill, t - 1) * empty -
                           two * pow(fill, t - 2) * empty * empty);
    }
    return places < 3 ? 0 : sum * (2 * steepest / GRID) * (2 * widest / GRID);
}

/* ---- A chain that overlaps itself ----------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A step near p/q of the circle leads to q clusters of cells, which the chain fills slowly as it
 * comes round, the faster the farther from p/q: the integral over that distance, cell by cell. */
static double clustered(uint64_t k, double fill) {
    double sum = 0;
    for (uint64_t q = 1; 2 * q <= k; q++) {
        const double cells = (double)q;
        const double begun = (1 - pow(fill, cells + 1)) / ((cells + 1) * (1 - fill));
        uint64_t fractions = 0;
        for (uint64_t p = 1; p <= q; p++) fractions += common_divisor(p, q) == 1;
        for (uint64_t full = q; full < k; full += q)
            sum += (double)fractions * 2 / (double)(k - q) * pow(fill, (double)full) * begun;
    }
    return sum;
}

/* A parabola meets itself on both sides of its middle, s/2. As b is odd, s = 1, 5, 9, ... does not
 * occur. */
static double mirrored(uint64_t k, double fill) {
    double sum = 0;
    for (uint64_t s = 2; s + 3 <= 2 * k; s++) {
        const uint64_t pairs = s < k ? (s + 1) / 2 : (2 * k - 1 - s) / 2;
        if (s % 4 != 1) sum += pow(fill, (double)(k - pairs)) - pow(fill, (double)k);
    }
    return sum;
}

/* The same for independent probes: two of them in one place. */
static double paired(double k, double fill) {
    return k * (k - 1) / 2 * pow(fill, k - 1) * (1 - fill);
}

double tamis__chain_excess(tamis_chain chain, double keys, uint64_t bits, uint64_t hashes,
                           double fill) {
    const double m = (double)bits, k = (double)hashes;
    if (!(fill > 0 && fill < 1)) return 0;
    if (keys < 1) keys = 1; /* by an estimate */
    const double others = -expm1((1 - 1 / keys) * log1p(-fill)), n = keys / (m * m);
    switch (chain) {
    case TAMIS_CHAIN_LINEAR: /* m · m/2 chains, each backwards too */
        return 4 * n * (shifted(all_shared, hashes, others) + thrice(hashes, others));
    case TAMIS_CHAIN_CUBIC: /* these cannot go any other way */
        return 2 * n * all_shared(hashes, others);
    case TAMIS_CHAIN_QUADRATIC: /* a quarter of the starts would need an even step */
        return 3 * n / m * shifted(all_shared, hashes, others) +
               fmax(0, mirrored(hashes, fill) - paired(k, fill)) / m;
    default:
        return 2 * n * shifted(drifting, hashes, others) +
               fmax(0, clustered(hashes, fill) - paired(k, fill)) / m;
    }
}
