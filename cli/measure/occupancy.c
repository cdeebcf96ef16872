/* SPDX-License-Identifier: MIT */
/* occupancy.c: how bits lie in blocks, and how they should.
 *
 * In a classic filter each bit is set with the same chance, so a stretch of 512 has a binomial
 * number of them. In a blocked one the number of keys varies from block to block first (Poisson),
 * and each key throws its balls into the cells of every lane; how many cells n balls hit is counted
 * ball by ball, and lanes are independent, so their distributions are convolved.
 */
#include "cli/measure/occupancy.h"

#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure/statistics.h"

bool blocks_of(const tamis *filter, struct blocks *blocks) {
    uint64_t size;
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(filter, &info);
    const uint64_t count = shape_word(info.word_name, info.word, "blocks");
    const uint64_t bits = shape_word(info.word_name, info.word, "bits");
    /* Bits that may be intersected are those of keys, and nothing else is among them. */
    const bool is_bitmap =
        info.abilities & TAMIS_CAN_INTERSECT && !(info.abilities & TAMIS_OWN_HASH);
    *blocks = (struct blocks){.bytes = tamis_payload(filter, &size), .bits = 512};
    if (!is_bitmap || (count == 0 && bits == 0)) return false;
    if (count > 0) {
        const bool by_lanes = info.probes % 8 == 0;
        blocks->bits = (unsigned)(size * 8 / count);
        blocks->lanes = by_lanes ? 8 : 1;
        blocks->in_lane = (unsigned)(by_lanes ? info.probes / 8 : info.probes);
    }
    blocks->count = size / (blocks->bits / 8);
    return blocks->bytes && blocks->count > 0 && blocks->bits <= MAX_BLOCK_BITS;
}

uint64_t count_bits(const uint8_t *bytes, uint64_t n) {
    uint64_t set = 0;
    for (; n >= 8; n -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        set += (unsigned)__builtin_popcountll(word);
    }
    for (; n > 0; n--) set += (unsigned)__builtin_popcount(*bytes++);
    return set;
}

/* ---- As they are ---- */

/* Looking at single bits is slow, and some hundred thousand blocks tell as much as all of them. */
enum { MAX_LOOKED_AT = 1 << 18 };

static void measure(const struct blocks *blocks, struct occupancy *o) {
    const uint64_t every = blocks->count / MAX_LOOKED_AT + 1;
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < blocks->count; i++) {
        const uint8_t *block = blocks->bytes + i * (blocks->bits / 8);
        const unsigned load = (unsigned)count_bits(block, blocks->bits / 8);
        o->with[load]++;
        sum += load;
        squares += (double)load * load;
        if (i % every != 0) continue;
        o->looked_at++;
        for (unsigned b = 0; b < blocks->bits; b++) o->at[b] += block[b / 8] >> b % 8 & 1;
    }
    const double n = (double)blocks->count;
    o->mean = sum / n;
    o->deviation = sqrt(fmax(0, squares / n - o->mean * o->mean));
}

/* ---- As they should be ---- */

static void expect_binomial(struct occupancy *o, unsigned bits) {
    const double p = o->mean / bits;
    if (p <= 0 || p >= 1) {
        o->expected[p <= 0 ? 0 : bits] = 1;
        return;
    }
    for (unsigned i = 0; i <= bits; i++)
        o->expected[i] = exp(lgamma(bits + 1.0) - lgamma(i + 1.0) - lgamma(bits - i + 1.0) +
                             i * log(p) + (bits - i) * log1p(-p));
}

/* One more ball into `cells` cells: share[i] is the chance that i of them are hit. */
static void throw_ball(double *share, unsigned cells) {
    for (unsigned i = cells; i > 0; i--)
        share[i] = share[i] * i / cells + share[i - 1] * (cells - i + 1) / cells;
    share[0] = 0;
}

