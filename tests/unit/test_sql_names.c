/* SPDX-License-Identifier: MIT */
/* Filters that engines of SQL keep open: by image, by name, by file; and what they say of specs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/sql/sql_cache.h"
#include "engines/sql/sql_names.h"
#include "engines/sql/sql_specs.h"
#include "tests/support/require_ok.h"
#include "tests/support/temp_dir.h"

/* ---- Images --------------------------------------------------------------------------------- */

static tamis *filter_of(uint64_t first) {
    tamis *f;
    REQUIRE_OK(tamis_create(&f, "blocked:capacity=100,fpr=1e-9"));
    for (uint64_t key = first; key < first + 100; key++) REQUIRE_OK(tamis_add_u64(f, key));
    return f;
}

static void *image_of(uint64_t first, size_t *size) {
    tamis *f = filter_of(first);
    *size = tamis_image_size(f);
    void *image = malloc(*size);
    assert_non_null(image);
    REQUIRE_OK(tamis_serialize(f, image, *size));
    tamis_free(f);
    return image;
}

static void test_images(void **state) {
    (void)state;
    sql_cache cache = {.uses = 0};
    void *image[6];
    size_t size[6];
    uint64_t serial[6], again;
    const tamis *f;
    for (unsigned i = 0; i < 6; i++) {
        image[i] = image_of(1000 * i, &size[i]);
        REQUIRE_OK(sql_cache_open(&cache, image[i], size[i], NULL, &f, &serial[i]));
        assert_true(tamis_has_u64(f, 1000 * i + 99));
        assert_int_equal(serial[i], i + 1);
    }
    for (unsigned i = 2; i < 6; i++) { /* the four of last are open */
        REQUIRE_OK(sql_cache_open(&cache, image[i], size[i], NULL, &f, &again));
        assert_int_equal(again, serial[i]);
    }
    REQUIRE_OK(sql_cache_open(&cache, image[0], size[0], NULL, &f, &again));
    assert_int_equal(again, 7); /* in place of 2, the oldest */
    REQUIRE_OK(sql_cache_open(&cache, image[3], size[3], NULL, &f, &again));
    assert_int_equal(again, serial[3]);
    REQUIRE_OK(sql_cache_open(&cache, image[2], size[2], NULL, &f, &again));
    assert_int_equal(again, 8);
    assert_int_equal(sql_cache_open(&cache, image[0], size[0] - 1, NULL, &f, &again),
                     TAMIS_CORRUPT);
    assert_null(f);
    assert_int_equal(sql_cache_open(&cache, image[0], 10, NULL, &f, NULL), TAMIS_CORRUPT);
    ((char *)image[1])[10] ^= 1; /* of the header */
    assert_int_not_equal(sql_cache_open(&cache, image[1], size[1], NULL, &f, NULL), TAMIS_OK);
    sql_cache_clear(&cache);
    ((char *)image[0])[size[0] - 1] ^= 1; /* nothing is open that could answer for it */
    assert_int_equal(sql_cache_open(&cache, image[0], size[0], NULL, &f, NULL), TAMIS_CORRUPT);
    for (unsigned i = 0; i < 6; i++) free(image[i]);
}

static void test_images_within_a_limit(void **state) {
    (void)state;
    sql_cache cache = {.uses = 0};
    size_t size;
    uint64_t serial, again;
    const tamis *f;
    void *one = image_of(0, &size), *other = image_of(500, &size);
    cache.max_bytes = 2 * size - 1;
    REQUIRE_OK(sql_cache_open(&cache, one, size, NULL, &f, &serial));
    REQUIRE_OK(sql_cache_open(&cache, other, size, NULL, &f, &serial));
    REQUIRE_OK(sql_cache_open(&cache, one, size, NULL, &f, &again));
    assert_int_equal(again, 3);
    cache.max_bytes = 2 * size;
    REQUIRE_OK(sql_cache_open(&cache, other, size, NULL, &f, &again));
    REQUIRE_OK(sql_cache_open(&cache, one, size, NULL, &f, &again));
    assert_int_equal(again, 3);
    sql_cache_clear(&cache);
    free(one);
    free(other);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void test_paths(void **state) {
    (void)state;
    static const char *const bad[] = {"", ".", "..", ".a", "a/b", "/a", "../a", "a/"};
    char path[SQL_MAX_PATH + 1], name[SQL_MAX_NAME + 2], directory[SQL_MAX_PATH + 1];
    sql_why why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sql_path_in("/d", bad[i], path, &why), TAMIS_INVALID);
    REQUIRE_OK(sql_path_in("/d", "a..b", path, &why));
    assert_string_equal(path, "/d/a..b");
    memset(name, 'n', sizeof name);
    name[SQL_MAX_NAME] = '\0';
    REQUIRE_OK(sql_path_in("/d", name, path, &why));
    name[SQL_MAX_NAME] = 'n';
    name[SQL_MAX_NAME + 1] = '\0';
    assert_int_equal(sql_path_in("/d", name, path, &why), TAMIS_INVALID);
    memset(directory, 'd', sizeof directory);
    directory[SQL_MAX_PATH - 2] = '\0';
    REQUIRE_OK(sql_path_in(directory, "a", path, &why));
    assert_int_equal(strlen(path), SQL_MAX_PATH);
    assert_int_equal(sql_path_in(directory, "ab", path, &why), TAMIS_INVALID);
}

