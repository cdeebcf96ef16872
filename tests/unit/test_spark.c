/* SPDX-License-Identifier: MIT */
/* Spark's filters, both versions: files that Spark wrote, compared with ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/foreign.h"

#define BYTES(s) \
    { s, sizeof s - 1 }

static const struct tamis_key words[] = {BYTES("alpha"), BYTES("beta"),     BYTES("gamma"),
                                         BYTES("delta"), BYTES(""),         BYTES("caf\xc3\xa9"),
                                         BYTES("x"),     BYTES("12345678"), {NULL, 0}};
static const struct tamis_key longs[] = {BYTES("\0\0\0\0\0\0\0\0"),
                                         BYTES("\1\0\0\0\0\0\0\0"),
                                         BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
                                         BYTES("\x2a\0\0\0\0\0\0\0"),
                                         BYTES("\0\0\0\0\0\1\0\0"),
                                         BYTES("\0\0\0\0\0\0\0\x80"),
                                         {NULL, 0}};
static const struct tamis_key none[] = {{NULL, 0}};

static const struct {
    const char *path, *spec, *hex;
    const struct tamis_key *in, *not_in;
} files[] = {
    {"spark/spark_v1_str_n10_p0.03.bin", "capacity=10,fpr=3%,version=1",
     "000000010000000500000002817425881410402d0620620016001802", words, test_no_words},
    {"spark/spark_v2_str_n10_p0.03.bin", "capacity=10,fpr=3%",
     "000000020000000500000000000000020a080480902000218082c2c22287cf08", words, test_no_words},
    {"spark/spark_v2_seed12345_str_n10_p0.03.bin", "capacity=10,fpr=3%,seed=12345",
     "00000002000000050000303900000002018080170c682104a408f20a860b11b1", words, test_no_words},
    {"spark/spark_v2_seed-7_str_n10_p0.03.bin", "capacity=10,fpr=3%,seed=4294967289",
     "0000000200000005fffffff9000000020055049001510b54267d201040200a12", words, test_no_words},
    {"spark/spark_v1_long_n10_p0.01.bin", "capacity=10,version=1",
     "0000000100000007000000028d34d9020148a012a0020400094cc693", longs, none},
    {"spark/spark_v2_long_n10_p0.01.bin", "capacity=10",
     "00000002000000070000000000000002411900013284318c44620411909a4be0", longs, none},
    {"spark/spark_v2_seed-7_long_n10_p0.01.bin", "capacity=10,seed=4294967289",
     "0000000200000007fffffff90000000200061982041308033fc0220953e08231", longs, none},
    {"spark/spark_v2_seed12345_long_n10_p0.01.bin", "capacity=10,seed=12345", NULL, longs, none},
};
enum { FILES = sizeof files / sizeof *files };

static void is_spark(test_file file, size_t i) {
    char spec[128];
    tamis *f = test_import("spark", file);
    test_all_in(f, files[i].in);
    test_none_in(f, files[i].not_in);
    test_spec_leads_back(f);
    tamis_free(f);
    test_goes_round("spark", file);
    snprintf(spec, sizeof spec, "spark:%s", files[i].spec);
    test_written_anew(spec, files[i].in, "spark", file);
}

static void files_of_spark(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        is_spark(file, i);
        free(file.bytes);
    }
}

static void bytes_of_the_specification(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        if (!files[i].hex) continue;
        const test_file file = test_hex(files[i].hex);
        is_spark(file, i);
        free(file.bytes);
    }
}

/* With seed -7, 6 is a false positive; 2 3 4 5 7 8 -2 are not. */
static void integers_as_longs(void **state) {
    (void)state;
    static const int64_t no[] = {2, 3, 4, 5, 7, 8, -2};
    const test_file file = test_vector("spark/spark_v2_seed-7_long_n10_p0.01.bin");
    tamis *f = test_import("spark", file);
    assert_true(tamis_has_u64(f, 6));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(tamis_has_u64(f, (uint64_t)no[i]));
    assert_true(tamis_has_u64(f, (uint64_t)-1));
    tamis_free(f);
    free(file.bytes);
}

