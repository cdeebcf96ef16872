/* SPDX-License-Identifier: MIT */
/* BF.INFO, BF.CARD and BF.DEBUG: filters in the words of RedisBloom. */
#include <stdio.h>
#include <stdlib.h>

#include "engines/redis/bf.h"
#include "engines/redis/commands.h"
#include "engines/redis/origin_bloom.h"

/* ---- What a filter is ------------------------------------------------------------------------ */

static bf_shape shape_of_origin(const uint8_t *payload) {
    const bloom_header h = bloom_header_at(payload);
    const bloom_link first = bloom_link_at(payload, 0);
    bf_shape s = {.is_origin = true,
                  .is_fixed = h.options & BLOOM_DOES_NOT_SCALE,
                  .first_capacity = first.capacity,
                  .filters = h.links,
                  .items = h.items,
                  .expansion = h.expansion,
                  .rate = first.error};
    if (!s.is_fixed) s.rate *= 2; /* the first link has half of it */
    for (uint64_t i = 0; i < h.links; i++) s.capacity += bloom_link_at(payload, i).capacity;
    return s;
}

bf_shape bf_shape_of(const value *v) {
    const uint8_t *payload = bloom_payload(v->filter);
    struct tamis_info info = TAMIS_INFO_INIT;
    if (payload) return shape_of_origin(payload);
    tamis_get_info(v->filter, &info);
    const uint64_t first = filter_word(v->filter, "first", info.capacity);
    const uint64_t stages = filter_word(v->filter, "stages", 1);
    return (bf_shape){.is_fixed = v->facts.expansion == 0,
                      .capacity = (first << stages) - first, /* each is twice the one before */
                      .first_capacity = first,
                      .filters = stages,
                      .items = info.items,
                      .expansion = v->facts.expansion,
                      .rate = info.fpr_asked};
}

/* What RedisBloom counts: its own structures and the bits. */
static uint64_t size_of(const value *v) {
    enum { CHAIN = 32, LINK = 64 };
    const uint8_t *payload = bloom_payload(v->filter);
    if (!payload) return value_bytes(v);
    const bloom_header h = bloom_header_at(payload);
    uint64_t size = CHAIN;
    for (uint64_t i = 0; i < h.links; i++) size += LINK + bloom_link_at(payload, i).bytes;
    return size;
}

/* ---- BF.INFO key [selector] ------------------------------------------------------------------ */

/* Ours do not tighten by a ratio; what was asked for is told. RedisBloom's halve. */
static double tightening_of(const value *v) {
    const char *text = tamis_note(v->filter, "redis.tightening");
    return text ? strtod(text, NULL) : 0.5;
}

static uint64_t max_capacity(const bf_shape *s) {
    const bf_scaling scaling = {s->is_origin, s->first_capacity, s->rate, s->expansion};
    if (s->is_fixed) return s->capacity;
    return bf_scaled_capacity(&scaling, (uint64_t)settings.max_filter_bytes);
}

/* The first five are RedisBloom's, the others Valkey's, which are told when they are asked for. */
enum { CAPACITY, SIZE, FILTERS, ITEMS, EXPANSION, ERROR, TIGHTENING, MAX, FIELDS };
enum { FIELDS_TOLD = 5 };
static const struct {
    const char *selector, *name;
} fields[FIELDS] = {
    {"CAPACITY", "Capacity"},           {"SIZE", "Size"},
    {"FILTERS", "Number of filters"},   {"ITEMS", "Number of items inserted"},
    {"EXPANSION", "Expansion rate"},    {"ERROR", "Error rate"},
    {"TIGHTENING", "Tightening ratio"}, {"MAXSCALEDCAPACITY", "Max scaled capacity"},
};

