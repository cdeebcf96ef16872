/* SPDX-License-Identifier: MIT */
/* guava: Google Guava's BloomFilter, as BloomFilter.writeTo writes it.
 *
 *     strategy  1 byte   0: MURMUR128_MITZ_32, 1: MURMUR128_MITZ_64
 *     hashes    1 byte   k
 *     words     4 bytes  big-endian, w
 *     bits      8 w      big-endian words of 64 bits
 *
 * A key is hashed to 128 bits by MurmurHash3. The first strategy splits the low half of them into
 * two 32-bit numbers and so reaches at most 2^31 bits; the second, today's, adds the high half to
 * the low half repeatedly. Neither the capacity nor the rate is in the file, nor how keys became
 * bytes (the funnel).
 *
 * Before version 33.4 the number of hashes came from the rounded size, which differs for a handful
 * of keys: hashes=N requests it. */
#include <math.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"

enum { BITS, HASHES, STRATEGY };
enum { MITZ_32, MITZ_64, STRATEGIES };
enum { OPT_HASHES, OPT_STRATEGY };
enum { HEADER = 6 };
#define MAX_BITS ((uint64_t)INT32_MAX * 64)
#define REACH_32 ((uint64_t)1 << 31)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as Guava does", "probes per key, k"},
    {"strategy", "mitz32|mitz64", 0, 0, "mitz64", "how positions follow from the hash"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    const tamis_pair h = tamis__murmur3_128(key, 0);
    const bool is_32 = word[STRATEGY] == MITZ_32;
    walk->a = is_32 ? (uint32_t)h.h1 : h.h1;
    walk->b = is_32 ? h.h1 >> 32 : h.h2;
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    if (word[STRATEGY] == MITZ_64) {
        const uint64_t now = walk->a;
        walk->a += walk->b;
        return (now & INT64_MAX) % word[BITS];
    }
    const uint32_t now = (uint32_t)(walk->a + walk->b);
    walk->a = now;
    return (now >> 31 ? ~now : now) % word[BITS];
}

static void header(const uint64_t word[], uint8_t *to) {
    to[0] = (uint8_t)word[STRATEGY];
    to[1] = (uint8_t)word[HASHES];
    tamis__put32_big(to + 2, (uint32_t)(word[BITS] / 64));
}

static const tamis_bloomlike like = {.name = "guava",
                                     .header_bytes = HEADER,
                                     .header = header,
                                     .is_big_endian = true,
                                     .has_steps = true,
                                     .begin = begin,
                                     .next = next};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan_bits(const tamis_params *params, uint64_t word[]) {
    const double bits = params->bits ? (double)(params->bits / 64 * 64)
                                     : floor(tamis__like_bits_for(params->capacity, params->fpr));
    if (bits < 1)
        return tamis__fail(TAMIS_INVALID, "guava makes no filter of 0 bits: %s is needed",
                           params->bits ? "bits=64 or more" : "a lower rate");
    if (bits > (double)MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "guava has at most 2^31-1 words of 64 bits");
    word[BITS] = ((uint64_t)bits + 63) / 64 * 64;
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = plan_bits(params, word);
    if (rc) return rc;
    const double keys = params->capacity ? (double)params->capacity : 1;
    const double best =
        params->bits ? (double)word[BITS] / keys * log(2) : -log(params->fpr) / log(2);
    word[HASHES] = tamis__like_hashes(params, floor(best + 0.5));
    word[STRATEGY] = params->has_option[OPT_STRATEGY] ? params->option[OPT_STRATEGY] : MITZ_64;
    if (word[STRATEGY] == MITZ_32 && word[BITS] > REACH_32)
        return tamis__fail(TAMIS_TOO_LARGE,
                           "mitz32 reaches at most 2^31 bits: mitz64 has no such limit");
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[STRATEGY] >= STRATEGIES)
        return tamis__fail(TAMIS_CORRUPT, "guava has no strategy %llu",
                           (unsigned long long)word[STRATEGY]);
    return tamis__like_check(&like, word, 64, MAX_BITS, size);
}

/* ---- The kind ------------------------------------------------------------------------------- */

const tamis_kind tamis__guava = {
    .name = "guava",
    .contract = "a Bloom filter that Guava can read and write",
    .word = {"bits", "hashes", "strategy"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = tamis__like_start,
    .audit = tamis__like_audit,
    .measure = tamis__like_measure,
    .query = tamis__foreign_bloom_query,
    .add = tamis__like_add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    if (in->size < HEADER) return tamis__too_short("guava", in, HEADER);
    const uint64_t words = tamis__get32_big(in->bytes + 2);
    if (in->bytes[0] >= STRATEGIES)
        return tamis__bad_format("guava", "unknown strategy %d", in->bytes[0]);
    if (words == 0 || words > INT32_MAX || in->size != HEADER + 8 * words)
        return tamis__bad_format(
            "guava", "%llu words need %llu bytes, not %llu", (unsigned long long)words,
            (unsigned long long)(HEADER + 8 * words), (unsigned long long)in->size);
    *out = (tamis_import_result){.kind = "guava",
                                 .word = {words * 64, in->bytes[1], in->bytes[0]},
                                 .capacity = tamis__like_capacity(words * 64, in->bytes[1]),
                                 .payload = *in};
    return TAMIS_OK;
}

const tamis_format tamis__format_guava = {
    .name = "guava",
    .system = "Guava BloomFilter.writeTo",
    .kinds = "guava",
    .keys = "utf8 utf16 int32 int64 bytes",
    .read = read,
    .write = tamis__like_write,
};
