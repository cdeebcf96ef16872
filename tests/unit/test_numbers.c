/* SPDX-License-Identifier: MIT */
/* Numbers as people type them: what is read, exactly, and what is refused, with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

typedef bool whole_parser(const char *text, uint64_t *value);

/* ---- Assertions ----------------------------------------------------------------------------- */

/* Causes a failure with a known message, to detect a parser that sets no message. */
static const char *fresh_sentence(void) {
    tamis *none;
    assert_int_equal(tamis_create(&none, NULL), TAMIS_INVALID);
    return tamis_why();
}

static void assert_reads(whole_parser *parse, const char *text, uint64_t expected) {
    uint64_t value = ~expected;
    if (!parse(text, &value)) fail_msg("'%s' is refused: %s", text, tamis_why());
    if (value != expected)
        fail_msg("'%s' is read as %llu, not %llu", text, (unsigned long long)value,
                 (unsigned long long)expected);
}

static void assert_sentence_about(const char *text, const char *before) {
    char start[16];
    snprintf(start, sizeof start, "%.15s", text);
    if (strcmp(tamis_why(), before) == 0) fail_msg("'%s' is refused without a sentence", text);
    if (!strstr(tamis_why(), start)) fail_msg("'%s' is not in the sentence: %s", text, tamis_why());
}

static void assert_refuses(whole_parser *parse, const char *text) {
    const uint64_t untouched = 4711;
    uint64_t value = untouched;
    char before[512];
    snprintf(before, sizeof before, "%s", fresh_sentence());
    if (parse(text, &value)) fail_msg("'%s' is read as %llu", text, (unsigned long long)value);
    assert_int_equal(value, untouched);
    assert_sentence_about(text, before);
}

static void assert_reads_rate(const char *text, double expected) {
    double rate = -1;
    if (!tamis_parse_rate(text, &rate)) fail_msg("'%s' is refused: %s", text, tamis_why());
    if (rate != expected) fail_msg("'%s' is read as %.17g, not %.17g", text, rate, expected);
}

static void assert_refuses_rate(const char *text) {
    const double untouched = 47.11;
    double rate = untouched;
    char before[512];
    snprintf(before, sizeof before, "%s", fresh_sentence());
    if (tamis_parse_rate(text, &rate)) fail_msg("'%s' is read as %.17g", text, rate);
    assert_true(rate == untouched);
    assert_sentence_about(text, before);
}

/* ---- Counts --------------------------------------------------------------------------------- */

static void counts_in_every_form(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t count;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"007", 7},
        {"1000000", 1000000},
        {"10M", 10000000},
        {"10m", 10000000},
        {"1k", 1000},
        {"1K", 1000},
        {"1G", 1000000000},
        {"1T", 1000000000000},
        {"1P", 1000000000000000},
        {"1E", 1000000000000000000},
        {"64Ki", 65536},
        {"1Mi", 1048576},
        {"1Gi", 1073741824},
        {"1Ti", 1099511627776},
        {"1Pi", 1125899906842624},
        {"1Ei", 1152921504606846976},
        {"1e6", 1000000},
        {"1E6", 1000000},
        {"1e+6", 1000000},
        {"2.5e3", 2500},
        {"1e3K", 1000000},
        {"1.", 1},
        {"1.0", 1},
        {"1.5G", 1500000000},
        {"2^0", 1},
        {"2^10", 1024},
        {"2^33", 8589934592},
    };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_reads(tamis_parse_count, good[i].text, good[i].count);
}

/* A double would round some of these. */
static void counts_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t count;
    } good[] = {
        {"1.5M", 1500000},
        {"0.001K", 1},
        {".5K", 500},
        {"0.5Ki", 512},
        {"0.125Ki", 128},
        {"1.25Mi", 1310720},
        {"0.000001M", 1},
        {"1e-6M", 1},
        {"10e-1", 1},
        {"1e19", 10000000000000000000u},
        {"1.8e19", 18000000000000000000u},
        {"18.446744073709551615E", 18446744073709551615u},
        {"18446744073709551615", 18446744073709551615u},
        {"18446744073709551614", 18446744073709551614u},
        {"9007199254740993", 9007199254740993},       /* 2^53 + 1 */
        {"9223372036854775807", 9223372036854775807}, /* 2^63 - 1 */
        {"2^63", 9223372036854775808u},
        {"0.0000000000000000001e19", 1},
        {"0e400", 0},
        {"00000000000000000000000000000001", 1}, /* leading zeros do not count */
    };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_reads(tamis_parse_count, good[i].text, good[i].count);
}

static void every_power_of_two_and_its_neighbours(void **state) {
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        const uint64_t power = (uint64_t)1 << i;
        char text[32];
        snprintf(text, sizeof text, "2^%u", i);
        assert_reads(tamis_parse_count, text, power);
        assert_reads(tamis_parse_bytes, text, power);
        for (int off = -1; off <= 1; off++) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)(power + (uint64_t)off));
            assert_reads(tamis_parse_count, text, power + (uint64_t)off);
            assert_reads(tamis_parse_bytes, text, power + (uint64_t)off);
        }
    }
}

