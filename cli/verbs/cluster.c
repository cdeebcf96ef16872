/* SPDX-License-Identifier: MIT */
/* cluster.c: `tamis cluster`, one filter over the nodes of a Redis or Valkey cluster. */
#include "cli/net/shard_set.h"

#include <string.h>

/* ---- What can be done ---- */

enum { MAX_OPTIONS = 28 };

#define KEYS_WORDS                                                                         \
    OPT_NULL, OPT_FIELD, OPT_DELIMITER, OPT_CSV, OPT_JSONL, OPT_WHITESPACE, OPT_HEADER,    \
        OPT_COMMENT, OPT_SKIP_EMPTY, OPT_STRICT, OPT_KEYS, OPT_HEX, OPT_BASE64, OPT_CANON, \
        OPT_DECOMPRESS, OPT_THREADS, OPT_MEMORY, OPT_JSON

#ifdef TAMIS_WITH_HIREDIS
#define ACTION(name) cluster_##name
#else
static int without_hiredis(const struct args *args) {
    return fail(args, NULL,
                "this tamis was built without hiredis, which it needs for Redis and Valkey "
                "servers");
}
#define ACTION(name) without_hiredis
#endif

struct action {
    const char *name;
    int (*run)(const struct args *args);
    const char *operand; /* what follows NAME: "" for nothing, "..." for files of keys, or none */
    enum option_id option[MAX_OPTIONS]; /* beside those that all have; ends with OPT_NONE */
};

/* clang-format off */
static const struct action actions[] = {
    {"create", ACTION(create), "SPEC",
     {OPT_SHARDS, OPT_SECRET_FILE, OPT_NOTE, OPT_KEYS, OPT_HEX, OPT_BASE64, OPT_CANON}},
    {"add", ACTION(add), "...", {KEYS_WORDS, OPT_KEEP_EMPTY}},
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
    struct nearest nearest = {.typed = args->operand[0]};
    for (size_t i = 0; i < ACTIONS; i++) nearest_try(&nearest, actions[i].name);
    if (nearest.name)
        return fail(args, NULL, "unknown action \"%s\"; did you mean \"%s\"?", nearest.typed,
                    nearest.name);
    return fail(args, NULL,
                "unknown action \"%s\" (allowed: create, add, check, load, dump, "
                "info, repair)",
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
            return fail(args, NULL, "%s does not accept --%s", action->name,
                        option_named(use->option)->name);
    if (strcmp(action->operand, "...") == 0) return 0;
    if (args->operand_count < max)
        return fail(args, NULL, "%s is missing; usage: tamis cluster %s NAME %s", action->operand,
                    action->name, action->operand);
    if (args->operand_count > max && !strstr(action->operand, "..."))
        return fail(args, NULL, "%s: unexpected argument; usage: tamis cluster %s NAME%s%s",
                    args->operand[max], action->name, *action->operand ? " " : "", action->operand);
    return 0;
}

static int run(const struct args *args) {
    const struct action *action = NULL;
    int code = find_action(args, &action);
    if (!code) code = check_words(args, action);
    return code ? code : action->run(args);
}

/* clang-format off */

const struct verb verb_cluster = {
    .name = "cluster",
    .also = "redis valkey shards",
    .summary = "use one filter across a Redis or Valkey cluster",
    .run = run,
    .operands = OPERANDS({"ACTION", EXACTLY_ONE, NO_STREAM}, {"NAME", EXACTLY_ONE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_REDIS},
        {.option = OPT_SHARDS,
         .help = "number of shards (default: 8 per primary, and none larger than 32 MiB)"},
        {.option = OPT_TIMEOUT,
         .help = "seconds without an answer from a shard, including retries (default: 30)"},
        {.option = OPT_FROM_IMAGE}, {.option = OPT_ACCEPT_LOSS}, {.option = OPT_INVERT},
        {.option = OPT_COUNT}, {.option = OPT_LINE_NUMBER}, {.option = OPT_WITH_FILENAME},
        {.option = OPT_QUIET,
         .help = "no summary; check prints nothing and stops at the first match"},
        {.option = OPT_JSON, .help = "info prints JSON; add and check write a JSON summary to "
                                     "standard error"},
        {.option = OPT_FORCE,
         .help = "load: replace shards with other keys; repair: replace shards of another "
                 "filter; dump: replace an existing file"},
        {.option = OPT_WAIT, .help = "dump: seconds to wait while another process changes the "
                                     "file"},
        LIST_OPTIONS, {.option = OPT_SECRET_FILE}, {.option = OPT_NOTE},
        {.option = OPT_MEMORY,
         .help = "memory for keys that are not confirmed yet (default: 256 MiB)"},
        {.option = OPT_THREADS,
         .help = "threads that read and hash keys (default: 1 for add; 32 for check, which "
                 "mostly wait)"}),
    .examples = EXAMPLES(
        {"Create a filter for ten billion keys, across all primaries",
         "tamis cluster create seen split:capacity=10G,fpr=1% --redis 10.0.0.1:6379"},
        {"Add keys; when it ends, replicas have confirmed them",
         "tamis cluster add seen today.txt --redis 10.0.0.1:6379"},
        {"Print the lines that are in it",
         "tamis cluster check seen requests.txt --redis 10.0.0.1:6379"},
        {"Publish an image that was built offline", "tamis cluster load seen seen.tamis"},
        {"Save it as the image one machine would have built",
         "tamis cluster dump seen backup.tamis"},
        {"Show how full it is, and where", "tamis cluster info seen"},
        {"Restore a lost shard", "tamis cluster repair seen --from backup.tamis"}),
    .about = "The servers need the module tamis.so. The filter NAME is split into shards, which "
             "are ranges of its blocks; shard i is the key NAME:{tag}, and tags are chosen so that "
             "shards are spread evenly over all slots. Keys are hashed here, under a secret stored "
             "in the shards (hash=xxh3 in SPEC uses none), and only hashes are sent, up to 16,384 "
             "per command, to all primaries at once. MOVED and ASK are followed; if a node is "
             "gone, the command waits until the cluster has replaced it.\n\n"
             "create makes all shards or none. SPEC must be of kind blocked or split. Primaries "
             "must have the module, and a server with a maxmemory must have the policy "
             "noeviction.\n\n"
             "add sends keys to the primaries and waits, once a second and at the end, until all "
             "their replicas have confirmed them (WAIT). Until then keys are kept here and sent "
             "again after a failover, so no acknowledged key is lost. Adding twice is harmless, "
             "even by two commands at once, except that the count of adds counts both. On a signal "
             "it finishes what is in progress and ends.\n\n"
             "check prints lines like \"tamis check\". A shard that does not answer for --timeout "
             "seconds answers maybe: its lines are printed, counted, and reported at the end. A "
             "missing shard is an error.\n\n"
             "load splits an image into shards and publishes them, or publishes the shards made by "
             "\"tamis build --shard\", if all are given; an existing filter keeps answering until "
             "its new shard is complete. Identical shards are left alone, so load can be repeated. "
             "dump joins all shards; each is as it was at one moment.\n\n"
             "repair checks every shard, and without options only reports. --from IMAGE restores "
             "lost shards, and adds to the others what the image has. --accept-loss recreates lost "
             "shards empty: their keys are answered no until they are added again.\n\n"
             "The password is read from $REDISCLI_AUTH."
             ABOUT_FORM,
    .exits = "0 success, or a line was printed or counted; 1 none was, or repair left something "
             "unrepaired; 2 error; 3 check printed lines whose shards did not answer.",
};
