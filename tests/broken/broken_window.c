/* SPDX-License-Identifier: MIT */
/* Lies of window: time that goes too fast, too slowly, or not at all. */
#define tamis__window tamis__window_inside
#include "src/kinds/window.c"
#undef tamis__window

#include "bits/packed.h"
#include "tests/broken/liar.h"

#define SOUND                                                                                     \
    .word = {"hashes", "generations", "each", "slice", "by"}, .traits = TAMIS_AGES, .plan = plan, \
    .check = check, .probes = probes, .rate = rate, .audit = audit, .measure = measure,           \
    .query = query, .ageing = &(const tamis_ageing){.tick = turn}, .add = add

/* Turns one add too early. */
static tamis_status add_early(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        if (adds_of(f) + 1 >= f->word[EACH]) turn(f);
        add(f, tamis__hashes(b.hash + j, 1));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_early = {SOUND, .name = "broken_early",
                                        .contract = "window_holds_its_guarantee", .add = add_early};

/* Divides the window into generations and drops what is left over. */
static tamis_status plan_rounded_down(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = plan(params, word);
    if (!rc && params->capacity > word[GENERATIONS])
        word[EACH] = params->capacity / word[GENERATIONS];
    return rc;
}
const tamis_kind tamis__broken_rounded = {SOUND, .name = "broken_rounded",
                                          .contract = "window_holds_its_guarantee",
                                          .plan = plan_rounded_down};

/* Queries the newest and the oldest keys, and none in between. */
static void query_ends(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const uint64_t k = f->word[HASHES], l = f->word[GENERATIONS], head = youngest(f);
    for (size_t j = 0; j < b.n; j++) {
        uint64_t young = 0, old = 0;
        for (uint64_t i = 0; i < k; i++) {
            const uint64_t a = position(f, place_of(f, head, i), b.hash[j]);
            const uint64_t z = position(f, place_of(f, head, l + i), b.hash[j]);
            young += tamis__bit_get(f->bytes + STATE_BYTES, a);
            old += tamis__bit_get(f->bytes + STATE_BYTES, z);
        }
        hit[j] = young == k || old == k;
    }
}
const tamis_kind tamis__broken_ends = {
    SOUND, .name = "broken_ends", .contract = "window_holds_its_guarantee", .query = query_ends};

/* Starts over when it is full, as two filters that are swapped without a look at the old one. */
static tamis_status add_anew(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        if (f->items + j && (f->items + j) % (f->word[GENERATIONS] * f->word[EACH]) == 0)
            for (uint64_t i = 0; i < slices_of(f->word); i++) turn(f);
        add(f, tamis__hashes(b.hash + j, 1));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_anew = {SOUND, .name = "broken_anew",
                                       .contract = "programs_agree_with_a_model", .add = add_anew};

/* Clears half of the slice that becomes the youngest. */
static void turn_half(tamis_body *f) {
    const uint64_t half = f->word[SLICE] / 2;
    tamis__put64(f->bytes + AT_TURNS, turns_of(f) + 1);
    tamis__put64(f->bytes + AT_ADDS, 0);
    for (uint64_t i = 0; i < half; i++)
        tamis__bits_put(f->bytes + STATE_BYTES, youngest(f) * f->word[SLICE] + i, 1, 0);
}
static tamis_status add_half_cleared(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        if (adds_of(f) == f->word[EACH]) turn_half(f);
        add(f, tamis__hashes(b.hash + j, 1));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_half_cleared = {SOUND, .name = "broken_half_cleared",
                                               .contract = "old_keys_leave",
                                               .add = add_half_cleared, .ageing = NULL};

/* Time stands still: nothing is ever cleared. */
static tamis_status add_for_ever(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        if (adds_of(f) == f->word[EACH]) tamis__put64(f->bytes + AT_ADDS, 0);
        add(f, tamis__hashes(b.hash + j, 1));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_for_ever = {SOUND, .name = "broken_for_ever",
                                           .contract = "old_keys_leave", .add = add_for_ever,
                                           .ageing = NULL};

/* A clock that does not tick. */
static tamis_status plan_by_clock(const tamis_params *params, uint64_t word[]) {
    tamis_params by_clock = *params;
    by_clock.has_option[OPT_BY] = true;
    by_clock.option[OPT_BY] = BY_CLOCK;
    return plan(&by_clock, word);
}
static void turn_not(tamis_body *f) {
    (void)f;
}
const tamis_kind tamis__broken_clock = {SOUND, .name = "broken_clock", .contract = "old_keys_leave",
                                        .plan = plan_by_clock,
                                        .ageing = &(const tamis_ageing){.tick = turn_not}};
