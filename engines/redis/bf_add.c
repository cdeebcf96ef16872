/* SPDX-License-Identifier: MIT */
/* BF.ADD, BF.MADD and BF.INSERT: what they do to a filter.
 *
 * Items are hashed, then asked for, so that many cache misses are under way at once; then those
 * that are missing are added in order. All of them are replicated, as BF.MADD: one that seemed to
 * be there may be taken for another, and a version that lays filters out otherwise would not know
 * it. A large filter that has no room for them is copied, added to and put in place on the worker;
 * a large new one is made there. Very many are added in steps, slice by slice, so that what
 * replicas get of a step is cut into the same slices. */
#include <stdio.h>
#include <string.h>

#include "engines/redis/bf.h"
#include "engines/redis/many.h"
#include "engines/redis/origin_bloom.h"
#include "tamis_engine.h"

/* ---- Adding to a filter ---------------------------------------------------------------------- */

/* What came of it. Items after the first that found no room were not looked at. */
typedef struct outcome {
    size_t done, added;
    bool is_full; /* as what does not scale becomes */
    char why[JOB_WHY];
} outcome;

/* Where a filter ends: those of our own that do not scale would take any number. */
typedef struct limits {
    bool is_fixed;
    uint64_t room;
} limits;

static limits limits_of(const value *v) {
    struct tamis_info info = TAMIS_INFO_INIT;
    limits l = {.room = UINT64_MAX};
    if (v->hashes_itself) {
        l.is_fixed = bloom_header_at(bloom_payload(v->filter)).options & BLOOM_DOES_NOT_SCALE;
    } else if (v->facts.expansion == 0) {
        tamis_get_info(v->filter, &info);
        l = (limits){true, info.items < info.capacity ? info.capacity - info.items : 0};
    }
    return l;
}

/* So many at a time that what the questions brought into the caches is still there for the adds. */
enum { SLICE = 256, SLOTS = 2 * SLICE };

/* A slice of the items: from where on, and how many. */
typedef struct slice {
    size_t from, count;
} slice;

static slice slice_at(const items *t, size_t from) {
    return (slice){from, (size_t)lesser(t->count - from, SLICE)};
}

/* The hashes that are not there, each once: those that come again are marked as hits. */
static size_t pick_fresh(items *t, slice s, uint64_t fresh[SLICE]) {
    uint16_t seen[SLOTS] = {0}; /* one more than the place in `fresh` */
    size_t n = 0;
    for (size_t i = s.from; i < s.from + s.count; i++) {
        const uint64_t hash = t->hash[i];
        size_t slot = hash % SLOTS;
        if (t->hit[i]) continue;
        while (seen[slot] && fresh[seen[slot] - 1] != hash) slot = (slot + 1) % SLOTS;
        t->hit[i] = seen[slot] != 0;
        if (t->hit[i]) continue;
        fresh[n++] = hash;
        seen[slot] = (uint16_t)n;
    }
    return n;
}

/* All of a slice that is not there, in one call. */
static tamis_status add_slice(items *t, tamis *filter, slice s, limits *l, outcome *o,
                              bool *is_done) {
    uint64_t fresh[SLICE];
    const size_t n = pick_fresh(t, s, fresh);
    *is_done = n <= l->room && n <= tamis_remaining(filter);
    if (!*is_done) return TAMIS_OK;
    const tamis_status rc = tamis_add_hashes(filter, fresh, n);
    if (rc) return rc;
    for (size_t i = s.from; i < s.from + s.count; i++) t->hit[i] = !t->hit[i];
    if (l->room != UINT64_MAX) l->room -= n;
    o->added += n;
    o->done += s.count;
    return TAMIS_OK;
}

static tamis_status add_one(items *t, tamis *filter, size_t i, limits *l) {
    bool is_new = false;
    tamis_status rc = TAMIS_OK;
    if (!t->hit[i] && l->room == 0)
        rc = items_has(t, filter, i) ? TAMIS_OK : TAMIS_FULL;
    else if (!t->hit[i])
        rc = items_add_new(t, filter, i, &is_new);
    if (l->room != UINT64_MAX) l->room -= is_new;
    if (!rc) t->hit[i] = is_new;
    return rc;
}

/* One after the other: where room ends in the middle, and for filters of RedisBloom, which it makes
 * byte for byte. */
