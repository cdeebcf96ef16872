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
 * They are those of the command ("tamis help keys"), so that a filter answers the same in both. A
 * form that a filter's keys cannot have is refused, since every answer would be no.
 *
 * A literal in quotes is a text: it is read by the note, so '5' is a key of integers, '\x6162' of
 * bytea, and '0.1' of float4, which is not the double 0.1. That is why bytea and addresses have the
 * note hex rather than bytes: '10.0.0.1' is no hex digits, and refused, but it would be bytes, and
 * not found. */
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

#include <math.h>
#include <string.h>

#include "tamis_formats.h"

typedef enum family { INTEGER, TIME, REAL, TEXT, NUMERIC, BYTES, ADDRESS, UUID } family;

typedef void reader(Datum, pg_key *);

struct pg_form {
    family family;
    reader *read;
    const char *note;
    char encoding[16]; /* what texts of keys are encoded by; "": keys are natural */
};

/* ---- Reading -------------------------------------------------------------------------------- */

static void set_bytes(pg_key *key, const void *bytes, size_t len) {
    key->bytes = bytes;
    key->len = len;
}

static void set_number(pg_key *key, int64 number) {
    key->is_number = true;
    key->number = (uint64_t)number;
    for (unsigned i = 0; i < 8; i++) key->room[i] = (uint8_t)(key->number >> 8 * i);
    set_bytes(key, key->room, 8);
}

/* Texts are UTF-8 whatever the encoding of the database. */
static void set_text(pg_key *key, const char *text, size_t len) {
    char *utf8 = pg_server_to_any(text, (int)len, PG_UTF8);
    set_bytes(key, utf8, utf8 == text ? len : strlen(utf8));
}

static void read_bool(Datum d, pg_key *key) {
    set_number(key, DatumGetBool(d));
}
static void read_int2(Datum d, pg_key *key) {
    set_number(key, DatumGetInt16(d));
}
static void read_int4(Datum d, pg_key *key) {
    set_number(key, DatumGetInt32(d));
}
static void read_int8(Datum d, pg_key *key) {
    set_number(key, DatumGetInt64(d));
}
static void read_oid(Datum d, pg_key *key) {
    set_number(key, DatumGetObjectId(d));
}

enum { DAYS_BEFORE_2000 = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE };

static void refuse_late(void) {
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                    errmsg("tamis: the time is too late for a key: microseconds since 1970 reach "
                           "to the year 294247")));
}

/* Infinite times are the ends of int64, as in the server; others do not reach them. */
static void read_timestamp(Datum d, pg_key *key) {
    const Timestamp time = DatumGetTimestamp(d);
    const int64 before_2000 = DAYS_BEFORE_2000 * USECS_PER_DAY;
    if (TIMESTAMP_NOT_FINITE(time))
        set_number(key, time);
    else if (time >= PG_INT64_MAX - before_2000)
        refuse_late();
    else
        set_number(key, time + before_2000);
}

static void read_date(Datum d, pg_key *key) {
    const DateADT date = DatumGetDateADT(d);
    const int64 days = (int64)date + DAYS_BEFORE_2000, max = PG_INT64_MAX / USECS_PER_DAY;
    if (DATE_IS_NOBEGIN(date))
        set_number(key, PG_INT64_MIN);
    else if (DATE_IS_NOEND(date))
        set_number(key, PG_INT64_MAX);
    else if (days > max)
        refuse_late();
    else
        set_number(key, days * USECS_PER_DAY);
}

/* 0 and -0 are one key, as are all that are not numbers. */
static void set_real(pg_key *key, double value) {
    const double one = isnan(value) ? (double)NAN : value == 0 ? 0 : value;
    uint64_t bits;
    memcpy(&bits, &one, sizeof bits);
    set_number(key, (int64)bits);
}

static void read_float4(Datum d, pg_key *key) {
    set_real(key, (double)DatumGetFloat4(d));
}
static void read_float8(Datum d, pg_key *key) {
    set_real(key, DatumGetFloat8(d));
}

