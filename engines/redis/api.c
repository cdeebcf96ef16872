/* SPDX-License-Identifier: MIT */
/* The functions of the server, fetched by name when the module is loaded. */
#include "engines/redis/api.h"

#include <string.h>

struct redis_api redis;
bool redis_is_valkey;

/* The server writes the address of a function to `target`; other than 0: it has none of that
 * name. */
typedef int get_api(const char *name, void *target);

static get_api *getter_of(redis_ctx *ctx) {
    get_api *get;
    memcpy(&get, ctx, sizeof get);
    return get;
}

const char *redis_find(redis_ctx *ctx) {
    get_api *get = getter_of(ctx);
    const char *missing = NULL;
    void *theirs;
    redis_is_valkey = get("ValkeyModule_SetModuleAttribs", (void *)&theirs) == 0;
#define FETCH(name) get("RedisModule_" #name, (void *)&redis.name)
#define NEEDED(result, name, arguments) \
    if (FETCH(name) && !missing) missing = #name;
#define WANTED(result, name, arguments) \
    if (FETCH(name)) redis.name = NULL;
#include "engines/redis/api.def"
#undef FETCH
    return missing;
}
