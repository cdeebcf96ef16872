/* SPDX-License-Identifier: MIT */
/* For cuckoo and its kernels. */
#ifndef TAMIS_KINDS_CUCKOO_H
#define TAMIS_KINDS_CUCKOO_H

#include "kinds/fp_table.h"

/* Answers from the buckets, not from the stash, for as many hashes as it can; returns how many: all
 * but the last few, or none when a bucket is not a word. */
size_t tamis__cuckoo_query_avx512(const tamis_table *, const uint64_t *hash, size_t n,
                                  uint8_t *hit);

#endif
