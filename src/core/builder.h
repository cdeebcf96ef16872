/* Core may include this: what a builder is made of. */
#ifndef TAMIS_CORE_BUILDER_H
#define TAMIS_CORE_BUILDER_H

#include "core/filter.h"
#include "core/records.h"

/* Hashes that wait to be added in the order of their top bits. */
typedef struct tamis_bulk {
    uint64_t *hash; /* as they came; NULL when adds go in one by one */
    size_t n;
    tamis_block block;
} tamis_bulk;

struct tamis_builder {
    tamis_block self;
    struct tamis_builder_options options; /* `filter` is not kept */
    uint64_t max_bytes;
    tamis_request request;

    /* The filter to be: kind, hash, notes. It has a payload from the first key on where adds go
     * straight in; else there are records, and the payload is made from them. */
    tamis *filter;
    tamis_records *records;
    tamis_bulk bulk;
    bool is_continued; /* the words are those of an old filter */
    bool is_done;      /* the filter was handed over */
    uint64_t adds;
    uint64_t conflict;

    /* Names of labels, each with its NUL, and the one that keys belong to now. */
    char *names;
    size_t names_size, names_room;
    uint64_t label_count, label;
};

/* Everything that takes place after the last key: sorts, makes the payload, and hands the filter
 * over or writes it. */
tamis_status tamis__assemble(tamis_builder *, tamis **filter);
tamis_status tamis__assemble_to(tamis_builder *, const char *path);

/* Merging two filters that were built: what both list, built again. */
tamis_status tamis__merge_built(tamis *into, const tamis *from);

#endif
