/* SPDX-License-Identifier: MIT */
#include "tests/support/arrays.h"

#include <math.h>

#include "tests/support/contents.h"
#include "tests/support/filters.h"

uint64_t test_array_bits(const tamis *f, unsigned percent, unsigned i) {
    uint64_t words = test_info(f).word[0] / 64;
    while (i--) words = (words * percent + 99) / 100;
    return words * 64;
}

const uint8_t *test_array(const tamis *f, unsigned percent, unsigned i) {
    const uint8_t *bytes = test_payload(f);
    for (unsigned j = 0; j < i; j++) bytes += test_array_bits(f, percent, j) / 8;
    return bytes;
}

double test_array_rate(const tamis *f, unsigned percent, unsigned i) {
    const uint64_t bits = test_array_bits(f, percent, i);
    const double fill = (double)test_bits_set(test_array(f, percent, i), bits / 8) / (double)bits;
    return pow(fill, (double)test_info(f).word[1]);
}
