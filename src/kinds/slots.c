/* SPDX-License-Identifier: MIT */
/* The slots of a quotient filter: finding runs by rank and select, and keeping them packed. */
#include "kinds/slots.h"

#include "kinds/bitmap.h"
#include "kinds/runs.h"

enum { BLOCK = TAMIS_SLOTS_BLOCK, MAX_OFFSET = TAMIS_SLOTS_MAX_OFFSET };

/* ---- Shape ---------------------------------------------------------------------------------- */

bool tamis__slots_legal(uint64_t homes, uint64_t width) {
    return homes && homes % BLOCK == 0 && homes <= TAMIS_SLOTS_MAX_HOMES && width &&
           width <= TAMIS_SLOTS_MAX_WIDTH;
}

uint64_t tamis__slots_size(uint64_t homes, unsigned width) {
    const uint64_t blocks = tamis__slots_with_tail(homes) / BLOCK;
    return 8 + tamis__slots_offsets_size(blocks) + blocks * (16 + 8 * (uint64_t)width);
}

uint64_t tamis__slots_homes_for(uint64_t used) {
    if (used > tamis__slots_limit(TAMIS_SLOTS_MAX_HOMES)) return 0;
    const uint64_t homes = (used * 20 + 18) / 19;
    return homes ? (homes + BLOCK - 1) / BLOCK * BLOCK : BLOCK;
}

bool tamis__slots_within(uint64_t size, uint64_t used, unsigned min, unsigned max, uint64_t *homes,
                         uint64_t *width) {
    const uint64_t fewest = tamis__slots_homes_for(used);
    if (!fewest || tamis__slots_size(fewest, min) > size) return false;
    /* A bit more of width doubles the fingerprints, and is cheaper than twice the homes. */
    unsigned w = min;
    while (w < max && tamis__slots_size(fewest, w + 1) <= size) w++;
    uint64_t low = fewest / BLOCK, high = TAMIS_SLOTS_MAX_HOMES / BLOCK;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (tamis__slots_size(middle * BLOCK, w) <= size)
            low = middle;
        else
            high = middle - 1;
    }
    *homes = low * BLOCK;
    *width = w;
    return true;
}

uint64_t tamis__fingerprint_hash(const tamis_slots *t, uint64_t home, uint64_t value) {
    return tamis__unscale(t->homes, home, value << (64 - t->width));
}

/* ---- Finding -------------------------------------------------------------------------------- */

TAMIS_SLOTS_OPS
static const tamis_slots_ops plain = TAMIS_SLOTS_OPS_LIST;

static const tamis_slots_ops *ops(void) {
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX2) return &tamis__slots_avx2;
#endif
    return &plain;
}

tamis_run tamis__run_of(const tamis_slots *t, uint64_t home) {
    return ops()->find_run(t, home);
}

bool tamis__slots_has(const tamis_slots *t, uint64_t hash) {
    return ops()->has(t, hash);
}

void tamis__slots_query(const tamis_slots *t, const uint64_t *hash, size_t n, uint8_t *hit) {
    ops()->query(t, hash, n, hit);
}

/* Where the third-level cache may no longer hold the slots. */
enum { FAR_FOR_ONE = 8 << 20 };

tamis_one tamis__slots_one(const uint64_t word[]) {
    const bool is_far = tamis__slots_size(word[0], (unsigned)word[1]) > FAR_FOR_ONE;
    return is_far ? ops()->far_one : ops()->one;
}

TAMIS_ONE_KEY tamis_look tamis__slots_look(const tamis_body *f, uint64_t hash) {
    return ops()->look(f, hash);
}

TAMIS_ONE_KEY bool tamis__slots_add_plain(tamis_body *f, uint64_t hash) {
    return ops()->add_plain(f, hash);
}

/* The first slot from here on that holds nothing pushed away from its home. */
static uint64_t first_at_rest(const tamis_slots *t, uint64_t slot) {
    while (slot < t->count) {
        const uint64_t end = tamis__end_of_homes(t, slot, tamis__below(slot));
        if (end <= slot) break;
        slot = end;
    }
    return slot;
}

