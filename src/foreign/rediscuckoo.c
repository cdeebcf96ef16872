/* SPDX-License-Identifier: MIT */
/* rediscuckoo: the cuckoo filter of RedisBloom, as CF.SCANDUMP returns it.
 *
 *     items        8 bytes        u64, all little-endian
 *     buckets      8 bytes        of the first sub-filter, a power of two
 *     deletes      8 bytes        since the last compaction
 *     filters      8 bytes
 *     bucket size  2 bytes        iterations 2 bytes, expansion 2 bytes
 *     cells        one byte each, sub-filter after sub-filter, bucket after bucket; 0 is empty
 *
 * A fingerprint is 1 to 255, so the rate is fixed: what is stored in two buckets of every
 * sub-filter, over 255. It is in the bucket of its hash, or in that of the hash XOR a multiple of
 * the fingerprint. Where both are full in every sub-filter, the newest makes room by moving
 * fingerprints to their other bucket, up to `iterations` times; when that does not help, all is put
 * back, and a sub-filter is added `expansion` times as large as the last. With expansion=0 it is
 * full then.
 *
 * When more than a tenth of the rest has been removed, fingerprints are moved down from the newest
 * sub-filters, and empty ones at the end are dropped. */
#include <math.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/format.h"
#include "foreign/murmur.h"
#include "foreign/redis.h"

enum { BITS, BUCKET_SIZE, ITERATIONS, EXPANSION, FILTERS };
enum { OPT_BUCKET_SIZE, OPT_ITERATIONS, OPT_EXPANSION };
enum { FINGERPRINTS = 255, MAX_BUCKET_SIZE = 255, MAX_FILTERS = 65535, MAX_EXPANSION = 32768 };

/* From here on the module adds no more, even where cells are free, unless its server is configured
 * otherwise (cf-max-expansions). */
enum { ADDS_BELOW = 32 };

/* The module finds cells by 32 bits: in a larger sub-filter it would lose keys. */
#define MAX_CELLS ((uint64_t)1 << 32)

static const struct tamis_option options[] = {
    {"bucket_size", NULL, 1, MAX_BUCKET_SIZE, "2", "cells in a bucket"},
    {"iterations", NULL, 1, 65535, "20", "how many fingerprints may make way for one"},
    {"expansion", NULL, 0, MAX_EXPANSION, "1", "how many times larger each sub-filter is; 0: none"},
    {0},
};

/* ---- The header ----------------------------------------------------------------------------- */

tamis_cf_header tamis__cf_header(const uint8_t *p) {
    return (tamis_cf_header){tamis__get64(p),      tamis__get64(p + 8),  tamis__get64(p + 16),
                             tamis__get64(p + 24), tamis__get16(p + 32), tamis__get16(p + 34),
                             tamis__get16(p + 36)};
}

void tamis__cf_put_header(uint8_t *p, tamis_cf_header h) {
    tamis__put64(p, h.items);
    tamis__put64(p + 8, h.buckets);
    tamis__put64(p + 16, h.deletes);
    tamis__put64(p + 24, h.filters);
    tamis__put16(p + 32, h.bucket_size);
    tamis__put16(p + 34, h.iterations);
    tamis__put16(p + 36, h.expansion);
}

