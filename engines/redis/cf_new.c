/* SPDX-License-Identifier: MIT */
/* CF.*: what new filters are, and how those of ours are enlarged when they are full. */
#include <stdio.h>
#include <string.h>

#include "engines/redis/cf.h"

/* ---- Plans ----------------------------------------------------------------------------------- */

cf_params cf_usual_params(void) {
    const uint64_t min = 2 * (uint64_t)settings.cf_bucket_size;
    const uint64_t usual = (uint64_t)settings.cf_initial_size;
    return (cf_params){.capacity = usual > min ? usual : min,
                       .bucket_size = (uint64_t)settings.cf_bucket_size,
                       .iterations = (uint64_t)settings.cf_max_iterations,
                       .expansion = (uint64_t)settings.cf_expansion_factor};
}

static uint64_t power_of_two_from(uint64_t n) {
    uint64_t power = 1;
    while (power < n) power *= 2;
    return power;
}

static unsigned log2_floor(uint64_t n) {
    unsigned log = 0;
    while (n >>= 1) log++;
    return log;
}

/* The rate that RedisBloom's filter has at capacity: two buckets, over 255 fingerprints. */
static double rate_of_origin(const cf_params *w, uint64_t buckets) {
    const double max = 0.2, rate = 2.0 * (double)w->capacity / 255 / (double)buckets;
    return rate < max ? rate : max;
}

/* A filter that is enlarged spends a bit of its remainders each time it doubles, and two must stay.
 * RedisBloom adds sub-filters of equal size with EXPANSION 1, at most cf-max-expansions of them:
 * ours has the bits to double as far. Where they become larger each time there is no such end:
 * fingerprints then have 32 bits in all, enough for 2^30 slots. */
static unsigned min_remainder(uint64_t slots, uint64_t expansion) {
    enum { ALL_BITS = 32, STAY = 2 };
    const unsigned homes = log2_floor(slots);
    if (expansion == 0) return STAY;
    if (expansion > 1) return homes < ALL_BITS - STAY ? ALL_BITS - homes : STAY;
    const unsigned doublings = log2_floor(power_of_two_from((uint64_t)settings.cf_max_expansions));
    return STAY + doublings;
}

/* Without EXPANSION it has room for as many as RedisBloom's has cells, and is full then. The rate
 * has the digits that a spec tells again, so that replicas make the same bytes. */
static tamis_status own_spec(const cf_params *w, uint64_t buckets, char spec[MAX_SPEC]) {
    enum { SLOTS, REMAINDER };
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    const uint64_t capacity = w->expansion ? w->capacity : buckets * w->bucket_size;
    const int len = snprintf(spec, MAX_SPEC, "multiset:capacity=%llu,fpr=%.6g",
                             (unsigned long long)capacity, rate_of_origin(w, buckets));
    const tamis_status rc = tamis_plan_spec(spec, &plan);
    const unsigned min = rc ? 0 : min_remainder(plan.word[SLOTS], w->expansion);
    if (!rc && plan.word[REMAINDER] < min)
        snprintf(spec + len, (size_t)(MAX_SPEC - len), ",remainder=%u", min);
    return rc;
}

static void origin_spec(const cf_params *w, char spec[MAX_SPEC]) {
    snprintf(spec, MAX_SPEC,
             "rediscuckoo:capacity=%llu,bucket_size=%llu,iterations=%llu,expansion=%llu",
             (unsigned long long)w->capacity, (unsigned long long)w->bucket_size,
             (unsigned long long)w->iterations, (unsigned long long)w->expansion);
}

static tamis_status plan(creation *c, const cf_params *w) {
    char spec[MAX_SPEC];
    const uint64_t buckets = power_of_two_from(w->capacity / w->bucket_size);
    const facts f = {.family = FAMILY_CF,
                     .expansion = w->expansion ? power_of_two_from(w->expansion) : 0,
                     .buckets = buckets,
                     .bucket_size = w->bucket_size,
                     .iterations = w->iterations,
                     .filters = 1};
    tamis_status rc = TAMIS_OK;
    if (settings.cf_kind == KIND_ORIGIN)
        origin_spec(w, spec);
    else
        rc = own_spec(w, buckets, spec);
    if (!rc) rc = creation_plan(c, spec, strlen(spec));
    if (!rc && settings.cf_kind != KIND_ORIGIN) creation_facts(c, &f);
    return rc;
}

int cf_create(request *r, const cf_params *w, int (*then)(request *)) {
    creation c = {.event = "cf.reserve", .then = then, .may_join = then};
    const tamis_status rc = plan(&c, w);
    return rc ? reply_refusal(r->ctx, rc) : creation_do(r, &c);
}

/* ---- Enlarging ------------------------------------------------------------------------------- */

/* Slots are used up to 95 %. By what they are multiplied follows from the filter alone, so that
 * replicas do the same. */
enum { SLOTS };
static uint64_t capacity_with(uint64_t slots) {
    return slots / 20 * 19;
}

/* Facts come out of a note, which anybody may have written. */
static uint64_t growth_of(const facts *f) {
    const uint64_t max = lesser(f->expansion, CF_MAX_EXPANSION);
    return max > 2 ? max : 2;
}

tamis_status cf_enlarge(tamis *filter, facts *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(filter, &info);
    uint64_t by = growth_of(f);
    while (by > 2 && info.word[SLOTS] * by > CF_MAX_CAPACITY) by /= 2;
    tamis_status rc = tamis_resize(filter, capacity_with(info.word[SLOTS] * by));
    if (rc == TAMIS_INVALID && by > 2)
        rc = tamis_resize(filter, capacity_with(info.word[SLOTS] * 2));
    if (!rc) f->filters++;
    return rc == TAMIS_INVALID ? TAMIS_FULL : rc;
}

static uint64_t capacity_before(const tamis *filter, const facts *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(filter, &info);
    const uint64_t by = growth_of(f);
    const uint64_t used = capacity_with(info.word[SLOTS]) - tamis_remaining(filter);
    const uint64_t before = capacity_with(info.word[SLOTS] / by);
    return f->filters > 1 && used < before ? before : 0;
}

bool cf_may_shrink(const value *v) {
    return cf_shape_of(v).is_multiset && capacity_before(v->filter, &v->facts);
}

bool cf_shrink(tamis *filter, facts *f) {
    const uint64_t before = capacity_before(filter, f);
    if (!before || tamis_resize(filter, before)) return false;
    f->filters--;
    return true;
}
