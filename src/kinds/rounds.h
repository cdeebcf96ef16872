/* SPDX-License-Identifier: MIT */
/* For kinds that probe k of m cells anywhere; it holds only inline functions.
 *
 * A non-member fails after two probes on average and a member needs all of them, unpredictably:
 * querying key by key costs a branch misprediction for almost every non-member, and one cache miss
 * after the other for every member. So a batch is queried in rounds. Each tests one more probe of
 * every remaining key, closes the ranks without a branch, and prefetches the cells of the next
 * round, which arrive while the rest of this one is tested.
 *
 *     round 0   a b c d e f g h        prefetch the first cell of each
 *     round 1   a b c d e f g h        test it; b, d, e and h stay: prefetch their second cell
 *     round 2   b d e h                test it; d and e stay
 *     ...                              keys left after k rounds are hits
 *
 * In payloads that stay in the second-level cache a round is two probes without prefetches: keeping
 * the ranks costs more there than a wasted probe. Measured against key by key with BMI2, 7 probes:
 * 10^5 keys 14.2 -> 3.4 ns for non-members and 8.8 -> 8.6 for members; 10^7 keys 39 -> 16 and 68 ->
 * 42. */
#ifndef TAMIS_KINDS_ROUNDS_H
#define TAMIS_KINDS_ROUNDS_H

#include "cpu/cpu.h"
#include "kinds/bloom.h"

/* What is probed, by the default chain of bloom.h. */
typedef struct tamis_probed {
    uint8_t *bytes;
    uint64_t cells, hashes;
    unsigned width; /* bits of a cell */
    bool is_far;    /* worth a prefetch */
    uint64_t extra; /* the kind's own */
} tamis_probed;

/* Does the cell accept the key? `x` is the number of the chain that led there. Queries see only
 * cells below `cells`. Constants wherever the loops are inlined. */
typedef bool tamis_passes(const tamis_probed *, uint64_t x, uint64_t cell);
typedef void tamis_change(const tamis_probed *, uint64_t x, uint64_t cell);

TAMIS_HOT uint8_t *tamis__probed_at(const tamis_probed *p, uint64_t cell) {
    return p->bytes + (cell * p->width >> 3);
}

TAMIS_HOT tamis_probed tamis__bits_probed(const tamis_body *f) {
    return (tamis_probed){.bytes = f->bytes,
                          .cells = f->word[TAMIS_BLOOM_BITS],
                          .hashes = f->word[TAMIS_BLOOM_HASHES],
                          .width = 1,
                          .is_far = f->word[TAMIS_BLOOM_BITS] / 8 > tamis__near_bytes()};
}

TAMIS_HOT bool tamis__bit_passes(const tamis_probed *p, uint64_t x, uint64_t cell) {
    (void)x;
    return tamis__bit_get(p->bytes, cell);
}

/* ---- Querying ------------------------------------------------------------------------------- */

TAMIS_HOT bool tamis__probe(tamis_passes *passes, const tamis_probed *p, uint64_t *x) {
    const uint64_t now = tamis__chain_turn(x);
    return passes(p, now, tamis__range(now, p->cells));
}

/* One key beyond the cache, to its first failure: lines that are not needed cost more there than a
 * misprediction. */
TAMIS_HOT bool tamis__probed_has_far(tamis_passes *passes, const tamis_probed *p, uint64_t hash) {
    uint64_t x = tamis__chain_start(hash), i = 0;
    while (i < p->hashes && tamis__probe(passes, p, &x)) i++;
    return i == p->hashes;
}

/* One key in cache: the usual numbers of probes without a branch on their bits. Measured with 7
 * probes, for non-members, both in turn, and members: 10^5 keys 17.4, 14.1, 8.4 -> 7.0 ns each;
 * 3*10^6 keys in the third cache 22.9, 18.5, 11.5 -> 10.0. */
enum { TAMIS_PROBES_AT_ONCE = 16 };

TAMIS_HOT bool tamis__probed_has_near(tamis_passes *passes, const tamis_probed *p, uint64_t hash) {
    uint64_t x = tamis__chain_start(hash), i = 0;
    bool ok = true;
    while (i < p->hashes && ok) {
        const uint64_t left = p->hashes - i;
        const uint64_t end = left < TAMIS_PROBES_AT_ONCE ? p->hashes : i + TAMIS_PROBES_AT_ONCE;
        for (; i < end; i++) ok &= tamis__probe(passes, p, &x);
    }
    return ok;
}

TAMIS_HOT bool tamis__probed_has(tamis_passes *passes, const tamis_probed *p, uint64_t hash) {
    return p->is_far ? tamis__probed_has_far(passes, p, hash)
                     : tamis__probed_has_near(passes, p, hash);
}

enum {
    TAMIS_RANKS = 256
}; /* half as many took up to 15 % longer, twice as many 20 % at 10^8 keys */

/* The remaining keys: the state of their chain, the next cell, and their index. */
typedef struct tamis_ranks {
    uint64_t x[TAMIS_RANKS], cell[TAMIS_RANKS];
    uint16_t who[TAMIS_RANKS];
} tamis_ranks;

/* The first round takes the keys in order. */
TAMIS_HOT size_t tamis__round_near(tamis_passes *passes, const tamis_probed *p,
                                   const uint64_t *first, bool is_double, tamis_ranks *r,
                                   size_t n) {
    size_t stay = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t x = first ? tamis__chain_start(first[j]) : r->x[j];
        bool ok = tamis__probe(passes, p, &x);
        if (is_double) ok &= tamis__probe(passes, p, &x);
        r->x[stay] = x;
        r->who[stay] = first ? (uint16_t)j : r->who[j];
        stay += ok;
    }
    return stay;
}

