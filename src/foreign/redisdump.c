/* SPDX-License-Identifier: MIT */
/* redis-dump: what DUMP returns for a filter of RedisBloom, and RESTORE takes.
 *
 *     7                      one byte: a value of a module
 *     module and version     9 letters of 6 bits and a version of 10: MBbloom--, MBbloomCF
 *                            or CMSk-TYPE
 *     fields                 2 and a number, 4 and a double, or 5 and a string, each
 *     0                      the end of them
 *     RDB version            2 bytes, little-endian
 *     CRC-64                 8 bytes, of everything before them
 *
 * Numbers, in Redis called lengths, have 1, 2, 5 or 9 bytes: 00nnnnnn, 01nnnnnn and a byte, 80 and
 * four bytes, 81 and eight, all big-endian. A string is its length and bytes; where it starts with
 * 11, it is c0, c1, c2 and a little-endian number whose digits are the string, or c3, two lengths
 * and LZF. Redis writes the first for digits and the second for what gets smaller by four bytes or
 * more.
 *
 *     BF    keys, links, options (from version 2), expansion (from 4); for each link: capacity,
 *           error, hashes, bits per key, bits and n2 (from 1), string of bits, keys
 *     CF    filters, buckets, items, then from version 4 deletes, bucket size, iterations,
 *           expansion; for each sub-filter: buckets (from 4), string of cells
 *     CMS   width, depth, counter, string of cells; there is version 0 alone */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sums.h"
#include "foreign/bytes.h"
#include "foreign/foreign_hashes.h"
#include "foreign/format.h"
#include "foreign/lzf.h"
#include "foreign/redis.h"

enum { NUMBER = 2, DOUBLE = 4, STRING = 5, MODULE = 7, FOOTER = 10 };
enum { VERSION_BITS = 10, NOW = 4, HAS_BITS = 1, HAS_OPTIONS = 2, HAS_GROWTH = 4 };
enum { MIN_RDB = 8, MAX_RDB = 80, RDB_USUAL = 10 };
enum { PARAM_RDB };
#define BF_NAME  ((uint64_t)0x3016e5a289bef804 >> VERSION_BITS)
#define CF_NAME  ((uint64_t)0x3016e5a289821404 >> VERSION_BITS)
#define CMS_NAME ((uint64_t)0x08c4a4f9360f1000 >> VERSION_BITS)

static const struct tamis_option params[] = {
    {"rdb", NULL, MIN_RDB, MAX_RDB, "10", "the RDB version to write; servers take no newer ones"},
};

/* ---- Reading the fields --------------------------------------------------------------------- */

/* The rest of the bytes. After the first fault `why` describes it, and everything that is read is
 * 0. */
typedef struct cursor {
    const uint8_t *p;
    uint64_t left;
    const char *why;
} cursor;

static const uint8_t *take(cursor *c, uint64_t n) {
    static const uint8_t nothing[9];
    if (!c->why && n > c->left) c->why = "it ends inside a field";
    if (c->why) return nothing;
    c->p += n;
    c->left -= n;
    return c->p - n;
}

static uint64_t take_length(cursor *c) {
    const uint8_t first = *take(c, 1);
    if (first >> 6 == 0) return first;
    if (first >> 6 == 1) return (uint64_t)(first & 63) << 8 | *take(c, 1);
    if (first == 0x80) return tamis__get32_big(take(c, 4));
    if (first == 0x81) return tamis__get64_big(take(c, 8));
    c->why = "a length starts with an invalid byte";
    return 0;
}

static void expect(cursor *c, uint64_t opcode) {
    if (take_length(c) != opcode && !c->why) c->why = "a field is of another type";
}

static uint64_t take_number(cursor *c, uint64_t max) {
    expect(c, NUMBER);
    const uint64_t number = take_length(c);
    if (number > max) c->why = "a number is too large for its field";
    return c->why ? 0 : number;
}

static double take_double(cursor *c) {
    expect(c, DOUBLE);
    return tamis__double_of_bits(tamis__get64(take(c, 8)));
}

/* A string in the bytes, and its size when unpacked. */
typedef struct text {
    const uint8_t *bytes;
    uint64_t stored, length;
    bool is_packed;
    char digits[12];
} text;

static int32_t take_small(cursor *c, uint8_t first) {
    if (first == 0xc0) return (int8_t)*take(c, 1);
    if (first == 0xc1) return (int16_t)tamis__get16(take(c, 2));
    return (int32_t)tamis__get32(take(c, 4));
}

