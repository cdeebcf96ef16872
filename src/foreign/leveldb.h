/* SPDX-License-Identifier: MIT */
/* For formats of LevelDB's and RocksDB's tables: one filter, or a block of them, found in a
 * file. */
#ifndef TAMIS_FOREIGN_LEVELDB_H
#define TAMIS_FOREIGN_LEVELDB_H

#include "foreign/filter_block.h"

enum { TAMIS_LEVELDB, TAMIS_LEVELDB_OF_ROCKSDB, TAMIS_LEVELDB_SYSTEMS };

tamis_status tamis__leveldb_arrive(const tamis_input *, uint64_t system, tamis_import_result *);
tamis_status tamis__leveldb_block_arrive(const tamis_input *, uint64_t system,
                                         tamis_import_result *);

/* find() in a table file: those of its block that hold a key. */
tamis_status tamis__each_filter(const tamis_input *file, const tamis_filter_block *,
                                tamis_finder *each, void *ctx);

/* read(): the one of that number. */
tamis_status tamis__filter_numbered(const char *format, const tamis_filter_block *, uint64_t i,
                                    uint64_t system, tamis_import_result *);

#endif
