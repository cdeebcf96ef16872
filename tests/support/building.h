/* SPDX-License-Identifier: MIT */
/* Tests of kinds that are built once may include this: filters built, and compared, in one line.
 * What fails here ends the test program with a sentence. */
#ifndef TAMIS_TESTS_SUPPORT_BUILDING_H
#define TAMIS_TESTS_SUPPORT_BUILDING_H

#include "tamis.h"
#include "tests/support/contents.h"

tamis_builder *test_builder(const char *spec);

/* One that asks every key again after building, on so many threads. */
tamis_builder *test_careful_builder(const char *spec, unsigned threads);

/* Finishes, and frees the builder. */
tamis *test_finish(tamis_builder *);

/* Adds the numbers `from` to `to` - 1 of a family (tests/support/keys.h). */
void test_add_numbers(tamis_builder *, uint64_t family, uint64_t from, uint64_t to);

/* A filter of the numbers 0 to n - 1 of a family. */
tamis *test_build(const char *spec, uint64_t family, uint64_t n);

/* A view of the filter's image, so many bytes behind an aligned address and with nothing after it,
 * so that a checked build sees every step out of it. */
typedef struct test_view {
    tamis *filter;
    uint8_t *memory;
} test_view;

test_view test_view_at(const tamis *, size_t shift);
void test_end_view(test_view *);

#endif
