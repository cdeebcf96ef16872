/* SPDX-License-Identifier: MIT */
/* cluster_loop.c: the thread that has all connections, and how others queue requests. */
#include "cli/net/cluster.h"

#ifdef TAMIS_WITH_HIREDIS

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How long a shard may be in trouble, and a connection silent while an answer is due: a part of
 * it. */
enum {
    USUAL_TIMEOUT = 30,
    LONGEST_TIMEOUT = 86400,
    SILENCE_PART = 4,
    SHORTEST_SILENCE = 250,
    LONGEST_SILENCE = 5000
};

/* The net looks at its clocks that often at least. */
enum { LONGEST_NAP = 100 };

/* ==== The thread ============================================================================ */

/* Requests that waited long enough go out again, or end without an answer. */
static void take_delayed(struct net *net, int64_t now) {
    struct queue waiting = net->delayed;
    struct request *request;
    net->delayed = (struct queue){0};
    while ((request = queue_take(&waiting))) {
        if (now >= request->deadline)
            net_finish(request);
        else if (now >= request->retry_at)
            net_route(net, request, now);
        else
            queue_add(&net->delayed, request);
    }
}

static void drop_silent(struct net *net, int64_t now) {
    for (size_t i = 0; i < net->nodes; i++) {
        struct node *node = net->node[i];
        const bool is_due = node->state == LINK_CONNECTING || node->sent.n > 0;
        if (node->state != LINK_CLOSED && is_due && now - node->received > net->silence)
            link_fail(net, node, "no answer");
    }
}

static size_t list_links(struct net *net, struct pollfd *poll_for, struct node **node) {
    size_t n = 0;
    poll_for[n++] = (struct pollfd){.fd = net->wake[0], .events = POLLIN};
    for (size_t i = 0; i < net->nodes; i++) {
        if (net->node[i]->state == LINK_CLOSED) continue;
        node[n] = net->node[i];
        node[n]->is_polled = true;
        poll_for[n++] =
            (struct pollfd){.fd = net->node[i]->context->fd, .events = link_events(net->node[i])};
    }
    return n;
}

static void serve_link(struct net *net, struct node *node, short events) {
    if (node->state == LINK_UP && (events & (POLLIN | POLLERR | POLLHUP))) link_read(net, node);
    if (!node->is_polled) return; /* It was closed in the meantime; perhaps there is a new one. */
    const bool has_room =
        node->state == LINK_UP && node->waiting.n > 0; /* an answer may have made it */
    if (has_room || (events & (POLLOUT | POLLERR | POLLHUP))) link_write(net, node);
}

static void drain(struct net *net) {
    char bytes[64];
    while (read(net->wake[0], bytes, sizeof bytes) > 0) continue;
    net->is_awake = false;
}

static void *run_net(void *with) {
    static _Thread_local struct pollfd poll_for[MAX_NODES + 1];
    static _Thread_local struct node *node[MAX_NODES + 1];
    struct net *net = with;
    net_lock(net);
    while (!net->is_over) {
        const int64_t now = now_ms();
        int64_t next = now + LONGEST_NAP;
        take_delayed(net, now);
        net_refresh(net, now);
        drop_silent(net, now);
        if (net->hooks.tick) {
            const int64_t wanted = net->hooks.tick(net->hooks.with, now);
            if (wanted < next) next = wanted;
        }
        for (const struct request *at = net->delayed.first; at; at = at->next)
            if (at->retry_at < next) next = at->retry_at;
        const size_t n = list_links(net, poll_for, node);
        net_unlock(net);
        (void)poll(poll_for, (nfds_t)n, next > now ? (int)(next - now) : 0);
        net_lock(net);
        drain(net);
        for (size_t i = 1; i < n; i++)
            if (node[i]->is_polled && (poll_for[i].revents || node[i]->waiting.n > 0))
                serve_link(net, node[i], poll_for[i].revents);
    }
    net_unlock(net);
    return NULL;
}

void net_wake(struct net *net) {
    if (net->is_awake) return;
    net->is_awake = write(net->wake[1], "", 1) == 1;
}

void net_hook(struct net *net, const struct hooks *hooks) {
    net_lock(net);
    net->hooks = *hooks;
    net_unlock(net);
}

/* ==== Opening =============================================================================== */

/* "HOST:PORT", a host without a port has the usual one; "[::1]:6379". */
static int add_place(struct net *net, const char *text, size_t len) {
    char place[HOST_ROOM + 16];
    if (len >= sizeof place)
        return fail(net->args, "--redis", "an address of %zu characters is too long", len);
    snprintf(place, sizeof place, "%.*s", (int)len, text);
    char *colon = strrchr(place, ':'), *host = place;
    char *bracket = strchr(place, ']');
    if (*place == '[' && bracket) {
        colon = bracket[1] == ':' ? bracket + 1 : NULL;
        *bracket = '\0';
        host++;
    }
    const char *port = colon ? colon + 1 : "6379";
    if (colon) *colon = '\0';
    const unsigned long number = strtoul(port, NULL, 10);
    if (!*host || !*port || port[strspn(port, "0123456789")] || number == 0 || number > 65535)
        return fail(net->args, "--redis", "\"%.*s\" is not HOST:PORT, such as 127.0.0.1:6379",
                    (int)len, text);
    return net_node(net, host, (int)number) ? 0 : fail(net->args, "--redis", "too many addresses");
}

