/* SPDX-License-Identifier: MIT */
/* For slots.c and its kernels; it holds only inline functions.
 *
 * Runs of a quotient filter: how one is found, what is in it, and how it grows. All of it counts
 * bits and finds the k-th of them, for which processors have instructions that portable C may not
 * use; so it is compiled twice. */
#ifndef TAMIS_KINDS_RUNS_H
#define TAMIS_KINDS_RUNS_H

#include "bits/select.h"
#include "kinds/slots.h"

enum { TAMIS_SLOTS_MAX_OFFSET = UINT16_MAX };

/* ---- Bits of a block ------------------------------------------------------------------------ */

TAMIS_HOT uint8_t *tamis__block_at(const tamis_slots *t, uint64_t block) {
    return t->blocks + block * (16 + 8 * (uint64_t)t->width);
}

TAMIS_HOT uint64_t tamis__occupied(const tamis_slots *t, uint64_t block) {
    return tamis__get64(tamis__block_at(t, block));
}

TAMIS_HOT uint64_t tamis__run_ends(const tamis_slots *t, uint64_t block) {
    return tamis__get64(tamis__block_at(t, block) + 8);
}

TAMIS_HOT void tamis__put_run_ends(const tamis_slots *t, uint64_t block, uint64_t ends) {
    tamis__put64(tamis__block_at(t, block) + 8, ends);
}

TAMIS_HOT void tamis__set_run_end(const tamis_slots *t, uint64_t slot, bool is_end) {
    const uint64_t bit = slot % TAMIS_SLOTS_BLOCK, block = slot / TAMIS_SLOTS_BLOCK;
    const uint64_t others = tamis__run_ends(t, block) & ~((uint64_t)1 << bit);
    tamis__put_run_ends(t, block, others | (uint64_t)is_end << bit);
}

TAMIS_HOT void tamis__flip_occupied(const tamis_slots *t, uint64_t home) {
    uint8_t *p = tamis__slots_block(t, home);
    tamis__put64(p, tamis__get64(p) ^ (uint64_t)1 << home % TAMIS_SLOTS_BLOCK);
}

TAMIS_HOT unsigned tamis__offset_of(const tamis_slots *t, uint64_t block) {
    return tamis__get16(t->offsets + 2 * block);
}

/* ---- Finding -------------------------------------------------------------------------------- */

/* The slot after the n-th run end at or after `slot`, n from 1; there are that many. */
TAMIS_HOT uint64_t tamis__behind_run_end(const tamis_slots *t, uint64_t slot, unsigned n) {
    uint64_t block = slot / TAMIS_SLOTS_BLOCK;
    uint64_t ends = tamis__run_ends(t, block) & ~tamis__below(slot);
    for (unsigned here; n > (here = tamis__rank64(ends)); ends = tamis__run_ends(t, ++block))
        n -= here;
    return block * TAMIS_SLOTS_BLOCK + tamis__select64(ends, n - 1) + 1;
}

/* Where the runs of all homes up to `home` end; `mask` says which homes of its own block count.
 * When none of them reaches into the block, this is where the block starts. */
TAMIS_HOT uint64_t tamis__end_of_homes(const tamis_slots *t, uint64_t home, uint64_t mask) {
    const uint64_t block = home / TAMIS_SLOTS_BLOCK;
    const uint64_t base = block * TAMIS_SLOTS_BLOCK + tamis__offset_of(t, block);
    const unsigned runs = tamis__rank64(tamis__occupied(t, block) & mask);
    return runs ? tamis__behind_run_end(t, base, runs) : base;
}

TAMIS_HOT tamis_run tamis__find_run(const tamis_slots *t, uint64_t home) {
    const uint64_t before = tamis__end_of_homes(t, home, tamis__below(home));
    const uint64_t start = before > home ? before : home;
    return (tamis_run){start,
                       tamis__is_occupied(t, home) ? tamis__behind_run_end(t, start, 1) : start};
}

/* A slot is unused when no run of a home at or before it reaches it. If one does, all slots up to
 * the end of those runs are in use. */
