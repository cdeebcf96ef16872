/* SPDX-License-Identifier: MIT */
/* spectral: how often each key was added (Cohen and Matias 2003).
 *
 * Bloom's array with counters for bits. No counter of a key can be lower than the number of its
 * adds, and it is higher only where other keys fall on it; so the smallest counter of a key is its
 * count, and it is wrong only when all its counters are shared: as rarely as a false positive.
 *
 *     key ─▶ hash ─▶ position 0, position 1, ... position k-1         anywhere in m cells
 *
 *     0 0 4 0 0 0 0 3 0 0 0 9 0 0 0 0 0 0 0 0 ...                     count: 3, the smallest
 *         ▲         ▲       ▲
 *
 * Three ways to keep the cells (`mode`):
 *
 *     select      every add raises all k cells by one, a remove lowers them. Minimum selection.
 *     increase    an add raises only the cells that are at the minimum. Fewer counts are too high,
 *                 and those by less; but nothing can be removed, since it is not known which
 *                 cells an add has raised.
 *     recurring   as select, and a key whose minimum occurs only once among its cells is
 *                 suspect: it is also counted in a second, smaller array, with few keys.
 *
 *     recurring:  [ primary: 2/3 of the cells                     | secondary: 1/3 ]
 *
 * A minimum that occurs twice is rarely wrong, because two cells would have to be raised by exactly
 * as much. A key stays in the secondary, and every later add and remove goes there as well; else
 * its count there would be too low. But the secondary cannot prove a key's presence: others may
 * have filled its cells. Then `count` can be too low (never below 1), so only counts up to 1 are
 * reliable with recurring. `has` is answered from the primary alone and is as accurate as with
 * select.
 *
 * Use it for counts of skewed data in a fixed space; a set needs no counts, and counting has
 * narrower cells. */
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/counters.h"
#include "kinds/kind.h"

enum { BITS, HASHES, MODE, WIDTH };          /* shape words */
enum { SELECT, INCREASE, RECURRING, MODES }; /* values of MODE */
enum { OPT_HASHES, OPT_MODE, OPT_WIDTH };    /* options */
enum { MIN_WIDTH = 4, WIDTH_PRESET = 8 };
enum { MAX_HASHES = TAMIS_BLOOM_MAX_HASHES };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the best for the rate", "probes per key, k"},
    {"mode", "select|increase|recurring", 0, 0, "select", "which cells an add raises"},
    {"width", NULL, MIN_WIDTH, TAMIS_MAX_WIDTH, "8", "bits of a cell: counts to 2^width - 1"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Cells come in units: one primary cell, or two of them and one of the secondary. */
static uint64_t primary_per_unit(const uint64_t word[]) {
    return word[MODE] == RECURRING ? 2 : 1;
}

static uint64_t bits_per_unit(const uint64_t word[]) {
    return word[MODE] == RECURRING ? 3 * word[WIDTH] : word[WIDTH];
}

static uint64_t units_of(const uint64_t word[]) {
    return word[BITS] / bits_per_unit(word);
}

static uint64_t primary_of(const uint64_t word[]) {
    return units_of(word) * primary_per_unit(word);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[HASHES] = tamis__chosen(params, OPT_HASHES, 0);
    word[MODE] = tamis__chosen(params, OPT_MODE, SELECT);
    word[WIDTH] = tamis__chosen(params, OPT_WIDTH, WIDTH_PRESET);
    return tamis__cells_plan(params, "spectral", bits_per_unit(word), primary_per_unit(word),
                             &word[BITS], &word[HASHES]);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have("spectral", word[HASHES], "hashes", 1, MAX_HASHES)) return TAMIS_CORRUPT;
    if (word[MODE] >= MODES || word[WIDTH] < MIN_WIDTH || word[WIDTH] > TAMIS_MAX_WIDTH)
        return tamis__fail(TAMIS_CORRUPT, "spectral has no mode %llu with cells of width %llu",
                           (unsigned long long)word[MODE], (unsigned long long)word[WIDTH]);
    if (word[BITS] == 0 || word[BITS] > MAX_BITS || word[BITS] % bits_per_unit(word))
        return tamis__fail(TAMIS_CORRUPT,
                           "spectral cannot have %llu bits: they come in multiples of %llu",
                           (unsigned long long)word[BITS], (unsigned long long)bits_per_unit(word));
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

/* What increase has raised depends on the order of adds, so the sum of two arrays is not what one
 * array would have become. The secondary of recurring may have a key in one filter and not in the
 * other, so that their sum would count it too low. */
static unsigned lacks(const uint64_t word[]) {
    if (word[MODE] == SELECT) return 0;
    const unsigned both = TAMIS_CAN_MERGE | TAMIS_CAN_FOLD | TAMIS_ANY_ORDER;
    return word[MODE] == INCREASE ? both | TAMIS_CAN_REMOVE : both;
}

/* In all three modes the same cells are not zero: those of classic. */
static double rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, primary_of(word), word[HASHES]);
}

static uint64_t reliable_count(const uint64_t word[]) {
    return word[MODE] == RECURRING ? 1 : tamis__field_mask((unsigned)word[WIDTH]);
}

/* ---- Cells ---------------------------------------------------------------------------------- */

/* Cells of a key, as its spots number them. */
static tamis_cells primary(const tamis_body *f) {
    return (tamis_cells){f->bytes, primary_of(f->word), (unsigned)f->word[WIDTH]};
}

static tamis_spots primary_spots(const tamis_body *f, uint64_t hash) {
    return tamis__spots_of(hash, primary_of(f->word), f->word[HASHES]);
}

/* The secondary starts where the primary ends, so its cells are numbered from there. Its positions
 * come from a hash of their own: keys that meet in one array should not meet in the other. */
