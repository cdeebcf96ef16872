/* SPDX-License-Identifier: MIT */
/* XXH3 of integers, four at a time. */
#include "hash/integers.h"

#ifdef __AVX2__
#include "bits/xxh3_avx2.h"

enum { WIDTH = 4 };

size_t tamis__xxh3_u64s_avx2(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes) {
    const __m256i flips = _mm256_set1_epi64x((long long)flip);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const __m256i key = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        _mm256_storeu_si256((__m256i *)(void *)(hashes + i), tamis__xxh3_four(key, flips));
    }
    return i;
}
#endif
