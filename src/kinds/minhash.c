/* SPDX-License-Identifier: MIT */
/* minhash: how similar two sets are, from a few kilobytes of each (Broder 1997; one permutation:
 * Li, Owen and Zhang 2012; empty bins: Shrivastava 2017; few bits: Li and Koenig 2010).
 *
 * A hash chooses a bin by its top bits and brings a number, a bijection of it. Each bin keeps the
 * largest number it has seen. For equal sets all bins agree; in general the probability that a bin
 * agrees is the share of all keys that both sets have (Jaccard's index), so the share of bins that
 * agree estimates it, with a standard error of sqrt(J (1 - J) / bins).
 *
 *     keep=64   bin      0        1        2        3
 *                      | 0xfe.. | 0      | 0xc1.. | 0xff.. | ...       0: empty
 *
 *     keep=4    | keys | full bins | e | 7 | 1 | f | ...               bin 1 has borrowed
 *
 * The union of two sets has in each bin the larger of the two, so sketches merge without loss, and
 * a bin that is empty in both is ignored. To be sent or stored in large numbers, sketches can be
 * shrunk to a few bits of each number. These cannot encode "empty", so an empty bin borrows from
 * the first full one in an order of its own, the same in every sketch: two sets then borrow as
 * their union would, and no bin is more likely to agree than another. A shrunk sketch can neither
 * take keys nor be merged.
 *
 * Not for sets of very different size, where J is small whatever they share: then use a filter of
 * the larger and the keys of the smaller. */
#include <math.h>
#include <stdio.h>

#include "bits/bits.h"
#include "bits/packed.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum { BINS, KEEP };
enum { FEWEST_BINS = 16, MAX_BINS = 1 << 16, USUAL_BINS = 1024 };
enum { MAX_FEW = 16, ALL = 64 }; /* bits of a number */

static const struct tamis_option options[] = {
    {"bins", NULL, FEWEST_BINS, MAX_BINS, "1024",
     "numbers that are kept; the error falls with their root"},
    {"keep", NULL, 1, ALL, "64", "bits of each number; below 64 it was shrunk and takes no keys"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static bool is_shrunk(const uint64_t word[]) {
    return word[KEEP] != ALL;
}

static unsigned lacks(const uint64_t word[]) {
    return is_shrunk(word) ? TAMIS_CAN_ADD | TAMIS_CAN_MERGE | TAMIS_CAN_FOLD | TAMIS_CAN_SHRINK
                           : 0;
}

static bool is_legal(const uint64_t word[]) {
    return word[BINS] >= FEWEST_BINS && word[BINS] <= MAX_BINS &&
           (word[KEEP] == ALL || (word[KEEP] >= 1 && word[KEEP] <= MAX_FEW));
}

static tamis_status refuse(tamis_status status, const uint64_t word[]) {
    return tamis__fail(status, "minhash has %d to %d bins of 1 to %d or %d bits, not %llu of %llu",
                       FEWEST_BINS, MAX_BINS, MAX_FEW, ALL, (unsigned long long)word[BINS],
                       (unsigned long long)word[KEEP]);
}

/* A size is a number of bins; a rate does not matter here. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[KEEP] = tamis__chosen(params, KEEP, ALL);
    const uint64_t fitting = params->bits ? params->bits / word[KEEP] : USUAL_BINS;
    word[BINS] = tamis__chosen(params, BINS, fitting);
    return is_legal(word) ? TAMIS_OK : refuse(TAMIS_INVALID, word);
}

/* A shrunk one begins with counts that its numbers no longer show. */
enum { KEYS_AT = 0, FULL_AT = 8, FEW_AT = 16 };

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!is_legal(word)) return refuse(TAMIS_CORRUPT, word);
    *size = (is_shrunk(word) ? FEW_AT : 0) + tamis__fields_size(word[BINS], (unsigned)word[KEEP]);
    return TAMIS_OK;
}

