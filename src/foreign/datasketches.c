/* SPDX-License-Identifier: MIT */
/* datasketches: the Bloom filter of Apache DataSketches, in Java, C++ and Python.
 *
 *      0   longs of the preamble: 4, or 3 of an empty filter
 *      1   version of the layout: 1
 *      2   family: 21
 *      3   flags: 4 when empty
 *      4   hashes, 2 bytes, and 2 of 0
 *      8   seed, 8
 *     16   longs of bits, 4 bytes, and 4 of 0
 *     24   how many bits are set, 8; all ones: unknown
 *     32   bits
 *
 * All numbers are little-endian. An empty filter ends at byte 24, except where one was laid out in
 * memory owned by others: that has its zeros, and no flag. Both stay as they are until the first
 * key. Here bits are counted as they are set, as the queryAndUpdate of Java and the
 * query_and_update of C++ do; their update drops the count, and so does count=unknown.
 *
 * A key is hashed by XXH64 with the seed, and again with that hash as seed; positions are (a + i b)
 * / 2 mod bits, from i = 1 on. Both languages truncate positions or sizes to 32 bits somewhere, so
 * that filters end below 2^32 bits. */
#include <math.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "kinds/bitmap.h"

enum { BITS, HASHES, SEED };
enum { OPT_HASHES, OPT_SEED };
enum { AT_FLAGS = 3, AT_HASHES = 4, AT_SEED = 8, AT_LONGS = 16, AT_COUNT = 24, HEADER = 32 };
enum { LONGS = 4, LONGS_EMPTY = 3, LAYOUT = 1, FAMILY = 21, FLAG_EMPTY = 4 };
enum { EMPTY_BYTES = AT_COUNT };
#define MAX_BITS ((uint64_t)UINT32_MAX / 64 * 64)
#define UNKNOWN  UINT64_MAX

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as DataSketches does", "probes per key"},
    {"seed", NULL, 0, UINT64_MAX, "0", "of the hash; DataSketches takes a random one"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static uint64_t hash(const struct tamis_key *key, uint64_t seed) {
    const tamis_hasher hasher = {.mode = TAMIS_HASH_XXH64, .seed = seed};
    return tamis__hash(&hasher, key->bytes, key->len);
}

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    walk->a = hash(key, word[SEED]);
    walk->b = hash(key, walk->a);
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    walk->a += walk->b;
    return (walk->a >> 1) % word[BITS];
}

/* For a filter that is not empty; the count is not in the words. */
static void header(const uint64_t word[], uint8_t *to) {
    to[0] = LONGS;
    to[1] = LAYOUT;
    to[2] = FAMILY;
    to[AT_FLAGS] = 0;
    to[AT_HASHES] = (uint8_t)word[HASHES];
    tamis__put64(to + AT_SEED, word[SEED]);
    tamis__put32(to + AT_LONGS, (uint32_t)(word[BITS] / 64));
}

static const tamis_bloomlike like = {.name = "datasketches",
                                     .header_bytes = HEADER,
                                     .header = header,
                                     .loose_at = 0, /* audit() checks all of it */
                                     .loose_bytes = HEADER,
                                     .unit = 64,
                                     .has_steps = true,
                                     .begin = begin,
                                     .next = next};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const double bits = params->bits ? (double)(params->bits / 64 * 64)
                                     : ceil(tamis__like_bits_for(keys, params->fpr));
    if (bits < 1)
        return tamis__fail(TAMIS_INVALID, "datasketches has words of 64 bits, and at least one");
    if (bits > (double)MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "datasketches has at most 2^32-64 bits");
    word[BITS] = ((uint64_t)bits + 63) / 64 * 64;
    /* From the bits before they were rounded up. */
    word[HASHES] = tamis__like_hashes(params, ceil(bits / (double)keys * log(2)));
    word[SEED] = params->option[OPT_SEED];
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    return tamis__like_check(&like, word, 64, MAX_BITS, size);
}

/* ---- The preamble --------------------------------------------------------------------------- */

static bool is_marked_empty(const tamis_body *f) {
    return f->bytes[AT_FLAGS] & FLAG_EMPTY;
}

static void mark(tamis_body *f, bool is_empty) {
    f->bytes[0] = is_empty ? LONGS_EMPTY : LONGS;
    f->bytes[AT_FLAGS] = is_empty ? FLAG_EMPTY : 0;
}

static uint64_t bits_set(const tamis_body *f) {
    return tamis__count_ones(f->bytes + HEADER, NULL, f->size - HEADER);
}

/* After a set operation the bits are counted, and a filter without any is an empty one. */
static void settle(tamis_body *f) {
    const uint64_t set = bits_set(f);
    tamis__put64(f->bytes + AT_COUNT, set);
    mark(f, set == 0);
}

/* ---- The kind ------------------------------------------------------------------------------- */

static void start(tamis_body *f) {
    header(f->word, f->bytes);
    mark(f, true);
}

