/* SPDX-License-Identifier: MIT */
/* Filters that come in chunks. */
#include "engines/redis/chunk_load.h"

#include <stdio.h>
#include <string.h>

/* A filter of one byte is none: whoever is told of it refuses it, whatever his limits are, and
 * forgets what had come before, as was done here. */
static const char nothing[] = "-";
enum { NOTHING_BYTES = 1 };

static void replicate_end(request *r) {
    redis.Replicate(r->ctx, "TAMIS.LOAD", "sllccc", r->key, 0LL, (long long)NOTHING_BYTES, nothing,
                    "FORM", form_names[FORM_IMAGE]);
}

/* A chunk is replicated as TAMIS.LOAD, whichever command brought it. */
static void replicate(request *r, const coming *c) {
    redis.Replicate(r->ctx, "TAMIS.LOAD", "sllscc", r->key, (long long)c->offset,
                    (long long)c->total, c->bytes, "FORM", form_names[c->form]);
}

/* RedisBloom's commands do not say how many bytes are here. */
static int reply_taken(request *r, uint64_t have) {
    return r->command->family == FAMILY_TAMIS ? redis.ReplyWithLongLong(r->ctx, (long long)have)
                                              : reply_ok(r->ctx);
}

/* RedisBloom's commands have its texts; the reason is in the log then. */
static int reply_no(request *r, const coming *c, const char *why) {
    if (!c->refusal || bounds_were_short()) return reply_error(r->ctx, "%s", why);
    redis.Log(r->ctx, "notice", "a chunk was refused: %s", why);
    return redis.ReplyWithError(r->ctx, c->refusal);
}

/* ---- The last chunk -------------------------------------------------------------------------- */

static void pass_gate(job *j) {
    const tamis_status rc = arrival_finish(j->target->arrival, false, &j->result);
    if (rc) job_fail(j, rc);
}

/* Whatever comes of it, nothing is on its way any more. */
static void forget_arrival(request *r) {
    value *v = r->value;
    arrival_free(v->arrival);
    v->arrival = NULL;
    if (v->filter)
        request_retype(r); /* it may have its old type again */
    else
        redis.DeleteKey(r->opened);
}

static void reply_end(job *j, const coming *c) {
    request *r = j->request;
    char why[JOB_WHY + sizeof "ERR "];
    const bool is_end = c->total == NOTHING_BYTES && !bounds_bind();
    if (is_end) {
        reply_taken(r, 0);
    } else if (!j->rc) {
        request_notify(r, "tamis.load");
        reply_taken(r, c->total);
    } else {
        snprintf(why, sizeof why, "ERR %s", j->why);
        reply_no(r, c, why);
    }
}

static void end_gate(job *j) {
    request *r = j->request;
    const coming *c = j->task;
    value *v = j->rc ? NULL : value_new(j->result);
    if (!j->rc && !v) {
        tamis_free(j->result);
        job_fail(j, TAMIS_NOMEM);
    }
    if (!job_place(j)) {
        if (v) value_release(v);
        return;
    }
    if (v) {
        replicate(r, c);
        request_set(r, v);
    } else {
        replicate_end(r);
        forget_arrival(r);
    }
    reply_end(j, c);
}

static void clean_gate(void *task) {
    redis.FreeString(NULL, ((coming *)task)->bytes);
}

static int finish(request *r, const coming *c) {
    job *j = job_new(r, r->value, sizeof *c);
    if (!j) return REDIS_OK;
    coming *kept = j->task;
    *kept = *c;
    kept->bytes = redis.HoldString(NULL, c->bytes);
    j->make = pass_gate, j->end = end_gate, j->clean = clean_gate;
    return job_do(j, c->total);
}

/* ---- Every chunk ----------------------------------------------------------------------------- */

/* Where nothing is yet, a value without a filter; it does not stay when its first chunk is
 * refused. */
static value *value_for(const request *r) {
    if (r->value) return r->value;
    value *v = value_new(NULL);
    const facts f = {.family = r->command->family};
    if (v) value_set_facts(v, &f);
    return v;
}

int arrive(request *r, const coming *c) {
    const struct tamis_key bytes = key_of(c->bytes);
    const bool is_new = !r->value;
    value *v = value_for(r);
    const bool had_arrival = v && v->arrival;
    const char *why = v ? arrival_take(v, c->form, c->offset, c->total, bytes.bytes, bytes.len)
                        : "ERR Insufficient memory";
    if (why) {
        if (is_new && v) value_release(v);
        return reply_no(r, c, why);
    }
    if (is_new)
        request_set(r, v);
    else if (!had_arrival)
        request_retype(r); /* under our own type until it ends */
    if (v->arrival->have == c->total) return finish(r, c);
    replicate(r, c);
    return reply_taken(r, v->arrival->have);
}
