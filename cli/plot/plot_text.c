/* SPDX-License-Identifier: MIT */
/* plot_text.c: pictures in a terminal, with the characters and colours that it has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/picture.h"

/* ---- Colours ---- */

/* Of series and of temperatures, among the 256 of terminals. */
static const unsigned char series_color[MAX_COLORS] = {33,  36, 178, 167, 175, 208,
                                                       105, 70, 245, 137, 37,  134};

static void put_color(FILE *out, const struct terminal *terminal, unsigned color) {
    if (terminal->has_color) fprintf(out, "\033[38;5;%um", color);
}

static void end_color(FILE *out, const struct terminal *terminal) {
    if (terminal->has_color) fputs("\033[0m", out);
}

/* Curves have small marks or letters; what was measured has its own, which stands out. */
static const char *mark_of(const struct series *series, const struct terminal *terminal) {
    static const char *const round[MAX_COLORS] = {"●", "▲", "■", "◆", "○", "△",
                                                  "□", "◇", "✚", "✖", "★", "☆"};
    static const char *const plain[MAX_COLORS] = {"a", "b", "c", "d", "e", "f",
                                                  "g", "h", "i", "j", "k", "l"};
    static const char *const capital[MAX_COLORS] = {"A", "B", "C", "D", "E", "F",
                                                    "G", "H", "I", "J", "K", "L"};
    if (series->is_guide) return terminal->has_unicode ? "·" : ".";
    if (series->range) return terminal->has_unicode ? "╋" : capital[series->color];
    if (series->is_dots) return terminal->has_unicode ? "◉" : "@";
    return terminal->has_unicode ? round[series->color] : plain[series->color];
}

static unsigned color_of(const struct series *series) {
    return series->is_guide ? 244 : series_color[series->color];
}

/* ---- A chart ---- */

/* A grid of characters: 0 for nothing, otherwise one more than the number of a series; for the bar
 * of an interval, that and BAR. */
enum { BAR = 128 };

struct canvas {
    unsigned char *cell;
    unsigned width, height;
};

static void draw_point(struct canvas *canvas, double x, double y, unsigned char what) {
    const double column = floor(x * (canvas->width - 1) + 0.5);
    const double row = floor((1 - y) * (canvas->height - 1) + 0.5);
    if (!(column >= 0 && column < canvas->width && row >= 0 && row < canvas->height)) return;
    unsigned char *cell = &canvas->cell[(size_t)row * canvas->width + (size_t)column];
    if (*cell == 0) *cell = what; /* The first keeps its place. */
}

/* Between two points a line has a mark in each column. */
static void draw_series(struct canvas *canvas, const struct chart *chart, size_t number) {
    const struct series *series = &chart->series[number];
    for (size_t i = 0; i < series->n; i++) {
        const double x = axis_place(&chart->x, series->point[i].x);
        const double y = axis_place(&chart->y, series->point[i].y);
        draw_point(canvas, x, y, (unsigned char)(number + 1));
        if (series->is_dots) continue;
        if (i + 1 == series->n) break;
        const double x1 = axis_place(&chart->x, series->point[i + 1].x);
        const double y1 = axis_place(&chart->y, series->point[i + 1].y);
        const double steps = fmin(1000, fabs(x1 - x) * canvas->width);
        for (double step = 1; step < steps; step++)
            draw_point(canvas, x + (x1 - x) * step / steps, y + (y1 - y) * step / steps,
                       (unsigned char)(number + 1));
    }
}

/* After all points: a bar covers nothing but what is empty. */
static void draw_ranges(struct canvas *canvas, const struct chart *chart, size_t number) {
    const struct series *series = &chart->series[number];
    const double row = 1.0 / (canvas->height - 1);
    for (size_t i = 0; series->range && i < series->n; i++) {
        const double x = axis_place(&chart->x, series->point[i].x);
        const double low = fmax(0, axis_place(&chart->y, series->range[i].low));
        const double high = fmin(1, axis_place(&chart->y, series->range[i].high));
        for (double y = low; y <= high + row / 2; y += row)
            draw_point(canvas, x, fmin(y, high), (unsigned char)(BAR | (number + 1)));
    }
}

enum { LABEL = 10 };

