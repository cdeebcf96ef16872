/* SPDX-License-Identifier: MIT */
/* For the files of src/foreign about Redis: the layout of what BF.SCANDUMP and CF.SCANDUMP return,
 * the payloads of redisbloom and rediscuckoo, and of the payload of rediscms. All little-endian. */
#ifndef TAMIS_FOREIGN_REDIS_H
#define TAMIS_FOREIGN_REDIS_H

#include "kinds/kind.h"

/* The commands return a filter in chunks: the header first, then the data after it, at most this
 * much at a time, and never from two links or sub-filters at once. */
#define TAMIS_REDIS_CHUNK ((uint64_t)16 << 20)

/* The chunk that the command returns for an iterator: its offset in the payload, its size, and the
 * iterator returned with it, which is also the one to load it with. Iterator 0 gives the header;
 * false where there is no more. */
typedef struct tamis_redis_chunk {
    uint64_t iterator, at, size;
} tamis_redis_chunk;

bool tamis__redisbloom_chunk(const tamis_body *, uint64_t iterator, tamis_redis_chunk *);
bool tamis__rediscuckoo_chunk(const tamis_body *, uint64_t iterator, tamis_redis_chunk *);

/* Stops at borders: for chunks of a part of `size` bytes that starts at `before` of all data
 * bytes. */
static inline bool tamis__redis_cut(uint64_t header, uint64_t before, uint64_t size,
                                    uint64_t iterator, tamis_redis_chunk *chunk) {
    const uint64_t at = iterator - 1;
    if (at < before || at - before >= size) return false;
    const uint64_t left = size - (at - before);
    chunk->size = left < TAMIS_REDIS_CHUNK ? left : TAMIS_REDIS_CHUNK;
    chunk->at = header + at;
    chunk->iterator = iterator + chunk->size;
    return true;
}

/* ---- BF ------------------------------------------------------------------------------------- */

enum { TAMIS_BF_HEADER = 20, TAMIS_BF_LINK = 53 };
enum { TAMIS_BF_NO_ROUND = 1, TAMIS_BF_IS_BITS = 2, TAMIS_BF_64 = 4, TAMIS_BF_NO_SCALING = 8 };

/* Twenty bytes at the start. */
typedef struct tamis_bf_header {
    uint64_t size; /* keys in all links */
    uint32_t links, options, growth;
} tamis_bf_header;

/* then 53 bytes for each link, packed; then the bits of all links. */
typedef struct tamis_bf_link {
    uint64_t bytes, bits, size;
    double error, bpe;
    uint32_t hashes;
    uint64_t entries;
    uint8_t n2; /* positions are below 2^n2 when it is not 0, else below `bits` */
} tamis_bf_link;

tamis_bf_header tamis__bf_header(const uint8_t *payload);
void tamis__bf_put_header(uint8_t *payload, tamis_bf_header);
tamis_bf_link tamis__bf_link(const uint8_t *payload, uint64_t i);
void tamis__bf_put_link(uint8_t *payload, uint64_t i, tamis_bf_link);

/* Whether the module accepts it: since version 2 all bytes of a link are bits. */
tamis_status tamis__bf_may_leave(const tamis_body *);

/* The words of such a payload; `bytes` is the size of all of it. */
void tamis__bf_words(tamis_bf_header, tamis_bf_link first, uint64_t bytes, uint64_t word[]);

/* ---- CF ------------------------------------------------------------------------------------- */

enum { TAMIS_CF_HEADER = 38 };

typedef struct tamis_cf_header {
    uint64_t items, buckets, deletes, filters;
    uint16_t bucket_size, iterations, expansion;
} tamis_cf_header;

tamis_cf_header tamis__cf_header(const uint8_t *payload);
void tamis__cf_put_header(uint8_t *payload, tamis_cf_header);
tamis_status tamis__cf_words(tamis_cf_header, uint64_t word[]);

/* Bytes of one sub-filter, of checked words. */
uint64_t tamis__cf_size(const uint64_t word[], uint64_t filter);

/* ---- CMS ------------------------------------------------------------------------------------ */

enum { TAMIS_CMS_HEADER = 24 };

/* Three numbers, then the cells. No command returns them; files have them. */
typedef struct tamis_cms_header {
    uint64_t width, depth, counter;
} tamis_cms_header;

tamis_cms_header tamis__cms_header(const uint8_t *payload);
void tamis__cms_put_header(uint8_t *payload, tamis_cms_header);

/* The words, checked, and the bytes of header and cells. */
tamis_status tamis__cms_words(tamis_cms_header, uint64_t word[], uint64_t *bytes);

#endif
