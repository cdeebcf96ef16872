/* SPDX-License-Identifier: MIT */
/* columns.c: fields that do not simply lie between two delimiters: of CSV, or between any number of
 * blanks. And names of a header, whatever separates them.
 *
 * A key of several such fields is what CSV would write for them, so that ("a,b", "c") and ("a",
 * "b,c") are two keys.
 */
#include <stdio.h>
#include <string.h>

#include "cli/keys/steps.h"
#include "cli/output/words.h"

/* ---- Columns of a line ---- */

/* At most `max` of them, between blanks. */
static size_t columns_of_words(const struct tamis_key *line, struct tamis_key column[],
                               size_t max) {
    const char *at = line->bytes, *const end = at + line->len;
    size_t n = 0;
    for (; n < max; n++) {
        while (at < end && is_blank(*at)) at++;
        if (at == end) break;
        const char *start = at;
        while (at < end && !is_blank(*at)) at++;
        column[n] = (struct tamis_key){.bytes = start, .len = (size_t)(at - start)};
    }
    return n;
}

static bool columns_of(const struct fields *fields, const struct tamis_key *line,
                       struct tamis_key column[], size_t max, size_t *n) {
    if (fields->shape == SHAPE_CSV) return csv_columns(fields->delimiter, line, column, max, n);
    if (fields->shape == SHAPE_WHITESPACE) {
        *n = columns_of_words(line, column, max);
        return true;
    }
    const char *at = line->bytes, *const end = at + line->len;
    for (*n = 0; *n < max; at++) {
        const char *stop = memchr(at, fields->delimiter, (size_t)(end - at));
        const char *start = at;
        at = stop ? stop : end;
        column[(*n)++] = (struct tamis_key){.bytes = start, .len = (size_t)(at - start)};
        if (!stop) break;
    }
    return true;
}

/* ---- A key of some ---- */

static size_t highest_wanted(const struct fields *fields) {
    size_t highest = 0;
    for (size_t i = 0; i < fields->n; i++)
        if (fields->range[i].last > highest) highest = fields->range[i].last;
    return highest < MAX_COLUMNS ? highest : MAX_COLUMNS;
}

static bool is_single(const struct fields *fields) {
    return fields->n == 1 && fields->range[0].first == fields->range[0].last;
}

static bool has_all(const struct fields *fields, size_t n) {
    for (size_t i = 0; i < fields->n; i++) {
        const struct field_range *range = &fields->range[i];
        if (range->first > n || (range->last != TO_THE_END && range->last > n)) return false;
    }
    return true;
}

/* What a column says, in `room` or where it lies. */
static struct tamis_key value_of(const struct fields *fields, const struct tamis_key *column,
                                 char *room) {
    return fields->shape == SHAPE_CSV ? csv_value(column, room) : *column;
}

/* Values go to the end of the room, and from there to the key at its start. */
static void join(const struct fields *fields, const struct tamis_key column[], size_t n, char *room,
                 size_t len, struct tamis_key *key) {
    char *to = room, *const aside = room + columns_join(fields, len);
    for (size_t i = 0; i < fields->n; i++) {
        const struct field_range *range = &fields->range[i];
        const size_t last = range->last < n ? range->last : n;
        for (size_t j = range->first; j <= last; j++) {
            const struct tamis_key value = value_of(fields, &column[j - 1], aside);
            if (i > 0 || j > range->first) *to++ = fields->joiner;
            to = write_part(to, &value, fields->joiner);
        }
    }
    *key = (struct tamis_key){.bytes = room, .len = (size_t)(to - room)};
}

const char *columns_key(const struct fields *fields, struct tamis_key *line, char *room,
                        bool *is_missing) {
    struct tamis_key column[MAX_COLUMNS];
    size_t n;
    *is_missing = false;
    if (!columns_of(fields, line, column, highest_wanted(fields), &n))
        return "a quote is not closed, or not at the end of its field";
    *is_missing = !has_all(fields, n);
    if (*is_missing) return NULL;
    if (is_single(fields))
        *line = value_of(fields, &column[fields->range[0].first - 1], room);
    else
        join(fields, column, n, room, line->len, line);
    return NULL;
}

