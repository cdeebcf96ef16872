/* Eight integers at a time: the three hashes for keys of exactly 8 bytes, from their
 * specifications. tests/unit/test_hash.c holds each to the one-by-one hash. */
#include "hash/integers.h"

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"

enum { WIDTH = 8 };

#define ALL(x) _mm512_set1_epi64((long long)(x))

/* ---- XXH3 ----------------------------------------------------------------------------------- */

size_t tamis__xxh3_u64s_avx512(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes) {
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        _mm512_storeu_si512(hashes + i, tamis__xxh3_eight(tamis__next_eight(keys + i), ALL(flip)));
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

typedef struct state {
    __m512i a, b, c, d;
} state;

TAMIS_HOT void sip_round(state *s) {
    s->a = _mm512_add_epi64(s->a, s->b), s->c = _mm512_add_epi64(s->c, s->d);
    s->b = _mm512_xor_si512(_mm512_rol_epi64(s->b, 13), s->a);
    s->d = _mm512_xor_si512(_mm512_rol_epi64(s->d, 16), s->c);
    s->a = _mm512_shuffle_epi32(s->a, _MM_PERM_CDAB);
    s->c = _mm512_add_epi64(s->c, s->b), s->a = _mm512_add_epi64(s->a, s->d);
    s->b = _mm512_xor_si512(_mm512_rol_epi64(s->b, 17), s->c);
    s->d = _mm512_xor_si512(_mm512_rol_epi64(s->d, 21), s->a);
    s->c = _mm512_shuffle_epi32(s->c, _MM_PERM_CDAB);
}

TAMIS_HOT void absorb(state *s, __m512i word) {
    s->d = _mm512_xor_si512(s->d, word);
    sip_round(s);
    s->a = _mm512_xor_si512(s->a, word);
}

size_t tamis__sip13_u64s_avx512(const uint8_t secret[16], const uint64_t *keys, size_t n,
                                uint64_t *hashes) {
    const uint64_t k0 = tamis__get64(secret), k1 = tamis__get64(secret + 8);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        state s = {ALL(k0 ^ 0x736f6d6570736575), ALL(k1 ^ 0x646f72616e646f6d),
                   ALL(k0 ^ 0x6c7967656e657261), ALL(k1 ^ 0x7465646279746573)};
        absorb(&s, tamis__next_eight(keys + i));
        absorb(&s, ALL((uint64_t)8 << 56)); /* the length; no bytes are left */
        s.c = _mm512_xor_si512(s.c, ALL(0xff));
        for (int r = 0; r < 3; r++) sip_round(&s);
        const __m512i half = _mm512_xor_si512(s.a, s.b);
        _mm512_storeu_si512(hashes + i, _mm512_ternarylogic_epi64(half, s.c, s.d, 0x96));
    }
    return i;
}
#endif
