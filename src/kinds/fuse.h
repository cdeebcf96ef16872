/* SPDX-License-Identifier: MIT */
/* For fuse, portable and vector; it holds only inline functions: from hashes to answers.
 *
 * A place is where a cell starts, in bits from the start of the payload, or in bytes where cells
 * are whole bytes. */
#ifndef TAMIS_KINDS_FUSE_H
#define TAMIS_KINDS_FUSE_H

#include "cpu/cpu.h"
#include "kinds/peel.h"
#include "kinds/segments.h"

enum { TAMIS_FUSE_WIDTH = TAMIS_SEGMENT_WORDS, TAMIS_FUSE_ARITY }; /* shape words */

/* Common to all keys. Loops use a copy, which no store can change. */
typedef struct tamis_fuse_scene {
    const uint8_t *bytes, *offsets; /* where each segment starts: at the end of the payload */
    uint64_t segments;
    tamis_peel_graph graph; /* of the first segment */
    unsigned arity, width;
    bool is_near; /* fetching cells is useless: how far from a core that goes depends on it */
} tamis_fuse_scene;

TAMIS_HOT tamis_fuse_scene tamis__fuse_scene(const tamis_body *f) {
    const uint64_t segments = f->word[TAMIS_SEGMENTS];
    return (tamis_fuse_scene){
        .bytes = f->bytes,
        .offsets = f->bytes + f->size - tamis__segment_offsets_size(segments),
        .segments = segments,
        .graph = tamis__peel_graph_of(f->bytes),
        .arity = (unsigned)f->word[TAMIS_FUSE_ARITY],
        .width = (unsigned)f->word[TAMIS_FUSE_WIDTH],
        .is_near = segments == 1 && f->size <= tamis__near_bytes(),
    };
}

TAMIS_HOT bool tamis__fuse_is_bytes(unsigned width) {
    return width == 8 || width == 16;
}

/* The places of a key, and the expected xor of its cells: more than it can be where the segment is
 * empty. That has dummy places: in the 24 bytes after its header, which are those of another
 * segment or of the offsets. */
TAMIS_HOT uint64_t tamis__fuse_aim(const tamis_fuse_scene *s, uint64_t hash, bool is_one,
                                   unsigned arity, unsigned width, uint64_t place[]) {
    const bool is_bytes = tamis__fuse_is_bytes(width);
    const uint64_t each = is_bytes ? width / 8 : width;
    uint64_t start = 0, rest = hash;
    tamis_peel_graph g = s->graph;
    if (!is_one) {
        start = tamis__get64(s->offsets + 8 * tamis__multiply(hash, s->segments, &rest));
        g = tamis__peel_graph_of(s->bytes + start);
    }
    const uint64_t mixed = tamis__peel_place(&g, rest, arity, place);
    start = (start + TAMIS_PEEL_HEADER) * (is_bytes ? 1 : 8);
    place[0] = start + place[0] * each;
    place[1] = start + place[1] * each;
    place[2] = start + place[2] * each;
    if (arity == 4) place[3] = start + place[3] * each;
    return g.strips ? tamis__peel_guard(mixed, width) : UINT64_MAX;
}

TAMIS_HOT uint64_t tamis__fuse_cell(const uint8_t *bytes, uint64_t place, unsigned width) {
    if (width == 8) return bytes[place];
    if (width == 16) return tamis__get16(bytes + place);
    return tamis__peel_bits(bytes, place, width);
}

/* The xor of the cells at places `apart` from each other. */
TAMIS_HOT uint64_t tamis__fuse_xor(const uint8_t *bytes, const uint64_t *place, size_t apart,
                                   unsigned arity, unsigned width) {
    uint64_t x = tamis__fuse_cell(bytes, place[0], width);
    x ^= tamis__fuse_cell(bytes, place[apart], width);
    x ^= tamis__fuse_cell(bytes, place[2 * apart], width);
    return arity == 4 ? x ^ tamis__fuse_cell(bytes, place[3 * apart], width) : x;
}

/* ---- One by one ----------------------------------------------------------------------------- */

TAMIS_HOT bool tamis__fuse_has(const tamis_fuse_scene *s, uint64_t hash, bool is_one,
                               unsigned arity, unsigned width) {
    uint64_t place[TAMIS_PEEL_MAX_ARITY];
    const uint64_t guard = tamis__fuse_aim(s, hash, is_one, arity, width, place);
    return tamis__fuse_xor(s->bytes, place, 1, arity, width) == guard;
}

/* ---- Many ----------------------------------------------------------------------------------- */

