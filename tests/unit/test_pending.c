/* SPDX-License-Identifier: MIT */
/* Keys that wait for their answers: each gets its own, in order, whatever the pushes and pops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tamis_pending.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static const char *const specs[] = {"blocked:capacity=5000,fpr=10%",
                                    "classic:capacity=5000,fpr=10%", "cuckoo:capacity=5000,fpr=10%",
                                    "guava:capacity=5000,fpr=10%"};
enum { SPECS = sizeof specs / sizeof *specs, MEMBERS = 5000, KEYS = 1000 };

static tamis *filled(const char *spec) {
    tamis *f = test_make("%s", spec);
    for (uint64_t i = 0; i < MEMBERS; i++) test_demand(tamis_add_u64(f, test_number(1, i)), "add");
    return f;
}

/* Members and non-members take turns. */
static uint64_t key_at(uint64_t i) {
    return test_number(1, i % 3 == 0 ? i : i + TEST_STRANGERS);
}

static void assert_answer(const tamis *f, uint64_t i, struct tamis_answer answer) {
    assert_true(answer.key == key_at(i));
    assert_int_equal(answer.is_hit, tamis_has_u64(f, key_at(i)));
}

/* `n` keys, then pops to the end. */
static void run(const tamis *f, uint64_t n) {
    struct tamis_pending pending = tamis_pending_init(f);
    struct tamis_answer answer;
    uint64_t answered = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (tamis_pending_push(&pending, key_at(i), &answer)) assert_answer(f, answered++, answer);
        assert_true(i + 1 - answered <= TAMIS_MAX_PENDING);
    }
    while (tamis_pending_pop(&pending, &answer)) assert_answer(f, answered++, answer);
    assert_int_equal(answered, n);
    assert_false(tamis_pending_pop(&pending, &answer));
}

static void every_key_has_its_answer_in_order(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = filled(specs[s]);
        for (uint64_t n = 0; n <= 2 * TAMIS_MAX_PENDING + 2; n++) run(f, n);
        run(f, KEYS);
        tamis_free(f);
    }
}

/* Pops that come between pushes, by chance. */
static void pops_may_come_at_any_time(void **state) {
    (void)state;
    tamis *f = filled(specs[0]);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct tamis_pending pending = tamis_pending_init(f);
        struct tamis_answer answer;
        uint64_t pushed = 0, answered = 0;
        for (uint64_t step = 0; pushed < KEYS; step++) {
            const uint64_t chance = test_number(seed + 7, step) % 100, often = seed % 100;
            const bool is_push = chance >= often || pushed == answered;
            if (is_push ? tamis_pending_push(&pending, key_at(pushed++), &answer)
                        : tamis_pending_pop(&pending, &answer))
                assert_answer(f, answered++, answer);
        }
        while (tamis_pending_pop(&pending, &answer)) assert_answer(f, answered++, answer);
        assert_int_equal(answered, pushed);
    }
    tamis_free(f);
}

static void hashes_wait_as_keys_do(void **state) {
    (void)state;
    tamis *f = filled(specs[2]);
    struct tamis_pending pending = tamis_pending_init_hashes(f);
    struct tamis_answer answer;
    uint64_t answered = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t key = key_at(i);
        uint64_t hash;
        tamis_hash_u64s(f, &key, 1, &hash);
        if (tamis_pending_push(&pending, hash, &answer))
            assert_int_equal(answer.is_hit, tamis_has_u64(f, key_at(answered++)));
    }
    while (tamis_pending_pop(&pending, &answer))
        assert_int_equal(answer.is_hit, tamis_has_u64(f, key_at(answered++)));
    assert_int_equal(answered, KEYS);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_its_answer_in_order),
        cmocka_unit_test(pops_may_come_at_any_time),
        cmocka_unit_test(hashes_wait_as_keys_do),
    };
    return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
