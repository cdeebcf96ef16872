/* SPDX-License-Identifier: MIT */
/* contents.c: what a file is, by its first bytes and never by its name.
 *
 * An image read as a list of lines would be a list of keys that nothing ever matches. So what is
 * certainly no text is named, and refused by those who want lines.
 */
#include <string.h>

#include "cli/keys/block.h"

enum { MAX_MAGIC = 10 };

static const struct magic {
    struct contents contents;
    size_t len;
    uint8_t byte[MAX_MAGIC], free[MAX_MAGIC]; /* bits that may differ */
} magics[] = {
    {{.name = "gzip data", .packing = &gzip_packing}, 3, {0x1f, 0x8b, 0x08}, {0}},
    {{.name = "zstd data", .packing = &zstd_packing}, 4, {0x28, 0xb5, 0x2f, 0xfd}, {0}},
    {{.name = "zstd data", .packing = &zstd_packing}, 4, {0x50, 0x2a, 0x4d, 0x18}, {0x0f}},
    {{.name = "xz data", .packing = &xz_packing}, 6, {0xfd, '7', 'z', 'X', 'Z', 0}, {0}},
    /* "BZh9" alone could be text; a first block or the end of an empty stream follows it. */
    {{.name = "bzip2 data", .packing = &bzip2_packing},
     10,
     {'B', 'Z', 'h', '0', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59},
     {[3] = 0x0f}},
    {{.name = "bzip2 data", .packing = &bzip2_packing},
     10,
     {'B', 'Z', 'h', '0', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90},
     {[3] = 0x0f}},
    {{.name = "UTF-16 text", .packing = &utf16le_packing}, 2, {0xff, 0xfe}, {0}},
    {{.name = "UTF-16 text", .packing = &utf16be_packing}, 2, {0xfe, 0xff}, {0}},
    {{.skip = 3}, 3, {0xef, 0xbb, 0xbf}, {0}},
    {{.name = "a Tamis image"}, 8, {0xd6, 't', 'a', 'm', 'i', 's', 0x1a, '\n'}, {0}},
    {{.name = "a Tamis patch"}, 8, {0xd6, 'p', 'a', 't', 'c', 'h', 0x1a, '\n'}, {0}},
    /* "PAR1" alone could be text; the first page's header follows it. */
    {{.name = "a Parquet file"}, 5, {'P', 'A', 'R', '1', 0x15}, {0}},
    {{.name = "a ZIP archive"}, 4, {'P', 'K', 0x03, 0x04}, {0}},
    {{.name = "a 7-Zip archive"}, 6, {'7', 'z', 0xbc, 0xaf, 0x27, 0x1c}, {0}},
    {{.name = "an SQLite database"}, 10, {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r'}, {0}},
};

/* Letters with a NUL beside each, four times: UTF-16 without its mark. Not for fewer, as two short
 * keys that end in NUL look the same. */
static const struct packing *utf16_of(const uint8_t *bytes, size_t len) {
    enum { LETTERS = 4 };
    size_t little = 0, big = 0;
    if (len < 2 * LETTERS) return NULL;
    for (size_t i = 0; i < LETTERS; i++) {
        const uint8_t *pair = bytes + 2 * i;
        little += pair[0] >= ' ' && pair[0] < 0x7f && pair[1] == 0;
        big += pair[1] >= ' ' && pair[1] < 0x7f && pair[0] == 0;
    }
    return little == LETTERS ? &utf16le_packing : big == LETTERS ? &utf16be_packing : NULL;
}

struct contents contents_of(const uint8_t *bytes, size_t len, bool *is_open) {
    *is_open = false;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const struct magic *magic = &magics[i];
        size_t same = 0;
        while (same < len && same < magic->len &&
               ((bytes[same] ^ magic->byte[same]) & ~magic->free[same]) == 0)
            same++;
        if (same == magic->len) return magic->contents;
        if (same == len) *is_open = true;
    }
    const struct packing *utf16 = utf16_of(bytes, len);
    return (struct contents){.name = utf16 ? "UTF-16 text" : NULL, .packing = utf16};
}

const struct packing *packing_of(const uint8_t *bytes, size_t len) {
    bool is_open;
    const struct packing *packing = contents_of(bytes, len, &is_open).packing;
    return packing && !packing->is_text ? packing : NULL;
}
