/* SPDX-License-Identifier: MIT */
/* icp: the directory summary of Summary Cache (Fan, Cao, Almeida and Broder 1998), as web caches
 * send it to each other in messages of the Internet Cache Protocol (src/jobs/icp.c).
 *
 * It is a counting filter with the positions of the protocol: the bits of the MD5 of a URL, most
 * significant first, are cut into groups of `function_bits`, and group i, modulo the number of
 * positions, is position i.
 *
 *     MD5(url)      bbbbbbbb bbbbbbbb bbbbbbbb bbbbbbbb | MD5(url url)    bbbbbbbb bbbb...
 *                   └── i=0 ──┘└── i=1 ──┘└── i=2 ──┘└── i=3, across ──┘└── i=4
 *
 * When the first digest is used up, that of the URL twice follows, then of three times, and so on.
 * With 32 bits for each of four functions, the default, one digest is enough.
 *
 *     counters  0 0 2 0 0 0 0 1 0 0 0 3 0 ...     4 bits each
 *     summary   0 0 1 0 0 0 0 1 0 0 0 1 0 ...     what neighbours should know
 *     told      0 0 1 0 0 0 0 0 0 0 0 1 0 ...     what was sent to them; the log is the difference
 *
 * With copy=yes there is the summary alone, from the first bit of the payload: what a neighbour
 * keeps. MD5 takes ten times as long as the hash of counting; use icp only where the other side
 * needs it. */
#include "bits/packed.h"
#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/foreign_hashes.h"
#include "kinds/bitmap.h"
#include "kinds/counters.h"
#include "kinds/kind.h"
#include "kinds/logged.h"

enum { BITS, HASHES, FUNCTION_BITS, COPY };       /* shape words */
enum { OPT_HASHES, OPT_FUNCTION_BITS, OPT_COPY }; /* options */
enum { WIDTH = 4, TOP = 15, UNIT = WIDTH + 2 };   /* a counter, its bit, what was sent */
enum { HASHES_PRESET = 4, MAX_HASHES = 16, MD5_BITS = 8 * TAMIS_MD5_BYTES };
enum { MIN_FUNCTION_BITS = 8, MAX_FUNCTION_BITS = 32 };
enum { MAX_DIGESTS = MAX_HASHES * MAX_FUNCTION_BITS / MD5_BITS };

/* A record of the protocol has 31 bits for a position. */
#define MAX_POSITIONS ((uint64_t)1 << 31)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "4", "functions, k"},
    {"function_bits", NULL, MIN_FUNCTION_BITS, MAX_FUNCTION_BITS, "32",
     "bits of MD5 for each function"},
    {"copy", "no|yes", 0, 0, "no", "the bits alone, as a neighbour keeps them"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t bits_per_position(const uint64_t word[]) {
    return word[COPY] ? 1 : UNIT;
}

static uint64_t positions_of(const uint64_t word[]) {
    return word[BITS] / bits_per_position(word);
}

/* The largest remainder must be reachable. */
static tamis_status reaches(tamis_status status, const uint64_t word[]) {
    const uint64_t max = (uint64_t)1 << word[FUNCTION_BITS];
    if (positions_of(word) <= (max < MAX_POSITIONS ? max : MAX_POSITIONS)) return TAMIS_OK;
    return tamis__fail(status,
                       "icp with functions of %llu bits has at most %llu positions, not %llu",
                       (unsigned long long)word[FUNCTION_BITS],
                       (unsigned long long)(max < MAX_POSITIONS ? max : MAX_POSITIONS),
                       (unsigned long long)positions_of(word));
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[HASHES] = params->has_option[OPT_HASHES] ? params->option[OPT_HASHES] : HASHES_PRESET;
    word[FUNCTION_BITS] = params->has_option[OPT_FUNCTION_BITS] ? params->option[OPT_FUNCTION_BITS]
                                                                : MAX_FUNCTION_BITS;
    word[COPY] = params->option[OPT_COPY];
    const tamis_status rc =
        tamis__cells_plan(params, "icp", bits_per_position(word), 1, &word[BITS], &word[HASHES]);
    return rc ? rc : reaches(TAMIS_TOO_LARGE, word);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[HASHES] == 0 || word[HASHES] > MAX_HASHES)
        return tamis__fail(TAMIS_CORRUPT, "icp has 1 to %d hashes, not %llu", MAX_HASHES,
                           (unsigned long long)word[HASHES]);
    if (word[FUNCTION_BITS] < MIN_FUNCTION_BITS || word[FUNCTION_BITS] > MAX_FUNCTION_BITS)
        return tamis__fail(TAMIS_CORRUPT, "icp has functions of %d to %d bits, not %llu",
                           MIN_FUNCTION_BITS, MAX_FUNCTION_BITS,
                           (unsigned long long)word[FUNCTION_BITS]);
    if (word[COPY] > 1 || word[BITS] == 0 || word[BITS] % bits_per_position(word))
        return tamis__fail(TAMIS_CORRUPT, "icp cannot have %llu bits with copy %llu",
                           (unsigned long long)word[BITS], (unsigned long long)word[COPY]);
    *size = tamis__bitmap_size(word[BITS]);
    return reaches(TAMIS_CORRUPT, word);
}

static unsigned lacks(const uint64_t word[]) {
    return word[COPY] ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_LOG : 0;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, positions_of(word), word[HASHES]);
}

static uint64_t reliable_count(const uint64_t word[]) {
    return word[COPY] ? 1 : TOP;
}

/* ---- The arrays ----------------------------------------------------------------------------- */

typedef struct layout {
    tamis_cells counters; /* none in a copy */
    uint64_t positions, summary, told;
} layout;

