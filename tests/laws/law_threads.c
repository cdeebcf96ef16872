/* SPDX-License-Identifier: MIT */
/* Laws about threads. Run under the thread sanitizer too: make SAN=thread laws. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "tamis_engine.h"
#include "tamis_inline.h"
#include "tests/laws/laws.h"
#include "tests/support/keys.h"

enum { THREADS = 4 };

/* A thousand in a checked build: the thread sanitizer tracks ordering, and needs no luck to see a
 * race. */
static uint64_t per_thread(void) {
    return effort(20000);
}

typedef struct worker {
    tamis *filter;
    const tamis *reader;
    uint64_t first, missing;
    bool has_values;
    const char *missed; /* the call that missed */
} worker;

/* Adds its own keys, by one and by many, and queries each as soon as its add has returned, while
 * the others keep adding. */
static void *add_and_ask(void *arg) {
    worker *w = arg;
    uint64_t hashes[64];
    const uint64_t n = per_thread();
    for (uint64_t i = 0; i < n; i += 64) {
        for (uint64_t j = 0; j < 64; j++) hashes[j] = test_number(3, w->first + i + j);
        if (i % 128)
            tamis_add_hashes_shared(w->filter, hashes, 64);
        else
            for (uint64_t j = 0; j < 64; j++) tamis_add_hashes_shared(w->filter, &hashes[j], 1);
        for (uint64_t j = 0; j < 64; j++) w->missing += !tamis_has_hash(w->filter, hashes[j]);
        /* Half of the keys are shared: they meet in the same words. */
        for (uint64_t j = 0; j < 64; j++) hashes[j] = test_number(4, i + j);
        tamis_add_hashes_shared(w->filter, hashes, 64);
    }
    return NULL;
}

static void run(worker *workers, void *(*work)(void *)) {
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, work, &workers[t])) abort();
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
}

static const char *many_threads_add(const subject *s) {
    tamis *shared = make(s, THREADS * per_thread(), 0.01, NULL), *serial;
    if (tamis_copy(&serial, shared)) abort();
    worker workers[THREADS];
    const uint64_t rounds = (per_thread() + 63) / 64 * 64;
    for (int t = 0; t < THREADS; t++)
        workers[t] = (worker){.filter = shared, .first = (uint64_t)t * TEST_STRANGERS};
    run(workers, add_and_ask);

    for (int t = 0; t < THREADS; t++)
        for (uint64_t i = 0; i < rounds; i++) {
            const uint64_t own = test_number(3, workers[t].first + i), common = test_number(4, i);
            tamis_add_hash(serial, own);
            tamis_add_hash(serial, common);
        }
    const char *what = NULL;
    uint64_t missing = 0;
    for (int t = 0; t < THREADS; t++) missing += workers[t].missing;
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(shared, &info);
    if (missing)
        what = wrong("%llu keys are missing", (unsigned long long)missing);
    else if (!same_payload(shared, serial))
        what = "threads give other bytes than one";
    else if (info.items != 2 * THREADS * rounds)
        what = "adds are not all counted";
    tamis_free(shared);
    tamis_free(serial);
    return what;
}

/* ---- Every kind of query during adds --------------------------------------------------------- */

/* Keys that were added before the others started, some at a time, so that kernels have lanes to
 * fill. Whatever words others set bits in, every kind of query must find all of them. */
enum { KNOWN = 256, GROUP = 16 };
typedef struct group {
    uint64_t number[GROUP], hash[GROUP];
    uint8_t packed[GROUP][8]; /* the numbers as keys */
    struct tamis_key key[GROUP];
} group;

static void get_group(const tamis *f, uint64_t from, group *g) {
    for (uint64_t i = 0; i < GROUP; i++) {
        g->number[i] = test_number(5, from + i);
        tamis__put64(g->packed[i], g->number[i]);
        g->key[i] = (struct tamis_key){g->packed[i], sizeof g->packed[i]};
        g->hash[i] = tamis_hash(f, g->packed[i], sizeof g->packed[i]);
    }
}

static bool all(const uint8_t hit[GROUP]) {
    return memchr(hit, 0, GROUP) == NULL;
}

static const char *ask_by_one(const tamis *f, const group *g) {
    for (size_t i = 0; i < GROUP; i++) {
        if (!tamis_has(f, g->key[i].bytes, g->key[i].len)) return "tamis_has";
        if (!tamis_has_u64(f, g->number[i])) return "tamis_has_u64";
        if (!tamis_has_hash(f, g->hash[i])) return "tamis_has_hash";
        if (!tamis_count(f, g->key[i].bytes, g->key[i].len)) return "tamis_count";
        if (!tamis_count_u64(f, g->number[i])) return "tamis_count_u64";
    }
    return NULL;
}

