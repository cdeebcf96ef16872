/* SPDX-License-Identifier: MIT */
/* leveldb: one Bloom filter of LevelDB's policy "leveldb.BuiltinBloomFilter2".
 *
 *     bits  B bytes   bit i is bit i % 8 of byte i / 8
 *     k     1 byte
 *
 * A key has one hash of 32 bits; it and its rotation by 15 bits make the positions modulo 8 B. A
 * filter of less than two bytes has no key, one with k = 0 or above 30 answers maybe to everything:
 * the origin reads them like that, and so they are kept and answered. foreign/rotated_hash.h has
 * what the one hash costs.
 *
 * RocksDB's first filters, one for each 2 KiB of a table, are the same except for keys that end in
 * bytes from 0x80 on, which its hash takes as signed: system=rocksdb.
 *
 * leveldb-block: all filters of one table, as its filter block has them.
 *
 *     filter 0 | filter 1 | ... | start of each, 4 bytes | where the starts begin, 4 bytes | lg, 1
 *     byte
 *
 * Filter i is for the keys of the data blocks that begin in [i 2^lg, (i+1) 2^lg) of the table file.
 * Without the table's index the filter of a key is unknown: a key is in when any has it. */
#include <math.h>

#include "foreign/bytes.h"
#include "foreign/filter_block.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/leveldb.h"
#include "foreign/murmur.h"
#include "foreign/rotated_hash.h"

enum { BITS, HASHES, SYSTEM, BYTES };
enum { OPT_HASHES, OPT_BITS_PER_KEY, OPT_SYSTEM };
enum { MAX_HASHES = 30, MIN_BITS = 64, MAX_BITS_PER_KEY = 1000 };
#define MAX_PLANNED_BITS ((uint64_t)1 << 32) /* the range of the hash */

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "0.69 of bits_per_key", "probes per key, k"},
    {"bits_per_key", NULL, 1, MAX_BITS_PER_KEY, "the fewest for the rate",
     "as configured in LevelDB"},
    {"system", "leveldb|rocksdb", 0, 0, "leveldb", "whose hash; they differ from byte 0x80 on"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static uint32_t hash_of(uint64_t system, const struct tamis_key *key) {
    return system == TAMIS_LEVELDB ? tamis__murmur1_leveldb(key) : tamis__murmur1_rocksdb(key);
}

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    walk->a = hash_of(word[SYSTEM], key);
    walk->b = tamis__rotl15((uint32_t)walk->a);
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint32_t now = (uint32_t)walk->a;
    walk->a = (uint32_t)(now + walk->b);
    return now % word[BITS];
}

static void trailer(const uint64_t word[], uint8_t *to) {
    *to = (uint8_t)word[HASHES];
}

static const tamis_bloomlike like = {
    .name = "leveldb", .trailer_bytes = 1, .trailer = trailer, .begin = begin, .next = next};

/* ---- One filter, wherever it is ------------------------------------------------------------- */

static bool is_never(tamis_input f) {
    return f.size < 2;
}

static bool is_always(tamis_input f) {
    return !is_never(f) && (f.bytes[f.size - 1] == 0 || f.bytes[f.size - 1] > MAX_HASHES);
}

static bool has_hash(tamis_input f, uint32_t h) {
    if (is_never(f) || is_always(f)) return is_always(f);
    const uint64_t bits = (f.size - 1) * 8;
    const uint32_t step = tamis__rotl15(h);
    for (unsigned left = f.bytes[f.size - 1]; left; left--, h += step)
        if (!(f.bytes[h % bits / 8] >> h % bits % 8 & 1)) return false;
    return true;
}

/* ---- Shape of one --------------------------------------------------------------------------- */

static uint64_t bits_for(uint64_t keys, uint64_t bits_per_key) {
    const uint64_t bits = keys * bits_per_key;
    return bits < MIN_BITS ? MIN_BITS : (bits + 7) / 8 * 8;
}

/* The fewest bits per key that keep the rate. An array with independent positions would need
 * -log2(rate) / ln 2 of them: the search starts there. */