tamis_status tamis__cf_words(tamis_cf_header h, uint64_t word[]) {
    if (h.bucket_size == 0 || h.bucket_size > MAX_BUCKET_SIZE ||
        h.buckets > MAX_CELLS / h.bucket_size)
        return tamis__fail(TAMIS_CORRUPT,
                           "%llu buckets of %d cells: at most 2^32 cells are allowed",
                           (unsigned long long)h.buckets, h.bucket_size);
    word[BITS] = h.buckets * h.bucket_size * 8;
    word[BUCKET_SIZE] = h.bucket_size;
    word[ITERATIONS] = h.iterations;
    word[EXPANSION] = h.expansion;
    word[FILTERS] = h.filters;
    return TAMIS_OK;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t buckets_of(const uint64_t word[]) {
    return word[BITS] / 8 / word[BUCKET_SIZE];
}

uint64_t tamis__cf_size(const uint64_t word[], uint64_t filter) {
    uint64_t cells = word[BITS] / 8;
    for (uint64_t i = 0; i < filter && word[EXPANSION] > 1; i++) cells *= word[EXPANSION];
    return cells;
}

static uint64_t stored_bytes(const uint64_t word[]) {
    uint64_t cells = word[BITS] / 8, sum = TAMIS_CF_HEADER;
    for (uint64_t i = 0; i < word[FILTERS]; i++, cells *= word[EXPANSION]) sum += cells;
    return sum;
}

static uint64_t buckets_for(const tamis_params *params, uint64_t bucket_size) {
    const uint64_t min = 2 * bucket_size;
    const uint64_t cells = params->capacity > min ? params->capacity : min;
    uint64_t buckets = tamis__power_of_two_from(cells / bucket_size);
    while (params->bits && buckets > 1 && buckets * bucket_size > params->bits / 8) buckets /= 2;
    while (params->bits && buckets <= params->bits / 8 / bucket_size / 2) buckets *= 2;
    return buckets;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    static const uint64_t usual[] = {2, 20, 1};
    uint64_t option[3];
    for (int i = 0; i < 3; i++) option[i] = params->has_option[i] ? params->option[i] : usual[i];
    const uint64_t bucket_size = option[OPT_BUCKET_SIZE], expansion = option[OPT_EXPANSION];
    const uint64_t cells = buckets_for(params, bucket_size) * bucket_size;
    if (cells > MAX_CELLS)
        return tamis__fail(TAMIS_TOO_LARGE, "rediscuckoo has at most 2^32 cells, not %llu",
                           (unsigned long long)cells);
    if (params->bits && cells > params->bits / 8)
        return tamis__fail(TAMIS_INVALID, "bits=%llu: rediscuckoo has at least one bucket of %llu",
                           (unsigned long long)params->bits, (unsigned long long)bucket_size * 8);
    word[BITS] = cells * 8;
    word[BUCKET_SIZE] = bucket_size;
    word[ITERATIONS] = option[OPT_ITERATIONS];
    word[EXPANSION] = expansion ? tamis__power_of_two_from(expansion) : 0;
    word[FILTERS] = 1;
    return TAMIS_OK;
}

static tamis_status check_numbers(const uint64_t word[]) {
    if (word[BUCKET_SIZE] == 0 || word[BUCKET_SIZE] > MAX_BUCKET_SIZE)
        return tamis__fail(TAMIS_CORRUPT, "rediscuckoo has buckets of 1 to 255 cells, not %llu",
                           (unsigned long long)word[BUCKET_SIZE]);
    if (word[BITS] / 8 > MAX_CELLS || word[BITS] % (8 * word[BUCKET_SIZE]) ||
        !tamis__is_power_of_two(buckets_of(word)))
        return tamis__fail(TAMIS_CORRUPT,
                           "rediscuckoo has a power of two of buckets, not %llu bits in buckets of "
                           "%llu cells",
                           (unsigned long long)word[BITS], (unsigned long long)word[BUCKET_SIZE]);
    if (word[ITERATIONS] == 0 || word[ITERATIONS] > UINT16_MAX)
        return tamis__fail(TAMIS_CORRUPT, "rediscuckoo has 1 to 65535 iterations, not %llu",
                           (unsigned long long)word[ITERATIONS]);
    if (word[EXPANSION] > MAX_EXPANSION ||
        (word[EXPANSION] && !tamis__is_power_of_two(word[EXPANSION])))
        return tamis__fail(TAMIS_CORRUPT,
                           "rediscuckoo has an expansion of 0 or a power of two up to 32768, not "
                           "%llu",
                           (unsigned long long)word[EXPANSION]);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const tamis_status rc = check_numbers(word);
    if (rc) return rc;
    uint64_t cells = word[BITS] / 8;
    for (uint64_t i = 1; i < word[FILTERS] && i < MAX_FILTERS && cells <= MAX_CELLS; i++)
        cells *= word[EXPANSION];
    if (word[FILTERS] == 0 || word[FILTERS] > MAX_FILTERS || cells == 0 || cells > MAX_CELLS)
        return tamis__fail(TAMIS_CORRUPT,
                           "rediscuckoo cannot have %llu sub-filters with an expansion of %llu",
                           (unsigned long long)word[FILTERS], (unsigned long long)word[EXPANSION]);
    *size = (stored_bytes(word) + 7) / 8 * 8;
    return TAMIS_OK;
}

/* The rate grows with later sub-filters. */
static unsigned lacks(const uint64_t word[]) {
    (void)word;
    return TAMIS_CAN_GROW;
}

static uint64_t probes(const uint64_t word[]) {
    return 2 * word[FILTERS];
}

/* A non-member matches none of the full cells in two buckets, which coincide for every `buckets`-th
 * fingerprint. */
static double no_hit(double cells_full, double buckets) {
    return pow(1 - 1.0 / FINGERPRINTS, (2 - 1 / buckets) * cells_full / buckets);
}

/* As if one sub-filter were full before the next begins. Those of equal size may share the items in
 * any way: only the sum counts. */
static double rate(const uint64_t word[], uint64_t items) {
    double left = (double)items, buckets = (double)buckets_of(word), misses = 1;
    for (; word[EXPANSION] > 1 && left > buckets * (double)word[BUCKET_SIZE] && buckets < 1e18;
         buckets *= (double)word[EXPANSION]) {
        misses *= no_hit(buckets * (double)word[BUCKET_SIZE], buckets);
        left -= buckets * (double)word[BUCKET_SIZE];
    }
    return 1 - misses * no_hit(left, buckets);
}

static void start(tamis_body *f) {
    tamis__cf_put_header(f->bytes, (tamis_cf_header){.buckets = buckets_of(f->word),
                                                     .filters = 1,
                                                     .bucket_size = (uint16_t)f->word[BUCKET_SIZE],
                                                     .iterations = (uint16_t)f->word[ITERATIONS],
                                                     .expansion = (uint16_t)f->word[EXPANSION]});
}

/* ---- The gate ------------------------------------------------------------------------------- */

static uint64_t cells_full(const uint8_t *cells, uint64_t n) {
    uint64_t full = 0;
    for (uint64_t i = 0; i < n; i++) full += cells[i] != 0;
    return full;
}

static tamis_status audit(const tamis_body *f) {
    const tamis_cf_header h = tamis__cf_header(f->bytes);
    const uint64_t end = stored_bytes(f->word);
    uint64_t word[TAMIS_WORDS] = {0};
    const tamis_status rc = tamis__cf_words(h, word);
    if (rc) return rc;
    if (memcmp(word, f->word, sizeof word) != 0)
        return tamis__fail(TAMIS_CORRUPT, "the header of rediscuckoo does not match its shape");
    const uint64_t full = cells_full(f->bytes + TAMIS_CF_HEADER, end - TAMIS_CF_HEADER);
    if (full != h.items)
        return tamis__fail(TAMIS_CORRUPT, "%llu cells are full, but the header says %llu items",
                           (unsigned long long)full, (unsigned long long)h.items);
    return tamis__audit_padding(f, end);
}

/* ---- Buckets -------------------------------------------------------------------------------- */

typedef struct table {
    uint8_t *cells;
    uint64_t buckets, bucket_size;
} table;

static table first_table(const tamis_body *f) {
    return (table){f->bytes + TAMIS_CF_HEADER, buckets_of(f->word), f->word[BUCKET_SIZE]};
}

static void to_next(table *t, uint64_t expansion) {
    t->cells += t->buckets * t->bucket_size;
    t->buckets *= expansion;
}

static table table_at(const tamis_body *f, uint64_t i) {
    table t = first_table(f);
    while (i-- > 0) to_next(&t, f->word[EXPANSION]);
    return t;
}

static void to_previous(table *t, uint64_t expansion) {
    t->buckets /= expansion ? expansion : 1;
    t->cells -= t->buckets * t->bucket_size;
}

static table last_table(const tamis_body *f) {
    return table_at(f, f->word[FILTERS] - 1);
}

/* A fingerprint and its two hashes. */
typedef struct print {
    uint64_t hash[2];
    uint8_t value;
} print;

static uint64_t other_hash(uint8_t value, uint64_t hash) {
    return hash ^ (uint64_t)value * 0x5bd1e995;
}

static print print_at(uint8_t value, uint64_t hash) {
    return (print){{hash, other_hash(value, hash)}, value};
}

static print print_of(const struct tamis_key *key) {
    const uint64_t hash = tamis__murmur64a(key, 0);
    return print_at((uint8_t)(hash % FINGERPRINTS + 1), hash);
}

static uint8_t *bucket_of(const table *t, uint64_t hash) {
    return t->cells + hash % t->buckets * t->bucket_size;
}

static uint8_t *find_in_bucket(const table *t, uint64_t hash, uint8_t value) {
    return memchr(bucket_of(t, hash), value, (size_t)t->bucket_size);
}

/* The first cell of the two buckets with this value; 0 finds a free one. */
static uint8_t *find_cell(const table *t, const print *p, uint8_t value) {
    uint8_t *cell = find_in_bucket(t, p->hash[0], value);
    return cell ? cell : find_in_bucket(t, p->hash[1], value);
}

/* ---- Querying ------------------------------------------------------------------------------- */

static bool has(const tamis_body *f, const print *p) {
    table t = first_table(f);
    for (uint64_t i = 0; i < f->word[FILTERS]; i++, to_next(&t, f->word[EXPANSION]))
        if (find_cell(&t, p, p->value)) return true;
    return false;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) {
        const print p = print_of(&b.key[i]);
        hit[i] = has(f, &p);
    }
}

