/* SPDX-License-Identifier: MIT */
/* The times that lines say: every format, every day of 400 years, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/keys/times.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static struct tamis_key key_of(const char *text) {
    return (struct tamis_key){.bytes = text, .len = strlen(text)};
}

/* 2026-11-18 07:15:00 UTC, by GNU date. */
#define THEN INT64_C(1794986100000000)

struct case_of {
    enum time_format format;
    const char *text;
    int64_t us;
};

static void expect(const struct case_of *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int64_t us = 1;
        if (!time_parse(cases[i].format, key_of(cases[i].text), &us) || us != cases[i].us)
            fail_msg("\"%s\" is %" PRId64 ", not %" PRId64, cases[i].text, us, cases[i].us);
    }
}

static void texts(void **unused) {
    (void)unused;
    static const struct case_of cases[] = {
        {TIME_ISO, "2026-11-18T07:15:00Z", THEN},
        {TIME_AUTO, "2026-11-18T07:15:00Z", THEN},
        {TIME_AUTO, "2026-11-18t07:15:00z", THEN},
        {TIME_AUTO, "2026-11-18 07:15:00", THEN},
        {TIME_AUTO, "2026-11-18 07:15", THEN},
        {TIME_AUTO, "2026-11-18 07:15:00 +0000", THEN},
        {TIME_AUTO, "[2026-11-18T08:15:00+01:00]", THEN},
        {TIME_AUTO, "2026-11-18T08:15:00+01", THEN},
        {TIME_AUTO, "2026-11-17T23:45:00-0730", THEN},
        {TIME_AUTO, "2026-11-19T07:14:00+23:59", THEN},
        {TIME_AUTO, "2026-11-18T07:15:00-00:00", THEN},
        {TIME_AUTO, "2026-11-18", THEN - INT64_C(26100000000)},
        {TIME_AUTO, "2026-11-18T07:15:00.5Z", THEN + 500000},
        {TIME_AUTO, "2026-11-18T07:15:00,000001", THEN + 1},
        {TIME_AUTO, "2026-11-18T07:15:00.123456789Z", THEN + 123456},
        {TIME_AUTO, "  2026-11-18T07:15:00Z\t", THEN},
        {TIME_CLF, "18/Nov/2026:07:15:00 +0000", THEN},
        {TIME_AUTO, "18/Nov/2026:07:15:00 +0000", THEN},
        {TIME_AUTO, "[18/Nov/2026:07:15:00 +0000]", THEN},
        {TIME_AUTO, "[18/Nov/2026:08:15:00 +0100]", THEN},
        {TIME_AUTO, "[18/Nov/2026:07:15:00", THEN},
        {TIME_AUTO, "1970-01-01T00:00:00Z", 0},
        {TIME_AUTO, "1969-12-31T23:59:59.75Z", -250000},
        {TIME_AUTO, "0001-01-01", INT64_C(-62135596800) * 1000000},
        {TIME_AUTO, "9999-12-31T23:59:59.999999", INT64_C(253402300799) * 1000000 + 999999},
        {TIME_AUTO, "2000-02-29", INT64_C(951782400) * 1000000},
        /* Leap seconds: of 2016, here and in California. */
        {TIME_AUTO, "2016-12-31T23:59:60Z", INT64_C(1483228800) * 1000000},
        {TIME_AUTO, "2016-12-31T15:59:60.5-08:00", INT64_C(1483228800) * 1000000 + 500000},
        {TIME_AUTO, "31/Dec/2016:23:59:60 +0000", INT64_C(1483228800) * 1000000},
    };
    expect(cases, COUNT_OF(cases));
}

static void numbers(void **unused) {
    (void)unused;
    static const struct case_of cases[] = {
        {TIME_AUTO, "1794986100", THEN},
        {TIME_AUTO, "1794986100.25", THEN + 250000},
        {TIME_AUTO, "1794986100000", THEN},
        {TIME_AUTO, "1794986100000.5", THEN + 500},
        {TIME_AUTO, "1794986100000000", THEN},
        {TIME_AUTO, "1794986100000000.9", THEN},
        {TIME_AUTO, "1794986100000000999", THEN},
        {TIME_AUTO, "0", 0},
        {TIME_AUTO, "99999999999", INT64_C(99999999999000000)},
        {TIME_AUTO, "100000000000", INT64_C(100000000000000)},
        {TIME_AUTO, "99999999999999", INT64_C(99999999999999000)},
        {TIME_AUTO, "100000000000000", INT64_C(100000000000000)},
        {TIME_AUTO, "99999999999999999", INT64_C(99999999999999999)},
        {TIME_AUTO, "100000000000000000", INT64_C(100000000000000)},
        {TIME_AUTO, "9999999999999999999", INT64_C(9999999999999999)},
        {TIME_S, "253402300799", INT64_C(253402300799000000)},
        {TIME_MS, "1500", 1500000},
        {TIME_US, "1500", 1500},
        {TIME_NS, "1500", 1},
        {TIME_S, "1.5", 1500000},
        {TIME_S, "0000000000000000001", 1000000},
    };
    expect(cases, COUNT_OF(cases));
}

