/* SPDX-License-Identifier: MIT */
/* plot_bits.c: how the bits of an image lie, and what two images share. */
#include <math.h>
#include <stdlib.h>

#include "cli/measure/occupancy.h"
#include "cli/plot/curves.h"

/* ---- Loads of blocks ---- */

static int add_loads(const struct args *args, const struct blocks *blocks,
                     const struct occupancy *o, struct chart *chart) {
    struct series *found = new_series(chart, "found"), *expected = new_series(chart, "expected");
    const double low = fmax(0, o->mean - 6 * o->deviation - 4);
    const double high = fmin(blocks->bits, o->mean + 6 * o->deviation + 4);
    double max = 0;
    expected->is_guide = true;
    for (unsigned i = (unsigned)low; i <= high; i++) {
        const double share = (double)o->with[i] / (double)blocks->count;
        max = fmax(max, fmax(share, o->expected[i]));
        if (!series_add(found, i, share) || !series_add(expected, i, o->expected[i]))
            return fail_memory(args);
    }
    chart->x = (struct axis){.name = "bits set in a block", .low = low, .high = high};
    chart->y =
        (struct axis){.name = "share of blocks", .low = 0, .high = max * 1.1, .has_rates = true};
    return 0;
}

int draw_loads(const struct args *args, const struct image *image, struct chart *chart) {
    struct blocks blocks;
    struct occupancy o;
    const struct tamis_info info = info_measured(image->filter);
    if (!blocks_of(image->filter, &blocks))
        return fail(args, input_name(image->path),
                    "%s is not made of blocks of bits (allowed: classic, blocked, split, "
                    "universal)",
                    info.kind);
    occupancy_of(&blocks, info.items_now.value, &o);
    *chart =
        (struct chart){.title = "How many bits are set in a block",
                       .subtitle = human_words(
                           "%.60s: %s blocks of %u bits; \"expected\" is for randomly spread keys",
                           input_name(image->path), human_count(blocks.count).text, blocks.bits)};
    return add_loads(args, &blocks, &o, chart);
}

/* ---- A map of the payload ---- */

/* How dense the i-th of `cells` equal stretches is; NaN when there are fewer bytes than cells. */
static double density(const uint8_t *bytes, uint64_t size, uint64_t cells, uint64_t i) {
    const uint64_t each = size / cells, extra = size % cells;
    const uint64_t from = i * each + (i < extra ? i : extra);
    const uint64_t n = each + (i < extra);
    return n ? (double)count_bits(bytes + from, n) / (8 * (double)n) : (double)NAN;
}

/* The scale ends at the densest and the emptiest cell, but not below what noise would fill. */
static void scale_cells(struct heat *heat, double mean) {
    const size_t n = (size_t)heat->columns * heat->rows;
    double farthest = 0.02;
    for (size_t i = 0; i < n; i++)
        if (!isnan(heat->cell[i])) farthest = fmax(farthest, fabs(heat->cell[i] - mean));
    for (size_t i = 0; i < n; i++) heat->cell[i] = 0.5 + (heat->cell[i] - mean) / (2 * farthest);
    heat->min = human_share(fmax(0, mean - farthest));
    heat->max = human_share(fmin(1, mean + farthest));
}

int draw_heat(const struct args *args, const struct image *image, struct heat *heat,
              unsigned columns, unsigned rows) {
    uint64_t size;
    const struct tamis_info info = info_measured(image->filter);
    const uint8_t *bytes = tamis_payload(image->filter, &size);
    *heat = (struct heat){.columns = columns, .rows = rows};
    heat->cell = malloc((size_t)columns * rows * sizeof *heat->cell);
    if (!heat->cell) return fail_memory(args);
    const uint64_t cells = (uint64_t)columns * rows;
    for (uint64_t i = 0; i < cells; i++) heat->cell[i] = density(bytes, size, cells, i);
    const double mean = size ? (double)count_bits(bytes, size) / (8 * (double)size) : 0;
    heat->title = "Where its bits are";
    heat->subtitle =
        human_words("%.60s: %s, %s from its start to its end, %s set", input_name(image->path),
                    info.kind, human_bytes(size).text, human_share(mean).text);
    scale_cells(heat, mean);
    return 0;
}

/* ---- Two images ---- */

static void name_set(struct overlap *overlap, int i, const struct image *image, double items) {
    overlap->items[i] = items;
    overlap->name[i] = human_words("%.50s: about %s", input_name(image->path),
                                   human_count((uint64_t)(items + 0.5)).text);
}

int draw_overlap(const struct args *args, const struct image *a, const struct image *b,
                 struct overlap *overlap) {
    struct tamis_estimate common, similarity, items[2];
    tamis_status status = tamis_overlap(a->filter, b->filter, &common);
    if (!status) status = tamis_similarity(a->filter, b->filter, &similarity);
    if (!status) status = tamis_items_now(a->filter, &items[0]);
    if (!status) status = tamis_items_now(b->filter, &items[1]);
    if (status == TAMIS_MISMATCH)
        return fail(args, NULL, "%s and %s do not match: %s", input_name(a->path),
                    input_name(b->path), tamis_why());
    if (status) return fail_why(args, NULL, status);
    *overlap = (struct overlap){
        .common = fmax(0, common.value), .error = common.error, .similarity = similarity.value};
    name_set(overlap, 0, a, items[0].value);
    name_set(overlap, 1, b, items[1].value);
    overlap->title = "What two sets share";
    overlap->subtitle =
        human_words("about %s keys in common (+/- %s); similarity %s",
                    human_count((uint64_t)(overlap->common + 0.5)).text,
                    human_margin(common.error).text, human_share(similarity.value).text);
    return 0;
}
