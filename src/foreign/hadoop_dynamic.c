/* SPDX-License-Identifier: MIT */
/* hadoop-dynamic: Hadoop's DynamicBloomFilter, which grows by a row of the same size each time the
 * last one has taken its share of keys; also what BloomMapFile keeps in its file "bloom".
 *
 *     header   13 or 8 bytes (hadoop.h)
 *     nr       4 bytes   keys that a row takes
 *     current  4 bytes   keys that the last row has
 *     rows     4 bytes
 *     rows, each a whole BloomFilter with its own header
 *
 * A key goes into the last row, a query tests all: with r full rows the rate is about r times that
 * of one. So it takes any number of keys, but does not keep its rate. A key that is added twice
 * takes two places. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/hadoop.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"

enum { BITS = TAMIS_HADOOP_BITS, HASHES = TAMIS_HADOOP_HASHES };
enum { NR = TAMIS_HADOOP_OWN, ROWS };
enum { OPT_NR = TAMIS_HADOOP_OPT_OWN };
enum { AT_NR = 0, AT_CURRENT = 4, AT_ROWS = 8, COUNTS = 12 }; /* after the header */

static const char name[] = "hadoop-dynamic";
static const struct tamis_option options[] = {
    TAMIS_HADOOP_OPTIONS,
    {"nr", NULL, 1, INT32_MAX, "the capacity", "keys that a row takes; bits are those of a row"},
    {0},
};

/* ---- Layout --------------------------------------------------------------------------------- */

static uint64_t row_bytes(const uint64_t word[]) {
    return tamis__like_stored(tamis__hadoop_like(word), word);
}

static uint64_t stored(const uint64_t word[]) {
    return tamis__hadoop_header_bytes(word) + COUNTS + word[ROWS] * row_bytes(word);
}

static uint8_t *counts_of(const tamis_body *f) {
    return f->bytes + tamis__hadoop_header_bytes(f->word);
}

static int64_t current_of(const tamis_body *f) {
    return (int32_t)tamis__get32_big(counts_of(f) + AT_CURRENT);
}

static void set_current(tamis_body *f, int64_t current) {
    tamis__put32_big(counts_of(f) + AT_CURRENT, (uint32_t)current);
}

