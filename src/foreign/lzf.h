/* SPDX-License-Identifier: MIT */
/* For formats of other systems: LZF, the compression of Redis dumps.
 *
 *     000nnnnn                      n+1 bytes follow as they are
 *     nnnddddd dddddddd             n+2 bytes again, from d+1 bytes back; n is 1 to 6
 *     111ddddd nnnnnnnn dddddddd    n+9 bytes again, from d+1 bytes back */
#ifndef TAMIS_FOREIGN_LZF_H
#define TAMIS_FOREIGN_LZF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of its result, by walking through it before anything is allocated. False when it ends
 * within a part, or refers to before its start. */
bool tamis__lzf_length(const uint8_t *packed, uint64_t size, uint64_t *length);

/* Decompresses. The stream has been walked through, and `to` has room for its length. */
void tamis__lzf_unpack(const uint8_t *packed, uint64_t size, uint8_t *to);

/* Compresses as Redis does, byte for byte: the matches depend on where it searches. `seen` is
 * working memory. Returns the size, which is at most `room`, or 0 when Redis stops because that
 * much was not saved. With `to` NULL nothing is written. */
enum { TAMIS_LZF_SEEN = 1 << 16 };

uint64_t tamis__lzf_pack(const uint8_t *from, uint64_t n, uint64_t seen[TAMIS_LZF_SEEN],
                         uint8_t *to, uint64_t room);

#endif
