/* SPDX-License-Identifier: MIT */
/* blocked: which bits of which cache line belong to a hash, and how many a plan uses. test_blocks.c
 * tests batches on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { CAT, OWL, HASHES_ASKED };
static const uint64_t hash_of[HASHES_ASKED] = {0x42548a8a111c54ee, 0xe41f5c6dbce1fa41};

/* Vectors from docs/format.md: bits anywhere in the block, one per lane, two per lane. */
static void known_hashes_have_known_bits(void **state) {
    (void)state;
    static const struct {
        unsigned hashes;
        uint16_t at[HASHES_ASKED][16];
    } known[] = {
        {3, {{1058, 1481, 1256}, {4473, 4193, 4117}}},
        {8,
         {{1069, 1121, 1190, 1231, 1330, 1350, 1428, 1477},
          {4125, 4213, 4260, 4299, 4409, 4455, 4498, 4587}}},
        {16,
         {{1069, 1057, 1121, 1135, 1190, 1214, 1231, 1244, 1330, 1288, 1350, 1396, 1428, 1429, 1477,
           1490},
          {4125, 4149, 4213, 4169, 4260, 4281, 4299, 4290, 4409, 4410, 4455, 4430, 4498, 4496, 4587,
           4556}}},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        for (int key = CAT; key <= OWL; key++) {
            tamis *f = test_make("blocked:capacity=9,size=640,hashes=%u", known[i].hashes);
            assert_int_equal(tamis_add_hash(f, hash_of[key]), TAMIS_OK);
            test_demand_bits(f, known[i].at[key], known[i].hashes);
            tamis_free(f);
        }
}

/* Inside a block only the low half of a hash counts, which limits how low the rate can be. */
static void only_the_low_half_separates_keys_of_a_block(void **state) {
    (void)state;
    for (unsigned hashes = 1; hashes <= 16; hashes += hashes == 8 ? 8 : 1) {
        tamis *f = test_make("blocked:capacity=1,size=64,hashes=%u", hashes);
        assert_int_equal(tamis_add_hash(f, hash_of[CAT]), TAMIS_OK);
        assert_true(tamis_has_hash(f, hash_of[CAT] ^ UINT64_C(0xffffffff00000000)));
        assert_false(tamis_has_hash(f, hash_of[CAT] ^ UINT64_C(0x80000000)));
        tamis_free(f);
    }
    tamis *f = test_make("blocked:capacity=1,size=640"); /* the upper half chooses the block */
    assert_int_equal(tamis_add_hash(f, hash_of[CAT]), TAMIS_OK);
    assert_false(tamis_has_hash(f, hash_of[CAT] ^ UINT64_C(0xffffffff00000000)));
    tamis_free(f);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("blocked:capacity=1M,fpr=1e-10", &plan), TAMIS_TOO_LARGE);
    assert_non_null(strstr(tamis_why(), "400 bits per key"));
}

/* The table of docs/kinds/blocked.md. */
static void plans_take_as_many_probes_as_the_rate_needs(void **state) {
    (void)state;
    static const struct {
        const char *fpr;
        unsigned hashes;
    } known[] = {{"30%", 2},  {"2%", 6},   {"1.3%", 8},  {"1%", 8},
                 {"0.1%", 8}, {"2e-4", 8}, {"5e-5", 16}, {"1e-8", 16}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "blocked:capacity=1M,fpr=%s", known[i].fpr);
        if (test_plan(spec).word[1] != known[i].hashes)
            fail_msg("%s: %u probes", spec, (unsigned)test_plan(spec).word[1]);
    }
}

static void nine_to_fifteen_hashes_are_refused(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (unsigned hashes = 9; hashes <= 15; hashes++) {
        char spec[64];
        snprintf(spec, sizeof spec, "blocked:capacity=9,hashes=%u", hashes);
        assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_INVALID);
        assert_non_null(strstr(tamis_why(), "1 to 8 or 16"));
    }
    assert_int_equal(tamis_plan_spec("blocked:capacity=9,size=63", &plan), TAMIS_INVALID);
    assert_int_equal(test_plan("blocked:capacity=9,size=127").payload_bytes, 64);
    tamis *f = test_make("blocked:capacity=9,size=640");
    static const test_word bad[] = {{0, 0},  {0, 9},  {0, 11}, {0, UINT64_MAX}, {1, 0}, {1, 9},
                                    {1, 15}, {1, 17}, {1, 24}, {1, 32},         {2, 1}};
    assert_true(test_refuses_words(f, bad, COUNT_OF(bad), NULL));
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_bits),
        cmocka_unit_test(only_the_low_half_separates_keys_of_a_block),
        cmocka_unit_test(plans_take_as_many_probes_as_the_rate_needs),
        cmocka_unit_test(nine_to_fifteen_hashes_are_refused),
    };
    return cmocka_run_group_tests_name("blocked", tests, NULL, NULL);
}
