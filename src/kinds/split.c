/* SPDX-License-Identifier: MIT */
/* split: the split-block filter of Parquet, bit for bit.
 *
 * A block is 256 bits = 8 lanes of 32 bits, and a key sets one bit in each lane of one block.
 * With hash=xxh64 the payload is exactly the bitset of Parquet files, which Arrow, Impala, Kudu and
 * GPU code read: one filter serves them all.
 *
 *     hash = [ high 32 bits | x: low 32 bits ]
 *               │ times blocks, >> 32    │ times salt j, top 5 bits
 *               ▼                        ▼
 *     block b: [ u32 | u32 | u32 | u32 | u32 | u32 | u32 | u32 ]        8 probes, half a cache line
 *
 * Two index rules, distinguished by a shape word: `parquet` uses 32 bits of the hash, as the format
 * demands, and gives some blocks noticeably more keys than others when blocks come near 2^32;
 * `wide` uses all 64 and has no such limit. The two differ for a few keys, so they must not be
 * confused: a reader with the wrong rule would lose keys.
 *
 * At the same rate split needs 4 % more bits than blocked at 1 % and a third more at 10^-5. */
#include "kinds/split.h"

#include "cpu/cpu.h"
#include "kinds/bitmap.h"
#include "kinds/blockwise.h"

enum { OPT_INDEX };
enum { BLOCK_BITS = BLOCK_BYTES * 8 };
#define MAX_BLOCKS (TAMIS_MAX_PAYLOAD_BYTES / BLOCK_BYTES)

/* The format's own limit, and the size up to which 32 bits spread keys evenly: at 2^24 blocks
 * each gets 256 or 257 of the 2^32 values, a difference of 0.4 %. */
#define MAX_PARQUET_BLOCKS  (((uint64_t)1 << 31) - 1)
#define EVEN_PARQUET_BLOCKS ((uint64_t)1 << 24)

static const tamis_lanes lanes = {LANES, LANE_BITS, 1};

static const struct tamis_option options[] = {
    {"index", "parquet|wide", 0, 0, "parquet up to 512 MiB, wide above",
     "how the block follows from the hash; only parquet can be exchanged"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    if (params->bits) {
        word[BLOCKS] = params->bits / BLOCK_BITS;
        if (!word[BLOCKS])
            return tamis__fail(TAMIS_INVALID, "size must be at least %d bytes for split",
                               BLOCK_BYTES);
    } else {
        const uint64_t blocks = tamis__lanes_blocks(lanes, keys, params->fpr, MAX_BLOCKS);
        word[BLOCKS] = blocks ? tamis__round_to_fold(blocks, 1, MAX_BLOCKS) : 0;
        if (!word[BLOCKS]) return tamis__lanes_refuse("split", params->fpr);
    }
    if (params->has_option[OPT_INDEX])
        word[INDEX] = params->option[OPT_INDEX];
    else
        word[INDEX] = word[BLOCKS] > EVEN_PARQUET_BLOCKS ? WIDE : PARQUET;
    if (word[INDEX] == PARQUET && word[BLOCKS] > MAX_PARQUET_BLOCKS)
        return tamis__fail(
            TAMIS_TOO_LARGE, "index=parquet allows %llu blocks of %d bytes at most, not %llu",
            (unsigned long long)MAX_PARQUET_BLOCKS, BLOCK_BYTES, (unsigned long long)word[BLOCKS]);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[INDEX] >= RULES)
        return tamis__fail(TAMIS_CORRUPT, "split has no index rule %llu",
                           (unsigned long long)word[INDEX]);
    if (word[BLOCKS] == 0 ||
        word[BLOCKS] > (word[INDEX] == PARQUET ? MAX_PARQUET_BLOCKS : MAX_BLOCKS))
        return tamis__fail(TAMIS_CORRUPT, "split cannot have %llu blocks with this index rule",
                           (unsigned long long)word[BLOCKS]);
    *size = word[BLOCKS] * BLOCK_BYTES;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return LANES;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__lanes_rate(lanes, (double)items, (double)word[BLOCKS]);
}

/* ---- Bits inside a block: the portable kernels, which are the reference ---------------------- */

