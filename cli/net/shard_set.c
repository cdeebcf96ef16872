/* SPDX-License-Identifier: MIT */
/* shard_set.c: a filter as a cluster has it.
 *
 * The shards of filter NAME are the keys NAME:{tag}; shard 0 is always in slot 0, so anyone who
 * knows the name finds it, and it describes the rest: how many there are, their shape, hash and
 * secret. An empty copy of it is kept here, to hash keys and to tell which shard has them.
 */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <stdlib.h>
#include <time.h>

/* ==== Names ================================================================================= */

int shards_name(struct shards *shards, const struct args *args, struct net *net) {
    const char *name = args->operand[1];
    *shards = (struct shards){.args = args, .net = net, .name = name};
    const int code = net_open(net, args);
    if (code) return code;
    if (!*name || strlen(name) >= NAME_ROOM)
        return fail(args, NULL, "NAME must have 1 to %d bytes", NAME_ROOM - 1);
    if (strpbrk(name, "{}"))
        return fail(args, NULL,
                    "%s: braces are not allowed in NAME: they would choose its slot in a cluster",
                    name);
    shards->tag = malloc((size_t)SLOTS * TAG_ROOM);
    if (!shards->tag) return fail_memory(args);
    slot_tags(shards->tag);
    shards->n = 1;
    return 0;
}

void shards_close(struct shards *shards) {
    if (shards->net) net_close(shards->net);
    tamis_free(shards->model);
    free(shards->tag);
    *shards = (struct shards){0};
}

struct shard_key shard_key(const struct shards *shards, uint64_t shard) {
    struct shard_key key;
    snprintf(key.text, sizeof key.text, "%s:{%s}", shards->name,
             shards->tag[slot_of_shard(shard, shards->n)]);
    return key;
}

struct shard_title shard_title(const struct shards *shards, uint64_t shard) {
    struct shard_title title;
    snprintf(title.text, sizeof title.text, "shard %llu of %llu (%s)", (unsigned long long)shard,
             (unsigned long long)shards->n, shard_key(shards, shard).text);
    return title;
}

/* ==== What a server reports ================================================================= */

static bool is_text(const redisReply *reply) {
    return reply && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS);
}

const redisReply *info_value(const redisReply *info, const char *name) {
    if (!info || info->type != REDIS_REPLY_ARRAY) return NULL;
    for (size_t i = 0; i + 1 < info->elements; i += 2)
        if (is_text(info->element[i]) && strcmp(info->element[i]->str, name) == 0)
            return info->element[i + 1];
    return NULL;
}

uint64_t info_count(const redisReply *info, const char *name) {
    const redisReply *value = info_value(info, name);
    if (value && value->type == REDIS_REPLY_INTEGER)
        return value->integer > 0 ? (uint64_t)value->integer : 0;
    return is_text(value) ? strtoull(value->str, NULL, 10) : 0;
}

double info_real(const redisReply *info, const char *name) {
    const redisReply *value = info_value(info, name);
    if (value && value->type == REDIS_REPLY_INTEGER) return (double)value->integer;
    return is_text(value) ? strtod(value->str, NULL) : 0;
}

const char *info_text(const redisReply *info, const char *name) {
    const redisReply *value = info_value(info, name);
    return is_text(value) ? value->str : "";
}

/* ==== Commands ============================================================================== */

static bool make_call(struct call *call, const char *command, const char *key) {
    const char *argv[] = {command, key};
    return call_make(call, NULL, 2, argv, NULL);
}

int shard_call(const struct shards *shards, struct call *call, uint64_t shard,
               const char *command) {
    if (!make_call(call, command, shard_key(shards, shard).text)) return fail_memory(shards->args);
    calls_run(shards->net, call, 1);
    return 0;
}

bool shards_call(const struct shards *shards, struct call *call, const char *command) {
    for (uint64_t i = 0; i < shards->n; i++)
        if (!make_call(&call[i], command, shard_key(shards, i).text)) return false;
    calls_run(shards->net, call, (size_t)shards->n);
    return true;
}

