/* blocked: the AVX2 kernels. */
#include "kinds/blocked.h"

#ifdef __AVX2__
#include "kinds/blocked_lanes.h"
#include "kinds/blocks_avx2.h"

TAMIS_NUMBERS_4(one, tamis__range4, 6, test_1)
TAMIS_NUMBERS_4(two, tamis__range4, 6, test_2)

const tamis_block_ops tamis__blocked_avx2[2] = {TAMIS_OPS_4(one), TAMIS_OPS_4(two)};
#endif
