/* SPDX-License-Identifier: MIT */
/* For kinds of RocksDB: its Bloom filter of one cache line per key (FastLocalBloom).
 *
 *     lines   64 bytes each, as many as the keys need
 *     ff 00   magic
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

/* RocksDB counts in thousandths of a bit per key: its rules for hashes, for bytes in lines, and for
 * the expected rate, which is between those of lines with more and with fewer keys. */
enum { TAMIS_MIN_MILLIBITS = 1000, TAMIS_MAX_MILLIBITS = 100000 };
unsigned tamis__fast_hashes(uint64_t millibits);
uint64_t tamis__fast_bytes(uint64_t keys, uint64_t millibits);
double tamis__fast_rate(double bits_per_key, unsigned hashes);

bool tamis__fast_has(const uint8_t *lines, uint64_t size, unsigned hashes, uint64_t hash);
void tamis__fast_add(uint8_t *lines, uint64_t size, unsigned hashes, uint64_t hash);

/* The rate by the set bits, line by line; *set is their number. */
double tamis__fast_rate_now(const uint8_t *lines, uint64_t size, unsigned hashes, uint64_t *set);

#endif
