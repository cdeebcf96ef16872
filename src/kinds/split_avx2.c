/* SPDX-License-Identifier: MIT */
/* split: the AVX2 kernels. */
#include "kinds/split.h"

#ifdef __AVX2__
#include "kinds/blocks_avx2.h"
#include "kinds/split_lanes.h"

TAMIS_HOT __m256i places_parquet(__m256i hash, __m256i blocks) {
    return _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hash, 32), blocks), 32);
}

TAMIS_NUMBERS_4(parquet, places_parquet, 5, test)
TAMIS_NUMBERS_4(wide, tamis__range4, 5, test)

const tamis_block_ops tamis__split_avx2[RULES] = {TAMIS_ALL_OPS(parquet), TAMIS_ALL_OPS(wide)};
#endif
