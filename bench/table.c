/* SPDX-License-Identifier: MIT */
/* A table for each event. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"

static void put_figure(double value, int width) {
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

static bool was_built(const struct contestant *c) {
    return c->filter && c->filter->handle;
}

/* The reference of the last columns: the requested one, or the first of ours by the batch. */
static const struct contestant *reference_of(const struct event *e) {
    const struct contestant *ours = NULL;
    for (size_t i = 0; i < e->count; i++) {
        const struct contestant *c = &e->all[i];
        if (!was_built(c)) continue;
        if (e->set.reference && is_named(e->set.reference, c)) return c;
        if (c->side == OURS && (!ours || (strcmp(way_of(ours), "batch") && is_named("batch", c))))
            ours = c;
    }
    return ours;
}

static int name_width(const struct event *e) {
    size_t width = 20;
    for (size_t i = 0; i < e->count; i++)
        if (was_built(&e->all[i]) && strlen(e->all[i].name) > width) width = strlen(e->all[i].name);
    return (int)width;
}

static enum question main_question(const struct event *e) {
    for (int q = 0; q < QUESTIONS; q++)
        if (e->set.asks[q]) return (enum question)q;
    return MISS;
}

static void put_head(const struct event *e, const struct contestant *reference) {
    printf("\n%zu keys of %u bytes, %u thread%s", e->keys, e->key_bytes, e->threads,
           e->threads == 1 ? "" : "s");
    if (e->cpu >= 0) printf(" on processor %d", e->cpu);
    printf("; ns per key, medians of %zu rounds", e->set.rounds);
    if (reference) printf("; ref is %s, %s", reference->name, way_of(reference));
    printf("\n%-*s %-6s %6s %7s %7s %6s", name_width(e), "", "", "bits", "rate", "build", "x ref");
    for (int q = 0; q < QUESTIONS; q++)
        if (e->set.asks[q]) printf(" %7s", question_names[q]);
    printf(" | %s %6s %6s %6s\n", question_names[main_question(e)], "x line", "x keys", "x ref");
}

static void put_row(const struct event *e, const struct contestant *c,
                    const struct contestant *reference) {
    const enum question q = main_question(e);
    printf("%-*s %-6s", name_width(e), c->name, way_of(c));
    if (c->side == FLOOR) {
        printf(" %6s %7s %7s %6s", "", "", "", "");
    } else {
        put_figure(8.0 * (double)c->filter->bytes / (double)e->keys, 6);
        printf(" %6.3f%%", 100.0 * (double)c->yes / (double)c->nonmembers);
        put_figure(build_median(c->filter), 7);
        put_figure(reference ? build_ratio(c->filter, reference->filter) : NAN, 6);
    }
    for (int i = 0; i < QUESTIONS; i++)
        if (e->set.asks[i]) put_figure(median_ns(e, c, (enum question)i), 7);
    printf(" | %*s", (int)strlen(question_names[q]), "");
    put_figure(ratio_to_floor(e, c, q, floor_line), 6);
    put_figure(ratio_to_floor(e, c, q, floor_keys), 6);
    put_figure(reference ? ratio_to(e, c, reference, q) : NAN, 6);
    if (c->lost)
        printf("   LOST %llu of %llu", (unsigned long long)c->lost, (unsigned long long)c->checked);
    printf("\n");
}

/* Only the best variant of a floor is shown; the JSON has all. */
static bool is_shown(const struct event *e, const struct contestant *c) {
    if (!was_built(c)) return false;
    return c->side != FLOOR || c == floor_of(e, main_question(e), c->name);
}

void table_print(const struct event *e) {
    const struct contestant *reference = reference_of(e);
    put_head(e, reference);
    for (size_t i = 0; i < e->count; i++)
        if (is_shown(e, &e->all[i])) put_row(e, &e->all[i], reference);
    for (size_t i = 0; i < e->count; i++) {
        const struct filter *f = &e->filters[i];
        if (f->maker && f->maker->side == FLOOR && f->handle)
            printf("floor: %.1f MB, %.0f %% of it on large pages; in sequence %.1f GB/s read, "
                   "%.1f GB/s written\n",
                   (double)f->bytes / 1e6, 100.0 * (double)f->large_bytes / (double)f->bytes,
                   e->read_gbs, e->write_gbs);
        if (f->maker && !f->handle)
            printf("%s: could not be built with %zu keys: skipped\n", f->maker->name, e->keys);
    }
    fflush(stdout);
}
