/* SPDX-License-Identifier: MIT */
/* For src/build: sorted runs of records on disk, read as one sorted list. */
#ifndef TAMIS_BUILD_MERGE_RUNS_H
#define TAMIS_BUILD_MERGE_RUNS_H

#include "file/spill.h"

/* One run: where it is on disk, and the part of it that is in memory. */
typedef struct tamis_run {
    uint64_t place;     /* byte offset of its first record */
    uint64_t n, read;   /* its records, and how many of them have been loaded */
    uint64_t *here;     /* the loaded records */
    uint64_t at, count; /* the next of them, and their number */
} tamis_run;

/* A list of runs, and a heap of those that have records left, the lowest on top. */
typedef struct tamis_runs {
    const tamis_spill *file;
    unsigned numbers; /* of 64 bits in a record */
    tamis_run *run;
    size_t runs;
    uint64_t *heap; /* room for one number per run */
    size_t waiting;
    uint64_t each; /* records of a run loaded at once */
} tamis_runs;

/* What a merge keeps in memory for each run, besides the loaded records. */
enum { TAMIS_RUN_BYTES = sizeof(tamis_run) + sizeof(uint64_t) };

/* Starts from the front, the first time or again; `room` is for runs * each records. */
tamis_status tamis__runs_start(tamis_runs *, uint64_t *room);

/* The next record of all runs, in order; false at the end, or on failure with *rc set. */
bool tamis__runs_next(tamis_runs *, uint64_t record[2], tamis_status *rc);

#endif
