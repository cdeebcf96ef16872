/* SPDX-License-Identifier: MIT */
/* rocksdb-ribbon: what RocksDB's Ribbon filter policy makes of the keys of a table file (version
 * 6.15 and later).
 *
 *     segments  16 bytes each, little-endian, in blocks of one segment per column
 *     fe        magic
 *     seed      1 byte
 *     blocks    3 bytes, little-endian
 *
 * A block represents 128 slots. Each slot has a row of bits, one for each column, and segment i of
 * a block has bit i of all its slots. A key is a start, 128 coefficients (which of the slots from
 * the start on count) and a result; building solves the linear system in which the XOR of the rows
 * that count is the result (Dillinger and Walzer, "Ribbon filter", 2021). So a non-member is a
 * false positive with probability 2^-columns. For rates between powers of two, the first blocks
 * have a column less:
 *
 *     blocks 0 ... u-1     C-1 columns
 *     blocks u ...         C columns
 *
 * Below 1024 slots the policy writes its Bloom filter where that is smaller (fastlocal.h), and for
 * no keys it writes nothing: this kind is all three. The bytes depend on the keys, and on which
 * came first. */
#include "foreign/rocksdb.h"

#include <math.h>
#include <string.h>

#include "bits/probe.h"
#include "foreign/built_once.h"
#include "foreign/bytes.h"
#include "foreign/fastlocal.h"
#include "foreign/foreign_hashes.h"
#include "kinds/bitmap.h"

enum { BYTES, BLOCKS, HASHES, SEED, MILLIBITS };
enum { OPT_MILLIBITS };
enum { TAIL = TAMIS_ROCKSDB_TAIL, SLOTS = 128, SEGMENT = 16, MAX_COLUMNS = 32, SEEDS = 256 };
enum { MIN_BLOCKS = 2, MAX_BLOCKS = 0xffffff, BLOOM_BELOW = 1024, MAX_KEYS = 950000000 };

static const struct tamis_option options[] = {
    {"millibits", NULL, TAMIS_MIN_MILLIBITS, TAMIS_MAX_MILLIBITS, "by fpr or size",
     "bits per key of the Bloom filter with this rate, in thousandths"},
    {0},
};

/* ---- Columns -------------------------------------------------------------------------------- */

typedef struct layout {
    uint64_t columns; /* of upper blocks */
    uint64_t shorter; /* the number of first blocks with one less */
    uint64_t blocks, starts;
} layout;

static layout layout_of(const uint64_t word[]) {
    const uint64_t segments = (word[BYTES] - TAIL) / SEGMENT, blocks = word[BLOCKS];
    layout l = {.columns = (segments + blocks - 1) / blocks,
                .blocks = blocks,
                .starts = blocks * SLOTS - (SLOTS - 1)};
    l.shorter = l.columns * blocks - segments;
    if (l.columns > MAX_COLUMNS) l.columns = MAX_COLUMNS, l.shorter = 0;
    return l;
}

static uint64_t columns_of(const layout *l, uint64_t block) {
    return l->columns - (block < l->shorter);
}

static uint64_t segment_of(const layout *l, uint64_t block) {
    return block * l->columns - (block < l->shorter ? block : l->shorter);
}

/* ---- RocksDB's rule of sizes ----------------------------------------------------------------- */

/* How many keys fit in 2^j slots with one failure in twenty, as measured by RocksDB, and beyond the
 * table as it extrapolates: 0.0038 more slots per key for each doubling. */
static double keys_for(unsigned j) {
    static const double known[] = {248.851, 499.532, 1001.26, 2003.97, 4005.59,
                                   8000.39, 15966.6, 31828.1, 63447.3, 126506};
    enum { FIRST = 8, LAST = 17 };
    const double more = 0.0038;
    if (j < FIRST) return 0;
    if (j <= LAST) return known[j - FIRST];
    const double base = 1.0 * (1 << LAST) / known[LAST - FIRST] - LAST * more;
    return 1.0 * (double)((uint64_t)1 << j) / (base + 1.0 * j * more);
}

