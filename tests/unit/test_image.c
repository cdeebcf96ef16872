/* SPDX-License-Identifier: MIT */
/* The gate, field by field: each header field with every kind of wrong value, under correct
 * checksums, is refused with the status and the error message that name the fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "file/image.h"
#include "kinds/segments.h"
#include "tests/support/filters.h"
#include "tests/support/require_ok.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
enum { CONTENT_SUM = 176, HEADER_SUM = 184 };
static const uint8_t secret[16] = "sixteen secrets", other_secret[16] = "another secret.";

enum base { PLAIN, SEEDED, INSIDE, OUTSIDE, OWN, BUILT, BASES };
static const char *const specs[BASES] = {
    "blocked:capacity=100,fpr=1%",     "classic:capacity=100,fpr=1%,seed=7",
    "blocked:capacity=100,hash=sip13", "blocked:capacity=100,hash=sip13,key=outside",
    "bip37:capacity=100,fpr=1%",       "fuse:capacity=100",
};

static uint8_t *image_of(enum base base, size_t *size) {
    const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    tamis *f;
    tamis_builder *b;
    const struct tamis_builder_options building = {
        .struct_size = sizeof building,
        .filter = base == INSIDE || base == OUTSIDE ? &options : NULL};
    REQUIRE_OK(tamis_builder_create_with(&b, specs[base], &building));
    REQUIRE_OK(tamis_builder_add(b, "key", 3));
    REQUIRE_OK(tamis_builder_finish(b, &f));
    tamis_builder_free(b);
    if (base == PLAIN) REQUIRE_OK(tamis_set_note(f, "a", "note"));
    uint8_t *image = test_image(f, size);
    tamis_free(f);
    return image;
}

static tamis_status load(const uint8_t *image, size_t size, const uint8_t *with) {
    const struct tamis_options options = {.struct_size = sizeof options, .secret = with};
    tamis *f;
    const tamis_status rc = tamis_load_with(&f, image, size, &options);
    assert_true(rc == TAMIS_OK || f == NULL);
    if (!rc) assert_true(tamis_has(f, "key", 3));
    tamis_free(f);
    return rc;
}

static void seal(uint8_t *image, size_t size) {
    tamis__put64(image + CONTENT_SUM, tamis__checksum(image + TAMIS_IMAGE_HEADER_BYTES,
                                                      size - TAMIS_IMAGE_HEADER_BYTES, NULL, 0));
    tamis__put64(image + HEADER_SUM, tamis__checksum(image, HEADER_SUM, NULL, 0));
}

static void all_are_let_in_unchanged(void **state) {
    (void)state;
    for (int base = 0; base < BASES; base++) {
        size_t size;
        uint8_t *image = image_of((enum base)base, &size);
        REQUIRE_OK(load(image, size, base == OUTSIDE ? secret : NULL));
        seal(image, size); /* as the writer does */
        REQUIRE_OK(load(image, size, base == OUTSIDE ? secret : NULL));
        free(image);
    }
}

