/* SPDX-License-Identifier: MIT */
/* Values of type tamis: from bytes to handles and back. */
#include "engines/postgres/pg.h"

#include <access/detoast.h>
#include <miscadmin.h>
#include <utils/builtins.h>
#include <utils/memutils.h>

#include <string.h>

/* ---- Errors --------------------------------------------------------------------------------- */

static int code_of(tamis_status rc) {
    switch (rc) {
    case TAMIS_NOMEM: return ERRCODE_OUT_OF_MEMORY;
    case TAMIS_FULL:
    case TAMIS_TOO_LARGE: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case TAMIS_CORRUPT: return ERRCODE_DATA_CORRUPTED;
    case TAMIS_TOO_NEW:
    case TAMIS_UNSUPPORTED: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case TAMIS_IO: return ERRCODE_IO_ERROR;
    case TAMIS_CANCELLED: return ERRCODE_QUERY_CANCELED;
    case TAMIS_NOT_FOUND: return ERRCODE_NO_DATA_FOUND;
    default: return ERRCODE_INVALID_PARAMETER_VALUE;
    }
}

static void throw_error(tamis_status rc, int code) {
    /* With the server's own sentence. Memory that is not cleared to the end counts as missing. */
    if (rc == TAMIS_CANCELLED || rc == TAMIS_NOMEM) CHECK_FOR_INTERRUPTS();
    ereport(ERROR,
            (errcode(code), errmsg("tamis: %s", tamis_why()),
             rc == TAMIS_TOO_LARGE ? errhint("The limit is the setting tamis.max_bytes.") : 0));
}

void pg_check(tamis_status rc) {
    if (rc) throw_error(rc, code_of(rc));
}

void pg_check_bytes(tamis_status rc) {
    if (rc)
        throw_error(rc, rc == TAMIS_CORRUPT ? ERRCODE_INVALID_BINARY_REPRESENTATION : code_of(rc));
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* The first touch of much memory takes long: bytes between two looks at whether to stop. */
enum { PART = 4 << 20 };

/* Only what will end the query, so that nothing is done twice. */
static bool is_stopped(void *ctx) {
    (void)ctx;
    return QueryCancelPending || ProcDiePending;
}

static bool clear(char *memory, size_t size) {
    for (size_t at = 0; at < size; at += PART) {
        if (is_stopped(NULL)) return false;
        memset(memory + at, 0, Min(size - at, PART));
    }
    return true;
}

/* Errors must not jump through the library: without memory it gets NULL, and says so itself. */
static void *take(void *context, size_t size) {
    if (size > MaxAllocHugeSize) return NULL;
    void *memory = MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (!memory) return NULL;
    if (size <= PART) return memset(memory, 0, size);
    if (clear(memory, size)) return memory;
    pfree(memory);
    return NULL;
}

static void give(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    pfree(memory);
}

void pg_load_in(pg_room *room, MemoryContext context) {
    room->allocator =
        (struct tamis_allocator){.alloc = take, .free = give, .ctx = context, .is_zeroed = true};
    room->options = (struct tamis_options)TAMIS_OPTIONS_INIT;
    room->options.allocator = &room->allocator;
    room->options.should_stop = is_stopped;
}

void pg_make_in(pg_room *room, MemoryContext context) {
    pg_load_in(room, context);
    room->options.max_bytes = (uint64_t)pg_max_bytes;
}

uint64_t pg_payload_bytes(const tamis *f) {
    uint64_t bytes;
    (void)tamis_payload(f, &bytes);
    return bytes;
}

void pg_within_limit(const tamis *f, uint64_t before) {
    const uint64_t bytes = pg_payload_bytes(f);
    if (bytes > before && bytes > (uint64_t)pg_max_bytes)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: the filter would grow to " UINT64_FORMAT
                               " bytes: tamis.max_bytes is %d",
                               bytes, pg_max_bytes)));
}

/* ---- From values to handles ----------------------------------------------------------------- */

static struct varlena *room_for(uint64_t size) {
    if (size > MaxAllocSize - VARHDRSZ)
        ereport(
            ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("tamis: a filter of " UINT64_FORMAT " bytes is too large for a value", size),
             errhint("Values end at 1 GB. Build the filter with the command, and ask it by "
                     "tamis_file().")));
    struct varlena *value = palloc(size + VARHDRSZ);
    SET_VARSIZE(value, size + VARHDRSZ);
    return value;
}

