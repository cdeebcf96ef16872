/* SPDX-License-Identifier: MIT */
/* plot_rates.c: what rates cost, and what becomes of them while a filter fills up. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/curves.h"

const char axis_rate[] = "false-positive rate";
const char axis_bits[] = "bits per key";
const char axis_keys[] = "keys, in multiples of the capacity";
const char axis_hashes[] = "hashes per key (k)";

/* ---- Bits against rates ---- */

static const double lowest_rate = 1e-6;

static int draw_rate(const struct args *args, const char *asked, const char *base, uint64_t keys,
                     struct series *series) {
    tamis_status status = TAMIS_OK;
    for (double rate = 0.3; rate >= lowest_rate * 0.99; rate *= pow(10, -0.125)) {
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        char *spec = spec_copy(args, base);
        spec_set(args, &spec, "fpr", human_words("%.9g", rate).text);
        spec_set_capacity(args, &spec, keys);
        if (!spec) return EXIT_TROUBLE;
        status = tamis_plan_spec(spec, &plan); /* The curve ends where the kind does. */
        free(spec);
        if (!status && !series_add(series, plan.fpr_expected, plan.bits_per_key))
            return fail_memory(args);
    }
    return series->n > 0 || !status ? 0 : fail_why(args, asked, status);
}

int draw_rates(const struct args *args, const struct specs *specs, struct chart *chart) {
    const uint64_t keys = specs->plan[0].capacity;
    int code = 0;
    bool is_same = true;
    for (size_t i = 1; i < specs->n; i++) is_same = is_same && specs->plan[i].capacity == keys;
    *chart = (struct chart){
        .title = "What a rate costs",
        .subtitle = human_words("%s, as planned; the bound is the minimum for any filter",
                                is_same ? human_number(keys, "key").text : "each spec's keys"),
        .x = {.name = axis_rate, .low = 1, .high = lowest_rate, .is_log = true, .has_rates = true},
        .y = {.name = axis_bits, .low = 0, .high = 40}};
    for (size_t i = 0; i < specs->n && !code; i++) {
        char *base = spec_without(args, specs->spec[i], "fpr size bits");
        code = base ? draw_rate(args, specs->spec[i], base, specs->plan[i].capacity,
                                new_series(chart, specs->name[i]))
                    : EXIT_TROUBLE;
        free(base);
    }
    struct series *bound = new_series(chart, "the bound");
    bound->is_guide = true;
    for (double rate = 1; !code && rate >= lowest_rate * 0.99; rate /= 2)
        if (!series_add(bound, rate, log2(1 / rate))) code = fail_memory(args);
    return code;
}

/* ---- Rates against keys ---- */

enum { STEPS = 60 };

/* Adds keys step by step and looks at the rate. */
static int fill_up(const struct args *args, tamis *filter, uint64_t capacity,
                   struct series *series) {
    uint64_t done = 0;
    for (int step = 1; step <= STEPS; step++) {
        const uint64_t wanted = (uint64_t)(MAX_TIMES * (double)capacity * step / STEPS);
        tamis_status status = TAMIS_OK;
        for (; done < wanted && !status; done++) status = tamis_add_u64(filter, done);
        if (status == TAMIS_FULL) return 0; /* The curve ends here. */
        if (status) return fail_why(args, NULL, status);
        const double rate = tamis_fpr_now(filter);
        if (rate > 0 && !series_add(series, (double)wanted / (double)capacity, rate))
            return fail_memory(args);
    }
    return 0;
}

static int draw_fill(const struct args *args, const struct specs *specs, size_t i,
                     struct chart *chart) {
    const struct tamis_plan *plan = &specs->plan[i];
    tamis *filter;
    if (!(plan->abilities & TAMIS_CAN_ADD))
        return fail(args, NULL, "--kinds: %s is built once and does not fill up", plan->kind);
    if (check_status(args, NULL, tamis_create(&filter, specs->spec[i]))) return EXIT_TROUBLE;
    const int code = fill_up(args, filter, plan->capacity, new_series(chart, specs->name[i]));
    tamis_free(filter);
    return code;
}

int draw_asked(const struct args *args, struct chart *chart, double rate) {
    struct series *asked = new_series(chart, "asked");
    asked->is_guide = true;
    const bool is_drawn = series_add(asked, 0, rate) && series_add(asked, MAX_TIMES, rate);
    return is_drawn ? 0 : fail_memory(args);
}

static void start_filling(struct chart *chart, double rate) {
    *chart = (struct chart){
        .x = {.name = axis_keys, .low = 0, .high = MAX_TIMES},
        .y = {.name = axis_rate, .low = rate / 1000, .high = 1, .is_log = true, .has_rates = true}};
}

static const uint64_t max_filled = 20 * 1000 * 1000;

int draw_filling(const struct args *args, const struct specs *specs, struct chart *chart) {
    const double rate = specs->plan[0].fpr_asked;
    const uint64_t keys = specs->plan[0].capacity;
    int code = 0;
    start_filling(chart, rate);
    if (keys > max_filled)
        return fail(args, NULL,
                    "--capacity: out of range (allowed: 1 to %s keys, which are added "
                    "for the picture)",
                    human_count(max_filled).text);
    chart->title = "False-positive rate as keys are added";
    chart->subtitle = human_words("planned for %s keys at %s; filled and measured",
                                  human_count(keys).text, human_share(rate).text);
    for (size_t i = 0; i < specs->n && !code; i++) code = draw_fill(args, specs, i, chart);
    return code ? code : draw_asked(args, chart, rate);
}

int draw_filling_image(const struct args *args, const struct image *image, struct chart *chart) {
    tamis *empty;
    const struct tamis_info info = info_measured(image->filter);
    int code = image_needs(args, image, TAMIS_CAN_ADD, "fill up");
    if (code) return code;
    const double rate = info.fpr_asked > 0 ? info.fpr_asked : info.fpr_expected;
    start_filling(chart, rate);
    if (info.capacity == 0 || info.capacity > max_filled)
        return fail(args, input_name(image->path),
                    "planned for %s keys (allowed: 1 to %s, which are added for the picture)",
                    human_count(info.capacity).text, human_count(max_filled).text);
    chart->title = "How full it is, and its rate";
    chart->subtitle =
        human_words("%.60s: %s, planned for %s keys; the dot is now", input_name(image->path),
                    info.kind, human_count(info.capacity).text);
    char *spec = spec_of(image->filter);
    const tamis_status status = spec ? tamis_create(&empty, spec) : TAMIS_NOMEM;
    free(spec);
    if (status) return fail_why(args, input_name(image->path), status);
    code = fill_up(args, empty, info.capacity, new_series(chart, info.kind));
    tamis_free(empty);
    struct series *now = new_series(chart, "now");
    now->color = 3;
    now->is_dots = true;
    const double keys = isfinite(info.items_now.value) ? info.items_now.value : (double)info.items;
    if (!code && !series_add(now, fmin(MAX_TIMES, keys / (double)info.capacity), info.fpr_now))
        code = fail_memory(args);
    return code ? code : draw_asked(args, chart, rate);
}
