/* SPDX-License-Identifier: MIT */
/* TAMIS.HADD and TAMIS.HHAS: hashes that the client has computed, eight bytes each,
 * contiguous.
 *
 * A key as an argument of its own costs the server more to read than the filter costs to ask;
 * packed hashes cost eight bytes and no more. They are little-endian, as the server is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/alter.h"
#include "engines/redis/clock.h"
#include "engines/redis/commands.h"
#include "engines/redis/many.h"
#include "tamis_engine.h"
#include "tamis_parts.h"

enum { HASH_BYTES = 8 };

/* The hashes of an argument, aligned: in place, or copied to *memory; NULL when there is none
 * for that. Any thread. */
static const uint64_t *hashes_of(const redis_string *arg, void **memory) {
    const struct tamis_key packed = key_of(arg);
    *memory = NULL;
    if ((uintptr_t)packed.bytes % HASH_BYTES == 0) return packed.bytes;
    *memory = try_alloc(packed.len);
    return *memory ? memcpy(*memory, packed.bytes, packed.len) : NULL;
}

/* How many there are; 0, with the error replied, when the argument is none. */
static size_t count_hashes(request *r) {
    const size_t len = key_of(r->argv[2]).len, n = len / HASH_BYTES;
    if (n && len % HASH_BYTES == 0 && n <= MAX_HASHES) return n;
    reply_error(r->ctx, "ERR packed hashes have 8 bytes each, 1 to %d of them, not %zu bytes",
                MAX_HASHES, len);
    return 0;
}

/* Filters of other systems would answer maybe to everything. */
static bool takes_hashes(request *r) {
    if (!r->value->hashes_itself) return true;
    reply_error(r->ctx, "ERR this filter hashes keys by itself: it takes no hashes");
    return false;
}

/* What both commands begin with. */
typedef struct packed {
    size_t n;               /* 0: the error has been replied */
    const uint64_t *hashes; /* NULL until they are read */
    void *memory;
} packed;

/* False, with the error replied, when there is no memory. */
static bool packed_read(request *r, packed *p) {
    if (!p->hashes) p->hashes = hashes_of(r->argv[2], &p->memory);
    if (!p->hashes) reply_no_memory(r->ctx);
    return p->hashes;
}

/* Not every shard knows every hash: what another has would be answered maybe. False with the error
 * replied. */
static bool are_of_shard(request *r, packed *p) {
    enum { BLOCK = 1024 };
    uint32_t shard[BLOCK];
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT;
    const tamis *filter = r->value->filter;
    if (!tamis_shard_get_info(filter, &info) || info.shards == 1) return true;
    if (!packed_read(r, p)) return false;
    for (size_t at = 0; at < p->n; at += BLOCK) {
        const size_t m = (size_t)lesser(p->n - at, BLOCK);
        tamis_shards_of(filter, p->hashes + at, m, shard);
        for (size_t i = 0; i < m; i++) {
            if (shard[i] == info.shard) continue;
            reply_error(r->ctx,
                        "WRONGSHARD hash %016" PRIx64 " belongs to shard %u of %" PRIu64
                        ", and this is shard %" PRIu64,
                        p->hashes[at + i], shard[i], info.shards, info.shard);
            return false;
        }
    }
    return true;
}

static packed packed_open(request *r) {
    packed p = {.n = 0};
    if (request_value(r, NULL) && takes_hashes(r)) p.n = count_hashes(r);
    if (p.n && !are_of_shard(r, &p)) p.n = 0;
    if (p.n) count_items(r, p.n);
    return p;
}

/* ---- TAMIS.HADD key packed ------------------------------------------------------------------- */

static int add_now(request *r, const packed *p) {
    const tamis_status rc = tamis_add_hashes(r->value->filter, p->hashes, p->n);
    if (rc) return reply_refusal(r->ctx, rc);
    request_changed(r, "tamis.add");
    return redis.ReplyWithLongLong(r->ctx, (long long)p->n);
}

static tamis_status add_to_copy(tamis *copy, alteration *a, job *j) {
    void *memory;
    const uint64_t *hashes = hashes_of(j->request->argv[2], &memory);
    const tamis_status rc =
        hashes ? tamis_add_hashes(copy, hashes, (size_t)a->number) : TAMIS_NOMEM;
    if (rc) job_fail(j, rc);
    redis.Free(memory);
    return rc;
}

static void tell_added(request *r, alteration *a) {
    redis.ReplyWithLongLong(r->ctx, (long long)a->number);
}

/* ---- Very many: they stay in the argument, because 8 MiB take long to copy ------------------- */

enum { VERY_MANY_HASHES = 1 << 16, HASHES_AT_ONCE = 1 << 9 };

static const char *bytes_at(const stream *s, size_t i) {
    return (const char *)key_of(s->item[0]).bytes + i * HASH_BYTES;
}

