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

static bool make_room(struct block *block, size_t lines) {
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
    if (!make_room(block, 1)) return;
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
        if (block->lines_room - n <= SCAN_BYTES && !make_room(block, n + FIRST_LINES)) return;
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

/* ---- Keys ---- */

/* The line without its carriage return. */
static struct tamis_key without_cr(struct tamis_key line) {
    const char *bytes = line.bytes;
    if (line.len > 0 && bytes[line.len - 1] == '\r') line.len--;
    return line;
}

static void cut_keys(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    const struct cutting *cutting = &keys->cutting;
    const struct rewriting rewriting = rewriting_of(cutting);
    const bool rewrites = rewriting.has_fields || rewriting.cuts || rewriting.has_form;
    if (!rewrites && !cutting->has_crlf && !cutting->has_values) {
        memcpy(batch->key, batch->line, batch->n * sizeof *batch->key);
        return;
    }
    size_t kept = 0; /* A line that stays moves up to where others were left out. */
    for (size_t i = 0; i < batch->n; i++) {
        batch->line[kept] = batch->line[i];
        batch->key[kept] = cutting->has_crlf ? without_cr(batch->line[i]) : batch->line[i];
        enum fate fate = IS_KEY;
        if (cutting->has_values &&
            !read_pair(&batch->key[kept], &batch->value[kept], block->bad_line, WHY_BYTES))
            fate = IS_BAD;
        if (fate == IS_KEY && rewrites)
            fate = rewrite_key(cutting, rewriting, block, &batch->key[kept]);
        if (fate == IS_BAD) break;
        if (fate == HAS_NO_KEY) batch->key[kept] = (struct tamis_key){0};
        if (fate == HAS_NO_KEY && !cutting->keeps_keyless)
            block->keyless++;
        else
            kept++;
    }
    batch->n = kept;
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
    else
        cut_lines(keys, block);
    cut_keys(keys, block);
    const bool has_hasher = keys->filter || keys->builder;
    if (block->batch.n > 0 && has_hasher && !keys->takes_keys) hash_keys(keys, block);
}
