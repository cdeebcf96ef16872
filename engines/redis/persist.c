/* SPDX-License-Identifier: MIT */
/* Values in the server's files, and in its memory.
 *
 * RDB (and with it DUMP, MIGRATE and full syncs): the size of the image, then the image in strings
 * of at most CHUNK bytes; then the same for a filter that is still coming in chunks. AOF:
 * TAMIS.LOAD for each chunk. What is read passes the gate of the library; what it announces is
 * never allocated before it is there. */
#include "engines/redis/persist.h"

#include <string.h>

#include "engines/redis/bounds.h"
#include "engines/redis/server_secret.h"
#include "engines/redis/work.h"
#include "tamis_engine.h"
#include "tamis_formats.h"

enum { CHUNK = 1 << 20 };

/* ---- Pieces of an image ---------------------------------------------------------------------- */

/* The server calls these from one thread, and saving must not fail for want of memory. */
static void each_piece(const tamis *filter, piece_taker *take, void *ctx) {
    static uint8_t piece[CHUNK];
    const uint64_t total = tamis_image_size(filter);
    for (uint64_t at = 0; at < total; at += CHUNK) {
        const size_t n = (size_t)lesser(total - at, CHUNK);
        tamis_serialize_at(filter, at, piece, n);
        take(ctx, at, piece, n);
    }
}

/* ---- RDB ------------------------------------------------------------------------------------- */

static void save_piece(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size) {
    (void)offset;
    redis.SaveStringBuffer(ctx, (const char *)bytes, size);
}

static void save(redis_io *io, void *object) {
    value *v = object;
    const arrival *a = v->arrival;
    value_note_facts(v);
    redis.SaveUnsigned(io, v->filter ? tamis_image_size(v->filter) : 0);
    if (v->filter) each_piece(v->filter, save_piece, io);
    redis.SaveUnsigned(io, a ? a->have : 0);
    if (!a) return;
    redis.SaveUnsigned(io, a->total);
    redis.SaveUnsigned(io, a->form);
    arrival_each(a, save_piece, io);
}

/* Reads strings until `have` bytes are there, into an arrival of `total` bytes. */
static bool load_pieces(redis_io *io, value *v, chunk_form form, uint64_t have, uint64_t total) {
    uint64_t at = 0;
    while (at < have) {
        size_t size;
        char *piece = redis.LoadStringBuffer(io, &size);
        if (!piece) return false;
        const char *why = size == 0 || size > have - at
                              ? "ERR a piece of it has the wrong size"
                              : arrival_take(v, form, at, total, piece, size);
        redis.Free(piece);
        if (why) {
            redis.LogIOError(io, "warning", "filter refused: %s", why + strlen("ERR "));
            return false;
        }
        at += size;
    }
    return true;
}

static bool load_filter(redis_io *io, value *v, uint64_t size) {
    tamis *filter;
    if (!load_pieces(io, v, FORM_IMAGE, size, size)) return false;
    const tamis_status rc = arrival_finish(v->arrival, true, &filter);
    if (rc) {
        redis.LogIOError(io, "warning", "filter refused: %s",
                         rc == TAMIS_NOMEM ? tamis_status_text(rc) : tamis_why());
        return false;
    }
    arrival_free(v->arrival);
    v->arrival = NULL;
    value_replace(v, filter);
    const facts f = facts_of(filter);
    value_set_facts(v, &f);
    return true;
}

/* All of it may be there: the gate was at work when it was saved. Its last chunk comes again. */
static bool load_arrival(redis_io *io, value *v) {
    const uint64_t have = redis.LoadUnsigned(io);
    if (redis.IsIOError(io)) return false;
    if (have == 0) return v->filter != NULL;
    const uint64_t total = redis.LoadUnsigned(io), form = redis.LoadUnsigned(io);
    if (redis.IsIOError(io) || form > FORM_REDISCUCKOO) return false;
    return load_pieces(io, v, (chunk_form)form, have, total);
}

static void *read_value(redis_io *io, int encoding) {
    if (encoding != PERSIST_ENCODING) {
        redis.LogIOError(io, "warning", "encoding %d needs a newer module", encoding);
        return NULL;
    }
    value *v = value_new(NULL);
    if (!v) return NULL;
    const uint64_t size = redis.LoadUnsigned(io);
    bool is_good = !redis.IsIOError(io);
    if (is_good && size) is_good = load_filter(io, v, size);
    if (is_good) is_good = load_arrival(io, v);
    if (is_good) return v;
    value_release(v);
    return NULL;
}

static void *load(redis_io *io, int encoding) {
    return persist_load(io, encoding, read_value);
}

void *persist_load(redis_io *io, int encoding, void *(*read)(redis_io *, int)) {
    const bounds before = bounds_enter_callback();
    void *v = read(io, encoding);
    bounds_leave(before);
    return v;
}

value *persist_accept(redis_io *io, tamis_status rc, tamis *filter) {
    value *v = rc ? NULL : value_new(filter);
    if (rc) redis.LogIOError(io, "warning", "filter refused: %s", tamis_why());
    if (!rc && !v) tamis_free(filter);
    return v;
}

value *persist_import(redis_io *io, const char *format, const void *bytes, uint64_t size) {
    const struct tamis_options options = value_options(NULL);
    tamis *filter = NULL;
    const tamis_status rc = tamis_import_with(&filter, format, bytes, (size_t)size, &options);
    return persist_accept(io, rc, filter);
}

/* ---- AOF ------------------------------------------------------------------------------------- */

