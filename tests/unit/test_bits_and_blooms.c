/* SPDX-License-Identifier: MIT */
/* Filters of the Go package bits-and-blooms: files that it wrote, and ours compared with them. */
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
#define FORMAT "bits-and-blooms"
#define JSON   "bits-and-blooms-json"

static const struct tamis_key ten[] = {BYTES("alpha"),
                                       BYTES("beta"),
                                       BYTES("gamma"),
                                       BYTES("delta"),
                                       BYTES(""),
                                       BYTES("caf\xc3\xa9"),
                                       BYTES("12345678"),
                                       BYTES("123456789012345"),
                                       BYTES("1234567890123456"),
                                       BYTES("12345678901234567"),
                                       {NULL, 0}};
static const struct tamis_key four[] = {
    BYTES("alpha"), BYTES("beta"), BYTES("gamma"), BYTES("delta"), {NULL, 0}};
static const struct tamis_key one[] = {BYTES("alpha"), {NULL, 0}};
static const struct tamis_key none[] = {{NULL, 0}};

static const struct {
    const char *path, *spec, *hex;
    const struct tamis_key *in, *not_in;
} files[] = {
    {"bits-and-blooms/bnb_n10_p0.01.bin", "capacity=10",
     "000000000000006000000000000000070000000000000060730ba42757000d7f00000000db718b31", ten,
     test_no_words},
    {"bits-and-blooms/bnb_m100_k9.bin", "capacity=7,bits=100,hashes=9",
     "00000000000000640000000000000009000000000000006422212830a108207b0000000c84210d01", four,
     none},
    {"bits-and-blooms/bnb_m64_k3_alpha.bin", "capacity=7,bits=64,hashes=3",
     "0000000000000040000000000000000300000000000000400000000002200001", one, none},
};
enum { FILES = sizeof files / sizeof *files };

static test_file text_file(const char *text) {
    test_file file = {malloc(strlen(text) + 1), strlen(text)};
    memcpy(file.bytes, text, file.size);
    return file;
}

static tamis *made(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void answers_as_go(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path), hex = test_hex(files[i].hex);
        assert_int_equal(file.size, hex.size);
        assert_memory_equal(file.bytes, hex.bytes, hex.size);
        tamis *f = test_import(FORMAT, file);
        test_all_in(f, files[i].in);
        test_none_in(f, files[i].not_in);
        tamis_free(f);
        test_goes_round(FORMAT, file);
        char spec[128];
        snprintf(spec, sizeof spec, "bits-and-blooms:%s", files[i].spec);
        test_written_anew(spec, files[i].in, FORMAT, file);
        free(file.bytes);
        free(hex.bytes);
    }
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1016, 1049, 1134, 1326, 1352, 1418, 1421, 1516, 1600, 1976, 0};
    tamis *f = made("bits-and-blooms:capacity=1000");
    test_add_range(f, 0, 1000);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, hits);
    const test_file out = test_export(f, FORMAT), json = test_export(f, JSON);
    tamis_free(f);
    test_goes_round(FORMAT, out);
    test_goes_round(JSON, json);
    f = test_import(JSON, json);
    test_range_hits(f, 1000, 2000, hits);
    tamis_free(f);
    free(out.bytes);
    free(json.bytes);
}

static void writes_json_as_go(void **state) {
    (void)state;
    const test_file bytes = test_hex(files[2].hex),
                    json = text_file("{\"m\":64,\"k\":3,\"b\":\"AAAAAAAAAEAAAAAAAiAAAQ==\"}"),
                    loose = text_file(
                        " {\n\"b\" : \"AAAAAAAAAEAAAAAAAiAAAQ==\",\t\"k\":3 ,\"m\": 64}\n");
    tamis *f = test_import(FORMAT, bytes);
    test_file out = test_export(f, JSON);
    assert_int_equal(out.size, json.size);
    assert_memory_equal(out.bytes, json.bytes, json.size);
    free(out.bytes);
    tamis_free(f);
    test_goes_round(JSON, json);
    f = test_import(JSON, loose);
    out = test_export(f, FORMAT);
    assert_int_equal(out.size, bytes.size);
    assert_memory_equal(out.bytes, bytes.bytes, bytes.size);
    free(out.bytes);
    tamis_free(f);
    assert_true(test_hostile(JSON, json) > 0);
    free(bytes.bytes);
    free(json.bytes);
    free(loose.bytes);
}

static void reads_the_other_order(void **state) {
    (void)state;
    const test_file big = test_vector(files[1].path),
                    little = test_hex("00000000000000640000000000000009"
                                      "64000000000000007b2008a130282122010d21840c000000");
    tamis *f = test_import(FORMAT ":order=little", little);
    test_all_in(f, four);
    test_file out = test_export(f, FORMAT);
    assert_memory_equal(out.bytes, big.bytes, big.size);
    free(out.bytes);
    tamis_free(f);
    test_goes_round(FORMAT ":order=little", little);
    assert_true(test_hostile(FORMAT ":order=little", little) > 0);
    assert_int_equal(tamis_import(&f, FORMAT, little.bytes, little.size), TAMIS_CORRUPT);

    f = test_import(FORMAT, big);
    out = test_export(f, JSON ":order=little,base64=standard");
    tamis *g = test_import(JSON ":order=little,base64=standard", out);
    test_all_in(g, four);
    test_goes_round(JSON ":order=little,base64=standard", out);
    tamis_free(f);
    tamis_free(g);
    free(out.bytes);
    free(big.bytes);
    free(little.bytes);
}

/* New(0, k) has one bit and a set of length 0, which the first key extends to 1. Sets made from
 * words may be longer than m. */
