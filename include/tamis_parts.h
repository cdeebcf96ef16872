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
 * shard: it takes the hashes of its own blocks, and its answer to any other is maybe. Joined, the
 * shards are the filter that one process would have made of all keys, byte for byte:
 *
 *     tamis_shard_spec("split:capacity=100G,fpr=1%", 3, 4096, spec, sizeof spec);
 *     tamis_create(&f, spec);                                  on the machine that has shard 3
 *     if (tamis_shard_of(f, hash) == 3) tamis_add_hash(f, hash);
 *
 * Capacity, rate and size in the spec of a shard are those of the whole, and so must be hash, seed
 * and secret. A hash of another shard is refused with TAMIS_MISMATCH, and nothing is added. Adding
 * again is harmless, so a task may be repeated, and done by two machines at once: tamis_merge. */

/* Which part of which whole a filter is. */
struct tamis_shard_info {
    uint64_t shard, shards;
    uint64_t first_block, blocks, total_blocks;
    const char *layout; /* kind of the whole: "blocked" or "split" */
};

/* False when the filter is not a shard. `info_size` is sizeof *info. Threads: as tamis_has. */
TAMIS_API bool tamis_shard_get_info(const tamis *filter, struct tamis_shard_info *info,
                                    size_t info_size);

/* The spec of one shard of what `spec` would make, written to `text` (always terminated, cut at
 * `size`): "split:..." becomes "shard:layout=split,...". Returns the length of the whole text, or
 * 0, with the sentence in tamis_why, for a spec that cannot work, that is not of a kind that can be
 * cut, or that leaves the capacity open. Threads: any. */
TAMIS_API size_t tamis_shard_spec(const char *spec, uint64_t shard, uint64_t shards, char *text,
                                  size_t size);

/* Which of the shards has the hash: of any shard, the same answer; 0 for what is not a shard.
 * Threads: as tamis_has. */
TAMIS_API uint64_t tamis_shard_of(const tamis *filter, uint64_t hash);
TAMIS_API void tamis_shards_of(const tamis *filter, const uint64_t *hashes, size_t n,
                               uint32_t *shards);

/* A shard of a filter that is there: its blocks, copied, with the notes of the whole and an even
 * share of its items. `shards` is from 1 to the number of blocks, below 2^32. TAMIS_UNSUPPORTED for
 * kinds other than blocked and split. `options` may be NULL. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_shard_cut(tamis **shard, const tamis *whole, uint64_t i,
                                       uint64_t shards, const struct tamis_options *options);

/* The whole of all its shards, in their order: items are added up, notes are those of shard 0 but
 * for names that start with "shard.", which are about one shard alone. TAMIS_MISMATCH, with the
 * place in the sentence, when one is missing, twice there, out of order, or of another whole.
 * `options` may be NULL. Threads: as tamis_has, for each. */
TAMIS_API tamis_status tamis_shard_join(tamis **whole, const tamis *const *shards, size_t n,
                                        const struct tamis_options *options);

/* The same as an image that replaces `path`, for wholes that are larger than memory: `next` is
 * asked for one shard after the other, from 0 on, and may free the one before; NULL from it stops
 * with TAMIS_CANCELLED. Whatever happens, `path` is the old file or the whole new one.
 * tamis_edit_join replaces what an edit holds, as tamis_edit_save does. Threads: any; as tamis_has
 * for each shard. */
typedef const tamis *tamis_next_shard(void *ctx, uint64_t shard);
TAMIS_API tamis_status tamis_shard_join_to(const char *path, tamis_next_shard *next, void *ctx);
TAMIS_API tamis_status tamis_edit_join(tamis_edit *edit, tamis_next_shard *next, void *ctx);

/* ==== Patches ===============================================================================
 *
 * A patch turns one image into another, byte for byte. It is small when few keys came or went: of a
 * filter of 10^7 keys that got 1,000 more it has some kilobytes. Where everything changed, as in
 * kinds that are built once, it is as large as the image, never larger by more than 64 bytes. It
 * knows the checksums of both images and refuses any other. Nothing here allocates. */

/* What a patch says of itself. */
struct tamis_patch_info {
    uint64_t patch_bytes; /* of the patch; what follows, as a signature may, is none of it */
    uint64_t base_bytes, result_bytes;
    uint64_t base_sum, result_sum; /* XXH3-64 of the whole images */
    bool is_whole;                 /* the result itself is inside: nearly everything changed */
};

/* Makes the patch from the image `base` to the image `result`. What it says, and how long it is, is
 * in *info before the first byte is written; `info` may be NULL, otherwise `info_size` is sizeof
 * *info. With NULL for `put` nothing is written. TAMIS_CANCELLED when `put` says false.
 * Threads: any. */
TAMIS_API tamis_status tamis_patch_make(const void *base, size_t base_size, const void *result,
                                        size_t result_size, struct tamis_patch_info *info,
                                        size_t info_size, tamis_write_fn *put, void *ctx);

/* Checks a patch and tells what it says. Without is_whole, result_bytes is at most four times
 * base_bytes and patch_bytes together. `info_size` is sizeof *info. Threads: any. */
TAMIS_API tamis_status tamis_patch_get_info(const void *patch, size_t patch_size,
                                            struct tamis_patch_info *info, size_t info_size);

/* TAMIS_OK when a patch that says this is for the image `base`, otherwise TAMIS_MISMATCH, with the
 * checksums in the sentence. Before this, do not believe result_bytes. Threads: any. */
TAMIS_API tamis_status tamis_patch_fits(const void *base, size_t base_size,
                                        const struct tamis_patch_info *info);

/* Applies a patch: `result` has room for exactly result_bytes, and may not overlap the others. The
 * checksums of base, patch and result were right when it returns TAMIS_OK; otherwise what is in
 * `result` is nothing. Who made the patch is not known: the result passes the gate (tamis_load,
 * ...) like all bytes from outside. Threads: any. */
TAMIS_API tamis_status tamis_patch_apply(const void *base, size_t base_size, const void *patch,
                                         size_t patch_size, void *result, size_t result_size);

#ifdef __cplusplus
}
#endif

#endif
