/* SPDX-License-Identifier: MIT */
/* CF.COMPACT: filters that were enlarged, and have become emptier since, made smaller. */
#include <string.h>

#include "engines/redis/cf.h"
#include "engines/redis/commands.h"
#include "tamis_formats.h"

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
