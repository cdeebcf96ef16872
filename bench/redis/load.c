/* SPDX-License-Identifier: MIT */
/* Load for a server on loopback, and a client that measures how long others wait.
 *
 *     load items  PORT PID COMMAND KEY BATCH DEPTH COUNT FIRST    COMMAND KEY item..., 16 bytes
 *     load packed PORT PID COMMAND KEY BATCH DEPTH COUNT FIRST    COMMAND KEY hashes, 8 bytes
 *     load probe  PORT [KEY]       PING, GET, BF.EXISTS KEY in turn, or PING alone, 1,000 a second
 *
 * Items are made of the numbers from FIRST to FIRST + COUNT; BATCH of them go into a command, and 2
 * * DEPTH commands are in flight at a time. All requests are written before the clock starts. PID
 * is the server's: its processor time is the cost of a key even on a busy machine. */
#define _GNU_SOURCE
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void die(const char *why) {
    fprintf(stderr, "load: %s\n", why);
    exit(1);
}

static void *must(void *memory) {
    if (!memory) die("out of memory");
    return memory;
}

static double now_ns(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t)) die("no such process");
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static redisContext *connect_to(const char *port) {
    redisContext *c = redisConnect("127.0.0.1", atoi(port));
    if (!c || c->err) die(c ? c->errstr : "out of memory");
    return c;
}

/* ---- Replies, parsed without allocating objects ---------------------------------------------- */

static struct tally {
    uint64_t ones, errors;
    char error[128];
} tally;

static void *on_string(const redisReadTask *task, char *text, size_t length) {
    if (task->type == REDIS_REPLY_ERROR) {
        if (!tally.errors++) snprintf(tally.error, sizeof tally.error, "%.*s", (int)length, text);
    } else if (task->type == REDIS_REPLY_STRING) {
        for (size_t i = 0; i < length; i++)
            tally.ones += (uint64_t)__builtin_popcount((unsigned char)text[i]);
    }
    return &tally;
}
#if HIREDIS_MAJOR >= 1
static void *on_array(const redisReadTask *task, size_t length) {
#else
static void *on_array(const redisReadTask *task, int length) {
#endif
    (void)task, (void)length;
    return &tally;
}
static void *on_integer(const redisReadTask *task, long long value) {
    (void)task;
    tally.ones += (uint64_t)value;
    return &tally;
}
static void *on_nil(const redisReadTask *task) {
    (void)task;
    return &tally;
}
static void forget(void *reply) {
    (void)reply;
}

static redisReplyObjectFunctions counting = {
    .createString = on_string,
    .createArray = on_array,
    .createInteger = on_integer,
    .createNil = on_nil,
    .freeObject = forget,
};

static void read_replies(int fd, redisReader *reader, uint64_t count) {
    static char buffer[1 << 18];
    while (count > 0) {
        void *reply = NULL;
        if (redisReaderGetReply(reader, &reply) != REDIS_OK) die(reader->errstr);
        if (reply) {
            count--;
            continue;
        }
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n <= 0) die("the server closed the connection");
        redisReaderFeed(reader, buffer, (size_t)n);
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

typedef struct plan {
    bool is_packed;
    const char *command, *key;
    uint64_t batch, depth, count, first;
} plan;

static char *append(char *to, const char *text) {
    const size_t n = strlen(text);
    memcpy(to, text, n);
    return to + n;
}

static char *append_head(char *to, const plan *p, uint64_t n) {
    to += sprintf(to, "*%" PRIu64 "\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", p->is_packed ? 3 : 2 + n,
                  strlen(p->command), p->command, strlen(p->key), p->key);
    if (p->is_packed) to += sprintf(to, "$%" PRIu64 "\r\n", 8 * n);
    return to;
}

static char *append_key(char *to, const plan *p, uint64_t i) {
    const uint64_t x = mix(p->first + i);
    if (p->is_packed) {
        memcpy(to, &x, 8);
        return to + 8;
    }
    static const char digits[] = "0123456789abcdef";
    to = append(to, "$16\r\n");
    for (int j = 0; j < 16; j++) *to++ = digits[x >> (4 * j) & 15];
    return append(to, "\r\n");
}

static char *append_command(char *to, const plan *p, uint64_t from, uint64_t n) {
    to = append_head(to, p, n);
    for (uint64_t i = from; i < from + n; i++) to = append_key(to, p, i);
    return p->is_packed ? append(to, "\r\n") : to;
}

static void send_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        const ssize_t n = write(fd, data, size);
        if (n <= 0) die("the server closed the connection");
        data += n, size -= (size_t)n;
    }
}

