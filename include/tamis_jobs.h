/* tamis_jobs.h: jobs that take more than one filter, or a filter and a conversation.
 *
 * tamis.h is about one set. Here are protocols and small machines on top of it: two hosts that find
 * out what differs between their sets, caches that tell each other what they hold, a cache that
 * admits what is asked for twice, nodes that add up a value without counting anybody twice. Each is
 * a handle of its own, works on bytes and keys that it is given, and never opens a file, a socket or
 * a thread: who calls it does.
 *
 * Statuses, tamis_why, allocators and options are those of tamis.h. Whoever makes a handle frees it;
 * a call that fails changes nothing. */
#ifndef TAMIS_JOBS_H
#define TAMIS_JOBS_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Difference streams: symbols without end, of which a few more than differ are enough ===== */

/* ==== Reconciling: a conversation at whose end both know what they lack ======================= */

/* ==== Approximate reconciliation: filters instead of lists ==================================== */

/* ==== Features: vectors of any words in a fixed number of places ============================== */

/* ==== Summary Cache: who of the neighbours may have it? ======================================= */

/* ==== Admission: what is asked for a second time ============================================== */

/* ==== Aggregation: a sum over a network in which nobody counts twice ==========================
 *
 * Nodes of a network want to know the sum, the mean or the extremes of values that all of them have,
 * and that change, without a centre (DIAS: Pournaras, Warnier and Brazier 2013). Sources tell their
 * value to whomever they meet, again and again. A node remembers in a filter which value of which
 * source it has counted: what it has it skips, what is new it counts, and where it has an earlier
 * value of that source it puts the new one in its place. It takes a few bytes for each source.
 *
 *     tamis_aggregate *node;
 *     rc = tamis_aggregate_create(&node, 10000);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 21.5, NULL, 0, NULL);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 22.0, (double[]){21.5}, 1, NULL);
 *     tamis_aggregate_total(node, &total, sizeof total);         count 1, sum 22
 */
typedef struct tamis_aggregate tamis_aggregate;

/* Makes a node for so many sources, which it remembers in a quotient filter with a rate of 1e-5; or
 * in one of this spec, of a kind that can add and remove and never forgets by itself, such as
 * "counting:capacity=10K,fpr=1e-4" or "cuckoo:capacity=10K,fpr=1e-6". `options` may be NULL. On
 * failure *node is NULL. Threads: any. */
TAMIS_API tamis_status tamis_aggregate_create(tamis_aggregate **node, uint64_t sources);
TAMIS_API tamis_status tamis_aggregate_create_with(tamis_aggregate **node, const char *spec,
                                                   const struct tamis_options *options);

/* Frees a node; NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_aggregate_free(tamis_aggregate *node);

enum tamis_aggregated {
    TAMIS_AGGREGATE_COUNTED,  /* for the first time */
    TAMIS_AGGREGATE_REPLACED, /* an earlier value of the same source was counted, and is no longer */
    TAMIS_AGGREGATE_SKIPPED   /* it was counted already; or, seldom, it seems so */
};

/* Takes the value of a source, a finite number. `earlier` are values that the source had before, the
 * latest first, as far back as this node may have met it: the first of them that was counted here is
 * replaced. Without them a source that changed would be counted twice. What happened goes to `what`
 * unless that is NULL. TAMIS_FULL, and nothing changed, when the filter has no room for one more.
 *
 * By accident a value seems to be counted, and is skipped, as often as the filter says yes wrongly;
 * an earlier value seems so as often, and then that is taken off which never was there.
 * Threads: one. */
TAMIS_API tamis_status tamis_aggregate_take(tamis_aggregate *node, const void *source, size_t len,
                                            double value, const double *earlier,
                                            size_t earlier_count, enum tamis_aggregated *what);

/* What a node knows. */
struct tamis_total {
    uint64_t count;      /* sources that are counted */
    double sum, mean;    /* of their values; the mean of none is 0 */
    double min, max;     /* none is smaller, none is larger; 0 without sources */
    bool is_min_counted; /* whether a source surely has it: one that had it may have changed since */
    bool is_max_counted;
    uint64_t counted, replaced, skipped; /* calls */
    double fpr;                          /* of the filter, now */

    /* Sources that were met and are missing, because their value was skipped by accident. At most
     * so many are expected: the rate was lower when they came. */
    struct tamis_estimate lost;
    double sum_lost;   /* that the sum is short of for these, if they are like the others */
    double mean_error; /* standard error of the mean for these */
    uint64_t bytes;    /* of the node, with its filter */
};

/* Tells it; reads the whole filter. `total_size` is sizeof *total. Threads: one. */
TAMIS_API void tamis_aggregate_total(const tamis_aggregate *node, struct tamis_total *total,
                                     size_t total_size);

#ifdef __cplusplus
}
#endif

#endif
