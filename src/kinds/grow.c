/* SPDX-License-Identifier: MIT */
/* grow: starts small and doubles as often as needed, without the keys and with the rate kept.
 *
 * InfiniFilter, by Dayan, Bercea, Reviriego and Pagh (2023), on the slots of a quotient filter.
 * Doubling makes the first bit of every fingerprint a bit of its home, so old fingerprints get
 * shorter, and if all did, the filter would soon answer yes to everything. Here each slot encodes
 * the length of its fingerprint, and keys added after a doubling get longer ones. Old, short ones
 * are a minority that halves with every doubling.
 *
 *     a slot of 8 bits      1 0 1 1 0 0 1 1        the fingerprint 1011001, and a 1 that ends it
 *     two doublings later   1 1 0 0 1 1 0 0        11001; the bits 1 0 have become part of the home
 *     seven doublings       1 0 0 0 0 0 0 0        void: no bits left, it matches all of its home
 *
 * Keys that are added after X doublings have F(X) = F(0) + ceil(2 log2(X + 1)) bits, and slots are
 * one bit wider than that. When every size is filled to its load a, keys of time X are half of that
 * load, and their part of the rate stays a/2 * 2^-F(X); so the rate stays below
 *
 *     a * 2^-F(0) * (1 + 1/2 * (2^-2 + 2^-4 + 2^-4 + 2^-5 + ...))  <  a * 2^-F(0) * 1.26
 *
 * and F(0) is chosen so that this is the target rate, which is never exceeded.
 *
 * A void is copied to both homes that its home becomes (as in Aleph Filter, Dayan, Bercea and Pagh
 * 2024), so that a query still reads one run. Its copies take as many slots as its part of the
 * rate: at most the rate times the slots. A key of which only a void is left cannot be removed,
 * because the void may be shared by others.
 *
 * Homes and fingerprints come from the mixed hash. Adding in the order of hashes, as builders do,
 * would otherwise put all keys so far into the first homes: a table that has yet to double many
 * times has no slots for so many neighbours. Images from before that (spread 0) continue
 * without. */
#include <math.h>
#include <stdio.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"
#include "kinds/slots.h"

enum { SLOTS, WIDTH, DOUBLINGS, SPREAD }; /* shape words */
enum { MAX_DOUBLINGS = 46 };              /* from 64 homes to 2^52 */

/* ---- Shape ---------------------------------------------------------------------------------- */

/* ceil(2 log2(doublings + 1)), in whole numbers. */
static unsigned longer_by(unsigned doublings) {
    const uint64_t square = (uint64_t)(doublings + 1) * (doublings + 1);
    unsigned bits = 0;
    while ((uint64_t)1 << bits < square) bits++;
    return bits;
}

/* Bits of a new fingerprint now, and at an earlier time. */
static unsigned bits_at(const uint64_t word[], unsigned doublings) {
    return (unsigned)word[WIDTH] - 1 - longer_by((unsigned)word[DOUBLINGS]) + longer_by(doublings);
}

/* The sum above in units of 2^-F(0), with a load of 19/20 and the maximum number of doublings. All
 * terms are exact. */
static double worst_rate(void) {
    double sum = 1;
    for (unsigned x = 1; x <= MAX_DOUBLINGS; x++) sum += ldexp(0.5, -(int)longer_by(x));
    return sum * 19 / 20;
}

