/* SPDX-License-Identifier: MIT */
/* The module's files may include this: changes of a whole filter, made on a copy.
 *
 * A change that may fail half-way, or that takes long, is made on a copy of the filter, on the
 * worker when it is large; only when all went well the copy takes the filter's place, in one
 * step. */
#ifndef TAMIS_REDIS_ALTER_H
#define TAMIS_REDIS_ALTER_H

#include "engines/redis/work.h"

typedef struct alteration {
    tamis_status (*alter)(tamis *copy, struct alteration *, job *); /* any thread */
    void (*reply)(redis_ctx *, struct alteration *);                /* NULL: OK */
    size_t replies;                                                 /* of an array; or 0 */
    void (*replicate)(redis_ctx *, struct alteration *);            /* NULL: as it came */
    void (*free)(struct alteration *);                              /* what `data` is; or NULL */
    const char *event;
    void *data;
    uint64_t number;

    /* alter.c's own: the command, which the job holds. */
    redis_string **argv;
    int argc;
    char *packed; /* very many words of it; or NULL */
    size_t packed_size;
} alteration;

/* Copies what stands at argv[1], a value with a filter, or NULL for a key with nothing: then
 * `first` is copied. `bytes` is about what is touched. */
int alter_copy(redis_ctx *, const alteration *, value *target, value *const *reads, int read_count,
               redis_string **argv, int argc, uint64_t bytes);

/* Before a command may change this key: a filter that another key has too is copied, by the worker,
 * and the command has to wait for that. False, with the error replied, when there was no memory for
 * it. */
bool alter_alone(redis_ctx *, redis_string *key, bool changes);

#endif
