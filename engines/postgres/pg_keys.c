/* SPDX-License-Identifier: MIT */
/* From datums to keys.
 *
 *     type                          natural form, and its note        also, when the note says so
 *     integers, bool, oid           int64                             int32 ... uint64be
 *     date, timestamp, timestamptz  int64: microseconds since 1970    int64be, uint64, uint64be
 *     float4                        float                             double, floatbe, doublebe
 *     float8                        double                            float, floatbe, doublebe
 *     text, varchar, char, name     utf8                              any that texts have
 *     numeric                       utf8: without trailing zeros      int32 ... uint64be
 *     enum                          utf8: its label                   any that texts have
 *     uuid                          uuid: 16 bytes                    hex, base64
 *     bytea                         hex: the bytes                    bytes, utf8, base64
 *     inet, cidr                    hex: 4 or 16 bytes, and the       base64
 *                                   length of a prefix
 *
 * engines/sql has the forms, for all engines alike, and says what can be a key of a filter; here
 * are the types of the server. A literal in quotes is a text, and read by the note: '5' is a key of
 * integers, '\x6162' of bytea, and '0.1' of float4, which is not the double 0.1. */
#include "engines/postgres/pg.h"

#include <catalog/pg_type.h>
#include <datatype/timestamp.h>
#include <mb/pg_wchar.h>
#include <utils/builtins.h>
#include <utils/date.h>
#include <utils/inet.h>
#include <utils/lsyscache.h>
#include <utils/numeric.h>
#include <utils/timestamp.h>
#include <utils/uuid.h>

#include <sys/socket.h>

#include <string.h>

typedef void reader(Datum, sql_key *);

struct pg_form {
    sql_form form;
    reader *read;
};

/* ---- Reading -------------------------------------------------------------------------------- */

/* Texts are UTF-8 whatever the encoding of the database. */
static void set_text(sql_key *key, const char *text, size_t len) {
    char *utf8 = pg_server_to_any(text, (int)len, PG_UTF8);
    sql_key_bytes(key, utf8, utf8 == text ? len : strlen(utf8));
}

static void read_bool(Datum d, sql_key *key) {
    sql_key_integer(key, DatumGetBool(d));
}
static void read_int2(Datum d, sql_key *key) {
    sql_key_integer(key, DatumGetInt16(d));
}
static void read_int4(Datum d, sql_key *key) {
    sql_key_integer(key, DatumGetInt32(d));
}
static void read_int8(Datum d, sql_key *key) {
    sql_key_integer(key, DatumGetInt64(d));
}
static void read_oid(Datum d, sql_key *key) {
    sql_key_integer(key, DatumGetObjectId(d));
}

enum { DAYS_BEFORE_2000 = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE };

static void refuse_late(void) {
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                    errmsg("tamis: the time is too late for a key: microseconds since 1970 reach "
                           "to the year 294247")));
}

/* Infinite times are the ends of int64, as in the server; others do not reach them. */
static void read_timestamp(Datum d, sql_key *key) {
    const Timestamp time = DatumGetTimestamp(d);
    const int64 before_2000 = DAYS_BEFORE_2000 * USECS_PER_DAY;
    if (TIMESTAMP_NOT_FINITE(time))
        sql_key_integer(key, time);
    else if (time >= PG_INT64_MAX - before_2000)
        refuse_late();
    else
        sql_key_integer(key, time + before_2000);
}

static void read_date(Datum d, sql_key *key) {
    const DateADT date = DatumGetDateADT(d);
    const int64 days = (int64)date + DAYS_BEFORE_2000, max = PG_INT64_MAX / USECS_PER_DAY;
    if (DATE_IS_NOBEGIN(date))
        sql_key_integer(key, PG_INT64_MIN);
    else if (DATE_IS_NOEND(date))
        sql_key_integer(key, PG_INT64_MAX);
    else if (days > max)
        refuse_late();
    else
        sql_key_integer(key, days * USECS_PER_DAY);
}

static void read_float4(Datum d, sql_key *key) {
    sql_key_real(key, (double)DatumGetFloat4(d));
}
static void read_float8(Datum d, sql_key *key) {
    sql_key_real(key, DatumGetFloat8(d));
}

