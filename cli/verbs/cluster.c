/* cluster.c: `tamis cluster`, one filter over the nodes of a Redis or Valkey cluster. */
#include "cli/net/shard_set.h"

#include <string.h>

/* ---- What can be done ---- */

enum { MAX_OPTIONS = 20 };

#define KEYS_WORDS                                                                          \
    OPT_NULL, OPT_CRLF, OPT_FIELD, OPT_DELIMITER, OPT_KEYS, OPT_HEX, OPT_BASE64, OPT_CANON, \
        OPT_DECOMPRESS, OPT_THREADS, OPT_MEMORY, OPT_JSON

#ifdef TAMIS_WITH_HIREDIS
#define ACTION(name) cluster_##name
#else
static int without_hiredis(const struct args *args) {
    return fail(args, NULL,
                "this tamis was built without hiredis, which talks to Redis and Valkey servers");
}
#define ACTION(name) without_hiredis
#endif

struct action {
    const char *name;
    int (*run)(const struct args *args);
    const char
        *operand; /* what comes behind NAME: "" for nothing, "..." for files of keys, or none */
    enum option_id option[MAX_OPTIONS]; /* beside those that all have; ends with OPT_NONE */
};

/* clang-format off */
static const struct action actions[] = {
    {"create", ACTION(create), "SPEC",
     {OPT_SHARDS, OPT_SECRET_FILE, OPT_NOTE, OPT_KEYS, OPT_HEX, OPT_BASE64, OPT_CANON}},
    {"add", ACTION(add), "...", {KEYS_WORDS}},
    {"check", ACTION(check), "...",
     {KEYS_WORDS, OPT_INVERT, OPT_COUNT, OPT_LINE_NUMBER, OPT_WITH_FILENAME}},
    {"load", ACTION(load), "IMAGE...", {OPT_SHARDS, OPT_FORCE, OPT_SECRET_FILE}},
    {"dump", ACTION(dump), "IMAGE", {OPT_FORCE, OPT_WAIT}},
    {"info", ACTION(info), "", {OPT_JSON}},
    {"repair", ACTION(repair), "", {OPT_FROM_IMAGE, OPT_ACCEPT_LOSS, OPT_FORCE, OPT_SECRET_FILE}},
};
/* clang-format on */
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static int find_action(const struct args *args, const struct action **action) {
    for (size_t i = 0; i < ACTIONS; i++) {
        if (strcmp(actions[i].name, args->operand[0]) != 0) continue;
        *action = &actions[i];
        return 0;
    }
    return fail(args, NULL, "\"%s\" is not create, add, check, load, dump, info or repair",
                args->operand[0]);
}

static bool takes(const struct action *action, enum option_id id) {
    static const enum option_id always[] = {OPT_REDIS, OPT_TIMEOUT,     OPT_QUIET,
                                            OPT_COLOR, OPT_NO_PROGRESS, OPT_HELP};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (always[i] == id) return true;
    for (size_t i = 0; i < MAX_OPTIONS && action->option[i] != OPT_NONE; i++)
        if (action->option[i] == id) return true;
    return false;
}

static int check_words(const struct args *args, const struct action *action) {
    const struct use *use;
    const size_t max = *action->operand ? 3 : 2;
    for (size_t i = 0; (use = verb_use(args->verb, i)) != NULL; i++)
        if (given(args, use->option) && !takes(action, use->option))
            return fail(args, NULL, "%s takes no --%s", action->name,
                        option_named(use->option)->name);
    if (strcmp(action->operand, "...") == 0) return 0;
    if (args->operand_count < max)
        return fail(args, NULL, "%s is missing: tamis cluster %s NAME %s", action->operand,
                    action->name, action->operand);
    if (args->operand_count > max && !strstr(action->operand, "..."))
        return fail(args, NULL, "%s is one word too many: tamis cluster %s NAME%s%s",
                    args->operand[max], action->name, *action->operand ? " " : "", action->operand);
    return 0;
}

