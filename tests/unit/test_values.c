/* SPDX-License-Identifier: MIT */
/* Values in core: tamis_get, tamis_put and a builder's puts, on kinds with and without values. What
 * approximator makes of a value is tested in test_approximator.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

enum { UNTOUCHED = 4711 };

static bool why_says(const char *words) {
    return strstr(tamis_why(), words) != NULL;
}

/* ---- Kinds without values ------------------------------------------------------------------- */

static void assert_has_no_values(tamis *f) {
    const uint64_t hashes[3] = {tamis_hash(f, "cat", 3), 0, UINT64_MAX};
    uint64_t value = UNTOUCHED, values[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    uint8_t hit[3] = {9, 9, 9};
    assert_false(tamis_get(f, "cat", 3, &value));
    assert_false(tamis_get_u64(f, 7, &value));
    assert_false(tamis_get_hash(f, hashes[0], &value));
    tamis_get_hashes(f, hashes, 3, values, hit);
    assert_int_equal(value, UNTOUCHED);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hit[i], 0);
        assert_int_equal(values[i], UNTOUCHED);
    }
}

static void assert_refuses_values(tamis *f, const char *kind) {
    char sentence[128];
    tamis *before = test_copy(f);
    snprintf(sentence, sizeof sentence, "%s cannot set values", kind);
    assert_int_equal(tamis_put(f, "cat", 3, 1), TAMIS_UNSUPPORTED);
    assert_true(why_says(sentence));
    assert_int_equal(tamis_put_u64(f, 7, 0), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_put_hash(f, 7, UINT64_MAX), TAMIS_UNSUPPORTED);
    assert_true(test_is_same_image(f, before));
    tamis_free(before);
}

static void kinds_without_values_say_so(void **state) {
    (void)state;
    unsigned seen = 0;
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        tamis_kind_at(i, &kind);
        if (kind.abilities & (TAMIS_CAN_GET | TAMIS_IS_BUILT)) continue;
        if (!(kind.abilities & TAMIS_CAN_ADD)) continue;
        tamis *f = test_make("%s:capacity=100,fpr=1%%", kind.name);
        assert_int_equal(tamis_add(f, "cat", 3), TAMIS_OK); /* members have no value either */
        assert_has_no_values(f);
        assert_refuses_values(f, kind.name);
        tamis_free(f);
        seen++;
    }
    assert_true(seen >= 20);
}

/* ---- Getting and putting -------------------------------------------------------------------- */

static void a_key_a_number_and_a_hash_are_one(void **state) {
    (void)state;
    tamis *f = test_make("approximator:capacity=100,value=16");
    const uint8_t seven[8] = {7};
    uint64_t value = 0;
    assert_int_equal(tamis_put(f, "cat", 3, 300), TAMIS_OK);
    assert_int_equal(tamis_put_u64(f, 7, 301), TAMIS_OK);
    assert_int_equal(tamis_put_hash(f, tamis_hash(f, "", 0), 302), TAMIS_OK);
    assert_true(tamis_get_hash(f, tamis_hash(f, "cat", 3), &value));
    assert_int_equal(value, 300);
    assert_true(tamis_get(f, seven, sizeof seven, &value));
    assert_int_equal(value, 301);
    assert_true(tamis_get_u64(f, 7, &value));
    assert_int_equal(value, 301);
    assert_true(tamis_get(f, "", 0, &value));
    assert_int_equal(value, 302);
    assert_true(tamis_has(f, "cat", 3) && tamis_has_u64(f, 7));
    tamis_free(f);
}

