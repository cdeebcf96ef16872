/* SPDX-License-Identifier: MIT */
/* For kinds that count in packed cells: counting, spectral, increment; and approximator, whose
 * cells do not count but are planned and packed alike.
 *
 * A cell is a counter of 2 to 16 bits. It counts up to its top value, all ones, and is stuck there:
 * its true count is unknown, so it never goes down again. A stuck cell can keep a key that should
 * have gone; it never loses one.
 *
 *     15 ┤        ●━━━━━━━━━━━━━━▶ stuck
 *        │      ●
 *        │    ●   ●
 *      0 ┤──●───────●──▶
 *
 * Saturating sums do not depend on order or grouping, so adding, merging and folding all result in
 * the same cells. */
#ifndef TAMIS_KINDS_COUNTERS_H
#define TAMIS_KINDS_COUNTERS_H

#include "bits/packed.h"
#include "kinds/bloom.h"
#include "kinds/kind.h"
#include "kinds/rounds.h"

enum { TAMIS_MIN_WIDTH = 2, TAMIS_MAX_WIDTH = 16 };

/* `n` cells from the start of a payload. */
typedef struct tamis_cells {
    uint8_t *bytes;
    uint64_t n;
    unsigned width;
} tamis_cells;

/* ---- One cell ------------------------------------------------------------------------------- */

TAMIS_HOT uint64_t tamis__cell_top(tamis_cells c) {
    return tamis__field_mask(c.width);
}

TAMIS_HOT uint64_t tamis__cell_get(tamis_cells c, uint64_t i) {
    return tamis__field_get(c.bytes, i, c.width);
}

TAMIS_HOT void tamis__cell_add(tamis_cells c, uint64_t i, uint64_t more) {
    const uint64_t value = tamis__cell_get(c, i), top = tamis__cell_top(c);
    tamis__field_put(c.bytes, i, c.width, more < top - value ? value + more : top);
}

/* Subtracts what was added before, and returns the rest. */
TAMIS_HOT uint64_t tamis__cell_subtract(tamis_cells c, uint64_t i, uint64_t less) {
    const uint64_t value = tamis__cell_get(c, i);
    if (value == tamis__cell_top(c)) return value;
    tamis__field_put(c.bytes, i, c.width, value - less);
    return value - less;
}

/* Cells, for probing in rounds. */
TAMIS_HOT tamis_probed tamis__cells_probed(tamis_cells c, uint64_t hashes) {
    return (tamis_probed){.bytes = c.bytes,
                          .cells = c.n,
                          .hashes = hashes,
                          .width = c.width,
                          .is_far = tamis__fields_size(c.n, c.width) > tamis__near_bytes()};
}

TAMIS_HOT void tamis__cell_count_up(const tamis_probed *p, uint64_t x, uint64_t cell) {
    (void)x;
    tamis__cell_add((tamis_cells){p->bytes, p->cells, p->width}, cell, 1);
}

TAMIS_HOT bool tamis__cell_is_used(const tamis_probed *p, uint64_t x, uint64_t cell) {
    (void)x;
    return tamis__field_get(p->bytes, cell, p->width) != 0;
}

/* ---- The cells of one key ------------------------------------------------------------------- */

/* Probes of one key may fall on the same cell, more often in small arrays and after a fold. To
 * remove a key, or to count it, they are grouped: each cell once, with all that one add of the key
 * adds there. */
typedef struct tamis_spots {
    struct {
        uint64_t at, weight;
    } spot[TAMIS_BLOOM_MAX_HASHES];
    unsigned n;
} tamis_spots;

void tamis__spots_add(tamis_spots *, uint64_t at, uint64_t weight);

/* The default chain from `hash`, one for every probe. */
tamis_spots tamis__spots_of(uint64_t hash, uint64_t cells, uint64_t hashes);

/* Is there an add of the key to remove? */
bool tamis__spots_hold(tamis_cells, const tamis_spots *);

/* How many adds of the key fit in its cells: never fewer than there were, as far as cells can
 * count. A stuck cell counts as the top; and since queries only test whether cells are zero, any
 * other counts at least 1. `times`, unless NULL, is the number of cells with that result. */
uint64_t tamis__spots_count(tamis_cells, const tamis_spots *, unsigned *times);

/* ---- All cells ------------------------------------------------------------------------------ */

/* into[i] += from[i], up to the top. */
void tamis__cells_merge(tamis_cells into, tamis_cells from);

/* Merged cells are added; to.n divides from.n, and `to` is zero before. */
void tamis__cells_fold(tamis_cells to, tamis_cells from);

/* The bits of cells after a fold. Only powers of two are allowed, which plans leave room for; other
 * factors would depend on the plan. */
tamis_status tamis__cells_fold_shape(uint64_t cells, uint64_t by, uint64_t *bits);

/* Rate and distinct keys from the non-zero cells, and a caveat when some are stuck, which ends with
 * `what_then`. With `other`, as after a merge. */
void tamis__cells_measure(tamis_cells, const tamis_cells *other, uint64_t hashes,
                          const char *what_then, tamis_measurement *);

/* Bits and hashes for a spec, where keys probe cells as in classic and `per_unit` of these cells,
 * with their extras, take `unit_bits`. *hashes is given, or 0 for the best. */
tamis_status tamis__cells_plan(const tamis_params *, const char *kind, uint64_t unit_bits,
                               uint64_t per_unit, uint64_t *bits, uint64_t *hashes);

#endif
