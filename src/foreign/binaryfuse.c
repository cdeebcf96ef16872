/* SPDX-License-Identifier: MIT */
/* binary-fuse: binary fuse filters of the C library xor_singleheader (binary_fuse8_t,
 * binary_fuse16_t), as binary_fuse8_serialize and binary_fuse16_serialize write them on
 * little-endian machines.
 *
 *     seed        8 bytes
 *     size        4 bytes   keys, n
 *     segment     4 bytes   slots in a segment, a power of two
 *     segments    4 bytes   that a key may start in, s
 *     starts      4 bytes   s * segment
 *     slots       4 bytes   (s + 2) * segment
 *     table       1 or 2 bytes for each slot
 *
 * A key is a 64-bit integer. It has three slots, one in each of three consecutive segments, and is
 * present when the XOR of their fingerprints is its own (Graf and Lemire, "Binary fuse filters",
 * 2022). The library can also omit the slots that are 0 (binary_fuse8_pack):
 *
 *     seed, size, a bit for each slot, the slots that are not 0
 *
 * Neither encodes whether slots have one byte or two; lengths show it for the first, and the user
 * gives it for the second. How keys of other types became integers is up to users: the library has
 * no hash for them. */
#include <math.h>
#include <string.h>

#include "bits/probe.h"
#include "foreign/built_once.h"
#include "foreign/bytes.h"
#include "foreign/format.h"

enum { SEED, SIZE, SEGMENT, SEGMENTS, WIDTH };
enum { OPT_WIDTH };
enum { WIDTH_8, WIDTH_16, WIDTHS };
enum { HEADER = 28, PACKED_HEADER = 12, ARITY = 3, MAX_SEGMENT = 1 << 18, TRIES = 100 };
enum { UNUSED_BYTES = 4 };

static const struct tamis_option options[] = {
    {"width", "8|16", 0, 0, "by fpr or size", "bits of a fingerprint"},
    {0},
};

static uint64_t slots_of(const uint64_t word[]) {
    return (word[SEGMENTS] + ARITY - 1) * word[SEGMENT];
}

static uint64_t slot_bytes(const uint64_t word[]) {
    return word[WIDTH] == WIDTH_16 ? 2 : 1;
}

