/* SPDX-License-Identifier: MIT */
/* Core and tests may include this: the image, and the one gate for bytes from outside. */
#ifndef TAMIS_FILE_IMAGE_H
#define TAMIS_FILE_IMAGE_H

#include "hash/hash.h"
#include "kinds/kind.h"

enum { TAMIS_IMAGE_HEADER_BYTES = 192 };

/* What an image says. */
typedef struct tamis_image {
    const tamis_entry *entry;
    tamis_body body; /* body.bytes: where the payload lies */
    tamis_hasher hasher;
    uint64_t capacity;
    bool has_stray_bits; /* it has bits that none of its keys set */
    uint64_t one_in;     /* asked rate as one in N, N in millionths; 0 when a size was asked */
    const char *notes;   /* packed pairs, see notes.h */
    uint64_t notes_size;
} tamis_image;

/* Asked rates as images keep them, and back. */
uint64_t tamis__one_in(double fpr);
double tamis__fpr_of(uint64_t one_in);

/* The gate, first half: everything that the header alone can tell, without touching what follows
 * it. `total` is the size of all there is. On success body.bytes and notes are still to be set;
 * body.size and notes_size are known to add up to `total` exactly. */
tamis_status tamis__image_read_header(tamis_image *, const uint8_t *header, uint64_t total,
                                      const uint8_t *secret);

/* The gate, second half: payload and notes, where they lie now. `header` is the same, `content_sum`
 * the checksum of what lies there. */
tamis_status tamis__image_check_content(const tamis_image *, const uint8_t *header,
                                        uint64_t content_sum);

/* `content_sum` is the checksum of payload and notes. */
void tamis__image_write_header(const tamis_image *, uint64_t content_sum,
                               uint8_t header[TAMIS_IMAGE_HEADER_BYTES]);
uint64_t tamis__image_content_sum(const tamis_image *);

#endif
