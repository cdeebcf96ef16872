/* SPDX-License-Identifier: MIT */
/* What a filter is, what a spec would cost, which kinds there are. */
#include "engines/postgres/pg.h"

#include <catalog/pg_type.h>
#include <funcapi.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/tuplestore.h>

#include <math.h>
#include <string.h>

#include "engines/sql/sql_specs.h"

/* ---- Rows ----------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 24 };

/* A row that is put together from left to right. */
typedef struct row {
    Datum value[MAX_COLUMNS];
    bool is_null[MAX_COLUMNS];
    int count;
} row;

static void put(row *r, Datum value) {
    r->is_null[r->count] = false;
    r->value[r->count++] = value;
}

static void put_null(row *r) {
    r->is_null[r->count++] = true;
}

/* What an image says is UTF-8, or refused here: labels are not checked at the gate. */
static void put_text(row *r, const char *text) {
    if (text && *text)
        put(r, CStringGetTextDatum(pg_any_to_server(text, (int)strlen(text), PG_UTF8)));
    else
        put_null(r);
}

static void put_count(row *r, uint64_t count) {
    put(r, Int64GetDatum((int64)(count < PG_INT64_MAX ? count : PG_INT64_MAX)));
}

/* NULL for what is not known. */
static void put_rate(row *r, double rate) {
    if (rate > 0 || isinf(rate))
        put(r, Float8GetDatum(rate));
    else
        put_null(r);
}

/* A single column is no row to the server. */
static TupleDesc column_type(void) {
    TupleDesc type = CreateTemplateTupleDesc(1);
    TupleDescInitEntry(type, 1, "text", TEXTOID, -1, 0);
    return BlessTupleDesc(type);
}

static TupleDesc row_type(FunctionCallInfo fcinfo, int columns) {
    TupleDesc type;
    if (columns == 1) return column_type();
    if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE || type->natts != columns)
        elog(ERROR, "tamis: the function was declared with other columns than it has; run ALTER "
                    "EXTENSION tamis UPDATE");
    return BlessTupleDesc(type);
}

static Datum one_row(FunctionCallInfo fcinfo, row *r) {
    return HeapTupleGetDatum(heap_form_tuple(row_type(fcinfo, r->count), r->value, r->is_null));
}

/* Several rows go to a tuplestore. */
static Tuplestorestate *open_rows(FunctionCallInfo fcinfo, TupleDesc *type, int columns) {
    ReturnSetInfo *wanted = (ReturnSetInfo *)fcinfo->resultinfo;
    if (!wanted || !IsA(wanted, ReturnSetInfo) || !(wanted->allowedModes & SFRM_Materialize))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("tamis: a function that returns rows cannot be called here")));
    MemoryContext before = MemoryContextSwitchTo(wanted->econtext->ecxt_per_query_memory);
    *type = CreateTupleDescCopy(row_type(fcinfo, columns));
    wanted->returnMode = SFRM_Materialize;
    wanted->setResult = tuplestore_begin_heap(true, false, work_mem);
    wanted->setDesc = *type;
    MemoryContextSwitchTo(before);
    return wanted->setResult;
}

/* ---- Abilities ------------------------------------------------------------------------------ */

enum { MAX_WORDS = 32 };

static Datum words_of(unsigned abilities) {
    Datum names[MAX_WORDS];
    const char *word;
    unsigned ability;
    int count = 0;
    for (size_t i = 0; i < MAX_WORDS && (word = sql_ability_at(i, &ability)); i++)
        if (abilities & ability) names[count++] = CStringGetTextDatum(word);
    return PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* ---- A filter ------------------------------------------------------------------------------- */

static char *spec_of(const tamis *f) {
    const size_t size = tamis_spec(f, NULL, 0) + 1;
    char *text = palloc(size);
    tamis_spec(f, text, size);
    return text;
}

static Datum describe(FunctionCallInfo fcinfo, const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    row r = {.count = 0};
    tamis_measure(f, &info);
    put_text(&r, info.kind);
    put_text(&r, spec_of(f));
    put_text(&r, info.contract);
    put_count(&r, info.capacity);
    put_count(&r, info.items);
    put_rate(&r, info.items_now.value);
    put_rate(&r, info.items_now.error);
    put_rate(&r, info.fpr_asked);
    put_rate(&r, info.fpr_expected);
    put(&r, Float8GetDatum(info.fpr_now)); /* as tamis_rate: 0 of an empty filter */
    put(&r, Float8GetDatum(info.fill));
    put_count(&r, info.payload_bytes);
    put_count(&r, info.stored_bytes);
    put_text(&r, info.hash);
    put_text(&r, info.key_place);
    put_text(&r, tamis_note(f, "encoding"));
    put(&r, words_of(info.abilities));
    put(&r, BoolGetDatum(info.is_saturated));
    put(&r, BoolGetDatum(info.is_degraded));
    put_text(&r, info.caveat);
    return one_row(fcinfo, &r);
}

PG_FUNCTION_INFO_V1(pg_tamis_info);
Datum pg_tamis_info(PG_FUNCTION_ARGS) {
    return describe(fcinfo, pg_view(PG_GETARG_DATUM(0)));
}

PG_FUNCTION_INFO_V1(pg_tamis_file_info);
Datum pg_tamis_file_info(PG_FUNCTION_ARGS) {
    return describe(fcinfo, pg_file_named(PG_GETARG_TEXT_PP(0))->filter);
}

PG_FUNCTION_INFO_V1(pg_tamis_items);
Datum pg_tamis_items(PG_FUNCTION_ARGS) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(pg_call_filter(pg_call_of(fcinfo), PG_GETARG_DATUM(0)), &info);
    PG_RETURN_INT64((int64)info.items);
}

