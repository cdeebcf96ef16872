/* SPDX-License-Identifier: MIT */
/* For the files of src/foreign and core.
 *
 * A format is how a filter of another system is encoded in a file: bytes in, a kind with its words
 * and payload out, and back. One kind may have several formats (bare, inside a table file, as a
 * dump); one format may hold several kinds.
 *
 *     bytes ──read──▶ kind, words, payload ──the kind's check and audit──▶ filter
 *     filter ──write──▶ the same bytes
 *
 * Nothing here allocates: a reader parses the bytes it is given and returns where the payload is in
 * them, or how to make it. The gate is that of every kind.
 *
 * Those bytes are core's copy, for which every byte of the caller's was read once: so a format may
 * read them as often as it likes, and find in `load` what it saw in `read`. */
#ifndef TAMIS_FOREIGN_FORMAT_H
#define TAMIS_FOREIGN_FORMAT_H

#include "hash/hash.h"
#include "kinds/kind.h"
#include "tamis_formats.h"

enum { TAMIS_FORMAT_PARAMS = 8, TAMIS_FORMAT_TEXT = 256 };

/* The arguments after the name of the format, by index of its parameters: numbers and choices in
 * `number`, texts in `text`. */
typedef struct tamis_format_args {
    bool has[TAMIS_FORMAT_PARAMS];
    uint64_t number[TAMIS_FORMAT_PARAMS];
    char text[TAMIS_FORMAT_PARAMS][TAMIS_FORMAT_TEXT];
} tamis_format_args;

/* Where bytes come from, and the copy of those received, a page at a time. */
typedef struct tamis_source {
    tamis_reader *read;
    void *ctx;
    uint8_t *bytes;
    uint64_t size;
    uint64_t *has; /* a bit for each page; see TAMIS_SOURCE_PAGE */
} tamis_source;

enum { TAMIS_SOURCE_PAGE = 1 << 16 };

typedef struct tamis_input {
    const uint8_t *bytes;
    uint64_t size;
    tamis_source *source; /* NULL: all bytes are present */
} tamis_input;

/* In a build with address checks only bytes that were fetched may be read: begins that, and ends it
 * before the memory is freed. */
void tamis__source_fence(const tamis_source *);
void tamis__source_unfence(const tamis_source *);

/* Makes sure that these bytes of the input, which must be inside it, are present. */
tamis_status tamis__bring(const tamis_input *, uint64_t offset, uint64_t size);

/* An imported filter. All zero at first. */
typedef struct tamis_import_result {
    const char *kind;
    uint64_t word[TAMIS_WORDS];
    tamis_hash_mode hash; /* of our kinds; TAMIS_HASH_OWN for foreign ones */
    uint64_t capacity;    /* 0: unknown */
    double fpr;           /* target; 0: unknown */
    uint64_t items;       /* adds; 0: unknown, estimated from the bits */
    tamis_input head;     /* text stored as the note "head", or nothing */
    tamis_input payload;  /* its start in the input; the missing rest is zeros */
    uint64_t at[4];       /* from read() to load() */
} tamis_import_result;

/* A filter to export. */
typedef struct tamis_export_source {
    const char *kind;
    const tamis_body *body;
    tamis_hash_mode hash;
    uint64_t seed;
    const char *head;                     /* the note from an import's head, or NULL */
    const struct tamis_allocator *memory; /* that of the filter, for writers that need some */
    tamis_write_fn *put;
    void *ctx;
} tamis_export_source;

typedef struct tamis_format {
    const char *name;   /* one word, as the user types it; never changes */
    const char *system; /* its origin, in a few words */
    const char *kinds;  /* names of the kinds it holds, separated by spaces */
    const char *keys;   /* how keys become bytes there: names of encodings, the usual one first */
    const char *limits; /* what it cannot hold, or we cannot do; or NULL */
    const struct tamis_option *params; /* a text has no choices and no range */
    size_t param_count;
    bool has_magic; /* its bytes identify it */
    bool brings;    /* large files: it fetches what it reads; else all is present */

    /* Every filter in the bytes, for files with several; NULL: there is one. `read` then takes the
     * one that the parameters name, and refuses when they are ambiguous. */
    tamis_status (*find)(const tamis_input *, const tamis_format_args *, tamis_finder *each,
                         void *ctx);

    /* Parses the bytes: sizes are checked against the input before they are used. */
    tamis_status (*read)(const tamis_input *, const tamis_format_args *, tamis_import_result *);

    /* Makes the payload, of zeros; NULL: copied from where `read` found it. */
    tamis_status (*load)(const tamis_input *, const tamis_import_result *, tamis_body *);

    /* Writes the filter with tamis__export_write; NULL: cannot. */
    tamis_status (*write)(const tamis_export_source *, const tamis_format_args *);
} tamis_format;

tamis_status tamis__export_write(const tamis_export_source *, const void *bytes, uint64_t size);

/* Words of eight bytes, each written from its last byte to its first. */
tamis_status tamis__export_reversed(const tamis_export_source *, const uint8_t *words,
                                    uint64_t size);

/* "NAME: message", for bytes that are not in the named format; and for fewer than a header has. */
tamis_status tamis__bad_format(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tamis_status tamis__too_short(const char *name, const tamis_input *, uint64_t header);

/* For audit(): a payload is what the origin would write, `stored` bytes, padded with zeros to a
 * multiple of eight. */
tamis_status tamis__audit_padding(const tamis_body *, uint64_t stored);

/* The registry: every line of formats.def, in order. */
size_t tamis__format_count(void);
const tamis_format *tamis__format_at(size_t i);
const tamis_format *tamis__format_by_name(const char *name);

#endif
