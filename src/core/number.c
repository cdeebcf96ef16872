/* SPDX-License-Identifier: MIT */
/* Numbers as people type them: 10M, 64KiB, 1e-6, 1%, 1/1000, 2^33.
 *
 * Parsed by hand because strtod depends on the locale, rounds counts above 2^53 and accepts hex
 * and "nan". A decimal is kept as digits and a power of ten, so 1.5M and 1e6 are exact. */
#include <ctype.h>
#include <string.h>

#include "base/status.h"

typedef struct decimal {
    uint64_t digits;
    int exponent; /* of ten */
} decimal;

enum { MAX_EXPONENT = 400 }; /* of input; the ranges of values are checked later */

static bool read_digits(const char **p, uint64_t *digits) {
    if (!isdigit((unsigned char)**p)) return false;
    for (*digits = 0; isdigit((unsigned char)**p); ++*p) {
        const uint64_t digit = (uint64_t)(**p - '0');
        if (*digits > (UINT64_MAX - digit) / 10) return false;
        *digits = *digits * 10 + digit;
    }
    return true;
}

/* Reads 12, 1.5, .5 or 1e-6 and leaves *p after it. */
static bool read_decimal(const char **p, decimal *out) {
    const char *s = *p;
    uint64_t digits = 0;
    int exponent = 0, seen = 0;
    bool after_point = false;
    for (;; s++) {
        if (*s == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!isdigit((unsigned char)*s)) break;
        const uint64_t digit = (uint64_t)(*s - '0');
        if (digits > (UINT64_MAX - digit) / 10) return false;
        digits = digits * 10 + digit;
        exponent -= after_point;
        seen++;
    }
    if (!seen || exponent < -MAX_EXPONENT) return false;
    if ((*s == 'e' || *s == 'E') && (isdigit((unsigned char)s[1]) || s[1] == '-' || s[1] == '+')) {
        const bool is_negative = s[1] == '-';
        s += isdigit((unsigned char)s[1]) ? 1 : 2;
        uint64_t power;
        if (!read_digits(&s, &power) || power > MAX_EXPONENT) return false;
        exponent += is_negative ? -(int)power : (int)power;
    }
    *out = (decimal){digits, exponent};
    *p = s;
    return true;
}

/* digits * 10^exponent * unit, when that is a whole number below 2^64. */
static bool to_whole(decimal d, uint64_t unit, uint64_t *out) {
    if (d.digits == 0) return *out = 0, true;
    for (; d.exponent < 0; d.exponent++) {
        if (d.digits % 10 == 0)
            d.digits /= 10;
        else if (unit % 10 == 0)
            unit /= 10;
        else if (d.digits % 5 == 0 && unit % 2 == 0)
            d.digits /= 5, unit /= 2;
        else
            return false;
    }
    for (; d.exponent > 0; d.exponent--) {
        if (d.digits > UINT64_MAX / 10) return false;
        d.digits *= 10;
    }
    if (unit && d.digits > UINT64_MAX / unit) return false;
    *out = d.digits * unit;
    return true;
}

static double to_double(decimal d) {
    double x = (double)d.digits;
    for (; d.exponent >= 22; d.exponent -= 22) x *= 1e22;
    for (; d.exponent <= -22; d.exponent += 22) x /= 1e22;
    double power = 1; /* at most 10^21, which a double holds exactly */
    for (int i = d.exponent < 0 ? -d.exponent : d.exponent; i > 0; i--) power *= 10;
    return d.exponent < 0 ? x / power : x * power;
}

/* Reads the exponent of 2^N; false when the text has another form. */
static bool is_power_of_two(const char *text, bool *is_negative, uint64_t *exponent) {
    if (strncmp(text, "2^", 2) != 0) return false;
    const char *s = text + 2;
    *is_negative = *s == '-';
    s += *is_negative;
    return read_digits(&s, exponent) && *s == '\0';
}

static uint64_t power_of(uint64_t base, unsigned n) {
    uint64_t x = 1;
    while (n--) x *= base;
    return x;
}

/* The factor of a suffix, 0 when it is invalid. In counts a bare letter is decimal (10M keys); in
 * bytes it is binary (64K of memory), as in other tools, and B makes it decimal. */
static uint64_t unit_of(const char *suffix, bool is_bytes) {
    static const char letters[] = "KMGTPE";
    if (*suffix == '\0') return 1;
    if (is_bytes && strcmp(suffix, "B") == 0) return 1;
    const char *letter = strchr(letters, toupper((unsigned char)*suffix));
    if (!letter || *suffix == 'e') return 0; /* 1e is a truncated exponent */
    const unsigned n = (unsigned)(letter - letters) + 1;
    const char *rest = suffix + 1;
    if (*rest == '\0') return power_of(is_bytes ? 1024 : 1000, n);
    if (strcmp(rest, is_bytes ? "iB" : "i") == 0) return power_of(1024, n);
    if (is_bytes && strcmp(rest, "B") == 0) return power_of(1000, n);
    return 0;
}

static bool parse_whole(const char *text, bool is_bytes, uint64_t *out) {
    bool is_negative;
    uint64_t exponent;
    if (is_power_of_two(text, &is_negative, &exponent) && !is_negative && exponent < 64) {
        *out = (uint64_t)1 << exponent;
        return true;
    }
    const char *s = text;
    decimal d;
    if (read_decimal(&s, &d)) {
        const uint64_t unit = unit_of(s, is_bytes);
        if (unit && to_whole(d, unit, out)) return true;
    }
    tamis__fail(TAMIS_INVALID, "'%.40s' is not a %s (such as %s), a whole number below 2^64", text,
                is_bytes ? "number of bytes" : "count",
                is_bytes ? "4096, 64KiB or 2G" : "1000000, 10M or 1e6");
    return false;
}

bool tamis_parse_count(const char *text, uint64_t *count) {
    return parse_whole(text, false, count);
}

bool tamis_parse_bytes(const char *text, uint64_t *bytes) {
    return parse_whole(text, true, bytes);
}

static bool read_rate(const char *text, double *rate) {
    bool is_negative;
    uint64_t exponent;
    decimal top, bottom;
    if (is_power_of_two(text, &is_negative, &exponent)) {
        if (exponent > 1000) return false;
        double x = 1;
        while (exponent--) x *= is_negative ? 0.5 : 2;
        *rate = x;
        return true;
    }
    const char *s = text;
    if (!read_decimal(&s, &top)) return false;
    if (strcmp(s, "%") == 0) {
        top.exponent -= 2;
    } else if (*s == '/') {
        s++;
        if (!read_decimal(&s, &bottom)) return false;
        const uint64_t unit = unit_of(s, false);
        if (!unit || bottom.digits == 0) return false;
        *rate = to_double(top) / (to_double(bottom) * (double)unit);
        return true;
    } else if (*s) {
        return false;
    }
    *rate = to_double(top);
    return true;
}

bool tamis_parse_rate(const char *text, double *rate) {
    double x;
    if (!read_rate(text, &x)) {
        tamis__fail(TAMIS_INVALID, "'%.40s' is not a rate (such as 0.01, 1%%, 1e-6 or 1/1000)",
                    text);
        return false;
    }
    if (!(x >= 1e-12 && x < 1)) {
        tamis__fail(TAMIS_INVALID, "a rate must be from 1e-12 to below 1, not %.40s", text);
        return false;
    }
    *rate = x;
    return true;
}
