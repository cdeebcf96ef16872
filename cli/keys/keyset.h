/* SPDX-License-Identifier: MIT */
/* keyset.h: only the files in cli/ include this. A set of keys with their bytes: exact, in bounded
 * memory.
 *
 * For verbs that must not be wrong. Keys are found by their hash and then compared, so that keys of
 * one hash, by chance or by intent, stay apart.
 */
#ifndef TAMIS_CLI_KEYS_KEYSET_H
#define TAMIS_CLI_KEYS_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

struct held; /* a key in a chunk of memory */

struct keyset_entry {
    uint64_t hash;
    struct held *held; /* NULL for an empty slot */
};

struct keyset {
    struct keyset_entry *slot;
    size_t slots; /* a power of two, or 0 */
    size_t keys;
    struct chunk *chunk; /* the newest first */
    uint64_t bytes;      /* of memory in use ... */
    uint64_t max_bytes;  /* ... and how many there may be */
    size_t beside; /* bytes that each key has for the caller, set before the first; usually 0 */
    bool is_short_of_memory;
};

void keyset_open(struct keyset *set, uint64_t max_bytes);
void keyset_clear(struct keyset *set); /* nothing is held then: it may be used again or left */

/* Starts the way to the slots of keys that are asked about soon. */
void keyset_fetch(const struct keyset *set, const uint64_t *hash, size_t n);

/* The same in a loop over n keys, before the i-th is asked about: some at a time. */
static inline void keyset_fetch_next(const struct keyset *set, const uint64_t *hash, size_t i,
                                     size_t n) {
    enum { GROUP = 64 };
    if (i % GROUP == 0) keyset_fetch(set, hash + i, n - i < GROUP ? n - i : GROUP);
}

/* The key as it is held, or NULL. */
struct held *keyset_find(const struct keyset *set, uint64_t hash, const struct tamis_key *key);

/* Finds a key or takes it in. NULL when there is no room; a first key always has, unless the system
 * has no memory. */
struct held *keyset_take(struct keyset *set, uint64_t hash, const struct tamis_key *key,
                         bool *is_new);

/* One bit for each key; false at first. */
void held_mark(struct held *held);
bool held_is_marked(const struct held *held);

/* What the caller has beside a key: zeros at first. */
void *held_beside(struct held *held);

/* Visits the keys in the order in which they were taken in. */
typedef void keyset_visit(void *with, const struct tamis_key *key, void *beside);
void keyset_walk(struct keyset *set, keyset_visit *visit, void *with);

#endif
