/* SPDX-License-Identifier: MIT */
/* For cuckoo and its kernels. */
#ifndef TAMIS_KINDS_CUCKOO_H
#define TAMIS_KINDS_CUCKOO_H

#include "kinds/fp_table.h"

/* A payload begins with the number of fingerprints and the stash. A bucket is a word where a cell
 * has at most so many bits, and is not sorted. */
enum {
    TAMIS_CUCKOO_SLOTS = 4,
    TAMIS_CUCKOO_STASH = 8,
    TAMIS_CUCKOO_HEAD = 8 + 8 * TAMIS_CUCKOO_STASH,
    TAMIS_CUCKOO_MAX_WORD = 16
};

/* One key, by the width of a cell, where a bucket is a word. */
typedef bool tamis_cuckoo_has(const tamis_body *, uint64_t hash);
extern tamis_cuckoo_has *const tamis__cuckoo_has_avx2[TAMIS_CUCKOO_MAX_WORD + 1];

/* Answers from the buckets, not from the stash, for as many hashes as it can; returns how many: all
 * but the last few, or none when a bucket is not a word. */
size_t tamis__cuckoo_query_avx512(const tamis_table *, const uint64_t *hash, size_t n,
                                  uint8_t *hit);

#endif
