/* SPDX-License-Identifier: MIT */
/* TAMIS.HADD and TAMIS.HHAS: hashes that the client has made, eight bytes each, one behind the
 * other.
 *
 * A key as an argument of its own costs the server more to read than the filter costs to ask;
 * packed hashes cost eight bytes and no more. They are little-endian, as the server is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/alter.h"
#include "engines/redis/clock.h"
#include "engines/redis/commands.h"
#include "engines/redis/items.h"
#include "tamis_engine.h"
#include "tamis_parts.h"

enum { HASH_BYTES = 8 };

/* The hashes of an argument, aligned: where they lie, or copied to *memory; NULL when there is none
 * for that. Any thread. */
static const uint64_t *hashes_of(const redis_string *arg, void **memory) {
    const struct tamis_key packed = key_of(arg);
    *memory = NULL;
    if ((uintptr_t)packed.bytes % HASH_BYTES == 0) return packed.bytes;
    *memory = try_alloc(packed.len);
    return *memory ? memcpy(*memory, packed.bytes, packed.len) : NULL;
}

/* How many there are; 0, with the error replied, when the argument is none. */
static size_t count_hashes(redis_ctx *ctx, const redis_string *arg) {
    const size_t len = key_of(arg).len, n = len / HASH_BYTES;
    if (n && len % HASH_BYTES == 0 && n <= MAX_HASHES) return n;
    reply_error(ctx, "ERR packed hashes have 8 bytes each, 1 to %d of them, not %zu bytes",
                MAX_HASHES, len);
    return 0;
}

/* Filters of other systems would answer maybe to everything. */
static bool takes_hashes(redis_ctx *ctx, const value *v) {
    if (!v->hashes_itself) return true;
    reply_error(ctx, "ERR this filter hashes keys by itself: it takes no hashes");
    return false;
}

/* What both commands begin with. */
typedef struct packed {
    place place;
    tamis *filter;
    size_t n;               /* 0: the error has been replied */
    const uint64_t *hashes; /* NULL until they are read */
    void *memory;
} packed;

/* False, with the error replied, when there is no memory. */
static bool packed_read(redis_ctx *ctx, packed *p, const redis_string *arg) {
    if (!p->hashes) p->hashes = hashes_of(arg, &p->memory);
    if (!p->hashes) reply_error(ctx, "ERR Insufficient memory");
    return p->hashes;
}

/* Not every shard knows every hash: what another has would be answered maybe. False with the error
 * replied. */
static bool are_of_shard(redis_ctx *ctx, packed *p, const redis_string *arg) {
    enum { BLOCK = 1024 };
    uint32_t shard[BLOCK];
    struct tamis_shard_info info;
    if (!tamis_shard_get_info(p->filter, &info, sizeof info) || info.shards == 1) return true;
    if (!packed_read(ctx, p, arg)) return false;
    for (size_t at = 0; at < p->n; at += BLOCK) {
        const size_t m = p->n - at < BLOCK ? p->n - at : BLOCK;
        tamis_shards_of(p->filter, p->hashes + at, m, shard);
        for (size_t i = 0; i < m; i++) {
            if (shard[i] == info.shard) continue;
            reply_error(ctx,
                        "WRONGSHARD hash %016" PRIx64 " belongs to shard %u of %" PRIu64
                        ", and this is shard %" PRIu64,
                        p->hashes[at + i], shard[i], info.shards, info.shard);
            return false;
        }
    }
    return true;
}

static packed packed_open(redis_ctx *ctx, redis_string **argv, int mode) {
    packed p = {.place = place_open(ctx, argv[1], mode, ANY_FAMILY)};
    p.filter = place_filter(ctx, &p.place, argv[1]);
    if (p.filter && takes_hashes(ctx, p.place.value)) p.n = count_hashes(ctx, argv[2]);
    if (p.n && !are_of_shard(ctx, &p, argv[2])) p.n = 0;
    if (p.n) count_items(p.n);
    return p;
}

static void packed_close(packed *p) {
    redis.Free(p->memory);
    place_close(&p->place);
}

/* ---- TAMIS.HADD key packed ------------------------------------------------------------------- */

