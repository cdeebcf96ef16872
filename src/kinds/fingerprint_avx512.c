/* SPDX-License-Identifier: MIT */
/* fingerprint: the AVX-512 kernel counts the bits of eight words at a time. */
#include "kinds/fingerprint.h"

#ifdef __AVX512BITALG__
#include <immintrin.h>

TAMIS_HOT __m512i count(const uint8_t *row, const uint8_t *print) {
    return _mm512_popcnt_epi64(
        _mm512_and_si512(_mm512_loadu_si512(row), _mm512_loadu_si512(print)));
}

/* The words after the last eight, which may end at the end of memory. */
TAMIS_HOT __m512i count_some(const uint8_t *row, const uint8_t *print, __mmask8 words) {
    return _mm512_popcnt_epi64(_mm512_and_si512(_mm512_maskz_loadu_epi64(words, row),
                                                _mm512_maskz_loadu_epi64(words, print)));
}

void tamis__fingerprint_common_avx512(const uint8_t *rows, size_t n, uint64_t stride,
                                      const uint8_t *print, uint32_t *common) {
    const uint64_t whole = stride / 64 * 64;
    const __mmask8 rest = (__mmask8)((1u << (stride - whole) / 8) - 1);
    for (size_t i = 0; i < n; i++, rows += stride) {
        __m512i sum = _mm512_setzero_si512();
        for (uint64_t at = 0; at < whole; at += 64)
            sum = _mm512_add_epi64(sum, count(rows + at, print + at));
        if (rest) sum = _mm512_add_epi64(sum, count_some(rows + whole, print + whole, rest));
        common[i] = (uint32_t)_mm512_reduce_add_epi64(sum);
    }
}
#endif
