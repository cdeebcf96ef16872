/* SPDX-License-Identifier: MIT */
/* Many keys in one call, by bins and by threads: the same bytes and answers as key by key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bulk.h"
#include "core/radix.h"
#include "tamis_engine.h"
#include "tests/support/building.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/temp_dir.h"

#define MIB ((uint64_t)1 << 20)

/* ---- Helpers -------------------------------------------------------------------------------- */

/* Bins that overflow many times with a few thousand keys. */
static const tamis_bulk_rule small = {
    .min_deep = 16, .slice = 1024, .max_bits = 4, .max_scratch = 16 * 1024, .piece = 100};

static const char *const specs[] = {
    "blocked:size=16K,capacity=12000,hashes=8", "blocked:size=20032,capacity=9000,hashes=16",
    "blocked:size=17K,capacity=9000,hashes=3", "split:size=16K,capacity=9000,index=parquet",
    "split:size=19040,capacity=9000,index=wide"};
enum { SPECS = sizeof specs / sizeof *specs };

/* Hashes that are mixed, rising, all in one bin, at one slice boundary, or equal. */
enum { MIXED, RISING, ONE_BIN, BORDER, ONE_HASH, FORMS };

static uint64_t hash_at(int form, uint64_t i) {
    switch (form) {
    case RISING: return i << 49;
    case ONE_BIN: return (uint64_t)9 << 60 | test_number(1, i) >> 4;
    case BORDER: return ((uint64_t)5 << 60) + (test_number(1, i) >> 20) - ((uint64_t)1 << 43);
    case ONE_HASH: return 0x123456789abcdef0;
    default: return test_number(1, i);
    }
}

static uint64_t *hashes_of(int form, size_t n) {
    uint64_t *hash = malloc((n + 1) * sizeof *hash);
    for (size_t i = 0; i < n; i++) hash[i] = hash_at(form, i);
    return hash;
}

static uint64_t *numbers(size_t n) {
    uint64_t *number = malloc((n + 1) * sizeof *number);
    for (size_t i = 0; i < n; i++) number[i] = i * 3;
    return number;
}

/* One where bins pay from 16 MiB on. */
static void take_usual_machine(void) {
    tamis__cpu_set(TAMIS_CPU_ALL & ~TAMIS_CPU_PRODUCTS);
#ifndef TAMIS_PLAIN
    for (unsigned c = 0; c < TAMIS_CACHES; c++) tamis__cache_set(c, 0);
#endif
}

/* ---- The same bytes ------------------------------------------------------------------------- */

static void compare_bulk(const char *spec, int form, size_t n, unsigned threads) {
    tamis *direct = test_make("%s", spec), *bulk = test_copy(direct);
    uint64_t *hash = hashes_of(form, n);
    bulk->threads = threads;
    for (size_t i = 0; i < n; i++) REQUIRE_OK(tamis_add_hash(direct, hash[i]));
    if (!tamis__bulk_add(bulk, (tamis_keys){.hashes = hash}, n, &small))
        REQUIRE_OK(tamis_add_hashes(bulk, hash, n)); /* too few for bins */
    else
        assert_true(n > 100);
    if (!test_is_same_payload(direct, bulk))
        fail_msg("%s, form %d, %zu keys, %u threads: other bytes", spec, form, n, threads);
    free(hash);
    tamis_free(direct);
    tamis_free(bulk);
}

