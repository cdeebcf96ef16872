/* SPDX-License-Identifier: MIT */
/* rocksdb: a Bloom filter of RocksDB, as a table's filter block or a partition of it has it.
 *
 *     bits  L bytes
 *     rule  1 byte    ff: fast; 1 to 127: legacy, and this is k; fe: Ribbon; 00 and others: maybe
 *     fast            00 | 3 bits 0, 5 bits k | 00 00     lines of 64 bytes
 *     legacy          4 bytes, how many lines
 *
 * Both keep a key in one line. fast, of format_version 5 and later, takes the line and the bits
 * from the two halves of XXPH3. legacy takes all from one hash of 32 bits (foreign/rotated_hash.h),
 * in lines as long as a cache line of the machine that wrote them: 64, 128 or 256 bytes.
 *
 * A filter of at most five bytes has no key. The origin answers maybe to what it does not
 * understand, so that newer filters do no harm: they are kept and answered so here. */
#include <math.h>

#include "foreign/bytes.h"
#include "foreign/fastlocal.h"
#include "foreign/foreign_bloom.h"
#include "foreign/foreign_hashes.h"
#include "foreign/format.h"
#include "foreign/murmur.h"
#include "foreign/rocksdb.h"
#include "foreign/rotated_hash.h"
#include "kinds/bitmap.h"
#include "kinds/blockwise.h"

enum { BITS, HASHES, RULE, LINE, BYTES };
enum { FAST, LEGACY, ALWAYS, NEVER, RULES };
enum { OPT_HASHES, OPT_RULE, OPT_LINE, OPT_BITS_PER_KEY, OPT_MILLIBITS };
enum { META = TAMIS_ROCKSDB_TAIL, LEGACY_MAX_HASHES = 127 };
enum { FAST_LINE = TAMIS_INLINE_LINE, FAST_MAX_HASHES = TAMIS_INLINE_MAX_HASHES };
#define MAX_LEGACY_BITS ((uint64_t)0xffff0000)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, LEGACY_MAX_HASHES, "as RocksDB does", "probes per key, k"},
    {"rule", "fast|legacy|always|never", 0, 0, "fast", "legacy is that of format_version below 5"},
    {"line", NULL, 64, 256, "64", "bytes of a line: legacy has 128 on ARM and POWER, 256 on s390"},
    {"bits_per_key", NULL, 1, 100, "the fewest for the rate", "as configured in RocksDB"},
    {"millibits", NULL, TAMIS_MIN_MILLIBITS, TAMIS_MAX_MILLIBITS, "1000 bits_per_key",
     "the same in thousandths"},
    {0},
};

/* ---- The last bytes ------------------------------------------------------------------------- */

static void shape_fast(const uint8_t *meta, uint64_t n, uint64_t word[]) {
    const uint64_t hashes = meta[2] & 31, lines = (n - META) / FAST_LINE;
    if (meta[1] || meta[2] >> 5 || hashes < 1 || hashes > FAST_MAX_HASHES || meta[3] || meta[4])
        return;
    word[RULE] = FAST;
    word[HASHES] = hashes;
    word[LINE] = FAST_LINE;
    word[BITS] = lines * FAST_LINE * 8;
}

static void shape_legacy(const uint8_t *meta, uint64_t n, uint64_t word[]) {
    const uint64_t lines = tamis__get32(meta + 1), size = n - META;
    if (lines == 0 || size % lines || !tamis__is_power_of_two(size / lines)) return;
    word[RULE] = LEGACY;
    word[HASHES] = meta[0];
    word[LINE] = size / lines;
    word[BITS] = size * 8;
}

/* A Ribbon is another kind, except one of less than two blocks, which is not understood. */
bool tamis__rocksdb_is_ribbon(const tamis_input *in) {
    if (in->size <= META) return false;
    const uint8_t *meta = in->bytes + (in->size - META);
    return meta[0] == TAMIS_ROCKSDB_RIBBON && (meta[2] > 1 || meta[3] || meta[4]);
}

/* The shape of a filter of n bytes. */
static void shape_of(const uint8_t *bytes, uint64_t n, uint64_t word[]) {
    memset(word, 0, TAMIS_WORDS * sizeof *word);
    word[BYTES] = n;
    word[RULE] = n <= META ? NEVER : ALWAYS;
    if (n <= META) return;
    const uint8_t *meta = bytes + n - META;
    if (meta[0] == TAMIS_ROCKSDB_FAST) shape_fast(meta, n, word);
    if (meta[0] >= 1 && meta[0] <= LEGACY_MAX_HASHES) shape_legacy(meta, n, word);
}

static uint64_t lines_of(const uint64_t word[]) {
    return word[BITS] / 8 / word[LINE];
}

/* ---- Positions ------------------------------------------------------------------------------ */

