/* SPDX-License-Identifier: MIT */
/* For band.c, band_make.c and their vector kernels: how rows are found and tested, and what a
 * kernel does. It holds only inline functions. */
#ifndef TAMIS_KINDS_BAND_KERNELS_H
#define TAMIS_KINDS_BAND_KERNELS_H

#include "cpu/cpu.h"
#include "kinds/band_layers.h"

/* Queries whose rows are fetched at the same time. */
enum { ASKED = 64 };

/* ---- Locating rows -------------------------------------------------------------------------- */

static inline unsigned class_of(const uint8_t *meta, uint64_t bucket) {
    return tamis__get64(meta + bucket / 32 * 8) >> bucket % 32 * 2 & 3;
}

TAMIS_HOT bool is_bumped(const layer *l, const uint8_t *meta, uint64_t start) {
    if (l->shift == 0) return false;
    return offset_in_bucket(l, start) < cut_of(l, class_of(meta, bucket_of(l, start)));
}

/* The rows of a key in the layer whose thresholds and rows start at `at`. */
TAMIS_HOT void aim_at(const tamis_band_form *form, const layer *l, const uint8_t *at,
                      uint64_t start, tamis_band_aim *aim) {
    const uint64_t block = start / ROWS, c = coefficients_of(aim->x);
    const unsigned shift = start % ROWS, columns = columns_of(form);
    const bool is_narrow = block < l->narrow_blocks;
    const uint64_t before = block * columns - (is_narrow ? block : l->narrow_blocks);
    aim->here = at + (l->meta_words + before) * 8;
    aim->next = shift ? aim->here + (columns - is_narrow) * 8 : aim->here;
    aim->low = c << shift;
    aim->high = shift ? c >> (ROWS - shift) : 0;
    aim->guard_bits = form->guard_bits - (aim->x < narrow_edge(form));
}

enum { LINE = 64 }; /* bytes, which are eight words */

/* All lines from one byte to another except the first. */
static inline void fetch_lines(const uint8_t *from, const uint8_t *last) {
    for (from += LINE; from < last; from += LINE) __builtin_prefetch(from, 0, 2);
    __builtin_prefetch(last, 0, 2);
}

/* Up to eight columns of two blocks are two or three lines. Of more, a non-member mostly needs only
 * the first eight of each block, and fetching all of 16 took half as long again; but queries of
 * bands with values are mostly for members, which need all columns. */
static inline void fetch(const tamis_band_form *form, const uint8_t *here, const uint8_t *next) {
    const unsigned columns = columns_of(form);
    __builtin_prefetch(here, 0, 2);
    if (form->value_bits) {
        fetch_lines(here, next + columns * 8 - 8);
    } else if (columns * 8 <= LINE) {
        __builtin_prefetch(next, 0, 2);
        __builtin_prefetch(next + columns * 8 - 8, 0, 2);
    } else {
        __builtin_prefetch(here + LINE - 8, 0, 2);
        __builtin_prefetch(next, 0, 2);
        __builtin_prefetch(next + LINE - 8, 0, 2);
    }
}

/* Where the thresholds and rows of the first layer start. */
static inline const uint8_t *first_at(const uint8_t *band) {
    return band + HEAD_BYTES + layers_of(band) * LAYER_BYTES;
}

/* False: the layer bumped the key. */
TAMIS_HOT bool aim_in_layer(const tamis_band_form *form, const layer *l, const uint8_t *at,
                            tamis_band_aim *aim) {
    aim->x = next_x(aim->x, l->seed);
    const uint64_t start = tamis__range(aim->x, l->starts);
    if (is_bumped(l, at, start)) return false;
    aim_at(form, l, at, start, aim);
    return true;
}

/* From the i-th layer on, which starts at `at`, with x as mixed by the layers before. */
static inline void aim_from(const tamis_band_form *form, const uint8_t *band, unsigned i,
                            const uint8_t *at, tamis_band_aim *aim) {
    const unsigned layers = layers_of(band);
    for (; i < layers; i++) {
        const layer l = get_layer(form, band, i);
        if (aim_in_layer(form, &l, at, aim)) return;
        at += l.words * 8;
    }
    aim->here = NULL;
}

static inline void aim_in_band(const tamis_band_form *form, const uint8_t *band, uint64_t hash,
                               tamis_band_aim *aim) {
    aim->x = first_x(form, hash);
    aim_from(form, band, 0, first_at(band), aim);
}

/* ---- Groups, with four columns at a time --------------------------------------------------- */

/* The sums of up to four columns from the k-th on, a bit each. */
typedef uint64_t tamis_band_four(const tamis_band_aim *, unsigned k, unsigned count);

TAMIS_HOT uint64_t columns_from(tamis_band_four *four, const tamis_band_aim *aim, unsigned from,
                                unsigned to) {
    uint64_t sums = 0;
    for (unsigned k = from; k < to; k += 4)
        sums |= four(aim, k, to - k < 4 ? to - k : 4) << (k - from);
    return sums;
}

TAMIS_HOT bool test_columns(tamis_band_four *four, const tamis_band_form *form,
                            const tamis_band_aim *aim, uint64_t *value) {
    const unsigned v = form->value_bits, g = aim->guard_bits;
    if (!aim->here) return false;
    for (unsigned k = 0; k < g; k += 4) {
        const unsigned count = g - k < 4 ? g - k : 4;
        if (four(aim, v + k, count) != (aim->x >> k & ((1u << count) - 1))) return false;
    }
    *value = mask_of(aim->x, v) ^ columns_from(four, aim, 0, v);
    return true;
}

