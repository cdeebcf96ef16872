/* SPDX-License-Identifier: MIT */
/* cluster.h: only the files in cli/ include this. Requests to a cluster, and their answers.
 *
 *     any thread --net_route--> cluster_redirect.c --> cluster_link.c, a pipeline to each node
 *                <---done---           <--- MOVED, ASK, trouble: again, elsewhere, later
 *
 * One thread has all connections and waits for all of them at once, so that every node has work
 * while others answer. It holds the lock of the net whenever it does not wait; what others want
 * from it they leave behind under the same lock. */
#ifndef TAMIS_CLI_NET_CLUSTER_H
#define TAMIS_CLI_NET_CLUSTER_H

#include "cli/cli.h"

#ifdef TAMIS_WITH_HIREDIS

#include <hiredis/hiredis.h>
#include <pthread.h>

#include "cli/net/key_slots.h"

enum { MAX_NODES = 2048, TROUBLE_ROOM = 192, HOST_ROOM = 256 };

/* ==== Requests ============================================================================== */

struct node;

struct request {
    /* Set by the sender; the rest is zero. */
    int slot;          /* goes to the primary that has it; or, with -1, ... */
    struct node *to;   /* ... to this node, or to none when it cannot be reached */
    const char *bytes; /* in the protocol of the servers */
    size_t len;
    bool is_urgent;   /* before all that waits */
    int64_t patience; /* milliseconds after the first trouble; 0: as long as the net has */
    void (*done)(struct request *request); /* on the thread of the net, which holds the lock */
    void *with;

    /* For `done`. Without an answer `trouble` says why. */
    redisReply *reply; /* to be freed */
    struct node *from;
    int64_t started, ended; /* when its first byte left, and when its answer came */
    char trouble[TROUBLE_ROOM];

    /* For the net. */
    struct request *next;
    bool asks;      /* the node has to be told that we know that the slot is on its way to it */
    int redirected; /* in a row */
    int tries;
    int64_t retry_at, deadline;
};

struct queue {
    struct request *first, *last;
    size_t n;
};

void queue_add(struct queue *queue, struct request *request);
void queue_push(struct queue *queue, struct request *request); /* to the front */
struct request *queue_take(struct queue *queue);               /* NULL: it is empty */

/* ==== Nodes: cluster_link.c =================================================================== */

enum link_state { LINK_CLOSED, LINK_CONNECTING, LINK_UP };

struct node {
    char host[HOST_ROOM];
    int port;
    char name[HOST_ROOM + 8]; /* for people */
    bool is_primary;
    unsigned replicas; /* that the cluster counts among the living ... */
    bool had_replicas; /* ... and whether there were any since we know it */

    enum link_state state;
    redisContext *context;
    struct queue waiting, sent; /* the first of `waiting` may be on its way */
    size_t prefix_left, left;   /* of the request that is on its way */
    bool is_writing;
    bool is_polled;    /* since it was opened: events are about this connection */
    unsigned skip;     /* answers that belong to no request: to ASKING and AUTH */
    int64_t received;  /* when it last said something, or was first asked */
    int64_t rest_till; /* after a failure */
    unsigned failures; /* in a row */
    void *with;        /* for the hooks; freed with the node */
};

/* ==== The net: cluster_loop.c, cluster_redirect.c ============================================= */

struct hooks {
    /* Before each time the net waits: returns when it wants to be called next at the latest. */
    int64_t (*tick)(void *with, int64_t now);
    /* What this node has acknowledged, and what its replicas have not, may be lost. */
    void (*lost)(void *with, struct node *node);
    void *with;
};

struct net {
    const struct args *args;
    pthread_mutex_t lock;
    pthread_cond_t answered; /* to any of net_call's requests, and a first map */
    pthread_t thread;
    bool is_started, is_over;
    int wake[2];
    bool is_awake; /* a byte is in the pipe */

    struct node *node[MAX_NODES];
    size_t nodes;
    struct node *owner[SLOTS]; /* NULL: none */
    bool has_map, is_cluster;
    size_t refusals; /* of nodes that do not tell it, and will not later either */
    bool is_refreshing;
    struct request refresh;
    size_t refresh_from; /* the node to be asked next */
    int64_t refresh_at, refreshed;
    const char *password;

    struct queue delayed;
    int64_t timeout, silence; /* milliseconds */
    struct hooks hooks;
    char trouble[HOST_ROOM + TROUBLE_ROOM]; /* the last one, with the name of its node */

    /* For reports. */
    uint64_t moved, asked, retried, resets, refreshes;
};

/* Connects to the cluster at --redis and learns who has which slots. net_close is due also after a
 * failure, which is reported. */
int net_open(struct net *net, const struct args *args);
void net_close(struct net *net);

/* From now on these are called; before any request that they are about. */
void net_hook(struct net *net, const struct hooks *hooks);

static inline void net_lock(struct net *net) {
    pthread_mutex_lock(&net->lock);
}
static inline void net_unlock(struct net *net) {
    pthread_mutex_unlock(&net->lock);
}

void net_wake(struct net *net); /* with the lock */

/* ---- One command and its answer, or many at once; without the lock ---- */

struct call {
    struct request request;
    char *command;
    bool is_done;
};

/* `to` is NULL for the primary of the slot of key argv[1]. False when memory is out. */
bool call_make(struct call *call, struct node *to, int argc, const char *const *argv,
               const size_t *len);
void calls_run(struct net *net, struct call *call, size_t n);
void call_free(struct call *call);

/* What went wrong: the words of the server or of the net; NULL when nothing did. */
const char *call_trouble(const struct call *call);

/* ---- Of the net alone ---- */

void net_route(struct net *net, struct request *request, int64_t now);
void net_finish(struct request *request);
void net_delay(struct net *net, struct request *request, int64_t since, int64_t now);
void net_answer(struct net *net, struct node *node, struct request *request, redisReply *reply);
void net_want_map(struct net *net);
void net_refresh(struct net *net, int64_t now);
struct node *net_node(struct net *net, const char *host, int port);
bool is_refusal(const redisReply *reply, const char *word);

/* A refusal that will pass: of a cluster without a primary for the slot, of a server that still
 * loads. */
bool is_passing(const redisReply *reply);

void link_open(struct net *net, struct node *node);
void link_fail(struct net *net, struct node *node, const char *why);
void link_write(struct net *net, struct node *node);
void link_read(struct net *net, struct node *node);
short link_events(const struct node *node);
void link_close(struct node *node);

#endif
#endif
