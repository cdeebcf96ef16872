/* SPDX-License-Identifier: MIT */
/* CF.INFO and CF.DEBUG: filters in the words of RedisBloom. */
#include <stdio.h>
#include <string.h>

#include "engines/redis/cf.h"
#include "engines/redis/commands.h"
#include "engines/redis/little_endian.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

cf_shape cf_header_read(const uint8_t h[CF_HEADER]) {
    return (cf_shape){.is_origin = true,
                      .items = le_get(h, 8),
                      .buckets = le_get(h + 8, 8),
                      .deleted = le_get(h + 16, 8),
                      .filters = le_get(h + 24, 8),
                      .bucket_size = le_get(h + 32, 2),
                      .iterations = le_get(h + 34, 2),
                      .expansion = le_get(h + 36, 2)};
}

void cf_header_write(const cf_shape *s, uint8_t h[CF_HEADER]) {
    le_put(h, 8, s->items);
    le_put(h + 8, 8, s->buckets);
    le_put(h + 16, 8, s->deleted);
    le_put(h + 24, 8, s->filters);
    le_put(h + 32, 2, s->bucket_size);
    le_put(h + 34, 2, s->iterations);
    le_put(h + 36, 2, s->expansion);
}

static bool is_power_of_two(uint64_t n) {
    return n && (n & (n - 1)) == 0;
}

uint64_t cf_cells(const cf_shape *s) {
    const uint64_t max = (uint64_t)1 << 32;
    if (s->bucket_size < 1 || s->bucket_size > 255 || s->iterations < 1 || s->filters < 1 ||
        s->filters > UINT16_MAX || !is_power_of_two(s->buckets) ||
        s->buckets > max / s->bucket_size || s->expansion > CF_MAX_EXPANSION ||
        (s->expansion ? !is_power_of_two(s->expansion) : s->filters > 1))
        return 0;
    uint64_t cells = s->buckets * s->bucket_size, sum = cells;
    for (uint64_t i = 1; i < s->filters; i++, sum += cells)
        if ((cells *= s->expansion) > max) return 0;
    return sum;
}

/* RedisBloom counts 40 bytes for a filter and 16 for each sub-filter. */
static cf_shape shape_of_origin(const tamis *filter) {
    uint64_t size;
    cf_shape s = cf_header_read(tamis_payload(filter, &size));
    s.cells = s.buckets * s.bucket_size;
    s.size = 40 + 16 * s.filters + cf_cells(&s);
    return s;
}

cf_shape cf_shape_of(const value *v) {
    struct tamis_info info = TAMIS_INFO_INIT;
    const facts *f = &v->facts;
    tamis_get_info(v->filter, &info);
    if (strcmp(info.kind, "rediscuckoo") == 0) return shape_of_origin(v->filter);
    return (cf_shape){.is_multiset = strcmp(info.kind, "multiset") == 0,
                      .size = value_bytes(v),
                      .items = info.items,
                      .buckets = f->buckets,
                      .deleted = f->deleted,
                      .filters = f->filters,
                      .bucket_size = f->bucket_size,
                      .iterations = f->iterations,
                      .expansion = f->expansion,
                      .cells = f->buckets * f->bucket_size};
}

/* ---- CF.INFO key ----------------------------------------------------------------------------- */

int cf_info_command(request *r) {
    const value *v = request_value(r, NOT_FOUND);
    if (!v) return REDIS_OK;
    const cf_shape s = cf_shape_of(v);
    reply_map(r->ctx, 8);
    reply_pair(r->ctx, "Size", s.size);
    reply_pair(r->ctx, "Number of buckets", s.buckets);
    reply_pair(r->ctx, "Number of filters", s.filters);
    reply_pair(r->ctx, "Number of items inserted", s.items);
    reply_pair(r->ctx, "Number of items deleted", s.deleted);
    reply_pair(r->ctx, "Bucket size", s.bucket_size);
    reply_pair(r->ctx, "Expansion rate", s.expansion);
    return reply_pair(r->ctx, "Max iterations", s.iterations);
}

/* ---- CF.DEBUG key ---------------------------------------------------------------------------- */

int cf_debug_command(request *r) {
    char text[256];
    const value *v = request_value(r, NOT_FOUND);
    if (!v) return REDIS_OK;
    const cf_shape s = cf_shape_of(v);
    snprintf(text, sizeof text,
             "bktsize:%llu buckets:%llu items:%llu deletes:%llu filters:%llu max_iterations:%llu "
             "expansion:%llu",
             (unsigned long long)s.bucket_size, (unsigned long long)s.buckets,
             (unsigned long long)s.items, (unsigned long long)s.deleted,
             (unsigned long long)s.filters, (unsigned long long)s.iterations,
             (unsigned long long)s.expansion);
    return reply_text(r->ctx, text);
}
