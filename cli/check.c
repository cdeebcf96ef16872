/* check.c: `tamis check`, grep with a filter for a pattern. */
#include "cli.h"

#include <inttypes.h>

/* What one run prints, and how much so far. */
struct printer {
    bool prints_lines, counts, stops_at_first, is_inverted, has_names;
    uint64_t in_file, in_all;
};

static struct printer printer_for(const struct args *args) {
    const bool is_quiet = given(args, OPT_QUIET);
    return (struct printer){
        .prints_lines = !given(args, OPT_COUNT) && !is_quiet,
        .counts = given(args, OPT_COUNT) && !is_quiet,
        .stops_at_first = is_quiet,
        .is_inverted = given(args, OPT_INVERT),
        .has_names = given(args, OPT_WITH_FILENAME),
    };
}

static void check_batch(struct printer *printer, const tamis *filter, const struct keys *keys) {
    uint8_t hit[KEYS_PER_BATCH];
    tamis_has_many(filter, keys->key, keys->n, hit);
    for (size_t i = 0; i < keys->n; i++) {
        if ((hit[i] != 0) == printer->is_inverted) continue;
        printer->in_file++;
        if (!printer->prints_lines) continue;
        print_place(keys, i);
        print_line(keys, i);
    }
}

static void end_file(struct printer *printer, const struct keys *keys) {
    if (printer->counts && printer->has_names) {
        print_file(keys);
        printf("%" PRIu64 "\n", printer->in_file);
    }
    printer->in_all += printer->in_file;
    printer->in_file = 0;
}

static int check_keys(struct printer *printer, const tamis *filter, struct keys *keys) {
    bool had_trouble = false;
    for (;;) {
        switch (keys_next(keys)) {
        case KEYS_SOME:
            check_batch(printer, filter, keys);
            if (printer->stops_at_first && printer->in_file > 0) return EXIT_FOUND;
            if (print_batch_end(keys)) return EXIT_TROUBLE;
            break;
        case KEYS_FILE_DONE: end_file(printer, keys); break;
        case KEYS_TROUBLE:
            had_trouble = true;
            end_file(printer, keys);
            break;
        case KEYS_DONE:
            if (printer->counts && !printer->has_names) printf("%" PRIu64 "\n", printer->in_all);
            return had_trouble ? EXIT_TROUBLE : printer->in_all > 0 ? EXIT_FOUND : EXIT_NOTHING;
        }
    }
}

int verb_check(const struct args *args) {
    struct printer printer = printer_for(args);
    struct image image = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = check_keys(&printer, image.filter, &keys);
    image_close(&image);
    keys_close(&keys);
    return code;
}
