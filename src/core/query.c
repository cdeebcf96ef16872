/* SPDX-License-Identifier: MIT */
/* Queries: keys become hashes, and hashes go to the kind in batches. */
#include <stdatomic.h>
#include <string.h>

#include "bits/bits.h"
#include "core/filter.h"
#include "core/workers.h"
#include "tamis_engine.h"

const uint64_t *tamis__hashes_of(const tamis *f, tamis_keys keys, size_t from, size_t n,
                                 uint64_t *room) {
    if (keys.hashes) return keys.hashes + from;
    const tamis_hasher *h = &f->image.hasher;
    if (keys.numbers)
        tamis__hash_u64s(h, keys.numbers + from, n, room);
    else if (keys.packed)
        tamis__hash_packed(h, keys.packed + from * keys.width, keys.width, n, room);
    else
        tamis__hash_strings(h, keys.strings + from, n, room);
    return room;
}

const struct tamis_key *tamis__strings_of(tamis_keys keys, size_t from, size_t n,
                                          tamis_spelled *room) {
    if (keys.strings) return keys.strings + from;
    for (size_t i = 0; i < n; i++) {
        if (keys.packed) {
            room->key[i] = (struct tamis_key){keys.packed + (from + i) * keys.width, keys.width};
            continue;
        }
        tamis__put64(room->bytes[i], keys.numbers[from + i]);
        room->key[i] = (struct tamis_key){room->bytes[i], sizeof room->bytes[i]};
    }
    return room->key;
}

tamis_batch tamis__batch(const tamis *f, tamis_keys keys, size_t from, size_t n,
                         tamis_batch_room *room) {
    return f->can & TAMIS_OWN_HASH
               ? tamis__keys(tamis__strings_of(keys, from, n, &room->spelled), n)
               : tamis__hashes(tamis__hashes_of(f, keys, from, n, room->hash), n);
}

TAMIS_ONE_KEY uint64_t tamis_hash(const tamis *f, const void *key, size_t len) {
    return tamis__hash(&f->image.hasher, key, len);
}

void tamis_hash_many(const tamis *f, const struct tamis_key *keys, size_t n, uint64_t *hashes) {
    tamis__hash_strings(&f->image.hasher, keys, n, hashes);
}

uint64_t tamis_hash_pieces(const tamis *f, tamis_next_piece *next, void *ctx) {
    return tamis__hash_pieces(&f->image.hasher, next, ctx);
}

void tamis_hash_u64s(const tamis *f, const uint64_t *keys, size_t n, uint64_t *hashes) {
    tamis__hash_u64s(&f->image.hasher, keys, n, hashes);
}

/* ---- Membership ----------------------------------------------------------------------------- */

TAMIS_ONE_KEY bool tamis_has_hash(const tamis *f, uint64_t hash) {
    if (f->one.has) return f->one.has(&f->image.body, hash);
    uint8_t hit = 1; /* kinds that cannot answer say maybe */
    if (tamis__knows_hashes(f)) f->kind->query(&f->image.body, tamis__hashes(&hash, 1), &hit);
    return hit;
}

/* Hashes and queries in one loop, where the kind can. */
static bool ask_numbers(const tamis *f, const uint64_t *numbers, size_t n, uint8_t *hit) {
    return TAMIS_ENTRY(f->kind, speed, query_numbers) && f->image.hasher.mode == TAMIS_HASH_XXH3 &&
           f->kind->speed->query_numbers(&f->image.body, f->flip, numbers, n, hit);
}

/* Strings take long to hash; the memory for the previous ones arrives during that time. */
static void ask_ahead(const tamis *f, tamis_keys keys, size_t from, size_t n, uint8_t *hit) {
    enum { STEP = TAMIS_BATCH / 8 };
    uint64_t room[2][STEP];
    const tamis_body *body = &f->image.body;
    size_t now = n < STEP ? n : STEP;
    unsigned turn = 0;
    tamis__hashes_of(f, keys, from, now, room[0]);
    for (size_t i = 0, next; i < n; i += now, now = next, turn ^= 1) {
        const tamis_batch batch = tamis__hashes(room[turn], now);
        next = n - i - now < STEP ? n - i - now : STEP;
        f->kind->speed->prefetch(body, batch);
        if (next) tamis__hashes_of(f, keys, from + i + now, next, room[turn ^ 1]);
        f->kind->query(body, batch, hit + i);
    }
}

/* Queries the n keys starting at `from`; hit[0] is for the first of them. */
static void ask_some(const tamis *f, tamis_keys keys, size_t from, size_t n, uint8_t *hit) {
    tamis_batch_room room;
    if (keys.hashes ? !tamis__knows_hashes(f) : !f->kind->query) {
        memset(hit, 1, n);
        return;
    }
    if (keys.numbers && ask_numbers(f, keys.numbers + from, n, hit)) return;
    if ((keys.strings || keys.packed) && TAMIS_ENTRY(f->kind, speed, prefetch) &&
        f->image.body.size > tamis__near_bytes()) {
        ask_ahead(f, keys, from, n, hit);
        return;
    }
    for (size_t i = 0, m; i < n; i += m) {
        m = keys.hashes ? n : tamis__batch_of(f, n - i);
        f->kind->query(&f->image.body, tamis__batch(f, keys, from + i, m, &room), hit + i);
    }
}