static tamis_status add_one_by_one(items *t, tamis *filter, slice s, limits *l, outcome *o) {
    for (size_t i = s.from; i < s.from + s.count; i++) {
        const tamis_status rc = add_one(t, filter, i, l);
        if (rc) return rc;
        o->added += t->hit[i];
        o->done++;
    }
    return TAMIS_OK;
}

/* The next slice; false, and noted why, when an item of it did not go in. */
static bool add_next(items *t, tamis *filter, limits *l, outcome *o) {
    const slice s = slice_at(t, o->done);
    tamis_status rc = TAMIS_OK;
    bool is_done = false;
    if (s.count > 1)
        items_ask_some(t, filter, s.from, s.count);
    else
        t->hit[s.from] = false; /* one that is added is asked for on the way */
    if (t->hash && s.count > 1) rc = add_slice(t, filter, s, l, o, &is_done);
    if (!rc && !is_done) rc = add_one_by_one(t, filter, s, l, o);
    o->is_full = rc == TAMIS_FULL && l->is_fixed;
    if (rc && !o->is_full) snprintf(o->why, sizeof o->why, "%s", refusal(rc));
    return !rc;
}

/* t->hit becomes which were new. Any thread. */
static void add_items(items *t, tamis *filter, limits l, outcome *o) {
    *o = (outcome){.done = 0};
    while (o->done < t->count && add_next(t, filter, &l, o)) continue;
}

/* ---- Telling it ------------------------------------------------------------------------------ */

static void reply_failure(request *r, const outcome *o) {
    if (o->is_full)
        redis.ReplyWithError(r->ctx, "ERR non scaling filter is full");
    else
        reply_error(r->ctx, "ERR problem inserting into filter: %s", o->why);
}

static void reply_outcome(request *r, const items *t, const outcome *o) {
    const bool failed = o->done < t->count;
    if (r->form != REPLY_SINGLE) redis.ReplyWithArray(r->ctx, (long)o->done + failed);
    for (size_t i = 0; i < o->done; i++) reply_bool(r->ctx, t->hit[i]);
    if (failed) reply_failure(r, o);
}

/* The items from here on, as what was done: it takes the same steps there. */
static void replicate_items(request *r, size_t from, size_t count) {
    redis.Replicate(r->ctx, "BF.MADD", "sv", r->key, request_items(r) + from, count);
}

static const char added_event[] = "bloom.add";

/* A command that was done goes to replicas as it came, which costs the server nothing for each
 * item, unless it made the filter or was left to a job, or found no room. */
