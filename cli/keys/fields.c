/* SPDX-License-Identifier: MIT */
/* fields.c: some fields of a line, as cut(1) finds them. */
#include <stdio.h>
#include <string.h>

#include "cli/keys/block.h"
#include "cli/keys/scan.h"
#include "cli/keys/steps.h"

/* ---- What the user wrote ---- */

bool delimiter_parse(const char *text, char *delimiter) {
    if (text[0] != '\0' && (text[1] == '\0' || strcmp(text, "\\\\") == 0)) {
        *delimiter = text[0];
        return true;
    }
    if (strcmp(text, "\\t") == 0 || strcmp(text, "\\0") == 0) {
        *delimiter = text[1] == 't' ? '\t' : '\0';
        return true;
    }
    if (strncmp(text, "\\x", 2) != 0 || strlen(text) != 4) return false;
    const int high = hex_digit(text[2]), low = hex_digit(text[3]);
    if (high < 0 || low < 0) return false;
    *delimiter = (char)(high << 4 | low);
    return true;
}

/* A number of a field, digits and nothing else; 0 for any other. */
static uint32_t parse_number(const char *text, size_t len) {
    uint32_t number = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        number = number * 10 + (uint32_t)(text[i] - '0');
        if (number > HIGHEST_FIELD) return 0;
    }
    return number;
}

/* "2", "2-4", "2-" or "-4". */
static bool parse_range(const char *text, size_t len, struct field_range *range) {
    const char *dash = memchr(text, '-', len);
    const size_t before = dash ? (size_t)(dash - text) : len;
    const size_t after = dash ? len - before - 1 : 0;
    if (dash && before + after == 0) return false;
    range->first = dash && before == 0 ? 1 : parse_number(text, before);
    range->last = !dash ? range->first : after ? parse_number(dash + 1, after) : TO_THE_END;
    return range->first > 0 && range->last >= range->first;
}

static void add_range(struct fields *fields, const struct field_range *range) {
    struct field_range *before = fields->n > 0 ? &fields->range[fields->n - 1] : NULL;
    if (before && before->last + 1 == range->first)
        before->last = range->last;
    else
        fields->range[fields->n++] = *range;
}

/* A name starts otherwise than any number; quotes make a name of a number, too. */
static bool is_named(const char *list) {
    const uint8_t first = (uint8_t)lower_byte(*list);
    return (first >= 'a' && first <= 'z') || first == '_' || first == '"' || first >= 0x80;
}

static bool parse_names(struct fields *fields, const char *list, char *why, size_t size) {
    struct tamis_key name[MAX_RANGES + 1];
    const struct tamis_key all = {.bytes = list, .len = strlen(list)};
    fields->names = list;
    fields->has_header = true;
    if (!csv_columns(',', &all, name, MAX_RANGES + 1, &fields->n))
        snprintf(why, size, "a quote in %s is not closed, or not at the end of a name", list);
    else if (fields->n > MAX_RANGES)
        snprintf(why, size, "more than %d fields", MAX_RANGES);
    else
        return true;
    return false;
}

bool fields_parse(struct fields *fields, const char *list, char *why, size_t size) {
    if (is_named(list)) return parse_names(fields, list, why, size);
    fields->names = NULL;
    fields->n = 0;
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        struct field_range range;
        if (fields->n == MAX_RANGES) {
            snprintf(why, size, "more than %d fields or ranges", MAX_RANGES);
            return false;
        }
        if (!parse_range(at, len, &range)) {
            snprintf(
                why, size,
                "\"%.*s\" is not a field (allowed: numbers from 1 to 1,000,000, ranges as 2-4, "
                "or names of the first line)",
                (int)(len < 40 ? len : 40), at);
            return false;
        }
        add_range(fields, &range);
        at += len;
        if (*at == '\0') return true;
    }
}

/* ---- Finding them ---- */

/* The place of each delimiter is a bit; the line is searched from its start for each range. */
static bool find_in_short(char delimiter, const struct field_range *range,
                          const struct tamis_key *line, struct tamis_key *part) {
    const char *const bytes = line->bytes;
    size_t start = range->first == 1 ? 0 : SIZE_MAX, stop = line->len;
    uint32_t passed = 0; /* delimiters */
    for (size_t at = 0; at < line->len && passed < range->last; at += SCAN_BYTES) {
        uint64_t places = scan_for(bytes + at, delimiter);
        if (line->len - at < SCAN_BYTES) places &= ((uint64_t)1 << (line->len - at)) - 1;
        for (; places && passed < range->last; places &= places - 1) {
            const size_t place = at + lowest_bit(places);
            passed++;
            if (passed == range->first - 1) start = place + 1;
            if (passed == range->last) stop = place;
        }
    }
    if (start == SIZE_MAX || (range->last != TO_THE_END && passed < range->last - 1)) return false;
    *part = (struct tamis_key){.bytes = bytes + start, .len = stop - start};
    return true;
}

/* As memchr, but never with more than a piece of a long line in memory. */
static const char *find_in_pieces(const char *at, const char *end, char byte) {
    struct pieces pieces = pieces_of(&(struct tamis_key){.bytes = at, .len = (size_t)(end - at)});
    const char *piece, *found = NULL;
    size_t len;
    while (!found && (piece = next_piece(&pieces, &len)) != NULL) found = memchr(piece, byte, len);
    return found;
}

/* The start of the field that comes `fields` later; NULL when there are fewer. */
static const char *skip_fields(const char *at, const char *end, char delimiter, uint32_t fields) {
    for (; fields > 0 && at; fields--) {
        at = find_in_pieces(at, end, delimiter);
        if (at) at++;
    }
    return at;
}

/* A range that starts after the one before is searched from there: a gigabyte is read once. */
static bool find_in_long(const struct fields *fields, const struct tamis_key *line,
                         struct tamis_key part[]) {
    const char *const start = line->bytes, *const end = start + line->len;
    const char *at = start; /* the field ... */
    uint32_t number = 1;    /* ... of this number starts there */
    for (size_t i = 0; i < fields->n; i++) {
        const struct field_range *range = &fields->range[i];
        if (range->first < number) at = start, number = 1;
        at = skip_fields(at, end, fields->delimiter, range->first - number);
        const char *const first = at, *stop = NULL;
        number = range->first;
        if (at && range->last != TO_THE_END) {
            at = skip_fields(at, end, fields->delimiter, range->last - range->first);
            number = range->last;
            stop = at ? find_in_pieces(at, end, fields->delimiter) : NULL;
        }
        if (!at) return false;
        if (!stop) stop = end;
        part[i] = (struct tamis_key){.bytes = first, .len = (size_t)(stop - first)};
    }
    return true;
}

bool fields_find(const struct fields *fields, const struct tamis_key *line, bool is_mapped,
                 struct tamis_key part[]) {
    if (is_mapped) return find_in_long(fields, line, part);
    for (size_t i = 0; i < fields->n; i++)
        if (!find_in_short(fields->delimiter, &fields->range[i], line, &part[i])) return false;
    return true;
}

void fields_join(const struct fields *fields, const struct tamis_key part[], char *room,
                 struct tamis_key *key) {
    char *to = room;
    for (size_t i = 0; i < fields->n; i++) {
        if (i > 0) *to++ = fields->joiner;
        memcpy(to, part[i].bytes, part[i].len);
        to += part[i].len;
    }
    *key = (struct tamis_key){.bytes = room, .len = (size_t)(to - room)};
}
