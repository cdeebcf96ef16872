/* SPDX-License-Identifier: MIT */
/* window: the last N adds, and all of them.
 *
 * A ring of k + l slices of bits, ordered by age. An add sets one bit in each of the k youngest
 * slices. After `each` adds time advances: the oldest slice is cleared and becomes the youngest. So
 * a key starts in the slices of age 0 to k-1 and ages with them; it is found as long as k
 * consecutive slices, at any age, have its bits. After l turns they are the k oldest, and with the
 * next one the key is gone. Age-partitioned Bloom filter, by Shtul, Baquero and Almeida (2020).
 *
 *     age      0   1   2   3   4   5   6            k = 3, l = 4
 *             ┌───┬───┬───┬───┬───┬───┬───┐
 *     new key │ x │ x │ x │   │   │   │   │  ◀ add
 *             ├───┼───┼───┼───┼───┼───┼───┤
 *     2 turns │   │   │ x │ x │ x │   │   │  ─▶ one to the right at each turn
 *             ├───┼───┼───┼───┼───┼───┼───┤
 *     4 turns │   │   │   │   │ x │ x │ x │  the last turn at which it is found
 *             └───┴───┴───┴───┴───┴───┴───┘
 *
 * With each = capacity/l, rounded up, a key is found at least through the next `capacity` adds, and
 * gone (except for false positives) after (l + 1) * each at the latest. Nothing expires early.
 *
 * With by=clock adds do not turn; tamis_tick does, and keys of the last l ticks are found.
 *
 * Payload: 8 bytes with the number of turns, 8 with the adds since the last, then the slices
 * without gaps, and zeros to the end of the last word. A slice keeps its place, and with it its
 * hash function, while it ages: turn t makes place -t mod (k + l) the youngest. */
#include <math.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/bitmap.h"
#include "kinds/kind.h"

enum { HASHES, GENERATIONS, EACH, SLICE, BY }; /* shape words; SLICE is in bits */
enum { BY_ADDS, BY_CLOCK, WAYS };              /* values of BY */
enum { OPT_HASHES, OPT_GENERATIONS, OPT_BY };

enum { MAX_HASHES = 64, MAX_GENERATIONS = 64, MAX_SLICES = MAX_HASHES + MAX_GENERATIONS };
enum { WORD_BITS = 64, STATE_BYTES = 16, STATE_BITS = STATE_BYTES * 8, AT_TURNS = 0, AT_ADDS = 8 };
#define MAX_BITS  (TAMIS_MAX_PAYLOAD_BYTES * 8)
#define MAX_TURNS ((uint64_t)1 << 63)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, MAX_HASHES, "the fewest bits", "slices that a key is in, k"},
    {"generations", NULL, 1, MAX_GENERATIONS, "doubled while that saves 3 % of the bits",
     "parts of the window, l: keys stay for up to 1/l longer than promised"},
    {"by", "adds|clock", 0, 0, "adds", "what makes keys older: adds, or only tamis_tick"},
    {0},
};

/* ---- Rates ---------------------------------------------------------------------------------- */

static uint64_t slices_of(const uint64_t word[]) {
    return word[HASHES] + word[GENERATIONS];
}

/* The probability of k consecutive hits, when the slice of each age hits with probability
 * fill[age]. run[a] is the probability that the last a slices hit and no run was complete before; a
 * is at most their number. A non-member's places in different slices are independent, so this is
 * exact, for given fills as for mean ones. */
static double chance_of_run(const double fill[], uint64_t slices, uint64_t k) {
    double run[MAX_HASHES + 1] = {1}, complete = 0;
    for (uint64_t age = 0; age < slices; age++) {
        double going = 0;
        for (uint64_t a = age < k ? age + 1 : k; a-- > 0; run[a + 1] *= fill[age]) {
            going += run[a];
            run[a + 1] = run[a];
        }
        complete += run[k];
        run[0] = going * (1 - fill[age]);
    }
    return complete;
}

/* The same except for rounding, and faster: a run is first complete at some age if the k slices up
 * to it hit, the one before them misses, and no run was complete before that. The k are in two
 * blocks of k: the rest of one block from an age on, and the start of the next. */
