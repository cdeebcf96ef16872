/* SPDX-License-Identifier: MIT */
/* Growing buffers, varints, and frames. */
#include "jobs/frames.h"

#include <string.h>

#include "base/status.h"
#include "base/sums.h"
#include "bits/bits.h"
#include "hash/hash.h"

void *tamis__regrow(const struct tamis_allocator *a, tamis_block *block, uint64_t used,
                    uint64_t size) {
    tamis_block larger;
    void *bytes = tamis__get(a, size, &larger);
    if (!bytes) return NULL;
    if (used) memcpy(bytes, tamis__aligned(block), (size_t)used);
    tamis__block_free(a, block);
    *block = larger;
    return bytes;
}

tamis_status tamis__buffer_room(const struct tamis_allocator *a, tamis_buffer *b, uint64_t more) {
    if (more <= b->room - b->size) return TAMIS_OK;
    if (more > UINT64_MAX / 4 - b->size)
        return tamis__fail(TAMIS_NOMEM, "no memory for %llu bytes", (unsigned long long)more);
    const uint64_t room = b->size + more + b->room;
    uint8_t *bytes = tamis__regrow(a, &b->block, b->size, room);
    if (!bytes) return TAMIS_NOMEM;
    b->bytes = bytes, b->room = room;
    return TAMIS_OK;
}

tamis_status tamis__buffer_put(const struct tamis_allocator *a, tamis_buffer *b, const void *from,
                               uint64_t size) {
    const tamis_status rc = tamis__buffer_room(a, b, size);
    if (rc || !size) return rc;
    memcpy(b->bytes + b->size, from, (size_t)size);
    b->size += size;
    return TAMIS_OK;
}

void tamis__buffer_free(const struct tamis_allocator *a, tamis_buffer *b) {
    tamis__block_free(a, &b->block);
    memset(b, 0, sizeof *b);
}

size_t tamis__varint_put(uint8_t *to, uint64_t value) {
    size_t n = 0;
    for (; value >= 128; value >>= 7) to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

size_t tamis__varint_get(const uint8_t *from, uint64_t size, uint64_t *value) {
    uint64_t sum = 0;
    for (size_t n = 0; n < size; n++) { /* nothing may follow the last of ten */
        if (n == TAMIS_VARINT_MAX_BYTES - 1 && from[n] > 1) return 0;
        sum |= (uint64_t)(from[n] & 127) << (7 * n);
        if (from[n] & 128) continue;
        if (n && !from[n]) return 0;
        *value = sum;
        return n + 1;
    }
    return 0;
}

static uint16_t check_of(const uint8_t *frame) {
    return (uint16_t)tamis__checksum(frame, 4, NULL, 0);
}

static uint32_t sum_of(const uint8_t *frame, uint32_t length, uint64_t number) {
    uint8_t where[8];
    tamis__put64(where, number);
    return (uint32_t)tamis__checksum(where, sizeof where, frame, TAMIS_FRAME_HEAD + (size_t)length);
}

tamis_status tamis__frame_open(const struct tamis_allocator *a, tamis_buffer *b, uint8_t type,
                               uint64_t *start) {
    const uint8_t head[TAMIS_FRAME_HEAD] = {type};
    *start = b->size;
    return tamis__buffer_put(a, b, head, sizeof head);
}

tamis_status tamis__frame_close(const struct tamis_allocator *a, tamis_buffer *b, uint64_t start,
                                uint64_t number) {
    const tamis_status rc = tamis__buffer_room(a, b, TAMIS_FRAME_FOOT);
    if (rc) return rc;
    uint8_t *frame = b->bytes + start;
    const uint32_t length = (uint32_t)(b->size - start - TAMIS_FRAME_HEAD);
    for (int i = 0; i < 3; i++) frame[1 + i] = (uint8_t)(length >> (8 * i));
    tamis__put16(frame + 4, check_of(frame));
    tamis__put32(b->bytes + b->size, sum_of(frame, length, number));
    b->size += TAMIS_FRAME_FOOT;
    return TAMIS_OK;
}

bool tamis__frame_head(const uint8_t *frame, uint8_t *type, uint32_t *length) {
    *type = frame[0];
    *length = frame[1] | (uint32_t)frame[2] << 8 | (uint32_t)frame[3] << 16;
    return tamis__sums_match(tamis__get16(frame + 4), check_of(frame));
}

bool tamis__frame_is_sound(const uint8_t *frame, uint32_t length, uint64_t number) {
    return tamis__sums_match(tamis__get32(frame + TAMIS_FRAME_HEAD + length),
                             sum_of(frame, length, number));
}
