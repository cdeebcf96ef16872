/* SPDX-License-Identifier: MIT */
/* form.h: only the files in cli/ include this. From a line to the bytes that are its key.
 *
 *     line --fields.c--> some of its fields --tamis_encode--> bytes --canon.c--> one form of many
 *                                           --canon.c--> one form of many --tamis_encode--> bytes
 *
 * Where the encoding is about how bytes are written (hex, base64), what they say is brought to one
 * form; where it is about what a text becomes (int64, utf16), the text is.
 *
 * Each step takes a key and either shortens it in place or writes it into a buffer that
 * the caller has. None of them allocates, prints or keeps anything, so that they run on any
 * thread. */
#ifndef TAMIS_CLI_KEYS_FORM_H
#define TAMIS_CLI_KEYS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* ==== Fields: fields.c ====================================================================== */

enum { MAX_RANGES = 64, HIGHEST_FIELD = 1000000, TO_THE_END = HIGHEST_FIELD + 1 };

/* Neighbours are one range: they are a key as they lie. */
struct field_range {
    uint32_t first, last; /* from 1; `last` may be TO_THE_END */
};

/* How a line is made of fields. */
enum shape {
    SHAPE_LINE,       /* a byte separates them */
    SHAPE_WHITESPACE, /* any number of blanks does, as in awk */
    SHAPE_CSV,        /* RFC 4180: quoted fields may hold anything */
    SHAPE_JSONL       /* a JSON object in each line; fields have names */
};

struct fields {
    enum shape shape;
    char delimiter;
    char joiner;       /* of several fields of a key: the delimiter, or a comma */
    bool has_header;   /* the first line of each file has names, and is no key */
    const char *names; /* as written by the user, for a header or for objects; or NULL */
    size_t n;          /* of ranges, or of names; 0: the whole line is the key */
    struct field_range range[MAX_RANGES];
};

/* One byte, or \t, \0, \\ and \xHH. */
bool delimiter_parse(const char *text, char *delimiter);

/* "2", "1,3", "2-4", "3-", "-2" as cut has it, but in the order as written; or names of a header:
 * "email", "city,\"last, first\"". False with a sentence. */
bool fields_parse(struct fields *fields, const char *list, char *why, size_t size);

/* One part of the line for each range; false when the line lacks a field. A line that `is_mapped`
 * is one whose pages need not stay in memory; after any other, SCAN_BYTES can be read. */
bool fields_find(const struct fields *fields, const struct tamis_key *line, bool is_mapped,
                 struct tamis_key part[]);

/* Parts and delimiters as one key. `room` is as long as all of them. */
void fields_join(const struct fields *fields, const struct tamis_key part[], char *room,
                 struct tamis_key *key);

/* ==== Columns: columns.c, csv.c, jsonl.c ==================================================== */

/* Columns are found in memory of this many; further ones cannot be a part of a key. */
enum { MAX_COLUMNS = 1024 };

/* The columns of a record as they lie, quotes and all, up to `max`. False when a quote is not where
 * it may be. */
bool csv_columns(char delimiter, const struct tamis_key *record, struct tamis_key column[],
                 size_t max, size_t *n);

/* What a column says. Where quotes are doubled inside it is written to `room`, as long as it. */
struct tamis_key csv_value(const struct tamis_key *column, char *room);

/* Finds the fields by their names. False with a sentence that names what is missing. */
bool columns_resolve(const struct fields *named, const struct tamis_key *header,
                     struct fields *found, char *why, size_t size);

/* How long a key of several columns may be, with quotes and what is between them. */
static inline size_t columns_join(const struct fields *fields, size_t len) {
    return fields->n * (2 * len + 3 * MAX_COLUMNS);
}

/* The key that the chosen columns make. `room` is columns_join and twice the line long. NULL, or a
 * sentence about the line; fields that are missing are said by `is_missing`. */
