/* SPDX-License-Identifier: MIT */
/* New filters, and changed ones: each is a value of its own, and costs a copy of its bytes. */
#include "engines/postgres/pg.h"

#include <catalog/pg_type.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/lsyscache.h>

#include <string.h>

/* ---- Helpers -------------------------------------------------------------------------------- */

static Datum finished(tamis *f) {
    struct varlena *value = pg_value_of(f);
    tamis_free(f);
    PG_RETURN_POINTER(value);
}

/* A copy to change. */
static tamis *to_change(Datum value) {
    return pg_load(value, CurrentMemoryContext);
}

static uint64_t count_of(int64 number, const char *what, int64 min) {
    if (number < min)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: %s is " INT64_FORMAT ": it is at least " INT64_FORMAT, what,
                               number, min)));
    return (uint64_t)number;
}

/* ---- New ------------------------------------------------------------------------------------ */

PG_FUNCTION_INFO_V1(pg_tamis_new);
Datum pg_tamis_new(PG_FUNCTION_ARGS) {
    const char *spec = pg_spec(PG_GETARG_TEXT_PP(0));
    pg_room room;
    tamis *f;
    pg_make_in(&room, CurrentMemoryContext);
    const tamis_status rc = tamis_create_with(&f, spec, &room.options);
    if (rc == TAMIS_UNSUPPORTED)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("tamis: %s", tamis_why()),
                        errhint("In SQL that is tamis_build(key, '%s').", spec)));
    pg_check(rc);
    return finished(f);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* Keys that are to be added or removed: one, or the elements of an array. */
typedef struct keys {
    pg_form *form;
    Datum *datum;
    int count;
} keys;

static keys keys_of(FunctionCallInfo fcinfo, int arg) {
    const Oid type = get_fn_expr_argtype(fcinfo->flinfo, arg);
    const Oid element = get_element_type(getBaseType(type));
    keys all = {.count = 1};
    if (OidIsValid(element)) {
        int16 len;
        bool by_value, *is_null;
        char align;
        get_typlenbyvalalign(element, &len, &by_value, &align);
        deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), element, len, by_value, align, &all.datum,
                          &is_null, &all.count);
        int kept = 0;
        for (int i = 0; i < all.count; i++)
            if (!is_null[i]) all.datum[kept++] = all.datum[i];
        all.count = kept;
    } else {
        all.datum = palloc(sizeof *all.datum);
        all.datum[0] = PG_GETARG_DATUM(arg);
    }
    all.form = pg_form_of_type(OidIsValid(element) ? element : type, PG_GET_COLLATION(),
                               CurrentMemoryContext);
    return all;
}

static tamis_status change(tamis *f, const sql_key *key, bool adds) {
    if (key->is_number)
        return adds ? tamis_add_u64(f, key->number) : tamis_remove_u64(f, key->number);
    return adds ? tamis_add(f, key->bytes, key->len) : tamis_remove(f, key->bytes, key->len);
}

static void read_key(const pg_form *form, Datum datum, const tamis *f, sql_key *key) {
    pg_key_of(form, datum, key);
    if (!key->is_impossible) return;
    sql_why why;
    sql_why_impossible(&why, f);
    ereport(ERROR,
            (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("tamis: %s", why.sentence)));
}

static Datum changed(FunctionCallInfo fcinfo, bool adds) {
    tamis *f = to_change(PG_GETARG_DATUM(0));
    const uint64_t before = pg_payload_bytes(f);
    const keys all = keys_of(fcinfo, 1);
    pg_form_obey(all.form, f);
    if (adds && all.count > 0) pg_form_note_in(all.form, f);
    for (int i = 0; i < all.count; i++) {
        sql_key key;
        read_key(all.form, all.datum[i], f, &key);
        pg_check(change(f, &key, adds));
        CHECK_FOR_INTERRUPTS();
    }
    pg_within_limit(f, before);
    return finished(f);
}

PG_FUNCTION_INFO_V1(pg_tamis_add);
Datum pg_tamis_add(PG_FUNCTION_ARGS) {
    return changed(fcinfo, true);
}

