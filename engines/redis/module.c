/* SPDX-License-Identifier: MIT */
/* The module: what a server calls when it loads it, and what INFO tells. */
#include <string.h>

#include "engines/redis/commands.h"
#include "engines/redis/persist.h"
#include "engines/redis/settings.h"
#include "engines/redis/work.h"

/* A version as the server has them: one number. */
enum {
    VERSION = TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH,
};

static int add_types(redis_ctx *ctx) {
    redis_methods own = persist_own_methods(), bloom = origin_bloom_methods();
    redis_methods cuckoo = persist_cuckoo_methods(), countmin = origin_cms_methods();
    value_types.tamis = redis.CreateDataType(ctx, "tamis-set", PERSIST_ENCODING, &own);
    value_types.bloom = redis.CreateDataType(ctx, "MBbloom--", BLOOM_ENCODING, &bloom);
    value_types.cuckoo = redis.CreateDataType(ctx, "MBbloomCF", CUCKOO_ENCODING, &cuckoo);
    value_types.countmin = redis.CreateDataType(ctx, "CMSk-TYPE", ORIGIN_CMS_ENCODING, &countmin);
    if (value_types.tamis && value_types.bloom && value_types.cuckoo && value_types.countmin)
        return REDIS_OK;
    redis.Log(ctx, "warning", "another module has the data types that this one needs");
    return REDIS_ERR;
}

/* Clients that look for RedisBloom look for a module of its name: "name bf" is that. */
static const char *name_of(redis_string **argv, int argc) {
    for (int i = 0; redis.StringPtrLen && i + 1 < argc; i += 2)
        if (is_word(argv[i], "name") && strcmp(redis.StringPtrLen(argv[i + 1], NULL), "bf") == 0)
            return "bf";
    return "tamis";
}

/* ---- What INFO tells: every number is a counter; nothing is looked through ------------------- */

static void tell(redis_info *info, const char *name, unsigned long long number) {
    redis.InfoAddFieldULongLong(info, name, number);
}

static void tell_all(redis_info *info, int is_crash) {
    (void)is_crash;
    redis.InfoAddSection(info, "");
    redis.InfoAddFieldCString(info, "version", tamis_version());
    redis.InfoAddFieldCString(info, "cpu", tamis_cpu());
    tell(info, "filters_tamis", atomic_load(&counters.values[FAMILY_TAMIS]));
    tell(info, "filters_bf", atomic_load(&counters.values[FAMILY_BF]));
    tell(info, "filters_cf", atomic_load(&counters.values[FAMILY_CF]));
    tell(info, "filters_cms", atomic_load(&counters.values[FAMILY_CMS]));
    tell(info, "filter_bytes", atomic_load(&counters.bytes));
    tell(info, "max_filter_bytes", (unsigned long long)settings.max_filter_bytes);
    tell(info, "items_changed", counters.items[true]);
    tell(info, "items_asked", counters.items[false]);
    tell(info, "images_refused", atomic_load(&counters.refused));
    tell(info, "jobs_active", counters.jobs_active);
    tell(info, "jobs_done", counters.jobs_done);
    tell(info, "job_steps", counters.job_steps);
    tell(info, "pauses", counters.pauses);
    tell(info, "frees_waiting", atomic_load(&counters.frees_waiting));
}

/* ---- Loading it ------------------------------------------------------------------------------ */

TAMIS_API int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc) {
    const char *missing = redis_find(ctx);
    if (!redis.SetModuleAttribs || !redis.Log) return REDIS_ERR;
    const char *name = name_of(argv, argc);
    if (redis.IsModuleNameBusy && redis.IsModuleNameBusy(name)) return REDIS_ERR;
    redis.SetModuleAttribs(ctx, name, VERSION, REDIS_API_VERSION);
    if (missing) {
        redis.Log(ctx, "warning", "this server is too old: it has no %s", missing);
        return REDIS_ERR;
    }
    redis.SetModuleOptions(ctx, REDIS_HANDLE_IO_ERRORS | REDIS_HANDLE_ASYNC_LOAD);
    if (settings_start(ctx, argv, argc) || add_types(ctx) || commands_start(ctx) ||
        redis.RegisterInfoFunc(ctx, tell_all) || work_start())
        return REDIS_ERR;
    return REDIS_OK;
}
