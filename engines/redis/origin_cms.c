/* SPDX-License-Identifier: MIT */
/* CMSk-TYPE: the count-min sketch as RedisBloom has it in RDB files, DUMP and full syncs.
 *
 *     width, depth, counter, string of cells
 *
 * which, concatenated, are the bytes of the format rediscms. */
#include <string.h>

#include "engines/redis/bounds.h"
#include "engines/redis/little_endian.h"
#include "engines/redis/persist.h"

enum { FIELDS = 3, HEADER = 8 * FIELDS };

/* The payload begins with the fields, and zeros may follow the cells. */
static void save(redis_io *io, void *object) {
    const value *v = object;
    uint64_t size;
    const uint8_t *payload = tamis_payload(v->filter, &size);
    for (int i = 0; i < FIELDS; i++) redis.SaveUnsigned(io, le_get(payload + 8 * i, 8));
    const uint64_t cells = le_get(payload, 8) * le_get(payload + 8, 8);
    redis.SaveStringBuffer(io, (const char *)payload + HEADER, (size_t)(4 * cells));
}

/* The sizes are those of what is there: width and depth are compared with them by the library. */
static value *accept(redis_io *io, const uint64_t field[FIELDS], const char *cells, size_t size) {
    uint8_t *bytes = size <= bounds_filter_bytes() ? try_alloc(HEADER + size) : NULL;
    if (!bytes) {
        redis.LogIOError(io, "warning", "filter refused: no room for %zu bytes", size);
        return NULL;
    }
    for (int i = 0; i < FIELDS; i++) le_put(bytes + 8 * i, 8, field[i]);
    memcpy(bytes + HEADER, cells, size);
    value *v = persist_import(io, "rediscms", bytes, HEADER + size);
    redis.Free(bytes);
    if (v) tamis_set_note(v->filter, "origin", NULL); /* its image is that of one made here */
    return v;
}

static void *read_value(redis_io *io, int encoding) {
    uint64_t field[FIELDS];
    size_t size;
    if (encoding != ORIGIN_CMS_ENCODING) {
        redis.LogIOError(io, "warning", "encoding %d of CMSk-TYPE needs a newer module", encoding);
        return NULL;
    }
    for (int i = 0; i < FIELDS; i++) field[i] = redis.LoadUnsigned(io);
    char *cells = redis.IsIOError(io) ? NULL : redis.LoadStringBuffer(io, &size);
    if (!cells) return NULL;
    value *v = accept(io, field, cells, size);
    redis.Free(cells);
    return v;
}

static void *load(redis_io *io, int encoding) {
    return persist_load(io, encoding, read_value);
}

redis_methods origin_cms_methods(void) {
    return persist_origin_methods(load, save);
}