static bool has(sql_names *names, const char *name, uint64_t key) {
    sql_opened *opened;
    sql_why why = {.sentence = ""};
    if (sql_names_find(names, name, &opened, &why)) fail_msg("%s: %s", name, why.sentence);
    const bool is_there = tamis_has_u64(sql_opened_filter(opened), key);
    sql_opened_drop(opened);
    return is_there;
}

static void test_names(void **state) {
    (void)state;
    char long_name[SQL_MAX_NAME + 2];
    sql_names *names;
    sql_opened *held;
    sql_why why;
    REQUIRE_OK(sql_names_create(&names, NULL, NULL));
    REQUIRE_OK(sql_names_put(names, "a", filter_of(0), &why));
    REQUIRE_OK(sql_names_put(names, "b", filter_of(500), &why));
    assert_true(has(names, "a", 0) && !has(names, "a", 500) && has(names, "b", 500));
    REQUIRE_OK(sql_names_find(names, "a", &held, &why));
    REQUIRE_OK(sql_names_put(names, "a", filter_of(900), &why));
    assert_true(has(names, "a", 900) && !has(names, "a", 0));
    assert_true(sql_names_drop(names, "a"));
    assert_false(sql_names_drop(names, "a"));
    assert_true(tamis_has_u64(sql_opened_filter(held), 0)); /* whoever holds it has it still */
    sql_opened *missing;
    assert_int_equal(sql_names_find(names, "a", &missing, &why), TAMIS_NOT_FOUND);
    assert_null(missing);
    assert_non_null(strstr(why.sentence, "no directory"));
    assert_int_equal(sql_names_open(names, "f.tamis", NULL, &why), TAMIS_UNSUPPORTED);
    memset(long_name, 'n', sizeof long_name);
    long_name[SQL_MAX_NAME + 1] = '\0';
    assert_int_equal(sql_names_put(names, long_name, filter_of(0), &why), TAMIS_INVALID);
    assert_int_equal(sql_names_put(names, "", filter_of(0), &why), TAMIS_INVALID);
    assert_int_equal(sql_names_find(names, long_name, &missing, &why), TAMIS_NOT_FOUND);
    sql_names_free(names);
    sql_opened_drop(sql_opened_hold(held));
    sql_opened_drop(held);
    sql_opened_drop(NULL);
    sql_names_free(NULL);
}

static void save(const char *directory, const char *name, uint64_t first) {
    char path[SQL_MAX_PATH + 1];
    tamis *f = filter_of(first);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    REQUIRE_OK(tamis_save(f, path));
    tamis_free(f);
}

