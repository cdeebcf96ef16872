/* SPDX-License-Identifier: MIT */
/* Squid's cache digests: one that Squid wrote, one that it accepted, compared with ours. */
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

static const char written[] = "squid/squid5.7_bpe5_59entries.digest";
static const char accepted[] = "squid/accepted_by_squid5.7_cap50_bpe5_40urls.digest";
static const char listed[] = "squid/squid5.7_bpe5_59entries.keys.txt";
#define HOST "http://127.0.0.1:18080/"
static const char *const cached[] = {"alpha",   "beta", "gamma",   "delta",
                                     "epsilon", "zeta", "a/b?c=1", "index.html"};
enum { STORE_KEYS = 59, MD5_BYTES = 16 };

static bool has_url(const tamis *f, const char *format, ...) {
    char url[128];
    va_list list;
    va_start(list, format);
    const int len = vsnprintf(url, sizeof url, format, list);
    va_end(list);
    return tamis_has(f, url, (size_t)len);
}

/* The store keys that Squid logged, in hex, one per line. */
static void read_store_keys(uint8_t keys[STORE_KEYS][MD5_BYTES]) {
    const test_file file = test_vector(listed);
    file.bytes[file.size] = '\0';
    const char *line = (const char *)file.bytes;
    for (size_t i = 0; i < STORE_KEYS; i++, line += 2 * MD5_BYTES + 1)
        for (size_t j = 0; j < MD5_BYTES; j++) {
            unsigned byte;
            assert_int_equal(sscanf(line + 2 * j, "%2x", &byte), 1);
            keys[i][j] = (uint8_t)byte;
        }
    free(file.bytes);
}

static void reads_what_squid_wrote(void **state) {
    (void)state;
    uint8_t keys[STORE_KEYS][MD5_BYTES];
    const test_file file = test_vector(written);
    tamis *f = test_import("squid", file);
    for (size_t i = 0; i < sizeof cached / sizeof *cached; i++)
        if (!has_url(f, HOST "%s", cached[i])) fail_msg("%s is missing", cached[i]);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.items, 59);
    assert_int_equal(info.capacity, 60);
    tamis_free(f);
    read_store_keys(keys);
    f = test_import("squid:store_keys=1", file);
    for (size_t i = 0; i < STORE_KEYS; i++) assert_true(tamis_has(f, keys[i], MD5_BYTES));
    assert_true(has_url(f, HOST "alpha")); /* not 16 bytes: still a URL */
    tamis_free(f);
    test_goes_round("squid", file);
    free(file.bytes);
}

static void writes_what_squid_wrote(void **state) {
    (void)state;
    uint8_t keys[STORE_KEYS][MD5_BYTES];
    struct tamis_key list[STORE_KEYS + 1] = {{NULL, 0}};
    const test_file file = test_vector(written);
    read_store_keys(keys);
    for (size_t i = 0; i < STORE_KEYS; i++) list[i] = (struct tamis_key){keys[i], MD5_BYTES};
    test_written_anew("squid:capacity=60,bits_per_entry=5,store_keys=1", list, "squid", file);
    free(file.bytes);
}

static void answers_as_squid(void **state) {
    (void)state;
    static const int hits[] = {51, 98, 111, 114, 120, 141, 152, 158, 199, -1};
    const test_file file = test_vector(accepted);
    tamis *f = test_import("squid:method=get", file);
    for (int i = 0, hit = 0; i < 200; i++) {
        const bool is_expected = i < 40 || hits[hit] == i;
        hit += i >= 40 && is_expected;
        if (has_url(f, HOST "peer-%d", i) != is_expected) fail_msg("peer-%d", i);
    }
    assert_true(has_url(f, HOST "w-201"));
    tamis_free(f);
    test_goes_round("squid", file);
    assert_int_equal(tamis_create(&f, "squid:capacity=50,bits_per_entry=5"), TAMIS_OK);
    for (int i = 0; i < 40; i++) {
        char url[64];
        const int len = snprintf(url, sizeof url, HOST "peer-%d", i);
        assert_int_equal(tamis_add(f, url, (size_t)len), TAMIS_OK);
    }
    const test_file out = test_export(f, "squid");
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    free(out.bytes);
    tamis_free(f);
    free(file.bytes);
}