static void take_packed(cursor *c, text *t) {
    uint64_t length = 0;
    t->stored = take_length(c);
    t->length = take_length(c);
    t->bytes = take(c, t->stored);
    t->is_packed = true;
    if (c->why) return;
    if (!tamis__lzf_length(t->bytes, t->stored, &length) || length != t->length)
        c->why = "a string does not unpack to its length";
}

static text take_string(cursor *c) {
    text t = {.bytes = NULL};
    expect(c, STRING);
    const uint8_t first = c->left && !c->why ? *c->p : 0;
    if (first >> 6 != 3) {
        t.stored = t.length = take_length(c);
        t.bytes = take(c, t.length);
    } else if (first == 0xc3) {
        take(c, 1);
        take_packed(c, &t);
    } else if (first > 0xc3) {
        c->why = "a string has an unknown form";
    } else {
        take(c, 1);
        t.length = (uint64_t)snprintf(t.digits, sizeof t.digits, "%ld", (long)take_small(c, first));
    }
    if (c->why) t = (text){.bytes = NULL};
    return t;
}

static void unpack(const text *t, uint8_t *to) {
    if (t->is_packed)
        tamis__lzf_unpack(t->bytes, t->stored, to);
    else
        memcpy(to, t->bytes ? t->bytes : (const uint8_t *)t->digits, (size_t)t->length);
}

/* ---- Reading filters ------------------------------------------------------------------------ */

/* All are read twice: first for words and sizes, with `to` NULL; then into the payload, of which
 * `at` bytes are filled. */
typedef struct target {
    uint8_t *to;
    uint64_t at, version;
    uint64_t *word;
    tamis_import_result *out;
} target;

static void place(target *t, const text *s) {
    if (t->to) unpack(s, t->to + t->at);
    t->at += s->length;
}

/* Before the field existed, the number of bits followed from the rest. */
static uint64_t bits_of_old(cursor *c, const tamis_bf_link *link) {
    const double bits = (double)link->entries * link->bpe;
    if (bits >= 1 && bits < (double)TAMIS_MAX_PAYLOAD_BYTES) return (uint64_t)bits;
    if (!c->why) c->why = "a link has no bits";
    return 0;
}

static tamis_bf_link take_link(cursor *c, target *t) {
    tamis_bf_link link = {.entries = take_number(c, UINT64_MAX)};
    link.error = take_double(c);
    link.hashes = (uint32_t)take_number(c, UINT32_MAX);
    link.bpe = take_double(c);
    link.bits = t->version >= HAS_BITS ? take_number(c, UINT64_MAX) : bits_of_old(c, &link);
    link.n2 = t->version >= HAS_BITS ? (uint8_t)take_number(c, UINT8_MAX) : 0;
    const text bits = take_string(c);
    link.bytes = bits.length;
    link.size = take_number(c, UINT64_MAX);
    if (t->version >= NOW && !c->why && (link.bits / 8 != link.bytes || link.bits % 8))
        c->why = "the bytes and bits of a link do not match";
    if (!c->why) place(t, &bits);
    return link;
}

static void take_bloom(cursor *c, target *t) {
    tamis_bf_header h = {.size = take_number(c, UINT64_MAX)};
    tamis_bf_link first = {.bytes = 0};
    h.links = (uint32_t)take_number(c, UINT32_MAX);
    h.options = t->version >= HAS_OPTIONS ? (uint32_t)take_number(c, UINT32_MAX) : 0;
    h.growth = t->version >= HAS_GROWTH ? (uint32_t)take_number(c, UINT32_MAX) : 2;
    if (h.links == 0 && !c->why) c->why = "there is no link";
    t->at = TAMIS_BF_HEADER + (uint64_t)h.links * TAMIS_BF_LINK;
    for (uint64_t i = 0; i < h.links && !c->why; i++) {
        const tamis_bf_link link = take_link(c, t);
        if (t->to) tamis__bf_put_link(t->to, i, link);
        if (i == 0) first = link;
    }
    if (t->to) {
        tamis__bf_put_header(t->to, h);
        return;
    }
    tamis__bf_words(h, first, t->at, t->word);
    t->out->items = h.size;
    t->out->capacity = first.entries;
    t->out->fpr = h.options & TAMIS_BF_NO_SCALING ? first.error : 2 * first.error;
}