static uint64_t count_in_bucket(const table *t, uint64_t hash, uint8_t value) {
    const uint8_t *bucket = bucket_of(t, hash);
    uint64_t count = 0;
    for (uint64_t i = 0; i < t->bucket_size; i++) count += bucket[i] == value;
    return count;
}

/* Where both buckets coincide, the module counts it twice, and so do we. */
static uint64_t count_one(const tamis_body *f, const print *p) {
    table t = first_table(f);
    uint64_t count = 0;
    for (uint64_t i = 0; i < f->word[FILTERS]; i++, to_next(&t, f->word[EXPANSION]))
        count +=
            count_in_bucket(&t, p->hash[0], p->value) + count_in_bucket(&t, p->hash[1], p->value);
    return count;
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *count) {
    for (size_t i = 0; i < b.n; i++) {
        const print p = print_of(&b.key[i]);
        count[i] = count_one(f, &p);
    }
}

/* ---- Adding --------------------------------------------------------------------------------- */

static void swap(uint8_t *a, uint8_t *b) {
    const uint8_t old = *a;
    *a = *b;
    *b = old;
}

/* Puts the fingerprint in place of another, that one in its other bucket, and so on, a cell further
 * each time; and all back when the last finds no free cell. */
static bool push_in(const table *t, const print *p, uint64_t iterations) {
    uint64_t bucket = p->hash[0] % t->buckets, victim = 0;
    uint8_t value = p->value;
    for (uint64_t i = 0; i < iterations; i++) {
        swap(&bucket_of(t, bucket)[victim], &value);
        bucket = other_hash(value, bucket) % t->buckets;
        uint8_t *cell = find_in_bucket(t, bucket, 0);
        if (cell) {
            *cell = value;
            return true;
        }
        victim = (victim + 1) % t->bucket_size;
    }
    for (uint64_t i = 0; i < iterations; i++) {
        victim = (victim + t->bucket_size - 1) % t->bucket_size;
        bucket = other_hash(value, bucket) % t->buckets;
        swap(&bucket_of(t, bucket)[victim], &value);
    }
    return false;
}