static struct varlena *part_of(Datum value, uint64_t offset, uint64_t size) {
    struct varlena *bytes = PG_DETOAST_DATUM_SLICE(value, (int32)offset, (int32)size);
    if (VARSIZE_ANY_EXHDR(bytes) != size)
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                        errmsg("tamis: damaged: a value ends before its filter does")));
    return bytes;
}

const void *pg_slice(Datum value, uint64_t offset, uint64_t size) {
    const struct varlena *bytes = part_of(value, offset, size);
    return VARDATA_ANY(bytes);
}

/* Large ones in parts, since the server does not look for a cancel while it reads one. */
static struct varlena *fetched(Datum value) {
    struct varatt_external pointer;
    if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value))) return PG_DETOAST_DATUM_PACKED(value);
    VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
    const uint64_t size = pointer.va_rawsize - VARHDRSZ;
    if (VARATT_EXTERNAL_IS_COMPRESSED(pointer) || size <= PART)
        return PG_DETOAST_DATUM_PACKED(value);
    struct varlena *whole = room_for(size);
    for (uint64_t at = 0; at < size; at += PART) {
        const uint64_t n = Min(size - at, PART);
        CHECK_FOR_INTERRUPTS();
        struct varlena *part = part_of(value, at, n);
        memcpy(VARDATA(whole) + at, VARDATA_ANY(part), n);
        pfree(part);
    }
    return whole;
}

tamis *pg_load(Datum value, MemoryContext context) {
    struct varlena *bytes = fetched(value);
    pg_room room;
    tamis *f;
    pg_load_in(&room, context);
    pg_check(tamis_load_with(&f, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), &room.options));
    if ((Pointer)bytes != DatumGetPointer(value)) pfree(bytes);
    return f;
}

static tamis *view(Datum value, bool is_trusted) {
    struct varlena *bytes = fetched(value);
    pg_room room;
    tamis *f;
    pg_load_in(&room, CurrentMemoryContext);
    room.options.is_trusted = is_trusted;
    pg_check(tamis_view_with(&f, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), &room.options));
    return f;
}

tamis *pg_view(Datum value) {
    return view(value, false);
}

tamis *pg_glance(Datum value) {
    return view(value, true);
}

/* ---- And back ------------------------------------------------------------------------------- */

struct varlena *pg_value_of_bytes(const void *bytes, size_t size) {
    struct varlena *value = room_for(size);
    pg_room room;
    tamis *f;
    for (size_t at = 0; at < size; at += PART) {
        CHECK_FOR_INTERRUPTS();
        memcpy(VARDATA(value) + at, (const char *)bytes + at, Min(size - at, PART));
    }
    pg_load_in(&room, CurrentMemoryContext);
    pg_check_bytes(tamis_view_with(&f, VARDATA(value), size, &room.options));
    tamis_free(f);
    return value;
}

struct varlena *pg_value_of(const tamis *f) {
    const uint64_t size = tamis_image_size(f);
    struct varlena *value = room_for(size);
    for (uint64_t at = 0; at < size; at += PART) {
        CHECK_FOR_INTERRUPTS();
        pg_check(tamis_serialize_at(f, at, VARDATA(value) + at, Min(size - at, PART)));
    }
    return value;
}

/* ---- Specs ---------------------------------------------------------------------------------- */

/* Is it a plan, for this capacity or, where it names none, for another? */
static bool is_possible(const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    const size_t room = strlen(spec) + 64;
    char *text = palloc(room);
    bool can = !tamis_plan_spec(spec, &plan);
    if (!can && tamis_spec_set(spec, "capacity", "1000", text, room) < room)
        can = !tamis_plan_spec(text, &plan);
    pfree(text);
    return can;
}

/* With a rate of the server's, where one fits. */
static char *with_rate(const char *spec, size_t room) {
    char rate[32];
    char *text = palloc(room);
    snprintf(rate, sizeof rate, "%.17g", pg_default_fpr);
    const size_t size = tamis_spec_set(spec, "fpr", rate, text, room);
    if (size && size < room && is_possible(text)) return text;
    pfree(text);
    return NULL;
}

char *pg_spec(const text *given) {
    char *spec = given ? text_to_cstring(given) : pstrdup("blocked");
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    bool has_rate = false;
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; !(rc = tamis_spec_read(spec, i, &option)) && *option.name; i++)
        has_rate |= strcmp(option.name, "fpr") == 0 || strcmp(option.name, "size") == 0 ||
                    strcmp(option.name, "bits") == 0;
    pg_check(rc);
    if (has_rate || pg_default_fpr == 0.01) return spec;
    char *text = with_rate(spec, strlen(spec) + 64);
    return text ? text : spec;
}
