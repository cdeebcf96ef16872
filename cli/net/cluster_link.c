/* SPDX-License-Identifier: MIT */
/* cluster_link.c: a pipeline to one node.
 *
 * Requests are written as they come, up to a window, and answers come back in the same order. When
 * anything goes wrong with the connection, everything that was sent and not answered goes back to
 * be routed again: what the node did with it is unknown, so only requests that may be
 * repeated are sent here. */
#include "cli/net/cluster.h"

#ifdef TAMIS_WITH_HIREDIS

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

/* So many requests may wait for answers, so that a node always has the next one at hand. */
enum { WINDOW = 32, READ_ROOM = 256 * 1024 };

/* After a failure a node is left alone for a while that doubles. */
enum { FIRST_REST = 50, LONGEST_REST = 1000 };

static const char asking[] = "*1\r\n$6\r\nASKING\r\n";

/* ==== Queues ================================================================================ */

void queue_add(struct queue *queue, struct request *request) {
    request->next = NULL;
    if (queue->last)
        queue->last->next = request;
    else
        queue->first = request;
    queue->last = request;
    queue->n++;
}

void queue_push(struct queue *queue, struct request *request) {
    request->next = queue->first;
    queue->first = request;
    if (!queue->last) queue->last = request;
    queue->n++;
}

struct request *queue_take(struct queue *queue) {
    struct request *request = queue->first;
    if (!request) return NULL;
    queue->first = request->next;
    if (!queue->first) queue->last = NULL;
    queue->n--;
    return request;
}

/* ==== Opening and closing =================================================================== */

void link_close(struct node *node) {
    if (node->context) redisFree(node->context);
    node->context = NULL;
    node->state = LINK_CLOSED;
    node->is_writing = node->is_polled = false;
    node->skip = 0;
}

void link_fail(struct net *net, struct node *node, const char *why) {
    const int64_t now = now_ms();
    const int64_t since = node->sent.n > 0 ? node->received : now;
    const unsigned doubled = node->failures < 5 ? node->failures : 5;
    const int64_t rest = (int64_t)FIRST_REST << doubled;
    const bool was_up = node->state == LINK_UP;
    struct queue back = {0};
    struct request *request;

    link_close(node);
    node->failures++;
    node->rest_till = now + (rest < LONGEST_REST ? rest : LONGEST_REST);
    if (was_up) net->resets++;
    snprintf(net->trouble, sizeof net->trouble, "%s: %s", node->name, why);
    while ((request = queue_take(&node->sent))) queue_add(&back, request);
    while ((request = queue_take(&node->waiting))) queue_add(&back, request);
    /* First empty all queues: a caller that learns of it may send something new. */
    while ((request = queue_take(&back))) {
        snprintf(request->trouble, sizeof request->trouble, "%.*s", TROUBLE_ROOM - 1, net->trouble);
        if (request->slot < 0)
            net_finish(request);
        else
            net_delay(net, request, since, now);
    }
    if (net->hooks.lost) net->hooks.lost(net->hooks.with, node);
    net_want_map(net);
}

/* A password goes ahead of everything else; if it is wrong, so is every later answer, and says
 * so. */
static void greet(struct net *net, struct node *node) {
    char text[512];
    const int len = net->password
                        ? snprintf(text, sizeof text, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n",
                                   strlen(net->password), net->password)
                        : 0;
    if (len <= 0 || (size_t)len >= sizeof text) return;
    /* A new connection has room for so little. */
    if (send(node->context->fd, text, (size_t)len, MSG_NOSIGNAL) == len) node->skip++;
}

static void fail_connect(struct net *net, struct node *node, const char *cause) {
    char why[TROUBLE_ROOM];
    snprintf(why, sizeof why, "cannot connect: %s", cause);
    link_fail(net, node, why);
}

