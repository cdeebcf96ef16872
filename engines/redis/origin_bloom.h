/* SPDX-License-Identifier: MIT */
/* The module's files may include this: filters of RedisBloom as its BF commands tell them, which is
 * the payload of the kind redisbloom: a header, what is to know of each link, the bits of all
 * links. */
#ifndef TAMIS_REDIS_ORIGIN_BLOOM_H
#define TAMIS_REDIS_ORIGIN_BLOOM_H

#include "engines/redis/value.h"

enum { BLOOM_HEADER_BYTES = 20, BLOOM_LINK_BYTES = 53 };
enum { BLOOM_OPTIONS = 15, BLOOM_DOES_NOT_SCALE = 8 };

typedef struct bloom_header {
    uint64_t items; /* in all links */
    uint32_t links, options, expansion;
} bloom_header;

typedef struct bloom_link {
    uint64_t bytes, bits, items;
    double error, bits_per_item;
    uint32_t hashes;
    uint64_t capacity;
    uint8_t n2;
} bloom_link;

bloom_header bloom_header_at(const uint8_t *bytes);
bloom_link bloom_link_at(const uint8_t *bytes, uint64_t i);

/* The payload of such a filter; NULL for filters of other kinds. */
const uint8_t *bloom_payload(const tamis *);

/* Bytes in front of the bits. */
uint64_t bloom_bits_from(uint64_t links);

#endif