uint64_t tamis__next_home(const tamis_slots *t, uint64_t home) {
    for (uint64_t mask = ~tamis__below(home); home < t->homes; mask = UINT64_MAX) {
        const uint64_t block = home / BLOCK, found = tamis__occupied(t, block) & mask;
        if (found) return block * BLOCK + (unsigned)__builtin_ctzll(found);
        home = (block + 1) * BLOCK;
    }
    return t->homes;
}

uint64_t tamis__previous_home(const tamis_slots *t, uint64_t home) {
    while (home) {
        const uint64_t block = (home - 1) / BLOCK;
        const uint64_t found = tamis__occupied(t, block) & tamis__up_to(home - 1);
        if (found) return block * BLOCK + tamis__log2_floor(found);
        home = block * BLOCK;
    }
    return t->homes;
}

/* ---- Shifting ------------------------------------------------------------------------------- */

/* Words of the range [first, end) of bits; the first and the last keep what is outside. */
static void put_bits(uint8_t *words, uint64_t i, uint64_t bits, uint64_t first, uint64_t end) {
    uint64_t mask = UINT64_MAX;
    if (i == first / 64) mask &= ~tamis__below(first);
    if (i == (end - 1) / 64) mask &= tamis__up_to(end - 1);
    tamis__put64(words + 8 * i, (tamis__get64(words + 8 * i) & ~mask) | (bits & mask));
}

/* Slot `to` keeps old bits, for the caller to fill; it ends no run. */
static void shift_down_in_block(const tamis_slots *t, uint64_t from, uint64_t to) {
    const uint64_t first = from % BLOCK * t->width, end = (to % BLOCK + 1) * t->width;
    uint8_t *words = tamis__slots_block(t, from) + 16;
    for (uint64_t i = first / 64; i <= (end - 1) / 64; i++) {
        uint64_t bits = tamis__get64(words + 8 * i) >> t->width;
        if (i + 1 < t->width) bits |= tamis__get64(words + 8 * i + 8) << (64 - t->width);
        put_bits(words, i, bits, first, end);
    }
    const uint64_t range = tamis__up_to(to) & ~tamis__below(from),
                   ends = tamis__run_ends(t, from / BLOCK);
    tamis__put_run_ends(t, from / BLOCK, (ends & ~range) | ((ends & range) >> 1 & range));
}

/* Slots (at, last] move down by one, over slot `at`; the last one is unused then. */
static void shift_down(const tamis_slots *t, uint64_t at, uint64_t last) {
    for (uint64_t from = at;;) {
        const uint64_t block_end = from / BLOCK * BLOCK + BLOCK - 1;
        const uint64_t to = block_end < last ? block_end : last;
        shift_down_in_block(t, from, to);
        if (to == last) break;
        tamis__copy_slot(t, to, to + 1);
        from = to + 1;
    }
    tamis__slot_put(t, last, 0);
}

/* ---- Inserting and erasing ------------------------------------------------------------------ */

tamis_status tamis__slot_insert(const tamis_slots *t, uint64_t home, tamis_run *run, uint64_t at,
                                uint64_t value) {
    if (ops()->insert(t, home, run, at, value)) {
        tamis__put64(t->used, tamis__slots_used(t) + 1);
        return TAMIS_OK;
    }
    if (tamis__first_unused(t, at) >= t->count)
        return tamis__fail(TAMIS_FULL, "the overflow slots are used up");
    return tamis__fail(TAMIS_FULL, "over %d slots in a run: too many equal keys", MAX_OFFSET);
}

size_t tamis__slots_add(const tamis_slots *t, const uint64_t *hash, size_t n) {
    const size_t done = ops()->add(t, hash, n);
    tamis__put64(t->used, tamis__slots_used(t) + done);
    return done;
}

void tamis__slot_erase(const tamis_slots *t, uint64_t home, tamis_run *run, uint64_t at) {
    const uint64_t last = first_at_rest(t, run->end) - 1;
    if (run->end - run->start == 1)
        tamis__flip_occupied(t, home);
    else if (at == run->end - 1)
        tamis__set_run_end(t, at - 1, true);
    shift_down(t, at, last);
    tamis__move_offsets(t, home, last, -1);
    tamis__put64(t->used, tamis__slots_used(t) - 1);
    run->end--;
}

