/* SPDX-License-Identifier: MIT */
/* Changes: adding, removing, ageing, resizing. Each call does all or nothing. */
#include <stdatomic.h>
#include <string.h>

#include "bits/bits.h"
#include "core/bulk.h"
#include "core/filter.h"
#include "core/radix.h"
#include "tamis_engine.h"

/* ---- Room ----------------------------------------------------------------------------------- */

/* How many hashes need room: only new ones, where a second add has no effect. */
static tamis_status room_needed(const tamis *f, const uint64_t *hashes, size_t n, uint64_t *need) {
    *need = n;
    if (!(f->kind->traits & TAMIS_ADDS_ONCE)) return TAMIS_OK;
    tamis_block block;
    uint64_t *fresh = tamis__get(&f->allocator, (uint64_t)n * 2 * sizeof *fresh, &block);
    if (!fresh) return TAMIS_NOMEM;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!tamis_has_hash(f, hashes[i])) fresh[count++] = hashes[i];
    fresh = tamis__sort_hashes(fresh, fresh + n, count);
    *need = 0;
    for (size_t i = 0; i < count; i++) *need += i == 0 || fresh[i] != fresh[i - 1];
    tamis__block_free(&f->allocator, &block);
    return TAMIS_OK;
}

/* A kind that grows does so once, before the first key, so that an add of many never runs out of
 * memory half-way. */
static tamis_status make_room(tamis *f, const uint64_t *hashes, size_t n) {
    const tamis_body *body = &f->image.body;
    uint64_t need = n;
    if (!f->kind->room || f->kind->room(body) >= n) return TAMIS_OK;
    tamis_status rc = hashes ? room_needed(f, hashes, n, &need) : TAMIS_OK;
    if (rc) return rc;
    if (f->kind->room(body) >= need) return TAMIS_OK;
    if (!TAMIS_ENTRY(f->kind, reshape, grow))
        return tamis__fail(TAMIS_FULL, "%s is full: %llu items, room for %llu, not for %llu more",
                           f->kind->name, (unsigned long long)body->items,
                           (unsigned long long)f->kind->room(body), (unsigned long long)need);
    uint64_t word[TAMIS_WORDS];
    memcpy(word, body->word, sizeof word);
    rc = f->kind->reshape->grow(body, need, word);
    return rc ? rc : tamis__reshape(f, word);
}

TAMIS_ONE_KEY uint64_t tamis_remaining(const tamis *f) {
    return f->kind->room ? f->kind->room(&f->image.body) : UINT64_MAX;
}

/* ---- Adding --------------------------------------------------------------------------------- */

static tamis_status may_add(tamis *f, bool has_verb, const uint64_t *hashes, size_t n) {
    tamis_status rc = tamis__writable(f);
    if (!rc && !has_verb) rc = tamis__cannot(f, "add that");
    if (!rc && f->image.body.items > UINT64_MAX - n)
        rc = tamis__fail(TAMIS_FULL, "the count of items would pass 2^64");
    return rc || f->can & TAMIS_OWN_HASH ? rc : make_room(f, hashes, n); /* see add_own */
}

static tamis_status added(tamis *f, tamis_status rc, size_t n) {
    if (!rc) f->image.body.items += n;
    return rc;
}

/* Adds through the bins of bulk.h, where that pays. */
static bool add_bulk(tamis *f, tamis_keys keys, size_t n) {
    return n > TAMIS_BATCH && tamis__bulk_add(f, keys, n, &tamis__bulk_rule);
}

/* Sorting takes about 10 ns per hash, and twice their memory: at most 1 GiB. */
enum { MIN_SORT = 4096, MAX_SORT = 1 << 26 };

static tamis_status add_in_order(tamis *f, const uint64_t *hashes, size_t n) {
    tamis_block block;
    uint64_t *room = tamis__get(&f->allocator, (uint64_t)n * 2 * sizeof *room, &block);
    if (!room) return f->kind->add(&f->image.body, tamis__hashes(hashes, n));
    memcpy(room, hashes, n * sizeof *room);
    const uint64_t *sorted = tamis__sort_hashes(room, room + n, n);
    const tamis_status rc = f->kind->add(&f->image.body, tamis__hashes(sorted, n));
    tamis__block_free(&f->allocator, &block);
    return rc;
}

