/* The table of commands, and what is the same for all: counting arguments, waiting for jobs. */
#include "engines/redis/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/work.h"

/* A mark in the flags, which the server is not told. */
#define MAKES_JOBS " job"

typedef struct command {
    redis_function *function, *entry;
    const char *name, *flags;
    int last, step, least, most;
    const char *family, *complexity, *summary;
} command;

static int run(const command *, redis_ctx *, redis_string **argv, int argc);

/* What the server calls: one entry for each line of the table, which knows its number. */
enum {
#define JOB
#define COMMAND(function, ...) NUMBER_OF_##function,
#include "engines/redis/commands.def"
    COMMANDS
};
static const command commands[COMMANDS];
#define JOB
#define COMMAND(function, ...)                                                   \
    static int enter_##function(redis_ctx *ctx, redis_string **argv, int argc) { \
        return run(&commands[NUMBER_OF_##function], ctx, argv, argc);            \
    }
#include "engines/redis/commands.def"

static const command commands[COMMANDS] = {
#define JOB MAKES_JOBS
#define COMMAND(function, name, flags, last, step, least, most, family, complexity, summary) \
    {function, enter_##function, name, flags, last, step, least, most, family, complexity, summary},
#include "engines/redis/commands.def"
};

static bool may_have_to_wait(const command *c) {
    return strstr(c->flags, "write") || strstr(c->flags, MAKES_JOBS);
}

static int run(const command *c, redis_ctx *ctx, redis_string **argv, int argc) {
    /* Of a command with the flag getkeys-api: it shall tell which of these are keys, and do nothing. */
    if (redis.IsKeysPositionRequest && redis.IsKeysPositionRequest(ctx))
        return c->function(ctx, argv, argc);
    if (argc < c->least || (c->most && argc > c->most)) return redis.WrongArity(ctx);
    if (work_is_active() && may_have_to_wait(c)) {
        const int last = c->last < 0 ? argc + c->last : c->last;
        if (work_must_wait(ctx, argv, 1, last, c->step, c->entry)) return REDIS_OK;
    }
    return c->function(ctx, argv, argc);
}

/* ---- Making them known ------------------------------------------------------------------------ */

/* What COMMAND DOCS tells, where the server has it. */
static void describe(redis_ctx *ctx, const command *c, const char *name) {
    /* Sizes of what we do not describe: no entries are read with them. */
    static const redis_info_version version = {1, 16, 56, 64};
    redis_command *known = redis.GetCommand ? redis.GetCommand(ctx, name) : NULL;
    if (known && redis.SetCommandInfo) {
        const redis_command_info info = {
            .version = &version,
            .summary = c->summary,
            .complexity = c->complexity,
            .since = tamis_version(),
            .arity = c->least == c->most ? c->least : -c->least,
        };
        redis.SetCommandInfo(known, &info);
    }
    if (known && redis.AddACLCategory && redis.SetCommandACLCategories) {
        char categories[64];
        snprintf(categories, sizeof categories, "%s", c->family);
        redis.SetCommandACLCategories(known, categories);
    }
}

static int create(redis_ctx *ctx, const command *c) {
    char flags[64], name[32];
    snprintf(flags, sizeof flags, "%s", c->flags);
    /* In small letters, as the server's own: its errors repeat the name as it is here. */
    snprintf(name, sizeof name, "%s", c->name);
    for (char *letter = name; *letter; letter++) *letter = (char)tolower((unsigned char)*letter);
    char *mark = strstr(flags, MAKES_JOBS);
    if (mark) *mark = 0;
    if (redis.CreateCommand(ctx, name, c->entry, flags, 1, c->last, c->step)) {
        redis.Log(ctx, "warning", "the command %s exists already: another module has it", c->name);
        return REDIS_ERR;
    }
    describe(ctx, c, name);
    return REDIS_OK;
}

/* A second category of the same name is refused, which does no harm. */
static void add_categories(redis_ctx *ctx) {
    static const char *const names[] = {"bloom", "cuckoo", "cms", "tamis"};
    for (size_t i = 0; redis.AddACLCategory && i < sizeof names / sizeof *names; i++)
        redis.AddACLCategory(ctx, names[i]);
}

int commands_start(redis_ctx *ctx) {
    add_categories(ctx);
    for (size_t i = 0; i < COMMANDS; i++)
        if (create(ctx, &commands[i])) return REDIS_ERR;
    return REDIS_OK;
}
