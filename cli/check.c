/* check.c: `tamis check`, grep with a filter for a pattern; and the loop that get shares. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Asking and printing ---- */

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

static void ask_batch(struct printer *printer, const struct keys *keys) {
    const struct asker *asker = printer->asker;
    uint8_t hit[KEYS_PER_BATCH];
    asker->ask(asker->with, keys, hit);
    for (size_t i = 0; i < keys->n; i++) {
        if ((hit[i] != 0) == printer->is_inverted) continue;
        printer->in_file++;
        if (!printer->prints_lines) continue;
        print_place(keys, i);
        if (hit[i])
            asker->print(asker->with, keys, i);
        else
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

int ask_keys(const struct args *args, const struct asker *asker, struct keys *keys) {
    struct printer printer = printer_for(args, asker);
    bool had_trouble = false;
    for (;;) {
        switch (keys_next(keys)) {
        case KEYS_SOME:
            ask_batch(&printer, keys);
            if (printer.stops_at_first && printer.in_file > 0) return EXIT_FOUND;
            if (print_batch_end(keys)) return EXIT_TROUBLE;
            break;
        case KEYS_FILE_DONE: end_file(&printer, keys); break;
        case KEYS_TROUBLE:
            had_trouble = true;
            end_file(&printer, keys);
            break;
        case KEYS_DONE:
            if (printer.counts && !printer.has_names) printf("%" PRIu64 "\n", printer.in_all);
            return had_trouble ? EXIT_TROUBLE : printer.in_all > 0 ? EXIT_FOUND : EXIT_NOTHING;
        }
    }
}

/* ---- Is it in the set? ---- */

struct checking {
    const tamis *filter;

    /* For --labels: names as they are printed, made when they are first needed. */
    char **name;
    uint64_t *label;
    size_t room;
    bool is_short_of_memory;
};

static void ask_has(void *with, const struct keys *keys, uint8_t *hit) {
    const struct checking *checking = with;
    tamis_has_many(checking->filter, keys->key, keys->n, hit);
}

static void print_hit(void *with, const struct keys *keys, size_t i) {
    (void)with;
    print_line(keys, i);
}

/* ---- Which labels? ---- */

/* Commas stand between names, so one inside a name gets a backslash. */
static char *escape(const char *name) {
    char *escaped = malloc(2 * strlen(name) + 1), *to = escaped;
    for (; escaped && *name; name++) {
        if (*name == ',' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    if (escaped) *to = '\0';
    return escaped;
}

/* The labels of a key; 0 when memory is out. */
static size_t find_labels(struct checking *checking, const struct tamis_key *key) {
    size_t n;
    while ((n = tamis_labels(checking->filter, key->bytes, key->len, checking->label,
                             checking->room)) > checking->room) {
        uint64_t *larger = realloc(checking->label, n * sizeof *larger);
        if (!larger) return 0;
        checking->label = larger;
        checking->room = n;
    }
    return n;
}

static void print_labels(void *with, const struct keys *keys, size_t i) {
    struct checking *checking = with;
    const size_t n = find_labels(checking, &keys->key[i]);
    if (n == 0) checking->is_short_of_memory = true;
    print_pair_start(keys, i);
    for (size_t j = 0; j < n; j++) {
        char **name = &checking->name[checking->label[j]];
        if (!*name) *name = escape(tamis_label_name(checking->filter, checking->label[j]));
        if (!*name) checking->is_short_of_memory = true;
        printf("%s%s", j > 0 ? "," : "", *name ? *name : "");
    }
    print_pair_end(keys);
}

static int check_labels(const struct args *args, const struct image *image, struct keys *keys) {
    const uint64_t count = tamis_label_count(image->filter);
    struct checking checking = {.filter = image->filter};
    const struct asker asker = {.ask = ask_has, .print = print_labels, .with = &checking};
    checking.name = calloc((size_t)count + 1, sizeof *checking.name);
    int code = checking.name ? ask_keys(args, &asker, keys) : fail_memory(args);
    if (checking.is_short_of_memory) code = fail_memory(args);
    for (uint64_t i = 0; checking.name && i < count; i++) free(checking.name[i]);
    free(checking.name);
    free(checking.label);
    return code;
}

/* ---- The verb ---- */

int verb_check(const struct args *args) {
    struct checking checking = {0};
    const struct asker asker = {.ask = ask_has, .print = print_hit, .with = &checking};
    const bool with_labels = given(args, OPT_LABELS);
    struct image image = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code && with_labels) code = image_needs(args, &image, TAMIS_CAN_LABEL, "have labels");
    checking.filter = image.filter;
    if (!code)
        code = with_labels ? check_labels(args, &image, &keys) : ask_keys(args, &asker, &keys);
    image_close(&image);
    keys_close(&keys);
    return code;
}
