/* SPDX-License-Identifier: MIT */
/* Cassandra's filters: files from its servers and its classes, and ours compared with them. */
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

static const struct tamis_key words[] = {BYTES("alpha"),
                                         BYTES("beta"),
                                         BYTES("gamma"),
                                         BYTES("delta"),
                                         BYTES(""),
                                         BYTES("caf\xc3\xa9"),
                                         BYTES("0123456789abcde\xc3\xa9"),
                                         BYTES("0123456789abcdef0"),
                                         {NULL, 0}};
static const struct tamis_key digits[] = {BYTES("0"), BYTES("1"), BYTES("2"),
                                          BYTES("3"), BYTES("4"), {NULL, 0}};
static const struct tamis_key no_digits[] = {BYTES("5"), BYTES("6"), BYTES("7"),
                                             BYTES("8"), BYTES("9"), {NULL, 0}};

#define NB        "cassandra:version=nb"
#define WORDS_HEX "000000050000000205404178081210810824001804965006"
#define DIGITS_NB "0000000500000002844221060001040000a602200400c008"
#define DIGITS_MA "0000000500000002000401000621428408c000042002a600"
#define INTS_KA   "000000050000000223664c448214b822e543142008053950"
#define INTS_NB                                                                                    \
    "00000003000000094c2c882a3216828d0604f9393e80a846ba685274da17226ac800ca8203086908020f35902402" \
    "6097e49b3580e444e614a10b8c85b8b933263dc49c6429b8d6c0301c807b0ca62e40"

static struct tamis_key int_key(int32_t i, uint8_t bytes[4]) {
    for (int b = 0; b < 4; b++) bytes[b] = (uint8_t)((uint32_t)i >> (24 - 8 * b));
    return (struct tamis_key){bytes, 4};
}

static bool has_int(const tamis *f, int32_t i) {
    uint8_t bytes[4];
    const struct tamis_key key = int_key(i, bytes);
    return tamis_has(f, key.bytes, key.len);
}

/* The file has the keys `in`, none of `not_in`, and equals a new filter of `in` for ten keys. */
static void is_cassandra(const char *version, test_file file, const struct tamis_key *in,
                         const struct tamis_key *not_in) {
    char format[64], spec[64];
    snprintf(format, sizeof format, "cassandra:version=%s", version);
    snprintf(spec, sizeof spec, "cassandra:capacity=10,fpr=1%%,version=%s", version);
    tamis *f = test_import(format, file);
    test_all_in(f, in);
    test_none_in(f, not_in);
    test_spec_leads_back(f);
    tamis_free(f);
    test_goes_round(format, file);
    test_written_anew(spec, in, format, file);
}

static void bytes_of_the_specification(void **state) {
    (void)state;
    static const struct {
        const char *hex, *versions[8];
        const struct tamis_key *in, *not_in;
    } of[] = {
        {WORDS_HEX, {"na", "nb", "nc", "oa", "da", NULL}, words, test_no_words},
        {DIGITS_NB, {"na", "nb", "nc", "oa", "da", NULL}, digits, no_digits},
        {DIGITS_MA, {"ma", "mb", "mc", "md", "me", NULL}, digits, no_digits},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t v = 0; of[i].versions[v]; v++) {
            const test_file file = test_hex(of[i].hex);
            is_cassandra(of[i].versions[v], file, of[i].in, of[i].not_in);
            free(file.bytes);
        }
}

