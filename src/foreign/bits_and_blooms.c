/* SPDX-License-Identifier: MIT */
/* bits-and-blooms: the Go packages bits-and-blooms/bloom v3 and willf/bloom before it.
 *
 *     m         8 bytes   bits
 *     k         8         hashes
 *     length    8         of the set of bits: L, nearly always m
 *     bits      8 each    words of 64 bits, for L of them
 *
 * All numbers are big-endian. WriteTo, MarshalBinary and GobEncode write these bytes. A process may
 * switch its sets of bits to little-endian; m and k stay as they are, and the bytes do not show it,
 * so order= must.
 *
 * L is independent of m. Sets made from words are as long as these, so that there is room here for
 * the larger of m and L. And it is 0, without words, in an empty filter of New(0, k), whose m is 1:
 * L is in the payload, and becomes m with the first key.
 *
 * A key is hashed by MurmurHash3 to 128 bits, and again with a byte 1 appended; the four
 * numbers a, b, c, d become positions a, b+d, a+2d, b+3c, a+4c, b+5d, a+6d, b+7c ... */
#include "foreign/bits_and_blooms.h"

#include <math.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/murmur.h"

enum { BITS, HASHES, ROOM };
enum { OPT_HASHES, OPT_ROOM };
enum { AT_LENGTH = TAMIS_BNB_AT_LENGTH, HEADER = TAMIS_BNB_HEADER };
#define MAX_BITS ((uint64_t)1 << 58)

/* Bits that a file with a length of 0 may omit: memory must be backed by bytes. */
enum { MAX_MISSING = 4096 };

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as the Go package does", "probes per key, k"},
    {"room", NULL, 1, 1 << 24, "the bits", "length of the set of bits, when it is longer"},
    {0},
};

static uint64_t words_for(uint64_t bits) {
    return bits / 64 + (bits % 64 != 0);
}

/* ---- Positions ------------------------------------------------------------------------------ */

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    (void)word;
    tamis_pair pair[2];
    tamis__murmur3_128_twice(key, pair);
    walk->a = pair[0].h1;
    walk->b = pair[0].h2;
    walk->c = pair[1].h1;
    walk->d = pair[1].h2;
    walk->i = 0;
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint64_t i = walk->i++;
    const uint64_t from = i % 2 ? walk->b : walk->a;
    const uint64_t step = (i + i % 2) % 4 ? walk->d : walk->c;
    return (from + i * step) % word[BITS];
}

static void header(const uint64_t word[], uint8_t *to) {
    tamis__put64_big(to, word[BITS]);
    tamis__put64_big(to + 8, word[HASHES]);
    tamis__put64_big(to + AT_LENGTH, word[ROOM]);
}

static uint64_t extra(const uint64_t word[]) {
    return 8 * (words_for(word[ROOM]) - words_for(word[BITS]));
}

static const tamis_bloomlike like = {.name = "bits-and-blooms",
                                     .header_bytes = HEADER,
                                     .header = header,
                                     .loose_at = AT_LENGTH,
                                     .loose_bytes = 8,
                                     .is_big_endian = true,
                                     .extra = extra,
                                     .has_steps = true,
                                     .begin = begin,
                                     .next = next};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const double bits = params->bits ? (double)params->bits
                                     : fmax(1, ceil(tamis__like_bits_for(keys, params->fpr)));
    if (bits > (double)MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "bits-and-blooms has at most 2^58 bits here");
    word[BITS] = (uint64_t)bits;
    word[HASHES] = tamis__like_hashes(params, ceil(log(2) * bits / (double)keys));
    word[ROOM] = params->option[OPT_ROOM] > word[BITS] ? params->option[OPT_ROOM] : word[BITS];
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[ROOM] < word[BITS] || word[ROOM] > MAX_BITS)
        return tamis__fail(TAMIS_CORRUPT, "%llu bits do not fit in a set of %llu",
                           (unsigned long long)word[BITS], (unsigned long long)word[ROOM]);
    return tamis__like_check(&like, word, 1, MAX_BITS, size);
}

/* ---- The length ----------------------------------------------------------------------------- */

static uint64_t length_of(const tamis_body *f) {
    return tamis__get64_big(f->bytes + AT_LENGTH);
}

uint64_t tamis__bnb_words(const tamis_body *f) {
    return words_for(length_of(f));
}

static bool is_empty(const tamis_body *f) {
    const uint64_t end = HEADER + 8 * words_for(f->word[BITS]);
    for (uint64_t i = HEADER; i < end; i++)
        if (f->bytes[i]) return false;
    return true;
}

/* ---- The kind ------------------------------------------------------------------------------- */

