/* SPDX-License-Identifier: MIT */
/* Rates of filters that rotate one hash of 32 bits. */
#include "foreign/rotated_hash.h"

#include <math.h>
#include <string.h>

#include "kinds/bitmap.h"
#include "kinds/blockwise.h"

/* A hash for each number, none of them twice. */
static uint32_t sample(uint32_t i) {
    i = (i ^ i >> 16) * 0x85ebca6b;
    i = (i ^ i >> 13) * 0xc2b2ae35;
    return i ^ i >> 16;
}

/* Keys that have the same hash cannot be distinguished. */
static double with_twins(double rate, double keys) {
    return rate + (1 - rate) * fmin(1, keys / 4294967296.0);
}

/* ---- Querying ------------------------------------------------------------------------------- */

double tamis__turned_asked(tamis_turned_has *has, const void *filter, uint32_t max,
                           double by_fill) {
    enum { AT_ONCE = 1 << 12, ENOUGH = 20000 };
    uint32_t asked = 0, hits = 0;
    while (asked < max && hits < ENOUGH)
        for (const uint32_t end = asked + AT_ONCE; asked < end; asked++)
            hits += has(filter, sample(asked + 1));
    return hits ? (double)hits / asked : by_fill;
}

/* ---- Positions anywhere --------------------------------------------------------------------- */

/* Small arrays are simulated: the positions of a key are then steps of equal length around a short
 * circle, and a non-member with the same step as a key shares most positions with it. The smaller
 * they are, the more they differ, and the more of them are simulated. */
enum { SMALL_BITS = 16384, QUESTIONS = 32768, MAX_GAMES = 64 };

typedef struct small_array {
    uint8_t bytes[SMALL_BITS / 8];
    uint32_t bits;
    unsigned hashes;
} small_array;

static void play_key(small_array *a, uint32_t h) {
    const uint32_t step = tamis__rotl15(h);
    for (unsigned i = 0; i < a->hashes; i++, h += step)
        a->bytes[h % a->bits / 8] |= (uint8_t)(1u << h % a->bits % 8);
}

static bool play_question(const small_array *a, uint32_t h) {
    const uint32_t step = tamis__rotl15(h);
    unsigned i = 0;
    for (; i < a->hashes && a->bytes[h % a->bits / 8] >> h % a->bits % 8 & 1; h += step) i++;
    return i == a->hashes;
}

/* Rounds of other keys and queries, until there are enough hits. */
static double play(uint32_t keys, uint32_t bits, unsigned hashes) {
    enum { ROUNDS = 16, ENOUGH = 1000 };
    const uint32_t fit = QUESTIONS / bits, games = fit < MAX_GAMES ? fit : MAX_GAMES;
    uint32_t hits = 0, asked = 0, hash = 0;
    for (int round = 0; round < ROUNDS && hits < ENOUGH; round++)
        for (uint32_t game = 0; game < games; game++) {
            small_array a = {.bits = bits, .hashes = hashes};
            for (uint32_t i = 0; i < keys; i++) play_key(&a, sample(hash++));
            for (uint32_t i = 0; i < QUESTIONS / games; i++, asked++)
                hits += play_question(&a, sample(~asked));
        }
    return (double)hits / asked;
}

/* In large arrays three effects are left. Positions i = 1, 4, 7, ... prefer some remainders modulo
 * 3, and 3, 8, 13, ... some modulo 5, which shows when 3 or 5 divides the number of bits: `weight`
 * is the number of positions of a key on one bit of each remainder, without the third position.
 *
 * The third, h + 2 turn(h), is 65537 (x + y) less the last bit of x, with x and y the halves of h.
 * With the overflow these are the values 65537 s, 65537 s - 1 and 65537 s - 2 for s up to 2^16.
 * Those in the middle have a share of 2^-17 each, the first shares that rise with s from 0 to that,
 * the last shares that fall. A division modulo the number of bits gives the s for a certain bit. */
enum { REMAINDERS = 15, THIRD = 2, SAMPLES = 2048, SUMS = 65536 };

typedef struct large_array {
    uint64_t bits;
    unsigned hashes;
    uint32_t divisor;  /* of the bits: 1, 3, 5 or 15 */
    uint64_t by_65537; /* 1/65537 modulo the bits; 0: it does not exist, and there is no third */
    double weight[REMAINDERS];
} large_array;

/* 65537 is a prime, so that a power of the bits modulo it is the inverse. */
static uint64_t inverse_of_65537(uint64_t bits) {
    uint64_t inverse = 1, power = bits % 65537;
    if (power == 0) return 0;
    for (unsigned exponent = 65535; exponent; exponent /= 2, power = power * power % 65537)
        if (exponent % 2) inverse = inverse * power % 65537;
    /* bits * inverse = 1 + 65537 t, so that 65537 (bits - t) = 1 modulo the bits. */
    return bits - (bits * inverse - 1) / 65537 % bits;
}

