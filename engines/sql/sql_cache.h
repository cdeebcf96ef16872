/* SPDX-License-Identifier: MIT */
/* For engines of SQL: filters that stay open while their image comes again.
 *
 * To read and check an image for each row would take as long as it is large. An image is known by
 * its length and its header, which has the checksum of the rest: its address says nothing, since a
 * variable that changes may stay where it is. */
#ifndef TAMIS_ENGINES_SQL_SQL_CACHE_H
#define TAMIS_ENGINES_SQL_SQL_CACHE_H

#include "tamis.h"

enum { SQL_CACHE_ENTRIES = 4, SQL_HEADER = 192 }; /* bytes of a header: docs/format.md, 3 */

/* Starts as {0}. Threads: one. */
typedef struct sql_cache {
    struct sql_cached {
        tamis *filter;
        uint64_t serial, used;
        size_t size;
        uint8_t header[SQL_HEADER];
    } entry[SQL_CACHE_ENTRIES];
    uint64_t uses, serials;
    uint64_t max_bytes; /* of images that stay, beside the last; 0: no limit */
} sql_cache;

/* The filter of an image, valid until the next call; the one that was not asked for the longest
 * goes. `serial` becomes a number of its own for each filter that was opened, so that a form of
 * keys is known to be its. `serial` and `options` may be NULL. */
tamis_status sql_cache_open(sql_cache *, const void *image, size_t size,
                            const struct tamis_options *options, const tamis **filter,
                            uint64_t *serial);

/* Closes all of them. */
void sql_cache_clear(sql_cache *);

#endif
