/* SPDX-License-Identifier: MIT */
/* The type: text is \x and hex digits, as of bytea, and binary is the image. Every door is a gate;
 * that of a column of one kind, tamis('blocked'), lets no other in. */
#include "engines/postgres/pg.h"

#include <catalog/pg_type.h>
#include <common/hashfn.h>
#include <libpq/pqformat.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/memutils.h>

#include <string.h>

/* ---- Columns of one kind -------------------------------------------------------------------- */

static const char *kind_of_id(int32 id) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    for (size_t i = 0; tamis_kind_at(i, &kind); i++)
        if (kind.id == (uint32_t)id) return kind.name;
    return "of a newer version";
}

/* The modifier is the id that images of the kind have. */
static Datum of_kind(Datum value, int32 id) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    struct tamis_info info = TAMIS_INFO_INIT;
    if (id < 0) return value;
    tamis *f = pg_glance(value);
    tamis_get_info(f, &info);
    if (!tamis_kind_named(info.kind, &kind) || kind.id != (uint32_t)id)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("tamis: a filter of kind %s, where the column is tamis('%s')",
                               info.kind, kind_of_id(id))));
    tamis_free(f);
    return value;
}

PG_FUNCTION_INFO_V1(pg_tamis_of_kind);
Datum pg_tamis_of_kind(PG_FUNCTION_ARGS) {
    return of_kind(PG_GETARG_DATUM(0), PG_GETARG_INT32(1));
}

PG_FUNCTION_INFO_V1(pg_tamis_typmod_in);
Datum pg_tamis_typmod_in(PG_FUNCTION_ARGS) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    Datum *name;
    int n;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), CSTRINGOID, -2, false, TYPALIGN_CHAR, &name, NULL,
                      &n);
    if (n != 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("tamis: a column is of one kind, as tamis('blocked'), not of %d", n)));
    if (!tamis_kind_named(DatumGetCString(name[0]), &kind))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: there is no kind %s", DatumGetCString(name[0])),
                        errhint("SELECT kind FROM tamis_kinds() lists them.")));
    PG_RETURN_INT32((int32)kind.id);
}

/* In quotes, since some kinds have names that are words of SQL. */
PG_FUNCTION_INFO_V1(pg_tamis_typmod_out);
Datum pg_tamis_typmod_out(PG_FUNCTION_ARGS) {
    PG_RETURN_CSTRING(psprintf("('%s')", kind_of_id(PG_GETARG_INT32(0))));
}

/* ---- In and out ----------------------------------------------------------------------------- */

enum { PART = 1 << 20 }; /* bytes between two looks at whether to stop */

/* The plain form in parts; NULL for any other, which is left to bytea. */
static bytea *of_hex(const char *text) {
    const size_t len = strlen(text);
    if (len < 2 || len % 2 || memcmp(text, "\\x", 2) != 0 || strpbrk(text, " \t\r\n")) return NULL;
    const size_t size = len / 2 - 1;
    bytea *bytes = palloc(size + VARHDRSZ);
    SET_VARSIZE(bytes, size + VARHDRSZ);
    for (size_t at = 0; at < size; at += PART) {
        CHECK_FOR_INTERRUPTS();
        (void)hex_decode(text + 2 + 2 * at, 2 * Min(size - at, PART), VARDATA(bytes) + at);
    }
    return bytes;
}

PG_FUNCTION_INFO_V1(pg_tamis_in);
Datum pg_tamis_in(PG_FUNCTION_ARGS) {
    const bytea *bytes = of_hex(PG_GETARG_CSTRING(0));
    if (!bytes) bytes = DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
    return of_kind(PointerGetDatum(pg_value_of_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes))),
                   PG_GETARG_INT32(2));
}

PG_FUNCTION_INFO_V1(pg_tamis_out);
Datum pg_tamis_out(PG_FUNCTION_ARGS) {
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    const size_t size = VARSIZE_ANY_EXHDR(bytes);
    if (size > (MaxAllocSize - 3) / 2)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: a filter of %zu bytes is too large for text", size),
                        errhint("COPY ... WITH (FORMAT binary) has no such limit.")));
    char *text = palloc(2 * size + 3);
    memcpy(text, "\\x", 2);
    for (size_t at = 0; at < size; at += PART) {
        CHECK_FOR_INTERRUPTS();
        (void)hex_encode(VARDATA_ANY(bytes) + at, Min(size - at, PART), text + 2 + 2 * at);
    }
    text[2 * size + 2] = 0;
    PG_RETURN_CSTRING(text);
}

PG_FUNCTION_INFO_V1(pg_tamis_recv);
Datum pg_tamis_recv(PG_FUNCTION_ARGS) {
    StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
    const int size = message->len - message->cursor;
    const char *bytes = pq_getmsgbytes(message, size);
    return of_kind(PointerGetDatum(pg_value_of_bytes(bytes, (size_t)size)), PG_GETARG_INT32(2));
}

PG_FUNCTION_INFO_V1(pg_tamis_send);
Datum pg_tamis_send(PG_FUNCTION_ARGS) {
    PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
}

PG_FUNCTION_INFO_V1(pg_tamis_from_bytea);
Datum pg_tamis_from_bytea(PG_FUNCTION_ARGS) {
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    PG_RETURN_POINTER(pg_value_of_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
}

/* ---- Order: that of bytes, which is good for DISTINCT and joins, and says nothing else ------- */

static int compare(FunctionCallInfo fcinfo) {
    bytea *a = PG_GETARG_BYTEA_PP(0), *b = PG_GETARG_BYTEA_PP(1);
    const size_t m = VARSIZE_ANY_EXHDR(a), n = VARSIZE_ANY_EXHDR(b);
    const int order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), m < n ? m : n);
    const int by_size = m < n ? -1 : m > n;
    PG_FREE_IF_COPY(a, 0);
    PG_FREE_IF_COPY(b, 1);
    return order ? order : by_size;
}

#define COMPARISON(name, is)                  \
    PG_FUNCTION_INFO_V1(pg_tamis_##name);     \
    Datum pg_tamis_##name(PG_FUNCTION_ARGS) { \
        PG_RETURN_BOOL(compare(fcinfo) is 0); \
    }
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

PG_FUNCTION_INFO_V1(pg_tamis_cmp);
Datum pg_tamis_cmp(PG_FUNCTION_ARGS) {
    PG_RETURN_INT32(compare(fcinfo));
}

PG_FUNCTION_INFO_V1(pg_tamis_hash);
Datum pg_tamis_hash(PG_FUNCTION_ARGS) {
    bytea *bytes = PG_GETARG_BYTEA_PP(0);
    const Datum hash = hash_any((unsigned char *)VARDATA_ANY(bytes), (int)VARSIZE_ANY_EXHDR(bytes));
    PG_FREE_IF_COPY(bytes, 0);
    return hash;
}

PG_FUNCTION_INFO_V1(pg_tamis_hash_extended);
Datum pg_tamis_hash_extended(PG_FUNCTION_ARGS) {
    bytea *bytes = PG_GETARG_BYTEA_PP(0);
    const Datum hash = hash_any_extended((unsigned char *)VARDATA_ANY(bytes),
                                         (int)VARSIZE_ANY_EXHDR(bytes), PG_GETARG_INT64(1));
    PG_FREE_IF_COPY(bytes, 0);
    return hash;
}
