/* SPDX-License-Identifier: MIT */
/* blocked: one cache line per key, the default kind.
 *
 * A block is 512 bits = 64 bytes = one cache line, seen as 8 lanes of 64 bits. The top bits of the
 * hash choose the block, the low 32 bits choose the bits inside it, so a query costs one cache
 * miss whatever the number of probes, and batches keep many misses under way.
 *
 *     hash = [ top bits .......... | x: low 32 bits ]
 *               │ range                │ times 8 odd salts, top 6 bits each
 *               ▼                      ▼
 *     block b: [ lane 0 | lane 1 | ... | lane 7 ]      one bit in each lane: 8 probes
 *
 * Three ways to set bits, distinguished by the number of hashes alone:
 *
 *     8        one bit in each lane; for most rates, and what vector units do best
 *     16       two bits in each lane; below about 10^-4
 *     1 to 7   anywhere in the block, by a multiplicative chain; above about 1.4 %
 *
 * Blocks are unequally full, and 8 probes are not always the best number, which costs bits: 5 %
 * more than classic at a rate of 1 %, 24 % at 2^-16, and more below. For small rates classic or a
 * kind built once is the better choice; from 10^-9 on the 32 bits inside a block no longer tell
 * keys apart, and plans are refused.
 * Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007). */
#include "kinds/blocked.h"

#include <math.h>

#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/blockwise.h"

enum { OPT_HASHES };
enum { BLOCK_BITS = BLOCK_BYTES * 8 };
#define MAX_BLOCKS (TAMIS_MAX_PAYLOAD_BYTES / BLOCK_BYTES)

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 16, "8 where it does well, else the best",
     "probes per key: 1 to 7 anywhere in the block, 8 or 16 by lanes"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static bool is_legal(uint64_t hashes) {
    return (hashes >= 1 && hashes <= 8) || hashes == 16;
}

static tamis_lanes lanes_of(uint64_t hashes) {
    if (hashes % LANES) return (tamis_lanes){1, BLOCK_BITS, (unsigned)hashes};
    return (tamis_lanes){LANES, LANE_BITS, (unsigned)hashes / LANES};
}

static double rate_of(uint64_t hashes, double keys, uint64_t blocks) {
    return tamis__lanes_rate(lanes_of(hashes), keys, (double)blocks);
}

static uint64_t blocks_for(uint64_t hashes, double keys, double fpr) {
    return tamis__lanes_blocks(lanes_of(hashes), keys, fpr, MAX_BLOCKS);
}

/* 8 probes are the fastest, so another number must save enough: 3 % of the bits, or a tenth of the
 * rate. */
static const double worth_bits = 0.97, worth_rate = 0.9;

/* The best number of hashes for this number of blocks. */
static uint64_t hashes_in(uint64_t blocks, double keys) {
    uint64_t best = LANES;
    double min = rate_of(LANES, keys, blocks) * worth_rate;
    for (uint64_t k = 1; k <= 16; k++) {
        if (!is_legal(k) || k == LANES) continue;
        const double rate = rate_of(k, keys, blocks);
        if (rate < min || (rate == min && k < best)) best = k, min = rate;
    }
    return best;
}

/* The best number of hashes for a rate, and the blocks for it. One quick test shows whether a
 * search can find anything better: searches are slow. */
