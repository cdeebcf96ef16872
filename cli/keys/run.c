/* SPDX-License-Identifier: MIT */
/* run.c: blocks through the hands of a verb, on several threads and in order.
 *
 * Blocks stand in a ring. The caller's thread fills them from the input, takes them in order when
 * they are worked on, and works itself whenever it would have to wait for that; other threads only
 * work. With one thread there is one block and no other thread.
 *
 *     taken <= claimed <= filled <= taken + size of the ring
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

enum { MAX_THREADS = 256 };

struct workers {
    struct keys *keys;
    const struct handler *handler;
    struct block *ring;
    size_t size;
    uint64_t lines;     /* taken of the current file ... */
    uint64_t all_lines; /* ... and of all */
    bool had_trouble;
    const struct source *left; /* of which the verb has seen enough, or NULL */

    pthread_mutex_t lock; /* for what follows, and block.is_done */
    pthread_cond_t is_work, is_done;
    uint64_t filled, claimed, taken;
    bool is_over;
    pthread_t thread[MAX_THREADS];
    unsigned threads; /* beside the caller's */
};

/* ---- Working ---- */

/* Claims a block and works on it; the lock is held before and after, not during. */
static void work_on_next(struct workers *workers) {
    const struct handler *handler = workers->handler;
    struct block *block = &workers->ring[workers->claimed++ % workers->size];
    pthread_mutex_unlock(&workers->lock);
    if (block->len > 0) block_cut(workers->keys, block);
    if (handler->ask && block->batch.n > 0) handler->ask(handler->with, &block->batch);
    pthread_mutex_lock(&workers->lock);
    block->is_done = true;
    pthread_cond_signal(&workers->is_done);
}