bool say_why(char *why, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(why, WHY_ROOM, format, values);
    va_end(values);
    return false;
}

bool call_alone(const struct shards *shards, struct call *call, const char *what, char *why) {
    calls_run(shards->net, call, 1);
    const char *trouble = call_trouble(call);
    const bool is_good = !trouble || say_why(why, "%s: %s", what, trouble);
    call_free(call);
    return is_good;
}

bool is_absent(const struct call *call) {
    return call->request.reply && is_refusal(call->request.reply, "NOFILTER");
}

/* ==== The model ============================================================================= */

int spec_of_shard(const struct shards *shards, uint64_t shard, char spec[SPEC_ROOM]) {
    if (spec_has(shards->spec, "shard") &&
        tamis_spec_set(shards->spec, "shard", human_digits(shard).text, spec, SPEC_ROOM) > 0)
        return 0;
    return fail(shards->args, shards->name, "\"%s\" is not a shard", shards->spec);
}

int shards_model(struct shards *shards, const char *spec, uint64_t n, const uint8_t *secret) {
    const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT;
    if (n > SLOTS)
        return fail(shards->args, "--shards", "out of range (allowed: 1 to %d, one for each slot)",
                    SLOTS);
    const tamis_status status = tamis_create_with(&shards->model, spec, &options);
    if (status) return fail_why(shards->args, shards->name, status);
    if (!tamis_shard_get_info(shards->model, &info) || info.shards != n)
        return fail(shards->args, shards->name, "\"%s\" is not one shard of %llu", spec,
                    (unsigned long long)n);
    shards->n = n;
    tamis_spec(shards->model, shards->spec, sizeof shards->spec);
    return 0;
}

/* The form of keys is in the notes. */
static int copy_notes(const struct shards *shards, const redisReply *info) {
    const redisReply *notes = info_value(info, "notes");
    for (size_t i = 0; notes && notes->type == REDIS_REPLY_ARRAY && i + 1 < notes->elements;
         i += 2) {
        const redisReply *name = notes->element[i], *value = notes->element[i + 1];
        if (!is_text(name) || !is_text(value)) continue;
        const tamis_status status = tamis_set_note(shards->model, name->str, value->str);
        if (status) return fail_why(shards->args, shards->name, status);
    }
    return 0;
}

/* From what any one shard reports. */
static int model_from(struct shards *shards, const redisReply *info, const redisReply *secret) {
    const redisReply *shape = info_value(info, "shape");
    const uint64_t n = info_count(shape, "shards");
    const bool has_secret =
        secret && secret->type == REDIS_REPLY_STRING && secret->len == SECRET_BYTES;
    if (n == 0 || n > SLOTS)
        return fail(shards->args, shards->name, "not a filter across a cluster: its kind is %s",
                    info_text(info, "kind"));
    snprintf(shards->spec, sizeof shards->spec, "%s", info_text(info, "spec"));
    char spec[SPEC_ROOM];
    int code = spec_of_shard(shards, 0, spec);
    if (!code)
        code = shards_model(shards, spec, n, has_secret ? (const uint8_t *)secret->str : NULL);
    return code ? code : copy_notes(shards, info);
}

/* Two questions about the key of one shard. */
static int ask_shape(struct shards *shards, const char *key, struct call call[2]) {
    if (!make_call(&call[0], "TAMIS.INFO", key) || !make_call(&call[1], "TAMIS.SECRET", key))
        return fail_memory(shards->args);
    calls_run(shards->net, call, 2);
    return 0;
}

/* Goes through the keys of one node. A name is matched as it is: what has a meaning in patterns
 * gets a backslash. */