static const char *const not_whole_numbers[] = {
    "",
    " ",
    "-1",
    "+1",
    "-0",
    "nan",
    "NaN",
    "inf",
    "infinity",
    "0x10",
    "1e-320",
    "1e-1",
    "0.5",
    "1.5",
    "0.0001K",
    "0.1Ki",
    "15.999Ei",
    "1 %",
    "1%",
    "1/2",
    "1e+",
    "1e-",
    "1e1.5",
    "1..2",
    "1.2.3",
    ".",
    ".K",
    "K",
    "10Q",
    "10KK",
    "10 K",
    " 10",
    "10 ",
    "1,000",
    "1_000",
    "2^64",
    "2^-1",
    "2^",
    "2^1.5",
    "2^99999999999999999999",
    "3^2",
    "18446744073709551616", /* 2^64 */
    "99999999999999999999", /* more than 64 bits hold */
    "123456789012345678901234567890",
    "18446744073709552K", /* 2^64 by its suffix */
    "16Ei",
    "1e20",
    "1e400",
    "1e401",
    "1e99999999999999999999",
    "\xff",
    "1\xff",
    "\xd9\xa1", /* the Arabic digit one */
};

static void invalid_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(not_whole_numbers); i++)
        assert_refuses(tamis_parse_count, not_whole_numbers[i]);
    assert_refuses(tamis_parse_count, "4096B"); /* B is for bytes */
    assert_refuses(tamis_parse_count, "64KiB");
    assert_refuses(tamis_parse_count, "10MB");
}

/* An exponent without digits is a typo, not a unit: 1e must not become 10^18. */
static void an_exponent_needs_its_digits(void **state) {
    (void)state;
    assert_refuses(tamis_parse_count, "1e");
    assert_refuses(tamis_parse_bytes, "1e");
    assert_refuses(tamis_parse_count, "2.5e");
    assert_refuses_rate("1e");
    assert_refuses_rate("1/1e");
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void bytes_in_every_form(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"4096", 4096},
        {"4096B", 4096},
        {"64K", 65536},
        {"64KiB", 65536},
        {"64KB", 64000},
        {"2G", 2147483648},
        {"2GiB", 2147483648},
        {"2GB", 2000000000},
        {"10MB", 10000000},
        {"1.5M", 1572864},
        {"1.5MiB", 1572864},
        {"1.5MB", 1500000},
        {"0.5K", 512},
        {"1T", 1099511627776},
        {"1P", 1125899906842624},
        {"1EB", 1000000000000000000},
        {"15E", 17293822569102704640u},
        {"1e6", 1000000},
        {"2^33", 8589934592},
        {"18446744073709551615", 18446744073709551615u},
        {"18446744073709551615B", 18446744073709551615u},
    };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_reads(tamis_parse_bytes, good[i].text, good[i].bytes);
}

static void invalid_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(not_whole_numbers); i++)
        assert_refuses(tamis_parse_bytes, not_whole_numbers[i]);
    assert_refuses(tamis_parse_bytes, "64Ki"); /* bytes need KiB */
    assert_refuses(tamis_parse_bytes, "16E");
    assert_refuses(tamis_parse_bytes, "1BB");
    assert_refuses(tamis_parse_bytes, "B");
    assert_refuses(tamis_parse_bytes, "0.5B");
}

/* ---- Rates ---------------------------------------------------------------------------------- */

static void rates_in_every_form(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double rate;
    } good[] = {
        {"0.01", 0.01},
        {".01", 0.01},
        {"1%", 0.01},
        {"0.1%", 0.001},
        {"99.9%", 0.999},
        {"1e-6", 1e-6},
        {"1E-6", 1e-6},
        {"1.5e-3", 0.0015},
        {"100e-4", 0.01},
        {"1/1000", 1.0 / 1000},
        {"1/3", 1.0 / 3},
        {"1/1e6", 1e-6},
        {"1/1M", 1e-6},
        {"1/64Ki", 1.0 / 65536},
        {"4/5", 0.8},
        {"2^-1", 0.5},
        {"2^-16", 1.0 / 65536},
        {"2^-39", 1.0 / 549755813888},
        {"0.5", 0.5},
        {"0.999999", 0.999999},
        {"0.999999999999999", 0.999999999999999},
        {"1e-12", 1e-12},
        {"0.000000000001", 1e-12},
        {"1/1000000000000", 1e-12},
        {"0.0000000001%", 1e-12},
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) assert_reads_rate(good[i].text, good[i].rate);
}