/* Does the kind add hashes? */
static bool adds_hashes(const tamis *f) {
    return f->kind->add && !(f->can & TAMIS_OWN_HASH);
}

tamis_status tamis_add_hashes(tamis *f, const uint64_t *hashes, size_t n) {
    const tamis_status rc = may_add(f, adds_hashes(f), hashes, n);
    if (rc) return rc;
    if (add_bulk(f, (tamis_keys){.hashes = hashes}, n)) return added(f, TAMIS_OK, n);
    if (TAMIS_ENTRY(f->kind, speed, prefers_sorted) && n >= MIN_SORT && n <= MAX_SORT)
        return added(f, add_in_order(f, hashes, n), n);
    return added(f, f->kind->add(&f->image.body, tamis__hashes(hashes, n)), n);
}

/* Queries one hash and adds it unless it is there, where the kind does both in one pass and has
 * room; false, and nothing has changed: the general way will do it, or say why not. */
static bool add_in_one_pass(tamis *f, uint64_t hash, bool *is_new) {
    tamis_body *body = &f->image.body;
    return TAMIS_ENTRY(f->kind, speed, add_new) && !f->is_view && body->items != UINT64_MAX &&
           f->kind->speed->add_new(body, hash, is_new) == TAMIS_OK;
}

/* Not inlined: without it a single add needs no stack frame. */
static __attribute__((noinline)) tamis_status add_list_of_one(tamis *f, uint64_t hash) {
    bool is_new;
    return add_in_one_pass(f, hash, &is_new) ? added(f, TAMIS_OK, 1)
                                             : tamis_add_hashes(f, &hash, 1);
}

/* What may_add would refuse goes there for its message. */
TAMIS_ONE_KEY tamis_status tamis_add_hash(tamis *f, uint64_t hash) {
    tamis_body *body = &f->image.body;
    if (f->is_view || body->items == UINT64_MAX) return add_list_of_one(f, hash);
    if (!f->one.add || !f->one.add(body, hash)) return add_list_of_one(f, hash);
    body->items++;
    return TAMIS_OK;
}

/* ---- Adding to kinds that hash keys themselves ---------------------------------------------- */

/* Refuses an empty key where the origin does, before the first is added. */
static tamis_status has_no_empty(const tamis *f, tamis_keys keys, size_t n) {
    if (!(f->kind->traits & TAMIS_NO_EMPTY_KEY)) return TAMIS_OK;
    for (size_t i = 0; i < n; i++)
        if (keys.strings ? keys.strings[i].len == 0 : keys.packed && keys.width == 0)
            return tamis__fail(TAMIS_INVALID, "%s takes no empty key, and number %zu of %zu is one",
                               f->kind->name, i + 1, n);
    return TAMIS_OK;
}

/* The kind answers TAMIS_FULL to the key for which its origin would grow. The body then grows for
 * that one key, and the bytes stay the same. */
static tamis_status add_own_key(tamis *f, tamis_batch one) {
    tamis_body *body = &f->image.body;
    uint64_t word[TAMIS_WORDS];
    tamis_status rc = f->kind->add(body, one);
    if (rc != TAMIS_FULL || !TAMIS_ENTRY(f->kind, reshape, grow)) return rc;
    memcpy(word, body->word, sizeof word);
    rc = f->kind->reshape->grow(body, 1, word);
    if (!rc) rc = tamis__reshape(f, word);
    return rc ? rc : f->kind->add(body, one);
}

static size_t own_room(const tamis *f, size_t max) {
    if (!TAMIS_ENTRY(f->kind, reshape, grow)) return max;
    const uint64_t room = f->kind->room(&f->image.body);
    return room < max ? (size_t)room : max;
}

static tamis_status add_own_some(tamis *f, tamis_keys keys, size_t n) {
    tamis_batch_room room;
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0, m; i < n && !rc; i += m) {
        m = own_room(f, tamis__batch_of(f, n - i));
        rc = m ? f->kind->add(&f->image.body, tamis__batch(f, keys, i, m, &room))
               : add_own_key(f, tamis__batch(f, keys, i, m = 1, &room));
    }
    return rc;
}

