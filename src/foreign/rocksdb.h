/* SPDX-License-Identifier: MIT */
/* For formats of RocksDB: the filters in its filter blocks. */
#ifndef TAMIS_FOREIGN_ROCKSDB_H
#define TAMIS_FOREIGN_ROCKSDB_H

#include "foreign/format.h"

/* The size of the end of a filter block, and what may be its first byte. */
enum { TAMIS_ROCKSDB_TAIL = 5, TAMIS_ROCKSDB_FAST = 0xff, TAMIS_ROCKSDB_RIBBON = 0xfe };

/* read() of one block; it has no parameters. */
tamis_status tamis__rocksdb_read(const tamis_input *, const tamis_format_args *,
                                 tamis_import_result *);

/* A block whose fifth byte from the end is TAMIS_ROCKSDB_RIBBON: the kind rocksdb-ribbon. */
bool tamis__rocksdb_is_ribbon(const tamis_input *);
tamis_status tamis__ribbon_read(const tamis_input *, tamis_import_result *);

/* write() of a rocksdb-ribbon, which is a Ribbon, for few keys a Bloom filter, and for none no
 * bytes. */
tamis_status tamis__ribbon_write(const tamis_export_source *, const tamis_format_args *);

#endif
