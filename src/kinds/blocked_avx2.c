/* blocked: the AVX2 kernels. */
#include "kinds/blocked.h"

#ifdef __AVX2__
#include "kinds/blocked_lanes.h"

const tamis_block_ops tamis__blocked_avx2[2] = {TAMIS_OPS(one), TAMIS_OPS(two)};
#endif
