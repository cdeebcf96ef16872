/* SPDX-License-Identifier: MIT */
/* The index of a publisher (cli/feeds/feed_index.c): text from outside, whose names become files
 * and whose numbers become memory. It is what it should be, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/feeds/feed_index.h"

/* That of cli/files/files.c, without what else is there. */
bool list_grow(void *list, size_t *room, size_t n, size_t size);
bool list_grow(void *list, size_t *room, size_t n, size_t size) {
    void *memory;
    if (n <= *room) return true;
    memcpy(&memory, list, sizeof memory);
    memory = realloc(memory, n * size);
    if (!memory) return false;
    memcpy(list, &memory, sizeof memory);
    *room = n;
    return true;
}

#define SUM_A   "00000000000000aa"
#define SUM_B   "00000000000000bb"
#define SUM_C   "00000000000000cc"
#define SIXTEEN "0123456789abcdef"
#define DIGEST  SIXTEEN SIXTEEN SIXTEEN SIXTEEN
#define SIGNED  "signed " DIGEST " " DIGEST DIGEST "\n"
#define START   "tamis index 1\nserial 7\n"
#define FEED_A  "feed a 300 " SUM_C " " DIGEST "\n"
#define PATCHES                                         \
    "patch 100 " SUM_A " 200 " SUM_B " 20 " DIGEST "\n" \
    "patch 200 " SUM_B " 300 " SUM_C " 30 -\n"
#define FEED_B "feed b-2.x 5 " SUM_A " -\n"

static const char whole[] = START FEED_A PATCHES FEED_B "end\n" SIGNED;

static bool parses(const char *text, size_t len) {
    struct feed_index index;
    char why[200] = "";
    const bool is_good = feed_index_parse(&index, text, len, why, sizeof why);
    assert_true(is_good || strncmp(why, "line ", 5) == 0);
    feed_index_free(&index);
    return is_good;
}

static void everything_is_read(void **state) {
    struct feed_index index;
    char why[200], name[FEED_FILE_BYTES];
    uint64_t bytes = 0;
    (void)state;
    assert_true(feed_index_parse(&index, whole, strlen(whole), why, sizeof why));
    assert_int_equal(index.serial, 7);
    assert_int_equal(index.feeds, 2);
    assert_true(index.is_signed);
    assert_int_equal(index.signed_bytes, strlen(whole) - strlen(SIGNED));
    assert_int_equal(index.signature[63], 0xef);
    const struct feed *a = feed_named(&index, "a"), *b = feed_named(&index, "b-2.x");
    assert_null(feed_named(&index, "b"));
    assert_int_equal(a->version.bytes, 300);
    assert_int_equal(a->version.sum, 0xcc);
    assert_true(a->digest.is_known && !b->digest.is_known);
    assert_int_equal(a->patches, 2);
    assert_int_equal(b->patches, 0);
    feed_image_name(b, name);
    assert_string_equal(name, "b-2.x.tamis");
    feed_patch_name(a, a->patch, name);
    assert_string_equal(name, "a." SUM_A "-" SUM_B ".patch");
    assert_int_equal(feed_chain(a, (struct version){100, 0xaa}, &bytes), 0);
    assert_int_equal(bytes, 50);
    assert_int_equal(feed_chain(a, (struct version){200, 0xbb}, &bytes), 1);
    assert_int_equal(bytes, 30);
    assert_int_equal(feed_chain(a, (struct version){200, 0xaa}, &bytes), 2);
    assert_int_equal(feed_chain(b, (struct version){5, 0xaa}, &bytes), 0);
    feed_index_free(&index);
}

