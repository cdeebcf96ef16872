/* SPDX-License-Identifier: MIT */
/* For tests of kinds that list differences: many pairs of sets, and the results. */
#ifndef TAMIS_TESTS_SUPPORT_DIFFERENCES_H
#define TAMIS_TESTS_SUPPORT_DIFFERENCES_H

#include "tamis.h"
#include "tests/support/contents.h"
#include "tests/support/spread.h"

/* Of `pairs` pairs of sets with d differences each, how many could not be listed in full. A full
 * list must be complete, and any other must be shorter. */
uint64_t test_count_unlisted(const char *spec, uint64_t family, uint64_t d, uint64_t pairs);

/* Estimates of d differences between sets that share nothing else: shared keys cancel out. */
typedef struct test_sizes {
    test_spread found;
    double told; /* the mean of the reported errors, squared */
} test_sizes;

test_sizes test_estimate_sizes(const char *spec, uint64_t family, uint64_t d, uint64_t pairs);

#endif