/* Keys whose cells are being fetched. Each starts when another ends, which spreads the misses
 * evenly: for payloads of 3 to 112 MB this was 3 to 8 % faster than groups of 128 keys. 32 keys did
 * nearly as well, 16 did not. */
enum { TAMIS_FUSE_RING = 64 };

typedef struct tamis_fuse_ring {
    uint64_t place[TAMIS_PEEL_MAX_ARITY][TAMIS_FUSE_RING], guard[TAMIS_FUSE_RING];
} tamis_fuse_ring;

TAMIS_HOT void tamis__fuse_come(const tamis_fuse_scene *s, uint64_t hash, unsigned arity,
                                unsigned width, size_t i, tamis_fuse_ring *ring) {
    const unsigned shift = tamis__fuse_is_bytes(width) ? 0 : 3;
    uint64_t place[TAMIS_PEEL_MAX_ARITY];
    ring->guard[i] = tamis__fuse_aim(s, hash, false, arity, width, place);
    __builtin_prefetch(s->bytes + (place[0] >> shift), 0, 2);
    __builtin_prefetch(s->bytes + (place[1] >> shift), 0, 2);
    __builtin_prefetch(s->bytes + (place[2] >> shift), 0, 2);
    if (arity == 4) __builtin_prefetch(s->bytes + (place[3] >> shift), 0, 2);
    ring->place[0][i] = place[0];
    ring->place[1][i] = place[1];
    ring->place[2][i] = place[2];
    if (arity == 4) ring->place[3][i] = place[3];
}

TAMIS_HOT bool tamis__fuse_go(const tamis_fuse_scene *s, unsigned arity, unsigned width, size_t i,
                              const tamis_fuse_ring *ring) {
    const uint64_t *place = &ring->place[0][i];
    return tamis__fuse_xor(s->bytes, place, TAMIS_FUSE_RING, arity, width) == ring->guard[i];
}

TAMIS_HOT void tamis__fuse_query_far(const tamis_fuse_scene *scene, unsigned arity, unsigned width,
                                     const uint64_t *hash, size_t n, uint8_t *hit) {
    const tamis_fuse_scene s = *scene;
    const size_t size = n < TAMIS_FUSE_RING ? n : TAMIS_FUSE_RING;
    tamis_fuse_ring ring;
    for (size_t i = 0; i < size; i++) tamis__fuse_come(&s, hash[i], arity, width, i, &ring);
    for (size_t i = size; i < n; i++) {
        const size_t at = i % TAMIS_FUSE_RING;
        hit[i - size] = tamis__fuse_go(&s, arity, width, at, &ring);
        tamis__fuse_come(&s, hash[i], arity, width, at, &ring);
    }
    for (size_t i = n - size; i < n; i++)
        hit[i] = tamis__fuse_go(&s, arity, width, i % TAMIS_FUSE_RING, &ring);
}

TAMIS_HOT void tamis__fuse_query_as(const tamis_fuse_scene *scene, unsigned arity, unsigned width,
                                    const uint64_t *hash, size_t n, uint8_t *hit) {
    const tamis_fuse_scene s = *scene;
    if (!s.is_near)
        tamis__fuse_query_far(&s, arity, width, hash, n, hit);
    else
        for (size_t i = 0; i < n; i++) hit[i] = tamis__fuse_has(&s, hash[i], true, arity, width);
}

/* Arity is a constant here, and so are the widths that are whole bytes. */
TAMIS_HOT void tamis__fuse_query(const tamis_fuse_scene *s, const uint64_t *hash, size_t n,
                                 uint8_t *hit) {
    const unsigned arity = s->arity, width = s->width;
    if (arity == 3 && width == 8)
        tamis__fuse_query_as(s, 3, 8, hash, n, hit);
    else if (arity == 3 && width == 16)
        tamis__fuse_query_as(s, 3, 16, hash, n, hit);
    else if (arity == 3)
        tamis__fuse_query_as(s, 3, width, hash, n, hit);
    else if (width == 8)
        tamis__fuse_query_as(s, 4, 8, hash, n, hit);
    else if (width == 16)
        tamis__fuse_query_as(s, 4, 16, hash, n, hit);
    else
        tamis__fuse_query_as(s, 4, width, hash, n, hit);
}

/* The kernel is for cells in cache. */
#if TAMIS_HAS_X86
void tamis__fuse_query_avx512(const tamis_fuse_scene *, const uint64_t *hash, size_t n,
                              uint8_t *hit);
#endif

#endif