static void test_files(void **state) {
    (void)state;
    char directory[TEST_FOLDER_BYTES];
    char path[SQL_MAX_PATH + 1], link_path[SQL_MAX_PATH + 1];
    sql_names *names;
    sql_opened *held;
    sql_why why;
    assert_true(test_enter_dir(directory));
    save(directory, "f.tamis", 0);
    REQUIRE_OK(sql_names_create(&names, directory, NULL));
    assert_true(has(names, "f.tamis", 0));
    REQUIRE_OK(sql_names_find(names, "f.tamis", &held, &why));
    REQUIRE_OK(sql_names_open(names, "f.tamis", "mine", &why));
    save(directory, "f.tamis", 700); /* another file by that name */
    assert_true(has(names, "f.tamis", 700) && !has(names, "f.tamis", 0));
    assert_true(has(names, "mine", 700));
    assert_true(tamis_has_u64(sql_opened_filter(held), 0));
    sql_opened_drop(held);
    REQUIRE_OK(
        sql_names_put(names, "f.tamis", filter_of(300), &why)); /* a name goes before files */
    assert_true(has(names, "f.tamis", 300));
    snprintf(link_path, sizeof link_path, "%s/l.tamis", directory);
    assert_int_equal(symlink("f.tamis", link_path), 0);
    assert_int_equal(sql_names_find(names, "l.tamis", &held, &why), TAMIS_INVALID);
    assert_int_equal(sql_names_find(names, "none", &held, &why), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(sql_names_find(names, "../f.tamis", &held, &why), TAMIS_INVALID);
    snprintf(path, sizeof path, "%s/f.tamis", directory);
    FILE *damaged = fopen(path, "r+b");
    assert_non_null(damaged);
    assert_int_equal(fputc('X', damaged), 'X');
    assert_int_equal(fclose(damaged), 0);
    assert_int_equal(sql_names_find(names, "mine", &held, &why), TAMIS_CORRUPT);
    assert_int_equal(remove(path), 0);
    assert_int_equal(sql_names_find(names, "mine", &held, &why), TAMIS_IO);
    assert_null(held);
    sql_names_free(names);
    assert_int_equal(test_leave_dir(directory), 0);
}

/* ---- Memory --------------------------------------------------------------------------------- */

typedef struct purse {
    size_t left, taken;
} purse;

static void *take(void *ctx, size_t size) {
    purse *p = ctx;
    if (p->left == 0) return NULL;
    p->left--;
    p->taken++;
    return malloc(size);
}

static void give(void *ctx, void *memory, size_t size) {
    purse *p = ctx;
    (void)size;
    p->taken--;
    free(memory);
}

static void test_without_memory(void **state) {
    (void)state;
    char directory[TEST_FOLDER_BYTES];
    assert_true(test_enter_dir(directory));
    save(directory, "f.tamis", 0);
    bool is_done = false;
    for (size_t n = 0; !is_done; n++) {
        purse p = {.left = n};
        const struct tamis_allocator allocator = {.alloc = take, .free = give, .ctx = &p};
        struct tamis_options options = TAMIS_OPTIONS_INIT;
        sql_names *names;
        sql_opened *found = NULL;
        sql_why why;
        options.allocator = &allocator;
        tamis_status rc = sql_names_create(&names, directory, &options);
        if (!rc) rc = sql_names_find(names, "f.tamis", &found, &why);
        if (!rc) rc = sql_names_put(names, "b", filter_of(0), &why);
        is_done = !rc;
        assert_true(is_done || rc == TAMIS_NOMEM);
        sql_opened_drop(found);
        sql_names_free(names);
        assert_int_equal(p.taken, 0);
        assert_in_range(n, 0, 100);
    }
    assert_int_equal(test_leave_dir(directory), 0);
}

/* ---- Specs ---------------------------------------------------------------------------------- */

static void test_demands(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        bool has_capacity, has_secret, goes_straight;
    } specs[] = {
        {"blocked", false, false, false},
        {"capacity=10", true, false, true},
        {"blocked:capacity=10,fpr=1%", true, false, true},
        {"blocked:capacity=10,hash=sip13", true, true, false},
        {"fuse:fpr=1%", false, false, false},
        {"fuse:capacity=10", true, false, false},
        {"counting:capacity=10", true, false, false},
        {"guava:capacity=10", true, false, false},
    };
    sql_demand demand;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        REQUIRE_OK(sql_demand_of(specs[i].spec, &demand));
        assert_int_equal(demand.has_capacity, specs[i].has_capacity);
        assert_int_equal(demand.has_secret, specs[i].has_secret);
        if (demand.goes_straight != specs[i].goes_straight) fail_msg("%s", specs[i].spec);
    }
    assert_int_not_equal(sql_demand_of("blocked:capacity", &demand), TAMIS_OK);
    REQUIRE_OK(sql_demand_of("nosuch:capacity=1", &demand)); /* for the library to refuse */
    assert_int_equal(demand.abilities, 0);
}

static void test_json(void **state) {
    (void)state;
    tamis *f = filter_of(0);
    char text[2048], part[40], words[SQL_ABILITIES_ROOM];
    REQUIRE_OK(tamis_set_note(f, "encoding", "a\"\\\n"));
    const size_t len = sql_info_json(f, text, sizeof text);
    assert_int_equal(strlen(text), len);
    assert_memory_equal(text, "{\"kind\": \"blocked\", \"spec\": \"blocked:capacity=100", 48);
    assert_non_null(strstr(text, "\"items\": 100, "));
    assert_non_null(strstr(text, "\"encoding\": \"a\\\"\\\\\\u000a\", "));
    assert_non_null(strstr(text, "\"abilities\": [\"add\", \"union\", "));
    assert_non_null(strstr(text, "\"is_saturated\": false"));
    assert_int_equal(sql_info_json(f, part, sizeof part), len);
    assert_int_equal(strlen(part), sizeof part - 1);
    assert_int_equal(sql_info_json(f, NULL, 0), len);
    sql_abilities(TAMIS_CAN_ADD | TAMIS_CAN_TICK, words, sizeof words);
    assert_string_equal(words, "add, tick");
    sql_abilities(0, words, sizeof words);
    assert_string_equal(words, "");
    sql_abilities(~0U, words, sizeof words);
    assert_in_range(strlen(words), 1, sizeof words - 2);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),  cmocka_unit_test(test_images_within_a_limit),
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_files),   cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_demands), cmocka_unit_test(test_json),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
