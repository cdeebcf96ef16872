/* SPDX-License-Identifier: MIT */
/* Bits anywhere: the rounds again, for processors with BMI2. */
#include "kinds/bloom.h"

#ifdef __AVX2__
#include "kinds/rounds.h"

/* Shifts by any number are one instruction instead of three: 10 to 15 % less time in the second
 * cache. */
static void query(const tamis_bloom *b, const uint64_t *hash, size_t n, uint8_t *hit) {
    const tamis_probed p = tamis__bits_probed(b);
    tamis__probed_query(tamis__bit_passes, &p, hash, n, hit);
}

const tamis_bloom_ops tamis__bloom_avx2 = {query};
#endif
