/* SPDX-License-Identifier: MIT */
/* Packed fields against an array of integers: every width, random writes, no stray bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bits/packed.h"
#include "tests/support/keys.h"

static void fields_keep_what_was_put(void **state) {
    (void)state;
    enum { N = 131 };
    for (unsigned width = 1; width <= 64; width++) {
        const size_t size = (size_t)tamis__fields_size(N, width);
        uint8_t *bytes = calloc(1, size); /* exact, so that a sanitizer sees any overrun */
        uint64_t expected[N] = {0};
        assert_non_null(bytes);
        for (uint64_t step = 0; step < 3000; step++) {
            const uint64_t i = test_number(width, step) % N;
            expected[i] = test_number(width + 100, step) & tamis__field_mask(width);
            tamis__field_put(bytes, i, width, expected[i]);
            assert_int_equal(tamis__field_get(bytes, i, width), expected[i]);
        }
        for (uint64_t i = 0; i < N; i++) {
            assert_int_equal(tamis__field_get(bytes, i, width), expected[i]);
            assert_int_equal(tamis__bits_load(bytes, i * width, width), expected[i]);
        }
        assert_true(tamis__fields_end_clean(bytes, N, width));
        if (N * width % 64) {
            bytes[size - 1] |= 0x80;
            assert_false(tamis__fields_end_clean(bytes, N, width));
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_keep_what_was_put)};
    return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
