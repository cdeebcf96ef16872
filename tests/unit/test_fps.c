/* SPDX-License-Identifier: MIT */
/* FPS: files that Open Babel wrote, other valid text, and invalid text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"
#include "tamis_special.h"
#include "tests/support/foreign.h"
#include "tests/support/require_ok.h"

static test_file text_file(const char *text) {
    test_file file = {malloc(strlen(text) + 1), strlen(text)};
    memcpy(file.bytes, text, file.size + 1);
    return file;
}

static tamis *read_text(const char *text) {
    tamis *f;
    REQUIRE_OK(tamis_import(&f, "fps", text, strlen(text)));
    return f;
}

static void refuses(const char *text, const char *why) {
    const test_file file = text_file(text);
    test_refused("fps", file, why);
    free(file.bytes);
}

/* `text`, read and written again, becomes `want`. */
static void becomes(const char *text, const char *want) {
    tamis *f = read_text(text);
    const test_file out = test_export(f, "fps");
    assert_int_equal(out.size, strlen(want));
    assert_memory_equal(out.bytes, want, out.size);
    tamis_free(f);
    free(out.bytes);
}

/* ---- Widths ---------------------------------------------------------------------------------- */

static void widths_go_from_1_to_65536(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
    } samples[] = {{"#num_bits=1\n01\ta\n", 1},
                   {"#num_bits=2\n", 2},
                   {"#num_bits=65535\n", 65535},
                   {"#num_bits=65536\n", 65536}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        tamis *f = read_text(samples[i].text);
        assert_int_equal(tamis_fingerprint_bits(f), samples[i].bits);
        tamis_free(f);
    }
    refuses("#num_bits=0\n", "num_bits is a number from 1 to 65536");
    refuses("#num_bits=65537\n", "num_bits is a number from 1 to 65536");
}

/* ---- Open Babel ------------------------------------------------------------------------------ */

static void goes_round(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t bits;
    } files[] = {{"fps/fp2.fps", 1021}, {"fps/fp3.fps", 55}, {"fps/maccs.fps", 166}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const test_file file = test_vector(files[i].name);
        tamis *f = test_import("fps", file);
        assert_int_equal(tamis_fingerprint_bits(f), files[i].bits);
        assert_int_equal(tamis_fingerprint_count(f), 120);
        assert_string_equal(tamis_fingerprint_at(f, 0, NULL), "ethanol");
        assert_string_equal(tamis_fingerprint_at(f, 119, NULL), "m119");
        assert_non_null(strstr(tamis_note(f, "head"), "#software=OpenBabel/3.1.1\n"));
        tamis_free(f);
        test_goes_round("fps", file);
        free(file.bytes);
    }
}

typedef struct line {
    uint64_t row;
    bool is_super;
    double similarity;
} line;

static bool note_super(void *ctx, const struct tamis_match *match) {
    ((line *)ctx)[match->row].is_super = true;
    return true;
}

static bool note_similarity(void *ctx, const struct tamis_match *match) {
    ((line *)ctx)[match->row].similarity = match->similarity;
    return true;
}

/* Open Babel's own comparison of the first molecule with all others, to the digits it prints. */
static void agrees_with_open_babel(void **state) {
    (void)state;
    const test_file file = test_vector("fps/fp2.fps"), theirs = test_vector("fps/fp2.fpt");
    tamis *f = test_import("fps", file);
    const void *print;
    line ours[120] = {{0}};
    tamis_fingerprint_at(f, 0, &print);
    REQUIRE_OK(tamis_fingerprints_similar(f, print, 128, 0, note_similarity, ours, NULL));
    REQUIRE_OK(tamis_fingerprints_screen(f, print, 128, note_super, ours, NULL));
    theirs.bytes[theirs.size] = '\0';
    unsigned row = 0, compared = 0, supers = 0;
    for (char *at = strtok((char *)theirs.bytes, "\n"); at; at = strtok(NULL, "\n")) {
        double similarity;
        if (sscanf(at, ">m%u Tanimoto from ethanol = %lf", &row, &similarity) == 2) {
            assert_true(fabs(ours[row].similarity - similarity) < 1e-6);
            compared++;
        } else if (strncmp(at, "Possible superstructure", 23) == 0) {
            assert_true(ours[row].is_super);
            supers++;
        }
    }
    assert_int_equal(supers, 66);
    for (int i = 1; i < 120; i++) supers -= ours[i].is_super;
    assert_int_equal(compared, 119);
    assert_int_equal(supers, 0);
    tamis_free(f);
    free(file.bytes);
    free(theirs.bytes);
}

/* ---- Other valid text ------------------------------------------------------------------------ */

static void forms(void **state) {
    (void)state;
    becomes("#FPS1\n#num_bits=16\n0fF0\tA b\nabCD\tA b\n",
            "#FPS1\n#num_bits=16\n0ff0\tA b\nabcd\tA b\n");
    becomes("0001\ta\r\nff00\tb", "#FPS1\n#num_bits=16\n0001\ta\nff00\tb\n");
    becomes("#num_bits= 12 \n#a=b\nff0f\tx", "#FPS1\n#num_bits=12\n#a=b\nff0f\tx\n");
}

