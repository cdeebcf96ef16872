/* SPDX-License-Identifier: MIT */
/* One key without a call: tamis_inline.h gives the answers and bytes of the handle. tests/house
 * compiles this file again for each vector unit, because the header differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "tamis_engine.h"
#include "tamis_inline.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

/* Every block index rule, one block and many, with and without a seed. */
static const char *const specs[] = {
    "blocked:capacity=1,hashes=8",
    "blocked:capacity=3000,fpr=1%,hashes=8",
    "blocked:capacity=100000,fpr=1%,hashes=8,seed=18446744073709551615",
    "split:capacity=1",
    "split:capacity=3000,fpr=1%,index=parquet,seed=7",
    "split:capacity=3000,fpr=1%,index=wide",
    "blocked:capacity=3000,fpr=1%,hash=mix8",
    "split:capacity=3000,fpr=1%,index=parquet,hash=mix8,seed=7",
    "split:capacity=3000,fpr=1%,index=wide,hash=mix8",
};
enum { SPECS = sizeof specs / sizeof *specs, KEYS = 3000 };

static void assert_same_payload(const tamis *a, const tamis *b) {
    uint64_t n, m;
    const void *p = tamis_payload(a, &n), *q = tamis_payload(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, n);
}

static void adding_leaves_the_bytes_of_the_handle(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = test_make("%s", specs[s]), *g = test_make("%s", specs[s]);
        struct tamis_inline fast = TAMIS_INLINE_INIT;
        assert_int_equal(tamis_inline_edit(f, &fast), TAMIS_OK);
        for (uint64_t i = 0; i < KEYS; i++) {
            const uint64_t key = test_number(1, i);
            tamis_inline_add_u64(&fast, key);
            assert_int_equal(tamis_add_u64(g, key), TAMIS_OK);
            assert_true(tamis_inline_has_u64(&fast, key));
        }
        tamis_inline_done(f, &fast);
        tamis_inline_done(f, &fast); /* counts nothing twice */
        assert_int_equal(test_info(f).items, KEYS);
        assert_same_payload(f, g);
        tamis_free(f);
        tamis_free(g);
    }
}

