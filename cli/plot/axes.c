/* SPDX-License-Identifier: MIT */
/* axes.c: numbers to places, and round numbers to write beside them. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/plot/picture.h"

struct series *new_series(struct chart *chart, const char *name) {
    struct series *series = &chart->series[chart->count++];
    series->color = chart->colors++ % MAX_COLORS;
    snprintf(series->name, sizeof series->name, "%.63s", name);
    return series;
}

bool series_add(struct series *series, double x, double y) {
    if (!list_grow(&series->point, &series->room, series->n + 1, sizeof *series->point))
        return false;
    series->point[series->n++] = (struct point){x, y};
    return true;
}

bool series_add_range(struct series *series, double x, double y, struct range range) {
    if (!list_grow(&series->range, &series->ranges, series->n + 1, sizeof *series->range))
        return false;
    series->range[series->n] = range;
    return series_add(series, x, y);
}

void chart_free(struct chart *chart) {
    for (size_t i = 0; i < chart->count; i++) {
        free(chart->series[i].point);
        free(chart->series[i].range);
    }
}

double axis_place(const struct axis *axis, double value) {
    if (!axis->is_log) return (value - axis->low) / (axis->high - axis->low);
    return log(value / axis->low) / log(axis->high / axis->low);
}

/* 1, 2 or 5 times a power of ten, so that at most `max` steps cover the range. */
static double round_step(double range, size_t max) {
    const double min = range / (double)max;
    const double power = pow(10, floor(log10(min)));
    const double part = min / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* 1, 2 and 5 of each power of ten, where there are few of these. */
static size_t log_marks(const struct axis *axis, size_t max, double *mark) {
    static const double parts[] = {1, 2, 5};
    /* An axis may run from large to small. */
    const double low = log10(fmin(axis->low, axis->high)) - 1e-9;
    const double high = log10(fmax(axis->low, axis->high)) + 1e-9;
    const size_t each = 3 * (high - low) + 1 <= (double)max ? 3 : 1;
    const double step = fmax(1, ceil((floor(high) - ceil(low) + 1) / (double)max));
    size_t n = 0;
    for (double power = each > 1 ? floor(low) : ceil(low); power <= high; power += step)
        for (size_t i = 0; i < each; i++) {
            const double at = power + log10(parts[i]);
            if (at >= low && at <= high && n < max) mark[n++] = parts[i] * pow(10, power);
        }
    return n;
}

double axis_round(double value, bool is_up) {
    static const double parts[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(value) + 1e-9)), part = value / power;
    double below = 1;
    for (size_t i = 0; i < 4; i++) {
        if (is_up && parts[i] >= part * (1 - 1e-9)) return parts[i] * power;
        if (parts[i] <= part * (1 + 1e-9)) below = parts[i];
    }
    return below * power;
}

size_t axis_marks(const struct axis *axis, size_t max, double *mark) {
    if (axis->is_log) return log_marks(axis, max, mark);
    const double step = round_step(axis->high - axis->low, max > 1 ? max - 1 : 1);
    size_t n = 0;
    for (double i = ceil(axis->low / step - 1e-9); i * step <= axis->high * (1 + 1e-9) && n < max;
         i++)
        mark[n++] = i * step + 0.0; /* never a negative zero */
    return n;
}

struct human axis_label(const struct axis *axis, double value) {
    const double lowest_percent = 0.99e-7; /* 0.00001 %; smaller ones would be rows of noughts */
    if (!axis->has_rates) return human_words("%.4g", value);
    return axis->is_log && fmin(axis->low, axis->high) < lowest_percent
               ? human_words("%.0e", value)
               : human_words("%.7g %%", 100 * value);
}
