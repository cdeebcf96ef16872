/* SPDX-License-Identifier: MIT */
/* Frames: what goes in comes out, and lost, duplicated, moved or damaged frames are noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "jobs/frames.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/require_ok.h"

/* ---- Numbers -------------------------------------------------------------------------------- */

static void numbers_come_back(void **state) {
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++)
        for (int add = -1; add <= 1; add++) {
            const uint64_t value = ((uint64_t)1 << shift) + (uint64_t)add;
            uint8_t bytes[TAMIS_VARINT_MAX_BYTES];
            uint64_t read = ~value;
            const size_t n = tamis__varint_put(bytes, value);
            assert_int_equal(tamis__varint_get(bytes, n, &read), n);
            assert_int_equal(read, value);
            for (size_t cut = 0; cut < n; cut++)
                assert_int_equal(tamis__varint_get(bytes, cut, &read), 0);
        }
}

static void numbers_have_one_form(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[12];
        size_t size, taken;
    } samples[] = {
        {{0}, 1, 1},
        {{0x80, 0}, 2, 0}, /* 0 in two bytes */
        {{0xff, 0}, 2, 0}, /* 127 in two */
        {{0x80, 1}, 2, 2},
        {{0x80, 0x80, 1}, 3, 3},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 10, 10},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, 10, 0}, /* over 2^64 */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0}, 11, 0},
        {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
         11,
         0}, /* no end in ten bytes */
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        uint64_t value = 77;
        assert_int_equal(tamis__varint_get(samples[i].bytes, samples[i].size, &value),
                         samples[i].taken);
        if (!samples[i].taken) assert_int_equal(value, 77);
    }
}

/* ---- Growing buffers ------------------------------------------------------------------------- */

static void bytes_grow(void **state) {
    (void)state;
    test_failing_allocator failing = {0};
    const struct tamis_allocator a = test_allocator(&failing);
    tamis_buffer b = {0};
    uint8_t more[100];
    for (unsigned i = 0; i < 200; i++) {
        memset(more, (int)i, sizeof more);
        REQUIRE_OK(tamis__buffer_put(&a, &b, more, i % sizeof more));
    }
    assert_int_equal(b.size, 2 * 99 * 100 / 2);
    for (unsigned i = 0, at = 0; i < 200; at += i % sizeof more, i++)
        if (i % sizeof more) assert_int_equal(b.bytes[at], i);
    assert_true(b.room <= 2 * b.size + sizeof more);

    /* Impossible sizes are refused before any allocation, and change nothing. */
    const tamis_buffer before = b;
    const long calls = failing.calls;
    assert_int_equal(tamis__buffer_room(&a, &b, UINT64_MAX / 4), TAMIS_NOMEM);
    assert_non_null(strstr(tamis_why(), "no memory for"));
    assert_int_equal(tamis__buffer_room(&a, &b, UINT64_MAX), TAMIS_NOMEM);
    assert_int_equal(failing.calls, calls);
    assert_memory_equal(&b, &before, sizeof b);
    tamis__buffer_free(&a, &b);
    assert_int_equal(failing.blocks, 0);
}

/* Each allocation fails in turn: the frames before stay as they were. */
static void no_memory(void **state) {
    (void)state;
    for (long fail_at = 1; fail_at <= 3; fail_at++) {
        test_failing_allocator failing = {.fail_at = fail_at};
        const struct tamis_allocator a = test_allocator(&failing);
        tamis_buffer b = {0};
        uint64_t start;
        tamis_status rc = tamis__frame_open(&a, &b, 1, &start);
        if (!rc) rc = tamis__buffer_put(&a, &b, "0123456789", 10);
        while (!rc && b.size < b.room)
            rc = tamis__buffer_put(&a, &b, "x", 1); /* leave no room for the foot */
        const uint64_t size = b.size;
        if (!rc) rc = tamis__frame_close(&a, &b, start, 0);
        assert_int_equal(rc, TAMIS_NOMEM);
        assert_int_equal(b.size, size);
        tamis__buffer_free(&a, &b);
        assert_int_equal(failing.blocks, 0);
    }
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void every_flip_is_noticed(void **state) {
    (void)state;
    test_failing_allocator failing = {0};
    const struct tamis_allocator a = test_allocator(&failing);
    tamis_buffer b = {0};
    uint64_t start;
    uint8_t type;
    uint32_t length;
    REQUIRE_OK(tamis__buffer_put(&a, &b, "before", 6));
    REQUIRE_OK(tamis__frame_open(&a, &b, 9, &start));
    REQUIRE_OK(tamis__buffer_put(&a, &b, "a body of some bytes", 20));
    REQUIRE_OK(tamis__frame_close(&a, &b, start, 5));
    uint8_t *frame = b.bytes + start;
    assert_int_equal(b.size, 6 + TAMIS_FRAME_HEAD + 20 + TAMIS_FRAME_FOOT);
    assert_true(tamis__frame_head(frame, &type, &length));
    assert_int_equal(type, 9);
    assert_int_equal(length, 20);
    assert_true(tamis__frame_is_sound(frame, length, 5));
    assert_false(tamis__frame_is_sound(frame, length, 4)); /* moved, or one before it was lost */
    assert_false(tamis__frame_is_sound(frame, length, 6));
    for (size_t bit = 0; bit < 8 * (b.size - start); bit++) {
        frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const bool is_seen = !tamis__frame_head(frame, &type, &length);
        if (bit / 8 < TAMIS_FRAME_HEAD)
            assert_true(is_seen);
        else
            assert_false(is_seen || tamis__frame_is_sound(frame, length, 5));
        frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    tamis__buffer_free(&a, &b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(numbers_have_one_form),
        cmocka_unit_test(bytes_grow),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(every_flip_is_noticed),
    };
    return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
