/* SPDX-License-Identifier: MIT */
/* For the files of src/foreign: big-endian numbers, as in networks and Java. */
#ifndef TAMIS_FOREIGN_BYTES_H
#define TAMIS_FOREIGN_BYTES_H

#include "bits/bits.h"

static inline uint32_t tamis__get32_big(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void tamis__put32_big(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static inline uint64_t tamis__get64_big(const uint8_t *p) {
    return (uint64_t)tamis__get32_big(p) << 32 | tamis__get32_big(p + 4);
}

static inline void tamis__put64_big(uint8_t *p, uint64_t x) {
    tamis__put32_big(p, (uint32_t)(x >> 32));
    tamis__put32_big(p + 4, (uint32_t)x);
}

#endif
