/* SPDX-License-Identifier: MIT */
/* quotient: adds and removes against an exact model, and at full load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "kinds/slots.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* The vectors of docs/format.md: homes and values, alone and as a run of three. */
static void known_hashes_have_known_slots(void **state) {
    (void)state;
    static const struct {
        uint64_t hash, home, value;
    } known[] = {{0x42548a8a111c54ee, 165, 211}, {0xe41f5c6dbce1fa41, 570, 78}};
    /* 14 offsets; blocks of 64 slots of 8 bits. */
    enum { BLOCKS_AT = 8 + 32, BLOCK_BYTES = 16 + 8 * 8 };
    for (size_t i = 0; i < 2; i++) {
        tamis *f = test_make("quotient:capacity=608,remainder=8");
        assert_int_equal(test_info(f).word[0], 640);
        const uint64_t slot = known[i].home % 64;
        const uint64_t block = 8 * (BLOCKS_AT + BLOCK_BYTES * (known[i].home / 64));
        for (uint64_t times = 1; times <= 3; times++) {
            assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
            assert_int_equal(test_bits_at(f, block, 64), (uint64_t)1 << slot);
            assert_int_equal(test_bits_at(f, block + 64, 64), (uint64_t)1 << (slot + times - 1));
            assert_int_equal(test_bits_at(f, block + 128 + 8 * (slot + times - 1), 8),
                             known[i].value);
        }
        tamis_free(f);
    }
}

/* Random adds and removes, against the count of each key. The bytes are those of a filter that was
 * given only the remaining keys. */
static void quotient_follows_a_model(void **state) {
    (void)state;
    enum { KEYS = 700, STEPS = 60000 };
    tamis *f = test_make("quotient:capacity=2000,fpr=1e-6"), *fresh;
    static unsigned times[KEYS];
    memset(times, 0, sizeof times);
    uint64_t in = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t r = test_number(5, step), key = r % KEYS;
        const bool is_rising = step / 4000 % 2 == 0;
        if (r >> 32 & 3 ? is_rising : !is_rising) {
            const tamis_status rc = tamis_add_u64(f, key);
            if (rc == TAMIS_FULL) continue;
            assert_int_equal(rc, TAMIS_OK);
            times[key]++, in++;
        } else {
            assert_int_equal(tamis_remove_u64(f, key), times[key] ? TAMIS_OK : TAMIS_NOT_FOUND);
            if (times[key]) times[key]--, in--;
        }
        assert_int_equal(tamis_has_u64(f, key), times[key] != 0);
        if (step % 1000) continue;
        assert_int_equal(test_slots_used(f), in);
        for (uint64_t k = 0; k < KEYS; k++) assert_int_equal(tamis_has_u64(f, k), times[k] != 0);
        test_demand_loads(f);
        fresh = test_make("quotient:capacity=2000,fpr=1e-6");
        for (uint64_t k = KEYS; k-- > 0;)
            for (unsigned i = 0; i < times[k]; i++) tamis_add_u64(fresh, k);
        assert_true(test_is_same_payload(f, fresh));
        tamis_free(fresh);
    }
    tamis_free(f);
}

/* Ten times the capacity passes through a full filter. */
static void churn_at_full_load_loses_nothing(void **state) {
    (void)state;
    enum { N = 100000 };
    tamis *f = test_make("quotient:capacity=%d,fpr=1%%", N);
    uint64_t first = 0, next = 0;
    while (tamis_add_u64(f, next) == TAMIS_OK) next++;
    assert_true(next >= N && next == tamis__slots_limit(test_info(f).word[0]));
    static uint64_t keys[120000];
    for (uint64_t i = 0; i < next; i++) keys[i] = i;
    const uint64_t live_keys = next;
    for (uint64_t i = 0; i < 10 * (uint64_t)N; i++) {
        const uint64_t at = test_number(3, i) % live_keys;
        assert_int_equal(tamis_remove_u64(f, keys[at]), TAMIS_OK);
        keys[at] = next++;
        assert_int_equal(tamis_add_u64(f, keys[at]), TAMIS_OK);
    }
    for (uint64_t i = 0; i < live_keys; i++) assert_true(tamis_has_u64(f, keys[i]));
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 500000; i++) hits += tamis_has_u64(f, TEST_STRANGERS + i);
    assert_true(test_is_possible(hits, 500000, tamis_fpr_now(f), TEST_ALPHA));
    test_demand_loads(f);
    for (uint64_t i = 0; i < live_keys; i++) first += tamis_remove_u64(f, keys[i]) == TAMIS_OK;
    assert_int_equal(first, live_keys);
    assert_int_equal(test_slots_used(f), 0);
    tamis_free(f);
}

/* One key added repeatedly: full once its copies exceed 16 bits; a refused call changes nothing. */
static void quotient_refuses_endless_copies(void **state) {
    (void)state;
    tamis *f = test_make("quotient:capacity=200000,fpr=1%%");
    for (uint64_t i = 1; i < 500; i++) tamis_add_u64(f, i);
    tamis *few = test_copy(f);
    const uint64_t hash = (uint64_t)1 << 60; /* far from the tail, which would fill first */
    tamis_status rc = TAMIS_OK;
    uint64_t copies = 0;
    for (; copies < 1000000 && !rc; copies++) {
        rc = tamis_add_hash(f, hash);
        if (copies == 65000) tamis_free(few), few = test_copy(f);
    }
    assert_int_equal(rc, TAMIS_FULL);
    assert_non_null(strstr(tamis_why(), "equal keys"));
    assert_true(copies > 65536 - 64 && copies < 65536 + 64);
    test_demand_loads(f);
    /* All at once: none of them. */
    tamis *old = test_copy(f);
    static uint64_t hashes[600];
    for (size_t i = 0; i < COUNT_OF(hashes); i++) hashes[i] = hash;
    assert_int_equal(tamis_add_hashes(f, hashes, COUNT_OF(hashes)), TAMIS_FULL);
    assert_true(test_is_same_payload(f, old));
    tamis_free(old);
    old = test_copy(few);
    assert_int_equal(tamis_add_hashes(few, hashes, COUNT_OF(hashes)), TAMIS_FULL);
    assert_true(test_is_same_payload(few, old));
    for (uint64_t i = 0; i + 1 < copies; i++)
        assert_int_equal(tamis_remove_hash(f, hash), TAMIS_OK);
    for (uint64_t i = 1; i < 500; i++) assert_true(tamis_has_u64(f, i));
    assert_int_equal(test_slots_used(f), 499);
    tamis_free(f);
    tamis_free(few);
    tamis_free(old);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_slots),
        cmocka_unit_test(quotient_follows_a_model),
        cmocka_unit_test(churn_at_full_load_loses_nothing),
        cmocka_unit_test(quotient_refuses_endless_copies),
    };
    return cmocka_run_group_tests_name("quotient", tests, NULL, NULL);
}
