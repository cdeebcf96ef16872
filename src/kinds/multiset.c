/* SPDX-License-Identifier: MIT */
/* multiset: how often each key was added, in the slots of a quotient filter.
 *
 * The counting quotient filter of Pandey, Bender, Johnson and Patro (2017). It stores the multiset
 * of fingerprints exactly: a key gets a wrong count only when another key has its fingerprint.
 * Unlike fixed-width counters nothing overflows, and a key that was added a million times takes a
 * few slots, not a million, because a count has as many digits as it needs.
 *
 * A run holds its remainders in ascending order. A value that should be a larger remainder but is
 * not larger must be a count. For a remainder x of r bits:
 *
 *     times    x > 0            x = 0
 *     1        x                0
 *     2        x x              0 0
 *     3        x 0 x            0 0 0
 *     more     x [0] D x        0 D 0 0
 *
 * D are the digits of times - 3 (times - 4 for x = 0), the most significant first. No digit is
 * written as 0, and for x > 0 none as x, so that the base is 2^r - 2 (2^r - 1 for x = 0). The 0 in
 * brackets is there when the first digit is larger than x, which would look like the next
 * remainder.
 *
 *     remainders of 4 bits:   3 5 5 9 0 10 9 12   means   3 once, 5 twice, 9 eleven times, 12 once
 *
 * One add takes at most one slot more, whatever the count: 1, 2 and 3 times take that many slots,
 * the next counts at most 4, and from then on either a digit is prepended, and then it is the
 * smallest one and needs no 0 where the largest one needed it (or x is above all digits and none
 * ever needs it, or below all and each does), or the first digit passes x and the 0 is added. So as
 * many adds fit as there are free slots, and a count never loses slots by growing. */
#include "kinds/fp_multiset.h"
#include "kinds/kind.h"
#include "kinds/slots.h"

/* ---- Counts as slots ------------------------------------------------------------------------ */

/* 64 digits of base 2, x at both ends, and a 0. */
enum { MAX_SPELLED = 67 };

typedef struct number {
    uint64_t base, above; /* digits 0 to base-1, for counts that are larger than this */
} number;

static number number_of(const tamis_slots *t, uint64_t x) {
    const uint64_t values = (uint64_t)1 << t->width;
    return x ? (number){values - 2, 3} : (number){values - 1, 4};
}

/* A digit as stored in a slot: not 0, and not x. */
static uint64_t digit_written(uint64_t x, uint64_t digit) {
    return digit + 1 + (x && digit + 1 >= x);
}

static uint64_t digit_read(uint64_t x, uint64_t slot) {
    return slot - 1 - (x && slot > x);
}

/* Writes the slots of a value with `count`, at least 1; returns their number. */
static unsigned spell(const tamis_slots *t, uint64_t x, uint64_t count, uint64_t *slot) {
    unsigned n = 0;
    slot[n++] = x;
    if (count == 1) return n;
    if (count > 3) {
        const number in = number_of(t, x);
        uint64_t first = count - in.above, power = 1;
        for (; first >= in.base; first /= in.base) power *= in.base;
        if (x && digit_written(x, first) > x) slot[n++] = 0;
        for (uint64_t rest = count - in.above; power; rest %= power, power /= in.base)
            slot[n++] = digit_written(x, rest / power);
    }
    if (x == 0 ? count > 2 : count == 3) slot[n++] = 0;
    slot[n++] = x;
    return n;
}

static uint64_t length(const tamis_slots *t, uint64_t value, uint64_t count) {
    uint64_t slot[MAX_SPELLED];
    return spell(t, value, count, slot);
}

static uint64_t slot_or(const tamis_slots *t, const tamis_run *run, uint64_t at, uint64_t none) {
    return at < run->end ? tamis__slot_get(t, at) : none;
}

/* The count whose digits are in [at, end). */
static uint64_t count_read(const tamis_slots *t, uint64_t x, uint64_t at, uint64_t end) {
    const number in = number_of(t, x);
    uint64_t count = 0;
    for (; at < end; at++) count = count * in.base + digit_read(x, tamis__slot_get(t, at));
    return count + in.above;
}

