/* SPDX-License-Identifier: MIT */
/* tamis_leveldb.h: filters of Tamis in the tables of LevelDB, for programs in C. Programs in C++
 * include tamis_leveldb.hpp.
 *
 *     leveldb_filterpolicy_t *policy = tamis_leveldb_policy("split:fpr=1%", NULL);
 *     if (!policy) fprintf(stderr, "%s\n", tamis_why());
 *     leveldb_options_set_filter_policy(options, policy);
 *
 * Compile with:  cc program.c $(pkg-config --cflags --libs tamis) -lleveldb
 *
 * LevelDB makes a filter for every 2 KiB of a table, so the larger its blocks, the more keys a
 * filter has and the fewer bytes each of them takes: with 64 KiB ribbon is smallest and split
 * fastest. A table remembers the policy's name, which is that of the kind and the hash: one that
 * was written with another kind is read without its filters until it is compacted, and one that
 * was written for another rate with them. The policy outlives the database. */
#ifndef TAMIS_LEVELDB_H
#define TAMIS_LEVELDB_H

#include <stdlib.h>
#include <string.h>

#include <leveldb/c.h>
#include <tamis_pages.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a page, in memory that LevelDB frees. */
struct tamis_leveldb_bytes {
    char *bytes;
    size_t size;
};

static inline bool tamis_leveldb_put(void *ctx, const void *bytes, size_t size) {
    struct tamis_leveldb_bytes *to = (struct tamis_leveldb_bytes *)ctx;
    char *more = (char *)realloc(to->bytes, to->size + size);
    if (!more) return false;
    memcpy(more + to->size, bytes, size);
    to->bytes = more;
    to->size += size;
    return true;
}

/* Versions of a key come one after the other, and are one key. */
static inline size_t tamis_leveldb_keys(const char *const *keys, const size_t *lens, int n,
                                        struct tamis_key *list) {
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        const struct tamis_key key = {keys[i], lens[i]};
        if (used && list[used - 1].len == key.len &&
            memcmp(list[used - 1].bytes, key.bytes, key.len) == 0)
            continue;
        list[used++] = key;
    }
    return used;
}

/* A byte that is no page is answered maybe; LevelDB takes no byte for a filter of no keys. */
static inline char *tamis_leveldb_create(void *state, const char *const *keys, const size_t *lens,
                                         int n, size_t *size) {
    const tamis_page_policy *policy = (const tamis_page_policy *)state;
    struct tamis_leveldb_bytes page = {NULL, 0};
    struct tamis_key *list = (struct tamis_key *)malloc(((size_t)n + 1) * sizeof *list);
    if (!list || tamis_page_make(policy, list, tamis_leveldb_keys(keys, lens, n, list),
                                 tamis_leveldb_put, &page)) {
        free(page.bytes);
        page.bytes = (char *)malloc(1);
        page.size = page.bytes ? 1 : 0;
        if (page.bytes) *page.bytes = '\xff';
    }
    free(list);
    *size = page.size;
    return page.bytes;
}

static inline unsigned char tamis_leveldb_may_match(void *state, const char *key, size_t len,
                                                    const char *page, size_t size) {
    return tamis_page_has((const tamis_page_policy *)state, page, size, key, len);
}

static inline const char *tamis_leveldb_name(void *state) {
    return tamis_page_policy_name((const tamis_page_policy *)state);
}

static inline void tamis_leveldb_destroy(void *state) {
    tamis_page_policy_free((tamis_page_policy *)state);
}

/* A policy for leveldb_options_set_filter_policy, to be destroyed with leveldb_filterpolicy_destroy
 * after the database was closed. The spec has no capacity. NULL, and tamis_why(), for one that has
 * no pages (tamis_pages.h). */
static inline leveldb_filterpolicy_t *tamis_leveldb_policy(const char *spec,
                                                           const struct tamis_options *options) {
    tamis_page_policy *policy;
    if (tamis_page_policy_create(&policy, spec, options)) return NULL;
    return leveldb_filterpolicy_create(policy, tamis_leveldb_destroy, tamis_leveldb_create,
                                       tamis_leveldb_may_match, tamis_leveldb_name);
}

#ifdef __cplusplus
}
#endif

#endif