void link_open(struct net *net, struct node *node) {
    node->context = redisConnectNonBlock(node->host, node->port);
    if (!node->context || node->context->err) {
        fail_connect(net, node, node->context ? node->context->errstr : "out of memory");
        return;
    }
    node->context->reader->maxbuf = 0; /* Its buffer is kept. */
    node->state = LINK_CONNECTING;
    node->received = now_ms();
}

static bool is_connected(struct net *net, struct node *node) {
    const int one = 1;
    int trouble = 0;
    socklen_t len = sizeof trouble;
    if (getsockopt(node->context->fd, SOL_SOCKET, SO_ERROR, &trouble, &len) < 0) trouble = errno;
    if (trouble) {
        fail_connect(net, node, strerror(trouble));
        return false;
    }
    (void)setsockopt(node->context->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    node->state = LINK_UP;
    node->received = now_ms();
    greet(net, node);
    return true;
}

/* ==== Writing =============================================================================== */

static bool begin_next(struct node *node) {
    struct request *request = node->waiting.first;
    if (!request || node->sent.n >= WINDOW) return false;
    node->is_writing = true;
    node->prefix_left = request->asks ? sizeof asking - 1 : 0;
    node->left = request->len;
    const int64_t now = now_ms();
    if (request->started == 0) request->started = now;
    if (node->sent.n == 0) node->received = now;
    return true;
}

/* Returns whether all of it is gone. */
static bool write_some(struct node *node, const char *end, size_t *left, int *trouble) {
    while (*left > 0) {
        const ssize_t n = send(node->context->fd, end - *left, *left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            *trouble = errno;
            return false;
        }
        *left -= (size_t)n;
    }
    return true;
}

void link_write(struct net *net, struct node *node) {
    if (node->state == LINK_CONNECTING && !is_connected(net, node)) return;
    while (node->is_writing || begin_next(node)) {
        struct request *request = node->waiting.first;
        int trouble = 0;
        const bool is_gone =
            write_some(node, asking + sizeof asking - 1, &node->prefix_left, &trouble) &&
            write_some(node, request->bytes + request->len, &node->left, &trouble);
        if (!is_gone) {
            if (trouble != EAGAIN && trouble != EWOULDBLOCK)
                link_fail(net, node, strerror(trouble));
            return;
        }
        node->is_writing = false;
        queue_add(&node->sent, queue_take(&node->waiting));
    }
}

/* ==== Reading =============================================================================== */

static void take_answer(struct net *net, struct node *node, redisReply *reply) {
    struct request *first = node->sent.first;
    node->failures = 0;
    if (node->skip == 0 && first && !first->asks) {
        net_answer(net, node, queue_take(&node->sent), reply);
        return;
    }
    freeReplyObject(reply);
    if (node->skip > 0)
        node->skip--;
    else if (first)
        first->asks = false; /* The answer to ASKING comes before that to its request. */
    else
        link_fail(net, node, "sent an unexpected reply");
}

void link_read(struct net *net, struct node *node) {
    static _Thread_local char room[READ_ROOM];
    const ssize_t n = recv(node->context->fd, room, sizeof room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        link_fail(net, node, n < 0 ? strerror(errno) : "closed the connection");
        return;
    }
    node->received = now_ms();
    redisReader *reader = node->context->reader;
    void *reply = NULL;
    bool is_good = redisReaderFeed(reader, room, (size_t)n) == REDIS_OK;
    /* An answer may end the connection, and the reader with it. */
    while (is_good && node->is_polled &&
           (is_good = redisReaderGetReply(reader, &reply) == REDIS_OK) && reply)
        take_answer(net, node, reply);
    if (!is_good && node->is_polled) link_fail(net, node, "not a Redis protocol reply");
}

short link_events(const struct node *node) {
    const bool may_write = node->is_writing || (node->waiting.n > 0 && node->sent.n < WINDOW);
    if (node->state == LINK_CONNECTING) return POLLOUT;
    return (short)(POLLIN | (may_write ? POLLOUT : 0));
}
#endif