static large_array study(uint64_t bits, uint64_t hashes) {
    large_array a = {.bits = bits, .hashes = (unsigned)hashes, .divisor = 1};
    if (bits % 3 == 0) a.divisor *= 3;
    if (bits % 5 == 0) a.divisor *= 5;
    a.by_65537 = hashes > THIRD ? inverse_of_65537(bits) : 0;
    for (uint32_t s = 0; s < SAMPLES; s++) {
        const uint32_t hash = sample(s), step = tamis__rotl15(hash);
        uint32_t h = hash;
        for (unsigned i = 0; i < a.hashes; i++, h += step)
            if (i != THIRD || !a.by_65537)
                a.weight[h % a.divisor] += (double)a.divisor / SAMPLES / (double)bits;
    }
    return a;
}

/* The expected number of positions of a key on this bit: third ones, and all. */
static double third_at(const large_array *a, uint64_t bit) {
    double rises = 0, falls = 0, middle = 0;
    if (!a->by_65537) return 0;
    for (uint64_t s = bit * a->by_65537 % a->bits; s < SUMS; s += a->bits) rises += (double)s;
    for (uint64_t s = (bit + 1) % a->bits * a->by_65537 % a->bits; s < SUMS; s += a->bits) middle++;
    for (uint64_t s = (bit + 2) % a->bits * a->by_65537 % a->bits; s < SUMS; s += a->bits)
        falls += (double)(SUMS - s);
    return (middle + (rises + falls) / SUMS) / 131072;
}

static double weight_at(const large_array *a, uint64_t bit) {
    return a->weight[bit % a->divisor] + third_at(a, bit);
}

static double large_rate(const large_array *a, double keys) {
    double sum = 0;
    for (uint32_t s = 0; s < SAMPLES; s++) {
        const uint32_t hash = sample(s), step = tamis__rotl15(hash);
        uint32_t h = hash;
        double hit = 1;
        for (unsigned i = 0; i < a->hashes; i++, h += step)
            hit *= -expm1(-keys * weight_at(a, h % a->bits));
        sum += hit;
    }
    return sum / SAMPLES;
}

double tamis__turned_rate(uint64_t keys, uint64_t bits, uint64_t hashes) {
    enum { FULL = 20 }; /* this many positions per bit leave one bit of 10^8 */
    if (keys == 0) return 0;
    if ((double)keys * (double)hashes > FULL * (double)bits) return 1;
    if (bits <= SMALL_BITS) return play((uint32_t)keys, (uint32_t)bits, (unsigned)hashes);
    const large_array a = study(bits, hashes);
    return with_twins(large_rate(&a, (double)keys), (double)keys);
}

/* Newton's method, from the value for an array with uniform positions. */
struct tamis_estimate tamis__turned_items(uint64_t set, uint64_t bits, uint64_t hashes) {
    enum { STEPS = 8 };
    struct tamis_estimate items = tamis__bitmap_items(set, bits, hashes);
    if (set == 0 || set == bits || bits <= SMALL_BITS) return items;
    const large_array a = study(bits, hashes);
    double weight[SAMPLES], sum = 0, sum_third = 0;
    for (uint32_t s = 0; s < SAMPLES; s++) {
        const uint64_t bit = sample(s) % bits;
        sum += a.weight[bit % a.divisor];
        sum_third += third_at(&a, bit);
    }
    /* One position of a key is the third, the others are not: so much have all bits together. */
    const double one = SAMPLES / (double)bits;
    const double fit_third = sum_third > 0 ? one / sum_third : 0;
    const double fit = one * (double)(hashes - (a.by_65537 ? 1 : 0)) / sum;
    for (uint32_t s = 0; s < SAMPLES; s++) {
        const uint64_t bit = sample(s) % bits;
        weight[s] = fit * a.weight[bit % a.divisor] + fit_third * third_at(&a, bit);
    }
    const double all_zero = SAMPLES * (1 - (double)set / (double)bits);
    for (int step = 0; step < STEPS; step++) {
        double zero = 0, slope = 0;
        for (int s = 0; s < SAMPLES; s++) {
            const double z = exp(-items.value * weight[s]);
            zero += z;
            slope += z * weight[s];
        }
        items.value = fmax(0, items.value + (zero - all_zero) / slope);
    }
    return items;
}

/* ---- Positions in one line ------------------------------------------------------------------ */

/* In a line of w = 2^b bits a key is a start and a step modulo w, both uniform. A non-member with
 * an odd step has as many different positions as probes; with a step of 2^v times an odd number at
 * most w / 2^v. Up to a factor all steps of one v are the same, so that 2^v is enough for each v.
 *
 * How many of a non-member's positions does one key set? That is counted over all keys. Then keys
 * are added one by one, each sets a random choice of that many positions, and the number of set
 * ones walks up from 0: the rate is the probability that all are set. */
