/* SPDX-License-Identifier: MIT */
/* The server as the module sees it: declarations of our own, of exactly what is called.
 *
 * No header of the server is needed, and none of its licences comes along. A server gives functions
 * by name, through the first word of the context that a module is loaded with; api.def lists them.
 * Numbers and the order of fields below are the binary interface that Redis and Valkey keep
 * stable. */
#ifndef TAMIS_REDIS_API_H
#define TAMIS_REDIS_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a command with one item runs through. The server does much else between two of them, and
 * finds this again in few lines and pages of its caches, because the linker puts it all in one
 * place. */
#define ONE_ITEM __attribute__((hot))

typedef struct redis_ctx redis_ctx;
typedef struct redis_string redis_string;
typedef struct redis_key redis_key;
typedef struct redis_type redis_type;
typedef struct redis_io redis_io;
typedef struct redis_digest redis_digest;
typedef struct redis_info redis_info;
typedef struct redis_server_info redis_server_info;
typedef struct redis_defrag redis_defrag;
typedef struct redis_command redis_command;
typedef struct redis_blocked redis_blocked;
typedef struct redis_key_options redis_key_options;

typedef int redis_function(redis_ctx *, redis_string **argv, int argc);

/* Settings. A setter returns REDIS_OK, or REDIS_ERR with a sentence in *why. */
typedef long long redis_get_number(const char *name, void *data);
typedef int redis_set_number(const char *name, long long value, void *data, redis_string **why);
typedef redis_string *redis_get_text(const char *name, void *data);
typedef int redis_set_text(const char *name, redis_string *value, void *data, redis_string **why);
typedef int redis_get_choice(const char *name, void *data);
typedef int redis_set_choice(const char *name, int value, void *data, redis_string **why);
typedef int redis_apply(redis_ctx *, void *data, redis_string **why);

/* What a server tells by itself: here, where its loop is. */
typedef struct redis_event {
    uint64_t id, version;
} redis_event;
typedef void redis_on_event(redis_ctx *, redis_event, uint64_t part, void *data);
enum { REDIS_EVENT_LOOP = 15, REDIS_EVENT_LOOP_VERSION = 1, REDIS_LOOP_HAS_SLEPT = 1 };

enum { REDIS_OK = 0, REDIS_ERR = 1, REDIS_API_VERSION = 1 };
enum { REDIS_READ = 1, REDIS_WRITE = 2 };
enum { REDIS_KEY_EMPTY = 0, REDIS_KEY_MODULE = 6 };
enum { REDIS_NEVER = -1 };
enum { REDIS_HANDLE_IO_ERRORS = 1, REDIS_HANDLE_ASYNC_LOAD = 4 };
enum { REDIS_NOTIFY_MODULE = 1 << 13 };
enum {
    REDIS_CONFIG_PLAIN = 0,
    REDIS_CONFIG_SENSITIVE = 1 << 1,
    REDIS_CONFIG_HIDDEN = 1 << 4, /* told under its whole name alone */
    REDIS_CONFIG_MEMORY = 1 << 7,
    REDIS_CONFIG_UNPREFIXED = 1 << 9, /* from Redis 8 on */
};
enum {
    REDIS_IN_SCRIPT = 1 << 0,
    REDIS_IN_MULTI = 1 << 1,
    REDIS_IS_REPLICA = 1 << 3,
    REDIS_IS_READ_ONLY = 1 << 4, /* a replica that takes writes of its primary alone */
    REDIS_IS_CLUSTER = 1 << 5,
    REDIS_HAS_AOF = 1 << 6,
    REDIS_IS_REPLICATED = 1 << 12, /* the command comes from the primary */
    REDIS_IS_LOADING = 1 << 13,
    REDIS_MAY_NOT_BLOCK = 1 << 21,
    REDIS_IS_RESP3 = 1 << 22,
    REDIS_IS_ASYNC_LOADING = 1 << 23,
};

/* What the server does with values of a type. */
typedef struct redis_methods {
    uint64_t version;
    void *(*rdb_load)(redis_io *, int encoding);
    void (*rdb_save)(redis_io *, void *value);
    void (*aof_rewrite)(redis_io *, redis_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(redis_digest *, void *value);
    void (*free)(void *value);
    int (*aux_load)(redis_io *, int encoding, int when);
    void (*aux_save)(redis_io *, int when);
    int aux_save_triggers;
    size_t (*free_effort)(redis_string *key, const void *value);
    void (*unlink)(redis_string *key, const void *value);
    void *(*copy)(redis_string *from, redis_string *to, const void *value);
    int (*defrag)(redis_defrag *, redis_string *key, void **value);
    size_t (*mem_usage2)(redis_key_options *, const void *value, size_t samples);
    size_t (*free_effort2)(redis_key_options *, const void *value);
    void (*unlink2)(redis_key_options *, const void *value);
    void *(*copy2)(redis_key_options *, const void *value);
} redis_methods;
enum { REDIS_METHODS_VERSION = 4, REDIS_AUX_BEFORE_RDB = 1 };

/* Which arguments are keys, and what happens to them: from `first` on up to `last`, which counts
 * from the first, or from the end when it is negative. The list ends with one that is all zeros. */
typedef struct redis_key_spec {
    const char *notes;
    uint64_t flags;
    int begins; /* how `first` is to be found */
    union {
        int first;
        struct {
            const char *word;
            int from;
        } behind_word;
    };
    int ends;
    struct {
        int last, step, limit;
    };
} redis_key_spec;
enum { REDIS_KEYS_BEGIN_AT = 2, REDIS_KEYS_ARE_RANGE = 2 };
enum {
    REDIS_KEY_IS_READ = 1 << 0,
    REDIS_KEY_IS_CHANGED = 1 << 1,
    REDIS_KEY_IS_ACCESSED = 1 << 4, /* what it has comes back to the client */
    REDIS_KEY_IS_UPDATED = 1 << 5,
};

/* An argument, for COMMAND DOCS; lists of them end with zeros. */
typedef struct redis_argument {
    const char *name;
    int type, key; /* which of the key specs it belongs to; or -1 */
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct redis_argument *parts;
    const char *shown;
} redis_argument;
enum {
    REDIS_ARGUMENT_STRING,
    REDIS_ARGUMENT_INTEGER,
    REDIS_ARGUMENT_DOUBLE,
    REDIS_ARGUMENT_KEY,
    REDIS_ARGUMENT_TOKEN = 6,
    REDIS_ARGUMENT_ONE_OF,
    REDIS_ARGUMENT_BLOCK,
};
enum {
    REDIS_ARGUMENT_IS_OPTIONAL = 1 << 0,
    REDIS_ARGUMENT_MAY_REPEAT = 1 << 1,
    REDIS_ARGUMENT_REPEATS_TOKEN = 1 << 2,
};

/* What COMMAND DOCS and COMMAND INFO tell. Histories are left out (NULL). */
typedef struct redis_info_version {
    int version;
    size_t history_size, key_spec_size, argument_size;
} redis_info_version;

typedef struct redis_command_info {
    const redis_info_version *version;
    const char *summary, *complexity, *since;
    void *history;
    const char *tips;
    int arity;
    redis_key_spec *key_specs;
    redis_argument *arguments;
} redis_command_info;

#define NEEDED(result, name, arguments) result(*name) arguments;
extern struct redis_api {
#include "engines/redis/api.def"
} redis;

/* Is this server one of Valkey's? Its module of Bloom filters answers one command in another
 * form. */
extern bool redis_is_valkey;

/* Fetches all of them; the name of the first that is needed and missing, or NULL. */
const char *redis_find(redis_ctx *);

#endif
