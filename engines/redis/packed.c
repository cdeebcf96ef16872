/* TAMIS.HADD and TAMIS.HHAS: hashes that the client has made, eight bytes each, one behind the other.
 *
 * A key as an argument of its own costs the server more to read than the filter costs to ask; packed
 * hashes cost eight bytes and no more. They are little-endian, as the server is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/alter.h"
#include "engines/redis/clock.h"
#include "engines/redis/commands.h"

enum { HASH_BYTES = 8, MOST_HASHES = 1 << 20 };

/* The hashes of an argument, aligned: where they lie, or copied to *memory. NULL, with the error
 * replied, when it is none. */
static const uint64_t *take_hashes(redis_ctx *ctx, const redis_string *arg, size_t *n,
                                   void **memory) {
    const struct tamis_key packed = key_of(arg);
    *memory = NULL;
    *n = packed.len / HASH_BYTES;
    if (packed.len == 0 || packed.len % HASH_BYTES || *n > MOST_HASHES) {
        reply_error(ctx, "ERR packed hashes have 8 bytes each, 1 to %d of them, not %zu bytes",
                    MOST_HASHES, packed.len);
        return NULL;
    }
    if ((uintptr_t)packed.bytes % HASH_BYTES == 0) return packed.bytes;
    *memory = try_alloc(packed.len);
    if (!*memory) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    return memcpy(*memory, packed.bytes, packed.len);
}

/* Filters of other systems would answer maybe to everything. */
static bool takes_hashes(redis_ctx *ctx, const value *v) {
    if (!v->hashes_itself) return true;
    reply_error(ctx, "ERR this filter hashes keys by itself: it takes no hashes");
    return false;
}

/* Not every shard knows every hash: what another has would be answered maybe. False with the error
 * replied. */
static bool are_of_shard(redis_ctx *ctx, const tamis *filter, const uint64_t *hashes, size_t n) {
    enum { BLOCK = 1024 };
    uint32_t shard[BLOCK];
    struct tamis_shard_info info;
    if (!tamis_shard_info(filter, &info, sizeof info) || info.shards == 1) return true;
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t m = n - at < BLOCK ? n - at : BLOCK;
        tamis_shards_of(filter, hashes + at, m, shard);
        for (size_t i = 0; i < m; i++) {
            if (shard[i] == info.shard) continue;
            reply_error(ctx,
                        "WRONGSHARD hash %016" PRIx64 " belongs to shard %u of %" PRIu64
                        ", and this is shard %" PRIu64,
                        hashes[at + i], shard[i], info.shards, info.shard);
            return false;
        }
    }
    return true;
}

/* What both commands begin with. */
typedef struct packed {
    place place;
    tamis *filter;
    const uint64_t *hashes; /* NULL: the error has been replied */
    size_t n;
    void *memory;
} packed;

static packed packed_open(redis_ctx *ctx, redis_string **argv, int mode) {
    packed p = {.place = place_open(ctx, argv[1], mode, ANY_FAMILY)};
    p.filter = place_filter(ctx, &p.place, argv[1]);
    if (p.filter && takes_hashes(ctx, p.place.value))
        p.hashes = take_hashes(ctx, argv[2], &p.n, &p.memory);
    if (p.hashes && !are_of_shard(ctx, p.filter, p.hashes, p.n)) p.hashes = NULL;
    if (p.hashes) count_items(p.n);
    return p;
}

static void packed_close(packed *p) {
    redis.Free(p->memory);
    place_close(&p->place);
}

/* ---- TAMIS.HADD key packed ------------------------------------------------------------------------- */

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

/* The job owns the hashes. */
static tamis_status add_to_copy(tamis *copy, alteration *a, job *j) {
    (void)j;
    return tamis_add_hashes(copy, a->data, (size_t)a->number);
}

static void free_hashes(alteration *a) {
    redis.Free(a->data);
}

/* ---- Very many ----------------------------------------------------------------------------------------- */

enum { VERY_MANY_HASHES = 1 << 16, HASHES_AT_ONCE = 1 << 9 };

typedef struct stream {
    size_t n, done;
    tamis_status rc;
    uint64_t hashes[];
} stream;

