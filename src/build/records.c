/* SPDX-License-Identifier: MIT */
/* Records of a builder: partitions, blocks, spilling, sorting, reading in order. */
#include "build/records.h"

#include <string.h>

#include "base/status.h"
#include "bits/bits.h"
#include "build/merge_runs.h"
#include "build/slabs.h"
#include "core/radix.h"
#include "file/spill.h"

/* Only an open block per partition must be in memory, so a small limit means small blocks. Larger
 * ones than these gain nothing: blocks of a partition are neighbours on disk. */
enum { MAX_BLOCK_BYTES = TAMIS_RECORDS_ROOM, FREE_BLOCK_BYTES = 16 * 1024 };

/* Few records are in one partition, more in 16: each begins pages of its own, and a new page takes
 * as long as forty records. There are more from this number of records for each on. */
enum { FULL_WAY = 1 << 16, MORE_WAYS = 16 };

/* Full blocks in memory come first, then full ones on disk, then the open one, which is the last of
 * those in memory: for a sequence, that is the order of time. */
typedef struct partition {
    _Alignas(TAMIS_ALIGNMENT) uint64_t *open; /* the last block in memory */
    uint64_t **blocks;
    size_t block_count, room;
    uint64_t spilled; /* blocks on disk */
    uint64_t records;
    bool is_broken; /* could not be put back */
} partition;

struct tamis_records {
    tamis_record_form form;
    unsigned numbers;   /* of 64 bits in a record */
    unsigned ways;      /* partitions in use */
    unsigned merged;    /* bits of the first byte of a hash that do not choose one */
    uint64_t count;     /* records that were put */
    uint64_t max_count; /* then there will be more partitions */
    uint64_t block;     /* bytes of one */
    uint64_t per_block; /* records in one: a power of two */
    struct tamis_allocator allocator;
    tamis_block self;
    tamis_slabs slabs;    /* memory of blocks */
    uint64_t lists;       /* bytes of lists of blocks */
    uint64_t max_memory;  /* of both */
    uint64_t max_records; /* maximum of a partition that can be sorted within the limit */
    unsigned unopened;    /* partitions without a block so far */
    tamis_spill spill;
    tamis_spill runs; /* of the partition being sorted, where memory is too small for it */
    partition part[TAMIS_PARTITIONS];
};

uint64_t tamis__records_count(const tamis_records *r) {
    uint64_t count = 0;
    for (unsigned p = 0; p < r->ways; p++) count += r->part[p].records;
    return count;
}

uint64_t tamis__records_in(const tamis_records *r, unsigned p) {
    return r->part[p].records;
}

static uint64_t held(const tamis_records *r) {
    return r->slabs.memory + r->lists;
}

