/* SPDX-License-Identifier: MIT */
/* For engines/postgres: what its files share.
 *
 * A value of type `tamis` is an image. It enters by one of the doors of the type (text, binary,
 * bytea, a file), passes the gate there, and is stored as it came. From then on:
 *
 *     value ──toast pointer or header──▶ handle, kept for the call ──▶ library ──▶ answer
 *     datum ──its type, the note "encoding"──▶ key
 *
 * Everything that the library allocates is in a memory context of the server, so that an error or a
 * cancelled query leaves nothing behind; what is not memory has a callback there. */
#ifndef TAMIS_ENGINES_POSTGRES_PG_H
#define TAMIS_ENGINES_POSTGRES_PG_H

#include <postgres.h>

#include <datatype/timestamp.h>
#include <fmgr.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

#include "engines/sql/sql_keys.h"

#include "tamis.h"
#include "tamis_engine.h"

/* ---- Settings ------------------------------------------------------------------------------- */

extern int pg_max_bytes;      /* of a filter that is made or grows */
extern double pg_default_fpr; /* of a spec that has neither rate nor size */
extern char *pg_directory;    /* of files; "" for none */

/* ---- Errors --------------------------------------------------------------------------------- */

/* Raises an error with the sentence of the library, unless rc is TAMIS_OK. */
void pg_check(tamis_status rc);

/* The same for bytes that come in by a door of the type. */
void pg_check_bytes(tamis_status rc);

/* ---- Values --------------------------------------------------------------------------------- */

/* Options for a handle whose memory is in a context. */
typedef struct pg_room {
    struct tamis_allocator allocator;
    struct tamis_options options;
} pg_room;

/* Made or grown within tamis.max_bytes, and loaded whatever its size: a limit binds who makes a
 * filter, never who replays or restores one. */
void pg_make_in(pg_room *, MemoryContext);
void pg_load_in(pg_room *, MemoryContext);

/* Some bytes of a value in a table. Offsets and sizes are below 1 GB, where values end. */
const void *pg_slice(Datum value, uint64_t offset, uint64_t size);

/* A filter of the value's own, in the context, that can be changed. */
tamis *pg_load(Datum value, MemoryContext);

/* A read-only filter on a value in the current context, valid as long as that; and one of a value
 * that passed the gate before, whose header alone is checked, to learn what it is. */
tamis *pg_view(Datum value);
tamis *pg_glance(Datum value);

/* A value in the current context, from bytes that pass the gate, or of a filter. */
struct varlena *pg_value_of_bytes(const void *bytes, size_t size);
struct varlena *pg_value_of(const tamis *);

/* The input function of the type, by which the planner knows a constant of it. */
extern Datum pg_tamis_in(PG_FUNCTION_ARGS);

/* Refuses what has grown from `before` bytes of payload beyond tamis.max_bytes. */
uint64_t pg_payload_bytes(const tamis *);
void pg_within_limit(const tamis *, uint64_t before);

/* The spec with a rate, where it has neither rate nor size and tamis.default_fpr is another. */
char *pg_spec(const text *spec);

/* ---- Keys ----------------------------------------------------------------------------------- */

/* How datums of a type become keys. */
typedef struct pg_form pg_form;

/* For keys of a type and, of texts, a collation; `cxt` is where it is kept. Types without one form
 * are refused. */
pg_form *pg_form_of_type(Oid type, Oid collation, MemoryContext cxt);

/* The note "encoding" that a filter of such keys gets. */
const char *pg_form_note(const pg_form *);

bool pg_form_is_number(const pg_form *);

/* From now on keys are those of this filter: its notes are obeyed, and what cannot be is refused. A
 * filter without keys has no form yet. */
void pg_form_obey(pg_form *, const tamis *);

/* The same by its notes, NULL where it has none. */
void pg_form_obey_notes(pg_form *, const char *encoding, const char *canon, bool has_keys);

/* The key of a datum: a part of it, or of memory in the current context. */
void pg_key_of(const pg_form *, Datum, sql_key *);

/* The same of forms that are numbers, where nothing else of the key is needed. */
uint64_t pg_number_of(const pg_form *, Datum);

/* A filter that gets its first key of this form gets its note. */
void pg_form_note_in(const pg_form *, tamis *);

/* Refuses two filters whose keys have other forms. */
void pg_forms_match(const tamis *, const tamis *);

/* Merges or intersects two filters whose forms match, within tamis.max_bytes unless one of them is
 * beyond it already. */
typedef tamis_status pg_join_fn(tamis *into, const tamis *from);
void pg_join(tamis *into, const tamis *from, pg_join_fn *);

/* ---- Calls ---------------------------------------------------------------------------------- */

/* What a call site keeps from row to row. */
typedef struct pg_call pg_call;

pg_call *pg_call_of(FunctionCallInfo);

/* The handle of the value, kept until another value comes. */
const tamis *pg_call_filter(pg_call *, Datum value);

/* Is the key of an argument in a large value that comes for the first time? Then a slice of it is
 * read, and not all of it. False where that cannot be: for other values, other kinds. */
bool pg_call_slice(pg_call *, FunctionCallInfo, Datum value, int key, bool *has);

/* The form of keys of this argument, for that filter. An array has the form of its elements. */
const pg_form *pg_call_form(pg_call *, FunctionCallInfo, int arg);
const pg_form *pg_call_element_form(pg_call *, FunctionCallInfo, int arg);

/* The same for a filter that stands in a file. */
const tamis *pg_call_file(pg_call *, const text *name);

/* ---- Files ---------------------------------------------------------------------------------- */

/* A file of tamis.directory. Its handle is shared by all calls of this backend and looked at again
 * in every statement: `changes` counts how often it became another. */
typedef struct pg_file {
    const tamis *filter;
    uint64_t changes;
    TimestampTz looked; /* when the statement started that did */
} pg_file;

const pg_file *pg_file_named(const text *name);

/* Was it looked at in this statement? */
bool pg_file_is_known(const pg_file *);

#endif
