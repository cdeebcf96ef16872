/* SPDX-License-Identifier: MIT */
/* compaction: a hash table of signatures instead of keys (Wolper and Leroy 1993, Stern and Dill
 * 1996).
 *
 * Model checkers keep the states that they have visited in a hash table. Hash compaction stores a
 * few bits of a hash for each state instead of the state itself. A key walks from slot to slot
 * until it finds its own signature and is present, or an empty slot and is not.
 *
 *     hash ─▶ slot and signature, next slot and signature, ...
 *
 *     | a | - | b | c | - | s | d | - | ...          slots of a few bits, - is empty
 *                   ▲       ▲
 *                   1       2                        1: c is not mine, go on; 2: s is, found
 *
 *     payload:  used | slots
 *
 * A non-member meets its signature by chance in one of the cells on its way, and the fuller the
 * table the longer the way; so the rate follows from the load. A key that meets its signature when
 * it is added is not stored, because the two cannot be distinguished: a state search omits it.
 *
 * Three ways to continue. Uniform jumps to a random slot each time and needs few steps. Double
 * hashing jumps by a step of the key's own, as Stern and Dill did, and needs as few. Linear takes
 * the next slot, which suits caches and needs more bits. After many jumps, or when its steps have
 * led round to the first slot (the number of slots need not be prime), a walk continues as linear,
 * so that every walk ends whatever the table.
 *
 * In the papers a key has one signature for its whole walk. Then neighbouring cells tend to differ
 * (a key that met an equal one was omitted), and no formula knew how much: at a rate of 10 % linear
 * probing had 3 % more than it should. With another signature for each step the cells are
 * independent.
 *
 * Nothing is ever removed: a hole would hide what was stored after it. */
#include <math.h>

#include "kinds/bitmap.h"
#include "kinds/bloom.h"
#include "kinds/fp_table.h"
#include "kinds/kind.h"

enum { SLOTS, SIGNATURE, PROBING };     /* shape words */
enum { UNIFORM, LINEAR, DOUBLE, WAYS }; /* values of PROBING */
enum { OPT_PROBING };

enum { MIN_SLOTS = 2, MIN_WIDTH = 2, HEAD_WORDS = 1, MAX_JUMPS = 256 };

/* Nine tenths of the slots may be used; beyond that walks become long. */
enum { LOAD_PARTS = 9, LOAD_OF = 10 };

static const struct tamis_option options[] = {
    {"probing", "uniform|linear|double", 0, 0, "uniform", "where to look next"},
    {0},
};

/* ---- The false-positive rate ----------------------------------------------------------------- */

/* Both ways, with n distinct keys added to m slots, x = n/m, and signatures of V values. Fewer than
 * n are stored: false positives are not, which is the whole difficulty.
 *
 * Uniform. Every cell is occupied with probability a = used/m, independently, so the number of
 * cells passed is geometric and the rate is a/(V(1-a) + a). Each key is stored unless it is a false
 * positive; so dx/da = 1 + a/(V(1-a)), and x = a - (ln(1-a) + a)/V. */
static double uniform_chance(double load, double values) {
    return load / (values * (1 - load) + load);
}

static double uniform_keys(double load, double values) {
    return load - (log1p(-load) + load) / values;
}

static double uniform_load(double keys, double values) {
    double load = keys; /* from above: not all are stored */
    for (int i = 0; i < 50; i++) {
        const double step =
            (uniform_keys(load, values) - keys) * (1 - uniform_chance(load, values));
        load -= step;
        if (fabs(step) < load * 1e-12) break;
    }
    return load;
}

/* Linear. Runs of occupied cells join as keys are added. With w = 1-x, following the second and the
 * third moment of their lengths gives the rate to second order in 1/V,
 *
 *     A/V - B/V^2        A = (w^-2 - 1)/2
 *                        B = x^2 w^-4 + (3 w^-4 - 2 w^-3 - 3 w^-2 + 2)/6
 *
 * where A is Knuth's mean length, the first part of B is the growth that runs lack for keys that
 * were not stored, and the rest is for cells that would have answered twice.
 * A/V / sqrt(1 + 2B/(AV)) has the same two terms and stays valid where the sum turns negative:
 * within 1.2 % of simulated tables up to a rate of 0.12, and too high above, by 8 % at 0.2. */
