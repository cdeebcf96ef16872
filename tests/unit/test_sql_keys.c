/* SPDX-License-Identifier: MIT */
/* Keys of the engines of SQL: every family of types in every encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/sql/sql_keys.h"
#include "tests/support/require_ok.h"

#include "tamis_formats.h"

/* ---- Families and encodings ----------------------------------------------------------------- */

#define WHOLE "int32 uint32 int64 uint64 int32be uint32be int64be uint64be"
#define EVERY WHOLE " utf8 bytes utf16 utf16be float double floatbe doublebe uuid hex base64"

/* Written by hand: what the page of each engine says. */
static const struct wanted {
    const char *note, *possible, *natural;
} wanted[] = {
    [SQL_INTEGER] = {"int64", WHOLE, "int64"},
    [SQL_TIME] = {"int64", "int64 uint64 int64be uint64be", "int64"},
    [SQL_REAL] = {"double", "float double floatbe doublebe", "double"},
    [SQL_TEXT] = {"utf8", EVERY, "utf8 bytes"},
    [SQL_NUMERIC] = {"utf8", WHOLE " utf8 bytes", "utf8 bytes"},
    [SQL_BYTES] = {"hex", "bytes utf8 hex base64", "bytes utf8 hex base64"},
    [SQL_ADDRESS] = {"hex", "hex base64", "hex base64"},
    [SQL_UUID] = {"uuid", "uuid hex base64", "uuid hex base64"},
};

static bool has_word(const char *list, const char *word) {
    const size_t len = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == len && memcmp(at, word, len) == 0) return true;
    return false;
}

static tamis *filter_with(const char *note, bool has_key) {
    tamis *f;
    REQUIRE_OK(tamis_create(&f, "blocked:capacity=100"));
    if (has_key) REQUIRE_OK(tamis_add(f, "x", 1));
    if (note) REQUIRE_OK(tamis_set_note(f, "encoding", note));
    return f;
}

static void test_every_family_in_every_encoding(void **state) {
    (void)state;
    size_t encodings = 0;
    for (const char *encoding; (encoding = tamis_encoding_at(encodings)); encodings++) {
        assert_true(has_word(EVERY, encoding));
        tamis *f = filter_with(encoding, true);
        for (int family = 0; family < SQL_FAMILIES; family++) {
            sql_form form;
            sql_why why = {.sentence = ""};
            sql_form_init(&form, (sql_family)family, NULL, NULL);
            const struct wanted *w = &wanted[family];
            const tamis_status rc = sql_form_obey(&form, f, &why);
            if (rc != (has_word(w->possible, encoding) ? TAMIS_OK : TAMIS_MISMATCH))
                fail_msg("%s of %s: %s", form.what, encoding, tamis_status_name(rc));
            if (rc) {
                assert_non_null(strstr(why.sentence, form.what));
                assert_non_null(strstr(why.sentence, encoding));
                assert_non_null(strstr(why.hint, encoding));
            } else {
                assert_string_equal(form.encoding, has_word(w->natural, encoding) ? "" : encoding);
            }
        }
        tamis_free(f);
    }
    assert_int_equal(encodings, 19);
}

/* Without a note there are texts and bytes, or no keys yet. */
static void test_no_note(void **state) {
    (void)state;
    tamis *with = filter_with(NULL, true), *without = filter_with(NULL, false);
    for (int family = 0; family < SQL_FAMILIES; family++) {
        sql_form form;
        sql_why why = {.sentence = ""};
        sql_form_init(&form, (sql_family)family, NULL, NULL);
        assert_string_equal(form.note, wanted[family].note);
        assert_int_equal(sql_form_obey(&form, without, &why), TAMIS_OK);
        assert_string_equal(form.encoding, "");
        const bool can = has_word(wanted[family].possible, "bytes");
        assert_int_equal(sql_form_obey(&form, with, &why), can ? TAMIS_OK : TAMIS_MISMATCH);
        if (!can) assert_non_null(strstr(why.sentence, "no note \"encoding\""));
    }
    tamis_free(with);
    tamis_free(without);
}

