/* SPDX-License-Identifier: MIT */
/* For shard.c, core and tests: which blocks of a whole belong to which shard. */
#ifndef TAMIS_KINDS_SHARD_H
#define TAMIS_KINDS_SHARD_H

#include "kinds/kind.h"

extern const tamis_kind tamis__shard;

/* Shape words: of the whole filter its layout, its detail (hashes of blocked, the index rule of
 * split) and its number of blocks; then the index of the shard and the number of shards. */
enum { TAMIS_SHARD_LAYOUT, TAMIS_SHARD_DETAIL, TAMIS_SHARD_TOTAL, TAMIS_SHARD_I, TAMIS_SHARD_N };

#define TAMIS_MAX_SHARDS ((uint64_t)UINT32_MAX)

/* floor(i * total / shards) without overflow: i and shards have 32 bits, i <= shards. */
static inline uint64_t tamis__share(uint64_t total, uint64_t i, uint64_t shards) {
    return i * (total / shards) + i * (total % shards) / shards;
}

/* The kind of a shard's blocks; NULL when there is no such layout. */
const tamis_kind *tamis__shard_layout(uint64_t layout);

/* The inverse: false when this kind has no shards. */
bool tamis__shard_layout_of(const tamis_kind *, uint64_t *layout);

/* Whether so many blocks can be cut so; the message gives the allowed numbers. */
tamis_status tamis__shard_may_be(uint64_t total, uint64_t shard, uint64_t shards);

/* Bytes of a block, the first block of the shard, and their number. */
uint64_t tamis__shard_block_bytes(const uint64_t word[]);
uint64_t tamis__shard_first(const uint64_t word[]);
uint64_t tamis__shard_blocks(const uint64_t word[]);

/* Which shard has the hash. */
uint64_t tamis__shard_of(const uint64_t word[], uint64_t hash);

#endif
