/* SPDX-License-Identifier: MIT */
/* Formats of other systems may include this: CRC-64 as Redis has it, of Jones's polynomial
 * 0xad93d23594c935a9, reflected, from 0 on. */
#ifndef TAMIS_FOREIGN_CRC64_H
#define TAMIS_FOREIGN_CRC64_H

#include <stdint.h>

/* Goes on from what came before; 0 at first. */
uint64_t tamis__crc64(uint64_t before, const uint8_t *bytes, uint64_t n);

#endif
