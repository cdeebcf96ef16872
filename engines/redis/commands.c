/* SPDX-License-Identifier: MIT */
/* The table of commands, and what is the same for all: counting arguments, waiting for jobs. */
#include "engines/redis/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engines/redis/alter.h"
#include "engines/redis/clock.h"
#include "engines/redis/packed_words.h"
#include "engines/redis/usage.h"

/* A mark in the flags, which the server is not told. */
#define MAKES_JOBS " job"

typedef struct command {
    redis_function *function, *entry;
    const char *name, *flags;
    int last, step, min, max;
    const char *family, *complexity, *summary, *usage;
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
#define COMMAND(function, name, flags, last, step, min, max, family, complexity, summary, usage) \
    {function, enter_##function, name,       flags,   last, step, min,                           \
     max,      family,           complexity, summary, usage},
#include "engines/redis/commands.def"
};

/* Asked once, and not for each of a million adds. */
static bool has_secret[COMMANDS];

static bool writes(const command *c) {
    return strstr(c->flags, "write");
}

static bool may_have_to_wait(const command *c) {
    return writes(c) || strstr(c->flags, MAKES_JOBS);
}

static int run_bound(const command *c, redis_ctx *ctx, redis_string **argv, int argc) {
    const bounds before = bounds_enter(ctx);
    const int rc = c->function(ctx, argv, argc);
    bounds_leave(before);
    return rc;
}

static int run(const command *c, redis_ctx *ctx, redis_string **argv, int argc) {
    /* Of a command with the flag getkeys-api: it shall tell which of these are keys, and do
     * nothing. */
    if (redis.IsKeysPositionRequest && redis.IsKeysPositionRequest(ctx))
        return c->function(ctx, argv, argc);
    if (has_secret[c - commands]) usage_hide(ctx, c->usage, argv, argc);
    if (argc < c->min || (c->max && argc > c->max)) return redis.WrongArity(ctx);
    if (c->last && filters_are_shared() && !alter_alone(ctx, argv[1], writes(c))) return REDIS_OK;
    if (c->last && atomic_load(&counters.owed)) clock_pay(ctx, argv[1]);
    if (c->last && writes(c)) clock_begin(ctx, argv[1]);
    if ((work_is_active() || work_is_behind()) && may_have_to_wait(c)) {
        const int last = c->last < 0 ? argc + c->last : c->last;
        const call again = {c->entry, argv, argc, 1, last, c->step, writes(c)};
        if (work_must_wait(ctx, &again)) return REDIS_OK;
        if (work_is_behind() && work_must_pause(ctx, &again)) return REDIS_OK;
    }
    counters.is_change = writes(c);
    return run_bound(c, ctx, argv, argc);
}

/* What carries others is not carried itself. */
bool words_command(const redis_string *name, call *found) {
    const char *text = redis.StringPtrLen(name, NULL);
    for (const command *c = commands; c < commands + COMMANDS; c++)
        if (strcasecmp(c->name, text) == 0 && c->last == 1 && writes(c) &&
            c->function != tamis_words_command) {
            *found = (call){c->entry, NULL, 0, 1, c->last, c->step, true};
            return true;
        }
    return false;
}

/* ---- Making them known ----------------------------------------------------------------------- */

/* Who may only read a key may ask it. Of several keys the first is changed, and the others are
 * read. */
static void describe_keys(const command *c, redis_key_spec specs[3]) {
    const uint64_t read = REDIS_KEY_IS_READ | REDIS_KEY_IS_ACCESSED;
    const uint64_t change = REDIS_KEY_IS_CHANGED | REDIS_KEY_IS_ACCESSED | REDIS_KEY_IS_UPDATED;
    memset(specs, 0, 3 * sizeof *specs);
    for (int i = 0; i < (c->last < 0 ? 2 : c->last); i++) {
        specs[i].flags = writes(c) && i == 0 ? change : read;
        specs[i].begins = REDIS_KEYS_BEGIN_AT;
        specs[i].first = 1 + i;
        specs[i].ends = REDIS_KEYS_ARE_RANGE;
        specs[i].last = i ? c->last : 0;
        specs[i].step = 1;
    }
}

/* What COMMAND DOCS tells, where the server has it. */
static void describe(redis_command *known, const command *c) {
    enum { HISTORY_BYTES = 16 }; /* of what we have none of */
    static const redis_info_version version = {1, HISTORY_BYTES, sizeof(redis_key_spec),
                                               sizeof(redis_argument)};
    const bool tells_keys = !strstr(c->flags, "getkeys-api");
    redis_key_spec specs[3];
    usage u;
    const redis_command_info info = {
        .version = &version,
        .summary = c->summary,
        .complexity = c->complexity,
        .since = tamis_version(),
        .arity = c->min == c->max ? c->min : -c->min,
        .key_specs = tells_keys ? specs : NULL,
        .arguments = usage_read(&u, c->usage, tells_keys),
    };
    describe_keys(c, specs);
    redis.SetCommandInfo(known, &info);
}

/* The server takes exactly these: what it would guess from the flags is lost with the first of
 * ours. */
static void categorize(redis_command *known, const command *c) {
    char categories[64];
    snprintf(categories, sizeof categories, "%s %s %s",
             strstr(c->flags, "admin") ? "admin dangerous"
             : writes(c)               ? "write"
                                       : "read",
             strstr(c->flags, "fast") ? "fast" : "slow", c->family);
    redis.SetCommandACLCategories(known, categories);
}

static int create(redis_ctx *ctx, const command *c) {
    char flags[64], name[32];
    snprintf(flags, sizeof flags, "%s", c->flags);
    /* In small letters, as the server's own: its errors repeat the name as it is here. */
    snprintf(name, sizeof name, "%s", c->name);
    for (char *letter = name; *letter; letter++) *letter = (char)tolower((unsigned char)*letter);
    char *mark = strstr(flags, MAKES_JOBS);
    if (mark) *mark = 0;
    if (redis.CreateCommand(ctx, name, c->entry, flags, c->last ? 1 : 0, c->last, c->step)) {
        redis.Log(ctx, "warning", "the command %s exists already: another module has it", c->name);
        return REDIS_ERR;
    }
    redis_command *known = redis.GetCommand ? redis.GetCommand(ctx, name) : NULL;
    if (known && redis.SetCommandInfo) describe(known, c);
    if (known && redis.AddACLCategory && redis.SetCommandACLCategories) categorize(known, c);
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
    for (size_t i = 0; i < COMMANDS; i++) has_secret[i] = usage_has_secret(commands[i].usage);
    return REDIS_OK;
}
