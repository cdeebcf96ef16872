/* Kinds that are built once, the builder and tests may include this: a payload cut into shards.
 *
 *     shard 0 │ shard 1 │ ... │ tail │ offsets: where each shard starts, and where the last ends
 *
 * The offsets come last, because a payload of any size is written from front to back and how long
 * a shard gets shows only when it is made. Everything is a multiple of 8 bytes. The first three
 * shape words are the same for every such kind. */
#ifndef TAMIS_KINDS_SEGMENTS_H
#define TAMIS_KINDS_SEGMENTS_H

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum {
    TAMIS_SHARDS,      /* how many, at least 1 */
    TAMIS_SHARD_BYTES, /* of the whole payload */
    TAMIS_SHARD_KEYS,  /* that a shard is planned for: what the records are cut by */
    TAMIS_SHARD_WORDS  /* the first word of the kind's own */
};

/* The words that the records decide, for tamis_build_facet.made. */
enum { TAMIS_SHARD_MADE = 1 << TAMIS_SHARDS | 1 << TAMIS_SHARD_BYTES };

/* The word that says how the payload is cut, for tamis_build_facet.cut. */
enum { TAMIS_SHARD_CUT = 1 << TAMIS_SHARD_KEYS };

/* The names of the first words, and the option that sets the third. Smaller shards need less
 * memory to build and, below some hundred thousand keys, more bits. */
#define TAMIS_SHARD_WORD_NAMES "shards", "bytes", "shard"
#define TAMIS_SHARD_PRESET     ((uint64_t)1 << 22)
#define TAMIS_SHARD_LEAST      ((uint64_t)1 << 10)
#define TAMIS_SHARD_MOST       ((uint64_t)1 << 24)
#define TAMIS_SHARD_OPTION                                                           \
    {                                                                                \
        "shard", NULL, TAMIS_SHARD_LEAST, TAMIS_SHARD_MOST, "4194304",               \
            "keys in a shard; building needs memory for one, smaller ones cost bits" \
    }

/* The wish for that; the option is the kind's first. */
static inline uint64_t tamis__shard_keys(const tamis_wish *wish) {
    return wish->has_option[0] ? wish->option[0] : TAMIS_SHARD_PRESET;
}

/* Shards for so many records: full ones and, unless they come out even, no more than one beyond. */
static inline uint64_t tamis__shards_for(const uint64_t word[], uint64_t records) {
    const uint64_t keys = word[TAMIS_SHARD_KEYS];
    return records ? (records - 1) / keys + 1 : 1;
}

static inline uint64_t tamis__shard_offsets_size(uint64_t shards) {
    return (shards + 1) * 8;
}

/* Where the i-th shard starts; with i = shards, where the tail does. */
static inline uint64_t tamis__shard_start(const tamis_body *f, uint64_t i) {
    return tamis__get64(f->bytes + f->size - (f->word[TAMIS_SHARDS] + 1 - i) * 8);
}

static inline const uint8_t *tamis__shard(const tamis_body *f, uint64_t i, uint64_t *size) {
    const uint64_t start = tamis__shard_start(f, i);
    *size = tamis__shard_start(f, i + 1) - start;
    return f->bytes + start;
}

/* The shard of a hash where shards have equal shares of all hashes. */
static inline uint64_t tamis__shard_of(const uint64_t word[], uint64_t hash) {
    return tamis__range(hash, word[TAMIS_SHARDS]);
}

/* Words from a file: a legal number of shards in a legal number of bytes, of which `tail` (a
 * multiple of 8) are the kind's own. */
tamis_status tamis__shards_check(const uint64_t word[], uint64_t tail, uint64_t *size);

/* Offsets from a file: shards of at least `least` bytes, one after the other without a gap. */
tamis_status tamis__shards_audit(const tamis_body *, uint64_t tail, uint64_t least);

#endif