static tamis_cf_header take_cuckoo_header(cursor *c, uint64_t version) {
    tamis_cf_header h = {.bucket_size = 2, .iterations = 20, .expansion = 1}; /* old defaults */
    h.filters = take_number(c, UINT16_MAX);
    h.buckets = take_number(c, UINT64_MAX);
    h.items = take_number(c, UINT64_MAX);
    if (version < HAS_GROWTH) return h;
    h.deletes = take_number(c, UINT64_MAX);
    h.bucket_size = (uint16_t)take_number(c, UINT16_MAX);
    h.iterations = (uint16_t)take_number(c, UINT16_MAX);
    h.expansion = (uint16_t)take_number(c, UINT16_MAX);
    return h;
}

/* Words are checked before sizes follow from them. */
static bool is_legal_cuckoo(cursor *c, tamis_cf_header h, uint64_t word[]) {
    const tamis_kind *kind = tamis__kind_by_name("rediscuckoo", strlen("rediscuckoo"))->kind;
    uint64_t size;
    if (c->why) return false;
    if (tamis__cf_words(h, word) || kind->check(word, &size))
        c->why = "its shape is invalid for CF";
    return !c->why;
}

static void take_cuckoo(cursor *c, target *t) {
    const tamis_cf_header h = take_cuckoo_header(c, t->version);
    t->at = TAMIS_CF_HEADER;
    if (!is_legal_cuckoo(c, h, t->word)) return;
    for (uint64_t i = 0; i < h.filters && !c->why; i++) {
        const uint64_t cells = tamis__cf_size(t->word, i);
        const uint64_t buckets = t->version >= HAS_GROWTH ? take_number(c, UINT64_MAX) : h.buckets;
        const text s = take_string(c);
        if (!c->why && (s.length != cells || buckets != cells / h.bucket_size))
            c->why = "the size of a sub-filter does not follow from the first";
        if (!c->why) place(t, &s);
    }
    if (t->to) {
        tamis__cf_put_header(t->to, h);
        return;
    }
    t->out->items = h.items;
    t->out->capacity = tamis__cf_size(t->word, 0);
}

static void take_sketch(cursor *c, target *t) {
    tamis_cms_header h = {.width = take_number(c, UINT64_MAX)};
    uint64_t bytes = 0;
    h.depth = take_number(c, UINT64_MAX);
    h.counter = take_number(c, UINT64_MAX);
    const text cells = take_string(c);
    if (!c->why &&
        (tamis__cms_words(h, t->word, &bytes) || cells.length != bytes - TAMIS_CMS_HEADER))
        c->why = "its cells do not match width and depth";
    if (c->why) return;
    t->at = TAMIS_CMS_HEADER;
    place(t, &cells);
    if (t->to) {
        tamis__cms_put_header(t->to, h);
        return;
    }
    t->out->items = h.counter;
}

/* The types, and the version in which we write each, the newest. */
static const struct type {
    uint64_t name, now;
    const char *kind;
    void (*take)(cursor *, target *);
} types[] = {
    {BF_NAME, NOW, "redisbloom", take_bloom},
    {CF_NAME, NOW, "rediscuckoo", take_cuckoo},
    {CMS_NAME, 0, "rediscms", take_sketch},
};
enum { TYPES = sizeof types / sizeof *types };

/* From the module's name to the end of the fields. */
static void take_filter(cursor *c, target *t) {
    const uint64_t module = take_length(c), name = module >> VERSION_BITS;
    size_t i = 0;
    t->version = module & (((uint64_t)1 << VERSION_BITS) - 1);
    while (i < TYPES && types[i].name != name) i++;
    if (i == TYPES && !c->why) c->why = "it is none of MBbloom--, MBbloomCF and CMSk-TYPE";
    if (!c->why && t->version > types[i].now) c->why = "its encoding is newer than we know";
    if (c->why) return;
    if (t->out) t->out->kind = types[i].kind;
    types[i].take(c, t);
    if (take_length(c) != 0 && !c->why) c->why = "there are more fields than there should be";
}

/* ---- Reading -------------------------------------------------------------------------------- */