/* An add of many that may fail half-way keeps a copy of the payload, to restore it. */
static tamis_status add_own_or_none(tamis *f, tamis_keys keys, size_t n) {
    tamis_body old = f->image.body;
    tamis_block block;
    old.bytes = tamis__get(&f->allocator, old.size, &block);
    if (!old.bytes) return TAMIS_NOMEM;
    memcpy(old.bytes, f->image.body.bytes, (size_t)old.size);
    const tamis_status rc = add_own_some(f, keys, n);
    if (rc) (void)tamis__install(f, &old, &block); /* it fits where it was */
    tamis__block_free(&f->allocator, &block);
    return rc;
}

static tamis_status add_own(tamis *f, tamis_keys keys, size_t n) {
    tamis_status rc = may_add(f, f->kind->add, NULL, n);
    if (!rc) rc = has_no_empty(f, keys, n);
    if (rc) return rc;
    const bool may_stop = n > 1 && own_room(f, n) < n;
    return added(f, may_stop ? add_own_or_none(f, keys, n) : add_own_some(f, keys, n), n);
}

/* ---- One key, or many ----------------------------------------------------------------------- */

tamis_status tamis_add(tamis *f, const void *key, size_t len) {
    if (f->can & TAMIS_OWN_HASH) {
        const struct tamis_key one = {key, len};
        return add_own(f, (tamis_keys){.strings = &one}, 1);
    }
    return tamis_add_hash(f, tamis_hash(f, key, len));
}

static __attribute__((noinline)) tamis_status add_number(tamis *f, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis_add(f, bytes, sizeof bytes);
}

tamis_status tamis_add_u64(tamis *f, uint64_t key) {
    if (f->image.hasher.mode == TAMIS_HASH_XXH3)
        return tamis_add_hash(f, tamis_inline_xxh3(f->flip, key));
    if (f->image.hasher.mode == TAMIS_HASH_MIX8)
        return tamis_add_hash(f, tamis_inline_mix8(f->flip, key));
    return add_number(f, key);
}

/* Where an add can fail, all hashes go in one call: the kind takes all or none. */
static tamis_status add_at_once(tamis *f, tamis_keys keys, size_t n) {
    tamis_block block;
    uint64_t *room = tamis__get(&f->allocator, (uint64_t)n * sizeof *room, &block);
    if (!room) return TAMIS_NOMEM;
    const tamis_status rc = tamis_add_hashes(f, tamis__hashes_of(f, keys, 0, n, room), n);
    tamis__block_free(&f->allocator, &block);
    return rc;
}

/* Hashes to add at a time. Where adds wait for the third cache, the processor hashes the next short
 * list meanwhile: ns per key in lists of 128, 256, 384, 512 and 1024, blocked, 12.6 MB, Zen 5: 1.3,
 * 1.35, 1.7, 1.9, 1.8. From memory long ones are faster: 38 MB 3.0 by 256, 2.8 by 1024. */
enum { SHARED_LIST = 256 };

static size_t list_of(const tamis *f, size_t n) {
    const uint64_t size = f->image.body.size;
    const bool is_shared = TAMIS_HAS_X86 && TAMIS_ENTRY(f->kind, speed, unit) &&
                           size > tamis__near_bytes() && size <= tamis__cache(TAMIS_CACHE_3) / 2;
    return is_shared && n > SHARED_LIST ? SHARED_LIST : tamis__batch_of(f, n);
}

static tamis_status add_all(tamis *f, tamis_keys keys, size_t n) {
    if (f->kind->room && n > TAMIS_BATCH) return add_at_once(f, keys, n);
    uint64_t room[TAMIS_BATCH];
    tamis_status rc =
        may_add(f, adds_hashes(f), NULL, f->kind->room ? 0 : n); /* before the first */
    if (!rc && add_bulk(f, keys, n)) return added(f, TAMIS_OK, n);
    for (size_t i = 0, m; i < n && !rc; i += m) {
        m = f->kind->room ? n : list_of(f, n - i); /* the shape may depend on the cut */
        rc = tamis_add_hashes(f, tamis__hashes_of(f, keys, i, m, room), m);
    }
    return rc;
}

static tamis_status add_keys(tamis *f, tamis_keys keys, size_t n) {
    return f->can & TAMIS_OWN_HASH ? add_own(f, keys, n) : add_all(f, keys, n);
}

