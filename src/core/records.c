/* Records of a builder: partitions, blocks, spilling, sorting, reading in order. */
#include "core/records.h"

#include <string.h>

#include "base/status.h"
#include "file/spill.h"

/* Large enough for a disk, small enough that one open block for each partition is little. */
enum { BLOCK_BYTES = 64 * 1024, BLOCK_NUMBERS = BLOCK_BYTES / 8 };

/* Records in memory, or their place in the file. */
typedef struct block {
    uint64_t *memory;
    uint64_t offset;
} block;

/* All blocks but the last are full; the last is in memory until the records are sorted. */
typedef struct partition {
    block *blocks;
    size_t block_count, room;
    uint64_t records;
} partition;

struct tamis_records {
    tamis_record_form form;
    unsigned numbers; /* of 64 bits in a record */
    struct tamis_allocator allocator;
    tamis_block self;
    uint64_t memory, most_memory; /* bytes of blocks */
    tamis_spill spill;
    uint64_t spilled; /* bytes in the file */
    uint64_t count;
    bool is_sorted;
    bool is_broken; /* a block could not be put back */
    partition part[TAMIS_PARTITIONS];
};

static uint64_t per_block(const tamis_records *r) {
    return BLOCK_NUMBERS / r->numbers;
}

uint64_t tamis__records_count(const tamis_records *r) {
    return r->count;
}

uint64_t tamis__records_memory(const tamis_records *r) {
    return r->memory;
}

bool tamis__records_are_sorted(const tamis_records *r) {
    return r->is_sorted;
}

