/* SPDX-License-Identifier: MIT */
/* Queries: many keys at a time. No is certain. */
#include "engines/duckdb/duck.h"

#include <stdlib.h>
#include <string.h>

/* ---- Runs of keys --------------------------------------------------------------------------- */

/* What a query does with the keys of rows that have one filter. */
typedef bool answer(const tamis *, const duck_keys *, const duck_column *, uint64_t from,
                    duck_room *, duck_vector out, sql_why *);

static bool answer_run(const duck_runs *runs, const duck_column *column, duck_form *form,
                       answer *do_answer, duck_vector out, sql_why *why) {
    duck_room room = {NULL};
    duck_keys keys;
    const bool is_done = duck_obey(form, runs->held.filter, why) &&
                         duck_read_keys(&keys, form, column, runs->from, runs->to, &room, why) &&
                         do_answer(runs->held.filter, &keys, column, runs->from, &room, out, why);
    duck_give_back(&room);
    return is_done;
}

static void put_nulls(duck_vector out, const duck_column *column, uint64_t from, uint64_t to,
                      bool are_all) {
    if (!are_all && !column->validity && column->type != DUCK_NULL) return;
    for (uint64_t row = from; row < to; row++)
        if (are_all || duck_is_null(column, row)) duck_put_null(out, row);
}

static bool ask(duck_chunk chunk, duck_vector out, answer *do_answer, sql_why *why) {
    duck_column column = duck_open_argument(chunk, 1);
    duck_form form;
    duck_runs runs;
    bool is_good = duck_form_of(&form, &column, why) && duck_open_runs(&runs, chunk, why);
    if (is_good) {
        while (is_good && duck_next_run(&runs, why)) {
            if (runs.held.filter) is_good = answer_run(&runs, &column, &form, do_answer, out, why);
            put_nulls(out, &column, runs.from, runs.to, !runs.held.filter);
        }
        duck_close_runs(&runs);
    }
    duck_close_column(&column);
    return is_good && !*why->sentence;
}

/* ---- Has ------------------------------------------------------------------------------------ */

static void find(const tamis *f, const duck_keys *keys, uint8_t *hit) {
    if (keys->numbers)
        tamis_has_u64s(f, keys->numbers, keys->count, hit);
    else
        tamis_has_many(f, keys->keys, keys->count, hit);
    for (size_t i = 0; keys->impossible && i < keys->count; i++)
        if (keys->impossible[i]) hit[i] = 0;
}

static bool answer_has(const tamis *f, const duck_keys *keys, const duck_column *column,
                       uint64_t from, duck_room *room, duck_vector out, sql_why *why) {
    (void)column, (void)room, (void)why;
    find(f, keys, (uint8_t *)duck.vector_get_data(out) + from);
    return true;
}

static bool has(duck_chunk chunk, duck_vector out, sql_why *why) {
    return ask(chunk, out, answer_has, why);
}

/* ---- Count, get, which ---------------------------------------------------------------------- */

static bool answer_count(const tamis *f, const duck_keys *keys, const duck_column *column,
                         uint64_t from, duck_room *room, duck_vector out, sql_why *why) {
    uint64_t *counts = duck_take(room, keys->count * sizeof *counts);
    (void)column;
    if (!counts) return duck_no_memory(why);
    if (keys->numbers)
        tamis_count_u64s(f, keys->numbers, keys->count, counts);
    else
        tamis_count_many(f, keys->keys, keys->count, counts);
    for (size_t i = 0; i < keys->count; i++)
        duck_put_count(out, from + i, keys->impossible && keys->impossible[i] ? 0 : counts[i]);
    return true;
}

static bool count(duck_chunk chunk, duck_vector out, sql_why *why) {
    return ask(chunk, out, answer_count, why);
}

static bool require(const tamis *f, unsigned ability, const char *what, sql_why *why) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f, &info);
    return info.abilities & ability || duck_fail(why, "%s has no %s", info.kind, what);
}

static bool answer_get(const tamis *f, const duck_keys *keys, const duck_column *column,
                       uint64_t from, duck_room *room, duck_vector out, sql_why *why) {
    if (!require(f, TAMIS_CAN_GET, "values", why)) return false;
    uint64_t *values = duck_take(room, keys->count * sizeof *values);
    uint8_t *hit = duck_take(room, keys->count);
    (void)column;
    if (!values || !hit) return duck_no_memory(why);
    if (keys->numbers)
        tamis_get_u64s(f, keys->numbers, keys->count, values, hit);
    else
        tamis_get_many(f, keys->keys, keys->count, values, hit);
    for (size_t i = 0; i < keys->count; i++) {
        if (hit[i] && !(keys->impossible && keys->impossible[i]))
            ((int64_t *)duck.vector_get_data(out))[from + i] = (int64_t)values[i];
        else
            duck_put_null(out, from + i);
    }
    return true;
}

static bool get(duck_chunk chunk, duck_vector out, sql_why *why) {
    return ask(chunk, out, answer_get, why);
}

static size_t labels_of(const tamis *f, const duck_keys *keys, size_t i, uint64_t *labels,
                        size_t room) {
    uint8_t bytes[8];
    if (keys->impossible && keys->impossible[i]) return 0;
    if (!keys->numbers)
        return tamis_labels(f, keys->keys[i].bytes, keys->keys[i].len, labels, room);
    for (unsigned b = 0; b < 8; b++) bytes[b] = (uint8_t)(keys->numbers[i] >> 8 * b);
    return tamis_labels(f, bytes, sizeof bytes, labels, room);
}

