/* SPDX-License-Identifier: MIT */
/* What DuckDB calls when it loads the extension, and how functions become known to it. */
#include "engines/duckdb/duck.h"
#include "engines/duckdb/duck_states.h"

#include <stdlib.h>
#include <string.h>

/* ---- Calls ---------------------------------------------------------------------------------- */

void duck_run(duck_info info, duck_chunk chunk, duck_vector out, duck_work *work) {
    char text[DUCK_ERROR];
    sql_why why = {.sentence = ""};
    if (!work(chunk, out, &why)) duck.scalar_function_set_error(info, duck_sentence(&why, text));
}

/* ---- Scalar functions ----------------------------------------------------------------------- */

static bool add_form(duck_scalar_set set, const duck_function *f, unsigned arguments) {
    duck_scalar made = duck.create_scalar_function();
    duck_type any = duck.create_logical_type(DUCK_ANY), result = f->result();
    duck.scalar_function_set_name(made, f->name);
    for (unsigned i = 0; i < arguments; i++) duck.scalar_function_add_parameter(made, any);
    duck.scalar_function_set_return_type(made, result);
    duck.scalar_function_set_function(made, f->call);
    if (f->is_volatile) duck.scalar_function_set_volatile(made);
    if (f->takes_nulls) duck.scalar_function_set_special_handling(made);
    const bool is_added = duck.add_scalar_function_to_set(set, made) == DUCK_OK;
    duck.destroy_logical_type(&result);
    duck.destroy_logical_type(&any);
    duck.destroy_scalar_function(&made);
    return is_added;
}

static bool register_scalar(duck_connection connection, const duck_function *f) {
    duck_scalar_set set = duck.create_scalar_function_set(f->name);
    bool is_known = true;
    for (unsigned n = f->min_arguments; is_known && n <= f->max_arguments; n++)
        is_known = add_form(set, f, n);
    is_known = is_known && duck.register_scalar_function_set(connection, set) == DUCK_OK;
    duck.destroy_scalar_function_set(&set);
    return is_known;
}

bool duck_register_scalars(duck_connection connection, const duck_function *functions,
                           size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!register_scalar(connection, &functions[i])) return false;
    return true;
}

/* ---- Aggregates ----------------------------------------------------------------------------- */

void duck_raise(duck_info info, const sql_why *why) {
    char text[DUCK_ERROR];
    duck.aggregate_function_set_error(info, duck_sentence(why, text));
}

static bool add_aggregate(duck_aggregate_set set, const duck_aggregation *a, bool has_spec) {
    duck_aggregate made = duck.create_aggregate_function();
    duck_type key = duck.create_logical_type(a->key), text = duck_type_text(),
              blob = duck_type_blob();
    duck.aggregate_function_set_name(made, a->name);
    duck.aggregate_function_add_parameter(made, key);
    if (has_spec) duck.aggregate_function_add_parameter(made, text);
    duck.aggregate_function_set_return_type(made, blob);
    duck.aggregate_function_set_functions(made, a->size, a->init, a->update, a->combine,
                                          a->finalize);
    duck.aggregate_function_set_destructor(made, a->destroy);
    const bool is_added = duck.add_aggregate_function_to_set(set, made) == DUCK_OK;
    duck.destroy_logical_type(&blob);
    duck.destroy_logical_type(&text);
    duck.destroy_logical_type(&key);
    duck.destroy_aggregate_function(&made);
    return is_added;
}

bool duck_register_aggregate(duck_connection connection, const duck_aggregation *a) {
    duck_aggregate_set set = duck.create_aggregate_function_set(a->name);
    const bool is_known = add_aggregate(set, a, false) &&
                          (!a->has_spec || add_aggregate(set, a, true)) &&
                          duck.register_aggregate_function_set(connection, set) == DUCK_OK;
    duck.destroy_aggregate_function_set(&set);
    return is_known;
}

/* ---- Loading -------------------------------------------------------------------------------- */

static const char *load(duck_info info, const duck_access *access) {
    const void *api = access->get_api(info, DUCK_API_VERSION);
    duck_connection connection;
    if (!api) return "tamis: this DuckDB does not have the C API " DUCK_API_VERSION;
    duck_find(api);
    duck_learn_states(duck.library_version());
    if (!duck_open_names(getenv("TAMIS_DIRECTORY")))
        return "tamis: TAMIS_DIRECTORY names no directory that can be opened";
    if (duck.connect(*access->get_database(info), &connection) != DUCK_OK)
        return "tamis: the database cannot be connected to";
    const bool are_known = duck_register_queries(connection) && duck_register_changes(connection) &&
                           duck_register_facts(connection) && duck_register_build(connection) &&
                           duck_register_merge(connection) && duck_register_tables(connection);
    duck.disconnect(&connection);
    return are_known ? NULL : "tamis: functions of these names exist, or cannot be registered";
}

/* DuckDB makes the name from that of the file. */
__attribute__((visibility("default"))) bool tamis_init_c_api(duck_info, const duck_access *);

bool tamis_init_c_api(duck_info info, const duck_access *access) {
    const char *why_not = load(info, access);
    if (why_not) access->set_error(info, why_not);
    return !why_not;
}
