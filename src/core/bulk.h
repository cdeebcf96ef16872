/* SPDX-License-Identifier: MIT */
/* For core, build and tests: bulk adds to a filter larger than the caches.
 *
 * Each add to such a filter waits for memory, about as long as ten adds in cache take. Where the
 * place of a key never falls as its hash grows (kind->speed->unit), hashes with the same top bits
 * have neighbouring places: they are collected in bins, and a full bin is added to its slice of the
 * payload, which stays in cache during that time.
 *
 *     hash ──top bits──▶ bin 0   [ a line in cache ] ──▶ [ full lines in memory ... ] ──▶ slice 0
 *                        bin 1   ...                                                      slice 1
 *
 * Only the order changes: the bytes are those of adding one by one. */
#ifndef TAMIS_CORE_BULK_H
#define TAMIS_CORE_BULK_H

#include "core/filter.h"

/* When bins pay, and their sizes. Tests have their own rules, to reach every path with few keys. */
typedef struct tamis_bulk_rule {
    uint64_t min_payload;  /* bytes; with one thread smaller filters take adds directly */
    uint64_t min_shared;   /* the same with several threads */
    uint64_t keys_per_kib; /* min keys per KiB of payload */
    uint64_t min_deep;     /* min hashes of a bin */
    uint64_t slice;        /* max bytes of payload for a bin, ... */
    unsigned max_bits;     /* ... unless that takes more than 2^max_bits bins */
    uint64_t max_scratch;  /* bytes; never more than the payload */
    size_t piece;          /* keys a thread takes at a time */
    bool fits_machine;     /* min_payload and slice follow its caches instead */
} tamis_bulk_rule;

extern const tamis_bulk_rule tamis__bulk_rule;

/* Adds that wait in bins. */
typedef struct tamis_bulk tamis_bulk;

/* For about n keys, in at most `memory` bytes. NULL when it does not pay or memory is too small:
 * not a failure, adds then go in directly. */
tamis_bulk *tamis__bulk_open(tamis *, uint64_t n, uint64_t memory, unsigned threads,
                             const tamis_bulk_rule *);

/* Adds keys now or later. The caller keeps the count of items. */
void tamis__bulk_put(tamis_bulk *, tamis_keys, size_t n);

/* Adds everything that waits, and frees the bins. Accepts NULL. */
void tamis__bulk_close(tamis_bulk *);

/* Frees the bins without adding what waits in them. Accepts NULL. */
void tamis__bulk_free(tamis_bulk *);

uint64_t tamis__bulk_memory(const tamis_bulk *);

/* All of it at once; false, with nothing done, where tamis__bulk_open returns NULL. */
bool tamis__bulk_add(tamis *, tamis_keys, size_t n, const tamis_bulk_rule *);

#endif
