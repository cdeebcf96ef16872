/* SPDX-License-Identifier: MIT */
/* Seals of patches, in a stub command: who signed what, and for which two images. The checksums of
 * a patch already refuse an image that changed by accident; here the signature is good and its
 * digests are not, as if someone had found images with equal checksums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef fail /* the command has one of its own */
#include "cli/images/seal.h"
#include "tests/support/temp_dir.h"

/* ---- A stub command -------------------------------------------------------------------------- */

static char said[512];

int fail(const struct args *args, const char *file, const char *format, ...) {
    va_list list;
    (void)args, (void)file;
    va_start(list, format);
    vsnprintf(said, sizeof said, format, list);
    va_end(list);
    return 2;
}

int fail_memory(const struct args *args) {
    return fail(args, NULL, "out of memory");
}

ssize_t file_start(const struct args *args, const char *path, void *bytes, size_t room) {
    FILE *f = fopen(path, "r");
    const size_t len = f ? fread(bytes, 1, room, f) : 0;
    const bool is_read = f && !ferror(f);
    if (!is_read) fail(args, path, f ? "cannot read" : "cannot open");
    if (f) fclose(f);
    return is_read ? (ssize_t)len : -1;
}

int file_may_write(const struct args *args, const char *path, const char *what) {
    return fail(args, path, "%s is not written here", what);
}

int file_begin(struct new_file *file, const struct args *args, const char *path, mode_t mode) {
    (void)file, (void)mode;
    return fail(args, path, "nothing is written here");
}

bool file_put(struct new_file *file, const void *bytes, size_t size) {
    (void)file, (void)bytes, (void)size;
    return false;
}

int file_end(struct new_file *file, bool is_good) {
    (void)file, (void)is_good;
    return 2;
}

/* ---- Keys: the first two of RFC 8032, 7.1 ---------------------------------------------------- */

#define SECRET_LINE "tamis secret key (ed25519), to sign patches: keep it private\n"
#define PUBLIC_LINE "tamis public key (ed25519), to verify patches\n"
#define SEED        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
#define PUBLIC      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
#define ANOTHER     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"

static char dir[TEST_FOLDER_BYTES];

static const char *key_file(const char *name, const char *text) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    return path;
}

static int enter(void **state) {
    (void)state;
    return test_enter_dir(dir) ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    return test_leave_dir(dir);
}

/* ---- A patch of a few bytes ------------------------------------------------------------------ */

enum { PATCH = 40 };
static uint8_t sealed[PATCH + SEAL_BYTES];
static const struct bytes patch = {.path = "patch", .at = sealed, .size = sizeof sealed};

static struct bytes text(const char *words) {
    return (struct bytes){
        .path = "image", .at = (uint8_t *)(uintptr_t)words, .size = strlen(words)};
}

static void sign(const char *base, const char *result) {
    const struct bytes from = text(base), to = text(result);
    struct seal *seal;
    if (!seal_library()) skip();
    assert_int_equal(seal_start(&seal, NULL, key_file("a.key", SECRET_LINE SEED "\n")), 0);
    memset(sealed, 'p', PATCH);
    seal_more(seal, sealed, 1); /* in pieces, as patches are written */
    seal_more(seal, sealed + 1, PATCH - 1);
    seal_end(seal, &from, &to, sealed + PATCH);
    seal_free(seal);
}

static int checked(void) {
    return seal_check(NULL, &patch, key_file("a.pub", PUBLIC_LINE PUBLIC "\n"));
}

static bool base_is(const char *image) {
    const struct bytes base = text(image);
    return seal_check_base(NULL, &patch, &base) == 0;
}

