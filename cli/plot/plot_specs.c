/* SPDX-License-Identifier: MIT */
/* plot_specs.c: the false-positive rate of specs, against the number of hashes, of keys, and the
 * size.
 *
 * Curves are what plans say, so that every kind is drawn by its own formula and with its own
 * options. What a plan refuses is left out; a curve of nothing is an error, with its reason. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/curves.h"

enum { SPEC_TEXT = 1024 };

/* The k that the authors of Summary Cache chose for every size: four probes are cheap. */
enum { COMMON_HASHES = 4 };

/* ---- Helpers ---- */

/* A spec with one option changed, and its plan. */
static tamis_status plan_with(const char *base, const char *name, const char *value, char *spec,
                              struct tamis_plan *plan) {
    const size_t len = tamis_spec_set(base, name, value, spec, SPEC_TEXT);
    *plan = (struct tamis_plan)TAMIS_PLAN_INIT;
    return len == 0 || len >= SPEC_TEXT ? TAMIS_INVALID : tamis_plan_spec(spec, plan);
}

static tamis_status plan_hashes(const char *base, unsigned hashes, char *spec,
                                struct tamis_plan *plan) {
    return plan_with(base, "hashes", human_digits(hashes).text, spec, plan);
}

/* The spec without some of its options, for as many keys as it is planned for. */
static char *base_of(const struct args *args, const struct specs *specs, size_t i,
                     const char *without) {
    char *base = spec_without(args, specs->spec[i], without);
    if (!spec_has(specs->spec[i], "capacity"))
        spec_set_capacity(args, &base, specs->plan[i].capacity);
    return base;
}

/* Single points in the colour of a curve. */
static struct series *new_dots(struct chart *chart, const struct series *curve, const char *name) {
    struct series *dots = new_series(chart, name);
    chart->colors--;
    dots->color = curve->color;
    dots->is_dots = true;
    return dots;
}

static struct series *new_measured(struct chart *chart, const struct series *curve,
                                   const char *name) {
    return new_dots(chart, curve, human_words("%.50s, measured", name).text);
}

/* Round numbers around all rates that were drawn, but none below `lowest`. */
static void fit_rates(struct chart *chart, double lowest) {
    double min = 0.5, max = 0;
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].n; j++) {
            const double rate = chart->series[i].point[j].y;
            if (rate > 0) min = fmin(min, rate);
            max = fmax(max, rate);
        }
    chart->y = (struct axis){.name = axis_rate, .is_log = true, .has_rates = true};
    chart->y.low = axis_round(fmax(min, lowest), false) / (max < 10 * min ? 2 : 1);
    chart->y.high = fmin(1, axis_round(fmax(max, 10 * chart->y.low), true));
}

/* The first words of a subtitle: the only spec, or that there are several. */
static struct human words_about(const struct specs *specs, const char *several) {
    enum { ROOM = 44 }; /* for the widest of them to fit into 80 columns twice, and into an SVG */
    if (specs->n > 1) return human_words("%s", several);
    const char *spec = specs->spec[0];
    return strlen(spec) <= ROOM ? human_words("%s", spec) : human_words("%.*s...", ROOM - 3, spec);
}

/* ---- Against k ---- */

enum { MAX_HASHES = 64, MIN_SHOWN = 8, MAX_MEASURED_HASHES = 16 };

/* The rate with every number of hashes that the kind takes, in the size of the spec. */
static int draw_hashes(const struct args *args, const char *asked, const char *base,
                       struct series *series) {
    char spec[SPEC_TEXT];
    struct tamis_plan plan;
    for (unsigned k = 1; k <= MAX_HASHES; k++) {
        if (plan_hashes(base, k, spec, &plan)) continue;
        if (!series_add(series, k, plan.fpr_expected)) return fail_memory(args);
    }
    /* The reason of the first says more than that of the last, which is about the limit. */
    return series->n > 0 ? 0 : fail_why(args, asked, plan_hashes(base, 1, spec, &plan));
}

