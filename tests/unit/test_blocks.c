/* SPDX-License-Identifier: MIT */
/* blocked and split: a batch equals its keys one by one, on every CPU, whether the payload is in
 * cache, beyond the caches, or large enough to be prefetched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "cpu/cpu.h"
#include "tamis_engine.h"
#include "tests/support/batches.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"

enum { KEYS = 21000 }; /* more than the sum of all short batches */

static void lists_are_single_keys(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "blocked:hashes=8", "blocked:hashes=16",          "blocked:hashes=5",
        "split:index=wide", "split:index=parquet,seed=9", "blocked:hashes=8,seed=12345678901",
    };
    static const char *const sizes[] = {"64", "100000", "3MiB", "20MiB"};
    static uint64_t hashes[KEYS];
    for (size_t i = 0; i < KEYS; i++) hashes[i] = test_number(17, i);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            char spec[100];
            snprintf(spec, sizeof spec, "%s,capacity=1000,size=%s", shapes[i], sizes[j]);
            test_batches(spec, hashes, j ? KEYS : 100); /* a full block matches everything */
        }
}

#ifndef TAMIS_PLAIN
/* Adds and queries in lists of odd lengths, with nothing fetched, with little and with much in
 * flight. `hit` has the answers about `asked`, key by key. */
static void work_in_lists(const char *spec, const uint64_t *hashes, const tamis *single,
                          const uint64_t *asked, const uint8_t *hit) {
    static const size_t lengths[] = {8, 33, 64, 71, 128, 136, 200, 1024, KEYS};
    static uint8_t answers[KEYS];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        tamis *f = test_make("%s", spec);
        for (size_t at = 0, n; at < KEYS; at += n) {
            n = KEYS - at < lengths[i] ? KEYS - at : lengths[i];
            REQUIRE_OK(tamis_add_hashes(f, hashes + at, n));
            tamis_has_hashes(single, asked + at, n, answers + at);
        }
        assert_true(test_is_same_image(f, single));
        assert_memory_equal(answers, hit, KEYS);
        tamis_free(f);
    }
}

static void caches_leave_no_trace(void **state) {
    (void)state;
    static const char *const shapes[] = {"blocked:hashes=8,size=", "blocked:hashes=16,size=",
                                         "split:index=wide,size=", "split:index=parquet,size="};
    static const char *const sizes[] = {"100000", "300000", "1200000", "3MiB"};
    static const uint64_t reports[][2] = {
        {0, 0}, {1, 1}, {1, 1 << 25}, {UINT64_MAX, UINT64_MAX}, {1 << 21, 1 << 21}};
    static uint64_t hashes[KEYS], asked[KEYS];
    static uint8_t hit[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        hashes[i] = test_number(18, i);
        asked[i] = test_number(i % 3 ? 19 : 18, i);
    }
    for (size_t i = 0; i < 16; i++) {
        char spec[100];
        snprintf(spec, sizeof spec, "%s%s,capacity=1000", shapes[i / 4], sizes[i % 4]);
        tamis *single = test_make("%s", spec);
        for (size_t j = 0; j < KEYS; j++) REQUIRE_OK(tamis_add_hash(single, hashes[j]));
        for (size_t j = 0; j < KEYS; j++) hit[j] = tamis_has_hash(single, asked[j]);
        for (size_t j = 0; j < sizeof reports / sizeof *reports; j++) {
            for (unsigned c = 0; c < TAMIS_CACHES; c++) tamis__cache_set(c, reports[j][c]);
            work_in_lists(spec, hashes, single, asked, hit);
        }
        tamis_free(single);
    }
    for (unsigned c = 0; c < TAMIS_CACHES; c++) tamis__cache_find(c);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_single_keys),
#ifndef TAMIS_PLAIN
        cmocka_unit_test(caches_leave_no_trace),
#endif
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
