/* SPDX-License-Identifier: MIT */
/* tamis_engine.h: for programs that hold filters for others: databases, caches, servers.
 *
 * They hash a key once and query many filters with the hash, keep memory where it suits them, and
 * must not stop for long. Everything here works on the handles of tamis.h. */
#ifndef TAMIS_ENGINE_H
#define TAMIS_ENGINE_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Hashes ================================================================================
 *
 * An engine that queries many filters of one hash (same mode, seed and secret) hashes each key once
 * and uses these. A hash must be 64 well-mixed bits; tamis_hash makes the ones that the key calls
 * use, so both ways can be mixed freely. Imported kinds that hash keys their own way cannot take
 * hashes: adding then is TAMIS_UNSUPPORTED, and a query says true, which is always safe. */

/* The hash of a key for this filter. Threads: as tamis_has. */
TAMIS_API uint64_t tamis_hash(const tamis *filter, const void *key, size_t len);

/* Hashes of `n` integers, each as its 8 little-endian bytes. Threads: as tamis_has. */
TAMIS_API void tamis_hash_u64s(const tamis *filter, const uint64_t *keys, size_t n,
                               uint64_t *hashes);

/* Hashes of `n` keys. Threads: as tamis_has. */
TAMIS_API void tamis_hash_many(const tamis *filter, const struct tamis_key *keys, size_t n,
                               uint64_t *hashes);

/* The hash of one key that comes in pieces, for keys that are larger than memory: `next` returns
 * one piece after the other with its length, then NULL. Threads: as tamis_has. */
typedef const void *tamis_next_piece(void *ctx, size_t *len);
TAMIS_API uint64_t tamis_hash_pieces(const tamis *filter, tamis_next_piece *next, void *ctx);

/* The verbs above on hashes. Threads: as the verb on keys. */
TAMIS_API bool tamis_has_hash(const tamis *filter, uint64_t hash);
TAMIS_API void tamis_has_hashes(const tamis *filter, const uint64_t *hashes, size_t n,
                                uint8_t *hit);
TAMIS_API tamis_status tamis_add_hash(tamis *filter, uint64_t hash);
TAMIS_API tamis_status tamis_add_hashes(tamis *filter, const uint64_t *hashes, size_t n);
TAMIS_API tamis_status tamis_add_times_hash(tamis *filter, uint64_t hash, uint64_t times);
TAMIS_API tamis_status tamis_add_new_hash(tamis *filter, uint64_t hash, bool *is_new);
TAMIS_API tamis_status tamis_remove_hash(tamis *filter, uint64_t hash);
TAMIS_API uint64_t tamis_count_hash(const tamis *filter, uint64_t hash);
TAMIS_API void tamis_count_hashes(const tamis *filter, const uint64_t *hashes, size_t n,
                                  uint64_t *counts);
TAMIS_API bool tamis_get_hash(const tamis *filter, uint64_t hash, uint64_t *value);
TAMIS_API void tamis_get_hashes(const tamis *filter, const uint64_t *hashes, size_t n,
                                uint64_t *values, uint8_t *hit);
TAMIS_API tamis_status tamis_put_hash(tamis *filter, uint64_t hash, uint64_t value);
TAMIS_API size_t tamis_labels_hash(const tamis *filter, uint64_t hash, uint64_t *labels,
                                   size_t room);

/* Adds hashes from many threads at once; see tamis_add_shared. Only kinds with TAMIS_CAN_SHARE.
 * Threads: any number of tamis_add_shared, tamis_add_hashes_shared and queries. */
TAMIS_API tamis_status tamis_add_hashes_shared(tamis *filter, const uint64_t *hashes, size_t n);

/* Lists what kinds with TAMIS_CAN_LIST hold. Start with *cursor = 0; each call gives one stored
 * fingerprint as a hash, and how often it is there (for kinds with TAMIS_CAN_LABEL: in which
 * label), until it returns false. Such a hash is not the
 * one that was added, but the filter cannot tell the two apart: adding all of them to an empty
 * filter of the same spec gives the same answers. Threads: as tamis_has. */
TAMIS_API bool tamis_next(const tamis *filter, uint64_t *cursor, uint64_t *hash, uint64_t *count);

/* ==== Hashes in a builder =================================================================== */

/* The verbs of a builder on hashes. Threads: one. */
TAMIS_API tamis_status tamis_builder_add_hash(tamis_builder *builder, uint64_t hash);
TAMIS_API tamis_status tamis_builder_add_hashes(tamis_builder *builder, const uint64_t *hashes,
                                                size_t n);
TAMIS_API tamis_status tamis_builder_put_hash(tamis_builder *builder, uint64_t hash,
                                              uint64_t value);
TAMIS_API tamis_status tamis_builder_exclude_hash(tamis_builder *builder, uint64_t hash);

/* Hashes of keys as the filter will use them: of one, of `n`, and of one in pieces as for
 * tamis_hash_pieces. Threads: any. */
TAMIS_API uint64_t tamis_builder_hash(const tamis_builder *builder, const void *key, size_t len);
TAMIS_API void tamis_builder_hash_many(const tamis_builder *builder, const struct tamis_key *keys,
                                       size_t n, uint64_t *hashes);
TAMIS_API uint64_t tamis_builder_hash_pieces(const tamis_builder *builder, tamis_next_piece *next,
                                             void *ctx);

/* ==== Memory and time ======================================================================= */

/* For hosts that move what they hold into fewer pages: `move` gets each piece that the filter's
 * allocator gave, and returns where its bytes lie now, the old piece being gone, or NULL when it
 * stays. Returns the filter, which may be one of those pieces. Threads: one, with no other user. */
typedef void *tamis_mover(void *ctx, void *memory);
TAMIS_API tamis *tamis_relocate(tamis *filter, tamis_mover *move, void *ctx);

/* The same step in parts, for programs that may not stand still for long: each call clears up to
 * `bytes`, and the last one, with *is_done true, makes the step. Between them keys that leave with
 * it may be found or not; all others are, and keys that are added come before the step. tamis_tick
 * ends a step that was begun. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_tick_part(tamis *filter, uint64_t bytes, bool *is_done);

#ifdef __cplusplus
}
#endif

#endif