typedef struct walk {
    uint64_t line; /* its first byte */
    uint32_t h, step;
} walk;

static walk begin_fast(const uint64_t word[], const struct tamis_key *key) {
    const uint64_t hash = tamis__xxph3(key);
    const uint64_t line = (uint64_t)(uint32_t)hash * lines_of(word) >> 32;
    return (walk){.line = line * FAST_LINE, .h = (uint32_t)(hash >> 32)};
}

static walk begin_legacy(const uint64_t word[], uint32_t hash) {
    return (walk){
        .line = hash % lines_of(word) * word[LINE], .h = hash, .step = tamis__rotl15(hash)};
}

static walk begin(const uint64_t word[], const struct tamis_key *key) {
    return word[RULE] == FAST ? begin_fast(word, key)
                              : begin_legacy(word, tamis__murmur1_rocksdb(key));
}

/* The next bit in the line. */
static uint64_t next(const uint64_t word[], walk *w) {
    const uint32_t now = w->h;
    if (word[RULE] == FAST) {
        w->h *= 0x9e3779b9;
        return now >> 23;
    }
    w->h += w->step;
    return now & (word[LINE] * 8 - 1);
}

static bool has_all(const tamis_body *f, const tamis_body *other, walk w) {
    for (uint64_t i = 0; i < f->word[HASHES]; i++) {
        const uint64_t bit = next(f->word, &w), at = w.line + bit / 8;
        if (!((f->bytes[at] | (other ? other->bytes[at] : 0)) >> bit % 8 & 1)) return false;
    }
    return true;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* For `keys` keys with `millibits` thousandths of bits each, as RocksDB rounds them. */
static void size_fast(uint64_t keys, uint64_t millibits, uint64_t word[]) {
    word[BITS] = tamis__fast_bytes(keys, millibits) * 8;
    word[HASHES] = tamis__fast_hashes(millibits);
}

static void size_legacy(uint64_t keys, uint64_t millibits, uint64_t word[]) {
    const uint64_t q = (millibits + 500) / 1000, line_bits = word[LINE] * 8;
    uint64_t lines = (keys * q + line_bits - 1) / line_bits;
    if (lines % 2 == 0) lines++; /* so that all bits of the hash affect the line */
    word[BITS] = lines * line_bits;
    word[HASHES] = tamis__turned_hashes(q);
}

static double rate(const uint64_t word[], uint64_t items) {
    if (word[RULE] == ALWAYS || word[RULE] == NEVER) return word[RULE] == ALWAYS;
    if (word[RULE] == LEGACY)
        return tamis__turned_lines_rate(items, lines_of(word), word[LINE] * 8, word[HASHES]);
    return tamis__lanes_rate((tamis_lanes){1, FAST_LINE * 8, (unsigned)word[HASHES]}, (double)items,
                             (double)lines_of(word));
}

static void size_for(uint64_t keys, uint64_t millibits, uint64_t hashes, uint64_t word[]) {
    if (word[RULE] == FAST)
        size_fast(keys, millibits, word);
    else
        size_legacy(keys, millibits, word);
    if (hashes) word[HASHES] = hashes;
}

/* The fewest bits per key that keep the rate, in steps of a tenth or, for legacy, whole ones. A
 * filter with positions anywhere would need -log2(rate) / ln 2 of them. */
static tamis_status size_by_rate(uint64_t keys, double fpr, uint64_t hashes, uint64_t word[]) {
    const uint64_t step = word[RULE] == FAST ? 100 : 1000;
    uint64_t q =
        (uint64_t)fmax(1, floor(fmin(-log2(fpr) / 0.6932 * 1000, 1e6) / (double)step)) * step;
    for (q = q < 1000 ? 1000 : q; q <= TAMIS_MAX_MILLIBITS; q += step) {
        size_for(keys, q, hashes, word);
        if (rate(word, keys) <= fpr) return TAMIS_OK;
    }
    return tamis__fail(TAMIS_TOO_LARGE,
                       "rocksdb cannot keep fpr=%.3g with its maximum of 100 bits per key", fpr);
}

/* For a given size: whole lines, and the k for the bits per key. */
static void size_by_bits(uint64_t keys, uint64_t bits, uint64_t hashes, uint64_t word[]) {
    const uint64_t line_bits = word[LINE] * 8;
    const double q = fmin(TAMIS_MAX_MILLIBITS, (double)bits * 1000 / (double)keys);
    word[BITS] = bits / line_bits * line_bits;
    word[HASHES] = word[RULE] == FAST ? tamis__fast_hashes((uint64_t)q)
                                      : tamis__turned_hashes((uint64_t)q / 1000);
    if (hashes) word[HASHES] = hashes;
}

static tamis_status refuse_size(const uint64_t word[]) {
    if (word[RULE] == FAST)
        return tamis__fail(TAMIS_TOO_LARGE, "rocksdb has at most 2^32-64 bytes of bits");
    return tamis__fail(TAMIS_TOO_LARGE, "rocksdb with rule=legacy has less than 2^32 bits");
}

static tamis_status read_options(const tamis_params *params, uint64_t word[]) {
    word[RULE] = params->option[OPT_RULE];
    word[LINE] = params->has_option[OPT_LINE] ? params->option[OPT_LINE] : FAST_LINE;
    if (word[RULE] > LEGACY)
        return tamis__fail(TAMIS_INVALID, "rocksdb can be created with rule=fast or rule=legacy");
    if (!tamis__is_power_of_two(word[LINE]) || (word[RULE] == FAST && word[LINE] != FAST_LINE))
        return tamis__fail(TAMIS_INVALID,
                           "line must be 64, or 128 or 256 with rule=legacy, not %llu",
                           (unsigned long long)word[LINE]);
    if (word[RULE] == FAST && params->option[OPT_HASHES] > FAST_MAX_HASHES)
        return tamis__fail(TAMIS_INVALID, "hashes must be 1 to %d with rule=fast, not %llu",
                           FAST_MAX_HASHES, (unsigned long long)params->option[OPT_HASHES]);
    if (params->has_option[OPT_BITS_PER_KEY] && params->has_option[OPT_MILLIBITS])
        return tamis__fail(TAMIS_INVALID, "bits_per_key and millibits conflict; give only one");
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t keys = params->capacity ? params->capacity : 1;
    const uint64_t hashes = params->option[OPT_HASHES], told = params->option[OPT_MILLIBITS];
    const uint64_t millibits = told ? told : params->option[OPT_BITS_PER_KEY] * 1000;
    tamis_status rc = read_options(params, word);
    const uint64_t max = word[RULE] == FAST ? TAMIS_INLINE_MAX_BYTES * 8 : MAX_LEGACY_BITS;
    if (rc) return rc;
    if (keys > max || params->bits > max) return refuse_size(word);
    if (params->bits && params->bits < word[LINE] * 8)
        return tamis__fail(TAMIS_INVALID, "size must be at least %llu bytes for rocksdb",
                           (unsigned long long)word[LINE]);
    if (params->bits)
        size_by_bits(keys, params->bits, hashes, word);
    else if (millibits)
        size_for(keys, millibits, hashes, word);
    else
        rc = size_by_rate(keys, params->fpr, hashes, word);
    if (!rc && word[BITS] > max) rc = refuse_size(word);
    word[BYTES] = word[BITS] / 8 + META;
    return rc;
}

static bool is_shape(const uint64_t word[]) {
    const uint64_t n = word[BYTES], size = n > META ? n - META : 0, bits = word[BITS];
    switch (word[RULE]) {
    case NEVER: return n <= META && !bits && !word[HASHES] && !word[LINE];
    case ALWAYS: return n > META && !bits && !word[HASHES] && !word[LINE];
    case FAST:
        return size / FAST_LINE && bits == size / FAST_LINE * FAST_LINE * 8 &&
               word[LINE] == FAST_LINE && word[HASHES] && word[HASHES] <= FAST_MAX_HASHES;
    case LEGACY:
        return size && bits == size * 8 && tamis__is_power_of_two(word[LINE]) &&
               size % word[LINE] == 0 && size / word[LINE] <= UINT32_MAX && word[HASHES] &&
               word[HASHES] <= LEGACY_MAX_HASHES;
    default: return false;
    }
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BYTES] > UINT32_MAX || !is_shape(word))
        return tamis__fail(
            TAMIS_CORRUPT,
            "rocksdb of rule %llu cannot have %llu bits, %llu hashes, lines of %llu and "
            "%llu bytes",
            (unsigned long long)word[RULE], (unsigned long long)word[BITS],
            (unsigned long long)word[HASHES], (unsigned long long)word[LINE],
            (unsigned long long)word[BYTES]);
    *size = word[BYTES] ? (word[BYTES] + 7) / 8 * 8 : 8;
    return TAMIS_OK;
}

