/* SPDX-License-Identifier: MIT */
/* CMS.MERGE dest numkeys source... [WEIGHTS weight...]: dest becomes the sum of the sources, each
 * times its weight; what it was before counts only when it is one of them. */
#include <string.h>
#include <strings.h>

#include "engines/redis/cms.h"
#include "engines/redis/commands.h"
#include "engines/redis/work.h"

enum { NUMKEYS = 2, SOURCES = 3 };

/* The sum that is to be made: `n` sources, and the arguments, to replicate them. */
typedef struct sum {
    int argc;
    redis_string **argv;
    size_t n;
    const tamis **from;
    int64_t *weight;
} sum;

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Where the word WEIGHTS stands; argc when it does not. */
static int weights_at(redis_string **argv, int argc) {
    int i = SOURCES;
    while (i < argc && strcasecmp(redis.StringPtrLen(argv[i], NULL), "WEIGHTS") != 0) i++;
    return i;
}

/* What is wrong with how many there are, or NULL. */
static const char *check_count(redis_string **argv, int argc, long long *n) {
    const int words = argc - SOURCES, at = weights_at(argv, argc);
    if (redis.StringToLongLong(argv[NUMKEYS], n)) return "CMS: invalid numkeys";
    if (*n <= 0) return "CMS: Number of keys must be positive";
    if (at == argc) return *n == words ? NULL : "CMS: wrong number of keys";
    return at - SOURCES == *n && words - 1 - *n == *n ? NULL : "CMS: wrong number of keys/weights";
}

static void *sum_new(redis_string **argv, int argc, size_t n) {
    sum *s = try_alloc(sizeof *s + (size_t)argc * sizeof *s->argv +
                       n * (sizeof *s->from + sizeof *s->weight));
    if (!s) return NULL;
    *s = (sum){.argc = argc, .n = n, .weight = (int64_t *)(void *)(s + 1)};
    s->from = (const tamis **)(void *)(s->weight + n);
    s->argv = (redis_string **)(void *)(s->from + n);
    for (int i = 0; i < argc; i++) s->argv[i] = redis.HoldString(NULL, argv[i]);
    return s;
}

static void sum_free(sum *s) {
    for (int i = 0; i < s->argc; i++) redis.FreeString(NULL, s->argv[i]);
    redis.Free(s);
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

/* One source with its weight: what stands there, or NULL with the error replied. */
static value *take_source(redis_ctx *ctx, sum *s, const value *dest, size_t i) {
    redis_string *name = s->argv[SOURCES + i];
    struct tamis_info info, wanted;
    long long weight = 1;
    if ((size_t)s->argc > SOURCES + s->n &&
        redis.StringToLongLong(s->argv[SOURCES + s->n + 1 + i], &weight)) {
        redis.ReplyWithError(ctx, "CMS: invalid weight value");
        return NULL;
    }
    place p = place_open(ctx, name, REDIS_READ, FAMILY_CMS);
    const tamis *sketch = cms_sketch(ctx, &p, name, &info);
    place_close(&p);
    if (!sketch) return NULL;
    tamis_get_info(dest->filter, &wanted, sizeof wanted);
    if (info.word[CMS_WIDTH] != wanted.word[CMS_WIDTH] ||
        info.word[CMS_DEPTH] != wanted.word[CMS_DEPTH]) {
        redis.ReplyWithError(ctx, "CMS: width/depth is not equal");
        return NULL;
    }
    if (reply_mismatch(ctx, dest->filter, sketch)) return NULL;
    s->from[i] = sketch;
    s->weight[i] = weight;
    return p.value;
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
 * deleted or renamed meanwhile. */
static bool has_its_sources(redis_ctx *ctx, const job *j) {
    const sum *s = j->task;
    bool is_there = true;
    for (int i = 0; i < j->read_count && is_there; i++) {
        place p = place_open(ctx, s->argv[SOURCES + i], REDIS_READ, FAMILY_CMS);
        is_there = p.value == j->reads[i];
        place_close(&p);
    }
    if (!is_there) reply_error(ctx, "ERR a source changed during the operation");
    return is_there;
}

static void end(job *j, redis_ctx *ctx) {
    const sum *s = j->task;
    place p;
    if (j->rc == TAMIS_FULL) {
        redis.ReplyWithError(ctx, "CMS: MERGE overflow");
    } else if (j->rc) {
        reply_error(ctx, "ERR %s", j->why);
    } else if (!has_its_sources(ctx, j) || !job_place(ctx, j, &p)) {
        tamis_free(j->result);
    } else {
        job_replace(j);
        place_close(&p);
        redis.Replicate(ctx, "CMS.MERGE", "v", s->argv + 1, (size_t)s->argc - 1);
        redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "cms.merge", j->key);
        reply_ok(ctx);
    }
}

static void clean(job *j) {
    sum_free(j->task);
}

/* More sources than a job can hold still are added up at once. */
static int merge(redis_ctx *ctx, job *j) {
    const sum *s = j->task;
    const bool is_held = s->n < JOB_KEYS;
    for (size_t i = 0; i < s->n; i++) {
        value *v = take_source(ctx, j->task, j->target, i);
        if (!v) {
            job_drop(j);
            return REDIS_OK;
        }
        if (is_held) job_reads(j, v);
    }
    j->make = add_up, j->end = end;
    return job_do(ctx, j, is_held ? tamis_image_size(j->target->filter) * s->n : 0);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Sources are keys, too, as the server must know for access lists and clusters. */
static int tell_keys(redis_ctx *ctx, redis_string **argv, int argc) {
    long long n;
    if (argc > 1) redis.KeyAtPos(ctx, 1);
    if (argc <= SOURCES || redis.StringToLongLong(argv[NUMKEYS], &n)) return REDIS_OK;
    for (int i = SOURCES; i < argc && i - SOURCES < n; i++) redis.KeyAtPos(ctx, i);
    return REDIS_OK;
}

/* Nobody may be at work on any of them: arguments that are no keys are in nobody's way. */
static bool must_wait(redis_ctx *ctx, redis_string **argv, int argc) {
    const call dest = {cms_merge_command, argv, argc, 1, 1, 1, true};
    const call sources = {cms_merge_command, argv, argc, SOURCES, argc - 1, 1, true};
    return work_is_active() && (work_must_wait(ctx, &dest) || work_must_wait(ctx, &sources));
}

int cms_merge_command(redis_ctx *ctx, redis_string **argv, int argc) {
    struct tamis_info info;
    long long n = 0;
    if (redis.IsKeysPositionRequest && redis.IsKeysPositionRequest(ctx))
        return tell_keys(ctx, argv, argc);
    if (must_wait(ctx, argv, argc)) return REDIS_OK;
    place p = place_open(ctx, argv[1], REDIS_READ, FAMILY_CMS);
    const tamis *dest = cms_sketch(ctx, &p, argv[1], &info);
    place_close(&p);
    if (!dest) return REDIS_OK;
    const char *why = check_count(argv, argc, &n);
    if (why) return redis.ReplyWithError(ctx, why);
    job *j = job_new(ctx, argv[1], p.value);
    if (!j) return REDIS_OK;
    j->task = sum_new(argv, argc, (size_t)n);
    if (!j->task) {
        job_drop(j);
        return reply_error(ctx, "ERR Insufficient memory");
    }
    j->clean = clean;
    return merge(ctx, j);
}
