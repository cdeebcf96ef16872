/* Golden images are read for ever; golden-bad ones are refused, each for its own reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"

/* As in tests/golden/make: bytes 0, 1, ... 15. */
static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};

typedef void visit(const char *path, const char *name);

static int for_each_image(const char *folder, visit *look) {
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".tamis") != 0) continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        look(path, entry->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

static uint64_t hits_between(const tamis *f, int from, int to) {
    uint64_t hits = 0;
    for (int i = from; i <= to; i++) {
        char key[16];
        hits += tamis_has(f, key, (size_t)sprintf(key, "%d", i));
    }
    return hits;
}

/* The false positives among 201..10200 are part of the promise: a changed position shows in them
 * even where every member is still found. "NAME.tamis HITS MEMBERS" a line; only what ages has not
 * all 200 members. */
typedef struct pinned {
    uint64_t hits, members;
} pinned;

static pinned pinned_for(const char *name) {
    FILE *file = fopen("tests/golden/hits.txt", "r");
    assert_non_null(file);
    char line_name[128];
    unsigned long long hits, members;
    pinned found = {UINT64_MAX, 0};
    while (fscanf(file, "%127s %llu %llu", line_name, &hits, &members) == 3)
        if (strcmp(line_name, name) == 0) found = (pinned){hits, members};
    fclose(file);
    if (found.hits == UINT64_MAX) fail_msg("tests/golden/hits.txt has no line for %s", name);
    return found;
}

static void read_golden(const char *path, const char *name) {
    tamis *f, *g;
    if (tamis_read_with(&f, path, &options)) fail_msg("%s", tamis_why());
    assert_int_equal(tamis_map_with(&g, path, &options), TAMIS_OK);
    const pinned expected = pinned_for(name);
    assert_int_equal(hits_between(f, 1, 200), expected.members);
    assert_int_equal(hits_between(g, 1, 200), expected.members);
    const uint64_t hits = hits_between(f, 201, 10200);
    if (hits != expected.hits)
        fail_msg("%s: %llu hits, %llu are pinned", name, (unsigned long long)hits,
                 (unsigned long long)expected.hits);

    /* Made again from its own spec it is the same image, and saving changes nothing. */
    const size_t size = (size_t)tamis_stored_size(f);
    uint8_t *image = malloc(size), *file_bytes = malloc(size);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(file_bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(tamis_bytes(f, image, size), TAMIS_OK);
    assert_memory_equal(image, file_bytes, size);

    char spec[256];
    struct tamis_info info;
    tamis *again;
    tamis_spec(f, spec, sizeof spec);
    tamis_info(f, &info, sizeof info);
    const bool is_keyed = strcmp(info.hash, "sip13") == 0;
    if (tamis_create_with(&again, spec, is_keyed ? &options : NULL)) fail_msg("%s", tamis_why());
    /* In one call, as they were: what grows does it once for all of them. */
    static char text[200][16];
    struct tamis_key keys[200];
    for (int i = 0; i < 200; i++)
        keys[i] = (struct tamis_key){text[i], (size_t)sprintf(text[i], "%d", i + 1)};
    assert_int_equal(tamis_add_many(again, keys, 200), TAMIS_OK);
    uint64_t n, m;
    const void *p = tamis_payload(again, &n), *q = tamis_payload(f, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, n);
    free(image);
    free(file_bytes);
    tamis_free(again);
    tamis_free(f);
    tamis_free(g);
}

static void golden_images_are_read(void **state) {
    (void)state;
    assert_true(for_each_image("tests/golden", read_golden) >= 14);
}

static void every_kind_has_a_golden_image(void **state) {
    (void)state;
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind;
        char path[128];
        tamis *f;
        tamis_kind_at(i, &kind, sizeof kind);
        snprintf(path, sizeof path, "tests/golden/%s-1.tamis", kind.name);
        if (tamis_read_with(&f, path, &options)) fail_msg("%s", tamis_why());
        tamis_free(f);
    }
}

static void refuse(const char *path, const char *name) {
    tamis *f;
    const tamis_status wanted = strncmp(name, "newer-", 6) == 0 ? TAMIS_NEWER : TAMIS_CORRUPT;
    const tamis_status rc = tamis_read_with(&f, path, &options);
    if (rc != wanted) fail_msg("%s: %s", name, tamis_status_name(rc));
    assert_null(f);
    if (!strstr(tamis_why(), path))
        fail_msg("the sentence does not name %s: %s", path, tamis_why());
    assert_int_equal(tamis_map_with(&f, path, &options), wanted);
    assert_null(f);
}

static void golden_bad_images_are_refused(void **state) {
    (void)state;
    assert_true(for_each_image("tests/golden-bad", refuse) >= 50);
}

static void secrets_are_needed_and_checked(void **state) {
    (void)state;
    const char *path = "tests/golden/blocked-outside-1.tamis";
    const uint8_t other[16] = {1};
    const struct tamis_options wrong = {.struct_size = sizeof wrong, .secret = other};
    tamis *f;
    assert_int_equal(tamis_read(&f, path), TAMIS_SECRET);
    assert_null(f);
    assert_int_equal(tamis_read_with(&f, path, &wrong), TAMIS_SECRET);
    assert_null(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_images_are_read),
        cmocka_unit_test(every_kind_has_a_golden_image),
        cmocka_unit_test(golden_bad_images_are_refused),
        cmocka_unit_test(secrets_are_needed_and_checked),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
