/* SPDX-License-Identifier: MIT */
/* occupancy.h: only the files in cli/ include this. How bits lie in the blocks of an image.
 *
 * The one place outside the library that looks into a payload; docs/format.md says how it is
 * made. */
#ifndef TAMIS_CLI_MEASURE_OCCUPANCY_H
#define TAMIS_CLI_MEASURE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "tamis.h"

enum { MAX_BLOCK_BITS = 512 };

/* Kinds whose payload is bits, in blocks: those of blocked and split, and stretches of 512 bits of
 * classic and universal. */
struct blocks {
    const uint8_t *bytes;
    uint64_t count;
    unsigned bits;    /* of a block: 256 or 512 */
    unsigned lanes;   /* parts of a block that are filled alike; 0: a bit is anywhere */
    unsigned in_lane; /* bits that a key sets in each */
};

/* False for kinds of which this cannot be told. */
bool blocks_of(const tamis *filter, struct blocks *blocks);

/* How many bits of `n` bytes are set. */
uint64_t count_bits(const uint8_t *bytes, uint64_t n);

struct occupancy {
    uint64_t with[MAX_BLOCK_BITS + 1]; /* how many blocks have this many bits set */
    uint64_t at[MAX_BLOCK_BITS];       /* in how many blocks this bit is set ... */
    uint64_t looked_at;                /* ... of this many */
    double
        expected[MAX_BLOCK_BITS + 1]; /* shares of blocks, for as many keys as there seem to be */
    double mean, deviation;           /* of bits in a block, as they are ... */
    double mean_expected, deviation_expected; /* ... and by `expected` */
    double apart;  /* the share of blocks that is where none is expected: 0 to 1 */
    double chance; /* of being apart as much, when keys are spread at random */
    double bias;   /* the largest deviation of a position from the mean, relative to it */
    double bias_chance;
};

/* `keys` is how many there seem to be. */
void occupancy_of(const struct blocks *blocks, double keys, struct occupancy *occupancy);

#endif
