/* SPDX-License-Identifier: MIT */
/* New filters, and changed ones: each is a value of its own, and costs a copy of its bytes. */
#include "engines/sqlite/lite.h"

#include <stdio.h>
#include <string.h>

#include "tamis_formats.h"

SQLITE_EXTENSION_INIT3

/* ---- New ------------------------------------------------------------------------------------ */

static void create(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    const struct tamis_options options = lite_limit(lite_of(ctx));
    tamis *f;
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
    const char *spec = lite_text(ctx, argv[0], "a spec");
    if (!spec) return;
    const tamis_status rc = tamis_create_with(&f, spec, &options);
    if (rc == TAMIS_UNSUPPORTED) {
        char sentence[LITE_MESSAGE / 2];
        snprintf(sentence, sizeof sentence, "%s. In SQL that is tamis_build(key, spec).",
                 tamis_why());
        lite_refuse(ctx, sentence);
    } else if (lite_check(ctx, rc)) {
        lite_result_filter(ctx, f);
    }
}

/* ---- Keys ----------------------------------------------------------------------------------- */

typedef tamis_status change_fn(tamis *, const sql_key *, uint64_t value);

static tamis_status add(tamis *f, const sql_key *key, uint64_t value) {
    (void)value;
    return key->is_number ? tamis_add_u64(f, key->number) : tamis_add(f, key->bytes, key->len);
}

static tamis_status subtract(tamis *f, const sql_key *key, uint64_t value) {
    (void)value;
    return key->is_number ? tamis_remove_u64(f, key->number)
                          : tamis_remove(f, key->bytes, key->len);
}

static tamis_status put(tamis *f, const sql_key *key, uint64_t value) {
    return key->is_number ? tamis_put_u64(f, key->number, value)
                          : tamis_put(f, key->bytes, key->len, value);
}

/* Changes one key of the filter, which is the result; false after an error. */
static bool change(sqlite3_context *ctx, tamis *f, sqlite3_value *value, change_fn *apply,
                   uint64_t with) {
    const int type = sqlite3_value_type(value);
    lite_filter filter = {.f = f};
    sql_key key;
    sql_why why;
    void *room;
    tamis_status rc = lite_key_in(&filter, value, &key, &room, &why);
    if (!rc && key.is_impossible) {
        sql_why_impossible(&why, f);
        rc = TAMIS_INVALID;
    }
    if (rc) {
        lite_fail(ctx, rc, &why);
    } else {
        if (apply != subtract) rc = sql_form_note_in(&filter.form[type - 1], f);
        if (!rc) rc = apply(f, &key, with);
        (void)lite_check(ctx, rc);
    }
    sqlite3_free(room);
    return !rc;
}

static void changed(sqlite3_context *ctx, sqlite3_value **argv, change_fn *apply, uint64_t with) {
    tamis *f = sqlite3_value_type(argv[1]) == SQLITE_NULL ? NULL : lite_to_change(ctx, argv[0]);
    if (!f) return;
    if (change(ctx, f, argv[1], apply, with))
        lite_result_filter(ctx, f);
    else
        tamis_free(f);
}

static void add_key(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    changed(ctx, argv, add, 0);
}

static void remove_key(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    changed(ctx, argv, subtract, 0);
}

static void put_value(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const int type = sqlite3_value_type(argv[2]);
    if (type == SQLITE_INTEGER)
        changed(ctx, argv, put, (uint64_t)sqlite3_value_int64(argv[2]));
    else if (type != SQLITE_NULL)
        lite_refuse(ctx, "the value of a key is an INTEGER");
}

/* ---- Sets ----------------------------------------------------------------------------------- */

typedef tamis_status join_fn(tamis *into, const tamis *from);

static void join(sqlite3_context *ctx, sqlite3_value **argv, join_fn *combine) {
    tamis *into = lite_to_change(ctx, argv[0]);
    tamis *from = into ? lite_to_change(ctx, argv[1]) : NULL;
    if (into && from) {
        sql_why why;
        const tamis_status rc = sql_forms_match(into, from, &why);
        if (rc) lite_fail(ctx, rc, &why);
        if (!rc && lite_check(ctx, combine(into, from)) &&
            lite_check(ctx, sql_take_note(into, from)))
            lite_result_image(ctx, into);
    }
    tamis_free(from);
    tamis_free(into);
}

