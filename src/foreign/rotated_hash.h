/* SPDX-License-Identifier: MIT */
/* For LevelDB's and RocksDB's kinds: the rates of filters whose positions all follow from one hash
 * of 32 bits, and from the same hash rotated by 15 bits.
 *
 *     position i:  (h + i * turn(h)) modulo the number of bits
 *
 * The two numbers are less independent than they look, because a rotation is a product with 2^15
 * modulo 2^32 - 1. So h + turn(h) is a multiple of 3 except for its overflow, h + 3 turn(h) one of
 * 5, and h + 2 turn(h) has only 2^18 values. Keys cluster there, the rate is higher than that of
 * the fill, by a tenth with 100000 bits; with millions of keys the third position is useless. */
#ifndef TAMIS_FOREIGN_ROTATED_HASH_H
#define TAMIS_FOREIGN_ROTATED_HASH_H

#include "tamis.h"

static inline uint32_t tamis__rotl15(uint32_t hash) {
    return hash << 15 | hash >> 17;
}

/* What both systems take for a number of bits per key. */
static inline uint64_t tamis__turned_hashes(uint64_t bits_per_key) {
    const uint64_t hashes = (uint64_t)((double)bits_per_key * 0.69);
    return hashes < 1 ? 1 : hashes > 30 ? 30 : hashes;
}

/* The rate of an actual filter, by querying it for up to `max` hashes from all over the 2^32. With
 * TAMIS_TURNED_MANY its error is 1 % of the rate at 10 %, 3 % at 1 % and 9 % at 0.1 %, in a
 * millisecond. `by_fill` is the result if none of them hit. */
enum { TAMIS_TURNED_MANY = 1 << 17, TAMIS_TURNED_FEW = 1 << 14 };
typedef bool tamis_turned_has(const void *filter, uint32_t hash);
double tamis__turned_asked(tamis_turned_has *, const void *filter, uint32_t max, double by_fill);

/* Expected: positions anywhere in an array of bits. Compared with simulations of 1 to 10^6 keys it
 * is within 5 % at rates from 1 % on; below, and with less than ten keys, within 20 %. */
double tamis__turned_rate(uint64_t keys, uint64_t bits, uint64_t hashes);

/* Estimates the number of keys from the set bits. */
struct tamis_estimate tamis__turned_items(uint64_t set, uint64_t bits, uint64_t hashes);

/* Expected: h modulo the number of lines is the line, and positions are in that line, whose bits
 * are a power of two. */
double tamis__turned_lines_rate(uint64_t keys, uint64_t lines, uint64_t line_bits, uint64_t hashes);

#endif
