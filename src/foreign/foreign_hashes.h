/* SPDX-License-Identifier: MIT */
/* For kinds and formats of other systems: their hashes and checksums, except the MurmurHash family
 * (murmur.h). None of them protects anything here. */
#ifndef TAMIS_FOREIGN_FOREIGN_HASHES_H
#define TAMIS_FOREIGN_FOREIGN_HASHES_H

#include "tamis.h"

/* MD5 (RFC 1321) of the concatenated parts: Squid names its objects by it. */
enum { TAMIS_MD5_BYTES = 16 };
void tamis__md5(const struct tamis_key *parts, size_t n, uint8_t digest[TAMIS_MD5_BYTES]);

/* SHA-256 (FIPS 180-4), for formats that are hashed whole; and the digest of the digest, as in
 * Bitcoin. */
enum { TAMIS_SHA256_BYTES = 32 };
void tamis__sha256(const void *bytes, size_t size, uint8_t digest[TAMIS_SHA256_BYTES]);
void tamis__sha256_twice(const void *bytes, size_t size, uint8_t digest[TAMIS_SHA256_BYTES]);

/* FNV-1, 64 bits, by Fowler, Noll and Vo. Each byte is mixed in after the multiplication: not
 * FNV-1a, which does it the other way round. */
uint64_t tamis__fnv1_64(const struct tamis_key *);

/* Bob Jenkins's lookup3, of Hadoop. */
uint32_t tamis__lookup3(const struct tamis_key *, uint32_t init);

/* The hash of RocksDB's filters: XXH3 as in the preview of xxHash 0.7.2, which RocksDB froze under
 * this name. Today's XXH3 gives other values at every length. */
uint64_t tamis__xxph3(const struct tamis_key *);

/* Checksums of LevelDB's and RocksDB's blocks: Castagnoli's CRC of 32 bits, as in iSCSI; the same
 * rotated, plus a constant, as stored beside data that may itself hold checksums; and XXH32 with
 * seed 0. */
uint32_t tamis__crc32c(const void *bytes, uint64_t size);
uint32_t tamis__crc32c_masked(const void *bytes, uint64_t size);
uint32_t tamis__xxh32(const void *bytes, uint64_t size);

/* CRC-64 as in Redis, of Jones's polynomial 0xad93d23594c935a9, reflected. Continues from the
 * previous result; 0 at first. */
uint64_t tamis__crc64(uint64_t before, const uint8_t *bytes, uint64_t n);

#endif