static int add_places(struct net *net) {
    const char *text = net->args->setting[OPT_REDIS].text;
    const char *usual = getenv("TAMIS_CLUSTER");
    if (!text) text = usual && *usual ? usual : "127.0.0.1:6379";
    for (;;) {
        const size_t len = strcspn(text, ",");
        if (add_place(net, text, len)) return EXIT_TROUBLE;
        if (!text[len]) return 0;
        text += len + 1;
    }
}

static int set_times(struct net *net) {
    const struct args *args = net->args;
    const uint64_t seconds =
        given(args, OPT_TIMEOUT) ? args->setting[OPT_TIMEOUT].number : USUAL_TIMEOUT;
    if (seconds == 0 || seconds > LONGEST_TIMEOUT)
        return fail(args, "--timeout", "out of range (allowed: 1 to %d seconds)", LONGEST_TIMEOUT);
    net->timeout = (int64_t)seconds * 1000;
    net->silence = net->timeout / SILENCE_PART;
    if (net->silence > LONGEST_SILENCE) net->silence = LONGEST_SILENCE;
    if (net->silence < SHORTEST_SILENCE) net->silence = SHORTEST_SILENCE;
    return 0;
}

/* Until the first map is there, or until it takes too long. */
static int wait_for_map(struct net *net) {
    const int64_t deadline = now_ms() + net->timeout;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += (time_t)(net->timeout / 1000) + 1;
    net_lock(net);
    while (!net->has_map && net->refusals < net->nodes && now_ms() < deadline)
        if (pthread_cond_timedwait(&net->answered, &net->lock, &at) == ETIMEDOUT) break;
    const bool has_map = net->has_map;
    char trouble[sizeof net->trouble];
    memcpy(trouble, net->trouble, sizeof trouble);
    net_unlock(net);
    return has_map ? 0 : fail(net->args, NULL, "%s", *trouble ? trouble : "no node answers");
}

int net_open(struct net *net, const struct args *args) {
    *net = (struct net){.args = args, .wake = {-1, -1}, .password = getenv("REDISCLI_AUTH")};
    pthread_mutex_init(&net->lock, NULL);
    pthread_cond_init(&net->answered, NULL);
    int code = set_times(net);
    if (!code) code = add_places(net);
    if (code) return code;
    net->refresh_at = now_ms();
    if (!open_pipe(net->wake)) return fail(args, NULL, "cannot create a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) (void)fcntl(net->wake[i], F_SETFL, O_NONBLOCK);
    if (!start_thread(&net->thread, run_net, net)) return fail(args, NULL, "cannot start a thread");
    net->is_started = true;
    return wait_for_map(net);
}

void net_close(struct net *net) {
    if (net->is_started) {
        net_lock(net);
        net->is_over = true;
        net_wake(net);
        net_unlock(net);
        pthread_join(net->thread, NULL);
    }
    for (size_t i = 0; i < net->nodes; i++) {
        link_close(net->node[i]);
        free(net->node[i]->with);
        free(net->node[i]);
    }
    for (int i = 0; i < 2; i++)
        if (net->is_started && net->wake[i] >= 0) close(net->wake[i]);
    *net = (struct net){0};
}

/* ==== Calls ================================================================================= */

bool call_make(struct call *call, struct node *to, int argc, const char *const *argv,
               const size_t *len) {
    *call = (struct call){.request = {.slot = -1, .to = to}};
    const int made = redisFormatCommandArgv(&call->command, argc, (const char **)argv, len);
    if (made < 0) return false;
    call->request.bytes = call->command;
    call->request.len = (size_t)made;
    if (!to) call->request.slot = (int)slot_of(argv[1], len ? len[1] : strlen(argv[1]));
    return true;
}

static void call_done(struct request *request) {
    struct call *call = (struct call *)request; /* its first member */
    struct net *net = request->with;
    call->is_done = true;
    pthread_cond_broadcast(&net->answered);
}

void calls_run(struct net *net, struct call *call, size_t n) {
    net_lock(net);
    for (size_t i = 0; i < n; i++) {
        call[i].request.done = call_done;
        call[i].request.with = net;
        net_route(net, &call[i].request, now_ms());
    }
    net_wake(net);
    for (size_t i = 0; i < n; i++)
        while (!call[i].is_done) pthread_cond_wait(&net->answered, &net->lock);
    net_unlock(net);
}

const char *call_trouble(const struct call *call) {
    const redisReply *reply = call->request.reply;
    if (!reply) return *call->request.trouble ? call->request.trouble : "no node answers";
    return reply->type == REDIS_REPLY_ERROR ? reply->str : NULL;
}

void call_free(struct call *call) {
    if (call->request.reply) freeReplyObject(call->request.reply);
    redisFreeCommand(call->command);
    *call = (struct call){0};
}
#endif
