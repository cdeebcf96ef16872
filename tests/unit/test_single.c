/* SPDX-License-Identifier: MIT */
/* One key alone is queried and added by functions of its own, chosen for the shape and the CPU: the
 * same answers, statuses and bytes as those of a list of one, and of one list of all keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Near and far arrays, even and odd widths, buckets that are a word and others. */
static const char *const specs[] = {
    "classic:capacity=300",
    "classic:capacity=300,hashes=1",
    "classic:capacity=300,hashes=16",
    "classic:capacity=300,hashes=17",
    "classic:capacity=300,hashes=64",
    "classic:capacity=300,scheme=double64",
    "classic:capacity=300,scheme=double",
    "classic:capacity=300,scheme=enhanced",
    "classic:capacity=300,scheme=triple",
    "classic:capacity=300,hash=xxh64",
    "classic:capacity=300,seed=77",
    "classic:capacity=300,size=9MiB,hashes=1",
    "classic:capacity=300,size=9MiB,hashes=2",
    "hierarchical:capacity=300,levels=3",
    "counting:capacity=300",
    "counting:capacity=300,width=3,size=1005",
    "cuckoo:capacity=300,fpr=3%",
    "cuckoo:capacity=300,fpr=0.4%",
    "cuckoo:capacity=300,fpr=0.2%",
    "cuckoo:capacity=300,fpr=0.02%",
    "cuckoo:capacity=300,fpr=0.001%",
    "cuckoo:capacity=300,fpr=1e-9",
    "cuckoo:capacity=300,sort=yes",
    "cuckoo:capacity=300,fpr=0.2%,hash=xxh64",
    "cuckoo:capacity=20000,fpr=2^-11",
    "quotient:capacity=300",
    "quotient:capacity=300,fpr=30%",
    "quotient:capacity=300,fpr=1e-9",
    "quotient:capacity=20000",
    "quotient:capacity=300,size=9MiB",
    "quotient:capacity=2000000,fpr=1e-9",
    "quotient:capacity=300,hash=xxh64",
    "multiset:capacity=300",
    "grow:capacity=20",
    "blocked:capacity=300",
    "scalable:capacity=20",
};

enum { MANY = 400, MAX_KEYS = 21000, QUERIES = 2000 };

static void demand_same_bytes(const tamis *a, const tamis *b, const char *spec) {
    size_t size_a, size_b;
    uint8_t *image_a = test_image(a, &size_a), *image_b = test_image(b, &size_b);
    if (size_a != size_b || memcmp(image_a, image_b, size_a) != 0)
        fail_msg("%s: other bytes than by a list", spec);
    free(image_a);
    free(image_b);
}

static void demand_same_answers(const tamis *f, const uint64_t *keys, size_t n, const char *spec) {
    uint8_t hit[QUERIES], hit_number[QUERIES];
    tamis_has_hashes(f, keys, n, hit);
    tamis_has_u64s(f, keys, n, hit_number);
    for (size_t i = 0; i < n; i++) {
        if (tamis_has_hash(f, keys[i]) != hit[i]) fail_msg("%s: hash %zu differs", spec, i);
        if (tamis_has_u64(f, keys[i]) != hit_number[i]) fail_msg("%s: key %zu differs", spec, i);
    }
}

/* Each half of the keys as hashes and as integers; what is refused is refused alike. */
static tamis_status add_single(tamis *f, uint64_t key, size_t i) {
    return i % 2 ? tamis_add_u64(f, key) : tamis_add_hash(f, key);
}

static tamis_status add_list(tamis *f, uint64_t key, size_t i) {
    return i % 2 ? tamis_add_u64s(f, &key, 1) : tamis_add_hashes(f, &key, 1);
}

