/* SPDX-License-Identifier: MIT */
/* stable: a filter for an endless stream, which forgets at random.
 *
 * Cells of 1, 2 or 4 bits. Every add first takes one off P neighbouring cells, from a random place,
 * and then sets the K cells of its key to the highest value. A key is found while none of its cells
 * is zero. Adds and wear reach a balance: the share of cells in use rises to a known limit, and
 * never passes it, however many keys come. So does the rate. Deng and Rafiei, "Approximately
 * Detecting Duplicates for Streaming Data Using Stable Bloom Filters" (2006).
 *
 *     add:   0 3 1 0 2 0 0 3 0 1 0 0        3 is the highest value of 2 bits
 *                ├───────┤                  1. one less in P = 5 cells from a random place on
 *            0 3 0 0 1 0 0 3 0 1 0 0
 *            ▲       ▲         ▲            2. the K = 3 cells of the key
 *            3 3 0 0 3 0 0 3 0 3 0 0
 *
 * The price is that keys are lost at random: of those added `capacity` adds ago half are still
 * remembered. window has a sharp edge instead, at half the bits; stable is for a memory that fades,
 * in the simplest of structures.
 *
 * Payload: 8 bytes that count the draws, then the cells, whole words of them. */
#include <math.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/packed.h"
#include "bits/probe.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/kind.h"

enum { CELLS, WIDTH, HASHES, DECREMENTS, DICE }; /* shape words */
enum { OPT_HASHES, OPT_WIDTH };

enum { MAX_HASHES = TAMIS_BLOOM_MAX_HASHES, MAX_WIDTH = 4, WORD_BITS = 64, COUNTER_BYTES = 8 };
#define MAX_BITS (TAMIS_MAX_PAYLOAD_BYTES * 8 - COUNTER_BYTES * 8)

/* With fewer cells, variation in the fill would lift the rate above that of the means. */
enum { MIN_CELLS = 1024 };

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the fewest bits", "cells per key, K"},
    {"width", NULL, 1, MAX_WIDTH, "the fewest bits", "bits per cell: 1, 2 or 4"},
    {0},
};

/* ---- The life of a cell -----------------------------------------------------------------------
 *
 * An add takes one off a given cell with probability P/m, and then sets it with probability
 * 1 - (1 - 1/m)^K. Looking back from now, a cell is zero when it was worn `top` times since it was
 * last set. Of the events that reach a cell a share `worn` are wear, so that is worn^top, times the
 * probability that so many events have happened at all. This is exact. */

typedef struct cell {
    double set, drop, event, worn;
    unsigned top;
} cell;

static cell cell_of(const uint64_t word[]) {
    const double m = (double)word[CELLS], drop = (double)word[DECREMENTS] / m;
    const double set = -expm1((double)word[HASHES] * log1p(-1 / m));
    const double event = set + (1 - set) * drop;
    return (cell){set, drop, event, (1 - set) * drop / event,
                  (unsigned)tamis__field_mask((unsigned)word[WIDTH])};
}

/* The probability of fewer than n events in `trials`, each with probability p. */
static double fewer_than(unsigned n, double trials, double p) {
    if (trials < n) return 1;
    if (p >= 1) return 0;
    double sum = 0, term = exp(trials * log1p(-p));
    for (unsigned j = 0; j < n; j++) {
        sum += term;
        term *= (trials - j) / (j + 1) * (p / (1 - p));
    }
    return fmin(sum, 1);
}

/* The probability that a cell is not zero `adds` adds after it was set ... */
static double kept(const cell *c, double adds) {
    return 1 - pow(c->worn, c->top) * (1 - fewer_than(c->top, adds, c->event));
}

/* ... and `adds` adds after the beginning, when it was zero. */
static double used(const cell *c, double adds) {
    const double never_set = exp(adds * log1p(-c->set));
    return fmax(0, kept(c, adds) - never_set * fewer_than(c->top, adds, c->drop));
}

/* The limit of the rate: that of the mean share of cells in use, plus the effect of its variation
 * on the mean of a power. Runs of cells wear together and keys set several at once, so that cells
 * are not independent; over 20 shapes, 40,000 moments of each, the variance of the share was 0.2 to
 * 1.4 times that of independent cells. */