static void many_are_asked_as_one_by_one(void **state) {
    (void)state;
    enum { N = 1000 };
    static uint64_t hash[N], value[N], one;
    static uint8_t hit[N];
    tamis *f = test_make("approximator:capacity=500,fpr=10%%,value=20");
    unsigned hits = 0;
    for (uint64_t i = 0; i < N; i++) {
        hash[i] = test_number(1, i);
        if (i % 2) assert_int_equal(tamis_put_hash(f, hash[i], i), TAMIS_OK);
    }
    for (size_t n = 0; n <= N; n += n < 70 ? 1 : 465) {
        memset(hit, 9, sizeof hit);
        for (size_t i = 0; i < N; i++) value[i] = UNTOUCHED;
        tamis_get_hashes(f, hash, n, value, hit);
        for (size_t i = 0; i < N; i++) {
            one = UNTOUCHED;
            assert_int_equal(hit[i], i < n ? tamis_get_hash(f, hash[i], &one) : 9);
            if (i < n) assert_int_equal(hit[i], tamis_has_hash(f, hash[i]));
            assert_int_equal(value[i], one);
            hits += n == N && hit[i];
        }
    }
    assert_in_range(hits, N / 2, N / 2 + 100); /* the odd ones, and a tenth of the others */
    tamis_free(f);
}

/* Every width: the largest value fits, the next is refused and changes nothing. */
static void values_too_large_are_refused(void **state) {
    (void)state;
    for (unsigned width = 1; width <= 64; width++) {
        const uint64_t top = UINT64_MAX >> (64 - width);
        tamis *f = test_make("approximator:capacity=10,value=%u", width);
        uint64_t value = 0;
        assert_int_equal(tamis_put(f, "cat", 3, top), TAMIS_OK);
        assert_true(tamis_get(f, "cat", 3, &value));
        assert_int_equal(value, top);
        tamis *before = test_copy(f);
        if (width < 64) {
            char sentence[128];
            snprintf(sentence, sizeof sentence, "value %llu is too large", 1ull << width);
            assert_int_equal(tamis_put(f, "dog", 3, top + 1), TAMIS_INVALID);
            assert_true(why_says(sentence) && why_says("approximator holds values from 0 to"));
            assert_int_equal(tamis_put_u64(f, 1, UINT64_MAX), TAMIS_INVALID);
        }
        assert_true(test_is_same_image(f, before));
        tamis_free(before);
        tamis_free(f);
    }
}

static void views_can_be_asked_and_not_changed(void **state) {
    (void)state;
    tamis *f = test_make("approximator:capacity=1000,value=13"), *view;
    size_t size;
    for (uint64_t i = 0; i < 1000; i++) assert_int_equal(tamis_put_u64(f, i, i * 8 + 1), TAMIS_OK);
    uint8_t *image = test_image(f, &size), *room = malloc(size + 8);
    assert_non_null(room);
    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(room + shift, image, size);
        assert_int_equal(tamis_view(&view, room + shift, size), TAMIS_OK);
        assert_int_equal(tamis_put_u64(view, 1, 1), TAMIS_READONLY);
        assert_int_equal(tamis_put_u64(view, 1, UINT64_MAX), TAMIS_READONLY);
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t here = UNTOUCHED, there = UNTOUCHED;
            assert_int_equal(tamis_get_u64(view, i, &there), tamis_get_u64(f, i, &here));
            assert_int_equal(here, there);
        }
        assert_memory_equal(room + shift, image, size);
        tamis_free(view);
    }
    free(room);
    free(image);
    tamis_free(f);
}

static void items_are_puts_and_adds(void **state) {
    (void)state;
    tamis *f = test_make("approximator:capacity=100");
    for (uint64_t i = 0; i < 5; i++) assert_int_equal(tamis_put_u64(f, 1, i), TAMIS_OK);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
    assert_int_equal(tamis_put_u64(f, 1, 1 << 20), TAMIS_INVALID);
    assert_int_equal(test_info(f).items, 8);
    assert_true(tamis_count_u64(f, 1) == 1 && tamis_count_u64(f, 50) == 0);
    tamis_free(f);
}

/* ---- Builders ------------------------------------------------------------------------------- */

/* Three puts of each key exceed the memory limit: some blocks are spilled. */
enum { KEYS = 400000, LIMIT = 64 << 20 };

