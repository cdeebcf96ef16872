/* SPDX-License-Identifier: MIT */
/* test_unpacker.c: compressed input, by a compression that exists only here: bombs need no time. */
#include "cli/keys/block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Each byte stands for `growth` bytes that are never written; 0xff ends a part. */
static size_t growth;

static void *start(void) {
    return calloc(1, sizeof(size_t));
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    size_t *left = state; /* of the byte before */
    (void)why, (void)size;
    for (;;) {
        const size_t now = *left < unpacking->room ? *left : unpacking->room;
        *left -= now;
        unpacking->room -= now;
        if (*left > 0 || unpacking->from_len == 0) return UNPACKED_SOME;
        const uint8_t byte = *unpacking->from++;
        unpacking->from_len--;
        if (byte == 0xff) return UNPACKED_WHOLE;
        *left = growth;
    }
}

static bool reset(void *state) {
    return *(size_t *)state == 0;
}

static const struct packing sham = {
    .name = "sham", .start = start, .step = step, .reset = reset, .end = free};

/* Feeds the bytes until nothing moves any more. */
static enum unpacked feed(const uint8_t *bytes, size_t len, uint64_t *out, char why[WHY_BYTES]) {
    static uint8_t room[1 << 16];
    struct unpacker unpacker;
    enum unpacked unpacked = UNPACKED_SOME;
    struct unpacking now = {.from = bytes, .from_len = len};
    assert_true(unpacker_start(&unpacker, &sham));
    for (bool has_moved = true; has_moved && unpacked != UNPACK_FAILED;) {
        const size_t before = now.from_len;
        now.to = room, now.room = sizeof room;
        unpacked = unpacker_step(&unpacker, &now, why, WHY_BYTES);
        has_moved = now.room < sizeof room || now.from_len < before;
    }
    *out = unpacker.out;
    unpacker_end(&unpacker);
    return unpacked;
}

static void bombs_are_refused(void **state) {
    (void)state;
    static uint8_t bytes[1 << 20];
    char why[WHY_BYTES];
    uint64_t out;
    memset(bytes, 1, sizeof bytes);
    bytes[sizeof bytes - 1] = 0xff;
    growth = 1900; /* ordinary, if repetitive */
    assert_int_equal(feed(bytes, sizeof bytes, &out, why), UNPACKED_WHOLE);
    assert_true(out > (uint64_t)1 << 30);
    growth = 2100;
    assert_int_equal(feed(bytes, sizeof bytes, &out, why), UNPACK_FAILED);
    assert_non_null(strstr(why, "more than 2000-fold"));
    assert_true(out < ((uint64_t)1 << 30) + (1 << 20));
    /* A small file may grow as it likes. */
    growth = 1 << 20;
    const uint8_t few[] = {1, 1, 1, 0xff};
    assert_int_equal(feed(few, sizeof few, &out, why), UNPACKED_WHOLE);
    assert_int_equal(out, 3 << 20);
}

static void parts_and_padding(void **state) {
    (void)state;
    char why[WHY_BYTES];
    uint64_t out;
    growth = 10;
    const uint8_t parts[] = {1, 1, 0xff, 0xff, 1, 0xff};
    assert_int_equal(feed(parts, sizeof parts, &out, why), UNPACKED_WHOLE);
    assert_int_equal(out, 30);
    const uint8_t padded[] = {1, 0xff, 0, 0, 0};
    assert_int_equal(feed(padded, sizeof padded, &out, why), UNPACKED_WHOLE);
    const uint8_t trailing[] = {1, 0xff, 0, 1};
    assert_int_equal(feed(trailing, sizeof trailing, &out, why), UNPACK_FAILED);
    assert_string_equal(why, "the sham data is damaged: trailing data");
    const uint8_t cut[] = {1, 0xff, 1};
    assert_int_equal(feed(cut, sizeof cut, &out, why), UNPACKED_SOME);
}

/* Every cut of the input and every size of the output give the same text. */
static void utf16_in_any_pieces(void **state) {
    (void)state;
    static const uint8_t from[] = {0xff, 0xfe, 'a', 0, 0xac, 0x20, 0x3d, 0xd8, 0, 0xde, 'z', 0};
    static const char wanted[] = "a\xe2\x82\xac\xf0\x9f\x98\x80z";
    for (size_t in = 1; in <= sizeof from; in++) {
        for (size_t room = 1; room <= sizeof wanted; room++) {
            char text[64], why[WHY_BYTES];
            size_t at = 0, len = 0, left = 0;
            uint8_t raw[sizeof from];
            struct unpacker unpacker;
            enum unpacked unpacked = UNPACKED_SOME;
            assert_true(unpacker_start(&unpacker, &utf16le_packing));
            for (size_t turn = 0; turn < 100; turn++) {
                if (left < sizeof raw && at < sizeof from) {
                    const size_t more = sizeof from - at < in ? sizeof from - at : in;
                    const size_t now = more < sizeof raw - left ? more : sizeof raw - left;
                    memcpy(raw + left, from + at, now);
                    left += now, at += now;
                }
                struct unpacking step = {
                    .from = raw, .from_len = left, .to = (uint8_t *)text + len, .room = room};
                unpacked = unpacker_step(&unpacker, &step, why, sizeof why);
                assert_int_not_equal(unpacked, UNPACK_FAILED);
                len += room - step.room;
                memmove(raw, raw + (left - step.from_len), step.from_len);
                left = step.from_len;
            }
            assert_int_equal(unpacked, UNPACKED_WHOLE);
            assert_int_equal(len, sizeof wanted - 1);
            assert_memory_equal(text, wanted, len);
            unpacker_end(&unpacker);
        }
    }
}

static void what_files_are(void **state) {
    (void)state;
    bool is_open;
    static const struct {
        const char *bytes;
        size_t len;
        const char *name;
        bool is_open;
    } cases[] = {
        {"", 0, NULL, true},
        {"a", 1, NULL, false},
        {"\x1f\x8b", 2, NULL, true},
        {"\x1f\x8b\x08", 3, "gzip data", false},
        {"BZh9", 4, NULL, true},
        {"BZh91AY&SY", 10, "bzip2 data", false},
        {"BZh9abcdef", 10, NULL, false},
        {"PAR1\x15", 5, "a Parquet file", false},
        {"PAR1\n", 5, NULL, false},
        {"a\0b\0c\0d\0", 8, "UTF-16 text", false},
        {"\0a\0b\0c\0d", 8, "UTF-16 text", false},
        {"a\0b\0c\0", 6, NULL, false},
        {"\xd6tamis\x1a\n", 8, "a Tamis image", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
        const struct contents contents = contents_of(bytes, cases[i].len, &is_open);
        if (cases[i].name)
            assert_string_equal(contents.name, cases[i].name);
        else
            assert_null(contents.name);
        if (!contents.name) assert_int_equal(is_open, cases[i].is_open);
    }
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(parts_and_padding),
        cmocka_unit_test(utf16_in_any_pieces),
        cmocka_unit_test(what_files_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
