/* SPDX-License-Identifier: MIT */
/* cluster_info.c: `tamis cluster info`, where a filter lies and how full it is. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <stdlib.h>

/* ==== Adding up ============================================================================= */

struct node_sum {
    const struct node *node;
    uint64_t shards, items, payload, used, limit;
    unsigned slots;
    bool is_silent;
};

struct sums {
    uint64_t items, payload;
    double fill, fpr;      /* of the good ones */
    double worst;          /* fpr of one shard */
    struct node_sum *node; /* the primaries */
    size_t nodes;
};

static struct node_sum *sum_of(struct sums *sums, const struct node *node) {
    for (size_t i = 0; i < sums->nodes; i++)
        if (sums->node[i].node == node) return &sums->node[i];
    return NULL;
}

static void add_shard(struct sums *sums, const struct call *call) {
    const redisReply *info = call->request.reply;
    struct node_sum *node = sum_of(sums, call->request.from);
    const uint64_t items = info_count(info, "items"), bytes = info_count(info, "payload_bytes");
    const double fpr = info_real(info, "fpr_now");
    sums->items += items;
    sums->payload += bytes;
    sums->fill += info_real(info, "fill");
    sums->fpr += fpr;
    if (fpr > sums->worst) sums->worst = fpr;
    if (!node) return;
    node->shards++;
    node->items += items;
    node->payload += bytes;
}

