/* SPDX-License-Identifier: MIT */
/* The edges of the API: its error messages, empty and long keys, and sets too small or too large
 * for the formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter.h"
#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"

static tamis *make(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static void every_status_has_name_and_text(void **state) {
    (void)state;
#define CHECK(name, value, text)                                          \
    assert_int_equal(TAMIS_##name, value);                                \
    assert_string_equal(tamis_status_name(TAMIS_##name), "TAMIS_" #name); \
    assert_string_equal(tamis_status_text(TAMIS_##name), text);
    TAMIS_STATUS_MAP(CHECK)
#undef CHECK
    assert_null(tamis_status_name((tamis_status)-1000));
    assert_string_equal(tamis_status_text((tamis_status)1), "unknown status");
}

/* Integers one by one, in batches and as bytes are the same keys. */
static void integers_are_their_bytes(void **state) {
    (void)state;
    tamis *f = make("classic:capacity=1000,fpr=1e-9");
    uint64_t keys[100], hashes[100];
    for (uint64_t i = 0; i < 100; i++) keys[i] = i * i * i << 7;
    tamis_hash_u64s(f, keys, 100, hashes);
    for (size_t i = 0; i < 100; i++) {
        uint8_t bytes[8];
        for (int b = 0; b < 8; b++) bytes[b] = (uint8_t)(keys[i] >> 8 * b);
        assert_int_equal(tamis_hash(f, bytes, 8), hashes[i]);
        assert_int_equal(tamis_add_u64(f, keys[i]), TAMIS_OK);
        assert_true(tamis_has(f, bytes, 8) && tamis_has_hash(f, hashes[i]));
    }
    tamis_free(f);
}

static void shared_adds_of_keys_count(void **state) {
    (void)state;
    tamis *f = make("split:capacity=10");
    struct tamis_info info = TAMIS_INFO_INIT;
    assert_int_equal(tamis_add_shared(f, "cat", 3), TAMIS_OK);
    assert_true(tamis_has(f, "cat", 3));
    tamis_measure(f, &info);
    assert_int_equal(info.items, 1);
    tamis_free(f);
}

/* One key alone goes another way than a list of keys where that is faster: both refuse the same,
 * and leave everything as it was. */
static void single_adds_refuse_what_lists_refuse(void **state) {
    static const char *const specs[] = {
        "blocked:capacity=100", "split:capacity=100",    "split:capacity=100,hash=xxh64",
        "classic:capacity=100", "counting:capacity=100", "classic:capacity=100,scheme=double64",
        "cuckoo:capacity=100",  "quotient:capacity=100", "cuckoo:capacity=100,sort=yes",
    };
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tamis *f = make(specs[i]), *view;
        const uint64_t hash = tamis_hash(f, "dog", 3), number = 7;
        const size_t size = (size_t)tamis_image_size(f);
        uint8_t *image = malloc(size);
        assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
        assert_int_equal(tamis_view(&view, image, size), TAMIS_OK);
        assert_int_equal(tamis_add(view, "dog", 3), TAMIS_READONLY);
        assert_int_equal(tamis_add_hash(view, hash), TAMIS_READONLY);
        assert_int_equal(tamis_add_u64(view, number), TAMIS_READONLY);
        assert_false(tamis_has_hash(view, hash) || tamis_has_u64(view, number));
        tamis_free(view);
        free(image);

        f->image.body.items = UINT64_MAX - 1;
        assert_int_equal(tamis_add(f, "cat", 3), TAMIS_OK); /* the last that can be counted */
        assert_int_equal(tamis_add_hashes(f, &hash, 1), TAMIS_FULL);
        assert_int_equal(tamis_add_hash(f, hash), TAMIS_FULL);
        assert_int_equal(tamis_add_u64(f, number), TAMIS_FULL);
        assert_non_null(strstr(tamis_why(), "2^64"));
        assert_false(tamis_has_hash(f, hash) || tamis_has_u64(f, number));
        assert_true(tamis_has(f, "cat", 3) && f->image.body.items == UINT64_MAX);
        tamis_free(f);
    }
}

