/* SPDX-License-Identifier: MIT */
/* classic: the filter of Burton Bloom (1970).
 *
 * m bits, all zero at first. A key chooses k of them; adding sets them, a query tests whether all
 * are set. Nothing is ever cleared, so a key that was added is always found, and union is OR.
 *
 *     key ─▶ hash ─▶ position 0, position 1, ... position k-1         anywhere in m bits
 *
 *     0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 0 0 1 0 0 1 0 0 0 ...
 *         ▲         ▲       ▲                                         k = 3
 *
 * Each probe is a cache miss of its own once the filter is larger than the caches; blocked costs
 * one miss and a few percent more bits. classic is for small rates (below 10^-4 blocking wastes
 * bits), for any m, and for exchange with systems that use m and k.
 *
 * Positions come from one 64-bit hash; seven ways are offered (see docs/kinds/classic.md for what
 * each costs in accuracy):
 *
 *     mcg       x = h|1, position = range(x, m), x *= odd constant        the default, accurate
 *     double64  x = h, step = mix(h)|1, position = range(x, m), x += step
 *     double    (a + i b) mod m                      Kirsch and Mitzenmacher (2006)
 *     enhanced  x += y, y += i       (mod m)         Dillinger and Manolios (2004)
 *     triple    x += y, y += z       (mod m)
 *     slices    as mcg, probe i in a slice of its own: bits i m/k to (i + 1) m/k - 1
 *     seeds     position = range(mix(h + (i + 1) * golden), m): k independent hashes
 *
 * double, enhanced and triple take remainders. With m a multiple of 64 and an odd step no two of
 * their first 64 linear probes coincide, so plan and check demand that m for them. Slices are
 * equally long, so m is a multiple of k there. */
#include <math.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/kind.h"
#include "math/chains.h"

enum { BITS, HASHES, SCHEME };                                            /* shape words */
enum { MCG, DOUBLE64, DOUBLE, ENHANCED, TRIPLE, SLICES, SEEDS, SCHEMES }; /* values of SCHEME */
enum { OPT_HASHES, OPT_SCHEME };                                          /* options */

enum { MAX_HASHES = TAMIS_BLOOM_MAX_HASHES, WORD_BITS = 64 };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS
#define GOLDEN   UINT64_C(0x9e3779b97f4a7c15) /* the golden ratio: seeds that are far apart */

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the best for the rate", "probes per key, k"},
    {"scheme", "mcg|double64|double|enhanced|triple|slices|seeds", 0, 0, "mcg",
     "how positions follow from the hash"},
    {0},
};

static bool takes_remainders(const uint64_t word[]) {
    return word[SCHEME] >= DOUBLE && word[SCHEME] <= TRIPLE;
}

