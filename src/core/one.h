/* SPDX-License-Identifier: MIT */
/* For filter.h and one_*.c: queries for one integer through a handle.
 *
 * A query takes a hash, the choice of a kernel and a few instructions in a block. For blocked and
 * split the choice is made with the handle, and what remains is a call to the code of
 * tamis_inline.h: twice as fast as the general path. */
#ifndef TAMIS_CORE_ONE_H
#define TAMIS_CORE_ONE_H

#include "cpu/cpu.h"
#include "kinds/kind.h"

typedef bool tamis_one(const tamis_body *, uint64_t flip, uint64_t key);

enum { TAMIS_INLINE_RULES = TAMIS_INLINE_SPLIT_PARQUET + 1 };

/* By rule, compiled for the CPU in the name. */
#if TAMIS_HAS_X86
extern tamis_one *const tamis__one_avx2[TAMIS_INLINE_RULES],
    *const tamis__one_avx512[TAMIS_INLINE_RULES];
#endif

/* Word 0 of both kinds is the number of blocks. */
#define TAMIS_ONE(name, rule_of_it)                                                     \
    static bool name(const tamis_body *f, uint64_t flip, uint64_t key) {                \
        const struct tamis_inline fast = {                                              \
            .bytes = f->bytes, .blocks = f->word[0], .flip = flip, .rule = rule_of_it}; \
        return tamis_inline_has_u64(&fast, key);                                        \
    }
#define TAMIS_ONE_TABLE(table)                              \
    TAMIS_ONE(in_blocked, TAMIS_INLINE_BLOCKED)             \
    TAMIS_ONE(in_split, TAMIS_INLINE_SPLIT)                 \
    TAMIS_ONE(in_split_parquet, TAMIS_INLINE_SPLIT_PARQUET) \
    tamis_one *const table[TAMIS_INLINE_RULES] = {in_blocked, in_split, in_split_parquet};

#endif