/* The method is one byte before the URL: the store key of GET .../alpha is known, and HEAD's
 * differs. */
static void methods_differ(void **state) {
    (void)state;
    static const uint8_t alpha[] = {0xf0, 0x31, 0x01, 0x62, 0x3d, 0x70, 0x9e, 0xba,
                                    0x6d, 0xaf, 0x5b, 0x33, 0x11, 0xc8, 0x4c, 0x5f};
    static const char *const methods[] = {"get", "post", "put", "head"};
    test_file out[4];
    for (size_t i = 0; i < 4; i++) {
        char spec[64];
        tamis *f;
        snprintf(spec, sizeof spec, "squid:capacity=9,bits_per_entry=99,method=%s", methods[i]);
        assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
        assert_int_equal(tamis_add(f, HOST "alpha", strlen(HOST "alpha")), TAMIS_OK);
        out[i] = test_export(f, "squid");
        tamis_free(f);
        f = test_import("squid:store_keys=1", out[i]);
        assert_int_equal(tamis_has(f, alpha, sizeof alpha), i == 0);
        tamis_free(f);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(out[i].bytes, out[j].bytes, out[i].size);
    }
    for (size_t i = 0; i < 4; i++) free(out[i].bytes);
}

static void counts_adds(void **state) {
    (void)state;
    tamis *f, *g;
    assert_int_equal(tamis_create(&f, "squid:capacity=10,bits_per_entry=5"), TAMIS_OK);
    assert_int_equal(tamis_create(&g, "squid:capacity=10,bits_per_entry=5"), TAMIS_OK);
    test_add_range(f, 0, 10);
    test_add_range(f, 0, 3);
    test_add_range(g, 5, 12);
    test_file out = test_export(f, "squid");
    assert_int_equal(out.bytes[11], 13);
    free(out.bytes);
    assert_int_equal(tamis_merge(f, g), TAMIS_OK);
    out = test_export(f, "squid");
    assert_int_equal(out.bytes[11], 20);
    test_range_in(f, 0, 12);
    free(out.bytes);
    tamis_free(f);
    tamis_free(g);
}

/* The count saturates at 2^31-1. */
static void count_does_not_wrap(void **state) {
    (void)state;
    const test_file file = test_vector(accepted);
    memcpy(file.bytes + 8, "\x7f\xff\xff\xfe", 4);
    tamis *f = test_import("squid", file);
    test_add_range(f, 0, 5);
    const test_file out = test_export(f, "squid");
    assert_memory_equal(out.bytes + 8, "\x7f\xff\xff\xff", 4);
    free(out.bytes);
    tamis_free(f);
    free(file.bytes);
}

static void plans_as_squid(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bytes, per_entry;
    } samples[] = {
        {"capacity=50,bits_per_entry=5", 32, 5},
        {"capacity=60,bits_per_entry=5", 38, 5},
        {"capacity=0,bits_per_entry=5", 1, 5},
        {"capacity=1,bits_per_entry=255", 32, 255},
        {"capacity=8421504,bits_per_entry=255", 268435440, 255},
        {"capacity=1e6,fpr=10%", 625000, 5},
        {"capacity=1e6,fpr=1%", 1375000, 11},
        {"capacity=1e6,bits=8e6", 1000000, 8},
        {"capacity=3,bits=20", 2, 5},
        {"capacity=2147483640,bits_per_entry=1", 268435455, 1},
    };
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char spec[96];
        snprintf(spec, sizeof spec, "squid:%s", samples[i].spec);
        if (tamis_plan_spec(spec, &plan)) fail_msg("%s: %s", spec, tamis_why());
        assert_int_equal(plan.word[0], samples[i].bytes * 8);
        assert_int_equal(plan.word[1], 4);
        assert_int_equal(plan.word[3], samples[i].per_entry);
    }
}

