/* The module's files may include this: what takes long, off the main thread.
 *
 *     command ──▶ job ──▶ worker: make()  reads filters that hold still, makes a new one
 *                             │
 *                             ▼ under the server's lock
 *                         end()  puts it in place, replies, replicates
 *
 * A filter that a job reads is not changed until the job has ended: whoever wants to waits, as a blocked
 * client, and is run when the job has ended, in the order in which they came. Questions go on meanwhile.
 * Where a command may not wait (MULTI, scripts, what comes from a file), and for small filters, everything
 * happens at once, by the same two functions. What comes from the primary waits as a client does: the link
 * is silent meanwhile, and clients of the replica are served.
 *
 * A job with steps changes a filter where it stands, a piece at a time, each under the server's lock and short;
 * others are served between them:
 *
 *     command ──▶ job ──▶ worker: lock, step(), unlock, lock, step(), ... end() */
#ifndef TAMIS_REDIS_WORK_H
#define TAMIS_REDIS_WORK_H

#include "engines/redis/bounds.h"
#include "engines/redis/reply.h"

/* More items may take longer than others should wait: more than a client that is in a hurry packs into one command,
 * and few enough for a millisecond or two. */
enum { VERY_MANY = 16384 };

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

/* Holds strings until the job is gone: `held` are the same ones. Hundreds of thousands are given back a piece at a
 * time, when the client that brought them has let go of them. */
void job_hold(job *, redis_string **strings, size_t count);

/* Gives a job up before it was done. */
void job_drop(job *);

/* Does it now, or on the worker when `bytes` are many. The job is gone afterwards. */
int job_do(redis_ctx *, job *, uint64_t bytes);

/* Gives it to the worker without a client: nobody is answered. */
void job_leave(redis_ctx *, job *);

/* May this command wait, as a client that is blocked? */
bool may_block(redis_ctx *);

/* For step(): has it had its time? A step that asks after every few microseconds is short enough. */
typedef struct moment {
    int64_t ends_ns;
} moment;
moment moment_begin(void);
bool moment_is_over(const moment *);

/* For step(): opens the key when the target still stands there; false, and nothing is left to do, when not. */
bool job_finds(redis_ctx *, const job *, place *);

/* For end(): opens the key when what stands there is still what the job was for, and replies an error
 * otherwise; then `result` is for end() to free. */
bool job_place(redis_ctx *, job *, place *);

/* For end(): puts `result` into the target. What was there is freed when nobody waits for it. */
void job_replace(job *);

/* An end() for jobs whose make() has answered. */
void job_only_tells(job *, redis_ctx *);

/* For end(): a job that goes on with the task: it takes over clean() and strings too. NULL, with the error replied,
 * when there is no memory. */
job *job_follow(redis_ctx *, job *done, value *target);

/* For end(): replies by `answer`, which gets the job's task. Hundreds of thousands of answers take longer than others
 * should wait: they are written by another job that follows, without the lock and while the key is free again. */
void job_answer(redis_ctx *, job *, void (*answer)(redis_ctx *, void *task), size_t count);

/* Notes the failure of a call of the library, which knows its sentence only on this thread. */
void job_fail(job *, tamis_status);

/* Is any job under way? How many are, and were there? */
bool work_is_active(void);
uint64_t work_active(void);
uint64_t work_done(void);
uint64_t work_steps(void);
uint64_t work_frees(void); /* filters that are about to be freed */

/* Is this the server's own thread? */
bool work_is_server(void);

/* Frees a filter, or leaves that to another thread: giving back 2 GiB takes a tenth of a second. Any thread. */
void work_free(tamis *);

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

int work_start(void);

#endif
