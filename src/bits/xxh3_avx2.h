/* SPDX-License-Identifier: MIT */
/* For integers_avx2.c, and kernels that hash and probe in one loop: XXH3 of four integers. */
#ifndef TAMIS_BITS_XXH3_AVX2_H
#define TAMIS_BITS_XXH3_AVX2_H

#ifdef __AVX2__
#include <immintrin.h>

#include "bits/bits.h"

/* The lower 64 bits of products, which AVX2 has only in halves. */
TAMIS_HOT __m256i tamis__multiply4(__m256i x, uint64_t by) {
    const __m256i low = _mm256_set1_epi64x((long long)(by & 0xffffffff));
    const __m256i high = _mm256_set1_epi64x((long long)(by >> 32));
    const __m256i upper = _mm256_shuffle_epi32(x, _MM_SHUFFLE(3, 3, 1, 1));
    const __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(upper, low), _mm256_mul_epu32(x, high));
    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(cross, 32));
}

/* Rotations to the left by 24 bits are rotations by 3 bytes. */
TAMIS_HOT __m256i tamis__turn24(__m256i x) {
    const __m128i by3 = _mm_set_epi8(12, 11, 10, 9, 8, 15, 14, 13, 4, 3, 2, 1, 0, 7, 6, 5);
    return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(by3));
}

/* XXH3 of 8 bytes; `flip` as tamis__xxh3_flip makes it. */
TAMIS_HOT __m256i tamis__xxh3_start4(__m256i key, __m256i flip) {
    const __m256i h = _mm256_xor_si256(_mm256_shuffle_epi32(key, _MM_SHUFFLE(2, 3, 0, 1)), flip);
    const __m256i turn49 = _mm256_or_si256(_mm256_slli_epi64(h, 49), _mm256_srli_epi64(h, 15));
    return _mm256_xor_si256(h, _mm256_xor_si256(turn49, tamis__turn24(h)));
}

TAMIS_HOT __m256i tamis__xxh3_end4(__m256i h) {
    return _mm256_xor_si256(h, _mm256_srli_epi64(h, 28));
}

TAMIS_HOT __m256i tamis__xxh3_four(__m256i key, __m256i flip) {
    const uint64_t prime = 0x9fb21c651e98df25;
    __m256i h = tamis__multiply4(tamis__xxh3_start4(key, flip), prime);
    h = _mm256_xor_si256(h, _mm256_add_epi64(_mm256_srli_epi64(h, 35), _mm256_set1_epi64x(8)));
    return tamis__xxh3_end4(tamis__multiply4(h, prime));
}

/* The middle part, for one integer. Its two 64-bit products are one instruction each on the scalar
 * unit; on the vector unit they take seven for four integers. */
TAMIS_HOT uint64_t tamis__xxh3_middle(uint64_t h) {
    const uint64_t prime = 0x9fb21c651e98df25;
    h *= prime;
    h ^= (h >> 35) + 8;
    __asm__("" : "+r"(h)); /* or compilers vectorise a loop of it */
    return h * prime;
}

#endif
#endif