static void refuses_plan(const char *spec, tamis_status expected, const char *sentence) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec(spec, &plan), expected);
    assert_string_equal(tamis_why(), sentence);
}

static void refuses_what_squid_cannot(void **state) {
    (void)state;
    refuses_plan("squid:capacity=2147483641,bits_per_entry=1", TAMIS_TOO_LARGE,
                 "a Squid digest has at most 2^31-8 bits, too few for 2147483641 keys with 1 bits "
                 "each");
    refuses_plan("squid:capacity=1e9,fpr=10%", TAMIS_TOO_LARGE,
                 "a Squid digest has at most 2^31-8 bits, too few for 1000000000 keys with 5 bits "
                 "each");
    refuses_plan("squid:capacity=1000,fpr=1e-9", TAMIS_INVALID,
                 "four probes and at most 255 bits per entry cannot reach a rate of 1e-09");
    refuses_plan("squid:capacity=1000,bits=999", TAMIS_INVALID,
                 "a Squid digest has at least one bit per key: 999 bits are too few for 1000 keys");
    refuses_plan("squid:capacity=1000,bits=4999,bits_per_entry=5", TAMIS_INVALID,
                 "1000 keys with 5 bits each need more than 4999 bits");
    refuses_plan("squid:capacity=9,bits_per_entry=256", TAMIS_INVALID,
                 "bits_per_entry: must be from 1 to 255, not 256");
    refuses_plan("squid:capacity=9,method=patch", TAMIS_INVALID,
                 "method: must be one of get|post|put|head, not 'patch'");
}

static void refuses_changed(size_t at, const char *bytes, size_t n, const char *sentence) {
    const test_file file = test_vector(accepted);
    tamis *f;
    memcpy(file.bytes + at, bytes, n);
    assert_int_equal(tamis_import(&f, "squid", file.bytes, file.size), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), sentence));
    free(file.bytes);
}

static void refuses_what_is_not_squid(void **state) {
    (void)state;
    refuses_changed(1, "\2", 1, "its versions are not for a reader of version 5");
    refuses_changed(3, "\6", 1, "its versions are not for a reader of version 5");
    refuses_changed(0, "\0\4\0\5", 4, "its versions are not for a reader of version 5");
    refuses_changed(0, "\x80", 1, "its versions are not for a reader of version 5");
    refuses_changed(4, "\0\0\0\0", 4, "has a capacity from 1 to 429496728, not 0");
    refuses_changed(4, "\xff", 1, "has a capacity from 1 to 429496728, not 4278190130");
    refuses_changed(8, "\xff", 1, "a count is negative");
    refuses_changed(12, "\x80", 1, "a count is negative");
    refuses_changed(19, "\x21", 1, "the header says 33 bytes of bits, there are 32");
    refuses_changed(20, "\0", 1, "1 to 255 bits per entry, not 0");
    refuses_changed(20, "\6", 1, "has 304 bits and 4 hashes, not 256 and 4");
    refuses_changed(21, "\5", 1, "has 256 bits and 4 hashes, not 256 and 5");
    static const char *const files[] = {written, accepted};
    for (size_t i = 0; i < 2; i++) {
        const test_file file = test_vector(files[i]);
        test_refused("squid", (test_file){file.bytes, 128}, "bytes of bits, there are 0");
        test_refused("squid", (test_file){file.bytes, 127}, "127 bytes, a header alone has 128");
        assert_true(test_hostile("squid", file) > 0); /* other bits make another digest */
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_squid_wrote),
        cmocka_unit_test(writes_what_squid_wrote),
        cmocka_unit_test(answers_as_squid),
        cmocka_unit_test(methods_differ),
        cmocka_unit_test(counts_adds),
        cmocka_unit_test(count_does_not_wrap),
        cmocka_unit_test(plans_as_squid),
        cmocka_unit_test(refuses_what_squid_cannot),
        cmocka_unit_test(refuses_what_is_not_squid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
