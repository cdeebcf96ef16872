/* SPDX-License-Identifier: MIT */
/* For hash.c and its vector kernels: hashes of 8-byte integers, many at once.
 *
 * A kernel hashes integers from the front of the list in groups of its own width and returns their
 * number; hash.c does the rest one by one. */
#ifndef TAMIS_HASH_INTEGERS_H
#define TAMIS_HASH_INTEGERS_H

#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

#if TAMIS_HAS_X86
size_t tamis__xxh3_u64s_avx2(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes);
size_t tamis__xxh3_u64s_avx512(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes);
size_t tamis__xxh64_u64s_avx512(uint64_t seed, const uint64_t *keys, size_t n, uint64_t *hashes);
size_t tamis__mix8_u64s_avx512(uint64_t flip, const uint64_t *keys, size_t n, uint64_t *hashes);
size_t tamis__sip13_u64s_avx512(const uint8_t secret[16], const uint64_t *keys, size_t n,
                                uint64_t *hashes);
#endif

#endif
