/* SPDX-License-Identifier: MIT */
/* Very many items: asked by the worker, changed in steps. */
#include "engines/redis/many.h"

#include "engines/redis/clock.h"

bool many_may_wait(const request *r, size_t count) {
    return count > VERY_MANY && may_wait(r);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void reply_hits(request *r, const uint8_t *hit, size_t count) {
    if (r->form != REPLY_SINGLE) redis.ReplyWithArray(r->ctx, (long)count);
    for (size_t i = 0; i < count; i++) reply_bool(r->ctx, hit && hit[i]);
}

void tell_hits(request *r, const tamis *filter, items *t, bool is_empty) {
    if (!is_empty) items_ask_some(t, filter, 0, t->count);
    reply_hits(r, is_empty ? NULL : t->hit, t->count);
}

typedef struct asking {
    items items;
    sender *tell;
} asking;

static void ask_all(request *r, void *task) {
    asking *a = task;
    items_read(&a->items, r->value, request_items(r), 1, 0, a->items.count);
    a->tell(r, r->value->filter, &a->items, false);
}

static void free_asking(void *task) {
    items_free(&((asking *)task)->items);
}

static int ask_elsewhere(request *r, sender *tell) {
    job *j = job_new(r, r->value, sizeof(asking));
    if (!j) return REDIS_OK;
    asking *a = j->task;
    a->tell = tell;
    if (items_room(r, &a->items, r->value, request_count(r))) {
        j->clean = free_asking;
        return job_ask(j, ask_all);
    }
    job_drop(j);
    return REDIS_OK;
}

bool many_can_answer(request *r, enum tamis_ability needed) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(r->value->filter, &info);
    if (info.abilities & TAMIS_IS_SKETCH)
        reply_error(r->ctx, "ERR %s knows sets, not keys: it cannot be asked for one", info.kind);
    else if (needed && !(info.abilities & needed))
        reply_error(r->ctx, "ERR %s cannot map keys to values", info.kind);
    else
        return true;
    return false;
}

int many_ask(request *r, bool is_empty, sender *tell) {
    items t;
    const value *v = r->value;
    if (!is_empty && !v->job && many_may_wait(r, request_count(r))) return ask_elsewhere(r, tell);
    if (!items_take(r, &t, v)) return REDIS_OK;
    tell(r, v->filter, &t, is_empty);
    items_free(&t);
    return REDIS_OK;
}

ONE_ITEM bool many_exist_one(request *r) {
    const value *v = r->value;
    if (!v || !v->filter) return false;
    const struct tamis_key item = key_of(*request_items(r));
    const bool is_hit = tamis_has(v->filter, item.bytes, item.len);
    count_items(r, 1);
    request_close(r); /* before the reply, which has to wait for the filter's memory */
    reply_bool(r->ctx, is_hit);
    return true;
}

int many_exist(request *r) {
    if (request_is_coming(r)) return REDIS_OK;
    if (r->value) return many_ask(r, false, tell_hits);
    reply_hits(r, NULL, request_count(r));
    return REDIS_OK;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* A server that became a replica since has another primary's data to keep. */
static bool may_change(const request *r) {
    const int flags = request_flags(r);
    return !(flags & REDIS_IS_READ_ONLY) || flags & REDIS_IS_REPLICATED;
}

/* Replicating what a step has done takes longer than adding it where that is quick. */
enum { MAX_IN_STEP = 8192 };

static bool step(job *j) {
    const moment m = moment_begin();
    stream *s = j->task;
    const size_t from = s->done;
    s->is_gone = !may_change(j->request) || !job_finds(j);
    if (s->is_gone) {
        clock_lost_key(j->target);
        return true;
    }
    s->item = request_items(j->request);
    bounds_haste(s->in_haste);
    do s->is_good = s->some(s, j->target);
    while (s->is_good && !s->must_grow && s->done < s->count &&
           (s->is_packed || s->done - from < MAX_IN_STEP) && !moment_is_over(&m));
    bounds_haste(false);
    if (s->done > from) s->replicate(j->request, s, from);
    return !s->is_good || s->must_grow || s->done == s->count;
}

static void clean(void *task) {
    const stream *s = task;
    s->free(s->data);
}

static void reply(request *r, void *task) {
    const stream *s = task;
    if (*s->why)
        reply_error(r->ctx, "ERR %s", s->why);
    else
        s->reply(r, s);
}

static void finish(job *j) {
    const stream *s = j->task;
    if (s->changed) request_notify(j->request, s->event);
    if (s->is_gone)
        reply_error(j->request->ctx, "ERR the key changed during the operation");
    else
        job_answer(j, reply, s->is_packed ? 1 : s->count);
}

/* A few items on a copy, without the lock. */
static void grow(job *j) {
    stream *s = j->task;
    if (!job_copy_target(j)) return;
    s->item = request_items(j->request);
    value copy = {
        .filter = j->result, .facts = j->target->facts, .hashes_itself = j->target->hashes_itself};
    s->grown_from = s->done;
    s->is_copy = true;
    s->is_good = s->some(s, &copy);
    s->is_copy = false;
    s->facts = copy.facts;
}

static void put_copy(job *j) {
    stream *s = j->task;
    s->is_gone = !may_change(j->request) || !job_finds(j);
    if (s->is_gone || s->done == s->grown_from) {
        tamis_free(j->result);
    } else {
        job_replace(j);
        j->target->facts = s->facts;
        s->replicate(j->request, s, s->grown_from);
    }
}

static void go_on(job *done);

static void end_grow(job *j) {
    stream *s = j->task;
    if (j->rc)
        s->is_good = s->lacks_copy(s, j->rc, j->why);
    else
        put_copy(j);
    if (s->is_good && !s->is_gone && s->done < s->count)
        go_on(j);
    else
        finish(j);
}

static void end(job *j) {
    stream *s = j->task;
    if (!s->must_grow || s->is_gone) {
        finish(j);
        return;
    }
    s->must_grow = false;
    job *next = job_follow(j, j->target);
    if (!next) return;
    next->make = grow, next->end = end_grow;
    job_do(next, LARGE_BYTES);
}

static void go_on(job *done) {
    job *next = job_follow(done, done->target);
    if (!next) return;
    next->step = step, next->end = end;
    job_do(next, LARGE_BYTES);
}

int many_change(request *r, const stream *wanted) {
    job *j = job_new(r, r->value, sizeof *wanted);
    if (!j) {
        wanted->free(wanted->data);
        return REDIS_OK;
    }
    *(stream *)j->task = *wanted;
    j->step = step, j->end = end, j->clean = clean;
    return job_do(j, LARGE_BYTES);
}