static void files_of_servers(void **state) {
    (void)state;
    static const char *const files[][2] = {{"da", "cassandra/server_da-1-bti-Filter.db"},
                                           {"ma", "cassandra/server_ma-1-big-Filter.db"},
                                           {"nb", "cassandra/server_nb-1-big-Filter.db"},
                                           {"oa", "cassandra/server_oa-1-big-Filter.db"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const test_file file = test_published(files[i][1]);
        is_cassandra(files[i][0], file, digits, no_digits);
        free(file.bytes);
    }
}

/* The file has the integers from `from` to `to`, and equals a new filter of them with `params`. */
static void holds_ints(test_file file, const char *version, const char *params, int32_t from,
                       int32_t to, const int32_t *hits, int32_t last) {
    char format[64], spec[128];
    uint8_t bytes[4];
    tamis *made;
    snprintf(format, sizeof format, "cassandra:version=%s", version);
    snprintf(spec, sizeof spec, "cassandra:%s,version=%s", params, version);
    assert_int_equal(tamis_create(&made, spec), TAMIS_OK);
    tamis *f = test_import(format, file);
    for (int32_t i = from; i < to; i++) {
        const struct tamis_key key = int_key(i, bytes);
        if (!has_int(f, i)) fail_msg("%d is missing", i);
        assert_int_equal(tamis_add(made, key.bytes, key.len), TAMIS_OK);
    }
    for (int32_t i = to; i < last; i++) {
        const bool is_expected = *hits == i;
        hits += is_expected;
        if (has_int(f, i) != is_expected) fail_msg("%d is answered otherwise", i);
    }
    const test_file out = test_export(made, format);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, file.size);
    free(out.bytes);
    tamis_free(f);
    tamis_free(made);
    test_goes_round(format, file);
}

static const int32_t int_hits[] = {51,  70,  77,  100, 102, 110, 121,
                                   124, 128, 138, 167, 207, 249, INT32_MAX};
static const int32_t no_hits[] = {INT32_MAX};

static void integers_are_big_endian(void **state) {
    (void)state;
    test_file file = test_hex(INTS_NB);
    holds_ints(file, "nb", "capacity=100,fpr=0.1", -50, 50, int_hits, 250);
    free(file.bytes);
    file = test_vector("cassandra/cassandra_int_n100_p0.1.db");
    holds_ints(file, "nb", "capacity=100,fpr=0.1", -50, 50, int_hits, 250);
    free(file.bytes);
    file = test_hex(INTS_KA);
    holds_ints(file, "ka", "capacity=10,fpr=0.01", 1, 11, no_hits, 11);
    free(file.bytes);
}

static void file_of_an_old_server(void **state) {
    (void)state;
    static const char *const versions[] = {"ja", "jb", "ka", "la", "lb"};
    const test_file file = test_published("cassandra/server_ka-1-Filter.db");
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        holds_ints(file, versions[i], "capacity=10,fpr=0.01", 1, 11, no_hits, 11);
    free(file.bytes);
}

static void text_file_of_its_classes(void **state) {
    (void)state;
    const test_file file = test_vector("cassandra/cassandra_text_n10_p0.01.db");
    is_cassandra("nb", file, words, test_no_words);
    free(file.bytes);
}

static void thousand_keys(void **state) {
    (void)state;
    static const uint64_t hits[] = {1018, 1262, 1658, 0};
    tamis *f;
    test_planned("cassandra:capacity=1000,fpr=0.01", 10048, 5);
    assert_int_equal(tamis_create(&f, "cassandra:capacity=1000,fpr=0.01"), TAMIS_OK);
    test_add_range(f, 0, 1000);
    test_range_in(f, 0, 1000);
    test_range_hits(f, 1000, 2000, hits);
    tamis_free(f);
}

/* Keys whose hashes are -2^63 and 1, in either order: the walk starts at the number that has no
 * absolute value in Java, and takes the position of its remainder. */
static void the_lowest_hash_has_a_position(void **state) {
    (void)state;
    static const struct {
        const char *version, *key;
    } of[] = {{"nb", "\x47\xb0\xd4\x8b\x8d\x31\x12\x36\x1d\x2c\x95\x86\x1b\x84\xc8\x8a"},
              {"ka", "\x5f\x7f\xfc\x10\xbf\x5b\x05\x10\x24\x64\xdd\x4a\xf0\x37\x2c\x54"}};
    for (size_t i = 0; i < 2; i++) {
        char spec[64], format[64];
        tamis *f;
        snprintf(spec, sizeof spec, "cassandra:capacity=1,bits=640,hashes=2,version=%s",
                 of[i].version);
        snprintf(format, sizeof format, "cassandra:version=%s", of[i].version);
        assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
        assert_int_equal(tamis_add(f, of[i].key, 16), TAMIS_OK);
        const test_file out = test_export(f, format);
        /* 2^63 % 640 = 128, and one less: bytes 16 and 15, by words 23 and 8. */
        assert_int_equal(out.bytes[8 + (i ? 23 : 16)], 0x01);
        assert_int_equal(out.bytes[8 + (i ? 8 : 15)], 0x80);
        free(out.bytes);
        tamis_free(f);
    }
}