/* Windows of `depth` commands each: their offset in `data`, and their number of commands. */
typedef struct window {
    size_t begin, end;
    uint64_t commands;
} window;

static uint64_t write_requests(const plan *p, char *data, window *windows) {
    char *at = data;
    uint64_t n = 0, done = 0;
    while (done < p->count) {
        windows[n].begin = (size_t)(at - data);
        for (windows[n].commands = 0; windows[n].commands < p->depth && done < p->count;
             windows[n].commands++) {
            const uint64_t rest = p->count - done, now = rest < p->batch ? rest : p->batch;
            at = append_command(at, p, done, now);
            done += now;
        }
        windows[n++].end = (size_t)(at - data);
    }
    return n;
}

static void run_load(const char *port, pid_t pid, const plan *p) {
    const uint64_t commands = (p->count + p->batch - 1) / p->batch;
    char *data =
        must(malloc(p->count * 24 + commands * (64 + strlen(p->command) + strlen(p->key)) + 64));
    window *windows = must(calloc(commands / p->depth + 1, sizeof *windows));
    const uint64_t n = write_requests(p, data, windows);

    redisContext *c = connect_to(port);
    redisReader *reader = must(redisReaderCreateWithFunctions(&counting));
    clockid_t server;
    if (clock_getcpuclockid(pid, &server)) die("no such process");
    const double wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(server),
                 own = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t i = 0; i <= n; i++) {
        if (i < n) send_all(c->fd, data + windows[i].begin, windows[i].end - windows[i].begin);
        if (i > 0) read_replies(c->fd, reader, windows[i - 1].commands);
    }
    printf("{\"keys\": %" PRIu64
           ", \"wall_ns\": %.0f, \"server_ns\": %.0f, \"client_ns\": %.0f, \"ones\": %" PRIu64
           ", \"errors\": %" PRIu64 ", \"error\": \"%s\"}\n",
           p->count, now_ns(CLOCK_MONOTONIC) - wall, now_ns(server) - cpu,
           now_ns(CLOCK_PROCESS_CPUTIME_ID) - own, tally.ones, tally.errors, tally.error);
    redisReaderFree(reader);
    redisFree(c);
    free(windows);
    free(data);
}

/* ---- The probe ------------------------------------------------------------------------------- */

enum { QUESTIONS = 3 };
static const char *const question_names[QUESTIONS] = {"PING", "GET", "BF.EXISTS"};

typedef struct waits {
    double *us;
    size_t count, room;
} waits;

static void note(waits *w, double us) {
    if (w->count == w->room) {
        w->room = w->room ? 2 * w->room : 1 << 16;
        w->us = must(realloc(w->us, w->room * sizeof *w->us));
    }
    w->us[w->count++] = us;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const waits *w, double q) {
    const size_t i = (size_t)(q * (double)w->count);
    return w->count ? w->us[i < w->count ? i : w->count - 1] : 0;
}

static void show(const char *name, waits *w, const char *end) {
    qsort(w->us, w->count, sizeof *w->us, by_value);
    printf(
        "\"%s\": {\"count\": %zu, \"p50\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"max\": %.1f}%s",
        name, w->count, quantile(w, 0.5), quantile(w, 0.99), quantile(w, 0.999), quantile(w, 1),
        end);
}

static bool is_over(void) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&in, 1, 0) > 0;
}

/* Queries are sent when they are due, whether or not earlier ones were answered: a server that
 * stalls is charged for all who arrive in that time. */
