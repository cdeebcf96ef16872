/* SPDX-License-Identifier: MIT */
/* For formats of LevelDB's and RocksDB's tables: the small filters of a filter block in a table
 * file. */
#ifndef TAMIS_FOREIGN_TABLE_FILTERS_H
#define TAMIS_FOREIGN_TABLE_FILTERS_H

#include "foreign/filter_block.h"
#include "tamis_formats.h"

/* find(): those that hold a key. */
tamis_status tamis__each_filter(const tamis_input *file, const tamis_filter_block *,
                                tamis_finder *each, void *ctx);

/* read(): the one of that number. */
tamis_status tamis__filter_numbered(const char *format, const tamis_filter_block *, uint64_t i,
                                    uint64_t system, tamis_import_result *);

#endif
