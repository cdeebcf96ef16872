/* SPDX-License-Identifier: MIT */
/* pairs.c: lines of a key and a value, with a tab between them. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

/* Hex is how people write masks and addresses; all else is a count, as everywhere. */
static bool parse_value(const char *text, uint64_t *value) {
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return tamis_parse_count(text, value);
    const char *digits = text + 2;
    const size_t len = strspn(digits, "0123456789abcdefABCDEF");
    if (len == 0 || len > 16 || digits[len] != '\0') return false;
    *value = strtoull(digits, NULL, 16);
    return true;
}

static bool refuse_value(const struct tamis_key *value, char *why, size_t size) {
    snprintf(why, size, "\"%s\" is not a value (allowed: whole numbers below 2^64)",
             human_key(value).text);
    return false;
}

bool read_pair(struct tamis_key *key, uint64_t *value, char *why, size_t size) {
    enum { LONGEST = 64 };
    const char *line = key->bytes;
    size_t len = key->len;
    while (len > 0 && line[len - 1] != '\t') len--;
    if (len == 0) {
        snprintf(why, size, "\"%s\" has no tab; a line must be KEY TAB VALUE", human_key(key).text);
        return false;
    }
    const struct tamis_key last = {.bytes = line + len, .len = key->len - len};
    char text[LONGEST + 1];
    if (last.len > LONGEST || memchr(last.bytes, '\0', last.len))
        return refuse_value(&last, why, size);
    memcpy(text, last.bytes, last.len);
    text[last.len] = '\0';
    if (!parse_value(text, value)) return refuse_value(&last, why, size);
    key->len = len - 1;
    return true;
}
