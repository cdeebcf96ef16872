/* SPDX-License-Identifier: MIT */
/* Eight integers at a time: the hashes for keys of exactly 8 bytes, from their
 * specifications. tests/unit/test_hash.c compares each with the one-by-one hash. */
#include "hash/integers.h"

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"
#include "hash/sip_eight_avx512.h"

enum { WIDTH = 8 };

#define ALL(x) _mm512_set1_epi64((long long)(x))

/* ---- XXH3 ----------------------------------------------------------------------------------- */

size_t tamis__xxh3_u64s_avx512(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes) {
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        _mm512_storeu_si512(hashes + i, tamis__xxh3_eight(tamis__next_eight(keys + i), ALL(flip)));
    return i;
}

/* ---- mix8 ----------------------------------------------------------------------------------- */

size_t tamis__mix8_u64s_avx512(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes) {
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        _mm512_storeu_si512(hashes + i, tamis__mix8_eight(tamis__next_eight(keys + i), ALL(flip)));
    return i;
}

/* ---- XXH64 of 8 bytes ----------------------------------------------------------------------- */

#define PRIME_1 0x9e3779b185ebca87
#define PRIME_2 0xc2b2ae3d27d4eb4f
#define PRIME_3 0x165667b19e3779f9
#define PRIME_4 0x85ebca77c2b2ae63
#define PRIME_5 0x27d4eb2f165667c5

TAMIS_HOT __m512i xxh64(__m512i key, __m512i start) {
    const __m512i word = _mm512_mullo_epi64(
        tamis__turn_right(_mm512_mullo_epi64(key, ALL(PRIME_2)), 33), ALL(PRIME_1));
    __m512i h = tamis__turn_right(_mm512_xor_si512(start, word), 37);
    h = _mm512_add_epi64(_mm512_mullo_epi64(h, ALL(PRIME_1)), ALL(PRIME_4));
    h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 33)), ALL(PRIME_2));
    h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 29)), ALL(PRIME_3));
    return _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
}

size_t tamis__xxh64_u64s_avx512(uint64_t seed, const uint64_t *keys, size_t n, uint64_t *hashes) {
    const __m512i start = ALL(seed + PRIME_5 + 8);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        _mm512_storeu_si512(hashes + i, xxh64(tamis__next_eight(keys + i), start));
    return i;
}

/* ---- SipHash-1-3 of 8 bytes ----------------------------------------------------------------- */

size_t tamis__sip13_u64s_avx512(const uint8_t secret[16], const uint64_t *keys, size_t n,
                                uint64_t *hashes) {
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        tamis_sip8 s = tamis__sip8_start(secret);
        tamis__sip8_absorb(&s, tamis__next_eight(keys + i));
        tamis__sip8_absorb(&s, ALL((uint64_t)8 << 56)); /* the length; no bytes are left */
        _mm512_storeu_si512(hashes + i, tamis__sip8_end(s));
    }
    return i;
}
#endif