static tamis_status audit(const tamis_body *f) {
    const tamis_status rc = tamis__like_audit(f);
    const uint64_t length = length_of(f), room = f->word[ROOM], bits = f->word[BITS];
    if (rc || length == room) return rc;
    if (room == bits && length == 0 && is_empty(f)) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "the set of bits has the length %llu, but room for %llu",
                       (unsigned long long)length, (unsigned long long)room);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    tamis__like_add(f, b);
    if (b.n) tamis__put64_big(f->bytes + AT_LENGTH, f->word[ROOM]);
    return TAMIS_OK;
}

/* The union is as long as the longer of both. */
static tamis_status merge(tamis_body *into, const tamis_body *from) {
    tamis__like_merge(into, from);
    if (length_of(from) > length_of(into))
        tamis__put64_big(into->bytes + AT_LENGTH, length_of(from));
    return TAMIS_OK;
}

const tamis_kind tamis__bits_and_blooms = {
    .name = "bits-and-blooms",
    .contract = "a Bloom filter that the Go package bits-and-blooms can read and write",
    .word = {"bits", "hashes", "room"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = tamis__like_start,
    .audit = audit,
    .measure = tamis__like_measure,
    .query = tamis__foreign_bloom_query,
    .add = add,
    .sets = &(const tamis_sets){.merge = merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

enum { SAID_ORDER };

static const struct tamis_option params[] = {
    {"order", "big|little", 0, 0, "big", "of the set of bits, when the process had switched it"},
};

uint64_t tamis__bnb_get(const uint8_t *at, uint64_t order) {
    return order == TAMIS_BNB_LITTLE ? tamis__get64(at) : tamis__get64_big(at);
}

void tamis__bnb_put(uint8_t *at, uint64_t order, uint64_t x) {
    if (order == TAMIS_BNB_LITTLE)
        tamis__put64(at, x);
    else
        tamis__put64_big(at, x);
}

tamis_status tamis__bnb_arrive(const char *format, uint64_t bits, uint64_t hashes, uint64_t length,
                               uint64_t words, tamis_import_result *out) {
    if (length > MAX_BITS || words_for(length) != words)
        return tamis__bad_format(format, "the set has a length of %llu bits, and %llu words of 64",
                                 (unsigned long long)length, (unsigned long long)words);
    if (bits == 0 || bits > (length ? length : MAX_MISSING))
        return tamis__bad_format(format, "m is %llu, but the set has a length of %llu",
                                 (unsigned long long)bits, (unsigned long long)length);
    if (hashes == 0 || hashes > TAMIS_LIKE_MAX_HASHES)
        return tamis__bad_format(format, "k is %llu (allowed: 1 to %d)", (unsigned long long)hashes,
                                 TAMIS_LIKE_MAX_HASHES);
    *out = (tamis_import_result){.kind = "bits-and-blooms",
                                 .word = {bits, hashes, bits > length ? bits : length},
                                 .capacity = tamis__like_capacity(bits, hashes)};
    return TAMIS_OK;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    const uint64_t order = args->number[SAID_ORDER];
    if (in->size < HEADER || in->size % 8)
        return tamis__bad_format("bits-and-blooms", "%llu bytes, not a header of 24 and words of 8",
                                 (unsigned long long)in->size);
    const tamis_status rc = tamis__bnb_arrive(
        "bits-and-blooms", tamis__get64_big(in->bytes), tamis__get64_big(in->bytes + 8),
        tamis__bnb_get(in->bytes + AT_LENGTH, order), (in->size - HEADER) / 8, out);
    out->at[0] = order;
    return rc;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *arrival, tamis_body *f) {
    header(f->word, f->bytes);
    for (uint64_t i = AT_LENGTH; i < in->size; i += 8)
        tamis__put64_big(f->bytes + i, tamis__bnb_get(in->bytes + i, arrival->at[0]));
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const uint8_t *from = out->body->bytes;
    const uint64_t end = HEADER + 8 * tamis__bnb_words(out->body);
    if (args->number[SAID_ORDER] == TAMIS_BNB_BIG) return tamis__export_write(out, from, end);
    const tamis_status rc = tamis__export_write(out, from, AT_LENGTH);
    return rc ? rc : tamis__export_reversed(out, from + AT_LENGTH, end - AT_LENGTH);
}

const tamis_format tamis__format_bits_and_blooms = {
    .name = "bits-and-blooms",
    .system = "Go bits-and-blooms/bloom and willf/bloom",
    .kinds = "bits-and-blooms",
    .keys = "utf8 bytes",
    .limits = "at most 255 hashes",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .load = load,
    .write = write,
};
