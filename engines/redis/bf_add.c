/* BF.ADD, BF.MADD and BF.INSERT: what they do to a filter.
 *
 * All items are hashed, then all are asked for, so that many cache misses are under way at once; then
 * those that are missing are added in order. What was added is replicated, as BF.MADD, and nothing when
 * nothing was. A large filter that has no room for them is copied, added to and put in place on the
 * worker; a large new one is made there. */
#include <stdio.h>
#include <string.h>

#include "engines/redis/bf.h"
#include "engines/redis/items.h"

/* ---- Adding to a filter -------------------------------------------------------------------------- */

/* What came of it. Items behind the first that found no room were not looked at. */
typedef struct outcome {
    size_t done, added;
    bool is_full; /* as what does not scale becomes */
    char why[JOB_WHY];
} outcome;

/* Filters of our own that do not scale would take any number: their end is their capacity. */
static uint64_t room_left(const bf_shape *s) {
    if (!s->is_fixed || s->is_origin) return UINT64_MAX;
    return s->items < s->capacity ? s->capacity - s->items : 0;
}

static tamis_status add_one(const items *t, tamis *filter, size_t i, uint64_t *room, bool *is_new) {
    *is_new = false;
    if (*room == 0) {
        const bool is_there = t->hash ? tamis_has_hash(filter, t->hash[i])
                                      : tamis_has(filter, t->key[i].bytes, t->key[i].len);
        return is_there ? TAMIS_OK : TAMIS_FULL;
    }
    const tamis_status rc = items_add_new(t, filter, i, is_new);
    if (!rc && *room != UINT64_MAX) *room -= *is_new;
    return rc;
}

/* t->hit says which may be there, and afterwards which were new. Any thread. */
static void add_missing(items *t, tamis *filter, const bf_shape *s, outcome *o) {
    uint64_t room = room_left(s);
    *o = (outcome){.done = 0};
    for (; o->done < t->count; o->done++) {
        bool is_new = false;
        const tamis_status rc =
            t->hit[o->done] ? TAMIS_OK : add_one(t, filter, o->done, &room, &is_new);
        if (rc) {
            o->is_full = rc == TAMIS_FULL && s->is_fixed;
            if (!o->is_full) snprintf(o->why, sizeof o->why, "%s", tamis_why());
            return;
        }
        t->hit[o->done] = is_new;
        o->added += is_new;
    }
}

/* ---- Telling it ---------------------------------------------------------------------------------- */

static void reply_failure(redis_ctx *ctx, const outcome *o) {
    if (o->is_full)
        redis.ReplyWithError(ctx, "ERR non scaling filter is full");
    else
        reply_error(ctx, "ERR problem inserting into filter: %s", o->why);
}

static void reply_outcome(redis_ctx *ctx, const items *t, const outcome *o, bool is_single) {
    const bool failed = o->done < t->count;
    if (!is_single) redis.ReplyWithArray(ctx, (long)o->done + failed);
    for (size_t i = 0; i < o->done; i++) reply_bool(ctx, t->hit[i]);
    if (failed) reply_failure(ctx, o);
}

static void replicate(redis_ctx *ctx, redis_string *key, redis_string **item, const items *t,
                      const outcome *o) {
    redis_string *few[FEW_ITEMS];
    redis_string **added = o->added <= FEW_ITEMS ? few : redis.Alloc(o->added * sizeof *added);
    size_t n = 0;
    for (size_t i = 0; i < o->done; i++)
        if (t->hit[i]) added[n++] = item[i];
    redis.Replicate(ctx, "BF.MADD", "sv", key, added, n);
    if (added != few) redis.Free(added);
}

static void tell(redis_ctx *ctx, redis_string *key, redis_string **item, const items *t,
                 const outcome *o, bool is_single) {
    if (o->added) {
        replicate(ctx, key, item, t, o);
        redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "bloom.add", key);
    }
    reply_outcome(ctx, t, o, is_single);
}

/* ---- Jobs ------------------------------------------------------------------------------------------ */

/* Items that a job adds, which are held; and what it makes when there is nothing yet. */
typedef struct batch {
    bool is_single;
    creation create;
    bf_shape shape;
    items items;
    outcome outcome;
    int count;
    redis_string *item[];
} batch;

static batch *batch_new(redis_ctx *ctx, redis_string **item, int count, bool is_single) {
    batch *b = try_alloc(sizeof *b + (size_t)count * sizeof *b->item);
    if (!b) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    b->is_single = is_single;
    b->create.notes = 0;
    b->items.memory = NULL;
    b->count = count;
    for (int i = 0; i < count; i++) b->item[i] = redis.HoldString(NULL, item[i]);
    return b;
}

static void batch_free(batch *b) {
    for (int i = 0; i < b->count; i++) redis.FreeString(NULL, b->item[i]);
    items_free(&b->items);
    creation_free(&b->create);
    redis.Free(b);
}

static void clean(job *j) {
    batch_free(j->task);
}

static int give_to_worker(redis_ctx *ctx, job *j, batch *b, uint64_t bytes) {
    if (!j) {
        batch_free(b);
        return REDIS_OK;
    }
    j->task = b;
    j->clean = clean;
    return job_do(ctx, j, bytes);
}

