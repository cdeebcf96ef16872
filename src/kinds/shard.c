/* SPDX-License-Identifier: MIT */
/* shard: some of the blocks of a filter that is larger than one machine.
 *
 * blocked and split keep all bits of a key in one block, and the block never falls as the hash
 * grows. So a filter can be cut between any two blocks, and joining the pieces gives the filter,
 * byte for byte: no matter who built them, where, in which order and how often.
 *
 *     blocks    0 ......... 341 | 342 ........ 682 | 683 ....... 1023        total = 1024
 *               └── shard 0 ──┘   └── shard 1 ──┘   └── shard 2 ──┘         shards = 3
 *
 *     hash ──as in the whole──▶ block b ──b - first──▶ a block of this payload, or not mine
 *
 * Shard i has the blocks from floor(i * total / shards) to before floor((i+1) * total / shards). A
 * hash that belongs to another shard cannot be added, and is answered maybe, which is always safe.
 * A shard is a smaller filter of its layout, in which every hash becomes one that leads to the
 * block it has here, and the layout's own kernels do the rest. */
#include "kinds/shard.h"

#include <string.h>

#include "kinds/bitmap.h"
#include "kinds/blocks.h"

enum { LAYOUT = TAMIS_SHARD_LAYOUT, DETAIL, TOTAL, SHARD, SHARDS };
enum { BLOCKED, SPLIT, LAYOUTS };
enum { OPT_LAYOUT, OPT_HASHES, OPT_INDEX, OPT_SHARD, OPT_SHARDS };
enum {
    INNER_BLOCKS,
    INNER_DETAIL
};                      /* shape words of both layouts, whose only option is the detail */
enum { INDEX_PARQUET }; /* values of split's detail */

/* Per shard: 32 GiB of blocked, 16 GiB of split. See inner_hash. */
#define MAX_BLOCKS ((uint64_t)1 << 29)

extern const tamis_kind tamis__blocked, tamis__split;

static const struct {
    const tamis_kind *kind;
    uint64_t block_bytes;
    size_t option; /* of ours that is the layout's own */
} layouts[LAYOUTS] = {
    {&tamis__blocked, 64, OPT_HASHES},
    {&tamis__split, 32, OPT_INDEX},
};

static const struct tamis_option options[] = {
    {"layout", "blocked|split", 0, 0, "blocked, and split with index", "kind of the whole filter"},
    {"hashes", NULL, 1, 16, "as blocked chooses", "with layout=blocked: probes per key"},
    {"index", "parquet|wide", 0, 0, "as split chooses",
     "with layout=split: how the block follows from the hash"},
    {"shard", NULL, 0, TAMIS_MAX_SHARDS - 1, "0", "index of this shard, 0 to shards-1"},
    {"shards", NULL, 1, TAMIS_MAX_SHARDS, "1", "number of shards of the whole"},
    {0},
};

/* ---- The cut -------------------------------------------------------------------------------- */

const tamis_kind *tamis__shard_layout(uint64_t layout) {
    return layout < LAYOUTS ? layouts[layout].kind : NULL;
}

bool tamis__shard_layout_of(const tamis_kind *kind, uint64_t *layout) {
    for (*layout = 0; *layout < LAYOUTS; ++*layout)
        if (layouts[*layout].kind == kind) return true;
    return false;
}

uint64_t tamis__shard_block_bytes(const uint64_t word[]) {
    return layouts[word[LAYOUT]].block_bytes;
}

uint64_t tamis__shard_first(const uint64_t word[]) {
    return tamis__share(word[TOTAL], word[SHARD], word[SHARDS]);
}

uint64_t tamis__shard_blocks(const uint64_t word[]) {
    return tamis__share(word[TOTAL], word[SHARD] + 1, word[SHARDS]) - tamis__shard_first(word);
}

static bool is_parquet(const uint64_t word[]) {
    return word[LAYOUT] == SPLIT && word[DETAIL] == INDEX_PARQUET;
}