PG_FUNCTION_INFO_V1(pg_tamis_rate);
Datum pg_tamis_rate(PG_FUNCTION_ARGS) {
    PG_RETURN_FLOAT8(tamis_fpr_now(pg_call_filter(pg_call_of(fcinfo), PG_GETARG_DATUM(0))));
}

PG_FUNCTION_INFO_V1(pg_tamis_spec);
Datum pg_tamis_spec(PG_FUNCTION_ARGS) {
    PG_RETURN_TEXT_P(
        cstring_to_text(spec_of(pg_call_filter(pg_call_of(fcinfo), PG_GETARG_DATUM(0)))));
}

/* What is wrong with it, a sentence for each; no row for a filter that is well. */
PG_FUNCTION_INFO_V1(pg_tamis_doctor);
Datum pg_tamis_doctor(PG_FUNCTION_ARGS) {
    struct tamis_info info = TAMIS_INFO_INIT;
    TupleDesc type;
    Tuplestorestate *rows = open_rows(fcinfo, &type, 1);
    tamis_measure(pg_view(PG_GETARG_DATUM(0)), &info);
    const char *const found[] = {
        info.is_saturated ? "it is so full that most answers are yes: build it for more keys"
                          : NULL,
        info.is_degraded && !info.is_saturated
            ? psprintf("its rate is %.3g, more than twice the %.3g that was asked", info.fpr_now,
                       info.fpr_asked)
            : NULL,
        info.capacity && info.items > info.capacity
            ? psprintf("it has " UINT64_FORMAT " items, and was planned for " UINT64_FORMAT,
                       info.items, info.capacity)
            : NULL,
        *info.caveat ? info.caveat : NULL,
    };
    for (size_t i = 0; i < lengthof(found); i++) {
        row r = {.count = 0};
        if (!found[i]) continue;
        put_text(&r, found[i]);
        tuplestore_putvalues(rows, type, r.value, r.is_null);
    }
    return (Datum)0;
}

PG_FUNCTION_INFO_V1(pg_tamis_labels);
Datum pg_tamis_labels(PG_FUNCTION_ARGS) {
    const tamis *f = pg_view(PG_GETARG_DATUM(0));
    TupleDesc type;
    Tuplestorestate *rows = open_rows(fcinfo, &type, 1);
    for (uint64_t i = 0; i < tamis_label_count(f); i++) {
        row r = {.count = 0};
        put_text(&r, tamis_label_name(f, i));
        tuplestore_putvalues(rows, type, r.value, r.is_null);
    }
    return (Datum)0;
}

/* ---- Specs and kinds ------------------------------------------------------------------------ */

PG_FUNCTION_INFO_V1(pg_tamis_plan);
Datum pg_tamis_plan(PG_FUNCTION_ARGS) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    row r = {.count = 0};
    pg_check(tamis_plan_spec(pg_spec(PG_GETARG_TEXT_PP(0)), &plan));
    put_text(&r, plan.kind);
    put_count(&r, plan.capacity);
    put_rate(&r, plan.fpr_expected);
    put_rate(&r, plan.bits_per_key);
    put_count(&r, plan.payload_bytes);
    put_count(&r, plan.stored_bytes);
    put(&r, words_of(plan.abilities));
    return one_row(fcinfo, &r);
}

PG_FUNCTION_INFO_V1(pg_tamis_kinds);
Datum pg_tamis_kinds(PG_FUNCTION_ARGS) {
    TupleDesc type;
    Tuplestorestate *rows = open_rows(fcinfo, &type, 4);
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        row r = {.count = 0};
        tamis_kind_at(i, &kind);
        put_text(&r, kind.name);
        put_text(&r, kind.contract);
        put(&r, BoolGetDatum(kind.abilities & TAMIS_IS_BUILT));
        put(&r, words_of(kind.abilities));
        tuplestore_putvalues(rows, type, r.value, r.is_null);
    }
    return (Datum)0;
}
