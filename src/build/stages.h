/* SPDX-License-Identifier: MIT */
/* For the second half of a builder: its stages, in order. */
#ifndef TAMIS_BUILD_STAGES_H
#define TAMIS_BUILD_STAGES_H

#include "build/builder.h"
#include "file/replace.h"

/* Reports progress; TAMIS_CANCELLED when the callback stops the build. */
tamis_status tamis__report(const tamis_builder *, enum tamis_stage, uint64_t done, uint64_t total);

/* Memory left for work after `more` bytes; 0 when there is none. */
uint64_t tamis__memory_left(const tamis_builder *, uint64_t more);

/* Memory to work in, as tamis__get returns it. A limit is on bytes: with one, large pages that are
 * partly used would break it. */
void *tamis__work_room(const tamis_builder *, uint64_t size, tamis_block *);

/* How many threads fit in `left` bytes when each needs `each`; 0: none. */
unsigned tamis__threads_for(const tamis_builder *, uint64_t left, uint64_t each);

/* Fails with TAMIS_NOMEM. */
tamis_status tamis__too_little(const tamis_builder *, const char *what);

/* Bytes of n records; bytes that one thread needs to make a segment of n; and a number of records
 * that a segment hardly ever exceeds. */
uint64_t tamis__record_bytes(const tamis_build *, uint64_t n);
uint64_t tamis__bench_bytes(const tamis_build *, const uint64_t word[], uint64_t n);
uint64_t tamis__segment_records(const tamis_build *, const uint64_t word[], uint64_t total);

/* Can at least one thread make these segments within the limit? The requested segment size, and the
 * next smaller one. */
bool tamis__segments_fit(const tamis_builder *, const uint64_t word[], uint64_t total);
uint64_t tamis__segment_asked(const tamis_builder *);
uint64_t tamis__segment_next(uint64_t segment);

/* The first stage: sorts partitions on all threads, drops equal records, and counts everything. */
tamis_status tamis__sort_records(tamis_builder *);

/* The second, for kinds that are built: makes segments on all threads, and writes them in order. */
typedef struct tamis_sink {
    tamis_status (*append)(struct tamis_sink *, const void *bytes, uint64_t size);
    uint64_t size; /* of all that was appended */
} tamis_sink;

/* Makes the payload for these words; word[TAMIS_SEGMENT_BYTES] becomes its size. */
tamis_status tamis__make_payload(tamis_builder *, uint64_t word[], tamis_sink *);

/* The last: queries every record. */
tamis_status tamis__verify(tamis_builder *, const tamis *);

#endif