TAMIS_HOT uint64_t block_of(uint64_t hash, uint64_t total, bool is_by_parquet) {
    return is_by_parquet ? tamis__block_parquet(hash, total) : tamis__block_wide(hash, total);
}

/* b is in the last shard that does not start after it: floor(((b+1) * shards - 1) / total), or,
 * where that product would overflow, by bisection. */
static uint64_t shard_of_block(const uint64_t word[], uint64_t block) {
    const uint64_t total = word[TOTAL], shards = word[SHARDS];
    if (total <= UINT64_MAX / shards) return ((block + 1) * shards - 1) / total;
    uint64_t low = 0, high = shards;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(tamis__share(total, middle, shards) <= block ? &low : &high) = middle;
    }
    return low;
}

uint64_t tamis__shard_of(const uint64_t word[], uint64_t hash) {
    return shard_of_block(word, block_of(hash, word[TOTAL], is_parquet(word)));
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static void inner_shape(const uint64_t word[], uint64_t inner[TAMIS_WORDS]) {
    memset(inner, 0, TAMIS_WORDS * sizeof *inner);
    inner[INNER_BLOCKS] = word[TOTAL];
    inner[INNER_DETAIL] = word[DETAIL];
}

static tamis_status plan_whole(const tamis_params *params, uint64_t word[]) {
    const size_t other = word[LAYOUT] == SPLIT ? OPT_HASHES : OPT_INDEX;
    const size_t own = layouts[word[LAYOUT]].option;
    tamis_params inner = {.capacity = params->capacity, .fpr = params->fpr, .bits = params->bits};
    uint64_t shape[TAMIS_WORDS] = {0};
    if (params->has_option[other])
        return tamis__fail(TAMIS_INVALID, "%s is not an option of layout=%s", options[other].name,
                           layouts[word[LAYOUT]].kind->name);
    inner.option[0] = params->option[own];
    inner.has_option[0] = params->has_option[own];
    const tamis_status rc = layouts[word[LAYOUT]].kind->plan(&inner, shape);
    word[TOTAL] = shape[INNER_BLOCKS];
    word[DETAIL] = shape[INNER_DETAIL];
    return rc;
}

/* Of the largest shard. */
static uint64_t max_blocks(uint64_t total, uint64_t shards) {
    return (total - 1) / shards + 1;
}

tamis_status tamis__shard_may_be(uint64_t total, uint64_t shard, uint64_t shards) {
    const uint64_t max = total < TAMIS_MAX_SHARDS ? total : TAMIS_MAX_SHARDS;
    if (shards == 0 || shards > max)
        return tamis__fail(TAMIS_INVALID, "shards must be from 1 to %llu for %llu blocks, not %llu",
                           (unsigned long long)max, (unsigned long long)total,
                           (unsigned long long)shards);
    if (shard >= shards)
        return tamis__fail(TAMIS_INVALID, "shard must be from 0 to %llu with %llu shards, not %llu",
                           (unsigned long long)shards - 1, (unsigned long long)shards,
                           (unsigned long long)shard);
    if (max_blocks(total, shards) > MAX_BLOCKS)
        return tamis__fail(TAMIS_TOO_LARGE,
                           "a shard has up to %llu blocks: %llu blocks need %llu shards, not %llu",
                           (unsigned long long)MAX_BLOCKS, (unsigned long long)total,
                           (unsigned long long)max_blocks(total, MAX_BLOCKS),
                           (unsigned long long)shards);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[LAYOUT] =
        tamis__chosen(params, OPT_LAYOUT, params->has_option[OPT_INDEX] ? SPLIT : BLOCKED);
    word[SHARD] = tamis__chosen(params, OPT_SHARD, 0);
    word[SHARDS] = tamis__chosen(params, OPT_SHARDS, 1);
    const tamis_status rc = plan_whole(params, word);
    if (rc) return rc;
    return tamis__shard_may_be(word[TOTAL], word[SHARD], word[SHARDS]);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    uint64_t inner[TAMIS_WORDS];
    if (word[LAYOUT] >= LAYOUTS)
        return tamis__fail(TAMIS_CORRUPT, "shard has no layout %llu",
                           (unsigned long long)word[LAYOUT]);
    inner_shape(word, inner);
    const tamis_status rc = layouts[word[LAYOUT]].kind->check(inner, size);
    if (rc) return rc;
    if (word[SHARDS] == 0 || word[SHARDS] > TAMIS_MAX_SHARDS || word[SHARDS] > word[TOTAL] ||
        word[SHARD] >= word[SHARDS] || max_blocks(word[TOTAL], word[SHARDS]) > MAX_BLOCKS)
        return tamis__fail(TAMIS_CORRUPT, "%llu blocks have no shard %llu of %llu",
                           (unsigned long long)word[TOTAL], (unsigned long long)word[SHARD],
                           (unsigned long long)word[SHARDS]);
    *size = tamis__shard_blocks(word) * layouts[word[LAYOUT]].block_bytes;
    return TAMIS_OK;
}

static void whole(const uint64_t word[], tamis_params *params) {
    const size_t own = layouts[word[LAYOUT]].option;
    params->bits = word[TOTAL] * layouts[word[LAYOUT]].block_bytes * 8;
    params->option[OPT_LAYOUT] = word[LAYOUT];
    params->option[own] = word[DETAIL];
    params->option[OPT_SHARD] = word[SHARD];
    params->option[OPT_SHARDS] = word[SHARDS];
    params->has_option[OPT_LAYOUT] = params->has_option[own] = true;
    params->has_option[OPT_SHARD] = params->has_option[OPT_SHARDS] = true;
}

static uint64_t probes(const uint64_t word[]) {
    uint64_t inner[TAMIS_WORDS];
    inner_shape(word, inner);
    return layouts[word[LAYOUT]].kind->probes(inner);
}

/* For hashes of this shard, when the whole has `items` keys. */
static double rate(const uint64_t word[], uint64_t items) {
    uint64_t inner[TAMIS_WORDS];
    inner_shape(word, inner);
    return layouts[word[LAYOUT]].kind->rate(inner, items);
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

/* What a batch needs to know of its shard, computed once. */
typedef struct part {
    tamis_body inner; /* the shard as a smaller filter of the layout */
    uint64_t total, first, step;
    bool is_parquet;
} part;

static tamis_body as_layout(const tamis_body *f) {
    return (tamis_body){
        .kind = layouts[f->word[LAYOUT]].kind,
        .word = {[INNER_BLOCKS] = tamis__shard_blocks(f->word), [INNER_DETAIL] = f->word[DETAIL]},
        .items = f->items,
        .size = f->size,
        .bytes = f->bytes};
}

static part part_of(const tamis_body *f) {
    const tamis_body inner = as_layout(f);
    return (part){.inner = inner,
                  .total = f->word[TOTAL],
                  .first = tamis__shard_first(f->word),
                  .step = ((uint64_t)1 << 63) / inner.word[INNER_BLOCKS],
                  .is_parquet = is_parquet(f->word)};
}

/* The index of its block here; not below the number of blocks when it is another shard's. */
TAMIS_HOT uint64_t local_of(const part *p, uint64_t hash) {
    return block_of(hash, p->total, p->is_parquet) - p->first;
}

/* A hash with the same low half, which is all that counts inside a block, and a high half that
 * leads to block b of the smaller filter by either rule: (b + 1/2) * 2^32 / blocks, rounded down.
 * With MAX_BLOCKS there are 8 high halves to a block, and this is not one of the outer. */
TAMIS_HOT uint64_t inner_hash(const part *p, uint64_t hash, uint64_t b) {
    return (2 * b + 1) * p->step >> 32 << 32 | (uint32_t)hash;
}

/* ---- Querying and adding -------------------------------------------------------------------- */

/* Hashes of other shards are queried like any hash, and then answered yes. */
static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const part p = part_of(f);
    const uint64_t blocks = p.inner.word[INNER_BLOCKS];
    uint64_t inner[TAMIS_GROUP];
    uint8_t is_mine[TAMIS_GROUP];
    for (size_t group; b.n; b.hash += group, hit += group, b.n -= group) {
        group = b.n < TAMIS_GROUP ? b.n : TAMIS_GROUP;
        for (size_t j = 0; j < group; j++) {
            const uint64_t block = local_of(&p, b.hash[j]);
            is_mine[j] = block < blocks;
            inner[j] = inner_hash(&p, b.hash[j], is_mine[j] ? block : 0);
        }
        p.inner.kind->query(&p.inner, tamis__hashes(inner, group), hit);
        for (size_t j = 0; j < group; j++) hit[j] |= !is_mine[j];
    }
}

static bool has(const tamis_body *f, uint64_t hash) {
    const part p = part_of(f);
    const uint64_t b = local_of(&p, hash);
    return b >= p.inner.word[INNER_BLOCKS] ||
           p.inner.kind->speed->has(&p.inner, inner_hash(&p, hash, b));
}

/* A block of the layout, in which every hash leads there. */
static uint64_t slice(const tamis_body *f, uint64_t hash, tamis_body *own) {
    const part p = part_of(f);
    const uint64_t b = local_of(&p, hash), size = tamis__shard_block_bytes(f->word);
    const bool is_mine = b < p.inner.word[INNER_BLOCKS];
    *own = p.inner;
    own->word[INNER_BLOCKS] = 1;
    own->size = is_mine ? size : 0;
    return is_mine ? b * size : 0;
}

static void prefetch(const tamis_body *f, tamis_batch b) {
    const part p = part_of(f);
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t block = local_of(&p, b.hash[i]);
        if (block < p.inner.word[INNER_BLOCKS])
            TAMIS_PREFETCH(f->bytes + block * tamis__shard_block_bytes(f->word));
    }
}

