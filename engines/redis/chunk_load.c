/* SPDX-License-Identifier: MIT */
/* Filters that come in chunks. */
#include "engines/redis/chunk_load.h"

#include <stdio.h>
#include <string.h>

#include "engines/redis/forms.h"

/* A filter of one byte is none: whoever is told of it refuses it, whatever his limits are, and
 * forgets what had come before, as was done here. */
static const char nothing[] = "-";
enum { NOTHING_BYTES = 1 };

static void replicate_end(redis_ctx *ctx, redis_string *key) {
    redis.Replicate(ctx, "TAMIS.LOAD", "sllccc", key, 0LL, (long long)NOTHING_BYTES, nothing,
                    "FORM", form_names[FORM_IMAGE]);
}

/* A chunk is replicated as TAMIS.LOAD, whichever command brought it. */
static void replicate(redis_ctx *ctx, redis_string *key, const coming *c) {
    redis.Replicate(ctx, "TAMIS.LOAD", "sllscc", key, (long long)c->offset, (long long)c->total,
                    c->bytes, "FORM", form_names[c->form]);
}

/* RedisBloom's commands have its texts; the reason is in the log then. */
static int reply_no(redis_ctx *ctx, const coming *c, const char *why) {
    if (!c->refusal || bounds_were_short()) return reply_error(ctx, "%s", why);
    redis.Log(ctx, "notice", "a chunk was refused: %s", why);
    return redis.ReplyWithError(ctx, c->refusal);
}

/* ---- The last chunk -------------------------------------------------------------------------- */

static void pass_gate(job *j) {
    const tamis_status rc = arrival_finish(j->target->arrival, false, &j->result);
    if (rc) job_fail(j, rc);
}

/* Whatever comes of it, nothing is on its way any more. */
static void forget_arrival(place *p, value *v) {
    arrival_free(v->arrival);
    v->arrival = NULL;
    if (v->filter) {
        place_retype(p, v); /* it may have its old type again */
        return;
    }
    redis.DeleteKey(p->key);
    p->value = NULL;
}

static void end_gate(job *j, redis_ctx *ctx) {
    const coming *c = j->task;
    place p;
    value *v = j->rc ? NULL : value_new(j->result);
    if (!j->rc && !v) {
        tamis_free(j->result);
        job_fail(j, TAMIS_NOMEM);
    }
    if (!job_place(ctx, j, &p)) {
        if (v) value_release(v);
        return;
    }
    if (v) {
        replicate(ctx, j->key, c);
        place_set(&p, v);
    } else {
        replicate_end(ctx, j->key);
        forget_arrival(&p, j->target);
    }
    place_close(&p);
    const bool is_end = c->total == NOTHING_BYTES && !bounds_bind();
    if (is_end) {
        c->reply(ctx, 0);
    } else if (!j->rc) {
        redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tamis.load", j->key);
        c->reply(ctx, c->total);
    } else {
        char why[JOB_WHY + sizeof "ERR "];
        snprintf(why, sizeof why, "ERR %s", j->why);
        reply_no(ctx, c, why);
    }
}

static void clean_gate(job *j) {
    coming *c = j->task;
    redis.FreeString(NULL, c->bytes);
    redis.Free(c);
}

static int finish(redis_ctx *ctx, redis_string *key, value *v, const coming *c) {
    job *j = job_new(ctx, key, v);
    if (!j) return REDIS_OK;
    coming *kept = redis.Alloc(sizeof *kept);
    *kept = *c;
    kept->bytes = redis.HoldString(NULL, c->bytes);
    j->task = kept;
    j->make = pass_gate, j->end = end_gate, j->clean = clean_gate;
    return job_do(ctx, j, c->total);
}

/* ---- Every chunk ----------------------------------------------------------------------------- */

/* Where nothing is yet, a value without a filter; it does not stay when its first chunk is
 * refused. */
static value *value_at(place *p, const coming *c) {
    if (p->value) return p->value;
    value *v = value_new(NULL);
    const facts f = {.family = c->family};
    if (v) value_set_facts(v, &f);
    return v;
}

int arrive(redis_ctx *ctx, place *p, redis_string *key, const coming *c) {
    const struct tamis_key bytes = key_of(c->bytes);
    const bool is_new = !p->value;
    value *v = value_at(p, c);
    const bool had_arrival = v && v->arrival;
    const char *why = v ? arrival_take(v, c->form, c->offset, c->total, bytes.bytes, bytes.len)
                        : "ERR Insufficient memory";
    if (why) {
        if (is_new && v) value_release(v);
        place_close(p);
        return reply_no(ctx, c, why);
    }
    if (is_new)
        place_set(p, v);
    else if (!had_arrival)
        place_retype(p, v); /* under our own type until it ends */
    place_close(p);
    if (v->arrival->have == c->total) return finish(ctx, key, v, c);
    replicate(ctx, key, c);
    c->reply(ctx, v->arrival->have);
    return REDIS_OK;
}
