/* SPDX-License-Identifier: MIT */
/* hadoop: Hadoop's BloomFilter, as its write() writes it, and what its relatives share with it.
 *
 *     header  13 or 8 bytes (hadoop.h)
 *     bits    m, in bytes, and zeros up to a whole one
 *
 * Hadoop itself does not plan: m and k are the caller's, bits= and hashes= here. For a rate they
 * are the usual best ones. */
#include "foreign/hadoop.h"

#include <math.h>

#include "foreign/bytes.h"
#include "foreign/foreign_hashes.h"
#include "foreign/murmur.h"

enum { BITS = TAMIS_HADOOP_BITS, HASHES = TAMIS_HADOOP_HASHES };
enum { HASH = TAMIS_HADOOP_HASH, HEADER = TAMIS_HADOOP_HEADER };
enum { VERSIONED_BYTES = 13, OLD_BYTES = 8 };

/* ---- Shared: shape -------------------------------------------------------------------------- */

static tamis_status plan_choices(const char *name, const tamis_params *params, uint64_t word[]) {
    word[HEADER] = params->option[TAMIS_HADOOP_OPT_HEADER];
    word[HASH] = params->has_option[TAMIS_HADOOP_OPT_HASH] ? params->option[TAMIS_HADOOP_OPT_HASH]
                 : word[HEADER] == TAMIS_HADOOP_OLD        ? TAMIS_HADOOP_JENKINS
                                                           : TAMIS_HADOOP_MURMUR;
    if (word[HEADER] == TAMIS_HADOOP_OLD && word[HASH] != TAMIS_HADOOP_JENKINS)
        return tamis__fail(TAMIS_INVALID, "%s with header=old can only have hash=jenkins", name);
    return TAMIS_OK;
}

tamis_status tamis__hadoop_plan(const char *name, const tamis_params *params,
                                uint64_t bits_of_a_cell, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    const double cells = params->bits ? (double)(params->bits / bits_of_a_cell)
                                      : ceil(tamis__like_bits_for(params->capacity, params->fpr));
    if (cells < 1)
        return tamis__fail(TAMIS_INVALID, "%s needs at least bits=%llu", name,
                           (unsigned long long)bits_of_a_cell);
    if (cells > (double)TAMIS_HADOOP_MAX)
        return tamis__fail(TAMIS_TOO_LARGE, "%s has at most 2^31-1 positions, not %.0f", name,
                           cells);
    word[BITS] = (uint64_t)cells * bits_of_a_cell;
    word[HASHES] = tamis__like_hashes(params, floor(cells / keys * log(2) + 0.5));
    return plan_choices(name, params, word);
}

tamis_status tamis__hadoop_check(const char *name, const uint64_t word[], uint64_t cells) {
    if (cells == 0 || cells > TAMIS_HADOOP_MAX)
        return tamis__fail(TAMIS_CORRUPT, "%s has 1 to 2^31-1 positions, not %llu", name,
                           (unsigned long long)cells);
    if (word[HASHES] == 0 || word[HASHES] > TAMIS_LIKE_MAX_HASHES)
        return tamis__fail(TAMIS_CORRUPT, "%s has 1 to %d hashes, not %llu", name,
                           TAMIS_LIKE_MAX_HASHES, (unsigned long long)word[HASHES]);
    if (word[HASH] >= TAMIS_HADOOP_HASHES_KNOWN || word[HEADER] >= TAMIS_HADOOP_HEADERS ||
        (word[HEADER] == TAMIS_HADOOP_OLD && word[HASH] != TAMIS_HADOOP_JENKINS))
        return tamis__fail(TAMIS_CORRUPT, "%s has no hash of type %llu with header %llu", name,
                           (unsigned long long)word[HASH], (unsigned long long)word[HEADER]);
    return TAMIS_OK;
}

/* ---- Headers -------------------------------------------------------------------------------- */

uint64_t tamis__hadoop_header_bytes(const uint64_t word[]) {
    return word[HEADER] == TAMIS_HADOOP_OLD ? OLD_BYTES : VERSIONED_BYTES;
}

void tamis__hadoop_header(const uint64_t word[], uint64_t cells, uint8_t *to) {
    if (word[HEADER] == TAMIS_HADOOP_OLD) {
        tamis__put32_big(to, (uint32_t)word[HASHES]);
        tamis__put32_big(to + 4, (uint32_t)cells);
        return;
    }
    tamis__put32_big(to, UINT32_MAX);
    tamis__put32_big(to + 4, (uint32_t)word[HASHES]);
    to[8] = (uint8_t)word[HASH];
    tamis__put32_big(to + 9, (uint32_t)cells);
}

