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

/* What came of it. Items behind the first that found no room were not looked at. */
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
    struct tamis_info info;
    limits l = {.room = UINT64_MAX};
    if (v->hashes_itself) {
        l.is_fixed = bloom_header_at(bloom_payload(v->filter)).options & BLOOM_DOES_NOT_SCALE;
    } else if (v->facts.expansion == 0) {
        tamis_get_info(v->filter, &info, sizeof info);
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
    return (slice){from, t->count - from < SLICE ? t->count - from : SLICE};
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

static bool is_there(const items *t, const tamis *filter, size_t i) {
    return t->hash ? tamis_has_hash(filter, t->hash[i])
                   : tamis_has(filter, t->key[i].bytes, t->key[i].len);
}

static tamis_status add_one(items *t, tamis *filter, size_t i, limits *l) {
    bool is_new = false;
    tamis_status rc = TAMIS_OK;
    if (!t->hit[i] && l->room == 0)
        rc = is_there(t, filter, i) ? TAMIS_OK : TAMIS_FULL;
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

/* A command that was done goes to replicas as it came, which costs the server nothing for each
 * item; one that made the filter, was left to a job or found no room goes as what was done, which
 * takes the same steps there. */
static void tell_others(redis_ctx *ctx, redis_string *key, redis_string **item, const items *t,
                        const outcome *o, bool may_go_as_it_came) {
    if (may_go_as_it_came && o->done == t->count)
        redis.ReplicateVerbatim(ctx);
    else if (o->done)
        redis.Replicate(ctx, "BF.MADD", "sv", key, item, o->done);
    if (o->added) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "bloom.add", key);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Items that a job adds, which it holds; and what it makes when there is nothing yet. */
typedef struct batch {
    bool is_single;
    creation create;
    limits limits;
    items items;
    outcome outcome;
} batch;

static batch *batch_new(redis_ctx *ctx, bool is_single) {
    batch *b = try_alloc(sizeof *b);
    if (!b) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    b->is_single = is_single;
    b->create.notes = 0;
    b->items.memory = NULL;
    return b;
}

static void batch_free(void *data) {
    batch *b = data;
    items_free(&b->items);
    creation_free(&b->create);
    redis.Free(b);
}

static void clean(job *j) {
    batch_free(j->task);
}

static int give_to_worker(redis_ctx *ctx, job *j, batch *b, redis_string **item, int count,
                          uint64_t bytes) {
    if (!j) {
        batch_free(b);
        return REDIS_OK;
    }
    job_hold(j, item, (size_t)count);
    j->task = b;
    j->clean = clean;
    return job_do(ctx, j, bytes);
}

/* ---- A large filter that must grow ----------------------------------------------------------- */

static void grow(job *j) {
    batch *b = j->task;
    const tamis_status rc = tamis_copy(&j->result, j->target->filter);
    if (rc) {
        job_fail(j, rc);
        return;
    }
    items_read(&b->items, j->target, j->held, 1, 0, b->items.count);
    add_items(&b->items, j->result, b->limits, &b->outcome);
}

static void reply_batch(redis_ctx *ctx, void *task) {
    const batch *b = task;
    reply_outcome(ctx, &b->items, &b->outcome, b->is_single);
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
        job_replace(j);
    } else {
        tamis_free(j->result);
    }
    place_close(&p);
    tell_others(ctx, j->key, j->held, &b->items, &b->outcome, false);
    job_answer(ctx, j, reply_batch, b->outcome.done);
}

/* Items for a filter that is there; NULL, with the error replied, when there is no memory. */
static batch *batch_for(redis_ctx *ctx, const value *v, int count, bool is_single) {
    batch *b = batch_new(ctx, is_single);
    if (!b) return NULL;
    b->limits = limits_of(v);
    b->outcome = (outcome){.done = 0};
    if (items_room(ctx, &b->items, v, count)) return b;
    batch_free(b);
    return NULL;
}

static void grow_elsewhere(redis_ctx *ctx, value *v, redis_string *key, redis_string **item,
                           int count, bool is_single) {
    batch *b = batch_for(ctx, v, count, is_single);
    if (!b) return;
    job *j = job_new(ctx, key, v);
    if (j) j->make = grow, j->end = end_grow;
    const uint64_t bytes = tamis_image_size(v->filter);
    give_to_worker(ctx, j, b, item, count, bytes);
}

static bool is_large(const value *v) {
    uint64_t bytes;
    tamis_payload(v->filter, &bytes);
    return bytes >= LARGE_BYTES;
}

/* ---- Very many items ------------------------------------------------------------------------- */

/* Before a slice is begun: one that would end in the middle of another would be cut otherwise
 * elsewhere. */
static bool grows_for(batch *b, const value *v, slice s) {
    const uint64_t room = tamis_remaining(v->filter);
    size_t missing = 0;
    if (b->limits.is_fixed || room >= s.count || !is_large(v)) return false;
    items_ask_some(&b->items, v->filter, s.from, s.count);
    for (size_t i = s.from; i < s.from + s.count; i++) missing += !b->items.hit[i];
    return missing > room;
}

static bool lacks_copy(stream *s, tamis_status rc, const char *why) {
    outcome *o = &((batch *)s->data)->outcome;
    (void)rc;
    snprintf(o->why, sizeof o->why, "%s", why);
    return false;
}

static bool add_some(stream *s, value *v) {
    batch *b = s->data;
    const slice next = slice_at(&b->items, b->outcome.done);
    items_read(&b->items, v, s->item, 1, next.from, next.count);
    s->must_grow = !s->is_copy && grows_for(b, v, next);
    if (s->must_grow) return true;
    const bool is_good = add_next(&b->items, v->filter, &b->limits, &b->outcome);
    s->done = b->outcome.done;
    s->changed = b->outcome.added;
    return is_good;
}

static void replicate_some(redis_ctx *ctx, const stream *s, redis_string *key, size_t from) {
    redis.Replicate(ctx, "BF.MADD", "sv", key, s->item + from, s->done - from);
}

static void reply_stream(redis_ctx *ctx, const stream *s) {
    reply_batch(ctx, s->data);
}

static void add_very_many(redis_ctx *ctx, value *v, redis_string *key, redis_string **item,
                          int count) {
    batch *b = batch_for(ctx, v, count, false);
    const stream s = {.some = add_some,
                      .replicate = replicate_some,
                      .lacks_copy = lacks_copy,
                      .reply = reply_stream,
                      .free = batch_free,
                      .data = b,
                      .event = "bloom.add",
                      .count = (size_t)count,
                      .strings = (size_t)count};
    if (b) many_change(ctx, key, v, item, &s);
}

/* ---- A filter that is there ------------------------------------------------------------------ */

static bool must_grow(items *t, const value *v) {
    uint64_t missing = 0;
    const uint64_t room = tamis_remaining(v->filter);
    if (!is_large(v) || room >= t->count) return false;
    items_ask(t, v->filter);
    for (size_t i = 0; i < t->count; i++) missing += !t->hit[i];
    return room < missing;
}

/* Is there anything that add_here may leave to a job? Not what was only just made. */
enum { HERE, ELSEWHERE };

static void add_here(redis_ctx *ctx, value *v, redis_string *key, redis_string **item, int count,
                     bool is_single, int where) {
    items t;
    outcome o;
    const limits l = limits_of(v);
    if (many_may_wait(ctx, count)) {
        add_very_many(ctx, v, key, item, count);
        return;
    }
    if (!items_take(ctx, &t, v, item, count)) return;
    if (where == ELSEWHERE && !l.is_fixed && must_grow(&t, v)) {
        grow_elsewhere(ctx, v, key, item, count, is_single);
    } else {
        add_items(&t, v->filter, l, &o);
        tell_others(ctx, key, item, &t, &o, where == ELSEWHERE);
        reply_outcome(ctx, &t, &o, is_single);
    }
    items_free(&t);
}

/* ---- A new filter ---------------------------------------------------------------------------- */

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
    if (!job_lands(ctx, j, &p)) return;
    value *v = creation_put(ctx, &p, j->key, &b->create, j->result);
    place_close(&p);
    if (v) add_here(ctx, v, j->key, j->held, (int)j->held_count, b->is_single, HERE);
}

