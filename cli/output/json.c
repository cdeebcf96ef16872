/* SPDX-License-Identifier: MIT */
/* json.c: writing JSON, one value after the other, on one line.
 *
 * The caller opens and closes brackets in the right order; this file knows commas, escapes and
 * numbers. Numbers have as many digits as bring them back exactly.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The length of the valid UTF-8 sequence at `at`, or 0. */
static size_t utf8_len(const unsigned char *at, const unsigned char *end) {
    if (at[0] < 0x80) return 1;
    if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
    const size_t len = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (len > (size_t)(end - at)) return 0;

    /* The second byte rules out overlong forms, surrogates and what is beyond U+10FFFF. */
    const unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < len; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return len;
}

static void put_string(FILE *out, const char *text, size_t len_all) {
    const unsigned char *const end = (const unsigned char *)text + len_all;
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; at < end;) {
        const size_t len = utf8_len(at, end);
        if (len == 0)
            fputs("\\ufffd", out);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", out);
        else if (*at < ' ' || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else
            fwrite(at, 1, len, out);
        at += len ? len : 1;
    }
    putc('"', out);
}

static void start_value(struct json *json, const char *name) {
    if (json->needs_comma) fputs(", ", json->out);
    json->needs_comma = true;
    if (!name) return;
    put_string(json->out, name, strlen(name));
    fputs(": ", json->out);
}

void json_open(struct json *json, const char *name, char bracket) {
    start_value(json, name);
    putc(bracket, json->out);
    json->needs_comma = false;
}

void json_close(struct json *json, char bracket) {
    putc(bracket, json->out);
    json->needs_comma = true;
}

void json_text(struct json *json, const char *name, const char *text) {
    start_value(json, name);
    if (text)
        put_string(json->out, text, strlen(text));
    else
        fputs("null", json->out);
}

void json_bytes(struct json *json, const char *name, const char *text, size_t len) {
    start_value(json, name);
    put_string(json->out, text, len);
}

void json_count(struct json *json, const char *name, uint64_t count) {
    start_value(json, name);
    fprintf(json->out, "%" PRIu64, count);
}

void json_real(struct json *json, const char *name, double value) {
    if (!isfinite(value)) {
        json_text(json, name, NULL);
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    start_value(json, name);
    fputs(text, json->out);
}

void json_bool(struct json *json, const char *name, bool value) {
    start_value(json, name);
    fputs(value ? "true" : "false", json->out);
}

void json_count_if(struct json *json, const char *name, bool is_known, uint64_t count) {
    if (is_known)
        json_count(json, name, count);
    else
        json_text(json, name, NULL);
}

struct json json_start(FILE *out) {
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    return json;
}

void json_end(struct json *json) {
    json_close(json, '}');
    putc('\n', json->out);
}
