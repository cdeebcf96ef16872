/* SPDX-License-Identifier: MIT */
/* Core may include this: what a handle is made of. */
#ifndef TAMIS_CORE_FILTER_H
#define TAMIS_CORE_FILTER_H

#include "core/memory.h"
#include "core/one.h"
#include "core/spec.h"
#include "cpu/cpu.h"
#include "file/image.h"
#include "kinds/kind.h"

/* The image says everything about a filter; the rest is who owns the bytes. */
struct tamis {
    const tamis_kind *kind; /* image.entry->kind, one step nearer for calls with one key */
    unsigned can;           /* abilities of this kind and shape */
    bool (*has)(const tamis_body *, uint64_t hash); /* one hash, faster than a batch; or NULL */
    tamis_one *one;                                 /* for one integer, or NULL */
    uint64_t flip;                                  /* that it wants to know */
    tamis_image image;
    struct tamis_allocator allocator;
    tamis_block self, payload, notes; /* what was allocated; the last two are empty in a view */
    void *map;                        /* of tamis_map, else NULL */
    size_t map_size;
    uint8_t *home; /* memory of the host that the image is in, else NULL */
    uint64_t home_size;
    uint64_t synced_items; /* that the header there knows of */
    bool is_view;
    bool is_payload; /* a view of a payload alone */
    bool is_trusted;
    unsigned threads;   /* that a call with many keys may use */
    uint64_t max_bytes; /* that the payload may grow to; 0: any */
    tamis_stop_fn *should_stop;
    void *stop_ctx;
    tamis_leaving leaving;
};

/* Makes the handle, and its body, one of this kind. */
void tamis__set_kind(tamis *, const tamis_entry *);

/* Works out what follows from kind, shape and hash: abilities, and the way of a single key. To be
 * called when these are there, and whenever the shape changes. */
void tamis__derive(tamis *);

/* Its part for one integer: fills in `one` and `flip`. */
void tamis__choose_one(tamis *);

/* A handle with nothing in it yet; NULL with a sentence when there is no memory. */
tamis *tamis__new(const struct tamis_allocator *);

/* Gives a handle zeroed room of its own for the payload and, to be filled through *notes, for the
 * notes; image has both sizes. */
tamis_status tamis__own(tamis *, char **notes);

/* What the options say of the handle itself, for as long as it lives. */
void tamis__keep_options(tamis *, const struct tamis_options *);

/* TAMIS_CANCELLED with a sentence when the caller wants to stop. */
tamis_status tamis__stopped(const tamis *);

/* memcpy in pieces, between which the caller may stop. */
tamis_status tamis__copy_bytes(const tamis *, void *to, const void *from, uint64_t size);

/* All that is decided before there is a handle. */
typedef struct tamis_making {
    struct tamis_options options;
    tamis_parsed_spec request;
    tamis_shape shape;
    tamis_hasher hasher;
} tamis_making;

tamis_status tamis__prepare(const char *spec, const struct tamis_options *, tamis_making *);

/* A handle for that, with its shape and without bytes. */
tamis *tamis__begin(const tamis_making *);

/* An empty filter, in its own memory or in that of the host. */
tamis_status tamis__make_empty(tamis **, const tamis_making *, void *home, uint64_t home_size);

/* Gives a handle the payload in the image at `home`; it must be large enough and aligned. */
tamis_status tamis__settle(tamis *, void *home, uint64_t home_size);

/* TAMIS_FULL with a message when an image with `payload` and `notes` bytes does not fit the memory
 * of the host; filters with memory of their own may have any size. */
tamis_status tamis__fits_home(const tamis *, uint64_t payload, uint64_t notes);

/* Puts a body in place of the filter's, and leaves the memory of the old one in *block; in memory
 * of a host, the bytes are copied there. */
tamis_status tamis__install(tamis *, const tamis_body *, tamis_block *block);

/* What was planned, before there are bytes. */
void tamis__take_shape(tamis_image *, const tamis_shape *);

/* Brings everything to a body of the new shape and puts that in place of the old one. */
tamis_status tamis__reshape(tamis *, const uint64_t word[]);

/* TAMIS_READONLY with a sentence for views. */
tamis_status tamis__writable(const tamis *);

/* TAMIS_UNSUPPORTED with the sentence "KIND cannot WHAT". */
tamis_status tamis__cannot(const tamis *, const char *what);

/* Both at once: may this filter be changed in a way that needs the ability? */
tamis_status tamis__may(const tamis *, enum tamis_ability, const char *what);

/* TAMIS_INVALID with a sentence for a value that is wider than those of this shape. */
tamis_status tamis__value_fits(const tamis_kind *, const uint64_t word[], uint64_t value);

/* Words that follow from the keys, not from the wish, a bit for each; 0 for kinds that take
 * adds. */
static inline unsigned tamis__words_made(const tamis_kind *kind) {
    const tamis_fingerprint_facet *prints = TAMIS_ENTRY(kind, special, prints);
    return kind->build ? kind->build->made : prints ? prints->made : 0;
}

/* Items of another filter come in; the sum stays below 2^64. */
void tamis__add_items(tamis *, uint64_t more);

/* Why two filters do not match, or NULL; words of the shape that are marked in `free_words` may
 * differ. */
const char *tamis__mismatch(const tamis *a, const tamis *b, unsigned free_words);

/* tamis_merge for kinds that take adds: of equal sizes, or of sizes that one can be brought to. */
tamis_status tamis__merge_payloads(tamis *into, const tamis *from);

/* Hashes that fit on the stack between hashing and probing. Far payloads want many misses under way
 * at once, and few pauses in which there are none (6.4 ns per question instead of 8.0 with batches
 * of 256 at 10^7 keys); for near ones a batch is so short that the processor hashes the next one
 * while it waits for the second cache (1.8 ns instead of 2.2 at 10^5 keys). */
enum { TAMIS_BATCH = 1024, TAMIS_NEAR_BATCH = 64 };

static inline size_t tamis__batch_of(const tamis *f, size_t n) {
    const size_t max = f->image.body.size > TAMIS_NEAR_BYTES ? TAMIS_BATCH : TAMIS_NEAR_BATCH;
    return n < max ? n : max;
}

/* The keys of one call, in the form that the caller has: one of the four. */
typedef struct tamis_keys {
    const struct tamis_key *strings;
    const uint64_t *numbers, *hashes;
    const uint8_t *packed; /* `width` bytes each */
    size_t width;
} tamis_keys;

/* The hashes of keys `from` and later; `room` has space for n of them. */
const uint64_t *tamis__hashes_of(const tamis *, tamis_keys, size_t from, size_t n, uint64_t *room);

/* The same as strings, for kinds that hash keys themselves; at most TAMIS_BATCH. Not of hashes. */
typedef struct tamis_spelled {
    struct tamis_key key[TAMIS_BATCH];
    uint8_t bytes[TAMIS_BATCH][8];
} tamis_spelled;

const struct tamis_key *tamis__strings_of(tamis_keys, size_t from, size_t n, tamis_spelled *room);

/* The same in the form that the kind takes; at most TAMIS_BATCH, except of hashes. */
typedef union tamis_batch_room {
    uint64_t hash[TAMIS_BATCH];
    tamis_spelled spelled;
} tamis_batch_room;

tamis_batch tamis__batch(const tamis *, tamis_keys, size_t from, size_t n, tamis_batch_room *);

/* Can the kind say anything about hashes? Sketches and kinds that hash keys themselves cannot. */
static inline bool tamis__knows_hashes(const tamis *f) {
    return !(f->can & (TAMIS_IS_SKETCH | TAMIS_OWN_HASH));
}

#endif
