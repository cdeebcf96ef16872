/* SPDX-License-Identifier: MIT */
/* semijoin_exact.c: lines that are held until RIGHT has had a word on them.
 *
 * Lines of LEFT that the filter lets through are held in memory, in their order, and their keys in
 * a set. Then RIGHT is read again and marks those of the keys that it has; lines are printed by the
 * marks. With --anti the lines between them wait as well, or they would come too early. When memory
 * is used up this happens for what is held, and starts again: every time reads RIGHT once. */
#include "cli/verbs/semijoin.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1024 * 1024 };

struct held_line {
    const struct held *key; /* NULL: certainly not among those of RIGHT */
    size_t len;
};

enum { ALIGN = sizeof(void *) };

struct lines {
    struct lines *next;
    size_t size, used;
};

/* ---- Holding ---- */

static size_t need_of(size_t len) {
    return (sizeof(struct held_line) + len + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t header_bytes(void) {
    return (sizeof(struct lines) + ALIGN - 1) / ALIGN * ALIGN;
}

/* Room for a line; false when there is none, though something is held. */
static bool make_room(struct hold *hold, size_t len, bool *is_short_of_memory) {
    const size_t need = need_of(len);
    if (hold->last && hold->last->size - hold->last->used >= need) return true;
    const size_t min = header_bytes() + need;
    const size_t usual = hold->max_bytes < 16 * CHUNK_BYTES ? CHUNK_BYTES / 64 : CHUNK_BYTES;
    const size_t size = min > usual ? min : usual;
    if (hold->first && hold->bytes + hold->keys.bytes + size > hold->max_bytes) return false;
    struct lines *lines = malloc(size);
    *is_short_of_memory = !lines;
    if (!lines) return false;
    *lines = (struct lines){.size = size, .used = header_bytes()};
    if (hold->last)
        hold->last->next = lines;
    else
        hold->first = lines;
    hold->last = lines;
    hold->bytes += size;
    return true;
}

static void hold_line(struct hold *hold, const struct tamis_key *line, const struct held *key) {
    struct lines *lines = hold->last;
    struct held_line *held = (struct held_line *)(void *)((char *)lines + lines->used);
    *held = (struct held_line){.key = key, .len = line->len};
    if (line->len > 0) memcpy(held + 1, line->bytes, line->len);
    lines->used += need_of(line->len);
}

static void hold_clear(struct hold *hold) {
    while (hold->first) {
        struct lines *next = hold->first->next;
        free(hold->first);
        hold->first = next;
    }
    keyset_clear(&hold->keys);
    hold->last = NULL;
    hold->bytes = 0;
}

void hold_close(struct hold *hold) {
    hold_clear(hold);
    keyset_clear(&hold->keys);
}

/* ---- RIGHT has a word ---- */

static int mark_batch(void *with, struct batch *batch) {
    struct join *join = with;
    for (size_t i = 0; i < batch->n; i++) {
        keyset_fetch_next(&join->hold.keys, batch->hash, i, batch->n);
        struct held *held = keyset_find(&join->hold.keys, batch->hash[i], &batch->key[i]);
        if (held) held_mark(held);
    }
    return 0;
}

static int read_right(struct join *join) {
    const struct handler handler = {.take = mark_batch, .with = join};
    join->scans++;
    keys_rewind(&join->right);
    if (join->right.source_count == 0)
        return fail(join->args, input_name(join->args->operand[1]), "cannot be read a second time");
    return keys_run(&join->right, &handler);
}

static void print_held(struct join *join) {
    const bool prints = !given(join->args, OPT_COUNT);
    for (const struct lines *lines = join->hold.first; lines; lines = lines->next) {
        for (size_t at = header_bytes(); at < lines->used;) {
            const struct held_line *line =
                (const struct held_line *)(const void *)((const char *)lines + at);
            const bool matches = line->key && held_is_marked(line->key);
            at += need_of(line->len);
            if (matches == join->is_anti) continue;
            join->printed++;
            if (!prints) continue;
            fwrite(line + 1, 1, line->len, stdout);
            putchar(join->left.cutting.line_end);
        }
    }
}

int join_settle(struct join *join) {
    if (!join->hold.first) return 0;
    const int code = join->hold.keys.keys > 0 ? read_right(join) : 0;
    if (!code) print_held(join);
    hold_clear(&join->hold);
    return code ? code : ferror(stdout) ? EXIT_TROUBLE : 0;
}

/* ---- LEFT ---- */

static int take_line(struct join *join, struct batch *batch, size_t i) {
    struct hold *hold = &join->hold;
    struct held *key = NULL;
    bool is_short_of_memory = false, is_new;
    if (!batch->hit[i] && (!join->is_anti || !hold->first)) {
        if (join->is_anti) join_print(join, batch, i);
        return 0;
    }
    for (int attempts = 0; attempts < 2; attempts++) {
        hold->keys.max_bytes = hold->max_bytes > hold->bytes ? hold->max_bytes - hold->bytes : 0;
        if (make_room(hold, batch->line[i].len, &is_short_of_memory)) {
            if (batch->hit[i])
                key = keyset_take(&hold->keys, batch->hash[i], &batch->key[i], &is_new);
            if (key || !batch->hit[i]) {
                hold_line(hold, &batch->line[i], key);
                return 0;
            }
        }
        if (is_short_of_memory || hold->keys.is_short_of_memory) break;
        /* What the batch has printed so far comes before what was held. */
        if (text_print(&batch->out) || join_settle(join)) return EXIT_TROUBLE;
    }
    return fail_memory(join->args);
}

int join_hold(struct join *join, struct batch *batch) {
    int code = 0;
    for (size_t i = 0; i < batch->n && !code; i++) {
        keyset_fetch_next(&join->hold.keys, batch->hash, i, batch->n);
        code = take_line(join, batch, i);
    }
    /* What is held must come after what was printed before it. */
    return code ? code : text_print(&batch->out);
}
