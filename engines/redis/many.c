/* SPDX-License-Identifier: MIT */
/* Very many items: asked by the worker, changed in steps. */
#include "engines/redis/many.h"

#include <string.h>

#include "engines/redis/clock.h"

bool many_may_wait(redis_ctx *ctx, int count) {
    return count > VERY_MANY && may_block(ctx);
}

/* ---- Questions ------------------------------------------------------------------------------- */

void tell_hits(redis_ctx *ctx, const tamis *filter, items *t, bool is_empty) {
    if (is_empty)
        memset(t->hit, 0, t->count);
    else
        items_ask(t, filter);
    redis.ReplyWithArray(ctx, (long)t->count);
    for (size_t i = 0; i < t->count; i++) reply_bool(ctx, t->hit[i]);
}

typedef struct asking {
    items items;
    sender *tell;
} asking;

/* A context of a client that waits may be replied to without the lock. */
static void ask_all(job *j) {
    asking *a = j->task;
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    items_read(&a->items, j->target, j->held, 1, 0, a->items.count);
    a->tell(ctx, j->target->filter, &a->items, false);
    redis.FreeThreadSafeContext(ctx);
}

static void free_asking(job *j) {
    asking *a = j->task;
    items_free(&a->items);
    redis.Free(a);
}

bool many_are_for_worker(redis_ctx *ctx, const value *v, int count) {
    return count > VERY_MANY && !v->job && may_block(ctx);
}

int many_ask(redis_ctx *ctx, redis_string *key, value *v, redis_string **item, int count,
             sender *tell) {
    job *j = job_new(ctx, key, v);
    if (!j) return REDIS_OK;
    asking *a = j->task = redis.Alloc(sizeof *a);
    a->tell = tell;
    j->make = ask_all, j->end = job_only_tells, j->clean = free_asking;
    j->only_tells = true;
    if (items_room(ctx, &a->items, v, count)) {
        job_hold(j, item, (size_t)count);
        return job_do(ctx, j, LARGE_BYTES);
    }
    job_drop(j);
    return REDIS_OK;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* A server that became a replica meanwhile has another primary's data to keep. */
static bool may_change(redis_ctx *ctx) {
    const int flags = redis.GetContextFlags(ctx);
    return !(flags & REDIS_IS_READ_ONLY) || flags & REDIS_IS_REPLICATED;
}

/* Replicating what a step has done takes longer than adding it where that is quick. */
enum { MAX_IN_STEP = 8192 };

static bool step(job *j, redis_ctx *ctx) {
    const moment m = moment_begin();
    stream *s = j->task;
    const size_t from = s->done;
    place p;
    s->is_gone = !may_change(ctx) || !job_finds(ctx, j, &p);
    if (s->is_gone) {
        clock_lost_key(j->target);
        return true;
    }
    bounds_haste(s->in_haste);
    do s->is_good = s->some(s, p.value);
    while (s->is_good && !s->must_grow && s->done < s->count && s->done - from < MAX_IN_STEP &&
           !moment_is_over(&m));
    bounds_haste(false);
    place_close(&p);
    if (s->done > from) s->replicate(ctx, s, j->key, from);
    return !s->is_good || s->must_grow || s->done == s->count;
}

static void clean(job *j) {
    stream *s = j->task;
    s->free(s->data);
    redis.Free(s);
}

static void reply(redis_ctx *ctx, void *task) {
    const stream *s = task;
    s->reply(ctx, s);
}

static void finish(redis_ctx *ctx, job *j) {
    const stream *s = j->task;
    if (s->changed) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, s->event, j->key);
    if (s->is_gone)
        reply_error(ctx, "ERR the key changed during the operation");
    else
        job_answer(ctx, j, reply, s->count);
}

/* A few items on a copy, without the lock. */
static void grow(job *j) {
    stream *s = j->task;
    const tamis_status rc = tamis_copy(&j->result, j->target->filter);
    if (rc) {
        job_fail(j, rc);
        return;
    }
    value copy = {
        .filter = j->result, .facts = j->target->facts, .hashes_itself = j->target->hashes_itself};
    s->grown_from = s->done;
    s->is_copy = true;
    s->is_good = s->some(s, &copy);
    s->is_copy = false;
    s->facts = copy.facts;
}

static void put_copy(job *j, redis_ctx *ctx) {
    stream *s = j->task;
    place p;
    s->is_gone = !may_change(ctx) || !job_finds(ctx, j, &p);
    if (s->is_gone || s->done == s->grown_from) {
        tamis_free(j->result);
    } else {
        job_replace(j);
        j->target->facts = s->facts;
        s->replicate(ctx, s, j->key, s->grown_from);
    }
    if (!s->is_gone) place_close(&p);
}

static void go_on(redis_ctx *ctx, job *done);

static void end_grow(job *j, redis_ctx *ctx) {
    stream *s = j->task;
    if (j->rc)
        s->is_good = s->lacks_copy(s, j->rc, j->why);
    else
        put_copy(j, ctx);
    if (s->is_good && !s->is_gone && s->done < s->count)
        go_on(ctx, j);
    else
        finish(ctx, j);
}

static void end(job *j, redis_ctx *ctx) {
    stream *s = j->task;
    if (!s->must_grow || s->is_gone) {
        finish(ctx, j);
        return;
    }
    s->must_grow = false;
    job *next = job_follow(ctx, j, j->target);
    if (!next) return;
    next->make = grow, next->end = end_grow;
    job_do(ctx, next, LARGE_BYTES);
}

static void go_on(redis_ctx *ctx, job *done) {
    job *next = job_follow(ctx, done, done->target);
    if (!next) return;
    next->step = step, next->end = end;
    job_do(ctx, next, LARGE_BYTES);
}

int many_change(redis_ctx *ctx, redis_string *key, value *v, redis_string **item,
                const stream *wanted) {
    job *j = job_new(ctx, key, v);
    if (!j) {
        wanted->free(wanted->data);
        return REDIS_OK;
    }
    stream *s = j->task = redis.Alloc(sizeof *s);
    *s = *wanted;
    job_hold(j, item, s->strings);
    s->item = j->held;
    j->step = step, j->end = end, j->clean = clean;
    return job_do(ctx, j, LARGE_BYTES);
}
