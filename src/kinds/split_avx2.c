/* split: the AVX2 kernels. One block is one vector. */
#include "kinds/split.h"

#ifdef __AVX2__
#include <immintrin.h>

TAMIS_HOT __m256i mask_of(uint32_t x) {
    const __m256i salt = _mm256_loadu_si256((const __m256i *)tamis__salt);
    const __m256i t = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salt);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(t, 27));
}

TAMIS_HOT bool test(const uint8_t *block, uint32_t x) {
    return _mm256_testc_si256(_mm256_loadu_si256((const __m256i *)block), mask_of(x));
}

TAMIS_HOT void set(uint8_t *block, uint32_t x) {
    __m256i *p = (__m256i *)block;
    _mm256_storeu_si256(p, _mm256_or_si256(_mm256_loadu_si256(p), mask_of(x)));
}

TAMIS_BLOCK_OPS(parquet, locate_parquet, test, set)
TAMIS_BLOCK_OPS(wide, locate_wide, test, set)

const tamis_block_ops tamis__split_avx2[RULES] = {{parquet_query, parquet_add},
                                                  {wide_query, wide_add}};
#endif