static void refused(void **unused) {
    (void)unused;
    static const struct {
        enum time_format format;
        const char *text;
    } bad[] = {
        {TIME_AUTO, ""},
        {TIME_AUTO, "[]"},
        {TIME_AUTO, "-"},
        {TIME_AUTO, "-1"},
        {TIME_AUTO, "+1"},
        {TIME_AUTO, "1."},
        {TIME_AUTO, ".5"},
        {TIME_AUTO, "1e9"},
        {TIME_AUTO, "1 2"},
        {TIME_AUTO, "10000000000000000000"},
        {TIME_AUTO, "99999999999999999999999999"},
        {TIME_S, "253402300800"},
        {TIME_MS, "253402300800000"},
        {TIME_S, "2026-11-18"},
        {TIME_ISO, "1794986100"},
        {TIME_CLF, "2026-11-18"},
        {TIME_ISO, "18/Nov/2026:07:15:00 +0000"},
        {TIME_AUTO, "0000-01-01"},
        {TIME_AUTO, "2026-00-10"},
        {TIME_AUTO, "2026-13-10"},
        {TIME_AUTO, "2026-11-00"},
        {TIME_AUTO, "2026-11-31"},
        {TIME_AUTO, "2026-02-29"},
        {TIME_AUTO, "2100-02-29"},
        {TIME_AUTO, "2026-1-18"},
        {TIME_AUTO, "2026-11-18T"},
        {TIME_AUTO, "2026-11-18T7:15:00"},
        {TIME_AUTO, "2026-11-18T24:00:00"},
        {TIME_AUTO, "2026-11-18T07:60:00"},
        {TIME_AUTO, "2026-11-18T07:15:61"},
        {TIME_AUTO, "2026-11-18T07:15:60Z"},
        {TIME_AUTO, "2016-12-31T23:59:60+01:00"},
        {TIME_AUTO, "2026-11-18T07:15:00."},
        {TIME_AUTO, "2026-11-18T07:15:00+"},
        {TIME_AUTO, "2026-11-18T07:15:00+1"},
        {TIME_AUTO, "2026-11-18T07:15:00+01:"},
        {TIME_AUTO, "2026-11-18T07:15:00+24:00"},
        {TIME_AUTO, "2026-11-18T07:15:00+01:60"},
        {TIME_AUTO, "2026-11-18T07:15:00 CET"},
        {TIME_AUTO, "2026-11-18T07:15:00Zulu"},
        {TIME_AUTO, "2026-11-18T07:15:00  Z"},
        {TIME_AUTO, "2026/11/18 07:15:00"},
        {TIME_AUTO, "18/nov/2026:07:15:00 +0000"},
        {TIME_AUTO, "18/Nox/2026:07:15:00 +0000"},
        {TIME_AUTO, "31/Nov/2026:07:15:00 +0000"},
        {TIME_AUTO, "18/Nov/2026 07:15:00 +0000"},
        {TIME_AUTO, "18/Nov/2026:07:15 +0000"},
        {TIME_AUTO, "18/Nov/2026:07:15:00.5 +0000"},
        {TIME_AUTO, "Nov 18 07:15:00"},
        {TIME_AUTO, "18/11/2026"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int64_t us;
        if (time_parse(bad[i].format, key_of(bad[i].text), &us))
            fail_msg("\"%s\" was taken for %" PRId64, bad[i].text, us);
    }
    /* And every beginning of a good one that is no date, hour or minute. */
    static const char good[] = "2026-11-18T07:15:00.5+01:30";
    for (size_t len = 0; len < strlen(good); len++) {
        int64_t us;
        const bool is_whole = len == 10 || len == 16 || len == 19 || len == 21 || len == 24;
        const bool is_year = len > 0 && len < 5;
        const struct tamis_key start = {good, len};
        if (time_parse(TIME_AUTO, start, &us) != (is_whole || is_year))
            fail_msg("the first %zu bytes", len);
    }
}

/* From one day to the next, through four hundred years, by the rules of the calendar and nothing
 * else. */
static void every_day(void **unused) {
    (void)unused;
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t wanted = INT64_C(-11676096000) * 1000000; /* 1600-01-01, by GNU date */
    for (int year = 1600; year < 2000; year++)
        for (int month = 1; month <= 12; month++)
            for (int day = 1; day <= 31; day++) {
                const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year == 1600);
                const bool is_there = day <= days[month - 1] + (month == 2 && is_leap);
                char text[40];
                int64_t us;
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                if (time_parse(TIME_AUTO, key_of(text), &us) != is_there ||
                    (is_there && us != wanted))
                    fail_msg("%s", text);
                if (is_there) wanted += INT64_C(86400) * 1000000;
            }
    assert_int_equal(wanted, INT64_C(946684800) * 1000000);
}

static void names(void **unused) {
    (void)unused;
    enum time_format format = TIME_S;
    assert_true(time_format_named("auto", &format));
    assert_int_equal(format, TIME_AUTO);
    assert_true(time_format_named("clf", &format));
    assert_int_equal(format, TIME_CLF);
    assert_false(time_format_named("syslog", &format));
    assert_true(time_lacks_year(key_of("Nov 18 07:15:00")));
    assert_true(time_lacks_year(key_of("[Nov  8")));
    assert_false(time_lacks_year(key_of("Nov")));
    assert_false(time_lacks_year(key_of("November 8")));
    assert_false(time_lacks_year(key_of("18/Nov/2026")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),     cmocka_unit_test(numbers), cmocka_unit_test(refused),
        cmocka_unit_test(every_day), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