static uint64_t hashes_for(double fpr, double keys, uint64_t *blocks) {
    uint64_t best = LANES;
    *blocks = blocks_for(LANES, keys, fpr);
    double min = *blocks ? (double)*blocks * worth_bits : INFINITY;
    for (uint64_t k = 1; k <= 16; k++) {
        if (!is_legal(k) || k == LANES) continue;
        if (*blocks && tamis__lanes_exceed(lanes_of(k), keys, floor(min), fpr)) continue;
        const uint64_t need = blocks_for(k, keys, fpr);
        if (!need || (double)need > min || ((double)need == min && k > best)) continue;
        best = k, *blocks = need, min = (double)need;
    }
    return best;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    const uint64_t chosen = tamis__chosen(params, OPT_HASHES, 0);
    if (params->has_option[OPT_HASHES] && !is_legal(chosen))
        return tamis__fail(TAMIS_INVALID, "hashes must be 1 to 8 or 16 for blocked, not %llu",
                           (unsigned long long)chosen);
    if (params->bits && params->bits < BLOCK_BITS)
        return tamis__fail(TAMIS_INVALID, "size must be at least %d bytes for blocked",
                           BLOCK_BYTES);
    uint64_t blocks = params->bits / BLOCK_BITS;
    if (blocks) {
        word[HASHES] = chosen ? chosen : hashes_in(blocks, keys);
        word[BLOCKS] = blocks;
        return TAMIS_OK;
    }
    if (chosen) blocks = blocks_for(chosen, keys, params->fpr);
    word[HASHES] = chosen ? chosen : hashes_for(params->fpr, keys, &blocks);
    word[BLOCKS] = blocks ? tamis__round_to_fold(blocks, 1, MAX_BLOCKS) : 0;
    return word[BLOCKS] ? TAMIS_OK : tamis__lanes_refuse("blocked", params->fpr);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BLOCKS] == 0 || word[BLOCKS] > MAX_BLOCKS)
        return tamis__fail(TAMIS_CORRUPT, "blocked cannot have %llu blocks",
                           (unsigned long long)word[BLOCKS]);
    if (!is_legal(word[HASHES]))
        return tamis__fail(TAMIS_CORRUPT, "blocked has 1 to 8 or 16 hashes, not %llu",
                           (unsigned long long)word[HASHES]);
    *size = word[BLOCKS] * BLOCK_BYTES;
    return TAMIS_OK;
}

static double rate(const uint64_t word[], uint64_t items) {
    return rate_of(word[HASHES], (double)items, word[BLOCKS]);
}

/* ---- Bits inside a block: the portable kernels, which are the reference ---------------------- */

TAMIS_HOT uint64_t lane_mask(uint32_t x, unsigned lane, unsigned bits) {
    const uint32_t t = x * tamis__salt[lane];
    uint64_t mask = (uint64_t)1 << (t >> 26);
    if (bits == 2) mask |= (uint64_t)1 << (t >> 20 & 63);
    return mask;
}

/* All lanes are tested without branches: one miss fetched them all. */
TAMIS_HOT bool test_lanes(const uint8_t *block, uint32_t x, unsigned bits) {
    uint64_t missing = 0;
    for (unsigned j = 0; j < LANES; j++)
        missing |= lane_mask(x, j, bits) & ~tamis__load64(block + 8 * j);
    return missing == 0;
}

TAMIS_HOT void set_lanes(uint8_t *block, uint32_t x, unsigned bits, bool is_shared) {
    for (unsigned j = 0; j < LANES; j++) {
        if (is_shared)
            tamis__or64_shared(block + 8 * j, lane_mask(x, j, bits));
        else
            tamis__or64(block + 8 * j, lane_mask(x, j, bits));
    }
}

TAMIS_HOT bool test_1(const uint8_t *block, uint32_t x) {
    return test_lanes(block, x, 1);
}
TAMIS_HOT bool test_2(const uint8_t *block, uint32_t x) {
    return test_lanes(block, x, 2);
}
TAMIS_HOT void set_1(uint8_t *block, uint32_t x) {
    set_lanes(block, x, 1, false);
}
TAMIS_HOT void set_2(uint8_t *block, uint32_t x) {
    set_lanes(block, x, 2, false);
}
TAMIS_HOT void set_1_shared(uint8_t *block, uint32_t x) {
    set_lanes(block, x, 1, true);
}
TAMIS_HOT void set_2_shared(uint8_t *block, uint32_t x) {
    set_lanes(block, x, 2, true);
}

TAMIS_BLOCK_OPS(one, locate, test_1, set_1)
TAMIS_BLOCK_OPS(two, locate, test_2, set_2)

static const tamis_block_ops plain[2] = {TAMIS_OPS(one), TAMIS_OPS(two)};

static TAMIS_ONE_KEY const tamis_block_ops *ops(const tamis_body *f) {
    const uint64_t bits = f->word[HASHES] / LANES - 1;
#if TAMIS_HAS_X86
    const uint32_t cpu = tamis__cpu();
    if (cpu & TAMIS_CPU_AVX512 && tamis__fits32(f)) return &tamis__blocked_avx512[bits];
    if (cpu & TAMIS_CPU_AVX2) return &tamis__blocked_avx2[bits];
#elif TAMIS_HAS_NEON
    if (tamis__cpu() & TAMIS_CPU_NEON) return &tamis__blocked_neon[bits];
#endif
    return &plain[bits];
}