/* A sketch shrunk by a factor has as many fewer bins: adjacent bins merge. */
static tamis_status fold(const tamis_body *f, uint64_t by, uint64_t word[]) {
    if (by == 0 || f->word[BINS] % by != 0)
        return tamis__fail(TAMIS_INVALID, "by=%llu does not divide the %llu bins",
                           (unsigned long long)by, (unsigned long long)f->word[BINS]);
    word[BINS] = f->word[BINS] / by;
    return is_legal(word) ? TAMIS_OK : refuse(TAMIS_INVALID, word);
}

static tamis_status shrink(const tamis_body *f, uint64_t keep, uint64_t word[]) {
    (void)f;
    if (keep < 1 || keep > MAX_FEW)
        return tamis__fail(TAMIS_INVALID, "minhash keeps 1 to %d bits of a number, not %llu",
                           MAX_FEW, (unsigned long long)keep);
    word[KEEP] = keep;
    return TAMIS_OK;
}

/* ---- Bins ----------------------------------------------------------------------------------- */

static uint64_t bin_get(const tamis_body *f, uint64_t i) {
    return tamis__get64(f->bytes + i * 8);
}

static uint64_t few_get(const tamis_body *f, uint64_t i) {
    return tamis__field_get(f->bytes + FEW_AT, i, (unsigned)f->word[KEEP]);
}

static void bin_offer(tamis_body *f, uint64_t i, uint64_t number) {
    if (number > bin_get(f, i)) tamis__put64(f->bytes + i * 8, number);
}

/* No more full bins than bins, no fewer keys than full bins, and nothing after the last. */
static tamis_status audit_few(const tamis_body *f) {
    const uint64_t keys = tamis__get64(f->bytes + KEYS_AT), full = tamis__get64(f->bytes + FULL_AT);
    uint64_t any = 0;
    for (uint64_t i = 0; i < f->word[BINS]; i++) any |= few_get(f, i);
    if (full > f->word[BINS] || keys < full || (full == 0 && (keys || any)))
        return tamis__fail(TAMIS_CORRUPT, "%llu keys cannot fill %llu of %llu bins",
                           (unsigned long long)keys, (unsigned long long)full,
                           (unsigned long long)f->word[BINS]);
    if (!tamis__fields_end_clean(f->bytes + FEW_AT, f->word[BINS], (unsigned)f->word[KEEP]))
        return tamis__fail(TAMIS_CORRUPT, "stray bits after the last bin");
    return TAMIS_OK;
}

/* A number determines its bin, so the bin can be checked. */
static tamis_status audit(const tamis_body *f) {
    if (is_shrunk(f->word)) return audit_few(f);
    for (uint64_t i = 0; i < f->word[BINS]; i++) {
        const uint64_t number = bin_get(f, i);
        if (number && tamis__range(tamis__unmix(number), f->word[BINS]) != i)
            return tamis__fail(TAMIS_CORRUPT, "the number in bin %llu belongs to another bin",
                               (unsigned long long)i);
    }
    return TAMIS_OK;
}

/* The number 0 means empty, so the one hash in 2^64 that leads to it is ignored. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    if (is_shrunk(f->word))
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "minhash with %llu bits of each number takes no keys: "
                           "fill one with all 64 bits, and shrink that",
                           (unsigned long long)f->word[KEEP]);
    for (size_t j = 0; j < b.n; j++)
        bin_offer(f, tamis__range(b.hash[j], f->word[BINS]), tamis__mix(b.hash[j]));
    return TAMIS_OK;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->word[BINS]; i++) bin_offer(into, i, bin_get(from, i));
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Statistics of the bins. */
typedef struct tally {
    uint64_t full; /* bins that are not empty */
    double keys;
} tally;

static tally tally_of(uint64_t bins, uint64_t full, double gaps) {
    return (tally){full, full ? (double)bins * (double)full / gaps : 0};
}

/* With `load` keys in a bin on average, the gap between its largest number and the top is
 * exponential with that rate, and at its maximum in an empty one. The likeliest rate is that of
 * censored waiting times: non-empty bins divided by the sum of all gaps. */
