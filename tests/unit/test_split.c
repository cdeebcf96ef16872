/* SPDX-License-Identifier: MIT */
/* split: the bytes that other systems write for the same keys, and its two rules for a block. */
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

/* Bitsets as DuckDB 1.5.6 wrote them into Parquet files; ours must be the same bytes. */
static void demand_payload(tamis *f, const char *hex) {
    uint64_t size;
    const uint8_t *bytes = tamis_payload(f, &size);
    assert_int_equal(strlen(hex), size * 2);
    for (uint64_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        assert_int_equal(bytes[i], byte);
    }
    tamis_free(f);
}

static void split_is_parquet_for_text(void **state) {
    (void)state;
    static const char *const words[] = {"alpha", "beta", "gamma", "delta", "", "caf\xc3\xa9"};
    tamis *f = test_make("split:capacity=6,size=32,hash=xxh64");
    for (size_t i = 0; i < 6; i++) tamis_add(f, words[i], strlen(words[i]));
    demand_payload(f, "480100310101a011002100272a0000542440080300804033002009b028100440");
    f = test_make("split:capacity=10,size=32,hash=xxh64");
    for (char c = '0'; c <= '9'; c++) tamis_add(f, (char[]){'b', c}, 2);
    demand_payload(f, "c4944001d0000f848800e24208a882230a6200702485280403821018a8308044");
}

static void split_is_parquet_for_numbers(void **state) {
    (void)state;
    tamis *f = test_make("split:capacity=40,size=64,hash=xxh64");
    for (uint8_t i = 0; i < 40; i++) tamis_add(f, (uint8_t[4]){i, 0, 0, 0}, 4); /* INT32 */
    demand_payload(f, "2e25ce3355752ada4a80f4f3e70e91a7382189cdb46393e809fd5c51da28e387"
                      "3f407c325c08a82fe2f8a3802e4ee84a861625ceadea68402036e6a21099806d");
    f = test_make("split:capacity=20,size=32,hash=xxh64");
    for (int i = 0; i < 20; i++) { /* DOUBLE, by the bytes of its bits */
        const double x = i / 2.0;
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        tamis_add_u64(f, bits);
    }
    demand_payload(f, "952e4c6f86ca0d9608e2de472d2c4a6359107fc5db1b805c89d7591258e1d979");
}

/* The vectors of docs/format.md. The last hash has a different block under each rule. */
static void known_hashes_have_known_bits(void **state) {
    (void)state;
    enum { LANES = 8 };
    static const struct {
        const char *shape;
        uint64_t hash;
        uint16_t at[LANES];
    } known[] = {
        {"size=320,index=parquet", 0x42548a8a111c54ee, {534, 560, 595, 615, 665, 675, 714, 738}},
        {"size=320,index=parquet",
         0xe41f5c6dbce1fa41,
         {2062, 2106, 2130, 2149, 2204, 2227, 2249, 2293}},
        {"size=320,index=wide", 0x42548a8a111c54ee, {534, 560, 595, 615, 665, 675, 714, 738}},
        {"size=96,index=parquet", 0x55555555ffffffff, {23, 55, 78, 107, 145, 186, 204, 244}},
        {"size=96,index=wide", 0x55555555ffffffff, {279, 311, 334, 363, 401, 442, 460, 500}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tamis *f = test_make("split:capacity=9,%s", known[i].shape);
        assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
        test_demand_bits(f, known[i].at, LANES);
        tamis_free(f);
    }
}

/* The two index rules differ for few keys, but they do: a filter must say which it has. */
static void split_index_rules_are_two(void **state) {
    (void)state;
    tamis *parquet = test_make("split:capacity=10,size=3200,index=parquet");
    tamis *wide = test_make("split:capacity=10,size=3200,index=wide");
    assert_non_null(tamis_mismatch(parquet, wide));
    /* High half 0x7fffffff of 100 blocks: the low half carries into the next block. */
    const uint64_t hash = 0x7fffffffffffffff;
    tamis_add_hash(parquet, hash);
    assert_true(tamis_has_hash(parquet, hash));
    uint64_t size, block = 0;
    const uint8_t *bytes = tamis_payload(parquet, &size);
    while (bytes[32 * block] == 0 && bytes[32 * block + 1] == 0 && bytes[32 * block + 2] == 0 &&
           bytes[32 * block + 3] == 0)
        block++;
    assert_int_equal(block, (0x7fffffffull * 100) >> 32);
    tamis_free(parquet);
    tamis_free(wide);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("split:capacity=1,size=2^36,index=parquet", &plan),
                     TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("split:capacity=1,size=2^36", &plan), TAMIS_OK);
    assert_int_equal(plan.word[1], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_is_parquet_for_text),
        cmocka_unit_test(split_is_parquet_for_numbers),
        cmocka_unit_test(known_hashes_have_known_bits),
        cmocka_unit_test(split_index_rules_are_two),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
