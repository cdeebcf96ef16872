/* SPDX-License-Identifier: MIT */
/* The items of a command. Hashing them all before the first is looked up lets the library keep many
 * cache misses under way, and hashes each only once. */
#include "engines/redis/items.h"
#include "tamis_engine.h"

bool items_room(const request *r, items *t, const value *v, size_t count) {
    t->count = count;
    t->memory = NULL;
    t->key = t->few_keys, t->hash = t->few_hashes, t->hit = t->few_hits;
    count_items(r, count);
    if (count > FEW_ITEMS) {
        t->memory =
            reply_alloc(r->ctx, count * (sizeof *t->key + sizeof *t->hash + sizeof *t->hit));
        if (!t->memory) return false;
        t->key = t->memory;
        t->hash = (uint64_t *)(void *)(t->key + count);
        t->hit = (uint8_t *)(t->hash + count);
    }
    if (v->hashes_itself) t->hash = NULL;
    return true;
}

void items_read(items *t, const value *v, redis_string *const *argv, size_t stride, size_t from,
                size_t n) {
    for (size_t i = from; i < from + n; i++) t->key[i] = key_of(argv[i * stride]);
    if (t->hash) tamis_hash_many(v->filter, t->key + from, n, t->hash + from);
}

bool items_take(const request *r, items *t, const value *v) {
    if (!items_room(r, t, v, request_count(r))) return false;
    items_read(t, v, request_items(r), 1, 0, t->count);
    return true;
}

void items_free(items *t) {
    redis.Free(t->memory);
}

void items_ask_some(items *t, const tamis *filter, size_t from, size_t n) {
    if (t->hash)
        tamis_has_hashes(filter, t->hash + from, n, t->hit + from);
    else
        tamis_has_many(filter, t->key + from, n, t->hit + from);
}

tamis_status items_add_new(const items *t, tamis *filter, size_t i, bool *is_new) {
    return t->hash ? tamis_add_new_hash(filter, t->hash[i], is_new)
                   : tamis_add_new(filter, t->key[i].bytes, t->key[i].len, is_new);
}

bool items_has(const items *t, const tamis *filter, size_t i) {
    return t->hash ? tamis_has_hash(filter, t->hash[i])
                   : tamis_has(filter, t->key[i].bytes, t->key[i].len);
}

size_t items_missing(items *t, const tamis *filter, size_t from, size_t n) {
    size_t missing = 0;
    items_ask_some(t, filter, from, n);
    for (size_t i = from; i < from + n; i++) missing += !t->hit[i];
    return missing;
}
