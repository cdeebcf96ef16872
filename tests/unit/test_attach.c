/* SPDX-License-Identifier: MIT */
/* Filters in host memory: shared between processes, growing to the end of the memory, as payloads
 * of blocks, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"

enum { ZONE = 1 << 20, WRITERS = 4, EACH = 20000 };
static const char spec[] = "blocked:capacity=100000,fpr=1%";
static const struct tamis_options trusted = {.struct_size = sizeof trusted, .is_trusted = true};

static void *shared_zone(void) {
    void *zone = mmap(NULL, ZONE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(zone != MAP_FAILED);
    return zone;
}

/* A byte in the pipe is the permission to sync; each writer passes it on. */
static void write_keys(void *zone, uint64_t family, int take, int give) {
    tamis *f;
    char turn;
    if (tamis_attach(&f, zone, ZONE, &trusted)) _exit(1);
    for (uint64_t i = 0; i < EACH; i++) {
        const uint64_t key = test_number(family, i);
        if (tamis_add_shared(f, &key, sizeof key)) _exit(2);
    }
    if (read(take, &turn, 1) != 1 || tamis_sync(f) || write(give, &turn, 1) != 1) _exit(3);
    tamis_free(f);
    _exit(0);
}

static void writers_lose_nothing(void **state) {
    (void)state;
    void *zone = shared_zone();
    int ends[2], status;
    tamis *f, *loaded;
    REQUIRE_OK(tamis_create_at(&f, zone, ZONE, spec, NULL));
    assert_int_equal(pipe(ends), 0);
    for (uint64_t w = 0; w < WRITERS; w++)
        if (fork() == 0) write_keys(zone, w, ends[0], ends[1]);
    assert_int_equal(write(ends[1], "x", 1), 1);
    for (int w = 0; w < WRITERS; w++) {
        wait(&status);
        assert_int_equal(status, 0);
    }
    uint64_t lost = 0;
    for (uint64_t w = 0; w < WRITERS; w++)
        for (uint64_t i = 0; i < EACH; i++) {
            const uint64_t key = test_number(w, i);
            lost += !tamis_has(f, &key, sizeof key);
        }
    assert_int_equal(lost, 0);
    assert_int_equal(test_info(f).items, 0); /* its own, before the sync */
    REQUIRE_OK(tamis_sync(f));
    assert_int_equal(test_info(f).items, WRITERS * EACH);
    REQUIRE_OK(tamis_load(&loaded, zone, (size_t)tamis_image_size(f)));
    assert_int_equal(test_info(loaded).items, WRITERS * EACH);
    tamis_free(loaded);
    tamis_free(f);
    close(ends[0]), close(ends[1]);
    munmap(zone, ZONE);
}

/* A growing filter uses the memory up to its end, and not a byte more. */
static void growth_ends_with_the_memory(void **state) {
    (void)state;
    _Alignas(64) static uint8_t memory[8192 + 64];
    tamis *f, *again;
    memset(memory, 0x77, sizeof memory);
    REQUIRE_OK(tamis_create_at(&f, memory, 8192, "scalable:capacity=100,fpr=1%", NULL));
    tamis_status rc = TAMIS_OK;
    uint64_t n = 0;
    for (; !rc && n < 100000; n += !rc) rc = tamis_add_u64(f, n);
    assert_int_equal(rc, TAMIS_FULL);
    assert_non_null(strstr(tamis_why(), "memory of the host 8192"));
    assert_true(n > 1000);
    assert_int_equal(tamis_set_note(f, "comment", "x"), TAMIS_OK);
    char *large = calloc(1, 8192);
    assert_non_null(large);
    memset(large, 'x', 8191);
    assert_int_equal(tamis_set_note(f, "comment", large), TAMIS_FULL);
    free(large);
    REQUIRE_OK(tamis_sync(f));
    REQUIRE_OK(tamis_attach(&again, memory, 8192, NULL));
    for (uint64_t i = 0; i < n; i++) assert_true(tamis_has_u64(again, i));
    assert_string_equal(tamis_note(again, "comment"), "x");
    for (size_t i = 8192; i < sizeof memory; i++) assert_int_equal(memory[i], 0x77);
    tamis_free(again);
    tamis_free(f);
}

