/* SPDX-License-Identifier: MIT */
/* CF.RESERVE, questions and CF.DEL. */
#include "engines/redis/cf.h"

#include "engines/redis/commands.h"
#include "engines/redis/many.h"

/* ---- CF.RESERVE key capacity [BUCKETSIZE b] [MAXITERATIONS i] [EXPANSION e] ------------------ */

/* Unknown pairs are ignored, as RedisBloom does. */
static bool take_option(request *r, const char *name, long long min, long long max, uint64_t *to) {
    long long x;
    const int at = request_find(r, 3, name);
    if (!at) return true;
    if (at + 1 == r->argc || redis.StringToLongLong(r->argv[at + 1], &x)) {
        reply_error(r->ctx, "Couldn't parse %s", name);
        return false;
    }
    if (x < min || x > max) {
        reply_error(r->ctx, "%s: value must be in the range [%lld, %lld]", name, min, max);
        return false;
    }
    *to = (uint64_t)x;
    return true;
}

static bool take_params(request *r, cf_params *w) {
    long long capacity;
    if (redis.StringToLongLong(r->argv[2], &capacity)) {
        redis.ReplyWithError(r->ctx, "Bad capacity");
        return false;
    }
    if (!take_option(r, "MAXITERATIONS", 1, 65535, &w->iterations) ||
        !take_option(r, "BUCKETSIZE", 1, 255, &w->bucket_size) ||
        !take_option(r, "EXPANSION", 0, CF_MAX_EXPANSION, &w->expansion))
        return false;
    if (capacity < 2 * (long long)w->bucket_size || capacity > CF_MAX_CAPACITY) {
        reply_error(r->ctx, "Capacity must be in the range [2 * BUCKETSIZE, %d]", CF_MAX_CAPACITY);
        return false;
    }
    w->capacity = (uint64_t)capacity;
    return true;
}

int cf_reserve_command(request *r) {
    cf_params w = cf_usual_params();
    if (r->argc % 2 == 0) return request_wrong_arity(r);
    return take_params(r, &w) && request_is_free(r) ? cf_create(r, &w, NULL) : REDIS_OK;
}

/* ---- Questions: what is not there, or is something else, has no items ------------------------ */

int cf_mexists_command(request *r) {
    return many_exist(r);
}

int cf_exists_command(request *r) {
    r->form = REPLY_SINGLE;
    return many_exist(r);
}

int cf_count_command(request *r) {
    const struct tamis_key item = key_of(r->argv[2]);
    if (request_is_coming(r)) return REDIS_OK;
    count_items(r, 1);
    const uint64_t n = r->value ? tamis_count(r->value->filter, item.bytes, item.len) : 0;
    return reply_number(r->ctx, n);
}

/* ---- CF.DEL key item ------------------------------------------------------------------------- */

/* RedisBloom's count restarts at 0 when it compacts. */
static void count_deleted(value *v) {
    const cf_shape s = cf_shape_of(v);
    if (s.is_origin) return;
    v->facts.deleted++;
    if (s.filters > 1 && (double)v->facts.deleted > 0.1 * (double)s.items) v->facts.deleted = 0;
}

int cf_del_command(request *r) {
    const struct tamis_key item = key_of(r->argv[2]);
    if (!r->value) return redis.ReplyWithError(r->ctx, "Not found");
    if (request_is_coming(r)) return REDIS_OK;
    const tamis_status rc = tamis_remove(r->value->filter, item.bytes, item.len);
    count_items(r, 1);
    if (rc && rc != TAMIS_NOT_FOUND) return reply_refusal(r->ctx, rc);
    if (!rc) {
        count_deleted(r->value);
        request_changed(r, "cf.del");
    }
    return reply_bool(r->ctx, !rc);
}
