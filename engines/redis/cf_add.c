/* SPDX-License-Identifier: MIT */
/* CF.ADD, CF.ADDNX, CF.INSERT and CF.INSERTNX.
 *
 * A multiset that is full is enlarged: at once while it is small, and by a job on a copy of it when
 * it is large. When it is enlarged follows from what is added alone, item by item, so that
 * replicas, which get exactly the items that went in, come to the same bytes. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/cf.h"
#include "engines/redis/commands.h"
#include "engines/redis/many.h"
#include "tamis_engine.h"

/* ---- One command ----------------------------------------------------------------------------- */

enum { ADDED = 1, WAS_THERE = 0, NO_ROOM = -1 };

typedef struct adding {
    items t;
    facts facts;
    bool only_new;
    bool scales;          /* somehow: RedisBloom's kind does it by itself */
    bool grows;           /* by our hand */
    uint64_t max_filters; /* that it may be enlarged to */
    uint64_t left;        /* how many may be added when it does not grow */
    size_t added;
    tamis_status failure; /* of the first that did not go in; and why, in the library's words */
    char why[JOB_WHY];
    int8_t *result, few[FEW_ITEMS];
} adding;

static void adding_clear(void *task) {
    adding *a = task;
    items_free(&a->t);
    if (a->result != a->few) redis.Free(a->result);
}

/* What the primary or a file tells went in there, whatever the settings here are. */
static uint64_t max_filters(void) {
    return bounds_bind() ? (uint64_t)settings.cf_max_expansions : UINT64_MAX;
}

