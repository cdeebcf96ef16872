/* SPDX-License-Identifier: MIT */
/* Our declarations of the server's functions against its own header: compiled, never run.
 * prototypes.sh writes present.def, the lines of api.def whose functions that header has. */
#include <stddef.h>
#include <stdint.h>

#include SERVER_HEADER

/* Our opaque types are theirs. */
#define redis_ctx         RedisModuleCtx
#define redis_string      RedisModuleString
#define redis_key         RedisModuleKey
#define redis_type        RedisModuleType
#define redis_io          RedisModuleIO
#define redis_digest      RedisModuleDigest
#define redis_info        RedisModuleInfoCtx
#define redis_server_info RedisModuleServerInfoData
#define redis_defrag      RedisModuleDefragCtx
#define redis_command     RedisModuleCommand
#define redis_blocked     RedisModuleBlockedClient
#define redis_key_options RedisModuleKeyOptCtx
#include "engines/redis/api.h"

#define CHECK(what, sentence) _Static_assert(what, sentence)

/* ---- Functions ------------------------------------------------------------------------------- */

#include "present_types.h"

/* Those that take a struct of ours are compared with ours in place of theirs; the struct is
 * below. */
#define NEEDED(result, name, arguments)                                      \
    CHECK(__builtin_types_compatible_p(result(*) arguments, TYPE_OF_##name), \
          #name " has another type");
#define WANTED NEEDED
#include "present.def"

/* ---- Structs --------------------------------------------------------------------------------- */

#define SAME_SIZE(ours, theirs) CHECK(sizeof(ours) == sizeof(theirs), #ours " has another size")
#define SAME_PLACE(ours, field, theirs, their_field)                                      \
    CHECK(offsetof(ours, field) == offsetof(theirs, their_field), #ours "." #field " is " \
                                                                        "elsewhere")

#define METHOD(field) SAME_PLACE(redis_methods, field, RedisModuleTypeMethods, field);
/* clang-format off */
METHOD(version)
METHOD(rdb_load)
METHOD(rdb_save)
METHOD(aof_rewrite)
METHOD(mem_usage) METHOD(digest) METHOD(free) METHOD(aux_load) METHOD(aux_save)
METHOD(aux_save_triggers) METHOD(free_effort) METHOD(unlink) METHOD(copy) METHOD(defrag)
METHOD(mem_usage2) METHOD(free_effort2) METHOD(unlink2) METHOD(copy2)

SAME_SIZE(redis_key_spec, RedisModuleCommandKeySpec);
/* clang-format on */
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
SAME_SIZE(redis_event, RedisModuleEvent);
SAME_PLACE(redis_event, id, RedisModuleEvent, id);
SAME_PLACE(redis_event, version, RedisModuleEvent, dataver);
SAME_SIZE(redis_info_version, RedisModuleCommandInfoVersion);
CHECK(sizeof(RedisModuleCommandHistoryEntry) >= 16, "commands.c tells larger sizes");
/* Older servers lack the last field. */
CHECK(sizeof(RedisModuleCommandArg) >= offsetof(redis_argument, shown), "an argument is smaller");
SAME_PLACE(redis_argument, name, RedisModuleCommandArg, name);
SAME_PLACE(redis_argument, type, RedisModuleCommandArg, type);
SAME_PLACE(redis_argument, key, RedisModuleCommandArg, key_spec_index);
SAME_PLACE(redis_argument, token, RedisModuleCommandArg, token);
SAME_PLACE(redis_argument, flags, RedisModuleCommandArg, flags);
SAME_PLACE(redis_argument, parts, RedisModuleCommandArg, subargs);

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
SAME(REDIS_NEVER, REDISMODULE_NO_EXPIRE)
SAME(REDIS_HANDLE_IO_ERRORS, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS)
SAME(REDIS_HANDLE_ASYNC_LOAD, REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD)
SAME(REDIS_NOTIFY_MODULE, REDISMODULE_NOTIFY_MODULE)
SAME(REDIS_CONFIG_PLAIN, REDISMODULE_CONFIG_DEFAULT)
SAME(REDIS_CONFIG_SENSITIVE, REDISMODULE_CONFIG_SENSITIVE)
SAME(REDIS_CONFIG_HIDDEN, REDISMODULE_CONFIG_HIDDEN)
SAME(REDIS_CONFIG_MEMORY, REDISMODULE_CONFIG_MEMORY)
#ifdef REDISMODULE_CONFIG_UNPREFIXED
SAME(REDIS_CONFIG_UNPREFIXED, REDISMODULE_CONFIG_UNPREFIXED)
#endif
SAME(REDIS_ARGUMENT_STRING, REDISMODULE_ARG_TYPE_STRING)
SAME(REDIS_ARGUMENT_INTEGER, REDISMODULE_ARG_TYPE_INTEGER)
SAME(REDIS_ARGUMENT_DOUBLE, REDISMODULE_ARG_TYPE_DOUBLE)
SAME(REDIS_ARGUMENT_KEY, REDISMODULE_ARG_TYPE_KEY)
SAME(REDIS_ARGUMENT_TOKEN, REDISMODULE_ARG_TYPE_PURE_TOKEN)
SAME(REDIS_ARGUMENT_ONE_OF, REDISMODULE_ARG_TYPE_ONEOF)
SAME(REDIS_ARGUMENT_BLOCK, REDISMODULE_ARG_TYPE_BLOCK)
SAME(REDIS_ARGUMENT_IS_OPTIONAL, REDISMODULE_CMD_ARG_OPTIONAL)
SAME(REDIS_ARGUMENT_MAY_REPEAT, REDISMODULE_CMD_ARG_MULTIPLE)
SAME(REDIS_ARGUMENT_REPEATS_TOKEN, REDISMODULE_CMD_ARG_MULTIPLE_TOKEN)
SAME(REDIS_HAS_AOF, REDISMODULE_CTX_FLAGS_AOF)
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
SAME(REDIS_EVENT_LOOP, REDISMODULE_EVENT_EVENTLOOP)
SAME(REDIS_LOOP_HAS_SLEPT, REDISMODULE_SUBEVENT_EVENTLOOP_AFTER_SLEEP)
SAME(REDIS_KEYS_BEGIN_AT, REDISMODULE_KSPEC_BS_INDEX)
SAME(REDIS_KEYS_ARE_RANGE, REDISMODULE_KSPEC_FK_RANGE)
SAME(REDIS_KEY_IS_READ, REDISMODULE_CMD_KEY_RO)
SAME(REDIS_KEY_IS_CHANGED, REDISMODULE_CMD_KEY_RW)
SAME(REDIS_KEY_IS_ACCESSED, REDISMODULE_CMD_KEY_ACCESS)
SAME(REDIS_KEY_IS_UPDATED, REDISMODULE_CMD_KEY_UPDATE)