static void read_text(Datum d, pg_key *key) {
    const text *t = DatumGetTextPP(d);
    set_text(key, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

static void read_bpchar(Datum d, pg_key *key) {
    const text *t = DatumGetTextPP(d);
    set_text(key, VARDATA_ANY(t), (size_t)bpchartruelen(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)));
}

static void read_cstring(Datum d, pg_key *key) {
    set_text(key, DatumGetCString(d), strlen(DatumGetCString(d)));
}

static void read_enum(Datum d, pg_key *key) {
    read_cstring(DirectFunctionCall1(enum_out, d), key);
}

static void read_numeric(Datum d, pg_key *key) {
    const char *digits = numeric_normalize(DatumGetNumeric(d));
    set_bytes(key, digits, strlen(digits));
}

static void read_bytea(Datum d, pg_key *key) {
    const bytea *b = DatumGetByteaPP(d);
    set_bytes(key, VARDATA_ANY(b), VARSIZE_ANY_EXHDR(b));
}

static void read_uuid(Datum d, pg_key *key) {
    set_bytes(key, DatumGetUUIDP(d)->data, UUID_LEN);
}

/* An address is its bytes, in whatever type; a block has the length of its prefix after them. */
static void read_inet(Datum d, pg_key *key) {
    inet *address = DatumGetInetPP(d);
    const size_t size = (size_t)ip_addrsize(address);
    memcpy(key->room, ip_addr(address), size);
    key->room[size] = ip_bits(address);
    set_bytes(key, key->room, size + (ip_bits(address) != ip_maxbits(address)));
}

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct type {
    Oid oid;
    family family;
    reader *read;
    const char *note;
} types[] = {
    {BOOLOID, INTEGER, read_bool, "int64"},
    {INT2OID, INTEGER, read_int2, "int64"},
    {INT4OID, INTEGER, read_int4, "int64"},
    {INT8OID, INTEGER, read_int8, "int64"},
    {OIDOID, INTEGER, read_oid, "int64"},
    {DATEOID, TIME, read_date, "int64"},
    {TIMESTAMPOID, TIME, read_timestamp, "int64"},
    {TIMESTAMPTZOID, TIME, read_timestamp, "int64"},
    {FLOAT4OID, REAL, read_float4, "float"},
    {FLOAT8OID, REAL, read_float8, "double"},
    {TEXTOID, TEXT, read_text, "utf8"},
    {VARCHAROID, TEXT, read_text, "utf8"},
    {BPCHAROID, TEXT, read_bpchar, "utf8"},
    {NAMEOID, TEXT, read_cstring, "utf8"},
    {UNKNOWNOID, TEXT, read_cstring, "utf8"},
    {NUMERICOID, NUMERIC, read_numeric, "utf8"},
    {BYTEAOID, BYTES, read_bytea, "hex"},
    {UUIDOID, UUID, read_uuid, "uuid"},
    {INETOID, ADDRESS, read_inet, "hex"},
    {CIDROID, ADDRESS, read_inet, "hex"},
};

static const struct type an_enum = {InvalidOid, TEXT, read_enum, "utf8"};

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

/* Keys that are read as they are need no encoding: all but float4, which are read as doubles. */
static void be_natural(pg_form *form) {
    strlcpy(form->encoding, strcmp(form->note, "float") == 0 ? "float" : "", sizeof form->encoding);
}

pg_form *pg_form_of_type(Oid oid, Oid collation, MemoryContext context) {
    const struct type *type = type_of(getBaseType(oid));
    if (!type)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("tamis: values of type %s are not keys", format_type_be(oid)),
                        errhint("Keys are integers, floats, numeric, text, enums, bytea, uuid, "
                                "dates and addresses. Others can be cast to text.")));
    if (type->family == TEXT) check_collation(oid, collation);
    pg_form *form = MemoryContextAllocZero(context, sizeof *form);
    form->family = type->family;
    form->read = type->read;
    form->note = type->note;
    be_natural(form);
    return form;
}