/* Into the newest sub-filter with a free cell, or by force into the newest. */
static bool put(tamis_body *f, const print *p) {
    table t = last_table(f);
    for (uint64_t i = f->word[FILTERS];; to_previous(&t, f->word[EXPANSION])) {
        uint8_t *cell = find_cell(&t, p, 0);
        if (cell) {
            *cell = p->value;
            return true;
        }
        if (--i == 0) break;
    }
    t = last_table(f);
    return push_in(&t, p, f->word[ITERATIONS]);
}

static tamis_status is_full(tamis_cf_header h) {
    return tamis__fail(TAMIS_FULL, "rediscuckoo is full: %llu items in %llu sub-filters of %d",
                       (unsigned long long)h.items, (unsigned long long)h.filters,
                       h.expansion ? ADDS_BELOW : 1);
}

/* The last possible sub-filter was added for a key, which it still takes. */
static bool takes_more(const tamis_body *f) {
    const table t = last_table(f);
    if (f->word[FILTERS] < ADDS_BELOW) return true;
    for (uint64_t i = 0; i < t.buckets * t.bucket_size; i++)
        if (t.cells[i]) return false;
    return f->word[FILTERS] == ADDS_BELOW;
}

/* Core adds one at a time, because the room is unknown. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        const print p = print_of(&b.key[i]);
        tamis_cf_header h = tamis__cf_header(f->bytes);
        if (!takes_more(f) || !put(f, &p)) return is_full(h);
        h.items++;
        tamis__cf_put_header(f->bytes, h);
    }
    return TAMIS_OK;
}

static uint64_t room(const tamis_body *f) {
    (void)f;
    return 0;
}

static tamis_status grow(const tamis_body *f, uint64_t need, uint64_t word[]) {
    uint64_t size;
    (void)need;
    if (word[FILTERS]++ >= ADDS_BELOW || word[EXPANSION] == 0)
        return is_full(tamis__cf_header(f->bytes));
    return check(word, &size) ? tamis__fail_in(TAMIS_FULL, "rediscuckoo cannot grow") : TAMIS_OK;
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    tamis_cf_header h = tamis__cf_header(from->bytes);
    h.filters = to->word[FILTERS];
    memcpy(to->bytes, from->bytes, (size_t)stored_bytes(from->word));
    tamis__cf_put_header(to->bytes, h);
    return TAMIS_OK;
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* To the oldest sub-filter that has a cell for it. The bucket in a larger table gives the one in a
 * smaller table. */
