/* SPDX-License-Identifier: MIT */
/* tamis_engine.h: for programs that hold filters for others: databases, caches, servers.
 *
 * They hash a key once and query many filters with the hash, place memory themselves, and must not
 * block for long. Everything here works on the handles of tamis.h. */
#ifndef TAMIS_ENGINE_H
#define TAMIS_ENGINE_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Hashes ================================================================================
 *
 * An engine that queries many filters with one hash (same mode, seed and secret) hashes each key
 * once and uses these. A hash must be 64 well-mixed bits; tamis_hash computes the ones that the
 * calls on keys use, so both can be mixed freely. Imported kinds that hash keys their own way do
 * not take hashes: adding is TAMIS_UNSUPPORTED, and a query returns true, which is always safe. */

/* The hash of a key for this filter. Threads: as tamis_has. */
TAMIS_API uint64_t tamis_hash(const tamis *filter, const void *key, size_t len);

/* Hashes of `n` integers, each as its 8 little-endian bytes. Threads: as tamis_has. */
TAMIS_API void tamis_hash_u64s(const tamis *filter, const uint64_t *keys, size_t n,
                               uint64_t *hashes);

/* Hashes of `n` keys. Threads: as tamis_has. */
TAMIS_API void tamis_hash_many(const tamis *filter, const struct tamis_key *keys, size_t n,
                               uint64_t *hashes);

/* The hash of one key in pieces, for keys larger than memory: `next` returns the pieces in order,
 * with their lengths, then NULL. Threads: as tamis_has. */
typedef const void *tamis_next_piece(void *ctx, size_t *len);
TAMIS_API uint64_t tamis_hash_pieces(const tamis *filter, tamis_next_piece *next, void *ctx);

/* The calls of tamis.h on hashes. Threads: as the call on keys. */
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

/* Lists the contents of kinds with TAMIS_CAN_LIST. Start with *cursor = 0; each call gives one
 * stored fingerprint as a hash, and its count (its label, for kinds with TAMIS_CAN_LABEL), until it
 * returns false. The hash is not the one that was added, but the filter cannot tell them apart:
 * adding all of them to an empty filter of the same spec gives the same answers. Threads: as
 * tamis_has. */
TAMIS_API bool tamis_next(const tamis *filter, uint64_t *cursor, uint64_t *hash, uint64_t *count);

/* ==== Hashes in a builder =================================================================== */

/* The calls of a builder on hashes. Threads: one. */
TAMIS_API tamis_status tamis_builder_add_hash(tamis_builder *builder, uint64_t hash);
TAMIS_API tamis_status tamis_builder_add_hashes(tamis_builder *builder, const uint64_t *hashes,
                                                size_t n);
TAMIS_API tamis_status tamis_builder_put_hash(tamis_builder *builder, uint64_t hash,
                                              uint64_t value);
TAMIS_API tamis_status tamis_builder_put_hashes(tamis_builder *builder, const uint64_t *hashes,
                                                const uint64_t *values, size_t n);
TAMIS_API tamis_status tamis_builder_exclude_hash(tamis_builder *builder, uint64_t hash);

/* Hashes of keys as the filter will use them: of one key, of `n`, and of one in pieces, as
 * tamis_hash_pieces. Threads: any. */
TAMIS_API uint64_t tamis_builder_hash(const tamis_builder *builder, const void *key, size_t len);
TAMIS_API void tamis_builder_hash_many(const tamis_builder *builder, const struct tamis_key *keys,
                                       size_t n, uint64_t *hashes);
TAMIS_API uint64_t tamis_builder_hash_pieces(const tamis_builder *builder, tamis_next_piece *next,
                                             void *ctx);

/* ==== Memory of the host ====================================================================
 *
 * A filter whose image is in memory that the host owns: a shared-memory zone, a page of a database.
 * The handle belongs to one process; any number of processes may attach to one image.
 *
 *     rc = tamis_create_at(&f, zone, sizeof zone, "blocked:capacity=1M,fpr=1%", NULL);
 *     rc = tamis_add(f, key, len);            changes the payload in the zone
 *     rc = tamis_sync(f);                     the zone is a valid image again
 *
 * The memory starts at a multiple of 64 and stays until tamis_free, which does not sync. Between a
 * change and tamis_sync the header is out of date: items and checksums are those of the last sync,
 * so that others attach with options.is_trusted. While several processes are attached, they may
 * change the filter by tamis_add_shared and tamis_add_hashes_shared alone, and the host lets one at
 * a time attach and sync; each sync adds the items of its process, and the last one leaves the
 * right checksum. A single process may do everything: TAMIS_FULL, and nothing changed, when a
 * filter or its notes would outgrow the memory. */

