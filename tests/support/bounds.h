/* SPDX-License-Identifier: MIT */
/* For every test: exact two-sided bounds for counts.
 *
 * A rate is tested by the number of hits among independent probes. The bounds are those of Clopper
 * and Pearson at the level that all our tests use: with a thousand tests a false alarm stays below
 * one in a million. Seeds are fixed, so a failing test is a change, never luck. */
#ifndef TAMIS_TESTS_SUPPORT_BOUNDS_H
#define TAMIS_TESTS_SUPPORT_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_ALPHA 1e-9

/* Is `hits` of `probes` a possible outcome, two-sided at alpha, when each hits with probability
 * `rate`? Exact binomial tails. */
bool test_is_possible(uint64_t hits, uint64_t probes, double rate, double alpha);

/* Ends the program with the numbers unless it is, at TEST_ALPHA. */
void test_demand_possible(uint64_t hits, uint64_t probes, double rate, const char *what);

#endif