static tamis_builder *builder_of(const char *spec, uint64_t memory_limit, unsigned threads,
                                 bool verify) {
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .memory_limit = memory_limit,
                                                  .threads = threads,
                                                  .verify = verify};
    tamis_builder *b;
    if (tamis_builder_create_with(&b, spec, &options)) fail_msg("%s: %s", spec, tamis_why());
    return b;
}

/* The i-th put of a stream: three per key, of different values, some of them 0; one key in sixteen
 * is added instead. */
static void put_ith(tamis_builder *b, uint64_t i) {
    const uint64_t key = test_number(2, i % KEYS), value = test_number(3, i) % 250;
    const uint64_t hash = tamis_builder_hash(b, &key, sizeof key);
    const tamis_status rc = i % 16 == 0  ? tamis_builder_add(b, &key, sizeof key)
                            : i % 2 == 0 ? tamis_builder_put_hash(b, hash, value)
                                         : tamis_builder_put(b, &key, sizeof key, value);
    assert_int_equal(rc, TAMIS_OK);
}

enum order { FORWARD, BACKWARD, SHUFFLED };

static tamis *built(const char *spec, enum order order, uint64_t memory_limit, unsigned threads) {
    tamis_builder *b = builder_of(spec, memory_limit, threads, true);
    const uint64_t n = 3 * KEYS;
    for (uint64_t i = 0; i < n; i++)
        put_ith(b, order == FORWARD    ? i
                   : order == BACKWARD ? n - 1 - i
                                       : i * 7919 % n); /* a prime that does not divide n */
    return test_finish(b);
}

/* Straight into the filter, or counted first; forwards, backwards, shuffled; spilled or not. */
static void bytes_do_not_depend_on_the_way(void **state) {
    (void)state;
    static const char *const options[] = {"", ",lattice=or,value=11"};
    for (size_t o = 0; o < 2; o++) {
        char counted[96], straight[96];
        snprintf(counted, sizeof counted, "approximator:fpr=1%%%s", options[o]);
        snprintf(straight, sizeof straight, "approximator:capacity=%d,fpr=1%%%s", KEYS, options[o]);
        tamis *first = built(counted, FORWARD, 0, 1);
        tamis *others[] = {built(counted, BACKWARD, 0, 2), built(counted, SHUFFLED, LIMIT, 2),
                           built(straight, FORWARD, 0, 1), built(straight, SHUFFLED, LIMIT, 2)};
        assert_int_equal(test_info(first).capacity, KEYS); /* keys, not puts */
        assert_int_equal(test_info(first).items, 3 * KEYS);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            assert_true(test_is_same_image(first, others[i]));
            tamis_free(others[i]);
        }
        tamis_free(first);
    }
}

/* Large enough (a payload over 1 MiB) for adds to be buffered, beside puts that are not. */
static void waiting_adds_and_puts_mix(void **state) {
    (void)state;
    tamis_builder *b = builder_of("approximator:capacity=200k,fpr=1%", 0, 1, false);
    tamis *f = test_make("approximator:capacity=200k,fpr=1%%");
    for (uint64_t i = 0; i < 300000; i++) {
        const uint64_t hash = test_number(4, i % 200000);
        const bool is_add = i % 3 == 0;
        assert_int_equal(is_add ? tamis_builder_add_hash(b, hash)
                                : tamis_builder_put_hash(b, hash, i % 256),
                         TAMIS_OK);
        assert_int_equal(is_add ? tamis_add_hash(f, hash) : tamis_put_hash(f, hash, i % 256),
                         TAMIS_OK);
    }
    tamis *g = test_finish(b);
    assert_true(test_is_same_image(f, g));
    tamis_free(f);
    tamis_free(g);
}

