/* SPDX-License-Identifier: MIT */
/* For src/build: memory for the blocks of records, which are many and have one size.
 *
 * A new page takes as long as collecting fifty records, so blocks come from slabs of 64 KiB, and
 * where there are many from slabs of 4 MiB on large pages. What is given back is used again;
 * nothing goes back to the system before the end. */
#ifndef TAMIS_BUILD_SLABS_H
#define TAMIS_BUILD_SLABS_H

#include "core/memory.h"

typedef struct tamis_slab tamis_slab;

typedef struct tamis_slabs {
    struct tamis_allocator allocator;
    bool is_exact;    /* each block by itself, and freed at once: where every byte counts */
    uint64_t block;   /* bytes of one */
    uint64_t memory;  /* bytes that are held now */
    tamis_slab *last; /* the others follow */
    uint64_t left;    /* blocks that the last one still has */
    void *spare;      /* blocks that were given back: each starts with the next one's address */
} tamis_slabs;

/* With a limit on memory, or an allocator of the caller, blocks are exact. */
void tamis__slabs_start(tamis_slabs *, const struct tamis_allocator *, uint64_t block,
                        bool has_limit);

/* NULL when out of memory. */
uint64_t *tamis__slabs_get(tamis_slabs *);
void tamis__slabs_put(tamis_slabs *, uint64_t *block);

/* All of the other's memory, with what it holds; it is empty then. */
void tamis__slabs_join(tamis_slabs *, tamis_slabs *other);

/* Frees all slabs. Exact blocks were given back before. */
void tamis__slabs_free(tamis_slabs *);

#endif