static uint64_t slots_for(uint64_t keys) {
    const double n = (double)keys;
    unsigned j = (unsigned)(log(n) * 1.4426950409 + 0.5);
    double low = keys_for(j), high, slots = MIN_BLOCKS * SLOTS;
    if (low > 0) {
        if (n < low) {
            high = low;
            low = keys_for(--j);
        } else {
            high = keys_for(j + 1);
        }
        const double whole = 1.0 * (double)((uint64_t)1 << j);
        slots = (n - low) / (high - low) * whole + whole + 0.999999999;
    }
    const uint64_t rounded = ((uint64_t)slots + SLOTS - 1) / SLOTS * SLOTS;
    return rounded < MIN_BLOCKS * SLOTS ? MIN_BLOCKS * SLOTS : rounded;
}

static double one_in(uint64_t millibits) {
    return 1.0 / tamis__fast_rate((double)millibits / 1000.0, tamis__fast_hashes(millibits));
}

/* A mix of columns whose rates have the target mean, rounded randomly: by the first key's hash. */
static uint64_t segments_for(uint64_t slots, double wanted, uint32_t chance) {
    const uint64_t blocks = slots / SLOTS;
    if (wanted >= 4294967296.0) return MAX_COLUMNS * blocks;
    const unsigned columns = tamis__log2_floor((uint64_t)wanted);
    const double upper = pow(2.0, -(double)(columns + 1)), lower = pow(2.0, -(double)columns);
    const double share = (1.0 / wanted - upper) / (lower - upper);
    const double bias = ((double)chance + 0.5) / 4294967296.0;
    const uint64_t shorter =
        (uint64_t)((share * (double)(slots - (SLOTS - 1)) + bias) / (double)SLOTS);
    return blocks * columns + (blocks - shorter);
}

static void bloom_for(uint64_t keys, uint64_t millibits, uint64_t word[]) {
    word[BYTES] = tamis__fast_bytes(keys, millibits) + TAIL;
    word[BLOCKS] = 0;
    word[HASHES] = tamis__fast_hashes(millibits);
}