static void unite(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    join(ctx, argv, tamis_merge);
}

static void intersect(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    join(ctx, argv, tamis_intersect);
}

static void fold(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const int type = sqlite3_value_type(argv[1]);
    const sqlite3_int64 by = sqlite3_value_int64(argv[1]);
    if (type == SQLITE_NULL) return;
    if (type != SQLITE_INTEGER || by < 1) {
        lite_refuse(ctx, "by how much a filter is folded is an INTEGER, at least 1");
        return;
    }
    tamis *f = lite_to_change(ctx, argv[0]);
    if (f && lite_check(ctx, tamis_fold(f, (uint64_t)by))) lite_result_image(ctx, f);
    tamis_free(f);
}

/* ---- Notes ---------------------------------------------------------------------------------- */

/* NULL as value takes the note away. */
static void set_note(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const bool has_value = sqlite3_value_type(argv[2]) != SQLITE_NULL;
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
    const char *name = lite_text(ctx, argv[1], "a name of a note");
    const char *value = name && has_value ? lite_text(ctx, argv[2], "a note") : NULL;
    if (!name || (has_value && !value)) return;
    tamis *f = lite_to_change(ctx, argv[0]);
    if (f && lite_check(ctx, tamis_set_note(f, name, value))) lite_result_image(ctx, f);
    tamis_free(f);
}

/* ---- Other systems -------------------------------------------------------------------------- */

static void import(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    const struct tamis_options options = lite_limit(lite_of(ctx));
    tamis *f;
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    if (sqlite3_value_type(argv[0]) != SQLITE_BLOB) {
        lite_refuse(ctx, "what another system wrote is a blob");
        return;
    }
    const char *format = lite_text(ctx, argv[1], "a format");
    if (!format) return;
    const void *bytes = sqlite3_value_blob(argv[0]);
    const size_t size = (size_t)sqlite3_value_bytes(argv[0]);
    if (lite_check(ctx, tamis_import_with(&f, format, bytes, size, &options)))
        lite_result_filter(ctx, f);
}

static bool append(void *str, const void *bytes, size_t size) {
    if (size > INT32_MAX) return false;
    sqlite3_str_append(str, bytes, (int)size);
    return sqlite3_str_errcode(str) == SQLITE_OK;
}

static void export(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
    const char *format = lite_text(ctx, argv[1], "a format");
    lite_filter *filter = format ? lite_argument(ctx, argv[0], 0) : NULL;
    if (!filter) return;
    sqlite3_str *out = sqlite3_str_new(lite_of(ctx)->db);
    const tamis_status status = tamis_export(filter->f, format, append, out);
    const int rc = sqlite3_str_errcode(out), size = sqlite3_str_length(out);
    char *bytes = sqlite3_str_finish(out);
    if (rc) {
        sqlite3_result_error_code(ctx, rc);
    } else if (lite_check(ctx, status)) {
        sqlite3_result_blob(ctx, bytes ? bytes : "", size, bytes ? sqlite3_free : SQLITE_STATIC);
        return;
    }
    sqlite3_free(bytes);
}

int lite_register_changes(lite *l) {
    enum { PURE = SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC };
    static const lite_scalar scalars[] = {
        {"tamis_new", 1, SQLITE_INNOCUOUS, create}, /* a keyed one draws a secret */
        {"tamis_add", 2, PURE, add_key},
        {"tamis_remove", 2, PURE, remove_key},
        {"tamis_put", 3, PURE, put_value},
        {"tamis_union", 2, PURE, unite},
        {"tamis_intersect", 2, PURE, intersect},
        {"tamis_fold", 2, PURE, fold},
        {"tamis_set_note", 3, PURE, set_note},
        {"tamis_import", 2, PURE, import},
        {"tamis_export", 2, SQLITE_INNOCUOUS, export},
    };
    return lite_register(l, scalars, sizeof scalars / sizeof *scalars);
}
