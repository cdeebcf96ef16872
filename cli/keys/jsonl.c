/* SPDX-License-Identifier: MIT */
/* jsonl.c: fields of JSON objects, one object in each line.
 *
 *     {"user": {"email": "a@b.c"}, "seen": 3}          user.email    seen
 *
 * A line is read up to the fields that are wanted, and its last byte is looked at: that is enough
 * to tell objects that were cut off from whole ones. Of a name that occurs twice the first counts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/keys/steps.h"
#include "tamis_formats.h"

/* Objects in objects: each takes some stack. */
enum { MAX_DEPTH = 64 };

static const char not_an_object[] = "not a JSON object";
static const char not_text[] = "the field is an object or an array, not a text or a number";
static const char not_utf8[] = "the field is not valid UTF-8";

/* ---- Passing over what is not wanted ---- */

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    return at;
}

/* After the string that starts at `at` with its quote; NULL when it does not end. */
static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\') at++;
    return at < end ? at + 1 : NULL;
}

/* After the object or array that starts at `at`. */
static const char *skip_nested(const char *at, const char *end) {
    size_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (!at) return NULL;
            continue;
        }
        depth += *at == '{' || *at == '[';
        if ((*at == '}' || *at == ']') && --depth == 0) return at + 1;
        at++;
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end) {
    if (at == end) return NULL;
    if (*at == '"') return skip_string(at, end);
    if (*at == '{' || *at == '[') return skip_nested(at, end);
    const char *start = at;
    while (at < end && *at != ',' && *at != '}' && *at != ']' && (uint8_t)*at > ' ') at++;
    return at > start ? at : NULL;
}

/* ---- Strings ---- */

