/* SPDX-License-Identifier: MIT */
/* Integers with a structure, under every hash: the rate stays what the filter reports.
 *
 * Weak hashes show here: counters, strides and sparse bits become a lattice of positions, in which
 * non-members of the same structure find the bits of members more often than by chance, or less
 * often. Members and non-members take turns, so that both have the structure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "tamis.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/filters.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { KEYS = 40000 }; /* members, and as many non-members */

/* The i-th number with one to four bits set: four of 64 give 635,376. */
static uint64_t sparse(uint64_t i) {
    uint64_t bits = 0;
    unsigned left = 4;
    for (int bit = 63; bit >= 0 && left > 0; bit--) { /* i in the combinatorial number system */
        uint64_t ways = 1;
        for (unsigned j = 0; j < left; j++) ways = ways * ((uint64_t)bit - j) / (j + 1);
        if ((uint64_t)bit >= left && i < ways) continue;
        i -= (uint64_t)bit >= left ? ways : 0;
        bits |= (uint64_t)1 << bit;
        left--;
    }
    return bits;
}

static uint64_t counter(uint64_t i) {
    return i;
}
static uint64_t high_counter(uint64_t i) {
    return i << 40;
}
static uint64_t swapped_counter(uint64_t i) {
    return __builtin_bswap64(i);
}
static uint64_t even(uint64_t i) {
    return i * 4096;
}
static uint64_t thousands(uint64_t i) {
    return i * 1000;
}
static uint64_t golden(uint64_t i) {
    return i * UINT64_C(0x9e3779b97f4a7c15);
}
static uint64_t microseconds(uint64_t i) {
    return UINT64_C(1763500000000000) + i * 997;
}
static uint64_t pair_of_ids(uint64_t i) {
    return i / 200 << 32 | i % 200;
}
static uint64_t ascii_digits(uint64_t i) {
    uint64_t text = 0;
    for (int digit = 0; digit < 8; digit++, i /= 10) text = text << 8 | ('0' + i % 10);
    return text;
}
static uint64_t doubles(uint64_t i) {
    union {
        double number;
        uint64_t bits;
    } both = {.number = (double)i};
    return both.bits;
}

static const struct {
    const char *name;
    uint64_t (*key)(uint64_t i);
} sets[] = {
    {"counters", counter},
    {"counters in high bits", high_counter},
    {"big-endian counters", swapped_counter},
    {"multiples of 4096", even},
    {"multiples of 1000", thousands},
    {"multiples of the golden ratio", golden},
    {"microseconds", microseconds},
    {"pairs of ids", pair_of_ids},
    {"digits", ascii_digits},
    {"whole doubles", doubles},
    {"four bits", sparse},
};

/* One of each way to find positions in a hash: blocks, a chain, fingerprints, bands, remainders. */
static const char *const specs[] = {"blocked:fpr=5%", "split:fpr=5%",    "classic:fpr=5%",
                                    "cuckoo:fpr=5%",  "quotient:fpr=5%", "fuse:width=5",
                                    "ribbon:fpr=5%",  "gcs:fpr=5%"};
static const char *const hashes[] = {"xxh3", "xxh64", "sip13", "mix8", "mix8,seed=1"};

static uint64_t hits_among_others(const char *spec, size_t set, double *rate) {
    static uint64_t members[KEYS], others[KEYS];
    static uint8_t hit[KEYS];
    uint64_t hits = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        members[i] = sets[set].key(2 * i);
        others[i] = sets[set].key(2 * i + 1);
    }
    tamis_builder *b = test_builder(spec);
    test_demand(tamis_builder_add_u64s(b, members, KEYS), "add");
    tamis *f = test_finish(b);
    *rate = test_info(f).fpr_now;
    tamis_has_u64s(f, others, KEYS, hit);
    for (size_t i = 0; i < KEYS; i++) hits += hit[i];
    tamis_free(f);
    return hits;
}

static void have_the_rate(const char *hash) {
    char spec[120];
    for (size_t k = 0; k < COUNT_OF(specs); k++)
        for (size_t s = 0; s < COUNT_OF(sets); s++) {
            double rate;
            snprintf(spec, sizeof spec, "%s,hash=%s", specs[k], hash);
            const uint64_t hits = hits_among_others(spec, s, &rate);
            if (!test_is_possible(hits, KEYS, rate, TEST_ALPHA))
                fail_msg("%s, %s: %llu of %d are yes, at a rate of %g", spec, sets[s].name,
                         (unsigned long long)hits, KEYS, rate);
        }
}

/* On every processor: vectors hash by code of their own. */
static void non_members_of_the_same_structure_have_the_rate(void **state) {
    (void)state;
    static const uint32_t cpus[] = {0, TAMIS_CPU_ALL};
    for (size_t c = 0; c < COUNT_OF(cpus); c++) {
        tamis__cpu_set(cpus[c]);
        for (size_t h = 0; h < COUNT_OF(hashes); h++) have_the_rate(hashes[h]);
    }
}

/* Tests the test: no set has a key twice. */
static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void no_key_is_there_twice(void **state) {
    (void)state;
    static uint64_t keys[2 * KEYS];
    for (size_t s = 0; s < COUNT_OF(sets); s++) {
        for (uint64_t i = 0; i < 2 * KEYS; i++) keys[i] = sets[s].key(i);
        qsort(keys, 2 * KEYS, sizeof *keys, by_value);
        for (size_t i = 1; i < 2 * KEYS; i++)
            if (keys[i] == keys[i - 1]) fail_msg("%s has a key twice", sets[s].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_there_twice),
        cmocka_unit_test(non_members_of_the_same_structure_have_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
