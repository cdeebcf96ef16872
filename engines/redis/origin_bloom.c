/* SPDX-License-Identifier: MIT */
/* The type MBbloom-- of RedisBloom: its filters as its files have them.
 *
 *     items, links, options (from encoding 2), expansion (from 4); for each link: capacity, error,
 *     hashes, bits per item, bits and n2 (from 1), the bits as a string, items
 *
 * What was read is put together as BF.SCANDUMP would tell it, and goes through the library's
 * gate. */
#include "engines/redis/origin_bloom.h"

#include <string.h>

#include "engines/redis/bounds.h"
#include "engines/redis/little_endian.h"
#include "engines/redis/persist.h"

enum { HAS_BITS = 1, HAS_OPTIONS = 2, HAS_EXPANSION = 4, OLD_EXPANSION = 2 };

/* ---- Headers --------------------------------------------------------------------------------- */

static double get_double(const uint8_t *p) {
    const uint64_t bits = le_get(p, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

bloom_header bloom_header_at(const uint8_t *p) {
    return (bloom_header){le_get(p, 8), (uint32_t)le_get(p + 8, 4), (uint32_t)le_get(p + 12, 4),
                          (uint32_t)le_get(p + 16, 4)};
}

bloom_link bloom_link_at(const uint8_t *bytes, uint64_t i) {
    const uint8_t *p = bytes + bloom_bits_from(i);
    return (bloom_link){.bytes = le_get(p, 8),
                        .bits = le_get(p + 8, 8),
                        .items = le_get(p + 16, 8),
                        .error = get_double(p + 24),
                        .bits_per_item = get_double(p + 32),
                        .hashes = (uint32_t)le_get(p + 40, 4),
                        .capacity = le_get(p + 44, 8),
                        .n2 = p[52]};
}

static uint8_t *put_double(uint8_t *p, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return le_put(p, 8, bits);
}

static uint8_t *put_header(uint8_t *p, const bloom_header *h) {
    p = le_put(le_put(p, 8, h->items), 4, h->links);
    return le_put(le_put(p, 4, h->options), 4, h->expansion);
}

static uint8_t *put_link(uint8_t *p, const bloom_link *l) {
    p = le_put(le_put(le_put(p, 8, l->bytes), 8, l->bits), 8, l->items);
    p = put_double(put_double(p, l->error), l->bits_per_item);
    return le_put(le_put(le_put(p, 4, l->hashes), 8, l->capacity), 1, l->n2);
}

uint64_t bloom_bits_from(uint64_t links) {
    return BLOOM_HEADER_BYTES + links * BLOOM_LINK_BYTES;
}

const uint8_t *bloom_payload(const tamis *filter) {
    struct tamis_info info = TAMIS_INFO_INIT;
    uint64_t size;
    tamis_get_info(filter, &info);
    return strcmp(info.kind, "redisbloom") == 0 ? tamis_payload(filter, &size) : NULL;
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static void save(redis_io *io, void *object) {
    const uint8_t *payload = bloom_payload(((value *)object)->filter);
    const bloom_header h = bloom_header_at(payload);
    const char *bits = (const char *)payload + bloom_bits_from(h.links);
    redis.SaveUnsigned(io, h.items);
    redis.SaveUnsigned(io, h.links);
    redis.SaveUnsigned(io, h.options);
    redis.SaveUnsigned(io, h.expansion);
    for (uint64_t i = 0; i < h.links; i++) {
        const bloom_link l = bloom_link_at(payload, i);
        redis.SaveUnsigned(io, l.capacity);
        redis.SaveDouble(io, l.error);
        redis.SaveUnsigned(io, l.hashes);
        redis.SaveDouble(io, l.bits_per_item);
        redis.SaveUnsigned(io, l.bits);
        redis.SaveUnsigned(io, l.n2);
        redis.SaveStringBuffer(io, bits, (size_t)l.bytes);
        redis.SaveUnsigned(io, l.items);
        bits += l.bytes;
    }
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* What has been read so far: memory follows it, and not what the file announces. */
typedef struct reading {
    redis_io *io;
    int encoding;
    bloom_header header;
    struct read_link {
        bloom_link link;
        char *bits;
    } * links;
    uint64_t count, room, bytes;
    const char *why; /* the first thing that is not as it should be */
} reading;

static uint64_t take(reading *r, uint64_t max) {
    const uint64_t x = r->why ? 0 : redis.LoadUnsigned(r->io);
    if (!r->why && redis.IsIOError(r->io)) r->why = "it ends in the middle";
    if (!r->why && x > max) r->why = "a number is too large for its field";
    return r->why ? 0 : x;
}

static double take_double(reading *r) {
    const double x = r->why ? 0 : redis.LoadDouble(r->io);
    if (!r->why && redis.IsIOError(r->io)) r->why = "it ends in the middle";
    return x;
}

static char *take_bits(reading *r, uint64_t *bytes) {
    size_t size = 0;
    char *bits = r->why ? NULL : redis.LoadStringBuffer(r->io, &size);
    if (!bits && !r->why) r->why = "it ends in the middle";
    *bytes = size;
    return bits;
}

static struct read_link *next_link(reading *r) {
    if (r->count == r->room) {
        const uint64_t room = r->room ? 2 * r->room : 4;
        struct read_link *links = try_alloc((size_t)room * sizeof *links);
        if (!links) {
            r->why = "there is no memory for its links";
            return NULL;
        }
        if (r->count) memcpy(links, r->links, (size_t)r->count * sizeof *links);
        redis.Free(r->links);
        r->links = links;
        r->room = room;
    }
    return &r->links[r->count++];
}

/* Before the number of bits was written, it was what items and their bits come to. */
static uint64_t bits_of_old(const bloom_link *l) {
    const double bits = (double)l->capacity * l->bits_per_item;
    return bits >= 1 && bits < 0x1p56 ? (uint64_t)bits : 0;
}

static void take_link(reading *r) {
    bloom_link l = {.capacity = take(r, UINT64_MAX)};
    l.error = take_double(r);
    l.hashes = (uint32_t)take(r, UINT32_MAX);
    l.bits_per_item = take_double(r);
    l.bits = r->encoding >= HAS_BITS ? take(r, UINT64_MAX) : bits_of_old(&l);
    l.n2 = r->encoding >= HAS_BITS ? (uint8_t)take(r, UINT8_MAX) : 0;
    char *bits = take_bits(r, &l.bytes);
    l.items = take(r, UINT64_MAX);
    struct read_link *next = r->why ? NULL : next_link(r);
    if (!next) {
        redis.Free(bits);
        return;
    }
    *next = (struct read_link){l, bits};
    r->bytes += l.bytes;
    if (r->bytes > bounds_filter_bytes()) r->why = "it is above max-filter-bytes";
}

static void take_filter(reading *r) {
    r->header.items = take(r, UINT64_MAX);
    r->header.links = (uint32_t)take(r, UINT32_MAX);
    r->header.options = r->encoding >= HAS_OPTIONS ? (uint32_t)take(r, UINT32_MAX) : 0;
    r->header.expansion =
        r->encoding >= HAS_EXPANSION ? (uint32_t)take(r, UINT32_MAX) : OLD_EXPANSION;
    for (uint32_t i = 0; i < r->header.links && !r->why; i++) take_link(r);
}

/* As the commands tell it, in memory of its own; the strings are gone afterwards. */
static uint8_t *put_together(reading *r, uint64_t *size) {
    *size = bloom_bits_from(r->count) + r->bytes;
    uint8_t *bytes = r->why ? NULL : try_alloc((size_t)*size), *p = bytes;
    if (!bytes && !r->why) r->why = "there is no memory for it";
    if (p) p = put_header(p, &r->header);
    for (uint64_t i = 0; i < r->count && p; i++) p = put_link(p, &r->links[i].link);
    for (uint64_t i = 0; i < r->count; i++) {
        const uint64_t n = r->links[i].link.bytes;
        if (p) {
            memcpy(p, r->links[i].bits, (size_t)n);
            p += n;
        }
        redis.Free(r->links[i].bits);
    }
    redis.Free(r->links);
    return bytes;
}

static void *read_value(redis_io *io, int encoding) {
    reading r = {.io = io, .encoding = encoding};
    uint64_t size;
    if (encoding > BLOOM_ENCODING) r.why = "its encoding needs a newer module";
    take_filter(&r);
    uint8_t *bytes = put_together(&r, &size);
    if (!bytes) {
        redis.LogIOError(io, "warning", "filter refused: %s", r.why);
        return NULL;
    }
    value *v = persist_import(io, "redisbloom:links=any", bytes, size);
    redis.Free(bytes);
    return v;
}

static void *load(redis_io *io, int encoding) {
    return persist_load(io, encoding, read_value);
}

redis_methods origin_bloom_methods(void) {
    return persist_origin_methods(load, save);
}