/* Threads take one piece after another, so that none waits for one on a busy processor. Starting
 * one takes about as long as 10,000 answers from cache. */
enum { ASK_TOGETHER = 1 << 17, ASK_PIECE = 1 << 14 };

typedef struct asking {
    tamis_workers workers;
    const tamis *f;
    tamis_keys keys;
    size_t n;
    uint8_t *hit;
    atomic_size_t next;
} asking;

static void ask_pieces(void *ctx) {
    asking *a = ctx;
    for (size_t at; (at = atomic_fetch_add(&a->next, ASK_PIECE)) < a->n;)
        ask_some(a->f, a->keys, at, a->n - at < ASK_PIECE ? a->n - at : ASK_PIECE, a->hit + at);
}

static void ask_all(const tamis *f, tamis_keys keys, size_t n, uint8_t *hit) {
    if (f->threads <= 1 || n < ASK_TOGETHER) {
        ask_some(f, keys, 0, n, hit);
        return;
    }
    asking a = {.f = f, .keys = keys, .n = n, .hit = hit};
    tamis__workers_run(&a.workers, f->threads, ask_pieces, &a);
}

void tamis_has_hashes(const tamis *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    ask_all(f, (tamis_keys){.hashes = hashes}, n, hit);
}

void tamis_has_many(const tamis *f, const struct tamis_key *keys, size_t n, uint8_t *hit) {
    ask_all(f, (tamis_keys){.strings = keys}, n, hit);
}

void tamis_has_u64s(const tamis *f, const uint64_t *keys, size_t n, uint8_t *hit) {
    ask_all(f, (tamis_keys){.numbers = keys}, n, hit);
}

void tamis_has_packed(const tamis *f, const void *keys, size_t width, size_t n, uint8_t *hit) {
    ask_all(f, (tamis_keys){.packed = keys, .width = width}, n, hit);
}

TAMIS_ONE_KEY bool tamis_has(const tamis *f, const void *key, size_t len) {
    if (!(f->can & TAMIS_OWN_HASH)) return tamis_has_hash(f, tamis_hash(f, key, len));
    const struct tamis_key one = {key, len};
    uint8_t hit;
    f->kind->query(&f->image.body, tamis__keys(&one, 1), &hit);
    return hit;
}

/* Not inlined: a function without a stack frame is faster. */
static __attribute__((noinline)) bool has_number(const tamis *f, uint64_t key) {
    uint8_t bytes[8];
    if (!(f->can & TAMIS_OWN_HASH))
        return tamis_has_hash(f, tamis__hash_u64(&f->image.hasher, key));
    tamis__put64(bytes, key);
    return tamis_has(f, bytes, sizeof bytes);
}

bool tamis_has_u64(const tamis *f, uint64_t key) {
    if (f->one.has_number) return f->one.has_number(&f->image.body, key, f->flip);
    if (f->one.has && f->image.hasher.mode == TAMIS_HASH_XXH3)
        return f->one.has(&f->image.body, tamis_inline_xxh3(f->flip, key));
    return has_number(f, key);
}

/* ---- Counting and listing ------------------------------------------------------------------- */

void tamis_count_hashes(const tamis *f, const uint64_t *hashes, size_t n, uint64_t *counts) {
    if (f->can & TAMIS_CAN_COUNT && tamis__knows_hashes(f))
        f->kind->counts->count(&f->image.body, tamis__hashes(hashes, n), counts);
    else
        for (size_t i = 0; i < n; i++) counts[i] = tamis_has_hash(f, hashes[i]);
}

uint64_t tamis_count_hash(const tamis *f, uint64_t hash) {
    uint64_t count;
    tamis_count_hashes(f, &hash, 1, &count);
    return count;
}

uint64_t tamis_count(const tamis *f, const void *key, size_t len) {
    const struct tamis_key one = {key, len};
    uint64_t count;
    if (!(f->can & TAMIS_OWN_HASH)) return tamis_count_hash(f, tamis_hash(f, key, len));
    if (!(f->can & TAMIS_CAN_COUNT)) return tamis_has(f, key, len);
    f->kind->counts->count(&f->image.body, tamis__keys(&one, 1), &count);
    return count;
}

uint64_t tamis_count_u64(const tamis *f, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis_count(f, bytes, sizeof bytes);
}

bool tamis_next(const tamis *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    return f->can & TAMIS_CAN_LIST && f->kind->next(&f->image.body, cursor, hash, count);
}
