/* SPDX-License-Identifier: MIT */
/* classic: probes that must differ, and any number of bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static uint64_t bits_set(const tamis *f) {
    uint64_t size, set = 0;
    const uint8_t *bytes = tamis_payload(f, &size);
    for (uint64_t i = 0; i < size; i++) set += (unsigned)__builtin_popcount(bytes[i]);
    return set;
}

/* With an odd step and bits in multiples of 64 no two of 64 linear probes coincide: a filter of one
 * key has exactly k bits set. A step of zero, or one that shares factors with m, shows here. */
static void linear_probes_never_coincide(void **state) {
    (void)state;
    for (unsigned bits = 64; bits <= 64 * 30; bits += 64)
        for (uint64_t i = 0; i < 200; i++) {
            tamis *f = test_make("classic:capacity=1,bits=%u,hashes=64,scheme=double", bits);
            const uint64_t special[] = {0, 1, bits, bits / 2, UINT64_MAX, (uint64_t)1 << 63};
            tamis_add_hash(f, i < 6 ? special[i] : test_number(1, i));
            assert_int_equal(bits_set(f), 64);
            tamis_free(f);
        }
}

/* Every number of bits from 1 up works, also where the last word is not full. */
static void any_number_of_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 200; bits++) {
        tamis *f = test_make("classic:capacity=5,bits=%u,hashes=3", bits), *g;
        for (uint64_t i = 0; i < 300; i++) tamis_add_u64(f, i);
        assert_true(bits_set(f) <= bits);
        size_t size = (size_t)tamis_image_size(f);
        uint8_t *image = malloc(size);
        assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
        assert_int_equal(tamis_load(&g, image, size), TAMIS_OK);
        for (uint64_t i = 0; i < 300; i++) assert_true(tamis_has_u64(g, i));
        free(image);
        tamis_free(f);
        tamis_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_probes_never_coincide),
        cmocka_unit_test(any_number_of_bits),
    };
    return cmocka_run_group_tests_name("classic", tests, NULL, NULL);
}