static void order_leaves_no_trace(void **state) {
    (void)state;
    static const size_t counts[] = {0,    1,    15,   16,   17,   99,   100,  101,  200,
                                    255,  256,  257,  300,  1023, 1999, 2000, 2001, 2047,
                                    2048, 2049, 4095, 4096, 4097, 7777, 12000};
    static const unsigned threads[] = {0, 1, 2, 3, 7};
    for (size_t s = 0; s < SPECS; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
                for (int form = 0; form < FORMS; form++)
                    compare_bulk(specs[s], form, counts[c], threads[t]);
}

/* The rule decides; this makes sure that the comparisons above use bins. */
static void bins_are_used_when_they_should_be(void **state) {
    (void)state;
    tamis *f = test_make("%s", specs[0]), *other = test_make("classic:size=16K,capacity=9000");
    tamis_bulk_rule rule = small;
    assert_null(tamis__bulk_open(other, 1 << 20, UINT64_MAX, 1, &rule)); /* has no units */
    assert_null(tamis__bulk_open(f, 1 << 20, 1024, 1, &rule));           /* too little memory */
    assert_null(tamis__bulk_open(f, 100, UINT64_MAX, 1, &rule));         /* too few keys */
    for (unsigned threads = 1; threads < 300; threads += 60) {
        rule.max_scratch = 64 * 16 * 1024;
        tamis_bulk *b = tamis__bulk_open(f, 1 << 20, UINT64_MAX, threads, &rule);
        assert_non_null(b); /* fewer threads, and no more memory than the payload */
        assert_true(tamis__bulk_memory(b) < 16 * 1024 + 24 * 1024);
        tamis__bulk_free(b);
    }
    rule.keys_per_kib = 1000;
    assert_null(tamis__bulk_open(f, 15999, UINT64_MAX, 1, &rule));
    tamis__bulk_free(tamis__bulk_open(f, 16000, UINT64_MAX, 1, &rule));
    rule.min_payload = 16 * 1024 + 1;
    assert_null(tamis__bulk_open(f, 16000, UINT64_MAX, 1, &rule));
    tamis_bulk *b = tamis__bulk_open(f, 16000, UINT64_MAX, 2, &rule);
    assert_non_null(b);
    assert_true(tamis__bulk_memory(b) >= 8 * 1024 && tamis__bulk_memory(NULL) == 0);
    tamis__bulk_free(b);
    tamis__bulk_close(NULL);
    tamis_free(f);
    tamis_free(other);
}

/* Keys in bins that are not closed are lost; keys from many calls are all there. */
static void bins_wait_between_calls(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        tamis *direct = test_make("%s", specs[0]), *f = test_copy(direct), *none = test_copy(f);
        tamis_bulk *b = tamis__bulk_open(f, 12000, UINT64_MAX, threads, &small);
        tamis_bulk *lost = tamis__bulk_open(f, 12000, UINT64_MAX, threads, &small);
        uint64_t *number = numbers(12000);
        for (size_t at = 0, n = 0; at < 12000; at += n, n = n * 7 % 1001 + 1) {
            if (n > 12000 - at) n = 12000 - at;
            tamis__bulk_put(b, (tamis_keys){.numbers = number + at}, n);
        }
        for (size_t i = 0; i < 12000; i++) REQUIRE_OK(tamis_add_u64(direct, number[i]));
        tamis__bulk_put(lost, (tamis_keys){.numbers = number}, 10);
        tamis__bulk_free(lost);
        assert_false(test_is_same_payload(f, none)); /* some bins were full */
        assert_false(test_is_same_payload(f, direct));
        tamis__bulk_close(b);
        assert_true(test_is_same_payload(f, direct));
        free(number);
        tamis_free(direct);
        tamis_free(f);
        tamis_free(none);
    }
}

/* ---- What kinds promise --------------------------------------------------------------------- */

/* The first and last byte that an add changes in an empty body; false if it changes none. */
static bool changed(tamis *f, uint64_t hash, uint64_t *first, uint64_t *last) {
    tamis_body *body = &f->image.body;
    memset(body->bytes, 0, (size_t)body->size);
    assert_int_equal(f->kind->add(body, tamis__hashes(&hash, 1)), TAMIS_OK);
    *first = body->size;
    for (uint64_t i = 0; i < body->size; i++)
        if (body->bytes[i]) {
            if (*first == body->size) *first = i;
            *last = i;
        }
    return *first < body->size;
}

