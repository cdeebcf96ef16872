/* SPDX-License-Identifier: MIT */
/* For blocked and split: what both share besides their kernels.
 *
 * A filter of blocks is planned, folded and measured block by block; math/lanes.h has the
 * formulas. */
#ifndef TAMIS_KINDS_BLOCKWISE_H
#define TAMIS_KINDS_BLOCKWISE_H

#include "kinds/kind.h"
#include "math/lanes.h"

/* Refuses a plan for which tamis__lanes_blocks found no number of blocks. */
tamis_status tamis__lanes_refuse(const char *kind, double fpr);

/* tamis_reshape.move, to another number of blocks, the units of the kind: each gets the bits of all
 * blocks that share hashes with it. Shrinking to a divisor of the old number is exact; where
 * boundaries do not coincide, some keys go to two blocks, and to more when the number grows. */
tamis_status tamis__blocks_move(tamis_body *to, const tamis_body *from);

/* Measures a filter of blocks with lanes: the rate is the mean over blocks, not the rate of the
 * mean fill, because the full ones answer yes more often. */
void tamis__blocks_measure(const tamis_body *, const tamis_body *other, tamis_lanes,
                           tamis_measurement *);

#endif