static bool result_is(const char *image) {
    const struct bytes result = text(image);
    return seal_check_result(NULL, &patch, &result) == 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void images_are_those_that_were_signed(void **state) {
    (void)state;
    sign("old image", "new image");
    assert_int_equal(checked(), 0);
    assert_true(base_is("old image") && result_is("new image"));
    assert_false(base_is("new image") || base_is("old imagf") || base_is("old imag"));
    assert_non_null(strstr(said, "signed for an image other than"));
    assert_false(result_is("old image") || result_is("new imagf") || result_is("new image "));
    assert_non_null(strstr(said, "does not produce the image that was signed"));
}

/* Every byte of patch and seal. */
static void every_byte_is_signed(void **state) {
    (void)state;
    sign("old image", "new image");
    const char *public = key_file("a.pub", PUBLIC_LINE PUBLIC "\n");
    for (size_t i = 0; i < sizeof sealed; i++)
        for (int bit = 0; bit < 8; bit += 7) {
            sealed[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(seal_check(NULL, &patch, public), 2);
            sealed[i] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(seal_check(NULL, &patch, public), 0);
}

/* A valid signature of other bytes. */
static void a_seal_belongs_to_its_patch(void **state) {
    (void)state;
    uint8_t seal[SEAL_BYTES];
    sign("old image", "new image");
    memcpy(seal, sealed + PATCH, sizeof seal);
    sealed[0] = 'q';
    assert_int_equal(checked(), 2);
    assert_non_null(strstr(said, "the signature is wrong"));
    memcpy(sealed + PATCH, seal, sizeof seal);
    sealed[0] = 'p';
    assert_int_equal(checked(), 0);
}

static void a_seal_is_the_last_200_bytes(void **state) {
    (void)state;
    sign("old image", "new image");
    struct bytes some = patch;
    assert_true(seal_is_there(&some));
    some = (struct bytes){.path = "patch", .at = sealed + PATCH, .size = SEAL_BYTES};
    assert_true(seal_is_there(&some)); /* of no patch: detected later */
    some.at++, some.size--;
    assert_false(seal_is_there(&some));
    some = (struct bytes){.path = "patch", .at = sealed, .size = sizeof sealed - 1};
    assert_false(seal_is_there(&some));
    assert_int_equal(seal_check(NULL, &some, key_file("a.pub", PUBLIC_LINE PUBLIC "\n")), 2);
    assert_non_null(strstr(said, "is not signed"));
}

static void keys_are_what_they_say(void **state) {
    (void)state;
    static const struct {
        const char *text, *why; /* NULL: good */
    } files[] = {
        {PUBLIC_LINE PUBLIC "\n", NULL},
        {PUBLIC_LINE PUBLIC "\r\n", NULL},
        {PUBLIC_LINE PUBLIC, NULL},
        {PUBLIC_LINE ANOTHER "\n", "signed with a key other than"},
        {PUBLIC_LINE PUBLIC "00\n", "not a tamis public key"},
        {PUBLIC_LINE PUBLIC "0\n", "not a tamis public key"},
        {PUBLIC_LINE PUBLIC " \n", "not a tamis public key"},
        {PUBLIC_LINE PUBLIC "\nx", "not a tamis public key"},
        {PUBLIC_LINE "d75a98\n", "not a tamis public key"},
        {PUBLIC_LINE, "not a tamis public key"},
        {PUBLIC "\n", "not a tamis public key"},
        {"", "not a tamis public key"},
        {SECRET_LINE SEED "\n", "this is a secret key"},
    };
    sign("old image", "new image");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const int code = seal_check(NULL, &patch, key_file("b.pub", files[i].text));
        assert_int_equal(code, files[i].why ? 2 : 0);
        if (files[i].why) assert_non_null(strstr(said, files[i].why));
    }
    struct seal *seal;
    assert_int_equal(seal_start(&seal, NULL, key_file("b.pub", PUBLIC_LINE PUBLIC "\n")), 2);
    assert_null(seal);
    assert_non_null(strstr(said, "this is a public key"));
    assert_int_equal(seal_start(&seal, NULL, "nowhere/a.key"), 2);
    assert_non_null(strstr(said, "cannot open"));
    assert_int_equal(seal_start(&seal, NULL, dir), 2);
    assert_non_null(strstr(said, "cannot read"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_those_that_were_signed),
        cmocka_unit_test(every_byte_is_signed),
        cmocka_unit_test(a_seal_belongs_to_its_patch),
        cmocka_unit_test(a_seal_is_the_last_200_bytes),
        cmocka_unit_test(keys_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