static void invalid_rates(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "0",
        "0.0",
        "0%",
        "0e5",
        "1",
        "1.0",
        "1.0000001",
        "2",
        "1e9",
        "-0.01",
        "-1",
        "+0.01",
        "nan",
        "inf",
        "-inf",
        "0x1p-3",
        "1e-13",
        "9.99e-13",
        "1e-320",
        "1e-400",
        "1e-401",
        "100%",
        "100.1%",
        "1 %",
        "1%%",
        "%",
        "1e",
        "1..2",
        "0.01.",
        "10Q",
        "1K",
        "1/0",
        "0/5",
        "5/4",
        "5/5",
        "1/",
        "/2",
        "1/2/3",
        "1/-2",
        "1/2%",
        "1//2",
        "2^0",
        "2^1",
        "2^-40",
        "2^-1000",
        "2^-1001",
        "2^-99999999999999999999",
        "2^-",
        "2^-1%",
        "3^-2",
        "0,01",
        " 0.01",
        "0.01 ",
        "one percent",
        "99999999999999999999e-20",
        "\xff",
        "1e400",
        "1/1e400",
        "1e-9999999999",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) assert_refuses_rate(bad[i]);
}

/* Rates against the C library's strtod, over all magnitudes: at most the last bit of a double may
 * differ, and nothing in the range is refused. */
static void rates_are_as_near_as_a_double_comes(void **state) {
    (void)state;
    int read = 0;
    for (int exponent = -12; exponent <= -1; exponent++)
        for (int digits = 100; digits < 1000; digits += 7) {
            char text[40];
            double rate;
            snprintf(text, sizeof text, "%d.%02de%d", digits / 100, digits % 100, exponent);
            if (!tamis_parse_rate(text, &rate)) fail_msg("'%s' is refused: %s", text, tamis_why());
            const double library = strtod(text, NULL);
            if (fabs(rate - library) > library * 2.3e-16)
                fail_msg("'%s' is read as %.17g, not %.17g", text, rate, library);
            read++;
        }
    assert_true(read > 1000);
}

/* ---- Any text ------------------------------------------------------------------------------- */

/* Long texts are read to the end or refused; messages quote only a part. */
static void long_texts_are_refused_with_a_short_sentence(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    static const char fill[] = "9.e-%/K^x";
    for (const char *c = fill; *c; c++) {
        memset(text, *c, LONG);
        text[LONG] = '\0';
        assert_refuses(tamis_parse_count, text);
        assert_refuses(tamis_parse_bytes, text);
        assert_refuses_rate(text);
        assert_true(strlen(tamis_why()) < 200);
    }
    memset(text, '0', LONG); /* the one long text that is a number */
    assert_reads(tamis_parse_count, text, 0);
    assert_refuses_rate(text);
    free(text);
}

/* Every text of four meaningful characters: no crash, no text that is both a count and a rate, and
 * rates are in the range. */
static void all_short_texts_end_well(void **state) {
    (void)state;
    static const char letters[] = "0129.eE+-%/^KkiB ";
    const size_t n = sizeof letters - 1;
    unsigned read = 0, refused = 0;
    for (size_t i = 0; i < n * n * n * n; i++) {
        const char text[5] = {letters[i % n], letters[i / n % n], letters[i / n / n % n],
                              letters[i / n / n / n], '\0'};
        uint64_t whole;
        double rate = 0.5;
        const bool is_count = tamis_parse_count(text, &whole);
        const bool is_bytes = tamis_parse_bytes(text, &whole);
        const bool is_rate = tamis_parse_rate(text, &rate);
        assert_true(rate >= 1e-12 && rate < 1);
        if (is_count && is_rate) fail_msg("'%s' is both a count and a rate", text);
        read += (unsigned)is_count + is_bytes + is_rate;
        refused += 3u - ((unsigned)is_count + is_bytes + is_rate);
    }
    assert_true(read > 1000 && refused > 100000);
}

/* A locale's decimal comma must not change what a point means. Without such a locale, only the C
 * locale is tested. */
static void the_locale_does_not_matter(void **state) {
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "tr_TR.UTF-8"};
    char *saved = strdup(setlocale(LC_ALL, NULL));
    for (size_t i = 0; i < COUNT_OF(commas); i++) {
        if (!setlocale(LC_ALL, commas[i])) continue;
        print_message("# with locale %s\n", commas[i]);
        counts_in_every_form(state);
        counts_are_exact(state);
        invalid_counts(state);
        bytes_in_every_form(state);
        rates_in_every_form(state);
        invalid_rates(state);
    }
    assert_non_null(setlocale(LC_ALL, "C"));
    rates_in_every_form(state);
    invalid_rates(state);
    setlocale(LC_ALL, saved);
    free(saved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_in_every_form),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(every_power_of_two_and_its_neighbours),
        cmocka_unit_test(invalid_counts),
        cmocka_unit_test(an_exponent_needs_its_digits),
        cmocka_unit_test(bytes_in_every_form),
        cmocka_unit_test(invalid_bytes),
        cmocka_unit_test(rates_in_every_form),
        cmocka_unit_test(invalid_rates),
        cmocka_unit_test(rates_are_as_near_as_a_double_comes),
        cmocka_unit_test(long_texts_are_refused_with_a_short_sentence),
        cmocka_unit_test(all_short_texts_end_well),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
