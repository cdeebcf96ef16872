/* SPDX-License-Identifier: MIT */
/* Every test may include this: filters made, and what they say, in one line. What fails here ends
 * the test program with a sentence. */
#ifndef TAMIS_TESTS_SUPPORT_FILTERS_H
#define TAMIS_TESTS_SUPPORT_FILTERS_H

#include "tamis.h"

/* Ends the program with why `what` did not work, unless it did. */
void test_demand(tamis_status, const char *what);

/* A filter from a spec that is written like a format of printf. */
tamis *test_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

tamis *test_copy(const tamis *);
struct tamis_info test_info(const tamis *);
struct tamis_plan test_plan(const char *spec);

/* Is it one shard of several, which takes its own hashes alone? */
bool test_is_part(const struct tamis_plan *);

/* The whole image in fresh memory; free() it. */
uint8_t *test_image(const tamis *, size_t *size);

/* How many kinds are ours: they stand first. Those of other systems follow, and are planned as
 * their origins plan, whatever was wished for. */
size_t test_own_kinds(void);

#endif
