/* SPDX-License-Identifier: MIT */
/* The mathematics of filters that keep all bits of a key in one block.
 *
 * Blocks are not equally full: with n keys in B blocks a block has i keys with the binomial
 * probability of n trials at 1/B, and the rate is the mean of f(i), the rate of a block with i
 * keys. The full blocks cost more than the empty ones save, which is the price of one cache line
 * per key: with 512 bits and the best number of probes 3 % more than classic at a rate of 1 %, 21 %
 * at 2^-16. Formulas that ignore it miss the rate. */
#include "math/lanes.h"

#include <math.h>

/* The bits inside a block come from 32 bits of the hash. Two keys of one block that agree in all 32
 * are indistinguishable, which puts a floor under the rate. */
#define SAME_PROBES (1.0 / 4294967296.0)

static double power(double x, unsigned n) {
    double y = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1) y *= x;
    return y;
}

double tamis__lanes_with_floor(double rate, double keys) {
    return rate + (1 - rate) * fmin(1, keys * SAME_PROBES);
}

/* f(i), the rate of a block with i keys, given the probability that all of them miss a given bit
 * (two given bits) of a lane: the second-order formula of rates.c for each lane, exact for one and
 * two probes in a lane. */
static double block_rate(tamis_lanes s, double keys, double zero, double two_zero) {
    const double w = s.lane_bits, z = s.probes, mean = 1 - zero;
    double lane = power(mean, s.probes);
    if (s.probes > 1) {
        const double variance = (zero + (w - 1) * two_zero - w * zero * zero) / w;
        if (variance > 0) lane += z * (z - 1) / 2 * power(mean, s.probes - 2) * variance;
    }
    return tamis__lanes_with_floor(power(lane < 1 ? lane : 1, s.lanes), keys);
}

/* The sum runs both ways from the most likely load, with weights relative to it, and is divided by
 * their sum: no probability can underflow. Loads below the minimum weight are left out. */
static double rate_to(double min, tamis_lanes s, double keys, double blocks) {
    if (!(keys > 0)) return 0;
    const double mean = keys / blocks;
    const bool is_one_load = blocks < 2 || mean > 10000; /* one block, or all are full */
    const double mode = is_one_load ? mean : floor(mean);
    const double miss = s.probes * log1p(-1.0 / s.lane_bits);
    const double miss_two = s.probes * log1p(-2.0 / s.lane_bits);
    const double zero = exp(mode * miss), two_zero = exp(mode * miss_two);
    double rate = block_rate(s, mode, zero, two_zero), weights = 1;
    if (is_one_load) return rate;

    const double zero_step = exp(miss), two_step = exp(miss_two);
    double weight = 1, q = zero, q2 = two_zero;
    for (double i = mode; i < keys && weight > min; i++) {
        weight *= (keys - i) / ((i + 1) * (blocks - 1));
        rate += weight * block_rate(s, i + 1, q *= zero_step, q2 *= two_step);
        weights += weight;
    }
    weight = 1, q = zero, q2 = two_zero;
    for (double i = mode; i > 0 && weight > min; i--) {
        weight *= i * (blocks - 1) / (keys - i + 1);
        rate += weight * block_rate(s, i - 1, q /= zero_step, q2 /= two_step);
        weights += weight;
    }
    return rate / weights;
}

double tamis__lanes_rate(tamis_lanes s, double keys, double blocks) {
    return rate_to(1e-40, s, keys, blocks);
}

/* Is the rate above fpr? Half of the sum decides, unless it is close. Beyond a load of weight 1e-15
 * weights fall at least as fast as there, by 1/8 or more from one to the next while a block has
 * some hundred keys, and all of them together change the rate by less than 1e-13. */
bool tamis__lanes_exceed(tamis_lanes s, double keys, double blocks, double fpr) {
    const double rough = rate_to(1e-15, s, keys, blocks);
    if (keys / blocks < 1000 && fabs(rough - fpr) > 1e-11) return rough > fpr;
    return tamis__lanes_rate(s, keys, blocks) > fpr;
}

/* Bounds: the rate falls with the number of blocks; it is above fpr up to `above`, and not from
 * `below` on. */