static void tell_added(redis_ctx *ctx, alteration *a) {
    redis.ReplyWithLongLong(ctx, (long long)a->number);
}

static void add_now(redis_ctx *ctx, const packed *p, redis_string *key) {
    alteration a = {.number = p->n};
    const tamis_status rc = tamis_add_hashes(p->filter, p->hashes, p->n);
    if (rc) {
        reply_refusal(ctx, rc);
        return;
    }
    redis.ReplicateVerbatim(ctx);
    redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tamis.add", key);
    tell_added(ctx, &a);
}

static tamis_status add_to_copy(tamis *copy, alteration *a, job *j) {
    void *memory;
    const uint64_t *hashes = hashes_of(a->argv[2], &memory);
    const tamis_status rc =
        hashes ? tamis_add_hashes(copy, hashes, (size_t)a->number) : TAMIS_NOMEM;
    if (rc) job_fail(j, rc);
    redis.Free(memory);
    return rc;
}

/* ---- Very many ------------------------------------------------------------------------------- */

/* They stay in the argument, which the job holds: 8 MiB take longer to copy than others should
 * wait. */

enum { VERY_MANY_HASHES = 1 << 16, HASHES_AT_ONCE = 1 << 9 };

typedef struct stream {
    size_t n, done;
    tamis_status rc;
} stream;

static const char *bytes_at(const job *j, size_t i) {
    return (const char *)key_of(j->held[0]).bytes + i * HASH_BYTES;
}

static void add_some(const job *j, value *v) {
    stream *s = j->task;
    uint64_t hashes[HASHES_AT_ONCE];
    const uint64_t room = clock_adds_left(v);
    const size_t left = s->n - s->done, max = left < HASHES_AT_ONCE ? left : HASHES_AT_ONCE;
    const size_t n = max < room ? max : (size_t)room;
    if (n == 0) {
        clock_turn_part(v);
        return;
    }
    memcpy(hashes, bytes_at(j, s->done), n * HASH_BYTES);
    s->rc = tamis_add_hashes(v->filter, hashes, n);
    if (!s->rc) s->done += n;
}

/* As with items: what a step has done is replicated with it. */
static bool step_stream(job *j, redis_ctx *ctx) {
    const moment m = moment_begin();
    stream *s = j->task;
    const size_t from = s->done;
    place p;
    if (!job_finds(ctx, j, &p)) {
        clock_lost_key(j->target);
        s->rc = TAMIS_NOT_FOUND;
        snprintf(j->why, sizeof j->why, "the key changed during the operation");
        return true;
    }
    do add_some(j, p.value);
    while (s->done < s->n && !s->rc && !moment_is_over(&m));
    if (s->rc) job_fail(j, s->rc);
    place_close(&p);
    if (s->done > from)
        redis.Replicate(ctx, "TAMIS.HADD", "sb", j->key, bytes_at(j, from),
                        (s->done - from) * HASH_BYTES);
    return s->done == s->n || s->rc;
}

static void end_stream(job *j, redis_ctx *ctx) {
    const stream *s = j->task;
    if (s->done) redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tamis.add", j->key);
    if (s->rc)
        reply_error(ctx, "ERR %s", j->why);
    else
        redis.ReplyWithLongLong(ctx, (long long)s->n);
}

static void free_stream(job *j) {
    redis.Free(j->task);
}

/* NULL, with the error replied, when there is no memory. */
static job *stream_job(redis_ctx *ctx, value *v, redis_string **argv, size_t n) {
    job *j = job_new(ctx, argv[1], v);
    if (!j) return NULL;
    stream *s = j->task = redis.Alloc(sizeof *s);
    *s = (stream){.n = n};
    job_hold(j, argv + 2, 1);
    j->clean = free_stream;
    return j;
}

static int add_in_steps(redis_ctx *ctx, value *v, redis_string **argv, size_t n) {
    job *j = stream_job(ctx, v, argv, n);
    if (!j) return REDIS_OK;
    j->step = step_stream, j->end = end_stream;
    return job_do(ctx, j, LARGE_BYTES);
}

/* ---- In place, or on a copy ------------------------------------------------------------------ */

