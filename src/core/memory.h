/* SPDX-License-Identifier: MIT */
/* For core, build and jobs: memory of a filter, through its own allocator. */
#ifndef TAMIS_CORE_MEMORY_H
#define TAMIS_CORE_MEMORY_H

#include "base/structs.h"
#include "tamis.h"

/* An allocation, and the size to free it with. */
typedef struct tamis_block {
    void *base;
    size_t size;
} tamis_block;

/* Payloads start at a cache line, so that a 64-byte block is one miss, never two. */
enum { TAMIS_ALIGNMENT = 64 };

/* Zeroed bytes at that alignment; NULL with an error message when out of memory. */
void *tamis__get(const struct tamis_allocator *, uint64_t size, tamis_block *);

/* The same where little of it will be touched: it may be larger than the machine's memory, unless
 * the allocator is the caller's. */
void *tamis__get_sparse(const struct tamis_allocator *, uint64_t size, tamis_block *);

/* The same for work that writes to nearly all of it and is soon done: it may take a large page
 * where a payload of that size would not. */
void *tamis__get_for_work(const struct tamis_allocator *, uint64_t size, tamis_block *);

/* Where the bytes that tamis__get returned start in a block. */
void *tamis__aligned(const tamis_block *);

/* Frees a block; an empty one is allowed. */
void tamis__block_free(const struct tamis_allocator *, tamis_block *);

/* Options in this version's layout: fields that the caller's header lacks are zero. NULL gives the
 * defaults. */
tamis_status tamis__read_options(const struct tamis_options *, struct tamis_options *out);

/* May several threads call it at once? A caller's allocator has no such promise. */
bool tamis__may_be_shared(const struct tamis_allocator *);

/* The caller's allocator, or ours with the pages the options name. */
struct tamis_allocator tamis__allocator(const struct tamis_options *);

/* TAMIS_TOO_LARGE with an error message when a payload exceeds the limit in the options. */
tamis_status tamis__within_limit(uint64_t max_bytes, uint64_t size);

#endif