static double linear_chance(double keys, double values) {
    const double x = keys, v = 1 / (1 - x), v2 = v * v;
    const double a = (v2 - 1) / 2;
    const double b = x * x * v2 * v2 + (3 * v2 * v2 - 2 * v2 * v - 3 * v2 + 2) / 6;
    return x > 0 ? a / values / sqrt(1 + 2 * b / (a * values)) : 0;
}

/* Used slots after n keys: all except the false positives, by Simpson's rule. */
static double linear_load(double keys, double values) {
    enum { PANELS = 64 };
    double sum = 0;
    for (int i = 0; i <= PANELS; i++)
        sum += (i == 0 || i == PANELS ? 1
                : i % 2               ? 4
                                      : 2) *
               linear_chance(keys * i / PANELS, values);
    return keys - sum * keys / (3 * PANELS);
}

static double linear_keys(double load, double values) {
    double keys = load;
    for (int i = 0; i < 50; i++) {
        const double step = (load - linear_load(keys, values)) / (1 - linear_chance(keys, values));
        keys = fmin(keys + step, (1 + load) / 2);
        if (fabs(step) < load * 1e-12) break;
    }
    return keys;
}

static double chance_after(uint64_t probing, double keys, double values) {
    return probing == LINEAR ? linear_chance(keys, values)
                             : uniform_chance(uniform_load(keys, values), values);
}

/* Keys per slot, at most `max`, that keep the rate. */
static double keys_for(uint64_t probing, double fpr, double values, double max) {
    if (chance_after(probing, max, values) <= fpr) return max;
    double low = 0, high = max;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        *(chance_after(probing, middle, values) > fpr ? &high : &low) = middle;
    }
    return low;
}

/* ---- Small tables --------------------------------------------------------------------------- */

/* Random jumps meet a slot again, and with another signature, so that all probes are independent:
 * used/slots. Double hashing meets different slots, as far as its cycle goes, and linear probing
 * always. With one slot more in the denominator the mean number of different cells,
 * used/(slots - used + 1), is exact for small tables too. */
static double per_slot(uint64_t probing, double n, uint64_t slots) {
    return n / ((double)slots + (probing != UNIFORM));
}

/* Cells that a non-member passes on average in m slots with n random keys, by linear probing:
 * Knuth, The Art of Computer Programming, 6.4, theorem K. The A above, for large tables, is 30 %
 * more with 100 keys and 5 % with 1000. */
static double mean_passed(double m, double n) {
    double sum = 0, term = 1;
    for (double k = 1; k <= n && term > sum * 1e-15; k++) {
        term *= (n - k + 1) / m;
        sum += (k + 1) * term;
    }
    return sum / 2;
}

static double in_large_table(const uint64_t word[], double keys) {
    const double values = (double)tamis__field_mask((unsigned)word[SIGNATURE]);
    const double x = per_slot(word[PROBING], keys, word[SLOTS]), v = 1 / (1 - x);
    const double chance = chance_after(word[PROBING], x, values);
    if (word[PROBING] != LINEAR) return chance;
    return chance * mean_passed((double)word[SLOTS], keys) * 2 / (v * v - 1);
}

/* The probability that a given cell is the first of a run of j cells between two empty ones: from
 * the same theorem. */
static double run_chance(double m, double used, double j) {
    const double outside = m - j - 1, rest = used - j;
    const double ways = lgamma(used + 1) - lgamma(j + 1) - lgamma(rest + 1);
    const double inside = (j - 1) * log(j + 1) - used * log(m);
    if (outside == 0) return exp(ways + inside);
    if (outside == rest) return 0;
    return exp(ways + inside + (rest - 1) * log(outside) + log(outside - rest));
}

/* With `used` slots in use. By linear probing a non-member comes to any cell of a run, or to the
 * empty one after it, and passes the rest; by double hashing it passes one cell more if the next of
 * all slots is used as well. */
static double in_small_table(const uint64_t word[], unsigned used) {
    const double m = (double)word[SLOTS], n = used;
    const double values = (double)tamis__field_mask((unsigned)word[SIGNATURE]);
    const double miss = 1 - 1 / values;
    double sum = 0, passed = 1;
    if (word[PROBING] == UNIFORM) return uniform_chance(n / m, values);
    for (unsigned j = 1; j <= used; j++) {
        passed *= (n - j + 1) / (m - j + 1);
        sum += word[PROBING] == DOUBLE
                   ? passed * pow(miss, j - 1) / values
                   : run_chance(m, n, j) * (j + 1 - (1 - pow(miss, j + 1)) * values);
    }
    return sum;
}

