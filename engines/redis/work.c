/* One worker thread and its queue. */
#include "engines/redis/work.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t comes, is_made;
    job *first, **last;
    unsigned active; /* jobs that have not ended; only under the server's lock */
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .comes = PTHREAD_COND_INITIALIZER,
           .is_made = PTHREAD_COND_INITIALIZER,
           .last = &queue.first};

/* ---- A job ------------------------------------------------------------------------------------ */

job *job_new(redis_ctx *ctx, redis_string *key, value *target) {
    job *j = try_alloc(sizeof *j);
    if (!j) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    memset(j, 0, sizeof *j);
    j->key = redis.HoldString(NULL, key);
    if (target) j->target = value_hold(target);
    return j;
}

void job_reads(job *j, value *v) {
    j->reads[j->read_count++] = value_hold(v);
}

void job_fail(job *j, tamis_status rc) {
    j->rc = rc;
    snprintf(j->why, sizeof j->why, "%s", rc == TAMIS_NOMEM ? tamis_status_text(rc) : tamis_why());
}

/* What belongs to the server, under its lock. */
static void drop_names(job *j) {
    if (j->clean) j->clean(j);
    redis.FreeString(NULL, j->key);
}

/* What may be large: the last user frees it, and nobody should wait for that. */
static void drop_values(job *j) {
    for (int i = 0; i < j->read_count; i++) value_release(j->reads[i]);
    if (j->target) value_release(j->target);
    redis.Free(j);
}

void job_drop(job *j) {
    drop_names(j);
    drop_values(j);
}

bool job_place(redis_ctx *ctx, job *j, place *p) {
    *p = place_open(ctx, j->key, REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    if (!p->is_wrong && p->value == j->target) return true;
    place_close(p);
    reply_error(ctx, "ERR the key was changed meanwhile");
    return false;
}

/* ---- Filters that hold still ------------------------------------------------------------------- */

static void mark(job *j, job *as) {
    for (int i = 0; i < j->read_count; i++) j->reads[i]->job = as;
    if (j->target) j->target->job = as;
}

/* Under the server's lock. Whoever waited is run again when this returns to the server. */
static void end_once(job *j) {
    if (j->is_ended) return;
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    mark(j, NULL);
    j->end(j, ctx);
    redis.FreeThreadSafeContext(ctx);
    redis.UnblockClient(j->client, NULL);
    for (int i = 0; i < j->waiting_count; i++) redis.UnblockClient(j->waiting[i], NULL);
    j->is_ended = true;
    queue.active--;
}

/* For those who may not wait as clients do: the job is made on its thread, and ended here. */
static void settle(job *j) {
    pthread_mutex_lock(&queue.mutex);
    while (!j->is_made) pthread_cond_wait(&queue.is_made, &queue.mutex);
    pthread_mutex_unlock(&queue.mutex);
    end_once(j);
}

/* ---- The worker -------------------------------------------------------------------------------- */

static job *next_job(void) {
    pthread_mutex_lock(&queue.mutex);
    while (!queue.first) pthread_cond_wait(&queue.comes, &queue.mutex);
    job *j = queue.first;
    queue.first = j->next;
    if (!queue.first) queue.last = &queue.first;
    pthread_mutex_unlock(&queue.mutex);
    return j;
}

static void *work(void *lock) {
    for (;;) {
        job *j = next_job();
        j->make(j);
        pthread_mutex_lock(&queue.mutex);
        j->is_made = true;
        pthread_cond_broadcast(&queue.is_made);
        pthread_mutex_unlock(&queue.mutex);
        redis.ThreadSafeContextLock(lock);
        end_once(j);
        drop_names(j);
        redis.ThreadSafeContextUnlock(lock);
        drop_values(j);
    }
    return NULL;
}

/* Signals are for the server's own thread. */
int work_start(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int bad = pthread_create(&thread, NULL, work, redis.GetThreadSafeContext(NULL));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!bad) pthread_detach(thread);
    return bad ? REDIS_ERR : REDIS_OK;
}

/* ---- Doing it ---------------------------------------------------------------------------------- */

static bool may_block(redis_ctx *ctx) {
    const int never = REDIS_IN_SCRIPT | REDIS_IN_MULTI | REDIS_IS_REPLICATED | REDIS_IS_LOADING |
                      REDIS_IS_ASYNC_LOADING | REDIS_MAY_NOT_BLOCK;
    return !(redis.GetContextFlags(ctx) & never) && !redis.IsBlockedReplyRequest(ctx);
}

int job_do(redis_ctx *ctx, job *j, uint64_t bytes) {
    if (bytes < LARGE_BYTES || !may_block(ctx)) {
        j->make(j);
        j->end(j, ctx);
        job_drop(j);
        return REDIS_OK;
    }
    j->client = redis.BlockClient(ctx, NULL, NULL, NULL, 0);
    mark(j, j);
    queue.active++;
    pthread_mutex_lock(&queue.mutex);
    *queue.last = j;
    queue.last = &j->next;
    pthread_cond_signal(&queue.comes);
    pthread_mutex_unlock(&queue.mutex);
    return REDIS_OK;
}

bool work_is_active(void) {
    return queue.active > 0;
}

static job *job_at(redis_ctx *ctx, redis_string *name) {
    place p = place_open(ctx, name, REDIS_READ, ANY_FAMILY);
    job *j = p.value ? p.value->job : NULL;
    place_close(&p);
    return j;
}

bool work_must_wait(redis_ctx *ctx, redis_string **argv, int first, int last, int step,
                    redis_function *again) {
    for (int i = first; i <= last; i += step) {
        job *j = job_at(ctx, argv[i]);
        if (!j) continue;
        if (!may_block(ctx)) {
            settle(j);
        } else if (j->waiting_count == (int)(sizeof j->waiting / sizeof *j->waiting)) {
            reply_error(ctx, "TRYAGAIN the filter is being worked on, and others wait for it");
            return true;
        } else {
            j->waiting[j->waiting_count++] = redis.BlockClient(ctx, again, NULL, NULL, 0);
            return true;
        }
    }
    return false;
}
