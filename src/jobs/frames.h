/* SPDX-License-Identifier: MIT */
/* The conversation of src/jobs may include this: bytes that grow, and frames in them.
 *
 *     | type 1 | length 3 | check 2 | body, `length` bytes | sum 4 |
 *
 * The check is of the four bytes before it, so that a damaged length is noticed at once and not
 * waited for; the sum is of the frame's number in the conversation, its header and its body, so
 * that one that is lost, doubled or moved is noticed too. Both are against accidents: who wants to
 * lie computes them. */
#ifndef TAMIS_JOBS_FRAMES_H
#define TAMIS_JOBS_FRAMES_H

#include "core/memory.h"

enum {
    TAMIS_FRAME_HEAD = 6,
    TAMIS_FRAME_FOOT = 4,
    TAMIS_FRAME_MAX_BYTES = (1 << 24) - 1 /* bytes of a body, because its length has three */
};

/* ---- Bytes that grow ------------------------------------------------------------------------- */

typedef struct tamis_buffer {
    uint8_t *bytes;
    uint64_t size, room;
    tamis_block block;
} tamis_buffer;

/* Room for `more` bytes behind those that are there. */
tamis_status tamis__buffer_room(const struct tamis_allocator *, tamis_buffer *, uint64_t more);
tamis_status tamis__buffer_put(const struct tamis_allocator *, tamis_buffer *, const void *,
                               uint64_t size);
void tamis__buffer_free(const struct tamis_allocator *, tamis_buffer *);

/* ---- Numbers of varying length: seven bits in a byte, lowest first, the top bit for more ---- */

enum { TAMIS_VARINT_MAX_BYTES = 10 };
size_t tamis__varint_put(uint8_t *to, uint64_t value);

/* Returns how many bytes it has, 0 when it does not end before `size`, is too large, or could be
 * shorter. */
size_t tamis__varint_get(const uint8_t *from, uint64_t size, uint64_t *value);

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Starts a frame at the end of a buffer; what is put behind it is its body until it is closed. */
tamis_status tamis__frame_open(const struct tamis_allocator *, tamis_buffer *, uint8_t type,
                               uint64_t *start);
tamis_status tamis__frame_close(const struct tamis_allocator *, tamis_buffer *, uint64_t start,
                                uint64_t number);

/* The header alone, and then the whole: false when they do not fit together. */
bool tamis__frame_head(const uint8_t *frame, uint8_t *type, uint32_t *length);
bool tamis__frame_is_sound(const uint8_t *frame, uint32_t length, uint64_t number);

#endif
