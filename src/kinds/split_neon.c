/* SPDX-License-Identifier: MIT */
/* split: the NEON kernels. */
#include "kinds/split.h"

#if TAMIS_HAS_NEON
#include "kinds/split_lanes.h"

const tamis_block_ops tamis__split_neon[RULES] = {TAMIS_OPS(parquet), TAMIS_OPS(wide)};
#endif