static void print_row(FILE *out, const struct chart *chart, const struct canvas *canvas,
                      const struct terminal *terminal, unsigned row, const char *label) {
    const unsigned char *cell = canvas->cell + (size_t)row * canvas->width;
    unsigned end = canvas->width;
    while (end > 0 && cell[end - 1] == 0) end--;
    fprintf(out, "%*s %s", LABEL, label, terminal->has_unicode ? "│" : "|");
    for (unsigned column = 0; column < end; column++) {
        const unsigned what = cell[column];
        if (what == 0) {
            fputc(' ', out);
            continue;
        }
        const struct series *series = &chart->series[(what & ~(unsigned)BAR) - 1];
        put_color(out, terminal, color_of(series));
        if (what & BAR)
            fputs(terminal->has_unicode ? "┃" : "|", out);
        else
            fputs(mark_of(series, terminal), out);
        end_color(out, terminal);
    }
    fputc('\n', out);
}

/* The label of a row: that of the mark which lies in it. */
static struct human label_of_row(const struct chart *chart, const struct canvas *canvas,
                                 unsigned row) {
    enum { MAX = 7 };
    double mark[MAX];
    const size_t n = axis_marks(&chart->y, MAX, mark);
    for (size_t i = 0; i < n; i++) {
        const double at = (1 - axis_place(&chart->y, mark[i])) * (canvas->height - 1);
        if (floor(at + 0.5) == row) return axis_label(&chart->y, mark[i]);
    }
    return (struct human){""};
}

static void print_x_axis(FILE *out, const struct chart *chart, const struct canvas *canvas,
                         const struct terminal *terminal) {
    enum { MAX = 8, WIDEST = 512 };
    double mark[MAX];
    char labels[WIDEST + 1];
    const unsigned width = canvas->width < WIDEST ? canvas->width + 1 : WIDEST;
    memset(labels, ' ', width);
    fprintf(out, "%*s %s", LABEL, "", terminal->has_unicode ? "└" : "+");
    for (unsigned i = 0; i < canvas->width; i++) fputs(terminal->has_unicode ? "─" : "-", out);
    const size_t n = axis_marks(&chart->x, MAX, mark);
    unsigned next = 0;
    for (size_t j = 0; j < n; j++) {
        const size_t i = chart->x.low <= chart->x.high ? j : n - 1 - j; /* from left to right */
        const struct human label = axis_label(&chart->x, mark[i]);
        const unsigned len = (unsigned)strlen(label.text);
        const double tick = axis_place(&chart->x, mark[i]) * (canvas->width - 1);
        unsigned at = (unsigned)fmax(0, floor(tick + 0.5) - floor(len / 2.0)); /* centred */
        if (len > width) continue;
        if (at + len > width) at = width - len; /* The last one ends where the axis does. */
        if (at < next) continue;
        memcpy(labels + at, label.text, len);
        next = at + len + 1;
    }
    labels[width] = '\0';
    for (unsigned i = width; i > 0 && labels[i - 1] == ' '; i--) labels[i - 1] = '\0';
    fprintf(out, "\n%*s  %s\n%*s  %s\n", LABEL, "", labels, LABEL, "", chart->x.name);
}

/* Returns how many lines it has; prints them unless `out` is NULL. */
static unsigned print_legend(FILE *out, const struct chart *chart,
                             const struct terminal *terminal) {
    unsigned used = LABEL + 2, lines = 1;
    if (out) fprintf(out, "%*s ", LABEL, "");
    for (size_t i = 0; i < chart->count; i++) {
        const struct series *series = &chart->series[i];
        const unsigned len = (unsigned)strlen(series->name) + 4;
        if (!series->name[0]) continue;
        if (used + len > terminal->width) {
            if (out) fprintf(out, "\n%*s ", LABEL, "");
            used = LABEL + 2;
            lines++;
        }
        used += len;
        if (!out) continue;
        fputc(' ', out);
        put_color(out, terminal, color_of(series));
        fputs(mark_of(series, terminal), out);
        end_color(out, terminal);
        fprintf(out, " %s", series->name);
    }
    if (out) fputc('\n', out);
    return lines;
}

