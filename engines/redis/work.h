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
 * A job with steps changes a filter where it stands, a piece at a time, each under the server's
 * lock and short; others are served between them:
 *
 *     command ──▶ job ──▶ worker: lock, step(), unlock, lock, step(), ... end() */
#ifndef TAMIS_REDIS_WORK_H
#define TAMIS_REDIS_WORK_H

#include "engines/redis/job.h"

/* More items may take longer than others should wait: more than a client that is in a hurry packs
 * into one command, and few enough for a millisecond or two. */
enum { VERY_MANY = 16384 };

/* Does it now, or on the worker when `bytes` are many. The job is gone afterwards. */
int job_do(redis_ctx *, job *, uint64_t bytes);

/* Gives it to the worker without a client: nobody is answered. */
void job_leave(redis_ctx *, job *);

/* May this command wait, as a client that is blocked? */
bool may_block(redis_ctx *);

/* An end() for jobs whose make() has answered. */
void job_only_tells(job *, redis_ctx *);

/* For end(): replies by `answer`, which gets the job's task. Hundreds of thousands of answers take
 * longer than others should wait: they are written by another job that follows, without the lock
 * and while the key is free again. */
void job_answer(redis_ctx *, job *, void (*answer)(redis_ctx *, void *task), size_t count);

/* A command, as it is run again. */
typedef struct call {
    redis_function *function;
    redis_string **argv;
    int argc;
    int first, last, step; /* its keys */
    bool writes;
} call;

/* Must a command wait for a job on one of its keys? Then it does, and will be run again. */
bool work_must_wait(redis_ctx *, const call *);

/* Runs this call in the place of the command whose context this is, when `make` has made what is
 * left of its arguments: its job holds `from`, and `to` is its task. Owns the arguments, unless it
 * is false, with the error replied: no memory. For commands that may wait. */
bool work_relay(redis_ctx *, const call *, void (*make)(job *), redis_string *from, void *to);

/* Has a command of the primary waited, so that what came behind it may have piled up? Then commands
 * of the primary ask whether to let others be served before them: those that do will be run
 * again. */
bool work_is_behind(void);
bool work_must_pause(redis_ctx *, const call *);
uint64_t work_pauses(void);

/* Is any job under way? How many are, and were there? */
bool work_is_active(void);
uint64_t work_active(void);
uint64_t work_done(void);
uint64_t work_steps(void);

int work_start(void);

#endif
