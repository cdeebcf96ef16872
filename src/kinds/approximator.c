/* SPDX-License-Identifier: MIT */
/* approximator: an upper bound for the value of every key (Boldi and Vigna 2003).
 *
 * Bloom's filter with a value in place of each bit. Values come from a lattice, in which any two
 * have a join, the least value above both, and a meet, the greatest below both. Putting joins the
 * value into k cells; getting takes the meet of the same k cells.
 *
 *     key ─▶ hash ─▶ position 0, position 1, ... position k-1           the chain of classic
 *
 *     cells   0 0 7 0 0 9 0 0 0 9 0 0 7 0 9 ...                         m fields of `value` bits
 *                 ▲     ▲     ▲     ▲   ▲
 *                cat cat dog dog   cat dog        cat = 7, dog = 9: get(cat) = min(7, 9, 7) = 7
 *
 * No cell of a key is ever below what was put, so neither is their meet: a returned value may be
 * too high, never too low. It is too high only if other keys raised every cell of the key, and only
 * keys with higher values do: the largest values are the most reliable.
 *
 *     max   numbers: join is the larger, meet the smaller
 *     or    sets of bits: join is OR, meet is AND; no bit that was put is ever missing
 *
 * Bottom is 0: a cell holds it before the first put, and it means "never put", so putting 0 stores
 * nothing. With values of one bit both lattices are classic, bit for bit. */
#include <math.h>

#include "bits/packed.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/counters.h"
#include "kinds/kind.h"

enum { BITS, HASHES, VALUE, LATTICE };          /* shape words */
enum { OPT_LATTICE, OPT_VALUE, OPT_HASHES };    /* options */
enum { MAX, OR, LATTICES };                     /* values of LATTICE */
enum { MAX_VALUE_BITS = 64, VALUE_PRESET = 8 }; /* of a cell */
enum { MAX_HASHES = TAMIS_BLOOM_MAX_HASHES };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS

/* The value of a key that is added without one. */
#define ADDED ((uint64_t)1)

static const struct tamis_option options[] = {
    {"lattice", "max|or", 0, 0, "max", "values are numbers, or sets of bits"},
    {"value", NULL, 1, MAX_VALUE_BITS, "8", "bits of a value"},
    {"hashes", NULL, 1, MAX_HASHES, "the best for the rate", "probes per key, k"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[LATTICE] = tamis__chosen(params, OPT_LATTICE, MAX);
    word[VALUE] = tamis__chosen(params, OPT_VALUE, VALUE_PRESET);
    word[HASHES] = tamis__chosen(params, OPT_HASHES, 0);
    return tamis__cells_plan(params, "approximator", word[VALUE], 1, &word[BITS], &word[HASHES]);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have("approximator", word[HASHES], "hashes", 1, MAX_HASHES))
        return TAMIS_CORRUPT;
    if (word[VALUE] == 0 || word[VALUE] > MAX_VALUE_BITS || word[LATTICE] >= LATTICES)
        return tamis__fail(TAMIS_CORRUPT, "approximator has no values of %llu bits in lattice %llu",
                           (unsigned long long)word[VALUE], (unsigned long long)word[LATTICE]);
    if (word[BITS] == 0 || word[BITS] > MAX_BITS || word[BITS] % word[VALUE])
        return tamis__fail(TAMIS_CORRUPT, "approximator cannot have %llu bits: %llu for each cell",
                           (unsigned long long)word[BITS], (unsigned long long)word[VALUE]);
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

/* How often a non-member gets anything but 0, when all keys have a bit in common, as added ones do.
 * With or it is less otherwise: k sets, none of them empty, may still share nothing. */
static double rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, word[BITS] / word[VALUE], word[HASHES]);
}

static uint64_t max_value(const uint64_t word[]) {
    return tamis__field_mask((unsigned)word[VALUE]);
}

/* ---- Cells ---------------------------------------------------------------------------------- */

TAMIS_HOT tamis_cells cells_of(const tamis_body *f) {
    const unsigned width = (unsigned)f->word[VALUE];
    return (tamis_cells){f->bytes, f->word[BITS] / width, width};
}

TAMIS_HOT uint64_t join(uint64_t lattice, uint64_t a, uint64_t b) {
    if (lattice == OR) return a | b;
    return a > b ? a : b;
}

TAMIS_HOT uint64_t meet(uint64_t lattice, uint64_t a, uint64_t b) {
    if (lattice == OR) return a & b;
    return a < b ? a : b;
}

TAMIS_HOT uint64_t cell_load(tamis_cells c, uint64_t i) {
    return tamis__bits_load(c.bytes, i * c.width, c.width);
}