static double stable_rate(const uint64_t word[]) {
    const double max_spread = 1.5, k = (double)word[HASHES];
    const cell c = cell_of(word);
    const double zero = pow(c.worn, c.top), share = 1 - zero;
    const double variance = max_spread * zero / (share * (double)word[CELLS]); /* over share^2 */
    return fmin(1, pow(share, k) * (1 + k * (k - 1) / 2 * variance));
}

/* The share of keys that are remembered `adds` adds later. The others are forgotten: they are found
 * as often as non-members. */
static double remembered(const uint64_t word[], double adds) {
    const cell c = cell_of(word);
    const double found = pow(kept(&c, adds), (double)word[HASHES]), fpr = stable_rate(word);
    return (found - fpr) / (1 - fpr);
}

static const double half = 0.5;

/* ---- Shape ---------------------------------------------------------------------------------- */

static bool is_width(uint64_t width) {
    return width == 1 || width == 2 || width == 4;
}

/* The most wear that leaves half of the keys after `adds` adds: spare memory improves the rate. 0
 * when even the least is too much. */
static uint64_t max_decrements(const uint64_t word[], double adds) {
    uint64_t tried[TAMIS_WORDS], low = 0, high = word[CELLS] + 1;
    memcpy(tried, word, sizeof tried);
    while (high - low > 1) {
        tried[DECREMENTS] = low + (high - low) / 2;
        *(remembered(tried, adds) >= half ? &low : &high) = tried[DECREMENTS];
    }
    return low;
}

/* The least wear with which many cells keep the rate (section 3.3 of the paper, without its m). */
static double decrements_for(double fpr, uint64_t hashes, uint64_t width) {
    const double zero = 1 - pow(fpr, 1 / (double)hashes);
    const double worn = pow(zero, 1 / (double)tamis__field_mask((unsigned)width));
    return fmax(1, ceil((double)hashes * worn / (1 - worn)));
}

/* Is half of the keys left after `adds` adds, with `cells` cells? */
static bool is_enough(const uint64_t word[], double cells, double adds) {
    uint64_t tried[TAMIS_WORDS];
    memcpy(tried, word, sizeof tried);
    tried[CELLS] = (uint64_t)cells;
    return cells >= (double)MAX_BITS || remembered(tried, adds) >= half;
}

/* The fewest such cells, to about one in 8192. The search starts where a cell lives for `adds` adds
 * on average, which is never far off. */
static double cells_for(const uint64_t word[], double adds) {
    const double close_enough = 1 + 0x1p-13, min = (double)word[DECREMENTS];
    const double top = (double)tamis__field_mask((unsigned)word[WIDTH]);
    double high = fmax(min, adds * min / top), low = high;
    while (!is_enough(word, high, adds)) low = high, high *= 2;
    while (low > min && is_enough(word, low, adds)) high = low, low = fmax(min, low / 2);
    while (high / low > close_enough && high - low > 1) {
        const double middle = sqrt(low * high);
        *(is_enough(word, middle, adds) ? &high : &low) = middle;
    }
    return ceil(high);
}

/* Fills in cells and decrements for given hashes and width. Few cells have a slightly higher rate
 * than many, so the wear may have to grow a little. */
static bool fit_rate(const tamis_params *params, double adds, uint64_t word[]) {
    const uint64_t min = WORD_BITS / word[WIDTH];
    const double decrements = decrements_for(params->fpr, word[HASHES], word[WIDTH]);
    if (!(decrements < (double)MAX_BITS)) return false;
    for (word[DECREMENTS] = (uint64_t)decrements;; word[DECREMENTS] += 1 + word[DECREMENTS] / 64) {
        const double cells = fmax(MIN_CELLS, cells_for(word, adds));
        const uint64_t max = MAX_BITS / word[WIDTH];
        word[CELLS] = cells < (double)max ? tamis__round_up((uint64_t)cells, min, max) : 0;
        if (!word[CELLS]) return false;
        if (stable_rate(word) <= params->fpr) return true;
    }
}

