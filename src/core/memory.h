/* SPDX-License-Identifier: MIT */
/* Core may include this: memory of one filter, through its own allocator. */
#ifndef TAMIS_CORE_MEMORY_H
#define TAMIS_CORE_MEMORY_H

#include "base/structs.h"
#include "tamis.h"

/* Something allocated, and what has to be given back for it. */
typedef struct tamis_block {
    void *base;
    size_t size;
} tamis_block;

/* Payloads start at a cache line, so that a 64-byte block is one miss, never two. */
enum { TAMIS_ALIGNMENT = 64 };

/* Zeroed bytes at that alignment; NULL with a sentence when there are none. */
void *tamis__get(const struct tamis_allocator *, uint64_t size, tamis_block *);

/* The same where little of it will be touched: it may be larger than the machine's memory, unless
 * the allocator is the caller's. */
void *tamis__get_sparse(const struct tamis_allocator *, uint64_t size, tamis_block *);

/* Where in a block the bytes start that tamis__get returned. */
void *tamis__aligned(const tamis_block *);

/* Gives a block back; an empty one is allowed. */
void tamis__block_free(const struct tamis_allocator *, tamis_block *);

/* Options in the layout of this version: what the caller's header did not have yet is zero.
 * NULL gives the defaults. */
tamis_status tamis__read_options(const struct tamis_options *, struct tamis_options *out);

/* The allocator they name, or ours, with the pages they name. */
struct tamis_allocator tamis__allocator(const struct tamis_options *);

/* TAMIS_TOO_LARGE with a sentence when a payload is over the limit that the options set. */
tamis_status tamis__within_limit(uint64_t max_bytes, uint64_t size);

#endif