/* Every change to a view is refused with the same status, and the view keeps answering. */
static void views_refuse_every_change(void **state) {
    (void)state;
    tamis *f = make("blocked:capacity=100,bits=2048"), *view;
    tamis_add(f, "cat", 3);
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size);
    assert_int_equal(tamis_serialize(f, image, size - 1), TAMIS_INVALID);
    assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
    assert_int_equal(tamis_view(&view, image, size), TAMIS_OK);
    const uint64_t hash = 1;
    const struct tamis_key key = {"dog", 3};
    assert_int_equal(tamis_add(view, "dog", 3), TAMIS_READONLY);
    assert_int_equal(tamis_add_many(view, &key, 1), TAMIS_READONLY);
    assert_int_equal(tamis_add_hashes(view, &hash, 1), TAMIS_READONLY);
    assert_int_equal(tamis_add_shared(view, "dog", 3), TAMIS_READONLY);
    assert_int_equal(tamis_merge(view, f), TAMIS_READONLY);
    assert_int_equal(tamis_intersect(view, f), TAMIS_READONLY);
    assert_int_equal(tamis_fold(view, 2), TAMIS_READONLY);
    assert_int_equal(tamis_set_note(view, "a", "b"), TAMIS_READONLY);
    assert_non_null(strstr(tamis_why(), "view"));
    assert_true(tamis_has(view, "cat", 3) && !tamis_has(view, "dog", 3));
    /* A view can be copied, and the copy can be changed. */
    tamis *own;
    assert_int_equal(tamis_copy(&own, view), TAMIS_OK);
    assert_int_equal(tamis_add(own, "dog", 3), TAMIS_OK);
    tamis_free(own);
    tamis_free(view);
    tamis_free(f);
    free(image);
}

static void mismatches_are_named(void **state) {
    (void)state;
    static const struct {
        const char *spec, *word;
    } others[] = {{"classic:capacity=100", "kinds differ: blocked and classic"},
                  {"blocked:capacity=9000", "blocks differ"},
                  {"blocked:capacity=100,hash=xxh64", "hashes differ: xxh3 and xxh64"},
                  {"blocked:capacity=100,seed=5", "seeds differ: 0 and 5"}};
    tamis *f = make("blocked:capacity=100");
    assert_null(tamis_mismatch(f, f));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        tamis *g = make(others[i].spec);
        if (!strstr(tamis_mismatch(f, g), others[i].word))
            fail_msg("'%s' does not say '%s'", tamis_mismatch(f, g), others[i].word);
        tamis_free(g);
    }
    tamis_free(f);
}

static void empty_and_overfull_sets_compare(void **state) {
    (void)state;
    tamis *a = make("classic:capacity=10,bits=64,hashes=1"), *b;
    struct tamis_estimate x;
    assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
    assert_int_equal(tamis_similarity(a, b, &x), TAMIS_OK);
    assert_true(x.value == 1 && x.error == 0); /* two empty sets are the same set */
    assert_int_equal(tamis_overlap(a, b, &x), TAMIS_OK);
    assert_true(x.value == 0);
    /* Each has half of the bits: alone they can be estimated, together they cannot. */
    for (uint64_t i = 0; i < 64; i++) tamis_add_hash(i % 2 ? a : b, i << 58);
    assert_int_equal(tamis_items_now(a, &x), TAMIS_OK);
    assert_int_equal(tamis_overlap(a, b, &x), TAMIS_SATURATED);
    tamis_free(a);
    tamis_free(b);
}

static void *never(void *ctx, size_t size) {
    (void)ctx, (void)size;
    return NULL;
}

