/* SPDX-License-Identifier: MIT */
/* CMS.MERGE dest numkeys source... [WEIGHTS weight...]: dest becomes the sum of the sources, each
 * times its weight; what it was before counts only when it is one of them. */
#include <string.h>

#include "engines/redis/cms.h"
#include "engines/redis/commands.h"
#include "engines/redis/work.h"

enum { NUMKEYS = 2, SOURCES = 3 };

/* The sum that is to be made. */
typedef struct sum {
    size_t n;
    const tamis **from;
    int64_t weight[];
} sum;

/* ---- Arguments ------------------------------------------------------------------------------- */

/* What is wrong with how many there are, or NULL. */
static const char *check_count(const request *r, long long *n) {
    const int words = r->argc - SOURCES, at = request_find(r, SOURCES, "WEIGHTS");
    if (redis.StringToLongLong(r->argv[NUMKEYS], n)) return "CMS: invalid numkeys";
    if (*n <= 0) return "CMS: Number of keys must be positive";
    if (!at) return *n == words ? NULL : "CMS: wrong number of keys";
    return at - SOURCES == *n && words - 1 - *n == *n ? NULL : "CMS: wrong number of keys/weights";
}

/* Sketches of one shape match unless they hash otherwise. */
static bool reply_mismatch(redis_ctx *ctx, const tamis *a, const tamis *b) {
    const char *why = tamis_mismatch(a, b);
    if (!why) return false;
    if (strstr(why, "secrets"))
        redis.ReplyWithError(ctx, "CMS: sketches with different secrets cannot be merged: give "
                                  "servers that share sketches the same setting tamis.secret");
    else
        reply_error(ctx, "CMS: these sketches cannot be merged: %s", why);
    return true;
}

/* One source with its weight: what is stored there, or NULL with the error replied. */
static value *take_source(request *r, sum *s, size_t i) {
    struct tamis_info info = TAMIS_INFO_INIT, wanted = TAMIS_INFO_INIT;
    const tamis *dest = r->value->filter;
    long long weight = 1;
    if ((size_t)r->argc > SOURCES + s->n &&
        redis.StringToLongLong(r->argv[SOURCES + s->n + 1 + i], &weight)) {
        redis.ReplyWithError(r->ctx, "CMS: invalid weight value");
        return NULL;
    }
    request source = request_for(r, r->argv[SOURCES + i], FAMILY_CMS);
    const tamis *sketch = cms_sketch(&source, &info);
    request_close(&source);
    if (!sketch) return NULL;
    tamis_get_info(dest, &wanted);
    if (info.word[CMS_WIDTH] != wanted.word[CMS_WIDTH] ||
        info.word[CMS_DEPTH] != wanted.word[CMS_DEPTH]) {
        redis.ReplyWithError(r->ctx, "CMS: width/depth is not equal");
        return NULL;
    }
    if (reply_mismatch(r->ctx, dest, sketch)) return NULL;
    s->from[i] = sketch;
    s->weight[i] = weight;
    return source.value;
}

/* ---- The job --------------------------------------------------------------------------------- */

static void add_up(job *j) {
    const sum *s = j->task;
    tamis_status rc = tamis_copy(&j->result, j->target->filter);
    if (!rc) rc = tamis_merge_weighted(j->result, s->from, s->weight, s->n);
    if (!rc) return;
    job_fail(j, rc);
    tamis_free(j->result);
    j->result = NULL;
}

/* The command is replicated, and must find there what it found here: no source may have been
 * deleted or renamed during the operation. */
static bool has_its_sources(const job *j) {
    const request *r = j->request;
    bool is_there = true;
    for (int i = 0; i < j->read_count && is_there; i++) {
        request source = request_for(r, r->argv[SOURCES + i], FAMILY_CMS);
        is_there = source.value == j->reads[i];
        request_close(&source);
    }
    if (!is_there) reply_error(r->ctx, "ERR a source changed during the operation");
    return is_there;
}

static void end(job *j) {
    request *r = j->request;
    if (j->rc == TAMIS_FULL) {
        redis.ReplyWithError(r->ctx, "CMS: MERGE overflow");
    } else if (j->rc) {
        reply_error(r->ctx, "ERR %s", j->why);
    } else if (!has_its_sources(j) || !job_place(j)) {
        tamis_free(j->result);
    } else {
        job_replace(j);
        request_changed(r, "cms.merge");
        reply_ok(r->ctx);
    }
}

/* More sources than a job can hold still are added up at once. */
static int merge(request *r, job *j) {
    sum *s = j->task;
    const bool is_held = s->n < JOB_KEYS;
    for (size_t i = 0; i < s->n; i++) {
        value *v = take_source(r, s, i);
        if (!v) {
            job_drop(j);
            return REDIS_OK;
        }
        if (is_held) job_reads(j, v);
    }
    j->make = add_up, j->end = end;
    return job_do(j, is_held ? tamis_image_size(j->target->filter) * s->n : 0);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Sources are keys, too, as the server must know for access lists and clusters. */
static int tell_keys(const request *r) {
    long long n;
    if (r->argc > 1) redis.KeyAtPos(r->ctx, 1);
    if (r->argc <= SOURCES || redis.StringToLongLong(r->argv[NUMKEYS], &n)) return REDIS_OK;
    for (int i = SOURCES; i < r->argc && i - SOURCES < n; i++) redis.KeyAtPos(r->ctx, i);
    return REDIS_OK;
}

int cms_merge_command(request *r) {
    struct tamis_info info;
    long long n = 0;
    if (redis.IsKeysPositionRequest && redis.IsKeysPositionRequest(r->ctx)) return tell_keys(r);
    if (!cms_sketch(r, &info)) return REDIS_OK;
    const char *why = check_count(r, &n);
    if (why) return redis.ReplyWithError(r->ctx, why);
    const size_t each = sizeof(int64_t) + sizeof(const tamis *);
    job *j = job_new(r, r->value, sizeof(sum) + (size_t)n * each);
    if (!j) return REDIS_OK;
    sum *s = j->task;
    s->n = (size_t)n;
    s->from = (const tamis **)(void *)(s->weight + n);
    return merge(r, j);
}