static int run(const struct args *args) {
    const struct action *action = NULL;
    int code = find_action(args, &action);
    if (!code) code = check_words(args, action);
    return code ? code : action->run(args);
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_cluster = {
    .name = "cluster",
    .also = "redis valkey shards",
    .summary = "one filter over a Redis or Valkey cluster",
    .run = run,
    .operands = OPERANDS({"ACTION", EXACTLY_ONE, NO_STREAM}, {"NAME", EXACTLY_ONE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_REDIS},
        {.option = OPT_SHARDS,
         .help = "into how many shards; otherwise 8 for each primary, and none larger than 32 MiB"},
        {.option = OPT_TIMEOUT,
         .help = "how long a shard may give no answer, with everything that is tried; otherwise "
                 "30"},
        {.option = OPT_FROM_IMAGE}, {.option = OPT_ACCEPT_LOSS}, {.option = OPT_INVERT},
        {.option = OPT_COUNT}, {.option = OPT_LINE_NUMBER}, {.option = OPT_WITH_FILENAME},
        {.option = OPT_QUIET,
         .help = "no summary; check prints nothing and stops at the first line that it would"},
        {.option = OPT_JSON, .help = "info prints JSON; add and check tell what they did in "
                                     "JSON, on standard error"},
        {.option = OPT_FORCE,
         .help = "load replaces shards with other keys, repair those of another filter, dump an "
                 "existing file"},
        {.option = OPT_WAIT, .help = "of dump: how long to wait for another that changes the file"},
        KEY_OPTIONS, {.option = OPT_SECRET_FILE}, {.option = OPT_NOTE},
        {.option = OPT_MEMORY,
         .help = "for keys that are not confirmed yet, otherwise 256 MiB"},
        {.option = OPT_THREADS,
         .help = "threads that read and hash keys; otherwise one to add, and 32 to check, which "
                 "mostly wait"}),
    .examples = EXAMPLES(
        {"A filter for ten billion keys, over all primaries",
         "tamis cluster create seen split:capacity=10G,fpr=1% --redis 10.0.0.1:6379"},
        {"Keys go in; replicas have confirmed them when it ends",
         "tamis cluster add seen today.txt --redis 10.0.0.1:6379"},
        {"Which lines are in it?", "tamis cluster check seen requests.txt --redis 10.0.0.1:6379"},
        {"Publish an image that was built offline", "tamis cluster load seen seen.tamis"},
        {"And back: the image that one machine would have built",
         "tamis cluster dump seen backup.tamis"},
        {"How full, and where?", "tamis cluster info seen"},
        {"After a shard was lost", "tamis cluster repair seen --from backup.tamis"}),
    .about = "The servers need the module tamis.so. A filter NAME is cut into shards, ranges of "
             "its blocks; shard i is the key NAME:{tag}, and tags are chosen so that shards lie "
             "evenly on all slots. Keys are hashed here, under a secret that the shards keep "
             "(hash=xxh3 in SPEC does without), and only hashes travel, up to 16,384 in a command, "
             "to all primaries at once. MOVED and ASK are followed; a node that is gone is waited "
             "for until the cluster has another.\n\n"
             "create makes all shards or none. SPEC is of kind blocked or split. Primaries must "
             "have the module, and a server with a maxmemory must have the policy noeviction.\n\n"
             "add tells primaries, and once a second, and at the end, waits until all their "
             "replicas have confirmed (WAIT). Until then keys are kept here and sent again after a "
             "failover: none that was acknowledged is lost. Adding twice is harmless, also by two "
             "commands at once, except that the count of adds then counts twice. A signal ends it "
             "after what is under way.\n\n"
             "check prints lines as \"tamis check\" does. A shard that does not answer for "
             "--timeout seconds answers maybe: its lines are printed, counted, and told about at "
             "the end. A shard that is gone is an error.\n\n"
             "load cuts an image into shards and publishes them, or publishes the shards that "
             "\"tamis build --shard\" made, if all are named; a filter that is there answers until "
             "its new shard is whole. Shards that are the same are left alone, so it can be "
             "repeated. dump joins all shards; each is as it was at one moment.\n\n"
             "repair looks at every shard, and with nothing else only tells. --from IMAGE puts "
             "lost shards back, and adds to the others what the image has. --accept-loss makes "
             "lost ones anew: their keys are answered no until they are added again.\n\n"
             "A password is taken from $REDISCLI_AUTH."
             ABOUT_FORM,
    .exits = "0 when done, or when a line was printed or counted; 1 when none was, or when repair "
             "found something that it did not repair; 2 after an error; 3 when check printed lines "
             "whose shards did not answer.",
};
