/* SPDX-License-Identifier: MIT */
/* Kinds of several arrays: layered, attenuated, retouched, composite. Their answers against exact
 * models, their rates against the bits, and the bytes that the gate must refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_math.h"
#include "tests/support/arrays.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { TEXT = 256, MAX_HASHES = 64 };

static bool bit_at(const uint8_t *bytes, uint64_t i) {
    return bytes[i / 8] >> i % 8 & 1;
}

/* The positions of a hash, worked out a second time. */
static unsigned positions(uint64_t hash, uint64_t bits, uint64_t hashes, uint64_t *at) {
    uint64_t x = hash | 1;
    __extension__ typedef unsigned __int128 u128;
    for (uint64_t i = 0; i < hashes; i++, x *= 0xf1357aea2e62a9c5)
        at[i] = (uint64_t)((u128)x * bits >> 64);
    return (unsigned)hashes;
}

/* ---- Shapes --------------------------------------------------------------------------------- */

/* The first array is a classic filter, bit for bit, whatever lies behind it. */
static void the_first_array_is_classic(void **state) {
    (void)state;
    static const char *const specs[] = {"layered:capacity=3000", "attenuated:capacity=3000",
                                        "retouched:capacity=3000",
                                        "composite:capacity=3000,removed=7"};
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *f = test_make("%s", specs[s]);
        const struct tamis_info info = test_info(f);
        tamis *classic =
            test_make("classic:capacity=3000,bits=%llu,hashes=%llu",
                      (unsigned long long)info.word[0], (unsigned long long)info.word[1]);
        for (uint64_t i = 0; i < 3000; i++) {
            bool is_new; /* false positives would climb to the second layer */
            assert_int_equal(tamis_add_new_hash(f, test_number(1, i), &is_new), TAMIS_OK);
            assert_int_equal(tamis_add_new_hash(classic, test_number(1, i), &is_new), TAMIS_OK);
        }
        assert_memory_equal(test_payload(f), test_payload(classic), (size_t)info.word[0] / 8);
        tamis_free(f);
        tamis_free(classic);
    }
}

static void sizes_follow_from_the_words(void **state) {
    (void)state;
    for (unsigned layers = 1; layers <= 64; layers += 7)
        for (unsigned shrink = 0; shrink <= 90; shrink += 15) {
            tamis *f = test_make("layered:capacity=1000,layers=%u,shrink=%u", layers, shrink);
            uint64_t bits = 0;
            for (unsigned i = 0; i < layers; i++) bits += test_array_bits(f, 100 - shrink, i);
            assert_int_equal(test_info(f).payload_bytes * 8, bits);
            assert_int_equal(test_info(f).reliable_count, layers);
            tamis_free(f);
        }
    tamis *f = test_make("attenuated:capacity=1000,levels=5");
    assert_int_equal(test_info(f).payload_bytes, 5 * (test_info(f).word[0] / 8 + 8));
    tamis_free(f);
    f = test_make("retouched:capacity=1000");
    assert_int_equal(test_info(f).payload_bytes, 2 * test_info(f).word[0] / 8);
    tamis_free(f);
}

/* A size is used up to what no further word of the first array fits into, and below the least one
 * the sentence names it. */
static void sizes_are_used_up(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t min_bits;
    } kinds[] = {{"layered:capacity=50,layers=3", 192},
                 {"layered:capacity=50,layers=3,shrink=50", 192},
                 {"attenuated:capacity=50,levels=2", 256},
                 {"retouched:capacity=50", 128},
                 {"composite:capacity=50,removed=10", 128}};
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (uint64_t bits = 1; bits < 9000; bits += 61) {
            char spec[TEXT], min[TEXT];
            struct tamis_plan plan;
            snprintf(spec, sizeof spec, "%s,bits=%llu", kinds[k].spec, (unsigned long long)bits);
            snprintf(min, sizeof min, "%llu bits", (unsigned long long)kinds[k].min_bits);
            const tamis_status rc = tamis_plan_spec(spec, &plan, sizeof plan);
            if (bits < kinds[k].min_bits) {
                assert_int_equal(rc, TAMIS_INVALID);
                assert_non_null(strstr(tamis_why(), min));
                continue;
            }
            assert_int_equal(rc, TAMIS_OK);
            assert_true(plan.payload_bytes * 8 <= bits);
            assert_true(plan.payload_bytes * 8 + 3 * 64 + 64 > bits);
        }
}

/* Words as somebody may forge them: the gate of the kind itself refuses what is not legal, before
 * anybody compares sizes. */
