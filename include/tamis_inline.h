/* SPDX-License-Identifier: MIT */
/* tamis_inline.h: one key at a time without a call, for storage engines and inner loops.
 *
 * tamis.h queries through a handle: two calls and a choice of kernel for every key. Where even that
 * is too slow, create a small view of a blocked, split or fuse filter once and query it with the
 * functions below, which the compiler inlines and optimises for its target (-march=native, or
 * -mavx2, or nothing: the answers are the same).
 *
 *     struct tamis_inline fast = TAMIS_INLINE_INIT;
 *     if (tamis_inline_view(filter, &fast)) puts(tamis_why());
 *     for (i = 0; i < n; i++) found += tamis_inline_has_u64(&fast, key[i]);
 *
 * For lists of keys tamis_has_u64s is faster still: it overlaps many cache misses.
 *
 * A view is valid until the filter is freed, folded, loaded into or given other bytes in any other
 * way; tamis_add does not do that, nor does tamis_merge with a filter of the same size. */
#ifndef TAMIS_INLINE_H
#define TAMIS_INLINE_H

#include <string.h>

#include "tamis.h"
#include "tamis_inline_fuse.h"
#include "tamis_inline_hash.h"

/* C has no atomic load of a vector, and the thread sanitizer would report those here next to
 * tamis_add_shared. Under it, use the plain code, whose loads are atomic. */
#if defined(__SANITIZE_THREAD__)
#define TAMIS_INLINE_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TAMIS_INLINE_PLAIN 1
#endif
#endif

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(TAMIS_INLINE_PLAIN)
/* none of the following */
#elif defined(__AVX512BITALG__) && defined(__AVX512BW__)
#define TAMIS_INLINE_AVX2   1
#define TAMIS_INLINE_AVX512 1
#elif defined(__AVX2__)
#define TAMIS_INLINE_AVX2 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define TAMIS_INLINE_NEON 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How the block of a key is found, and what it looks like. */
enum tamis_inline_rule {
    TAMIS_INLINE_BLOCKED = 0,       /* 64 bytes, one bit in each of 8 words */
    TAMIS_INLINE_SPLIT = 1,         /* 32 bytes, one bit in each of 8 half words */
    TAMIS_INLINE_SPLIT_PARQUET = 2, /* the same, found by the upper half of the hash only */
    TAMIS_INLINE_FUSE = 3,          /* one segment of cells, of which a key has three or four */
    TAMIS_INLINE_FUSE_SEGMENTS = 4, /* several, or one that is empty; the hash chooses */
};

/* How an integer is hashed. */
enum tamis_inline_hash { TAMIS_INLINE_XXH3 = 0, TAMIS_INLINE_MIX8 = 1 };

/* The rules and hashes that this header knows, as one number. A filter with a newer one is
 * refused. */
enum { TAMIS_INLINE_VERSION = 3 };

#define TAMIS_INLINE_INIT tamis_inline_init()

struct tamis_inline {
    size_t struct_size;
    unsigned version;
    enum tamis_inline_rule rule;
    uint8_t *bytes;  /* the payload; of one fuse segment, its cells */
    uint64_t blocks; /* in the payload; of fuse, segments or the strips of one */
    uint64_t flip;   /* initial value of an integer's hash */
    uint64_t added;  /* keys since tamis_inline_edit */
    enum tamis_inline_hash hash;
    uint8_t arity, width; /* of fuse: cells of a key, bits of a cell */
    uint8_t log;          /* of one segment: cells of a strip, as a power of two */
    uint64_t turn;        /* of one segment: added to hashes; of several: where their starts are */
};

static inline struct tamis_inline tamis_inline_init(void) {
    struct tamis_inline view;
    memset(&view, 0, sizeof view);
    view.struct_size = sizeof view;
    view.version = TAMIS_INLINE_VERSION;
    return view;
}

/* Creates a view for queries. TAMIS_UNSUPPORTED for other kinds than blocked, split and fuse, for
 * blocked with other than 8 hashes, and for filters with a hash other than xxh3 and mix8. Threads:
 * as tamis_has. */
TAMIS_API tamis_status tamis_inline_view(const tamis *filter, struct tamis_inline *fast);

