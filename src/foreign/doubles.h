/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: the bits of a double, as in shape words and headers. */
#ifndef TAMIS_FOREIGN_DOUBLES_H
#define TAMIS_FOREIGN_DOUBLES_H

#include <stdint.h>
#include <string.h>

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

#endif
