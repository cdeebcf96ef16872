/* SPDX-License-Identifier: MIT */
/* Figures of an event: medians over rounds, ratios inside a round. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"

bool was_asked(const struct event *e, const struct contestant *c, enum question q) {
    if (!c->filter || !c->filter->handle || !e->set.asks[q]) return false;
    return q != CHASE || (c->calls->chase && e->threads == 1 && e->key_bytes == 8);
}

static double median_of(const double *values, size_t n) {
    double copy[MAX_ROUNDS];
    if (!n) return NAN;
    memcpy(copy, values, n * sizeof *copy);
    return median(copy, n);
}

static double best_of(const double *values, size_t n) {
    double best = n ? values[0] : NAN;
    for (size_t i = 1; i < n; i++) best = fmin(best, values[i]);
    return best;
}

double median_ns(const struct event *e, const struct contestant *c, enum question q) {
    return was_asked(e, c, q) ? median_of(c->ns[q], e->set.rounds) : NAN;
}

double best_ns(const struct event *e, const struct contestant *c, enum question q) {
    return was_asked(e, c, q) ? best_of(c->ns[q], e->set.rounds) : NAN;
}

double ratio_to(const struct event *e, const struct contestant *c, const struct contestant *other,
                enum question q) {
    double ratio[MAX_ROUNDS];
    if (!was_asked(e, c, q) || !was_asked(e, other, q)) return NAN;
    for (size_t r = 0; r < e->set.rounds; r++) ratio[r] = c->ns[q][r] / other->ns[q][r];
    return median_of(ratio, e->set.rounds);
}

/* The lowest median, not the lowest sample of each round: that would be lower than any real
 * loop. */
const struct contestant *floor_of(const struct event *e, enum question q, const char *name) {
    const struct contestant *best = NULL;
    for (size_t i = 0; i < e->count; i++) {
        const struct contestant *c = &e->all[i];
        if (c->side != FLOOR || strcmp(c->name, name) || !was_asked(e, c, q)) continue;
        if (!best || median_ns(e, c, q) < median_ns(e, best, q)) best = c;
    }
    return best;
}

double ratio_to_floor(const struct event *e, const struct contestant *c, enum question q,
                      const char *name) {
    const struct contestant *floor = floor_of(e, q, name);
    return floor ? ratio_to(e, c, floor, q) : NAN;
}

double build_median(const struct filter *f) {
    return median_of(f->build_ns, f->builds);
}

double build_best(const struct filter *f) {
    return best_of(f->build_ns, f->builds);
}

double build_ratio(const struct filter *f, const struct filter *other) {
    double ratio[MAX_BUILDS];
    const size_t n = f->builds < other->builds ? f->builds : other->builds;
    for (size_t i = 0; i < n; i++) ratio[i] = f->build_ns[i] / other->build_ns[i];
    return median_of(ratio, n);
}
