/* SPDX-License-Identifier: MIT */
/* Core may include this: a few threads that work on one thing. */
#ifndef TAMIS_CORE_WORKERS_H
#define TAMIS_CORE_WORKERS_H

#include <pthread.h>

#include "tamis.h"

/* What the threads share: a lock for everything that only one may touch, and the first failure,
 * with its sentence, which otherwise would stay with the thread that met it. */
typedef struct tamis_workers {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    tamis_status rc;
    char why[512];
} tamis_workers;

/* Runs `work` on the calling thread and on up to `threads` - 1 others; when all have returned, the
 * first failure, with its sentence on the calling thread. */
tamis_status tamis__workers_run(tamis_workers *, unsigned threads, void (*work)(void *), void *ctx);

/* Keeps the failure of this thread, unless there was one before. With the lock held. */
void tamis__workers_fail(tamis_workers *, tamis_status);

#endif