static void scan_node(const struct shards *shards, struct node *node, char key[KEY_ROOM]) {
    char pattern[2 * NAME_ROOM + 8], cursor[32] = "0";
    size_t len = 0;
    for (const char *at = shards->name; *at; at++) {
        if (strchr("*?[]\\^", *at)) pattern[len++] = '\\';
        pattern[len++] = *at;
    }
    memcpy(pattern + len, ":{*}", 5);
    do {
        struct call call;
        const char *argv[] = {"SCAN", cursor, "MATCH", pattern, "COUNT", "10000"};
        if (!call_make(&call, node, 6, argv, NULL)) return;
        calls_run(shards->net, &call, 1);
        const redisReply *reply = call.request.reply;
        const bool is_good = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                             is_text(reply->element[0]) &&
                             reply->element[1]->type == REDIS_REPLY_ARRAY;
        snprintf(cursor, sizeof cursor, "%s", is_good ? reply->element[0]->str : "0");
        const redisReply *found = is_good ? reply->element[1] : NULL;
        if (found && found->elements > 0 && is_text(found->element[0]))
            snprintf(key, KEY_ROOM, "%s", found->element[0]->str);
        call_free(&call);
    } while (!*key && strcmp(cursor, "0") != 0);
}

/* The name of any shard, where shard 0 is lost; "" when there is none. */
static void find_any(const struct shards *shards, char key[KEY_ROOM]) {
    struct node *node[MAX_NODES];
    const size_t n = list_primaries(shards->net, node);
    *key = '\0';
    for (size_t i = 0; i < n && !*key; i++) scan_node(shards, node[i], key);
}

int shards_ask(struct shards *shards, bool looks_further, struct call call[2]) {
    char found[KEY_ROOM];
    int code = ask_shape(shards, shard_key(shards, 0).text, call);
    const bool is_silent =
        !call[0].request.reply; /* Then any other will do: what it has is maybe. */
    if (code || !(is_silent || (is_absent(&call[0]) && looks_further))) return code;
    find_any(shards, found);
    if (!*found) return 0;
    for (int i = 0; i < 2; i++) call_free(&call[i]);
    return ask_shape(shards, found, call);
}

int shards_open(struct shards *shards, const struct args *args, struct net *net) {
    struct call call[2] = {{{0}, 0, 0}};
    const bool looks_further =
        strcmp(args->operand[0], "info") == 0 || strcmp(args->operand[0], "repair") == 0;
    int code = shards_name(shards, args, net);
    if (!code) code = shards_ask(shards, looks_further, call);
    if (!code && is_absent(&call[0]))
        code = fail(args, shards->name,
                    "no such filter: no key %s; create one with \"tamis cluster create\", or look "
                    "for its other shards with \"tamis cluster repair\"",
                    shard_key(shards, 0).text);
    for (int i = 0; i < 2 && !code; i++)
        if (call_trouble(&call[i]))
            code = fail(args, shards->name, "%s: %s", shard_key(shards, 0).text,
                        call_trouble(&call[i]));
    if (!code) code = model_from(shards, call[0].request.reply, call[1].request.reply);
    for (int i = 0; i < 2; i++) call_free(&call[i]);
    return code;
}

/* ==== Nodes ================================================================================= */

size_t list_primaries(struct net *net, struct node *node[MAX_NODES]) {
    size_t n = 0;
    net_lock(net);
    for (size_t i = 0; i < net->nodes; i++)
        if (net->node[i]->is_primary) node[n++] = net->node[i];
    net_unlock(net);
    return n;
}

