/* Laws about threads. Run under the thread sanitizer too: make SAN=thread laws. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/help/keys.h"
#include "tests/laws/laws.h"

enum { THREADS = 4 };

/* A thousand in a checked build: the thread sanitizer asks what is ordered before what, and needs no
 * luck to see two that are not. */
static uint64_t per_thread(void) {
    return effort(20000);
}

typedef struct worker {
    tamis *filter;
    const tamis *reader;
    uint64_t first, missing;
} worker;

/* Adds its own keys, by one and by many, and asks for each as soon as its add has returned, while
 * the others go on adding. */
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
        /* Half of the keys are everybody's: they meet in the same words. */
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
    struct tamis_info info;
    tamis_info(shared, &info, sizeof info);
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
    {"many_threads_ask", 0, many_threads_ask, TAMIS_AGES | TAMIS_IS_SKETCH},
    {NULL, 0, NULL, 0},
};