static tamis_status check_footer(const tamis_input *in) {
    if (in->size < 1 + FOOTER)
        return tamis__bad_format("redis-dump", "%llu bytes, the end alone has 10",
                                 (unsigned long long)in->size);
    const uint8_t *footer = in->bytes + in->size - FOOTER;
    const unsigned rdb = tamis__get16(footer);
    if (rdb < MIN_RDB || rdb > MAX_RDB)
        return tamis__bad_format("redis-dump", "RDB version %u is not in %d to %d", rdb, MIN_RDB,
                                 MAX_RDB);
    if (!tamis__sums_match(tamis__get64(footer + 2), tamis__crc64(0, in->bytes, in->size - 8)))
        return tamis__bad_format("redis-dump", "the checksum is wrong");
    if (in->bytes[0] != MODULE)
        return tamis__bad_format("redis-dump", "a value of type %d, not of a module (7)",
                                 in->bytes[0]);
    return TAMIS_OK;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    const tamis_status rc = check_footer(in);
    (void)args;
    if (rc) return rc;
    cursor c = {.p = in->bytes + 1, .left = in->size - 1 - FOOTER};
    target t = {.word = out->word, .out = out};
    take_filter(&c, &t);
    if (!c.why && c.left) c.why = "extra bytes after the fields";
    return c.why ? tamis__bad_format("redis-dump", "%s", c.why) : TAMIS_OK;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *arrival, tamis_body *f) {
    uint64_t word[TAMIS_WORDS];
    cursor c = {.p = in->bytes + 1, .left = in->size - 1 - FOOTER};
    target t = {.to = f->bytes, .word = word};
    memcpy(word, arrival->word, sizeof word);
    take_filter(&c, &t);
    return TAMIS_OK; /* it was read before */
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* The output with its checksum; the first failure stays. */
typedef struct output {
    const tamis_export_source *out;
    uint64_t crc;
    tamis_status rc;
    uint8_t *memory; /* for packing */
} output;

static void put(output *o, const uint8_t *bytes, uint64_t n) {
    o->crc = tamis__crc64(o->crc, bytes, n);
    if (!o->rc) o->rc = tamis__export_write(o->out, bytes, n);
}

static void put_length(output *o, uint64_t n) {
    uint8_t b[9];
    if (n < 64) {
        b[0] = (uint8_t)n;
        put(o, b, 1);
    } else if (n < 1 << 14) {
        b[0] = (uint8_t)(0x40 | n >> 8), b[1] = (uint8_t)n;
        put(o, b, 2);
    } else if (n <= UINT32_MAX) {
        b[0] = 0x80;
        tamis__put32_big(b + 1, (uint32_t)n);
        put(o, b, 5);
    } else {
        b[0] = 0x81;
        tamis__put64_big(b + 1, n);
        put(o, b, 9);
    }
}

static void put_number(output *o, uint64_t n) {
    put_length(o, NUMBER);
    put_length(o, n);
}

static void put_double(output *o, double x) {
    uint8_t b[8];
    tamis__put64(b, tamis__bits_of_double(x));
    put_length(o, DOUBLE);
    put(o, b, sizeof b);
}

/* Are the bytes the decimal digits of a 32-bit number? */
static bool is_number(const uint8_t *bytes, uint64_t n, int32_t *number) {
    int64_t x = 0;
    char again[16];
    if (n - 1 >= 11) return false; /* none, or too many */
    for (uint64_t i = bytes[0] == '-'; i < n; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') return false;
        x = x * 10 + (bytes[i] - '0');
    }
    if (bytes[0] == '-') x = -x;
    if (x < INT32_MIN || x > INT32_MAX) return false;
    *number = (int32_t)x;
    const int len = snprintf(again, sizeof again, "%ld", (long)x); /* no 007, and no -0 */
    return (uint64_t)len == n && memcmp(again, bytes, (size_t)n) == 0;
}

static void put_small(output *o, int32_t x) {
    const int bytes = x == (int8_t)x ? 1 : x == (int16_t)x ? 2 : 4;
    uint8_t b[5] = {(uint8_t)(bytes == 4 ? 0xc2 : 0xbf + bytes)};
    tamis__put32(b + 1, (uint32_t)x);
    put(o, b, 1 + (uint64_t)bytes);
}

enum { PACK_FROM = 21, PACK_SAVES = 4 };

static uint64_t pack(output *o, const uint8_t *bytes, uint64_t n, uint8_t **packed) {
    if (n < PACK_FROM) return 0;
    *packed = o->memory + TAMIS_LZF_SEEN * sizeof(uint64_t);
    return tamis__lzf_pack(bytes, n, (uint64_t *)(void *)o->memory, *packed, n - PACK_SAVES);
}

static void put_string(output *o, const uint8_t *bytes, uint64_t n) {
    const uint8_t packed_mark = 0xc3;
    uint8_t *packed;
    int32_t small;
    put_length(o, STRING);
    if (is_number(bytes, n, &small)) {
        put_small(o, small);
        return;
    }
    const uint64_t size = pack(o, bytes, n, &packed);
    if (size) {
        put(o, &packed_mark, 1);
        put_length(o, size);
    }
    put_length(o, n);
    put(o, size ? packed : bytes, size ? size : n);
}

static void put_bloom(output *o, const tamis_body *f) {
    const uint8_t *payload = f->bytes;
    const tamis_bf_header h = tamis__bf_header(payload);
    const uint8_t *bits = payload + TAMIS_BF_HEADER + (uint64_t)h.links * TAMIS_BF_LINK;
    put_number(o, h.size);
    put_number(o, h.links);
    put_number(o, h.options);
    put_number(o, h.growth);
    for (uint64_t i = 0; i < h.links; i++) {
        const tamis_bf_link link = tamis__bf_link(payload, i);
        put_number(o, link.entries);
        put_double(o, link.error);
        put_number(o, link.hashes);
        put_double(o, link.bpe);
        put_number(o, link.bits);
        put_number(o, link.n2);
        put_string(o, bits, link.bytes);
        put_number(o, link.size);
        bits += link.bytes;
    }
}

static void put_cuckoo(output *o, const tamis_body *f) {
    const tamis_cf_header h = tamis__cf_header(f->bytes);
    const uint64_t fields[] = {h.filters,     h.buckets,    h.items,    h.deletes,
                               h.bucket_size, h.iterations, h.expansion};
    const uint8_t *cells = f->bytes + TAMIS_CF_HEADER;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) put_number(o, fields[i]);
    for (uint64_t i = 0; i < h.filters; i++) {
        const uint64_t size = tamis__cf_size(f->word, i);
        put_number(o, size / h.bucket_size);
        put_string(o, cells, size);
        cells += size;
    }
}