static void only_one_form_is_right(void **state) {
    static const char *const good[] = {START "end\n", START FEED_B "end\n", START FEED_A "end\n",
                                       START FEED_A "end\n" SIGNED,
                                       "tamis index 1\nserial 0\nend\n"};
    static const char *const bad[] = {
        "",
        "tamis index 1\n",
        "tamis index 2\nserial 7\nend\n",
        START,
        START "end",
        START "end\n\n",
        START "end\nmore\n",
        START "END\n",
        START "end\n" SIGNED SIGNED,
        START "end\n" SIGNED "x",
        " " START "end\n",
        "tamis index 1\r\nserial 7\r\nend\r\n",
        "tamis index 1\nserial 07\nend\n",
        "tamis index 1\nserial +7\nend\n",
        "tamis index 1\nserial -7\nend\n",
        "tamis index 1\nserial\nend\n",
        "tamis index 1\nserial 144115188075855872\nend\n",
        "tamis index 1\nserial 99999999999999999999999\nend\n",
        START "feed a 300 " SUM_C "\nend\n",
        START "feed a 300  " SUM_C " -\nend\n",
        START "feed a 300 00000000000000CC -\nend\n",
        START "feed a 300 cc -\nend\n",
        START "feed a 300 " SUM_C " - \nend\n",
        START "feed a 300 " SUM_C " --\nend\n",
        START "feed  300 " SUM_C " -\nend\n",
        START "patch 1 " SUM_A " 2 " SUM_B " 3 -\nend\n",
        START FEED_B FEED_A "end\n" /* the order */,
        START FEED_A FEED_A "end\n",
        START FEED_A "patch 100 " SUM_A " 200 " SUM_B " 20 -\nend\n" /* not to its image */,
        START FEED_A "patch 100 " SUM_A " 200 " SUM_B " 20 -\npatch 201 " SUM_B " 300 " SUM_C
                     " 30 -\nend\n" /* a gap */};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(parses(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parses(bad[i], strlen(bad[i]))) fail_msg("accepted: %s", bad[i]);
}

static void names_stay_where_they_are(void **state) {
    static const char *const good[] = {"a", "A-b_c.d+e", "0", "_x", "a..b"};
    static const char *const bad[] = {"",    ".",    "..",  ".a",       "-a",   "+a",   "a/b",
                                      "/a",  "../a", "a b", "a\tb",     "a\nb", "a'b",  "a\"b",
                                      "a$b", "a`b",  "a;b", "a*",       "a?",   "a\\b", "a:b",
                                      "a&b", "a|b",  "a%b", "\xc3\xa9", "a~",   "{}",   "a\x7f"};
    char text[400], longest[FEED_NAME_BYTES + 2];
    (void)state;
    memset(longest, 'x', sizeof longest);
    assert_true(feed_name_is_good(longest, FEED_NAME_BYTES));
    assert_false(feed_name_is_good(longest, FEED_NAME_BYTES + 1));
    assert_false(feed_name_is_good("a\0b", 3));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(feed_name_is_good(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(feed_name_is_good(bad[i], strlen(bad[i])));
        snprintf(text, sizeof text, START "feed %s 300 " SUM_C " -\nend\n", bad[i]);
        assert_false(parses(text, strlen(text)));
        snprintf(text, sizeof text, "tamis sync 1\nserial 1\nindex " SUM_A "\nfeed %s\nend\n",
                 bad[i]);
        struct feed_state remembered;
        char why[200];
        assert_false(feed_state_parse(&remembered, text, strlen(text), why, sizeof why));
        feed_state_free(&remembered);
    }
}

/* Any byte may change, and the text may end anywhere; in memory of exactly its length. */
static void damage_is_refused_or_sound(void **state) {
    const size_t len = strlen(whole);
    (void)state;
    for (size_t cut = 0; cut < len; cut++) {
        char *text = malloc(cut + 1);
        memcpy(text + 1, whole, cut);
        if (cut != len - strlen(SIGNED)) assert_false(parses(text + 1, cut));
        free(text);
    }
    char *text = malloc(len);
    memcpy(text, whole, len);
    for (size_t i = 0; i < len; i++)
        for (int byte = 0; byte < 256; byte++) {
            struct feed_index index;
            char why[200];
            text[i] = (char)byte;
            if (feed_index_parse(&index, text, len, why, sizeof why))
                for (size_t f = 0; f < index.feeds; f++) {
                    const struct feed *feed = &index.feed[f];
                    assert_true(feed_name_is_good(feed->name, strlen(feed->name)));
                    assert_true(feed->version.bytes < (uint64_t)1 << 57);
                    assert_true(feed->patches == 0 ||
                                version_is(feed->patch[feed->patches - 1].result, feed->version));
                }
            feed_index_free(&index);
            text[i] = whole[i];
        }
    free(text);
}

static void what_is_remembered(void **state) {
    static const char text[] = "tamis sync 1\nserial 9\nindex " SUM_B "\nfeed b\nfeed a\nend\n";
    struct feed_state remembered;
    char why[200];
    (void)state;
    assert_true(feed_state_parse(&remembered, text, strlen(text), why, sizeof why));
    assert_int_equal(remembered.serial, 9);
    assert_int_equal(remembered.index_sum, 0xbb);
    assert_int_equal(remembered.names, 2);
    assert_true(feed_state_has(&remembered, "a") && !feed_state_has(&remembered, "c"));
    assert_true(feed_state_add(&remembered, "a") && remembered.names == 2);
    feed_state_free(&remembered);
    for (size_t cut = 0; cut < strlen(text); cut++) {
        assert_false(feed_state_parse(&remembered, text, cut, why, sizeof why));
        feed_state_free(&remembered);
    }
}

static void patches_go_from_the_oldest(void **state) {
    struct feed_index index = {0};
    (void)state;
    struct feed *feed = feed_add(&index, "a");
    for (uint64_t i = 0; i < 5; i++) {
        const struct feed_patch patch = {{i, i}, {i + 1, i + 1}, 10 * i, {0}};
        assert_true(feed_add_patch(feed, &patch));
    }
    feed_drop_patches(feed, 2);
    assert_int_equal(feed->patches, 3);
    assert_int_equal(feed->patch[0].base.bytes, 2);
    feed_drop_patches(feed, 3);
    assert_int_equal(feed->patches, 0);
    feed_index_free(&index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),        cmocka_unit_test(only_one_form_is_right),
        cmocka_unit_test(names_stay_where_they_are), cmocka_unit_test(damage_is_refused_or_sound),
        cmocka_unit_test(what_is_remembered),        cmocka_unit_test(patches_go_from_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