/* The widest slots to start with: they get wider by longer_by(MAX_DOUBLINGS), which is 12. */
enum { MIN_FIRST_WIDTH = 2, MAX_FIRST_WIDTH = TAMIS_SLOTS_MAX_WIDTH - 12 };

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t homes = tamis__slots_homes_for(keys);
    if (!homes) return tamis__fail(TAMIS_TOO_LARGE, "grow would need over 2^52 slots");
    word[SPREAD] = 1;
    if (params->bits) {
        if (params->bits / 8 >= 8 &&
            tamis__slots_within(params->bits / 8 - 8, keys, MIN_FIRST_WIDTH, MAX_FIRST_WIDTH,
                                &word[SLOTS], &word[WIDTH]))
            return TAMIS_OK;
        return tamis__fail(TAMIS_INVALID, "size must be at least %llu bytes for %llu keys in grow",
                           (unsigned long long)tamis__slots_size(homes, MIN_FIRST_WIDTH) + 8,
                           (unsigned long long)keys);
    }
    unsigned bits = MIN_FIRST_WIDTH - 1;
    while (ldexp(worst_rate(), -(int)bits) > params->fpr) bits++;
    word[SLOTS] = homes;
    word[WIDTH] = bits + 1;
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[DOUBLINGS] > MAX_DOUBLINGS || !tamis__slots_legal(word[SLOTS], word[WIDTH]) ||
        (word[SLOTS] >> word[DOUBLINGS]) % 64 ||
        word[SLOTS] >> word[DOUBLINGS] << word[DOUBLINGS] != word[SLOTS])
        return tamis__fail(TAMIS_CORRUPT,
                           "grow cannot have %llu slots of %llu bits after %llu doublings",
                           (unsigned long long)word[SLOTS], (unsigned long long)word[WIDTH],
                           (unsigned long long)word[DOUBLINGS]);
    if (word[SPREAD] > 1)
        return tamis__fail(TAMIS_CORRUPT, "grow has spread 0 or 1, not %llu",
                           (unsigned long long)word[SPREAD]);
    const unsigned longer = longer_by((unsigned)word[DOUBLINGS]);
    if (word[WIDTH] < MIN_FIRST_WIDTH + longer || word[WIDTH] > MAX_FIRST_WIDTH + longer)
        return tamis__fail(TAMIS_CORRUPT, "slots of %llu bits do not match %llu doublings",
                           (unsigned long long)word[WIDTH], (unsigned long long)word[DOUBLINGS]);
    *size = 8 + tamis__slots_size(word[SLOTS], (unsigned)word[WIDTH]);
    return TAMIS_OK;
}

/* Every size is filled before the next one, as core does it: the keys of each time have the length
 * of that time, less the doublings since. More items than fit will have doubled it again. */
static double rate(const uint64_t word[], uint64_t items) {
    unsigned doublings = (unsigned)word[DOUBLINGS];
    uint64_t slots = word[SLOTS];
    for (; items > tamis__slots_limit(slots) && doublings < MAX_DOUBLINGS; doublings++) {
        if (slots > TAMIS_SLOTS_MAX_HOMES >> 1) break;
        slots <<= 1;
    }
    double misses = 0; /* logarithm of the probability */
    uint64_t before = 0;
    for (unsigned x = 0; x <= doublings; x++) {
        uint64_t until = tamis__slots_limit(slots >> (doublings - x));
        if (x == doublings || until > items) until = items;
        const int left = (int)bits_at(word, x) - (int)(doublings - x);
        misses += (double)(until - before) * log1p(-ldexp(1 / (double)slots, -left));
        before = until;
    }
    return -expm1(misses);
}

/* ---- Slots ---------------------------------------------------------------------------------- */

/* The first word of the payload: how many keys have become void. Voids themselves are copied. */
static uint64_t void_keys(const tamis_body *f) {
    return tamis__get64(f->bytes);
}

static tamis_slots slots_of(const tamis_body *f) {
    return tamis__slots_at(f->bytes + 8, f->word[SLOTS], f->word[WIDTH]);
}

static uint64_t placed(const tamis_body *f, uint64_t hash) {
    return f->word[SPREAD] ? tamis__mix(hash) : hash;
}

/* A fingerprint covers all values that begin with it: an interval from `first_of`, whose half
 * length is its closing 1. */
static uint64_t closing_of(uint64_t slot) {
    return slot & (~slot + 1);
}

static uint64_t first_of(uint64_t slot) {
    return slot & (slot - 1);
}

static unsigned length_of(const tamis_slots *t, uint64_t slot) {
    return t->width - 1 - (unsigned)__builtin_ctzll(slot);
}

static bool matches(uint64_t slot, uint64_t value) {
    return value - first_of(slot) < 2 * closing_of(slot);
}

