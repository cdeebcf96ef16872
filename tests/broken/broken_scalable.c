/* SPDX-License-Identifier: MIT */
/* Lies of scalable: stacks that lean. */
#define tamis__scalable tamis__scalable_inside
#include "src/kinds/scalable.c"
#undef tamis__scalable

#include "tests/broken/liar.h"

#define SOUND                                                                                \
    .word = {"kind", "first", "rate", "stages", "bytes", "shape_0", "shape_1", "shape_2"},   \
    .traits = TAMIS_ADDS_ONCE, .plan = plan, .check = check, .probes = probes, .rate = rate, \
    .start = start, .audit = audit, .measure = measure, .query = query, .add = add,          \
    .reshape = &(const tamis_reshape){.grow = grow, .move = move},                           \
    .sets = &(const tamis_sets){.merge = merge, .may_compare = may_compare}, .room = room

/* Every stage has the rate of the first: each is a good filter, but not all together. Stages come
 * one at a time here, so it is enough to compensate for the next one's stricter rate. */
static void make_up(uint64_t word[], uint64_t stage) {
    word[RATE] *= (stage + 1) * (stage + 1);
}
static tamis_status grow_flat(const tamis_body *f, uint64_t need, uint64_t word[]) {
    const uint64_t asked = word[RATE];
    make_up(word, word[STAGES]);
    const tamis_status rc = grow(f, need, word);
    word[RATE] = asked;
    return rc;
}
static tamis_status move_flat(tamis_body *to, const tamis_body *from) {
    tamis_body flat = *to;
    make_up(flat.word, from->word[STAGES]);
    return move(&flat, from);
}
const tamis_kind tamis__broken_flat = {
    SOUND, .name = "broken_flat", .contract = "growth_keeps_rate",
    .reshape = &(const tamis_reshape){.grow = grow_flat, .move = move_flat}};

/* Measures its newest stage only. */
static void measure_newest(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    stack s;
    (void)other;
    unstack(f, &s);
    s.kind->measure(&s.stage[s.count - 1], NULL, out);
}
const tamis_kind tamis__broken_top_rate = {
    SOUND, .name = "broken_top_rate", .contract = "growth_keeps_rate", .measure = measure_newest};

/* Queries its newest stage only, and reports it honestly. */
static void query_newest(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    stack s;
    unstack(f, &s);
    s.kind->query(&s.stage[s.count - 1], b, hit);
}
const tamis_kind tamis__broken_newest = {SOUND, .name = "broken_newest",
                                         .contract = "growth_keeps_rate", .measure = measure_newest,
                                         .query = query_newest};

/* Stages that are not spread: keys in the order of their hashes fill one corner of each. */
static void start_huddled(tamis_body *f) {
    tamis__put64(f->bytes + AT_SPREAD, 0);
}
static tamis_status move_huddled(tamis_body *to, const tamis_body *from) {
    const tamis_status rc = move(to, from);
    stack s;
    if (!rc) unstack(to, &s);
    for (uint64_t i = 0; !rc && i < s.count; i++)
        tamis__put64(header_of(&s.stage[i]) + AT_SPREAD, 0);
    return rc;
}
const tamis_kind tamis__broken_huddled = {
    SOUND, .name = "broken_huddled", .contract = "growth_in_any_order", .start = start_huddled,
    .reshape = &(const tamis_reshape){.grow = grow, .move = move_huddled}};

/* Compares stage by stage, although a key may be in different stages. */
const tamis_kind tamis__broken_side_by_side = {
    SOUND, .name = "broken_side_by_side", .contract = "overlap_past_capacity",
    .sets = &(const tamis_sets){.merge = merge, .may_compare = NULL}};

/* Joins stages that are full on both sides. */
static tamis_status merge_anything(tamis_body *into, const tamis_body *from) {
    stack a, b;
    unstack(into, &a);
    unstack(from, &b);
    tamis_status rc = are_alike(&a, &b);
    for (uint64_t i = 0; i < a.count && !rc; i++) {
        const uint64_t taken = taken_by_both(a.kind, &a.stage[i], &b.stage[i]);
        rc = a.kind->sets->merge(&a.stage[i], &b.stage[i]);
        set_taken(&a.stage[i], taken);
    }
    return rc;
}
const tamis_kind tamis__broken_crowded = {
    SOUND, .name = "broken_crowded", .contract = "unions_of_grown_are_true",
    .sets = &(const tamis_sets){.merge = merge_anything, .may_compare = may_compare}};

/* Counts what it stored, not what came. */
static void measure_stored(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    stack s;
    measure(f, other, out);
    unstack(f, &s);
    out->items.value = 0;
    for (uint64_t i = 0; i < s.count; i++) out->items.value += (double)s.stage[i].items;
}
const tamis_kind tamis__broken_stored_only = {SOUND, .name = "broken_stored_only",
                                              .contract = "growth_in_any_order",
                                              .measure = measure_stored};

/* Accepts a plan that its second stage cannot keep. */
static tamis_status plan_for_today(const tamis_params *params, uint64_t word[]) {
    tamis_params blocked = *params;
    blocked.has_option[OPT_KIND] = true;
    blocked.option[OPT_KIND] = BLOCKED;
    return plan_first(&blocked, word);
}
const tamis_kind tamis__broken_for_today = {SOUND, .name = "broken_for_today",
                                            .contract = "grows_at_its_lowest_rate",
                                            .plan = plan_for_today};
