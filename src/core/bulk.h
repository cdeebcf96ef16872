/* SPDX-License-Identifier: MIT */
/* Core and tests may include this: many adds to a filter that is larger than the caches.
 *
 * Each add of such a filter waits for memory, about as long as ten adds in cache take. Where the
 * place of a key never falls as its hash grows (kind->unit says so), hashes with the same top bits
 * have neighbouring places: they are collected in bins, and a bin that is full goes to its slice of
 * the payload, which stays in the cache meanwhile.
 *
 *     hash ──top bits──▶ bin 0   [ a line in cache ] ──▶ [ full lines in memory ... ] ──▶ slice 0
 *                        bin 1   ...                                                      slice 1
 *
 * Order is all that changes: the bytes are those of adding one by one. */
#ifndef TAMIS_CORE_BULK_H
#define TAMIS_CORE_BULK_H

#include "core/filter.h"

/* When it pays, and how large everything is. Tests have rules of their own, to come to every path
 * with few keys. */
typedef struct tamis_bulk_rule {
    uint64_t min_payload;  /* bytes: smaller filters take adds directly, ... */
    uint64_t min_shared;   /* ... on several threads those that are even smaller */
    uint64_t keys_per_kib; /* of payload: so many keys there must be, and enough for ... */
    uint64_t min_deep;     /* ... so many hashes in each bin */
    uint64_t slice;        /* bytes of payload for a bin, at most, ... */
    unsigned max_bits;     /* ... unless there were more than 2^this bins */
    uint64_t max_scratch;  /* bytes; never more than the payload has */
    size_t piece;          /* keys that a thread takes at a time */
} tamis_bulk_rule;

extern const tamis_bulk_rule tamis__bulk_rule;

/* Adds that wait in bins. */
typedef struct tamis_bulk tamis_bulk;

/* For about n keys, in at most `memory` bytes. NULL when it does not pay or there is no memory for
 * it: then adds go directly, which is no failure. */
tamis_bulk *tamis__bulk_open(tamis *, uint64_t n, uint64_t memory, unsigned threads,
                             const tamis_bulk_rule *);

/* Adds keys now or later. The count of items is the caller's to keep. */
void tamis__bulk_put(tamis_bulk *, tamis_keys, size_t n);

/* Adds everything that waits, and frees the bins; NULL is allowed. */
void tamis__bulk_close(tamis_bulk *);

/* Frees the bins and what waits in them. */
void tamis__bulk_free(tamis_bulk *);

uint64_t tamis__bulk_memory(const tamis_bulk *);

/* All of it at once; false when nothing was done because it does not pay or there is no memory. */
bool tamis__bulk_add(tamis *, tamis_keys, size_t n, const tamis_bulk_rule *);

#endif
