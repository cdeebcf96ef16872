/* SPDX-License-Identifier: MIT */
/* attenuated: how many hops away a key is, against sets of levels, and routes by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_special.h"
#include "tests/support/arrays.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Filters that merge each other, against the set of levels that each key must be in. */
static void levels_match_a_model(void **state) {
    (void)state;
    enum { FILTERS = 5, KEYS = 60, STEPS = 400, LEVELS = 4 };
    unsigned has[FILTERS][KEYS] = {{0}}; /* bit i: in level i+1 */
    tamis *f[FILTERS];
    for (int i = 0; i < FILTERS; i++) f[i] = test_make("attenuated:capacity=300,fpr=1e-9,levels=4");
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t draw = test_number(8, step);
        const unsigned a = draw % FILTERS, b = draw >> 8 & 0xff, other = b % FILTERS;
        const uint64_t key = (draw >> 16) % KEYS;
        switch (draw >> 40 & 15) {
        case 0: /* start again, or all levels fill up */
            tamis_free(f[a]);
            f[a] = test_make("attenuated:capacity=300,fpr=1e-9,levels=4");
            memset(has[a], 0, sizeof has[a]);
            break;
        case 1:
            assert_int_equal(tamis_merge(f[a], f[other]), TAMIS_OK);
            for (int k = 0; k < KEYS; k++) has[a][k] |= has[other][k];
            break;
        case 2:
        case 3: /* also with itself */
            assert_int_equal(tamis_merge_farther(f[a], f[other]), TAMIS_OK);
            for (int k = 0; k < KEYS; k++) has[a][k] |= has[other][k] << 1 & ((1 << LEVELS) - 1);
            break;
        default: assert_int_equal(tamis_add_u64(f[a], key), TAMIS_OK); has[a][key] |= 1;
        }
        for (uint64_t k = 0; k < KEYS; k++) {
            uint8_t bytes[8] = {(uint8_t)k};
            const unsigned nearest = has[a][k] ? (unsigned)__builtin_ctz(has[a][k]) + 1 : 0;
            assert_int_equal(tamis_level(f[a], bytes, sizeof bytes), nearest);
            assert_int_equal(tamis_has_u64(f[a], k), nearest != 0);
        }
    }
    tamis *again;
    for (int i = 0; i < FILTERS; i++) {
        const size_t size = (size_t)tamis_image_size(f[i]);
        uint8_t *image = malloc(size);
        assert_int_equal(tamis_serialize(f[i], image, size), TAMIS_OK);
        assert_int_equal(tamis_load(&again, image, size), TAMIS_OK); /* the counts are right */
        tamis_free(again);
        tamis_free(f[i]);
        free(image);
    }
}

/* One call is one hop, even when a filter merges itself. */
static void one_hop_at_a_time(void **state) {
    (void)state;
    tamis *f = test_make("attenuated:capacity=50,levels=4");
    test_add_hashes(f, 1, 0, 50);
    const uint64_t bits = test_info(f).word[0];
    for (unsigned hop = 1; hop < 4; hop++) {
        assert_int_equal(tamis_merge_farther(f, f), TAMIS_OK);
        for (unsigned i = 0; i < 4; i++) {
            const uint8_t *level = test_array(f, 100, i);
            if (i > hop)
                assert_int_equal(test_bits_set(level, bits / 8), 0);
            else
                assert_memory_equal(level, test_payload(f), (size_t)bits / 8);
        }
    }
    tamis_free(f);
}

/* With one probe a hash is its position: a level with exactly nine tenths of its bits set counts,
 * with one bit more it does not. */
static uint64_t hash_at(uint64_t position, uint64_t bits) {
    return UINT64_MAX / bits * position + UINT64_MAX / bits / 2;
}