static void test_notes_of_others(void **state) {
    (void)state;
    char book[2001];
    sql_form form;
    sql_why why;
    memset(book, 'e', sizeof book - 1);
    book[sizeof book - 1] = '\0';
    tamis *f = filter_with(book, true);
    sql_form_init(&form, SQL_INTEGER, NULL, NULL);
    assert_int_equal(sql_form_obey(&form, f, &why), TAMIS_MISMATCH);
    assert_non_null(strstr(why.sentence, "a long text"));
    sql_form_init(&form, SQL_TEXT, NULL, NULL);
    REQUIRE_OK(sql_form_obey(&form, f, &why));
    sql_key key;
    char room[64];
    sql_key_bytes(&key, "a", 1);
    assert_int_equal(sql_key_encode(&form, &key, room, &why), TAMIS_INVALID); /* no such encoding */
    REQUIRE_OK(tamis_set_note(f, "canon", "domain"));
    assert_int_equal(sql_form_obey(&form, f, &why), TAMIS_UNSUPPORTED);
    assert_non_null(strstr(why.sentence, "domain"));
    tamis_free(f);
}

static void test_note_in(void **state) {
    (void)state;
    sql_form form;
    sql_form_init(&form, SQL_REAL, "float", "a float4");
    tamis *f = filter_with(NULL, false), *kept = filter_with("int32", false);
    tamis *bytes = filter_with(NULL, true);
    REQUIRE_OK(sql_form_note_in(&form, f));
    REQUIRE_OK(sql_form_note_in(&form, kept));
    REQUIRE_OK(sql_form_note_in(&form, bytes));
    assert_string_equal(tamis_note(f, "encoding"), "float");
    assert_string_equal(tamis_note(kept, "encoding"), "int32");
    assert_null(tamis_note(bytes, "encoding"));
    tamis_free(f);
    tamis_free(kept);
    tamis_free(bytes);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* A value, and the line that stands for it in the command; NULL where its encoding has none. */
static void check_key(const sql_form *form, sql_key *key, const char *encoding, const char *line) {
    uint8_t room[128], bytes[128];
    sql_why why = {.sentence = ""};
    assert_in_range(sql_key_room(form, key), 0, sizeof room);
    REQUIRE_OK(sql_key_encode(form, key, room, &why));
    const size_t len = tamis_encode(encoding, line, strlen(line), bytes, sizeof bytes);
    if (key->is_impossible != (len == SIZE_MAX)) fail_msg("%s as %s", line, encoding);
    if (len == SIZE_MAX) return;
    assert_int_equal(key->len, len);
    assert_memory_equal(key->bytes, bytes, len);
    if (key->is_number) {
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(bytes[i], (uint8_t)(key->number >> 8 * i));
    }
}

static sql_form obeying(sql_family family, const char *note, const char *encoding) {
    sql_form form;
    sql_why why = {.sentence = ""};
    tamis *f = filter_with(encoding, true);
    sql_form_init(&form, family, note, NULL);
    REQUIRE_OK(sql_form_obey(&form, f, &why));
    tamis_free(f);
    return form;
}

static void test_integers(void **state) {
    (void)state;
    static const int64_t numbers[] = {0,          1,          -1,        INT32_MAX,
                                      INT32_MIN,  INT64_MAX,  INT64_MIN, 2147483648,
                                      4294967295, 4294967296, 65,        -2147483649};
    for (size_t e = 0; tamis_encoding_at(e); e++) {
        const char *encoding = tamis_encoding_at(e);
        if (!has_word(WHOLE, encoding)) continue;
        const sql_form form = obeying(SQL_INTEGER, NULL, encoding);
        assert_int_equal(sql_form_is_number(&form), strcmp(encoding, "int64") == 0);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            char line[32];
            sql_key key;
            snprintf(line, sizeof line, "%lld", (long long)numbers[i]);
            sql_key_integer(&key, numbers[i]);
            check_key(&form, &key, encoding, line);
        }
    }
}

static void test_reals(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *line;
        bool is_single;
    } reals[] = {{0, "0", true},       {-0.0, "0", true},
                 {1, "1", true},       {-2.5, "-2.5", true},
                 {0.1, "0.1", false},  {1e300, "1e300", false},
                 {0.25, "0.25", true}, {16777217, "16777217", false}};
    for (size_t e = 0; tamis_encoding_at(e); e++) {
        const char *encoding = tamis_encoding_at(e);
        if (!sql_is_real(encoding)) continue;
        const sql_form form = obeying(SQL_REAL, NULL, encoding);
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
            sql_key key;
            sql_why why;
            sql_key_real(&key, reals[i].value);
            if (strncmp(encoding, "float", 5) != 0 || reals[i].is_single) {
                check_key(&form, &key, encoding, reals[i].line);
            } else { /* another number than the nearest float */
                REQUIRE_OK(sql_key_encode(&form, &key, NULL, &why));
                assert_true(key.is_impossible);
            }
        }
    }
    sql_key one, other;
    sql_key_real(&one, (double)NAN);
    sql_key_real(&other, -(double)NAN);
    assert_int_equal(one.number, other.number);
}

