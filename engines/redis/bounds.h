/* SPDX-License-Identifier: MIT */
/* The module's files may include this: whom limits bind.
 *
 * max-filter-bytes and maxmemory are for clients. What the primary sends, and what a file or a full
 * sync brings, was acknowledged where it was written: a server that refuses it loses it. Nothing of
 * that is held against a limit or a setting of this server.
 *
 * What binds is a matter of the thread: of the command that the main thread runs, or of the job
 * that the worker makes. By default nothing binds. */
#ifndef TAMIS_REDIS_BOUNDS_H
#define TAMIS_REDIS_BOUNDS_H

#include <stdbool.h>

#include "engines/redis/api.h"

typedef struct bounds {
    redis_ctx *asker; /* who is asked, once it matters, whether it is a client; or NULL */
    bool is_told;     /* the primary sent it, which a context after a wait does not know */
    bool bind;        /* a client asked for what is done now */
    bool is_measured; /* the ceiling is known */
    bool was_short;   /* something was refused because of maxmemory */
    bool was_large;   /* or because of max-filter-bytes */
    bool in_haste;    /* others wait: what takes long is refused, and done elsewhere */
    bool was_long;    /* something was */
    uint64_t ceiling; /* that the bytes of all filters may reach before maxmemory is passed */
} bounds;

/* From here on this thread is bound by what binds whoever sent a command; what bound it before is
 * returned, for bounds_leave. Most commands need no memory, and who sent them is not asked. */
bounds bounds_enter(redis_ctx *, bool is_told);

/* The same where no command is known: when a value is read, or copied. A replica may be told by its
 * primary, so nothing binds there. */
bounds bounds_enter_callback(void);

/* Puts others in place, and returns those that were. */
bounds bounds_leave(bounds before);

/* What a job takes along to the worker, which cannot ask the server how much memory there is. */
bounds bounds_for_worker(void);

/* Does anything bind? */
bool bounds_bind(void);

/* The most bytes that the payload of a filter may have. */
uint64_t bounds_filter_bytes(void);

/* Is there memory for `bytes` more? And may a filter have that many? */
bool bounds_allow(uint64_t bytes);
bool bounds_allow_filter(uint64_t bytes);

/* In haste, because others wait, a filter does not move to much more memory, which takes as long as
 * copying it: the change fails and alters nothing, and bounds_were_long() says that this was the
 * reason. */
void bounds_haste(bool in_haste);
bool bounds_were_long(void);

/* Which of the two said no, since bounds_enter, as an error; NULL: none. The first has the server's
 * own words. */
const char *bounds_refusal(void);
bool bounds_were_short(void);

#endif
