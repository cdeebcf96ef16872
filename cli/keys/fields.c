/* fields.c: some fields of a line, as cut(1) finds them. */
#include <stdio.h>
#include <string.h>

#include "cli/keys/block.h"
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

bool fields_parse(struct fields *fields, const char *list, char *why, size_t size) {
    fields->n = 0;
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        struct field_range range;
        if (fields->n == MOST_RANGES) {
            snprintf(why, size, "more than %d fields or ranges", MOST_RANGES);
            return false;
        }
        if (!parse_range(at, len, &range)) {
            snprintf(why, size,
                     "\"%.*s\" is not a field; fields are numbers from 1 to 1,000,000, or ranges "
                     "of them: 2 or 1,3 or 2-4",
                     (int)(len < 40 ? len : 40), at);
            return false;
        }
        add_range(fields, &range);
        at += len;
        if (*at == '\0') return true;
    }
}

/* ---- Finding them ---- */

/* Where the line is searched, and up to where its pages were let go. */
struct scan {
    const char *end;
    char delimiter;
    bool lets_go;
};

/* As memchr, but never with more than a piece of a long line in memory. */
static const char *find(const struct scan *scan, const char *at) {
    if (!scan->lets_go) return memchr(at, scan->delimiter, (size_t)(scan->end - at));
    struct pieces pieces =
        pieces_of(&(struct tamis_key){.bytes = at, .len = (size_t)(scan->end - at)});
    const char *piece, *found = NULL;
    size_t len;
    while (!found && (piece = next_piece(&pieces, &len)) != NULL)
        found = memchr(piece, scan->delimiter, len);
    return found;
}

/* The start of the field that comes so many fields later; NULL when there are fewer. */
static const char *skip(const struct scan *scan, const char *at, uint32_t fields) {
    for (; fields > 0; fields--) {
        const char *delimiter = find(scan, at);
        if (!delimiter) return NULL;
        at = delimiter + 1;
    }
    return at;
}

bool fields_find(const struct fields *fields, const struct tamis_key *line, bool lets_go,
                 struct tamis_key part[]) {
    const char *const start = line->bytes;
    const struct scan scan = {
        .end = start + line->len, .delimiter = fields->delimiter, .lets_go = lets_go};
    const char *at = start; /* the field ... */
    uint32_t number = 1;    /* ... of this number starts there */
    for (size_t i = 0; i < fields->n; i++) {
        const struct field_range *range = &fields->range[i];
        if (range->first < number) at = start, number = 1;
        at = skip(&scan, at, range->first - number);
        if (!at) return false;
        const char *const first = at, *stop = NULL;
        number = range->first;
        if (range->last != TO_THE_END) {
            at = skip(&scan, at, range->last - range->first);
            if (!at) return false;
            number = range->last;
            stop = find(&scan, at);
        }
        if (!stop) stop = scan.end;
        part[i] = (struct tamis_key){.bytes = first, .len = (size_t)(stop - first)};
    }
    return true;
}

void fields_join(const struct fields *fields, const struct tamis_key part[], char *room,
                 struct tamis_key *key) {
    char *to = room;
    for (size_t i = 0; i < fields->n; i++) {
        if (i > 0) *to++ = fields->delimiter;
        memcpy(to, part[i].bytes, part[i].len);
        to += part[i].len;
    }
    *key = (struct tamis_key){.bytes = room, .len = (size_t)(to - room)};
}