/* Between 3.x and 4.x only the byte order differs; 2.x has other positions. */
static void goes_to_another_version(void **state) {
    (void)state;
    const test_file nb = test_hex(DIGITS_NB), ma = test_hex(DIGITS_MA);
    tamis *f = test_import(NB, nb), *g = test_import("cassandra:version=mc", ma);
    test_file out = test_export(f, "cassandra:version=ma");
    assert_memory_equal(out.bytes, ma.bytes, ma.size);
    free(out.bytes);
    out = test_export(g, "cassandra:version=oa");
    assert_memory_equal(out.bytes, nb.bytes, nb.size);
    free(out.bytes);
    assert_int_equal(tamis_export(f, "cassandra:version=ka", NULL, NULL), TAMIS_UNSUPPORTED);
    assert_non_null(strstr(tamis_why(), "up to lb"));
    assert_int_equal(tamis_export(f, "cassandra", NULL, NULL), TAMIS_INVALID);
    assert_string_equal(tamis_mismatch(f, g) ? "other" : "same", "other");
    tamis_free(f);
    tamis_free(g);
    free(nb.bytes);
    free(ma.bytes);
}

static void more_than_one_piece_is_reversed(void **state) {
    (void)state;
    tamis *f, *g;
    assert_int_equal(tamis_create(&f, "cassandra:capacity=5000"), TAMIS_OK);
    assert_int_equal(tamis_create(&g, "cassandra:capacity=5000,version=ma"), TAMIS_OK);
    test_add_range(f, 0, 5000);
    test_add_range(g, 0, 5000);
    const test_file a = test_export(f, "cassandra:version=ma"),
                    b = test_export(g, "cassandra:version=ma");
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, b.size);
    free(a.bytes);
    free(b.bytes);
    tamis_free(f);
    tamis_free(g);
}

/* An empty file is a filter that is switched off. */
static void an_empty_file_always_answers_maybe(void **state) {
    (void)state;
    const test_file file = {(uint8_t *)"", 0};
    struct tamis_info info = TAMIS_INFO_INIT;
    struct tamis_estimate items;
    tamis *f = test_import(NB, file), *g;
    test_all_in(f, words);
    test_all_in(f, test_no_words);
    test_goes_round(NB, file);
    test_goes_round("cassandra:version=ka", file);
    tamis_measure(f, &info);
    assert_true(info.fpr_now == 1 && info.is_saturated);
    assert_int_equal(tamis_items_now(f, &items), TAMIS_SATURATED);
    assert_int_equal(tamis_add(f, "x", 1), TAMIS_OK);
    assert_int_equal(tamis_copy(&g, f), TAMIS_OK);
    assert_int_equal(tamis_merge(f, g), TAMIS_OK);
    assert_int_equal(tamis_intersect(f, g), TAMIS_OK);
    test_all_in(f, test_no_words);
    tamis_free(g);
    tamis_free(f);
    assert_int_equal(tamis_import(&f, NB, NULL, 0), TAMIS_OK);
    tamis_free(f);
}

