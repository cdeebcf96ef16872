/* SPDX-License-Identifier: MIT */
/* In place of core/range_shards.c, in small shared libraries without the kind shard: nothing is a
 * shard there. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include <string.h>

#include "base/status.h"
#include "core/saving.h"
#include "tamis_parts.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "kind 33 (shard) is not part of this build");
}

bool tamis_shard_get_info(const tamis *filter, struct tamis_shard_info *info) {
    return false;
}

size_t tamis_shard_spec(const char *spec, uint64_t shard, uint64_t shards, char *text,
                        size_t size) {
    if (size) *text = '\0';
    refuse();
    return 0;
}

uint64_t tamis_shard_of(const tamis *filter, uint64_t hash) {
    return 0;
}

void tamis_shards_of(const tamis *filter, const uint64_t *hashes, size_t n, uint32_t *shards) {
    memset(shards, 0, n * sizeof *shards);
}

tamis_status tamis_shard_cut(tamis **shard, const tamis *whole, uint64_t i, uint64_t shards,
                             const struct tamis_options *options) {
    *shard = NULL;
    return refuse();
}

tamis_status tamis_shard_join(tamis **whole, const tamis *const *shards, size_t n,
                              const struct tamis_options *options) {
    *whole = NULL;
    return refuse();
}

tamis_status tamis_shard_join_to(const char *path, tamis_next_shard *next, void *ctx) {
    return refuse();
}

tamis_status tamis__join_at(tamis_goal goal, tamis_next_shard *next, void *ctx) {
    return refuse();
}
