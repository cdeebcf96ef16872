/* SPDX-License-Identifier: MIT */
/* increment: counters with a hint of who raised them (Rottenstreich, Kanizo and Keslassy 2012, the
 * variable-increment counting filter, VI-CBF).
 *
 * A plain counter only shows whether it is zero. Here each probe of a key raises its cell by an
 * increment of its own, one of L, L+1, ... 2L-1, chosen by the hash. The sum in a cell then rejects
 * non-members: it holds increment v only if the rest without it is a sum of increments too, and the
 * sums of numbers from L to 2L-1 are exactly 0 and everything from L on.
 *
 *     L = 4      a cell has    0   no key at all
 *                              6   one key, with increment 6: not with 4, 5 or 7
 *                             10   two keys, 4+6 or 5+5: none with 7, as 3 would be left
 *                         12 ...   any key
 *
 *     key ─▶ hash ─▶ chain of x ─┬─ top bits ───▶ position 0, position 1, ... position k-1
 *                                └─ mixed bits ─▶ increment 0, increment 1, ... increment k-1
 *
 *     0 0 6 0 0 0 0 10 0 0 0 5 0 0 0 0 ...                             m fields of 6, 7 or 8 bits
 *
 * Two probes of one key may fall on one cell. The sum then has both increments, and each query
 * leaves the other one, at least L: no key is lost by it. Cells that reach all ones are stuck and
 * answer yes to all.
 *
 * Compared with counters of 4 bits and their summary this halves the bits at the same rate, and
 * probes fewer cells; but it has no summary to send, and no counts. */
#include <math.h>

#include "bits/probe.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/counters.h"
#include "kinds/kind.h"

enum { BITS, HASHES, STEP }; /* shape words */
enum { OPT_HASHES, OPT_STEP };
enum { STEPS = 3, MAX_HASHES = TAMIS_BLOOM_MAX_HASHES };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the best for the rate", "probes per key, k"},
    {"step", "4|8|16", 0, 0, "4", "the smallest increment, L"},
    {0},
};

/* STEP holds the index of the choice. */
static unsigned step_of(const uint64_t word[]) {
    return 4u << word[STEP];
}

/* The top is 16 L - 1: ten increments fit on average, and eight always. The best plans put about
 * 1.2 into a cell; then three cells in 10^8 are stuck. One bit less, as in the paper for L = 4,
 * would be 2 in 1000, in a filter that was only filled, and more with every key that is
 * replaced. */
static unsigned width_of(const uint64_t word[]) {
    return 6 + (unsigned)word[STEP];
}