/* A handle chooses its code for one integer at creation, by the CPU's features. */
static void answers_are_those_of_the_handle(void **state) {
    (void)state;
    static const uint32_t cpus[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_NEON, TAMIS_CPU_ALL};
    for (size_t s = 0; s < SPECS * (sizeof cpus / sizeof *cpus); s++) {
        tamis__cpu_set(cpus[s / SPECS]);
        tamis *f = test_make("%s", specs[s % SPECS]);
        struct tamis_inline fast = TAMIS_INLINE_INIT;
        uint64_t hits = 0;
        for (uint64_t i = 0; i < KEYS; i++) test_demand(tamis_add_u64(f, test_number(1, i)), "add");
        assert_int_equal(tamis_inline_view(f, &fast), TAMIS_OK);
        for (uint64_t i = 0; i < 20 * KEYS; i++) {
            const uint64_t key = test_number(1, i);
            uint64_t hash;
            tamis_hash_u64s(f, &key, 1, &hash);
            const bool is_hit = tamis_has_hash(f, hash);
            assert_int_equal(tamis_inline_hash_u64(&fast, key), hash);
            assert_int_equal(tamis_inline_has_hash(&fast, hash), is_hit);
            assert_int_equal(tamis_inline_has_u64(&fast, key), is_hit);
            assert_int_equal(tamis_has_u64(f, key), is_hit);
            hits += is_hit;
        }
        assert_true(hits >= KEYS);
        tamis_free(f);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
}

/* ---- fuse ----------------------------------------------------------------------------------- */

static tamis *build_from_hashes(const char *spec, uint64_t n, uint64_t (*hash_of)(uint64_t)) {
    tamis_builder *b;
    tamis *f;
    test_demand(tamis_builder_create(&b, spec, 0, NULL), spec);
    for (uint64_t i = 0; i < n; i++)
        test_demand(hash_of ? tamis_builder_add_hash(b, hash_of(i))
                            : tamis_builder_add_u64(b, test_number(1, i)),
                    spec);
    test_demand(tamis_builder_finish(b, &f), spec);
    tamis_builder_free(b);
    return f;
}

/* A view, and one whose cells the compiler may know, have the answers of the handle. */
static void assert_same_answers(const tamis *f, const struct tamis_inline *fast, uint64_t key) {
    const struct tamis_inline known = tamis_inline_known_cells(fast, fast->arity, fast->width);
    uint64_t hash;
    tamis_hash_u64s(f, &key, 1, &hash);
    const bool is_hit = tamis_has_hash(f, hash);
    assert_int_equal(tamis_inline_hash_u64(fast, key), hash);
    assert_int_equal(tamis_inline_has_hash(fast, hash), is_hit);
    assert_int_equal(tamis_inline_has_u64(fast, key), is_hit);
    assert_int_equal(tamis_inline_has_u64(&known, key), is_hit);
}

static void build_and_compare(const char *spec, uint64_t n, bool has_segments) {
    enum { STRANGERS = 1000 };
    tamis *f = build_from_hashes(spec, n, NULL);
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    assert_int_equal(tamis_inline_view(f, &fast), TAMIS_OK);
    assert_int_equal(fast.rule,
                     n > 0 && !has_segments ? TAMIS_INLINE_FUSE : TAMIS_INLINE_FUSE_SEGMENTS);
    for (uint64_t i = 0; i < n; i++) assert_true(tamis_inline_has_u64(&fast, test_number(1, i)));
    for (uint64_t i = 0; i < n + STRANGERS; i++) assert_same_answers(f, &fast, test_number(1, i));
    tamis_free(f);
}

static void every_width_of_fuse_is_seen(void **state) {
    (void)state;
    static const char *const more[] = {"", ",hash=mix8,seed=7", ",segment=1024",
                                       ",segment=1024,hash=mix8"};
    char spec[80];
    for (unsigned i = 0; i < 32 * 2 * 4; i++) {
        const unsigned width = 1 + i % 32, arity = 3 + i / 32 % 2, which = i / 64;
        sprintf(spec, "fuse:width=%u,arity=%u%s", width, arity, more[which]);
        for (uint64_t n = 0; n < 3; n++) build_and_compare(spec, n, false);
        build_and_compare(spec, 2000, which >= 2);
    }
}

static uint64_t high_hash(uint64_t i) {
    return UINT64_MAX - test_number(2, i) / 3;
}

static void an_empty_segment_has_nothing(void **state) {
    (void)state;
    static const char *const cells[] = {"fuse:width=1,segment=1024", "fuse:width=8,segment=1024",
                                        "fuse:width=32,arity=4,segment=1024"};
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        tamis *f = build_from_hashes(cells[c], KEYS, high_hash);
        struct tamis_inline fast = TAMIS_INLINE_INIT;
        assert_int_equal(tamis_inline_view(f, &fast), TAMIS_OK);
        for (uint64_t i = 0; i < KEYS; i++) {
            assert_true(tamis_inline_has_hash(&fast, high_hash(i)));
            assert_false(tamis_inline_has_hash(&fast, test_number(2, i) / 3 * 2));
        }
        tamis_free(f);
    }
}

static void fuse_is_not_edited(void **state) {
    (void)state;
    tamis *f = build_from_hashes("fuse:width=8", 10, NULL);
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    assert_int_equal(tamis_inline_edit(f, &fast), TAMIS_UNSUPPORTED);
    assert_string_equal(tamis_why(), "fuse cannot take keys");
    tamis_free(f);
}

