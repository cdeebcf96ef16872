/* SPDX-License-Identifier: MIT */
/* For core and tests: the image, and the one gate for untrusted bytes. */
#ifndef TAMIS_FILE_IMAGE_H
#define TAMIS_FILE_IMAGE_H

#include "hash/hash.h"
#include "kinds/kind.h"

enum { TAMIS_IMAGE_HEADER_BYTES = 192 };

/* The contents of an image. */
typedef struct tamis_image {
    tamis_body body; /* body.bytes: the payload */
    const tamis_entry *entry;
    tamis_hasher hasher;
    uint64_t capacity;
    bool has_stray_bits; /* it has bits that none of its keys set */
    uint64_t one_in;     /* target rate as one in N, N in millionths; 0 when a size was given */
    const char *notes;   /* packed pairs, see notes.h */
    uint64_t notes_size;
} tamis_image;

/* Target rates as images store them, and back. */
uint64_t tamis__one_in(double fpr);
double tamis__fpr_of(uint64_t one_in);

/* The gate, first half: checks the header alone, without touching what follows it. `total` is the
 * size of the whole input. On success body.bytes and notes are still to be set; body.size and
 * notes_size add up to `total` exactly. */
tamis_status tamis__image_read_header(tamis_image *, const uint8_t *header, uint64_t total,
                                      const uint8_t *secret);

/* The gate, second half: checks payload and notes in place. `header` is the same, `content_sum` the
 * checksum of both. */
tamis_status tamis__image_check_content(const tamis_image *, const uint8_t *header,
                                        uint64_t content_sum);

/* Of that the notes alone, for bytes that passed the gate before. */
tamis_status tamis__image_check_notes(const tamis_image *);

/* How long the image is that begins with this header, by what the header says; and its items. */
uint64_t tamis__image_total(const uint8_t *header);
uint64_t tamis__image_items(const uint8_t *header);

/* `content_sum` is the checksum of payload and notes. */
void tamis__image_write_header(const tamis_image *, uint64_t content_sum,
                               uint8_t header[TAMIS_IMAGE_HEADER_BYTES]);
uint64_t tamis__image_content_sum(const tamis_image *);

#endif