/* So few keys that each counts: the number of slots they use has a distribution. (That keys which
 * are not stored would have gone to long runs is ignored: 4 % too much for linear probing at a rate
 * of 20 %, less than 1 % below 1 %.) */
enum { FEW = 64 };

static double after_few(const uint64_t word[], unsigned keys) {
    double share[FEW + 1] = {1}, chance[FEW + 1], sum = 0;
    for (unsigned used = 0; used <= keys; used++) chance[used] = in_small_table(word, used);
    for (unsigned key = 0; key < keys; key++)
        for (unsigned used = key + 1; used-- > 0;) {
            share[used + 1] += share[used] * (1 - chance[used]);
            share[used] *= chance[used];
        }
    for (unsigned used = 0; used <= keys; used++) sum += share[used] * chance[used];
    return sum;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t limit(uint64_t slots) {
    return slots / LOAD_OF * LOAD_PARTS + slots % LOAD_OF * LOAD_PARTS / LOAD_OF;
}

static uint64_t slots_for(uint64_t keys) {
    const uint64_t slots =
        keys / LOAD_PARTS * LOAD_OF + (keys % LOAD_PARTS * LOAD_OF + LOAD_PARTS - 1) / LOAD_PARTS;
    return slots < MIN_SLOTS ? MIN_SLOTS : slots;
}

static tamis_table_design design_of(uint64_t keys) {
    return (tamis_table_design){
        .kind = "compaction",
        .min_places = slots_for(keys),
        .share = 1,
        .min_width = MIN_WIDTH,
        .cells = 1,
        .head_bits = HEAD_WORDS * 64,
    };
}

static double rate(const uint64_t word[], uint64_t items) {
    const uint64_t max = limit(word[SLOTS]), keys = items < max ? items : max;
    return keys <= FEW ? after_few(word, (unsigned)keys) : in_large_table(word, (double)keys);
}

/* Double hashing visits all slots when their number is prime. In large tables hardly any walk gets
 * so far; in one of 38 slots every 37th returns after two, and 7 % more non-members pass. */
static uint64_t prime_from(uint64_t slots) {
    const uint64_t large = (uint64_t)1 << 20;
    for (; slots < large; slots++) {
        uint64_t factor = 2;
        while (factor * factor <= slots && slots % factor) factor++;
        if (factor * factor > slots) break;
    }
    return slots;
}

static uint64_t slots_from(uint64_t probing, uint64_t slots) {
    return probing == DOUBLE ? prime_from(slots) : slots;
}

/* The fewest slots for signatures of `width` bits, for the rate and for the load. 0 when that is
 * too many. */
static uint64_t slots_at_rate(const tamis_params *params, tamis_table_design d, uint64_t probing,
                              unsigned width) {
    const double keys = params->capacity ? (double)params->capacity : 1, rounding = 1e-9;
    const double x = keys_for(probing, params->fpr, (double)tamis__field_mask(width),
                              (double)LOAD_PARTS / LOAD_OF);
    const double wanted = ceil(keys / x * (1 + rounding)) - (probing != UNIFORM);
    if (wanted <= (double)d.min_places) return slots_from(probing, d.min_places);
    if (!(wanted < (double)TAMIS_TABLE_MAX_CLASSES)) return 0;
    return slots_from(probing, tamis__round_up((uint64_t)wanted, 1, TAMIS_TABLE_MAX_CLASSES));
}

/* Wider signatures allow a higher load; narrower ones make more slots cheap. */
static bool plan_for_rate(const tamis_params *params, tamis_table_design d, uint64_t word[]) {
    double min = INFINITY;
    for (unsigned width = MIN_WIDTH; width <= TAMIS_TABLE_MAX_WIDTH; width++) {
        const uint64_t slots = slots_at_rate(params, d, word[PROBING], width);
        const double bits = (double)slots * width;
        if (!tamis__table_fits(d, slots, width) || bits >= min) continue;
        min = bits;
        word[SLOTS] = slots;
        word[SIGNATURE] = width;
    }
    /* The formulas for large tables may be a slot or two short in small ones. */
    while (!isinf(min) && params->capacity <= FEW && rate(word, params->capacity) > params->fpr)
        word[SLOTS] = slots_from(word[PROBING], word[SLOTS] + 1);
    return !isinf(min);
}

static bool plan_for_size(const tamis_params *params, tamis_table_design d, uint64_t word[]) {
    double best = INFINITY;
    for (unsigned width = MIN_WIDTH; width <= TAMIS_TABLE_MAX_WIDTH; width++) {
        const uint64_t slots = tamis__table_places(params, d, width);
        const uint64_t tried[TAMIS_WORDS] = {
            [SLOTS] = slots,
            [SIGNATURE] = width,
            [PROBING] = word[PROBING],
        };
        if (!tamis__table_fits(d, slots, width)) continue;
        const double fpr = rate(tried, params->capacity);
        if (fpr >= best) continue;
        best = fpr;
        word[SLOTS] = slots;
        word[SIGNATURE] = width;
    }
    return !isinf(best);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_table_design d = design_of(params->capacity);
    word[PROBING] = tamis__chosen(params, OPT_PROBING, UNIFORM);
    if (params->bits ? plan_for_size(params, d, word) : plan_for_rate(params, d, word))
        return TAMIS_OK;
    return tamis__table_refuse(params, d);
}

static tamis_table table_of(const uint64_t word[], uint8_t *bytes) {
    return tamis__table(bytes, word[SLOTS], 1, (unsigned)word[SIGNATURE], false);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[PROBING] >= WAYS)
        return tamis__fail(TAMIS_CORRUPT, "compaction has probing 0 to %d, not %llu", WAYS - 1,
                           (unsigned long long)word[PROBING]);
    if (!tamis__table_fits(design_of(0), word[SLOTS], word[SIGNATURE]))
        return tamis__fail(TAMIS_CORRUPT, "compaction cannot have %llu slots of %llu bits",
                           (unsigned long long)word[SLOTS], (unsigned long long)word[SIGNATURE]);
    *size = HEAD_WORDS * 8 + tamis__table_size(table_of(word, NULL));
    return TAMIS_OK;
}

