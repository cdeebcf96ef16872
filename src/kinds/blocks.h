/* SPDX-License-Identifier: MIT */
/* For blocked and split, portable and vector, and shard; it holds only inline functions.
 *
 * Both keep all bits of a key in one block, which is prefetched before it is read. A batch runs in
 * groups: all blocks of a group are prefetched, then all are tested, so that as many cache misses
 * are in flight as the machine allows.
 *
 * Measured on Ice Lake at 10^8 keys on large pages, ns per query against the bare touch of a
 * line: groups of 64, 128, 256 took 1.15, 1.05, 1.01 of it with prefetches to the second cache, and
 * 1.20, 1.16 with prefetches to the first, whose buffers are fewer. Filters that fit the second
 * cache lose 0.7 ns by any prefetch: they have none. */
#ifndef TAMIS_KINDS_BLOCKS_H
#define TAMIS_KINDS_BLOCKS_H

#include "bits/bits.h"
#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/kind.h"

enum { TAMIS_GROUP = 256 };

TAMIS_HOT bool tamis__exceeds_cache(const tamis_body *f) {
    return f->size > tamis__near_bytes();
}

/* Into the second-level cache, for reading and for writing. */
#define TAMIS_PREFETCH(p)     __builtin_prefetch(p, 0, 2)
#define TAMIS_PREFETCH_ADD(p) __builtin_prefetch(p, 1, 2)

/* The block of a hash among `blocks`: by all of its bits, and as in Parquet. */
TAMIS_HOT uint64_t tamis__block_wide(uint64_t hash, uint64_t blocks) {
    return tamis__range(hash, blocks);
}
TAMIS_HOT uint64_t tamis__block_parquet(uint64_t hash, uint64_t blocks) {
    return (hash >> 32) * blocks >> 32;
}

/* What differs between the kinds and their kernels; constants wherever the loops are inlined. */
typedef uint64_t tamis_locate(const tamis_body *, uint64_t hash); /* byte offset of the block */
typedef bool tamis_test(const uint8_t *block, uint32_t x);
typedef void tamis_set(uint8_t *block, uint32_t x);

TAMIS_HOT void tamis__blocks_query(tamis_locate *locate, tamis_test *test, const tamis_body *f,
                                   const uint64_t *hash, size_t n, uint8_t *hit) {
    uint64_t at[TAMIS_GROUP];
    const bool is_far = tamis__exceeds_cache(f);
    uint8_t *const bytes = f->bytes; /* the compiler cannot know that no hit is written over it */
    while (n > 1) {
        const size_t group = n < TAMIS_GROUP ? n : TAMIS_GROUP;
        for (size_t j = 0; j < group; j++) {
            at[j] = locate(f, hash[j]);
            if (is_far) TAMIS_PREFETCH(bytes + at[j]);
        }
        for (size_t j = 0; j < group; j++) hit[j] = test(bytes + at[j], (uint32_t)hash[j]);
        hash += group, hit += group, n -= group;
    }
    if (n) *hit = test(f->bytes + locate(f, *hash), (uint32_t)*hash);
}

TAMIS_HOT void tamis__blocks_add(tamis_locate *locate, tamis_set *set, tamis_body *f,
                                 const uint64_t *hash, size_t n) {
    uint64_t at[TAMIS_GROUP];
    const bool is_far = tamis__exceeds_cache(f);
    uint8_t *const bytes = f->bytes; /* the compiler cannot know that no hit is written over it */
    while (n > 1) {
        const size_t group = n < TAMIS_GROUP ? n : TAMIS_GROUP;
        for (size_t j = 0; j < group; j++) {
            at[j] = locate(f, hash[j]);
            if (is_far) TAMIS_PREFETCH_ADD(bytes + at[j]);
        }
        for (size_t j = 0; j < group; j++) set(bytes + at[j], (uint32_t)hash[j]);
        hash += group, n -= group;
    }
    if (n) set(f->bytes + locate(f, *hash), (uint32_t)*hash);
}

/* May hashes be located several at once? The number of blocks, word 0 of both kinds, must fit in 32
 * bits. */
TAMIS_HOT bool tamis__fits32(const tamis_body *f) {
    return f->word[0] >> 32 == 0;
}

/* The operations of a kernel, and what makes them from one test and one set. */
typedef struct tamis_block_ops {
    void (*query)(const tamis_body *, const uint64_t *hash, size_t n, uint8_t *hit);
    void (*add)(tamis_body *, const uint64_t *hash, size_t n);
    bool (*has)(const tamis_body *, uint64_t hash);
    void (*numbers)(const tamis_body *, uint64_t flip, const uint64_t *numbers, size_t n,
                    uint8_t *hit); /* NULL: hash them first */
} tamis_block_ops;

#define TAMIS_BLOCK_OPS(name, locate, test, set)                                                  \
    static void name##_query(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) { \
        tamis__blocks_query(locate, test, f, hash, n, hit);                                       \
    }                                                                                             \
    static TAMIS_ONE_KEY void name##_add(tamis_body *f, const uint64_t *hash, size_t n) {         \
        tamis__blocks_add(locate, set, f, hash, n);                                               \
    }                                                                                             \
    static TAMIS_ONE_KEY bool name##_has(const tamis_body *f, uint64_t hash) {                    \
        return test(f->bytes + locate(f, hash), (uint32_t)hash);                                  \
    }

/* A kernel of the functions that these macros made. */
#define TAMIS_OPS(name) \
    { .query = name##_query, .add = name##_add, .has = name##_has }
#define TAMIS_ALL_OPS(name) \
    { .query = name##_query, .add = name##_add, .has = name##_has, .numbers = name##_numbers }

#endif
