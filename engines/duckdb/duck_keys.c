/* SPDX-License-Identifier: MIT */
/* From vectors to keys: those of engines/sql/sql_keys.h, many at a time.
 *
 *     type                                   family
 *     integers up to BIGINT, BOOLEAN         integer: int64
 *     HUGEINT                                integer: int64, where it fits 64 bits
 *     UBIGINT, UHUGEINT                      integer: uint64, where it fits 64 bits
 *     DATE, TIMESTAMP of every unit          time: microseconds since 1970
 *     FLOAT, DOUBLE                          real
 *     DECIMAL                                numeric: digits without zeros at the end
 *     VARCHAR, ENUM by its label             text
 *     BLOB                                   bytes
 *     UUID                                   uuid
 */
#include "engines/duckdb/duck.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* ---- Memory --------------------------------------------------------------------------------- */

struct duck_block {
    struct duck_block *before;
    size_t used, size;
    _Alignas(16) char bytes[];
};
enum { BLOCK = 32 << 10 };

void *duck_take(duck_room *room, size_t size) {
    const size_t rounded = (size + 15) & ~(size_t)15;
    struct duck_block *b = room->last;
    if (rounded < size) return NULL;
    if (!b || b->size - b->used < rounded) {
        const size_t larger = rounded > BLOCK ? rounded : BLOCK;
        if (larger > SIZE_MAX - sizeof *b || !(b = malloc(sizeof *b + larger))) return NULL;
        *b = (struct duck_block){.before = room->last, .size = larger};
        room->last = b;
    }
    b->used += rounded;
    return b->bytes + b->used - rounded;
}

void duck_give_back(duck_room *room) {
    while (room->last) {
        struct duck_block *gone = room->last;
        room->last = gone->before;
        free(gone);
    }
}

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct type {
    int id;
    sql_family family;
    const char *note, *what; /* NULL: those of the family */
    const char *name;
} types[] = {
    {DUCK_BOOLEAN, SQL_INTEGER, NULL, "a boolean", "BOOLEAN"},
    {DUCK_TINYINT, SQL_INTEGER, NULL, NULL, "TINYINT"},
    {DUCK_SMALLINT, SQL_INTEGER, NULL, NULL, "SMALLINT"},
    {DUCK_INTEGER, SQL_INTEGER, NULL, NULL, "INTEGER"},
    {DUCK_BIGINT, SQL_INTEGER, NULL, NULL, "BIGINT"},
    {DUCK_HUGEINT, SQL_INTEGER, NULL, NULL, "HUGEINT"},
    {DUCK_UTINYINT, SQL_INTEGER, NULL, NULL, "UTINYINT"},
    {DUCK_USMALLINT, SQL_INTEGER, NULL, NULL, "USMALLINT"},
    {DUCK_UINTEGER, SQL_INTEGER, NULL, NULL, "UINTEGER"},
    {DUCK_UBIGINT, SQL_INTEGER, "uint64", NULL, "UBIGINT"},
    {DUCK_UHUGEINT, SQL_INTEGER, "uint64", NULL, "UHUGEINT"},
    {DUCK_DATE, SQL_TIME, NULL, NULL, "DATE"},
    {DUCK_TIMESTAMP, SQL_TIME, NULL, NULL, "TIMESTAMP"},
    {DUCK_TIMESTAMP_S, SQL_TIME, NULL, NULL, "TIMESTAMP_S"},
    {DUCK_TIMESTAMP_MS, SQL_TIME, NULL, NULL, "TIMESTAMP_MS"},
    {DUCK_TIMESTAMP_NS, SQL_TIME, NULL, NULL, "TIMESTAMP_NS"},
    {DUCK_TIMESTAMP_TZ, SQL_TIME, NULL, NULL, "TIMESTAMPTZ"},
    {DUCK_TIMESTAMP_TZ_NS, SQL_TIME, NULL, NULL, "TIMESTAMPTZ_NS"},
    {DUCK_FLOAT, SQL_REAL, "float", NULL, "FLOAT"},
    {DUCK_DOUBLE, SQL_REAL, NULL, NULL, "DOUBLE"},
    {DUCK_DECIMAL, SQL_NUMERIC, NULL, "a decimal", "DECIMAL"},
    {DUCK_VARCHAR, SQL_TEXT, NULL, NULL, "VARCHAR"},
    {DUCK_ENUM, SQL_TEXT, NULL, NULL, "ENUM"},
    {DUCK_BLOB, SQL_BYTES, NULL, "a blob", "BLOB"},
    {DUCK_UUID, SQL_UUID, NULL, NULL, "UUID"},
    {DUCK_NULL, SQL_INTEGER, NULL, NULL, "NULL"},
};

