/* SPDX-License-Identifier: MIT */
/* Fuzz targets of the module's values may include this. */
#ifndef TAMIS_TESTS_FUZZ_RDB_H
#define TAMIS_TESTS_FUZZ_RDB_H

#include <stddef.h>
#include <stdint.h>

enum { RDB_MAX_SEED = 1 << 16 };

/* Input number i: a sound value as the module saves it; 0 behind the last one. */
size_t rdb_seed(unsigned i, uint8_t bytes[RDB_MAX_SEED]);

#endif