/* The order in a run: by the first value, and what contains another comes before it. So a match
 * cannot come after one that begins above the value, and the last match is the longest. */
static bool comes_before(uint64_t a, uint64_t b) {
    const uint64_t first = first_of(a), second = first_of(b);
    return first < second || (first == second && closing_of(a) > closing_of(b));
}

static bool is_legal(const tamis_slots *t, const tamis_run *run) {
    for (uint64_t at = run->start; at < run->end; at++) {
        const uint64_t slot = tamis__slot_get(t, at);
        if (slot == 0) return false;
        if (at > run->start && comes_before(slot, tamis__slot_get(t, at - 1))) return false;
    }
    return true;
}

/* How many slots have a fingerprint of each length. */
typedef struct lengths {
    uint64_t slots[TAMIS_SLOTS_MAX_WIDTH];
} lengths;

static lengths count_lengths(const tamis_slots *t) {
    lengths all = {{0}};
    for (uint64_t home = tamis__next_home(t, 0); home < t->homes;
         home = tamis__next_home(t, home + 1)) {
        const tamis_run run = tamis__run_of(t, home);
        for (uint64_t at = run.start; at < run.end; at++)
            all.slots[length_of(t, tamis__slot_get(t, at))]++;
    }
    return all;
}

static tamis_status audit(const tamis_body *f) {
    const tamis_slots t = slots_of(f);
    const tamis_status rc = tamis__slots_audit(&t, is_legal);
    if (rc) return rc;
    const uint64_t voids = count_lengths(&t).slots[0];
    if (void_keys(f) > voids || (voids && !void_keys(f)))
        return tamis__fail(TAMIS_CORRUPT, "%llu void slots cannot represent %llu keys",
                           (unsigned long long)voids, (unsigned long long)void_keys(f));
    return TAMIS_OK;
}

/* ---- Querying, adding, removing ------------------------------------------------------------- */

/* The longest match for a fingerprint; false when there is none. */
static bool find(const tamis_slots *t, const tamis_fingerprint *fp, tamis_run *run, uint64_t *at) {
    bool is_found = false;
    if (!tamis__is_occupied(t, fp->home)) return false;
    *run = tamis__run_of(t, fp->home);
    for (uint64_t i = run->start; i < run->end; i++) {
        const uint64_t slot = tamis__slot_get(t, i);
        if (first_of(slot) > fp->value) break;
        if (!matches(slot, fp->value)) continue;
        is_found = true;
        *at = i;
    }
    return is_found;
}

/* Hashes are placed some at a time, so that their homes can be prefetched. */
enum { BATCH = 256 };

static size_t place_some(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *place) {
    const size_t some = n < BATCH ? n : BATCH;
    for (size_t i = 0; i < some; i++) place[i] = placed(f, hash[i]);
    return some;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_slots t = slots_of(f);
    uint64_t place[BATCH];
    for (size_t from = 0, some; from < b.n; from += some) {
        some = place_some(f, b.hash + from, b.n - from, place);
        for (size_t i = 0; i < some; i++) {
            tamis__slots_expect(&t, place, i, some);
            const tamis_fingerprint fp = tamis__fingerprint(&t, place[i]);
            tamis_run run;
            uint64_t at;
            hit[from + i] = find(&t, &fp, &run, &at);
        }
    }
}

static tamis_status put(const tamis_slots *t, uint64_t home, uint64_t slot) {
    tamis_run run = tamis__run_of(t, home);
    return tamis__slot_insert(t, home, &run, tamis__run_search(t, &run, slot, comes_before), slot);
}

/* The closing 1 replaces the last bit of the value. */
static tamis_status add_placed(tamis_body *f, uint64_t place) {
    const tamis_slots t = slots_of(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, place);
    return put(&t, fp.home, fp.value | 1);
}

/* The longest match may be that of another key. Then the shorter one that was meant is a prefix of
 * it, and answers for both from now on. A void may answer for unknown keys, also under other homes,
 * and stays. */
