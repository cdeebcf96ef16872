/* SPDX-License-Identifier: MIT */
/* The least that a command can do with its arguments, as a module for measuring: it reads every
 * byte string and replies in the shape of the real commands. No filter answers faster than this.
 *
 *     FLOOR.ONE key item      integer         FLOOR.MANY key item...    array of integers
 *     FLOOR.SUM key item...   integer         FLOOR.PACKED key bytes    a bit for each 8 bytes
 *
 * Two more also do with the key what the server asks of any module that keeps something there:
 * opened, closed, and for a change told to replicas and to those who listen. What a filter costs
 * beside the server is what comes on top of them.
 *
 *     FLOOR.ASK key item      integer         FLOOR.CHANGE key item     integer */
#include <stdint.h>
#include <string.h>

#include "engines/redis/api.h"

__attribute__((visibility("default"))) int RedisModule_OnLoad(redis_ctx *, redis_string **argv,
                                                              int argc);

static long long bit_of(const redis_string *item) {
    size_t length;
    const char *bytes = redis.StringPtrLen(item, &length);
    return length ? bytes[0] & 1 : 0;
}

static int one(redis_ctx *ctx, redis_string **argv, int argc) {
    return argc < 3 ? redis.WrongArity(ctx) : redis.ReplyWithLongLong(ctx, bit_of(argv[2]));
}

/* Reads the item and what is at the key. */
static int with_key(redis_ctx *ctx, redis_string **argv, int argc, int mode) {
    if (argc != 3) return redis.WrongArity(ctx);
    redis_key *key = redis.OpenKey(ctx, argv[1], mode);
    const long long bit = bit_of(argv[2]) | (redis.ModuleTypeGetType(key) != NULL);
    if (mode & REDIS_WRITE) {
        redis.ReplicateVerbatim(ctx);
        redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "floor.change", argv[1]);
    }
    redis.ReplyWithLongLong(ctx, bit);
    if (key) redis.CloseKey(key);
    return REDIS_OK;
}

static int ask(redis_ctx *ctx, redis_string **argv, int argc) {
    return with_key(ctx, argv, argc, REDIS_READ);
}

static int change(redis_ctx *ctx, redis_string **argv, int argc) {
    return with_key(ctx, argv, argc, REDIS_READ | REDIS_WRITE);
}

static int many(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3) return redis.WrongArity(ctx);
    redis.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) redis.ReplyWithLongLong(ctx, bit_of(argv[i]));
    return REDIS_OK;
}

static int sum(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3) return redis.WrongArity(ctx);
    long long total = 0;
    for (int i = 2; i < argc; i++) total += bit_of(argv[i]);
    return redis.ReplyWithLongLong(ctx, total);
}

enum { MAX_PACKED = 1 << 20 };

static int packed(redis_ctx *ctx, redis_string **argv, int argc) {
    static char bits[MAX_PACKED / 8];
    if (argc != 3) return redis.WrongArity(ctx);
    size_t length;
    const char *bytes = redis.StringPtrLen(argv[2], &length);
    const size_t n = length / 8;
    if (n > MAX_PACKED) return redis.ReplyWithError(ctx, "ERR at most 1,048,576 hashes");
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        uint64_t hash;
        memcpy(&hash, bytes + 8 * i, 8);
        bits[i / 8] |= (char)((hash & 1) << (i % 8));
    }
    return redis.ReplyWithStringBuffer(ctx, bits, (n + 7) / 8);
}

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc) {
    (void)argv, (void)argc;
    if (redis_find(ctx)) return REDIS_ERR;
    redis.SetModuleAttribs(ctx, "floor", 1, REDIS_API_VERSION);
    if (redis.CreateCommand(ctx, "floor.one", one, "readonly fast", 1, 1, 1)) return REDIS_ERR;
    if (redis.CreateCommand(ctx, "floor.ask", ask, "readonly fast", 1, 1, 1)) return REDIS_ERR;
    if (redis.CreateCommand(ctx, "floor.change", change, "write deny-oom", 1, 1, 1))
        return REDIS_ERR;
    if (redis.CreateCommand(ctx, "floor.many", many, "readonly fast", 1, 1, 1)) return REDIS_ERR;
    if (redis.CreateCommand(ctx, "floor.sum", sum, "readonly fast", 1, 1, 1)) return REDIS_ERR;
    return redis.CreateCommand(ctx, "floor.packed", packed, "readonly fast", 1, 1, 1);
}
