/* SPDX-License-Identifier: MIT */
/* Payload attribution: records payloads, and finds where an excerpt was in them.
 *
 * A payload is cut into blocks of `levels` sizes, each twice the one before, at multiples of their
 * size. A block becomes a key in two steps, because each block of an excerpt is tried at very many
 * places: its bytes are hashed once, with the filter's own hash, then the place is mixed in.
 *
 *     content = hash(bytes)        start = mix(content + (level + 1) * golden ratio)
 *     place   = mix(start + index)              index: number of the block, at its level
 *     in flow = mix(place + hash(flow))
 *
 * Without the secret of a keyed hash, `content` is unknown, and so is the rest. Kinds see only
 * hashes. docs/kinds/hierarchical.md has the details. */
#include <math.h>
#include <string.h>

#include "bits/probe.h"
#include "core/filter.h"
#include "tamis_engine.h"

static const uint64_t golden = 0x9e3779b97f4a7c15;

static uint64_t start_of(const tamis *f, unsigned level, const uint8_t *bytes, uint64_t size) {
    return tamis__mix(tamis_hash(f, bytes, (size_t)size) + (level + 1) * golden);
}

static uint64_t place_of(uint64_t start, uint64_t index) {
    return tamis__mix(start + index);
}

static uint64_t in_flow(uint64_t place, uint64_t flow) {
    return tamis__mix(place + flow);
}

static uint64_t block_of(const tamis *f) {
    return f->kind->special->trace->block(f->image.body.word);
}

static unsigned levels_of(const tamis *f) {
    return f->kind->special->trace->levels(f->image.body.word);
}

/* Index of the first block of `size` bytes that starts at or after `at`. */
static uint64_t first_index(uint64_t at, uint64_t size) {
    return at / size + (at % size != 0);
}

/* Number of blocks of `size` bytes that are entirely in [at, at + len). */
static uint64_t whole_blocks(uint64_t at, uint64_t len, uint64_t size) {
    const uint64_t first = first_index(at, size), end = (at + len) / size;
    return end > first ? end - first : 0;
}

/* The same for all block sizes. */
static uint64_t all_blocks(const tamis *f, uint64_t at, uint64_t len) {
    uint64_t n = 0;
    for (unsigned l = 0; l < levels_of(f); l++) n += whole_blocks(at, len, block_of(f) << l);
    return n;
}

/* ---- Recording ------------------------------------------------------------------------------ */

/* Hashes to be added, in batches. */
typedef struct basket {
    tamis *filter;
    uint64_t hash[TAMIS_BATCH];
    size_t n;
} basket;

static tamis_status empty(basket *b) {
    const tamis_status rc = tamis_add_hashes(b->filter, b->hash, b->n);
    b->n = 0;
    return rc;
}

static tamis_status put(basket *b, uint64_t hash) {
    b->hash[b->n++] = hash;
    return b->n < TAMIS_BATCH ? TAMIS_OK : empty(b);
}

static tamis_status record_level(basket *b, unsigned level, const uint64_t *flow, uint64_t offset,
                                 const uint8_t *bytes, uint64_t len) {
    const uint64_t size = block_of(b->filter) << level, first = first_index(offset, size);
    const uint64_t n = whole_blocks(offset, len, size);
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < n && !rc; i++) {
        const uint8_t *at = bytes + ((first + i) * size - offset);
        const uint64_t place = place_of(start_of(b->filter, level, at, size), first + i);
        rc = put(b, place);
        if (!rc && flow) rc = put(b, in_flow(place, *flow));
    }
    return rc;
}

/* Checks everything that can fail, before the first block is added. */
static tamis_status may_record(const tamis *f, bool has_flow, uint64_t offset, uint64_t len) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_TRACE, "record payloads");
    if (rc) return rc;
    if (offset > TAMIS_LONGEST_PAYLOAD || len > TAMIS_LONGEST_PAYLOAD - offset)
        return tamis__fail(TAMIS_INVALID, "%llu bytes at offset %llu would end past 2^48",
                           (unsigned long long)len, (unsigned long long)offset);
    if (f->image.body.items > UINT64_MAX - all_blocks(f, offset, len) * (has_flow ? 2 : 1))
        return tamis__fail(TAMIS_FULL, "the count of items would pass 2^64");
    return TAMIS_OK;
}