/* The `width` bytes at `at` become `value`. */
static const struct field {
    enum base base;
    size_t at, width;
    uint64_t value;
    tamis_status status;
    const char *why;
} fields[] = {
    {PLAIN, 0, 1, 0, TAMIS_CORRUPT, "wrong magic bytes"},
    {PLAIN, 7, 1, 0, TAMIS_CORRUPT, "wrong magic bytes"},
    {PLAIN, 8, 2, 0, TAMIS_CORRUPT, "format version 0 is invalid"},
    {PLAIN, 8, 2, 2, TAMIS_TOO_NEW, "format version 2 needs a newer Tamis"},
    {PLAIN, 8, 2, 0xffff, TAMIS_TOO_NEW, "format version 65535 needs"},
    {PLAIN, 10, 1, TAMIS_HASH_MODES, TAMIS_TOO_NEW, "needs a newer Tamis"},
    {PLAIN, 10, 1, 255, TAMIS_TOO_NEW, "hash mode 255"},
    {PLAIN, 10, 1, TAMIS_HASH_OWN, TAMIS_CORRUPT, "the hash mode does not match the kind"},
    {OWN, 10, 1, TAMIS_HASH_XXH3, TAMIS_CORRUPT, "the hash mode does not match the kind"},
    {PLAIN, 10, 1, TAMIS_HASH_SIP13, TAMIS_CORRUPT, "the place of the key does not match the hash"},
    {PLAIN, 10, 1, TAMIS_HASH_XXH64, TAMIS_CORRUPT,
     "the hash that made this filter is not the one used here"},
    {PLAIN, 11, 1, TAMIS_KEY_PLACES, TAMIS_CORRUPT, "the place of the key is unknown"},
    {PLAIN, 11, 1, TAMIS_KEY_INSIDE, TAMIS_CORRUPT, "the place of the key does not match the hash"},
    {INSIDE, 11, 1, TAMIS_KEY_NONE, TAMIS_CORRUPT, "the place of the key does not match the hash"},
    {INSIDE, 11, 1, TAMIS_KEY_OUTSIDE, TAMIS_CORRUPT, "a secret where there should be none"},
    {PLAIN, 12, 4, 0, TAMIS_CORRUPT, "kind 0 is invalid"},
    {PLAIN, 12, 4, 0xffffffff, TAMIS_TOO_NEW, "kind 4294967295 needs a newer Tamis"},
    {PLAIN, 20, 4, 1, TAMIS_TOO_NEW, "features 0x1 need a newer Tamis"},
    {PLAIN, 20, 4, 0x80000000, TAMIS_TOO_NEW, "features 0x80000000"},
    {SEEDED, 24, 8, 8, TAMIS_CORRUPT, "the hash that made this filter"},
    {INSIDE, 24, 8, 1, TAMIS_CORRUPT, "a seed where the hash has none"},
    {OWN, 24, 8, 1, TAMIS_CORRUPT, "a seed where the hash has none"},
    {PLAIN, 32, 8, 1, TAMIS_CORRUPT, "the key id does not match the key"},
    {INSIDE, 32, 8, 1, TAMIS_CORRUPT, "the key id does not match the key"},
    {OUTSIDE, 32, 8, 1, TAMIS_SECRET, "0000000000000001 is needed"},
    {PLAIN, 40, 1, 1, TAMIS_CORRUPT, "a secret where there should be none"},
    {OUTSIDE, 55, 1, 1, TAMIS_CORRUPT, "a secret where there should be none"},
    {INSIDE, 40, 1, 0, TAMIS_CORRUPT, "the key id does not match the key"},
    {PLAIN, 56, 8, ((uint64_t)1 << 56) + 1, TAMIS_CORRUPT, "the capacity is over 2^56"},
    {PLAIN, 72, 8, 1000000, TAMIS_CORRUPT, "the target rate is not below 1"},
    {PLAIN, 72, 8, 1, TAMIS_CORRUPT, "the target rate is not below 1"},
    {PLAIN, 80, 8, (uint64_t)1 << 60, TAMIS_CORRUPT, "blocked cannot have"},
    {BUILT, 80 + 8 * TAMIS_SEGMENT_BYTES, 8, (uint64_t)1 << 57, TAMIS_CORRUPT,
     "a payload of more than 2^56 bytes"},
    {PLAIN, 80, 8, 0, TAMIS_CORRUPT, "blocked"},
    {PLAIN, 136, 8, 1, TAMIS_CORRUPT, "an unused shape word is not zero"},
    {PLAIN, 144, 8, 1, TAMIS_CORRUPT, "the header says 1"},
    {PLAIN, 152, 8, (1 << 20) + 1, TAMIS_CORRUPT, "notes of more than 1 MiB"},
    {PLAIN, 152, 8, UINT64_MAX, TAMIS_CORRUPT, "notes of more than 1 MiB"},
    {PLAIN, 152, 8, 0, TAMIS_CORRUPT, "bytes where the header says"},
    {PLAIN, 160, 8, 1, TAMIS_CORRUPT, "the hash that made this filter"},
    {PLAIN, 168, 1, 1, TAMIS_CORRUPT, "bytes 168 to 175 are not zero"},
    {PLAIN, 175, 1, 1, TAMIS_CORRUPT, "bytes 168 to 175 are not zero"},
};

