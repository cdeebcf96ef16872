/* SPDX-License-Identifier: MIT */
/* Golden images stay readable; golden-bad ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "kinds/kind.h"
#include "tamis.h"

/* As in tests/golden/make: bytes 0, 1, ... 15. */
static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};

typedef void visit(const char *path, const char *name);

/* Only a small build may leave out images of kinds that it lacks. */
static bool is_left_out(const char *path) {
#ifdef TAMIS_KINDS_DEF
    tamis *f;
    const tamis_status rc = tamis_read_with(&f, path, &options);
    tamis_free(f);
    return rc == TAMIS_TOO_NEW && strstr(tamis_why(), "is not part of this build");
#else
    (void)path;
    return false;
#endif
}

static int for_each_image(const char *dir_path, visit *look) {
    int count = 0, left_out = 0;
    DIR *dir = opendir(dir_path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".tamis") != 0) continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", dir_path, entry->d_name);
        if (is_left_out(path))
            left_out++;
        else
            look(path, entry->d_name);
        count++;
    }
    closedir(dir);
    if (left_out)
        printf("# SKIP %d of %d images of %s: their kinds are not part of this build\n", left_out,
               count, dir_path);
    return count;
}

/* Keys are decimal texts, or integers if a note says so: one foreign kind has no others. */
static bool has_integers(const tamis *f) {
    const char *encoding = tamis_note(f, "encoding");
    return encoding && strcmp(encoding, "int64") == 0;
}

static size_t spell(uint64_t i, bool is_integer, char key[32]) {
    if (!is_integer) return (size_t)sprintf(key, "%llu", (unsigned long long)i);
    tamis__put64((uint8_t *)key, i);
    return 8;
}

static uint64_t hits_between(const tamis *f, int from, int to) {
    uint64_t hits = 0;
    for (int i = from; i <= to; i++) {
        char key[32];
        hits += tamis_has(f, key, spell((uint64_t)i, has_integers(f), key));
    }
    return hits;
}

/* The false positives among 201..10200 are pinned: a changed position shows in them even if every
 * member is still found. Each line is "NAME.tamis HITS MEMBERS"; only kinds that age have fewer
 * than 200 members. */
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

/* The keys are those of tests/golden/make, and so are their values and labels. */
static tamis_status give_key(tamis_builder *b, const struct tamis_info *info, bool is_integer,
                             uint64_t i) {
    char key[32];
    const size_t len = spell(i, is_integer, key);
    if (info->abilities & TAMIS_CAN_GET) return tamis_builder_put(b, key, len, i % 16);
    if (i > 200 && strcmp(info->kind, "cascade") == 0) return tamis_builder_exclude(b, key, len);
    if (info->abilities & TAMIS_CAN_LABEL) {
        const tamis_status rc = tamis_builder_label(b, i % 2 ? "odd" : "even");
        if (rc) return rc;
    }
    return tamis_builder_add(b, key, len);
}

static tamis *built_again(const char *spec, const struct tamis_info *info, bool is_integer) {
    tamis_builder *b;
    tamis *again;
    if (tamis_builder_create(&b, spec, 0, NULL)) fail_msg("%s", tamis_why());
    for (uint64_t i = 1; i <= info->items; i++)
        assert_int_equal(give_key(b, info, is_integer, i), TAMIS_OK);
    if (tamis_builder_finish(b, &again)) fail_msg("%s", tamis_why());
    tamis_builder_free(b);
    return again;
}

static tamis *added_again(const char *spec, bool is_keyed) {
    tamis *again;
    if (tamis_create_with(&again, spec, is_keyed ? &options : NULL)) fail_msg("%s", tamis_why());
    /* In one call, as in tests/golden/make: what grows does so once for all of them. */
    static char text[200][16];
    struct tamis_key keys[200];
    for (int i = 0; i < 200; i++)
        keys[i] = (struct tamis_key){text[i], (size_t)sprintf(text[i], "%d", i + 1)};
    assert_int_equal(tamis_add_many(again, keys, 200), TAMIS_OK);
    return again;
}

/* The payloads of tests/golden/make: one number per line. */
static void record_again(tamis *f, const char *flow, int from, int step, int to) {
    char text[1024];
    size_t len = 0;
    for (int i = from; i <= to; i += step) len += (size_t)sprintf(text + len, "%d\n", i);
    assert_int_equal(tamis_record(f, flow, strlen(flow), 0, text, len), TAMIS_OK);
}

