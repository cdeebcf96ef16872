/* SPDX-License-Identifier: MIT */
/* Formats of other systems may include this: the checksum of LevelDB's and RocksDB's blocks. */
#ifndef TAMIS_FOREIGN_CRC32C_H
#define TAMIS_FOREIGN_CRC32C_H

#include <stdint.h>

/* Castagnoli's CRC of 32 bits, as iSCSI has it. */
uint32_t tamis__crc32c(const void *bytes, uint64_t size);

/* As it is stored beside data that may hold checksums itself: turned, and a constant added. */
uint32_t tamis__crc32c_masked(const void *bytes, uint64_t size);

#endif
