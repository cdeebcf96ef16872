/* SPDX-License-Identifier: MIT */
/* tamis_inline_fuse.h: for tamis_inline.h: one key of fuse. */
#ifndef TAMIS_INLINE_FUSE_H
#define TAMIS_INLINE_FUSE_H

#include <stdbool.h>

#include "tamis_inline_hash.h"

#if defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__x86_64__) && defined(__GNUC__)
#define TAMIS_INLINE_PRODUCTS 1 /* of 64 bits, in vectors */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A number on its way from key to cells, in the registers where most of them can be in flight: with
 * AVX-512 those are vectors, and 3.3 ns per key of 10^5 instead of 5.4. */
#if defined(TAMIS_INLINE_PRODUCTS)
typedef uint64_t tamis_inline_number __attribute__((vector_size(16)));

static inline tamis_inline_number tamis_inline_in(uint64_t x) {
    const tamis_inline_number number = {x, 0};
    return number;
}

static inline uint64_t tamis_inline_out(tamis_inline_number x) {
    return x[0];
}

/* The same as tamis_inline_xxh3. */
static inline tamis_inline_number tamis_inline_xxh3_in(uint64_t flip, uint64_t key) {
    const uint64_t prime = UINT64_C(0x9fb21c651e98df25);
    tamis_inline_number h = tamis_inline_in(key);
    h = (h << 32 | h >> 32) ^ flip;
    h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40);
    h *= prime;
    h ^= (h >> 35) + 8;
    h *= prime;
    return h ^ h >> 28;
}
#else
typedef uint64_t tamis_inline_number;

static inline tamis_inline_number tamis_inline_in(uint64_t x) {
    return x;
}

static inline uint64_t tamis_inline_out(tamis_inline_number x) {
    return x;
}

static inline tamis_inline_number tamis_inline_xxh3_in(uint64_t flip, uint64_t key) {
    return tamis_inline_xxh3(flip, key);
}
#endif

/* A second hash, of which 16 bits choose a cell each. */
static inline tamis_inline_number tamis_inline_mixed(tamis_inline_number x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* A segment: strips of 2^log cells. A key has a cell in each of `arity` strips in a row, three or
 * four, and their xor is its fingerprint. */
struct tamis_inline_cells {
    const uint8_t *bytes; /* eight more can be read after the last cell */
    uint64_t turn;        /* added to hashes */
    uint64_t strips;      /* in which a key can start */
    unsigned log, arity;
    unsigned width; /* bits of a cell */
};

/* A cell in the lowest bits; what is above them does not count. */
static inline uint64_t tamis_inline_cell(const struct tamis_inline_cells *cells, uint64_t i) {
    const unsigned width = cells->width;
    if (width == 8) return cells->bytes[i];
    if (width == 16) return cells->bytes[2 * i] | (uint64_t)cells->bytes[2 * i + 1] << 8;
    return tamis_inline_word(cells->bytes + (i * width >> 3)) >> (i * width & 7);
}

TAMIS_INLINE_FN bool tamis_inline_has_cells(const struct tamis_inline_cells *cells,
                                            tamis_inline_number hash) {
    const uint64_t step = (uint64_t)1 << cells->log;
    const uint64_t fields = cells->arity == 4 ? UINT64_C(0x1000100010001) : UINT64_C(0x100010001);
    const tamis_inline_number x = hash + cells->turn, mixed = tamis_inline_mixed(x);
    const tamis_inline_number product = mixed * UINT64_C(0xf1357aea2e62a9c5);
    const uint64_t guard = tamis_inline_out(product >> (64 - cells->width));
    const uint64_t in = tamis_inline_out(mixed & (step - 1) * fields);
    const uint64_t start = tamis_inline_range(tamis_inline_out(x), cells->strips) << cells->log;
    uint64_t sum = guard;
    sum ^= tamis_inline_cell(cells, start + (uint16_t)in);
    sum ^= tamis_inline_cell(cells, start + step + (uint16_t)(in >> 16));
    if (cells->arity == 4) {
        sum ^= tamis_inline_cell(cells, start + 2 * step + (uint16_t)(in >> 32));
        sum ^= tamis_inline_cell(cells, start + 3 * step + (in >> 48));
    } else {
        sum ^= tamis_inline_cell(cells, start + 2 * step + (in >> 32));
    }
    return (sum & (((uint64_t)1 << cells->width) - 1)) == 0;
}

/* Finds the segment of a hash, and returns what the product that chooses it leaves: the hash there.
 * A segment starts with three words: how many keys it has, a seed, and strips with their log. */
static inline uint64_t tamis_inline_find(const uint8_t *payload, uint64_t starts, uint64_t segments,
                                         uint64_t hash, struct tamis_inline_cells *cells) {
    uint64_t at;
    const uint64_t rest = tamis_inline_product(hash, segments, &at);
    const uint8_t *segment = payload + tamis_inline_word(payload + starts + 8 * at);
    const uint64_t shape = tamis_inline_word(segment + 16);
    cells->turn = tamis_inline_word(segment + 8) * UINT64_C(0x9e3779b97f4a7c15);
    cells->strips = shape >> 8;
    cells->log = shape & 0xff;
    cells->bytes = segment + 24;
    return rest;
}

#ifdef __cplusplus
}
#endif
#endif
