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
    void (*reply)(request *, struct alteration *);                  /* NULL: OK */
    size_t replies;                                                 /* of an array; or 0 */
    void (*replicate)(request *, struct alteration *);              /* NULL: as it came */
    void (*free)(void *data);                                       /* or NULL */
    const char *event;
    void *data;
    uint64_t number;

    /* alter.c's own. */
    char *packed; /* very many words of the command; or NULL */
    size_t packed_size;
} alteration;

/* Alters a copy of what is stored at the key, a value with a filter; where there is nothing, of the
 * first that is read. `bytes` is about what is touched. */
int alter_copy(request *, const alteration *, value *const *reads, int read_count, uint64_t bytes);

/* Before a command may change its key: a filter that another key has too is copied, by the worker,
 * and the command has to wait for that. False, with the error replied, when there was no memory for
 * it. */
bool alter_alone(request *);

#endif