/* "maxmemory_policy:noeviction\r\n" to "noeviction" */
static void field_of(const char *info, const char *name, char *value, size_t size) {
    const char *at = strstr(info, name);
    *value = '\0';
    if (!at) return;
    at += strlen(name);
    snprintf(value, size, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static int is_fit(const struct args *args, const struct node *node, const struct call call[2]) {
    const redisReply *known = call[0].request.reply, *info = call[1].request.reply;
    char policy[64], limit[32];
    for (int i = 0; i < 2; i++)
        if (call_trouble(&call[i])) return fail(args, node->name, "%s", call_trouble(&call[i]));
    if (known->type != REDIS_REPLY_ARRAY || known->elements < 1 ||
        known->element[0]->type != REDIS_REPLY_ARRAY)
        return fail(args, node->name,
                    "this server has not loaded the module tamis.so: TAMIS.HADD is unknown");
    if (info->type != REDIS_REPLY_STRING) return 0;
    field_of(info->str, "\nmaxmemory:", limit, sizeof limit);
    field_of(info->str, "maxmemory_policy:", policy, sizeof policy);
    if (strcmp(limit, "0") == 0 || !*policy || strcmp(policy, "noeviction") == 0) return 0;
    return fail(args, node->name,
                "its maxmemory-policy is %s: it would evict shards, and their keys, when memory "
                "is short; set it to noeviction",
                policy);
}

/* What came of asking all primaries. */
struct fitness {
    int code;
    bool is_silent;             /* one of them did not answer */
    char trouble[TROUBLE_ROOM]; /* then: which, and why */
};

static struct fitness ask_primary(struct net *net, struct node *node) {
    static const char *const known[] = {"COMMAND", "INFO", "TAMIS.HADD"};
    static const char *const memory[] = {"INFO", "memory"};
    struct fitness fitness = {0};
    struct call call[2] = {{{0}, 0, 0}};
    if (!call_make(&call[0], node, 3, known, NULL) || !call_make(&call[1], node, 2, memory, NULL))
        fitness.code = fail_memory(net->args);
    else
        calls_run(net, call, 2);
    for (int i = 0; i < 2 && !fitness.is_silent && !fitness.code; i++) {
        const redisReply *reply = call[i].request.reply;
        fitness.is_silent = !reply || is_passing(reply);
        if (!fitness.is_silent) continue;
        const char *why = call_trouble(&call[i]);
        /* The message of a broken link already names its node. */
        const bool is_named = strncmp(why, node->name, strlen(node->name)) == 0;
        snprintf(fitness.trouble, sizeof fitness.trouble, "%.64s%s%.120s",
                 is_named ? "" : node->name, is_named ? "" : ": ", why);
    }
    if (!fitness.is_silent && !fitness.code) fitness.code = is_fit(net->args, node, call);
    for (int i = 0; i < 2; i++) call_free(&call[i]);
    return fitness;
}

static struct fitness ask_primaries(struct net *net) {
    struct node *node[MAX_NODES];
    const size_t n = list_primaries(net, node);
    struct fitness fitness = {0};
    for (size_t i = 0; i < n && !fitness.code && !fitness.is_silent; i++)
        fitness = ask_primary(net, node[i]);
    return fitness;
}

/* A primary that has just died is one until its replica is elected, which the map shows. */
int primaries_are_fit(struct net *net) {
    static const struct timespec pause = {.tv_nsec = 100000000};
    const int64_t deadline = now_ms() + net->timeout;
    struct fitness fitness = ask_primaries(net);
    while (!fitness.code && fitness.is_silent && now_ms() < deadline && !is_stopped()) {
        net_lock(net);
        net_want_map(net);
        net_wake(net);
        net_unlock(net);
        nanosleep(&pause, NULL);
        fitness = ask_primaries(net);
    }
    return fitness.is_silent ? fail(net->args, NULL, "%s", fitness.trouble) : fitness.code;
}

/* ==== Replicas ============================================================================== */

static void confirm_node(const struct shards *shards, struct node *node) {
    char wanted[16], patience[24];
    struct call call;
    snprintf(wanted, sizeof wanted, "%u", node->replicas);
    snprintf(patience, sizeof patience, "%lld", (long long)(shards->net->silence / 2));
    const char *argv[] = {"WAIT", wanted, patience};
    if (!call_make(&call, node, 3, argv, NULL)) return;
    calls_run(shards->net, &call, 1);
    const redisReply *reply = call.request.reply;
    if (!reply || reply->type != REDIS_REPLY_INTEGER || reply->integer < (long long)node->replicas)
        warn(shards->args, node->name,
             "its replicas did not confirm that they have everything; if it fails before they "
             "do, shards are lost");
    call_free(&call);
}

void shards_confirm(const struct shards *shards) {
    struct node *node[MAX_NODES];
    const size_t n = list_primaries(shards->net, node);
    for (size_t i = 0; i < n; i++)
        if (node[i]->replicas > 0) confirm_node(shards, node[i]);
}
#endif
