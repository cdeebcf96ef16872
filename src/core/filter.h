/* Core may include this: what a handle is made of. */
#ifndef TAMIS_CORE_FILTER_H
#define TAMIS_CORE_FILTER_H

#include "core/memory.h"
#include "file/image.h"
#include "kinds/kind.h"

/* The image says everything about a filter; the rest is who owns the bytes. */
struct tamis {
    const tamis_kind *kind; /* image.entry->kind, one step nearer for calls with one key */
    tamis_image image;
    struct tamis_allocator allocator;
    tamis_block self, payload, notes; /* what was allocated; the last two are empty in a view */
    void *map;                        /* of tamis_map, else NULL */
    size_t map_size;
    bool is_view;
};

/* A handle with nothing in it yet; NULL with a sentence when there is no memory. */
tamis *tamis__new(const struct tamis_allocator *);

/* Gives a handle zeroed room of its own for the payload and, to be filled through *notes, for the
 * notes; image has both sizes. */
tamis_status tamis__own(tamis *, char **notes);

/* Brings everything to a body of the new shape and puts that in place of the old one. */
tamis_status tamis__reshape(tamis *, const uint64_t word[]);

/* TAMIS_READONLY with a sentence for views. */
tamis_status tamis__writable(const tamis *);

/* TAMIS_CANNOT with the sentence "KIND cannot WHAT". */
tamis_status tamis__cannot(const tamis *, const char *what);

#endif
