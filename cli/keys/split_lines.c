/* SPDX-License-Identifier: MIT */
/* split_lines.c: a block to lines, keys and hashes. On any thread. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"
#include "cli/keys/scan.h"
#include "tamis_engine.h"

/* ---- Room ---- */

static bool resize(void *list, size_t n, size_t size) {
    void **memory = list;
    void *larger = n <= SIZE_MAX / size ? realloc(*memory, n * size) : NULL;
    if (larger) *memory = larger;
    return larger != NULL;
}

bool block_make_room(struct block *block, size_t lines) {
    struct batch *batch = &block->batch;
    if (lines <= block->lines_room) return true;
    const size_t room = lines > 2 * block->lines_room ? lines : 2 * block->lines_room;
    if (!resize(&batch->line, room, sizeof *batch->line) ||
        !resize(&batch->key, room, sizeof *batch->key) ||
        !resize(&batch->hash, room, sizeof *batch->hash) ||
        !resize(&batch->value, room, sizeof *batch->value) ||
        !resize(&batch->hit, room, sizeof *batch->hit)) {
        block->is_short_of_memory = true;
        return false;
    }
    block->lines_room = room;
    return true;
}

/* ---- Lines ---- */

enum { FIRST_LINES = 4096 };

/* Whoever made the mapping knows where its only line ends; looking for it would touch all of it. */
static void cut_long_line(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    if (!block_make_room(block, 1)) return;
    const bool has_end = block->bytes[block->len - 1] == keys->cutting.line_end;
    batch->line[0] = (struct tamis_key){.bytes = block->bytes, .len = block->len - has_end};
    batch->n = 1;
}

static void cut_lines(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    const char line_end = keys->cutting.line_end;
    const char *start = block->bytes, *const end = start + block->len;
    size_t n = 0;
    for (const char *at = start; at < end; at += SCAN_BYTES) {
        const size_t left = (size_t)(end - at);
        if (block->lines_room - n <= SCAN_BYTES && !block_make_room(block, n + FIRST_LINES)) return;
        uint64_t ends = scan_for(at, line_end);
        if (left < SCAN_BYTES) ends &= ((uint64_t)1 << left) - 1;
        for (; ends; ends &= ends - 1) {
            const char *stop = at + lowest_bit(ends);
            batch->line[n++] = (struct tamis_key){.bytes = start, .len = (size_t)(stop - start)};
            start = stop + 1;
        }
    }
    if (start < end) /* The last line needs no end. */
        batch->line[n++] = (struct tamis_key){.bytes = start, .len = (size_t)(end - start)};
    batch->n = n;
}

/* Records of CSV may have line ends inside. */
static void cut_records(const struct keys *keys, struct block *block) {
    enum { ENDS = 4096 };
    struct batch *batch = &block->batch;
    struct csv_scan scan = {.delimiter = keys->cutting.fields.delimiter};
    size_t ends[ENDS], start = 0, n = 0;
    while (scan.at < block->len) {
        const size_t found = csv_ends(&scan, block->bytes, block->len, ends, ENDS);
        if (!block_make_room(block, n + found + 1)) return;
        for (size_t i = 0; i < found; start = ends[i++] + 1)
            batch->line[n++] =
                (struct tamis_key){.bytes = block->bytes + start, .len = ends[i] - start};
    }
    if (start < block->len) /* The last record needs no end. */
        batch->line[n++] =
            (struct tamis_key){.bytes = block->bytes + start, .len = block->len - start};
    batch->n = n;
}

static bool is_csv(const struct keys *keys) {
    return keys->cutting.fields.shape == SHAPE_CSV;
}

/* How many lines the records have; a line number of a record is that of its first. */
static void count_record_lines(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    block->lines = batch->n;
    if (!is_csv(keys)) return;
    block->lines = block->len > 0 && block->bytes[block->len - 1] != keys->cutting.line_end;
    const char line_end = keys->cutting.line_end; /* nothing can be read after a mapping */
    block->lines += block->mapped > 0 ? count_lines(block->bytes, block->len, line_end)
                                      : scan_count(block->bytes, block->len, line_end);
    batch->has_gaps = block->lines != batch->n;
}

/* ---- Keys ---- */

/* The line without its carriage return. */
static struct tamis_key without_cr(struct tamis_key line) {
    const char *bytes = line.bytes;
    if (line.len > 0 && bytes[line.len - 1] == '\r') line.len--;
    return line;
}

/* Whether some line may end in CR LF. Most blocks have no CR at all, which is seen fast; a long
 * line is one line, and not looked through. */
static bool may_have_cr(const struct keys *keys, const struct block *block) {
    return keys->cutting.line_end == '\n' &&
           (block->mapped > 0 || memchr(block->bytes, '\r', block->len));
}

/* Whether there are empty lines: ends that follow an end. */
static bool has_empty_lines(const struct keys *keys, const struct block *block) {
    uint64_t before = 1; /* the block starts where a line does */
    if (block->mapped > 0) return false;
    for (size_t at = 0; at < block->len; at += SCAN_BYTES) {
        uint64_t ends = scan_for(block->bytes + at, keys->cutting.line_end);
        if (block->len - at < SCAN_BYTES) ends &= ((uint64_t)1 << (block->len - at)) - 1;
        if (ends & (ends << 1 | before)) return true;
        before = ends >> (SCAN_BYTES - 1);
    }
    return false;
}