uint64_t tamis__records_memory(const tamis_records *r) {
    return held(r) + r->self.size;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

/* A partition that is merged has a part of every run in memory, of at least this many bytes. */
enum { MIN_OF_RUN = 1024 };

/* Half the limit is for sorting, and a run has half of that. */
static uint64_t max_in_runs(uint64_t memory_limit, unsigned numbers) {
    const uint64_t runs = memory_limit / 2 / MIN_OF_RUN;
    const uint64_t run = memory_limit / 4 / (numbers * sizeof(uint64_t));
    return run > UINT64_MAX / runs ? UINT64_MAX : run * runs;
}

/* Blocks take a quarter of the limit. */
static uint64_t block_for(uint64_t memory_limit) {
    uint64_t block = MAX_BLOCK_BYTES;
    while (block > memory_limit / 4 / TAMIS_PARTITIONS) block /= 2;
    return block;
}

/* Lists double: while one grows, it takes three times its size. */
uint64_t tamis__records_max_memory(uint64_t memory_limit) {
    const uint64_t blocks = memory_limit / 4 / block_for(memory_limit) + 4 * TAMIS_PARTITIONS;
    return memory_limit / 4 + 3 * sizeof(uint64_t *) * blocks + sizeof(tamis_records) +
           TAMIS_ALIGNMENT;
}

static void choose_ways(tamis_records *r, unsigned ways) {
    r->ways = r->unopened = ways;
    r->merged = 8 - tamis__log2_floor(ways);
    r->max_count = ways < TAMIS_PARTITIONS ? (uint64_t)ways * FULL_WAY : UINT64_MAX;
}

static void choose_sizes(tamis_records *r, uint64_t memory_limit) {
    choose_ways(r, memory_limit && !r->form.is_sequence ? TAMIS_PARTITIONS : 1);
    if (r->form.is_sequence) r->max_count = UINT64_MAX;
    r->numbers = r->form.has_values ? 2 : 1;
    r->max_memory = memory_limit ? memory_limit / 4 : UINT64_MAX;
    r->block = memory_limit ? block_for(memory_limit) : FREE_BLOCK_BYTES;
    r->per_block = r->block / 8 / r->numbers;
    const bool is_bounded = memory_limit && !r->form.is_sequence;
    r->max_records = is_bounded ? max_in_runs(memory_limit, r->numbers) : UINT64_MAX;
}

tamis_status tamis__records_open(tamis_records **out, const tamis_record_form *form,
                                 uint64_t memory_limit, const char *dir,
                                 const struct tamis_allocator *allocator) {
    tamis_block self;
    *out = NULL;
    if (memory_limit && memory_limit < TAMIS_RECORDS_MIN_LIMIT)
        return tamis__fail(TAMIS_INVALID,
                           "a memory limit of %llu bytes is too small: the minimum is 1 MiB",
                           (unsigned long long)memory_limit);
    tamis_records *r = tamis__get(allocator, sizeof *r, &self);
    if (!r) return TAMIS_NOMEM;
    r->self = self;
    r->allocator = *allocator;
    r->form = *form;
    choose_sizes(r, memory_limit);
    tamis__slabs_start(&r->slabs, allocator, r->block, memory_limit != 0);
    tamis_status rc = tamis__spill_start(&r->spill, dir, memory_limit != 0);
    if (!rc) rc = tamis__spill_start(&r->runs, dir, false);
    if (rc) {
        tamis__records_free(r);
        return rc;
    }
    *out = r;
    return TAMIS_OK;
}

static tamis_status no_memory(uint64_t size) {
    return tamis__fail(TAMIS_NOMEM, "no memory for %llu bytes of records",
                       (unsigned long long)size);
}

static void free_list(tamis_records *r, uint64_t **list, size_t room) {
    if (!list) return;
    r->allocator.free(r->allocator.ctx, list, room * sizeof *list);
    r->lists -= room * sizeof *list;
}

static void free_blocks(tamis_records *r, const partition *part) {
    for (size_t i = 0; i < part->block_count; i++) tamis__slabs_put(&r->slabs, part->blocks[i]);
    free_list(r, part->blocks, part->room);
}

void tamis__records_free(tamis_records *r) {
    if (!r) return;
    for (unsigned p = 0; p < r->ways; p++) free_blocks(r, &r->part[p]);
    tamis__slabs_free(&r->slabs);
    tamis__spill_end(&r->spill);
    tamis__spill_end(&r->runs);
    const struct tamis_allocator allocator = r->allocator;
    tamis_block self = r->self;
    tamis__block_free(&allocator, &self);
}

/* ---- Places --------------------------------------------------------------------------------- */

static uint64_t blocks_of(const partition *part) {
    return part->block_count + part->spilled;
}

/* Rows on disk: the first has one block for each partition, the next two for each, side by side,
 * then four and so on. So the place of a block needs no list, a partition is read in a few long
 * runs, and unwritten holes are at most as many bytes as are written. */
static uint64_t row_of(uint64_t spilled) {
    uint64_t row = 1;
    while (row * 2 <= spilled + 1) row *= 2;
    return row;
}

static uint64_t place(const tamis_records *r, unsigned p, uint64_t spilled) {
    const uint64_t row = row_of(spilled);
    return ((row - 1) * r->ways + p * row + (spilled + 1 - row)) * r->block;
}

/* Contiguous records of a partition: one block in memory, or on disk up to the end of a row. */
typedef struct run {
    uint64_t *memory; /* NULL: on disk, ... */
    uint64_t offset;  /* ... here */
    uint64_t blocks, numbers;
} run;

/* The run that starts with the i-th block; empty at the end. */
static run run_at(const tamis_records *r, unsigned p, uint64_t i) {
    const partition *part = &r->part[p];
    const uint64_t before = i * r->per_block;
    const uint64_t left = part->records > before ? part->records - before : 0;
    const uint64_t kept = part->block_count ? part->block_count - 1 : 0;
    run found = {.blocks = 1};
    if (left == 0) return found;
    if (i < kept || i >= kept + part->spilled) {
        found.memory = i < kept ? part->blocks[i] : part->open;
    } else {
        const uint64_t at = i - kept, row = row_of(at);
        found.offset = place(r, p, at);
        found.blocks = smaller(2 * row - 1, part->spilled) - at;
    }
    found.numbers = smaller(found.blocks * r->per_block, left) * r->numbers;
    return found;
}

/* ---- Taking records ------------------------------------------------------------------------- */

static unsigned partition_of(const tamis_records *r, uint64_t hash) {
    return (unsigned)(hash >> 56) >> r->merged;
}

static tamis_status lengthen_list(tamis_records *r, partition *part) {
    const size_t room = part->room ? part->room * 2 : 4;
    uint64_t **blocks = r->allocator.alloc(r->allocator.ctx, room * sizeof *blocks);
    if (!blocks) return no_memory(room * sizeof *blocks);
    if (part->blocks) memcpy(blocks, part->blocks, part->block_count * sizeof *blocks);
    free_list(r, part->blocks, part->room);
    r->lists += room * sizeof *blocks;
    part->blocks = blocks;
    part->room = room;
    return TAMIS_OK;
}

static tamis_status append_block(tamis_records *r, partition *part) {
    const tamis_status rc = part->block_count == part->room ? lengthen_list(r, part) : TAMIS_OK;
    if (rc) return rc;
    uint64_t *memory = tamis__slabs_get(&r->slabs);
    if (!memory) return no_memory(r->block);
    r->unopened -= part->block_count == 0;
    part->blocks[part->block_count++] = part->open = memory;
    return TAMIS_OK;
}

static tamis_status too_many(const partition *part) {
    return tamis__fail(TAMIS_NOMEM,
                       "%llu keys have hashes that start with the same byte, too many to be sorted "
                       "within the memory limit: are the hashes well mixed?",
                       (unsigned long long)part->records);
}

/* Makes a place for the next record when the last block is full. When the memory left is needed for
 * partitions without a block, the full block goes to disk and its memory is reused; so do all that
 * follow it, which keeps their order. */
static tamis_status open_block(tamis_records *r, unsigned p) {
    partition *part = &r->part[p];
    if (blocks_of(part) > part->records / r->per_block) return TAMIS_OK; /* left by a failed call */
    if (part->records >= r->max_records) return too_many(part);
    const bool has_room = held(r) + (r->unopened + 1) * r->block <= r->max_memory;
    if (part->block_count == 0 || (part->spilled == 0 && has_room)) return append_block(r, part);
    const tamis_status rc =
        tamis__spill_write(&r->spill, place(r, p, part->spilled), part->open, r->block);
    if (!rc) part->spilled++;
    return rc;
}

/* Reopens the block before the open one, which is empty. */
static void reopen(tamis_records *r, unsigned p) {
    partition *part = &r->part[p];
    if (part->spilled == 0) {
        tamis__slabs_put(&r->slabs, part->open);
        part->open = part->blocks[--part->block_count - 1];
        return;
    }
    part->spilled--;
    if (tamis__spill_read(&r->spill, place(r, p, part->spilled), part->open, r->block))
        part->is_broken = true;
}

static void take_back(tamis_records *r, const uint64_t *hash, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const unsigned p = partition_of(r, hash[i]);
        partition *part = &r->part[p];
        if (part->records == (blocks_of(part) - 1) * r->per_block) reopen(r, p);
        part->records--;
    }
}

