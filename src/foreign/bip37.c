/* SPDX-License-Identifier: MIT */
/* bip37: the Bloom filter of Bitcoin's `filterload` message, after the message header.
 *
 *     bytes   1 or 3   B as a CompactSize: below 253 a byte, else fd and two bytes
 *     bits    B
 *     hashes  4        little-endian, k
 *     tweak   4        little-endian
 *     flags   1        which outputs the node adds by itself: 0 none, 1 all, 2 only to public keys
 *
 * The i-th position is MurmurHash3 of 32 bits with the seed i * fba4c795 + tweak, so probes are
 * independent. Keys are bytes as in transactions: pushed data, hashes in their inner
 * order, outpoints of 36 bytes.
 *
 * A filter without bits or without hashes matches everything, as in nodes since that was found to
 * divide by zero (CVE-2013-5700). Such filters are accepted and answer so.
 *
 * Bitcoin Core divides bits by keys as integers before it multiplies by ln 2, and silently
 * truncates at 36000 bytes: the plan does the same, and its expected rate shows the result. Only
 * where Core would make a filter that matches everything, the plan has one byte, or one hash:
 * hashes=0 requests the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"

enum { BITS, HASHES, TWEAK, FLAGS };
enum { OPT_HASHES, OPT_TWEAK, OPT_FLAGS };
enum { MAX_BYTES = 36000, MAX_HASHES = 50, LONG_FROM = 0xfd, TRAILER = 9 };
enum { SHORT_HEADER = 1, LONG_HEADER = 3, MIN = SHORT_HEADER + TRAILER };
#define STEP 0xfba4c795u

static const struct tamis_option options[] = {
    {"hashes", NULL, 0, MAX_HASHES, "as Bitcoin Core does", "probes per key, k"},
    {"tweak", NULL, 0, UINT32_MAX, "0", "added to every seed, so that filters of one set differ"},
    {"flags", NULL, 0, UINT8_MAX, "0", "1: a node adds outpoints that match, 2: some of them"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    walk->key = *key;
    walk->a = word[TWEAK];
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint32_t seed = (uint32_t)walk->a;
    walk->a = seed + STEP;
    return tamis__murmur3_32(&walk->key, seed) % word[BITS];
}

static void header(const uint64_t word[], uint8_t *to) {
    const uint64_t bytes = word[BITS] / 8;
    to[0] = (uint8_t)(bytes < LONG_FROM ? bytes : LONG_FROM);
    if (bytes >= LONG_FROM) tamis__put16(to + 1, (uint16_t)bytes);
}

static void trailer(const uint64_t word[], uint8_t *to) {
    tamis__put32(to, (uint32_t)word[HASHES]);
    tamis__put32(to + 4, (uint32_t)word[TWEAK]);
    to[8] = (uint8_t)word[FLAGS];
}

#define LIKE(head)                                                                           \
    {                                                                                        \
        .name = "bip37", .header_bytes = (head), .header = header, .trailer_bytes = TRAILER, \
        .trailer = trailer, .begin = begin, .next = next                                     \
    }
static const tamis_bloomlike with_short_header = LIKE(SHORT_HEADER);
static const tamis_bloomlike with_long_header = LIKE(LONG_HEADER);

static const tamis_bloomlike *like(const uint64_t word[]) {
    return word[BITS] / 8 < LONG_FROM ? &with_short_header : &with_long_header;
}

static bool matches_all(const uint64_t word[]) {
    return word[BITS] == 0 || word[HASHES] == 0;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Core's own digits, in its order of operations. */
static const double ln2 = 0.6931471805599453, ln2_squared = 0.4804530139182014;

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t max = (uint64_t)MAX_BYTES * 8, keys = params->capacity ? params->capacity : 1;
    if (params->bits > max)
        return tamis__fail(TAMIS_TOO_LARGE, "a BIP37 filter has at most %llu bits, not %llu",
                           (unsigned long long)max, (unsigned long long)params->bits);
    const double bits =
        params->bits ? (double)params->bits : -1 / ln2_squared * (double)keys * log(params->fpr);
    word[BITS] = (uint64_t)fmax(fmin(bits, (double)max), 8) / 8 * 8;
    word[HASHES] = tamis__like_hashes(params, fmin((double)(word[BITS] / keys) * ln2, MAX_HASHES));
    word[TWEAK] = params->option[OPT_TWEAK];
    word[FLAGS] = params->option[OPT_FLAGS];
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BITS] % 8 || word[BITS] / 8 > MAX_BYTES)
        return tamis__fail(TAMIS_CORRUPT, "a BIP37 filter has 0 to %d bytes, not %llu bits",
                           MAX_BYTES, (unsigned long long)word[BITS]);
    if (word[HASHES] > MAX_HASHES)
        return tamis__fail(TAMIS_CORRUPT, "a BIP37 filter has 0 to %d hashes, not %llu", MAX_HASHES,
                           (unsigned long long)word[HASHES]);
    if (word[TWEAK] > UINT32_MAX || word[FLAGS] > UINT8_MAX)
        return tamis__fail(TAMIS_CORRUPT,
                           "tweak %llu has more than 32 bits or flags %llu have "
                           "more than 8",
                           (unsigned long long)word[TWEAK], (unsigned long long)word[FLAGS]);
    *size = (tamis__like_stored(like(word), word) + 7) / 8 * 8;
    return TAMIS_OK;
}

