/* SPDX-License-Identifier: MIT */
/* For core, build and tests: hashes in ascending order.
 *
 * A record is a hash, or a hash and a value: one number or two. `other` is room for as many records
 * as are sorted; the result is in either array, which is returned. */
#ifndef TAMIS_CORE_RADIX_H
#define TAMIS_CORE_RADIX_H

#include <stdbool.h>

#include "bits/bits.h"

uint64_t *tamis__sort_hashes(uint64_t *hash, uint64_t *other, uint64_t n);

/* By hash, then by value. */
uint64_t *tamis__sort_pairs(uint64_t *pair, uint64_t *other, uint64_t n);

/* `numbers` is a constant wherever this is inlined: a copy of unknown size would be a call, and
 * take a third of the sorting time. */
TAMIS_HOT void tamis__copy_record(uint64_t *to, const uint64_t *from, unsigned numbers) {
    to[0] = from[0];
    if (numbers == 2) to[1] = from[1];
}

/* By hash, then by value. */
TAMIS_HOT bool tamis__record_is_before(const uint64_t *a, const uint64_t *b, unsigned numbers) {
    return a[0] != b[0] ? a[0] < b[0] : numbers == 2 && a[1] < b[1];
}

#endif