static bool fit_size(const tamis_params *params, double adds, uint64_t word[]) {
    word[CELLS] = (params->bits / WORD_BITS - 1) * (WORD_BITS / word[WIDTH]);
    word[DECREMENTS] = max_decrements(word, adds);
    if (!word[DECREMENTS]) word[DECREMENTS] = 1; /* too small for its capacity: best effort */
    return true;
}

/* Every number of hashes that a smaller rate could use, with every width. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const bool has_hashes = params->has_option[OPT_HASHES],
               has_width = params->has_option[OPT_WIDTH];
    const double adds = params->capacity ? (double)params->capacity : 1;
    if (has_width && !is_width(params->option[OPT_WIDTH]))
        return tamis__fail(TAMIS_INVALID, "width must be 1, 2 or 4 for stable, not %llu",
                           (unsigned long long)params->option[OPT_WIDTH]);
    if (params->bits && params->bits < 2 * WORD_BITS)
        return tamis__fail(TAMIS_INVALID, "size must be at least %d bytes for stable",
                           2 * WORD_BITS / 8);

    const uint64_t first = has_hashes ? params->option[OPT_HASHES] : 1;
    const uint64_t last = has_hashes     ? first
                          : params->bits ? MAX_HASHES
                                         : 2 + (uint64_t)fmax(0, -log2(params->fpr));
    double best = INFINITY;
    for (uint64_t width = 1; width <= MAX_WIDTH; width *= 2)
        for (uint64_t hashes = first; hashes <= last; hashes++) {
            if (has_width && width != params->option[OPT_WIDTH]) continue;
            uint64_t tried[TAMIS_WORDS] = {
                [WIDTH] = width, [HASHES] = hashes, [DICE] = params->seed};
            if (!(params->bits ? fit_size : fit_rate)(params, adds, tried)) continue;
            const double cost = params->bits ? stable_rate(tried) : (double)(tried[CELLS] * width);
            if (cost >= best) continue;
            best = cost;
            memcpy(word, tried, sizeof tried);
        }
    if (!word[CELLS]) return tamis__fail(TAMIS_TOO_LARGE, "stable would need over 2^56 bytes");
    const uint64_t max = max_decrements(word, adds); /* sizes were rounded up: use the rest */
    if (max > word[DECREMENTS]) word[DECREMENTS] = max;
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!is_width(word[WIDTH]))
        return tamis__fail(TAMIS_CORRUPT, "stable has cells of 1, 2 or 4 bits, not %llu",
                           (unsigned long long)word[WIDTH]);
    if (word[CELLS] == 0 || word[CELLS] > MAX_BITS / word[WIDTH] ||
        word[CELLS] % (WORD_BITS / word[WIDTH]))
        return tamis__fail(TAMIS_CORRUPT, "stable cannot have %llu cells",
                           (unsigned long long)word[CELLS]);
    if (!tamis__may_have("stable", word[HASHES], "hashes", 1, MAX_HASHES)) return TAMIS_CORRUPT;
    if (word[DECREMENTS] == 0 || word[DECREMENTS] > word[CELLS])
        return tamis__fail(TAMIS_CORRUPT, "stable cannot take one off %llu of %llu cells",
                           (unsigned long long)word[DECREMENTS], (unsigned long long)word[CELLS]);
    *size = COUNTER_BYTES + tamis__fields_size(word[CELLS], (unsigned)word[WIDTH]);
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    return word[HASHES];
}

static double rate(const uint64_t word[], uint64_t items) {
    const cell c = cell_of(word);
    return pow(used(&c, (double)items), (double)word[HASHES]);
}

/* ---- Cells ---------------------------------------------------------------------------------- */

static uint8_t *cells_at(const tamis_body *f) {
    return f->bytes + COUNTER_BYTES;
}

/* A one in the lowest bit of each cell of a word that is not zero. */
TAMIS_HOT uint64_t cells_in_use(uint64_t x, unsigned width) {
    const uint64_t lowest_bits = UINT64_MAX / tamis__field_mask(width);
    if (width > 1) x |= x >> 1;
    if (width > 2) x |= x >> 2;
    return x & lowest_bits;
}