/* Cells that a non-member passes on average when the table is full; walks have no useful bound. */
static uint64_t probes(const uint64_t word[]) {
    const uint64_t by_jumps = LOAD_OF / (LOAD_OF - LOAD_PARTS);
    return word[PROBING] == LINEAR ? (1 + by_jumps * by_jumps) / 2 : by_jumps;
}

/* ---- Access --------------------------------------------------------------------------------- */

static tamis_table slots_of(const tamis_body *f) {
    return table_of(f->word, f->bytes + HEAD_WORDS * 8);
}

static uint64_t room(const tamis_body *f) {
    return limit(f->word[SLOTS]) - tamis__used_of(f);
}

TAMIS_HOT uint64_t slot_get(const tamis_table *t, uint64_t slot) {
    return tamis__field_get(t->bytes, slot, t->width);
}

/* A walk: the current slot, the signature expected there, and the next slot. */
typedef struct walk {
    uint64_t slot, signature, x;
    uint64_t first, step; /* of double hashing; the step is 0 otherwise */
    unsigned jumps;
} walk;

TAMIS_HOT walk walk_start(const tamis_body *f, const tamis_table *t, uint64_t hash) {
    walk w = {.x = tamis__chain_start(tamis__mix(hash)),
              .jumps = f->word[PROBING] == LINEAR ? 0 : MAX_JUMPS};
    w.first = w.slot = tamis__split(hash, t->buckets, t->width, &w.signature);
    if (f->word[PROBING] == DOUBLE) w.step = 1 + tamis__range(tamis__mix(~hash), t->buckets - 1);
    return w;
}

TAMIS_HOT uint64_t step_from(const walk *w, uint64_t slots) {
    const uint64_t left = slots - w->step;
    return w->slot < left ? w->slot + w->step : w->slot - left;
}

TAMIS_HOT void walk_on(const tamis_table *t, walk *w) {
    uint64_t jump = tamis__split(tamis__chain_turn(&w->x), t->buckets, t->width, &w->signature);
    if (w->step) jump = step_from(w, t->buckets);
    if (w->step && jump == w->first) w->jumps = 0;
    const uint64_t next = w->slot + 1 == t->buckets ? 0 : w->slot + 1;
    w->slot = w->jumps ? jump : next;
    w->jumps -= w->jumps > 0;
}

/* Where the walk of a hash ends: at its signature, or at an empty slot. The limit leaves empty
 * slots in every table that passed the gate, and the last part of a walk meets them all. */
static walk find(const tamis_body *f, const tamis_table *t, uint64_t hash) {
    walk w = walk_start(f, t, hash);
    for (;;) {
        const uint64_t is = slot_get(t, w.slot);
        if (is == w.signature || is == 0) return w;
        walk_on(t, &w);
    }
}

