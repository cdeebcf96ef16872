/* SPDX-License-Identifier: MIT */
/* redisbloom: the Bloom filter of RedisBloom, as BF.SCANDUMP returns it.
 *
 *     keys in all     8 bytes             u64, all little-endian
 *     links           4 bytes
 *     options         4 bytes             1: bits are not rounded to a power of two
 *                                         2: ... made from a number of bits
 *                                         4: hash of 64 bits
 *                                         8: does not scale
 *     expansion       4 bytes
 *     links, each     bytes 8 | bits 8 | keys 8 | error, f64 | bits per key, f64
 *                     | hashes 4 | capacity 8 | n2 1
 *     the bits of each link
 *
 * A key goes into the last link unless some link has it; a link that is full gets a successor
 * `expansion` times larger with half its rate. So the first link starts at half of the target rate,
 * and all of them together keep it. A filter that does not scale has one link, and ends there.
 *
 * Positions are a, a + b, a + 2b, ... of two MurmurHash64A, the second seeded with the first.
 * Before version 2 both were MurmurHash2 of 32 bits, and sizes powers of two: those can still be
 * read, queried and added to. */
#include "foreign/redis.h"

#include <math.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"

/* Of the first link, except LINKS and BYTES. ERROR is the bits of a double. */
enum { BITS, KEYS, ERROR, EXPANSION, SCALING, LINKS, BYTES };
enum { OPT_EXPANSION, OPT_SCALING };
enum { NO, YES };

/* The smallest rate that a double can hold takes 1075 hashes; no filter has more. */
enum { MAX_HASHES = 1075, MAX_N2 = 55, KNOWN_OPTIONS = 15, NEW_OPTIONS = 5 };
#define MAX_BITS      (TAMIS_MAX_PAYLOAD_BYTES)
#define MAX_EXPANSION 32768
static const double tightening = 0.5;

static const struct tamis_option options[] = {
    {"expansion", NULL, 0, MAX_EXPANSION, "2",
     "how many times larger each link is; 0 only where it does not scale"},
    {"scaling", "no|yes", 0, 0, "yes", "add links when it is full"},
    {0},
};

/* ---- The header ----------------------------------------------------------------------------- */

tamis_bf_header tamis__bf_header(const uint8_t *p) {
    return (tamis_bf_header){tamis__get64(p), tamis__get32(p + 8), tamis__get32(p + 12),
                             tamis__get32(p + 16)};
}

void tamis__bf_put_header(uint8_t *p, tamis_bf_header h) {
    tamis__put64(p, h.size);
    tamis__put32(p + 8, h.links);
    tamis__put32(p + 12, h.options);
    tamis__put32(p + 16, h.growth);
}

tamis_bf_link tamis__bf_link(const uint8_t *payload, uint64_t i) {
    const uint8_t *p = payload + TAMIS_BF_HEADER + i * TAMIS_BF_LINK;
    return (tamis_bf_link){.bytes = tamis__get64(p),
                           .bits = tamis__get64(p + 8),
                           .size = tamis__get64(p + 16),
                           .error = tamis__double_of_bits(tamis__get64(p + 24)),
                           .bpe = tamis__double_of_bits(tamis__get64(p + 32)),
                           .hashes = tamis__get32(p + 40),
                           .entries = tamis__get64(p + 44),
                           .n2 = p[52]};
}

void tamis__bf_put_link(uint8_t *payload, uint64_t i, tamis_bf_link link) {
    uint8_t *p = payload + TAMIS_BF_HEADER + i * TAMIS_BF_LINK;
    tamis__put64(p, link.bytes);
    tamis__put64(p + 8, link.bits);
    tamis__put64(p + 16, link.size);
    tamis__put64(p + 24, tamis__bits_of_double(link.error));
    tamis__put64(p + 32, tamis__bits_of_double(link.bpe));
    tamis__put32(p + 40, link.hashes);
    tamis__put64(p + 44, link.entries);
    p[52] = link.n2;
}

void tamis__bf_words(tamis_bf_header h, tamis_bf_link first, uint64_t bytes, uint64_t word[]) {
    word[BITS] = first.bits;
    word[KEYS] = first.entries;
    word[ERROR] = tamis__bits_of_double(first.error);
    word[EXPANSION] = h.growth;
    word[SCALING] = h.options & TAMIS_BF_NO_SCALING ? NO : YES;
    word[LINKS] = h.links;
    word[BYTES] = bytes;
}

