/* SPDX-License-Identifier: MIT */
/* Memory of a filter, and the options about it. */
#include "core/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"
#include "file/disk.h"

/* ---- Allocators ----------------------------------------------------------------------------- */

static void *plain_alloc(void *ctx, size_t size) {
    (void)ctx;
    return calloc(1, size);
}

static void plain_free(void *ctx, void *memory, size_t size) {
    (void)ctx, (void)size;
    free(memory);
}

/* Large pages are 2 MiB on every processor that matters here; memory that starts at a multiple of
 * that has them from its first byte. Below twice that they gain little. */
enum { LARGE_PAGE = 1 << 21, LARGE_FROM = 2 * LARGE_PAGE };

/* Memory that is soon given back and all written to gains from here on: a large page took 42 us,
 * the small ones of 1.5 MB 510 us. */
enum { WORK_FROM = 1 << 19 };

static size_t in_pages(size_t size, size_t page) {
    return (size + page - 1) / page * page;
}

static size_t large_size(size_t size) {
    return in_pages(size, LARGE_PAGE);
}

/* Maps a page more than needed and unmaps what is around the aligned part. Nothing is touched yet:
 * each page is placed near the thread that first writes to it. */
static void *map_large(size_t size) {
    const int saved = errno;
    const size_t whole = large_size(size);
    uint8_t *start =
        mmap(NULL, whole + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        errno = saved;
        return NULL;
    }
    const size_t past = (uintptr_t)start % LARGE_PAGE, before = past ? LARGE_PAGE - past : 0;
    if (before) munmap(start, before);
    if (before < LARGE_PAGE) munmap(start + before + whole, LARGE_PAGE - before);
    tamis__advise_large(start + before, whole);
    errno = saved;
    return start + before;
}

static void *large_alloc(void *ctx, size_t size) {
    if (size < LARGE_FROM) return plain_alloc(ctx, size);
    return size > SIZE_MAX - 2 * (size_t)LARGE_PAGE ? NULL : map_large(size);
}

static void large_free(void *ctx, void *memory, size_t size) {
    if (size < LARGE_FROM)
        plain_free(ctx, memory, size);
    else
        munmap(memory, large_size(size));
}

#if defined(MAP_HUGETLB) && defined(MADV_POPULATE_WRITE) && SIZE_MAX > UINT32_MAX && \
    !defined(TAMIS_PLAIN)
enum { GIANT_PAGE = 1 << 30, GIANT_FLAGS = MAP_HUGETLB | 30 << 26 /* log of a page, and where */ };

/* Touched at once: a page that the system has promised but a limit of a group of processes refuses
 * would be a signal at its first touch. */
static void *map_giant(size_t size) {
    const int saved = errno;
    void *start = mmap(NULL, in_pages(size, GIANT_PAGE), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | GIANT_FLAGS, -1, 0);
    if (start != MAP_FAILED && madvise(start, in_pages(size, GIANT_PAGE), MADV_POPULATE_WRITE)) {
        munmap(start, in_pages(size, GIANT_PAGE));
        start = MAP_FAILED;
    }
    errno = saved;
    return start == MAP_FAILED ? NULL : start;
}

static void *giant_alloc(void *ctx, size_t size) {
    const bool is_giant = size >= GIANT_PAGE && size <= SIZE_MAX - GIANT_PAGE;
    void *memory = is_giant ? map_giant(size) : NULL;
    return memory ? memory : large_alloc(ctx, size);
}

/* The system unmaps giant pages whole or not at all: if it refuses, that is what they are. */
static void giant_free(void *ctx, void *memory, size_t size) {
    const int saved = errno;
    if (size < GIANT_PAGE)
        large_free(ctx, memory, size);
    else if (munmap(memory, large_size(size)))
        munmap(memory, in_pages(size, GIANT_PAGE));
    errno = saved;
}
#else
#define giant_alloc large_alloc
#define giant_free  large_free
#endif

