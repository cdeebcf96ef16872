/* SPDX-License-Identifier: MIT */
/* blocks.c: bytes to blocks of whole lines.
 *
 * A block ends with its last line end; what follows is carried over to the next. Where a read
 * brings a line end the block is done, full or not: a user who types lines does not wait for more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/keys/block.h"
#include "cli/keys/scan.h"

/* What a block keeps of memory for rewritten keys. */
enum { MAX_KEPT = 8 * BLOCK_BYTES };

bool block_make(struct block *block) {
    *block = (struct block){.room = calloc(1, BLOCK_BYTES + SCAN_BYTES)};
    return block->room != NULL;
}

static void free_pages(struct page **newest) {
    for (struct page *page = *newest, *before; page; page = before) {
        before = page->before;
        free(page);
    }
    *newest = NULL;
}

void block_clear(struct block *block) {
    if (block->mapped > 0) munmap((void *)(uintptr_t)block->bytes, block->mapped);
    block->mapped = block->len = block->batch.n = 0;
    block->bytes = block->room;
    block->keyless = block->fieldless = 0;
    if (block->page) free_pages(&block->page->before);
    if (block->page) block->page->len = 0;
    if (block->page && block->page->room > MAX_KEPT) /* of one long key; others need it too */
        free_pages(&block->page);
    block->is_done = block->ends_file = block->is_short_of_memory = false;
    block->trouble[0] = block->bad_line[0] = '\0';
}

void block_free(struct block *block) {
    if (block->room) block_clear(block);
    struct batch *batch = &block->batch;
    free(block->room), free_pages(&block->page);
    free(batch->line), free(batch->key), free(batch->hash), free(batch->value), free(batch->hit);
    text_free(&batch->out);
}

/* ---- Long lines ---- */

/* Keeps what follows a block's lines for the next one. */
static void carry_over(struct keys *keys, const char *bytes, size_t len) {
    memcpy(keys->carry, bytes, len);
    keys->carried = len;
}

/* The one place where blocks get their bytes. */
static ssize_t read_more(struct keys *keys, struct block *block, size_t at) {
    const ssize_t got =
        input_read(keys->input, block->room + at, BLOCK_BYTES - at, block->trouble, WHY_BYTES);
    progress_bytes(keys->bytes + input_position(keys->input));
    return got;
}

/* Copies the long line that fills the block to the file, to its end. Returns its length with the
 * end, or 0 with errno or a sentence. */
static size_t spill(struct keys *keys, struct block *block, int fd) {
    size_t len = 0, got = block->len;
    for (;;) {
        const char *end = memchr(block->room, keys->cutting.line_end, got);
        const size_t mine = end ? (size_t)(end - block->room) + 1 : got;
        if (!write_all(fd, block->room, mine)) return 0;
        len += mine;
        carry_over(keys, block->room + mine, got - mine);
        if (end) return len;
        const ssize_t more = read_more(keys, block, 0);
        if (more < 0) return 0;
        if (more == 0) {
            block->ends_file = true;
            return len;
        }
        got = (size_t)more;
    }
}

static void fill_long(struct keys *keys, struct block *block) {
    const int fd = open_unnamed(keys->args);
    const size_t len = fd >= 0 ? spill(keys, block, fd) : 0;
    void *map = len > 0 ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (map != MAP_FAILED) {
        block->bytes = map;
        block->len = block->mapped = len;
    } else {
        if (!block->trouble[0] && !is_stopped())
            snprintf(block->trouble, WHY_BYTES, "a long line cannot be kept in %s: %s",
                     temp_dir(keys->args), strerror(errno));
        block->len = 0;
    }
    if (fd >= 0) close(fd);
}

/* ---- Filling ---- */

/* Where the last line end is, from `from` on; SIZE_MAX for nowhere. */
static size_t last_end(const struct keys *keys, const struct block *block, size_t from) {
    for (size_t i = block->len; i > from; i--)
        if (block->room[i - 1] == keys->cutting.line_end) return i - 1;
    return SIZE_MAX;
}

static void fill_from_input(struct keys *keys, struct block *block) {
    memcpy(block->room, keys->carry, keys->carried);
    block->len = keys->carried;
    keys->carried = 0;
    size_t searched = 0, end;
    while ((end = last_end(keys, block, searched)) == SIZE_MAX) {
        if (block->len == BLOCK_BYTES) {
            fill_long(keys, block);
            return;
        }
        searched = block->len;
        const ssize_t got = read_more(keys, block, block->len);
        if (got <= 0) {
            block->ends_file = got == 0;
            /* The last line needs no end, but one that could not be read is none. */
            if (got < 0) block->len = 0;
            return;
        }
        block->len += (size_t)got;
    }
    carry_over(keys, block->room + end + 1, block->len - end - 1);
    block->len = end + 1;
}

static uint64_t count_lines(const char *bytes, size_t len, char line_end) {
    uint64_t lines = 0;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == line_end;
    return lines;
}

bool block_fill(struct keys *keys, struct block *block) {
    block_clear(block);
    if (!keys->input) {
        if (keys->next_source == keys->source_count) return false;
        if (keys->await) wake_by_signals(true);
        keys->input = input_open(&keys->source[keys->next_source++], keys->decompresses,
                                 block->trouble, WHY_BYTES);
        keys->lines = keys->carried = 0;
        if (keys->await) wake_by_signals(false);
        if (keys->input) input_ask_before(keys->input, keys->await, keys->await_with);
    }
    block->batch.keys = keys;
    block->batch.from = &keys->source[keys->next_source - 1];
    if (keys->input) fill_from_input(keys, block);
    if (keys->numbers_lines) {
        block->batch.first_line = keys->lines + 1;
        keys->lines += count_lines(block->bytes, block->len, keys->cutting.line_end);
    }
    if (block->trouble[0]) block->ends_file = true;
    if (block->ends_file) {
        keys->bytes += input_position(keys->input);
        input_close(keys->input);
        keys->input = NULL;
    }
    return true;
}
