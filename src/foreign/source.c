/* SPDX-License-Identifier: MIT */
/* Bytes that are fetched when needed, each once. */
#include "foreign/format.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define FORBID(at, size) ASAN_POISON_MEMORY_REGION(at, (size_t)(size))
#define ALLOW(at, size)  ASAN_UNPOISON_MEMORY_REGION(at, (size_t)(size))
#else
#define FORBID(at, size) ((void)(at), (void)(size))
#define ALLOW(at, size)  ((void)(at), (void)(size))
#endif

void tamis__source_fence(const tamis_source *s) {
    FORBID(s->bytes, s->size);
}

void tamis__source_unfence(const tamis_source *s) {
    if (s->bytes) ALLOW(s->bytes, s->size);
}

static bool has(const tamis_source *s, uint64_t page) {
    return s->has[page / 64] >> page % 64 & 1;
}

/* Pages [from, to), none of which is present. */
static tamis_status bring_pages(tamis_source *s, uint64_t from, uint64_t to) {
    const uint64_t start = from * TAMIS_SOURCE_PAGE, whole = to * TAMIS_SOURCE_PAGE;
    const uint64_t end = whole < s->size ? whole : s->size;
    ALLOW(s->bytes + start, end - start);
    if (!s->read(s->ctx, start, s->bytes + start, (size_t)(end - start)))
        return tamis__fail(TAMIS_IO, "bytes %llu to %llu cannot be read", (unsigned long long)start,
                           (unsigned long long)(end - 1));
    for (uint64_t page = from; page < to; page++) s->has[page / 64] |= (uint64_t)1 << page % 64;
    return TAMIS_OK;
}

tamis_status tamis__bring(const tamis_input *in, uint64_t offset, uint64_t size) {
    tamis_source *s = in->source;
    if (!s || size == 0) return TAMIS_OK;
    const uint64_t last = (offset + size - 1) / TAMIS_SOURCE_PAGE;
    tamis_status rc = TAMIS_OK;
    for (uint64_t page = offset / TAMIS_SOURCE_PAGE; page <= last && !rc; page++) {
        const uint64_t from = page;
        while (page <= last && !has(s, page)) page++;
        if (from < page) rc = bring_pages(s, from, page);
    }
    return rc;
}
