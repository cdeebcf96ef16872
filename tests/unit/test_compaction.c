/* SPDX-License-Identifier: MIT */
/* compaction omits keys whose fingerprint it meets on the way, and knows how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "bits/probe.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const char *const probings[] = {"uniform", "linear", "double"};

/* A walk by the rules of docs/format.md, step by step: the slots that it visits, and the signature
 * that it looks for in each. */
typedef struct walk {
    uint64_t slots, values, hash, x, slot, step;
    int probing; /* index into `probings` */
} walk;

static uint64_t scale(uint64_t x, uint64_t n, uint64_t *rest) {
    __extension__ typedef unsigned __int128 u128;
    *rest = (uint64_t)((u128)x * n);
    return (uint64_t)((u128)x * n >> 64);
}

/* The signature of the next step; its slot is in w->slot. */
static uint64_t next(walk *w) {
    enum { UNIFORM, LINEAR, DOUBLE, MAX_JUMPS = 256 };
    uint64_t rest, unused;
    w->x = w->step == 0   ? w->hash
           : w->step == 1 ? tamis__mix(w->hash) | 1
                          : w->x * UINT64_C(0xf1357aea2e62a9c5);
    const uint64_t own = scale(w->x, w->slots, &rest);
    const uint64_t jump = 1 + scale(tamis__mix(UINT64_MAX - w->hash), w->slots - 1, &unused);
    if (w->step == 0 || (w->probing == UNIFORM && w->step <= MAX_JUMPS))
        w->slot = own;
    else if (w->probing == DOUBLE && w->step <= MAX_JUMPS)
        w->slot = (w->slot + jump) % w->slots;
    else
        w->slot = (w->slot + 1) % w->slots;
    w->step++;
    return 1 + scale(rest, w->values, &unused);
}

/* Adds every other key until there is no room, queries all, and compares the slots with those of
 * the walks. */
static void follow(int probing, uint64_t keys, uint64_t family) {
    enum { MAX_SLOTS = 1000 };
    tamis *f =
        test_make("compaction:capacity=%u,fpr=10%%,probing=%s", (unsigned)keys, probings[probing]);
    const struct tamis_info info = test_info(f);
    const unsigned width = (unsigned)info.word[1];
    uint64_t cell[MAX_SLOTS] = {0}, used = 0;
    assert_true(info.word[0] <= MAX_SLOTS);
    for (uint64_t i = 0; i < 6 * keys; i++) {
        walk w = {.slots = info.word[0],
                  .values = ((uint64_t)1 << width) - 1,
                  .hash = test_number(family, i),
                  .probing = probing};
        uint64_t signature = next(&w);
        while (cell[w.slot] && cell[w.slot] != signature) signature = next(&w);
        assert_int_equal(tamis_has_hash(f, w.hash), cell[w.slot] != 0);
        if (i % 2 || tamis_add_hash(f, w.hash) == TAMIS_FULL) continue;
        used += cell[w.slot] == 0;
        cell[w.slot] = signature;
    }
    assert_true(used >= keys / 2);
    assert_int_equal(test_bits_at(f, 0, 64), used);
    for (uint64_t i = 0; i < info.word[0]; i++)
        assert_int_equal(test_bits_at(f, 64 + i * width, width), cell[i]);
    tamis_free(f);
}

static void compaction_walks_by_the_rules(void **state) {
    (void)state;
    for (int probing = 0; probing < (int)COUNT_OF(probings); probing++) {
        follow(probing, 400, 7);
        for (uint64_t keys = 2; keys <= 40; keys += 2)
            for (uint64_t family = 0; family < 5; family++) follow(probing, keys, family);
    }
}

/* Otherwise the steps of a key could cycle before they meet all slots. */
static void double_hashing_takes_primes(void **state) {
    (void)state;
    for (unsigned keys = 1; keys <= 400; keys++) {
        char spec[64];
        snprintf(spec, sizeof spec, "compaction:capacity=%u,probing=double", keys);
        const uint64_t slots = test_plan(spec).word[0];
        for (uint64_t i = 2; i * i <= slots; i++) assert_true(slots % i);
    }
}

static void compaction_takes_a_key_once(void **state) {
    (void)state;
    for (size_t p = 0; p < COUNT_OF(probings); p++) {
        tamis *f = test_make("compaction:capacity=100,fpr=0.1%%,probing=%s", probings[p]);
        tamis *once = NULL;
        const uint64_t hash = test_number(1, 1);
        for (uint64_t i = 0; i < 1000000; i++) {
            assert_int_equal(tamis_add_hash(f, hash), TAMIS_OK);
            if (i == 0) once = test_copy(f);
        }
        assert_int_equal(test_bits_at(f, 0, 64), 1);
        assert_true(test_is_same_payload(f, once));
        tamis_free(once);
        tamis_free(f);
    }
}

/* The law of distinct keys: the estimate makes up for omitted keys, within its error. */
static void omitted_keys_are_estimated(void **state) {
    (void)state;
    enum { N = 20000 };
    for (size_t p = 0; p < COUNT_OF(probings); p++) {
        tamis *f = test_make("compaction:capacity=%d,fpr=5%%,probing=%s", N, probings[p]);
        test_add_hashes(f, p, 0, N);
        const struct tamis_estimate items = test_info(f).items_now;
        assert_true(test_bits_at(f, 0, 64) < N - 100); /* some were omitted */
        assert_true(fabs(items.value - N) < 6 * items.error && items.error < 0.002 * N);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compaction_walks_by_the_rules),
        cmocka_unit_test(double_hashing_takes_primes),
        cmocka_unit_test(compaction_takes_a_key_once),
        cmocka_unit_test(omitted_keys_are_estimated),
    };
    return cmocka_run_group_tests_name("compaction", tests, NULL, NULL);
}
