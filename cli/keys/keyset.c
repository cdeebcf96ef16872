/* SPDX-License-Identifier: MIT */
/* keyset.c: open addressing over chunks of keys.
 *
 *     slot    hash, pointer ──▶ chunk   mark, length, bytes, beside | mark, ...
 *
 * A question looks at one slot, mostly, and at the key itself only where the whole hash is the
 * same. */
#include "cli/keys/keyset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct held {
    uint64_t len_and_mark; /* 2 * len + mark */
};

struct chunk {
    struct chunk *next;
    size_t size, used; /* bytes, with this header */
};

enum { FIRST_SLOTS = 1024, MIN_CHUNK = 16 * 1024, ALIGN = sizeof(struct held) };
enum { LARGE_PAGE = 2 * 1024 * 1024, MAX_CHUNK = 2 * LARGE_PAGE };

/* Memory for any use. On large pages where there is much of it: keys are found by chance all over
 * it, and with small pages the processor is busy finding the pages. */
static void *allocate(size_t size) {
    if (size < MAX_CHUNK) return malloc(size);
    const size_t whole = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory = whole >= size ? aligned_alloc(LARGE_PAGE, whole) : NULL;
#ifdef MADV_HUGEPAGE
    if (memory) madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return memory;
}

void keyset_open(struct keyset *set, uint64_t max_bytes) {
    *set = (struct keyset){.max_bytes = max_bytes};
}

void keyset_clear(struct keyset *set) {
    while (set->chunk) {
        struct chunk *next = set->chunk->next;
        free(set->chunk);
        set->chunk = next;
    }
    free(set->slot);
    *set = (struct keyset){.max_bytes = set->max_bytes, .beside = set->beside};
}

/* ---- Keys in chunks ---- */

static bool is_key(const struct held *held, const struct tamis_key *key) {
    return held->len_and_mark / 2 == key->len &&
           (key->len == 0 || memcmp(held + 1, key->bytes, key->len) == 0);
}

void held_mark(struct held *held) {
    held->len_and_mark |= 1;
}

bool held_is_marked(const struct held *held) {
    return held->len_and_mark & 1;
}

/* All of a key in a chunk. */
static size_t held_size(const struct keyset *set, size_t len) {
    return sizeof(struct held) + (len + ALIGN - 1) / ALIGN * ALIGN +
           (set->beside + ALIGN - 1) / ALIGN * ALIGN;
}

void *held_beside(struct held *held) {
    const size_t len = (size_t)(held->len_and_mark / 2);
    return (char *)(held + 1) + (len + ALIGN - 1) / ALIGN * ALIGN;
}

/* Whether `more` bytes are still allowed. What comes first always is. */
static bool may_take(const struct keyset *set, uint64_t more) {
    return set->keys == 0 || (more <= set->max_bytes && set->bytes <= set->max_bytes - more);
}

static bool add_chunk(struct keyset *set, size_t need) {
    const size_t min = sizeof(struct chunk) + need;
    /* They grow with the set, but no more than a small part of the memory is ever unused. */
    uint64_t usual = set->bytes / 8 < set->max_bytes / 64 ? set->bytes / 8 : set->max_bytes / 64;
    if (usual < MIN_CHUNK) usual = MIN_CHUNK;
    if (usual > MAX_CHUNK) usual = MAX_CHUNK;
    const size_t size = min > usual ? min : (size_t)usual;
    if (!may_take(set, size)) return false;
    struct chunk *chunk = allocate(size);
    if (!chunk) {
        set->is_short_of_memory = true;
        return false;
    }
    *chunk = (struct chunk){.next = set->chunk, .size = size, .used = sizeof *chunk};
    set->chunk = chunk;
    set->bytes += size;
    return true;
}

static struct held *hold(struct keyset *set, const struct tamis_key *key) {
    if (key->len > SIZE_MAX / 4) return NULL;
    const size_t need = held_size(set, key->len);
    if ((!set->chunk || set->chunk->size - set->chunk->used < need) && !add_chunk(set, need))
        return NULL;
    struct held *held = (struct held *)(void *)((char *)set->chunk + set->chunk->used);
    set->chunk->used += need;
    held->len_and_mark = 2 * (uint64_t)key->len;
    if (key->len > 0) memcpy(held + 1, key->bytes, key->len);
    if (set->beside > 0) memset(held_beside(held), 0, set->beside);
    return held;
}