static void illegal_words_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        unsigned word;
        uint64_t value;
    } bad[] = {
        {"layered", 0, 0},
        {"layered", 0, 65},
        {"layered", 0, (uint64_t)1 << 63},
        {"layered", 0, (uint64_t)1 << 59}, /* legal for one layer, not for four */
        {"layered", 0, ~(uint64_t)63},
        {"layered", 1, 0},
        {"layered", 1, 65},
        {"layered", 2, 0},
        {"layered", 2, 65},
        {"layered", 2, UINT64_MAX},
        {"layered", 3, 91},
        {"layered", 3, 101},
        {"layered", 3, UINT64_MAX},
        {"attenuated", 0, 0},
        {"attenuated", 0, 1},
        {"attenuated", 1, UINT64_MAX},
        {"attenuated", 2, 0},
        {"attenuated", 2, 17},
        {"attenuated", 2, (uint64_t)1 << 61},
        {"retouched", 0, 0},
        {"retouched", 0, 127},
        {"retouched", 1, 0},
        {"retouched", 1, 65},
        {"composite", 0, 0},
        {"composite", 0, (uint64_t)1 << 60},
        {"composite", 1, 0},
        {"composite", 2, 0},
        {"composite", 2, 101},
        {"composite", 2, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const tamis_kind *kind = tamis__kind_by_name(bad[i].kind, strlen(bad[i].kind))->kind;
        uint64_t word[TAMIS_WORDS] = {640, 3, 4, 5}, size; /* legal for each of them */
        if (kind->word[3] == NULL) word[3] = 0;
        assert_int_equal(kind->check(word, &size), TAMIS_OK);
        word[bad[i].word] = bad[i].value;
        if (kind->check(word, &size) != TAMIS_CORRUPT)
            fail_msg("%s with word %u = %llu is not refused", bad[i].kind, bad[i].word,
                     (unsigned long long)bad[i].value);
    }
    /* 64 layers of 2^58 bytes: a sum that would wrap to nothing. */
    const uint64_t wraps[TAMIS_WORDS] = {(uint64_t)1 << 61, 3, 64, 0};
    uint64_t size;
    assert_int_equal(tamis__kind_by_name("layered", 7)->kind->check(wraps, &size), TAMIS_CORRUPT);
}

/* ---- layered -------------------------------------------------------------------------------- */

/* Never under the truth, at any load; and with a rate that does not happen, exactly the truth. */
static void layered_counts_like_a_model(const char *spec, uint64_t layers, bool is_exact) {
    enum { KEYS = 400, STEPS = 4000 };
    uint64_t truth[KEYS] = {0};
    tamis *f = test_make("%s", spec);
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t key = (uint64_t)sqrt((double)(test_number(5, step) % (KEYS * KEYS)));
        assert_int_equal(tamis_add_u64(f, key), TAMIS_OK);
        truth[key]++;
        const uint64_t asked = test_number(6, step) % KEYS, count = tamis_count_u64(f, asked);
        const uint64_t expected = truth[asked] < layers ? truth[asked] : layers;
        assert_true(count >= expected && count <= layers);
        assert_int_equal(count > 0, tamis_has_u64(f, asked));
        if (is_exact) assert_int_equal(count, expected);
    }
    tamis_free(f);
}

static void layered_is_never_under(void **state) {
    (void)state;
    layered_counts_like_a_model("layered:capacity=400,fpr=1e-9,layers=6", 6, true);
    layered_counts_like_a_model("layered:capacity=400,fpr=1e-9,layers=64", 64, true);
    layered_counts_like_a_model("layered:capacity=800,fpr=1e-9,layers=5,shrink=10", 5, true);
    layered_counts_like_a_model("layered:capacity=400,fpr=10%,layers=6", 6, false);
    layered_counts_like_a_model("layered:capacity=40,fpr=10%,layers=64,shrink=90", 64, false);
    layered_counts_like_a_model("layered:capacity=400,layers=1", 1, false);
}

/* Once all layers have a key, nothing changes any more. */
static void layered_ends_at_its_last_layer(void **state) {
    (void)state;
    tamis *f = test_make("layered:capacity=100,fpr=1e-9,layers=3");
    for (int i = 0; i < 3; i++) assert_int_equal(tamis_add(f, "cat", 3), TAMIS_OK);
    tamis *full = test_copy(f);
    for (int i = 0; i < 5; i++) assert_int_equal(tamis_add(f, "cat", 3), TAMIS_OK);
    assert_true(test_is_same_payload(f, full));
    assert_int_equal(tamis_count(f, "cat", 3), 3);
    tamis_free(f);
    tamis_free(full);
}

/* A stranger is counted j times when it is a false positive of j layers at once. The layers have
 * hashes of their own, so their rates multiply. */
static void layers_fail_independently(void **state) {
    (void)state;
    enum { STRANGERS = 400000, LAYERS = 3 };
    for (unsigned shrink = 0; shrink <= 30; shrink += 30) {
        tamis *f = test_make("layered:capacity=4000,fpr=20%%,layers=3,shrink=%u", shrink);
        for (uint64_t j = 0; j < LAYERS; j++) test_add_hashes(f, 1, 0, 4000 - 800 * j);
        uint64_t reached[LAYERS + 1] = {0};
        for (uint64_t i = 0; i < STRANGERS; i++)
            reached[tamis_count_hash(f, test_number(1, TEST_STRANGERS + i))]++;
        double rate = 1;
        for (unsigned j = LAYERS; j-- > 0;) reached[j] += reached[j + 1];
        for (unsigned j = 0; j < LAYERS; j++) {
            rate *= test_array_rate(f, 100 - shrink, j);
            test_demand_possible(reached[j + 1], STRANGERS, rate, "strangers in the first layers");
        }
        tamis_free(f);
    }
}

static void layered_merges_to_the_larger_count(void **state) {
    (void)state;
    tamis *a = test_make("layered:capacity=200,fpr=1e-9,layers=5"), *b = test_copy(a);
    for (uint64_t key = 0; key < 200; key++) {
        for (uint64_t i = 0; i < key % 6; i++) tamis_add_u64(a, key);
        for (uint64_t i = 0; i < key / 6 % 6; i++) tamis_add_u64(b, key);
    }
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    for (uint64_t key = 0; key < 200; key++) {
        const uint64_t x = key % 6, y = key / 6 % 6;
        assert_int_equal(tamis_count_u64(a, key), x > y ? x : y);
    }
    tamis_free(a);
    tamis_free(b);
}

