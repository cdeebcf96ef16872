/* SPDX-License-Identifier: MIT */
/* For engines/sqlite: what its files share.
 *
 *     value ──image, name or pointer──▶ open filter ──▶ library ──▶ answer
 *     value ──its storage class, the note "encoding"──▶ key
 *
 * A function of SQL may be called ten million times in a statement, so a filter stays open: with
 * the call where its argument is constant, by its header where it is not, by its pointer where
 * tamis_open() made one. */
#ifndef TAMIS_ENGINES_SQLITE_LITE_H
#define TAMIS_ENGINES_SQLITE_LITE_H

#include <sqlite3ext.h>

#include "engines/sql/sql_cache.h"
#include "engines/sql/sql_keys.h"
#include "engines/sql/sql_names.h"
#include "engines/sql/sql_specs.h"

#include "tamis.h"
#include "tamis_engine.h"

/* ---- Filters -------------------------------------------------------------------------------- */

enum { LITE_CLASSES = 4 }; /* of values that are keys: integer, real, text, blob */

/* An open filter, and how values of each class become its keys, once that was asked. */
typedef struct lite_filter {
    const tamis *f;
    uint64_t serial; /* of the cache; 0 for others */
    sql_opened *opened;
    tamis *own;
    bool is_known[LITE_CLASSES];
    sql_form form[LITE_CLASSES];
} lite_filter;

void lite_filter_free(void *filter);

/* ---- Connections ---------------------------------------------------------------------------- */

/* What a connection has, as long as it has a function or a module of ours. */
typedef struct lite {
    sqlite3 *db;
    int users;
    sql_cache cache;
    lite_filter cached[SQL_CACHE_ENTRIES];
    sql_names *names;
    struct tamis_allocator memory;
    struct tamis_options options; /* to load by; lite_limit() is for what is made */
} lite;

/* The options by which a filter is made that must fit into a value. */
struct tamis_options lite_limit(const lite *);

/* Memory of SQLite, cleared; NULL without it. */
void *lite_new(size_t size);

/* ---- Errors --------------------------------------------------------------------------------- */

/* Room for a whole message. */
enum { LITE_MESSAGE = 640 };

/* The message of a refusal, and of the library's last. */
void lite_message(char *message, const sql_why *why);
void lite_library_message(char *message);

/* A function ends with that error. */
void lite_fail(sqlite3_context *, tamis_status, const sql_why *);
void lite_refuse(sqlite3_context *, const char *sentence);

/* The same for a name, with how filters get one. */
void lite_fail_name(sqlite3_context *, tamis_status, sql_why *);

/* With the library's sentence; false, unless rc is TAMIS_OK. */
bool lite_check(sqlite3_context *, tamis_status rc);

/* ---- Arguments and results ------------------------------------------------------------------ */

/* The connection's state, of a function. */
lite *lite_of(sqlite3_context *);

/* The filter of an argument: an image, a name, or a pointer of tamis_open(). NULL after an error,
 * and without one for NULL; then the result is set. */
lite_filter *lite_argument(sqlite3_context *, sqlite3_value *, int index);

/* A filter of the image, to be changed and freed. NULL as above. Names are refused: the function
 * would not depend on its arguments alone. */
tamis *lite_to_change(sqlite3_context *, sqlite3_value *);

/* A text argument with no NUL inside; NULL after an error, with what it is in the sentence. */
const char *lite_text(sqlite3_context *, sqlite3_value *, const char *what);

/* The result is the image of the filter, which is freed. */
void lite_result_filter(sqlite3_context *, tamis *);
void lite_result_image(sqlite3_context *, const tamis *);
void lite_result_count(sqlite3_context *, uint64_t);

/* ---- Keys ----------------------------------------------------------------------------------- */

/* Natural forms of values by class; `type` is SQLITE_INTEGER and so on. */
void lite_form_of(sql_form *, int type);
const char *lite_class_name(int type);

/* The key of a value in a filter whose notes are obeyed. `*room` is NULL or memory to free with
 * sqlite3_free when the key is no longer needed. */
tamis_status lite_key_in(lite_filter *, sqlite3_value *, sql_key *, void **room, sql_why *);

/* The same for a form that stays what it is. */
tamis_status lite_key_by(const sql_form *, sqlite3_value *, sql_key *, void **room, sql_why *);

/* ---- What the files register ---------------------------------------------------------------- */

int lite_register_queries(lite *);
int lite_register_changes(lite *);
int lite_register_builds(lite *);
int lite_register_reports(lite *);
int lite_register_names(lite *);
int lite_register_rows(lite *);
int lite_register_table(lite *);

/* A scalar function, and an aggregate. `flags` beside SQLITE_UTF8. */
typedef void lite_function(sqlite3_context *, int, sqlite3_value **);
typedef struct lite_scalar {
    const char *name;
    int args, flags;
    lite_function *call;
} lite_scalar;

int lite_register(lite *, const lite_scalar *, size_t count);
int lite_register_aggregate(lite *, const char *name, int args, lite_function *step,
                            void (*end)(sqlite3_context *));
int lite_register_module(lite *, const char *name, const sqlite3_module *);

#endif
