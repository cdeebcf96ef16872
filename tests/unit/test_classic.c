/* SPDX-License-Identifier: MIT */
/* classic: where its probes go, probes that must differ, and any number of bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Vectors from docs/format.md, for each scheme. */
static void known_hashes_have_known_bits(void **state) {
    (void)state;
    enum { HASHES = 5 };
    static const struct {
        const char *shape;
        uint64_t hash;
        uint16_t at[HASHES];
    } known[] = {
        {"bits=1000", 0x42548a8a111c54ee, {259, 419, 894, 915, 83}},
        {"bits=1000", 0xe41f5c6dbce1fa41, {891, 696, 983, 777, 203}},
        {"bits=1000,scheme=double64", 0x42548a8a111c54ee, {259, 975, 691, 408, 124}},
        {"bits=1000,scheme=double64", 0xe41f5c6dbce1fa41, {891, 438, 984, 531, 78}},
        {"bits=1024,scheme=double", 0x42548a8a111c54ee, {238, 977, 692, 407, 122}},
        {"bits=1024,scheme=double", 0xe41f5c6dbce1fa41, {577, 146, 739, 308, 901}},
        {"bits=1024,scheme=enhanced", 0x42548a8a111c54ee, {238, 977, 693, 411, 132}},
        {"bits=1024,scheme=enhanced", 0xe41f5c6dbce1fa41, {577, 146, 740, 312, 911}},
        {"bits=1024,scheme=triple", 0x42548a8a111c54ee, {238, 977, 292, 231, 794}},
        {"bits=1024,scheme=triple", 0xe41f5c6dbce1fa41, {577, 146, 796, 479, 219}},
        {"bits=1000,scheme=slices", 0x42548a8a111c54ee, {51, 283, 578, 783, 816}},
        {"bits=1000,scheme=slices", 0xe41f5c6dbce1fa41, {178, 339, 596, 755, 840}},
        {"bits=1000,scheme=seeds", 0x42548a8a111c54ee, {918, 737, 327, 577, 381}},
        {"bits=1000,scheme=seeds", 0xe41f5c6dbce1fa41, {504, 458, 59, 889, 946}},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        tamis *f = test_make("classic:capacity=9,hashes=%d,%s", HASHES, known[i].shape);
        assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
        test_demand_bits(f, known[i].at, HASHES);
        tamis_free(f);
    }
}

/* Sums stay in range only with whole words. */
static void sums_need_whole_words(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    static const char *const sums[] = {"double", "enhanced", "triple"};
    for (size_t i = 0; i < COUNT_OF(sums); i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "classic:capacity=9,bits=1000,scheme=%s", sums[i]);
        assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_INVALID);
        assert_non_null(strstr(tamis_why(), "multiple of 64"));
        tamis *f = test_make("classic:capacity=9,bits=960,scheme=%s", sums[i]);
        static const test_word bad[] = {{0, 959}, {0, 952}, {1, 0}, {1, 65}, {2, 7}};
        assert_true(test_refuses_words(f, bad, COUNT_OF(bad), NULL));
        tamis_free(f);
    }
}

static uint64_t bits_set(const tamis *f) {
    return test_bits_set(test_payload(f), test_info(f).payload_bytes);
}

/* With an odd step and a multiple of 64 bits, 64 linear probes never coincide: a filter of one key
 * has exactly k bits set. A step of zero, or one that shares factors with m, shows here. */
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

/* Every number of bits from 1 works, even with a partial last word. */
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

/* All slices are equally long, also after a fold. */
static void slices_stay_equal(void **state) {
    (void)state;
    tamis *f = test_make("classic:capacity=9,bits=1001,hashes=8,scheme=slices");
    assert_int_equal(test_info(f).word[0], 512); /* at most as many: groups of 64 in each slice */
    tamis_free(f);
    f = test_make("classic:capacity=9,bits=1000,hashes=8,scheme=slices");
    for (uint64_t i = 0; i < 40; i++) tamis_add_u64(f, i);
    assert_int_equal(tamis_fold(f, 2), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "multiples of 8"));
    assert_int_equal(tamis_fold(f, 5), TAMIS_OK);
    assert_int_equal(test_info(f).word[0], 200);
    for (uint64_t i = 0; i < 40; i++) assert_true(tamis_has_u64(f, i));
    static const test_word bad[] = {{0, 199}, {0, 193}, {0, 192}, {1, 7}, {2, 7}};
    assert_true(test_refuses_words(f, bad, COUNT_OF(bad), NULL));
    tamis_free(f);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("classic:capacity=9,bits=7,hashes=8,scheme=slices", &plan),
                     TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "at least 8"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_bits),
        cmocka_unit_test(sums_need_whole_words),
        cmocka_unit_test(linear_probes_never_coincide),
        cmocka_unit_test(any_number_of_bits),
        cmocka_unit_test(slices_stay_equal),
    };
    return cmocka_run_group_tests_name("classic", tests, NULL, NULL);
}
