/* SPDX-License-Identifier: MIT */
/* spark: Apache Spark's BloomFilter (util.sketch), as writeTo writes it. All numbers big-endian.
 *
 *     version  4 bytes   1                version  4 bytes   2, from Spark 4.1 on
 *     hashes   4 bytes   k                hashes   4 bytes
 *     words    4 bytes   w                seed     4 bytes   signed
 *     bits     8 w       words of 64      words    4 bytes
 *                                         bits     8 w
 *
 * A key has two 32-bit hashes, the second seeded with the first. Version 1 adds them up in 32 bits,
 * and so never reaches a position from 2^31 on; version 2 first spreads the first over 62 bits.
 * Strings and binaries are hashed as they are; all integers as the 8 little-endian bytes of a long,
 * where Spark's hash for longs and the one for bytes are the same. */
#include <math.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"

enum { BITS, HASHES, VERSION, SEED };
enum { V1, V2, VERSIONS };
enum { OPT_HASHES, OPT_VERSION, OPT_SEED };
enum { HEADER_V1 = 12, HEADER_V2 = 16 };
#define MAX_BITS ((uint64_t)INT32_MAX * 64)
#define REACH_V1 ((uint64_t)1 << 31)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as Spark does", "probes per key, k"},
    {"version", "1|2", 0, 0, "2", "of the bytes: Spark before 4.1 reads only 1"},
    {"seed", NULL, 0, UINT32_MAX, "0", "of the first hash, with version 2; -7 is 4294967289"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static uint64_t widened(uint32_t x) {
    return (uint64_t)(int64_t)(int32_t)x;
}

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    const uint32_t a = tamis__murmur3_spark(key, (uint32_t)word[SEED]);
    const uint32_t b = tamis__murmur3_spark(key, a);
    walk->a = word[VERSION] == V1 ? a : widened(a) * INT32_MAX;
    walk->b = word[VERSION] == V1 ? b : widened(b);
}

/* A negative number is replaced by its complement, which is never negative. */
static uint64_t next_v1(const uint64_t word[], tamis_walk *walk) {
    const uint32_t now = (uint32_t)(walk->a + walk->b);
    walk->a = now;
    return (now >> 31 ? ~now : now) % word[BITS];
}

static uint64_t next_v2(const uint64_t word[], tamis_walk *walk) {
    const uint64_t now = walk->a += walk->b;
    return (now >> 63 ? ~now : now) % word[BITS];
}

/* ---- Headers -------------------------------------------------------------------------------- */

static void header(const uint64_t word[], uint8_t *to) {
    const bool is_v2 = word[VERSION] == V2;
    tamis__put32_big(to, (uint32_t)word[VERSION] + 1);
    tamis__put32_big(to + 4, (uint32_t)word[HASHES]);
    if (is_v2) tamis__put32_big(to + 8, (uint32_t)word[SEED]);
    tamis__put32_big(to + (is_v2 ? 12 : 8), (uint32_t)(word[BITS] / 64));
}

static const tamis_bloomlike likes[VERSIONS] = {
    [V1] = {.name = "spark",
            .header_bytes = HEADER_V1,
            .header = header,
            .is_big_endian = true,
            .has_steps = true,
            .begin = begin,
            .next = next_v1},
    [V2] = {.name = "spark",
            .header_bytes = HEADER_V2,
            .header = header,
            .is_big_endian = true,
            .has_steps = true,
            .begin = begin,
            .next = next_v2},
};

static const tamis_bloomlike *like_of(const uint64_t word[]) {
    return &likes[word[VERSION]];
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Spark takes the number of hashes from the bits before they are rounded up to words. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    const double bits = params->bits ? (double)(params->bits / 64 * 64)
                                     : floor(tamis__like_bits_for(params->capacity, params->fpr));
    if (bits < 1)
        return tamis__fail(TAMIS_INVALID, "spark makes no filter of 0 bits: %s is needed",
                           params->bits ? "bits=64 at least" : "a lower rate");
    if (bits > (double)MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "spark has at most 2^31-1 words of 64 bits");
    word[BITS] = ((uint64_t)bits + 63) / 64 * 64;
    word[HASHES] = tamis__like_hashes(params, floor(bits / keys * log(2) + 0.5));
    word[VERSION] = params->has_option[OPT_VERSION] ? params->option[OPT_VERSION] : V2;
    word[SEED] = params->option[OPT_SEED];
    if (word[VERSION] == V1 && word[SEED])
        return tamis__fail(TAMIS_INVALID,
                           "version 1 of Spark's filters has no seed: version=2 has");
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[VERSION] >= VERSIONS)
        return tamis__fail(TAMIS_CORRUPT, "spark has the versions 1 and 2, not %llu",
                           (unsigned long long)word[VERSION] + 1);
    if (word[SEED] > (word[VERSION] == V1 ? 0 : UINT32_MAX))
        return tamis__fail(TAMIS_CORRUPT, "version %llu of spark has no seed %llu",
                           (unsigned long long)word[VERSION] + 1, (unsigned long long)word[SEED]);
    return tamis__like_check(like_of(word), word, 64, MAX_BITS, size);
}

/* Bits that a probe can reach at all. */
static uint64_t reach(const uint64_t word[]) {
    return word[VERSION] == V1 && word[BITS] > REACH_V1 ? REACH_V1 : word[BITS];
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, reach(word), word[HASHES]);
}

/* ---- The kind ------------------------------------------------------------------------------- */

static const tamis_bloomlike layouts = {.by_shape = like_of};

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__like_measure(f, other, out);
    if (reach(f->word) < f->word[BITS] && out->bits_set <= REACH_V1)
        tamis__fill_measure(out->bits_set, REACH_V1, f->word[HASHES], out);
}

const tamis_kind tamis__spark = {
    .name = "spark",
    .contract = "a Bloom filter that Apache Spark can read and write",
    .word = {"bits", "hashes", "version", "seed"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &layouts,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .start = tamis__like_start,
    .audit = tamis__like_audit,
    .measure = measure,
    .query = tamis__foreign_bloom_query,
    .add = tamis__like_add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    const uint32_t version = in->size < 4 ? 0 : tamis__get32_big(in->bytes);
    if (version != 1 && version != 2)
        return tamis__bad_format("spark",
                                 in->size < 4 ? "there are fewer than 4" : "no version 1 or 2");
    const uint64_t header_bytes = version == 1 ? HEADER_V1 : HEADER_V2;
    if (in->size < header_bytes) return tamis__too_short("spark", in, header_bytes);
    const uint64_t words = tamis__get32_big(in->bytes + header_bytes - 4);
    const uint64_t hashes = tamis__get32_big(in->bytes + 4);
    if (words == 0 || words > INT32_MAX || in->size != header_bytes + 8 * words)
        return tamis__bad_format(
            "spark", "%llu words need %llu bytes, not %llu", (unsigned long long)words,
            (unsigned long long)(header_bytes + 8 * words), (unsigned long long)in->size);
    *out = (tamis_import_result){.kind = "spark",
                                 .word = {words * 64, hashes, version - 1,
                                          version == 2 ? tamis__get32_big(in->bytes + 8) : 0},
                                 .capacity = tamis__like_capacity(words * 64, hashes),
                                 .payload = *in};
    return TAMIS_OK;
}

const tamis_format tamis__format_spark = {
    .name = "spark",
    .system = "Spark BloomFilter.writeTo",
    .kinds = "spark",
    .keys = "utf8 int64 bytes",
    .read = read,
    .write = tamis__like_write,
};
