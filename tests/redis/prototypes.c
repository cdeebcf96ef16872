/* Our declarations of the server's functions against its own header: compiled, never run. present.def has the
 * lines of api.def whose functions that header knows; prototypes.sh makes it. */
#include <stddef.h>
#include <stdint.h>

#include SERVER_HEADER

/* Opaque types of ours are theirs. */
#define redis_ctx         RedisModuleCtx
#define redis_string      RedisModuleString
#define redis_key         RedisModuleKey
#define redis_type        RedisModuleType
#define redis_io          RedisModuleIO
#define redis_digest      RedisModuleDigest
#define redis_info        RedisModuleInfoCtx
#define redis_defrag      RedisModuleDefragCtx
#define redis_command     RedisModuleCommand
#define redis_blocked     RedisModuleBlockedClient
#define redis_key_options RedisModuleKeyOptCtx
#include "engines/redis/api.h"

#define CHECK(what, sentence) _Static_assert(what, sentence)

/* ---- Functions ------------------------------------------------------------------------------- */

/* Those that take a struct of ours are compared with it in the place of theirs; the struct is below. */
#define NEEDED(result, name, arguments)                                      \
    CHECK(__builtin_types_compatible_p(result(*) arguments, TYPE_OF_##name), \
          #name " has another type");
#define WANTED NEEDED
#include "present.def"
#include "present_types.h"

/* ---- Structs --------------------------------------------------------------------------------- */

#define SAME_SIZE(ours, theirs) CHECK(sizeof(ours) == sizeof(theirs), #ours " has another size")
#define SAME_PLACE(ours, field, theirs, their_field)                                      \
    CHECK(offsetof(ours, field) == offsetof(theirs, their_field), #ours "." #field " is " \
                                                                                   "elsewhere")

#define METHOD(field) SAME_PLACE(redis_methods, field, RedisModuleTypeMethods, field);
METHOD(version)
METHOD(rdb_load) METHOD(rdb_save) METHOD(aof_rewrite) METHOD(mem_usage) METHOD(digest) METHOD(free)
    METHOD(aux_load) METHOD(aux_save) METHOD(aux_save_triggers) METHOD(free_effort) METHOD(unlink)
        METHOD(copy) METHOD(defrag) METHOD(mem_usage2) METHOD(free_effort2) METHOD(unlink2)
            METHOD(copy2)

                SAME_SIZE(redis_key_spec, RedisModuleCommandKeySpec);
SAME_PLACE(redis_key_spec, flags, RedisModuleCommandKeySpec, flags);
SAME_PLACE(redis_key_spec, begins, RedisModuleCommandKeySpec, begin_search_type);
SAME_PLACE(redis_key_spec, first, RedisModuleCommandKeySpec, bs.index.pos);
SAME_PLACE(redis_key_spec, ends, RedisModuleCommandKeySpec, find_keys_type);
SAME_PLACE(redis_key_spec, last, RedisModuleCommandKeySpec, fk.range.lastkey);
SAME_PLACE(redis_key_spec, step, RedisModuleCommandKeySpec, fk.range.keystep);
SAME_PLACE(redis_key_spec, limit, RedisModuleCommandKeySpec, fk.range.limit);

SAME_SIZE(redis_command_info, RedisModuleCommandInfo);
SAME_PLACE(redis_command_info, summary, RedisModuleCommandInfo, summary);
SAME_PLACE(redis_command_info, complexity, RedisModuleCommandInfo, complexity);
SAME_PLACE(redis_command_info, since, RedisModuleCommandInfo, since);
SAME_PLACE(redis_command_info, arity, RedisModuleCommandInfo, arity);
SAME_PLACE(redis_command_info, key_specs, RedisModuleCommandInfo, key_specs);
SAME_PLACE(redis_command_info, arguments, RedisModuleCommandInfo, args);
SAME_SIZE(redis_info_version, RedisModuleCommandInfoVersion);
CHECK(sizeof(RedisModuleCommandHistoryEntry) >= 16 && sizeof(RedisModuleCommandArg) >= 64,
      "commands.c tells larger sizes"); /* newer ones are longer */

/* ---- Numbers --------------------------------------------------------------------------------- */

#define SAME(ours, theirs) \
    CHECK((long long)(ours) == (long long)(theirs), #ours " is another number");
SAME(REDIS_OK, REDISMODULE_OK)
SAME(REDIS_ERR, REDISMODULE_ERR)
SAME(REDIS_API_VERSION, REDISMODULE_APIVER_1)
SAME(REDIS_READ, REDISMODULE_READ)
SAME(REDIS_WRITE, REDISMODULE_WRITE)
SAME(REDIS_KEY_EMPTY, REDISMODULE_KEYTYPE_EMPTY)
SAME(REDIS_KEY_MODULE, REDISMODULE_KEYTYPE_MODULE)
SAME(REDIS_LENGTH_LATER, REDISMODULE_POSTPONED_LEN)
SAME(REDIS_NEVER, REDISMODULE_NO_EXPIRE)
SAME(REDIS_HANDLE_IO_ERRORS, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS)
SAME(REDIS_HANDLE_ASYNC_LOAD, REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD)
SAME(REDIS_NOTIFY_GENERIC, REDISMODULE_NOTIFY_GENERIC)
SAME(REDIS_NOTIFY_MODULE, REDISMODULE_NOTIFY_MODULE)
SAME(REDIS_CONFIG_PLAIN, REDISMODULE_CONFIG_DEFAULT)
SAME(REDIS_CONFIG_IMMUTABLE, REDISMODULE_CONFIG_IMMUTABLE)
SAME(REDIS_CONFIG_SENSITIVE, REDISMODULE_CONFIG_SENSITIVE)
SAME(REDIS_CONFIG_MEMORY, REDISMODULE_CONFIG_MEMORY)
SAME(REDIS_IN_SCRIPT, REDISMODULE_CTX_FLAGS_LUA)
SAME(REDIS_IN_MULTI, REDISMODULE_CTX_FLAGS_MULTI)
SAME(REDIS_IS_REPLICA, REDISMODULE_CTX_FLAGS_SLAVE)
SAME(REDIS_IS_READ_ONLY, REDISMODULE_CTX_FLAGS_READONLY)
SAME(REDIS_IS_CLUSTER, REDISMODULE_CTX_FLAGS_CLUSTER)
SAME(REDIS_IS_REPLICATED, REDISMODULE_CTX_FLAGS_REPLICATED)
SAME(REDIS_IS_LOADING, REDISMODULE_CTX_FLAGS_LOADING)
SAME(REDIS_MAY_NOT_BLOCK, REDISMODULE_CTX_FLAGS_DENY_BLOCKING)
SAME(REDIS_IS_RESP3, REDISMODULE_CTX_FLAGS_RESP3)
SAME(REDIS_IS_ASYNC_LOADING, REDISMODULE_CTX_FLAGS_ASYNC_LOADING)
CHECK(REDIS_METHODS_VERSION <= REDISMODULE_TYPE_METHOD_VERSION, "the server knows fewer methods");
SAME(REDIS_AUX_BEFORE_RDB, REDISMODULE_AUX_BEFORE_RDB)
SAME(REDIS_KEYS_BEGIN_AT, REDISMODULE_KSPEC_BS_INDEX)
SAME(REDIS_KEYS_ARE_RANGE, REDISMODULE_KSPEC_FK_RANGE)
SAME(REDIS_KEY_IS_READ, REDISMODULE_CMD_KEY_RO)
SAME(REDIS_KEY_IS_CHANGED, REDISMODULE_CMD_KEY_RW)
SAME(REDIS_KEY_IS_ACCESSED, REDISMODULE_CMD_KEY_ACCESS)
SAME(REDIS_KEY_IS_UPDATED, REDISMODULE_CMD_KEY_UPDATE)
