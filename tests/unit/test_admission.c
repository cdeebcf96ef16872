/* SPDX-License-Identifier: MIT */
/* Admission: its window, its false-positive rate, one first request under contention, and its
 * serialized form, which may be damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tamis_jobs.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static tamis_admission *make(const char *spec) {
    tamis_admission *a;
    test_demand(tamis_admission_create(&a, spec, NULL), spec);
    return a;
}

static struct tamis_admission_info info_of(tamis_admission *a) {
    struct tamis_admission_info info = TAMIS_ADMISSION_INFO_INIT;
    tamis_admission_get_info(a, &info);
    return info;
}

static bool ask(tamis_admission *a, uint64_t i) {
    return tamis_admission_ask_hash(a, test_number(3, i));
}

static uint8_t *bytes_of(tamis_admission *a, size_t *size) {
    *size = (size_t)tamis_admission_size(a);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    test_demand(tamis_admission_bytes(a, bytes, *size), "bytes");
    return bytes;
}

static void the_second_request_is_recognised(void **state) {
    (void)state;
    tamis_admission *a = make("capacity=1000,fpr=1e-6");
    assert_false(tamis_admission_ask(a, "cat", 3));
    assert_true(tamis_admission_ask(a, "cat", 3));
    assert_false(tamis_admission_ask(a, "", 0));
    assert_true(tamis_admission_ask(a, "", 0));
    assert_true(tamis_admission_ask_hash(a, tamis_hash(tamis_admission_hasher(a), "cat", 3)));
    const struct tamis_admission_info info = info_of(a);
    assert_int_equal(info.asked, 5);
    assert_int_equal(info.recognised, 3);
    assert_int_equal(info.young, 2);
    assert_int_equal(info.old, 0);
    assert_int_equal(info.capacity, 1000);
    assert_string_equal(info.kind, "blocked");
    tamis_admission_free(a);
    tamis_admission_free(NULL);
}

/* A key is known after `capacity` other keys, at any phase, and forgotten after twice as many. Some
 * of the other keys are queried twice; a repeat is not a new key. */
static void the_window_is_kept(void **state) {
    (void)state;
    static const char *const kinds[] = {"blocked", "classic", "counting", "quotient", "countmin"};
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (uint64_t capacity = 1; capacity <= 50; capacity += 7)
            for (uint64_t phase = 0; phase <= 2 * capacity; phase++) {
                char spec[80];
                snprintf(spec, sizeof spec, "%s:capacity=%u,fpr=1e-9", kinds[k],
                         (unsigned)capacity);
                tamis_admission *a = make(spec);
                uint64_t next = 1;
                for (uint64_t i = 0; i < phase; i++) assert_false(ask(a, next++));
                assert_false(ask(a, 0));
                for (uint64_t i = 0; i < capacity; i++) {
                    assert_false(ask(a, next));
                    if (i % 3 == 0) assert_true(ask(a, next));
                    next++;
                }
                assert_true(ask(a, 0));
                for (uint64_t i = 0; i < 2 * capacity; i++) assert_false(ask(a, next++));
                assert_false(ask(a, 0));
                assert_true(info_of(a).young <= capacity && info_of(a).old <= capacity);
                tamis_admission_free(a);
            }
}

/* False positives among new keys match the rates of both generations, two-sided. Each of many
 * copies of a nearly full filter gets a few queries, which hardly change it. */