static uint64_t header_bytes(uint64_t links) {
    return TAMIS_BF_HEADER + links * TAMIS_BF_LINK;
}

static uint64_t modulus_of(const tamis_bf_link *link) {
    return link->n2 ? (uint64_t)1 << link->n2 : link->bits;
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* These have fewer digits than a double, and every digit counts. */
static const double ln2 = 0.693147180559945, ln2_squared = 0.480453013918201;

static uint32_t hashes_for(double bpe) {
    const double hashes = ceil(ln2 * bpe);
    return hashes >= 1 && hashes <= MAX_HASHES ? (uint32_t)hashes : 0;
}

/* Up to a power of two, for the links of old versions: the rest is room for more keys. */
static bool round_up(tamis_bf_link *link, uint64_t *bits) {
    const double wanted = (double)link->entries * link->bpe;
    if (wanted < 1) return false;
    link->n2 = (uint8_t)(logb(wanted) + 1);
    *bits = (uint64_t)1 << link->n2;
    link->entries += (uint64_t)((double)(uint64_t)((double)*bits - wanted) / link->bpe);
    return true;
}

/* A new link for `keys` keys. With TAMIS_BF_IS_BITS the number is the logarithm of its bits. */
static bool plan_link(uint32_t with, uint64_t keys, double error, tamis_bf_link *link) {
    if (keys == 0 || !(error > 0 && error < 1)) return false;
    *link = (tamis_bf_link){.error = error, .bpe = -(log(error) / ln2_squared), .entries = keys};
    link->hashes = hashes_for(link->bpe);
    if (!link->hashes || !((double)keys * link->bpe < (double)MAX_BITS)) return false;
    uint64_t bits = (uint64_t)((double)keys * link->bpe);
    if (bits == 0) bits = 1;
    if (with & TAMIS_BF_IS_BITS) {
        if (keys > MAX_N2) return false;
        link->n2 = (uint8_t)keys;
        bits = (uint64_t)1 << keys;
        link->entries = (uint64_t)((double)bits / link->bpe);
    } else if (!(with & TAMIS_BF_NO_ROUND) && !round_up(link, &bits)) {
        return false;
    }
    link->bytes = tamis__bitmap_size(bits);
    link->bits = link->bytes * 8;
    return true;
}

/* The successor of a full link. */
static bool plan_next(tamis_bf_header h, const tamis_bf_link *last, tamis_bf_link *link) {
    if (h.growth && last->entries > UINT64_MAX / h.growth) return false;
    return plan_link(h.options, last->entries * h.growth, last->error * tightening, link);
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* The rate that fills a whole number of 64-bit words, less half a bit so that rounding of a
 * logarithm does not make it one more. */
static tamis_status error_for_bits(const tamis_params *params, double keys, double *error) {
    const double min = 1e-300;
    const uint64_t bits = params->bits / 64 * 64;
    if (bits == 0)
        return tamis__fail(TAMIS_INVALID, "bits=%llu: redisbloom has at least 64",
                           (unsigned long long)params->bits);
    *error = fmax(min, exp(-((double)bits - 0.5) / keys * ln2_squared));
    if (*error < 1) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "bits=%llu are too few for %.0f keys",
                       (unsigned long long)params->bits, keys);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const bool scales = !params->has_option[OPT_SCALING] || params->option[OPT_SCALING] == YES;
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t growth = params->has_option[OPT_EXPANSION] ? params->option[OPT_EXPANSION] : 2;
    double error = params->fpr * (scales ? tightening : 1);
    tamis_bf_link link;
    const tamis_status rc = params->bits ? error_for_bits(params, (double)keys, &error) : TAMIS_OK;
    if (rc) return rc;
    if (scales && growth == 0)
        return tamis__fail(TAMIS_INVALID, "expansion=0: links of redisbloom grow by 1 or more, "
                                          "unless it has scaling=no");
    if (!plan_link(NEW_OPTIONS, keys, error, &link))
        return tamis__fail(TAMIS_TOO_LARGE,
                           "redisbloom cannot have a link for %llu keys at a rate of %g",
                           (unsigned long long)keys, error);
    const tamis_bf_header h = {.links = 1,
                               .options = NEW_OPTIONS | (scales ? 0 : TAMIS_BF_NO_SCALING),
                               .growth = (uint32_t)growth};
    tamis__bf_words(h, link, header_bytes(1) + link.bytes, word);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const double error = tamis__double_of_bits(word[ERROR]);
    if (!(error > 0 && error < 1))
        return tamis__fail(TAMIS_CORRUPT,
                           "redisbloom cannot have an error rate of %g: it is in (0, 1)", error);
    if (word[LINKS] == 0 || word[LINKS] > UINT32_MAX || word[EXPANSION] > UINT32_MAX ||
        word[SCALING] > YES || word[BYTES] > TAMIS_MAX_PAYLOAD_BYTES ||
        word[BYTES] <= header_bytes(word[LINKS]))
        return tamis__fail(TAMIS_CORRUPT, "redisbloom cannot have %llu links in %llu bytes",
                           (unsigned long long)word[LINKS], (unsigned long long)word[BYTES]);
    *size = (word[BYTES] + 7) / 8 * 8;
    return TAMIS_OK;
}

static unsigned lacks(const uint64_t word[]) {
    return word[SCALING] == YES ? 0 : TAMIS_CAN_GROW;
}

static uint64_t probes(const uint64_t word[]) {
    double bpe = -(log(tamis__double_of_bits(word[ERROR])) / ln2_squared);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < word[LINKS] && hashes_for(bpe); i++) {
        sum += hashes_for(bpe);
        bpe += -(log(tightening) / ln2_squared);
    }
    return sum;
}