typedef struct known {
    tamis_lanes shape;
    double keys, fpr;
    uint64_t above, below;
} known;

static bool exceeds(known *k, uint64_t blocks) {
    if (blocks <= k->above) return true;
    if (blocks >= k->below) return false;
    const bool is_above = tamis__lanes_exceed(k->shape, k->keys, (double)blocks, k->fpr);
    if (is_above)
        k->above = blocks;
    else
        k->below = blocks;
    return is_above;
}

/* Narrows the bounds in a few evaluations: the logarithm of the rate is nearly a straight line in
 * that of the number of blocks, so secants come close at once, and a step to either side of where
 * they end puts the search between two neighbours. */
static void look_around(known *k, uint64_t max) {
    enum { LOOKS = 3 };
    const double width = (double)k->shape.lanes * k->shape.lane_bits;
    double x = log(k->keys * -log2(k->fpr) / 0.6931 * 1.06 / width), y, old_x = 0, old_y = 0;
    double slope = -4;
    for (int i = 0; i < LOOKS; i++) {
        if (!(x > 3 && x < log((double)max) - 1)) return; /* few blocks are quickly searched */
        y = log(rate_to(1e-15, k->shape, k->keys, exp(x)) / k->fpr);
        if (i && fabs(x - old_x) > 1e-9) slope = (y - old_y) / (x - old_x);
        if (!(slope < -0.1)) return;
        old_x = x, old_y = y;
        x -= y / slope;
    }
    const double blocks = exp(x), step = 1 + blocks / 65536;
    if (!(blocks > 2 * step && blocks < (double)max / 2)) return;
    if (exceeds(k, (uint64_t)(blocks - step))) exceeds(k, (uint64_t)(blocks + step));
}

uint64_t tamis__lanes_blocks(tamis_lanes s, double keys, double fpr, uint64_t max) {
    const double width = (double)s.lanes * s.lane_bits;
    const double sane = 1 + keys * TAMIS_LANES_MAX_BITS_PER_KEY / width;
    if (sane < (double)max) max = (uint64_t)sane;

    /* A classic filter needs less, so the search starts there and doubles. */
    const double ideal = keys * -log2(fpr) / 0.6931 / width;
    uint64_t low = ideal / 2 < (double)max ? (uint64_t)(ideal / 2) : max, high = low + 1;
    known k = {.shape = s, .keys = keys, .fpr = fpr, .below = UINT64_MAX};
    look_around(&k, max);
    if (low && !exceeds(&k, low)) low = 0;
    while (exceeds(&k, high)) {
        if (high >= max) return 0;
        low = high;
        high = high > max / 2 ? max : high * 2;
    }
    /* To the block below 2^14 of them; above, plans are rounded to fewer digits anyway. */
    while (high - low > 1 + (high >> 14)) {
        const uint64_t middle = low + (high - low) / 2;
        if (exceeds(&k, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Every key leaves a given bit of its block zero with probability r = (1-1/w)^z, so the share of
 * zero bits is e^(-mean*(1-r)) when loads are Poisson. The error has two parts: the spread of the
 * zeros of a block with a given number of keys, and the spread of the loads, less the part of it
 * that the number of keys itself explains. */
struct tamis_estimate tamis__lanes_items(tamis_lanes s, double blocks, double bits_set) {
    const double w = s.lane_bits, width = w * s.lanes, bits = width * blocks;
    if (bits_set >= bits) return (struct tamis_estimate){INFINITY, INFINITY};
    const double r = power(1 - 1 / w, s.probes), a = 1 - r;
    const double mean = -log1p(-bits_set / bits) / a, zero = exp(-mean * a);

    const double balls = mean * s.probes;
    const double q = exp(balls * log1p(-1 / w)), q2 = exp(balls * log1p(-2 / w));
    const double within = s.lanes * fmax(0, w * q + w * (w - 1) * q2 - w * w * q * q);
    const double between =
        width * width * fmax(0, exp(-mean * (1 - r * r)) - zero * zero * (1 + mean * a * a));
    const double slope = width * a * zero; /* zeros lost per key in a block */
    return (struct tamis_estimate){mean * blocks, sqrt(blocks * (within + between)) / slope};
}
