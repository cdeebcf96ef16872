/* SPDX-License-Identifier: MIT */
/* text.c: what is going to be printed, made on any thread and printed in order by one. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

static bool make_room(struct text *text, size_t len) {
    if (len <= text->room - text->len) return true;
    const bool has_room = list_grow(&text->bytes, &text->room, text->len + len, 1);
    if (!has_room) text->is_short_of_memory = true;
    return has_room;
}

void text_copy(struct text *text, const void *bytes, size_t len) {
    if (len == 0 || !make_room(text, len)) return;
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
}

void text_add(struct text *text, const void *bytes, size_t len) {
    if (len <= LONG_KEY) {
        text_copy(text, bytes, len);
        return;
    }
    text->late = (struct tamis_key){.bytes = bytes, .len = len};
    text->late_at = text->len;
}

void text_byte(struct text *text, char byte) {
    if (make_room(text, 1)) text->bytes[text->len++] = byte;
}

void text_words(struct text *text, const char *words) {
    text_add(text, words, strlen(words));
}

void text_count(struct text *text, uint64_t count) {
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + count % 10);
    while (count /= 10);
    text_add(text, digits + at, sizeof digits - at);
}

void text_drop(struct text *text) {
    text->len = 0;
    text->late = (struct tamis_key){0};
}

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}

static void print_late(const struct tamis_key *late) {
    struct pieces pieces = pieces_of(late);
    const void *piece;
    size_t len;
    while ((piece = next_piece(&pieces, &len)) != NULL) fwrite(piece, 1, len, stdout);
}

int text_print(struct text *text) {
    const size_t before = text->late.bytes ? text->late_at : 0;
    if (text->len > 0 || text->late.bytes) progress_hold(stdout);
    if (before > 0) fwrite(text->bytes, 1, before, stdout);
    if (text->late.bytes) print_late(&text->late);
    if (text->len > before) fwrite(text->bytes + before, 1, text->len - before, stdout);
    if (text->len > 0 || text->late.bytes) progress_release(stdout);
    text_drop(text);
    return ferror(stdout) ? EXIT_TROUBLE : 0;
}
