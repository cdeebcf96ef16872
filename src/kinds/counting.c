/* SPDX-License-Identifier: MIT */
/* counting: Bloom's filter with keys that can be removed (Fan, Cao, Almeida and Broder 1998).
 *
 * Every bit becomes a small counter: adding counts up, removing counts down, and a key is present
 * while none of its counters is zero. Beside the counters is their summary, a bit for every counter
 * that is not zero. Queries read only these bits: they are the filter that classic would have of
 * the same keys, and what a cache sends to its neighbours.
 *
 *     key ─▶ hash ─▶ position 0, position 1, ... position k-1           the chain of classic
 *
 *     counters  0 0 2 0 0 0 0 1 0 0 0 3 0 0 0 0 0 1 0 0 ...             m fields of `width` bits
 *     summary   0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 0 0 1 0 0 ...             m bits
 *     told      0 0 1 0 0 0 0 0 0 0 0 1 0 0 0 0 1 1 0 0 ...             m bits, with log=yes
 *                             ▲                 ▲
 *                      set since then    cleared since then
 *
 * With bare=yes the counters stand alone, as in the paper: a fifth less at four bits each, and a
 * query reads a counter for each probe.
 *
 * With log=yes a third array keeps the summary as last sent to the neighbours. The change log is
 * the difference of the two, so it never overflows, and reports every flip once.
 *
 * All are contiguous: `bits` is m * width, m * (width + 1) with the summary, or m * (width + 2)
 * with the log too, and positions in the summary are those in the log.
 *
 * Four bits are enough for a set: at the best k, a counter of a filter with m counters reaches 15
 * with probability 10^-15. A key that is added over and over does it alone; then its counters are
 * stuck, and it stays for good. Use it where keys come and go and a summary is needed; for removal
 * alone, increment takes half of the bits. */
#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/counters.h"
#include "kinds/kind.h"
#include "kinds/logged.h"

