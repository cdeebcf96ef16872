/* SPDX-License-Identifier: MIT */
/* Patches: their results, their size, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "file/ranges.h"
#include "hash/hash.h"
#include "tamis.h"
#include "tamis_parts.h"
#include "tests/support/require_ok.h"

enum { HEADER = 64, AT_PATCH_SUM = 56 };

/* ---- Bytes in memory of exactly their size, so that a sanitizer sees any overrun ------------- */

typedef struct bytes {
    uint8_t *at;
    size_t size, room;
} bytes;

static bytes of_size(size_t size) {
    bytes b = {malloc(size ? size : 1), size, size};
    assert_non_null(b.at);
    return b;
}

static bytes copy_of(bytes from) {
    bytes b = of_size(from.size);
    if (from.size) memcpy(b.at, from.at, from.size);
    return b;
}

static bool append(void *ctx, const void *more, size_t size) {
    bytes *b = ctx;
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->at = realloc(b->at, b->room);
        assert_non_null(b->at);
    }
    memcpy(b->at + b->size, more, size);
    b->size += size;
    return true;
}

static bytes image_of(const tamis *f) {
    bytes b = of_size((size_t)tamis_image_size(f));
    REQUIRE_OK(tamis_serialize(f, b.at, b.size));
    return b;
}

static bytes diff(bytes base, bytes result) {
    bytes patch = {0}, exact;
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    REQUIRE_OK(tamis_patch_make(base.at, base.size, result.at, result.size, &info, append, &patch));
    assert_int_equal(info.patch_bytes, patch.size);
    exact = copy_of(patch);
    free(patch.at);
    return exact;
}

static tamis_status apply(bytes base, bytes patch, bytes *result) {
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    *result = (bytes){0};
    tamis_status rc = tamis_patch_get_info(patch.at, patch.size, &info);
    if (!rc) rc = tamis_patch_fits(base.at, base.size, &info);
    if (rc) return rc;
    *result = of_size((size_t)info.result_bytes);
    rc = tamis_patch_apply(base.at, base.size, patch.at, patch.size, result->at, result->size);
    if (rc) free(result->at);
    return rc;
}

static bool is_same(bytes a, bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

/* Makes and applies a patch; returns its size. */
static size_t round_trip(bytes base, bytes result) {
    bytes made, patch = diff(base, result);
    const size_t size = patch.size;
    REQUIRE_OK(apply(base, patch, &made));
    assert_true(is_same(made, result));
    assert_true(size <= result.size + HEADER);
    free(made.at);
    free(patch.at);
    return size;
}

static tamis *numbers(const char *spec, uint64_t n) {
    tamis *f;
    REQUIRE_OK(tamis_create(&f, spec));
    for (uint64_t i = 0; i < n; i++) REQUIRE_OK(tamis_add_u64(f, i));
    return f;
}

/* The filter of a spec with n keys, and with more. */
static void two_images(const char *spec, uint64_t n, uint64_t more, bytes *base, bytes *result) {
    tamis *f = numbers(spec, n);
    *base = image_of(f);
    for (uint64_t i = n; i < n + more; i++) REQUIRE_OK(tamis_add_u64(f, i));
    *result = image_of(f);
    tamis_free(f);
}

/* ---- Results --------------------------------------------------------------------------------- */

static const char *const specs[] = {
    "classic:capacity=3000",  "blocked:capacity=3000",   "split:capacity=3000",
    "counting:capacity=3000", "cuckoo:capacity=3000",    "quotient:capacity=3000",
    "grow:capacity=100",      "scalable:capacity=100",   "window:capacity=1000",
    "labels:capacity=100",    "compaction:capacity=3000"};

static void kinds_make_the_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        bytes base, result;
        REQUIRE_OK(tamis_plan_spec(specs[i], &plan));
        if (!(plan.abilities & TAMIS_CAN_ADD)) continue;
        for (uint64_t more = 0; more <= 1000; more = more * 10 + 1) {
            two_images(specs[i], 500, more, &base, &result);
            round_trip(base, result);
            round_trip(result, base); /* also removals and shrinking */
            free(base.at);
            free(result.at);
        }
    }
}

