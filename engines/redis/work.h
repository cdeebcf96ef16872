/* SPDX-License-Identifier: MIT */
/* The module's files may include this: what takes long, off the main thread.
 *
 *     command ──▶ job ──▶ worker: make()  reads filters that hold still, makes a new one
 *                             │
 *                             ▼ under the server's lock
 *                         end()  puts it in place, replies, replicates
 *
 * A filter that a job reads is not changed until the job has ended: whoever wants to waits, as a
 * blocked client, and is run when the job has ended, in the order in which they came. Questions go
 * on meanwhile. Where a command may not wait (MULTI, scripts, what comes from a file), and for
 * small filters, everything happens at once, by the same two functions. What comes from the primary
 * waits as a client does: the link is silent meanwhile, and clients of the replica are served.
 *
 * A job with steps changes a filter in place, a piece at a time, each under the server's
 * lock and short; others are served between them:
 *
 *     command ──▶ job ──▶ worker: lock, step(), unlock, lock, step(), ... end() */
#ifndef TAMIS_REDIS_WORK_H
#define TAMIS_REDIS_WORK_H

#include "engines/redis/job.h"

/* More items may take longer than others should wait: more than a client that is in a hurry packs
 * into one command, and few enough for a millisecond or two. */
enum { VERY_MANY = 16384 };

/* Does it now, or on the worker when `bytes` are many. The key of its request is closed before, and
 * the job is gone afterwards. */
int job_do(job *, uint64_t bytes);

/* Gives it to the worker without a client: there is no reply. Of the arguments only the key goes
 * along. */
void job_leave(job *);

/* For end(): replies by `answer`, which gets the job's task. Hundreds of thousands of answers take
 * longer than others should wait: they are written by another job that follows, without the lock
 * and while the key is free again. */
void job_answer(job *, void (*answer)(request *, void *task), size_t count);

/* Has the worker answer, for a question: its request has the target as its value. */
int job_ask(job *, void (*answer)(request *, void *task));

/* What the primary sent has waited, and may have to let others in: see work.c. */
extern bool work_is_behind;

/* Must a command wait: for a job on one of its keys, or, after others of the primary that have
 * waited, so that clients are served between them? Then it does, and will be run again. */
bool work_must_wait(request *);

/* Runs the second request in the place of the first when `make` has made what is left of its
 * arguments: its job has the first's, and as task the array of the second's. Owns the arguments,
 * unless it is false, with the error replied: no memory. For commands that may wait. */
bool work_relay(request *, const request *, void (*make)(job *));

int work_start(void);

#endif