/* The first layers of a few bands, so that they need not be derived for every key. */
enum { KNOWN = 8 };

typedef struct known_band {
    const uint8_t *band, *at;
    layer first; /* if there is one */
} known_band;

static inline void get_known(const tamis_band_form *form, const tamis_band_set *set,
                             known_band *known) {
    for (uint64_t i = 0; i < set->count; i++, known++) {
        known->band = set->bytes + tamis__get64(set->starts + i * 8) + set->lead;
        known->at = first_at(known->band);
        if (layers_of(known->band)) known->first = get_layer(form, known->band, 0);
    }
}

TAMIS_HOT void aim_known(const tamis_band_form *form, const known_band *k, uint64_t hash,
                         tamis_band_aim *aim) {
    aim->x = first_x(form, hash);
    if (layers_of(k->band) == 0)
        aim->here = NULL;
    else if (!aim_in_layer(form, &k->first, k->at, aim))
        aim_from(form, k->band, 1, k->at + k->first.words * 8, aim);
}

TAMIS_HOT void ask_groups(tamis_band_four *four, const tamis_band_form *form,
                          const tamis_band_set *set, const uint64_t *hash, size_t n,
                          uint64_t *value, uint8_t *hit) {
    tamis_band_aim aim[ASKED];
    known_band known[KNOWN];
    uint64_t unused = 0;
    const bool is_known = set->count <= KNOWN && n > set->count;
    if (is_known) get_known(form, set, known);
    for (size_t group; n; hash += group, hit += group, n -= group) {
        group = n < ASKED ? n : ASKED;
        for (size_t j = 0; j < group; j++) {
            if (is_known)
                aim_known(form, &known[tamis__range(hash[j], set->count)], hash[j], &aim[j]);
            else
                aim_in_band(form, tamis__band_of(set, hash[j]), hash[j], &aim[j]);
            if (set->is_far && aim[j].here) fetch(form, aim[j].here, aim[j].next);
        }
        for (size_t j = 0; j < group; j++)
            hit[j] = test_columns(four, form, &aim[j], value ? value++ : &unused);
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

enum {
    CROWD = 512,   /* keys of a bucket that go along the rows together, at most */
    WAITING = 256, /* of those that have no row yet, at most */
    REACH = 512    /* rows of a bucket: as many as it has starts, and 63 */
};
#define NOBODY UINT64_MAX

/* A row that was made, and where its key starts; both counted from the first start. */
typedef struct tamis_band_made {
    uint32_t row, start;
} tamis_band_made;

/* The keys of a bucket of at most 256 starts, which are to become rows of up to 32 columns. */
typedef struct tamis_band_crowd {
    const uint64_t *x;   /* ascending by start */
    const uint64_t *row; /* what they sum up to; NULL: the low `guard_bits` of x */
    size_t n;
    unsigned guard_bits;
    uint64_t starts; /* of the layer */
    uint64_t *c;     /* rows of the layer; 0: empty */
    uint32_t *r;     /* and what they sum up to, zero where empty */

    /* Results. */
    tamis_band_made made[CROWD + 1];
    size_t made_count;
    uint64_t first;       /* the first start */
    uint64_t contradicts; /* from there: the last start of a key that contradicts those who start
                             later, or NOBODY */
} tamis_band_crowd;

/* Some columns of a layer, to be solved and written. */
typedef struct tamis_band_solving {
    const uint64_t *c; /* of each row; 0: empty */
    const uint32_t *r; /* zero where a row is empty */
    uint64_t blocks, narrow_blocks;
    unsigned columns;      /* of the layer */
    unsigned first, count; /* of those, at most 32: the low bits of r */
    uint8_t *out;          /* where the first block goes */
    tamis_stop stop;
} tamis_band_solving;

/* Whether to leave the rest undone, asked before each block. */
static inline bool is_left(const tamis_band_solving *s, uint64_t block) {
    return block % 1024 == 0 && tamis__must_stop(s->stop);
}

/* Words of the layer before a block, and how many of the columns a block has. */
static inline uint64_t words_before(const tamis_band_solving *s, uint64_t block) {
    return block * s->columns - min_of(block, s->narrow_blocks);
}

static inline unsigned solved_columns(const tamis_band_solving *s, uint64_t block) {
    return (unsigned)min_of(s->count, s->columns - s->first - (block < s->narrow_blocks));
}

/* ---- Kernels -------------------------------------------------------------------------------- */

typedef struct tamis_band_ops {
    /* tamis__band_ask_all for at most 2^32 bands. */
    void (*ask)(const tamis_band_form *, const tamis_band_set *, const uint64_t *hash, size_t n,
                uint64_t *value, uint8_t *hit);

    /* All keys of a bucket, at most CROWD, as if they came one by one, the last start first. False:
     * too many waited for a row; those in `made` are to be cleared. */
    bool (*fill)(tamis_band_crowd *);

    void (*solve)(const tamis_band_solving *);
} tamis_band_ops;

extern const tamis_band_ops tamis__band_avx2, tamis__band_avx512;

/* For tamis__band_ask: one key has no use for eight lanes. */
bool tamis__band_ask_avx2(const tamis_band_form *, const uint8_t *band, uint64_t hash,
                          uint64_t *value);

/* The best for this machine; NULL: the portable version. */
static inline const tamis_band_ops *tamis__band_ops(void) {
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX512) return &tamis__band_avx512;
    if (tamis__cpu() & TAMIS_CPU_AVX2) return &tamis__band_avx2;
#endif
    return NULL;
}

#endif
