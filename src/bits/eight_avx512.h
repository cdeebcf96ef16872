/* SPDX-License-Identifier: MIT */
/* For AVX-512 kernels of kinds and of the hash: probe.h and the hash for eight numbers at once.
 *
 * Shifts have one execution port, multiplications two; words are rotated by shuffles, for which the
 * other port is free. */
#ifndef TAMIS_BITS_EIGHT_AVX512_H
#define TAMIS_BITS_EIGHT_AVX512_H

#ifdef __AVX512BITALG__
#include <immintrin.h>

#include "bits/bits.h"

/* Keys are prefetched this many bytes ahead: the hardware prefetcher stops at every page and
 * whenever nothing is read for a while (1.7 ns per query instead of 2.0 at 10^5 keys, 6.5 instead
 * of 7.4 at 10^7). */
enum { TAMIS_KEYS_AHEAD = 2048 };

TAMIS_HOT __m512i tamis__next_eight(const uint64_t *keys) {
    _mm_prefetch((const char *)((uintptr_t)keys + TAMIS_KEYS_AHEAD), _MM_HINT_T0);
    return _mm512_loadu_si512(keys);
}

TAMIS_HOT __m512i tamis__all8(uint64_t x) {
    return _mm512_set1_epi64((long long)x);
}

/* tamis__range for n below 2^32: both halves of x times n, and the upper half of the sum. */
TAMIS_HOT __m512i tamis__range8(__m512i x, __m512i n) {
    const __m512i low = _mm512_maskz_shuffle_epi32(0x5555, _mm512_mul_epu32(x, n), _MM_PERM_DDBB);
    const __m512i high = _mm512_mul_epu32(_mm512_shuffle_epi32(x, _MM_PERM_DDBB), n);
    return _mm512_srli_epi64(_mm512_add_epi64(low, high), 32);
}

/* tamis__mix. */
TAMIS_HOT __m512i tamis__fold8(__m512i x) {
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
}

TAMIS_HOT __m512i tamis__mix8(__m512i x) {
    x = _mm512_mullo_epi64(tamis__fold8(x), tamis__all8(0xff51afd7ed558ccd));
    return tamis__fold8(_mm512_mullo_epi64(tamis__fold8(x), tamis__all8(0xc4ceb9fe1a85ec53)));
}

/* Each byte of the result starts at a bit of its own choice: a rotation to the right by any
 * number. */
TAMIS_HOT __m512i tamis__turn_right(__m512i x, unsigned by) {
    const __m512i steps = _mm512_set1_epi64(0x3830282018100800);
    const __m512i starts = _mm512_add_epi8(steps, _mm512_set1_epi8((char)by));
    return _mm512_multishift_epi64_epi8(_mm512_and_si512(starts, _mm512_set1_epi8(63)), x);
}

/* XXH3 of 8 bytes; `flip` as tamis__xxh3_flip makes it. */
TAMIS_HOT __m512i tamis__xxh3_eight(__m512i key, __m512i flip) {
    const __m512i prime = _mm512_set1_epi64((long long)0x9fb21c651e98df25);
    __m512i h = _mm512_xor_si512(_mm512_shuffle_epi32(key, _MM_PERM_CDAB), flip);
    h = _mm512_ternarylogic_epi64(h, tamis__turn_right(h, 15), tamis__turn_right(h, 40),
                                  0x96); /* xor of all */
    h = _mm512_mullo_epi64(h, prime);
    h = _mm512_xor_si512(h, _mm512_add_epi64(_mm512_srli_epi64(h, 35), _mm512_set1_epi64(8)));
    h = _mm512_mullo_epi64(h, prime);
    return _mm512_xor_si512(h, _mm512_srli_epi64(h, 28));
}

/* The exclusive or of both halves of a product with a factor of 52 bits. The product has three
 * digits in base 2^52; the middle one may have a carry. */
TAMIS_HOT __m512i tamis__fold_product8(__m512i x, uint64_t factor) {
    const __m512i by = tamis__all8(factor), zero = _mm512_setzero_si512();
    const __m512i top = _mm512_srli_epi64(x, 52);
    const __m512i first = _mm512_madd52lo_epu64(zero, x, by);
    const __m512i second = _mm512_madd52lo_epu64(_mm512_madd52hi_epu64(zero, x, by), top, by);
    const __m512i third = _mm512_madd52hi_epu64(zero, top, by);
    const __m512i upper =
        _mm512_add_epi64(_mm512_srli_epi64(second, 12), _mm512_slli_epi64(third, 40));
    return _mm512_ternarylogic_epi64(first, _mm512_slli_epi64(second, 52), upper, 0x96);
}

/* mix8 of 8 bytes; `flip` as tamis__mix8_flip makes it. */
TAMIS_HOT __m512i tamis__mix8_eight(__m512i key, __m512i flip) {
    return tamis__fold_product8(tamis__fold_product8(_mm512_xor_si512(key, flip), 0x85a308d313199),
                                0xa4093822299f3);
}

#endif
#endif
