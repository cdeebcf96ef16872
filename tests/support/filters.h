/* SPDX-License-Identifier: MIT */
/* For every test: makes filters and reads their facts in one line. A failure ends the test program
 * with a message. */
#ifndef TAMIS_TESTS_SUPPORT_FILTERS_H
#define TAMIS_TESTS_SUPPORT_FILTERS_H

#include "tamis.h"

/* Ends the program with the error message of `what`, unless it succeeded. */
void test_demand(tamis_status, const char *what);

/* A filter from a spec, formatted as by printf. */
tamis *test_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

tamis *test_copy(const tamis *);
struct tamis_info test_info(const tamis *);
struct tamis_plan test_plan(const char *spec);

/* Is it one shard of several, which accepts only its own hashes? */
bool test_is_part(const struct tamis_plan *);

/* The whole image in fresh memory; free() it. */
uint8_t *test_image(const tamis *, size_t *size);

/* The number of our own kinds, which are first. Those of other systems follow, and are planned as
 * their origins plan, whatever the spec. */
size_t test_own_kinds(void);

#endif