/* What the number of bits is a multiple of, besides a plan's own rounding. */
static uint64_t grain(const uint64_t word[]) {
    return takes_remainders(word) ? WORD_BITS : word[SCHEME] == SLICES ? word[HASHES] : 1;
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* The rate beyond fill^k where probes are sums. */
static double excess(const uint64_t word[], double keys, double fill) {
    static const tamis_chain chains[] = {[DOUBLE64] = TAMIS_CHAIN_SCALED,
                                         [DOUBLE] = TAMIS_CHAIN_LINEAR,
                                         [ENHANCED] = TAMIS_CHAIN_CUBIC,
                                         [TRIPLE] = TAMIS_CHAIN_QUADRATIC};
    if (word[SCHEME] == MCG || word[SCHEME] >= SLICES) return 0;
    return tamis__chain_excess(chains[word[SCHEME]], keys, word[BITS], word[HASHES], fill);
}

/* Slices fill independently, so that the mean of the product is the product of the means. */
static double rate_of_slices(const uint64_t word[], uint64_t items) {
    const double slice = (double)(word[BITS] / word[HASHES]);
    const double fill = items ? -expm1((double)items * log1p(-1 / slice)) : 0;
    return pow(fill, (double)word[HASHES]);
}

static double rate(const uint64_t word[], uint64_t items) {
    if (word[SCHEME] == SLICES) return rate_of_slices(word, items);
    const double keys = (double)items, bits = (double)word[BITS];
    const double fill = -expm1(-keys * (double)word[HASHES] / bits);
    return fmin(1, tamis__bloom_rate(items, word[BITS], word[HASHES]) + excess(word, keys, fill));
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Sums need more bits for the same rate, many more where it is small, and slices a few: found by
 * doubling and halving, in units of 64 bits or of 8 in each slice. */
static bool widen(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t unit = word[SCHEME] == SLICES ? 8 * word[HASHES] : WORD_BITS;
    uint64_t low = (word[BITS] + unit - 1) / unit, high = low;
    for (; word[BITS] = high * unit, rate(word, keys) > params->fpr; high = 2 * low) {
        low = high;
        if (low > MAX_BITS / 2 / unit) return false;
    }
    while (high - low > low / 128 + 1) {
        const uint64_t middle = low + (high - low) / 2;
        word[BITS] = middle * unit;
        if (rate(word, keys) > params->fpr)
            low = middle;
        else
            high = middle;
    }
    word[BITS] = tamis__round_to_fold(high, 1, MAX_BITS / unit) * unit;
    return word[BITS] != 0;
}

static tamis_status plan_for_rate(const tamis_params *params, uint64_t word[]) {
    const uint64_t hashes = tamis__chosen(params, OPT_HASHES, 0);
    if (!tamis__bloom_plan(params->capacity, params->fpr, hashes, &word[BITS], &word[HASHES]) ||
        !widen(params, word))
        return tamis__fail(TAMIS_TOO_LARGE, "classic would need over 2^56 bytes");
    return TAMIS_OK;
}

/* Slices are equally long. */
static tamis_status plan_for_size(const tamis_params *params, uint64_t word[]) {
    const uint64_t best = tamis__bloom_hashes(params->capacity, params->bits);
    word[HASHES] = tamis__chosen(params, OPT_HASHES, best);
    word[BITS] = params->bits;
    if (word[SCHEME] == SLICES)
        word[BITS] = tamis__units_within(params->bits, word[HASHES]) * word[HASHES];
    if (!word[BITS])
        return tamis__fail(TAMIS_INVALID, "bits must be at least %llu, one for each slice",
                           (unsigned long long)word[HASHES]);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[SCHEME] = tamis__chosen(params, OPT_SCHEME, MCG);
    const tamis_status rc =
        params->bits ? plan_for_size(params, word) : plan_for_rate(params, word);
    if (rc) return rc;
    if (word[BITS] % grain(word))
        return tamis__fail(TAMIS_INVALID, "bits must be a multiple of %d for this scheme, not %llu",
                           WORD_BITS, (unsigned long long)word[BITS]);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BITS] == 0 || word[BITS] > MAX_BITS)
        return tamis__fail(TAMIS_CORRUPT, "classic cannot have %llu bits",
                           (unsigned long long)word[BITS]);
    if (!tamis__may_have("classic", word[HASHES], "hashes", 1, MAX_HASHES)) return TAMIS_CORRUPT;
    if (word[SCHEME] >= SCHEMES)
        return tamis__fail(TAMIS_CORRUPT, "classic has no scheme %llu",
                           (unsigned long long)word[SCHEME]);
    if (word[BITS] % grain(word))
        return tamis__fail(TAMIS_CORRUPT, "classic needs bits in multiples of %llu for its scheme",
                           (unsigned long long)grain(word));
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

/* ---- Positions ------------------------------------------------------------------------------ */

/* The default is in bloom.h; these are the other schemes. */
typedef struct chain {
    uint64_t x, y, z;
} chain;

/* `scheme` is a constant wherever these are inlined, so each loop below has one scheme only. */
TAMIS_HOT chain chain_start(unsigned scheme, uint64_t hash, uint64_t bits, uint64_t hashes) {
    if (scheme == SLICES) return (chain){tamis__chain_start(hash), 0, bits / hashes};
    if (scheme == SEEDS) return (chain){hash, 0, 0};
    const uint64_t step = tamis__mix(hash) | 1;
    if (scheme == DOUBLE64) return (chain){hash, step, 0};
    return (chain){hash % bits, step % bits, tamis__mix(step) % bits};
}

TAMIS_HOT uint64_t add_mod(uint64_t a, uint64_t b, uint64_t bits) {
    return a + b >= bits ? a + b - bits : a + b; /* both below 2^59: no overflow */
}

TAMIS_HOT uint64_t chain_next(unsigned scheme, chain *c, uint64_t i, uint64_t bits) {
    const uint64_t x = c->x;
    switch (scheme) {
    case DOUBLE64: c->x += c->y; return tamis__range(x, bits);
    case SLICES: c->y += c->z; return c->y - c->z + tamis__chain_next(&c->x, c->z);
    case SEEDS: c->x += GOLDEN; return tamis__range(tamis__mix(c->x), bits);
    case ENHANCED:
        c->x = add_mod(x, c->y, bits);
        c->y = add_mod(c->y, (i + 1) % bits, bits);
        return x;
    case TRIPLE:
        c->x = add_mod(x, c->y, bits);
        c->y = add_mod(c->y, c->z, bits);
        return x;
    default: c->x = add_mod(x, c->y, bits); return x;
    }
}

/* ---- Querying and adding -------------------------------------------------------------------- */

TAMIS_HOT bool has_by(unsigned scheme, const tamis_body *f, uint64_t hash) {
    const uint64_t bits = f->word[BITS], hashes = f->word[HASHES];
    chain c = chain_start(scheme, hash, bits, hashes);
    uint64_t i = 0;
    while (i < hashes && tamis__bit_get(f->bytes, chain_next(scheme, &c, i, bits))) i++;
    return i == hashes;
}

/* A batch first prefetches the first line of each key: misses mostly end there. */
enum { GROUP = 32 };

TAMIS_HOT void query_by(unsigned scheme, const tamis_body *f, const uint64_t *hash, size_t n,
                        uint8_t *hit) {
    const uint64_t bits = f->word[BITS], hashes = f->word[HASHES];
    const bool is_far = f->size > tamis__near_bytes();
    for (size_t at = 0; at < n; at += GROUP) {
        const size_t end = n - at < GROUP ? n : at + GROUP;
        for (size_t j = at; j < end && is_far; j++) {
            chain c = chain_start(scheme, hash[j], bits, hashes);
            __builtin_prefetch(f->bytes + chain_next(scheme, &c, 0, bits) / 8);
        }
        for (size_t j = at; j < end; j++) hit[j] = has_by(scheme, f, hash[j]);
    }
}

TAMIS_HOT void add_by(unsigned scheme, bool is_shared, tamis_body *f, const uint64_t *hash,
                      size_t n) {
    const uint64_t bits = f->word[BITS], hashes = f->word[HASHES];
    for (size_t j = 0; j < n; j++) {
        chain c = chain_start(scheme, hash[j], bits, hashes);
        for (uint64_t i = 0; i < hashes; i++) {
            const uint64_t at = chain_next(scheme, &c, i, bits);
            if (is_shared)
                tamis__or64_shared(f->bytes + at / 64 * 8, (uint64_t)1 << at % 64);
            else
                tamis__bit_set(f->bytes, at);
        }
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    switch (f->word[SCHEME]) {
    case MCG: tamis__bloom_query(f, b, hit); break;
    case DOUBLE64: query_by(DOUBLE64, f, b.hash, b.n, hit); break;
    case DOUBLE: query_by(DOUBLE, f, b.hash, b.n, hit); break;
    case ENHANCED: query_by(ENHANCED, f, b.hash, b.n, hit); break;
    case TRIPLE: query_by(TRIPLE, f, b.hash, b.n, hit); break;
    case SLICES: query_by(SLICES, f, b.hash, b.n, hit); break;
    default: query_by(SEEDS, f, b.hash, b.n, hit); break;
    }
}

/* One key, a function for each scheme. */
#define SINGLE(scheme)                                             \
    static bool has_##scheme(const tamis_body *f, uint64_t hash) { \
        return has_by(scheme, f, hash);                            \
    }                                                              \
    static bool add_##scheme(tamis_body *f, uint64_t hash) {       \
        add_by(scheme, false, f, &hash, 1);                        \
        return true;                                               \
    }
