/* SPDX-License-Identifier: MIT */
/* plot_rates.c: what rates cost, and what becomes of them while a filter fills up. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/curves.h"

/* Calls `draw` for each name in a list with commas between them. */
typedef int draw_kind(const struct args *args, const char *kind, struct chart *chart);

static int each_kind(const struct args *args, const char *kinds, struct chart *chart,
                     draw_kind *draw) {
    int code = 0;
    while (*kinds && !code) {
        char name[40];
        const size_t len = strcspn(kinds, ",");
        struct tamis_kind_info kind;
        if (chart->count + 2 > MAX_SERIES)
            return fail(args, NULL, "--kinds: at most %d kinds fit in one picture", MAX_SERIES - 2);
        snprintf(name, sizeof name, "%.*s", (int)(len < 39 ? len : 39), kinds);
        code = kind_exists(args, name, &kind);
        if (!code) code = draw(args, name, chart);
        kinds += len + (kinds[len] == ',');
    }
    return code;
}

/* Series in the order in which they are drawn; the room was looked at before. */
static struct series *new_series(struct chart *chart, const char *name) {
    struct series *series = &chart->series[chart->count++];
    snprintf(series->name, sizeof series->name, "%.39s", name);
    return series;
}

/* ---- Bits against rates ---- */

static const double lowest_rate = 1e-6;

static int draw_rate(const struct args *args, const char *kind, struct chart *chart) {
    struct series *series = new_series(chart, kind);
    const uint64_t keys = number_or(args, OPT_CAPACITY, 1000000);
    for (double rate = 0.3; rate >= lowest_rate * 0.99; rate *= pow(10, -0.125)) {
        char spec[120];
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        snprintf(spec, sizeof spec, "%s:capacity=%" PRIu64 ",fpr=%.9g", kind, keys, rate);
        if (tamis_plan_spec(spec, &plan)) continue; /* It ends where the kind does. */
        if (!series_add(series, plan.fpr_expected, plan.bits_per_key)) return fail_memory(args);
    }
    return 0;
}

int draw_rates(const struct args *args, const char *kinds, struct chart *chart) {
    const uint64_t keys = number_or(args, OPT_CAPACITY, 1000000);
    *chart = (struct chart){
        .title = "What a rate costs",
        .subtitle = human_words("%s keys, as planned; the bound is the minimum for any filter",
                                human_count(keys).text),
        .x = {.name = "rate", .low = 1, .high = lowest_rate, .is_log = true, .has_rates = true},
        .y = {.name = "bits per key", .low = 0, .high = 40}};
    int code = each_kind(args, kinds, chart, draw_rate);
    struct series *bound = new_series(chart, "the bound");
    bound->is_guide = true;
    for (double rate = 1; !code && rate >= lowest_rate * 0.99; rate /= 2)
        if (!series_add(bound, rate, -log2(rate))) code = fail_memory(args);
    return code;
}

/* ---- Rates against keys ---- */

enum { STEPS = 60 };
static const double farthest = 2; /* times the capacity */

/* Adds keys step by step and looks at the rate. */
static int fill_up(const struct args *args, tamis *filter, uint64_t capacity,
                   struct series *series) {
    uint64_t done = 0;
    for (int step = 1; step <= STEPS; step++) {
        const uint64_t wanted = (uint64_t)(farthest * (double)capacity * step / STEPS);
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

static int draw_fill(const struct args *args, const char *kind, struct chart *chart) {
    const uint64_t keys = number_or(args, OPT_CAPACITY, 100000);
    struct tamis_kind_info info = TAMIS_KIND_INFO_INIT;
    char spec[120];
    tamis *filter;
    tamis_kind_named(kind, &info);
    if (!(info.abilities & TAMIS_CAN_ADD))
        return fail(args, NULL, "--kinds: %s is built once and does not fill up", kind);
    snprintf(spec, sizeof spec, "%s:capacity=%" PRIu64 ",fpr=%.9g", kind, keys,
             rate_or(args, OPT_FPR, 0.01));
    if (check_status(args, NULL, tamis_create(&filter, spec))) return EXIT_TROUBLE;
    const int code = fill_up(args, filter, keys, new_series(chart, kind));
    tamis_free(filter);
    return code;
}

/* A horizontal line at the rate that was asked. */
static int draw_asked(const struct args *args, struct chart *chart, double rate) {
    struct series *asked = new_series(chart, "asked");
    asked->is_guide = true;
    const bool is_drawn = series_add(asked, 0, rate) && series_add(asked, farthest, rate);
    return is_drawn ? 0 : fail_memory(args);
}

static void start_filling(struct chart *chart, double rate) {
    *chart = (struct chart){
        .x = {.name = "keys, in multiples of the capacity", .low = 0, .high = farthest},
        .y = {.name = "rate", .low = rate / 1000, .high = 1, .is_log = true, .has_rates = true}};
}

static const uint64_t max_filled = 20 * 1000 * 1000;

int draw_filling(const struct args *args, const char *kinds, struct chart *chart) {
    const double rate = rate_or(args, OPT_FPR, 0.01);
    const uint64_t keys = number_or(args, OPT_CAPACITY, 100000);
    start_filling(chart, rate);
    if (keys == 0 || keys > max_filled)
        return fail(args, NULL,
                    "--capacity: out of range (allowed: 1 to %s keys, which are added "
                    "for the picture)",
                    human_count(max_filled).text);
    chart->title = "False-positive rate as keys are added";
    chart->subtitle = human_words("planned for %s keys at %s; filled and measured",
                                  human_count(keys).text, human_share(rate).text);
    const int code = each_kind(args, kinds, chart, draw_fill);
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
    now->is_dots = true;
    const double keys = isfinite(info.items_now.value) ? info.items_now.value : (double)info.items;
    if (!code && !series_add(now, fmin(farthest, keys / (double)info.capacity), info.fpr_now))
        code = fail_memory(args);
    return code ? code : draw_asked(args, chart, rate);
}