static bool answer_which(const tamis *f, const duck_keys *keys, const duck_column *column,
                         uint64_t from, duck_room *room, duck_vector out, sql_why *why) {
    if (!require(f, TAMIS_CAN_LABEL, "labels", why)) return false;
    const size_t max = (size_t)tamis_label_count(f);
    uint64_t *labels = duck_take(room, (max + 1) * sizeof *labels);
    const char **names = duck_take(room, (max + 1) * sizeof *names);
    if (!labels || !names) return duck_no_memory(why);
    for (size_t i = 0; i < keys->count; i++) {
        const bool is_null = duck_is_null(column, from + i);
        const size_t found = is_null ? 0 : labels_of(f, keys, i, labels, max);
        for (size_t l = 0; l < found; l++) names[l] = tamis_label_name(f, labels[l]);
        if (!duck_put_texts(out, from + i, names, found, why)) return false;
    }
    return true;
}

static bool which(duck_chunk chunk, duck_vector out, sql_why *why) {
    return ask(chunk, out, answer_which, why);
}

/* ---- Lists of keys -------------------------------------------------------------------------- */

/* The lists of a chunk: rows, and all their elements. */
typedef struct lists {
    duck_column rows, elements;
    duck_form form;
} lists;

static bool open_lists(lists *l, duck_chunk chunk, sql_why *why) {
    l->rows = duck_open_argument(chunk, 1);
    l->elements = (duck_column){.type = DUCK_NULL};
    if (l->rows.type == DUCK_LIST)
        l->elements = duck_open_column(duck.list_vector_get_child(l->rows.vector));
    else if (l->rows.type != DUCK_NULL)
        duck_fail(why, "the second argument is a list of keys");
    if (!*why->sentence && duck_form_of(&l->form, &l->elements, why)) return true;
    duck_close_column(&l->elements);
    duck_close_column(&l->rows);
    return false;
}

static void close_lists(lists *l) {
    duck_close_column(&l->elements);
    duck_close_column(&l->rows);
}

/* Is there an element for which the answer is `wanted`? NULLs have none. */
static bool finds(const lists *l, const tamis *f, duck_list list, bool wanted, bool *is_found,
                  sql_why *why) {
    duck_room room = {NULL};
    duck_keys keys;
    uint8_t *hit = duck_take(&room, (size_t)list.length);
    bool is_good = hit || duck_no_memory(why);
    *is_found = false;
    is_good = is_good && duck_read_keys(&keys, &l->form, &l->elements, list.offset,
                                        list.offset + list.length, &room, why);
    if (is_good) find(f, &keys, hit);
    for (uint64_t i = 0; is_good && i < list.length; i++)
        *is_found |= !duck_is_null(&l->elements, list.offset + i) && hit[i] == wanted;
    duck_give_back(&room);
    return is_good;
}

static bool ask_lists(lists *l, const duck_runs *runs, bool wanted, duck_vector out, sql_why *why) {
    const duck_list *list = (const duck_list *)l->rows.data;
    const bool is_null = !runs->held.filter;
    if (!is_null && !duck_obey(&l->form, runs->held.filter, why)) return false;
    for (uint64_t row = runs->from; row < runs->to; row++) {
        bool is_found;
        if (is_null || duck_is_null(&l->rows, row)) {
            duck_put_null(out, row);
            continue;
        }
        if (!finds(l, runs->held.filter, list[row], wanted, &is_found, why)) return false;
        duck_put_bool(out, row, is_found == wanted);
    }
    return true;
}

static bool has_some(duck_chunk chunk, duck_vector out, bool wanted, sql_why *why) {
    lists l;
    duck_runs runs;
    if (!open_lists(&l, chunk, why)) return false;
    bool is_good = duck_open_runs(&runs, chunk, why);
    if (is_good) {
        while (is_good && duck_next_run(&runs, why))
            is_good = ask_lists(&l, &runs, wanted, out, why);
        duck_close_runs(&runs);
    }
    close_lists(&l);
    return is_good && !*why->sentence;
}

static bool has_any(duck_chunk chunk, duck_vector out, sql_why *why) {
    return has_some(chunk, out, true, why);
}

/* All are in it when none is found that is not. */
static bool has_all(duck_chunk chunk, duck_vector out, sql_why *why) {
    return has_some(chunk, out, false, why);
}

/* ---- Functions ------------------------------------------------------------------------------ */

DUCK_CALL(has)
DUCK_CALL(has_any)
DUCK_CALL(has_all)
DUCK_CALL(count)
DUCK_CALL(get)
DUCK_CALL(which)

bool duck_register_queries(duck_connection connection) {
    static const duck_function functions[] = {
        {"tamis_has", call_has, duck_type_bool, 2, 2, false, false},
        {"tamis_has_any", call_has_any, duck_type_bool, 2, 2, false, false},
        {"tamis_has_all", call_has_all, duck_type_bool, 2, 2, false, false},
        {"tamis_count", call_count, duck_type_bigint, 2, 2, false, false},
        {"tamis_get", call_get, duck_type_bigint, 2, 2, false, false},
        {"tamis_which", call_which, duck_type_texts, 2, 2, false, false},
    };
    return duck_register_scalars(connection, functions, sizeof functions / sizeof *functions);
}
