/* SPDX-License-Identifier: MIT */
/* Aggregation: a sum over a network that counts no value twice.
 *
 * A node does not remember who sent what: that would be a table of all sources. It keeps a filter
 * of the (source, value) pairs that it has counted, and sums.
 *
 *     take(source, value, earlier values)
 *
 *         (source, value) is present                  skipped
 *         (source, an earlier value) is present       replaced: that one leaves the filter and
 *                                                     the sum, the new one comes
 *         neither is present                          counted
 *
 * A pair contains the value itself, not a version: so a source whose value returns to an earlier
 * one is right too, whichever of its changes a node has missed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "bits/probe.h"
#include "core/memory.h"
#include "tamis_engine.h"
#include "tamis_jobs.h"

/* A sum to which small numbers are added and subtracted without drift (Neumaier 1974). */
typedef struct tally {
    double sum, rest;
} tally;

static void tally_add(tally *t, double x) {
    const double sum = t->sum + x;
    t->rest += fabs(t->sum) >= fabs(x) ? t->sum - sum + x : x - sum + t->sum;
    t->sum = sum;
}

static double tally_value(const tally *t) {
    return t->sum + t->rest;
}

struct tamis_aggregate {
    tamis *filter;
    struct tamis_allocator allocator;
    tamis_block self;
    uint64_t count, counted, replaced, skipped;
    tally values, squares;
    double min, max;
    bool is_min_counted, is_max_counted;
};

/* ---- Making --------------------------------------------------------------------------------- */

static tamis_status is_suitable(const tamis *filter) {
    struct tamis_info info = TAMIS_INFO_INIT;
    const unsigned needed = TAMIS_CAN_ADD | TAMIS_CAN_REMOVE;
    const unsigned wrong = TAMIS_AGES | TAMIS_MAY_FORGET | TAMIS_OWN_HASH;
    tamis_measure(filter, &info);
    if ((info.abilities & needed) == needed && !(info.abilities & wrong)) return TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED,
                       "%s cannot remember what was counted: that takes a kind that adds, removes "
                       "and never forgets, as quotient, cuckoo or counting",
                       info.kind);
}

tamis_status tamis_aggregate_create_with(tamis_aggregate **node, const char *spec,
                                         const struct tamis_options *options) {
    struct tamis_options o;
    tamis *filter;
    *node = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = tamis_create_with(&filter, spec, options);
    if (rc) return rc;
    rc = is_suitable(filter);
    const struct tamis_allocator allocator = tamis__allocator(&o);
    tamis_block self = {NULL, 0};
    tamis_aggregate *made = rc ? NULL : tamis__get(&allocator, sizeof *made, &self);
    if (!made) {
        tamis_free(filter);
        return rc ? rc : TAMIS_NOMEM;
    }
    *made = (tamis_aggregate){.filter = filter, .allocator = allocator, .self = self};
    *node = made;
    return TAMIS_OK;
}

tamis_status tamis_aggregate_create(tamis_aggregate **node, uint64_t sources) {
    char spec[64];
    snprintf(spec, sizeof spec, "quotient:capacity=%llu,fpr=1e-5", (unsigned long long)sources);
    return tamis_aggregate_create_with(node, spec, NULL);
}

void tamis_aggregate_free(tamis_aggregate *node) {
    if (!node) return;
    tamis_free(node->filter);
    const struct tamis_allocator allocator = node->allocator;
    tamis_block self = node->self;
    tamis__block_free(&allocator, &self);
}

/* ---- Taking --------------------------------------------------------------------------------- */

/* The source is hashed by the filter's hash, with its secret if it has one; the value is mixed in.
 * Both zeros are one value. */
static uint64_t pair_hash(uint64_t source, double value) {
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return tamis__mix(source + tamis__mix(bits));
}

static void count_in(tamis_aggregate *node, double value) {
    tally_add(&node->values, value);
    tally_add(&node->squares, value * value);
    if (node->count++ == 0) {
        node->min = node->max = value;
        node->is_min_counted = node->is_max_counted = true;
        return;
    }
    if (value <= node->min) node->min = value, node->is_min_counted = true;
    if (value >= node->max) node->max = value, node->is_max_counted = true;
}