/* What does not scale has neither of two. */
static int reply_field(redis_ctx *ctx, const value *v, int i) {
    const bf_shape s = bf_shape_of(v);
    if (s.is_fixed && (i == EXPANSION || i == TIGHTENING)) return redis.ReplyWithNull(ctx);
    switch (i) {
    case CAPACITY: return reply_number(ctx, s.capacity);
    case SIZE: return reply_number(ctx, size_of(v));
    case FILTERS: return reply_number(ctx, s.filters);
    case ITEMS: return reply_number(ctx, s.items);
    case EXPANSION: return reply_number(ctx, s.expansion);
    case ERROR: return redis.ReplyWithDouble(ctx, s.rate);
    case TIGHTENING: return redis.ReplyWithDouble(ctx, tightening_of(v));
    default: return reply_number(ctx, max_capacity(&s));
    }
}

static int reply_one(redis_ctx *ctx, const value *v, const redis_string *selector) {
    int i = 0;
    while (i < FIELDS && !is_word(selector, fields[i].selector)) i++;
    if (i == FIELDS) return redis.ReplyWithError(ctx, "Invalid information value");
    if (!redis_is_valkey && redis.GetContextFlags(ctx) & REDIS_IS_RESP3) {
        reply_map(ctx, 1);
        redis.ReplyWithSimpleString(ctx, fields[i].name);
    } else if (!redis_is_valkey) {
        redis.ReplyWithArray(ctx, 1);
    }
    return reply_field(ctx, v, i);
}

static int reply_all(redis_ctx *ctx, const value *v) {
    reply_map(ctx, FIELDS_TOLD);
    for (int i = 0; i < FIELDS_TOLD; i++) {
        redis.ReplyWithSimpleString(ctx, fields[i].name);
        reply_field(ctx, v, i);
    }
    return REDIS_OK;
}

int bf_info_command(request *r) {
    const value *v = request_value(r, NOT_FOUND);
    if (!v) return REDIS_OK;
    return r->argc > 2 ? reply_one(r->ctx, v, r->argv[2]) : reply_all(r->ctx, v);
}

/* ---- BF.CARD key ----------------------------------------------------------------------------- */

int bf_card_command(request *r) {
    if (!r->value && !r->is_wrong) return redis.ReplyWithLongLong(r->ctx, 0);
    const value *v = request_value(r, NULL);
    return v ? redis.ReplyWithLongLong(r->ctx, (long long)bf_shape_of(v).items) : REDIS_OK;
}

/* ---- BF.DEBUG key ---------------------------------------------------------------------------- */

static void reply_link(redis_ctx *ctx, const bloom_link *l) {
    char line[256];
    snprintf(line, sizeof line,
             "bytes:%llu bits:%llu hashes:%lu hashwidth:64 capacity:%llu size:%llu ratio:%g",
             (unsigned long long)l->bytes, (unsigned long long)l->bits, (unsigned long)l->hashes,
             (unsigned long long)l->capacity, (unsigned long long)l->items, l->error);
    reply_text(ctx, line);
}

/* All of it as one link. */
static bloom_link link_of(const value *v, const bf_shape *s) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(v->filter, &info);
    return (bloom_link){.bytes = info.payload_bytes,
                        .bits = 8 * info.payload_bytes,
                        .hashes = (uint32_t)info.probes,
                        .capacity = s->capacity,
                        .items = s->items,
                        .error = s->rate};
}

static void reply_links(redis_ctx *ctx, const value *v) {
    const bf_shape s = bf_shape_of(v);
    const uint8_t *payload = bloom_payload(v->filter);
    const uint64_t lines = payload ? s.filters : 1;
    char size[32];
    snprintf(size, sizeof size, "size:%llu", (unsigned long long)s.items);
    redis.ReplyWithArray(ctx, (long)(1 + lines));
    reply_text(ctx, size);
    for (uint64_t i = 0; i < lines; i++) {
        const bloom_link l = payload ? bloom_link_at(payload, i) : link_of(v, &s);
        reply_link(ctx, &l);
    }
}

int bf_debug_command(request *r) {
    const value *v = request_value(r, NOT_FOUND);
    if (v) reply_links(r->ctx, v);
    return REDIS_OK;
}
