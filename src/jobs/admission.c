/* SPDX-License-Identifier: MIT */
/* Admission: what is requested a second time.
 *
 *        ask ──▶ young ──▶ known? ──no──▶ old ──▶ known? ──no──▶ new
 *                  ▲                               │              │
 *                  └────────── add ────────────────┴──────────────┘
 *
 *     young is full:  the old one is emptied, and the two change places
 *
 * Testing a key and remembering it must be one step, or two requests for it would both count as the
 * first. One lock for all would do, but requests for different keys need not wait for each other.
 * So there are many locks, chosen by the hash; filters that take adds from many threads need no
 * more. Only changing generations holds all of them, once in `capacity` requests. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/status.h"
#include "base/sums.h"
#include "bits/bits.h"
#include "core/memory.h"
#include "hash/hash.h"
#include "tamis_engine.h"
#include "tamis_jobs.h"

enum { LOCKS = 64 };

/* A cache line each, so that a lock that is held does not disturb its neighbours. */
typedef union lock {
    pthread_mutex_t mutex;
    uint8_t line[64];
} lock;

struct tamis_admission {
    struct tamis_allocator allocator;
    tamis_block self;
    tamis *generation[2];
    unsigned young; /* index of the young one */
    uint64_t capacity;
    unsigned locks;         /* in use, a power of two */
    _Atomic uint64_t taken; /* adds to the young one; may pass capacity for a moment */
    _Atomic uint64_t asked, recognised, turns;
    lock lock[LOCKS];
};

/* ---- Making --------------------------------------------------------------------------------- */

static tamis_status check_kind(const struct tamis_info *info) {
    const unsigned never = TAMIS_CAN_GROW | TAMIS_AGES | TAMIS_MAY_FORGET | TAMIS_OWN_HASH |
                           TAMIS_IS_SKETCH | TAMIS_IS_BUILT;
    if (info->abilities & never || !(info->abilities & TAMIS_CAN_ADD))
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "%s cannot be a generation: it grows, ages, forgets, is built once, or "
                           "does not take hashes of keys",
                           info->kind);
    if (info->capacity == 0)
        return tamis__fail(TAMIS_INVALID, "the capacity of a generation is at least 1, not 0");
    return TAMIS_OK;
}

static void destroy_locks(tamis_admission *a, unsigned n) {
    while (n-- > 0) pthread_mutex_destroy(&a->lock[n].mutex);
}

static tamis_status make_locks(tamis_admission *a, unsigned n) {
    for (a->locks = 0; a->locks < n; a->locks++)
        if (pthread_mutex_init(&a->lock[a->locks].mutex, NULL)) {
            destroy_locks(a, a->locks);
            return tamis__fail(TAMIS_NOMEM, "cannot create a lock");
        }
    return TAMIS_OK;
}

/* Takes ownership of both filters if it succeeds. */
static tamis_status assemble(tamis_admission **out, tamis *young, tamis *old,
                             const struct tamis_allocator *allocator) {
    tamis_block block;
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(young, &info);
    tamis_status rc = check_kind(&info);
    if (rc) return rc;
    tamis_admission *a = tamis__get(allocator, sizeof *a, &block);
    if (!a) return TAMIS_NOMEM;
    a->allocator = *allocator;
    a->self = block;
    a->capacity = info.capacity;
    atomic_init(&a->taken, info.items);
    rc = make_locks(a, info.abilities & TAMIS_CAN_SHARE ? LOCKS : 1);
    if (rc) {
        tamis__block_free(allocator, &block);
        return rc;
    }
    a->generation[0] = young;
    a->generation[1] = old;
    *out = a;
    return TAMIS_OK;
}

tamis_status tamis_admission_create(tamis_admission **admission, const char *spec,
                                    const struct tamis_options *options) {
    struct tamis_options o;
    tamis *young = NULL, *old = NULL;
    *admission = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&o);
    rc = tamis_create_with(&young, spec, options);
    if (!rc) rc = tamis_copy(&old, young); /* the same hash, also where it is random */
    if (!rc) rc = assemble(admission, young, old, &allocator);
    if (rc) {
        tamis_free(young);
        tamis_free(old);
    }
    return rc;
}

