/* SPDX-License-Identifier: MIT */
/* composite has a filter of added keys and one of removed keys: against exact states and the rates
 * of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_math.h"
#include "tests/support/arrays.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { TEXT = 256 };

/* At a negligible rate, a key is a member from its add to its removal, and never again. */
static void composite_matches_a_model(void **state) {
    (void)state;
    enum { KEYS = 500, STEPS = 6000 };
    enum { NEVER, ADDED, REMOVED } is[KEYS] = {NEVER};
    tamis *f = test_make("composite:capacity=500,fpr=1e-9");
    uint64_t items = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t draw = test_number(11, step), key = draw % KEYS;
        tamis *old = step % 10 ? NULL : test_copy(f);
        tamis_status rc, expected = TAMIS_OK;
        if (draw >> 40 & 1) {
            rc = tamis_add_u64(f, key);
            if (is[key] == REMOVED) expected = TAMIS_TOMBSTONED;
            if (!rc) is[key] = ADDED, items++;
        } else {
            rc = tamis_remove_u64(f, key);
            if (is[key] != ADDED) expected = TAMIS_NOT_FOUND;
            if (!rc) is[key] = REMOVED, items--;
        }
        assert_int_equal(rc, expected);
        if (rc && old) assert_true(test_is_same_payload(f, old)); /* refused: nothing changed */
        tamis_free(old);
        const uint64_t asked = draw >> 44 & 255;
        assert_int_equal(tamis_has_u64(f, asked), is[asked] == ADDED);
    }
    assert_int_equal(test_info(f).items, items);
    tamis_free(f);
}

/* One removed key in a batch: none is added, whatever its size, and the message says why. */
static void composite_adds_all_or_none(void **state) {
    (void)state;
    enum { MANY = 3000 };
    static uint64_t keys[MANY];
    static struct tamis_key many[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        keys[i] = i;
        many[i] = (struct tamis_key){&keys[i], sizeof keys[i]};
    }
    for (size_t bad = 0; bad < MANY; bad += MANY - 1) {
        tamis *f = test_make("composite:capacity=4000,fpr=1e-9");
        assert_int_equal(tamis_add(f, many[bad].bytes, many[bad].len), TAMIS_OK);
        assert_int_equal(tamis_remove(f, many[bad].bytes, many[bad].len), TAMIS_OK);
        tamis *old = test_copy(f);
        assert_int_equal(tamis_add_many(f, many, MANY), TAMIS_TOMBSTONED);
        assert_non_null(strstr(tamis_why(), "removed"));
        assert_true(test_is_same_payload(f, old));
        assert_int_equal(test_info(f).items, 0);
        assert_int_equal(tamis_add_many(f, many + 1, MANY - 2), TAMIS_OK);
        assert_int_equal(test_info(f).items, MANY - 2);
        tamis_free(f);
        tamis_free(old);
    }
}

/* Half of the keys are removed from filters that are too small. Of the other half, as many are lost
 * as the second filter has false positives; non-members are found at the rate of both. */
static void composite_loses_keys_at_its_rate(void **state) {
    (void)state;
    enum { KEYS = 20000, NONMEMBERS = 400000 };
    for (unsigned percent = 20; percent <= 100; percent += 40) {
        tamis *f = test_make("composite:capacity=%d,fpr=20%%,removed=%u", KEYS / 2, percent);
        test_add_hashes(f, 1, 0, KEYS);
        uint64_t found = 0;
        for (uint64_t i = KEYS / 2; i < KEYS; i++) {
            const tamis_status rc = tamis_remove_hash(f, test_number(1, i));
            assert_true(rc == TAMIS_OK || rc == TAMIS_NOT_FOUND); /* already lost */
        }
        for (uint64_t i = 0; i < KEYS; i++) {
            const bool is_there = tamis_has_hash(f, test_number(1, i));
            assert_true(i < KEYS / 2 || !is_there);
            found += is_there;
        }
        const double added_rate = test_array_rate(f, percent, 0);
        const double removed_rate = test_array_rate(f, percent, 1);
        test_demand_possible(KEYS / 2 - found, KEYS / 2, removed_rate, "lost keys");
        assert_true(fabs(tamis_fpr_now(f) - added_rate * (1 - removed_rate)) < 1e-12);
        test_demand_possible(test_count_hits(f, 1, TEST_STRANGERS, NONMEMBERS), NONMEMBERS,
                             added_rate * (1 - removed_rate), "strangers");

        const struct tamis_info info = test_info(f);
        char about[TEXT];
        snprintf(about, sizeof about, "%.2g %% are lost", 100 * removed_rate);
        if (!strstr(info.caveat, about)) fail_msg("'%s' is not in '%s'", about, info.caveat);
        /* Removing a lost key would not have set a bit: it counts as removed. */
        assert_true(fabs(info.items_now.value - KEYS / 2) < 6 * info.items_now.error);
        assert_true(fabs((double)info.affected - KEYS / 2) < 6 * info.items_now.error + 1);
        tamis_free(f);
    }
}

