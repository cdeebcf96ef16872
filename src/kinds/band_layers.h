/* SPDX-License-Identifier: MIT */
/* For band.c, band_make.c, their kernels and tests: the layout of a band, and the equation of a
 * hash.
 *
 *     keys u32, layers u32 │ layer 0: 16 bytes │ layer 1 │ ... │ thresholds and rows of each layer
 *
 * Layer 0 has nearly all keys, layer 1 those that layer 0 bumped (about 5 %), and so on; the last
 * one has enough room to bump no key. Each layer mixes the hash once more, so that keys that
 * crowded in one are spread in the next. */
#ifndef TAMIS_KINDS_BAND_LAYERS_H
#define TAMIS_KINDS_BAND_LAYERS_H

#include "kinds/band.h"

enum {
    ROWS = 64, /* of a block, and coefficients of a key: a key meets two blocks */
    HEAD_BYTES = 8,
    LAYER_BYTES = 16,
    MAX_LAYERS = 16,
    MAX_SHIFT = 11 /* buckets have at most 2048 starts */
};
#define MAX_KEYS   ((uint64_t)INT32_MAX)
#define MAX_BLOCKS ((uint64_t)1 << 26)
#define GOLDEN     0x9e3779b97f4a7c15

static inline uint64_t min_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- Layers --------------------------------------------------------------------------------- */

typedef struct layer {
    uint64_t blocks;
    uint32_t seed;
    unsigned shift; /* a bucket has 2^shift starts; 0: the layer does not bump */
    uint64_t cuts;  /* 16 bits for each class of bucket: starts below are bumped */

    /* Derived. */
    uint64_t starts, narrow_blocks, meta_words, words;
} layer;

static inline unsigned columns_of(const tamis_band_form *form) {
    return form->value_bits + form->guard_bits;
}

static inline uint64_t bucket_of(const layer *l, uint64_t start) {
    return start >> l->shift;
}

static inline uint64_t offset_in_bucket(const layer *l, uint64_t start) {
    return start & (((uint64_t)1 << l->shift) - 1);
}

/* Keys with x below narrow << 48 have one guard bit less. Blocks that no other key reaches are
 * stored without the last column. */
static inline uint64_t narrow_edge(const tamis_band_form *form) {
    return (uint64_t)form->narrow << 48;
}

TAMIS_HOT uint64_t cut_of(const layer *l, unsigned class) {
    return l->cuts >> 16 * class & 0xffff;
}

/* Class 0 bumps no key, class 3 all. */
static inline uint64_t cuts_of(uint64_t first, uint64_t second, unsigned shift) {
    return first << 16 | second << 32 | (uint64_t)1 << (48 + shift);
}

TAMIS_HOT void derive(const tamis_band_form *form, layer *l) {
    l->starts = l->blocks * ROWS - (ROWS - 1);
    l->narrow_blocks = (form->narrow * l->starts >> 16) / ROWS; /* of x below the edge */
    l->meta_words = l->shift ? bucket_of(l, l->starts - 1) / 32 + 1 : 0;
    l->words = l->meta_words + l->blocks * columns_of(form) - l->narrow_blocks;
}

TAMIS_HOT layer get_layer(const tamis_band_form *form, const uint8_t *band, unsigned i) {
    const uint8_t *p = band + HEAD_BYTES + i * LAYER_BYTES;
    const uint64_t bumping = tamis__get64(p + 8);
    layer l = {.blocks = tamis__get32(p), .seed = tamis__get32(p + 4)};
    l.shift = (unsigned)(bumping & 0xffff);
    l.cuts = bumping & ~(uint64_t)0xffff;
    derive(form, &l);
    return l;
}

static inline void put_layer(const layer *l, uint8_t *band, unsigned i) {
    uint8_t *p = band + HEAD_BYTES + i * LAYER_BYTES;
    tamis__put32(p, (uint32_t)l->blocks);
    tamis__put32(p + 4, l->seed);
    tamis__put64(p + 8, l->cuts | l->shift);
}

static inline unsigned layers_of(const uint8_t *band) {
    return tamis__get32(band + 4);
}

/* ---- From hash to equation ------------------------------------------------------------------ */

static inline uint64_t key_of(uint32_t seed) {
    return (seed + (uint64_t)1) * GOLDEN;
}

static inline uint64_t first_x(const tamis_band_form *form, uint64_t hash) {
    return hash ^ form->salt;
}

static inline uint64_t next_x(uint64_t x, uint32_t seed) {
    return tamis__mix(x ^ key_of(seed));
}

/* Back from next_x, for another seed. */
static inline uint64_t previous_x(uint64_t x, uint32_t seed) {
    x ^= x >> 33;
    x *= 0x9cb4b2f8129337db; /* the inverses of the two multipliers of tamis__mix */
    x ^= x >> 33;
    x *= 0x4f74430c22a54005;
    x ^= x >> 33;
    return x ^ key_of(seed);
}

static inline uint64_t coefficients_of(uint64_t x) {
    return tamis__mix(x + GOLDEN) | 1;
}

static inline uint64_t guard_of(uint64_t x, unsigned bits) {
    return x & (((uint64_t)1 << bits) - 1);
}

/* Values are stored under a mask, so that a non-member gets any value with the same probability,
 * also in a band of one key, whose rows are nearly all zero. */
static inline uint64_t mask_of(uint64_t x, unsigned bits) {
    return bits ? x * GOLDEN >> (64 - bits) : 0;
}

#endif
