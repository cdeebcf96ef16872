/* SPDX-License-Identifier: MIT */
/* For kinds that keep fingerprints in the slots of a quotient filter: quotient, multiset, grow.
 *
 * A fingerprint is the top of hash * homes, a number of 128 bits: its upper half is its home slot,
 * and the first bits of its lower half are stored there. The home costs nothing, because it is the
 * position; only the stored bits take room (Pagh, Pagh and Rao 2005). Fingerprints of one home form
 * a run, runs are in the order of their homes, and a run starts at its home or right after the run
 * before it. Two bits per slot and 16 per block are enough to find every run again (Pandey, Bender,
 * Johnson and Patro 2017):
 *
 *     homes      0  1  2  3  4  5  6  7
 *     occupied   1  1  0  0  1  0  0  0        the home has a run
 *     run end    0  1  1  0  0  1  0  0        the last slot of a run
 *     slots      a  b  c  .  d  e  .  .        a b are of home 0, c is of home 1, d e of home 4
 *
 * The k-th occupied home owns the k-th run end. To count only within 64 slots, every block stores
 * its offset: how many of its slots, from its first on, belong to homes of earlier blocks. Slots
 * never wrap: a tail follows the last home.
 *
 *     payload    used | an offset for each block, u16 | block 0 | block 1 | ... | tail blocks
 *     block      occupied, 64 bits | run ends, 64 bits | 64 slots of `width` bits
 *
 * The layout follows from the fingerprints alone, whatever the order of adds and removes, as long
 * as the kind orders each run. Unused slots are zero. */
#ifndef TAMIS_KINDS_SLOTS_H
#define TAMIS_KINDS_SLOTS_H

#include "bits/packed.h"
#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/kind.h"

enum { TAMIS_SLOTS_MAX_WIDTH = 63 };
#define TAMIS_SLOTS_MAX_HOMES ((uint64_t)1 << 52)

/* Slots somewhere in a payload. Only entries that change write the bytes. */
typedef struct tamis_slots {
    uint64_t homes, count; /* slots that are a home; all, with the tail */
    unsigned width;        /* bits of a slot */
    uint8_t *used, *offsets, *blocks;
} tamis_slots;

/* The run of a home is [start, end); if there is none, both are where it would be. */
typedef struct tamis_run {
    uint64_t start, end;
} tamis_run;

typedef struct tamis_fingerprint {
    uint64_t home, value;
} tamis_fingerprint;

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Homes come in blocks of 64, at least one and at most TAMIS_SLOTS_MAX_HOMES. */
bool tamis__slots_legal(uint64_t homes, uint64_t width);
uint64_t tamis__slots_size(uint64_t homes, unsigned width);

/* 64 slots are a block. Runs past the last home go to the tail. At 95 % a tail is too short with a
 * probability of about e^(-0.1 * slots): 10^-11 here, for distinct keys. Fewer homes than this
 * cannot even fill so many slots. */
enum { TAMIS_SLOTS_BLOCK = 64, TAMIS_SLOTS_TAIL = 256 };

TAMIS_HOT uint64_t tamis__slots_with_tail(uint64_t homes) {
    return homes + (homes < TAMIS_SLOTS_TAIL ? homes : TAMIS_SLOTS_TAIL);
}

TAMIS_HOT uint64_t tamis__slots_offsets_size(uint64_t blocks) {
    return tamis__fields_size(blocks, 16);
}

/* The fewest homes for that many slots in use, which is at most 95 % of the homes: above it
 * clusters grow without bound. 0 when it is too many. */
uint64_t tamis__slots_homes_for(uint64_t used);
TAMIS_HOT uint64_t tamis__slots_limit(uint64_t homes) {
    return homes / 20 * 19 + homes % 20 * 19 / 20; /* in integers: the same on every machine */
}

/* The shape with the most distinct fingerprints in `bytes` bytes, with homes for `used` slots and a
 * width from `min` to `max`. False when the bytes are too few. */
bool tamis__slots_within(uint64_t size, uint64_t used, unsigned min, unsigned max, uint64_t *homes,
                         uint64_t *width);

/* Inlined, because a single key needs it too. */
TAMIS_HOT tamis_slots tamis__slots_at(uint8_t *bytes, uint64_t homes, uint64_t width) {
    const uint64_t count = tamis__slots_with_tail(homes);
    return (tamis_slots){
        .homes = homes,
        .count = count,
        .width = (unsigned)width,
        .used = bytes,
        .offsets = bytes + 8,
        .blocks = bytes + 8 + tamis__slots_offsets_size(count / TAMIS_SLOTS_BLOCK),
    };
}

/* ---- Access --------------------------------------------------------------------------------- */

/* Monotone in the hash: fingerprints in the order of hashes are in the order of slots. */
TAMIS_HOT tamis_fingerprint tamis__fingerprint(const tamis_slots *t, uint64_t hash) {
    uint64_t low;
    const uint64_t home = tamis__multiply(hash, t->homes, &low);
    return (tamis_fingerprint){home, low >> (64 - t->width)};
}

/* The smallest hash with this fingerprint; there is one while homes * 2^width is at most 2^64. */
uint64_t tamis__fingerprint_hash(const tamis_slots *, uint64_t home, uint64_t value);

TAMIS_HOT uint8_t *tamis__slots_block(const tamis_slots *t, uint64_t slot) {
    return t->blocks + (slot >> 6) * (16 + 8 * (uint64_t)t->width);
}

TAMIS_HOT uint64_t tamis__slot_get(const tamis_slots *t, uint64_t slot) {
    return tamis__field_get(tamis__slots_block(t, slot) + 16, slot & 63, t->width);
}

