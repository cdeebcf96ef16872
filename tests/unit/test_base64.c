/* SPDX-License-Identifier: MIT */
/* Base64: the vectors of RFC 4648, every letter, every other byte, and no overrun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "foreign/base64.h"

enum { GUARD = 0xa5 };

static const struct {
    const char *text, *bytes;
    int alphabet;
} samples[] = {
    {"Zg==", "f", TAMIS_BASE64_STANDARD},
    {"Zm8=", "fo", TAMIS_BASE64_STANDARD},
    {"Zm9v", "foo", TAMIS_BASE64_STANDARD},
    {"Yg==", "b", TAMIS_BASE64_URL},
    {"YmE=", "ba", TAMIS_BASE64_URL},
    {"YmFy", "bar", TAMIS_BASE64_URL},
    {"+/+/", "\xfb\xff\xbf", TAMIS_BASE64_STANDARD},
    {"-_-_", "\xfb\xff\xbf", TAMIS_BASE64_URL},
};

static void groups_come_and_go(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const size_t n = strlen(samples[i].bytes);
        const uint8_t *letters = (const uint8_t *)samples[i].text;
        uint8_t text[6], bytes[5];
        uint64_t size;
        memset(text, GUARD, sizeof text);
        memset(bytes, GUARD, sizeof bytes);
        tamis__base64_put((const uint8_t *)samples[i].bytes, n, samples[i].alphabet, text + 1);
        assert_memory_equal(text + 1, letters, 4);
        assert_int_equal(tamis__base64_get(letters, samples[i].alphabet, true, bytes + 1), n);
        assert_memory_equal(bytes + 1, samples[i].bytes, n);
        assert_true(text[0] == GUARD && text[5] == GUARD);
        assert_true(bytes[0] == GUARD && bytes[4] == GUARD);
        assert_true(tamis__base64_size(letters, 4, &size));
        assert_int_equal(size, n);
        /* Padding is only valid at the end of a text. */
        assert_int_equal(tamis__base64_get(letters, samples[i].alphabet, false, bytes + 1),
                         n == 3 ? 3 : 0);
    }
}

/* Each nonzero byte in each place is a letter of its alphabet or invalid. */
static void other_bytes_are_invalid(void **state) {
    (void)state;
    static const char common[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    static const char *const last[] = {[TAMIS_BASE64_URL] = "-_", [TAMIS_BASE64_STANDARD] = "+/"};
    for (int alphabet = 0; alphabet < 2; alphabet++)
        for (int place = 0; place < 4; place++)
            for (int letter = 1; letter < 256; letter++) {
                uint8_t text[4] = {'A', 'A', 'A', 'A'}, bytes[3];
                const char *at = strchr(common, letter), *end = strchr(last[alphabet], letter);
                const int six = at    ? (int)(at - common)
                                : end ? 62 + (int)(end - last[alphabet])
                                      : -1;
                text[place] = (uint8_t)letter;
                assert_int_equal(tamis__base64_get(text, alphabet, false, bytes), six < 0 ? 0 : 3);
                if (six < 0) continue;
                const uint32_t all = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
                assert_int_equal(all, (uint32_t)six << (18 - 6 * place));
            }
}

/* Padding is invalid in the first half, before a letter, and after nonzero bits. */
static void misplaced_padding_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"====", "A===", "=A==", "AA=A", "A=AA", "AB==", "AAB="};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t text[5] = "x", bytes[5] = {0};
        memcpy(text + 1, wrong[i], 4);
        assert_int_equal(tamis__base64_get(text + 1, TAMIS_BASE64_URL, true, bytes + 1), 0);
    }
}

static void lengths_are_multiples_of_four(void **state) {
    (void)state;
    static const uint8_t text[] = "AAAAAA==";
    static const struct {
        uint64_t letters, bytes;
        bool is_one;
    } lengths[] = {{0, 0, true},  {1, 0, false}, {2, 0, false}, {3, 0, false}, {4, 3, true},
                   {5, 0, false}, {6, 0, false}, {7, 0, false}, {8, 4, true}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint64_t bytes;
        assert_int_equal(tamis__base64_size(text, lengths[i].letters, &bytes), lengths[i].is_one);
        if (lengths[i].is_one) assert_int_equal(bytes, lengths[i].bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_come_and_go),
        cmocka_unit_test(other_bytes_are_invalid),
        cmocka_unit_test(misplaced_padding_is_refused),
        cmocka_unit_test(lengths_are_multiples_of_four),
    };
    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
