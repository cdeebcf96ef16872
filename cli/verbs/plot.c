/* SPDX-License-Identifier: MIT */
/* plot.c: `tamis plot`, pictures for a terminal or as SVG. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/plot/curves.h"

static const char usual_kinds[] = "blocked,split,classic,cuckoo,quotient,gcs,ribbon,fuse";
static const char filling_kinds[] = "blocked,split,classic,cuckoo,quotient,scalable";

/* One picture, whichever it is. */
struct picture {
    enum { CHART, HEAT, OVERLAP } sort;
    struct chart chart;
    struct heat heat;
    struct overlap overlap;
};

/* ---- The terminal ---- */

static struct terminal find_terminal(void) {
    struct winsize size = {0};
    struct terminal terminal = {.width = 80, .height = 24};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        terminal.width = size.ws_col < 200 ? size.ws_col : 200;
        terminal.height = size.ws_row < 60 ? size.ws_row : 60;
    }
    setlocale(LC_CTYPE, "");
    terminal.has_unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    terminal.has_color = *color(stdout, ROLE_HEADING) != '\0';
    return terminal;
}

/* ---- Drawing ---- */

static int draw_of_image(const struct args *args, const char *what, struct picture *picture) {
    struct image image;
    int code = image_open(&image, args, args->operand[1], TO_ASK);
    if (!code && strcmp(what, "fill") == 0) {
        code = draw_filling_image(args, &image, &picture->chart);
    } else if (!code && strcmp(what, "loads") == 0) {
        code = draw_loads(args, &image, &picture->chart);
    } else if (!code) {
        /* Cells are squares in a browser, in a terminal twice as high as wide. */
        const struct terminal terminal = find_terminal();
        const bool is_svg = given(args, OPT_OUTPUT);
        const unsigned columns = is_svg ? 72 : terminal.width > 24 ? terminal.width - 4 : 20;
        const unsigned rows = is_svg ? 36 : terminal.height > 12 ? terminal.height - 7 : 5;
        picture->sort = HEAT;
        code = draw_heat(args, &image, &picture->heat, columns, rows);
    }
    image_close(&image);
    return code;
}

static int draw_of_two(const struct args *args, struct picture *picture) {
    struct image a, b = {0};
    picture->sort = OVERLAP;
    int code = image_open(&a, args, args->operand[1], TO_ASK);
    if (!code) code = image_open(&b, args, args->operand[2], TO_ASK);
    if (!code) code = draw_overlap(args, &a, &b, &picture->overlap);
    image_close(&a);
    image_close(&b);
    return code;
}

/* Pictures, and how many images each is about. */
static const struct {
    const char *name;
    size_t min, max;
} sorts[] = {{"rate", 0, 0}, {"fill", 0, 1}, {"bits", 1, 1}, {"loads", 1, 1}, {"overlap", 2, 2}};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

static int check_operands(const struct args *args) {
    const char *what = args->operand[0];
    const size_t images = args->operand_count - 1;
    for (size_t i = 0; i < SORTS; i++) {
        if (strcmp(sorts[i].name, what) != 0) continue;
        if (images >= sorts[i].min && images <= sorts[i].max) return 0;
        return fail(args, NULL, "%s shows %s", what,
                    sorts[i].max == 0   ? "kinds, not an image"
                    : sorts[i].max == 2 ? "two images"
                    : sorts[i].min      ? "one image"
                                        : "kinds or one image");
    }
    return fail(args, NULL, "unknown picture \"%s\" (allowed: rate, fill, bits, loads, overlap)",
                what);
}

static int draw(const struct args *args, struct picture *picture) {
    const char *what = args->operand[0];
    if (strcmp(what, "overlap") == 0) return draw_of_two(args, picture);
    if (args->operand_count > 1) return draw_of_image(args, what, picture);
    return strcmp(what, "rate") == 0
               ? draw_rates(args, text_or(args, OPT_KINDS, usual_kinds), &picture->chart)
               : draw_filling(args, text_or(args, OPT_KINDS, filling_kinds), &picture->chart);
}

/* ---- Showing ---- */

static void put_svg(FILE *out, const struct picture *picture) {
    switch (picture->sort) {
    case CHART: chart_svg(out, &picture->chart); break;
    case HEAT: heat_svg(out, &picture->heat); break;
    case OVERLAP: overlap_svg(out, &picture->overlap); break;
    }
}

static void print_picture(const struct picture *picture) {
    const struct terminal terminal = find_terminal();
    switch (picture->sort) {
    case CHART: chart_text(stdout, &picture->chart, &terminal); break;
    case HEAT: heat_text(stdout, &picture->heat, &terminal); break;
    case OVERLAP: overlap_text(stdout, &picture->overlap, &terminal); break;
    }
}

