/* SPDX-License-Identifier: MIT */
/* dcso: the filters of DCSO's tool bloom, of its Go library, and of Python's flor.
 *
 *     version   8 bytes  1
 *     n         8        keys planned for
 *     p         8        the target rate, a double
 *     k         8        hashes
 *     m         8        bits
 *     N         8        adds that set a bit which was not set
 *     bits      8 words  of 64 bits, for m of them
 *     data      the rest of the file: anything that users keep with the filter
 *
 * All numbers are little-endian. A key is hashed once, by FNV-1, and its positions are the
 * remainders of a chain: h = (h g mod 2^64) mod G, with G the largest prime below 2^64. That the
 * product loses its upper half before G is applied was not intended, and is the format.
 *
 * It has a price. G changes one number in 2^58, so the result is h g^i mod 2^64, where the last
 * bits of the product come from the last bits of h alone: when 2^t divides m, the positions of a
 * key fall into t-bit classes that follow from h mod 2^t. That does no harm as long as a class has
 * many bits; when m is a power of two, each class has a single bit. The rate is measured by classes
 * here. */
#include <math.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/foreign_hashes.h"
#include "foreign/format.h"
#include "kinds/bitmap.h"

enum { BITS, HASHES, ENTRIES, RATE, DATA };
enum { OPT_HASHES, OPT_ENTRIES, OPT_RATE, OPT_DATA };
enum { AT_N = 8, AT_P = 16, AT_K = 24, AT_M = 32, AT_ADDS = 40, HEADER = 48 };
#define MAX_BITS ((uint64_t)1 << 58)
#define MAX_DATA ((uint64_t)1 << 20) /* in a spec; files may have more */
#define PRIME    0xffffffffffffffc5  /* G */
#define FACTOR   0xfffffffffffffa43  /* g */

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as bloom does", "probes per key, k"},
    {"entries", NULL, 0, UINT64_MAX, "the capacity", "n in the header"},
    {"rate", NULL, 0, UINT64_MAX, "fpr", "p in the header: the bits of a double, as a number"},
    {"data", NULL, 0, MAX_DATA, "0", "bytes of data after the bits, 0 at first"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static uint64_t below_prime(uint64_t x) {
    return x >= PRIME ? x - PRIME : x;
}

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    (void)word;
    walk->a = below_prime(tamis__fnv1_64(key));
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    walk->a = below_prime(walk->a * FACTOR);
    return walk->a % word[BITS];
}

static void header(const uint64_t word[], uint8_t *to) {
    tamis__put64(to, 1);
    tamis__put64(to + AT_N, word[ENTRIES]);
    tamis__put64(to + AT_P, word[RATE]);
    tamis__put64(to + AT_K, word[HASHES]);
    tamis__put64(to + AT_M, word[BITS]);
}

static uint64_t extra(const uint64_t word[]) {
    return word[DATA];
}

static const tamis_bloomlike like = {.name = "dcso",
                                     .header_bytes = HEADER,
                                     .header = header,
                                     .unit = 64,
                                     .loose_at = AT_ADDS,
                                     .loose_bytes = 8,
                                     .extra = extra,
                                     .begin = begin,
                                     .next = next};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const double ln2 = log(2), n = (double)keys;
    const double bits =
        params->bits ? (double)params->bits : floor(tamis__like_bits_for(keys, params->fpr));
    if (bits < 1)
        return tamis__fail(TAMIS_INVALID, "dcso makes no filter of 0 bits: a lower rate is needed");
    if (bits > (double)MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "dcso has at most 2^58 bits here");
    const double rate = params->bits ? exp(-bits / n * ln2 * ln2) : params->fpr;
    word[BITS] = (uint64_t)bits;
    word[HASHES] = tamis__like_hashes(params, ceil(ln2 * bits / n));
    word[ENTRIES] = params->has_option[OPT_ENTRIES] ? params->option[OPT_ENTRIES] : keys;
    word[RATE] =
        params->has_option[OPT_RATE] ? params->option[OPT_RATE] : tamis__bits_of_double(rate);
    word[DATA] = params->option[OPT_DATA];
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    return tamis__like_check(&like, word, 1, MAX_BITS, size);
}

/* ---- The rate ------------------------------------------------------------------------------- */

/* Of the table below: beyond that, the bits of classes are counted again for each probe. */
enum { MAX_CLASSES = 1024 };

static uint64_t classes_of(const uint64_t word[]) {
    return word[BITS] & (0 - word[BITS]); /* the largest power of two that divides m */
}