/* What is left for the canvas: the words around it take a line each, or more. */
static unsigned canvas_height(const struct chart *chart, const struct terminal *terminal) {
    enum { AROUND = 5, MIN = 8, LINE = 78 };
    const unsigned subtitle = (unsigned)strlen(chart->subtitle.text) / LINE + 1;
    const unsigned words = AROUND + subtitle + print_legend(NULL, chart, terminal);
    return terminal->height > words + MIN ? terminal->height - words : MIN;
}

void chart_text(FILE *out, const struct chart *chart, const struct terminal *terminal) {
    struct canvas canvas = {.width = terminal->width > 40 ? terminal->width - LABEL - 3 : 30,
                            .height = canvas_height(chart, terminal)};
    canvas.cell = calloc(canvas.width, canvas.height);
    if (!canvas.cell) return;
    /* What is drawn first stays: dots, then lines, then what only guides the eye. */
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < chart->count; i++) {
            const struct series *series = &chart->series[i];
            if ((series->is_dots ? 0 : series->is_guide ? 2 : 1) == turn)
                draw_series(&canvas, chart, i);
        }
    for (size_t i = 0; i < chart->count; i++) draw_ranges(&canvas, chart, i);
    fprintf(out, "%s\n", chart->title);
    print_paragraph(out, chart->subtitle.text, 0, 0);
    fprintf(out, "%s\n", chart->y.name);
    for (unsigned row = 0; row < canvas.height; row++)
        print_row(out, chart, &canvas, terminal, row, label_of_row(chart, &canvas, row).text);
    print_x_axis(out, chart, &canvas, terminal);
    print_legend(out, chart, terminal);
    free(canvas.cell);
}

/* ---- A heat map ---- */

/* Blue, grey, red in eleven steps of the 256 colours; without colours, denser characters. */
static const unsigned char temperature[] = {25, 32, 74, 110, 152, 252, 223, 216, 209, 167, 124};
enum { STEPS = sizeof temperature };

static void print_cell(FILE *out, double value, const struct terminal *terminal) {
    static const char *const dense = " .:-=+*#%@@";
    if (isnan(value)) {
        fputc(' ', out);
        return;
    }
    const size_t step = (size_t)(fmin(fmax(value, 0), 1) * (STEPS - 1) + 0.5);
    if (terminal->has_color)
        fprintf(out, "\033[48;5;%um \033[0m", temperature[step]);
    else
        fputc(dense[step], out);
}

void heat_text(FILE *out, const struct heat *heat, const struct terminal *terminal) {
    fprintf(out, "%s\n%s\n\n", heat->title, heat->subtitle.text);
    for (unsigned row = 0; row < heat->rows; row++) {
        fputs("  ", out);
        for (unsigned column = 0; column < heat->columns; column++)
            print_cell(out, heat->cell[(size_t)row * heat->columns + column], terminal);
        fputc('\n', out);
    }
    fprintf(out, "\n  %s ", heat->min.text);
    for (size_t i = 0; i < STEPS; i++) print_cell(out, (double)i / (STEPS - 1), terminal);
    fprintf(out, " %s\n", heat->max.text);
}

/* ---- Two sets ---- */

static void print_bar(FILE *out, double from, double to, unsigned width, unsigned color,
                      const struct terminal *terminal) {
    const char *const block = terminal->has_unicode ? "█" : "#";
    fputs("  ", out);
    const unsigned first = (unsigned)(from * width + 0.5), last = (unsigned)(to * width + 0.5);
    for (unsigned i = 0; i < first; i++) fputc(' ', out);
    put_color(out, terminal, color);
    for (unsigned i = first; i < last || i == first; i++) fputs(block, out);
    end_color(out, terminal);
    fputc('\n', out);
}

void overlap_text(FILE *out, const struct overlap *overlap, const struct terminal *terminal) {
    const double only = fmax(0, overlap->items[0] - overlap->common);
    const double all = fmax(1, only + fmax(overlap->items[1], overlap->common));
    const unsigned width = terminal->width > 24 ? terminal->width - 4 : 20;
    fprintf(out, "%s\n%s\n\n  %s\n", overlap->title, overlap->subtitle.text, overlap->name[0].text);
    print_bar(out, 0, overlap->items[0] / all, width, series_color[0], terminal);
    print_bar(out, only / all, (only + overlap->items[1]) / all, width, series_color[1], terminal);
    fprintf(out, "  %s\n", overlap->name[1].text);
}
