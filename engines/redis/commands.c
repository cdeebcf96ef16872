/* SPDX-License-Identifier: MIT */
/* The table of commands, and what is the same for all: arity, waiting for jobs, limits, the key. */
#include "engines/redis/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/alter.h"
#include "engines/redis/bf.h"
#include "engines/redis/cf.h"
#include "engines/redis/clock.h"
#include "engines/redis/many.h"
#include "engines/redis/packed_words.h"
#include "engines/redis/usage.h"

/* What the server calls: one entry for each line of the table, which knows its number. */
enum {
#define COMMAND(function, ...) NUMBER_OF_##function,
#include "engines/redis/commands.def"
    COMMANDS
};
static int run(int number, redis_ctx *ctx, redis_string **argv, int argc);
#define COMMAND(function, ...)                                                   \
    static int enter_##function(redis_ctx *ctx, redis_string **argv, int argc) { \
        return run(NUMBER_OF_##function, ctx, argv, argc);                       \
    }
#include "engines/redis/commands.def"

static const command commands[COMMANDS] = {
#define COMMAND(function, ...) {function, enter_##function, __VA_ARGS__},
#include "engines/redis/commands.def"
};

static bool finds_keys_itself(const command *c) {
    return strstr(c->flags, "getkeys-api");
}

enum { FIRST_ITEM = 2 }; /* behind the name and the key */

/* Most commands have one item, and a filter that is there with room for it. These do just that,
 * with the key open, and need no memory that a limit could refuse; false, and nothing was done or
 * replied: the command itself finds out what is to be done, or what is wrong. */
typedef bool short_way(request *);
static short_way *const short_ways[COMMANDS] = {
    [NUMBER_OF_bf_add_command] = bf_add_one,     [NUMBER_OF_bf_exists_command] = many_exist_one,
    [NUMBER_OF_cf_add_command] = cf_add_one,     [NUMBER_OF_cf_exists_command] = many_exist_one,
    [NUMBER_OF_cf_addnx_command] = cf_addnx_one,
};

/* Asked once, and not for each of a million adds. */
static struct traits {
    bool has_secret, finds_keys_itself, opens_key;
    int mode;      /* in which the key is opened */
    family family; /* that it may be of */
    short_way *one;
} traits[COMMANDS];

static struct traits traits_of(int number) {
    const command *c = &commands[number];
    return (struct traits){.has_secret = usage_has_secret(c->usage),
                           .finds_keys_itself = finds_keys_itself(c),
                           .opens_key = c->last && c->use != PASS_ON,
                           .mode = c->use == CHANGE ? REDIS_READ | REDIS_WRITE : REDIS_READ,
                           .family = c->family == FAMILY_TAMIS ? ANY_FAMILY : c->family,
                           .one = short_ways[number]};
}

/* Waiting also for arguments that are not keys does no harm. */
int request_last_key(const request *r) {
    const command *c = r->command;
    return finds_keys_itself(c) ? r->argc - 1 : c->last < 0 ? r->argc + c->last : c->last;
}

/* Does no key owe anything to others, so that a command need not ask whether its own does? */
static inline bool is_quiet(void) {
    return !(counters.jobs_active | work_is_behind | atomic_load(&counters.shared) |
             atomic_load(&counters.owed) | atomic_load(&counters.clocks));
}

/* Before a command is begun: what its key owes to others. False: it has been replied to, or will be
 * run again. */
static __attribute__((noinline)) bool may_begin(request *r) {
    const bool has_key = r->command->last;
    if (has_key && filters_are_shared() && !alter_alone(r)) return false;
    if (has_key && atomic_load(&counters.owed)) clock_pay(r);
    if (has_key && atomic_load(&counters.clocks)) clock_begin(r);
    return !work_must_wait(r);
}

/* Closes the key again. The limits are those of whoever asks. */
static __attribute__((noinline)) void run_bound(request *r) {
    const bounds before = bounds_enter(r->ctx, r->is_told);
    r->command->function(r);
    request_close(r);
    bounds_leave(before);
}