/* ---- A large filter that must grow --------------------------------------------------------------- */

static void grow(job *j) {
    batch *b = j->task;
    const tamis_status rc = tamis_copy(&j->result, j->target->filter);
    if (rc)
        job_fail(j, rc);
    else
        add_missing(&b->items, j->result, &b->shape, &b->outcome);
}

static void end_grow(job *j, redis_ctx *ctx) {
    batch *b = j->task;
    place p;
    if (!job_place(ctx, j, &p)) {
        tamis_free(j->result);
        return;
    }
    if (j->rc) {
        b->outcome = (outcome){.done = 0};
        snprintf(b->outcome.why, sizeof b->outcome.why, "%s", j->why);
    } else if (b->outcome.added) {
        value_replace(j->target, j->result);
    } else {
        tamis_free(j->result);
    }
    place_close(&p);
    tell(ctx, j->key, b->item, &b->items, &b->outcome, b->is_single);
}

static int grow_elsewhere(redis_ctx *ctx, value *v, const bf_shape *shape, redis_string *key,
                          redis_string **item, int count, bool is_single) {
    batch *b = batch_new(ctx, item, count, is_single);
    if (!b) return REDIS_OK;
    if (!items_take(ctx, &b->items, v, b->item, count)) {
        b->items.memory = NULL;
        batch_free(b);
        return REDIS_OK;
    }
    items_ask(&b->items, v->filter);
    b->shape = *shape;
    job *j = job_new(ctx, key, v);
    if (j) j->make = grow, j->end = end_grow;
    return give_to_worker(ctx, j, b, tamis_stored_size(v->filter));
}

/* ---- A filter that is there ------------------------------------------------------------------------ */

static bool must_grow(const items *t, const value *v) {
    uint64_t bytes, missing = 0;
    tamis_payload(v->filter, &bytes);
    if (bytes < LARGE_BYTES) return false;
    for (size_t i = 0; i < t->count; i++) missing += !t->hit[i];
    return tamis_room(v->filter) < missing;
}

/* Is there anything that add_here may leave to a job? Not what was only just made. */
enum { HERE, ELSEWHERE };

static void add_here(redis_ctx *ctx, value *v, redis_string *key, redis_string **item, int count,
                     bool is_single, int where) {
    items t;
    outcome o;
    const bf_shape shape = bf_shape_of(v);
    if (!items_take(ctx, &t, v, item, count)) return;
    items_ask(&t, v->filter);
    if (where == ELSEWHERE && !shape.is_fixed && must_grow(&t, v)) {
        grow_elsewhere(ctx, v, &shape, key, item, count, is_single);
    } else {
        add_missing(&t, v->filter, &shape, &o);
        tell(ctx, key, item, &t, &o, is_single);
    }
    items_free(&t);
}

/* ---- A new filter ----------------------------------------------------------------------------------- */

static void make_new(job *j) {
    const tamis_status rc = creation_make(&((batch *)j->task)->create, &j->result);
    if (rc) job_fail(j, rc);
}

static void end_new(job *j, redis_ctx *ctx) {
    batch *b = j->task;
    place p;
    if (j->rc) {
        reply_error(ctx, "ERR could not create filter: %s", j->why);
        return;
    }
    if (!job_place(ctx, j, &p)) {
        tamis_free(j->result);
        return;
    }
    value *v = creation_put(ctx, &p, j->key, &b->create, j->result);
    place_close(&p);
    if (v) add_here(ctx, v, j->key, b->item, b->count, b->is_single, HERE);
}

static void make_elsewhere(redis_ctx *ctx, creation *c, redis_string *key, redis_string **item,
                           int count, bool is_single) {
    batch *b = batch_new(ctx, item, count, is_single);
    if (!b) {
        creation_free(c);
        return;
    }
    b->create = *c;
    job *j = job_new(ctx, key, NULL);
    if (j) j->make = make_new, j->end = end_new;
    give_to_worker(ctx, j, b, c->bytes);
}

static void add_to_new(redis_ctx *ctx, place *p, redis_string *key, redis_string **item, int count,
                       const bf_wish *wish, bool is_single) {
    creation c;
    if (!bf_plan(ctx, wish, &c)) return;
    if (c.bytes >= LARGE_BYTES) {
        place_close(p); /* the job opens it again */
        make_elsewhere(ctx, &c, key, item, count, is_single);
        return;
    }
    value *v = creation_now(ctx, p, key, &c);
    place_close(p);
    if (v) add_here(ctx, v, key, item, count, is_single, HERE);
}

int bf_add(redis_ctx *ctx, redis_string *key, redis_string **item, int count, const bf_wish *wish,
           bool is_single) {
    place p = place_open(ctx, key, REDIS_READ | REDIS_WRITE, FAMILY_BF);
    if (!p.value && !p.is_wrong && wish) {
        add_to_new(ctx, &p, key, item, count, wish, is_single);
    } else {
        value *v = bf_value(ctx, &p, BF_NOT_FOUND);
        place_close(&p);
        if (v) add_here(ctx, v, key, item, count, is_single, ELSEWHERE);
    }
    place_close(&p);
    return REDIS_OK;
}