/* Most cells of a filled array are high enough already; those are not written to. */
TAMIS_HOT void cell_join(tamis_cells c, uint64_t lattice, uint64_t i, uint64_t value) {
    const uint64_t was = tamis__cell_get(c, i), now = join(lattice, was, value);
    if (now != was) tamis__field_put(c.bytes, i, c.width, now);
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* The meet of a key's cells. Below 0 there is nothing, so the first 0 ends it. */
TAMIS_HOT uint64_t value_of(const tamis_body *f, tamis_cells c, uint64_t hash) {
    const uint64_t hashes = f->word[HASHES], lattice = f->word[LATTICE];
    uint64_t x = tamis__chain_start(hash), value = tamis__cell_top(c);
    for (uint64_t i = 0; i < hashes && value; i++)
        value = meet(lattice, value, cell_load(c, tamis__chain_next(&x, c.n)));
    return value;
}

/* A batch first fetches the first cell of each key: most non-members end there. */
enum { GROUP = 32 };

TAMIS_HOT size_t fetch_group(tamis_cells c, const uint64_t *hash, size_t at, size_t n) {
    const size_t end = n - at < GROUP ? n : at + GROUP;
    for (size_t j = at; j < end && end - at > 1; j++) {
        uint64_t x = tamis__chain_start(hash[j]);
        __builtin_prefetch(c.bytes + tamis__chain_next(&x, c.n) * c.width / 8);
    }
    return end;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_cells c = cells_of(f);
    for (size_t at = 0; at < b.n;)
        for (const size_t end = fetch_group(c, b.hash, at, b.n); at < end; at++)
            hit[at] = value_of(f, c, b.hash[at]) != 0;
}

static void get(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    const tamis_cells c = cells_of(f);
    for (size_t at = 0; at < b.n;)
        for (const size_t end = fetch_group(c, b.hash, at, b.n); at < end; at++) {
            const uint64_t found = value_of(f, c, b.hash[at]);
            hit[at] = found != 0;
            if (found) value[at] = found;
        }
}

/* ---- Putting -------------------------------------------------------------------------------- */

TAMIS_HOT void put_one(tamis_body *f, tamis_cells c, uint64_t hash, uint64_t value) {
    const uint64_t hashes = f->word[HASHES], lattice = f->word[LATTICE];
    uint64_t x = tamis__chain_start(hash);
    for (uint64_t i = 0; i < hashes; i++) cell_join(c, lattice, tamis__chain_next(&x, c.n), value);
}

static tamis_status put(tamis_body *f, tamis_batch b, const uint64_t *value) {
    const tamis_cells c = cells_of(f);
    for (size_t j = 0; j < b.n; j++) put_one(f, c, b.hash[j], value[j]);
    return TAMIS_OK;
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_cells c = cells_of(f);
    for (size_t j = 0; j < b.n; j++) put_one(f, c, b.hash[j], ADDED);
    return TAMIS_OK;
}

/* Threads that add concurrently put nothing but 1, so a concurrent change to a cell takes it from 0
 * to 1 (max) or sets its lowest bit (or). Either is one bit, and OR sets it: no compare and
 * exchange is needed, and a cell may straddle two words. */
static void add_shared(tamis_body *f, tamis_batch b) {
    const tamis_cells c = cells_of(f);
    const uint64_t hashes = f->word[HASHES], lattice = f->word[LATTICE];
    for (size_t j = 0; j < b.n; j++) {
        uint64_t x = tamis__chain_start(b.hash[j]);
        for (uint64_t i = 0; i < hashes; i++) {
            const uint64_t at = tamis__chain_next(&x, c.n), bit = at * c.width;
            if (lattice == OR || cell_load(c, at) == 0)
                tamis__or64_shared(c.bytes + bit / 64 * 8, ADDED << bit % 64);
        }
    }
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const tamis_cells c = cells_of(into), more = cells_of(from);
    if (into->word[LATTICE] == OR) return tamis__bitmap_merge(into, from);
    for (uint64_t i = 0; i < c.n; i++) cell_join(c, MAX, i, tamis__cell_get(more, i));
    return TAMIS_OK;
}

static tamis_status fold(const tamis_body *f, uint64_t by, uint64_t word[]) {
    return tamis__fold_units(cells_of(f).n, by, "cells", &word[BITS]);
}

/* Neighbouring cells merge, as in classic: positions are scaled hashes. */
static tamis_status move(tamis_body *to, const tamis_body *from) {
    const tamis_cells c = cells_of(to), old = cells_of(from);
    const uint64_t by = old.n / c.n;
    for (uint64_t i = 0; i < c.n; i++)
        for (uint64_t j = i * by; j < (i + 1) * by; j++)
            cell_join(c, to->word[LATTICE], i, tamis__cell_get(old, j));
    return TAMIS_OK;
}

/* With or, bit b of all cells is a filter of the keys that have it: a non-member gets a value if
 * one of these filters accepts it. That is often far rarer than k non-empty cells. */
static double rate_by_bits(tamis_cells c, uint64_t hashes) {
    uint64_t set[MAX_VALUE_BITS] = {0};
    double sum = 0;
    for (uint64_t i = 0; i < c.n; i++)
        for (uint64_t w = cell_load(c, i); w; w &= w - 1) set[__builtin_ctzll(w)]++;
    for (unsigned b = 0; b < c.width; b++) sum += pow((double)set[b] / (double)c.n, (double)hashes);
    return sum;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_cells c = cells_of(f), more = cells_of(other ? other : f);
    uint64_t used = 0;
    for (uint64_t i = 0; i < c.n; i++) used += (cell_load(c, i) | cell_load(more, i)) != 0;
    tamis__fill_measure(used, c.n, f->word[HASHES], out);
    if (f->word[LATTICE] == OR && !other)
        out->fpr = fmin(out->fpr, rate_by_bits(c, f->word[HASHES]));
}

const tamis_kind tamis__approximator = {
    .name = "approximator",
    .contract = "a value for every key: the one that was put, rarely more, never less",
    .word = {"bits", "hashes", "value", "lattice"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .audit = tamis__bits_audit,
    .measure = measure,
    .query = query,
    .add = add,
    .speed = &(const tamis_speed){.add_shared = add_shared},
    .values = &(const tamis_values){.get = get, .put = put, .max_value = max_value},
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},
    .sets = &(const tamis_sets){.merge = merge},
};
