/* SPDX-License-Identifier: MIT */
/* Bloom filters of Apache ORC, against messages written by its Java library (1.9.4).
 * tests/peers/jvm.sh runs the library itself. */
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

static const struct tamis_key longs[] = {BYTES("\0\0\0\0\0\0\0\0"),
                                         BYTES("\1\0\0\0\0\0\0\0"),
                                         BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
                                         BYTES("\x2a\0\0\0\0\0\0\0"),
                                         BYTES("\0\0\0\0\0\1\0\0"),
                                         BYTES("\0\0\0\0\0\0\0\x80"),
                                         {NULL, 0}};
static const struct tamis_key no_longs[] = {
    BYTES("\2\0\0\0\0\0\0\0"), BYTES("\x2b\0\0\0\0\0\0\0"), {NULL, 0}};

static const struct {
    const char *hex, *spec, *format;
    const struct tamis_key *in, *not_in;
} messages[] = {
    {"08091a108a48c100c57403ea214403700041c3dc", "orc:capacity=10", "orc", test_six_words,
     test_no_words},
    {"0809118a48c100c57403ea11214403700041c3dc", "orc:capacity=10,fpr=0.03", "orc:stream=original",
     test_six_words, test_no_words},
    {"08091a1083ab9009bdb2c01a010200413132d401", "orc:capacity=10,column=number",
     "orc:column=number", longs, no_longs},
};
enum { MESSAGES = sizeof messages / sizeof *messages };

/* The first two, as row groups of one stream. */
static const char stream_hex[] = "0a1408091a108a48c100c57403ea214403700041c3dc"
                                 "0a140809118a48c100c57403ea11214403700041c3dc";

static tamis *made(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void answers_as_orc(void **state) {
    (void)state;
    for (size_t i = 0; i < MESSAGES; i++) {
        const test_file file = test_hex(messages[i].hex);
        tamis *f = test_import(messages[i].format, file);
        test_all_in(f, messages[i].in);
        test_none_in(f, messages[i].not_in);
        tamis_free(f);
        test_goes_round(messages[i].format, file);
        test_written_anew(messages[i].spec, messages[i].in, messages[i].format, file);
        assert_true(test_hostile(messages[i].format, file) > 0); /* other bits, another filter */
        free(file.bytes);
    }
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1028, 1035, 1047, 1057, 1075, 1117, 1140,
                                    1186, 1212, 1230, 1234, 1240, 1253, 1290,
                                    1321, 1344, 1359, 1375, 1390, 1398, 0};
    tamis *f = made("orc:capacity=1000,fpr=0.05");
    test_add_range(f, 0, 1000);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 1400, hits);
    const test_file out = test_export(f, "orc");
    assert_memory_equal(out.bytes, "\x08\x04\x1a\x90\x06\x69\x62\xcf\x7a\x9a\x3c\x46\x12", 13);
    test_goes_round("orc", out);
    tamis_free(f);
    free(out.bytes);
}

typedef struct list {
    size_t n;
    char choose[4][32];
} list;

static bool note(void *ctx, const struct tamis_found *found) {
    list *l = ctx;
    snprintf(l->choose[l->n++], sizeof *l->choose, "%s", found->choose);
    return l->n < 4;
}

static void streams_have_groups(void **state) {
    (void)state;
    const test_file stream = test_hex(stream_hex), one = test_hex(messages[0].hex);
    list l = {0};
    tamis *f;
    assert_int_equal(tamis_format_scan("orc", stream.bytes, stream.size, note, &l), TAMIS_OK);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.choose[1], "group=1");
    for (int i = 0; i < 2; i++) {
        f = test_import(i ? "orc:group=1" : "orc:group=0", stream);
        test_all_in(f, test_six_words);
        const test_file out = test_export(f, "orc");
        assert_int_equal(out.size, one.size);
        assert_memory_equal(out.bytes, one.bytes, one.size);
        free(out.bytes);
        tamis_free(f);
    }
    assert_int_equal(tamis_import(&f, "orc", stream.bytes, stream.size), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "group=0 to group=1"));
    assert_int_equal(tamis_import(&f, "orc:group=2", stream.bytes, stream.size), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "2 filters, but no group 2"));
    assert_true(test_hostile("orc:group=1", stream) > 0);
    l.n = 0;
    assert_int_equal(tamis_format_scan("orc", one.bytes, one.size, note, &l), TAMIS_OK);
    assert_int_equal(l.n, 1);
    free(stream.bytes);
    free(one.bytes);
}

static void plans_as_orc(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, hashes;
    } samples[] = {{"orc:capacity=10", 128, 9},
                   {"orc:capacity=0", 64, 44},
                   {"orc:capacity=1000,fpr=0.05", 6272, 4},
                   {"orc:capacity=10000,fpr=0.05", 62400, 4},
                   {"orc:capacity=10,bits=100", 64, 4},
                   {"orc:capacity=1,fpr=0.9", 64, 44}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        test_planned(samples[i].spec, samples[i].bits, samples[i].hashes);
    assert_int_equal(tamis_plan_spec("orc:capacity=1e9", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("orc:capacity=10,bits=63", &plan), TAMIS_INVALID);
}

static void refuses_what_is_not_orc(void **state) {
    (void)state;
    static const struct {
        const char *hex, *why;
    } lies[] = {{"", "neither a filter"},
                {"08", "neither a filter"},
                {"0809", "neither a filter"},
                {"08091a00", "neither a filter"},                     /* no bits */
                {"08091a070000000000000000", "neither a filter"},     /* not whole words */
                {"08091a090000000000000000", "neither a filter"},     /* more than there is */
                {"08091a08000000000000000000", "neither a filter"},   /* less than there is */
                {"08091a8800000000000000000000", "neither a filter"}, /* 8 as a two-byte length */
                {"080911000000000000001100000000000000", "neither a filter"},
                {"08001a080000000000000000", "1 to 255 hashes, not 0"},
                {"0880021a080000000000000000", "1 to 255 hashes, not 256"},
                {"0a0508091a100000", "neither a filter"},     /* a truncated stream */
                {"0affffffff7f08091a08", "neither a filter"}, /* by gigabytes */
                {"08ffffffffff7f1a080000000000000000", "neither a filter"}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const test_file file = test_hex(lies[i].hex);
        tamis *f;
        assert_int_equal(tamis_import(&f, "orc", file.bytes, file.size), TAMIS_CORRUPT);
        if (!strstr(tamis_why(), lies[i].why)) fail_msg("%s: %s", lies[i].hex, tamis_why());
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_orc),          cmocka_unit_test(thousand_keys),
        cmocka_unit_test(streams_have_groups),     cmocka_unit_test(plans_as_orc),
        cmocka_unit_test(refuses_what_is_not_orc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