static tamis_status remove_placed(tamis_body *f, tamis_batch b) {
    const tamis_slots t = slots_of(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, *b.hash);
    tamis_run run;
    uint64_t at;
    if (!find(&t, &fp, &run, &at))
        return tamis__fail(TAMIS_NOT_FOUND, "grow has no fingerprint of that key");
    if (length_of(&t, tamis__slot_get(&t, at)) == 0)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "the key is too old to be removed: after %llu doublings "
                           "its fingerprint has no bits left",
                           (unsigned long long)f->word[DOUBLINGS]);
    tamis__slot_erase(&t, fp.home, &run, at);
    return TAMIS_OK;
}

static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    const uint64_t place = placed(f, *b.hash);
    return remove_placed(f, tamis__hashes(&place, 1));
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_slots t = slots_of(f);
    uint64_t place[BATCH];
    for (size_t from = 0, some; from < b.n; from += some) {
        some = place_some(f, b.hash + from, b.n - from, place);
        const tamis_status rc = tamis__add_all(f, &t, place, some, add_placed, remove_placed);
        if (!rc) continue;
        while (from) remove_one(f, tamis__hashes(&b.hash[--from], 1));
        return rc;
    }
    return TAMIS_OK;
}

/* ---- Growing -------------------------------------------------------------------------------- */

static uint64_t room(const tamis_body *f) {
    const tamis_slots t = slots_of(f);
    return tamis__slots_room(&t);
}

static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_slots t = slots_of(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, placed(f, hash));
    tamis_run run;
    uint64_t at;
    return find(&t, &fp, &run, &at);
}

static bool add_one(tamis_body *f, uint64_t hash) {
    return room(f) && add_placed(f, placed(f, hash)) == TAMIS_OK;
}

static tamis_one one(const uint64_t word[]) {
    (void)word;
    return (tamis_one){.has = has, .add = add_one};
}

/* Slots in use after more doublings: a fingerprint that runs out of bits is copied from then on.
 * Integers could overflow here for bodies that are all void; a sum too large for a double to be
 * exact is too large for the slots as well. */
static double used_after(const lengths *now, unsigned more) {
    double used = 0;
    for (unsigned bits = 0; bits < TAMIS_SLOTS_MAX_WIDTH; bits++)
        used += ldexp((double)now->slots[bits], more > bits ? (int)(more - bits) : 0);
    return used;
}

static tamis_status grow(const tamis_body *f, uint64_t need, uint64_t word[]) {
    const tamis_slots t = slots_of(f);
    const lengths now = count_lengths(&t);
    for (unsigned more = 1; word[DOUBLINGS] + more <= MAX_DOUBLINGS; more++) {
        if (word[SLOTS] > TAMIS_SLOTS_MAX_HOMES >> more) break;
        const uint64_t homes = word[SLOTS] << more;
        if (used_after(&now, more) + (double)need > (double)tamis__slots_limit(homes)) continue;
        const unsigned doublings = (unsigned)word[DOUBLINGS] + more;
        word[WIDTH] = bits_at(word, doublings) + 1;
        word[DOUBLINGS] = doublings;
        word[SLOTS] = homes;
        return TAMIS_OK;
    }
    return tamis__fail(TAMIS_FULL,
                       "grow cannot double again: it has %llu slots after %llu "
                       "doublings",
                       (unsigned long long)word[SLOTS], (unsigned long long)word[DOUBLINGS]);
}

/* One home becomes 2^more homes. For each of them the run is read once: what begins with the bits
 * of that home goes there without them, and what is shorter goes there as a void. */