static void tell_others(request *r, const items *t, const outcome *o) {
    if (r->is_verbatim && o->done == t->count)
        request_replicate(r);
    else if (o->done)
        replicate_items(r, 0, o->done);
    if (o->added) request_notify(r, added_event);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Items that a job adds. */
typedef struct batch {
    limits limits;
    items items;
    outcome outcome;
} batch;

/* NULL, with the error replied, when there is no memory. */
static batch *batch_new(request *r) {
    batch *b = reply_alloc(r->ctx, sizeof *b);
    if (!b) return NULL;
    b->limits = limits_of(r->value);
    b->outcome = (outcome){.done = 0};
    if (items_room(r, &b->items, r->value, request_count(r))) return b;
    redis.Free(b);
    return NULL;
}

static void batch_clear(void *task) {
    items_free(&((batch *)task)->items);
}

static void batch_free(void *data) {
    batch_clear(data);
    redis.Free(data);
}

static void reply_batch(request *r, void *task) {
    const batch *b = task;
    reply_outcome(r, &b->items, &b->outcome);
}

static bool is_large(const value *v) {
    uint64_t bytes;
    tamis_payload(v->filter, &bytes);
    return bytes >= LARGE_BYTES;
}

/* ---- A large filter that must grow ----------------------------------------------------------- */

/* For these items; not what does not scale. */
static bool must_grow(items *t, const value *v, slice s) {
    if (!is_large(v)) return false;
    const uint64_t room = tamis_remaining(v->filter);
    return room < s.count && items_missing(t, v->filter, s.from, s.count) > room;
}

static void grow(job *j) {
    batch *b = j->task;
    if (!job_copy_target(j)) return;
    items_read(&b->items, j->target, request_items(j->request), 1, 0, b->items.count);
    add_items(&b->items, j->result, b->limits, &b->outcome);
}

static void end_grow(job *j) {
    batch *b = j->task;
    if (!job_place(j)) {
        tamis_free(j->result);
        return;
    }
    if (j->rc) {
        b->outcome = (outcome){.done = 0};
        snprintf(b->outcome.why, sizeof b->outcome.why, "%s", j->why);
    } else if (b->outcome.added) {
        job_replace(j);
    } else {
        tamis_free(j->result);
    }
    j->request->is_verbatim = false;
    tell_others(j->request, &b->items, &b->outcome);
    job_answer(j, reply_batch, b->outcome.done);
}

static int grow_elsewhere(request *r) {
    batch *b = batch_new(r);
    job *j = b ? job_new(r, r->value, 0) : NULL;
    if (!j) {
        if (b) batch_free(b);
        return REDIS_OK;
    }
    j->task = b;
    j->make = grow, j->end = end_grow, j->clean = batch_clear;
    return job_do(j, tamis_image_size(r->value->filter));
}

/* ---- Very many items ------------------------------------------------------------------------- */

static bool lacks_copy(stream *s, tamis_status rc, const char *why) {
    outcome *o = &((batch *)s->data)->outcome;
    (void)rc;
    snprintf(o->why, sizeof o->why, "%s", why);
    return false;
}

/* Whether it must grow is asked before a slice is begun: one that would end in the middle of
 * another would be cut otherwise elsewhere. */
static bool add_some(stream *s, value *v) {
    batch *b = s->data;
    const slice next = slice_at(&b->items, b->outcome.done);
    items_read(&b->items, v, s->item, 1, next.from, next.count);
    s->must_grow = !s->is_copy && !b->limits.is_fixed && must_grow(&b->items, v, next);
    if (s->must_grow) return true;
    const bool is_good = add_next(&b->items, v->filter, &b->limits, &b->outcome);
    s->done = b->outcome.done;
    s->changed = b->outcome.added;
    return is_good;
}

static void replicate_some(request *r, const stream *s, size_t from) {
    replicate_items(r, from, s->done - from);
}

static void reply_stream(request *r, const stream *s) {
    reply_batch(r, s->data);
}

static int add_very_many(request *r) {
    batch *b = batch_new(r);
    const stream s = {.some = add_some,
                      .replicate = replicate_some,
                      .lacks_copy = lacks_copy,
                      .reply = reply_stream,
                      .free = batch_free,
                      .data = b,
                      .event = added_event,
                      .count = request_count(r)};
    return b ? many_change(r, &s) : REDIS_OK;
}

/* ---- One item -------------------------------------------------------------------------------- */

/* Growth is for the general way: it needs memory, and a large filter takes long. */
ONE_ITEM bool bf_add_one(request *r) {
    const value *v = r->value;
    const struct tamis_key item = key_of(*request_items(r));
    bool is_new;
    if (!v || !v->filter || v->hashes_itself || v->facts.expansion == 0) return false;
    if (tamis_remaining(v->filter) == 0) return false;
    if (tamis_add_new(v->filter, item.bytes, item.len, &is_new)) return false;
    count_items(r, 1);
    request_replicate(r);
    if (is_new) request_notify(r, added_event);
    reply_bool(r->ctx, is_new);
    return true;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* What the request has only just made is not left to a job again. */
static int add_here(request *r) {
    items t;
    outcome o;
    const value *v = r->value;
    const limits l = limits_of(v);
    if (many_may_wait(r, request_count(r))) return add_very_many(r);
    if (!items_take(r, &t, v)) return REDIS_OK;
    if (r->is_verbatim && !l.is_fixed && must_grow(&t, v, (slice){0, t.count})) {
        grow_elsewhere(r);
    } else {
        add_items(&t, v->filter, l, &o);
        tell_others(r, &t, &o);
        reply_outcome(r, &t, &o);
    }
    items_free(&t);
    return REDIS_OK;
}

int bf_add(request *r, const bf_params *params, bool may_create) {
    creation c;
    if (r->value || r->is_wrong || !may_create)
        return request_value(r, NOT_FOUND) ? add_here(r) : REDIS_OK;
    const bf_params usual = bf_usual_params();
    if (!bf_plan(r, params ? params : &usual, &c)) return REDIS_OK;
    c.then = add_here;
    if (c.bytes >= LARGE_BYTES) c.failure = "ERR could not create filter";
    return creation_do(r, &c);
}
