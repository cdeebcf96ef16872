/* SPDX-License-Identifier: MIT */
/* For the files of src/foreign: numbers in bytes, and bits of numbers. */
#ifndef TAMIS_FOREIGN_BYTES_H
#define TAMIS_FOREIGN_BYTES_H

#include "bits/bits.h"

/* Big-endian, as in networks and Java. */
static inline uint32_t tamis__get32_big(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void tamis__put32_big(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static inline uint64_t tamis__get64_big(const uint8_t *p) {
    return (uint64_t)tamis__get32_big(p) << 32 | tamis__get32_big(p + 4);
}

static inline void tamis__put64_big(uint8_t *p, uint64_t x) {
    tamis__put32_big(p, (uint32_t)(x >> 32));
    tamis__put32_big(p + 4, (uint32_t)x);
}

/* The bits of a double, as in shape words and headers. */
static inline uint64_t tamis__bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double tamis__double_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t tamis__rotl32(uint32_t x, unsigned by) {
    return x << by | x >> (32 - by);
}

static inline bool tamis__is_power_of_two(uint64_t n) {
    return n && (n & (n - 1)) == 0;
}

/* The smallest that is at least n. */
static inline uint64_t tamis__power_of_two_from(uint64_t n) {
    uint64_t power = 1;
    while (power < n) power *= 2;
    return power;
}

/* The set bits of n bytes, or of two arrays together when `other` is not NULL. */
static inline uint64_t tamis__count_ones(const uint8_t *bytes, const uint8_t *other, uint64_t n) {
    uint64_t set = 0, i = 0;
    for (; i + 8 <= n; i += 8)
        set += tamis__popcount64(tamis__get64(bytes + i) | (other ? tamis__get64(other + i) : 0));
    for (; i < n; i++) set += tamis__popcount64((uint64_t)(bytes[i] | (other ? other[i] : 0)));
    return set;
}

/* The value of a hexadecimal digit; -1 for any other letter. */
static inline int tamis__hex_digit(uint8_t letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    letter |= 'a' - 'A';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

#endif