/* A row as a filter of its own. */
static tamis_body row_of(const tamis_body *f, uint64_t row) {
    tamis_body r = {.kind = f->kind,
                    .size = row_bytes(f->word),
                    .bytes = counts_of(f) + COUNTS + row * row_bytes(f->word)};
    memcpy(r.word, f->word, TAMIS_HADOOP_OWN * sizeof *f->word);
    return r;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Where a row takes fewer keys than planned, the rows share the rate. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t usual = keys < TAMIS_HADOOP_MAX ? keys : TAMIS_HADOOP_MAX;
    tamis_params row = *params;
    word[NR] = params->has_option[OPT_NR] ? params->option[OPT_NR] : usual;
    word[ROWS] = 1;
    const double rows = ceil((double)keys / (double)word[NR]);
    row.capacity = keys < word[NR] ? keys : word[NR];
    if (params->fpr > 0 && rows > 1) row.fpr = -expm1(log1p(-params->fpr) / rows);
    return tamis__hadoop_plan(name, &row, 1, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const tamis_status rc = tamis__hadoop_check(name, word, word[BITS]);
    if (rc) return rc;
    if (word[NR] == 0 || word[NR] > TAMIS_HADOOP_MAX)
        return tamis__fail(TAMIS_CORRUPT, "%s has 1 to 2^31-1 keys in a row, not %llu", name,
                           (unsigned long long)word[NR]);
    if (word[ROWS] == 0 || word[ROWS] > TAMIS_HADOOP_MAX ||
        stored(word) > TAMIS_MAX_PAYLOAD_BYTES - 7)
        return tamis__fail(TAMIS_CORRUPT, "%s has 1 to 2^31-1 rows in 2^56 bytes, not %llu", name,
                           (unsigned long long)word[ROWS]);
    *size = (stored(word) + 7) / 8 * 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    return word[HASHES] * word[ROWS];
}

static double rate(const uint64_t word[], uint64_t items) {
    const uint64_t full = items / word[NR];
    const double one = tamis__bloom_rate(word[NR], word[BITS], word[HASHES]);
    const double last = tamis__bloom_rate(items % word[NR], word[BITS], word[HASHES]);
    return tamis__chance_of_either(full ? -expm1((double)full * log1p(-one)) : 0, last);
}

/* ---- The gate ------------------------------------------------------------------------------- */

static void write_start(tamis_body *f) {
    tamis__hadoop_header(f->word, f->word[BITS], f->bytes);
    tamis__put32_big(counts_of(f) + AT_NR, (uint32_t)f->word[NR]);
    tamis__put32_big(counts_of(f) + AT_ROWS, (uint32_t)f->word[ROWS]);
}

static void start_row(tamis_body *f, uint64_t row) {
    tamis_body r = row_of(f, row);
    tamis__like_start(&r);
}

static void start(tamis_body *f) {
    write_start(f);
    start_row(f, 0);
}

static tamis_status audit_counts(const tamis_body *f) {
    uint8_t expected[32] = {0};
    const uint64_t header_bytes = tamis__hadoop_header_bytes(f->word);
    tamis__hadoop_header(f->word, f->word[BITS], expected);
    if (memcmp(expected, f->bytes, (size_t)header_bytes) != 0 ||
        tamis__get32_big(counts_of(f) + AT_NR) != f->word[NR] ||
        tamis__get32_big(counts_of(f) + AT_ROWS) != f->word[ROWS])
        return tamis__fail(TAMIS_CORRUPT, "the header of %s does not match its shape", name);
    if (current_of(f) < 0 || current_of(f) > (int64_t)f->word[NR])
        return tamis__fail(TAMIS_CORRUPT, "the last row cannot have %lld of %llu keys",
                           (long long)current_of(f), (unsigned long long)f->word[NR]);
    return TAMIS_OK;
}

static tamis_status audit(const tamis_body *f) {
    tamis_status rc = audit_counts(f);
    for (uint64_t i = 0; i < f->word[ROWS] && !rc; i++) {
        const tamis_body row = row_of(f, i);
        rc = tamis__like_audit(&row);
    }
    return rc ? rc : tamis__audit_padding(f, stored(f->word));
}

/* ---- Querying and adding -------------------------------------------------------------------- */

/* The newest row first, with the whole batch; older ones are queried key by key for those not yet
 * found. */
static bool is_below(const tamis_body *f, const struct tamis_key *key) {
    uint8_t hit = 0;
    for (uint64_t row = f->word[ROWS] - 1; row-- > 0 && !hit;) {
        const tamis_body r = row_of(f, row);
        tamis__foreign_bloom_query(&r, tamis__keys(key, 1), &hit);
    }
    return hit;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_body last = row_of(f, f->word[ROWS] - 1);
    tamis__hadoop_query(&last, b, hit);
    for (size_t i = 0; i < b.n; i++)
        if (!hit[i] && b.key[i].len > 0) hit[i] = is_below(f, &b.key[i]);
}

static uint64_t room(const tamis_body *f) {
    return (uint64_t)((int64_t)f->word[NR] - current_of(f));
}

/* Core adds no more than there is room for, and then one key, to learn that there is none. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    if (b.n > room(f))
        return tamis__fail(TAMIS_FULL, "the last row of %s has its %llu keys", name,
                           (unsigned long long)f->word[NR]);
    tamis_body last = row_of(f, f->word[ROWS] - 1);
    tamis__like_add(&last, b);
    set_current(f, current_of(f) + (int64_t)b.n);
    return TAMIS_OK;
}

/* ---- Growing -------------------------------------------------------------------------------- */

/* By one row, for the one key that had no room. */
static tamis_status grow(const tamis_body *f, uint64_t need, uint64_t word[]) {
    if (room(f) >= need) return TAMIS_OK;
    if (word[ROWS] == TAMIS_HADOOP_MAX)
        return tamis__fail(TAMIS_FULL, "%s has at most 2^31-1 rows", name);
    word[ROWS]++;
    return TAMIS_OK;
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    memcpy(to->bytes, from->bytes, (size_t)stored(from->word));
    write_start(to);
    if (to->word[ROWS] == from->word[ROWS]) return TAMIS_OK;
    start_row(to, to->word[ROWS] - 1);
    set_current(to, 0);
    return TAMIS_OK;
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

/* Row by row, as Hadoop does; the last then counts the keys of both, so that it is full in time.
 * Hadoop's intersection is not supported: a key may be in one row here and in another there. */
static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const int64_t sum = current_of(into) + current_of(from), nr = (int64_t)into->word[NR];
    for (uint64_t i = 0; i < into->word[ROWS]; i++) {
        tamis_body a = row_of(into, i);
        const tamis_body b = row_of(from, i);
        tamis__like_merge(&a, &b);
    }
    set_current(into, sum < nr ? sum : nr);
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    for (uint64_t i = 0; i < f->word[ROWS]; i++) {
        const tamis_body row = row_of(f, i), with = row_of(other ? other : f, i);
        tamis_measurement m = {0};
        tamis__like_measure(&row, other ? &with : NULL, &m);
        tamis__measure_stage(&m, false, out);
    }
    if (f->word[ROWS] > 1)
        snprintf(out->caveat, sizeof out->caveat,
                 "a key that was added again after a row was full is counted twice");
}

/* Bits show common keys only where they are in the same row. */
static tamis_status may_compare(const tamis_body *f, const tamis_body *other) {
    (void)other; /* with as many rows */
    if (f->word[ROWS] == 1) return TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED,
                       "%s cannot be compared once it has grown: a key of both may be in "
                       "different rows; compare filters of one row",
                       name);
}

