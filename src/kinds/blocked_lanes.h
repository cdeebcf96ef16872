/* SPDX-License-Identifier: MIT */
/* blocked_avx2.c and blocked_neon.c may include this: kernels made of what tamis_inline.h is when
 * it is compiled for the vector unit. The same bits as blocked.c, many lanes at a time. */
#ifndef TAMIS_KINDS_BLOCKED_LANES_H
#define TAMIS_KINDS_BLOCKED_LANES_H

#include "kinds/blocked.h"

TAMIS_HOT bool test_1(const uint8_t *block, uint32_t x) {
    return tamis_inline_has_blocked(block, x);
}
TAMIS_HOT void set_1(uint8_t *block, uint32_t x) {
    tamis_inline_add_blocked(block, x);
}

/* The second bit of a lane has its number 6 bits below the first one's: there stands the first one
 * of a hash that is moved up by so much. */
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
