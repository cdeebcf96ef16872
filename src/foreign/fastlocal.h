/* SPDX-License-Identifier: MIT */
/* Kinds of RocksDB may include this: its Bloom filter of one cache line per key (FastLocalBloom).
 *
 *     lines   64 bytes each, as many as the keys need
 *     ff 00   what it is
 *     k       1 byte, 1 to 30
 *     00 00
 *
 * The lower half of a key's XXPH3 chooses the line, the upper half k bits in it. */
#ifndef TAMIS_FOREIGN_FASTLOCAL_H
#define TAMIS_FOREIGN_FASTLOCAL_H

#include <stdbool.h>
#include <stdint.h>

enum { TAMIS_INLINE_LINE = 64, TAMIS_INLINE_MAX_HASHES = 30 };
#define TAMIS_INLINE_MAX_BYTES ((uint64_t)0xffffffc0)

/* Thousandths of a bit per key are how RocksDB counts: its rules of hashes, of bytes in lines, and
 * of the rate that it expects, which is between those of lines with more and with fewer keys. */
enum { TAMIS_MIN_MILLIBITS = 1000, TAMIS_MAX_MILLIBITS = 100000 };
unsigned tamis__fast_hashes(uint64_t millibits);
uint64_t tamis__fast_bytes(uint64_t keys, uint64_t millibits);
double tamis__fast_rate(double bits_per_key, unsigned hashes);

bool tamis__fast_has(const uint8_t *lines, uint64_t size, unsigned hashes, uint64_t hash);
void tamis__fast_add(uint8_t *lines, uint64_t size, unsigned hashes, uint64_t hash);

/* The rate by the bits that are set, line by line; *set is how many they are. */
double tamis__fast_rate_now(const uint8_t *lines, uint64_t size, unsigned hashes, uint64_t *set);

#endif