static tamis_status move_block(tamis_records *r, const uint64_t *record, uint64_t n) {
    for (uint64_t i = 0; i < n; i++, record += r->numbers) {
        const unsigned p = partition_of(r, record[0]);
        partition *part = &r->part[p];
        const uint64_t at = part->records & (r->per_block - 1);
        const tamis_status rc = at ? TAMIS_OK : open_block(r, p);
        if (rc) return rc;
        tamis__copy_record(part->open + at * r->numbers, record, r->numbers);
        part->records++;
    }
    return TAMIS_OK;
}

/* Moves all records, in their order, to more partitions; when there is no memory for that they stay
 * where they are. */
static tamis_status part_more(tamis_records *r) {
    partition before[TAMIS_PARTITIONS / MORE_WAYS];
    const unsigned ways = r->ways;
    tamis_status rc = TAMIS_OK;
    memcpy(before, r->part, ways * sizeof *before);
    memset(r->part, 0, ways * sizeof *before);
    choose_ways(r, ways * MORE_WAYS);
    for (unsigned p = 0; p < ways; p++)
        for (uint64_t i = 0, left = before[p].records; left && !rc; i++) {
            const uint64_t n = smaller(left, r->per_block);
            rc = move_block(r, before[p].blocks[i], n);
            left -= n;
        }
    const partition *old = rc ? r->part : before;
    for (unsigned p = 0; p < (rc ? r->ways : ways); p++) free_blocks(r, &old[p]);
    if (!rc) return TAMIS_OK;
    memset(r->part, 0, r->ways * sizeof *r->part);
    memcpy(r->part, before, ways * sizeof *before);
    choose_ways(r, ways);
    return rc;
}

