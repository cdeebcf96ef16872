/* SPDX-License-Identifier: MIT */
/* Names of filters, and changed filters: each is an image of its own, and costs a copy. */
#include "engines/duckdb/duck.h"

#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"

/* ---- Names ---------------------------------------------------------------------------------- */

/* A row of tamis_open: an image needs a name, a file has one. */
static bool open_row(const duck_column *what, const duck_column *names, uint64_t row,
                     duck_vector out, sql_why *why) {
    const bool is_file = what->type == DUCK_VARCHAR;
    const duck_string *value = &duck_strings(what)[row];
    char *file = NULL, *name = NULL;
    tamis *f = NULL;
    bool is_good = !names || (name = duck_text(&duck_strings(names)[row], "a name", why));
    if (is_good && is_file) {
        is_good =
            (file = duck_text(value, "the name of a file", why)) && duck_name_file(file, name, why);
    } else if (is_good && !name) {
        is_good = duck_fail(why, "an image needs a name: tamis_open(image, 'name')");
    } else if (is_good) {
        is_good = duck_check(tamis_load(&f, duck_bytes(value), value->len), why) &&
                  duck_name_filter(name, f, why);
    }
    if (is_good) duck_put_text(out, row, name ? name : file);
    free(name);
    free(file);
    return is_good;
}

static bool check_text(const duck_column *c, const char *what, sql_why *why) {
    return c->type == DUCK_VARCHAR || c->type == DUCK_NULL ||
           duck_fail(why, "%s is a VARCHAR", what);
}

static bool open_named(duck_chunk chunk, duck_vector out, sql_why *why) {
    const uint64_t rows = duck.data_chunk_get_size(chunk);
    const bool has_name = duck.data_chunk_get_column_count(chunk) > 1;
    duck_column what = duck_open_argument(chunk, 0), names = {.type = DUCK_NULL};
    if (has_name) names = duck_open_argument(chunk, 1);
    bool is_good = what.type == DUCK_BLOB || check_text(&what, "a file", why);
    is_good = is_good && check_text(&names, "a name", why);
    for (uint64_t row = 0; is_good && row < rows; row++) {
        if (duck_is_null(&what, row) || (has_name && duck_is_null(&names, row)))
            duck_put_null(out, row);
        else
            is_good = open_row(&what, has_name ? &names : NULL, row, out, why);
    }
    duck_close_column(&names);
    duck_close_column(&what);
    return is_good;
}

