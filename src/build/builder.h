/* SPDX-License-Identifier: MIT */
/* For src/build: the parts of a builder. */
#ifndef TAMIS_BUILD_BUILDER_H
#define TAMIS_BUILD_BUILDER_H

#include "build/records.h"
#include "core/bulk.h"
#include "core/filter.h"
#include "core/names.h"
#include "file/replace.h"

/* Hashes in the order in which they came. */
typedef struct tamis_pile {
    tamis_block block;
    uint64_t *hash;
    uint64_t n, room, max; /* number, room for, and maximum */
    bool is_set;           /* sorted and distinct */
} tamis_pile;

struct tamis_builder {
    tamis_block self;
    struct tamis_builder_options options; /* `filter` and `temp_dir` are not kept */
    tamis_parsed_spec request;

    /* The future filter: kind, hash, notes. It has a payload from the first key on where adds go
     * straight in; else there are records, and the payload is made from them. */
    tamis *filter;
    tamis_records *records;
    tamis_pile pile;         /* instead of records, for kinds that are built whole */
    tamis_bulk *bulk;        /* where adds to a large filter wait; NULL when they go in directly */
    uint64_t adds, max_adds; /* so far, and checked against the memory limit */
    bool is_continued;       /* the parameters are those of an old filter */
    bool is_closed;          /* no more keys: finishing has begun */
    bool is_done;            /* the filter was handed over */

    tamis_names labels;
    uint64_t label; /* of the keys added now, if one was chosen */
    bool has_label;

    bool is_sorted; /* all records; then the census is valid */
    tamis_census census;
    uint64_t conflict;
    struct tamis_builder_info info; /* of the finished filter */
};

/* The memory that the builder holds now, as far as its limit counts it. */
uint64_t tamis__builder_memory(const tamis_builder *);

/* Does everything after the last key: sorts, makes the payload, and returns the filter or writes
 * it. */
tamis_status tamis__assemble(tamis_builder *, tamis **filter);
tamis_status tamis__assemble_to(tamis_builder *, tamis_goal);

/* tamis_builder_finish_to for any goal, not only a path. */
tamis_status tamis__builder_finish_at(tamis_builder *, tamis_goal);

/* Adds keys for a kind that is built whole, all or none; and makes the filter. Starting refuses a
 * capacity that the memory limit is too small for. */
tamis_status tamis__pile_start(tamis_builder *);
tamis_status tamis__pile_keys(tamis_builder *, tamis_keys, size_t n);
tamis_status tamis__build_foreign(tamis_builder *, tamis **filter); /* failed: to be freed */

/* Do several threads collect a list of n keys? Then they do: all of it, or none when it fails. */
bool tamis__collects(const tamis_builder *, size_t n);
tamis_status tamis__collect(tamis_builder *, tamis_keys, size_t n);

/* A handle with room for the image's payload, and its notes. */
tamis_status tamis__room_for(const tamis_builder *, const tamis_image *, tamis **out);

/* The shape for `count` keys, from the spec; in segments of `segment` keys, where it has
 * segments. */
tamis_status tamis__shape_for(const tamis_builder *, uint64_t count, uint64_t segment,
                              tamis_params *, tamis_image *);

/* Refuses what the memory limit does not allow: for the announced number of records, or 0 when it
 * is unknown, and for the adds so far. */
tamis_status tamis__limit_start(tamis_builder *, uint64_t records);
tamis_status tamis__limit_adds(tamis_builder *, uint64_t adds);

/* Is there memory for another label? */
tamis_status tamis__limit_names(const tamis_builder *);

/* Adds every key that a built filter lists, with its labels and values. */
tamis_status tamis__builder_take(tamis_builder *, const tamis *);

#endif
