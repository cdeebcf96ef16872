/* SPDX-License-Identifier: MIT */
/* CREATE VIRTUAL TABLE seen USING tamis('scalable:capacity=1M,fpr=1%')
 *
 *     INSERT INTO seen VALUES (?)                          adds a key
 *     SELECT ... WHERE EXISTS (SELECT 1 FROM seen WHERE key = ?)   asks
 *     DELETE FROM seen WHERE key = ?                       removes one, where the kind can
 *     SELECT image FROM seen                               the filter as a value
 *     INSERT INTO seen(command) VALUES ('check')           or 'tick', 'clear'
 *
 * A filter cannot list its keys, so a query that would need them is an error, never an empty
 * answer. */
#include "engines/sqlite/lite_store.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

typedef struct lite_table {
    sqlite3_vtab base;
    lite_store *store;
} lite_table;

typedef struct lite_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_value *key; /* that was asked */
    bool has_row;
} lite_cursor;

enum column { KEY, IMAGE, COMMAND };

/* How a query finds its rows. */
enum plan { BY_NOTHING, BY_KEY, WHOLE };

/* ---- Errors --------------------------------------------------------------------------------- */

static int fail(sqlite3_vtab *table, int rc, const char *message) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", message);
    return rc;
}

/* Passes on what the store refused. */
static int pass(sqlite3_vtab *base, int rc) {
    if (rc == SQLITE_OK) return SQLITE_OK;
    return fail(base, rc, lite_store_why(((lite_table *)base)->store));
}

/* ---- Making and dropping -------------------------------------------------------------------- */

/* The text of an argument in quotes of SQL, or without; NULL without memory. */
static char *unquoted(const char *text) {
    const char quote = *text;
    char *plain = sqlite3_mprintf("%s", text);
    if (!plain || (quote != '\'' && quote != '"')) return plain;
    char *to = plain;
    for (const char *at = text + 1; *at; at++) {
        if (*at == quote && at[1] != quote) break;
        at += *at == quote;
        *to++ = *at;
    }
    *to = '\0';
    return plain;
}

static int open_table(sqlite3 *db, void *state, const char *const *argv, sqlite3_vtab **made) {
    int rc = sqlite3_declare_vtab(
        db, "CREATE TABLE x(key PRIMARY KEY, image HIDDEN, command HIDDEN) WITHOUT ROWID");
    if (rc == SQLITE_OK) rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    if (rc != SQLITE_OK) return rc;
    lite_table *table = lite_new(sizeof *table);
    lite_store *store = lite_store_open(state, argv[1], argv[2]);
    if (!table || !store) {
        sqlite3_free(table);
        lite_store_close(store);
        return SQLITE_NOMEM;
    }
    table->store = store;
    *made = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base) {
    lite_store_close(((lite_table *)base)->store);
    sqlite3_free(base->zErrMsg); /* SQLite takes it from some methods only */
    sqlite3_free(base);
    return SQLITE_OK;
}

static int connect(sqlite3 *db, void *state, int argc, const char *const *argv, sqlite3_vtab **made,
                   char **error) {
    (void)argc, (void)error;
    return open_table(db, state, argv, made);
}

static int create(sqlite3 *db, void *state, int argc, const char *const *argv, sqlite3_vtab **made,
                  char **error) {
    if (argc != 4) {
        *error = sqlite3_mprintf("tamis: a table has one argument, a spec: CREATE VIRTUAL TABLE "
                                 "%s USING tamis('scalable:capacity=1M,fpr=1%%')",
                                 argv[2]);
        return SQLITE_ERROR;
    }
    char *spec = unquoted(argv[3]);
    if (!spec) return SQLITE_NOMEM;
    int rc = open_table(db, state, argv, made);
    if (rc == SQLITE_OK) {
        lite_store *store = ((lite_table *)*made)->store;
        rc = lite_store_create(store, spec);
        if (rc != SQLITE_OK) {
            *error = sqlite3_mprintf("%s", lite_store_why(store));
            disconnect(*made);
            *made = NULL;
        }
    }
    sqlite3_free(spec);
    return rc;
}

