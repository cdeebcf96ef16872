/* SPDX-License-Identifier: MIT */
/* For kinds that keep all bits of a key in one block, and their tests. */
#ifndef TAMIS_MATH_LANES_H
#define TAMIS_MATH_LANES_H

#include "tamis.h"

/* A block is `lanes` lanes of `lane_bits` bits, and a key sets `probes` bits in every lane. One
 * lane as wide as the block is the block of Putze, Sanders and Singler (2007). */
typedef struct tamis_lanes {
    unsigned lanes, lane_bits, probes;
} tamis_lanes;

/* A spec that needs more should use another kind. */
enum { TAMIS_LANES_MAX_BITS_PER_KEY = 400 };

/* Expected rate with `keys` keys spread over `blocks` blocks. */
double tamis__lanes_rate(tamis_lanes shape, double keys, double blocks);

/* The same as tamis__lanes_rate(...) > fpr, faster. */
bool tamis__lanes_exceed(tamis_lanes shape, double keys, double blocks, double fpr);

/* The rate of a block from its bits, with the floor due to keys with the same 32 bits. */
double tamis__lanes_with_floor(double rate, double keys_in_block);

/* The smallest number of blocks whose rate is at most fpr; 0 when `max` blocks are not enough, or
 * when it would be more than one block and over TAMIS_LANES_MAX_BITS_PER_KEY. */
uint64_t tamis__lanes_blocks(tamis_lanes shape, double keys, double fpr, uint64_t max);

/* Distinct keys, from the number of set bits; infinite when all are set. */
struct tamis_estimate tamis__lanes_items(tamis_lanes shape, double blocks, double bits_set);

#endif