/* There are too many partitions for the processor to predict its writes, so we prefetch: 4 ns for
 * each record instead of 6. */
TAMIS_HOT tamis_status put(tamis_records *r, const uint64_t *hash, size_t n, uint64_t value,
                           unsigned numbers) {
    enum { AHEAD = 2 * TAMIS_ALIGNMENT / 8, LINE = TAMIS_ALIGNMENT / 8 };
    for (size_t i = 0; i < n; i++) {
        const unsigned p = partition_of(r, hash[i]);
        partition *part = &r->part[p];
        const uint64_t at = part->records & (r->per_block - 1);
        if (at == 0) {
            const tamis_status rc = open_block(r, p);
            if (rc) {
                take_back(r, hash, i);
                return rc;
            }
        }
        uint64_t *here = part->open + at * numbers;
        if (at * numbers % LINE == 0) __builtin_prefetch(here + AHEAD, 1);
        tamis__copy_record(here, (const uint64_t[]){hash[i], value}, numbers);
        part->records++;
    }
    return TAMIS_OK;
}

tamis_status tamis__records_put(tamis_records *r, const uint64_t *hash, size_t n, uint64_t value) {
    tamis_status rc = TAMIS_OK;
    while (!rc && r->max_count - r->count < n) rc = part_more(r);
    if (!rc) rc = r->numbers == 1 ? put(r, hash, n, 0, 1) : put(r, hash, n, value, 2);
    if (!rc) r->count += n;
    return rc;
}

void tamis__records_take_back(tamis_records *r, const uint64_t *hash, size_t n) {
    take_back(r, hash, n);
    r->count -= n;
}

/* ---- Joining --------------------------------------------------------------------------------- */

bool tamis__records_can_join(const tamis_records *r) {
    return r->numbers == 1 && !r->form.is_sequence && !r->slabs.is_exact;
}

tamis_status tamis__records_open_apart(tamis_records **out, const tamis_records *r) {
    const tamis_status rc = tamis__records_open(out, &r->form, 0, NULL, &r->allocator);
    if (!rc) choose_ways(*out, TAMIS_PARTITIONS);
    return rc;
}

/* The last block of a partition, unless it is full. */
static uint64_t *take_rest(const tamis_records *r, partition *part) {
    const uint64_t full = part->records / r->per_block;
    uint64_t *rest = part->block_count > full ? part->blocks[full] : NULL;
    part->block_count = (size_t)full;
    return rest;
}