static const struct point *lowest_of(const struct series *series) {
    const struct point *best = series->point;
    for (size_t i = 1; i < series->n; i++)
        if (series->point[i].y < best->y) best = &series->point[i];
    return best;
}

/* The best k and the common one. A single curve has their rates beside them; names of several would
 * cover each other, and the best k is told with the name of the curve. */
static int draw_dot(const struct args *args, struct chart *chart, struct series *curve,
                    const struct point *point, bool is_best, bool is_alone) {
    const struct human name =
        human_words("%sk = %.0f: %s", is_best ? "best " : "", point->x, human_share(point->y).text);
    struct series *dots = new_dots(chart, curve, is_alone ? name.text : "");
    dots->is_below = is_best;
    return series_add(dots, point->x, point->y) ? 0 : fail_memory(args);
}

static int draw_choices(const struct args *args, struct chart *chart, struct series *curve,
                        bool is_alone) {
    const struct point *best = lowest_of(curve);
    int code = draw_dot(args, chart, curve, best, true, is_alone);
    for (size_t i = 0; i < curve->n && !code; i++)
        if (curve->point[i].x == COMMON_HASHES && best->x != COMMON_HASHES)
            code = draw_dot(args, chart, curve, &curve->point[i], false, is_alone);
    if (!is_alone)
        snprintf(curve->name, sizeof curve->name, "%.46s, best k = %.0f",
                 human_words("%s", curve->name).text, best->x);
    return code;
}

static int measure_hashes(struct trials *trials, const char *base, uint64_t keys,
                          struct chart *chart, struct series *measured) {
    const unsigned last = (unsigned)chart->x.high, step = (last - 1) / MAX_MEASURED_HASHES + 1;
    char spec[SPEC_TEXT];
    struct tamis_plan plan;
    bool is_full = false;
    int code = 0;
    for (unsigned k = 1; k <= last && !code; k += step) {
        progress_show("measuring", k, last);
        if (plan_hashes(base, k, spec, &plan)) continue;
        code = trials_add(trials, spec, keys, k, measured, &is_full);
    }
    return code;
}

/* Twice the best k shows the other side of the valley. */
static double last_hashes(const struct chart *chart) {
    double last = MIN_SHOWN;
    for (size_t i = 0; i < chart->count; i++)
        last = fmax(last, 2 * lowest_of(&chart->series[i])->x + 2);
    return fmin(last, MAX_HASHES);
}

/* The size is that of the spec, whatever k it was planned with. */
static char *base_of_size(const struct args *args, const struct specs *specs, size_t i) {
    char *base = base_of(args, specs, i, "fpr hashes");
    if (!spec_has_size(specs->spec[i]))
        spec_set(args, &base, "size", human_digits(specs->plan[i].payload_bytes).text);
    return base;
}

int draw_rate_by_hashes(const struct args *args, const struct specs *specs, struct chart *chart) {
    struct trials trials;
    char *base[MAX_SPECS] = {0};
    int code = trials_start(args, specs, &trials);
    *chart =
        (struct chart){.title = "False-positive rate by number of hashes",
                       .subtitle = human_words("%s in its own size; dots: the best k, and k = %d%s",
                                               words_about(specs, "each spec").text, COMMON_HASHES,
                                               trials_words(&trials).text),
                       .x = {.name = axis_hashes, .low = 1}};
    for (size_t i = 0; i < specs->n && !code; i++) {
        base[i] = base_of_size(args, specs, i);
        code = base[i]
                   ? draw_hashes(args, specs->spec[i], base[i], new_series(chart, specs->name[i]))
                   : EXIT_TROUBLE;
    }
    if (!code) chart->x.high = last_hashes(chart);
    for (size_t i = 0; i < specs->n && !code; i++) {
        struct series *curve = &chart->series[i];
        while (curve->n > 1 && curve->point[curve->n - 1].x > chart->x.high) curve->n--;
        code = draw_choices(args, chart, curve, specs->n == 1);
        if (!code && given(args, OPT_MEASURE))
            code = measure_hashes(&trials, base[i], specs->plan[i].capacity, chart,
                                  new_measured(chart, curve, specs->name[i]));
    }
    for (size_t i = 0; i < specs->n; i++) free(base[i]);
    if (!code) fit_rates(chart, 1e-12);
    return code;
}

