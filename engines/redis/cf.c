/* SPDX-License-Identifier: MIT */
/* CF.RESERVE, questions, CF.DEL and CF.INFO. */
#include "engines/redis/cf.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engines/redis/commands.h"
#include "engines/redis/many.h"

enum { MAX_EXPANSION = 32768 };

/* ---- Shapes ---------------------------------------------------------------------------------- */

static uint64_t get(const uint8_t *bytes, int size) {
    uint64_t x = 0;
    while (size-- > 0) x = x << 8 | bytes[size];
    return x;
}

static void put(uint8_t *bytes, int size, uint64_t x) {
    for (int i = 0; i < size; i++) bytes[i] = (uint8_t)(x >> 8 * i);
}

cf_shape cf_header_read(const uint8_t h[CF_HEADER]) {
    return (cf_shape){.is_origin = true,
                      .items = get(h, 8),
                      .buckets = get(h + 8, 8),
                      .deleted = get(h + 16, 8),
                      .filters = get(h + 24, 8),
                      .bucket_size = get(h + 32, 2),
                      .iterations = get(h + 34, 2),
                      .expansion = get(h + 36, 2)};
}

void cf_header_write(const cf_shape *s, uint8_t h[CF_HEADER]) {
    put(h, 8, s->items);
    put(h + 8, 8, s->buckets);
    put(h + 16, 8, s->deleted);
    put(h + 24, 8, s->filters);
    put(h + 32, 2, s->bucket_size);
    put(h + 34, 2, s->iterations);
    put(h + 36, 2, s->expansion);
}

static bool is_power_of_two(uint64_t n) {
    return n && (n & (n - 1)) == 0;
}

uint64_t cf_cells(const cf_shape *s) {
    const uint64_t max = (uint64_t)1 << 32;
    if (s->bucket_size < 1 || s->bucket_size > 255 || s->iterations < 1 || s->filters < 1 ||
        s->filters > UINT16_MAX || !is_power_of_two(s->buckets) ||
        s->buckets > max / s->bucket_size || s->expansion > MAX_EXPANSION ||
        (s->expansion ? !is_power_of_two(s->expansion) : s->filters > 1))
        return 0;
    uint64_t cells = s->buckets * s->bucket_size, sum = cells;
    for (uint64_t i = 1; i < s->filters; i++, sum += cells)
        if ((cells *= s->expansion) > max) return 0;
    return sum;
}

/* RedisBloom counts 40 bytes for a filter and 16 for each sub-filter. */
static cf_shape shape_of_origin(const tamis *filter) {
    uint64_t size;
    cf_shape s = cf_header_read(tamis_payload(filter, &size));
    s.cells = s.buckets * s.bucket_size;
    s.size = 40 + 16 * s.filters + cf_cells(&s);
    return s;
}

cf_shape cf_shape_of(const value *v) {
    struct tamis_info info;
    const facts *f = &v->facts;
    tamis_get_info(v->filter, &info, sizeof info);
    if (strcmp(info.kind, "rediscuckoo") == 0) return shape_of_origin(v->filter);
    return (cf_shape){.is_multiset = strcmp(info.kind, "multiset") == 0,
                      .size = value_bytes(v),
                      .items = info.items,
                      .buckets = f->buckets,
                      .deleted = f->deleted,
                      .filters = f->filters,
                      .bucket_size = f->bucket_size,
                      .iterations = f->iterations,
                      .expansion = f->expansion,
                      .cells = f->buckets * f->bucket_size};
}

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

/* The rate that RedisBloom's filter has with so many items: two buckets, over 255 fingerprints. */
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
    struct tamis_plan plan;
    const uint64_t capacity = w->expansion ? w->capacity : buckets * w->bucket_size;
    const int len = snprintf(spec, MAX_SPEC, "multiset:capacity=%llu,fpr=%.6g",
                             (unsigned long long)capacity, rate_of_origin(w, buckets));
    const tamis_status rc = tamis_plan_spec(spec, &plan, sizeof plan);
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
    const uint64_t max = f->expansion < MAX_EXPANSION ? f->expansion : MAX_EXPANSION;
    return max > 2 ? max : 2;
}

tamis_status cf_enlarge(tamis *filter, facts *f) {
    struct tamis_info info;
    tamis_get_info(filter, &info, sizeof info);
    uint64_t by = growth_of(f);
    while (by > 2 && info.word[SLOTS] * by > CF_MAX_CAPACITY) by /= 2;
    tamis_status rc = tamis_resize(filter, capacity_with(info.word[SLOTS] * by));
    if (rc == TAMIS_INVALID && by > 2)
        rc = tamis_resize(filter, capacity_with(info.word[SLOTS] * 2));
    if (!rc) f->filters++;
    return rc == TAMIS_INVALID ? TAMIS_FULL : rc;
}