static void units_are_what_kinds_say(void **state) {
    (void)state;
    size_t kinds = 0;
    for (size_t k = 0; k < tamis__kind_count(); k++)
        kinds += TAMIS_ENTRY(tamis__kind_at(k)->kind, speed, unit) != 0;
    assert_int_equal(kinds, 2); /* add new kinds to the specs */
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = test_make("%s", specs[s]);
        const uint64_t unit = f->kind->speed->unit;
        assert_true(unit % 8 == 0 && !f->kind->room);
        uint64_t before = 0, first = 0, last = 0;
        for (uint64_t i = 0; i < 4000; i++) {
            /* Rising, with mixed low bits. */
            const uint64_t hash = i * (UINT64_MAX / 4000) + (test_number(2, i) >> 12);
            assert_true(changed(f, hash, &first, &last));
            assert_int_equal(first / unit, last / unit);
            assert_true(first / unit >= before);
            before = first / unit;
        }
        tamis_free(f);
    }
}

/* ---- Through the API ------------------------------------------------------------------------ */

/* Just enough keys and payload for bins by the default rule. */
enum { MANY = 16 * 1024 * 128 + 3 };
static const char large[] = "blocked:size=16M,capacity=3M";

static tamis *make_with(const char *spec, unsigned threads, const struct tamis_allocator *a) {
    const struct tamis_options options = {
        .struct_size = sizeof options, .threads = threads, .allocator = a};
    tamis *f;
    REQUIRE_OK(tamis_create_with(&f, spec, &options));
    return f;
}

static void bulk_adds_work_without_scratch_memory(void **state) {
    (void)state;
    uint64_t *number = numbers(MANY);
    tamis *direct = test_make("%s", large);
    for (size_t i = 0; i < MANY; i++) REQUIRE_OK(tamis_add_u64(direct, number[i]));
    for (int fails = 0; fails < 2; fails++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            test_failing_allocator failing = {0};
            const struct tamis_allocator allocator = test_allocator(&failing);
            tamis *f = make_with(large, threads, &allocator);
            const size_t before = failing.bytes;
            const long calls = failing.calls;
            if (fails) failing.fail_at = calls + 1, failing.for_ever = true;
            REQUIRE_OK(tamis_add_u64s(f, number, MANY));
            assert_int_equal(failing.calls, calls + 1); /* requested once */
            assert_int_equal(failing.bytes, before);
            assert_true(failing.max_bytes < 16 * MIB * 9 / 4);
            assert_int_equal(test_info(f).items, MANY);
            assert_true(test_is_same_image(f, direct));
            tamis_free(f);
            assert_int_equal(failing.blocks, 0);
        }
    free(number);
    tamis_free(direct);
}

static void all_entry_points_use_bins(void **state) {
    (void)state;
    uint64_t *number = numbers(MANY), *hash = malloc(MANY * sizeof *hash);
    struct tamis_key *key = malloc(MANY * sizeof *key);
    uint8_t(*text)[8] = malloc(MANY * sizeof *text);
    tamis *a = make_with(large, 1, NULL), *b = test_copy(a), *c = test_copy(a);
    tamis_hash_u64s(a, number, MANY, hash);
    for (size_t i = 0; i < MANY; i++) {
        for (int j = 0; j < 8; j++) text[i][j] = (uint8_t)(number[i] >> 8 * j);
        key[i] = (struct tamis_key){text[i], 8};
    }
    REQUIRE_OK(tamis_add_u64s(a, number, MANY));
    REQUIRE_OK(tamis_add_hashes(b, hash, MANY));
    REQUIRE_OK(tamis_add_many(c, key, MANY));
    assert_true(test_is_same_image(a, b) && test_is_same_image(a, c));
    for (size_t i = 0; i < MANY; i += 13) assert_true(tamis_has_u64(a, number[i]));
    free(number), free(hash), free(key), free(text);
    tamis_free(a), tamis_free(b), tamis_free(c);
}

