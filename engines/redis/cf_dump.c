/* SPDX-License-Identifier: MIT */
/* CF.SCANDUMP, CF.LOADCHUNK, CF.COMPACT and CF.DEBUG: filters as a whole.
 *
 * Chunks have RedisBloom's rules: iterator 0 asks for the header, 1 + n for what follows n bytes
 * behind it; what comes back with a chunk is the iterator of the next one, and also the one to load
 * it with.
 *
 *     a filter of RedisBloom    its header, then its sub-filters: its own chunks, only smaller
 *     a filter of ours          OPENING, the image's size (u64, little-endian) and the first
 *                               IMAGE_HEADER bytes of the image; then the rest of it */
#include <stdio.h>
#include <string.h>

#include "engines/redis/cf.h"
#include "engines/redis/chunk_dump.h"
#include "engines/redis/chunk_load.h"
#include "engines/redis/commands.h"
#include "tamis_formats.h"

enum { OPENING_BYTES = 8, PREFIX = OPENING_BYTES + 8 };
static const char opening[OPENING_BYTES] = {'t', 'a', 'm', 'i', 's', '-', 'c', 'f'};

/* ---- CF.SCANDUMP key iterator ---------------------------------------------------------------- */

static int reply_end(request *r) {
    redis.ReplyWithArray(r->ctx, 2);
    redis.ReplyWithLongLong(r->ctx, 0);
    return redis.ReplyWithNull(r->ctx);
}

static void write_number(uint8_t bytes[8], uint64_t x) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(x >> 8 * i);
}

static uint64_t read_number(const uint8_t bytes[8]) {
    uint64_t x = 0;
    for (int i = 8; i-- > 0;) x = x << 8 | bytes[i];
    return x;
}

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
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
    write_number(c.prefix + OPENING_BYTES, total);
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
    const value *v = request_value(r, CF_NOT_FOUND);
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
        c->total = read_number(at + OPENING_BYTES);
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
    if (!r->value) return CF_NOT_FOUND;
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

/* ---- CF.COMPACT key -------------------------------------------------------------------------- */

/* Sub-filters of RedisBloom, in a copy of its bytes. */
typedef struct level {
    uint8_t *cells;
    uint64_t buckets;
} level;

static uint8_t *free_cell(const level *to, uint64_t bucket_size, uint64_t hash) {
    return memchr(to->cells + hash % to->buckets * bucket_size, 0, (size_t)bucket_size);
}

/* Into the oldest sub-filter with a free cell in one of the two buckets. A bucket of a larger one
 * says which it is in a smaller one. */
static bool move_down(uint8_t *cells, const cf_shape *s, uint64_t below, uint64_t bucket,
                      uint8_t *cell) {
    const uint64_t other = bucket ^ *cell * (uint64_t)0x5bd1e995;
    level to = {cells, s->buckets};
    for (uint64_t i = 0; i < below; i++) {
        uint8_t *found = free_cell(&to, s->bucket_size, bucket);
        if (!found) found = free_cell(&to, s->bucket_size, other);
        if (found) {
            *found = *cell;
            *cell = 0;
            return true;
        }
        to.cells += to.buckets * s->bucket_size;
        to.buckets *= s->expansion;
    }
    return false;
}

static bool empty_level(uint8_t *cells, const cf_shape *s, uint64_t i, const level *from) {
    bool is_empty = true;
    for (uint64_t c = 0; c < from->buckets * s->bucket_size; c++)
        if (from->cells[c] && !move_down(cells, s, i, c / s->bucket_size, &from->cells[c]))
            is_empty = false;
    return is_empty;
}

/* From the newest sub-filter to the oldest; those that become empty at the end go. */
static void compact_cells(uint8_t *cells, cf_shape *s) {
    level from = {cells, s->buckets};
    for (uint64_t i = 1; i < s->filters; i++) {
        from.cells += from.buckets * s->bucket_size;
        from.buckets *= s->expansion;
    }
    for (uint64_t i = s->filters; i-- > 1;) {
        if (empty_level(cells, s, i, &from) && i == s->filters - 1) s->filters--;
        from.buckets /= s->expansion;
        from.cells -= from.buckets * s->bucket_size;
    }
    s->deleted = 0;
}

/* No result: nothing changed. */
static tamis_status compact_origin(const value *v, tamis **result) {
    uint64_t stored;
    cf_shape s = cf_shape_of(v);
    const uint8_t *payload = tamis_payload(v->filter, &stored);
    const size_t size = CF_HEADER + (size_t)cf_cells(&s);
    const struct tamis_options options = value_options(NULL);
    uint8_t *bytes = try_alloc(size);
    if (!bytes) return TAMIS_NOMEM;
    memcpy(bytes, payload, size);
    compact_cells(bytes + CF_HEADER, &s);
    cf_header_write(&s, bytes);
    const tamis_status rc = memcmp(bytes, payload, size) == 0
                                ? TAMIS_OK
                                : tamis_import_with(result, "rediscuckoo", bytes,
                                                    CF_HEADER + (size_t)cf_cells(&s), &options);
    redis.Free(bytes);
    return rc;
}

/* What was enlarged, and has become emptier since, takes its steps back. */
static tamis_status compact_own(const value *v, tamis **result, facts *f) {
    const tamis_status rc = tamis_copy(result, v->filter);
    while (!rc && cf_shrink(*result, f)) continue;
    return rc;
}

static void compact(job *j) {
    facts *f = j->task;
    const value *v = j->target;
    tamis_status rc = TAMIS_OK;
    f->deleted = 0;
    if (cf_shape_of(v).is_origin)
        rc = compact_origin(v, &j->result);
    else if (cf_may_shrink(v))
        rc = compact_own(v, &j->result, f);
    if (rc) job_fail(j, rc);
}

static void put_compacted(job *j) {
    const facts *f = j->task;
    value *v = j->target;
    if (!j->result && f->deleted == v->facts.deleted) return;
    if (j->result) job_replace(j);
    v->facts = *f;
    redis.Replicate(j->request->ctx, "CF.COMPACT", "s", j->request->key);
    request_notify(j->request, "cf.compact");
}

static void end_compact(job *j) {
    if (j->rc) {
        reply_no_memory(j->request->ctx);
    } else if (job_lands(j)) {
        put_compacted(j);
        reply_ok(j->request->ctx);
    }
}

int cf_compact_command(request *r) {
    value *v = r->value;
    if (!v) return redis.ReplyWithError(r->ctx, "Cuckoo filter was not found");
    if (request_is_coming(r)) return REDIS_OK;
    value_note_facts(v);
    job *j = job_new(r, v, sizeof(facts));
    if (!j) return REDIS_OK;
    *(facts *)j->task = v->facts;
    j->make = compact, j->end = end_compact;
    return job_do(j, tamis_image_size(v->filter));
}

/* ---- CF.DEBUG key ---------------------------------------------------------------------------- */

int cf_debug_command(request *r) {
    char text[256];
    const value *v = request_value(r, CF_NOT_FOUND);
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
