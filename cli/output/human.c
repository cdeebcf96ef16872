/* SPDX-License-Identifier: MIT */
/* human.c: numbers for people. Programs get theirs from --json. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct human human_words(const char *format, ...) {
    struct human human;
    va_list values;
    va_start(values, format);
    vsnprintf(human.text, sizeof human.text, format, values);
    va_end(values);
    return human;
}

struct human human_digits(uint64_t count) {
    return human_words("%" PRIu64, count);
}

struct human human_count(uint64_t count) {
    const struct human digits = human_digits(count);
    const int len = (int)strlen(digits.text);
    struct human human;
    char *to = human.text;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) *to++ = ',';
        *to++ = digits.text[i];
    }
    *to = '\0';
    return human;
}

struct human human_number(uint64_t count, const char *thing) {
    return human_words("%s %s%s", human_count(count).text, thing, count == 1 ? "" : "s");
}

struct human human_limit(uint64_t limit) {
    unsigned power = 0;
    while (power < 63 && limit >> power > 1) power++;
    if (limit == UINT64_MAX) return human_words("2^64-1");
    const bool is_power = power >= 20 && limit == (uint64_t)1 << power;
    return is_power ? human_words("2^%u", power) : human_count(limit);
}

struct human human_margin(double error) {
    /* People read "give or take" as nearly always; one standard error would be two times in
     * three. */
    return human_count((uint64_t)(2 * error + 0.5));
}

struct human human_decimal(double value) {
    if (value >= 999.5 && value < 1e18) return human_count((uint64_t)(value + 0.5));
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return value < 1e18 ? human_words("%.*f", decimals, value) : human_words("%.3g", value);
}

struct human human_expected(double count) {
    return count < 0.1 && count != 0 ? human_words("%.1g", count) : human_decimal(count);
}

struct human human_bytes(uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return human_words("%" PRIu64 " B", bytes);
    size_t unit = 0;
    double value = (double)bytes / 1024;
    /* From 999.5 on three digits would show the next thousand; the next unit reads better. */
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    return human_words("%s %s", human_decimal(value).text, units[unit]);
}

/* As many digits more than usual as show that 1 is not quite reached: 1 is for all of it. */
static int digits_below_one(double share, int usual) {
    const int max = 17;
    double missing = 0.5;
    for (int i = 0; i < usual; i++) missing /= 10;
    for (; share < 1 && 1 - share <= missing && usual < max; usual++) missing /= 10;
    return usual;
}

struct human human_share(double share) {
    const bool is_percent = share >= 1e-4 || share <= 0;
    return is_percent ? human_words("%.*g %%", digits_below_one(share, 3), 100 * share)
                      : human_words("%.3g", share);
}

struct human human_part(double part) {
    const int decimals = digits_below_one(part, 4), more = digits_below_one(1 - part, 4);
    return human_words("%.*f", decimals > more ? decimals : more, part);
}

/* Rounds to three digits, so that 1 in 106,183 does not claim to know more than it does. */
static uint64_t three_digits(double value) {
    uint64_t whole = (uint64_t)(value + 0.5), step = 1;
    while (whole / step >= 1000) step *= 10;
    return (whole + step / 2) / step * step;
}

static struct human one_in(double rate) {
    const double n = 1 / rate;
    if (n < 9.95) return human_words("1 in %.2g", n);
    if (n < 1e15) return human_words("1 in %s", human_count(three_digits(n)).text);
    return human_words("1 in %.3g", n);
}

struct human human_rate(double rate) {
    if (!(rate > 0)) return (struct human){"0"};
    return human_words("%s (%s)", human_share(rate).text, one_in(rate).text);
}

struct human human_key(const struct tamis_key *key) {
    /* A key may be any bytes and of any length: what is shown is plain text of one line. */
    enum { ESCAPE = sizeof "\\x1b" - 1, ROOM = 48 - sizeof "..." };
    struct human human;
    char *to = human.text;
    const unsigned char *bytes = key->bytes;
    size_t i = 0;
    for (; i < key->len && to - human.text <= ROOM - ESCAPE; i++) {
        if (bytes[i] >= ' ' && bytes[i] < 0x7f)
            *to++ = (char)bytes[i];
        else
            to += snprintf(to, ESCAPE + 1, "\\x%02x", bytes[i]);
    }
    strcpy(to, i < key->len ? "..." : "");
    return human;
}

void human_text(FILE *out, const char *text) {
    /* A note comes from the maker of the image: it must not move the cursor of a terminal. */
    for (const char *at = text; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '\n')
            fputs("\\n", out);
        else if (byte == '\t')
            fputs("\\t", out);
        else if (byte < ' ' || byte == 0x7f)
            fprintf(out, "\\x%02x", byte);
        else
            putc(byte, out);
    }
}
