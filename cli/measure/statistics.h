/* SPDX-License-Identifier: MIT */
/* statistics.h: only the files in cli/ include this. How sure a measured number is. */
#ifndef TAMIS_CLI_MEASURE_STATISTICS_H
#define TAMIS_CLI_MEASURE_STATISTICS_H

#include <stdint.h>

struct interval {
    double low, high;
};

/* Where the chance of a hit lies when `hits` of `trials` were: the exact interval of Clopper and
 * Pearson, which misses the truth with a chance of at most `alpha`. */
struct interval rate_interval(uint64_t hits, uint64_t trials, double alpha);

/* The chance that a sum of `degrees` squared normal deviates is at least x. */
double chi_square_tail(double x, double degrees);

#endif
