/* SPDX-License-Identifier: MIT */
/* unpack.c: bytes in memory that are compressed. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

enum { PIECE = 1 << 20 };

struct growing {
    uint8_t *bytes;
    size_t len, room;
    uint64_t max;
};

static int grow(struct growing *to, const struct args *args, const char *path) {
    if (to->room > to->max / 2 && to->room > 0)
        return fail(args, path, "the decompressed size exceeds %s; decompress it first",
                    human_bytes(to->room).text);
    const size_t more = to->room ? to->room + 1 : PIECE;
    return list_grow(&to->bytes, &to->room, more, 1) ? 0 : fail_memory(args);
}

/* Steps of a piece each, until nothing moves any more: at the end, or where something is wrong. */
static int unpack(struct unpacker *unpacker, const struct bytes *from, struct growing *to,
                  const struct args *args) {
    size_t at = 0;
    bool is_whole = false;
    for (;;) {
        char why[WHY_BYTES];
        if (to->len == to->room && grow(to, args, from->path)) return EXIT_TROUBLE;
        const size_t left = from->size - at, free_room = to->room - to->len;
        const struct unpacking before = {.from = from->at + at,
                                         .from_len = left < PIECE ? left : PIECE,
                                         .to = to->bytes + to->len,
                                         .room = free_room < PIECE ? free_room : PIECE};
        struct unpacking now = before;
        const enum unpacked unpacked = unpacker_step(unpacker, &now, why, sizeof why);
        if (unpacked == UNPACK_FAILED) return fail(args, from->path, "%s", why);
        at += before.from_len - now.from_len;
        to->len += before.room - now.room;
        if (now.from_len < before.from_len || now.room < before.room)
            is_whole = unpacked == UNPACKED_WHOLE;
        else if (is_whole && at == from->size)
            return 0;
        else
            return fail(args, from->path, "the %s data is truncated", unpacker->packing->name);
    }
}

int bytes_unpack(struct bytes *bytes, const struct args *args) {
    const struct packing *packing = packing_of(bytes->at, bytes->size);
    if (!packing) return 0;
    if (!packing->start)
        return fail(args, bytes->path, "this is %s data, and this tamis was built without %s",
                    packing->name, packing->name);
    struct growing to = {.max = memory_wanted(args)};
    struct unpacker unpacker;
    const int code = unpacker_start(&unpacker, packing) ? unpack(&unpacker, bytes, &to, args)
                                                        : fail_memory(args);
    unpacker_end(&unpacker);
    if (code) {
        free(to.bytes);
        return code;
    }
    const struct bytes unpacked = {.path = bytes->path, .at = to.bytes, .size = to.len};
    bytes_close(bytes);
    *bytes = unpacked;
    return 0;
}
