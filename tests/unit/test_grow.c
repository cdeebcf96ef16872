/* SPDX-License-Identifier: MIT */
/* grow doubles, and its keys lose a bit each time: rates against the papers' formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/kind.h"
#include "kinds/slots.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

/* The papers' rate of a filter filled to the last doubling: each doubling adds half of the load,
 * with the fingerprint length of its time. */
static double grown_rate(const struct tamis_info *info, double load) {
    const int doublings = (int)info->word[2];
    const double first = (double)info->word[1] - 1 - ceil(2 * log2(doublings + 1));
    double sum = exp2(-first);
    for (int x = 1; x <= doublings; x++) sum += exp2(-first - ceil(2 * log2(x + 1)) - 1);
    return load * sum;
}

static void add_numbers(tamis *f, uint64_t from, uint64_t to) {
    for (; from < to; from++) assert_int_equal(tamis_add_u64(f, test_number(1, from)), TAMIS_OK);
}

static uint64_t find_numbers(const tamis *f, uint64_t from, uint64_t to, uint64_t step) {
    uint64_t found = 0;
    for (; from < to; from += step) found += tamis_has_u64(f, test_number(1, from));
    return found;
}

/* From a thousand keys to about a million: every key is found, the rate at every doubling is what
 * the slots say and at most the target, and old keys become void without being lost. */
static void growing_a_thousandfold(double asked) {
    enum { PROBES = 200000 };
    tamis *f = test_make("grow:capacity=1000,fpr=%.17g", asked);
    const tamis_kind *kind = tamis__kind_by_name("grow", 4)->kind;
    const uint64_t first_bits = test_info(f).word[1] - 1;
    uint64_t keys = 0, old_homes = 0;
    for (unsigned doublings = 0; doublings <= 10; doublings++) {
        struct tamis_info info = test_info(f);
        const uint64_t homes = info.word[0], limit = tamis__slots_limit(homes);
        assert_int_equal(info.word[2], doublings);
        if (doublings) assert_int_equal(homes, 2 * old_homes);
        old_homes = homes;
        /* Now it is fullest: one more key doubles it. */
        const uint64_t more = limit - test_slots_used(f);
        add_numbers(f, keys, keys + more);
        keys += more;
        info = test_info(f);
        assert_int_equal(info.word[0], homes);
        const uint64_t step = doublings < 10 ? 4 : 1; /* all of them at the end */
        assert_int_equal(find_numbers(f, 0, keys, step), (keys + step - 1) / step);
        const uint64_t hits = find_numbers(f, TEST_STRANGERS, TEST_STRANGERS + PROBES, 1);
        if (!test_is_possible(hits, PROBES, info.fpr_now, TEST_ALPHA))
            fail_msg("%u doublings: %u hits, the slots say %g", doublings, (unsigned)hits,
                     info.fpr_now);
        if (info.fpr_now > asked) fail_msg("%u doublings: %g", doublings, info.fpr_now);
        const double formula = grown_rate(&info, 0.95), by_kind = kind->rate(info.word, keys);
        assert_true(fabs(-expm1(-formula) / by_kind - 1) < 0.02);
        /* Copies of voids take slots that the formulas give to keys. */
        assert_true(info.fpr_now < 1.03 * by_kind && info.fpr_now > 0.93 * by_kind);
        assert_true(fabs(info.items_now.value - (double)keys) < 6 * info.items_now.error + 1);
        assert_true(info.items_now.error < 0.01 * (double)keys + 10);
        assert_int_equal(info.affected != 0, doublings >= first_bits);
        assert_int_equal(info.affected != 0, info.caveat[0] != 0);
        if (doublings % 3 == 0) test_demand_loads(f);
        add_numbers(f, keys, keys + 1);
        keys++;
    }
    assert_true(keys > 1000000 * 0.95);
    tamis_free(f);
}

static void growing_at_one_percent(void **state) {
    (void)state;
    growing_a_thousandfold(0.01);
}

static void growing_at_ten_percent(void **state) {
    (void)state;
    growing_a_thousandfold(0.1);
}

static void growing_at_one_in_ten_thousand(void **state) {
    (void)state;
    growing_a_thousandfold(1e-4);
}