enum { BITS, HASHES, WIDTH, LOG, BARE };           /* shape words */
enum { OPT_HASHES, OPT_WIDTH, OPT_LOG, OPT_BARE }; /* options */
enum { NO_LOG, WITH_LOG, LOGS, WIDTH_PRESET = 4 };
enum { MAX_HASHES = TAMIS_BLOOM_MAX_HASHES };
#define MAX_BITS TAMIS_BLOOM_MAX_BITS

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the best for the rate", "probes per key, k"},
    {"width", NULL, TAMIS_MIN_WIDTH, TAMIS_MAX_WIDTH, "4", "bits of a counter"},
    {"log", "no|yes", 0, 0, "no", "keep a log of the summary's changes"},
    {"bare", "no|yes", 0, 0, "no", "counters alone, without their summary"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* A counter, its bit of the summary, and with the log the bit that was sent. */
static uint64_t bits_per_counter(const uint64_t word[]) {
    return word[BARE] ? word[WIDTH] : word[WIDTH] + 1 + word[LOG];
}

static uint64_t counters_of(const uint64_t word[]) {
    return word[BITS] / bits_per_counter(word);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[WIDTH] = tamis__chosen(params, OPT_WIDTH, WIDTH_PRESET);
    word[LOG] = tamis__chosen(params, OPT_LOG, NO_LOG);
    word[BARE] = tamis__chosen(params, OPT_BARE, 0);
    word[HASHES] = tamis__chosen(params, OPT_HASHES, 0);
    if (word[BARE] && word[LOG] == WITH_LOG)
        return tamis__fail(TAMIS_INVALID, "bare=yes has no summary, and log=yes keeps its changes");
    return tamis__cells_plan(params, "counting", bits_per_counter(word), 1, &word[BITS],
                             &word[HASHES]);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have("counting", word[HASHES], "hashes", 1, MAX_HASHES)) return TAMIS_CORRUPT;
    if (word[WIDTH] < TAMIS_MIN_WIDTH || word[WIDTH] > TAMIS_MAX_WIDTH || word[LOG] >= LOGS)
        return tamis__fail(TAMIS_CORRUPT, "counting has no counters of width %llu with log %llu",
                           (unsigned long long)word[WIDTH], (unsigned long long)word[LOG]);
    if (word[BARE] > 1 || (word[BARE] && word[LOG] == WITH_LOG))
        return tamis__fail(TAMIS_CORRUPT, "counting cannot be bare %llu with log %llu",
                           (unsigned long long)word[BARE], (unsigned long long)word[LOG]);
    if (word[BITS] == 0 || word[BITS] > MAX_BITS || word[BITS] % bits_per_counter(word))
        return tamis__fail(TAMIS_CORRUPT, "counting cannot have %llu bits: %llu for each counter",
                           (unsigned long long)word[BITS],
                           (unsigned long long)bits_per_counter(word));
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

static unsigned lacks(const uint64_t word[]) {
    return word[LOG] == WITH_LOG ? 0 : TAMIS_CAN_LOG;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__bloom_rate(items, counters_of(word), word[HASHES]);
}

static uint64_t reliable_count(const uint64_t word[]) {
    return tamis__field_mask((unsigned)word[WIDTH]);
}

/* ---- The arrays ----------------------------------------------------------------------------- */

/* A body laid out: the counters, how many have a bit in the summary (all or none), and the bits
 * where summary and told begin. */
typedef struct layout {
    tamis_cells counters;
    uint64_t summed, summary, told;
} layout;

static layout layout_of(const tamis_body *f) {
    const uint64_t n = counters_of(f->word);
    const unsigned width = (unsigned)f->word[WIDTH];
    return (layout){{f->bytes, n, width}, f->word[BARE] ? 0 : n, n * width, n * width + n};
}

/* The summary always matches the counters, and every reader may rely on that. */
static tamis_status audit(const tamis_body *f) {
    const layout at = layout_of(f);
    for (uint64_t i = 0; i < at.summed; i++)
        if (tamis__bit_get(f->bytes, at.summary + i) != (tamis__cell_get(at.counters, i) > 0))
            return tamis__fail(TAMIS_CORRUPT, "counter %llu and its bit in the summary differ",
                               (unsigned long long)i);
    return tamis__bitmap_audit(f, f->word[BITS]);
}

/* ---- Querying, adding, removing ------------------------------------------------------------- */

static bool has_counted(const tamis_body *f, uint64_t hash) {
    const tamis_probed p = tamis__cells_probed(layout_of(f).counters, f->word[HASHES]);
    return tamis__probed_has(tamis__cell_is_used, &p, hash);
}

static bool has_bit_by_bit(const tamis_body *f, const layout *at, uint64_t hash) {
    uint64_t x = tamis__chain_start(hash), i = 0;
    while (i < f->word[HASHES] &&
           tamis__bit_get(f->bytes, at->summary + tamis__chain_next(&x, at->counters.n)))
        i++;
    return i == f->word[HASHES];
}

/* The summary starts at a word unless the spec has an odd number of bits. */
static bool has_summed(const tamis_body *f, uint64_t hash) {
    const layout at = layout_of(f);
    const tamis_probed p = {.bytes = f->bytes + at.summary / 8,
                            .cells = at.counters.n,
                            .hashes = f->word[HASHES],
                            .width = 1,
                            .is_far = at.counters.n / 8 > tamis__near_bytes()};
    return at.summary % 64 == 0 ? tamis__probed_has(tamis__bit_passes, &p, hash)
                                : has_bit_by_bit(f, &at, hash);
}

static bool has(const tamis_body *f, uint64_t hash) {
    return f->word[BARE] ? has_counted(f, hash) : has_summed(f, hash);
}

static void query_counted(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_probed p = tamis__cells_probed(layout_of(f).counters, f->word[HASHES]);
    tamis__probed_query(tamis__cell_is_used, &p, b.hash, b.n, hit);
}

static void query_summed(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const layout at = layout_of(f);
    const tamis_body summary = {.bytes = f->bytes + at.summary / 8,
                                .word = {at.counters.n, f->word[HASHES]}};
    if (at.summary % 64 == 0)
        tamis__bloom_query(&summary, b, hit);
    else
        for (size_t j = 0; j < b.n; j++) hit[j] = has_bit_by_bit(f, &at, b.hash[j]);
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    if (f->word[BARE])
        query_counted(f, b, hit);
    else
        query_summed(f, b, hit);
}

/* `extra` is the first bit of the summary, in its byte. */
TAMIS_HOT void mark(const tamis_probed *p, uint64_t x, uint64_t cell) {
    (void)x;
    tamis__bit_set(p->bytes, p->extra + cell);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const layout at = layout_of(f);
    tamis_probed p = tamis__cells_probed(at.counters, f->word[HASHES]);
    tamis__probed_add(tamis__cell_count_up, &p, b.hash, b.n);
    if (!at.summed) return TAMIS_OK;
    p.bytes += at.summary / 8;
    p.extra = at.summary % 8;
    p.width = 1;
    tamis__probed_add(mark, &p, b.hash, b.n);
    return TAMIS_OK;
}

static bool add_one(tamis_body *f, uint64_t hash) {
    return add(f, tamis__hashes(&hash, 1)) == TAMIS_OK;
}

static tamis_one one(const uint64_t word[]) {
    return (tamis_one){.has = word[BARE] ? has_counted : has_summed, .add = add_one};
}

/* All counters are checked before the first goes down: where two probes meet, the counter must hold
 * both. */
static tamis_status remove_one(tamis_body *f, tamis_batch b) {
    const layout at = layout_of(f);
    const tamis_spots spots = tamis__spots_of(*b.hash, at.counters.n, f->word[HASHES]);
    if (!tamis__spots_hold(at.counters, &spots))
        return tamis__fail(TAMIS_NOT_FOUND, "the key is not in the filter: a counter is too low");
    for (unsigned i = 0; i < spots.n; i++) {
        const uint64_t position = spots.spot[i].at;
        if (tamis__cell_subtract(at.counters, position, spots.spot[i].weight) == 0 && at.summed)
            tamis__bits_put(f->bytes, at.summary + position, 1, 0);
    }
    return TAMIS_OK;
}

/* A counter that is not stuck holds every add of the key, so the smallest quotient is never too
 * low; larger ones were raised by other keys. */
static void count(const tamis_body *f, tamis_batch b, uint64_t *out) {
    const layout at = layout_of(f);
    for (size_t j = 0; j < b.n; j++) {
        const tamis_spots spots = tamis__spots_of(b.hash[j], at.counters.n, f->word[HASHES]);
        out[j] = tamis__spots_count(at.counters, &spots, NULL);
    }
}

/* ---- Sets and measuring --------------------------------------------------------------------- */

/* A merge does not change what was sent to neighbours: the log then has what is new. */
static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const layout at = layout_of(into), other = layout_of(from);
    tamis__cells_merge(at.counters, other.counters);
    for (uint64_t i = 0; i < at.summed; i++)
        if (tamis__bit_get(from->bytes, other.summary + i))
            tamis__bit_set(into->bytes, at.summary + i);
    return TAMIS_OK;
}

