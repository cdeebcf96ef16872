/* SPDX-License-Identifier: MIT */
/* zipf.h: requests as caches see them, for the simulations next to this file.
 *
 * The i-th most popular of `max` objects is requested with a probability in proportion to
 * 1/i^exponent. Drawing is by rejection under a curve just above the staircase of probabilities
 * (Hörmann and Derflinger 1996), so that it needs no table and no time that grows with the number
 * of objects. The random generator is our own: every machine draws the same requests. */
#ifndef ZIPF_H
#define ZIPF_H

#include <math.h>
#include <stdint.h>

typedef struct zipf {
    uint64_t state, max;
    double exponent;
    double low, high; /* areas under the curve at both ends */
} zipf;

static uint64_t zipf_bits(zipf *z) {
    uint64_t x = z->state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* From 0 to below 1. */
static double zipf_uniform(zipf *z) {
    return (double)(zipf_bits(z) >> 11) / 9007199254740992.0; /* 2^53 */
}

/* The area under x^-exponent up to x, and its inverse; exponent is not 1. */
static double zipf_area(const zipf *z, double x) {
    return pow(x, 1 - z->exponent) / (1 - z->exponent);
}

static double zipf_at(const zipf *z, double area) {
    return pow(area * (1 - z->exponent), 1 / (1 - z->exponent));
}

/* An exponent of exactly 1 is replaced by the next number. */
static zipf zipf_start(uint64_t max, double exponent, uint64_t seed) {
    zipf z = {.state = seed, .max = max, .exponent = exponent == 1 ? 1.0000001 : exponent};
    z.low = zipf_area(&z, 1.5) - 1; /* the first step of the staircase has its own width */
    z.high = zipf_area(&z, (double)max + 0.5);
    return z;
}

/* The rank of the next requested object, from 1. */
static uint64_t zipf_next(zipf *z) {
    for (;;) {
        const double area = z->low + zipf_uniform(z) * (z->high - z->low);
        const double x = zipf_at(z, area);
        uint64_t rank = (uint64_t)(x + 0.5);
        rank = rank < 1 ? 1 : rank > z->max ? z->max : rank;
        const double edge = zipf_area(z, (double)rank + 0.5) - pow((double)rank, -z->exponent);
        if (area >= edge) return rank;
    }
}

#endif
