/* SPDX-License-Identifier: MIT */
/* Lies of fuse: rates, estimates, and a key that is lost. */
#define tamis__fuse tamis__fuse_inside
#include "src/kinds/fuse.c"
#undef tamis__fuse

#include "tests/broken/liar.h"

#define SOUND                                                                                    \
    .word = {TAMIS_SEGMENT_WORD_NAMES, "width", "arity"}, .options = options,                    \
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .plan = plan, .check = check, .probes = probes, \
    .rate = rate, .audit = audit, .measure = measure, .query = query, .build = &build
#define FACET                                                                                  \
    .rule = TAMIS_RECORDS_KEYS, .made = TAMIS_SEGMENT_MADE, .fit = tamis__segments_by_records, \
    .segment = tamis__segment_of, .work = work, .max = max, .make = make

/* Promises a tenth less than it delivers. */
static double rate_low(const uint64_t word[], uint64_t items) {
    return rate(word, items) / 1.1;
}
static void measure_low(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    measure(f, other, out);
    out->fpr /= 1.1;
}
const tamis_kind tamis__broken_fuse_rate = {SOUND, .name = "broken_fuse_rate",
                                            .contract = "rate_as_promised", .rate = rate_low,
                                            .measure = measure_low};

/* Reports a quarter more keys than it has, without an error. */
static void measure_more(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    measure(f, other, out);
    out->items.value *= 1.25;
}
const tamis_kind tamis__broken_fuse_items = {SOUND, .name = "broken_fuse_items",
                                             .contract = "estimates_hold", .measure = measure_more};

/* Peels all but one, and calls it done. */
static tamis_status make_but_one(const uint64_t word[], const tamis_segment *s, uint8_t *room,
                                 uint8_t *out, uint64_t *size) {
    tamis_segment less = *s;
    less.n -= s->n > 1;
    return make(word, &less, room, out, size);
}
static const tamis_build but_one = {FACET, .make = make_but_one};
const tamis_kind tamis__broken_fuse_key = {SOUND, .name = "broken_fuse_key",
                                           .contract = "no_false_negative", .build = &but_one};

/* Plans a bit less than the rate needs. */
static tamis_status plan_narrow(const tamis_params *params, uint64_t word[]) {
    tamis_params less = *params;
    less.fpr *= 2;
    return plan(less.fpr > 0 && less.fpr < 1 ? &less : params, word);
}
const tamis_kind tamis__broken_fuse_plan = {
    SOUND, .name = "broken_fuse_plan", .contract = "plan_tells_the_truth", .plan = plan_narrow};

/* Fits its width to the keys that came instead of the target. */
static tamis_status fit_width(const tamis_params *params, const tamis_census *census,
                              uint64_t word[]) {
    word[WIDTH] += census->records > 100;
    return tamis__segments_by_records(params, census, word);
}
static const tamis_build by_census = {FACET, .fit = fit_width};
const tamis_kind tamis__broken_fuse_words = {
    SOUND, .name = "broken_fuse_words", .contract = "plan_tells_the_truth", .build = &by_census};

/* Chooses the segment by another part of the hash than it was cut by. */
static void query_elsewhere(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t other = b.hash[i] ^ (uint64_t)(b.hash[i] % 500 == 0);
        query(f, tamis__hashes(&other, 1), &hit[i]);
    }
}
const tamis_kind tamis__broken_fuse_strange = {SOUND, .name = "broken_fuse_strange",
                                               .contract = "strange_keys_change_no_rate",
                                               .query = query_elsewhere};
