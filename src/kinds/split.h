/* SPDX-License-Identifier: MIT */
/* For split.c and its vector kernels. */
#ifndef TAMIS_KINDS_SPLIT_H
#define TAMIS_KINDS_SPLIT_H

#include "kinds/blocks.h"

enum { BLOCKS, INDEX };        /* shape words */
enum { PARQUET, WIDE, RULES }; /* values of INDEX */
enum { BLOCK_BYTES = 32, LANES = 8, LANE_BITS = 32 };

TAMIS_HOT uint64_t locate_parquet(const tamis_body *f, uint64_t hash) {
    return tamis__block_parquet(hash, f->word[BLOCKS]) * BLOCK_BYTES;
}

TAMIS_HOT uint64_t locate_wide(const tamis_body *f, uint64_t hash) {
    return tamis__block_wide(hash, f->word[BLOCKS]) * BLOCK_BYTES;
}

/* Kernels by index rule. */
extern const tamis_block_ops tamis__split_avx2[RULES], tamis__split_avx512[RULES],
    tamis__split_neon[RULES];

#endif