/* `rest` takes what there is room for from the end of `other`, which has so many records, and what
 * is left of that follows it. */
static void join_rests(tamis_records *r, partition *part, uint64_t *rest, uint64_t *other,
                       uint64_t others) {
    const uint64_t here = part->records % r->per_block;
    const uint64_t moved = rest ? smaller(others, r->per_block - here) : 0;
    if (moved) memcpy(rest + here, other + others - moved, moved * sizeof *rest);
    if (rest) part->blocks[part->block_count++] = rest;
    if (others > moved)
        part->blocks[part->block_count++] = other;
    else if (other)
        tamis__slabs_put(&r->slabs, other);
}

static void join_partition(tamis_records *r, partition *part, tamis_records *apart,
                           partition *more) {
    const bool is_first = part->block_count == 0;
    uint64_t *rest = take_rest(r, part), *other = take_rest(apart, more);
    memcpy(part->blocks + part->block_count, more->blocks,
           more->block_count * sizeof *part->blocks);
    part->block_count += more->block_count;
    more->block_count = 0;
    join_rests(r, part, rest, other, more->records % r->per_block);
    part->open = part->blocks[part->block_count - 1];
    part->records += more->records;
    more->records = 0;
    r->unopened -= is_first;
}

tamis_status tamis__records_join(tamis_records *r, tamis_records *apart) {
    tamis_status rc = TAMIS_OK;
    while (!rc && r->ways < TAMIS_PARTITIONS) rc = part_more(r);
    for (unsigned p = 0; p < TAMIS_PARTITIONS && !rc; p++)
        while (!rc && r->part[p].room < r->part[p].block_count + apart->part[p].block_count)
            rc = lengthen_list(r, &r->part[p]);
    if (rc) return rc;
    tamis__slabs_join(&r->slabs, &apart->slabs);
    for (unsigned p = 0; p < TAMIS_PARTITIONS; p++)
        if (apart->part[p].records) join_partition(r, &r->part[p], apart, &apart->part[p]);
    r->count += apart->count;
    apart->count = 0;
    return TAMIS_OK;
}

/* ---- Sorting -------------------------------------------------------------------------------- */

/* The index of the first record with the same hash as the one before it; n if there is none. */
TAMIS_HOT uint64_t distinct_from_start(const uint64_t *record, uint64_t n, unsigned numbers) {
    uint64_t i = 1;
    while (i < n && record[i * numbers] != record[(i - 1) * numbers]) i++;
    return i < n ? i : n;
}

/* What to do with a record that follows another in order. */
enum verdict { IS_NEW, IS_EQUAL, IS_CONFLICT };

static enum verdict judge(const tamis_records *r, const uint64_t *before, const uint64_t *here,
                          tamis_record_conflict *conflict) {
    const bool same_hash = here[0] == before[0];
    const bool is_same = same_hash && (r->numbers == 1 || here[1] == before[1]);
    if (is_same) return r->form.keeps_equal ? IS_NEW : IS_EQUAL;
    if (!same_hash || r->form.rule != TAMIS_RECORDS_VALUES) return IS_NEW;
    *conflict = (tamis_record_conflict){here[0], {before[1], here[1]}};
    return IS_CONFLICT;
}

/* Drops equal records, which are adjacent now; stops at a conflict, unless it `keeps` them. */
static tamis_status drop_equal(const tamis_records *r, uint64_t *record, uint64_t *n,
                               bool keeps_conflicts, tamis_record_conflict *conflict) {
    const unsigned numbers = r->numbers;
    uint64_t kept =
        numbers == 1 ? distinct_from_start(record, *n, 1) : distinct_from_start(record, *n, 2);
    for (uint64_t i = kept; i < *n; i++) {
        const uint64_t *here = record + i * numbers, *before = record + (kept - 1) * numbers;
        const enum verdict verdict = judge(r, before, here, conflict);
        if (verdict == IS_CONFLICT && !keeps_conflicts) return TAMIS_CONFLICT;
        if (verdict != IS_EQUAL) tamis__copy_record(record + kept++ * numbers, here, numbers);
    }
    *n = kept;
    return TAMIS_OK;
}