static uint64_t capacity_before(const tamis *filter, const facts *f) {
    struct tamis_info info;
    tamis_get_info(filter, &info, sizeof info);
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

/* ---- CF.RESERVE key capacity [BUCKETSIZE b] [MAXITERATIONS i] [EXPANSION e] ------------------ */

/* Pairs that nobody knows are left alone, as RedisBloom does. */
static bool take_option(request *r, const char *name, long long min, long long max, uint64_t *to) {
    long long x;
    int at = 3;
    while (at < r->argc && strcasecmp(redis.StringPtrLen(r->argv[at], NULL), name) != 0) at++;
    if (at == r->argc) return true;
    if (at + 1 == r->argc || redis.StringToLongLong(r->argv[at + 1], &x)) {
        reply_error(r->ctx, "Couldn't parse %s", name);
        return false;
    }
    if (x < min || x > max) {
        reply_error(r->ctx, "%s: value must be in the range [%lld, %lld]", name, min, max);
        return false;
    }
    *to = (uint64_t)x;
    return true;
}

static bool take_params(request *r, cf_params *w) {
    long long capacity;
    if (redis.StringToLongLong(r->argv[2], &capacity)) {
        redis.ReplyWithError(r->ctx, "Bad capacity");
        return false;
    }
    if (!take_option(r, "MAXITERATIONS", 1, 65535, &w->iterations) ||
        !take_option(r, "BUCKETSIZE", 1, 255, &w->bucket_size) ||
        !take_option(r, "EXPANSION", 0, MAX_EXPANSION, &w->expansion))
        return false;
    if (capacity < 2 * (long long)w->bucket_size || capacity > CF_MAX_CAPACITY) {
        reply_error(r->ctx, "Capacity must be in the range [2 * BUCKETSIZE, %d]", CF_MAX_CAPACITY);
        return false;
    }
    w->capacity = (uint64_t)capacity;
    return true;
}

int cf_reserve_command(request *r) {
    cf_params w = cf_usual_params();
    if (r->argc % 2 == 0) return request_wrong_arity(r);
    return take_params(r, &w) && request_is_free(r) ? cf_create(r, &w, NULL) : REDIS_OK;
}

/* ---- Questions: what is not there, or is something else, has no items ------------------------ */

int cf_mexists_command(request *r) {
    return many_exist(r);
}

int cf_exists_command(request *r) {
    r->form = REPLY_SINGLE;
    return many_exist(r);
}

int cf_count_command(request *r) {
    const struct tamis_key item = key_of(r->argv[2]);
    if (request_is_coming(r)) return REDIS_OK;
    count_items(r, 1);
    const uint64_t n = r->value ? tamis_count(r->value->filter, item.bytes, item.len) : 0;
    return redis.ReplyWithLongLong(r->ctx, n > INT64_MAX ? INT64_MAX : (long long)n);
}

/* ---- CF.DEL key item ------------------------------------------------------------------------- */

/* RedisBloom's count begins anew when it tidies up. */
static void count_deleted(value *v) {
    const cf_shape s = cf_shape_of(v);
    if (s.is_origin) return;
    v->facts.deleted++;
    if (s.filters > 1 && (double)v->facts.deleted > 0.1 * (double)s.items) v->facts.deleted = 0;
}

int cf_del_command(request *r) {
    const struct tamis_key item = key_of(r->argv[2]);
    if (!r->value) return redis.ReplyWithError(r->ctx, "Not found");
    if (request_is_coming(r)) return REDIS_OK;
    const tamis_status rc = tamis_remove(r->value->filter, item.bytes, item.len);
    count_items(r, 1);
    if (rc && rc != TAMIS_NOT_FOUND) return reply_refusal(r->ctx, rc);
    if (!rc) {
        count_deleted(r->value);
        request_changed(r, "cf.del");
    }
    return reply_bool(r->ctx, !rc);
}

/* ---- CF.INFO key ----------------------------------------------------------------------------- */

static void tell(redis_ctx *ctx, const cf_shape *s) {
    const struct {
        const char *name;
        uint64_t x;
    } pairs[] = {
        {"Size", s->size},
        {"Number of buckets", s->buckets},
        {"Number of filters", s->filters},
        {"Number of items inserted", s->items},
        {"Number of items deleted", s->deleted},
        {"Bucket size", s->bucket_size},
        {"Expansion rate", s->expansion},
        {"Max iterations", s->iterations},
    };
    enum { PAIRS = sizeof pairs / sizeof *pairs };
    reply_map(ctx, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        redis.ReplyWithSimpleString(ctx, pairs[i].name);
        redis.ReplyWithLongLong(ctx, (long long)pairs[i].x);
    }
}

int cf_info_command(request *r) {
    const value *v = request_value(r, CF_NOT_FOUND);
    if (!v) return REDIS_OK;
    const cf_shape s = cf_shape_of(v);
    tell(r->ctx, &s);
    return REDIS_OK;
}