static const struct type *type_of(int id) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id) return &types[i];
    return NULL;
}

bool duck_form_of(duck_form *form, const duck_column *column, sql_why *why) {
    const struct type *type = type_of(column->type);
    if (!type) {
        duck_fail(why, column->type == DUCK_LIST
                           ? "a list is not a key"
                           : "values of this type are not keys: keys are integers, floats, "
                             "decimals, texts, enums, blobs, uuids, dates and timestamps");
        snprintf(why->hint, sizeof why->hint, "%s",
                 column->type == DUCK_LIST ? "Use tamis_has_any or tamis_has_all"
                                           : "Others can be cast to VARCHAR");
        return false;
    }
    sql_form_init(&form->form, type->family, type->note, type->what);
    form->encoding = form->form.note;
    return true;
}

bool duck_obey(duck_form *form, const tamis *f, sql_why *why) {
    const char *encoding = tamis_note(f, "encoding");
    form->encoding = encoding ? encoding : form->form.note;
    if (sql_form_obey(&form->form, f, why) == TAMIS_OK) return true;
    return false;
}

/* ---- Integers ------------------------------------------------------------------------------- */

/* Numbers of 64 bits, and where they lie: what is too large or too small for that is no key. */
enum { IS_INT64, IS_ABOVE_INT64, IS_NO_KEY };

typedef struct numbers {
    uint64_t *value; /* may be the vector's own */
    uint8_t *lies;   /* NULL: all are int64 */
} numbers;

#define WIDEN(type) \
    for (size_t i = 0; i < n; i++) value[i] = (uint64_t)(int64_t)((const type *)c->data)[from + i];

static void widen_small(uint64_t *value, const duck_column *c, uint64_t from, size_t n) {
    switch (c->type) {
    case DUCK_BOOLEAN: WIDEN(uint8_t) break;
    case DUCK_TINYINT: WIDEN(int8_t) break;
    case DUCK_SMALLINT: WIDEN(int16_t) break;
    case DUCK_INTEGER: WIDEN(int32_t) break;
    case DUCK_UTINYINT: WIDEN(uint8_t) break;
    case DUCK_USMALLINT: WIDEN(uint16_t) break;
    case DUCK_UINTEGER: WIDEN(uint32_t) break;
    default: WIDEN(uint64_t) break;
    }
}

static int128 huge_at(const duck_column *c, uint64_t row) {
    int128 value;
    memcpy(&value, (const char *)c->data + row * sizeof value, sizeof value);
    return value;
}

static void narrow_huge(numbers *to, const duck_column *c, uint64_t from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const int128 value = huge_at(c, from + i);
        const bool is_beyond = c->type == DUCK_UHUGEINT && value < 0;
        to->value[i] = (uint64_t)value;
        to->lies[i] = is_beyond || value < INT64_MIN || value > (int128)UINT64_MAX ? IS_NO_KEY
                      : value > INT64_MAX                                          ? IS_ABOVE_INT64
                                                                                   : IS_INT64;
    }
}

static bool read_integers(numbers *to, const duck_column *c, uint64_t from, size_t n,
                          duck_room *room, sql_why *why) {
    const bool is_huge = c->type == DUCK_HUGEINT || c->type == DUCK_UHUGEINT;
    *to = (numbers){.value = (uint64_t *)(uintptr_t)c->data + from};
    if (c->type == DUCK_BIGINT) return true;
    to->value = duck_take(room, n * sizeof *to->value);
    if (is_huge || c->type == DUCK_UBIGINT) to->lies = duck_take(room, n);
    if (!to->value || ((is_huge || c->type == DUCK_UBIGINT) && !to->lies))
        return duck_no_memory(why);
    if (is_huge) {
        narrow_huge(to, c, from, n);
        return true;
    }
    if (c->type == DUCK_NULL)
        memset(to->value, 0, n * sizeof *to->value);
    else
        widen_small(to->value, c, from, n);
    for (size_t i = 0; to->lies && i < n; i++)
        to->lies[i] = to->value[i] > INT64_MAX ? IS_ABOVE_INT64 : IS_INT64;
    return true;
}

/* ---- Times ---------------------------------------------------------------------------------- */

