/* SPDX-License-Identifier: MIT */
/* cluster_confirm.c: what was acknowledged is not lost.
 *
 * A primary acknowledges before its replicas have heard of it. If it dies in between, a replica
 * that never got the keys takes its place, and says no to them. So parcels are kept after they were
 * acknowledged, until a checkpoint: WAIT, on the same connection, reports how many replicas have
 * everything that was written there. When all that the cluster counts among the living have it, the
 * parcels are let go. When the connection breaks, the primary is one no more, or it cannot answer
 * WAIT, they are sent again, to the nodes that have their slots now: adding twice is harmless.
 *
 * A checkpoint stops the pipeline of its node for a moment, so there is one a second, and sooner
 * only when memory, or the lag of replicas, grows large. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS

#include <stdlib.h>

/* Milliseconds between checkpoints, and after one that was not confirmed. */
enum { CHECKPOINT_PAUSE = 1000, AGAIN_PAUSE = 50 };

/* The map is looked at that often also when nothing seems to be wrong. */
enum { LOOK_PAUSE = 1000 };

/* Servers drop a replica that is 256 MiB behind; this is far from it. */
enum { MAX_BEHIND = 64 << 20 };

struct keep {
    struct queue parcels; /* acknowledged by this node, in that order */
    size_t bytes;
    int64_t since;      /* of the first of them */
    int64_t not_before; /* the next checkpoint */
    int64_t in_doubt;   /* since a checkpoint was not confirmed; 0: it was */
    struct packer *packer;
    struct node *node;
    bool is_asking;
    unsigned wanted;
    struct request request;
    char command[96];
};

static struct keep *keep_of(struct packer *packer, struct node *node) {
    struct keep *keep = node->with;
    if (keep) return keep;
    keep = calloc(1, sizeof *keep);
    if (!keep) return NULL;
    keep->packer = packer;
    keep->node = node;
    node->with = keep;
    return keep;
}

void confirm_keep(struct packer *packer, struct node *node, struct parcel *parcel) {
    struct keep *keep = node->had_replicas ? keep_of(packer, node) : NULL;
    if (!keep) { /* Nobody could confirm it. */
        packer->alone += parcel->n;
        parcel_free(packer, parcel);
        return;
    }
    if (keep->parcels.n == 0) keep->since = now_ms();
    keep->bytes += parcel->request.len;
    queue_add(&keep->parcels, &parcel->request);
}

static struct queue empty_keep(struct keep *keep) {
    const struct queue parcels = keep->parcels;
    keep->parcels = (struct queue){0};
    keep->bytes = 0;
    keep->in_doubt = 0;
    return parcels;
}

void confirm_lost(void *with, struct node *node) {
    struct packer *packer = with;
    struct keep *keep = node->with;
    struct parcel *parcel;
    if (!keep) return;
    struct queue parcels = empty_keep(keep);
    while ((parcel = parcel_take(&parcels))) {
        packer->replayed++;
        parcel_send(packer, parcel);
    }
}

/* ==== Checkpoints =========================================================================== */

static void let_go(struct keep *keep) {
    struct parcel *parcel;
    struct queue parcels = empty_keep(keep);
    while ((parcel = parcel_take(&parcels))) parcel_free(keep->packer, parcel);
}

/* The replicas are gone and were not replaced: from now on the primary is alone, which is
 * told. */
static void give_up(struct keep *keep) {
    for (const struct request *at = keep->parcels.first; at; at = at->next)
        keep->packer->alone += ((const struct parcel *)at)->n;
    keep->node->had_replicas = false;
    let_go(keep);
}

static void doubt(struct keep *keep, int64_t now) {
    struct packer *packer = keep->packer;
    packer->unconfirmed_waits++;
    if (keep->in_doubt == 0) keep->in_doubt = now;
    keep->not_before = now + AGAIN_PAUSE;
    net_want_map(packer->net); /* The replica may be gone, or be the primary. */
    if (now - keep->in_doubt <= packer->net->timeout) return;
    if (keep->node->replicas == 0)
        give_up(keep);
    else
        packer_fail(packer,
                    "%s acknowledged keys, but its replicas did not confirm them; once they "
                    "respond, add them again, which is harmless",
                    keep->node->name);
}

static void checkpoint_done(struct request *request) {
    struct keep *keep = request->with;
    struct packer *packer = keep->packer;
    const redisReply *reply = request->reply;
    const int64_t now = now_ms();
    keep->is_asking = false;
    keep->not_before = now + CHECKPOINT_PAUSE;
    if (reply && reply->type == REDIS_REPLY_INTEGER && reply->integer >= (long long)keep->wanted) {
        packer->checkpoints++;
        let_go(keep);
    } else if (reply && reply->type == REDIS_REPLY_INTEGER) {
        doubt(keep, now);
    } else if (reply) {
        packer->unconfirmed_waits++;
        net_want_map(packer->net);
        confirm_lost(packer, keep->node);
    }
    if (request->reply) freeReplyObject(request->reply);
}

static void checkpoint(struct keep *keep) {
    struct net *net = keep->packer->net;
    char wanted[16], patience[24];
    /* A replica that is given up may come back, without these keys, and be elected: where there
     * were some, no answer of none is enough. */
    keep->wanted = keep->node->replicas > 0 ? keep->node->replicas : 1;
    const int count = snprintf(wanted, sizeof wanted, "%u", keep->wanted);
    const int wait = snprintf(patience, sizeof patience, "%lld", (long long)(net->silence / 2));
    const int len =
        snprintf(keep->command, sizeof keep->command,
                 "*3\r\n$4\r\nWAIT\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", count, wanted, wait, patience);
    keep->is_asking = true;
    keep->request = (struct request){.slot = -1,
                                     .to = keep->node,
                                     .bytes = keep->command,
                                     .len = (size_t)len,
                                     .is_urgent = true,
                                     .done = checkpoint_done,
                                     .with = keep};
    net_route(net, &keep->request, now_ms());
}

static bool is_wanted(const struct keep *keep, int64_t now) {
    const struct packer *packer = keep->packer;
    if (keep->parcels.n == 0 || keep->is_asking) return false;
    if (keep->in_doubt) return now >= keep->not_before;
    return packer->is_flushing || keep->bytes >= MAX_BEHIND || packer->in_use > packer->max / 2 ||
           now - keep->since >= CHECKPOINT_PAUSE;
}

int64_t confirm_tick(struct packer *packer, int64_t now) {
    struct net *net = packer->net;
    int64_t next = now + CHECKPOINT_PAUSE;
    /* Replicas come and go without a word to us; those of a young cluster are counted only after a
     * while. */
    if (packer->adds && now - net->refreshed >= LOOK_PAUSE) net_want_map(net);
    for (size_t i = 0; packer->adds && i < net->nodes; i++) {
        struct keep *keep = net->node[i]->with;
        if (!keep) continue;
        if (is_wanted(keep, now)) checkpoint(keep);
        if (keep->in_doubt && keep->not_before < next) next = keep->not_before;
    }
    return next;
}
#endif