static void a_full_level_is_unknown(void **state) {
    (void)state;
    enum { BITS = 640 };
    tamis *f = test_make("attenuated:capacity=9,bits=%d,levels=2,hashes=1", 2 * BITS + 128), *g;
    const uint64_t last = hash_at(BITS - 1, BITS);
    assert_int_equal(test_info(f).word[0], BITS);
    tamis_add_hash(f, last);
    assert_int_equal(tamis_merge_farther(f, f), TAMIS_OK); /* level 2 has only the last bit */
    for (uint64_t i = 0; i < BITS * 9 / 10 - 1; i++) tamis_add_hash(f, hash_at(i, BITS));
    assert_int_equal(test_bits_set(test_payload(f), BITS / 8), BITS * 9 / 10);
    assert_int_equal(tamis_level_hash(f, last), 1);
    assert_int_equal(tamis_level_hash(f, hash_at(0, BITS)), 1);
    assert_int_equal(test_info(f).affected, 0);

    tamis_add_hash(f, hash_at(BITS * 9 / 10, BITS));
    assert_int_equal(tamis_level_hash(f, last), 2);
    assert_int_equal(tamis_level_hash(f, hash_at(0, BITS)), 0);
    assert_true(tamis_has_hash(f, hash_at(0, BITS))); /* membership is not affected */
    assert_int_equal(test_info(f).affected, 1);
    assert_non_null(strstr(test_info(f).caveat, "1 of 2 levels"));

    g = test_make("attenuated:capacity=9,bits=%d,levels=2,hashes=1", 2 * BITS + 128);
    assert_int_equal(tamis_merge_farther(g, f), TAMIS_OK); /* full here, full one hop farther */
    assert_int_equal(tamis_level_hash(g, last), 0);
    assert_true(tamis_has_hash(g, last));
    tamis_free(f);
    tamis_free(g);
}

/* Every bit of the payload is in a level, and so counted, or in a count. */
static void attenuated_counts_its_bits(void **state) {
    (void)state;
    tamis *f = test_make("attenuated:capacity=20,levels=3");
    test_add_hashes(f, 1, 0, 20);
    assert_int_equal(tamis_merge_farther(f, f), TAMIS_OK);
    for (uint64_t i = 0; i < test_info(f).payload_bytes * 8; i++)
        assert_false(test_takes_flip(f, i));
    tamis_free(f);
}

/* Three levels of different keys, all near capacity: the rate is that of a hit in any of them, and
 * the keys are those of all. */
static void levels_add_up(void **state) {
    (void)state;
    enum { KEYS = 5000, NONMEMBERS = 400000 };
    tamis *f = test_make("attenuated:capacity=5000,fpr=5%%,levels=3"), *part[3];
    for (unsigned i = 0; i < 3; i++) {
        part[i] = test_make("attenuated:capacity=5000,fpr=5%%,levels=3");
        test_add_hashes(part[i], 1, i * KEYS, (i + 1) * KEYS);
        for (unsigned hop = 0; hop < i; hop++) {
            tamis *farther = test_make("attenuated:capacity=5000,fpr=5%%,levels=3");
            assert_int_equal(tamis_merge_farther(farther, part[i]), TAMIS_OK);
            tamis_free(part[i]);
            part[i] = farther;
        }
        assert_int_equal(tamis_merge(f, part[i]), TAMIS_OK);
    }
    double missed = 1;
    for (unsigned i = 0; i < 3; i++) missed *= 1 - test_array_rate(f, 100, i);
    assert_true(fabs(tamis_fpr_now(f) - (1 - missed)) < 1e-12);
    test_demand_possible(test_count_hits(f, 1, TEST_STRANGERS, NONMEMBERS), NONMEMBERS, 1 - missed,
                         "any level");

    struct tamis_estimate items, common;
    assert_int_equal(tamis_items_now(f, &items), TAMIS_OK);
    assert_true(fabs(items.value - 3 * KEYS) < 6 * items.error && items.error < 0.02 * 3 * KEYS);
    assert_int_equal(tamis_overlap(f, part[2], &common), TAMIS_OK);
    assert_true(fabs(common.value - KEYS) < 6 * common.error);
    tamis_free(f);
    for (unsigned i = 0; i < 3; i++) tamis_free(part[i]);
}