static void another_kind_and_shape_is_whole_at_worst(void **state) {
    (void)state;
    tamis *a = numbers("blocked:capacity=3000", 100), *b = numbers("cuckoo:capacity=9000", 9000);
    bytes base = image_of(a), result = image_of(b), none = {NULL, 0, 0};
    round_trip(base, result);
    round_trip(result, base);
    round_trip(none, result);
    assert_int_equal(round_trip(none, base), base.size + HEADER); /* nothing to gain */
    round_trip(base, none);
    round_trip(none, none);
    free(base.at);
    free(result.at);
    tamis_free(a);
    tamis_free(b);
}

static void notes_may_come_and_go(void **state) {
    (void)state;
    tamis *f = numbers("classic:capacity=3000", 2000);
    bytes plain = image_of(f);
    REQUIRE_OK(
        tamis_set_note(f, "comment", "a note that is longer than a line: one two three four five"));
    bytes noted = image_of(f);
    assert_in_range(round_trip(plain, noted), 0, 250);
    assert_in_range(round_trip(noted, plain), 0, 130);
    free(plain.at);
    free(noted.at);
    tamis_free(f);
}

/* Pairs of sizes around multiples of 64 bytes, with bytes that differ everywhere, at the last
 * byte, and nowhere. */
static void every_size(void **state) {
    (void)state;
    for (size_t from = 0; from <= 200; from += from < 140 ? 1 : 9)
        for (size_t to = 0; to <= 200; to += to < 140 ? 1 : 9)
            for (int way = 0; way < 3; way++) {
                bytes base = of_size(from), result = of_size(to);
                for (size_t i = 0; i < from; i++) base.at[i] = (uint8_t)(i * 37 + 5);
                for (size_t i = 0; i < to; i++)
                    result.at[i] = (uint8_t)(way == 0 ? i * i * 91 + 3 : i * 37 + 5);
                if (way == 1 && to) result.at[to - 1] ^= 0x80;
                round_trip(base, result);
                free(base.at);
                free(result.at);
            }
}

/* Changes that would take as many bytes as the result are replaced by the result itself. */
static void no_shorter_is_whole(void **state) {
    (void)state;
    for (size_t size = 1; size <= 16; size++)
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes base = of_size(size), result = of_size(size);
            memset(base.at, 0x5a, size), memset(result.at, 0x5a, size);
            result.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
            bytes patch = diff(base, result);
            struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
            REQUIRE_OK(tamis_patch_get_info(patch.at, patch.size, &info));
            assert_int_equal(info.is_whole, patch.size == size + HEADER);
            free(base.at), free(result.at), free(patch.at);
        }
}

/* Numbers of any width, as gaps of terabytes would need. */
static void numbers_have_64_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        const uint64_t number = UINT64_MAX / 3 >> (64 - bits);
        bytes coded = of_size(0);
        tamis_ranges r;
        tamis__ranges_write(&r, append, &coded);
        tamis__decide_bits(&r, number, bits);
        assert_true(tamis__ranges_end(&r));
        tamis__ranges_read(&r, coded.at, coded.size);
        assert_int_equal(tamis__decide_bits(&r, 0, bits), number);
        assert_true(tamis__ranges_end(&r));
        free(coded.at);
    }
}