static uint64_t cells_of(const uint64_t word[]) {
    return word[BITS] / width_of(word);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* The probability that a cell with j keys refuses a random increment: F(0) = 1, F(1) = 1 - 1/L,
 * F(2) = (L^2 - 1) / 6L^2, and 0 from three keys on. */
enum { TELLING = 3 };

static void refusals(double step, double refused[TELLING]) {
    refused[0] = 1;
    refused[1] = 1 - 1 / step;
    refused[2] = (step * step - 1) / (6 * step * step);
}

/* The mean square of that probability for two keys, over their increments L + x and L + y: those
 * with x + y below z refuse L + z. */
static double square_of_two(double step) {
    double sum = 0;
    for (double s = 0; s < step; s++)
        sum += (s + 1) * (step - 1 - s) * (step - 1 - s) / (step * step);
    return sum / (step * step);
}

/* The probability that j of `balls` fall into a part of the cells, and the rest outside `outside`
 * cells: balls! / (balls - j)! / j! / cells^j (1 - outside/cells)^(balls - j). */
static double few_fall(double balls, double cells, double outside, unsigned j) {
    double chance = exp((balls - j) * log1p(-outside / cells));
    for (unsigned i = 0; i < j; i++) chance *= fmax(0, balls - i) / ((i + 1) * cells);
    return chance;
}

/* The share of cells and increments that pass, p, is a mean over cells; a non-member is a false
 * positive when all k do. The mean of p^k is p^k at the mean and, because cells vary and depend on
 * each other, half the second derivative times their variance on top. */
static double rate_of(double keys, double cells, double hashes, double step) {
    const double balls = keys * hashes;
    if (cells < TELLING) return keys > 0; /* too few for the formula, and useless */
    double refused[TELLING], mean = 0, square = 0, both = 0;
    refusals(step, refused);
    const double squares[TELLING] = {1, refused[1] * refused[1], square_of_two(step)};
    for (unsigned i = 0; i < TELLING; i++) {
        mean += refused[i] * few_fall(balls, cells, 1, i);
        square += squares[i] * few_fall(balls, cells, 1, i);
        for (unsigned j = 0; j < TELLING; j++) {
            static const double ways[2 * TELLING - 1] = {1, 1, 2, 6, 24}; /* (i+j)! */
            static const double own[TELLING] = {1, 1, 2};
            both += refused[i] * refused[j] * few_fall(balls, cells, 2, i + j) * ways[i + j] /
                    (own[i] * own[j]);
        }
    }
    const double variance = (square - both) / cells + (both - mean * mean);
    const double passed = fmax(0, 1 - mean);
    const double rate = pow(passed, hashes) + hashes * (hashes - 1) / 2 *
                                                  pow(passed, fmax(0, hashes - 2)) *
                                                  fmax(0, variance);
    return fmin(1, rate);
}

static double rate(const uint64_t word[], uint64_t items) {
    return rate_of((double)items, (double)cells_of(word), (double)word[HASHES],
                   (double)step_of(word));
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* The smallest number of cells below `max` that keeps the rate; else `max`. */
static uint64_t cells_for(double keys, double fpr, double hashes, double step, uint64_t max) {
    uint64_t low = 1, high = max;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (rate_of(keys, (double)middle, hashes, step) > fpr)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The best k is found by trying; beyond it the size only rises. */
static tamis_status plan_for_rate(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1, step = step_of(word);
    const uint64_t given = word[HASHES], max = MAX_BITS / width_of(word), group = 64;
    uint64_t min = max;
    for (uint64_t k = given ? given : 1; k <= (given ? given : MAX_HASHES); k++) {
        const uint64_t needed = cells_for(keys, params->fpr, (double)k, step, max);
        if (needed > min) break;
        min = needed;
        word[HASHES] = k;
    }
    min = (min + group - 1) / group * group;
    while (min < max && rate_of(keys, (double)min, (double)word[HASHES], step) > params->fpr)
        min += group;
    const uint64_t cells = tamis__round_to_fold(min, group, max);
    if (!cells) return tamis__fail(TAMIS_TOO_LARGE, "increment would need over 2^56 bytes");
    word[BITS] = cells * width_of(word);
    return TAMIS_OK;
}

static tamis_status plan_for_size(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1, step = step_of(word);
    const uint64_t cells = tamis__units_within(params->bits, width_of(word));
    if (!cells)
        return tamis__fail(TAMIS_INVALID, "increment needs at least %u bits", width_of(word));
    word[BITS] = cells * width_of(word);
    if (word[HASHES]) return TAMIS_OK;
    double best = INFINITY;
    for (uint64_t k = 1; k <= MAX_HASHES; k++) {
        const double is = rate_of(keys, (double)cells, (double)k, step);
        if (is < best) best = is, word[HASHES] = k;
    }
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[STEP] = tamis__chosen(params, OPT_STEP, 0);
    word[HASHES] = tamis__chosen(params, OPT_HASHES, 0);
    return params->bits ? plan_for_size(params, word) : plan_for_rate(params, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have("increment", word[HASHES], "hashes", 1, MAX_HASHES)) return TAMIS_CORRUPT;
    if (word[STEP] >= STEPS)
        return tamis__fail(TAMIS_CORRUPT, "increment has no step %llu",
                           (unsigned long long)word[STEP]);
    if (word[BITS] == 0 || word[BITS] > MAX_BITS || word[BITS] % width_of(word))
        return tamis__fail(TAMIS_CORRUPT, "increment cannot have %llu bits: %u for each cell",
                           (unsigned long long)word[BITS], width_of(word));
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

/* ---- Cells and probes ----------------------------------------------------------------------- */

static tamis_cells cells(const tamis_body *f) {
    return (tamis_cells){f->bytes, cells_of(f->word), width_of(f->word)};
}

/* The increment of a probe: from the same x as its position, but mixed first, so that it is
 * independent of the position. */
TAMIS_HOT uint64_t increment_of(uint64_t x, uint64_t step) {
    return step + (tamis__mix(x) & (step - 1));
}

/* May a cell with this value hold increments of this sum? */
TAMIS_HOT bool may_hold(uint64_t value, uint64_t sum, uint64_t step, uint64_t top) {
    return (value == sum) | (value >= sum + step) | (value == top);
}

static tamis_status audit(const tamis_body *f) {
    const tamis_cells c = cells(f);
    for (uint64_t i = 0; i < c.n; i++) {
        const uint64_t value = tamis__cell_get(c, i);
        if (value && value < step_of(f->word))
            return tamis__fail(TAMIS_CORRUPT,
                               "cell %llu has %llu, which is not a sum of increments",
                               (unsigned long long)i, (unsigned long long)value);
    }
    return tamis__bitmap_audit(f, f->word[BITS]);
}

/* ---- Querying, adding, removing ------------------------------------------------------------- */

/* `extra` is the step. */
static tamis_probed probed(const tamis_body *f) {
    tamis_probed p = tamis__cells_probed(cells(f), f->word[HASHES]);
    p.extra = step_of(f->word);
    return p;
}

TAMIS_HOT bool passes(const tamis_probed *p, uint64_t x, uint64_t cell) {
    const uint64_t value = tamis__field_get(p->bytes, cell, p->width);
    return may_hold(value, increment_of(x, p->extra), p->extra, tamis__field_mask(p->width));
}

TAMIS_HOT void count_up(const tamis_probed *p, uint64_t x, uint64_t cell) {
    tamis__cell_add((tamis_cells){p->bytes, p->cells, p->width}, cell, increment_of(x, p->extra));
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_probed p = probed(f);
    tamis__probed_query(passes, &p, b.hash, b.n, hit);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_probed p = probed(f);
    tamis__probed_add(count_up, &p, b.hash, b.n);
    return TAMIS_OK;
}

/* Every cell of a key, with the sum of its increments there. */
static tamis_spots spots_of(const tamis_body *f, uint64_t hash) {
    tamis_spots spots = {.n = 0};
    uint64_t x = tamis__chain_start(hash);
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        const uint64_t increment = increment_of(x, step_of(f->word));
        const uint64_t position = tamis__chain_next(&x, cells_of(f->word));
        tamis__spots_add(&spots, position, increment);
    }
    return spots;
}

/* Every cell must be able to hold the key's increments there, and what is left without them must
 * again be a sum of increments; so no cell ever has 1 to L-1. */
static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    const tamis_cells c = cells(f);
    const tamis_spots spots = spots_of(f, *b.hash);
    const uint64_t step = step_of(f->word), top = tamis__cell_top(c);
    for (unsigned i = 0; i < spots.n; i++)
        if (!may_hold(tamis__cell_get(c, spots.spot[i].at), spots.spot[i].weight, step, top))
            return tamis__fail(TAMIS_NOT_FOUND, "the key is not in the filter: a cell is too low");
    for (unsigned i = 0; i < spots.n; i++)
        tamis__cell_subtract(c, spots.spot[i].at, spots.spot[i].weight);
    return TAMIS_OK;
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    tamis__cells_merge(cells(into), cells(from));
    return TAMIS_OK;
}

static tamis_status fold(const tamis_body *f, uint64_t by, uint64_t word[]) {
    return tamis__cells_fold_shape(cells_of(f->word), by, &word[BITS]);
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    tamis__cells_fold(cells(to), cells(from));
    return TAMIS_OK;
}

/* The share of the L increments that a cell with this value accepts. */
static double passing(uint64_t value, unsigned step, uint64_t top) {
    unsigned pass = 0;
    for (uint64_t v = step; v < 2 * step; v++) pass += may_hold(value, v, step, top);
    return (double)pass / step;
}

/* Distinct keys from the non-zero cells; the rate from what each cell accepts. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_cells c = cells(f), more = cells(other ? other : f);
    const uint64_t top = tamis__cell_top(c);
    uint64_t having[256] = {0}; /* cells by value: cells have at most 8 bits */
    double passed = 0;
    for (uint64_t i = 0; i < c.n; i++) {
        const uint64_t value = tamis__cell_get(c, i) + (other ? tamis__cell_get(more, i) : 0);
        having[value < top ? value : top]++;
    }
    for (uint64_t value = 0; value <= top; value++)
        passed += (double)having[value] * passing(value, step_of(f->word), top);
    tamis__cells_measure(c, other ? &more : NULL, f->word[HASHES],
                         "they no longer go down when keys are removed", out);
    out->fpr = pow(passed / (double)c.n, (double)f->word[HASHES]);
}

const tamis_kind tamis__increment = {
    .name = "increment",
    .contract = "keys can be removed, with fewer bits than counting; no counts, no summary",
    .word = {"bits", "hashes", "step"},
    .options = options,
    .traits = TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_one,
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},
    .sets = &(const tamis_sets){.merge = merge},
};
