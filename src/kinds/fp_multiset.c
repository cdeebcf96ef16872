/* SPDX-License-Identifier: MIT */
/* Multisets of fingerprints: what quotient and multiset share. */
#include "kinds/fp_multiset.h"

#include <math.h>

#include "kinds/bitmap.h"

enum { SLOTS = TAMIS_BAG_SLOTS, REMAINDER = TAMIS_BAG_REMAINDER };

/* There are homes * 2^remainder fingerprints. Up to 2^63 of them each has at least two hashes, so
 * that listing has a hash for each, and a number between any two. */
enum { MAX_LOG2_FINGERPRINTS = 63 };

/* ---- Shape ---------------------------------------------------------------------------------- */

static double fingerprints(const uint64_t word[]) {
    return ldexp((double)word[SLOTS], (int)word[REMAINDER]);
}

static unsigned max_width(uint64_t homes) {
    const unsigned log2_homes = tamis__log2_floor(homes) + ((homes & (homes - 1)) != 0);
    const unsigned max = MAX_LOG2_FINGERPRINTS - log2_homes;
    return max < TAMIS_BAG_MAX_REMAINDER ? max : TAMIS_BAG_MAX_REMAINDER;
}

/* A non-member is a false positive when one of the keys has its fingerprint. */
double tamis__bag_rate(const uint64_t word[], uint64_t items) {
    return -expm1((double)items * log1p(-1 / fingerprints(word)));
}

tamis_status tamis__bag_check(const tamis_bag_code *code, const uint64_t word[], uint64_t *size) {
    const uint64_t homes = word[SLOTS], width = word[REMAINDER];
    if (!tamis__slots_legal(homes, width) || width < code->min_width || width > max_width(homes))
        return tamis__fail(TAMIS_CORRUPT, "%s cannot have %llu slots of %llu bits", code->name,
                           (unsigned long long)homes, (unsigned long long)width);
    *size = tamis__slots_size(homes, (unsigned)width);
    return TAMIS_OK;
}

static tamis_status too_large(const tamis_bag_code *code) {
    return tamis__fail(TAMIS_TOO_LARGE, "%s would need over 2^52 slots", code->name);
}

/* The fewest homes that keep the rate with a given width: as many as the load needs, or more for
 * the rate. 0 when that many are impossible. */
static uint64_t homes_for_rate(uint64_t keys, double fpr, unsigned width) {
    uint64_t word[TAMIS_WORDS] = {tamis__slots_homes_for(keys), width};
    if (!word[SLOTS]) return 0;
    const double needed = (double)keys / ldexp(-log1p(-fpr), (int)width);
    if (!(needed < (double)TAMIS_SLOTS_MAX_HOMES)) return 0;
    if (needed > (double)word[SLOTS])
        word[SLOTS] = tamis__round_up((uint64_t)ceil(needed), 64, TAMIS_SLOTS_MAX_HOMES);
    while (word[SLOTS] && tamis__bag_rate(word, keys) > fpr) {
        word[SLOTS] += 64;
        if (word[SLOTS] > TAMIS_SLOTS_MAX_HOMES) return 0;
    }
    return word[SLOTS];
}

/* Narrow remainders need more homes, wide ones more bits in each: the size falls, then rises. The
 * best is the narrowest width that keeps the rate at full load, or one bit less with more homes,
 * which is smaller when the rate was narrowly missed. */
static tamis_status plan_for_rate(const tamis_bag_code *code, uint64_t keys, double fpr,
                                  unsigned narrowest, unsigned widest, uint64_t word[]) {
    uint64_t min = UINT64_MAX, homes = 0;
    for (unsigned width = narrowest; width <= widest; width++) {
        homes = homes_for_rate(keys, fpr, width);
        if (!homes || width > max_width(homes)) continue;
        const uint64_t size = tamis__slots_size(homes, width);
        if (size >= min) break;
        min = size;
        word[SLOTS] = homes;
        word[REMAINDER] = width;
    }
    if (min != UINT64_MAX) return TAMIS_OK;
    if (!homes) return too_large(code);
    return tamis__fail(
        TAMIS_INVALID, "fpr=%.3g is too low for %s; with %llu keys the minimum is %.3g", fpr,
        code->name, (unsigned long long)keys, ldexp((double)keys, -MAX_LOG2_FINGERPRINTS));
}

