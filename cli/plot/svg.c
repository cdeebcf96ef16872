/* SPDX-License-Identifier: MIT */
/* svg.c: pictures for browsers and papers, that follow the reader's light or dark setting. */
#include <math.h>
#include <string.h>

#include "cli/plot/picture.h"

enum { WIDTH = 860, HEIGHT = 540, LEFT = 84, TOP = 84, BOTTOM = 62 };
enum { INNER_HEIGHT = HEIGHT - TOP - BOTTOM };

/* ---- The frame ---- */

/* One colour for each series: on light, on dark. */
static const char *const colors[MAX_COLORS][2] = {
    {"#2a78d6", "#3987e5"}, {"#1baf7a", "#199e70"}, {"#c98500", "#eda100"}, {"#e34948", "#e66767"},
    {"#d55181", "#e87ba4"}, {"#eb6834", "#f0814f"}, {"#4a3aa7", "#9085e9"}, {"#008300", "#3fae3f"},
    {"#5b6770", "#9aa7b1"}, {"#7a5c3e", "#c09a73"}, {"#00838f", "#4fb6c0"}, {"#8e24aa", "#c774dd"}};

/* What is not a series: class, property, on light, on dark. */
static const char *const roles[][4] = {
    {"surface", "fill", "#fcfcfb", "#1a1a19"}, {"ink", "fill", "#1a1a19", "#f4f3ef"},
    {"muted", "fill", "#6b6a65", "#a3a29b"},   {"grid", "stroke", "#e7e6e1", "#33322f"},
    {"axis", "stroke", "#a9a8a2", "#66655f"},  {"guide", "stroke", "#8b8a84", "#8b8a84"}};
enum { ROLES = sizeof roles / sizeof roles[0] };

static void put_colors(FILE *out, int scheme) {
    for (size_t i = 0; i < ROLES; i++)
        fprintf(out, ".%s{%s:%s}", roles[i][0], roles[i][1], roles[i][2 + scheme]);
    for (size_t i = 0; i < MAX_COLORS; i++)
        fprintf(out, ".l%zu{stroke:%s}.d%zu{fill:%s}", i, colors[i][scheme], i, colors[i][scheme]);
}

static void put_text(FILE *out, const char *text) {
    for (; *text; text++) switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
}

static void put_words(FILE *out, double x, double y, const char *style, const char *anchor,
                      const char *words) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, style,
            anchor);
    put_text(out, words);
    fputs("</text>\n", out);
}

static void open_picture(FILE *out, int height, const char *title, const char *subtitle) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
            "<title>",
            WIDTH, height);
    put_text(out, title);
    fputs("</title>\n<style>", out);
    put_colors(out, 0);
    fputs("text{font:13px system-ui,'Segoe UI',Roboto,sans-serif}.title{font-size:18px;"
          "font-weight:600}.line{fill:none;stroke-width:2.2;stroke-linejoin:round}"
          ".grid,.axis{fill:none}.guide{fill:none;stroke-width:1.6;stroke-dasharray:5 4}"
          ".lead{fill:none;stroke-width:1.2;stroke-dasharray:2 2}.bar{fill:none;stroke-width:1.4}"
          "@media (prefers-color-scheme: dark){",
          out);
    put_colors(out, 1);
    fprintf(out, "}</style>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" class=\"surface\"/>\n",
            WIDTH, height);
    put_words(out, LEFT, 30, "ink title", "start", title);
    put_words(out, LEFT, 51, "muted", "start", subtitle);
}

/* ---- A chart ---- */

/* Where the axis ends: the names beside it need room. */
static double right_of(const struct chart *chart) {
    enum { LETTER = 7, BEFORE = 34, MIN = 150, MAX = 330 };
    size_t longest = 0;
    for (size_t i = 0; i < chart->count; i++)
        if (!chart->series[i].is_dots && strlen(chart->series[i].name) > longest)
            longest = strlen(chart->series[i].name);
    return WIDTH - fmin(fmax(BEFORE + LETTER * (double)longest, MIN), MAX);
}

static double x_of(const struct chart *chart, double value) {
    return LEFT + (right_of(chart) - LEFT) * axis_place(&chart->x, value);
}

static double y_of(const struct chart *chart, double value) {
    return TOP + INNER_HEIGHT * (1 - axis_place(&chart->y, value));
}

