/* SPDX-License-Identifier: MIT */
/* The module's files may include this: commands with very many items.
 *
 * Questions go to the worker. Changes are made in steps on the filter where it stands; what a step
 * has done is replicated with it, so that a snapshot between two of them has just that. Where a
 * large filter must grow for the next few items, the worker adds those to a copy, which takes its
 * place, and steps go on:
 *
 *     step, step, ... ──must grow──▶ copy, some ──▶ in its place ──▶ step, step, ... ──▶ answers */
#ifndef TAMIS_REDIS_MANY_H
#define TAMIS_REDIS_MANY_H

#include "engines/redis/items.h"
#include "engines/redis/work.h"

enum { ITEMS_AT_ONCE = 64 };

/* Are they so many, and may whoever sent them wait? */
bool many_may_wait(redis_ctx *, int count);

/* ---- Questions ------------------------------------------------------------------------------- */

/* Replies what the filter says of the items; of one that is empty by now without asking it. */
typedef void sender(redis_ctx *, const tamis *, items *, bool is_empty);
void tell_hits(redis_ctx *, const tamis *, items *, bool is_empty);

/* Shall the worker ask them? Not where a filter is held still by another job. */
bool many_are_for_worker(redis_ctx *, const value *, int count);
int many_ask(redis_ctx *, redis_string *key, value *, redis_string **item, int count, sender *);

/* ---- Changes --------------------------------------------------------------------------------- */

typedef struct stream {
    /* Does a few items from `done` on, and moves that, or makes room for them; false when it could
     * not do all that it began with. */
    bool (*some)(struct stream *, value *);
    /* Those from here up to `done`. */
    void (*replicate)(redis_ctx *, const struct stream *, redis_string *key, size_t from);
    /* Of a copy that could not be had; true: the rest is done as far as it goes without. NULL: it
     * never grows. */
    bool (*lacks_copy)(struct stream *, tamis_status, const char *why);
    void (*reply)(redis_ctx *, const struct stream *);
    void (*free)(void *data);
    void *data;
    const char *event;
    size_t count, done, changed; /* items */
    size_t strings;              /* that the items are: one each, or more */
    bool in_haste;  /* `some` does not know before whether it must grow: bounds_haste() */
    bool must_grow; /* said by `some`, which has done all that goes without */
    bool is_copy;   /* told to `some`: nobody waits for this one */

    /* many.c's own. */
    redis_string **item; /* that the job holds */
    size_t grown_from;   /* what was done before the copy */
    facts facts;         /* of the copy */
    bool is_gone, is_good;
} stream;

/* Owns the data. The items are held, and stand in `item`. */
int many_change(redis_ctx *, redis_string *key, value *, redis_string **item, const stream *);

#endif
