/* SPDX-License-Identifier: MIT */
/* For parquet.c and parquet_file.c: a filter in a Parquet file. */
#ifndef TAMIS_FOREIGN_PARQUET_H
#define TAMIS_FOREIGN_PARQUET_H

#include "foreign/format.h"

enum { TAMIS_PARQUET_BLOCK = 32, TAMIS_PARQUET_MAX_HEADER = 512 }; /* 15 to 19 are usual */

/* Reads the header at the start of the bytes: its size, and the size of the bitset after it. Both
 * together are within the bytes. `format` is the caller's, for messages. */
tamis_status tamis__parquet_header(const char *format, const tamis_input *, uint64_t *header,
                                   uint64_t *bitset);

/* A bitset in our terms: split with xxh64. */
tamis_import_result tamis__parquet_arrival(const uint8_t *bitset, uint64_t size);

#endif
