/* SPDX-License-Identifier: MIT */
/* For the kinds of Hadoop: what the four filters of org.apache.hadoop.util.bloom share.
 *
 * Each starts with the same header, big-endian, in one of two forms:
 *
 *     versioned  -1    4 bytes            old   k    4 bytes, above 0
 *                k     4 bytes                  m    4 bytes
 *                hash  1 byte
 *                m     4 bytes
 *
 * The hash is 0 for Jenkins's lookup3 and 1 for MurmurHash2, the usual one; the old form has
 * Jenkins's. A key's first hash has seed 0, every other one has the hash before it as its seed, and
 * the remainder by m of each, without its sign, is a position. */
#ifndef TAMIS_FOREIGN_HADOOP_H
#define TAMIS_FOREIGN_HADOOP_H

#include "foreign/foreign_bloom.h"
#include "foreign/format.h"

/* The first words of all of them. Of CountingBloomFilter, m is a quarter of the bits. */
enum {
    TAMIS_HADOOP_BITS,
    TAMIS_HADOOP_HASHES,
    TAMIS_HADOOP_HASH,
    TAMIS_HADOOP_HEADER,
    TAMIS_HADOOP_OWN /* from here on they differ */
};
#define TAMIS_HADOOP_WORDS "bits", "hashes", "hash", "header"
enum { TAMIS_HADOOP_JENKINS, TAMIS_HADOOP_MURMUR, TAMIS_HADOOP_HASHES_KNOWN };
enum { TAMIS_HADOOP_VERSIONED, TAMIS_HADOOP_OLD, TAMIS_HADOOP_HEADERS };
#define TAMIS_HADOOP_MAX ((uint64_t)INT32_MAX) /* of m, and of every other number there */

/* The first options of kinds that can be created. */
enum {
    TAMIS_HADOOP_OPT_HASHES,
    TAMIS_HADOOP_OPT_HASH,
    TAMIS_HADOOP_OPT_HEADER,
    TAMIS_HADOOP_OPT_OWN
};
#define TAMIS_HADOOP_OPTIONS                                                            \
    {"hashes", NULL, 1, 255, "the best for the rate", "probes per key, k"},             \
        {"hash",                                                                        \
         "jenkins|murmur",                                                              \
         0,                                                                             \
         0,                                                                             \
         "murmur; jenkins with the old header",                                         \
         "how keys are hashed"},                                                        \
    {                                                                                   \
        "header", "versioned|old", 0, 0, "versioned", "the old one has no type of hash" \
    }

/* Plans the number of cells, k and the two choices. */
tamis_status tamis__hadoop_plan(const char *name, const tamis_params *, uint64_t bits_of_a_cell,
                                uint64_t word[]);

/* The gate for these words; `cells` is m. */
tamis_status tamis__hadoop_check(const char *name, const uint64_t word[], uint64_t cells);

uint64_t tamis__hadoop_header_bytes(const uint64_t word[]);
void tamis__hadoop_header(const uint64_t word[], uint64_t cells, uint8_t *to);

/* read(): the header, all of the input as payload, and the capacity for that; word[BITS] becomes
 * m. */
tamis_status tamis__hadoop_read(const char *name, const tamis_input *, tamis_import_result *);

/* From a key to its positions among `cells` cells. */
void tamis__hadoop_begin(const uint64_t word[], const struct tamis_key *, tamis_walk *);
uint64_t tamis__hadoop_next(const uint64_t word[], uint64_t cells, tamis_walk *);

/* A plain BloomFilter of these words: what DynamicBloomFilter has in each row, and what
 * RetouchedBloomFilter starts with. */
const tamis_bloomlike *tamis__hadoop_like(const uint64_t word[]);
extern const tamis_bloomlike tamis__hadoop_layouts; /* that, as `own` of a kind */

/* query(). No filter of Hadoop has an empty key: adding one throws there, and so does a query. Here
 * it is answered no, which is true, and not by the positions of an empty hash. */
void tamis__hadoop_query(const tamis_body *, tamis_batch, uint8_t *hit);

#endif