/* All hashes are checked before the first is added: all or nothing. */
static tamis_status all_are_mine(const tamis_body *f, const part *p, const uint64_t *hash,
                                 size_t n) {
    for (size_t j = 0; j < n; j++)
        if (local_of(p, hash[j]) >= p->inner.word[INNER_BLOCKS])
            return tamis__fail(
                TAMIS_MISMATCH,
                "hash %016llx belongs to shard %llu of %llu, and this is shard %llu",
                (unsigned long long)hash[j], (unsigned long long)tamis__shard_of(f->word, hash[j]),
                (unsigned long long)f->word[SHARDS], (unsigned long long)f->word[SHARD]);
    return TAMIS_OK;
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    part p = part_of(f);
    uint64_t inner[TAMIS_GROUP];
    tamis_status rc = all_are_mine(f, &p, b.hash, b.n);
    for (size_t group; b.n && !rc; b.hash += group, b.n -= group) {
        group = b.n < TAMIS_GROUP ? b.n : TAMIS_GROUP;
        for (size_t j = 0; j < group; j++)
            inner[j] = inner_hash(&p, b.hash[j], local_of(&p, b.hash[j]));
        rc = p.inner.kind->add(&p.inner, tamis__hashes(inner, group)); /* which cannot fail */
    }
    return rc;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tamis_body a = as_layout(f), b = as_layout(other ? other : f);
    layouts[f->word[LAYOUT]].kind->measure(&a, other ? &b : NULL, out);
}

const tamis_kind tamis__shard = {
    .name = "shard",
    .contract = "a part of the blocks of a blocked or split filter; other parts' keys are maybe",
    .word = {"layout", "detail", "total", "shard", "shards"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .measure = measure,
    .query = query,
    .add = add,
    .room = tamis__any_room,
    .sizing = &(const tamis_sizing){.whole = whole},
    .speed = &(const tamis_speed){.has = has, .prefetch = prefetch, .slice = slice},
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = tamis__bitmap_intersect},
};