/* The builder, with calls of all sizes; its limit includes bins. */
static void builders_use_bins(void **state) {
    (void)state;
    static const uint64_t limits[] = {0, MIB, 3 * MIB, 64 * MIB};
    uint64_t *number = numbers(MANY);
    tamis *direct = test_make("%s", large);
    REQUIRE_OK(tamis_add_u64s(direct, number, MANY));
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            test_failing_allocator failing = {0};
            const struct tamis_allocator allocator = test_allocator(&failing);
            const struct tamis_options fo = {.struct_size = sizeof fo, .allocator = &allocator};
            const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                          .filter = &fo,
                                                          .threads = threads,
                                                          .memory_limit = limits[l]};
            tamis_builder *b;
            REQUIRE_OK(tamis_builder_create_with(&b, large, &options));
            for (size_t at = 0, n = 0; at < MANY; at += n, n = n * 11 % 300007 + 1) {
                if (n > MANY - at) n = MANY - at;
                REQUIRE_OK(tamis_builder_add_u64s(b, number + at, n));
            }
            tamis *f = test_finish(b);
            assert_true(test_is_same_image(f, direct));
            if (limits[l]) assert_true(failing.max_bytes <= 16 * MIB + 4096 + limits[l]);
            tamis_free(f);
            assert_int_equal(failing.blocks, 0);
        }
    free(number);
    tamis_free(direct);
}

/* A view refuses them, and an overflow of items adds nothing. */
static void bulk_adds_are_refused_too(void **state) {
    (void)state;
    uint64_t *number = numbers(MANY);
    tamis *f = test_make("%s", large);
    test_view view = test_view_at(f, 0);
    assert_int_equal(tamis_add_u64s(view.filter, number, MANY), TAMIS_READONLY);
    test_end_view(&view);
    f->image.body.items = UINT64_MAX - 5;
    assert_int_equal(tamis_add_u64s(f, number, MANY), TAMIS_FULL);
    assert_int_equal(tamis_add_hashes(f, number, MANY), TAMIS_FULL);
    for (size_t i = 0; i < 16 * MIB; i += 8) assert_int_equal(f->image.body.bytes[i], 0);
    free(number);
    tamis_free(f);
}

/* ---- Sorted adds ---------------------------------------------------------------------------- */

/* Numbers of which one has a high bit, that have few values, or that fall. */
enum { FAR = FORMS, DISTINCT_7, FALLING, SORTED_FORMS };

static uint64_t number_at(int form, uint64_t i, uint64_t n) {
    switch (form) {
    case FAR: return (test_number(1, i) & 0xfffff) | (uint64_t)(i == n / 2) << 63;
    case DISTINCT_7: return test_number(1, i % 7);
    case FALLING: return ~(i << 40);
    default: return hash_at(form, i);
    }
}

static int compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void sort_like_qsort(int form, uint64_t n) {
    uint64_t(*model)[2] = malloc((n + 1) * sizeof *model);
    uint64_t *pair = malloc((4 * n + 1) * sizeof *pair), *hash = malloc((2 * n + 1) * sizeof *hash);
    for (uint64_t i = 0; i < n; i++) {
        model[i][0] = hash[i] = pair[2 * i] = number_at(form, i, n);
        model[i][1] = pair[2 * i + 1] = test_number(2, i % (n / 2 + 1)) % 1000;
    }
    qsort(model, n, sizeof *model, compare);
    const uint64_t *x = tamis__sort_hashes(hash, hash + n, n);
    const uint64_t *y = tamis__sort_pairs(pair, pair + 2 * n, n);
    for (uint64_t i = 0; i < n; i++)
        if (x[i] != model[i][0] || y[2 * i] != model[i][0] || y[2 * i + 1] != model[i][1])
            fail_msg("form %d, %llu records: the %llu-th is out of order", form,
                     (unsigned long long)n, (unsigned long long)i);
    free(model), free(pair), free(hash);
}