/* The rate holds for every target, however often the filter doubles. */
static void the_worst_rate_of_grow_is_the_asked_one(void **state) {
    (void)state;
    for (double asked = 0.99; asked > 1e-12; asked *= 0.7) {
        char spec[96];
        snprintf(spec, sizeof spec, "grow:capacity=1000,fpr=%.17g", asked);
        struct tamis_info info = TAMIS_INFO_INIT;
        memcpy(info.word, test_plan(spec).word, sizeof info.word);
        const double first = (double)info.word[1] - 1;
        for (unsigned x = 0; x <= 46; x++) {
            info.word[1] = (uint64_t)(first + 1 + ceil(2 * log2(x + 1)));
            info.word[2] = x;
            assert_true(grown_rate(&info, 0.95) <= asked);
        }
        /* One bit less would not do. */
        info.word[1]--;
        assert_true(first == 1 || grown_rate(&info, 0.95) > asked);
    }
}

/* Keys come and go while the filter grows. No member is ever missed; removals fail only for keys
 * whose fingerprint is used up. */
static void removing_while_growing(double asked, bool has_voids) {
    enum { MAX = 40000 };
    tamis *f = test_make("grow:capacity=50,fpr=%.17g", asked);
    static uint64_t keys[MAX];
    uint64_t n = 0, next = 0, stuck = 0;
    while (n < MAX) {
        const uint64_t r = test_number(77, next + stuck);
        if (n && r % 3 == 0) {
            const uint64_t at = r / 3 % n;
            assert_true(tamis_has_u64(f, keys[at]));
            const tamis_status rc = tamis_remove_u64(f, keys[at]);
            assert_true(rc == TAMIS_OK || (has_voids && rc == TAMIS_UNSUPPORTED));
            if (rc) assert_true(tamis_has_u64(f, keys[at]));
            if (!rc) keys[at] = keys[--n];
            stuck++;
        } else {
            keys[n++] = next++;
            assert_int_equal(tamis_add_u64(f, keys[n - 1]), TAMIS_OK);
        }
        if ((next + stuck) % 5000 == 0)
            for (uint64_t i = 0; i < n; i++) assert_true(tamis_has_u64(f, keys[i]));
    }
    assert_int_equal(test_info(f).affected != 0, has_voids);
    test_demand_loads(f);
    /* Removes all that can be removed. */
    uint64_t left = 0;
    for (uint64_t i = 0; i < n; i++) {
        assert_true(tamis_has_u64(f, keys[i]));
        left += tamis_remove_u64(f, keys[i]) != TAMIS_OK;
    }
    assert_true(has_voids ? left > 0 && left < n / 2 : left == 0);
    if (!has_voids) assert_int_equal(test_slots_used(f), 0);
    tamis_free(f);
}

static void removing_while_growing_leaves_the_rest(void **state) {
    (void)state;
    removing_while_growing(1e-4, false);
    removing_while_growing(0.2, true);
}

/* Many doublings in one step keep existing keys, even if they become void on the way. */
static void growing_in_one_leap(void **state) {
    (void)state;
    enum { MANY = 200000 };
    static uint64_t hashes[MANY];
    for (int digits = 1; digits <= 3; digits++) {
        tamis *f = test_make("grow:capacity=10,fpr=1e-%d", digits);
        add_numbers(f, 0, 60);
        for (uint64_t i = 0; i < MANY; i++) hashes[i] = test_number(4, i);
        assert_int_equal(tamis_add_hashes(f, hashes, MANY), TAMIS_OK);
        assert_int_equal(test_info(f).word[2], 12);
        assert_int_equal(find_numbers(f, 0, 60, 1), 60);
        for (uint64_t i = 0; i < MANY; i++) assert_true(tamis_has_hash(f, hashes[i]));
        assert_int_equal(test_info(f).affected, 60);
        test_demand_loads(f);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_at_one_percent),
        cmocka_unit_test(growing_at_ten_percent),
        cmocka_unit_test(growing_at_one_in_ten_thousand),
        cmocka_unit_test(the_worst_rate_of_grow_is_the_asked_one),
        cmocka_unit_test(removing_while_growing_leaves_the_rest),
        cmocka_unit_test(growing_in_one_leap),
    };
    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
