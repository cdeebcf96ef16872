/* SPDX-License-Identifier: MIT */
/* Tests of kinds that list differences may include this: many pairs of sets, and what becomes of
 * them. */
#ifndef TAMIS_TESTS_SUPPORT_DIFFERENCES_H
#define TAMIS_TESTS_SUPPORT_DIFFERENCES_H

#include "tamis.h"
#include "tests/support/contents.h"
#include "tests/support/spread.h"

/* Of so many pairs of sets with d differences each, how many could not be listed to the end. What
 * is listed to the end must be all, and what is not must be less. */
uint64_t test_count_unlisted(const char *spec, uint64_t family, uint64_t d, uint64_t pairs);

/* Estimates of d differences: of sets that share nothing else, because what they share is gone. */
typedef struct test_sizes {
    test_spread found;
    double told; /* the mean of the errors that were told, squared */
} test_sizes;

test_sizes test_estimate_sizes(const char *spec, uint64_t family, uint64_t d, uint64_t pairs);

#endif
