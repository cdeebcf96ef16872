/* SPDX-License-Identifier: MIT */
/* For every test: an allocator that counts, and fails on demand. */
#ifndef TAMIS_TESTS_SUPPORT_FAILING_ALLOCATOR_H
#define TAMIS_TESTS_SUPPORT_FAILING_ALLOCATOR_H

#include "tamis.h"

/* Fails at the fail_at-th call (0: never), once or from then on. Deliberately not thread-safe: code
 * that allocates from two threads at once shows under a sanitizer. */
typedef struct test_failing_allocator {
    long calls, fail_at;
    bool for_ever;
    long blocks;
    size_t bytes, max_bytes;
} test_failing_allocator;

struct tamis_allocator test_allocator(test_failing_allocator *);

#endif