/* Links fill one after the other, and the last has the rest; the rates of links halve, so that
 * after some dozens nothing is added. Keys that are already found are not stored. */
static double rate(const uint64_t word[], uint64_t items) {
    enum { MANY = 64 };
    const tamis_bf_header h = {.options = NEW_OPTIONS, .growth = (uint32_t)word[EXPANSION]};
    double all = 0, left = (double)items;
    tamis_bf_link link, last;
    bool is_there = plan_link(NEW_OPTIONS, word[KEYS], tamis__double_of_bits(word[ERROR]), &link);
    for (int i = 0; i < MANY && is_there && left > 0; i++) {
        const bool is_last = left <= (double)link.entries || word[SCALING] == NO;
        const uint64_t keys = is_last ? (uint64_t)left : link.entries;
        all = tamis__chance_of_either(all, tamis__bloom_rate(keys, modulus_of(&link), link.hashes));
        if (is_last) break;
        left -= (double)link.entries;
        last = link;
        is_there = plan_next(h, &last, &link);
    }
    return all;
}

static void start(tamis_body *f) {
    tamis_bf_link link;
    if (!plan_link(NEW_OPTIONS, f->word[KEYS], tamis__double_of_bits(f->word[ERROR]), &link))
        return;
    const uint32_t fixed = f->word[SCALING] == YES ? 0 : TAMIS_BF_NO_SCALING;
    tamis__bf_put_header(f->bytes, (tamis_bf_header){.links = 1,
                                                     .options = NEW_OPTIONS | fixed,
                                                     .growth = (uint32_t)f->word[EXPANSION]});
    tamis__bf_put_link(f->bytes, 0, link);
}

/* ---- The gate ------------------------------------------------------------------------------- */

/* As BF.LOADCHUNK; but versions before 2 had bytes for all bits and up to 63 more. */
static tamis_status audit_link(const tamis_bf_link *link, unsigned long long n) {
    if (!(link->error > 0 && link->error < 1))
        return tamis__fail(TAMIS_CORRUPT, "link %llu has an error rate of %g: it is in (0, 1)", n,
                           link->error);
    if (link->n2 > MAX_N2 || (link->n2 && link->bits < (uint64_t)1 << link->n2))
        return tamis__fail(TAMIS_CORRUPT, "link %llu has 2^%d positions in %llu bits", n, link->n2,
                           (unsigned long long)link->bits);
    if (link->bits == 0 || link->bits > MAX_BITS || link->bytes < (link->bits + 7) / 8 ||
        link->bytes > tamis__bitmap_size(link->bits))
        return tamis__fail(TAMIS_CORRUPT, "link %llu has %llu bits in %llu bytes", n,
                           (unsigned long long)link->bits, (unsigned long long)link->bytes);
    if (!(link->bpe > 0) || link->hashes == 0 || link->hashes != hashes_for(link->bpe))
        return tamis__fail(TAMIS_CORRUPT, "link %llu has %lu hashes for %g bits per key", n,
                           (unsigned long)link->hashes, link->bpe);
    return TAMIS_OK;
}