static tamis_status fold(const tamis_body *f, uint64_t by, uint64_t word[]) {
    return tamis__cells_fold_shape(counters_of(f->word), by, &word[BITS]);
}

/* A bit array folds by OR. Neighbours who fold their copies as well have the same `told` after it,
 * so that the log stays valid. */
static void fold_bits(tamis_body *to, uint64_t to_at, const tamis_body *from, uint64_t from_at,
                      uint64_t n, uint64_t by) {
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = i * by; j < (i + 1) * by; j++)
            if (tamis__bit_get(from->bytes, from_at + j)) tamis__bit_set(to->bytes, to_at + i);
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    const layout at = layout_of(to), old = layout_of(from);
    const uint64_t n = at.counters.n, by = old.counters.n / n;
    tamis__cells_fold(at.counters, old.counters);
    fold_bits(to, at.summary, from, old.summary, at.summed, by);
    if (to->word[LOG] == WITH_LOG) fold_bits(to, at.told, from, old.told, n, by);
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const layout at = layout_of(f);
    const tamis_cells more = other ? layout_of(other).counters : at.counters;
    tamis__cells_measure(at.counters, other ? &more : NULL, f->word[HASHES],
                         "they no longer go down when keys are removed", out);
}

/* ---- The change log ------------------------------------------------------------------------- */

static tamis_logged arrays(const tamis_body *f) {
    const layout at = layout_of(f);
    return (tamis_logged){at.counters.n, at.summary, at.told};
}

static bool next_change(const tamis_body *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    return tamis__logged_next(f->bytes, arrays(f), cursor, position, is_set);
}

static void forget_changes(tamis_body *f) {
    tamis__logged_forget(f->bytes, arrays(f));
}

static const tamis_log_facet change_log = {next_change, forget_changes, arrays};

const tamis_kind tamis__counting = {
    .name = "counting",
    .contract = "keys can be removed; never a false no while only added keys are removed",
    .word = {"bits", "hashes", "width", "log", "bare"},
    .options = options,
    .traits = TAMIS_ANY_ORDER,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_one,
    .speed = &(const tamis_speed){.has = has, .one = one},
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},
    .sets = &(const tamis_sets){.merge = merge},
    .special = &(const tamis_special){.log = &change_log},
};
