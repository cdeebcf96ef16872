/* Core may include this: the records of a builder, in memory and on disk.
 *
 * A record is a hash, or a hash and a value. As they come they are cut by their first byte into
 * partitions, and each partition is a list of blocks of fixed size. Blocks stay in memory up to a
 * limit; later ones go to one unnamed file as they fill. Sorting takes a partition at a time, puts
 * it back in order into the blocks it came from, and since the first byte is the partition, the
 * blocks from front to back are then all records in ascending order. */
#ifndef TAMIS_CORE_RECORDS_H
#define TAMIS_CORE_RECORDS_H

#include <stdatomic.h>

#include "core/memory.h"
#include "kinds/kind.h"

typedef struct tamis_records tamis_records;

/* How the records of a builder are kept and told apart. */
typedef struct tamis_record_form {
    bool has_values;
    bool is_sequence; /* in the order in which they came: time */
    bool keeps_equal; /* a second record like the first counts */
    enum tamis_record_rule rule;
} tamis_record_form;

/* Blocks in memory take a quarter of `memory_limit` (0: no limit); the rest is for work. */
tamis_status tamis__records_open(tamis_records **, const tamis_record_form *, uint64_t memory_limit,
                                 const char *folder, const struct tamis_allocator *);
void tamis__records_free(tamis_records *);

/* `value` is NULL where records have none. Not after sorting. */
tamis_status tamis__records_put(tamis_records *, const uint64_t *hash, const uint64_t *value,
                                size_t n);

uint64_t tamis__records_count(const tamis_records *);

/* What the blocks in memory take now. */
uint64_t tamis__records_memory(const tamis_records *);

bool tamis__records_are_sorted(const tamis_records *);

/* Partitions are sorted one by one, on any thread, no two the same; `scratch` has room for what
 * tamis__records_scratch says. The census gets what is left without equal records, and
 * label_counts, unless NULL, how many there are of each value. TAMIS_CONFLICT leaves the hash in *conflict. tamis__records_close ends it. */
enum { TAMIS_PARTITIONS = 256 };
uint64_t tamis__records_scratch(const tamis_records *, unsigned partition);
tamis_status tamis__records_sort(tamis_records *, unsigned partition, uint64_t *scratch,
                                 tamis_census *, _Atomic uint64_t *label_counts,
                                 uint64_t *conflict);
void tamis__records_close(tamis_records *);

/* Reading from the front. `block` is room for one block. */
typedef struct tamis_record_cursor {
    unsigned partition;
    uint64_t block, at;   /* the block of the partition, and the record in it */
    const uint64_t *here; /* the block's records, when it is loaded */
    uint64_t here_count;
} tamis_record_cursor;

uint64_t tamis__records_block_size(const tamis_records *);

/* The next record without taking it: *hash and *value; false at the end, or on failure with *rc
 * set. */
bool tamis__records_peek(tamis_records *, tamis_record_cursor *, uint64_t *block, uint64_t *hash,
                         uint64_t *value, tamis_status *rc);

static inline void tamis__records_skip(tamis_record_cursor *cursor) {
    cursor->at++;
}

#endif
