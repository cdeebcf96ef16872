/* SPDX-License-Identifier: MIT */
/* From values of SQL to keys. */
#include "engines/sql/sql_keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tamis_formats.h"

/* ---- Families ------------------------------------------------------------------------------- */

static const struct family {
    const char *note, *what;
} families[] = {
    [SQL_INTEGER] = {"int64", "an integer"}, [SQL_TIME] = {"int64", "a date or time"},
    [SQL_REAL] = {"double", "a float"},      [SQL_TEXT] = {"utf8", "a text"},
    [SQL_NUMERIC] = {"utf8", "a numeric"},   [SQL_BYTES] = {"hex", "bytes"},
    [SQL_ADDRESS] = {"hex", "an address"},   [SQL_UUID] = {"uuid", "a uuid"},
};

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

bool sql_is_real(const char *encoding) {
    return is_among(encoding, real);
}

bool sql_is_possible(sql_family family, const char *encoding, bool *is_natural) {
    *is_natural = false;
    switch (family) {
    case SQL_INTEGER:
        *is_natural = strcmp(encoding, "int64") == 0;
        return is_among(encoding, whole);
    case SQL_TIME: *is_natural = strcmp(encoding, "int64") == 0; return is_among(encoding, wide);
    case SQL_REAL: *is_natural = strcmp(encoding, "double") == 0; return is_among(encoding, real);
    case SQL_TEXT: *is_natural = is_among(encoding, plain); return true;
    case SQL_NUMERIC:
        *is_natural = is_among(encoding, plain);
        return *is_natural || is_among(encoding, whole);
    case SQL_BYTES: *is_natural = true; return is_among(encoding, raw);
    case SQL_ADDRESS: *is_natural = true; return is_among(encoding, binary);
    case SQL_UUID:
        *is_natural = true;
        return strcmp(encoding, "uuid") == 0 || is_among(encoding, binary);
    }
    return false;
}

/* ---- Forms ---------------------------------------------------------------------------------- */

/* Keys that are read as they are need no encoding: all but single floats, which come as doubles. */
static void be_natural(sql_form *form) {
    snprintf(form->encoding, sizeof form->encoding, "%s",
             strcmp(form->note, "float") == 0 ? "float" : "");
}

void sql_form_init(sql_form *form, sql_family family, const char *note, const char *what) {
    form->family = family;
    form->note = note ? note : families[family].note;
    form->what = what ? what : families[family].what;
    be_natural(form);
}

bool sql_form_is_number(const sql_form *form) {
    return !*form->encoding &&
           (form->family == SQL_INTEGER || form->family == SQL_TIME || form->family == SQL_REAL);
}

/* ---- What a filter says about its keys ------------------------------------------------------ */

static uint64_t items_of(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f, &info);
    return info.items;
}

/* A note may be a book. */
static const char *shown(const char *note) {
    if (!note) return "missing";
    return strlen(note) > 32 ? "a long text" : note;
}

static tamis_status refuse(const sql_form *form, const char *encoding, sql_why *why) {
    snprintf(why->sentence, sizeof why->sentence,
             "keys of this filter are %s, and %s is never one of them",
             encoding ? shown(encoding) : "texts or bytes (it has no note \"encoding\")",
             form->what);
    if (encoding)
        snprintf(why->hint, sizeof why->hint, "Cast the key to a type whose keys are %s.",
                 shown(encoding));
    else
        snprintf(why->hint, sizeof why->hint,
                 "Ask CAST(key AS TEXT); or, if another program made its keys of numbers, say "
                 "which: tamis_set_note(filter, 'encoding', '%s').",
                 form->note);
    return TAMIS_MISMATCH;
}

static tamis_status refuse_canon(const char *canon, sql_why *why) {
    snprintf(why->sentence, sizeof why->sentence,
             "keys of this filter were brought to one form (the note canon is %s), which is "
             "done by the command alone",
             shown(canon));
    snprintf(why->hint, sizeof why->hint,
             "Ask keys in that form after tamis_set_note(filter, 'canon', NULL).");
    return TAMIS_UNSUPPORTED;
}

tamis_status sql_form_obey_notes(sql_form *form, const char *encoding, const char *canon,
                                 bool has_keys, sql_why *why) {
    bool is_natural = true;
    if (canon) return refuse_canon(canon, why);
    be_natural(form);
    if (!encoding && !has_keys) return TAMIS_OK;
    if (!sql_is_possible(form->family, encoding ? encoding : "bytes", &is_natural))
        return refuse(form, encoding, why);
    snprintf(form->encoding, sizeof form->encoding, "%s", is_natural ? "" : encoding);
    return TAMIS_OK;
}

tamis_status sql_form_obey(sql_form *form, const tamis *f, sql_why *why) {
    return sql_form_obey_notes(form, tamis_note(f, "encoding"), tamis_note(f, "canon"),
                               items_of(f) > 0, why);
}

tamis_status sql_form_note_in(const sql_form *form, tamis *f) {
    if (tamis_note(f, "encoding") || items_of(f) > 0) return TAMIS_OK;
    return tamis_set_note(f, "encoding", form->note);
}

