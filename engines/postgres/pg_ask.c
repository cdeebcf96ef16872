/* SPDX-License-Identifier: MIT */
/* Queries: one key, or the elements of an array. No is certain. */
#include "engines/postgres/pg.h"

#include <catalog/pg_type.h>
#include <mb/pg_wchar.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/lsyscache.h>

#include <string.h>

static bool has(const tamis *f, const pg_form *form, Datum datum) {
    sql_key key;
    pg_key_of(form, datum, &key);
    if (key.is_impossible) return false;
    return key.is_number ? tamis_has_u64(f, key.number) : tamis_has(f, key.bytes, key.len);
}

/* ---- One key -------------------------------------------------------------------------------- */

/* Is the key of this argument in the filter of the call? */
static Datum answer(FunctionCallInfo fcinfo, pg_call *call, const tamis *f, int key) {
    PG_RETURN_BOOL(has(f, pg_call_form(call, fcinfo, key), PG_GETARG_DATUM(key)));
}

static Datum answer_value(FunctionCallInfo fcinfo, int filter, int key) {
    pg_call *call = pg_call_of(fcinfo);
    const Datum value = PG_GETARG_DATUM(filter);
    bool is_in;
    if (pg_call_slice(call, fcinfo, value, key, &is_in)) PG_RETURN_BOOL(is_in);
    return answer(fcinfo, call, pg_call_filter(call, value), key);
}

PG_FUNCTION_INFO_V1(pg_tamis_has);
Datum pg_tamis_has(PG_FUNCTION_ARGS) {
    return answer_value(fcinfo, 0, 1);
}

PG_FUNCTION_INFO_V1(pg_tamis_is_in);
Datum pg_tamis_is_in(PG_FUNCTION_ARGS) {
    return answer_value(fcinfo, 1, 0);
}

PG_FUNCTION_INFO_V1(pg_tamis_file_has);
Datum pg_tamis_file_has(PG_FUNCTION_ARGS) {
    pg_call *call = pg_call_of(fcinfo);
    return answer(fcinfo, call, pg_call_file(call, PG_GETARG_TEXT_PP(0)), 1);
}

PG_FUNCTION_INFO_V1(pg_tamis_is_in_file);
Datum pg_tamis_is_in_file(PG_FUNCTION_ARGS) {
    pg_call *call = pg_call_of(fcinfo);
    return answer(fcinfo, call, pg_call_file(call, PG_GETARG_TEXT_PP(1)), 0);
}

/* ---- Many ----------------------------------------------------------------------------------- */

/* Is there an element for which the answer is `wanted`? NULLs have none. */
static bool finds(FunctionCallInfo fcinfo, bool wanted) {
    pg_call *call = pg_call_of(fcinfo);
    const tamis *f = pg_call_filter(call, PG_GETARG_DATUM(0));
    const pg_form *form = pg_call_element_form(call, fcinfo, 1);
    const ArrayIterator each = array_create_iterator(PG_GETARG_ARRAYTYPE_P(1), 0, NULL);
    Datum element;
    bool is_null, is_found = false;
    while (!is_found && array_iterate(each, &element, &is_null))
        is_found = !is_null && has(f, form, element) == wanted;
    array_free_iterator(each);
    return is_found;
}

PG_FUNCTION_INFO_V1(pg_tamis_has_any);
Datum pg_tamis_has_any(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(finds(fcinfo, true));
}

PG_FUNCTION_INFO_V1(pg_tamis_has_all);
Datum pg_tamis_has_all(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(!finds(fcinfo, false));
}

/* ---- More than yes and no ------------------------------------------------------------------- */

/* The filter and the key of a call; false for a key that the filter cannot have. */
static bool asked(FunctionCallInfo fcinfo, const tamis **f, sql_key *key) {
    pg_call *call = pg_call_of(fcinfo);
    *f = pg_call_filter(call, PG_GETARG_DATUM(0));
    pg_key_of(pg_call_form(call, fcinfo, 1), PG_GETARG_DATUM(1), key);
    return !key->is_impossible;
}

PG_FUNCTION_INFO_V1(pg_tamis_count);
Datum pg_tamis_count(PG_FUNCTION_ARGS) {
    const tamis *f;
    sql_key key;
    if (!asked(fcinfo, &f, &key)) PG_RETURN_INT64(0);
    const uint64_t count =
        key.is_number ? tamis_count_u64(f, key.number) : tamis_count(f, key.bytes, key.len);
    PG_RETURN_INT64((int64)(count < PG_INT64_MAX ? count : PG_INT64_MAX));
}

static void require(const tamis *f, unsigned ability, const char *what) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f, &info);
    if (!(info.abilities & ability))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("tamis: %s has no %s", info.kind, what)));
}

PG_FUNCTION_INFO_V1(pg_tamis_get);
Datum pg_tamis_get(PG_FUNCTION_ARGS) {
    const tamis *f;
    sql_key key;
    uint64_t value;
    const bool is_possible = asked(fcinfo, &f, &key);
    require(f, TAMIS_CAN_GET, "values");
    if (!is_possible || !(key.is_number ? tamis_get_u64(f, key.number, &value)
                                        : tamis_get(f, key.bytes, key.len, &value)))
        PG_RETURN_NULL();
    PG_RETURN_INT64((int64)value);
}

PG_FUNCTION_INFO_V1(pg_tamis_which);
Datum pg_tamis_which(PG_FUNCTION_ARGS) {
    const tamis *f;
    sql_key key;
    const bool is_possible = asked(fcinfo, &f, &key);
    require(f, TAMIS_CAN_LABEL, "labels");
    uint64_t *labels = palloc((tamis_label_count(f) + 1) * sizeof *labels);
    const size_t room = (size_t)tamis_label_count(f);
    const size_t count = is_possible ? tamis_labels(f, key.bytes, key.len, labels, room) : 0;
    Datum *names = palloc((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const char *name = tamis_label_name(f, labels[i]);
        names[i] = CStringGetTextDatum(pg_any_to_server(name, (int)strlen(name), PG_UTF8));
    }
    PG_RETURN_ARRAYTYPE_P(construct_array(names, (int)count, TEXTOID, -1, false, TYPALIGN_INT));
}