/* Takes one off the cells in bits [from, to), a word at a time: no cell straddles two words, and
 * zero cells are not touched, so nothing is borrowed from a neighbour. */
static void wear(tamis_body *f, uint64_t from, uint64_t to) {
    const unsigned width = (unsigned)f->word[WIDTH];
    while (from < to) {
        uint8_t *p = cells_at(f) + from / WORD_BITS * 8;
        const uint64_t start = from % WORD_BITS, next = from - start + WORD_BITS;
        const uint64_t x = tamis__get64(p), end = to < next ? start + to - from : WORD_BITS;
        const uint64_t range = UINT64_MAX >> (WORD_BITS - (end - start)) << start;
        tamis__put64(p, x - (cells_in_use(x, width) & range));
        from = next;
    }
}

/* The next random place: numbers 1, 2, 3, ... well mixed, another sequence for each seed. */
static uint64_t draw(tamis_body *f) {
    const uint64_t step = 0x9e3779b97f4a7c15, count = tamis__get64(f->bytes) + 1;
    tamis__put64(f->bytes, count);
    return tamis__range(tamis__mix(f->word[DICE] + count * step), f->word[CELLS]);
}

/* ---- Querying and adding -------------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const unsigned width = (unsigned)f->word[WIDTH];
    for (size_t j = 0; j < b.n; j++) {
        uint64_t x = tamis__chain_start(b.hash[j]), i = 0;
        while (i < f->word[HASHES] &&
               tamis__field_get(cells_at(f), tamis__chain_next(&x, f->word[CELLS]), width))
            i++;
        hit[j] = i == f->word[HASHES];
    }
}

/* Wear first, so that a key is always found right after it was added. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    const unsigned width = (unsigned)f->word[WIDTH];
    const uint64_t bits = f->word[CELLS] * width, worn_bits = f->word[DECREMENTS] * width;
    for (size_t j = 0; j < b.n; j++) {
        const uint64_t from = draw(f) * width, left = bits - from;
        wear(f, from, from + (worn_bits < left ? worn_bits : left));
        if (worn_bits > left) wear(f, 0, worn_bits - left);
        uint64_t x = tamis__chain_start(b.hash[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++)
            tamis__field_put(cells_at(f), tamis__chain_next(&x, f->word[CELLS]), width,
                             tamis__field_mask(width));
    }
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* How many keys are remembered when this share of the cells is in use: the share gives the number
 * of adds, as long as it has not settled, and each is remembered with a probability that falls with
 * its age. Simpson's rule is within 2 % here. */
static double keys_remembered(const uint64_t word[], double share) {
    enum { STEPS = 32 };
    const cell c = cell_of(word);
    const double settled = (c.top + 10 * sqrt(c.top) + 30) / c.event;
    double low = 0, high = settled;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        *(used(&c, middle) < share ? &low : &high) = middle;
    }
    const double step = high / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += remembered(word, i * step) * (i % STEPS == 0 ? 1 : i % 2 ? 4 : 2);
    return sum * step / 3;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    for (uint64_t at = COUNTER_BYTES; at < f->size; at += 8)
        out->bits_set +=
            tamis__popcount64(cells_in_use(tamis__get64(f->bytes + at), (unsigned)f->word[WIDTH]));
    out->bits = f->word[CELLS];
    const double m = (double)out->bits, share = (double)out->bits_set / m;
    const double spread = sqrt(share * (1 - share) / m);
    const double keys = keys_remembered(f->word, share);
    const double by_spread =
        (keys_remembered(f->word, share + spread) - keys_remembered(f->word, share - spread)) / 2;
    out->fpr = pow(share, (double)f->word[HASHES]);
    out->items = (struct tamis_estimate){keys, sqrt(by_spread * by_spread + keys)};
}

const tamis_kind tamis__stable = {
    .name = "stable",
    .contract = "for endless streams: the rate never rises above its stable point; old keys fade",
    .word = {"cells", "width", "hashes", "decrements", "dice"},
    .options = options,
    .traits = TAMIS_AGES | TAMIS_MAY_FORGET,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .measure = measure,
    .query = query,
    .add = add,
};
