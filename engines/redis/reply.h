/* SPDX-License-Identifier: MIT */
/* The module's files may include this: replies in both protocols. */
#ifndef TAMIS_REDIS_REPLY_H
#define TAMIS_REDIS_REPLY_H

#include <stdbool.h>

#include "engines/redis/value.h"

#define WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* 1 or 0, true or false; pairs of name and value. The server itself turns these into what the
 * client's protocol has; older ones know only the old. */
static inline int reply_bool(redis_ctx *ctx, bool x) {
    return redis.ReplyWithBool ? redis.ReplyWithBool(ctx, x) : redis.ReplyWithLongLong(ctx, x);
}
int reply_map(redis_ctx *, long pairs);
int reply_text(redis_ctx *, const char *);
int reply_ok(redis_ctx *);

/* What is above the protocol's integers, which end at 2^63-1, is told as that; and a pair of a
 * simple name and a number. */
int reply_number(redis_ctx *, uint64_t);
int reply_pair(redis_ctx *, const char *name, uint64_t);

/* One sentence, with its code in front ("ERR ..."). */
int reply_error(redis_ctx *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory for what a command needs; NULL, with the error replied, when there is none. */
void *reply_alloc(redis_ctx *, size_t size);
int reply_no_memory(redis_ctx *);

/* What a call of the library refused, in its own words. */
int reply_refusal(redis_ctx *, tamis_status);
const char *refusal(tamis_status);

/* An argument as the bytes that it is; and is it this word, in capitals or not? */
static inline struct tamis_key key_of(const redis_string *s) {
    struct tamis_key key;
    key.bytes = redis.StringPtrLen(s, &key.len);
    return key;
}
bool is_word(const redis_string *, const char *word);

#endif
