/* SPDX-License-Identifier: MIT */
/* Filters in files: images of one directory, and other systems' formats.
 *
 * A large filter is not a value but a file that all backends map. The directory is a setting of
 * superusers, and a name has no way out of it. An image that is replaced by another (as the command
 * and tamis_save do, by renaming) is opened by the next statement. */
#include "engines/postgres/pg.h"

#include <access/xact.h>
#include <lib/stringinfo.h>
#include <storage/fd.h>
#include <utils/builtins.h>
#include <utils/hsearch.h>
#include <utils/memutils.h>

#include <string.h>
#include <sys/stat.h>

#include "engines/sql/sql_names.h"

#include "tamis_formats.h"

/* ---- Names ---------------------------------------------------------------------------------- */

static const char *path_of(const text *given) {
    const char *name = text_to_cstring(given);
    if (!pg_directory || !*pg_directory)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("tamis: there is no directory of filters"),
                        errhint("A superuser sets tamis.directory.")));
    char *path = palloc(SQL_MAX_PATH + 1);
    sql_why why;
    if (sql_path_in(pg_directory, name, path, &why))
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("tamis: %s", why.sentence)));
    return path;
}

static sql_stamp look_at(const char *path) {
    sql_stamp stamp;
    sql_why why;
    const tamis_status rc = sql_stamp_of(path, &stamp, &why);
    if (rc)
        ereport(ERROR,
                (rc == TAMIS_IO ? errcode_for_file_access() : errcode(ERRCODE_WRONG_OBJECT_TYPE),
                 errmsg("tamis: %s", why.sentence)));
    return stamp;
}

/* ---- Open files ----------------------------------------------------------------------------- */

/* Files of this backend, by path; they stay open until it ends or another takes their place. */
typedef struct open_file {
    char path[SQL_MAX_PATH + 1];
    pg_file file;
    sql_stamp seen;
} open_file;

static HTAB *open_files;

/* NULL for one that was never opened. */
static open_file *find_entry(const char *path) {
    return open_files ? hash_search(open_files, path, HASH_FIND, NULL) : NULL;
}

static open_file *make_entry(const char *path) {
    if (!open_files) {
        HASHCTL how = {
            .keysize = SQL_MAX_PATH + 1, .entrysize = sizeof(open_file), .hcxt = TopMemoryContext};
        open_files = hash_create("tamis files", 16, &how, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
    }
    open_file *entry = hash_search(open_files, path, HASH_ENTER, NULL);
    memset(&entry->file, 0, sizeof *entry - offsetof(open_file, file));
    return entry;
}

/* Large ones are mapped, so that backends share their memory. */
static void open_again(open_file *entry, const sql_stamp *seen) {
    pg_room room;
    tamis *f;
    pg_load_in(&room, TopMemoryContext);
    const tamis_status rc = tamis_map_with(&f, entry->path, &room.options);
    if (rc && !entry->file.filter) hash_search(open_files, entry->path, HASH_REMOVE, NULL);
    pg_check(rc);
    tamis_free((tamis *)(uintptr_t)entry->file.filter);
    entry->file.filter = f;
    entry->file.changes++;
    entry->seen = *seen;
}

const pg_file *pg_file_named(const text *name) {
    const char *path = path_of(name);
    open_file *entry = find_entry(path);
    if (entry && pg_file_is_known(&entry->file)) return &entry->file;
    const sql_stamp seen = look_at(path);
    if (!entry) entry = make_entry(path);
    if (!entry->file.filter || !sql_is_same_stamp(&seen, &entry->seen)) open_again(entry, &seen);
    entry->file.looked = GetCurrentStatementStartTimestamp();
    return &entry->file;
}

bool pg_file_is_known(const pg_file *file) {
    return file->filter && file->looked == GetCurrentStatementStartTimestamp();
}

/* ---- From and to files ---------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pg_tamis_read);
Datum pg_tamis_read(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(pg_value_of(pg_file_named(PG_GETARG_TEXT_PP(0))->filter));
}

PG_FUNCTION_INFO_V1(pg_tamis_save);
Datum pg_tamis_save(PG_FUNCTION_ARGS) {
    const tamis *f = pg_view(PG_GETARG_DATUM(0));
    const char *path = path_of(PG_GETARG_TEXT_PP(1));
    struct stat old;
    if (lstat(path, &old) == 0) (void)look_at(path); /* a link could lead out of the directory */
    pg_check(tamis_save(f, path));
    open_file *entry = find_entry(path);
    if (entry) entry->file.looked = 0; /* what follows in this statement asks the new one */
    PG_RETURN_INT64((int64)tamis_image_size(f));
}

/* ---- Other systems -------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pg_tamis_import);
Datum pg_tamis_import(PG_FUNCTION_ARGS) {
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    pg_room room;
    tamis *f;
    pg_make_in(&room, CurrentMemoryContext);
    pg_check_bytes(tamis_import_with(&f, text_to_cstring(PG_GETARG_TEXT_PP(1)), VARDATA_ANY(bytes),
                                     VARSIZE_ANY_EXHDR(bytes), &room.options));
    PG_RETURN_POINTER(pg_value_of(f));
}

/* What the library writes; false instead of an error, which must not jump through it. */
typedef struct output {
    char *bytes;
    size_t used, room;
    bool has_no_memory;
} output;

static bool write_piece(void *ctx, const void *bytes, size_t size) {
    output *out = ctx;
    if (size > MaxAllocSize - out->used) return false;
    if (out->used + size > out->room) {
        const size_t room = Min(Max(out->room * 2, out->used + size), MaxAllocSize);
        char *more = palloc_extended(room, MCXT_ALLOC_NO_OOM);
        out->has_no_memory = !more;
        if (!more) return false;
        memcpy(more, out->bytes, out->used);
        pfree(out->bytes);
        out->bytes = more;
        out->room = room;
    }
    memcpy(out->bytes + out->used, bytes, size);
    out->used += size;
    return true;
}

PG_FUNCTION_INFO_V1(pg_tamis_export);
Datum pg_tamis_export(PG_FUNCTION_ARGS) {
    const tamis *f = pg_view(PG_GETARG_DATUM(0));
    output out = {.bytes = palloc(1024), .used = VARHDRSZ, .room = 1024};
    const tamis_status rc =
        tamis_export(f, text_to_cstring(PG_GETARG_TEXT_PP(1)), write_piece, &out);
    if (rc == TAMIS_IO && out.has_no_memory)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
    if (rc == TAMIS_IO)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: the filter is too large for a value")));
    pg_check(rc);
    SET_VARSIZE(out.bytes, out.used);
    PG_RETURN_BYTEA_P(out.bytes);
}
