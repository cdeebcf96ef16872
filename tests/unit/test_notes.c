/* SPDX-License-Identifier: MIT */
/* Notes: valid names, values and lists, byte for byte, and how one is set among others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "file/notes.h"
#include "tests/support/filters.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static void names(void **state) {
    (void)state;
    char longest[TAMIS_NOTE_MAX_NAME + 2];
    memset(longest, 'a', sizeof longest);
    longest[TAMIS_NOTE_MAX_NAME] = '\0';
    assert_true(tamis__note_name_is_legal(longest));
    longest[TAMIS_NOTE_MAX_NAME] = 'a', longest[TAMIS_NOTE_MAX_NAME + 1] = '\0';
    assert_false(tamis__note_name_is_legal(longest));
    assert_false(tamis__note_name_is_legal(""));
    for (int c = 1; c < 256; c++) {
        const char name[] = {'a', (char)c, '\0'};
        const bool is_legal = strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", c) != NULL;
        assert_int_equal(tamis__note_name_is_legal(name), is_legal);
    }
}

/* The edges of every range of UTF-8, and one past each. */
static void values(void **state) {
    (void)state;
    static const struct {
        const char *value;
        bool is_legal;
    } samples[] = {
        {"", true},
        {"plain \x01\x7f", true},
        {"\xc2\x80", true},          /* U+80 */
        {"\xdf\xbf", true},          /* U+7ff */
        {"\xe0\xa0\x80", true},      /* U+800 */
        {"\xed\x9f\xbf", true},      /* U+d7ff */
        {"\xee\x80\x80", true},      /* U+e000 */
        {"\xef\xbf\xbf", true},      /* U+ffff */
        {"\xf0\x90\x80\x80", true},  /* U+10000 */
        {"\xf4\x8f\xbf\xbf", true},  /* U+10ffff */
        {"\x80", false},             /* a continuation byte alone */
        {"\xbf", false},             /* the same */
        {"\x82\x80", false},         /* would be U+80 if it were a lead byte */
        {"\xf9\x80\x80\x80", false}, /* would be U+40000 */
        {"\xc0\x80", false},         /* NUL in two bytes */
        {"\xc1\xbf", false},         /* U+7f in two */
        {"\xe0\x9f\xbf", false},     /* U+7ff in three */
        {"\xf0\x8f\xbf\xbf", false}, /* U+ffff in four */
        {"\xed\xa0\x80", false},     /* U+d800 */
        {"\xed\xbf\xbf", false},     /* U+dfff */
        {"\xf4\x90\x80\x80", false}, /* U+110000 */
        {"\xf5\x80\x80\x80", false}, /* past the last */
        {"\xff", false},             /* never in UTF-8 */
        {"\xc2", false},             /* truncated */
        {"\xe2\x82", false},         /* the same */
        {"\xf0\x9f\x92", false},     /* the same */
        {"\xc2\x41", false},         /* no continuation */
        {"\xc2\xc2\x80", false},     /* starts again */
        {"a\xe2\x82\xac\xff", false} /* the last of several */
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        if (tamis__note_value_is_legal(samples[i].value) != samples[i].is_legal)
            fail_msg("value %zu is judged wrongly", i);
}

/* In memory of exactly their size: a sanitizer sees any byte read past the end. */
static bool is_legal(const char *notes, size_t size) {
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, notes, size);
    const bool is = tamis__notes_are_legal(exact, size);
    free(exact);
    return is;
}
#define LEGAL(text) is_legal(text, sizeof(text) - 1)

static void lists(void **state) {
    (void)state;
    assert_true(LEGAL(""));
    assert_true(LEGAL("a\0\0"));
    assert_true(LEGAL("a\0one\0b\0two\0"));
    assert_false(LEGAL("a"));                 /* no end */
    assert_false(LEGAL("a\0one"));            /* no end of the value */
    assert_false(LEGAL("a\0one\0b"));         /* no end of the last name */
    assert_false(LEGAL("a\0"));               /* a name alone */
    assert_false(LEGAL("a\0one\0b\0"));       /* the same after a pair */
    assert_false(LEGAL("\0one\0"));           /* no name */
    assert_false(LEGAL("A\0one\0"));          /* an invalid name */
    assert_false(LEGAL("a\0\xff\0"));         /* an invalid value */
    assert_false(LEGAL("b\0one\0a\0two\0"));  /* not in order */
    assert_false(LEGAL("a\0one\0a\0two\0"));  /* twice */
    assert_false(LEGAL("a\0one\0b\0\xc0\0")); /* the second value */
    assert_false(LEGAL("\0\0"));              /* an empty pair */
    assert_false(LEGAL("a\0one\0\0\0"));      /* after a valid one */
}

/* Set alone, first, between, last, in place of an old one; and removed. */
static void one_among_others(void **state) {
    (void)state;
    static const struct {
        const char *notes;
        size_t size;
        const char *name, *value, *result;
        size_t result_size;
    } samples[] = {
#define NOTES(text) text, sizeof(text) - 1
        {NOTES(""), "b", "2", NOTES("b\0002\0")},
        {NOTES(""), "b", NULL, NOTES("")},
        {NOTES("b\0002\0"), "a", "1", NOTES("a\0001\0b\0002\0")},
        {NOTES("b\0002\0"), "c", "3", NOTES("b\0002\0c\0003\0")},
        {NOTES("a\0001\0c\0003\0"), "b", "2", NOTES("a\0001\0b\0002\0c\0003\0")},
        {NOTES("a\0001\0b\0002\0c\0003\0"), "b", "", NOTES("a\0001\0b\0\0c\0003\0")},
        {NOTES("a\0001\0b\0002\0c\0003\0"), "b", NULL, NOTES("a\0001\0c\0003\0")},
        {NOTES("a\0001\0"), "b", NULL, NOTES("a\0001\0")},
        {NOTES("a\0001\0"), "a", NULL, NOTES("")},
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        char out[64];
        memset(out, '#', sizeof out);
        const size_t size = tamis__notes_with(samples[i].notes, samples[i].size, samples[i].name,
                                              samples[i].value, NULL);
        assert_int_equal(size, samples[i].result_size);
        assert_int_equal(tamis__notes_with(samples[i].notes, samples[i].size, samples[i].name,
                                           samples[i].value, out),
                         size);
        assert_memory_equal(out, samples[i].result, size);
        assert_int_equal(out[size], '#');
    }
}

static void by_the_front_door(void **state) {
    (void)state;
    tamis *f = test_make("blocked:capacity=10"), *g;
    assert_int_equal(tamis_set_note(f, "Owner", "me"), TAMIS_INVALID);
    assert_int_equal(tamis_set_note(f, "owner", "\xed\xa0\x80"), TAMIS_INVALID);
    assert_null(tamis_note(f, "owner"));
    assert_int_equal(tamis_set_note(f, "owner", "caf\xc3\xa9"), TAMIS_OK);
    size_t size;
    uint8_t *image = test_image(f, &size);
    assert_int_equal(tamis_load(&g, image, size), TAMIS_OK);
    assert_string_equal(tamis_note(g, "owner"), "caf\xc3\xa9");
    assert_int_equal(tamis_set_note(g, "owner", NULL), TAMIS_OK);
    assert_null(tamis_note(g, "owner"));
    free(image);
    tamis_free(f);
    tamis_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(values),
        cmocka_unit_test(lists),
        cmocka_unit_test(one_among_others),
        cmocka_unit_test(by_the_front_door),
    };
    return cmocka_run_group_tests_name("notes", tests, NULL, NULL);
}