/* ---- Against n ---- */

enum { KEY_STEPS = 80, MEASURED_STEPS = 8 };

static int draw_keys(const struct args *args, const struct specs *specs, size_t i,
                     struct chart *chart) {
    struct series *series = new_series(chart, specs->name[i]);
    const double capacity = (double)specs->plan[i].capacity;
    for (int step = 1; step <= KEY_STEPS; step++) {
        const double keys = floor(MAX_TIMES * capacity * step / KEY_STEPS + 0.5);
        double rate;
        const tamis_status status = tamis_plan_fpr(specs->spec[i], (uint64_t)keys, &rate);
        if (status == TAMIS_FULL) break; /* The curve ends here. */
        if (status) return fail_why(args, specs->spec[i], status);
        if (rate > 0 && !series_add(series, keys / capacity, rate)) return fail_memory(args);
    }
    return 0;
}

static int measure_keys(struct trials *trials, const struct specs *specs, size_t i,
                        struct chart *chart) {
    struct series *measured = new_measured(chart, &chart->series[i], specs->name[i]);
    const double capacity = (double)specs->plan[i].capacity;
    bool is_full = false;
    int code = 0;
    for (int step = 1; step <= MEASURED_STEPS && !code && !is_full; step++) {
        const double keys = floor(MAX_TIMES * capacity * step / MEASURED_STEPS + 0.5);
        progress_show("measuring", (uint64_t)step, MEASURED_STEPS);
        code =
            trials_add(trials, specs->spec[i], (uint64_t)keys, keys / capacity, measured, &is_full);
    }
    return code;
}

/* The rate that all were asked for; 0 when it differs. */
static double common_target(const struct specs *specs) {
    for (size_t i = 1; i < specs->n; i++)
        if (specs->plan[i].fpr_asked != specs->plan[0].fpr_asked) return 0;
    return specs->plan[0].fpr_asked;
}

/* Rates of nearly empty filters are as low as anything: three powers below the lowest target. */
static double lowest_target(const struct specs *specs) {
    double lowest = 1;
    for (size_t i = 0; i < specs->n; i++) lowest = fmin(lowest, specs->plan[i].fpr_expected);
    return lowest / 1000;
}

int draw_rate_by_keys(const struct args *args, const struct specs *specs, struct chart *chart) {
    struct trials trials;
    int code = trials_start(args, specs, &trials);
    *chart = (struct chart){
        .title = "False-positive rate by number of keys",
        .subtitle = human_words("%s, by formula%s",
                                words_about(specs, "each spec as it fills up and beyond").text,
                                trials_words(&trials).text),
        .x = {.name = axis_keys, .low = 0, .high = MAX_TIMES}};
    for (size_t i = 0; i < specs->n && !code; i++) code = draw_keys(args, specs, i, chart);
    for (size_t i = 0; i < specs->n && !code && given(args, OPT_MEASURE); i++)
        code = measure_keys(&trials, specs, i, chart);
    if (!code) fit_rates(chart, lowest_target(specs));
    if (!code && common_target(specs) > 0) code = draw_asked(args, chart, common_target(specs));
    return code;
}

/* ---- Against the size ---- */

enum { SIZE_STEPS = 96 };

static tamis_status plan_bits(const char *base, uint64_t keys, double bits_per_key, char *spec,
                              struct tamis_plan *plan) {
    const double bytes = fmax(8, ceil(bits_per_key * (double)keys / 8));
    return plan_with(base, "size", human_digits((uint64_t)bytes).text, spec, plan);
}