/* Microseconds since 1970; the ends of int64 are infinite times, as in PostgreSQL. What is finer
 * than a microsecond, or later than they reach, is no key. */
static uint8_t set_micros(uint64_t *value, int64_t time, int64_t max, int64_t unit, int64_t per) {
    *value = (uint64_t)(time == max ? INT64_MAX : INT64_MIN);
    if (time == max || time == -max) return IS_INT64;
    if (time % per != 0 || time > INT64_MAX / unit || time < INT64_MIN / unit) return IS_NO_KEY;
    *value = (uint64_t)(time / per * unit);
    return IS_INT64;
}

static bool read_times(numbers *to, const duck_column *c, uint64_t from, size_t n, duck_room *room,
                       sql_why *why) {
    const bool is_date = c->type == DUCK_DATE;
    const bool is_fine = c->type == DUCK_TIMESTAMP_NS || c->type == DUCK_TIMESTAMP_TZ_NS;
    const int64_t unit = is_date                        ? INT64_C(86400000000)
                         : c->type == DUCK_TIMESTAMP_S  ? 1000000
                         : c->type == DUCK_TIMESTAMP_MS ? 1000
                                                        : 1;
    const int64_t max = is_date ? INT32_MAX : INT64_MAX, per = is_fine ? 1000 : 1;
    to->value = duck_take(room, n * sizeof *to->value);
    to->lies = duck_take(room, n);
    if (!to->value || !to->lies) return duck_no_memory(why);
    for (size_t i = 0; i < n; i++) {
        const int64_t time =
            is_date ? ((const int32_t *)c->data)[from + i] : ((const int64_t *)c->data)[from + i];
        to->lies[i] = set_micros(&to->value[i], time, max, unit, per);
    }
    return true;
}

/* ---- Reals ---------------------------------------------------------------------------------- */

static bool read_reals(numbers *to, const duck_column *c, uint64_t from, size_t n, duck_room *room,
                       sql_why *why) {
    to->lies = NULL;
    to->value = duck_take(room, n * sizeof *to->value);
    if (!to->value) return duck_no_memory(why);
    for (size_t i = 0; i < n; i++) {
        sql_key key;
        sql_key_real(&key, c->type == DUCK_FLOAT ? (double)((const float *)c->data)[from + i]
                                                 : ((const double *)c->data)[from + i]);
        to->value[i] = key.number;
    }
    return true;
}

/* ---- Numbers as keys ------------------------------------------------------------------------ */

static bool is_word(const char *word, const char *other) {
    return strcmp(word, other) == 0;
}

/* Are the 8 bytes of the numbers keys of the encoding as they stand? */
static bool are_plain(const duck_form *form) {
    if (form->form.family == SQL_REAL) return is_word(form->encoding, "double");
    return is_word(form->encoding, "int64") || is_word(form->encoding, "uint64");
}

static bool set_plain(duck_keys *keys, const duck_form *form, const numbers *from, duck_room *room,
                      sql_why *why) {
    const bool is_signed = !is_word(form->encoding, "uint64");
    keys->numbers = from->value;
    if (form->form.family == SQL_REAL || (is_signed && !from->lies)) return true;
    uint8_t *impossible = duck_take(room, keys->count);
    if (!impossible) return duck_no_memory(why);
    for (size_t i = 0; i < keys->count; i++) {
        const int lies = from->lies ? from->lies[i] : IS_INT64;
        impossible[i] =
            lies == IS_NO_KEY ||
            (is_signed ? lies != IS_INT64 : lies == IS_INT64 && (int64_t)from->value[i] < 0);
    }
    keys->impossible = impossible;
    return true;
}

/* One number in another encoding, of at most 8 bytes; SIZE_MAX when that has no place for it. */
static size_t encode_real(const sql_form *form, uint64_t value, uint8_t *bytes) {
    sql_why why;
    sql_key key;
    double real;
    memcpy(&real, &value, sizeof real);
    sql_key_real(&key, real);
    if (sql_key_encode(form, &key, NULL, &why) || key.is_impossible) return SIZE_MAX;
    memcpy(bytes, key.bytes, key.len);
    return key.len;
}