static tally count_bins(const tamis_body *f, const tamis_body *other) {
    const double all_numbers = 18446744073709551616.0; /* 2^64 */
    double gaps = 0;
    uint64_t full = 0;
    for (uint64_t i = 0; i < f->word[BINS]; i++) {
        const uint64_t own = bin_get(f, i), others = other ? bin_get(other, i) : 0;
        const uint64_t number = own > others ? own : others;
        gaps += number ? ((double)(UINT64_MAX - number) + 1) / all_numbers : 1;
        full += number != 0;
    }
    return tally_of(f->word[BINS], full, gaps);
}

static tally tally_body(const tamis_body *f) {
    if (!is_shrunk(f->word)) return count_bins(f, NULL);
    return (tally){tamis__get64(f->bytes + FULL_AT), (double)tamis__get64(f->bytes + KEYS_AT)};
}

/* The likeliest rate has a relative error of 1/sqrt(full). Part of that is the chance by which a
 * rate makes this number of keys and not another; but their number is what we estimate. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tally t = other ? count_bins(f, other) : tally_body(f);
    out->bits = f->word[BINS];
    out->bits_set = t.full;
    out->fpr = 1;
    if (t.full == 0) return;
    out->items.value = t.keys;
    out->items.error = sqrt(fmax(0, t.keys * t.keys / (double)t.full - t.keys));
}

/* ---- Shrinking ------------------------------------------------------------------------------ */

/* Which bins are full, a bit for each: small enough for the stack, fast to scan. */
typedef struct occupancy {
    uint64_t word[MAX_BINS / 64];
    uint64_t bins;
} occupancy;

static bool is_full(const occupancy *o, uint64_t i) {
    return o->word[i / 64] >> i % 64 & 1;
}

/* The position of bin j in the order of bin i. */
static uint64_t place_of(uint64_t i, uint64_t j) {
    return tamis__mix(tamis__mix(i + 1) + j);
}

/* The first full bin in the order of bin i: some random bins, then all by their place. Any order
 * would do that ignores the contents of bins; this one gives every full bin the same probability
 * (variance: Shrivastava 2017), and takes some K/8 steps where few are full, a few where many
 * are. */
static uint64_t lender_of(const occupancy *o, uint64_t i) {
    enum { DRAWS = 64 };
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        const uint64_t j = tamis__range(place_of(i, MAX_BINS + draw), o->bins);
        if (is_full(o, j)) return j;
    }
    uint64_t first = o->bins, min = UINT64_MAX;
    for (uint64_t w = 0; w * 64 < o->bins; w++)
        for (uint64_t rest = o->word[w]; rest; rest &= rest - 1) {
            const uint64_t j = w * 64 + tamis__popcount64((rest & (0 - rest)) - 1),
                           place = place_of(i, j);
            if (place <= min) min = place, first = j;
        }
    return first;
}

static void move_few(tamis_body *to, const tamis_body *from) {
    const tally t = count_bins(from, NULL);
    const unsigned keep = (unsigned)to->word[KEEP];
    occupancy o = {.bins = from->word[BINS]};
    tamis__put64(to->bytes + KEYS_AT, (uint64_t)(t.keys + 0.5));
    tamis__put64(to->bytes + FULL_AT, t.full);
    if (t.full == 0) return;
    for (uint64_t i = 0; i < o.bins; i++)
        o.word[i / 64] |= (uint64_t)(bin_get(from, i) != 0) << i % 64;
    for (uint64_t i = 0; i < o.bins; i++) {
        const uint64_t number = bin_get(from, is_full(&o, i) ? i : lender_of(&o, i));
        tamis__field_put(to->bytes + FEW_AT, i, keep, number & tamis__field_mask(keep));
    }
}

/* To fewer bins, or to fewer bits. */
static tamis_status move(tamis_body *to, const tamis_body *from) {
    const uint64_t by = from->word[BINS] / to->word[BINS];
    if (is_shrunk(to->word)) {
        move_few(to, from);
        return TAMIS_OK;
    }
    for (uint64_t i = 0; i < from->word[BINS]; i++) bin_offer(to, i / by, bin_get(from, i));
    return TAMIS_OK;
}

