/* SPDX-License-Identifier: MIT */
/* What a call site keeps from row to row: the handle of its filter, and the form of its keys.
 *
 * To read and check a filter for each row would take as long as the filter is large. So a handle
 * stays as long as the same value comes. A value in a table is known by its toast pointer. One that
 * came inline is known by its header, which has the checksum of the rest: its address says nothing,
 * because a variable of plpgsql that changes may stay where it is.
 *
 * Where every row has a filter of its own, none would be asked twice. So of a large value only a
 * slice is read when it comes first, and all of it when it comes a second time in a row. */
#include "engines/postgres/pg.h"

#include <access/detoast.h>
#include <utils/builtins.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>

#include <string.h>

enum { HEADER = TAMIS_HEADER_BYTES }; /* the last 16 are checksums: docs/format.md, 3 */
enum { SMALL = 64 << 10 };            /* bytes of values that are read as fast as three slices */

struct pg_call {
    MemoryContext context; /* as long as the call site */
    MemoryContext room;    /* of the handle alone */
    tamis *filter;
    bool is_toasted;
    struct varatt_external pointer;
    size_t size;
    uint8_t header[HEADER];
    const pg_file *file;
    uint64_t file_changes;         /* those of the file that `filter` stands for */
    char name[NAMEDATALEN * 3];    /* of the file */
    uint64_t changes;              /* how often the filter became another */
    struct varatt_external sliced; /* the last value of which a slice was read */
    pg_form *form;
    uint64_t obeys; /* `changes` that the form follows; NONE: notes of a slice */
};

#define NONE UINT64_MAX

pg_call *pg_call_of(FunctionCallInfo fcinfo) {
    FmgrInfo *site = fcinfo->flinfo;
    if (site->fn_extra) return site->fn_extra;
    pg_call *call = MemoryContextAllocZero(site->fn_mcxt, sizeof *call);
    call->context = site->fn_mcxt;
    call->room = AllocSetContextCreate(site->fn_mcxt, "tamis filter", ALLOCSET_SMALL_SIZES);
    return site->fn_extra = call;
}

/* ---- Filters -------------------------------------------------------------------------------- */

static const tamis *take(pg_call *call, Datum value) {
    call->filter = NULL;
    MemoryContextReset(call->room);
    call->filter = pg_load(value, call->room);
    call->changes++;
    return call->filter;
}

static bool is_same(const struct varatt_external *a, const struct varatt_external *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static bool is_held(const pg_call *call, const struct varatt_external *pointer) {
    return call->filter && call->is_toasted && is_same(pointer, &call->pointer);
}

static const tamis *toasted(pg_call *call, Datum value) {
    struct varatt_external pointer;
    VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
    if (is_held(call, &pointer)) return call->filter;
    take(call, value);
    call->is_toasted = true;
    call->pointer = pointer;
    return call->filter;
}

static const tamis *held(pg_call *call, Datum value) {
    const struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
    const size_t size = VARSIZE_ANY_EXHDR(bytes), known = size < HEADER ? size : HEADER;
    if (call->filter && !call->is_toasted && size == call->size &&
        memcmp(VARDATA_ANY(bytes), call->header, known) == 0)
        return call->filter;
    take(call, PointerGetDatum(bytes));
    call->is_toasted = false;
    call->size = size;
    memcpy(call->header, VARDATA_ANY(bytes), known);
    return call->filter;
}

const tamis *pg_call_filter(pg_call *call, Datum value) {
    return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)) ? toasted(call, value)
                                                             : held(call, value);
}

static bool is_named(const pg_call *call, const text *name) {
    const size_t len = VARSIZE_ANY_EXHDR(name);
    return call->file && len < sizeof call->name &&
           memcmp(call->name, VARDATA_ANY(name), len) == 0 && !call->name[len];
}

