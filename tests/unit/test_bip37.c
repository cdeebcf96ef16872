/* SPDX-License-Identifier: MIT */
/* Bitcoin's filterload payloads: files that bfilter wrote, values from Bitcoin Core, and ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"
#include "tests/support/foreign.h"

#define BYTES(s) \
    { s, sizeof s - 1 }

static const struct tamis_key core_keys[] = {
    BYTES("\x99\x10\x8a\xd8\xed\x9b\xb6\x27\x4d\x39\x80\xba\xb5\xa8\x5c\x04\x8f\x09\x50\xc8"),
    BYTES("\xb5\xa2\xc7\x86\xd9\xef\x46\x58\x28\x7c\xed\x59\x14\xb3\x7a\x1b\x4a\xa3\x2e\xee"),
    BYTES("\xb9\x30\x06\x70\xb4\xc5\x36\x6e\x95\xb2\x69\x9e\x8b\x18\xbc\x75\xe5\xf7\x29\xc5"),
    {NULL, 0}};
static const struct tamis_key not_core_keys[] = {
    BYTES("\x19\x10\x8a\xd8\xed\x9b\xb6\x27\x4d\x39\x80\xba\xb5\xa8\x5c\x04\x8f\x09\x50\xc8"),
    {NULL, 0}};

static const struct {
    const char *path, *spec;
    const struct tamis_key *in, *not_in;
} files[] = {
    {"bip37/bip37_n3_p0.01_tweak0.bin", "bip37:capacity=3,fpr=0.01,flags=1", core_keys,
     not_core_keys},
    {"bip37/bip37_n3_p0.01_tweak2147483649.bin",
     "bip37:capacity=3,fpr=0.01,tweak=2147483649,flags=1", core_keys, not_core_keys},
    {"bip37/bip37_words_128bits_n7_tweak5.bin", "bip37:capacity=6,bits=128,hashes=7,tweak=5",
     test_six_words, test_no_words},
};
enum { FILES = sizeof files / sizeof *files };
static const char large_file[] = "bip37/bip37_300keys_359bytes_n6_tweakdeadbeef.bin";

static void answers_as_bitcoin(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        tamis *f = test_import("bip37", file);
        test_all_in(f, files[i].in);
        test_none_in(f, files[i].not_in);
        tamis_free(f);
        test_goes_round("bip37", file);
        test_written_anew(files[i].spec, files[i].in, "bip37", file);
        free(file.bytes);
    }
}

static void three_bytes_of_count(void **state) {
    (void)state;
    static const uint64_t hits[] = {955,  1103, 1294, 1382, 1471, 1546, 1637,
                                    1791, 1900, 1912, 1962, 1969, 0};
    const test_file file = test_vector(large_file);
    tamis *f = test_import("bip37", file);
    test_range_in(f, 0, 300);
    test_range_hits(f, 300, 2000, hits);
    tamis_free(f);
    test_goes_round("bip37", file);
    test_range_written_anew("bip37:capacity=300,bits=2872,hashes=6,tweak=3735928559,flags=2", 0,
                            300, "bip37", file);
    assert_true(test_hostile("bip37", file) > 0);
    free(file.bytes);
}

static void plans_as_bitcoin_core(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bytes, hashes;
    } samples[] = {
        {"capacity=3,fpr=1%", 3, 5},
        {"capacity=2,fpr=0.1%", 3, 8},
        {"capacity=10,fpr=0.1%", 17, 9},
        {"capacity=100,fpr=1%", 119, 6},
        {"capacity=20000,fpr=0.1%", 35943, 9},
        {"capacity=100000,fpr=0.1%", 36000, 1},
        {"capacity=1,fpr=1e-12", 7, 38},
        {"capacity=1,bits=288000", 36000, 50},
        {"capacity=0,fpr=90%", 1, 5},
        {"capacity=1e9,fpr=1%", 36000, 1},
        {"capacity=1e9,fpr=1%,hashes=0", 36000, 0},
    };
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char spec[96];
        snprintf(spec, sizeof spec, "bip37:%s", samples[i].spec);
        assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[0], samples[i].bytes * 8);
        assert_int_equal(plan.word[1], samples[i].hashes);
    }
    assert_int_equal(tamis_plan_spec("bip37:capacity=9,bits=288001", &plan), TAMIS_TOO_LARGE);
    assert_string_equal(tamis_why(), "a BIP37 filter has at most 288000 bits, not 288001");
    assert_int_equal(tamis_plan_spec("bip37:capacity=9,hashes=51", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("bip37:capacity=9,tweak=4294967296", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("bip37:capacity=9,flags=256", &plan), TAMIS_INVALID);
}

/* Without bits, without hashes or with all bits set: adds leave no trace, nothing divides by 0. */
static void matches_everything(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } all[] = {{"\0\5\0\0\0\0\0\0\0\1", 10},          /* no bits, five hashes */
               {"\0\0\0\0\0\0\0\0\0\0", 10},          /* neither */
               {"\2\0\0\0\0\0\0\7\0\0\0\2", 12},      /* no hashes */
               {"\2\xff\xff\5\0\0\0\7\0\0\0\2", 12}}; /* all bits set */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_file file = {malloc(all[i].size), all[i].size};
        memcpy(file.bytes, all[i].bytes, all[i].size);
        tamis *f = test_import("bip37", file);
        test_all_in(f, test_six_words);
        test_all_in(f, test_no_words);
        assert_true(tamis_fpr_now(f) == 1);
        test_add(f, test_six_words);
        const test_file out = test_export(f, "bip37");
        assert_int_equal(out.size, file.size);
        assert_memory_equal(out.bytes, file.bytes, file.size);
        free(out.bytes);
        tamis_free(f);
        test_goes_round("bip37", file);
        test_hostile("bip37", file);
        free(file.bytes);
    }
}

