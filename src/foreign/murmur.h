/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: the MurmurHash family, each as its users wrote it.
 *
 * Several systems read the last bytes of a key as signed numbers, which shows only with bytes from
 * 0x80 on. That is part of their formats. */
#ifndef TAMIS_FOREIGN_MURMUR_H
#define TAMIS_FOREIGN_MURMUR_H

#include "tamis.h"

/* MurmurHash3 for x86, 32 bits: Bitcoin; and Spark's, where each of the last bytes is a word. */
uint32_t tamis__murmur3_32(const struct tamis_key *, uint32_t seed);
uint32_t tamis__murmur3_spark(const struct tamis_key *, uint32_t seed);

/* MurmurHash3 for x64, 128 bits, as two halves: Guava, bits-and-blooms; and Cassandra's, which
 * takes the last bytes as signed. */
typedef struct tamis_pair {
    uint64_t h1, h2;
} tamis_pair;

tamis_pair tamis__murmur3_128(const struct tamis_key *, uint64_t seed);

/* Of the key, and of the key with a byte 1 appended, in one pass: bits-and-blooms. */
void tamis__murmur3_128_twice(const struct tamis_key *, tamis_pair pair[2]);
tamis_pair tamis__murmur3_cassandra(const struct tamis_key *);

/* A MurmurHash3 of 64 bits that only Hive and ORC have. */
uint64_t tamis__murmur3_orc(const struct tamis_key *);

/* MurmurHash2, 32 bits: libbloom, early RedisBloom; and Hadoop's, which takes the last bytes as
 * signed and in the other order. */
uint32_t tamis__murmur2_32(const struct tamis_key *, uint32_t seed);
uint32_t tamis__murmur2_hadoop(const struct tamis_key *, uint32_t seed);

/* MurmurHash64A: RedisBloom. */
uint64_t tamis__murmur64a(const struct tamis_key *, uint64_t seed);

/* The hash of LevelDB, and of RocksDB's first filters, which takes the last bytes as signed. */
uint32_t tamis__murmur1_leveldb(const struct tamis_key *);
uint32_t tamis__murmur1_rocksdb(const struct tamis_key *);

#endif
