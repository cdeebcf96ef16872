/* SPDX-License-Identifier: MIT */
/* For the format of RocksDB's tables: one filter found in a file. */
#ifndef TAMIS_FOREIGN_ROCKSDB_H
#define TAMIS_FOREIGN_ROCKSDB_H

#include "foreign/format.h"

bool tamis__rocksdb_is_ribbon(const tamis_input *);
tamis_status tamis__rocksdb_arrive(const tamis_input *, tamis_import_result *);

#endif