const tamis_kind tamis__hadoop_dynamic = {
    .name = name,
    .contract = "a filter that Hadoop can read and write; it grows by rows, and its rate with them",
    .word = {TAMIS_HADOOP_WORDS, "nr", "rows"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_NO_EMPTY_KEY,
    .own = &tamis__hadoop_layouts,
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
    .reshape = &(const tamis_reshape){.grow = grow, .move = move, .loses_rate = true},
    .sets = &(const tamis_sets){.merge = merge, .may_compare = may_compare},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    uint64_t *word = out->word;
    const tamis_status rc = tamis__hadoop_read(name, in, out);
    if (rc) return rc;
    const uint64_t header_bytes = tamis__hadoop_header_bytes(word);
    if (in->size - header_bytes < COUNTS)
        return tamis__bad_format(name, "they end after the header");
    word[NR] = tamis__get32_big(in->bytes + header_bytes + AT_NR);
    word[ROWS] = tamis__get32_big(in->bytes + header_bytes + AT_ROWS);
    if (word[ROWS] == 0 || word[ROWS] > TAMIS_HADOOP_MAX || stored(word) != in->size)
        return tamis__bad_format(name, "%llu rows of %llu bits need %llu bytes, not %llu",
                                 (unsigned long long)word[ROWS], (unsigned long long)word[BITS],
                                 (unsigned long long)stored(word), (unsigned long long)in->size);
    out->capacity = word[ROWS] * word[NR];
    out->items =
        (word[ROWS] - 1) * word[NR] + tamis__get32_big(in->bytes + header_bytes + AT_CURRENT);
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, stored(out->body->word));
}

const tamis_format tamis__format_hadoop_dynamic = {
    .name = name,
    .system = "Hadoop DynamicBloomFilter.write, BloomMapFile",
    .kinds = "hadoop-dynamic",
    .keys = "utf8 bytes",
    .limits = "Hadoop takes no empty key",
    .read = read,
    .write = write,
};
