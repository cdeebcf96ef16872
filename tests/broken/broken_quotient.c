/* SPDX-License-Identifier: MIT */
/* Lies of quotient: fingerprints that get lost, change or multiply when they are removed, listed or
 * moved. */
#define tamis__quotient tamis__quotient_inside
#include "src/kinds/quotient.c"
#undef tamis__quotient

#include "tests/broken/liar.h"

#define SOUND                                                                                \
    .word = {"slots", "remainder"}, .traits = TAMIS_ANY_ORDER, .own = &code, .plan = plan,   \
    .check = check, .probes = tamis__one_probe, .rate = tamis__bag_rate,                     \
    .audit = tamis__bag_audit, .measure = tamis__bag_measure, .query = query, .add = add,    \
    .remove = remove_one, .next = tamis__bag_next,                                           \
    .reshape = &(const tamis_reshape){.resize = tamis__bag_resize, .move = tamis__bag_move}, \
    .sets = &(const tamis_sets){.merge = tamis__bag_merge}, .room = tamis__bag_room

enum { SLOTS = TAMIS_BAG_SLOTS, REMAINDER = TAMIS_BAG_REMAINDER };

/* ---- Removing ------------------------------------------------------------------------------- */

/* One remove takes every slot with that fingerprint. */
static tamis_status remove_all(tamis_body *f, tamis_batch b) {
    const tamis_status rc = remove_one(f, tamis__hashes(b.hash, 1));
    while (!rc && remove_one(f, tamis__hashes(b.hash, 1)) == TAMIS_OK) continue;
    return rc;
}
const tamis_kind tamis__broken_sweep = {SOUND, .name = "broken_sweep",
                                        .contract = "second_add_needs_second_remove",
                                        .remove = remove_all};

/* ---- Listing -------------------------------------------------------------------------------- */

/* Stops before the last. */
static bool next_but_last(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    uint64_t ahead, more, times;
    if (!tamis__bag_next(f, cursor, hash, count)) return false;
    ahead = *cursor;
    return tamis__bag_next(f, &ahead, &more, &times);
}
const tamis_kind tamis__broken_list_short = {SOUND, .name = "broken_list_short",
                                             .contract = "listing_rebuilds", .next = next_but_last};

/* Begins again at the end. */
static bool next_round(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    if (tamis__bag_next(f, cursor, hash, count)) return true;
    *cursor = 0;
    return tamis__bag_next(f, cursor, hash, count);
}
const tamis_kind tamis__broken_list_round = {SOUND, .name = "broken_list_round",
                                             .contract = "listing_rebuilds", .next = next_round};

/* Lists each fingerprint of a multiset once. */
static bool next_once(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    const bool is_there = tamis__bag_next(f, cursor, hash, count);
    *count = 1;
    return is_there;
}
const tamis_kind tamis__broken_list_once = {SOUND, .name = "broken_list_once",
                                            .contract = "listing_rebuilds", .next = next_once};

/* Returns the hash before the first that has the fingerprint. */
static bool next_beside(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    const bool is_there = tamis__bag_next(f, cursor, hash, count);
    --*hash;
    return is_there;
}
const tamis_kind tamis__broken_list_beside = {SOUND, .name = "broken_list_beside",
                                              .contract = "listing_rebuilds", .next = next_beside};

/* Every fingerprint comes with the count of the one before it. */
static bool next_late(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    static uint64_t late;
    const uint64_t given = *cursor ? late : 1;
    const bool is_there = tamis__bag_next(f, cursor, hash, &late);
    *count = given;
    return is_there;
}
const tamis_kind tamis__broken_list_late = {SOUND, .name = "broken_list_late",
                                            .contract = "listing_rebuilds", .next = next_late};

/* ---- Resizing ------------------------------------------------------------------------------- */

/* Moves everything to where `place` says; what finds no room is dropped. */
static tamis_status move_by(tamis_body *to, const tamis_body *from,
                            tamis_fingerprint (*place)(const tamis_slots *to,
                                                       const tamis_slots *from,
                                                       tamis_fingerprint)) {
    const tamis_slots a = tamis__bag_slots(to), b = tamis__bag_slots(from);
    uint64_t cursor = 0, hash, count;
    while (tamis__bag_next(from, &cursor, &hash, &count)) {
        const tamis_fingerprint fp = place(&a, &b, tamis__fingerprint(&b, hash));
        put(&a, fp.home, fp.value, count);
    }
    return TAMIS_OK;
}