static uint64_t stored_bytes(const uint64_t word[]) {
    return HEADER + slots_of(word) * slot_bytes(word);
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* The library's own rule; doubles as there, for the same sizes. */
static void shape_for(uint64_t n, uint64_t word[]) {
    const double keys = (double)n;
    double slots = 0;
    word[SIZE] = n;
    word[SEGMENT] = 4;
    if (n > 0) {
        const uint64_t segment = (uint64_t)1 << (unsigned)floor(log(keys) / log(3.33) + 2.25);
        word[SEGMENT] = segment < MAX_SEGMENT ? segment : MAX_SEGMENT;
    }
    if (n > 1) slots = round(keys * fmax(1.125, 0.875 + 0.25 * log(1000000.0) / log(keys)));
    const uint64_t all = ((uint64_t)slots + word[SEGMENT] - 1) / word[SEGMENT];
    word[SEGMENTS] = all < ARITY ? 1 : all - (ARITY - 1);
}

static double rate_of(uint64_t width) {
    return width == WIDTH_16 ? 1.0 / 65536 : 1.0 / 256;
}

/* The narrowest that keeps the rate, or the widest that fits. */
static uint64_t width_for(const tamis_params *params, const uint64_t word[]) {
    if (params->has_option[OPT_WIDTH]) return params->option[OPT_WIDTH];
    if (params->bits == 0) return params->fpr < rate_of(WIDTH_8) ? WIDTH_16 : WIDTH_8;
    return (HEADER + 2 * slots_of(word) + 7) / 8 * 64 <= params->bits ? WIDTH_16 : WIDTH_8;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    if (params->capacity > UINT32_MAX)
        return tamis__fail(TAMIS_TOO_LARGE,
                           "binary-fuse has at most 2^32 slots: %llu keys need more",
                           (unsigned long long)params->capacity);
    if (params->fpr > 0 && params->fpr < rate_of(WIDTH_16))
        return tamis__fail(TAMIS_INVALID, "binary-fuse has the rates 1/256 and 1/65536, not %.3g",
                           params->fpr);
    shape_for(params->capacity, word);
    word[WIDTH] = width_for(params, word);
    if (slots_of(word) > UINT32_MAX)
        return tamis__fail(TAMIS_TOO_LARGE,
                           "binary-fuse has at most 2^32 slots: %llu keys need more",
                           (unsigned long long)params->capacity);
    const uint64_t bits = (stored_bytes(word) + 7) / 8 * 64;
    if (params->bits && bits > params->bits)
        return tamis__fail(TAMIS_INVALID, "binary-fuse needs %llu bits for %llu keys, not %llu",
                           (unsigned long long)bits, (unsigned long long)params->capacity,
                           (unsigned long long)params->bits);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const uint64_t segment = word[SEGMENT], segments = word[SEGMENTS];
    if (segment > MAX_SEGMENT || !tamis__is_power_of_two(segment))
        return tamis__fail(TAMIS_CORRUPT, "a segment of binary-fuse has 1 to 2^18 slots, not %llu",
                           (unsigned long long)segment);
    if (segments == 0 || segments > UINT32_MAX || slots_of(word) > UINT32_MAX ||
        word[SIZE] > UINT32_MAX || word[WIDTH] >= WIDTHS)
        return tamis__fail(TAMIS_CORRUPT, "binary-fuse cannot have %llu keys in %llu segments",
                           (unsigned long long)word[SIZE], (unsigned long long)segments);
    *size = (stored_bytes(word) + 7) / 8 * 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return ARITY;
}

static double rate(const uint64_t word[], uint64_t items) {
    (void)items;
    return rate_of(word[WIDTH]);
}

/* ---- The header ----------------------------------------------------------------------------- */

static void put_header(const uint64_t word[], uint8_t to[HEADER]) {
    tamis__put64(to, word[SEED]);
    tamis__put32(to + 8, (uint32_t)word[SIZE]);
    tamis__put32(to + 12, (uint32_t)word[SEGMENT]);
    tamis__put32(to + 16, (uint32_t)word[SEGMENTS]);
    tamis__put32(to + 20, (uint32_t)(word[SEGMENTS] * word[SEGMENT]));
    tamis__put32(to + 24, (uint32_t)slots_of(word));
}

static tamis_status audit(const tamis_body *f) {
    uint8_t header[HEADER];
    put_header(f->word, header);
    if (memcmp(f->bytes, header, HEADER) != 0)
        return tamis__fail(TAMIS_CORRUPT, "the header of binary-fuse does not match its shape");
    return tamis__audit_padding(f, stored_bytes(f->word));
}

/* ---- Slots ---------------------------------------------------------------------------------- */

typedef struct places {
    uint32_t at[ARITY];
} places;

static places places_of(const uint64_t word[], uint64_t mixed) {
    const uint32_t segment = (uint32_t)word[SEGMENT], mask = segment - 1;
    const uint32_t first = (uint32_t)tamis__range(mixed, word[SEGMENTS] * segment);
    return (places){{first, (first + segment) ^ ((uint32_t)(mixed >> 18) & mask),
                     (first + 2 * segment) ^ ((uint32_t)mixed & mask)}};
}

static uint32_t get_slot(const uint8_t *table, uint64_t width, uint64_t i) {
    return width == WIDTH_8 ? table[i] : table[2 * i] | (uint32_t)table[2 * i + 1] << 8;
}

static void put_slot(uint8_t *table, uint64_t width, uint64_t i, uint32_t x) {
    if (width == WIDTH_8) {
        table[i] = (uint8_t)x;
        return;
    }
    table[2 * i] = (uint8_t)x;
    table[2 * i + 1] = (uint8_t)(x >> 8);
}

static uint32_t print_of(uint64_t width, uint64_t mixed) {
    return (uint32_t)(mixed ^ mixed >> 32) & (width == WIDTH_8 ? 0xff : 0xffff);
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* Slots of many keys are prefetched before the first is read. */
enum { TOGETHER = 32 };

static void ask_together(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) {
    const uint64_t width = f->word[WIDTH];
    const uint8_t *table = f->bytes + HEADER;
    places p[TOGETHER];
    uint32_t print[TOGETHER];
    for (size_t i = 0; i < n; i++) {
        const uint64_t mixed = tamis__mix(hash[i] + f->word[SEED]);
        p[i] = places_of(f->word, mixed);
        print[i] = print_of(width, mixed);
        for (int j = 0; j < ARITY; j++) __builtin_prefetch(table + ((uint64_t)p[i].at[j] << width));
    }
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < ARITY; j++) print[i] ^= get_slot(table, width, p[i].at[j]);
        hit[i] = print[i] == 0;
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0, m; i < b.n; i += m) {
        m = b.n - i < TOGETHER ? b.n - i : TOGETHER;
        ask_together(f, b.hash + i, m, hit + i);
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

/* Per slot, as in the library: how many keys have it, the XOR of which of their three it is, and
 * the XOR of their hashes. A slot with one key identifies that key, which is removed; keys then get
 * their fingerprints in the opposite order. The order decides the bytes, so it is that of the
 * library: from the last slot with one key to the first, as a stack. */
typedef struct peeling {
    uint64_t *hash;  /* by slot */
    uint64_t *order; /* hashes of keys in order of removal ... */
    uint32_t *alone; /* slots of one key, a stack */
    uint8_t *count;  /* by slot: 4 for each key, plus which of three */
    uint8_t *which;  /* ... and the slot that identified them */
    uint64_t slots, stacked, taken;
} peeling;

static uint64_t work_size(const uint64_t word[], uint64_t n) {
    return slots_of(word) * (8 + 4 + 1) + n * (8 + 1);
}

static peeling open_peeling(const uint64_t word[], uint64_t n, uint8_t *work) {
    const uint64_t slots = slots_of(word);
    peeling p = {.slots = slots, .hash = (uint64_t *)(void *)work};
    p.order = p.hash + slots;
    p.alone = (uint32_t *)(void *)(p.order + n);
    p.count = (uint8_t *)(p.alone + slots);
    p.which = p.count + slots;
    return p;
}

/* False when a slot has more keys than it can count. */
static bool add_all(peeling *p, const uint64_t word[], const uint64_t *key, uint64_t n) {
    memset(p->hash, 0, (size_t)p->slots * sizeof *p->hash);
    memset(p->count, 0, (size_t)p->slots);
    p->stacked = p->taken = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t mixed = tamis__mix(key[i] + word[SEED]);
        const places at = places_of(word, mixed);
        for (unsigned j = 0; j < ARITY; j++) {
            uint8_t *count = &p->count[at.at[j]];
            *count = (uint8_t)((*count + 4) ^ j);
            p->hash[at.at[j]] ^= mixed;
            if (*count < 4) return false;
        }
    }
    return true;
}

/* Removes the key from the j-th of its slots, which may leave one key there. */
static void leave(peeling *p, uint32_t slot, unsigned j, uint64_t mixed) {
    if (p->count[slot] >> 2 == 2) p->alone[p->stacked++] = slot;
    p->count[slot] = (uint8_t)((p->count[slot] - 4) ^ j);
    p->hash[slot] ^= mixed;
}

static void take_away(peeling *p, const uint64_t word[]) {
    for (uint64_t i = 0; i < p->slots; i++)
        if (p->count[i] >> 2 == 1) p->alone[p->stacked++] = (uint32_t)i;
    while (p->stacked) {
        const uint32_t slot = p->alone[--p->stacked];
        if (p->count[slot] >> 2 != 1) continue;
        const uint64_t mixed = p->hash[slot];
        const unsigned j = p->count[slot] & 3;
        const places at = places_of(word, mixed);
        p->order[p->taken] = mixed;
        p->which[p->taken++] = (uint8_t)j;
        leave(p, at.at[(j + 1) % ARITY], (j + 1) % ARITY, mixed);
        leave(p, at.at[(j + 2) % ARITY], (j + 2) % ARITY, mixed);
    }
}

static void put_prints(const peeling *p, const uint64_t word[], uint8_t *table) {
    const uint64_t width = word[WIDTH];
    for (uint64_t i = p->taken; i-- > 0;) {
        const places at = places_of(word, p->order[i]);
        const unsigned j = p->which[i];
        put_slot(table, width, at.at[j],
                 print_of(width, p->order[i]) ^ get_slot(table, width, at.at[(j + 1) % ARITY]) ^
                     get_slot(table, width, at.at[(j + 2) % ARITY]));
    }
}

/* The library's sequence of seeds: SplitMix64 from a fixed start. */
static uint64_t next_seed(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static tamis_status fit(const tamis_params *params, const uint64_t *hash, uint64_t n,
                        uint64_t word[]) {
    (void)params, (void)hash;
    shape_for(n, word); /* plan() refuses too many */
    return TAMIS_OK;
}

static tamis_status make(tamis_body *f, const uint64_t *hash, uint64_t n, uint8_t *work) {
    peeling p = open_peeling(f->word, n, work);
    uint64_t state = 0x726b2b9d438b9d4d;
    for (int i = 0; i < TRIES; i++) {
        f->word[SEED] = next_seed(&state);
        if (!add_all(&p, f->word, hash, n)) continue;
        take_away(&p, f->word);
        if (p.taken != n) continue;
        put_header(f->word, f->bytes);
        put_prints(&p, f->word, f->bytes + HEADER);
        return TAMIS_OK;
    }
    return tamis__fail(TAMIS_UNSUPPORTED,
                       "none of %d seeds makes a binary fuse filter of these keys", TRIES);
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    out->bits = slots_of(f->word) * slot_bytes(f->word) * 8;
    out->bits_set = tamis__count_ones(f->bytes + HEADER, NULL, out->bits / 8);
    out->fpr = rate(f->word, 0);
    out->items = (struct tamis_estimate){.value = (double)f->word[SIZE]};
}

/* ---- The kind ------------------------------------------------------------------------------- */

static uint64_t hash_of(const uint64_t word[], const struct tamis_key *key) {
    (void)word;
    return key->len == 8 ? tamis__get64(key->bytes) : 0;
}

static const tamis_build_whole building = {
    .key_bytes = 8,
    .hash = hash_of,
    .fit = fit,
    .work = work_size,
    .make = make,
    .query = query,
};

const tamis_kind tamis__binary_fuse = {
    .name = "binary-fuse",
    .contract = "built once of 64-bit integers; the binary fuse filter of xor_singleheader",
    .word = {"seed", "size", "segment", "segments", "width"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = tamis__query_built,
    .build = &(const tamis_build){.made = 1 << SEED | 1 << SIZE | 1 << SEGMENT | 1 << SEGMENTS,
                                  .whole = &building},
};

/* ---- The format ----------------------------------------------------------------------------- */

enum { PARAM_WIDTH };

static const struct tamis_option params[] = {
    {"width", "8|16", 0, 0, "by the length", "bits of a fingerprint"},
};

/* Fingerprints have one byte or two, and four bytes may follow: the library allocates that many
 * more than it writes. */
static bool width_by_length(uint64_t table, uint64_t slots, uint64_t *width) {
    *width = table == slots ? WIDTH_8 : WIDTH_16;
    return table == slots || table == 2 * slots || table == 2 * slots + UNUSED_BYTES;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    if (in->size < HEADER) return tamis__too_short("binary-fuse", in, HEADER);
    const uint8_t *p = in->bytes;
    const uint64_t segment = tamis__get32(p + 12), segments = tamis__get32(p + 16);
    const uint64_t starts = tamis__get32(p + 20), slots = tamis__get32(p + 24);
    if (starts != segment * segments || slots != starts + (ARITY - 1) * segment)
        return tamis__bad_format("binary-fuse",
                                 "%llu segments of %llu do not have %llu starts and %llu slots",
                                 (unsigned long long)segments, (unsigned long long)segment,
                                 (unsigned long long)starts, (unsigned long long)slots);
    uint64_t width;
    if (!width_by_length(in->size - HEADER, slots, &width) ||
        (args->has[PARAM_WIDTH] && args->number[PARAM_WIDTH] != width))
        return tamis__bad_format("binary-fuse", "%llu slots of %s bits do not make %llu bytes",
                                 (unsigned long long)slots,
                                 !args->has[PARAM_WIDTH]                ? "8 or 16"
                                 : args->number[PARAM_WIDTH] == WIDTH_8 ? "8"
                                                                        : "16",
                                 (unsigned long long)in->size);
    const uint64_t size = tamis__get32(p + 8);
    *out = (tamis_import_result){.kind = "binary-fuse",
                                 .word = {tamis__get64(p), size, segment, segments, width},
                                 .capacity = size,
                                 .fpr = rate_of(width),
                                 .items = size,
                                 .payload = {p, HEADER + (slots << width), NULL}};
    return TAMIS_OK;
}

static tamis_status may_be_written(const tamis_export_source *out, const tamis_format_args *args) {
    if (!args->has[PARAM_WIDTH] || args->number[PARAM_WIDTH] == out->body->word[WIDTH])
        return TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED, "the filter has fingerprints of %s bits",
                       out->body->word[WIDTH] == WIDTH_8 ? "8" : "16");
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const tamis_status rc = may_be_written(out, args);
    return rc ? rc : tamis__export_write(out, out->body->bytes, stored_bytes(out->body->word));
}

const tamis_format tamis__format_binary_fuse = {
    .name = "binary-fuse",
    .system = "xor_singleheader binary_fuse8_serialize, binary_fuse16_serialize",
    .kinds = "binary-fuse",
    .keys = "int64",
    .limits = "as written on little-endian machines",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .write = write,
};

/* ---- The packed format ---------------------------------------------------------------------- */

static const struct tamis_option packed_params[] = {
    {"width", "8|16", 0, 0, "none: it is not in the bytes", "bits of a fingerprint"},
};

/* The shape follows from the number of keys, so the library made it by the same rule. */
static tamis_status read_packed(const tamis_input *in, const tamis_format_args *args,
                                tamis_import_result *out) {
    if (!args->has[PARAM_WIDTH])
        return tamis__fail(TAMIS_INVALID, "binary-fuse-packed needs width=8 or width=16");
    if (in->size < PACKED_HEADER) return tamis__too_short("binary-fuse-packed", in, PACKED_HEADER);
    const uint64_t size = tamis__get32(in->bytes + 8), width = args->number[PARAM_WIDTH];
    *out = (tamis_import_result){.kind = "binary-fuse",
                                 .word = {tamis__get64(in->bytes)},
                                 .capacity = size,
                                 .fpr = rate_of(width),
                                 .items = size};
    shape_for(size, out->word);
    out->word[WIDTH] = width;
    const uint64_t slots = slots_of(out->word), map = (slots + 7) / 8;
    if (in->size - PACKED_HEADER < map)
        return tamis__bad_format("binary-fuse-packed",
                                 "%llu keys have %llu slots, but not a bit for each",
                                 (unsigned long long)size, (unsigned long long)slots);
    const uint64_t used = tamis__count_ones(in->bytes + PACKED_HEADER, NULL, map) << width;
    if (in->size - PACKED_HEADER - map != used)
        return tamis__bad_format("binary-fuse-packed", "there are %llu bytes of slots, not %llu",
                                 (unsigned long long)(in->size - PACKED_HEADER - map),
                                 (unsigned long long)used);
    return TAMIS_OK;
}

static tamis_status load_packed(const tamis_input *in, const tamis_import_result *a,
                                tamis_body *f) {
    const uint64_t slots = slots_of(a->word), width = a->word[WIDTH];
    const uint8_t *map = in->bytes + PACKED_HEADER, *from = map + (slots + 7) / 8;
    put_header(a->word, f->bytes);
    for (uint64_t i = 0; i < (slots + 7) / 8 * 8; i++) {
        if (!(map[i / 8] >> i % 8 & 1)) continue;
        const uint32_t x = i < slots ? get_slot(from, width, 0) : 0;
        if (x == 0)
            return tamis__bad_format("binary-fuse-packed", "a slot that is 0 is not omitted");
        put_slot(f->bytes + HEADER, width, i, x);
        from += slot_bytes(a->word);
    }
    return TAMIS_OK;
}

/* In pieces, first the bits, then the slots. */
static tamis_status put_map(const tamis_export_source *out, const uint8_t *table, uint64_t width,
                            uint64_t slots) {
    uint8_t piece[512];
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < slots && !rc; i += 8 * sizeof piece) {
        const uint64_t n = slots - i < 8 * sizeof piece ? slots - i : 8 * sizeof piece;
        memset(piece, 0, sizeof piece);
        for (uint64_t j = 0; j < n; j++)
            piece[j / 8] |= (uint8_t)((get_slot(table, width, i + j) != 0) << j % 8);
        rc = tamis__export_write(out, piece, (n + 7) / 8);
    }
    return rc;
}

static tamis_status put_slots(const tamis_export_source *out, const uint8_t *table, uint64_t width,
                              uint64_t slots) {
    uint8_t piece[512];
    uint64_t used = 0, bytes = (uint64_t)1 << width;
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < slots && !rc; i++) {
        const uint32_t x = get_slot(table, width, i);
        if (x == 0) continue;
        put_slot(piece + used, width, 0, x);
        used += bytes;
        if (used < sizeof piece) continue;
        rc = tamis__export_write(out, piece, used);
        used = 0;
    }
    return rc ? rc : tamis__export_write(out, piece, used);
}