TAMIS_HOT void tamis__slot_put(const tamis_slots *t, uint64_t slot, uint64_t value) {
    tamis__field_put(tamis__slots_block(t, slot) + 16, slot & 63, t->width, value);
}

/* Do they exceed the cache? */
TAMIS_HOT bool tamis__slots_are_far(const tamis_slots *t) {
    return tamis__slots_block(t, t->count) - t->used > tamis__near_bytes();
}

/* Prefetches what a home needs: its block and the offset of that, and the start of the next block,
 * which runs may reach. */
TAMIS_HOT void tamis__home_prefetch(const tamis_slots *t, uint64_t home) {
    const uint8_t *p = tamis__slots_block(t, home);
    __builtin_prefetch(t->offsets + 2 * (home >> 6));
    __builtin_prefetch(p);
    __builtin_prefetch(p + 64);
    __builtin_prefetch(p + 24 + 8 * (uint64_t)t->width);
}

/* A batch that prefetches its blocks waits for memory once, not once per key. Called before each
 * key of a batch; before the first it prefetches many, then one at a time. */
enum { TAMIS_SLOTS_AHEAD = 32 };
TAMIS_HOT void tamis__slots_expect(const tamis_slots *t, const uint64_t *hash, size_t i, size_t n) {
    if (!tamis__slots_are_far(t)) return;
    for (size_t j = i ? i + TAMIS_SLOTS_AHEAD : 0; j < n && j <= i + TAMIS_SLOTS_AHEAD; j++)
        tamis__home_prefetch(t, tamis__range(hash[j], t->homes));
}

static inline uint64_t tamis__slots_used(const tamis_slots *t) {
    return tamis__get64(t->used);
}

/* How many more slots may be used. */
static inline uint64_t tamis__slots_room(const tamis_slots *t) {
    return tamis__slots_limit(t->homes) - tamis__slots_used(t);
}

/* Whether a home has a run: tested first, because often the answer is no. */
TAMIS_HOT bool tamis__is_occupied(const tamis_slots *t, uint64_t home) {
    return tamis__get64(tamis__slots_block(t, home)) >> (home & 63) & 1;
}

tamis_run tamis__run_of(const tamis_slots *, uint64_t home);

/* For kinds whose runs are remainders in ascending order, as often as they were added: queries for
 * many hashes; and adding them, from the first on, until one does not fit: returns how many did. */
bool tamis__slots_has(const tamis_slots *, uint64_t hash);
void tamis__slots_query(const tamis_slots *, const uint64_t *hash, size_t n, uint8_t *hit);
size_t tamis__slots_add(const tamis_slots *, const uint64_t *hash, size_t n);

/* For a single key of those whose payload is slots alone and whose first words are homes and
 * width. */
tamis_one tamis__slots_one(const uint64_t word[]);

/* The same for multiset, whose runs may have counts between the remainders: whether a key is there,
 * if the slots show that by themselves; and adding it once more: false, and nothing changed, when
 * there is no room or the kind has to look closer. */
typedef enum tamis_look { TAMIS_LOOK_ABSENT, TAMIS_LOOK_PRESENT, TAMIS_LOOK_UNSURE } tamis_look;
tamis_look tamis__slots_look(const tamis_body *, uint64_t hash);
bool tamis__slots_add_plain(tamis_body *, uint64_t hash);

/* The next home that has a run, from `home` on; and the last one below `home`. `homes` when there
 * is none. */
uint64_t tamis__next_home(const tamis_slots *, uint64_t home);
uint64_t tamis__previous_home(const tamis_slots *, uint64_t home);

/* The first slot of a run that must come after `value`, by binary search. */
TAMIS_HOT uint64_t tamis__run_search(const tamis_slots *t, const tamis_run *run, uint64_t value,
                                     bool (*comes_before)(uint64_t, uint64_t)) {
    uint64_t low = run->start, high = run->end;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (comes_before(value, tamis__slot_get(t, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- Changes -------------------------------------------------------------------------------- */

/* Makes room at slot `at` of the home's run, start <= at <= end, and puts the value there; the run
 * ends one slot later. TAMIS_FULL, and nothing changed, when the tail is used up or a block would
 * have over 65535 slots of earlier homes after its start. */
tamis_status tamis__slot_insert(const tamis_slots *, uint64_t home, tamis_run *, uint64_t at,
                                uint64_t value);

/* Removes slot `at` from the home's run; what was pushed aside moves back. */
void tamis__slot_erase(const tamis_slots *, uint64_t home, tamis_run *, uint64_t at);

/* Would runs of these lengths fit? They are given in the order of their homes, to a packing that
 * starts as {0}; TAMIS_FULL when one does not. What fits as a whole can also be inserted one by
 * one, in any order, because fewer slots never reach farther. */
typedef struct tamis_packing {
    uint64_t end, used;
} tamis_packing;
tamis_status tamis__pack_run(const tamis_slots *, tamis_packing *, uint64_t home, uint64_t length);

/* Adds all hashes one by one, or none: those added before a failure are removed again. */
tamis_status tamis__add_all(tamis_body *, const tamis_slots *, const uint64_t *hash, size_t n,
                            tamis_status (*add_one)(tamis_body *, uint64_t),
                            tamis_status (*remove_one)(tamis_body *, tamis_batch));

/* The gate: every count, offset, run and unused slot is as inserting would have made it, and every
 * run is one that the kind could have written. */
tamis_status tamis__slots_audit(const tamis_slots *,
                                bool (*is_legal)(const tamis_slots *, const tamis_run *));

#endif
