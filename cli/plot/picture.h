/* SPDX-License-Identifier: MIT */
/* picture.h: only the files of `tamis plot` include this. Pictures as data, and two ways to draw
 * them.
 *
 *     verbs/plot.c --> plot_rates.c, plot_bits.c --> struct chart, heat, overlap --> svg.c,
 *     plot_text.c */
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

/* A curve, or single points. */
struct series {
    char name[40];
    struct point *point; /* on the heap */
    size_t n, room;
    bool is_guide; /* dashed, without a colour of its own */
    bool is_dots;
};

enum { MAX_SERIES = 12 };

struct chart {
    const char *title;
    struct human subtitle;
    struct axis x, y;
    struct series series[MAX_SERIES];
    size_t count;
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

bool series_add(struct series *series, double x, double y); /* false: memory is out */
void chart_free(struct chart *chart);

/* Marks of an axis: at most `max` round numbers from low to high. Returns how many. */
size_t axis_marks(const struct axis *axis, size_t max, double *mark);

/* Where a number lies on an axis, 0 to 1. */
double axis_place(const struct axis *axis, double value);

/* A number as it is written beside an axis. */
struct human axis_label(const struct axis *axis, double value);

void chart_svg(FILE *out, const struct chart *chart);
void heat_svg(FILE *out, const struct heat *heat);
void overlap_svg(FILE *out, const struct overlap *overlap);

void chart_text(FILE *out, const struct chart *chart, const struct terminal *terminal);
void heat_text(FILE *out, const struct heat *heat, const struct terminal *terminal);
void overlap_text(FILE *out, const struct overlap *overlap, const struct terminal *terminal);

#endif
