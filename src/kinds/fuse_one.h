/* SPDX-License-Identifier: MIT */
/* For fuse.c and fuse_avx512.c: one key, by functions for each shape.
 *
 * A caller who asks key after key gives the processor several to work on at a time, as many as fit
 * into its window of instructions. So their number counts here, more than their order. */
#ifndef TAMIS_KINDS_FUSE_ONE_H
#define TAMIS_KINDS_FUSE_ONE_H

#include "kinds/fuse.h"

/* The segment of a hash; the rest of the hash is about places in it. */
TAMIS_HOT const uint8_t *tamis__fuse_segment(const tamis_body *f, bool is_one, uint64_t *hash) {
    if (is_one) return f->bytes;
    const uint64_t segments = f->word[TAMIS_SEGMENTS];
    const uint64_t at = tamis__multiply(*hash, segments, hash);
    return f->bytes + tamis__get64(f->bytes + f->size + 8 * (at - segments) - 8);
}

/* Where the cells of a key start there. */
typedef struct tamis_fuse_strip {
    const uint8_t *cells; /* of the segment */
    uint64_t start, step; /* the first cell of the strip; cells of a strip */
    bool is_empty;        /* the segment; its places are dummies, as tamis__fuse_aim has them */
} tamis_fuse_strip;

TAMIS_HOT unsigned tamis__fuse_log(const uint8_t *segment) {
    return segment[16];
}

/* The gate knows that there are fewer than 2^32 strips. */
TAMIS_HOT tamis_fuse_strip tamis__fuse_strip(const uint8_t *segment, uint64_t x, bool is_one) {
    const uint32_t strips = tamis__get32(segment + 17);
    return (tamis_fuse_strip){
        .cells = segment + TAMIS_PEEL_HEADER,
        .start = tamis__range(x, strips) << tamis__fuse_log(segment),
        .step = (uint64_t)1 << tamis__fuse_log(segment),
        .is_empty = !is_one && !strips,
    };
}

/* Is the xor of the cells, which are in[0], in[1], ... in their strips, the guard? */
TAMIS_HOT bool tamis__fuse_holds(const tamis_fuse_strip *s, const uint64_t in[], uint64_t guard,
                                 unsigned arity, unsigned width) {
    const unsigned each = tamis__fuse_is_bytes(width) ? width / 8 : width;
    uint64_t cell = s->start, x = 0;
#pragma GCC unroll 4
    for (unsigned j = 0; j < arity; j++, cell += s->step)
        x ^= tamis__fuse_cell(s->cells, (cell + in[j]) * each, width);
    const bool is_same = width == 8 ? (uint8_t)x == (uint8_t)guard : x == guard;
    return is_same & !s->is_empty;
}

TAMIS_HOT bool tamis__fuse_ask(const tamis_body *f, uint64_t hash, bool is_one, unsigned arity,
                               unsigned width) {
    const uint8_t *segment = tamis__fuse_segment(f, is_one, &hash);
    const uint64_t x = hash + tamis__get64(segment + 8) * TAMIS_PEEL_TURN, mixed = tamis__mix(x);
    const tamis_fuse_strip s = tamis__fuse_strip(segment, x, is_one);
    const uint64_t mask = s.step - 1;
    const uint64_t in[] = {mixed & mask, mixed >> 16 & mask, mixed >> 32 & mask,
                           mixed >> 48 & mask};
    return tamis__fuse_holds(&s, in, tamis__peel_guard(mixed, width), arity, width);
}

/* By segments (one or many), arity and width: 8, 16, or any other. */
typedef tamis_one tamis_fuse_ones[2][2][3];

TAMIS_HOT tamis_one tamis__fuse_one_of(const tamis_fuse_ones ones, const uint64_t word[]) {
    const uint64_t width = word[TAMIS_FUSE_WIDTH];
    const unsigned cell = width == 8 ? 0 : width == 16 ? 1 : 2;
    return ones[word[TAMIS_SEGMENTS] > 1][word[TAMIS_FUSE_ARITY] - 3][cell];
}

TAMIS_HOT unsigned tamis__fuse_width(const tamis_body *f) {
    return (unsigned)f->word[TAMIS_FUSE_WIDTH];
}

/* The functions, made from ask(body, hash, is_one, arity, width) and hash_of(flip, number), and the
 * table of them. */
#define TAMIS_FUSE_ONE(name, ask, hash_of, is_one, arity, width)                     \
    static bool name##_has(const tamis_body *f, uint64_t hash) {                     \
        return ask(f, hash, is_one, arity, width);                                   \
    }                                                                                \
    static bool name##_number(const tamis_body *f, uint64_t number, uint64_t flip) { \
        return ask(f, hash_of(flip, number), is_one, arity, width);                  \
    }
#define TAMIS_FUSE_WIDTHS(name, ask, hash_of, is_one, arity)   \
    TAMIS_FUSE_ONE(name##_8, ask, hash_of, is_one, arity, 8)   \
    TAMIS_FUSE_ONE(name##_16, ask, hash_of, is_one, arity, 16) \
    TAMIS_FUSE_ONE(name##_any, ask, hash_of, is_one, arity, tamis__fuse_width(f))
#define TAMIS_FUSE_ENTRY(name) \
    { .has = name##_has, .has_number = name##_number }
#define TAMIS_FUSE_ENTRIES(name) \
    { TAMIS_FUSE_ENTRY(name##_8), TAMIS_FUSE_ENTRY(name##_16), TAMIS_FUSE_ENTRY(name##_any) }
#define TAMIS_FUSE_ONES(ask, hash_of)                 \
    TAMIS_FUSE_WIDTHS(one_3, ask, hash_of, true, 3)   \
    TAMIS_FUSE_WIDTHS(one_4, ask, hash_of, true, 4)   \
    TAMIS_FUSE_WIDTHS(many_3, ask, hash_of, false, 3) \
    TAMIS_FUSE_WIDTHS(many_4, ask, hash_of, false, 4)
#define TAMIS_FUSE_TABLE                                              \
    {                                                                 \
        {TAMIS_FUSE_ENTRIES(one_3), TAMIS_FUSE_ENTRIES(one_4)},       \
            {TAMIS_FUSE_ENTRIES(many_3), TAMIS_FUSE_ENTRIES(many_4)}, \
    }

#if TAMIS_HAS_X86
extern const tamis_fuse_ones tamis__fuse_ones_avx512;
#endif

#endif
