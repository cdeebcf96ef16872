/* SPDX-License-Identifier: MIT */
/* fuse: the AVX-512 kernel. It locates the cells of eight keys at a time, which is most of the
 * work, and compares eight xors. The cells are loaded one by one: gathering them took twice as long
 * on Ice Lake. */
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

/* Segments: those of eight keys, or the first eight of the filter. */
typedef struct graphs {
    __m512i start, turn, strips, log; /* start: bytes before the segment */
} graphs;

/* How a key finds its segment: there is one, up to eight are in registers, or it reads headers. */
typedef enum ways { ONE, FEW, MANY } ways;

enum { MAX_FEW = 8 };

TAMIS_HOT graphs headers_of(const tamis_fuse_scene *v, __m512i at, __mmask8 which) {
    const __m512i none = _mm512_setzero_si512();
    const __m512i start = _mm512_mask_i64gather_epi64(none, which, at, v->offsets, 8);
    const __m512i seed = _mm512_mask_i64gather_epi64(none, which, start, v->bytes + 8, 1);
    const __m512i shape = _mm512_mask_i64gather_epi64(none, which, start, v->bytes + 16, 1);
    return (graphs){start, _mm512_mullo_epi64(seed, tamis__all8(TAMIS_PEEL_TURN)),
                    _mm512_srli_epi64(shape, 8), _mm512_and_si512(shape, tamis__all8(0xff))};
}

TAMIS_HOT graphs first_graphs(const tamis_fuse_scene *v, ways way) {
    const __m512i order = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    if (way == FEW) return headers_of(v, order, (__mmask8)((1u << v->segments) - 1));
    return (graphs){_mm512_setzero_si512(), tamis__all8(v->graph.turn),
                    tamis__all8(v->graph.strips), tamis__all8(v->graph.log)};
}

/* `hash` becomes the rest of it. */
TAMIS_HOT graphs graphs_of(const tamis_fuse_scene *v, const graphs *first, ways way,
                           __m512i *hash) {
    if (way == ONE) return *first;
    const __m512i segments = tamis__all8(v->segments), at = tamis__range8(*hash, segments);
    *hash = _mm512_mullo_epi64(*hash, segments);
    if (way == MANY) return headers_of(v, at, 0xff);
    return (graphs){
        _mm512_permutexvar_epi64(at, first->start), _mm512_permutexvar_epi64(at, first->turn),
        _mm512_permutexvar_epi64(at, first->strips), _mm512_permutexvar_epi64(at, first->log)};
}

/* A list of queries: constants wherever the loops are inlined, but for the scene. */
typedef struct plan {
    tamis_fuse_scene v;
    graphs first;
    ways way;
    unsigned arity, width;
} plan;

/* Where nothing is stored no xor is the guard: see tamis__fuse_aim. */
TAMIS_HOT void aim(const plan *p, __m512i hash, size_t i, spots *s) {
    const bool is_bytes = tamis__fuse_is_bytes(p->width);
    const graphs g = graphs_of(&p->v, &p->first, p->way, &hash);
    const __m512i cells = _mm512_add_epi64(g.start, tamis__all8(TAMIS_PEEL_HEADER));
    const __m512i start = is_bytes ? cells : _mm512_slli_epi64(cells, 3);
    const __m512i each = tamis__all8(is_bytes ? p->width / 8 : p->width);
    const __m512i step = _mm512_sllv_epi64(tamis__all8(1), g.log),
                  mask = _mm512_sub_epi64(step, tamis__all8(1));
    const __m512i x = _mm512_add_epi64(hash, g.turn), mixed = tamis__mix8(x);
    __m512i strip = _mm512_sllv_epi64(tamis__range8(x, g.strips), g.log);
#pragma GCC unroll 4
    for (unsigned j = 0; j < p->arity; j++) {
        const __m512i in = _mm512_and_si512(_mm512_srli_epi64(mixed, 16 * j), mask);
        const __m512i bits = _mm512_mul_epu32(_mm512_add_epi64(strip, in), each);
        _mm512_store_si512(&s->place[j][i], _mm512_add_epi64(start, bits));
        strip = _mm512_add_epi64(strip, step);
    }
    const __m512i product = _mm512_mullo_epi64(mixed, tamis__all8(TAMIS_PEEL_GUARD));
    const __m512i guard = _mm512_srl_epi64(product, _mm_cvtsi32_si128(64 - (int)p->width));
    const __mmask8 is_void = p->way == ONE ? 0 : _mm512_testn_epi64_mask(g.strips, g.strips);
    _mm512_store_si512(&s->guard[i], _mm512_mask_set1_epi64(guard, is_void, -1));
}

