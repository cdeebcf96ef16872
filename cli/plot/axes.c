/* SPDX-License-Identifier: MIT */
/* axes.c: numbers to places, and round numbers to write beside them. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/plot/picture.h"

bool series_add(struct series *series, double x, double y) {
    if (!list_grow(&series->point, &series->room, series->n + 1, sizeof *series->point))
        return false;
    series->point[series->n++] = (struct point){x, y};
    return true;
}

void chart_free(struct chart *chart) {
    for (size_t i = 0; i < chart->count; i++) free(chart->series[i].point);
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

static size_t log_marks(const struct axis *axis, size_t max, double *mark) {
    /* An axis may run from large to small. */
    const double first = ceil(log10(fmin(axis->low, axis->high)) - 1e-9);
    const double last = floor(log10(fmax(axis->low, axis->high)) + 1e-9);
    const double step = fmax(1, ceil((last - first + 1) / (double)max));
    size_t n = 0;
    for (double i = first; i <= last && n < max; i += step) mark[n++] = pow(10, i);
    return n;
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
    return axis->has_rates ? human_share(value) : human_words("%.4g", value);
}
