/* SPDX-License-Identifier: MIT */
/* What the machine is said to have: sizes of caches, however odd the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "cpu/cpu.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

#ifndef TAMIS_PLAIN
static void caches_have_sane_sizes(void **state) {
    (void)state;
    static const struct {
        unsigned which;
        uint64_t reported;
        uint32_t taken;
    } cases[] = {
        {TAMIS_CACHE_2, 0, MIB},
        {TAMIS_CACHE_2, 1, 128 * KIB},
        {TAMIS_CACHE_2, 128 * KIB - 1, 128 * KIB},
        {TAMIS_CACHE_2, 1280 * KIB, 1280 * KIB},
        {TAMIS_CACHE_2, 8 * MIB + 1, 8 * MIB},
        {TAMIS_CACHE_2, UINT64_MAX, 8 * MIB},
        {TAMIS_CACHE_3, 0, 32 * MIB},
        {TAMIS_CACHE_3, 1, 2 * MIB},
        {TAMIS_CACHE_3, 36 * MIB, 36 * MIB},
        {TAMIS_CACHE_3, (uint64_t)384 * MIB, 64 * MIB},
        {TAMIS_CACHE_3, (uint64_t)1 << 32, 64 * MIB},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis__cache_set(cases[i].which, cases[i].reported);
        assert_int_equal(tamis__cache(cases[i].which), cases[i].taken);
    }
    tamis__cache_set(TAMIS_CACHE_2, 2 * MIB);
    assert_int_equal(tamis__cache(TAMIS_CACHE_3), 64 * MIB); /* each for itself */
    assert_int_equal(tamis__near_bytes(), 2 * MIB);
}

static void this_machine_has_caches(void **state) {
    (void)state;
    for (unsigned which = 0; which < TAMIS_CACHES; which++) {
        errno = 77;
        const uint32_t size = tamis__cache_find(which);
        assert_int_equal(errno, 77);
        assert_true(size >= 128 * KIB && size <= 64 * MIB);
        assert_int_equal(tamis__cache(which), size);
    }
}
#else
static void caches_have_sane_sizes(void **state) {
    (void)state;
    assert_int_equal(tamis__near_bytes(), MIB);
}

static void this_machine_has_caches(void **state) {
    (void)state;
    assert_int_equal(tamis__cache(TAMIS_CACHE_3), 32 * MIB);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_have_sane_sizes),
        cmocka_unit_test(this_machine_has_caches),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
