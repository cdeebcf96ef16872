/* SPDX-License-Identifier: MIT */
/* utf16.c: UTF-16 text to UTF-8, as if it were a compression.
 *
 * Spreadsheets and Windows tools write lists so. Read as bytes, each letter has a NUL beside it and
 * no key ever matches.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/keys/block.h"
#include "cli/keys/form.h"

struct utf16 {
    bool is_big;       /* the high byte comes first */
    uint64_t position; /* of what comes next, in bytes */
    uint32_t high;     /* half of a pair, or 0 */
    uint8_t ready[4];  /* a character that is written as room comes */
    size_t ready_at, ready_len;
};

static void *start_as(bool is_big) {
    struct utf16 *utf16 = malloc(sizeof *utf16);
    if (utf16) *utf16 = (struct utf16){.is_big = is_big};
    return utf16;
}

static void *start_little(void) {
    return start_as(false);
}

static void *start_big(void) {
    return start_as(true);
}

size_t write_utf8(uint8_t *to, uint32_t point) {
    if (point < 0x80) {
        to[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (uint8_t)(0xc0 | point >> 6);
        to[1] = (uint8_t)(0x80 | (point & 0x3f));
        return 2;
    }
    const bool is_long = point >= 0x10000;
    to[0] = (uint8_t)(is_long ? 0xf0 | point >> 18 : 0xe0 | point >> 12);
    if (is_long) to[1] = (uint8_t)(0x80 | (point >> 12 & 0x3f));
    to[1 + is_long] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    to[2 + is_long] = (uint8_t)(0x80 | (point & 0x3f));
    return 3u + is_long;
}

#define HALF UINT32_MAX

/* Takes one unit. False when it cannot follow what was before. */
static bool take_unit(struct utf16 *utf16, uint32_t unit, uint32_t *point) {
    const bool is_high = unit >= 0xd800 && unit < 0xdc00;
    const bool is_low = unit >= 0xdc00 && unit < 0xe000;
    if (is_low != (utf16->high != 0)) return false;
    *point = is_low    ? 0x10000 + ((utf16->high - 0xd800) << 10) + (unit - 0xdc00)
             : is_high ? HALF
                       : unit;
    utf16->high = is_high ? unit : 0;
    return true;
}

static void write_ready(struct utf16 *utf16, struct unpacking *unpacking) {
    while (utf16->ready_at < utf16->ready_len && unpacking->room > 0) {
        *unpacking->to++ = utf16->ready[utf16->ready_at++];
        unpacking->room--;
    }
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    struct utf16 *utf16 = state;
    write_ready(utf16, unpacking);
    while (unpacking->from_len >= 2 && unpacking->room > 0) {
        const uint8_t *from = unpacking->from;
        const uint32_t unit =
            (uint32_t)(utf16->is_big ? from[0] << 8 | from[1] : from[1] << 8 | from[0]);
        uint32_t point;
        if (!take_unit(utf16, unit, &point)) {
            snprintf(why, size, "invalid UTF-16 at byte %" PRIu64, utf16->position);
            return UNPACK_FAILED;
        }
        const bool is_mark = utf16->position == 0 && point == 0xfeff;
        utf16->ready_at = 0;
        utf16->ready_len = point == HALF || is_mark ? 0 : write_utf8(utf16->ready, point);
        write_ready(utf16, unpacking);
        unpacking->from += 2, unpacking->from_len -= 2;
        utf16->position += 2;
    }
    /* Half a character that nothing follows is a truncated file. */
    const bool is_written = utf16->ready_at == utf16->ready_len;
    return unpacking->from_len == 0 && !utf16->high && is_written ? UNPACKED_WHOLE : UNPACKED_SOME;
}

const struct packing utf16le_packing = {
    .name = "UTF-16", .start = start_little, .step = step, .end = free, .is_text = true};
const struct packing utf16be_packing = {
    .name = "UTF-16", .start = start_big, .step = step, .end = free, .is_text = true};
