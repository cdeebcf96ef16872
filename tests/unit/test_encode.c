/* SPDX-License-Identifier: MIT */
/* Keys as other systems encode them: every encoding, by published and by computed values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_formats.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Bytes as hex digits; NULL: refused. */
static const struct sample {
    const char *encoding, *text, *bytes;
} samples[] = {
    {"utf8", "", ""},
    {"utf8", " caf\xc3\xa9 ", "20636166c3a920"},
    {"utf8", "\xf4\x8f\xbf\xbf", "f48fbfbf"},
    {"utf8", "\xc3", NULL},
    {"utf8", "\xc0\x80", NULL},
    {"utf8", "\xed\xa0\x80", NULL},
    {"utf8", "\xf4\x90\x80\x80", NULL},
    {"utf8", "a\x80", NULL},
    {"utf8", "\xff", NULL},
    {"utf8", "\xe0\x9f\xbf", NULL},
    {"bytes", "\xff\xc3 ", "ffc320"},
    {"utf16", "", ""},
    {"utf16", "a\xc3\xa9\xe2\x82\xac", "6100e900ac20"},
    {"utf16", "\xf0\x9f\x90\x9d", "3dd81ddc"},
    {"utf16", "\xc3", NULL},
    {"utf16be", "a\xe2\x82\xac\xf0\x9f\x90\x9d", "006120acd83ddc1d"},
    {"int32", "0", "00000000"},
    {"int32", "-0", "00000000"},
    {"int32", "+7", "07000000"},
    {"int32", " 258\t", "02010000"},
    {"int32", "-1", "ffffffff"},
    {"int32", "0000000000000000000000000007", "07000000"},
    {"int32", "2147483647", "ffffff7f"},
    {"int32", "-2147483648", "00000080"},
    {"int32", "2147483648", NULL},
    {"int32", "-2147483649", NULL},
    {"int32", "99999999999999999999999", NULL},
    {"int32", "", NULL},
    {"int32", "-", NULL},
    {"int32", "1.0", NULL},
    {"int32", "0x10", NULL},
    {"int32", "1 2", NULL},
    {"int32", "1e3", NULL},
    {"int32", "--1", NULL},
    {"int32be", "258", "00000102"},
    {"int32be", "-2", "fffffffe"},
    {"int64", "1", "0100000000000000"},
    {"int64", "9223372036854775807", "ffffffffffffff7f"},
    {"int64", "-9223372036854775808", "0000000000000080"},
    {"int64", "9223372036854775808", NULL},
    {"int64", "-9223372036854775809", NULL},
    {"int64", "18446744073709551616", NULL},
    {"int64be", "-2", "fffffffffffffffe"},
    {"uint32", "4294967295", "ffffffff"},
    {"uint32", "4294967296", NULL},
    {"uint32", "-1", NULL},
    {"uint32", "-0", "00000000"},
    {"uint32be", "1", "00000001"},
    {"uint64", "18446744073709551615", "ffffffffffffffff"},
    {"uint64", "18446744073709551616", NULL},
    {"uint64", "18446744073709551625", NULL},
    {"uint64be", "256", "0000000000000100"},
    {"float", "1", "0000803f"},
    {"float", "0.1", "cdcccc3d"},
    {"float", "-0", "00000080"},
    {"float", "3.4028235e38", "ffff7f7f"},
    {"float", "3.4028236e38", NULL},
    {"float", "1e-45", "01000000"},
    {"float", "1e-50", "00000000"},
    /* Just above the midpoint of two floats: rounding twice would give the lower one. */
    {"float", "1.00000005960464477540", "0100803f"},
    {"floatbe", "-2.5", "c0200000"},
    {"float", "nan", "0000c07f"},
    {"float", "-Infinity", "000080ff"},
    {"double", "0.1", "9a9999999999b93f"},
    {"double", " .5 ", "000000000000e03f"},
    {"double", "5.", "0000000000001440"},
    {"double", "9007199254740993", "0000000000004043"},
    {"double", "1.7976931348623157E+308", "ffffffffffffef7f"},
    {"double", "1.7976931348623159e308", NULL},
    {"double", "2.2250738585072011e-308", "ffffffffffff0f00"},
    {"double", "4.9e-324", "0100000000000000"},
    {"double", "INF", "000000000000f07f"},
    {"double", "NaN", "000000000000f87f"},
    {"double", "0x1p3", NULL},
    {"double", "nan(1)", NULL},
    {"double", "1,5", NULL},
    {"double", "", NULL},
    {"double", ".", NULL},
    {"double", "1e", NULL},
    {"double", "1e+", NULL},
    {"double", "1 2", NULL},
    {"doublebe", "1", "3ff0000000000000"},
    {"uuid", "123e4567-e89b-12d3-A456-426614174000", "123e4567e89b12d3a456426614174000"},
    {"uuid", " 123e4567e89b12d3a456426614174000", "123e4567e89b12d3a456426614174000"},
    {"uuid", "123e4567-e89b-12d3-a456-42661417400", NULL},
    {"uuid", "123e4567e-89b-12d3-a456-426614174000", NULL},
    {"uuid", "123e4567-e89b-12d3-a456-42661417400g", NULL},
    {"uuid", "123e4567-e89b-12d3-a4564-26614174000", NULL},
    {"uuid", "", NULL},
    {"hex", "", ""},
    {"hex", "6162", "6162"},
    {"hex", "4a4B", "4a4b"},
    {"hex", " 6162\t", "6162"},
    {"hex", "616", NULL},
    {"hex", "6g", NULL},
    {"hex", "0x61", NULL},
    {"hex", "61 62", NULL},
    {"hex", "-1", NULL},
    {"hex", "6:", NULL},
    {"hex", "@1", NULL},
    {"hex", "/1", NULL},
    {"base64", "", ""},
    {"base64", "Zg==", "66"},
    {"base64", "Zg", "66"},
    {"base64", "Zm8=", "666f"},
    {"base64", "Zm8", "666f"},
    {"base64", "Zm9v", "666f6f"},
    {"base64", "Zm9vYg==", "666f6f62"},
    {"base64", " Zm9v ", "666f6f"},
    {"base64", "Pz8/", "3f3f3f"},
    {"base64", "Pz8_", "3f3f3f"},
    {"base64", "Pj4+", "3e3e3e"},
    {"base64", "Pj4-", "3e3e3e"},
    {"base64", "Z", NULL},
    {"base64", "Zm9vY", NULL},
    {"base64", "Zg=", NULL},
    {"base64", "Zg===", NULL},
    {"base64", "Zm8==", NULL},
    {"base64", "Zh==", NULL},
    {"base64", "Zm9=", NULL},
    {"base64", "Z===", NULL},
    {"base64", "=", NULL},
    {"base64", "Zm 9v", NULL},
    {"base64", "Zm9!", NULL},
    {"base64", "====", NULL},
    {"base64", "Zm=v", NULL},
};

