/* SPDX-License-Identifier: MIT */
/* Approximate reconciliation trees (Byers, Considine, Mitzenmacher and Rost 2004).
 *
 * The tree is the trie of the hashes without nodes of one child: a node is a range of the sorted
 * hashes that share their first bits, and splits at the first bit in which they differ. Hashes are
 * random, so it is about log2(n) deep, and it is the same on both sides wherever the keys are.
 *
 *     0010 ──┬── 0 ─────────┐
 *     0111 ──┘              │
 *     1000 ──┬── 10 ──┬─ 1 ─┴── root
 *     1011 ──┘        │
 *     1100 ───────────┘
 *
 * The value of a node is the xor of its hashes, mixed; with prefix sums it takes two loads. */
#include <stdio.h>

#include "base/status.h"
#include "bits/probe.h"
#include "core/memory.h"
#include "tamis_engine.h"
#include "tamis_jobs.h"

enum { MIN_BITS = 1, MAX_BITS = 256, MAX_CORRECTION = 16 };

typedef struct tree {
    const uint64_t *hash;
    const uint64_t *sum; /* sum[i]: the mixed hashes before i, xored */
    uint64_t salt;
} tree;

/* ---- Nodes ---------------------------------------------------------------------------------- */

static uint64_t value_of(const tree *t, size_t from, size_t to) {
    return tamis__mix((t->sum[to] ^ t->sum[from]) + t->salt);
}

/* The index of the right child, for at least two hashes: the first hash with the bit in which the
 * first and the last differ. */
static size_t split_of(const tree *t, size_t from, size_t to) {
    uint64_t bit = t->hash[from] ^ t->hash[to - 1];
    for (unsigned shift = 1; shift < 64; shift *= 2) bit |= bit >> shift;
    bit -= bit >> 1;
    const uint64_t border = t->hash[to - 1] & (0 - bit);
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (t->hash[middle] < border)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Checks the hashes and computes the sums; the caller frees *block. */
static tamis_status grow(tree *t, const uint64_t *hashes, size_t n, uint64_t seed,
                         const struct tamis_allocator *allocator, tamis_block *block) {
    uint64_t *sum = tamis__get(allocator, ((uint64_t)n + 1) * sizeof *sum, block);
    if (!sum) return TAMIS_NOMEM;
    sum[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && hashes[i] <= hashes[i - 1]) {
            tamis__block_free(allocator, block);
            return tamis__fail(TAMIS_INVALID,
                               "hash %zu of %zu is not larger than the one before it", i + 1, n);
        }
        sum[i + 1] = sum[i] ^ tamis__mix(hashes[i] + 1);
    }
    *t = (tree){hashes, sum, tamis__mix(seed)};
    return TAMIS_OK;
}

/* ---- The filter ----------------------------------------------------------------------------- */

/* Recursion is at most as deep as a hash has bits. */
static tamis_status add_nodes(tamis *f, const tree *t, size_t from, size_t to) {
    tamis_status rc = tamis_add_hash(f, value_of(t, from, to));
    if (rc || to - from == 1) return rc;
    const size_t split = split_of(t, from, to);
    rc = add_nodes(f, t, from, split);
    return rc ? rc : add_nodes(f, t, split, to);
}

tamis_status tamis_tree_summary(tamis **filter, const uint64_t *hashes, size_t n,
                                double bits_per_key, uint64_t seed,
                                const struct tamis_options *options) {
    struct tamis_options o;
    tamis_block block;
    tree t;
    char spec[128];
    *filter = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    if (!(bits_per_key >= MIN_BITS && bits_per_key <= MAX_BITS))
        return tamis__fail(TAMIS_INVALID, "bits_per_key is %g, and must be from %d to %d",
                           bits_per_key, MIN_BITS, MAX_BITS);
    if (n > UINT32_MAX)
        return tamis__fail(TAMIS_INVALID, "a tree has at most 2^32-1 hashes, not %zu", n);
    const struct tamis_allocator allocator = tamis__allocator(&o);
    const unsigned long long bits = (unsigned long long)(bits_per_key * (double)n) + 64;
    snprintf(spec, sizeof spec, "classic:capacity=%llu,bits=%llu,seed=%llu",
             2 * (unsigned long long)n, bits, (unsigned long long)seed);
    rc = grow(&t, hashes, n, seed, &allocator, &block);
    if (rc) return rc;
    rc = tamis_create_with(filter, spec, options);
    if (!rc && n) rc = add_nodes(*filter, &t, 0, n);
    tamis__block_free(&allocator, &block);
    if (!rc) return TAMIS_OK;
    tamis_free(*filter);
    *filter = NULL;
    return rc;
}

/* ---- The walk ------------------------------------------------------------------------------- */

typedef struct walking {
    const tamis *filter;
    tree tree;
    unsigned correction;
    tamis_missing_fn *take;
    void *ctx;
    struct tamis_tree_walk walk;
} walking;

/* The `hits` nodes right above this one were found. */
static tamis_status go_down(walking *w, size_t from, size_t to, unsigned hits) {
    const uint64_t value = value_of(&w->tree, from, to);
    w->walk.asked++;
    hits = tamis_has_hash(w->filter, value) ? hits + 1 : 0;
    if (hits > w->correction) return TAMIS_OK;
    if (to - from > 1) {
        const size_t split = split_of(&w->tree, from, to);
        const tamis_status rc = go_down(w, from, split, hits);
        return rc ? rc : go_down(w, split, to, hits);
    }
    if (hits) return TAMIS_OK;
    w->walk.lacking++;
    if (w->take(w->ctx, w->tree.hash[from])) return TAMIS_OK;
    return tamis__fail(TAMIS_CANCELLED, "the walk was ended after %llu hashes",
                       (unsigned long long)w->walk.lacking);
}

tamis_status tamis_tree_missing(const tamis *filter, const uint64_t *hashes, size_t n,
                                unsigned correction, tamis_missing_fn *take, void *ctx,
                                struct tamis_tree_walk *walk, const struct tamis_options *options) {
    struct tamis_options o;
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_block block;
    walking w = {.filter = filter, .correction = correction, .take = take, .ctx = ctx};
    tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    if (correction > MAX_CORRECTION)
        return tamis__fail(TAMIS_INVALID, "correction is %u, and must be from 0 to %d", correction,
                           MAX_CORRECTION);
    const struct tamis_allocator allocator = tamis__allocator(&o);
    tamis_measure(filter, &info);
    rc = grow(&w.tree, hashes, n, info.seed, &allocator, &block);
    if (rc) return rc;
    if (n) rc = go_down(&w, 0, n, 0);
    tamis__block_free(&allocator, &block);
    if (walk) *walk = w.walk;
    return rc;
}
