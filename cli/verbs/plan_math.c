/* SPDX-License-Identifier: MIT */
/* plan_math.c: what the formulas of tamis_math.h say about a plan of a classic or counting filter.
 *
 * They are about independent probes; what another scheme of classic costs is in the rate above. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/verbs/plan.h"
#include "tamis_math.h"

/* The shape in the letters of the papers; `width` is 0 without counters. */
struct bloom {
    double n, m, k;
    unsigned width;
};

static bool bloom_of(const struct tamis_plan *plan, struct bloom *bloom) {
    const uint64_t bits = shape_word(plan->word_name, plan->word, "bits");
    *bloom = (struct bloom){.n = (double)plan->capacity,
                            .m = (double)bits,
                            .k = (double)shape_word(plan->word_name, plan->word, "hashes")};
    if (strcmp(plan->kind, "counting") == 0) {
        /* A counter, unless bare its bit of the summary, and with the log one of what was sent. */
        const uint64_t log = shape_word(plan->word_name, plan->word, "log");
        const uint64_t is_bare = shape_word(plan->word_name, plan->word, "bare");
        bloom->width = (unsigned)shape_word(plan->word_name, plan->word, "width");
        bloom->m = (double)(bits / (bloom->width + (is_bare ? 0 : 1 + log)));
    }
    return plan->capacity > 0 && (bloom->width > 0 || strcmp(plan->kind, "classic") == 0);
}

/* Counters stay where their width ends. */
static unsigned top_of(const struct bloom *b) {
    return (1u << b->width) - 1;
}

static double exact_rate(const struct bloom *b) {
    return tamis_rate_exact((uint64_t)b->n, (uint64_t)b->m, (unsigned)b->k);
}

static const double often = 0.01; /* the probability that a bound on the fill may fail */

/* ---- For people ---- */

static void print_rate(const char *name, double rate, const char *words) {
    printf("  %-14s %.6g %%  %s\n", name, 100 * rate, words);
}

static void print_rates(const struct bloom *b) {
    const double exact = exact_rate(b);
    print_rate("usual", tamis_rate_approx(b->n, b->m, b->k), "(1-e^(-k*n/m))^k, a lower bound");
    if (isnan(exact))
        print_rate("second order", tamis_rate_second_order(b->n, b->m, b->k),
                   "as good as exact, which is for small filters");
    else
        print_rate("exact", exact, "by counting balls in bins (Bose et al.)");
    print_rate("upper bound", tamis_rate_upper(b->n, b->m, b->k),
               "(1-e^(-k*(n+1/2)/(m-1)))^k (Goel and Gupta)");
}

static void print_fill(const struct bloom *b) {
    printf("fill: %s at capacity; +/- %s in 99 %% of filters (Azuma, Hoeffding)\n",
           human_share(tamis_fill_expected(b->n, b->m, b->k)).text,
           human_share(tamis_fill_deviation(b->n, b->m, b->k, often)).text);
}

static void print_counters(const struct bloom *b) {
    enum { SHOWN = 4 };
    printf("counters: %s of %u bits\n  shares        ", human_count((uint64_t)b->m).text, b->width);
    for (unsigned value = 0; value < SHOWN; value++)
        printf(" %u: %s,", value, human_share(tamis_counter_share(b->n, b->m, b->k, value)).text);
    printf(" more: %s\n", human_share(tamis_counter_tail(b->n, b->m, b->k, SHOWN)).text);
    const double largest = tamis_counter_largest(b->n, b->m, b->k);
    if (!isnan(largest)) printf("  largest        %s on average\n", human_decimal(largest).text);
    const double stuck = tamis_counter_tail(b->n, b->m, b->k, top_of(b));
    printf("  stuck at %-5u %s of them; any at all with a probability of at most %s\n", top_of(b),
           human_share(stuck).text, human_share(fmin(1, b->m * stuck)).text);
}

void print_formulas(const struct tamis_plan *plan) {
    struct bloom bloom;
    if (!bloom_of(plan, &bloom)) return;
    print_rates(&bloom);
    print_fill(&bloom);
    if (bloom.width > 0) print_counters(&bloom);
}

/* ---- For programs ---- */

void write_formulas(struct json *json, const struct tamis_plan *plan) {
    struct bloom b;
    const bool is_known = bloom_of(plan, &b), has_counters = is_known && b.width > 0;
    json_real(json, "fpr_approx", is_known ? tamis_rate_approx(b.n, b.m, b.k) : NAN);
    json_real(json, "fpr_second_order", is_known ? tamis_rate_second_order(b.n, b.m, b.k) : NAN);
    json_real(json, "fpr_exact", is_known ? exact_rate(&b) : NAN);
    json_real(json, "fpr_upper", is_known ? tamis_rate_upper(b.n, b.m, b.k) : NAN);
    json_real(json, "fill_expected", is_known ? tamis_fill_expected(b.n, b.m, b.k) : NAN);
    json_real(json, "fill_deviation", is_known ? tamis_fill_deviation(b.n, b.m, b.k, often) : NAN);
    json_real(json, "counter_largest", has_counters ? tamis_counter_largest(b.n, b.m, b.k) : NAN);
    json_real(json, "counter_stuck",
              has_counters ? tamis_counter_tail(b.n, b.m, b.k, top_of(&b)) : NAN);
}