/* As with items: what a step has done is replicated with it. */
static bool step_stream(job *j, redis_ctx *ctx) {
    const moment m = moment_begin();
    stream *s = j->task;
    const size_t from = s->done;
    place p;
    if (!job_finds(ctx, j, &p)) {
        s->rc = TAMIS_NOT_FOUND;
        snprintf(j->why, sizeof j->why, "the key was changed meanwhile");
        return true;
    }
    while (s->done < s->n && !s->rc && !(s->done > from && moment_is_over(&m))) {
        const size_t n = s->n - s->done < HASHES_AT_ONCE ? s->n - s->done : HASHES_AT_ONCE;
        s->rc = tamis_add_hashes(p.value->filter, s->hashes + s->done, n);
        if (s->rc) job_fail(j, s->rc);
        if (!s->rc) s->done += n;
    }
    place_close(&p);
    if (s->done > from)
        redis.Replicate(ctx, "TAMIS.HADD", "sb", j->key, (const char *)(s->hashes + from),
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

/* A job with hashes of its own; NULL, with the error replied, when there is no memory. */
static job *stream_job(redis_ctx *ctx, value *v, redis_string *key, const uint64_t *hashes,
                       size_t n) {
    job *j = job_new(ctx, key, v);
    stream *s = j ? try_alloc(sizeof *s + n * HASH_BYTES) : NULL;
    if (!s) {
        if (j) reply_error(ctx, "ERR Insufficient memory");
        if (j) job_drop(j);
        return NULL;
    }
    s->n = n, s->done = 0, s->rc = TAMIS_OK;
    memcpy(s->hashes, hashes, n * HASH_BYTES);
    j->task = s;
    j->clean = free_stream;
    return j;
}

static int add_in_steps(redis_ctx *ctx, value *v, redis_string *key, const uint64_t *hashes,
                        size_t n) {
    job *j = stream_job(ctx, v, key, hashes, n);
    if (!j) return REDIS_OK;
    j->step = step_stream, j->end = end_stream;
    return job_do(ctx, j, LARGE_BYTES);
}

/* ---- In place, or on a copy ------------------------------------------------------------------------------ */

/* A large filter that grows does it on the worker. */
static bool grows_long(const packed *p) {
    struct tamis_info info;
    const uint64_t room = tamis_room(p->filter);
    if (p->n > VERY_MANY_HASHES && room != UINT64_MAX) return true; /* all or none */
    if (room >= p->n) return false;
    tamis_facts(p->filter, &info, sizeof info);
    return info.abilities & TAMIS_CAN_GROW && info.stored_bytes >= LARGE_BYTES;
}

int tamis_hadd_command(redis_ctx *ctx, redis_string **argv, int argc) {
    packed p = packed_open(ctx, argv, REDIS_READ | REDIS_WRITE);
    value *v = p.place.value;
    if (p.hashes) clock_keep(ctx, v, argv[1]);
    const bool is_job = p.hashes && grows_long(&p);
    if (p.hashes && !is_job && p.n > VERY_MANY_HASHES && may_block(ctx)) {
        place_close(&p.place);
        add_in_steps(ctx, v, argv[1], p.hashes, p.n);
        packed_close(&p);
        return REDIS_OK;
    }
    alteration a = {.alter = add_to_copy,
                    .reply = tell_added,
                    .free = free_hashes,
                    .event = "tamis.add",
                    .number = p.n};
    if (is_job) a.data = memcpy(redis.Alloc(p.n * HASH_BYTES), p.hashes, p.n * HASH_BYTES);
    if (p.hashes && !is_job) add_now(ctx, &p, argv[1]);
    packed_close(&p);
    return is_job ? alter_copy(ctx, &a, v, NULL, 0, argv, argc, tamis_stored_size(v->filter))
                  : REDIS_OK;
}

/* ---- TAMIS.HHAS key packed ------------------------------------------------------------------------- */

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
    tamis_facts(filter, &info, sizeof info);
    if (!(info.abilities & TAMIS_IS_SKETCH)) return true;
    reply_error(ctx, "ERR %s knows sets, not keys: it cannot be asked for one", info.kind);
    return false;
}

/* Very many are asked and answered by the worker, in a context that may be replied to without the lock. */
static void ask_all(job *j) {
    const stream *s = j->task;
    const packed p = {.filter = j->target->filter, .hashes = s->hashes, .n = s->n};
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    reply_bits(ctx, &p, false);
    redis.FreeThreadSafeContext(ctx);
}

static void end_asking(job *j, redis_ctx *ctx) {
    (void)j, (void)ctx;
}

static int ask_elsewhere(redis_ctx *ctx, value *v, redis_string *key, const uint64_t *hashes,
                         size_t n) {
    job *j = stream_job(ctx, v, key, hashes, n);
    if (!j) return REDIS_OK;
    j->make = ask_all, j->end = end_asking;
    j->only_tells = true;
    return job_do(ctx, j, LARGE_BYTES);
}

int tamis_hhas_command(redis_ctx *ctx, redis_string **argv, int argc) {
    packed p = packed_open(ctx, argv, REDIS_READ);
    value *v = p.place.value;
    (void)argc;
    const bool can = p.hashes && can_answer(ctx, p.filter);
    const bool is_empty = can && !clock_answers(ctx, v, argv[1]);
    /* A filter that a job reads already can be held still by that one alone. */
    const bool is_elsewhere =
        can && !is_empty && p.n > VERY_MANY_HASHES && !v->job && may_block(ctx);
    if (can && !is_elsewhere) reply_bits(ctx, &p, is_empty);
    place_close(&p.place);
    if (is_elsewhere) ask_elsewhere(ctx, v, argv[1], p.hashes, p.n);
    packed_close(&p);
    return REDIS_OK;
}
