/* SPDX-License-Identifier: MIT */
/* bip158: Bitcoin's basic block filters, which nodes serve to light clients (BIP 158, BIP 157).
 *
 *     values  CompactSize  N, 1 to 5 bytes
 *     stream  bits         N coded differences, then zero bits up to a whole byte
 *
 * A Golomb-coded set. A key (a script) is hashed by SipHash-2-4 under the first 16 bytes of the
 * block's hash, and scaled to a value below N * 784931, so that the false-positive rate is 1 in
 * 784931. The values are sorted, and each is written as its distance d from the one before: d /
 * 2^19 in unary, as ones followed by a zero, then the 19 bits below. Bits fill bytes from the top.
 *
 *     d = 1 * 2^19 + 5        1 0 | 0000000000000000101
 *
 * The block's hash is not in the bytes: the reader must be given it. */
#include "foreign/bip158.h"

#include <string.h>

#include "bits/probe.h"
#include "foreign/built_once.h"
#include "foreign/bytes.h"
#include "foreign/foreign_hashes.h"
#include "foreign/format.h"
#include "hash/sip13.h"

enum { VALUES, BYTES, KEY0, KEY1 };
enum { OPT_KEY0, OPT_KEY1, OPT_BLOCK };
enum { LOW_BITS = 19, RANGE_PER_VALUE = 784931, MAX_COUNT_BYTES = 5 };
enum { KEY_BYTES = 16, BLOCK_HASH_BYTES = 32 };
#define RATE (1.0 / RANGE_PER_VALUE)

/* Bits that a value takes on average: 19, the zero, and 1 / (e^(2^19 / 784931) - 1) ones. */
#define BITS_PER_VALUE 21.0524

static const struct tamis_option options[] = {
    {"key0", NULL, 0, UINT64_MAX, "0", "the first eight bytes of the SipHash key, little-endian"},
    {"key1", NULL, 0, UINT64_MAX, "0", "the other eight"},
    {"block", NULL, 0, 0, "key0 and key1", "the block's hash as it is shown, which has the key"},
    {0},
};

static uint64_t range_of(const uint64_t word[]) {
    return word[VALUES] * RANGE_PER_VALUE;
}

/* ---- Keys of blocks ------------------------------------------------------------------------- */

static tamis_status read_hex(const char *text, uint8_t *to, size_t n) {
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (tamis__hex_digit((uint8_t)text[i]) < 0)
            return tamis__fail(TAMIS_INVALID, "'%c' is not a hexadecimal digit", text[i]);
    if (len != 2 * n)
        return tamis__fail(TAMIS_INVALID, "has %llu hexadecimal digits, not %llu",
                           (unsigned long long)(2 * n), (unsigned long long)len);
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(tamis__hex_digit((uint8_t)text[2 * i]) << 4 |
                          tamis__hex_digit((uint8_t)text[2 * i + 1]));
    return TAMIS_OK;
}

/* Hashes are shown from their last byte to their first. */
static tamis_status read_block(const char *text, uint64_t key[2]) {
    uint8_t shown[BLOCK_HASH_BYTES], first[KEY_BYTES];
    const tamis_status rc = read_hex(text, shown, sizeof shown);
    if (rc) return rc;
    for (int i = 0; i < KEY_BYTES; i++) first[i] = shown[BLOCK_HASH_BYTES - 1 - i];
    key[0] = tamis__get64(first);
    key[1] = tamis__get64(first + 8);
    return TAMIS_OK;
}

static tamis_status read_text(tamis_params *params, size_t i, const char *value) {
    (void)i;
    return read_block(value, &params->option[OPT_KEY0]);
}

static uint64_t hash_of(const uint64_t word[], const struct tamis_key *key) {
    uint8_t secret[KEY_BYTES];
    tamis__put64(secret, word[KEY0]);
    tamis__put64(secret + 8, word[KEY1]);
    return tamis__sip24(secret, key->bytes, key->len);
}

/* ---- CompactSize ---------------------------------------------------------------------------- */

static uint64_t count_bytes(uint64_t n) {
    return n < 0xfd ? 1 : n <= UINT16_MAX ? 3 : MAX_COUNT_BYTES;
}