static uint64_t number_in(const char *info, const char *name) {
    const char *at = strstr(info, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void ask_memory(const struct shards *shards, struct node_sum *sum, struct node *node) {
    static const char *const word[] = {"INFO", "memory"};
    struct call call;
    sum->is_silent = true;
    if (!call_make(&call, node, 2, word, NULL)) return;
    calls_run(shards->net, &call, 1);
    const redisReply *reply = call.request.reply;
    if (reply && reply->type == REDIS_REPLY_STRING) {
        sum->is_silent = false;
        sum->used = number_in(reply->str, "used_memory:");
        sum->limit = number_in(reply->str, "\nmaxmemory:");
    }
    call_free(&call);
}

static int add_up(struct sums *sums, const struct survey *survey, const struct shards *shards) {
    struct net *net = shards->net;
    struct node *node[MAX_NODES];
    *sums = (struct sums){.node = calloc(MAX_NODES, sizeof *sums->node)};
    if (!sums->node) return fail_memory(shards->args);
    sums->nodes = list_primaries(net, node);
    for (size_t i = 0; i < sums->nodes; i++) {
        sums->node[i].node = node[i];
        ask_memory(shards, &sums->node[i], node[i]);
    }
    net_lock(net);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        struct node_sum *sum = sum_of(sums, net->owner[slot]);
        if (sum) sum->slots++;
    }
    net_unlock(net);
    for (uint64_t i = 0; i < shards->n; i++)
        if (survey->health[i] == SHARD_GOOD) add_shard(sums, &survey->info[i]);
    const double good = survey->count[SHARD_GOOD] ? (double)survey->count[SHARD_GOOD] : 1;
    sums->fill /= good;
    sums->fpr /= good;
    return 0;
}

/* ==== For people ============================================================================ */

static void print_nodes(const struct sums *sums) {
    printf("\n%-22s %7s %9s %7s %15s %10s %10s\n", "node", "slots", "replicas", "shards", "items",
           "bytes", "memory");
    for (size_t i = 0; i < sums->nodes; i++) {
        const struct node_sum *sum = &sums->node[i];
        printf("%-22s %7u %9u %7s %15s %10s %10s\n", sum->node->name, sum->slots,
               sum->node->replicas, human_count(sum->shards).text, human_count(sum->items).text,
               human_bytes(sum->payload).text,
               sum->is_silent ? "no answer" : human_bytes(sum->used).text);
    }
}

static void print_text(const struct sums *sums, const struct survey *survey,
                       const struct shards *shards) {
    struct tamis_shard_info shard = TAMIS_SHARD_INFO_INIT;
    const struct tamis_info info = info_of(shards->model);
    tamis_shard_get_info(shards->model, &shard);
    printf("filter    %s, kind %s over %s\n", shards->name, shard.layout,
           human_number(shards->n, "shard").text);
    printf("planned   %s keys at %s\n", human_count(info.capacity).text,
           human_rate(info.fpr_asked ? info.fpr_asked : info.fpr_expected).text);
    printf("items     %s\n", human_count(sums->items).text);
    printf("size      %s\n", human_bytes(sums->payload).text);
    printf("fill      %s\n", human_share(sums->fill).text);
    printf("fpr now   %s; the fullest shard %s\n", human_rate(sums->fpr).text,
           human_share(sums->worst).text);
    printf("hash      %s\n", info.hash);
    printf("health    %s good", human_count(survey->count[SHARD_GOOD]).text);
    for (int health = SHARD_ABSENT; health <= SHARD_DIFFERS; health++)
        if (survey->count[health])
            printf(", %s %s", human_count(survey->count[health]).text,
                   health_word((enum shard_health)health));
    putchar('\n');
    print_nodes(sums);
    if (survey->count[SHARD_GOOD] < shards->n) putchar('\n');
    survey_print(survey, shards);
}

/* ==== For programs ========================================================================== */

static void json_nodes(struct json *json, const struct sums *sums) {
    json_open(json, "nodes", '[');
    for (size_t i = 0; i < sums->nodes; i++) {
        const struct node_sum *sum = &sums->node[i];
        json_open(json, NULL, '{');
        json_text(json, "node", sum->node->name);
        json_count(json, "slots", sum->slots);
        json_count(json, "replicas", sum->node->replicas);
        json_count(json, "shards", sum->shards);
        json_count(json, "items", sum->items);
        json_count(json, "payload_bytes", sum->payload);
        json_count(json, "memory_bytes", sum->used);
        json_count(json, "memory_limit", sum->limit);
        json_bool(json, "is_silent", sum->is_silent);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_shards(struct json *json, const struct survey *survey,
                        const struct shards *shards) {
    json_open(json, "shards", '[');
    for (uint64_t i = 0; i < shards->n; i++) {
        const struct call *call = &survey->info[i];
        const bool is_good = survey->health[i] == SHARD_GOOD;
        json_open(json, NULL, '{');
        json_count(json, "shard", i);
        json_text(json, "key", shard_key(shards, i).text);
        json_count(json, "slot", slot_of_shard(i, shards->n));
        json_text(json, "node", call->request.from ? call->request.from->name : NULL);
        json_text(json, "health", health_word(survey->health[i]));
        json_count(json, "items", is_good ? info_count(call->request.reply, "items") : 0);
        json_real(json, "fill", is_good ? info_real(call->request.reply, "fill") : 0);
        json_real(json, "fpr_now", is_good ? info_real(call->request.reply, "fpr_now") : 0);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_json(const struct sums *sums, const struct survey *survey,
                       const struct shards *shards) {
    struct json json = json_start(stdout);
    struct tamis_shard_info shard = TAMIS_SHARD_INFO_INIT;
    const struct tamis_info info = info_of(shards->model);
    tamis_shard_get_info(shards->model, &shard);
    json_text(&json, "name", shards->name);
    json_text(&json, "kind", shard.layout);
    json_text(&json, "hash", info.hash);
    json_count(&json, "capacity", info.capacity);
    json_real(&json, "fpr_asked", info.fpr_asked);
    json_count(&json, "items", sums->items);
    json_count(&json, "payload_bytes", sums->payload);
    json_real(&json, "fill", sums->fill);
    json_real(&json, "fpr_now", sums->fpr);
    for (int health = SHARD_GOOD; health <= SHARD_DIFFERS; health++)
        json_count(&json, health_word((enum shard_health)health), survey->count[health]);
    json_nodes(&json, sums);
    json_shards(&json, survey, shards);
    json_end(&json);
}

int cluster_info(const struct args *args) {
    struct net net;
    struct shards shards = {0};
    struct survey survey = {0};
    struct sums sums = {0};
    int code = shards_open(&shards, args, &net);
    if (!code) code = survey_make(&survey, &shards);
    if (!code) code = add_up(&sums, &survey, &shards);
    if (!code && given(args, OPT_JSON)) print_json(&sums, &survey, &shards);
    if (!code && !given(args, OPT_JSON)) print_text(&sums, &survey, &shards);
    free(sums.node);
    survey_free(&survey, &shards);
    shards_close(&shards);
    return code;
}
#endif
