/* Very many items: asked by the worker, changed in steps. */
#include "engines/redis/many.h"

#include <string.h>

#include "engines/redis/clock.h"

bool many_may_wait(redis_ctx *ctx, int count) {
    return count > VERY_MANY && may_block(ctx);
}

/* ---- Questions --------------------------------------------------------------------------------------- */

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
    teller *tell;
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
             teller *tell) {
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

/* ---- Changes ------------------------------------------------------------------------------------------- */

/* A server that became a replica meanwhile has another primary's data to keep. */
static bool may_change(redis_ctx *ctx) {
    const int flags = redis.GetContextFlags(ctx);
    return !(flags & REDIS_IS_READ_ONLY) || flags & REDIS_IS_REPLICATED;
}

/* Replicating what a step has done takes longer than adding it where that is quick. */
enum { MOST_IN_STEP = 8192 };

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
    bool is_good;
    do is_good = s->some(s, p.value);
    while (is_good && s->done < s->count && s->done - from < MOST_IN_STEP && !moment_is_over(&m));
    place_close(&p);
    if (s->done > from) s->replicate(ctx, s, j->key, from);
    return !is_good || s->done == s->count;
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

static void end(job *j, redis_ctx *ctx) {
    const stream *s = j->task;
    if (s->changed) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, s->event, j->key);
    if (s->is_gone)
        reply_error(ctx, "ERR the key was changed meanwhile");
    else
        job_answer(ctx, j, reply, s->count);
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
