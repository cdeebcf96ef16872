/* SPDX-License-Identifier: MIT */
/* For formats of other systems: the checksum of LevelDB's and RocksDB's blocks. */
#ifndef TAMIS_FOREIGN_CRC32C_H
#define TAMIS_FOREIGN_CRC32C_H

#include <stdint.h>

/* Castagnoli's CRC of 32 bits, as in iSCSI. */
uint32_t tamis__crc32c(const void *bytes, uint64_t size);

/* As stored beside data that may itself hold checksums: rotated, plus a constant. */
uint32_t tamis__crc32c_masked(const void *bytes, uint64_t size);

#endif