/* Creates a view for queries and adds; after the adds, tamis_inline_done counts them as items of
 * the filter. TAMIS_READONLY for filters that do not own their bytes, TAMIS_UNSUPPORTED for fuse,
 * which is built once. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_inline_edit(tamis *filter, struct tamis_inline *fast);
TAMIS_API void tamis_inline_done(tamis *filter, struct tamis_inline *fast);

/* ==== Inline code =========================================================================== */

static inline uint64_t tamis_inline_hash_u64(const struct tamis_inline *fast, uint64_t key) {
    return fast->hash == TAMIS_INLINE_MIX8 ? tamis_inline_mix8(fast->flip, key)
                                           : tamis_inline_xxh3(fast->flip, key);
}

static inline uint8_t *tamis_inline_block(const struct tamis_inline *fast, uint64_t hash) {
    if (fast->rule == TAMIS_INLINE_BLOCKED)
        return fast->bytes + tamis_inline_range(hash, fast->blocks) * 64;
    if (fast->rule == TAMIS_INLINE_SPLIT)
        return fast->bytes + tamis_inline_range(hash, fast->blocks) * 32;
    return fast->bytes + ((hash >> 32) * fast->blocks >> 32) * 32;
}

/* A view whose rule and hash are constants of the program, once it has compared them: then the
 * functions below have no branch for either.
 *
 *     if (fast.rule != TAMIS_INLINE_SPLIT || fast.hash != TAMIS_INLINE_MIX8) return slow(filter);
 *     const struct tamis_inline known =
 *         tamis_inline_known(&fast, TAMIS_INLINE_SPLIT, TAMIS_INLINE_MIX8);
 *     for (i = 0; i < n; i++) found += tamis_inline_has_u64(&known, key[i]); */
static inline struct tamis_inline tamis_inline_known(const struct tamis_inline *fast,
                                                     enum tamis_inline_rule rule,
                                                     enum tamis_inline_hash hash) {
    struct tamis_inline known = *fast;
    known.rule = rule;
    known.hash = hash;
    return known;
}

/* The same for fuse: how many cells a key has, and their bits. */
static inline struct tamis_inline tamis_inline_known_cells(const struct tamis_inline *fast,
                                                           unsigned arity, unsigned width) {
    struct tamis_inline known = *fast;
    known.arity = (uint8_t)arity;
    known.width = (uint8_t)width;
    return known;
}

/* Multipliers of the lanes. */
#define TAMIS_INLINE_SALTS \
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31

#if defined(__AVX2__)
/* One bit for each lane: is its bit set? The lower halves of all lanes fill one vector, the upper
 * halves another, in the order 0, 1, 4, 5, 2, 3, 6, 7. The top bit of a product chooses the half,
 * and the five below it the bit in that half, which a shift moves to the top. */
static inline unsigned tamis_inline_lanes_blocked(const uint8_t *block, uint64_t hash) {
    const __m256i salts =
        _mm256_set_epi32(0x5c6bfb31, (int)0x9efc4947, (int)0xa2b7289d, (int)0x8824ad5b, 0x2df1424b,
                         0x705495c7, 0x44974d91, 0x47b6137b);
    const __m256i t = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)hash), salts);
    const __m256 l = _mm256_loadu_ps((const float *)(const void *)block);
    const __m256 h = _mm256_loadu_ps((const float *)(const void *)(block + 32));
    const __m256 half =
        _mm256_blendv_ps(_mm256_shuffle_ps(l, h, _MM_SHUFFLE(2, 0, 2, 0)),
                         _mm256_shuffle_ps(l, h, _MM_SHUFFLE(3, 1, 3, 1)), _mm256_castsi256_ps(t));
    const __m256i up = _mm256_andnot_si256(_mm256_srli_epi32(t, 26), _mm256_set1_epi32(31));
    const __m256i top = _mm256_sllv_epi32(_mm256_castps_si256(half), up);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(top));
}
#endif

#if defined(TAMIS_INLINE_AVX512)
/* The index of a bit is in the lowest six bits of each lane; what is above them does not count. */
static inline __m512i tamis_inline_index_blocked(uint64_t hash) {
    const __m512i salts = _mm512_set_epi64(0x5c6bfb31, 0x9efc4947, 0x2df1424b, 0x705495c7,
                                           0xa2b7289d, 0x8824ad5b, 0x44974d91, 0x47b6137b);
    return _mm512_srli_epi64(_mm512_mul_epu32(_mm512_set1_epi64((long long)hash), salts), 26);
}

