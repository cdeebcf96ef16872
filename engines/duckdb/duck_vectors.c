/* SPDX-License-Identifier: MIT */
/* Vectors: what they have, and how results get into them. */
#include "engines/duckdb/duck.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors --------------------------------------------------------------------------------- */

bool duck_fail(sql_why *why, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(why->sentence, sizeof why->sentence, format, values);
    va_end(values);
    *why->hint = '\0';
    return false;
}

bool duck_check(tamis_status rc, sql_why *why) {
    return !rc || duck_fail(why, "%s", tamis_why());
}

bool duck_no_memory(sql_why *why) {
    return duck_fail(why, "%s", tamis_status_text(TAMIS_NOMEM));
}

const char *duck_sentence(const sql_why *why, char text[DUCK_ERROR]) {
    snprintf(text, DUCK_ERROR, "tamis: %s%s%s", why->sentence, *why->hint ? ". " : "", why->hint);
    return text;
}

/* ---- Columns -------------------------------------------------------------------------------- */

duck_column duck_open_column(duck_vector vector) {
    duck_column c = {.vector = vector};
    c.logical = duck.vector_get_column_type(vector);
    c.type = duck.get_type_id(c.logical);
    c.data = duck.vector_get_data(vector);
    c.validity = duck.vector_get_validity(vector);
    return c;
}

duck_column duck_open_argument(duck_chunk chunk, uint64_t index) {
    return duck_open_column(duck.data_chunk_get_vector(chunk, index));
}

void duck_close_column(duck_column *c) {
    if (c->logical) duck.destroy_logical_type(&c->logical);
}

char *duck_text(const duck_string *s, const char *what, sql_why *why) {
    char *text = memchr(duck_bytes(s), '\0', s->len) ? NULL : malloc((size_t)s->len + 1);
    if (text) {
        memcpy(text, duck_bytes(s), s->len);
        text[s->len] = '\0';
    } else if (memchr(duck_bytes(s), '\0', s->len)) {
        duck_fail(why, "%s has a NUL character", what);
    } else {
        duck_fail(why, "%s", tamis_status_text(TAMIS_NOMEM));
    }
    return text;
}

/* ---- Results -------------------------------------------------------------------------------- */

void duck_put_null(duck_vector vector, uint64_t row) {
    duck.vector_ensure_validity_writable(vector);
    duck.vector_get_validity(vector)[row / 64] &= ~(UINT64_C(1) << row % 64);
}

void duck_put_text(duck_vector vector, uint64_t row, const char *text) {
    if (text && *text)
        duck.vector_assign_string_element_len(vector, row, text, strlen(text));
    else
        duck_put_null(vector, row);
}

void duck_put_count(duck_vector vector, uint64_t row, uint64_t count) {
    ((int64_t *)duck.vector_get_data(vector))[row] =
        (int64_t)(count < INT64_MAX ? count : INT64_MAX);
}

void duck_put_rate(duck_vector vector, uint64_t row, double rate) {
    if (rate > 0 || isinf(rate))
        ((double *)duck.vector_get_data(vector))[row] = rate;
    else
        duck_put_null(vector, row);
}

void duck_put_bool(duck_vector vector, uint64_t row, bool is) {
    ((bool *)duck.vector_get_data(vector))[row] = is;
}

bool duck_put_texts(duck_vector vector, uint64_t row, const char *const *texts, size_t count,
                    sql_why *why) {
    const uint64_t at = duck.list_vector_get_size(vector);
    if (duck.list_vector_reserve(vector, at + count) ||
        duck.list_vector_set_size(vector, at + count))
        return duck_fail(why, "%s", tamis_status_text(TAMIS_NOMEM));
    duck_vector child = duck.list_vector_get_child(vector);
    for (size_t i = 0; i < count; i++)
        duck.vector_assign_string_element_len(child, at + i, texts[i], strlen(texts[i]));
    ((duck_list *)duck.vector_get_data(vector))[row] = (duck_list){.offset = at, .length = count};
    return true;
}

/* DuckDB keeps the length of a BLOB in 32 bits, and cuts longer ones without a word. */
const struct tamis_options duck_making = {.struct_size = sizeof duck_making,
                                          .max_bytes = UINT32_MAX};

bool duck_put_image(duck_vector vector, uint64_t row, const tamis *f, sql_why *why) {
    const uint64_t size = tamis_image_size(f);
    if (size > UINT32_MAX)
        return duck_fail(why,
                         "the filter has %llu bytes, and a BLOB at most 4 GiB: keep it in a file, "
                         "which queries use by its name",
                         (unsigned long long)size);
    char *bytes = malloc((size_t)size);
    if (!bytes) return duck_fail(why, "%s", tamis_status_text(TAMIS_NOMEM));
    const bool is_done = duck_check(tamis_serialize(f, bytes, (size_t)size), why);
    if (is_done) duck.vector_assign_string_element_len(vector, row, bytes, size);
    free(bytes);
    return is_done;
}

/* ---- Types ---------------------------------------------------------------------------------- */

duck_type duck_type_bool(void) {
    return duck.create_logical_type(DUCK_BOOLEAN);
}
duck_type duck_type_bigint(void) {
    return duck.create_logical_type(DUCK_BIGINT);
}
duck_type duck_type_double(void) {
    return duck.create_logical_type(DUCK_DOUBLE);
}
duck_type duck_type_text(void) {
    return duck.create_logical_type(DUCK_VARCHAR);
}
duck_type duck_type_blob(void) {
    return duck.create_logical_type(DUCK_BLOB);
}
duck_type duck_type_texts(void) {
    duck_type text = duck_type_text(), texts = duck.create_list_type(text);
    duck.destroy_logical_type(&text);
    return texts;
}
