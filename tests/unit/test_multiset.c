/* SPDX-License-Identifier: MIT */
/* multiset: every count is written, read and merged exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "kinds/slots.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

/* Every count of every remainder of a few bits is read back, passes the gate, and takes at most one
 * slot more than the count before; counting down gives the same bytes again. */
static void every_count_is_written_and_read(void **state) {
    (void)state;
    for (unsigned width = 2; width <= 5; width++) {
        tamis *f = test_make("multiset:capacity=60,size=%llu",
                             (unsigned long long)tamis__slots_size(64, width));
        assert_int_equal(test_info(f).word[0], 64);
        assert_int_equal(test_info(f).word[1], width);
        for (uint64_t x = 0; x < (uint64_t)1 << width; x++) {
            const tamis_slots t = {.homes = 64, .width = width};
            const uint64_t hash = tamis__fingerprint_hash(&t, 9, x);
            /* Neighbours in the same run, below and above. */
            const uint64_t below = tamis__fingerprint_hash(&t, 9, x - 1);
            const uint64_t above = tamis__fingerprint_hash(&t, 9, x + 1);
            if (x)
                for (int i = 0; i < 5; i++) tamis_add_hash(f, below);
            if (x + 1 < (uint64_t)1 << width) tamis_add_hash(f, above);
            uint64_t used = test_slots_used(f);
            enum { MAX = 700 };
            tamis *at_half = NULL;
            for (uint64_t c = 1; c <= MAX; c++) {
                assert_int_equal(tamis_add_hash(f, hash), TAMIS_OK);
                assert_int_equal(tamis_count_hash(f, hash), c);
                const uint64_t now = test_slots_used(f);
                assert_true(now == used || now == used + 1);
                used = now;
                if (c == MAX / 2) at_half = test_copy(f);
                if (c < 80 || c % 50 == 0) test_demand_loads(f);
            }
            if (x) assert_int_equal(tamis_count_hash(f, below), 5);
            for (uint64_t c = MAX; c > MAX / 2; c--)
                assert_int_equal(tamis_remove_hash(f, hash), TAMIS_OK);
            assert_true(test_is_same_payload(f, at_half));
            tamis_free(at_half);
            while (tamis_remove_hash(f, hash) == TAMIS_OK) {
            }
            while (x && tamis_remove_hash(f, below) == TAMIS_OK) {
            }
            while (x + 1 < (uint64_t)1 << width && tamis_remove_hash(f, above) == TAMIS_OK) {
            }
            assert_int_equal(test_slots_used(f), 0);
        }
        tamis_free(f);
    }
}

/* Doubles by merging with itself, up to the limit of 64 bits. */
static void counts_go_up_to_64_bits(void **state) {
    (void)state;
    for (int fpr = 2; fpr <= 20; fpr += 3) {
        tamis *f = test_make("multiset:capacity=500,fpr=2^-%d", fpr);
        for (uint64_t i = 0; i < 5; i++) tamis_add_u64(f, i);
        const uint64_t one = tamis_count_u64(f, 0); /* the five may share fingerprints */
        for (unsigned twice = 1; twice < 62; twice++) {
            assert_int_equal(tamis_merge(f, f), TAMIS_OK);
            assert_int_equal(tamis_count_u64(f, 0), one << twice);
            if (twice == 40)
                assert_true(test_slots_used(f) <= 5 * (3 + (uint64_t)(44 / (fpr - 1.1))));
        }
        test_demand_loads(f);
        tamis *old = NULL;
        for (tamis_status rc = TAMIS_OK; !rc; rc = tamis_merge(f, f)) {
            tamis_free(old);
            old = test_copy(f);
        }
        assert_true(tamis_count_u64(f, 0) >= one << 61);
        assert_true(test_is_same_payload(f, old));
        tamis_free(f);
        tamis_free(old);
    }
}

static void a_million_adds_of_a_key_take_a_few_slots(void **state) {
    (void)state;
    tamis *f = test_make("multiset:capacity=100,fpr=1%%");
    for (uint64_t i = 0; i < 1000000; i++) assert_int_equal(tamis_add_u64(f, 7), TAMIS_OK);
    assert_int_equal(tamis_count_u64(f, 7), 1000000);
    assert_true(test_slots_used(f) <= 6);
    tamis_free(f);
}

