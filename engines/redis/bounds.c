/* SPDX-License-Identifier: MIT */
/* Whom limits bind, and how much memory there is. */
#include "engines/redis/bounds.h"

#include <stdio.h>
#include <string.h>

#include "engines/redis/settings.h"
#include "engines/redis/value.h"

/* Zeros: nothing binds. */
static _Thread_local bounds now;

/* ---- Who asks -------------------------------------------------------------------------------- */

/* A read-only replica takes writes of its primary alone, also out of scripts, whose own client
 * hides it. While a data set is loaded beside the present one commands are those of clients. */
static bool is_from_client(redis_ctx *ctx) {
    const int flags = redis.GetContextFlags(ctx);
    const bool is_read =
        (flags & REDIS_IS_LOADING) && !(flags & REDIS_IS_ASYNC_LOADING); /* out of a file */
    if (now.is_told || (redis.MustObeyClient && redis.MustObeyClient(ctx))) return false;
    return !is_read && !(flags & (REDIS_IS_REPLICATED | REDIS_IS_READ_ONLY));
}

bounds bounds_leave(bounds before) {
    const bounds left = now;
    now = before;
    return left;
}

/* Written in place: what is put together elsewhere and copied at once makes the processor wait. */
bounds bounds_enter(redis_ctx *ctx, bool is_told) {
    const bounds before = now;
    now = (bounds){.asker = ctx, .is_told = is_told};
    return before;
}

bounds bounds_enter_callback(void) {
    const int told = REDIS_IS_LOADING | REDIS_IS_ASYNC_LOADING | REDIS_IS_REPLICA;
    return bounds_leave((bounds){.bind = !(redis.GetContextFlags(NULL) & told)});
}

bool bounds_bind(void) {
    if (now.asker) now.bind = is_from_client(now.asker);
    now.asker = NULL;
    return now.bind;
}

uint64_t bounds_filter_bytes(void) {
    const uint64_t none = (uint64_t)1 << 56;
    return bounds_bind() ? (uint64_t)settings.max_filter_bytes : none;
}

/* ---- How much memory there is ---------------------------------------------------------------- */

/* Which part of the keys may be evicted: all, or those that expire. They are taken for as large as
 * the others, because that is not counted. */
static double evictable_share(const char *policy) {
    if (!policy || strcmp(policy, "noeviction") == 0) return 0;
    if (strncmp(policy, "volatile", strlen("volatile")) != 0) return 1;
    redis_server_info *info = redis.GetServerInfo(NULL, "keyspace");
    double keys = 0, expiring = 0;
    for (int db = 0; db < 16; db++) {
        char name[16];
        unsigned long long n = 0, m = 0;
        snprintf(name, sizeof name, "db%d", db);
        const char *text = redis.ServerInfoGetFieldC(info, name);
        if (!text || sscanf(text, "keys=%llu,expires=%llu", &n, &m) != 2) continue;
        keys += (double)n, expiring += (double)m;
    }
    redis.FreeServerInfo(NULL, info);
    return keys > 0 ? expiring / keys : 0;
}

/* Bytes until maxmemory is reached, with what the server can evict. */
static uint64_t room_left(void) {
    if (!redis.GetUsedMemoryRatio || !redis.GetServerInfo) return UINT64_MAX;
    const double used = (double)redis.GetUsedMemoryRatio();
    if (!(used > 0)) return UINT64_MAX; /* no maxmemory */
    redis_server_info *info = redis.GetServerInfo(NULL, "memory");
    int bad = 0;
    const double max = (double)redis.ServerInfoGetFieldUnsigned(info, "maxmemory", &bad);
    const double data = (double)redis.ServerInfoGetFieldUnsigned(info, "used_memory_dataset", &bad);
    const double share = evictable_share(redis.ServerInfoGetFieldC(info, "maxmemory_policy"));
    redis.FreeServerInfo(NULL, info);
    const double room = max * (1 - used) + data * share;
    return bad ? UINT64_MAX : room > 0 ? (uint64_t)room : 0;
}

static void measure(void) {
    if (now.is_measured) return;
    const uint64_t room = room_left(), bytes = atomic_load(&counters.bytes);
    now.ceiling = room > UINT64_MAX - bytes ? UINT64_MAX : bytes + room;
    now.is_measured = true;
}

bounds bounds_for_worker(void) {
    if (bounds_bind()) measure();
    return now;
}

/* The server itself looks before a command whether memory is left; what is small may come on top of
 * that, as it does with the server's own types. */
bool bounds_allow(uint64_t bytes) {
    enum { SMALL = 64 << 10 };
    if (bytes < SMALL || !bounds_bind()) return true;
    measure();
    const uint64_t have = atomic_load(&counters.bytes);
    if (have <= now.ceiling && bytes <= now.ceiling - have) return true;
    now.was_short = true;
    return false;
}

bool bounds_allow_filter(uint64_t bytes) {
    enum { BORDER = 4096 }; /* a piece has some bytes more than the payload that is in it */
    if (now.in_haste && bytes >= LARGE_BYTES) {
        now.was_long = true;
        return false;
    }
    if (bytes <= bounds_filter_bytes() + BORDER) return bounds_allow(bytes);
    now.was_large = true;
    return false;
}

const char *bounds_refusal(void) {
    return now.was_short   ? "OOM command not allowed when used memory > 'maxmemory'."
           : now.was_large ? "ERR the filter would be larger than max-filter-bytes allows"
                           : NULL;
}

void bounds_haste(bool in_haste) {
    now.in_haste = in_haste;
    now.was_long = false;
}

bool bounds_were_long(void) {
    return now.was_long;
}

bool bounds_were_short(void) {
    return now.was_short;
}