void tamis_admission_free(tamis_admission *a) {
    if (!a) return;
    destroy_locks(a, a->locks);
    tamis_free(a->generation[0]);
    tamis_free(a->generation[1]);
    const struct tamis_allocator allocator = a->allocator;
    tamis_block self = a->self;
    tamis__block_free(&allocator, &self);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static void hold_all(tamis_admission *a) {
    for (unsigned i = 0; i < a->locks; i++) pthread_mutex_lock(&a->lock[i].mutex);
}

static void let_go(tamis_admission *a) {
    for (unsigned i = a->locks; i-- > 0;) pthread_mutex_unlock(&a->lock[i].mutex);
}

static bool add_young(tamis_admission *a, uint64_t hash) {
    tamis *young = a->generation[a->young];
    if (atomic_fetch_add_explicit(&a->taken, 1, memory_order_relaxed) >= a->capacity) return false;
    return (a->locks > 1 ? tamis_add_hashes_shared(young, &hash, 1)
                         : tamis_add_hash(young, hash)) == TAMIS_OK;
}

/* False when the generations have to change first; the key's lock is held. A key that was known
 * stays known to the caller even if a change in between makes the filters forget it. */
static bool ask_once(tamis_admission *a, uint64_t hash, bool *is_known) {
    const tamis *young = a->generation[a->young], *old = a->generation[!a->young];
    if (tamis_has_hash(young, hash)) return *is_known = true;
    *is_known |= tamis_has_hash(old, hash);
    return add_young(a, hash);
}

/* Generations change for the key that finds no room, not after the one that took the last place: so
 * all `capacity` keys since the last change are still known when it comes. */
static void turn(tamis_admission *a) {
    tamis_clear(a->generation[!a->young]); /* supported: see check_kind */
    a->young = !a->young;
    atomic_store_explicit(&a->taken, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->turns, 1, memory_order_relaxed);
}

/* With all locks, after a try with one lock found no room. Another thread may have been faster. */
static void ask_and_turn(tamis_admission *a, uint64_t hash, bool *is_known) {
    hold_all(a);
    if (!ask_once(a, hash, is_known)) {
        turn(a);
        ask_once(a, hash, is_known); /* an empty generation has room */
    }
    let_go(a);
}

bool tamis_admission_ask_hash(tamis_admission *a, uint64_t hash) {
    /* Kinds use top and low bits for positions; any bits will do for locks. */
    pthread_mutex_t *mutex = &a->lock[(hash >> 20) & (a->locks - 1)].mutex;
    bool is_known = false;
    pthread_mutex_lock(mutex);
    const bool is_done = ask_once(a, hash, &is_known);
    pthread_mutex_unlock(mutex);
    if (!is_done) ask_and_turn(a, hash, &is_known);
    atomic_fetch_add_explicit(&a->asked, 1, memory_order_relaxed);
    if (is_known) atomic_fetch_add_explicit(&a->recognised, 1, memory_order_relaxed);
    return is_known;
}

const tamis *tamis_admission_hasher(const tamis_admission *a) {
    return a->generation[0];
}

bool tamis_admission_ask(tamis_admission *a, const void *key, size_t len) {
    return tamis_admission_ask_hash(a, tamis_hash(tamis_admission_hasher(a), key, len));
}

void tamis_admission_get_info(tamis_admission *a, struct tamis_admission_info *info) {
    struct tamis_info young = TAMIS_INFO_INIT, old = TAMIS_INFO_INIT;
    hold_all(a);
    tamis_measure(a->generation[a->young], &young);
    tamis_measure(a->generation[!a->young], &old);
    const struct tamis_admission_info full = {
        .capacity = a->capacity,
        .asked = atomic_load(&a->asked),
        .recognised = atomic_load(&a->recognised),
        .turns = atomic_load(&a->turns),
        .young = young.items,
        .old = old.items,
        .payload_bytes = young.payload_bytes + old.payload_bytes,
        .fpr_now = young.fpr_now + (1 - young.fpr_now) * old.fpr_now,
        .kind = young.kind,
    };
    let_go(a);
    tamis__fill_struct(info, &full, sizeof full, "admission_info");
}

/* ---- Bytes ----------------------------------------------------------------------------------
 *
 *      0  d6 't' 'a' 'm' 'i' 's' '2' 0a
 *      8  bytes of the young image
 *     16  bytes of the old one
 *     24  XXH3 of the bytes before it
 *     32  the young image, then the old one
 *
 * All else is in the images: capacity, the number of keys in each, and checksums. */
enum { AT_YOUNG = 8, AT_OLD = 16, AT_SUM = 24, HEADER = 32 };
static const uint8_t magic[8] = {0xd6, 't', 'a', 'm', 'i', 's', '2', '\n'};

static uint64_t sum_of(const uint8_t *header) {
    const tamis_hasher plain = {.mode = TAMIS_HASH_XXH3};
    return tamis__hash(&plain, header, AT_SUM);
}

/* Generations neither grow nor get notes. */
uint64_t tamis_admission_size(tamis_admission *a) {
    return HEADER + tamis_image_size(a->generation[0]) + tamis_image_size(a->generation[1]);
}

tamis_status tamis_admission_bytes(tamis_admission *a, void *bytes, size_t size) {
    uint8_t *out = bytes;
    if (size != tamis_admission_size(a))
        return tamis__fail(TAMIS_INVALID, "an admission's memory has %llu bytes, not %llu",
                           (unsigned long long)tamis_admission_size(a), (unsigned long long)size);
    hold_all(a);
    const tamis *young = a->generation[a->young], *old = a->generation[!a->young];
    const uint64_t first = tamis_image_size(young), second = tamis_image_size(old);
    memcpy(out, magic, sizeof magic);
    tamis__put64(out + AT_YOUNG, first);
    tamis__put64(out + AT_OLD, second);
    tamis__put64(out + AT_SUM, sum_of(out));
    tamis_status rc = tamis_serialize(young, out + HEADER, (size_t)first);
    if (!rc) rc = tamis_serialize(old, out + HEADER + first, (size_t)second);
    let_go(a);
    return rc;
}

static tamis_status check_header(const uint8_t *bytes, size_t size) {
    if (size < HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return tamis__fail(TAMIS_CORRUPT, "these are not the bytes of an admission's memory");
    if (!tamis__sums_match(tamis__get64(bytes + AT_SUM), sum_of(bytes)))
        return tamis__fail(TAMIS_CORRUPT, "the header of %d bytes is damaged", HEADER);
    const uint64_t first = tamis__get64(bytes + AT_YOUNG), second = tamis__get64(bytes + AT_OLD);
    const uint64_t room = size - HEADER;
    if (first > room || second != room - first)
        return tamis__fail(
            TAMIS_CORRUPT, "two images of %llu and %llu bytes expected, %llu bytes found",
            (unsigned long long)first, (unsigned long long)second, (unsigned long long)room);
    return TAMIS_OK;
}

/* Generations replace each other, so they must have the same plan. */
static tamis_status check_plans(const tamis *young, const tamis *old) {
    struct tamis_info a = TAMIS_INFO_INIT, b = TAMIS_INFO_INIT;
    tamis_measure(young, &a);
    tamis_measure(old, &b);
    if (a.capacity == b.capacity && a.fpr_asked == b.fpr_asked) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "the generations are planned for %llu and %llu keys",
                       (unsigned long long)a.capacity, (unsigned long long)b.capacity);
}

tamis_status tamis_admission_load(tamis_admission **admission, const void *bytes, size_t size,
                                  const struct tamis_options *options) {
    const uint8_t *in = bytes;
    struct tamis_options o;
    tamis *young = NULL, *old = NULL;
    *admission = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = check_header(in, size);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&o);
    const size_t first = (size_t)tamis__get64(in + AT_YOUNG);
    rc = tamis_load_with(&young, in + HEADER, first, options);
    if (!rc) rc = tamis_load_with(&old, in + HEADER + first, size - HEADER - first, options);
    if (!rc && tamis_mismatch(young, old)) rc = TAMIS_CORRUPT;
    if (!rc) rc = check_plans(young, old);
    if (!rc) rc = assemble(admission, young, old, &allocator);
    if (rc) {
        tamis_free(young);
        tamis_free(old);
    }
    return rc;
}