tamis_status tamis_record(tamis *f, const void *flow, size_t flow_len, uint64_t offset,
                          const void *bytes, size_t len) {
    tamis_status rc = may_record(f, flow, offset, len);
    if (rc) return rc;
    const uint64_t flow_hash = flow ? tamis_hash(f, flow, flow_len) : 0;
    basket b = {.filter = f};
    for (unsigned l = 0; l < levels_of(f) && !rc; l++)
        rc = record_level(&b, l, flow ? &flow_hash : NULL, offset, bytes, len);
    if (!rc) rc = empty(&b);
    if (!rc) f->kind->special->trace->reach(&f->image.body, offset + len);
    return rc;
}

/* ---- Tracing -------------------------------------------------------------------------------- */

typedef struct search {
    const tamis *filter;
    const uint8_t *excerpt;
    uint64_t len, block;
    uint64_t *start; /* of the first whole block, by the number of bytes before it */
    uint64_t *flow;  /* hashes of flows */
    size_t flow_count;
    tamis_traces *take;
    void *ctx;
} search;

/* Does the filter have every whole block of the excerpt at offset `at`? Small blocks first. */
static bool is_whole(const search *s, uint64_t at, const uint64_t *flow) {
    for (unsigned l = 0; l < levels_of(s->filter); l++) {
        const uint64_t size = s->block << l, first = first_index(at, size);
        const uint64_t n = whole_blocks(at, s->len, size);
        for (uint64_t i = first; i < first + n; i++) {
            const uint64_t start = start_of(s->filter, l, s->excerpt + (i * size - at), size);
            const uint64_t place = place_of(start, i);
            if (!tamis_has_hash(s->filter, flow ? in_flow(place, *flow) : place)) return false;
        }
    }
    return true;
}

static tamis_status tell(const search *s, size_t flow, uint64_t at) {
    const struct tamis_traced traced = {flow, at, all_blocks(s->filter, at, s->len)};
    return s->take(s->ctx, &traced) ? TAMIS_OK : TAMIS_CANCELLED;
}

/* Queries the first block, which has this place, for many flows at once. */
static tamis_status try_flows(const search *s, uint64_t at, uint64_t place) {
    uint64_t hash[TAMIS_NEAR_BATCH];
    uint8_t hit[TAMIS_NEAR_BATCH];
    tamis_status rc = TAMIS_OK;
    for (size_t from = 0, n; from < s->flow_count && !rc; from += n) {
        n = s->flow_count - from < TAMIS_NEAR_BATCH ? s->flow_count - from : TAMIS_NEAR_BATCH;
        for (size_t i = 0; i < n; i++) hash[i] = in_flow(place, s->flow[from + i]);
        tamis_has_hashes(s->filter, hash, n, hit);
        for (size_t i = 0; i < n && !rc; i++)
            if (hit[i] && is_whole(s, at, &s->flow[from + i])) rc = tell(s, from + i, at);
    }
    return rc;
}

static tamis_status try_place(const search *s, uint64_t at, uint64_t place) {
    if (!is_whole(s, at, NULL)) return TAMIS_OK;
    return s->flow_count ? try_flows(s, at, place) : tell(s, SIZE_MAX, at);
}

/* Tries every offset from 0 to `last`. The offset determines where in the excerpt the first whole
 * block starts, and its index. */