static void *work_until_over(void *with) {
    struct workers *workers = with;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        while (workers->claimed == workers->filled && !workers->is_over)
            pthread_cond_wait(&workers->is_work, &workers->lock);
        if (workers->is_over) break;
        work_on_next(workers);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* ---- Filling ---- */

/* Whether the next block needs nothing from the input. */
static bool has_line(const struct keys *keys) {
    return memchr(keys->carry, keys->cutting.line_end, keys->carried) != NULL;
}

/* Fills blocks until the ring is full, the input ends, or reading would wait while there is
 * something to show. */
static void fill_ring(struct workers *workers, bool *is_at_end) {
    while (workers->filled - workers->taken < workers->size && !*is_at_end) {
        struct keys *keys = workers->keys;
        *is_at_end = keys->await && is_stopped();
        if (*is_at_end) return;
        if (keys->input && !has_line(keys) && input_waits(keys->input)) {
            if (workers->filled > workers->taken) return;
            flush_output(); /* A live reader, as after "tail -f", need not wait too. */
        }
        *is_at_end = !block_fill(keys, &workers->ring[workers->filled % workers->size]);
        if (*is_at_end) return;
        pthread_mutex_lock(&workers->lock);
        workers->filled++;
        pthread_cond_signal(&workers->is_work);
        pthread_mutex_unlock(&workers->lock);
    }
}

/* ---- Taking ---- */

static void finish_work(struct workers *workers, const struct block *block) {
    pthread_mutex_lock(&workers->lock);
    while (!block->is_done) {
        if (workers->claimed < workers->filled)
            work_on_next(workers);
        else
            pthread_cond_wait(&workers->is_done, &workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
}

/* What is wrong with the block after the lines that were taken. Returns 0 or EXIT_TROUBLE. */
static int tell_trouble(struct workers *workers, const struct block *block) {
    const struct args *args = workers->keys->args;
    const char *name = input_name(block->batch.from->name);
    if (block->is_short_of_memory || block->batch.out.is_short_of_memory) return fail_memory(args);
    if (block->bad_line[0]) return fail_line(&block->batch, block->batch.n, "%s", block->bad_line);
    if (!block->trouble[0]) return 0;
    fail(args, name, "%s", block->trouble);
    workers->had_trouble = true;
    return workers->handler->goes_on ? 0 : EXIT_TROUBLE;
}

static void note_example(struct odd_line *example, const struct batch *batch,
                         const struct first_line *first) {
    if (!first->bytes || example->words.text[0]) return;
    example->words = human_words("%s, line %" PRIu64 ": %s", input_name(batch->from->name),
                                 line_number_at(batch, first->bytes), first->words);
    example->looks = first->looks;
}

static void add_skipped(struct keys *keys, const struct block *block) {
    const struct batch *batch = &block->batch;
    if (keys->seen == 0) keys->separator = likely_separator(batch);
    keys->keyless += block->keyless;
    keys->seen += batch->n - batch->further + block->keyless;
    keys->skipped.fieldless += block->skipped.fieldless;
    keys->skipped.invalid += block->skipped.invalid;
    keys->skipped.empty += block->skipped.empty;
    keys->skipped.comments += block->skipped.comments;
    keys->skipped.headers += block->skipped.headers;
    keys->skipped.hashes += block->skipped.hashes;
    keys->skipped.quotes += block->skipped.quotes;
    note_example(&keys->fieldless, batch, &block->fieldless);
    note_example(&keys->invalid, batch, &block->invalid);
}

static int take(struct workers *workers, struct block *block) {
    const struct handler *handler = workers->handler;
    struct batch *batch = &block->batch;
    int code = 0;
    if (!workers->keys->fill) batch->first_line = workers->lines + 1;
    workers->lines += block->lines;
    workers->all_lines += block->lines;
    progress_lines(workers->all_lines);
    add_skipped(workers->keys, block);
    block_mark(workers->keys, block);
    if (batch->n > 0) code = handler->take(handler->with, batch);
    if (text_print(&batch->out) && code <= 0) code = EXIT_TROUBLE;
    if (!code && handler->after) code = handler->after(handler->after_with, batch->n);
    if (code == KEYS_NEXT_FILE) {
        /* What was read of it already comes by once more, and is dropped. */
        workers->left = batch->from;
        blocks_leave(workers->keys, batch->from);
        block->ends_file = true;
        code = 0;
    } else if (!code) {
        code = tell_trouble(workers, block);
    }
    const bool has_count = workers->lines > 0 || !block->trouble[0];
    if (block->ends_file) {
        workers->lines = 0;
        if (!code && has_count && handler->file_done)
            handler->file_done(handler->with, batch->from);
    }
    return code;
}

static int take_all(struct workers *workers) {
    bool is_at_end = false;
    int code = 0;
    while (!code) {
        fill_ring(workers, &is_at_end);
        if (workers->filled == workers->taken) break;
        struct block *block = &workers->ring[workers->taken % workers->size];
        finish_work(workers, block);
        if (block->batch.from == workers->left)
            text_drop(&block->batch.out);
        else
            code = take(workers, block);
        workers->taken++;
    }
    return code;
}

/* ---- The whole ---- */

static int start(struct workers *workers) {
    const unsigned wanted =
        workers->keys->threads < MAX_THREADS ? workers->keys->threads : MAX_THREADS;
    workers->size = wanted > 1 ? 2 * (size_t)wanted + 2 : 1;
    workers->ring = calloc(workers->size, sizeof *workers->ring);
    bool is_whole = workers->ring != NULL;
    for (size_t i = 0; i < workers->size && is_whole; i++) is_whole = block_make(&workers->ring[i]);
    if (!is_whole) return fail_memory(workers->keys->args);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->is_work, NULL);
    pthread_cond_init(&workers->is_done, NULL);
    /* What the system does not give is done by the others. */
    while (workers->threads + 1 < wanted &&
           start_thread(&workers->thread[workers->threads], work_until_over, workers))
        workers->threads++;
    return 0;
}

static void end(struct workers *workers) {
    if (workers->threads > 0) {
        pthread_mutex_lock(&workers->lock);
        workers->is_over = true;
        pthread_cond_broadcast(&workers->is_work);
        pthread_mutex_unlock(&workers->lock);
        for (unsigned i = 0; i < workers->threads; i++) pthread_join(workers->thread[i], NULL);
    }
    for (size_t i = 0; workers->ring && i < workers->size; i++) block_free(&workers->ring[i]);
    free(workers->ring);
}

int keys_run(struct keys *keys, const struct handler *handler) {
    struct workers workers = {.keys = keys, .handler = handler};
    if (keys->has_unknown_form)
        return fail(keys->args, NULL, "its key encoding is unknown to this version of tamis");
    int code = several_start(keys);
    if (!code) code = start(&workers);
    if (!keys->fill) progress_reading(keys_bytes(keys)); /* else it has no end to come near to */
    if (!code) code = take_all(&workers);
    progress_wipe();
    flush_output(); /* What is told about the lines comes after them, whenever they were shown. */
    end(&workers);
    several_end(keys);
    if (!code && !keys->is_second_time) code = tell_skipped(keys);
    if (code == KEYS_ENOUGH) return 0;
    return code ? code : workers.had_trouble ? EXIT_TROUBLE : 0;
}
