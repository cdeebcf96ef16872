/* split: the AVX2 kernels. */
#include "kinds/split.h"

#ifdef __AVX2__
#include "kinds/split_lanes.h"

const tamis_block_ops tamis__split_avx2[RULES] = {TAMIS_OPS(parquet), TAMIS_OPS(wide)};
#endif
