/* SPDX-License-Identifier: MIT */
/* tamis_math.h: false-positive rates and sizes of Bloom filters as functions. */
#ifndef TAMIS_MATH_H
#define TAMIS_MATH_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The mathematics =======================================================================
 *
 * Rates of a classic filter of `bits` bits with `keys` keys and `hashes` independent probes, in
 * their proven order: approx <= finite <= exact <= upper. All are pure. Threads: any. */

/* (1 - e^(-kn/m))^k, the textbook formula, and the same with (1 - 1/m)^(kn) for the power of e. */
TAMIS_API double tamis_rate_approx(double keys, double bits, double hashes);
TAMIS_API double tamis_rate_finite(double keys, double bits, double hashes);

/* Adds the spread of the fill: within 0.1 % of the true value from 16 k^2 bits. */
TAMIS_API double tamis_rate_second_order(double keys, double bits, double hashes);

/* Holds without any assumption (Goel and Gupta 2010). */
TAMIS_API double tamis_rate_upper(double keys, double bits, double hashes);

/* The true value (Bose et al.) by counting balls in bins; takes keys*hashes*bits steps, so it is
 * for small filters: NaN when that product is over 10^9. */
TAMIS_API double tamis_rate_exact(uint64_t keys, uint64_t bits, unsigned hashes);

/* The number of hashes with the lowest rate: by derivative (ln 2 * m/n), by symmetry (half the
 * bits set, exact for any m), and the best whole number, at least 1. */
TAMIS_API double tamis_best_hashes_derivative(double keys, double bits);
TAMIS_API double tamis_best_hashes_symmetry(double keys, double bits);
TAMIS_API unsigned tamis_best_hashes(double keys, double bits);

/* Bits that a classic filter needs for `keys` keys at rate `fpr` with `hashes` probes. */
TAMIS_API double tamis_bits_for(double keys, double fpr, double hashes);

/* The share of bits that are set, on average; and how far from it the share is with a probability
 * of at most `prob`: sqrt(kn ln(2/prob) / 2) / m, because each probe changes at most one bit
 * (Azuma and Hoeffding). */
TAMIS_API double tamis_fill_expected(double keys, double bits, double hashes);
TAMIS_API double tamis_fill_deviation(double keys, double bits, double hashes, double prob);

/* One of `counters` counters after `keys` keys with `hashes` probes each: the probability that it
 * is `value`, and that it is at least `value`, which is the tail of a binomial distribution. */
TAMIS_API double tamis_counter_share(double keys, double counters, double hashes, unsigned value);
TAMIS_API double tamis_counter_tail(double keys, double counters, double hashes, unsigned value);

/* The largest of them, on average; as if they were independent, which is at most 2 % less from
 * 100 counters. NaN where they are over 65536 on average. */
TAMIS_API double tamis_counter_largest(double keys, double counters, double hashes);

/* Upper bound on the probability that any of `counters` counters reaches `value` after `keys` keys
 * with `hashes` probes each. */
TAMIS_API double tamis_counter_overflow(double keys, double counters, double hashes,
                                        unsigned value);

#ifdef __cplusplus
}
#endif

#endif
