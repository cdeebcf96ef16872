/* SPDX-License-Identifier: MIT */
/* Batches against single keys. */
#include "tests/support/batches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static const uint32_t abilities[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512,
                                     TAMIS_CPU_ALL};

static void give_up(const char *spec, const char *what, uint32_t cpu) {
    fprintf(stderr, "%s: %s, with abilities %#x\n", spec, what, (unsigned)cpu);
    exit(1);
}

/* Batch sizes: 0, 1, 2, ..., then the rest at once, so that groups end everywhere. */
static size_t batch(size_t i, size_t left) {
    return i < 200 && i < left ? i : left;
}

static void demand_same_bytes(const char *spec, const tamis *one, const uint64_t *hashes, size_t n,
                              uint32_t cpu) {
    tamis *f = test_make("%s", spec);
    uint64_t size, other;
    tamis__cpu_set(cpu);
    for (size_t at = 0, i = 0, m; at < n; at += m, i++) {
        m = batch(i, n - at);
        test_demand(tamis_add_hashes(f, hashes + at, m), spec);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
    const void *expected = tamis_payload(one, &size), *made = tamis_payload(f, &other);
    if (size != other || memcmp(expected, made, (size_t)size))
        give_up(spec, "batches and single adds differ", cpu);
    tamis_free(f);
}

static void demand_same_answers(const char *spec, const tamis *f, const uint64_t *asked,
                                const uint8_t *expected, size_t n, uint32_t cpu) {
    uint8_t *hit = malloc(n);
    tamis__cpu_set(cpu);
    for (size_t at = 0, i = 0, m; at < n; at += m, i++) {
        m = batch(i, n - at);
        tamis_has_hashes(f, asked + at, m, hit + at);
    }
    if (memcmp(hit, expected, n)) give_up(spec, "batches and single queries differ", cpu);
    for (size_t i = 0; i < n; i++)
        if (tamis_has_hash(f, asked[i]) != expected[i]) give_up(spec, "single queries differ", cpu);
    tamis__cpu_set(TAMIS_CPU_ALL);
    free(hit);
}

/* The same numbers as keys, which a kind may hash by itself. */
static void demand_same_numbers(const char *spec, const tamis *f, const uint64_t *numbers, size_t n,
                                uint32_t cpu) {
    uint8_t *hit = malloc(n);
    uint64_t hash;
    tamis__cpu_set(cpu);
    for (size_t at = 0, i = 0, m; at < n; at += m, i++) {
        m = batch(i, n - at);
        tamis_has_u64s(f, numbers + at, m, hit + at);
    }
    tamis__cpu_set(0);
    for (size_t i = 0; i < n; i++) {
        tamis_hash_u64s(f, numbers + i, 1, &hash);
        if (tamis_has_hash(f, hash) != hit[i]) give_up(spec, "a list of integers differs", cpu);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
    free(hit);
}

void test_batches(const char *spec, const uint64_t *hashes, size_t n) {
    tamis *one = test_make("%s", spec);
    uint64_t *asked = malloc(2 * n * sizeof *asked);
    uint8_t *expected = malloc(2 * n);
    tamis__cpu_set(0);
    for (size_t i = 0; i < n; i++) test_demand(tamis_add_hash(one, hashes[i]), spec);
    for (size_t i = 0; i < 2 * n; i++) {
        asked[i] = i % 2 ? hashes[i / 2] : test_number(99, TEST_STRANGERS + i);
        expected[i] = tamis_has_hash(one, asked[i]);
    }
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++) {
        demand_same_bytes(spec, one, hashes, n, abilities[i]);
        demand_same_answers(spec, one, asked, expected, 2 * n, abilities[i]);
        demand_same_numbers(spec, one, asked, 2 * n, abilities[i]);
    }
    free(asked);
    free(expected);
    tamis_free(one);
}