/* Two adjacent zeros occur only after the digits of x = 0. */
static tamis_bag_entry read_zero(const tamis_slots *t, const tamis_run *run, uint64_t at) {
    if (slot_or(t, run, at + 1, 1) == 0) {
        const uint64_t n = slot_or(t, run, at + 2, 1) == 0 ? 3 : 2;
        return (tamis_bag_entry){0, n, n};
    }
    for (uint64_t i = at + 1; i + 1 < run->end; i++)
        if (tamis__slot_get(t, i) == 0 && tamis__slot_get(t, i + 1) == 0)
            return (tamis_bag_entry){0, count_read(t, 0, at + 1, i), i + 2 - at};
    return (tamis_bag_entry){0, 1, 1};
}

/* In a run from elsewhere the closing x may be missing: that entry has count 0 and extends to the
 * end of the run, and the gate refuses it. */
static tamis_bag_entry read_entry(const tamis_slots *t, const tamis_run *run, uint64_t at) {
    const uint64_t x = tamis__slot_get(t, at), behind = slot_or(t, run, at + 1, UINT64_MAX);
    if (x == 0) return read_zero(t, run, at);
    if (behind > x) return (tamis_bag_entry){x, 1, 1};
    if (behind == x) return (tamis_bag_entry){x, 2, 2};
    const uint64_t first = at + 1 + (behind == 0);
    uint64_t end = first;
    while (end < run->end && tamis__slot_get(t, end) != x) end++;
    if (end == run->end) return (tamis_bag_entry){x, 0, end - at};
    return (tamis_bag_entry){x, end > first ? count_read(t, x, first, end) : 3, end + 1 - at};
}

/* A run is valid when writing what is read from it gives the same slots. A count that wrapped in
 * reading would not. */
static bool is_legal(const tamis_slots *t, const tamis_run *run) {
    uint64_t slot[MAX_SPELLED], min = 0;
    tamis_bag_entry entry;
    for (uint64_t at = run->start; at < run->end; at += entry.length) {
        entry = read_entry(t, run, at);
        if (entry.count == 0 || entry.value < min || entry.length > MAX_SPELLED ||
            spell(t, entry.value, entry.count, slot) != entry.length)
            return false;
        for (uint64_t i = 0; i < entry.length; i++)
            if (tamis__slot_get(t, at + i) != slot[i]) return false;
        min = entry.value + 1;
    }
    return true;
}

/* ---- Changing a count ----------------------------------------------------------------------- */

/* The entry of a value in the run of its home; where it would be, with count 0, if absent. */
typedef struct found {
    tamis_run run;
    uint64_t at, count, length;
} found;

static found find(const tamis_slots *t, uint64_t home, uint64_t value) {
    const tamis_run run = tamis__run_of(t, home);
    tamis_bag_entry entry;
    uint64_t at = run.start;
    for (; at < run.end; at += entry.length) {
        entry = read_entry(t, &run, at);
        if (entry.value == value) return (found){run, at, entry.count, entry.length};
        if (entry.value > value) break;
    }
    return (found){run, at, 0, 0};
}

/* Slots are added and removed at the end of the entry, then all of it is rewritten. When an insert
 * fails, nothing has changed if it was the first one, and an add has no second. Merging has checked
 * that all will fit, and moving discards a body that it could not fill. */
static tamis_status set_count(const tamis_slots *t, uint64_t home, uint64_t value, found *f,
                              uint64_t count) {
    uint64_t slot[MAX_SPELLED];
    const unsigned n = count ? spell(t, value, count, slot) : 0;
    for (; f->length < n; f->length++) {
        const tamis_status rc = tamis__slot_insert(t, home, &f->run, f->at + f->length, 0);
        if (rc) return rc;
    }
    for (; f->length > n; f->length--) tamis__slot_erase(t, home, &f->run, f->at + f->length - 1);
    for (unsigned i = 0; i < n; i++) tamis__slot_put(t, f->at + i, slot[i]);
    return TAMIS_OK;
}