static tamis_status plan_for_size(const tamis_bag_code *code, uint64_t keys, uint64_t size,
                                  unsigned narrowest, unsigned widest, uint64_t word[]) {
    if (!tamis__slots_within(size, keys, narrowest, widest, &word[SLOTS], &word[REMAINDER]))
        return tamis__fail(
            TAMIS_INVALID, "size must be at least %llu bytes for %llu keys in %s",
            (unsigned long long)tamis__slots_size(tamis__slots_homes_for(keys), narrowest),
            (unsigned long long)keys, code->name);
    /* No more homes than fingerprints can use. */
    const uint64_t max = (uint64_t)1 << (MAX_LOG2_FINGERPRINTS - word[REMAINDER]);
    if (word[SLOTS] > max) word[SLOTS] = max;
    return TAMIS_OK;
}

tamis_status tamis__bag_plan(const tamis_bag_code *code, const tamis_params *params,
                             uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t homes = tamis__slots_homes_for(keys);
    if (!homes) return too_large(code);
    unsigned narrowest = code->min_width, widest = max_width(homes);
    if (params->has_option[TAMIS_BAG_OPT_REMAINDER]) {
        narrowest = (unsigned)params->option[TAMIS_BAG_OPT_REMAINDER];
        if (narrowest > widest)
            return tamis__fail(TAMIS_INVALID, "remainder must be at most %u for %llu keys, not %u",
                               widest, (unsigned long long)keys, narrowest);
        widest = narrowest;
    }
    return params->bits ? plan_for_size(code, keys, params->bits / 8, narrowest, widest, word)
                        : plan_for_rate(code, keys, params->fpr, narrowest, widest, word);
}

uint64_t tamis__bag_room(const tamis_body *f) {
    const tamis_slots t = tamis__bag_slots(f);
    return tamis__slots_room(&t);
}

/* ---- Listing -------------------------------------------------------------------------------- */

/* The first entry of a run with a value from `min` on; false when there is none. */
static bool entry_from(const tamis_bag_code *code, const tamis_slots *t, const tamis_run *run,
                       uint64_t min, tamis_bag_entry *entry) {
    for (uint64_t at = run->start; at < run->end; at += entry->length) {
        *entry = code->read(t, run, at);
        if (entry->value >= min) return true;
    }
    return false;
}

tamis_status tamis__bag_audit(const tamis_body *f) {
    const tamis_bag_code *code = f->kind->own;
    const tamis_slots t = tamis__bag_slots(f);
    return tamis__slots_audit(&t, code->is_legal);
}

/* The cursor is the last hash returned, plus one: hashes and entries have the same order. */
bool tamis__bag_next(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    const tamis_bag_code *code = f->kind->own;
    const tamis_slots t = tamis__bag_slots(f);
    uint64_t home = 0, min = 0;
    if (*cursor) {
        const tamis_fingerprint last = tamis__fingerprint(&t, *cursor - 1);
        home = last.home;
        min = last.value + 1;
    }
    for (home = tamis__next_home(&t, home); home < t.homes;
         home = tamis__next_home(&t, home + 1), min = 0) {
        const tamis_run run = tamis__run_of(&t, home);
        tamis_bag_entry entry;
        if (!entry_from(code, &t, &run, min, &entry)) continue;
        *hash = tamis__fingerprint_hash(&t, home, entry.value);
        *count = entry.count;
        *cursor = *hash + 1;
        return true;
    }
    return false;
}