static bool move_down(const tamis_body *f, uint64_t below, uint64_t bucket, uint8_t *cell) {
    const print p = print_at(*cell, bucket);
    table t = first_table(f);
    for (uint64_t i = 0; i < below; i++, to_next(&t, f->word[EXPANSION])) {
        uint8_t *free_cell = find_cell(&t, &p, 0);
        if (!free_cell) continue;
        *free_cell = *cell;
        *cell = 0;
        return true;
    }
    return false;
}

/* Moves down what it can; false when something had to stay. */
static bool empty_filter(const tamis_body *f, uint64_t i) {
    const table t = table_at(f, i);
    bool is_empty = true;
    for (uint64_t c = 0; c < t.buckets * t.bucket_size; c++)
        if (t.cells[c] && !move_down(f, i, c / t.bucket_size, &t.cells[c])) is_empty = false;
    return is_empty;
}

static void compact(tamis_body *f, tamis_cf_header *h) {
    while (f->word[FILTERS] > 1 && empty_filter(f, f->word[FILTERS] - 1)) f->word[FILTERS]--;
    h->filters = f->word[FILTERS];
    h->deletes = 0;
    f->size = (stored_bytes(f->word) + 7) / 8 * 8; /* it ends in former cells, which are empty */
}

static bool clear_one(tamis_body *f, const print *p) {
    table t = last_table(f);
    for (uint64_t i = f->word[FILTERS];; to_previous(&t, f->word[EXPANSION])) {
        uint8_t *cell = find_cell(&t, p, p->value);
        if (cell) *cell = 0;
        if (cell || --i == 0) return cell;
    }
}

