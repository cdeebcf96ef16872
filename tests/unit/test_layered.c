/* SPDX-License-Identifier: MIT */
/* layered counts in stacked arrays: against exact counts and the rates of its layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/arrays.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

/* The vectors of docs/format.md: a second add goes to the second layer, with its own hashes. */
static void known_hashes_have_known_bits(void **state) {
    (void)state;
    enum { LAYER_BITS = 640, HASHES = 4 };
    static const struct {
        uint64_t hash, at[HASHES];
    } known[] = {{0x42548a8a111c54ee, {352, 86, 28, 141}},
                 {0xe41f5c6dbce1fa41, {193, 233, 262, 139}}};
    for (size_t i = 0; i < 2; i++) {
        tamis *f = test_make("layered:capacity=9,layers=2,shrink=40,hashes=4,bits=1024");
        assert_int_equal(test_info(f).word[0], LAYER_BITS);
        assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
        assert_int_equal(test_bits_set(test_array(f, 60, 1), 384 / 8), 0);
        assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
        assert_int_equal(test_bits_set(test_array(f, 60, 1), 384 / 8), HASHES);
        for (unsigned p = 0; p < HASHES; p++)
            assert_int_equal(test_bits_at(f, LAYER_BITS + known[i].at[p], 1), 1);
        tamis_free(f);
    }
}

/* Never below the true count, at any load; exact where the rate is negligible. */
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

/* Once all layers have a key, adding it changes nothing. */
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

/* A non-member is counted j times when it is a false positive of j layers at once. Each layer has
 * its own hashes, so their rates multiply. */
static void layers_fail_independently(void **state) {
    (void)state;
    enum { PROBES = 400000, LAYERS = 3 };
    for (unsigned shrink = 0; shrink <= 30; shrink += 30) {
        tamis *f = test_make("layered:capacity=4000,fpr=20%%,layers=3,shrink=%u", shrink);
        for (uint64_t j = 0; j < LAYERS; j++) test_add_hashes(f, 1, 0, 4000 - 800 * j);
        uint64_t reached[LAYERS + 1] = {0};
        for (uint64_t i = 0; i < PROBES; i++)
            reached[tamis_count_hash(f, test_number(1, TEST_STRANGERS + i))]++;
        double rate = 1;
        for (unsigned j = LAYERS; j-- > 0;) reached[j] += reached[j + 1];
        for (unsigned j = 0; j < LAYERS; j++) {
            rate *= test_array_rate(f, 100 - shrink, j);
            test_demand_possible(reached[j + 1], PROBES, rate, "strangers in the first layers");
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

/* Later layers that are too small show in the caveat, not in the rate. */
static void layered_reports_overfull_layers(void **state) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_bits),
        cmocka_unit_test(layered_is_never_under),
        cmocka_unit_test(layered_ends_at_its_last_layer),
        cmocka_unit_test(layers_fail_independently),
        cmocka_unit_test(layered_merges_to_the_larger_count),
        cmocka_unit_test(layered_reports_overfull_layers),
    };
    return cmocka_run_group_tests_name("layered", tests, NULL, NULL);
}
