/* SPDX-License-Identifier: MIT */
/* blocked: the NEON kernels. */
#include "kinds/blocked.h"

#if TAMIS_HAS_NEON
#include "kinds/blocked_lanes.h"

const tamis_block_ops tamis__blocked_neon[2] = {TAMIS_OPS(one), TAMIS_OPS(two)};
#endif