static bool add_some(stream *s, value *v) {
    uint64_t hashes[HASHES_AT_ONCE];
    const size_t n = (size_t)lesser(clock_make_room(v), lesser(s->count - s->done, HASHES_AT_ONCE));
    if (n == 0) return true;
    memcpy(hashes, bytes_at(s, s->done), n * HASH_BYTES);
    const tamis_status rc = tamis_add_hashes(v->filter, hashes, n);
    if (rc) snprintf(s->why, sizeof s->why, "%s", refusal(rc));
    if (!rc) s->changed = s->done += n;
    return !rc;
}

static void replicate_some(request *r, const stream *s, size_t from) {
    redis.Replicate(r->ctx, "TAMIS.HADD", "sb", r->key, bytes_at(s, from),
                    (s->done - from) * HASH_BYTES);
}

static void reply_stream(request *r, const stream *s) {
    redis.ReplyWithLongLong(r->ctx, (long long)s->count);
}

static int add_in_steps(request *r, size_t n) {
    const stream s = {.some = add_some,
                      .replicate = replicate_some,
                      .reply = reply_stream,
                      .free = redis.Free,
                      .event = "tamis.add",
                      .count = n,
                      .is_packed = true};
    return many_change(r, &s);
}

/* ---- In place, or on a copy ------------------------------------------------------------------ */

/* A large filter that grows does it on the worker. */
static bool grows_long(const tamis *filter, size_t n) {
    struct tamis_info info = TAMIS_INFO_INIT;
    const uint64_t room = tamis_remaining(filter);
    if (n > VERY_MANY_HASHES && room != UINT64_MAX) return true; /* all or none */
    if (room >= n) return false;
    tamis_get_info(filter, &info);
    return info.abilities & TAMIS_CAN_GROW && info.stored_bytes >= LARGE_BYTES;
}

static int add_on_copy(request *r, size_t n) {
    const alteration a = {
        .alter = add_to_copy, .reply = tell_added, .event = "tamis.add", .number = n};
    const uint64_t bytes = tamis_image_size(r->value->filter);
    const bool is_small = n <= VERY_MANY_HASHES || bytes >= LARGE_BYTES;
    return alter_copy(r, &a, NULL, 0, is_small ? bytes : LARGE_BYTES);
}

static int add(request *r, packed *p) {
    const value *v = r->value;
    clock_keep(r);
    if (grows_long(v->filter, p->n)) return add_on_copy(r, p->n);
    const bool is_long = p->n > VERY_MANY_HASHES || clock_adds_left(v) < p->n;
    if (is_long && may_wait(r)) return add_in_steps(r, p->n);
    return packed_read(r, p) ? add_now(r, p) : REDIS_OK;
}

int tamis_hadd_command(request *r) {
    packed p = packed_open(r);
    if (p.n) add(r, &p);
    redis.Free(p.memory);
    return REDIS_OK;
}

/* ---- TAMIS.HHAS key packed ------------------------------------------------------------------- */

/* Eight answers in a byte, the first in its lowest bit. */
static void pack_bits(uint8_t *hit, size_t n) {
    for (size_t at = 0; at < n; at += 8) {
        uint8_t byte = 0;
        for (size_t i = at; i < n && i < at + 8; i++) byte |= (uint8_t)(hit[i] << (i - at));
        hit[at / 8] = byte;
    }
}

static void reply_bits(request *r, const packed *p, bool is_empty) {
    enum { FEW = 1 << 14 };
    uint8_t few[FEW], *hit = p->n <= FEW ? few : reply_alloc(r->ctx, p->n);
    if (!hit) return;
    if (is_empty)
        memset(hit, 0, p->n);
    else
        tamis_has_hashes(r->value->filter, p->hashes, p->n, hit);
    pack_bits(hit, p->n);
    redis.ReplyWithStringBuffer(r->ctx, (const char *)hit, (p->n + 7) / 8);
    if (hit != few) redis.Free(hit);
}

/* Very many are asked and answered by the worker. */
static void ask_all(request *r, void *task) {
    packed p = {.n = *(const size_t *)task};
    if (packed_read(r, &p)) reply_bits(r, &p, false);
    redis.Free(p.memory);
}

static int ask_elsewhere(request *r, size_t n) {
    job *j = job_new(r, r->value, sizeof n);
    if (!j) return REDIS_OK;
    *(size_t *)j->task = n;
    return job_ask(j, ask_all);
}

static void ask(request *r, packed *p) {
    const bool is_empty = !clock_answers(r);
    /* A filter that a job reads already can be held still by that one alone. */
    if (!is_empty && p->n > VERY_MANY_HASHES && !r->value->job && may_wait(r))
        ask_elsewhere(r, p->n);
    else if (packed_read(r, p))
        reply_bits(r, p, is_empty);
}

int tamis_hhas_command(request *r) {
    packed p = packed_open(r);
    if (p.n && many_can_answer(r, 0)) ask(r, &p);
    redis.Free(p.memory);
    return REDIS_OK;
}
