/* SPDX-License-Identifier: MIT */
/* For split_avx2.c and split_neon.c: kernels made from tamis_inline.h compiled for the vector
 * unit. */
#ifndef TAMIS_KINDS_SPLIT_LANES_H
#define TAMIS_KINDS_SPLIT_LANES_H

#include "kinds/split.h"

TAMIS_HOT bool test(const uint8_t *block, uint32_t x) {
    return tamis_inline_has_split(block, x);
}
TAMIS_HOT void set(uint8_t *block, uint32_t x) {
    tamis_inline_add_split(block, x);
}

TAMIS_BLOCK_OPS(parquet, locate_parquet, test, set)
TAMIS_BLOCK_OPS(wide, locate_wide, test, set)

#endif
