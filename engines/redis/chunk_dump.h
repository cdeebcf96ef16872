/* SPDX-License-Identifier: MIT */
/* The module's files may include this: images that go out in chunks, by TAMIS.DUMP and by the
 * commands of RedisBloom. Only the chunk with the header, which has a checksum of everything, takes
 * as long as the filter is large. */
#ifndef TAMIS_REDIS_CHUNK_DUMP_H
#define TAMIS_REDIS_CHUNK_DUMP_H

#include "engines/redis/request.h"

/* Bytes of an image before its payload. */
enum { IMAGE_HEADER = 192 };

enum { MAX_CHUNK_PREFIX = 16 };

typedef struct chunk {
    uint64_t next;  /* what the client is to ask for then */
    uint64_t total; /* told after it; 0: not told */
    uint64_t at;    /* where it begins in the image */
    size_t size;
    uint8_t prefix[MAX_CHUNK_PREFIX]; /* what goes in front of it */
    size_t prefix_bytes;
} chunk;

/* Replies a chunk of the image of the filter at the key. */
int chunk_dump(request *, const chunk *);

/* Replies a chunk of RedisBloom's: the next iterator, and the bytes. */
int reply_chunk(request *, uint64_t next, const void *bytes, size_t size);

#endif
