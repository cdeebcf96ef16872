/* SPDX-License-Identifier: MIT */
/* fuse: the AVX-512 kernel for cells in cache, where locating them is most of the work. It locates
 * those of eight keys at a time, and compares eight xors. The cells are loaded one by one:
 * gathering them took twice as long on Ice Lake. Cells beyond the cache cost the same with it and
 * without. */
#include "kinds/fuse_one.h"

#ifdef __AVX512BITALG__
#include "bits/eight_avx512.h"
#include "bits/one_avx512.h"

enum { GROUP = 64 };

/* Rows are a line longer than the group: where rows are 4096 bytes apart, the processor mistakes a
 * load from one for a load of what was just stored in another. */
enum { ROW = GROUP + 8 };
typedef struct spots {
    _Alignas(64) uint64_t place[TAMIS_PEEL_MAX_ARITY][ROW];
    uint64_t guard[ROW], found[ROW];
} spots;

TAMIS_HOT void aim(const tamis_peel_graph *g, __m512i hash, unsigned arity, unsigned width,
                   size_t i, spots *s) {
    const bool is_bytes = tamis__fuse_is_bytes(width);
    const __m512i start = tamis__all8(is_bytes ? TAMIS_PEEL_HEADER : TAMIS_PEEL_HEADER * 8);
    const __m512i each = tamis__all8(is_bytes ? width / 8 : width);
    const __m512i step = tamis__all8((uint64_t)1 << g->log),
                  mask = _mm512_sub_epi64(step, tamis__all8(1));
    const __m512i x = _mm512_add_epi64(hash, tamis__all8(g->turn)), mixed = tamis__mix8(x);
    const __m128i log = _mm_cvtsi32_si128((int)g->log);
    __m512i strip = _mm512_sll_epi64(tamis__range8(x, tamis__all8(g->strips)), log);
#pragma GCC unroll 4
    for (unsigned j = 0; j < arity; j++) {
        const __m512i in = _mm512_and_si512(_mm512_srli_epi64(mixed, 16 * j), mask);
        const __m512i bits = _mm512_mul_epu32(_mm512_add_epi64(strip, in), each);
        _mm512_store_si512(&s->place[j][i], _mm512_add_epi64(start, bits));
        strip = _mm512_add_epi64(strip, step);
    }
    const __m512i product = _mm512_mullo_epi64(mixed, tamis__all8(TAMIS_PEEL_GUARD));
    const __m128i shift = _mm_cvtsi32_si128(64 - (int)width);
    _mm512_store_si512(&s->guard[i], _mm512_srl_epi64(product, shift));
}

TAMIS_HOT __mmask8 lanes_of(size_t n) {
    return n < 8 ? (__mmask8)((1u << n) - 1) : 0xff;
}

/* n is at most GROUP. */
TAMIS_HOT void query_group(const tamis_fuse_scene *v, unsigned arity, unsigned width,
                           const uint64_t *hash, size_t n, uint8_t *hit) {
    spots s;
    for (size_t i = 0; i < n; i += 8) {
        const __m512i h = _mm512_maskz_loadu_epi64(lanes_of(n - i), hash + i);
        aim(&v->graph, h, arity, width, i, &s);
    }
    for (size_t i = 0; i < n; i++)
        s.found[i] = tamis__fuse_xor(v->bytes, &s.place[0][i], ROW, arity, width);
    for (size_t i = 0; i < n; i += 8) {
        const __m512i found = _mm512_maskz_load_epi64(lanes_of(n - i), &s.found[i]);
        const __mmask8 same = _mm512_cmpeq_epi64_mask(found, _mm512_load_si512(&s.guard[i]));
        _mm_mask_storeu_epi8(hit + i, lanes_of(n - i), _mm_maskz_set1_epi8(same, 1));
    }
}

/* Arity is a constant here, and so are the widths that are whole bytes. */
TAMIS_HOT void query_as(const tamis_fuse_scene *scene, unsigned arity, unsigned width,
                        const uint64_t *hash, size_t n, uint8_t *hit) {
    const tamis_fuse_scene v = *scene;
    for (; n > GROUP; hash += GROUP, hit += GROUP, n -= GROUP)
        query_group(&v, arity, width, hash, GROUP, hit);
    query_group(&v, arity, width, hash, n, hit);
}

TAMIS_HOT void query_with(const tamis_fuse_scene *v, unsigned arity, const uint64_t *hash, size_t n,
                          uint8_t *hit) {
    if (v->width == 8)
        query_as(v, arity, 8, hash, n, hit);
    else if (v->width == 16)
        query_as(v, arity, 16, hash, n, hit);
    else
        query_as(v, arity, v->width, hash, n, hit);
}

void tamis__fuse_query_avx512(const tamis_fuse_scene *v, const uint64_t *hash, size_t n,
                              uint8_t *hit) {
    if (v->arity == 3)
        query_with(v, 3, hash, n, hit);
    else
        query_with(v, 4, hash, n, hit);
}

/* ---- One by one ----------------------------------------------------------------------------- */

/* For cells in memory: all that follows from the hash, except for the strip, is computed in vector
 * registers. So more keys are on the way at a time (33 ns per key instead of 60 at 10^7 keys on Zen
 * 5); where the cells are in cache, 10 % faster did not outweigh that one key takes half as long
 * again. */
TAMIS_HOT bool ask(const tamis_body *f, uint64_t hash, bool is_one, unsigned arity,
                   unsigned width) {
    const uint8_t *segment = tamis__fuse_segment(f, is_one, &hash);
    const __m128i turn =
        _mm_mullo_epi64(tamis__in_vector(tamis__get64(segment + 8)), TAMIS_CONST1(TAMIS_PEEL_TURN));
    const __m128i x = _mm_add_epi64(tamis__in_vector(hash), turn), mixed = tamis__mix1(x);
    const tamis_fuse_strip s = tamis__fuse_strip(segment, tamis__out_of_vector(x), is_one);
    const __m128i log = _mm_cvtsi32_si128((int)tamis__fuse_log(segment));
    const __m128i above = _mm_sll_epi64(_mm_set1_epi8(-1), log);
    const __m128i product = _mm_mullo_epi64(mixed, TAMIS_CONST1(TAMIS_PEEL_GUARD));
    const __m128i guard = _mm_srl_epi64(product, _mm_cvtsi32_si128(64 - (int)width));
    uint64_t in[TAMIS_PEEL_MAX_ARITY];
#pragma GCC unroll 4
    for (unsigned j = 0; j < arity; j++)
        in[j] = tamis__out_of_vector(_mm_andnot_si128(above, _mm_srli_epi64(mixed, 16 * j)));
    return tamis__fuse_holds(&s, in, tamis__out_of_vector(guard), arity, width);
}

TAMIS_FUSE_ONES(ask, tamis__xxh3_one)

const tamis_fuse_ones tamis__fuse_ones_avx512 = TAMIS_FUSE_TABLE;
#endif