struct tamis_allocator tamis__allocator(const struct tamis_options *options) {
    if (options->allocator) return *options->allocator;
    if (options->pages == TAMIS_PAGES_PLAIN)
        return (struct tamis_allocator){plain_alloc, plain_free, NULL, true};
    if (options->pages == TAMIS_PAGES_GIANT)
        return (struct tamis_allocator){giant_alloc, giant_free, NULL, true};
    return (struct tamis_allocator){large_alloc, large_free, NULL, true};
}

bool tamis__may_be_shared(const struct tamis_allocator *a) {
    return a->alloc == plain_alloc || a->alloc == large_alloc || a->alloc == giant_alloc;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

void *tamis__get(const struct tamis_allocator *a, uint64_t size, tamis_block *block) {
    *block = (tamis_block){NULL, 0};
    if (size > SIZE_MAX - TAMIS_ALIGNMENT) {
        tamis__fail(TAMIS_NOMEM, "%llu bytes are more than this machine can address",
                    (unsigned long long)size);
        return NULL;
    }
    const size_t total = (size_t)size + TAMIS_ALIGNMENT;
    void *base = a->alloc(a->ctx, total);
    if (!base) {
        tamis__fail(TAMIS_NOMEM, "no memory for %llu bytes", (unsigned long long)size);
        return NULL;
    }
    /* Fresh zero pages stay untouched. */
    if (!a->is_zeroed) memset(base, 0, total);
    *block = (tamis_block){base, total};
    return tamis__aligned(block);
}

static bool has_large_pages(const struct tamis_allocator *a) {
    return a->alloc == large_alloc || a->alloc == giant_alloc;
}

void *tamis__get_for_work(const struct tamis_allocator *a, uint64_t size, tamis_block *block) {
    const bool gains = has_large_pages(a) && size >= WORK_FROM && size < LARGE_FROM;
    return tamis__get(a, gains ? LARGE_FROM - TAMIS_ALIGNMENT : size, block);
}

void *tamis__get_sparse(const struct tamis_allocator *a, uint64_t size, tamis_block *block) {
    if (!has_large_pages(a) || size < LARGE_FROM || size > SIZE_MAX - 2 * (size_t)LARGE_PAGE)
        return tamis__get(a, size, block);
    const int saved = errno;
    const size_t total = (size_t)size + TAMIS_ALIGNMENT;
    void *base = mmap(NULL, large_size(total), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    errno = saved;
    *block = (tamis_block){NULL, 0};
    if (base == MAP_FAILED) {
        tamis__fail(TAMIS_NOMEM, "no room for %llu bytes", (unsigned long long)size);
        return NULL;
    }
    *block = (tamis_block){base, total};
    return base;
}

void *tamis__aligned(const tamis_block *block) {
    const uintptr_t past = (uintptr_t)block->base % TAMIS_ALIGNMENT;
    return (uint8_t *)block->base + (past ? TAMIS_ALIGNMENT - past : 0);
}

void tamis__block_free(const struct tamis_allocator *a, tamis_block *block) {
    if (block->base) a->free(a->ctx, block->base, block->size);
    *block = (tamis_block){NULL, 0};
}

/* ---- Options -------------------------------------------------------------------------------- */

tamis_status tamis__read_options(const struct tamis_options *in, struct tamis_options *out) {
    const tamis_status rc = tamis__read_struct(in, out, sizeof *out, "options");
    if (!rc && out->allocator && (!out->allocator->alloc || !out->allocator->free))
        return tamis__fail(TAMIS_INVALID, "options.allocator needs both alloc and free");
    if (!rc && out->pages > TAMIS_PAGES_GIANT)
        return tamis__fail(TAMIS_INVALID, "options.pages is %u: 0 for large, 1 plain, 2 giant",
                           (unsigned)out->pages);
    return rc;
}

tamis_status tamis__within_limit(uint64_t max_bytes, uint64_t size) {
    if (!max_bytes || size <= max_bytes) return TAMIS_OK;
    return tamis__fail(TAMIS_TOO_LARGE, "%llu bytes of payload are over the limit of %llu",
                       (unsigned long long)size, (unsigned long long)max_bytes);
}