static double rate(const uint64_t word[], uint64_t items) {
    return matches_all(word) ? 1 : tamis__like_rate(word, items);
}

/* ---- The kind ------------------------------------------------------------------------------- */

static const tamis_bloomlike layouts = {.by_shape = like};

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    if (matches_all(f->word))
        memset(hit, 1, b.n);
    else
        tamis__foreign_bloom_query(f, b, hit);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    return matches_all(f->word) ? TAMIS_OK : tamis__like_add(f, b);
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    if (!matches_all(f->word)) {
        tamis__like_measure(f, other, out);
        return;
    }
    out->bits = f->word[BITS];
    out->fpr = 1;
    snprintf(out->caveat, sizeof out->caveat, "it has no %s: everything matches",
             f->word[BITS] ? "hashes" : "bits");
    out->affected = 1;
}

const tamis_kind tamis__bip37 = {
    .name = "bip37",
    .contract = "a Bloom filter that Bitcoin nodes load",
    .word = {"bits", "hashes", "tweak", "flags"},
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
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

/* The number of bytes of bits, and the length of its encoding; a longer form than needed would be
 * written as other bytes. */
static tamis_status read_count(const tamis_input *in, uint64_t *bytes, uint64_t *header) {
    const uint8_t *p = in->bytes;
    *bytes = p[0];
    *header = SHORT_HEADER;
    if (p[0] < LONG_FROM) return TAMIS_OK;
    *bytes = p[1] | (uint64_t)p[2] << 8;
    *header = LONG_HEADER;
    if (p[0] > LONG_FROM)
        return tamis__bad_format("bip37",
                                 "it starts with %02x, a count of 4 or 8 bytes, and at "
                                 "most %d bytes are allowed",
                                 p[0], MAX_BYTES);
    if (*bytes < LONG_FROM)
        return tamis__bad_format("bip37", "%llu is not in its shortest CompactSize",
                                 (unsigned long long)*bytes);
    return TAMIS_OK;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    uint64_t bytes, header;
    (void)args;
    if (in->size < MIN)
        return tamis__bad_format("bip37", "%llu bytes, an empty one has %d",
                                 (unsigned long long)in->size, MIN);
    const tamis_status rc = read_count(in, &bytes, &header);
    if (rc) return rc;
    if (bytes > MAX_BYTES)
        return tamis__bad_format("bip37", "%llu bytes of bits, at most %d are allowed",
                                 (unsigned long long)bytes, MAX_BYTES);
    if (in->size != header + bytes + TRAILER)
        return tamis__bad_format(
            "bip37", "%llu bytes of bits make %llu bytes, not %llu", (unsigned long long)bytes,
            (unsigned long long)(header + bytes + TRAILER), (unsigned long long)in->size);
    const uint8_t *end = in->bytes + header + bytes;
    const uint64_t hashes = tamis__get32(end);
    if (hashes > MAX_HASHES)
        return tamis__bad_format("bip37", "%llu hashes, at most %d are allowed",
                                 (unsigned long long)hashes, MAX_HASHES);
    *out = (tamis_import_result){.kind = "bip37",
                                 .word = {bytes * 8, hashes, tamis__get32(end + 4), end[8]},
                                 .capacity = tamis__like_capacity(bytes * 8, hashes),
                                 .payload = *in};
    return TAMIS_OK;
}

const tamis_format tamis__format_bip37 = {
    .name = "bip37",
    .system = "Bitcoin filterload (BIP37)",
    .kinds = "bip37",
    .keys = "hex bytes",
    .limits = "at most 36000 bytes and 50 hashes",
    .read = read,
    .write = tamis__like_write,
};