/* Too small later layers show in the caveat, not in the rate. */
static void layered_tells_of_overfull_layers(void **state) {
    (void)state;
    tamis *f = test_make("layered:capacity=2000,layers=3,shrink=90");
    assert_string_equal(test_info(f).caveat, "");
    for (int i = 0; i < 3; i++) test_add_hashes(f, 1, 0, 2000);
    const struct tamis_info info = test_info(f);
    assert_int_equal(info.affected, 2);
    assert_non_null(strstr(info.caveat, "2 of 3 layers"));
    assert_true(info.fpr_now < 0.02);
    tamis_free(f);
}

/* ---- attenuated ----------------------------------------------------------------------------- */

/* Filters that take in each other, against the sets of levels that each key must be in. */
static void levels_like_a_model(void **state) {
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
        case 0: /* as time goes on, all levels would have all keys */
            tamis_free(f[a]);
            f[a] = test_make("attenuated:capacity=300,fpr=1e-9,levels=4");
            memset(has[a], 0, sizeof has[a]);
            break;
        case 1:
            assert_int_equal(tamis_merge(f[a], f[other]), TAMIS_OK);
            for (int k = 0; k < KEYS; k++) has[a][k] |= has[other][k];
            break;
        case 2:
        case 3: /* also into itself */
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
        assert_int_equal(tamis_load(&again, image, size), TAMIS_OK); /* counts were kept right */
        tamis_free(again);
        tamis_free(f[i]);
        free(image);
    }
}

/* One call is one hop, also when a filter takes in itself. */
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

/* With one probe a hash is its position: a level of exactly nine tenths is known, of one bit more
 * it is not. */
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
    assert_int_equal(tamis_merge_farther(f, f), TAMIS_OK); /* level 2 has the last bit only */
    for (uint64_t i = 0; i < BITS * 9 / 10 - 1; i++) tamis_add_hash(f, hash_at(i, BITS));
    assert_int_equal(test_bits_set(test_payload(f), BITS / 8), BITS * 9 / 10);
    assert_int_equal(tamis_level_hash(f, last), 1);
    assert_int_equal(tamis_level_hash(f, hash_at(0, BITS)), 1);
    assert_int_equal(test_info(f).affected, 0);

    tamis_add_hash(f, hash_at(BITS * 9 / 10, BITS));
    assert_int_equal(tamis_level_hash(f, last), 2);
    assert_int_equal(tamis_level_hash(f, hash_at(0, BITS)), 0);
    assert_true(tamis_has_hash(f, hash_at(0, BITS))); /* membership has no such doubt */
    assert_int_equal(test_info(f).affected, 1);
    assert_non_null(strstr(test_info(f).caveat, "1 of 2 levels"));

    g = test_make("attenuated:capacity=9,bits=%d,levels=2,hashes=1", 2 * BITS + 128);
    assert_int_equal(tamis_merge_farther(g, f), TAMIS_OK); /* full here, full one hop farther */
    assert_int_equal(tamis_level_hash(g, last), 0);
    assert_true(tamis_has_hash(g, last));
    tamis_free(f);
    tamis_free(g);
}

/* Every bit of the payload is either in a level, and counted, or in a count. */
static void attenuated_counts_its_bits(void **state) {
    (void)state;
    tamis *f = test_make("attenuated:capacity=20,levels=3");
    test_add_hashes(f, 1, 0, 20);
    assert_int_equal(tamis_merge_farther(f, f), TAMIS_OK);
    for (uint64_t i = 0; i < test_info(f).payload_bytes * 8; i++)
        assert_false(test_takes_flip(f, i));
    tamis_free(f);
}

/* Three levels of different keys, all near capacity: the rate is that of any of them, and the keys
 * are those of all. */
static void levels_add_up(void **state) {
    (void)state;
    enum { KEYS = 5000, STRANGERS = 400000 };
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
    test_demand_possible(test_count_hits(f, 1, TEST_STRANGERS, STRANGERS), STRANGERS, 1 - missed,
                         "any level");

    struct tamis_estimate items, common;
    assert_int_equal(tamis_items_now(f, &items), TAMIS_OK);
    assert_true(fabs(items.value - 3 * KEYS) < 6 * items.error && items.error < 0.02 * 3 * KEYS);
    assert_int_equal(tamis_overlap(f, part[2], &common), TAMIS_OK);
    assert_true(fabs(common.value - KEYS) < 6 * common.error);
    tamis_free(f);
    for (unsigned i = 0; i < 3; i++) tamis_free(part[i]);
}

/* ---- Routes --------------------------------------------------------------------------------- */

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

static void routes_go_to_the_nearest_that_is_new(void **state) {
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
        {{14, 13, 12, 11, 10}, 5, 5, 0}, /* nobody is left: fall back */
        {{10, 11, 13, 14}, 4, 5, 0},     /* who is left does not know: fall back */
        {{99, 11, 98}, 3, 3, 2},         /* strangers on the list do not matter */
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

    /* A link with a plain filter is one whose keys are all at the neighbour. */
    tamis *plain = test_make("blocked:capacity=50,fpr=1e-6");
    tamis_add(plain, "cat", 3);
    const struct tamis_link mixed[] = {links[1], {15, plain}};
    assert_int_equal(tamis_route(mixed, 2, NULL, 0, "cat", 3, NULL), 1);
    assert_int_equal(tamis_merge_farther(plain, links[0].filter), TAMIS_UNSUPPORTED);
    tamis_free(plain);
    for (size_t i = 0; i < COUNT_OF(links); i++) tamis_free((tamis *)links[i].filter);
}