static void any_numbers_are_sorted(void **state) {
    (void)state;
    static const uint64_t counts[] = {0,    1,    2,     23,    24,    25,    63,    64,    65,
                                      2047, 2048, 32767, 32768, 32769, 65535, 65536, 65537, 200000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int form = 0; form < SORTED_FORMS; form++) sort_like_qsort(form, counts[c]);
}

/* In one call, around the count from which adds are sorted, with and without memory. */
static void sorted_adds_equal_single_adds(void **state) {
    (void)state;
    static const char *const kinds[] = {"quotient:capacity=10000", "multiset:capacity=10000"};
    static const size_t counts[] = {4095, 4096, 4097, 9000};
    for (size_t w = 0; w < 2; w++)
        for (size_t c = 0; c < 4; c++)
            for (int fails = 0; fails < 2; fails++) {
                test_failing_allocator failing = {0};
                const struct tamis_allocator allocator = test_allocator(&failing);
                tamis *f = make_with(kinds[w], 1, &allocator);
                tamis *direct = make_with(kinds[w], 1, NULL);
                uint64_t *hash = hashes_of(MIXED, 40000);
                assert_true(f->kind->speed->prefers_sorted);
                for (size_t i = 0; i < counts[c]; i++) REQUIRE_OK(tamis_add_hash(direct, hash[i]));
                if (fails) failing.fail_at = failing.calls + 1, failing.for_ever = true;
                REQUIRE_OK(tamis_add_hashes(f, hash, counts[c]));
                failing.fail_at = 0;
                assert_true(test_is_same_image(f, direct));
                assert_int_equal(tamis_add_hashes(f, hash, 40000), TAMIS_FULL);
                assert_true(test_is_same_image(f, direct)); /* all or none */
                free(hash);
                tamis_free(f);
                tamis_free(direct);
                assert_int_equal(failing.blocks, 0);
            }
}

/* ---- Queries on several threads ------------------------------------------------------------- */

enum { ASKED = 3 * (1 << 17) + 5 };

static void compare_answers(tamis *f, size_t n) {
    uint64_t *number = numbers(n), *hash = malloc((n + 1) * sizeof *hash);
    struct tamis_key *key = malloc((n + 1) * sizeof *key);
    uint8_t(*text)[8] = malloc((n + 1) * sizeof *text), *one = malloc(n + 1), *many = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 8; j++) text[i][j] = (uint8_t)(number[i] >> 8 * j);
        key[i] = (struct tamis_key){text[i], 8};
    }
    tamis_hash_u64s(f, number, n, hash);
    for (unsigned threads = 2; threads <= 7; threads = threads * 2 - 1) {
        many[n] = 7;
        f->threads = 0;
        tamis_has_u64s(f, number, n, one);
        f->threads = threads;
        memset(many, 3, n);
        tamis_has_u64s(f, number, n, many);
        assert_memory_equal(one, many, n);
        memset(many, 3, n);
        tamis_has_many(f, key, n, many);
        assert_memory_equal(one, many, n);
        if (tamis__hashes_itself(f->kind)) memset(one, 1, n);
        memset(many, 3, n);
        tamis_has_hashes(f, hash, n, many);
        assert_memory_equal(one, many, n);
        assert_int_equal(many[n], 7);
    }
    free(number), free(hash), free(key), free(text), free(one), free(many);
}

static void threads_answer_as_one(void **state) {
    (void)state;
    static const char *const asked[] = {"blocked:capacity=20000", "classic:capacity=20000",
                                        "fnv:capacity=20000"};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        tamis *f = test_make("%s", asked[k]);
        for (uint64_t i = 0; i < 20000; i++) REQUIRE_OK(tamis_add_u64(f, i * 7));
        compare_answers(f, ASKED);
        compare_answers(f, (1 << 17) - 1);
        compare_answers(f, 1 << 17);
        compare_answers(f, 0);
        tamis_free(f);
    }
}

