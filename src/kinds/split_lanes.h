/* SPDX-License-Identifier: MIT */
/* split_avx2.c and split_neon.c may include this: kernels made of what tamis_inline.h is when it is
 * compiled for the vector unit. */
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