static void only_equal_shapes_come_together(void **state) {
    (void)state;
    tamis *a = test_make("attenuated:capacity=50"),
          *b = test_make("attenuated:capacity=50,levels=3");
    assert_int_equal(tamis_merge_farther(a, b), TAMIS_MISMATCH);
    assert_non_null(strstr(tamis_why(), "levels"));
    tamis_free(a);
    tamis_free(b);
}

/* ---- retouched ------------------------------------------------------------------------------ */

enum { MEMBERS = 20000 };
static uint64_t members[MEMBERS];

static tamis *with_members(const char *spec) {
    tamis *f = test_make("%s", spec);
    for (uint64_t i = 0; i < MEMBERS; i++) members[i] = test_number(3, i);
    assert_int_equal(tamis_add_hashes(f, members, MEMBERS), TAMIS_OK);
    return f;
}

static uint64_t count_found(const tamis *f, const uint64_t *hashes, size_t n) {
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) found += tamis_has_hash(f, hashes[i]);
    return found;
}

static uint64_t cleared_in(const tamis *f) {
    return test_bits_set(test_array(f, 100, 1), test_info(f).word[0] / 8);
}

/* Strangers that are answered yes. */
static void find_trouble(const tamis *f, uint64_t *trouble, size_t n) {
    size_t found = 0;
    for (uint64_t i = 0; found < n; i++) {
        const uint64_t hash = test_number(3, TEST_STRANGERS + i);
        if (tamis_has_hash(f, hash)) trouble[found++] = hash;
    }
}

/* A share d of the set bits: keys are lost with 1-(1-d)^k, and the rate falls by (1-d)^k. */
static void a_share_costs_what_the_formula_says(void **state) {
    (void)state;
    enum { STRANGERS = 1000000 };
    for (double share = 0.02; share < 0.4; share *= 3) {
        tamis *f = with_members("retouched:capacity=20000,fpr=5%");
        const double before = tamis_fpr_now(f), k = (double)test_info(f).word[1];
        const uint64_t set = test_bits_set(test_payload(f), test_info(f).word[0] / 8);
        struct tamis_retouch_stats report;
        assert_int_equal(tamis_retouch_share(f, share, 42, &report), TAMIS_OK);
        assert_int_equal(report.bits_cleared, cleared_in(f));
        test_demand_possible(report.bits_cleared, set, share, "cleared bits");

        const double d = (double)report.bits_cleared / (double)set;
        test_demand_possible(MEMBERS - count_found(f, members, MEMBERS), MEMBERS, 1 - pow(1 - d, k),
                             "lost keys");
        assert_true(fabs(tamis_fpr_now(f) / (before * pow(1 - d, k)) - 1) < 1e-9);
        test_demand_possible(test_count_hits(f, 3, TEST_STRANGERS, STRANGERS), STRANGERS,
                             before * pow(1 - d, k), "strangers");

        const struct tamis_info info = test_info(f); /* what was added is still known */
        assert_int_equal(info.affected, report.bits_cleared);
        assert_true(fabs(info.items_now.value - MEMBERS) < 6 * info.items_now.error);
        char about[TEXT];
        snprintf(about, sizeof about, "%.2g %% of the keys", 100 * (1 - pow(1 - d, k)));
        if (!strstr(info.caveat, about)) fail_msg("'%s' is not in '%s'", about, info.caveat);
        tamis_free(f);
    }
}

