/* SPDX-License-Identifier: MIT */
/* CMS.*: RedisBloom's commands for count-min sketches.
 *
 * New sketches are of the kind countmin, keyed by the server's secret, which all of them share so
 * that they can be merged. Those of RedisBloom, and new ones with the setting cms-kind rediscms,
 * are of the kind rediscms. Both have cells of 32 bits that stop at 2^32-1, and as shape words a
 * row's cells first and the rows second. */
#include "engines/redis/cms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/commands.h"
#include "engines/redis/little_endian.h"
#include "engines/redis/many.h"
#include "engines/redis/new_filter.h"
#include "tamis_engine.h"

static bool is_rediscms(const struct tamis_info *info) {
    return strcmp(info->kind, "rediscms") == 0;
}

/* A note can say of any image that it is a sketch. */
tamis *cms_sketch(request *r, struct tamis_info *info) {
    const value *v = request_value(r, "CMS: key does not exist");
    if (!v) return NULL;
    *info = (struct tamis_info)TAMIS_INFO_INIT;
    tamis_get_info(v->filter, info);
    if (is_rediscms(info) || strcmp(info->kind, "countmin") == 0) return v->filter;
    redis.ReplyWithError(r->ctx, WRONG_TYPE);
    return NULL;
}

/* ---- CMS.INITBYDIM key width depth, CMS.INITBYPROB key error probability --------------------- */

/* Above 64 rows only the origin's kind goes; no error is so small that it needs them. */
enum { COUNTMIN_ROWS = 64 };

static int init(request *r, long long width, long long depth, const char *event) {
    static const facts sketch = {.family = FAMILY_CMS};
    creation c = {.event = event};
    char spec[MAX_SPEC];
    const bool is_theirs = settings.cms_kind == KIND_ORIGIN || depth > COUNTMIN_ROWS;
    if (width > INT64_MAX / depth)
        return redis.ReplyWithError(r->ctx, "CMS: invalid init arguments");
    const int len =
        snprintf(spec, sizeof spec,
                 is_theirs ? "rediscms:width=%lld,depth=%lld" : "countmin:columns=%lld,rows=%lld",
                 width, depth);
    if (creation_plan(&c, spec, (size_t)len) || c.bytes > bounds_filter_bytes())
        return redis.ReplyWithError(r->ctx, "CMS: Insufficient memory to create the key");
    if (!is_theirs) creation_facts(&c, &sketch);
    return creation_do(r, &c);
}

static int reply_taken(request *r) {
    return redis.ReplyWithError(r->ctx, "CMS: key already exists");
}

int cms_initbydim_command(request *r) {
    long long width, depth;
    if (r->value || r->is_wrong) return reply_taken(r);
    if (redis.StringToLongLong(r->argv[2], &width) || width < 1)
        return redis.ReplyWithError(r->ctx, "CMS: invalid width");
    if (redis.StringToLongLong(r->argv[3], &depth) || depth < 1)
        return redis.ReplyWithError(r->ctx, "CMS: invalid depth");
    return init(r, width, depth, "cms.initbydim");
}

static bool take_share(const redis_string *text, double *share) {
    return redis.StringToDouble(text, share) == REDIS_OK && *share > 0 && *share < 1;
}

/* Logarithms of 32 bits, as there: the depths are the same also where they are about to step. */
int cms_initbyprob_command(request *r) {
    const double max = 9.2e18;
    double error, doubt;
    if (r->value || r->is_wrong) return reply_taken(r);
    if (!take_share(r->argv[2], &error))
        return redis.ReplyWithError(r->ctx, "CMS: invalid overestimation value");
    if (!take_share(r->argv[3], &doubt))
        return redis.ReplyWithError(r->ctx, "CMS: invalid prob value");
    const double width = ceil(2 / error);
    const double depth = ceil((double)(log10f((float)doubt) / log10f(0.5F)));
    if (!(width <= max && depth >= 1 && depth <= max))
        return redis.ReplyWithError(r->ctx, "CMS: invalid init arguments");
    return init(r, (long long)width, (long long)depth, "cms.initbyprob");
}

/* ---- CMS.INCRBY key item times [item times]... ----------------------------------------------- */

/* What is wrong with the numbers, or NULL. */
static const char *check_times(redis_string **argv, int argc) {
    long long times;
    for (int i = 3; i < argc; i += 2) {
        if (redis.StringToLongLong(argv[i], &times)) return "CMS: Cannot parse number";
        if (times < 0) return "CMS: Number cannot be negative";
    }
    return NULL;
}