static const char *ask_by_many(const tamis *f, const group *g) {
    uint8_t hit[GROUP];
    uint64_t counts[GROUP];
    tamis_has_many(f, g->key, GROUP, hit);
    if (!all(hit)) return "tamis_has_many";
    tamis_has_u64s(f, g->number, GROUP, hit);
    if (!all(hit)) return "tamis_has_u64s";
    tamis_has_packed(f, g->packed, sizeof *g->packed, GROUP, hit);
    if (!all(hit)) return "tamis_has_packed";
    tamis_has_hashes(f, g->hash, GROUP, hit);
    if (!all(hit)) return "tamis_has_hashes";
    tamis_count_hashes(f, g->hash, GROUP, counts);
    for (size_t i = 0; i < GROUP; i++)
        if (!counts[i]) return "tamis_count_hashes";
    return NULL;
}

static const char *ask_values(const tamis *f, const group *g) {
    uint64_t values[GROUP];
    uint8_t hit[GROUP];
    for (size_t i = 0; i < GROUP; i++) {
        if (!tamis_get_u64(f, g->number[i], values)) return "tamis_get_u64";
        if (!tamis_get_hash(f, g->hash[i], values)) return "tamis_get_hash";
    }
    tamis_get_hashes(f, g->hash, GROUP, values, hit);
    return all(hit) ? NULL : "tamis_get_hashes";
}

static const char *ask_inline(const tamis *f, const group *g) {
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    if (tamis_inline_view(f, &fast)) return NULL;
    for (size_t i = 0; i < GROUP; i++) {
        if (!tamis_inline_has_u64(&fast, g->number[i])) return "tamis_inline_has_u64";
        if (!tamis_inline_has_hash(&fast, g->hash[i])) return "tamis_inline_has_hash";
    }
    return NULL;
}

static void *ask_every_way(void *arg) {
    worker *w = arg;
    group g;
    for (uint64_t i = 0; i < per_thread() && !w->missed; i += GROUP) {
        get_group(w->reader, i % KNOWN, &g);
        if (!w->missed) w->missed = ask_by_one(w->reader, &g);
        if (!w->missed) w->missed = ask_by_many(w->reader, &g);
        if (!w->missed && w->has_values) w->missed = ask_values(w->reader, &g);
        if (!w->missed) w->missed = ask_inline(w->reader, &g);
    }
    return NULL;
}

/* By key and by hash, one and many. */
static void *only_add(void *arg) {
    worker *w = arg;
    group g;
    for (uint64_t i = 0; i < per_thread(); i += GROUP) {
        get_group(w->filter, KNOWN + w->first + i, &g);
        if (tamis_add_hashes_shared(w->filter, g.hash, GROUP / 2))
            w->missed = "tamis_add_hashes_shared";
        for (size_t j = GROUP / 2; j < GROUP; j++)
            if (tamis_add_shared(w->filter, g.key[j].bytes, g.key[j].len))
                w->missed = "tamis_add_shared";
    }
    return NULL;
}

static void *add_or_ask(void *arg) {
    return ((worker *)arg)->filter ? only_add(arg) : ask_every_way(arg);
}

/* Small, where kernels keep all in the cache, and large, where they prefetch. */
static const char *many_threads_meet(const subject *s) {
    static const uint64_t capacities[] = {1000, 3000000};
    const char *missed = NULL;
    for (size_t c = 0; c < 2 && !missed; c++) {
        tamis *f = make(s, capacities[c], 0.01, NULL);
        worker workers[THREADS];
        group g;
        for (uint64_t i = 0; i < KNOWN; i += GROUP) {
            get_group(f, i, &g);
            if (tamis_add_hashes(f, g.hash, GROUP)) abort();
        }
        for (int t = 0; t < THREADS; t++)
            workers[t] = (worker){.filter = t % 2 ? f : NULL,
                                  .reader = f,
                                  .first = (uint64_t)t * TEST_STRANGERS,
                                  .has_values = s->can & TAMIS_CAN_GET};
        run(workers, add_or_ask);
        for (int t = 0; t < THREADS && !missed; t++) missed = workers[t].missed;
        tamis_free(f);
    }
    return missed ? wrong("%s failed during shared adds", missed) : NULL;
}

/* ---- Only readers ---------------------------------------------------------------------------- */

static void *only_ask(void *arg) {
    worker *w = arg;
    const uint64_t n = per_thread();
    w->missing = n - count_keys(w->reader, 0, n);
    return NULL;
}

/* Any number of readers, on a filter and on a view of it. */
static const char *many_threads_ask(const subject *s) {
    tamis *f = filled(s, per_thread(), 0.01, NULL, 0, per_thread()), *view;
    size_t size;
    uint8_t *image = test_image(f, &size);
    if (tamis_view(&view, image, size)) abort();
    worker workers[THREADS];
    for (int t = 0; t < THREADS; t++) workers[t] = (worker){.reader = t % 2 ? f : view};
    run(workers, only_ask);
    uint64_t missing = 0;
    for (int t = 0; t < THREADS; t++) missing += workers[t].missing;
    tamis_free(view);
    tamis_free(f);
    free(image);
    return missing ? "a reader missed a key" : NULL;
}

const law thread_laws[] = {
    {"many_threads_add", TAMIS_CAN_SHARE, many_threads_add, 0},
    {"many_threads_meet", TAMIS_CAN_SHARE, many_threads_meet, 0},
    {"many_threads_ask", 0, many_threads_ask, TAMIS_AGES | TAMIS_IS_SKETCH},
    {NULL, 0, NULL, 0},
};
