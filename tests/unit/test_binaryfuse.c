/* SPDX-License-Identifier: MIT */
/* Binary fuse filters: files that xor_singleheader wrote, and ours compared with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"
#include "tests/support/foreign.h"

static const size_t counts[] = {0, 1, 2, 3, 100, 1000};
enum { COUNTS = sizeof counts / sizeof *counts };

static uint64_t key_of(uint64_t i) {
    return i * 0x9e3779b97f4a7c15;
}

static tamis *built(const char *spec, size_t n) {
    tamis_builder *b;
    tamis *f;
    if (tamis_builder_create(&b, spec, 0, NULL)) fail_msg("%s: %s", spec, tamis_why());
    for (size_t i = n; i > 0; i--) /* in reverse order */
        assert_int_equal(tamis_builder_add_u64(b, key_of(i)), TAMIS_OK);
    for (size_t i = 1; i <= n; i += 3) /* some twice */
        assert_int_equal(tamis_builder_add_u64(b, key_of(i)), TAMIS_OK);
    if (tamis_builder_finish(b, &f)) fail_msg("%s: %s", spec, tamis_why());
    tamis_builder_free(b);
    return f;
}

typedef struct sample {
    char path[64], format[64], spec[64];
    size_t n;
} sample;

static sample sample_of(size_t count, int width, bool is_packed) {
    sample s = {.n = counts[count]};
    snprintf(s.path, sizeof s.path, "binary-fuse/fuse%d_%zukeys.%s", width, s.n,
             is_packed ? "packed" : "bin");
    snprintf(s.format, sizeof s.format, "binary-fuse%s:width=%d", is_packed ? "-packed" : "",
             width);
    snprintf(s.spec, sizeof s.spec, "binary-fuse:width=%d", width);
    return s;
}

static void sample_holds(const sample *s) {
    const test_file file = test_vector(s->path);
    tamis *f = test_import(s->format, file);
    for (size_t i = 1; i <= s->n; i++) assert_true(tamis_has_u64(f, key_of(i)));
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.items, s->n);
    assert_false(tamis_has(f, "", 0)); /* keys have 8 bytes */
    assert_false(tamis_has(f, "123456789", 9));
    tamis_free(f);
    test_goes_round(s->format, file);
    f = built(s->spec, s->n);
    const test_file out = test_export(f, s->format);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.bytes, file.bytes, out.size);
    tamis_free(f);
    free(out.bytes);
    free(file.bytes);
}

static void every_file(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNTS; i++)
        for (int width = 8; width <= 16; width += 8)
            for (int is_packed = 0; is_packed < 2; is_packed++) {
                const sample s = sample_of(i, width, is_packed);
                sample_holds(&s);
            }
}

/* One key, whose fingerprint is in the first slot or in the last. */
static void every_slot_is_unpacked(void **state) {
    (void)state;
    enum { HEADER = 28, SLOTS = 12 };
    static const struct {
        const char *packed; /* seed, keys, a bit per slot, slots */
        size_t slot;
    } samples[] = {{"00000000000000000100000001007f", 0}, {"00000000000000000100000000087f", 11}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const test_file packed = test_hex(samples[i].packed);
        tamis *f = test_import("binary-fuse-packed:width=8", packed);
        const test_file plain = test_export(f, "binary-fuse");
        assert_int_equal(plain.size, HEADER + SLOTS);
        for (size_t slot = 0; slot < SLOTS; slot++)
            assert_int_equal(plain.bytes[HEADER + slot], slot == samples[i].slot ? 0x7f : 0);
        tamis_free(f);
        free(plain.bytes);
        free(packed.bytes);
    }
}

/* The length gives the width; the four extra bytes that the library asks for may follow. */
static void width_by_length(void **state) {
    (void)state;
    test_file file = test_vector("binary-fuse/fuse16_100keys.bin");
    tamis *f = test_import("binary-fuse", file), *g;
    file.bytes = realloc(file.bytes, file.size + 4);
    memset(file.bytes + file.size, 0xee, 4);
    if (tamis_import(&g, "binary-fuse", file.bytes, file.size + 4)) fail_msg("%s", tamis_why());
    const test_file one = test_export(f, "binary-fuse"), two = test_export(g, "binary-fuse");
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    tamis_free(g);
    assert_int_equal(tamis_import(&g, "binary-fuse:width=8", file.bytes, file.size), TAMIS_CORRUPT);
    assert_int_equal(tamis_export(f, "binary-fuse:width=8", NULL, NULL), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_import(&g, "binary-fuse", file.bytes, file.size + 3), TAMIS_CORRUPT);
    assert_int_equal(tamis_import(&g, "binary-fuse-packed", file.bytes, 3), TAMIS_INVALID);
    tamis_free(f);
    free(one.bytes);
    free(two.bytes);
    free(file.bytes);
}