SINGLE(DOUBLE64)
SINGLE(DOUBLE)
SINGLE(ENHANCED)
SINGLE(TRIPLE)
SINGLE(SLICES)
SINGLE(SEEDS)

static tamis_one one(const uint64_t word[]) {
    static const tamis_one others[] = {[DOUBLE64] = {.has = has_DOUBLE64, .add = add_DOUBLE64},
                                       [DOUBLE] = {.has = has_DOUBLE, .add = add_DOUBLE},
                                       [ENHANCED] = {.has = has_ENHANCED, .add = add_ENHANCED},
                                       [TRIPLE] = {.has = has_TRIPLE, .add = add_TRIPLE},
                                       [SLICES] = {.has = has_SLICES, .add = add_SLICES},
                                       [SEEDS] = {.has = has_SEEDS, .add = add_SEEDS}};
    return word[SCHEME] == MCG ? tamis__bloom_one(word) : others[word[SCHEME]];
}

static bool has(const tamis_body *f, uint64_t hash) {
    return one(f->word).has(f, hash);
}

TAMIS_HOT void add_any(bool is_shared, tamis_body *f, const uint64_t *hash, size_t n) {
    switch (f->word[SCHEME]) {
    case DOUBLE64: add_by(DOUBLE64, is_shared, f, hash, n); break;
    case DOUBLE: add_by(DOUBLE, is_shared, f, hash, n); break;
    case ENHANCED: add_by(ENHANCED, is_shared, f, hash, n); break;
    case TRIPLE: add_by(TRIPLE, is_shared, f, hash, n); break;
    case SLICES: add_by(SLICES, is_shared, f, hash, n); break;
    default: add_by(SEEDS, is_shared, f, hash, n); break;
    }
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    if (f->word[SCHEME] == MCG) return tamis__bloom_add(f, b);
    add_any(false, f, b.hash, b.n);
    return TAMIS_OK;
}

