/* SPDX-License-Identifier: MIT */
/* cluster_redirect.c: which node a request goes to, and what its answer means.
 *
 * MOVED teaches the map and sends the request on; ASK sends only this request on, because the slot
 * is still on its way. A node that is gone, a cluster that has no primary for a slot yet, a server
 * that still loads: the request waits, longer each time, and the map is fetched again meanwhile,
 * from whichever node answers. When a request has been in trouble for as long as its sender is
 * patient, it ends without an answer.
 */
#include "cli/net/cluster.h"

#ifdef TAMIS_WITH_HIREDIS

#include <stdlib.h>

enum { FIRST_DELAY = 20, LONGEST_DELAY = 500, MAX_REDIRECTIONS = 5 };

/* The map is not fetched more often than that. */
enum { REFRESH_PAUSE = 100 };

static const char slots_command[] = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";

/* ==== Nodes ================================================================================= */

struct node *net_node(struct net *net, const char *host, int port) {
    for (size_t i = 0; i < net->nodes; i++)
        if (net->node[i]->port == port && strcmp(net->node[i]->host, host) == 0)
            return net->node[i];
    if (net->nodes == MAX_NODES || port <= 0 || port > 65535 || strlen(host) >= HOST_ROOM)
        return NULL;
    struct node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->port = port;
    snprintf(node->host, sizeof node->host, "%s", host);
    snprintf(node->name, sizeof node->name, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
    net->node[net->nodes++] = node;
    return node;
}

/* ==== Sending ================================================================================ */

void net_finish(struct request *request) {
    request->ended = now_ms();
    request->done(request);
}

void net_delay(struct net *net, struct request *request, int64_t since, int64_t now) {
    const int shift = request->tries < 5 ? request->tries : 5;
    const int64_t delay = (int64_t)FIRST_DELAY << shift;
    const int64_t patience = request->patience ? request->patience : net->timeout;
    if (request->deadline == 0) request->deadline = since + patience;
    if (request->started == 0) request->started = now; /* A node that is gone makes it wait too. */
    request->asks = false;
    request->redirected = 0;
    request->tries++;
    request->retry_at = now + (delay < LONGEST_DELAY ? delay : LONGEST_DELAY);
    queue_add(&net->delayed, request);
    net->retried++;
}

static void send_to(struct net *net, struct node *node, struct request *request, int64_t now) {
    if (node->state == LINK_CLOSED && now < node->rest_till && request->slot >= 0) {
        snprintf(request->trouble, sizeof request->trouble, "%.*s", TROUBLE_ROOM - 1, net->trouble);
        net_delay(net, request, now, now);
        return;
    }
    struct request *first = node->waiting.first;
    if (!request->is_urgent) {
        queue_add(&node->waiting, request);
    } else if (node->is_writing) { /* after what is on its way */
        request->next = first->next;
        first->next = request;
        if (node->waiting.last == first) node->waiting.last = request;
        node->waiting.n++;
    } else {
        queue_push(&node->waiting, request);
    }
    if (node->state == LINK_CLOSED) link_open(net, node);
}

void net_route(struct net *net, struct request *request, int64_t now) {
    struct node *node = request->slot < 0 ? request->to : net->owner[request->slot];
    if (node) {
        send_to(net, node, request, now);
        return;
    }
    snprintf(request->trouble, sizeof request->trouble, "no node has slot %d", request->slot);
    net_delay(net, request, now, now);
    net_want_map(net);
}

/* ==== Answers =============================================================================== */

bool is_refusal(const redisReply *reply, const char *word) {
    const size_t len = strlen(word);
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, word, len) == 0 &&
           (reply->str[len] == ' ' || reply->str[len] == '\0');
}

/* "MOVED 3999 127.0.0.1:6381"; no address before the port is that of who says it. */
static struct node *named_node(struct net *net, const struct node *by, const char *words) {
    char host[HOST_ROOM];
    const char *slot = strchr(words, ' ');
    const char *place = slot ? strchr(slot + 1, ' ') : NULL;
    const char *colon = place ? strrchr(place, ':') : NULL;
    if (!colon || (size_t)(colon - place) > sizeof host) return NULL;
    snprintf(host, sizeof host, "%.*s", (int)(colon - place - 1), place + 1);
    return net_node(net, *host ? host : by->host, atoi(colon + 1));
}

static void redirect(struct net *net, struct node *by, struct request *request,
                     const redisReply *reply, bool is_moved) {
    const int64_t now = now_ms();
    struct node *node = named_node(net, by, reply->str);
    if (is_moved) {
        net->moved++;
        if (node) net->owner[request->slot] = node;
        net_want_map(net);
    } else {
        net->asked++;
        request->asks = true;
    }
    if (node && ++request->redirected <= MAX_REDIRECTIONS)
        send_to(net, node, request, now);
    else
        net_delay(net, request, now, now);
}

/* What a cluster says while it is busy with itself. */
bool is_passing(const redisReply *reply) {
    static const char *const words[] = {"CLUSTERDOWN", "TRYAGAIN", "LOADING",   "MASTERDOWN",
                                        "READONLY",    "BUSY",     "NOREPLICAS"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_refusal(reply, words[i])) return true;
    return false;
}

