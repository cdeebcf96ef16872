/* SPDX-License-Identifier: MIT */
/* orc: the Bloom filters of Apache ORC files and of Hive, one for each group of rows of a column.
 *
 * In a file they are messages of Protocol Buffers inside a stream of the stripe's index:
 *
 *     0a LENGTH filter, 0a LENGTH filter ...   the stream: a filter for each group of rows
 *
 *     08 HASHES
 *     1a LENGTH bits                           a filter since 2016: little-endian words of 64 bits
 *     11 word, 11 word ...                     or before: each word as a field of its own
 *
 * This reads a filter, or a stream of them, after decompression; finding the stream in a file is
 * for ORC's own tools. The first byte distinguishes the two, and group= selects from a stream.
 *
 * Text and binary are hashed by a MurmurHash3 of 64 bits, and numbers, dates and doubles (by their
 * bits) by Thomas Wang's hash for integers. The message does not record the type of the column:
 * column=number treats keys of 8 bytes as numbers. Positions follow as in Guava's first strategy,
 * in 32 bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bits/bits.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"

enum { BITS, HASHES, COLUMN };
enum { BYTES, NUMBER, COLUMNS };
enum { OPT_HASHES, OPT_COLUMN };
#define MAX_BITS ((uint64_t)INT32_MAX / 64 * 64)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as ORC does", "probes per key, k"},
    {"column", "bytes|number", 0, 0, "bytes", "what the column holds: text, or numbers of 8 bytes"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

/* A shift that keeps the sign, as in Java. */
static uint64_t shift(uint64_t x, unsigned by) {
    return x >> by | (x >> 63 ? ~(UINT64_MAX >> by) : 0);
}

static uint64_t wang(uint64_t x) {
    x = ~x + (x << 21);
    x = (x ^ shift(x, 24)) * 265;
    x = (x ^ shift(x, 14)) * 21;
    x ^= shift(x, 28);
    return x + (x << 31);
}

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    const bool is_number = word[COLUMN] == NUMBER && key->len == 8;
    const uint64_t h = is_number ? wang(tamis__get64(key->bytes)) : tamis__murmur3_orc(key);
    walk->a = (uint32_t)h;
    walk->b = h >> 32;
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint32_t now = (uint32_t)(walk->a + walk->b);
    walk->a = now;
    return (now >> 31 ? ~now : now) % word[BITS];
}

static const tamis_bloomlike like = {
    .name = "orc", .has_steps = true, .begin = begin, .next = next};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    const double min = floor(tamis__like_bits_for(params->capacity, params->fpr));
    if (params->bits ? params->bits > MAX_BITS + 63 : min >= (double)MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "orc has less than 2^31 bits");
    /* Up to the next multiple of 64, also from one. */
    word[BITS] = params->bits ? params->bits / 64 * 64 : ((uint64_t)min / 64 + 1) * 64;
    word[HASHES] = tamis__like_hashes(params, floor((double)word[BITS] / keys * log(2) + 0.5));
    word[COLUMN] = params->option[OPT_COLUMN];
    if (word[BITS]) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "orc has words of 64 bits, and at least one");
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[COLUMN] >= COLUMNS)
        return tamis__fail(TAMIS_CORRUPT, "orc has no column word %llu",
                           (unsigned long long)word[COLUMN]);
    return tamis__like_check(&like, word, 64, MAX_BITS, size);
}

/* ---- The kind ------------------------------------------------------------------------------- */

