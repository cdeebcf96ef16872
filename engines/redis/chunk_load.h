/* SPDX-License-Identifier: MIT */
/* The module's files may include this: filters that come in chunks, by TAMIS.LOAD and by the
 * commands of RedisBloom. Chunks lie beside the filter that the key has until the last one is here
 * and the gate has let them pass; then the new filter takes the place of the old one, in one
 * step. */
#ifndef TAMIS_REDIS_CHUNK_LOAD_H
#define TAMIS_REDIS_CHUNK_LOAD_H

#include "engines/redis/work.h"

/* The most that a chunk of RedisBloom's commands has that goes: a quarter of the origin's, whose
 * reply would hold others for 11 to 17 ms. What comes may have any size. */
enum { ORIGIN_CHUNK = 4 << 20 };

typedef struct coming {
    chunk_form form;
    uint64_t offset, total;
    redis_string *bytes;
    family family;                             /* of the key, when there is nothing yet */
    void (*reply)(redis_ctx *, uint64_t have); /* after a chunk that was taken */
    const char *refusal; /* the error of RedisBloom when it is refused; NULL: the reason */
} coming;

/* Takes a chunk for an open key, which it closes, and replies. */
int arrive(redis_ctx *, place *, redis_string *key, const coming *);

#endif
