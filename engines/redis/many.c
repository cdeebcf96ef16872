/* Very many items: asked by the worker, changed in steps. */
#include "engines/redis/many.h"

#include <string.h>

bool many_may_wait(redis_ctx *ctx, int count) {
    return count > VERY_MANY && may_block(ctx);
}

/* ---- Strings --------------------------------------------------------------------------------------- */

static redis_string **hold(redis_string **item, size_t count) {
    redis_string **held = redis.Alloc(count * sizeof *held);
    for (size_t i = 0; i < count; i++) held[i] = redis.HoldString(NULL, item[i]);
    return held;
}

static void release(redis_string **held, size_t count) {
    for (size_t i = 0; i < count; i++) redis.FreeString(NULL, held[i]);
    redis.Free(held);
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
    redis_string **item;
    size_t count;
} asking;

/* A context of a client that waits may be replied to without the lock. */
static void ask_all(job *j) {
    asking *a = j->task;
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    a->tell(ctx, j->target->filter, &a->items, false);
    redis.FreeThreadSafeContext(ctx);
}

static void end_asking(job *j, redis_ctx *ctx) {
    (void)j, (void)ctx;
}

static void free_asking(job *j) {
    asking *a = j->task;
    release(a->item, a->count);
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
    a->tell = tell, a->count = (size_t)count;
    a->item = hold(item, a->count);
    j->make = ask_all, j->end = end_asking, j->clean = free_asking;
    j->only_tells = true;
    if (items_take(ctx, &a->items, v, a->item, count)) return job_do(ctx, j, LARGE_BYTES);
    a->items.memory = NULL;
    job_drop(j);
    return REDIS_OK;
}

/* ---- Changes ------------------------------------------------------------------------------------------- */

/* A server that became a replica meanwhile has another primary's data to keep. */
static bool may_change(redis_ctx *ctx) {
    const int flags = redis.GetContextFlags(ctx);
    return !(flags & REDIS_IS_READ_ONLY) || flags & REDIS_IS_REPLICATED;
}

static bool step(job *j, redis_ctx *ctx) {
    const moment m = moment_begin();
    stream *s = j->task;
    const size_t from = s->done;
    place p;
    s->is_gone = !may_change(ctx) || !job_finds(ctx, j, &p);
    if (s->is_gone) return true;
    bool is_good = true;
    while (is_good && s->done < s->count && !(s->done > from && moment_is_over(&m)))
        is_good = s->some(s, p.value);
    place_close(&p);
    if (s->done > from) s->replicate(ctx, s, j->key, from);
    return !is_good || s->done == s->count;
}

static void end(job *j, redis_ctx *ctx) {
    const stream *s = j->task;
    if (s->changed) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, s->event, j->key);
    if (s->is_gone)
        reply_error(ctx, "ERR the key was changed meanwhile");
    else
        s->reply(ctx, s);
}

static void clean(job *j) {
    stream *s = j->task;
    release(s->item, s->strings);
    s->free(s->data);
    redis.Free(s);
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
    s->item = hold(item, s->strings);
    j->step = step, j->end = end, j->clean = clean;
    return job_do(ctx, j, LARGE_BYTES);
}