static void shape_for(uint64_t keys, uint64_t millibits, uint32_t chance, uint64_t word[]) {
    word[MILLIBITS] = millibits;
    word[BYTES] = word[BLOCKS] = word[HASHES] = word[SEED] = 0;
    if (keys == 0) return;
    bloom_for(keys, millibits, word);
    if (keys > MAX_KEYS) return;
    const uint64_t slots = slots_for(keys);
    const uint64_t bytes = segments_for(slots, one_in(millibits), chance) * SEGMENT + TAIL;
    if (slots < BLOOM_BELOW && word[BYTES] < bytes) return;
    word[BYTES] = bytes;
    word[BLOCKS] = slots / SLOTS;
    word[HASHES] = 0;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

enum { TYPICAL = INT32_MAX };

/* The fewest bits per key that keep the rate, or the most that fit the size. */
static uint64_t millibits_for(const tamis_params *params) {
    uint64_t low = TAMIS_MIN_MILLIBITS, high = TAMIS_MAX_MILLIBITS + 1;
    uint64_t word[TAMIS_WORDS] = {0};
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        bool goes_lower;
        if (params->bits) {
            shape_for(params->capacity, middle, TYPICAL, word);
            goes_lower = (word[BYTES] + 7) / 8 * 64 > params->bits;
        } else {
            goes_lower = 1 / one_in(middle - 1) <= params->fpr;
        }
        if (goes_lower)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    if (params->fpr > 0 && params->fpr < 1 / one_in(TAMIS_MAX_MILLIBITS))
        return tamis__fail(TAMIS_INVALID, "fpr=%.3g is the minimum for rocksdb-ribbon, not %.3g",
                           1 / one_in(TAMIS_MAX_MILLIBITS), params->fpr);
    const bool is_told = params->has_option[OPT_MILLIBITS];
    shape_for(params->capacity, is_told ? params->option[OPT_MILLIBITS] : millibits_for(params),
              TYPICAL, word);
    if (params->bits && (word[BYTES] + 7) / 8 * 64 > params->bits)
        return tamis__fail(TAMIS_INVALID, "%llu bits are too few for %llu keys in rocksdb-ribbon",
                           (unsigned long long)params->bits, (unsigned long long)params->capacity);
    if (params->capacity > 64 * TAMIS_INLINE_MAX_BYTES)
        return tamis__fail(TAMIS_TOO_LARGE, "%llu keys are too many for a filter of RocksDB",
                           (unsigned long long)params->capacity);
    return TAMIS_OK;
}

static bool is_bloom(const uint64_t word[]) {
    const uint64_t lines = word[BYTES] - TAIL;
    return word[HASHES] <= TAMIS_INLINE_MAX_HASHES && word[BLOCKS] == 0 && word[SEED] == 0 &&
           lines > 0 && lines % TAMIS_INLINE_LINE == 0 && lines <= TAMIS_INLINE_MAX_BYTES;
}

static bool is_ribbon(const uint64_t word[]) {
    const uint64_t segments = (word[BYTES] - TAIL) / SEGMENT;
    return word[BLOCKS] >= MIN_BLOCKS && word[BLOCKS] <= MAX_BLOCKS && word[SEED] < SEEDS &&
           segments > 0 && (word[BYTES] - TAIL) % SEGMENT == 0;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const bool is_empty = word[BYTES] == 0 && !word[BLOCKS] && !word[HASHES] && !word[SEED];
    const bool has_tail = word[BYTES] >= TAIL && word[BYTES] <= TAMIS_MAX_PAYLOAD_BYTES / 2;
    const bool is_legal = has_tail && (word[HASHES] ? is_bloom(word) : is_ribbon(word));
    if ((!is_empty && !is_legal) || word[MILLIBITS] > TAMIS_MAX_MILLIBITS)
        return tamis__fail(TAMIS_CORRUPT,
                           "rocksdb-ribbon cannot have %llu bytes with %llu blocks and %llu hashes",
                           (unsigned long long)word[BYTES], (unsigned long long)word[BLOCKS],
                           (unsigned long long)word[HASHES]);
    *size = is_empty ? 8 : (word[BYTES] + 7) / 8 * 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    return word[HASHES] ? word[HASHES] : 1;
}

static double rate(const uint64_t word[], uint64_t items) {
    if (word[BYTES] == 0 || items == 0) return 0;
    if (word[HASHES])
        return tamis__fast_rate((double)(word[BYTES] - TAIL) * 8 / (double)items,
                                (unsigned)word[HASHES]);
    const layout l = layout_of(word);
    const uint64_t lower = l.shorter * SLOTS < l.starts ? l.shorter * SLOTS : l.starts;
    const double share = (double)lower / (double)l.starts, rest = pow(2.0, -(double)l.columns);
    return share * 2 * rest + (1 - share) * rest;
}

/* ---- The tail ------------------------------------------------------------------------------- */

static void put_tail(const uint64_t word[], uint8_t tail[TAIL]) {
    const bool is_fast = word[HASHES];
    tail[0] = is_fast ? TAMIS_ROCKSDB_FAST : TAMIS_ROCKSDB_RIBBON;
    tail[1] = (uint8_t)word[SEED];
    tail[2] = (uint8_t)(is_fast ? word[HASHES] : word[BLOCKS]);
    tail[3] = (uint8_t)(word[BLOCKS] >> 8);
    tail[4] = (uint8_t)(word[BLOCKS] >> 16);
}

static tamis_status audit(const tamis_body *f) {
    uint8_t tail[TAIL];
    put_tail(f->word, tail);
    for (uint64_t i = 0; i < TAIL && f->word[BYTES]; i++)
        if (f->bytes[f->word[BYTES] - TAIL + i] != tail[i])
            return tamis__fail(TAMIS_CORRUPT, "the end of rocksdb-ribbon does not match its shape");
    return tamis__audit_padding(f, f->word[BYTES]);
}

/* ---- Equations ------------------------------------------------------------------------------ */

/* 128 bits; the first slot is the lowest. */
typedef struct wide {
    uint64_t low, high;
} wide;

static wide up(wide x, unsigned by) {
    if (by >= 64) return (wide){0, x.low << (by - 64)};
    return by ? (wide){x.low << by, x.high << by | x.low >> (64 - by)} : x;
}

static wide down(wide x, unsigned by) {
    if (by >= 64) return (wide){by == 128 ? 0 : x.high >> (by - 64), 0};
    return by ? (wide){x.low >> by | x.high << (64 - by), x.high >> by} : x;
}

static unsigned parity(wide a, wide b) {
    return tamis__popcount64((a.low & b.low) ^ (a.high & b.high)) & 1;
}

static wide get_wide(const uint8_t *p) {
    return (wide){tamis__get64(p), tamis__get64(p + 8)};
}

typedef struct equation {
    uint64_t start;
    wide coefficients; /* the first is 1 */
    uint32_t result;
} equation;

/* Seeds are counted; their bits are mixed before they are combined with a hash. */
static uint32_t mix_seed(uint64_t seed) {
    const uint64_t x = seed * 0xc78219a23eeadd03;
    return (uint32_t)(x ^ (x & 0xf0f0f0f0f0f0f0f0) >> 4);
}

static equation equation_of(uint64_t hash, uint32_t mixed_seed, uint64_t starts) {
    const uint64_t h = (hash ^ mixed_seed) * 0x6193d459236a3a0d, a = h * 0xc28f82822b650bed;
    return (equation){.start = tamis__range(h, starts),
                      .coefficients = {(a ^ 0xc367844a6e52731d) | 1, a},
                      .result = (uint32_t)__builtin_bswap64(a)};
}

/* ---- Querying ------------------------------------------------------------------------------- */

static bool has(const tamis_body *f, const layout *l, uint32_t mixed_seed, uint64_t hash) {
    const equation e = equation_of(hash, mixed_seed, l->starts);
    const uint64_t block = e.start / SLOTS, columns = columns_of(l, block);
    const unsigned offset = (unsigned)(e.start % SLOTS);
    const uint8_t *here = f->bytes + segment_of(l, block) * SEGMENT;
    const wide first = up(e.coefficients, offset), second = down(e.coefficients, SLOTS - offset);
    for (uint64_t i = 0; i < columns; i++) {
        unsigned bit = parity(get_wide(here + i * SEGMENT), first);
        if (offset) bit ^= parity(get_wide(here + (columns + i) * SEGMENT), second);
        if (bit != (e.result >> i & 1)) return false;
    }
    return true;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const uint64_t *word = f->word;
    if (word[BLOCKS]) {
        const layout l = layout_of(word);
        const uint32_t mixed_seed = mix_seed(word[SEED]);
        for (size_t i = 0; i < b.n; i++) hit[i] = has(f, &l, mixed_seed, b.hash[i]);
        return;
    }
    for (size_t i = 0; i < b.n; i++)
        hit[i] = word[BYTES] &&
                 tamis__fast_has(f->bytes, word[BYTES] - TAIL, (unsigned)word[HASHES], b.hash[i]);
}

/* ---- Building ------------------------------------------------------------------------------- */

/* RocksDB drops a key that equals the one before it, as keys in order may. */
static bool comes_again(const uint64_t *hash, uint64_t i) {
    return i > 0 && hash[i] == hash[i - 1];
}

static uint64_t count_keys(const uint64_t *hash, uint64_t n) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) kept += !comes_again(hash, i);
    return kept;
}

