/* SPDX-License-Identifier: MIT */
/* Memory of large filters, given back by a thread of its own: it must not wait for a job. */
#include "engines/redis/freeing.h"

#include <pthread.h>

#include "engines/redis/value.h"

typedef struct corpse {
    tamis *filter;
    struct corpse *next;
} corpse;

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t comes;
    corpse *first;
    pthread_t server; /* the thread that may not wait */
} bin = {.mutex = PTHREAD_MUTEX_INITIALIZER, .comes = PTHREAD_COND_INITIALIZER};

static void *empty_bin(void *with) {
    (void)with;
    for (;;) {
        pthread_mutex_lock(&bin.mutex);
        while (!bin.first) pthread_cond_wait(&bin.comes, &bin.mutex);
        corpse *c = bin.first;
        bin.first = c->next;
        pthread_mutex_unlock(&bin.mutex);
        filter_release(c->filter);
        atomic_fetch_sub(&counters.frees_waiting, 1);
        redis.Free(c);
    }
    return NULL;
}

/* A server that evicts keys looks how much that freed, and whoever deletes to make room has it at
 * once: beyond half of maxmemory nobody is kept waiting for memory. Without a limit the ratio is
 * 0. */
static bool is_memory_short(void) {
    return !redis.GetUsedMemoryRatio || redis.GetUsedMemoryRatio() > 0.5F;
}

bool is_server_thread(void) {
    return pthread_equal(pthread_self(), bin.server);
}

void free_later(tamis *filter) {
    const bool is_large = filter && tamis_image_size(filter) >= LARGE_BYTES;
    const bool is_here = is_large && is_server_thread();
    corpse *c = is_here && !is_memory_short() ? try_alloc(sizeof *c) : NULL;
    if (!c) {
        filter_release(filter);
        return;
    }
    pthread_mutex_lock(&bin.mutex);
    atomic_fetch_add(&counters.frees_waiting, 1);
    *c = (corpse){filter, bin.first};
    bin.first = c;
    pthread_cond_signal(&bin.comes);
    pthread_mutex_unlock(&bin.mutex);
}

bool freeing_start(thread_starter *start) {
    bin.server = pthread_self();
    return start(empty_bin, NULL);
}