tamis_status tamis_add_many(tamis *f, const struct tamis_key *keys, size_t n) {
    return add_keys(f, (tamis_keys){.strings = keys}, n);
}

tamis_status tamis_add_u64s(tamis *f, const uint64_t *keys, size_t n) {
    return add_keys(f, (tamis_keys){.numbers = keys}, n);
}

tamis_status tamis_add_packed(tamis *f, const void *keys, size_t width, size_t n) {
    return add_keys(f, (tamis_keys){.packed = keys, .width = width}, n);
}

/* ---- One key many times --------------------------------------------------------------------- */

enum { MAX_TIMES = 1 << 16 };

static tamis_status check_times(const tamis *f, uint64_t times) {
    if (times <= MAX_TIMES) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "%s adds a key from 0 to %d times at once, not %llu",
                       f->kind->name, MAX_TIMES, (unsigned long long)times);
}

/* Adds `times` equal keys, or hashes, in one call, all or nothing. */
static tamis_status add_copies(tamis *f, const struct tamis_key *key, uint64_t hash,
                               uint64_t times) {
    tamis_block block;
    tamis_status rc = check_times(f, times);
    if (rc) return rc;
    void *room = tamis__get(&f->allocator, times * (key ? sizeof *key : sizeof hash), &block);
    if (!room) return TAMIS_NOMEM;
    if (key) {
        struct tamis_key *keys = room;
        for (uint64_t i = 0; i < times; i++) keys[i] = *key;
        rc = add_own(f, (tamis_keys){.strings = keys}, (size_t)times);
    } else {
        uint64_t *hashes = room;
        for (uint64_t i = 0; i < times; i++) hashes[i] = hash;
        rc = tamis_add_hashes(f, hashes, (size_t)times);
    }
    tamis__block_free(&f->allocator, &block);
    return rc;
}

static tamis_status may_add_times(const tamis *f, uint64_t times) {
    const tamis_status rc = tamis__writable(f);
    if (rc || f->image.body.items <= UINT64_MAX - times) return rc;
    return tamis__fail(TAMIS_FULL, "the count of items would pass 2^64");
}

/* Adds a batch of one by the kind's own function. */
static tamis_status add_times(tamis *f, tamis_batch one, uint64_t times) {
    const tamis_status rc = may_add_times(f, times);
    if (rc) return rc;
    f->kind->speed->add_times(&f->image.body, one, times);
    f->image.body.items += times;
    return TAMIS_OK;
}

static bool has_add_times(const tamis *f) {
    return TAMIS_ENTRY(f->kind, speed, add_times);
}

tamis_status tamis_add_times_hash(tamis *f, uint64_t hash, uint64_t times) {
    if (times < 2 || !adds_hashes(f)) return tamis_add_hashes(f, &hash, (size_t)times);
    if (!has_add_times(f)) return add_copies(f, NULL, hash, times);
    return add_times(f, tamis__hashes(&hash, 1), times);
}

tamis_status tamis_add_times(tamis *f, const void *key, size_t len, uint64_t times) {
    const struct tamis_key one = {key, len};
    if (!(f->can & TAMIS_OWN_HASH)) return tamis_add_times_hash(f, tamis_hash(f, key, len), times);
    if (times < 2) return tamis_add_many(f, &one, (size_t)times);
    if (!has_add_times(f)) return add_copies(f, &one, 0, times);
    return add_times(f, tamis__keys(&one, 1), times);
}

static tamis_status add_unless(tamis *f, uint64_t hash, bool was_there) {
    return was_there && !(f->kind->traits & TAMIS_AGES) ? may_add(f, adds_hashes(f), NULL, 0)
                                                        : tamis_add_hash(f, hash);
}

TAMIS_ONE_KEY tamis_status tamis_add_new_hash(tamis *f, uint64_t hash, bool *is_new) {
    if (!tamis__knows_hashes(f))
        return tamis__cannot(f, "tell whether a key is new: it knows sets");
    if (add_in_one_pass(f, hash, is_new)) return added(f, TAMIS_OK, *is_new);
    const bool was_there = tamis_has_hash(f, hash);
    const tamis_status rc = add_unless(f, hash, was_there);
    if (!rc) *is_new = !was_there;
    return rc;
}