/* Some blocks of a partition, from `first`. */
typedef struct stretch {
    unsigned partition;
    uint64_t first, blocks;
} stretch;

static run run_in(const tamis_records *r, const stretch *s, uint64_t i) {
    run at = run_at(r, s->partition, i);
    at.blocks = smaller(at.blocks, s->blocks - (i - s->first));
    at.numbers = smaller(at.numbers, at.blocks * r->per_block * r->numbers);
    return at;
}

/* Copies blocks to one array, and back. */
static tamis_status gather(tamis_records *r, stretch s, uint64_t *to) {
    run at;
    for (uint64_t i = s.first; i < s.first + s.blocks; i += at.blocks, to += at.numbers) {
        at = run_in(r, &s, i);
        if (at.memory) {
            memcpy(to, at.memory, at.numbers * sizeof *to);
            continue;
        }
        const tamis_status rc = tamis__spill_read(&r->spill, at.offset, to, at.numbers * 8);
        if (rc) return rc;
    }
    return TAMIS_OK;
}

static tamis_status scatter(tamis_records *r, stretch s, const uint64_t *from) {
    run at;
    for (uint64_t i = s.first; i < s.first + s.blocks; i += at.blocks, from += at.numbers) {
        at = run_in(r, &s, i);
        if (at.memory) {
            memcpy(at.memory, from, at.numbers * sizeof *from);
            continue;
        }
        const tamis_status rc = tamis__spill_write(&r->spill, at.offset, from, at.numbers * 8);
        if (rc) return rc;
    }
    return TAMIS_OK;
}

/* All blocks of a partition. */
static stretch whole(const tamis_records *r, unsigned p) {
    return (stretch){p, 0, (r->part[p].records + r->per_block - 1) / r->per_block};
}

static uint64_t record_bytes(const tamis_records *r) {
    return r->numbers * sizeof(uint64_t);
}

uint64_t tamis__records_scratch(const tamis_records *r, unsigned p) {
    return r->form.is_sequence ? 0 : r->part[p].records * record_bytes(r) * 2;
}

/* Counts sorted records that follow those counted before, the last of which is `before`, or
 * NULL. */
static void count_records(const tamis_records *r, const uint64_t *before, const uint64_t *record,
                          uint64_t n, tamis_census *census, _Atomic uint64_t *label_counts) {
    census->records += n;
    for (uint64_t i = 0; i < n && r->numbers == 2; i++, before = record, record += 2) {
        const uint64_t value = record[1];
        census->keys += !before || record[0] != before[0];
        census->zeros += value == 0;
        if (value > census->max) census->max = value;
        if (label_counts) atomic_fetch_add_explicit(&label_counts[value], 1, memory_order_relaxed);
    }
}

static uint64_t *sort_here(const tamis_records *r, uint64_t *record, uint64_t *other, uint64_t n) {
    return r->numbers == 1 ? tamis__sort_hashes(record, other, n)
                           : tamis__sort_pairs(record, other, n);
}

static tamis_status sort_at_once(tamis_records *r, unsigned p, uint64_t *scratch,
                                 tamis_census *census, _Atomic uint64_t *label_counts,
                                 tamis_record_conflict *conflict) {
    partition *part = &r->part[p];
    uint64_t n = part->records;
    tamis_status rc = gather(r, whole(r, p), scratch);
    if (rc) return rc;
    uint64_t *sorted = sort_here(r, scratch, scratch + n * r->numbers, n);
    rc = drop_equal(r, sorted, &n, false, conflict);
    if (rc) return rc;
    part->records = n;
    rc = scatter(r, whole(r, p), sorted);
    part->is_broken = rc != TAMIS_OK; /* partly as before, partly sorted */
    if (!rc) count_records(r, NULL, sorted, n, census, label_counts);
    return rc;
}

