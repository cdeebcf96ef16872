/* SPDX-License-Identifier: MIT */
/* The module's files may include this: one command of one client, from its arguments to its reply.
 *
 * A command is a function of its request, and has no other state. commands.c opens the request, its
 * key included, and closes it; a job that has to be waited for gets a copy, and work.c opens and
 * closes that in the same way:
 *
 *     argv ──▶ request_run(): arity, waiting, limits, key ──▶ command(request) ──▶ key, limits
 *                                                                  └──▶ job_do() ──▶ end(job) */
#ifndef TAMIS_REDIS_REQUEST_H
#define TAMIS_REDIS_REQUEST_H

#include "engines/redis/reply.h"

/* RedisBloom's text for a key without a filter. */
#define NOT_FOUND "ERR not found"

/* What a command does with its key: opens it for reading, or to change it, or leaves it closed. The
 * last three are writes, and wait while a job works on the key; so does what may make a job. */
typedef enum key_use { ASK, ASK_BY_JOB, PASS_ON, MAKE, CHANGE } key_use;

struct request;

/* A line of the table of commands. */
typedef struct command {
    int (*function)(struct request *);
    redis_function *entry;
    const char *name;
    key_use use;
    const char *flags;
    int last, step, min, max; /* keys; arguments */
    family family;
    const char *complexity, *summary, *usage;
} command;

static inline bool command_writes(const command *c) {
    return c->use >= PASS_ON;
}

/* How items are answered: one by itself, or an array, of booleans where the protocol has them. */
typedef enum reply_form { REPLY_ARRAY, REPLY_SINGLE, REPLY_NUMBERS } reply_form;

typedef struct request {
    const command *command;
    redis_ctx *ctx; /* replies and replication go through it */
    redis_string **argv;
    int argc;

    /* The key, which is argument 1. */
    redis_string *key;
    redis_key *opened; /* NULL while it is closed */
    value *value;      /* NULL when there is nothing, or something else */
    bool is_wrong;     /* it is something else, or of another family */

    /* The items, where a command has some. */
    int items; /* the first of them, among the arguments */
    reply_form form;
    bool only_new; /* those that are there are not added again */

    /* Replicas may get the command as it came: it has made no filter yet, and waited for no job.
     * Then they get what was done. */
    bool is_verbatim;

    /* Whether it may wait, and who does. */
    redis_blocked *client; /* who is blocked until there is a reply */
    bool is_late;          /* run after a wait: the context knows neither arguments nor sender */
    bool is_told;          /* after a wait: the primary sent it */
} request;

/* Where a word is among the arguments, from the first that may be it on; 0 when nowhere. */
int request_find(const request *, int from, const char *word);

/* Runs a command, whose `command`, `ctx`, `argv` and `argc` are known (commands.c). */
int request_run(request *);

/* The last of the arguments that may be keys. */
int request_last_key(const request *);

/* Opens the key for the command's family, or for any; an open one is closed before. */
void request_open(request *, int mode, family);
static inline void request_close(request *r) {
    if (r->opened) redis.CloseKey(r->opened);
    r->opened = NULL;
}

/* Another key of the same command; to be closed. */
request request_for(const request *, redis_string *key, family);

/* What is stored at a key now: NULL when that is nothing of ours. */
value *value_at(redis_ctx *, redis_string *key);

/* The value of a key that must have a filter. NULL, with the error replied, when it is of another
 * type, or still on its way, or not there: the error is `absent` then; NULL: that of TAMIS.*. */
value *request_value(request *, const char *absent);

/* The same where nothing at the key is no error: true when a filter is still on its way. */
bool request_is_coming(request *);

/* Is there nothing at the key of a command that reserves it? Otherwise the error is replied. */
bool request_is_free(request *);

/* Puts a value there, in place of whatever was, under the type that it has. */
void request_set(request *, value *);

/* The same for a filter, in a value of its own; false, with the error replied and the filter freed,
 * when there is no memory for one. */
bool request_put(request *, tamis *);

/* Puts the value that is there under the type that it has now; when it expires stays as it was. */
void request_retype(request *);

/* Items of the command: their number, and the first. */
static inline size_t request_count(const request *r) {
    return (size_t)(r->argc - r->items);
}

static inline redis_string **request_items(const request *r) {
    return r->argv + r->items;
}

/* ---- Who sent it, and who is told ------------------------------------------------------------ */

/* The server's flags (REDIS_IS_...), as they were for the client that sent it. */
int request_flags(const request *);
bool request_is_told(const request *); /* by the primary */

/* May it wait, as a client that is blocked? */
bool may_wait(const request *);

/* Sends replicas and files the command as it came. */
void request_replicate(const request *);

/* The same, and tells those who listen to keys. */
void request_changed(const request *, const char *event);
void request_notify(const request *, const char *event);

int request_wrong_arity(const request *);

/* A server that is a replica now takes changes of its primary alone. */
bool is_read_only(redis_ctx *);
int reply_read_only(redis_ctx *);

/* Counts items for INFO. */
static inline void count_items(const request *r, size_t n) {
    counters.items[command_writes(r->command)] += n;
}

#endif
