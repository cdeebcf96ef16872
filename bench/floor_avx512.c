/* SPDX-License-Identifier: MIT */
/* Eight keys at a time: without it, a good kernel would beat the floor in the cache. */
#include "bench/floor.h"

#ifdef __AVX512DQ__
#include <immintrin.h>

static void place(const uint64_t *keys, uint64_t lines, uint64_t factor, uint32_t *line) {
    const __m512i by = _mm512_set1_epi64((long long)factor);
    const __m512i scale = _mm512_set1_epi64((long long)lines);
    for (size_t i = 0; i < FLOOR_GROUP; i += 8) {
        const __m512i mixed = _mm512_mullo_epi64(_mm512_loadu_si512(keys + i), by);
        const __m512i at = _mm512_mul_epu32(_mm512_srli_epi64(mixed, 32), scale);
        _mm256_storeu_si256((__m256i *)(line + i),
                            _mm512_cvtepi64_epi32(_mm512_srli_epi64(at, 32)));
    }
}

floor_place *floor_place_avx512(void) {
    return __builtin_cpu_supports("avx512dq") ? place : NULL;
}
#else
floor_place *floor_place_avx512(void) {
    return NULL;
}
#endif