static void make_elsewhere(redis_ctx *ctx, creation *c, redis_string *key, redis_string **item,
                           int count, bool is_single) {
    batch *b = batch_new(ctx, is_single);
    if (!b) {
        creation_free(c);
        return;
    }
    b->create = *c;
    job *j = job_new(ctx, key, NULL);
    if (j) j->make = make_new, j->end = end_new;
    give_to_worker(ctx, j, b, item, count, c->bytes);
}

static void add_to_new(redis_ctx *ctx, place *p, redis_string *key, redis_string **item, int count,
                       const bf_params *params, bool is_single) {
    creation c;
    if (!bf_plan(ctx, params, &c)) return;
    if (c.bytes >= LARGE_BYTES) {
        place_close(p); /* the job opens it again */
        make_elsewhere(ctx, &c, key, item, count, is_single);
        return;
    }
    value *v = creation_now(ctx, p, key, &c);
    place_close(p);
    if (v) add_here(ctx, v, key, item, count, is_single, HERE);
}

int bf_add(redis_ctx *ctx, redis_string *key, redis_string **item, int count,
           const bf_params *params, bool is_single) {
    place p = place_open(ctx, key, REDIS_READ | REDIS_WRITE, FAMILY_BF);
    if (!p.value && !p.is_wrong && params) {
        add_to_new(ctx, &p, key, item, count, params, is_single);
    } else {
        value *v = bf_value(ctx, &p, BF_NOT_FOUND);
        place_close(&p);
        if (v) add_here(ctx, v, key, item, count, is_single, ELSEWHERE);
    }
    place_close(&p);
    return REDIS_OK;
}
