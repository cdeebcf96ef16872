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

static void release(redis_string **held, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) redis.FreeString(NULL, held[i]);
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

static void end_telling(job *j, redis_ctx *ctx) {
    (void)j, (void)ctx;
}

static void free_asking(job *j) {
    asking *a = j->task;
    release(a->item, 0, a->count);
    redis.Free(a->item);
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
    j->make = ask_all, j->end = end_telling, j->clean = free_asking;
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

/* Strings of items that are done are given back with them, not all at the end. */
static size_t strings_of(const stream *s, size_t n) {
    return s->strings / s->count * n;
}

/* Replicating what a step has done takes longer than adding it where that is quick. */
enum { MOST_IN_STEP = 8192 };

static bool step(job *j, redis_ctx *ctx) {
    const moment m = moment_begin();
    stream *s = j->task;
    const size_t from = s->done;
    place p;
    s->is_gone = !may_change(ctx) || !job_finds(ctx, j, &p);
    if (s->is_gone) return true;
    bool is_good = true;
    while (is_good && s->done < s->count && s->done - from < MOST_IN_STEP &&
           !(s->done > from && moment_is_over(&m)))
        is_good = s->some(s, p.value);
    place_close(&p);
    if (s->done > from) s->replicate(ctx, s, j->key, from);
    release(s->item, strings_of(s, from), strings_of(s, s->done));
    return !is_good || s->done == s->count;
}

static void clean(job *j) {
    stream *s = j->task;
    if (!s) return;
    release(s->item, strings_of(s, s->done), s->strings);
    redis.Free(s->item);
    s->free(s->data);
    redis.Free(s);
}

static void answer(job *j) {
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    const stream *s = j->task;
    s->reply(ctx, s);
    redis.FreeThreadSafeContext(ctx);
}

/* Hundreds of thousands of answers take longer than a step: they are written without the lock, while the key is
 * free again. */
static void answer_elsewhere(redis_ctx *ctx, job *done) {
    job *j = job_new(ctx, done->key, NULL);
    if (!j) return;
    j->task = done->task, done->task = NULL;
    j->make = answer, j->end = end_telling, j->clean = clean;
    j->only_tells = true;
    job_do(ctx, j, LARGE_BYTES);
}

static void end(job *j, redis_ctx *ctx) {
    const stream *s = j->task;
    if (s->changed) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, s->event, j->key);
    if (s->is_gone)
        reply_error(ctx, "ERR the key was changed meanwhile");
    else if (j->client)
        answer_elsewhere(ctx, j);
    else
        s->reply(ctx, s);
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
