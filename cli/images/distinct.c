/* SPDX-License-Identifier: MIT */
/* distinct.c: how many different keys there are, before anything is made of them. */
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
    struct source kept;
    const int code = spill_read(copy, &kept);
    if (keys->source_count == 1) kept.name = keys->source[0].name; /* for complaints */
    for (size_t i = 0; i < keys->source_count; i++) free(keys->source[i].label);
    keys->source[0] = kept;
    keys->source_count = 1;
    keys->decompresses = false; /* That is done. */
    keys_rewind(keys);
    return code;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

size_t sort_distinct(uint64_t *hash, size_t n) {
    size_t kept = 0;
    if (n > 0) qsort(hash, n, sizeof *hash, by_number);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || hash[i] != hash[kept - 1]) hash[kept++] = hash[i];
    return kept;
}
