/* SPDX-License-Identifier: MIT */
/* For core, build, jobs and tests: the parts of a handle. */
#ifndef TAMIS_CORE_FILTER_H
#define TAMIS_CORE_FILTER_H

#include "core/memory.h"
#include "core/one.h"
#include "core/spec.h"
#include "cpu/cpu.h"
#include "file/image.h"
#include "kinds/kind.h"

/* The image describes the filter; the rest is about calls and memory. */
struct tamis {
    tamis_image image;      /* first: so the address of its body is that of the handle */
    const tamis_kind *kind; /* image.entry->kind, one load nearer for calls with one key */
    unsigned can;           /* abilities of this kind and shape */
    tamis_one one;          /* for one key; a function may be NULL */
    uint64_t flip;          /* what hashing an integer by XXH3 or mix8 starts with */
    struct tamis_allocator allocator;
    tamis_block self, payload, notes; /* allocated; the last two are empty in a view */
    tamis_block kept;                 /* see tamis__keep; often empty */
    void *map;                        /* of tamis_map, else NULL */
    size_t map_size;
    uint8_t *home; /* host memory that holds the image, else NULL */
    uint64_t home_size;
    uint64_t synced_items; /* in the header there */
    bool is_view;
    bool is_payload; /* a view of a payload alone */
    bool is_trusted;
    unsigned threads;   /* max for a call with many keys */
    uint64_t max_bytes; /* max of the payload; 0: any */
    tamis_stop_fn *should_stop;
    void *stop_ctx;
    tamis_leaving leaving;
};

/* Sets the kind of the handle and its body. */
void tamis__set_kind(tamis *, const tamis_entry *);

/* Derives what follows from kind, shape and hash: abilities, and the functions for a single key.
 * Call it when these are set, and whenever the shape changes. */
void tamis__derive(tamis *);

/* Remembers what the kind wants to know of the payload, once that is there and whenever the shape
 * changes. Without memory for it the kind looks into the payload for each key. */
void tamis__keep(tamis *);

/* Its part for one key: sets `one` and `flip`. */
void tamis__choose_one(tamis *);

/* An empty handle; NULL with an error message when out of memory. */
tamis *tamis__new(const struct tamis_allocator *);

/* Allocates zeroed memory for the payload and, to be filled through *notes, for the notes; the
 * image has both sizes. */
tamis_status tamis__own(tamis *, char **notes);

/* A handle for an image whose bytes are still to come: with room for them, and with a copy of its
 * notes. It keeps the options, and stays within their limit. */
tamis_status tamis__new_with(tamis **, const tamis_image *, const struct tamis_allocator *,
                             const struct tamis_options *);

/* Stores the options that concern the handle itself, for as long as it lives. */
void tamis__keep_options(tamis *, const struct tamis_options *);

/* The options that another filter needs to be like this one, its allocator included. */
struct tamis_options tamis__options_of(const tamis *);

/* TAMIS_CANCELLED with an error message when the caller wants to stop. */
tamis_status tamis__stopped(const tamis *);

/* memcpy in pieces, between which the caller may stop. */
tamis_status tamis__copy_bytes(const tamis *, void *to, const void *from, uint64_t size);

/* Everything decided before there is a handle. */
typedef struct tamis_making {
    struct tamis_options options;
    tamis_parsed_spec request;
    tamis_shape shape;
    tamis_hasher hasher;
} tamis_making;

tamis_status tamis__prepare(const char *spec, const struct tamis_options *, tamis_making *);

/* A handle of that shape, without bytes. */
tamis *tamis__begin(const tamis_making *);

/* An empty filter, in its own memory or in that of the host. */
tamis_status tamis__make_empty(tamis **, const tamis_making *, void *home, uint64_t home_size);

/* Binds a handle to the image at `home`, which must be aligned; TAMIS_FULL when it is too small. */
tamis_status tamis__settle(tamis *, void *home, uint64_t home_size);

/* TAMIS_FULL with an error message when an image with `payload` and `notes` bytes does not fit in
 * host memory; filters with their own memory may have any size. */