static tamis_status remove_key(tamis_body *f, tamis_batch b) {
    const double worth_it = 0.10;
    const print p = print_of(b.key);
    tamis_cf_header h = tamis__cf_header(f->bytes);
    if (!clear_one(f, &p)) return tamis__fail(TAMIS_NOT_FOUND, "the key is not in the filter");
    h.items--;
    h.deletes++;
    if (h.filters > 1 && (double)h.deletes > (double)h.items * worth_it) compact(f, &h);
    tamis__cf_put_header(f->bytes, h);
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    table t = first_table(f);
    double misses = 1;
    (void)other;
    for (uint64_t i = 0; i < f->word[FILTERS]; i++, to_next(&t, f->word[EXPANSION])) {
        const uint64_t cells = t.buckets * t.bucket_size, full = cells_full(t.cells, cells);
        out->bits_set += full;
        out->bits += cells;
        misses *= no_hit((double)full, (double)t.buckets);
    }
    out->fpr = 1 - misses;
    out->items.value = (double)out->bits_set;
}

/* ---- Chunks --------------------------------------------------------------------------------- */

bool tamis__rediscuckoo_chunk(const tamis_body *f, uint64_t iterator, tamis_redis_chunk *chunk) {
    uint64_t before = 0, cells = f->word[BITS] / 8;
    if (iterator == 0) {
        *chunk = (tamis_redis_chunk){.iterator = 1, .size = TAMIS_CF_HEADER};
        return true;
    }
    for (uint64_t i = 0; i < f->word[FILTERS]; i++, cells *= f->word[EXPANSION]) {
        if (tamis__redis_cut(TAMIS_CF_HEADER, before, cells, iterator, chunk)) return true;
        before += cells;
    }
    return false;
}

/* ---- The kind ------------------------------------------------------------------------------- */

const tamis_kind tamis__rediscuckoo = {
    .name = "rediscuckoo",
    .contract = "a cuckoo filter of bytes that RedisBloom can read and write, with removal",
    .word = {"bits", "bucket_size", "iterations", "expansion", "filters"},
    .options = options,
    .lacks = lacks,
    .traits = TAMIS_OWN_HASH,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_key,
    .room = room,
    .counts = &(const tamis_counts){.count = count},
    .reshape = &(const tamis_reshape){.grow = grow, .move = move},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    if (in->size < TAMIS_CF_HEADER) return tamis__too_short("rediscuckoo", in, TAMIS_CF_HEADER);
    const tamis_cf_header h = tamis__cf_header(in->bytes);
    uint64_t padded;
    *out = (tamis_import_result){.kind = "rediscuckoo", .items = h.items, .payload = *in};
    tamis_status rc = tamis__cf_words(h, out->word);
    if (!rc) rc = check(out->word, &padded);
    if (rc) return tamis__fail_in(TAMIS_CORRUPT, "not rediscuckoo bytes");
    if (stored_bytes(out->word) != in->size)
        return tamis__bad_format(
            "rediscuckoo", "the header says %llu sub-filters, which makes %llu bytes, not %llu",
            (unsigned long long)h.filters, (unsigned long long)stored_bytes(out->word),
            (unsigned long long)in->size);
    out->capacity = out->word[BITS] / 8;
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, stored_bytes(out->body->word));
}

const tamis_format tamis__format_rediscuckoo = {
    .name = "rediscuckoo",
    .system = "RedisBloom CF.SCANDUMP, its replies concatenated",
    .kinds = "rediscuckoo",
    .keys = "bytes utf8",
    .read = read,
    .write = write,
};