tamis_status tamis__bag_not_found(const tamis_bag_code *code) {
    return tamis__fail(TAMIS_NOT_FOUND, "%s has no fingerprint of that key", code->name);
}

/* ---- Two multisets in step ------------------------------------------------------------------ */

/* The next home that has a run in one of them; the other may be missing. */
static uint64_t next_home_of_both(const tamis_slots *a, const tamis_slots *b, uint64_t home) {
    const uint64_t next = tamis__next_home(a, home);
    if (!b) return next;
    const uint64_t other = tamis__next_home(b, home);
    return other < next ? other : next;
}

/* Steps through the values that occur in one of two runs. Entries with another value, or past the
 * end of a run, have a count of 0. */
typedef struct step {
    tamis_run a, b;
    tamis_bag_entry in_a, in_b;
} step;

static step first_step(const tamis_slots *a, const tamis_slots *b, uint64_t home) {
    const tamis_run none = {0, 0};
    return (step){.a = tamis__run_of(a, home), .b = b ? tamis__run_of(b, home) : none};
}

static bool next_step(const tamis_bag_code *code, const tamis_slots *a, const tamis_slots *b,
                      step *s) {
    const bool has_a = s->a.start < s->a.end, has_b = s->b.start < s->b.end;
    s->in_a = s->in_b = (tamis_bag_entry){0, 0, 0};
    if (has_a) s->in_a = code->read(a, &s->a, s->a.start);
    if (has_b) s->in_b = code->read(b, &s->b, s->b.start);
    if (has_a && has_b && s->in_a.value < s->in_b.value) s->in_b.count = s->in_b.length = 0;
    if (has_a && has_b && s->in_a.value > s->in_b.value) s->in_a.count = s->in_a.length = 0;
    s->a.start += s->in_a.length;
    s->b.start += s->in_b.length;
    return has_a || has_b;
}

/* ---- Merging -------------------------------------------------------------------------------- */

static tamis_status may_merge(const tamis_bag_code *code, const tamis_slots *a,
                              const tamis_slots *b) {
    tamis_packing packing = {0, 0};
    for (uint64_t home = next_home_of_both(a, b, 0); home < a->homes;
         home = next_home_of_both(a, b, home + 1)) {
        uint64_t length = 0;
        for (step s = first_step(a, b, home); next_step(code, a, b, &s);) {
            if (s.in_a.count > UINT64_MAX - s.in_b.count)
                return tamis__fail(TAMIS_FULL, "a count would pass 2^64");
            const tamis_bag_entry *one = s.in_a.count ? &s.in_a : &s.in_b;
            length += code->length(a, one->value, s.in_a.count + s.in_b.count);
        }
        const tamis_status rc = tamis__pack_run(a, &packing, home, length);
        if (rc) return rc;
    }
    return TAMIS_OK;
}

/* From the last home to the first, reading each entry again to step over it: a multiset may be
 * merged with itself, and then a change at one home must not move those still to come. */
tamis_status tamis__bag_merge(tamis_body *into, const tamis_body *from) {
    const tamis_bag_code *code = into->kind->own;
    const tamis_slots a = tamis__bag_slots(into), b = tamis__bag_slots(from);
    tamis_status rc = may_merge(code, &a, &b);
    for (uint64_t home = tamis__previous_home(&b, b.homes); home < b.homes && !rc;
         home = tamis__previous_home(&b, home)) {
        tamis_run run = tamis__run_of(&b, home);
        for (uint64_t at = run.start; at < run.end && !rc;) {
            const tamis_bag_entry entry = code->read(&b, &run, at);
            rc = code->put(&a, home, entry.value, entry.count);
            run = tamis__run_of(&b, home);
            at += code->read(&b, &run, at).length;
        }
    }
    return rc;
}

/* ---- Resizing ------------------------------------------------------------------------------- */