static tamis *made_again(const tamis *f) {
    char spec[256];
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_spec(f, spec, sizeof spec);
    tamis_measure(f, &info);
    if (info.abilities & (TAMIS_IS_BUILT | TAMIS_CAN_GET))
        return built_again(spec, &info, has_integers(f));
    tamis *again = added_again(spec, strcmp(info.hash, "sip13") == 0);
    if (tamis_note(f, "flows")) {
        record_again(again, "good.tmp", 201, 1, 400);
        record_again(again, "odd.tmp", 1, 2, 200);
    }
    return again;
}

/* An approximator may return more than was put, and has no value 0. */
static void values_are_those_given(const tamis *f, bool is_bound) {
    for (uint64_t i = 1; i <= 200; i++) {
        char key[32];
        const size_t len = (size_t)sprintf(key, "%llu", (unsigned long long)i);
        uint64_t value = 0;
        assert_true(tamis_get(f, key, len, &value) || (is_bound && i % 16 == 0));
        assert_true(value == i % 16 || (is_bound && value > i % 16));
    }
}

static void labels_are_those_given(const tamis *f) {
    assert_int_equal(tamis_label_count(f), 2);
    assert_string_equal(tamis_label_name(f, 0), "odd");
    assert_string_equal(tamis_label_name(f, 1), "even");
    for (uint64_t i = 1; i <= 200; i++) {
        char key[32];
        const size_t len = (size_t)sprintf(key, "%llu", (unsigned long long)i);
        uint64_t labels[2];
        const size_t n = tamis_labels(f, key, len, labels, 2);
        assert_true(n == 2 || (n == 1 && labels[0] == (i + 1) % 2));
    }
}

static bool count_match(void *ctx, const struct tamis_match *match) {
    assert_true(match->common <= match->either);
    ++*(uint64_t *)ctx;
    return true;
}

/* Those of tests/vectors/fps; the number that contain the first depends on what the bits mean. */
static void prints_are_those_given(const tamis *f) {
    const void *print;
    uint64_t n = 0;
    const uint64_t bits = tamis_fingerprint_bits(f);
    assert_int_equal(tamis_fingerprint_count(f), 120);
    assert_string_equal(tamis_fingerprint_at(f, 0, &print), "ethanol");
    const size_t bytes = (size_t)(bits + 7) / 8;
    assert_int_equal(tamis_fingerprints_screen(f, print, bytes, count_match, &n, NULL), TAMIS_OK);
    assert_int_equal(n, bits == 166 ? 2 : 67);
}

static void ask_for_more(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    if (info.abilities & TAMIS_CAN_GET)
        values_are_those_given(f, strcmp(info.kind, "approximator") == 0);
    if (info.abilities & TAMIS_CAN_LABEL) labels_are_those_given(f);
    if (info.abilities & TAMIS_CAN_SEARCH) prints_are_those_given(f);
}

/* If there is a NAME-2, NAME-1 is of an older format, which is still read but no longer written. */
static bool has_successor(const char *path) {
    char next[256];
    const size_t len = strlen(path) - strlen("1.tamis");
    snprintf(next, sizeof next, "%.*s%c.tamis", (int)len, path, path[len] + 1);
    FILE *file = fopen(next, "rb");
    if (file) fclose(file);
    return file != NULL;
}

/* Its own spec gives the same payload, unless it can only be queried. */
static void is_made_again(const tamis *f, const char *path) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    if (!(info.abilities & (TAMIS_CAN_ADD | TAMIS_IS_BUILT)) || has_successor(path)) return;
    tamis *again = made_again(f);
    uint64_t n, m;
    const void *p = tamis_payload(again, &n), *q = tamis_payload(f, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, n);
    tamis_free(again);
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
    ask_for_more(f);

    /* Saving changes nothing. */
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size), *file_bytes = malloc(size);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(file_bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
    assert_memory_equal(image, file_bytes, size);

    is_made_again(f, path);
    free(image);
    free(file_bytes);
    tamis_free(f);
    tamis_free(g);
}

static void golden_images_are_read(void **state) {
    (void)state;
    assert_true(for_each_image("tests/golden", read_golden) >= 14);
    assert_true(for_each_image("tests/golden/foreign", read_golden) >= 1);
}

static void every_kind_has_a_golden_image(void **state) {
    (void)state;
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        char path[128];
        tamis *f;
        tamis_kind_at(i, &kind);
        snprintf(path, sizeof path, "tests/golden/%s%s-1.tamis",
                 kind.id >= TAMIS_FOREIGN_FROM ? "foreign/" : "", kind.name);
        if (tamis_read_with(&f, path, &options)) fail_msg("%s", tamis_why());
        tamis_free(f);
    }
}

static void refuse(const char *path, const char *name) {
    tamis *f;
    const tamis_status wanted = strncmp(name, "newer-", 6) == 0 ? TAMIS_TOO_NEW : TAMIS_CORRUPT;
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