static tamis_status move_run(const tamis_slots *to, const tamis_slots *from, uint64_t home,
                             unsigned more) {
    const tamis_run run = tamis__run_of(from, home);
    tamis_status rc = TAMIS_OK;
    for (uint64_t child = 0; child < (uint64_t)1 << more && !rc; child++)
        for (uint64_t at = run.start; at < run.end && !rc; at++) {
            const uint64_t slot = tamis__slot_get(from, at);
            const unsigned bits = length_of(from, slot), used = bits < more ? bits : more;
            if (slot >> (from->width - used) != child >> (more - used)) continue;
            const uint64_t left = slot << used & tamis__field_mask(from->width);
            rc = put(to, home << more | child, left << (to->width - from->width));
        }
    return rc;
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    const tamis_slots a = slots_of(to), b = slots_of(from);
    const unsigned more = (unsigned)(to->word[DOUBLINGS] - from->word[DOUBLINGS]);
    const lengths before = count_lengths(&b);
    uint64_t voids = void_keys(from);
    for (unsigned bits = 1; bits <= more && bits < TAMIS_SLOTS_MAX_WIDTH; bits++)
        voids += before.slots[bits];
    tamis__put64(to->bytes, voids);
    tamis_status rc = TAMIS_OK;
    for (uint64_t home = tamis__next_home(&b, 0); home < b.homes && !rc;
         home = tamis__next_home(&b, home + 1))
        rc = move_run(&a, &b, home, more);
    return rc;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Measures of all runs in one pass. A slot inside an earlier one of its run adds nothing to the
 * rate. Apart from voids it is either the same key again or two keys that collide. */
typedef struct tally {
    double covered;       /* homes that answer yes, with fractions */
    uint64_t used, apart; /* slots; non-voids that are in no other but a void */
    lengths by_length;
} tally;

static void tally_run(const tamis_slots *t, const tamis_run *run, tally *all) {
    uint64_t reach = 0, reach_of_bits = 0; /* where the last slot that stands alone ends */
    for (uint64_t at = run->start; at < run->end; at++) {
        const uint64_t slot = tamis__slot_get(t, at), end = first_of(slot) + 2 * closing_of(slot);
        const unsigned bits = length_of(t, slot);
        all->by_length.slots[bits]++;
        if (end > reach) {
            all->covered += ldexp(1, -(int)bits);
            reach = end;
        }
        if (bits && end > reach_of_bits) {
            all->apart++;
            reach_of_bits = end;
        }
    }
    all->used += run->end - run->start;
}

/* The number of fingerprints expected inside another by chance: a shorter one, or an equal one
 * before it, must begin them under the same home. There may be several short ones. */
static double covered_by_chance(const tally *all, uint64_t homes) {
    double covered = 0, shorter = 0; /* shorter: how many begin a given value, on average */
    for (unsigned bits = 1; bits < TAMIS_SLOTS_MAX_WIDTH; bits++) {
        const double here = (double)all->by_length.slots[bits];
        if (here == 0) continue;
        const double each = ldexp(1, -(int)bits) / (double)homes;
        covered -= here * expm1(-shorter - (here - 1) / 2 * each);
        shorter += here * each;
    }
    return covered;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other; /* there is no merge */
    const tamis_slots t = slots_of(f);
    tally all = {0};
    for (uint64_t home = tamis__next_home(&t, 0); home < t.homes;
         home = tamis__next_home(&t, home + 1)) {
        const tamis_run run = tamis__run_of(&t, home);
        tally_run(&t, &run, &all);
    }
    const double hidden = covered_by_chance(&all, t.homes);
    out->bits_set = all.used;
    out->bits = t.homes;
    out->fpr = all.covered / (double)t.homes;
    out->items.value = (double)all.apart + hidden + (double)void_keys(f);
    out->items.error = sqrt(hidden);
    out->affected = void_keys(f);
    if (out->affected)
        snprintf(out->caveat, sizeof out->caveat,
                 "%llu keys are too old to be removed: their fingerprints have no bits left",
                 (unsigned long long)out->affected);
}

const tamis_kind tamis__grow = {
    .name = "grow",
    .contract = "doubles without limit and keeps its rate; removes keys until they are very old",
    .word = {"slots", "width", "doublings", "spread"},
    .plan = plan,
    .check = check,
    .probes = tamis__one_probe,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_one,
    .room = room,
    .speed = &(const tamis_speed){.has = has, .one = one},
    .reshape = &(const tamis_reshape){.grow = grow, .move = move},
};