/* ---- Sorting more than fits in memory --------------------------------------------------------
 *
 *     partition ──as much as fits, sorted──▶ run 0, run 1, ... elsewhere ──merged──▶ partition
 *
 * The partition is written to only then, so any earlier failure changes nothing. */

/* A partition sorted through runs, and the layout of its scratch memory: the list of runs first,
 * then either two runs, or one block of merged records and a part of every run. */
typedef struct long_way {
    tamis_records *r;
    unsigned partition;
    tamis_runs merge;
    uint64_t *work, work_bytes;
    uint64_t run_blocks;
    uint64_t n, merged; /* records in the current block, and before it */
    uint64_t last[2];   /* of those before it */
    tamis_census *census;
    _Atomic uint64_t *label_counts;
} long_way;

static bool share_scratch(long_way *w, uint64_t *scratch, uint64_t bytes) {
    const tamis_records *r = w->r;
    const uint64_t blocks = whole(r, w->partition).blocks, max_runs = bytes / MIN_OF_RUN;
    const uint64_t lists = max_runs * TAMIS_RUN_BYTES;
    w->work = scratch + lists / sizeof *scratch;
    w->work_bytes = bytes - lists;
    w->run_blocks = w->work_bytes / 2 / r->block;
    if (w->run_blocks == 0) return false;
    const uint64_t runs = (blocks + w->run_blocks - 1) / w->run_blocks;
    if (runs > max_runs) return false;
    w->merge = (tamis_runs){.file = &r->runs,
                            .numbers = r->numbers,
                            .run = (tamis_run *)(void *)scratch,
                            .each = (w->work_bytes - r->block) / runs / record_bytes(r)};
    w->merge.heap = scratch + runs * sizeof(tamis_run) / sizeof *scratch;
    return w->merge.each > 0;
}

static tamis_status write_runs(long_way *w) {
    tamis_records *r = w->r;
    const stretch all = whole(r, w->partition);
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < all.blocks && !rc; i += w->run_blocks) {
        const stretch some = {all.partition, i, smaller(w->run_blocks, all.blocks - i)};
        const uint64_t left = r->part[all.partition].records - i * r->per_block;
        uint64_t n = smaller(some.blocks * r->per_block, left);
        tamis_record_conflict later; /* the merge finds the lowest */
        rc = gather(r, some, w->work);
        if (rc) break;
        uint64_t *sorted = sort_here(r, w->work, w->work + n * r->numbers, n);
        drop_equal(r, sorted, &n, true, &later);
        const uint64_t place = i * r->block;
        rc = tamis__spill_write(&r->runs, place, sorted, n * record_bytes(r));
        w->merge.run[w->merge.runs++] = (tamis_run){.place = place, .n = n};
    }
    return rc;
}

/* Writes the filled block to its place. */
static tamis_status put_back(long_way *w) {
    tamis_records *r = w->r;
    const stretch block = {w->partition, w->merged / r->per_block, 1};
    const tamis_status rc = scatter(r, block, w->work);
    if (rc) return rc;
    count_records(r, w->merged ? w->last : NULL, w->work, w->n, w->census, w->label_counts);
    tamis__copy_record(w->last, w->work + (w->n - 1) * r->numbers, r->numbers);
    return TAMIS_OK;
}

/* Reads the runs from front to back, each record once: to the partition, or nowhere when only
 * looking for a conflict. */
static tamis_status merge_runs(long_way *w, bool is_writing, tamis_record_conflict *conflict) {
    const tamis_records *r = w->r;
    uint64_t record[2], before[2] = {0};
    tamis_status rc = tamis__runs_start(&w->merge, w->work + r->block / sizeof *w->work);
    w->n = w->merged = 0;
    while (!rc && tamis__runs_next(&w->merge, record, &rc)) {
        const bool is_first = w->merged + w->n == 0;
        const enum verdict verdict = is_first ? IS_NEW : judge(r, before, record, conflict);
        if (verdict == IS_CONFLICT) return TAMIS_CONFLICT;
        if (verdict == IS_EQUAL) continue;
        tamis__copy_record(w->work + w->n++ * r->numbers, record, r->numbers);
        tamis__copy_record(before, record, r->numbers);
        if (w->n < r->per_block) continue;
        if (is_writing) rc = put_back(w);
        w->merged += w->n;
        w->n = 0;
    }
    if (!rc && is_writing && w->n) rc = put_back(w);
    w->merged += w->n;
    return rc;
}