int request_run(request *r) {
    const command *c = r->command;
    const struct traits *t = &traits[c - commands];
    /* It shall tell which of these are keys, and do nothing. */
    if (t->finds_keys_itself && redis.IsKeysPositionRequest && redis.IsKeysPositionRequest(r->ctx))
        return c->function(r);
    if (t->has_secret) usage_hide(r->ctx, c->usage, r->argv, r->argc);
    if (r->argc < c->min || (c->max && r->argc > c->max)) return request_wrong_arity(r);
    if (c->last) r->key = r->argv[1];
    if (!may_begin(r)) return REDIS_OK;
    r->items = FIRST_ITEM;
    r->is_verbatim = true;
    if (t->opens_key) request_open(r, t->mode, t->family);
    run_bound(r);
    return REDIS_OK;
}

static ONE_ITEM int run(int number, redis_ctx *ctx, redis_string **argv, int argc) {
    const struct traits *t = &traits[number];
    request r = {.command = &commands[number],
                 .ctx = ctx,
                 .argv = argv,
                 .argc = argc,
                 .items = FIRST_ITEM,
                 .is_verbatim = true};
    if (!t->one || argc != FIRST_ITEM + 1) return request_run(&r);
    r.key = argv[1];
    if (!is_quiet() && !may_begin(&r)) return REDIS_OK;
    request_open(&r, t->mode, t->family);
    if (t->one(&r))
        request_close(&r);
    else
        run_bound(&r);
    return REDIS_OK;
}

/* What carries others is not carried itself. */
const command *words_command(const redis_string *name) {
    for (const command *c = commands; c < commands + COMMANDS; c++)
        if (is_word(name, c->name) && c->last == 1 && command_writes(c) &&
            c->function != tamis_words_command)
            return c;
    return NULL;
}

/* ---- Making them known ----------------------------------------------------------------------- */

/* Who may only read a key may ask it. Of several keys the first is changed, and the others are
 * read. */
static void describe_keys(const command *c, redis_key_spec specs[3]) {
    const uint64_t read = REDIS_KEY_IS_READ | REDIS_KEY_IS_ACCESSED;
    const uint64_t change = REDIS_KEY_IS_CHANGED | REDIS_KEY_IS_ACCESSED | REDIS_KEY_IS_UPDATED;
    memset(specs, 0, 3 * sizeof *specs);
    for (int i = 0; i < (c->last < 0 ? 2 : c->last); i++) {
        specs[i].flags = command_writes(c) && i == 0 ? change : read;
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
    const bool tells_keys = !finds_keys_itself(c);
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

static const char *category_of(const command *c) {
    return c->family == FAMILY_BF    ? "bloom"
           : c->family == FAMILY_CF  ? "cuckoo"
           : c->family == FAMILY_CMS ? "cms"
                                     : "tamis";
}

/* The server takes exactly these: what it would guess from the flags is lost with the first of
 * ours. */
static void categorize(redis_command *known, const command *c) {
    char categories[64];
    snprintf(categories, sizeof categories, "%s %s %s",
             strstr(c->flags, "admin") ? "admin dangerous"
             : command_writes(c)       ? "write"
                                       : "read",
             strstr(c->flags, "fast") ? "fast" : "slow", category_of(c));
    redis.SetCommandACLCategories(known, categories);
}

static int create(redis_ctx *ctx, const command *c) {
    char flags[64], name[32];
    snprintf(flags, sizeof flags, "%s%s%s", command_writes(c) ? "write" : "",
             command_writes(c) && *c->flags ? " " : "", c->flags);
    /* In small letters, as the server's own: its errors repeat the name as it is here. */
    snprintf(name, sizeof name, "%s", c->name);
    for (char *letter = name; *letter; letter++) *letter = (char)tolower((unsigned char)*letter);
    if (redis.CreateCommand(ctx, name, c->entry, flags, c->last ? 1 : 0, c->last, c->step)) {
        redis.Log(ctx, "warning", "the command %s exists already: another module has it", c->name);
        return REDIS_ERR;
    }
    redis_command *known = redis.GetCommand ? redis.GetCommand(ctx, name) : NULL;
    if (known && redis.SetCommandInfo) describe(known, c);
    if (known && redis.AddACLCategory && redis.SetCommandACLCategories) categorize(known, c);
    return REDIS_OK;
}

int commands_start(redis_ctx *ctx) {
    for (size_t i = 0; i < COMMANDS; i++) {
        const command *c = &commands[i];
        /* A second category of the same name is refused, which does no harm. */
        if (redis.AddACLCategory) redis.AddACLCategory(ctx, category_of(c));
        if (create(ctx, c)) return REDIS_ERR;
        traits[i] = traits_of((int)i);
    }
    return REDIS_OK;
}