static void put_axes(FILE *out, const struct chart *chart) {
    enum { MAX = 9 };
    double mark[MAX];
    const double bottom = TOP + INNER_HEIGHT, right = right_of(chart);
    size_t n = axis_marks(&chart->y, MAX, mark);
    for (size_t i = 0; i < n; i++) {
        const double y = y_of(chart, mark[i]);
        fprintf(out, "<path d=\"M%d %.1fH%.1f\" class=\"grid\"/>\n", LEFT, y, right);
        put_words(out, LEFT - 10, y + 4, "muted", "end", axis_label(&chart->y, mark[i]).text);
    }
    n = axis_marks(&chart->x, MAX, mark);
    for (size_t i = 0; i < n; i++) {
        const double x = x_of(chart, mark[i]);
        fprintf(out, "<path d=\"M%.1f %.1fv5\" class=\"axis\"/>\n", x, bottom);
        put_words(out, x, bottom + 22, "muted", "middle", axis_label(&chart->x, mark[i]).text);
    }
    fprintf(out, "<path d=\"M%d %.1fH%.1f\" class=\"axis\"/>\n", LEFT, bottom, right);
    put_words(out, (LEFT + right) / 2, HEIGHT - 14, "muted", "middle", chart->x.name);
    put_words(out, 14, TOP - 14, "muted", "start", chart->y.name);
}

static bool is_inside(const struct chart *chart, const struct point *point) {
    const double x = axis_place(&chart->x, point->x), y = axis_place(&chart->y, point->y);
    return x >= -1e-9 && x <= 1 + 1e-9 && y >= -1e-9 && y <= 1 + 1e-9;
}

static void put_line(FILE *out, const struct chart *chart, const struct series *series) {
    bool is_down = false;
    fputs("<path d=\"", out);
    for (size_t i = 0; i < series->n; i++) {
        const struct point *point = &series->point[i];
        const bool is_in = is_inside(chart, point);
        if (is_in)
            fprintf(out, "%c%.1f %.1f", is_down ? 'L' : 'M', x_of(chart, point->x),
                    y_of(chart, point->y));
        is_down = is_in;
    }
    if (series->is_guide)
        fputs("\" class=\"guide\"/>\n", out);
    else
        fprintf(out, "\" class=\"line l%zu\"/>\n", series->color);
}

/* A bar from one end to the other, with a stroke at each end that is in the picture. */
static void put_range(FILE *out, const struct chart *chart, const struct series *series, size_t i) {
    enum { HALF = 4 };
    const double x = x_of(chart, series->point[i].x), bottom = TOP + INNER_HEIGHT;
    const double high = y_of(chart, series->range[i].high);
    const double low = fmin(y_of(chart, series->range[i].low), bottom);
    if (!(high <= bottom)) return;
    fprintf(out, "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fh%d", x, fmax(high, TOP), low, x - HALF,
            fmax(high, TOP), 2 * HALF);
    if (low < bottom) fprintf(out, "M%.1f %.1fh%d", x - HALF, low, 2 * HALF);
    fprintf(out, "\" class=\"bar l%zu\"/>\n", series->color);
}

static void put_dots(FILE *out, const struct chart *chart, const struct series *series) {
    enum { ABOVE = 8, BELOW = 30 }; /* pixels: clear of falling curves and of bars */
    for (size_t i = 0; i < series->n; i++) {
        const struct point *point = &series->point[i];
        if (series->range) put_range(out, chart, series, i);
        if (!is_inside(chart, point)) continue;
        const double x = x_of(chart, point->x), y = y_of(chart, point->y);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" class=\"d%zu\"/>\n", x, y,
                series->range ? 3 : 5, series->color);
        if (!series->range && series->name[0])
            put_words(out, series->is_below ? x : x + ABOVE,
                      series->is_below ? y + BELOW : y - ABOVE, "ink",
                      series->is_below ? "middle" : "start", series->name);
    }
}

/* The last point of a series that is in the picture; NULL for none. */
static const struct point *end_of(const struct chart *chart, const struct series *series) {
    for (size_t i = series->n; i > 0; i--)
        if (is_inside(chart, &series->point[i - 1])) return &series->point[i - 1];
    return NULL;
}

/* Names stand in a column at the right, in the order of the ends of their lines, without
 * touching. */
