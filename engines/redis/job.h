/* SPDX-License-Identifier: MIT */
/* The module's files may include this: a job, as a command fills it in. work.h does it.
 *
 * It holds its request and its filters until it is gone. */
#ifndef TAMIS_REDIS_JOB_H
#define TAMIS_REDIS_JOB_H

#include "engines/redis/bounds.h"
#include "engines/redis/request.h"

enum { JOB_KEYS = 1 + 64, JOB_WHY = 256 };

struct waiter;

typedef struct job {
    /* What to do: filled in by the command. */
    void (*make)(struct job *); /* any thread; sets rc, and `result` when that is OK */
    bool (*step)(struct job *); /* instead of it: true when there is nothing left */
    void (*end)(struct job *);  /* main thread or under its lock: replies */
    void (*clean)(void *task);  /* frees what it holds; or NULL */
    value *target;              /* what the result is for; NULL: nothing is there yet */
    value *reads[JOB_KEYS];     /* what make() reads beside it */
    int read_count;
    bool only_tells;                       /* end() changes no key */
    void *task;                            /* for the command's own use; freed with the job */
    void (*answer)(request *, void *task); /* by job_answer() */

    /* Whose it is: the command that runs now, or a copy that goes with the job. The key is open
     * when end() or step() has opened it, and is closed after them. */
    request *request;

    /* What came of it. */
    tamis *result;
    tamis_status rc;
    char why[JOB_WHY];

    /* Its progress: private to work.c. */
    request kept;        /* the copy */
    redis_string **held; /* its arguments */
    size_t held_count;
    int db;        /* where its key is */
    bounds bounds; /* of who asked for it */
    tamis *replaced;
    struct waiter *waiting, **last_waiting;
    bool is_made, is_ended;
    struct job *next;
} job;

/* A job for what is stored at the request's key, with a task of `task_bytes` (0: none); NULL,
 * with the error replied, when there is no memory. */
job *job_new(request *, value *target, size_t task_bytes);
void job_reads(job *, value *);

/* Gives a job up before it was done. */
void job_drop(job *);

/* Notes the failure of a call of the library, which knows its sentence only on this thread. */
void job_fail(job *, tamis_status);

/* Makes `result` a copy of what the target is; false when there is no memory, which is noted. */
bool job_copy_target(job *);

/* For end(): a job that goes on with the task: it takes over clean() and arguments too. NULL, with
 * the error replied, when there is no memory. */
job *job_follow(job *done, value *target);

/* The parts of job_drop(), for the worker: what needs the server's lock, at most `max` of the
 * arguments that are held, and what should be freed without the lock. */
void job_free_task(job *);
void job_release(job *, size_t max);
void job_free_filters(job *);

/* ---- For end() and step() -------------------------------------------------------------------- */

/* For step(): has it had its time? A step that asks after every few microseconds is short
 * enough. */
typedef struct moment {
    int64_t ends_ns;
} moment;
moment moment_begin(void);
bool moment_is_over(const moment *);

/* Does a client wait for it, blocked? */
bool job_is_awaited(const job *);

/* For step(): opens the key when the target is still there; false, and nothing is left to do, when
 * not. */
bool job_finds(job *);

/* For end(): opens the key when what is there is still what the job was for, and replies an error
 * otherwise; then `result` is for end() to free. */
bool job_place(job *);

/* The same for a job that is to put its `result` there: replies why it failed, too, and frees
 * `result`. */
bool job_lands(job *);

/* For end(): puts `result` into the target. What was there is freed when nobody waits for it. */
void job_replace(job *);

#endif
