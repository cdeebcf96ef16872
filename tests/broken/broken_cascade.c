/* SPDX-License-Identifier: MIT */
/* Lies of cascade: known-good keys that were ignored. */
#define tamis__cascade tamis__cascade_inside
#include "src/kinds/cascade.c"
#undef tamis__cascade

#include "tests/broken/liar.h"

#define SOUND                                                                                    \
    .word = {TAMIS_SEGMENT_WORD_NAMES, "width", "narrow"}, .options = options,                   \
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .plan = plan, .check = check, .probes = probes, \
    .rate = rate, .audit = audit, .measure = measure, .query = query

/* Leaves out the last known-good key: then chance answers for it. */
static tamis_status make_but_good(const uint64_t word[], const tamis_segment *segment,
                                  uint8_t *room, uint8_t *out, uint64_t *size) {
    tamis_segment less = *segment;
    while (less.n && less.n + 200 > segment->n && less.value[less.n - 1] == 0) less.n--;
    if (less.n + 200 > segment->n && less.n) less.n--;
    return make(word, &less, room, out, size);
}
static const tamis_build but_good = {.rule = TAMIS_RECORDS_VALUES,
                                     .made = TAMIS_SEGMENT_MADE | 1 << WIDTH | 1 << NARROW,
                                     .member = 1,
                                     .fit = fit,
                                     .segment = tamis__segment_of,
                                     .work = work,
                                     .max = max,
                                     .make = make_but_good};
const tamis_kind tamis__broken_cascade = {SOUND, .name = "broken_cascade",
                                          .contract = "known_good_stay_out", .build = &but_good};
