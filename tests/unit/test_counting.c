/* SPDX-License-Identifier: MIT */
/* counting: its summary is a classic filter, its log has what changed there, and counters get stuck
 * as often as computed; or it has counters alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tamis.h"
#include "tamis_special.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* The summary equals classic with the same keys, bit for bit, after adds and removals. */
static void summary_is_classic(void **state) {
    (void)state;
    static const unsigned sizes[] = {64, 1, 63, 65, 640, 1000, 4096};
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (unsigned hashes = 1; hashes <= 10; hashes += 3) {
            const unsigned n = sizes[s];
            tamis *f =
                test_make("counting:capacity=50,bits=%u,width=16,hashes=%u,seed=3", 17 * n, hashes);
            tamis *g = test_make("classic:capacity=50,bits=%u,hashes=%u,seed=3", n, hashes);
            for (uint64_t i = 0; i < 200; i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
            for (uint64_t i = 0; i < 200; i += i % 4 ? 1 : 2)
                assert_int_equal(tamis_remove_u64(f, i), TAMIS_OK);
            for (uint64_t i = 1; i < 200; i += 4) tamis_add_u64(f, i);
            for (uint64_t i = 1; i < 200; i += 4) tamis_add_u64(g, i);
            for (uint64_t i = 0; i < n; i++)
                assert_int_equal(test_bits_at(f, (uint64_t)16 * n + i, 1), test_bits_at(g, i, 1));
            struct tamis_estimate a, b;
            const tamis_status rc = tamis_items_now(f, &a);
            assert_int_equal(rc, tamis_items_now(g, &b));
            if (!rc) assert_true(a.value == b.value && a.error == b.error);
            assert_true(tamis_fpr_now(f) == tamis_fpr_now(g));
            tamis_free(f);
            tamis_free(g);
        }
    /* With whole words even the bytes are equal. */
    tamis *f = test_make("counting:capacity=1000,fpr=1%%"),
          *g = test_make("classic:capacity=1000,fpr=1%%");
    for (uint64_t i = 0; i < 1000; i++) tamis_add_u64(f, i), tamis_add_u64(g, i);
    const uint64_t bits = test_info(g).word[0];
    assert_int_equal(test_info(f).word[0], bits * 5);
    assert_memory_equal(test_payload(f) + bits / 2, test_payload(g), bits / 8);
    tamis_free(f);
    tamis_free(g);
}

/* Peers that fold their copy when the owner folds need only the log afterwards. */
static void log_goes_on_after_a_fold(void **state) {
    (void)state;
    enum { COUNTERS = 1024 };
    tamis *f = test_make("counting:capacity=60,bits=%d,log=yes,hashes=4", COUNTERS * 6);
    uint8_t peer[COUNTERS] = {0};
    uint64_t n = COUNTERS, added = 0, removed = 0, cursor, position;
    bool is_set;
    for (uint64_t round = 0; round < 12; round++) {
        for (uint64_t i = 0; i < 20; i++) tamis_add_u64(f, added++);
        for (; removed + 12 < added; removed++) /* some are new, some were reported */
            assert_int_equal(tamis_remove_u64(f, removed), TAMIS_OK);
        if (round % 3 == 2) { /* with unreported changes */
            assert_int_equal(tamis_fold(f, 2), TAMIS_OK);
            n /= 2;
            for (uint64_t i = 0; i < n; i++) peer[i] = peer[2 * i] | peer[2 * i + 1];
        }
        if (round % 4 == 1) continue; /* unread changes are kept */
        uint64_t min = 0;
        for (cursor = 0; tamis_next_change(f, &cursor, &position, &is_set);) {
            assert_true(position >= min && position < n && peer[position] != is_set);
            peer[position] = is_set;
            min = position + 1;
        }
        for (uint64_t i = 0; i < n; i++) assert_int_equal(peer[i], test_bits_at(f, n * 4 + i, 1));
        assert_int_equal(tamis_clear_changes(f), TAMIS_OK);
        cursor = 0;
        assert_false(tamis_next_change(f, &cursor, &position, &is_set));
    }
    cursor = UINT64_MAX;
    assert_false(tamis_next_change(f, &cursor, &position, &is_set));
    tamis_free(f);
}

/* Without the option there is no log, and calls say so. */
static void log_is_an_option(void **state) {
    (void)state;
    tamis *f = test_make("counting:capacity=9");
    uint64_t cursor = 0, position;
    bool is_set;
    tamis_add_u64(f, 1);
    assert_false(tamis_next_change(f, &cursor, &position, &is_set));
    assert_int_equal(tamis_clear_changes(f), TAMIS_UNSUPPORTED);
    assert_false(test_info(f).abilities & TAMIS_CAN_LOG);
    tamis_free(f);
}

/* The probability that one of `cells` gets `value` or more of the `balls`. */
static double at_least(double balls, double cells, unsigned value) {
    double below = 0, chance = exp(balls * log1p(-1 / cells));
    for (unsigned j = 0; j < value; j++) {
        below += chance;
        chance *= (balls - j) / ((j + 1) * (cells - 1));
    }
    return 1 - below;
}

static void as_many_are_stuck_as_computed(void **state) {
    (void)state;
    for (unsigned width = 2; width <= 3; width++) {
        tamis *f = test_make("counting:capacity=100000,fpr=1%%,width=%u", width);
        for (uint64_t i = 0; i < 100000; i++) tamis_add_u64(f, test_number(2, i));
        const struct tamis_info info = test_info(f);
        const uint64_t n = info.word[0] / (width + 1);
        const double rate = at_least(1e5 * (double)info.word[1], (double)n, (1u << width) - 1);
        if (!test_is_possible(info.affected, n, rate, TEST_ALPHA))
            fail_msg("width %u: %llu of %llu are stuck, not %g", width,
                     (unsigned long long)info.affected, (unsigned long long)n, rate * (double)n);
        assert_non_null(strstr(info.caveat, "stuck at"));
        tamis_free(f);
    }
}

static void a_bare_one_has_no_log(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("counting:capacity=9,bare=yes,log=yes", &plan), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "summary"));
    tamis *f = test_make("counting:capacity=9,bits=300,bare=yes");
    static const test_word bad[] = {{3, 1}, {4, 2}, {4, UINT64_MAX}, {0, 301}, {5, 1}};
    assert_true(test_refuses_words(f, bad, COUNT_OF(bad), NULL));
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_is_classic),    cmocka_unit_test(log_goes_on_after_a_fold),
        cmocka_unit_test(log_is_an_option),      cmocka_unit_test(as_many_are_stuck_as_computed),
        cmocka_unit_test(a_bare_one_has_no_log),
    };
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