static tamis_status audit_sizes(const tamis_body *f, tamis_bf_header h) {
    uint64_t keys = 0, bytes = header_bytes(h.links);
    for (uint64_t i = 0; i < h.links; i++) {
        const tamis_bf_link link = tamis__bf_link(f->bytes, i);
        const tamis_status rc = audit_link(&link, i);
        if (rc) return rc;
        if (link.size > UINT64_MAX - keys || link.bytes > f->word[BYTES] - bytes)
            return tamis__fail(TAMIS_CORRUPT, "link %llu is larger than the whole filter",
                               (unsigned long long)i);
        keys += link.size;
        bytes += link.bytes;
    }
    if (keys != h.size)
        return tamis__fail(TAMIS_CORRUPT, "the links have %llu keys, the header says %llu",
                           (unsigned long long)keys, (unsigned long long)h.size);
    if (bytes != f->word[BYTES])
        return tamis__fail(TAMIS_CORRUPT, "the links have %llu bytes of %llu",
                           (unsigned long long)bytes, (unsigned long long)f->word[BYTES]);
    return TAMIS_OK;
}

static tamis_status audit(const tamis_body *f) {
    const tamis_bf_header h = tamis__bf_header(f->bytes);
    uint64_t word[TAMIS_WORDS] = {0};
    if (h.options & ~(uint32_t)KNOWN_OPTIONS)
        return tamis__fail(TAMIS_CORRUPT, "redisbloom cannot have options %lu",
                           (unsigned long)h.options);
    tamis__bf_words(h, tamis__bf_link(f->bytes, 0), f->word[BYTES], word);
    if (memcmp(word, f->word, sizeof word) != 0)
        return tamis__fail(TAMIS_CORRUPT, "the header of redisbloom does not match its shape");
    const tamis_status rc = tamis__audit_padding(f, f->word[BYTES]);
    return rc ? rc : audit_sizes(f, h);
}

/* ---- Querying ------------------------------------------------------------------------------- */

static tamis_pair hash_of(uint32_t with, const struct tamis_key *key) {
    tamis_pair h;
    if (with & TAMIS_BF_64) {
        h.h1 = tamis__murmur64a(key, 0xc6a4a7935bd1e995);
        h.h2 = tamis__murmur64a(key, h.h1);
    } else {
        h.h1 = tamis__murmur2_32(key, 0x9747b28c);
        h.h2 = tamis__murmur2_32(key, (uint32_t)h.h1);
    }
    return h;
}

static bool link_has(const tamis_bf_link *link, const uint8_t *bits, tamis_pair h) {
    const uint64_t modulus = modulus_of(link);
    for (uint64_t i = 0; i < link->hashes; i++)
        if (!tamis__bit_get(bits, (h.h1 + i * h.h2) % modulus)) return false;
    return true;
}

/* From the newest down; where a link's bits start is found by going back from the end. */
static bool has(const tamis_body *f, tamis_pair h) {
    uint64_t end = f->word[BYTES];
    for (uint64_t i = f->word[LINKS]; i-- > 0;) {
        const tamis_bf_link link = tamis__bf_link(f->bytes, i);
        end -= link.bytes;
        if (link_has(&link, f->bytes + end, h)) return true;
    }
    return false;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const uint32_t with = tamis__bf_header(f->bytes).options;
    for (size_t i = 0; i < b.n; i++) hit[i] = has(f, hash_of(with, &b.key[i]));
}

/* ---- Adding --------------------------------------------------------------------------------- */

static uint64_t room(const tamis_body *f) {
    const tamis_bf_link last = tamis__bf_link(f->bytes, f->word[LINKS] - 1);
    return last.size < last.entries ? last.entries - last.size : 0;
}

static void set_bits(tamis_body *f, const tamis_bf_link *link, tamis_pair h) {
    uint8_t *bits = f->bytes + f->word[BYTES] - link->bytes;
    for (uint64_t i = 0; i < link->hashes; i++)
        tamis__bit_set(bits, (h.h1 + i * h.h2) % modulus_of(link));
}

