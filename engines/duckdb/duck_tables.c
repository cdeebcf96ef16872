/* SPDX-License-Identifier: MIT */
/* Functions that return rows: which kinds there are, what a spec would cost, what a file has.
 *
 * A call is bound first, which finds all rows; then they are put into chunks. */
#include "engines/duckdb/duck.h"

#include <stdlib.h>
#include <string.h>

#include "engines/duckdb/duck_foreign.h"

/* ---- Tables --------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 8 };

typedef struct table {
    const char *name;
    int parameters[3]; /* types; 0: no more */
    const char *named; /* one that may be given, a VARCHAR; or NULL */
    struct {
        const char *name;
        duck_type (*type)(void);
    } column[MAX_COLUMNS];

    /* Finds the rows: false with a sentence. What *rows becomes is for `put` and `release`. */
    bool (*find)(char **arguments, int *types, void **rows, uint64_t *count, sql_why *);
    bool (*put)(const void *rows, uint64_t row, unsigned column, duck_vector, uint64_t at,
                sql_why *);
    duck_delete_fn *release; /* NULL: there is nothing */
} table;

typedef struct bound {
    const table *table;
    void *rows;
    uint64_t count;
} bound;

static void release_bound(void *memory) {
    bound *b = memory;
    if (b->table->release) b->table->release(b->rows);
    free(b);
}

/* An argument as text, and its type; NULL for a missing one. */
static char *argument_of(duck_value value, int *type) {
    char *text = NULL;
    if (value && !duck.is_null_value(value)) {
        duck_type logical = duck.get_value_type(value); /* the value's own */
        *type = duck.get_type_id(logical);
        char *theirs = duck.get_varchar(value);
        const size_t size = theirs ? strlen(theirs) + 1 : 0;
        text = size ? malloc(size) : NULL;
        if (text) memcpy(text, theirs, size);
        duck.free(theirs);
    }
    if (value) duck.destroy_value(&value);
    return text;
}

enum { ARGUMENTS = 4 }; /* with the named one, which is the last */

static bool take_arguments(duck_info info, const table *t, char *arguments[ARGUMENTS],
                           int types[ARGUMENTS], sql_why *why) {
    for (uint64_t i = 0; i < 3 && t->parameters[i]; i++) {
        arguments[i] = argument_of(duck.bind_get_parameter(info, i), &types[i]);
        if (!arguments[i]) return duck_fail(why, "argument %d of %s is NULL", (int)i + 1, t->name);
    }
    if (t->named)
        arguments[3] = argument_of(duck.bind_get_named_parameter(info, t->named), &types[3]);
    return true;
}

static bool bind_rows(duck_info info, const table *t, sql_why *why) {
    char *arguments[ARGUMENTS] = {NULL};
    int types[ARGUMENTS] = {0};
    bound *b = calloc(1, sizeof *b);
    if (!b) return duck_no_memory(why);
    b->table = t;
    const bool is_good = take_arguments(info, t, arguments, types, why) &&
                         t->find(arguments, types, &b->rows, &b->count, why);
    for (size_t i = 0; i < ARGUMENTS; i++) free(arguments[i]);
    if (is_good)
        duck.bind_set_bind_data(info, b, release_bound);
    else
        free(b);
    return is_good;
}

static void bind(duck_info info) {
    const table *t = duck.bind_get_extra_info(info);
    char text[DUCK_ERROR];
    sql_why why = {.sentence = ""};
    for (size_t i = 0; i < MAX_COLUMNS && t->column[i].name; i++) {
        duck_type type = t->column[i].type();
        duck.bind_add_result_column(info, t->column[i].name, type);
        duck.destroy_logical_type(&type);
    }
    if (!bind_rows(info, t, &why)) duck.bind_set_error(info, duck_sentence(&why, text));
}

/* ---- Scans ---------------------------------------------------------------------------------- */

/* Which columns are wanted: others are not put. */
typedef struct scan {
    uint64_t next, columns;
    uint64_t column[MAX_COLUMNS];
} scan;

static void start(duck_info info) {
    scan *s = calloc(1, sizeof *s);
    if (!s) {
        duck.init_set_error(info, "tamis: out of memory");
        return;
    }
    s->columns = duck.init_get_column_count(info);
    if (s->columns > MAX_COLUMNS) s->columns = MAX_COLUMNS;
    for (uint64_t i = 0; i < s->columns; i++) s->column[i] = duck.init_get_column_index(info, i);
    duck.init_set_init_data(info, s, free);
    duck.init_set_max_threads(info, 1);
}

