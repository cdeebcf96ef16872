/* SPDX-License-Identifier: MIT */
/* human.c: numbers for people. Programs get theirs from --json. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

struct human human_digits(uint64_t count) {
    struct human human;
    snprintf(human.text, sizeof human.text, "%" PRIu64, count);
    return human;
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
    struct human human = human_count(count);
    const size_t len = strlen(human.text);
    snprintf(human.text + len, sizeof human.text - len, " %s%s", thing, count == 1 ? "" : "s");
    return human;
}

struct human human_limit(uint64_t limit) {
    struct human human;
    unsigned power = 0;
    while (power < 63 && limit >> power > 1) power++;
    if (limit == UINT64_MAX)
        snprintf(human.text, sizeof human.text, "2^64-1");
    else if (power >= 20 && limit == (uint64_t)1 << power)
        snprintf(human.text, sizeof human.text, "2^%u", power);
    else
        return human_count(limit);
    return human;
}

struct human human_margin(double error) {
    /* People read "give or take" as nearly always; one standard error would be two times in
     * three. */
    return human_count((uint64_t)(2 * error + 0.5));
}

struct human human_decimal(double value) {
    struct human human;
    if (value >= 999.5 && value < 1e18) return human_count((uint64_t)(value + 0.5));
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (value < 1e18)
        snprintf(human.text, sizeof human.text, "%.*f", decimals, value);
    else
        snprintf(human.text, sizeof human.text, "%.3g", value);
    return human;
}

struct human human_expected(double count) {
    struct human human;
    if (!(count < 0.1) || count == 0) return human_decimal(count);
    snprintf(human.text, sizeof human.text, "%.1g", count);
    return human;
}

struct human human_bytes(uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct human human;
    if (bytes < 1024) {
        snprintf(human.text, sizeof human.text, "%" PRIu64 " B", bytes);
        return human;
    }
    size_t unit = 0;
    double value = (double)bytes / 1024;
    /* From 999.5 on three digits would show the next thousand; the next unit reads better. */
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    snprintf(human.text, sizeof human.text, "%.40s %s", human_decimal(value).text, units[unit]);
    return human;
}

struct human human_share(double share) {
    struct human human;
    if (share >= 1e-4 || share <= 0)
        snprintf(human.text, sizeof human.text, "%.3g %%", 100 * share);
    else
        snprintf(human.text, sizeof human.text, "%.3g", share);
    return human;
}

/* Rounds to three digits, so that 1 in 106,183 does not claim to know more than it does. */
static uint64_t three_digits(double value) {
    uint64_t whole = (uint64_t)(value + 0.5), step = 1;
    while (whole / step >= 1000) step *= 10;
    return (whole + step / 2) / step * step;
}

struct human human_one_in(double rate) {
    struct human human;
    const double n = 1 / rate;
    if (n < 9.95)
        snprintf(human.text, sizeof human.text, "1 in %.2g", n);
    else if (n < 1e15)
        snprintf(human.text, sizeof human.text, "1 in %.40s", human_count(three_digits(n)).text);
    else
        snprintf(human.text, sizeof human.text, "1 in %.3g", n);
    return human;
}

struct human human_rate(double rate) {
    struct human human;
    if (!(rate > 0)) return (struct human){"0"};
    snprintf(human.text, sizeof human.text, "%.20s (%.24s)", human_share(rate).text,
             human_one_in(rate).text);
    return human;
}

struct human human_key(const struct tamis_key *key) {
    /* A key may be any bytes and of any length: what is shown is plain text of one line. */
    enum { ESCAPE = sizeof "\\x1b" - 1, ROOM = sizeof((struct human *)0)->text - sizeof "..." };
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
