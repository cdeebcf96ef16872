/* SPDX-License-Identifier: MIT */
/* One key by tamis_inline.h, in a file of its own because it is compiled for the CPU that it runs
 * on, as a storage engine would be. */
#include "bench/bench.h"
#include "tamis_inline.h"
#include "tamis_pending.h"

typedef void queries(const struct tamis_inline *, const uint64_t *keys, size_t n, uint8_t *hit);

/* One loop for each rule and hash, as in an engine that has settled on one of them. */
#define QUERIES(name, rule, hash)                                                     \
    static void name(const struct tamis_inline *view, const uint64_t *keys, size_t n, \
                     uint8_t *hit) {                                                  \
        const struct tamis_inline fast = tamis_inline_known(view, rule, hash);        \
        for (size_t i = 0; i < n; i++) hit[i] = tamis_inline_has_u64(&fast, keys[i]); \
    }
QUERIES(blocked_xxh3, TAMIS_INLINE_BLOCKED, TAMIS_INLINE_XXH3)
QUERIES(blocked_mix8, TAMIS_INLINE_BLOCKED, TAMIS_INLINE_MIX8)
QUERIES(split_xxh3, TAMIS_INLINE_SPLIT, TAMIS_INLINE_XXH3)
QUERIES(split_mix8, TAMIS_INLINE_SPLIT, TAMIS_INLINE_MIX8)
QUERIES(parquet_xxh3, TAMIS_INLINE_SPLIT_PARQUET, TAMIS_INLINE_XXH3)
QUERIES(parquet_mix8, TAMIS_INLINE_SPLIT_PARQUET, TAMIS_INLINE_MIX8)

/* The same for cells of fuse. */
#define CELLS(name, rule, hash, arity, width)                                                   \
    static void name##_##arity##_##width(const struct tamis_inline *view, const uint64_t *keys, \
                                         size_t n, uint8_t *hit) {                              \
        const struct tamis_inline known = tamis_inline_known(view, rule, hash),                 \
                                  fast = tamis_inline_known_cells(&known, arity, width);        \
        for (size_t i = 0; i < n; i++) hit[i] = tamis_inline_has_u64(&fast, keys[i]);           \
    }
#define FUSE(name, rule, hash)                                                        \
    CELLS(name, rule, hash, 3, 8)                                                     \
    CELLS(name, rule, hash, 3, 16)                                                    \
    QUERIES(name##_any, rule, hash)                                                   \
    static void name(const struct tamis_inline *view, const uint64_t *keys, size_t n, \
                     uint8_t *hit) {                                                  \
        if (view->arity == 3 && view->width == 8)                                     \
            name##_3_8(view, keys, n, hit);                                           \
        else if (view->arity == 3 && view->width == 16)                               \
            name##_3_16(view, keys, n, hit);                                          \
        else                                                                          \
            name##_any(view, keys, n, hit);                                           \
    }
FUSE(fuse_xxh3, TAMIS_INLINE_FUSE, TAMIS_INLINE_XXH3)
FUSE(fuse_mix8, TAMIS_INLINE_FUSE, TAMIS_INLINE_MIX8)
FUSE(segments_xxh3, TAMIS_INLINE_FUSE_SEGMENTS, TAMIS_INLINE_XXH3)
FUSE(segments_mix8, TAMIS_INLINE_FUSE_SEGMENTS, TAMIS_INLINE_MIX8)

void inline_has(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit) {
    static queries *const by_rule_and_hash[][2] = {{blocked_xxh3, blocked_mix8},
                                                   {split_xxh3, split_mix8},
                                                   {parquet_xxh3, parquet_mix8},
                                                   {fuse_xxh3, fuse_mix8},
                                                   {segments_xxh3, segments_mix8}};
    struct tamis_inline view = TAMIS_INLINE_INIT;
    if (!tamis_inline_view(filter, &view))
        by_rule_and_hash[view.rule][view.hash](&view, keys, n, hit);
}

void push_has(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit) {
    struct tamis_pending pending = tamis_pending_init(filter);
    struct tamis_answer answer;
    for (size_t i = 0; i < n; i++)
        if (tamis_pending_push(&pending, keys[i], &answer)) *hit++ = answer.is_hit;
    while (tamis_pending_pop(&pending, &answer)) *hit++ = answer.is_hit;
}

uint64_t inline_chase(const void *filter, uint64_t key, size_t n) {
    struct tamis_inline view = TAMIS_INLINE_INIT;
    if (tamis_inline_view(filter, &view)) return key;
    const struct tamis_inline fast = view; /* its address is not shared: it stays in registers */
    while (n--) key = bench_next(key, tamis_inline_has_u64(&fast, key));
    return key;
}
