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

typedef enum reply_form { ONE, BOOLS, NUMBERS } reply_form;
enum { ADDED = 1, WAS_THERE = 0, NO_ROOM = -1 };

/* What a command asks for. */
typedef struct order {
    reply_form form;
    bool only_new, never_creates;
    bool is_at_once;  /* nobody may wait any more */
    bool is_verbatim; /* it is what the client sent, and nothing else came of it */
    cf_params params;
    redis_string **item;
    int count;
} order;

typedef struct adding {
    order order;
    items t;
    facts facts;
    bool scales;          /* somehow: RedisBloom's kind does it by itself */
    bool grows;           /* by our hand */
    uint64_t max_filters; /* that it may be enlarged to */
    uint64_t left;        /* how many may be added when it does not grow */
    size_t added;
    tamis_status failure; /* of the first that did not go in; and why, in the library's words */
    char why[JOB_WHY];
    int8_t *result, few[FEW_ITEMS];
} adding;

static void adding_free(adding *a) {
    items_free(&a->t);
    if (a->result != a->few) redis.Free(a->result);
}

/* What the primary or a file tells went in there, whatever the settings here are. */
static uint64_t max_filters(void) {
    return bounds_bind() ? (uint64_t)settings.cf_max_expansions : UINT64_MAX;
}

