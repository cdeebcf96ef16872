/* SPDX-License-Identifier: MIT */
/* Guava's filters: files that Guava wrote, and ours compared with them. */
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

static const struct tamis_key utf16_words[] = {BYTES("a\0l\0p\0h\0a\0"),
                                               BYTES("b\0e\0t\0a\0"),
                                               BYTES("g\0a\0m\0m\0a\0"),
                                               BYTES("d\0e\0l\0t\0a\0"),
                                               BYTES(""),
                                               BYTES("c\0a\0f\0\xe9\0"),
                                               {NULL, 0}};
static const struct tamis_key ints[] = {BYTES("\0\0\0\0"),
                                        BYTES("\1\0\0\0"),
                                        BYTES("\xff\xff\xff\xff"),
                                        BYTES("\x2a\0\0\0"),
                                        BYTES("\0\0\0\x80"),
                                        BYTES("\xff\xff\xff\x7f"),
                                        {NULL, 0}};
static const struct tamis_key longs[] = {BYTES("\0\0\0\0\0\0\0\0"),
                                         BYTES("\1\0\0\0\0\0\0\0"),
                                         BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
                                         BYTES("\x2a\0\0\0\0\0\0\0"),
                                         BYTES("\0\0\0\0\0\1\0\0"),
                                         BYTES("\0\0\0\0\0\0\0\x80"),
                                         {NULL, 0}};
static const struct tamis_key blobs[] = {BYTES(""),
                                         BYTES("\0"),
                                         BYTES("\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf"),
                                         BYTES("\xff\xfe\x80"),
                                         {NULL, 0}};
static const struct tamis_key no_blobs[] = {BYTES("\1"), BYTES("\0\0"), BYTES("\xff"), {NULL, 0}};
static const struct tamis_key no_ints[] = {
    BYTES("\2\0\0\0"), BYTES("\3\0\0\0"), BYTES("\xfe\xff\xff\xff"), {NULL, 0}};
static const struct tamis_key x[] = {BYTES("x"), {NULL, 0}};
static const struct tamis_key no_x[] = {BYTES("y"), BYTES("z"), {NULL, 0}};
static const struct tamis_key none[] = {{NULL, 0}};

static const struct {
    const char *path, *spec;
    const struct tamis_key *in, *not_in;
} files[] = {
    {"guava/mitz64_utf8_n10_p0.03.bin", "capacity=10,fpr=0.03", test_six_words, test_no_words},
    {"guava/mitz32_utf8_n10_p0.03.bin", "capacity=10,fpr=0.03,strategy=mitz32", test_six_words,
     test_no_words},
    {"guava/mitz64_utf16_n10_p0.03.bin", "capacity=10,fpr=0.03", utf16_words, none},
    {"guava/mitz32_utf16_n10_p0.03.bin", "capacity=10,fpr=0.03,strategy=mitz32", utf16_words, none},
    {"guava/mitz64_int_n10_p0.01.bin", "capacity=10", ints, no_ints},
    {"guava/mitz32_int_n10_p0.01.bin", "capacity=10,strategy=mitz32", ints, no_ints},
    {"guava/mitz64_long_n10_p0.01.bin", "capacity=10", longs, none},
    {"guava/mitz64_bytes_n5_p0.001.bin", "capacity=5,fpr=0.001", blobs, no_blobs},
    {"guava/mitz32_bytes_n5_p0.001.bin", "capacity=5,fpr=0.001,strategy=mitz32", blobs, no_blobs},
    {"guava/mitz64_utf8_n0_p0.5.bin", "capacity=0,fpr=0.5", x, no_x},
    {"guava/mitz32_utf8_n0_p0.5.bin", "capacity=0,fpr=0.5,strategy=mitz32", x, no_x},
};
enum { FILES = sizeof files / sizeof *files };

static void answers_as_guava(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        tamis *f = test_import("guava", file);
        test_all_in(f, files[i].in);
        test_none_in(f, files[i].not_in);
        tamis_free(f);
        test_goes_round("guava", file);
        free(file.bytes);
    }
}

static void writes_as_guava(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        char spec[128];
        snprintf(spec, sizeof spec, "guava:%s", files[i].spec);
        test_written_anew(spec, files[i].in, "guava", file);
        free(file.bytes);
    }
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t no_hits[] = {0};
    const test_file file = test_vector("guava/mitz32_utf8_n1000_p0.01.bin");
    tamis *f = test_import("guava", file);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 1030, no_hits);
    tamis_free(f);
    test_goes_round("guava", file);
    test_range_written_anew("guava:capacity=1000,strategy=mitz32", 0, 1000, "guava", file);
    free(file.bytes);
}

static void plans_as_guava(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t words, hashes;
    } samples[] = {
        {"guava:capacity=10,fpr=3%", 2, 5},          {"guava:capacity=100,fpr=1%", 15, 7},
        {"guava:capacity=1e6,fpr=0.1%", 224650, 10}, {"guava:capacity=1e10,fpr=1%", 1497665372, 7},
        {"guava:capacity=1,fpr=1%", 1, 7},           {"guava:capacity=1,fpr=1%,hashes=6", 1, 6}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        assert_int_equal(tamis_plan_spec(samples[i].spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[0], samples[i].words * 64);
        assert_int_equal(plan.word[1], samples[i].hashes);
    }
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("guava:capacity=1,fpr=0.9", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("guava:capacity=1e9,strategy=mitz32", &plan), TAMIS_TOO_LARGE);
}

static void refuses_what_is_not_guava(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        assert_true(test_hostile("guava", file) > 0); /* changed bits are another filter */
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_guava),
        cmocka_unit_test(writes_as_guava),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(plans_as_guava),
        cmocka_unit_test(refuses_what_is_not_guava),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