static void shares_at_the_edges(void **state) {
    (void)state;
    tamis *f = with_members("retouched:capacity=20000"), *old = test_copy(f), *g = test_copy(f);
    struct tamis_retouch_stats report;
    assert_int_equal(tamis_retouch_share(f, 0, 1, &report), TAMIS_OK);
    assert_true(report.bits_cleared == 0 && test_is_same_payload(f, old));
    assert_int_equal(tamis_retouch_share(f, -0.1, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_retouch_share(f, 1.1, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_retouch_share(f, NAN, 1, NULL), TAMIS_INVALID);

    /* The same seed gives the same bits, another one others. */
    assert_int_equal(tamis_retouch_share(f, 0.1, 1, &report), TAMIS_OK);
    assert_int_equal(tamis_retouch_share(g, 0.1, 1, NULL), TAMIS_OK);
    assert_true(test_is_same_payload(f, g));
    assert_int_equal(tamis_retouch_undo(g), TAMIS_OK);
    assert_true(test_is_same_payload(g, old));
    assert_int_equal(tamis_retouch_share(g, 0.1, 2, NULL), TAMIS_OK);
    assert_false(test_is_same_payload(f, g));

    /* Again with the same seed takes a share of what is left. */
    const uint64_t left = test_bits_set(test_payload(f), test_info(f).word[0] / 8);
    assert_int_equal(tamis_retouch_share(f, 0.1, 1, &report), TAMIS_OK);
    test_demand_possible(report.bits_cleared, left, 0.1, "a second share");

    assert_int_equal(tamis_retouch_share(f, 1, 1, NULL), TAMIS_OK);
    assert_int_equal(count_found(f, members, MEMBERS), 0);
    assert_int_equal(tamis_retouch_undo(f), TAMIS_OK);
    assert_true(test_is_same_payload(f, old));
    tamis_free(f);
    tamis_free(g);
    tamis_free(old);
}

/* Every way: none of the troublesome keys is left, the report is true, and undo is exact. */
static void every_way_ends_the_trouble(void **state) {
    (void)state;
    enum { TROUBLE = 2000 };
    static uint64_t trouble[TROUBLE];
    uint64_t lost[4], bits[4];
    for (int way = TAMIS_RETOUCH_RANDOM; way <= TAMIS_RETOUCH_RATIO; way++) {
        tamis *f = with_members("retouched:capacity=20000,fpr=1%"), *old = test_copy(f);
        struct tamis_retouch_stats report;
        find_trouble(f, trouble, TROUBLE);
        assert_int_equal(tamis_retouch(f, (enum tamis_retouch_policy)way, trouble, TROUBLE, members,
                                       MEMBERS, 7, &report),
                         TAMIS_OK);
        assert_int_equal(count_found(f, trouble, TROUBLE), 0);
        assert_int_equal(report.trouble_cleared, TROUBLE);
        assert_int_equal(report.bits_cleared, cleared_in(f));
        assert_int_equal(report.keys_lost, MEMBERS - count_found(f, members, MEMBERS));
        lost[way] = report.keys_lost;
        bits[way] = report.bits_cleared;

        /* A second time there is nothing to do. */
        assert_int_equal(tamis_retouch(f, (enum tamis_retouch_policy)way, trouble, TROUBLE, members,
                                       MEMBERS, 7, &report),
                         TAMIS_OK);
        assert_true(!report.trouble_cleared && !report.bits_cleared && !report.keys_lost);

        /* A key that is added again is found again. */
        for (size_t i = 0; i < MEMBERS; i++)
            if (!tamis_has_hash(f, members[i])) {
                assert_int_equal(tamis_add_hash(f, members[i]), TAMIS_OK);
                assert_true(tamis_has_hash(f, members[i]));
                break;
            }
        assert_int_equal(tamis_retouch_undo(f), TAMIS_OK);
        assert_true(test_is_same_payload(f, old));
        assert_int_equal(test_info(f).affected, 0);
        tamis_free(f);
        tamis_free(old);
    }
    assert_true(lost[TAMIS_RETOUCH_KEYS] < lost[TAMIS_RETOUCH_RANDOM]);
    assert_true(lost[TAMIS_RETOUCH_RATIO] < lost[TAMIS_RETOUCH_KEYS]);
    assert_true(bits[TAMIS_RETOUCH_TROUBLE] < bits[TAMIS_RETOUCH_RANDOM]);
    assert_true(bits[TAMIS_RETOUCH_TROUBLE] <= bits[TAMIS_RETOUCH_RATIO]);
}

/* Counts as the ways need them, worked out here: each key once for each of its bits. */
static void count_needs(const tamis *f, const uint64_t *hashes, size_t n, unsigned *needs) {
    const struct tamis_info info = test_info(f);
    uint64_t at[MAX_HASHES];
    for (size_t j = 0; j < n; j++) {
        const unsigned k = positions(hashes[j], info.word[0], info.word[1], at);
        for (unsigned i = 0; i < k; i++) {
            unsigned before = 0;
            while (at[before] != at[i]) before++;
            needs[at[i]] += before == i;
        }
    }
}

/* The first bit that goes is the best one by the rule of its way, among those of the key. */
static void ways_choose_the_best_bit(void **state) {
    (void)state;
    enum { TROUBLE = 300, MAX_BITS = 1 << 19 };
    static uint64_t trouble[TROUBLE];
    static unsigned keys_at[MAX_BITS], trouble_at[MAX_BITS];
    tamis *f = with_members("retouched:capacity=20000,fpr=1%");
    const struct tamis_info info = test_info(f);
    find_trouble(f, trouble, TROUBLE);
    assert_true(info.word[0] <= MAX_BITS);
    memset(keys_at, 0, sizeof keys_at);
    memset(trouble_at, 0, sizeof trouble_at);
    count_needs(f, members, MEMBERS, keys_at);
    count_needs(f, trouble, TROUBLE, trouble_at);
    for (size_t t = 0; t < TROUBLE; t++)
        for (int way = TAMIS_RETOUCH_RANDOM; way <= TAMIS_RETOUCH_RATIO; way++) {
            uint64_t at[MAX_HASHES], turned[TROUBLE], chosen = info.word[0];
            const unsigned k = positions(trouble[t], info.word[0], info.word[1], at);
            memcpy(turned, trouble, sizeof turned); /* this one first */
            turned[0] = trouble[t], turned[t] = trouble[0];
            tamis *g = test_copy(f);
            assert_int_equal(tamis_retouch(g, (enum tamis_retouch_policy)way, turned, TROUBLE,
                                           members, MEMBERS, t, NULL),
                             TAMIS_OK);
            /* Others may have cleared more of its bits; the best must be among them. */
            double best = INFINITY, best_cleared = INFINITY;
            for (unsigned i = 0; i < k; i++) {
                const double keys = keys_at[at[i]], hits = trouble_at[at[i]];
                const double cost = way == TAMIS_RETOUCH_KEYS      ? keys
                                    : way == TAMIS_RETOUCH_TROUBLE ? -hits
                                    : way == TAMIS_RETOUCH_RATIO   ? keys / hits
                                                                   : 0;
                best = fmin(best, cost);
                if (bit_at(test_array(g, 100, 1), at[i])) {
                    best_cleared = fmin(best_cleared, cost);
                    chosen = at[i];
                }
            }
            assert_true(chosen < info.word[0]);
            assert_true(best_cleared == best);
            tamis_free(g);
            if (t % 10) break; /* a tenth of them for every way, chance for all */
        }
    tamis_free(f);
}

/* Where the keys that are given need none of the bits, the ratio is decided by the trouble. */
static void ratio_without_known_keys_is_trouble(void **state) {
    (void)state;
    enum { TROUBLE = 1000 };
    static uint64_t trouble[TROUBLE];
    tamis *f = with_members("retouched:capacity=20000,fpr=1%"), *g = test_copy(f);
    const uint64_t nobody = test_number(99, 1);
    find_trouble(f, trouble, TROUBLE);
    assert_false(tamis_has_hash(f, nobody));
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_RATIO, trouble, TROUBLE, &nobody, 1, 0, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_retouch(g, TAMIS_RETOUCH_TROUBLE, trouble, TROUBLE, NULL, 0, 0, NULL),
                     TAMIS_OK);
    assert_true(test_is_same_payload(f, g));
    tamis_free(f);
    tamis_free(g);
}

/* Chance takes every bit of a key sooner or later, and the seed decides which. */
static void chance_is_repeatable_and_fair(void **state) {
    (void)state;
    enum { SEEDS = 6000 };
    tamis *f = with_members("retouched:capacity=20000,fpr=2%"), *old = test_copy(f);
    const struct tamis_info info = test_info(f);
    uint64_t trouble, at[MAX_HASHES], taken[MAX_HASHES] = {0};
    const uint8_t *cleared = test_payload(f) + info.word[0] / 8;
    find_trouble(f, &trouble, 1);
    const unsigned k = positions(trouble, info.word[0], info.word[1], at);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct tamis_retouch_stats report;
        assert_int_equal(
            tamis_retouch(f, TAMIS_RETOUCH_RANDOM, &trouble, 1, NULL, 0, seed, &report), TAMIS_OK);
        assert_int_equal(report.bits_cleared, 1);
        for (unsigned i = 0; i < k; i++) taken[i] += bit_at(cleared, at[i]);
        assert_int_equal(tamis_retouch_undo(f), TAMIS_OK);
    }
    for (unsigned i = 0; i < k; i++)
        test_demand_possible(taken[i], SEEDS, 1.0 / k, "a bit by chance");
    assert_true(test_is_same_payload(f, old));
    tamis_free(f);
    tamis_free(old);
}

