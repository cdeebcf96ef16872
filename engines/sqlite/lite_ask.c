/* SPDX-License-Identifier: MIT */
/* Queries of one key. No is certain. */
#include "engines/sqlite/lite.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* What a query is about; `room` is to be freed. */
typedef struct question {
    const tamis *f;
    sql_key key;
    void *room;
} question;

/* False after an error, and where an argument is NULL: the result is NULL then. */
static bool read_question(sqlite3_context *ctx, sqlite3_value **argv, question *q) {
    sql_why why;
    q->room = NULL;
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL) {
        return false;
    }
    lite_filter *filter = lite_argument(ctx, argv[0], 0);
    if (!filter) return false;
    q->f = filter->f;
    const tamis_status rc = lite_key_in(filter, argv[1], &q->key, &q->room, &why);
    if (rc) lite_fail(ctx, rc, &why);
    return !rc;
}

static void has(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    question q;
    (void)argc;
    if (!read_question(ctx, argv, &q)) return;
    const bool is_there =
        !q.key.is_impossible && (q.key.is_number ? tamis_has_u64(q.f, q.key.number)
                                                 : tamis_has(q.f, q.key.bytes, q.key.len));
    sqlite3_result_int(ctx, is_there);
    sqlite3_free(q.room);
}

static void count(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    question q;
    (void)argc;
    if (!read_question(ctx, argv, &q)) return;
    if (q.key.is_impossible)
        sqlite3_result_int(ctx, 0);
    else
        lite_result_count(ctx, q.key.is_number ? tamis_count_u64(q.f, q.key.number)
                                               : tamis_count(q.f, q.key.bytes, q.key.len));
    sqlite3_free(q.room);
}

static bool can(sqlite3_context *ctx, const tamis *f, unsigned ability, const char *what) {
    struct tamis_info info = TAMIS_INFO_INIT;
    char sentence[128];
    tamis_get_info(f, &info);
    if (info.abilities & ability) return true;
    snprintf(sentence, sizeof sentence, "%s has no %s", info.kind, what);
    lite_refuse(ctx, sentence);
    return false;
}

/* A value has 64 bits, and is shown with a sign when it has all of them. */
static void get(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    question q;
    uint64_t value;
    (void)argc;
    if (!read_question(ctx, argv, &q)) return;
    if (can(ctx, q.f, TAMIS_CAN_GET, "values") && !q.key.is_impossible &&
        (q.key.is_number ? tamis_get_u64(q.f, q.key.number, &value)
                         : tamis_get(q.f, q.key.bytes, q.key.len, &value)))
        sqlite3_result_int64(ctx, (sqlite3_int64)value);
    sqlite3_free(q.room);
}

/* ---- Labels --------------------------------------------------------------------------------- */

/* Names have neither quotes' enemies below 32 nor NUL: the library refuses control characters. */
static void append_string(sqlite3_str *json, const char *text) {
    sqlite3_str_appendchar(json, 1, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') sqlite3_str_appendchar(json, 1, '\\');
        if ((unsigned char)*text < 0x20)
            sqlite3_str_appendf(json, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            sqlite3_str_appendchar(json, 1, *text);
    }
    sqlite3_str_appendchar(json, 1, '"');
}

static void result_labels(sqlite3_context *ctx, const question *q) {
    const size_t room = (size_t)tamis_label_count(q->f);
    uint64_t *labels = sqlite3_malloc64((room + 1) * sizeof *labels);
    if (!labels) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    const size_t n =
        q->key.is_impossible ? 0 : tamis_labels(q->f, q->key.bytes, q->key.len, labels, room);
    sqlite3_str *json = sqlite3_str_new(lite_of(ctx)->db);
    sqlite3_str_appendall(json, "[");
    for (size_t i = 0; i < n && i < room; i++) {
        if (i) sqlite3_str_appendall(json, ",");
        append_string(json, tamis_label_name(q->f, labels[i]));
    }
    sqlite3_str_appendall(json, "]");
    sqlite3_free(labels);
    const int rc = sqlite3_str_errcode(json);
    char *text = sqlite3_str_finish(json);
    if (rc || !text) {
        sqlite3_free(text);
        sqlite3_result_error_code(ctx, rc ? rc : SQLITE_NOMEM);
        return;
    }
    sqlite3_result_text(ctx, text, -1, sqlite3_free);
}

static void which(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    question q;
    (void)argc;
    if (!read_question(ctx, argv, &q)) return;
    if (can(ctx, q.f, TAMIS_CAN_LABEL, "labels")) result_labels(ctx, &q);
    sqlite3_free(q.room);
}

/* A name may stand for another filter tomorrow, so none of them is deterministic. */
int lite_register_queries(lite *l) {
    static const lite_scalar scalars[] = {
        {"tamis_has", 2, SQLITE_INNOCUOUS, has},
        {"tamis_count", 2, SQLITE_INNOCUOUS, count},
        {"tamis_get", 2, SQLITE_INNOCUOUS, get},
        {"tamis_which", 2, SQLITE_INNOCUOUS, which},
    };
    return lite_register(l, scalars, sizeof scalars / sizeof *scalars);
}
