/* SPDX-License-Identifier: MIT */
/* The files of a builder's second half may include this: its stages, one after the other. */
#ifndef TAMIS_BUILD_STAGES_H
#define TAMIS_BUILD_STAGES_H

#include "build/builder.h"
#include "file/replace.h"

/* Tells whoever wants to know; TAMIS_CANCELLED when that one has had enough. */
tamis_status tamis__report(const tamis_builder *, enum tamis_stage, uint64_t done, uint64_t total);

/* Memory that is left for work besides `more` bytes; 0 when there is none. */
uint64_t tamis__memory_left(const tamis_builder *, uint64_t more);

/* How many threads may work when there is so much memory and each needs so much of it; 0: none. */
unsigned tamis__threads_for(const tamis_builder *, uint64_t left, uint64_t each);

/* TAMIS_NOMEM with a sentence. */
tamis_status tamis__too_little(const tamis_builder *, const char *what);

/* Bytes of n records; of what one thread needs to make a segment of n; and how many records a
 * segment hardly ever has more of. */
uint64_t tamis__record_bytes(const tamis_build *, uint64_t n);
uint64_t tamis__bench_bytes(const tamis_build *, const uint64_t word[], uint64_t n);
uint64_t tamis__segment_records(const tamis_build *, const uint64_t word[], uint64_t total);

/* Can one thread at least make these segments within the limit? Segments as they were asked for,
 * and the next smaller ones. */
bool tamis__segments_fit(const tamis_builder *, const uint64_t word[], uint64_t total);
uint64_t tamis__segment_asked(const tamis_builder *);
uint64_t tamis__segment_next(uint64_t segment);

/* The first stage: partitions are sorted, on all threads, equal records go, and everything is
 * counted. */
tamis_status tamis__sort_records(tamis_builder *);

/* The second, for kinds that are built: segments, made on all threads, and given away in order. */
typedef struct tamis_sink {
    tamis_status (*append)(struct tamis_sink *, const void *bytes, uint64_t size);
    uint64_t size; /* of all that was appended */
} tamis_sink;

/* Makes the payload for these words; word[TAMIS_SEGMENT_BYTES] becomes its size. */
tamis_status tamis__make_payload(tamis_builder *, uint64_t word[], tamis_sink *);

/* The last: every record is asked again. */
tamis_status tamis__verify(tamis_builder *, const tamis *);

#endif
