/* SPDX-License-Identifier: MIT */
/* For inline_view.c and one_*.c: one key of blocked and split through a handle.
 *
 * A query takes a hash, the choice of a kernel and a few instructions in a block. The choice is
 * made with the handle, and what remains is a call to the code of tamis_inline.h: twice as fast as
 * the general path. Adds too, since these kinds take every key. */
#ifndef TAMIS_CORE_ONE_H
#define TAMIS_CORE_ONE_H

#include "cpu/cpu.h"
#include "kinds/kind.h"

enum {
    TAMIS_INLINE_RULES = TAMIS_INLINE_SPLIT_PARQUET + 1,
    TAMIS_INLINE_HASHES = TAMIS_INLINE_MIX8 + 1,
};

/* By hash (enum tamis_inline_hash) and rule, compiled for the CPU in the name. */
#if TAMIS_HAS_X86
extern const tamis_one tamis__one_avx2[TAMIS_INLINE_HASHES][TAMIS_INLINE_RULES],
    tamis__one_avx512[TAMIS_INLINE_HASHES][TAMIS_INLINE_RULES];
#endif

/* Word 0 of both kinds is the number of blocks. */
#define TAMIS_ONE_HAS(name, hash_of_it, rule_of_it)                      \
    static bool name(const tamis_body *f, uint64_t key, uint64_t flip) { \
        const struct tamis_inline fast = {.bytes = f->bytes,             \
                                          .blocks = f->word[0],          \
                                          .flip = flip,                  \
                                          .rule = rule_of_it,            \
                                          .hash = hash_of_it};           \
        return tamis_inline_has_u64(&fast, key);                         \
    }
#define TAMIS_ONE(name, rule_of_it)                                                               \
    TAMIS_ONE_HAS(name##_xxh3, TAMIS_INLINE_XXH3, rule_of_it)                                     \
    TAMIS_ONE_HAS(name##_mix8, TAMIS_INLINE_MIX8, rule_of_it)                                     \
    static bool name##_add(tamis_body *f, uint64_t hash) {                                        \
        struct tamis_inline fast = {.bytes = f->bytes, .blocks = f->word[0], .rule = rule_of_it}; \
        tamis_inline_add_hash(&fast, hash);                                                       \
        return true;                                                                              \
    }
#define TAMIS_ONE_TABLE(table)                                         \
    TAMIS_ONE(blocked, TAMIS_INLINE_BLOCKED)                           \
    TAMIS_ONE(split, TAMIS_INLINE_SPLIT)                               \
    TAMIS_ONE(parquet, TAMIS_INLINE_SPLIT_PARQUET)                     \
    const tamis_one table[TAMIS_INLINE_HASHES][TAMIS_INLINE_RULES] = { \
        {{.has_number = blocked_xxh3, .add = blocked_add},             \
         {.has_number = split_xxh3, .add = split_add},                 \
         {.has_number = parquet_xxh3, .add = parquet_add}},            \
        {{.has_number = blocked_mix8, .add = blocked_add},             \
         {.has_number = split_mix8, .add = split_add},                 \
         {.has_number = parquet_mix8, .add = parquet_add}},            \
    };

#endif