enum { ROWS = 1024 }; /* of a chunk: no more than DuckDB's 2048 */

static void put_rows(duck_info info, duck_chunk chunk) {
    const bound *b = duck.function_get_bind_data(info);
    scan *s = duck.function_get_init_data(info);
    char text[DUCK_ERROR];
    sql_why why = {.sentence = ""};
    uint64_t n = 0;
    for (; n < ROWS && s->next < b->count; n++, s->next++)
        for (uint64_t i = 0; i < s->columns; i++) {
            if (s->column[i] >= MAX_COLUMNS) continue; /* a row number */
            if (!b->table->put(b->rows, s->next, (unsigned)s->column[i],
                               duck.data_chunk_get_vector(chunk, i), n, &why)) {
                duck.function_set_error(info, duck_sentence(&why, text));
                return;
            }
        }
    duck.data_chunk_set_size(chunk, n);
}

/* ---- tamis_kinds ---------------------------------------------------------------------------- */

static bool find_kinds(char **arguments, int *types, void **rows, uint64_t *count, sql_why *why) {
    (void)arguments, (void)types, (void)why;
    *rows = NULL;
    *count = tamis_kind_count();
    return true;
}

static bool put_kind(const void *rows, uint64_t row, unsigned column, duck_vector out, uint64_t at,
                     sql_why *why) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    (void)rows;
    tamis_kind_at((size_t)row, &kind);
    switch (column) {
    case 0: duck_put_text(out, at, kind.name); break;
    case 1: duck_put_text(out, at, kind.contract); break;
    case 2: duck_put_bool(out, at, kind.abilities & TAMIS_IS_BUILT); break;
    default: return duck_put_abilities(out, at, kind.abilities, why);
    }
    return true;
}

/* ---- tamis_plan ----------------------------------------------------------------------------- */

static bool find_plan(char **arguments, int *types, void **rows, uint64_t *count, sql_why *why) {
    struct tamis_plan *plan = malloc(sizeof *plan);
    (void)types;
    if (!plan) return duck_no_memory(why);
    *plan = (struct tamis_plan)TAMIS_PLAN_INIT;
    *rows = plan;
    *count = 1;
    if (duck_check(tamis_plan_spec(arguments[0], plan), why)) return true;
    free(plan);
    return false;
}

static bool put_plan(const void *rows, uint64_t row, unsigned column, duck_vector out, uint64_t at,
                     sql_why *why) {
    const struct tamis_plan *plan = rows;
    (void)row;
    switch (column) {
    case 0: duck_put_text(out, at, plan->kind); break;
    case 1: duck_put_count(out, at, plan->capacity); break;
    case 2: duck_put_rate(out, at, plan->fpr_expected); break;
    case 3: duck_put_rate(out, at, plan->bits_per_key); break;
    case 4: duck_put_count(out, at, plan->payload_bytes); break;
    case 5: duck_put_count(out, at, plan->stored_bytes); break;
    default: return duck_put_abilities(out, at, plan->abilities, why);
    }
    return true;
}

/* ---- tamis_read ----------------------------------------------------------------------------- */

static bool find_filters(char **arguments, int *types, void **rows, uint64_t *count, sql_why *why) {
    foreign_file *file = foreign_open(arguments[0], arguments[3], why);
    (void)types;
    *rows = file;
    if (file) *count = file->count;
    return file;
}

static bool put_filter(const void *rows, uint64_t row, unsigned column, duck_vector out,
                       uint64_t at, sql_why *why) {
    const foreign_file *file = rows;
    const foreign_filter *found = &file->filter[row];
    switch (column) {
    case 0: duck_put_text(out, at, found->name); break;
    case 1: duck_put_text(out, at, found->format); break;
    case 2: duck_put_text(out, at, found->kind); break;
    case 3: duck_put_text(out, at, found->keys); break;
    case 4: duck_put_count(out, at, found->offset); break;
    case 5: duck_put_count(out, at, found->size); break;
    default: {
        tamis *f = foreign_filter_of(file, found, why);
        const bool is_put = f && duck_put_image(out, at, f, why);
        tamis_free(f);
        return is_put;
    }
    }
    return true;
}

