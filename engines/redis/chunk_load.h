/* SPDX-License-Identifier: MIT */
/* The module's files may include this: filters that come in chunks, by TAMIS.LOAD and by the
 * commands of RedisBloom. Chunks are kept beside the filter of the key until the last one is here
 * and they have passed the gate; then the new filter takes the place of the old one, in one
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
    const char *refusal; /* the error of RedisBloom when it is refused; NULL: the reason */
} coming;

/* Takes a chunk for the request's key, and replies. */
int arrive(request *, const coming *);

#endif
