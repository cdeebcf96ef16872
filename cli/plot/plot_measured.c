/* SPDX-License-Identifier: MIT */
/* plot_measured.c: points that were measured, with the intervals in which the truth lies. */
#include <math.h>

#include "cli/measure/numbers.h"
#include "cli/measure/statistics.h"
#include "cli/plot/curves.h"

/* Every point is a filter, or several: beyond this, pictures would take minutes or the memory. */
enum { MAX_KEYS = 5 * 1000 * 1000, MAX_PROBES = 100 * 1000 * 1000, USUAL_PROBES = 200 * 1000 };
static const uint64_t max_bytes = UINT64_C(1) << 30;
static const double missed = 0.05; /* of intervals, at most */

int trials_start(const struct args *args, const struct specs *specs, struct trials *trials) {
    *trials = (struct trials){.args = args,
                              .options = image_options(args),
                              .probes = number_or(args, OPT_PROBES, USUAL_PROBES)};
    if (!given(args, OPT_MEASURE) && given(args, OPT_PROBES))
        return fail(args, NULL, "--probes: only with --measure");
    if (trials->probes < 1 || trials->probes > MAX_PROBES)
        return fail(args, "--probes", "%s is out of range (allowed: 1 to %s)",
                    args->setting[OPT_PROBES].text, human_count(MAX_PROBES).text);
    for (size_t i = 0; i < specs->n && given(args, OPT_MEASURE); i++) {
        if (specs->plan[i].capacity > MAX_KEYS)
            return fail(args, specs->spec[i],
                        "--measure builds every point: at most %s keys, not %s; the same bits per "
                        "key have the same rate with fewer",
                        human_count(MAX_KEYS).text, human_count(specs->plan[i].capacity).text);
    }
    return 0;
}

/* Small filters of the same keys differ in how full they are, which no number of probes shows:
 * several, of different keys, are asked together. */
static uint64_t filters_for(const struct trials *trials, uint64_t keys) {
    enum { ENOUGH = 200 * 1000, MAX_FILTERS = 100 };
    const uint64_t wanted = keys < ENOUGH ? ENOUGH / (keys + 1) : 1;
    const uint64_t n = wanted < MAX_FILTERS ? wanted : MAX_FILTERS;
    return n < 1 ? 1 : n < trials->probes ? n : trials->probes;
}

int trials_add(struct trials *trials, const char *spec, uint64_t keys, double x,
               struct series *series, bool *is_full) {
    enum { APART = 32 }; /* bits: the errors of points are independent */
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    tamis_status status = tamis_plan_spec(spec, &plan);
    const uint64_t filters = filters_for(trials, keys), each = trials->probes / filters;
    uint64_t hits = 0;
    if (!status && plan.payload_bytes > max_bytes)
        return fail(trials->args, spec, "--measure builds filters of at most %s, not %s",
                    human_bytes(max_bytes).text, human_bytes(plan.payload_bytes).text);
    for (uint64_t i = 0; i < filters && !status; i++) {
        tamis *filter = NULL;
        const uint64_t first = trials->made++ << APART;
        status = numbers_build(spec, first, keys, &trials->options, &filter);
        if (!status) hits += numbers_hits(filter, first, each);
        tamis_free(filter);
    }
    *is_full = status == TAMIS_FULL;
    if (status) return *is_full ? 0 : fail_why(trials->args, spec, status);
    const struct interval interval = rate_interval(hits, each * filters, missed);
    const double rate = (double)hits / (double)(each * filters);
    return series_add_range(series, x, rate, (struct range){interval.low, interval.high})
               ? 0
               : fail_memory(trials->args);
}

struct human trials_words(const struct trials *trials) {
    if (!given(trials->args, OPT_MEASURE)) return (struct human){""};
    return human_words("; bars: 95 %% of %s queries", human_count(trials->probes).text);
}