/* The distribution of the sum of `lanes`, a power of two, from that of one. */
static void add_lanes(double *share, unsigned cells, unsigned lanes) {
    double sum[MAX_BLOCK_BITS + 1];
    for (; lanes > 1; lanes /= 2, cells *= 2) {
        memset(sum, 0, sizeof sum);
        for (unsigned i = 0; i <= cells; i++)
            for (unsigned j = 0; j <= cells; j++) sum[i + j] += share[i] * share[j];
        memcpy(share, sum, sizeof sum);
    }
}

static void expect_blocks(struct occupancy *o, const struct blocks *blocks, double keys) {
    const unsigned cells = blocks->bits / blocks->lanes;
    const double mean = keys / (double)blocks->count;
    const unsigned max = (unsigned)fmin(mean + 12 * sqrt(mean) + 24, 4 * MAX_BLOCK_BITS);
    double lane[MAX_BLOCK_BITS + 1] = {1};
    for (unsigned n = 0; n <= max; n++) {
        double block[MAX_BLOCK_BITS + 1];
        memcpy(block, lane, sizeof block);
        add_lanes(block, cells, blocks->lanes);
        const double chance = exp((n ? n * log(mean) : 0) - mean - lgamma(n + 1.0));
        for (unsigned i = 0; i <= blocks->bits; i++) o->expected[i] += chance * block[i];
        for (unsigned ball = 0; ball < blocks->in_lane; ball++) throw_ball(lane, cells);
    }
}

static void describe_expected(struct occupancy *o, unsigned bits) {
    double mean = 0, squares = 0;
    for (unsigned i = 0; i <= bits; i++) {
        mean += i * o->expected[i];
        squares += (double)i * i * o->expected[i];
    }
    o->mean_expected = mean;
    o->deviation_expected = sqrt(fmax(0, squares - mean * mean));
}

/* ---- The two compared ---- */

/* Neighbouring loads are put together until enough blocks are expected to have one of them. */
static void compare_loads(struct occupancy *o, const struct blocks *blocks) {
    enum { ENOUGH = 10 };
    const double n = (double)blocks->count;
    double expected = 0, found = 0, sum = 0, apart = 0, groups = 0;
    for (unsigned i = 0; i <= blocks->bits; i++) {
        expected += n * o->expected[i];
        found += (double)o->with[i];
        if (expected < ENOUGH && i < blocks->bits) continue;
        if (expected > 0) sum += (found - expected) * (found - expected) / expected;
        apart += fabs(found - expected) / 2;
        groups++;
        expected = found = 0;
    }
    o->apart = apart / n;
    o->chance =
        groups > 2 ? chi_square_tail(sum, groups - 2) : 1; /* The number of keys is fitted. */
}

/* Many positions that are a little off show in the sum, a single dead one in the largest. */
static void compare_positions(struct occupancy *o, const struct blocks *blocks) {
    const double n = (double)o->looked_at, bits = blocks->bits;
    double p = 0, sum = 0, largest = 0;
    for (unsigned i = 0; i < blocks->bits; i++) p += (double)o->at[i] / n / bits;
    for (unsigned i = 0; i < blocks->bits; i++) {
        const double off = (double)o->at[i] - n * p;
        const double square = off * off / fmax(n * p * (1 - p), 1e-9);
        sum += square;
        largest = fmax(largest, square);
        o->bias = fmax(o->bias, p > 0 ? fabs(off) / (n * p) : 0);
    }
    o->bias_chance =
        fmin(chi_square_tail(sum, bits - 1), fmin(1, bits * chi_square_tail(largest, 1)));
}

void occupancy_of(const struct blocks *blocks, double keys, struct occupancy *occupancy) {
    *occupancy = (struct occupancy){0};
    measure(blocks, occupancy);
    if (blocks->lanes == 0 || !(keys > 0))
        expect_binomial(occupancy, blocks->bits);
    else
        expect_blocks(occupancy, blocks, keys);
    describe_expected(occupancy, blocks->bits);
    compare_loads(occupancy, blocks);
    compare_positions(occupancy, blocks);
}