/* False, with the error replied, when there is no memory. The items are still to be read. */
static bool adding_begin(request *r, adding *a) {
    const value *v = r->value;
    const cf_shape s = cf_shape_of(v);
    const size_t count = request_count(r);
    a->facts = v->facts;
    a->only_new = r->only_new;
    a->max_filters = max_filters();
    a->scales = s.expansion;
    a->grows = s.is_multiset && s.expansion;
    a->left =
        s.is_multiset && !s.expansion ? (s.items < s.cells ? s.cells - s.items : 0) : UINT64_MAX;
    a->added = 0;
    a->failure = TAMIS_OK, *a->why = 0;
    a->result = count <= FEW_ITEMS ? a->few : reply_alloc(r->ctx, count);
    if (!a->result) return false;
    if (items_room(r, &a->t, v, count)) return true;
    if (a->result != a->few) redis.Free(a->result);
    return false;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static tamis_status put(const adding *a, tamis *filter, size_t i) {
    const items *t = &a->t;
    return t->hash ? tamis_add_hash(filter, t->hash[i])
                   : tamis_add(filter, t->key[i].bytes, t->key[i].len);
}

static bool may_enlarge(const adding *a) {
    return a->grows && a->facts.filters < a->max_filters;
}

static tamis_status add_one(adding *a, tamis *filter, size_t i) {
    tamis_status rc =
        a->left == 0 || (a->grows && tamis_remaining(filter) == 0) ? TAMIS_FULL : put(a, filter, i);
    if (rc == TAMIS_FULL && may_enlarge(a)) {
        rc = cf_enlarge(filter, &a->facts);
        if (!rc) rc = put(a, filter, i);
    }
    return rc;
}

/* Up to the first for which a filter would have to move to much more memory while others wait;
 * where that is. */
static size_t add_some(adding *a, tamis *filter, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (a->only_new && items_has(&a->t, filter, i)) {
            a->result[i] = WAS_THERE;
            continue;
        }
        const tamis_status rc = add_one(a, filter, i);
        if (rc && bounds_were_long()) return i;
        a->result[i] = rc ? NO_ROOM : ADDED;
        if (!rc) {
            a->added++;
            a->left--;
        } else if (!a->failure) {
            a->failure = rc;
            snprintf(a->why, sizeof a->why, "%s", tamis_why());
        }
    }
    return to;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static int reply_failure(request *r, const adding *a) {
    if (a->failure == TAMIS_NOMEM) return reply_no_memory(r->ctx);
    if (a->failure != TAMIS_FULL) return reply_error(r->ctx, "ERR %s", a->why);
    return redis.ReplyWithError(r->ctx,
                                a->scales ? "Maximum expansions reached" : "Filter is full");
}

/* An array where RedisBloom has one: also when all that goes wrong is that a filter which does not
 * grow is full. */
static bool is_error(const request *r, const adding *a) {
    if (!a->failure || r->form == REPLY_SINGLE) return a->failure;
    return a->added == 0 && (a->failure != TAMIS_FULL || a->scales);
}

static void reply_results(request *r, void *task) {
    const adding *a = task;
    const bool has_bools = redis.GetContextFlags(r->ctx) & REDIS_IS_RESP3;
    if (is_error(r, a)) {
        reply_failure(r, a);
        return;
    }
    if (r->form != REPLY_SINGLE) redis.ReplyWithArray(r->ctx, (long)a->t.count);
    for (size_t i = 0; i < a->t.count; i++) {
        if (has_bools && r->form != REPLY_NUMBERS)
            reply_bool(r->ctx, a->result[i] == ADDED);
        else
            redis.ReplyWithLongLong(r->ctx, a->result[i]);
    }
}

/* Replicas get what went in, and what seemed to be there: it may be taken for another, and a
 * version that lays filters out otherwise would not know it. */
static void replicate(request *r, const adding *a, size_t from, size_t to) {
    redis_string **item = request_items(r) + from, *few[FEW_ITEMS], **kept = NULL;
    size_t found = 0; /* that are answered yes from now on */
    for (size_t i = from; i < to; i++) found += a->result[i] != NO_ROOM;
    if (found == 0) return;
    if (r->is_verbatim && found == a->t.count) {
        request_replicate(r);
        return;
    }
    if (found < to - from) {
        kept = found <= FEW_ITEMS ? few : redis.Alloc(found * sizeof *item);
        for (size_t i = from, n = 0; i < to; i++)
            if (a->result[i] != NO_ROOM) kept[n++] = request_items(r)[i];
        item = kept;
    }
    redis.Replicate(r->ctx, a->only_new ? "CF.INSERTNX" : "CF.INSERT", "sccv", r->key, "NOCREATE",
                    "ITEMS", item, found);
    if (kept != few) redis.Free(kept);
}

static const char added_event[] = "cf.add";

static void finish(request *r, const adding *a) {
    r->value->facts = a->facts;
    replicate(r, a, 0, a->t.count);
    if (a->added) request_notify(r, added_event);
}

/* ---- On the worker --------------------------------------------------------------------------- */

/* May it have to be enlarged, and is it large? Then nothing is added before that is known. What the
 * request has only just made is not left to a job again. */
static bool is_for_worker(const request *r, adding *a) {
    const tamis *filter = r->value->filter;
    if (!r->is_verbatim || !may_enlarge(a) || 2 * tamis_image_size(filter) < LARGE_BYTES)
        return false;
    const uint64_t room = tamis_remaining(filter);
    if (room >= a->t.count || !a->only_new) return room < a->t.count;
    return room < items_missing(&a->t, filter, 0, a->t.count);
}

/* When it is done at once, a copy would only take memory. */
static void add_to_copy(job *j) {
    adding *a = j->task;
    if (job_is_awaited(j) && !job_copy_target(j)) return;
    items_read(&a->t, j->target, request_items(j->request), 1, 0, a->t.count);
    add_some(a, j->result ? j->result : j->target->filter, 0, a->t.count);
}

static void end_adding(job *j) {
    const adding *a = j->task;
    if (j->rc) {
        reply_no_memory(j->request->ctx);
    } else if (job_lands(j)) {
        if (j->result) job_replace(j);
        j->request->is_verbatim = false;
        finish(j->request, a);
        job_answer(j, reply_results, a->t.count);
    }
}

static void adding_free(void *data) {
    adding_clear(data);
    redis.Free(data);
}

/* A command that is done later; NULL, with the error replied, when there is no memory. */
static adding *adding_new(request *r) {
    adding *a = reply_alloc(r->ctx, sizeof *a);
    if (!a || adding_begin(r, a)) return a;
    redis.Free(a);
    return NULL;
}

static int add_elsewhere(request *r) {
    value_note_facts(r->value); /* it may not be written while the worker reads it */
    adding *a = adding_new(r);
    job *j = a ? job_new(r, r->value, 0) : NULL;
    if (!j) {
        if (a) adding_free(a);
        return REDIS_OK;
    }
    j->task = a;
    j->make = add_to_copy, j->end = end_adding, j->clean = adding_clear;
    return job_do(j, 2 * tamis_image_size(r->value->filter));
}

/* ---- Very many items ------------------------------------------------------------------------- */

static bool step_adding(stream *s, value *v) {
    adding *a = s->data;
    const size_t to = s->done + (size_t)lesser(s->count - s->done, ITEMS_AT_ONCE);
    items_read(&a->t, v, s->item, 1, s->done, to - s->done);
    s->done = add_some(a, v->filter, s->done, to);
    s->must_grow = s->done < to;
    if (s->is_copy && a->failure) s->in_haste = false; /* one copy that could not grow is enough */
    v->facts = a->facts;
    s->changed = a->added;
    return true;
}

/* What finds room without is still added. */
static bool lacks_copy(stream *s, tamis_status rc, const char *why) {
    adding *a = s->data;
    a->failure = rc;
    snprintf(a->why, sizeof a->why, "%s", why);
    s->in_haste = false;
    return true;
}

static void replicate_step(request *r, const stream *s, size_t from) {
    replicate(r, s->data, from, s->done);
}

static void reply_stream(request *r, const stream *s) {
    reply_results(r, s->data);
}

/* Owns the adding, of which the first items are done. */
static int add_in_steps(request *r, adding *a, size_t done) {
    const stream s = {.some = step_adding,
                      .replicate = replicate_step,
                      .lacks_copy = lacks_copy,
                      .reply = reply_stream,
                      .free = adding_free,
                      .data = a,
                      .event = added_event,
                      .count = a->t.count,
                      .done = done,
                      .changed = a->added,
                      .in_haste = true};
    return many_change(r, &s);
}

static int add_very_many(request *r) {
    adding *a = adding_new(r);
    return a ? add_in_steps(r, a, 0) : REDIS_OK;
}

/* RedisBloom's kind grows when an item has found no place in it, which cannot be known before; one
 * of ours may grow by far more than it has. What was done by then stays, and the rest follows. */
static int add_rest(request *r, const adding *begun, size_t done) {
    r->is_verbatim = false;
    r->value->facts = begun->facts;
    replicate(r, begun, 0, done);
    adding *a = adding_new(r);
    if (!a) return REDIS_OK;
    memcpy(a->result, begun->result, done);
    a->added = begun->added;
    a->left = begun->left;
    a->failure = begun->failure;
    memcpy(a->why, begun->why, sizeof a->why);
    return add_in_steps(r, a, done);
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* RedisBloom looks at this once for each command, before it adds anything. */
static bool has_all_expansions(request *r) {
    const cf_shape s = cf_shape_of(r->value);
    if (!s.is_origin || s.filters < max_filters()) return false;
    redis.ReplyWithError(r->ctx, "Maximum expansions reached");
    return true;
}

static int add_here(request *r, adding *a) {
    bounds_haste(r->is_verbatim && may_wait(r));
    const size_t done = add_some(a, r->value->filter, 0, a->t.count);
    bounds_haste(false);
    if (done < a->t.count) return add_rest(r, a, done);
    finish(r, a);
    reply_results(r, a);
    return REDIS_OK;
}

static inline bool add_single(request *r, bool only_new) {
    const value *v = r->value;
    const struct tamis_key item = key_of(*request_items(r));
    if (!v || !v->filter || v->hashes_itself || v->facts.expansion == 0) return false;
    const uint64_t hash = tamis_hash(v->filter, item.bytes, item.len);
    const bool is_there = only_new && tamis_has_hash(v->filter, hash);
    if (!is_there && tamis_add_hash(v->filter, hash)) return false;
    count_items(r, 1);
    request_replicate(r);
    if (!is_there) request_notify(r, added_event);
    reply_bool(r->ctx, !is_there);
    return true;
}

ONE_ITEM bool cf_add_one(request *r) {
    return add_single(r, false);
}

ONE_ITEM bool cf_addnx_one(request *r) {
    return add_single(r, true);
}

static int add(request *r) {
    adding a;
    value *v = request_value(r, NOT_FOUND);
    if (!v || (v->hashes_itself && has_all_expansions(r))) return REDIS_OK;
    if (many_may_wait(r, request_count(r))) return add_very_many(r);
    if (!adding_begin(r, &a)) return REDIS_OK;
    items_read(&a.t, v, request_items(r), 1, 0, a.t.count);
    const bool is_elsewhere = is_for_worker(r, &a);
    if (!is_elsewhere) add_here(r, &a);
    adding_clear(&a);
    return is_elsewhere ? add_elsewhere(r) : REDIS_OK;
}

/* To what is there now: the filter that was made for it, or one that another client made first. */
static int add_then(request *r) {
    request_open(r, REDIS_READ | REDIS_WRITE, FAMILY_CF);
    return add(r);
}

/* Without params a key must be there. */
static int add_or_create(request *r, const cf_params *params) {
    const bool creates = !r->value && !r->is_wrong && params;
    return creates ? cf_create(r, params, add_then) : add(r);
}

int cf_add_command(request *r) {
    const cf_params params = cf_usual_params();
    r->form = REPLY_SINGLE;
    return add_or_create(r, &params);
}

int cf_addnx_command(request *r) {
    r->only_new = true;
    return cf_add_command(r);
}

/* Options of CF.INSERT go by their first letter, as with RedisBloom. NULL, or the error; an empty
 * one is that there are too few arguments. */
static const char *take_capacity(const request *r, int i, cf_params *params) {
    long long capacity;
    if (i == r->argc) return "";
    if (redis.StringToLongLong(r->argv[i], &capacity)) return "Bad capacity";
    const long long min = bounds_bind() ? 2 * settings.cf_bucket_size : 1;
    if (capacity < min || capacity > CF_MAX_CAPACITY)
        return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
    params->capacity = (uint64_t)capacity;
    return NULL;
}

static const char *take_options(request *r, cf_params *params, bool *may_create) {
    for (int i = 2; i < r->argc; i++) {
        const char letter = (char)toupper((unsigned char)*redis.StringPtrLen(r->argv[i], NULL));
        if (letter == 'I') {
            r->items = i + 1;
            return r->items < r->argc ? NULL : "";
        }
        if (letter == 'C') {
            const char *why = take_capacity(r, ++i, params);
            if (why) return why;
        } else if (letter == 'N') {
            *may_create = false;
        } else {
            return "Unknown argument received";
        }
    }
    return "";
}

int cf_insert_command(request *r) {
    cf_params params = cf_usual_params();
    bool may_create = true;
    const char *why = take_options(r, &params, &may_create);
    if (why) return *why ? redis.ReplyWithError(r->ctx, why) : request_wrong_arity(r);
    return add_or_create(r, may_create ? &params : NULL);
}

int cf_insertnx_command(request *r) {
    r->form = REPLY_NUMBERS, r->only_new = true;
    return cf_insert_command(r);
}
