/* SPDX-License-Identifier: MIT */
/* How full a filter is. How many bits are set is a function of kn independent throws, each of which
 * changes it by at most one, so it stays near its mean (the inequality of Azuma and Hoeffding). */
#include <math.h>

#include "tamis_math.h"

double tamis_fill_expected(double keys, double bits, double hashes) {
    if (bits <= 1) return keys > 0;
    return -expm1(hashes * keys * log1p(-1 / bits));
}

double tamis_fill_deviation(double keys, double bits, double hashes, double prob) {
    return fmin(1, sqrt(hashes * keys * log(2 / prob) / 2) / bits);
}