static void check_samples(void) {
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const struct sample *s = &samples[i];
        uint8_t key[128];
        char hex[257] = "";
        const size_t len =
            tamis_encode(s->encoding, s->text, strlen(s->text), key, 2 * strlen(s->text) + 16);
        for (size_t j = 0; len != SIZE_MAX && j < len; j++) sprintf(hex + 2 * j, "%02x", key[j]);
        if (len == SIZE_MAX ? s->bytes != NULL : !s->bytes || strcmp(hex, s->bytes) != 0)
            fail_msg("%s '%s' is %s, not %s", s->encoding, s->text,
                     len == SIZE_MAX ? tamis_why() : hex, s->bytes ? s->bytes : "refused");
    }
}

static void every_encoding(void **unused) {
    (void)unused;
    check_samples();
    size_t n = 0;
    for (const char *name; (name = tamis_encoding_at(n)) != NULL; n++) {
        bool is_sampled = false;
        for (size_t i = 0; i < COUNT_OF(samples); i++)
            is_sampled = is_sampled || strcmp(samples[i].encoding, name) == 0;
        if (!is_sampled) fail_msg("%s has no sample", name);
    }
    assert_int_equal(n, 19);
}

/* The program's locale and errno neither matter nor change. */
static void the_locale_does_not_matter(void **unused) {
    (void)unused;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    const char *set = NULL;
    for (size_t i = 0; i < COUNT_OF(commas) && !set; i++) set = setlocale(LC_ALL, commas[i]);
    errno = EDOM;
    check_samples();
    assert_int_equal(errno, EDOM);
    if (set) assert_string_equal(setlocale(LC_ALL, NULL), set);
    setlocale(LC_ALL, "C");
}

static void assert_why(const char *encoding, const char *text, const char *why) {
    uint8_t key[256];
    assert_true(tamis_encode(encoding, text, strlen(text), key, sizeof key) == SIZE_MAX);
    assert_string_equal(tamis_why(), why);
}

