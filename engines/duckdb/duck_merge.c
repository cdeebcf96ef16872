/* SPDX-License-Identifier: MIT */
/* The aggregate tamis_merge, and tamis_merge_list: the filter of all sets. A state is a filter. */
#include "engines/duckdb/duck.h"
#include "engines/duckdb/duck_states.h"
#include "tamis_engine.h"

/* ---- Filters -------------------------------------------------------------------------------- */

static bool join(duck_state at, const tamis *from, sql_why *why) {
    tamis *into = *at;
    if (into)
        return sql_forms_match(into, from, why) == TAMIS_OK &&
               duck_check(tamis_merge(into, from), why) &&
               duck_check(sql_take_note(into, from), why);
    const bool is_copied = duck_check(tamis_copy_with(&into, from, &duck_making), why);
    *at = into;
    return is_copied;
}

static bool join_image(const duck_string *image, duck_state at, sql_why *why) {
    tamis *f;
    if (!duck_check(tamis_view(&f, duck_bytes(image), image->len), why)) return false;
    const bool is_good = join(at, f, why);
    tamis_free(f);
    return is_good;
}

static bool join_rows(duck_chunk chunk, const duck_state *states, sql_why *why) {
    const uint64_t rows = duck.data_chunk_get_size(chunk);
    duck_column images = duck_open_argument(chunk, 0);
    bool is_good = duck_check_states(states, rows, why);
    for (uint64_t row = 0; is_good && row < rows; row++)
        is_good =
            duck_is_null(&images, row) || join_image(&duck_strings(&images)[row], states[row], why);
    duck_close_column(&images);
    return is_good;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static uint64_t size_of_state(duck_info info) {
    (void)info;
    return sizeof(void *);
}

static void init(duck_info info, duck_state s) {
    (void)info;
    *s = NULL;
}

static void update(duck_info info, duck_chunk chunk, duck_state *states) {
    sql_why why = {.sentence = ""};
    if (!join_rows(chunk, states, &why)) duck_raise(info, &why);
}

static void combine(duck_info info, duck_state *from, duck_state *into, uint64_t count) {
    sql_why why = {.sentence = ""};
    bool is_good = true;
    for (uint64_t i = 0; is_good && i < count; i++)
        is_good = !*from[i] || join(into[i], *from[i], &why);
    if (!is_good) duck_raise(info, &why);
}

static void finalize(duck_info info, duck_state *states, duck_vector out, uint64_t count,
                     uint64_t offset) {
    sql_why why = {.sentence = ""};
    bool is_good = true;
    for (uint64_t i = 0; is_good && i < count; i++) {
        if (*states[i])
            is_good = duck_put_image(out, offset + i, *states[i], &why);
        else
            duck_put_null(out, offset + i);
    }
    if (!is_good) duck_raise(info, &why);
}

static void destroy(duck_state *states, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (!states[i]) continue;
        tamis_free(*states[i]);
        *states[i] = NULL;
    }
}

/* ---- Lists of filters ----------------------------------------------------------------------- */

static bool merge_list(const duck_column *images, duck_list list, uint64_t row, duck_vector out,
                       sql_why *why) {
    void *all = NULL;
    bool is_good = true;
    for (uint64_t i = list.offset; is_good && i < list.offset + list.length; i++)
        is_good = duck_is_null(images, i) || join_image(&duck_strings(images)[i], &all, why);
    if (is_good && all)
        is_good = duck_put_image(out, row, all, why);
    else if (is_good)
        duck_put_null(out, row);
    tamis_free(all);
    return is_good;
}

static bool merge_lists(duck_chunk chunk, duck_vector out, sql_why *why) {
    const uint64_t rows = duck.data_chunk_get_size(chunk);
    duck_column lists = duck_open_argument(chunk, 0), images = {.type = DUCK_NULL};
    const duck_list *list = (const duck_list *)lists.data;
    if (lists.type == DUCK_LIST)
        images = duck_open_column(duck.list_vector_get_child(lists.vector));
    const bool is_list = lists.type == DUCK_NULL || images.type == DUCK_BLOB ||
                         (lists.type == DUCK_LIST && images.type == DUCK_NULL);
    bool is_good = is_list || duck_fail(why, "the argument is a list of images, which are BLOBs");
    for (uint64_t row = 0; is_good && row < rows; row++) {
        if (duck_is_null(&lists, row))
            duck_put_null(out, row);
        else
            is_good = merge_list(&images, list[row], row, out, why);
    }
    duck_close_column(&images);
    duck_close_column(&lists);
    return is_good;
}

DUCK_CALL(merge_lists)

/* ---- Functions ------------------------------------------------------------------------------ */

bool duck_register_merge(duck_connection connection) {
    static const duck_aggregation merge = {.name = "tamis_merge",
                                           .key = DUCK_BLOB,
                                           .size = size_of_state,
                                           .init = init,
                                           .update = update,
                                           .combine = combine,
                                           .finalize = finalize,
                                           .destroy = destroy};
    static const duck_function lists = {.name = "tamis_merge_list",
                                        .call = call_merge_lists,
                                        .result = duck_type_blob,
                                        .min_arguments = 1,
                                        .max_arguments = 1};
    return duck_register_aggregate(connection, &merge) &&
           duck_register_scalars(connection, &lists, 1);
}