static void put_sketch(output *o, const tamis_body *f) {
    const tamis_cms_header h = tamis__cms_header(f->bytes);
    uint64_t word[TAMIS_WORDS], bytes = TAMIS_CMS_HEADER;
    tamis__cms_words(h, word, &bytes);
    put_number(o, h.width);
    put_number(o, h.depth);
    put_number(o, h.counter);
    put_string(o, f->bytes + TAMIS_CMS_HEADER, bytes - TAMIS_CMS_HEADER);
}

static void put_footer(output *o, uint64_t rdb) {
    uint8_t b[8];
    tamis__put16(b, (uint16_t)rdb);
    put(o, b, 2);
    tamis__put64(b, o->crc);
    put(o, b, 8);
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    static void (*const puts[TYPES])(output *, const tamis_body *) = {put_bloom, put_cuckoo,
                                                                      put_sketch};
    size_t i = 0;
    while (strcmp(types[i].kind, out->kind) != 0) i++;
    const uint64_t room = TAMIS_LZF_SEEN * sizeof(uint64_t) + out->body->size;
    const uint8_t type = MODULE;
    output o = {.out = out};
    const tamis_status rc = types[i].name == BF_NAME ? tamis__bf_may_leave(out->body) : TAMIS_OK;
    if (rc) return rc;
    o.memory = out->memory->alloc(out->memory->ctx, (size_t)room);
    if (!o.memory)
        return tamis__fail(TAMIS_NOMEM, "no memory for %llu bytes to compress in",
                           (unsigned long long)room);
    put(&o, &type, 1);
    put_length(&o, types[i].name << VERSION_BITS | types[i].now);
    puts[i](&o, out->body);
    put_length(&o, 0);
    put_footer(&o, args->has[PARAM_RDB] ? args->number[PARAM_RDB] : RDB_USUAL);
    out->memory->free(out->memory->ctx, o.memory, (size_t)room);
    return o.rc;
}

const tamis_format tamis__format_redis_dump = {
    .name = "redis-dump",
    .system = "Redis DUMP of a RedisBloom BF, CF or CMS",
    .kinds = "redisbloom rediscuckoo rediscms",
    .keys = "bytes utf8",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .has_magic = true,
    .read = read,
    .load = load,
    .write = write,
};
