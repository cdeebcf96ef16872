/* SPDX-License-Identifier: MIT */
/* hadoop-retouched: Hadoop's RetouchedBloomFilter, from which bits were cleared on purpose, so that
 * chosen false positives are answered no, at the price of some keys.
 *
 *     BloomFilter      header and bits (hadoop.c)
 *     false positives  for each of the m bits  n, 4 bytes, and n keys
 *     keys             for each of the m bits  n, 4 bytes, and n keys
 *     ratios           for each of the m bits  8 bytes, a double
 *
 * where a key is its length in 4 bytes, its bytes, and a weight of 8 bytes. The lists hold every
 * key once for each of its bits: it is a filter for research, many times larger than its keys.
 *
 * Answers come from the bits alone. It can be queried and written back, and an empty one can be
 * made for Hadoop to fill; keys are not added here, because an add puts the key into the middle of
 * the bytes k times, so that room would be needed for bytes, not for keys. */
#include "foreign/bytes.h"
#include "foreign/hadoop.h"

enum { BITS = TAMIS_HADOOP_BITS, HASHES = TAMIS_HADOOP_HASHES, BYTES = TAMIS_HADOOP_OWN };
enum { LISTS = 2, RATIO = 8, WEIGHT = 8, MIN_BEHIND = 4 + 4 + RATIO }; /* for each bit */

static const char name[] = "hadoop-retouched";
static const struct tamis_option options[] = {TAMIS_HADOOP_OPTIONS, {0}};

/* The filter at its start. */
static tamis_body bits_of(const tamis_body *f) {
    tamis_body bits = {.kind = f->kind,
                       .size = tamis__like_stored(tamis__hadoop_like(f->word), f->word),
                       .bytes = f->bytes};
    for (int w = 0; w < TAMIS_HADOOP_OWN; w++) bits.word[w] = f->word[w];
    return bits;
}

/* ---- Shape and gate ------------------------------------------------------------------------- */

static uint64_t min_bytes(const uint64_t word[]) {
    return tamis__like_stored(tamis__hadoop_like(word), word) + MIN_BEHIND * word[BITS];
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = tamis__hadoop_plan(name, params, 1, word);
    if (!rc) word[BYTES] = min_bytes(word);
    return rc;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const tamis_status rc = tamis__hadoop_check(name, word, word[BITS]);
    if (rc) return rc;
    if (word[BYTES] < min_bytes(word) || word[BYTES] > TAMIS_MAX_PAYLOAD_BYTES - 7)
        return tamis__fail(TAMIS_CORRUPT, "%s with %llu bits has at least %llu bytes, not %llu",
                           name, (unsigned long long)word[BITS],
                           (unsigned long long)min_bytes(word), (unsigned long long)word[BYTES]);
    *size = (word[BYTES] + 7) / 8 * 8;
    return TAMIS_OK;
}

/* All lists are empty, and all ratios 0. */
static void start(tamis_body *f) {
    tamis_body bits = bits_of(f);
    tamis__like_start(&bits);
}

/* Steps over the list of one bit; false when it extends past the end. */
static bool skip_list(const tamis_body *f, uint64_t *at) {
    const uint64_t end = f->word[BYTES];
    if (end - *at < 4) return false;
    uint64_t keys = tamis__get32_big(f->bytes + *at);
    *at += 4;
    for (; keys > 0; keys--) {
        if (end - *at < 4) return false;
        const uint64_t len = tamis__get32_big(f->bytes + *at);
        *at += 4;
        if (len == 0 || len > INT32_MAX || end - *at < len + WEIGHT) return false;
        *at += len + WEIGHT;
    }
    return true;
}

static tamis_status audit(const tamis_body *f) {
    const tamis_body bits = bits_of(f);
    const tamis_status rc = tamis__like_audit(&bits);
    uint64_t at = bits.size;
    if (rc) return rc;
    for (uint64_t i = 0; i < LISTS * f->word[BITS]; i++)
        if (!skip_list(f, &at))
            return tamis__fail(TAMIS_CORRUPT, "list %llu of %s extends past its end",
                               (unsigned long long)i, name);
    if (f->word[BYTES] - at != RATIO * f->word[BITS])
        return tamis__fail(TAMIS_CORRUPT, "%s has %llu bytes after its lists, not 8 per bit", name,
                           (unsigned long long)(f->word[BYTES] - at));
    return tamis__audit_padding(f, f->word[BYTES]);
}

/* ---- The kind ------------------------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_body bits = bits_of(f);
    tamis__hadoop_query(&bits, b, hit);
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_body bits = bits_of(f);
    (void)other; /* it cannot be merged */
    tamis__like_measure(&bits, NULL, out);
}

const tamis_kind tamis__hadoop_retouched = {
    .name = name,
    .contract = "a retouched filter of Hadoop's, to be asked; keys whose bits it gave up are lost",
    .word = {TAMIS_HADOOP_WORDS, "bytes"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_MAY_FORGET | TAMIS_NO_EMPTY_KEY,
    .own = &tamis__hadoop_layouts,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
};

/* ---- The format ----------------------------------------------------------------------------- */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    const tamis_status rc = tamis__hadoop_read(name, in, out);
    if (rc) return rc;
    out->word[BYTES] = in->size;
    if (in->size >= min_bytes(out->word)) return TAMIS_OK;
    return tamis__bad_format(
        name, "%llu bits need at least %llu bytes, not %llu", (unsigned long long)out->word[BITS],
        (unsigned long long)min_bytes(out->word), (unsigned long long)in->size);
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    return tamis__export_write(out, out->body->bytes, out->body->word[BYTES]);
}

const tamis_format tamis__format_hadoop_retouched = {
    .name = name,
    .system = "Hadoop RetouchedBloomFilter.write",
    .kinds = "hadoop-retouched",
    .keys = "utf8 bytes",
    .limits = "read, asked and written back; keys are not added, nor bits given up",
    .read = read,
    .write = write,
};