static tamis_spots secondary_spots(const tamis_body *f, uint64_t hash) {
    tamis_spots spots = tamis__spots_of(tamis__mix(hash), units_of(f->word), f->word[HASHES]);
    for (unsigned i = 0; i < spots.n; i++) spots.spot[i].at += primary_of(f->word);
    return spots;
}

/* A key at its cells, `times` times over. */
static void raise_all(tamis_cells c, const tamis_spots *spots, uint64_t times) {
    for (unsigned i = 0; i < spots->n; i++)
        tamis__cell_add(c, spots->spot[i].at, spots->spot[i].weight * times);
}

static void lower_all(tamis_cells c, const tamis_spots *spots) {
    for (unsigned i = 0; i < spots->n; i++)
        tamis__cell_subtract(c, spots->spot[i].at, spots->spot[i].weight);
}

/* ---- Adding --------------------------------------------------------------------------------- */

static void add_by_select(const tamis_body *f, const uint64_t *hash, size_t n) {
    const tamis_probed p = tamis__cells_probed(primary(f), f->word[HASHES]);
    tamis__probed_add(tamis__cell_count_up, &p, hash, n);
}

/* Cells below the new count become it; the others already have more from other keys. */
static void add_by_increase(const tamis_body *f, uint64_t hash) {
    const tamis_cells cells = primary(f);
    uint64_t x = tamis__chain_start(hash), min = tamis__cell_top(cells);
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        const uint64_t value = tamis__cell_get(cells, tamis__chain_next(&x, cells.n));
        if (value < min) min = value;
    }
    x = tamis__chain_start(hash);
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        const uint64_t position = tamis__chain_next(&x, cells.n);
        if (tamis__cell_get(cells, position) == min) tamis__cell_add(cells, position, 1);
    }
}

static void add_by_recurring(const tamis_body *f, uint64_t hash) {
    const tamis_cells cells = primary(f);
    const tamis_spots first = primary_spots(f, hash), second = secondary_spots(f, hash);
    unsigned times;
    raise_all(cells, &first, 1);
    const uint64_t min = tamis__spots_count(cells, &first, &times);
    if (tamis__spots_hold(cells, &second))
        raise_all(cells, &second, 1);
    else if (times == 1)
        raise_all(cells, &second, min);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    void (*const add_one)(const tamis_body *, uint64_t) =
        f->word[MODE] == INCREASE ? add_by_increase : add_by_recurring;
    if (f->word[MODE] == SELECT)
        add_by_select(f, b.hash, b.n);
    else
        for (size_t j = 0; j < b.n; j++) add_one(f, b.hash[j]);
    return TAMIS_OK;
}

/* ---- Querying and removing ------------------------------------------------------------------ */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_probed p = tamis__cells_probed(primary(f), f->word[HASHES]);
    tamis__probed_query(tamis__cell_is_used, &p, b.hash, b.n, hit);
}

/* The smallest cell: an add by increase raises a cell that two probes share only once. */
static uint64_t count_by_increase(const tamis_body *f, uint64_t hash) {
    tamis_spots spots = primary_spots(f, hash);
    for (unsigned i = 0; i < spots.n; i++) spots.spot[i].weight = 1;
    return tamis__spots_count(primary(f), &spots, NULL);
}

/* The primary is never too low, so where the secondary has more, it is the wrong one. */
static uint64_t count_by_recurring(const tamis_body *f, uint64_t hash) {
    const tamis_spots first = primary_spots(f, hash), second = secondary_spots(f, hash);
    unsigned times;
    const uint64_t min = tamis__spots_count(primary(f), &first, &times);
    if (times > 1 || min == 0) return min;
    if (!tamis__spots_hold(primary(f), &second)) return min;
    const uint64_t other = tamis__spots_count(primary(f), &second, NULL);
    return other < min ? other : min;
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *out) {
    for (size_t j = 0; j < b.n; j++) switch (f->word[MODE]) {
        case SELECT: {
            const tamis_spots spots = primary_spots(f, b.hash[j]);
            out[j] = tamis__spots_count(primary(f), &spots, NULL);
            break;
        }
        case INCREASE: out[j] = count_by_increase(f, b.hash[j]); break;
        default: out[j] = count_by_recurring(f, b.hash[j]); break;
        }
}

static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    const tamis_cells cells = primary(f);
    const tamis_spots first = primary_spots(f, *b.hash);
    if (!tamis__spots_hold(cells, &first))
        return tamis__fail(TAMIS_NOT_FOUND, "the key is not in the filter: a cell is too low");
    lower_all(cells, &first);
    if (f->word[MODE] != RECURRING) return TAMIS_OK;
    const tamis_spots second = secondary_spots(f, *b.hash);
    if (tamis__spots_hold(cells, &second)) lower_all(cells, &second);
    return TAMIS_OK;
}

/* ---- Sets and measuring: select only, except measuring --------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    tamis__cells_merge(primary(into), primary(from));
    return TAMIS_OK;
}

static tamis_status fold(const tamis_body *f, uint64_t by, uint64_t word[]) {
    return tamis__cells_fold_shape(primary_of(f->word), by, &word[BITS]);
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    tamis__cells_fold(primary(to), primary(from));
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_cells more = primary(other ? other : f);
    tamis__cells_measure(primary(f), other ? &more : NULL, f->word[HASHES],
                         "counts end there, and removing no longer lowers them", out);
}

const tamis_kind tamis__spectral = {
    .name = "spectral",
    .contract = "how often each key was added: never too low, seldom too high",
    .word = {"bits", "hashes", "mode", "width"},
    .options = options,
    .traits = TAMIS_ANY_ORDER,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .audit = tamis__bits_audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_one,
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},
    .sets = &(const tamis_sets){.merge = merge},
};