const tamis_kind tamis__orc = {
    .name = "orc",
    .contract = "a Bloom filter that Apache ORC and Hive can read and write",
    .word = {"bits", "hashes", "column"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = tamis__like_start,
    .audit = tamis__like_audit,
    .measure = tamis__like_measure,
    .query = tamis__foreign_bloom_query,
    .add = tamis__like_add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- Messages ------------------------------------------------------------------------------- */

enum { TAG_FILTER = 0x0a, TAG_HASHES = 0x08, TAG_WORD = 0x11, TAG_BITS = 0x1a };

typedef struct cursor {
    const uint8_t *at, *end;
} cursor;

static bool take_number(cursor *c, uint64_t *x) {
    *x = 0;
    for (unsigned shift_by = 0; shift_by < 35; shift_by += 7) {
        if (c->at == c->end) return false;
        const uint8_t byte = *c->at++;
        *x |= (uint64_t)(byte & 0x7f) << shift_by;
        if (byte < 0x80) return shift_by == 0 || byte > 0; /* in the shortest form */
    }
    return false;
}

static bool take_piece(cursor *c, cursor *piece) {
    uint64_t size;
    if (!take_number(c, &size) || size > (uint64_t)(c->end - c->at)) return false;
    *piece = (cursor){c->at, c->at + size};
    c->at += size;
    return true;
}

/* One filter: its hashes, and where its bits are; in the old form a tag precedes each word. */
typedef struct message {
    uint64_t hashes, words;
    const uint8_t *bits;
    bool is_old;
} message;

static bool take_filter(cursor c, message *m) {
    cursor bits;
    if (c.at == c.end || *c.at++ != TAG_HASHES || !take_number(&c, &m->hashes) || c.at == c.end)
        return false;
    m->is_old = *c.at == TAG_WORD;
    m->bits = c.at + 1;
    m->words = (uint64_t)(c.end - c.at) / 9;
    if (m->is_old) {
        for (uint64_t i = 0; i < m->words; i++)
            if (c.at[9 * i] != TAG_WORD) return false;
        return (c.end - c.at) % 9 == 0;
    }
    if (*c.at++ != TAG_BITS || !take_piece(&c, &bits) || c.at != c.end) return false;
    m->bits = bits.at;
    m->words = (uint64_t)(bits.end - bits.at) / 8;
    return m->words && (bits.end - bits.at) % 8 == 0;
}

/* ---- The format ----------------------------------------------------------------------------- */

enum { SAID_COLUMN, SAID_GROUP, SAID_STREAM };

static const struct tamis_option params[] = {
    {"column", "bytes|number", 0, 0, "bytes", "what the column holds: text, or numbers of 8 bytes"},
    {"group", NULL, 0, UINT32_MAX, NULL, "which of a stream of filters, from 0 on"},
    {"stream", "utf8|original", 0, 0, "utf8", "how the bits are written; both are read"},
};

static tamis_status broken(void) {
    return tamis__bad_format("orc", "neither a filter nor a stream of filters");
}

/* Finds the requested filter in a stream, and counts them all. */
static tamis_status walk_stream(const tamis_input *in, uint64_t wanted, cursor *found,
                                uint64_t *count) {
    cursor c = {in->bytes, in->bytes + in->size};
    for (*count = 0; c.at != c.end; ++*count) {
        cursor piece;
        if (*c.at++ != TAG_FILTER || !take_piece(&c, &piece)) return broken();
        if (*count == wanted) *found = piece;
    }
    return TAMIS_OK;
}

static bool is_stream(const tamis_input *in) {
    return in->size && in->bytes[0] == TAG_FILTER;
}

static tamis_status choose(const tamis_input *in, const tamis_format_args *args, cursor *c) {
    uint64_t count;
    *c = (cursor){in->bytes, in->bytes + in->size};
    if (!is_stream(in)) return TAMIS_OK;
    const tamis_status rc = walk_stream(in, args->number[SAID_GROUP], c, &count);
    if (rc) return rc;
    if (count > 1 && !args->has[SAID_GROUP])
        return tamis__fail(TAMIS_INVALID,
                           "a stream of %llu filters: group=0 to group=%llu says which",
                           (unsigned long long)count, (unsigned long long)(count - 1));
    if (args->number[SAID_GROUP] < count) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "the stream has %llu filters, but no group %llu",
                       (unsigned long long)count, (unsigned long long)args->number[SAID_GROUP]);
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    cursor c;
    message m;
    const tamis_status rc = choose(in, args, &c);
    if (rc) return rc;
    if (!take_filter(c, &m) || m.words > MAX_BITS / 64) return broken();
    *out = (tamis_import_result){
        .kind = "orc",
        .word = {m.words * 64, m.hashes, args->number[SAID_COLUMN]},
        .capacity = tamis__like_capacity(m.words * 64, m.hashes),
        .at = {(uint64_t)(m.bits - in->bytes), m.is_old ? 9 : 8},
    };
    return TAMIS_OK;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *arrival, tamis_body *f) {
    for (uint64_t i = 0; i < f->word[BITS] / 64; i++)
        memcpy(f->bytes + 8 * i, in->bytes + arrival->at[0] + arrival->at[1] * i, 8);
    return TAMIS_OK;
}

static tamis_status find(const tamis_input *in, const tamis_format_args *args, tamis_finder *each,
                         void *ctx) {
    cursor c = {in->bytes, in->bytes + in->size}, piece = c;
    message m;
    (void)args;
    for (uint64_t i = 0; c.at != c.end || in->size == 0; i++) {
        char name[64] = "one filter", choose_by[32] = "";
        if (is_stream(in)) {
            if (*c.at++ != TAG_FILTER || !take_piece(&c, &piece)) return broken();
            snprintf(name, sizeof name, "group %llu of rows", (unsigned long long)i);
            snprintf(choose_by, sizeof choose_by, "group=%llu", (unsigned long long)i);
        } else {
            c.at = c.end;
        }
        if (!take_filter(piece, &m)) return broken();
        const struct tamis_found found = {.name = name,
                                          .choose = choose_by,
                                          .kind = "orc",
                                          .size = (uint64_t)(piece.end - piece.at)};
        if (!each(ctx, &found)) break;
    }
    return TAMIS_OK;
}

static size_t put_number(uint8_t *to, uint64_t x) {
    size_t n = 0;
    for (; x >= 0x80; x >>= 7) to[n++] = (uint8_t)(x | 0x80);
    to[n++] = (uint8_t)x;
    return n;
}

static tamis_status write_words(const tamis_export_source *out) {
    const tamis_body *f = out->body;
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; !rc && i < f->word[BITS] / 64; i++) {
        uint8_t field[9] = {TAG_WORD};
        memcpy(field + 1, f->bytes + 8 * i, 8);
        rc = tamis__export_write(out, field, sizeof field);
    }
    return rc;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const tamis_body *f = out->body;
    uint8_t head[24] = {TAG_HASHES};
    size_t n = 1 + put_number(head + 1, f->word[HASHES]);
    if (args->number[SAID_STREAM]) {
        const tamis_status rc = tamis__export_write(out, head, n);
        return rc ? rc : write_words(out);
    }
    head[n++] = TAG_BITS;
    n += put_number(head + n, f->word[BITS] / 8);
    const tamis_status rc = tamis__export_write(out, head, n);
    return rc ? rc : tamis__export_write(out, f->bytes, f->word[BITS] / 8);
}

const tamis_format tamis__format_orc = {
    .name = "orc",
    .system = "Apache ORC and Hive, a filter or the stream of a column",
    .kinds = "orc",
    .keys = "utf8 int64 double bytes",
    .limits = "the stream, decompressed, not the file around it; column= must be said of numbers",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .find = find,
    .read = read,
    .load = load,
    .write = write,
};
