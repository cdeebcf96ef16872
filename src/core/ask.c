/* Asking and changing: keys become hashes here, and hashes go to the kind in batches. */
#include <stdatomic.h>
#include <string.h>

#include "bits/bits.h"
#include "core/filter.h"

/* Hashes that fit on the stack between hashing and probing. */
enum { BATCH = 256 };

static size_t batch_of(size_t n) {
    return n < BATCH ? n : BATCH;
}

static void hash_keys(const tamis *f, const struct tamis_key *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++)
        hashes[i] = tamis__hash(&f->image.hasher, keys[i].bytes, keys[i].len);
}

uint64_t tamis_hash(const tamis *f, const void *key, size_t len) {
    return tamis__hash(&f->image.hasher, key, len);
}

void tamis_hash_u64s(const tamis *f, const uint64_t *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) hashes[i] = tamis__hash_u64(&f->image.hasher, keys[i]);
}

/* ---- Asking --------------------------------------------------------------------------------- */

bool tamis_has_hash(const tamis *f, uint64_t hash) {
    uint8_t hit = 1; /* a kind with its own hash cannot tell: maybe */
    if (f->kind->query) f->kind->query(&f->image.body, &hash, 1, &hit);
    return hit;
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

bool tamis_has_u64(const tamis *f, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis_has(f, bytes, sizeof bytes);
}

void tamis_has_many(const tamis *f, const struct tamis_key *keys, size_t n, uint8_t *hit) {
    if (f->kind->query_keys) {
        f->kind->query_keys(&f->image.body, keys, n, hit);
        return;
    }
    uint64_t hashes[BATCH];
    for (size_t m; n; keys += m, hit += m, n -= m) {
        m = batch_of(n);
        hash_keys(f, keys, m, hashes);
        f->kind->query(&f->image.body, hashes, m, hit);
    }
}

/* ---- Changing ------------------------------------------------------------------------------- */

/* Makes sure that n more adds fit. A kind that grows does it once, before the first key, so that
 * an add of many never stops half-way for want of memory. */
static tamis_status make_room(tamis *f, size_t n) {
    const tamis_body *body = &f->image.body;
    if (!f->kind->room || f->kind->room(body) >= n) return TAMIS_OK;
    if (!f->kind->grow)
        return tamis__fail(TAMIS_FULL, "%s is full: %llu items, room for %llu, not for %zu more",
                           f->kind->name, (unsigned long long)body->items,
                           (unsigned long long)f->kind->room(body), n);
    uint64_t word[TAMIS_WORDS];
    memcpy(word, body->word, sizeof word);
    const tamis_status rc = f->kind->grow(body, n, word);
    return rc ? rc : tamis__reshape(f, word);
}

static tamis_status may_add(tamis *f, bool has_verb, size_t n) {
    tamis_status rc = tamis__writable(f);
    if (!rc && !has_verb) rc = tamis__cannot(f, "add that");
    if (!rc && f->image.body.items > UINT64_MAX - n)
        rc = tamis__fail(TAMIS_FULL, "the count of items would pass 2^64");
    return rc ? rc : make_room(f, n);
}

static tamis_status added(tamis *f, tamis_status rc, size_t n) {
    if (!rc) f->image.body.items += n;
    return rc;
}

tamis_status tamis_add_hashes(tamis *f, const uint64_t *hashes, size_t n) {
    const tamis_status rc = may_add(f, f->kind->add, n);
    return rc ? rc : added(f, f->kind->add(&f->image.body, hashes, n), n);
}

tamis_status tamis_add_hash(tamis *f, uint64_t hash) {
    return tamis_add_hashes(f, &hash, 1);
}

static tamis_status add_own_keys(tamis *f, const struct tamis_key *keys, size_t n) {
    const tamis_status rc = may_add(f, f->kind->add_keys, n);
    return rc ? rc : added(f, f->kind->add_keys(&f->image.body, keys, n), n);
}

tamis_status tamis_add(tamis *f, const void *key, size_t len) {
    if (f->kind->query_keys) {
        const struct tamis_key one = {key, len};
        return add_own_keys(f, &one, 1);
    }
    return tamis_add_hash(f, tamis_hash(f, key, len));
}

tamis_status tamis_add_u64(tamis *f, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis_add(f, bytes, sizeof bytes);
}

/* Where an add can fail, all hashes go in one call, because all or none is the kind's to keep. */
static tamis_status add_at_once(tamis *f, const struct tamis_key *keys, size_t n) {
    tamis_block block;
    uint64_t *hashes = tamis__get(&f->allocator, (uint64_t)n * sizeof *hashes, &block);
    if (!hashes) return TAMIS_NOMEM;
    hash_keys(f, keys, n, hashes);
    const tamis_status rc = tamis_add_hashes(f, hashes, n);
    tamis__give_back(&f->allocator, &block);
    return rc;
}

tamis_status tamis_add_many(tamis *f, const struct tamis_key *keys, size_t n) {
    if (f->kind->query_keys) return add_own_keys(f, keys, n);
    if (f->kind->room && n > BATCH) return add_at_once(f, keys, n);
    tamis_status rc = may_add(f, f->kind->add, n);
    uint64_t hashes[BATCH];
    for (size_t m; n && !rc; keys += m, n -= m) {
        m = batch_of(n);
        hash_keys(f, keys, m, hashes);
        rc = added(f, f->kind->add(&f->image.body, hashes, m), m);
    }
    return rc;
}

/* ---- Changing from many threads ------------------------------------------------------------- */

tamis_status tamis_add_hashes_shared(tamis *f, const uint64_t *hashes, size_t n) {
    const tamis_status rc = tamis__writable(f);
    if (rc) return rc;
    if (!f->kind->add_shared) return tamis__cannot(f, "add from many threads at once");
    f->kind->add_shared(&f->image.body, hashes, n);
    atomic_fetch_add_explicit((_Atomic uint64_t *)&f->image.body.items, n, memory_order_relaxed);
    return TAMIS_OK;
}

tamis_status tamis_add_shared(tamis *f, const void *key, size_t len) {
    const uint64_t hash = tamis_hash(f, key, len);
    return tamis_add_hashes_shared(f, &hash, 1);
}