tamis_status tamis__hadoop_read(const char *name, const tamis_input *in, tamis_import_result *out) {
    uint64_t *word = out->word;
    *out = (tamis_import_result){.kind = name, .payload = *in};
    const uint32_t first = in->size < 4 ? 0 : tamis__get32_big(in->bytes);
    const bool is_versioned = first == UINT32_MAX;
    if (!is_versioned && (first == 0 || first > INT32_MAX))
        return tamis__bad_format(name, "they start neither with -1 nor with a number of hashes");
    word[HEADER] = is_versioned ? TAMIS_HADOOP_VERSIONED : TAMIS_HADOOP_OLD;
    if (in->size < tamis__hadoop_header_bytes(word))
        return tamis__too_short(name, in, tamis__hadoop_header_bytes(word));
    word[HASHES] = is_versioned ? tamis__get32_big(in->bytes + 4) : first;
    word[HASH] = is_versioned ? in->bytes[8] : TAMIS_HADOOP_JENKINS;
    word[BITS] = tamis__get32_big(in->bytes + (is_versioned ? 9 : 4));
    out->capacity = tamis__like_capacity(word[BITS], word[HASHES]);
    return tamis__hadoop_check(name, word, word[BITS]);
}

/* ---- Positions ------------------------------------------------------------------------------ */

void tamis__hadoop_begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    (void)word;
    walk->key = *key;
    walk->a = 0;
}

/* The remainder of the absolute value equals the absolute value of the remainder; that of -2^31 is
 * 2^31 in 64 bits. */
uint64_t tamis__hadoop_next(const uint64_t word[], uint64_t cells, tamis_walk *walk) {
    const uint32_t seed = (uint32_t)walk->a;
    const uint32_t now = word[HASH] == TAMIS_HADOOP_JENKINS
                             ? tamis__lookup3(&walk->key, seed)
                             : tamis__murmur2_hadoop(&walk->key, seed);
    walk->a = now;
    return (now >> 31 ? ((uint64_t)1 << 32) - now : now) % cells;
}

void tamis__hadoop_query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    tamis__foreign_bloom_query(f, b, hit);
    for (size_t i = 0; i < b.n; i++) hit[i] &= b.key[i].len > 0;
}

/* ---- BloomFilter ---------------------------------------------------------------------------- */

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    return tamis__hadoop_next(word, word[BITS], walk);
}

static void header(const uint64_t word[], uint8_t *to) {
    tamis__hadoop_header(word, word[BITS], to);
}

const tamis_bloomlike *tamis__hadoop_like(const uint64_t word[]) {
    static const tamis_bloomlike versioned = {.name = "hadoop",
                                              .header_bytes = VERSIONED_BYTES,
                                              .header = header,
                                              .begin = tamis__hadoop_begin,
                                              .next = next};
    static const tamis_bloomlike old = {.name = "hadoop",
                                        .header_bytes = OLD_BYTES,
                                        .header = header,
                                        .begin = tamis__hadoop_begin,
                                        .next = next};
    return word[HEADER] == TAMIS_HADOOP_OLD ? &old : &versioned;
}

static const struct tamis_option options[] = {TAMIS_HADOOP_OPTIONS, {0}};

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return tamis__hadoop_plan("hadoop", params, 1, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const tamis_status rc = tamis__hadoop_check("hadoop", word, word[BITS]);
    if (!rc) *size = (tamis__like_stored(tamis__hadoop_like(word), word) + 7) / 8 * 8;
    return rc;
}

const tamis_bloomlike tamis__hadoop_layouts = {.by_shape = tamis__hadoop_like};

const tamis_kind tamis__hadoop = {
    .name = "hadoop",
    .contract = "a Bloom filter that Hadoop can read and write",
    .word = {TAMIS_HADOOP_WORDS},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER | TAMIS_NO_EMPTY_KEY,
    .own = &tamis__hadoop_layouts,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = tamis__like_start,
    .audit = tamis__like_audit,
    .measure = tamis__like_measure,
    .query = tamis__hadoop_query,
    .add = tamis__like_add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    const tamis_status rc = tamis__hadoop_read("hadoop", in, out);
    if (rc) return rc;
    const uint64_t stored = tamis__like_stored(tamis__hadoop_like(out->word), out->word);
    if (in->size == stored) return TAMIS_OK;
    return tamis__bad_format("hadoop", "%llu bits need %llu bytes, not %llu",
                             (unsigned long long)out->word[BITS], (unsigned long long)stored,
                             (unsigned long long)in->size);
}

const tamis_format tamis__format_hadoop = {
    .name = "hadoop",
    .system = "Hadoop BloomFilter.write",
    .kinds = "hadoop",
    .keys = "utf8 bytes",
    .limits = "Hadoop takes no empty key",
    .read = read,
    .write = tamis__like_write,
};