static void write_series(struct json *json, const struct series *series) {
    json_open(json, NULL, '{');
    json_text(json, "name", series->name);
    json_open(json, "points", '[');
    for (size_t i = 0; i < series->n; i++) {
        json_open(json, NULL, '[');
        json_real(json, NULL, series->point[i].x);
        json_real(json, NULL, series->point[i].y);
        json_close(json, ']');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_picture(const struct picture *picture) {
    struct json json = json_start(stdout);
    const struct overlap *overlap = &picture->overlap;
    const struct heat *heat = &picture->heat;
    if (picture->sort == CHART) {
        json_text(&json, "x", picture->chart.x.name);
        json_text(&json, "y", picture->chart.y.name);
        json_open(&json, "series", '[');
        for (size_t i = 0; i < picture->chart.count; i++)
            write_series(&json, &picture->chart.series[i]);
        json_close(&json, ']');
    } else if (picture->sort == HEAT) {
        json_count(&json, "columns", heat->columns);
        json_count(&json, "rows", heat->rows);
        json_open(&json, "cells", '[');
        for (size_t i = 0; i < (size_t)heat->columns * heat->rows; i++)
            json_real(&json, NULL, heat->cell[i]);
        json_close(&json, ']');
    } else {
        json_real(&json, "items_a", overlap->items[0]);
        json_real(&json, "items_b", overlap->items[1]);
        json_real(&json, "common", overlap->common);
        json_real(&json, "common_error", overlap->error);
        json_real(&json, "similarity", overlap->similarity);
    }
    json_end(&json);
}

/* The whole picture in memory first: a file gets all of it or none. */
static int save_svg(const struct args *args, const struct picture *picture) {
    const char *path = args->setting[OPT_OUTPUT].text;
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    if (out) put_svg(out, picture);
    int code = out && fclose(out) == 0 ? 0 : fail_memory(args);
    if (!code) code = file_write(args, path, bytes, len);
    free(bytes);
    return code;
}

static int run(const struct args *args) {
    struct picture picture = {.sort = CHART};
    int code = check_operands(args);
    if (!code && given(args, OPT_OUTPUT))
        code = file_may_write(args, args->setting[OPT_OUTPUT].text, NULL);
    if (!code) code = draw(args, &picture);
    if (!code && given(args, OPT_JSON))
        write_picture(&picture);
    else if (!code && given(args, OPT_OUTPUT))
        code = save_svg(args, &picture);
    else if (!code)
        print_picture(&picture);
    chart_free(&picture.chart);
    free(picture.heat.cell);
    return code;
}

/* clang-format off */

const struct verb verb_plot = {
    .name = "plot",
    .also = "draw picture graph chart",
    .summary = "draw rates, fill, bits or overlap",
    .run = run,
    .operands = OPERANDS({"PICTURE", EXACTLY_ONE, NO_STREAM}, {"IMAGE", ANY_NUMBER, READS_STDIN}),
    .uses = USES({.option = OPT_OUTPUT, .help = "where to write SVG instead (-: standard output)"},
                 {.option = OPT_KINDS}, {.option = OPT_CAPACITY}, {.option = OPT_FPR},
                 {.option = OPT_JSON,
                  .help = "print the data of the picture as one JSON object"},
                 {.option = OPT_FORCE, .help = "replace an existing file"}, {.option = OPT_WAIT},
                 {.option = OPT_SECRET_FILE}, {.option = OPT_DECOMPRESS}, FROM_OPTION),
    .examples = EXAMPLES(
        {"Show what a rate costs with each kind", "tamis plot rate"},
        {"Draw three of them, for the web",
         "tamis plot rate --kinds blocked,fuse,ribbon -o rate.svg"},
        {"Show what happens with more keys than planned",
         "tamis plot fill --kinds blocked,cuckoo"},
        {"Show how full an image is", "tamis plot fill blocklist.tamis"},
        {"Show whether its bits are spread evenly", "tamis plot bits blocklist.tamis -o bits.svg"},
        {"Show what two sets share", "tamis plot overlap monday.tamis tuesday.tamis"}),
    .about =
        "rate: bits per key by rate, as planned, and the lower bound for any filter. fill: the "
        "rate as keys are added, up to twice the capacity, for kinds or for an image, with a dot "
        "at its current state. bits: a map of the payload from start to end; red has more bits "
        "set than the mean, blue fewer. loads: the number of bits set in each block, next to what "
        "randomly spread keys give. overlap: two images of one spec as bars that overlap by what "
        "they share.\n\n"
        "Without --output, draws in the terminal, as wide as it is, in its colours, and in UTF-8 "
        "if supported. SVG follows the viewer's light or dark setting.\n\n"
        "The JSON has x, y and series (an array with name and points) for charts; columns, rows "
        "and cells (0 to 1, 0.5 is the mean) for bits; items_a, items_b, common, common_error and "
        "similarity for overlap.",
};