/* False, with the error replied, when there is no memory. The items are still to be read. */
static bool adding_begin(redis_ctx *ctx, adding *a, const value *v, const order *o) {
    const cf_shape s = cf_shape_of(v);
    a->order = *o;
    a->facts = v->facts;
    a->max_filters = max_filters();
    a->scales = s.expansion;
    a->grows = s.is_multiset && s.expansion;
    a->left =
        s.is_multiset && !s.expansion ? (s.items < s.cells ? s.cells - s.items : 0) : UINT64_MAX;
    a->added = 0;
    a->failure = TAMIS_OK, *a->why = 0;
    a->result = o->count <= FEW_ITEMS ? a->few : try_alloc((size_t)o->count);
    if (!a->result) {
        reply_error(ctx, "ERR Insufficient memory");
        return false;
    }
    if (items_room(ctx, &a->t, v, o->count)) return true;
    if (a->result != a->few) redis.Free(a->result);
    return false;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static bool is_there(const adding *a, const tamis *filter, size_t i) {
    const items *t = &a->t;
    return t->hash ? tamis_has_hash(filter, t->hash[i])
                   : tamis_has(filter, t->key[i].bytes, t->key[i].len);
}

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
        if (a->order.only_new && is_there(a, filter, i)) {
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

static void read_items(adding *a, const value *v, size_t from, size_t n) {
    items_read(&a->t, v, a->order.item, 1, from, n);
}

static void add_all(adding *a, tamis *filter) {
    add_some(a, filter, 0, a->t.count);
}

/* ---- Telling --------------------------------------------------------------------------------- */

static int reply_failure(redis_ctx *ctx, const adding *a) {
    if (a->failure == TAMIS_NOMEM) return reply_error(ctx, "ERR Insufficient memory");
    if (a->failure != TAMIS_FULL) return reply_error(ctx, "ERR %s", a->why);
    return redis.ReplyWithError(ctx, a->scales ? "Maximum expansions reached" : "Filter is full");
}

/* An array where RedisBloom has one: also when all that goes wrong is that a filter which does not
 * grow is full. */
static bool is_error(const adding *a) {
    if (!a->failure || a->order.form == ONE) return a->failure;
    return a->added == 0 && (a->failure != TAMIS_FULL || a->scales);
}

static void reply_results(redis_ctx *ctx, const adding *a) {
    const bool has_bools = redis.GetContextFlags(ctx) & REDIS_IS_RESP3;
    if (is_error(a)) {
        reply_failure(ctx, a);
        return;
    }
    if (a->order.form != ONE) redis.ReplyWithArray(ctx, (long)a->t.count);
    for (size_t i = 0; i < a->t.count; i++) {
        if (has_bools && a->order.form != NUMBERS)
            reply_bool(ctx, a->result[i] == ADDED);
        else
            redis.ReplyWithLongLong(ctx, a->result[i]);
    }
}

/* Replicas get what went in, and what seemed to be there: it may be taken for another, and a
 * version that lays filters out otherwise would not know it. */
static void replicate(redis_ctx *ctx, const adding *a, redis_string *key, size_t from, size_t to) {
    redis_string **item = a->order.item + from, *few[FEW_ITEMS], **kept = NULL;
    size_t found = 0; /* that are answered yes from now on */
    for (size_t i = from; i < to; i++) found += a->result[i] != NO_ROOM;
    if (found == 0) return;
    if (a->order.is_verbatim && found == a->t.count) {
        redis.ReplicateVerbatim(ctx);
        return;
    }
    if (found < to - from) {
        kept = found <= FEW_ITEMS ? few : redis.Alloc(found * sizeof *item);
        for (size_t i = from, n = 0; i < to; i++)
            if (a->result[i] != NO_ROOM) kept[n++] = a->order.item[i];
        item = kept;
    }
    redis.Replicate(ctx, a->order.only_new ? "CF.INSERTNX" : "CF.INSERT", "sccv", key, "NOCREATE",
                    "ITEMS", item, found);
    if (kept != few) redis.Free(kept);
}

static const char added_event[] = "cf.add";

static void finish(redis_ctx *ctx, const adding *a, value *v, redis_string *key) {
    v->facts = a->facts;
    replicate(ctx, a, key, 0, a->t.count);
    if (a->added) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, added_event, key);
}

/* ---- On the worker --------------------------------------------------------------------------- */

/* May it have to be enlarged, and is it large? Then nothing is added before that is known. */
static bool is_for_worker(adding *a, const tamis *filter) {
    if (a->order.is_at_once || !may_enlarge(a) || 2 * tamis_image_size(filter) < LARGE_BYTES)
        return false;
    const uint64_t room = tamis_remaining(filter);
    if (room >= a->t.count) return false;
    if (!a->order.only_new) return true;
    size_t fresh = 0;
    items_ask(&a->t, filter);
    for (size_t i = 0; i < a->t.count; i++) fresh += !a->t.hit[i];
    return room < fresh;
}

/* Where nobody waits elsewhere a copy would only take memory. */
static void add_to_copy(job *j) {
    tamis *filter = j->target->filter;
    if (j->client) {
        const tamis_status rc = tamis_copy(&j->result, filter);
        if (rc) {
            job_fail(j, rc);
            return;
        }
        filter = j->result;
    }
    adding *a = j->task;
    a->order.item = j->held;
    read_items(a, j->target, 0, a->t.count);
    add_all(a, filter);
}

static void reply_task(redis_ctx *ctx, void *task) {
    reply_results(ctx, task);
}

static void end_adding(job *j, redis_ctx *ctx) {
    place p;
    if (j->rc) {
        reply_error(ctx, "ERR Insufficient memory");
    } else if (job_lands(ctx, j, &p)) {
        const adding *a = j->task;
        if (j->result) job_replace(j);
        finish(ctx, a, j->target, j->key);
        place_close(&p);
        job_answer(ctx, j, reply_task, a->t.count);
    }
}

static void free_adding(void *data) {
    adding_free(data);
    redis.Free(data);
}

static void clean_adding(job *j) {
    free_adding(j->task);
}

/* A command that is done later; NULL, with the error replied, when there is no memory. */
static adding *adding_new(redis_ctx *ctx, const value *v, const order *o) {
    adding *a = try_alloc(sizeof *a);
    if (!a) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    if (adding_begin(ctx, a, v, o)) {
        a->order.is_verbatim = false;
        return a;
    }
    redis.Free(a);
    return NULL;
}

static int add_elsewhere(redis_ctx *ctx, redis_string *key, value *v, const order *o) {
    value_note_facts(v); /* nobody may have to while the worker reads it */
    adding *a = adding_new(ctx, v, o);
    job *j = a ? job_new(ctx, key, v) : NULL;
    if (!j) {
        if (a) free_adding(a);
        return REDIS_OK;
    }
    job_hold(j, o->item, (size_t)o->count);
    j->task = a;
    j->make = add_to_copy, j->end = end_adding, j->clean = clean_adding;
    const uint64_t bytes = 2 * tamis_image_size(v->filter);
    return job_do(ctx, j, bytes);
}

/* ---- Very many items ------------------------------------------------------------------------- */

static bool step_adding(stream *s, value *v) {
    adding *a = s->data;
    const size_t left = s->count - s->done;
    const size_t to = s->done + (left < ITEMS_AT_ONCE ? left : ITEMS_AT_ONCE);
    a->order.item = s->item;
    read_items(a, v, s->done, to - s->done);
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

static void replicate_step(redis_ctx *ctx, const stream *s, redis_string *key, size_t from) {
    replicate(ctx, s->data, key, from, s->done);
}

static void reply_stream(redis_ctx *ctx, const stream *s) {
    reply_results(ctx, s->data);
}

/* Owns the adding, of which the first items are done. */
static int add_in_steps(redis_ctx *ctx, redis_string *key, value *v, redis_string **item, adding *a,
                        size_t done) {
    const stream s = {.some = step_adding,
                      .replicate = replicate_step,
                      .lacks_copy = lacks_copy,
                      .reply = reply_stream,
                      .free = free_adding,
                      .data = a,
                      .event = added_event,
                      .count = a->t.count,
                      .done = done,
                      .changed = a->added,
                      .in_haste = true,
                      .strings = a->t.count};
    return many_change(ctx, key, v, item, &s);
}

static int add_very_many(redis_ctx *ctx, redis_string *key, value *v, const order *o) {
    adding *a = adding_new(ctx, v, o);
    return a ? add_in_steps(ctx, key, v, o->item, a, 0) : REDIS_OK;
}

/* RedisBloom's kind grows when an item has found no place in it, which nobody knows before; one of
 * ours may grow by far more than it has. What was done by then stands, and the rest follows. */
static int add_rest(redis_ctx *ctx, redis_string *key, value *v, const order *o, adding *begun,
                    size_t done) {
    begun->order.is_verbatim = false;
    v->facts = begun->facts;
    replicate(ctx, begun, key, 0, done);
    adding *a = adding_new(ctx, v, o);
    if (!a) return REDIS_OK;
    memcpy(a->result, begun->result, done);
    a->added = begun->added;
    a->left = begun->left;
    a->failure = begun->failure;
    memcpy(a->why, begun->why, sizeof a->why);
    return add_in_steps(ctx, key, v, o->item, a, done);
}

/* ---- Making it first ------------------------------------------------------------------------- */

static int add(redis_ctx *, redis_string *key, const order *);

typedef struct beginning {
    order order;
    creation creation;
} beginning;

static void make_first(job *j) {
    const beginning *b = j->task;
    const tamis_status rc = creation_make(&b->creation, &j->result);
    if (rc) job_fail(j, rc);
}

/* Somebody may have been faster: then the items go to what stands there. */
static void add_then(job *j, redis_ctx *ctx) {
    const beginning *b = j->task;
    if (j->rc) {
        reply_error(ctx, "ERR %s", j->why);
        return;
    }
    place p = place_open(ctx, j->key, REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    const bool is_late = p.value || p.is_wrong;
    if (is_late) tamis_free(j->result);
    const bool is_good = is_late || creation_put(ctx, &p, j->key, &b->creation, j->result);
    place_close(&p);
    order o = b->order;
    o.item = j->held;
    if (is_good) add(ctx, j->key, &o);
}

static void clean_beginning(job *j) {
    beginning *b = j->task;
    creation_free(&b->creation);
    redis.Free(b);
}

/* A large filter is made by the worker; the items follow when it stands there. Owns the
 * creation. */
static int create_and_add(redis_ctx *ctx, redis_string *key, const order *o, creation *c) {
    job *j = job_new(ctx, key, NULL);
    beginning *b = j ? try_alloc(sizeof *b) : NULL;
    if (!b) {
        if (j) reply_error(ctx, "ERR Insufficient memory");
        if (j) job_drop(j);
        creation_free(c);
        return REDIS_OK;
    }
    *b = (beginning){*o, *c};
    b->order.is_at_once = true;
    b->order.is_verbatim = false;
    job_hold(j, o->item, (size_t)o->count);
    j->task = b;
    j->make = make_first, j->end = add_then, j->clean = clean_beginning;
    return job_do(ctx, j, c->bytes);
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* Where nothing is: a new filter. */
static int add_to_new(redis_ctx *ctx, redis_string *key, const order *o) {
    creation c = {.event = "cf.reserve"};
    if (o->never_creates) return redis.ReplyWithError(ctx, "ERR not found");
    const tamis_status rc = cf_plan(&c, &o->params);
    if (!rc) return create_and_add(ctx, key, o, &c);
    creation_free(&c);
    return reply_refusal(ctx, rc);
}

/* RedisBloom looks at this once for each command, before it adds anything. */
static bool has_all_expansions(redis_ctx *ctx, const value *v) {
    const cf_shape s = cf_shape_of(v);
    if (!s.is_origin || s.filters < max_filters()) return false;
    redis.ReplyWithError(ctx, "Maximum expansions reached");
    return true;
}

static int add_to(redis_ctx *ctx, redis_string *key, value *v, const order *o) {
    adding a;
    if (v->hashes_itself && has_all_expansions(ctx, v)) return REDIS_OK;
    if (many_may_wait(ctx, o->count)) return add_very_many(ctx, key, v, o);
    if (!adding_begin(ctx, &a, v, o)) return REDIS_OK;
    read_items(&a, v, 0, a.t.count);
    const bool is_elsewhere = is_for_worker(&a, v->filter);
    size_t done = 0;
    if (!is_elsewhere) {
        bounds_haste(!o->is_at_once && may_block(ctx));
        done = add_some(&a, v->filter, 0, a.t.count);
        bounds_haste(false);
        if (done < a.t.count) {
            add_rest(ctx, key, v, o, &a, done);
        } else {
            finish(ctx, &a, v, key);
            reply_results(ctx, &a);
        }
    }
    adding_free(&a);
    return is_elsewhere ? add_elsewhere(ctx, key, v, o) : REDIS_OK;
}

static int add(redis_ctx *ctx, redis_string *key, const order *o) {
    place p = place_open(ctx, key, REDIS_READ | REDIS_WRITE, FAMILY_CF);
    value *v = p.value;
    const bool is_wrong = p.is_wrong, is_coming = cf_is_coming(ctx, &p, key);
    place_close(&p);
    if (is_coming) return REDIS_OK;
    if (is_wrong) return redis.ReplyWithError(ctx, WRONG_TYPE);
    return v ? add_to(ctx, key, v, o) : add_to_new(ctx, key, o);
}

static int add_item(redis_ctx *ctx, redis_string **argv, bool only_new) {
    const order o = {.form = ONE,
                     .only_new = only_new,
                     .is_verbatim = true,
                     .params = cf_usual_params(),
                     .item = argv + 2,
                     .count = 1};
    return add(ctx, argv[1], &o);
}

int cf_add_command(redis_ctx *ctx, redis_string **argv, int argc) {
    (void)argc;
    return add_item(ctx, argv, false);
}

int cf_addnx_command(redis_ctx *ctx, redis_string **argv, int argc) {
    (void)argc;
    return add_item(ctx, argv, true);
}

/* Options of CF.INSERT go by their first letter, as with RedisBloom. NULL, or the error; an empty
 * one is that there are too few arguments. */
static const char *take_capacity(redis_string **argv, int argc, int i, order *o) {
    long long capacity;
    if (i == argc) return "";
    if (redis.StringToLongLong(argv[i], &capacity)) return "Bad capacity";
    const long long min = bounds_bind() ? 2 * settings.cf_bucket_size : 1;
    if (capacity < min || capacity > CF_MAX_CAPACITY)
        return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
    o->params.capacity = (uint64_t)capacity;
    return NULL;
}

static const char *take_options(redis_string **argv, int argc, order *o) {
    for (int i = 2; i < argc; i++) {
        const char letter = (char)toupper((unsigned char)*redis.StringPtrLen(argv[i], NULL));
        if (letter == 'I') {
            o->item = argv + i + 1;
            o->count = argc - i - 1;
            return o->count ? NULL : "";
        }
        if (letter == 'C') {
            const char *why = take_capacity(argv, argc, ++i, o);
            if (why) return why;
        } else if (letter == 'N') {
            o->never_creates = true;
        } else {
            return "Unknown argument received";
        }
    }
    return "";
}

static int insert(redis_ctx *ctx, redis_string **argv, int argc, reply_form form, bool only_new) {
    order o = {
        .form = form, .only_new = only_new, .is_verbatim = true, .params = cf_usual_params()};
    const char *why = take_options(argv, argc, &o);
    if (why) return *why ? redis.ReplyWithError(ctx, why) : redis.WrongArity(ctx);
    return add(ctx, argv[1], &o);
}

int cf_insert_command(redis_ctx *ctx, redis_string **argv, int argc) {
    return insert(ctx, argv, argc, BOOLS, false);
}

int cf_insertnx_command(redis_ctx *ctx, redis_string **argv, int argc) {
    return insert(ctx, argv, argc, NUMBERS, true);
}
