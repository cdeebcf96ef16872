/* SPDX-License-Identifier: MIT */
/* In place of math/counter_odds.c, in small shared libraries without a kind that has counters. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is not known is not worked out */

#include <math.h>

#include "tamis_math.h"

double tamis_counter_share(double keys, double counters, double hashes, unsigned value) {
    return NAN;
}

double tamis_counter_tail(double keys, double counters, double hashes, unsigned value) {
    return NAN;
}

double tamis_counter_largest(double keys, double counters, double hashes) {
    return NAN;
}
