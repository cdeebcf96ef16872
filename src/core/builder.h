/* Core may include this: what a builder is made of. */
#ifndef TAMIS_CORE_BUILDER_H
#define TAMIS_CORE_BUILDER_H

#include "core/bulk.h"
#include "core/filter.h"
#include "core/names.h"
#include "core/records.h"

struct tamis_builder {
    tamis_block self;
    struct tamis_builder_options options; /* `filter` and `temp_folder` are not kept */
    uint64_t max_bytes;
    tamis_request request;
    unsigned can; /* abilities of the filter to be */

    /* The filter to be: kind, hash, notes. It has a payload from the first key on where adds go
     * straight in; else there are records, and the payload is made from them. */
    tamis *filter;
    tamis_records *records;
    tamis_bulk *bulk; /* where adds to a large filter wait; NULL when they go in directly */
    uint64_t adds;
    bool is_continued; /* the words are those of an old filter */
    bool is_closed;    /* no more keys: it was asked to finish */
    bool is_done;      /* the filter was handed over */

    tamis_names labels;
    uint64_t label; /* that keys belong to now, when one was chosen */
    bool has_label;

    bool is_sorted; /* all records; then the census is theirs */
    tamis_census census;
    uint64_t conflict;
};

/* What the builder holds now, of what its memory limit is about. */
uint64_t tamis__builder_memory(const tamis_builder *);

/* Everything that takes place after the last key: sorts, makes the payload, and hands the filter
 * over or writes it. */
tamis_status tamis__assemble(tamis_builder *, tamis **filter);
tamis_status tamis__assemble_to(tamis_builder *, const char *path);

/* Merging two filters that were built: what both list, built again. */
tamis_status tamis__merge_built(tamis *into, const tamis *from);

#endif
