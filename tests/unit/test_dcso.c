/* SPDX-License-Identifier: MIT */
/* DCSO's filters: files that its tool wrote, and ours compared with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "tamis_formats.h"
#include "tests/support/foreign.h"

#define BYTES(s) \
    { s, sizeof s - 1 }

static const struct tamis_key five[] = {BYTES("alpha"), BYTES("beta"),        BYTES("gamma"),
                                        BYTES("delta"), BYTES("caf\xc3\xa9"), {NULL, 0}};
static const struct tamis_key two[] = {BYTES("alpha"), BYTES("beta"), {NULL, 0}};

static const char small_hex[] = "01000000000000000a000000000000007b14ae47e17a843f0700000000000000"
                                "5f00000000000000050000000000000041220508e3e700805484066900000000";
static const char data_hex[] = "01000000000000000500000000000000fca9f1d24d62503f0a00000000000000"
                               "47000000000000000200000000000000220f0104c12611102000000000000000"
                               "68656c6c6f2d646174610a";

static tamis *made(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void answers_as_bloom(void **state) {
    (void)state;
    const test_file small = test_vector("dcso/dcso_n10_p0.01.bloom"), hex = test_hex(small_hex);
    assert_int_equal(small.size, hex.size);
    assert_memory_equal(small.bytes, hex.bytes, hex.size);
    tamis *f = test_import("dcso", small);
    test_all_in(f, five);
    test_none_in(f, test_no_words);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.items, 5);
    assert_int_equal(info.capacity, 10);
    tamis_free(f);
    test_goes_round("dcso", small);
    test_written_anew("dcso:capacity=10", five, "dcso", small);
    free(small.bytes);
    free(hex.bytes);
}

/* User data after the bits is kept, and stays in place when keys are added. */
static void keeps_data(void **state) {
    (void)state;
    const test_file file = test_vector("dcso/dcso_n5_p0.001_data.bloom"), hex = test_hex(data_hex);
    assert_memory_equal(file.bytes, hex.bytes, hex.size);
    test_goes_round("dcso", file);
    tamis *f = test_import("dcso", file);
    test_all_in(f, two);
    test_none_in(f, test_no_words);
    test_add(f, five);
    test_file out = test_export(f, "dcso");
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes + 64, "hello-data\n", 11);
    assert_int_equal(tamis__get64(out.bytes + 40), 5);
    free(out.bytes);
    tamis_free(f);

    const test_file bare = {file.bytes, 64};
    test_written_anew("dcso:capacity=5,fpr=0.001", two, "dcso", bare);
    f = made("dcso:capacity=5,fpr=0.001,data=11");
    test_add(f, two);
    out = test_export(f, "dcso");
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, 64);
    free(out.bytes);
    tamis_free(f);
    free(file.bytes);
    free(hex.bytes);
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1102, 1110, 1155, 1255, 1360, 1450, 1524, 1532, 1640,
                                    1644, 1678, 1709, 1746, 1865, 1872, 1873, 0};
    tamis *f = made("dcso:capacity=1000,fpr=0.01");
    test_add_range(f, 0, 1000);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, hits);
    const test_file out = test_export(f, "dcso");
    assert_int_equal(tamis__get64(out.bytes + 40), 999); /* one key set no new bit */
    tamis_free(f);
    test_goes_round("dcso", out);
    f = test_import("dcso", out);
    test_range_hits(f, 1000, 2000, hits);
    tamis_free(f);
    free(out.bytes);
}