static inline bool tamis_inline_has_blocked(const uint8_t *block, uint64_t hash) {
    const __mmask64 set =
        _mm512_bitshuffle_epi64_mask(_mm512_loadu_si512(block), tamis_inline_index_blocked(hash));
    return _ktestc_mask64_u8(set, UINT64_C(0x0101010101010101)) != 0;
}

static inline void tamis_inline_add_blocked(uint8_t *block, uint64_t hash) {
    const __m512i bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), tamis_inline_index_blocked(hash));
    _mm512_storeu_si512(block, _mm512_or_si512(_mm512_loadu_si512(block), bits));
}
#elif defined(TAMIS_INLINE_AVX2)
/* Lanes 0-3 and 4-7: products in the lower and in the upper halves of the words. */
static inline void tamis_inline_mask_blocked(uint64_t hash, __m256i *low, __m256i *high) {
    const __m256i salts =
        _mm256_set_epi32(0x5c6bfb31, (int)0xa2b7289d, (int)0x9efc4947, (int)0x8824ad5b, 0x2df1424b,
                         0x44974d91, 0x705495c7, 0x47b6137b);
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i t = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)hash), salts);
    const __m256i lower =
        _mm256_blend_epi32(_mm256_srli_epi32(t, 26), _mm256_setzero_si256(), 0xaa);
    *low = _mm256_sllv_epi64(one, lower);
    *high = _mm256_sllv_epi64(one, _mm256_srli_epi64(t, 58));
}

static inline bool tamis_inline_has_blocked(const uint8_t *block, uint64_t hash) {
    return tamis_inline_lanes_blocked(block, hash) == 0xff;
}

static inline void tamis_inline_add_blocked(uint8_t *block, uint64_t hash) {
    __m256i low, high, *l = (__m256i *)(void *)block, *h = (__m256i *)(void *)(block + 32);
    tamis_inline_mask_blocked(hash, &low, &high);
    _mm256_storeu_si256(l, _mm256_or_si256(_mm256_loadu_si256(l), low));
    _mm256_storeu_si256(h, _mm256_or_si256(_mm256_loadu_si256(h), high));
}
#elif defined(TAMIS_INLINE_NEON)
/* The bit indices in lanes `from` to `from` + 3, of `bits` bits each. */
static inline uint32x4_t tamis_inline_index(uint64_t hash, unsigned from, int bits) {
    static const uint32_t salt[8] = {TAMIS_INLINE_SALTS};
    const uint32x4_t t = vmulq_u32(vdupq_n_u32((uint32_t)hash), vld1q_u32(salt + from));
    return vshlq_u32(t, vdupq_n_s32(bits - 32));
}

/* Lanes 2j and 2j+1, from the indices of lanes 0-3 or 4-7. */
static inline uint64x2_t tamis_inline_lanes(uint32x2_t index) {
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(vmovl_u32(index)));
}

static inline uint64x2_t tamis_inline_missing(const uint8_t *block, unsigned j, uint32x2_t index) {
    return vbicq_u64(tamis_inline_lanes(index), vreinterpretq_u64_u8(vld1q_u8(block + 16 * j)));
}

static inline bool tamis_inline_has_blocked(const uint8_t *block, uint64_t hash) {
    const uint32x4_t a = tamis_inline_index(hash, 0, 6), b = tamis_inline_index(hash, 4, 6);
    const uint64x2_t low = vorrq_u64(tamis_inline_missing(block, 0, vget_low_u32(a)),
                                     tamis_inline_missing(block, 1, vget_high_u32(a)));
    const uint64x2_t high = vorrq_u64(tamis_inline_missing(block, 2, vget_low_u32(b)),
                                      tamis_inline_missing(block, 3, vget_high_u32(b)));
    return vmaxvq_u32(vreinterpretq_u32_u64(vorrq_u64(low, high))) == 0;
}

