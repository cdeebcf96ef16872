/* SPDX-License-Identifier: MIT */
/* For blocked.c and its vector kernels. */
#ifndef TAMIS_KINDS_BLOCKED_H
#define TAMIS_KINDS_BLOCKED_H

#include "kinds/blocks.h"

enum { BLOCKS, HASHES }; /* shape words */
enum { BLOCK_BYTES = 64, LANES = 8, LANE_BITS = 64 };

TAMIS_HOT uint64_t locate(const tamis_body *f, uint64_t hash) {
    return tamis__block_wide(hash, f->word[BLOCKS]) * BLOCK_BYTES;
}

/* Kernels for one and for two bits in each lane; chains have only the portable one. */
extern const tamis_block_ops tamis__blocked_avx2[2], tamis__blocked_avx512[2],
    tamis__blocked_neon[2];

#endif
