/* SPDX-License-Identifier: MIT */
/* The module for Redis and Valkey in servers that lack functions: it loads without the optional
 * ones, and without a required one it refuses, with a line in the log. The server here is a few
 * stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engines/redis/persist.h"
#include "tests/support/module.h"

int RedisModule_OnLoad(redis_ctx *, redis_string **argv, int argc);

/* ---- A server ------------------------------------------------------------------------------- */

static struct {
    const char *lacks; /* a function's name; NULL: none; "*": all optional ones */
    const char *taken; /* a command of another module, or NULL */
    int commands, types, settings, plain_names;
} server;

static void set_attributes(redis_ctx *ctx, const char *name, int version, int api) {
    (void)ctx, (void)version;
    assert_string_equal(name, "tamis");
    assert_int_equal(api, 1);
}

static int is_name_busy(const char *name) {
    (void)name;
    return 0;
}

static void set_options(redis_ctx *ctx, int options) {
    (void)ctx, (void)options;
}

static int create_command(redis_ctx *ctx, const char *name, redis_function *f, const char *flags,
                          int first, int last, int step) {
    (void)ctx, (void)first, (void)last, (void)step;
    assert_non_null(f);
    assert_null(strstr(flags, "job"));
    server.commands++;
    return server.taken && strcasecmp(name, server.taken) == 0 ? REDIS_ERR : REDIS_OK;
}

static redis_command *get_command(redis_ctx *ctx, const char *name) {
    (void)name;
    return (redis_command *)(void *)ctx;
}

static int set_command_info(redis_command *command, const redis_command_info *info) {
    (void)command;
    assert_true(info->summary && info->complexity && info->since);
    return REDIS_OK;
}

static int add_category(redis_ctx *ctx, const char *name) {
    (void)ctx, (void)name;
    return REDIS_OK;
}

static int set_categories(redis_command *command, const char *categories) {
    (void)command;
    assert_true(strstr(categories, "write") || strstr(categories, "read") ||
                strstr(categories, "admin dangerous"));
    return REDIS_OK;
}

static redis_type *create_type(redis_ctx *ctx, const char *name, int encoding, redis_methods *m) {
    (void)encoding;
    assert_int_equal(strlen(name), 9);
    assert_true(m->rdb_load && m->rdb_save && m->aof_rewrite && m->free);
    server.types++;
    return (redis_type *)(void *)ctx;
}

static int register_info(redis_ctx *ctx, void (*tell)(redis_info *, int)) {
    (void)ctx, (void)tell;
    return REDIS_OK;
}

static int register_number(redis_ctx *ctx, const char *name, long long default_value,
                           unsigned flags, long long min, long long max, redis_get_number *get,
                           redis_set_number *set, redis_apply *apply, void *data) {
    redis_string *why = NULL;
    (void)ctx, (void)apply;
    server.plain_names += (flags & REDIS_CONFIG_UNPREFIXED) != 0;
    assert_true(min <= default_value && default_value <= max);
    assert_int_equal(set(name, max, data, &why), REDIS_OK);
    assert_true(get(name, data) == max);
    assert_int_equal(set(name, default_value, data, &why), REDIS_OK);
    server.settings++;
    return REDIS_OK;
}

static int register_text(redis_ctx *ctx, const char *name, const char *default_value,
                         unsigned flags, redis_get_text *get, redis_set_text *set,
                         redis_apply *apply, void *data) {
    (void)ctx, (void)name, (void)default_value, (void)get, (void)set, (void)apply, (void)data;
    server.plain_names += (flags & REDIS_CONFIG_UNPREFIXED) != 0;
    server.settings++;
    return REDIS_OK;
}

static int register_choice(redis_ctx *ctx, const char *name, int default_value, unsigned flags,
                           const char **names, const int *values, int count, redis_get_choice *get,
                           redis_set_choice *set, redis_apply *apply, void *data) {
    (void)ctx, (void)name, (void)default_value, (void)flags, (void)names, (void)values, (void)count;
    (void)get, (void)set, (void)apply, (void)data;
    server.settings++;
    return REDIS_OK;
}

static int load_settings(redis_ctx *ctx) {
    (void)ctx;
    return REDIS_OK;
}

static redis_ctx *thread_context(redis_blocked *client) {
    (void)client;
    return NULL;
}

/* Nothing else is called while a module loads. */
static void not_now(void) {
    abort();
}

static const struct {
    const char *name;
    void (*function)(void);
} functions[] = {
#define GIVE(name, function) {#name, (void (*)(void))(function)},
    GIVE(SetModuleAttribs, set_attributes) GIVE(IsModuleNameBusy, is_name_busy)
        GIVE(SetModuleOptions, set_options) GIVE(CreateCommand, create_command)
            GIVE(GetCommand, get_command) GIVE(SetCommandInfo, set_command_info)
                GIVE(AddACLCategory, add_category) GIVE(SetCommandACLCategories, set_categories)
                    GIVE(CreateDataType, create_type) GIVE(RegisterInfoFunc, register_info)
                        GIVE(RegisterNumericConfig, register_number)
                            GIVE(RegisterStringConfig, register_text)
                                GIVE(RegisterEnumConfig, register_choice)
                                    GIVE(LoadConfigs, load_settings) GIVE(Log, test_log)
                                        GIVE(GetThreadSafeContext, thread_context)
                                            GIVE(GetServerVersion, test_version)};

/* ---- The API --------------------------------------------------------------------------------- */

