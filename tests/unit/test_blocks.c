/* SPDX-License-Identifier: MIT */
/* blocked and split: a batch equals its keys one by one, on every CPU, whether the payload is in
 * cache, beyond the caches, or large enough to be prefetched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "tests/support/batches.h"
#include "tests/support/keys.h"

enum { KEYS = 21000 }; /* more than the sum of all short batches */

static void lists_are_single_keys(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "blocked:hashes=8", "blocked:hashes=16",          "blocked:hashes=5",
        "split:index=wide", "split:index=parquet,seed=9", "blocked:hashes=8,seed=12345678901",
    };
    static const char *const sizes[] = {"64", "100000", "3MiB", "20MiB"};
    static uint64_t hashes[KEYS];
    for (size_t i = 0; i < KEYS; i++) hashes[i] = test_number(17, i);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            char spec[100];
            snprintf(spec, sizeof spec, "%s,capacity=1000,size=%s", shapes[i], sizes[j]);
            test_batches(spec, hashes, j ? KEYS : 100); /* a full block matches everything */
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_single_keys)};
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
