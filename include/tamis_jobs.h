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

/* ==== Approximate reconciliation: filters instead of lists ====================================
 *
 * Which of our keys does somebody else probably lack? The plain way is a filter of their keys, and a
 * question for each of ours: it misses a lacking key as often as the filter says a wrong yes, and
 * takes as many questions as we have keys. A tree takes few when few differ (Byers et al. 2004): both
 * sides see their hashes as the leaves of one binary tree, in which a node's value is made of all
 * hashes below it. They send a filter of their values; we go down from the root, and leave out every
 * subtree whose value they have, because then all below it is theirs too.
 *
 * A wrong yes prunes a subtree that differs. `correction` asks for more: only after correction + 1
 * nodes in a row, each with its value there, is a subtree left out. With f the rate of the filter, a
 * key whose leaf is L nodes below the root is found with the chance that no correction + 1 of L coins
 * in a row are wrong, times 1 - f. What is listed is really lacking, unless 64-bit values collide. */

/* The filter of a tree: of `n` hashes, ascending and different, as tamis_hash gives them. It takes
 * bits_per_key (1 to 256) bits for each; a tree has nearly two nodes for each key. `seed` makes
 * another filter, so that what was missed once may be found the second time. On failure *filter is
 * NULL. Threads: any. */
TAMIS_API tamis_status tamis_tree_summary(tamis **filter, const uint64_t *hashes, size_t n,
                                          double bits_per_key, uint64_t seed,
                                          const struct tamis_options *options);

/* What a walk took and found. */
struct tamis_tree_walk {
    uint64_t asked;   /* nodes, of which the filter was asked */
    uint64_t lacking; /* hashes that were listed */
};

/* Gets a hash of ours that the other side probably lacks; false ends the walk with TAMIS_CANCELLED. */
typedef bool tamis_lacks(void *ctx, uint64_t hash);

/* Lists which of our `n` hashes, ascending and different, are not among those that the filter was
 * made of; correction is from 0 to 16. `walk` may be NULL, and so may options.
 * Threads: as tamis_has for the filter. */
TAMIS_API tamis_status tamis_tree_missing(const tamis *filter, const uint64_t *hashes, size_t n,
                                          unsigned correction, tamis_lacks *take, void *ctx,
                                          struct tamis_tree_walk *walk,
                                          const struct tamis_options *options);

/* ==== Features: vectors of any words in a fixed number of places ==============================
 *
 * Feature hashing, for learning from texts without a dictionary: each key chooses one of `places` by
 * its hash, and its weight is added there, with a sign by another bit of the hash when is_signed is
 * set. Keys that meet in a place then cancel out on average:
 *
 *     E <x', y'> = <x, y>,    variance at most (<x, y>^2 + |x|^2 |y|^2) / places
 *
 * for the products of vectors x and y that had a place for every key (Weinberger et al. 2009).
 * Without signs a product is too large by about sum(x) sum(y) / places. Vectors of one shape, seed
 * and signs add up. */

struct tamis_features {
    uint64_t places; /* from 1 to 2^32 */
    uint64_t seed;   /* another hash function; XXH3, as filters with this seed hash */
    bool is_signed;
};

/* Where a key belongs, and 1 or -1 through `sign`, which may be NULL. A shape without places has
 * none: 0. Threads: any. */
TAMIS_API uint64_t tamis_features_place(const struct tamis_features *shape, const void *key,
                                        size_t len, int *sign);

/* Adds `weight` for a key to the vector, which has `places` numbers. Threads: one for each vector. */
TAMIS_API void tamis_features_add(const struct tamis_features *shape, float *vector, const void *key,
                                  size_t len, double weight);

/* Adds `n` keys; a weight for each, or 1 where weights is NULL. Threads: as tamis_features_add. */
TAMIS_API void tamis_features_add_many(const struct tamis_features *shape, float *vector,
                                       const struct tamis_key *keys, const double *weights,
                                       size_t n);

/* The same with whole numbers, which stop at the ends of their range.
 * Threads: as tamis_features_add. */
TAMIS_API void tamis_features_count(const struct tamis_features *shape, int32_t *vector,
                                    const void *key, size_t len, int32_t times);

/* ==== Summary Cache: who of the neighbours may have it? ======================================= */

/* ==== Admission: what is asked for a second time ============================================== */

/* ==== Aggregation: a sum over a network in which nobody counts twice ========================== */

#ifdef __cplusplus
}
#endif

#endif
