/* SPDX-License-Identifier: MIT */
/* tamis_parts.h: one filter on many machines: shards, and patches between versions of an image. */
#ifndef TAMIS_PARTS_H
#define TAMIS_PARTS_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Shards ================================================================================
 *
 * A filter that is larger than one machine, or that many machines build, is cut into shards. Kinds
 * blocked and split keep all bits of a key in one block, and shard i of n has the blocks from
 * floor(i * total / n) to before floor((i+1) * total / n). A shard is a filter of its own, of kind
 * shard: it accepts the hashes of its own blocks, and answers maybe to any other. Joined, the
 * shards are the filter that one process would have made of all keys, byte for byte:
 *
 *     tamis_shard_spec("split:capacity=100G,fpr=1%", 3, 4096, spec, sizeof spec);
 *     tamis_create(&f, spec);                                  on the machine that has shard 3
 *     if (tamis_shard_of(f, hash) == 3) tamis_add_hash(f, hash);
 *
 * Capacity, rate and size in the spec of a shard are those of the whole, and so must be hash, seed
 * and secret. A hash of another shard is refused with TAMIS_MISMATCH. Adding again is harmless, so
 * a task may be repeated, or run on two machines at once: see tamis_merge. */

/* The position of a shard in its whole. */
#define TAMIS_SHARD_INFO_INIT TAMIS_INIT(struct tamis_shard_info)

struct tamis_shard_info {
    size_t struct_size;
    uint64_t shard, shards;
    uint64_t first_block, blocks, total_blocks;
    const char *layout; /* kind of the whole: "blocked" or "split" */
};

/* False when the filter is not a shard. Threads: as tamis_has. */
TAMIS_API bool tamis_shard_get_info(const tamis *filter, struct tamis_shard_info *info);

/* Writes the spec of one shard of a filter of `spec` to `text` (always terminated, truncated to
 * `size`): "split:..." becomes "shard:layout=split,...". Returns the length of the whole text, or
 * 0, see tamis_why(), for a spec that is invalid, of a kind that cannot be cut, or without a
 * capacity. Threads: any. */
TAMIS_API size_t tamis_shard_spec(const char *spec, uint64_t shard, uint64_t shards, char *text,
                                  size_t size);

/* Which shard has the hash: the same answer from any shard; 0 for a filter that is not a shard.
 * Threads: as tamis_has. */
TAMIS_API uint64_t tamis_shard_of(const tamis *filter, uint64_t hash);
TAMIS_API void tamis_shards_of(const tamis *filter, const uint64_t *hashes, size_t n,
                               uint32_t *shards);

/* Makes a shard of an existing filter: a copy of its blocks, with the notes of the whole and an
 * even share of its items. `shards` is from 1 to the number of blocks, below 2^32.
 * TAMIS_UNSUPPORTED for kinds other than blocked and split. `options` may be NULL. Threads: as
 * tamis_has. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shard_cut(tamis **shard, const tamis *whole,
                                                        uint64_t i, uint64_t shards,
                                                        const struct tamis_options *options);

/* The whole of all its shards, in their order: items are added up, notes are those of shard 0 but
 * for names that start with "shard.", which are about one shard alone. TAMIS_MISMATCH, with the
 * place in the sentence, when one is missing, twice there, out of order, or of another whole.
 * `options` may be NULL. Threads: as tamis_has, for each. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shard_join(tamis **whole, const tamis *const *shards,
                                                         size_t n,
                                                         const struct tamis_options *options);

/* The same as an image that replaces `path`, for wholes that are larger than memory: `next` is
 * asked for one shard after the other, from 0 on, and may free the one before; NULL from it stops
 * with TAMIS_CANCELLED. Whatever happens, `path` is the old file or the whole new one.
 * tamis_edit_join of tamis_edit.h replaces what an edit holds. Threads: any; as tamis_has for each
 * shard. */
typedef const tamis *tamis_next_shard(void *ctx, uint64_t shard);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shard_join_to(const char *path,
                                                            tamis_next_shard *next, void *ctx);

/* ==== Patches ===============================================================================
 *
 * A patch turns one image into another, byte for byte. It is small when few keys came or went: some
 * kilobytes for 1,000 more keys in a filter of 10^7. Where everything changed, as in kinds that are
 * built once, it is as large as the image, at most 64 bytes larger. It contains the checksums of
 * both images and refuses any other. Nothing here allocates. */

/* The contents of a patch header. */
#define TAMIS_PATCH_INFO_INIT TAMIS_INIT(struct tamis_patch_info)

struct tamis_patch_info {
    size_t struct_size;
    uint64_t patch_bytes; /* of the patch; what follows, as a signature may, is none of it */
    uint64_t base_bytes, result_bytes;
    uint64_t base_sum, result_sum; /* XXH3-64 of the whole images */
    bool is_whole;                 /* contains the whole result: nearly everything changed */
};

/* Makes the patch from the image `base` to the image `result`. *info, with the length, is filled in
 * before the first byte is written; `info` may be NULL, otherwise With NULL for `put` nothing is
 * written. TAMIS_CANCELLED when `put` returns false. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_patch_make(const void *base, size_t base_size,
                                                         const void *result, size_t result_size,
                                                         struct tamis_patch_info *info,
                                                         tamis_write_fn *put, void *ctx);

/* Checks a patch and tells what it says. Without is_whole, result_bytes is at most four times
 * base_bytes and patch_bytes together. Threads: any. */
TAMIS_API tamis_status tamis_patch_get_info(const void *patch, size_t patch_size,
                                            struct tamis_patch_info *info);

/* TAMIS_OK when the patch is for the image `base`, otherwise TAMIS_MISMATCH, and tamis_why() has
 * the checksums. Do not trust result_bytes before this. Threads: any. */
TAMIS_API tamis_status tamis_patch_fits(const void *base, size_t base_size,
                                        const struct tamis_patch_info *info);

/* Applies a patch: `result` has room for exactly result_bytes, and may not overlap the others. On
 * TAMIS_OK the checksums of base, patch and result were right; otherwise `result` is undefined. The
 * author of the patch is unknown: pass the result through the gate (tamis_load, ...) like all
 * untrusted bytes. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_patch_apply(const void *base, size_t base_size,
                                                          const void *patch, size_t patch_size,
                                                          void *result, size_t result_size);

#ifdef __cplusplus
}
#endif

#endif
