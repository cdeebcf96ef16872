/* SPDX-License-Identifier: MIT */
/* quotient: fingerprints by their quotient, which can be removed, listed and moved.
 *
 * What Pagh, Pagh and Rao (2005) promised, a dynamic set in n log2(1/fpr) + O(n) bits, in the
 * practical form of Pandey, Bender, Johnson and Patro (2017), the rank-and-select quotient filter.
 * It answers as a table of all fingerprints would, because it is one: the rate is that of two equal
 * fingerprints.
 *
 *     hash * slots = | home | remainder | the rest, not stored |
 *
 *     slots.h draws how remainders are stored and how a run is found
 *
 * All that is stored can be listed in order: two filters merge, and a filter is doubled or halved,
 * without the keys. A key that is added again takes another slot, so that every remove undoes one
 * add; where counts are large, use multiset.
 *
 * The price compared with blocked is time (a run is searched, and adding moves slots), and that it
 * is full at 95 % of its slots. */
#include "kinds/fp_multiset.h"
#include "kinds/kind.h"
#include "kinds/slots.h"

enum { MIN_WIDTH = 1 };
static const struct tamis_option options[] = {TAMIS_BAG_REMAINDER_OPTION(MIN_WIDTH), {0}};

/* ---- Equal fingerprints are equal slots ----------------------------------------------------- */

static bool is_smaller(uint64_t a, uint64_t b) {
    return a < b;
}

/* The slot after the last one with this value: where another would go. */
static uint64_t behind(const tamis_slots *t, const tamis_run *run, uint64_t value) {
    return tamis__run_search(t, run, value, is_smaller);
}

static tamis_bag_entry read_entry(const tamis_slots *t, const tamis_run *run, uint64_t at) {
    const uint64_t value = tamis__slot_get(t, at), n = behind(t, run, value) - at;
    return (tamis_bag_entry){value, n, n};
}

static uint64_t length(const tamis_slots *t, uint64_t value, uint64_t count) {
    (void)t, (void)value;
    return count;
}

static tamis_status put(const tamis_slots *t, uint64_t home, uint64_t value, uint64_t count) {
    tamis_run run = tamis__run_of(t, home);
    tamis_status rc = TAMIS_OK;
    for (const uint64_t at = behind(t, &run, value); count && !rc; count--)
        rc = tamis__slot_insert(t, home, &run, at, value);
    return rc;
}

static bool is_legal(const tamis_slots *t, const tamis_run *run) {
    for (uint64_t at = run->start + 1; at < run->end; at++)
        if (tamis__slot_get(t, at - 1) > tamis__slot_get(t, at)) return false;
    return true;
}

static const tamis_bag_code code = {.name = "quotient",
                                    .min_width = MIN_WIDTH,
                                    .read = read_entry,
                                    .length = length,
                                    .put = put,
                                    .is_legal = is_legal};

/* ---- Querying, adding, removing ------------------------------------------------------------- */

/* The last slot with the fingerprint of a hash; false when there is none. */
static bool find(const tamis_slots *t, const tamis_fingerprint *fp, tamis_run *run, uint64_t *at) {
    if (!tamis__is_occupied(t, fp->home)) return false;
    *run = tamis__run_of(t, fp->home);
    *at = behind(t, run, fp->value);
    return (*at)-- > run->start && tamis__slot_get(t, *at) == fp->value;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_slots t = tamis__bag_slots(f);
    tamis__slots_query(&t, b.hash, b.n, hit);
}

static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__bag_slots(f);
    return tamis__slots_has(&t, hash);
}

static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    const tamis_slots t = tamis__bag_slots(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, *b.hash);
    tamis_run run;
    uint64_t at;
    if (!find(&t, &fp, &run, &at)) return tamis__bag_not_found(&code);
    tamis__slot_erase(&t, fp.home, &run, at);
    return TAMIS_OK;
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_slots t = tamis__bag_slots(f);
    size_t done = tamis__slots_add(&t, b.hash, b.n);
    if (done == b.n) return TAMIS_OK;
    const tamis_fingerprint fp = tamis__fingerprint(&t, b.hash[done]);
    const tamis_status rc = put(&t, fp.home, fp.value, 1); /* fails again, and sets the message */
    while (done) remove_one(f, tamis__hashes(&b.hash[--done], 1));
    return rc;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return tamis__bag_plan(&code, params, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    return tamis__bag_check(&code, word, size);
}

const tamis_kind tamis__quotient = {
    .name = "quotient",
    .contract = "removes, lists, merges and resizes without the keys; full at 95 % of its slots",
    .word = {"slots", "remainder"},
    .options = options,
    .traits = TAMIS_ANY_ORDER,
    .own = &code,
    .plan = plan,
    .check = check,
    .probes = tamis__one_probe,
    .rate = tamis__bag_rate,
    .audit = tamis__bag_audit,
    .measure = tamis__bag_measure,
    .query = query,
    .add = add,
    .remove = remove_one,
    .next = tamis__bag_next,
    .room = tamis__bag_room,
    .speed = &(const tamis_speed){.prefers_sorted = true, .has = has, .one = tamis__slots_one},
    .reshape = &(const tamis_reshape){.resize = tamis__bag_resize, .move = tamis__bag_move},
    .sets = &(const tamis_sets){.merge = tamis__bag_merge},
};
