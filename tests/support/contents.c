/* SPDX-License-Identifier: MIT */
#include "tests/support/contents.h"

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