PG_FUNCTION_INFO_V1(pg_tamis_remove);
Datum pg_tamis_remove(PG_FUNCTION_ARGS) {
    return changed(fcinfo, false);
}

PG_FUNCTION_INFO_V1(pg_tamis_put);
Datum pg_tamis_put(PG_FUNCTION_ARGS) {
    tamis *f = to_change(PG_GETARG_DATUM(0));
    const keys one = keys_of(fcinfo, 1);
    const uint64_t value = (uint64_t)PG_GETARG_INT64(2);
    sql_key key;
    pg_form_obey(one.form, f);
    pg_form_note_in(one.form, f);
    read_key(one.form, one.datum[0], f, &key);
    pg_check(key.is_number ? tamis_put_u64(f, key.number, value)
                           : tamis_put(f, key.bytes, key.len, value));
    return finished(f);
}

/* ---- Sets ----------------------------------------------------------------------------------- */

void pg_join(tamis *into, const tamis *from, pg_join_fn *join) {
    const uint64_t one = pg_payload_bytes(into), other = pg_payload_bytes(from);
    pg_forms_match(into, from);
    pg_check(join(into, from));
    pg_check(sql_take_note(into, from));
    pg_within_limit(into, Max(one, other));
}

static Datum joined(FunctionCallInfo fcinfo, pg_join_fn *join) {
    tamis *into = to_change(PG_GETARG_DATUM(0)), *from = pg_view(PG_GETARG_DATUM(1));
    pg_join(into, from, join);
    tamis_free(from);
    return finished(into);
}

PG_FUNCTION_INFO_V1(pg_tamis_union);
Datum pg_tamis_union(PG_FUNCTION_ARGS) {
    return joined(fcinfo, tamis_merge);
}

PG_FUNCTION_INFO_V1(pg_tamis_intersect);
Datum pg_tamis_intersect(PG_FUNCTION_ARGS) {
    return joined(fcinfo, tamis_intersect);
}

/* ---- Shapes, time and notes ----------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pg_tamis_fold);
Datum pg_tamis_fold(PG_FUNCTION_ARGS) {
    tamis *f = to_change(PG_GETARG_DATUM(0));
    pg_check(tamis_fold(f, count_of(PG_GETARG_INT64(1), "by", 1)));
    return finished(f);
}

PG_FUNCTION_INFO_V1(pg_tamis_resize);
Datum pg_tamis_resize(PG_FUNCTION_ARGS) {
    tamis *f = to_change(PG_GETARG_DATUM(0));
    const uint64_t before = pg_payload_bytes(f);
    pg_check(tamis_resize(f, count_of(PG_GETARG_INT64(1), "capacity", 0)));
    pg_within_limit(f, before);
    return finished(f);
}

PG_FUNCTION_INFO_V1(pg_tamis_tick);
Datum pg_tamis_tick(PG_FUNCTION_ARGS) {
    tamis *f = to_change(PG_GETARG_DATUM(0));
    pg_check(tamis_tick(f));
    return finished(f);
}

PG_FUNCTION_INFO_V1(pg_tamis_set_note);
Datum pg_tamis_set_note(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
    tamis *f = to_change(PG_GETARG_DATUM(0));
    const char *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
    const char *value = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2));
    if (value) value = pg_server_to_any(value, (int)strlen(value), PG_UTF8);
    pg_check(tamis_set_note(f, name, value));
    return finished(f);
}

PG_FUNCTION_INFO_V1(pg_tamis_note);
Datum pg_tamis_note(PG_FUNCTION_ARGS) {
    pg_call *call = pg_call_of(fcinfo);
    const tamis *f = pg_call_filter(call, PG_GETARG_DATUM(0));
    const char *value = tamis_note(f, text_to_cstring(PG_GETARG_TEXT_PP(1)));
    if (!value) PG_RETURN_NULL();
    PG_RETURN_TEXT_P(cstring_to_text(pg_any_to_server(value, (int)strlen(value), PG_UTF8)));
}
