/* SPDX-License-Identifier: MIT */
/* Windows of the module for Redis and Valkey that tick by adds, in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "engines/redis/clock.h"
#include "tests/support/module.h"

/* A step may end after any part, and its key may be lost then: either a tick is in progress, which
 * is owed, or adds have followed the last one, which is what a replica does. */
static void no_step_ends_between_a_tick_and_its_add(void **state) {
    enum { ADDS_A_TICK = 10, TICKS = 9 };
    tamis *f;
    uint64_t key = 0;
    unsigned parts = 0;
    (void)state;
    test_be_a_server();
    redis.Alloc = malloc, redis.TryAlloc = malloc, redis.Free = free;
    if (tamis_create(&f, "window:size=96MiB,capacity=40,generations=4"))
        fail_msg("%s", tamis_why());
    value *v = value_new(f);
    assert_non_null(v);
    while (key < ADDS_A_TICK * TICKS) {
        const bool was_full = clock_adds_left(v) == 0;
        const uint64_t room = clock_make_room(v);
        assert_int_equal(v->is_turning, room == 0);
        parts += was_full;
        if (was_full && room) assert_int_equal(room, ADDS_A_TICK);
        if (room) assert_int_equal(tamis_add_u64(f, key++), TAMIS_OK);
    }
    assert_true(parts > TICKS); /* ticks were made in parts */
    value_release(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_ends_between_a_tick_and_its_add),
    };
    return cmocka_run_group_tests_name("redis clock", tests, NULL, NULL);
}
