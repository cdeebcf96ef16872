/* SPDX-License-Identifier: MIT */
/* For core and build: a few threads that share work. */
#ifndef TAMIS_CORE_WORKERS_H
#define TAMIS_CORE_WORKERS_H

#include <pthread.h>

#include "tamis.h"

/* Shared by the threads: a lock for everything that only one may touch, and the first failure with
 * its error message, which is otherwise known only to its thread. */
typedef struct tamis_workers {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    tamis_status rc;
    char why[512];
} tamis_workers;

/* Runs `work` on the calling thread and up to `threads` - 1 others; when all have returned, returns
 * the first failure, with its error message on the calling thread. */
tamis_status tamis__workers_run(tamis_workers *, unsigned threads, void (*work)(void *), void *ctx);

/* Keeps this thread's failure, unless another came first. Call with the lock held. */
void tamis__workers_fail(tamis_workers *, tamis_status);

#endif