/* Long runs of equal decisions and of carries. */
static void every_density(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (unsigned shift = 0; shift < 14; shift++) {
        bytes base = of_size(70001), result;
        memset(base.at, 0x5a, base.size);
        result = copy_of(base);
        for (size_t i = 0; i < 8 * result.size; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            if ((seed >> 33) % ((uint64_t)1 << shift) == 0)
                result.at[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        const size_t size = round_trip(base, result);
        if (shift == 0) assert_in_range(size, 0, 400); /* all bits flipped: soon predictable */
        free(base.at);
        free(result.at);
    }
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static uint64_t changed_bits(bytes a, bytes b) {
    uint64_t changed = 0;
    for (size_t i = 192; i < a.size; i++) changed += tamis__popcount64(a.at[i] ^ b.at[i]);
    return changed;
}

/* The bytes needed to name c of m bits. */
static double bound(double m, double c) {
    return (lgamma(m + 1) - lgamma(c + 1) - lgamma(m - c + 1)) / log(2) / 8;
}

static void near_the_bound(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        double max; /* times the bound */
    } cases[] = {{"classic:capacity=1M", 1.01},
                 {"blocked:capacity=1M", 0.75},
                 {"split:capacity=1M", 0.75},
                 {"counting:capacity=1M", 1.00}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes base, result;
        two_images(cases[i].spec, 900000, 1000, &base, &result);
        const double bits = 8.0 * (double)(base.size - 192);
        const double min = bound(bits, (double)changed_bits(base, result));
        const size_t size = round_trip(base, result);
        print_message("%s: %zu bytes, bound %.0f\n", cases[i].spec, size, min);
        assert_true((double)(size - HEADER - 40) <= cases[i].max * min);
        free(base.at);
        free(result.at);
    }
}

static void nothing_changed(void **state) {
    (void)state;
    tamis *f = numbers("blocked:capacity=100k", 1000);
    bytes image = image_of(f);
    assert_in_range(round_trip(image, image), HEADER, HEADER + 8);
    free(image.at);
    tamis_free(f);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void small_patch(bytes *base, bytes *result, bytes *patch) {
    two_images("blocked:capacity=300", 100, 20, base, result);
    *patch = diff(*base, *result);
}

static void let_go(bytes *base, bytes *result, bytes *patch) {
    free(base->at);
    free(result->at);
    free(patch->at);
}

static void every_flip_and_every_cut(void **state) {
    (void)state;
    bytes base, result, patch, made;
    small_patch(&base, &result, &patch);
    for (size_t bit = 0; bit < 8 * patch.size; bit++) {
        bytes bad = copy_of(patch);
        bad.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(apply(base, bad, &made), TAMIS_OK);
        free(bad.at);
    }
    for (size_t size = 0; size < patch.size; size++) {
        bytes cut = of_size(size);
        memcpy(cut.at, patch.at, size);
        assert_int_equal(apply(base, cut, &made), TAMIS_CORRUPT);
        free(cut.at);
    }
    bytes longer = of_size(patch.size + 1);
    memcpy(longer.at, patch.at, patch.size);
    longer.at[patch.size] = 0;
    assert_int_equal(apply(base, longer, &made), TAMIS_CORRUPT);
    assert_string_equal(tamis_why(), "damaged: extra bytes after the patch");
    free(longer.at);
    let_go(&base, &result, &patch);
}

/* Corrects the checksum, as an attacker would. */
static void seal(bytes patch) {
    tamis__put64(patch.at + AT_PATCH_SUM,
                 tamis__checksum(patch.at + HEADER, patch.size - HEADER, patch.at, AT_PATCH_SUM));
}

static void forged_patches_make_the_result_or_nothing(void **state) {
    (void)state;
    bytes base, result, patch, made;
    small_patch(&base, &result, &patch);
    static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    for (size_t at = 10; at < patch.size; at++)
        for (size_t v = 0; v < sizeof values + 8; v++) {
            bytes bad = copy_of(patch);
            if (v < sizeof values)
                bad.at[at] = values[v];
            else
                bad.at[at] ^= (uint8_t)(1 << (v - sizeof values));
            seal(bad);
            if (apply(base, bad, &made) == TAMIS_OK) {
                assert_true(is_same(made, result));
                free(made.at);
            }
            free(bad.at);
        }
    let_go(&base, &result, &patch);
}

static void headers_are_checked(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        tamis_status status;
        const char *why;
    } cases[] = {
        {0, 0, TAMIS_CORRUPT, "not a Tamis patch: wrong magic bytes"},
        {24, (uint64_t)1 << 40, TAMIS_CORRUPT, "damaged: the result is too large for its patch"},
        {24, UINT64_MAX, TAMIS_CORRUPT, "damaged: an image cannot be that large"},
        {16, UINT64_MAX, TAMIS_CORRUPT, "damaged: an image cannot be that large"},
        {48, UINT64_MAX, TAMIS_CORRUPT, "damaged: the patch is truncated"},
        {8, 0, TAMIS_CORRUPT, "damaged: patch version 0 is invalid"},
        {8, 2, TAMIS_TOO_NEW, "patch version 2 needs a newer Tamis than 0.1.0"},
        {8, 1 | 2 << 16, TAMIS_TOO_NEW, "coding 2 of a patch needs a newer Tamis than 0.1.0"},
        {8, 1, TAMIS_CORRUPT, "damaged: the sizes of the patch do not add up"},
        {8, 1 | 1 << 16 | 1u << 31, TAMIS_CORRUPT,
         "damaged: bytes 11 to 15 of the patch are not zero"},
    };
    bytes base, result, patch, made;
    small_patch(&base, &result, &patch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes bad = copy_of(patch);
        tamis__put64(bad.at + cases[i].at, cases[i].value);
        seal(bad);
        assert_int_equal(apply(base, bad, &made), cases[i].status);
        assert_string_equal(tamis_why(), cases[i].why);
        free(bad.at);
    }
    let_go(&base, &result, &patch);
}

static void other_images_are_refused(void **state) {
    (void)state;
    bytes base, result, patch, made;
    small_patch(&base, &result, &patch);
    assert_int_equal(apply(result, patch, &made), TAMIS_MISMATCH);
    assert_memory_equal(tamis_why(), "the patch is already applied", 28);
    base.at[base.size - 1] ^= 1;
    assert_int_equal(apply(base, patch, &made), TAMIS_MISMATCH);
    assert_memory_equal(tamis_why(), "the patch is for another image", 30);
    base.at[base.size - 1] ^= 1;
    uint8_t room[8];
    assert_int_equal(tamis_patch_apply(base.at, base.size, patch.at, patch.size, room, sizeof room),
                     TAMIS_INVALID);
    let_go(&base, &result, &patch);
}

/* Accepts *ctx runs, then stops. */
static bool take_some(void *ctx, const void *more, size_t size) {
    int *left = ctx;
    (void)more, (void)size;
    return (*left)-- > 0;
}

static void a_writer_may_stop_it(void **state) {
    (void)state;
    bytes base, result;
    two_images("classic:capacity=100k", 50000, 10000, &base, &result);
    for (int runs = 0; runs < 3; runs++) {
        int left = runs;
        assert_int_equal(
            tamis_patch_make(base.at, base.size, result.at, result.size, NULL, take_some, &left),
            TAMIS_CANCELLED);
        assert_int_equal(left, -1);
    }
    free(base.at);
    free(result.at);
}

/* ---- Edge cases and the golden patch --------------------------------------------------------- */

static bytes file_of(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t room[8192];
    const size_t size = fread(room, 1, sizeof room, file);
    assert_true(size < sizeof room);
    fclose(file);
    bytes b = of_size(size);
    memcpy(b.at, room, size);
    return b;
}

/* Info without writing; sizes that no image has. */
static void without_a_writer(void **state) {
    (void)state;
    bytes base, result, patch;
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    small_patch(&base, &result, &patch);
    REQUIRE_OK(tamis_patch_make(base.at, base.size, result.at, result.size, &info, NULL, NULL));
    assert_int_equal(info.patch_bytes, patch.size);
    assert_int_equal(info.result_bytes, result.size);
    const size_t huge = ((size_t)1 << 57) + 1;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tamis_patch_make(base.at, i ? base.size : huge, result.at,
                                          i ? huge : result.size, &info, NULL, NULL),
                         TAMIS_TOO_LARGE);
        assert_string_equal(tamis_why(), "images of a patch have at most 2^57 bytes");
    }
    let_go(&base, &result, &patch);
}

