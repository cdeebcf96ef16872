/* decode.c: keys that are written in hex or base64. */
#include <string.h>

#include "cli/keys/steps.h"

static const char *const names[] = {[IN_HEX] = "hex", [IN_BASE64] = "base64"};

const char *encoding_name(enum encoding encoding) {
    return names[encoding];
}

bool encoding_parse(const char *name, enum encoding *encoding) {
    for (*encoding = IN_HEX; *encoding <= IN_BASE64; ++*encoding)
        if (strcmp(name, names[*encoding]) == 0) return true;
    return false;
}

/* ---- Digits ---- */

/* What is no digit has the high bit, so that a whole key can be looked over at its end: random
 * digits are what no processor can guess, and a branch for each took 5 ns. */
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

/* Of the usual alphabet and of that for URLs, which differ in two letters. */
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

int hex_digit(char digit) {
    const uint8_t value = digit_of(hex_digits, digit);
    return value == NO ? -1 : value;
}

/* ---- Decoding ---- */

static const char *decode_hex(struct tamis_key *key, char *room) {
    const char *text = key->bytes;
    uint8_t seen = 0;
    if (key->len % 2 != 0) return "is not hex: the number of digits is odd";
    for (size_t i = 0; i < key->len / 2; i++) {
        const uint8_t high = digit_of(hex_digits, text[2 * i]);
        const uint8_t low = digit_of(hex_digits, text[2 * i + 1]);
        seen |= high | low;
        room[i] = (char)(high << 4 | low);
    }
    if (seen & NO) return "is not hex: digits are 0-9, a-f and A-F";
    *key = (struct tamis_key){.bytes = room, .len = key->len / 2};
    return NULL;
}

/* Without its padding, which may be missing but must not be wrong. */
static bool take_padding_off(struct tamis_key *key) {
    const char *text = key->bytes;
    size_t padding = 0;
    while (padding < 2 && key->len > padding && text[key->len - 1 - padding] == '=') padding++;
    if (padding > 0 && key->len % 4 != 0) return false;
    key->len -= padding;
    return key->len % 4 != 1;
}

static const char *decode_base64(struct tamis_key *key, char *room) {
    if (!take_padding_off(key)) return "is not base64: it has a wrong length";
    const char *text = key->bytes;
    uint32_t bits = 0;
    size_t len = 0, waiting = 0; /* bits that make no byte yet */
    uint8_t seen = 0;
    for (size_t i = 0; i < key->len; i++) {
        const uint8_t digit = digit_of(base64_digits, text[i]);
        seen |= digit;
        bits = bits << 6 | digit;
        waiting += 6;
        if (waiting < 8) continue;
        waiting -= 8;
        room[len++] = (char)(bits >> waiting & 0xff);
    }
    if (seen & NO) return "is not base64: letters are A-Z, a-z, 0-9, + and /, or - and _";
    /* Otherwise two texts would be one key. */
    if (bits & ((1u << waiting) - 1)) return "is not base64: its last letter has bits left over";
    *key = (struct tamis_key){.bytes = room, .len = len};
    return NULL;
}

const char *decode(enum encoding encoding, struct tamis_key *key, char *room) {
    *key = without_blanks(*key);
    return encoding == IN_HEX ? decode_hex(key, room) : decode_base64(key, room);
}