static void thousand_keys(void **state) {
    (void)state;
    static const struct {
        const char *path, *spec;
        uint64_t hits[20];
    } of[] = {
        {"spark/spark_v1_str_n1000_p0.01.bin",
         "spark:capacity=1000,version=1",
         {1034, 1151, 1165, 1336, 1461, 1487, 1522, 1568, 1619, 1634, 1662, 1691, 1930, 1953}},
        {"spark/spark_v2_str_n1000_p0.01.bin",
         "spark:capacity=1000",
         {1102, 1127, 1155, 1186, 1250, 1256, 1268, 1431, 1552, 1712, 1897, 1933, 1937, 1978, 1990,
          1992}},
        {"spark/spark_v2_seed12345_str_n1000_p0.01.bin",
         "spark:capacity=1000,seed=12345",
         {1024, 1047, 1054, 1060, 1130, 1165, 1177, 1280, 1349, 1469, 1591, 1617, 1687, 1799, 1902,
          1978}},
        {NULL,
         "spark:capacity=1000,seed=4294967289",
         {1119, 1165, 1211, 1249, 1266, 1526, 1685, 1881}},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        tamis *f;
        assert_int_equal(tamis_create(&f, of[i].spec), TAMIS_OK);
        test_add_range(f, 0, 1000);
        test_range_in(f, 0, 1000);
        test_range_hits(f, 1000, 2000, of[i].hits);
        tamis_free(f);
        if (!of[i].path) continue;
        const test_file file = test_vector(of[i].path);
        f = test_import("spark", file);
        test_range_in(f, 0, 1000);
        test_range_hits(f, 1000, 2000, of[i].hits);
        tamis_free(f);
        test_goes_round("spark", file);
        test_range_written_anew(of[i].spec, 0, 1000, "spark", file);
        free(file.bytes);
    }
}

static void plans_as_spark(void **state) {
    (void)state;
    test_planned("spark:capacity=10,fpr=3%", 2 * 64, 5);
    test_planned("spark:capacity=10,fpr=1%", 2 * 64, 7);
    test_planned("spark:capacity=1000,fpr=1%", 150 * 64, 7);
    test_planned("spark:capacity=1,fpr=1%", 64, 6); /* 9 bits before rounding */
    test_planned("spark:capacity=0,fpr=1%", 64, 6); /* planned for one key */
    test_planned("spark:capacity=1e6,fpr=0.1%", 224650 * 64, 10);
    test_planned("spark:capacity=1e10,fpr=1%", 1497665372ull * 64, 7);
    test_planned("spark:capacity=100,bits=1000", 15 * 64, 7);
    test_planned("spark:capacity=100,bits=1024,hashes=255", 1024, 255);
    test_planned("spark:capacity=1,size=1M", 1 << 23, 255);
    test_spec_refused("spark:capacity=1,fpr=0.9", TAMIS_INVALID, "0 bits");
    test_spec_refused("spark:capacity=1,bits=63", TAMIS_INVALID, "bits=64 at least");
    test_spec_refused("spark:capacity=1e12,fpr=1%", TAMIS_TOO_LARGE, "2^31-1 words");
    test_spec_refused("spark:capacity=9,version=1,seed=3", TAMIS_INVALID, "no seed");
    test_spec_refused("spark:capacity=9,version=3", TAMIS_INVALID, "1|2");
    test_spec_refused("spark:capacity=9,seed=4294967296", TAMIS_INVALID, "4294967295");
    test_spec_refused("spark:capacity=9,hashes=256", TAMIS_INVALID, "255");
    test_spec_refused("spark:capacity=9,hash=xxh3", TAMIS_INVALID, "its own way");
}

/* 32-bit sums reach 2^31 positions, so a larger filter of version 1 is no better. */
static void version_1_reaches_half_a_billion_bytes(void **state) {
    (void)state;
    struct tamis_plan v1 = TAMIS_PLAN_INIT, v2 = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("spark:capacity=1e9,fpr=1%,version=1", &v1), TAMIS_OK);
    assert_int_equal(tamis_plan_spec("spark:capacity=1e9,fpr=1%", &v2), TAMIS_OK);
    assert_true(v2.fpr_expected < 0.0101);
    assert_true(v1.fpr_expected > 0.7);
}

static void refuses_what_is_not_spark(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        assert_true(test_hostile("spark", file) > 0); /* other bits make another filter */
        free(file.bytes);
    }
    test_hex_refused("spark", "", "fewer than 4");
    test_hex_refused("spark", "00000000", "no version");
    test_hex_refused("spark", "00000003000000050000000100000000000000000000", "no version");
    test_hex_refused("spark", "0000000100000005000000", "a header alone has 12");
    test_hex_refused("spark", "00000002000000050000000000000", "a header alone has 16");
    test_hex_refused("spark", "000000010000000500000000", "0 words");
    test_hex_refused("spark", "00000001000000057fffffff", "17179869188 bytes");
    test_hex_refused("spark", "00000001000000058000000000000000", "2147483648 words");
    test_hex_refused("spark", "0000000100000005ffffffff0000000000000000", "4294967295 words");
    test_hex_refused("spark", "0000000100000000000000010000000000000000", "1 to 255 hashes");
    test_hex_refused("spark", "0000000100000100000000010000000000000000", "not 256");
    test_hex_refused("spark", "00000001ffffffff000000010000000000000000", "not 4294967295");
    test_hex_refused("spark", "000000010000000100000001000000000000000000", "not 21");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_spark),
        cmocka_unit_test(bytes_of_the_specification),
        cmocka_unit_test(integers_as_longs),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(plans_as_spark),
        cmocka_unit_test(version_1_reaches_half_a_billion_bytes),
        cmocka_unit_test(refuses_what_is_not_spark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