/* The share of set bits of a class. */
static double fill_of(const tamis_body *f, uint64_t class) {
    const uint64_t classes = classes_of(f->word), bits = f->word[BITS];
    uint64_t set = 0;
    for (uint64_t i = class; i < bits; i += classes) set += f->bytes[HEADER + i / 8] >> (i & 7) & 1;
    return (double)set * (double)classes / (double)bits;
}

/* A non-member's hash is in every class alike, and continues by the factor. */
static double rate_of(const tamis_body *f) {
    const uint64_t classes = classes_of(f->word);
    const bool is_small = classes <= MAX_CLASSES;
    double fill[MAX_CLASSES], sum = 0;
    for (uint64_t i = 0; is_small && i < classes; i++) fill[i] = fill_of(f, i);
    for (uint64_t first = 0; first < classes; first++) {
        double all = 1;
        uint64_t at = first;
        for (uint64_t i = 0; i < f->word[HASHES] && all > 0; i++) {
            at = at * FACTOR % classes;
            all *= is_small ? fill[at] : fill_of(f, at);
        }
        sum += all;
    }
    return sum / (double)classes;
}

/* For two together only the number of keys is used, not the rate. */
static void measure_rate(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__like_measure(f, other, out);
    if (!other && classes_of(f->word) > 1) out->fpr = rate_of(f);
}

/* One bit per class: a non-member is a false positive unless k consecutive starts are empty among
 * the 2k-1 that reach its classes. Nobody plans for anything between that and many bits per
 * class. */
static double rate(const uint64_t word[], uint64_t items) {
    if (classes_of(word) != word[BITS]) return tamis__like_rate(word, items);
    const double k = (double)word[HASHES];
    const double empty = exp(-(double)items / (double)word[BITS]);
    return fmax(0, 1 - pow(empty, k) * (1 + (k - 1) * (1 - empty)));
}

/* ---- The kind ------------------------------------------------------------------------------- */

static tamis_status add(tamis_body *f, tamis_batch b) {
    const uint64_t fresh = tamis__like_add_new(f, b);
    tamis__put64(f->bytes + AT_ADDS, tamis__get64(f->bytes + AT_ADDS) + fresh);
    return TAMIS_OK;
}

/* N becomes the sum, as there: keys in both count twice. The data stays that of `into`. */
static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const uint64_t a = tamis__get64(into->bytes + AT_ADDS), b = tamis__get64(from->bytes + AT_ADDS);
    if (a + b < a)
        return tamis__fail(TAMIS_TOO_LARGE, "the sum of the adds, %llu and %llu, is over 2^64",
                           (unsigned long long)a, (unsigned long long)b);
    tamis__like_merge(into, from);
    tamis__put64(into->bytes + AT_ADDS, a + b);
    return TAMIS_OK;
}

const tamis_kind tamis__dcso = {
    .name = "dcso",
    .contract = "a Bloom filter that DCSO's bloom can read and write",
    .word = {"bits", "hashes", "entries", "rate", "data"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .start = tamis__like_start,
    .audit = tamis__like_audit,
    .measure = measure_rate,
    .query = tamis__foreign_bloom_query,
    .add = add,
    .sets = &(const tamis_sets){.merge = merge},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    if (in->size < HEADER) return tamis__too_short("dcso", in, HEADER);
    const uint64_t version = tamis__get64(in->bytes), bits = tamis__get64(in->bytes + AT_M);
    const uint64_t words = bits / 64 + (bits % 64 != 0);
    if (version != 1)
        return tamis__bad_format("dcso", "the version is %llu, not 1", (unsigned long long)version);
    if (words == 0 || words > (in->size - HEADER) / 8)
        return tamis__bad_format(
            "dcso", "the header says %llu bits, but there are bytes for 1 to %llu",
            (unsigned long long)bits, (unsigned long long)((in->size - HEADER) / 8 * 64));
    const uint64_t entries = tamis__get64(in->bytes + AT_N),
                   rate_bits = tamis__get64(in->bytes + AT_P);
    const uint64_t adds = tamis__get64(in->bytes + AT_ADDS);
    *out = (tamis_import_result){.kind = "dcso",
                                 .word = {bits, tamis__get64(in->bytes + AT_K), entries, rate_bits,
                                          in->size - HEADER - 8 * words},
                                 .capacity = entries,
                                 .fpr = tamis__double_of_bits(rate_bits),
                                 .items = adds < TAMIS_MAX_CAPACITY ? adds : TAMIS_MAX_CAPACITY,
                                 .payload = *in};
    return TAMIS_OK;
}

const tamis_format tamis__format_dcso = {
    .name = "dcso",
    .system = "DCSO bloom, Python flor",
    .kinds = "dcso",
    .keys = "utf8 bytes",
    .limits = "at most 255 hashes; data after the bits is kept as it is",
    .read = read,
    .write = tamis__like_write,
};
