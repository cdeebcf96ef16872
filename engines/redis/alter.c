/* SPDX-License-Identifier: MIT */
/* Changes of a whole filter, made on a copy. */
#include "engines/redis/alter.h"

#include "engines/redis/packed_words.h"

/* What is copied is the target, or the first of what is read when there is none. */
static void make(job *j) {
    alteration *a = j->task;
    const value *from = j->target ? j->target : j->reads[0];
    tamis_status rc = tamis_copy(&j->result, from->filter);
    if (!rc) rc = a->alter(j->result, a, j);
    if (!rc && !a->replicate && a->argc > VERY_MANY)
        a->packed = words_pack(a->argv + 2, (size_t)a->argc - 2, &a->packed_size);
    if (!rc) return;
    if (!j->rc) job_fail(j, rc);
    tamis_free(j->result); /* NULL when there is no copy */
}

/* The same inputs make the same filter elsewhere. */
static void tell_others(redis_ctx *ctx, alteration *a, redis_string *key) {
    const char *name = redis.StringPtrLen(a->argv[0], NULL);
    if (a->replicate)
        a->replicate(ctx, a);
    else if (a->packed)
        redis.Replicate(ctx, "TAMIS.WORDS", "scb", key, name, a->packed, a->packed_size);
    else
        redis.Replicate(ctx, name, "v", a->argv + 1, (size_t)(a->argc - 1));
    redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, a->event, key);
}

/* Owns the result from here on; false, with the error replied, when there is no memory for a
 * value. */
static bool put_in_place(redis_ctx *ctx, job *j, place *p) {
    if (j->target) {
        job_replace(j);
        return true;
    }
    value *v = value_new(j->result);
    if (v) {
        place_set(p, v);
        return true;
    }
    tamis_free(j->result);
    reply_error(ctx, "ERR Insufficient memory");
    return false;
}

static void reply(redis_ctx *ctx, void *task) {
    alteration *a = task;
    if (a->reply)
        a->reply(ctx, a);
    else
        reply_ok(ctx);
}

static void end(job *j, redis_ctx *ctx) {
    alteration *a = j->task;
    place p;
    if (!job_lands(ctx, j, &p)) return;
    if (put_in_place(ctx, j, &p)) {
        tell_others(ctx, a, j->key);
        job_answer(ctx, j, reply, a->replies);
    }
    place_close(&p);
}

static void clean(job *j) {
    alteration *a = j->task;
    if (a->free) a->free(a);
    redis.Free(a->packed);
    redis.Free(a);
}

int alter_copy(redis_ctx *ctx, const alteration *wanted, value *target, value *const *reads,
               int read_count, redis_string **argv, int argc, uint64_t bytes) {
    alteration *a = redis.Alloc(sizeof *a);
    *a = *wanted;
    job *j = job_new(ctx, argv[1], target);
    if (!j) {
        job none = {.task = a};
        clean(&none);
        return REDIS_OK;
    }
    j->task = a;
    job_hold(j, argv, (size_t)argc);
    a->argv = j->held, a->argc = argc;
    for (int i = 0; i < read_count; i++) job_reads(j, reads[i]);
    j->make = make, j->end = end, j->clean = clean;
    return job_do(ctx, j, bytes);
}

/* ---- A filter of its own --------------------------------------------------------------------- */

static void copy_filter(job *j) {
    const tamis_status rc = tamis_copy(&j->result, j->target->filter);
    if (rc) job_fail(j, rc);
}

/* The key may have another value by now: this one is still somebody's. */
static void take_copy(job *j, redis_ctx *ctx) {
    (void)ctx;
    j->target->is_stuck = j->rc;
    if (!j->rc) job_replace(j);
}

bool alter_alone(redis_ctx *ctx, redis_string *key, bool changes) {
    place p = place_open(ctx, key, REDIS_READ, ANY_FAMILY);
    value *v = p.value;
    place_close(&p);
    if (!v || !v->filter || v->job || !filter_is_shared(v->filter)) return true;
    if (!changes && !v->facts.every) return true;
    if (v->is_stuck) {
        v->is_stuck = false;
        if (changes) reply_error(ctx, "ERR Insufficient memory");
        return !changes;
    }
    job *j = job_new(ctx, key, v);
    if (!j) return false;
    j->make = copy_filter, j->end = take_copy;
    job_leave(ctx, j);
    return true;
}
