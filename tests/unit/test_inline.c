/* SPDX-License-Identifier: MIT */
/* One key without a call: tamis_inline.h gives the answers and bytes of the handle. tests/house
 * compiles this file again for each vector unit, because the header differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
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
        {"classic:capacity=10", "classic cannot be seen by a fast view: blocked and split can"},
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
        cmocka_unit_test(what_cannot_be_seen_is_refused),
        cmocka_unit_test(what_is_not_owned_is_not_edited),
    };
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
