/* SPDX-License-Identifier: MIT */
/* For kinds on a binary fuse graph and their tests: keys to rows of bits.
 *
 * A segment of keys becomes an array of cells. Each key has three cells (or four), and the xor of
 * them is the key's row: `value_bits` that the caller chose, then `guard_bits` made from its hash,
 * which reject non-members.
 *
 *     strip:    0        1        2        3    ...          cells of a strip: a power of two
 *              [.....a..][..a.....][.......a][........]        key a starts in strip 0
 *              [........][b.......][..b.....][.....b..]        key b in strip 1
 *
 *     row(a) = cell ^ cell ^ cell
 *
 * Since cells of a key are in neighbouring strips, the keys at both ends have cells to themselves,
 * and removing those leaves new ends: a graph that is nearly full can be peeled.
 * Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022).
 *
 * Here the builder's order pays: within a segment the strip never falls as the hash grows (except
 * for one jump), so sorted records walk through the cells once.
 *
 * The bytes of a segment: TAMIS_PEEL_HEADER bytes, the cells packed, and with slots one value per
 * cell after them. */
#ifndef TAMIS_KINDS_PEEL_H
#define TAMIS_KINDS_PEEL_H

#include "bits/packed.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum {
    TAMIS_PEEL_HEADER = 24,
    TAMIS_PEEL_MAX_ARITY = 4,
    TAMIS_PEEL_MAX_GUARD = 32,
    TAMIS_PEEL_SLOT_BITS = 2, /* which of its cells' slots a key owns */
    TAMIS_PEEL_BEHIND = 8     /* readable bytes needed after a segment: loads are wider */
};

/* Common to all segments of a filter; queries take its address, all else a copy. Rows have at least
 * one bit. */
typedef struct tamis_peel_form {
    uint64_t segments;   /* of all hashes, by tamis__range */
    unsigned arity;      /* cells of a key: 3, or 4, which is smaller and slower */
    unsigned value_bits; /* 0 to 64 */
    unsigned guard_bits; /* 0 to TAMIS_PEEL_MAX_GUARD */
    bool has_slots;      /* values are after the cells, where they can change; arity is 4 */
} tamis_peel_form;

typedef struct tamis_peel_task {
    const uint64_t *hash;  /* ascending, distinct, of one segment */
    const uint64_t *value; /* NULL without value bits; each fits them */
    size_t n;
    tamis_stop stop;
} tamis_peel_task;

/* For a segment of n keys: working memory, and the maximum bytes. */
uint64_t tamis__peel_work(tamis_peel_form, uint64_t n);
uint64_t tamis__peel_max_bytes(tamis_peel_form, uint64_t n);

/* Expected bytes of all segments for `keys` keys, spread evenly. */
uint64_t tamis__peel_expect(tamis_peel_form, uint64_t keys);

/* Makes a segment; *size becomes its bytes, a multiple of 8. TAMIS_INVALID when no graph can be
 * peeled, which does not happen to well-mixed hashes; TAMIS_CANCELLED when it must stop. */
tamis_status tamis__peel_make(tamis_peel_form, const tamis_peel_task *, uint8_t *work, uint8_t *out,
                              uint64_t *size);

/* The gate: afterwards every hash of the segment can be queried. */
tamis_status tamis__peel_audit(tamis_peel_form, const uint8_t *bytes, uint64_t size);

/* Keys of a segment. */
static inline uint64_t tamis__peel_keys(const uint8_t *bytes) {
    return tamis__get64(bytes);
}

/* Guard bits for a rate: the smallest number with 2^-bits not above it, except for rounding. */
unsigned tamis__peel_guard_for(double fpr);

/* ---- Places --------------------------------------------------------------------------------- */

#define TAMIS_PEEL_TURN  0x9e3779b97f4a7c15
#define TAMIS_PEEL_GUARD 0xf1357aea2e62a9c5

/* Where the cells of a key are: the strip from the top bits of x, the cell in it from mixed ones.
 * Sixteen bits for each cell, the maximum length of strips. */
typedef struct tamis_peel_graph {
    uint64_t turn;   /* changes with each try: x = rest of the hash + turn */
    uint64_t strips; /* in which a key can start; arity - 1 more follow */
    unsigned log;    /* cells of a strip, as a power of two */
} tamis_peel_graph;

/* The cells of a key whose first strip starts at cell `start`; `step` cells in each. */
TAMIS_HOT void tamis__peel_spread(uint64_t mixed, uint64_t start, uint64_t step, unsigned arity,
                                  uint64_t cell[]) {
    const uint64_t mask = step - 1;
    cell[0] = start + (mixed & mask);
    cell[1] = start + step + (mixed >> 16 & mask);
    cell[2] = start + 2 * step + (mixed >> 32 & mask);
    if (arity == 4) cell[3] = start + 3 * step + (mixed >> 48 & mask);
}

TAMIS_HOT uint64_t tamis__peel_place(const tamis_peel_graph *g, uint64_t rest, unsigned arity,
                                     uint64_t cell[]) {
    const uint64_t x = rest + g->turn, mixed = tamis__mix(x);
    const uint64_t start = tamis__range(x, g->strips) << g->log;
    tamis__peel_spread(mixed, start, (uint64_t)1 << g->log, arity, cell);
    return mixed;
}

