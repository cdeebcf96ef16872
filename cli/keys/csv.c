/* SPDX-License-Identifier: MIT */
/* csv.c: comma-separated values as RFC 4180 has them.
 *
 *     plain,"with, comma","a ""quoted"" word","two
 *     lines",
 *
 * A quote that starts a field opens it, and the next one that is not doubled closes it. Inside a
 * field that does not start with one, a quote is a letter as any other: 5" disks are common, and
 * taking theirs for opening ones would swallow lines. */
#include <string.h>

#include "cli/keys/form.h"
#include "cli/keys/scan.h"

/* ---- Records ---- */

enum { AT_START, IN_PLAIN, IN_QUOTES, AFTER_QUOTE };

bool csv_is_open(const struct csv_scan *scan) {
    return scan->state == IN_QUOTES;
}

/* Positions of one byte among the next 64, as bits. */
struct marks {
    uint64_t quote, separator, end;
};

/* Goes on from bit `at` to the next change of the state; 64 when there is none. A record that ends
 * on the way is a bit of `ends`. */
static unsigned next_change(uint8_t *state, const struct marks *marks, unsigned at,
                            uint64_t *ends) {
    uint64_t places;
    switch (*state) {
    case AT_START:
    case AFTER_QUOTE:
        if (!(marks->quote >> at & 1)) {
            *state = IN_PLAIN;
            return at;
        }
        *state = IN_QUOTES;
        return at + 1;
    case IN_QUOTES:
        places = marks->quote >> at;
        if (!places) return SCAN_BYTES;
        *state = AFTER_QUOTE;
        return at + lowest_bit(places) + 1;
    default:
        places = (marks->separator | marks->end) >> at;
        if (!places) return SCAN_BYTES;
        at += lowest_bit(places);
        *ends |= marks->end & (uint64_t)1 << at;
        *state = AT_START;
        return at + 1;
    }
}

/* The line ends among the next bytes that end a record. */
static uint64_t ends_among(struct csv_scan *scan, const char *bytes, uint64_t valid) {
    const unsigned count = valid == UINT64_MAX ? SCAN_BYTES : lowest_bit(~valid);
    const struct marks marks = {.quote = scan_for(bytes, '"') & valid,
                                .separator = scan_for(bytes, scan->delimiter) & valid,
                                .end = scan_for(bytes, '\n') & valid};
    const bool is_outside = scan->state == AT_START || scan->state == IN_PLAIN;
    if (!marks.quote && is_outside) { /* the usual case */
        const uint64_t last = (uint64_t)1 << (count - 1);
        scan->state = (marks.separator | marks.end) & last ? AT_START : IN_PLAIN;
        return marks.end;
    }
    uint64_t ends = 0;
    for (unsigned at = 0; at < count;) at = next_change(&scan->state, &marks, at, &ends);
    return ends;
}

size_t csv_ends(struct csv_scan *scan, const char *bytes, size_t len, size_t *end, size_t room) {
    size_t n = 0;
    while (scan->at < len && room - n >= SCAN_BYTES) {
        const size_t left = len - scan->at;
        const uint64_t valid = left < SCAN_BYTES ? ((uint64_t)1 << left) - 1 : UINT64_MAX;
        uint64_t ends = ends_among(scan, bytes + scan->at, valid);
        for (; ends; ends &= ends - 1) end[n++] = scan->at + lowest_bit(ends);
        scan->at += left < SCAN_BYTES ? left : SCAN_BYTES;
    }
    return n;
}

/* ---- Columns ---- */

/* Where the quoted field ends that starts at `at`, after its closing quote; NULL for nowhere. */
static const char *closing_end(const char *at, const char *end) {
    for (at++; at < end && (at = memchr(at, '"', (size_t)(end - at))) != NULL; at += 2)
        if (at + 1 == end || at[1] != '"') return at + 1;
    return NULL;
}

bool csv_columns(char delimiter, const struct tamis_key *record, struct tamis_key column[],
                 size_t max, size_t *n) {
    const char *at = record->bytes, *const end = at + record->len;
    for (*n = 0; *n < max;) {
        const bool is_quoted = at < end && *at == '"';
        const char *stop =
            is_quoted ? closing_end(at, end) : memchr(at, delimiter, (size_t)(end - at));
        if (is_quoted && (!stop || (stop < end && *stop != delimiter))) return false;
        if (!stop) stop = end;
        column[(*n)++] = (struct tamis_key){.bytes = at, .len = (size_t)(stop - at)};
        if (stop == end) break;
        at = stop + 1;
    }
    return true;
}

struct tamis_key csv_value(const struct tamis_key *column, char *room) {
    const char *at = column->bytes;
    if (column->len < 2 || *at != '"') return *column;
    const char *const end = ++at + column->len - 2;
    if (!memchr(at, '"', (size_t)(end - at)))
        return (struct tamis_key){.bytes = at, .len = (size_t)(end - at)};
    char *to = room;
    for (; at < end; at++) {
        *to++ = *at;
        at += *at == '"'; /* it is doubled */
    }
    return (struct tamis_key){.bytes = room, .len = (size_t)(to - room)};
}

char *write_part(char *to, const struct tamis_key *part, char joiner) {
    const char *at = part->bytes, *const end = at + part->len;
    const bool is_plain = !memchr(at, joiner, part->len) && !memchr(at, '"', part->len);
    if (!is_plain) *to++ = '"';
    for (; at < end; at++) {
        if (*at == '"') *to++ = '"';
        *to++ = *at;
    }
    if (!is_plain) *to++ = '"';
    return to;
}