static void the_rate_is_that_of_both(void **state) {
    (void)state;
    enum { N = 20000, PROBES = 1000, COPIES = 100 };
    static const double asked[] = {0.05, 0.005};
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        char spec[80];
        snprintf(spec, sizeof spec, "classic:capacity=%d,fpr=%g", N, asked[i]);
        tamis_admission *a = make(spec), *copy;
        uint64_t next = 0, hits = 0;
        while (next < N + N / 2 || info_of(a).young < N - PROBES) ask(a, next++);
        size_t size;
        uint8_t *bytes = bytes_of(a, &size);
        const double before = info_of(a).fpr_now;
        double after = 0;
        for (uint64_t probe = 0, c = 0; c < COPIES; c++) {
            assert_int_equal(tamis_admission_load(&copy, bytes, size, NULL), TAMIS_OK);
            for (uint64_t j = 0; j < PROBES / 2; j++) hits += ask(copy, TEST_STRANGERS + probe++);
            after += info_of(copy).fpr_now / COPIES;
            assert_int_equal(info_of(copy).turns, 0);
            tamis_admission_free(copy);
        }
        assert_true(after < 2 * 1.02 * asked[i] && before > 1.5 * asked[i]);
        assert_true(test_is_possible(hits, COPIES * PROBES / 2, (before + after) / 2, TEST_ALPHA));
        free(bytes);
        tamis_admission_free(a);
    }
}

/* ---- Threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, KEYS = 20000 };

typedef struct worker {
    tamis_admission *a;
    uint32_t *firsts; /* per key: was this thread first? */
    uint64_t keys;
} worker;

static void *ask_all(void *arg) {
    worker *w = arg;
    for (uint64_t i = 0; i < w->keys; i++) w->firsts[i] = !ask(w->a, i);
    return NULL;
}

static void run_threads(tamis_admission *a, uint64_t keys, uint32_t *firsts) {
    pthread_t thread[THREADS];
    worker workers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (worker){a, calloc(keys, sizeof(uint32_t)), keys};
        assert_non_null(workers[t].firsts);
        if (pthread_create(&thread[t], NULL, ask_all, &workers[t])) abort();
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        for (uint64_t i = 0; i < keys; i++) firsts[i] += workers[t].firsts[i];
        free(workers[t].firsts);
    }
}

/* All threads query all keys: each key is new to exactly one thread. */
static void exactly_one_is_first(void **state) {
    (void)state;
    static const char *const specs[] = {"capacity=40k,fpr=1e-9", "counting:capacity=40k,fpr=1e-9"};
    const uint64_t keys = getenv("TAMIS_QUICK") ? KEYS / 10 : KEYS;
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        static uint32_t firsts[KEYS];
        tamis_admission *a = make(specs[s]);
        memset(firsts, 0, sizeof firsts);
        run_threads(a, keys, firsts);
        for (uint64_t i = 0; i < keys; i++) assert_int_equal(firsts[i], 1);
        assert_int_equal(info_of(a).asked, THREADS * keys);
        assert_int_equal(info_of(a).recognised, (THREADS - 1) * keys);
        assert_int_equal(info_of(a).young, keys);
        tamis_admission_free(a);
    }
}

/* The same while generations keep changing: no key is lost, and no generation exceeds its capacity.
 * Threads that are far apart may each be first, but every key is new to at least one. */
