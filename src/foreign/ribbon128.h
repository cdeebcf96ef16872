/* SPDX-License-Identifier: MIT */
/* For formats of RocksDB: its Ribbon filter, in the bytes of a filter block. */
#ifndef TAMIS_FOREIGN_RIBBON128_H
#define TAMIS_FOREIGN_RIBBON128_H

#include "foreign/format.h"

/* The first of the last five bytes of a filter block. */
enum { TAMIS_ROCKSDB_TAIL = 5, TAMIS_ROCKSDB_FAST = 0xff, TAMIS_ROCKSDB_RIBBON = 0xfe };

/* A block whose fifth byte from the end is TAMIS_ROCKSDB_RIBBON: the kind rocksdb-ribbon. */
tamis_status tamis__ribbon_read(const tamis_input *, tamis_import_result *);

/* Writes the block of a rocksdb-ribbon, which is a Ribbon, for few keys a Bloom filter, and for
 * none no bytes. */
tamis_status tamis__ribbon_write(const tamis_export_source *);

#endif
