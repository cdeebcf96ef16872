/* SPDX-License-Identifier: MIT */
/* Kinds that query a batch in rounds or groups: whatever its length, the alignment of the payload
 * and the CPU, the answers are those of single keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { KEYS = 20000, ASKED = 1400 };

static const uint32_t cpus[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_ALL};

/* Within the cache and beyond it, few and many probes, bit arrays at any offset. */
static const char *const specs[] = {
    "classic:capacity=20000,fpr=1%",
    "classic:capacity=20000,bits=199999,hashes=1",
    "classic:capacity=20000,bits=64,hashes=2",
    "classic:capacity=20000,bits=8388608,hashes=3", /* the largest within the cache */
    "classic:capacity=20000,bits=8388673,hashes=3",
    "classic:capacity=20000,bits=20000001,hashes=1",
    "classic:capacity=20000,bits=20000001,hashes=2",
    "classic:capacity=20000,bits=20000001,hashes=64",
    "classic:capacity=20000,bits=20000000,hashes=8,scheme=double64",
    "counting:capacity=20000,fpr=1%",
    "counting:capacity=20000,bits=1000005,hashes=5", /* the summary starts within a word */
    "counting:capacity=20000,bits=60000000,hashes=7",
    "counting:capacity=20000,bits=60000005,hashes=7",
    "spectral:capacity=20000,fpr=1%",
    "spectral:capacity=20000,bits=40000000,width=5,hashes=6",
    "spectral:capacity=20000,bits=40000000,hashes=6,mode=increase",
    "increment:capacity=20000,fpr=1%",
    "increment:capacity=20000,bits=30000000,hashes=3",
    "universal:capacity=20000,fpr=1%",
    "universal:capacity=20000,fpr=2^-11",
};

/* Half of the queries were added, in random order. */
static void draw(uint64_t asked[ASKED]) {
    for (size_t i = 0; i < ASKED; i++) {
        const uint64_t luck = test_number(5, i);
        asked[i] = test_number(0, luck & 1 ? (luck >> 1) % KEYS : TEST_STRANGERS + i);
    }
}

static tamis *filled(const char *spec) {
    tamis *f = test_make("%s", spec);
    for (uint64_t i = 0; i < KEYS; i++)
        test_demand(tamis_add_hash(f, test_number(0, i)), "adding one");
    return f;
}

static void demand_answers(const tamis *f, const uint64_t *asked, const uint8_t *expected,
                           size_t n) {
    uint8_t hit[ASKED + 1];
    memset(hit, 0xaa, sizeof hit);
    tamis_has_hashes(f, asked, n, hit);
    assert_memory_equal(hit, expected, n);
    assert_int_equal(hit[n], 0xaa);
}

static void a_batch_answers_as_one_key(void **state) {
    (void)state;
    uint64_t asked[ASKED];
    uint8_t expected[ASKED];
    draw(asked);
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *f = filled(specs[s]);
        tamis__cpu_set(0);
        for (size_t i = 0; i < ASKED; i++) expected[i] = tamis_has_hash(f, asked[i]);
        for (size_t c = 0; c < COUNT_OF(cpus); c++) {
            tamis__cpu_set(cpus[c]);
            for (size_t n = 0; n <= 18; n++) demand_answers(f, asked + n, expected + n, n);
            for (size_t n = 255; n <= ASKED; n += n < 258 ? 1 : 127)
                demand_answers(f, asked + ASKED - n, expected + ASKED - n, n);
        }
        tamis__cpu_set(TAMIS_CPU_ALL);
        tamis_free(f);
    }
}

/* Adds prefetch cells in groups before changing them; the bytes are those of single adds. */
static void a_batch_adds_as_one_key(void **state) {
    (void)state;
    uint64_t *hash = malloc(KEYS * sizeof *hash);
    for (uint64_t i = 0; i < KEYS; i++) hash[i] = test_number(0, i);
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *one = filled(specs[s]), *many = test_make("%s", specs[s]);
        uint64_t size, other;
        for (size_t i = 0, n = 1; i < KEYS; i += n, n = n * 2 + 1) {
            if (n > KEYS - i) n = KEYS - i;
            test_demand(tamis_add_hashes(many, hash + i, n), "adding many");
        }
        const uint8_t *a = tamis_payload(one, &size), *b = tamis_payload(many, &other);
        assert_int_equal(size, other);
        assert_memory_equal(a, b, size);
        tamis_free(one);
        tamis_free(many);
    }
    free(hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_answers_as_one_key),
        cmocka_unit_test(a_batch_adds_as_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