static void info_of_another_version(void **state) {
    (void)state;
    bytes base, result, patch;
    struct tamis_patch_info info = {.struct_size = 1};
    small_patch(&base, &result, &patch);
    assert_int_equal(
        tamis_patch_make(base.at, base.size, result.at, result.size, &info, NULL, NULL),
        TAMIS_INVALID);
    assert_int_equal(tamis_patch_get_info(patch.at, patch.size, &info), TAMIS_INVALID);
    assert_int_equal(tamis_patch_fits(base.at, base.size, &info), TAMIS_INVALID);
    let_go(&base, &result, &patch);
}

/* To a patch, nothing is an image of 0 bytes: as base, as result, and as both. */
static void of_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        bytes base = of_size(i & 1 ? 300 : 0), result = of_size(i & 2 ? 300 : 0), patch, made;
        memset(base.at, 0, base.size), memset(result.at, 0, result.size);
        patch = diff(base, result);
        REQUIRE_OK(apply(base, patch, &made));
        assert_true(is_same(made, result));
        free(made.at);
        for (int left = 0; left < 1 + (patch.size > HEADER); left++) {
            int takes = left;
            assert_int_equal(tamis_patch_make(base.at, base.size, result.at, result.size, NULL,
                                              take_some, &takes),
                             TAMIS_CANCELLED);
            assert_string_equal(tamis_why(), "the writer cancelled");
        }
        let_go(&base, &result, &patch);
    }
}