/* A large filter that grows does it on the worker. */
static bool grows_long(const packed *p) {
    struct tamis_info info;
    const uint64_t room = tamis_remaining(p->filter);
    if (p->n > VERY_MANY_HASHES && room != UINT64_MAX) return true; /* all or none */
    if (room >= p->n) return false;
    tamis_get_info(p->filter, &info, sizeof info);
    return info.abilities & TAMIS_CAN_GROW && info.stored_bytes >= LARGE_BYTES;
}

int tamis_hadd_command(redis_ctx *ctx, redis_string **argv, int argc) {
    packed p = packed_open(ctx, argv, REDIS_READ | REDIS_WRITE);
    value *v = p.place.value;
    if (p.n) clock_keep(ctx, v, argv[1]);
    const bool is_job = p.n && grows_long(&p);
    const bool is_long = p.n > VERY_MANY_HASHES || (p.n && clock_adds_left(v) < p.n);
    const bool is_stream = p.n && !is_job && is_long && may_block(ctx);
    if (p.n && !is_job && !is_stream && packed_read(ctx, &p, argv[2])) add_now(ctx, &p, argv[1]);
    packed_close(&p);
    if (is_stream) return add_in_steps(ctx, v, argv, p.n);
    if (!is_job) return REDIS_OK;
    const alteration a = {
        .alter = add_to_copy, .reply = tell_added, .event = "tamis.add", .number = p.n};
    const uint64_t bytes = tamis_image_size(v->filter);
    const bool is_small = p.n <= VERY_MANY_HASHES || bytes >= LARGE_BYTES;
    return alter_copy(ctx, &a, v, NULL, 0, argv, argc, is_small ? bytes : LARGE_BYTES);
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

static void reply_bits(redis_ctx *ctx, const packed *p, bool is_empty) {
    enum { FEW = 1 << 14 };
    uint8_t few[FEW], *hit = p->n <= FEW ? few : try_alloc(p->n);
    if (!hit) {
        reply_error(ctx, "ERR Insufficient memory");
        return;
    }
    if (is_empty)
        memset(hit, 0, p->n);
    else
        tamis_has_hashes(p->filter, p->hashes, p->n, hit);
    pack_bits(hit, p->n);
    redis.ReplyWithStringBuffer(ctx, (const char *)hit, (p->n + 7) / 8);
    if (hit != few) redis.Free(hit);
}

/* Kinds that know sets and no keys would answer maybe to everything. */
static bool can_answer(redis_ctx *ctx, const tamis *filter) {
    struct tamis_info info;
    tamis_get_info(filter, &info, sizeof info);
    if (!(info.abilities & TAMIS_IS_SKETCH)) return true;
    reply_error(ctx, "ERR %s knows sets, not keys: it cannot be asked for one", info.kind);
    return false;
}

/* Very many are asked and answered by the worker, in a context that may be replied to without the
 * lock. */
static void ask_all(job *j) {
    const stream *s = j->task;
    packed p = {.filter = j->target->filter, .n = s->n};
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    if (packed_read(ctx, &p, j->held[0])) reply_bits(ctx, &p, false);
    redis.Free(p.memory);
    redis.FreeThreadSafeContext(ctx);
}

static int ask_elsewhere(redis_ctx *ctx, value *v, redis_string **argv, size_t n) {
    job *j = stream_job(ctx, v, argv, n);
    if (!j) return REDIS_OK;
    j->make = ask_all, j->end = job_only_tells;
    j->only_tells = true;
    return job_do(ctx, j, LARGE_BYTES);
}

int tamis_hhas_command(redis_ctx *ctx, redis_string **argv, int argc) {
    packed p = packed_open(ctx, argv, REDIS_READ);
    value *v = p.place.value;
    (void)argc;
    const bool can = p.n && can_answer(ctx, p.filter);
    const bool is_empty = can && !clock_answers(ctx, v, argv[1]);
    /* A filter that a job reads already can be held still by that one alone. */
    const bool is_elsewhere =
        can && !is_empty && p.n > VERY_MANY_HASHES && !v->job && may_block(ctx);
    if (can && !is_elsewhere && packed_read(ctx, &p, argv[2])) reply_bits(ctx, &p, is_empty);
    packed_close(&p);
    return is_elsewhere ? ask_elsewhere(ctx, v, argv, p.n) : REDIS_OK;
}