static const struct api {
    const char *name;
    bool is_needed;
} api[] = {
#define NEEDED(result, name, arguments) {#name, true},
#define WANTED(result, name, arguments) {#name, false},
#include "engines/redis/api.def"
};
enum { API_SIZE = sizeof api / sizeof *api };

static bool is_lacking(const char *name) {
    if (!server.lacks) return false;
    if (strcmp(server.lacks, "*") != 0) return strcmp(server.lacks, name) == 0;
    for (int i = 0; i < API_SIZE; i++)
        if (strcmp(api[i].name, name) == 0) return !api[i].is_needed;
    return false;
}

static int get_api(const char *name, void *target) {
    void (*found)(void) = not_now;
    name += strlen("RedisModule_");
    if (is_lacking(name)) return REDIS_ERR;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) found = functions[i].function;
    memcpy(target, &found, sizeof found);
    return REDIS_OK;
}

static int load_in(int number, const char *lacks, const char *taken) {
    int (*first_word)(const char *, void *) = get_api;
    memset(&server, 0, sizeof server);
    *test_server.log = '\0';
    test_server.version = number;
    memset(&redis, 0, sizeof redis);
    server.lacks = lacks, server.taken = taken;
    return RedisModule_OnLoad((redis_ctx *)(void *)&first_word, NULL, 0);
}

enum { REDIS_7 = 7 << 16, REDIS_8 = 8 << 16 };

static int load(const char *lacks, const char *taken) {
    return load_in(REDIS_7, lacks, taken);
}

/* ---- Values that move ------------------------------------------------------------------------ */

static int moves;

/* Code that still reads the old address sees garbage. */
static void *move(redis_defrag *ctx, void *memory) {
    const size_t size = malloc_usable_size(memory);
    void *moved = malloc(size);
    (void)ctx;
    memcpy(moved, memory, size);
    memset(memory, 0xdb, size);
    free(memory);
    moves++;
    return moved;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void loads_where_all_is_there(void **state) {
    (void)state;
    assert_int_equal(load(NULL, NULL), REDIS_OK);
    assert_true(server.commands >= 18 && server.types >= 1 && server.settings >= 14);
}

static void loads_without_optional_functions(void **state) {
    (void)state;
    for (int i = 0; i < API_SIZE; i++)
        if (!api[i].is_needed && load(api[i].name, NULL) != REDIS_OK)
            fail_msg("without %s: %s", api[i].name, test_server.log);
    assert_int_equal(load("*", NULL), REDIS_OK);
    assert_int_equal(server.settings, 0);
}

static void refuses_without_a_required_function(void **state) {
    (void)state;
    for (int i = 0; i < API_SIZE; i++) {
        const char *name = api[i].name;
        if (!api[i].is_needed) continue;
        if (load(name, NULL) != REDIS_ERR) fail_msg("without %s it loads", name);
        const bool is_mute = strcmp(name, "Log") == 0 || strcmp(name, "SetModuleAttribs") == 0;
        if (!is_mute && !strstr(test_server.log, name))
            fail_msg("without %s: '%s'", name, test_server.log);
        assert_int_equal(server.commands, 0);
    }
}

static void names_of_redis_8_have_no_prefix(void **state) {
    (void)state;
    assert_int_equal(load(NULL, NULL), REDIS_OK);
    assert_int_equal(server.plain_names, 0);
    assert_int_equal(load_in(REDIS_8, NULL, NULL), REDIS_OK);
    assert_int_equal(server.plain_names, 8); /* three bf-, five cf- */
}

/* Defragmentation does not move what a job reads or holds. */
static void what_a_job_reads_does_not_move(void **state) {
    struct job *const somebody = (struct job *)(void *)&moves;
    const redis_methods methods = persist_own_methods();
    tamis *filter;
    (void)state;
    redis.Alloc = malloc, redis.TryAlloc = malloc, redis.Free = free;
    redis.DefragAlloc = move;
    const struct tamis_options options = value_options(NULL);
    assert_int_equal(tamis_create_with(&filter, "classic:capacity=100", &options), TAMIS_OK);
    tamis_add(filter, "cat", 3);
    value *v = value_new(filter);
    void *object = v;
    v->job = somebody;
    assert_int_equal(methods.defrag(NULL, NULL, &object), 0);
    assert_int_equal(moves, 0);
    assert_ptr_equal(object, v);
    assert_ptr_equal(v->filter, filter);
    v->job = NULL;
    value_hold(v);
    assert_int_equal(methods.defrag(NULL, NULL, &object), 0);
    assert_int_equal(moves, 0);
    assert_ptr_equal(object, v);
    value_release(v);
    assert_int_equal(methods.defrag(NULL, NULL, &object), 0);
    assert_true(moves >= 2); /* the value and its filter */
    v = object;
    assert_true(tamis_has(v->filter, "cat", 3) && !tamis_has(v->filter, "dog", 3));
    value_release(v);
}

static void refuses_where_a_command_is_taken(void **state) {
    (void)state;
    assert_int_equal(load(NULL, "TAMIS.HAS"), REDIS_ERR);
    assert_non_null(strstr(test_server.log, "TAMIS.HAS"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_where_all_is_there),
        cmocka_unit_test(loads_without_optional_functions),
        cmocka_unit_test(refuses_without_a_required_function),
        cmocka_unit_test(refuses_where_a_command_is_taken),
        cmocka_unit_test(names_of_redis_8_have_no_prefix),
        cmocka_unit_test(what_a_job_reads_does_not_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