static tamis_status try_places(const search *s, uint64_t last) {
    uint64_t hash[TAMIS_BATCH];
    uint8_t hit[TAMIS_BATCH];
    tamis_status rc = TAMIS_OK;
    for (uint64_t from = 0, n; from <= last && !rc; from += n) {
        n = last - from < TAMIS_BATCH ? last - from + 1 : TAMIS_BATCH;
        uint64_t index = first_index(from, s->block), before = index * s->block - from;
        for (size_t i = 0; i < n; i++) {
            hash[i] = place_of(s->start[before], index);
            index += before == 0;
            before = before ? before - 1 : s->block - 1;
        }
        tamis_has_hashes(s->filter, hash, (size_t)n, hit);
        for (size_t i = 0; i < n && !rc; i++)
            if (hit[i]) rc = try_place(s, from + i, hash[i]);
    }
    return rc;
}

static tamis_status may_trace(const tamis *f, size_t len) {
    if (!(f->can & TAMIS_CAN_TRACE)) return tamis__cannot(f, "trace excerpts");
    const uint64_t min = 2 * block_of(f) - 1;
    if (len >= min) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID,
                       "an excerpt of %llu bytes is too short: with blocks of %llu bytes only one "
                       "of at least %llu has a whole block wherever it stood",
                       (unsigned long long)len, (unsigned long long)block_of(f),
                       (unsigned long long)min);
}

/* Number of offsets to try, from 0. */
static uint64_t count_places(const tamis *f, uint64_t len, uint64_t max_offset) {
    const uint64_t longest = f->kind->special->trace->longest(&f->image.body);
    if (longest < len) return 0;
    return longest - len < max_offset ? longest - len + 1 : max_offset + 1;
}

tamis_status tamis_trace(const tamis *f, const void *excerpt, size_t len,
                         const struct tamis_key *flows, size_t flow_count, uint64_t max_offset,
                         tamis_traces *take, void *ctx) {
    tamis_status rc = may_trace(f, len);
    if (rc) return rc;
    search s = {.filter = f,
                .excerpt = excerpt,
                .len = len,
                .block = block_of(f),
                .flow_count = flow_count,
                .take = take,
                .ctx = ctx};
    const uint64_t places = count_places(f, len, max_offset);
    if (places == 0) return TAMIS_OK;
    if (flow_count > SIZE_MAX / 16)
        return tamis__fail(TAMIS_NOMEM, "no memory for %zu flows", flow_count);
    tamis_block memory;
    s.start = tamis__get(&f->allocator, (s.block + flow_count) * sizeof *s.start, &memory);
    if (!s.start) return TAMIS_NOMEM;
    s.flow = s.start + s.block;
    for (uint64_t i = 0; i < s.block; i++) s.start[i] = start_of(f, 0, s.excerpt + i, s.block);
    if (flow_count) tamis_hash_many(f, flows, flow_count, s.flow);
    rc = try_places(&s, places - 1);
    tamis__block_free(&f->allocator, &memory);
    return rc == TAMIS_CANCELLED ? tamis__fail(rc, "stopped by the caller") : rc;
}

/* ---- Expected false traces ------------------------------------------------------------------ */

/* The number of whole blocks depends on where the excerpt starts relative to the largest blocks.
 * Between two starts of smallest blocks it has only two values: the larger with fewer than `more`
 * bytes before the first whole block. */
double tamis_false_traces(const tamis *f, size_t len, uint64_t flow_count, uint64_t max_offset) {
    if (may_trace(f, len)) return NAN;
    const uint64_t places = count_places(f, len, max_offset), block = block_of(f);
    const uint64_t period = (uint64_t)1 << (levels_of(f) - 1), more = len % block + 1;
    const uint64_t needed = places / block + 1, steps = needed < period ? needed : period;
    const double fpr = tamis_fpr_now(f);
    double sum = 0;
    for (uint64_t i = 1; i <= steps; i++) {
        const double many = pow(fpr, (double)all_blocks(f, i * block, len));
        const double few = pow(fpr, (double)all_blocks(f, i * block - (block - 1), len));
        const double times = (double)flow_count;
        sum += (double)more * (flow_count ? times * many * many : many);
        sum += (double)(block - more) * (flow_count ? times * few * few : few);
    }
    return sum / (double)(steps * block) * (double)places;
}