static void messages(void **unused) {
    (void)unused;
    assert_why("int32", " 2147483648 ",
               "'2147483648' is not an int32: whole numbers from -2147483648 to 2147483647");
    assert_why("uint64be", "-1",
               "'-1' is not a uint64be: whole numbers from 0 to 18446744073709551615");
    assert_why("float", "1e39", "'1e39' is not a float: they go up to 3.4028235e38, and inf");
    assert_why("double", "half", "'half' is not a double: numbers as 1, -0.5, 2.5e-3, inf or nan");
    assert_why("hex", "0g", "'0g' is not hex: byte 2 is 'g'; digits are 0-9, a-f and A-F");
    assert_why("hex", "de ad", "'de ad' is not hex: byte 3 is ' '; digits are 0-9, a-f and A-F");
    assert_why("hex", "a\xff", "'a\\xff' is not hex: byte 2 is \\xff; digits are 0-9, a-f and A-F");
    assert_why("hex", "abc", "'abc' is not hex: the number of digits is odd");
    assert_why("base64", "ab c=",
               "'ab c=' is not base64: byte 3 is ' '; letters are A-Z, a-z, 0-9, + "
               "and /, or - and _");
    assert_why("base64", "abcde", "'abcde' is not base64: it has a wrong length");
    assert_why("utf9", "a", "unknown encoding 'utf9'; did you mean utf8?");
    assert_why("utf8", "a\x01\x1b\xff",
               "'a\\x01\\x1b\\xff' is not utf8: it has a byte that is not UTF-8");
    assert_why("int32", "1234567890123456789012345678901234567890123",
               "'1234567890123456789012345678901234567890...' is not an int32: whole numbers from "
               "-2147483648 to 2147483647");
    assert_why("utf32", "a",
               "unknown encoding 'utf32'; there are utf8, bytes, utf16, utf16be, int32, int32be, "
               "int64, int64be, uint32, uint32be, uint64, uint64be, float, floatbe, double, "
               "doublebe, uuid, hex, base64");
}

/* With one byte less there is an error message, and nothing is written past the buffer. */
static void room_is_kept(void **unused) {
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const struct sample *s = &samples[i];
        if (!s->bytes || !*s->bytes) continue;
        const size_t len = strlen(s->bytes) / 2, text_len = strlen(s->text);
        uint8_t *exact = malloc(len), *less = malloc(len); /* exact sizes, for sanitizers */
        assert_int_equal(tamis_encode(s->encoding, s->text, text_len, exact, len), len);
        less[len - 1] = 0x5a;
        assert_true(tamis_encode(s->encoding, s->text, text_len, less, len - 1) == SIZE_MAX);
        assert_int_equal(less[len - 1], 0x5a);
        assert_non_null(strstr(tamis_why(), "needs room for"));
        free(exact), free(less);
    }
}

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t any(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static void every_double_comes_back(void **unused) {
    (void)unused;
    for (int trial = 0; trial < 100000; trial++) {
        double x, back;
        char text[400];
        uint64_t bits = any(UINT64_MAX);
        if ((bits >> 52 & 0x7ff) == 0x7ff) continue;
        memcpy(&x, &bits, sizeof x);
        const int len = snprintf(text, sizeof text, any(2) ? "%.17g" : "%.20e", x);
        assert_int_equal(tamis_encode("double", text, (size_t)len, &back, 8), 8);
        assert_memory_equal(&x, &back, 8);
    }
}

static void every_byte_in_hex_and_base64(void **unused) {
    (void)unused;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int trial = 0; trial < 5000; trial++) {
        uint8_t bytes[48], room[128];
        const size_t len = any(sizeof bytes);
        char hex[128], base64[128];
        size_t n = 0;
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)any(256);
            snprintf(hex + 2 * i, 3, any(2) ? "%02x" : "%02X", bytes[i]);
        }
        for (size_t bit = 0; bit < 8 * len; bit += 6) {
            unsigned six = 0;
            for (size_t j = bit; j < bit + 6; j++)
                six = six << 1 | (j < 8 * len ? bytes[j / 8] >> (7 - j % 8) & 1 : 0);
            base64[n++] = letters[six];
        }
        assert_int_equal(tamis_encode("hex", hex, 2 * len, room, len), len);
        assert_memory_equal(room, bytes, len);
        assert_int_equal(tamis_encode("base64", base64, n, room, len), len);
        assert_memory_equal(room, bytes, len);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_encoding),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(messages),
        cmocka_unit_test(room_is_kept),
        cmocka_unit_test(every_double_comes_back),
        cmocka_unit_test(every_byte_in_hex_and_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