static int destroy(sqlite3_vtab *base) {
    const int rc = pass(base, lite_store_destroy(((lite_table *)base)->store));
    return rc == SQLITE_OK ? disconnect(base) : rc;
}

static int rename_table(sqlite3_vtab *base, const char *name) {
    return pass(base, lite_store_rename(((lite_table *)base)->store, name));
}

static int is_shadow(const char *name) {
    return sqlite3_stricmp(name, "data") == 0;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static bool is_about_key(sqlite3_index_info *index, int i) {
    const unsigned char op = index->aConstraint[i].op;
    return index->aConstraint[i].iColumn == KEY &&
           (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS) &&
           sqlite3_stricmp(sqlite3_vtab_collation(index, i), "BINARY") == 0;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *index) {
    (void)table;
    for (int i = 0; i < index->nConstraint; i++) {
        if (!is_about_key(index, i)) continue;
        if (!index->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        index->aConstraintUsage[i].argvIndex = 1;
        index->aConstraintUsage[i].omit = 1;
        index->idxNum = BY_KEY;
        index->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        index->estimatedCost = 1;
        index->estimatedRows = 1;
        return SQLITE_OK;
    }
    index->idxNum = index->colUsed == (sqlite3_uint64)1 << IMAGE ? WHOLE : BY_NOTHING;
    index->estimatedCost = index->idxNum == WHOLE ? 1e6 : 1e50;
    index->estimatedRows = 1;
    return SQLITE_OK;
}

/* A statement sees one state of the database: it is enough to look once. */
static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made) {
    const int rc = pass(base, lite_store_look(((lite_table *)base)->store));
    if (rc != SQLITE_OK) return rc;
    lite_cursor *c = lite_new(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    *made = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    sqlite3_value_free(((lite_cursor *)cursor)->key);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static bool has(const tamis *f, const sql_key *key) {
    if (key->is_impossible) return false;
    return key->is_number ? tamis_has_u64(f, key->number) : tamis_has(f, key->bytes, key->len);
}

static int ask(sqlite3_vtab *base, lite_filter *filter, sqlite3_value *value, bool *is_there) {
    char message[LITE_MESSAGE];
    sql_key key;
    sql_why why;
    void *room;
    *is_there = false;
    if (sqlite3_value_type(value) == SQLITE_NULL) return SQLITE_OK;
    const tamis_status rc = lite_key_in(filter, value, &key, &room, &why);
    if (rc == TAMIS_NOMEM) return SQLITE_NOMEM;
    if (rc) {
        lite_message(message, &why);
        return fail(base, SQLITE_ERROR, message);
    }
    *is_there = has(filter->f, &key);
    sqlite3_free(room);
    return SQLITE_OK;
}

static int filter_rows(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                       sqlite3_value **argv) {
    lite_cursor *c = (lite_cursor *)cursor;
    sqlite3_vtab *base = cursor->pVtab;
    lite_filter *filter;
    (void)text, (void)argc;
    sqlite3_value_free(c->key);
    c->key = NULL;
    c->has_row = plan == WHOLE;
    if (plan == BY_NOTHING)
        return fail(base, SQLITE_ERROR,
                    "tamis: a filter cannot list its keys: ask one by WHERE key = ..., in EXISTS "
                    "(SELECT 1 ...) say, with the collation BINARY");
    int rc = pass(base, lite_store_filter(((lite_table *)base)->store, &filter));
    if (rc != SQLITE_OK || plan == WHOLE) return rc;
    c->key = sqlite3_value_dup(argv[0]);
    if (!c->key) return SQLITE_NOMEM;
    return ask(base, filter, c->key, &c->has_row);
}

static int next(sqlite3_vtab_cursor *cursor) {
    ((lite_cursor *)cursor)->has_row = false;
    return SQLITE_OK;
}

static int is_end(sqlite3_vtab_cursor *cursor) {
    return !((lite_cursor *)cursor)->has_row;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i) {
    const lite_cursor *c = (lite_cursor *)cursor;
    sqlite3_vtab *base = cursor->pVtab;
    lite_filter *filter;
    if (i == KEY && c->key) sqlite3_result_value(ctx, c->key);
    if (i != IMAGE) return SQLITE_OK;
    const int rc = pass(base, lite_store_filter(((lite_table *)base)->store, &filter));
    if (rc == SQLITE_OK) lite_result_image(ctx, filter->f);
    return rc;
}

/* ---- Changing ------------------------------------------------------------------------------- */

static int command(lite_table *table, sqlite3_value *value) {
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) return SQLITE_NOMEM;
    if (strcmp(text, "check") == 0) return pass(&table->base, lite_store_check(table->store));
    if (strcmp(text, "tick") == 0) return pass(&table->base, lite_store_tick(table->store));
    if (strcmp(text, "clear") == 0) return pass(&table->base, lite_store_clear(table->store));
    return fail(&table->base, SQLITE_ERROR, "tamis: a command is 'check', 'tick' or 'clear'");
}

/* NULL is no key, and is left out, as by tamis_build(). */
static int insert(lite_table *table, sqlite3_value **column_of) {
    if (sqlite3_value_type(column_of[IMAGE]) != SQLITE_NULL)
        return fail(&table->base, SQLITE_ERROR,
                    "tamis: keys are inserted, not an image: that can stay a value");
    if (sqlite3_value_type(column_of[COMMAND]) != SQLITE_NULL)
        return command(table, column_of[COMMAND]);
    if (sqlite3_value_type(column_of[KEY]) == SQLITE_NULL) return SQLITE_OK;
    return pass(&table->base, lite_store_change(table->store, column_of[KEY], true));
}

static int update(sqlite3_vtab *base, int argc, sqlite3_value **argv, sqlite3_int64 *id) {
    lite_table *table = (lite_table *)base;
    (void)id;
    if (argc == 1) return pass(base, lite_store_change(table->store, argv[0], false));
    if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
        return fail(base, SQLITE_ERROR,
                    "tamis: a key is not updated: delete it, and insert another");
    return insert(table, argv + 2);
}

/* ---- Transactions --------------------------------------------------------------------------- */

static int begin(sqlite3_vtab *base) {
    return pass(base, lite_store_look(((lite_table *)base)->store));
}

static int sync(sqlite3_vtab *base) {
    return pass(base, lite_store_flush(((lite_table *)base)->store));
}

static int commit(sqlite3_vtab *base) {
    (void)base;
    return SQLITE_OK;
}

static int rollback(sqlite3_vtab *base) {
    lite_store_rollback(((lite_table *)base)->store);
    return SQLITE_OK;
}

static int savepoint(sqlite3_vtab *base, int level) {
    (void)level;
    return sync(base);
}

static int release(sqlite3_vtab *base, int level) {
    (void)base, (void)level;
    return SQLITE_OK;
}

static int rollback_to(sqlite3_vtab *base, int level) {
    (void)level;
    return rollback(base);
}

int lite_register_table(lite *l) {
    static const sqlite3_module module = {
        .iVersion = 3,
        .xCreate = create,
        .xConnect = connect,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xDestroy = destroy,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter_rows,
        .xNext = next,
        .xEof = is_end,
        .xColumn = column,
        .xUpdate = update,
        .xBegin = begin,
        .xSync = sync,
        .xCommit = commit,
        .xRollback = rollback,
        .xRename = rename_table,
        .xSavepoint = savepoint,
        .xRelease = release,
        .xRollbackTo = rollback_to,
        .xShadowName = is_shadow,
    };
    return lite_register_module(l, "tamis", &module);
}
