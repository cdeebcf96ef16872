/* SPDX-License-Identifier: MIT */
/* Feature hashing: products of hashed vectors equal those of the vectors, on average, with the
 * variance of the formula; two-sided, over many hash functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tamis_jobs.h"
#include "tests/support/bounds.h"
#include "tests/support/spread.h"

enum { KEYS = 40, PLACES = 64, TRIALS = 4000 };

static struct tamis_key key_at(int i, char room[16]) {
    return (struct tamis_key){room, (size_t)snprintf(room, 16, "word%d", i)};
}

/* Two vectors that share half of their keys. */
static double x_at(int i) {
    return i < 30 ? 1 + i % 3 : 0;
}
static double y_at(int i) {
    return i >= 15 ? 2 - i % 4 : 0;
}

static double product(const struct tamis_features *shape) {
    float x[PLACES] = {0}, y[PLACES] = {0};
    double sum = 0;
    char room[16];
    for (int i = 0; i < KEYS; i++) {
        const struct tamis_key key = key_at(i, room);
        if (x_at(i) != 0) tamis_features_add(shape, x, key.bytes, key.len, x_at(i));
        if (y_at(i) != 0) tamis_features_add(shape, y, key.bytes, key.len, y_at(i));
    }
    for (int i = 0; i < PLACES; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

/* Sums over the vectors themselves: <x, y>, |x|^2, |y|^2 and so on. */
typedef struct truth {
    double xy, xx, yy, squares, x, y;
} truth;

static truth truth_of_all(void) {
    truth t = {0};
    for (int i = 0; i < KEYS; i++) {
        t.xy += x_at(i) * y_at(i);
        t.xx += x_at(i) * x_at(i);
        t.yy += y_at(i) * y_at(i);
        t.squares += x_at(i) * x_at(i) * y_at(i) * y_at(i);
        t.x += x_at(i);
        t.y += y_at(i);
    }
    return t;
}

static void signed_products_are_unbiased(void **state) {
    const truth t = truth_of_all();
    test_spread s = {0};
    (void)state;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        const struct tamis_features shape = {PLACES, seed, true};
        test_spread_add(&s, product(&shape));
    }
    /* Only pairs of different keys vary, not the terms i = j of the bound. */
    const double variance = (t.xy * t.xy + t.xx * t.yy - 2 * t.squares) / PLACES;
    const double bound = (t.xy * t.xy + t.xx * t.yy) / PLACES;
    assert_true(test_mean_is_possible(&s, t.xy, variance));
    assert_true(test_variance_is_possible(&s, variance, variance));
    assert_true(test_spread_variance(&s) < bound);
}

static void unsigned_products_are_too_large_by_the_collisions(void **state) {
    const truth t = truth_of_all();
    test_spread s = {0};
    (void)state;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        const struct tamis_features shape = {PLACES, seed, false};
        test_spread_add(&s, product(&shape));
    }
    assert_true(
        test_mean_is_possible(&s, t.xy + (t.x * t.y - t.xy) / PLACES, test_spread_variance(&s)));
    assert_false(test_mean_is_possible(&s, t.xy, test_spread_variance(&s)));
}

/* Signs are fair among the keys of every place, and places are equally likely. */
static void sign_and_place_are_independent(void **state) {
    enum { MANY = 200000, FEW = 7 };
    const struct tamis_features shape = {FEW, 5, true}, plain = {FEW, 5, false};
    uint64_t in[FEW] = {0}, negative[FEW] = {0};
    char room[16];
    (void)state;
    for (int i = 0; i < MANY; i++) {
        const struct tamis_key key = key_at(i, room);
        int sign = 0, same = 0;
        const uint64_t place = tamis_features_place(&shape, key.bytes, key.len, &sign);
        assert_true(place < FEW && (sign == 1 || sign == -1));
        assert_int_equal(tamis_features_place(&plain, key.bytes, key.len, &same), place);
        assert_int_equal(same, 1);
        in[place]++;
        negative[place] += sign < 0;
    }
    for (int i = 0; i < FEW; i++) {
        assert_true(test_is_possible(in[i], MANY, 1.0 / FEW, TEST_ALPHA));
        assert_true(test_is_possible(negative[i], in[i], 0.5, TEST_ALPHA));
    }
}

static void hashes_are_those_of_filters(void **state) {
    const struct tamis_features shape = {1000, 77, true};
    tamis *f;
    int sign;
    (void)state;
    assert_int_equal(tamis_create(&f, "blocked:capacity=10,seed=77"), TAMIS_OK);
    const uint64_t hash = tamis_hash(f, "cat", 3);
    const uint64_t place = tamis_features_place(&shape, "cat", 3, &sign);
    assert_int_equal(place, (hash >> 32) * 1000 >> 32);
    assert_int_equal(sign, hash & 1 ? -1 : 1);
    tamis_free(f);
}

static void many_at_once_and_whole_numbers(void **state) {
    const struct tamis_features shape = {16, 1, true}, none = {0, 1, true};
    float one[16] = {0}, many[16] = {0}, plain[16] = {0};
    int32_t whole[16] = {0};
    char room[20][16];
    struct tamis_key keys[20];
    double weights[20];
    (void)state;
    for (int i = 0; i < 20; i++) {
        keys[i] = key_at(i, room[i]);
        weights[i] = i / 4.0;
        tamis_features_add(&shape, one, keys[i].bytes, keys[i].len, weights[i]);
        tamis_features_count(&shape, whole, keys[i].bytes, keys[i].len, 1);
    }
    tamis_features_add_many(&shape, many, keys, weights, 20);
    tamis_features_add_many(&shape, plain, keys, NULL, 20);
    assert_memory_equal(one, many, sizeof one);
    for (int i = 0; i < 16; i++) assert_true((double)plain[i] == whole[i]);
    /* Saturation at both ends, and a vector without places. */
    int sign;
    const uint64_t at = tamis_features_place(&shape, "x", 1, &sign);
    for (int i = 0; i < 3; i++) tamis_features_count(&shape, whole, "x", 1, INT32_MAX);
    assert_int_equal(whole[at], sign > 0 ? INT32_MAX : INT32_MIN);
    for (int i = 0; i < 5; i++) tamis_features_count(&shape, whole, "x", 1, INT32_MIN);
    assert_int_equal(whole[at], sign > 0 ? INT32_MIN : INT32_MAX);
    tamis_features_add(&none, NULL, "x", 1, 1);
    tamis_features_count(&none, NULL, "x", 1, 1);
    assert_int_equal(tamis_features_place(&none, "x", 1, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_products_are_unbiased),
        cmocka_unit_test(unsigned_products_are_too_large_by_the_collisions),
        cmocka_unit_test(sign_and_place_are_independent),
        cmocka_unit_test(hashes_are_those_of_filters),
        cmocka_unit_test(many_at_once_and_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
