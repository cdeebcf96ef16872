/* SPDX-License-Identifier: MIT */
/* Tests of kinds of several arrays may include this: where they lie, and how full they are. The
 * first word of the shape is the bits of the first array, the second the number of hashes; each
 * next array has so many percent of the words of the one before. */
#ifndef TAMIS_TESTS_SUPPORT_ARRAYS_H
#define TAMIS_TESTS_SUPPORT_ARRAYS_H

#include "tamis.h"

uint64_t test_array_bits(const tamis *, unsigned percent, unsigned i);
const uint8_t *test_array(const tamis *, unsigned percent, unsigned i);

/* The rate of array i by its set bits. */
double test_array_rate(const tamis *, unsigned percent, unsigned i);

#endif