/* The chunks the other way round. */
static void turn_chunks(struct keyset *set) {
    struct chunk *turned = NULL;
    while (set->chunk) {
        struct chunk *next = set->chunk->next;
        set->chunk->next = turned;
        turned = set->chunk;
        set->chunk = next;
    }
    set->chunk = turned;
}

void keyset_walk(struct keyset *set, keyset_visit *visit, void *with) {
    turn_chunks(set);
    for (struct chunk *chunk = set->chunk; chunk; chunk = chunk->next)
        for (size_t at = sizeof *chunk; at < chunk->used;) {
            struct held *held = (struct held *)(void *)((char *)chunk + at);
            const struct tamis_key key = {held + 1, (size_t)(held->len_and_mark / 2)};
            visit(with, &key, held_beside(held));
            at += held_size(set, key.len);
        }
    turn_chunks(set);
}

/* ---- Slots ---- */

/* The low bits of a hash choose blocks of filters; those of a key set come from its high ones. */
static size_t first_slot(const struct keyset *set, uint64_t hash) {
    return (size_t)(hash >> 20) & (set->slots - 1);
}

void keyset_fetch(const struct keyset *set, const uint64_t *hash, size_t n) {
#if defined(__GNUC__)
    for (size_t i = 0; set->slots > 0 && i < n; i++)
        __builtin_prefetch(&set->slot[first_slot(set, hash[i])]);
    /* Then the keys themselves, where the slot says that it will be compared. */
    for (size_t i = 0; set->slots > 0 && i < n; i++) {
        const struct keyset_entry *entry = &set->slot[first_slot(set, hash[i])];
        if (entry->held && entry->hash == hash[i]) __builtin_prefetch(entry->held);
    }
#else
    (void)set, (void)hash, (void)n;
#endif
}

/* The slot that has the key, or the empty one where it belongs. */
static struct keyset_entry *slot_of(const struct keyset *set, uint64_t hash,
                                    const struct tamis_key *key) {
    size_t i = first_slot(set, hash);
    for (;; i = (i + 1) & (set->slots - 1)) {
        struct keyset_entry *entry = &set->slot[i];
        if (!entry->held || (entry->hash == hash && is_key(entry->held, key))) return entry;
    }
}

static void move_slots(const struct keyset *from, struct keyset *to) {
    for (size_t i = 0; i < from->slots; i++) {
        if (!from->slot[i].held) continue;
        size_t at = first_slot(to, from->slot[i].hash);
        while (to->slot[at].held) at = (at + 1) & (to->slots - 1);
        to->slot[at] = from->slot[i];
    }
}

/* Keeps a quarter of the slots empty. While they are moved both tables are there. */
static bool grow(struct keyset *set) {
    if (set->keys < set->slots / 4 * 3) return true;
    struct keyset larger = *set;
    larger.slots = set->slots ? 2 * set->slots : FIRST_SLOTS;
    const uint64_t more = (uint64_t)larger.slots * sizeof *larger.slot;
    if (!may_take(set, more)) return false;
    larger.slot = more <= SIZE_MAX ? allocate((size_t)more) : NULL;
    if (!larger.slot) {
        set->is_short_of_memory = true;
        return false;
    }
    memset(larger.slot, 0, (size_t)more);
    move_slots(set, &larger);
    larger.bytes += more - (uint64_t)set->slots * sizeof *set->slot;
    free(set->slot);
    *set = larger;
    return true;
}

struct held *keyset_find(const struct keyset *set, uint64_t hash, const struct tamis_key *key) {
    return set->slots ? slot_of(set, hash, key)->held : NULL;
}

struct held *keyset_take(struct keyset *set, uint64_t hash, const struct tamis_key *key,
                         bool *is_new) {
    struct held *held = keyset_find(set, hash, key);
    *is_new = false;
    if (held || !grow(set)) return held;
    held = hold(set, key);
    if (!held) return NULL;
    *slot_of(set, hash, key) = (struct keyset_entry){.hash = hash, .held = held};
    set->keys++;
    *is_new = true;
    return held;
}
