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

struct fields {
    char delimiter;
    size_t n; /* of ranges; 0: the whole line is the key */
    struct field_range range[MAX_RANGES];
};

/* One byte, or \t, \0, \\ and \xHH. */
bool delimiter_parse(const char *text, char *delimiter);

/* "2", "1,3", "2-4", "3-", "-2" as cut has it, but in the order as written. False with a
 * sentence. */
bool fields_parse(struct fields *fields, const char *list, char *why, size_t size);

/* One part of the line for each range; false when the line lacks a field. A line that `is_mapped`
 * is one whose pages need not stay in memory; after any other, SCAN_BYTES can be read. */
bool fields_find(const struct fields *fields, const struct tamis_key *line, bool is_mapped,
                 struct tamis_key part[]);

/* Parts and delimiters as one key. `room` is as long as all of them. */
void fields_join(const struct fields *fields, const struct tamis_key part[], char *room,
                 struct tamis_key *key);

/* ==== Encodings: decode.c =================================================================== */

/* The name as the library has it, NULL when it knows no such encoding. */
const char *encoding_named(const char *name);

/* Whether it is a way to write bytes, whatever they mean: hex, base64, or as they are. */
bool encoding_is_any_bytes(const char *encoding);

/* ==== One form of many: canon.c, canon_names.c, canon_numbers.c ============================== */

/* What a step may add to a key, at most: all but these bytes are there before. */
enum { CANON_STEPS = 16, CANON_GROWTH = 64, CANON_TEXT = 256 };

struct canon {
    size_t n;
    uint8_t step[CANON_STEPS];
};

/* "trim,lower". False with a sentence. */
bool canon_parse(struct canon *canon, const char *list, char *why, size_t size);

/* The same as text, without blanks. `text` has CANON_TEXT bytes. */
void canon_write(const struct canon *canon, char *text);

bool canon_is_same(const struct canon *a, const struct canon *b);

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