typedef struct rewriting {
    redis_io *io;
    redis_string *key;
    uint64_t total;
    chunk_form form;
} rewriting;

static void rewrite_piece(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size) {
    const rewriting *r = ctx;
    redis.EmitAOF(r->io, "TAMIS.LOAD", "sllbcc", r->key, (long long)offset, (long long)r->total,
                  (const char *)bytes, size, "FORM", form_names[r->form]);
}

static void rewrite(redis_io *io, redis_string *key, void *object) {
    value *v = object;
    rewriting r = {.io = io, .key = key, .form = FORM_IMAGE};
    value_note_facts(v);
    secret_rewrite(io);
    if (v->filter) {
        r.total = tamis_image_size(v->filter);
        each_piece(v->filter, rewrite_piece, &r);
    }
    if (!v->arrival) return;
    r.total = v->arrival->total;
    r.form = v->arrival->form;
    arrival_each(v->arrival, rewrite_piece, &r);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void digest_piece(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size) {
    (void)offset;
    redis.DigestAddStringBuffer(ctx, (const char *)bytes, size);
}

static void digest(redis_digest *d, void *object) {
    value *v = object;
    value_note_facts(v);
    if (v->filter) each_piece(v->filter, digest_piece, d);
    if (v->arrival) {
        redis.DigestAddLongLong(d, (long long)v->arrival->total);
        redis.DigestAddLongLong(d, (long long)v->arrival->form);
        arrival_each(v->arrival, digest_piece, d);
    }
    redis.DigestEndSequence(d);
}

/* RedisBloom's bytes alone: notes and what else an image has do not go through its files. */
static void digest_payload(redis_digest *d, void *object) {
    uint64_t size;
    const char *payload = tamis_payload(((const value *)object)->filter, &size);
    redis.DigestAddStringBuffer(d, payload, (size_t)size);
    redis.DigestEndSequence(d);
}

static size_t mem_usage(const void *object) {
    return value_bytes(object);
}

static void release(void *object) {
    value_release(object);
}

/* The server frees in the background what takes more than 64 steps; a step is a page. */
static size_t free_effort(redis_string *key, const void *object) {
    (void)key;
    return 1 + value_bytes(object) / 4096;
}

/* A copy has all that the key has, also what is still coming: the server dumps and restores it
 * too. */
typedef struct copying {
    value *twin;
    const arrival *from;
    bool is_refused;
} copying;

static void copy_piece(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size) {
    copying *c = ctx;
    if (arrival_take(c->twin, c->from->form, offset, c->from->total, bytes, size))
        c->is_refused = true;
}

/* The same filter, when it is large: the server's thread may not stop while 2 GiB are
 * copied. Its note must tell the facts of both by then. One that a job changes in steps is copied
 * as it is now. */
static tamis *copy_filter(value *v) {
    tamis *filter = NULL;
    const bool holds_still = (!v->job || !v->job->step) && !v->owes_tick;
    value_note_facts(v);
    if (tamis_image_size(v->filter) >= LARGE_BYTES && holds_still && filter_share(v->filter))
        return v->filter;
    return tamis_copy(&filter, v->filter) ? NULL : filter;
}

static void *copy_value(value *v) {
    tamis *filter = v->filter ? copy_filter(v) : NULL;
    if (v->filter && !filter) return NULL;
    value *twin = value_new(filter);
    if (!twin) {
        filter_release(filter);
        return NULL;
    }
    value_set_facts(twin, &v->facts);
    twin->owes_tick = v->owes_tick;
    if (v->owes_tick) atomic_fetch_add(&counters.owed, 1);
    copying c = {.twin = twin, .from = v->arrival};
    if (v->arrival) arrival_each(v->arrival, copy_piece, &c);
    if (!c.is_refused) return twin;
    value_release(twin);
    return NULL;
}

/* Is there memory for it? How large a filter may be was asked when it was made. */
static void *copy(redis_string *from, redis_string *to, const void *object) {
    (void)from, (void)to;
    const bounds before = bounds_enter_callback();
    const bool has_room = bounds_allow(value_bytes(object));
    bounds_leave(before);
    return has_room ? copy_value((value *)object) : NULL;
}

static void *move_piece(void *ctx, void *memory) {
    return redis.DefragAlloc(ctx, memory);
}

/* Nobody else may look at a filter that moves: one that a job reads stays. */
static int defrag(redis_defrag *ctx, redis_string *key, void **object) {
    value *v = *object;
    (void)key;
    if (!redis.DefragAlloc || v->job || atomic_load(&v->users) > 1) return 0;
    if (filter_is_shared(v->filter)) return 0;
    if (v->filter) v->filter = tamis_relocate(v->filter, move_piece, ctx);
    value *moved = redis.DefragAlloc(ctx, v);
    if (moved) *object = moved;
    return 0;
}

redis_methods persist_origin_methods(void *(*load_with)(redis_io *, int),
                                     void (*save_with)(redis_io *, void *)) {
    return (redis_methods){
        .version = REDIS_METHODS_VERSION,
        .rdb_load = load_with,
        .rdb_save = save_with,
        .aof_rewrite = rewrite,
        .mem_usage = mem_usage,
        .digest = digest_payload,
        .free = release,
        .free_effort = free_effort,
        .copy = copy,
        .defrag = defrag,
    };
}

redis_methods persist_own_methods(void) {
    redis_methods methods = persist_origin_methods(load, save);
    methods.digest = digest;
    methods.aux_load = secret_load;
    methods.aux_save = secret_save;
    methods.aux_save_triggers = REDIS_AUX_BEFORE_RDB;
    return methods;
}
