/* SPDX-License-Identifier: MIT */
/* For src/jobs: varints, and for sessions growing buffers and frames in them.
 *
 *     | type 1 | length 3 | check 2 | body, `length` bytes | sum 4 |
 *
 * The check covers the four bytes before it, so that a damaged length is noticed at once, not after
 * waiting for it; the sum covers the frame's number in the session, its header and its body, so
 * that a frame lost, duplicated or moved is noticed too. Both are against accidents: an attacker
 * can compute them. */
#ifndef TAMIS_JOBS_FRAMES_H
#define TAMIS_JOBS_FRAMES_H

#include "core/memory.h"

enum {
    TAMIS_FRAME_HEAD = 6,
    TAMIS_FRAME_FOOT = 4,
    TAMIS_FRAME_MAX_BYTES = (1 << 24) - 1 /* of a body: its length has three bytes */
};

/* ---- Growing buffers ------------------------------------------------------------------------- */

/* Replaces a block by a larger one with the same first `used` bytes. NULL with a sentence, and the
 * block as it was, when there is no memory. */
void *tamis__regrow(const struct tamis_allocator *, tamis_block *, uint64_t used, uint64_t size);

typedef struct tamis_buffer {
    uint8_t *bytes;
    uint64_t size, room;
    tamis_block block;
} tamis_buffer;

/* Makes room for `more` bytes at the end. */
tamis_status tamis__buffer_room(const struct tamis_allocator *, tamis_buffer *, uint64_t more);
tamis_status tamis__buffer_put(const struct tamis_allocator *, tamis_buffer *, const void *,
                               uint64_t size);
void tamis__buffer_free(const struct tamis_allocator *, tamis_buffer *);

/* ---- Varints: seven bits in a byte, lowest first, the top bit for more ---------------------- */

enum { TAMIS_VARINT_MAX_BYTES = 10 };
size_t tamis__varint_put(uint8_t *to, uint64_t value);

/* Returns its size, 0 when it does not end before `size`, is too large, or not the shortest. */
size_t tamis__varint_get(const uint8_t *from, uint64_t size, uint64_t *value);

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Starts a frame at the end of a buffer; what is appended is its body until it is closed. */
tamis_status tamis__frame_open(const struct tamis_allocator *, tamis_buffer *, uint8_t type,
                               uint64_t *start);
tamis_status tamis__frame_close(const struct tamis_allocator *, tamis_buffer *, uint64_t start,
                                uint64_t number);

/* Checks the header, and then the whole frame; false when they do not match. */
bool tamis__frame_head(const uint8_t *frame, uint8_t *type, uint32_t *length);
bool tamis__frame_is_sound(const uint8_t *frame, uint32_t length, uint64_t number);

#endif