const char *columns_key(const struct fields *fields, struct tamis_key *line, char *room,
                        bool *is_missing);

/* Fields of JSON objects: "user.email" or "user,time". False with a sentence. */
bool json_paths_parse(struct fields *fields, const char *list, char *why, size_t size);

/* The same for an object in JSON. */
const char *json_key(const struct fields *fields, struct tamis_key *line, char *room,
                     bool *is_missing);

/* The chosen fields where they lie, quotes and all: at most MAX_RANGES. Of a line that has them. */
size_t columns_parts(const struct fields *fields, const struct tamis_key *line,
                     struct tamis_key part[]);
size_t json_parts(const struct fields *fields, const struct tamis_key *line,
                  struct tamis_key part[]);

/* A character as UTF-8, at most 4 bytes; how many. In utf16.c. */
size_t write_utf8(uint8_t *to, uint32_t point);

/* Appends a part to a key of several, quoted as in CSV where it would be ambiguous otherwise; it
 * may take twice its length and two. */
char *write_part(char *to, const struct tamis_key *part, char joiner);

/* Where records end. A quoted field may go on in the next line. */
struct csv_scan {
    char delimiter;
    uint8_t state;
    size_t at; /* how far was looked */
};

/* Looks on, up to `len`, and writes the ends of at most `room` records to `end`: where each line
 * end is. Returns how many. SCAN_BYTES can be read after `len`. */
size_t csv_ends(struct csv_scan *scan, const char *bytes, size_t len, size_t *end, size_t room);

/* Whether a quote is open where the scan stands. */
bool csv_is_open(const struct csv_scan *scan);

/* ==== Encodings: decode.c =================================================================== */

/* The name as the library has it, NULL when it knows no such encoding. */
const char *encoding_named(const char *name);

/* Whether it is a way to write bytes, whatever they mean: hex, base64, or as they are. */
bool encoding_is_any_bytes(const char *encoding);

/* ==== One form of many: canon.c, canon_names.c, canon_numbers.c, cidr.c ====================== */

/* What a step may add to a key, at most: all but these bytes are there before. A range of addresses
 * may be 254 blocks. */
enum { CANON_STEPS = 16, CANON_GROWTH = 4608, CANON_TEXT = 256 };

struct canon {
    size_t n;
    uint8_t step[CANON_STEPS];
};

/* "trim,lower", as notes have it. False with a sentence. */
bool canon_parse(struct canon *canon, const char *list, char *why, size_t size);

/* The name of the i-th step, NULL after the last. */
const char *canon_step_at(size_t i);

/* The same as a user types it: each step is its newest edition. */
bool canon_typed(struct canon *canon, const char *list, char *why, size_t size);

/* Back to text, for a note or for people. `text` has CANON_TEXT bytes. */
void canon_write(const struct canon *canon, char *text);
void canon_say(const struct canon *canon, char *text);

/* Whether a user types the same for both. */
bool canon_is_same(const struct canon *a, const struct canon *b);

/* Whether a question asks for several keys, and which: expand.h. */
enum reach { TO_ITSELF, TO_PARENTS, TO_BLOCKS, TO_PREFIXES };
enum reach canon_reach(const struct canon *canon);

/* Whether the steps read digits themselves, so that no encoding can come before them. */
bool canon_reads_hex(const struct canon *canon);

/* Whether the steps only cut ends off, so that they need no room. */
bool canon_only_cuts(const struct canon *canon);

/* How keys are written in the input, and to what they are brought. An image remembers both. */
struct form {
    const char *encoding; /* as encoding_named has it; NULL: none was given */
    struct canon canon;
};

/* Brings the key to its form. `room` is CANON_GROWTH longer than the key and may be where it lies.
 * Returns NULL, or what the key would have to be: "an IP address". */
const char *canon_apply(const struct canon *canon, struct tamis_key *key, char *room);

/* 0 to 15, or -1: decode.c. */
int hex_digit(char digit);

#endif
