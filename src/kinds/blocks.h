/* blocked and split, plain and vector, may include this; it holds only inline functions.
 *
 * Both keep all bits of a key in one block, which a prefetch brings before it is looked at. A
 * batch runs in groups: all addresses of a group are asked for, then all are tested, so that up to
 * GROUP cache misses are under way at once. */
#ifndef TAMIS_KINDS_BLOCKS_H
#define TAMIS_KINDS_BLOCKS_H

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum { TAMIS_GROUP = 64 };

/* What differs between the kinds and their kernels; constants wherever the loops are inlined. */
typedef uint64_t tamis_locate(const tamis_body *, uint64_t hash); /* byte offset of the block */
typedef bool tamis_test(const uint8_t *block, uint32_t x);
typedef void tamis_set(uint8_t *block, uint32_t x);

TAMIS_HOT void tamis__blocks_query(tamis_locate *locate, tamis_test *test, const tamis_body *f,
                                   const uint64_t *hash, size_t n, uint8_t *hit) {
    uint64_t at[TAMIS_GROUP];
    while (n > 1) {
        const size_t group = n < TAMIS_GROUP ? n : TAMIS_GROUP;
        for (size_t j = 0; j < group; j++) {
            at[j] = locate(f, hash[j]);
            __builtin_prefetch(f->bytes + at[j]);
        }
        for (size_t j = 0; j < group; j++) hit[j] = test(f->bytes + at[j], (uint32_t)hash[j]);
        hash += group, hit += group, n -= group;
    }
    if (n) *hit = test(f->bytes + locate(f, *hash), (uint32_t)*hash);
}

TAMIS_HOT void tamis__blocks_add(tamis_locate *locate, tamis_set *set, tamis_body *f,
                                 const uint64_t *hash, size_t n) {
    uint64_t at[TAMIS_GROUP];
    while (n > 1) {
        const size_t group = n < TAMIS_GROUP ? n : TAMIS_GROUP;
        for (size_t j = 0; j < group; j++) {
            at[j] = locate(f, hash[j]);
            __builtin_prefetch(f->bytes + at[j], 1);
        }
        for (size_t j = 0; j < group; j++) set(f->bytes + at[j], (uint32_t)hash[j]);
        hash += group, n -= group;
    }
    if (n) set(f->bytes + locate(f, *hash), (uint32_t)*hash);
}

/* The two verbs of a kernel, and what makes them from one test and one set. */
typedef struct tamis_block_ops {
    void (*query)(const tamis_body *, const uint64_t *hash, size_t n, uint8_t *hit);
    void (*add)(tamis_body *, const uint64_t *hash, size_t n);
} tamis_block_ops;

#define TAMIS_BLOCK_OPS(name, locate, test, set)                                                  \
    static void name##_query(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) { \
        tamis__blocks_query(locate, test, f, hash, n, hit);                                       \
    }                                                                                             \
    static void name##_add(tamis_body *f, const uint64_t *hash, size_t n) {                       \
        tamis__blocks_add(locate, set, f, hash, n);                                               \
    }

#endif
