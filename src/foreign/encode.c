/* SPDX-License-Identifier: MIT */
/* Keys as users write them, and as other systems hash them.
 *
 * A number may be its digits, or four or eight bytes in one of two orders; a text may be UTF-8 or
 * UTF-16. No filter records which, and the wrong one answers no to everything. So encodings have
 * names, the same in every format, in notes and in the command.
 *
 *     text ──encoding──▶ the bytes that are hashed
 *
 * A text that an encoding cannot represent is refused with its range; nothing is rounded to fit,
 * except a decimal fraction to the nearest float. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include "base/slips.h"
#include "base/status.h"
#include "foreign/bytes.h"
#include "tamis_formats.h"

typedef struct scribe {
    const char *name;
    const char *text;
    size_t len;
    uint8_t *to;
    size_t room;
    unsigned size;      /* of numbers */
    bool is_big_endian; /* of numbers, and of UTF-16 */
} scribe;

/* ---- Refusing ------------------------------------------------------------------------------- */

enum { SHOWN = 40 };

/* The start of the text without anything that a terminal would interpret. */
static size_t refuse(const scribe *s, const char *because) {
    char shown[4 * SHOWN + 4];
    const size_t n = s->len < SHOWN ? s->len : SHOWN;
    int at = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t byte = (uint8_t)s->text[i];
        const bool is_plain = byte >= 0x20 && byte < 0x7f;
        at += sprintf(shown + at, is_plain ? "%c" : "\\x%02x", byte);
    }
    strcpy(shown + at, s->len > n ? "..." : "");
    const bool has_article = s->size > 0 || strcmp(s->name, "uuid") == 0;
    const char *article = !has_article ? "" : s->name[0] == 'i' ? "an " : "a ";
    tamis__fail(TAMIS_INVALID, "'%s' is not %s%s: %s", shown, article, s->name, because);
    return SIZE_MAX;
}

static bool has_room(const scribe *s, uint64_t wanted) {
    if (wanted <= s->room) return true;
    tamis__fail(TAMIS_INVALID, "the key needs room for %" PRIu64 " bytes, not %zu", wanted,
                s->room);
    return false;
}

