/* SPDX-License-Identifier: MIT */
/* Changes of a whole filter, made on a copy. */
#include "engines/redis/alter.h"

#include "engines/redis/packed_words.h"

/* What is copied is the target, or the first of what is read when there is none. */
static void make(job *j) {
    alteration *a = j->task;
    const request *r = j->request;
    const value *from = j->target ? j->target : j->reads[0];
    tamis_status rc = tamis_copy(&j->result, from->filter);
    if (!rc) rc = a->alter(j->result, a, j);
    if (!rc && !a->replicate && r->argc > VERY_MANY)
        a->packed = words_pack(r->argv + 2, (size_t)r->argc - 2, &a->packed_size);
    if (!rc) return;
    if (!j->rc) job_fail(j, rc);
    tamis_free(j->result); /* NULL when there is no copy */
}

/* The same inputs make the same filter elsewhere. */
static void tell_others(request *r, alteration *a) {
    if (a->replicate)
        a->replicate(r, a);
    else if (a->packed)
        redis.Replicate(r->ctx, "TAMIS.WORDS", "scb", r->key, redis.StringPtrLen(r->argv[0], NULL),
                        a->packed, a->packed_size);
    else
        request_replicate(r);
    request_notify(r, a->event);
}

/* Owns the result from here on; false, with the error replied, when there is no memory for a
 * value. */
static bool put_in_place(job *j) {
    if (!j->target) return request_put(j->request, j->result);
    job_replace(j);
    return true;
}

static void reply(request *r, void *task) {
    alteration *a = task;
    if (a->reply)
        a->reply(r, a);
    else
        reply_ok(r->ctx);
}

static void end(job *j) {
    alteration *a = j->task;
    if (!job_lands(j) || !put_in_place(j)) return;
    tell_others(j->request, a);
    job_answer(j, reply, a->replies);
}

static void clean(void *task) {
    const alteration *a = task;
    if (a->free) a->free(a->data);
    redis.Free(a->packed);
}

int alter_copy(request *r, const alteration *wanted, value *const *reads, int read_count,
               uint64_t bytes) {
    job *j = job_new(r, r->value, sizeof *wanted);
    if (!j) {
        if (wanted->free) wanted->free(wanted->data);
        return REDIS_OK;
    }
    *(alteration *)j->task = *wanted;
    for (int i = 0; i < read_count; i++) job_reads(j, reads[i]);
    j->make = make, j->end = end, j->clean = clean;
    return job_do(j, bytes);
}

/* ---- A filter of its own --------------------------------------------------------------------- */

static void copy_filter(job *j) {
    job_copy_target(j);
}

/* The key may have another value by now: this one is still in use. */
static void take_copy(job *j) {
    j->target->is_stuck = j->rc;
    if (!j->rc) job_replace(j);
}

bool alter_alone(request *r) {
    const bool changes = command_writes(r->command);
    value *v = value_at(r->ctx, r->key);
    if (!v || !v->filter || v->job || !filter_is_shared(v->filter)) return true;
    if (!changes && !v->facts.every) return true;
    if (v->is_stuck) {
        v->is_stuck = false;
        if (changes) reply_no_memory(r->ctx);
        return !changes;
    }
    job *j = job_new(r, v, 0);
    if (!j) return false;
    j->make = copy_filter, j->end = take_copy;
    job_leave(j);
    return true;
}