static tamis_status put(const tamis_slots *t, uint64_t home, uint64_t value, uint64_t count) {
    found f = find(t, home, value);
    if (f.count == 0 && count == 1) return tamis__slot_insert(t, home, &f.run, f.at, value);
    if (f.count > UINT64_MAX - count) return tamis__fail(TAMIS_FULL, "a count would pass 2^64");
    return set_count(t, home, value, &f, f.count + count);
}

/* Slots of one bit could not hold a count. */
enum { MIN_WIDTH = 2 };
static const struct tamis_option options[] = {TAMIS_BAG_REMAINDER_OPTION(MIN_WIDTH), {0}};

static const tamis_bag_code code = {.name = "multiset",
                                    .min_width = MIN_WIDTH,
                                    .read = read_entry,
                                    .length = length,
                                    .put = put,
                                    .is_legal = is_legal};

/* ---- Querying, adding, removing ------------------------------------------------------------- */

static uint64_t count_of(const tamis_slots *t, uint64_t hash) {
    const tamis_fingerprint fp = tamis__fingerprint(t, hash);
    return tamis__is_occupied(t, fp.home) ? find(t, fp.home, fp.value).count : 0;
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *counts) {
    const tamis_slots t = tamis__bag_slots(f);
    for (size_t i = 0; i < b.n; i++) {
        tamis__slots_expect(&t, b.hash, i, b.n);
        counts[i] = count_of(&t, b.hash[i]);
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_slots t = tamis__bag_slots(f);
    for (size_t i = 0; i < b.n; i++) {
        tamis__slots_expect(&t, b.hash, i, b.n);
        hit[i] = count_of(&t, b.hash[i]) != 0;
    }
}

static TAMIS_ONE_KEY bool has(const tamis_body *f, uint64_t hash) {
    const tamis_look look = tamis__slots_look(f, hash);
    if (look != TAMIS_LOOK_UNSURE) return look == TAMIS_LOOK_PRESENT;
    const tamis_slots t = tamis__bag_slots(f);
    return count_of(&t, hash) != 0;
}

static tamis_status add_one(tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__bag_slots(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, hash);
    /* The first of its home is a slot of its own, in any encoding. */
    if (!tamis__is_occupied(&t, fp.home) && tamis__slots_add(&t, &hash, 1)) return TAMIS_OK;
    return put(&t, fp.home, fp.value, 1);
}

static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    const tamis_slots t = tamis__bag_slots(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, *b.hash);
    found it = find(&t, fp.home, fp.value);
    if (it.count == 0) return tamis__bag_not_found(&code);
    return set_count(&t, fp.home, fp.value, &it, it.count - 1);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_slots t = tamis__bag_slots(f);
    return tamis__add_all(f, &t, b.hash, b.n, add_one, remove_one);
}

static TAMIS_ONE_KEY bool add_single(tamis_body *f, uint64_t hash) {
    if (tamis__slots_add_plain(f, hash)) return true;
    return tamis__bag_room(f) && add_one(f, hash) == TAMIS_OK;
}

static tamis_one one(const uint64_t word[]) {
    (void)word;
    return (tamis_one){.has = has, .add = add_single};
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return tamis__bag_plan(&code, params, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    return tamis__bag_check(&code, word, size);
}

const tamis_kind tamis__multiset = {
    .name = "multiset",
    .contract = "counts of any size, exact up to equal fingerprints; removes, lists, resizes",
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
    .speed = &(const tamis_speed){.prefers_sorted = true, .has = has, .one = one},
    .counts = &(const tamis_counts){.count = count},
    .reshape = &(const tamis_reshape){.resize = tamis__bag_resize, .move = tamis__bag_move},
    .sets = &(const tamis_sets){.merge = tamis__bag_merge},
};
