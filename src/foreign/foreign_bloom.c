/* SPDX-License-Identifier: MIT */
/* Bloom filters in the bytes of their origin: header, bits, trailer. */
#include "foreign/foreign_bloom.h"

#include <math.h>

#include "bits/probe.h"
#include "foreign/bytes.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"

static const tamis_bloomlike *like_of(const tamis_body *f) {
    const tamis_bloomlike *like = f->kind->own;
    return like->by_shape ? like->by_shape(f->word) : like;
}

/* ---- Layout --------------------------------------------------------------------------------- */

static uint64_t bits_bytes(const tamis_bloomlike *like, const uint64_t word[]) {
    const uint64_t unit = like->unit ? like->unit : like->is_big_endian ? 64 : 8;
    return (word[TAMIS_LIKE_BITS] + unit - 1) / unit * (unit / 8);
}

static uint64_t extra_bytes(const tamis_bloomlike *like, const uint64_t word[]) {
    return like->extra ? like->extra(word) : 0;
}

uint64_t tamis__like_stored(const tamis_bloomlike *like, const uint64_t word[]) {
    return like->header_bytes + bits_bytes(like, word) + like->trailer_bytes +
           extra_bytes(like, word);
}

/* A big-endian word has its first eight bits in its last byte. */
static uint64_t byte_of(const tamis_bloomlike *like, uint64_t position) {
    return like->header_bytes + (position >> 3 ^ (like->is_big_endian ? 7 : 0));
}

/* ---- Shape ---------------------------------------------------------------------------------- */

tamis_status tamis__like_check(const tamis_bloomlike *like, const uint64_t word[], uint64_t unit,
                               uint64_t max_bits, uint64_t *size) {
    const uint64_t bits = word[TAMIS_LIKE_BITS], hashes = word[TAMIS_LIKE_HASHES];
    if (bits == 0 || bits > max_bits || bits % unit)
        return tamis__fail(TAMIS_CORRUPT, "%s has 1 to %llu bits in multiples of %llu, not %llu",
                           like->name, (unsigned long long)max_bits, (unsigned long long)unit,
                           (unsigned long long)bits);
    if (hashes == 0 || hashes > TAMIS_LIKE_MAX_HASHES)
        return tamis__fail(TAMIS_CORRUPT, "%s has 1 to %d hashes, not %llu", like->name,
                           TAMIS_LIKE_MAX_HASHES, (unsigned long long)hashes);
    if (extra_bytes(like, word) > TAMIS_MAX_PAYLOAD_BYTES / 2)
        return tamis__fail(TAMIS_CORRUPT, "%s has at most 2^55 bytes after its bits, not %llu",
                           like->name, (unsigned long long)extra_bytes(like, word));
    *size = (tamis__like_stored(like, word) + 7) / 8 * 8;
    return TAMIS_OK;
}

uint64_t tamis__like_probes(const uint64_t word[]) {
    return word[TAMIS_LIKE_HASHES];
}

double tamis__like_rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, word[TAMIS_LIKE_BITS], word[TAMIS_LIKE_HASHES]);
}

double tamis__like_bits_for(uint64_t keys, double fpr) {
    const double ln2 = log(2);
    return -(double)(keys ? keys : 1) * log(fpr) / (ln2 * ln2);
}

uint64_t tamis__like_hashes(const tamis_params *params, double best) {
    if (params->has_option[0]) return params->option[0];
    return (uint64_t)fmin(fmax(1, best), TAMIS_LIKE_MAX_HASHES);
}

uint64_t tamis__like_capacity(uint64_t bits, uint64_t hashes) {
    return hashes ? (uint64_t)((double)bits * log(2) / (double)hashes + 0.5) : 0;
}

/* ---- Headers -------------------------------------------------------------------------------- */

void tamis__like_start(tamis_body *f) {
    const tamis_bloomlike *like = like_of(f);
    if (like->header) like->header(f->word, f->bytes);
    if (like->trailer)
        like->trailer(f->word, f->bytes + like->header_bytes + bits_bytes(like, f->word));
}

static bool is_header(const tamis_bloomlike *like, const uint64_t word[], const uint8_t *bytes) {
    uint8_t expected[TAMIS_LIKE_MAX_HEADER] = {0};
    const uint64_t loose = like->loose_at, behind = loose + like->loose_bytes;
    if (like->header) like->header(word, expected);
    return memcmp(expected, bytes, (size_t)loose) == 0 &&
           memcmp(expected + behind, bytes + behind, (size_t)(like->header_bytes - behind)) == 0;
}

static bool is_trailer(const tamis_bloomlike *like, const uint64_t word[], const uint8_t *bytes) {
    uint8_t expected[TAMIS_LIKE_MAX_HEADER] = {0};
    if (like->trailer) like->trailer(word, expected);
    return memcmp(expected, bytes, (size_t)like->trailer_bytes) == 0;
}

/* The bits after the last, in the word or byte that the origin wrote whole. */
static bool has_stray_bit(const tamis_bloomlike *like, const tamis_body *f) {
    const uint64_t last = bits_bytes(like, f->word) * 8;
    for (uint64_t i = f->word[TAMIS_LIKE_BITS]; i < last; i++)
        if (f->bytes[byte_of(like, i)] >> (i & 7) & 1) return true;
    return false;
}

tamis_status tamis__like_audit(const tamis_body *f) {
    const tamis_bloomlike *like = like_of(f);
    const uint8_t *behind = f->bytes + like->header_bytes + bits_bytes(like, f->word);
    if (!is_header(like, f->word, f->bytes))
        return tamis__fail(TAMIS_CORRUPT, "the header of %s does not match its shape", like->name);
    if (!is_trailer(like, f->word, behind))
        return tamis__fail(TAMIS_CORRUPT, "the end of %s does not match its shape", like->name);
    if (has_stray_bit(like, f))
        return tamis__fail(TAMIS_CORRUPT, "bits are set beyond the last of %llu bits",
                           (unsigned long long)f->word[TAMIS_LIKE_BITS]);
    return tamis__audit_padding(f, tamis__like_stored(like, f->word));
}

