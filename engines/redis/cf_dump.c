/* SPDX-License-Identifier: MIT */
/* CF.SCANDUMP and CF.LOADCHUNK: filters in chunks.
 *
 * Chunks have RedisBloom's rules: iterator 0 asks for the header, 1 + n for what follows n bytes
 * after it; what comes back with a chunk is the iterator of the next one, and also the one to load
 * it with.
 *
 *     a filter of RedisBloom    its header, then its sub-filters: its own chunks, only smaller
 *     a filter of ours          OPENING, the image's size (u64, little-endian) and the first
 *                               IMAGE_HEADER bytes of the image; then the rest of it */
#include <string.h>

#include "engines/redis/cf.h"
#include "engines/redis/chunk_dump.h"
#include "engines/redis/chunk_load.h"
#include "engines/redis/commands.h"
#include "engines/redis/little_endian.h"

enum { OPENING_BYTES = 8, PREFIX = OPENING_BYTES + 8 };
static const char opening[OPENING_BYTES] = {'t', 'a', 'm', 'i', 's', '-', 'c', 'f'};

/* ---- CF.SCANDUMP key iterator ---------------------------------------------------------------- */

static int reply_end(request *r) {
    redis.ReplyWithArray(r->ctx, 2);
    redis.ReplyWithLongLong(r->ctx, 0);
    return redis.ReplyWithNull(r->ctx);
}

static int dump_image(request *r, uint64_t iterator) {
    value_note_facts(r->value);
    const uint64_t total = tamis_image_size(r->value->filter), max = total - IMAGE_HEADER;
    chunk c = {.next = 1, .size = IMAGE_HEADER, .prefix_bytes = PREFIX};
    if (iterator > max) return reply_end(r);
    if (iterator) {
        const uint64_t size = lesser(max - (iterator - 1), ORIGIN_CHUNK);
        c = (chunk){
            .next = iterator + size, .at = IMAGE_HEADER + iterator - 1, .size = (size_t)size};
    }
    memcpy(c.prefix, opening, OPENING_BYTES);
    le_put(c.prefix + OPENING_BYTES, 8, total);
    return chunk_dump(r, &c);
}

/* A chunk never holds parts of two sub-filters. */
static int dump_origin(request *r, const cf_shape *s, uint64_t iterator) {
    uint64_t stored, cells = s->cells, end = CF_HEADER + cells;
    const uint8_t *payload = tamis_payload(r->value->filter, &stored);
    const uint64_t from = iterator ? CF_HEADER + iterator - 1 : 0;
    if (iterator > cf_cells(s)) return reply_end(r);
    for (; iterator && end <= from; end += cells) cells *= s->expansion;
    const uint64_t size = lesser(iterator ? end - from : CF_HEADER, ORIGIN_CHUNK);
    return reply_chunk(r, iterator ? iterator + size : 1, payload + from, (size_t)size);
}

int cf_scandump_command(request *r) {
    long long iterator;
    if (redis.StringToLongLong(r->argv[2], &iterator) || iterator < 0)
        return redis.ReplyWithError(r->ctx, "Invalid position");
    const value *v = request_value(r, NOT_FOUND);
    if (!v) return REDIS_OK;
    const cf_shape s = cf_shape_of(v);
    if (s.items == 0) return reply_end(r);
    return s.is_origin ? dump_origin(r, &s, (uint64_t)iterator) : dump_image(r, (uint64_t)iterator);
}

/* ---- CF.LOADCHUNK key iterator bytes --------------------------------------------------------- */

static bool is_opening(const struct tamis_key *bytes) {
    return bytes->len == PREFIX + IMAGE_HEADER && memcmp(bytes->bytes, opening, OPENING_BYTES) == 0;
}

/* The first chunk says how many bytes will come in all. NULL, or the error. */
static const char *open_coming(const struct tamis_key *bytes, coming *c) {
    const uint8_t *at = bytes->bytes;
    if (is_opening(bytes)) {
        c->form = FORM_IMAGE;
        c->total = le_get(at + OPENING_BYTES, 8);
    } else if (bytes->len == CF_HEADER) {
        const cf_shape s = cf_header_read(at);
        const uint64_t cells = cf_cells(&s);
        c->form = FORM_REDISCUCKOO;
        c->total = cells ? CF_HEADER + cells : 0;
    } else {
        return "Invalid header";
    }
    const bool is_legal = c->total > IMAGE_HEADER || (c->form != FORM_IMAGE && c->total);
    return is_legal && c->total <= bounds_filter_bytes() ? NULL : "Couldn't create filter!";
}

/* The same for what follows: where it belongs is known from what has come. */
static const char *place_chunk(const value *v, uint64_t iterator, size_t len, coming *c) {
    const char *why = "Couldn't load chunk!";
    if (!v->arrival || v->arrival->form == FORM_REDISBLOOM) return why;
    const uint64_t header = v->arrival->form == FORM_IMAGE ? IMAGE_HEADER : CF_HEADER;
    c->form = v->arrival->form;
    c->total = v->arrival->total;
    if (len == 0 || iterator - 1 < len || iterator - 1 > c->total - header) return why;
    c->offset = header + (iterator - 1 - len);
    return NULL;
}

static const char *read_chunk(const request *r, long long iterator, const struct tamis_key *bytes,
                              coming *c) {
    if (r->is_wrong) return WRONG_TYPE;
    if (iterator == 1)
        return r->value && r->value->filter ? "ERR item exists" : open_coming(bytes, c);
    if (!r->value) return NOT_FOUND;
    return place_chunk(r->value, (uint64_t)iterator, bytes->len, c);
}

int cf_loadchunk_command(request *r) {
    long long iterator;
    coming c = {.bytes = r->argv[3]};
    const struct tamis_key bytes = key_of(r->argv[3]);
    if (redis.StringToLongLong(r->argv[2], &iterator) || iterator == 0)
        return redis.ReplyWithError(r->ctx, "Invalid position");
    c.refusal = iterator == 1 ? "Couldn't create filter!" : "Couldn't load chunk!";
    const char *why = read_chunk(r, iterator, &bytes, &c);
    if (why) return redis.ReplyWithError(r->ctx, why);
    if (!is_opening(&bytes) || iterator != 1) return arrive(r, &c);
    c.bytes = redis.CreateString(r->ctx, (const char *)bytes.bytes + PREFIX, IMAGE_HEADER);
    const int rc = arrive(r, &c);
    redis.FreeString(r->ctx, c.bytes);
    return rc;
}
