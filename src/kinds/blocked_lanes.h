/* SPDX-License-Identifier: MIT */
/* For blocked_avx2.c and blocked_neon.c: kernels made from tamis_inline.h compiled for the vector
 * unit. The same bits as blocked.c, many lanes at a time. */
#ifndef TAMIS_KINDS_BLOCKED_LANES_H
#define TAMIS_KINDS_BLOCKED_LANES_H

#include "kinds/blocked.h"

TAMIS_HOT bool test_1(const uint8_t *block, uint32_t x) {
    return tamis_inline_has_blocked(block, x);
}
TAMIS_HOT void set_1(uint8_t *block, uint32_t x) {
    tamis_inline_add_blocked(block, x);
}

/* The number of the second bit of a lane is 6 bits below that of the first: shifting the hash up by
 * 6 moves it there. */
TAMIS_HOT bool test_2(const uint8_t *block, uint32_t x) {
    return test_1(block, x) & test_1(block, x << 6);
}
TAMIS_HOT void set_2(uint8_t *block, uint32_t x) {
    set_1(block, x);
    set_1(block, x << 6);
}

TAMIS_BLOCK_OPS(one, locate, test_1, set_1)
TAMIS_BLOCK_OPS(two, locate, test_2, set_2)

#endif
