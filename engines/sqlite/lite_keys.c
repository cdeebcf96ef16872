/* SPDX-License-Identifier: MIT */
/* From values to keys, by their storage class.
 *
 *     class      natural form, and its note     also, when the note says so
 *     INTEGER    int64                          int32 ... uint64be, and float ... doublebe
 *     REAL       double                         the same
 *     TEXT       utf8                           any that texts have
 *     BLOB       hex: the bytes                 bytes, utf8, base64
 *
 * For SQLite 1 = 1.0, so a filter of integers has 1.0 when it has 1, and one of floats has 1 when
 * it has 1.0. A number that the encoding has no place for (2.5 among integers) equals none of the
 * keys: the answer is no, and it cannot be added. */
#include "engines/sqlite/lite.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* ---- Classes -------------------------------------------------------------------------------- */

static const struct class {
    sql_family family;
    const char *what, *name;
} classes[LITE_CLASSES] = {
    [SQLITE_INTEGER - 1] = {SQL_INTEGER, "an INTEGER", "INTEGER"},
    [SQLITE_FLOAT - 1] = {SQL_REAL, "a REAL", "REAL"},
    [SQLITE_TEXT - 1] = {SQL_TEXT, "a TEXT", "TEXT"},
    [SQLITE_BLOB - 1] = {SQL_BYTES, "a BLOB", "BLOB"},
};

void lite_form_of(sql_form *form, int type) {
    const struct class *c = &classes[type - 1];
    sql_form_init(form, c->family, NULL, c->what);
}

const char *lite_class_name(int type) {
    return classes[type - 1].name;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Exactly that number, or none. From 2^63 on no double is an int64. */
static bool to_integer(double value, int64_t *integer) {
    if (!(value >= -0x1p63 && value < 0x1p63)) return false;
    *integer = (int64_t)value;
    return (double)*integer == value;
}

static bool to_real(int64_t integer, double *value) {
    int64_t back;
    *value = (double)integer;
    return to_integer(*value, &back) && back == integer;
}

/* A number of either class, in the class of the form. */
static void read_number(const sql_form *form, sqlite3_value *value, sql_key *key) {
    const bool is_real = sqlite3_value_type(value) == SQLITE_FLOAT;
    double real = is_real ? sqlite3_value_double(value) : 0;
    int64_t integer = is_real ? 0 : sqlite3_value_int64(value);
    bool is_possible = true;
    if (form->family == SQL_REAL) {
        if (!is_real) is_possible = to_real(integer, &real);
        sql_key_real(key, real);
    } else {
        if (is_real) is_possible = to_integer(real, &integer);
        sql_key_integer(key, integer);
    }
    key->is_impossible = !is_possible;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static tamis_status read_bytes(sqlite3_value *value, sql_key *key) {
    const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
    const void *bytes = is_text ? sqlite3_value_text(value) : sqlite3_value_blob(value);
    const int len = sqlite3_value_bytes(value);
    if (!bytes && (is_text || len > 0)) return TAMIS_NOMEM;
    sql_key_bytes(key, bytes ? bytes : "", (size_t)len);
    return TAMIS_OK;
}

tamis_status lite_key_by(const sql_form *form, sqlite3_value *value, sql_key *key, void **room,
                         sql_why *why) {
    const int type = sqlite3_value_type(value);
    *room = NULL;
    *why = (sql_why){.sentence = ""};
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        read_number(form, value, key);
        return key->is_impossible ? TAMIS_OK : sql_key_encode(form, key, NULL, why);
    }
    tamis_status rc = read_bytes(value, key);
    const size_t size = rc ? 0 : sql_key_room(form, key);
    if (size && !(*room = sqlite3_malloc64(size))) rc = TAMIS_NOMEM;
    if (!rc) rc = sql_key_encode(form, key, *room, why);
    if (!rc) return rc;
    sqlite3_free(*room);
    *room = NULL;
    return rc;
}

/* Numbers follow the note to the other class. */
static tamis_status obey(lite_filter *filter, int type, sql_why *why) {
    sql_form *form = &filter->form[type - 1];
    const char *encoding = tamis_note(filter->f, "encoding");
    const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    lite_form_of(form, type);
    if (is_number && encoding) {
        const bool is_real = sql_is_real(encoding);
        sql_form_init(form, is_real ? SQL_REAL : SQL_INTEGER, is_real ? "double" : "int64",
                      form->what);
    }
    const tamis_status rc = sql_form_obey(form, filter->f, why);
    filter->is_known[type - 1] = !rc;
    return rc;
}

tamis_status lite_key_in(lite_filter *filter, sqlite3_value *value, sql_key *key, void **room,
                         sql_why *why) {
    const int type = sqlite3_value_type(value);
    *room = NULL;
    if (!filter->is_known[type - 1]) {
        const tamis_status rc = obey(filter, type, why);
        if (rc) return rc;
    }
    return lite_key_by(&filter->form[type - 1], value, key, room, why);
}