static scribe without_blanks(const scribe *s) {
    scribe t = *s;
    while (t.len > 0 && (*t.text == ' ' || *t.text == '\t')) t.text++, t.len--;
    while (t.len > 0 && (t.text[t.len - 1] == ' ' || t.text[t.len - 1] == '\t')) t.len--;
    return t;
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static size_t as_it_is(const scribe *s) {
    if (!has_room(s, s->len)) return SIZE_MAX;
    if (s->len > 0) memcpy(s->to, s->text, s->len);
    return s->len;
}

/* The next character of UTF-8, or false: no overlong forms, no surrogates, nothing above
 * U+10FFFF. */
static bool next_letter(const char **at, const char *end, uint32_t *letter) {
    static const uint32_t min[] = {0, 0x80, 0x800, 0x10000};
    const uint8_t first = (uint8_t) * (*at)++;
    const unsigned more = first < 0x80   ? 0
                          : first < 0xc0 ? 4
                          : first < 0xe0 ? 1
                          : first < 0xf0 ? 2
                          : first < 0xf8 ? 3
                                         : 4;
    if (more > 3 || end - *at < (ptrdiff_t)more) return false;
    *letter = more ? first & (0x3fu >> more) : first;
    for (unsigned i = 0; i < more; i++) {
        const uint8_t byte = (uint8_t) * (*at)++;
        if ((byte & 0xc0) != 0x80) return false;
        *letter = *letter << 6 | (byte & 0x3f);
    }
    return *letter >= min[more] && *letter <= 0x10ffff && (*letter < 0xd800 || *letter > 0xdfff);
}

static size_t as_utf8(const scribe *s) {
    uint32_t letter;
    for (const char *at = s->text, *end = s->text + s->len; at < end;)
        if (!next_letter(&at, end, &letter)) return refuse(s, "it has a byte that is not UTF-8");
    return as_it_is(s);
}

static void put_unit(const scribe *s, size_t at, uint32_t unit) {
    s->to[at + !s->is_big_endian] = (uint8_t)(unit >> 8);
    s->to[at + s->is_big_endian] = (uint8_t)unit;
}

static size_t as_utf16(const scribe *s) {
    const char *end = s->text + s->len;
    uint32_t letter;
    size_t size = 0;
    for (const char *at = s->text; at < end; size += letter < 0x10000 ? 2 : 4)
        if (!next_letter(&at, end, &letter)) return refuse(s, "the text itself must be UTF-8");
    if (!has_room(s, size)) return SIZE_MAX;
    size = 0;
    for (const char *at = s->text; at < end && next_letter(&at, end, &letter); size += 2) {
        if (letter >= 0x10000) {
            put_unit(s, size, 0xd800 | (letter - 0x10000) >> 10);
            letter = 0xdc00 | ((letter - 0x10000) & 0x3ff);
            size += 2;
        }
        put_unit(s, size, letter);
    }
    return size;
}

/* ---- Whole numbers -------------------------------------------------------------------------- */

static size_t put_number(const scribe *s, uint64_t bits) {
    if (!has_room(s, s->size)) return SIZE_MAX;
    for (unsigned i = 0; i < s->size; i++) {
        const unsigned place = s->is_big_endian ? s->size - 1 - i : i;
        s->to[i] = (uint8_t)(bits >> 8 * place);
    }
    return s->size;
}

/* Reads an optional sign and digits: its magnitude, at most `max`. */
static bool read_amount(const scribe *s, uint64_t max, bool *is_negative, uint64_t *amount) {
    size_t i = s->len > 0 && (*s->text == '-' || *s->text == '+');
    *is_negative = i > 0 && *s->text == '-';
    if (i == s->len) return false;
    for (*amount = 0; i < s->len; i++) {
        const uint64_t digit = (uint64_t)(uint8_t)s->text[i] - '0';
        if (digit > 9 || *amount > (max - digit) / 10) return false;
        *amount = *amount * 10 + digit;
    }
    return true;
}

static size_t as_signed(const scribe *blanks) {
    const scribe s = without_blanks(blanks);
    const uint64_t max = s.size == 4 ? INT32_MAX : INT64_MAX;
    bool is_negative;
    uint64_t amount;
    if (!read_amount(&s, max + 1, &is_negative, &amount) || (amount > max && !is_negative))
        return refuse(&s, s.size == 4 ? "whole numbers from -2147483648 to 2147483647"
                                      : "whole numbers from -9223372036854775808 to "
                                        "9223372036854775807");
    return put_number(&s, is_negative ? 0 - amount : amount);
}

static size_t as_unsigned(const scribe *blanks) {
    const scribe s = without_blanks(blanks);
    bool is_negative;
    uint64_t amount;
    if (!read_amount(&s, s.size == 4 ? UINT32_MAX : UINT64_MAX, &is_negative, &amount) ||
        (is_negative && amount > 0))
        return refuse(&s, s.size == 4 ? "whole numbers from 0 to 4294967295"
                                      : "whole numbers from 0 to 18446744073709551615");
    return put_number(&s, amount);
}

/* ---- Fractions ------------------------------------------------------------------------------ */

static const char fractions[] = "numbers as 1, -0.5, 2.5e-3, inf or nan";

/* strtod depends on the caller's locale. Ours is made once, and kept. */
static locale_t plain_locale;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain_locale(void) {
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static size_t digits_at(const char *text) {
    return strspn(text, "0123456789");
}

/* Numbers in the usual notation; not hex, not nan(...), which strtod would take too. */
static bool is_fraction(const char *text) {
    text += *text == '-' || *text == '+';
    if (strcmp(text, "inf") == 0 || strcmp(text, "infinity") == 0) return true;
    const size_t whole = digits_at(text);
    text += whole;
    const size_t part = *text == '.' ? digits_at(text + 1) : 0;
    if (whole + part == 0) return false;
    if (*text == '.') text += 1 + part;
    if (*text == 'e') {
        text += 1 + (text[1] == '-' || text[1] == '+');
        if (digits_at(text) == 0) return false;
        text += digits_at(text);
    }
    return *text == '\0';
}

/* The nearest number of that size, by its bits; all NaNs are the usual one. */
static uint64_t nearest(const char *text, unsigned size) {
    const int before = errno;
    const locale_t callers = uselocale(plain_locale);
    const double wide = size == 8 ? strtod(text, NULL) : 0;
    const float narrow = size == 4 ? strtof(text, NULL) : 0;
    uselocale(callers);
    errno = before;
    uint64_t bits;
    uint32_t few;
    memcpy(&bits, &wide, sizeof bits);
    memcpy(&few, &narrow, sizeof few);
    return size == 8 ? bits : few;
}

static size_t as_fraction(const scribe *blanks) {
    enum { LONGEST = 1100 }; /* more digits than the midpoint of two neighbours has */
    const scribe s = without_blanks(blanks);
    char text[LONGEST + 1];
    if (s.len > LONGEST) return refuse(&s, "at most 1,100 letters");
    for (size_t i = 0; i < s.len; i++)
        text[i] = s.text[i] >= 'A' && s.text[i] <= 'Z' ? (char)(s.text[i] + 32) : s.text[i];
    text[s.len] = '\0';
    if (strlen(text) != s.len) return refuse(&s, fractions);
    if (strcmp(text, "nan") == 0)
        return put_number(&s, s.size == 8 ? UINT64_C(0x7ff8) << 48 : UINT64_C(0x7fc0) << 16);
    if (!is_fraction(text)) return refuse(&s, fractions);
    pthread_once(&plain_once, make_plain_locale);
    if (!plain_locale) return tamis__fail(TAMIS_NOMEM, "out of memory"), SIZE_MAX;
    const uint64_t bits = nearest(text, s.size), max = s.size == 8 ? 0x7ff : 0xff;
    const bool is_infinite = (bits >> (s.size == 8 ? 52 : 23) & max) == max;
    if (is_infinite && !strchr(text, 'i'))
        return refuse(&s, s.size == 8 ? "they go up to 1.7976931348623157e308, and inf"
                                      : "they go up to 3.4028235e38, and inf");
    return put_number(&s, bits);
}

/* ---- Digits --------------------------------------------------------------------------------- */

/* Other characters have the high bit, so that a whole key can be checked at its end: random digits
 * are unpredictable, and a branch for each took 5 ns. */
enum { NO = 0x80, FIRST_DIGIT = 0x20, DIGITS = 96 };

/* clang-format off */
static const uint8_t hex_digits[DIGITS] = {
    /* space */ NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    /* 0 */ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NO, NO, NO, NO, NO, NO,
    /* @ */ NO, 10, 11, 12, 13, 14, 15, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    /* P */ NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    /* ` */ NO, 10, 11, 12, 13, 14, 15, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    /* p */ NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
};

/* Both alphabets, the usual one and that for URLs, which differ in two letters. */
static const uint8_t base64_digits[DIGITS] = {
    /* space */ NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, 62, NO, 63,
    /* 0 */ 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, NO, NO, NO,
    /* @ */ NO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    /* P */ 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, 63,
    /* ` */ NO, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    /* p */ 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, NO, NO, NO, NO, NO,
};
/* clang-format on */

static uint8_t digit_of(const uint8_t digits[], char letter) {
    const uint8_t place = (uint8_t)((uint8_t)letter - FIRST_DIGIT);
    return place < DIGITS ? digits[place] : NO;
}

/* Reads pairs of digits; false when one is invalid. */
static bool read_hex(const char *text, size_t bytes, uint8_t *to) {
    uint8_t seen = 0;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t high = digit_of(hex_digits, text[2 * i]);
        const uint8_t low = digit_of(hex_digits, text[2 * i + 1]);
        seen |= high | low;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return !(seen & NO);
}

/* Names the first byte, of `len`, that is no digit: a key with a blank in it has that wrong, and
 * not its length. */
static size_t refuse_digits(const scribe *s, size_t len, const uint8_t digits[],
                            const char *allowed, const char *otherwise) {
    char because[120];
    size_t i = 0;
    while (i < len && !(digit_of(digits, s->text[i]) & NO)) i++;
    if (i == len) return refuse(s, otherwise);
    const uint8_t byte = (uint8_t)s->text[i];
    const bool is_plain = byte >= 0x20 && byte < 0x7f;
    int at = snprintf(because, sizeof because, "byte %zu is ", i + 1);
    at += snprintf(because + at, sizeof because - (size_t)at, is_plain ? "'%c'" : "\\x%02x", byte);
    snprintf(because + at, sizeof because - (size_t)at, "; %s", allowed);
    return refuse(s, because);
}

static size_t as_hex(const scribe *blanks) {
    static const char allowed[] = "digits are 0-9, a-f and A-F";
    const scribe s = without_blanks(blanks);
    if (s.len % 2 != 0)
        return refuse_digits(&s, s.len, hex_digits, allowed, "the number of digits is odd");
    if (!has_room(&s, s.len / 2)) return SIZE_MAX;
    if (!read_hex(s.text, s.len / 2, s.to))
        return refuse_digits(&s, s.len, hex_digits, allowed, allowed);
    return s.len / 2;
}

static size_t as_uuid(const scribe *blanks) {
    enum { BYTES = 16, DASHED = 36 };
    static const char because[] = "32 hex digits, with dashes as in "
                                  "123e4567-e89b-12d3-a456-426614174000 or without";
    const scribe s = without_blanks(blanks);
    char digits[2 * BYTES];
    size_t n = 0;
    if (s.len != 2 * BYTES && s.len != DASHED) return refuse(&s, because);
    for (size_t i = 0; i < s.len; i++) {
        const bool is_dash = s.len == DASHED && (i == 8 || i == 13 || i == 18 || i == 23);
        if (is_dash != (s.text[i] == '-')) return refuse(&s, because);
        if (!is_dash) digits[n++] = s.text[i];
    }
    if (!has_room(&s, BYTES)) return SIZE_MAX;
    return read_hex(digits, BYTES, s.to) ? BYTES : refuse(&s, because);
}

/* Without its padding, which may be missing but must not be wrong. */
static bool take_padding_off(scribe *s) {
    size_t padding = 0;
    while (padding < 2 && s->len > padding && s->text[s->len - 1 - padding] == '=') padding++;
    if (padding > 0 && s->len % 4 != 0) return false;
    s->len -= padding;
    return s->len % 4 != 1;
}

static size_t as_base64(const scribe *blanks) {
    static const char allowed[] = "letters are A-Z, a-z, 0-9, + and /, or - and _";
    const scribe whole = without_blanks(blanks);
    scribe s = whole;
    if (!take_padding_off(&s)) {
        while (s.len > 0 && s.text[s.len - 1] == '=') s.len--; /* not what is wrong first */
        return refuse_digits(&whole, s.len, base64_digits, allowed, "it has a wrong length");
    }
    if (!has_room(&s, (uint64_t)s.len / 4 * 3 + s.len % 4 * 3 / 4)) return SIZE_MAX;
    uint32_t bits = 0;
    size_t len = 0, waiting = 0; /* bits that are not a whole byte yet */
    uint8_t seen = 0;
    for (size_t i = 0; i < s.len; i++) {
        const uint8_t digit = digit_of(base64_digits, s.text[i]);
        seen |= digit;
        bits = bits << 6 | (digit & 0x3f);
        waiting += 6;
        if (waiting < 8) continue;
        waiting -= 8;
        s.to[len++] = (uint8_t)(bits >> waiting);
    }
    if (seen & NO) return refuse_digits(&whole, s.len, base64_digits, allowed, allowed);
    /* Otherwise two texts would be one key. */
    if (bits & ((1u << waiting) - 1)) return refuse(&whole, "its last letter has leftover bits");
    return len;
}

/* ---- The list ------------------------------------------------------------------------------- */

static const struct encoding {
    const char *name;
    size_t (*write)(const scribe *);
    unsigned size;
    bool is_big_endian;
} encodings[] = {
    {"utf8", as_utf8, 0, false},       {"bytes", as_it_is, 0, false},
    {"utf16", as_utf16, 0, false},     {"utf16be", as_utf16, 0, true},
    {"int32", as_signed, 4, false},    {"int32be", as_signed, 4, true},
    {"int64", as_signed, 8, false},    {"int64be", as_signed, 8, true},
    {"uint32", as_unsigned, 4, false}, {"uint32be", as_unsigned, 4, true},
    {"uint64", as_unsigned, 8, false}, {"uint64be", as_unsigned, 8, true},
    {"float", as_fraction, 4, false},  {"floatbe", as_fraction, 4, true},
    {"double", as_fraction, 8, false}, {"doublebe", as_fraction, 8, true},
    {"uuid", as_uuid, 0, false},       {"hex", as_hex, 0, false},
    {"base64", as_base64, 0, false},
};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

const char *tamis_encoding_at(size_t i) {
    return i < ENCODINGS ? encodings[i].name : NULL;
}

static size_t unknown(const char *name) {
    char known[256];
    int at = 0;
    tamis_nearest nearest = {.typed = name};
    for (size_t i = 0; i < ENCODINGS; i++) tamis__nearest_try(&nearest, encodings[i].name);
    if (nearest.name) {
        tamis__fail(TAMIS_INVALID, "unknown encoding '%s'; did you mean %s?", name, nearest.name);
        return SIZE_MAX;
    }
    for (size_t i = 0; i < ENCODINGS && at < (int)sizeof known; i++)
        at += snprintf(known + at, sizeof known - (size_t)at, "%s%s", i ? ", " : "",
                       encodings[i].name);
    tamis__fail(TAMIS_INVALID, "unknown encoding '%.40s'; there are %s", name, known);
    return SIZE_MAX;
}

size_t tamis_encode(const char *name, const char *text, size_t len, void *bytes, size_t room) {
    size_t i = 0;
    while (i < ENCODINGS && strcmp(encodings[i].name, name) != 0) i++;
    if (i == ENCODINGS) return unknown(name);
    const struct encoding *e = &encodings[i];
    return e->write(&(scribe){.name = e->name,
                              .text = text,
                              .len = len,
                              .to = bytes,
                              .room = room,
                              .size = e->size,
                              .is_big_endian = e->is_big_endian});
}
