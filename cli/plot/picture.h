/* SPDX-License-Identifier: MIT */
/* picture.h: only the files of `tamis plot` include this. Pictures as data, and two ways to draw
 * them.
 *
 *     verbs/plot.c --> plot_rates.c, plot_specs.c, plot_bits.c --> struct chart, heat, overlap
 *         --> svg.c, plot_text.c */
#ifndef TAMIS_CLI_PLOT_PICTURE_H
#define TAMIS_CLI_PLOT_PICTURE_H

#include "cli/output/words.h"

struct axis {
    const char *name;
    double low, high;
    bool is_log, has_rates;
};

struct point {
    double x, y;
};

/* Where a measured value may lie; NaN where nothing was measured. */
struct range {
    double low, high;
};

enum { MAX_COLORS = 12, MAX_SPECS = 10, MAX_SERIES = 4 * MAX_SPECS + 2 };

/* A curve, or single points. */
struct series {
    char name[64]; /* "": not in the legend */
    struct point *point;
    struct range *range; /* of each point, or NULL; both on the heap */
    size_t n, room, ranges;
    size_t color;  /* below MAX_COLORS */
    bool is_guide; /* dashed, without a colour of its own */
    bool is_dots;
    bool is_below; /* the names of its dots stand below them, not above */
};

struct chart {
    const char *title;
    struct human subtitle;
    struct axis x, y;
    struct series series[MAX_SERIES];
    size_t count, colors;
};

/* Cells in rows, each a number from 0 (least) to 1 (most); 0.5 is what is expected. */
struct heat {
    const char *title;
    struct human subtitle;
    struct human min, max; /* what the ends of the scale mean */
    unsigned columns, rows;
    double *cell; /* on the heap; NaN: nothing is there */
};

/* Two sets, and what they share. */
struct overlap {
    const char *title;
    struct human subtitle, name[2];
    double items[2], common, error, similarity;
};

/* How a picture is drawn in a terminal. */
struct terminal {
    unsigned width, height;
    bool has_unicode, has_color;
};

/* The next series of a chart, with the next colour; there is room for four of each spec. */
struct series *new_series(struct chart *chart, const char *name);

bool series_add(struct series *series, double x, double y); /* false: memory is out */
bool series_add_range(struct series *series, double x, double y, struct range range);
void chart_free(struct chart *chart);

/* Marks of an axis: at most `max` round numbers from low to high. Returns how many. */
size_t axis_marks(const struct axis *axis, size_t max, double *mark);

/* The nearest 1, 2 or 5 times a power of ten that is not above, or not below, a positive number. */
double axis_round(double value, bool is_up);

/* Where a number lies on an axis, 0 to 1. */
double axis_place(const struct axis *axis, double value);

/* A number as it is written beside an axis: all rates of an axis in percent, or all as powers. */
struct human axis_label(const struct axis *axis, double value);

void chart_svg(FILE *out, const struct chart *chart);
void heat_svg(FILE *out, const struct heat *heat);
void overlap_svg(FILE *out, const struct overlap *overlap);

void chart_text(FILE *out, const struct chart *chart, const struct terminal *terminal);
void heat_text(FILE *out, const struct heat *heat, const struct terminal *terminal);
void overlap_text(FILE *out, const struct overlap *overlap, const struct terminal *terminal);

#endif
