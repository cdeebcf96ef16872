/* SPDX-License-Identifier: MIT */
/* channel_open.c: where a wire leads: a port, a command, or the parent process. */
#include "cli/net/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Addresses ---- */

struct place {
    char host[256], port[16];
};

/* "127.0.0.1:7000", "[::1]:7000", "host.example:7000" */
static int parse_place(const struct args *args, const char *option, const char *text,
                       struct place *place) {
    const char *colon = strrchr(text, ':');
    const char *start = text, *end = colon;
    if (colon && *text == '[' && colon > text + 1 && colon[-1] == ']') start++, end--;
    const size_t host = colon ? (size_t)(end - start) : 0, port = colon ? strlen(colon + 1) : 0;
    const bool is_bare_v6 = colon && start == text && memchr(text, ':', (size_t)(colon - text));
    if (host == 0 || port == 0 || is_bare_v6 || host >= sizeof place->host ||
        port >= sizeof place->port)
        return fail(args, option,
                    "\"%s\" is not ADDRESS:PORT, such as 127.0.0.1:7000 or [::1]:7000", text);
    memcpy(place->host, start, host);
    place->host[host] = '\0';
    memcpy(place->port, colon + 1, port + 1);
    const unsigned long number = strtoul(place->port, NULL, 10);
    if (place->port[strspn(place->port, "0123456789")] == '\0' && number <= 65535) return 0;
    return fail(args, option, "\"%s\" is not a port (allowed: 0 to 65535)", place->port);
}

static int look_up(const struct args *args, const char *option, const char *text, int flags,
                   struct addrinfo **found) {
    struct place place;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    if (parse_place(args, option, text, &place)) return EXIT_TROUBLE;
    const int trouble = getaddrinfo(place.host, place.port, &hints, found);
    if (trouble == 0) return 0;
    return fail(args, option, "%s: %s", place.host,
                trouble == EAI_SYSTEM ? strerror(errno) : gai_strerror(trouble));
}