/* Where the length field grows from one byte to three, and at the largest filter. */
static void ends_of_sizes(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 252, 253, 254, 36000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char spec[64];
        tamis *f;
        snprintf(spec, sizeof spec, "bip37:capacity=100,bits=%llu,hashes=3",
                 (unsigned long long)sizes[i] * 8);
        assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
        test_add_range(f, 0, 100);
        const test_file out = test_export(f, "bip37");
        assert_int_equal(out.size, (sizes[i] < 253 ? 1 : 3) + sizes[i] + 9);
        test_goes_round("bip37", out);
        free(out.bytes);
        tamis_free(f);
    }
}

static void refuses(const uint8_t *bytes, size_t size, const char *sentence) {
    tamis *f;
    assert_int_equal(tamis_import(&f, "bip37", bytes, size), TAMIS_CORRUPT);
    assert_null(f);
    assert_string_equal(tamis_why(), sentence);
}

static void refuses_what_is_not_bip37(void **state) {
    (void)state;
    uint8_t bytes[36001 + 12] = {0xfd, 2, 0, [5] = 1};
    refuses(bytes, 9, "not bip37 bytes: 9 bytes, an empty one has 10");
    refuses(bytes, 14, "not bip37 bytes: 2 is not in its shortest CompactSize");
    bytes[1] = 252;
    refuses(bytes, 264, "not bip37 bytes: 252 is not in its shortest CompactSize");
    bytes[1] = 36001 & 0xff;
    bytes[2] = 36001 >> 8;
    refuses(bytes, sizeof bytes, "not bip37 bytes: 36001 bytes of bits, at most 36000 are allowed");
    bytes[0] = 0xfe;
    refuses(bytes, 20,
            "not bip37 bytes: it starts with fe, a count of 4 or 8 bytes, and at most 36000 "
            "bytes are allowed");
    refuses((const uint8_t *)"\1\0\x33\0\0\0\0\0\0\0\0", 11,
            "not bip37 bytes: 51 hashes, at most 50 are allowed");
    refuses((const uint8_t *)"\1\0\1\0\0\0\0\0\0\0\0\0", 12,
            "not bip37 bytes: 1 bytes of bits make 11 bytes, not 12");
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        assert_true(test_hostile("bip37", file) > 0); /* changed bits are another filter */
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_bitcoin),    cmocka_unit_test(three_bytes_of_count),
        cmocka_unit_test(plans_as_bitcoin_core), cmocka_unit_test(matches_everything),
        cmocka_unit_test(ends_of_sizes),         cmocka_unit_test(refuses_what_is_not_bip37),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