static void ways_ask_for_what_they_need(void **state) {
    (void)state;
    tamis *f = test_make("retouched:capacity=100"), *plain = test_make("classic:capacity=100");
    const uint64_t trouble = 1;
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_KEYS, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_RATIO, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_TROUBLE, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_retouch(f, (enum tamis_retouch_policy)4, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_retouch(plain, TAMIS_RETOUCH_RANDOM, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_retouch_undo(plain), TAMIS_UNSUPPORTED);
    tamis_free(f);
    tamis_free(plain);
}

/* Adds, clearing, undoing and merging in any order, against two plain arrays of bits. */
static void retouched_like_a_model(void **state) {
    (void)state;
    enum { FILTERS = 3, BITS = 1024, STEPS = 3000 };
    bool was_set[FILTERS][BITS] = {{0}}, is_kept[FILTERS][BITS] = {{0}};
    tamis *f[FILTERS];
    for (int i = 0; i < FILTERS; i++) f[i] = test_make("retouched:capacity=100,bits=2048,hashes=4");
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t draw = test_number(9, step), hash = test_number(10, draw % 500);
        const unsigned a = (draw >> 20) % FILTERS, b = (draw >> 30) % FILTERS;
        uint64_t at[MAX_HASHES];
        positions(hash, BITS, 4, at);
        const unsigned what = draw >> 40 & 63;
        if (what == 0) {
            assert_int_equal(tamis_merge(f[a], f[b]), TAMIS_OK);
            for (int i = 0; i < BITS; i++) {
                was_set[a][i] |= was_set[b][i];
                is_kept[a][i] |= is_kept[b][i];
            }
        } else if (what == 1) {
            assert_int_equal(tamis_retouch_undo(f[a]), TAMIS_OK);
            memcpy(is_kept[a], was_set[a], BITS);
        } else if (what < 24) { /* the one bit that goes is read back */
            const bool was_found = tamis_has_hash(f[a], hash);
            assert_int_equal(
                tamis_retouch(f[a], TAMIS_RETOUCH_RANDOM, &hash, 1, NULL, 0, step, NULL), TAMIS_OK);
            const uint8_t *kept = test_payload(f[a]);
            unsigned gone = 0;
            for (int i = 0; i < BITS; i++) {
                const bool is_now = bit_at(kept, (uint64_t)i);
                if (is_kept[a][i] && !is_now) {
                    is_kept[a][i] = false;
                    gone++;
                }
            }
            assert_int_equal(gone, was_found);
        } else {
            assert_int_equal(tamis_add_hash(f[a], hash), TAMIS_OK);
            for (int i = 0; i < 4; i++) was_set[a][at[i]] = is_kept[a][at[i]] = true;
        }
        const uint8_t *kept = test_payload(f[a]), *cleared = kept + BITS / 8;
        for (uint64_t i = 0; i < BITS; i++) {
            assert_int_equal(bit_at(kept, i), is_kept[a][i]);
            assert_int_equal(bit_at(cleared, i), was_set[a][i] && !is_kept[a][i]);
        }
    }
    for (int i = 0; i < FILTERS; i++) tamis_free(f[i]);
}