static size_t encode_number(const sql_form *form, uint64_t value, int lies, uint8_t *bytes) {
    char digits[32];
    if (form->family == SQL_REAL) return encode_real(form, value, bytes);
    if (lies == IS_NO_KEY) return SIZE_MAX;
    const int n = lies == IS_ABOVE_INT64
                      ? snprintf(digits, sizeof digits, "%llu", (unsigned long long)value)
                      : snprintf(digits, sizeof digits, "%lld", (long long)value);
    return tamis_encode(form->encoding, digits, (size_t)n, bytes, 24);
}

/* Room for `count` keys that are all impossible or empty so far. */
static struct tamis_key *new_keys(duck_keys *keys, uint8_t **impossible, duck_room *room) {
    struct tamis_key *list = duck_take(room, keys->count * sizeof *list);
    *impossible = duck_take(room, keys->count);
    if (!list || !*impossible) return NULL;
    memset(*impossible, 0, keys->count);
    for (size_t i = 0; i < keys->count; i++) list[i] = (struct tamis_key){.bytes = "", .len = 0};
    keys->keys = list;
    keys->impossible = *impossible;
    return list;
}

static bool encode_numbers(duck_keys *keys, const duck_form *form, const numbers *from,
                           duck_room *room, sql_why *why) {
    enum { ROOM = 24 };
    uint8_t *impossible, *bytes = duck_take(room, keys->count * ROOM);
    struct tamis_key *list = bytes ? new_keys(keys, &impossible, room) : NULL;
    if (!list) return duck_no_memory(why);
    sql_form target = form->form;
    snprintf(target.encoding, sizeof target.encoding, "%s", form->encoding);
    for (size_t i = 0; i < keys->count; i++) {
        uint8_t *at = bytes + i * ROOM;
        const size_t len =
            encode_number(&target, from->value[i], from->lies ? from->lies[i] : IS_INT64, at);
        impossible[i] = len == SIZE_MAX;
        if (!impossible[i]) list[i] = (struct tamis_key){.bytes = at, .len = len};
    }
    return true;
}

static bool read_numbers(duck_keys *keys, const duck_form *form, const duck_column *c,
                         uint64_t from, duck_room *room, sql_why *why) {
    numbers all;
    const sql_family family = form->form.family;
    const bool is_read = family == SQL_INTEGER
                             ? read_integers(&all, c, from, keys->count, room, why)
                         : family == SQL_TIME ? read_times(&all, c, from, keys->count, room, why)
                                              : read_reals(&all, c, from, keys->count, room, why);
    if (!is_read) return false;
    return are_plain(form) ? set_plain(keys, form, &all, room, why)
                           : encode_numbers(keys, form, &all, room, why);
}

/* ---- Texts and bytes ------------------------------------------------------------------------ */

static int128 decimal_at(const duck_column *c, int storage, uint64_t row) {
    switch (storage) {
    case DUCK_SMALLINT: return ((const int16_t *)c->data)[row];
    case DUCK_INTEGER: return ((const int32_t *)c->data)[row];
    case DUCK_BIGINT: return ((const int64_t *)c->data)[row];
    default: return huge_at(c, row);
    }
}

enum { DECIMAL_ROOM = 48 };

/* Digits without zeros at the end, as PostgreSQL normalises a numeric: 1.50 is 1.5. */
static size_t write_decimal(char text[DECIMAL_ROOM], int128 value, unsigned scale) {
    char digits[DECIMAL_ROOM];
    size_t count = 0, len = 0;
    uint128 rest = value < 0 ? -(uint128)value : (uint128)value;
    while (scale > 0 && rest % 10 == 0) rest /= 10, scale--;
    for (; rest || count <= scale; rest /= 10) digits[count++] = (char)('0' + (int)(rest % 10));
    if (value < 0) text[len++] = '-';
    while (count) {
        text[len++] = digits[--count];
        if (count && count == scale) text[len++] = '.';
    }
    return len;
}

static bool read_decimals(struct tamis_key *list, const duck_column *c, uint64_t from, size_t n,
                          duck_room *room) {
    const int storage = duck.decimal_internal_type(c->logical);
    const unsigned scale = duck.decimal_scale(c->logical);
    char *text = duck_take(room, n * DECIMAL_ROOM);
    for (size_t i = 0; text && i < n; i++, text += DECIMAL_ROOM)
        if (!duck_is_null(c, from + i))
            list[i] = (struct tamis_key){
                .bytes = text, .len = write_decimal(text, decimal_at(c, storage, from + i), scale)};
    return text;
}