enum { MAX_PROBES = 30, MAX_LINE_BITS = 2048 };

typedef struct nonmember {
    unsigned positions;                          /* that are different */
    double sets[MAX_PROBES + 1];                 /* probability that a key sets so many of them */
    double has[MAX_PROBES + 1];                  /* probability that so many are set by now */
    double move[MAX_PROBES + 1][MAX_PROBES + 1]; /* from so many, by so many more, with one key */
} nonmember;

static unsigned different(unsigned probes, uint32_t step, uint32_t line_bits) {
    uint32_t turns = line_bits;
    for (; step % 2 == 0 && turns > 1; step /= 2) turns /= 2;
    return turns < probes ? turns : probes;
}

static void count_overlaps(nonmember *s, uint32_t step, uint32_t line_bits, unsigned probes) {
    uint8_t common[MAX_LINE_BITS] = {0}; /* by distance from the key's start to the non-member's */
    const double one = 1 / ((double)line_bits * line_bits);
    for (uint32_t d = 0; d < line_bits; d++) {
        const unsigned n = different(probes, d, line_bits);
        for (unsigned i = 0; i < n * s->positions; i++)
            common[(i / n * step - i % n * d) % line_bits]++;
        for (unsigned i = 0; i < n * s->positions; i++) {
            uint8_t *c = &common[(i / n * step - i % n * d) % line_bits];
            if (*c) s->sets[*c] += one;
            *c = 0;
        }
    }
    s->sets[0] = 1;
    for (unsigned c = 1; c <= s->positions; c++) s->sets[0] -= s->sets[c];
}

/* Of `common` positions that a key sets, so many are new, by the hypergeometric distribution. */
static double chance_of_new(unsigned positions, unsigned has, unsigned common, unsigned fresh) {
    const unsigned old = common - fresh, free = positions - has;
    double chance = 1;
    if (fresh > free || old > has) return 0;
    for (unsigned i = 0; i < common; i++) chance *= (double)(i + 1) / (positions - i);
    for (unsigned i = 0; i < fresh; i++) chance *= (double)(free - i) / (i + 1);
    for (unsigned i = 0; i < old; i++) chance *= (double)(has - i) / (i + 1);
    return chance;
}

static void meet(nonmember *s, uint32_t step, uint32_t line_bits, unsigned probes) {
    memset(s, 0, sizeof *s);
    s->positions = different(probes, step, line_bits);
    s->has[0] = 1;
    count_overlaps(s, step, line_bits, probes);
    for (unsigned has = 0; has <= s->positions; has++)
        for (unsigned common = 0; common <= s->positions; common++)
            for (unsigned fresh = 0; fresh <= common && s->sets[common] > 0; fresh++)
                s->move[has][fresh] +=
                    s->sets[common] * chance_of_new(s->positions, has, common, fresh);
}

static void add_key(nonmember *s) {
    for (unsigned to = s->positions + 1; to-- > 0;) {
        double chance = 0;
        for (unsigned from = 0; from <= to; from++)
            chance += s->has[from] * s->move[from][to - from];
        s->has[to] = chance;
    }
}

/* The mean over lines of i keys, each with its binomial probability. */
static double mean_of_lines(nonmember *s, double keys, double lines) {
    const double mean = keys / lines, last = mean + 12 * sqrt(mean) + 20;
    double weight = lines > 1 ? keys * log1p(-1 / lines) : 0, rate = 0;
    if (!(lines > 1)) { /* all keys are in it */
        for (double i = 0; i < keys; i++) add_key(s);
        return s->has[s->positions];
    }
    for (double i = 0; i <= keys && i <= last; i++) {
        rate += exp(weight) * s->has[s->positions];
        weight += log((keys - i) / ((i + 1) * (lines - 1)));
        add_key(s);
    }
    return rate;
}

double tamis__turned_lines_rate(uint64_t keys, uint64_t lines, uint64_t line_bits,
                                uint64_t hashes) {
    enum { FULL = 20 };
    const double n = (double)keys, width = (double)line_bits;
    double rate = 0, share = 0.5;
    if (keys == 0) return 0;
    if (n * (double)hashes > FULL * (double)lines * width) return 1;
    if (hashes > MAX_PROBES || line_bits > MAX_LINE_BITS || line_bits < hashes)
        return with_twins(tamis__lanes_rate((tamis_lanes){1, (unsigned)line_bits, (unsigned)hashes},
                                            n, (double)lines),
                          n);
    for (uint32_t step = 1; step <= line_bits; step *= 2, share /= 2) {
        nonmember s;
        meet(&s, step, (uint32_t)line_bits, (unsigned)hashes);
        rate += (step == line_bits ? 2 * share : share) * mean_of_lines(&s, n, (double)lines);
    }
    return with_twins(fmin(1, rate), n);
}
