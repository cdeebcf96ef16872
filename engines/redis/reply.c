/* SPDX-License-Identifier: MIT */
/* Replies and keys. */
#include "engines/redis/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/bounds.h"

/* The server itself turns these into what the client's protocol has; older ones know only the
 * old. */
int reply_bool(redis_ctx *ctx, bool x) {
    return redis.ReplyWithBool ? redis.ReplyWithBool(ctx, x) : redis.ReplyWithLongLong(ctx, x);
}

int reply_map(redis_ctx *ctx, long pairs) {
    return redis.ReplyWithMap ? redis.ReplyWithMap(ctx, pairs)
                              : redis.ReplyWithArray(ctx, 2 * pairs);
}

int reply_text(redis_ctx *ctx, const char *text) {
    return redis.ReplyWithStringBuffer(ctx, text, strlen(text));
}

int reply_ok(redis_ctx *ctx) {
    return redis.ReplyWithSimpleString(ctx, "OK");
}

int reply_error(redis_ctx *ctx, const char *format, ...) {
    char text[1024];
    va_list list;
    if (bounds_were_short()) return redis.ReplyWithError(ctx, bounds_refusal());
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    /* A reply is one line, whatever the names in it are. */
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return redis.ReplyWithError(ctx, text);
}

const char *refusal(tamis_status rc) {
    if (rc != TAMIS_NOMEM) return tamis_why();
    return bounds_refusal() ? bounds_refusal() + strlen("ERR ") : tamis_status_text(rc);
}

int reply_refusal(redis_ctx *ctx, tamis_status rc) {
    return reply_error(ctx, "ERR %s", refusal(rc));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool is_ours(redis_type *type) {
    const types *t = &value_types;
    return type == t->tamis || type == t->bloom || type == t->cuckoo || type == t->countmin;
}

place place_open(redis_ctx *ctx, redis_string *name, int mode, family wanted) {
    place p = {.key = redis.OpenKey(ctx, name, mode)};
    if (!p.key || redis.KeyType(p.key) == REDIS_KEY_EMPTY) return p;
    if (redis.KeyType(p.key) == REDIS_KEY_MODULE && is_ours(redis.ModuleTypeGetType(p.key)))
        p.value = redis.ModuleTypeGetValue(p.key);
    /* Whose a filter is that has not come yet nobody knows: all families say that it has not. */
    const bool is_known = p.value && p.value->filter;
    if (is_known && !(p.value->facts.family & wanted)) p.value = NULL;
    p.is_wrong = !p.value;
    return p;
}

void place_close(place *p) {
    if (p->key) redis.CloseKey(p->key);
    p->key = NULL;
}

void place_set(place *p, value *v) {
    redis.ModuleTypeSetValue(p->key, value_type(v), v);
    p->value = v;
}

void place_retype(place *p, value *v) {
    const bool knows_time = redis.GetAbsExpire && redis.SetAbsExpire;
    if (redis.ModuleTypeGetType(p->key) == value_type(v)) return;
    const long long leaves = knows_time ? redis.GetAbsExpire(p->key) : REDIS_NEVER;
    place_set(p, value_hold(v));
    if (leaves != REDIS_NEVER) redis.SetAbsExpire(p->key, leaves);
}

bool reply_why_no_filter(redis_ctx *ctx, const place *p) {
    if (p->is_wrong)
        redis.ReplyWithError(ctx, WRONG_TYPE);
    else if (p->value)
        reply_error(ctx, "ERR the filter is still on its way: %llu of %llu bytes are here",
                    (unsigned long long)p->value->arrival->have,
                    (unsigned long long)p->value->arrival->total);
    return p->is_wrong || p->value;
}

tamis *place_filter(redis_ctx *ctx, place *p, redis_string *name) {
    if (p->value && p->value->filter) return p->value->filter;
    if (!reply_why_no_filter(ctx, p))
        reply_error(ctx, "NOFILTER there is no filter at key '%.200s'",
                    redis.StringPtrLen(name, NULL));
    return NULL;
}

struct tamis_key key_of(const redis_string *s) {
    struct tamis_key key;
    key.bytes = redis.StringPtrLen(s, &key.len);
    return key;
}
