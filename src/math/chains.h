/* SPDX-License-Identifier: MIT */
/* For kinds whose probes are a chain of sums, and their tests. */
#ifndef TAMIS_MATH_CHAINS_H
#define TAMIS_MATH_CHAINS_H

#include <stdint.h>

typedef enum tamis_chain {
    TAMIS_CHAIN_LINEAR,    /* (a + i b) mod m, b odd and m even */
    TAMIS_CHAIN_CUBIC,     /* (a + i b + (i^3 - i)/6) mod m, likewise */
    TAMIS_CHAIN_QUADRATIC, /* (a + i b + i(i-1)/2 c) mod m, likewise, with any c */
    TAMIS_CHAIN_SCALED,    /* the integer part of m (a + i b), a and b anywhere on a circle of 1 */
} tamis_chain;

/* How much more often than fill^k a non-member is found. */
double tamis__chain_excess(tamis_chain, double keys, uint64_t bits, uint64_t hashes, double fill);

#endif