static tamis_status is_full(const tamis_body *f) {
    return tamis__fail(TAMIS_FULL, "redisbloom is full: %llu keys, and it does not scale",
                       (unsigned long long)tamis__bf_header(f->bytes).size);
}

/* Beyond the room core adds keys one at a time; so a full filter is unchanged. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    tamis_bf_header h = tamis__bf_header(f->bytes);
    tamis_bf_link last = tamis__bf_link(f->bytes, h.links - 1);
    for (size_t i = 0; i < b.n; i++) {
        const tamis_pair hash = hash_of(h.options, &b.key[i]);
        if (has(f, hash)) continue;
        if (last.size >= last.entries) return is_full(f);
        set_bits(f, &last, hash);
        last.size++;
        h.size++;
        tamis__bf_put_link(f->bytes, h.links - 1, last);
        tamis__bf_put_header(f->bytes, h);
    }
    return TAMIS_OK;
}

/* One link more, which has room for a key whenever such a link exists. */
static tamis_status grow(const tamis_body *f, uint64_t need, uint64_t word[]) {
    const tamis_bf_header h = tamis__bf_header(f->bytes);
    const tamis_bf_link last = tamis__bf_link(f->bytes, h.links - 1);
    tamis_bf_link link;
    (void)need;
    if (h.options & TAMIS_BF_NO_SCALING) return is_full(f);
    if (h.links == UINT32_MAX || !plan_next(h, &last, &link) ||
        link.bytes > TAMIS_MAX_PAYLOAD_BYTES - word[BYTES] - TAMIS_BF_LINK)
        return tamis__fail(TAMIS_FULL,
                           "redisbloom cannot grow: no link of %llu keys times %lu can follow",
                           (unsigned long long)last.entries, (unsigned long)h.growth);
    word[LINKS]++;
    word[BYTES] += TAMIS_BF_LINK + link.bytes;
    return TAMIS_OK;
}