/* Makes an empty filter in `memory`, of which it takes stored_bytes of tamis_plan_spec; kinds that
 * grow can use the rest. TAMIS_FULL when that is more than `size`. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_create_at(tamis **filter, void *memory, size_t size,
                                                        const char *spec,
                                                        const struct tamis_options *options);

/* A writable filter on the image at the start of `memory`, which may be shorter than `size`. It
 * passes the gate as with tamis_view. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_attach(tamis **filter, void *memory, size_t size,
                                                     const struct tamis_options *options);

/* Brings the header up to date: items, notes and checksums. Reads the whole payload. TAMIS_INVALID
 * for a filter that is not in memory of the host. Threads: one writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_sync(tamis *filter);

/* ==== A payload alone =======================================================================
 *
 * For hosts that keep kind and shape elsewhere, once for many small filters, and only the payload
 * with each of them: one filter per block of a table, say. */

/* A read-only filter on `payload`, of the shape that `spec` has: TAMIS_CORRUPT when it is not
 * exactly as large, or not valid for the kind. There is no checksum, and items is 0. A keyed hash
 * needs its secret in the options. TAMIS_UNSUPPORTED for kinds whose shape follows from their keys.
 * The bytes must stay, unchanged. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_view_payload(tamis **filter, const char *spec,
                                                           const void *payload, size_t size,
                                                           const struct tamis_options *options);

/* Points such a filter at another payload of the same shape, without allocating: to create one for
 * each block would cost more than the query. On failure it stays where it was. Threads: one
 * writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_set_payload(tamis *filter, const void *payload,
                                                          size_t size);

/* ==== A slice of an image ===================================================================
 *
 * For hosts that keep images where a part is read much faster than all of it: in pieces in a table,
 * in a store of objects. All bits of a key are in one block of blocked, split and shard, so the
 * header and that block decide:
 *
 *     struct tamis_slice s = TAMIS_SLICE_INIT;
 *     rc = tamis_slice_find(&s, header, image_size, NULL, key, len);
 *     ...                            reads s.size bytes of the image, from s.offset on
 *     hit = tamis_slice_has(&s, bytes);
 *
 * The header passes the gate each time, but the checksum of what follows it is not compared: this
 * is for images that passed the whole gate when they came. Damage since then can make an answer
 * wrong, and nothing worse. */

enum { TAMIS_HEADER_BYTES = 192 };

#define TAMIS_SLICE_INIT TAMIS_INIT(struct tamis_slice)

struct tamis_slice {
    size_t struct_size;
    uint64_t offset, size; /* of the bytes that decide; size 0: none do, and the answer is maybe */
    uint64_t notes_offset, notes_size;
    uint64_t items;
    uint64_t hash;              /* of the key */
    uint64_t word[TAMIS_WORDS]; /* of the image: its shape, and the id of its kind */
    uint32_t kind;
};

/* Finds the slice for a key in an image of `image_size` bytes that begins with the
 * TAMIS_HEADER_BYTES at `header`. A secret that is outside of the image comes in the options.
 * TAMIS_UNSUPPORTED for kinds whose keys are not in one place. On failure *slice is as it was.
 * Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_slice_find(struct tamis_slice *slice,
                                                         const void *header, uint64_t image_size,
                                                         const struct tamis_options *options,
                                                         const void *key, size_t len);

/* Is the key in the filter, by the `size` bytes of its slice? As tamis_has for the whole. A slice
 * that tamis_slice_find did not fill in is answered maybe. Threads: any. */
TAMIS_API bool tamis_slice_has(const struct tamis_slice *slice, const void *bytes);

/* The value of a note in the `size` bytes of all notes; *value is NULL when it is not there, and
 * else a part of `notes`. TAMIS_CORRUPT, and NULL, for bytes that are no notes. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_slice_note(const void *notes, size_t size,
                                                         const char *name, const char **value);

/* ==== Memory and time ======================================================================= */

/* Copies a filter as tamis_copy does, into memory of another allocator and with the other options;
 * the secret is that of the filter. Threads: readers or one writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_copy_with(tamis **copy, const tamis *filter,
                                                        const struct tamis_options *options);

/* For hosts that defragment memory: `move` is given each block from the filter's allocator, and
 * returns its new address, with the old block freed, or NULL when it stays. Returns the filter,
 * which may be one of those blocks. Threads: one, with no other user. */
typedef void *tamis_mover(void *ctx, void *memory);
TAMIS_API tamis *tamis_relocate(tamis *filter, tamis_mover *move, void *ctx);

/* tamis_tick in parts, for programs that must not block: each call clears up to `bytes`, and the
 * last one, with *is_done true, completes the step. In between, keys that expire with this step may
 * be found or not; all others are found, and keys that are added belong to the time before the
 * step. tamis_tick completes a step in progress. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_tick_part(tamis *filter, uint64_t bytes, bool *is_done);

#ifdef __cplusplus
}
#endif

#endif