static void add_shared(tamis_body *f, tamis_batch b) {
    if (f->word[SCHEME] == MCG)
        tamis__bloom_add_shared(f, b);
    else
        add_any(true, f, b.hash, b.n);
}

/* ---- Folding and measuring ------------------------------------------------------------------ */

static tamis_status fold(const tamis_body *f, uint64_t by, uint64_t word[]) {
    const tamis_status rc = tamis__fold_first(f, by, word);
    if (rc) return rc;
    if (word[BITS] % grain(word))
        return tamis__fail(TAMIS_INVALID,
                           "cannot fold by %llu: this scheme needs bits in multiples of %llu",
                           (unsigned long long)by, (unsigned long long)grain(word));
    return TAMIS_OK;
}

/* Which bits merge depends on how positions were made. The wrong pairing would lose keys
 * silently. */
static tamis_status move(tamis_body *to, const tamis_body *from) {
    const uint64_t bits = from->word[BITS], by = bits / to->word[BITS];
    if (by == 0)
        tamis__bitmap_stretch(to->bytes, to->word[BITS], from->bytes, bits);
    else if (takes_remainders(from->word))
        tamis__bitmap_fold_strides(to->bytes, from->bytes, bits, by);
    else
        tamis__bitmap_fold_neighbours(to->bytes, from->bytes, bits, by);
    return TAMIS_OK;
}

/* Remainders of two sizes are unrelated, and slices of another length begin elsewhere. */
static bool stretch(const uint64_t word[], const uint64_t wider[]) {
    return grain(word) == 1 && tamis__is_wider(word, wider);
}

/* Bits that are set in one or both, of `n` from `first` on. */
static uint64_t set_in(const tamis_body *f, const tamis_body *other, uint64_t first, uint64_t n) {
    const uint64_t last = first + n - 1;
    uint64_t set = 0;
    for (uint64_t i = first / 64; i <= last / 64; i++) {
        uint64_t word = tamis__get64(f->bytes + 8 * i);
        if (other) word |= tamis__get64(other->bytes + 8 * i);
        if (i == first / 64) word &= UINT64_MAX << first % 64;
        if (i == last / 64) word &= UINT64_MAX >> (63 - last % 64);
        set += tamis__popcount64(word);
    }
    return set;
}

/* A non-member has one probe in each slice, and slices differ. */
static double passing_slices(const tamis_body *f, const tamis_body *other) {
    const uint64_t n = f->word[BITS] / f->word[HASHES];
    double passing = 1;
    for (uint64_t i = 0; i < f->word[HASHES]; i++)
        passing *= (double)set_in(f, other, i * n, n) / (double)n;
    return passing;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__bitmap_measure(f, other, f->word[BITS], f->word[HASHES], out);
    if (f->word[SCHEME] == SLICES) out->fpr = passing_slices(f, other);
    const double fill = (double)out->bits_set / (double)out->bits;
    out->fpr = fmin(1, out->fpr + excess(f->word, out->items.value, fill));
}

const tamis_kind tamis__classic = {
    .name = "classic",
    .contract = "any number of bits and probes; exact union, folding and cardinality",
    .word = {"bits", "hashes", "scheme"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .audit = tamis__bits_audit,
    .measure = measure,
    .query = query,
    .add = add,
    .speed = &(const tamis_speed){.has = has, .one = one, .add_shared = add_shared},
    .reshape = &(const tamis_reshape){.fold = fold, .move = move, .stretch = stretch},
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = tamis__bitmap_intersect},
};
