/* The module: what a server calls when it loads it. */
#include "engines/redis/commands.h"
#include "engines/redis/persist.h"
#include "engines/redis/settings.h"
#include "engines/redis/told.h"
#include "engines/redis/work.h"

/* A version as the server has them: one number. */
enum {
    VERSION = TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH,
};

static int add_types(redis_ctx *ctx) {
    redis_methods own = persist_own_methods();
    value_types.tamis = redis.CreateDataType(ctx, "tamis-set", PERSIST_ENCODING, &own);
    value_types.bloom = value_types.tamis;
    value_types.cuckoo = value_types.tamis;
    value_types.countmin = value_types.tamis;
    return value_types.tamis ? REDIS_OK : REDIS_ERR;
}

TAMIS_API int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc) {
    const char *missing = redis_find(ctx);
    if (redis.IsModuleNameBusy && redis.IsModuleNameBusy("tamis")) return REDIS_ERR;
    if (!redis.SetModuleAttribs || !redis.Log) return REDIS_ERR;
    redis.SetModuleAttribs(ctx, "tamis", VERSION, REDIS_API_VERSION);
    if (missing) {
        redis.Log(ctx, "warning", "this server is too old: it has no %s", missing);
        return REDIS_ERR;
    }
    redis.SetModuleOptions(ctx, REDIS_HANDLE_IO_ERRORS | REDIS_HANDLE_ASYNC_LOAD);
    if (settings_start(ctx, argv, argc) || add_types(ctx) || commands_start(ctx) || told_start(ctx) ||
        work_start())
        return REDIS_ERR;
    return REDIS_OK;
}