/* No honest patch encodes changes to an empty result; one that does is refused. */
static void changes_into_nothing(void **state) {
    (void)state;
    bytes base = of_size(300), result = of_size(0), patch, made;
    memset(base.at, 1, base.size);
    patch = diff(base, result);
    assert_int_equal(patch.size, HEADER);
    patch.at[10] = 1; /* CHANGES */
    seal(patch);
    assert_int_equal(apply(base, patch, &made), TAMIS_CORRUPT);
    assert_string_equal(tamis_why(), "damaged: the changes in the patch are invalid");
    let_go(&base, &result, &patch);
}

/* Changed bits past the end of the result are refused, even if all checksums match. */
static void changes_past_the_end(void **state) {
    (void)state;
    bytes base = of_size(640), result, patch, made;
    memset(base.at, 0x5a, base.size);
    result = copy_of(base);
    result.at[639] ^= 1;
    patch = diff(base, result);
    assert_int_equal(patch.at[10], 1); /* CHANGES */
    base.size = 639;                   /* base and result are equally long: nothing else changes */
    for (int at = 0; at < 2; at++) {
        tamis__put64(patch.at + 16 + 8 * at, base.size);
        tamis__put64(patch.at + 32 + 8 * at, tamis__checksum(base.at, base.size, NULL, 0));
    }
    seal(patch);
    assert_int_equal(apply(base, patch, &made), TAMIS_CORRUPT);
    assert_string_equal(tamis_why(), "damaged: the changes in the patch are invalid");
    free(base.at), free(result.at), free(patch.at);
}

/* Calls tamis_patch_apply directly, which checks everything again. */
static void apply_trusts_nobody(void **state) {
    (void)state;
    bytes base, result, patch;
    small_patch(&base, &result, &patch);
    bytes made = of_size(result.size);
    patch.at[HEADER] ^= 1;
    assert_int_equal(
        tamis_patch_apply(base.at, base.size, patch.at, patch.size, made.at, made.size),
        TAMIS_CORRUPT);
    assert_string_equal(tamis_why(), "damaged: the patch's checksum is wrong");
    patch.at[HEADER] ^= 1;
    assert_int_equal(
        tamis_patch_apply(base.at, base.size - 1, patch.at, patch.size, made.at, made.size),
        TAMIS_MISMATCH);
    assert_non_null(strstr(tamis_why(), "for another image"));
    REQUIRE_OK(tamis_patch_apply(base.at, base.size, patch.at, patch.size, made.at, made.size));
    assert_true(is_same(made, result));
    free(made.at);
    let_go(&base, &result, &patch);
}

static void golden_patch(void **state) {
    (void)state;
    bytes base = file_of("tests/golden/blocked-1.tamis"), patch, made, again;
    patch = file_of("tests/golden/blocked-1.patch");
    REQUIRE_OK(apply(base, patch, &made));
    tamis *f;
    REQUIRE_OK(tamis_load(&f, made.at, made.size));
    char key[16];
    for (int i = 1; i <= 210; i++) assert_true(tamis_has(f, key, (size_t)sprintf(key, "%d", i)));
    again = diff(base, made);
    assert_true(is_same(patch, again));
    free(again.at);
    tamis_free(f);
    let_go(&base, &made, &patch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_make_the_trip),
        cmocka_unit_test(another_kind_and_shape_is_whole_at_worst),
        cmocka_unit_test(notes_may_come_and_go),
        cmocka_unit_test(every_size),
        cmocka_unit_test(no_shorter_is_whole),
        cmocka_unit_test(numbers_have_64_bits),
        cmocka_unit_test(every_density),
        cmocka_unit_test(near_the_bound),
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(every_flip_and_every_cut),
        cmocka_unit_test(forged_patches_make_the_result_or_nothing),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(other_images_are_refused),
        cmocka_unit_test(a_writer_may_stop_it),
        cmocka_unit_test(without_a_writer),
        cmocka_unit_test(info_of_another_version),
        cmocka_unit_test(of_nothing),
        cmocka_unit_test(changes_into_nothing),
        cmocka_unit_test(changes_past_the_end),
        cmocka_unit_test(apply_trusts_nobody),
        cmocka_unit_test(golden_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