static uint64_t bits_per_key_for(uint64_t keys, double fpr, uint64_t hashes) {
    uint64_t q = (uint64_t)fmax(1, fmin(MAX_BITS_PER_KEY, floor(-log2(fpr) / 0.6932)));
    for (; q <= MAX_BITS_PER_KEY && keys * q <= MAX_PLANNED_BITS; q++)
        if (tamis__turned_rate(keys, bits_for(keys, q),
                               hashes ? hashes : tamis__turned_hashes(q)) <= fpr)
            break;
    return q;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t hashes = params->option[OPT_HASHES], told = params->option[OPT_BITS_PER_KEY];
    uint64_t q = told ? told : params->bits / keys;
    if (keys > MAX_PLANNED_BITS || params->bits > MAX_PLANNED_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "leveldb has a hash of 32 bits: at most 2^32 bits");
    if (params->bits && params->bits < 8)
        return tamis__fail(TAMIS_INVALID, "leveldb has at least one byte of bits");
    if (!q && !params->bits) q = bits_per_key_for(keys, params->fpr, hashes);
    if (q > MAX_BITS_PER_KEY && !params->bits)
        return tamis__fail(TAMIS_TOO_LARGE,
                           "leveldb cannot keep fpr=%.3g with %llu keys: they all "
                           "have one hash of 32 bits",
                           params->fpr, (unsigned long long)keys);
    if (!params->bits && keys * q > MAX_PLANNED_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "leveldb has a hash of 32 bits: at most 2^32 bits");
    word[BITS] = params->bits ? params->bits / 8 * 8 : bits_for(params->capacity, q);
    word[HASHES] = hashes ? hashes : tamis__turned_hashes(q);
    word[SYSTEM] = params->option[OPT_SYSTEM];
    word[BYTES] = word[BITS] / 8 + 1;
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const uint64_t bytes = word[BYTES], bits = bytes ? (bytes - 1) * 8 : 0;
    if (bytes > TAMIS_MAX_PAYLOAD_BYTES / 2 || word[BITS] != bits)
        return tamis__fail(
            TAMIS_CORRUPT, "a filter of leveldb with %llu bytes has %llu bits, not %llu",
            (unsigned long long)bytes, (unsigned long long)bits, (unsigned long long)word[BITS]);
    if (word[HASHES] > UINT8_MAX || (bytes == 0 && word[HASHES]))
        return tamis__fail(TAMIS_CORRUPT, "leveldb has one byte of hashes, not %llu",
                           (unsigned long long)word[HASHES]);
    if (word[SYSTEM] >= TAMIS_LEVELDB_SYSTEMS)
        return tamis__fail(TAMIS_CORRUPT, "leveldb is of system 0 or 1, not %llu",
                           (unsigned long long)word[SYSTEM]);
    *size = bytes ? (bytes + 7) / 8 * 8 : 8;
    return TAMIS_OK;
}

/* Filters that have no key, or all keys, can only be queried. */
static bool is_odd(const uint64_t word[]) {
    return word[BITS] == 0 || word[HASHES] == 0 || word[HASHES] > MAX_HASHES;
}

static unsigned lacks(const uint64_t word[]) {
    return is_odd(word) ? TAMIS_CAN_ADD : 0;
}

static double rate(const uint64_t word[], uint64_t items) {
    if (is_odd(word)) return word[BITS] ? 1 : 0;
    return tamis__turned_rate(items, word[BITS], word[HASHES]);
}

static tamis_status audit(const tamis_body *f) {
    if (f->word[BYTES] && f->bytes[f->word[BYTES] - 1] != f->word[HASHES])
        return tamis__fail(TAMIS_CORRUPT, "the last byte of leveldb is not its number of hashes");
    return tamis__audit_padding(f, f->word[BYTES]);
}

/* ---- The kind of one ------------------------------------------------------------------------ */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    if (is_odd(f->word))
        memset(hit, f->word[BITS] != 0, b.n);
    else
        tamis__foreign_bloom_query(f, b, hit);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    if (is_odd(f->word))
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "this filter of leveldb has %llu bits and %llu hashes: it "
                           "takes no keys",
                           (unsigned long long)f->word[BITS], (unsigned long long)f->word[HASHES]);
    tamis__like_add(f, b);
    return TAMIS_OK;
}

