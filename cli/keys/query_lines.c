/* SPDX-License-Identifier: MIT */
/* query_lines.c: lines that are hits, printed and counted as grep does. */
#include <inttypes.h>

#include "cli/cli.h"

void show_hits(const struct hits *hits, struct batch *batch, print_hit *print, void *with) {
    for (size_t i = 0; i < batch->n; i++)
        if (!batch->key[i].bytes) batch->hit[i] = 0;
    for (size_t i = 0; i < batch->n && hits->prints_lines; i++) {
        if ((batch->hit[i] != 0) == hits->is_inverted) continue;
        print_place(batch, i);
        if (batch->hit[i] && print)
            print(with, batch, i);
        else
            print_line(batch, i);
    }
}

static int count_hits(void *with, struct batch *batch) {
    struct hits *hits = with;
    uint64_t found = 0;
    if (hits->has_failed) return EXIT_TROUBLE;
    for (size_t i = 0; i < batch->n; i++) found += batch->hit[i] != 0;
    hits->in_file += hits->is_inverted ? batch->n - found : found;
    return hits->stops_at_first && hits->in_file > 0 ? KEYS_ENOUGH : 0;
}

static void end_file(void *with, const struct source *source) {
    struct hits *hits = with;
    if (hits->counts && hits->has_names) {
        print_source(source);
        printf("%" PRIu64 "\n", hits->in_file);
    }
    hits->in_all += hits->in_file;
    hits->in_file = 0;
}

int query_keys(struct keys *keys, struct hits *hits, void (*ask)(void *hits, struct batch *batch)) {
    const struct args *args = keys->args;
    const struct handler handler = {
        .ask = ask, .take = count_hits, .file_done = end_file, .goes_on = true, .with = hits};
    hits->stops_at_first = given(args, OPT_QUIET);
    hits->counts = given(args, OPT_COUNT) && !hits->stops_at_first;
    hits->prints_lines = !given(args, OPT_COUNT) && !hits->stops_at_first;
    hits->is_inverted = given(args, OPT_INVERT);
    hits->has_names = given(args, OPT_WITH_FILENAME);
    keys->cutting.keeps_keyless = true;
    const int code = keys_run(keys, &handler);
    if (hits->has_failed) return EXIT_TROUBLE;
    if (hits->stops_at_first && hits->in_file > 0) return EXIT_FOUND; /* whatever else went wrong */
    if (!ferror(stdout) && hits->counts && !hits->has_names) printf("%" PRIu64 "\n", hits->in_all);
    return code ? code : hits->in_all > 0 ? EXIT_FOUND : EXIT_NOTHING;
}