/* A type of single floats is read as doubles, and its own note gives its own bytes back. */
static void test_single_floats(void **state) {
    (void)state;
    sql_form form;
    sql_key key;
    sql_form_init(&form, SQL_REAL, "float", NULL);
    assert_false(sql_form_is_number(&form));
    sql_key_real(&key, (double)0.1f);
    check_key(&form, &key, "float", "0.1");
}

static void test_texts(void **state) {
    (void)state;
    static const struct {
        const char *encoding, *text, *same; /* same: NULL where it is refused */
    } texts[] = {
        {"utf8", "caf\xc3\xa9", "caf\xc3\xa9"},
        {"int64", "5", "5"},
        {"int64", "five", NULL},
        {"hex", "\\x6162", "6162"},
        {"hex", "6162", "6162"},
        {"hex", "6", NULL},
        {"double", "-0", "0"},
        {"floatbe", "-0", "0"},
        {"float", "0.1", "0.1"},
        {"uint32", "-1", NULL},
        {"base64", "YWI=", "YWI="},
        {"uuid", "00112233-4455-6677-8899-aabbccddeeff", "00112233445566778899AABBCCDDEEFF"},
        {"utf16", "a", "a"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const sql_form form = obeying(SQL_TEXT, NULL, texts[i].encoding);
        char room[128];
        sql_key key;
        sql_why why = {.sentence = ""};
        sql_key_bytes(&key, texts[i].text, strlen(texts[i].text));
        if (texts[i].same) {
            check_key(&form, &key, texts[i].encoding, texts[i].same);
        } else {
            assert_int_equal(sql_key_encode(&form, &key, room, &why), TAMIS_INVALID);
            assert_true(*why.sentence);
        }
    }
}

/* A numeric that is no number of the encoding is no key; bytes are what they are. */
static void test_numerics_and_bytes(void **state) {
    (void)state;
    const sql_form numeric = obeying(SQL_NUMERIC, NULL, "int32");
    const sql_form bytes = obeying(SQL_BYTES, NULL, "base64");
    sql_key key;
    sql_why why;
    sql_key_bytes(&key, "12", 2);
    check_key(&numeric, &key, "int32", "12");
    sql_key_bytes(&key, "1.5", 3);
    check_key(&numeric, &key, "int32", "1.5");
    sql_key_bytes(&key, "\0\1", 2);
    assert_int_equal(sql_key_room(&bytes, &key), 0);
    REQUIRE_OK(sql_key_encode(&bytes, &key, NULL, &why));
    assert_int_equal(key.len, 2);
}

/* ---- Two filters ---------------------------------------------------------------------------- */

static void test_two_filters(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool has_a, has_b, match;
    } pairs[] = {
        {"int64", "int64", true, true, true}, {"int64", "int32", true, true, false},
        {NULL, NULL, true, true, true},       {"utf8", NULL, true, true, true},
        {"utf8", "bytes", true, true, true},  {"utf8", "hex", true, true, false},
        {"int64", NULL, true, true, false},   {"int64", NULL, true, false, true},
        {NULL, "int64", false, true, true},   {"int32", "int64", false, true, false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tamis *a = filter_with(pairs[i].a, pairs[i].has_a);
        tamis *b = filter_with(pairs[i].b, pairs[i].has_b);
        sql_why why = {.sentence = ""};
        const tamis_status rc = sql_forms_match(a, b, &why);
        assert_int_equal(rc, pairs[i].match ? TAMIS_OK : TAMIS_INVALID);
        assert_int_equal(*why.sentence != '\0', !pairs[i].match);
        REQUIRE_OK(sql_take_note(a, b));
        const char *note = pairs[i].a ? pairs[i].a : pairs[i].b;
        if (note)
            assert_string_equal(tamis_note(a, "encoding"), note);
        else
            assert_null(tamis_note(a, "encoding"));
        REQUIRE_OK(tamis_set_note(b, "canon", "ip"));
        assert_int_equal(sql_forms_match(a, b, &why), TAMIS_INVALID);
        tamis_free(a);
        tamis_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family_in_every_encoding),
        cmocka_unit_test(test_no_note),
        cmocka_unit_test(test_notes_of_others),
        cmocka_unit_test(test_note_in),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_single_floats),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_numerics_and_bytes),
        cmocka_unit_test(test_two_filters),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
