/* SPDX-License-Identifier: MIT */
/* For the streams in src/jobs: a set of hashes, each with its path through the symbols.
 *
 *     hash ──keyed──▶ check (40 bits)
 *          ──keyed──▶ state ─▶ 0, then the next symbol it is in, and the next, ...
 *          ──keyed──▶ its part of the digest (128 bits)
 *
 * There is no heap to order the hashes. Symbols are made in stretches that double, [64, 128), [128,
 * 256), ..., and each hash is in 1.4 symbols of such a stretch on average: visiting all hashes once
 * per stretch costs less than keeping them in order (a million hashes, 140,000 symbols: 22 million
 * steps, 0.3 s; a heap needs 20 comparisons for each of these steps). */
#ifndef TAMIS_JOBS_SYMBOL_SET_H
#define TAMIS_JOBS_SYMBOL_SET_H

#include "hash/hash.h"
#include "jobs/frames.h"
#include "tamis_jobs.h"

enum { TAMIS_CHECK_BITS = 40, TAMIS_FIRST_STRETCH = 64 };

#define TAMIS_ROSTER_MAX_SYMBOLS \
    (UINT64_C(1) << 31) /* hashes, so that an index in the list has 32 bits */
#define TAMIS_STREAM_MAX_SYMBOLS (UINT64_C(1) << 32) /* of one stream */
#define TAMIS_NEVER              (UINT64_MAX - 1)    /* the next symbol is past all that are sent */
#define TAMIS_GONE               UINT64_MAX          /* no longer in the set */

typedef struct tamis_coded {
    uint64_t hash, check;
    uint64_t state, next; /* the next symbol that it is in */
} tamis_coded;

typedef struct tamis_symbol_set {
    struct tamis_allocator allocator;
    tamis_hasher place, check, way, digest[2]; /* keyed, each in its own way */
    tamis_coded *list;
    uint32_t *table; /* index in the list plus one, found by `place`; 0: free */
    uint64_t n, room, slots;
    struct tamis_digest sum;
    tamis_block list_block, table_block;
} tamis_symbol_set;

/* Copies the hashes; TAMIS_INVALID for a duplicate. `place` keys only the look-up, which no peer
 * sees. Free the set, also after a failure. */
tamis_status tamis__symbol_set_start(tamis_symbol_set *, const struct tamis_options *,
                                     const uint64_t *hashes, size_t n, const uint8_t place[16]);
void tamis__symbol_set_free(tamis_symbol_set *);

/* Everything that must be equal on both sides comes from this key; all hashes go to symbol 0. */
void tamis__symbol_set_key(tamis_symbol_set *, const uint8_t key[16]);

/* Finds the index of a hash; false when it is absent. Removed ones are still found. */
bool tamis__symbol_set_find(const tamis_symbol_set *, uint64_t hash, uint32_t *at);

/* Appends a hash, which must not be present yet, to the list, before its first symbol. */
tamis_status tamis__symbol_set_add(tamis_symbol_set *, uint64_t hash);

/* Moves a hash before its first symbol again, and out of the digest. */
void tamis__symbol_set_take_out(tamis_symbol_set *, uint32_t at);

/* The 40 bits of a hash, or of a sum that may be one. */
uint64_t tamis__symbol_set_check(const tamis_symbol_set *, uint64_t hash);

/* Steps to the next symbol. */
void tamis__symbol_set_step(tamis_coded *);

/* Adds every hash to the symbols [from, to) that it is in; each counts `by`. symbols[0] is
 * `from`. */
void tamis__symbol_set_fill(tamis_symbol_set *, struct tamis_symbol *symbols, uint64_t from,
                            uint64_t to, int by);

/* The end of the stretch that starts at `from`. */
uint64_t tamis__symbol_set_stretch(const tamis_symbol_set *, uint64_t from);

#endif