/* Few keys often, many rarely, against exact counts. */
static void multiset_follows_a_model(void **state) {
    (void)state;
    enum { KEYS = 3000, STEPS = 300000 };
    tamis *f = test_make("multiset:capacity=15000,fpr=1e-7"), *fresh = test_copy(f);
    static uint64_t times[KEYS], hashes[KEYS], counts[KEYS];
    for (uint64_t k = 0; k < KEYS; k++) tamis_hash_u64s(f, &k, 1, &hashes[k]);
    memset(times, 0, sizeof times);
    for (uint64_t step = 0; step < STEPS; step++) {
        const double u = (double)(test_number(8, step) >> 11) * 0x1p-53;
        const uint64_t key = (uint64_t)pow(KEYS, u) - 1; /* the k-th with probability ~ 1/k */
        if (test_number(9, step) % 3) {
            assert_int_equal(tamis_add_hash(f, hashes[key]), TAMIS_OK);
            times[key]++;
        } else {
            assert_int_equal(tamis_remove_hash(f, hashes[key]),
                             times[key] ? TAMIS_OK : TAMIS_NOT_FOUND);
            if (times[key]) times[key]--;
        }
        if (step % 3000) continue;
        tamis_count_hashes(f, hashes, KEYS, counts);
        assert_memory_equal(counts, times, sizeof times);
        test_demand_loads(f);
    }
    for (uint64_t k = KEYS; k-- > 0;)
        for (uint64_t i = 0; i < times[k]; i++)
            assert_int_equal(tamis_add_hash(fresh, hashes[k]), TAMIS_OK);
    assert_true(test_is_same_payload(f, fresh));
    assert_true(times[0] > 5000 && times[KEYS - 1] < 50);
    tamis_free(f);
    tamis_free(fresh);
}

/* A key by itself takes a shorter way than many, where the slots alone show what is there. With few
 * and narrow remainders digits of counts look like remainders, and runs are crowded. */
static void one_key_is_as_many(void **state) {
    (void)state;
    enum { KEYS = 400, STEPS = 6000 };
    for (uint64_t round = 0; round < 3 * 24; round++) {
        const unsigned width = 2 + (unsigned)(round % 3);
        tamis *one = test_make("multiset:capacity=1000,remainder=%u", width),
              *many = test_copy(one);
        uint64_t hash, step = 0;
        for (; step < STEPS; step++) {
            const uint64_t number = test_number(round, step);
            const uint64_t key = number % (10 + number / KEYS % KEYS), again = key;
            tamis_hash_u64s(one, &again, 1, &hash);
            if (number >> 62 == 0 && tamis_remove_hash(one, hash) == TAMIS_OK)
                assert_int_equal(tamis_remove_hash(many, hash), TAMIS_OK);
            const tamis_status rc = tamis_add_hash(one, hash);
            const uint64_t both[2] = {hash, hash};
            assert_int_equal(tamis_add_hashes(many, both, rc ? 2 : 1), rc);
            if (rc) break;
        }
        for (uint64_t key = 0; key < 4 * KEYS; key++) {
            tamis_hash_u64s(one, &key, 1, &hash);
            assert_int_equal(tamis_has_hash(one, hash), tamis_count_hash(one, hash) > 0);
        }
        assert_true(test_is_same_payload(one, many));
        test_demand_loads(one);
        tamis_free(one);
        tamis_free(many);
    }
}

/* Capacity is a promise: that many adds fit, whatever they are; it is full at the slot limit. */
static void room_of_multiset_is_kept(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        tamis *f = test_make("multiset:capacity=50,fpr=25%%,seed=%llu", (unsigned long long)seed);
        const uint64_t limit = tamis__slots_limit(test_info(f).word[0]);
        uint64_t adds = 0;
        while (tamis_add_u64(f, test_number(seed, adds) % (10 + seed)) == TAMIS_OK) {
            adds++;
            assert_true(test_slots_used(f) <= limit);
            if (adds > 100000) break;
        }
        assert_true(adds >= 50 && (test_slots_used(f) == limit || adds > 100000));
        test_demand_loads(f);
        tamis_free(f);
    }
}

/* Estimates of distinct keys do not depend on how often each was added. */
static void distinct_keys_are_estimated(void **state) {
    (void)state;
    tamis *f = test_make("multiset:capacity=50000,fpr=1%%"), *g = test_copy(f);
    for (uint64_t i = 0; i < 20000; i++)
        for (uint64_t c = 0; c <= i % 3; c++) tamis_add_u64(f, i);
    for (uint64_t i = 15000; i < 35000; i++) tamis_add_u64(g, i);
    struct tamis_estimate items, common;
    assert_int_equal(tamis_items_now(f, &items), TAMIS_OK);
    assert_true(fabs(items.value - 20000) < 6 * items.error && items.error < 20);
    assert_int_equal(tamis_overlap(f, g, &common), TAMIS_OK);
    assert_true(fabs(common.value - 5000) < 6 * common.error && common.error < 60);
    tamis_free(f);
    tamis_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count_is_written_and_read),
        cmocka_unit_test(counts_go_up_to_64_bits),
        cmocka_unit_test(a_million_adds_of_a_key_take_a_few_slots),
        cmocka_unit_test(multiset_follows_a_model),
        cmocka_unit_test(one_key_is_as_many),
        cmocka_unit_test(room_of_multiset_is_kept),
        cmocka_unit_test(distinct_keys_are_estimated),
    };
    return cmocka_run_group_tests_name("multiset", tests, NULL, NULL);
}
