/* pairs.c: lines of a key and a value, with a tab between them. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Hex is how people write masks and addresses; all else is a count, as everywhere. */
static bool parse_value(const char *text, uint64_t *value) {
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return tamis_parse_count(text, value);
    const char *digits = text + 2;
    const size_t len = strspn(digits, "0123456789abcdefABCDEF");
    if (len == 0 || len > 16 || digits[len] != '\0') return false;
    *value = strtoull(digits, NULL, 16);
    return true;
}

static int fail_value(const struct keys *keys, size_t i, const struct tamis_key *value) {
    const char *last = (const char *)value->bytes + value->len - 1;
    return fail_line(
        keys, i, "\"%s\" is not a value, a whole number below 2^64%s", human_key(value).text,
        value->len > 0 && *last == '\r' ? "; --crlf is for lines that end in CR LF" : "");
}

int read_pair(const struct keys *keys, size_t i, struct tamis_key *key, uint64_t *value) {
    enum { LONGEST = 64 };
    const char *line = keys->key[i].bytes;
    size_t len = keys->key[i].len;
    while (len > 0 && line[len - 1] != '\t') len--;
    if (len == 0)
        return fail_line(keys, i, "\"%s\" has no tab; a line must be KEY TAB VALUE",
                         human_key(&keys->key[i]).text);

    const struct tamis_key last = {.bytes = line + len, .len = keys->key[i].len - len};
    char text[LONGEST + 1];
    if (last.len > LONGEST || memchr(last.bytes, '\0', last.len)) return fail_value(keys, i, &last);
    memcpy(text, last.bytes, last.len);
    text[last.len] = '\0';
    if (!parse_value(text, value)) return fail_value(keys, i, &last);
    *key = (struct tamis_key){.bytes = line, .len = len - 1};
    return 0;
}

void print_pair_start(const struct keys *keys, size_t i) {
    fwrite(keys->key[i].bytes, 1, keys->key[i].len, stdout);
    putchar('\t');
}

void print_pair_end(const struct keys *keys) {
    putc(keys->line_end, stdout);
}
