/* SPDX-License-Identifier: MIT */
/* The files of CF.* may include this: cuckoo filters as RedisBloom's users know them.
 *
 * A filter of ours is a multiset, which has no buckets: what was said about them at its birth is
 * kept in the facts, and told again. With cf-kind rediscuckoo, and when it came from RedisBloom, it
 * is the kind rediscuckoo, whose payload knows everything. */
#ifndef TAMIS_REDIS_CF_H
#define TAMIS_REDIS_CF_H

#include "engines/redis/new_filter.h"

/* What CF.RESERVE may ask for; limits are those of RedisBloom. */
enum { CF_MAX_CAPACITY = 1 << 30, CF_MAX_EXPANSION = 32768 };
typedef struct cf_params {
    uint64_t capacity, bucket_size, iterations, expansion;
} cf_params;

/* What the settings say for filters that an add makes. */
cf_params cf_usual_params(void);

/* Makes a filter for a key where nothing is, of a kind of ours, or RedisBloom's, as the setting
 * cf-kind says; and goes on, by `then`, or with the reply OK. */
int cf_create(request *, const cf_params *, int (*then)(request *));

/* CF.ADD and CF.ADDNX, if the filter is there and has room: see commands.c. */
bool cf_add_one(request *);
bool cf_addnx_one(request *);

/* A filter in RedisBloom's words. */
typedef struct cf_shape {
    bool is_origin, is_multiset; /* one of RedisBloom; one of ours */
    uint64_t size;               /* bytes */
    uint64_t items, buckets, deleted, filters, bucket_size, iterations, expansion;
    uint64_t cells; /* of the first sub-filter */
} cf_shape;

cf_shape cf_shape_of(const value *);

/* The payload of rediscuckoo begins with a header of CF_HEADER bytes, little-endian:
 *
 *     items u64, buckets u64, deletes u64, filters u64, bucket size u16, iterations u16, expansion
 *     u16 */
enum { CF_HEADER = 38 };
cf_shape cf_header_read(const uint8_t header[CF_HEADER]);
void cf_header_write(const cf_shape *, uint8_t header[CF_HEADER]);

/* Bytes of all sub-filters after such a header; 0 when no filter of RedisBloom has this shape. */
uint64_t cf_cells(const cf_shape *);

/* One step up when a filter of ours is full: TAMIS_FULL when there is none. And one back: false
 * when it would not hold what is inside, or be smaller than at first. */
tamis_status cf_enlarge(tamis *, facts *);
bool cf_shrink(tamis *, facts *);
bool cf_may_shrink(const value *);

#endif