/* Lanes 2j and 2j+1 as one 64-bit word. */
TAMIS_HOT uint64_t pair_mask(uint32_t x, unsigned j) {
    const uint32_t low = x * tamis__salt[2 * j] >> 27, high = x * tamis__salt[2 * j + 1] >> 27;
    return (uint64_t)1 << low | (uint64_t)1 << (high + 32);
}

TAMIS_HOT bool test(const uint8_t *block, uint32_t x) {
    uint64_t missing = 0;
    for (unsigned j = 0; j < LANES / 2; j++)
        missing |= pair_mask(x, j) & ~tamis__load64(block + 8 * j);
    return missing == 0;
}

TAMIS_HOT void set(uint8_t *block, uint32_t x) {
    for (unsigned j = 0; j < LANES / 2; j++) tamis__or64(block + 8 * j, pair_mask(x, j));
}

TAMIS_HOT void set_shared(uint8_t *block, uint32_t x) {
    for (unsigned j = 0; j < LANES / 2; j++) tamis__or64_shared(block + 8 * j, pair_mask(x, j));
}

TAMIS_BLOCK_OPS(parquet, locate_parquet, test, set)
TAMIS_BLOCK_OPS(wide, locate_wide, test, set)

static const tamis_block_ops plain[RULES] = {TAMIS_OPS(parquet), TAMIS_OPS(wide)};

static const tamis_block_ops *ops(const tamis_body *f) {
    const uint64_t rule = f->word[INDEX];
#if TAMIS_HAS_X86
    const uint32_t cpu = tamis__cpu();
    if (cpu & TAMIS_CPU_AVX512 && tamis__fits32(f)) return &tamis__split_avx512[rule];
    if (cpu & TAMIS_CPU_AVX2) return &tamis__split_avx2[rule];
#elif TAMIS_HAS_NEON
    if (tamis__cpu() & TAMIS_CPU_NEON) return &tamis__split_neon[rule];
#endif
    return &plain[rule];
}

/* ---- Querying and adding -------------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    ops(f)->query(f, b.hash, b.n, hit);
}

/* Both rules give the same block or its neighbour, which is as good to prefetch. */
static void prefetch(const tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) TAMIS_PREFETCH(f->bytes + locate_wide(f, b.hash[i]));
}

static bool has(const tamis_body *f, uint64_t hash) {
    return ops(f)->has(f, hash);
}

static bool query_numbers(const tamis_body *f, uint64_t flip, const uint64_t *numbers, size_t n,
                          uint8_t *hit) {
    const tamis_block_ops *kernel = ops(f);
    if (!kernel->numbers || !tamis__fits32(f)) return false;
    kernel->numbers(f, flip, numbers, n, hit);
    return true;
}

static bool inline_view(const tamis_body *f, struct tamis_inline *view) {
    view->blocks = f->word[BLOCKS];
    view->rule = f->word[INDEX] == PARQUET ? TAMIS_INLINE_SPLIT_PARQUET : TAMIS_INLINE_SPLIT;
    return true;
}

/* In a filter of one block every hash leads there, by both rules. */
static uint64_t slice(const tamis_body *f, uint64_t hash, tamis_body *part) {
    part->word[BLOCKS] = 1;
    part->size = BLOCK_BYTES;
    return f->word[INDEX] == PARQUET ? locate_parquet(f, hash) : locate_wide(f, hash);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    ops(f)->add(f, b.hash, b.n);
    return TAMIS_OK;
}

static void add_shared(tamis_body *f, tamis_batch b) {
    if (f->word[INDEX] == PARQUET)
        tamis__blocks_add(locate_parquet, set_shared, f, b.hash, b.n);
    else
        tamis__blocks_add(locate_wide, set_shared, f, b.hash, b.n);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__blocks_measure(f, other, lanes, out);
}

const tamis_kind tamis__split = {
    .name = "split",
    .contract = "split-block: Parquet's filter bit for bit when hash=xxh64",
    .word = {"blocks", "index"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
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
    /* Both rules scale to the number of blocks, so neighbours merge; the rule stays. */
    .reshape = &(const tamis_reshape){.fold = tamis__fold_first,
                                      .move = tamis__blocks_move,
                                      .stretch = tamis__is_wider},
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = tamis__bitmap_intersect},
};