static void invalid_calls_are_refused(void **state) {
    (void)state;
    _Alignas(64) static uint8_t memory[4096];
    tamis *f, *own = test_make("%s", "blocked:capacity=100");
    assert_int_equal(tamis_create_at(&f, memory + 8, 2000, "capacity=100", NULL), TAMIS_INVALID);
    assert_null(f);
    assert_int_equal(tamis_create_at(&f, memory, 100, "capacity=100", NULL), TAMIS_FULL);
    assert_int_equal(tamis_create_at(&f, memory, 4096, "fuse:capacity=100", NULL),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_attach(&f, memory, 4096, NULL), TAMIS_CORRUPT);
    assert_int_equal(tamis_attach(&f, memory, 10, NULL), TAMIS_CORRUPT);
    assert_int_equal(tamis_attach(&f, memory + 8, 2000, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_sync(own), TAMIS_INVALID);
    assert_int_equal(tamis_set_payload(own, memory, 0), TAMIS_INVALID);
    assert_int_equal(tamis_view_payload(&f, "fuse:capacity=10", memory, 64, NULL),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_view_payload(&f, "capacity=10,hash=sip13", memory, 64, NULL),
                     TAMIS_SECRET);
    assert_int_equal(tamis_view_payload(&f, "split:size=32", memory, 64, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_view_payload(&f, "split:size=32,capacity=10", memory, 64, NULL),
                     TAMIS_CORRUPT);
    assert_null(f);
    tamis_free(own);
}

/* One handle for the filters of many blocks, without an allocation for any. */
typedef struct counted {
    unsigned allocations;
} counted;

static void *count_alloc(void *ctx, size_t size) {
    ((counted *)ctx)->allocations++;
    return calloc(1, size);
}

static void count_free(void *ctx, void *memory, size_t size) {
    (void)ctx, (void)size;
    free(memory);
}

static void blocks_have_payloads(void **state) {
    (void)state;
    enum { BLOCKS = 10, BYTES = 128 };
    static uint8_t payloads[BLOCKS][BYTES];
    static const char shape[] = "split:capacity=75,size=128";
    counted counts = {0};
    const struct tamis_allocator allocator = {count_alloc, count_free, &counts, true};
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &allocator};
    uint64_t size;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        tamis *f = test_make("%s", shape);
        for (uint64_t i = 0; i < 75; i++) test_demand(tamis_add_u64(f, b << 32 | i), "add");
        memcpy(payloads[b], tamis_payload(f, &size), BYTES);
        assert_int_equal(size, BYTES);
        tamis_free(f);
    }
    tamis *view;
    REQUIRE_OK(tamis_view_payload(&view, shape, payloads[0], BYTES, &options));
    const unsigned before = counts.allocations;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        uint64_t false_positives = 0;
        REQUIRE_OK(tamis_set_payload(view, payloads[b], BYTES));
        for (uint64_t i = 0; i < 75; i++) {
            assert_true(tamis_has_u64(view, b << 32 | i));
            false_positives += tamis_has_u64(view, (b + 100) << 32 | i);
        }
        assert_true(false_positives < 20);
    }
    assert_int_equal(counts.allocations, before);
    tamis_free(view);
}

/* A copy made with another allocator outlives the original. */
static void copies_have_options_of_their_own(void **state) {
    (void)state;
    counted a = {0}, b = {0};
    const struct tamis_allocator first = {count_alloc, count_free, &a, true},
                                 second = {count_alloc, count_free, &b, true};
    struct tamis_options options = {.struct_size = sizeof options, .allocator = &first};
    tamis *f, *copy, *other;
    REQUIRE_OK(tamis_create_with(&f, "scalable:capacity=100", &options));
    REQUIRE_OK(tamis_add(f, "cat", 3));
    options.allocator = &second;
    REQUIRE_OK(tamis_copy_with(&copy, f, &options));
    tamis_free(f);
    const unsigned before = a.allocations;
    for (uint64_t i = 0; i < 1000; i++) REQUIRE_OK(tamis_add_u64(copy, i));
    assert_int_equal(a.allocations, before);
    assert_true(b.allocations > 2 && tamis_has(copy, "cat", 3));
    options.max_bytes = 1;
    assert_int_equal(tamis_copy_with(&other, copy, &options), TAMIS_TOO_LARGE);
    assert_null(other);
    tamis_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_lose_nothing),
        cmocka_unit_test(growth_ends_with_the_memory),
        cmocka_unit_test(invalid_calls_are_refused),
        cmocka_unit_test(blocks_have_payloads),
        cmocka_unit_test(copies_have_options_of_their_own),
    };
    return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
