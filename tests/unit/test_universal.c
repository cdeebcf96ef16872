/* SPDX-License-Identifier: MIT */
/* universal: the function of a seed, the position that it gives, and the bound proven for any set,
 * even one with a pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define P              (((uint64_t)1 << 61) - 1)

enum { BITS, MULTIPLIER, OFFSET };

/* The vectors of docs/format.md. */
static void known_hashes_have_known_bits(void **state) {
    (void)state;
    static const struct {
        uint64_t hash;
        uint16_t at;
    } known[] = {{0x42548a8a111c54ee, 655}, {0xe41f5c6dbce1fa41, 652}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        tamis *f = test_make("universal:capacity=9,bits=1000");
        assert_int_equal(test_info(f).word[MULTIPLIER], 2062761817371520755);
        assert_int_equal(test_info(f).word[OFFSET], 1372196294186188253);
        assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
        test_demand_bits(f, &known[i].at, 1);
        tamis_free(f);
    }
    const struct tamis_plan plan = test_plan("universal:capacity=9,bits=1000,seed=1");
    assert_int_equal(plan.word[MULTIPLIER], 431712408222756580);
    assert_int_equal(plan.word[OFFSET], 599023721753054849);
}

/* Hashes are numbers modulo P: no function of the family can tell apart two that differ by a
 * multiple of P. */
static void hashes_that_are_equal_modulo_p_are_one(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        tamis *f = test_make("universal:capacity=9,bits=100003,seed=%u", (unsigned)seed);
        assert_int_equal(tamis_add_hash(f, seed), TAMIS_OK);
        for (uint64_t times = 1; times <= 8; times++) {
            const uint64_t same = seed + times * P; /* 8 P is just below 2^64 */
            if (same < seed) continue;
            assert_true(tamis_has_hash(f, same));
        }
        assert_int_equal(test_bits_set(test_payload(f), 100003 / 8), 1);
        tamis_free(f);
    }
}

/* Members and non-members in a pattern, chosen independently of the function: over many functions,
 * a non-member hits at most n times in m. */
static void the_bound_holds_for_hashes_in_a_pattern(void **state) {
    (void)state;
    enum { FUNCTIONS = 4000, N = 50, M = 640 };
    static const uint64_t steps[] = {1, 1 << 20, (uint64_t)1 << 50, P / M, P / 2};
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        uint64_t hits = 0;
        for (unsigned seed = 0; seed < FUNCTIONS; seed++) {
            tamis *f = test_make("universal:capacity=%d,bits=%d,seed=%u", N, M, seed);
            for (uint64_t i = 0; i < N; i++) tamis_add_hash(f, i * steps[s] % P);
            hits += tamis_has_hash(f, N * steps[s] % P);
            tamis_free(f);
        }
        const double bound = (double)N / M;
        if ((double)hits > bound * FUNCTIONS)
            test_demand_possible(hits, FUNCTIONS, bound, "a stranger in the pattern");
    }
}

/* A key takes 1/fpr bits, plus a little so that the size can fold. */
static void sizes_are_capacity_by_rate(void **state) {
    (void)state;
    assert_int_equal(test_plan("universal:capacity=1000,fpr=1%").word[BITS], 100352);
    assert_int_equal(test_plan("universal:capacity=64,fpr=50%").word[BITS], 128);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("universal:capacity=2^53,fpr=1%", &plan), TAMIS_TOO_LARGE);
    tamis *f = test_make("universal:capacity=9,bits=1000");
    static const test_word bad[] = {{BITS, 0},       {BITS, 2000},        {MULTIPLIER, 0},
                                    {MULTIPLIER, P}, {MULTIPLIER, 3 * P}, {OFFSET, P},
                                    {OFFSET, P + 1}, {OFFSET, UINT64_MAX}};
    assert_true(test_refuses_words(f, bad, COUNT_OF(bad), NULL));
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_bits),
        cmocka_unit_test(hashes_that_are_equal_modulo_p_are_one),
        cmocka_unit_test(the_bound_holds_for_hashes_in_a_pattern),
        cmocka_unit_test(sizes_are_capacity_by_rate),
    };
    return cmocka_run_group_tests_name("universal", tests, NULL, NULL);
}
