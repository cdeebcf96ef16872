/* SPDX-License-Identifier: MIT */
/* The tests' own tools: if they are wrong, every test that uses them proves something else.
 * Repeated keys would make any filter look bad or good; a one-sided bound, or one that depends on
 * luck, would pass what it should not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/bounds.h"
#include "tests/support/keys.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* The same in every run, on every machine; computed by another program. */
static void numbers_are_pinned(void **state) {
    (void)state;
    assert_true(test_number(0, 0) == 0);
    assert_true(test_number(0, 1) == 0x5692161d100b05e5);
    assert_true(test_number(0, 2) == 0xdbd238973a2b148a);
    assert_true(test_number(1, 0) == 0xe220a8397b1dcdaf);
    assert_true(test_number(7, TEST_STRANGERS) == 0xac937c7aabce66bc);
}

static uint64_t unshift(uint64_t x, int by) {
    uint64_t y = x;
    for (int done = by; done < 64; done += by) y = x ^ y >> by;
    return y;
}

/* Back to the counter: an invertible mapping gives distinct numbers. */
static uint64_t counter_of(uint64_t family, uint64_t x) {
    x = unshift(x, 31) * 0x319642b2d24d8ec3;
    x = unshift(x, 27) * 0x96de1b173f119089;
    return unshift(x, 30) - family * 0x9e3779b97f4a7c15;
}

static void numbers_are_distinct(void **state) {
    (void)state;
    const uint64_t from[] = {0, TEST_STRANGERS, UINT64_MAX - 99999};
    for (uint64_t family = 0; family < 5; family++)
        for (size_t j = 0; j < sizeof from / sizeof *from; j++)
            for (uint64_t i = from[j]; i - from[j] < 100000; i++)
                assert_true(counter_of(family, test_number(family, i)) == i);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The min and max possible hits, by summing every term of both tails in another program; the first
 * row also by hand: 11 of 1024 outcomes have at most one hit, 56 at most two. */
static void bounds_have_two_sides(void **state) {
    (void)state;
    static const struct {
        uint64_t probes;
        double rate, alpha;
        uint64_t fewest, max;
    } table[] = {
        {10, 0.5, 0.05, 2, 8},
        {1000, 0.01, TEST_ALPHA, 0, 34},
        {1000000, 0.01, TEST_ALPHA, 9398, 10614},
        {1000000, 0.001, TEST_ALPHA, 813, 1199},
        {10000000, 0.01, TEST_ALPHA, 98084, 101928},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const uint64_t n = table[i].probes;
        const double rate = table[i].rate, alpha = table[i].alpha;
        assert_true(test_is_possible(table[i].fewest, n, rate, alpha));
        assert_true(test_is_possible(table[i].max, n, rate, alpha));
        assert_true(test_is_possible((uint64_t)((double)n * rate), n, rate, alpha));
        assert_true(!table[i].fewest || !test_is_possible(table[i].fewest - 1, n, rate, alpha));
        assert_false(test_is_possible(table[i].max + 1, n, rate, alpha));
        assert_false(test_is_possible(n, n, rate, alpha));
    }
}

static void what_cannot_be_is_impossible(void **state) {
    (void)state;
    assert_true(test_is_possible(0, 100, 0, TEST_ALPHA));
    assert_false(test_is_possible(1, 100, 0, TEST_ALPHA));
    assert_true(test_is_possible(100, 100, 1, TEST_ALPHA));
    assert_false(test_is_possible(99, 100, 1, TEST_ALPHA));
}

/* Ten million probes detect a filter that is 10 % worse, or better, than it reports. */
static void a_tenth_is_seen(void **state) {
    (void)state;
    assert_false(test_is_possible(110000, 10000000, 0.01, TEST_ALPHA));
    assert_false(test_is_possible(90000, 10000000, 0.01, TEST_ALPHA));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_pinned),           cmocka_unit_test(numbers_are_distinct),
        cmocka_unit_test(bounds_have_two_sides),        cmocka_unit_test(a_tenth_is_seen),
        cmocka_unit_test(what_cannot_be_is_impossible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