/* Another call may have found first that the file was replaced, and freed the handle of before. */
const tamis *pg_call_file(pg_call *call, const text *name) {
    const bool is_known = is_named(call, name) && pg_file_is_known(call->file);
    const pg_file *file = is_known ? call->file : pg_file_named(name); /* refuses long names */
    if (file == call->file && file->changes == call->file_changes) return call->filter;
    text_to_cstring_buffer(name, call->name, sizeof call->name);
    call->file = file;
    call->file_changes = file->changes;
    call->filter = (tamis *)(uintptr_t)file->filter;
    call->changes++;
    return call->filter;
}

/* ---- Forms ---------------------------------------------------------------------------------- */

static pg_form *some_form(pg_call *call, FunctionCallInfo fcinfo, Oid type) {
    if (!call->form) call->form = pg_form_of_type(type, PG_GET_COLLATION(), call->context);
    return call->form;
}

static const pg_form *form_of(pg_call *call, FunctionCallInfo fcinfo, Oid type) {
    (void)some_form(call, fcinfo, type);
    if (call->obeys == call->changes) return call->form;
    pg_form_obey(call->form, call->filter);
    call->obeys = call->changes;
    return call->form;
}

static Oid argument_type(FunctionCallInfo fcinfo, int arg) {
    const Oid type = get_fn_expr_argtype(fcinfo->flinfo, arg);
    if (!OidIsValid(type)) elog(ERROR, "tamis: the type of argument %d is unknown", arg + 1);
    return type;
}

const pg_form *pg_call_form(pg_call *call, FunctionCallInfo fcinfo, int arg) {
    if (call->form && call->obeys == call->changes) return call->form;
    return form_of(call, fcinfo, argument_type(fcinfo, arg));
}

const pg_form *pg_call_element_form(pg_call *call, FunctionCallInfo fcinfo, int arg) {
    if (call->form && call->obeys == call->changes) return call->form;
    return form_of(call, fcinfo, get_element_type(getBaseType(argument_type(fcinfo, arg))));
}

/* ---- Slices --------------------------------------------------------------------------------- */

/* A value that can be cut, and was not the one before. */
static bool is_new(pg_call *call, Datum value) {
    struct varatt_external pointer;
    if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value))) return false;
    VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
    if (VARATT_EXTERNAL_IS_COMPRESSED(pointer) || pointer.va_rawsize < SMALL) return false;
    if (is_held(call, &pointer) || is_same(&pointer, &call->sliced)) return false;
    call->sliced = pointer;
    return true;
}

/* What its notes say of keys. */
static const pg_form *form_by(pg_call *call, FunctionCallInfo fcinfo, Datum value, int arg,
                              const struct tamis_slice *s) {
    pg_form *form = some_form(call, fcinfo, argument_type(fcinfo, arg));
    const void *notes = s->notes_size ? pg_slice(value, s->notes_offset, s->notes_size) : NULL;
    const char *encoding, *canon;
    pg_check(tamis_slice_note(notes, s->notes_size, "encoding", &encoding));
    pg_check(tamis_slice_note(notes, s->notes_size, "canon", &canon));
    call->obeys = NONE;
    pg_form_obey_notes(form, encoding, canon, s->items > 0);
    return form;
}

static bool has_slice(Datum value, const void *header, uint64_t size, const sql_key *key) {
    struct tamis_slice s = TAMIS_SLICE_INIT;
    if (key->is_impossible) return false;
    pg_check(tamis_slice_find(&s, header, size, NULL, key->bytes, key->len));
    return tamis_slice_has(&s, s.size ? pg_slice(value, s.offset, s.size) : NULL);
}

bool pg_call_slice(pg_call *call, FunctionCallInfo fcinfo, Datum value, int arg, bool *has) {
    struct tamis_slice s = TAMIS_SLICE_INIT;
    sql_key key;
    if (!is_new(call, value)) return false;
    const uint64_t size = call->sliced.va_rawsize - VARHDRSZ;
    const void *header = pg_slice(value, 0, HEADER);
    const tamis_status rc = tamis_slice_find(&s, header, size, NULL, "", 0); /* for the notes */
    if (rc == TAMIS_UNSUPPORTED) return false;
    pg_check(rc);
    pg_key_of(form_by(call, fcinfo, value, arg, &s), PG_GETARG_DATUM(arg), &key);
    *has = has_slice(value, header, size, &key);
    return true;
}