const char *pg_form_note(const pg_form *form) {
    return form->note;
}

bool pg_form_is_number(const pg_form *form) {
    return !*form->encoding &&
           (form->family == INTEGER || form->family == TIME || form->family == REAL);
}

/* ---- What a filter says about its keys ------------------------------------------------------ */

static bool is_among(const char *word, const char *const *list) {
    while (*list && strcmp(word, *list) != 0) list++;
    return *list;
}

static const char *const whole[] = {"int32",    "uint32",  "int64",    "uint64", "int32be",
                                    "uint32be", "int64be", "uint64be", NULL};
static const char *const wide[] = {"int64", "uint64", "int64be", "uint64be", NULL};
static const char *const real[] = {"float", "double", "floatbe", "doublebe", NULL};
static const char *const raw[] = {"bytes", "utf8", "hex", "base64", NULL};
static const char *const binary[] = {"hex", "base64", NULL};
static const char *const plain[] = {"utf8", "bytes", NULL};

/* Can keys of this family be in that encoding, and are they as they stand? */
static bool is_possible(family family, const char *encoding, bool *is_natural) {
    *is_natural = false;
    switch (family) {
    case INTEGER: *is_natural = strcmp(encoding, "int64") == 0; return is_among(encoding, whole);
    case TIME: *is_natural = strcmp(encoding, "int64") == 0; return is_among(encoding, wide);
    case REAL: *is_natural = strcmp(encoding, "double") == 0; return is_among(encoding, real);
    case TEXT: *is_natural = is_among(encoding, plain); return true;
    case NUMERIC:
        *is_natural = is_among(encoding, plain);
        return *is_natural || is_among(encoding, whole);
    case BYTES: *is_natural = true; return is_among(encoding, raw);
    case ADDRESS: *is_natural = true; return is_among(encoding, binary);
    case UUID:
        *is_natural = true;
        return strcmp(encoding, "uuid") == 0 || is_among(encoding, binary);
    }
    return false;
}

static const char *const what_is_asked[] = {
    [INTEGER] = "an integer", [TIME] = "a date or time", [REAL] = "a float",
    [TEXT] = "a text",        [NUMERIC] = "a numeric",   [BYTES] = "a bytea",
    [ADDRESS] = "an address", [UUID] = "a uuid"};

static void refuse(const pg_form *form, const char *encoding) {
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("tamis: keys of this filter are %s, and %s is never one of them",
                    encoding ? encoding : "texts or bytes (it has no note \"encoding\")",
                    what_is_asked[form->family]),
             encoding ? errhint("Cast the key to a type whose keys are %s.", encoding)
                      : errhint("Ask key::text; or, if another program made its keys of numbers, "
                                "say which: tamis_set_note(filter, 'encoding', '%s').",
                                form->note)));
}

static uint64_t items_of(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f, &info);
    return info.items;
}

void pg_form_obey_notes(pg_form *form, const char *encoding, const char *canon, bool has_keys) {
    bool is_natural = true;
    if (canon)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("tamis: keys of this filter were brought to one form (the note canon is "
                        "%s), which is done by the command alone",
                        canon),
                 errhint("Ask keys in that form after tamis_set_note(filter, 'canon', NULL).")));
    be_natural(form);
    if (!encoding && !has_keys) return;
    if (!is_possible(form->family, encoding ? encoding : "bytes", &is_natural))
        refuse(form, encoding);
    strlcpy(form->encoding, is_natural ? "" : encoding, sizeof form->encoding);
}

void pg_form_obey(pg_form *form, const tamis *f) {
    pg_form_obey_notes(form, tamis_note(f, "encoding"), tamis_note(f, "canon"), items_of(f) > 0);
}