/* Counts keys that start as comments do. */
static void look_for_comments(struct block *block) {
    const struct batch *batch = &block->batch;
    if (block->mapped > 0 || !memchr(block->bytes, '#', block->len)) return;
    for (size_t i = 0; i < batch->n; i++)
        block->skipped.hashes +=
            batch->line[i].len > 0 && *(const char *)batch->line[i].bytes == '#';
}

static void note_first(struct first_line *first, const struct tamis_key *line, const char *words) {
    first->bytes = line->bytes;
    first->looks = looks_of(line);
    snprintf(first->words, sizeof first->words, "%s", words);
}

/* One line more that brings no key. IS_BAD when that ends the run. */
static enum fate note_fate(const struct cutting *cutting, struct block *block, enum fate fate,
                           const struct tamis_key *line) {
    struct skipped *skipped = &block->skipped;
    uint64_t *const counter[] = {[IS_FIELDLESS] = &skipped->fieldless,
                                 [IS_INVALID] = &skipped->invalid,
                                 [IS_EMPTY] = &skipped->empty,
                                 [IS_COMMENT] = &skipped->comments};
    if (cutting->is_strict && fate == IS_FIELDLESS)
        snprintf(block->bad_line, WHY_BYTES, "a field of the key is missing");
    if (cutting->is_strict && (fate == IS_FIELDLESS || fate == IS_INVALID)) return IS_BAD;
    if (fate == IS_INVALID && !block->invalid.bytes)
        note_first(&block->invalid, line, block->bad_line);
    if (fate == IS_FIELDLESS && !block->fieldless.bytes) {
        const struct tamis_key shown = without_cr(*line);
        note_first(&block->fieldless, line, human_words("\"%s\"", human_key(&shown).text).text);
    }
    ++*counter[fate];
    block->bad_line[0] = '\0';
    return fate;
}

static enum fate cut_key(const struct cutting *cutting, struct rewriting rewriting,
                         struct block *block, size_t i) {
    struct batch *batch = &block->batch;
    struct tamis_key *key = &batch->key[i];
    if (cut_comments(cutting, key)) return IS_COMMENT;
    if (cutting->has_values && key->len > 0 &&
        !read_pair(key, &batch->value[i], block->bad_line, WHY_BYTES))
        return IS_BAD;
    return rewrite_key(cutting, rewriting, block, key);
}

static void cut_keys(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    const struct cutting *cutting = &keys->cutting;
    const struct rewriting rewriting = rewriting_of(cutting, batch->from);
    const bool has_cr = may_have_cr(keys, block);
    if (!rewriting.is_needed && !has_cr && !block->has_header &&
        !(cutting->skips_empty && has_empty_lines(keys, block))) {
        memcpy(batch->key, batch->line, batch->n * sizeof *batch->key);
        return;
    }
    const bool has_header = block->has_header && batch->n > 0;
    block->skipped.headers = block->keyless = has_header;
    size_t kept = 0; /* A line that stays moves up to where others were left out. */
    for (size_t i = has_header; i < batch->n; i++) {
        const struct tamis_key line = batch->line[i];
        batch->line[kept] = line;
        batch->key[kept] = has_cr ? without_cr(line) : line;
        enum fate fate = cut_key(cutting, rewriting, block, kept);
        if (fate != IS_KEY && fate != IS_BAD) fate = note_fate(cutting, block, fate, &line);
        if (fate == IS_BAD) break;
        if (fate != IS_KEY) batch->key[kept] = (struct tamis_key){0};
        const bool is_wanted = fate != IS_COMMENT && !(fate == IS_EMPTY && cutting->skips_empty);
        const bool is_kept = fate == IS_KEY || (cutting->keeps_keyless && is_wanted);
        kept += is_kept;
        block->keyless += !is_kept;
    }
    batch->n = kept;
    batch->has_gaps |= block->keyless > 0;
}

/* ---- Hashes ---- */

static uint64_t hash_long(const struct keys *keys, const struct tamis_key *key) {
    struct pieces pieces = pieces_of(key);
    return keys->filter ? tamis_hash_pieces(keys->filter, next_piece, &pieces)
                        : tamis_builder_hash_pieces(keys->builder, next_piece, &pieces);
}

static void hash_keys(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    const bool is_in_place = !block->page || block->page->len == 0;
    if (batch->n == 1 && batch->key[0].len > LONG_KEY && is_in_place)
        batch->hash[0] = hash_long(keys, &batch->key[0]);
    else if (keys->filter)
        tamis_hash_many(keys->filter, batch->key, batch->n, batch->hash);
    else
        tamis_builder_hash_many(keys->builder, batch->key, batch->n, batch->hash);
}

void block_cut(const struct keys *keys, struct block *block) {
    if (block->mapped > 0)
        cut_long_line(keys, block);
    else if (is_csv(keys))
        cut_records(keys, block);
    else
        cut_lines(keys, block);
    count_record_lines(keys, block);
    cut_keys(keys, block);
    if (keys->cutting.is_list && keys->cutting.comments == 0) look_for_comments(block);
    if (keys->several.reach != TO_ITSELF) block_spread(keys, block);
    /* What a question asks for is hashed when it is asked. */
    const bool has_hasher =
        (keys->filter || keys->builder) && (!keys->several.reach || !block->batch.match);
    if (block->batch.n > 0 && has_hasher && !keys->takes_keys) hash_keys(keys, block);
}