static tamis_status write_packed(const tamis_export_source *out, const tamis_format_args *args) {
    const uint64_t *word = out->body->word;
    uint64_t same[TAMIS_WORDS] = {0};
    tamis_status rc = may_be_written(out, args);
    if (rc) return rc;
    shape_for(word[SIZE], same);
    if (same[SEGMENT] != word[SEGMENT] || same[SEGMENTS] != word[SEGMENTS])
        return tamis__fail(TAMIS_UNSUPPORTED, "%llu keys have other segments in binary-fuse-packed",
                           (unsigned long long)word[SIZE]);
    const uint8_t *table = out->body->bytes + HEADER;
    rc = tamis__export_write(out, out->body->bytes, PACKED_HEADER);
    if (!rc) rc = put_map(out, table, word[WIDTH], slots_of(word));
    return rc ? rc : put_slots(out, table, word[WIDTH], slots_of(word));
}

const tamis_format tamis__format_binary_fuse_packed = {
    .name = "binary-fuse-packed",
    .system = "xor_singleheader binary_fuse8_pack, binary_fuse16_pack",
    .kinds = "binary-fuse",
    .keys = "int64",
    .limits = "as written on little-endian machines",
    .params = packed_params,
    .param_count = sizeof packed_params / sizeof *packed_params,
    .read = read_packed,
    .load = load_packed,
    .write = write_packed,
};
