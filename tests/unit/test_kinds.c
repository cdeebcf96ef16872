/* SPDX-License-Identifier: MIT */
/* What is special to one kind: the bytes of others, probes that must differ, shapes at the edge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static uint64_t bits_set(const tamis *f) {
    uint64_t size, set = 0;
    const uint8_t *bytes = tamis_payload(f, &size);
    for (uint64_t i = 0; i < size; i++) set += (unsigned)__builtin_popcount(bytes[i]);
    return set;
}

/* ---- split ---------------------------------------------------------------------------------- */

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

/* The two index rules differ for few keys, but they differ: a filter must say which it has. */
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
    struct tamis_plan plan;
    assert_int_equal(
        tamis_plan_spec("split:capacity=1,size=2^36,index=parquet", &plan, sizeof plan),
        TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("split:capacity=1,size=2^36", &plan, sizeof plan), TAMIS_OK);
    assert_int_equal(plan.word[1], 1);
}

/* ---- classic -------------------------------------------------------------------------------- */

/* With an odd step and bits in multiples of 64 no two of 64 linear probes coincide: a filter of one
 * key has exactly k bits set. A step of zero, or one that shares factors with m, shows here. */
static void linear_probes_never_coincide(void **state) {
    (void)state;
    for (unsigned bits = 64; bits <= 64 * 30; bits += 64)
        for (uint64_t i = 0; i < 200; i++) {
            tamis *f = test_make("classic:capacity=1,bits=%u,hashes=64,scheme=double", bits);
            const uint64_t special[] = {0, 1, bits, bits / 2, UINT64_MAX, (uint64_t)1 << 63};
            tamis_add_hash(f, i < 6 ? special[i] : test_number(1, i));
            assert_int_equal(bits_set(f), 64);
            tamis_free(f);
        }
}

/* Every number of bits from 1 up works, also where the last word is not full. */
static void any_number_of_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 200; bits++) {
        tamis *f = test_make("classic:capacity=5,bits=%u,hashes=3", bits), *g;
        for (uint64_t i = 0; i < 300; i++) tamis_add_u64(f, i);
        assert_true(bits_set(f) <= bits);
        size_t size = (size_t)tamis_image_size(f);
        uint8_t *image = malloc(size);
        assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
        assert_int_equal(tamis_load(&g, image, size), TAMIS_OK);
        for (uint64_t i = 0; i < 300; i++) assert_true(tamis_has_u64(g, i));
        free(image);
        tamis_free(f);
        tamis_free(g);
    }
}

/* ---- All ------------------------------------------------------------------------------------ */

/* Far beyond capacity a filter says so, and estimates say that they cannot. */
static void saturation_is_reported(void **state) {
    (void)state;
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind;
        struct tamis_info info;
        struct tamis_estimate items;
        tamis_kind_at(i, &kind, sizeof kind);
        if (kind.abilities & (TAMIS_AGES | TAMIS_IS_BUILT | TAMIS_CAN_DIFFER | TAMIS_IS_SKETCH) ||
            TAMIS_ENTRY(tamis__kind_by_id(kind.id)->kind, reshape, grow) || !(kind.abilities & TAMIS_CAN_ADD))
            continue; /* never too full, or it counts its keys */
        tamis *f = test_make("%s:capacity=20", kind.name);
        for (uint64_t k = 0; k < 40; k++) tamis_add_u64(f, k);
        tamis_measure(f, &info, sizeof info);
        assert_true(info.is_degraded || info.fpr_now <= 0.02);
        tamis_status rc = TAMIS_OK;
        for (uint64_t k = 0; k < 200000 && !rc; k++) rc = tamis_add_u64(f, k);
        if (rc == TAMIS_FULL) { /* refused before it could happen */
            tamis_measure(f, &info, sizeof info);
            assert_false(info.is_saturated);
            tamis_free(f);
            continue;
        }
        assert_int_equal(rc, TAMIS_OK);
        tamis_measure(f, &info, sizeof info);
        assert_true(info.is_saturated && info.is_degraded);
        assert_int_equal(tamis_items_now(f, &items), TAMIS_SATURATED);
        assert_int_equal(tamis_overlap(f, f, &items), TAMIS_SATURATED);
        tamis_free(f);
    }
}

/* Keys of no bytes and of many are keys like others. */
static void keys_of_any_length(void **state) {
    (void)state;
    const size_t longest = 1 << 20;
    char *zeros = calloc(1, longest);
    tamis *f = test_make("classic:capacity=5000,fpr=1e-9");
    assert_false(tamis_has(f, NULL, 0));
    for (size_t len = 0; len <= 4096; len += 2) tamis_add(f, zeros, len);
    tamis_add(f, zeros, longest);
    for (size_t len = 0; len <= 4096; len++)
        assert_int_equal(tamis_has(f, zeros, len), len % 2 == 0);
    assert_true(tamis_has(f, NULL, 0));
    assert_true(tamis_has(f, zeros, longest));
    assert_false(tamis_has(f, zeros, longest - 1));
    free(zeros);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_is_parquet_for_text), cmocka_unit_test(split_is_parquet_for_numbers),
        cmocka_unit_test(split_index_rules_are_two), cmocka_unit_test(linear_probes_never_coincide),
        cmocka_unit_test(any_number_of_bits),        cmocka_unit_test(saturation_is_reported),
        cmocka_unit_test(keys_of_any_length),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