/* The bits of two filters together, queried as one. */
typedef struct both {
    tamis_input one;
    const uint8_t *other;
} both;

static bool both_have(const void *ctx, uint32_t h) {
    const both *b = ctx;
    const uint64_t bits = (b->one.size - 1) * 8;
    const uint32_t step = tamis__rotl15(h);
    if (!b->other) return has_hash(b->one, h);
    for (unsigned left = b->one.bytes[b->one.size - 1]; left; left--, h += step)
        if (!((b->one.bytes[h % bits / 8] | b->other[h % bits / 8]) >> h % bits % 8 & 1))
            return false;
    return true;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const both b = {{f->bytes, f->word[BYTES], NULL}, other ? other->bytes : NULL};
    if (is_odd(f->word)) {
        out->bits = f->word[BITS];
        out->fpr = out->bits ? 1 : 0;
        return;
    }
    tamis__like_measure(f, other, out);
    out->items = tamis__turned_items(out->bits_set, out->bits, f->word[HASHES]);
    out->fpr = out->bits_set ? tamis__turned_asked(both_have, &b, TAMIS_TURNED_MANY, out->fpr) : 0;
}

const tamis_kind tamis__leveldb = {
    .name = "leveldb",
    .contract = "a Bloom filter that LevelDB can read and write",
    .word = {"bits", "hashes", "system", "bytes"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .lacks = lacks,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .start = tamis__like_start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The kind of a block -------------------------------------------------------------------- */

enum { BLOCK_BYTES, BLOCK_FILTERS, BLOCK_SYSTEM };

static tamis_status plan_block(const tamis_params *params, uint64_t word[]) {
    (void)params, (void)word;
    return tamis__fail(
        TAMIS_UNSUPPORTED,
        "leveldb-block is what a table was written with: make one filter, as leveldb");
}

static tamis_status check_block(const uint64_t word[], uint64_t *size) {
    if (word[BLOCK_BYTES] < TAMIS_FILTER_BLOCK_END || word[BLOCK_BYTES] > UINT32_MAX ||
        word[BLOCK_FILTERS] > (word[BLOCK_BYTES] - TAMIS_FILTER_BLOCK_END) / 4)
        return tamis__fail(TAMIS_CORRUPT, "a filter block of %llu bytes cannot have %llu filters",
                           (unsigned long long)word[BLOCK_BYTES],
                           (unsigned long long)word[BLOCK_FILTERS]);
    if (word[BLOCK_SYSTEM] >= TAMIS_LEVELDB_SYSTEMS)
        return tamis__fail(TAMIS_CORRUPT, "leveldb-block is of system 0 or 1, not %llu",
                           (unsigned long long)word[BLOCK_SYSTEM]);
    *size = (word[BLOCK_BYTES] + 7) / 8 * 8;
    return TAMIS_OK;
}

static tamis_filter_block block_of(const tamis_body *f) {
    tamis_filter_block block = {.bytes = f->bytes, .size = f->word[BLOCK_BYTES]};
    block.count = f->word[BLOCK_FILTERS];
    block.starts = tamis__get32(f->bytes + block.size - TAMIS_FILTER_BLOCK_END);
    return block;
}

static tamis_status audit_block(const tamis_body *f) {
    tamis_filter_block block;
    const tamis_status rc = tamis__filter_block_open(f->bytes, f->word[BLOCK_BYTES], &block);
    if (rc) return rc;
    if (block.count != f->word[BLOCK_FILTERS])
        return tamis__fail(TAMIS_CORRUPT, "the filter block has %llu filters, not %llu",
                           (unsigned long long)block.count,
                           (unsigned long long)f->word[BLOCK_FILTERS]);
    return tamis__audit_padding(f, f->word[BLOCK_BYTES]);
}

static bool any_has(const void *ctx, uint32_t h) {
    const tamis_filter_block *block = ctx;
    for (uint64_t i = 0; i < block->count; i++)
        if (has_hash(tamis__filter_block_at(block, i), h)) return true;
    return false;
}

static void query_block(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_filter_block block = block_of(f);
    for (size_t i = 0; i < b.n; i++)
        hit[i] = any_has(&block, hash_of(f->word[BLOCK_SYSTEM], &b.key[i]));
}

/* A query goes to all filters: their false-positive rates add up. The filters are small, and
 * many. */
static void measure_block(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_filter_block block = block_of(f);
    double all_miss = 1, variance = 0;
    (void)other;
    out->bits = out->bits_set = 0;
    out->items = (struct tamis_estimate){0, 0};
    for (uint64_t i = 0; i < block.count; i++) {
        const tamis_input one = tamis__filter_block_at(&block, i);
        if (is_never(one)) continue;
        const uint64_t set = tamis__count_ones(one.bytes, NULL, one.size - 1);
        const uint64_t bits = (one.size - 1) * 8;
        const uint64_t hashes = is_always(one) ? 1 : one.bytes[one.size - 1];
        const struct tamis_estimate items = tamis__turned_items(set, bits, hashes);
        out->bits += bits;
        out->bits_set += set;
        out->items.value += items.value;
        variance += items.error * items.error;
        all_miss *= is_always(one) ? 0 : 1 - pow((double)set / (double)bits, (double)hashes);
    }
    out->items.error = sqrt(variance);
    out->fpr = 1 - all_miss;
    if (out->bits_set) out->fpr = tamis__turned_asked(any_has, &block, TAMIS_TURNED_FEW, out->fpr);
}

static uint64_t probes_of_block(const uint64_t word[]) {
    return word[BLOCK_FILTERS];
}

static double rate_of_block(const uint64_t word[], uint64_t items) {
    (void)word, (void)items;
    return 0;
}

const tamis_kind tamis__leveldb_block = {
    .name = "leveldb-block",
    .contract = "all filters of one LevelDB table: in when any of them has the key",
    .word = {"bytes", "filters", "system"},
    .traits = TAMIS_OWN_HASH,
    .plan = plan_block,
    .check = check_block,
    .probes = probes_of_block,
    .rate = rate_of_block,
    .audit = audit_block,
    .measure = measure_block,
    .query = query_block,
};

/* ---- The formats ---------------------------------------------------------------------------- */

static const struct tamis_option params[] = {
    {"system", "leveldb|rocksdb", 0, 0, "leveldb", "who wrote it"},
};

tamis_status tamis__leveldb_arrive(const tamis_input *in, uint64_t system,
                                   tamis_import_result *out) {
    const uint64_t hashes = in->size ? in->bytes[in->size - 1] : 0;
    const uint64_t bits = in->size ? (in->size - 1) * 8 : 0;
    *out = (tamis_import_result){.kind = "leveldb",
                                 .word = {bits, hashes, system, in->size},
                                 .capacity = tamis__like_capacity(bits, hashes),
                                 .payload = *in};
    return TAMIS_OK;
}

tamis_status tamis__leveldb_block_arrive(const tamis_input *in, uint64_t system,
                                         tamis_import_result *out) {
    tamis_filter_block block;
    const tamis_status rc = tamis__filter_block_open(in->bytes, in->size, &block);
    if (rc) return rc;
    *out = (tamis_import_result){
        .kind = "leveldb-block", .word = {in->size, block.count, system}, .payload = *in};
    return TAMIS_OK;
}

static tamis_status read_one(const tamis_input *in, const tamis_format_args *args,
                             tamis_import_result *out) {
    return tamis__leveldb_arrive(in, args->number[0], out);
}

static tamis_status write_one(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, out->body->word[BYTES]);
}

const tamis_format tamis__format_leveldb = {
    .name = "leveldb",
    .system = "LevelDB built-in Bloom filter",
    .kinds = "leveldb",
    .keys = "bytes utf8",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read_one,
    .write = write_one,
};

static tamis_status read_block(const tamis_input *in, const tamis_format_args *args,
                               tamis_import_result *out) {
    return tamis__leveldb_block_arrive(in, args->number[0], out);
}

static tamis_status write_block(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, out->body->word[BLOCK_BYTES]);
}

const tamis_format tamis__format_leveldb_block = {
    .name = "leveldb-block",
    .system = "LevelDB filter block",
    .kinds = "leveldb-block",
    .keys = "bytes utf8",
    .limits = "takes no more keys; which of its filters a key belongs to, only the table knows",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read_block,
    .write = write_block,
};
