/* SPDX-License-Identifier: MIT */
/* The files of BF.* may include this: what its commands share. */
#ifndef TAMIS_REDIS_BF_H
#define TAMIS_REDIS_BF_H

#include "engines/redis/new_filter.h"

#define BF_BAD_DATA "ERR received bad data"

/* ---- New filters (bf_new.c) ------------------------------------------------------------------ */

/* Parameters of a new filter. */
typedef struct bf_params {
    double rate;
    long long capacity, expansion;
    bool is_fixed; /* does not scale */
    bool has_secret;
    uint8_t secret[SECRET_BYTES];
    redis_string *tightening; /* as it was written; NULL: not given */
} bf_params;

enum { BF_MAX_CAPACITY = 1 << 30, BF_MAX_EXPANSION = 32768 };

/* The defaults, by the settings. */
bf_params bf_usual_params(void);

/* Makes a creation of it; the error is replied when that fails. */
bool bf_plan(request *, const bf_params *, creation *);

/* The secret derived from a seed of 32 bytes; false when there is no memory. */
enum { SEED_BYTES = 32 };
bool bf_secret_of(const uint8_t seed[SEED_BYTES], uint8_t secret[SECRET_BYTES]);

/* Payload bytes of a filter that has scaled to `items`, by the plans of its stages; UINT64_MAX when
 * no plan leads there. And the reverse: how many items fit in `bytes`. */
typedef struct bf_scaling {
    bool is_origin;
    uint64_t capacity; /* of the first stage */
    double rate;
    uint64_t expansion;
} bf_scaling;
uint64_t bf_scaled_bytes(const bf_scaling *, uint64_t items);
uint64_t bf_scaled_capacity(const bf_scaling *, uint64_t bytes);

/* ---- Adding (bf_add.c) ----------------------------------------------------------------------- */

/* Adds the items to the filter of the key, and replies. Where nothing is, one is made: as the
 * params say, or the settings where those are NULL, unless the key must be there. */
int bf_add(request *, const bf_params *, bool may_create);

/* One item, if the filter is there and has room: see commands.c. */
bool bf_add_one(request *);

/* ---- What there is (bf_info.c) --------------------------------------------------------------- */

/* A filter in the words of RedisBloom. */
typedef struct bf_shape {
    bool is_origin, is_fixed;
    uint64_t capacity, first_capacity, filters, items, expansion;
    double rate;
} bf_shape;
bf_shape bf_shape_of(const value *);

#endif