static inline void tamis_inline_or_lanes(uint8_t *block, unsigned j, uint32x2_t index) {
    const uint8x16_t bits = vreinterpretq_u8_u64(tamis_inline_lanes(index));
    vst1q_u8(block + 16 * j, vorrq_u8(vld1q_u8(block + 16 * j), bits));
}

static inline void tamis_inline_add_blocked(uint8_t *block, uint64_t hash) {
    const uint32x4_t a = tamis_inline_index(hash, 0, 6), b = tamis_inline_index(hash, 4, 6);
    tamis_inline_or_lanes(block, 0, vget_low_u32(a));
    tamis_inline_or_lanes(block, 1, vget_high_u32(a));
    tamis_inline_or_lanes(block, 2, vget_low_u32(b));
    tamis_inline_or_lanes(block, 3, vget_high_u32(b));
}
#else
/* The library's own payloads are aligned, and another thread may be adding to them: an atomic load
 * is the same instruction. A view may be anywhere, but is never written to. */
static inline bool tamis_inline_is_aligned(const uint8_t *block) {
#if defined(__GCC_ATOMIC_LLONG_LOCK_FREE) && __GCC_ATOMIC_LLONG_LOCK_FREE == 2
    return ((uintptr_t)block & 7) == 0;
#else
    (void)block;
    return false;
#endif
}

static inline uint64_t tamis_inline_load(const uint8_t *word, bool is_aligned) {
    if (!is_aligned) return tamis_inline_word(word);
    return tamis_inline_swap(
        __atomic_load_n((const uint64_t *)(const void *)word, __ATOMIC_RELAXED));
}

static inline void tamis_inline_or(uint8_t *word, uint64_t bits) {
    const uint64_t x = tamis_inline_swap(tamis_inline_word(word) | bits);
    memcpy(word, &x, sizeof x);
}

static inline uint64_t tamis_inline_lane(uint64_t hash, unsigned j) {
    static const uint32_t salt[8] = {TAMIS_INLINE_SALTS};
    return (uint64_t)1 << ((uint32_t)hash * salt[j] >> 26);
}

static inline bool tamis_inline_has_blocked(const uint8_t *block, uint64_t hash) {
    uint64_t missing = 0;
    if (tamis_inline_is_aligned(block))
        for (unsigned j = 0; j < 8; j++)
            missing |= tamis_inline_lane(hash, j) & ~tamis_inline_load(block + 8 * j, true);
    else
        for (unsigned j = 0; j < 8; j++)
            missing |= tamis_inline_lane(hash, j) & ~tamis_inline_load(block + 8 * j, false);
    return missing == 0;
}

static inline void tamis_inline_add_blocked(uint8_t *block, uint64_t hash) {
    for (unsigned j = 0; j < 8; j++) tamis_inline_or(block + 8 * j, tamis_inline_lane(hash, j));
}
#endif

#if defined(TAMIS_INLINE_AVX2)
static inline __m256i tamis_inline_mask_split(uint64_t hash) {
    const __m256i salts =
        _mm256_set_epi32(0x5c6bfb31, (int)0x9efc4947, 0x2df1424b, 0x705495c7, (int)0xa2b7289d,
                         (int)0x8824ad5b, 0x44974d91, 0x47b6137b);
    const __m256i t = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)hash), salts);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(t, 27));
}

static inline bool tamis_inline_has_split(const uint8_t *block, uint64_t hash) {
    return _mm256_testc_si256(_mm256_loadu_si256((const __m256i *)(const void *)block),
                              tamis_inline_mask_split(hash)) != 0;
}

static inline void tamis_inline_add_split(uint8_t *block, uint64_t hash) {
    __m256i *p = (__m256i *)(void *)block;
    _mm256_storeu_si256(p, _mm256_or_si256(_mm256_loadu_si256(p), tamis_inline_mask_split(hash)));
}
#elif defined(TAMIS_INLINE_NEON)
static inline uint8x16_t tamis_inline_half(uint64_t hash, unsigned from) {
    const int32x4_t index = vreinterpretq_s32_u32(tamis_inline_index(hash, from, 5));
    return vreinterpretq_u8_u32(vshlq_u32(vdupq_n_u32(1), index));
}

