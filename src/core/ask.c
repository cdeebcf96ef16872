/* Asking: keys become hashes, and hashes go to the kind in batches. */
#include <string.h>

#include "bits/bits.h"
#include "core/filter.h"

const uint64_t *tamis__hashes_of(const tamis *f, tamis_keys keys, size_t from, size_t n,
                                 uint64_t *room) {
    if (keys.hashes) return keys.hashes + from;
    if (keys.numbers)
        tamis__hash_u64s(&f->image.hasher, keys.numbers + from, n, room);
    else
        tamis__hash_strings(&f->image.hasher, keys.strings + from, n, room);
    return room;
}

void tamis__spell(tamis_spelled *s, const uint64_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        tamis__put64(s->bytes[i], numbers[i]);
        s->key[i] = (struct tamis_key){s->bytes[i], sizeof s->bytes[i]};
    }
}

uint64_t tamis_hash(const tamis *f, const void *key, size_t len) {
    return tamis__hash(&f->image.hasher, key, len);
}

void tamis_hash_u64s(const tamis *f, const uint64_t *keys, size_t n, uint64_t *hashes) {
    tamis__hash_u64s(&f->image.hasher, keys, n, hashes);
}

/* ---- Asking --------------------------------------------------------------------------------- */

bool tamis_has_hash(const tamis *f, uint64_t hash) {
    if (f->kind->has) return f->kind->has(&f->image.body, hash);
    uint8_t hit = 1; /* a kind with its own hash cannot tell: maybe */
    if (f->kind->query) f->kind->query(&f->image.body, &hash, 1, &hit);
    return hit;
}

/* Hashing and asking in one loop, where the kind has that. */
static bool ask_numbers(const tamis *f, const uint64_t *numbers, size_t n, uint8_t *hit) {
    const tamis_hasher *h = &f->image.hasher;
    return f->kind->query_numbers && h->mode == TAMIS_HASH_XXH3 &&
           f->kind->query_numbers(&f->image.body, tamis__xxh3_flip(h->seed), numbers, n, hit);
}

static void ask_all(const tamis *f, tamis_keys keys, size_t n, uint8_t *hit) {
    uint64_t room[TAMIS_BATCH];
    if (keys.numbers && ask_numbers(f, keys.numbers, n, hit)) return;
    for (size_t i = 0, m; i < n; i += m) {
        m = tamis__batch_of(f, n - i);
        f->kind->query(&f->image.body, tamis__hashes_of(f, keys, i, m, room), m, hit + i);
    }
}

void tamis_has_hashes(const tamis *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    if (f->kind->query)
        f->kind->query(&f->image.body, hashes, n, hit);
    else
        memset(hit, 1, n);
}

bool tamis_has(const tamis *f, const void *key, size_t len) {
    if (f->kind->query_keys) {
        const struct tamis_key one = {key, len};
        uint8_t hit;
        f->kind->query_keys(&f->image.body, &one, 1, &hit);
        return hit;
    }
    return tamis_has_hash(f, tamis_hash(f, key, len));
}

/* Not inlined: a function that needs no room on the stack is faster. */
static __attribute__((noinline)) bool has_number(const tamis *f, uint64_t key) {
    uint8_t bytes[8];
    if (!f->kind->query_keys) return tamis_has_hash(f, tamis__hash_u64(&f->image.hasher, key));
    tamis__put64(bytes, key);
    return tamis_has(f, bytes, sizeof bytes);
}

bool tamis_has_u64(const tamis *f, uint64_t key) {
    return f->one ? f->one(&f->image.body, f->flip, key) : has_number(f, key);
}

void tamis_has_many(const tamis *f, const struct tamis_key *keys, size_t n, uint8_t *hit) {
    if (f->kind->query_keys)
        f->kind->query_keys(&f->image.body, keys, n, hit);
    else
        ask_all(f, (tamis_keys){.strings = keys}, n, hit);
}

static void ask_spelled(const tamis *f, const uint64_t *keys, size_t n, uint8_t *hit) {
    tamis_spelled s;
    for (size_t i = 0, m; i < n; i += m) {
        m = tamis__batch_of(f, n - i);
        tamis__spell(&s, keys + i, m);
        f->kind->query_keys(&f->image.body, s.key, m, hit + i);
    }
}

void tamis_has_u64s(const tamis *f, const uint64_t *keys, size_t n, uint8_t *hit) {
    if (f->kind->query_keys)
        ask_spelled(f, keys, n, hit);
    else
        ask_all(f, (tamis_keys){.numbers = keys}, n, hit);
}

/* ---- Counting and listing ------------------------------------------------------------------- */

static bool can(const tamis *f, enum tamis_ability ability) {
    return tamis__abilities(f->kind, f->image.body.word) & ability;
}

void tamis_count_hashes(const tamis *f, const uint64_t *hashes, size_t n, uint64_t *counts) {
    if (can(f, TAMIS_CAN_COUNT))
        f->kind->count(&f->image.body, hashes, n, counts);
    else
        for (size_t i = 0; i < n; i++) counts[i] = tamis_has_hash(f, hashes[i]);
}

uint64_t tamis_count_hash(const tamis *f, uint64_t hash) {
    uint64_t count;
    tamis_count_hashes(f, &hash, 1, &count);
    return count;
}

uint64_t tamis_count(const tamis *f, const void *key, size_t len) {
    if (f->kind->query_keys) return tamis_has(f, key, len);
    return tamis_count_hash(f, tamis_hash(f, key, len));
}

uint64_t tamis_count_u64(const tamis *f, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis_count(f, bytes, sizeof bytes);
}

bool tamis_next(const tamis *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    return can(f, TAMIS_CAN_LIST) && f->kind->next(&f->image.body, cursor, hash, count);
}