static double chance_roughly(const double fill[], uint64_t slices, uint64_t k) {
    double rest[MAX_SLICES + 1], complete[MAX_SLICES + 1] = {0}, block = 1;
    rest[slices] = 1;
    for (uint64_t age = slices, place = slices % k; age-- > 0;) {
        rest[age] = place ? fill[age] * rest[age + 1] : fill[age];
        place = place ? place - 1 : k - 1;
    }
    for (uint64_t age = 0, place = 0; age < slices; age++) {
        block = place ? block * fill[age] : fill[age];
        place = place + 1 < k ? place + 1 : 0;
        complete[age + 1] = complete[age];
        if (age + 1 < k) continue;
        const uint64_t first = age + 1 - k;
        const double hit = place ? rest[first] * block : block;
        const double no_run = first ? (1 - complete[first - 1]) * (1 - fill[first - 1]) : 1;
        complete[age + 1] += no_run * hit;
    }
    return complete[slices];
}

typedef double chance(const double fill[], uint64_t slices, uint64_t k);

/* Adds that have reached the slice of an age, after `turns` turns and `adds` more: those of the
 * generations in which it was one of the k youngest. */
static uint64_t adds_in_slice(const uint64_t word[], uint64_t age, uint64_t turns, uint64_t adds) {
    const uint64_t k = word[HASHES];
    if (age >= turns + k) return 0; /* older than that from the start */
    const uint64_t oldest = age < turns ? turns - age : 0;
    if (age < k) return (turns - oldest) * word[EACH] + adds;
    return (turns - age + k - oldest) * word[EACH];
}

static double rate_with(const uint64_t word[], const uint64_t adds_at[], chance *of_run) {
    const double stays_zero = log1p(-1 / (double)word[SLICE]); /* -inf for a slice of one bit */
    double fill[MAX_SLICES];
    for (uint64_t age = 0; age < slices_of(word); age++)
        if (age && adds_at[age] == adds_at[age - 1])
            fill[age] = fill[age - 1];
        else
            fill[age] = adds_at[age] ? -expm1((double)adds_at[age] * stays_zero) : 0;
    return of_run(fill, slices_of(word), word[HASHES]);
}

static double rate_after(const uint64_t word[], uint64_t turns, uint64_t adds, chance *of_run) {
    uint64_t adds_at[MAX_SLICES];
    for (uint64_t age = 0; age < slices_of(word); age++)
        adds_at[age] = adds_in_slice(word, age, turns, adds);
    return rate_with(word, adds_at, of_run);
}

/* Just after all adds of a window have come between two ticks, as in every window before: at ages
 * 0, l, 2l, ... there was such a crowd, and a slice has those of the last k generations up to its
 * age. */
static double rate_of_crowds(const uint64_t word[], chance *of_run) {
    const uint64_t l = word[GENERATIONS], k = word[HASHES];
    uint64_t adds_at[MAX_SLICES];
    for (uint64_t age = 0; age < slices_of(word); age++) {
        const uint64_t crowds = age / l + 1 - (age < k ? 0 : (age - k) / l + 1);
        adds_at[age] = crowds * l * word[EACH];
    }
    return rate_with(word, adds_at, of_run);
}

/* Just before a turn, when all slices have had a whole life. Adds need not come evenly between
 * ticks of a clock; there the worse of two extremes counts. */
static double worst_rate_by(chance *of_run, const uint64_t word[]) {
    const double even = rate_after(word, slices_of(word), word[EACH], of_run);
    return word[BY] == BY_CLOCK ? fmax(even, rate_of_crowds(word, of_run)) : even;
}

