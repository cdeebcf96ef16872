/* SPDX-License-Identifier: MIT */
/* Replies. */
#include "engines/redis/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engines/redis/bounds.h"

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

int reply_number(redis_ctx *ctx, uint64_t x) {
    return redis.ReplyWithLongLong(ctx, x > INT64_MAX ? INT64_MAX : (long long)x);
}

int reply_pair(redis_ctx *ctx, const char *name, uint64_t x) {
    redis.ReplyWithSimpleString(ctx, name);
    return redis.ReplyWithLongLong(ctx, (long long)x);
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

int reply_no_memory(redis_ctx *ctx) {
    return reply_error(ctx, "ERR Insufficient memory");
}

void *reply_alloc(redis_ctx *ctx, size_t size) {
    void *memory = try_alloc(size);
    if (!memory) reply_no_memory(ctx);
    return memory;
}

bool is_word(const redis_string *s, const char *word) {
    return strcasecmp(redis.StringPtrLen(s, NULL), word) == 0;
}