static tamis_status audit(const tamis_body *f) {
    uint8_t expected[HEADER] = {0};
    const uint64_t count = tamis__get64(f->bytes + AT_COUNT), set = bits_set(f);
    const bool is_empty = is_marked_empty(f);
    header(f->word, expected);
    memcpy(expected + AT_COUNT, f->bytes + AT_COUNT, HEADER - AT_COUNT);
    if (is_empty) expected[AT_FLAGS] = FLAG_EMPTY;
    if (f->bytes[0] == LONGS_EMPTY) expected[0] = LONGS_EMPTY;
    if (memcmp(expected, f->bytes, HEADER) != 0 || (!is_empty && f->bytes[0] != LONGS))
        return tamis__fail(TAMIS_CORRUPT, "the header of datasketches does not match its shape");
    if (is_empty ? count || set : count != set && count != UNKNOWN)
        return tamis__fail(TAMIS_CORRUPT, "%llu bits are set, but the header says %llu",
                           (unsigned long long)set, (unsigned long long)count);
    return tamis__like_audit(f);
}

static uint64_t add_one(tamis_body *f, const struct tamis_key *key) {
    tamis_walk walk;
    uint64_t fresh = 0;
    begin(f->word, key, &walk);
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        const uint64_t position = next(f->word, &walk);
        uint8_t *byte = &f->bytes[HEADER + position / 8];
        const uint8_t bit = (uint8_t)(1u << (position & 7));
        fresh += !(*byte & bit);
        *byte |= bit;
    }
    return fresh;
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    uint64_t count = tamis__get64(f->bytes + AT_COUNT), fresh = 0;
    for (size_t i = 0; i < b.n; i++) fresh += add_one(f, &b.key[i]);
    if (count != UNKNOWN) tamis__put64(f->bytes + AT_COUNT, count + fresh);
    if (b.n) mark(f, false);
    return TAMIS_OK;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    tamis__like_merge(into, from);
    settle(into);
    return TAMIS_OK;
}

static tamis_status intersect(tamis_body *into, const tamis_body *from) {
    tamis__like_intersect(into, from);
    settle(into);
    return TAMIS_OK;
}

const tamis_kind tamis__datasketches = {
    .name = "datasketches",
    .contract = "a Bloom filter that Apache DataSketches can read and write",
    .word = {"bits", "hashes", "seed"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = start,
    .audit = audit,
    .measure = tamis__like_measure,
    .query = tamis__foreign_bloom_query,
    .add = add,
    .sets = &(const tamis_sets){.merge = merge, .intersect = intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

enum { SAID_COUNT };

static const struct tamis_option params[] = {
    {"count", "known|unknown", 0, 0, "known", "whether the number of bits set is written"},
};

static tamis_status check_preamble(const tamis_input *in) {
    const uint8_t *p = in->bytes;
    if (in->size < EMPTY_BYTES)
        return tamis__bad_format("datasketches", "%llu bytes, but an empty filter has 24",
                                 (unsigned long long)in->size);
    if (p[2] != FAMILY)
        return tamis__bad_format("datasketches", "the sketch is of family %d, Bloom filters of 21",
                                 p[2]);
    if (p[1] != LAYOUT)
        return tamis__bad_format("datasketches", "the layout has version %d, not 1", p[1]);
    const bool is_empty = p[AT_FLAGS] == FLAG_EMPTY;
    if ((p[AT_FLAGS] && !is_empty) || (p[0] != LONGS && !(is_empty && p[0] == LONGS_EMPTY)))
        return tamis__bad_format("datasketches", "%d longs of preamble do not match the flags %d",
                                 p[0], p[AT_FLAGS]);
    return TAMIS_OK;
}

/* An empty filter has a size, and memory is limited here: an empty filter of a terabit has 24
 * bytes. */
enum { MAX_EMPTY = 1 << 22 };

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    const tamis_status rc = check_preamble(in);
    if (rc) return rc;
    const uint64_t longs = tamis__get32(in->bytes + AT_LONGS);
    const bool is_empty = in->bytes[AT_FLAGS] == FLAG_EMPTY;
    if (longs == 0 || in->size != (is_empty ? EMPTY_BYTES : HEADER + 8 * longs))
        return tamis__bad_format("datasketches", "%s of %llu longs in %llu bytes",
                                 is_empty ? "an empty filter" : "a filter",
                                 (unsigned long long)longs, (unsigned long long)in->size);
    if (is_empty && longs > MAX_EMPTY / 64)
        return tamis__bad_format("datasketches",
                                 "an empty filter of %llu longs; at most %d are allowed here",
                                 (unsigned long long)longs, MAX_EMPTY / 64);
    const uint64_t hashes = in->bytes[AT_HASHES] | (uint64_t)in->bytes[AT_HASHES + 1] << 8;
    *out = (tamis_import_result){.kind = "datasketches",
                                 .word = {longs * 64, hashes, tamis__get64(in->bytes + AT_SEED)},
                                 .capacity = tamis__like_capacity(longs * 64, hashes),
                                 .payload = *in};
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const uint8_t *from = out->body->bytes;
    uint8_t head[HEADER];
    if (is_marked_empty(out->body)) return tamis__export_write(out, from, EMPTY_BYTES);
    memcpy(head, from, HEADER);
    if (args->number[SAID_COUNT]) tamis__put64(head + AT_COUNT, UNKNOWN);
    const tamis_status rc = tamis__export_write(out, head, HEADER);
    return rc ? rc : tamis__export_write(out, from + HEADER, out->body->size - HEADER);
}

const tamis_format tamis__format_datasketches = {
    .name = "datasketches",
    .system = "Apache DataSketches BloomFilter",
    .kinds = "datasketches",
    .keys = "utf8 int64 double bytes",
    .limits = "at most 255 hashes and below 2^32 bits; empty ones up to 2^22 bits",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .write = write,
};
