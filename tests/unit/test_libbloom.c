/* SPDX-License-Identifier: MIT */
/* libbloom's filters, against a file of version 2.0 and the bits of version 1.6. */
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

#define BYTES(s) \
    { s, sizeof s - 1 }
#define FORMAT_1 "libbloom1:entries=1000,error=0.05"

static const struct tamis_key seven[] = {BYTES("alpha"), BYTES("beta"), BYTES("gamma"),
                                         BYTES("delta"), BYTES(""),     BYTES("caf\xc3\xa9"),
                                         BYTES("x"),     {NULL, 0}};
static const char header_hex[] =
    "6c6962626c6f6f6d324000e8030000000000007125000000000000af0400000000000007000000000000007b14ae47"
    "e17a843f010200000000000088168ac58c2b2340";

/* The address of the bits in memory is not kept. */
static test_file without_address(void) {
    const test_file file = test_vector("libbloom/libbloom2_n1000_p0.01_7keys.bloom");
    memset(file.bytes + 67, 0, 8);
    return file;
}

static tamis *made(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void answers_as_version_2(void **state) {
    (void)state;
    const test_file file = without_address(), hex = test_hex(header_hex),
                    original = test_vector("libbloom/libbloom2_n1000_p0.01_7keys.bloom");
    assert_memory_equal(file.bytes, hex.bytes, hex.size);
    tamis *f = test_import("libbloom", original);
    test_all_in(f, seven);
    test_none_in(f, test_no_words);
    const test_file out = test_export(f, "libbloom");
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.capacity, 1000);
    tamis_free(f);
    test_goes_round("libbloom", file);
    test_written_anew("libbloom:capacity=1000", seven, "libbloom", file);
    test_written_anew("libbloom:capacity=0", seven, "libbloom", file); /* at least 1000 */
    free(out.bytes);
    free(file.bytes);
    free(original.bytes);
    free(hex.bytes);
}

/* The same keys in both versions, which compute with 32 or 64 bits. */
static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits_2[] = {1017, 1027, 1058, 1090, 1093, 1136, 1138, 1165, 1180,
                                      1191, 1238, 1272, 1277, 1314, 1330, 1356, 1380, 0};
    static const uint64_t hits_1[] = {1022, 1027, 1050, 1072, 1104, 1130, 1169, 1178, 1182, 1193,
                                      1216, 1273, 1329, 1335, 1344, 1368, 1376, 1382, 0};
    const test_file bits = test_vector("libbloom/libbloom16_n1000_p0.05_1000keys.bits");
    tamis *f = made("libbloom:capacity=1000,fpr=0.05");
    test_add_range(f, 0, 1000);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 1400, hits_2);
    const test_file out = test_export(f, "libbloom");
    test_goes_round("libbloom", out);
    tamis_free(f);
    f = test_import(FORMAT_1, bits);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 1400, hits_1);
    tamis_free(f);
    test_goes_round(FORMAT_1, bits);
    test_range_written_anew("libbloom:capacity=1000,fpr=0.05,version=1", 0, 1000, "libbloom1",
                            bits);
    free(out.bytes);
    free(bits.bytes);
}

static void plans_as_libbloom(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, hashes;
    } samples[] = {{"libbloom:capacity=1000", 9585, 7},
                   {"libbloom:capacity=1000,fpr=0.05", 6235, 5},
                   {"libbloom:capacity=1000,fpr=0.05,version=1", 6235, 5},
                   {"libbloom:capacity=1,fpr=0.9", 219, 1},
                   {"libbloom:capacity=4e9", UINT64_C(38340233509), 7},
                   {"libbloom:capacity=1000,bits=9585", 9585, 7}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        test_planned(samples[i].spec, samples[i].bits, samples[i].hashes);
    assert_int_equal(tamis_plan_spec("libbloom:capacity=5e9", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("libbloom:capacity=3e8,version=1", &plan), TAMIS_TOO_LARGE);
    assert_non_null(strstr(tamis_why(), "2^31 bits in version 1"));
    assert_int_equal(tamis_plan_spec("libbloom:capacity=1,fpr=0.9999", &plan), TAMIS_INVALID);
}

static void what_follows_is_dropped_on_demand(void **state) {
    (void)state;
    const test_file file = without_address();
    const test_file longer = {calloc(1, file.size + 9), file.size + 9};
    tamis *f;
    memcpy(longer.bytes, file.bytes, file.size);
    assert_int_equal(tamis_import(&f, "libbloom", longer.bytes, longer.size), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "9 bytes follow the bits"));
    f = test_import("libbloom:trailing=drop", longer);
    const test_file out = test_export(f, "libbloom");
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    tamis_free(f);
    assert_true(test_hostile("libbloom:trailing=drop", file) > 0);
    free(out.bytes);
    free(longer.bytes);
    free(file.bytes);
}

static void versions_do_not_mix(void **state) {
    (void)state;
    tamis *f = made("libbloom:capacity=1000,version=1"), *g = made("libbloom:capacity=1000");
    test_file out = {NULL, 0};
    assert_int_equal(tamis_export(f, "libbloom", NULL, &out), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_export(g, "libbloom1", NULL, &out), TAMIS_UNSUPPORTED);
    assert_int_not_equal(tamis_merge(f, g), TAMIS_OK);
    tamis_free(f);
    tamis_free(g);
}

static void refuses(const char *format, test_file file, tamis_status rc, const char *why) {
    tamis *f;
    assert_int_equal(tamis_import(&f, format, file.bytes, file.size), rc);
    if (!strstr(tamis_why(), why)) fail_msg("instead of '%s': %s", why, tamis_why());
}

static void refuses_what_is_not_libbloom(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        const char *why;
    } lies[] = {{19, 0, "0 bits in 1199 bytes"},
                {19, UINT64_MAX, "bits in 1199 bytes"},
                {27, 1200, "9585 bits in 1200 bytes"},
                {35, 0, "1 to 255 hashes, not 0"},
                {35, 0x107, "the header of libbloom does not match its shape"},
                {51, 0x0100, "the header of libbloom does not match its shape"},
                {51, 0x0301, "the header of libbloom does not match its shape"}};
    const test_file file = without_address();
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const uint64_t truth = tamis__get64(file.bytes + lies[i].at);
        tamis__put64(file.bytes + lies[i].at, lies[i].value);
        refuses("libbloom", file, TAMIS_CORRUPT, lies[i].why);
        tamis__put64(file.bytes + lies[i].at, truth);
    }
    assert_true(test_hostile("libbloom", file) > 0); /* other bits are another filter */
    free(file.bytes);

    const test_file bits = test_vector("libbloom/libbloom16_n1000_p0.05_1000keys.bits");
    refuses("libbloom1", bits, TAMIS_INVALID, "entries=N,error=RATE is needed");
    refuses("libbloom1:entries=1000,error=2", bits, TAMIS_INVALID, "error");
    refuses("libbloom1:entries=999,error=0.05", bits, TAMIS_INVALID, "from 1000");
    refuses("libbloom1:entries=1001,error=0.05", bits, TAMIS_CORRUPT, "have 781 bytes");
    assert_true(test_hostile(FORMAT_1, bits) > 0);
    free(bits.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_version_2), cmocka_unit_test(thousand_keys),
        cmocka_unit_test(plans_as_libbloom),    cmocka_unit_test(what_follows_is_dropped_on_demand),
        cmocka_unit_test(versions_do_not_mix),  cmocka_unit_test(refuses_what_is_not_libbloom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
