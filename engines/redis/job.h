/* SPDX-License-Identifier: MIT */
/* The module's files may include this: a job, as a command fills it in. work.h does it.
 *
 * It holds its key, its strings and its filters until it is gone. */
#ifndef TAMIS_REDIS_JOB_H
#define TAMIS_REDIS_JOB_H

#include "engines/redis/bounds.h"
#include "engines/redis/reply.h"

enum { JOB_KEYS = 1 + 64, JOB_WHY = 256 };

struct waiter;

typedef struct job {
    /* What to do: filled in by the command. */
    void (*make)(struct job *);              /* any thread; sets rc, and `result` when that is OK */
    bool (*step)(struct job *, redis_ctx *); /* instead of it: true when there is nothing left */
    void (*end)(struct job *, redis_ctx *);  /* main thread or under its lock: replies */
    void (*clean)(struct job *);             /* frees what `task` holds; or NULL */
    redis_string *key;                       /* that the result is for */
    int db;                                  /* where that is */
    value *target;                           /* what stands there now; NULL: nothing */
    value *reads[JOB_KEYS];                  /* what make() reads beside it */
    int read_count;
    bool only_tells; /* end() changes no key */
    bool answers;    /* for the command's own use: somebody is to be answered */
    uint64_t number; /* for the command's own use */
    void *task;      /* the same; texts and the like */
    void (*answer)(redis_ctx *, void *task); /* by job_answer() */
    redis_string **held;                     /* by job_hold(); NULL: none */
    size_t held_count;

    /* What came of it. */
    tamis *result;
    tamis_status rc;
    char why[JOB_WHY];

    /* Where it stands: work.c's own. */
    bounds bounds; /* of who asked for it */
    tamis *replaced;
    redis_blocked *client; /* NULL: nobody waits for an answer */
    struct waiter *waiting, **last_waiting;
    bool is_made, is_ended, is_told; /* by the primary */
    struct job *next;
} job;

/* A job for this key, or NULL with the error replied when there is no memory. The key is held. */
job *job_new(redis_ctx *, redis_string *key, value *target);
void job_reads(job *, value *);

/* Holds strings until the job is gone: `held` are the same ones. Hundreds of thousands are given
 * back a piece at a time, when the client that brought them has let go of them. */
void job_hold(job *, redis_string **strings, size_t count);

/* Gives a job up before it was done. */
void job_drop(job *);

/* Notes the failure of a call of the library, which knows its sentence only on this thread. */
void job_fail(job *, tamis_status);

/* For end(): a job that goes on with the task: it takes over clean() and strings too. NULL, with
 * the error replied, when there is no memory. */
job *job_follow(redis_ctx *, job *done, value *target);

/* The parts of job_drop(), for the worker: what only goes under the server's lock, so many of the
 * strings that are held, and what should go without it. */
void job_free_strings(job *);
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

/* For step(): opens the key when the target still stands there; false, and nothing is left to do,
 * when not. */
bool job_finds(redis_ctx *, const job *, place *);

/* For end(): opens the key when what stands there is still what the job was for, and replies an
 * error otherwise; then `result` is for end() to free. */
bool job_place(redis_ctx *, job *, place *);

/* The same for a job that is to put its `result` there: replies why it failed, too, and frees
 * `result`. */
bool job_lands(redis_ctx *, job *, place *);

/* For end(): puts `result` into the target. What was there is freed when nobody waits for it. */
void job_replace(job *);

/* A server that is a replica now takes changes of its primary alone. */
bool is_read_only(redis_ctx *);
int reply_read_only(redis_ctx *);

#endif