static bool is_odd(const uint64_t word[]) {
    return word[RULE] > LEGACY;
}

static unsigned lacks(const uint64_t word[]) {
    return is_odd(word) ? TAMIS_CAN_ADD : 0;
}

static void start(tamis_body *f) {
    uint8_t *meta = f->bytes + f->word[BYTES] - META;
    if (f->word[RULE] == FAST) {
        meta[0] = TAMIS_ROCKSDB_FAST;
        meta[2] = (uint8_t)f->word[HASHES];
    } else {
        meta[0] = (uint8_t)f->word[HASHES];
        tamis__put32(meta + 1, (uint32_t)lines_of(f->word));
    }
}

static tamis_status audit(const tamis_body *f) {
    uint64_t args[TAMIS_WORDS];
    shape_of(f->bytes, f->word[BYTES], args);
    const tamis_input in = {f->bytes, f->word[BYTES], NULL};
    if (tamis__rocksdb_is_ribbon(&in))
        return tamis__fail(TAMIS_CORRUPT, "the last bytes of rocksdb are those of a Ribbon");
    if (memcmp(args, f->word, sizeof args) != 0)
        return tamis__fail(TAMIS_CORRUPT, "the last bytes of rocksdb do not match its shape");
    return tamis__audit_padding(f, f->word[BYTES]);
}