static uint64_t put_count(uint8_t *to, uint64_t n) {
    const uint64_t size = count_bytes(n);
    if (size > 1) *to++ = size == 3 ? 0xfd : 0xfe;
    for (uint64_t i = 0; i < size - (size > 1); i++) to[i] = (uint8_t)(n >> (8 * i));
    return size;
}

/* Its size in bytes; 0 when it is truncated, not the shortest, or over 32 bits. */
static uint64_t get_count(const tamis_input *in, uint64_t *n) {
    if (in->size == 0) return 0;
    const uint8_t first = in->bytes[0];
    const uint64_t size = first < 0xfd ? 1 : first == 0xfd ? 3 : first == 0xfe ? 5 : 0;
    if (size == 0 || in->size < size) return 0;
    *n = size == 1 ? first : 0;
    for (uint64_t i = 1; i < size; i++) *n |= (uint64_t)in->bytes[i] << (8 * (i - 1));
    return count_bytes(*n) == size ? size : 0;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t stored_bytes(uint64_t values, uint64_t bits) {
    return count_bytes(values) + (bits + 7) / 8;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const bool *has = params->has_option;
    if (has[OPT_BLOCK] && (has[OPT_KEY0] || has[OPT_KEY1]))
        return tamis__fail(TAMIS_INVALID, "block and key0, key1 conflict; give only one");
    if (params->capacity > UINT32_MAX)
        return tamis__fail(TAMIS_TOO_LARGE, "bip158 has at most 2^32-1 keys, not %llu",
                           (unsigned long long)params->capacity);
    if (params->fpr > 0 && params->fpr < RATE)
        return tamis__fail(TAMIS_INVALID, "bip158 always has the rate 1/%d, not %.3g",
                           RANGE_PER_VALUE, params->fpr);
    word[VALUES] = params->capacity;
    word[BYTES] =
        stored_bytes(params->capacity, (uint64_t)((double)params->capacity * BITS_PER_VALUE));
    word[KEY0] = params->option[OPT_KEY0];
    word[KEY1] = params->option[OPT_KEY1];
    const uint64_t bits = (word[BYTES] + 7) / 8 * 64;
    if (params->bits && bits > params->bits)
        return tamis__fail(TAMIS_INVALID, "bip158 needs about %llu bits for %llu keys, not %llu",
                           (unsigned long long)bits, (unsigned long long)params->capacity,
                           (unsigned long long)params->bits);
    return TAMIS_OK;
}

/* The sum of all differences is below the range, which limits the ones. */
static tamis_status check(const uint64_t word[], uint64_t *size) {
    const uint64_t n = word[VALUES];
    if (n > UINT32_MAX)
        return tamis__fail(TAMIS_CORRUPT, "bip158 has at most 2^32-1 values, not %llu",
                           (unsigned long long)n);
    const uint64_t min = n * (LOW_BITS + 1), max = min + (range_of(word) >> LOW_BITS);
    if (word[BYTES] < stored_bytes(n, min) || word[BYTES] > stored_bytes(n, max))
        return tamis__fail(TAMIS_CORRUPT, "%llu values of bip158 take %llu to %llu bytes, not %llu",
                           (unsigned long long)n, (unsigned long long)stored_bytes(n, min),
                           (unsigned long long)stored_bytes(n, max),
                           (unsigned long long)word[BYTES]);
    *size = (word[BYTES] + 7) / 8 * 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return 1;
}

static double rate(const uint64_t word[], uint64_t items) {
    (void)items;
    return word[VALUES] ? RATE : 0;
}

/* ---- Reading values ------------------------------------------------------------------------- */

typedef struct stream {
    const uint8_t *bytes;
    uint64_t size;     /* bytes that may be read */
    uint64_t bit, end; /* the current position, and the end */
    uint64_t value;    /* the last one */
} stream;

static stream open_stream(const tamis_body *f) {
    return (stream){.bytes = f->bytes,
                    .size = f->size,
                    .bit = 8 * count_bytes(f->word[VALUES]),
                    .end = 8 * f->word[BYTES]};
}

enum { SURE = 57 }; /* bits of a window that are valid wherever it starts */

static uint64_t window(const stream *s) {
    const uint64_t at = s->bit / 8;
    uint64_t bits = 0;
    if (at + 8 <= s->size)
        bits = tamis__get64_big(s->bytes + at);
    else
        for (uint64_t i = at; i < s->size; i++)
            bits |= (uint64_t)s->bytes[i] << (56 - 8 * (i - at));
    return bits << s->bit % 8;
}

static unsigned ones_of(uint64_t bits) {
    return ~bits ? 63 - tamis__log2_floor(~bits) : 64;
}

/* False when the stream ends before the value does. */
static bool next_value(stream *s) {
    uint64_t bits = window(s), quotient = 0;
    unsigned ones;
    while ((ones = ones_of(bits)) + 1 + LOW_BITS > SURE) {
        const unsigned some = ones < SURE - 1 ? ones : SURE - 1;
        if (s->bit + some >= s->end) return false;
        quotient += some;
        s->bit += some;
        bits = window(s);
    }
    quotient += ones;
    s->bit += ones + 1 + LOW_BITS;
    s->value += quotient << LOW_BITS | bits << (ones + 1) >> (64 - LOW_BITS);
    return s->bit <= s->end;
}

static tamis_status audit(const tamis_body *f) {
    uint8_t count[MAX_COUNT_BYTES];
    const uint64_t n = f->word[VALUES];
    stream s = open_stream(f);
    if (memcmp(f->bytes, count, (size_t)put_count(count, n)) != 0)
        return tamis__fail(TAMIS_CORRUPT, "bip158 does not start with its %llu values",
                           (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++)
        if (!next_value(&s) || s.value >= range_of(f->word))
            return tamis__fail(TAMIS_CORRUPT, "value %llu of %llu of bip158 is beyond the end",
                               (unsigned long long)i, (unsigned long long)n);
    if (s.end - s.bit >= 8)
        return tamis__fail(TAMIS_CORRUPT, "extra bytes after the last value of bip158");
    for (; s.bit < 8 * f->size; s.bit++)
        if (f->bytes[s.bit / 8] >> (7 - s.bit % 8) & 1)
            return tamis__fail(TAMIS_CORRUPT, "a bit after the last value of bip158 is set");
    return TAMIS_OK;
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* The keys of one call are sorted, so that the stream is read once for all of them. */
typedef struct target {
    uint64_t value;
    size_t index;
} target;
enum { TOGETHER = 1024 };

static void sort_targets(target *t, size_t n) {
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1}; /* Ciura's, for Shell's sort */
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < n; i++) {
            const target now = t[i];
            size_t j = i;
            for (; j >= gaps[g] && t[j - gaps[g]].value > now.value; j -= gaps[g])
                t[j] = t[j - gaps[g]];
            t[j] = now;
        }
}

static void ask_together(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) {
    target t[TOGETHER];
    stream s = open_stream(f);
    uint64_t left = f->word[VALUES];
    bool has_value = false;
    for (size_t i = 0; i < n; i++) t[i] = (target){tamis__range(hash[i], range_of(f->word)), i};
    sort_targets(t, n);
    for (size_t i = 0; i < n; i++) {
        while ((!has_value || s.value < t[i].value) && left) {
            has_value = next_value(&s);
            left--;
        }
        hit[t[i].index] = has_value && s.value == t[i].value;
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0, m; i < b.n; i += m) {
        m = b.n - i < TOGETHER ? b.n - i : TOGETHER;
        ask_together(f, b.hash + i, m, hit + i);
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

/* Hashes ascend, and then so do values. */
static tamis_status fit(const tamis_params *params, const uint64_t *hash, uint64_t n,
                        uint64_t word[]) {
    (void)params;
    if (n > UINT32_MAX)
        return tamis__fail(TAMIS_TOO_LARGE, "bip158 has at most 2^32-1 keys, not %llu",
                           (unsigned long long)n);
    word[VALUES] = n;
    uint64_t bits = n * (LOW_BITS + 1), last = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t value = tamis__range(hash[i], range_of(word));
        bits += (value - last) >> LOW_BITS;
        last = value;
    }
    word[BYTES] = stored_bytes(n, bits);
    return TAMIS_OK;
}

static void put_bits(uint8_t *to, uint64_t *bit, uint64_t bits, unsigned count) {
    while (count) {
        const unsigned room = 8 - (unsigned)(*bit % 8), now = count < room ? count : room;
        const uint64_t part = bits >> (count - now) & ((1u << now) - 1);
        to[*bit / 8] |= (uint8_t)(part << (room - now));
        *bit += now;
        count -= now;
    }
}

static tamis_status make(tamis_body *f, const uint64_t *hash, uint64_t n, uint8_t *work) {
    (void)work;
    uint64_t bit = 8 * put_count(f->bytes, n), last = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t value = tamis__range(hash[i], range_of(f->word)), gap = value - last;
        for (uint64_t ones = gap >> LOW_BITS; ones; ones--) put_bits(f->bytes, &bit, 1, 1);
        put_bits(f->bytes, &bit, gap & ((1 << LOW_BITS) - 1), 1 + LOW_BITS);
        last = value;
    }
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    out->bits = range_of(f->word);
    out->bits_set = f->word[VALUES];
    out->fpr = rate(f->word, 0);
    out->items = (struct tamis_estimate){.value = (double)f->word[VALUES]};
}

/* ---- Hashes of filters ---------------------------------------------------------------------- */

void tamis__bip158_hash(const tamis_body *f, uint8_t hash[32]) {
    tamis__sha256_twice(f->bytes, (size_t)f->word[BYTES], hash);
}

void tamis__bip158_header(const tamis_body *f, const uint8_t previous[32], uint8_t header[32]) {
    uint8_t both[2 * TAMIS_SHA256_BYTES];
    tamis__bip158_hash(f, both);
    memcpy(both + TAMIS_SHA256_BYTES, previous, TAMIS_SHA256_BYTES);
    tamis__sha256_twice(both, sizeof both, header);
}

/* ---- The kind ------------------------------------------------------------------------------- */

static const tamis_build_whole building = {
    .hash = hash_of,
    .fit = fit,
    .make = make,
    .query = query,
};

const tamis_kind tamis__bip158 = {
    .name = "bip158",
    .contract = "built once; a block filter of Bitcoin, with a false-positive rate of 1/784931",
    .word = {"values", "bytes", "key0", "key1"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = tamis__query_built,
    .sizing = &(const tamis_sizing){.read_text = read_text},
    .build = &(const tamis_build){.made = 1 << VALUES | 1 << BYTES, .whole = &building},
};

/* ---- The format ----------------------------------------------------------------------------- */

enum { PARAM_BLOCK, PARAM_KEY };

static const struct tamis_option params[] = {
    {"block", NULL, 0, 0, "key", "the block's hash as it is shown: 64 hexadecimal digits"},
    {"key", NULL, 0, 0, "block", "the SipHash key: 32 hexadecimal digits"},
};

static tamis_status read_key(const tamis_format_args *args, uint64_t key[2]) {
    uint8_t bytes[KEY_BYTES];
    if (args->has[PARAM_BLOCK] == args->has[PARAM_KEY])
        return tamis__fail(
            TAMIS_INVALID,
            "bip158 needs block=HASH or key=KEY, one of them: it is not in the bytes");
    tamis_status rc;
    if (args->has[PARAM_BLOCK]) {
        rc = read_block(args->text[PARAM_BLOCK], key);
        return rc ? tamis__fail_in(rc, "block") : TAMIS_OK;
    }
    rc = read_hex(args->text[PARAM_KEY], bytes, sizeof bytes);
    if (rc) return tamis__fail_in(rc, "key");
    key[0] = tamis__get64(bytes);
    key[1] = tamis__get64(bytes + 8);
    return TAMIS_OK;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    uint64_t key[2], n;
    const tamis_status rc = read_key(args, key);
    if (rc) return rc;
    if (!get_count(in, &n)) return tamis__bad_format("bip158", "invalid number of values");
    *out = (tamis_import_result){.kind = "bip158",
                                 .word = {n, in->size, key[0], key[1]},
                                 .capacity = n,
                                 .items = n,
                                 .payload = *in};
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const uint64_t *word = out->body->word;
    uint64_t key[2];
    if (args->has[PARAM_BLOCK] || args->has[PARAM_KEY]) {
        const tamis_status rc = read_key(args, key);
        if (rc) return rc;
        if (key[0] != word[KEY0] || key[1] != word[KEY1])
            return tamis__fail(TAMIS_INVALID, "the filter belongs to another block");
    }
    return tamis__export_write(out, out->body->bytes, word[BYTES]);
}

const tamis_format tamis__format_bip158 = {
    .name = "bip158",
    .system = "Bitcoin's basic block filters",
    .kinds = "bip158",
    .keys = "bytes",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .write = write,
};