/* Doubling makes the first bit of the remainder the last bit of the home; halving is the reverse.
 * Either way the whole fingerprint stays, and with it every answer. */
tamis_status tamis__bag_resize(const tamis_body *f, uint64_t capacity, uint64_t word[]) {
    const tamis_bag_code *code = f->kind->own;
    const tamis_slots t = tamis__bag_slots(f);
    const uint64_t keys = capacity ? capacity : 1;
    if (keys < tamis__slots_used(&t))
        return tamis__fail(TAMIS_FULL, "%s has %llu slots in use and cannot shrink to %llu",
                           code->name, (unsigned long long)tamis__slots_used(&t),
                           (unsigned long long)keys);
    uint64_t homes = word[SLOTS], width = word[REMAINDER];
    while (tamis__slots_limit(homes) < keys && width > code->min_width &&
           homes <= TAMIS_SLOTS_MAX_HOMES / 2)
        homes *= 2, width--;
    if (tamis__slots_limit(homes) < keys)
        return tamis__fail(TAMIS_INVALID, "this %s can have a capacity of up to %llu, not %llu",
                           code->name, (unsigned long long)tamis__slots_limit(homes),
                           (unsigned long long)keys);
    while (homes % 128 == 0 && tamis__slots_limit(homes / 2) >= keys &&
           width < TAMIS_BAG_MAX_REMAINDER)
        homes /= 2, width++;
    word[SLOTS] = homes;
    word[REMAINDER] = width;
    return TAMIS_OK;
}

static tamis_fingerprint reshaped(const tamis_slots *to, const tamis_slots *from, uint64_t home,
                                  uint64_t value) {
    if (to->width <= from->width) {
        const unsigned less = from->width - to->width;
        return (tamis_fingerprint){home << less | value >> to->width,
                                   value & tamis__field_mask(to->width)};
    }
    const unsigned more = to->width - from->width;
    return (tamis_fingerprint){home >> more,
                               (home & tamis__field_mask(more)) << from->width | value};
}

tamis_status tamis__bag_move(tamis_body *to, const tamis_body *from) {
    const tamis_bag_code *code = to->kind->own;
    const tamis_slots a = tamis__bag_slots(to), b = tamis__bag_slots(from);
    tamis_status rc = TAMIS_OK;
    for (uint64_t home = tamis__next_home(&b, 0); home < b.homes && !rc;
         home = tamis__next_home(&b, home + 1)) {
        const tamis_run run = tamis__run_of(&b, home);
        tamis_bag_entry entry;
        for (uint64_t at = run.start; at < run.end && !rc; at += entry.length) {
            entry = code->read(&b, &run, at);
            const tamis_fingerprint moved = reshaped(&a, &b, home, entry.value);
            rc = code->put(&a, moved.home, moved.value, entry.count);
        }
    }
    return rc;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Of n keys in c fingerprints c (1 - (1 - 1/c)^n) are different; solved for n, with the error due
 * to chance collisions. */
void tamis__bag_measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_bag_code *code = f->kind->own;
    const tamis_slots a = tamis__bag_slots(f);
    const tamis_slots b = other ? tamis__bag_slots(other) : (tamis_slots){0};
    const tamis_slots *second = other ? &b : NULL;
    uint64_t distinct = 0, used = 0;
    for (uint64_t home = next_home_of_both(&a, second, 0); home < a.homes;
         home = next_home_of_both(&a, second, home + 1))
        for (step s = first_step(&a, second, home); next_step(code, &a, second, &s); distinct++)
            used += s.in_a.length + s.in_b.length;
    const double cells = fingerprints(f->word), share = (double)distinct / cells;
    const double keys = log1p(-share) / log1p(-1 / cells), load = keys / cells;
    out->bits_set = used;
    out->bits = a.homes;
    out->fpr = share;
    out->items = (struct tamis_estimate){keys, sqrt(fmax(0, cells * (expm1(load) - load)))};
}
