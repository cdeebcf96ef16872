/* SPDX-License-Identifier: MIT */
/* distinct.c: how many different keys there are, before anything is made of them; and hashes
 * in order, each once. */
#include "cli/cli.h"
#include "tamis_engine.h"

#include <stdlib.h>

struct tally {
    tamis_builder *builder;
    struct spill *copy; /* of the lines, or NULL */
};

static int take_batch(void *with, struct batch *batch) {
    const struct tally *tally = with;
    sigset_t before;
    hold_signals(&before); /* A temporary file has a name for a moment. */
    const tamis_status status = tamis_builder_add_hashes(tally->builder, batch->hash, batch->n);
    release_signals(&before);
    int code = check_status(batch->keys->args, NULL, status);
    for (size_t i = 0; tally->copy && i < batch->n && !code; i++)
        if (!is_same_line(batch, i))
            code = spill_line(tally->copy, &batch->line[i], batch->keys->cutting.line_end);
    return code;
}

/* A builder that is not told a capacity counts. */
static int finish(const struct args *args, tamis_builder *builder, uint64_t *distinct) {
    tamis *filter = NULL;
    catch_signals();
    const tamis_status status = tamis_builder_finish(builder, &filter);
    uncatch_signals();
    progress_wipe();
    if (is_stopped()) return EXIT_TROUBLE; /* main does the rest */
    if (status) return fail_why(args, NULL, status);
    const struct tamis_info info = info_measured(filter);
    *distinct = info.capacity;
    tamis_free(filter);
    return 0;
}

int count_distinct(struct keys *keys, struct spill *copy, uint64_t *distinct) {
    struct tally tally = {.copy = copy};
    struct tamis_builder_options options;
    struct tamis_options none = {.struct_size = sizeof none};
    int code = builder_options(keys->args, &options, &(struct tamis_options){0});
    if (code) return code;
    options.filter = &none; /* These hashes are for counting only: no secret. */
    const tamis_status status = tamis_builder_create_with(&tally.builder, "blocked", &options);
    if (status) return fail_why(keys->args, NULL, status);
    keys_hash_for(keys, tally.builder, 0);
    code = keys_run(keys, &(struct handler){.take = take_batch, .with = &tally});
    if (!code) code = finish(keys->args, tally.builder, distinct);
    keys_hash_for(keys, NULL, 0);
    tamis_builder_free(tally.builder);
    return code;
}

int keys_keep(struct keys *keys, struct spill *copy) {
    struct source kept, *const first = &keys->source[0];
    for (size_t i = 1; i < keys->source_count; i++) {
        const struct fields *fields = keys->source[i].fields;
        if (!fields || !first->fields || memcmp(fields, first->fields, sizeof *fields) == 0)
            continue;
        return fail(keys->args, keys->source[i].name,
                    "its header has the fields in another order than %s; use files for all of them",
                    input_name(first->name));
    }
    const int code = spill_read(copy, &kept);
    if (keys->source_count == 1) kept.name = keys->source[0].name; /* for complaints */
    /* Headers are not in the copy, but what they said still holds. */
    kept.fields = first->fields;
    first->fields = NULL;
    keys->cutting.fields.has_header = false;
    for (size_t i = 0; i < keys->source_count; i++) source_free(&keys->source[i]);
    keys->source[0] = kept;
    keys->source_count = 1;
    keys->decompresses = false; /* That is done. */
    keys_rewind(keys);
    return code;
}

/* ---- Hashes in order ---- */

static void sort_few(uint64_t *at, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const uint64_t hash = at[i];
        size_t j = i;
        for (; j > 0 && at[j - 1] > hash; j--) at[j] = at[j - 1];
        at[j] = hash;
    }
}

/* In place, by one byte after the other from the highest: each hash is moved to where the next free
 * place of its byte is. Well-mixed hashes need few rounds, and no second copy. */
static int sort_by_byte(uint64_t *at, size_t n, unsigned shift, const struct pause *pause) {
    enum { FEW = 48 };
    size_t next[256] = {0}, end[256], sum = 0;
    int code = 0;
    if (n <= FEW) {
        sort_few(at, n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) next[at[i] >> shift & 255]++;
    for (size_t b = 0; b < 256; b++) {
        const size_t count = next[b];
        next[b] = sum;
        end[b] = sum += count;
    }
    for (size_t b = 0; b < 256; b++) {
        while (next[b] < end[b]) {
            const uint64_t hash = at[next[b]];
            const size_t to = hash >> shift & 255;
            at[next[b]] = at[next[to]];
            at[next[to]++] = hash;
        }
    }
    for (size_t b = 0, start = 0; b < 256 && shift > 0 && !code; start = end[b++]) {
        code = sort_by_byte(at + start, end[b] - start, shift - 8, NULL);
        if (!code && pause && pause->call) code = pause->call(pause->with);
    }
    return code;
}

int sort_distinct(uint64_t *hash, size_t *n, const struct pause *pause) {
    size_t kept = 0;
    const int code = sort_by_byte(hash, *n, 56, pause);
    if (code) return code;
    for (size_t i = 0; i < *n; i++)
        if (kept == 0 || hash[i] != hash[kept - 1]) hash[kept++] = hash[i];
    *n = kept;
    return 0;
}
