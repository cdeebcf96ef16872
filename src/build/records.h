/* SPDX-License-Identifier: MIT */
/* For src/build: the records of a builder, in memory and on disk.
 *
 * A record is a hash, or a hash and a value. Records are split by their first byte into partitions,
 * and each partition is a list of blocks of one size. Blocks stay in memory up to a limit; later
 * ones go to one unnamed file as they fill. Sorting takes a partition at a time and writes it back,
 * in order, to its blocks. Since the first byte is the partition, the blocks from front to back are
 * then all records in ascending order.
 *
 *     hash ──first byte──▶ partition 0    [full] [full] ... in memory │ [full] ... on disk │ [open]
 *                          partition 1    ...
 *                          partition 255  ...
 */
#ifndef TAMIS_BUILD_RECORDS_H
#define TAMIS_BUILD_RECORDS_H

#include <stdatomic.h>

#include "core/memory.h"
#include "kinds/kind.h"

typedef struct tamis_records tamis_records;

/* How the records of a builder are stored and compared. */
typedef struct tamis_record_form {
    bool has_values;
    bool is_sequence; /* in order of arrival: time */
    bool keeps_equal; /* duplicates count */
    enum tamis_record_rule rule;
} tamis_record_form;

/* The smallest memory limit. */
#define TAMIS_RECORDS_MIN_LIMIT ((uint64_t)1 << 20)

/* Blocks in memory take a quarter of `memory_limit` (0: no limit); the rest is for work. */
tamis_status tamis__records_open(tamis_records **, const tamis_record_form *, uint64_t memory_limit,
                                 const char *dir, const struct tamis_allocator *);
void tamis__records_free(tamis_records *);

/* Adds n records, each with the same value where records have one, all or nothing. Only before
 * sorting begins. */
tamis_status tamis__records_put(tamis_records *, const uint64_t *hash, size_t n, uint64_t value);

/* Removes the last n records, which were put with these hashes. */
void tamis__records_take_back(tamis_records *, const uint64_t *hash, size_t n);

/* Without a limit, and with an allocator that threads may share, records of one number can be
 * collected apart by another thread and then join the others, in any order among them: all or
 * nothing. */
bool tamis__records_can_join(const tamis_records *);
tamis_status tamis__records_open_apart(tamis_records **, const tamis_records *);
tamis_status tamis__records_join(tamis_records *, tamis_records *apart);

uint64_t tamis__records_count(const tamis_records *);

/* Memory used now, with all overhead; and the max under a limit. */
uint64_t tamis__records_memory(const tamis_records *);
uint64_t tamis__records_max_memory(uint64_t memory_limit);

/* ---- Sorting ----
 *
 * Partitions are sorted one by one, on any thread, no two threads the same. `scratch` is memory,
 * ideally of tamis__records_scratch bytes; with less, a partition is sorted in runs, which go to a
 * second file and are merged, and then only one thread may work. Sorting one again is allowed, but
 * redundant. */
enum { TAMIS_PARTITIONS = 256 };

/* Two values of one hash where only one is allowed. */
typedef struct tamis_record_conflict {
    uint64_t hash, value[2];
} tamis_record_conflict;

uint64_t tamis__records_in(const tamis_records *, unsigned partition);
uint64_t tamis__records_scratch(const tamis_records *, unsigned partition);

/* Drops equal records, and counts the rest in the census and, unless NULL, by value in
 * label_counts. TAMIS_CONFLICT, without an error message, leaves the partition unchanged and
 * returns the lowest hash. */
tamis_status tamis__records_sort(tamis_records *, unsigned partition, uint64_t *scratch,
                                 uint64_t scratch_bytes, tamis_census *,
                                 _Atomic uint64_t *label_counts, tamis_record_conflict *);

/* ---- Reading from the front ---- */

typedef struct tamis_record_cursor {
    unsigned partition;
    uint64_t block;       /* the next one of the partition */
    const uint64_t *here; /* loaded records, NULL at first, ... */
    uint64_t at, count;   /* ... the next of them, and their number */
} tamis_record_cursor;

/* Bytes of the room that reading from disk needs: no block is larger. */
enum { TAMIS_RECORDS_ROOM = 64 * 1024 };

/* The number of records at hand; 0 at the end, or on failure with *rc set. The hash of the i-th of
 * them; and n of them copied to arrays, values only where records have one. */
uint64_t tamis__records_look(tamis_records *, tamis_record_cursor *, uint64_t *room,
                             tamis_status *rc);
uint64_t tamis__records_hash(const tamis_records *, const tamis_record_cursor *, uint64_t i);
void tamis__records_take(const tamis_records *, tamis_record_cursor *, uint64_t n, uint64_t *hash,
                         uint64_t *value);

/* Reads the next records, at most `max`; fewer at the end, and on failure, with *rc set. */
size_t tamis__records_read(tamis_records *, tamis_record_cursor *, uint64_t *room, size_t max,
                           uint64_t *hash, uint64_t *value, tamis_status *rc);

#endif