static tamis *at_level(unsigned level, const char *key) {
    tamis *f = test_make("attenuated:capacity=50,fpr=1e-9,levels=4");
    assert_int_equal(tamis_add(f, key, strlen(key)), TAMIS_OK);
    for (unsigned i = 1; i < level; i++) {
        tamis *farther = test_make("attenuated:capacity=50,fpr=1e-9,levels=4");
        assert_int_equal(tamis_merge_farther(farther, f), TAMIS_OK);
        tamis_free(f);
        f = farther;
    }
    assert_int_equal(tamis_level(f, key, strlen(key)), level);
    return f;
}

static void routes_take_the_nearest_unvisited(void **state) {
    (void)state;
    const struct tamis_link links[] = {{10, at_level(3, "cat")},
                                       {11, at_level(2, "cat")},
                                       {12, at_level(1, "dog")},
                                       {13, at_level(2, "cat")},
                                       {14, at_level(4, "cat")}};
    static const struct {
        uint64_t visited[5];
        size_t visited_count, choice;
        unsigned level;
    } cases[] = {
        {{0}, 0, 1, 2},                  /* the first of two equals */
        {{11}, 1, 3, 2},                 /* then the other */
        {{13, 11}, 2, 0, 3},             /* then the one farther away */
        {{13, 10, 11}, 3, 4, 4},         /* and the farthest */
        {{14, 13, 12, 11, 10}, 5, 5, 0}, /* none is left: fall back */
        {{10, 11, 13, 14}, 4, 5, 0},     /* the one left does not know: fall back */
        {{99, 11, 98}, 3, 3, 2},         /* unknown ids do not matter */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned level = 77;
        assert_int_equal(
            tamis_route(links, 5, cases[i].visited, cases[i].visited_count, "cat", 3, &level),
            cases[i].choice);
        assert_int_equal(level, cases[i].level);
    }
    assert_int_equal(tamis_route(links, 5, NULL, 0, "owl", 3, NULL), 5);
    assert_int_equal(tamis_route(links, 5, NULL, 0, "dog", 3, NULL), 2);
    assert_int_equal(tamis_route(NULL, 0, NULL, 0, "cat", 3, NULL), 0);

    /* With a plain filter, all keys of a link are at the neighbour. */
    tamis *plain = test_make("blocked:capacity=50,fpr=1e-6");
    tamis_add(plain, "cat", 3);
    const struct tamis_link mixed[] = {links[1], {15, plain}};
    assert_int_equal(tamis_route(mixed, 2, NULL, 0, "cat", 3, NULL), 1);
    assert_int_equal(tamis_merge_farther(plain, links[0].filter), TAMIS_UNSUPPORTED);
    tamis_free(plain);
    for (size_t i = 0; i < COUNT_OF(links); i++) tamis_free((tamis *)links[i].filter);
}

static void only_equal_shapes_merge(void **state) {
    (void)state;
    tamis *a = test_make("attenuated:capacity=50"),
          *b = test_make("attenuated:capacity=50,levels=3");
    assert_int_equal(tamis_merge_farther(a, b), TAMIS_MISMATCH);
    assert_non_null(strstr(tamis_why(), "levels"));
    tamis_free(a);
    tamis_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_match_a_model),
        cmocka_unit_test(one_hop_at_a_time),
        cmocka_unit_test(a_full_level_is_unknown),
        cmocka_unit_test(attenuated_counts_its_bits),
        cmocka_unit_test(levels_add_up),
        cmocka_unit_test(routes_take_the_nearest_unvisited),
        cmocka_unit_test(only_equal_shapes_merge),
    };
    return cmocka_run_group_tests_name("attenuated", tests, NULL, NULL);
}
