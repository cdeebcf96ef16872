/* SPDX-License-Identifier: MIT */
/* hadoop-counting: Hadoop's CountingBloomFilter, from which keys can be removed.
 *
 *     header    13 or 8 bytes (hadoop.h)
 *     counters  m of 4 bits, in big-endian words of 64; the first is the lowest of its word
 *
 *     word   │15│14│13│...│ 1│ 0││31│30│...
 *     byte   └──0──┴──1──... ┴──7──┘
 *
 * A counter at 15 is stuck: it neither rises nor falls any more. Where probes of one key meet, each
 * of them counts. All of this is as Hadoop does it, and so is removing, which asks first whether
 * the key is there. Only its union is not ours: it ORs the counters, which then count neither side;
 * here they are added, as if all keys had been added to one. */
#include <stdio.h>

#include "foreign/bytes.h"
#include "foreign/hadoop.h"
#include "kinds/bitmap.h"
#include "kinds/bloom.h"

enum { BITS = TAMIS_HADOOP_BITS, HASHES = TAMIS_HADOOP_HASHES };
enum { WIDTH = 4, TOP = 15, PER_WORD = 16 };

static const char name[] = "hadoop-counting";
static const struct tamis_option options[] = {TAMIS_HADOOP_OPTIONS, {0}};

/* ---- Counters ------------------------------------------------------------------------------- */

static uint64_t counters_of(const uint64_t word[]) {
    return word[BITS] / WIDTH;
}

static uint64_t words_of(const uint64_t word[]) {
    return (counters_of(word) + PER_WORD - 1) / PER_WORD;
}

static uint64_t stored(const uint64_t word[]) {
    return tamis__hadoop_header_bytes(word) + 8 * words_of(word);
}

/* The lowest of sixteen is in the last of eight bytes. */
static uint8_t *byte_of(const tamis_body *f, uint64_t i) {
    return f->bytes + tamis__hadoop_header_bytes(f->word) + (i / 2 ^ 7);
}

static unsigned get(const tamis_body *f, uint64_t i) {
    return *byte_of(f, i) >> i % 2 * WIDTH & TOP;
}

static void put(const tamis_body *f, uint64_t i, unsigned value) {
    uint8_t *byte = byte_of(f, i);
    const unsigned shift = i % 2 * WIDTH;
    *byte = (uint8_t)((*byte & ~(TOP << shift)) | value << shift);
}

/* ---- Shape and gate ------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return tamis__hadoop_plan(name, params, WIDTH, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BITS] % WIDTH)
        return tamis__fail(TAMIS_CORRUPT, "%s has 4 bits for a counter, not %llu in all", name,
                           (unsigned long long)word[BITS]);
    const tamis_status rc = tamis__hadoop_check(name, word, counters_of(word));
    if (!rc) *size = (stored(word) + 7) / 8 * 8;
    return rc;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, counters_of(word), word[HASHES]);
}

static uint64_t reliable_count(const uint64_t word[]) {
    (void)word;
    return TOP;
}

static void start(tamis_body *f) {
    tamis__hadoop_header(f->word, counters_of(f->word), f->bytes);
}

static tamis_status audit(const tamis_body *f) {
    uint8_t header[16] = {0};
    tamis__hadoop_header(f->word, counters_of(f->word), header);
    if (memcmp(header, f->bytes, tamis__hadoop_header_bytes(f->word)) != 0)
        return tamis__fail(TAMIS_CORRUPT, "the header of %s does not match its shape", name);
    for (uint64_t i = counters_of(f->word); i < words_of(f->word) * PER_WORD; i++)
        if (get(f, i))
            return tamis__fail(TAMIS_CORRUPT, "extra bits after the last of %llu counters",
                               (unsigned long long)counters_of(f->word));
    return tamis__audit_padding(f, stored(f->word));
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static void change(const tamis_body *f, const struct tamis_key *key, int by) {
    tamis_walk walk;
    tamis__hadoop_begin(f->word, key, &walk);
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        const uint64_t at = tamis__hadoop_next(f->word, counters_of(f->word), &walk);
        const unsigned value = get(f, at);
        if (value < TOP && (by > 0 || value > 0)) put(f, at, value + (unsigned)by);
    }
}

static uint64_t count_one(const tamis_body *f, const struct tamis_key *key) {
    tamis_walk walk;
    unsigned min = TOP;
    if (key->len == 0) return 0; /* never a member */
    tamis__hadoop_begin(f->word, key, &walk);
    for (uint64_t i = 0; i < f->word[HASHES] && min; i++) {
        const unsigned value = get(f, tamis__hadoop_next(f->word, counters_of(f->word), &walk));
        if (value < min) min = value;
    }
    return min;
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *count) {
    for (size_t i = 0; i < b.n; i++) count[i] = count_one(f, &b.key[i]);
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) hit[i] = count_one(f, &b.key[i]) > 0;
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) change(f, &b.key[i], 1);
    return TAMIS_OK;
}

static tamis_status remove_key(tamis_body *f, tamis_batch b) {
    if (!count_one(f, b.key))
        return tamis__fail(TAMIS_NOT_FOUND, "the key is not in the filter: a counter is 0");
    change(f, b.key, -1);
    return TAMIS_OK;
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

static unsigned sum_at(const tamis_body *f, const tamis_body *other, uint64_t i) {
    const unsigned sum = get(f, i) + (other ? get(other, i) : 0);
    return sum < TOP ? sum : TOP;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < counters_of(into->word); i++) put(into, i, sum_at(into, from, i));
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const uint64_t n = counters_of(f->word);
    uint64_t used = 0;
    for (uint64_t i = 0; i < n; i++) {
        const unsigned sum = sum_at(f, other, i);
        used += sum > 0;
        out->affected += sum == TOP;
    }
    tamis__fill_measure(used, n, f->word[HASHES], out);
    if (out->affected)
        snprintf(out->caveat, sizeof out->caveat,
                 "%llu counter%s stuck at 15: they no longer go down when keys are removed",
                 (unsigned long long)out->affected, out->affected == 1 ? " is" : "s are");
}

const tamis_kind tamis__hadoop_counting = {
    .name = name,
    .contract = "a counting filter that Hadoop can read and write; keys can be removed",
    .word = {TAMIS_HADOOP_WORDS},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ANY_ORDER | TAMIS_NO_EMPTY_KEY,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_key,
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},
    .sets = &(const tamis_sets){.merge = merge},
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    const tamis_status rc = tamis__hadoop_read(name, in, out);
    if (rc) return rc;
    out->word[BITS] *= WIDTH;
    if (in->size == stored(out->word)) return TAMIS_OK;
    return tamis__bad_format(name,
                             "the header says %llu counters, which makes %llu bytes, not %llu",
                             (unsigned long long)counters_of(out->word),
                             (unsigned long long)stored(out->word), (unsigned long long)in->size);
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, stored(out->body->word));
}

const tamis_format tamis__format_hadoop_counting = {
    .name = name,
    .system = "Hadoop CountingBloomFilter.write",
    .kinds = "hadoop-counting",
    .keys = "utf8 bytes",
    .limits = "Hadoop takes no empty key",
    .read = read,
    .write = write,
};