static double worst_rate(const uint64_t word[]) {
    return worst_rate_by(chance_of_run, word);
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Bits that the whole words of a payload leave for each slice. */
static uint64_t slice_within(uint64_t payload_bits, uint64_t slices) {
    const uint64_t whole = payload_bits / WORD_BITS * WORD_BITS;
    return whole > STATE_BITS ? (whole - STATE_BITS) / slices : 0;
}

static bool fits(uint64_t slice, uint64_t slices) {
    return slice && slice <= (MAX_BITS - STATE_BITS) / slices;
}

static uint64_t payload_bits(const uint64_t word[]) {
    return tamis__bitmap_size(STATE_BITS + slices_of(word) * word[SLICE]) * 8;
}

/* Bounds on the rate, which falls with the bits of a slice: it is above fpr up to `above`, and not
 * from `below` on. */
typedef struct bounds {
    double fpr, above, below;
} bounds;

/* The logarithm of the rate over fpr. A value within rounding error is ignored: the two ways to
 * compute a rate were never more than 1e-14 of it apart. */
static double look(uint64_t word[], double slice, bounds *k) {
    const double rounding = 1e-9;
    word[SLICE] = (uint64_t)slice;
    const double excess = log(worst_rate_by(chance_roughly, word) / k->fpr);
    if (excess > rounding) k->above = fmax(k->above, slice);
    if (excess < -rounding) k->below = fmin(k->below, slice);
    return excess;
}

static bool keeps(uint64_t word[], double slice, bounds *k) {
    if (slice > k->above && slice < k->below) look(word, slice, k);
    if (slice <= k->above) return false;
    if (slice >= k->below) return true;
    return worst_rate(word) <= k->fpr;
}

/* An estimate of the length of a slice with `adds` adds: with all slices filled alike, a run
 * completes at the first k, or after any of the next l when that one misses. */
static double likely_slice(const uint64_t word[], double adds, double fpr) {
    const double k = (double)word[HASHES], l = (double)word[GENERATIONS];
    double fill = 0.5;
    for (int i = 0; i < 3; i++) fill = pow(fpr / (1 + l * (1 - fill)), 1 / k);
    return -adds / log1p(-fill);
}

/* The error of the estimates for one hash less: nearly the same as now. */
typedef struct wrong {
    double slice, slope;
} wrong;

/* Narrows the bounds with few evaluations: the logarithm of the rate is nearly a straight line in
 * that of the slice, so secants converge at once. Each goes a little too far, so that there is soon
 * one on either side. */
static void look_around(uint64_t word[], bounds *k, wrong *by) {
    enum { LOOKS = 4 };
    const double too_far = 0x1p-15, near_enough = 1 + 0x1p-13;
    const bool has_crowds = word[BY] == BY_CLOCK && word[GENERATIONS] > word[HASHES];
    const double adds = (double)(word[has_crowds ? GENERATIONS : HASHES] * word[EACH]);
    const double guess = likely_slice(word, adds, k->fpr), fill = -expm1(-adds / guess);
    const double likely_slope = -(double)word[HASHES] * adds / guess * (1 - fill) / fill;
    double next = guess * by->slice, slope = likely_slope * by->slope, last_x = 0, last_y = 0;
    for (int i = 0; i < LOOKS && k->below > fmax(k->above * near_enough, k->above + 1); i++) {
        const double slice = floor(next);
        if (!(slice > 1 && slice < (double)MAX_BITS)) return;
        const double x = log(slice), y = look(word, slice, k);
        if (i && fabs(x - last_x) > too_far) slope = (y - last_y) / (x - last_x);
        if (!(slope < -0.01)) return;
        last_x = x, last_y = y;
        next = slice * exp(-y / slope);
        next = y > 0 ? next * (1 + too_far) + 1 : next * (1 - too_far);
    }
    if (fabs(log(next / guess)) < 1) *by = (wrong){next / guess, slope / likely_slope};
}

/* The smallest slices that keep the rate at the worst moment, to about one in 8192, searched from
 * where they would be half full: the steps of this search decide the shape. They also get the rest
 * of the last word. */
static bool fit_rate(const tamis_params *params, uint64_t word[], wrong *by) {
    const double close_enough = 1 + 0x1p-13, max = (double)MAX_BITS;
    double high = ceil((double)(word[HASHES] * word[EACH]) / M_LN2), low = high;
    if (high >= max) return false;
    bounds k = {params->fpr, 0, INFINITY};
    look_around(word, &k, by);
    while (!keeps(word, high, &k)) {
        low = high, high *= 2;
        if (high >= max) return false;
    }
    while (low > 1 && keeps(word, low, &k)) high = low, low = floor(low / 2);
    while (high / low > close_enough && high - low > 1) {
        const double middle = floor(sqrt(low * high));
        if (middle <= low) break;
        *(keeps(word, middle, &k) ? &high : &low) = middle;
    }
    const uint64_t slices = slices_of(word);
    word[SLICE] = tamis__round_up((uint64_t)high, 1, MAX_BITS);
    if (!fits(word[SLICE], slices)) return false;
    word[SLICE] = slice_within(payload_bits(word), slices);
    return true;
}

static bool fit_size(const tamis_params *params, uint64_t word[]) {
    word[SLICE] = slice_within(params->bits, slices_of(word));
    return word[SLICE] > 0;
}

/* The best number of hashes for given generations: the cost falls to it and rises after it, so the
 * search may end where it has become clearly worse. */
static double best_hashes(const tamis_params *params, uint64_t generations, uint64_t word[]) {
    const bool chosen = params->has_option[OPT_HASHES];
    const double clearly_worse = 1.1, half_bits = params->bits ? 0 : -log2(params->fpr) / 2;
    const uint64_t first = chosen ? params->option[OPT_HASHES] : 1 + (uint64_t)half_bits;
    const uint64_t last = chosen ? first : MAX_HASHES;
    const uint64_t capacity = params->capacity ? params->capacity : 1;
    double best = INFINITY;
    wrong by = {1, 1};
    for (uint64_t hashes = first; hashes <= last; hashes++) {
        uint64_t tried[TAMIS_WORDS] = {[HASHES] = hashes,
                                       [GENERATIONS] = generations,
                                       [EACH] = (capacity - 1) / generations + 1,
                                       [BY] = tamis__chosen(params, OPT_BY, 0)};
        if (!(params->bits ? fit_size(params, tried) : fit_rate(params, tried, &by))) continue;
        const double cost = params->bits ? worst_rate(tried) : (double)payload_bits(tried);
        if (cost > best * clearly_worse) break;
        if (cost >= best) continue;
        best = cost;
        memcpy(word, tried, sizeof tried);
    }
    return best;
}

/* More generations take fewer bits up to a point, but each makes queries longer: doubling must save
 * enough, 3 % of the bits or a tenth of the rate. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const bool chosen = params->has_option[OPT_GENERATIONS];
    const double worth = params->bits ? 0.9 : 0.97;
    const uint64_t first = chosen ? params->option[OPT_GENERATIONS] : 1;
    const uint64_t last = chosen ? first : MAX_GENERATIONS;
    double best = INFINITY;
    for (uint64_t generations = first; generations <= last; generations *= 2) {
        uint64_t tried[TAMIS_WORDS] = {0};
        if (!chosen && generations > 1 && generations > params->capacity) break;
        const double cost = best_hashes(params, generations, tried);
        if (best < INFINITY && cost > best * worth) break;
        best = cost;
        memcpy(word, tried, sizeof tried);
    }
    if (word[SLICE]) return TAMIS_OK;
    if (!params->bits) return tamis__fail(TAMIS_TOO_LARGE, "window would need over 2^56 bytes");
    const uint64_t hashes = tamis__chosen(params, OPT_HASHES, 1);
    return tamis__fail(TAMIS_INVALID, "size must be at least %llu bytes for window",
                       (unsigned long long)(STATE_BYTES + tamis__bitmap_size(hashes + first)));
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__may_have("window", word[HASHES], "hashes", 1, MAX_HASHES)) return TAMIS_CORRUPT;
    if (!tamis__may_have("window", word[GENERATIONS], "generations", 1, MAX_GENERATIONS))
        return TAMIS_CORRUPT;
    if (word[EACH] == 0 || word[EACH] > TAMIS_MAX_CAPACITY)
        return tamis__fail(TAMIS_CORRUPT, "window cannot have %llu adds in each generation",
                           (unsigned long long)word[EACH]);
    if (!fits(word[SLICE], slices_of(word)))
        return tamis__fail(TAMIS_CORRUPT, "window cannot have slices of %llu bits",
                           (unsigned long long)word[SLICE]);
    if (word[BY] >= WAYS)
        return tamis__fail(TAMIS_CORRUPT, "window cannot go by %llu", (unsigned long long)word[BY]);
    *size = payload_bits(word) / 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    return slices_of(word);
}

/* While the slices fill up for the first time, the rate at this add; from then on it rises and
 * falls with every generation, and this is the maximum. By the clock the first window may come
 * within one tick. */
static double rate(const uint64_t word[], uint64_t items) {
    const uint64_t window = word[GENERATIONS] * word[EACH];
    if (items == 0) return 0;
    if (word[BY] == BY_CLOCK)
        return items > window ? worst_rate(word) : rate_after(word, 0, items, chance_of_run);
    const uint64_t turns = (items - 1) / word[EACH];
    if (turns + 1 >= slices_of(word)) return worst_rate(word);
    return rate_after(word, turns, items - turns * word[EACH], chance_of_run);
}

/* ---- Slices --------------------------------------------------------------------------------- */

static uint64_t turns_of(const tamis_body *f) {
    return tamis__get64(f->bytes + AT_TURNS);
}

static uint64_t adds_of(const tamis_body *f) {
    return tamis__get64(f->bytes + AT_ADDS);
}

/* The place of the youngest slice after `turns` turns; older ones follow, round the ring. */
static uint64_t youngest_at(const tamis_body *f, uint64_t turns) {
    const uint64_t slices = slices_of(f->word);
    return (slices - turns % slices) % slices;
}

static uint64_t youngest(const tamis_body *f) {
    return youngest_at(f, turns_of(f));
}

static uint64_t place_of(const tamis_body *f, uint64_t head, uint64_t age) {
    const uint64_t place = head + age, slices = slices_of(f->word);
    return place < slices ? place : place - slices;
}

TAMIS_HOT uint64_t position(const tamis_body *f, uint64_t place, uint64_t hash) {
    const uint64_t own_function = place * 0x9e3779b97f4a7c15;
    return place * f->word[SLICE] + tamis__range(tamis__mix(hash ^ own_function), f->word[SLICE]);
}

/* Counts the bits of a slice, in the words that it overlaps. */
static uint64_t bits_in(const tamis_body *f, uint64_t place) {
    uint64_t from = place * f->word[SLICE], set = 0;
    const uint64_t to = from + f->word[SLICE];
    while (from < to) {
        const uint8_t *p = f->bytes + STATE_BYTES + from / WORD_BITS * 8;
        const uint64_t start = from % WORD_BITS, next = from - start + WORD_BITS;
        const uint64_t end = to < next ? start + to - from : WORD_BITS;
        const uint64_t part = UINT64_MAX >> (WORD_BITS - (end - start)) << start;
        set += tamis__popcount64(tamis__get64(p) & part);
        from = next;
    }
    return set;
}

/* Bytes at a time; the first and the last may be shared with neighbours. */
static void clear_bits(const tamis_body *f, uint64_t from, uint64_t to) {
    uint8_t *p = f->bytes + STATE_BYTES;
    const uint8_t keeps_low = (uint8_t)((1u << from % 8) - 1);
    const uint8_t keeps_high = (uint8_t)(0xff << to % 8);
    if (from / 8 == to / 8) {
        p[from / 8] &= keeps_low | keeps_high;
        return;
    }
    p[from / 8] &= keeps_low;
    memset(p + from / 8 + 1, 0, (size_t)(to / 8 - from / 8 - 1));
    if (to % 8) p[to / 8] &= keeps_high;
}

/* No slice has more bits than adds that reached it; by the clock any number is allowed. */
static tamis_status audit(const tamis_body *f) {
    const uint64_t turns = turns_of(f), adds = adds_of(f), slices = slices_of(f->word);
    const bool is_by_adds = f->word[BY] == BY_ADDS;
    if (turns >= MAX_TURNS || (is_by_adds && adds > f->word[EACH]))
        return tamis__fail(TAMIS_CORRUPT, "a window cannot be %llu adds into its turn %llu",
                           (unsigned long long)adds, (unsigned long long)turns);
    for (uint64_t age = 0; age < slices; age++) {
        const uint64_t max = adds_in_slice(f->word, age, turns < slices ? turns : slices, adds);
        const uint64_t set = bits_in(f, place_of(f, youngest(f), age));
        if ((is_by_adds || !max) && set > max)
            return tamis__fail(TAMIS_CORRUPT, "a slice of a window has %llu bits of %llu adds",
                               (unsigned long long)set, (unsigned long long)max);
    }
    return tamis__bitmap_audit(f, STATE_BITS + slices * f->word[SLICE]);
}

/* ---- Querying and adding -------------------------------------------------------------------- */

/* Searches for k consecutive hits from the youngest slices on. Every try is tested from its old
 * end: a miss there rules out all runs that would contain it, and the next try begins after it.
 * Ages from `first` to before `known` have already hit. */
static bool find(const tamis_body *f, uint64_t head, uint64_t hash) {
    const uint64_t slices = slices_of(f->word), k = f->word[HASHES];
    for (uint64_t first = 0, known = 0; first + k <= slices;) {
        uint64_t age = first + k;
        while (age > known && tamis__bit_get(f->bytes + STATE_BYTES,
                                             position(f, place_of(f, head, age - 1), hash)))
            age--;
        if (age == known) return true;
        known = first + k;
        first = age;
    }
    return false;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const uint64_t head = youngest(f);
    for (size_t j = 0; j < b.n; j++) hit[j] = find(f, head, b.hash[j]);
}

/* No add touches the oldest slice, so it may be cleared bit by bit before time advances. Should
 * turns ever reach 2^63, they are replaced by a number that leaves every slice where it is. */
static bool turn_part(tamis_body *f, uint64_t bytes, tamis_leaving *at) {
    const uint64_t next = turns_of(f) + 1, slices = slices_of(f->word), slice = f->word[SLICE];
    if (at->step != next) *at = (tamis_leaving){next, 0}; /* the turn before was made otherwise */
    const uint64_t from = youngest_at(f, next) * slice + at->done, left = slice - at->done;
    const uint64_t bits = bytes < left / 8 ? bytes * 8 : left;
    clear_bits(f, from, from + bits);
    at->done += bits;
    if (at->done < slice) return false;
    tamis__put64(f->bytes + AT_TURNS, next < MAX_TURNS ? next : next % slices + slices);
    tamis__put64(f->bytes + AT_ADDS, 0);
    return true;
}

static void turn(tamis_body *f) {
    tamis_leaving at = {0, 0};
    turn_part(f, UINT64_MAX, &at);
}

/* A full generation ends with the next add, not before: that add is not in it. */
static uint64_t adds_to_tick(const tamis_body *f) {
    return f->word[BY] == BY_ADDS ? f->word[EACH] - adds_of(f) : UINT64_MAX;
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        if (adds_to_tick(f) == 0) turn(f);
        const uint64_t head = youngest(f);
        for (uint64_t age = 0; age < f->word[HASHES]; age++)
            tamis__bit_set(f->bytes + STATE_BYTES, position(f, place_of(f, head, age), b.hash[j]));
        tamis__put64(f->bytes + AT_ADDS, adds_of(f) + 1);
    }
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Slices of age l, l-k, l-2k, ... together have each generation of the window exactly once; the
 * keys of each follow from its fill. */
static struct tamis_estimate keys_in_window(const tamis_body *f, const double fill[]) {
    const double m = (double)f->word[SLICE];
    double keys = 0, variance = 0;
    for (uint64_t end = f->word[GENERATIONS] + 1; end > 0;) {
        const double t = -log1p(-fill[end - 1]);
        keys += m * t;
        variance += m * (expm1(t) - t);
        end = end > f->word[HASHES] ? end - f->word[HASHES] : 0;
    }
    return (struct tamis_estimate){keys, sqrt(variance)};
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    const uint64_t slices = slices_of(f->word), head = youngest(f);
    double fill[MAX_SLICES];
    for (uint64_t age = 0; age < slices; age++) {
        const uint64_t set = bits_in(f, place_of(f, head, age));
        fill[age] = (double)set / (double)f->word[SLICE];
        out->bits_set += set;
    }
    out->bits = slices * f->word[SLICE];
    out->fpr = chance_of_run(fill, slices, f->word[HASHES]);
    out->items = keys_in_window(f, fill);
}

const tamis_kind tamis__window = {
    .name = "window",
    .contract = "the last `capacity` adds are always found; older ones expire",
    .word = {"hashes", "generations", "each", "slice", "by"},
    .options = options,
    .traits = TAMIS_AGES,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .ageing =
        &(const tamis_ageing){.tick = turn, .tick_part = turn_part, .adds_to_tick = adds_to_tick},
};
