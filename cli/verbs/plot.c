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
        terminal.height = size.ws_row < 60 ? size.ws_row - 1u : 60; /* The prompt needs a line. */
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

/* ---- Pictures of specs ---- */

typedef int draw_specs(const struct args *args, const struct specs *specs, struct chart *chart);

/* Pictures, what they are about, and how many of that. */
/* clang-format off */
static const struct sort {
    const char *name;
    size_t min, max;
    const char *shows;
    draw_specs *draw; /* of specs; NULL: only of images */
    const char *usual_kinds;
    uint64_t usual_keys;
    bool may_measure;
} sorts[] = {
    {.name = "rate", .max = MAX_SPECS, .shows = "specs, at most 10", .draw = draw_rates,
     .usual_kinds = "blocked,split,classic,cuckoo,quotient,gcs,ribbon,fuse", .usual_keys = 1000000},
    {.name = "rate-k", .max = MAX_SPECS, .shows = "specs, at most 10", .draw = draw_rate_by_hashes,
     .usual_kinds = "classic", .usual_keys = 100000, .may_measure = true},
    {.name = "rate-n", .max = MAX_SPECS, .shows = "specs, at most 10", .draw = draw_rate_by_keys,
     .usual_kinds = "blocked,classic,cuckoo,scalable", .usual_keys = 100000, .may_measure = true},
    {.name = "rate-size", .max = MAX_SPECS, .shows = "specs, at most 10", .draw = draw_rate_by_size,
     .usual_kinds = "classic,ribbon", .usual_keys = 100000, .may_measure = true},
    {.name = "fill", .max = 1, .shows = "kinds or one image", .draw = draw_filling,
     .usual_kinds = "blocked,split,classic,cuckoo,quotient,scalable", .usual_keys = 100000},
    {.name = "bits", .min = 1, .max = 1, .shows = "one image"},
    {.name = "loads", .min = 1, .max = 1, .shows = "one image"},
    {.name = "overlap", .min = 2, .max = 2, .shows = "two images"},
};
/* clang-format on */
enum { SORTS = sizeof sorts / sizeof sorts[0] };

static int fail_picture(const struct args *args, const char *what) {
    struct nearest nearest = {.typed = what};
    struct human allowed = {""};
    for (size_t i = 0; i < SORTS; i++) {
        nearest_try(&nearest, sorts[i].name);
        allowed = human_words("%.150s%s%s", allowed.text, i ? ", " : "", sorts[i].name);
    }
    const char *meant = nearest.name;
    if (meant) return fail(args, NULL, "unknown picture \"%s\"; did you mean \"%s\"?", what, meant);
    return fail(args, NULL, "unknown picture \"%s\" (allowed: %s)", what, allowed.text);
}

static int check_operands(const struct args *args, const struct sort **sort) {
    const char *what = args->operand[0];
    const size_t others = args->operand_count - 1;
    const char *measuring = FIRST_GIVEN(args, OPT_MEASURE, OPT_PROBES);
    for (size_t i = 0; i < SORTS; i++) {
        *sort = &sorts[i];
        if (strcmp(sorts[i].name, what) != 0) continue;
        if (others < sorts[i].min || others > sorts[i].max)
            return fail(args, NULL, "%s shows %s", what, sorts[i].shows);
        if (measuring && !sorts[i].may_measure)
            return fail(args, NULL, "--%s: only for rate-k, rate-n and rate-size", measuring);
        return 0;
    }
    return fail_picture(args, what);
}