static void put_names(FILE *out, const struct chart *chart) {
    enum { GAP = 18 };
    double want[MAX_SERIES], place[MAX_SERIES];
    size_t order[MAX_SERIES], n = 0;
    for (size_t i = 0; i < chart->count; i++) {
        const struct point *end = end_of(chart, &chart->series[i]);
        if (!end || !chart->series[i].name[0] || chart->series[i].is_dots) continue;
        want[i] = y_of(chart, end->y);
        size_t at = n++;
        for (; at > 0 && want[order[at - 1]] > want[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < n; i++)
        place[i] = fmax(want[order[i]], i > 0 ? place[i - 1] + GAP : TOP);
    for (size_t i = n; i-- > 0;)
        place[i] = fmin(place[i], i + 1 < n ? place[i + 1] - GAP : TOP + INNER_HEIGHT);
    for (size_t i = 0; i < n; i++) {
        const struct series *series = &chart->series[order[i]];
        const double x = x_of(chart, end_of(chart, series)->x) + 4, y = want[order[i]];
        if (series->is_guide)
            fputs("<path class=\"lead guide\"", out);
        else
            fprintf(out, "<path class=\"lead l%zu\"", series->color);
        /* What ends early is led along its height first, or it would cross the others. */
        fprintf(out, " d=\"M%.1f %.1fH%.1fL%.1f %.1f\"/>\n", x, y, fmax(x, right_of(chart) + 4),
                right_of(chart) + 18, place[i]);
        put_words(out, right_of(chart) + 23, place[i] + 4, "ink", "start", series->name);
    }
}

void chart_svg(FILE *out, const struct chart *chart) {
    open_picture(out, HEIGHT, chart->title, chart->subtitle.text);
    put_axes(out, chart);
    for (size_t i = 0; i < chart->count; i++)
        if (!chart->series[i].is_dots) put_line(out, chart, &chart->series[i]);
    for (size_t i = 0; i < chart->count; i++)
        if (chart->series[i].is_dots) put_dots(out, chart, &chart->series[i]);
    put_names(out, chart);
    fputs("</svg>\n", out);
}

/* ---- A heat map ---- */

/* From blue over a neutral grey to red: too little, as expected, too much. */
static void put_heat_color(FILE *out, double value) {
    static const double blue[] = {33, 102, 172}, grey[] = {222, 220, 214}, red[] = {178, 24, 43};
    const double *end = value < 0.5 ? blue : red;
    const double part = fmin(1, fabs(value - 0.5) * 2);
    fprintf(out, "#%02x%02x%02x", (unsigned)(grey[0] + part * (end[0] - grey[0])),
            (unsigned)(grey[1] + part * (end[1] - grey[1])),
            (unsigned)(grey[2] + part * (end[2] - grey[2])));
}

static void put_scale(FILE *out, const struct heat *heat, double top) {
    enum { STEPS = 21, EACH = 12 };
    const double left = LEFT + 90;
    put_words(out, left - 8, top + 12, "muted", "end", heat->min.text);
    for (int i = 0; i < STEPS; i++) {
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"14\" fill=\"",
                left + i * EACH, top, EACH);
        put_heat_color(out, (double)i / (STEPS - 1));
        fputs("\"/>\n", out);
    }
    put_words(out, left + STEPS * EACH + 8, top + 12, "muted", "start", heat->max.text);
}

void heat_svg(FILE *out, const struct heat *heat) {
    const double width = WIDTH - LEFT - 40.0, each = width / heat->columns;
    const double bottom = TOP + each * heat->rows;
    open_picture(out, (int)(bottom + 60), heat->title, heat->subtitle.text);
    for (unsigned i = 0; i < heat->columns * heat->rows; i++) {
        if (isnan(heat->cell[i])) continue;
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
                LEFT + each * (i % heat->columns), TOP + each * (i / heat->columns), each + 0.05,
                each + 0.05);
        put_heat_color(out, heat->cell[i]);
        fputs("\"/>\n", out);
    }
    put_scale(out, heat, bottom + 24);
    fputs("</svg>\n", out);
}

/* ---- Two sets ---- */

static void put_bar(FILE *out, double x, double width, double y, unsigned color,
                    const char *words) {
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"56\" class=\"d%u\"/>\n", x, y,
            fmax(width, 0.5), color);
    put_words(out, LEFT, y - 8, "ink", "start", words);
}

void overlap_svg(FILE *out, const struct overlap *overlap) {
    const double only = fmax(0, overlap->items[0] - overlap->common);
    const double other = fmax(0, overlap->items[1] - overlap->common);
    const double all = fmax(1, only + other + overlap->common);
    const double scale = (WIDTH - LEFT - 60.0) / all, shared = LEFT + only * scale;
    open_picture(out, 320, overlap->title, overlap->subtitle.text);
    put_bar(out, LEFT, overlap->items[0] * scale, 112, 0, overlap->name[0].text);
    put_bar(out, shared, overlap->items[1] * scale, 208, 1, overlap->name[1].text);
    fprintf(out, "<path d=\"M%.1f 84V280M%.1f 84V280\" class=\"guide\"/>\n", shared,
            shared + overlap->common * scale);
    put_words(out, shared, 300, "muted", "start", "both");
    fputs("</svg>\n", out);
}