/* The bits move up by the header of the new link, whose own bits are the last. */
static tamis_status move(tamis_body *to, const tamis_body *from) {
    tamis_bf_header h = tamis__bf_header(from->bytes);
    const tamis_bf_link last = tamis__bf_link(from->bytes, h.links - 1);
    const uint64_t old = header_bytes(h.links);
    tamis_bf_link link;
    if (!plan_next(h, &last, &link)) return is_full(from);
    memcpy(to->bytes, from->bytes, (size_t)old);
    memcpy(to->bytes + old + TAMIS_BF_LINK, from->bytes + old, (size_t)(from->word[BYTES] - old));
    tamis__bf_put_link(to->bytes, h.links++, link);
    tamis__bf_put_header(to->bytes, h);
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Of those that a position can reach: 2^n2 may be fewer than there are. */
static uint64_t bits_set(const uint8_t *bytes, uint64_t bits) {
    const uint64_t n = bits / 8, set = tamis__count_ones(bytes, NULL, n);
    return bits % 8 ? set + tamis__popcount64(bytes[n] & ((1u << bits % 8) - 1)) : set;
}

typedef struct one_link {
    tamis_bf_link link;
    const uint8_t *bits;
    uint32_t with;
} one_link;

static bool is_found(const void *context, const struct tamis_key *key) {
    const one_link *one = context;
    return link_has(&one->link, one->bits, hash_of(one->with, key));
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const uint32_t with = tamis__bf_header(f->bytes).options;
    uint64_t at = header_bytes(f->word[LINKS]);
    (void)other;
    for (uint64_t i = 0; i < f->word[LINKS]; i++) {
        const tamis_bf_link link = tamis__bf_link(f->bytes, i);
        tamis_measurement m = {0};
        const uint64_t reached = modulus_of(&link);
        tamis__fill_measure(bits_set(f->bytes + at, reached), reached, link.hashes, &m);
        if (m.bits_set && reached < TAMIS_LIKE_ASK_BELOW_BITS)
            m.fpr = tamis__like_asked_rate(is_found, &(one_link){link, f->bytes + at, with}, m.fpr);
        at += link.bytes;
        tamis__measure_stage(&m, true, out);
    }
}

/* ---- Chunks --------------------------------------------------------------------------------- */

bool tamis__redisbloom_chunk(const tamis_body *f, uint64_t iterator, tamis_redis_chunk *chunk) {
    const uint64_t links = f->word[LINKS], header = header_bytes(links);
    uint64_t before = 0;
    if (iterator == 0) {
        *chunk = (tamis_redis_chunk){.iterator = 1, .size = header};
        return true;
    }
    for (uint64_t i = 0; i < links; i++) {
        const uint64_t bytes = tamis__bf_link(f->bytes, i).bytes;
        if (tamis__redis_cut(header, before, bytes, iterator, chunk)) return true;
        before += bytes;
    }
    return false;
}

/* ---- The kind ------------------------------------------------------------------------------- */

const tamis_kind tamis__redisbloom = {
    .name = "redisbloom",
    .contract = "a Bloom filter that RedisBloom can read and write, and that grows as there",
    .word = {"bits", "keys", "error", "expansion", "scaling", "links", "bytes"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .room = room,
    .reshape = &(const tamis_reshape){.grow = grow, .move = move},
};

/* ---- The format ----------------------------------------------------------------------------- */

tamis_status tamis__bf_may_leave(const tamis_body *f) {
    for (uint64_t i = 0; i < f->word[LINKS]; i++) {
        const tamis_bf_link link = tamis__bf_link(f->bytes, i);
        if (link.bits != link.bytes * 8)
            return tamis__fail(TAMIS_UNSUPPORTED,
                               "current RedisBloom refuses a link of %llu bits in %llu bytes, as "
                               "old versions made it",
                               (unsigned long long)link.bits, (unsigned long long)link.bytes);
    }
    return TAMIS_OK;
}

enum { PARAM_LINKS, TODAY = 0, ANY };

static const struct tamis_option params[] = {
    {"links", "today|any", 0, 0, "today",
     "any: also those of old versions, with fewer bits than their bytes hold"},
};

/* The gate checks how many of them a link may leave unused. */
static tamis_status read_sizes(const tamis_input *in, tamis_bf_header h, bool are_any) {
    uint64_t size = header_bytes(h.links);
    for (uint64_t i = 0; i < h.links; i++) {
        const tamis_bf_link link = tamis__bf_link(in->bytes, i);
        if (link.bytes > in->size - size)
            return tamis__bad_format("redisbloom", "link %llu has %llu bytes, but %llu are left",
                                     (unsigned long long)i, (unsigned long long)link.bytes,
                                     (unsigned long long)(in->size - size));
        if (!are_any && (link.bits / 8 != link.bytes || link.bits % 8))
            return tamis__bad_format("redisbloom", "link %llu has %llu bits in %llu bytes",
                                     (unsigned long long)i, (unsigned long long)link.bits,
                                     (unsigned long long)link.bytes);
        size += link.bytes;
    }
    if (size == in->size) return TAMIS_OK;
    return tamis__bad_format("redisbloom", "the links end at byte %llu of %llu",
                             (unsigned long long)size, (unsigned long long)in->size);
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    const bool are_any = args->has[PARAM_LINKS] && args->number[PARAM_LINKS] == ANY;
    if (in->size < header_bytes(1))
        return tamis__bad_format("redisbloom", "%llu bytes, a header with one link has 73",
                                 (unsigned long long)in->size);
    const tamis_bf_header h = tamis__bf_header(in->bytes);
    if (h.links == 0 || header_bytes(h.links) > in->size)
        return tamis__bad_format("redisbloom", "the header says %lu links, in %llu bytes",
                                 (unsigned long)h.links, (unsigned long long)in->size);
    const tamis_status rc = read_sizes(in, h, are_any);
    if (rc) return rc;
    const tamis_bf_link first = tamis__bf_link(in->bytes, 0);
    *out = (tamis_import_result){
        .kind = "redisbloom", .capacity = first.entries, .items = h.size, .payload = *in};
    out->fpr = first.error / (h.options & TAMIS_BF_NO_SCALING ? 1 : tightening);
    tamis__bf_words(h, first, in->size, out->word);
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    const tamis_status rc = tamis__bf_may_leave(out->body);
    return rc ? rc : tamis__export_write(out, out->body->bytes, out->body->word[BYTES]);
}

const tamis_format tamis__format_redisbloom = {
    .name = "redisbloom",
    .system = "RedisBloom BF.SCANDUMP, its replies concatenated",
    .kinds = "redisbloom",
    .keys = "bytes utf8",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .write = write,
};