enum { MAX_WAITING = 1 << 16 };

typedef struct probe {
    redisContext *c;
    const char *key;            /* NULL: only PING */
    double due_ns[MAX_WAITING]; /* of query i, at i % MAX_WAITING */
    uint64_t asked, answered;
    waits waited[QUESTIONS], all;
} probe;

static void ask(probe *p, double due) {
    if (p->asked - p->answered == MAX_WAITING) die("the server has stalled");
    const int question = p->key ? (int)(p->asked % QUESTIONS) : 0;
    int bad;
    if (question == 0)
        bad = redisAppendCommand(p->c, "PING");
    else if (question == 1)
        bad = redisAppendCommand(p->c, "GET plain");
    else
        bad = redisAppendCommand(p->c, "BF.EXISTS %s %016" PRIx64, p->key, mix(p->asked));
    int is_sent = 0;
    while (!bad && !is_sent) bad = redisBufferWrite(p->c, &is_sent);
    if (bad) die(p->c->errstr);
    p->due_ns[p->asked++ % MAX_WAITING] = due;
}

static void take_answers(probe *p) {
    void *reply = NULL;
    if (redisBufferRead(p->c)) die(p->c->errstr);
    const double now = now_ns(CLOCK_MONOTONIC);
    while (redisReaderGetReply(p->c->reader, &reply) == REDIS_OK && reply) {
        const redisReply *r = reply;
        if (r->type == REDIS_REPLY_ERROR) die(r->str);
        freeReplyObject(reply);
        const double us = (now - p->due_ns[p->answered % MAX_WAITING]) / 1000;
        note(&p->waited[p->key ? p->answered % QUESTIONS : 0], us);
        p->answered++;
        note(&p->all, us);
    }
}

/* Receives replies until `due`. */
static void wait_until(probe *p, double due) {
    for (;;) {
        const double left = due - now_ns(CLOCK_MONOTONIC);
        if (left <= 0) return;
        struct pollfd in = {.fd = p->c->fd, .events = POLLIN};
        const struct timespec t = {.tv_nsec = (long)left % 1000000000};
        if (ppoll(&in, 1, &t, NULL) > 0) take_answers(p);
    }
}

static void run_probe(const char *port, const char *key) {
    static const double every_ns = 1e6;
    probe *p = must(calloc(1, sizeof *p));
    p->c = connect_to(port);
    p->key = key;
    puts("ready");
    fflush(stdout);
    const double begin = now_ns(CLOCK_MONOTONIC);
    while (!is_over()) {
        const double due = begin + every_ns * (double)p->asked;
        wait_until(p, due);
        ask(p, due);
    }
    while (p->answered < p->asked) take_answers(p);
    printf("{");
    for (int q = 0; q < QUESTIONS; q++) show(question_names[q], &p->waited[q], ", ");
    show("all", &p->all, "}\n");
    for (int q = 0; q < QUESTIONS; q++) free(p->waited[q].us);
    free(p->all.us);
    redisFree(p->c);
    free(p);
}

int main(int argc, char **argv) {
    if ((argc == 3 || argc == 4) && !strcmp(argv[1], "probe")) {
        run_probe(argv[2], argc == 4 ? argv[3] : NULL);
        return 0;
    }
    if (argc != 10 || (strcmp(argv[1], "items") && strcmp(argv[1], "packed")))
        die("see the head of load.c");
    const plan p = {
        .is_packed = !strcmp(argv[1], "packed"),
        .command = argv[4],
        .key = argv[5],
        .batch = strtoull(argv[6], NULL, 10),
        .depth = strtoull(argv[7], NULL, 10),
        .count = strtoull(argv[8], NULL, 10),
        .first = strtoull(argv[9], NULL, 10),
    };
    if (!p.batch || !p.depth || !p.count || p.count > UINT64_C(1) << 28)
        die("BATCH, DEPTH and COUNT are at least 1");
    run_load(argv[2], (pid_t)atoi(argv[3]), &p);
    return 0;
}