static void read_text(Datum d, sql_key *key) {
    const text *t = DatumGetTextPP(d);
    set_text(key, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

static void read_bpchar(Datum d, sql_key *key) {
    const text *t = DatumGetTextPP(d);
    set_text(key, VARDATA_ANY(t), (size_t)bpchartruelen(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)));
}

static void read_cstring(Datum d, sql_key *key) {
    set_text(key, DatumGetCString(d), strlen(DatumGetCString(d)));
}

static void read_enum(Datum d, sql_key *key) {
    read_cstring(DirectFunctionCall1(enum_out, d), key);
}

static void read_numeric(Datum d, sql_key *key) {
    const char *digits = numeric_normalize(DatumGetNumeric(d));
    sql_key_bytes(key, digits, strlen(digits));
}

static void read_bytea(Datum d, sql_key *key) {
    const bytea *b = DatumGetByteaPP(d);
    sql_key_bytes(key, VARDATA_ANY(b), VARSIZE_ANY_EXHDR(b));
}

static void read_uuid(Datum d, sql_key *key) {
    sql_key_bytes(key, DatumGetUUIDP(d)->data, UUID_LEN);
}

/* An address is its bytes, in whatever type; a block has the length of its prefix after them. */
static void read_inet(Datum d, sql_key *key) {
    inet *address = DatumGetInetPP(d);
    const size_t size = (size_t)ip_addrsize(address);
    memcpy(key->room, ip_addr(address), size);
    key->room[size] = ip_bits(address);
    sql_key_bytes(key, key->room, size + (ip_bits(address) != ip_maxbits(address)));
}

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct type {
    Oid oid;
    sql_family family;
    reader *read;
    const char *note; /* where it is not the usual one of its family */
} types[] = {
    {BOOLOID, SQL_INTEGER, read_bool, NULL},
    {INT2OID, SQL_INTEGER, read_int2, NULL},
    {INT4OID, SQL_INTEGER, read_int4, NULL},
    {INT8OID, SQL_INTEGER, read_int8, NULL},
    {OIDOID, SQL_INTEGER, read_oid, NULL},
    {DATEOID, SQL_TIME, read_date, NULL},
    {TIMESTAMPOID, SQL_TIME, read_timestamp, NULL},
    {TIMESTAMPTZOID, SQL_TIME, read_timestamp, NULL},
    {FLOAT4OID, SQL_REAL, read_float4, "float"},
    {FLOAT8OID, SQL_REAL, read_float8, NULL},
    {TEXTOID, SQL_TEXT, read_text, NULL},
    {VARCHAROID, SQL_TEXT, read_text, NULL},
    {BPCHAROID, SQL_TEXT, read_bpchar, NULL},
    {NAMEOID, SQL_TEXT, read_cstring, NULL},
    {UNKNOWNOID, SQL_TEXT, read_cstring, NULL},
    {NUMERICOID, SQL_NUMERIC, read_numeric, NULL},
    {BYTEAOID, SQL_BYTES, read_bytea, NULL},
    {UUIDOID, SQL_UUID, read_uuid, NULL},
    {INETOID, SQL_ADDRESS, read_inet, NULL},
    {CIDROID, SQL_ADDRESS, read_inet, NULL},
};

static const struct type an_enum = {InvalidOid, SQL_TEXT, read_enum, NULL};

static const struct type *type_of(Oid oid) {
    for (size_t i = 0; i < lengthof(types); i++)
        if (types[i].oid == oid) return &types[i];
    return type_is_enum(oid) ? &an_enum : NULL;
}

/* Texts that the server calls equal are the same bytes, or refused. */
static void check_collation(Oid type, Oid collation) {
    if (!OidIsValid(collation) && type_is_collatable(type))
        ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                        errmsg("tamis: it is not known which collation the keys have"),
                        errhint("Add COLLATE \"C\" to them.")));
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("tamis: texts of a nondeterministic collation are not keys: equal "
                               "ones have different bytes"),
                        errhint("Add COLLATE \"C\", and bring the texts to one form yourself.")));
}

pg_form *pg_form_of_type(Oid oid, Oid collation, MemoryContext context) {
    const struct type *type = type_of(getBaseType(oid));
    if (!type)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("tamis: values of type %s are not keys", format_type_be(oid)),
                        errhint("Keys are integers, floats, numeric, text, enums, bytea, uuid, "
                                "dates and addresses. Others can be cast to text.")));
    if (type->family == SQL_TEXT) check_collation(oid, collation);
    pg_form *form = MemoryContextAllocZero(context, sizeof *form);
    sql_form_init(&form->form, type->family, type->note,
                  type->family == SQL_BYTES ? "a bytea" : NULL);
    form->read = type->read;
    return form;
}

const char *pg_form_note(const pg_form *form) {
    return form->form.note;
}

bool pg_form_is_number(const pg_form *form) {
    return sql_form_is_number(&form->form);
}

/* ---- What a filter says about its keys ------------------------------------------------------ */

static void refuse(const sql_why *why, int code) {
    ereport(ERROR, (errcode(code), errmsg("tamis: %s", why->sentence),
                    *why->hint ? errhint("%s", why->hint) : 0));
}

static void check_form(tamis_status rc, const sql_why *why) {
    if (rc)
        refuse(why,
               rc == TAMIS_UNSUPPORTED ? ERRCODE_FEATURE_NOT_SUPPORTED : ERRCODE_DATATYPE_MISMATCH);
}

void pg_form_obey_notes(pg_form *form, const char *encoding, const char *canon, bool has_keys) {
    sql_why why;
    check_form(sql_form_obey_notes(&form->form, encoding, canon, has_keys, &why), &why);
}

void pg_form_obey(pg_form *form, const tamis *f) {
    sql_why why;
    check_form(sql_form_obey(&form->form, f, &why), &why);
}

void pg_form_note_in(const pg_form *form, tamis *f) {
    pg_check(sql_form_note_in(&form->form, f));
}

void pg_forms_match(const tamis *a, const tamis *b) {
    sql_why why;
    if (sql_forms_match(a, b, &why)) refuse(&why, ERRCODE_INVALID_PARAMETER_VALUE);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

void pg_key_of(const pg_form *form, Datum datum, sql_key *key) {
    sql_why why;
    form->read(datum, key);
    const size_t room = sql_key_room(&form->form, key);
    if (sql_key_encode(&form->form, key, room ? palloc(room) : NULL, &why))
        refuse(&why, ERRCODE_INVALID_TEXT_REPRESENTATION);
}

/* An aggregate asks this for each row, mostly of these two types. */
uint64_t pg_number_of(const pg_form *form, Datum datum) {
    sql_key key;
    if (form->read == read_int8) return (uint64_t)DatumGetInt64(datum);
    if (form->read == read_int4) return (uint64_t)(int64)DatumGetInt32(datum);
    form->read(datum, &key);
    return key.number;
}
