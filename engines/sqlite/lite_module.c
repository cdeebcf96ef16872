/* SPDX-License-Identifier: MIT */
/* The extension: what SQLite calls when it loads it, and what a connection has. */
#include "engines/sqlite/lite.h"

#include <stdlib.h>
#include <string.h>

#include "engines/sqlite/tamis_sqlite.h"

SQLITE_EXTENSION_INIT1

#define EXPORTED __attribute__((visibility("default")))

/* ---- Memory --------------------------------------------------------------------------------- */

void *lite_new(size_t size) {
    void *made = sqlite3_malloc64(size);
    return made ? memset(made, 0, size) : NULL;
}

/* SQLite gives at most 2 GiB at once, and aligns to 8: the byte before says how far it moved. */
enum { ALIGNED = 16, LARGE = 1 << 30 };

static void *take(void *ctx, size_t size) {
    (void)ctx;
    if (size >= LARGE) return calloc(1, size);
    uint8_t *raw = sqlite3_malloc64(size + ALIGNED);
    if (!raw) return NULL;
    const size_t moved = ALIGNED - (uintptr_t)raw % ALIGNED;
    memset(raw + moved, 0, size);
    raw[moved - 1] = (uint8_t)moved;
    return raw + moved;
}

static void give(void *ctx, void *memory, size_t size) {
    (void)ctx;
    uint8_t *bytes = memory;
    if (size >= LARGE)
        free(memory);
    else
        sqlite3_free(bytes - bytes[-1]);
}

#if SQLITE_VERSION_NUMBER >= 3041000
/* Older ones cannot be asked. */
static bool is_interrupted(void *db) {
    return sqlite3_libversion_number() >= 3041000 && sqlite3_is_interrupted(db);
}
#else
static bool is_interrupted(void *db) {
    (void)db;
    return false;
}
#endif

struct tamis_options lite_limit(const lite *l) {
    struct tamis_options options = l->options;
    options.max_bytes = (uint64_t)sqlite3_limit(l->db, SQLITE_LIMIT_LENGTH, -1);
    return options;
}

/* ---- A connection --------------------------------------------------------------------------- */

enum { CACHE_BYTES = 256 << 20 };

static lite *open_state(sqlite3 *db) {
    lite *l = lite_new(sizeof *l);
    if (!l) return NULL;
    l->db = db;
    l->users = 1;
    l->memory = (struct tamis_allocator){.alloc = take, .free = give, .is_zeroed = true};
    l->options = (struct tamis_options)TAMIS_OPTIONS_INIT;
    l->options.allocator = &l->memory;
    l->options.should_stop = is_interrupted;
    l->options.stop_ctx = db;
    l->cache.max_bytes = CACHE_BYTES;
    return l;
}

/* Each function and module holds the state, and SQLite lets go of them in any order. */
static void leave(void *state) {
    lite *l = state;
    if (--l->users > 0) return;
    sql_cache_clear(&l->cache);
    sql_names_free(l->names);
    sqlite3_free(l);
}

/* After a failure SQLite has let go already. */
int lite_register(lite *l, const lite_scalar *scalars, size_t count) {
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        const lite_scalar *s = &scalars[i];
        l->users++;
        rc = sqlite3_create_function_v2(l->db, s->name, s->args, SQLITE_UTF8 | s->flags, l, s->call,
                                        NULL, NULL, leave);
    }
    return rc;
}

int lite_register_aggregate(lite *l, const char *name, int args, lite_function *step,
                            void (*end)(sqlite3_context *)) {
    l->users++;
    return sqlite3_create_function_v2(l->db, name, args, SQLITE_UTF8 | SQLITE_INNOCUOUS, l, NULL,
                                      step, end, leave);
}

int lite_register_module(lite *l, const char *name, const sqlite3_module *module) {
    l->users++;
    return sqlite3_create_module_v2(l->db, name, module, l, leave);
}

/* ---- Loading -------------------------------------------------------------------------------- */

static const char state_name[] = "tamis";

/* How a program that links the extension finds the state of a connection. */
static void find_state(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    lite **found = sqlite3_value_pointer(argv[0], state_name);
    (void)argc;
    if (found) *found = sqlite3_user_data(ctx);
}

static const lite_scalar finder = {"tamis_state", 1, SQLITE_DIRECTONLY, find_state};

static int register_all(lite *l) {
    static int (*const parts[])(lite *) = {
        lite_register_queries, lite_register_changes, lite_register_builds, lite_register_reports,
        lite_register_names,   lite_register_rows,    lite_register_table,
    };
    int rc = lite_register(l, &finder, 1);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == SQLITE_OK; i++) rc = parts[i](l);
    return rc;
}

EXPORTED int sqlite3_tamis_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api);
    (void)api;
    if (sqlite3_libversion_number() < 3040000) {
        if (error) *error = sqlite3_mprintf("tamis: this needs SQLite 3.40 or later");
        return SQLITE_ERROR;
    }
    lite *l = open_state(db);
    if (!l) return SQLITE_NOMEM;
    int rc = SQLITE_OK;
    switch (sql_names_create(&l->names, getenv("TAMIS_DIRECTORY"), &l->options)) {
    case TAMIS_OK: rc = register_all(l); break;
    case TAMIS_NOMEM: rc = SQLITE_NOMEM; break;
    default:
        rc = SQLITE_ERROR;
        if (error)
            *error =
                sqlite3_mprintf("tamis: TAMIS_DIRECTORY is longer than %d bytes", SQL_MAX_PATH);
    }
    leave(l);
    return rc;
}

/* Under any file name. */
EXPORTED int sqlite3_extension_init(sqlite3 *, char **, const sqlite3_api_routines *);
EXPORTED int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
    return sqlite3_tamis_init(db, error, api);
}

EXPORTED int sqlite3_tamis_allow_files(sqlite3 *db, const char *directory) {
    lite *l = NULL;
    sql_names *names;
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(db, "SELECT tamis_state(?1)", -1, &statement, NULL);
    if (rc != SQLITE_OK) return SQLITE_MISUSE;
    sqlite3_bind_pointer(statement, 1, &l, state_name, NULL);
    (void)sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (!l) return SQLITE_MISUSE;
    switch (sql_names_create(&names, directory, &l->options)) {
    case TAMIS_OK: break;
    case TAMIS_NOMEM: return SQLITE_NOMEM;
    default: return SQLITE_TOOBIG;
    }
    sql_names_free(l->names);
    l->names = names;
    return SQLITE_OK;
}
