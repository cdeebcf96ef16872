/* SPDX-License-Identifier: MIT */
/* The module's files may include this: numbers of up to eight bytes, the lowest byte first. */
#ifndef TAMIS_REDIS_LITTLE_ENDIAN_H
#define TAMIS_REDIS_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint64_t le_get(const uint8_t *from, int bytes) {
    uint64_t x = 0;
    while (bytes-- > 0) x = x << 8 | from[bytes];
    return x;
}

/* What comes after it is returned. */
static inline uint8_t *le_put(uint8_t *to, int bytes, uint64_t x) {
    for (int i = 0; i < bytes; i++) *to++ = (uint8_t)(x >> 8 * i);
    return to;
}

#endif