/* ---- Two filters ---------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Texts are read by the note of the union: those of one part as digits would not be found. */
static bool is_same_encoding(const char *a, const char *b) {
    return is_same(a, b) || ((!a || is_among(a, plain)) && (!b || is_among(b, plain)));
}

tamis_status sql_forms_match(const tamis *a, const tamis *b, sql_why *why) {
    static const char *const names[] = {"encoding", "canon"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *one = tamis_note(a, names[i]), *two = tamis_note(b, names[i]);
        if (i == 0 ? is_same_encoding(one, two) : is_same(one, two)) continue;
        if (i == 0 && ((!one && items_of(a) == 0) || (!two && items_of(b) == 0))) continue;
        snprintf(why->sentence, sizeof why->sentence,
                 "keys of the two filters have different forms: the note %s is %s in one and %s "
                 "in the other",
                 names[i], shown(one), shown(two));
        snprintf(why->hint, sizeof why->hint,
                 "tamis_set_note() changes a note, if you know that the forms are the same.");
        return TAMIS_INVALID;
    }
    return TAMIS_OK;
}

tamis_status sql_take_note(tamis *into, const tamis *from) {
    const char *encoding = tamis_note(from, "encoding");
    if (!encoding || tamis_note(into, "encoding")) return TAMIS_OK;
    return tamis_set_note(into, "encoding", encoding);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

void sql_key_bytes(sql_key *key, const void *bytes, size_t len) {
    key->is_number = key->is_impossible = false;
    key->bytes = bytes;
    key->len = len;
}

static void set_number(sql_key *key, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) key->room[i] = (uint8_t)(number >> 8 * i);
    sql_key_bytes(key, key->room, 8);
    key->is_number = true;
    key->number = number;
}

void sql_key_integer(sql_key *key, int64_t number) {
    set_number(key, (uint64_t)number);
}

/* 0 and -0 are one key, as are all that are not numbers. */
void sql_key_real(sql_key *key, double value) {
    const double one = isnan(value) ? (double)NAN : value == 0 ? 0 : value;
    uint64_t bits;
    memcpy(&bits, &one, sizeof bits);
    set_number(key, bits);
}

/* ---- In the encoding of a filter ------------------------------------------------------------ */

/* Reals are converted here: to the digits of a double and back takes long. */
static void encode_real(const char *encoding, sql_key *key) {
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
    key->bytes = key->room;
    key->len = size;
}

/* Numbers that an encoding has no place for are no keys of the filter. */
static void encode_number(const sql_form *form, sql_key *key) {
    char digits[32];
    key->is_number = false;
    if (form->family == SQL_REAL) {
        encode_real(form->encoding, key);
        return;
    }
    const int n = snprintf(digits, sizeof digits, "%" PRId64, (int64_t)key->number);
    key->len = tamis_encode(form->encoding, digits, (size_t)n, key->room, sizeof key->room);
    key->is_impossible = key->len == SIZE_MAX;
    key->bytes = key->room;
}

/* Texts of bytes begin with \x in SQL, and those of floats may be -0. */
static void skip_prefix(const sql_form *form, sql_key *key) {
    if (form->family != SQL_TEXT || strcmp(form->encoding, "hex") != 0 || key->len < 2) return;
    if (memcmp(key->bytes, "\\x", 2) != 0) return;
    key->bytes = (const char *)key->bytes + 2;
    key->len -= 2;
}

static void make_zero_plain(const sql_form *form, uint8_t *bytes, size_t len) {
    if (!is_among(form->encoding, real) || len == SIZE_MAX) return;
    const uint8_t *sign = &bytes[strstr(form->encoding, "be") ? 0 : len - 1];
    size_t i = 0;
    while (i < len && bytes[i] == (&bytes[i] == sign ? 0x80 : 0)) i++;
    if (i == len) memset(bytes, 0, len);
}

/* A numeric may be no number of the encoding; a text that is none is rather a mistake. */
static tamis_status encode_text(const sql_form *form, sql_key *key, void *room, sql_why *why) {
    skip_prefix(form, key);
    const size_t len = tamis_encode(form->encoding, key->bytes, key->len, room, 2 * key->len + 16);
    key->is_impossible = len == SIZE_MAX;
    if (len == SIZE_MAX && form->family == SQL_TEXT) {
        snprintf(why->sentence, sizeof why->sentence, "%s", tamis_why());
        *why->hint = '\0';
        return TAMIS_INVALID;
    }
    make_zero_plain(form, room, len);
    key->bytes = room;
    key->len = len;
    return TAMIS_OK;
}

size_t sql_key_room(const sql_form *form, const sql_key *key) {
    return !*form->encoding || key->is_number ? 0 : 2 * key->len + 16;
}

tamis_status sql_key_encode(const sql_form *form, sql_key *key, void *room, sql_why *why) {
    if (!*form->encoding) return TAMIS_OK;
    if (!key->is_number) return encode_text(form, key, room, why);
    encode_number(form, key);
    return TAMIS_OK;
}

void sql_why_impossible(sql_why *why, const tamis *f) {
    const char *encoding = tamis_note(f, "encoding");
    snprintf(why->sentence, sizeof why->sentence,
             "keys of this filter are %s, which has no such number",
             encoding ? shown(encoding) : "texts or bytes");
    *why->hint = '\0';
}
