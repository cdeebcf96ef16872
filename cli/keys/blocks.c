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

/* A line of plain text may fill the disk if the user wants that; a few kilobytes from elsewhere
 * may not. */
enum { MAX_PACKED_LINE = 1 << 30 };

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
    block->keyless = block->lines = 0;
    block->has_header = false;
    block->skipped = (struct skipped){0};
    block->fieldless.bytes = block->invalid.bytes = NULL;
    if (block->page) free_pages(&block->page->before);
    if (block->page) block->page->len = 0;
    if (block->page && block->page->room > MAX_KEPT) /* of one long key; others need it too */
        free_pages(&block->page);
    block->is_done = block->ends_file = block->is_short_of_memory = false;
    block->batch.has_gaps = false;
    block->batch.further = block->batch.marks = 0;
    block->trouble[0] = block->bad_line[0] = '\0';
}

void block_free(struct block *block) {
    if (block->room) block_clear(block);
    struct batch *batch = &block->batch;
    free(block->room), free_pages(&block->page);
    free(batch->line), free(batch->key), free(batch->hash), free(batch->value), free(batch->hit);
    free(batch->more), free(batch->match);
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

/* ---- Ends ---- */

static bool is_csv(const struct keys *keys) {
    return keys->cutting.fields.shape == SHAPE_CSV;
}

/* The first line end from where the scan stands, or SIZE_MAX. Of CSV it ends a record. */
static size_t first_end(const struct keys *keys, struct csv_scan *scan, const char *bytes,
                        size_t len) {
    size_t ends[SCAN_BYTES];
    if (is_csv(keys)) return csv_ends(scan, bytes, len, ends, SCAN_BYTES) > 0 ? ends[0] : SIZE_MAX;
    const char *end = memchr(bytes, keys->cutting.line_end, len);
    return end ? (size_t)(end - bytes) : SIZE_MAX;
}

/* Where the last line end is, from `from` on; SIZE_MAX for nowhere. */
static size_t last_end(const struct keys *keys, struct csv_scan *scan, const struct block *block,
                       size_t from) {
    if (is_csv(keys)) {
        size_t ends[SCAN_BYTES], n, last = SIZE_MAX;
        while (scan->at < block->len)
            if ((n = csv_ends(scan, block->room, block->len, ends, SCAN_BYTES)) > 0)
                last = ends[n - 1];
        return last;
    }
    for (size_t i = block->len; i > from; i--)
        if (block->room[i - 1] == keys->cutting.line_end) return i - 1;
    return SIZE_MAX;
}

/* A quote that is never closed takes all that follows it into its field. */
static void fail_open_quote(struct block *block, const struct human *start) {
    snprintf(block->trouble, WHY_BYTES,
             "a quote is not closed, or a record longer than %s: the one that starts with \"%s\"",
             human_bytes(MAX_REWRITTEN).text, start->text);
}

/* Copies the long line that fills the block to the file, to its end. Returns its length with the
 * end, or 0 with errno or a sentence. */
static size_t spill(struct keys *keys, struct block *block, int fd) {
    struct csv_scan scan = {.delimiter = keys->cutting.fields.delimiter};
    const struct human start = human_key(&(struct tamis_key){block->room, block->len});
    size_t len = 0, got = block->len;
    for (;;) {
        const size_t end = first_end(keys, &scan, block->room, got);
        const size_t mine = end != SIZE_MAX ? end + 1 : got;
        if (!write_all(fd, block->room, mine)) return 0;
        len += mine;
        carry_over(keys, block->room + mine, got - mine);
        if (end != SIZE_MAX) return len;
        if (is_csv(keys) && len > MAX_REWRITTEN) {
            fail_open_quote(block, &start);
            return 0;
        }
        if (input_is_packed(keys->input) && len > MAX_PACKED_LINE) {
            snprintf(block->trouble, WHY_BYTES,
                     "a compressed line is longer than %s, as in a decompression bomb; if you "
                     "trust it, decompress it first",
                     human_bytes(MAX_PACKED_LINE).text);
            return 0;
        }
        const ssize_t more = read_more(keys, block, 0);
        scan.at = 0;
        if (more < 0) return 0;
        if (more == 0) {
            block->ends_file = true;
            if (csv_is_open(&scan)) fail_open_quote(block, &start);
            return csv_is_open(&scan) ? 0 : len;
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

static void end_early(struct block *block, bool has_open_quote) {
    const struct human start = human_key(&(struct tamis_key){block->room, block->len});
    if (has_open_quote) fail_open_quote(block, &start);
    block->len = 0;
}

static void fill_from_input(struct keys *keys, struct block *block) {
    struct csv_scan scan = {.delimiter = keys->cutting.fields.delimiter};
    memcpy(block->room, keys->carry, keys->carried);
    block->len = keys->carried;
    keys->carried = 0;
    size_t searched = 0, end;
    while ((end = last_end(keys, &scan, block, searched)) == SIZE_MAX) {
        if (block->len == BLOCK_BYTES) {
            fill_long(keys, block);
            return;
        }
        searched = block->len;
        const ssize_t got = read_more(keys, block, block->len);
        if (got <= 0) {
            block->ends_file = got == 0;
            /* The last line needs no end, but one that could not be read is none. */
            if (got < 0 || csv_is_open(&scan)) end_early(block, got == 0);
            return;
        }
        block->len += (size_t)got;
    }
    carry_over(keys, block->room + end + 1, block->len - end - 1);
    block->len = end + 1;
}

/* Finds fields by their names, once for a file. */
static bool resolve(const struct fields *named, const struct tamis_key *header,
                    struct fields **found, struct block *block) {
    if (!named || !named->names || *found) return true;
    *found = malloc(sizeof **found);
    block->is_short_of_memory = !*found;
    return *found && columns_resolve(named, header, *found, block->trouble, WHY_BYTES);
}

/* Nothing else was printed: no line came before it. */
static void print_header(struct keys *keys, const struct tamis_key *header) {
    if (!keys->prints_header) return;
    keys->prints_header = false;
    progress_hold(stdout);
    fwrite(header->bytes, 1, header->len, stdout);
    putchar(keys->cutting.line_end);
    progress_release(stdout);
}

/* The first line of a file has names: fields are found by them before anybody cuts lines. */
static void read_header(struct keys *keys, struct source *source, struct block *block) {
    const struct fields *named = &keys->cutting.fields;
    struct csv_scan scan = {.delimiter = named->delimiter};
    if (!named->has_header || block->len == 0) return;
    block->has_header = true;
    const size_t end = first_end(keys, &scan, block->bytes, block->mapped > 0 ? 0 : block->len);
    struct tamis_key header = {.bytes = block->bytes, .len = end < block->len ? end : block->len};
    const struct tamis_key as_it_is = header;
    if (header.len > 0 && block->bytes[header.len - 1] == '\r') header.len--;
    if (resolve(named, &header, &source->fields, block) &&
        resolve(keys->time_fields, &header, &source->time_fields, block))
        print_header(keys, &as_it_is);
    else
        block->len = 0;
}

uint64_t count_lines(const char *bytes, size_t len, char line_end) {
    uint64_t lines = 0;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == line_end;
    return lines;
}

static void close_input(struct keys *keys) {
    keys->bytes += input_position(keys->input);
    input_close(keys->input);
    keys->input = NULL;
}

void blocks_leave(struct keys *keys, const struct source *source) {
    if (keys->input && source == &keys->source[keys->next_source - 1]) close_input(keys);
}

bool block_fill(struct keys *keys, struct block *block) {
    block_clear(block);
    if (keys->fill) return keys->fill(keys->fill_with, block);
    const bool is_first = !keys->input;
    if (!keys->input) {
        if (keys->next_source == keys->source_count) return false;
        if (keys->await) wake_by_signals(true);
        keys->input =
            input_open(&keys->source[keys->next_source++], keys, block->trouble, WHY_BYTES);
        keys->lines = keys->carried = 0;
        if (keys->await) wake_by_signals(false);
        if (keys->input) input_ask_before(keys->input, keys->await, keys->await_with);
    }
    block->batch.keys = keys;
    block->batch.from = &keys->source[keys->next_source - 1];
    if (keys->input) fill_from_input(keys, block);
    if (is_first) read_header(keys, &keys->source[keys->next_source - 1], block);
    block->batch.start = block->bytes;
    if (keys->numbers_lines) {
        block->batch.first_line = keys->lines + 1;
        keys->lines += count_lines(block->bytes, block->len, keys->cutting.line_end);
    }
    if (block->trouble[0]) block->ends_file = true;
    if (block->ends_file) close_input(keys);
    return true;
}