/* Its new count; UINT32_MAX also when all adds together would pass 2^64, and nothing was added. */
static uint64_t increase(const value *v, redis_string *item, redis_string *number) {
    const struct tamis_key key = key_of(item);
    long long times = 0;
    redis.StringToLongLong(number, &times);
    if (v->hashes_itself) {
        if (tamis_add_times(v->filter, key.bytes, key.len, (uint64_t)times)) return UINT32_MAX;
        return tamis_count(v->filter, key.bytes, key.len);
    }
    const uint64_t hash = tamis_hash(v->filter, key.bytes, key.len);
    if (tamis_add_times_hash(v->filter, hash, (uint64_t)times)) return UINT32_MAX;
    return tamis_count_hash(v->filter, hash);
}

static void reply_count(redis_ctx *ctx, uint64_t count) {
    if (count < UINT32_MAX)
        redis.ReplyWithLongLong(ctx, (long long)count);
    else
        redis.ReplyWithError(ctx, "CMS: INCRBY overflow");
}

static const char increased[] = "cms.incrby";

static int increase_all(request *r) {
    redis.ReplyWithArray(r->ctx, (r->argc - 2) / 2);
    for (int i = 2; i < r->argc; i += 2)
        reply_count(r->ctx, increase(r->value, r->argv[i], r->argv[i + 1]));
    request_changed(r, increased);
    return REDIS_OK;
}

/* Very many, in steps; what they have become is kept up to the end. */
static bool increase_some(stream *s, value *v) {
    uint32_t *count = s->data;
    for (int i = 0; i < ITEMS_AT_ONCE && s->done < s->count; i++, s->done++) {
        const uint64_t now = increase(v, s->item[2 * s->done], s->item[2 * s->done + 1]);
        count[s->done] = (uint32_t)lesser(now, UINT32_MAX);
    }
    s->changed = s->done;
    return true;
}

static void replicate_some(request *r, const stream *s, size_t from) {
    redis.Replicate(r->ctx, "CMS.INCRBY", "sv", r->key, s->item + 2 * from, 2 * (s->done - from));
}

static void reply_increased(request *r, const stream *s) {
    const uint32_t *count = s->data;
    redis.ReplyWithArray(r->ctx, (long)s->count);
    for (size_t i = 0; i < s->count; i++) reply_count(r->ctx, count[i]);
}

static int increase_in_steps(request *r, size_t count) {
    const stream s = {.some = increase_some,
                      .replicate = replicate_some,
                      .reply = reply_increased,
                      .free = redis.Free,
                      .data = reply_alloc(r->ctx, count * sizeof(uint32_t)),
                      .event = increased,
                      .count = count};
    return s.data ? many_change(r, &s) : REDIS_OK;
}

int cms_incrby_command(request *r) {
    struct tamis_info info;
    if (r->argc % 2) return request_wrong_arity(r);
    if (!cms_sketch(r, &info)) return REDIS_OK;
    const size_t count = request_count(r) / 2;
    const char *why = check_times(r->argv, r->argc);
    if (why) return redis.ReplyWithError(r->ctx, why);
    count_items(r, count);
    /* A pair takes as long as two items. */
    return many_may_wait(r, 2 * count) ? increase_in_steps(r, count) : increase_all(r);
}

/* ---- CMS.QUERY key item... ------------------------------------------------------------------- */

static void tell_counts(request *r, const tamis *sketch, items *t, bool is_empty) {
    uint64_t count[FEW_ITEMS];
    (void)is_empty; /* no sketch leaves by the clock */
    redis.ReplyWithArray(r->ctx, (long)t->count);
    for (size_t at = 0, n; at < t->count; at += n) {
        n = (size_t)lesser(t->count - at, FEW_ITEMS);
        if (t->hash) tamis_count_hashes(sketch, t->hash + at, n, count);
        for (size_t i = 0; i < n; i++) {
            const struct tamis_key *key = &t->key[at + i];
            if (!t->hash) count[i] = tamis_count(sketch, key->bytes, key->len);
            redis.ReplyWithLongLong(r->ctx, (long long)count[i]);
        }
    }
}

int cms_query_command(request *r) {
    struct tamis_info info;
    return cms_sketch(r, &info) ? many_ask(r, false, tell_counts) : REDIS_OK;
}

/* ---- CMS.INFO key ---------------------------------------------------------------------------- */

/* All that was added: the origin's is in the payload, after width and depth. */
static uint64_t total_of(const tamis *sketch, const struct tamis_info *info) {
    enum { AT_COUNTER = 16 };
    uint64_t size;
    if (!is_rediscms(info)) return info->items;
    return le_get((const uint8_t *)tamis_payload(sketch, &size) + AT_COUNTER, 8);
}

int cms_info_command(request *r) {
    struct tamis_info info;
    const tamis *sketch = cms_sketch(r, &info);
    if (!sketch) return REDIS_OK;
    reply_map(r->ctx, 3);
    reply_pair(r->ctx, "width", info.word[CMS_WIDTH]);
    reply_pair(r->ctx, "depth", info.word[CMS_DEPTH]);
    return reply_pair(r->ctx, "count", total_of(sketch, &info));
}
