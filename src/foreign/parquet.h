/* SPDX-License-Identifier: MIT */
/* parquet.c and parquet_file.c may include this: a filter as it stands in Parquet files. */
#ifndef TAMIS_FOREIGN_PARQUET_H
#define TAMIS_FOREIGN_PARQUET_H

#include "foreign/format.h"

enum { TAMIS_PARQUET_BLOCK = 32, TAMIS_PARQUET_MAX_HEADER = 512 }; /* 15 to 19 are usual */

/* Reads the header at the start of the bytes: how long it is, and how long the bitset behind it.
 * Both together lie within the bytes. `format` is who asks, for the sentence. */
tamis_status tamis__parquet_header(const char *format, const tamis_input *, uint64_t *header,
                                   uint64_t *bitset);

/* What a bitset is to us: split with xxh64. */
tamis_import_result tamis__parquet_arrival(const uint8_t *bitset, uint64_t size);

#endif
