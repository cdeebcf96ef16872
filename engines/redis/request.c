/* SPDX-License-Identifier: MIT */
/* What a request has: its key, its sender, and those who are told of it. */
#include "engines/redis/request.h"

#include <ctype.h>
#include <stdio.h>

/* ---- The key --------------------------------------------------------------------------------- */

static bool is_ours(redis_type *type) {
    const types *t = &value_types;
    return type == t->tamis || type == t->bloom || type == t->cuckoo || type == t->countmin;
}

ONE_ITEM void request_open(request *r, int mode, family wanted) {
    request_close(r);
    r->value = NULL, r->is_wrong = false;
    r->opened = redis.OpenKey(r->ctx, r->key, mode);
    if (!r->opened) return;
    redis_type *type = redis.ModuleTypeGetType(r->opened); /* NULL where nothing of a module is */
    if (!type && redis.KeyType(r->opened) == REDIS_KEY_EMPTY) return;
    if (type && is_ours(type)) r->value = redis.ModuleTypeGetValue(r->opened);
    /* The family of a filter that is still arriving is unknown: all families say so. */
    const bool is_known = r->value && r->value->filter;
    if (is_known && !(r->value->facts.family & wanted)) r->value = NULL;
    r->is_wrong = !r->value;
}

request request_for(const request *r, redis_string *key, family wanted) {
    request other = {.command = r->command, .ctx = r->ctx, .key = key};
    request_open(&other, REDIS_READ, wanted);
    return other;
}

value *value_at(redis_ctx *ctx, redis_string *key) {
    request r = {.ctx = ctx, .key = key};
    request_open(&r, REDIS_READ, ANY_FAMILY);
    request_close(&r);
    return r.value;
}

value *request_value(request *r, const char *absent) {
    if (r->value && r->value->filter) return r->value;
    if (r->is_wrong)
        redis.ReplyWithError(r->ctx, WRONG_TYPE);
    else if (r->value)
        reply_error(r->ctx, "ERR the filter is still on its way: %llu of %llu bytes are here",
                    (unsigned long long)r->value->arrival->have,
                    (unsigned long long)r->value->arrival->total);
    else if (absent)
        redis.ReplyWithError(r->ctx, absent);
    else
        reply_error(r->ctx, "NOFILTER there is no filter at key '%.200s'",
                    redis.StringPtrLen(r->key, NULL));
    return NULL;
}

bool request_is_coming(request *r) {
    return r->value && !request_value(r, NULL);
}

bool request_is_free(request *r) {
    if (r->is_wrong)
        redis.ReplyWithError(r->ctx, WRONG_TYPE);
    else if (r->value)
        redis.ReplyWithError(r->ctx, "ERR item exists");
    return !r->is_wrong && !r->value;
}

void request_set(request *r, value *v) {
    redis.ModuleTypeSetValue(r->opened, value_type(v), v);
    r->value = v;
}

bool request_put(request *r, tamis *filter) {
    value *v = value_new(filter);
    if (v) {
        request_set(r, v);
        return true;
    }
    tamis_free(filter);
    reply_no_memory(r->ctx);
    return false;
}

void request_retype(request *r) {
    const bool knows_time = redis.GetAbsExpire && redis.SetAbsExpire;
    if (redis.ModuleTypeGetType(r->opened) == value_type(r->value)) return;
    const long long leaves = knows_time ? redis.GetAbsExpire(r->opened) : REDIS_NEVER;
    request_set(r, value_hold(r->value));
    if (leaves != REDIS_NEVER) redis.SetAbsExpire(r->opened, leaves);
}

int request_find(const request *r, int from, const char *word) {
    for (int i = from; i < r->argc; i++)
        if (is_word(r->argv[i], word)) return i;
    return 0;
}

/* ---- Who sent it ----------------------------------------------------------------------------- */

int request_flags(const request *r) {
    return redis.GetContextFlags(r->ctx) | (r->is_told ? REDIS_IS_REPLICATED : 0);
}

bool request_is_told(const request *r) {
    return request_flags(r) & REDIS_IS_REPLICATED;
}

/* Whoever is run after a wait waits already. */
bool may_wait(const request *r) {
    const int never = REDIS_IN_SCRIPT | REDIS_IN_MULTI | REDIS_IS_LOADING | REDIS_IS_ASYNC_LOADING |
                      REDIS_MAY_NOT_BLOCK;
    return r->is_late || !(redis.GetContextFlags(r->ctx) & never);
}

int request_wrong_arity(const request *r) {
    char name[64];
    if (!r->is_late) return redis.WrongArity(r->ctx);
    snprintf(name, sizeof name, "%s", redis.StringPtrLen(r->argv[0], NULL));
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    return reply_error(r->ctx, "ERR wrong number of arguments for '%s' command", name);
}

bool is_read_only(redis_ctx *ctx) {
    return redis.GetContextFlags(ctx) & REDIS_IS_READ_ONLY;
}

int reply_read_only(redis_ctx *ctx) {
    return redis.ReplyWithError(ctx, "READONLY You can't write against a read only replica.");
}

/* ---- Who is told ----------------------------------------------------------------------------- */

ONE_ITEM void request_replicate(const request *r) {
    if (r->is_late)
        redis.Replicate(r->ctx, redis.StringPtrLen(r->argv[0], NULL), "v", r->argv + 1,
                        (size_t)(r->argc - 1));
    else
        redis.ReplicateVerbatim(r->ctx);
}

ONE_ITEM void request_notify(const request *r, const char *event) {
    redis.NotifyKeyspaceEvent(r->ctx, REDIS_NOTIFY_MODULE, event, r->key);
}

void request_changed(const request *r, const char *event) {
    request_replicate(r);
    request_notify(r, event);
}
