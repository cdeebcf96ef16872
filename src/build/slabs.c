/* SPDX-License-Identifier: MIT */
/* Slabs of blocks: see slabs.h. */
#include "build/slabs.h"

/* Slabs double up to SMALL, which is still memory that a process has and gets back; from ENOUGH on
 * they are LARGE, on large pages. Sizes between those were fresh pages for every build: 1.5 ns per
 * key of fuse at 10^5 keys. */
enum { SMALL = 1 << 16, ENOUGH = 1 << 21, LARGE = 1 << 22 };

/* At the start of its memory; blocks follow at a cache line. */
struct tamis_slab {
    _Alignas(TAMIS_ALIGNMENT) tamis_block self;
    tamis_slab *before;
    uint64_t blocks;
};

void tamis__slabs_start(tamis_slabs *s, const struct tamis_allocator *allocator, uint64_t block,
                        bool has_limit) {
    *s = (tamis_slabs){.allocator = *allocator,
                       .is_exact = has_limit || !tamis__may_be_shared(allocator),
                       .block = block};
}

static bool add_slab(tamis_slabs *s) {
    const uint64_t size = s->memory >= ENOUGH ? LARGE : s->memory < SMALL ? s->memory : SMALL;
    const uint64_t besides = sizeof(tamis_slab) + TAMIS_ALIGNMENT;
    const uint64_t blocks = size < besides + s->block ? 1 : (size - besides) / s->block;
    tamis_block self;
    tamis_slab *slab = tamis__get_for_work(&s->allocator, sizeof *slab + blocks * s->block, &self);
    if (!slab) return false;
    *slab = (tamis_slab){.self = self, .before = s->last, .blocks = blocks};
    s->last = slab;
    s->left = blocks;
    s->memory += self.size;
    return true;
}

static uint64_t *next_of_last(tamis_slabs *s) {
    const uint64_t at = s->last->blocks - s->left--;
    return (uint64_t *)(void *)((uint8_t *)(s->last + 1) + at * s->block);
}

uint64_t *tamis__slabs_get(tamis_slabs *s) {
    if (s->spare) {
        void *block = s->spare;
        s->spare = *(void **)block;
        return block;
    }
    if (s->is_exact) {
        uint64_t *block = s->allocator.alloc(s->allocator.ctx, (size_t)s->block);
        if (block) s->memory += s->block;
        return block;
    }
    return s->left || add_slab(s) ? next_of_last(s) : NULL;
}

void tamis__slabs_put(tamis_slabs *s, uint64_t *block) {
    if (s->is_exact) {
        s->allocator.free(s->allocator.ctx, block, (size_t)s->block);
        s->memory -= s->block;
        return;
    }
    *(void **)(void *)block = s->spare;
    s->spare = block;
}

void tamis__slabs_join(tamis_slabs *s, tamis_slabs *other) {
    /* Blocks that the other's last slab still has become spare ones. */
    while (other->left) tamis__slabs_put(other, next_of_last(other));
    void **spare = &other->spare;
    while (*spare) spare = *spare;
    *spare = s->spare;
    s->spare = other->spare;
    /* Ours stays the last one. */
    tamis_slab **end = s->last ? &s->last->before : &s->last;
    tamis_slab *first = other->last;
    while (first && first->before) first = first->before;
    if (first) {
        first->before = *end;
        *end = other->last;
    }
    s->memory += other->memory;
    other->memory = 0;
    other->last = NULL;
    other->spare = NULL;
}

void tamis__slabs_free(tamis_slabs *s) {
    for (tamis_slab *slab = s->last, *before; slab; slab = before) {
        before = slab->before;
        tamis_block self = slab->self;
        tamis__block_free(&s->allocator, &self);
    }
    *s = (tamis_slabs){.allocator = s->allocator, .is_exact = s->is_exact, .block = s->block};
}