/* "127.0.0.1:40123" */
static void name_place(const struct sockaddr *address, socklen_t len, char *text, size_t size) {
    char host[128], port[16];
    if (getnameinfo(address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf(text, size, "a peer");
    else
        snprintf(text, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* ---- Listening ---- */

static int open_port(const struct addrinfo *place) {
    const int one = 1;
    const int fd = socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, place->ai_addr, place->ai_addrlen) == 0 && listen(fd, 1) == 0) return fd;
    const int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

static bool is_loopback(const struct sockaddr_storage *address) {
    char text[160];
    name_place((const struct sockaddr *)address, sizeof *address, text, sizeof text);
    return strncmp(text, "127.", 4) == 0 || strncmp(text, "[::1]", 5) == 0;
}

static void tell_port(const struct wire *wire, int port) {
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    char text[160];
    getsockname(port, (struct sockaddr *)&address, &len);
    name_place((struct sockaddr *)&address, len, text, sizeof text);
    if (!wire->cipher && !is_loopback(&address))
        warn(wire->args, text, "without --key, anyone who reaches this port learns the set");
    if (!given(wire->args, OPT_QUIET)) fprintf(stderr, "tamis: reconcile: listening on %s\n", text);
}

/* Waits as long as it takes; from then on there is no patience. */
static int take_caller(struct wire *wire, int port) {
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    int fd;
    do fd = accept(port, (struct sockaddr *)&address, &len);
    while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (fd < 0) return wire_fail(wire, "cannot accept: %s", strerror(errno));
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    wire->in = wire->out = fd;
    name_place((struct sockaddr *)&address, len, wire->peer, sizeof wire->peer);
    return 0;
}

static int open_listen(struct wire *wire) {
    const char *text = wire->args->setting[OPT_LISTEN].text;
    struct addrinfo *found = NULL;
    int code = look_up(wire->args, "--listen", text, AI_PASSIVE, &found), port = -1;
    if (code) return code;
    snprintf(wire->peer, sizeof wire->peer, "%s", text);
    wire->end = WIRE_ANSWERS;
    for (const struct addrinfo *at = found; at && port < 0; at = at->ai_next) port = open_port(at);
    if (port < 0) code = wire_fail(wire, "cannot listen: %s", strerror(errno));
    freeaddrinfo(found);
    if (code) return code;
    tell_port(wire, port);
    code = take_caller(wire, port);
    close(port);
    return code;
}

/* ---- Connecting ---- */

/* -1 with errno; ETIMEDOUT when there is no answer in time. */
static int call_place(const struct addrinfo *place, int64_t timeout_ms) {
    const int fd = socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int64_t deadline = now_ms() + timeout_ms;
    int cause = 0, ready;
    socklen_t len = sizeof cause;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    if (connect(fd, place->ai_addr, place->ai_addrlen) == 0) return fd;
    if (errno != EINPROGRESS && errno != EINTR) cause = errno;
    if (!cause) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
        do {
            const int64_t left = deadline - now_ms();
            ready = poll(&poll_fd, 1, left > 0 ? (int)left : 0);
        } while (ready < 0 && errno == EINTR);
        if (ready > 0)
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &cause, &len);
        else
            cause = ready == 0 ? ETIMEDOUT : errno;
    }
    if (!cause) return fd;
    close(fd);
    errno = cause;
    return -1;
}

static int open_connect(struct wire *wire) {
    const char *text = wire->args->setting[OPT_CONNECT].text;
    struct addrinfo *found = NULL;
    int fd = -1;
    const int code = look_up(wire->args, "--connect", text, 0, &found);
    if (code) return code;
    snprintf(wire->peer, sizeof wire->peer, "%s", text);
    wire->end = WIRE_ASKS;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = call_place(at, wire->timeout_ms);
    const int cause = errno;
    freeaddrinfo(found);
    wire->in = wire->out = fd;
    return fd < 0 ? wire_fail(wire, "cannot connect: %s", strerror(cause)) : 0;
}

/* ---- A command ---- */

static void run_command(const char *command, int in, int out) {
    /* Its signals are the usual ones, whatever ours are just now. */
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0) _exit(126);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void close_pipe(const int fds[2]) {
    if (fds[0] >= 0) close(fds[0]);
    if (fds[1] >= 0) close(fds[1]);
}

static int open_over(struct wire *wire) {
    const char *command = wire->args->setting[OPT_OVER].text;
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    snprintf(wire->peer, sizeof wire->peer, "--over");
    wire->end = WIRE_ASKS;
    if (open_pipe(to) && open_pipe(from)) wire->child = fork();
    if (wire->child == 0 && from[1] >= 0) run_command(command, to[0], from[1]);
    if (wire->child <= 0 || from[1] < 0) {
        const int cause = errno;
        wire->child = 0;
        close_pipe(to);
        close_pipe(from);
        return wire_fail(wire, "cannot start a command: %s", strerror(cause));
    }
    close(to[0]);
    close(from[1]);
    wire->in = from[0];
    wire->out = to[1];
    return 0;
}

/* A command without a peer ends by itself; a stubborn one is terminated. */
static bool wait_for_child(const struct wire *wire, int *status) {
    const int64_t deadline = now_ms() + wire->timeout_ms;
    const struct timespec pause = {.tv_nsec = 2000000};
    for (;;) {
        const pid_t done = waitpid(wire->child, status, WNOHANG);
        if (done == wire->child || (done < 0 && errno != EINTR)) return done > 0;
        if (now_ms() >= deadline) break;
        nanosleep(&pause, NULL);
    }
    kill(wire->child, SIGTERM);
    return false;
}

struct human wire_child_end(struct wire *wire, bool *is_good) {
    struct human human = {""};
    int status = 0;
    *is_good = true;
    if (wire->child <= 0) return human;
    close(wire->in);
    close(wire->out);
    wire->in = wire->out = -1;
    const bool is_known = wait_for_child(wire, &status);
    wire->child = 0;
    /* 1: there were differences. */
    *is_good = is_known && WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_NOTHING;
    if (!is_known)
        snprintf(human.text, sizeof human.text, "did not end");
    else if (WIFSIGNALED(status))
        snprintf(human.text, sizeof human.text, "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(human.text, sizeof human.text, "ended with exit status %d", WEXITSTATUS(status));
    return human;
}

/* ---- All of them ---- */

int wire_connect(struct wire *wire) {
    const struct args *args = wire->args;
    int code = 0;
    if (given(args, OPT_LISTEN)) {
        code = open_listen(wire);
    } else if (given(args, OPT_CONNECT)) {
        code = open_connect(wire);
    } else if (given(args, OPT_OVER)) {
        code = open_over(wire);
    } else {
        snprintf(wire->peer, sizeof wire->peer, "the other side");
        wire->end = WIRE_ANSWERS;
        wire->in = STDIN_FILENO;
        wire->out = STDOUT_FILENO;
    }
    /* A pipe without a reader is reported in words. */
    wire->has_no_sigpipe = !code;
    if (!code) wire->usual_sigpipe = signal(SIGPIPE, SIG_IGN);
    return code;
}
