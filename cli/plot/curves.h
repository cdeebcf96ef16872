/* SPDX-License-Identifier: MIT */
/* curves.h: only the files of `tamis plot` include this. What the pictures show. Each returns 0 or
 * EXIT_TROUBLE, reported. */
#ifndef TAMIS_CLI_PLOT_CURVES_H
#define TAMIS_CLI_PLOT_CURVES_H

#include "cli/cli.h"
#include "cli/plot/picture.h"

/* The rate against bits per key, as planned. `kinds` are names with commas between them. */
int draw_rates(const struct args *args, const char *kinds, struct chart *chart);

/* The rate while a filter fills up and beyond: of kinds, or of an image with its place on it. */
int draw_filling(const struct args *args, const char *kinds, struct chart *chart);
int draw_filling_image(const struct args *args, const struct image *image, struct chart *chart);

/* How many bits blocks have, beside what is expected. */
int draw_loads(const struct args *args, const struct image *image, struct chart *chart);

/* Where in the payload bits are dense. */
int draw_heat(const struct args *args, const struct image *image, struct heat *heat,
              unsigned columns, unsigned rows);

int draw_overlap(const struct args *args, const struct image *a, const struct image *b,
                 struct overlap *overlap);

#endif