/* Both filters are planned for the rate, the second with its share of the keys. */
static void composite_plans_both_filters(void **state) {
    (void)state;
    static const double rates[] = {0.2, 0.01, 1e-4, 1e-7};
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (uint64_t n = 1; n < 200000; n = n * 3 + 5)
            for (unsigned percent = 1; percent <= 100; percent += 11) {
                char spec[TEXT];
                struct tamis_plan plan = TAMIS_PLAN_INIT;
                snprintf(spec, sizeof spec, "composite:capacity=%llu,fpr=%g,removed=%u",
                         (unsigned long long)n, rates[r], percent);
                assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_OK);
                const uint64_t bits = plan.payload_bytes * 8 - plan.word[0],
                               keys = (n * percent + 99) / 100;
                const double rate =
                    bits < 2048
                        ? tamis_rate_exact(keys, bits, (unsigned)plan.word[1])
                        : tamis_rate_second_order((double)keys, (double)bits, (double)plan.word[1]);
                if (rate > rates[r] * (1 + 1e-6)) fail_msg("%s would lose %g", spec, rate);
                assert_true(plan.fpr_expected <= rates[r]);
            }
}

/* A removal counts for the union, even where the other filter still has the key. */
static void composite_merges_both_filters(void **state) {
    (void)state;
    tamis *a = test_make("composite:capacity=100,fpr=1e-9"), *b = test_copy(a);
    for (uint64_t i = 0; i < 60; i++) tamis_add_u64(a, i);
    for (uint64_t i = 40; i < 100; i++) tamis_add_u64(b, i);
    for (uint64_t i = 50; i < 55; i++) assert_int_equal(tamis_remove_u64(a, i), TAMIS_OK);
    for (uint64_t i = 90; i < 95; i++) assert_int_equal(tamis_remove_u64(b, i), TAMIS_OK);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(tamis_has_u64(a, i), !(i >= 50 && i < 55) && !(i >= 90 && i < 95));
    tamis_free(a);
    tamis_free(b);
}

/* When the second filter is full, every answer is no, and the filter says so. */
static void composite_full_of_removals(void **state) {
    (void)state;
    tamis *f = test_make("composite:capacity=1000,bits=16384,removed=1,hashes=1");
    struct tamis_estimate items;
    for (uint64_t i = 0; i < 200000; i++) {
        if (tamis_add_u64(f, i) == TAMIS_OK) tamis_remove_u64(f, i);
    }
    const struct tamis_info info = test_info(f);
    assert_int_equal(tamis_items_now(f, &items), TAMIS_SATURATED);
    assert_true(info.fpr_now == 0 && info.affected > 0);
    assert_non_null(strstr(info.caveat, "1e+02 % are lost"));
    assert_int_equal(tamis_add_u64(f, UINT64_MAX), TAMIS_TOMBSTONED);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composite_matches_a_model),
        cmocka_unit_test(composite_adds_all_or_none),
        cmocka_unit_test(composite_loses_keys_at_its_rate),
        cmocka_unit_test(composite_plans_both_filters),
        cmocka_unit_test(composite_merges_both_filters),
        cmocka_unit_test(composite_full_of_removals),
    };
    return cmocka_run_group_tests_name("composite", tests, NULL, NULL);
}