/* The chain: nine top bits are a position in the block, then the golden ratio turns x on. */
TAMIS_HOT unsigned chain_next(uint32_t *x) {
    const unsigned bit = *x >> 23;
    *x *= 0x9e3779b9;
    return bit;
}

static void query_chain(const tamis_body *f, const uint64_t *hash, size_t n, uint8_t *hit) {
    for (size_t j = 0; j < n; j++) {
        const uint8_t *block = f->bytes + locate(f, hash[j]);
        uint32_t x = (uint32_t)hash[j];
        uint64_t i = 0;
        while (i < f->word[HASHES] && tamis__bit_get(block, chain_next(&x))) i++;
        hit[j] = i == f->word[HASHES];
    }
}

TAMIS_HOT void add_chain(bool is_shared, tamis_body *f, const uint64_t *hash, size_t n) {
    for (size_t j = 0; j < n; j++) {
        uint8_t *block = f->bytes + locate(f, hash[j]);
        uint32_t x = (uint32_t)hash[j];
        for (uint64_t i = 0; i < f->word[HASHES]; i++) {
            const unsigned at = chain_next(&x);
            if (is_shared)
                tamis__or64_shared(block + at / 64 * 8, (uint64_t)1 << at % 64);
            else
                tamis__bit_set(block, at);
        }
    }
}

/* ---- Querying and adding -------------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    if (f->word[HASHES] % LANES)
        query_chain(f, b.hash, b.n, hit);
    else
        ops(f)->query(f, b.hash, b.n, hit);
}

static void prefetch(const tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) TAMIS_PREFETCH(f->bytes + locate(f, b.hash[i]));
}

static TAMIS_ONE_KEY bool has(const tamis_body *f, uint64_t hash) {
    uint8_t hit;
    if (f->word[HASHES] % LANES == 0) return ops(f)->has(f, hash);
    query_chain(f, &hash, 1, &hit);
    return hit;
}

static bool query_numbers(const tamis_body *f, uint64_t flip, const uint64_t *numbers, size_t n,
                          uint8_t *hit) {
    const tamis_block_ops *kernel = f->word[HASHES] % LANES ? NULL : ops(f);
    if (!kernel || !kernel->numbers || !tamis__fits32(f)) return false;
    kernel->numbers(f, flip, numbers, n, hit);
    return true;
}

static bool inline_view(const tamis_body *f, struct tamis_inline *view) {
    view->blocks = f->word[BLOCKS];
    view->rule = TAMIS_INLINE_BLOCKED;
    return f->word[HASHES] == LANES;
}

/* In a filter of one block every hash leads there. */
static uint64_t slice(const tamis_body *f, uint64_t hash, tamis_body *part) {
    part->word[BLOCKS] = 1;
    part->size = BLOCK_BYTES;
    return locate(f, hash);
}

static TAMIS_ONE_KEY tamis_status add(tamis_body *f, tamis_batch b) {
    if (f->word[HASHES] % LANES)
        add_chain(false, f, b.hash, b.n);
    else
        ops(f)->add(f, b.hash, b.n);
    return TAMIS_OK;
}

static void add_shared(tamis_body *f, tamis_batch b) {
    switch (f->word[HASHES]) {
    case 8: tamis__blocks_add(locate, set_1_shared, f, b.hash, b.n); break;
    case 16: tamis__blocks_add(locate, set_2_shared, f, b.hash, b.n); break;
    default: add_chain(true, f, b.hash, b.n); break;
    }
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__blocks_measure(f, other, lanes_of(f->word[HASHES]), out);
}

const tamis_kind tamis__blocked = {
    .name = "blocked",
    .contract = "the default: one cache line per key, fastest to ask and to add",
    .word = {"blocks", "hashes"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__hash_probes,
    .rate = rate,
    .measure = measure,
    .query = query,
    .add = add,
    .speed = &(const tamis_speed){.unit = BLOCK_BYTES,
                                  .has = has,
                                  .prefetch = prefetch,
                                  .query_numbers = query_numbers,
                                  .inline_view = inline_view,
                                  .slice = slice,
                                  .add_shared = add_shared},
    .reshape = &(const tamis_reshape){.fold = tamis__fold_first,
                                      .move = tamis__blocks_move,
                                      .stretch = tamis__is_wider},
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = tamis__bitmap_intersect},
};
