/* SPDX-License-Identifier: MIT */
/* Tests of kinds may include this: hashes added and counted in one line, and two filters
 * compared. What fails here ends the test program with a sentence. */
#ifndef TAMIS_TESTS_SUPPORT_CONTENTS_H
#define TAMIS_TESTS_SUPPORT_CONTENTS_H

#include "tamis.h"

/* Adds numbers [from, to) of a family as hashes. */
void test_add_hashes(tamis *, uint64_t family, uint64_t from, uint64_t to);

/* How many of n numbers of a family the filter has, asked in batches and, with the same answers,
 * one by one. */
uint64_t test_count_hits(const tamis *, uint64_t family, uint64_t from, uint64_t n);

/* Payload and shape words; or all bytes of the image. */
bool test_is_same_payload(const tamis *, const tamis *);
bool test_is_same_image(const tamis *, const tamis *);

#endif
