/* SPDX-License-Identifier: MIT */
/* libbloom, the C library in Debian: a classic filter, one key at a time. */
#include <bloom.h>
#include <limits.h>
#include <stdlib.h>

#include "bench/peer.h"

#ifndef RELEASE
#define RELEASE ""
#endif

static void *build_keys(const void *keys, size_t len, size_t n) {
    struct bloom *b = calloc(1, sizeof *b);
    if (!b || n > INT_MAX || bloom_init(b, (int)(n < 1000 ? 1000 : n), 0.01)) {
        free(b);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) bloom_add(b, (const char *)keys + i * len, (int)len);
    return b;
}

static void *build(const uint64_t *keys, size_t n, unsigned threads) {
    (void)threads;
    return build_keys(keys, sizeof *keys, n);
}

static void *build_strings(const uint8_t *keys, size_t len, size_t n, unsigned threads) {
    (void)threads;
    return build_keys(keys, len, n);
}

/* The API lacks const, but the library does not modify the filter. */
static struct bloom *of(const void *filter) {
    return (struct bloom *)(uintptr_t)filter;
}

static void has(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = bloom_check(of(filter), &keys[i], sizeof keys[i]) == 1;
}

static void has_strings(const void *filter, const uint8_t *keys, size_t len, size_t n,
                        uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = bloom_check(of(filter), keys + i * len, (int)len) == 1;
}

static uint64_t chase(const void *filter, uint64_t key, size_t n) {
    while (n--) key = bench_next(key, bloom_check(of(filter), &key, sizeof key) == 1);
    return key;
}

static size_t bytes(const void *filter) {
    return (size_t)of(filter)->bytes;
}

static void release(void *filter) {
    bloom_free(filter);
    free(filter);
}

const struct bench_contestant *bench_contestants(size_t *count) {
    static const struct bench_contestant list[] = {
        {BENCH_CONTESTANT, "libbloom", "one", RELEASE, build, has, chase, build_strings,
         has_strings, bytes, release, false},
    };
    *count = sizeof list / sizeof *list;
    return list;
}