/* Blank lines, missing ids, and extra fields, which are dropped. */
static void odd_lines(void **state) {
    (void)state;
    becomes("#num_bits=12\r\n#type=x\r\n\r\nff0f\t\r\n\n0000\n0100\tid\tmore\tfields\n",
            "#FPS1\n#num_bits=12\n#type=x\nff0f\t\n0000\t\n0100\tid\n");
    becomes("#num_bits=8\n#x \r\r\r\n", "#FPS1\n#num_bits=8\n#x\n");
    becomes("#num_bits=3\n", "#FPS1\n#num_bits=3\n");
    becomes("#FPS1\n#num_bits=8\n#source=a\n#source=b\n#x\n01\t\xc3\xa9\n",
            "#FPS1\n#num_bits=8\n#source=a\n#source=b\n#x\n01\t\xc3\xa9\n");
}

/* A changed head cannot break the output. */
static void changed_head(void **state) {
    (void)state;
    tamis *f = read_text("#FPS1\n#num_bits=8\n01\ta\n");
    REQUIRE_OK(tamis_set_note(f, "head", "ff\tforged\n#num_bits=9\n#FPS2\n#good=1\nno end"));
    const test_file out = test_export(f, "fps");
    assert_int_equal(out.size, strlen("#FPS1\n#num_bits=8\n#good=1\n01\ta\n"));
    assert_memory_equal(out.bytes, "#FPS1\n#num_bits=8\n#good=1\n01\ta\n", out.size);
    free(out.bytes);
    tamis_free(f);
}

/* ---- Invalid text ---------------------------------------------------------------------------- */

static void refused(void **state) {
    (void)state;
    refuses("", "neither #num_bits= nor a fingerprint");
    refuses("#FPS1\n", "neither #num_bits= nor a fingerprint");
    refuses("#FPS2\n01\ta\n", "line 1: only #FPS1 is known");
    refuses("#type=x\n#FPS1\n01\ta\n", "line 2: only #FPS1 is known");
    refuses("#num_bits=0\n", "line 1: num_bits is a number from 1 to 65536");
    refuses("#num_bits=65537\n", "from 1 to 65536");
    refuses("#num_bits=99999999999999999999999\n", "from 1 to 65536");
    refuses("#num_bits=8x\n", "from 1 to 65536");
    refuses("#num_bits=\n", "from 1 to 65536");
    refuses("#num_bits=8\n#num_bits=8\n", "line 2: duplicate num_bits");
    refuses("#num_bits=8\n01\ta\n\n0101\tb\n",
            "line 4: a fingerprint of 8 bits has 2 hex digits, not 4");
    refuses("0101\ta\n01\tb\n", "line 2: a fingerprint of 16 bits has 4 hex digits, not 2");
    refuses("010\ta\n", "line 1: 3 hex digits are not whole bytes");
    refuses("\tno print\n", "line 1: it does not start with the hex digits");
    refuses("#num_bits=8\n01 a\n", "line 2: a tab and the id must follow");
    refuses("#num_bits=8\n0g\ta\n", "line 2: a fingerprint of 8 bits has 2 hex digits, not 1");
    refuses("#num_bits=12\nff1f\ta\n", "line 2: a bit after the 12 of num_bits is set");
    refuses("01\ta\x01\n", "line 1: the id contains a control character");
    refuses("01\ta\n#type=x\n", "line 2: a head line follows a fingerprint");
    refuses("#\xff\n01\ta\n", "UTF-8");
    char *head = malloc(80000);
    memset(head, 'x', 80000);
    memcpy(head, "#num_bits=8\n#", 13);
    memcpy(head + 79990, "\n", 2);
    refuses(head, "over 65536");
    free(head);
    const test_file nul = {(uint8_t *)"#a\0b\n01\ta\n", 10};
    test_refused("fps", nul, "line 1: it contains a NUL");
}

static void hostile(void **state) {
    (void)state;
    const test_file small =
        text_file("#FPS1\n#num_bits=12\n#type=x\n0f0f\tone\nff0a\ttwo\n0000\t\n");
    assert_true(test_hostile("fps", small) > 0);
    free(small.bytes);
    const test_file file = test_vector("fps/fp3.fps");
    assert_true(test_hostile("fps", file) > 0);
    free(file.bytes);
}

/* Only fingerprints become FPS, and they become nothing else. */
static void kinds_do_not_mix(void **state) {
    (void)state;
    tamis *classic, *prints = read_text("01\ta\n");
    REQUIRE_OK(tamis_create(&classic, "classic:capacity=10"));
    assert_int_equal(tamis_export(classic, "fps", NULL, NULL), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_export(prints, "guava", NULL, NULL), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_merge(prints, prints), TAMIS_UNSUPPORTED);
    tamis_free(classic);
    tamis_free(prints);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_go_from_1_to_65536),
        cmocka_unit_test(goes_round),
        cmocka_unit_test(agrees_with_open_babel),
        cmocka_unit_test(forms),
        cmocka_unit_test(odd_lines),
        cmocka_unit_test(changed_head),
        cmocka_unit_test(refused),
        cmocka_unit_test(hostile),
        cmocka_unit_test(kinds_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