/* Up to eight keys; lanes without one have the hash 0. */
TAMIS_HOT __mmask8 lanes_of(size_t n) {
    return n < 8 ? (__mmask8)((1u << n) - 1) : 0xff;
}

TAMIS_HOT void aim_some(const plan *p, const uint64_t *hash, size_t n, size_t i, spots *s) {
    aim(p, _mm512_maskz_loadu_epi64(lanes_of(n), hash), i, s);
}

TAMIS_HOT void find(const plan *p, size_t i, spots *s) {
    s->found[i] = tamis__fuse_xor(p->v.bytes, &s->place[0][i], ROW, p->arity, p->width);
}

TAMIS_HOT void judge(const spots *s, size_t i, size_t n, uint8_t *hit) {
    const __m512i found = _mm512_maskz_load_epi64(lanes_of(n), &s->found[i]);
    const __mmask8 same = _mm512_cmpeq_epi64_mask(found, _mm512_load_si512(&s->guard[i]));
    _mm_mask_storeu_epi8(hit, lanes_of(n), _mm_maskz_set1_epi8(same, 1));
}

/* ---- Cells in cache: by groups, of which the processor reads many keys ahead ---------------- */

/* n is at most GROUP. */
TAMIS_HOT void query_group(const plan *p, const uint64_t *hash, size_t n, uint8_t *hit) {
    spots s;
    for (size_t i = 0; i < n; i += 8) aim_some(p, hash + i, n - i, i, &s);
    for (size_t i = 0; i < n; i++) find(p, i, &s);
    for (size_t i = 0; i < n; i += 8) judge(&s, i, n - i, hit + i);
}

TAMIS_HOT void query_near(const plan *p, const uint64_t *hash, size_t n, uint8_t *hit) {
    for (; n > GROUP; hash += GROUP, hit += GROUP, n -= GROUP) query_group(p, hash, GROUP, hit);
    query_group(p, hash, n, hit);
}

/* ---- Cells in memory: eight keys come when eight go that came GROUP keys before ------------- */

TAMIS_HOT void fetch(const plan *p, size_t i, const spots *s) {
    const unsigned shift = tamis__fuse_is_bytes(p->width) ? 0 : 3;
#pragma GCC unroll 4
    for (unsigned j = 0; j < p->arity; j++)
        __builtin_prefetch(p->v.bytes + (s->place[j][i] >> shift), 0, 2);
}

TAMIS_HOT void come(const plan *p, const uint64_t *hash, size_t n, size_t i, spots *s) {
    aim_some(p, hash, n, i, s);
    for (size_t j = i; j < i + 8; j++) fetch(p, j, s);
}

TAMIS_HOT void go(const plan *p, size_t i, size_t n, spots *s, uint8_t *hit) {
    for (size_t j = 0; j < 8 && j < n; j++) find(p, i + j, s);
    judge(s, i, n, hit);
}

TAMIS_HOT void query_far(const plan *p, const uint64_t *hash, size_t n, uint8_t *hit) {
    spots s;
    for (size_t i = 0; i < n && i < GROUP; i += 8) come(p, hash + i, n - i, i, &s);
    for (size_t i = 0; i < n; i += 8) {
        const size_t next = i + GROUP;
        go(p, i % GROUP, n - i, &s, hit + i);
        if (next < n) come(p, hash + next, n - next, i % GROUP, &s);
    }
}

/* ---- Shapes --------------------------------------------------------------------------------- */

TAMIS_HOT void query_by(const tamis_fuse_scene *v, ways way, unsigned arity, unsigned width,
                        const uint64_t *hash, size_t n, uint8_t *hit) {
    const plan p = {*v, first_graphs(v, way), way, arity, width};
    if (v->is_near || way == ONE)
        query_near(&p, hash, n, hit);
    else
        query_far(&p, hash, n, hit);
}

TAMIS_HOT void query_as(const tamis_fuse_scene *v, unsigned arity, unsigned width,
                        const uint64_t *hash, size_t n, uint8_t *hit) {
    if (v->segments == 1 && v->is_near)
        query_by(v, ONE, arity, width, hash, n, hit);
    else if (v->segments <= MAX_FEW)
        query_by(v, FEW, arity, width, hash, n, hit);
    else
        query_by(v, MANY, arity, width, hash, n, hit);
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

/* All that follows from the hash, except for the strip, is computed in vector registers. So more
 * keys are on the way at a time: on Zen 5 4.8 ns per key instead of 5.7 at 10^5 keys, 33 instead of
 * 60 at 10^7. A key that waits for the one before takes 17.5 instead of 15.2. */
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