TAMIS_HOT size_t tamis__rounds_near(tamis_passes *passes, const tamis_probed *p,
                                    const uint64_t *hash, size_t n, tamis_ranks *r) {
    if (p->hashes == 1) return tamis__round_near(passes, p, hash, false, r, n);
    n = tamis__round_near(passes, p, hash, true, r, n);
    uint64_t i = 2;
    for (; i + 2 <= p->hashes && n; i += 2) n = tamis__round_near(passes, p, NULL, true, r, n);
    return i < p->hashes ? tamis__round_near(passes, p, NULL, false, r, n) : n;
}

/* Without a branch. For bits compilers use a conditional move; for wider cells they would branch,
 * and non-members took a third longer. */
TAMIS_HOT uint64_t tamis__either(const tamis_probed *p, bool ok, uint64_t yes, uint64_t no) {
    if (p->width == 1) return ok ? yes : no;
    return no + ((yes - no) & (0 - (uint64_t)ok));
}

/* A key that leaves prefetches its last cell again: it is in cache, so that costs nothing. */
TAMIS_HOT size_t tamis__round_far(tamis_passes *passes, const tamis_probed *p, tamis_ranks *r,
                                  size_t n) {
    size_t stay = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t x = r->x[j];
        const uint64_t cell = r->cell[j];
        const bool ok = passes(p, tamis__chain_turn(&x), cell);
        const uint64_t next = tamis__range(x, p->cells);
        __builtin_prefetch(tamis__probed_at(p, tamis__either(p, ok, next, cell)), 0, 2);
        r->x[stay] = x;
        r->cell[stay] = next;
        r->who[stay] = r->who[j];
        stay += ok;
    }
    return stay;
}

TAMIS_HOT size_t tamis__rounds_far(tamis_passes *passes, const tamis_probed *p,
                                   const uint64_t *hash, size_t n, tamis_ranks *r) {
    for (size_t j = 0; j < n; j++) {
        r->x[j] = tamis__chain_start(hash[j]);
        r->cell[j] = tamis__range(r->x[j], p->cells);
        r->who[j] = (uint16_t)j;
        __builtin_prefetch(tamis__probed_at(p, r->cell[j]), 0, 2);
    }
    for (uint64_t i = 1; i < p->hashes && n; i++) n = tamis__round_far(passes, p, r, n);
    size_t stay = 0;
    for (size_t j = 0; j < n; j++) {
        r->who[stay] = r->who[j];
        stay += passes(p, r->x[j], r->cell[j]);
    }
    return stay;
}

TAMIS_HOT void tamis__probed_query(tamis_passes *passes, const tamis_probed *p,
                                   const uint64_t *hash, size_t n, uint8_t *hit) {
    tamis_ranks ranks;
    while (n > 1) {
        const size_t group = n < TAMIS_RANKS ? n : TAMIS_RANKS;
        const size_t left = p->is_far ? tamis__rounds_far(passes, p, hash, group, &ranks)
                                      : tamis__rounds_near(passes, p, hash, group, &ranks);
        memset(hit, 0, group);
        for (size_t j = 0; j < left; j++) hit[ranks.who[j]] = 1;
        hash += group, hit += group, n -= group;
    }
    if (n) *hit = tamis__probed_has(passes, p, *hash);
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* Beyond the cache, all cells of a few keys are prefetched before the first is changed. */
enum { TAMIS_SPOTS = 256 }; /* cells in flight at once: at least those of four keys */

/* The cells of as many keys as there is room for, prefetched one by one. */
TAMIS_HOT size_t tamis__spread(const tamis_probed *p, const uint64_t *hash, size_t n, uint64_t *x,
                               uint64_t *cell) {
    size_t spots = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t turn = tamis__chain_start(hash[j]);
        for (uint64_t i = 0; i < p->hashes; i++, spots++) {
            x[spots] = tamis__chain_turn(&turn);
            cell[spots] = tamis__range(x[spots], p->cells);
            __builtin_prefetch(tamis__probed_at(p, cell[spots]), 1);
        }
    }
    return spots;
}

TAMIS_HOT void tamis__add_far(tamis_change *change, const tamis_probed *p, const uint64_t *hash,
                              size_t n) {
    uint64_t x[TAMIS_SPOTS], cell[TAMIS_SPOTS];
    const size_t max = TAMIS_SPOTS / p->hashes;
    while (n) {
        const size_t group = n < max ? n : max;
        const size_t spots = tamis__spread(p, hash, group, x, cell);
        for (size_t i = 0; i < spots; i++) change(p, x[i], cell[i]);
        hash += group, n -= group;
    }
}

TAMIS_HOT void tamis__add_near(tamis_change *change, const tamis_probed *p, const uint64_t *hash,
                               size_t n) {
    for (size_t j = 0; j < n; j++) {
        uint64_t turn = tamis__chain_start(hash[j]);
        for (uint64_t i = 0; i < p->hashes; i++) {
            const uint64_t x = tamis__chain_turn(&turn);
            change(p, x, tamis__range(x, p->cells));
        }
    }
}

TAMIS_HOT void tamis__probed_add(tamis_change *change, const tamis_probed *p, const uint64_t *hash,
                                 size_t n) {
    if (p->is_far)
        tamis__add_far(change, p, hash, n);
    else
        tamis__add_near(change, p, hash, n);
}

#endif
