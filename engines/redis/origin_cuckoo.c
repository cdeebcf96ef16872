/* SPDX-License-Identifier: MIT */
/* The type MBbloomCF of RedisBloom: its cuckoo filters in its own encoding, so that its files,
 * dumps and full syncs are read here, and ours there.
 *
 *     filters, buckets, items                                     numbers
 *     deletes, bucket size, iterations, expansion                 the same, from encoding 4 on
 *     for each sub-filter: buckets (from encoding 4 on) and its cells, a string */
#include <string.h>

#include "engines/redis/cf.h"
#include "engines/redis/persist.h"

/* ---- Loading --------------------------------------------------------------------------------- */

enum { HAS_EXPANSION = 4 };

static void *refuse(redis_io *io, const char *why) {
    redis.LogIOError(io, "warning", "cuckoo filter refused: %s", why);
    return NULL;
}

static bool load_number(redis_io *io, uint64_t *x, uint64_t max) {
    *x = redis.LoadUnsigned(io);
    return !redis.IsIOError(io) && *x <= max;
}

/* Older ones had no such options. */
static bool load_shape(redis_io *io, int encoding, cf_shape *s) {
    *s = (cf_shape){.bucket_size = 2, .iterations = 20, .expansion = 1};
    if (!load_number(io, &s->filters, UINT16_MAX) || !load_number(io, &s->buckets, UINT64_MAX) ||
        !load_number(io, &s->items, UINT64_MAX))
        return false;
    return encoding < HAS_EXPANSION || (load_number(io, &s->deleted, UINT64_MAX) &&
                                        load_number(io, &s->bucket_size, UINT16_MAX) &&
                                        load_number(io, &s->iterations, UINT16_MAX) &&
                                        load_number(io, &s->expansion, UINT16_MAX));
}

/* Memory follows what has come: a sub-filter is there before room for it is made. */
typedef struct bytes {
    uint8_t *at;
    uint64_t size, room;
} bytes;

static bool append(bytes *b, const void *more, uint64_t size) {
    if (size > b->room - b->size) {
        const uint64_t room = 2 * b->size + size;
        uint8_t *at = try_alloc((size_t)room);
        if (!at) return false;
        if (b->size) memcpy(at, b->at, (size_t)b->size);
        redis.Free(b->at);
        b->at = at;
        b->room = room;
    }
    memcpy(b->at + b->size, more, (size_t)size);
    b->size += size;
    return true;
}

/* One sub-filter of `cells` cells. */
static bool load_cells(redis_io *io, int encoding, const cf_shape *s, uint64_t cells, bytes *b) {
    uint64_t buckets = cells / s->bucket_size;
    size_t size;
    if (encoding >= HAS_EXPANSION && !load_number(io, &buckets, UINT64_MAX)) return false;
    char *string = redis.LoadStringBuffer(io, &size);
    if (!string) return false;
    const bool is_good =
        size == cells && buckets == cells / s->bucket_size && append(b, string, size);
    redis.Free(string);
    return is_good;
}

static bool load_all_cells(redis_io *io, int encoding, const cf_shape *s, bytes *b) {
    uint64_t cells = s->buckets * s->bucket_size;
    for (uint64_t i = 0; i < s->filters; i++, cells *= s->expansion)
        if (!load_cells(io, encoding, s, cells, b)) return false;
    return true;
}

static void *read_value(redis_io *io, int encoding) {
    cf_shape s;
    uint8_t header[CF_HEADER];
    bytes b = {NULL, 0, 0};
    value *v = NULL;
    if (encoding > CUCKOO_ENCODING) return refuse(io, "its encoding is newer than 4");
    if (!load_shape(io, encoding, &s)) return refuse(io, "its numbers are cut off or too large");
    const uint64_t cells = cf_cells(&s);
    if (!cells || cells > bounds_filter_bytes())
        return refuse(io, "its shape is none of CF, or larger than max-filter-bytes allows");
    cf_header_write(&s, header);
    if (append(&b, header, sizeof header) && load_all_cells(io, encoding, &s, &b))
        v = persist_import(io, "rediscuckoo", b.at, b.size);
    else
        refuse(io, "a sub-filter is cut off, or has another size than follows from the first");
    redis.Free(b.at);
    return v;
}

static void *load(redis_io *io, int encoding) {
    return persist_load(io, encoding, read_value);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static void save(redis_io *io, void *object) {
    uint64_t size;
    const value *v = object;
    const cf_shape s = cf_shape_of(v);
    const uint64_t fields[] = {s.filters,     s.buckets,    s.items,    s.deleted,
                               s.bucket_size, s.iterations, s.expansion};
    const char *cells = (const char *)tamis_payload(v->filter, &size) + CF_HEADER;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) redis.SaveUnsigned(io, fields[i]);
    size = s.cells;
    for (uint64_t i = 0; i < s.filters; i++, cells += size, size *= s.expansion) {
        redis.SaveUnsigned(io, size / s.bucket_size);
        redis.SaveStringBuffer(io, cells, (size_t)size);
    }
}

redis_methods persist_cuckoo_methods(void) {
    return persist_origin_methods(load, save);
}