TAMIS_HOT uint64_t tamis__first_unused(const tamis_slots *t, uint64_t slot) {
    while (slot < t->count) {
        const uint64_t end = tamis__end_of_homes(t, slot, tamis__up_to(slot));
        if (end <= slot) break;
        slot = end;
    }
    return slot;
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* The lowest bit of as many slots as fit into a word, by their width. In a table, because a single
 * query would make two divisions for it. */
#define TAMIS_ONES(width) (UINT64_MAX >> 64 % (width)) / (UINT64_MAX >> (64 - (width)))
#define TAMIS_ONES_4(width) \
    TAMIS_ONES(width), TAMIS_ONES(width + 1), TAMIS_ONES(width + 2), TAMIS_ONES(width + 3)
#define TAMIS_ONES_16(width) \
    TAMIS_ONES_4(width), TAMIS_ONES_4(width + 4), TAMIS_ONES_4(width + 8), TAMIS_ONES_4(width + 12)
static const uint64_t tamis__ones_of_width[] = {0, TAMIS_ONES_16(1), TAMIS_ONES_16(17),
                                                TAMIS_ONES_16(33), TAMIS_ONES_16(49)};

TAMIS_HOT uint64_t tamis__slots_ones(const tamis_slots *t) {
    return tamis__ones_of_width[t->width];
}

static inline bool tamis__run_has_slowly(const tamis_slots *t, uint64_t home, uint64_t value) {
    if (!tamis__is_occupied(t, home)) return false;
    const tamis_run run = tamis__find_run(t, home);
    uint64_t at = run.start;
    while (at < run.end && tamis__slot_get(t, at) != value) at++;
    return at < run.end;
}

/* The k-th set bit of a word, from 0; 0 when it has fewer. */
TAMIS_HOT uint64_t tamis__kth_bit(uint64_t word, unsigned k) {
#if defined(__x86_64__) && defined(__BMI2__)
    return __builtin_ia32_pdep_di((uint64_t)1 << (k & 63), word);
#else
    return k < tamis__rank64(word) ? (uint64_t)1 << tamis__select64(word, k) : 0;
#endif
}

/* Is the value in a slot of the run of a home; and is it known to be the only slot of that? One
 * straight path for nearly all queries, because each branch would be unpredictable: the run ends of
 * the block's homes are found in 64 slots, from the first one on that belongs to the block, and a
 * run in a word is compared at once. */
TAMIS_HOT bool tamis__run_shows(const tamis_slots *t, uint64_t ones, uint64_t home, uint64_t value,
                                bool *is_alone) {
    const uint64_t block = home / TAMIS_SLOTS_BLOCK, occupied = tamis__occupied(t, block);
    const unsigned offset = tamis__offset_of(t, block), shift = offset % 64;
    const uint64_t base = block * TAMIS_SLOTS_BLOCK + offset;
    const uint64_t next = tamis__run_ends(t, block + 1);
    const uint64_t ends = tamis__run_ends(t, block) >> shift | next << 1 << (63 - shift);

    /* Without a run of its own, the home may have any of these; the answer is no. */
    const unsigned runs = tamis__rank64(occupied & tamis__up_to(home));
    const uint64_t end_bit = tamis__kth_bit(ends, (runs - 1) & 63);
    const uint64_t before = (end_bit - 1) & ends;
    const uint64_t behind = base + tamis__log2_floor(before << 1 | 1);
    const uint64_t start = behind > home ? behind : home;
    const uint64_t last = base + tamis__log2_floor(end_bit | 1);

    const bool is_plain = (offset < 64) & (end_bit != 0) & ((start ^ last) < TAMIS_SLOTS_BLOCK);
    const uint64_t at = is_plain ? start : home;
    const uint64_t bit = at % TAMIS_SLOTS_BLOCK * t->width, latest = 8 * (t->width - 1);
    const uint64_t first = bit / 8 < latest ? bit / 8 : latest;
    const unsigned in_word = (unsigned)(bit - 8 * first);
    const uint64_t bits = (last - start + 1) * t->width;
    const uint64_t slots = tamis__get64(tamis__slots_block(t, at) + 16 + first) >> in_word;
    const uint64_t x = slots ^ value * ones;
    const uint64_t equal = (x - ones) & ~x & ones << (t->width - 1) & UINT64_MAX >> (-bits & 63);

    const bool is_occupied = occupied >> home % 64 & 1;
    *is_alone = is_plain & (start == last);
    if (is_occupied & !(is_plain & (bits <= 64 - in_word)))
        return tamis__run_has_slowly(t, home, value);
    return is_occupied & (equal != 0);
}

TAMIS_HOT bool tamis__run_has(const tamis_slots *t, uint64_t ones, uint64_t home, uint64_t value) {
    bool is_alone;
    return tamis__run_shows(t, ones, home, value, &is_alone);
}

TAMIS_HOT void tamis__query_slots(const tamis_slots *slots, const uint64_t *hash, size_t n,
                                  uint8_t *hit) {
    const tamis_slots t = *slots; /* a copy that stays in registers: its address is not taken */
    const uint64_t ones = tamis__slots_ones(&t);
    for (size_t i = 0; i < n; i++) {
        tamis__slots_expect(&t, hash, i, n);
        const tamis_fingerprint fp = tamis__fingerprint(&t, hash[i]);
        hit[i] = tamis__run_has(&t, ones, fp.home, fp.value);
    }
}

/* ---- Shifting ------------------------------------------------------------------------------- */

/* Works on the slots [from, to] of one block, a word at a time: slots are packed, so that a shift
 * by one slot is a shift by `width` bits over the words that hold them. The first and the last of
 * those words keep the bits outside the range. Slot `from` keeps old bits, for the caller to
 * fill. */
TAMIS_HOT void tamis__shift_up_in_block(const tamis_slots *t, uint64_t from, uint64_t to) {
    const uint64_t first = from % TAMIS_SLOTS_BLOCK * t->width;
    const uint64_t last = (to % TAMIS_SLOTS_BLOCK + 1) * t->width - 1;
    uint8_t *block = tamis__slots_block(t, from), *p = block + 16 + last / 64 * 8;
    uint64_t word = tamis__get64(p), keep = ~tamis__up_to(last);
    for (uint64_t i = last / 64; i > first / 64; i--, p -= 8) {
        const uint64_t below = tamis__get64(p - 8);
        const uint64_t moved = word << t->width | below >> (64 - t->width);
        tamis__put64(p, (word & keep) | (moved & ~keep));
        word = below, keep = 0;
    }
    keep |= tamis__below(first);
    tamis__put64(p, (word & keep) | (word << t->width & ~keep));
    const uint64_t range = tamis__up_to(to) & ~tamis__below(from), ends = tamis__get64(block + 8);
    tamis__put64(block + 8, (ends & ~range) | ((ends & range) << 1 & range));
}

TAMIS_HOT void tamis__copy_slot(const tamis_slots *t, uint64_t to, uint64_t from) {
    tamis__slot_put(t, to, tamis__slot_get(t, from));
    tamis__set_run_end(t, to, tamis__run_ends(t, from / TAMIS_SLOTS_BLOCK) >> from % 64 & 1);
}

/* Slots [at, unused) move up by one, over the unused one. */
TAMIS_HOT void tamis__shift_up(const tamis_slots *t, uint64_t at, uint64_t unused) {
    for (uint64_t to = unused;;) {
        const uint64_t block_start = to / TAMIS_SLOTS_BLOCK * TAMIS_SLOTS_BLOCK;
        const uint64_t from = block_start > at ? block_start : at;
        tamis__shift_up_in_block(t, from, to);
        if (from == at) break;
        tamis__copy_slot(t, from, from - 1);
        to = from - 1;
    }
}

/* ---- Inserting ------------------------------------------------------------------------------ */

/* One slot more of `home`, where slot `last` becomes used, pushes past the start of every block
 * between the two. */
TAMIS_HOT bool tamis__may_insert(const tamis_slots *t, uint64_t home, uint64_t last) {
    if (last >= t->count) return false;
    for (uint64_t block = home / TAMIS_SLOTS_BLOCK + 1; block <= last / TAMIS_SLOTS_BLOCK; block++)
        if (tamis__offset_of(t, block) == TAMIS_SLOTS_MAX_OFFSET) return false;
    return true;
}

TAMIS_HOT void tamis__move_offsets(const tamis_slots *t, uint64_t home, uint64_t last, int by) {
    for (uint64_t block = home / TAMIS_SLOTS_BLOCK + 1; block <= last / TAMIS_SLOTS_BLOCK; block++)
        tamis__put16(t->offsets + 2 * block, (uint16_t)(tamis__offset_of(t, block) + (unsigned)by));
}

/* All of tamis__slot_insert except the count of slots in use. */
TAMIS_HOT bool tamis__insert_slot(const tamis_slots *t, uint64_t home, tamis_run *run, uint64_t at,
                                  uint64_t value) {
    if (run->start == run->end && at == home) { /* nothing has to move */
        tamis__slot_put(t, home, value);
        tamis__set_run_end(t, home, true);
        tamis__flip_occupied(t, home);
        run->end++;
        return true;
    }
    const uint64_t unused = tamis__first_unused(t, at);
    if (!tamis__may_insert(t, home, unused)) return false;
    const bool is_new = run->start == run->end, is_last = at == run->end;
    tamis__shift_up(t, at, unused);
    tamis__slot_put(t, at, value);
    tamis__set_run_end(t, at, is_last);
    if (is_new)
        tamis__flip_occupied(t, home);
    else if (is_last)
        tamis__set_run_end(t, at - 1, false);
    tamis__move_offsets(t, home, unused, 1);
    run->end++;
    return true;
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* The slot after all that are not larger. Runs are short, so they are walked. */
TAMIS_HOT uint64_t tamis__behind_value(const tamis_slots *t, const tamis_run *run, uint64_t value) {
    uint64_t at = run->end;
    while (at > run->start && tamis__slot_get(t, at - 1) > value) at--;
    return at;
}

TAMIS_HOT bool tamis__add_to_run(const tamis_slots *t, uint64_t hash) {
    const tamis_fingerprint fp = tamis__fingerprint(t, hash);
    tamis_run run = tamis__find_run(t, fp.home);
    const uint64_t at = tamis__behind_value(t, &run, fp.value);
    return tamis__insert_slot(t, fp.home, &run, at, fp.value);
}

TAMIS_HOT size_t tamis__add_to_slots(const tamis_slots *slots, const uint64_t *hash, size_t n) {
    const tamis_slots t = *slots;
    for (size_t i = 0; i < n; i++) {
        tamis__slots_expect(&t, hash, i, n);
        if (!tamis__add_to_run(&t, hash[i])) return i;
    }
    return n;
}

/* ---- A single key --------------------------------------------------------------------------- */

/* Kinds whose first words are homes and width. */
TAMIS_HOT tamis_slots tamis__slots_of(const tamis_body *f) {
    return tamis__slots_at(f->bytes, f->word[0], f->word[1]);
}

TAMIS_HOT bool tamis__body_has(const tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__slots_of(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, hash);
    return tamis__run_has(&t, tamis__slots_ones(&t), fp.home, fp.value);
}

/* Beyond the caches an early no is worth its misprediction: 10^7 keys 84 -> 70 ns for non-members,
 * 73 -> 71 for members. In cache it is not: 10^5 keys 13.1 -> 15.1 for non-members. */
TAMIS_HOT bool tamis__body_has_far(const tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__slots_of(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, hash);
    return tamis__is_occupied(&t, fp.home) &&
           tamis__run_has(&t, tamis__slots_ones(&t), fp.home, fp.value);
}

TAMIS_HOT bool tamis__body_add(tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__slots_of(f);
    const uint64_t used = tamis__slots_used(&t);
    if (used >= tamis__slots_limit(t.homes) || !tamis__add_to_run(&t, hash)) return false;
    tamis__put64(t.used, used + 1);
    return true;
}

/* Of kinds whose runs may have counts between the remainders: a slot with the value is surely one
 * where it is the only slot. */
TAMIS_HOT tamis_look tamis__body_look(const tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__slots_of(f);
    const tamis_fingerprint fp = tamis__fingerprint(&t, hash);
    bool is_alone;
    if (!tamis__run_shows(&t, tamis__slots_ones(&t), fp.home, fp.value, &is_alone))
        return TAMIS_LOOK_ABSENT;
    return is_alone ? TAMIS_LOOK_PRESENT : TAMIS_LOOK_UNSURE;
}

/* The same kinds: a slot more for a remainder behind smaller ones, each there once. One that is
 * there once itself gets its second slot, which is how twice is written; what follows one with a
 * larger count is never above it, so that walk ends there. */
TAMIS_HOT bool tamis__body_add_plain(tamis_body *f, uint64_t hash) {
    const tamis_slots t = tamis__slots_of(f);
    const uint64_t used = tamis__slots_used(&t);
    if (used >= tamis__slots_limit(t.homes)) return false;
    tamis__slots_expect(&t, &hash, 0, 1);
    const tamis_fingerprint fp = tamis__fingerprint(&t, hash);
    tamis_run run = tamis__find_run(&t, fp.home);
    uint64_t at = run.start;
    for (uint64_t before = 0; at < run.end; at++) {
        const uint64_t x = tamis__slot_get(&t, at);
        if (x > fp.value) break;
        if (x <= before) return false;
        before = x;
    }
    if (!tamis__insert_slot(&t, fp.home, &run, at, fp.value)) return false;
    tamis__put64(t.used, used + 1);
    return true;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

typedef struct tamis_slots_ops {
    tamis_run (*find_run)(const tamis_slots *, uint64_t home);
    bool (*insert)(const tamis_slots *, uint64_t home, tamis_run *, uint64_t at, uint64_t value);
    bool (*has)(const tamis_slots *, uint64_t hash);
    void (*query)(const tamis_slots *, const uint64_t *hash, size_t n, uint8_t *hit);
    size_t (*add)(const tamis_slots *, const uint64_t *hash, size_t n);
    tamis_look (*look)(const tamis_body *, uint64_t hash);
    bool (*add_plain)(tamis_body *, uint64_t hash);
    tamis_one one, far_one;
} tamis_slots_ops;

extern const tamis_slots_ops tamis__slots_avx2;

#define TAMIS_SLOTS_OPS                                                                           \
    static tamis_run find_run(const tamis_slots *t, uint64_t home) {                              \
        return tamis__find_run(t, home);                                                          \
    }                                                                                             \
    static bool insert_slot(const tamis_slots *t, uint64_t home, tamis_run *run, uint64_t at,     \
                            uint64_t value) {                                                     \
        return tamis__insert_slot(t, home, run, at, value);                                       \
    }                                                                                             \
    static bool has_hash(const tamis_slots *t, uint64_t hash) {                                   \
        const tamis_fingerprint fp = tamis__fingerprint(t, hash);                                 \
        return tamis__run_has(t, tamis__slots_ones(t), fp.home, fp.value);                        \
    }                                                                                             \
    static void query_slots(const tamis_slots *t, const uint64_t *hash, size_t n, uint8_t *hit) { \
        tamis__query_slots(t, hash, n, hit);                                                      \
    }                                                                                             \
    static size_t add_to_slots(const tamis_slots *t, const uint64_t *hash, size_t n) {            \
        return tamis__add_to_slots(t, hash, n);                                                   \
    }                                                                                             \
    static TAMIS_ONE_KEY bool body_has(const tamis_body *f, uint64_t hash) {                      \
        return tamis__body_has(f, hash);                                                          \
    }                                                                                             \
    static bool body_has_far(const tamis_body *f, uint64_t hash) {                                \
        return tamis__body_has_far(f, hash);                                                      \
    }                                                                                             \
    static TAMIS_ONE_KEY bool body_add(tamis_body *f, uint64_t hash) {                            \
        return tamis__body_add(f, hash);                                                          \
    }                                                                                             \
    static TAMIS_ONE_KEY tamis_look body_look(const tamis_body *f, uint64_t hash) {               \
        return tamis__body_look(f, hash);                                                         \
    }                                                                                             \
    static TAMIS_ONE_KEY bool body_add_plain(tamis_body *f, uint64_t hash) {                      \
        return tamis__body_add_plain(f, hash);                                                    \
    }
#define TAMIS_SLOTS_OPS_LIST                                                                \
    {                                                                                       \
        .find_run = find_run, .insert = insert_slot, .has = has_hash, .query = query_slots, \
        .add = add_to_slots, .look = body_look, .add_plain = body_add_plain,                \
        .one = {.has = body_has, .add = body_add}, .far_one = {                             \
            .has = body_has_far,                                                            \
            .add = body_add                                                                 \
        }                                                                                   \
    }

#endif