/* ---- The kind ------------------------------------------------------------------------------- */

/* All bits of a key are in one line, or two cache lines: they are prefetched before they are
 * read. */
enum { TOGETHER = 32 };

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    walk w[TOGETHER];
    if (is_odd(f->word)) {
        memset(hit, f->word[RULE] == ALWAYS, b.n);
        return;
    }
    for (size_t i = 0, m; i < b.n; i += m) {
        m = b.n - i < TOGETHER ? b.n - i : TOGETHER;
        for (size_t j = 0; j < m; j++) {
            w[j] = begin(f->word, &b.key[i + j]);
            __builtin_prefetch(f->bytes + w[j].line);
        }
        for (size_t j = 0; j < m; j++) hit[i + j] = has_all(f, NULL, w[j]);
    }
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    if (is_odd(f->word))
        return tamis__fail(TAMIS_UNSUPPORTED, "this filter of rocksdb %s: it takes no keys",
                           f->word[RULE] == ALWAYS ? "answers maybe to everything" : "has no bits");
    for (size_t j = 0; j < b.n; j++) {
        walk w = begin(f->word, &b.key[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++) {
            const uint64_t bit = next(f->word, &w);
            f->bytes[w.line + bit / 8] |= (uint8_t)(1u << bit % 8);
        }
    }
    return TAMIS_OK;
}

/* Its bits begin with the first byte, which is all that merging needs to know. */
static const tamis_bloomlike like = {.name = "rocksdb"};

typedef struct both {
    const tamis_body *one, *other;
} both;

static bool both_have(const void *ctx, uint32_t hash) {
    const both *b = ctx;
    return has_all(b->one, b->other, begin_legacy(b->one->word, hash));
}

/* Lines of less than a word are counted as one array: nobody writes them. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const both b = {f, other};
    tamis_body lines = *f;
    lines.size = f->word[BITS] / 8;
    if (is_odd(f->word)) {
        out->fpr = f->word[RULE] == ALWAYS;
        return;
    }
    if (f->word[LINE] % 8 == 0 && f->word[LINE] <= UINT32_MAX / 8) {
        const tamis_lanes shape = {1, (unsigned)f->word[LINE] * 8, (unsigned)f->word[HASHES]};
        tamis__blocks_measure(&lines, other, shape, out);
    } else {
        lines.size = lines.size / 8 * 8;
        tamis__fill_measure(tamis__bits_set(&lines, other), f->word[BITS], f->word[HASHES], out);
    }
    if (f->word[RULE] == LEGACY)
        out->fpr =
            out->bits_set ? tamis__turned_asked(both_have, &b, TAMIS_TURNED_MANY, out->fpr) : 0;
}

const tamis_kind tamis__rocksdb = {
    .name = "rocksdb",
    .contract = "a Bloom filter that RocksDB can read and write: one cache line per key",
    .word = {"bits", "hashes", "rule", "line", "bytes"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .lacks = lacks,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

tamis_status tamis__rocksdb_read(const tamis_input *in, const tamis_format_args *args,
                                 tamis_import_result *out) {
    (void)args;
    if (tamis__rocksdb_is_ribbon(in)) return tamis__ribbon_read(in, out);
    if (in->size > UINT32_MAX)
        return tamis__bad_format("rocksdb", "%llu bytes, at most 2^32-1 are allowed",
                                 (unsigned long long)in->size);
    *out = (tamis_import_result){.kind = "rocksdb", .payload = *in};
    shape_of(in->bytes, in->size, out->word);
    if (out->word[RULE] == FAST && out->word[BITS] == 0)
        return tamis__bad_format("rocksdb", "%llu bytes of bits, where one line has %d",
                                 (unsigned long long)(in->size - META), FAST_LINE);
    out->capacity = tamis__like_capacity(out->word[BITS], out->word[HASHES]);
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    if (strcmp(out->kind, "rocksdb") != 0) return tamis__ribbon_write(out, args);
    return tamis__export_write(out, out->body->bytes, out->body->word[BYTES]);
}

const tamis_format tamis__format_rocksdb = {
    .name = "rocksdb",
    .system = "RocksDB full filter",
    .kinds = "rocksdb rocksdb-ribbon",
    .keys = "bytes utf8",
    .read = tamis__rocksdb_read,
    .write = write,
};