static void keys_are_integers(void **state) {
    (void)state;
    const struct tamis_key keys[] = {{"12345678", 8}, {"1234567", 7}};
    tamis_builder *b;
    tamis *f;
    assert_int_equal(tamis_builder_create(&b, "binary-fuse", 0, NULL), TAMIS_OK);
    assert_int_equal(tamis_builder_add_many(b, keys, 2), TAMIS_INVALID);
    assert_string_equal(tamis_why(), "keys of binary-fuse have 8 bytes, not 7");
    assert_int_equal(tamis_builder_add(b, "", 0), TAMIS_INVALID);
    assert_int_equal(tamis_builder_add_u64(b, 7), TAMIS_OK);
    assert_int_equal(tamis_builder_finish(b, &f), TAMIS_OK);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    assert_int_equal(info.items, 1); /* a refused batch adds nothing */
    tamis_free(f);
    tamis_builder_free(b);
}

static void plans(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t segment, segments, width;
    } samples[] = {{"binary-fuse:capacity=0", 4, 1, 0},
                   {"binary-fuse:capacity=1000,fpr=1/256", 128, 9, 0},
                   {"binary-fuse:capacity=1000,fpr=0.001", 128, 9, 1},
                   {"binary-fuse:capacity=1e6", 8192, 136, 0},
                   {"binary-fuse:capacity=1000,width=16", 128, 9, 1},
                   {"binary-fuse:capacity=1000,size=2844", 128, 9, 0},
                   {"binary-fuse:capacity=1000,size=2848", 128, 9, 1},
                   {"binary-fuse:capacity=3e9", 262144, 12873, 0}};
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(tamis_plan_spec(samples[i].spec, &plan), TAMIS_OK);
        assert_int_equal(plan.word[2], samples[i].segment);
        assert_int_equal(plan.word[3], samples[i].segments);
        assert_int_equal(plan.word[4], samples[i].width);
    }
    assert_int_equal(tamis_plan_spec("binary-fuse:capacity=9,fpr=1e-5", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("binary-fuse:capacity=1000,size=1K", &plan), TAMIS_INVALID);
    assert_int_equal(tamis_plan_spec("binary-fuse:capacity=4e9", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("binary-fuse:capacity=1e12", &plan), TAMIS_TOO_LARGE);
    assert_int_equal(tamis_plan_spec("binary-fuse:capacity=10,width=12", &plan), TAMIS_INVALID);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
        const char *why;
    } bad[] = {{12, 33, "do not have"}, {12, 0, "do not have"}, {16, 9, "do not have"},
               {20, 1, "do not have"},  {24, 7, "do not have"}, {27, 1, "do not have"}};
    const test_file file = test_vector("binary-fuse/fuse8_100keys.bin");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis *f;
        const uint8_t old = file.bytes[bad[i].at];
        file.bytes[bad[i].at] = bad[i].byte;
        assert_int_equal(tamis_import(&f, "binary-fuse", file.bytes, file.size), TAMIS_CORRUPT);
        if (!strstr(tamis_why(), bad[i].why)) fail_msg("%zu: %s", i, tamis_why());
        file.bytes[bad[i].at] = old;
    }
    free(file.bytes);
    /* Three slots per segment: lengths fit, but positions would not. */
    uint8_t odd[28 + 9] = {0};
    odd[12] = 3, odd[16] = 1, odd[20] = 3, odd[24] = 9;
    tamis *f;
    assert_int_equal(tamis_import(&f, "binary-fuse", odd, sizeof odd), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "a segment of binary-fuse has 1 to 2^18 slots, not 3"));
}

static void hostile(void **state) {
    (void)state;
    for (int width = 8; width <= 16; width += 8)
        for (int is_packed = 0; is_packed < 2; is_packed++) {
            const sample s = sample_of(4, width, is_packed);
            const test_file file = test_vector(s.path);
            assert_true(test_hostile(s.format, file) > 0);
            free(file.bytes);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_is_unpacked),
        cmocka_unit_test(every_file),
        cmocka_unit_test(width_by_length),
        cmocka_unit_test(plans),
        cmocka_unit_test(keys_are_integers),
        cmocka_unit_test(refusals),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
