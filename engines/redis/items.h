/* SPDX-License-Identifier: MIT */
/* The module's files may include this: the items of a command, as keys and as hashes. */
#ifndef TAMIS_REDIS_ITEMS_H
#define TAMIS_REDIS_ITEMS_H

#include "engines/redis/request.h"

/* Packed hashes that one command may have. */
enum { MAX_HASHES = 1 << 20 };

/* Memory for the items of one command: on the stack while they are few. */
enum { FEW_ITEMS = 256 };
typedef struct items {
    size_t count;
    struct tamis_key *key;
    uint64_t *hash; /* NULL for kinds that hash by themselves */
    uint8_t *hit;
    struct tamis_key few_keys[FEW_ITEMS];
    uint64_t few_hashes[FEW_ITEMS];
    uint8_t few_hits[FEW_ITEMS];
    void *memory;
} items;

/* Takes the request's items and hashes them for the filter of a value; false, with the error
 * replied, when there is no memory. */
bool items_take(const request *, items *, const value *);

/* The same in two parts. Very many are read elsewhere, or a few at a time: item i is argv[i *
 * stride]. Any thread, but not before the command that brought them has returned: the server may
 * move what a string has then. */
bool items_room(const request *, items *, const value *, size_t count);
void items_read(items *, const value *, redis_string *const *argv, size_t stride, size_t from,
                size_t n);
void items_free(items *);

/* hit[i] becomes 1 where item i, of n from one on, may be in the set. */
void items_ask_some(items *, const tamis *, size_t from, size_t n);

/* Adds item i unless it is there; *is_new tells. */
tamis_status items_add_new(const items *, tamis *, size_t i, bool *is_new);

/* Is item i there? */
bool items_has(const items *, const tamis *, size_t i);

/* How many are not? */
size_t items_missing(items *, const tamis *, size_t from, size_t n);

#endif
