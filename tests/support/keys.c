/* SPDX-License-Identifier: MIT */
#include "tests/support/keys.h"

/* The output function of splitmix64, a bijection of the counter. */
uint64_t test_number(uint64_t family, uint64_t i) {
    uint64_t x = i + family * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}
