/* SPDX-License-Identifier: MIT */
#include "tests/support/contents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

void test_add_hashes(tamis *f, uint64_t family, uint64_t from, uint64_t to) {
    enum { AT_ONCE = 1024 };
    uint64_t hash[AT_ONCE];
    while (from < to) {
        size_t n = 0;
        for (; n < AT_ONCE && from < to; n++) hash[n] = test_number(family, from++);
        test_demand(tamis_add_hashes(f, hash, n), "add");
    }
}

static void demand_same(const tamis *f, uint64_t hash, uint8_t hit) {
    if (tamis_has_hash(f, hash) == hit) return;
    fprintf(stderr, "hash %016llx: alone it is another answer than in a batch\n",
            (unsigned long long)hash);
    abort();
}

uint64_t test_count_hits(const tamis *f, uint64_t family, uint64_t from, uint64_t n) {
    enum { BATCH = 500 };
    uint64_t hash[BATCH], hits = 0;
    uint8_t hit[BATCH];
    for (uint64_t i = 0; i < n; i += BATCH) {
        const size_t m = n - i < BATCH ? (size_t)(n - i) : BATCH;
        for (size_t j = 0; j < m; j++) hash[j] = test_number(family, from + i + j);
        tamis_has_hashes(f, hash, m, hit);
        for (size_t j = 0; j < m; j++) {
            demand_same(f, hash[j], hit[j]);
            hits += hit[j];
        }
    }
    return hits;
}

bool test_is_same_payload(const tamis *a, const tamis *b) {
    const struct tamis_info info_a = test_info(a), info_b = test_info(b);
    uint64_t m, n;
    const void *p = tamis_payload(a, &m), *q = tamis_payload(b, &n);
    return m == n && memcmp(p, q, (size_t)m) == 0 &&
           memcmp(info_a.word, info_b.word, sizeof info_a.word) == 0;
}

bool test_is_same_image(const tamis *a, const tamis *b) {
    size_t m, n;
    uint8_t *p = test_image(a, &m), *q = test_image(b, &n);
    const bool is_same = m == n && memcmp(p, q, m) == 0;
    free(p);
    free(q);
    return is_same;
}

const uint8_t *test_payload(const tamis *f) {
    uint64_t size;
    return tamis_payload(f, &size);
}

uint64_t test_bits_at(const tamis *f, uint64_t at, unsigned width) {
    const uint8_t *bytes = test_payload(f);
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)(bytes[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return value;
}

uint64_t test_bits_set(const uint8_t *bytes, uint64_t n) {
    uint64_t set = 0;
    for (uint64_t i = 0; i < n; i++) set += (unsigned)__builtin_popcount(bytes[i]);
    return set;
}

void test_demand_bits(const tamis *f, const uint16_t *at, size_t n) {
    uint64_t size, distinct = 0;
    const uint8_t *bytes = tamis_payload(f, &size);
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        while (at[before] != at[i]) before++;
        distinct += before == i;
        if (bytes[at[i] / 8] >> at[i] % 8 & 1) continue;
        fprintf(stderr, "%s: bit %u is not set\n", test_info(f).kind, at[i]);
        abort();
    }
    if (test_bits_set(bytes, size) == distinct) return;
    fprintf(stderr, "%s: other bits are set too\n", test_info(f).kind);
    abort();
}

uint64_t test_slots_used(const tamis *f) {
    const struct tamis_info info = test_info(f);
    return (uint64_t)llround(info.fill * (double)info.word[0]);
}

void test_demand_loads(const tamis *f) {
    size_t size;
    uint8_t *image = test_image(f, &size);
    tamis *g;
    test_demand(tamis_load(&g, image, size), "load");
    tamis_free(g);
    free(image);
}