/* ---- Similarity ----------------------------------------------------------------------------- */

/* Of N keys in both sets together, M are the largest of a bin, any M with the same probability. So
 * the number that agree is drawn without replacement: hypergeometric. */
static double draw_variance(double keys, double drawn) {
    return keys > drawn ? (keys - drawn) / (drawn * fmax(1, keys - 1)) : 0;
}

/* Half a bin more on either side: that all agree does not exclude an error. */
static double cautious(double share, double drawn) {
    return (share * drawn + 0.5) / (drawn + 1);
}

static struct tamis_estimate compare_numbers(const tamis_body *a, const tamis_body *b) {
    const tally both = count_bins(a, b);
    uint64_t same = 0;
    for (uint64_t i = 0; i < a->word[BINS]; i++)
        same += bin_get(a, i) != 0 && bin_get(a, i) == bin_get(b, i);
    const double drawn = (double)both.full, share = (double)same / drawn;
    const double p = cautious(share, drawn);
    return (struct tamis_estimate){share, sqrt(p * (1 - p) * draw_variance(both.keys, drawn))};
}

/* Two numbers that differ have the same few bits with probability c = 2^-keep: E[agree] = J + (1 -
 * J) c. The variance is that of the draw, of borrowing (K - M bins use one of M again), and of the
 * coins c. Bins share a coin when they borrow from one bin in which both sides have a number, or
 * from one in which one side has, and the other side's next choice is the same by chance. */
static double few_variance(double share, double bins, tally x, tally y, double c) {
    const double keys = (x.keys + y.keys) / (1 + share);
    const double drawn = fmax(1, -bins * expm1(keys * log1p(-1 / bins)));
    const double p = cautious(share, drawn);
    const double draw = draw_variance(keys, drawn), again = (bins - drawn) / (bins * bins);
    const double twofold = (double)x.full + (double)y.full - drawn * (1 + p);
    const double shared = fmin(1, fmax(0, twofold / (drawn * (1 - p))));
    const double chance = 2 / ((double)x.full + (double)y.full);
    const double alone = (1 + (bins / drawn - drawn / bins) * chance) / bins;
    const double coin = shared * (1 / drawn + again) + (1 - shared) * alone;
    return p * (1 - p) * (draw + again * (1 - draw)) + (1 - p) * c / (1 - c) * coin;
}

static struct tamis_estimate compare_few(const tamis_body *a, const tamis_body *b, tally x,
                                         tally y) {
    const double bins = (double)a->word[BINS], c = ldexp(1, -(int)a->word[KEEP]);
    uint64_t same = 0;
    for (uint64_t i = 0; i < a->word[BINS]; i++) same += few_get(a, i) == few_get(b, i);
    const double share = fmax(0, ((double)same / bins - c) / (1 - c));
    return (struct tamis_estimate){share, sqrt(few_variance(share, bins, x, y, c))};
}

/* Two empty sets are equal, and an empty one shares nothing with any other. */
static tamis_status similarity(const tamis_body *a, const tamis_body *b,
                               struct tamis_estimate *out) {
    const tally x = tally_body(a), y = tally_body(b);
    if (x.full == 0 || y.full == 0)
        *out = (struct tamis_estimate){x.full == y.full, 0};
    else if (is_shrunk(a->word))
        *out = compare_few(a, b, x, y);
    else
        *out = compare_numbers(a, b);
    return TAMIS_OK;
}

const tamis_kind tamis__minhash = {
    .name = "minhash",
    .contract = "how similar two sets are, within an error that its size decides",
    .word = {"bins", "keep"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = tamis__one_probe,
    .rate = tamis__always_maybe,
    .audit = audit,
    .measure = measure,
    .add = add,
    .sizing = &(const tamis_sizing){.is_sized = tamis__always_sized},
    .reshape = &(const tamis_reshape){.fold = fold, .shrink = shrink, .move = move},
    .sets = &(const tamis_sets){.merge = merge, .similarity = similarity},
};