/* A bit that is kept and cleared at once does not pass; one that is neither may be either. */
static void a_bit_is_kept_or_cleared(void **state) {
    (void)state;
    tamis *f = test_make("retouched:capacity=20");
    const uint64_t bits = test_info(f).word[0];
    const uint8_t *kept = test_payload(f), *cleared = kept + bits / 8;
    test_add_hashes(f, 1, 0, 20);
    assert_int_equal(tamis_retouch_share(f, 0.2, 1, NULL), TAMIS_OK);
    for (uint64_t i = 0; i < 2 * bits; i++) {
        const bool is_kept = bit_at(kept, i % bits), is_cleared = bit_at(cleared, i % bits);
        const bool makes_both = i < bits ? is_cleared : is_kept;
        assert_int_equal(test_takes_flip(f, i), !makes_both);
    }
    tamis_free(f);
}

/* ---- composite ------------------------------------------------------------------------------ */

/* With a rate that does not happen: added and not removed, and never again. */
static void composite_like_a_model(void **state) {
    (void)state;
    enum { KEYS = 500, STEPS = 6000 };
    enum { NEVER, ADDED, REMOVED } is[KEYS] = {NEVER};
    tamis *f = test_make("composite:capacity=500,fpr=1e-9");
    uint64_t items = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t draw = test_number(11, step), key = draw % KEYS;
        tamis *old = step % 10 ? NULL : test_copy(f);
        tamis_status rc, expected = TAMIS_OK;
        if (draw >> 40 & 1) {
            rc = tamis_add_u64(f, key);
            if (is[key] == REMOVED) expected = TAMIS_TOMBSTONED;
            if (!rc) is[key] = ADDED, items++;
        } else {
            rc = tamis_remove_u64(f, key);
            if (is[key] != ADDED) expected = TAMIS_NOT_FOUND;
            if (!rc) is[key] = REMOVED, items--;
        }
        assert_int_equal(rc, expected);
        if (rc && old) assert_true(test_is_same_payload(f, old)); /* refused: nothing changed */
        tamis_free(old);
        const uint64_t asked = draw >> 44 & 255;
        assert_int_equal(tamis_has_u64(f, asked), is[asked] == ADDED);
    }
    assert_int_equal(test_info(f).items, items);
    tamis_free(f);
}

/* One removed key among many: none is added, however many there are, and the sentence says why. */
static void composite_adds_all_or_none(void **state) {
    (void)state;
    enum { MANY = 3000 };
    static uint64_t keys[MANY];
    static struct tamis_key many[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        keys[i] = i;
        many[i] = (struct tamis_key){&keys[i], sizeof keys[i]};
    }
    for (size_t bad = 0; bad < MANY; bad += MANY - 1) {
        tamis *f = test_make("composite:capacity=4000,fpr=1e-9");
        assert_int_equal(tamis_add(f, many[bad].bytes, many[bad].len), TAMIS_OK);
        assert_int_equal(tamis_remove(f, many[bad].bytes, many[bad].len), TAMIS_OK);
        tamis *old = test_copy(f);
        assert_int_equal(tamis_add_many(f, many, MANY), TAMIS_TOMBSTONED);
        assert_non_null(strstr(tamis_why(), "removed"));
        assert_true(test_is_same_payload(f, old));
        assert_int_equal(test_info(f).items, 0);
        assert_int_equal(tamis_add_many(f, many + 1, MANY - 2), TAMIS_OK);
        assert_int_equal(test_info(f).items, MANY - 2);
        tamis_free(f);
        tamis_free(old);
    }
}

/* Half of the keys are removed from filters that are too small: of the other half as many are lost
 * as the second filter has false positives, and strangers are found as often as both say. */
static void composite_loses_keys_at_its_rate(void **state) {
    (void)state;
    enum { KEYS = 20000, STRANGERS = 400000 };
    for (unsigned percent = 20; percent <= 100; percent += 40) {
        tamis *f = test_make("composite:capacity=%d,fpr=20%%,removed=%u", KEYS / 2, percent);
        test_add_hashes(f, 1, 0, KEYS);
        uint64_t found = 0;
        for (uint64_t i = KEYS / 2; i < KEYS; i++) {
            const tamis_status rc = tamis_remove_hash(f, test_number(1, i));
            assert_true(rc == TAMIS_OK || rc == TAMIS_NOT_FOUND); /* one that is lost already */
        }
        for (uint64_t i = 0; i < KEYS; i++) {
            const bool is_there = tamis_has_hash(f, test_number(1, i));
            assert_true(i < KEYS / 2 || !is_there);
            found += is_there;
        }
        const double added_rate = test_array_rate(f, percent, 0);
        const double removed_rate = test_array_rate(f, percent, 1);
        test_demand_possible(KEYS / 2 - found, KEYS / 2, removed_rate, "lost keys");
        assert_true(fabs(tamis_fpr_now(f) - added_rate * (1 - removed_rate)) < 1e-12);
        test_demand_possible(test_count_hits(f, 1, TEST_STRANGERS, STRANGERS), STRANGERS,
                             added_rate * (1 - removed_rate), "strangers");

        const struct tamis_info info = test_info(f);
        char about[TEXT];
        snprintf(about, sizeof about, "%.2g %% are lost", 100 * removed_rate);
        if (!strstr(info.caveat, about)) fail_msg("'%s' is not in '%s'", about, info.caveat);
        /* Removing a key that is lost already would not have set a bit: it counts as removed. */
        assert_true(fabs(info.items_now.value - KEYS / 2) < 6 * info.items_now.error);
        assert_true(fabs((double)info.affected - KEYS / 2) < 6 * info.items_now.error + 1);
        tamis_free(f);
    }
}