/* It starts at the smallest size that the kind can have, and ends where it gains nothing. */
static int draw_sizes(const struct args *args, const char *asked, const char *base, uint64_t keys,
                      double most, struct series *series) {
    char spec[SPEC_TEXT];
    struct tamis_plan plan;
    tamis_status status = TAMIS_OK;
    for (int step = 1; step <= SIZE_STEPS; step++) {
        status = plan_bits(base, keys, most * step / SIZE_STEPS, spec, &plan);
        if (status || plan.bits_per_key > most) continue;
        if (!series_add(series, plan.bits_per_key, plan.fpr_expected)) return fail_memory(args);
    }
    return series->n > 0 || !status ? 0 : fail_why(args, asked, status);
}

static int measure_sizes(struct trials *trials, const char *base, uint64_t keys,
                         struct chart *chart, const struct series *curve) {
    struct series *measured = new_measured(chart, curve, curve->name);
    char spec[SPEC_TEXT];
    struct tamis_plan plan;
    bool is_full = false;
    int code = 0;
    for (int step = 1; step <= MEASURED_STEPS && !code; step++) {
        progress_show("measuring", (uint64_t)step, MEASURED_STEPS);
        if (plan_bits(base, keys, chart->x.high * step / MEASURED_STEPS, spec, &plan)) continue;
        if (plan.bits_per_key <= chart->x.high)
            code = trials_add(trials, spec, keys, plan.bits_per_key, measured, &is_full);
    }
    return code;
}

/* The curve of a spec, of the same with k = 4 where the kind and the spec leave the choice, its own
 * place, and what was measured. */
static int draw_size_of(struct trials *trials, const struct specs *specs, size_t i,
                        struct chart *chart) {
    const struct args *args = trials->args;
    const struct tamis_plan *plan = &specs->plan[i];
    char few[SPEC_TEXT];
    struct tamis_plan unused;
    char *base = base_of(args, specs, i, "fpr size bits");
    if (!base) return EXIT_TROUBLE;
    struct series *curve = new_series(chart, specs->name[i]);
    int code = draw_sizes(args, specs->spec[i], base, plan->capacity, chart->x.high, curve);
    const bool has_choice =
        !spec_has(base, "hashes") && !plan_hashes(base, COMMON_HASHES, few, &unused);
    if (!code && has_choice)
        code = draw_sizes(
            args, specs->spec[i], few, plan->capacity, chart->x.high,
            new_series(chart, human_words("%.50s, k = %d", curve->name, COMMON_HASHES).text));
    struct series *own = code ? NULL : new_dots(chart, curve, "");
    if (own && !series_add(own, plan->bits_per_key, plan->fpr_expected)) code = fail_memory(args);
    if (!code && given(args, OPT_MEASURE))
        code = measure_sizes(trials, base, plan->capacity, chart, curve);
    free(base);
    return code;
}

/* The least that any filter needs for a rate. */
static int draw_bound(const struct args *args, struct chart *chart) {
    struct series *bound = new_series(chart, "the bound");
    bound->is_guide = true;
    for (int step = 0; step <= SIZE_STEPS; step++) {
        const double bits = chart->x.high * step / SIZE_STEPS;
        if (!series_add(bound, bits, exp2(-bits))) return fail_memory(args);
    }
    return 0;
}

int draw_rate_by_size(const struct args *args, const struct specs *specs, struct chart *chart) {
    enum { MIN_BITS = 16 };
    struct trials trials;
    double most = MIN_BITS;
    for (size_t i = 0; i < specs->n; i++) most = fmax(most, 1.6 * specs->plan[i].bits_per_key);
    int code = trials_start(args, specs, &trials);
    *chart = (struct chart){.title = "False-positive rate by size",
                            .subtitle = human_words("%s in other sizes; a dot is its own%s",
                                                    words_about(specs, "each spec").text,
                                                    trials_words(&trials).text),
                            .x = {.name = axis_bits, .low = 0, .high = ceil(most)}};
    for (size_t i = 0; i < specs->n && !code; i++) code = draw_size_of(&trials, specs, i, chart);
    if (!code) fit_rates(chart, 1e-12);
    return code ? code : draw_bound(args, chart);
}