void net_answer(struct net *net, struct node *node, struct request *request, redisReply *reply) {
    const bool is_moved = is_refusal(reply, "MOVED");
    const bool is_redirected = is_moved || is_refusal(reply, "ASK");
    if (request->slot < 0 || (!is_redirected && !is_passing(reply))) {
        request->reply = reply;
        request->from = node;
        net_finish(request);
        return;
    }
    snprintf(request->trouble, sizeof request->trouble, "%.64s: %.100s", node->name, reply->str);
    if (is_redirected) {
        redirect(net, node, request, reply, is_moved);
    } else {
        const int64_t now = now_ms();
        net_delay(net, request, now, now);
        net_want_map(net);
    }
    freeReplyObject(reply);
}

/* ==== The map =============================================================================== */

void net_want_map(struct net *net) {
    const int64_t soonest = net->refreshed + REFRESH_PAUSE, now = now_ms();
    if (!net->is_cluster && net->has_map) return; /* One server has everything. */
    if (net->refresh_at == 0) net->refresh_at = now < soonest ? soonest : now;
}

/* One node of an answer: [host, port, ...]. */
static struct node *described_node(struct net *net, const struct node *by, const redisReply *one) {
    if (one->type != REDIS_REPLY_ARRAY || one->elements < 2) return NULL;
    const redisReply *host = one->element[0], *port = one->element[1];
    if (port->type != REDIS_REPLY_INTEGER || port->integer <= 0 || port->integer > 65535)
        return NULL;
    const bool is_named =
        host->type == REDIS_REPLY_STRING && host->len > 0 && strcmp(host->str, "?") != 0;
    return net_node(net, is_named ? host->str : by->host, (int)port->integer);
}

static void take_range(struct net *net, const struct node *by, const redisReply *range) {
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3) return;
    const redisReply *first = range->element[0], *last = range->element[1];
    struct node *primary = described_node(net, by, range->element[2]);
    if (first->type != REDIS_REPLY_INTEGER || last->type != REDIS_REPLY_INTEGER || !primary) return;
    primary->is_primary = true;
    primary->replicas = (unsigned)(range->elements - 3);
    if (primary->replicas > 0) primary->had_replicas = true;
    for (long long slot = first->integer < 0 ? 0 : first->integer;
         slot <= last->integer && slot < SLOTS; slot++)
        net->owner[slot] = primary;
}

static void take_map(struct net *net, const struct node *by, const redisReply *reply) {
    static _Thread_local bool was_primary[MAX_NODES];
    const size_t known = net->nodes;
    for (size_t i = 0; i < known; i++) {
        was_primary[i] = net->node[i]->is_primary;
        net->node[i]->is_primary = false;
    }
    for (size_t slot = 0; slot < SLOTS; slot++) net->owner[slot] = NULL;
    for (size_t i = 0; i < reply->elements; i++) take_range(net, by, reply->element[i]);
    net->is_cluster = net->has_map = true;
    /* A primary that is none any more may have acknowledged what its successor never got. */
    for (size_t i = 0; i < known; i++)
        if (was_primary[i] && !net->node[i]->is_primary && net->hooks.lost)
            net->hooks.lost(net->hooks.with, net->node[i]);
}

/* A server that is no cluster has all slots; its replicas are told by INFO. */
static void take_single(struct net *net, struct node *node, const redisReply *info) {
    const char *line =
        info->type == REDIS_REPLY_STRING ? strstr(info->str, "connected_slaves:") : 0;
    for (size_t slot = 0; slot < SLOTS; slot++) net->owner[slot] = node;
    node->is_primary = net->has_map = true;
    node->replicas = line ? (unsigned)strtoul(strchr(line, ':') + 1, NULL, 10) : 0;
    node->had_replicas = node->replicas > 0;
}

static void ask_map(struct net *net, struct node *node, const char *command);

static void map_came(struct request *request) {
    static const char info[] = "*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n";
    struct net *net = request->with;
    redisReply *reply = request->reply;
    struct node *from = request->from;
    const bool was_info = request->bytes != slots_command;
    net->is_refreshing = false;
    net->refreshed = now_ms();
    if (!reply) {
        net_want_map(net); /* from the next one */
    } else if (was_info) {
        take_single(net, from, reply);
    } else if (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0) {
        take_map(net, from, reply);
    } else if (reply->type == REDIS_REPLY_ERROR && strstr(reply->str, "cluster support disabled")) {
        ask_map(net, from, info);
    } else {
        snprintf(net->trouble, sizeof net->trouble, "%s: %.150s", from->name,
                 reply->type == REDIS_REPLY_ERROR ? reply->str : "it has no slots yet");
        if (reply->type == REDIS_REPLY_ERROR && !is_passing(reply)) net->refusals++;
        net_want_map(net);
    }
    if (reply) freeReplyObject(reply);
    pthread_cond_broadcast(&net->answered);
}

static void ask_map(struct net *net, struct node *node, const char *command) {
    net->is_refreshing = true;
    net->refresh_at = 0;
    net->refreshes++;
    net->refresh = (struct request){.slot = -1,
                                    .to = node,
                                    .bytes = command,
                                    .len = strlen(command),
                                    .is_urgent = true,
                                    .done = map_came,
                                    .with = net};
    net_route(net, &net->refresh, now_ms());
}

void net_refresh(struct net *net, int64_t now) {
    if (net->is_refreshing || net->refresh_at == 0 || now < net->refresh_at) return;
    /* In turn, so that one that knows less than the others is not the only one to be asked. */
    for (size_t i = 0; i < net->nodes; i++) {
        struct node *node = net->node[net->refresh_from++ % net->nodes];
        if (node->state == LINK_CLOSED && now < node->rest_till) continue;
        ask_map(net, node, slots_command);
        return;
    }
    net->refresh_at = now + REFRESH_PAUSE;
}
#endif