static tamis_status fit(const tamis_params *params, const uint64_t *hash, uint64_t n,
                        uint64_t word[]) {
    (void)params;
    shape_for(count_keys(hash, n), word[MILLIBITS], n ? (uint32_t)(hash[0] >> 32) : 0, word);
    return TAMIS_OK;
}

/* Rows of the system in echelon form, by the slot of their first coefficient; none where the
 * coefficients are 0. */
typedef struct rows {
    wide *coefficients;
    uint32_t *result;
    uint64_t count;
} rows;

static uint64_t work_size(const uint64_t word[], uint64_t n) {
    (void)n;
    return word[BLOCKS] * SLOTS * (sizeof(wide) + sizeof(uint32_t));
}

static rows open_rows(const uint64_t word[], uint8_t *work) {
    const uint64_t count = word[BLOCKS] * SLOTS;
    return (rows){(wide *)(void *)work, (uint32_t *)(void *)(work + count * sizeof(wide)), count};
}

static unsigned zeros_below(wide x) {
    return x.low ? (unsigned)__builtin_ctzll(x.low) : 64 + (unsigned)__builtin_ctzll(x.high);
}

/* False when the equation contradicts those before it. */
static bool insert(rows *r, equation e) {
    wide c = e.coefficients;
    for (uint64_t i = e.start;;) {
        wide *row = &r->coefficients[i];
        if (!row->low && !row->high) {
            *row = c;
            r->result[i] = e.result;
            return true;
        }
        c.low ^= row->low, c.high ^= row->high;
        e.result ^= r->result[i];
        if (!c.low && !c.high) return e.result == 0;
        const unsigned zeros = zeros_below(c);
        c = down(c, zeros);
        i += zeros;
    }
}