static void release_file(void *file) {
    foreign_close(file);
}

/* ---- tamis_parquet_has ---------------------------------------------------------------------- */

typedef struct groups {
    uint64_t count;
    struct {
        uint64_t number;
        bool may_have;
    } group[];
} groups;

static bool ask_groups(const foreign_file *file, const char *key, int type, groups *g,
                       sql_why *why) {
    for (; g->count < file->count; g->count++) {
        const foreign_filter *found = &file->filter[g->count];
        const char *number = strstr(found->format, "group=");
        g->group[g->count].number = number ? strtoull(number + 6, NULL, 10) : 0;
        if (!foreign_may_have(file, found, key, type, &g->group[g->count].may_have, why))
            return false;
    }
    return true;
}

static bool find_groups(char **arguments, int *types, void **rows, uint64_t *count, sql_why *why) {
    foreign_file *file = foreign_open_column(arguments[0], arguments[1], why);
    if (!file) return false;
    groups *g = calloc(1, sizeof *g + file->count * sizeof *g->group);
    const bool is_good =
        (g || duck_no_memory(why)) && ask_groups(file, arguments[2], types[2], g, why);
    if (is_good) {
        *rows = g;
        *count = g->count;
    } else {
        free(g);
    }
    foreign_close(file);
    return is_good;
}

static bool put_group(const void *rows, uint64_t row, unsigned column, duck_vector out, uint64_t at,
                      sql_why *why) {
    const groups *g = rows;
    (void)why;
    if (column == 0)
        duck_put_count(out, at, g->group[row].number);
    else
        duck_put_bool(out, at, g->group[row].may_have);
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------ */

static const table tables[] = {
    {.name = "tamis_kinds",
     .column = {{"kind", duck_type_text},
                {"contract", duck_type_text},
                {"is_built_once", duck_type_bool},
                {"abilities", duck_type_texts}},
     .find = find_kinds,
     .put = put_kind},
    {.name = "tamis_plan",
     .parameters = {DUCK_VARCHAR},
     .column = {{"kind", duck_type_text},
                {"capacity", duck_type_bigint},
                {"fpr_expected", duck_type_double},
                {"bits_per_key", duck_type_double},
                {"payload_bytes", duck_type_bigint},
                {"stored_bytes", duck_type_bigint},
                {"abilities", duck_type_texts}},
     .find = find_plan,
     .put = put_plan,
     .release = free},
    {.name = "tamis_read",
     .parameters = {DUCK_VARCHAR},
     .named = "format",
     .column = {{"filter", duck_type_text},
                {"format", duck_type_text},
                {"kind", duck_type_text},
                {"keys", duck_type_text},
                {"offset", duck_type_bigint},
                {"bytes", duck_type_bigint},
                {"image", duck_type_blob}},
     .find = find_filters,
     .put = put_filter,
     .release = release_file},
    {.name = "tamis_parquet_has",
     .parameters = {DUCK_VARCHAR, DUCK_VARCHAR, DUCK_ANY},
     .column = {{"row_group", duck_type_bigint}, {"may_have", duck_type_bool}},
     .find = find_groups,
     .put = put_group,
     .release = free},
};

static bool register_table(duck_connection connection, const table *t) {
    duck_table made = duck.create_table_function();
    duck.table_function_set_name(made, t->name);
    for (size_t i = 0; i < 3 && t->parameters[i]; i++) {
        duck_type type = duck.create_logical_type(t->parameters[i]);
        duck.table_function_add_parameter(made, type);
        duck.destroy_logical_type(&type);
    }
    if (t->named) {
        duck_type type = duck_type_text();
        duck.table_function_add_named_parameter(made, t->named, type);
        duck.destroy_logical_type(&type);
    }
    duck.table_function_set_extra_info(made, (void *)(uintptr_t)t, NULL);
    duck.table_function_set_bind(made, bind);
    duck.table_function_set_init(made, start);
    duck.table_function_set_function(made, put_rows);
    duck.table_function_supports_projection_pushdown(made, true);
    const bool is_known = duck.register_table_function(connection, made) == DUCK_OK;
    duck.destroy_table_function(&made);
    return is_known;
}

bool duck_register_tables(duck_connection connection) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!register_table(connection, &tables[i])) return false;
    return true;
}
