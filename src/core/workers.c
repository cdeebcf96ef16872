/* SPDX-License-Identifier: MIT */
/* Threads that live within one call. */
#include "core/workers.h"

#include <signal.h>
#include <stdio.h>

#include "base/status.h"

enum { MAX_THREADS = 256 };

typedef struct job {
    void (*work)(void *);
    void *ctx;
} job;

static void *start(void *arg) {
    const job *j = arg;
    j->work(j->ctx);
    return NULL;
}

/* A thread that cannot be started is not a failure: the others do its work. Signals are for the
 * caller's threads: ours block them. */
static unsigned start_threads(pthread_t *thread, unsigned wanted, job *j) {
    sigset_t all, before;
    unsigned started = 0;
    sigfillset(&all);
    if (wanted == 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
    while (started < wanted && pthread_create(&thread[started], NULL, start, j) == 0) started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

tamis_status tamis__workers_run(tamis_workers *workers, unsigned threads, void (*work)(void *),
                                void *ctx) {
    pthread_t thread[MAX_THREADS];
    job j = {work, ctx};
    workers->rc = TAMIS_OK;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->turn, NULL);
    const unsigned others = threads ? threads - 1 : 0;
    unsigned started = start_threads(thread, others < MAX_THREADS ? others : MAX_THREADS, &j);
    work(ctx);
    while (started) pthread_join(thread[--started], NULL);
    pthread_cond_destroy(&workers->turn);
    pthread_mutex_destroy(&workers->lock);
    return workers->rc ? tamis__fail(workers->rc, "%s", workers->why) : TAMIS_OK;
}

void tamis__workers_fail(tamis_workers *workers, tamis_status rc) {
    if (workers->rc) return;
    workers->rc = rc;
    snprintf(workers->why, sizeof workers->why, "%s", tamis_why());
}