TAMIS_ONE_KEY tamis_status tamis_add_new(tamis *f, const void *key, size_t len, bool *is_new) {
    if (!(f->can & TAMIS_OWN_HASH)) return tamis_add_new_hash(f, tamis_hash(f, key, len), is_new);
    const bool was_there = tamis_has(f, key, len);
    const tamis_status rc = was_there ? tamis__writable(f) : tamis_add(f, key, len);
    if (!rc) *is_new = !was_there;
    return rc;
}

/* ---- Adding from many threads --------------------------------------------------------------- */

tamis_status tamis_add_hashes_shared(tamis *f, const uint64_t *hashes, size_t n) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_SHARE, "add from many threads at once");
    if (rc) return rc;
    f->kind->speed->add_shared(&f->image.body, tamis__hashes(hashes, n));
    atomic_fetch_add_explicit((_Atomic uint64_t *)&f->image.body.items, n, memory_order_relaxed);
    return TAMIS_OK;
}

tamis_status tamis_add_shared(tamis *f, const void *key, size_t len) {
    const uint64_t hash = tamis_hash(f, key, len);
    return tamis_add_hashes_shared(f, &hash, 1);
}

/* ---- Removing, ageing, resizing ------------------------------------------------------------- */

static tamis_status removed(tamis *f, tamis_status rc) {
    if (!rc && f->image.body.items) f->image.body.items--;
    return rc;
}

tamis_status tamis_remove_hash(tamis *f, uint64_t hash) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_REMOVE, "remove keys");
    if (rc) return rc;
    if (f->can & TAMIS_OWN_HASH) return tamis__cannot(f, "remove by hash");
    return removed(f, f->kind->remove(&f->image.body, tamis__hashes(&hash, 1)));
}

tamis_status tamis_remove(tamis *f, const void *key, size_t len) {
    const struct tamis_key one = {key, len};
    if (!(f->can & TAMIS_OWN_HASH)) return tamis_remove_hash(f, tamis_hash(f, key, len));
    const tamis_status rc = tamis__may(f, TAMIS_CAN_REMOVE, "remove keys");
    return rc ? rc : removed(f, f->kind->remove(&f->image.body, tamis__keys(&one, 1)));
}

tamis_status tamis_remove_u64(tamis *f, uint64_t key) {
    uint8_t bytes[8];
    tamis__put64(bytes, key);
    return tamis_remove(f, bytes, sizeof bytes);
}

tamis_status tamis_clear(tamis *f) {
    tamis_body *body = &f->image.body;
    const tamis_status rc = tamis__may(f, TAMIS_CAN_ADD, "be emptied");
    if (rc) return rc;
    if (f->kind->build || TAMIS_ENTRY(f->kind, reshape, grow))
        return tamis__cannot(f, "be emptied");
    memset(body->bytes, 0, (size_t)body->size);
    body->items = 0;
    f->image.has_stray_bits = false;
    f->leaving = (tamis_leaving){0, 0};
    if (f->kind->start) f->kind->start(body);
    return TAMIS_OK;
}

tamis_status tamis_tick(tamis *f) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_TICK, "age by a step of time");
    if (!rc) f->kind->ageing->tick(&f->image.body);
    return rc;
}

tamis_status tamis_tick_part(tamis *f, uint64_t bytes, bool *is_done) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_TICK, "age by a step of time");
    *is_done = true;
    if (rc || !f->kind->ageing->tick_part) return rc ? rc : tamis_tick(f);
    *is_done = f->kind->ageing->tick_part(&f->image.body, bytes ? bytes : 1, &f->leaving);
    return TAMIS_OK;
}

tamis_status tamis_resize(tamis *f, uint64_t capacity) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_RESIZE, "be resized");
    if (!rc && capacity > TAMIS_MAX_CAPACITY)
        rc = tamis__fail(TAMIS_INVALID, "capacity=%llu is over 2^56", (unsigned long long)capacity);
    if (rc) return rc;
    uint64_t word[TAMIS_WORDS];
    memcpy(word, f->image.body.word, sizeof word);
    rc = f->kind->reshape->resize(&f->image.body, capacity, word);
    if (!rc && memcmp(word, f->image.body.word, sizeof word) != 0) rc = tamis__reshape(f, word);
    if (!rc) f->image.capacity = capacity;
    return rc;
}
