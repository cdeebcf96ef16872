/* SPDX-License-Identifier: MIT */
/* shards.h: only the files in cli/ include this. Parts of a filter that many machines build. */
#ifndef TAMIS_CLI_IMAGES_SHARDS_H
#define TAMIS_CLI_IMAGES_SHARDS_H

#include "cli/cli.h"

/* Parses "3/24": shard 3 of 24, counted from 0. Reports what is wrong. */
int shard_parse(const struct args *args, const char *text, uint64_t *shard, uint64_t *shards);

/* The spec of one shard of the spec given, in a new string; NULL, reported, when it
 * cannot be cut so. */
char *shard_spec(const struct args *args, const char *spec, uint64_t shard, uint64_t shards);

/* Whether all machines hash alike: a keyed hash needs a secret that all have. */
int shard_has_secret(const struct args *args, const tamis *filter);

/* Hashes and finds shards without the memory for one. router_close is due also after a failure. */
struct router {
    tamis *filter;
    uint64_t shards;
    uint64_t finer; /* how many shards of the filter are one */
};

int router_open(struct router *router, const struct args *args, const char *spec, uint64_t shards);
void router_find(const struct router *router, const uint64_t *hashes, size_t n, uint32_t *shards);
void router_close(struct router *router);

/* Digits that the largest number of a shard has. */
int shard_digits(uint64_t shards);

/* Hands the hashes in a source, packed into 8 little-endian bytes each, to `take`, some thousands
 * at a time. Returns 0, EXIT_TROUBLE, or what `take` returned. */
typedef int take_hashes(void *with, const uint64_t *hashes, size_t n);
int packed_run(const struct args *args, size_t skip, take_hashes *take, void *with);

/* Refuses options about lines beside --packed. What says how keys were made is remembered. */
int packed_alone(const struct args *args);

/* Notes of a shard's image that say what became of the keys that its maker read. */
extern const char note_read[], note_skipped[];

/* `tamis build --shard`, in build_shard.c; `spec` is that of the whole. */
int build_shard(const struct args *args, const char *spec);

#endif
