/* blocked: the AVX2 kernels. The same bits as blocked.c, eight lanes at a time. */
#include "kinds/blocked.h"

#ifdef __AVX2__
#include <immintrin.h>

/* Lanes 0-3 and 4-7 of the mask of x; `bits` in each lane. */
TAMIS_HOT void masks(uint32_t x, unsigned bits, __m256i *low, __m256i *high) {
    const __m256i salt = _mm256_loadu_si256((const __m256i *)tamis__salt);
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i t = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salt);
    const __m256i first = _mm256_srli_epi32(t, 26);
    *low = _mm256_sllv_epi64(one, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(first)));
    *high = _mm256_sllv_epi64(one, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(first, 1)));
    if (bits == 2) {
        const __m256i next = _mm256_and_si256(_mm256_srli_epi32(t, 20), _mm256_set1_epi32(63));
        const __m256i l = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(next));
        const __m256i h = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(next, 1));
        *low = _mm256_or_si256(*low, _mm256_sllv_epi64(one, l));
        *high = _mm256_or_si256(*high, _mm256_sllv_epi64(one, h));
    }
}

TAMIS_HOT bool test(const uint8_t *block, uint32_t x, unsigned bits) {
    __m256i low, high;
    masks(x, bits, &low, &high);
    const __m256i l = _mm256_loadu_si256((const __m256i *)block);
    const __m256i h = _mm256_loadu_si256((const __m256i *)(block + 32));
    return _mm256_testc_si256(l, low) & _mm256_testc_si256(h, high);
}

TAMIS_HOT void set(uint8_t *block, uint32_t x, unsigned bits) {
    __m256i low, high;
    masks(x, bits, &low, &high);
    __m256i *l = (__m256i *)block, *h = (__m256i *)(block + 32);
    _mm256_storeu_si256(l, _mm256_or_si256(_mm256_loadu_si256(l), low));
    _mm256_storeu_si256(h, _mm256_or_si256(_mm256_loadu_si256(h), high));
}

TAMIS_HOT bool test_1(const uint8_t *block, uint32_t x) {
    return test(block, x, 1);
}
TAMIS_HOT bool test_2(const uint8_t *block, uint32_t x) {
    return test(block, x, 2);
}
TAMIS_HOT void set_1(uint8_t *block, uint32_t x) {
    set(block, x, 1);
}
TAMIS_HOT void set_2(uint8_t *block, uint32_t x) {
    set(block, x, 2);
}

TAMIS_BLOCK_OPS(one, locate, test_1, set_1)
TAMIS_BLOCK_OPS(two, locate, test_2, set_2)

const tamis_block_ops tamis__blocked_avx2[2] = {{one_query, one_add}, {two_query, two_add}};
#endif