static bool close_named(duck_chunk chunk, duck_vector out, sql_why *why) {
    const uint64_t rows = duck.data_chunk_get_size(chunk);
    duck_column names = duck_open_argument(chunk, 0);
    bool is_good = check_text(&names, "a name", why);
    for (uint64_t row = 0; is_good && row < rows; row++) {
        if (duck_is_null(&names, row)) {
            duck_put_null(out, row);
            continue;
        }
        char *name = duck_text(&duck_strings(&names)[row], "a name", why);
        is_good = name;
        if (name) duck_put_bool(out, row, duck_forget_name(name));
        free(name);
    }
    duck_close_column(&names);
    return is_good;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

typedef struct additions {
    duck_column rows, elements; /* keys; or lists, and their elements */
    duck_form form;
} additions;

static bool open_additions(additions *a, duck_chunk chunk, sql_why *why) {
    a->rows = duck_open_argument(chunk, 1);
    a->elements = (duck_column){.type = DUCK_NULL};
    if (a->rows.type == DUCK_LIST)
        a->elements = duck_open_column(duck.list_vector_get_child(a->rows.vector));
    if (duck_form_of(&a->form, a->rows.type == DUCK_LIST ? &a->elements : &a->rows, why))
        return true;
    duck_close_column(&a->elements);
    duck_close_column(&a->rows);
    return false;
}

static void close_additions(additions *a) {
    duck_close_column(&a->elements);
    duck_close_column(&a->rows);
}

typedef tamis_status change(tamis *, const struct tamis_key *, uint64_t number);

static tamis_status add_one(tamis *f, const struct tamis_key *key, uint64_t number) {
    return key ? tamis_add(f, key->bytes, key->len) : tamis_add_u64(f, number);
}

static tamis_status remove_one(tamis *f, const struct tamis_key *key, uint64_t number) {
    return key ? tamis_remove(f, key->bytes, key->len) : tamis_remove_u64(f, number);
}

/* Changes a filter by the keys of rows from `from` to before `to`, but NULLs. */
static bool change_by(tamis *f, const duck_form *form, const duck_column *c, uint64_t from,
                      uint64_t to, change *do_change, sql_why *why) {
    duck_room room = {NULL};
    duck_keys keys;
    bool is_good = duck_read_keys(&keys, form, c, from, to, &room, why) &&
                   duck_check_possible(&keys, c, from, form, why);
    for (size_t i = 0; is_good && i < keys.count; i++) {
        if (duck_is_null(c, from + i)) continue;
        is_good = duck_check(sql_form_note_in(&form->form, f), why) &&
                  duck_check(do_change(f, keys.numbers ? NULL : &keys.keys[i],
                                       keys.numbers ? keys.numbers[i] : 0),
                             why);
    }
    duck_give_back(&room);
    return is_good;
}

static bool change_row(additions *a, const tamis *from, uint64_t row, change *do_change,
                       duck_vector out, sql_why *why) {
    const bool is_list = a->rows.type == DUCK_LIST;
    const duck_list list =
        is_list ? ((const duck_list *)a->rows.data)[row] : (duck_list){.offset = row, .length = 1};
    tamis *f;
    if (!duck_check(tamis_copy_with(&f, from, &duck_making), why)) return false;
    const bool is_good = duck_obey(&a->form, f, why) &&
                         change_by(f, &a->form, is_list ? &a->elements : &a->rows, list.offset,
                                   list.offset + list.length, do_change, why) &&
                         duck_put_image(out, row, f, why);
    tamis_free(f);
    return is_good;
}

static bool change_all(duck_chunk chunk, duck_vector out, change *do_change, sql_why *why) {
    additions a;
    duck_runs runs;
    if (!open_additions(&a, chunk, why)) return false;
    bool is_good = duck_open_runs(&runs, chunk, why);
    if (is_good) {
        while (is_good && duck_next_run(&runs, why))
            for (uint64_t row = runs.from; is_good && row < runs.to; row++) {
                if (!runs.held.filter || duck_is_null(&a.rows, row))
                    duck_put_null(out, row);
                else
                    is_good = change_row(&a, runs.held.filter, row, do_change, out, why);
            }
        duck_close_runs(&runs);
    }
    close_additions(&a);
    return is_good && !*why->sentence;
}

static bool add(duck_chunk chunk, duck_vector out, sql_why *why) {
    return change_all(chunk, out, add_one, why);
}

static bool remove_keys(duck_chunk chunk, duck_vector out, sql_why *why) {
    return change_all(chunk, out, remove_one, why);
}

/* ---- Sets ----------------------------------------------------------------------------------- */

typedef tamis_status join(tamis *into, const tamis *from);

static bool join_row(const tamis *one, const duck_column *others, uint64_t row, join *do_join,
                     duck_vector out, sql_why *why) {
    duck_held other;
    tamis *into = NULL;
    const bool is_name = others->type == DUCK_VARCHAR;
    if (!duck_hold(&other, &duck_strings(others)[row], is_name, why)) return false;
    const bool is_good = sql_forms_match(one, other.filter, why) == TAMIS_OK &&
                         duck_check(tamis_copy_with(&into, one, &duck_making), why) &&
                         duck_check(do_join(into, other.filter), why) &&
                         duck_check(sql_take_note(into, other.filter), why) &&
                         duck_put_image(out, row, into, why);
    tamis_free(into);
    duck_drop(&other);
    return is_good;
}

static bool join_all(duck_chunk chunk, duck_vector out, join *do_join, sql_why *why) {
    duck_column others = duck_open_argument(chunk, 1);
    duck_runs runs;
    bool is_good = others.type == DUCK_BLOB || others.type == DUCK_VARCHAR ||
                   others.type == DUCK_NULL ||
                   duck_fail(why, "the second argument is a filter: its name, or an image");
    is_good = is_good && duck_open_runs(&runs, chunk, why);
    if (is_good) {
        while (is_good && duck_next_run(&runs, why))
            for (uint64_t row = runs.from; is_good && row < runs.to; row++) {
                if (!runs.held.filter || duck_is_null(&others, row))
                    duck_put_null(out, row);
                else
                    is_good = join_row(runs.held.filter, &others, row, do_join, out, why);
            }
        duck_close_runs(&runs);
    }
    duck_close_column(&others);
    return is_good && !*why->sentence;
}

static bool unite(duck_chunk chunk, duck_vector out, sql_why *why) {
    return join_all(chunk, out, tamis_merge, why);
}

static bool intersect(duck_chunk chunk, duck_vector out, sql_why *why) {
    return join_all(chunk, out, tamis_intersect, why);
}

/* ---- Notes ---------------------------------------------------------------------------------- */

/* A value that is NULL removes the note. */
static bool note_row(const tamis *from, const duck_column *names, const duck_column *values,
                     uint64_t row, duck_vector out, sql_why *why) {
    const bool is_removed = duck_is_null(values, row);
    char *name = duck_text(&duck_strings(names)[row], "a name", why);
    char *value = is_removed ? NULL : duck_text(&duck_strings(values)[row], "a note", why);
    tamis *f = NULL;
    const bool is_good =
        name && (value || is_removed) && duck_check(tamis_copy_with(&f, from, &duck_making), why) &&
        duck_check(tamis_set_note(f, name, value), why) && duck_put_image(out, row, f, why);
    tamis_free(f);
    free(value);
    free(name);
    return is_good;
}

static bool set_note(duck_chunk chunk, duck_vector out, sql_why *why) {
    duck_column names = duck_open_argument(chunk, 1), values = duck_open_argument(chunk, 2);
    duck_runs runs;
    bool is_good = check_text(&names, "the name of a note", why) &&
                   check_text(&values, "a note", why) && duck_open_runs(&runs, chunk, why);
    if (is_good) {
        while (is_good && duck_next_run(&runs, why))
            for (uint64_t row = runs.from; is_good && row < runs.to; row++) {
                if (!runs.held.filter || duck_is_null(&names, row))
                    duck_put_null(out, row);
                else
                    is_good = note_row(runs.held.filter, &names, &values, row, out, why);
            }
        duck_close_runs(&runs);
    }
    duck_close_column(&values);
    duck_close_column(&names);
    return is_good && !*why->sentence;
}

/* ---- Functions ------------------------------------------------------------------------------ */

DUCK_CALL(open_named)
DUCK_CALL(close_named)
DUCK_CALL(add)
DUCK_CALL(remove_keys)
DUCK_CALL(unite)
DUCK_CALL(intersect)
DUCK_CALL(set_note)

bool duck_register_changes(duck_connection connection) {
    static const duck_function functions[] = {
        {"tamis_open", call_open_named, duck_type_text, 1, 2, true, false},
        {"tamis_close", call_close_named, duck_type_bool, 1, 1, true, false},
        {"tamis_add", call_add, duck_type_blob, 2, 2, false, false},
        {"tamis_remove", call_remove_keys, duck_type_blob, 2, 2, false, false},
        {"tamis_union", call_unite, duck_type_blob, 2, 2, false, false},
        {"tamis_intersect", call_intersect, duck_type_blob, 2, 2, false, false},
        {"tamis_set_note", call_set_note, duck_type_blob, 3, 3, false, true},
    };
    return duck_register_scalars(connection, functions, sizeof functions / sizeof *functions);
}
