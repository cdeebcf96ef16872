/* SPDX-License-Identifier: MIT */
/* For the bench and the libraries that it measures.
 *
 * A contestant is one filter with one way to use it. Ours are compiled in; others come as shared
 * objects, named by --peer FILE.so, that export one function:
 *
 *     const struct bench_contestant *bench_contestants(size_t *count);
 *
 * so that a library which cannot be installed by name is measured in the same run, from code that
 * stays where it is. Works in C and C++. */
#ifndef TAMIS_BENCH_PEER_H
#define TAMIS_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_CONTESTANT = 1 }; /* version of this struct */

struct bench_contestant {
    unsigned version; /* BENCH_CONTESTANT */
    const char *name; /* library and structure: "Boost fast_multiblock32" */
    const char *api;  /* how it is used: "one" (a loop of inlined single calls), "batch", "bulk" */
    const char *release; /* of the library: "1.90 7eda52ee" */

    /* Construction and all inserts of n distinct integers at about 1 % (or the structure's fixed
     * rate), in the fastest way that the library offers, with at most `threads`. NULL: failed. */
    void *(*build)(const uint64_t *keys, size_t n, unsigned threads);

    /* hit[i] becomes 1 or 0; for a long list, in the way named by `api`. */
    void (*has)(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit);

    /* Each key is the one before plus its answer plus a step: nothing can overlap. Starts at `key`,
     * queries n times and returns the last key, so that nothing can be optimised away. */
    uint64_t (*chase)(const void *filter, uint64_t key, size_t n);

    /* The same for contiguous keys of `len` bytes. NULL: unsupported. */
    void *(*build_strings)(const uint8_t *keys, size_t len, size_t n, unsigned threads);
    void (*has_strings)(const void *filter, const uint8_t *keys, size_t len, size_t n,
                        uint8_t *hit);

    size_t (*bytes)(const void *filter); /* memory of the filter */
    void (*free)(void *filter);
    bool large_pages; /* requests large pages itself */
};

/* The step of `chase`: the next key of a chain. */
static inline uint64_t bench_next(uint64_t key, bool hit) {
    return key * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019 + hit;
}

const struct bench_contestant *bench_contestants(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
