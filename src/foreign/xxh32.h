/* SPDX-License-Identifier: MIT */
/* For formats of other systems: XXH32, one of the checksums of RocksDB's blocks. */
#ifndef TAMIS_FOREIGN_XXH32_H
#define TAMIS_FOREIGN_XXH32_H

#include <stdint.h>

uint32_t tamis__xxh32(const void *bytes, uint64_t size); /* seed 0 */

#endif
