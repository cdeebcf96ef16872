/* SPDX-License-Identifier: MIT */
/* unpacker.c: compressed bytes to plain ones, a step at a time, whatever the compression.
 *
 * Files may be several parts concatenated, as `cat a.gz b.gz` makes them, and padded by zeros, as
 * tapes do; nothing may follow those.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/keys/block.h"

/* A file that grows this much is no list: gzip cannot pack tighter than 1 to 1032, and bombs in
 * other formats go beyond 1 to 100,000. The first gigabyte is never in question. */
enum { MAX_GROWTH = 2000 };
static const uint64_t always_allowed = (uint64_t)1 << 30;

bool unpacker_start(struct unpacker *unpacker, const struct packing *packing) {
    *unpacker = (struct unpacker){.packing = packing, .state = packing->start()};
    return unpacker->state != NULL;
}

void unpacker_end(struct unpacker *unpacker) {
    if (unpacker->state) unpacker->packing->end(unpacker->state);
    unpacker->state = NULL;
}

static enum unpacked fail_with(const struct unpacker *unpacker, char *why, size_t size,
                               const char *cause) {
    snprintf(why, size, "the %s data is damaged: %s", unpacker->packing->name, cause);
    return UNPACK_FAILED;
}

static bool is_bomb(const struct unpacker *unpacker) {
    return unpacker->out > always_allowed && unpacker->out / MAX_GROWTH > unpacker->in;
}

/* Steps over padding. `is_next` says whether another part starts. */
static enum unpacked between_parts(struct unpacker *unpacker, struct unpacking *unpacking,
                                   bool *is_next) {
    while (unpacking->from_len > 0 && *unpacking->from == 0) {
        unpacker->is_padded = true;
        unpacking->from++, unpacking->from_len--;
    }
    *is_next = unpacking->from_len > 0;
    return UNPACKED_WHOLE;
}

enum unpacked unpacker_step(struct unpacker *unpacker, struct unpacking *unpacking, char *why,
                            size_t size) {
    const struct packing *packing = unpacker->packing;
    if (unpacker->is_between) {
        bool is_next;
        const enum unpacked whole = between_parts(unpacker, unpacking, &is_next);
        if (!is_next) return whole;
        if (unpacker->is_padded) return fail_with(unpacker, why, size, "trailing data");
        if (!packing->reset(unpacker->state)) return fail_with(unpacker, why, size, "no progress");
    }
    const struct unpacking before = *unpacking;
    const enum unpacked unpacked = packing->step(unpacker->state, unpacking, why, size);
    unpacker->is_between = unpacked == UNPACKED_WHOLE && packing->reset;
    unpacker->in += before.from_len - unpacking->from_len;
    unpacker->out += before.room - unpacking->room;
    if (unpacked == UNPACK_FAILED || !is_bomb(unpacker)) return unpacked;
    snprintf(why, size,
             "the %s data grows more than %d-fold, like a decompression bomb; if you trust it, "
             "decompress it first",
             packing->name, MAX_GROWTH);
    return UNPACK_FAILED;
}
