/* minhash: how similar two sets are, from a few kilobytes of each (Broder 1997; one permutation: Li,
 * Owen and Zhang 2012; empty bins: Shrivastava 2017).
 *
 * A hash chooses a bin by its top bits and brings a number along, a bijection of it. Each bin keeps
 * the largest number it has seen. Where two sets are one, all bins agree; in general the chance that
 * a bin agrees is the share of all keys that both sets have (Jaccard's index), so the share of bins
 * that agree estimates it, with a standard error of sqrt(J (1 - J) / bins).
 *
 *     bin      0        1        2        3
 *            | 0xfe.. | 0      | 0xc1.. | 0xff.. | ...       0: nobody came here
 *
 * The union of two sets has in each bin the larger of the two, so sketches merge without loss. A set
 * with few keys leaves bins empty; such a bin borrows from a full one that both sides choose alike,
 * when two sketches are compared, never before: what is stored stays mergeable. */
#include <math.h>
#include <stdio.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum { BINS };
enum { FEWEST_BINS = 64, MOST_BINS = 1 << 16, USUAL_BINS = 1024 };

static const struct tamis_option options[] = {
    {"bins", NULL, FEWEST_BINS, MOST_BINS, "1024",
     "numbers that are kept; the error falls with their root"},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static bool is_sized(const tamis_wish *wish) {
    (void)wish;
    return true; /* by its preset, if by nothing else */
}

/* A size is a number of bins; a rate says nothing here. */
static tamis_status plan(const tamis_wish *wish, uint64_t word[]) {
    word[BINS] = wish->has_option[0] ? wish->option[0] : wish->bits ? wish->bits / 64 : USUAL_BINS;
    if (word[BINS] >= FEWEST_BINS && word[BINS] <= MOST_BINS) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "minhash has from %d to %d bins of 64 bits, not %llu",
                       FEWEST_BINS, MOST_BINS, (unsigned long long)word[BINS]);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BINS] < FEWEST_BINS || word[BINS] > MOST_BINS)
        return tamis__fail(TAMIS_CORRUPT, "minhash cannot have %llu bins",
                           (unsigned long long)word[BINS]);
    *size = word[BINS] * 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return 1;
}

/* Every stranger is answered maybe. */
static double rate(const uint64_t word[], uint64_t items) {
    (void)word;
    (void)items;
    return 1;
}

/* ---- Bins ----------------------------------------------------------------------------------- */

static uint64_t bin_get(const tamis_body *f, uint64_t i) {
    return tamis__get64(f->bytes + i * 8);
}

static void bin_offer(tamis_body *f, uint64_t i, uint64_t number) {
    if (number > bin_get(f, i)) tamis__put64(f->bytes + i * 8, number);
}

/* A number has its bin: what is behind it can be told from it. */
static tamis_status audit(const tamis_body *f) {
    for (uint64_t i = 0; i < f->word[BINS]; i++) {
        const uint64_t number = bin_get(f, i);
        if (number && tamis__range(tamis__unmix(number), f->word[BINS]) != i)
            return tamis__fail(TAMIS_CORRUPT, "the number in bin %llu belongs elsewhere",
                               (unsigned long long)i);
    }
    return TAMIS_OK;
}

static tamis_status add(tamis_body *f, const uint64_t *hash, size_t n) {
    for (size_t j = 0; j < n; j++)
        bin_offer(f, tamis__range(hash[j], f->word[BINS]), tamis__mix(hash[j]));
    return TAMIS_OK;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->word[BINS]; i++) bin_offer(into, i, bin_get(from, i));
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* With `load` keys in a bin on average, the gap between its largest number and the top is
 * exponential with that rate, and as large as can be in an empty one. The likeliest rate is that of
 * waiting times some of which were cut off: bins that are not empty, by the sum of all gaps. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measure *out) {
    const double all_numbers = 18446744073709551616.0; /* 2^64 */
    const double bins = (double)f->word[BINS];
    double gaps = 0;
    for (uint64_t i = 0; i < f->word[BINS]; i++) {
        const uint64_t own = bin_get(f, i), others = other ? bin_get(other, i) : 0;
        const uint64_t number = own > others ? own : others;
        gaps += 1 - (double)number / all_numbers;
        out->bits_set += number != 0;
    }
    const double full = (double)out->bits_set;
    out->bits = f->word[BINS];
    out->fpr = 1;
    if (out->bits_set == 0) return;
    out->items.value = bins * full / gaps;
    out->items.error = out->items.value / sqrt(full);
}

const tamis_kind tamis__minhash = {
    .name = "minhash",
    .contract = "how similar two sets are, within an error that its size decides",
    .word = {"bins"},
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .is_sized = is_sized,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .add = add,
    .merge = merge,
    .measure = measure,
};