/* Four hex digits; -1 for anything else. */
static int32_t read_unit(const char *at, const char *end) {
    int32_t unit = 0;
    if (end - at < 4) return -1;
    for (size_t i = 0; i < 4; i++) {
        const int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* The character after "\u", of one unit or two; UINT32_MAX for none. */
static uint32_t read_escape(const char **at, const char *end) {
    const int32_t unit = read_unit(*at, end);
    *at += 4;
    const bool is_high = unit >= 0xd800 && unit < 0xdc00, is_low = unit >= 0xdc00 && unit < 0xe000;
    if (unit < 0 || is_low) return UINT32_MAX;
    if (!is_high) return (uint32_t)unit;
    if (end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') return UINT32_MAX;
    const int32_t second = read_unit(*at + 2, end);
    *at += 6;
    if (second < 0xdc00 || second >= 0xe000) return UINT32_MAX;
    return 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(second - 0xdc00);
}

/* What a string between its quotes says; to `room`, unless it says it as it is. */
static bool read_string(const struct tamis_key *raw, char *room, struct tamis_key *text) {
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *at = raw->bytes, *const end = at + raw->len;
    *text = *raw;
    if (!memchr(at, '\\', raw->len)) return true;
    char *to = room;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        if (++at == end) return false;
        const char *letter = *at ? strchr(letters, *at) : NULL;
        const bool is_point = *at++ == 'u';
        if (!letter && !is_point) return false;
        if (letter) *to++ = bytes[letter - letters];
        const uint32_t point = is_point ? read_escape(&at, end) : 0;
        if (point == UINT32_MAX) return false;
        if (is_point) to += write_utf8((uint8_t *)to, point);
    }
    *text = (struct tamis_key){.bytes = room, .len = (size_t)(to - room)};
    return true;
}

/* ---- Paths ---- */

/* The first name of a path "user.email", and what follows its dot; NULL after the last. A backslash
 * takes the meaning from a dot or a comma. */
static struct tamis_key first_name(const char *path, const char **rest) {
    const char *at = path;
    while (*at && *at != '.' && *at != ',') at += *at == '\\' && at[1] ? 2 : 1;
    *rest = *at == '.' ? at + 1 : NULL;
    return (struct tamis_key){.bytes = path, .len = (size_t)(at - path)};
}

static const char *next_path(const char *path) {
    const char *rest = path;
    while (rest) {
        const struct tamis_key name = first_name(path, &rest);
        path = rest ? rest : (const char *)name.bytes + name.len;
    }
    return *path ? path + 1 : NULL;
}

/* Whether a name of an object, as it is written there, is the wanted one, as the user wrote it. */
static bool is_wanted(const struct tamis_key *raw, const struct tamis_key *wanted, char *room) {
    struct tamis_key name;
    const char *w = wanted->bytes, *const end = w + wanted->len;
    if (raw->len == wanted->len && memcmp(raw->bytes, w, raw->len) == 0 &&
        !memchr(w, '\\', wanted->len))
        return true;
    const bool is_plain = !memchr(raw->bytes, '\\', raw->len) && !memchr(w, '\\', wanted->len);
    if (is_plain || !read_string(raw, room, &name)) return false;
    const char *at = name.bytes, *const stop = at + name.len;
    for (; w < end && at < stop; w++, at++) {
        if (*w == '\\' && w + 1 < end) w++;
        if (*w != *at) return false;
    }
    return w == end && at == stop;
}

/* The value of a name in the object at `at`, as it lies. NULL, or a sentence; `value` has no bytes
 * when there is no such name. */
static const char *find_in_object(const char *at, const char *end, const char *path, char *room,
                                  struct tamis_key *value) {
    const char *rest;
    const struct tamis_key wanted = first_name(path, &rest);
    *value = (struct tamis_key){0};
    for (at = skip_blanks(at + 1, end); at < end && *at == '"';) {
        const char *after = skip_string(at, end);
        if (!after) return not_an_object;
        const struct tamis_key name = {.bytes = at + 1, .len = (size_t)(after - at) - 2};
        at = skip_blanks(after, end);
        if (at == end || *at != ':') return not_an_object;
        at = skip_blanks(at + 1, end);
        if (is_wanted(&name, &wanted, room)) {
            if (rest && at < end && *at == '{') return find_in_object(at, end, rest, room, value);
            after = rest ? NULL : skip_value(at, end);
            if (after) *value = (struct tamis_key){.bytes = at, .len = (size_t)(after - at)};
            return rest || after ? NULL : not_an_object;
        }
        after = skip_value(at, end);
        if (!after) return not_an_object;
        at = skip_blanks(after, end);
        if (at < end && *at == ',') at = skip_blanks(at + 1, end);
    }
    return at < end && *at == '}' ? NULL : not_an_object;
}

/* ---- Keys ---- */

static bool is_ascii(const struct tamis_key *text) {
    const char *bytes = text->bytes;
    uint8_t all = 0;
    for (size_t i = 0; i < text->len; i++) all |= (uint8_t)bytes[i];
    return all < 0x80;
}

/* What a value says: of a string its text, of a number or a truth its letters, of null nothing. */
static const char *read_value(const struct tamis_key *value, char *room, struct tamis_key *text) {
    const char *bytes = value->bytes;
    *text = *value;
    if (*bytes == '{' || *bytes == '[') return not_text;
    if (*bytes != '"') {
        if (value->len == 4 && memcmp(bytes, "null", 4) == 0) text->bytes = NULL;
        return NULL;
    }
    const struct tamis_key raw = {.bytes = bytes + 1, .len = value->len - 2};
    if (!read_string(&raw, room, text)) return not_an_object;
    /* What is checked is written beside the text. */
    if (!is_ascii(text) &&
        tamis_encode("utf8", text->bytes, text->len, room + raw.len, raw.len) == SIZE_MAX)
        return not_utf8;
    return NULL;
}

const char *json_key(const struct fields *fields, struct tamis_key *line, char *room,
                     bool *is_missing) {
    const char *const end = (const char *)line->bytes + line->len;
    const char *const at = skip_blanks(line->bytes, end);
    const struct tamis_key bare = without_blanks(*line);
    char *to = room, *const aside = room + columns_join(fields, line->len);
    *is_missing = false;
    if (at == end || *at != '{' || ((const char *)bare.bytes)[bare.len - 1] != '}')
        return not_an_object;
    for (const char *path = fields->names; path; path = next_path(path)) {
        struct tamis_key value, text;
        const char *wrong = find_in_object(at, end, path, aside, &value);
        *is_missing = !wrong && !value.bytes;
        if (!wrong && value.bytes) wrong = read_value(&value, aside, &text);
        if (wrong) return wrong;
        *is_missing |= !text.bytes;
        if (*is_missing) return NULL;
        if (fields->n == 1) {
            *line = text;
            return NULL;
        }
        if (path != fields->names) *to++ = fields->joiner;
        to = write_part(to, &text, fields->joiner);
    }
    *line = (struct tamis_key){.bytes = room, .len = (size_t)(to - room)};
    return NULL;
}

size_t json_parts(const struct fields *fields, const struct tamis_key *line,
                  struct tamis_key part[]) {
    const char *const end = (const char *)line->bytes + line->len;
    const char *const at = skip_blanks(line->bytes, end);
    char *const room = malloc(line->len + 1);
    size_t n = 0;
    for (const char *path = fields->names; room && path; path = next_path(path))
        if (!find_in_object(at, end, path, room, &part[n]) && part[n].bytes) n++;
    free(room);
    return n;
}

bool json_paths_parse(struct fields *fields, const char *list, char *why, size_t size) {
    fields->names = list;
    fields->n = 0;
    for (const char *path = list; path; path = next_path(path)) {
        const char *rest = path;
        size_t depth = 0;
        for (const char *at = path; rest; at = rest) {
            const bool is_deep = ++depth > MAX_DEPTH;
            if (first_name(at, &rest).len > 0 && !is_deep) continue;
            if (is_deep)
                snprintf(why, size, "more than %d names in a path", MAX_DEPTH);
            else
                snprintf(why, size, "\"%s\" has an empty name (allowed: names as user.email,time)",
                         list);
            return false;
        }
        if (++fields->n > MAX_RANGES) {
            snprintf(why, size, "more than %d fields", MAX_RANGES);
            return false;
        }
    }
    return true;
}
