/* SPDX-License-Identifier: MIT */
/* curves.h: only the files of `tamis plot` include this. What the pictures show. Each function that
 * draws returns 0 or EXIT_TROUBLE, reported. */
#ifndef TAMIS_CLI_PLOT_CURVES_H
#define TAMIS_CLI_PLOT_CURVES_H

#include "cli/cli.h"
#include "cli/plot/picture.h"

/* ==== What is drawn: spec_list.c ============================================================== */

struct specs {
    char *spec[MAX_SPECS];
    struct tamis_plan plan[MAX_SPECS];
    char name[MAX_SPECS][64]; /* the kind, and what distinguishes it from others of the kind */
    size_t n;
};

/* Those that the user gave, or each of the kinds (of --kinds, or these) for --capacity, or as many
 * keys as is usual, and --fpr. specs_free is due in both cases. */
int specs_read(const struct args *args, const char *usual_kinds, uint64_t usual_keys,
               struct specs *specs);
void specs_free(struct specs *specs);

/* ==== Axes that several pictures have ========================================================= */

extern const char axis_rate[], axis_bits[], axis_keys[], axis_hashes[];
enum { MAX_TIMES = 2 }; /* the capacity: where axis_keys ends */

/* A horizontal line at the rate that was asked for. */
int draw_asked(const struct args *args, struct chart *chart, double rate);

/* ==== Pictures of specs: plot_rates.c, plot_specs.c =========================================== */

/* Bits per key against the rate, as planned. */
int draw_rates(const struct args *args, const struct specs *specs, struct chart *chart);

/* The rate while a filter fills up and beyond: of specs, or of an image with its place on it. */
int draw_filling(const struct args *args, const struct specs *specs, struct chart *chart);
int draw_filling_image(const struct args *args, const struct image *image, struct chart *chart);

/* The rate by formula against the number of hashes, of keys, and the size; with --measure, what
 * filters of generated keys really answer. */
int draw_rate_by_hashes(const struct args *args, const struct specs *specs, struct chart *chart);
int draw_rate_by_keys(const struct args *args, const struct specs *specs, struct chart *chart);
int draw_rate_by_size(const struct args *args, const struct specs *specs, struct chart *chart);

/* ==== Measured points: plot_measured.c ======================================================== */

struct trials {
    const struct args *args;
    struct tamis_options options;
    uint64_t probes; /* for each point */
    uint64_t made;   /* filters so far: no two have keys or probes in common */
};

/* Refuses what would take too long. */
int trials_start(const struct args *args, const struct specs *specs, struct trials *trials);

/* Builds a filter of this spec with `keys` keys, queries non-members, and adds the share of false
 * positives with its exact interval of 95 %. *is_full tells that it does not take so many. */
int trials_add(struct trials *trials, const char *spec, uint64_t keys, double x,
               struct series *series, bool *is_full);

/* What the subtitle says about it; "" without --measure. */
struct human trials_words(const struct trials *trials);

/* ==== Pictures of images: plot_bits.c ========================================================= */

/* How many bits blocks have, beside what is expected. */
int draw_loads(const struct args *args, const struct image *image, struct chart *chart);

/* Where in the payload bits are dense. */
int draw_heat(const struct args *args, const struct image *image, struct heat *heat,
              unsigned columns, unsigned rows);

int draw_overlap(const struct args *args, const struct image *a, const struct image *b,
                 struct overlap *overlap);

#endif