static void plans_as_bloom(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, hashes;
    } samples[] = {
        {"dcso:capacity=10,fpr=1%", 95, 7},  {"dcso:capacity=5,fpr=0.001", 71, 10},
        {"dcso:capacity=1000", 9585, 7},     {"dcso:capacity=0", 9, 7},
        {"dcso:capacity=1", 9, 7},           {"dcso:capacity=1e9", UINT64_C(9585058377), 7},
        {"dcso:capacity=10,bits=95", 95, 7}, {"dcso:capacity=10,bits=95,hashes=3", 95, 3}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(tamis_plan_spec(samples[i].spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[0], samples[i].bits);
        assert_int_equal(plan.word[1], samples[i].hashes);
    }
    assert_int_equal(tamis_plan_spec("dcso:capacity=1,fpr=0.9", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("dcso:capacity=2^56", &plan), TAMIS_TOO_LARGE);
}

/* A filter's own spec recreates it, with header and room for data. */
static void spec_makes_it_again(void **state) {
    (void)state;
    const test_file file = test_vector("dcso/dcso_n5_p0.001_data.bloom");
    static const uint8_t other_rate[8] = {1, 2, 3, 4, 5, 6, 0xd9, 0x3f};
    for (int i = 0; i < 2; i++) {
        char spec[256];
        tamis *f = test_import("dcso", file);
        tamis_spec(f, spec, sizeof spec);
        tamis *g = made(spec);
        test_add(g, two);
        const test_file out = test_export(g, "dcso");
        assert_int_equal(out.size, file.size);
        assert_memory_equal(out.bytes, file.bytes, 64);
        free(out.bytes);
        tamis_free(f);
        tamis_free(g);
        memcpy(file.bytes + 16, other_rate, sizeof other_rate);
    }
    free(file.bytes);
}

/* When 2^t divides the bits, the last t bits of a hash decide where all its positions can be. The
 * reported rate accounts for it, as measured non-members show. */
static void rate_knows_the_classes(void **state) {
    (void)state;
    static const char *const specs[] = {
        "dcso:capacity=1000,bits=9585",  "dcso:capacity=1000,bits=9600",
        "dcso:capacity=1000,bits=9216",  "dcso:capacity=1000,bits=14336",
        "dcso:capacity=1000,bits=12288", "dcso:capacity=1000,bits=16384"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        enum { NONMEMBERS = 200000 };
        tamis *f = made(specs[i]);
        uint64_t hits = 0;
        test_add_range(f, 0, 1000);
        for (uint64_t j = 1000; j < 1000 + NONMEMBERS; j++) {
            char text[32];
            const int len = snprintf(text, sizeof text, "key-%llu", (unsigned long long)j);
            hits += tamis_has(f, text, (size_t)len);
        }
        const double seen = (double)hits / NONMEMBERS, told = tamis_fpr_now(f);
        if (seen < 0.8 * told - 0.0002 || seen > 1.2 * told + 0.0002)
            fail_msg("%s: %g are hits, measured is %g", specs[i], seen, told);
        tamis_free(f);
    }
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec(specs[5], &plan), TAMIS_OK);
    assert_true(plan.fpr_expected > 0.05);
}

/* Bits fill words of 64, the last one in part. */
static void any_number_of_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 200; bits++) {
        char spec[48];
        tamis *f;
        snprintf(spec, sizeof spec, "dcso:capacity=10,bits=%u", bits);
        assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
        const test_file file = test_export(f, "dcso");
        test_goes_round("dcso", file);
        free(file.bytes);
        tamis_free(f);
    }
}

static void merges_as_bloom(void **state) {
    (void)state;
    const test_file file = test_vector("dcso/dcso_n10_p0.01.bloom");
    tamis *f = test_import("dcso", file), *g = test_import("dcso", file);
    assert_int_equal(tamis_merge(f, g), TAMIS_OK);
    test_file out = test_export(f, "dcso");
    assert_int_equal(tamis__get64(out.bytes + 40), 10); /* it cannot know that the keys are equal */
    free(out.bytes);
    tamis_free(f);
    tamis__put64(file.bytes + 40, UINT64_MAX);
    f = test_import("dcso", file);
    assert_int_equal(tamis_merge(f, g), TAMIS_TOO_LARGE);
    assert_non_null(strstr(tamis_why(), "is over 2^64"));
    tamis_free(f);
    tamis_free(g);
    free(file.bytes);
}

static void refuses_what_is_not_dcso(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        const char *why;
    } lies[] = {{0, 2, "the version is 2, not 1"},
                {0, 0x101, "the version is 257, not 1"},
                {32, 0, "0 bits"},
                {32, 193, "there are bytes for 1 to 192"},
                {32, UINT64_MAX, "18446744073709551615 bits"},
                {24, 0, "1 to 255 hashes, not 0"},
                {24, 256, "1 to 255 hashes, not 256"}};
    test_file file = test_vector("dcso/dcso_n5_p0.001_data.bloom");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const uint64_t truth = tamis__get64(file.bytes + lies[i].at);
        tamis *f;
        tamis__put64(file.bytes + lies[i].at, lies[i].value);
        assert_int_equal(tamis_import(&f, "dcso", file.bytes, file.size), TAMIS_CORRUPT);
        if (!strstr(tamis_why(), lies[i].why)) fail_msg("%zu: %s", i, tamis_why());
        tamis__put64(file.bytes + lies[i].at, truth);
    }
    assert_true(test_hostile("dcso", file) > 0); /* changed bits are another filter */
    free(file.bytes);
    file = test_vector("dcso/dcso_n10_p0.01.bloom");
    assert_true(test_hostile("dcso", file) > 0);
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_bloom),
        cmocka_unit_test(keeps_data),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(plans_as_bloom),
        cmocka_unit_test(spec_makes_it_again),
        cmocka_unit_test(rate_knows_the_classes),
        cmocka_unit_test(any_number_of_bits),
        cmocka_unit_test(merges_as_bloom),
        cmocka_unit_test(refuses_what_is_not_dcso),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
