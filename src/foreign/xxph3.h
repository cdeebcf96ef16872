/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: the hash of RocksDB's filters. */
#ifndef TAMIS_FOREIGN_XXPH3_H
#define TAMIS_FOREIGN_XXPH3_H

#include "tamis.h"

/* XXH3 as in the preview of xxHash 0.7.2, which RocksDB froze under this name. Today's XXH3 gives
 * other values at every length. */
uint64_t tamis__xxph3(const struct tamis_key *);

#endif
