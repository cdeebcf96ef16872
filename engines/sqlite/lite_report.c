/* SPDX-License-Identifier: MIT */
/* What a filter is, and filters by name. */
#include "engines/sqlite/lite.h"

#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* ---- Reports -------------------------------------------------------------------------------- */

typedef size_t print_fn(const tamis *, char *text, size_t room);

static void result_printed(sqlite3_context *ctx, const tamis *f, print_fn *print) {
    const size_t room = print(f, NULL, 0) + 1;
    char *text = sqlite3_malloc64(room);
    if (!text) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    print(f, text, room);
    sqlite3_result_text64(ctx, text, room - 1, sqlite3_free, SQLITE_UTF8);
}

static void report_info(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const lite_filter *filter = lite_argument(ctx, argv[0], 0);
    if (filter) result_printed(ctx, filter->f, sql_info_json);
}

static void report_spec(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const lite_filter *filter = lite_argument(ctx, argv[0], 0);
    if (filter) result_printed(ctx, filter->f, tamis_spec);
}

static void report_items(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    struct tamis_info info = TAMIS_INFO_INIT;
    (void)argc;
    const lite_filter *filter = lite_argument(ctx, argv[0], 0);
    if (!filter) return;
    tamis_get_info(filter->f, &info);
    lite_result_count(ctx, info.items);
}

static void report_rate(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const lite_filter *filter = lite_argument(ctx, argv[0], 0);
    if (filter) sqlite3_result_double(ctx, tamis_fpr_now(filter->f));
}

static void report_note(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
    const char *name = lite_text(ctx, argv[1], "a name of a note");
    const lite_filter *filter = name ? lite_argument(ctx, argv[0], 0) : NULL;
    if (filter) sqlite3_result_text(ctx, tamis_note(filter->f, name), -1, SQLITE_TRANSIENT);
}

static void report_version(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc, (void)argv;
    sqlite3_result_text(ctx, tamis_version(), -1, SQLITE_STATIC);
}

static void result_image(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const lite_filter *filter = lite_argument(ctx, argv[0], 0);
    if (filter) lite_result_image(ctx, filter->f);
}

int lite_register_reports(lite *l) {
    static const lite_scalar scalars[] = {
        {"tamis_info", 1, SQLITE_INNOCUOUS, report_info},
        {"tamis_spec", 1, SQLITE_INNOCUOUS, report_spec},
        {"tamis_items", 1, SQLITE_INNOCUOUS, report_items},
        {"tamis_rate", 1, SQLITE_INNOCUOUS, report_rate},
        {"tamis_note", 2, SQLITE_INNOCUOUS, report_note},
        {"tamis_image", 1, SQLITE_INNOCUOUS, result_image},
        {"tamis_version", 0, SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, report_version},
    };
    return lite_register(l, scalars, sizeof scalars / sizeof *scalars);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* The result is a pointer, which SQL sees as NULL and functions of ours as the filter. */
static void result_pointer(sqlite3_context *ctx, lite_filter made) {
    lite_filter *filter = lite_new(sizeof *filter);
    if (!filter) {
        sql_opened_drop(made.opened);
        tamis_free(made.own);
        sqlite3_result_error_nomem(ctx);
        return;
    }
    *filter = made;
    sqlite3_result_pointer(ctx, filter, "tamis", lite_filter_free);
}

/* A filter of an image; NULL after an error. */
static tamis *loaded(sqlite3_context *ctx, sqlite3_value *value) {
    tamis *f;
    const void *image = sqlite3_value_blob(value);
    const size_t size = (size_t)sqlite3_value_bytes(value);
    return lite_check(ctx, tamis_load_with(&f, image, size, &lite_of(ctx)->options)) ? f : NULL;
}

static void open_pointer(sqlite3_context *ctx, sqlite3_value *what) {
    lite_filter made = {.f = NULL};
    sql_why why;
    if (sqlite3_value_type(what) == SQLITE_BLOB) {
        made.f = made.own = loaded(ctx, what);
        if (made.own) result_pointer(ctx, made);
        return;
    }
    const char *name = lite_text(ctx, what, "what is opened, unless it is an image,");
    if (!name) return;
    const tamis_status rc = sql_names_find(lite_of(ctx)->names, name, &made.opened, &why);
    if (rc) {
        lite_fail_name(ctx, rc, &why);
        return;
    }
    made.f = sql_opened_filter(made.opened);
    result_pointer(ctx, made);
}

/* The name is the result. */
static void open_as(sqlite3_context *ctx, sqlite3_value *what, const char *name) {
    sql_names *names = lite_of(ctx)->names;
    sql_why why;
    tamis_status rc;
    if (sqlite3_value_type(what) == SQLITE_BLOB) {
        tamis *f = loaded(ctx, what);
        if (!f) return;
        rc = sql_names_put(names, name, f, &why);
    } else {
        const char *file = lite_text(ctx, what, "what is opened, unless it is an image,");
        if (!file) return;
        rc = sql_names_open(names, file, name, &why);
    }
    if (rc)
        lite_fail_name(ctx, rc, &why);
    else
        sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
}

static void open_one(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
    if (argc == 1) {
        open_pointer(ctx, argv[0]);
        return;
    }
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
    const char *name = lite_text(ctx, argv[1], "a name of a filter");
    if (name) open_as(ctx, argv[0], name);
}

static void close_one(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
    const char *name = lite_text(ctx, argv[0], "a name of a filter");
    if (name) sqlite3_result_int(ctx, sql_names_drop(lite_of(ctx)->names, name));
}

/* Names are given by the statements of the program alone, never by a view or trigger that a
 * database brings along. */
int lite_register_names(lite *l) {
    static const lite_scalar scalars[] = {
        {"tamis_open", 1, SQLITE_DIRECTONLY, open_one},
        {"tamis_open", 2, SQLITE_DIRECTONLY, open_one},
        {"tamis_close", 1, SQLITE_DIRECTONLY, close_one},
    };
    return lite_register(l, scalars, sizeof scalars / sizeof *scalars);
}