/* DuckDB turns the first bit, so that they are in order as numbers. */
static bool read_uuids(struct tamis_key *list, const duck_column *c, uint64_t from, size_t n,
                       duck_room *room) {
    uint8_t *bytes = duck_take(room, n * 16);
    for (size_t i = 0; bytes && i < n; i++, bytes += 16) {
        const uint128 value = (uint128)huge_at(c, from + i) ^ (uint128)1 << 127;
        for (unsigned b = 0; b < 16; b++) bytes[b] = (uint8_t)(value >> (120 - 8 * b));
        list[i] = (struct tamis_key){.bytes = bytes, .len = 16};
    }
    return bytes;
}

static bool read_labels(struct tamis_key *list, const duck_column *c, uint64_t from, size_t n,
                        duck_room *room) {
    const int storage = duck.enum_internal_type(c->logical);
    for (size_t i = 0; i < n; i++) {
        if (duck_is_null(c, from + i)) continue;
        const uint64_t index = storage == DUCK_UTINYINT    ? ((const uint8_t *)c->data)[from + i]
                               : storage == DUCK_USMALLINT ? ((const uint16_t *)c->data)[from + i]
                                                           : ((const uint32_t *)c->data)[from + i];
        char *label = duck.enum_dictionary_value(c->logical, index);
        const size_t len = label ? strlen(label) : 0;
        char *copy = label ? duck_take(room, len + 1) : NULL;
        if (copy) memcpy(copy, label, len + 1);
        duck.free(label);
        if (!copy) return false;
        list[i] = (struct tamis_key){.bytes = copy, .len = len};
    }
    return true;
}

static bool read_bytes(struct tamis_key *list, const duck_column *c, uint64_t from, size_t n) {
    const duck_string *strings = duck_strings(c) + from;
    for (size_t i = 0; i < n; i++)
        if (!duck_is_null(c, from + i))
            list[i] = (struct tamis_key){.bytes = duck_bytes(&strings[i]), .len = strings[i].len};
    return true;
}

/* In the encoding of the filter, where that is another. */
static bool encode_keys(duck_keys *keys, struct tamis_key *list, uint8_t *impossible,
                        const duck_form *form, const duck_column *c, uint64_t from, duck_room *room,
                        sql_why *why) {
    for (size_t i = 0; i < keys->count; i++) {
        sql_key key;
        if (duck_is_null(c, from + i)) continue;
        sql_key_bytes(&key, list[i].bytes, list[i].len);
        void *more = duck_take(room, sql_key_room(&form->form, &key));
        if (!more) return duck_no_memory(why);
        if (sql_key_encode(&form->form, &key, more, why)) return false;
        impossible[i] = key.is_impossible;
        if (!key.is_impossible) list[i] = (struct tamis_key){.bytes = key.bytes, .len = key.len};
    }
    return true;
}

static bool read_strings(duck_keys *keys, const duck_form *form, const duck_column *c,
                         uint64_t from, duck_room *room, sql_why *why) {
    uint8_t *impossible;
    struct tamis_key *list = new_keys(keys, &impossible, room);
    if (!list) return duck_no_memory(why);
    const bool is_read = c->type == DUCK_DECIMAL ? read_decimals(list, c, from, keys->count, room)
                         : c->type == DUCK_UUID  ? read_uuids(list, c, from, keys->count, room)
                         : c->type == DUCK_ENUM  ? read_labels(list, c, from, keys->count, room)
                                                 : read_bytes(list, c, from, keys->count);
    if (!is_read) return duck_no_memory(why);
    if (*form->form.encoding) return encode_keys(keys, list, impossible, form, c, from, room, why);
    keys->impossible = NULL;
    return true;
}

bool duck_read_keys(duck_keys *keys, const duck_form *form, const duck_column *c, uint64_t from,
                    uint64_t to, duck_room *room, sql_why *why) {
    const sql_family family = form->form.family;
    *keys = (duck_keys){.count = (size_t)(to - from)};
    if (family == SQL_INTEGER || family == SQL_TIME || family == SQL_REAL)
        return read_numbers(keys, form, c, from, room, why);
    return read_strings(keys, form, c, from, room, why);
}

bool duck_check_possible(const duck_keys *keys, const duck_column *c, uint64_t from,
                         const duck_form *form, sql_why *why) {
    for (size_t i = 0; keys->impossible && i < keys->count; i++)
        if (keys->impossible[i] && !duck_is_null(c, from + i))
            return duck_fail(why, "a key is %s that keys in the encoding %s have no place for",
                             form->form.what, form->encoding);
    return true;
}
