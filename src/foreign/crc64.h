/* SPDX-License-Identifier: MIT */
/* For formats of other systems: CRC-64 as in Redis, of Jones's polynomial 0xad93d23594c935a9,
 * reflected, initially 0. */
#ifndef TAMIS_FOREIGN_CRC64_H
#define TAMIS_FOREIGN_CRC64_H

#include <stdint.h>

/* Continues from the previous result; 0 at first. */
uint64_t tamis__crc64(uint64_t before, const uint8_t *bytes, uint64_t n);

#endif