static void each_field(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const struct field *f = &fields[i];
        size_t size;
        uint8_t *image = image_of(f->base, &size);
        for (size_t b = 0; b < f->width; b++) image[f->at + b] = (uint8_t)(f->value >> 8 * b);
        seal(image, size);
        const tamis_status rc = load(image, size, f->base == OUTSIDE ? secret : NULL);
        if (rc != f->status || !strstr(tamis_why(), f->why))
            fail_msg("byte %zu of %s: %s: %s", f->at, specs[f->base], tamis_status_name(rc),
                     tamis_why());
        free(image);
    }
}

/* Optional features are ignored. */
static void what_may_be_ignored(void **state) {
    (void)state;
    size_t size;
    uint8_t *image = image_of(PLAIN, &size);
    memset(image + 16, 0xff, 4);
    seal(image, size);
    REQUIRE_OK(load(image, size, NULL));
    free(image);
}

static void sums_and_lengths(void **state) {
    (void)state;
    size_t size;
    uint8_t *image = image_of(PLAIN, &size);
    image[100] ^= 1;
    assert_int_equal(load(image, size, NULL), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "the header's checksum is wrong"));
    image[100] ^= 1, image[size - 1] ^= 1;
    assert_int_equal(load(image, size, NULL), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "the checksum of payload and notes is wrong"));
    seal(image, size);
    assert_int_equal(load(image, size, NULL), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "the notes are not pairs of text in order"));
    assert_int_equal(load(image, TAMIS_IMAGE_HEADER_BYTES - 1, NULL), TAMIS_CORRUPT);
    assert_non_null(strstr(tamis_why(), "191 bytes, a header alone has 192"));
    free(image);
}

static void secrets(void **state) {
    (void)state;
    size_t size;
    uint8_t *image = image_of(OUTSIDE, &size);
    assert_int_equal(load(image, size, NULL), TAMIS_SECRET);
    assert_non_null(strstr(tamis_why(), "is needed"));
    assert_int_equal(load(image, size, other_secret), TAMIS_SECRET);
    assert_non_null(strstr(tamis_why(), "the secret has key id"));
    for (size_t i = 0; i + sizeof secret <= size; i++)
        if (memcmp(image + i, secret, sizeof secret) == 0) fail_msg("the secret is in the image");
    free(image);
    image = image_of(INSIDE, &size);
    assert_memory_equal(image + 40, secret, sizeof secret);
    free(image);
}

/* Intersecting sets a feature bit that older readers may ignore; loading keeps it. */
static void intersections_say_so(void **state) {
    (void)state;
    tamis *f = test_make("%s", specs[PLAIN]), *g = test_copy(f), *h;
    size_t size;
    uint8_t *image = test_image(f, &size);
    assert_int_equal(tamis__get32(image + 16), 0);
    free(image);
    for (uint64_t i = 0; i < 100; i++) REQUIRE_OK(tamis_add_u64(i % 2 ? f : g, i));
    REQUIRE_OK(tamis_intersect(f, g));
    image = test_image(f, &size);
    assert_int_equal(tamis__get32(image + 16), 1);
    REQUIRE_OK(tamis_load(&h, image, size));
    uint8_t *again = test_image(h, &size);
    assert_memory_equal(again, image, size);
    free(again);
    free(image);
    tamis_free(f);
    tamis_free(g);
    tamis_free(h);
}

/* Target rates survive a round trip; those that no spec can ask for become the nearest allowed. */
static void rates_as_one_in(void **state) {
    (void)state;
    assert_int_equal(tamis__one_in(0), 0);
    assert_int_equal(tamis__one_in(-1), 0);
    assert_int_equal(tamis__one_in(0.0 / 0.0 * 0), 0);
    assert_int_equal(tamis__one_in(0.01), 100000000);
    assert_int_equal(tamis__one_in(1), 1000001);
    assert_int_equal(tamis__one_in(1e-12), (uint64_t)1000000 * 1000000 * 1000000);
    assert_int_equal(tamis__one_in(1e-300), tamis__one_in(1e-12));
    assert_true(tamis__fpr_of(0) == 0);
    assert_true(tamis__fpr_of(100000000) == 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_let_in_unchanged),
        cmocka_unit_test(each_field),
        cmocka_unit_test(what_may_be_ignored),
        cmocka_unit_test(sums_and_lengths),
        cmocka_unit_test(secrets),
        cmocka_unit_test(rates_as_one_in),
        cmocka_unit_test(intersections_say_so),
    };
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