/* The top bits of a product depend on all bits of both; the multiplier is that of Steele and
 * Vigna, "Computationally easy, spectrally good multipliers" (2021). */
TAMIS_HOT uint64_t tamis__peel_guard(uint64_t mixed, unsigned bits) {
    return bits ? mixed * TAMIS_PEEL_GUARD >> (64 - bits) : 0;
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* `width` bits from `bit` on in one load where possible: a second load that few fields need costs
 * more by being unpredictable than the first. Narrow loads cross fewer cache lines. */
TAMIS_HOT uint64_t tamis__peel_bits(const uint8_t *bytes, uint64_t bit, unsigned width) {
    const uint8_t *p = bytes + (bit >> 3);
    const uint64_t mask = tamis__field_mask(width);
    if (width <= 25) return tamis__get32(p) >> (bit & 7) & mask;
    if (width <= 57) return tamis__get64(p) >> (bit & 7) & mask;
    return tamis__bits_get(bytes, bit, width);
}

/* A key's cells, located but not yet read. */
typedef struct tamis_peel_aim {
    const uint8_t *cells; /* NULL: the segment is empty */
    const uint8_t *slots; /* with slots only: where they start, and the bit of the key's own */
    uint64_t slot;
    uint64_t cell[TAMIS_PEEL_MAX_ARITY];
    uint64_t guard;
} tamis_peel_aim;

TAMIS_HOT unsigned tamis__peel_row_values(const tamis_peel_form *form) {
    return form->has_slots ? TAMIS_PEEL_SLOT_BITS : form->value_bits;
}

TAMIS_HOT unsigned tamis__peel_row(const tamis_peel_form *form) {
    return tamis__peel_row_values(form) + form->guard_bits;
}

/* From the header of a segment. */
TAMIS_HOT tamis_peel_graph tamis__peel_graph_of(const uint8_t *bytes) {
    const uint64_t seed = tamis__get64(bytes + 8), shape = tamis__get64(bytes + 16);
    return (tamis_peel_graph){seed * TAMIS_PEEL_TURN, shape >> 8, shape & 0xff};
}

TAMIS_HOT uint64_t tamis__peel_cells(const tamis_peel_graph *g, unsigned arity) {
    return g->strips ? (g->strips + arity - 1) << g->log : 0;
}

/* `rest` is the low half of hash * segments; `bytes` are those of the segment that the high half
 * names. */
TAMIS_HOT void tamis__peel_aim_at(const tamis_peel_form *form, const uint8_t *bytes, uint64_t rest,
                                  tamis_peel_aim *aim) {
    const tamis_peel_graph g = tamis__peel_graph_of(bytes);
    const unsigned row = tamis__peel_row(form);
    aim->cells = g.strips ? bytes + TAMIS_PEEL_HEADER : NULL;
    if (!aim->cells) return;
    const uint64_t mixed = tamis__peel_place(&g, rest, form->arity, aim->cell);
    aim->guard = tamis__peel_guard(mixed, form->guard_bits);
    for (unsigned j = 0; j < form->arity; j++)
        __builtin_prefetch(aim->cells + (aim->cell[j] * row >> 3));
    if (form->has_slots)
        aim->slots = aim->cells + tamis__fields_size(tamis__peel_cells(&g, form->arity), row);
}

/* The xor of `width` bits of the key's cells, from the `from`-th of each on. */
TAMIS_HOT uint64_t tamis__peel_xor(const tamis_peel_form *form, const tamis_peel_aim *aim,
                                   unsigned from, unsigned width) {
    const unsigned row = tamis__peel_row(form);
    uint64_t x = 0;
    for (unsigned j = 0; j < form->arity && width; j++) {
        if (row == 8 && width == 8)
            x ^= aim->cells[aim->cell[j]];
        else if (row == 16 && width == 16)
            x ^= tamis__get16(aim->cells + 2 * aim->cell[j]);
        else
            x ^= tamis__peel_bits(aim->cells, aim->cell[j] * row + from, width);
    }
    return x;
}

/* Is it a key of the segment, by its guard? */
TAMIS_HOT bool tamis__peel_hit(const tamis_peel_form *form, const tamis_peel_aim *aim) {
    return aim->cells &&
           tamis__peel_xor(form, aim, tamis__peel_row_values(form), form->guard_bits) == aim->guard;
}

/* For a hit, before its value is read: prefetches the key's own slot, if it has slots. */
TAMIS_HOT void tamis__peel_reach(const tamis_peel_form *form, tamis_peel_aim *aim) {
    if (!form->has_slots) return;
    const uint64_t own = tamis__peel_xor(form, aim, 0, TAMIS_PEEL_SLOT_BITS);
    aim->slot = aim->cell[own] * form->value_bits;
    __builtin_prefetch(aim->slots + (aim->slot >> 3));
}

TAMIS_HOT uint64_t tamis__peel_value(const tamis_peel_form *form, const tamis_peel_aim *aim) {
    if (form->has_slots) return tamis__bits_get(aim->slots, aim->slot, form->value_bits);
    return tamis__peel_xor(form, aim, 0, form->value_bits);
}

#endif