size_t columns_parts(const struct fields *fields, const struct tamis_key *line,
                     struct tamis_key part[]) {
    struct tamis_key column[MAX_COLUMNS];
    size_t n, parts = 0;
    if (!columns_of(fields, line, column, highest_wanted(fields), &n)) return 0;
    for (size_t i = 0; i < fields->n; i++)
        for (size_t j = fields->range[i].first; j <= n && j <= fields->range[i].last; j++)
            if (parts < MAX_RANGES) part[parts++] = column[j - 1];
    return parts;
}

/* ---- Names ---- */

static bool is_name(const struct tamis_key *a, const struct tamis_key *b, bool is_exact) {
    const struct tamis_key x = is_exact ? *a : without_blanks(*a);
    const struct tamis_key y = is_exact ? *b : without_blanks(*b);
    if (x.len != y.len) return false;
    const char *xs = x.bytes, *ys = y.bytes;
    for (size_t i = 0; i < x.len; i++)
        if (is_exact ? xs[i] != ys[i] : lower_byte(xs[i]) != lower_byte(ys[i])) return false;
    return true;
}

/* The column with that name, from 1; 0 for none. As it is written, or else in any case. */
static uint32_t find_name(const struct tamis_key *name, const struct tamis_key column[], size_t n) {
    for (int is_exact = 1; is_exact >= 0; is_exact--)
        for (size_t i = 0; i < n; i++)
            if (is_name(name, &column[i], is_exact)) return (uint32_t)i + 1;
    return 0;
}

/* The names of columns end in NUL. */
static void say_missing(const struct tamis_key *name, const struct tamis_key column[], size_t n,
                        char *why, size_t size) {
    const struct human typed = human_key(name);
    struct nearest nearest = {.typed = typed.text};
    for (size_t i = 0; i < n; i++) nearest_try(&nearest, column[i].bytes);
    const char *meant = nearest.name;
    if (meant)
        snprintf(why, size, "the header has no field \"%s\"; did you mean \"%s\"?", typed.text,
                 meant);
    else if (n == 1 && column[0].len > 0)
        snprintf(why, size,
                 "the header has no field \"%s\": all of it is one field, \"%s\"; --csv or -t "
                 "chooses the separator",
                 typed.text, human_key(&column[0]).text);
    else
        snprintf(why, size, "the header has no field \"%s\": it has %s, the first is \"%s\"",
                 typed.text, human_number(n, "field").text, human_key(&column[0]).text);
}

enum { MAX_HEADER = 16 * 1024 };

/* What the header's columns say, each with a NUL after it. */
static bool read_header(const struct fields *fields, const struct tamis_key *header, char *room,
                        struct tamis_key column[], size_t *n) {
    if (header->len > MAX_HEADER || !columns_of(fields, header, column, MAX_COLUMNS, n))
        return false;
    for (size_t i = 0; i < *n; i++) {
        const struct tamis_key value = value_of(fields, &column[i], room);
        memmove(room, value.bytes, value.len);
        column[i] = (struct tamis_key){.bytes = room, .len = value.len};
        room += value.len;
        *room++ = '\0';
    }
    return *n > 0;
}

bool columns_resolve(const struct fields *named, const struct tamis_key *header,
                     struct fields *found, char *why, size_t size) {
    struct tamis_key column[MAX_COLUMNS], name[MAX_RANGES];
    char room[MAX_HEADER + MAX_COLUMNS], unquoted[MAX_HEADER];
    const struct tamis_key list = {.bytes = named->names, .len = strlen(named->names)};
    size_t n, names;
    *found = *named;
    if (!read_header(named, header, room, column, &n)) {
        snprintf(why, size, "the first line is not a header of at most %d bytes", MAX_HEADER);
        return false;
    }
    (void)csv_columns(',', &list, name, MAX_RANGES, &names); /* it was parsed before */
    for (size_t i = 0; i < names; i++) {
        const bool is_too_long = name[i].len > sizeof unquoted;
        const struct tamis_key wanted = is_too_long ? name[i] : csv_value(&name[i], unquoted);
        const uint32_t number = find_name(&wanted, column, n);
        if (number == 0) {
            say_missing(&wanted, column, n, why, size);
            return false;
        }
        found->range[i] = (struct field_range){.first = number, .last = number};
    }
    return true;
}