static bool solves(rows *r, const uint64_t *hash, uint64_t n, uint64_t starts, uint64_t seed) {
    const uint32_t mixed_seed = mix_seed(seed);
    memset(r->coefficients, 0, r->count * sizeof *r->coefficients);
    memset(r->result, 0, r->count * sizeof *r->result);
    for (uint64_t i = 0; i < n; i++)
        if (!comes_again(hash, i) && !insert(r, equation_of(hash[i], mixed_seed, starts)))
            return false;
    return true;
}

/* From the last slot to the first: each column has the 128 bits after the current slot. A slot
 * without a row is free, and gets zeros. */
static void substitute(tamis_body *f, const rows *r) {
    const layout l = layout_of(f->word);
    wide state[MAX_COLUMNS] = {{0, 0}};
    for (uint64_t block = l.blocks; block-- > 0;) {
        const uint64_t columns = columns_of(&l, block);
        for (uint64_t i = (block + 1) * SLOTS; i-- > block * SLOTS;)
            for (uint64_t j = 0; j < l.columns; j++) {
                state[j] = up(state[j], 1);
                state[j].low |= parity(state[j], r->coefficients[i]) ^ (r->result[i] >> j & 1);
            }
        uint8_t *to = f->bytes + segment_of(&l, block) * SEGMENT;
        for (uint64_t j = 0; j < columns; j++) {
            tamis__put64(to + j * SEGMENT, state[j].low);
            tamis__put64(to + j * SEGMENT + 8, state[j].high);
        }
    }
}

static tamis_status make_ribbon(tamis_body *f, const uint64_t *hash, uint64_t n, uint8_t *work) {
    rows r = open_rows(f->word, work);
    const uint64_t starts = layout_of(f->word).starts, first = hash[0] % SEEDS;
    uint64_t tries = 0;
    while (tries < SEEDS && !solves(&r, hash, n, starts, (first + tries) % SEEDS)) tries++;
    if (tries == SEEDS)
        return tamis__fail(TAMIS_UNSUPPORTED, "none of 256 seeds makes a Ribbon of these keys");
    f->word[SEED] = (first + tries) % SEEDS;
    substitute(f, &r);
    return TAMIS_OK;
}

static tamis_status make(tamis_body *f, const uint64_t *hash, uint64_t n, uint8_t *work) {
    tamis_status rc = TAMIS_OK;
    if (f->word[BYTES] == 0) return TAMIS_OK;
    if (f->word[BLOCKS])
        rc = make_ribbon(f, hash, n, work);
    else
        for (uint64_t i = 0; i < n; i++)
            tamis__fast_add(f->bytes, f->word[BYTES] - TAIL, (unsigned)f->word[HASHES], hash[i]);
    put_tail(f->word, f->bytes + f->word[BYTES] - TAIL);
    return rc;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* The number of keys for this number of slots: between those that need as many and those that
 * need a block less. */
static struct tamis_estimate keys_in(uint64_t slots) {
    uint64_t low = 1, high = 2 * slots;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (slots_for(middle) > slots)
            high = middle;
        else
            low = middle;
    }
    return (struct tamis_estimate){.value = (double)low, .error = SLOTS};
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    const uint64_t *word = f->word, size = word[BYTES] ? word[BYTES] - TAIL : 0;
    if (word[HASHES]) {
        uint64_t set;
        const double now = tamis__fast_rate_now(f->bytes, size, (unsigned)word[HASHES], &set);
        tamis__fill_measure(set, size * 8, word[HASHES], out);
        out->fpr = now;
        return;
    }
    out->bits = size * 8;
    out->bits_set = tamis__count_ones(f->bytes, NULL, size / 8 * 8);
    out->fpr = rate(word, 1);
    if (word[BLOCKS]) out->items = keys_in(word[BLOCKS] * SLOTS);
    if (f->items) out->items = (struct tamis_estimate){.value = (double)f->items};
}