tamis_status tamis__like_write(const tamis_export_source *out, const tamis_format_args *args) {
    const tamis_body *f = out->body;
    (void)args;
    return tamis__export_write(out, f->bytes, tamis__like_stored(like_of(f), f->word));
}

/* ---- Querying and adding -------------------------------------------------------------------- */

static bool get(const tamis_bloomlike *like, const tamis_body *f, uint64_t position) {
    return f->bytes[byte_of(like, position)] >> (position & 7) & 1;
}

/* The first position of many keys is prefetched before the first is read: most non-members end
 * there, and in a large filter it takes longest. */
enum { TOGETHER = 32 };

static bool rest_is_set(const tamis_bloomlike *like, const tamis_body *f, tamis_walk *walk) {
    for (uint64_t i = 1; i < f->word[TAMIS_LIKE_HASHES]; i++)
        if (!get(like, f, like->next(f->word, walk))) return false;
    return true;
}

static void ask_together(const tamis_bloomlike *like, const tamis_body *f,
                         const struct tamis_key *keys, size_t n, uint8_t *hit) {
    tamis_walk walk[TOGETHER];
    uint64_t first[TOGETHER];
    for (size_t i = 0; i < n; i++) {
        like->begin(f->word, &keys[i], &walk[i]);
        first[i] = like->next(f->word, &walk[i]);
        __builtin_prefetch(f->bytes + byte_of(like, first[i]));
    }
    for (size_t i = 0; i < n; i++)
        hit[i] = get(like, f, first[i]) && rest_is_set(like, f, &walk[i]);
}

void tamis__foreign_bloom_query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_bloomlike *like = like_of(f);
    for (size_t i = 0, m; i < b.n; i += m) {
        m = b.n - i < TOGETHER ? b.n - i : TOGETHER;
        ask_together(like, f, b.key + i, m, hit + i);
    }
}

static bool add_one(const tamis_bloomlike *like, tamis_body *f, const struct tamis_key *key) {
    tamis_walk walk;
    bool is_new = false;
    like->begin(f->word, key, &walk);
    for (uint64_t i = 0; i < f->word[TAMIS_LIKE_HASHES]; i++) {
        const uint64_t position = like->next(f->word, &walk);
        uint8_t *byte = &f->bytes[byte_of(like, position)];
        const uint8_t bit = (uint8_t)(1u << (position & 7));
        is_new |= !(*byte & bit);
        *byte |= bit;
    }
    return is_new;
}

uint64_t tamis__like_add_new(tamis_body *f, tamis_batch b) {
    const tamis_bloomlike *like = like_of(f);
    uint64_t fresh = 0;
    for (size_t i = 0; i < b.n; i++) fresh += add_one(like, f, &b.key[i]);
    return fresh;
}

tamis_status tamis__like_add(tamis_body *f, tamis_batch b) {
    tamis__like_add_new(f, b);
    return TAMIS_OK;
}

/* ---- Sets ----------------------------------------------------------------------------------- */

tamis_status tamis__like_merge(tamis_body *into, const tamis_body *from) {
    const tamis_bloomlike *like = like_of(into);
    const uint64_t end = like->header_bytes + bits_bytes(like, into->word);
    for (uint64_t i = like->header_bytes; i < end; i++) into->bytes[i] |= from->bytes[i];
    return TAMIS_OK;
}

tamis_status tamis__like_intersect(tamis_body *into, const tamis_body *from) {
    const tamis_bloomlike *like = like_of(into);
    const uint64_t end = like->header_bytes + bits_bytes(like, into->word);
    for (uint64_t i = like->header_bytes; i < end; i++) into->bytes[i] &= from->bytes[i];
    return TAMIS_OK;
}

/* An error of a tenth at a rate of 1 in 80, and at most a fifth of a millisecond. */
enum { ASKED = 1 << 13, FOUND_FEW = 4, FOUND_ENOUGH = 256 };

double tamis__like_asked_rate(bool (*is_found)(const void *, const struct tamis_key *),
                              const void *context, double by_fill) {
    uint64_t asked = 0, found = 0;
    for (; asked < ASKED && found < FOUND_ENOUGH; asked++) {
        uint8_t nonmember[8];
        tamis__put64(nonmember, tamis__mix(asked ^ 0x9e3779b97f4a7c15));
        found += is_found(context, &(struct tamis_key){nonmember, sizeof nonmember});
    }
    const double rate = (double)found / (double)asked;
    return found < FOUND_FEW ? fmax(rate, by_fill) : rate;
}

static bool is_found(const void *context, const struct tamis_key *key) {
    uint8_t hit;
    tamis__foreign_bloom_query(context, tamis__keys(key, 1), &hit);
    return hit;
}

void tamis__like_measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_bloomlike *like = like_of(f);
    const uint64_t at = like->header_bytes;
    const uint64_t set = tamis__count_ones(f->bytes + at, other ? other->bytes + at : NULL,
                                           bits_bytes(like, f->word));
    tamis__fill_measure(set, f->word[TAMIS_LIKE_BITS], f->word[TAMIS_LIKE_HASHES], out);
    if (like->has_steps && set && !other && f->word[TAMIS_LIKE_BITS] < TAMIS_LIKE_ASK_BELOW_BITS)
        out->fpr = tamis__like_asked_rate(is_found, f, out->fpr);
}