static void generations_change_under_threads(void **state) {
    (void)state;
    static uint32_t firsts[KEYS];
    tamis_admission *a = make("capacity=64,fpr=1e-9");
    memset(firsts, 0, sizeof firsts);
    run_threads(a, KEYS / 10, firsts);
    for (uint64_t i = 0; i < KEYS / 10; i++) assert_true(firsts[i] >= 1 && firsts[i] <= THREADS);
    const struct tamis_admission_info info = info_of(a);
    assert_int_equal(info.asked, THREADS * (KEYS / 10));
    assert_true(info.turns >= KEYS / 10 / 64 - 1);
    assert_true(info.young <= 64 && info.old <= 64);
    tamis_admission_free(a);
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* A loaded filter continues where the saved one was, in every phase. */
static void memory_is_kept(void **state) {
    (void)state;
    for (uint64_t asked = 0; asked < 300; asked += 37) {
        tamis_admission *a = make("capacity=100,fpr=1e-9,hash=sip13"), *b;
        for (uint64_t i = 0; i < asked; i++) assert_false(ask(a, i));
        size_t size;
        uint8_t *bytes = bytes_of(a, &size);
        assert_int_equal(tamis_admission_load(&b, bytes, size, NULL), TAMIS_OK);
        assert_int_equal(info_of(a).young, info_of(b).young);
        assert_int_equal(info_of(a).old, info_of(b).old);
        for (uint64_t i = 0; i < 500; i++)
            assert_int_equal(ask(a, i * 7 % 300), ask(b, i * 7 % 300));
        assert_int_equal(tamis_admission_bytes(a, bytes, size - 1), TAMIS_INVALID);
        free(bytes);
        tamis_admission_free(a);
        tamis_admission_free(b);
    }
}

/* Truncated anywhere, or with any byte changed: refused, and no handle is created. */
static void damage_is_refused(void **state) {
    (void)state;
    tamis_admission *a = make("capacity=30,fpr=10%"), *b;
    for (uint64_t i = 0; i < 40; i++) ask(a, i);
    size_t size;
    uint8_t *bytes = bytes_of(a, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut + !cut); /* exact size, so that overreads show */
        memcpy(part, bytes, cut);
        assert_true(tamis_admission_load(&b, part, cut, NULL) != TAMIS_OK);
        assert_null(b);
        assert_true(strlen(tamis_why()) > 10);
        free(part);
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (uint8_t)(1 + i % 255);
        assert_true(tamis_admission_load(&b, bytes, size, NULL) != TAMIS_OK);
        assert_null(b);
        bytes[i] ^= (uint8_t)(1 + i % 255);
    }
    assert_int_equal(tamis_admission_load(&b, bytes, size, NULL), TAMIS_OK);
    tamis_admission_free(b);
    free(bytes);
    tamis_admission_free(a);
}

/* Two valid images that do not belong together, and a byte limit that is too low. */
static void mismatched_images_are_refused(void **state) {
    (void)state;
    tamis_admission *a = make("capacity=30,seed=1"), *c = make("capacity=30,seed=2"), *b;
    size_t size, other;
    uint8_t *bytes = bytes_of(a, &size), *more = bytes_of(c, &other);
    assert_int_equal(size, other);
    const size_t half = (size - 32) / 2;
    memcpy(bytes + 32 + half, more + 32 + half, half);
    assert_int_equal(tamis_admission_load(&b, bytes, size, NULL), TAMIS_CORRUPT);
    assert_null(b);
    const struct tamis_options small = {.struct_size = sizeof small, .max_bytes = 8};
    assert_int_equal(tamis_admission_load(&b, more, other, &small), TAMIS_TOO_LARGE);
    free(bytes);
    free(more);
    tamis_admission_free(a);
    tamis_admission_free(c);
}

static void bad_specs_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        tamis_status status;
    } bad[] = {
        {"capacity=0", TAMIS_INVALID},
        {"blocked", TAMIS_INVALID},
        {"window:capacity=10", TAMIS_UNSUPPORTED},
        {"scalable:capacity=10", TAMIS_UNSUPPORTED},
        {"stable:capacity=10", TAMIS_UNSUPPORTED},
        {"minhash", TAMIS_UNSUPPORTED},
        {"guava:capacity=10", TAMIS_UNSUPPORTED},
        {"fuse:capacity=10", TAMIS_UNSUPPORTED},
        {"composite:capacity=10", TAMIS_UNSUPPORTED},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        tamis_admission *a;
        assert_int_equal(tamis_admission_create(&a, bad[i].spec, NULL), bad[i].status);
        assert_null(a);
        assert_true(strlen(tamis_why()) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_request_is_recognised),
        cmocka_unit_test(the_window_is_kept),
        cmocka_unit_test(the_rate_is_that_of_both),
        cmocka_unit_test(exactly_one_is_first),
        cmocka_unit_test(generations_change_under_threads),
        cmocka_unit_test(memory_is_kept),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(mismatched_images_are_refused),
        cmocka_unit_test(bad_specs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
