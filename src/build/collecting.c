/* SPDX-License-Identifier: MIT */
/* A long list of keys is hashed and collected by several threads, each into records of its own,
 * which then join the builder's. */
#include <stdatomic.h>

#include "build/builder.h"
#include "core/workers.h"

/* Keys that a thread takes at a time, and of a list that is worth starting threads for. */
enum { PIECE = 1 << 14, MIN_KEYS = 1 << 18, MAX_THREADS = 64 };

typedef struct collecting {
    tamis_workers workers;
    const tamis_builder *b;
    tamis_keys keys;
    size_t n;
    atomic_size_t next;
    atomic_uint seats;
    tamis_records *own[MAX_THREADS];
} collecting;

static tamis_status collect_piece(const collecting *c, tamis_records *own, size_t at) {
    uint64_t room[TAMIS_BATCH];
    const size_t end = c->n - at < PIECE ? c->n : at + PIECE;
    tamis_status rc = TAMIS_OK;
    for (size_t m; at < end && !rc; at += m) {
        m = end - at < TAMIS_BATCH ? end - at : TAMIS_BATCH;
        rc = tamis__records_put(own, tamis__hashes_of(c->b->filter, c->keys, at, m, room), m, 0);
    }
    return rc;
}

static void collect(void *ctx) {
    collecting *c = ctx;
    tamis_records **own = &c->own[atomic_fetch_add(&c->seats, 1)];
    tamis_status rc = tamis__records_open_apart(own, c->b->records);
    for (size_t at; !rc && (at = atomic_fetch_add(&c->next, PIECE)) < c->n;)
        rc = collect_piece(c, *own, at);
    if (!rc) return;
    atomic_store(&c->next, c->n); /* the others need not go on */
    pthread_mutex_lock(&c->workers.lock);
    tamis__workers_fail(&c->workers, rc);
    pthread_mutex_unlock(&c->workers.lock);
}

static unsigned threads_for(const tamis_builder *b) {
    return b->options.threads < MAX_THREADS ? b->options.threads : MAX_THREADS;
}

bool tamis__collects(const tamis_builder *b, size_t n) {
    return n >= MIN_KEYS && threads_for(b) > 1 && tamis__records_can_join(b->records);
}

/* What the threads have is put together before the builder gets any of it. */
tamis_status tamis__collect(tamis_builder *b, tamis_keys keys, size_t n) {
    collecting c = {.b = b, .keys = keys, .n = n};
    tamis_status rc = tamis__workers_run(&c.workers, threads_for(b), collect, &c);
    for (unsigned t = 1; t < c.seats && !rc; t++) rc = tamis__records_join(c.own[0], c.own[t]);
    if (!rc) rc = tamis__records_join(b->records, c.own[0]);
    for (unsigned t = 0; t < c.seats; t++) tamis__records_free(c.own[t]);
    if (!rc) b->adds += n;
    return rc;
}
