/* SPDX-License-Identifier: MIT */
/* For tests of kinds that are built once: builds and compares filters in one line. A failure ends
 * the test program with a message. */
#ifndef TAMIS_TESTS_SUPPORT_BUILDING_H
#define TAMIS_TESTS_SUPPORT_BUILDING_H

#include "tamis.h"
#include "tests/support/contents.h"

tamis_builder *test_builder(const char *spec);

/* A builder that verifies every key, with this number of threads. */
tamis_builder *test_careful_builder(const char *spec, unsigned threads);

/* Finishes, and frees the builder. */
tamis *test_finish(tamis_builder *);

/* Adds the numbers `from` to `to` - 1 of a family (tests/support/keys.h). */
void test_add_numbers(tamis_builder *, uint64_t family, uint64_t from, uint64_t to);

/* A filter of the numbers 0 to n - 1 of a family. */
tamis *test_build(const char *spec, uint64_t family, uint64_t n);

/* A view of the filter's image, at an offset from an aligned address and with nothing after it, so
 * that a checked build sees every access outside it. */
typedef struct test_view {
    tamis *filter;
    uint8_t *memory;
} test_view;

test_view test_view_at(const tamis *, size_t shift);
void test_end_view(test_view *);

#endif