tamis_status tamis__pack_run(const tamis_slots *t, tamis_packing *packing, uint64_t home,
                             uint64_t length) {
    const uint64_t start = packing->end > home ? packing->end : home;
    const uint64_t next_block = (home / BLOCK + 1) * BLOCK;
    packing->end = start + length;
    packing->used += length;
    if (packing->used > tamis__slots_limit(t->homes))
        return tamis__fail(TAMIS_FULL, "at most %llu slots can be in use",
                           (unsigned long long)tamis__slots_limit(t->homes));
    if (packing->end > t->count) return tamis__fail(TAMIS_FULL, "the overflow slots are used up");
    if (packing->end > next_block + MAX_OFFSET)
        return tamis__fail(TAMIS_FULL, "over %d slots in a run: too many equal keys", MAX_OFFSET);
    return TAMIS_OK;
}

tamis_status tamis__add_all(tamis_body *f, const tamis_slots *t, const uint64_t *hash, size_t n,
                            tamis_status (*add_one)(tamis_body *, uint64_t),
                            tamis_status (*remove_one)(tamis_body *, tamis_batch)) {
    for (size_t i = 0; i < n; i++) {
        tamis__slots_expect(t, hash, i, n);
        const tamis_status rc = add_one(f, hash[i]);
        if (!rc) continue;
        while (i) remove_one(f, tamis__hashes(&hash[--i], 1));
        return rc;
    }
    return TAMIS_OK;
}

/* ---- The gate ------------------------------------------------------------------------------- */

/* Nothing here may trust what it has not yet checked: runs are walked from the first slot on, and
 * the next run end is searched bit by bit, up to the last slot. */
static uint64_t next_run_end(const tamis_slots *t, uint64_t slot) {
    for (uint64_t block = slot / BLOCK; block < t->count / BLOCK; block++) {
        uint64_t ends = tamis__run_ends(t, block);
        if (block == slot / BLOCK) ends &= ~tamis__below(slot);
        if (ends) return block * BLOCK + (unsigned)__builtin_ctzll(ends);
    }
    return t->count;
}

static bool are_unused(const tamis_slots *t, uint64_t slot, uint64_t end) {
    if (slot < end && next_run_end(t, slot) < end) return false;
    for (; slot < end; slot++)
        if (tamis__slot_get(t, slot)) return false;
    return true;
}

static bool audit_block(const tamis_slots *t, uint64_t block, tamis_packing *packing,
                        bool (*is_legal)(const tamis_slots *, const tamis_run *)) {
    const uint64_t base = block * BLOCK;
    if (tamis__offset_of(t, block) != (packing->end > base ? packing->end - base : 0)) return false;
    for (uint64_t left = tamis__occupied(t, block); left; left &= left - 1) {
        const uint64_t home = base + (unsigned)__builtin_ctzll(left);
        const uint64_t start = packing->end > home ? packing->end : home;
        if (home >= t->homes || start >= t->count || !are_unused(t, packing->end, start))
            return false;
        const tamis_run run = {start, next_run_end(t, start) + 1};
        if (run.end > t->count || tamis__pack_run(t, packing, home, run.end - start) ||
            !is_legal(t, &run))
            return false;
    }
    return true;
}

tamis_status tamis__slots_audit(const tamis_slots *t,
                                bool (*is_legal)(const tamis_slots *, const tamis_run *)) {
    const uint64_t blocks = t->count / BLOCK;
    tamis_packing packing = {0, 0};
    for (uint64_t block = 0; block < blocks; block++)
        if (!audit_block(t, block, &packing, is_legal))
            return tamis__fail(TAMIS_CORRUPT, "the runs of block %llu of %llu are damaged",
                               (unsigned long long)block, (unsigned long long)blocks);
    if (!are_unused(t, packing.end, t->count))
        return tamis__fail(TAMIS_CORRUPT, "an unused slot is not empty");
    if (!tamis__fields_end_clean(t->offsets, blocks, 16))
        return tamis__fail(TAMIS_CORRUPT, "extra bits after the last offset");
    if (packing.used != tamis__slots_used(t))
        return tamis__fail(TAMIS_CORRUPT, "%llu slots are in use, not %llu",
                           (unsigned long long)packing.used,
                           (unsigned long long)tamis__slots_used(t));
    return TAMIS_OK;
}