/* Blocks have not changed since the second version of the header. */
static void an_older_header_sees_what_it_knows(void **state) {
    (void)state;
    const size_t second = offsetof(struct tamis_inline, arity);
    tamis *blocks = test_make("%s", specs[1]), *fuse = build_from_hashes("fuse:width=8", 10, NULL);
    struct tamis_inline old = TAMIS_INLINE_INIT;
    old.struct_size = second;
    old.version = 2;
    assert_int_equal(tamis_inline_view(blocks, &old), TAMIS_OK);
    assert_int_equal(old.struct_size, second);
    old.version = 2;
    assert_int_equal(tamis_inline_view(fuse, &old), TAMIS_UNSUPPORTED);
    assert_non_null(strstr(tamis_why(), "needs a newer tamis_inline.h"));
    old.struct_size = sizeof old;
    assert_int_equal(tamis_inline_view(fuse, &old), TAMIS_UNSUPPORTED);
    old.version = TAMIS_INLINE_VERSION;
    old.struct_size = sizeof old - 1;
    assert_int_equal(tamis_inline_view(fuse, &old), TAMIS_UNSUPPORTED);
    tamis_free(blocks);
    tamis_free(fuse);
}

/* --------------------------------------------------------------------------------------------- */

static void the_processor_has_a_name(void **state) {
    (void)state;
    tamis__cpu_set(0);
    assert_string_equal(tamis_cpu(), "plain");
    tamis__cpu_set(TAMIS_CPU_AVX2);
    const bool has_avx2 = tamis__cpu() & TAMIS_CPU_AVX2;
    assert_string_equal(tamis_cpu(), has_avx2 ? "avx2" : "plain");
    tamis__cpu_set(TAMIS_CPU_ALL);
}

static void what_cannot_be_seen_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec, *why;
    } cases[] = {
        {"classic:capacity=10",
         "classic cannot be seen by a fast view: blocked, split and fuse can"},
        {"blocked:capacity=10,hashes=16",
         "blocked cannot be seen by a fast view with the options it was made with"},
        {"blocked:capacity=10,hashes=3",
         "blocked cannot be seen by a fast view with the options it was made with"},
        {"split:capacity=10,hash=xxh64", "a fast view needs hash=xxh3 or mix8, not xxh64"},
        {"blocked:capacity=10,hash=sip13", "a fast view needs hash=xxh3 or mix8, not sip13"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis *f = test_make("%s", cases[i].spec);
        struct tamis_inline fast = TAMIS_INLINE_INIT;
        assert_int_equal(tamis_inline_view(f, &fast), TAMIS_UNSUPPORTED);
        assert_string_equal(tamis_why(), cases[i].why);
        assert_int_equal(tamis_inline_edit(f, &fast), TAMIS_UNSUPPORTED);
        tamis_free(f);
    }
}

static void what_is_not_owned_is_not_edited(void **state) {
    (void)state;
    tamis *f = test_make("%s", specs[1]), *view;
    test_demand(tamis_add_u64(f, 5), "add");
    size_t size;
    uint8_t *image = test_image(f, &size);
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    assert_int_equal(tamis_view(&view, image, size), TAMIS_OK);
    assert_int_equal(tamis_inline_edit(view, &fast), TAMIS_READONLY);
    assert_int_equal(tamis_inline_view(view, &fast), TAMIS_OK);
    assert_true(tamis_inline_has_u64(&fast, 5));
    tamis_free(view);
    tamis_free(f);
    free(image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_leaves_the_bytes_of_the_handle),
        cmocka_unit_test(the_processor_has_a_name),
        cmocka_unit_test(answers_are_those_of_the_handle),
        cmocka_unit_test(every_width_of_fuse_is_seen),
        cmocka_unit_test(an_empty_segment_has_nothing),
        cmocka_unit_test(fuse_is_not_edited),
        cmocka_unit_test(an_older_header_sees_what_it_knows),
        cmocka_unit_test(what_cannot_be_seen_is_refused),
        cmocka_unit_test(what_is_not_owned_is_not_edited),
    };
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
