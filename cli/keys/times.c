/* SPDX-License-Identifier: MIT */
/* times.c: the time that a text says.
 *
 *     1794986100, 1794986100.25            seconds since 1970, or ms, us, ns
 *     2026-11-18T07:15:00.25+01:00         ISO 8601 and RFC 3339
 *     18/Nov/2026:07:15:00 +0100           the common log format of web servers
 *
 * Strict: what is not wholly a time is none. strptime is not used because it goes by the locale,
 * takes 31 February, and knows no fractions. */
#include "cli/keys/times.h"

#include <string.h>

#include "cli/keys/steps.h"

static const int64_t second = 1000000; /* in microseconds */
enum { DAY = 86400 };

bool time_format_named(const char *name, enum time_format *format) {
    static const char *const names[] = {"auto", "s", "ms", "us", "ns", "iso", "clf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *format = (enum time_format)i;
            return true;
        }
    return false;
}

/* ---- Pieces of text ---- */

struct reader {
    const char *at, *end;
};

static bool take(struct reader *text, char byte) {
    if (text->at == text->end || *text->at != byte) return false;
    text->at++;
    return true;
}

static bool is_at_digit(const struct reader *text) {
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

/* Exactly `n` digits. */
static bool take_number(struct reader *text, int n, int *number) {
    for (*number = 0; n > 0; n--) {
        if (!is_at_digit(text)) return false;
        *number = *number * 10 + (*text->at++ - '0');
    }
    return true;
}

/* Digits after a point: what they are of `unit`, without what is less than one. */
static bool take_fraction(struct reader *text, int64_t unit, int64_t *part) {
    if (!is_at_digit(text)) return false;
    for (*part = 0; is_at_digit(text); text->at++) {
        unit /= 10;
        *part += (*text->at - '0') * unit;
    }
    return true;
}

/* ---- The calendar ---- */

static int days_in(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

static bool is_date(int year, int month, int day) {
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days_in(year, month);
}

/* Days from 1970 on. Years start in March here, so that a leap day is the last of its year. */
static int64_t days_since_1970(int year, int month, int day) {
    const int64_t y = year - (month <= 2), m = month + (month > 2 ? -3 : 9);
    const int64_t in_year = (153 * m + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468;
}

struct moment {
    int year, month, day, hour, minute, second;
    int offset; /* of its zone, in minutes */
    int64_t us; /* after the second */
};

/* A leap second is the first of the next minute, as POSIX counts. There is one only at the end of a
 * day in UTC. */
static bool moment_us(const struct moment *t, int64_t *us) {
    if (!is_date(t->year, t->month, t->day) || t->hour > 23 || t->minute > 59 || t->second > 60)
        return false;
    const int64_t minutes = t->hour * 60 + t->minute - t->offset;
    const int64_t seconds =
        days_since_1970(t->year, t->month, t->day) * DAY + minutes * 60 + t->second;
    if (t->second == 60 && seconds % DAY != 0) return false;
    *us = seconds * second + t->us;
    return true;
}

/* Z, +hh:mm, +hhmm or +hh. */
static bool take_zone(struct reader *text, int *offset) {
    int hours, minutes = 0;
    *offset = 0;
    if (take(text, 'Z') || take(text, 'z')) return true;
    const bool is_west = take(text, '-');
    if (!is_west && !take(text, '+')) return false;
    if (!take_number(text, 2, &hours)) return false;
    if (take(text, ':') || is_at_digit(text))
        if (!take_number(text, 2, &minutes)) return false;
    *offset = (is_west ? -1 : 1) * (hours * 60 + minutes);
    return hours <= 23 && minutes <= 59;
}

/* ---- Formats ---- */

/* hh:mm:ss, and in ISO 8601 also hh:mm and a fraction. */
static bool take_clock(struct reader *text, bool is_iso, struct moment *t) {
    if (!take_number(text, 2, &t->hour) || !take(text, ':') || !take_number(text, 2, &t->minute))
        return false;
    if (!take(text, ':')) return is_iso;
    if (!take_number(text, 2, &t->second)) return false;
    const bool has_fraction = is_iso && (take(text, '.') || take(text, ','));
    return !has_fraction || take_fraction(text, second, &t->us);
}

/* The zone and the end; no zone is UTC. */
static bool finish(struct reader *text, struct moment *t, int64_t *us) {
    if (text->at < text->end) {
        take(text, ' ');
        if (!take_zone(text, &t->offset)) return false;
    }
    return text->at == text->end && moment_us(t, us);
}

/* A date alone is its midnight. */
static bool parse_iso(struct reader text, int64_t *us) {
    struct moment t = {0};
    if (!take_number(&text, 4, &t.year) || !take(&text, '-') || !take_number(&text, 2, &t.month) ||
        !take(&text, '-') || !take_number(&text, 2, &t.day))
        return false;
    if (text.at == text.end) return moment_us(&t, us);
    if (!take(&text, 'T') && !take(&text, 't') && !take(&text, ' ')) return false;
    return take_clock(&text, true, &t) && finish(&text, &t, us);
}

/* 1 to 12, or 0. */
static int month_named(const char *at, const char *end) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; end - at >= 3 && i < 12; i++)
        if (memcmp(at, names + 3 * i, 3) == 0) return i + 1;
    return 0;
}

static bool parse_clf(struct reader text, int64_t *us) {
    struct moment t = {0};
    if (!take_number(&text, 2, &t.day) || !take(&text, '/')) return false;
    t.month = month_named(text.at, text.end);
    if (t.month == 0) return false;
    text.at += 3;
    return take(&text, '/') && take_number(&text, 4, &t.year) && take(&text, ':') &&
           take_clock(&text, false, &t) && finish(&text, &t, us);
}

/* Below 10^11 they are seconds (until the year 5138), below 10^14 milliseconds, below 10^17
 * microseconds: in each unit from 1973 on, and until then seconds. */
static enum time_format unit_of(uint64_t number) {
    const uint64_t first = 100000000000;
    return number < first             ? TIME_S
           : number < first * 1000    ? TIME_MS
           : number < first * 1000000 ? TIME_US
                                      : TIME_NS;
}

static bool parse_count(enum time_format format, struct reader text, int64_t *us) {
    enum { MAX_DIGITS = 19 };                  /* fewer than 2^64 */
    static const uint64_t last = 253402300799; /* the last second of the year 9999 */
    static const uint64_t per_second[] = {
        [TIME_S] = 1, [TIME_MS] = 1000, [TIME_US] = 1000000, [TIME_NS] = 1000000000};
    const char *const start = text.at;
    uint64_t number = 0;
    int64_t fraction = 0;
    for (; is_at_digit(&text); text.at++) {
        if (text.at - start == MAX_DIGITS) return false;
        number = number * 10 + (uint64_t)(*text.at - '0');
    }
    if (text.at == start) return false;
    const uint64_t per = per_second[format == TIME_AUTO ? unit_of(number) : format];
    if (take(&text, '.') && !take_fraction(&text, second / (int64_t)per, &fraction)) return false;
    if (text.at < text.end || number / per > last) return false;
    *us = (int64_t)(number / per) * second + (int64_t)(number % per) * second / (int64_t)per +
          fraction;
    return true;
}

/* ---- All of them ---- */

/* Without blanks, and without the brackets that logs have around times. Where fields are cut at
 * blanks, only one of them may be there. */
static struct reader bare(struct tamis_key text) {
    struct reader reader = {text.bytes, (const char *)text.bytes + text.len};
    while (reader.at < reader.end && is_blank(*reader.at)) reader.at++;
    while (reader.at < reader.end && is_blank(reader.end[-1])) reader.end--;
    take(&reader, '[');
    if (reader.at < reader.end && reader.end[-1] == ']') reader.end--;
    return reader;
}

bool time_parse(enum time_format format, struct tamis_key text, int64_t *us) {
    const struct reader reader = bare(text);
    if (format == TIME_AUTO && reader.end - reader.at > 4) {
        if (reader.at[4] == '-') format = TIME_ISO;
        if (reader.at[2] == '/') format = TIME_CLF;
    }
    return format == TIME_ISO   ? parse_iso(reader, us)
           : format == TIME_CLF ? parse_clf(reader, us)
                                : parse_count(format, reader, us);
}

bool time_lacks_year(struct tamis_key text) {
    const struct reader reader = bare(text);
    return month_named(reader.at, reader.end) > 0 && reader.end - reader.at > 3 &&
           reader.at[3] == ' ';
}
