/* Kinds that probe k of m cells anywhere may include this: classic, and those built on its array.
 *
 * Shape: how many cells and probes a wish needs, and what rate they make. Positions: the default
 * chain, one multiplication per probe. */
#ifndef TAMIS_KINDS_BLOOM_H
#define TAMIS_KINDS_BLOOM_H

#include "bits/probe.h"
#include "kinds/kind.h"

enum { TAMIS_BLOOM_MOST_HASHES = 64 };
#define TAMIS_BLOOM_MOST_BITS (TAMIS_MAX_PAYLOAD_BYTES * 8)

/* The expected rate: exact for small arrays, of second order for the rest. */
double tamis__bloom_rate(uint64_t keys, uint64_t bits, uint64_t hashes);

/* The fewest bits, in multiples of 64, that keep the rate; `hashes` is given, or 0 for the best.
 * False when it would be over TAMIS_BLOOM_MOST_BITS. */
bool tamis__bloom_plan(uint64_t keys, double fpr, uint64_t hashes, uint64_t *bits,
                       uint64_t *hashes_planned);

/* The best number of probes for a given number of bits, 1 to 64. */
uint64_t tamis__bloom_hashes(uint64_t keys, uint64_t bits);

/* The default chain: x starts at the hash, made odd, and every call gives the next position in
 * [0, cells). Accurate also for few cells and small rates, where double hashing is not. */
TAMIS_HOT uint64_t tamis__chain_start(uint64_t hash) {
    return hash | 1;
}

/* The next number of the chain itself, for those who take more than a position from it. */
TAMIS_HOT uint64_t tamis__chain_turn(uint64_t *x) {
    const uint64_t now = *x;
    *x *= 0xf1357aea2e62a9c5;
    return now;
}

TAMIS_HOT uint64_t tamis__chain_next(uint64_t *x, uint64_t cells) {
    return tamis__range(tamis__chain_turn(x), cells);
}

#endif
