/* SPDX-License-Identifier: MIT */
/* Long lists that several threads collect: the same filter as key by key, whatever is there before
 * and after; and when memory runs out nothing of a list is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tamis_engine.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"

enum { LONG = 300001, WIDTH = 9 };

static uint64_t numbers[LONG];

static void make_numbers(void) {
    for (size_t i = 0; i < LONG; i++) numbers[i] = test_number(31, i % 290000); /* some twice */
}

static tamis_builder *start(const char *spec, unsigned threads) {
    struct tamis_builder_options options = TAMIS_BUILDER_OPTIONS_INIT;
    tamis_builder *b;
    options.threads = threads;
    REQUIRE_OK(tamis_builder_create_with(&b, spec, &options));
    return b;
}

/* A few keys, a long list, a few more, and another long list: blocks that are begun meet others. */
static tamis *by_lists(const char *spec, unsigned threads) {
    tamis_builder *b = start(spec, threads);
    test_add_numbers(b, 32, 0, 700);
    REQUIRE_OK(tamis_builder_add_u64s(b, numbers, LONG));
    test_add_numbers(b, 32, 700, 20000);
    REQUIRE_OK(tamis_builder_add_u64s(b, numbers + 5, LONG - 5));
    return test_finish(b);
}

static void threads_leave_no_trace(void **state) {
    (void)state;
    static const char *const specs[] = {"fuse:width=8",   "ribbon:fpr=1%",   "gcs:fpr=1%",
                                        "blocked:fpr=1%", "quotient:fpr=1%", "scalable:fpr=1%"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        tamis *one = by_lists(specs[s], 1);
        for (unsigned threads = 2; threads <= 5; threads++) {
            tamis *f = by_lists(specs[s], threads);
            assert_true(test_is_same_image(f, one));
            tamis_free(f);
        }
        tamis_free(one);
    }
}

static tamis *of_strings(const struct tamis_key *keys, const char *packed, unsigned threads) {
    tamis_builder *b = start("fuse:width=8", threads);
    if (keys)
        REQUIRE_OK(tamis_builder_add_many(b, keys, LONG));
    else
        REQUIRE_OK(tamis_builder_add_packed(b, packed, WIDTH, LONG));
    return test_finish(b);
}

static void every_form_of_list(void **state) {
    (void)state;
    struct tamis_key *keys = malloc(LONG * sizeof *keys);
    char *packed = malloc(LONG * WIDTH + 1);
    assert_true(keys && packed);
    for (size_t i = 0; i < LONG; i++) {
        snprintf(packed + i * WIDTH, WIDTH + 1, "%09zu", i);
        keys[i] = (struct tamis_key){packed + i * WIDTH, WIDTH};
    }
    tamis *one = of_strings(keys, NULL, 1);
    for (unsigned threads = 2; threads <= 3; threads++) {
        tamis *many = of_strings(keys, NULL, threads), *rows = of_strings(NULL, packed, threads);
        assert_true(test_is_same_image(many, one) && test_is_same_image(rows, one));
        tamis_free(many);
        tamis_free(rows);
    }
    tamis_free(one);
    free(packed);
    free(keys);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static atomic_long calls, fail_at; /* from that call on memory is refused; 0: never */

static bool is_refused(void) {
    const long call = atomic_fetch_add(&calls, 1) + 1;
    return fail_at && call >= fail_at;
}

void *__real_calloc(size_t, size_t);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
    return is_refused() ? NULL : __real_calloc(n, size);
}

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return is_refused() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return __wrap_mmap(at, size, protection, flags, fd, offset);
}

/* Numbers whose hashes start with four zeros: lists of blocks grow at joining too. */
static void make_crowded_numbers(void) {
    tamis_builder *b = start("fuse:width=8", 1);
    uint64_t number = 0;
    for (size_t i = 0; i < LONG; number++)
        if (tamis_builder_hash(b, &number, sizeof number) >> 60 == 0) numbers[i++] = number;
    tamis_builder_free(b);
}

/* Adds a list while memory is refused from the n-th call on; true when that was refused. */
static bool refuses(tamis_builder *b, long n) {
    atomic_store(&calls, 0);
    atomic_store(&fail_at, n);
    const tamis_status rc = tamis_builder_add_u64s(b, numbers, LONG);
    atomic_store(&fail_at, 0);
    assert_true(rc == TAMIS_OK || rc == TAMIS_NOMEM);
    return rc != TAMIS_OK;
}

static void without_memory_nothing_is_kept(void **state) {
    (void)state;
    make_crowded_numbers();
    tamis *few = test_build("fuse:width=8", 32, 700);
    long refused = 0;
    for (long n = 1;; n++) {
        tamis_builder *b = start("fuse:width=8", 3);
        test_add_numbers(b, 32, 0, 700);
        const bool is_refused_now = refuses(b, n);
        refused += is_refused_now;
        if (!is_refused_now) {
            tamis_builder_free(b);
            break;
        }
        tamis *f = test_finish(b);
        assert_true(test_is_same_image(f, few));
        tamis_free(f);
    }
    assert_true(refused > 3); /* at least one for each thread, and one for joining */
    tamis_free(few);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_leave_no_trace),
        cmocka_unit_test(every_form_of_list),
        cmocka_unit_test(without_memory_nothing_is_kept),
    };
    make_numbers();
    return cmocka_run_group_tests_name("collecting", tests, NULL, NULL);
}