static void other_lengths(void **state) {
    (void)state;
    const test_file empty = test_hex("000000000000000100000000000000030000000000000000"),
                    full = test_hex(
                        "0000000000000001000000000000000300000000000000010000000000000001"),
                    longer =
                        test_hex("0000000000000040000000000000000300000000000000800000000002200001"
                                 "8000000000000001");
    test_goes_round(FORMAT, empty);
    tamis *f = test_import(FORMAT, empty), *g = test_import(FORMAT, empty);
    test_none_in(f, one);
    test_add(f, one);
    test_file out = test_export(f, FORMAT);
    assert_int_equal(out.size, full.size);
    assert_memory_equal(out.bytes, full.bytes, full.size);
    free(out.bytes);
    assert_int_equal(tamis_merge(g, f), TAMIS_OK);
    out = test_export(g, FORMAT);
    assert_memory_equal(out.bytes, full.bytes, full.size);
    free(out.bytes);
    tamis_free(f);
    tamis_free(g);
    f = test_import(FORMAT, empty);
    out = test_export(f, JSON);
    assert_int_equal(out.size, strlen("{\"m\":1,\"k\":3,\"b\":\"AAAAAAAAAAA=\"}"));
    assert_memory_equal(out.bytes, "{\"m\":1,\"k\":3,\"b\":\"AAAAAAAAAAA=\"}", out.size);
    test_goes_round(JSON, out);
    free(out.bytes);
    tamis_free(f);
    test_goes_round(FORMAT, longer);
    f = test_import(FORMAT, longer);
    test_all_in(f, one);
    char spec[128];
    tamis_spec(f, spec, sizeof spec);
    assert_non_null(strstr(spec, "room=128"));
    tamis_free(f);
    assert_true(test_hostile(FORMAT, empty) > 0);
    assert_true(test_hostile(FORMAT, longer) > 0);
    free(empty.bytes);
    free(full.bytes);
    free(longer.bytes);
}

static void plans_as_go(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, hashes;
    } samples[] = {{"bits-and-blooms:capacity=10", 96, 7},
                   {"bits-and-blooms:capacity=1000", 9586, 7},
                   {"bits-and-blooms:capacity=0", 10, 7},
                   {"bits-and-blooms:capacity=1,fpr=0.99", 1, 1},
                   {"bits-and-blooms:capacity=1e9", UINT64_C(9585058378), 7}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(tamis_plan_spec(samples[i].spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[0], samples[i].bits);
        assert_int_equal(plan.word[1], samples[i].hashes);
    }
    assert_int_equal(tamis_plan_spec("bits-and-blooms:capacity=2^56", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("bits-and-blooms:capacity=10,room=5", &plan), TAMIS_OK);
    assert_int_equal(plan.word[2], 96); /* no shorter than the bits */
}

static void refuses(const char *format, test_file file, const char *why) {
    tamis *f;
    assert_int_equal(tamis_import(&f, format, file.bytes, file.size), TAMIS_CORRUPT);
    if (!strstr(tamis_why(), why)) fail_msg("instead of '%s': %s", why, tamis_why());
    free(file.bytes);
}

static void refuses_what_is_not_it(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const test_file file = test_vector(files[i].path);
        assert_true(test_hostile(FORMAT, file) > 0); /* changed bits are another filter */
        free(file.bytes);
    }
    refuses(FORMAT, test_hex("00"), "1 bytes, not a header of 24");
    refuses(FORMAT, test_hex("000000000000000000000000000000030000000000000000"), "m is 0");
    refuses(FORMAT, test_hex("000000000000100100000000000000030000000000000000"), "m is 4097");
    refuses(FORMAT, test_hex("000000000000000100000000000000000000000000000000"), "k is 0");
    refuses(FORMAT, test_hex("000000000000000100000000000001000000000000000000"), "k is 256");
    refuses(FORMAT, test_hex("00000000000000010000000000000003ffffffffffffffff"), "and 0 words");
    refuses(FORMAT,
            test_hex("0000000000000064000000000000000900000000000000630000000000000000"
                     "0000000000000000"),
            "m is 100, but the set has a length of 99");
    refuses(FORMAT,
            test_hex("0000000000000064000000000000000900000000000000640000000000000000"
                     "0000001000000000"),
            "beyond the last");
    refuses(JSON, text_file("{}"), "it should be");
    refuses(JSON, text_file("{\"m\":64,\"k\":3}"), "it should be");
    refuses(JSON, text_file("{\"m\":64,\"k\":3,\"x\":3}"), "it should be");
    refuses(JSON, text_file("{\"m\":64,\"k\":3,\"k\":3,\"b\":\"\"}"), "it should be");
    refuses(JSON, text_file("{\"m\":99999999999999999999,\"k\":3,\"b\":\"\"}"), "it should be");
    refuses(JSON, text_file("{\"m\":64,\"k\":3,\"b\":\"\"}"), "not base64 of words");
    refuses(JSON, text_file("{\"m\":64,\"k\":3,\"b\":\"AAAAAAAAAEAAAAAAAiAAAR==\"}"), "not base64");
    refuses(JSON, text_file("{\"m\":64,\"k\":3,\"b\":\"AAAAAAAAAEAAAAAA+iAAAQ==\"}"), "not base64");
    refuses(JSON, text_file("{\"m\":64,\"k\":3,\"b\":\"AAAAAAAAAEAAAAAAAiAAAQ==\"}x"), "should be");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_go),          cmocka_unit_test(thousand_keys),
        cmocka_unit_test(writes_json_as_go),      cmocka_unit_test(reads_the_other_order),
        cmocka_unit_test(other_lengths),          cmocka_unit_test(plans_as_go),
        cmocka_unit_test(refuses_what_is_not_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
