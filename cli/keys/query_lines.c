/* SPDX-License-Identifier: MIT */
/* query_lines.c: the loop of grep with a filter for a pattern; for check and get. */
#include <inttypes.h>

#include "cli/cli.h"

/* What one run prints, and how much so far. */
struct printer {
    const struct asker *asker;
    bool prints_lines, counts, stops_at_first, is_inverted, has_names;
    uint64_t in_file, in_all;
};

static struct printer printer_for(const struct args *args, const struct asker *asker) {
    const bool is_quiet = given(args, OPT_QUIET);
    return (struct printer){
        .asker = asker,
        .prints_lines = !given(args, OPT_COUNT) && !is_quiet,
        .counts = given(args, OPT_COUNT) && !is_quiet,
        .stops_at_first = is_quiet,
        .is_inverted = given(args, OPT_INVERT),
        .has_names = given(args, OPT_WITH_FILENAME),
    };
}

static void print_batch(const struct printer *printer, struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) {
        if ((batch->hit[i] != 0) == printer->is_inverted) continue;
        print_place(batch, i);
        if (batch->hit[i])
            printer->asker->print(printer->asker->with, batch, i);
        else
            print_line(batch, i);
    }
}

static bool has_failed(const struct printer *printer) {
    const struct asker *asker = printer->asker;
    return asker->has_failed && asker->has_failed(asker->with);
}

static void ask_batch(void *with, struct batch *batch) {
    const struct printer *printer = with;
    printer->asker->ask(printer->asker->with, batch);
    if (has_failed(printer)) return;
    for (size_t i = 0; i < batch->n; i++)
        if (!batch->key[i].bytes) batch->hit[i] = 0;
    if (printer->prints_lines) print_batch(printer, batch);
}

static int count_batch(void *with, struct batch *batch) {
    struct printer *printer = with;
    uint64_t hits = 0;
    if (has_failed(printer)) return EXIT_TROUBLE;
    for (size_t i = 0; i < batch->n; i++) hits += batch->hit[i] != 0;
    printer->in_file += printer->is_inverted ? batch->n - hits : hits;
    return printer->stops_at_first && printer->in_file > 0 ? KEYS_ENOUGH : 0;
}

static void end_file(void *with, const struct source *source) {
    struct printer *printer = with;
    if (printer->counts && printer->has_names) {
        print_source(source);
        printf("%" PRIu64 "\n", printer->in_file);
    }
    printer->in_all += printer->in_file;
    printer->in_file = 0;
}

int ask_keys(const struct args *args, const struct asker *asker, struct keys *keys) {
    struct printer printer = printer_for(args, asker);
    const struct handler handler = {.ask = ask_batch,
                                    .take = count_batch,
                                    .file_done = end_file,
                                    .goes_on = true,
                                    .with = &printer};
    keys->cutting.keeps_keyless = true;
    const int code = keys_run(keys, &handler);
    if (has_failed(&printer)) return EXIT_TROUBLE;
    if (printer.stops_at_first && printer.in_file > 0)
        return EXIT_FOUND; /* whatever else went wrong */
    if (!ferror(stdout) && printer.counts && !printer.has_names)
        printf("%" PRIu64 "\n", printer.in_all);
    return code ? code : printer.in_all > 0 ? EXIT_FOUND : EXIT_NOTHING;
}