static void odd_options_are_refused(void **state) {
    (void)state;
    static const uint8_t secret[16] = {1};
    const struct tamis_allocator half = {never, NULL, NULL, false};
    struct tamis_options options = {.struct_size = sizeof options, .allocator = &half};
    tamis *f;
    assert_int_equal(tamis_create_with(&f, "capacity=1", &options), TAMIS_INVALID);
    options.allocator = NULL;
    options.secret = secret;
    assert_int_equal(tamis_create_with(&f, "capacity=1", &options), TAMIS_INVALID);
    assert_int_equal(tamis_create_with(&f, "capacity=1,hash=sip13", &options), TAMIS_OK);
    tamis_free(f);
    options.secret = NULL;
    assert_int_equal(tamis_create_with(&f, "capacity=1,hash=sip13,key=outside", &options),
                     TAMIS_SECRET);
    assert_null(f);
    tamis_free(NULL);
}

/* Two filters that draw their own secrets hash differently, and report it. */
static void secrets_are_drawn(void **state) {
    (void)state;
    tamis *a = make("capacity=10,hash=sip13"), *b = make("capacity=10,hash=sip13");
    assert_true(tamis_hash(a, "cat", 3) != tamis_hash(b, "cat", 3));
    assert_non_null(strstr(tamis_mismatch(a, b), "secrets differ"));
    tamis_free(a);
    tamis_free(b);
}

/* Far beyond capacity a filter says so, and estimates fail. */
static void saturation_is_reported(void **state) {
    (void)state;
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        struct tamis_info info = TAMIS_INFO_INIT;
        struct tamis_estimate items;
        tamis_kind_at(i, &kind);
        if (kind.abilities & (TAMIS_AGES | TAMIS_IS_BUILT | TAMIS_CAN_DIFFER | TAMIS_IS_SKETCH) ||
            TAMIS_ENTRY(tamis__kind_by_id(kind.id)->kind, reshape, grow) ||
            !(kind.abilities & TAMIS_CAN_ADD))
            continue; /* never saturated, or it counts its keys */
        tamis *f = test_make("%s:capacity=20", kind.name);
        for (uint64_t k = 0; k < 40; k++) tamis_add_u64(f, k);
        tamis_measure(f, &info);
        assert_true(info.is_degraded || info.fpr_now <= 0.02);
        tamis_status rc = TAMIS_OK;
        for (uint64_t k = 0; k < 200000 && !rc; k++) rc = tamis_add_u64(f, k);
        if (rc == TAMIS_FULL) { /* refused before saturation */
            tamis_measure(f, &info);
            assert_false(info.is_saturated);
            tamis_free(f);
            continue;
        }
        assert_int_equal(rc, TAMIS_OK);
        tamis_measure(f, &info);
        assert_true(info.is_saturated && info.is_degraded);
        assert_int_equal(tamis_items_now(f, &items), TAMIS_SATURATED);
        assert_int_equal(tamis_overlap(f, f, &items), TAMIS_SATURATED);
        tamis_free(f);
    }
}

/* Empty keys and long keys are ordinary keys. */
static void keys_of_any_length(void **state) {
    (void)state;
    const size_t longest = 1 << 20;
    char *zeros = calloc(1, longest);
    tamis *f = test_make("classic:capacity=5000,fpr=1e-9");
    assert_false(tamis_has(f, NULL, 0));
    for (size_t len = 0; len <= 4096; len += 2) tamis_add(f, zeros, len);
    tamis_add(f, zeros, longest);
    for (size_t len = 0; len <= 4096; len++)
        assert_int_equal(tamis_has(f, zeros, len), len % 2 == 0);
    assert_true(tamis_has(f, NULL, 0));
    assert_true(tamis_has(f, zeros, longest));
    assert_false(tamis_has(f, zeros, longest - 1));
    free(zeros);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_name_and_text),
        cmocka_unit_test(integers_are_their_bytes),
        cmocka_unit_test(shared_adds_of_keys_count),
        cmocka_unit_test(single_adds_refuse_what_lists_refuse),
        cmocka_unit_test(views_refuse_every_change),
        cmocka_unit_test(mismatches_are_named),
        cmocka_unit_test(empty_and_overfull_sets_compare),
        cmocka_unit_test(odd_options_are_refused),
        cmocka_unit_test(secrets_are_drawn),
        cmocka_unit_test(saturation_is_reported),
        cmocka_unit_test(keys_of_any_length),
    };
    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