static inline bool tamis_inline_has_split(const uint8_t *block, uint64_t hash) {
    const uint8x16_t low = vbicq_u8(tamis_inline_half(hash, 0), vld1q_u8(block));
    const uint8x16_t high = vbicq_u8(tamis_inline_half(hash, 4), vld1q_u8(block + 16));
    return vmaxvq_u8(vorrq_u8(low, high)) == 0;
}

static inline void tamis_inline_add_split(uint8_t *block, uint64_t hash) {
    vst1q_u8(block, vorrq_u8(vld1q_u8(block), tamis_inline_half(hash, 0)));
    vst1q_u8(block + 16, vorrq_u8(vld1q_u8(block + 16), tamis_inline_half(hash, 4)));
}
#else
/* Lanes 2j and 2j+1 as one word. */
static inline uint64_t tamis_inline_pair(uint64_t hash, unsigned j) {
    static const uint32_t salt[8] = {TAMIS_INLINE_SALTS};
    const uint32_t low = (uint32_t)hash * salt[2 * j] >> 27;
    const uint32_t high = (uint32_t)hash * salt[2 * j + 1] >> 27;
    return (uint64_t)1 << low | (uint64_t)1 << (high + 32);
}

static inline bool tamis_inline_has_split(const uint8_t *block, uint64_t hash) {
    uint64_t missing = 0;
    if (tamis_inline_is_aligned(block))
        for (unsigned j = 0; j < 4; j++)
            missing |= tamis_inline_pair(hash, j) & ~tamis_inline_load(block + 8 * j, true);
    else
        for (unsigned j = 0; j < 4; j++)
            missing |= tamis_inline_pair(hash, j) & ~tamis_inline_load(block + 8 * j, false);
    return missing == 0;
}

static inline void tamis_inline_add_split(uint8_t *block, uint64_t hash) {
    for (unsigned j = 0; j < 4; j++) tamis_inline_or(block + 8 * j, tamis_inline_pair(hash, j));
}
#endif

/* ---- Any rule ------------------------------------------------------------------------------- */

TAMIS_INLINE_FN bool tamis_inline_has_fuse(const struct tamis_inline *fast,
                                           tamis_inline_number hash) {
    struct tamis_inline_cells cells = {fast->bytes, fast->turn,  fast->blocks,
                                       fast->log,   fast->arity, fast->width};
    if (fast->rule == TAMIS_INLINE_FUSE) return tamis_inline_has_cells(&cells, hash);
    const uint64_t rest =
        tamis_inline_find(fast->bytes, fast->turn, fast->blocks, tamis_inline_out(hash), &cells);
    return cells.strips && tamis_inline_has_cells(&cells, tamis_inline_in(rest));
}

/* False: certainly not in the set. Threads: as tamis_has. */
TAMIS_INLINE_FN bool tamis_inline_has_hash(const struct tamis_inline *fast, uint64_t hash) {
    if (fast->rule >= TAMIS_INLINE_FUSE) return tamis_inline_has_fuse(fast, tamis_inline_in(hash));
    const uint8_t *block = tamis_inline_block(fast, hash);
    return fast->rule == TAMIS_INLINE_BLOCKED ? tamis_inline_has_blocked(block, hash)
                                              : tamis_inline_has_split(block, hash);
}

TAMIS_INLINE_FN bool tamis_inline_has_u64(const struct tamis_inline *fast, uint64_t key) {
    if (fast->rule >= TAMIS_INLINE_FUSE && fast->hash == TAMIS_INLINE_XXH3)
        return tamis_inline_has_fuse(fast, tamis_inline_xxh3_in(fast->flip, key));
    return tamis_inline_has_hash(fast, tamis_inline_hash_u64(fast, key));
}

/* Only on views of tamis_inline_edit. Threads: as tamis_add. */
static inline void tamis_inline_add_hash(struct tamis_inline *fast, uint64_t hash) {
    uint8_t *block = tamis_inline_block(fast, hash);
    if (fast->rule == TAMIS_INLINE_BLOCKED)
        tamis_inline_add_blocked(block, hash);
    else
        tamis_inline_add_split(block, hash);
    fast->added++;
}

static inline void tamis_inline_add_u64(struct tamis_inline *fast, uint64_t key) {
    tamis_inline_add_hash(fast, tamis_inline_hash_u64(fast, key));
}

#ifdef __cplusplus
}
#endif
#endif
