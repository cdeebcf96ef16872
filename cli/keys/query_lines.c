/* SPDX-License-Identifier: MIT */
/* query_lines.c: lines that are hits, printed and counted as grep does.
 *
 * Most of the time lines are made ready where they were asked about, on any thread. What depends on
 * the lines before (a limit, context) or on one thing that all share is printed in order, by the
 * thread that takes the batches; they are still asked about on all threads. */
#include <inttypes.h>

#include "cli/cli.h"

static bool is_wanted(const struct hits *hits, const struct batch *batch, size_t i) {
    return (batch->hit[i] != 0) != hits->is_inverted;
}

static void show_line(const struct hits *hits, struct batch *batch, size_t i) {
    if (hits->write) {
        hits->write(hits->with, batch, i);
        return;
    }
    if (batch->keys->marks.only_keys && !batch->key[i].bytes) return; /* there is none */
    print_place(batch, i);
    if (batch->hit[i] && hits->print)
        hits->print(hits->with, batch, i);
    else
        print_line(batch, i);
}

void show_hits(const struct hits *hits, struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++)
        if (!batch->key[i].bytes) batch->hit[i] = 0;
    if (!hits->prints_lines || hits->prints_in_order) return;
    /* Most of the time a line is just copied: what else it might need is asked once. */
    const struct line_marks *marks = &batch->keys->marks;
    const bool is_plain = !hits->print && !marks->has_name && !marks->has_number &&
                          !marks->has_colors && !marks->only_keys;
    for (size_t i = 0; i < batch->n; i++) {
        if (!is_wanted(hits, batch, i)) continue;
        if (is_plain)
            print_plain(batch, i);
        else
            show_line(hits, batch, i);
    }
}

/* ---- In order ---- */

/* After the last line that is wanted. */
static int enough(const struct hits *hits) {
    return hits->max_is_of_all ? KEYS_ENOUGH : KEYS_NEXT_FILE;
}

static int count_hits(void *with, struct batch *batch) {
    struct hits *hits = with;
    uint64_t found = 0;
    if (hits->has_failed) return EXIT_TROUBLE;
    for (size_t i = 0; i < batch->n; i++) found += batch->hit[i] != 0;
    hits->in_file += hits->is_inverted ? batch->n - found : found;
    if (hits->stops_at_first && hits->in_file > 0) return KEYS_ENOUGH;
    if (hits->in_file < hits->max) return 0;
    hits->in_file = hits->max;
    return enough(hits);
}

static int print_in_order(void *with, struct batch *batch) {
    struct hits *hits = with;
    struct context *context = &hits->context;
    if (hits->has_failed) return EXIT_TROUBLE;
    if (hits->write) progress_hold(stdout);
    for (size_t i = 0; i < batch->n; i++) {
        if (hits->in_file < hits->max && is_wanted(hits, batch, i)) {
            context_before(context, batch, i);
            show_line(hits, batch, i);
            context_printed(context, batch, i);
            hits->in_file++;
        } else {
            context_after(context, batch, i);
        }
        if (hits->in_file == hits->max && context->left == 0) break;
    }
    if (hits->write) progress_release(stdout);
    if (hits->in_file == hits->max && context->left == 0) return enough(hits);
    return context_keep(context, batch);
}

/* ---- Files ---- */

static void write_count(const struct source *source, uint64_t count) {
    struct json json = json_start(stdout);
    json_text(&json, "file", source->name);
    json_count(&json, "count", count);
    json_end(&json);
}

static void print_count(const struct hits *hits, const struct source *source) {
    if (hits->write) {
        write_count(source, hits->in_file);
        return;
    }
    if (hits->keys->marks.has_name) print_source(hits->keys, source, ":");
    printf("%" PRIu64 "\n", hits->in_file);
}

static void end_file(void *with, const struct source *source) {
    struct hits *hits = with;
    progress_hold(stdout);
    if (hits->counts_each) print_count(hits, source);
    if (hits->in_file > 0 ? hits->lists_hits : hits->lists_others)
        print_source(hits->keys, source, "\n");
    progress_release(stdout);
    hits->in_all += hits->in_file;
    hits->in_file = 0;
    context_end_file(&hits->context);
}

/* ---- The whole ---- */

/* A verb that can leave names out shows them by itself where there are several files, as grep. */
static void choose_marks(struct keys *keys) {
    const struct args *args = keys->args;
    const bool has_habit = verb_has(args->verb, OPT_NO_FILENAME) && keys->source_count > 1;
    struct line_marks *marks = &keys->marks;
    marks->has_name =
        given(args, OPT_WITH_FILENAME) || (has_habit && !given(args, OPT_NO_FILENAME));
    marks->has_colors = has_colors(stdout);
    marks->only_keys = given(args, OPT_ONLY_MATCHING);
}

static void choose_ways(struct hits *hits, const struct keys *keys) {
    const struct args *args = keys->args;
    const bool is_quiet = given(args, OPT_QUIET);
    hits->keys = keys;
    hits->stops_at_first = is_quiet;
    hits->lists_hits = given(args, OPT_FILES_WITH_MATCHES) && !is_quiet;
    hits->lists_others = given(args, OPT_FILES_WITHOUT_MATCH) && !is_quiet;
    const bool lists = hits->lists_hits || hits->lists_others;
    hits->counts = given(args, OPT_COUNT) && !is_quiet;
    hits->counts_each =
        hits->counts && (keys->marks.has_name || verb_has(args->verb, OPT_NO_FILENAME));
    hits->prints_lines = !given(args, OPT_COUNT) && !is_quiet && !lists;
    hits->is_inverted = given(args, OPT_INVERT);
    hits->max = number_or(args, OPT_MAX_COUNT, UINT64_MAX);
    if (lists && hits->max > 1) hits->max = 1;
    if (hits->prints_lines) context_open(&hits->context, args);
    if (given(args, OPT_MAX_COUNT) || hits->context.is_wanted || hits->write)
        hits->prints_in_order = true;
}

int query_keys(struct keys *keys, struct hits *hits, void (*ask)(void *hits, struct batch *batch)) {
    choose_marks(keys);
    choose_ways(hits, keys);
    if (hits->max == 0 && !hits->lists_others) return EXIT_NOTHING;
    const bool in_order = hits->prints_lines && hits->prints_in_order;
    const struct handler handler = {.ask = ask,
                                    .take = in_order ? print_in_order : count_hits,
                                    .file_done = end_file,
                                    .goes_on = true,
                                    .with = hits};
    keys->cutting.keeps_keyless = true;
    const int code = keys_run(keys, &handler);
    context_close(&hits->context);
    if (hits->has_failed) return EXIT_TROUBLE;
    if (hits->stops_at_first && hits->in_file > 0) return EXIT_FOUND; /* whatever else went wrong */
    if (!ferror(stdout) && hits->counts && !hits->counts_each)
        printf("%" PRIu64 "\n", hits->in_all);
    const uint64_t found = hits->in_all + hits->in_file, lines = keys->seen - keys->keyless;
    if (!code && lines > 0 && found == (hits->is_inverted ? lines : 0)) tell_columns(keys);
    return code ? code : found > 0 ? EXIT_FOUND : EXIT_NOTHING;
}
