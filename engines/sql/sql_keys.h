/* SPDX-License-Identifier: MIT */
/* For engines of SQL: a value becomes the same key in all of them, and in the command.
 *
 *     family     natural form, and its note        also, when the note says so
 *     integer    int64                             int32 ... uint64be
 *     time       int64: microseconds since 1970    int64be, uint64, uint64be
 *     real       double, or float                  float, double, floatbe, doublebe
 *     text       utf8                              any that texts have
 *     numeric    utf8: without trailing zeros      int32 ... uint64be
 *     uuid       uuid: 16 bytes                    hex, base64
 *     bytes      hex: the bytes                    bytes, utf8, base64
 *     address    hex: 4 or 16 bytes, and the       base64
 *                length of a prefix
 *
 * They are those of the command ("tamis help keys"). A form that a filter's keys cannot have is
 * refused, since every answer would be no.
 *
 * A text is read by the note, so '5' is a key of integers. That is why bytes and addresses have the
 * note hex rather than bytes: '10.0.0.1' is no hex digits, and refused, but it would be bytes, and
 * not found. */
#ifndef TAMIS_ENGINES_SQL_SQL_KEYS_H
#define TAMIS_ENGINES_SQL_SQL_KEYS_H

#include "tamis.h"

/* Why something was refused: a sentence, and what to do about it, or "". */
typedef struct sql_why {
    char sentence[320];
    char hint[192];
} sql_why;

typedef enum sql_family {
    SQL_INTEGER,
    SQL_TIME,
    SQL_REAL,
    SQL_TEXT,
    SQL_NUMERIC,
    SQL_BYTES,
    SQL_ADDRESS,
    SQL_UUID
} sql_family;

enum { SQL_FAMILIES = SQL_UUID + 1 };

/* ---- Forms ---------------------------------------------------------------------------------- */

/* How values of one type become keys of one filter. */
typedef struct sql_form {
    sql_family family;
    const char *note;  /* the note "encoding" that a filter of such keys gets */
    const char *what;  /* in sentences: "an integer", "a bytea" */
    char encoding[16]; /* how keys are encoded; "": they are natural */
} sql_form;

/* The natural form of a type. `note` is one of the table, NULL for the usual one of the family (a
 * real's is double); `what` is NULL for the family's own words. Both must stay. */
void sql_form_init(sql_form *, sql_family, const char *note, const char *what);

/* From now on keys are those of this filter: its notes are obeyed, and what cannot be is refused
 * with TAMIS_MISMATCH, or TAMIS_UNSUPPORTED where only the command can make such keys. A filter
 * without keys has no form yet. */
tamis_status sql_form_obey(sql_form *, const tamis *, sql_why *);

/* The same by its notes, NULL where it has none. */
tamis_status sql_form_obey_notes(sql_form *, const char *encoding, const char *canon, bool has_keys,
                                 sql_why *);

/* A filter that gets its first key of this form gets its note. */
tamis_status sql_form_note_in(const sql_form *, tamis *);

/* Are keys taken as numbers: tamis_add_u64 and its like? */
bool sql_form_is_number(const sql_form *);

/* Can keys of this family have that encoding; and do they as they stand? */
bool sql_is_possible(sql_family, const char *encoding, bool *is_natural);

/* Is this the note of filters whose keys are floats? */
bool sql_is_real(const char *encoding);

/* ---- Two filters ---------------------------------------------------------------------------- */

/* Refuses two filters whose keys have other forms, with TAMIS_INVALID. */
tamis_status sql_forms_match(const tamis *a, const tamis *b, sql_why *);

/* One without keys takes the form of the other's: after merging. */
tamis_status sql_take_note(tamis *into, const tamis *from);

/* ---- Keys ----------------------------------------------------------------------------------- */

/* The bytes of a key. Of a number they are its 8 little-endian ones; the library takes it faster as
 * it is. */
typedef struct sql_key {
    bool is_number, is_impossible; /* impossible: not one of the filter's keys, whatever they are */
    uint64_t number;
    const void *bytes;
    size_t len;
    uint8_t room[24]; /* for the bytes of short keys */
} sql_key;

/* A value as it stands: an integer or time; a real; any other, whose bytes are borrowed. */
void sql_key_integer(sql_key *, int64_t);
void sql_key_real(sql_key *, double);
void sql_key_bytes(sql_key *, const void *bytes, size_t len);

/* As many bytes as sql_key_encode needs besides the key's own; 0 for none. */
size_t sql_key_room(const sql_form *, const sql_key *);

/* Makes it a key of the filter whose form that is. A number that the encoding has no place for is
 * an impossible key; a text that is none of its kind is TAMIS_INVALID. The bytes of the key are
 * then its own, borrowed, or in `room`. */
tamis_status sql_key_encode(const sql_form *, sql_key *, void *room, sql_why *);

/* The sentence for an impossible key that was to be added. */
void sql_why_impossible(sql_why *, const tamis *);

#endif
