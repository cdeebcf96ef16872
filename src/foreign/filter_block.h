/* SPDX-License-Identifier: MIT */
/* For LevelDB's kinds and the formats of tables: the filters of a table in one block.
 *
 *     filter 0 | filter 1 | ... | start of each, 4 bytes | where the starts begin, 4 bytes | lg, 1
 *     byte
 *
 * A filter ends where the next starts; after the last start is the offset of the starts, which is
 * the end of the last filter. Equal starts mean no filter: no data block begins in that range. */
#ifndef TAMIS_FOREIGN_FILTER_BLOCK_H
#define TAMIS_FOREIGN_FILTER_BLOCK_H

#include "foreign/format.h"

enum { TAMIS_FILTER_BLOCK_END = 5 };

typedef struct tamis_filter_block {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t count, starts; /* number of filters, and offset of their starts */
    unsigned lg;            /* a range of the file has 2^lg bytes */
} tamis_filter_block;

/* Checks all of it: afterwards every filter is within the block. */
tamis_status tamis__filter_block_open(const uint8_t *bytes, uint64_t size, tamis_filter_block *);

tamis_input tamis__filter_block_at(const tamis_filter_block *, uint64_t i);

#endif
