/* SPDX-License-Identifier: MIT */
/* For tests of sessions: two sides, and the wire between them. */
#ifndef TAMIS_TESTS_SUPPORT_SESSIONS_H
#define TAMIS_TESTS_SUPPORT_SESSIONS_H

#include "tamis_jobs.h"

/* One side of a session. */
typedef struct test_side {
    uint64_t *hashes;
    size_t n;
} test_side;

/* Two sets: `common` hashes, `left` only in the first, `right` only in the second, in no order. */
void test_sets(uint64_t family, size_t common, size_t left, size_t right, test_side sides[2]);
void test_sets_free(test_side sides[2]);

/* Carries bytes between both, in pieces of at most `piece` bytes, until both are over or neither
 * has output: then both learn that it ended. False when it took more than `steps` pieces. */
bool test_converse(tamis_session *first, tamis_session *second, size_t piece, uint64_t steps);

#endif
