/* SPDX-License-Identifier: MIT */
/* The distribution of bits over blocks, of sound and of broken filters, and exact intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/measure/occupancy.h"
#include "cli/measure/statistics.h"
#include "tamis.h"
#include "tamis_engine.h"

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within)) fail_msg("%.17g is not %.17g", value, expected);
}

/* Values from other statistics software. */
static void intervals_are_exact(void **state) {
    (void)state;
    static const struct {
        uint64_t hits, trials;
        double low, high;
    } known[] = {{0, 100, 0, 0.0731921575442},
                 {1, 100, 5.00123791059e-06, 0.0956101110743},
                 {10, 1000, 0.00270757559917, 0.0250634331416},
                 {9900, 1000000, 0.0095774201650, 0.0102299981847},
                 {500000, 1000000, 0.498354241503, 0.501645758497},
                 {10, 10, 0.467624223911, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct interval found = rate_interval(known[i].hits, known[i].trials, 1e-3);
        assert_near(found.low, known[i].low, 1e-12);
        assert_near(found.high, known[i].high, 1e-12);
    }
    assert_near(chi_square_tail(3.84, 1), 0.05004352124870519, 1e-13);
    assert_near(chi_square_tail(511, 511), 0.4916803947663074, 1e-12);
    assert_near(chi_square_tail(700, 511), 4.9370671823515055e-08, 1e-18);
    assert_near(chi_square_tail(10, 3), 0.01856613546304325, 1e-13);
    assert_near(chi_square_tail(0, 3), 1, 0);
}

enum { KEYS = 100000 };

static tamis *filter_of(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("'%s' is refused: %s", spec, tamis_why());
    for (uint64_t i = 0; i < KEYS; i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
    return f;
}

static const char *const specs[] = {"blocked:capacity=100000,fpr=1%",
                                    "blocked:capacity=100000,fpr=10%",
                                    "blocked:capacity=100000,fpr=1e-5",
                                    "blocked:capacity=300000,fpr=1%",
                                    "split:capacity=100000,fpr=1%",
                                    "classic:capacity=100000,fpr=1%",
                                    "classic:capacity=100000,fpr=1%,scheme=double",
                                    "universal:capacity=100000,fpr=1%"};
enum { SPECS = sizeof specs / sizeof *specs };

static void sound_filters_look_sound(void **state) {
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        tamis *f = filter_of(specs[i]);
        struct blocks blocks;
        struct occupancy o;
        assert_true(blocks_of(f, &blocks));
        occupancy_of(&blocks, KEYS, &o);
        double sum = 0;
        for (unsigned b = 0; b <= blocks.bits; b++) sum += o.expected[b];
        assert_near(sum, 1, 1e-6);
        if (o.chance < 1e-9 || o.bias_chance < 1e-9)
            fail_msg("%s: chances %g and %g", specs[i], o.chance, o.bias_chance);
        tamis_free(f);
    }
}

/* A poor hash: a quarter of the keys goes only to the first half of the blocks. */
static void clumped_keys_are_detected(void **state) {
    (void)state;
    tamis *f;
    assert_int_equal(tamis_create(&f, "blocked:capacity=100000,fpr=1%"), TAMIS_OK);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t hash;
        tamis_hash_u64s(f, &i, 1, &hash);
        tamis_add_hash(f, i % 4 ? hash : hash >> 1);
    }
    struct blocks blocks;
    struct occupancy o;
    assert_true(blocks_of(f, &blocks));
    occupancy_of(&blocks, KEYS, &o);
    assert_true(o.chance < 1e-9);
    assert_true(o.apart > 0.02);
    tamis_free(f);
}

/* A bit that is never set, as with a mask that is one bit too short. */
static void a_dead_position_is_seen(void **state) {
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        tamis *f = filter_of(specs[i]);
        struct blocks blocks;
        struct occupancy o;
        assert_true(blocks_of(f, &blocks));
        uint8_t *copy = malloc(blocks.count * blocks.bits / 8);
        assert_non_null(copy);
        memcpy(copy, blocks.bytes, blocks.count * blocks.bits / 8);
        for (uint64_t b = 0; b < blocks.count; b++) copy[b * blocks.bits / 8 + 3] &= 0xef;
        blocks.bytes = copy;
        occupancy_of(&blocks, KEYS, &o);
        assert_true(o.bias_chance < 1e-9);
        assert_true(o.bias > 0.9);
        free(copy);
        tamis_free(f);
    }
}

static void other_kinds_have_no_blocks_of_bits(void **state) {
    (void)state;
    struct blocks blocks;
    tamis *f = filter_of("cuckoo:capacity=100000");
    assert_false(blocks_of(f, &blocks));
    tamis_free(f);
}

static void an_empty_filter_looks_sound(void **state) {
    (void)state;
    tamis *f;
    struct blocks blocks;
    struct occupancy o;
    assert_int_equal(tamis_create(&f, "blocked:capacity=1000"), TAMIS_OK);
    assert_true(blocks_of(f, &blocks));
    occupancy_of(&blocks, 0, &o);
    assert_near(o.mean, 0, 0);
    assert_near(o.expected[0], 1, 1e-12);
    assert_true(o.chance > 0.5 && o.bias_chance > 0.5);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_exact),
        cmocka_unit_test(sound_filters_look_sound),
        cmocka_unit_test(clumped_keys_are_detected),
        cmocka_unit_test(a_dead_position_is_seen),
        cmocka_unit_test(other_kinds_have_no_blocks_of_bits),
        cmocka_unit_test(an_empty_filter_looks_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