uint64_t tamis__records_block_size(const tamis_records *r) {
    (void)r;
    return BLOCK_BYTES;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

tamis_status tamis__records_open(tamis_records **out, const tamis_record_form *form,
                                 uint64_t memory_limit, const char *folder,
                                 const struct tamis_allocator *allocator) {
    tamis_block self;
    tamis_records *r = tamis__get(allocator, sizeof *r, &self);
    *out = NULL;
    if (!r) return TAMIS_NOMEM;
    r->self = self;
    r->allocator = *allocator;
    r->form = *form;
    r->numbers = form->has_values ? 2 : 1;
    r->most_memory = memory_limit ? memory_limit / 4 : UINT64_MAX;
    const tamis_status rc = tamis__spill_start(&r->spill, folder);
    if (rc) {
        tamis__records_free(r);
        return rc;
    }
    *out = r;
    return TAMIS_OK;
}

/* Blocks are many and small: they come from the allocator as they are, without alignment. */
static uint64_t *get_block(tamis_records *r) {
    uint64_t *memory = r->allocator.alloc(r->allocator.ctx, BLOCK_BYTES);
    if (memory)
        r->memory += BLOCK_BYTES;
    else
        tamis__fail(TAMIS_NOMEM, "no memory for %d bytes of records", BLOCK_BYTES);
    return memory;
}

static void free_block(tamis_records *r, block *b) {
    if (!b->memory) return;
    r->allocator.free(r->allocator.ctx, b->memory, BLOCK_BYTES);
    r->memory -= BLOCK_BYTES;
    b->memory = NULL;
}

void tamis__records_free(tamis_records *r) {
    if (!r) return;
    for (int p = 0; p < TAMIS_PARTITIONS; p++) {
        partition *part = &r->part[p];
        for (size_t i = 0; i < part->block_count; i++) free_block(r, &part->blocks[i]);
        if (part->blocks)
            r->allocator.free(r->allocator.ctx, part->blocks, part->room * sizeof *part->blocks);
    }
    tamis__spill_end(&r->spill);
    const struct tamis_allocator allocator = r->allocator;
    tamis_block self = r->self;
    tamis__give_back(&allocator, &self);
}

/* ---- Taking records ------------------------------------------------------------------------- */

static tamis_status more_blocks(tamis_records *r, partition *part) {
    const size_t room = part->room ? part->room * 2 : 4;
    block *blocks = r->allocator.alloc(r->allocator.ctx, room * sizeof *blocks);
    if (!blocks) return tamis__fail(TAMIS_NOMEM, "no memory for a list of %zu blocks", room);
    if (part->blocks) {
        memcpy(blocks, part->blocks, part->block_count * sizeof *blocks);
        r->allocator.free(r->allocator.ctx, part->blocks, part->room * sizeof *blocks);
    }
    part->blocks = blocks;
    part->room = room;
    return TAMIS_OK;
}

/* A place for the next record when the last block is full. Over the limit the full block goes to
 * disk and its memory becomes the new one. */
static tamis_status open_block(tamis_records *r, partition *part) {
    tamis_status rc = part->block_count == part->room ? more_blocks(r, part) : TAMIS_OK;
    if (rc) return rc;
    block *last = part->block_count ? &part->blocks[part->block_count - 1] : NULL;
    uint64_t *memory;
    if (last && r->memory + BLOCK_BYTES > r->most_memory) {
        rc = tamis__spill_write(&r->spill, r->spilled, last->memory, BLOCK_BYTES);
        if (rc) return rc;
        memory = last->memory;
        *last = (block){NULL, r->spilled};
        r->spilled += BLOCK_BYTES;
    } else {
        memory = get_block(r);
        if (!memory) return TAMIS_NOMEM;
    }
    part->blocks[part->block_count++] = (block){memory, 0};
    return TAMIS_OK;
}

tamis_status tamis__records_put(tamis_records *r, const uint64_t *hash, const uint64_t *value,
                                size_t n) {
    const uint64_t most = per_block(r);
    for (size_t i = 0; i < n; i++) {
        partition *part = &r->part[r->form.is_sequence ? 0 : hash[i] >> 56];
        const uint64_t at = part->records % most;
        if (at == 0) {
            const tamis_status rc = open_block(r, part);
            if (rc) return rc;
        }
        uint64_t *place = part->blocks[part->block_count - 1].memory + at * r->numbers;
        place[0] = hash[i];
        if (r->numbers == 2) place[1] = value[i];
        part->records++;
        r->count++;
    }
    return TAMIS_OK;
}

/* ---- Sorting -------------------------------------------------------------------------------- */

/* A pass for each digit of 11 bits in which the numbers differ at all: hashes may be anything, and
 * no order of them makes this slow. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = (64 + DIGIT_BITS - 1) / DIGIT_BITS };

/* Sorts records by their `by`-th number, keeping the order of equal ones. Returns where the result
 * is: in `from` or in `to`. */
static uint64_t *sort_by(uint64_t *from, uint64_t *to, uint64_t n, unsigned numbers, unsigned by) {
    uint64_t any = 0, all = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++) {
        any |= from[i * numbers + by];
        all &= from[i * numbers + by];
    }
    const uint64_t differ = any & ~all;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        const unsigned shift = pass * DIGIT_BITS;
        if ((differ >> shift & (DIGITS - 1)) == 0) continue;
        uint64_t start[DIGITS] = {0}, sum = 0;
        for (uint64_t i = 0; i < n; i++) start[from[i * numbers + by] >> shift & (DIGITS - 1)]++;
        for (unsigned d = 0; d < DIGITS; d++) {
            const uint64_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t at = start[from[i * numbers + by] >> shift & (DIGITS - 1)]++;
            memcpy(to + at * numbers, from + i * numbers, numbers * sizeof *to);
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Drops equal records, which are neighbours now. */
static tamis_status drop_equal(const tamis_records *r, uint64_t *record, uint64_t *n,
                               uint64_t *conflict) {
    const unsigned numbers = r->numbers;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < *n; i++) {
        const uint64_t *here = record + i * numbers;
        const uint64_t *before = kept ? record + (kept - 1) * numbers : here;
        const bool same_hash = kept && here[0] == before[0];
        const bool is_same = same_hash && (numbers == 1 || here[1] == before[1]);
        if (is_same && !r->form.keeps_equal) continue;
        if (same_hash && !is_same && r->form.rule == TAMIS_RECORDS_VALUES) {
            *conflict = here[0];
            return tamis__fail(TAMIS_CONFLICT,
                               "the key with hash %016llx has the values %llu and %llu",
                               (unsigned long long)here[0], (unsigned long long)before[1],
                               (unsigned long long)here[1]);
        }
        memmove(record + kept++ * numbers, here, numbers * sizeof *record);
    }
    *n = kept;
    return TAMIS_OK;
}

static uint64_t records_in(const tamis_records *r, const partition *part, size_t i) {
    const uint64_t most = per_block(r), before = (uint64_t)i * most;
    const uint64_t left = part->records > before ? part->records - before : 0;
    return left < most ? left : most;
}

/* Blocks to one array, or back. */
static tamis_status gather(tamis_records *r, const partition *part, uint64_t *to) {
    for (size_t i = 0; i < part->block_count; i++) {
        const block *b = &part->blocks[i];
        const uint64_t numbers = records_in(r, part, i) * r->numbers;
        if (b->memory) {
            memcpy(to, b->memory, numbers * sizeof *to);
        } else {
            const tamis_status rc = tamis__spill_read(&r->spill, b->offset, to, numbers * 8);
            if (rc) return rc;
        }
        to += numbers;
    }
    return TAMIS_OK;
}

static tamis_status scatter(tamis_records *r, partition *part, const uint64_t *from) {
    for (size_t i = 0; i < part->block_count; i++) {
        block *b = &part->blocks[i];
        const uint64_t numbers = records_in(r, part, i) * r->numbers;
        if (b->memory) {
            memcpy(b->memory, from, numbers * sizeof *from);
        } else if (numbers) {
            const tamis_status rc = tamis__spill_write(&r->spill, b->offset, from, numbers * 8);
            if (rc) return rc;
        }
        from += numbers;
    }
    return TAMIS_OK;
}

uint64_t tamis__records_scratch(const tamis_records *r, unsigned p) {
    return r->form.is_sequence ? 0 : r->part[p].records * r->numbers * 2 * 8;
}

static void count_records(const tamis_records *r, const uint64_t *record, uint64_t n,
                          tamis_census *census, _Atomic uint64_t *label_counts) {
    census->records += n;
    for (uint64_t i = 0; i < n && r->numbers == 2; i++) {
        const uint64_t value = record[i * 2 + 1];
        census->keys += i == 0 || record[i * 2] != record[i * 2 - 2];
        census->zeros += value == 0;
        if (value > census->most) census->most = value;
        if (label_counts) atomic_fetch_add_explicit(&label_counts[value], 1, memory_order_relaxed);
    }
}

tamis_status tamis__records_sort(tamis_records *r, unsigned p, uint64_t *scratch,
                                 tamis_census *census, _Atomic uint64_t *label_counts,
                                 uint64_t *conflict) {
    partition *part = &r->part[p];
    uint64_t n = part->records;
    if (r->form.is_sequence) {
        census->records += n;
        return TAMIS_OK;
    }
    if (r->is_broken)
        return tamis__fail(TAMIS_IO, "the temporary file failed before: records are lost");
    uint64_t *other = scratch + n * r->numbers;
    tamis_status rc = gather(r, part, scratch);
    if (rc) return rc;
    uint64_t *sorted = scratch;
    if (r->numbers == 2) sorted = sort_by(sorted, other, n, 2, 1);
    sorted = sort_by(sorted, sorted == scratch ? other : scratch, n, r->numbers, 0);
    rc = drop_equal(r, sorted, &n, conflict);
    if (rc) return rc;
    count_records(r, sorted, n, census, label_counts);
    part->records = n;
    rc = scatter(r, part, sorted);
    if (rc) r->is_broken = true;
    return rc;
}

void tamis__records_close(tamis_records *r) {
    r->is_sorted = true;
    r->count = 0;
    for (int p = 0; p < TAMIS_PARTITIONS; p++) r->count += r->part[p].records;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Loads the block that the cursor is at, or moves on to the next one that has records. */
static bool load(tamis_records *r, tamis_record_cursor *c, uint64_t *room, tamis_status *rc) {
    for (; c->partition < TAMIS_PARTITIONS; c->partition++, c->block = 0) {
        const partition *part = &r->part[c->partition];
        c->here_count = records_in(r, part, (size_t)c->block);
        if (c->block >= part->block_count || c->here_count == 0) continue;
        const block *b = &part->blocks[c->block];
        c->at = 0;
        c->here = b->memory ? b->memory : room;
        if (!b->memory)
            *rc = tamis__spill_read(&r->spill, b->offset, room, c->here_count * r->numbers * 8);
        return !*rc;
    }
    return false;
}

bool tamis__records_peek(tamis_records *r, tamis_record_cursor *c, uint64_t *room, uint64_t *hash,
                         uint64_t *value, tamis_status *rc) {
    *rc = TAMIS_OK;
    if (!c->here || c->at == c->here_count) {
        if (c->here) c->block++;
        if (!load(r, c, room, rc)) {
            c->here = NULL;
            return false;
        }
    }
    *hash = c->here[c->at * r->numbers];
    *value = r->numbers == 2 ? c->here[c->at * r->numbers + 1] : 0;
    return true;
}