static int draw(const struct args *args, const struct sort *sort, struct picture *picture) {
    struct specs specs;
    if (strcmp(sort->name, "overlap") == 0) return draw_of_two(args, picture);
    const bool is_of_specs = sort->max == MAX_SPECS || args->operand_count == 1;
    if (!is_of_specs) return draw_of_image(args, sort->name, picture);
    int code = specs_read(args, sort->usual_kinds, sort->usual_keys, &specs);
    if (!code) code = sort->draw(args, &specs, &picture->chart);
    progress_wipe();
    specs_free(&specs);
    return code;
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
    json_open(json, "intervals", '[');
    for (size_t i = 0; series->range && i < series->n; i++) {
        json_open(json, NULL, '[');
        json_real(json, NULL, series->range[i].low);
        json_real(json, NULL, series->range[i].high);
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
    const struct sort *sort = NULL;
    int code = check_operands(args, &sort);
    if (!code && given(args, OPT_OUTPUT))
        code = file_may_write(args, args->setting[OPT_OUTPUT].text, NULL);
    if (!code) code = draw(args, sort, &picture);
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
    .operands = OPERANDS({"PICTURE", EXACTLY_ONE, NO_STREAM},
                         {"IMAGE|SPEC", ANY_NUMBER, READS_STDIN}),
    .uses = USES({.option = OPT_OUTPUT, .help = "where to write SVG instead (-: standard output)"},
                 {.option = OPT_KINDS}, {.option = OPT_CAPACITY}, {.option = OPT_FPR},
                 {.option = OPT_MEASURE,
                  .help = "build filters of generated keys, and draw the rates that they have"},
                 {.option = OPT_PROBES,
                  .help = "non-members to query for each measured point (default: 200,000)"},
                 {.option = OPT_JSON,
                  .help = "print the data of the picture as one JSON object"},
                 {.option = OPT_FORCE, .help = "replace an existing file"}, {.option = OPT_WAIT},
                 {.option = OPT_SECRET_FILE}, {.option = OPT_DECOMPRESS}, FROM_OPTION),
    .examples = EXAMPLES(
        {"Show what a rate costs with each kind", "tamis plot rate"},
        {"Draw three of them, for the web",
         "tamis plot rate --kinds blocked,fuse,ribbon -o rate.svg"},
        {"Show the best number of hashes, and measure it",
         "tamis plot rate-k classic:capacity=100k,fpr=1% --measure"},
        {"Compare two specs in any size",
         "tamis plot rate-size classic:capacity=1M blocked:capacity=1M"},
        {"Compare two specs as they fill up and beyond",
         "tamis plot rate-n blocked:capacity=1M,fpr=1% blocked:capacity=1M,fpr=0.1%"},
        {"Show what happens with more keys than planned",
         "tamis plot fill --kinds blocked,cuckoo"},
        {"Show how full an image is", "tamis plot fill blocklist.tamis"},
        {"Show whether its bits are spread evenly", "tamis plot bits blocklist.tamis -o bits.svg"},
        {"Show what two sets share", "tamis plot overlap monday.tamis tuesday.tamis"}),
    .about =
        "rate: bits per key by rate, as planned, and the lower bound for any filter. rate-k, "
        "rate-n, rate-size: the false-positive rate by the number of hashes (in the size of the "
        "spec, with the best k and k = 4), by the number of keys (up to twice the capacity) and by "
        "bits per key (with the best k, and k = 4 where the kind has a choice). These four take "
        "any SPEC, up to 10 of them, or --kinds with --capacity and --fpr. fill: the "
        "rate as keys are added, up to twice the capacity, for kinds or for an image, with a dot "
        "at its current state. bits: a map of the payload from start to end; red has more bits "
        "set than the mean, blue fewer. loads: the number of bits set in each block, next to what "
        "randomly spread keys give. overlap: two images of one spec as bars that overlap by what "
        "they share.\n\n"
        "Curves of SPECs are the formulas of their kinds. --measure builds filters of generated "
        "keys, the same in every run, and draws the share of non-members that they answer yes to, "
        "with the exact interval (Clopper and Pearson) that misses the truth in at most 5 % of "
        "cases; at most 5,000,000 keys and 1 GiB. Filters of few keys are built up to 100 times, "
        "with different keys.\n\n"
        "Without --output, draws in the terminal, as wide as it is, in its colours, and in UTF-8 "
        "if supported. SVG follows the viewer's light or dark setting.\n\n"
        "The JSON has x, y and series (an array with name, points and, for "
        "measured points, intervals) for charts; columns, rows "
        "and cells (0 to 1, 0.5 is the mean) for bits; items_a, items_b, common, common_error and "
        "similarity for overlap.",
};