static tamis_status sort_by_runs(long_way *w, tamis_record_conflict *conflict) {
    tamis_records *r = w->r;
    partition *part = &r->part[w->partition];
    tamis_status rc = write_runs(w);
    if (!rc && r->form.rule == TAMIS_RECORDS_VALUES) rc = merge_runs(w, false, conflict);
    if (rc) return rc;
    rc = merge_runs(w, true, conflict);
    part->is_broken = rc != TAMIS_OK;
    if (!rc) part->records = w->merged;
    return rc;
}

tamis_status tamis__records_sort(tamis_records *r, unsigned p, uint64_t *scratch,
                                 uint64_t scratch_bytes, tamis_census *census,
                                 _Atomic uint64_t *label_counts, tamis_record_conflict *conflict) {
    const partition *part = &r->part[p];
    if (part->is_broken)
        return tamis__fail(TAMIS_IO, "the temporary file failed before: records are lost");
    if (r->form.is_sequence) {
        census->records += part->records;
        return TAMIS_OK;
    }
    if (tamis__records_scratch(r, p) <= scratch_bytes)
        return sort_at_once(r, p, scratch, census, label_counts, conflict);
    long_way w = {.r = r, .partition = p, .census = census, .label_counts = label_counts};
    return share_scratch(&w, scratch, scratch_bytes) ? sort_by_runs(&w, conflict) : too_many(part);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Loads the next contiguous records, as far as there is room. */
static bool load(tamis_records *r, tamis_record_cursor *c, uint64_t *room, tamis_status *rc) {
    run at = {0};
    while (c->partition < r->ways && (at = run_at(r, c->partition, c->block)).numbers == 0) {
        c->partition++;
        c->block = 0;
    }
    if (c->partition == r->ways) return false;
    if (!at.memory) {
        at.blocks = smaller(at.blocks, TAMIS_RECORDS_ROOM / r->block);
        at.numbers = smaller(at.numbers, at.blocks * r->block / 8);
        *rc = tamis__spill_read(&r->spill, at.offset, room, at.numbers * 8);
        if (*rc) return false;
    }
    c->here = at.memory ? at.memory : room;
    c->block += at.blocks;
    c->at = 0;
    c->count = at.numbers / r->numbers;
    return true;
}

uint64_t tamis__records_look(tamis_records *r, tamis_record_cursor *c, uint64_t *room,
                             tamis_status *rc) {
    *rc = TAMIS_OK;
    if (c->at == c->count && !load(r, c, room, rc)) return 0;
    return c->count - c->at;
}

uint64_t tamis__records_hash(const tamis_records *r, const tamis_record_cursor *c, uint64_t i) {
    return c->here[(c->at + i) * r->numbers];
}

void tamis__records_take(const tamis_records *r, tamis_record_cursor *c, uint64_t n, uint64_t *hash,
                         uint64_t *value) {
    const uint64_t *from = c->here + c->at * r->numbers;
    c->at += n;
    if (r->numbers == 1) {
        memcpy(hash, from, (size_t)n * sizeof *hash);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        hash[i] = from[2 * i];
        value[i] = from[2 * i + 1];
    }
}

size_t tamis__records_read(tamis_records *r, tamis_record_cursor *c, uint64_t *room, size_t max,
                           uint64_t *hash, uint64_t *value, tamis_status *rc) {
    size_t n = 0;
    *rc = TAMIS_OK;
    while (n < max) {
        const uint64_t there = smaller(tamis__records_look(r, c, room, rc), max - n);
        if (there == 0) break;
        if (r->numbers == 1) memset(value + n, 0, (size_t)there * sizeof *value);
        tamis__records_take(r, c, there, hash + n, value + n);
        n += (size_t)there;
    }
    return n;
}
