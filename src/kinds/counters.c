/* SPDX-License-Identifier: MIT */
/* Operations on packed cells that saturate. */
#include "kinds/counters.h"

#include <stdio.h>

#include "kinds/bitmap.h"

/* ---- The cells of one key ------------------------------------------------------------------- */

void tamis__spots_add(tamis_spots *spots, uint64_t at, uint64_t weight) {
    unsigned i = 0;
    while (i < spots->n && spots->spot[i].at != at) i++;
    if (i == spots->n) {
        spots->spot[i].at = at;
        spots->spot[i].weight = 0;
        spots->n++;
    }
    spots->spot[i].weight += weight;
}

tamis_spots tamis__spots_of(uint64_t hash, uint64_t cells, uint64_t hashes) {
    tamis_spots spots;
    uint64_t x = tamis__chain_start(hash);
    spots.n = 0;
    for (uint64_t i = 0; i < hashes; i++) tamis__spots_add(&spots, tamis__chain_next(&x, cells), 1);
    return spots;
}

bool tamis__spots_hold(tamis_cells c, const tamis_spots *spots) {
    for (unsigned i = 0; i < spots->n; i++) {
        const uint64_t value = tamis__cell_get(c, spots->spot[i].at);
        if (value < spots->spot[i].weight && value != tamis__cell_top(c)) return false;
    }
    return true;
}

static uint64_t adds_in(uint64_t value, uint64_t weight, uint64_t top) {
    if (value == top) return top;
    return value && value < weight ? 1 : value / weight;
}

uint64_t tamis__spots_count(tamis_cells c, const tamis_spots *spots, unsigned *times) {
    uint64_t min = UINT64_MAX;
    unsigned met = 0;
    for (unsigned i = 0; i < spots->n; i++) {
        const uint64_t adds = adds_in(tamis__cell_get(c, spots->spot[i].at), spots->spot[i].weight,
                                      tamis__cell_top(c));
        met = adds < min ? 1 : met + (adds == min);
        if (adds < min) min = adds;
    }
    if (times) *times = met;
    return min;
}

/* ---- All cells ------------------------------------------------------------------------------ */

void tamis__cells_merge(tamis_cells into, tamis_cells from) {
    for (uint64_t i = 0; i < into.n; i++) {
        const uint64_t more = tamis__cell_get(from, i);
        if (more) tamis__cell_add(into, i, more);
    }
}

void tamis__cells_fold(tamis_cells to, tamis_cells from) {
    const uint64_t by = from.n / to.n;
    for (uint64_t i = 0; i < to.n; i++)
        for (uint64_t j = i * by; j < (i + 1) * by; j++)
            tamis__cell_add(to, i, tamis__cell_get(from, j));
}

tamis_status tamis__cells_fold_shape(uint64_t cells, uint64_t by, uint64_t *bits) {
    if (by == 0 || by & (by - 1))
        return tamis__fail(TAMIS_INVALID, "cannot fold by %llu: counters fold by powers of two",
                           (unsigned long long)by);
    return tamis__fold_units(cells, by, "counters", bits);
}

void tamis__cells_measure(tamis_cells c, const tamis_cells *other, uint64_t hashes,
                          const char *what_then, tamis_measurement *out) {
    const uint64_t top = tamis__cell_top(c);
    uint64_t used = 0, stuck = 0;
    for (uint64_t i = 0; i < c.n; i++) {
        const uint64_t value = tamis__cell_get(c, i) + (other ? tamis__cell_get(*other, i) : 0);
        used += value > 0;
        stuck += value >= top;
    }
    tamis__fill_measure(used, c.n, hashes, out);
    out->affected = stuck;
    if (stuck)
        snprintf(out->caveat, sizeof out->caveat, "%llu counter%s stuck at %llu: %s",
                 (unsigned long long)stuck, stuck == 1 ? " is" : "s are", (unsigned long long)top,
                 what_then);
}

tamis_status tamis__cells_plan(const tamis_params *params, const char *kind, uint64_t unit_bits,
                               uint64_t per_unit, uint64_t *bits, uint64_t *hashes) {
    uint64_t cells;
    if (params->bits) {
        cells = tamis__units_within(params->bits, unit_bits) * per_unit;
        if (!cells)
            return tamis__fail(TAMIS_INVALID, "%s needs at least %llu bits", kind,
                               (unsigned long long)unit_bits);
        if (!*hashes) *hashes = tamis__bloom_hashes(params->capacity, cells);
    } else if (!tamis__bloom_plan(params->capacity, params->fpr, *hashes, &cells, hashes) ||
               cells / per_unit > TAMIS_BLOOM_MAX_BITS / unit_bits) {
        return tamis__fail(TAMIS_TOO_LARGE, "%s would need over 2^56 bytes", kind);
    }
    *bits = cells / per_unit * unit_bits;
    return TAMIS_OK;
}