static void plans_as_cassandra(void **state) {
    (void)state;
    test_planned("cassandra:capacity=10,fpr=0.01", 2 * 64, 5);
    test_planned("cassandra:capacity=100,fpr=0.1", 9 * 64, 3);
    test_planned("cassandra:capacity=0,fpr=0.01", 64, 5);
    test_planned("cassandra:capacity=1,fpr=0.01", 64, 5);
    test_planned("cassandra:capacity=4,fpr=0.01", 64, 5); /* 60 bits, 70 with one more key */
    test_planned("cassandra:capacity=5,fpr=0.01", 128, 5);
    test_planned("cassandra:capacity=100,fpr=0.9", 2 * 64, 2); /* its table starts oddly */
    test_planned("cassandra:capacity=100,fpr=0.393", 2 * 64, 2);
    test_planned("cassandra:capacity=100,fpr=0.392", 5 * 64, 1);
    test_planned("cassandra:capacity=1000,fpr=0.001", 15040, 7);
    test_planned("cassandra:capacity=1e9,fpr=0.0000671", 20000000064ull, 14);
    test_planned("cassandra:capacity=6871947669,fpr=0.0000671", INT32_MAX * 64ull, 14);
    test_planned("cassandra:capacity=100,bits=1000", 15 * 64, 7);
    test_planned("cassandra:capacity=100,bits=1000,hashes=3", 15 * 64, 3);
    test_spec_refused("cassandra:capacity=100,fpr=0.000067", TAMIS_INVALID, "6.71e-05");
    test_spec_refused("cassandra:capacity=100,bits=63", TAMIS_INVALID, "bits=63");
    test_spec_refused("cassandra:capacity=1e12", TAMIS_TOO_LARGE, "2^31-1 words");
    test_spec_refused("cassandra:capacity=1,version=zz", TAMIS_INVALID, "not 'zz'");
}

static void the_version_must_be_given(void **state) {
    (void)state;
    tamis *f;
    const test_file file = test_hex(DIGITS_NB);
    assert_int_equal(tamis_import(&f, "cassandra", file.bytes, file.size), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "two letters"));
    static const char *const unknown[] = {"zz", "n", "nbb", "NB", "", "ie", "hf", "mz"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char format[64];
        snprintf(format, sizeof format, "cassandra:version=%s", unknown[i]);
        assert_int_equal(tamis_import(&f, format, file.bytes, file.size), TAMIS_INVALID);
        assert_non_null(strstr(tamis_why(), "must be one of nb|"));
    }
    free(file.bytes);
}

static void refuses_what_is_not_cassandra(void **state) {
    (void)state;
    static const char *const files[] = {WORDS_HEX, DIGITS_MA, INTS_NB};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const test_file file = test_hex(files[i]);
        assert_true(test_hostile(NB, file) > 0); /* changed bits are another filter */
        assert_true(test_hostile("cassandra:version=lb", file) > 0);
        free(file.bytes);
    }
    test_hex_refused(NB, "00", "a header alone has 8");
    test_hex_refused(NB, "00000005000000", "a header alone has 8");
    test_hex_refused(NB, "0000000500000000", "0 words");
    test_hex_refused(NB, "000000057fffffff0000000000000000", "17179869184 bytes");
    test_hex_refused(NB, "00000005ffffffff0000000000000000", "4294967295 words");
    test_hex_refused(NB, "00000000000000010000000000000000", "1 to 255 hashes");
    test_hex_refused(NB, "00000100000000010000000000000000", "not 256");
    test_hex_refused(NB, "ffffffff000000010000000000000000", "not 4294967295");
    test_hex_refused(NB, "0000000100000001000000000000000000", "not 17");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_the_specification),
        cmocka_unit_test(files_of_servers),
        cmocka_unit_test(integers_are_big_endian),
        cmocka_unit_test(file_of_an_old_server),
        cmocka_unit_test(text_file_of_its_classes),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(the_lowest_hash_has_a_position),
        cmocka_unit_test(goes_to_another_version),
        cmocka_unit_test(more_than_one_piece_is_reversed),
        cmocka_unit_test(an_empty_file_always_answers_maybe),
        cmocka_unit_test(plans_as_cassandra),
        cmocka_unit_test(the_version_must_be_given),
        cmocka_unit_test(refuses_what_is_not_cassandra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
