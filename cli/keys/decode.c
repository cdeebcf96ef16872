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

int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    const char low = lower_byte(digit);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static const char *decode_hex(struct tamis_key *key, char *room) {
    const char *text = key->bytes;
    if (key->len % 2 != 0) return "is not hex: the number of digits is odd";
    for (size_t i = 0; i < key->len / 2; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return "is not hex: digits are 0-9, a-f and A-F";
        room[i] = (char)(high << 4 | low);
    }
    *key = (struct tamis_key){.bytes = room, .len = key->len / 2};
    return NULL;
}

/* Of the usual alphabet and of that for URLs, which differ in two letters; or -1. */
static int base64_digit(char letter) {
    if (letter >= 'A' && letter <= 'Z') return letter - 'A';
    if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9') return letter - '0' + 52;
    if (letter == '+' || letter == '-') return 62;
    return letter == '/' || letter == '_' ? 63 : -1;
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
    for (size_t i = 0; i < key->len; i++) {
        const int digit = base64_digit(text[i]);
        if (digit < 0) return "is not base64: letters are A-Z, a-z, 0-9, + and /, or - and _";
        bits = bits << 6 | (uint32_t)digit;
        waiting += 6;
        if (waiting < 8) continue;
        waiting -= 8;
        room[len++] = (char)(bits >> waiting & 0xff);
    }
    /* Otherwise two texts would be one key. */
    if (bits & ((1u << waiting) - 1)) return "is not base64: its last letter has bits left over";
    *key = (struct tamis_key){.bytes = room, .len = len};
    return NULL;
}

const char *decode(enum encoding encoding, struct tamis_key *key, char *room) {
    *key = without_blanks(*key);
    return encoding == IN_HEX ? decode_hex(key, room) : decode_base64(key, room);
}
