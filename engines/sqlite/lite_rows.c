/* SPDX-License-Identifier: MIT */
/* Functions that return rows: tamis_kinds(), tamis_plan(spec), tamis_list(filter).
 *
 * Each is an eponymous table: columns, then a hidden one with its argument. */
#include "engines/sqlite/lite.h"

#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

typedef struct rows_table {
    sqlite3_vtab base;
    lite *state;
    const struct rows_kind *kind;
} rows_table;

typedef struct rows_cursor {
    sqlite3_vtab_cursor base;
    bool has_row;
    sqlite3_int64 row;
    sqlite3_value *argument;
    struct tamis_kind_info about;
    struct tamis_plan plan;
    tamis *filter;
    sql_opened *opened;
    const tamis *listed;
    uint64_t cursor, hash, count;
} rows_cursor;

/* One of the functions. */
typedef struct rows_kind {
    const char *columns;
    int argument; /* the number of its hidden column, -1 without */
    int (*open)(rows_table *, rows_cursor *);
    void (*next)(rows_cursor *);
    void (*column)(const rows_cursor *, sqlite3_context *, int);
} rows_kind;

/* ---- Errors and columns --------------------------------------------------------------------- */

static int fail(rows_table *table, const char *sentence) {
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("tamis: %s", sentence);
    return table->base.zErrMsg ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int check(rows_table *table, tamis_status rc) {
    if (!rc) return SQLITE_OK;
    return rc == TAMIS_NOMEM ? SQLITE_NOMEM : fail(table, tamis_why());
}

static void result_text(sqlite3_context *ctx, const char *text) {
    if (text && *text) sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void result_words(sqlite3_context *ctx, unsigned abilities) {
    char words[SQL_ABILITIES_ROOM];
    sql_abilities(abilities, words, sizeof words);
    sqlite3_result_text(ctx, words, -1, SQLITE_TRANSIENT);
}

static void result_rate(sqlite3_context *ctx, double rate) {
    if (rate > 0) sqlite3_result_double(ctx, rate);
}

/* ---- tamis_kinds() -------------------------------------------------------------------------- */

static void next_kind(rows_cursor *c) {
    c->has_row = tamis_kind_at((size_t)++c->row - 1, &c->about);
}

static int open_kinds(rows_table *table, rows_cursor *c) {
    (void)table;
    c->about = (struct tamis_kind_info)TAMIS_KIND_INFO_INIT;
    next_kind(c);
    return SQLITE_OK;
}

static void kind_column(const rows_cursor *c, sqlite3_context *ctx, int i) {
    switch (i) {
    case 0: result_text(ctx, c->about.name); break;
    case 1: result_text(ctx, c->about.contract); break;
    case 2: sqlite3_result_int(ctx, (c->about.abilities & TAMIS_IS_BUILT) != 0); break;
    default: result_words(ctx, c->about.abilities);
    }
}

static const rows_kind kinds = {
    "CREATE TABLE x(kind TEXT, contract TEXT, is_built_once INTEGER, abilities TEXT)",
    -1,
    open_kinds,
    next_kind,
    kind_column,
};

/* ---- tamis_plan(spec) ----------------------------------------------------------------------- */

static void no_more(rows_cursor *c) {
    c->has_row = false;
    c->row++;
}

static int open_plan(rows_table *table, rows_cursor *c) {
    if (sqlite3_value_type(c->argument) == SQLITE_NULL) return SQLITE_OK;
    if (sqlite3_value_type(c->argument) != SQLITE_TEXT) return fail(table, "a spec is a text");
    const char *spec = (const char *)sqlite3_value_text(c->argument);
    if (!spec) return SQLITE_NOMEM;
    if (strlen(spec) != (size_t)sqlite3_value_bytes(c->argument))
        return fail(table, "a spec is a text without a byte 0");
    c->plan = (struct tamis_plan)TAMIS_PLAN_INIT;
    const int rc = check(table, tamis_plan_spec(spec, &c->plan));
    c->has_row = rc == SQLITE_OK;
    return rc;
}

static void plan_column(const rows_cursor *c, sqlite3_context *ctx, int i) {
    switch (i) {
    case 0: result_text(ctx, c->plan.kind); break;
    case 1: lite_result_count(ctx, c->plan.capacity); break;
    case 2: result_rate(ctx, c->plan.fpr_expected); break;
    case 3: result_rate(ctx, c->plan.bits_per_key); break;
    case 4: lite_result_count(ctx, c->plan.payload_bytes); break;
    case 5: lite_result_count(ctx, c->plan.stored_bytes); break;
    default: result_words(ctx, c->plan.abilities);
    }
}

static const rows_kind plan = {
    "CREATE TABLE x(kind TEXT, capacity INTEGER, fpr REAL, bits_per_key REAL, "
    "payload_bytes INTEGER, stored_bytes INTEGER, abilities TEXT, spec HIDDEN)",
    7,
    open_plan,
    no_more,
    plan_column,
};

/* ---- tamis_list(filter) --------------------------------------------------------------------- */

static void next_stored(rows_cursor *c) {
    c->has_row = tamis_next(c->listed, &c->cursor, &c->hash, &c->count);
    c->row++;
}

/* The filter of an image, a name or a pointer. */
static int open_filter(rows_table *table, rows_cursor *c) {
    sql_why why;
    const int type = sqlite3_value_type(c->argument);
    if (type == SQLITE_BLOB) {
        const void *image = sqlite3_value_blob(c->argument);
        const size_t size = (size_t)sqlite3_value_bytes(c->argument);
        const int rc =
            check(table, tamis_load_with(&c->filter, image, size, &table->state->options));
        c->listed = c->filter;
        return rc;
    }
    if (type != SQLITE_TEXT) return fail(table, "a filter that is listed is an image or a name");
    const char *name = (const char *)sqlite3_value_text(c->argument);
    const tamis_status rc =
        name ? sql_names_find(table->state->names, name, &c->opened, &why) : TAMIS_NOMEM;
    if (rc) return rc == TAMIS_NOMEM ? SQLITE_NOMEM : fail(table, why.sentence);
    c->listed = sql_opened_filter(c->opened);
    return SQLITE_OK;
}

static int open_list(rows_table *table, rows_cursor *c) {
    struct tamis_info info = TAMIS_INFO_INIT;
    if (sqlite3_value_type(c->argument) == SQLITE_NULL) return SQLITE_OK;
    const int rc = open_filter(table, c);
    if (rc) return rc;
    tamis_get_info(c->listed, &info);
    if (!(info.abilities & TAMIS_CAN_LIST)) {
        sqlite3_free(table->base.zErrMsg);
        table->base.zErrMsg = sqlite3_mprintf("tamis: %s cannot list what it has", info.kind);
        return table->base.zErrMsg ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    c->cursor = 0;
    next_stored(c);
    return SQLITE_OK;
}

static void list_column(const rows_cursor *c, sqlite3_context *ctx, int i) {
    const char *label = tamis_label_name(c->listed, c->count);
    switch (i) {
    case 0: sqlite3_result_int64(ctx, (sqlite3_int64)c->hash); break;
    case 1:
        if (!label) lite_result_count(ctx, c->count);
        break;
    default: result_text(ctx, label);
    }
}

static const rows_kind list = {
    "CREATE TABLE x(hash INTEGER, count INTEGER, label TEXT, filter HIDDEN)",
    3,
    open_list,
    next_stored,
    list_column,
};

/* ---- The module ----------------------------------------------------------------------------- */

static int connect(sqlite3 *db, void *state, sqlite3_vtab **made, const rows_kind *kind) {
    int rc = sqlite3_declare_vtab(db, kind->columns);
    if (rc == SQLITE_OK) rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    if (rc != SQLITE_OK) return rc;
    rows_table *table = lite_new(sizeof *table);
    if (!table) return SQLITE_NOMEM;
    table->state = state;
    table->kind = kind;
    *made = &table->base;
    return SQLITE_OK;
}

static int connect_kinds(sqlite3 *db, void *state, int argc, const char *const *argv,
                         sqlite3_vtab **made, char **error) {
    (void)argc, (void)argv, (void)error;
    return connect(db, state, made, &kinds);
}

static int connect_plan(sqlite3 *db, void *state, int argc, const char *const *argv,
                        sqlite3_vtab **made, char **error) {
    (void)argc, (void)argv, (void)error;
    return connect(db, state, made, &plan);
}

static int connect_list(sqlite3 *db, void *state, int argc, const char *const *argv,
                        sqlite3_vtab **made, char **error) {
    (void)argc, (void)argv, (void)error;
    return connect(db, state, made, &list);
}

static int disconnect(sqlite3_vtab *table) {
    sqlite3_free(table->zErrMsg);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *index) {
    const rows_kind *kind = ((rows_table *)base)->kind;
    index->estimatedCost = 100;
    index->estimatedRows = 50;
    if (kind->argument < 0) return SQLITE_OK;
    for (int i = 0; i < index->nConstraint; i++) {
        if (index->aConstraint[i].iColumn != kind->argument ||
            index->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!index->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        index->aConstraintUsage[i].argvIndex = 1;
        index->aConstraintUsage[i].omit = 1;
        index->idxNum = 1;
        return SQLITE_OK;
    }
    index->estimatedCost = 1e50; /* an error: there is nothing to tell about */
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **made) {
    rows_cursor *c = lite_new(sizeof *c);
    (void)table;
    if (!c) return SQLITE_NOMEM;
    *made = &c->base;
    return SQLITE_OK;
}

static void empty(rows_cursor *c) {
    tamis_free(c->filter);
    sql_opened_drop(c->opened);
    sqlite3_value_free(c->argument);
    const sqlite3_vtab_cursor base = c->base;
    *c = (rows_cursor){.base = base};
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    empty((rows_cursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
                  sqlite3_value **argv) {
    rows_cursor *c = (rows_cursor *)cursor;
    rows_table *table = (rows_table *)cursor->pVtab;
    (void)index, (void)text;
    empty(c);
    if (table->kind->argument >= 0) {
        if (argc != 1) return fail(table, "this table is a function of one argument");
        if (sqlite3_value_pointer(argv[0], "tamis"))
            return fail(table,
                        "what tamis_open() returned is not listed: give the image, or a name");
        c->argument = sqlite3_value_dup(argv[0]);
        if (!c->argument) return SQLITE_NOMEM;
    }
    return table->kind->open(table, c);
}

static int next(sqlite3_vtab_cursor *cursor) {
    ((rows_table *)cursor->pVtab)->kind->next((rows_cursor *)cursor);
    return SQLITE_OK;
}

static int is_end(sqlite3_vtab_cursor *cursor) {
    return !((rows_cursor *)cursor)->has_row;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i) {
    const rows_cursor *c = (rows_cursor *)cursor;
    const rows_kind *kind = ((rows_table *)cursor->pVtab)->kind;
    if (i == kind->argument)
        sqlite3_result_value(ctx, c->argument);
    else
        kind->column(c, ctx, i);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = ((rows_cursor *)cursor)->row;
    return SQLITE_OK;
}

#define MODULE(connecter)                                                               \
    {                                                                                   \
        .xConnect = (connecter), .xBestIndex = best_index, .xDisconnect = disconnect,   \
        .xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter, .xNext = next, \
        .xEof = is_end, .xColumn = column, .xRowid = row_id,                            \
    }

int lite_register_rows(lite *l) {
    static const sqlite3_module kinds_module = MODULE(connect_kinds),
                                plan_module = MODULE(connect_plan),
                                list_module = MODULE(connect_list);
    int rc = lite_register_module(l, "tamis_kinds", &kinds_module);
    if (rc == SQLITE_OK) rc = lite_register_module(l, "tamis_plan", &plan_module);
    if (rc == SQLITE_OK) rc = lite_register_module(l, "tamis_list", &list_module);
    return rc;
}