static tamis_status audit(const tamis_body *f) {
    const tamis_table t = slots_of(f);
    const tamis_status rc = tamis__table_audit(&t);
    if (rc) return rc;
    if (tamis__used_of(f) != tamis__table_used(&t) || tamis__used_of(f) > limit(t.buckets))
        return tamis__fail(TAMIS_CORRUPT, "compaction does not have the %llu signatures it claims",
                           (unsigned long long)tamis__used_of(f));
    return TAMIS_OK;
}

/* ---- Querying and adding -------------------------------------------------------------------- */

/* The first slot of a key is prefetched some keys ahead. */
enum { AHEAD = 32 };

TAMIS_HOT void expect(const tamis_table *t, const uint64_t *hash, size_t i, size_t n) {
    if (!tamis__table_is_far(t)) return;
    for (size_t j = i ? i + AHEAD : 0; j < n && j <= i + AHEAD; j++)
        tamis__table_prefetch(t, tamis__range(hash[j], t->buckets));
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_table t = slots_of(f);
    for (size_t i = 0; i < b.n; i++) {
        expect(&t, b.hash, i, b.n);
        hit[i] = slot_get(&t, find(f, &t, b.hash[i]).slot) != 0;
    }
}

/* Core checks for room, so this never fails, and nothing is rolled back. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_table t = slots_of(f);
    uint64_t fresh = 0;
    for (size_t i = 0; i < b.n; i++) {
        expect(&t, b.hash, i, b.n);
        const walk w = find(f, &t, b.hash[i]);
        fresh += tamis__table_replace(&t, w.slot, 0, w.signature);
    }
    tamis__count_used(f, fresh);
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* The distance from every slot to the next empty one. Runs are walked backwards around the table,
 * from an empty slot to an empty slot, so that the distance is known when a slot is reached. */
static double chance_in_runs(const tamis_table *t, double values) {
    uint64_t slot = 0;
    while (slot_get(t, slot)) slot++;
    double sum = 0, missed = 1; /* missed: probability that no cell from here on matches */
    for (uint64_t i = 0; i < t->buckets; i++) {
        slot = slot ? slot - 1 : t->buckets - 1;
        missed = slot_get(t, slot) ? missed * (1 - 1 / values) : 1;
        sum += 1 - missed;
    }
    return sum / (double)t->buckets;
}

/* In a small table every walk of double hashing can be tried: from each slot by each step. */
enum { SMALL = 128 };

static double chance_of_walk(const tamis_table *t, uint64_t first, uint64_t step, double miss) {
    walk w = {.first = first, .slot = first, .step = step, .jumps = MAX_JUMPS};
    double missed = 1;
    for (; slot_get(t, w.slot); missed *= miss) walk_on(t, &w);
    return 1 - missed;
}

static double chance_of_walks(const tamis_table *t, double values) {
    const uint64_t slots = t->buckets;
    double sum = 0;
    for (uint64_t first = 0; first < slots; first++)
        for (uint64_t step = 1; step < slots; step++)
            sum += chance_of_walk(t, first, step, 1 - 1 / values);
    return sum / (double)slots / (double)(slots - 1);
}

/* Keys that were false positives do not show; on average their number follows from the rate, and it
 * varies like that of rare events. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    const tamis_table t = slots_of(f);
    const double values = (double)tamis__field_mask(t.width), used = (double)tamis__used_of(f);
    const double load = per_slot(f->word[PROBING], used, t.buckets);
    const bool is_linear = f->word[PROBING] == LINEAR;
    const double keys = is_linear ? linear_keys(load, values) : uniform_keys(load, values);
    out->bits = t.buckets;
    out->bits_set = tamis__used_of(f);
    const bool is_walked = f->word[PROBING] == DOUBLE && t.buckets <= SMALL;
    out->fpr = is_linear   ? chance_in_runs(&t, values)
               : is_walked ? chance_of_walks(&t, values)
                           : uniform_chance(load, values);
    out->items.value = used > 0 ? keys * used / load : 0;
    out->items.error = sqrt(fmax(0, out->items.value - used));
}

const tamis_kind tamis__compaction = {
    .name = "compaction",
    .contract = "the visited table of model checkers: a signature per key, any number of slots",
    .word = {"slots", "signature", "probing"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .room = room,
};