static void builders_refuse_what_filters_refuse(void **state) {
    (void)state;
    static const char *const specs[] = {"approximator:value=4", "approximator:capacity=9,value=4"};
    for (size_t i = 0; i < 2; i++) {
        tamis_builder *b = builder_of(specs[i], 0, 1, true);
        uint64_t value = 0;
        tamis *f, *none = NULL;
        assert_int_equal(tamis_builder_put(b, "cat", 3, 16), TAMIS_INVALID);
        assert_true(why_says("value 16 is too large"));
        assert_int_equal(tamis_builder_put_hash(b, 1, UINT64_MAX), TAMIS_INVALID);
        assert_int_equal(tamis_builder_exclude(b, "cat", 3), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_builder_label(b, "red"), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_builder_put(b, "cat", 3, 15), TAMIS_OK);
        assert_int_equal(tamis_builder_add(b, "dog", 3), TAMIS_OK);
        assert_int_equal(tamis_builder_put(b, "gnu", 3, 0), TAMIS_OK); /* stores nothing */
        assert_int_equal(tamis_builder_finish(b, &f), TAMIS_OK);
        assert_int_equal(tamis_builder_put(b, "owl", 3, 1), TAMIS_INVALID);
        assert_true(why_says("finished"));
        assert_int_equal(tamis_builder_finish(b, &none), TAMIS_INVALID);
        assert_null(none);
        assert_int_equal(test_info(f).items, 3);
        assert_true(tamis_get(f, "cat", 3, &value) && value == 15);
        assert_true(tamis_get(f, "dog", 3, &value) && value == 1);
        assert_false(tamis_get(f, "owl", 3, &value) || tamis_get(f, "gnu", 3, &value));
        tamis_builder_free(b);
        tamis_free(f);
    }
}

static void builders_of_other_kinds_take_no_values(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        char spec[64];
        tamis_kind_at(i, &kind);
        if (kind.abilities & (TAMIS_CAN_GET | TAMIS_IS_SKETCH)) continue;
        const int is_shard = strcmp(kind.name, "shard") == 0; /* which cannot count */
        for (int has_capacity = is_shard; has_capacity < 2; has_capacity++) {
            snprintf(spec, sizeof spec, "%s%s", kind.name, has_capacity ? ":capacity=10" : "");
            tamis_builder *b = builder_of(spec, 0, 1, false);
            assert_int_equal(tamis_builder_put(b, "cat", 3, 1), TAMIS_UNSUPPORTED);
            assert_true(why_says("cannot have values"));
            assert_int_equal(tamis_builder_put_hash(b, 1, 0), TAMIS_UNSUPPORTED);
            assert_int_equal(tamis_builder_add(b, "dog", 3), TAMIS_OK);
            tamis *f = test_finish(b);
            assert_true(tamis_has(f, "dog", 3) && !tamis_has(f, "cat", 3));
            assert_int_equal(test_info(f).items, 1);
            tamis_free(f);
        }
    }
}

/* A key that is put a thousand times, each with another value, is planned for once. */
static void a_key_counts_once_for_the_capacity(void **state) {
    (void)state;
    tamis_builder *b = builder_of("approximator:value=16", 0, 1, true);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(tamis_builder_put_hash(b, test_number(5, i % 10), i), TAMIS_OK);
    tamis *f = test_finish(b);
    uint64_t value;
    assert_int_equal(test_info(f).capacity, 10);
    assert_int_equal(test_info(f).items, 10000);
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(tamis_get_hash(f, test_number(5, i), &value));
        assert_true(value >= 9990 + i);
    }
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_without_values_say_so),
        cmocka_unit_test(a_key_a_number_and_a_hash_are_one),
        cmocka_unit_test(many_are_asked_as_one_by_one),
        cmocka_unit_test(values_too_large_are_refused),
        cmocka_unit_test(views_can_be_asked_and_not_changed),
        cmocka_unit_test(items_are_puts_and_adds),
        cmocka_unit_test(bytes_do_not_depend_on_the_way),
        cmocka_unit_test(waiting_adds_and_puts_mix),
        cmocka_unit_test(builders_refuse_what_filters_refuse),
        cmocka_unit_test(builders_of_other_kinds_take_no_values),
        cmocka_unit_test(a_key_counts_once_for_the_capacity),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
