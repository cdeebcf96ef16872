/* SPDX-License-Identifier: MIT */
/* What a filter is, and how full. */
#include "engines/duckdb/duck.h"

#include <stdlib.h>
#include <string.h>

#include "engines/sql/sql_specs.h"

/* ---- For each filter ------------------------------------------------------------------------ */

typedef bool tell(const tamis *, duck_vector, uint64_t row, sql_why *);

static bool tell_all(duck_chunk chunk, duck_vector out, tell *do_tell, sql_why *why) {
    duck_runs runs;
    bool is_good = duck_open_runs(&runs, chunk, why);
    if (!is_good) return false;
    while (is_good && duck_next_run(&runs, why))
        for (uint64_t row = runs.from; is_good && row < runs.to; row++) {
            if (runs.held.filter)
                is_good = do_tell(runs.held.filter, out, row, why);
            else
                duck_put_null(out, row);
        }
    duck_close_runs(&runs);
    return is_good && !*why->sentence;
}

static bool tell_items(const tamis *f, duck_vector out, uint64_t row, sql_why *why) {
    struct tamis_info info = TAMIS_INFO_INIT;
    (void)why;
    tamis_get_info(f, &info);
    duck_put_count(out, row, info.items);
    return true;
}

static bool items(duck_chunk chunk, duck_vector out, sql_why *why) {
    return tell_all(chunk, out, tell_items, why);
}

static bool tell_rate(const tamis *f, duck_vector out, uint64_t row, sql_why *why) {
    (void)why;
    ((double *)duck.vector_get_data(out))[row] = tamis_fpr_now(f);
    return true;
}

static bool rate(duck_chunk chunk, duck_vector out, sql_why *why) {
    return tell_all(chunk, out, tell_rate, why);
}

/* ---- All about it --------------------------------------------------------------------------- */

/* The fields of tamis_info, in the order in which they are put. */
static const struct field {
    const char *name;
    duck_type (*type)(void);
} fields[] = {
    {"kind", duck_type_text},
    {"spec", duck_type_text},
    {"contract", duck_type_text},
    {"capacity", duck_type_bigint},
    {"items", duck_type_bigint},
    {"distinct_items", duck_type_double},
    {"distinct_error", duck_type_double},
    {"fpr_asked", duck_type_double},
    {"fpr_expected", duck_type_double},
    {"fpr_now", duck_type_double},
    {"fill", duck_type_double},
    {"payload_bytes", duck_type_bigint},
    {"stored_bytes", duck_type_bigint},
    {"hash", duck_type_text},
    {"secret", duck_type_text},
    {"encoding", duck_type_text},
    {"abilities", duck_type_texts},
    {"is_saturated", duck_type_bool},
    {"is_degraded", duck_type_bool},
    {"caveat", duck_type_text},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static duck_type type_info(void) {
    duck_type types[FIELDS];
    const char *names[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        types[i] = fields[i].type();
        names[i] = fields[i].name;
    }
    duck_type made = duck.create_struct_type(types, names, FIELDS);
    for (size_t i = 0; i < FIELDS; i++) duck.destroy_logical_type(&types[i]);
    return made;
}

bool duck_put_abilities(duck_vector vector, uint64_t row, unsigned abilities, sql_why *why) {
    const char *words[32], *name;
    unsigned ability;
    size_t count = 0;
    for (size_t i = 0; (name = sql_ability_at(i, &ability)); i++)
        if (abilities & ability) words[count++] = name;
    return duck_put_texts(vector, row, words, count, why);
}

static void put_spec(duck_vector vector, uint64_t row, const tamis *f) {
    const size_t size = tamis_spec(f, NULL, 0) + 1;
    char *text = malloc(size);
    if (text) tamis_spec(f, text, size);
    duck_put_text(vector, row, text);
    free(text);
}

/* A struct that is put together from its first field to its last. */
typedef struct fields_of_row {
    duck_vector out;
    uint64_t row, next;
} fields_of_row;

static duck_vector next(fields_of_row *r) {
    return duck.struct_vector_get_child(r->out, r->next++);
}

static bool tell_info(const tamis *f, duck_vector out, uint64_t row, sql_why *why) {
    struct tamis_info info = TAMIS_INFO_INIT;
    fields_of_row r = {.out = out, .row = row};
    tamis_measure(f, &info);
    duck_put_text(next(&r), row, info.kind);
    put_spec(next(&r), row, f);
    duck_put_text(next(&r), row, info.contract);
    duck_put_count(next(&r), row, info.capacity);
    duck_put_count(next(&r), row, info.items);
    duck_put_rate(next(&r), row, info.items_now.value);
    duck_put_rate(next(&r), row, info.items_now.error);
    duck_put_rate(next(&r), row, info.fpr_asked);
    duck_put_rate(next(&r), row, info.fpr_expected);
    duck_put_rate(next(&r), row, info.fpr_now);
    ((double *)duck.vector_get_data(next(&r)))[row] = info.fill;
    duck_put_count(next(&r), row, info.payload_bytes);
    duck_put_count(next(&r), row, info.stored_bytes);
    duck_put_text(next(&r), row, info.hash);
    duck_put_text(next(&r), row, info.key_place);
    duck_put_text(next(&r), row, tamis_note(f, "encoding"));
    if (!duck_put_abilities(next(&r), row, info.abilities, why)) return false;
    duck_put_bool(next(&r), row, info.is_saturated);
    duck_put_bool(next(&r), row, info.is_degraded);
    duck_put_text(next(&r), row, info.caveat);
    return true;
}

static bool facts(duck_chunk chunk, duck_vector out, sql_why *why) {
    return tell_all(chunk, out, tell_info, why);
}

/* ---- The library ---------------------------------------------------------------------------- */

static bool version(duck_chunk chunk, duck_vector out, sql_why *why) {
    (void)why;
    for (uint64_t row = 0; row < duck.data_chunk_get_size(chunk); row++)
        duck_put_text(out, row, tamis_version());
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------ */

DUCK_CALL(items)
DUCK_CALL(rate)
DUCK_CALL(facts)
DUCK_CALL(version)

bool duck_register_facts(duck_connection connection) {
    static const duck_function functions[] = {
        {"tamis_items", call_items, duck_type_bigint, 1, 1, false, false},
        {"tamis_rate", call_rate, duck_type_double, 1, 1, false, false},
        {"tamis_info", call_facts, type_info, 1, 1, false, false},
        {"tamis_version", call_version, duck_type_text, 0, 0, false, false},
    };
    return duck_register_scalars(connection, functions, sizeof functions / sizeof *functions);
}