/* ---- The kind ------------------------------------------------------------------------------- */

static uint64_t hash_of(const uint64_t word[], const struct tamis_key *key) {
    (void)word;
    return tamis__xxph3(key);
}

static const tamis_build_whole building = {
    .hash = hash_of,
    .fit = fit,
    .work = work_size,
    .make = make,
    .query = query,
};

const tamis_kind tamis__rocksdb_ribbon = {
    .name = "rocksdb-ribbon",
    .contract = "built once; the filter that RocksDB's Ribbon policy makes of these keys",
    .word = {"bytes", "blocks", "hashes", "seed", "millibits"},
    .options = options,
    .traits = TAMIS_OWN_HASH,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = tamis__query_built,
    .build = &(const tamis_build){.made = 1 << BYTES | 1 << BLOCKS | 1 << HASHES | 1 << SEED,
                                  .whole = &building},
};

/* ---- The format ----------------------------------------------------------------------------- */

tamis_status tamis__ribbon_read(const tamis_input *in, tamis_import_result *out) {
    const uint8_t *tail = in->size > TAIL ? in->bytes + (in->size - TAIL) : NULL;
    if (!tail || tail[0] != TAMIS_ROCKSDB_RIBBON)
        return tamis__bad_format("rocksdb-ribbon", "it does not end as a Ribbon filter does");
    const uint64_t blocks = tail[2] | (uint64_t)tail[3] << 8 | (uint64_t)tail[4] << 16;
    if (blocks < MIN_BLOCKS || (in->size - TAIL) % SEGMENT)
        return tamis__bad_format("rocksdb-ribbon", "%llu bytes of segments and %llu blocks",
                                 (unsigned long long)(in->size - TAIL), (unsigned long long)blocks);
    *out = (tamis_import_result){.kind = "rocksdb-ribbon",
                                 .word = {in->size, blocks, 0, tail[1]},
                                 .capacity = (uint64_t)keys_in(blocks * SLOTS).value,
                                 .payload = *in};
    return TAMIS_OK;
}

static tamis_status read_fast(const tamis_input *in, tamis_import_result *out) {
    const uint8_t *tail = in->bytes + in->size - TAIL;
    const uint64_t size = in->size - TAIL;
    if (tail[1] || tail[2] == 0 || tail[2] > TAMIS_INLINE_MAX_HASHES || tail[3] || tail[4] ||
        size == 0 || size % TAMIS_INLINE_LINE)
        return tamis__bad_format("rocksdb-ribbon", "%llu bytes do not end as a Bloom filter does",
                                 (unsigned long long)in->size);
    *out = (tamis_import_result){.kind = "rocksdb-ribbon",
                                 .word = {in->size, 0, tail[2]},
                                 .capacity = (uint64_t)((double)size * 8 * log(2) / tail[2] + 0.5),
                                 .payload = *in};
    return TAMIS_OK;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    if (in->size == 0) {
        *out = (tamis_import_result){.kind = "rocksdb-ribbon", .payload = *in};
        return TAMIS_OK;
    }
    if (in->size > TAIL && in->bytes[in->size - TAIL] == TAMIS_ROCKSDB_FAST)
        return read_fast(in, out);
    return tamis__ribbon_read(in, out);
}

tamis_status tamis__ribbon_write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, out->body->word[BYTES]);
}

const tamis_format tamis__format_rocksdb_ribbon = {
    .name = "rocksdb-ribbon",
    .system = "RocksDB's Ribbon filter blocks",
    .kinds = "rocksdb-ribbon",
    .keys = "bytes",
    .limits = "whole filter blocks; Bloom filters of the Ribbon policy among them",
    .read = read,
    .write = tamis__ribbon_write,
};