static void handles_remember_threads(void **state) {
    (void)state;
    char dir[TEST_FOLDER_BYTES], path[128];
    assert_true(test_enter_dir(dir));
    snprintf(path, sizeof path, "%s/a.tamis", dir);
    const struct tamis_options options = {.struct_size = sizeof options, .threads = 5};
    const struct tamis_builder_options building = {.struct_size = sizeof building,
                                                   .filter = &options};
    tamis *made = make_with("blocked:capacity=100", 5, NULL), *f[7] = {made};
    size_t size;
    uint8_t *image = test_image(made, &size);
    REQUIRE_OK(tamis_save(made, path));
    REQUIRE_OK(tamis_copy(&f[1], made));
    REQUIRE_OK(tamis_load_with(&f[2], image, size, &options));
    REQUIRE_OK(tamis_view_with(&f[3], image, size, &options));
    REQUIRE_OK(tamis_map_with(&f[4], path, &options));
    REQUIRE_OK(tamis_read_with(&f[5], path, &options));
    tamis_builder *b;
    REQUIRE_OK(tamis_builder_create_with(&b, "fuse", &building));
    REQUIRE_OK(tamis_builder_add_u64(b, 1));
    f[6] = test_finish(b);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(f[i]->threads, 5);
        tamis_free(f[i]);
    }
    free(image);
    assert_int_equal(test_leave_dir(dir), 0);
}

/* Where bins pay follows the third cache, and how many there are the second. */
static void bins_follow_the_caches(void **state) {
    (void)state;
#ifndef TAMIS_PLAIN
    tamis *f = test_make("%s", large);
    tamis_bulk *b = tamis__bulk_open(f, MANY, UINT64_MAX, 1, &tamis__bulk_rule);
    const uint64_t memory = tamis__bulk_memory(b);
    tamis__bulk_free(b);
    assert_true(memory > 0);
    tamis__cache_set(TAMIS_CACHE_3, 33 * MIB);
    assert_null(tamis__bulk_open(f, MANY, UINT64_MAX, 1, &tamis__bulk_rule));
    b = tamis__bulk_open(f, MANY, UINT64_MAX, 2, &tamis__bulk_rule); /* threads need them */
    assert_non_null(b);
    tamis__bulk_free(b);
    take_usual_machine();
    tamis__cache_set(TAMIS_CACHE_2, 1); /* bins for slices of 32 KiB: eight times as many */
    b = tamis__bulk_open(f, MANY, UINT64_MAX, 1, &tamis__bulk_rule);
    assert_true(tamis__bulk_memory(b) != memory);
    tamis__bulk_free(b);
    take_usual_machine();
    tamis__cpu_set(TAMIS_CPU_ALL);
    tamis__cache_set(TAMIS_CACHE_3, 33 * MIB);
    for (unsigned threads = 1; tamis__cpu() & TAMIS_CPU_PRODUCTS && threads <= 3; threads++) {
        b = tamis__bulk_open(f, MANY, UINT64_MAX, threads, &tamis__bulk_rule);
        assert_int_equal(b != NULL, threads > 2);
        tamis__bulk_free(b);
    }
    take_usual_machine();
    tamis_free(f);
#endif
}

int main(void) {
    take_usual_machine();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_follow_the_caches),
        cmocka_unit_test(order_leaves_no_trace),
        cmocka_unit_test(bins_are_used_when_they_should_be),
        cmocka_unit_test(bins_wait_between_calls),
        cmocka_unit_test(units_are_what_kinds_say),
        cmocka_unit_test(bulk_adds_work_without_scratch_memory),
        cmocka_unit_test(all_entry_points_use_bins),
        cmocka_unit_test(builders_use_bins),
        cmocka_unit_test(bulk_adds_are_refused_too),
        cmocka_unit_test(any_numbers_are_sorted),
        cmocka_unit_test(sorted_adds_equal_single_adds),
        cmocka_unit_test(threads_answer_as_one),
        cmocka_unit_test(handles_remember_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
