/* SPDX-License-Identifier: MIT */
/* Bloom filters of Apache DataSketches: bytes that its Java library (6.1.1) wrote, and ours
 * compared with them. tests/peers/jvm.sh queries the library itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "tamis_formats.h"
#include "tests/support/foreign.h"

#define FORMAT "datasketches"

static const char counted_hex[] = "0401150007000000292300000000000002000000000000001f00000000000000"
                                  "c09020802800030401618621884562c1";
static const char uncounted_hex[] =
    "040115000700000029230000000000000200000000000000ffffffffffffffff"
    "c09020802800030401618621884562c1";
static const char empty_hex[] = "030115040700000000000000000000000200000000000000";
static const char laid_out_hex[] =
    "0401150007000000000000000000000002000000000000000000000000000000"
    "00000000000000000000000000000000";

static tamis *made(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void is_written(const tamis *f, const char *format, const char *hex) {
    const test_file out = test_export(f, format), file = test_hex(hex);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    free(out.bytes);
    free(file.bytes);
}

static void answers_as_java(void **state) {
    (void)state;
    static const char *const both[] = {counted_hex, uncounted_hex};
    for (size_t i = 0; i < 2; i++) {
        const test_file file = test_hex(both[i]);
        tamis *f = test_import(FORMAT, file);
        test_all_in(f, test_six_words);
        test_none_in(f, test_no_words);
        tamis_free(f);
        test_goes_round(FORMAT, file);
        test_written_anew("datasketches:capacity=10,seed=9001", test_six_words,
                          i ? FORMAT ":count=unknown" : FORMAT, file);
        free(file.bytes);
    }
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1125, 1148, 1206, 1246, 1287, 1369, 1392,
                                    1575, 1670, 1718, 1975, 1997, 0};
    static const uint64_t more_hits[] = {1021, 1064, 1070, 1085, 1095, 1194, 1241,
                                         1272, 1315, 1329, 1335, 1338, 1394, 0};
    tamis *f = made("datasketches:capacity=1000");
    test_add_range(f, 0, 1000);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, hits);
    const test_file out = test_export(f, FORMAT);
    test_goes_round(FORMAT, out);
    tamis_free(f);
    free(out.bytes);
    f = made("datasketches:capacity=1000,fpr=0.05,seed=18446744073709551615");
    test_add_range(f, 0, 1000);
    test_range_hits(f, 1000, 1400, more_hits);
    tamis_free(f);
}

/* Empty filters are 24 bytes, or full size in caller memory. Both become the same with a key, and a
 * filter emptied by a set operation is short again. */
static void empty_ones(void **state) {
    (void)state;
    static const char *const both[] = {empty_hex, laid_out_hex};
    test_file first = {NULL, 0};
    for (size_t i = 0; i < 2; i++) {
        const test_file file = test_hex(both[i]);
        test_goes_round(FORMAT, file);
        assert_true(test_hostile(FORMAT, file) > 0);
        tamis *f = test_import(FORMAT, file), *g = made("datasketches:capacity=10");
        test_none_in(f, test_six_words);
        test_add(f, test_six_words);
        const test_file out = test_export(f, FORMAT);
        if (i) {
            assert_int_equal(out.size, first.size);
            assert_memory_equal(out.bytes, first.bytes, first.size);
            free(first.bytes);
        }
        assert_int_equal(tamis_intersect(f, g), TAMIS_OK);
        is_written(f, FORMAT, empty_hex);
        first = out;
        tamis_free(f);
        tamis_free(g);
        free(file.bytes);
    }
    free(first.bytes);
    tamis *f = made("datasketches:capacity=10");
    is_written(f, FORMAT, empty_hex);
    is_written(f, FORMAT ":count=unknown", empty_hex);
    tamis_free(f);
}

static void counts_bits(void **state) {
    (void)state;
    const test_file uncounted = test_hex(uncounted_hex);
    tamis *f = test_import(FORMAT, uncounted), *g = made("datasketches:capacity=10,seed=9001");
    assert_int_equal(tamis_add(f, "x", 1), TAMIS_OK);
    test_file out = test_export(f, FORMAT);
    assert_int_equal(tamis__get64(out.bytes + 24), UINT64_MAX); /* unknown, and stays so */
    free(out.bytes);
    tamis_free(f);
    f = test_import(FORMAT, uncounted);
    assert_int_equal(tamis_merge(g, f), TAMIS_OK);
    is_written(g, FORMAT, counted_hex);
    tamis_free(f);
    tamis_free(g);
    free(uncounted.bytes);
}

static void plans_as_java(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, hashes;
    } samples[] = {{"datasketches:capacity=10", 128, 7},
                   {"datasketches:capacity=0", 64, 7},
                   {"datasketches:capacity=1,fpr=0.9", 64, 1},
                   {"datasketches:capacity=1000", 9600, 7},
                   {"datasketches:capacity=1e6,fpr=0.001", 14377600, 10},
                   {"datasketches:capacity=10,bits=100", 64, 5}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        test_planned(samples[i].spec, samples[i].bits, samples[i].hashes);
    assert_int_equal(tamis_plan_spec("datasketches:capacity=1e9", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("datasketches:capacity=10,bits=63", &plan), TAMIS_INVALID);
}

static void refuses_what_is_not_it(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        const char *why;
    } lies[] = {{0, 5, "5 longs of preamble"},
                {0, 3, "3 longs of preamble do not match the flags 0"},
                {1, 2, "version 2, not 1"},
                {2, 7, "of family 7"},
                {3, 1, "flags 1"},
                {4, 0, "1 to 255 hashes, not 0"},
                {5, 1, "1 to 255 hashes, not 263"},
                {6, 1, "the header of datasketches does not match"},
                {16, 3, "a filter of 3 longs in 48 bytes"},
                {16, 0, "a filter of 0 longs"},
                {19, 255, "a filter of 4278190082 longs"},
                {20, 1, "the header of datasketches does not match"},
                {24, 32, "31 bits are set, but the header says 32"},
                {32, 0xc1, "32 bits are set, but the header says 31"}};
    const test_file file = test_hex(counted_hex), huge = test_hex(empty_hex);
    tamis *f;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const uint8_t truth = file.bytes[lies[i].at];
        file.bytes[lies[i].at] = lies[i].value;
        assert_int_equal(tamis_import(&f, FORMAT, file.bytes, file.size), TAMIS_CORRUPT);
        if (!strstr(tamis_why(), lies[i].why)) fail_msg("%zu: %s", i, tamis_why());
        file.bytes[lies[i].at] = truth;
    }
    huge.bytes[16] = 0, huge.bytes[18] = 1; /* 2^16 longs are the max */
    assert_int_equal(tamis_import(&f, FORMAT, huge.bytes, huge.size), TAMIS_OK);
    tamis_free(f);
    huge.bytes[16] = 1;
    assert_int_equal(tamis_import(&f, FORMAT, huge.bytes, huge.size), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "at most 65536 are allowed"));
    test_hostile(FORMAT, file);
    const test_file uncounted = test_hex(uncounted_hex);
    assert_true(test_hostile(FORMAT, uncounted) > 0); /* changed bits are another filter */
    free(uncounted.bytes);
    free(file.bytes);
    free(huge.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_java), cmocka_unit_test(thousand_keys),
        cmocka_unit_test(empty_ones),      cmocka_unit_test(counts_bits),
        cmocka_unit_test(plans_as_java),   cmocka_unit_test(refuses_what_is_not_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