static void try_keys(const char *spec, const uint64_t *keys, size_t n) {
    tamis *one = test_make("%s", spec), *list = test_make("%s", spec);
    uint64_t query[QUERIES]; /* the first half are members */
    for (size_t i = 0; i < n; i++) {
        const tamis_status rc = add_list(list, keys[i], i);
        const char *why = rc ? tamis_why() : "";
        char text[256] = "";
        strncat(text, why, sizeof text - 1);
        assert_int_equal(add_single(one, keys[i], i), rc);
        if (rc) assert_string_equal(tamis_why(), text);
    }
    demand_same_bytes(one, list, spec);
    for (size_t i = 0; i < QUERIES; i++)
        query[i] = i < QUERIES / 2 && n ? keys[i % n] : test_number(5, TEST_STRANGERS + i);
    demand_same_answers(one, query, QUERIES, spec);
    tamis_free(one);
    tamis_free(list);
}

/* None, one, until it is full and beyond, and some keys again and again. */
static void try_spec(const char *spec) {
    static uint64_t keys[MAX_KEYS];
    for (size_t i = 0; i < MAX_KEYS; i++) keys[i] = test_number(5, i);
    try_keys(spec, keys, 0);
    try_keys(spec, keys, 1);
    try_keys(spec, keys, strstr(spec, "20000") ? MAX_KEYS : MANY);
    for (size_t i = 0; i < MANY; i++)
        keys[i] = i % 3 == 0 ? UINT64_MAX : i % 3 == 1 ? 0 : test_number(5, i % 7);
    try_keys(spec, keys, MANY);
}

static void single_keys_are_lists_of_one(void **state) {
    static const uint32_t cpus[] = {TAMIS_CPU_TEST, TAMIS_CPU_TEST | TAMIS_CPU_AVX2, TAMIS_CPU_ALL};
    (void)state;
    for (size_t c = 0; c < COUNT_OF(cpus); c++) {
        tamis__cpu_set(cpus[c]);
        for (size_t i = 0; i < COUNT_OF(specs); i++) try_spec(specs[i]);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
}

/* All keys in one list: the order of adds is the same. */
static void single_keys_are_one_list(void **state) {
    static uint64_t hashes[MAX_KEYS];
    (void)state;
    for (size_t i = 0; i < MAX_KEYS; i++) hashes[i] = test_number(6, i);
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        tamis *one = test_make("%s", specs[i]), *list = test_make("%s", specs[i]);
        const size_t n = strstr(specs[i], "20000") ? 20000 : 300;
        const bool grows = strstr(specs[i], "grow") || strstr(specs[i], "scalable");
        for (size_t j = 0; j < n; j++) test_demand(tamis_add_hash(one, hashes[j]), specs[i]);
        test_demand(tamis_add_hashes(list, hashes, n), specs[i]);
        if (!grows) demand_same_bytes(one, list, specs[i]);
        tamis_free(one);
        tamis_free(list);
    }
}

/* In tables of two buckets, many keys have one bucket alone, and the fifth of them is stashed. */
static void single_keys_are_found_in_the_stash(void **state) {
    static const char *const tables[] = {"cuckoo:capacity=7,fpr=0.4%",
                                         "cuckoo:capacity=7,fpr=0.1%"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        size_t stashes = 0;
        for (uint64_t family = 0; family < 100; family++) {
            tamis *f = test_make("%s", tables[i]);
            uint64_t stashed, size;
            for (uint64_t j = 0; j < 7; j++)
                test_demand(tamis_add_hash(f, test_number(family, j)), tables[i]);
            for (uint64_t j = 0; j < 7; j++) assert_true(tamis_has_hash(f, test_number(family, j)));
            memcpy(&stashed, (const uint8_t *)tamis_payload(f, &size) + 8, sizeof stashed);
            stashes += stashed != 0;
            tamis_free(f);
        }
        assert_true(stashes > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_keys_are_lists_of_one),
        cmocka_unit_test(single_keys_are_one_list),
        cmocka_unit_test(single_keys_are_found_in_the_stash),
    };
    return cmocka_run_group_tests_name("single", tests, NULL, NULL);
}