/* Another source may have the same extreme: it stays as a bound. */
static void count_out(tamis_aggregate *node, double value) {
    tally_add(&node->values, -value);
    tally_add(&node->squares, -value * value);
    node->count--;
    if (value == node->min) node->is_min_counted = false;
    if (value == node->max) node->is_max_counted = false;
}

/* A node never holds both: the old one is removed first, which makes room for the new one. */
static tamis_status replace(tamis_aggregate *node, uint64_t old, uint64_t fresh) {
    tamis_status rc = tamis_remove_hash(node->filter, old);
    if (rc) return rc;
    rc = tamis_add_hash(node->filter, fresh);
    if (rc) (void)tamis_add_hash(node->filter, old); /* its place is free */
    return rc;
}

static tamis_status are_finite(double value, const double *earlier, size_t n) {
    if (!isfinite(value)) return tamis__fail(TAMIS_INVALID, "the value %g is not finite", value);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(earlier[i]))
            return tamis__fail(TAMIS_INVALID, "the earlier value %g is not finite", earlier[i]);
    return TAMIS_OK;
}

/* The index of the latest earlier value that was counted; n for none. */
static size_t find_earlier(const tamis_aggregate *node, uint64_t source, const double *earlier,
                           size_t n) {
    size_t i = 0;
    while (i < n && !tamis_has_hash(node->filter, pair_hash(source, earlier[i]))) i++;
    return i;
}

static tamis_status take(tamis_aggregate *node, uint64_t source, double value,
                         const double *earlier, size_t n, enum tamis_aggregated *what) {
    const uint64_t fresh = pair_hash(source, value);
    *what = TAMIS_AGGREGATE_SKIPPED;
    if (tamis_has_hash(node->filter, fresh)) return node->skipped++, TAMIS_OK;
    const size_t i = node->count ? find_earlier(node, source, earlier, n) : n;
    *what = i < n ? TAMIS_AGGREGATE_REPLACED : TAMIS_AGGREGATE_COUNTED;
    const tamis_status rc = i < n ? replace(node, pair_hash(source, earlier[i]), fresh)
                                  : tamis_add_hash(node->filter, fresh);
    if (rc) return rc;
    if (i < n) count_out(node, earlier[i]);
    count_in(node, value);
    ++*(i < n ? &node->replaced : &node->counted);
    return TAMIS_OK;
}

tamis_status tamis_aggregate_take(tamis_aggregate *node, const void *source, size_t len,
                                  double value, const double *earlier, size_t earlier_count,
                                  enum tamis_aggregated *what) {
    enum tamis_aggregated done;
    tamis_status rc = are_finite(value, earlier, earlier_count);
    if (!rc)
        rc =
            take(node, tamis_hash(node->filter, source, len), value, earlier, earlier_count, &done);
    if (!rc && what) *what = done;
    return rc;
}

/* ---- Totals --------------------------------------------------------------------------------- */

/* Of all that came, count / (1 - fpr), at most a share `fpr` was skipped by false positives. */
static void estimate_losses(const tamis_aggregate *node, struct tamis_total *total) {
    const double count = (double)node->count, fpr = total->fpr;
    total->lost.value = fpr < 1 ? count * fpr / (1 - fpr) : INFINITY;
    total->lost.error = sqrt(total->lost.value);
    total->sum_lost = total->lost.value * total->mean;
    if (node->count == 0) return;
    const double spread = tally_value(&node->squares) / count - total->mean * total->mean;
    total->mean_error = sqrt(fmax(spread, 0) * total->lost.value) / (count + total->lost.value);
}

void tamis_aggregate_total(const tamis_aggregate *node, struct tamis_total *total) {
    struct tamis_total t = {.count = node->count,
                            .counted = node->counted,
                            .replaced = node->replaced,
                            .skipped = node->skipped,
                            .is_min_counted = node->is_min_counted,
                            .is_max_counted = node->is_max_counted};
    uint64_t payload;
    tamis_payload(node->filter, &payload);
    t.fpr = tamis_fpr_now(node->filter);
    t.bytes = payload + sizeof *node;
    if (node->count) {
        t.sum = tally_value(&node->values);
        t.mean = t.sum / (double)node->count;
        t.min = node->min;
        t.max = node->max;
    }
    estimate_losses(node, &t);
    tamis__fill_struct(total, &t, sizeof t, "total");
}