static layout layout_of(const tamis_body *f) {
    const uint64_t n = positions_of(f->word);
    if (f->word[COPY]) return (layout){{f->bytes, 0, WIDTH}, n, 0, 0};
    return (layout){{f->bytes, n, WIDTH}, n, n * WIDTH, n * WIDTH + n};
}

static tamis_status audit(const tamis_body *f) {
    const layout at = layout_of(f);
    for (uint64_t i = 0; i < at.counters.n; i++)
        if (tamis__bit_get(f->bytes, at.summary + i) != (tamis__cell_get(at.counters, i) > 0))
            return tamis__fail(TAMIS_CORRUPT, "counter %llu and its bit in the summary differ",
                               (unsigned long long)i);
    return tamis__bitmap_audit(f, f->word[BITS]);
}

/* ---- From a URL to positions ---------------------------------------------------------------- */

/* `width` bits from bit `from` of the digests on, the most significant first. */
static uint64_t group_of(const uint8_t *digests, unsigned from, unsigned width) {
    uint64_t group = 0;
    for (unsigned i = from; i < from + width; i++)
        group = group << 1 | (digests[i / 8] >> (7 - i % 8) & 1);
    return group;
}

/* Each position once, with the number of functions that lead there. */
static tamis_spots spots_of(const tamis_body *f, const struct tamis_key *key) {
    const unsigned width = (unsigned)f->word[FUNCTION_BITS], hashes = (unsigned)f->word[HASHES];
    const unsigned needed = (hashes * width + MD5_BITS - 1) / MD5_BITS;
    const uint64_t positions = positions_of(f->word);
    struct tamis_key again[MAX_DIGESTS];
    uint8_t digests[MAX_DIGESTS * TAMIS_MD5_BYTES];
    tamis_spots spots;
    spots.n = 0;
    for (unsigned i = 0; i < needed; i++) {
        again[i] = *key;
        tamis__md5(again, i + 1, digests + i * TAMIS_MD5_BYTES);
    }
    for (unsigned i = 0; i < hashes; i++)
        tamis__spots_add(&spots, group_of(digests, i * width, width) % positions, 1);
    return spots;
}

/* ---- Querying, adding, removing ------------------------------------------------------------- */

static bool has(const tamis_body *f, const struct tamis_key *key) {
    const layout at = layout_of(f);
    const tamis_spots spots = spots_of(f, key);
    unsigned i = 0;
    while (i < spots.n && tamis__bit_get(f->bytes, at.summary + spots.spot[i].at)) i++;
    return i == spots.n;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) hit[j] = has(f, &b.key[j]);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const layout at = layout_of(f);
    for (size_t j = 0; j < b.n; j++) {
        const tamis_spots spots = spots_of(f, &b.key[j]);
        for (unsigned i = 0; i < spots.n; i++) {
            if (at.counters.n) tamis__cell_add(at.counters, spots.spot[i].at, spots.spot[i].weight);
            tamis__bit_set(f->bytes, at.summary + spots.spot[i].at);
        }
    }
    return TAMIS_OK;
}

static tamis_status remove_key(tamis_body *f, tamis_batch b) {
    const layout at = layout_of(f);
    const tamis_spots spots = spots_of(f, b.key);
    if (!tamis__spots_hold(at.counters, &spots))
        return tamis__fail(TAMIS_NOT_FOUND, "the key is not in the filter: a counter is too low");
    for (unsigned i = 0; i < spots.n; i++)
        if (tamis__cell_subtract(at.counters, spots.spot[i].at, spots.spot[i].weight) == 0)
            tamis__bits_put(f->bytes, at.summary + spots.spot[i].at, 1, 0);
    return TAMIS_OK;
}

static void count(const tamis_body *f, tamis_batch b, uint64_t *count) {
    const layout at = layout_of(f);
    for (size_t j = 0; j < b.n; j++) {
        const tamis_spots spots = spots_of(f, &b.key[j]);
        count[j] =
            f->word[COPY] ? has(f, &b.key[j]) : tamis__spots_count(at.counters, &spots, NULL);
    }
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const layout at = layout_of(into), other = layout_of(from);
    if (at.counters.n) tamis__cells_merge(at.counters, other.counters);
    for (uint64_t i = 0; i < at.positions; i++)
        if (tamis__bit_get(from->bytes, other.summary + i))
            tamis__bit_set(into->bytes, at.summary + i);
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const layout at = layout_of(f);
    if (f->word[COPY]) {
        tamis__bitmap_measure(f, other, at.positions, f->word[HASHES], out);
        return;
    }
    const tamis_cells more = other ? layout_of(other).counters : at.counters;
    tamis__cells_measure(at.counters, other ? &more : NULL, f->word[HASHES],
                         "they no longer go down when keys are removed", out);
}

/* ---- The change log ------------------------------------------------------------------------- */

static tamis_logged arrays(const tamis_body *f) {
    const layout at = layout_of(f);
    return (tamis_logged){at.positions, at.summary, at.told};
}

static bool next_change(const tamis_body *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    return tamis__logged_next(f->bytes, arrays(f), cursor, position, is_set);
}

static void forget_changes(tamis_body *f) {
    tamis__logged_forget(f->bytes, arrays(f));
}

static const tamis_log_facet change_log = {next_change, forget_changes, arrays};

const tamis_kind tamis__icp = {
    .name = "icp",
    .contract = "a counting filter as caches send it to each other; keys can be removed",
    .word = {"bits", "hashes", "function_bits", "copy"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ANY_ORDER,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_key,
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},
    .sets = &(const tamis_sets){.merge = merge},
    .special = &(const tamis_special){.log = &change_log},
};
