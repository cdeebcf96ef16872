/* SPDX-License-Identifier: MIT */
/* From a parsed spec to a shape: pure arithmetic, before anything is allocated. */
#include <string.h>

#include "core/filter.h"

#define HASHES_THERE_ARE 18446744073709551616.0 /* 2^64 */

/* Non-members hit at the kind's own rate, or because their hash is that of one of `keys`. */
static double with_equal_hashes(const tamis_kind *kind, double rate, uint64_t keys) {
    return tamis__hashes_itself(kind) ? rate
                                      : rate + (1 - rate) * ((double)keys / HASHES_THERE_ARE);
}

double tamis__expected_rate(const tamis_kind *kind, const uint64_t word[], uint64_t items) {
    return with_equal_hashes(kind, kind->rate(word, items), items);
}

/* Kinds that age are at their worst long after reaching capacity; others, when they reach it. */
double tamis__planned_rate(const tamis_kind *kind, const uint64_t word[], uint64_t capacity) {
    const uint64_t adds = kind->traits & TAMIS_AGES ? UINT64_MAX : capacity;
    return with_equal_hashes(kind, kind->rate(word, adds), capacity);
}

uint64_t tamis__reliable_count(const tamis_kind *kind, const uint64_t word[]) {
    if (!(tamis__abilities(kind, word) & TAMIS_CAN_COUNT)) return 0;
    return kind->counts->reliable_count ? kind->counts->reliable_count(word) : UINT64_MAX;
}

uint64_t tamis__wished_size(const tamis_kind *kind, const uint64_t word[], uint64_t size) {
    tamis_params params = {0};
    if (!TAMIS_ENTRY(kind, sizing, whole)) return size;
    kind->sizing->whole(word, &params);
    return params.bits / 8;
}

static tamis_status plan_shape(const tamis_parsed_spec *r, const tamis_params *params,
                               tamis_shape *out) {
    const tamis_kind *kind = r->entry->kind;
    tamis_params w = *params;
    memset(out, 0, sizeof *out);
    out->capacity = w.capacity;
    out->fpr = r->is_unasked ? 0 : w.fpr;
    if (w.fpr > 0 && !tamis__hashes_itself(kind)) {
        const double same_hash = (double)w.capacity / HASHES_THERE_ARE;
        if (same_hash > w.fpr / 2)
            return tamis__fail(TAMIS_INVALID,
                               "fpr=%.3g is too low: with %llu keys, equal 64-bit hashes alone "
                               "make %.3g",
                               w.fpr, (unsigned long long)w.capacity, same_hash);
        w.fpr -= same_hash;
    }
    tamis_status rc = kind->plan(&w, out->word);
    if (!rc) rc = kind->check(out->word, &out->size);
    return rc;
}

/* The largest capacity that keeps the rate within the size, by bisection. */
static tamis_status plan_capacity(const tamis_parsed_spec *r, tamis_shape *out) {
    tamis_params params = r->params;
    params.bits = 0;
    params.capacity = 0;
    const uint64_t max = (r->params.bits + 63) / 64 * 8;
    tamis_status rc = plan_shape(r, &params, out);
    if (rc) return rc;
    if (out->size > max)
        return tamis__fail(TAMIS_INVALID, "size=%llu is too small for %s: it needs at least %llu",
                           (unsigned long long)max, r->entry->kind->name,
                           (unsigned long long)out->size);
    uint64_t low = 0, high = TAMIS_MAX_CAPACITY + 1;
    while (high - low > 1) {
        tamis_shape tried;
        params.capacity = low + (high - low) / 2;
        if (plan_shape(r, &params, &tried) == TAMIS_OK && tried.size <= max)
            low = params.capacity, *out = tried;
        else
            high = params.capacity;
    }
    return TAMIS_OK;
}

tamis_status tamis__request_plan(const tamis_parsed_spec *r, tamis_shape *out) {
    return r->has_capacity ? plan_shape(r, &r->params, out) : plan_capacity(r, out);
}

/* The kind and the shape that a spec asks for. */
static tamis_status plan_text(const char *spec, const tamis_kind **kind, tamis_shape *shape) {
    tamis_parsed_spec request;
    tamis_status rc = tamis__spec_parse(spec, &request);
    if (!rc) rc = tamis__request_plan(&request, shape);
    if (!rc) *kind = request.entry->kind;
    return rc;
}

tamis_status tamis_plan_spec(const char *spec, struct tamis_plan *plan) {
    const tamis_kind *kind;
    tamis_shape shape;
    const tamis_status rc = plan_text(spec, &kind, &shape);
    if (rc) return rc;

    const double size = (double)tamis__wished_size(kind, shape.word, shape.size);
    struct tamis_plan full = {
        .kind = kind->name,
        .capacity = shape.capacity,
        .fpr_asked = shape.fpr,
        .fpr_expected = tamis__planned_rate(kind, shape.word, shape.capacity),
        .bits_per_key = shape.capacity ? size * 8 / (double)shape.capacity : 0,
        .payload_bytes = shape.size,
        .stored_bytes = shape.size + TAMIS_IMAGE_HEADER_BYTES,
        .probes = kind->probes(shape.word),
        .abilities = tamis__abilities(kind, shape.word),
        .reliable_count = tamis__reliable_count(kind, shape.word),
    };
    memcpy(full.word, shape.word, sizeof full.word);
    memcpy(full.word_name, kind->word, sizeof full.word_name);
    return tamis__fill_struct(plan, &full, sizeof full, "plan");
}

tamis_status tamis_plan_fpr(const char *spec, uint64_t items, double *fpr) {
    const tamis_kind *kind;
    tamis_shape shape;
    const tamis_status rc = plan_text(spec, &kind, &shape);
    if (rc) return rc;

    const bool has_end = (kind->room || kind->build) && !TAMIS_ENTRY(kind, reshape, grow);
    if (has_end && items > shape.capacity)
        return tamis__fail(TAMIS_FULL, "%s planned for %llu keys promises nothing about %llu",
                           kind->name, (unsigned long long)shape.capacity,
                           (unsigned long long)items);
    *fpr = tamis__expected_rate(kind, shape.word, items);
    return TAMIS_OK;
}
