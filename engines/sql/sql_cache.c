/* SPDX-License-Identifier: MIT */
/* Filters that stay open while their image comes again. */
#include "engines/sql/sql_cache.h"

#include <string.h>

static void forget(struct sql_cached *entry) {
    tamis_free(entry->filter);
    *entry = (struct sql_cached){0};
}

void sql_cache_clear(sql_cache *cache) {
    for (size_t i = 0; i < SQL_CACHE_ENTRIES; i++) forget(&cache->entry[i]);
}

static struct sql_cached *find(sql_cache *cache, const void *image, size_t size) {
    for (size_t i = 0; i < SQL_CACHE_ENTRIES; i++) {
        struct sql_cached *entry = &cache->entry[i];
        if (entry->filter && entry->size == size && memcmp(entry->header, image, SQL_HEADER) == 0)
            return entry;
    }
    return NULL;
}

/* An empty place, or the oldest. */
static struct sql_cached *oldest(sql_cache *cache) {
    struct sql_cached *found = &cache->entry[0];
    for (size_t i = 1; i < SQL_CACHE_ENTRIES; i++)
        if (cache->entry[i].used < found->used) found = &cache->entry[i];
    return found;
}

/* Closes others until they and one of `size` are within the limit. */
static void make_room(sql_cache *cache, size_t size) {
    uint64_t bytes = size;
    for (size_t i = 0; i < SQL_CACHE_ENTRIES; i++) bytes += cache->entry[i].size;
    for (size_t i = 0; cache->max_bytes && bytes > cache->max_bytes && i < SQL_CACHE_ENTRIES; i++) {
        bytes -= cache->entry[i].size;
        forget(&cache->entry[i]);
    }
}

tamis_status sql_cache_open(sql_cache *cache, const void *image, size_t size,
                            const struct tamis_options *options, const tamis **filter,
                            uint64_t *serial) {
    struct sql_cached *entry = size < SQL_HEADER ? NULL : find(cache, image, size);
    *filter = NULL;
    if (!entry) {
        tamis *f;
        const tamis_status rc = tamis_load_with(&f, image, size, options);
        if (rc) return rc;
        make_room(cache, size);
        entry = oldest(cache);
        forget(entry);
        entry->filter = f;
        entry->size = size;
        entry->serial = ++cache->serials;
        memcpy(entry->header, image, SQL_HEADER);
    }
    entry->used = ++cache->uses;
    *filter = entry->filter;
    if (serial) *serial = entry->serial;
    return TAMIS_OK;
}