void pg_form_note_in(const pg_form *form, tamis *f) {
    if (!tamis_note(f, "encoding") && items_of(f) == 0)
        pg_check(tamis_set_note(f, "encoding", form->note));
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Texts are read by the note of the union: those of one part as digits would not be found. */
static bool is_same_encoding(const char *a, const char *b) {
    return is_same(a, b) || ((!a || is_among(a, plain)) && (!b || is_among(b, plain)));
}

void pg_forms_match(const tamis *a, const tamis *b) {
    static const char *const names[] = {"encoding", "canon"};
    for (size_t i = 0; i < lengthof(names); i++) {
        const char *one = tamis_note(a, names[i]), *two = tamis_note(b, names[i]);
        if (i == 0 ? is_same_encoding(one, two) : is_same(one, two)) continue;
        if (i == 0 && ((!one && items_of(a) == 0) || (!two && items_of(b) == 0))) continue;
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: keys of the two filters have different forms: the note %s "
                               "is %s in one and %s in the other",
                               names[i], one ? one : "missing", two ? two : "missing"),
                        errhint("tamis_set_note() changes a note, if you know that the forms are "
                                "the same.")));
    }
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* Reals are converted here: to the digits of a double and back takes long. */
static void encode_real(const char *encoding, pg_key *key) {
    const bool is_single = strncmp(encoding, "float", 5) == 0;
    const size_t size = is_single ? 4 : 8;
    uint64_t bits = key->number;
    double value;
    memcpy(&value, &bits, sizeof value);
    if (is_single) {
        const float single = (float)value;
        uint32_t few;
        memcpy(&few, &single, sizeof few);
        bits = few;
        key->is_impossible = !isnan(value) && (double)single != value;
    }
    for (size_t i = 0; i < size; i++)
        key->room[strstr(encoding, "be") ? size - 1 - i : i] = (uint8_t)(bits >> 8 * i);
    set_bytes(key, key->room, size);
}

/* Numbers that an encoding has no place for are no keys of the filter. */
static void encode_number(const pg_form *form, pg_key *key) {
    char digits[32];
    key->is_number = false;
    if (form->family == REAL) {
        encode_real(form->encoding, key);
        return;
    }
    const int n = snprintf(digits, sizeof digits, INT64_FORMAT, (int64)key->number);
    const size_t len = tamis_encode(form->encoding, digits, (size_t)n, key->room, sizeof key->room);
    key->is_impossible = len == SIZE_MAX;
    set_bytes(key, key->room, len);
}

/* Texts of bytea begin with \x in SQL, and those of floats may be -0. */
static void skip_prefix(const pg_form *form, pg_key *key) {
    if (form->family != TEXT || strcmp(form->encoding, "hex") != 0 || key->len < 2) return;
    if (memcmp(key->bytes, "\\x", 2) != 0) return;
    key->bytes = (const char *)key->bytes + 2;
    key->len -= 2;
}

static void make_zero_plain(const pg_form *form, uint8_t *bytes, size_t len) {
    if (!is_among(form->encoding, real) || len == SIZE_MAX) return;
    uint8_t *sign = &bytes[strstr(form->encoding, "be") ? 0 : len - 1];
    size_t i = 0;
    while (i < len && bytes[i] == (&bytes[i] == sign ? 0x80 : 0)) i++;
    if (i == len) *sign = 0;
}

/* A numeric may be no number of the encoding; a text that is none is rather a mistake. */
static void encode_text(const pg_form *form, pg_key *key) {
    skip_prefix(form, key);
    const size_t room = 2 * key->len + 16;
    uint8_t *bytes = palloc(room);
    const size_t len = tamis_encode(form->encoding, key->bytes, key->len, bytes, room);
    key->is_impossible = len == SIZE_MAX;
    if (len == SIZE_MAX && form->family == TEXT)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("tamis: %s", tamis_why())));
    make_zero_plain(form, bytes, len);
    set_bytes(key, bytes, len);
}

void pg_key_of(const pg_form *form, Datum datum, pg_key *key) {
    key->is_number = key->is_impossible = false;
    form->read(datum, key);
    if (!*form->encoding) return;
    if (key->is_number)
        encode_number(form, key);
    else
        encode_text(form, key);
}