tamis_status tamis__fits_home(const tamis *, uint64_t payload, uint64_t notes);

/* Replaces the filter's body, and leaves the memory of the old one in *block; in host memory,
 * copies the bytes there. */
tamis_status tamis__install(tamis *, const tamis_body *, tamis_block *block);

/* Sets the planned shape, before there are bytes. */
void tamis__take_shape(tamis_image *, const tamis_shape *);

/* Moves everything to a body of the new shape, and replaces the old one. */
tamis_status tamis__reshape(tamis *, const uint64_t word[]);

/* TAMIS_READONLY with an error message for views. */
tamis_status tamis__writable(const tamis *);

/* TAMIS_UNSUPPORTED with the error message "KIND cannot WHAT". */
tamis_status tamis__cannot(const tamis *, const char *what);

/* Both: may this filter be changed in a way that needs the ability? */
tamis_status tamis__may(const tamis *, enum tamis_ability, const char *what);

/* TAMIS_INVALID with an error message for a value too large for this shape. */
tamis_status tamis__value_fits(const tamis_kind *, const uint64_t word[], uint64_t value);

/* A bit for each word that follows from the keys, not the spec; 0 for kinds that take adds. */
static inline unsigned tamis__words_made(const tamis_kind *kind) {
    const tamis_fingerprint_facet *prints = TAMIS_ENTRY(kind, special, prints);
    return kind->build ? kind->build->made : prints ? prints->made : 0;
}

/* Adds to the items, which stay below 2^64. */
void tamis__add_items(tamis *, uint64_t more);

/* Why two filters do not match, or NULL; shape words marked in `free_words` may differ. */
const char *tamis__mismatch(const tamis *a, const tamis *b, unsigned free_words);

/* tamis_merge for kinds that take adds, where sizes are equal or one filter can be reshaped. */
tamis_status tamis__merge_payloads(tamis *into, const tamis *from);

/* Hashes on the stack between hashing and probing. Payloads in memory want many misses in flight,
 * and few pauses without any (6.4 ns per query instead of 8.0 with batches of 256 at 10^7 keys);
 * for those in cache a batch is short enough that the processor hashes the next one while it waits
 * for L2 (1.8 ns instead of 2.2 at 10^5 keys). */
enum { TAMIS_BATCH = 1024, TAMIS_NEAR_BATCH = 64 };

static inline size_t tamis__batch_of(const tamis *f, size_t n) {
    const size_t max = f->image.body.size > tamis__near_bytes() ? TAMIS_BATCH : TAMIS_NEAR_BATCH;
    return n < max ? n : max;
}

/* The keys of one call, in one of four forms. */
typedef struct tamis_keys {
    const struct tamis_key *strings;
    const uint64_t *numbers, *hashes;
    const uint8_t *packed; /* `width` bytes each */
    size_t width;
} tamis_keys;

/* The hashes of n keys, starting with the key at `from`; `room` has space for n. */
const uint64_t *tamis__hashes_of(const tamis *, tamis_keys, size_t from, size_t n, uint64_t *room);

/* The same as strings, for kinds that hash keys themselves: at most TAMIS_BATCH, no hashes. */
typedef struct tamis_spelled {
    struct tamis_key key[TAMIS_BATCH];
    uint8_t bytes[TAMIS_BATCH][8];
} tamis_spelled;

const struct tamis_key *tamis__strings_of(tamis_keys, size_t from, size_t n, tamis_spelled *room);

/* The same in the form that the kind takes: at most TAMIS_BATCH, unless they are hashes. */
typedef union tamis_batch_room {
    uint64_t hash[TAMIS_BATCH];
    tamis_spelled spelled;
} tamis_batch_room;

tamis_batch tamis__batch(const tamis *, tamis_keys, size_t from, size_t n, tamis_batch_room *);

/* Does the kind answer for hashes? Sketches and kinds that hash keys themselves do not. */
static inline bool tamis__knows_hashes(const tamis *f) {
    return !(f->can & (TAMIS_IS_SKETCH | TAMIS_OWN_HASH));
}

#endif