static tamis_fingerprint right_place(const tamis_slots *to, const tamis_slots *from,
                                     tamis_fingerprint fp) {
    const uint64_t whole = fp.home << from->width | fp.value;
    return (tamis_fingerprint){whole >> to->width, whole & tamis__field_mask(to->width)};
}

/* The bit that moves from the remainder to the home is lost. */
static tamis_fingerprint without_bit(const tamis_slots *to, const tamis_slots *from,
                                     tamis_fingerprint fp) {
    if (to->width < from->width) fp.value &= tamis__field_mask(to->width);
    return right_place(to, from, fp);
}
static tamis_status move_without_bit(tamis_body *to, const tamis_body *from) {
    return move_by(to, from, without_bit);
}
const tamis_kind tamis__broken_lost_bit = {
    SOUND, .name = "broken_lost_bit", .contract = "resize_keeps_answers",
    .reshape = &(const tamis_reshape){.resize = tamis__bag_resize, .move = move_without_bit}};

/* The bit is lost on the way back. */
static tamis_fingerprint without_bit_back(const tamis_slots *to, const tamis_slots *from,
                                          tamis_fingerprint fp) {
    if (to->width > from->width) fp.home &= ~tamis__field_mask(to->width - from->width);
    return right_place(to, from, fp);
}
static tamis_status move_without_bit_back(tamis_body *to, const tamis_body *from) {
    return move_by(to, from, without_bit_back);
}
const tamis_kind tamis__broken_way_back = {
    SOUND, .name = "broken_way_back", .contract = "resize_keeps_answers",
    .reshape = &(const tamis_reshape){.resize = tamis__bag_resize, .move = move_without_bit_back}};

/* Returns success and does nothing. */
static tamis_status resize_not(const tamis_body *f, uint64_t capacity, uint64_t word[]) {
    (void)f, (void)capacity, (void)word;
    return TAMIS_OK;
}
const tamis_kind tamis__broken_same_size = {
    SOUND, .name = "broken_same_size", .contract = "resize_keeps_answers",
    .reshape = &(const tamis_reshape){.resize = resize_not, .move = tamis__bag_move}};

/* Can only become larger. */
static tamis_status resize_up(const tamis_body *f, uint64_t capacity, uint64_t word[]) {
    if (capacity < tamis__slots_limit(word[SLOTS]))
        return tamis__fail(TAMIS_INVALID, "it has room already");
    return tamis__bag_resize(f, capacity, word);
}
const tamis_kind tamis__broken_only_up = {
    SOUND, .name = "broken_only_up", .contract = "resize_keeps_answers",
    .reshape = &(const tamis_reshape){.resize = resize_up, .move = tamis__bag_move}};

/* Shrinks to any requested size; what no longer fits is dropped. */
static tamis_status resize_to_any(const tamis_body *f, uint64_t capacity, uint64_t word[]) {
    const tamis_status rc = tamis__bag_resize(f, capacity, word);
    if (rc != TAMIS_FULL || word[REMAINDER] == TAMIS_BAG_MAX_REMAINDER) return rc;
    word[SLOTS] /= 2;
    word[REMAINDER]++;
    return TAMIS_OK;
}
static tamis_status move_what_fits(tamis_body *to, const tamis_body *from) {
    return move_by(to, from, right_place);
}
const tamis_kind tamis__broken_squeeze = {
    SOUND, .name = "broken_squeeze", .contract = "resize_keeps_answers",
    .reshape = &(const tamis_reshape){.resize = resize_to_any, .move = move_what_fits}};

/* Moves every fingerprint once, however often it occurs. */
static tamis_status move_once(tamis_body *to, const tamis_body *from) {
    const tamis_slots a = tamis__bag_slots(to);
    uint64_t cursor = 0, hash, count;
    while (tamis__bag_next(from, &cursor, &hash, &count)) {
        const tamis_fingerprint fp = tamis__fingerprint(&a, hash);
        put(&a, fp.home, fp.value, 1);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_move_once = {
    SOUND, .name = "broken_move_once", .contract = "programs_agree_with_a_model",
    .reshape = &(const tamis_reshape){.resize = tamis__bag_resize, .move = move_once}};
