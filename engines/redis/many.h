/* SPDX-License-Identifier: MIT */
/* The module's files may include this: commands with very many items.
 *
 * Questions go to the worker. Changes are made in steps on the filter in place; what a step
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

/* Are they very many, and may whoever sent them wait? */
bool many_may_wait(const request *, size_t count);

/* ---- Questions ------------------------------------------------------------------------------- */

/* Replies what the filter says of the items; of one that is empty by now without asking it. */
typedef void sender(request *, const tamis *, items *, bool is_empty);
void tell_hits(request *, const tamis *, items *, bool is_empty);

/* Does the filter of the key answer questions about items, by this ability (0: any)? Kinds that
 * know sets and no keys would answer maybe to everything. False with the error replied. */
bool many_can_answer(request *, enum tamis_ability needed);

/* Asks the filter of the key about the items: here, or on the worker when they are very many and no
 * other job holds the filter still. */
int many_ask(request *, bool is_empty, sender *);

/* BF.EXISTS and the like: a key with nothing, or with something else, has no items; one whose
 * filter is still on its way is an error. */
int many_exist(request *);

/* One item, if the filter is there: see commands.c. */
bool many_exist_one(request *);

/* ---- Changes --------------------------------------------------------------------------------- */

typedef struct stream {
    /* Does a few items from `done` on, and moves that, or makes room for them; false when it could
     * not do all that it began with. */
    bool (*some)(struct stream *, value *);
    /* Those from here up to `done`. */
    void (*replicate)(request *, const struct stream *, size_t from);
    /* Of a copy that could not be had; true: the rest is done as far as it goes without. NULL: it
     * never grows. */
    bool (*lacks_copy)(struct stream *, tamis_status, const char *why);
    void (*reply)(request *, const struct stream *);
    void (*free)(void *data);
    void *data;
    const char *event;
    size_t count, done, changed; /* items */
    bool is_packed;    /* in one argument, with one answer: a step may do any number of them */
    bool in_haste;     /* `some` does not know before whether it must grow: bounds_haste() */
    bool must_grow;    /* said by `some`, which has done all that goes without */
    bool is_copy;      /* told to `some`: no other client sees this one */
    char why[JOB_WHY]; /* said by `some` that failed: an error in place of the reply */

    /* many.c's own. */
    redis_string **item; /* of the request */
    size_t grown_from;   /* what was done before the copy */
    facts facts;         /* of the copy */
    bool is_gone, is_good;
} stream;

/* Changes what is stored at the key. Owns the data. */
int many_change(request *, const stream *);

#endif
