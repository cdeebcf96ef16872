/* SPDX-License-Identifier: MIT */
/* TAMIS.INFO, TAMIS.DUMP and TAMIS.LOAD: filters as a whole. */
#include <stdio.h>
#include <string.h>

#include "engines/redis/chunk_dump.h"
#include "engines/redis/chunk_load.h"
#include "engines/redis/commands.h"
#include "engines/redis/settings.h"

/* ---- TAMIS.INFO key -------------------------------------------------------------------------- */

/* Measured on the worker, told on the main thread. */
typedef struct measured {
    struct tamis_info info;
    char spec[1024];
} measured;

static void measure(job *j) {
    measured *m = j->task;
    m->info = (struct tamis_info)TAMIS_INFO_INIT;
    tamis_measure(j->target->filter, &m->info);
    tamis_spec(j->target->filter, m->spec, sizeof m->spec);
}

static void pair_text(redis_ctx *ctx, const char *name, const char *text) {
    reply_text(ctx, name);
    reply_text(ctx, text);
}

static void pair_number(redis_ctx *ctx, const char *name, uint64_t number) {
    reply_text(ctx, name);
    reply_number(ctx, number);
}

static void pair_real(redis_ctx *ctx, const char *name, double x) {
    reply_text(ctx, name);
    redis.ReplyWithDouble(ctx, x);
}

static void pair_bool(redis_ctx *ctx, const char *name, bool x) {
    reply_text(ctx, name);
    reply_bool(ctx, x);
}

/* How keys become bytes is among them, for clients that hash. */
static void tell_notes(redis_ctx *ctx, const tamis *filter) {
    const char *name, *text;
    long n = 0;
    while (tamis_note_at(filter, (size_t)n, &name, &text)) n++;
    reply_text(ctx, "notes");
    reply_map(ctx, n);
    for (long i = 0; i < n && tamis_note_at(filter, (size_t)i, &name, &text); i++)
        pair_text(ctx, name, text);
}

/* Filters are merged with those that have the same. */
static const char *whose_secret(const tamis *filter) {
    uint8_t secret[SECRET_BYTES];
    if (!tamis_secret(filter, secret)) return "none";
    return memcmp(secret, settings_secret(), sizeof secret) == 0 ? "server" : "own";
}

/* The names are those of "tamis info --json". */
static void tell(job *j) {
    redis_ctx *ctx = j->request->ctx;
    const measured *m = j->task;
    const struct tamis_info *info = &m->info;
    enum { PAIRS = 20 };
    const facts *f = &j->target->facts;
    long shape = 0;
    while (shape < TAMIS_WORDS && info->word_name[shape]) shape++;
    reply_map(ctx, f->every ? PAIRS + 2 : PAIRS);
    pair_text(ctx, "spec", m->spec);
    pair_text(ctx, "kind", info->kind);
    pair_text(ctx, "contract", info->contract);
    pair_number(ctx, "payload_bytes", info->payload_bytes);
    pair_number(ctx, "stored_bytes", info->stored_bytes);
    pair_number(ctx, "capacity", info->capacity);
    pair_number(ctx, "items", info->items);
    pair_real(ctx, "items_now", info->items_now.value);
    pair_number(ctx, "probes", info->probes);
    pair_real(ctx, "fpr_asked", info->fpr_asked);
    pair_real(ctx, "fpr_expected", info->fpr_expected);
    pair_real(ctx, "fpr_now", info->fpr_now);
    pair_real(ctx, "fill", info->fill);
    pair_text(ctx, "hash", info->hash);
    pair_text(ctx, "key_place", info->key_place);
    pair_text(ctx, "secret", whose_secret(j->target->filter));
    pair_bool(ctx, "is_degraded", info->is_degraded);
    pair_text(ctx, "caveat", info->caveat);
    if (f->every) {
        pair_number(ctx, "every", f->every);
        pair_number(ctx, "ticked", f->ticked);
    }
    reply_text(ctx, "shape");
    reply_map(ctx, shape);
    for (long i = 0; i < shape; i++) pair_number(ctx, info->word_name[i], info->word[i]);
    tell_notes(ctx, j->target->filter);
}

int tamis_info_command(request *r) {
    value *v = request_value(r, NULL);
    job *j = v ? job_new(r, v, sizeof(measured)) : NULL;
    if (!j) return REDIS_OK;
    j->make = measure, j->end = tell, j->only_tells = true;
    /* Rates take some kinds tens of milliseconds, however small the filter is. */
    return job_do(j, LARGE_BYTES);
}

/* ---- TAMIS.DUMP key offset [COUNT bytes] ----------------------------------------------------- */

enum { CHUNK_PRESET = 1 << 20, MAX_CHUNK = 64 << 20 };

/* Offset and COUNT; false with the error replied. */
static bool take_range(request *r, chunk *c) {
    long long from, max = CHUNK_PRESET;
    const bool has_count = r->argc == 5 && is_word(r->argv[3], "COUNT");
    if (redis.StringToLongLong(r->argv[2], &from) || from < 0 || (uint64_t)from > c->total) {
        reply_error(r->ctx, "ERR the offset must be from 0 to %llu", (unsigned long long)c->total);
        return false;
    }
    if ((r->argc > 3 && !has_count) ||
        (has_count && (redis.StringToLongLong(r->argv[4], &max) || max < 1 || max > MAX_CHUNK))) {
        reply_error(r->ctx, "ERR COUNT must be from 1 to %d", MAX_CHUNK);
        return false;
    }
    c->at = (uint64_t)from;
    c->size = (size_t)lesser(c->total - c->at, (uint64_t)max);
    return true;
}

int tamis_dump_command(request *r) {
    value *v = request_value(r, NULL);
    if (!v) return REDIS_OK;
    value_note_facts(v);
    chunk c = {.total = tamis_image_size(v->filter)};
    if (!take_range(r, &c)) return REDIS_OK;
    const uint64_t end = c.at + c.size;
    c.next = end == c.total ? 0 : end;
    return chunk_dump(r, &c);
}

/* ---- TAMIS.LOAD key offset total bytes [FORM form] ------------------------------------------- */

/* -1 when there is no such form. */
static int form_of(redis_string **argv, int argc) {
    if (argc == 5) return FORM_IMAGE;
    if (argc != 7 || !is_word(argv[5], "FORM")) return -1;
    for (int i = 0; i < FORMS; i++)
        if (is_word(argv[6], form_names[i])) return i;
    return -1;
}

int tamis_load_command(request *r) {
    long long offset, total;
    const int form = form_of(r->argv, r->argc);
    if (form < 0 || redis.StringToLongLong(r->argv[2], &offset) || offset < 0 ||
        redis.StringToLongLong(r->argv[3], &total) || total < 1)
        return reply_error(r->ctx,
                           "ERR syntax error: TAMIS.LOAD key offset total bytes, with offset and "
                           "total in bytes");
    if (r->is_wrong) return redis.ReplyWithError(r->ctx, WRONG_TYPE);
    const coming c = {.form = (chunk_form)form,
                      .offset = (uint64_t)offset,
                      .total = (uint64_t)total,
                      .bytes = r->argv[4]};
    return arrive(r, &c);
}