/* Both filters are planned for the rate: also the second, with its share of the keys. */
static void composite_plans_both_filters(void **state) {
    (void)state;
    static const double rates[] = {0.2, 0.01, 1e-4, 1e-7};
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (uint64_t n = 1; n < 200000; n = n * 3 + 5)
            for (unsigned percent = 1; percent <= 100; percent += 11) {
                char spec[TEXT];
                struct tamis_plan plan;
                snprintf(spec, sizeof spec, "composite:capacity=%llu,fpr=%g,removed=%u",
                         (unsigned long long)n, rates[r], percent);
                assert_int_equal(tamis_plan_spec(spec, &plan, sizeof plan), TAMIS_OK);
                const uint64_t bits = plan.payload_bytes * 8 - plan.word[0],
                               keys = (n * percent + 99) / 100;
                const double rate =
                    bits < 2048
                        ? tamis_rate_exact(keys, bits, (unsigned)plan.word[1])
                        : tamis_rate_second_order((double)keys, (double)bits, (double)plan.word[1]);
                if (rate > rates[r] * (1 + 1e-6)) fail_msg("%s would lose %g", spec, rate);
                assert_true(plan.fpr_expected <= rates[r]);
            }
}

/* A removal counts for the union, also where the other filter still has the key. */
static void composite_merges_both_filters(void **state) {
    (void)state;
    tamis *a = test_make("composite:capacity=100,fpr=1e-9"), *b = test_copy(a);
    for (uint64_t i = 0; i < 60; i++) tamis_add_u64(a, i);
    for (uint64_t i = 40; i < 100; i++) tamis_add_u64(b, i);
    for (uint64_t i = 50; i < 55; i++) assert_int_equal(tamis_remove_u64(a, i), TAMIS_OK);
    for (uint64_t i = 90; i < 95; i++) assert_int_equal(tamis_remove_u64(b, i), TAMIS_OK);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(tamis_has_u64(a, i), !(i >= 50 && i < 55) && !(i >= 90 && i < 95));
    tamis_free(a);
    tamis_free(b);
}

/* When the second filter is full, everything is answered no, and the filter says so. */
static void composite_full_of_removals(void **state) {
    (void)state;
    tamis *f = test_make("composite:capacity=1000,bits=16384,removed=1,hashes=1");
    struct tamis_estimate items;
    for (uint64_t i = 0; i < 200000; i++) {
        if (tamis_add_u64(f, i) == TAMIS_OK) tamis_remove_u64(f, i);
    }
    const struct tamis_info info = test_info(f);
    assert_int_equal(tamis_items_now(f, &items), TAMIS_SATURATED);
    assert_true(info.fpr_now == 0 && info.affected > 0);
    assert_non_null(strstr(info.caveat, "1e+02 % are lost"));
    assert_int_equal(tamis_add_u64(f, UINT64_MAX), TAMIS_TOMBSTONED);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_array_is_classic),
        cmocka_unit_test(sizes_follow_from_the_words),
        cmocka_unit_test(sizes_are_used_up),
        cmocka_unit_test(illegal_words_are_refused),
        cmocka_unit_test(layered_is_never_under),
        cmocka_unit_test(layered_ends_at_its_last_layer),
        cmocka_unit_test(layers_fail_independently),
        cmocka_unit_test(layered_merges_to_the_larger_count),
        cmocka_unit_test(layered_tells_of_overfull_layers),
        cmocka_unit_test(levels_like_a_model),
        cmocka_unit_test(one_hop_at_a_time),
        cmocka_unit_test(a_full_level_is_unknown),
        cmocka_unit_test(attenuated_counts_its_bits),
        cmocka_unit_test(levels_add_up),
        cmocka_unit_test(routes_go_to_the_nearest_that_is_new),
        cmocka_unit_test(only_equal_shapes_come_together),
        cmocka_unit_test(a_share_costs_what_the_formula_says),
        cmocka_unit_test(shares_at_the_edges),
        cmocka_unit_test(every_way_ends_the_trouble),
        cmocka_unit_test(ways_choose_the_best_bit),
        cmocka_unit_test(ratio_without_known_keys_is_trouble),
        cmocka_unit_test(chance_is_repeatable_and_fair),
        cmocka_unit_test(ways_ask_for_what_they_need),
        cmocka_unit_test(retouched_like_a_model),
        cmocka_unit_test(a_bit_is_kept_or_cleared),
        cmocka_unit_test(composite_like_a_model),
        cmocka_unit_test(composite_adds_all_or_none),
        cmocka_unit_test(composite_loses_keys_at_its_rate),
        cmocka_unit_test(composite_plans_both_filters),
        cmocka_unit_test(composite_merges_both_filters),
        cmocka_unit_test(composite_full_of_removals),
    };
    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
